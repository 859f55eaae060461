/* test_head.c - pooled features, the linear layer and its loss against double and finite differences. ctest: threads, both */
#include "check_tensor.h"

#include "net/head.h"

enum { OUTPUTS = 3 };
static const spot_plane planes[] = { { 5, 4, 32, 7, SPOT_FP32 }, { 1, 1, 16, 1, SPOT_FP32 }, { 6, 6, 128, 2, SPOT_FP32 } };

typedef struct {
    spot_plane p;
    size_t nx, nf, nz, nw;
    float *x, *w, *b, *target, *pull, *feature, *logit, *dlogit, *dx, *dw, *db;
    double loss;
} bed;

static bed make_bed(spot_plane p)
{
    bed t = { .p = p, .nx = (size_t)p.rows * p.channels * p.size * p.size, .nf = (size_t)p.live * p.channels,
              .nz = (size_t)p.live * OUTPUTS, .nw = (size_t)OUTPUTS * p.channels };

    t.x = random_tensor(t.nx, 0), t.w = random_tensor(t.nw, 1), t.b = random_tensor(OUTPUTS, 2);
    t.target = random_tensor(t.nz, 3), t.feature = random_tensor(t.nf, 4), t.logit = random_tensor(t.nz, 5);
    t.dlogit = random_tensor(t.nz, 6), t.dx = random_tensor(t.nx, 7), t.dw = random_tensor(t.nw, 8);
    t.db = random_tensor(OUTPUTS, 9), t.pull = random_tensor(t.nf, 10);
    for (size_t i = 0; i < t.nz; i++) t.target[i] = t.target[i] > 0;
    for (size_t i = t.nx / p.rows * p.live; i < t.nx; i++) t.x[i] = NAN;      /* padding that enters no sum */
    return t;
}

static void clear_bed(bed *t)
{
    float *all[] = { t->x, t->w, t->b, t->target, t->feature, t->logit, t->dlogit, t->dx, t->dw, t->db, t->pull };

    for (int i = 0; i < LEN(all); i++) free(all[i]);
}

static void run(bed *t, int threads)
{
    spot_ctx c = check_ctx(threads);

    CHECK_OK(&c, spot_head_forward(&c, &(spot_head_answers){ t->feature, t->logit, t->x, t->w, t->b }, t->p, OUTPUTS));
    CHECK_OK(&c, spot_head_loss(&c, &t->loss, t->dlogit, t->logit, t->target, (int)t->nz));
    CHECK_OK(&c, spot_head_backward(&c, &(spot_head_gradients){ t->dx, t->dw, t->db, t->dlogit, t->feature, t->w, t->pull },
                                    t->p, OUTPUTS));
}

/* The whole head, from its definition. */
static double loss_of(const bed *t)
{
    int pixels = t->p.size * t->p.size;
    double loss = 0;

    for (int i = 0; i < t->p.live * OUTPUTS; i++) {
        int n = i / OUTPUTS, o = i % OUTPUTS;
        double z = t->b[o];
        for (int k = 0; k < t->p.channels; k++)
            for (int q = 0; q < pixels; q++)
                z += (double)t->x[place(n, k, q, t->p.channels, pixels)] * t->w[o * t->p.channels + k] / pixels;
        loss += t->target[i] > 0 ? log1p(exp(-z)) : log1p(exp(z));
    }
    return loss / (t->p.live * OUTPUTS);
}

/* The gradient that another loss sends to the features is that of sum pull * feature. */
static double pulled_loss_of(const bed *t)
{
    int pixels = t->p.size * t->p.size;
    double sum = loss_of(t);

    for (int i = 0; i < t->p.live * t->p.channels; i++)
        for (int q = 0; q < pixels; q++)
            sum += (double)t->pull[i] * t->x[place(i / t->p.channels, i % t->p.channels, q, t->p.channels, pixels)] / pixels;
    return sum;
}

/* The slope by a step of 1/64 up and down, exact in fp32 for what is not tiny; the loss is smooth: its error is (1/64)^2/6 of
 * the third derivative, which two steps (1/64 and 1/32) cancel (Richardson). */
static double slope(const bed *t, float *v)
{
    float was = *v;
    double d[2];

    for (int k = 0; k < 2; k++) {
        float up = was + 0x1p-6f * (1 + k), down = was - 0x1p-6f * (1 + k);
        *v = up;
        d[k] = pulled_loss_of(t);
        *v = down;
        d[k] = (d[k] - pulled_loss_of(t)) / ((double)up - down);
    }
    *v = was;
    return (4 * d[0] - d[1]) / 3;
}

static void check_slopes(bed *t, float *v, const float *gradient, size_t n)
{
    size_t step = n / 97 + 1;
    double off = 0, most = 0;

    for (size_t i = 0; i < n; i += step) {
        double want = slope(t, &v[i]);
        assert_true(isfinite(gradient[i]));
        most = fmax(most, fabs(want));
        off = fmax(off, fabs(gradient[i] - want));
    }
    CHECK_NEAR(off / most, 0, 1e-6);
}

TEST(loss_and_gradients_are_the_definition)
{
    for (int k = 0; k < LEN(planes); k++) {
        bed t = make_bed(planes[k]);
        size_t live = t.nx / t.p.rows * t.p.live;
        run(&t, 2);
        CHECK_NEAR(t.loss / loss_of(&t), 1, 1e-6);
        check_slopes(&t, t.x, t.dx, live);
        check_slopes(&t, t.w, t.dw, t.nw);
        check_slopes(&t, t.b, t.db, OUTPUTS);
        for (size_t i = live; i < t.nx; i++) assert_true(t.dx[i] == 0);
        clear_bed(&t);
    }
}

/* No overflow however sure the model is; NaN stays NaN. */
TEST(extreme_logits)
{
    float logit[] = { 1000, -1000, 1000, -1000, 0 }, target[] = { 1, 0, 0, 1, 1 }, d[5];
    spot_ctx c = check_ctx(1);
    double loss;
    CHECK_OK(&c, spot_head_loss(&c, &loss, d, logit, target, 5));
    CHECK_NEAR(loss, (2000 + log(2)) / 5, 1e-9);
    CHECK_NEAR(d[0], 0, 0);
    CHECK_NEAR(d[1], 0, 0);
    CHECK_NEAR(d[2], 0.2, 1e-7);
    CHECK_NEAR(d[3], -0.2, 1e-7);
    CHECK_NEAR(d[4], -0.1, 1e-7);
    for (int i = 0; i < 2; i++) {
        target[0] = (float)i;
        logit[0] = NAN;
        CHECK_OK(&c, spot_head_loss(&c, &loss, d, logit, target, 5));
        assert_true(isnan(loss) && isnan(d[0]) && isfinite(d[4]));
    }
    CHECK_FAILS(&c, spot_head_loss(&c, &loss, d, logit, target, 0), SPOT_INVALID, "head.loss_sizes: 0");
}

TEST(threads_leave_no_trace)
{
    for (int k = 0; k < LEN(planes); k++) {
        bed one = make_bed(planes[k]), two = make_bed(planes[k]);
        run(&one, 1);
        run(&two, 2);
        assert_true(one.loss == two.loss);
        assert_memory_equal(one.feature, two.feature, one.nf * sizeof(float));
        assert_memory_equal(one.dx, two.dx, one.nx * sizeof(float));
        assert_memory_equal(one.dw, two.dw, one.nw * sizeof(float));
        assert_memory_equal(one.db, two.db, OUTPUTS * sizeof(float));
        clear_bed(&one);
        clear_bed(&two);
    }
}

/* -- softmax ------------------------------------------------------------------------------------------------------- */

/* PyTorch 1.13.1, float64: F.cross_entropy(torch.tensor(z), torch.tensor(t)) and its gradient, for classes and for a row of
 * probabilities. */
TEST(softmax_is_pytorchs_cross_entropy)
{
    static const float logit[] = { 1.5f, -0.25f, 3, 0.5f, 0.5f, -8, -2, 0, 4 };
    static const float target[] = { 0, 0, 1, 1, 0, 0, 0.25f, 0.25f, 0.5f };
    static const double want[] = {
        1.1488173438730804, 0.05894006070248143, 0.01024224677547881, -0.06918230747796024, -0.16668362063928563,
        0.16664971269404769, 3.390794523795032e-05, -0.08252391399013621, -0.07735248839889027, 0.1598764023890265 };
    spot_ctx c = check_ctx(1);
    float d[9];
    double loss;

    CHECK_OK(&c, spot_head_softmax(&c, &loss, d, logit, target, 3, 3));
    CHECK_NEAR(loss, want[0], 1e-12);
    for (int i = 0; i < 9; i++) CHECK_NEAR(d[i], want[1 + i], 1e-8);
    CHECK_OK(&c, spot_head_softmax(&c, &loss, NULL, logit, target, 3, 3));
    CHECK_NEAR(loss, want[0], 1e-12);
}

static double softmax_loss(const float *logit, const float *target, int live, int outputs)
{
    double loss = 0;

    for (int n = 0; n < live; n++) {
        double sum = 0;
        for (int o = 0; o < outputs; o++) sum += exp(logit[n * outputs + o]);
        for (int o = 0; o < outputs; o++) loss -= target[n * outputs + o] * log(exp(logit[n * outputs + o]) / sum) / live;
    }
    return loss;
}

TEST(gradients_of_softmax_are_slopes)
{
    enum { LIVE = 5, N = LIVE * OUTPUTS };
    float *logit = random_tensor(N, 30), *target = random_tensor(N, 31), d[N];
    spot_ctx c = check_ctx(1);
    double loss;

    for (int i = 0; i < N; i++) target[i] = fabsf(target[i]);      /* rows of any sum */
    CHECK_OK(&c, spot_head_softmax(&c, &loss, d, logit, target, LIVE, OUTPUTS));
    CHECK_NEAR(loss, softmax_loss(logit, target, LIVE, OUTPUTS), 1e-9);
    for (int i = 0; i < N; i++) {
        float was = logit[i], up = was + 0x1p-10f, down = was - 0x1p-10f;
        double high, low;
        logit[i] = up, high = softmax_loss(logit, target, LIVE, OUTPUTS);
        logit[i] = down, low = softmax_loss(logit, target, LIVE, OUTPUTS);
        logit[i] = was;
        CHECK_NEAR(d[i], (high - low) / ((double)up - down), 1e-6);
    }
    free(logit);
    free(target);
}

TEST(softmax_of_extreme_logits)
{
    float logit[] = { 1e30f, -1e30f, 0, -500, 500, 0 }, target[] = { 1, 0, 0, 1, 0, 0 }, d[6];
    spot_ctx c = check_ctx(1);
    double loss;

    CHECK_OK(&c, spot_head_softmax(&c, &loss, d, logit, target, 2, 3));
    CHECK_NEAR(loss, 500, 1e-9);
    for (int i = 0; i < 6; i++) CHECK_NEAR(d[i], i == 3 ? -0.5 : i == 4 ? 0.5 : 0, 1e-12);
    for (int i = 0; i < 3; i++) {
        logit[0] = logit[1] = logit[2] = 0;
        logit[i] = NAN;
        CHECK_OK(&c, spot_head_softmax(&c, &loss, d, logit, target, 2, 3));
        assert_true(isnan(loss) && isnan(d[0]) && isnan(d[1]) && isnan(d[2]) && isfinite(d[3]));
    }
    CHECK_FAILS(&c, spot_head_softmax(&c, &loss, d, logit, target, 0, 3), SPOT_INVALID, "head.softmax_sizes: 0 | 3");
}

/* -- channels ------------------------------------------------------------------------------------------------------ */

static void check_activity(const bed *t, const float *v, int stride, bool relu)
{
    int pixels = t->p.size * t->p.size;

    for (int n = 0; n < t->p.live; n++) {
        double least = INFINITY, most = -INFINITY, sum[128] = { 0 };
        for (int k = 0; k < t->p.channels; k++)
            for (int q = 0; q < pixels; q++) {
                double x = t->x[place(n, k, q, t->p.channels, pixels)];
                if (relu && x < 0) x = 0;
                sum[k] += x / pixels;
                least = fmin(least, x), most = fmax(most, x);
            }
        for (int k = 0; k < t->p.channels; k++) CHECK_NEAR(v[n * stride + k], (sum[k] - least) / (most - least), 1e-6);
        for (int k = t->p.channels; k < stride; k++) assert_true(v[n * stride + k] == 7);
    }
}

TEST(activity_of_channels_is_the_definition)
{
    for (int i = 0; i < 2 * LEN(planes); i++) {
        bed t = make_bed(planes[i / 2]);
        int stride = t.p.channels + 5;
        float v[2][6 * 133];
        for (int threads = 1; threads <= 2; threads++) {
            spot_ctx c = check_ctx(threads);
            for (int k = 0; k < LEN(v[0]); k++) v[threads - 1][k] = 7;
            CHECK_OK(&c, spot_head_channels(&c, v[threads - 1], stride, t.x, t.p, i % 2));
        }
        check_activity(&t, v[0], stride, i % 2);
        assert_memory_equal(v[0], v[1], sizeof v[0]);
        clear_bed(&t);
    }
}

/* A picture of equal numbers has no scale; a NaN is seen. */
TEST(activity_without_a_scale)
{
    static const spot_plane p = { 2, 2, 16, 2, SPOT_FP32 };
    spot_ctx c = check_ctx(1);
    float x[128], v[32];

    for (int i = 0; i < LEN(x); i++) x[i] = i < 64 ? 3 : (float)i;
    x[place(1, 4, 2, p.channels, 4)] = NAN;
    CHECK_OK(&c, spot_head_channels(&c, v, 16, x, p, true));
    for (int k = 0; k < 16; k++) assert_true(v[k] == 0);
    for (int k = 0; k < 16; k++) assert_true(isnan(v[16 + k]) == (k == 4));
    CHECK_FAILS(&c, spot_head_channels(&c, v, 15, x, p, true), SPOT_INVALID, "head.channels: 15 | 16");
}
