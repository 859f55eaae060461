/* hypothesis.h - a slice's description as a claim about new pictures (Plumb et al. 2023, appendix K).
 *
 *     phrase + unlabelled pictures -> the nearest pictures, and random ones as controls -> right or wrong -> verdict
 *     attributes + scenes          -> new images with them, and others without          -> right or wrong -> verdict
 *
 * The pictures are new and the claim was made before, so one exact test needs no correction for a search. CPU only; the bits
 * do not depend on the number of threads. */
#ifndef SPOTTER_HYPOTHESIS_H
#define SPOTTER_HYPOTHESIS_H

#include <stdint.h>

#include "spotter/ctx.h"
#include "spotter/interval.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPOT_GATHERED, SPOT_CONTROL };
typedef struct { int picture, group; double similarity; } spot_gathered;

/* pick (2 * most): first the `most` pictures of the greatest similarity (n), the greatest first, of equal ones the earlier
 * picture first; then as many random ones of the others. Both are fewer where there are under 2 * most pictures. *picked: their
 * number. The order by t . x is that by t . (x - mean of the class), Domino's score. */
spot_status spot_gather_pick(spot_ctx *c, spot_gathered *pick, int *picked, const double *similarity, int n, int most,
                             uint64_t seed);

typedef enum { SPOT_TOO_FEW, SPOT_NOT_CONFIRMED, SPOT_CONFIRMED } spot_claim_verdict;

typedef struct {
    int n[2], wrong[2];        /* of SPOT_GATHERED and SPOT_CONTROL */
    spot_interval rate[2];     /* Wilson's */
    double p;                  /* Fisher's exact test, one-sided: gathered pictures are wrong more often than controls */
    spot_claim_verdict verdict;
} spot_claim_test;

/* Fills the rest from n and wrong. Confirmed: p is at most level. Too few: no result of so many pictures could be that. */
void spot_claim_judge(spot_claim_test *t, double level);

/* "confirmed on new data", "not confirmed on new data", "too few pictures" */
const char *spot_claim_verdict_name(spot_claim_verdict v);

/* One of the new pictures, as a table of them has it. */
typedef struct {
    char  *picture;            /* its name below the folder */
    int    group;              /* SPOT_GATHERED or SPOT_CONTROL */
    double similarity;         /* to the phrase; NaN: none */
    int    wrong;              /* 0, 1; -1: not known */
    char  *predicted;          /* the class that the classifier gives it; NULL: not known */
} spot_new_picture;

/* test->n and wrong, from the pictures of which it is known. */
void spot_claim_count(spot_claim_test *t, const spot_new_picture *row, int n);

#ifdef __cplusplus
}
#endif
#endif
