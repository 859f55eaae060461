/* op_views.h - whole methods, from views on the host to hypotheses, for tests/test_cuda_methods.c and the benches of the
 * methods. */
#ifndef SPOTTER_OP_VIEWS_H
#define SPOTTER_OP_VIEWS_H

#include "op.h"
#include "spotter/bdm.h"

typedef struct {
    spot_bdm_config cfg;       /* the same for all problems of a run */
    bool reduced;              /* cfg.embed makes the points */
    spot_view view;            /* on the host, as the points and what is found in them */
    spot_points points;
    spot_seed seed;
    spot_hypotheses found;
    int *list;                 /* (view.n): the numbers of a row's hypotheses as digits to base 65 */
    double score[SPOT_MAX_HYPOTHESES];
} spot_op_views;

/* For `make`: n rows without features and points. And features, which are the points unless cfg.embed shall reduce them. */
void spot_op_make_views(spot_op_run *r, spot_op_views *p, const spot_bdm_config *cfg, int n);
void spot_op_make_features(spot_op_run *r, spot_op_views *p, int features);

/* `run` of a method, which also writes down what was found for the tests. */
spot_status spot_op_run_views(spot_op_run *r, void *problems, int count);

/* A run of a spot_bench_kind: it only finds. */
spot_status spot_op_find_views(spot_ctx *c, void *state);

/* size: rows, features, depth */
extern const spot_op spot_op_barlow;
/* size: rows, features, dimensions, slices */
extern const spot_op spot_op_domino;
/* size: rows, coordinates */
extern const spot_op spot_op_george, spot_op_multiaccuracy, spot_op_influence, spot_op_svm, spot_op_density,
                     spot_op_dbscan_group;
/* size: rows, columns, steps, spotlights; the first problem's rows are those of all */
extern const spot_op spot_op_spotlight;

#endif
