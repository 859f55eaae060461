/* test_head.c - pooled features, the linear layer and its loss against double and finite differences. ctest: threads */
#include "check_tensor.h"

#include "net/head.h"

enum { OUTPUTS = 3 };
static const spot_plane planes[] = { { 5, 4, 32, 7, SPOT_FP32 }, { 1, 1, 16, 1, SPOT_FP32 }, { 6, 6, 128, 2, SPOT_FP32 } };

typedef struct {
    spot_plane p;
    size_t nx, nf, nz, nw;
    float *x, *w, *b, *target, *feature, *logit, *dlogit, *dx, *dw, *db;
    double loss;
} bed;

static bed make_bed(spot_plane p)
{
    bed t = { .p = p, .nx = (size_t)p.rows * p.channels * p.size * p.size, .nf = (size_t)p.live * p.channels,
              .nz = (size_t)p.live * OUTPUTS, .nw = (size_t)OUTPUTS * p.channels };

    t.x = random_tensor(t.nx, 0), t.w = random_tensor(t.nw, 1), t.b = random_tensor(OUTPUTS, 2);
    t.target = random_tensor(t.nz, 3), t.feature = random_tensor(t.nf, 4), t.logit = random_tensor(t.nz, 5);
    t.dlogit = random_tensor(t.nz, 6), t.dx = random_tensor(t.nx, 7), t.dw = random_tensor(t.nw, 8);
    t.db = random_tensor(OUTPUTS, 9);
    for (size_t i = 0; i < t.nz; i++) t.target[i] = t.target[i] > 0;
    for (size_t i = t.nx / p.rows * p.live; i < t.nx; i++) t.x[i] = NAN;      /* padding that enters no sum */
    return t;
}

static void clear_bed(bed *t)
{
    float *all[] = { t->x, t->w, t->b, t->target, t->feature, t->logit, t->dlogit, t->dx, t->dw, t->db };

    for (int i = 0; i < LEN(all); i++) free(all[i]);
}

static void run(bed *t, int threads)
{
    spot_ctx c = check_ctx(threads);

    CHECK_OK(&c, spot_head_forward(&c, t->feature, t->logit, t->x, t->w, t->b, t->p, OUTPUTS));
    CHECK_OK(&c, spot_head_loss(&c, &t->loss, t->dlogit, t->logit, t->target, (int)t->nz));
    CHECK_OK(&c, spot_head_backward(&c, t->dx, t->dw, t->db, t->dlogit, t->feature, t->w, t->p, OUTPUTS));
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

/* By a step of 1/64 up and down, exact in fp32 for what is not tiny; the loss is smooth: its error is (1/64)^2/6 of the
 * third derivative, which two steps (1/64 and 1/32) cancel (Richardson). */
static double slope(const bed *t, float *v)
{
    float was = *v;
    double d[2];

    for (int k = 0; k < 2; k++) {
        float up = was + 0x1p-6f * (1 + k), down = was - 0x1p-6f * (1 + k);
        *v = up;
        d[k] = loss_of(t);
        *v = down;
        d[k] = (d[k] - loss_of(t)) / ((double)up - down);
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
    CHECK_FAILS(&c, spot_head_loss(&c, &loss, d, logit, target, 0), SPOT_INVALID, "0 logits");
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
