/* test_distance.c - the op against its definition, bit for bit. ctest: threads */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "map/distance.h"
#include "spotter/rng.h"

static float *noise(size_t n, uint32_t seed)
{
    float *v = malloc((n + 1) * sizeof *v);
    spot_rng r = spot_rng_at(seed, SPOT_RNG_PCA, 0, 0);

    for (size_t i = 0; i < n; i++) v[i] = (float)spot_rng_normal(&r);
    return v;
}

static void same_as_definition(void **state)
{
    static const struct { int n, m, k; } cases[] = {
        { 1, 1, 1 }, { 8, 32, 256 }, { 9, 33, 257 }, { 31, 70, 7 }, { 100, 45, 600 }, { 5, 3, 0 }, { 0, 4, 3 }, { 4, 0, 3 },
    };
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        spot_ctx c = check_ctx(threads);
        spot_mat a[LEN(cases)], b[LEN(cases)], d[LEN(cases)];

        for (int p = 0; p < LEN(cases); p++) {
            int n = cases[p].n, m = cases[p].m, k = cases[p].k;
            a[p] = (spot_mat){ noise((size_t)n * k, 2 * p), n, k };
            b[p] = (spot_mat){ noise((size_t)m * k, 2 * p + 1), m, k };
            d[p] = (spot_mat){ noise((size_t)n * m, 99), n, m };
        }
        CHECK_OK(&c, spot_distance_squared(&c, LEN(cases), d, a, b));
        for (int p = 0; p < LEN(cases); p++) {
            for (int i = 0; i < a[p].rows; i++)
                for (int j = 0; j < b[p].rows; j++) {
                    float s = 0.0f;
                    for (int k = 0; k < a[p].cols; k++) {
                        float x = a[p].v[i * a[p].cols + k] - b[p].v[j * b[p].cols + k];
                        s = fmaf(x, x, s);
                    }
                    assert_memory_equal(&s, &d[p].v[i * b[p].rows + j], sizeof s);
                }
            free(a[p].v), free(b[p].v), free(d[p].v);
        }
    }
}

static void refuses_shapes_that_do_not_fit(void **state)
{
    spot_ctx c = check_ctx(1);
    float v[12] = { 0 };
    spot_mat a = { v, 3, 2 }, b = { v, 2, 3 }, d = { v, 3, 2 };

    (void)state;
    CHECK_FAILS(&c, spot_distance_squared(&c, 1, &d, &a, &b), SPOT_INVALID, "(3,2) to (2,3)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_definition),
        cmocka_unit_test(refuses_shapes_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
