/* check_bdm.h - what the tests of discovery methods share. */
#ifndef SPOTTER_TESTS_CHECK_BDM_H
#define SPOTTER_TESTS_CHECK_BDM_H

#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "heard.h"
#include "spotter/bdm.h"

/* Opens a for the call that finds problems p of EC first_ec + p, in `heard` what it said. */
static uint32_t first_ec;

static inline spot_status find(spot_ctx *c, spot_arena *a, spot_hypotheses *out, int problems, const spot_view *views,
                               const spot_points *points, const spot_bdm_config *cfg)
{
    spot_seed seeds[4];
    int n[4];

    heard[0] = murmured[0] = 0;
    c->on_log = hear;
    for (int p = 0; p < problems; p++) {
        n[p] = points[p].n;
        seeds[p] = (spot_seed){ 1, first_ec + (uint32_t)p };
    }
    CHECK_OK(c, spot_arena_open(c, a, spot_bdm_bytes(problems, n, points[0].d, cfg, c->threads)));
    return spot_bdm_find(c, a, problems, out, views, points, seeds, cfg);
}

/* A test's problem of n points of d coordinates, and what the last find_in found in it. */
typedef struct {
    spot_ctx c;
    spot_view view;
    spot_points points;
    spot_bdm_config cfg;
    spot_hypotheses found;
    spot_arena a;               /* the test closes it */
} bdm_bed;

static inline bdm_bed bed_of(int method, int threads, int n, int d, float *at, float *confidence)
{
    return (bdm_bed){ check_ctx(threads), { .n = n, .confidence = confidence }, { .n = n, .d = d, .at = at },
                      spot_bdm_defaults(method), { 0 }, { 0 } };
}

static inline spot_status find_in(bdm_bed *b, const spot_bdm_config *cfg)
{
    spot_arena_close(&b->a);
    return find(&b->c, &b->a, &b->found, 1, &b->view, &b->points, cfg);
}

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
        assert_true((g->weight != NULL) == (w->weight != NULL) && got->n == want->n);
        for (int i = 0; w->weight && i < want->n; i++) CHECK_NEAR(g->weight[i], w->weight[i], score * 10);
        if (w->weight && score == 0) assert_memory_equal(g->weight, w->weight, (size_t)want->n * sizeof *w->weight);
    }
}

/* Weights that are shares: those of a row sum to 1 over `found` where it has all slices (all), else to at most 1; a row's
 * greatest is that of the hypothesis that has it. */
static inline void check_shares(const spot_hypotheses *found, int n, int all)
{
    assert_int_equal(found->n, n);
    for (int i = 0; i < n; i++) {
        double sum = 0, most = 0, own = -1;
        for (int k = 0; k < found->len; k++) {
            const spot_hypothesis *h = &found->h[k];
            assert_non_null(h->weight);
            assert_true(h->weight[i] >= 0);
            sum += h->weight[i];
            most = fmax(most, h->weight[i]);
            for (int r = 0; r < h->len; r++) if (h->row[r] == i) own = h->weight[i];
        }
        if (all) CHECK_NEAR(sum, 1, 1e-5);
        assert_true(sum < 1 + 1e-5 && (own < 0 ? !all : own >= most - 1e-6));
    }
}

#endif
