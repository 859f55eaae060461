/* test_bf16.c - the network on the CPU in bf16 beside fp32: gradients, a training, the view, an attack; and a CPU without it.
 * ctest: threads, long, heavy */
#include "check_resnet.h"
#include "check_scene.h"

#include <sys/wait.h>
#include <unistd.h>

#include <oneapi/dnnl/dnnl.h>

#include "spotter/scene.h"

#define NEEDS_BF16()                                              \
    do {                                                          \
        spot_ctx needs_ = check_ctx(1);                           \
        if (!spot_conv_has(&needs_, SPOT_BF16)) skip();           \
    } while (0)

/* First: oneDNN asks for its limit once in a process. The child sees a CPU without the instructions. */
TEST(a_cpu_without_it_is_told)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (!child) {
        spot_conv_shape s = { 4, 2, 16, 32, 3, 1, 8, true, false, false, false, SPOT_BF16 };
        spot_ctx c = check_ctx(1);
        spot_conv *plan;
        bool told;
        if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core)) _exit(2);
        told = spot_conv_open(&c, &plan, &s) == SPOT_UNSUPPORTED && !plan
            && !strcmp(spot_failure_id(&c), "conv.precision") && !spot_conv_has(&c, SPOT_BF16);
        s.precision = SPOT_FP32;
        _exit(told && spot_conv_has(&c, SPOT_FP32) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* 24 images of 64 pixels, the last piece with a row of padding: the last batch norms see 92 numbers a channel. Twenty layers
 * round, and each rounding that moves a number over a ReLU's 0 shows in all tensors before it: the gradient must go the same
 * way, no more (test_cuda_resnet.c allows as much). */
TEST(gradients_are_those_of_fp32)
{
    spot_net_shape s = { .width = 32, .outputs = 1, .size = 64, .rows = 24, .lanes = 3 };
    double loss[2], logits = 0, all = 0;
    gradient_gap g;
    bed b[2];

    NEEDS_BF16();
    for (int k = 0; k < 2; k++) {
        spot_optim_rule stay = { .t = 1 };
        s.precision = k ? SPOT_BF16 : SPOT_FP32;
        make_bed(&b[k], s, 2);
        stay.rounded = b[k].net.rounded;
        loss[k] = train_step(&b[k], 0, 23, &stay);
        get_gradient(&b[k].c, &b[k].m, &b[k].net);
    }
    g = compare_gradients(&b[0].m, b[1].m.value, b[0].m.value);
    print_message("loss %.5f and %.5f, the worst gradient off by %.3f, %.3f times as long, small tensors %.3f\n", loss[0],
                  loss[1], g.worst, g.length, g.small);
    CHECK_NEAR(loss[1], loss[0], 0.02);
    CHECK_NEAR(g.worst, 0, 0.6);
    CHECK_NEAR(g.length, 1, 0.03);
    CHECK_NEAR(g.small, 1, 0.06);
    for (int i = 0; i < 23; i++) {
        logits += pow((double)b[1].net.logit[i] - b[0].net.logit[i], 2);
        all += pow(b[0].net.logit[i], 2);
    }
    CHECK_NEAR(sqrt(logits / all), 0, 0.05);
    clear_bed(&b[0]), clear_bed(&b[1]);
}

/* Steps by Adam on one batch: the loss falls as in fp32, with the same bits on one thread and on three. */
TEST(steps_learn_the_same_on_any_threads)
{
    enum { STEPS = 6 };
    spot_net_shape s = { .width = 16, .outputs = 2, .size = 32, .rows = 12, .lanes = 2 };
    double loss[3][STEPS];
    bed b[3];

    NEEDS_BF16();
    for (int k = 0; k < 3; k++) {
        spot_optim_rule rule = adam;
        s.precision = k ? SPOT_BF16 : SPOT_FP32;
        make_bed(&b[k], s, k == 2 ? 3 : 1);
        rule.rounded = b[k].net.rounded;
        rule.lr = 2e-3;
        for (int i = 0; i < STEPS; i++) {
            fill_batch(b[k].x, b[k].y, 0, &s, 11);
            CHECK_OK(&b[k].c, spot_net_forward(&b[k].c, &b[k].net, b[k].x, 11, true));
            CHECK_OK(&b[k].c, spot_net_backward(&b[k].c, &b[k].net, b[k].y, 11, &loss[k][i]));
            rule.t = i + 1;
            CHECK_OK(&b[k].c, spot_optim_step(&b[k].c, b[k].net.param, b[k].net.grad, b[k].net.moment, b[k].net.square,
                                              b[k].net.params, &rule));
        }
    }
    print_message("loss from %.3f to %.4f in fp32, from %.3f to %.4f in bf16\n", loss[0][0], loss[0][STEPS - 1], loss[1][0],
                  loss[1][STEPS - 1]);
    CHECK_NEAR(loss[1][0], loss[0][0], 0.02 * loss[0][0]);
    assert_true(loss[1][STEPS - 1] < 0.5 * loss[1][0]);
    CHECK_NEAR(loss[1][STEPS - 1], loss[0][STEPS - 1], 0.1 * loss[0][0]);
    assert_memory_equal(loss[1], loss[2], sizeof *loss);
    assert_memory_equal(b[1].net.param, b[2].net.param, b[1].net.state * sizeof(float));
    for (int k = 0; k < 3; k++) clear_bed(&b[k]);
}

typedef struct { spot_arena a; spot_model m; spot_learning lesson; spot_view view; spot_truth truth; } pupil;

/* Trains and looks, in an arena of just the bytes that the plan tells. */
static void learn(pupil *p, const spot_ec *ec, const spot_model_config *cfg, bool robust, int threads)
{
    spot_ctx c = check_ctx(threads);
    spot_bytes needs;
    size_t look = spot_model_look_bytes(&ec->scene, cfg, ec->images[SPOT_TEST]);

    CHECK_OK(&c, spot_model_needs(&c, &needs, &ec->scene, cfg, 1, robust));
    CHECK_OK(&c, spot_arena_open(&c, &p->a, needs.host + look));
    if (robust) CHECK_OK(&c, spot_model_robust(&c, &p->a, &p->m, &p->lesson, ec, cfg, NULL));
    else        CHECK_OK(&c, spot_model_train(&c, &p->a, &p->m, &p->lesson, ec, cfg, NULL));
    CHECK_OK(&c, spot_model_look(&c, &p->a, &p->view, &p->truth, &p->m, ec, SPOT_TEST, cfg));
}

static spot_model_config small_model(spot_precision precision)
{
    spot_model_config cfg = spot_model_defaults();

    cfg.width = 16;
    cfg.epochs = 4;
    cfg.batch = 60;
    cfg.lr = 4e-3;
    cfg.schedule = SPOT_ONE_CYCLE;
    cfg.lanes = 4;
    cfg.precision = precision;
    cfg.robust = (spot_robust_config){ .epsilon = 5, .steps = 1, .step = 0.7, .random = 1, .epochs = 2, .lr = 2e-3 };
    return cfg;
}

/* A whole training, drawn images and all: what fp32 learns, bf16 learns; and its view is that of one thread. */
TEST(a_training_learns_what_fp32_learns)
{
    spot_scene_config scene = tiny_scene(5, 3, 25, 4, 4);
    spot_model_config plain = small_model(SPOT_FP32), half = small_model(SPOT_BF16);
    spot_ctx c = check_ctx(1);
    pupil p[3];
    spot_ec ec;

    NEEDS_BF16();
    CHECK_OK(&c, spot_ec_draw(&c, &ec, &scene, 3, 0));
    learn(&p[0], &ec, &plain, false, 2);
    learn(&p[1], &ec, &half, false, 2);
    learn(&p[2], &ec, &half, false, 1);
    for (int k = 0; k < 2; k++)
        print_message("%s: loss %.4f to %.4f, %.1f %% right outside, %.1f %% inside\n", k ? "bf16" : "fp32",
                      p[k].lesson.epoch[0].train_loss, p[k].lesson.epoch[3].train_loss, 100 * p[k].lesson.outside,
                      100 * p[k].lesson.inside[0]);
    assert_true(p[1].lesson.epoch[3].train_loss < 0.7 * p[1].lesson.epoch[0].train_loss);
    assert_true(p[1].lesson.outside > 0.75);
    CHECK_NEAR(p[1].lesson.outside, p[0].lesson.outside, 0.1);
    assert_memory_equal(p[1].m.value, p[2].m.value, p[1].m.floats * sizeof(float));
    assert_memory_equal(p[1].view.feature, p[2].view.feature, sizeof(float) * p[1].view.n * p[1].view.d);
    for (int k = 0; k < 3; k++) spot_arena_close(&p[k].a);
}

TEST(a_robust_training_goes_the_same_way)
{
    spot_scene_config scene = tiny_scene(5, 3, 6, 2, 2);
    spot_model_config cfg[2] = { small_model(SPOT_FP32), small_model(SPOT_BF16) };
    spot_ctx c = check_ctx(1);
    pupil p[2];
    spot_ec ec;

    NEEDS_BF16();
    CHECK_OK(&c, spot_ec_draw(&c, &ec, &scene, 3, 0));
    for (int k = 0; k < 2; k++) learn(&p[k], &ec, &cfg[k], true, 2);
    print_message("robust losses %.4f, %.4f in fp32, %.4f, %.4f in bf16\n", p[0].lesson.epoch[0].train_loss,
                  p[0].lesson.epoch[1].train_loss, p[1].lesson.epoch[0].train_loss, p[1].lesson.epoch[1].train_loss);
    CHECK_NEAR(p[1].lesson.epoch[0].train_loss, p[0].lesson.epoch[0].train_loss, 0.05);
    for (int k = 0; k < 2; k++) spot_arena_close(&p[k].a);
}

/* The folded net in bf16 beside the one in fp32. */
TEST(a_look_is_that_of_fp32)
{
    enum { LIVE = 5, WIDTH = 32 };
    spot_net_shape s = { .width = WIDTH, .outputs = 1, .size = 64, .rows = 8, .lanes = 2 };
    float feature[2][LIVE * 8 * WIDTH], logit[2][LIVE];
    double off = 0, most = 0;
    bed b;

    NEEDS_BF16();
    make_bed(&b, s, 2);
    fill_batch(b.x, b.y, 9, &s, LIVE);
    for (int k = 0; k < 2; k++) {
        spot_arena count = spot_arena_counting(), a;
        spot_look net;
        s.precision = k ? SPOT_BF16 : SPOT_FP32;
        CHECK_OK(&b.c, spot_look_open(&b.c, &count, &net, s));
        spot_look_close(&b.c, &net);
        CHECK_OK(&b.c, spot_arena_open(&b.c, &a, count.peak));
        CHECK_OK(&b.c, spot_look_open(&b.c, &a, &net, s));
        CHECK_OK(&b.c, spot_look_put(&b.c, &net, &b.m));
        CHECK_OK(&b.c, spot_look_run(&b.c, &net, feature[k], logit[k], b.x, LIVE));
        spot_look_close(&b.c, &net);
        spot_arena_close(&a);
    }
    for (int i = 0; i < LIVE * 8 * WIDTH; i++) {
        off = fmax(off, fabs(feature[1][i] - feature[0][i]));
        most = fmax(most, fabs(feature[0][i]));
    }
    print_message("features off by %.4f of the largest\n", off / most);
    CHECK_NEAR(off / most, 0, 0.03);
    clear_bed(&b);
}
