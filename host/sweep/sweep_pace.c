/* sweep_pace.c - a short calibration. Every stage runs as in a sweep, on few images and for few iterations. The first run only
 * prepares kernels and memory pages. A stage's time grows with its images, a method's as measured on several sizes of view. */
#define _DEFAULT_SOURCE
#include "sweep/sweep_pace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/encoder_look.h"
#include "spotter/report.h"
#include "store/pixel_cache.h"

#define SHARE 0.015                /* share of a sweep's training that the calibration trains, twice */
/* If a batch takes more than LONG seconds, as in a large network, a smaller one is timed, whose plain step takes about PART. */
#define LONG 5.0
#define PART 1.0
enum { PROBE = 8 };                /* images of the first trial, which finds the time of a batch */
enum { PICTURES = 64 };            /* real pictures that a GPU learns from, again and again */

static spot_spent times(spot_spent s, double k) { return (spot_spent){ s.wall * k, s.cpu * k }; }

static void add_times(spot_spent *sum, spot_spent s, double k)
{
    sum->wall += k * s.wall;
    sum->cpu += k * s.cpu;
}

/* Never below 0, though noise can make a measured part longer than the whole. */
static void subtract_times(spot_spent *sum, spot_spent s, double k)
{
    sum->wall = fmax(0, sum->wall - k * s.wall);
    sum->cpu = fmax(0, sum->cpu - k * s.cpu);
}

/* -- images --------------------------------------------------------------------------------------------------- */

/* The images that are computed: a batch consists of lanes, and a short last batch is filled up to whole lanes. */
static double in_whole_lanes(double images, const spot_model_config *cfg)
{
    double lane = ceil((double)cfg->batch / cfg->lanes);

    return ceil(images / lane) * lane;
}

typedef spot_status trainer(spot_ctx *, spot_arena *, spot_model *, spot_learning *, const spot_ec *, const spot_model_config *,
                            const spot_model *);

/* Trains on a batch and validates on as many images in every epoch. *all: time of the whole call. */
static spot_status time_epochs(spot_ctx *c, spot_arena *a, trainer *train, spot_learning *lesson, spot_spent *all,
                               spot_model *model, const spot_model_config *cfg, const spot_ec *ec, int epochs)
{
    void (*log)(void *, spot_log_level, const char *) = c->on_log;
    spot_model_config few = *cfg;
    spot_ec small = *ec;
    spot_spent at = spot_spent_now();
    spot_status s;

    few.epochs = few.robust.epochs = epochs;
    for (int i = SPOT_TRAIN; i <= SPOT_VAL; i++)
        small.images[i] = cfg->batch < ec->images[i] ? cfg->batch : ec->images[i];
    *all = (spot_spent){ 0, 0 };
    c->on_log = NULL;                                      /* what it learned does not matter here */
    s = train(c, a, model, lesson, &small, &few, NULL);
    c->on_log = log;
    spot_spend(all, &at);
    return s;
}

/* One epoch, which also prepares the kernels; then trainings for SHARE of the time of `total` images, within 2 to 10 seconds.
 * Shorter trials would be noisy, since the speed of a shared machine changes from second to second. */
static spot_status time_training(spot_ctx *c, spot_arena *a, spot_pace *p, const spot_model_config *cfg, const spot_ec *ec,
                                 bool robust, double total)
{
    double images = in_whole_lanes(fmin(cfg->batch, ec->images[SPOT_TRAIN]), cfg);
    double val = in_whole_lanes(fmin(cfg->batch, ec->images[SPOT_VAL]), cfg);
    trainer *train = robust ? spot_model_robust : spot_model_train;
    spot_spent first, all, learn = { 0, 0 }, watch = learn, open = learn;
    size_t mark = a->used;
    double patience, each;
    spot_learning lesson;
    spot_model model;
    int epochs, n = 0;

    SPOT_TRY(time_epochs(c, a, train, &lesson, &first, &model, cfg, ec, 1));
    a->used = mark;
    each = fmax(lesson.learn.wall + lesson.watch.wall, 1e-9);
    patience = fmin(fmax(SHARE * total / images * lesson.learn.wall, 2), 10);
    epochs = (int)fmin(fmax(patience / each, 1), 20);
    do {
        SPOT_TRY(time_epochs(c, a, train, &lesson, &all, &model, cfg, ec, epochs));
        a->used = mark;
        n++;
        add_times(&learn, lesson.learn, 1);
        add_times(&watch, lesson.watch, 1);
        add_times(&open, all, 1);
    } while (open.wall + epochs * each < patience);
    subtract_times(&open, learn, 1);
    subtract_times(&open, watch, 1);
    *(robust ? &p->robust : &p->train) = times(learn, 1 / (n * epochs * images));
    if (robust) return SPOT_OK;
    p->watch = times(watch, 1 / (n * epochs * val));
    p->open = times(open, 1.0 / n);
    p->start = first;
    subtract_times(&p->start, p->open, 1);
    subtract_times(&p->start, p->train, images);
    subtract_times(&p->start, p->watch, val);
    return SPOT_OK;
}

/* *few: cfg, with a smaller batch if the network is large: if a step of its slowest training, which has `attacks` passes beside
 * the step itself, takes LONG. CPU time decides whether it is large, so that other programs do not change the answer; wall time
 * decides how small the batch becomes. */
static spot_status fit_batch(spot_ctx *c, spot_arena *a, spot_model_config *few, const spot_model_config *cfg,
                             const spot_ec *ec, int attacks)
{
    size_t mark = a->used;
    spot_learning lesson = { 0 };
    double probes = (double)cfg->batch / PROBE;
    spot_spent all, epoch = { 0, 0 };
    spot_model model;

    *few = *cfg;
    if (cfg->batch <= PROBE) return SPOT_OK;
    few->batch = PROBE;
    for (int i = 0; i < 2; i++) {                          /* the first run prepares the kernels */
        SPOT_TRY(time_epochs(c, a, spot_model_train, &lesson, &all, &model, few, ec, 1));
        a->used = mark;
    }
    add_times(&epoch, lesson.learn, 1);
    add_times(&epoch, lesson.watch, 1);
    if (epoch.cpu / c->threads * probes * (1 + attacks) <= LONG) few->batch = cfg->batch;
    else few->batch = (int)fmin(fmax(PART / fmax(epoch.wall, 1e-9) * PROBE, PROBE), cfg->batch);
    return SPOT_OK;
}

/* Repeats the measurement after the others and takes the mean, since the machine's load changes. */
static spot_status time_training_again(spot_ctx *c, spot_arena *a, spot_pace *p, const spot_config *cfg, const spot_ec *ec,
                                       double total)
{
    spot_pace q = *p;
    spot_spent *mean[] = { &p->train, &p->watch, &p->robust }, *now[] = { &q.train, &q.watch, &q.robust };

    SPOT_TRY(time_training(c, a, &q, &cfg->model, ec, false, total));
    if (spot_wants_robust(cfg)) SPOT_TRY(time_training(c, a, &q, &cfg->model, ec, true, total));
    for (int i = 0; i < 3; i++) {
        if (!c->device) subtract_times(now[i], p->decode, 1);
        add_times(mean[i], *now[i], 1);
        *mean[i] = times(*mean[i], 0.5);
    }
    return SPOT_OK;
}

/* Makes a view of the positives among a few images, twice: the first run prepares the kernels. */
static spot_status time_looking(spot_ctx *c, spot_arena *a, spot_pace *p, const spot_model_config *cfg, const spot_ec *ec)
{
    size_t mark = a->used;
    spot_ec small = *ec;
    spot_spent at, took[2] = { { 0, 0 }, { 0, 0 } };
    spot_truth truth;
    spot_model m;
    spot_view v;

    small.images[SPOT_TEST] = 3 * cfg->batch < ec->images[SPOT_TEST] ? 3 * cfg->batch : ec->images[SPOT_TEST];
    SPOT_TRY(spot_model_init(c, a, &m, cfg->arch, cfg->width, 1, ec->seed, ec->index));
    for (int i = 0; i < 2; i++) {
        size_t before = a->used;
        at = spot_spent_now();
        SPOT_TRY(spot_model_look(c, a, &v, &truth, &m, &small, SPOT_TEST, cfg));
        spot_spend(&took[i], &at);
        a->used = before;
    }
    a->used = mark;
    p->look = times(took[1], 1 / fmax(in_whole_lanes(v.n, cfg), 1));
    subtract_times(&took[0], took[1], 1);
    add_times(&p->start, took[0], 1);
    return SPOT_OK;
}

/* Encodes the positives among a few images, about a block of them, twice: the first run prepares the kernels. */
static spot_status time_encoding(spot_ctx *c, spot_arena *a, spot_pace *p, spot_encoder *encoder, const spot_ec *ec)
{
    int all = spot_ec_positives(NULL, ec, SPOT_TEST), block = spot_encoder_about(encoder)->picture_block, rows;
    spot_spent at, took[2] = { { 0, 0 }, { 0, 0 } };
    size_t mark = a->used;
    spot_ec small = *ec;
    float *feature;

    if (!all) return SPOT_OK;
    if (all > block) small.images[SPOT_TEST] = (int)((double)ec->images[SPOT_TEST] * block / all);
    rows = spot_ec_positives(NULL, &small, SPOT_TEST);
    SPOT_TRY(SPOT_TAKE(c, a, feature, (size_t)rows * (size_t)spot_encoder_about(encoder)->dim));
    for (int i = 0; i < 2; i++) {
        at = spot_spent_now();
        SPOT_TRY(spot_encoder_look(c, a, encoder, feature, &small, SPOT_TEST));
        spot_spend(&took[i], &at);
    }
    a->used = mark;
    p->encode = times(took[1], 1.0 / (rows > 0 ? rows : 1));
    return SPOT_OK;
}

/* On the CPU the calibration decodes the picture files; a sweep reads them decoded from the pixel cache. */
static spot_status time_decoding(spot_ctx *c, spot_pace *p, const spot_photos *photos)
{
    SPOT_TRY(spot_pixel_cache_pace(c, &p->decode, photos));
    if (c->device) return SPOT_OK;
    subtract_times(&p->train, p->decode, 1);
    subtract_times(&p->robust, p->decode, 1);
    subtract_times(&p->watch, p->decode, 1);
    subtract_times(&p->look, p->decode, 1);
    subtract_times(&p->encode, p->decode, 1);
    return SPOT_OK;
}

/* -- pictures ------------------------------------------------------------------------------------------------- */

/* Draws one picture in a temporary folder. If that cannot be made, pictures count nothing. */
static spot_status time_picture(spot_ctx *c, spot_arena *a, spot_pace *p, const spot_config *cfg, const spot_ec *ec, int rows)
{
    const char *tmp = getenv("TMPDIR");
    spot_hypotheses *found = calloc(1, sizeof *found);
    spot_score *score = calloc(1, sizeof *score);
    spot_learning *lesson = calloc(1, sizeof *lesson);
    char dir[512], path[600];
    size_t mark = a->used;
    spot_spent at;
    spot_view v;
    spot_truth truth;
    spot_points points;
    struct stat st;
    spot_status s = spot_method_timing_view(c, a, &v, &truth, cfg->seed, rows, 2);

    snprintf(dir, sizeof dir, "%s/spotter-plan-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (s == SPOT_OK && found && score && lesson && mkdtemp(dir)) {
        points = (spot_points){ .n = v.n, .d = 2, .at = v.feature, .objective = NAN };
        found->len = rows < 10 ? 1 : 5;
        for (int k = 0; k < found->len; k++)
            found->h[k] = (spot_hypothesis){ .len = rows / found->len, .row = v.image + k * (rows / found->len) };
        snprintf(path, sizeof path, "%s/a.png", dir);
        at = spot_spent_now();
        s = spot_report_ec(c, path, "", &(spot_ec_picture){ ec, lesson, &v, &truth, &points, found, score });
        spot_spend(&p->picture, &at);
        if (s == SPOT_OK && !stat(path, &st)) p->picture_bytes = (double)st.st_size;
        unlink(path);
        rmdir(dir);
    }
    a->used = mark;
    free(lesson), free(score), free(found);
    return s;
}

/* -- all of it ------------------------------------------------------------------------------------------------ */

static spot_status time_stages(spot_ctx *c, spot_arena *a, spot_pace *p, const spot_pace_trial *t)
{
    spot_model_config few, fewer;
    char name[80];
    double patience;
    bool large;

    if (t->source->photos) SPOT_TRY(spot_photos_upload(c, t->source->photos, PICTURES));
    SPOT_TRY(fit_batch(c, a, &few, &t->cfg->model, t->ec, spot_wants_robust(t->cfg) ? t->cfg->model.robust.steps : 0));
    large = few.batch < t->cfg->model.batch;
    fewer = few;
    if (large) fewer.batch = (int)fmax(few.batch / (1 + t->cfg->model.robust.steps), t->cfg->model.lanes);
    spot_log(c, SPOT_LOG_INFO, "timing training on %d images%s", few.batch, large ? ", a part of a batch" : "");
    SPOT_TRY(time_training(c, a, p, &few, t->ec, false, large ? 0 : t->images));
    if (spot_wants_robust(t->cfg)) SPOT_TRY(time_training(c, a, p, &fewer, t->ec, true, large ? 0 : t->images));
    SPOT_TRY(time_looking(c, a, p, &few, t->ec));
    if (t->encoder) SPOT_TRY(time_encoding(c, a, p, t->encoder, t->ec));
    patience = fmin(fmax(0.03 * t->images * p->train.wall, 3), large ? 5 : 30) / (t->cfg->bdms ? t->cfg->bdms : 1);
    if (t->source->photos) SPOT_TRY(time_decoding(c, p, t->source->photos));
    for (int b = 0; b < t->cfg->bdms; b++) {
        c->who = spot_bdm_name(&t->cfg->bdm[b], name, sizeof name);
        spot_log(c, SPOT_LOG_INFO, "timing the method");
        SPOT_TRY(spot_method_timing_take(c, a, &p->method[b], t->cfg, b, t->least, t->most, t->alone->features[b], patience));
    }
    c->who = NULL;
    if (t->pictures && t->cfg->bdms) SPOT_TRY(time_picture(c, a, p, t->cfg, t->ec, t->most));
    return large ? SPOT_OK : time_training_again(c, a, p, t->cfg, t->ec, t->images);
}

spot_status spot_pace_take(spot_ctx *c, spot_pace *p, const spot_pace_trial *t)
{
    int beside = 0;
    spot_arena a;
    spot_status s;

    memset(p, 0, sizeof *p);
    for (int b = 0; b < t->cfg->bdms; b++) beside = t->alone->features[b] > beside ? t->alone->features[b] : beside;
    beside = (SPOT_TIMING_CENTRES * beside + t->most) * (int)sizeof(float) + 4096;            /* the view's */
    SPOT_TRY(spot_arena_open(c, &a, t->alone->arena + (size_t)beside));
    s = time_stages(c, &a, p, t);
    c->who = NULL;
    spot_arena_close(&a);
    return s;
}

/* -- the estimate --------------------------------------------------------------------------------------------- */

static void add_training(spot_spent *sum, const spot_pace *p, const spot_model_config *cfg, spot_spent image, double train,
                         double val, int epochs)
{
    add_times(sum, p->open, 1);
    add_times(sum, image, epochs * in_whole_lanes(train, cfg));
    add_times(sum, p->watch, epochs * in_whole_lanes(val, cfg));
}

spot_spent spot_pace_of_ec(const spot_pace *p, const spot_config *cfg, const spot_ec *ec, int rows)
{
    bool robust = spot_wants_robust(cfg);
    spot_spent sum = { 0, 0 };

    add_training(&sum, p, &cfg->model, p->train, ec->images[SPOT_TRAIN], ec->images[SPOT_VAL], cfg->model.epochs);
    if (robust) {
        add_training(&sum, p, &cfg->model, p->robust, ec->images[SPOT_TRAIN], ec->images[SPOT_VAL], cfg->model.robust.epochs);
        add_times(&sum, p->robust, in_whole_lanes(ec->images[SPOT_VAL], &cfg->model));       /* a last attack on them */
    }
    add_times(&sum, p->look, (1 + robust + cfg->metric.repair) * in_whole_lanes(rows, &cfg->model));
    if (spot_wants_clip(cfg)) add_times(&sum, p->encode, rows);
    return sum;
}

spot_spent spot_pace_of_start(const spot_pace *p, const spot_config *cfg, const spot_source *source)
{
    spot_spent sum = p->start;

    if (cfg->model.base.images)
        add_training(&sum, p, &cfg->model, p->train, cfg->model.base.images, SPOT_BASE_VAL, cfg->model.base.epochs);
    if (source->photos) add_times(&sum, p->decode, spot_pixel_cache_pictures(source->photos));
    return sum;
}
