/* proof.h - slices as claims: found on one part of the rows, judged on rows that the search has not seen.
 *
 *     rows -> two parts -> a search in each -> its slices judged on the other part -> one family of tests -> merged slices
 *
 * A search looks at the errors, so a slice's own rows prove nothing: in errors without structure, methods find groups with many
 * of them. A proof divides the rows of each class in two parts at random, runs every method on each part, and asks of every
 * slice which rows of the other part belong to it. These join by their features alone, blind to their own probabilities: a row
 * belongs where most of its `neighbours` nearest rows of its class, among those of the finding part, do. Then wrong rows among
 * them are counted.
 *
 * The test of a slice is exact and one-sided: if its judged rows were drawn at random from the judged rows of the same classes,
 * how probable are at least so many wrong ones? With one class this is hypergeometric; with several, the sum of independent
 * hypergeometric numbers, class by class, so that a class with many errors is no finding. The correction covers all slices of
 * all methods, seeds, classes and parts together: the errors of each part's judging rows are drawn again within each class, and
 * a slice has to beat the best slice of the draws (Westfall and Young's step-down procedure; proof_correct.c). So the level is
 * used up, and slices that overlap, as those of several methods do, count little more than one.
 *
 *     confirmed    the corrected p is at most `level`
 *     suggested    not confirmed, and its p is below that of the best slice of each of `chance` searches in errors without
 *                  structure
 *     chance       the rest
 *
 * No test, and left out, are slices that hold nine tenths of their class, slices whose rows fail no more often than their class
 * where they were found, and slices that no judging row joins. All this is known before the judging rows' errors are looked at.
 *
 * Slices that are nearly the same rows are merged afterwards, for display: merged before the tests, one part's rows would serve
 * finding and judging. A merged slice has the least corrected p of its pieces, which is valid, since the correction holds
 * for all pieces at once.
 *
 * One cause may make slices in several classes: pictures of five classes that came out black. Confirmed slices are shown as one
 * cause if they are of two classes at least, each has half of its wrong rows or more taken for the same class, and every two of
 * them are near: the means of their wrong rows are at most half as far from each other as either is from the mean of the right
 * rows of its own class, and of the class that they are taken for. This is a rule and no test: every slice keeps its claim. */
#ifndef SPOTTER_PROOF_H
#define SPOTTER_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/interval.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { SPOT_CLAIM_CHANCE, SPOT_CLAIM_SUGGESTED, SPOT_CLAIM_CONFIRMED } spot_claim;
const char *spot_claim_name(spot_claim claim);         /* "chance", "suggested", "confirmed" */

typedef struct {
    int      parts;            /* 2: each part's slices are judged on the other; 1: found on one part, judged on the other */
    double   holdout;          /* parts 1: share of each class's rows that judge, in (0, 1); parts 2: one half */
    int      neighbours;       /* rows that vote on a membership: 5, odd */
    int      chance;           /* searches in errors without structure: 0, or 19 and more; they decide "suggested" */
    double   level;            /* of the whole family of tests: 0.05 */
    double   same;             /* Jaccard index from which slices are merged: 0.5 */
    uint64_t seed;             /* of the parts and of errors without structure: 0 */
} spot_proof_options;

spot_proof_options spot_proof_defaults(void);

/* A slice of one search, and what the judging rows say. */
typedef struct {
    int      bdm, part;        /* index in the options' methods; the part, 0 or 1, on which it was found */
    uint64_t seed;             /* the method's */
    int      rank;             /* among the slices of its search, from 1 */
    int      found, found_wrong;       /* rows of the finding part, wrong ones among them */
    int      judged, wrong;    /* rows of the judging part, wrong ones among them */
    double   base;             /* wrong rows expected among `judged`: by the rates of their classes in the judging part */
    double   p, corrected;     /* exact, one-sided; corrected for all pieces. 1 where no judged row belongs */
} spot_piece;

/* The proof of a merged slice. The slice's rows are those that its pieces found, and the judged ones that joined them. */
typedef struct {
    spot_claim    claim;
    double        p;           /* the least corrected p of its pieces */
    int           judged, wrong;       /* over its pieces: judged rows, each counted once; wrong ones among them */
    double        class_rate;  /* error rate of the judged rows' classes */
    spot_interval excess;      /* error rate of the judged rows less class_rate, with its 95 % interval */
    double        shrunk;      /* the excess to expect on new rows: its posterior mean, by a prior learned from all slices */
    double        cell;        /* error rate that predicted class and confidence alone let expect; NaN: no probabilities */
    int           predicted;   /* the class that most of its wrong rows are taken for; -1: not known */
    double        predicted_share;     /* of its wrong rows */
    int           pieces;
    spot_piece   *piece;       /* (pieces): the least corrected p first */
    int           tests;       /* size of the family of tests, of all slices together */
    uint8_t      *origin;      /* (size of the slice): spot_origin of each row */
    int           cause;       /* from 1, the same for all slices of a cause; 0: the slice stands alone */
} spot_proof;

/* The slices of one cause together; their classes have no row in common. */
typedef struct {
    int    slices, classes;
    int    size, wrong;        /* rows; wrong ones among them */
    int    judged, judged_wrong;       /* judged rows; wrong ones among them */
    double class_rate, shrunk; /* of the judged rows: error rate of their classes; excess to expect on new rows */
    int    predicted;          /* the class that most wrong rows are taken for */
    double predicted_share;    /* of all wrong rows */
    double p;                  /* the least of its slices */
} spot_cause;

typedef enum { SPOT_ORIGIN_FOUND = 1, SPOT_ORIGIN_JUDGED, SPOT_ORIGIN_BOTH } spot_origin;
const char *spot_origin_name(int origin);              /* "found", "judged", "both" */

#ifdef __cplusplus
}
#endif
#endif
