/* test_cuda_attack.c - a whole training against an adversary on CUDA, recorded and replayed, against the CPU's. Single steps
 * are in test_cuda_net.c. ctest: heavy, ctest: long */
#define _POSIX_C_SOURCE 200809L
#include "check_cuda_net.h"

#include "check_scene.h"
#include "net/attack.h"
#include "image/raster.h"
#include "spotter/model.h"

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
