/* test_bf16_ops.c - the network's ops on the CPU in bf16, against plain loops in double over the same rounded numbers.
 * ctest: threads, both */
#define _DEFAULT_SOURCE   /* MAP_ANONYMOUS */
#include "check_bf16_conv.h"

#include "core/imagenet.h"
#include "net/attack.h"
#include "net/head.h"
#include "net/optim.h"

#define LOST 4e-6      /* of the largest number, by sums in fp32 */

/* -- convolution ------------------------------------------------------------------------------------------------- */

static const struct { spot_conv_shape s; int rows; } convs[] = {
    { {  4, 2,   3, 64, 7, 2, 32, true,  false, false, false, SPOT_BF16 }, 4 },     /* the stem */
    { {  4, 2,   3, 32, 7, 2, 36, 2,     false, false, false, SPOT_BF16 }, 4 },     /* back to the image, too */
    { {  6, 3,  16, 48, 3, 1,  5, true,  false, false, false, SPOT_BF16 }, 4 },     /* odd size, not all rows */
    { {  4, 2,  32, 16, 3, 2, 12, true,  false, false, false, SPOT_BF16 }, 4 },
    { {  4, 2,  48, 64, 1, 2,  8, true,  false, false, false, SPOT_BF16 }, 4 },     /* a shortcut */
    { {  3, 1,  16, 32, 1, 1,  7, true,  false, false, false, SPOT_BF16 }, 3 },
    { {  4, 2, 512, 16, 3, 1,  2, true,  false, false, false, SPOT_BF16 }, 4 },     /* deep: sums of 4608 */
    { {  4, 4,   3, 32, 7, 2, 128, true, false, false, false, SPOT_BF16 }, 3 },    /* the stem on larger images */
    { {  6, 2,  16, 16, 3, 1, 96, true,  false, false, false, SPOT_BF16 }, 6 },     /* more pixels than the caches hold */
    { {  2, 1,  48, 32, 3, 2, 64, true,  false, false, false, SPOT_BF16 }, 2 },
    { {  3, 1, 256, 512, 3, 1, 5, true,  false, false, false, SPOT_BF16 }, 3 },     /* deep: all passes by AMX */
    { {  8, 4, 512, 256, 3, 1, 2, true,  false, false, false, SPOT_BF16 }, 6 },
    { {  4, 2, 256, 512, 3, 2, 6, true,  false, false, false, SPOT_BF16 }, 4 },
    { {  4, 2, 256, 512, 3, 2, 6, false, true,  false, true,  SPOT_BF16 }, 2 },
    { {  3, 3, 512, 512, 3, 1, 3, false, true,  true,  true,  SPOT_BF16 }, 3 },
    { {  3, 1, 512, 512, 3, 1, 2, false, true,  true,  false, SPOT_BF16 }, 3 },
    { {  8, 2,  64, 96, 3, 1, 14, true,  false, false, false, SPOT_BF16 }, 8 },
    { {  4, 2,  16, 32, 3, 1,  6, false, true,  true,  true,  SPOT_BF16 }, 4 },
    { {  8, 2,  64, 64, 3, 1, 16, false, true,  true,  true,  SPOT_BF16 }, 8 },
    { {  4, 2,   3, 64, 7, 2, 32, false, true,  false, false, SPOT_BF16 }, 2 },
};

/* One output (n, o, p): its sum, and what its gradient gives to the summands. */
static double one_output(const bed *b, int n, int o, int p, double *dx, double *dw)
{
    const spot_conv_shape *s = &b->s;
    double sum = 0, g = spot_bf16_float(b->dy[place_half(n, o, p, s->co, b->out * b->out)]);

    for (int i = 0; i < s->ci; i++)
        for (int ky = 0; ky < s->k; ky++)
            for (int kx = 0; kx < s->k; kx++) {
                int row = p / b->out * s->stride + ky - s->k / 2, col = p % b->out * s->stride + kx - s->k / 2;
                size_t w = (((size_t)o * s->ci + i) * s->k + ky) * s->k + kx, x;
                double rounded = spot_bf16_float(spot_bf16_bits(b->oihw[w]));
                if (row < 0 || row >= s->size || col < 0 || col >= s->size) continue;
                x = place_half(n, i, row * s->size + col, s->ci, s->size * s->size);
                sum += spot_bf16_float(b->x[x]) * rounded;
                dx[x] += g * rounded;
                dw[w] += g * spot_bf16_float(b->x[x]);
            }
    return sum;
}

TEST(convolutions_agree_with_loops)
{
    NEEDS_BF16();
    for (int k = 0; k < LEN(convs); k++) {
        bed b = make_bed(convs[k].s, convs[k].rows, BEHIND);
        double *y = calloc(b.ny, sizeof *y), *dx = calloc(b.nx, sizeof *dx), *dw = calloc(b.nw, sizeof *dw), off = 0;
        run(&b, 2);
        for (int n = 0; n < b.rows; n++)
            for (int o = 0; o < b.s.co; o++)
                for (int p = 0; p < b.out * b.out; p++) {
                    size_t at = place_half(n, o, p, b.s.co, b.out * b.out);
                    y[at] = one_output(&b, n, o, p, dx, dw) + b.s.bias * b.bias[o]
                          + b.s.add * spot_bf16_float(b.other[at]);
                    if (b.s.relu && y[at] < 0) y[at] = 0;
                }
        check_halves(b.y, y, b.ny, LOST, "forward");
        if (b.s.train > (b.s.ci == 3)) check_halves(b.dx, dx, b.nx, LOST, "data");
        if (b.s.train) off = distance(b.dw_oihw, dw, b.nw);
        print_message("case %2d: weights off by %.1e\n", k, off);
        CHECK_NEAR(off, 0, LOST);
        free(y), free(dx), free(dw);
        clear_bed(&b);
    }
}

TEST(convolutions_have_the_same_bits_on_any_threads)
{
    NEEDS_BF16();
    for (int k = 0; k < LEN(convs); k++) {
        bed one = make_bed(convs[k].s, convs[k].rows, BEHIND), three = make_bed(convs[k].s, convs[k].rows, BEHIND);
        run(&one, 1);
        run(&three, 3);
        assert_memory_equal(one.y, three.y, one.ny * sizeof *one.y);
        assert_memory_equal(one.dx, three.dx, one.nx * sizeof *one.dx);
        assert_memory_equal(one.dw, three.dw, one.nw * sizeof *one.dw);
        clear_bed(&one), clear_bed(&three);
    }
}

/* -- batch norm -------------------------------------------------------------------------------------------------- */

typedef enum { ALONE, IDENTITY, SHORTCUT, POOLED } kind;
static const struct { kind kind; spot_plane p; bool db; } norms[] = {
    { ALONE,    { 5, 4, 32,  6, SPOT_BF16 }, false }, { ALONE,    { 3, 3, 48, 18, SPOT_BF16 }, true  },
    { IDENTITY, { 4, 3, 16,  7, SPOT_BF16 }, true  }, { IDENTITY, { 6, 6, 64,  1, SPOT_BF16 }, false },
    { SHORTCUT, { 5, 3, 32,  6, SPOT_BF16 }, true  }, { SHORTCUT, { 2, 2, 16, 17, SPOT_BF16 }, false },
    { POOLED,   { 4, 3, 32,  6, SPOT_BF16 }, true  }, { POOLED,   { 2, 2, 48, 18, SPOT_BF16 }, false },
};

typedef struct {
    kind kind;
    spot_plane p, q;            /* of y, of out */
    spot_norm l[2];
    uint16_t *y, *y2, *out, *da, *db, *dz, *was, *was2;
    unsigned char *at;
    void *scratch;
} norm_bed;

static void make_norm(norm_bed *b, int k)
{
    size_t n, to, live;

    *b = (norm_bed){ .kind = norms[k].kind, .p = norms[k].p, .q = norms[k].p };
    if (b->kind == POOLED) b->q.size /= 2;
    n = numbers(b->p), to = numbers(b->q), live = n / b->p.rows * b->p.live;
    b->y = random_halves(n, 0, 3, 0.5f), b->y2 = random_halves(n, 1, -1, 1), b->out = random_halves(to, 2, 0, 1);
    b->da = random_halves(to, 3, 0, 1), b->db = norms[k].db ? random_halves(to, 4, 0, 1) : NULL;
    b->dz = random_halves(n, 5, 0, 1), b->at = room(to), b->scratch = room(spot_norm_scratch(b->p));
    for (size_t i = live; i < n; i++) b->y[i] = b->y2[i] = 0x7fc0;      /* NaN behind the live rows */
    b->was = memcpy(room(n * 2), b->y, n * 2), b->was2 = memcpy(room(n * 2), b->y2, n * 2);
    for (int j = 0; j < 2; j++) {
        float **part[] = { &b->l[j].weight, &b->l[j].bias, &b->l[j].running_mean, &b->l[j].running_var, &b->l[j].mean,
                           &b->l[j].invstd, &b->l[j].scale, &b->l[j].shift, &b->l[j].dweight, &b->l[j].dbias };
        for (int i = 0; i < LEN(part); i++) *part[i] = random_tensor((size_t)b->p.channels, (uint32_t)(10 + 10 * j + i));
    }
}

static void clear_norm(norm_bed *b)
{
    void *all[] = { b->y, b->y2, b->out, b->da, b->db, b->dz, b->was, b->was2, b->at, b->scratch };

    for (int i = 0; i < LEN(all); i++) free(all[i]);
    for (int j = 0; j < 2; j++) {
        void *part[] = { b->l[j].weight, b->l[j].bias, b->l[j].running_mean, b->l[j].running_var, b->l[j].mean,
                         b->l[j].invstd, b->l[j].scale, b->l[j].shift, b->l[j].dweight, b->l[j].dbias };
        for (int i = 0; i < LEN(part); i++) free(part[i]);
    }
}

static void run_norm(norm_bed *b, int threads, bool back)
{
    spot_ctx c = check_ctx(threads);
    bool shortcut = b->kind == SHORTCUT, joined = shortcut || b->kind == IDENTITY;
    spot_norm_back d = { .da = b->da, .db = b->db, .out = joined ? b->out : NULL, .dz = joined ? b->dz : NULL, .y = b->y,
                         .y2 = shortcut ? b->y2 : NULL, .a = &b->l[0], .b = shortcut ? &b->l[1] : NULL };

    if (!back) {
        CHECK_OK(&c, spot_norm_stats(&c, &b->l[0], b->y, b->p, b->scratch));
        if (shortcut) CHECK_OK(&c, spot_norm_stats(&c, &b->l[1], b->y2, b->p, b->scratch));
        if (b->kind == POOLED) CHECK_OK(&c, spot_norm_pool(&c, b->out, b->at, b->y, &b->l[0], b->p));
        else CHECK_OK(&c, spot_norm_apply(&c, b->out, b->y, &b->l[0], joined ? b->y2 : NULL, shortcut ? &b->l[1] : NULL, b->p));
    } else if (b->kind == POOLED) {
        CHECK_OK(&c, spot_norm_pool_back(&c, &(spot_norm_pooled){ b->y, b->da, b->db, b->out, b->at }, &b->l[0], b->p,
                                         b->scratch));
    } else {
        CHECK_OK(&c, spot_norm_backward(&c, &d, b->p, b->scratch));
    }
}

static double number(const uint16_t *v, int n, int ch, int i, spot_plane p)
{
    return spot_bf16_float(v[place_half(n, ch, i, p.channels, p.size * p.size)]);
}

static void check_stats(const spot_norm *l, const uint16_t *y, int ch, spot_plane p)
{
    int pixels = p.size * p.size, count = p.live * pixels;
    double mean = 0, var = 0;

    for (int i = 0; i < count; i++) mean += number(y, i / pixels, ch, i % pixels, p) / count;
    for (int i = 0; i < count; i++) var += pow(number(y, i / pixels, ch, i % pixels, p) - mean, 2) / count;
    CHECK_NEAR(l->mean[ch], mean, 1e-6 * fabs(mean) + 1e-7);
    CHECK_NEAR(l->invstd[ch] * sqrt(var + 1e-5), 1, 1e-5);
}

/* z = bn(y) of pixel i. */
static double normal(const spot_norm *l, const uint16_t *y, int n, int ch, int i, spot_plane p)
{
    return number(y, n, ch, i, p) * l->scale[ch] + l->shift[ch];
}

/* The pixel of the window that the op says has won must have its largest value; -1 where all are at most 0. */
static int winner(const norm_bed *b, int n, int ch, int w, double *most)
{
    int side = b->q.size, size = b->p.size, best = -1, at = b->at[place_half(n, ch, w, b->p.channels, side * side)];

    *most = 0;
    for (int k = 0; k < 9; k++) {
        int row = w / side * 2 + k / 3 - 1, col = w % side * 2 + k % 3 - 1;
        double z;
        if (row < 0 || row >= size || col < 0 || col >= size) continue;
        z = normal(&b->l[0], b->was, n, ch, row * size + col, b->p);
        if (z > *most) *most = z, best = k;
    }
    if (best < 0) return -1;
    assert_int_equal(best, at);
    return (w / side * 2 + best / 3 - 1) * size + w % side * 2 + best % 3 - 1;
}

TEST(norm_forward_is_the_formula)
{
    NEEDS_BF16();
    for (int k = 0; k < LEN(norms); k++) {
        norm_bed b;
        make_norm(&b, k);
        run_norm(&b, 2, false);
        for (int ch = 0; ch < b.p.channels; ch++) {
            check_stats(&b.l[0], b.was, ch, b.p);
            if (b.kind == SHORTCUT) check_stats(&b.l[1], b.was2, ch, b.p);
            for (int n = 0; n < b.p.rows; n++)
                for (int i = 0; i < b.q.size * b.q.size; i++) {
                    double want = 0, got = number(b.out, n, ch, i, b.q);
                    if (n < b.p.live && b.kind == POOLED) winner(&b, n, ch, i, &want);
                    else if (n < b.p.live) want = normal(&b.l[0], b.was, n, ch, i, b.p);
                    if (n < b.p.live && b.kind == IDENTITY) want += number(b.was2, n, ch, i, b.p);
                    if (n < b.p.live && b.kind == SHORTCUT) want += normal(&b.l[1], b.was2, n, ch, i, b.p);
                    want = want < 0 ? 0 : want;
                    CHECK_NEAR(got, want, 0x1p-8 * 1.001 * want + 0x1p-22 * 8 * (1 + fabs(b.l[0].scale[ch])));
                }
        }
        clear_norm(&b);
    }
}

/* dz of pixel i of y's plane, in full, and where there are two tensors to join, as it is written for the second pass. */
static double gradient_at(const norm_bed *b, int n, int ch, int i, const double *pooled)
{
    double g;

    if (b->kind == POOLED) return pooled[n * b->p.size * b->p.size + i];
    g = number(b->da, n, ch, i, b->p) + (b->db ? number(b->db, n, ch, i, b->p) : 0);
    if (b->kind == ALONE) return normal(&b->l[0], b->was, n, ch, i, b->p) > 0 ? g : 0;
    return number(b->out, n, ch, i, b->p) > 0 ? g : 0;
}

/* The gradients of the windows at their winners' pixels. */
static void spread_windows(double *pooled, const norm_bed *b, int ch)
{
    int pixels = b->p.size * b->p.size;

    memset(pooled, 0, (size_t)b->p.live * pixels * sizeof *pooled);
    for (int n = 0; n < b->p.live; n++)
        for (int w = 0; w < pixels / 4; w++) {
            double most, g = number(b->da, n, ch, w, b->q) + (b->db ? number(b->db, n, ch, w, b->q) : 0);
            int at = winner(b, n, ch, w, &most);
            if (at >= 0) pooled[n * pixels + at] += g;
        }
}

static void check_channel(const norm_bed *b, const spot_norm *l, const uint16_t *was, const uint16_t *got, int ch,
                          const double *pooled)
{
    int pixels = b->p.size * b->p.size, count = b->p.live * pixels;
    double sum = 0, dot = 0, a = (double)l->weight[ch] * l->invstd[ch], size = 0;

    for (int i = 0; i < count; i++) {
        double dz = gradient_at(b, i / pixels, ch, i % pixels, pooled);
        sum += dz, size += fabs(dz);
        dot += dz * (number(was, i / pixels, ch, i % pixels, b->p) - l->mean[ch]) * l->invstd[ch];
    }
    CHECK_NEAR(l->dbias[ch], sum, 1e-6 * size);
    CHECK_NEAR(l->dweight[ch], dot, 1e-5 * size);
    for (int i = 0; i < b->p.rows * pixels; i++) {
        int n = i / pixels, at = i % pixels;
        double dz = n < b->p.live ? gradient_at(b, n, ch, at, pooled) : 0, y = number(got, n, ch, at, b->p), want;
        if (n >= b->p.live) assert_true(y == 0);
        if (n >= b->p.live) continue;
        if (b->kind == IDENTITY || b->kind == SHORTCUT) {
            CHECK_NEAR(number(b->dz, n, ch, at, b->p), dz, 0x1p-8 * 1.001 * fabs(dz));
            dz = number(b->dz, n, ch, at, b->p);
        }
        want = a * dz - a * l->invstd[ch] * dot / count * (number(was, n, ch, at, b->p) - l->mean[ch]) - a * sum / count;
        CHECK_NEAR(y, want, 0x1p-8 * 1.001 * fabs(want) + 1e-5 * (1 + fabs(a)));
    }
}

TEST(norm_backward_is_the_formula)
{
    NEEDS_BF16();
    for (int k = 0; k < LEN(norms); k++) {
        double *pooled;
        norm_bed b;
        make_norm(&b, k);
        pooled = malloc(numbers(b.p) * sizeof *pooled);
        run_norm(&b, 2, false);
        run_norm(&b, 2, true);
        for (int ch = 0; ch < b.p.channels; ch++) {
            if (b.kind == POOLED) spread_windows(pooled, &b, ch);
            check_channel(&b, &b.l[0], b.was, b.y, ch, pooled);
            if (b.kind == SHORTCUT) check_channel(&b, &b.l[1], b.was2, b.y2, ch, pooled);
        }
        free(pooled);
        clear_norm(&b);
    }
}

TEST(norms_have_the_same_bits_on_any_threads)
{
    NEEDS_BF16();
    for (int k = 0; k < LEN(norms); k++) {
        norm_bed one, three;
        make_norm(&one, k), make_norm(&three, k);
        for (int back = 0; back < 2; back++) run_norm(&one, 1, back), run_norm(&three, 3, back);
        assert_memory_equal(one.out, three.out, numbers(one.q) * 2);
        assert_memory_equal(one.y, three.y, numbers(one.p) * 2);
        assert_memory_equal(one.l[0].dweight, three.l[0].dweight, one.p.channels * sizeof(float));
        clear_norm(&one), clear_norm(&three);
    }
}

/* -- head, optimizer, attack --------------------------------------------------------------------------------------- */

TEST(head_agrees_with_loops)
{
    static const struct { spot_plane p; int outputs; } heads[] = {
        { { 5, 4, 32, 7, SPOT_BF16 }, 3 }, { { 1, 1, 16, 1, SPOT_BF16 }, 1 }, { { 6, 6, 128, 2, SPOT_BF16 }, 2 } };
    NEEDS_BF16();
    for (int k = 0; k < LEN(heads); k++) {
        spot_ctx c = check_ctx(2);
        spot_plane p = heads[k].p;
        int outputs = heads[k].outputs, pixels = p.size * p.size;
        size_t n = numbers(p);
        uint16_t *x = random_halves(n, 0, 0, 1), *dx = random_halves(n, 1, 0, 1);
        float *w = random_tensor((size_t)outputs * p.channels, 2), *dw = random_tensor((size_t)outputs * p.channels, 3);
        float bias[3] = { 0.25f, -1, 2 }, db[3], logit[18], *dlogit = random_tensor(18, 4);
        float *feature = random_tensor(6 * 128, 5);
        double *want = calloc(n, sizeof *want);
        CHECK_OK(&c, spot_head_forward(&c, &(spot_head_answers){ feature, logit, x, w, bias }, p, outputs));
        CHECK_OK(&c, spot_head_backward(&c, &(spot_head_gradients){ dx, dw, db, dlogit, feature, w, NULL }, p, outputs));
        for (int row = 0; row < p.live; row++)
            for (int ch = 0; ch < p.channels; ch++) {
                double sum = 0, back = 0;
                for (int i = 0; i < pixels; i++) sum += number(x, row, ch, i, p) / pixels;
                CHECK_NEAR(feature[row * p.channels + ch], sum, 1e-6);
                for (int o = 0; o < outputs; o++) back += (double)dlogit[row * outputs + o] * w[o * p.channels + ch] / pixels;
                for (int i = 0; i < pixels; i++) want[place_half(row, ch, i, p.channels, pixels)] = back;
            }
        check_halves(dx, want, n, 1e-7, "dx");
        free(x), free(dx), free(w), free(dw), free(dlogit), free(feature), free(want);
    }
}

TEST(optimizer_rounds_what_it_leaves)
{
    enum { N = 1003 };
    for (int by = SPOT_OPTIM_SGD; by <= SPOT_OPTIM_RMSPROP; by++) {
        spot_ctx c = check_ctx(3);
        float *v[2][4];
        uint16_t rounded[N];
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 4; i++) v[k][i] = random_tensor(N, (uint32_t)i);
        for (int i = 0; i < N; i++) v[0][3][i] = v[1][3][i] = fabsf(v[0][3][i]);
        for (int k = 0; k < 2; k++) {
            spot_optim_rule r = { .kind = (spot_optim_kind)by, .lr = 0.01, .decay = 0.1, .momentum = 0.9, .beta1 = 0.9,
                                  .beta2 = 0.999, .epsilon = 1e-8, .t = 2, .rounded = k ? rounded : NULL };
            CHECK_OK(&c, spot_optim_step(&c, v[k][0], v[k][1], v[k][2], v[k][3], N, &r));
        }
        for (int i = 0; i < 4; i++) assert_memory_equal(v[0][i], v[1][i], N * sizeof(float));
        for (int i = 0; i < N; i++) assert_int_equal(rounded[i], spot_bf16_bits(v[1][0][i]));
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 4; i++) free(v[k][i]);
    }
}

/* In fp32 the images are planes; the change must be the same, and x is rounded from it. */
TEST(attack_is_that_of_fp32)
{
    enum { ROWS = 3, LIVE = 2, SIZE = 8, PIXELS = SIZE * SIZE, N = ROWS * 3 * PIXELS };
    NEEDS_BF16();
    for (int random = 0; random < 2; random++) {
        spot_ctx c = check_ctx(2);
        int made = 3;
        spot_attack_rule rule = { .epsilon = 0.5, .length = 0.3, .random = random, .seed = 3, .ec = 9, .made = &made };
        spot_plane p = { ROWS, LIVE, 3, SIZE, SPOT_BF16 }, q = { ROWS, LIVE, 3, SIZE, SPOT_FP32 };
        uint16_t *clean = random_halves(N, 0, 0, 1), *grad = random_halves(N, 1, 0, 1), *x = random_halves(N, 2, 0, 1);
        float *d = random_tensor(N, 3), *want = random_tensor(N, 4);
        float *clean32 = room(4 * N), *grad32 = room(4 * N), *x32 = room(4 * N);
        for (int i = 0; i < N; i++) {
            int ch = i % 3, pixel = i / 3 % PIXELS, row = i / 3 / PIXELS;
            size_t to = ((size_t)row * 3 + ch) * PIXELS + pixel;
            float v = spot_bf16_float(clean[i]) / 4 + 0.5f;
            clean[i] = spot_bf16_bits(((v < 0 ? 0 : v > 1 ? 1 : v) - spot_imagenet[0][ch]) / spot_imagenet[1][ch]);
            clean32[to] = spot_bf16_float(clean[i]), grad32[to] = spot_bf16_float(grad[i]);
        }
        CHECK_OK(&c, spot_attack_start(&c, x, d, clean, p, &rule));
        CHECK_OK(&c, spot_attack_start(&c, x32, want, clean32, q, &rule));
        for (int i = 0; i < 3; i++) {
            CHECK_OK(&c, spot_attack_move(&c, x, d, clean, grad, p, &rule));
            CHECK_OK(&c, spot_attack_move(&c, x32, want, clean32, grad32, q, &rule));
        }
        for (int i = 0; i < LIVE * 3 * PIXELS; i++) {
            size_t to = ((size_t)(i / 3 / PIXELS) * 3 + i % 3) * PIXELS + i / 3 % PIXELS;
            CHECK_NEAR(d[i], want[to], 1e-6);
            CHECK_NEAR(spot_bf16_float(x[i]), x32[to], 0x1p-8 * 1.001 * fabs(x32[to]) + 1e-5);
        }
        free(clean), free(grad), free(x), free(d), free(want), free(clean32), free(grad32), free(x32);
    }
}
