/* check_bdm.h - what the tests of discovery methods share. */
#ifndef SPOTTER_TESTS_CHECK_BDM_H
#define SPOTTER_TESTS_CHECK_BDM_H

#include <math.h>

#include "checks.h"
#include "spotter/bdm.h"

/* The same list: the rows, and the scores to `score` times themselves; 0: all bits. */
static inline void check_same_hypotheses(const spot_hypotheses *got, const spot_hypotheses *want, double score)
{
    assert_true(got->len == want->len && got->components == want->components);
    for (int k = 0; k < want->len; k++) {
        const spot_hypothesis *g = &got->h[k], *w = &want->h[k];
        assert_int_equal(g->len, w->len);
        assert_memory_equal(g->row, w->row, (size_t)w->len * sizeof(int));
        CHECK_NEAR(g->score, w->score, score * fabs(w->score));
        if (score == 0) assert_memory_equal(&g->score, &w->score, sizeof(double));
    }
}

#endif
