/* test_conv.c - convolution and its gradients against plain loops in double and against finite differences.
 * ctest: threads, both */
#include "check_tensor.h"
#include "net/conv_blocks.h"
#include "net/conv_winograd.h"
#include "spotter/rng.h"

#define DIRECT (SPOT_CHANNELS == 16 ? 1e-6 : 2e-6)      /* registers of eight floats sum in another order */

/* pieces of rows/lanes images; from 64 tiles of 4x4 pixels a piece on, 3x3 with stride 1 goes by Winograd (32 for the
 * weight gradient and for inference). `inference`: bias, the other summand and the ReLU in one. */
static const struct { spot_conv_shape s; int rows; double tolerance; } cases[] = {
    { {  4, 2,   3, 16, 7, 2, 32, true,  false, false, false, SPOT_FP32 },  4, DIRECT },   /* the stem */
    { {  6, 3,  16, 48, 3, 1,  5, true,  false, false, false, SPOT_FP32 },  4, DIRECT },   /* odd size, not all rows */
    { {  4, 2,   3, 32, 7, 2, 36, 2,     false, false, false, SPOT_FP32 },  4, DIRECT },   /* back to the image, too */
    { {  3, 1,   3, 16, 3, 1,  5, 2,     false, false, false, SPOT_FP32 },  3, DIRECT },
    { {  4, 2,  32, 16, 3, 2, 12, true,  false, false, false, SPOT_FP32 },  4, DIRECT },
    { {  4, 2,  32, 64, 1, 2,  8, true,  false, false, false, SPOT_FP32 },  4, DIRECT },   /* a shortcut */
    { {  3, 1,  16, 32, 1, 1,  7, true,  false, false, false, SPOT_FP32 },  3, DIRECT },
    { {  4, 2, 512, 16, 3, 1,  2, true,  false, false, false, SPOT_FP32 },  4, DIRECT },   /* deep: sums of 4608 */
    { {  8, 2,  16, 32, 3, 1, 16, true,  false, false, false, SPOT_FP32 },  8, 4e-6 },   /* Winograd, 64 tiles */
    { { 16, 2, 128, 16, 3, 1,  7, true,  false, false, false, SPOT_FP32 }, 16, 4e-6 },   /* the weights by Winograd */
    { { 16, 1, 256, 16, 3, 1,  8, true,  false, false, false, SPOT_FP32 }, 16, 4e-6 },   /* Winograd, deep */
    { {  4, 2,  16, 32, 3, 1,  6, false, true,  true,  true,  SPOT_FP32 },  4, DIRECT },
    { {  8, 2,  32, 16, 3, 1, 16, false, true,  true,  true,  SPOT_FP32 },  8, 4e-6 },   /* the same by Winograd */
    { {  4, 2,   3, 16, 7, 2, 32, false, true,  false, false, SPOT_FP32 },  2, DIRECT },
    { { 16, 2,  48, 80, 3, 1, 10, false, true,  false, false, SPOT_FP32 },  8, 4e-6 },   /* tiles over the edge, not all rows */
    { { 24, 3, 128, 16, 3, 1,  7, false, false, true,  true,  SPOT_FP32 }, 24, 4e-6 },
    { {  8, 1,   3, 32, 3, 1, 12, false, true,  false, true,  SPOT_FP32 },  8, DIRECT },     /* a stem for small pictures */
    { { 16, 1,  16, 32, 3, 1, 32, false, true,  false, true,  SPOT_FP32 }, 16, 4e-6 },       /* 1,024 tiles, for all threads */
    { {  4, 2,   3, 16, 11, 4, 28, true, false, false, false, SPOT_FP32 },  4, DIRECT },     /* AlexNet's stem */
    { {  4, 2,   3, 32, 11, 4, 36, 2,    false, false, false, SPOT_FP32 },  2, DIRECT },
    { {  6, 3,   3, 64, 11, 4, 64, false, true, false, true,  SPOT_FP32 },  4, DIRECT },
};

typedef struct {
    spot_conv_shape s;
    int    rows, out;
    size_t nx, ny, nw;
    float *x, *y, *dy, *dx, *oihw, *w, *dw, *dw_oihw, *bias, *other;
} bed;

static bed make_bed(spot_conv_shape s, int rows)
{
    bed b = { .s = s, .rows = rows, .out = spot_conv_out(&s) };

    b.nx = (size_t)rows * s.ci * s.size * s.size;
    b.ny = (size_t)rows * s.co * b.out * b.out;
    b.nw = (size_t)s.co * s.ci * s.k * s.k;
    b.x = random_tensor(b.nx, 0), b.dx = random_tensor(b.nx, 1);
    b.dy = random_tensor(b.ny, 2), b.y = random_tensor(b.ny, 3), b.other = random_tensor(b.ny, 4);
    b.oihw = random_tensor(b.nw, 5), b.w = random_tensor(4 * b.nw, 6), b.dw = random_tensor(b.nw, 7);
    b.dw_oihw = random_tensor(b.nw, 8), b.bias = random_tensor(s.co, 9);
    return b;
}

static void clear_bed(bed *b)
{
    float *all[] = { b->x, b->y, b->dy, b->dx, b->oihw, b->w, b->dw, b->dw_oihw, b->bias, b->other };

    for (int i = 0; i < LEN(all); i++) free(all[i]);
}

/* All passes that the plan knows, on a plan of its own. */
static void run(bed *b, int threads)
{
    spot_ctx c = check_ctx(threads);
    spot_conv *plan;
    void *scratch;

    CHECK_OK(&c, spot_conv_open(&c, &plan, &b->s));
    scratch = room(spot_conv_scratch(&c, plan));
    assert_in_range(spot_conv_packed(&c, plan), b->nw, (b->s.train ? 1 : 4) * b->nw);
    CHECK_OK(&c, spot_conv_pack(&c, plan, b->w, b->oihw));
    if (b->s.add) memcpy(b->y, b->other, b->ny * sizeof(float));
    CHECK_OK(&c, spot_conv_forward(&c, plan, b->y,
                                   &(spot_conv_terms){ b->x, b->w, b->s.bias ? b->bias : NULL, b->s.add ? b->y : NULL },
                                   b->rows, scratch));
    if (b->s.train > (b->s.ci == 3))
        CHECK_OK(&c, spot_conv_backward_data(&c, plan, b->dx, b->dy, b->w, b->rows, scratch));
    if (b->s.train) {
        CHECK_OK(&c, spot_conv_backward_weights(&c, plan, b->dw, b->x, b->dy, b->rows, scratch));
        CHECK_OK(&c, spot_conv_unpack(&c, plan, b->dw_oihw, b->dw));
    }
    free(scratch);
    spot_conv_close(&c, plan);
}

/* One output (n, o, p): its sum; with dx and dw, what its gradient g gives to the summands. */
static double one_output(const bed *b, int n, int o, int p, double g, double *dx, double *dw)
{
    const spot_conv_shape *s = &b->s;
    const int pad = spot_conv_pad(s);
    double sum = 0;

    for (int i = 0; i < s->ci; i++)
        for (int ky = 0; ky < s->k; ky++)
            for (int kx = 0; kx < s->k; kx++) {
                int row = p / b->out * s->stride + ky - pad, col = p % b->out * s->stride + kx - pad;
                size_t w = (((size_t)o * s->ci + i) * s->k + ky) * s->k + kx, x;
                if (row < 0 || row >= s->size || col < 0 || col >= s->size) continue;
                x = place(n, i, row * s->size + col, s->ci, s->size * s->size);
                sum += (double)b->x[x] * b->oihw[w];
                dx[x] += g * b->oihw[w];
                dw[w] += g * b->x[x];
            }
    return sum;
}

TEST(agrees_with_loops_in_double)
{
    for (int k = 0; k < LEN(cases); k++) {
        bed b = make_bed(cases[k].s, cases[k].rows);
        double *y = calloc(b.ny, sizeof *y), *dx = calloc(b.nx, sizeof *dx), *dw = calloc(b.nw, sizeof *dw), off[3];
        run(&b, 2);
        for (int n = 0; n < b.rows; n++)
            for (int o = 0; o < b.s.co; o++)
                for (int p = 0; p < b.out * b.out; p++) {
                    size_t at = place(n, o, p, b.s.co, b.out * b.out);
                    y[at] = one_output(&b, n, o, p, b.dy[at], dx, dw) + b.s.bias * b.bias[o] + b.s.add * b.other[at];
                    if (b.s.relu && y[at] < 0) y[at] = 0;
                }
        off[0] = distance(b.y, y, b.ny);
        off[1] = b.s.train > (b.s.ci == 3) ? distance(b.dx, dx, b.nx) : 0;
        off[2] = b.s.train ? distance(b.dw_oihw, dw, b.nw) : 0;
        print_message("case %2d: off by %.1e, data %.1e, weights %.1e\n", k, off[0], off[1], off[2]);
        for (int i = 0; i < 3; i++) CHECK_NEAR(off[i], 0, cases[k].tolerance);
        free(y), free(dx), free(dw);
        clear_bed(&b);
    }
}

/* sum(dy * y), whose gradients the backward passes claim to be. */
static double objective(bed *b)
{
    double sum = 0;

    run(b, 1);
    for (size_t i = 0; i < b->ny; i++) sum += (double)b->dy[i] * b->y[i];
    return sum;
}

/* The objective is linear in x and in w, so a step as large as 16 has no error but rounding. */
static void finite_difference(bed *b, float *v, const float *gradient, size_t at)
{
    float was = v[at], claimed;
    double up, down;

    run(b, 1);
    claimed = gradient[at];
    v[at] = was + 16;
    up = objective(b);
    v[at] = was - 16;
    down = objective(b);
    v[at] = was;
    CHECK_NEAR((up - down) / 32, claimed, 1e-3);
}

TEST(gradients_are_finite_differences)
{
    for (int k = 0; k < LEN(cases); k++) {
        bed b = make_bed(cases[k].s, cases[k].rows);
        for (size_t i = 0; i < 3 && b.s.train; i++) {
            if (b.s.train > (b.s.ci == 3)) finite_difference(&b, b.x, b.dx, i * (b.nx - 1) / 2);
            finite_difference(&b, b.oihw, b.dw_oihw, i * (b.nw - 1) / 2);
        }
        clear_bed(&b);
    }
}

TEST(threads_leave_no_trace)
{
    for (int k = 0; k < LEN(cases); k++) {
        bed one = make_bed(cases[k].s, cases[k].rows), two = make_bed(cases[k].s, cases[k].rows);
        run(&one, 1);
        run(&two, 2);
        assert_memory_equal(one.y, two.y, one.ny * sizeof(float));
        assert_memory_equal(one.dx, two.dx, one.nx * sizeof(float));
        assert_memory_equal(one.dw, two.dw, one.nw * sizeof(float));
        clear_bed(&one);
        clear_bed(&two);
    }
}

/* Weights that have been transformed are 36 for each 9: by oneDNN with AVX-512, and by conv_winograd.h with AVX2. */
TEST(weights_for_looking_are_transformed)
{
    const spot_conv_shape *s = &cases[12].s;
    spot_ctx c = check_ctx(1);
    spot_conv *plan;

    CHECK_OK(&c, spot_conv_open(&c, &plan, s));
    const size_t packed = spot_conv_packed(&c, plan);
    spot_conv_close(&c, plan);
    if (SPOT_CHANNELS < 16 && !spot_conv_winograd_able(s)) skip();
    assert_int_equal(packed, 36 * s->ci * s->co);
}

/* A thread has one scratchpad, however many lanes it runs. */
TEST(scratch_grows_with_threads_and_not_with_lanes)
{
    const spot_conv_shape s = { .rows = 64, .lanes = 8, .size = 16, .ci = 32, .co = 32, .k = 3, .stride = 1 };
    size_t bytes[2];

    for (int i = 0; i < 2; i++) {
        spot_ctx c = check_ctx(i ? 8 : 1);
        spot_conv *plan;
        CHECK_OK(&c, spot_conv_open(&c, &plan, &s));
        bytes[i] = spot_conv_scratch(&c, plan);
        spot_conv_close(&c, plan);
    }
    assert_true(bytes[0] * 8 == bytes[1]);
}

TEST(nan_comes_through)
{
    for (int k = 0; k < LEN(cases); k++) {
        bed b = make_bed(cases[k].s, cases[k].rows);
        int seen = b.s.relu;
        b.x[place(0, 1, 0, b.s.ci, b.s.size * b.s.size)] = NAN;
        run(&b, 2);
        for (size_t i = 0; i < b.ny; i++) seen |= isnan(b.y[i]);
        if (!seen) fail_msg("case %d: NaN went in, none came out", k);
        clear_bed(&b);
    }
}

TEST(wrong_calls_are_refused)
{
    spot_ctx c = check_ctx(1);
    spot_conv_shape s = cases[1].s, odd = s, thin = s, uneven = s;
    spot_conv *plan;
    odd.k = 4;
    thin.co = 24;
    uneven.lanes = 4;
    CHECK_FAILS(&c, spot_conv_open(&c, &plan, &odd), SPOT_INVALID, "conv.kernel: kernel 4");
    CHECK_FAILS(&c, spot_conv_open(&c, &plan, &thin), SPOT_INVALID, "conv.channels: 16 | 24");
    CHECK_FAILS(&c, spot_conv_open(&c, &plan, &uneven), SPOT_INVALID, "conv.lanes: 6");
    assert_null(plan);
    CHECK_OK(&c, spot_conv_open(&c, &plan, &s));
    CHECK_FAILS(&c, spot_conv_forward(&c, plan, NULL, &(spot_conv_terms){ NULL, NULL, NULL, NULL }, 5,
                                      NULL), SPOT_INVALID, "conv.pieces: 2");
    spot_conv_close(&c, plan);
    CHECK_OK(&c, spot_conv_open(&c, &plan, &cases[12].s));
    CHECK_FAILS(&c, spot_conv_unpack(&c, plan, NULL, NULL), SPOT_INVALID, "conv.plan_kind");
    CHECK_FAILS(&c, spot_conv_backward_weights(&c, plan, NULL, NULL, NULL, 8, NULL), SPOT_INVALID, "conv.plan_kind");
    spot_conv_close(&c, plan);
}

/* The gradient by the weights in blocks, as a CPU computes it whose oneDNN has only reference code, against plain sums. */
TEST(gradients_in_blocks_are_plain_sums)
{
    static const spot_conv_shape shape[] = {
        { .rows = 6, .lanes = 2, .size = 1, .ci = 32, .co = 16, .k = 3, .stride = 1, .train = 1 },
        { .rows = 4, .lanes = 1, .size = 2, .ci = 16, .co = 32, .k = 3, .stride = 1, .train = 1 },
        { .rows = 4, .lanes = 4, .size = 4, .ci = 16, .co = 16, .k = 3, .stride = 2, .train = 1 },
        { .rows = 3, .lanes = 1, .size = 6, .ci = 16, .co = 16, .k = 5, .stride = 1, .train = 1 },
        { .rows = 5, .lanes = 1, .size = 2, .ci = 32, .co = 16, .k = 1, .stride = 2, .train = 1 },
    };
    enum { B = SPOT_CHANNELS, MOST = 32 * 32 * 25, PIXELS = 6 * 36 * 32 };
    static float x[PIXELS], dy[PIXELS], dw[MOST], again[MOST];
    spot_ctx one = check_ctx(1), two = check_ctx(2);

    for (int q = 0; q < LEN(shape); q++) {
        const spot_conv_shape *s = &shape[q];
        const int out = spot_conv_out(s), pad = spot_conv_pad(s), side = s->size;
        spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 0, (uint32_t)q);
        for (int i = 0; i < s->rows * s->ci * side * side; i++) x[i] = (float)spot_rng_normal(&r);
        for (int i = 0; i < s->rows * s->co * out * out; i++) dy[i] = (float)spot_rng_normal(&r);
        spot_conv_block_weights(&one, s, dw, x, dy, s->rows);
        spot_conv_block_weights(&two, s, again, x, dy, s->rows);
        assert_memory_equal(dw, again, (size_t)s->co * (size_t)s->ci * (size_t)(s->k * s->k) * sizeof *dw);
        for (int o = 0; o < s->co; o++)
            for (int i = 0; i < s->ci; i++)
                for (int t = 0; t < s->k * s->k; t++) {
                    double sum = 0;
                    for (int n = 0; n < s->rows; n++)
                        for (int p = 0; p < out * out; p++) {
                            const int iy = p / out * s->stride + t / s->k - pad, ix = p % out * s->stride + t % s->k - pad;
                            if (iy < 0 || ix < 0 || iy >= side || ix >= side) continue;
                            sum += (double)x[(((n * s->ci / B + i / B) * side + iy) * side + ix) * B + i % B]
                                   * (double)dy[((n * s->co / B + o / B) * out * out + p) * B + o % B];
                        }
                    CHECK_NEAR(dw[(((o / B) * (s->ci / B) + i / B) * s->k * s->k + t) * B * B + i % B * B + o % B], sum, 1e-4);
                }
    }
}
