/* test_train_pixels.c - training on pixels of the caller: PyTorch's losses, batches that are drawn, threads.
 * ctest: threads, both */
#define _GNU_SOURCE
#include "check_resnet.h"

#include <stdlib.h>

enum { SIDE = 64, EACH = 3 * SIDE * SIDE, IMAGES = 40, CLASSES = 4 };

static spot_model_config settings(int epochs, int batch)
{
    spot_model_config cfg = spot_model_defaults();

    cfg.width = 16, cfg.epochs = epochs, cfg.batch = batch, cfg.lr = 2e-3;
    return cfg;
}

/* Trains in an arena of just the size that counting gives; close a. */
static spot_status train(spot_ctx *c, spot_arena *a, spot_model *m, double *losses, const spot_pixel_training *how,
                         const spot_model_config *cfg, const spot_model *start)
{
    *a = spot_arena_counting();
    SPOT_TRY(spot_model_train_pixels(c, a, m, losses, how, cfg, start));
    CHECK_OK(c, spot_arena_open(c, a, a->peak));
    return spot_model_train_pixels(c, a, m, losses, how, cfg, start);
}

/* A noisy picture with a bright quarter, which is its class. */
static void draw_quarter(uint8_t *rgb, int number)
{
    for (int i = 0; i < EACH; i++) {
        int x = i / 3 % SIDE, y = i / 3 / SIDE, quarter = (x >= SIDE / 2) + 2 * (y >= SIDE / 2);
        rgb[i] = (uint8_t)(160 * unit(100 + number, (size_t)i) + 90 * (quarter == number % CLASSES));
    }
}

typedef struct { uint8_t *rgb; int cls[IMAGES]; int calls, seen[IMAGES], fails_at; } world;

static world make_world(void)
{
    world w = { .rgb = malloc(IMAGES * EACH), .fails_at = -1 };

    for (int i = 0; i < IMAGES; i++) {
        draw_quarter(w.rgb + (size_t)i * EACH, i);
        w.cls[i] = i % CLASSES;
    }
    return w;
}

static spot_pixel_training training_on(const world *w, int loss)
{
    return (spot_pixel_training){ .size = SIDE, .classes = CLASSES, .images = IMAGES, .loss = loss, .rgb = w->rgb,
                                  .cls = w->cls, .seed = 5, .number = 3 };
}

/* The same pictures, drawn. */
static spot_status draw(spot_ctx *c, void *user, const spot_lesson *l)
{
    world *w = user;

    w->calls++;
    if (l->step == w->fails_at) return spot_fail(c, SPOT_INPUT, "{test.no_background} no background for step %d", l->step);
    for (int i = 0; i < l->n; i++) {
        draw_quarter(l->rgb + (size_t)i * EACH, (int)l->index[i]);
        for (int k = 0; k < CLASSES; k++)
            if (l->target[i * CLASSES + k] != 0) return spot_fail(c, SPOT_CHECK, "targets are not given as zeros");
        l->target[i * CLASSES + l->index[i] % CLASSES] = 1;
        w->seen[l->index[i]] += l->epoch + 1;
    }
    return SPOT_OK;
}

/* -- against PyTorch ----------------------------------------------------------------------------------------------- */

static void check_losses(FILE *f, const char *kind, const world *w)
{
    spot_model_config cfg = settings(6, 8);
    const spot_pixel_training how = { .size = 64, .classes = CLASSES, .images = 8, .loss = SPOT_SOFTMAX, .rgb = w->rgb,
                                      .cls = w->cls, .triplet = strcmp(kind, "triplet") ? 0 : 0.5, .margin = 0.2,
                                      .fgsm = strcmp(kind, "fgsm") ? 0 : 4 / 256.0 };
    bool by_sgd = !strcmp(kind, "sgd"), by_rmsprop = !strcmp(kind, "rmsprop");
    double losses[6], want, own;
    spot_ctx c = check_ctx(2);
    spot_arena a, from;
    spot_model m, start;
    char name[16];

    cfg.optimizer = by_sgd ? SPOT_SGD : by_rmsprop ? SPOT_RMSPROP : SPOT_ADAM;
    cfg.lr = by_sgd ? 2e-3 : by_rmsprop ? 1e-4 : 3e-4;
    cfg.weight_decay = by_sgd ? 1e-4 : 0;
    CHECK_OK(&c, spot_arena_open(&c, &from, 16 << 20));
    CHECK_OK(&c, spot_model_take(&c, &from, &start, SPOT_ARCH_RESNET18, 16, CLASSES));
    fill_model(&start);
    start.batches_tracked = 0;
    CHECK_OK(&c, train(&c, &a, &m, losses, &how, &cfg, &start));
    assert_int_equal(m.batches_tracked, 6);
    assert_int_equal(fscanf(f, "%15s", name), 1);
    assert_string_equal(name, kind);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(fscanf(f, "%lf", &want), 1);
        losses[i] = losses[i] / want - 1;
    }
    assert_int_equal(fscanf(f, "%lf", &own), 1);
    for (int i = 0; i < 6; i++) CHECK_NEAR(losses[i], 0, 4 * own);
    spot_arena_close(&a), spot_arena_close(&from);
}

/* 4 times the error of PyTorch's fp32, as in test_resnet.c. */
TEST(losses_by_softmax_are_pytorchs)
{
    FILE *f = fopen("golden/softmax.txt", "r");
    world w = { .rgb = malloc(8 * 3 * 64 * 64), .cls = { 0, 1, 2, 3, 0, 1, 2, 3 } };

    assert_non_null(f);
    for (size_t i = 0; i < 8 * 3 * 64 * 64; i++) w.rgb[i] = (uint8_t)floor(256 * unit(3000, i));
    assert_int_equal(fscanf(f, "#%*[^\n]"), 0);
    check_losses(f, "adam", &w);
    check_losses(f, "sgd", &w);
    check_losses(f, "rmsprop", &w);
    check_losses(f, "triplet", &w);
    check_losses(f, "fgsm", &w);
    fclose(f);
    free(w.rgb);
}

/* -- learning ------------------------------------------------------------------------------------------------------ */

static int right_answers(const spot_model *m)
{
    enum { NEW = 64 };
    uint8_t *rgb = malloc(NEW * EACH);
    float logit[NEW * CLASSES];
    spot_ctx c = check_ctx(2);
    spot_arena a;
    int right = 0;

    for (int i = 0; i < NEW; i++) draw_quarter(rgb + (size_t)i * EACH, 1000 + i);
    CHECK_OK(&c, spot_arena_open(&c, &a, 256 << 20));
    CHECK_OK(&c, spot_model_infer(&c, &a, logit, NULL, m, rgb, NEW, SIDE));
    for (int i = 0; i < NEW; i++) {
        int best = 0;
        for (int k = 1; k < CLASSES; k++)
            if (logit[i * CLASSES + k] > logit[i * CLASSES + best]) best = k;
        right += best == (1000 + i) % CLASSES;
    }
    spot_arena_close(&a);
    free(rgb);
    return right;
}

TEST(either_loss_learns)
{
    world w = make_world();

    for (int loss = SPOT_SIGMOID; loss <= SPOT_SOFTMAX; loss++) {
        const spot_pixel_training how = training_on(&w, loss);
        const spot_model_config cfg = settings(SANITIZED ? 1 : 12, 8);     /* sanitizers watch the steps, which are all alike */
        spot_ctx c = check_ctx(2);
        double losses[12];
        spot_arena a;
        spot_model m;
        CHECK_OK(&c, train(&c, &a, &m, losses, &how, &cfg, NULL));
        assert_true(SANITIZED || losses[11] < losses[0] / 4);
        if (!SANITIZED) assert_in_range(right_answers(&m), 58, 64);
        spot_arena_close(&a);
    }
    free(w.rgb);
}

/* Pictures in memory and drawn ones, drawn before a step and during it, by any number of threads: the same bits. */
static void draws_without_trace(int arch)
{
    static const struct { bool draws, ahead; int threads; } cases[] = {
        { false, false, 1 }, { false, false, 2 }, { false, true, 2 }, { true, false, 2 }, { true, true, 1 }, { true, true, 2 },
    };
    spot_arena a[LEN(cases)];
    spot_model m[LEN(cases)];

    for (int i = 0; i < LEN(cases); i++) {
        world w = make_world();
        spot_pixel_training how = training_on(&w, SPOT_SOFTMAX);
        spot_model_config cfg = settings(3, 12);           /* 40 pictures: a last batch of four */
        spot_ctx c = check_ctx(cases[i].threads);
        cfg.arch = arch;
        cfg.schedule = SPOT_ONE_CYCLE;
        how.ahead = cases[i].ahead;
        if (cases[i].draws) how.draw = draw, how.user = &w, how.rgb = NULL, how.cls = NULL;
        CHECK_OK(&c, train(&c, &a[i], &m[i], NULL, &how, &cfg, NULL));
        assert_int_equal(m[i].batches_tracked, 12);
        assert_int_equal(w.calls, cases[i].draws ? 12 : 0);
        for (int k = 0; k < IMAGES; k++) assert_int_equal(w.seen[k], cases[i].draws ? 1 + 2 + 3 : 0);
        assert_memory_equal(m[i].value, m[0].value, m[0].floats * sizeof(float));
        free(w.rgb);
    }
    for (int i = 0; i < LEN(cases); i++) spot_arena_close(&a[i]);
}

TEST(drawing_leaves_no_trace)
{
    for (int arch = 0; spot_arch_is(arch); arch++) draws_without_trace(arch);
}

/* AlexNet has no batch norm: it takes more steps. */
TEST(other_networks_learn)
{
    world w = make_world();

    for (int arch = SPOT_ARCH_RESNET34; spot_arch_is(arch); arch++) {
        const spot_pixel_training how = training_on(&w, SPOT_SOFTMAX);
        spot_model_config cfg = settings(SANITIZED ? 1 : arch == SPOT_ARCH_ALEXNET ? 40 : 12, 8);
        spot_ctx c = check_ctx(2);
        double losses[40];
        spot_arena a;
        spot_model m;
        cfg.arch = arch;
        CHECK_OK(&c, train(&c, &a, &m, losses, &how, &cfg, NULL));
        if (!SANITIZED) {
            print_message("%s: loss %.3f, then %.3f; %d of 64 right\n", spot_arch_name(arch), losses[0],
                          losses[cfg.epochs - 1], right_answers(&m));
            assert_true(losses[cfg.epochs - 1] < losses[0] / 4);
            assert_in_range(right_answers(&m), 56, 64);
        }
        spot_arena_close(&a);
    }
    free(w.rgb);
}

/* -- failures ------------------------------------------------------------------------------------------------------ */

TEST(failures)
{
    static volatile sig_atomic_t stop = 1;
    world w = make_world();
    spot_model_config cfg = settings(2, 8);
    spot_pixel_training how = training_on(&w, SPOT_SOFTMAX);
    spot_ctx c = check_ctx(2);
    spot_arena a;
    spot_model m;

    for (int ahead = 0; ahead < 2; ahead++) {
        how.draw = draw, how.user = &w, how.ahead = ahead;
        for (w.fails_at = 0; w.fails_at < 10; w.fails_at += 3) {
            CHECK_FAILS(&c, train(&c, &a, &m, NULL, &how, &cfg, NULL), SPOT_INPUT, "test.no_background");
            spot_arena_close(&a);
        }
    }
    how.draw = NULL;
    w.cls[7] = CLASSES;
    CHECK_FAILS(&c, train(&c, &a, &m, NULL, &how, &cfg, NULL), SPOT_INVALID, "training.class: picture 7 | class 4 | 4");
    spot_arena_close(&a);
    w.cls[7] = 3;
    cfg.lr = 100;
    cfg.optimizer = SPOT_SGD;
    cfg.epochs = 8;
    CHECK_FAILS(&c, train(&c, &a, &m, NULL, &how, &cfg, NULL), SPOT_NUMERIC, "training.diverged: rate 100");
    spot_arena_close(&a);
    c.stop = &stop;
    assert_int_equal(train(&c, &a, &m, NULL, &how, &cfg, NULL), SPOT_STOPPED);
    spot_forget(&c);
    spot_arena_close(&a);
    how.loss = 2;
    CHECK_FAILS(&c, train(&c, &a, &m, NULL, &how, &cfg, NULL), SPOT_INVALID, "training.loss: 2");
    how.loss = 0, how.images = 0;
    CHECK_FAILS(&c, train(&c, &a, &m, NULL, &how, &cfg, NULL), SPOT_INVALID, "training.sizes: 0");
    how.images = IMAGES, how.size = 40;
    CHECK_FAILS(&c, train(&c, &a, &m, NULL, &how, &cfg, NULL), SPOT_INVALID, "network.size: 40");
    free(w.rgb);
}
