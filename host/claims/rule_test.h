/* rule_test.h - a claim on the rows at hand while it is judged (spotter/claim.h).
 *
 *     rule_judge.c    the claim's rows, numbers and verdict
 *     rule_family.c   draws of the errors; the correction for all rules of at most two items */
#ifndef SPOTTER_RULE_TEST_H
#define SPOTTER_RULE_TEST_H

#include "discover/proof/proof_groups.h"
#include "spotter/claim.h"

enum { SPOT_RULE_DRAWS = 9999 };       /* of the errors, at most */

/* The rows of a class; with groups their units. */
typedef struct {
    int n, wrong, *row;                /* (n) */
    spot_units units;
} spot_claim_class;

typedef struct {
    spot_ctx              *c;
    const spot_subject    *s;
    const spot_attributes *a;
    spot_row_claim        *k;
    spot_arena             memory;
    uint64_t               seed;
    bool                   grouped;
    int                   *class_rows; /* (classes) */
    spot_claim_class      *cls;        /* (classes) */
    uint8_t               *is_wrong;   /* (n) */
    int                    items, *first, *item;       /* items; (n + 1): where those of a row begin; all */
    int                    draws;
    double                 stands_out; /* of the claim */
    int                   *least;      /* (items, items), i <= k: wrong rows with which a rule stands out as much; or INT_MAX */
    double                *mean, *variance;            /* as least: of all classes together */
    int                   *wrong;      /* (threads, most wrong rows of all classes) */
    uint64_t              *drawn;      /* (threads, words) */
    int                   *donor;      /* (threads, n) */
    int                   *count;      /* (threads, items, items) */
    uint8_t               *above;      /* (draws) */
} spot_rule_test;

/* The p of so many wrong rows, as a gamma distribution of this mean and variance has it. */
double spot_rule_tail(double mean, double variance, int wrong);

/* Adds the mean and variance of the wrong rows among `covered` ones that are drawn from a class. */
void spot_rule_add_moments(double *mean, double *variance, int covered, const spot_claim_class *k);

/* k->p of a claim whose rows have groups: the rank of its wrong rows among draws. */
void spot_rule_rank(spot_rule_test *t);

/* Draws for the correction that can be afforded; 0: too few. */
int spot_rule_affordable(const spot_rule_test *t);

/* k->corrected, rules and draws: the share of t->draws in which a rule stands out as much as the claim; without draws
 * Bonferroni's. */
spot_status spot_rule_correct(spot_rule_test *t);

#endif
