/* examine_run.c - the run of a shard: searches are units of work (work.h). The networks come first. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ops.h"
#include "examine/examine_choose.h"
#include "examine/examine_networks.h"
#include "examine/examine_program.h"
#include "examine/examine_search.h"
#include "examine/examine_study.h"
#include "examine/failure_parts.h"
#include "models/foreign_model.h"
#include "models/idle_cores.h"
#include "models/picture_input.h"
#include "study/config_files.h"
#include "study/run_log.h"

enum { TOGETHER = 256 };           /* objects that are searched together, at most */

/* An object of the open model. */
typedef struct {
    int entry;
    bool seen;
    double start;
    int usual, answer[SPOT_EXAMINE_START];
    spot_examine_lesson lesson;
} subject;

typedef struct {
    spot_ctx *c;
    spot_work work;
    spot_store store;
    spot_examine_config *cfg;                  /* a copy: with the classes of the catalogue, and the one model of a function: */
    spot_examine_model function;
    bool owns_memory;                          /* the copy's; else it is the caller's */
    const spot_examine_options *options;
    spot_examine_objects_list objects;
    spot_examine_backgrounds pictures;
    spot_factor_space space;
    spot_conditions fixed;
    int  open;                                 /* the model that is open; -1 */
    spot_examine_looker look;
    char hash[33], key[33];                    /* of the open model: that of results, that of stored values */
    spot_known_program *program;               /* (models): of those that are programs, as far as they were asked */
    subject *subject;                          /* (objects of a model), of the open model */
    spot_status failed[SPOT_MAX_EXAMINED_MODELS];      /* models that cannot be examined ... */
    char (*why)[600];                          /* ... and why */
    bool told;                                 /* that few renders are valid */
} run;

static void source_of(spot_examine_source *from, char path[SPOT_EXAMINE_PATH], const run *v, int model)
{
    const spot_examine_model *m = &v->cfg->model[model];

    path[0] = 0;
    if (!v->options->function && !*spot_program_text(m->weights, m->command))
        spot_examine_network_path(path, v->options->place.out, m);
    *from = (spot_examine_source){ m, path, v->options };
}

/* The hash of a model, and the mesh of an object with it. */
static void hash_inputs(char inputs[33], const char *model, const char *mesh)
{
    spot_key_text(inputs, spot_key_join(spot_key_of(model, strlen(model)), "mesh", mesh, strlen(mesh)));
}

/* ---- results ---- */

/* Whether the result's model and mesh are those of now. */
static bool result_holds(spot_work *w, const void *result)
{
    run *v = w->user;
    const spot_examine_result *r = result;
    spot_ctx own = { .ops = v->c->ops, .device = v->c->device, .threads = v->c->threads, .stop = v->c->stop };
    char path[SPOT_EXAMINE_PATH], hash[33], inputs[33];
    spot_examine_source from;
    const int entry = spot_examine_find(&v->objects, r->object);

    if (entry < 0 || r->model >= v->cfg->models || (v->options->function && !v->options->identity)) return false;
    spot_examine_history_path(path, sizeof path, w->place.out, r->index);
    if (access(path, F_OK)) return false;
    source_of(&from, path, v, r->model);
    if (spot_examine_model_hash(&own, hash, &from, &v->pictures, &v->store) || spot_examine_mesh(&own, &v->objects, entry))
        return false;
    hash_inputs(inputs, hash, v->objects.hash[entry]);
    return !strcmp(inputs, r->inputs)
        && spot_examine_is_program(&own, &v->program[r->model], &from, v->cfg->render.size, w->place.out, r->identity);
}

/* The identity of the open model: of a program, with the hash of its answers. */
static const char *identity_of(const run *v)
{
    const spot_known_program *k = &v->program[v->open];

    return k->n ? k->identity[0] : spot_predictor_about(v->look.predictor)->identity;
}

static void fill_result(const run *v, const spot_examine_group *g, const spot_examine_problem *p, spot_examine_result *r)
{
    const spot_examine_unit u = spot_examine_unit_of(v->cfg, p->unit);
    const spot_catalogue_entry *e = &v->objects.list.entry[p->entry];
    const subject *s = &v->subject[u.object];
    const spot_examine_history *h = &p->history;
    spot_conditions at = p->fixed;

    *r = (spot_examine_result){ .index = p->unit, .numbers = SPOT_EXAMINE_NUMBERS, .model = u.model, .examiner = u.examiner,
                                .seed = u.seed, .cls = e->cls, .start = s->start, .usual = s->usual,
                                .learned = s->lesson.learned, .outside = s->lesson.outside, .inside = s->lesson.inside,
                                .points = spot_examine_search_of(v->cfg, g->examiner).points };
    memcpy(r->config, v->work.key, sizeof r->config);
    hash_inputs(r->inputs, v->hash, v->objects.hash[p->entry]);
    snprintf(r->object, sizeof r->object, "%s", e->id);
    snprintf(r->title, sizeof r->title, "%s", e->name);
    snprintf(r->licence, sizeof r->licence, "%s", e->licence);
    snprintf(r->author, sizeof r->author, "%s", e->author);
    snprintf(r->mesh, sizeof r->mesh, "%s", v->objects.words[p->entry] ? v->objects.words[p->entry] : "");
    snprintf(r->identity, sizeof r->identity, "%s", identity_of(v));
    memcpy(r->point, p->point, sizeof r->point);
    memcpy(r->answer, s->answer, sizeof r->answer);
    spot_factor_space_place(&at, g->space, h->at + (size_t)p->lowest * (size_t)h->dims);
    for (int f = 0; f < SPOT_FACTORS; f++) r->lowest_at[f] = at.value[f];
}

/* ---- a model ---- */

static void close_model(spot_ctx *c, run *v)
{
    if (v->open >= 0) spot_examine_looker_close(c, &v->look);
    v->open = -1;
}

/* Values of a program are stored under its answers, too, so that those of an older one are never taken for its own. */
static void name_values(run *v, const spot_examine_source *from)
{
    const char *identity = identity_of(v);
    const spot_key k = spot_key_of(v->hash, strlen(v->hash));

    if (spot_examine_is_nameless(from)) spot_key_text(v->key, spot_key_join(k, "answers", identity, strlen(identity)));
    else memcpy(v->key, v->hash, sizeof v->key);
}

/* A function, and a network that is trained here, need no word. */
static void say_input(spot_ctx *c, const run *v, const spot_examine_source *from)
{
    const spot_examine_model *m = from->model;
    spot_input_words square;

    if (v->options->function || spot_examine_is_trained(m)) return;
    spot_picture_input_say_by(c, m->name, spot_square_words(&square, 0, v->cfg->render.size, SPOT_BILINEAR), &m->input,
                              *spot_program_text(m->weights, m->command), SPOT_INPUT_SETTINGS);
}

/* Opens a model and chooses its objects. */
static spot_status open_model(spot_ctx *c, run *v, int model)
{
    const int objects = spot_examine_objects_of_a_model(v->cfg);
    char path[SPOT_EXAMINE_PATH];
    const spot_examine_viewer viewer = { &v->look, &v->space, &v->fixed };
    spot_examine_source from;
    int *entry;
    spot_status s;

    if (v->open == model) return SPOT_OK;
    close_model(c, v);
    source_of(&from, path, v, model);
    v->open = model;
    SPOT_TRY(spot_examine_model_hash(c, v->hash, &from, &v->pictures, &v->store));
    SPOT_TRY(spot_examine_looker_open(c, &v->look, &from, &v->objects, &v->pictures));
    say_input(c, v, &from);
    SPOT_TRY(spot_examine_know(c, &v->program[model], &viewer, &from, v->options->place.out));
    name_values(v, &from);
    entry = malloc((size_t)objects * sizeof *entry);
    if (!entry) return spot_fail(c, SPOT_NOMEM, "no memory for %d objects", objects);
    s = spot_examine_choose(c, entry, &viewer, from.model, v->key, &v->store);
    for (int i = 0; i < objects && s == SPOT_OK; i++) v->subject[i] = (subject){ .entry = entry[i] };
    free(entry);
    return s;
}

/* Measures the p of random renders, and whether the planted weakness was learned: no examiner has a part in either. */
static spot_status look_at_subject(spot_ctx *c, run *v, subject *s)
{
    if (s->seen) return SPOT_OK;
    spot_examine_first_look first = { .answer = s->answer };
    SPOT_TRY(spot_examine_start(c, &first, &(spot_examine_viewer){ &v->look, &v->space, &v->fixed }, s->entry,
                                SPOT_EXAMINE_START));
    s->start = first.mean, s->usual = first.usual;
    SPOT_TRY(spot_examine_verify(c, &s->lesson, &v->look, &v->cfg->model[v->open], s->entry));
    s->seen = true;
    return SPOT_OK;
}

/* ---- searches ---- */

static void key_of_search(char key[33], const run *v, const spot_examine_problem *p)
{
    char inputs[33];
    spot_key k;

    hash_inputs(inputs, v->key, v->objects.hash[p->entry]);
    k = spot_key_join(spot_key_of(inputs, strlen(inputs)), "config", v->work.key, strlen(v->work.key));
    k = spot_key_join(k, "unit", &p->unit, sizeof p->unit);
    spot_key_text(key, k);
}

/* Adds a unit to the search, unless its object cannot be read. */
static spot_status add_problem(spot_ctx *c, run *v, spot_work *w, spot_examine_group *g, int unit)
{
    subject *s = &v->subject[spot_examine_unit_of(v->cfg, unit).object];
    spot_examine_problem *p = &g->problem[g->problems];
    const spot_status how = spot_examine_mesh(c, &v->objects, s->entry);

    if (how == SPOT_INPUT) {
        spot_work_skip(w, unit, how, spot_take_message(c, how));
        return SPOT_OK;
    }
    SPOT_TRY(how);
    spot_examine_warn_of_mesh(c, &v->objects, s->entry);
    SPOT_TRY(look_at_subject(c, v, s));
    spot_examine_spend(c, g, spot_examine_renders_before(v->cfg, unit));
    *p = (spot_examine_problem){ .unit = unit, .entry = s->entry,
                                 .number = spot_examine_number(v->objects.list.entry[s->entry].id) };
    key_of_search(p->key, v, p);
    g->problems++;
    return SPOT_OK;
}

/* A search in such ranges takes as long as any other: the words come before it. */
static void warn_of_ranges(spot_ctx *c, run *v, const spot_examine_group *g)
{
    int valid = 0;

    for (int i = 0; i < g->problems; i++) {
        const subject *s = &v->subject[spot_examine_unit_of(v->cfg, g->problem[i].unit).object];
        for (int k = 0; k < SPOT_EXAMINE_START; k++) valid += s->answer[k] != SPOT_ANSWER_NOT_VALID;
    }
    const double share = (double)valid / ((double)g->problems * SPOT_EXAMINE_START);
    if (v->told || share >= SPOT_EXAMINE_FEW_VALID) return;
    v->told = true;
    spot_log(c, SPOT_LOG_WARN, "%.2g %% of the random renders are valid, so the searches will spend most renders where nobody "
             "could name the object; stop, and narrow the ranges of `factors`, such as camera_distance, or widen `valid`",
             100 * share);
}

static spot_status keep_problem(spot_ctx *c, run *v, spot_work *w, spot_examine_group *g, const spot_examine_problem *p)
{
    spot_examine_result r;

    fill_result(v, g, p, &r);
    SPOT_TRY(spot_failure_record(c, &r, g, p));
    g->spent -= w->size_of(w, p->unit);        /* which the run counts from now on */
    return spot_work_keep(c, w, p->unit, &r);
}

/* The units of one model, examiner and seed. */
static spot_status search_units(spot_ctx *c, run *v, spot_work *w, spot_examine_group *g, const int *unit, int n)
{
    const spot_examine_unit u = spot_examine_unit_of(v->cfg, unit[0]);

    SPOT_TRY(open_model(c, v, u.model));
    g->cfg = v->cfg, g->space = &v->space, g->fixed = &v->fixed, g->look = &v->look, g->dir = w->place.out, g->work = w;
    g->model = &v->cfg->model[u.model], g->examiner = &v->cfg->examiner[u.examiner];
    g->seed = v->cfg->search.seed + (uint64_t)u.seed;
    for (int i = 0; i < n; i++) SPOT_TRY(add_problem(c, v, w, g, unit[i]));
    if (!g->problems) return SPOT_OK;
    warn_of_ranges(c, v, g);
    spot_range_begin(c, "search");
    spot_status s = spot_examine_search_objects(c, g);
    spot_range_end(c);
    for (int i = 0; i < g->problems && s == SPOT_OK; i++) s = keep_problem(c, v, w, g, &g->problem[i]);
    if (s == SPOT_OK) spot_work_tell(c, w, spot_examine_label(g->examiner));
    return s;
}

/* A model that cannot be opened or answers wrongly leaves the others alone: its searches are skipped. */
static spot_status skip_model(spot_ctx *c, run *v, spot_work *w, const int *unit, int n, spot_status s)
{
    const int model = spot_examine_unit_of(v->cfg, unit[0]).model;

    if (!v->failed[model]) {
        v->failed[model] = s;
        snprintf(v->why[model], sizeof v->why[model], "%s: %.500s", v->cfg->model[model].name, spot_message(c, s));
        spot_log(c, SPOT_LOG_WARN, "%s", v->why[model]);
        spot_forget(c);
        close_model(c, v);
    }
    for (int i = 0; i < n; i++) spot_work_skip(w, unit[i], v->failed[model], v->why[model]);
    return SPOT_OK;
}

static spot_status compute_group(spot_ctx *c, run *v, spot_work *w, const int *unit, int n)
{
    spot_examine_group g = { .problem = calloc((size_t)n, sizeof *g.problem) };
    spot_status s;

    if (!g.problem) return spot_fail(c, SPOT_NOMEM, "no memory for %d searches", n);
    s = v->failed[spot_examine_unit_of(v->cfg, unit[0]).model];
    if (!s) s = search_units(c, v, w, &g, unit, n);
    for (int i = 0; i < g.problems; i++) spot_examine_problem_free(&g.problem[i]);
    free(g.problem);
    return s == SPOT_INPUT || s == SPOT_IO ? skip_model(c, v, w, unit, n, s) : s;
}

static spot_status compute(spot_ctx *c, spot_work *w, const int *unit, int n)
{
    run *v = w->user;
    const int objects = spot_examine_objects_of_a_model(v->cfg);

    for (int from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && unit[to] / objects == unit[from] / objects;) to++;
        SPOT_TRY(compute_group(c, v, w, unit + from, to - from));
    }
    return SPOT_OK;
}

/* Evaluates once, for the files and for the caller. */
static spot_status derive_files(spot_ctx *c, spot_work *w)
{
    const spot_examine_options *o = ((const run *)w->user)->options;
    spot_examine_results own, *r = o->results ? o->results : &own;
    spot_failures own_failures, *f = o->failures ? o->failures : &own_failures;
    const spot_status s = spot_examine_write(c, w->study, r, f, w->place.out, w->key);

    if (f == &own_failures || s != SPOT_OK || r->missing) spot_failures_close(f);
    if (r == &own || s != SPOT_OK || r->missing) spot_examine_close(r);
    return s;
}

/* ---- the run ---- */

static spot_status prepare(spot_ctx *c, spot_work *w)
{
    const int objects = spot_examine_objects_of_a_model(((run *)w->user)->cfg);

    (void)c;
    w->batch = objects < TOGETHER ? objects : TOGETHER;
    return SPOT_OK;
}

static double renders_of(const spot_work *w, int unit)
{
    const run *v = w->user;

    return spot_examine_renders_of(v->cfg, v->space.dims, unit);
}

/* Trains the networks of the missing units. */
static spot_status begin(spot_ctx *c, spot_work *w)
{
    run *v = w->user;
    bool ours = false;

    for (int m = 0; m < v->cfg->models && !v->options->function; m++) ours |= !v->cfg->model[m].command[0];
    if (ours) spot_warn_of_fp32_alone(c, "the networks under examination");
    for (int i = 0, last = -1; i < w->missing_count; i++) {
        const int model = spot_examine_unit_of(v->cfg, w->missing[i]).model;
        const spot_examine_model *m = &v->cfg->model[model];
        if (model == last || v->options->function || !spot_examine_is_trained(m)) continue;
        last = model;
        const double since = spot_clock();
        char path[SPOT_EXAMINE_PATH];
        spot_examine_network_path(path, v->options->place.out, m);
        if (!access(path, F_OK)) continue;
        spot_range_begin(c, "train");
        const spot_status s = spot_examine_train(c, v->options->place.out, m, &v->objects, &v->pictures);
        spot_range_end(c);
        SPOT_TRY(s);
        spot_run_log_kept(w->log, "network", -1, spot_clock() - since, NULL);
    }
    spot_work_tell(c, w, "");
    return SPOT_OK;
}

static spot_status check_models(spot_ctx *c, const run *v)
{
    if (!v->cfg->models)
        return spot_fail(c, SPOT_USAGE, "there are no models; the config's models, --model or --predict name them");
    return SPOT_OK;
}

/* Checks what needs no directory, so that a wrong config makes none; then opens it. */
static spot_status open_run(spot_ctx *c, run *v)
{
    SPOT_TRY(check_models(c, v));
    SPOT_TRY(spot_config_files_check(c, spot_examine_settings, v->cfg, ""));
    SPOT_TRY(spot_examine_space(c, &v->space, &v->fixed, v->cfg));
    SPOT_TRY(spot_examine_objects_open(c, &v->objects, v->cfg));
    spot_key_text(v->work.key, spot_examine_key(v->cfg));
    v->work.units = spot_examine_units(v->cfg);
    SPOT_TRY(spot_work_check(c, &v->work));
    SPOT_TRY(spot_examine_backgrounds_open(c, &v->pictures, v->cfg));
    v->subject = calloc((size_t)spot_examine_objects_of_a_model(v->cfg) + 1, sizeof *v->subject);
    v->program = calloc((size_t)v->cfg->models, sizeof *v->program);
    v->why = calloc(SPOT_MAX_EXAMINED_MODELS, sizeof *v->why);
    if (!v->subject || !v->program || !v->why) return spot_fail(c, SPOT_NOMEM, "no memory for a run");
    SPOT_TRY(spot_store_open(c, &v->store, v->options->place.out));
    SPOT_TRY(spot_store_plans(c, &v->store));
    SPOT_TRY(spot_store_folder(c, &v->store, "programs"));
    SPOT_TRY(spot_store_folder(c, &v->store, "models"));
    SPOT_TRY(spot_store_folder(c, &v->store, "maps"));
    return spot_store_folder(c, &v->store, "searches");
}

static void close_run(spot_ctx *c, run *v)
{
    close_model(c, v);
    spot_examine_objects_close(c, &v->objects);
    spot_examine_backgrounds_close(&v->pictures);
    spot_work_close(&v->work);
    if (v->owns_memory) spot_memory_close(&v->cfg->memory);
    free(v->subject), free(v->program), free(v->why), free(v->cfg);
    free(v);
}

/* A function is the one model of its run. */
static void set_function(spot_examine_config *cfg, spot_examine_model *m)
{
    *m = spot_examine_outside_model(cfg->models ? cfg->model[0].name : "model");
    if (cfg->models) m->classes = cfg->model[0].classes;
    m->command = "a function", m->identity = "";
    cfg->model = m;
    cfg->models = 1;
}

spot_status spot_examine_run(spot_ctx *c, const spot_examine_config *cfg, const spot_examine_options *o,
                             spot_run_report *report)
{
    const double since = spot_clock();
    run *v = calloc(1, sizeof *v);
    spot_status s;

    *report = (spot_run_report){ 0 };
    if (o->results) *o->results = (spot_examine_results){ 0 };
    if (o->failures) *o->failures = (spot_failures){ 0 };
    if (v) v->cfg = malloc(sizeof *v->cfg);
    if (!v || !v->cfg) return free(v), spot_fail(c, SPOT_NOMEM, "no memory for a run");
    *v->cfg = *cfg;
    v->owns_memory = !cfg->memory;
    v->open = -1, v->c = c, v->options = o;
    if (o->function) set_function(v->cfg, &v->function);
    v->work = (spot_work){ .study = &spot_examine_study, .place = o->place, .config = v->cfg, .since = since, .user = v,
                           .size_of = renders_of, .holds = result_holds, .prepare = prepare, .begin = begin,
                           .compute = compute, .derive = derive_files };
    s = spot_run_place_check(c, &o->place);
    if (s == SPOT_OK) s = open_run(c, v);
    spot_range_begin(c, "examine");
    if (s == SPOT_OK) s = spot_work_run(c, &v->work);
    spot_range_end(c);
    report->planned = v->work.planned, report->already = v->work.already, report->done = v->work.done;
    close_run(c, v);
    report->seconds = spot_clock() - since;
    return s;
}
