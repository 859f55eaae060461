/* proof_draws.h - the tests of a proof's slices on the judging rows of one part, and draws of these rows' errors.
 *
 * A draw gives each test a number. Rows that are alone: the wrong rows among its judged ones, and the p of a number is exact.
 * With groups: the same after an exchange between units (proof_groups.h), and the p of a number is exact, given what the units
 * of two rows and more have in all draws and in the errors as they are (proof_tails.c). Where it is nearly a rank among these,
 * a scale falls on beyond the draws as the tail of a gamma distribution of the same mean and variance does: tests are compared
 * by it, and any scale is valid, since the least p is held against the least p of each draw. Where groups
 * have rows of several classes of one search, units depend on each other, so the signs of groups are drawn: the test's number
 * is the sum, over its groups, of wrong rows less those that the rates of their classes let expect.
 *
 * With all rows beside classes (spot_proving.across) a draw is one for both: the errors of all rows are those drawn class by
 * class, and those of the other classes beside. Signs are drawn apart. */
#ifndef SPOTTER_PROOF_DRAWS_H
#define SPOTTER_PROOF_DRAWS_H

#include "discover/proof/proof_groups.h"

enum { SPOT_PROOF_DRAWS = 9999, SPOT_SUM_BINS = 8192 };        /* SPOT_SUM_BINS: numbers of a sum of groups */

typedef struct { int group; int64_t value; } spot_group_sum;

/* A slice's test: its p, and the p of every number that a draw may give, both divided by its weight (proof_weights.c). */
typedef struct {
    spot_judged    *g;
    double         *tail, p, weight;   /* (entries) */
    double         *exact;             /* (entries), with groups: where `tail` is a scale */
    bool            is_rank;           /* it is one beyond the draws, where `exact` is a rank */
    int             entries, number;   /* of the errors as they are */
    int             sums;
    spot_group_sum *sum;               /* (sums): of its groups, where signs are drawn */
    int64_t         span;              /* sum of their absolute values */
} spot_slice_test;

typedef struct {
    const spot_proving *j;
    int         part, n;               /* of the judging rows; tests */
    spot_slice_test *test;             /* (n): the least p first */
    int        *by_class, *first;      /* (n): tests, class by class; (classes + 1): where those of a class begin */
    int        *order, *start;         /* rows of the part by class and stratum; (classes + 1): as first. Of j->across only
                                        * the rows whose class is no other of the proof's */
    double     *tails, *exacts, *scratch;
    spot_group_sum *sums;
    spot_units *units;                 /* (classes) with groups */
    bool       *signs;                 /* (classes): signs are drawn */
    uint64_t  **single;                /* (classes, words of its rows): rows that are units by themselves */
    uint64_t  **mark;                  /* (classes, rows, columns): bit b of column w of a row: test by_class[first + 64 w + b]
                                        * judges it */
    int        *columns;               /* (classes): of 64 tests */
    spot_stratum *alone;               /* (classes of the subject): scratch */
    bool        counts_larger;         /* a draw's numbers are those of larger units */
    unsigned   *count;                 /* as tails: draws, with groups */
    int        *donor;                 /* (threads, most units) */
    uint32_t   *sign;                  /* (threads, groups / 32 + 1) */
    size_t      most, words;           /* units of a class; words of a class's rows */
    size_t      drawn;                 /* wrong rows of a draw in a class; all of them where j->across has tests */
    uint64_t   *wrong;                 /* (threads, words): of a class or of all rows */
    int        *row, *whole;           /* (threads, drawn): wrong rows of a class; of all, as rows of the subject */
    int        *hits;                  /* (threads, n) */
} spot_draws;

/* Arrays for the tests of j's pieces on f->part. open: fills them, up to the sorted tests. sort: only what a draw needs. */
spot_status spot_draws_take(spot_ctx *c, spot_arena *a, spot_draws *f);
void        spot_draws_open(spot_ctx *c, spot_draws *f);
void        spot_draws_sort(spot_draws *f);

/* The numbers (n) of all tests in draw `number`. */
const int  *spot_draw(const spot_draws *f, int number, int thread);

/* ---- proof_tails.c ---- */

/* tail and exact of the test, and p and least of its slice. count (entries): larger units' numbers in all draws and in the
 * errors as they are; where signs are drawn, the sums'. */
void spot_tails_of_draws(spot_draws *f, spot_slice_test *t, const unsigned *count);

#endif
