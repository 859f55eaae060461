/* proof_groups.h - rows that belong together (spot_subject.group), in a proof.
 *
 * A group lies in one part as a whole. Errors without structure are errors exchanged between units: the rows of one group and
 * class. A unit takes the errors of another of its class, in the order of their rows: row t of n those of row t m / n of m,
 * rounded down. Only units of like size are exchanged: they are sorted into bins. Units of one row are a bin, so that the tail
 * of rows that are alone is theirs; of another bin the largest has at most twice as many rows as the smallest. A unit alone in
 * its bin keeps its own errors. Where all units of a class have one size this is exact. */
#ifndef SPOTTER_PROOF_GROUPS_H
#define SPOTTER_PROOF_GROUPS_H

#include "discover/proof/judge.h"

/* Fills j->part, one division of the groups for all classes: large groups first, each into the part that leaves the shares of
 * the classes nearest to what was asked for. */
spot_status spot_divide_groups(spot_proving *j);
size_t      spot_divide_groups_bytes(const spot_subject *s);

/* ---- units ---- */

typedef struct { int first, n; } spot_group_unit;            /* entries of `order` */

typedef struct {
    int        rows, units, bins;
    int       *order;                  /* (rows): by unit */
    spot_group_unit *unit;             /* (units): by bin */
    int       *bin;                    /* (bins + 1): where each begins */
    int       *error, *error_at;       /* places of wrong rows in their units; (units + 1): where those of a unit begin */
    uint64_t  *key;                    /* scratch */
} spot_units;

spot_status spot_units_take(spot_ctx *c, spot_arena *a, spot_units *u, int rows);

/* Adds the units of n rows of one class, whose numbers were put at u->order + u->rows; number i is row[i] of the subject (NULL:
 * i). */
void spot_units_add(spot_units *u, const spot_subject *s, int n, const int *row);

/* donor (units): draws whose errors each unit takes. */
void spot_units_exchange(const spot_units *u, spot_rng *r, int *donor);

/* Errors exchanged alike, of which note keeps where they are: wrong (u->rows): the numbers of `order` that are wrong then;
 * returns how many. The numbers are drawn otherwise than by spot_units_exchange: which units of one row are wrong is a sample
 * of them. is_wrong: by these numbers. donor (units): scratch. */
void spot_units_note(spot_units *u, const uint8_t *is_wrong);
int  spot_units_draw(const spot_units *u, spot_rng *r, int *donor, int *wrong);

/* Whether a group has rows of several of k's strata: their units depend on each other. */
bool spot_groups_mix(const spot_proving *j, const spot_proved *k);

/* ---- how much a group's errors agree ---- */

/* Groups of the class's rows at these bits, and the sum of the squares of their numbers of rows; 0 where rows are alone. */
typedef struct { int groups; double squares; } spot_group_count;
spot_group_count spot_count_groups(const spot_proving *j, const spot_proved *k, const uint64_t *bit);

/* Each class's agreement: the intraclass correlation of the judging rows' errors, in the run whose tally stands. */
spot_status spot_learn_agreement(spot_proving *j);

/* How many rows tell as much as one that is drawn by itself (Kish's design effect); 1 where rows are alone. */
double spot_effect_of_groups(const spot_proved *k, spot_group_count n, int rows);

/* The interval of the excess of the judging rows at these bits. n: their numbers; all: those of the class. It is as wide as the
 * number of groups lets it be: one group leaves everything open. scratch (k->words). */
spot_interval spot_excess_by_groups(const spot_proving *j, const spot_proved *k, const uint64_t *bit, uint64_t *scratch,
                                    spot_counted n, spot_counted all);

#endif
