/* background_unit.c - the flow of a batch of models: open, look, matrices, counts, files. */
#define _POSIX_C_SOURCE 200809L
#include "background/background_unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "background/background_result.h"
#include "background/look/background_look.h"
#include "background/look/matrices.h"
#include "background/look/model_inputs.h"
#include "core/ops.h"
#include "models/foreign_model.h"
#include "models/output_classes.h"
#include "models/picture_input.h"
#include "study/frame.h"

enum { MOST_TOGETHER = 16, WEIGHTS = 64000000 };       /* models; bytes of their weights */

const double spot_coverage_at[SPOT_COVERAGES] = { 0, 0.25, 0.5, 0.75, 0.9 };

int spot_background_batch(const spot_background_config *cfg)
{
    double most = 1;

    for (int m = 0; m < cfg->models; m++) {
        struct stat st;
        if (*spot_program_text(cfg->model[m].weights, cfg->model[m].command)) return 1;    /* nobody knows how long it takes */
        if (!stat(cfg->model[m].weights, &st) && (double)st.st_size > most) most = (double)st.st_size;
    }
    const double n = WEIGHTS / most;
    return n < 1 ? 1 : n < MOST_TOGETHER ? (int)n : MOST_TOGETHER;
}

/* ---- one model ---- */

typedef struct {
    int unit;
    spot_look_model look;
    spot_background_responses r;
    int  *class_of, outputs;
} examined;

static spot_status take_responses(spot_ctx *c, const spot_background_job *j, examined *e)
{
    const spot_background_suite *s = j->suite;
    const size_t images = (size_t)s->targets * (size_t)(s->n + 1),
        cells = (size_t)j->cfg->measure.grid * (size_t)j->cfg->measure.grid;

    SPOT_TRY(spot_background_responses_take(c, &e->r, s->targets, s->n, spot_background_own(j->cfg),
                                            j->cfg->measure.grid));
    for (size_t i = 0; i < SPOT_BACKGROUND_MATRICES * images; i++) e->r.signal[i] = NAN;
    for (size_t i = 0; i < SPOT_BACKGROUND_MATRICES * cells; i++) e->r.matrix[i] = NAN;
    for (size_t i = 0; i < (size_t)s->targets * SPOT_BACKGROUND_SETS; i++) e->r.derived[i] = -2;
    for (size_t i = 0; i < (size_t)s->targets * (size_t)e->r.own; i++) e->r.of_own[i] = -2;
    e->look.signal = e->r.signal, e->look.answer = e->r.answer, e->look.derived = e->r.derived;
    e->look.of_own = e->r.of_own;
    e->look.most = calloc((size_t)spot_predictor_about(e->look.predictor)->channels + 1, sizeof *e->look.most);
    return e->look.most ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the channels of a model");
}

/* ---- a program ---- */

static spot_predictor_options program_of(const spot_background_job *j, const spot_background_model *m)
{
    return (spot_predictor_options){ .kind = SPOT_PREDICTOR_COMMAND, .identity = m->identity, .side = j->cfg->data.size,
                                     .command = spot_program_text(m->weights, m->command), .input = m->input };
}

/* Whether a model is a program that is known by its answers alone. */
static bool is_nameless(const spot_background_job *j, int model)
{
    const spot_background_model *m = &j->cfg->model[model];

    return !j->options->function && *spot_program_text(m->weights, m->command) && !m->identity[0];
}

bool spot_background_is_program(spot_ctx *c, const spot_background_job *j, int model, const char *identity)
{
    const spot_background_model *m = &j->cfg->model[model];
    spot_known_program *k = &j->program[model];
    spot_predictor_options o = program_of(j, m);
    spot_predictor *p;

    if (!is_nameless(j, model)) return true;
    if (!k->asked) {
        k->asked = true;
        if (spot_predictor_open(c, &p, &o)) return false;
        if (spot_kept_recall(c, k, p, j->dir, m->name)) k->n = 0;
        spot_predictor_close(c, p);
    }
    return spot_known_has(k, identity);
}

/* The program that is open now, of which results are made; its answers to the first targets, evenly spaced, are kept. */
static spot_status know_program(spot_ctx *c, const spot_background_job *j, examined *e)
{
    const spot_background_suite *s = j->suite;
    const int side = j->cfg->data.size, most = spot_kept_most(side), n = s->targets < most ? s->targets : most;
    const size_t each = 3 * (size_t)side * (size_t)side;
    spot_known_program *k = &j->program[e->unit];
    uint8_t *rgb;
    spot_status how;

    SPOT_TRY(spot_kept_recall(c, k, e->look.predictor, j->dir, e->look.name));
    if (k->n) return SPOT_OK;
    rgb = malloc((size_t)n * each + 1);
    how = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", n);
    for (int i = 0; i < n && how == SPOT_OK; i++) {
        const int picture = s->target_number[(long long)i * s->targets / n];
        how = spot_squares_need(c, &j->in->picture, &picture, 1);
        if (how == SPOT_OK) memcpy(rgb + (size_t)i * each, spot_square_rgb(&j->in->picture, picture), each);
    }
    if (how == SPOT_OK) how = spot_kept_begin(c, k, e->look.predictor, j->dir, rgb, n);
    free(rgb);
    return how;
}

/* ---- opening ---- */

static spot_status open_model(spot_ctx *c, const spot_background_job *j, examined *e)
{
    const spot_background_model *m = &j->cfg->model[e->unit];
    const spot_background_options *o = j->options;
    spot_predictor_options p = { .side = j->cfg->data.size, .precision = j->cfg->measure.precision };
    spot_input_words square;

    if (o->function) {
        p.kind = SPOT_PREDICTOR_FUNCTION, p.function = o->function, p.user = o->user, p.identity = o->identity;
        p.outputs = o->outputs, p.dim = o->dim, p.channels = o->channels;
    } else if (*spot_program_text(m->weights, m->command)) p = program_of(j, m);
    else p.kind = SPOT_PREDICTOR_WEIGHTS, p.weights = m->weights, p.input = m->input;
    e->look.name = m->name;
    SPOT_TRY(spot_output_classes(c, &e->class_of, &e->outputs, m->classes, m->name, j->suite->class_name, j->suite->classes));
    SPOT_TRY(spot_predictor_open(c, &e->look.predictor, &p));
    SPOT_TRY(spot_output_check(c, spot_predictor_about(e->look.predictor)->outputs, e->class_of, e->outputs, m->classes,
                               m->name, j->suite->classes));
    e->look.class_of = e->class_of;
    if (!o->function && !j->cfg->zoo.models)       /* planted networks are known */
        spot_picture_input_say_by(c, m->name, spot_square_words(&square, 0, p.side, SPOT_BILINEAR), &m->input,
                                  p.kind == SPOT_PREDICTOR_COMMAND, SPOT_INPUT_SETTINGS);
    if (is_nameless(j, e->unit)) SPOT_TRY(know_program(c, j, e));
    return take_responses(c, j, e);
}

static void close_model(spot_ctx *c, examined *e)
{
    spot_predictor_close(c, e->look.predictor);
    spot_background_responses_free(&e->r);
    free(e->look.most), free(e->class_of);
    *e = (examined){ .unit = e->unit };
}

/* ---- its result ---- */

static void fill_coverage(spot_background_result *u, const float *most)
{
    for (int k = 0; k < SPOT_COVERAGES; k++) {
        int covered = 0;
        for (int i = 0; i < u->channels; i++) covered += most[i] > spot_coverage_at[k];
        u->coverage[k] = u->channels ? (double)covered / u->channels : NAN;
    }
}

static spot_status fill_result(spot_ctx *c, const spot_background_job *j, examined *e, spot_background_result *u)
{
    const spot_predictor_info *about = spot_predictor_about(e->look.predictor);
    const spot_background_suite *s = j->suite;

    *u = (spot_background_result){ .index = e->unit, .numbers = SPOT_BACKGROUND_NUMBERS, .classes = s->classes,
                                   .targets = s->targets, .n = s->n, .outputs = about->outputs, .dim = about->dim,
                                   .channels = about->channels };
    if (!spot_background_result_take(u)) return spot_fail(c, SPOT_NOMEM, "no memory for the result of %s", e->look.name);
    memcpy(u->suite, s->key, sizeof u->suite);
    snprintf(u->name, sizeof u->name, "%s", e->look.name);
    snprintf(u->identity, sizeof u->identity, "%s", is_nameless(j, e->unit) ? j->program[e->unit].identity[0]
                                                                             : about->identity);
    SPOT_TRY(spot_model_inputs(c, u->inputs, &j->cfg->model[e->unit], j->options->function ? j->options->identity : NULL,
                               s->key));
    for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++) {
        u->has[k] = !k || about->dim;
        for (int i = 0; i < SPOT_BACKGROUND_FEATURES; i++) u->feature[k][i] = NAN;
    }
    fill_coverage(u, e->look.most);
    spot_background_count(u, &e->r, s);
    spot_range_begin(c, "matrices");
    const spot_status how = spot_background_matrices(c, &e->r, u, s, j->cfg);
    spot_range_end(c);
    return how;
}

static spot_status keep_result(spot_ctx *c, spot_work *w, const spot_background_job *j, examined *e)
{
    spot_background_result u = { 0 };
    spot_status s;

    if (e->look.failed) return spot_work_skip(w, e->unit, e->look.failed, e->look.why), SPOT_OK;
    s = fill_result(c, j, e, &u);
    memcpy(u.config, w->key, sizeof u.config);
    if (s == SPOT_OK) s = spot_background_responses_write(c, &e->r, w->place.out, e->unit);
    if (s == SPOT_OK) s = spot_work_keep(c, w, e->unit, &u);
    spot_background_result_close(&u);
    return s;
}

/* ---- answers of another run ---- */

/* Room for matrices of this run's grid. */
static spot_status retake_matrices(spot_ctx *c, spot_background_responses *r, int grid)
{
    const size_t cells = (size_t)grid * (size_t)grid;

    free(r->matrix), free(r->weight);
    r->grid = grid;
    r->matrix = malloc(SPOT_BACKGROUND_MATRICES * cells * sizeof *r->matrix);
    r->weight = malloc(cells * sizeof *r->weight);
    if (!r->matrix || !r->weight) return spot_fail(c, SPOT_NOMEM, "no memory for matrices of %d cells a side", grid);
    for (size_t i = 0; i < SPOT_BACKGROUND_MATRICES * cells; i++) r->matrix[i] = NAN;
    return SPOT_OK;
}

/* u: the model's result in the other run, which becomes that of this run. */
static spot_status take_known(spot_ctx *c, spot_work *w, const spot_background_job *j, int unit, spot_background_result *u)
{
    spot_background_responses r;
    spot_status s = spot_background_responses_read(c, &r, j->known, u);

    if (s == SPOT_OK) s = retake_matrices(c, &r, j->cfg->measure.grid);
    for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++)
        for (int i = 0; i < SPOT_BACKGROUND_FEATURES; i++) u->feature[k][i] = NAN;
    memcpy(u->config, w->key, sizeof u->config);
    if (s == SPOT_OK) s = spot_background_matrices(c, &r, u, j->suite, j->cfg);
    if (s == SPOT_OK) s = spot_background_responses_write(c, &r, w->place.out, unit);
    if (s == SPOT_OK) s = spot_work_keep(c, w, unit, u);
    spot_background_responses_free(&r);
    return s;
}

/* Whether the other run has the answers of this very model to this very suite. */
static bool is_known(spot_ctx *c, const spot_background_job *j, const spot_frame *f, const spot_background_result *u, int unit)
{
    spot_ctx own = { .ops = c->ops, .threads = c->threads, .stop = c->stop };  /* its sentence comes again with the model */
    char hash[33] = "";

    return f->state == SPOT_SEGMENT_WHOLE && f->numbers == SPOT_BACKGROUND_NUMBERS && !strcmp(f->config, j->known_key)
        && !strcmp(u->name, j->cfg->model[unit].name)
        && spot_model_inputs(&own, hash, &j->cfg->model[unit], j->options->function ? j->options->identity : NULL,
                             j->suite->key) == SPOT_OK
        && !strcmp(hash, u->inputs) && spot_background_is_program(&own, j, unit, u->identity);
}

static spot_status recall(spot_ctx *c, spot_work *w, const spot_background_job *j, int unit, bool *found)
{
    spot_background_result u = { 0 };
    spot_frame f;
    spot_status s = spot_frame_read(c, w->study, j->known, unit, &u, &f);

    *found = s == SPOT_OK && is_known(c, j, &f, &u, unit);
    if (*found) s = take_known(c, w, j, unit, &u);
    spot_background_result_close(&u);
    return s;
}

/* Lists in `left` the units that no other run has the answers for. */
static spot_status recall_units(spot_ctx *c, spot_work *w, const spot_background_job *j, const int *unit, int n, int *left,
                                int *lefts)
{
    const bool anonymous = j->options->function && !j->options->identity;

    *lefts = 0;
    for (int i = 0; i < n; i++) {
        bool found = false;
        SPOT_TRY(spot_check_stop(c));
        if (*j->known && !anonymous) SPOT_TRY(recall(c, w, j, unit[i], &found));
        if (found) spot_work_tell(c, w, j->cfg->model[unit[i]].name);
        else left[(*lefts)++] = unit[i];
    }
    return SPOT_OK;
}

/* ---- together ---- */

/* A model that cannot be opened is skipped, and the others go on. Returns how many are open by *open. */
static spot_status open_models(spot_ctx *c, spot_work *w, const spot_background_job *j, examined *e, const int *unit, int n,
                               int *open,
                               int *tried)
{
    size_t bytes = 0;

    for (*open = *tried = 0; *tried < n && (!*open || bytes < j->memory); ++*tried) {
        examined *one = &e[*open];
        *one = (examined){ .unit = unit[*tried] };
        const spot_status s = open_model(c, j, one);
        if (s == SPOT_OK) {
            bytes += spot_predictor_about(one->look.predictor)->bytes;
            ++*open;
            continue;
        }
        close_model(c, one);
        if (s != SPOT_INPUT && s != SPOT_IO) return s;
        spot_work_skip(w, one->unit, s, spot_take_message(c, s));
    }
    return SPOT_OK;
}

static spot_status look_together(spot_ctx *c, spot_work *w, const spot_background_job *j, examined *e, int n)
{
    spot_look_model *model = calloc((size_t)n + 1, sizeof *model);
    spot_background_look l = { j->in, j->suite, j->cfg, model, n, w };
    spot_status s;

    if (!model) return spot_fail(c, SPOT_NOMEM, "no memory for %d models", n);
    for (int i = 0; i < n; i++) model[i] = e[i].look;
    spot_range_begin(c, "look");
    s = spot_look_all(c, &l);
    spot_range_end(c);
    for (int i = 0; i < n && s == SPOT_OK; i++) {
        e[i].look.failed = model[i].failed;
        memcpy(e[i].look.why, model[i].why, sizeof e[i].look.why);
        s = keep_result(c, w, j, &e[i]);
        if (s == SPOT_OK) spot_work_tell_within(c, w, SPOT_LOOK_SHARE * (n - 1 - i), e[i].look.name);
    }
    free(model);
    return s;
}

static spot_status look_with(spot_ctx *c, spot_work *w, const spot_background_job *j, const int *unit, int n)
{
    examined *e = calloc((size_t)n + 1, sizeof *e);
    spot_status s = e ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d models", n);

    for (int from = 0, open, tried; from < n && s == SPOT_OK; from += tried) {
        spot_range_begin(c, "open");
        s = open_models(c, w, j, e, unit + from, n - from, &open, &tried);
        spot_range_end(c);
        if (s == SPOT_OK && open) s = look_together(c, w, j, e, open);
        for (int i = 0; i < open; i++) close_model(c, &e[i]);
    }
    free(e);
    return s;
}

spot_status spot_background_compute(spot_ctx *c, spot_work *w, const spot_background_job *j, const int *unit, int n)
{
    int *left = malloc(((size_t)n + 1) * sizeof *left), lefts;
    spot_status s = left ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d models", n);

    if (s == SPOT_OK) s = recall_units(c, w, j, unit, n, left, &lefts);
    if (s == SPOT_OK) s = look_with(c, w, j, left, lefts);
    free(left);
    return s;
}
