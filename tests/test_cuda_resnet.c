/* test_cuda_resnet.c - whole networks on CUDA against the CPU's: they train with their optimizer, and they look.
 * ctest: heavy, ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda_net.h"

#include "check_resnet.h"

enum { TRAIN_STEPS = 2, LIVE = 6 };

/* A model on the host, a net and a batch on the device, and what is copied back after each step. */
typedef struct {
    spot_ctx   c;
    spot_arena host, device;
    spot_model m;
    spot_net   net;
    float     *x, *y;          /* on the device */
    double    *loss;
    int       *made;           /* steps, for dropout */
    float      logit[TRAIN_STEPS][LIVE];
    double     losses[TRAIN_STEPS];
    float     *gradient;       /* of the first step, in torchvision's order */
} school;

static void lay_net(school *b, spot_arena *a, spot_net_shape s)
{
    CHECK_OK(&b->c, spot_net_open(&b->c, a, &b->net, s));
    CHECK_OK(&b->c, SPOT_TAKE(&b->c, a, b->x, (size_t)s.rows * s.size * s.size * 3));
    CHECK_OK(&b->c, SPOT_TAKE(&b->c, a, b->y, (size_t)s.rows * s.outputs));
    CHECK_OK(&b->c, SPOT_TAKE(&b->c, a, b->loss, 1));
    CHECK_OK(&b->c, SPOT_TAKE(&b->c, a, b->made, 1));
}

/* b->c is open. */
static void open_school(school *b, spot_net_shape s)
{
    spot_ctx cpu = check_ctx(1);
    spot_arena count = spot_arena_counting(), model = spot_arena_counting();

    CHECK_OK(&cpu, spot_model_take(&cpu, &model, &b->m, s.arch, s.width, s.outputs));
    CHECK_OK(&cpu, spot_arena_open(&cpu, &b->host, model.peak));
    CHECK_OK(&cpu, spot_model_take(&cpu, &b->host, &b->m, s.arch, s.width, s.outputs));
    lay_net(b, &count, s);
    spot_net_close(&b->c, &b->net);
    CHECK_OK(&b->c, spot_arena_open_device(&b->c, &b->device, count.peak));
    lay_net(b, &b->device, s);
    fill_model(&b->m);
    CHECK_OK(&b->c, spot_net_put(&b->c, &b->net, &b->m));
    CHECK_OK(&b->c, spot_device_clear(&b->c, b->made, sizeof *b->made));
    spot_net_drop(&b->net, 0.5, 4, 1, b->made);
}

static void close_school(school *b)
{
    spot_net_close(&b->c, &b->net);
    spot_arena_close(&b->device);
    spot_arena_close(&b->host);
    spot_device_close(&b->c);
    free(b->gradient);
}

static void attend(school *b, spot_net_shape s, const spot_optim_rule *rule)
{
    size_t nx = (size_t)s.rows * s.size * s.size * 3;
    float *x = malloc(4 * nx), *y = malloc(4 * (size_t)s.rows * s.outputs), once[LIVE], again[LIVE];
    spot_optim_rule r = *rule;

    open_school(b, s);
    r.rounded = b->net.rounded;
    for (int step = 0; step < TRAIN_STEPS; step++) {
        fill_batch(x, y, step, &s, LIVE);
        CHECK_OK(&b->c, spot_device_copy(&b->c, b->x, x, 4 * nx));
        CHECK_OK(&b->c, spot_device_copy(&b->c, b->y, y, 4 * (size_t)LIVE * s.outputs));
        CHECK_OK(&b->c, spot_net_forward(&b->c, &b->net, b->x, LIVE, true));
        CHECK_OK(&b->c, spot_net_backward(&b->c, &b->net, b->y, LIVE, b->loss));
        if (!step) {
            get_gradient(&b->c, &b->m, &b->net);
            b->gradient = memcpy(malloc(4 * b->m.floats), b->m.value, 4 * b->m.floats);
        }
        r.t = step + 1;
        CHECK_OK(&b->c, spot_optim_step(&b->c, b->net.param, b->net.grad, b->net.moment, b->net.square, b->net.params, &r));
        CHECK_OK(&b->c, spot_device_copy(&b->c, &b->losses[step], b->loss, sizeof(double)));
        CHECK_OK(&b->c, spot_device_copy(&b->c, b->logit[step], b->net.logit, sizeof b->logit[step]));
    }
    CHECK_OK(&b->c, spot_net_forward(&b->c, &b->net, b->x, LIVE, false));         /* with the running statistics */
    CHECK_OK(&b->c, spot_device_copy(&b->c, once, b->net.logit, sizeof once));
    CHECK_OK(&b->c, spot_net_forward(&b->c, &b->net, NULL, LIVE, false));         /* the images that it has already */
    CHECK_OK(&b->c, spot_device_copy(&b->c, again, b->net.logit, sizeof again));
    assert_memory_equal(again, once, sizeof once);
    CHECK_OK(&b->c, spot_net_get(&b->c, &b->m, &b->net));
    free(x), free(y);
}

/* -- the CPU with bf16's roundings ----------------------------------------------------------------------------- */

/* Convolutions, pools and linear layers of the CPU that read and write, or multiply, what bf16 holds. All else of an AlexNet is
 * fp32 on CUDA, too. */
static float *round_weights(spot_ctx *c, const spot_conv *plan, const void *w)
{
    const size_t n = spot_conv_packed(c, plan);
    float *to = memcpy(malloc(n * sizeof *to), w, n * sizeof *to);

    round_all(to, n, SPOT_BF16);
    return to;
}

static spot_status rounded_planes(spot_ctx *c, void *planes, const float *pixels, int live, int rows, int count,
                                  spot_precision precision)
{
    spot_status s = spot_ops_cpu.conv->planes(c, planes, pixels, live, rows, count, precision);

    round_all(planes, (size_t)rows * 3 * count, SPOT_BF16);
    return s;
}

static spot_status rounded_forward(spot_ctx *c, const spot_conv *plan, void *y, const spot_conv_terms *t, int rows,
                                   void *scratch)
{
    const spot_conv_shape *shape = spot_conv_shape_of(plan);
    const int out = spot_conv_out(shape);
    float *weights = round_weights(c, plan, t->w);
    spot_status s = spot_ops_cpu.conv->forward(c, plan, y, &(spot_conv_terms){ t->x, weights, t->bias, t->other }, rows,
                                               scratch);

    round_all(y, (size_t)rows * shape->co * out * out, SPOT_BF16);
    free(weights);
    return s;
}

static spot_status rounded_data(spot_ctx *c, const spot_conv *plan, void *dx, const void *dy, const void *w, int rows,
                                void *scratch)
{
    const spot_conv_shape *shape = spot_conv_shape_of(plan);
    float *weights = round_weights(c, plan, w);
    spot_status s = spot_ops_cpu.conv->backward_data(c, plan, dx, dy, weights, rows, scratch);

    round_all(dx, (size_t)rows * shape->ci * shape->size * shape->size, SPOT_BF16);
    free(weights);
    return s;
}

static spot_status rounded_pool(spot_ctx *c, void *out, unsigned char *at, const void *y, const float *bias, spot_plane p,
                                bool max)
{
    spot_status s = spot_ops_cpu.pooling->forward(c, out, at, y, bias, p, max);

    p.size = spot_pool_side(p.size, max);
    round_all(out, spot_plane_numbers(p), SPOT_BF16);
    return s;
}

static spot_status rounded_pool_back(spot_ctx *c, const spot_pool_gradients *g, spot_plane p, bool max, void *scratch)
{
    spot_status s = spot_ops_cpu.pooling->back(c, g, p, max, scratch);

    round_all(g->y, spot_plane_numbers(p), SPOT_BF16);
    return s;
}

static spot_status rounded_mean_back(spot_ctx *c, void *dx, const float *dout, spot_plane p)
{
    spot_status s = spot_ops_cpu.pooling->mean_back(c, dx, dout, p);

    round_all(dx, spot_plane_numbers(p), SPOT_BF16);
    return s;
}

static float *rounded_copy(const void *v, size_t n)
{
    float *to = memcpy(malloc(n * sizeof *to), v, n * sizeof *to);

    round_all(to, n, SPOT_BF16);
    return to;
}

static spot_status rounded_dense(spot_ctx *c, float *y, const float *x, const void *w, const float *b,
                                 const spot_dense_shape *s, void *scratch)
{
    float *rx = rounded_copy(x, (size_t)s->rows * s->in), *rw = rounded_copy(w, (size_t)s->in * s->out);
    spot_status e = spot_ops_cpu.dense->forward(c, y, rx, rw, b, s, scratch);

    free(rx), free(rw);
    return e;
}

/* The gradient of the bias is the sum of what was not rounded: it comes of a second call. */
static spot_status rounded_dense_back(spot_ctx *c, const spot_dense_gradients *g, const spot_dense_shape *s, void *scratch)
{
    float *x = rounded_copy(g->x, (size_t)s->rows * s->in), *w = rounded_copy(g->w, (size_t)s->in * s->out);
    float *dy;
    spot_dense_gradients r = *g, bias = *g;
    spot_status e;

    bias.dx = NULL;
    e = spot_ops_cpu.dense->back(c, &bias, s, scratch);
    dy = rounded_copy(g->dy, (size_t)s->rows * s->out);
    r.x = x, r.w = w, r.dy = dy;
    if (g->db) r.db = malloc((size_t)s->out * sizeof *r.db);
    if (!e) e = spot_ops_cpu.dense->back(c, &r, s, scratch);
    if (g->db) free(r.db);
    free(x), free(w), free(dy);
    return e;
}

static spot_ctx rounding_ctx(int threads)
{
    static spot_conv_ops conv;
    static spot_pooling_ops pooling;
    static spot_dense_ops dense;
    static spot_ops ops;
    spot_ctx c = check_ctx(threads);

    conv = *spot_ops_cpu.conv;
    conv.planes = rounded_planes, conv.forward = rounded_forward, conv.backward_data = rounded_data;
    pooling = *spot_ops_cpu.pooling;
    pooling.forward = rounded_pool, pooling.back = rounded_pool_back, pooling.mean_back = rounded_mean_back;
    ops = spot_ops_cpu;
    dense = *spot_ops_cpu.dense;
    dense.forward = rounded_dense, dense.back = rounded_dense_back;
    ops.conv = &conv, ops.pooling = &pooling, ops.dense = &dense;
    c.ops = &ops;
    return c;
}

/* Runs a CUDA net and holds it to the CPU's. */
static void compare_school(school *got, const school *want, spot_net_shape s, int schedule, const double bound[4])
{
    gradient_gap g;
    double off[3];

    *got = (school){ .c = { .threads = 1 } };
    open_cuda(&got->c, schedule);
    attend(got, s, &sgd);
    off[0] = apart(got->logit[0], want->logit[0], LIVE);
    off[1] = fabs(got->losses[TRAIN_STEPS - 1] / want->losses[TRAIN_STEPS - 1] - 1);
    g = compare_gradients(&want->m, got->gradient, want->gradient);
    off[2] = g.worst;
    print_message("%s: logits off by %.1e, loss %d by %.1e, the worst gradient by %.1e, %.3f times as long, small tensors "
                  "%.3f\n", s.precision ? "bf16" : "fp32", off[0], TRAIN_STEPS, off[1], off[2], g.length, g.small);
    for (int i = 0; i < 3; i++) CHECK_NEAR(off[i], 0, bound[i]);
    CHECK_NEAR(g.length, 1, bound[3]);
    CHECK_NEAR(g.small, 1, 2 * bound[3]);
}

/* Six images of eight rows, in two lanes on the CPU. bf16 has 8 bits and twenty layers to lose them in, and the last batch
 * norms see six values each: it must go the same way, no more. */
TEST(a_net_learns_the_same)
{
    static const double fp32[4] = { 1e-4, 1e-5, 1e-4, 0.03 }, bf16_bound[4] = { 0.2, 0.1, 0.6, 0.05 };
    spot_net_shape s = { .width = 16, .outputs = 1, .size = 32, .rows = 8, .lanes = 2 };
    school want = { .c = check_ctx(2) }, one, two;
    attend(&want, s, &sgd);
    compare_school(&one, &want, s, 0, fp32);
    compare_school(&two, &want, s, 2, fp32);
    assert_memory_equal(two.losses, one.losses, sizeof one.losses);
    assert_memory_equal(two.m.value, one.m.value, 4 * one.m.floats);
    assert_memory_equal(two.gradient, one.gradient, 4 * one.m.floats);
    close_school(&two);
    close_school(&one);
    s.precision = SPOT_BF16;
    compare_school(&one, &want, s, 3, bf16_bound);
    close_school(&one);
    close_school(&want);
}

/* The others; AlexNet with dropped numbers, which are the same on both. The last batch norms of ResNet-34 see six values each,
 * behind twice as many layers as ResNet-18's: on the CPU alone, pixels changed by one part in 2^24 move the second loss by
 * 5.7e-5 (ResNet-18's by 1.3e-6). */
TEST(other_nets_learn_the_same)
{
    static const double bound[4] = { 1e-4, 1e-4, 2e-4, 0.03 };
    for (int arch = SPOT_ARCH_RESNET34; spot_arch_is(arch); arch++) {
        const spot_net_shape s = { .arch = arch, .width = 16, .outputs = 1, .size = arch == SPOT_ARCH_ALEXNET ? 64 : 32,
                                   .rows = 8, .lanes = 2 };
        school want = { .c = check_ctx(2) }, got;
        attend(&want, s, &sgd);
        compare_school(&got, &want, s, 0, bound);
        close_school(&got);
        close_school(&want);
    }
}

/* In bf16 other pixels win the pools: the gradient of a layer is a third off that in fp32. That is the format's affair, since
 * the CPU loses it by the same roundings. Beside that answer a GPU's sums may cross ties. */
TEST(an_alexnet_in_bf16_loses_what_rounding_loses)
{
    static const double emulated[4] = { 1e-5, 1e-3, 1e-2, 0.03 }, library[4] = { 2e-2, 2e-2, 0.2, 0.03 };
    spot_net_shape s = { .arch = SPOT_ARCH_ALEXNET, .width = 16, .outputs = 1, .size = 64, .rows = 8, .lanes = 2 };
    school want = { .c = check_ctx(2) }, rounded = { .c = rounding_ctx(2) }, got;
    attend(&want, s, &sgd);
    attend(&rounded, s, &sgd);
    print_message("rounded on the CPU: the worst gradient is off by %.1e\n",
                  compare_gradients(&want.m, rounded.gradient, want.gradient).worst);
    s.precision = SPOT_BF16;
    compare_school(&got, &rounded, s, 2, getenv("SPOT_EMULATOR") ? emulated : library);
    close_school(&got);
    close_school(&rounded);
    close_school(&want);
}

/* The same model looks at two images of three rows: batch norm folded, bias, ReLU and the residual in the convolutions. */
typedef spot_status looks(spot_ctx *c, spot_look *net, float *feature, float *logit, const float *pixels, int live);

static void look_at(spot_ctx *c, const spot_model *m, spot_net_shape s, float *feature, float *logit, int live, looks *run)
{
    size_t nf = 4 * (size_t)live * spot_model_features(s.arch, s.width), nx = (size_t)s.rows * 3 * s.size * s.size;
    float *x = malloc(4 * nx), *y = malloc(4 * (size_t)s.rows);
    float *fd = to_device(c, NULL, nf), *zd = to_device(c, NULL, 4 * (size_t)live);
    spot_arena count = spot_arena_counting(), a;
    spot_look net;
    void *xd;

    fill_batch(x, y, 9, &s, live);
    xd = to_device(c, x, 4 * nx);
    CHECK_OK(c, spot_look_open(c, &count, &net, s));
    spot_look_close(c, &net);
    CHECK_OK(c, spot_arena_open_device(c, &a, count.peak));
    CHECK_OK(c, spot_look_open(c, &a, &net, s));
    CHECK_OK(c, spot_look_put(c, &net, m));
    CHECK_OK(c, run(c, &net, fd, zd, xd, live));
    download(c, feature, fd, nf);
    download(c, logit, zd, 4 * (size_t)live);
    spot_device_give(c, xd);
    spot_look_close(c, &net);
    spot_arena_close(&a);
    free(x), free(y);
}

/* The CPU's net that looks, with every weight and every tensor rounded as bf16 does: an answer for CUDA's bf16. */
static spot_status look_rounded(spot_ctx *c, spot_look *net, float *feature, float *logit, const float *x, int live)
{
    spot_norm folded = { .scale = net->one, .shift = net->none };
    float *buffer[3] = { net->buffer[0], net->buffer[1], net->buffer[2] };
    spot_plane p = { net->s.rows, live, net->s.width, net->s.size / 2, SPOT_FP32 };

#define CONVOLVE(u, y, x, other)                                                                                           \
    do {                                                                                                                   \
        const spot_conv_shape *s_ = spot_conv_shape_of(net->conv[u]);                                                      \
        int out_ = s_->size / s_->stride;                                                                                  \
        const spot_conv_terms t_ = { x, net->w[u], net->bias[u], other };                                                  \
        CHECK_OK(c, spot_conv_forward(c, net->conv[u], y, &t_, net->s.rows, net->scratch));                                \
        round_all(y, (size_t)net->s.rows * s_->co * out_ * out_, SPOT_BF16);                                               \
    } while (0)
    for (int u = 0; u < net->arch.units; u++) round_all(net->w[u], spot_conv_packed(c, net->conv[u]), SPOT_BF16);
    CHECK_OK(c, spot_conv_planes(c, net->planes, x, live, net->s.rows, net->s.size * net->s.size, SPOT_FP32));
    round_all(net->planes, (size_t)net->s.rows * 3 * net->s.size * net->s.size, SPOT_BF16);
    CONVOLVE(0, net->stem, net->planes, NULL);
    CHECK_OK(c, spot_norm_pool(c, buffer[0], NULL, net->stem, &folded, p));
    for (int i = 0; i < net->arch.blocks; i++) {
        const spot_block block = spot_block_of(net->s.arch, i), *b = &block;
        float *in = buffer[0];
        CONVOLVE(b->first, buffer[1], in, NULL);
        if (b->down) CONVOLVE(b->down, buffer[2], in, NULL);
        if (b->down) buffer[0] = buffer[2], buffer[2] = in;
        CONVOLVE(b->last, buffer[0], buffer[1], buffer[0]);
    }
#undef CONVOLVE
    p.channels = net->features;
    p.size = net->s.size / 32;
    return spot_head_forward(c, &(spot_head_answers){ feature, logit, buffer[0], net->fc_w, net->fc_b }, p, net->s.outputs);
}

enum { SEEN = 2, WIDTH = 16, FEATURES = SEEN * 8 * WIDTH };

/* bf16 has 8 bits and 18 layers to lose them in. How many it loses is the format's affair: rounding as often on the CPU
 * loses as many. Beside that answer a library's may differ where a sum in another order lies on the other side of a tie: a
 * feature by 2^-8. cuDNN may round once more, before the bias, or the bias itself. */
TEST(a_net_looks_the_same)
{
    spot_net_shape s = { .width = WIDTH, .outputs = 1, .size = 32, .rows = 3, .lanes = 1 };
    float feature[4][FEATURES], logit[4][SEEN], rounded[FEATURES], at[SEEN];
    double tight = getenv("SPOT_EMULATOR") && SPOT_CHANNELS == 16 ? 2e-3 : 1e-2;      /* the CPU's sums may cross a tie, too */
    spot_ctx cpu = check_ctx(2), c;
    spot_arena count = spot_arena_counting(), a;
    spot_model m;
    CHECK_OK(&cpu, spot_model_take(&cpu, &count, &m, s.arch, s.width, s.outputs));
    CHECK_OK(&cpu, spot_arena_open(&cpu, &a, count.peak));
    CHECK_OK(&cpu, spot_model_take(&cpu, &a, &m, s.arch, s.width, s.outputs));
    fill_model(&m);
    look_at(&cpu, &m, s, feature[0], logit[0], SEEN, spot_look_run);
    look_at(&cpu, &m, s, rounded, at, SEEN, look_rounded);
    open_cuda(&c, 2);
    look_at(&c, &m, s, feature[1], logit[1], SEEN, spot_look_run);
    s.precision = SPOT_BF16;
    look_at(&c, &m, s, feature[2], logit[2], SEEN, spot_look_run);
    spot_device_close(&c);
    setenv("SPOT_EMULATOR_CUDNN", "fast=4", 1);        /* by a library that adds bias and residual itself */
    open_cuda(&c, 1);
    look_at(&c, &m, s, feature[3], logit[3], SEEN, spot_look_run);
    spot_device_close(&c);
    unsetenv("SPOT_EMULATOR_CUDNN");
    print_message("looking in fp32: off by %.1e, %.1e; in bf16: %.1e, %.1e; from rounding on the CPU: %.1e, %.1e, "
                  "by a library %.1e, %.1e\n",
                  apart(feature[1], feature[0], FEATURES), apart(logit[1], logit[0], SEEN),
                  apart(feature[2], feature[0], FEATURES), apart(logit[2], logit[0], SEEN),
                  apart(feature[2], rounded, FEATURES), apart(logit[2], at, SEEN),
                  apart(feature[3], rounded, FEATURES), apart(logit[3], at, SEEN));
    CHECK_NEAR(apart(feature[1], feature[0], FEATURES), 0, 1e-5);
    CHECK_NEAR(apart(logit[1], logit[0], SEEN), 0, 1e-5);
    CHECK_NEAR(apart(feature[2], feature[0], FEATURES), 0, 2e-2);
    CHECK_NEAR(apart(logit[2], logit[0], SEEN), 0, 2e-2);
    CHECK_NEAR(apart(feature[2], rounded, FEATURES), 0, tight);
    CHECK_NEAR(apart(logit[2], at, SEEN), 0, tight);
    CHECK_NEAR(apart(feature[3], rounded, FEATURES), 0, 1e-2);
    CHECK_NEAR(apart(logit[3], at, SEEN), 0, 1e-2);
    spot_arena_close(&a);
}

/* Forms that a file alone tells, too: bottlenecks, wide ones among them, three stages, and CIFAR's first layer. */
TEST(other_nets_look_the_same)
{
    const spot_resnet_form narrow = { { 1, 2, 1, 1 }, 1, false }, wide = { { 2, 1, 1 }, 2, false };
    const spot_resnet_form cifar = { { 1, 1 }, 0, true };
    const int archs[] = { SPOT_ARCH_RESNET34, SPOT_ARCH_ALEXNET, spot_arch_of_form(&narrow), spot_arch_of_form(&wide),
                          spot_arch_of_form(&cifar) };

    for (int i = 0; i < LEN(archs); i++) {
        const int arch = archs[i];
        spot_net_shape s = { .arch = arch, .width = 16, .outputs = 1, .size = 64, .rows = 3, .lanes = 1 };
        const int n = SEEN * spot_model_features(arch, s.width);
        float *feature[2] = { malloc((size_t)n * sizeof(float)), malloc((size_t)n * sizeof(float)) }, logit[2][SEEN];
        spot_ctx cpu = check_ctx(2), c;
        spot_arena count = spot_arena_counting(), a;
        spot_model m;
        CHECK_OK(&cpu, spot_model_take(&cpu, &count, &m, arch, s.width, s.outputs));
        CHECK_OK(&cpu, spot_arena_open(&cpu, &a, count.peak));
        CHECK_OK(&cpu, spot_model_take(&cpu, &a, &m, arch, s.width, s.outputs));
        fill_model(&m);
        look_at(&cpu, &m, s, feature[0], logit[0], SEEN, spot_look_run);
        open_cuda(&c, 2);
        look_at(&c, &m, s, feature[1], logit[1], SEEN, spot_look_run);
        spot_device_close(&c);
        CHECK_NEAR(apart(feature[1], feature[0], n), 0, 1e-5);
        CHECK_NEAR(apart(logit[1], logit[0], SEEN), 0, 1e-5);
        free(feature[0]), free(feature[1]);
        spot_arena_close(&a);
    }
}

int main(void) { return run_cuda_tests(); }
