/* failure_rules.h - rules about conditions, found on rows. */
#ifndef SPOTTER_FAILURE_RULES_H
#define SPOTTER_FAILURE_RULES_H

#include <stdint.h>

#include "spotter/failures.h"

/* Rows of which some fail: renders, and a cluster of them. */
typedef struct {
    int n;
    const spot_conditions *at;     /* (n) */
    const uint8_t *fails;          /* (n) */
    int failures;
} spot_failure_rows;

/* A score from 0 to 1.1: F1 of precision (the share of the rule's rows that fail) and coverage (the share of the cluster's
 * failures that the rule has), and a tenth of the share of all failures that it has: of two rules that fit a cluster equally
 * well, the one that also fits other clusters. Precision is shrunk to the share of all rows, as if SPOT_RULE_PRIOR more rows
 * were in. */
#define SPOT_RULE_PRIOR 4.0

/* A search on rows, which outlive it. open: NULL where memory is out. */
typedef struct spot_rule_search spot_rule_search;
spot_rule_search *spot_rule_search_open (const spot_failure_rows *rows, const spot_factor_space *s);
void              spot_rule_search_close(spot_rule_search *f);

/* The rule of the greatest score for the failures among the rows of the cluster (n flags), its limits on round numbers: a beam
 * search, then each limit once more given the others. limits is 0 where the cluster has no failures. Returns its score. */
double spot_rule_find(spot_rule_search *f, spot_failure_rule *best, const uint8_t *cluster);

/* Whether one of the rules holds. */
bool spot_rules_hold(const spot_failure_rule *r, int rules, const spot_conditions *at);

/* F1 of the rule for the failures of the rows that none of the rules before has; 0 where its rows fail no more often than the
 * others, where rules before have most of its failures, and for less than three failures. */
double spot_rule_worth(const spot_failure_rule *r, const spot_failure_rule *before, int rules, const spot_failure_rows *rows);

#endif
