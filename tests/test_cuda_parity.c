/* test_cuda_parity.c - CUDA against the CPU, op by op. Runs on a GPU, is skipped (exit 77) where there is none, and runs
 * once more on the block emulator, there under several schedules, all of which must give the same bits. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <stdlib.h>

#include "core/device.h"
#include "map/distance.h"
#include "spotter/rng.h"

static float *random_floats(size_t n, uint32_t index)
{
    spot_rng r = spot_rng_at(11, SPOT_RNG_INIT, 0, index);
    float *x = malloc((n ? n : 1) * sizeof *x);

    for (size_t i = 0; i < n; i++) x[i] = (float)spot_rng_normal(&r);
    return x;
}

static size_t size_of(spot_mat m) { return (size_t)m.rows * m.cols * sizeof(float); }

/* Ragged on purpose: edges of warps and tiles, one row, nothing at all. All problems run in one call. */
static const struct { int n, m, k; } distances[] = {
    { 1, 1, 1 }, { 31, 33, 7 }, { 33, 31, 16 }, { 0, 5, 3 }, { 5, 0, 3 }, { 3, 4, 0 }, { 257, 65, 17 }, { 64, 255, 33 },
};

static void distance_bits_agree(void **state)
{
    spot_mat a[LEN(distances)], b[LEN(distances)], d[LEN(distances)];
    spot_ctx cpu = check_ctx(2);
    (void)state;
    for (int p = 0; p < LEN(distances); p++) {
        int n = distances[p].n, m = distances[p].m, k = distances[p].k;
        a[p] = (spot_mat){ random_floats((size_t)n * k, 2 * p), n, k };
        b[p] = (spot_mat){ random_floats((size_t)m * k, 2 * p + 1), m, k };
        d[p] = (spot_mat){ random_floats((size_t)n * m, 0), n, m };
    }
    CHECK_OK(&cpu, spot_distance_squared(&cpu, LEN(distances), d, a, b));
    for (int s = 0; s < LEN(schedules); s++) {
        spot_mat ga[LEN(distances)], gb[LEN(distances)], gd[LEN(distances)];
        spot_ctx c;
        open_cuda(&c, s);
        for (int p = 0; p < LEN(distances); p++) {
            ga[p] = a[p], gb[p] = b[p], gd[p] = d[p];
            ga[p].v = to_device(&c, a[p].v, size_of(a[p]));
            gb[p].v = to_device(&c, b[p].v, size_of(b[p]));
            gd[p].v = to_device(&c, NULL, size_of(d[p]));
        }
        CHECK_OK(&c, spot_distance_squared(&c, LEN(distances), gd, ga, gb));
        for (int p = 0; p < LEN(distances); p++) {
            float *back = malloc(size_of(d[p]) + 1);
            CHECK_OK(&c, spot_device_copy(&c, back, gd[p].v, size_of(d[p])));
            if (memcmp(back, d[p].v, size_of(d[p])))
                fail_msg("problem %d, %s: CUDA's bits are not the CPU's", p, schedules[s]);
            free(back);
            spot_device_give(&c, ga[p].v);
            spot_device_give(&c, gb[p].v);
            spot_device_give(&c, gd[p].v);
        }
        spot_device_close(&c);
    }
    for (int p = 0; p < LEN(distances); p++) free(a[p].v), free(b[p].v), free(d[p].v);
}

static void host_memory_is_refused(void **state)
{
    float x[4] = { 0 };
    spot_mat m = { x, 2, 2 };
    spot_ctx c;
    (void)state;
    open_cuda(&c, 0);
    CHECK_FAILS(&c, spot_distance_squared(&c, 1, &m, &m, &m), SPOT_UNSUPPORTED, "host memory");
    spot_device_close(&c);
}

static void auto_takes_cuda_when_it_has_every_family(void **state)
{
    spot_ctx c;
    (void)state;
    open_cuda(&c, 0);
#define X(family) assert_non_null(c.ops->family);
    SPOT_OP_FAMILIES(X)
#undef X
    spot_device_close(&c);
    CHECK_OK(&c, spot_device_open(&c, "auto"));
    assert_string_not_equal(spot_device_name(&c), "cpu");
    spot_device_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_bits_agree),
        cmocka_unit_test(host_memory_is_refused),
        cmocka_unit_test(auto_takes_cuda_when_it_has_every_family),
    };

    return RUN_ON_CUDA(tests);
}
