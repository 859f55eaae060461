/* test_vmath.c - our own exp and log against libm in double, and a vector loop against single calls. ctest: both */
#include "checks.h"

#include <math.h>

#include "core/vmath.h"

enum { COUNT = 1 << 16 };

/* Distance in units of the last place of the exact value. */
static double ulps(float got, double exact)
{
    float next = nextafterf((float)fabs(exact), INFINITY);

    return fabs(got - exact) / ((double)next - fabsf((float)exact));
}

TEST(exp_and_log_are_within_two_ulps)
{
    for (int i = 0; i < COUNT; i++) {
        float x = -87.0f + 175.0f * (float)i / COUNT, y = ldexpf(1.0f + (float)i / COUNT, i % 250 - 125);
        assert_true(ulps(spot_expf(x), exp(x)) < 2);
        assert_true(ulps(spot_logf(y), log(y)) < 2);
        assert_true(ulps(spot_log1pf((float)i / COUNT), log1p((double)((float)i / COUNT))) < 3);
    }
}

TEST(exp_in_double_is_within_two_ulps)
{
    for (int i = 0; i < COUNT; i++) {
        double x = -707.9 + 1416.8 * i / COUNT, near = -4.0 * i / COUNT;
        CHECK_NEAR(spot_exp(x) / exp(x), 1, 4.5e-16);
        CHECK_NEAR(spot_exp(near) / exp(near), 1, 4.5e-16);
    }
    assert_true(spot_exp(0) == 1 && spot_exp(-0.0) == 1 && spot_exp(-INFINITY) == 0 && spot_exp(-709) == 0);
    assert_true(isnan(spot_exp(NAN)) && isfinite(spot_exp(INFINITY)));
}

TEST(ends_of_the_range)
{
    float slope;

    assert_true(spot_expf(-INFINITY) == 0 && spot_expf(-90.0f) == 0 && spot_expf(0.0f) == 1);
    assert_true(isnan(spot_expf(NAN)) && isfinite(spot_expf(INFINITY)));
    assert_true(spot_logf(1.0f) == 0);
    assert_true(spot_softplusf(200.0f, &slope) == 200 && slope == 1);
    assert_true(spot_softplusf(-200.0f, &slope) == 0 && slope == 0);
    CHECK_NEAR(spot_softplusf(-10.0f, &slope), log1p(exp(-10.0)), 1e-11);
    CHECK_NEAR(slope, 1 / (1 + exp(10.0)), 1e-11);
}

TEST(a_loop_gives_the_bits_of_single_calls)
{
    static float x[COUNT], e[COUNT], l[COUNT];

    for (int i = 0; i < COUNT; i++) x[i] = 1e-3f + 80.0f * (float)i / COUNT;
    for (int i = 0; i < COUNT; i++) e[i] = spot_expf(-x[i]), l[i] = spot_logf(x[i]);
    for (int i = 0; i < COUNT; i += 97) {
        volatile float alone = x[i];
        assert_true(spot_expf(-alone) == e[i] && spot_logf(alone) == l[i]);
    }
}

TEST(a_loop_in_double_gives_the_bits_of_single_calls)
{
    static double x[COUNT], e[COUNT];

    for (int i = 0; i < COUNT; i++) x[i] = 1e-3 + 80.0 * i / COUNT;
    for (int i = 0; i < COUNT; i++) e[i] = spot_exp(-x[i]);
    for (int i = 0; i < COUNT; i += 97) {
        volatile double alone = x[i];
        assert_true(spot_exp(-alone) == e[i]);
    }
}
