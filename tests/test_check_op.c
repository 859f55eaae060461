/* test_check_op.c - the bound that stands for equal bits where SPOT_BITS_WITHIN sets it (check_op.h). */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

/* Whether a number that is off by `by` of the largest passes as the CPU's; bits: an op that asks for bits. */
static bool passes(spot_op_kind kind, double own, bool bits, double by)
{
    const double want[] = { 3, -8 }, got[] = { 3, -8 * (1 + by) };
    const float want_f[] = { 3, -8 }, got_f[] = { 3, (float)(-8 * (1 + by)) };
    const int want_i[] = { 3, -8 }, got_i[] = { 3, -8 + (by != 0) };
    const void *const w = kind == SPOT_OP_DOUBLE ? (const void *)want : kind == SPOT_OP_FLOAT ? (const void *)want_f : want_i;
    const void *const g = kind == SPOT_OP_DOUBLE ? (const void *)got : kind == SPOT_OP_FLOAT ? (const void *)got_f : got_i;
    const spot_op_result result = { .what = "r", .kind = kind, .count = 2, .off = own }, o = as_the_cpu(&result, &bits);

    return !is_other(&o, g, w, 1, 8, bits);
}

TEST(bits_are_bits_unless_a_bound_is_set)
{
    unsetenv("SPOT_BITS_WITHIN");
    assert_false(passes(SPOT_OP_DOUBLE, 0, false, 1e-15));
    assert_false(passes(SPOT_OP_FLOAT, 1e-3, true, 1e-6));
    assert_true(passes(SPOT_OP_FLOAT, 1e-3, false, 1e-6));
    assert_true(passes(SPOT_OP_DOUBLE, 0, false, 0));
}

TEST(a_bound_stands_for_bits_of_numbers_alone)
{
    setenv("SPOT_BITS_WITHIN", "1e-6", 1);
    assert_true(passes(SPOT_OP_DOUBLE, 0, false, 1e-9) && passes(SPOT_OP_FLOAT, 0, true, 3e-7));
    assert_false(passes(SPOT_OP_DOUBLE, 0, false, 1e-5));
    assert_false(passes(SPOT_OP_INT, 0, false, 1));
    assert_true(passes(SPOT_OP_FLOAT, 1e-3, false, 1e-4));               /* an op's own bound stays */
    unsetenv("SPOT_BITS_WITHIN");
}

int main(void) { return run_all_tests(); }
