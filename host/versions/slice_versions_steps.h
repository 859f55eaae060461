/* slice_versions_steps.h - the steps of slice_versions_judge.c, which only that file calls. */
#ifndef SPOTTER_SLICE_VERSIONS_STEPS_H
#define SPOTTER_SLICE_VERSIONS_STEPS_H

#include "stats/statistics.h"
#include "versions/slice_versions_search.h"
#include "versions/slice_versions_spread.h"

/* Values that the steps share. */
typedef struct {
    spot_ctx *c;
    spot_versions *v;
    spot_compared_list *list;
    spot_questions ask;
    const spot_subject *const *s;
    const spot_versions_options *o;
    spot_stratum *whole[SPOT_VERSIONS];    /* (classes): rows of each class, and those that a version has wrong */
    spot_stratum *stratum;             /* (classes): scratch */
    double *tail;                      /* (2 n + 2): scratch */
    int    *group;                     /* (pieces): index of the merged slice */
    int    *leader;                    /* (pieces): of each merged slice, the piece that the others are like; later scratch */
    int    *named;                     /* rows of all, of classes and guards */
    uint8_t *mark;                     /* (n): of the current slice; zeros between steps */
} spot_judging;

/* Questions about all rows, classes and guards, and the strata of classes. named_rows: how many rows they have together. */
spot_status spot_judging_named(spot_judging *j);
size_t      spot_judging_named_rows(const spot_subject *s, const spot_versions_options *o);

/* Merges the slices of the list, and adds questions about the merged ones. */
spot_status spot_judging_slices(spot_judging *j);

/* The class by which a row of a slice is judged. */
static inline int spot_version_class_of(const spot_version_slice *p, const spot_subject *s, int row)
{
    return p->cls < 0 ? s->target[row] : p->cls;
}

/* Verdicts of all questions that were asked; the gravest slices come first, and those that tell nothing are left out. */
void        spot_judging_verdicts(spot_judging *j);

#endif
