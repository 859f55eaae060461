/* searches.h - whole searches over a landscape, for the tests of examiners. */
#ifndef SPOTTER_TESTS_SEARCHES_H
#define SPOTTER_TESTS_SEARCHES_H

#include <stdlib.h>

#include "checks.h"
#include "landscapes.h"
#include "spotter/examiner.h"

/* All points and their p. */
typedef struct {
    int problems, budget, dims;
    double *at;                /* (problems, budget, dims) */
    double *p;                 /* (problems, budget) */
} searched;

static inline void searched_free(searched *r) { free(r->at), free(r->p); }

static inline double search_p(landscape land, const spot_factor_space *space, const double *x, uint32_t number)
{
    spot_conditions f = { { 0 } };

    f.value[SPOT_CAMERA_DISTANCE] = 3;
    spot_factor_space_place(&f, space, x);
    return land(&f, number);
}

/* Asks and tells `asks` times, or until the budget is spent (asks < 0). */
static inline void search_some(spot_ctx *c, spot_examiner *e, const spot_examiner_search *s, landscape land, searched *r,
                               int *told, int asks)
{
    const size_t dims = (size_t)s->space->dims;

    for (int n; asks-- && (n = spot_examiner_wants(e)); *told += n) {
        double *at = malloc((size_t)s->problems * (size_t)n * dims * sizeof *at);
        double *loss = malloc((size_t)s->problems * (size_t)n * sizeof *loss);
        assert_true(n > 0 && *told + n <= s->budget);
        CHECK_OK(c, spot_examiner_ask(c, e, at));
        for (int i = 0; i < s->problems; i++)
            for (int k = 0; k < n; k++) {
                size_t from = (size_t)(i * n + k), to = (size_t)i * (size_t)s->budget + (size_t)(*told + k);
                memcpy(r->at + to * dims, at + from * dims, dims * sizeof *at);
                r->p[to] = search_p(land, s->space, at + from * dims, s->number[i]);
                loss[from] = -r->p[to];
            }
        CHECK_OK(c, spot_examiner_tell(c, e, loss));
        free(at), free(loss);
    }
}

/* interrupted: after so many asks the search is closed, opened again and told the same. 0: never. */
static inline searched search_all(spot_ctx *c, const spot_examiner_config *cfg, const spot_examiner_search *s, landscape land,
                                  int interrupted)
{
    const size_t points = (size_t)s->problems * (size_t)s->budget;
    searched r = { s->problems, s->budget, s->space->dims, NULL, NULL };
    spot_examiner *e;
    int told = 0;

    r.at = malloc(points * (size_t)r.dims * sizeof *r.at);
    r.p = malloc(points * sizeof *r.p);
    if (interrupted) {
        CHECK_OK(c, spot_examiner_open(c, &e, cfg, s));
        search_some(c, e, s, land, &r, &told, interrupted);
        spot_examiner_close(e);
        told = 0;
    }
    CHECK_OK(c, spot_examiner_open(c, &e, cfg, s));
    search_some(c, e, s, land, &r, &told, -1);
    assert_int_equal(told, s->budget);
    spot_examiner_close(e);
    for (size_t k = 0; k < points * (size_t)r.dims; k++) assert_true(r.at[k] >= 0 && r.at[k] <= 1);
    return r;
}

/* The lowest p of problem i in its first n points, and the mean over points first to n of p or of a region's indicator. */
static inline double searched_lowest(const searched *r, int i, int n)
{
    double least = INFINITY;

    for (int k = 0; k < n; k++) least = fmin(least, r->p[(size_t)i * (size_t)r->budget + (size_t)k]);
    return least;
}

static inline double searched_inside(const searched *r, const spot_factor_space *space, int i, int first, int n,
                                     int (*inside)(const spot_conditions *f))
{
    double sum = 0;

    for (int k = first; k < n; k++) {
        spot_conditions f = { { 0 } };
        spot_factor_space_place(&f, space, r->at + ((size_t)i * (size_t)r->budget + (size_t)k) * (size_t)r->dims);
        sum += inside(&f);
    }
    return sum / (n - first);
}

#endif
