/* test_cuda_conv.c - convolution, and the whole ResNet-18 with its optimizer, on CUDA against the CPU's. On the emulator
 * the naive kernels convolve, which are also the measure for every plan of cuDNN. In fp32 within what the headers promise;
 * in bf16 the CPU gets the rounded inputs, and what is written as bf16 may be off by one last place, 2^-8. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda_net.h"

#include "check_resnet.h"

#define LAST_PLACE 0x1p-8

/* On the CPU 16 images and more a piece and size 16 go by Winograd; here sizes stay small, for fibres are slow. */
static const struct { spot_conv_shape s; int live; } cases[] = {
    { { 2, 1,   3, 16, 7, 2, 16, true,  false, false, false, SPOT_FP32 }, 2 },     /* the stem */
    { { 3, 1,   3, 16, 7, 2,  8, true,  false, false, false, SPOT_FP32 }, 2 },     /* with a row of padding */
    { { 3, 1,  16, 48, 3, 1,  5, true,  false, false, false, SPOT_FP32 }, 3 },
    { { 2, 1,  32, 16, 3, 2,  6, true,  false, false, false, SPOT_FP32 }, 2 },
    { { 2, 1,  32, 64, 1, 2,  4, true,  false, false, false, SPOT_FP32 }, 2 },     /* a shortcut */
    { { 1, 1,  16, 32, 1, 1,  7, true,  false, false, false, SPOT_FP32 }, 1 },
    { { 1, 1, 144, 16, 3, 1,  2, true,  false, false, false, SPOT_FP32 }, 1 },
    { { 2, 1,  16, 32, 3, 1,  4, false, true,  true,  true,  SPOT_FP32 }, 2 },
};

typedef struct {
    spot_conv_shape s;
    spot_plane p, q;           /* of x and of y */
    size_t nw;
    float *pixels, *x, *dy, *oihw, *bias, *y, *dx, *dw;
} layer;

static layer make_layer(int k, spot_precision precision)
{
    layer b = { .s = cases[k].s };

    b.p = (spot_plane){ b.s.rows, cases[k].live, b.s.ci, b.s.size, SPOT_FP32 };
    b.q = (spot_plane){ b.s.rows, cases[k].live, b.s.co, b.s.size / b.s.stride, SPOT_FP32 };
    b.nw = (size_t)b.s.co * b.s.ci * b.s.k * b.s.k;
    b.x = random_tensor(numbers(b.p), 0), b.dx = random_tensor(numbers(b.p), 1), b.dy = random_tensor(numbers(b.q), 2);
    b.y = random_tensor(numbers(b.q), 3), b.oihw = random_tensor(b.nw, 4), b.dw = random_tensor(b.nw, 5);
    b.bias = random_tensor((size_t)b.s.co, 6), b.pixels = random_tensor(numbers(b.p), 7);
    round_all(b.x, numbers(b.p), precision), round_all(b.dy, numbers(b.q), precision);
    round_all(b.y, numbers(b.q), precision), round_all(b.oihw, b.nw, precision);
    round_all(b.pixels, numbers(b.p), precision);
    return b;
}

static void clear_layer(layer *b)
{
    float *all[] = { b->pixels, b->x, b->dy, b->oihw, b->bias, b->y, b->dx, b->dw };

    for (int i = 0; i < LEN(all); i++) free(all[i]);
}

/* x as the plan wants it: pixels through planes for three channels. */
static void *input(spot_ctx *c, const layer *b, int inputs, spot_precision precision)
{
    spot_plane p = b->p;
    void *pixels, *x;

    p.precision = precision;
    if (b->s.ci > 3) return c->device ? upload_plane(c, b->x, p) : upload(c, b->x, 4 * numbers(p));
    p.channels = inputs;
    pixels = upload(c, b->pixels, 4 * (size_t)p.live * 3 * p.size * p.size);
    x = upload(c, NULL, spot_precision_bytes(precision) * numbers(p));
    CHECK_OK(c, spot_conv_planes(c, x, pixels, p.live, p.rows, p.size * p.size, precision));
    spot_device_give(c, pixels);
    return x;
}

/* Packed weights in fp32, and what the convolution reads. */
static void weights(spot_ctx *c, const layer *b, const spot_conv *plan, size_t packed, float **w, void **read)
{
    float *none = calloc(packed, 4), *zeros = upload(c, none, 4 * packed);
    spot_optim_rule stay = { .t = 1 };

    *w = *read = upload(c, NULL, 4 * packed);
    CHECK_OK(c, spot_conv_pack(c, plan, *w, b->oihw));
    if (b->s.precision == SPOT_BF16) {
        stay.rounded = *read = upload(c, NULL, 2 * packed);
        CHECK_OK(c, spot_optim_step(c, *w, zeros, zeros, NULL, packed, &stay));
    }
    spot_device_give(c, zeros);
    free(none);
}

/* All passes that the plan knows, from and to the host. */
static void run_layer(spot_ctx *c, layer *b)
{
    spot_conv *plan;
    spot_plane q = b->q, p = b->p;
    int inputs = spot_conv_inputs(c, &b->s);
    size_t packed = (size_t)b->s.co * inputs * b->s.k * b->s.k;
    void *x = input(c, b, inputs, b->s.precision), *y, *dy, *dx, *read, *scratch;
    float *w, *dw, *bias;

    CHECK_OK(c, spot_conv_open(c, &plan, &b->s));
    q.precision = p.precision = b->s.precision;
    y = c->device ? upload_plane(c, b->y, q) : upload(c, b->y, 4 * numbers(q));
    dy = c->device ? upload_plane(c, b->dy, q) : upload(c, b->dy, 4 * numbers(q));
    dx = c->device ? upload_plane(c, b->dx, p) : upload(c, b->dx, 4 * numbers(p));
    bias = upload(c, b->bias, 4 * (size_t)b->s.co);
    dw = upload(c, NULL, 4 * packed);
    scratch = upload(c, NULL, spot_conv_scratch(c, plan) + 1);
    weights(c, b, plan, packed, &w, &read);
    CHECK_OK(c, spot_conv_forward(c, plan, y, x, read, b->s.bias ? bias : NULL, b->s.rows, scratch));
    if (b->s.train) CHECK_OK(c, spot_conv_backward_weights(c, plan, dw, x, dy, b->s.rows, scratch));
    if (b->s.train) CHECK_OK(c, spot_conv_unpack(c, plan, b->dw, dw));
    if (b->s.train && b->s.ci > 3) CHECK_OK(c, spot_conv_backward_data(c, plan, dx, dy, read, b->s.rows, scratch));
    if (c->device) download_plane(c, b->y, y, q), download_plane(c, b->dx, dx, p);
    else           download(c, b->y, y, 4 * numbers(q)), download(c, b->dx, dx, 4 * numbers(p));
    if (read != w) spot_device_give(c, read);
    spot_device_give(c, w), spot_device_give(c, dw), spot_device_give(c, bias), spot_device_give(c, dy);
    spot_device_give(c, x), spot_device_give(c, scratch);
    spot_conv_close(c, plan);
}

static void convolution_agrees(void **state)
{
    spot_ctx cpu = check_ctx(2);
    (void)state;
    for (int k = 0; k < 2 * LEN(cases); k++) {
        spot_precision precision = k % 2 ? SPOT_BF16 : SPOT_FP32;
        double off[3] = { 0 }, tolerance = k % 2 ? LAST_PLACE : 4e-6;
        layer want = make_layer(k / 2, precision);
        void *first[3] = { 0 };
        run_layer(&cpu, &want);
        for (int s = 0; s < LEN(schedules); s++) {
            layer got = make_layer(k / 2, precision);
            spot_ctx c;
            open_cuda(&c, s);
            got.s.precision = precision;
            run_layer(&c, &got);
            off[0] = apart(got.y, want.y, numbers(want.q));
            off[1] = want.s.ci > 3 ? apart(got.dx, want.dx, numbers(want.p)) : 0;
            off[2] = want.s.train ? apart(got.dw, want.dw, want.nw) : 0;
            same_bits(&first[0], got.y, 4 * numbers(want.q), s, "y");
            same_bits(&first[1], got.dx, 4 * numbers(want.p), s, "dx");
            same_bits(&first[2], got.dw, 4 * want.nw, s, "dw");
            clear_layer(&got);
            spot_device_close(&c);
            CHECK_NEAR(off[0], 0, tolerance);
            CHECK_NEAR(off[1], 0, tolerance);
            CHECK_NEAR(off[2], 0, 4e-6);                  /* gradients of weights are fp32 in any case */
        }
        print_message("case %d, %s: off by %.1e, data %.1e, weights %.1e\n", k / 2, k % 2 ? "bf16" : "fp32", off[0], off[1],
                      off[2]);
        clear_layer(&want);
    }
}

static void what_cuda_cannot_is_refused(void **state)
{
    spot_conv_shape lanes = cases[2].s;
    spot_ctx c, cpu = check_ctx(1);
    spot_conv *plan;
    (void)state;
    open_cuda(&c, 0);
    lanes.lanes = 3;
    CHECK_FAILS(&c, spot_conv_open(&c, &plan, &lanes), SPOT_UNSUPPORTED, "3 lanes");
    assert_null(plan);
    spot_device_close(&c);
    lanes.precision = SPOT_BF16;
    CHECK_FAILS(&cpu, spot_conv_open(&cpu, &plan, &lanes), SPOT_UNSUPPORTED, "fp32 only");
}

/* -- the whole net ------------------------------------------------------------------------------------------------- */

enum { TRAIN_STEPS = 2, LIVE = 6 };

/* A model on the host, a net and a batch on the device, and what is copied back after each step. */
typedef struct {
    spot_ctx   c;
    spot_arena host, device;
    spot_model m;
    spot_net   net;
    float     *x, *y;          /* on the device */
    double    *loss;
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
}

/* b->c is open. */
static void open_school(school *b, spot_net_shape s)
{
    spot_ctx cpu = check_ctx(1);
    spot_arena count = spot_arena_counting(), model = spot_arena_counting();

    CHECK_OK(&cpu, spot_model_take(&cpu, &model, &b->m, s.width, s.outputs));
    CHECK_OK(&cpu, spot_arena_open(&cpu, &b->host, model.peak));
    CHECK_OK(&cpu, spot_model_take(&cpu, &b->host, &b->m, s.width, s.outputs));
    lay_net(b, &count, s);
    spot_net_close(&b->c, &b->net);
    CHECK_OK(&b->c, spot_arena_open(&b->c, &b->device, count.peak));
    lay_net(b, &b->device, s);
    fill_model(&b->m);
    CHECK_OK(&b->c, spot_net_put(&b->c, &b->net, &b->m));
}

static void close_school(school *b)
{
    spot_net_close(&b->c, &b->net);
    spot_arena_close(&b->device);
    spot_arena_close(&b->host);
    spot_device_close(&b->c);
    free(b->gradient);
}

/* The gradient as a model of its own. */
static void keep_gradient(school *b)
{
    spot_net view = b->net;

    for (int u = 0; u < SPOT_UNITS; u++) {
        view.w[u] = view.dw[u];
        view.norm[u].weight = view.norm[u].dweight;
        view.norm[u].bias = view.norm[u].dbias;
    }
    view.fc_w = view.fc_dw;
    view.fc_b = view.fc_db;
    CHECK_OK(&b->c, spot_net_get(&b->c, &b->m, &view));
    b->gradient = memcpy(malloc(4 * b->m.floats), b->m.value, 4 * b->m.floats);
}

static void attend(school *b, spot_net_shape s, const spot_optim_rule *rule)
{
    size_t nx = (size_t)s.rows * s.size * s.size * 3;
    float *x = malloc(4 * nx), *y = malloc(4 * (size_t)s.rows * s.outputs);
    spot_optim_rule r = *rule;

    open_school(b, s);
    r.rounded = b->net.rounded;
    for (int step = 0; step < TRAIN_STEPS; step++) {
        fill_batch(x, y, step, &s, LIVE);
        CHECK_OK(&b->c, spot_device_copy(&b->c, b->x, x, 4 * nx));
        CHECK_OK(&b->c, spot_device_copy(&b->c, b->y, y, 4 * (size_t)LIVE * s.outputs));
        CHECK_OK(&b->c, spot_net_forward(&b->c, &b->net, b->x, LIVE, true));
        CHECK_OK(&b->c, spot_net_backward(&b->c, &b->net, b->y, LIVE, b->loss));
        if (!step) keep_gradient(b);
        r.t = step + 1;
        CHECK_OK(&b->c, spot_optim_step(&b->c, b->net.param, b->net.grad, b->net.moment, b->net.square, b->net.params, &r));
        CHECK_OK(&b->c, spot_device_copy(&b->c, &b->losses[step], b->loss, sizeof(double)));
        CHECK_OK(&b->c, spot_device_copy(&b->c, b->logit[step], b->net.logit, sizeof b->logit[step]));
    }
    CHECK_OK(&b->c, spot_net_forward(&b->c, &b->net, b->x, LIVE, false));         /* with the running statistics */
    CHECK_OK(&b->c, spot_net_get(&b->c, &b->m, &b->net));
    free(x), free(y);
}

/* The root of the mean square difference of a gradient's tensors over that of the tensor, the worst of all. */
static double worst_tensor(const school *got, const school *want)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS];
    double worst = 0;

    spot_model_layout(table, got->m.width, got->m.outputs);
    for (int t = 0; t < SPOT_RESNET18_TENSORS; t++) {
        double off = 0, all = 0;
        if (t < 120 && t % 6 > 2) continue;
        for (size_t i = table[t].offset; i < table[t].offset + table[t].count; i++) {
            off += pow((double)got->gradient[i] - want->gradient[i], 2);
            all += pow(want->gradient[i], 2);
        }
        if (!isfinite(off)) fail_msg("%s: the gradient is not finite", table[t].name);
        worst = fmax(worst, sqrt(off / all));
    }
    return worst;
}

/* Runs a CUDA net and holds it to the CPU's. */
static void compare_school(school *got, const school *want, spot_net_shape s, int schedule, const double bound[3])
{
    double off[3];

    *got = (school){ .c = { .threads = 1 } };
    open_cuda(&got->c, schedule);
    attend(got, s, &sgd);
    off[0] = apart(got->logit[0], want->logit[0], LIVE);
    off[1] = fabs(got->losses[TRAIN_STEPS - 1] / want->losses[TRAIN_STEPS - 1] - 1);
    off[2] = worst_tensor(got, want);
    print_message("%s: logits off by %.1e, loss %d by %.1e, the worst gradient by %.1e\n", s.precision ? "bf16" : "fp32",
                  off[0], TRAIN_STEPS, off[1], off[2]);
    for (int i = 0; i < 3; i++) CHECK_NEAR(off[i], 0, bound[i]);
}

/* Six images of eight rows, in two lanes on the CPU. bf16 has 8 bits and twenty layers to lose them in, and the last batch
 * norms see six values each: it must go the same way, no more. */
static void a_net_learns_the_same(void **state)
{
    static const double fp32[3] = { 1e-4, 1e-5, 1e-4 }, bf16_bound[3] = { 0.2, 0.1, 0.6 };
    spot_net_shape s = { .width = 16, .outputs = 1, .size = 32, .rows = 8, .lanes = 2 };
    school want = { .c = check_ctx(2) }, one, two;
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution_agrees),
        cmocka_unit_test(what_cuda_cannot_is_refused),
        cmocka_unit_test(a_net_learns_the_same),
    };

    return run_or_skip(tests, LEN(tests));
}
