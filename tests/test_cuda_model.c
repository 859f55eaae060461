/* test_cuda_model.c - a training and a look on CUDA: what the CPU sees, the same bits every time, nothing left behind.
 * ctest: heavy, ctest: long */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>

#include "check_cuda.h"
#include "check_scene.h"
#include "models/trainer.h"
#include "worlds/source_draw.h"

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

/* -- the next batch is drawn beside a step ------------------------------------------------------------------------ */

/* The epoch as it is to be seen: each batch is drawn, then learned. */
static void learn_in_order(spot_ctx *c, spot_trainer *t, int epoch)
{
    spot_shuffle order = { t->ec->seed, t->ec->index, (uint32_t)epoch, (uint32_t)t->images, t->order };
    const spot_batch_drawn *b = &t->batch[0];
    spot_optim_rule rule = { .kind = SPOT_OPTIM_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .course = &t->course };

    CHECK_OK(c, spot_sample_shuffle(c, 1, &order));
    CHECK_OK(c, spot_device_clear(c, t->course.seen, sizeof *t->course.seen));
    for (int k = 0; k < t->steps; k++) {
        int left = t->images - k * t->cfg->batch, n = left < t->cfg->batch ? left : t->cfg->batch;
        spot_sample s = { .ec = t->ec, .split = SPOT_TRAIN, .n = n, .first = (uint32_t)(k * t->cfg->batch), .index = t->order,
                          .image = b->image, .target = b->target };
        CHECK_OK(c, spot_ec_images(c, &s));
        CHECK_OK(c, spot_net_draw(c, NULL, t->net.planes, SPOT_FP32, b->image, n, t->ec, t->spare));
        CHECK_OK(c, spot_net_forward(c, &t->net, NULL, n, true));
        CHECK_OK(c, spot_net_backward(c, &t->net, b->target, n, t->loss));
        CHECK_OK(c, spot_optim_step(c, t->net.param, t->net.grad, t->net.moment, t->net.square, t->net.params, &rule));
    }
}

/* The weights and statistics after EPOCHS epochs of `images` images; the caller frees them. */
static float *schooled(const char *how, int images, int batch, const spot_robust_config *foe, bool in_order, size_t *count)
{
    spot_scene_config scene = tiny_scene(3, 2, 1, 1, 1);
    spot_model_config cfg = spot_model_defaults();
    spot_arena on, host;
    spot_trainer t;
    float *state;
    double mean;
    spot_model m;
    spot_ctx c;
    spot_ec ec;

    if (getenv("SPOT_EMULATOR")) setenv("SPOT_EMULATOR", how, 1);
    c = (spot_ctx){ .threads = 1 };
    CHECK_OK(&c, spot_device_open(&c, "cuda"));
    CHECK_OK(&c, spot_ec_draw(&c, &ec, &scene, 3, 0));
    ec.images[SPOT_TRAIN] = images;
    cfg.width = 16, cfg.epochs = EPOCHS, cfg.batch = batch, cfg.lr = 1e-3;
    CHECK_OK(&c, spot_arena_open(&c, &host, (size_t)64 << 20));
    CHECK_OK(&c, spot_arena_open_device(&c, &on, (size_t)24 << 20));
    CHECK_OK(&c, spot_model_init(&c, &host, &m, cfg.arch, cfg.width, ec.targets, ec.seed, ec.index));
    CHECK_OK(&c, spot_trainer_open(&c, &on, &host, &t, &ec, &cfg, foe));
    CHECK_OK(&c, spot_trainer_start(&c, &t, &m));
    for (int e = 0; e < EPOCHS; e++) {
        if (in_order) learn_in_order(&c, &t, e);
        else CHECK_OK(&c, spot_trainer_learn(&c, &t, e, &mean));
    }
    *count = t.net.state;
    state = malloc(*count * sizeof *state);
    CHECK_OK(&c, spot_device_copy(&c, state, t.net.param, *count * sizeof *state));
    spot_trainer_close(&c, &t);
    spot_arena_close(&on);
    spot_arena_close(&host);
    spot_device_close(&c);
    return state;
}

static void expect_alike(float *got, float *want, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++) assert_true(isfinite(want[i]));
    if (memcmp(got, want, count * sizeof *got)) fail_msg("%s: other bits than batches in order", what);
    free(got);
}

/* Whole batches, an even count; a last one of fewer, an odd count; a single one that is not whole. */
TEST(batches_that_are_drawn_ahead_give_the_same_bits)
{
    static const int images_and_batch[][2] = { { 4, 2 }, { 8, 3 }, { 2, 3 } };
    size_t n;
    for (int k = 0; k < LEN(images_and_batch); k++) {
        int images = images_and_batch[k][0], batch = images_and_batch[k][1];
        float *want = schooled("identity", images, batch, NULL, true, &n);
        if (k == 1) expect_alike(schooled("identity", images, batch, NULL, false, &n), want, n, "drawn before");
        expect_alike(schooled("reversed", images, batch, NULL, false, &n), want, n, "drawn behind");
        free(want);
    }
}

/* An adversary reads the drawn batch in every attack step. */
TEST(an_adversary_attacks_the_batch_that_was_drawn)
{
    const spot_robust_config foe = { .epsilon = 3, .steps = 1, .step = 1 };
    size_t n;
    float *want = schooled("identity", 4, 2, &foe, false, &n);
    expect_alike(schooled("reversed", 4, 2, &foe, false, &n), want, n, "against an adversary");
    free(want);
}

/* -- weights that are on the device ------------------------------------------------------------------------------- */

/* Trains from `start`, whose numbers lie on the device at `from`; NULL: they come from the host. */
static void train_from(spot_ctx *c, pupil *p, const spot_model *start, const float *from)
{
    spot_model_config cfg;
    spot_ec ec;

    small_ec(c, &ec, &cfg);
    cfg.epochs = 1;
    CHECK_OK(c, spot_arena_open(c, &p->a, (size_t)32 << 20));
    CHECK_OK(c, spot_model_train_resident(c, &p->a, &p->m, &p->lesson, &ec, &cfg,
                                          &(spot_resident_training){ .model = start, .from = from }));
}

/* From the same model with the same head, or with another, as a base model has: an EC then begins with a new one. */
TEST(weights_on_the_device_are_those_of_the_host)
{
    spot_ctx c;
    spot_arena a;

    open_cuda(&c, 0);
    CHECK_OK(&c, spot_arena_open(&c, &a, (size_t)16 << 20));
    for (int outputs = 1; outputs <= 3; outputs += 2) {
        pupil host, device;
        spot_model start;
        float *there;
        CHECK_OK(&c, spot_model_init(&c, &a, &start, SPOT_ARCH_RESNET18, 16, outputs, 8, 0));
        there = to_device(&c, start.value, start.floats * sizeof *start.value);
        train_from(&c, &host, &start, NULL);
        train_from(&c, &device, &start, there);
        assert_int_equal(device.m.outputs, 1);
        assert_memory_equal(device.m.value, host.m.value, host.m.floats * sizeof *host.m.value);
        spot_device_give(&c, there);
        spot_arena_close(&host.a);
        spot_arena_close(&device.a);
        a.used = 0;
    }
    spot_arena_close(&a);
    spot_device_close(&c);
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
    CHECK_FAILS(&c, spot_model_train(&c, &p.a, &p.m, &p.lesson, &ec, &cfg, NULL), SPOT_NUMERIC, "training.diverged: epoch 1");
    c.stop = &stop;
    p.a.used = 0;
    CHECK_FAILS(&c, spot_model_train(&c, &p.a, &p.m, &p.lesson, &ec, &cfg, NULL), SPOT_STOPPED, "run.stopped");
    c.stop = NULL;
    CHECK_OK(&c, spot_device_room(&c, &after, &(size_t){ 0 }));
    if (getenv("SPOT_EMULATOR")) assert_int_equal(before, after);
    spot_device_close(&c);
    spot_arena_close(&p.a);
}

int main(void) { return run_cuda_tests(); }
