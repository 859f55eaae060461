/* background_time.c - the time of a run, from timing a small part of it: a few targets of one class are decoded, blended and
 * looked at as the run does it, before backgrounds that are taken in order. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "background/background_result.h"
#include "background/background_unit.h"
#include "background/look/look_batch.h"
#include "background/look/matrices.h"
#include "background/suite/suite_encoders.h"
#include "background/zoo/zoo_make.h"
#include "study/process_memory.h"

/* Seconds: of a picture's decoding, of its encoding, of the blending of a picture, of a look at one by all models, of opening
 * all models, of their matrices. */
typedef struct { double decode, encode, blend, look, open, matrices; } run_pace;

typedef struct {
    spot_background_config *cfg;
    spot_background_inputs in;
    spot_suite_encoders encoders;
    spot_background_suite suite;               /* a few targets */
    int pictures;                              /* that a look sees */
} trial;

/* ---- a few targets ---- */

/* The first of the largest class. */
static int first_target(const spot_background_inputs *in)
{
    int best = 0, most = 0;

    for (int i = 0, from = 0; i < in->pictures; i++) {
        if (i && in->cls[i] != in->cls[i - 1]) from = i;
        if (i - from + 1 > most) most = i - from + 1, best = from;
    }
    return best;
}

static int class_end(const spot_background_inputs *in, int from)
{
    int to = from;

    while (to < in->pictures && in->cls[to] == in->cls[from]) to++;
    return to;
}

static spot_status fill_suite(spot_ctx *c, trial *t)
{
    const int first = first_target(&t->in), there = class_end(&t->in, first) - first;
    const int wanted = 2 * spot_look_together(c, t->cfg);
    const int targets = there < wanted ? there : wanted, n = t->cfg->suite.n, backs = t->in.backgrounds;
    spot_background_suite *s = &t->suite;
    const size_t pairs = (size_t)targets * (size_t)n;

    *s = (spot_background_suite){ .targets = targets, .n = n, .classes = t->in.classes, .backgrounds = backs, .range = 1 };
    s->target_number = malloc(((size_t)targets + 1) * sizeof *s->target_number);
    s->cls = malloc(((size_t)targets + 1) * sizeof *s->cls);
    s->background_number = malloc(((size_t)backs + 1) * sizeof *s->background_number);
    s->chosen = malloc((pairs + 1) * sizeof *s->chosen);
    s->distance = calloc(pairs + 1, sizeof *s->distance);
    if (!s->target_number || !s->cls || !s->background_number || !s->chosen || !s->distance)
        return spot_fail(c, SPOT_NOMEM, "no memory to time %d targets", targets);
    for (int i = 0; i < targets; i++) s->target_number[i] = first + i, s->cls[i] = t->in.cls[first];
    for (int i = 0; i < backs; i++) s->background_number[i] = i;
    for (size_t i = 0; i < pairs; i++) {
        s->chosen[i] = (int)(i % (size_t)backs);
        s->distance[i] = (float)((double)(i % 97) / 97);
    }
    t->pictures = targets * (spot_look_images(t->cfg) - spot_background_own(t->cfg));
    const int own = spot_background_own(t->cfg), others = targets - 1;
    t->pictures += targets * (own < others ? own : others);
    return SPOT_OK;
}

static spot_status open_trial(spot_ctx *c, trial *t, const spot_background_config *cfg)
{
    *t = (trial){ .cfg = malloc(sizeof *t->cfg) };
    if (!t->cfg) return spot_fail(c, SPOT_NOMEM, "no memory for a config");
    *t->cfg = *cfg;
    t->cfg->measure.levels = spot_background_levels(cfg);
    SPOT_TRY(spot_background_inputs_open(c, &t->in, t->cfg));
    SPOT_TRY(spot_suite_encoders_open(c, &t->encoders, t->cfg));
    SPOT_TRY(fill_suite(c, t));
    return spot_background_squares(c, &t->in, 0, spot_look_pictures(c, t->cfg) + t->suite.targets,
                                   spot_look_together(c, t->cfg) * t->cfg->suite.n);
}

static void close_trial(spot_ctx *c, trial *t)
{
    spot_background_suite *s = &t->suite;

    free(s->target_number), free(s->cls), free(s->background_number), free(s->chosen), free(s->distance);
    spot_suite_encoders_close(c, &t->encoders);
    spot_background_inputs_close(&t->in);
    free(t->cfg);
}

/* ---- paces ---- */

/* Targets and backgrounds at several places of the lists, and their rows. */
static spot_status time_decoding(spot_ctx *c, trial *t, run_pace *pace)
{
    enum { SOME = 16 };
    const int number = t->in.backgrounds < SOME ? t->in.backgrounds : SOME, size = t->cfg->data.size;
    const size_t square = 3 * (size_t)size * (size_t)size;
    int item[SOME];
    double since = spot_clock();

    for (int i = 0; i < number; i++) item[i] = (int)((long long)i * t->in.backgrounds / number);
    SPOT_TRY(spot_squares_need(c, &t->in.background, item, number));
    SPOT_TRY(spot_squares_need(c, &t->in.picture, t->suite.target_number, t->suite.targets));
    pace->decode = (spot_clock() - since) / (number + t->suite.targets);
    float *row = malloc((size_t)number * (size_t)t->encoders.dim * sizeof *row);
    uint8_t *rgb = malloc((size_t)number * square);
    spot_status s = row && rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to time encoders");
    for (int i = 0; i < number && s == SPOT_OK; i++)
        memcpy(rgb + (size_t)i * square, spot_square_rgb(&t->in.background, item[i]), square);
    for (int turn = 0; turn < 2 && s == SPOT_OK; turn++) {         /* the first warms up */
        since = spot_clock();
        s = spot_suite_encode(c, &t->encoders, row, rgb, number);
    }
    pace->encode = (spot_clock() - since) / number;
    free(row), free(rgb);
    return s;
}

/* The second look of a model at the few targets: what is decoded stays where there is room. */
static spot_status time_look(spot_ctx *c, trial *t, spot_look_model *m, double *seconds)
{
    const spot_background_look l = { &t->in, &t->suite, t->cfg, m, 1, NULL };

    for (int turn = 0; turn < 2; turn++) {
        const double since = spot_clock();
        SPOT_TRY(spot_look_all(c, &l));
        *seconds = spot_clock() - since;
        if (m->failed) return spot_fail(c, m->failed, "%s", m->why);
    }
    return SPOT_OK;
}

static spot_status answer_nothing(spot_ctx *c, void *user, const spot_prediction *p)
{
    (void)c;
    memset(p->logit, 0, (size_t)p->n * (size_t)*(int *)user * sizeof *p->logit);
    return SPOT_OK;
}

/* A model by its predictor; seconds: of a look; matrices: of its matrices. */
static spot_status time_predictor(spot_ctx *c, trial *t, const spot_predictor_options *o, double *seconds, run_pace *pace)
{
    const int own = spot_background_own(t->cfg), grid = t->cfg->measure.grid;
    spot_background_responses r = { 0 };
    spot_background_result u = { .has = { true } };
    spot_look_model m = { .name = "a model" };
    double since = spot_clock();
    spot_status s = spot_predictor_open(c, &m.predictor, o);

    pace->open += spot_clock() - since;
    if (s == SPOT_OK) s = spot_background_responses_take(c, &r, t->suite.targets, t->suite.n, own, grid);
    if (s == SPOT_OK) {
        const spot_predictor_info *about = spot_predictor_about(m.predictor);
        m.signal = r.signal, m.answer = r.answer, m.derived = r.derived, m.of_own = r.of_own;
        m.most = calloc((size_t)about->channels + 1, sizeof *m.most);
        for (int k = 1; k < SPOT_BACKGROUND_MATRICES; k++) u.has[k] = about->dim > 0;
        s = m.most ? time_look(c, t, &m, seconds) : spot_fail(c, SPOT_NOMEM, "no memory to time a model");
    }
    since = spot_clock();
    if (s == SPOT_OK) s = spot_background_matrices(c, &r, &u, &t->suite, t->cfg);
    pace->matrices += spot_clock() - since;
    free(m.most);
    spot_background_responses_free(&r);
    spot_predictor_close(c, m.predictor);
    return s;
}

/* All models that are files. Blending alone is the look of a function that answers nothing. */
static spot_status time_models(spot_ctx *c, trial *t, run_pace *pace)
{
    int outputs = t->suite.classes;
    const spot_predictor_options nothing = { .kind = SPOT_PREDICTOR_FUNCTION, .function = answer_nothing, .user = &outputs,
                                             .outputs = outputs, .side = t->cfg->data.size };
    run_pace unused = { 0 };
    double blend = 0, one = 0;

    SPOT_TRY(time_predictor(c, t, &nothing, &blend, &unused));
    pace->blend = blend / t->pictures;
    for (int i = 0; i < t->cfg->models; i++) {
        const spot_background_model *m = &t->cfg->model[i];
        const spot_predictor_options o = { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = m->weights, .side = t->cfg->data.size,
                                           .precision = t->cfg->measure.precision };
        SPOT_TRY(spot_check_stop(c));
        if (!m->weights[0]) continue;
        SPOT_TRY(time_predictor(c, t, &o, &one, pace));
        pace->look += (one > blend ? one - blend : 0) / t->pictures;
    }
    return SPOT_OK;
}

static spot_status time_files(spot_ctx *c, const spot_background_config *cfg, const spot_background_cost *cost, double *seconds)
{
    const double looks = cost->looks / cost->units;                /* of one model */
    const double batches = ceil((double)cost->units / spot_background_batch(cfg));
    run_pace pace = { 0 };
    trial t;
    spot_status s = open_trial(c, &t, cfg);

    if (s == SPOT_OK) s = time_decoding(c, &t, &pace);
    if (s == SPOT_OK) s = time_models(c, &t, &pace);
    close_trial(c, &t);
    *seconds = (cost->targets + cost->backgrounds) * (pace.decode + pace.encode)
             + (double)cost->targets * cfg->suite.n * pace.encode + looks * (batches * pace.blend + pace.look)
             + cost->runs * (pace.open + pace.matrices);
    return s;
}

/* A planted world that is not made yet. The blends of its small pictures take little beside the training. */
static bool is_planted(const spot_background_config *cfg) { return cfg->zoo.models && access(cfg->data.images, F_OK); }

static double processor_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

spot_status spot_background_time_of(spot_ctx *c, const spot_background_config *cfg, const spot_background_cost *cost,
                                    spot_background_time *time)
{
    const double since = spot_clock(), worked = processor_clock();
    spot_ctx quiet = spot_quiet_of(c);
    spot_status s;

    *time = (spot_background_time){ NAN, NAN, NAN };
    if (!cost->units) return SPOT_OK;
    if (is_planted(cfg)) s = spot_zoo_time(&quiet, &time->seconds, &cfg->zoo, cost->looks / cost->units);
    else s = time_files(&quiet, cfg, cost, &time->seconds);
    time->calibration = spot_clock() - since;
    time->processor = time->seconds * (processor_clock() - worked) / time->calibration;    /* as busy as here */
    return s == SPOT_OK ? s : spot_fail_from(c, s, &quiet);
}
