/* claim.h - a slice's description as a claim about new pictures (Plumb et al. 2023, appendix K).
 *
 *     phrase + unlabelled pictures -> the nearest pictures, and random ones as controls -> right or wrong -> verdict
 *     attributes + scenes          -> new images with them, and others without          -> right or wrong -> verdict
 *
 * The pictures are new and the claim was made before, so one exact test needs no correction for a search. CPU only; the bits
 * do not depend on the number of threads. */
#ifndef SPOTTER_CLAIM_H
#define SPOTTER_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/ctx.h"
#include "spotter/discover.h"
#include "spotter/encoder.h"
#include "spotter/interval.h"
#include "spotter/predictor.h"
#include "spotter/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPOT_GATHERED, SPOT_CONTROL };
typedef struct { int picture, group; double similarity; } spot_gathered;

/* The greatest similarity first; of equal ones the earlier picture. */
void spot_gathered_sort(spot_gathered *all, int n);

/* pick (2 * most): first the `most` pictures of the greatest similarity (n), the greatest first, of equal ones the earlier
 * picture first; then as many random ones of the others. Both are fewer where there are under 2 * most pictures. *picked: their
 * number. The order by t . x is that by t . (x - mean of the class), Domino's score. */
spot_status spot_gather_pick(spot_ctx *c, spot_gathered *pick, int *picked, const double *similarity, int n, int most,
                             uint64_t seed);

typedef enum { SPOT_TOO_FEW, SPOT_NOT_CONFIRMED, SPOT_CONFIRMED } spot_claim_verdict;

typedef struct {
    int n[2], wrong[2];        /* of SPOT_GATHERED and SPOT_CONTROL */
    spot_interval rate[2];     /* Wilson's; with groups the hull of it and of that of the groups' rates, by Student's t */
    double p;                  /* Fisher's exact test, one-sided: gathered pictures are wrong more often than controls */
    spot_claim_verdict verdict;
    int groups;                /* of the gathered pictures (spot_claim_by_groups); 0: pictures are alone */
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

/* After spot_claim_judge: intervals, p and verdict where pictures depend on each other, as frames of a video do. group (n): of
 * each picture, below n. The groups' sums are parts of the difference of the two rates: of gathered pictures and of controls
 * those that are wrong less those that the rate of all lets expect, over their number. p is the share of choices of the sums'
 * signs (all of up to 16 groups, else 9,999 draws) that give as much together, and at least 2^-m where either kind has m
 * groups: too few, if that is above the level. With 5 to 7 groups of controls beside 40, 6 to 9 % are confirmed by chance at
 * 5 %. */
spot_status spot_claim_by_groups(spot_ctx *c, spot_claim_test *t, const spot_new_picture *row, int n, const int *group,
                                 double level);

/* ---- new pictures ---- */

/* Pictures that the search has not seen: gathered by a phrase, measured by a classifier.
 *
 *     folder + phrase -> spot_gather -> new pictures -> spot_measure -> right or wrong -> spot_claim_judge (claim.h)
 *
 * run_to_run, and the same for any number of threads. */

/* The gathered ones first, then as many controls. Texts are malloc'd; close accepts a zeroed struct. */
typedef struct { int n; spot_new_picture *row; } spot_new_pictures;

void spot_new_pictures_close(spot_new_pictures *p);

typedef struct {
    const char *images;            /* a folder, looked through at any depth */
    const char *cls;               /* with a folder of this name in images, only its pictures count; NULL, "": all do */
    const char *phrase;
    const char *weights;           /* a CLIP, which compares the phrase with the pictures */
    const spot_encoder_options *encoder;   /* NULL: spot_encoder_defaults */
    int      most;                 /* gathered pictures, and as many controls, drawn by the seed */
    uint64_t seed;
    const spot_subject *known;     /* its pictures are not new and are left out, also under another name; NULL: none */
} spot_gather_options;

/* Whether images has a folder with the name of the class, so that the class of its pictures is known. */
bool spot_gather_has_class(const char *images, const char *cls);

/* The pictures nearest to the phrase by the cosine, and random others; similarity is that cosine, wrong -1. Unreadable pictures
 * are left out with a warning. SPOT_INPUT where there are fewer than two. *p is empty after a failure. */
spot_status spot_gather(spot_ctx *c, spot_new_pictures *p, const spot_gather_options *o);

typedef struct {
    const spot_predictor_options *model;   /* its side is the square that is cut from the middle of a picture */
    int resize;                    /* pixels of the shorter side before; 0: as it is */
    const char *name;              /* of the model, for sentences */
    const char *folder;            /* the pictures lie below it */
    char *const *class_name;       /* (classes): the class of each output; a single output stands for two. NULL: numbers */
    int classes, label;            /* 0: not known; the class that all pictures show */
    spot_picture_reading reading;
} spot_measure_options;

/* Fills wrong and predicted. The answer is the first greatest output; a single output is the logit of class 1, and 0 answers
 * class 0. An unreadable picture keeps its -1. SPOT_INPUT where outputs and classes do not fit. */
spot_status spot_measure(spot_ctx *c, spot_new_pictures *p, const spot_measure_options *o);

/* ---- a claim on the rows at hand ---- */

/* A rule: a class and conditions, such as "apps & colour=grey", "class=apps & px=16" or "brightness<0.2". The claim is that the
 * classifier fails more often on the rows that have them all than on the rows of their classes.
 *
 *     rule + attributes -> rows -> all rules of at most two items, in draws of the errors -> a corrected p -> verdict
 *
 * Who claims something on rows that were looked at has chosen it by their errors. So a rule of one or two items of the table,
 * within a class or on all rows, is corrected for all such rules at once: in each draw of the errors, as many wrong rows of
 * each class at random, or with groups an exchange between them (discover.h), the rule that stands out most is looked for. The
 * corrected p is the share of draws in which it does so at least as much as the claim (max-T, Westfall and Young 1993). It
 * holds whatever was looked at and however many of these rules are claimed; so all rows judge, and no half is kept back. How
 * much a rule stands out: the tail of a gamma distribution with the mean and the variance that its wrong rows have where rows
 * are drawn alone. Where the table is so large that 999 draws would count more than 4e10 pairs, it is Bonferroni's.
 *
 * Any other claim, of more items, of a comparison that is no item, or of the rows nearest to a sentence, has no such family,
 * and is at most suggested on rows that were shown. On rows that were collected afterwards one exact test confirms it. */
typedef struct {
    int        cls;            /* SPOT_ALL_CLASSES: rows of all */
    int        conditions, items, item[2];     /* beside the class; those that are items of the table, the first two of them */
    bool       listed;         /* the rule is one of those that are corrected together */
    uint8_t   *in;             /* (rows of the subject): 1 for the claim's rows */
    int        rows, wrong, groups;            /* groups 0: rows are alone */
    double     class_rate;     /* error rate of their classes */
    spot_interval excess;      /* error rate less class_rate; with groups the interval is the hull of that of rows that
                                * are alone and of that of the groups' parts, by Student's t; -1 to 1 for rows of one group */
    double     p;              /* of this claim alone: exact, or with groups a rank among draws */
    double     corrected;      /* NaN: not listed */
    double     rules;          /* that are corrected together */
    int        draws;          /* 0: Bonferroni's */
    spot_claim verdict;
    bool       mixed;          /* a group has rows of several classes, so that a claim on rows of all is at most suggested */
    int        thirds;         /* items that are thirds of a column of these rows: of other rows they are others */
} spot_row_claim;

typedef struct {
    double   level;            /* 0.05 */
    uint64_t seed;             /* of the draws: 0 */
    bool     fresh;            /* the rows were collected after the claim was made: one test, without correction */
} spot_row_claim_options;

/* The rows of a rule. Conditions stand between &. One is: an item of the attributes by its name, of a third also without its
 * limits ("px=low"); a class by its name, or class=NAME where an item has the name, too; a comparison of a column of numbers,
 * with = < > <= or >=, in the file `table` as spot_attributes_read takes it (NULL: none). A name may stand between double
 * quotes, with each quote in it written twice: apps & "title=Q&A"; class="R&D" & "width & height"<3. A name with & in it must,
 * and one that begins with a quote, unless the name is the whole rule. SPOT_USAGE says what is none of these, and where
 * rows have several classes; SPOT_INPUT where no row has all. Close k also after a failure. */
spot_status spot_row_claim_read(spot_ctx *c, spot_row_claim *k, const spot_subject *s, const spot_attributes *a,
                                const char *table, const char *rule);

/* The `most` rows of class cls, or of all, that are nearest to a text by the cosine: feature (s->n, d), text (d). */
spot_status spot_row_claim_near(spot_ctx *c, spot_row_claim *k, const spot_subject *s, const float *feature, const float *text,
                                int d, int most, int cls);

/* Fills the rest. a: may be NULL or without items for a claim that is not listed. */
spot_status spot_row_claim_judge(spot_ctx *c, spot_row_claim *k, const spot_subject *s, const spot_attributes *a,
                                 const spot_row_claim_options *o);
void        spot_row_claim_close(spot_row_claim *k);

#ifdef __cplusplus
}
#endif
#endif
