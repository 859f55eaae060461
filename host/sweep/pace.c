/* pace.c - a short calibration. Every stage runs as in a sweep, on few images and for few iterations, first once so that
 * kernels are made and pages are there; what it then takes grows with the images, and of a method as two sizes of view say. */
#define _DEFAULT_SOURCE
#include "sweep/pace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spotter/report.h"
#include "spotter/rng.h"
#include "sweep/album.h"

static spot_spent times(spot_spent s, double k) { return (spot_spent){ s.wall * k, s.cpu * k }; }

static void add(spot_spent *sum, spot_spent s, double k)
{
    sum->wall += k * s.wall;
    sum->cpu += k * s.cpu;
}

/* Noise must not make a part of what was measured more than the whole. */
static void take_off(spot_spent *sum, spot_spent s, double k)
{
    sum->wall = fmax(0, sum->wall - k * s.wall);
    sum->cpu = fmax(0, sum->cpu - k * s.cpu);
}

/* -- images --------------------------------------------------------------------------------------------------- */

/* A batch is cut into lanes, and a last one that is short is filled up to whole lanes. */
static double filled(double images, const spot_model_config *cfg)
{
    double lane = ceil((double)cfg->batch / cfg->lanes);

    return ceil(images / lane) * lane;
}

typedef spot_status trainer(spot_ctx *, spot_arena *, spot_model *, spot_lesson *, const spot_ec *, const spot_model_config *,
                            const spot_model *);

/* On a batch and as many val images in every epoch. *all: the whole call. */
static spot_status train(spot_ctx *c, spot_arena *a, trainer *of, spot_lesson *lesson, spot_spent *all, spot_model *model,
                         const spot_model_config *cfg, const spot_ec *ec, int epochs)
{
    spot_model_config few = *cfg;
    spot_ec small = *ec;
    spot_spent at = spot_spent_now();

    few.epochs = few.robust.epochs = epochs;
    for (int i = SPOT_TRAIN; i <= SPOT_VAL; i++)
        small.images[i] = cfg->batch < ec->images[i] ? cfg->batch : ec->images[i];
    *all = (spot_spent){ 0, 0 };
    SPOT_TRY(of(c, a, model, lesson, &small, &few, NULL));
    spot_spend(all, &at);
    return SPOT_OK;
}

/* An epoch that also makes the kernels, and then as many as `patience` seconds are for. */
static spot_status time_training(spot_ctx *c, spot_arena *a, spot_pace *p, const spot_config *cfg, const spot_ec *ec,
                                 bool robust, double patience)
{
    double images = filled(fmin(cfg->model.batch, ec->images[SPOT_TRAIN]), &cfg->model);
    double val = filled(fmin(cfg->model.batch, ec->images[SPOT_VAL]), &cfg->model);
    trainer *of = robust ? spot_model_robust : spot_model_train;
    size_t mark = a->used;
    spot_lesson lesson;
    spot_model model;
    spot_spent first, all;
    int epochs;

    SPOT_TRY(train(c, a, of, &lesson, &first, &model, &cfg->model, ec, 1));
    a->used = mark;
    epochs = (int)fmin(fmax(patience / (lesson.learn.wall + lesson.watch.wall), 1), 20);
    SPOT_TRY(train(c, a, of, &lesson, &all, &model, &cfg->model, ec, epochs));
    a->used = mark;
    if (robust) {
        p->robust = times(lesson.learn, 1 / (epochs * images));
        return SPOT_OK;
    }
    p->train = times(lesson.learn, 1 / (epochs * images));
    p->watch = times(lesson.watch, 1 / (epochs * val));
    p->open = all;
    take_off(&p->open, lesson.learn, 1);
    take_off(&p->open, lesson.watch, 1);
    p->start = first;
    take_off(&p->start, p->open, 1);
    take_off(&p->start, p->train, images);
    take_off(&p->start, p->watch, val);
    return SPOT_OK;
}

/* Twice at the positives of a few images: the first makes the kernels. */
static spot_status time_looking(spot_ctx *c, spot_arena *a, spot_pace *p, const spot_config *cfg, const spot_ec *ec)
{
    size_t mark = a->used;
    spot_ec small = *ec;
    spot_spent at, took[2] = { { 0, 0 }, { 0, 0 } };
    spot_truth truth;
    spot_model m;
    spot_view v;

    small.images[SPOT_TEST] = 3 * cfg->model.batch < ec->images[SPOT_TEST] ? 3 * cfg->model.batch : ec->images[SPOT_TEST];
    SPOT_TRY(spot_model_init(c, a, &m, cfg->model.width, 1, ec->seed, ec->index));
    for (int i = 0; i < 2; i++) {
        size_t before = a->used;
        at = spot_spent_now();
        SPOT_TRY(spot_model_look(c, a, &v, &truth, &m, &small, SPOT_TEST, &cfg->model));
        spot_spend(&took[i], &at);
        a->used = before;
    }
    a->used = mark;
    p->look = times(took[1], 1 / fmax(filled(v.n, &cfg->model), 1));
    take_off(&took[0], took[1], 1);
    add(&p->start, took[0], 1);
    return SPOT_OK;
}

/* Pictures come from their files here, and from an album of all of them in a sweep. */
static spot_status time_decoding(spot_ctx *c, spot_pace *p, const spot_photos *photos)
{
    SPOT_TRY(spot_album_pace(c, &p->decode, photos));
    take_off(&p->train, p->decode, 1);
    take_off(&p->robust, p->decode, 1);
    take_off(&p->watch, p->decode, 1);
    take_off(&p->look, p->decode, 1);
    return SPOT_OK;
}

/* -- methods -------------------------------------------------------------------------------------------------- */

enum { CENTRES = 16 };

/* As a network's features of an EC lie: around some centres, each with a share of errors of its own. */
static spot_status make_view(spot_ctx *c, spot_arena *a, spot_view *v, spot_truth *truth, uint64_t seed, int rows, int features)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, 0);
    float *centre;

    *v = (spot_view){ .n = rows, .d = features };
    *truth = (spot_truth){ .n = rows };
    SPOT_TRY(SPOT_TAKE(c, a, v->feature, (size_t)v->n * (size_t)v->d));
    SPOT_TRY(SPOT_TAKE(c, a, v->head, v->d));
    SPOT_TRY(SPOT_TAKE(c, a, v->confidence, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, v->image, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, truth->mask, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, centre, (size_t)CENTRES * (size_t)v->d));
    memset(truth->mask, 0, (size_t)v->n * sizeof *truth->mask);
    for (int j = 0; j < v->d; j++) v->head[j] = (float)spot_rng_normal(&r);
    for (int j = 0; j < CENTRES * v->d; j++) centre[j] = (float)spot_rng_normal(&r);
    for (int i = 0; i < v->n; i++) {
        int k = i % CENTRES;
        for (int j = 0; j < v->d; j++)
            v->feature[(size_t)i * v->d + j] = fmaxf(0, centre[k * v->d + j] + 0.4f * (float)spot_rng_normal(&r));
        v->confidence[i] = (float)((k < 3 ? 0.1 : 0.99) + (k < 3 ? 0.5 : 0.01) * spot_rng_uniform(&r));
        v->image[i] = i;
    }
    return SPOT_OK;
}

static int *iterations_of(spot_embed_config *cfg)
{
    return cfg->method == SPOT_REDUCE_TSNE ? &cfg->tsne.iterations
         : cfg->method == SPOT_REDUCE_SCVIS ? &cfg->scvis.iterations : NULL;
}

/* The original's rule for scvis; embed.h. */
static int iterations_meant(const spot_embed_config *cfg, int rows)
{
    int batch, n;

    if (cfg->method == SPOT_REDUCE_TSNE) return cfg->tsne.iterations;
    if (cfg->scvis.iterations) return cfg->scvis.iterations;
    batch = cfg->scvis.batch < rows ? cfg->scvis.batch : rows;
    n = 100 * (int)lround((double)rows / batch);
    return n < 3000 ? 3000 : n > 30000 ? 30000 : n;
}

/* Few iterations, and some more, which lead to all of them. */
static spot_status time_embedding(spot_ctx *c, spot_arena *a, spot_points *points, spot_spent *took, const spot_view *view,
                                  const spot_embed_config *cfg)
{
    enum { FEW = 5, MORE = 25 };
    const spot_seed seed = { 0, 0 };
    spot_embed_config some = *cfg;
    int *iterations = iterations_of(&some);
    spot_spent few = { 0, 0 }, more = few, at = spot_spent_now();
    double k;

    if (iterations && *iterations && *iterations <= MORE) iterations = NULL;
    if (iterations) *iterations = FEW;
    SPOT_TRY(spot_embed_fit(c, a, 1, points, view, &seed, &some));
    spot_spend(&few, &at);
    *took = few;
    if (!iterations) return SPOT_OK;
    *iterations = MORE;
    SPOT_TRY(spot_embed_fit(c, a, 1, points, view, &seed, &some));
    spot_spend(&more, &at);
    k = (double)(iterations_meant(cfg, view->n) - FEW) / (MORE - FEW);
    took->wall += k * fmax(0, more.wall - few.wall);
    took->cpu += k * fmax(0, more.cpu - few.cpu);
    return SPOT_OK;
}

/* A method that shares its points with an earlier one pays for finding alone. */
bool spot_has_points_before(const spot_config *cfg, int b)
{
    spot_key k = spot_key_of_reduction(&cfg->bdm[b]);

    for (int i = 0; i < b; i++) {
        spot_key other = spot_key_of_reduction(&cfg->bdm[i]);
        if (other.hi == k.hi && other.lo == k.lo) return true;
    }
    return false;
}

/* What it would take, into *full, and what this took. */
static spot_status time_method(spot_ctx *c, spot_arena *a, spot_spent *full, double *here, const spot_config *cfg, int b,
                               int rows, int features)
{
    const spot_seed seed = { 0, 0 };
    spot_spent embed = { 0, 0 }, at, begin;
    spot_points points;
    spot_hypotheses found;
    spot_truth truth;
    spot_view view;

    SPOT_TRY(make_view(c, a, &view, &truth, cfg->seed, rows, features));
    begin = at = spot_spent_now();
    points = (spot_points){ view.n, view.d, view.feature, NAN };
    if (!spot_embed_is_nothing(&cfg->bdm[b].embed))
        SPOT_TRY(time_embedding(c, a, &points, &embed, &view, &cfg->bdm[b].embed));
    at = spot_spent_now();
    *full = (spot_spent){ 0, 0 };
    SPOT_TRY(spot_bdm_find(c, a, 1, &found, &view, &points, &seed, &cfg->bdm[b]));
    spot_spend(full, &at);
    *here = at.wall - begin.wall;
    if (!spot_has_points_before(cfg, b)) add(full, embed, 1);
    return spot_check_stop(c);
}

/* On a small view, and on as large a one as is wanted or `patience` lets hope for. */
static spot_status time_growth(spot_ctx *c, spot_arena *a, spot_growth *g, const spot_config *cfg, int b, int least, int most,
                               int features, double patience)
{
    enum { SMALL = 400 };
    int rows = least < SMALL ? least : SMALL;
    size_t mark = a->used;

    *g = (spot_growth){ .rows = 0, .power = 1 };
    for (;;) {
        spot_spent now;
        double here, next;
        spot_status s = time_method(c, a, &now, &here, cfg, b, rows, features);
        a->used = mark;
        if (spot_is_verdict(s)) {                      /* it would be one in the sweep, and the next method's turn */
            spot_forget(c);
            return SPOT_OK;
        }
        SPOT_TRY(s);
        if (g->rows && g->at.cpu > 0 && now.cpu > 0)
            g->power = fmin(fmax(log(now.cpu / g->at.cpu) / log(rows / g->rows), 0), 2.5);
        g->rows = rows;
        g->at = now;
        next = fmin(most, rows * sqrt(patience / here));
        if (next < 1.25 * rows) return SPOT_OK;
        rows = (int)next;
    }
}

/* -- pictures ------------------------------------------------------------------------------------------------- */

/* One, in a folder of its own that goes away again. Where there is none to be had they cost nothing. */
static spot_status time_picture(spot_ctx *c, spot_arena *a, spot_pace *p, const spot_config *cfg, const spot_ec *ec, int rows)
{
    const char *tmp = getenv("TMPDIR");
    spot_hypotheses *found = calloc(1, sizeof *found);
    spot_score *score = calloc(1, sizeof *score);
    spot_lesson *lesson = calloc(1, sizeof *lesson);
    char dir[512], path[600];
    size_t mark = a->used;
    spot_spent at;
    spot_view v;
    spot_truth truth;
    spot_points points;
    struct stat st;
    spot_status s = make_view(c, a, &v, &truth, cfg->seed, rows, 2);

    snprintf(dir, sizeof dir, "%s/spotter-plan-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (s == SPOT_OK && found && score && lesson && mkdtemp(dir)) {
        points = (spot_points){ v.n, 2, v.feature, NAN };
        found->len = rows < 10 ? 1 : 5;
        for (int k = 0; k < found->len; k++)
            found->h[k] = (spot_hypothesis){ .len = rows / found->len, .row = v.image + k * (rows / found->len) };
        snprintf(path, sizeof path, "%s/a.png", dir);
        at = spot_spent_now();
        s = spot_report_ec(c, path, "", ec, lesson, &v, &truth, &points, found, score);
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

static spot_status take(spot_ctx *c, spot_arena *a, spot_pace *p, const spot_config *cfg, const spot_source *source,
                        const spot_ec *ec, int least, int most, double images, bool pictures, const int *features)
{
    char name[80];
    double patience;

    SPOT_TRY(time_training(c, a, p, cfg, ec, false, 2));
    if (spot_wants_robust(cfg)) SPOT_TRY(time_training(c, a, p, cfg, ec, true, 2));
    SPOT_TRY(time_looking(c, a, p, cfg, ec));
    patience = fmin(fmax(0.03 * images * p->train.wall, 3), 30) / (cfg->bdms ? cfg->bdms : 1);
    if (source->photos) SPOT_TRY(time_decoding(c, p, source->photos));
    for (int b = 0; b < cfg->bdms; b++) {
        c->who = spot_bdm_name(&cfg->bdm[b], name, sizeof name);
        SPOT_TRY(time_growth(c, a, &p->method[b], cfg, b, least, most, features[b], patience));
    }
    c->who = NULL;
    return pictures && cfg->bdms ? time_picture(c, a, p, cfg, ec, most) : SPOT_OK;
}

spot_status spot_pace_take(spot_ctx *c, spot_pace *p, const spot_config *cfg, const spot_source *source, const spot_ec *ec,
                           int least, int most, double images, bool pictures)
{
    const spot_sweep_options alone = { .wave = 1 };
    spot_layout layout;
    int beside = 0;
    spot_arena a;
    spot_status s;

    memset(p, 0, sizeof *p);
    SPOT_TRY(spot_layout_of(c, &layout, cfg, source, &alone, 1, most));
    for (int b = 0; b < cfg->bdms; b++) beside = layout.features[b] > beside ? layout.features[b] : beside;
    beside = (CENTRES * beside + most) * (int)sizeof(float) + 4096;            /* make_view's */
    SPOT_TRY(spot_arena_open(c, &a, layout.arena + (size_t)beside));
    s = take(c, &a, p, cfg, source, ec, least, most, images, pictures, layout.features);
    c->who = NULL;
    spot_arena_close(&a);
    return s;
}

/* -- what follows from it ------------------------------------------------------------------------------------- */

static void add_training(spot_spent *sum, const spot_pace *p, const spot_model_config *cfg, spot_spent image, double train,
                         double val, int epochs)
{
    add(sum, p->open, 1);
    add(sum, image, epochs * filled(train, cfg));
    add(sum, p->watch, epochs * filled(val, cfg));
}

spot_spent spot_pace_of_ec(const spot_pace *p, const spot_config *cfg, const spot_ec *ec, int rows)
{
    bool robust = spot_wants_robust(cfg);
    spot_spent sum = { 0, 0 };

    add_training(&sum, p, &cfg->model, p->train, ec->images[SPOT_TRAIN], ec->images[SPOT_VAL], cfg->model.epochs);
    if (robust) {
        add_training(&sum, p, &cfg->model, p->robust, ec->images[SPOT_TRAIN], ec->images[SPOT_VAL], cfg->model.robust.epochs);
        add(&sum, p->robust, filled(ec->images[SPOT_VAL], &cfg->model));       /* the last word is the adversary's */
    }
    add(&sum, p->look, (1 + robust) * filled(rows, &cfg->model));
    return sum;
}

spot_spent spot_pace_of_method(const spot_pace *p, int b, int rows)
{
    const spot_growth *g = &p->method[b];

    return g->rows ? times(g->at, pow(rows / g->rows, g->power)) : g->at;
}

spot_spent spot_pace_of_start(const spot_pace *p, const spot_config *cfg, const spot_source *source)
{
    spot_spent sum = p->start;

    if (cfg->model.base.images)
        add_training(&sum, p, &cfg->model, p->train, cfg->model.base.images, SPOT_BASE_VAL, cfg->model.base.epochs);
    if (source->photos) add(&sum, p->decode, spot_album_pictures(source->photos));
    return sum;
}
