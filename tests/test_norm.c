/* test_norm.c - batch norm, ReLU, residual and pool against a few lines in double, whose finite differences are the
 * gradients. Rows behind `live` hold NaN: one that entered a sum would show. ctest: threads, both */
#include "check_norm.h"

enum { CHANNELS = 32 };
static const norm_case cases[] = {
    { ALONE,    { 5, 4, CHANNELS,  6, SPOT_FP32 }, false },
    { ALONE,    { 3, 3, CHANNELS, 18, SPOT_FP32 }, true  },     /* 324 pixels: more than one fp32 sum */
    { IDENTITY, { 4, 3, CHANNELS,  7, SPOT_FP32 }, true  },
    { IDENTITY, { 6, 6, CHANNELS,  1, SPOT_FP32 }, false },     /* layer 4 of a 32 px image */
    { SHORTCUT, { 5, 3, CHANNELS,  6, SPOT_FP32 }, true  },
    { SHORTCUT, { 2, 2, CHANNELS, 17, SPOT_FP32 }, false },
    { POOLED,   { 4, 3, CHANNELS,  6, SPOT_FP32 }, true  },
    { POOLED,   { 2, 2, CHANNELS, 18, SPOT_FP32 }, false },
};
enum { MEAN = 10 };                    /* far from 0, as behind a ReLU */

/* -- the same in double, one channel: batch norm knows no other --------------------------------------------------- */

enum { MOST = 1024 };
typedef struct {
    kind   kind;
    int    live, size, side;
    double y[MOST], y2[MOST], g[MOST], out[MOST];      /* live images after one another */
    double weight[2], bias[2], mean, var;
} channel;

static channel channel_of(const bed *b, int ch)
{
    channel r = { .kind = b->kind, .live = b->p.live, .size = b->p.size, .side = b->q.size };
    int pixels = r.size * r.size, places = r.side * r.side;

    for (int i = 0; i < r.live * pixels; i++) {
        size_t at = place(i / pixels, ch, i % pixels, CHANNELS, pixels);
        r.y[i] = b->y[at], r.y2[i] = b->y2[at];
    }
    for (int i = 0; i < r.live * places; i++) {
        size_t at = place(i / places, ch, i % places, CHANNELS, places);
        r.g[i] = b->da[at] + (b->db ? (double)b->db[at] : 0);
    }
    for (int j = 0; j < 2; j++) r.weight[j] = b->l[j].weight[ch], r.bias[j] = b->l[j].bias[ch];
    return r;
}

static void normalise(double *z, const double *y, int n, double weight, double bias, double *mean, double *var)
{
    *mean = *var = 0;
    for (int i = 0; i < n; i++) *mean += y[i] / n;
    for (int i = 0; i < n; i++) *var += (y[i] - *mean) * (y[i] - *mean) / n;
    for (int i = 0; i < n; i++) z[i] = (y[i] - *mean) / sqrt(*var + 1e-5) * weight + bias;
}

/* The first of the largest in the 3x3 window of place p, -1 if none is above 0. */
static int winner(const double *z, int p, int size)
{
    int best = -1;

    for (int k = 0; k < 9; k++) {
        int row = p / (size / 2) * 2 + k / 3 - 1, col = p % (size / 2) * 2 + k % 3 - 1, i = row * size + col;
        if (row < 0 || row >= size || col < 0 || col >= size) continue;
        if (z[i] > (best < 0 ? 0 : z[best])) best = i;
    }
    return best;
}

/* Fills out; returns sum(g * out), whose derivatives are what backward must leave. */
static double objective(channel *r)
{
    int pixels = r->size * r->size, n = r->live * pixels, places = r->side * r->side;
    double z[MOST], z2[MOST], sum = 0, mean2, var2;

    normalise(z, r->y, n, r->weight[0], r->bias[0], &r->mean, &r->var);
    normalise(z2, r->y2, n, r->weight[1], r->bias[1], &mean2, &var2);
    for (int i = 0; i < r->live * places; i++) {
        const double *image = z + i / places * pixels;
        int w = r->kind == POOLED ? winner(image, i % places, r->size) : 0;
        r->out[i] = r->kind == POOLED ? (w < 0 ? 0 : image[w])
                  : z[i] + (r->kind == IDENTITY ? r->y2[i] : r->kind == SHORTCUT ? z2[i] : 0);
        if (r->out[i] < 0) r->out[i] = 0;
        sum += r->g[i] * r->out[i];
    }
    return sum;
}

/* v lies in r. Far from a kink of the ReLU the error is about 1e-9. */
static double slope(channel *r, double *v)
{
    double was = *v, h = 1e-6, up, down;

    *v = was + h;
    up = objective(r);
    *v = was - h;
    down = objective(r);
    *v = was;
    return (up - down) / (2 * h);
}

/* -- tests ------------------------------------------------------------------------------------------------------ */

TEST(forward_is_the_formula)
{
    spot_ctx c = check_ctx(2);
    double worst = 0;
    for (int k = 0; k < LEN(cases); k++) {
        bed b = make_bed(&cases[k], MEAN);
        int places = b.q.size * b.q.size, n = b.p.live * b.p.size * b.p.size;
        float running[2];
        for (int ch = 0; ch < CHANNELS; ch++) {
            channel r = channel_of(&b, ch);
            if (!ch) running[0] = b.l[0].running_mean[0], running[1] = b.l[0].running_var[0], forward(&c, &b);
            objective(&r);
            CHECK_NEAR(b.l[0].mean[ch] / r.mean, 1, 1e-6);
            CHECK_NEAR(b.l[0].invstd[ch] * sqrt(r.var + 1e-5), 1, 1e-6);
            if (!ch) CHECK_NEAR(b.l[0].running_mean[0], 0.9 * running[0] + 0.1 * r.mean, 1e-6);
            if (!ch) CHECK_NEAR(b.l[0].running_var[0], 0.9 * running[1] + 0.1 * r.var * n / (n - 1), 1e-6);
            for (int i = 0; i < b.p.live * places; i++) {
                double got = b.out[place(i / places, ch, i % places, CHANNELS, places)];
                /* |y| < 12; and invstd may be off by 1e-6 of itself, so what it scales is */
                CHECK_NEAR(got, r.out[i], 0x1p-22 * 12 * fabs(b.l[0].scale[ch]) + 1e-6 * (1 + fabs(r.out[i])));
                worst = fmax(worst, fabs(got - r.out[i]));
            }
        }
        for (size_t i = numbers(b.q) / b.p.rows * b.p.live; i < numbers(b.q); i++) assert_true(b.out[i] == 0);
        clear_bed(&b);
    }
    print_message("forward: off by %.1e\n", worst);
}

TEST(gradients_are_finite_differences)
{
    spot_ctx c = check_ctx(2);
    static const int some[] = { 0, 13, CHANNELS - 1 };
    double worst = 0;
    for (int k = 0; k < LEN(cases); k++) {
        bed b = make_bed(&cases[k], MEAN);
        channel r[LEN(some)];
        for (int s = 0; s < LEN(some); s++) r[s] = channel_of(&b, some[s]);
        forward(&c, &b);
        backward(&c, &b, b.dz);
        for (int s = 0; s < LEN(some); s++) {
            int pixels = b.p.size * b.p.size, ch = some[s], n = b.p.live * pixels;
            double scale = 0, scale2 = 1;
            for (int i = 0; i < n; i++) scale = fmax(scale, fabs(slope(&r[s], &r[s].y[i])));
            for (int i = 0; i < n; i++) scale2 = fmax(scale2, fabs(slope(&r[s], &r[s].y2[i])));
            for (int i = 0; i < n; i++) {
                size_t at = place(i / pixels, ch, i % pixels, CHANNELS, pixels);
                double off = b.y[at] - slope(&r[s], &r[s].y[i]);
                CHECK_NEAR(off, 0, 1e-6 * scale);
                worst = fmax(worst, fabs(off) / scale);
                if (b.kind == IDENTITY) CHECK_NEAR(b.dz[at], slope(&r[s], &r[s].y2[i]), 1e-6 * scale2);
                if (b.kind == SHORTCUT) CHECK_NEAR(b.y2[at], slope(&r[s], &r[s].y2[i]), 1e-6 * scale2);
            }
            for (int j = 0; j < 1 + (b.kind == SHORTCUT); j++) {
                CHECK_NEAR(b.l[j].dweight[ch], slope(&r[s], &r[s].weight[j]), 1e-6 * n);
                CHECK_NEAR(b.l[j].dbias[ch], slope(&r[s], &r[s].bias[j]), 1e-6 * n);
            }
        }
        for (size_t i = numbers(b.p) / b.p.rows * b.p.live; i < numbers(b.p); i++) assert_true(b.y[i] == 0);
        clear_bed(&b);
    }
    print_message("backward: off by %.1e of the largest\n", worst);
}

/* Small whole numbers, so that most windows hold equals: the gradient goes to the first. */
TEST(pool_gives_ties_to_the_first)
{
    bed b = make_bed(&cases[6], MEAN);
    int size = b.p.size, pixels = size * size, places = pixels / 4;
    spot_ctx c = check_ctx(2);
    for (size_t i = 0; i < numbers(b.p); i++) b.y[i] = isnan(b.y[i]) ? NAN : (float)((int)b.y[i] % 3 - 1);
    for (int ch = 0; ch < CHANNELS; ch++) b.l[0].scale[ch] = 1, b.l[0].shift[ch] = 0;
    CHECK_OK(&c, spot_norm_pool(&c, b.out, b.at, b.y, &b.l[0], b.p));
    for (int ch = 0; ch < CHANNELS; ch++) {
        channel r = channel_of(&b, ch);
        for (int i = 0; i < b.p.live * places; i++) {
            int p = i % places, w = winner(r.y + i / places * pixels, p, size);
            size_t at = place(i / places, ch, p, CHANNELS, places);
            int row = p / (size / 2) * 2 + b.at[at] / 3 - 1, col = p % (size / 2) * 2 + b.at[at] % 3 - 1;
            CHECK_NEAR(b.out[at], w < 0 ? 0 : r.y[i / places * pixels + w], 0);
            assert_in_range(row, 0, size - 1);         /* within the image, winner or not: backward goes there */
            assert_in_range(col, 0, size - 1);
            if (w >= 0) assert_int_equal(row * size + col, w);
        }
    }
    clear_bed(&b);
}

TEST(threads_leave_no_trace)
{
    spot_ctx c = check_ctx(1), d = check_ctx(2);
    for (int k = 0; k < LEN(cases); k++) {
        bed one = make_bed(&cases[k], MEAN), two = make_bed(&cases[k], MEAN);
        forward(&c, &one), forward(&d, &two);
        assert_memory_equal(one.out, two.out, numbers(one.q) * sizeof(float));
        backward(&c, &one, one.dz), backward(&d, &two, two.dz);
        assert_memory_equal(one.y, two.y, numbers(one.p) * sizeof(float));
        assert_memory_equal(one.y2, two.y2, numbers(one.p) * sizeof(float));
        assert_memory_equal(one.dz, two.dz, numbers(one.q) * sizeof(float));
        for (int i = 0; i < 2 * PARTS; i++)
            assert_memory_equal(*part(&one.l[i / PARTS], i % PARTS), *part(&two.l[i / PARTS], i % PARTS),
                                CHANNELS * sizeof(float));
        clear_bed(&one);
        clear_bed(&two);
    }
}

/* One broken pixel: into the statistics of its channel, and with fixed ones through ReLU and pool. */
TEST(nan_comes_through)
{
    spot_ctx c = check_ctx(1);
    for (int k = 0; k < LEN(cases); k++) {
        bed b = make_bed(&cases[k], MEAN);
        forward(&c, &b);
        b.y[place(0, 5, 0, CHANNELS, b.p.size * b.p.size)] = NAN;
        if (b.kind == POOLED) CHECK_OK(&c, spot_norm_pool(&c, b.out, b.at, b.y, &b.l[0], b.p));
        else CHECK_OK(&c, spot_norm_apply(&c, b.out, b.y, &b.l[0], NULL, NULL, b.p));
        assert_true(isnan(b.out[place(0, 5, 0, CHANNELS, b.q.size * b.q.size)]));
        forward(&c, &b);
        assert_true(isnan(b.l[0].mean[5]) && isnan(b.l[0].shift[5]) && isfinite(b.l[0].mean[6]));
        backward(&c, &b, b.dz);
        assert_true(isnan(b.l[0].dweight[5]) && isfinite(b.l[0].dweight[6]));
        clear_bed(&b);
    }
}

TEST(constant_channels_and_fixed_statistics)
{
    bed b = make_bed(&cases[0], MEAN);
    spot_ctx c = check_ctx(2);
    spot_norm *l = &b.l[0];
    for (size_t i = 0; i < numbers(b.p); i++) b.y[i] = 1e4f / 3;
    forward(&c, &b);
    for (int ch = 0; ch < CHANNELS; ch++) CHECK_NEAR(l->invstd[ch] * sqrt(1e-5), 1, 1e-6);
    l->running_mean[3] = 2, l->running_var[3] = 4, l->weight[3] = 6, l->bias[3] = 1;
    CHECK_OK(&c, spot_norm_fixed(&c, l, CHANNELS));
    CHECK_NEAR(l->scale[3], 3, 1e-5);
    CHECK_NEAR(l->shift[3], -5, 2e-5);
    CHECK_FAILS(&c, spot_norm_stats(&c, l, b.y, (spot_plane){ 2, 3, CHANNELS, 4, SPOT_FP32 }, NULL), SPOT_INVALID,
                "norm.sizes: 3 | 2");
    CHECK_FAILS(&c, spot_norm_pool(&c, b.out, NULL, b.y, l, (spot_plane){ 1, 1, CHANNELS, 5, SPOT_FP32 }), SPOT_INVALID,
                "norm.pool_size");
    clear_bed(&b);
}
