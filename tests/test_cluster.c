/* test_cluster.c - what a shard owns; what a scheduler's variables mean; how shards stand, by their logs. */
#include "check.h"
#include "spotter/shards.h"

/* Every EC has one owner, ranges are equal but for one, and parts of a shard are the shard. */
static void ranges_are_a_partition(void **state)
{
    (void)state;
    for (int ecs = 0; ecs < 60; ecs++)
        for (int shards = 1; shards < 70; shards++) {
            int next = 0;
            for (int i = 0, from, to, first, last; i < shards; i++) {
                spot_shard_range(&from, &to, i, shards, ecs);
                assert_true(from == next && to - from >= ecs / shards && to - from <= (ecs + shards - 1) / shards);
                next = to;
                spot_shard_range(&first, &last, 3 * i, 3 * shards, ecs);
                assert_int_equal(first, from);
                spot_shard_range(&first, &last, 3 * i + 2, 3 * shards, ecs);
                assert_int_equal(last, to);
            }
            assert_int_equal(next, ecs);
        }
}

static void ranges_of_many_do_not_overflow(void **state)
{
    int from, to;
    (void)state;
    spot_shard_range(&from, &to, 99999, 100000, 1000000);
    assert_true(from == 999990 && to == 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_a_partition),
        cmocka_unit_test(ranges_of_many_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
