/* bench_background.c - a model examined on backgrounds: its answers to targets on N backgrounds each, from squares that are
 * decoded, to variance matrices. `spotter background` does so for each model; the suite is made once for all of them. */
#define _XOPEN_SOURCE 700
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "background/background_result.h"
#include "background/background_config.h"
#include "background/look/look_batch.h"
#include "background/look/matrices.h"
#include "formats/png.h"
#include "spotter/rng.h"

enum { CLASSES = 2 };

typedef struct {
    char own[64], net[80];                 /* temporary folder, and the network's file in it */
    int  made[3];                          /* targets, masks, backgrounds */
    spot_background_config cfg;
    spot_background_inputs in;
    spot_background_suite suite;
    spot_look_model model;
    spot_background_responses r;
    spot_background_result u;
} background_state;

static const char *const folder[] = { "images", "images/a", "images/b", "masks", "masks/a", "masks/b", "backgrounds" };

static void name_file(char *path, size_t size, const background_state *s, int kind, int i)
{
    static const char *const where[] = { "images", "masks", "backgrounds" };

    snprintf(path, size, "%s/%s/%s%05d.png", s->own, where[kind], kind == 2 ? "" : i < s->made[0] / 2 ? "a/" : "b/", i);
}

/* Waves; of a mask, a disc in the middle. */
static void paint(uint8_t *rgb, int side, int kind, int i)
{
    for (int k = 0; k < 3 * side * side; k++) {
        const int x = k / 3 % side - side / 2, y = k / 3 / side - side / 2;
        rgb[k] = kind == 1 ? 9 * (x * x + y * y) < side * side ? 255 : 0
                           : (uint8_t)(128 + 100 * sin((double)x / (7 + i % 23) + (double)y / (5 + i % 17) + k % 3));
    }
}

static spot_status make_file(spot_ctx *c, const background_state *s, int kind, int i)
{
    const int side = s->cfg.data.size;
    uint8_t *rgb = malloc(3 * (size_t)side * (size_t)side);
    unsigned char *png = NULL;
    char path[160];
    size_t size = 0;
    spot_status e = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a bench");

    name_file(path, sizeof path, s, kind, i);
    if (!e) paint(rgb, side, kind, i);
    if (!e) e = spot_png_encode(c, &png, &size, rgb, side, side);
    FILE *f = e ? NULL : fopen(path, "wb");
    if (!e && (!f || fwrite(png, 1, size, f) != size)) e = spot_fail(c, SPOT_IO, "cannot write %s", path);
    if (f && fclose(f) && !e) e = spot_fail(c, SPOT_IO, "cannot write %s", path);
    free(rgb), free(png);
    return e;
}

static spot_status make_files(spot_ctx *c, background_state *s)
{
    spot_status failed = SPOT_OK;
    char path[160];

    for (size_t k = 0; k < sizeof folder / sizeof *folder; k++) {
        snprintf(path, sizeof path, "%s/%s", s->own, folder[k]);
        if (mkdir(path, 0777)) return spot_fail(c, SPOT_IO, "no folder %s can be made", path);
    }
    for (int kind = 0; kind < 3; kind++)
#pragma omp parallel for num_threads(c->threads)
        for (int i = 0; i < s->made[kind]; i++) {
            spot_ctx own = { .ops = c->ops };
            const spot_status e = make_file(&own, s, kind, i);
            if (e) {
#pragma omp atomic write
                failed = e;
            }
        }
    return failed ? spot_fail(c, failed, "cannot write the pictures of a bench to %s", s->own) : SPOT_OK;
}

static spot_status save_net(spot_ctx *c, const char *path, int width)
{
    spot_arena count = spot_arena_counting(), a;
    spot_model m;
    spot_status e;

    SPOT_TRY(spot_model_init(c, &count, &m, SPOT_ARCH_RESNET18, width, CLASSES, 1, 0));
    SPOT_TRY(spot_arena_open(c, &a, count.peak));
    e = spot_model_init(c, &a, &m, SPOT_ARCH_RESNET18, width, CLASSES, 1, 0);
    if (!e) e = spot_model_save(c, path, &m);
    spot_arena_close(&a);
    return e;
}

/* Backgrounds by chance. */
static spot_status draw_suite(spot_ctx *c, background_state *s)
{
    spot_background_suite *u = &s->suite;
    const size_t pairs = (size_t)s->in.pictures * (size_t)s->cfg.suite.n;
    spot_rng r = spot_rng_at(1, SPOT_RNG_BACKGROUND, 0, 0);

    *u = (spot_background_suite){ .targets = s->in.pictures, .n = s->cfg.suite.n, .classes = CLASSES, .range = 1,
                                  .backgrounds = s->in.backgrounds, .cls = s->in.cls, .target = s->in.name };
    u->target_number = malloc((size_t)u->targets * sizeof *u->target_number);
    u->background_number = malloc((size_t)u->backgrounds * sizeof *u->background_number);
    u->chosen = malloc(pairs * sizeof *u->chosen);
    u->distance = malloc(pairs * sizeof *u->distance);
    if (!u->target_number || !u->background_number || !u->chosen || !u->distance)
        return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    for (int t = 0; t < u->targets; t++) u->target_number[t] = t;
    for (int b = 0; b < u->backgrounds; b++) u->background_number[b] = b;
    for (size_t i = 0; i < pairs; i++) {
        u->chosen[i] = (int)spot_rng_below(&r, (uint32_t)u->backgrounds);
        u->distance[i] = (float)spot_rng_uniform(&r);
    }
    return SPOT_OK;
}

static spot_status open_model(spot_ctx *c, background_state *s)
{
    const spot_predictor_options o = { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = s->net, .side = s->cfg.data.size,
                                       .precision = s->cfg.measure.precision };
    spot_look_model *m = &s->model;

    SPOT_TRY(spot_predictor_open(c, &m->predictor, &o));
    SPOT_TRY(spot_background_responses_take(c, &s->r, s->suite.targets, s->suite.n, spot_background_own(&s->cfg),
                                            s->cfg.measure.grid));
    m->name = "bench", m->signal = s->r.signal, m->answer = s->r.answer, m->derived = s->r.derived;
    m->of_own = s->r.of_own;
    m->most = calloc((size_t)spot_predictor_about(m->predictor)->channels, sizeof *m->most);
    s->u = (spot_background_result){ .has = { true, true, true, true } };
    return m->most ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a bench");
}

static const char *keep_path(background_state *s, const char *name)
{
    char path[160];

    snprintf(path, sizeof path, "%.100s/%s", s->own, name);
    return spot_memory_text(&s->cfg.memory, path);
}

/* size: targets, backgrounds, N, pixels a side, width, precision, whether derived sets are looked at, cells a side of
 * a matrix. */
static spot_status open_state(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    const char *tmp = getenv("TMPDIR");
    background_state *s = *out = calloc(1, sizeof *s);

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    snprintf(s->own, sizeof s->own, "%.40s/spot_bench_XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(s->own)) return spot_fail(c, SPOT_IO, "no folder %s can be made", s->own);
    snprintf(s->net, sizeof s->net, "%s/net", s->own);
    spot_background_defaults(&s->cfg);
    s->cfg.suite.n = size[2], s->cfg.data.size = size[3], s->cfg.measure.precision = size[5], s->cfg.measure.sets = size[6];
    s->cfg.measure.grid = size[7];
    s->cfg.data.images = keep_path(s, "images");
    s->cfg.data.masks = keep_path(s, "masks");
    s->cfg.data.backgrounds = keep_path(s, "backgrounds");
    if (!s->cfg.data.images || !s->cfg.data.masks || !s->cfg.data.backgrounds)
        return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->made[0] = s->made[1] = size[0], s->made[2] = size[1];
    SPOT_TRY(make_files(c, s));
    SPOT_TRY(save_net(c, s->net, size[4]));
    SPOT_TRY(spot_background_inputs_open(c, &s->in, &s->cfg));
    const int together = spot_look_together(c, &s->cfg);
    SPOT_TRY(spot_background_squares(c, &s->in, (size_t)8 << 30, 4 * together, together * s->cfg.suite.n));
    SPOT_TRY(draw_suite(c, s));
    work->items = (double)size[0] * spot_look_images(&s->cfg);
    return open_model(c, s);
}

static void close_state(spot_ctx *c, void *p)
{
    background_state *s = p;
    char path[160];

    spot_predictor_close(c, s->model.predictor);
    free(s->model.most), free(s->suite.target_number), free(s->suite.background_number);
    free(s->suite.chosen), free(s->suite.distance);
    spot_background_responses_free(&s->r);
    spot_background_inputs_close(&s->in);
    for (int kind = 0; kind < 3; kind++)
        for (int i = 0; i < s->made[kind]; i++) {
            name_file(path, sizeof path, s, kind, i);
            remove(path);
        }
    for (size_t k = sizeof folder / sizeof *folder; k-- > 0;) {
        snprintf(path, sizeof path, "%s/%s", s->own, folder[k]);
        rmdir(path);
    }
    remove(s->net);
    rmdir(s->own);
    spot_memory_close(&s->cfg.memory);
    free(s);
}

static spot_status run(spot_ctx *c, void *p)
{
    background_state *s = p;
    const spot_background_look l = { &s->in, &s->suite, &s->cfg, &s->model, 1, NULL };

    SPOT_TRY(spot_look_all(c, &l));
    return spot_background_matrices(c, &s->r, &s->u, &s->suite, &s->cfg);
}

/* The last blend of the last target, looked at alone, and a cell of the first matrix. */
static spot_status check(spot_ctx *c, void *p)
{
    background_state *s = p;
    const spot_background_look l = { &s->in, &s->suite, &s->cfg, &s->model, 1, NULL };
    const int side = s->cfg.data.size, t = s->suite.targets - 1;
    uint8_t *rgb = malloc(3 * (size_t)side * (size_t)side);
    float logit[CLASSES];
    spot_status e = rgb ? run(c, p) : spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    const double off = s->cfg.measure.precision == SPOT_FP32 ? 1e-4 : 1e-2;

    if (!e) e = spot_look_picture(c, &l, rgb, t, s->suite.n);
    if (!e) e = spot_predict(c, s->model.predictor, &(spot_prediction){ rgb, 1, side, logit, NULL, NULL });
    free(rgb);
    if (e) return e;
    const double most = 1 / (1 + exp(-fabs((double)logit[0] - logit[1])));
    SPOT_TRY(spot_bench_near(c, "confidence", 0, s->r.signal[(size_t)(t + 1) * (size_t)(s->suite.n + 1) - 1], most, off));
    return spot_bench_near(c, "cell of a matrix", 0, s->r.matrix[0], 0.5, 0.5);
}

static const spot_bench_kind kind = { open_state, check, run, close_state };

const spot_bench_row spot_bench_background[] = {
    { "background", "ResNet-18 examined, 1,712 x 33, tf32", "images", SPOT_ON_CUDA, &kind,
      { 1712, 2000, 32, 224, 64, SPOT_TF32, 0, 128 }, { 4, 6, 2, 32, 16, SPOT_TF32, 0, 8 } },
    { "background", "the same with derived sets", "images", SPOT_ON_CUDA, &kind,
      { 1712, 2000, 32, 224, 64, SPOT_TF32, 1, 128 }, { 4, 6, 2, 32, 16, SPOT_TF32, 1, 8 } },
    { "background", "the same, fp32", "images", SPOT_ON_CUDA, &kind,
      { 1712, 2000, 32, 224, 64, SPOT_FP32, 1, 128 }, { 4, 6, 2, 32, 16, SPOT_FP32, 1, 8 } },
    { "background", "ResNet-18 examined, 8 x 33", "images", SPOT_ON_CPU, &kind,
      { 8, 64, 32, 224, 64, SPOT_FP32, 0, 128 }, { 4, 6, 2, 32, 16, SPOT_FP32, 1, 8 } },
    { 0 },
};
