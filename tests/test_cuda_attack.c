/* test_cuda_attack.c - an adversary's steps on CUDA against the CPU's, and a whole training against one, which is recorded
 * and replayed. ctest: heavy, ctest: long */
#define _POSIX_C_SOURCE 200809L
#include "check_cuda_net.h"

#include "check_scene.h"
#include "net/attack.h"
#include "image/raster.h"
#include "spotter/model.h"

enum { STEM = 8, LIVE = 3, STEPS = 2 };

static const struct { int size; double epsilon, length; bool random; } cases[] = {
    { 32, 1.5, 1.0, false }, { 32, 1.5, 4.0, true }, { 33, 0.7, 0.1, true }, { 3, 100, 30, false },
};

/* (LIVE, 3, pixels) <-> (LIVE, pixels, channels) in the precision; channels behind the third are 0. */
static void *upload(spot_ctx *c, const float *from, int pixels, spot_precision precision)
{
    size_t bytes = spot_precision_bytes(precision);
    unsigned char *to = calloc((size_t)LIVE * pixels * STEM, bytes);
    void *device;

    for (int i = 0; i < LIVE * pixels; i++)
        for (int ch = 0; ch < 3; ch++) {
            float v = from[(i / pixels * 3 + ch) * pixels + i % pixels];
            memcpy(to + ((size_t)i * STEM + ch) * bytes, (char *)&v + 4 - bytes, bytes);
        }
    device = to_device(c, to, (size_t)LIVE * pixels * STEM * bytes);
    free(to);
    return device;
}

static void fetch(spot_ctx *c, float *to, void *device, int pixels, int channels, spot_precision precision)
{
    size_t bytes = spot_precision_bytes(precision);
    unsigned char *from = malloc((size_t)LIVE * pixels * channels * bytes);

    download(c, from, device, (size_t)LIVE * pixels * channels * bytes);
    for (int i = 0; i < LIVE * pixels; i++)
        for (int ch = 0; ch < channels; ch++) {
            float v = 0;
            memcpy((char *)&v + 4 - bytes, from + ((size_t)i * channels + ch) * bytes, bytes);
            if (ch < 3) to[(i / pixels * 3 + ch) * pixels + i % pixels] = v;
            else        assert_true(v == 0);
        }
    free(from);
}

static float *make_images(int pixels, spot_precision precision)
{
    float *x = random_tensor((size_t)LIVE * 3 * pixels, 40);

    for (int i = 0; i < LIVE * 3 * pixels; i++) {
        int ch = i / pixels % 3;
        x[i] = ((x[i] < -1 ? 0 : x[i] > 1 ? 1 : (x[i] + 1) / 2) - spot_imagenet[0][ch]) / spot_imagenet[1][ch];
    }
    round_all(x, (size_t)LIVE * 3 * pixels, precision);
    return x;
}

TEST(steps_agree)
{
    spot_ctx cpu = check_ctx(2);
    int made = 5;
    for (int k = 0; k < 2 * LEN(cases); k++) {
        spot_precision precision = k % 2 ? SPOT_BF16 : SPOT_FP32;
        int size = cases[k / 2].size, pixels = size * size, n = LIVE * 3 * pixels;
        spot_attack_rule rule = { cases[k / 2].epsilon, cases[k / 2].length, cases[k / 2].random, 3, 9, &made };
        spot_plane p = { LIVE, LIVE, 3, size, SPOT_FP32 }, q = { LIVE, LIVE, STEM, size, precision };
        float *clean = make_images(pixels, precision), *grad = random_tensor(n, 41), *x = room(n * 4), *d = room(n * 4);
        float *got = room(n * 4), *moved = room(n * 4);
        void *first[2] = { 0 };
        double off = 0;
        round_all(grad, n, precision);
        CHECK_OK(&cpu, spot_attack_start(&cpu, x, d, clean, p, &rule));
        for (int i = 0; i < STEPS; i++) CHECK_OK(&cpu, spot_attack_move(&cpu, x, d, clean, grad, p, &rule));
        for (int s = 0; s < LEN(schedules); s++) {
            spot_attack_rule here = rule;
            void *dc, *dg, *dx, *dd;
            spot_ctx c;
            open_cuda(&c, s);
            dc = upload(&c, clean, pixels, precision), dg = upload(&c, grad, pixels, precision);
            dx = to_device(&c, NULL, (size_t)LIVE * pixels * STEM * spot_precision_bytes(precision));
            dd = to_device(&c, NULL, n * sizeof(float));
            here.made = to_device(&c, &made, sizeof made);
            CHECK_OK(&c, spot_attack_start(&c, dx, dd, dc, q, &here));
            for (int i = 0; i < STEPS; i++) CHECK_OK(&c, spot_attack_move(&c, dx, dd, dc, dg, q, &here));
            fetch(&c, got, dx, pixels, STEM, precision);
            fetch(&c, moved, dd, pixels, 3, SPOT_FP32);
            same_bits(&first[0], got, n * sizeof *got, s, "x");
            same_bits(&first[1], moved, n * sizeof *moved, s, "d");
            for (int i = 0; i < n; i++) {
                CHECK_NEAR(moved[i], d[i], 1e-6 * rule.epsilon);
                CHECK_NEAR(got[i], x[i], 1e-6 * (1 + rule.epsilon / 0.2) + (k % 2 ? 0x1p-8 * fabs(x[i]) : 0));
                off = fmax(off, fabs(moved[i] - d[i]));
            }
            spot_device_give(&c, dc), spot_device_give(&c, dg), spot_device_give(&c, (void *)here.made);
            spot_device_close(&c);
        }
        print_message("case %d, %s: d off by %.1e of epsilon\n", k / 2, k % 2 ? "bf16" : "fp32", off / rule.epsilon);
        free(clean), free(grad), free(x), free(d), free(got), free(moved);
    }
}

/* -- a training ---------------------------------------------------------------------------------------------------- */

typedef struct { spot_arena a; spot_model m; spot_learning lesson; } pupil;

/* 16 train images in batches of 6: whole ones, the second of which is recorded, and a last one of 4. */
static void small_ec(spot_ctx *c, spot_ec *ec, spot_model_config *cfg)
{
    spot_scene_config scene = tiny_scene(3, 2, 2, 1, spot_scene_defaults().per_bucket[SPOT_TEST]);

    CHECK_OK(c, spot_ec_draw(c, ec, &scene, 3, 0));
    *cfg = spot_model_defaults();
    cfg->width = 16;
    cfg->batch = 6;
    cfg->robust = (spot_robust_config){ .epsilon = 10, .steps = 1, .step = 0.7, .random = 1, .epochs = 2, .lr = 1e-3 };
}

static void learn(spot_ctx *c, pupil *p, const spot_ec *ec, const spot_model_config *cfg)
{
    spot_ctx cpu = check_ctx(1);
    spot_model_config plain = *cfg;
    spot_bytes needs;

    plain.precision = SPOT_FP32;
    CHECK_OK(&cpu, spot_model_needs(&cpu, &needs, &ec->scene, &plain, 1, true));
    CHECK_OK(&cpu, spot_arena_open(&cpu, &p->a, needs.host));
    CHECK_OK(c, spot_model_robust(c, &p->a, &p->m, &p->lesson, ec, cfg, NULL));
}

static void learns_what_the_cpu_learns(spot_precision precision, double lr, double tolerance, int runs)
{
    spot_ctx cpu = check_ctx(2);
    spot_model_config cfg;
    pupil want, plain, got[2];
    spot_ec ec;

    small_ec(&cpu, &ec, &cfg);
    cfg.robust.lr = lr;
    learn(&cpu, &want, &ec, &cfg);
    cfg.robust.epsilon = 0;
    learn(&cpu, &plain, &ec, &cfg);
    cfg.robust.epsilon = 10;
    cfg.precision = precision;
    for (int run = 0; run < runs; run++) {
        spot_ctx c;
        open_cuda(&c, 2 * run);
        learn(&c, &got[run], &ec, &cfg);
        print_message("losses %.5f, %.5f, val %.5f; the CPU's %.5f, %.5f, %.5f; without an adversary %.5f\n",
                      got[run].lesson.epoch[0].train_loss, got[run].lesson.epoch[1].train_loss,
                      got[run].lesson.epoch[1].val_loss, want.lesson.epoch[0].train_loss, want.lesson.epoch[1].train_loss,
                      want.lesson.epoch[1].val_loss, plain.lesson.epoch[0].train_loss);
        for (int e = 0; e < 2; e++) {
            double raised = want.lesson.epoch[e].train_loss - plain.lesson.epoch[e].train_loss;
            assert_true(raised > 0.02);
            CHECK_NEAR(got[run].lesson.epoch[e].train_loss, want.lesson.epoch[e].train_loss, tolerance * raised);
            CHECK_NEAR(got[run].lesson.epoch[e].val_loss, want.lesson.epoch[e].val_loss, tolerance * raised);
        }
        assert_true(got[run].lesson.attacked >= 0 && got[run].lesson.attacked <= 1);
        spot_device_close(&c);
    }
    if (runs > 1) assert_memory_equal(got[1].m.value, got[0].m.value, got[0].m.floats * sizeof(float));
    for (int run = 0; run < runs; run++) spot_arena_close(&got[run].a);
    spot_arena_close(&want.a);
    spot_arena_close(&plain.a);
}

/* Adam divides by gradients' sizes, and an attack by its gradient's: the rate is low, so that the last bits of one step stay
 * last bits in the next. Tolerances are shares of what the attack adds to the loss. */
TEST(fp32_learns_what_the_cpu_learns)
{
    learns_what_the_cpu_learns(SPOT_FP32, 1e-6, 0.01, 2);
}

/* At 32 pixels most of what 8 bits leave of gradients is rounding (test_cuda_resnet.c), so the attack finds less. */
TEST(bf16_sees_nearly_that)
{
    learns_what_the_cpu_learns(SPOT_BF16, 1e-7, 0.5, 1);
}

int main(void) { return run_cuda_tests(); }
