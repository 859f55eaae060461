/* test_triplet.c - the triplet loss against PyTorch's autograd, its definition and finite differences. ctest: threads, both */
#include "check_tensor.h"

#include "net/triplet.h"

enum { LIVE = 7, CHANNELS = 5, OUTPUTS = 3, N = LIVE * CHANNELS };

typedef struct { spot_triplet_batch t; float f[N], target[LIVE * OUTPUTS], df[N]; double loss; } bed;

static bed make_bed(uint32_t seed, double margin)
{
    bed b = { .t = { LIVE, CHANNELS, OUTPUTS, margin, 0.5, NULL, NULL } };
    float *f = random_tensor(N, seed);

    memcpy(b.f, f, sizeof b.f);
    free(f);
    for (int i = 0; i < LIVE; i++) b.target[i * OUTPUTS + i % 2 + (i == 3)] = 0.75f;       /* 0 1 0 2 0 1 0 */
    return b;
}

static void run(bed *b, int threads)
{
    void *scratch = malloc(spot_triplet_scratch(LIVE));
    spot_ctx c = check_ctx(threads);

    b->t.f = b->f, b->t.target = b->target;
    CHECK_OK(&c, spot_triplet_loss(&c, &b->loss, b->df, &b->t, scratch));
    free(scratch);
}

/* tools/golden/triplet.py has the same numbers: f of seven rows, then the loss and its gradient by f, in double. */
TEST(loss_and_gradients_are_pytorchs)
{
    FILE *file = fopen("golden/triplet.txt", "r");
    double margin, want;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "#%*[^\n]"), 0);
    for (int k = 0; k < 3; k++) {
        bed b = make_bed(0, 0);
        assert_int_equal(fscanf(file, "%lf", &margin), 1);
        b.t.margin = margin;
        for (int i = 0; i < N; i++) assert_int_equal(fscanf(file, "%f", &b.f[i]), 1);
        run(&b, 1);
        assert_int_equal(fscanf(file, "%lf", &want), 1);
        CHECK_NEAR(b.loss, want, 1e-12);
        for (int i = 0; i < N; i++) {
            assert_int_equal(fscanf(file, "%lf", &want), 1);
            CHECK_NEAR(b.df[i], want, 1e-8);
        }
    }
    fclose(file);
}

/* From the definition. */
static double loss_of(const bed *b)
{
    static const int cls[LIVE] = { 0, 1, 0, 2, 0, 1, 0 };
    double u[LIVE][CHANNELS], sum = 0;
    int all = 0;

    for (int i = 0; i < LIVE; i++) {
        double length = 0;
        for (int k = 0; k < CHANNELS; k++) length += (double)b->f[i * CHANNELS + k] * b->f[i * CHANNELS + k];
        for (int k = 0; k < CHANNELS; k++) u[i][k] = length > 0 ? b->f[i * CHANNELS + k] / sqrt(length) : 0;
    }
    for (int a = 0; a < LIVE; a++)
        for (int p = 0; p < LIVE; p++)
            for (int n = 0; n < LIVE && p != a; n++) {
                double by = b->t.margin;
                if (cls[p] != cls[a] || cls[n] == cls[a]) continue;
                for (int k = 0; k < CHANNELS; k++) by += pow(u[a][k] - u[p][k], 2) - pow(u[a][k] - u[n][k], 2);
                sum += fmax(0, by);
                all++;
            }
    return b->t.weight * sum / all;
}

TEST(gradients_are_slopes_of_the_definition)
{
    static const double margin[] = { 0, 0.2, 1, 5 };      /* 5: every triplet counts */

    for (int k = 0; k < LEN(margin); k++) {
        bed b = make_bed((uint32_t)k, margin[k]);
        b.loss = 0.25;
        run(&b, 2);
        CHECK_NEAR(b.loss, 0.25 + loss_of(&b), 1e-12);
        for (int i = 0; i < N; i++) {
            float was = b.f[i], up = was + 0x1p-14f, down = was - 0x1p-14f;
            double high, low;
            b.f[i] = up, high = loss_of(&b);
            b.f[i] = down, low = loss_of(&b);
            b.f[i] = was;
            CHECK_NEAR(b.df[i], (high - low) / ((double)up - down), 2e-6);
        }
    }
}

TEST(threads_leave_no_trace)
{
    bed one = make_bed(1, 0.2), two = make_bed(1, 0.2);

    run(&one, 1);
    run(&two, 2);
    assert_true(one.loss == two.loss);
    assert_memory_equal(one.df, two.df, sizeof one.df);
}

/* No triplets: no loss. A row of zeros has no direction and no gradient. A NaN is seen. */
TEST(odd_batches)
{
    bed b = make_bed(2, 0.2);
    spot_ctx c = check_ctx(1);

    for (int k = 0; k < CHANNELS; k++) b.f[2 * CHANNELS + k] = 0;
    run(&b, 1);
    CHECK_NEAR(b.loss, loss_of(&b), 1e-12);
    for (int i = 0; i < N; i++) assert_true(i / CHANNELS == 2 ? b.df[i] == 0 : isfinite(b.df[i]));
    b.f[4] = NAN;
    b.loss = 0;
    run(&b, 1);
    assert_true(isnan(b.loss) && isnan(b.df[0]));
    for (int i = 0; i < LIVE; i++)
        for (int o = 0; o < OUTPUTS; o++) b.target[i * OUTPUTS + o] = o == 1;
    b.loss = 3;
    run(&b, 1);
    assert_true(b.loss == 3);
    for (int i = 0; i < N; i++) assert_true(b.df[i] == 0);
    b.t.margin = NAN;
    CHECK_FAILS(&c, spot_triplet_loss(&c, &b.loss, b.df, &b.t, NULL), SPOT_INVALID, "triplet.margin: margin nan");
    b.t.live = 0;
    CHECK_FAILS(&c, spot_triplet_loss(&c, &b.loss, b.df, &b.t, NULL), SPOT_INVALID, "triplet.sizes: 0");
}
