/* test_cuda_model.c - a training and a look on CUDA: what the CPU sees, the same bits every time, nothing left behind.
 * ctest: heavy, ctest: long */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>

#include "check_cuda.h"
#include "check_scene.h"
#include "spotter/model.h"

enum { EPOCHS = 2, MOST_RUNS = 2 };

typedef struct {
    spot_arena a;
    spot_model m;
    spot_learning lesson;
    spot_view view;
    spot_truth truth;
} pupil;

/* 24 train images in batches of 10: whole ones, the second of which is recorded, and a last one of 4. */
static void small_ec(spot_ctx *c, spot_ec *ec, spot_model_config *cfg)
{
    spot_scene_config scene = tiny_scene(3, 2, 3, 2, 2);

    CHECK_OK(c, spot_ec_draw(c, ec, &scene, 3, 0));
    *cfg = spot_model_defaults();
    cfg->width = 16;
    cfg->epochs = EPOCHS;
    cfg->batch = 10;
    cfg->lr = 1e-3;
    cfg->schedule = SPOT_ONE_CYCLE;
}

/* Features that are left on the device are those on the host. */
static void look_again(spot_ctx *c, pupil *p, const spot_ec *ec, const spot_model_config *cfg)
{
    size_t mark = p->a.used, bytes = (size_t)p->view.n * p->view.d * sizeof(float);
    float *features = to_device(c, NULL, bytes);
    spot_truth truth;
    spot_view view;

    CHECK_OK(c, spot_model_look_on(c, &p->a, features, &view, &truth, &p->m, ec, SPOT_TEST, cfg));
    assert_memory_equal(view.feature, p->view.feature, bytes);
    assert_ptr_equal(view.device_feature, features);
    expect_bytes(c, features, p->view.feature, bytes, "features on the device", 0, 0);
    p->a.used = mark;
}

static void learn(spot_ctx *c, pupil *p, const spot_ec *ec, const spot_model_config *cfg)
{
    spot_ctx cpu = check_ctx(1);
    spot_model_config plain = *cfg;

    plain.precision = SPOT_FP32;
    CHECK_OK(&cpu, spot_arena_open(&cpu, &p->a, spot_model_train_bytes(&ec->scene, &plain)
                                                + 2 * spot_model_look_bytes(&ec->scene, &plain, ec->images[SPOT_TEST])));
    CHECK_OK(c, spot_model_train(c, &p->a, &p->m, &p->lesson, ec, cfg, NULL));
    CHECK_OK(c, spot_model_look(c, &p->a, &p->view, &p->truth, &p->m, ec, SPOT_TEST, cfg));
    if (c->device) look_again(c, p, ec, cfg);
}

/* Adam divides by gradients' sizes, so that the last bits of a tiny gradient may move a weight by a learning rate. At 1e-3 the
 * order of a sum alone moved a loss by 1e-3, at 1e-5 by 4e-6. */
static void expect_near(const pupil *got, const pupil *want, double tolerance)
{
    assert_int_equal(got->lesson.epochs, EPOCHS);
    assert_int_equal(got->lesson.outside_count, want->lesson.outside_count);
    assert_int_equal(got->lesson.inside_count[0], want->lesson.inside_count[0]);
    for (int e = 0; e < EPOCHS; e++) {
        CHECK_NEAR(got->lesson.epoch[e].train_loss, want->lesson.epoch[e].train_loss, tolerance);
        CHECK_NEAR(got->lesson.epoch[e].val_loss, want->lesson.epoch[e].val_loss, tolerance);
    }
    assert_int_equal(got->view.n, want->view.n);
    assert_memory_equal(got->view.image, want->view.image, (size_t)want->view.n * sizeof *want->view.image);
    assert_memory_equal(got->truth.mask, want->truth.mask, (size_t)want->view.n * sizeof *want->truth.mask);
    for (int i = 0; i < want->view.n; i++) CHECK_NEAR(got->view.confidence[i], want->view.confidence[i], tolerance);
}

static void expect_equal(const pupil *got, const pupil *want)
{
    assert_memory_equal(got->m.value, want->m.value, want->m.floats * sizeof(float));
    assert_memory_equal(got->view.feature, want->view.feature, (size_t)want->view.n * want->view.d * sizeof(float));
    assert_memory_equal(got->view.confidence, want->view.confidence, (size_t)want->view.n * sizeof(float));
    for (int e = 0; e < EPOCHS; e++)
        assert_true(got->lesson.epoch[e].train_loss == want->lesson.epoch[e].train_loss
                    && got->lesson.epoch[e].val_loss == want->lesson.epoch[e].val_loss);
}

/* Under the first and the third schedule, where there are schedules. */
static void learns_what_the_cpu_learns(spot_precision precision, double lr, double tolerance, int runs, int jpeg_quality)
{
    spot_ctx cpu = check_ctx(2);
    spot_model_config cfg;
    pupil want, got[MOST_RUNS];
    spot_ec ec;

    small_ec(&cpu, &ec, &cfg);
    ec.scene.jpeg_quality = jpeg_quality;
    cfg.lr = lr;
    learn(&cpu, &want, &ec, &cfg);
    cfg.precision = precision;
    for (int run = 0; run < runs; run++) {
        size_t before, after, total;
        spot_ctx c;
        open_cuda(&c, 2 * run);
        CHECK_OK(&c, spot_device_room(&c, &before, &total));
        learn(&c, &got[run], &ec, &cfg);
        CHECK_OK(&c, spot_device_room(&c, &after, &total));
        if (getenv("SPOT_EMULATOR")) assert_int_equal(before, after);
        expect_near(&got[run], &want, tolerance);
        spot_device_close(&c);
    }
    if (runs > 1) expect_equal(&got[1], &got[0]);
    for (int run = 0; run < runs; run++) spot_arena_close(&got[run].a);
    spot_arena_close(&want.a);
}

TEST(fp32_learns_what_the_cpu_learns)
{
    learns_what_the_cpu_learns(SPOT_FP32, 1e-5, 2e-5, 2, 0);
}

/* The authors' images went through JPEG. */
TEST(fp32_learns_from_jpeg_what_the_cpu_learns)
{
    learns_what_the_cpu_learns(SPOT_FP32, 1e-5, 2e-5, 1, 75);
}

/* At 32 pixels the last batch norms see one pixel an image, and most of what 8 bits leave of their gradients is rounding
 * (test_cuda_resnet.c): the weights hardly move here, and the chain is what is seen. */
TEST(bf16_sees_nearly_that)
{
    learns_what_the_cpu_learns(SPOT_BF16, 1e-7, 1e-2, 1, 0);
}

TEST(failures_are_said)
{
    spot_ctx c, cpu = check_ctx(1);
    volatile sig_atomic_t stop = 1;
    spot_model_config cfg;
    size_t before, after;
    pupil p;
    spot_ec ec;
    open_cuda(&c, 0);
    small_ec(&c, &ec, &cfg);
    CHECK_OK(&cpu, spot_arena_open(&cpu, &p.a, spot_model_train_bytes(&ec.scene, &cfg)));
    CHECK_OK(&c, spot_device_room(&c, &before, &after));
    cfg.optimizer = SPOT_SGD;
    cfg.schedule = SPOT_CONSTANT;
    cfg.lr = 100;
    cfg.weight_decay = 1;              /* weights grow a hundredfold a step, and an epoch has six */
    cfg.batch = 4;
    CHECK_FAILS(&c, spot_model_train(&c, &p.a, &p.m, &p.lesson, &ec, &cfg, NULL), SPOT_NUMERIC, "epoch 1, step");
    c.stop = &stop;
    p.a.used = 0;
    CHECK_FAILS(&c, spot_model_train(&c, &p.a, &p.m, &p.lesson, &ec, &cfg, NULL), SPOT_STOPPED, "stopped");
    c.stop = NULL;
    CHECK_OK(&c, spot_device_room(&c, &after, &(size_t){ 0 }));
    if (getenv("SPOT_EMULATOR")) assert_int_equal(before, after);
    spot_device_close(&c);
    spot_arena_close(&p.a);
}

int main(void) { return run_cuda_tests(); }
