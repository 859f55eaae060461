/* test_bdm.c - what holds for every discovery method of the table. */
#include "check.h"

#include <stdlib.h>

#include "blobs.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"

/* Confidences that fall with the row. */
static void fall(float *confidence, int n)
{
    for (int i = 0; i < n; i++) confidence[i] = (float)(0.99 - 0.95 * i / n);
}

/* spot_bdm_needs counts takes that are aligned from the start; an arena may be used up to any byte before. Sizes that are no
 * multiples of anything show what gets lost in between. */
static void a_method_takes_no_more_than_it_said(void **state)
{
    static const int sizes[][2] = { { 4, 1 }, { 5, 3 }, { 33, 7 }, { 130, 40 } };
    const spot_seed seed = { 1, 0 };
    (void)state;
    for (int method = 0; method < SPOT_METHODS; method++)
        for (int s = 0; s < LEN(sizes); s++)
            for (int threads = 1; threads <= 2; threads++) {
                spot_ctx c = check_ctx(threads);
                int n = sizes[s][0], d = sizes[s][1];
                spot_bdm_config cfg = spot_bdm_defaults(method);
                spot_view view = blobs(n, d, 2, 7);
                spot_points points = { .n = n, .d = d, .at = view.feature };
                spot_hypotheses found;
                spot_arena a;
                char *byte;
                spot_status e;
                view.confidence = malloc((size_t)n * sizeof *view.confidence);
                fall(view.confidence, n);
                cfg.spotlight.steps = 20;
                if (method == SPOT_PLANESPOT) cfg.mixture.k_max = 3;
                if (d > SPOT_MAX_MIXTURE_DIM && (method == SPOT_PLANESPOT || method == SPOT_GEORGE)) points.d = 5;
                CHECK_OK(&c, spot_arena_open(&c, &a, spot_bdm_needs(&c, 1, &n, points.d, &cfg).host + 1));
                CHECK_OK(&c, SPOT_TAKE(&c, &a, byte, 1));
                e = spot_bdm_find(&c, &a, 1, &found, &view, &points, &seed, &cfg);
                if (e == SPOT_NOMEM)
                    fail_msg("method %d, (%d, %d): %s", method, n, d, spot_message(&c, e));
                if (e == SPOT_OK) assert_in_range(found.len, 0, cfg.top);
                spot_forget(&c);
                spot_arena_close(&a);
                free(view.confidence);
                blobs_free(&view);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_method_takes_no_more_than_it_said) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
