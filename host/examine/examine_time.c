/* examine_time.c - the time of an examination, from timing a small part of everything: renders and looks of a few objects, in
 * calls of two sizes, a few steps of training, and each examiner's own work on made-up answers. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examine_networks.h"
#include "examine/examine_search.h"
#include "examine/examiners.h"
#include "models/foreign_model.h"
#include "study/process_memory.h"

enum { FEW = 16 };                         /* objects by which renders are timed */

static const double ENOUGH = 1, LONGER = 4;     /* seconds after which an examiner's work is told from what it did so far */

/* The time of a call, and of each render in it. */
typedef struct { spot_spent call, each; } pace;

typedef struct {
    const spot_examine_config *cfg;
    spot_examine_objects_list objects;
    spot_examine_backgrounds pictures;
    spot_examine_drawer drawer;
    spot_factor_space space;
    spot_conditions fixed;
    int entry[FEW], entries;
    int n[2];                              /* renders of the two calls */
    spot_spent mesh;                       /* of the reading of a mesh */
    pace draw;
} trial;

/* ---- sums ---- */

static spot_spent times(double n, spot_spent a) { return (spot_spent){ n * a.wall, n * a.cpu }; }

static void add(spot_spent *sum, spot_spent a) { sum->wall += a.wall, sum->cpu += a.cpu; }

static pace pace_of(const int n[2], const spot_spent spent[2])
{
    const double wall = fmax(0, (spent[1].wall - spent[0].wall) / (n[1] - n[0]));
    const double cpu = fmax(0, (spent[1].cpu - spent[0].cpu) / (n[1] - n[0]));

    return (pace){ { fmax(0, spent[1].wall - wall * n[1]), fmax(0, spent[1].cpu - cpu * n[1]) }, { wall, cpu } };
}

static void add_calls(spot_spent *sum, pace p, double calls, double renders)
{
    add(sum, times(calls, p.call));
    add(sum, times(renders, p.each));
}

/* ---- objects ---- */

/* The first object that is examined of each class, or that a network learns. One that cannot be read is left out. */
static spot_status read_objects(spot_ctx *c, trial *t)
{
    const spot_examine_objects_list *o = &t->objects;
    spot_spent at = spot_spent_now(), all = { 0, 0 };

    for (int k = 0; k < o->list.classes && t->entries < FEW; k++) {
        int entry = o->first[k], n = o->first[k + 1] - o->first[k];
        if (t->cfg->objects.choice == SPOT_OBJECTS_TRAINED) spot_examine_learned(o, &t->cfg->model[0], k, &entry, &n);
        if (n < 1) continue;
        const spot_status s = spot_examine_mesh(c, &t->objects, entry);
        if (s == SPOT_OK) t->entry[t->entries++] = entry;
        else if (s == SPOT_INPUT) spot_forget(c);
        else return s;
    }
    spot_spend(&all, &at);
    t->mesh = times(t->entries ? 1.0 / t->entries : 0, all);
    return t->entries ? SPOT_OK : spot_fail(c, SPOT_INPUT, "none of the first 3-D models of each class can be read");
}

static void list_shots(const trial *t, spot_examine_shot *shot)
{
    for (int i = 0; i < t->n[1]; i++) {
        const int entry = t->entry[i % t->entries];
        const uint32_t number = spot_examine_number(t->objects.list.entry[entry].id);
        const spot_conditions fixed = spot_examine_fixed(t->cfg, &t->space, &t->fixed, number);
        shot[i] = (spot_examine_shot){ entry, number,
                                       spot_examine_chance(&t->space, &fixed, t->cfg->search.seed, number, i / t->entries) };
    }
}

static spot_status time_drawing(spot_ctx *c, trial *t)
{
    spot_examine_shot *shot = malloc((size_t)t->n[1] * sizeof *shot);
    spot_status s = shot ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to time %d renders", t->n[1]);
    spot_spent spent[2];

    if (shot) list_shots(t, shot);
    for (int turn = -1; turn < 2 && s == SPOT_OK; turn++) {        /* the first one warms up */
        spot_spent at = spot_spent_now(), one = { 0, 0 };
        s = spot_examine_draw(c, &t->drawer, shot, t->n[turn != 0]);
        spot_spend(&one, &at);
        if (turn >= 0) spent[turn] = one;
    }
    if (s == SPOT_OK) t->draw = pace_of(t->n, spent);
    free(shot);
    return s;
}

static spot_status open_trial(spot_ctx *c, trial *t, spot_examine_config *cfg)
{
    const int examined = spot_examine_objects_of_a_model(cfg);

    t->cfg = cfg;
    SPOT_TRY(spot_examine_space(c, &t->space, &t->fixed, cfg));
    SPOT_TRY(spot_examine_objects_open(c, &t->objects, cfg));
    SPOT_TRY(spot_examine_backgrounds_open(c, &t->pictures, cfg));
    t->n[0] = examined < 32 ? 8 : 32, t->n[1] = SPOT_EXAMINE_BATCH;
    SPOT_TRY(read_objects(c, t));
    SPOT_TRY(spot_examine_drawer_open(c, &t->drawer, &t->objects, &t->pictures, t->n[1]));
    return time_drawing(c, t);
}

static void close_trial(spot_ctx *c, trial *t)
{
    spot_examine_drawer_close(&t->drawer);
    spot_examine_backgrounds_close(&t->pictures);
    spot_examine_objects_close(c, &t->objects);
}

/* ---- models ---- */

static spot_status time_weights(spot_ctx *c, trial *t, const char *path, pace *look)
{
    const spot_predictor_options o = { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = path, .side = t->cfg->render.size };
    spot_predictor *p;
    spot_spent spent[2];

    SPOT_TRY(spot_predictor_open(c, &p, &o));
    float *logit = malloc((size_t)t->n[1] * (size_t)spot_predictor_about(p)->outputs * sizeof *logit);
    spot_status s = logit ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to time %s", path);
    for (int turn = -1; turn < 2 && s == SPOT_OK; turn++) {
        const spot_prediction q = { .rgb = t->drawer.rgb, .n = t->n[turn != 0], .side = t->cfg->render.size, .logit = logit };
        spot_spent at = spot_spent_now(), one = { 0, 0 };
        s = spot_predict(c, p, &q);
        spot_spend(&one, &at);
        if (turn >= 0) spent[turn] = one;
    }
    if (s == SPOT_OK) *look = pace_of(t->n, spent);
    free(logit);
    spot_predictor_close(c, p);
    return s;
}

/* Adds the training of a network, and how it looks: the run opens it once, and not in each call as here. */
static spot_status add_training(spot_ctx *c, trial *t, const spot_examine_model *m, pace *look, spot_spent *sum)
{
    spot_examine_paces p = { .entry = t->entry, .objects = t->entries, .rgb = t->drawer.rgb, .n = { t->n[0], t->n[1] } };
    double objects = 0;
    int epochs;

    for (int k = 0; k < t->objects.list.classes; k++) {
        int from, n;
        spot_examine_learned(&t->objects, m, k, &from, &n);
        objects += n;
    }
    const double images = spot_examine_passes(m, objects, &epochs), least = epochs < 1 ? 0 : images;
    const double drawn = spot_examine_keeps_renders(&t->objects, images) ? least : least * epochs;
    SPOT_TRY(spot_examine_time_training(c, &p, m, &t->objects, &t->pictures));
    *look = (pace){ .each = pace_of(t->n, p.look).each };
    add(sum, times(images * epochs, p.learn));
    add_calls(sum, t->draw, drawn / m->batch, drawn);
    add(sum, times(objects, t->mesh));
    return SPOT_OK;
}

/* ---- examiners ---- */

/* The work of an examiner for all objects, without renders; its rounds; how many points it was timed on. */
typedef struct { spot_spent spent; double rounds; int asked; } examiner_work;

/* Losses with a valley, so that a method finds something to follow. */
static void answer(const trial *t, double *loss, const double *at, int n)
{
    for (int i = 0; i < n; i++) {
        double far = 0;
        for (int d = 0; d < t->space.dims; d++) far += pow(at[i * t->space.dims + d] - 0.3, 2);
        loss[i] = -far / (1 + far);
    }
}

double spot_examiner_seconds(const spot_examiner_moment mark[3], spot_examiner_moment now, double asked, double share)
{
    double each[2], at[2];

    if (share < now.asked / asked) return now.seconds / share;
    for (int i = 0; i < 2; i++) {
        const double n = mark[i + 1].asked - mark[i].asked;
        each[i] = n > 0 ? (mark[i + 1].seconds - mark[i].seconds) / n : 0;
        at[i] = 0.5 * (mark[i + 1].asked + mark[i].asked);
    }
    if (!(each[0] > 0 && each[1] > 0)) return now.seconds / now.asked * asked;
    const double power = 1 + fmin(2, fmax(0, log(each[1] / each[0]) / log(at[1] / at[0])));
    return now.seconds + each[1] * at[1] / power * (pow(asked / at[1], power) - pow(now.asked / at[1], power));
}

/* Told until the budget ends or the time is enough; the rest is reckoned. */
static spot_status play(spot_ctx *c, const trial *t, spot_examiner *e, int problems, int budget, double enough,
                        examiner_work *w)
{
    const size_t most = (size_t)problems * (size_t)(budget < SPOT_EXAMINER_MOST ? budget : SPOT_EXAMINER_MOST);
    double *at = malloc(most * (size_t)t->space.dims * sizeof *at), *loss = malloc(most * sizeof *loss);
    spot_status s = at && loss ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to time an examiner");
    spot_examiner_moment mark[3] = { { 0, 0 }, { 0, 0 }, { 0, 0 } }, last = { 0, 0 };
    spot_spent now = spot_spent_now();

    *w = (examiner_work){ { 0, 0 }, 0, 0 };
    while (s == SPOT_OK && w->asked < budget && w->spent.cpu < enough) {
        const int n = spot_examiner_wants(e);
        s = spot_examiner_ask(c, e, at);
        if (s == SPOT_OK) answer(t, loss, at, problems * n);
        if (s == SPOT_OK) s = spot_examiner_tell(c, e, loss);
        w->asked += n, w->rounds++;
        spot_spend(&w->spent, &now);
        last = (spot_examiner_moment){ w->spent.cpu, w->asked };
        if (w->asked >= 2 * mark[2].asked) mark[0] = mark[1], mark[1] = mark[2], mark[2] = last;
    }
    free(at), free(loss);
    if (s != SPOT_OK || w->asked >= budget) return s;
    w->spent = times(spot_examiner_seconds(mark, last, budget, spot_examiner_share(e)) / w->spent.cpu, w->spent);
    w->rounds *= (double)budget / w->asked;
    return SPOT_OK;
}

static spot_status play_new(spot_ctx *c, const trial *t, const spot_examiner_config *e, int problems, int budget,
                            double enough, examiner_work *w)
{
    uint32_t *number = malloc((size_t)problems * sizeof *number);
    spot_examiner *own = NULL;
    spot_status s = number ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d objects", problems);

    for (int i = 0; number && i < problems; i++) number[i] = (uint32_t)i;
    if (s == SPOT_OK)
        s = spot_examiner_open(c, &own, e, &(spot_examiner_search){ &t->space, problems, budget, t->cfg->search.seed, number });
    if (s == SPOT_OK) s = play(c, t, own, problems, budget, enough, w);
    spot_examiner_close(own);
    free(number);
    return s;
}

/* An examiner that comes not far with all problems is timed on a few, where it comes far enough to show how it grows. */
static spot_status time_examiner(spot_ctx *c, const trial *t, const spot_examiner_config *e, examiner_work *w)
{
    const spot_examine_search search = spot_examine_search_of(t->cfg, e);
    const int problems = spot_examine_objects_of_a_model(t->cfg) < 256 ? spot_examine_objects_of_a_model(t->cfg) : 256;
    const int budget = spot_examine_asked(&search, search.points - 1), few = c->threads < 1 ? 1 : c->threads;

    SPOT_TRY(play_new(c, t, e, problems, budget, ENOUGH, w));
    if (w->asked >= budget / 8 || few >= problems) return SPOT_OK;
    SPOT_TRY(play_new(c, t, e, few, budget, LONGER, w));
    w->spent = times((double)problems / few, w->spent);
    return SPOT_OK;
}

/* ---- all ---- */

/* The searches of a model: `look` of its network; renders: all of the model's. */
static spot_status add_searches(spot_ctx *c, trial *t, const examiner_work *w, pace look, double renders, spot_spent *sum)
{
    const int objects = spot_examine_objects_of_a_model(t->cfg);
    const double groups = ceil(objects / 256.0), units = (double)t->cfg->examiners * t->cfg->search.seeds * objects;
    double rounds = 0;

    for (int e = 0; e < t->cfg->examiners; e++) {
        const spot_examine_search s = spot_examine_search_of(t->cfg, &t->cfg->examiner[e]);
        add(sum, times(t->cfg->search.seeds * groups, w[e].spent));
        rounds += t->cfg->search.seeds * groups * (w[e].rounds + s.points);
    }
    rounds += 3 * units;                   /* its picture, fresh renders, renders along the factors */
    add_calls(sum, t->draw, rounds, renders);
    add_calls(sum, look, rounds, renders);
    add(sum, times(objects, t->mesh));
    return spot_check_stop(c);
}

static spot_status add_models(spot_ctx *c, trial *t, const examiner_work *w, const spot_examine_cost *cost, spot_spent *sum)
{
    const double renders = (cost->renders + cost->maps) / t->cfg->models;

    for (int m = 0; m < t->cfg->models; m++) {
        const spot_examine_model *v = &t->cfg->model[m];
        pace look = { { 0, 0 }, { 0, 0 } };
        SPOT_TRY(spot_check_stop(c));
        if (spot_examine_is_trained(v)) SPOT_TRY(add_training(c, t, v, &look, sum));
        else if (!*spot_program_text(v->weights, v->command)) SPOT_TRY(time_weights(c, t, v->weights, &look));
        SPOT_TRY(add_searches(c, t, w, look, renders, sum));
    }
    return SPOT_OK;
}

spot_status spot_examine_time_of(spot_ctx *c, const spot_examine_config *cfg, const spot_examine_cost *cost,
                                 spot_examine_time *time)
{
    const double since = spot_clock();
    spot_examine_config *own = malloc(sizeof *own);
    examiner_work *w = calloc((size_t)cfg->examiners + 1, sizeof *w);
    spot_ctx quiet = spot_quiet_of(c);
    spot_spent sum = { 0, 0 };
    trial t = { 0 };
    spot_status s = own && w ? SPOT_OK : spot_fail(&quiet, SPOT_NOMEM, "no memory for a config");

    *time = (spot_examine_time){ NAN, NAN, NAN };
    if (s == SPOT_OK && c->device) return free(own), free(w), SPOT_OK;
    if (s == SPOT_OK) *own = *cfg, s = open_trial(&quiet, &t, own);
    for (int e = 0; e < cfg->examiners && s == SPOT_OK; e++) s = time_examiner(&quiet, &t, &cfg->examiner[e], &w[e]);
    if (s == SPOT_OK) s = add_models(&quiet, &t, w, cost, &sum);
    if (own) close_trial(&quiet, &t);
    free(own), free(w);
    *time = (spot_examine_time){ sum.wall, sum.cpu, spot_clock() - since };
    return s == SPOT_OK ? s : spot_fail_from(c, s, &quiet);
}
