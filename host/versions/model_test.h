/* model_test.h - tests of how much worse a number of a study became, over the objects (spotter/versions.h, part 2). */
#ifndef SPOTTER_MODEL_TEST_H
#define SPOTTER_MODEL_TEST_H

#include "spotter/versions.h"
#include "stats/change_test.h"

typedef struct {
    spot_model_scale scale;
    spot_change_test share;        /* of answers and shares */
    int    n;                      /* of numbers: objects, ... */
    double mean, error;            /* ... their mean worsening with its standard error, ... */
    double exact[2];               /* ... and P of so great a worsening, of so great an improvement, where nothing changed */
    spot_interval interval;        /* 95 %, of the worsening */
} spot_model_test;

/* worsening (n), n > 0: of every object, from -1 to 1. address: of the random numbers. */
spot_status spot_model_test_of(spot_ctx *c, spot_model_test *t, spot_model_scale scale, const double *worsening, int n,
                               uint32_t address);

/* The p of the hypotheses that the worsening is at most `by`, and at least. */
double spot_model_above(const spot_model_test *t, double by);
double spot_model_below(const spot_model_test *t, double by);

/* Objects that would tell the change from `by`: spot_change_needed says when. */
double spot_model_needed(const spot_model_test *t, double by, double tail);

#endif
