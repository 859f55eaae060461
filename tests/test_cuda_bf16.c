/* test_cuda_bf16.c - bf16 on CUDA against bf16 on the CPU, which is its reference: both round each tensor once. Where sums in
 * another order lie on the other side of a tie a number differs by its last place, and what follows with it.
 * ctest: heavy, ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda_net.h"

#include "check_resnet.h"

enum { LIVE = 6 };

/* One forward and backward step of a net on c; the loss, the logits, and the gradient in torchvision's order. */
typedef struct { double loss; float logit[LIVE], feature[LIVE * 8 * 16], *gradient; size_t floats; } lesson;

static void lay_net(spot_ctx *c, spot_arena *a, spot_net *net, spot_net_shape s, float **x, float **y, double **loss)
{
    CHECK_OK(c, spot_net_open(c, a, net, s));
    CHECK_OK(c, SPOT_TAKE(c, a, *x, (size_t)s.rows * s.size * s.size * 3));
    CHECK_OK(c, SPOT_TAKE(c, a, *y, s.rows));
    CHECK_OK(c, SPOT_TAKE(c, a, *loss, 1));
}

static void step_once(spot_ctx *c, lesson *r, spot_net_shape s)
{
    size_t nx = (size_t)s.rows * s.size * s.size * 3;
    float *x = malloc(4 * nx), y[8], *xd, *yd;
    spot_arena count = spot_arena_counting(), host, device;
    spot_ctx cpu = check_ctx(1);
    double *loss;
    spot_model m;
    spot_net net;

    CHECK_OK(&cpu, spot_model_take(&cpu, &count, &m, s.arch, s.width, 1));
    CHECK_OK(&cpu, spot_arena_open(&cpu, &host, count.peak));
    CHECK_OK(&cpu, spot_model_take(&cpu, &host, &m, s.arch, s.width, 1));
    count = spot_arena_counting();
    lay_net(c, &count, &net, s, &xd, &yd, &loss);
    spot_net_close(c, &net);
    CHECK_OK(c, spot_arena_open_device(c, &device, count.peak));
    lay_net(c, &device, &net, s, &xd, &yd, &loss);
    fill_model(&m);
    CHECK_OK(c, spot_net_put(c, &net, &m));
    fill_batch(x, y, 0, &s, LIVE);
    CHECK_OK(c, spot_device_copy(c, xd, x, 4 * nx));
    CHECK_OK(c, spot_device_copy(c, yd, y, 4 * LIVE));
    CHECK_OK(c, spot_net_forward(c, &net, xd, LIVE, true));
    CHECK_OK(c, spot_net_backward(c, &net, yd, LIVE, loss));
    get_gradient(c, &m, &net);
    CHECK_OK(c, spot_device_copy(c, &r->loss, loss, sizeof r->loss));
    CHECK_OK(c, spot_device_copy(c, r->logit, net.logit, sizeof r->logit));
    CHECK_OK(c, spot_device_copy(c, r->feature, net.feature, sizeof r->feature));
    r->floats = m.floats;
    r->gradient = memcpy(malloc(4 * m.floats), m.value, 4 * m.floats);
    spot_net_close(c, &net);
    spot_arena_close(&device);
    spot_arena_close(&host);
    free(x);
}

TEST(a_step_is_the_cpus)
{
    spot_net_shape s = { .width = 16, .outputs = 1, .size = 32, .rows = 8, .lanes = 2, .precision = SPOT_BF16 };
    const spot_model m = { .arch = s.arch, .width = s.width, .outputs = s.outputs };
    spot_ctx cpu = check_ctx(2), c;
    lesson want, got, plain;
    gradient_gap g, beside_fp32;

    if (!spot_conv_has(&cpu, SPOT_BF16)) skip();
    step_once(&cpu, &want, s);
    open_cuda(&c, 1);
    step_once(&c, &got, s);
    spot_device_close(&c);
    s.precision = SPOT_FP32;
    step_once(&cpu, &plain, s);
    g = compare_gradients(&m, got.gradient, want.gradient);
    beside_fp32 = compare_gradients(&m, got.gradient, plain.gradient);
    print_message("beside bf16 on the CPU: loss %.1e, features %.1e, gradient %.1e, %.3f and %.3f times as long; beside "
                  "fp32: %.1e, %.1e, %.1e, %.3f and %.3f\n", fabs(got.loss - want.loss),
                  apart(got.feature, want.feature, LEN(want.feature)), g.whole, g.length, g.small,
                  fabs(got.loss - plain.loss), apart(got.feature, plain.feature, LEN(plain.feature)), beside_fp32.whole,
                  beside_fp32.length, beside_fp32.small);
    CHECK_NEAR(got.loss, want.loss, 5e-3);
    CHECK_NEAR(apart(got.feature, want.feature, LEN(want.feature)), 0, 2e-2);
    CHECK_NEAR(g.whole, 0, 0.2);
    CHECK_NEAR(g.length, 1, 0.03);
    CHECK_NEAR(g.small, 1, 0.06);
    free(want.gradient), free(got.gradient), free(plain.gradient);
}

int main(void) { return run_cuda_tests(); }
