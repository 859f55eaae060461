/* test_lstm.c - the policy that draws: PyTorch's draws, gradients and steps; slopes of log P; what is refused. test_cuda_lstm.c
 * has the bits of threads and of CUDA. ctest: threads, both */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "net/lstm.h"
#include "net/optim.h"
#include "spotter/rng.h"

typedef struct {
    spot_lstm_batch b;
    spot_lstm_layout at;
    float *theta, *uniform, *reward;
} bed;

static bed make_bed(int factors, int values, int hidden, int batch, int policies)
{
    bed d = { .b = { .shape = { factors, values, hidden, batch }, .policies = policies, .live = batch } };
    size_t lanes;

    d.at = spot_lstm_layout_of(&d.b.shape);
    lanes = (size_t)policies * (size_t)d.at.lanes;
    d.b.theta = d.theta = calloc((size_t)policies * d.at.count, sizeof(float));
    d.b.uniform = d.uniform = calloc(lanes * (size_t)factors, sizeof(float));
    d.b.reward = d.reward = calloc(lanes, sizeof(float));
    d.b.choice = calloc(lanes * (size_t)factors, sizeof(int));
    d.b.log_p = calloc(lanes, sizeof(float));
    d.b.trail = calloc((size_t)policies * d.at.trail, sizeof(float));
    d.b.slope = calloc((size_t)policies * d.at.count, sizeof(float));
    return d;
}

static void free_bed(bed *d)
{
    free(d->theta), free(d->uniform), free(d->reward), free(d->b.choice), free(d->b.log_p), free(d->b.trail), free(d->b.slope);
}

/* Whether place i of a policy is one of its numbers, and not what pads a row. */
static int is_number(const bed *d, size_t i)
{
    return (int)(i % (size_t)d->at.pitch) < d->b.shape.hidden + (i >= d->at.input);
}

static void fill(bed *d, uint32_t seed, double size)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_INIT, 0, 0);

    for (size_t i = 0; i < (size_t)d->b.policies * d->at.count; i++)
        d->theta[i] = is_number(d, i % d->at.count) ? (float)(size * spot_rng_normal(&r)) : 0;
    for (size_t i = 0; i < (size_t)(d->b.policies * d->b.shape.factors * d->at.lanes); i++)
        d->uniform[i] = (float)(spot_rng_u32(&r) >> 8) * 0x1p-24f;
    for (int i = 0; i < d->b.policies * d->at.lanes; i++) d->reward[i] = (float)spot_rng_normal(&r);
}

/* ---- PyTorch ---- */

static double next(FILE *f)
{
    double v;

    assert_int_equal(fscanf(f, "%lf", &v), 1);
    return v;
}

static void read_case(FILE *f)
{
    int size[4];
    bed d;
    spot_ctx c = check_ctx(1);
    float *m, *v;

    for (int i = 0; i < 4; i++) size[i] = (int)next(f);
    d = make_bed(size[0], size[1], size[2], size[3], 1);
    d.b.entropy = next(f);
    for (size_t i = 0; i < d.at.count; i++)
        if (is_number(&d, i)) d.theta[i] = (float)next(f);
    int *choice = calloc((size_t)(size[0] * d.at.lanes), sizeof *choice);
    double *log_p = calloc((size_t)size[3], sizeof *log_p);
    for (int k = 0; k < size[3]; k++) {
        for (int j = 0; j < size[0]; j++) {
            d.uniform[j * d.at.lanes + k] = (float)next(f);
            choice[j * d.at.lanes + k] = (int)next(f);
        }
        log_p[k] = next(f);
        d.reward[k] = (float)next(f);
    }
    CHECK_OK(&c, spot_lstm_draw(&c, &d.b));
    for (int k = 0; k < size[3]; k++) {
        for (int j = 0; j < size[0]; j++) assert_int_equal(d.b.choice[j * d.at.lanes + k], choice[j * d.at.lanes + k]);
        CHECK_NEAR(d.b.log_p[k], log_p[k], 1e-5);
    }
    CHECK_OK(&c, spot_lstm_learn(&c, &d.b));
    for (size_t i = 0; i < d.at.count; i++) CHECK_NEAR(d.b.slope[i], is_number(&d, i) ? next(f) : 0, 2e-6);
    m = calloc(d.at.count, sizeof *m), v = calloc(d.at.count, sizeof *v);
    for (int t = 1; t <= 3; t++) {
        const spot_optim_rule adam = { .kind = SPOT_OPTIM_ADAM, .lr = 1e-2, .beta1 = .9, .beta2 = .999, .epsilon = 1e-8,
                                       .t = t };
        CHECK_OK(&c, spot_optim_step(&c, d.theta, d.b.slope, m, v, d.at.count, &adam));
    }
    for (size_t i = 0; i < d.at.count; i++) {      /* Adam divides by the slope: one of 1e-6 may point elsewhere */
        const double want = is_number(&d, i) ? next(f) : 0;
        if (d.b.slope[i] == 0 || fabs(d.b.slope[i]) > 1e-4) CHECK_NEAR(d.theta[i], want, 1e-4);
    }
    free(choice), free(log_p), free(m), free(v);
    free_bed(&d);
}

TEST(draws_slopes_and_steps_are_pytorchs)
{
    FILE *f = fopen("golden/lstm.txt", "r");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "#%*[^\n]"), 0);
    for (int k = 0; k < 3; k++) read_case(f);
    fclose(f);
}

/* ---- slopes ---- */

/* The mean of reward * log P over the live draws, from log_p of the op: the choices stay while theta moves a little. */
static double value_of(bed *d, const int *choice)
{
    spot_ctx c = check_ctx(1);
    double sum = 0;

    CHECK_OK(&c, spot_lstm_draw(&c, &d->b));
    for (int k = 0; k < d->b.live; k++) {
        for (int f = 0; f < d->b.shape.factors; f++)
            assert_int_equal(d->b.choice[f * d->at.lanes + k], choice[f * d->at.lanes + k]);
        sum += (double)d->reward[k] * d->b.log_p[k] / d->b.live;
    }
    return sum;
}

/* The slopes point where log P grows: along them, at right angles to them by thirds of the weights, and for each weight of a
 * small policy. A batch of 37 rows, of which 35 are live, has two parts. */
TEST(slopes_are_those_of_log_p)
{
    bed d = make_bed(3, 4, 3, 37, 1);
    spot_ctx c = check_ctx(2);
    int *choice = malloc((size_t)(3 * d.at.lanes) * sizeof *choice);
    size_t seen = 0;

    fill(&d, 3, 1);
    d.b.live = 35;
    for (int k = 0; k < 3 * d.at.lanes; k++) d.uniform[k] = (float)(k % 7 * 2 + 1) / 16;
    CHECK_OK(&c, spot_lstm_draw(&c, &d.b));
    memcpy(choice, d.b.choice, (size_t)(3 * d.at.lanes) * sizeof *choice);
    CHECK_OK(&c, spot_lstm_learn(&c, &d.b));
    for (size_t i = 0; i < d.at.count; i++) {
        const float was = d.theta[i], by = 0x1p-9f;
        double up, down;
        if (!is_number(&d, i)) {
            assert_true(d.b.slope[i] == 0);
            continue;
        }
        d.theta[i] = was + by, up = value_of(&d, choice);
        d.theta[i] = was - by, down = value_of(&d, choice);
        d.theta[i] = was;
        CHECK_NEAR(-d.b.slope[i], (up - down) / (2 * (double)by), 2e-4);
        seen += fabs(d.b.slope[i]) > 1e-3;
    }
    assert_true(seen > d.at.count / 64);
    free(choice);
    free_bed(&d);
}

/* Rewards of 0 and a weight of the entropy: steps make every distribution uniform. Rewards of one sign for one value make it
 * certain. */
TEST(entropy_and_reward_have_their_way)
{
    for (int want = 0; want < 2; want++) {
        bed d = make_bed(2, 6, 5, 32, 1);
        spot_ctx c = check_ctx(1);
        float *m = calloc(d.at.count, sizeof *m), *v = calloc(d.at.count, sizeof *v);
        double mean = 0;
        fill(&d, 5, 1);
        d.b.entropy = want ? 0 : 1;
        for (int t = 1; t <= 300; t++) {
            const spot_optim_rule adam = { .kind = SPOT_OPTIM_ADAM, .lr = 3e-2, .beta1 = .9, .beta2 = .999, .epsilon = 1e-8,
                                           .t = t };
            spot_rng r = spot_rng_at(6, SPOT_RNG_EXAMINER, 0, (uint32_t)t);
            for (int i = 0; i < 64; i++) d.uniform[i] = (float)(spot_rng_u32(&r) >> 8) * 0x1p-24f;
            CHECK_OK(&c, spot_lstm_draw(&c, &d.b));
            for (int k = 0; k < 32; k++) d.reward[k] = want ? (float)((d.b.choice[k] == 2) + (d.b.choice[32 + k] == 4)) - 1 : 0;
            CHECK_OK(&c, spot_lstm_learn(&c, &d.b));
            CHECK_OK(&c, spot_optim_step(&c, d.theta, d.b.slope, m, v, d.at.count, &adam));
        }
        for (int k = 0; k < 32; k++) mean += d.b.log_p[k] / 32;
        CHECK_NEAR(mean, want ? 0 : -2 * log(6), .05);
        free(m), free(v);
        free_bed(&d);
    }
}

/* ---- edges ---- */

/* Logits far apart: no NaN, and a value without probability is not drawn. */
TEST(certain_and_hopeless_values)
{
    bed d = make_bed(2, 3, 1, 4, 1);
    spot_ctx c = check_ctx(1);

    for (int f = 0; f < 2; f++)
        for (int v = 0; v < 3; v++) d.theta[d.at.head + (size_t)((f * 3 + v) * d.at.pitch) + 1] = v == 1 ? 500 : -500;
    d.uniform[1] = 1 - 0x1p-24f, d.uniform[d.at.lanes + 2] = 1 - 0x1p-24f;
    d.b.entropy = 1;
    for (int k = 0; k < 4; k++) d.reward[k] = (float)k;
    CHECK_OK(&c, spot_lstm_draw(&c, &d.b));
    for (int k = 0; k < 2 * d.at.lanes; k++) assert_int_equal(d.b.choice[k], 1);
    for (int k = 0; k < 4; k++) assert_true(d.b.log_p[k] == 0);
    CHECK_OK(&c, spot_lstm_learn(&c, &d.b));
    for (size_t i = 0; i < d.at.count; i++) assert_true(d.b.slope[i] == 0);
    d.theta[d.at.head + 1] = NAN;
    CHECK_OK(&c, spot_lstm_draw(&c, &d.b));
    for (int k = 0; k < 2 * d.at.lanes; k++) assert_in_range(d.b.choice[k], 0, 2);
    free_bed(&d);
}

TEST(a_number_out_of_range_is_refused)
{
    static const struct { spot_lstm_shape s; int policies, live; const char *words; } bad[] = {
        { { 0, 5, 5, 8 }, 1, 8, "lstm.sizes: 0" },  { { 3, 0, 5, 8 }, 1, 8, "lstm.sizes: 0" },   { { 3, 5, 0, 8 }, 1, 8,
                                                                                         "lstm.sizes: 0" },
        { { 3, 5, 5, 0 }, 1, 0, "lstm.batch: 0" }, { { 3, 5, 5, 8 }, 0, 8, "lstm.batch: 0" }, { { 3, 5, 5, 8 }, 1, 0,
                                                                                         "lstm.batch: 0" },
        { { 3, 5, 5, 8 }, 1, 9, "lstm.batch: 9" },     { { 3, 1 << 20, 5, 8 }, 1, 8, "lstm.sizes" },
        { { 3, 5, 1 << 20, 8 }, 1, 8, "lstm.sizes" },
        { { 3, 5, 5, 1 << 15 }, 1 << 20, 8, "lstm.batch" },
    };
    spot_ctx c = check_ctx(1);
    spot_lstm_batch b;

    for (int i = 0; i < LEN(bad); i++) {
        b = (spot_lstm_batch){ .shape = bad[i].s, .policies = bad[i].policies, .live = bad[i].live };
        CHECK_FAILS(&c, spot_lstm_draw(&c, &b), SPOT_INVALID, bad[i].words);
        CHECK_FAILS(&c, spot_lstm_learn(&c, &b), SPOT_INVALID, bad[i].words);
    }
    b = (spot_lstm_batch){ .shape = { 3, 5, 5, 8 }, .policies = 1, .live = 8, .entropy = NAN };
    CHECK_FAILS(&c, spot_lstm_learn(&c, &b), SPOT_INVALID, "lstm.entropy: nan");
}
