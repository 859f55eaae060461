/* describe.h - descriptions of groups of rows: phrases, and conjunctions of attributes.
 *
 *     features of pictures + features of phrases -> phrases with a score and a p-value
 *     attributes of rows                         -> a conjunction of at most three of them, with precision and recall
 *
 * A description is a claim that a search selected, so each comes with a test:
 *
 *     phrases        the best score of all phrases, for groups drawn at random from the class (family-wise, max-T)
 *     conjunctions   the search sees one half of the class's rows; the other half tests its result
 *
 * A small p-value of a phrase says that the group differs from its class along the phrase more than a group of the same size
 * drawn at random does along any phrase. It does not say that the phrase is the right name: the true one may be missing from
 * the list. A method that groups by the same features makes groups that differ in some direction, and p is then small whatever
 * the phrases are; `auc` says how well the phrase tells the group from the rest.
 *
 * The products of rows and phrases are made on the context's device (run_to_run), all else on the host. On the CPU the bits do
 * not depend on the number of threads. A GPU rounds the products otherwise, so an auc may differ by 1e-5, and a p by one or two
 * of the random groups. */
#ifndef SPOTTER_DESCRIBE_H
#define SPOTTER_DESCRIBE_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/rng.h"
#include "spotter/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- phrases ---- */

/* One phrase of a group. */
typedef struct {
    char  *phrase;
    double score;              /* t . (mean of the group - mean of its class): Domino's description (Eyuboglu et al. 2022) */
    double auc;                /* probability that a row of the group is nearer to the phrase than another row of the class is;
                                * ties count 1/2; NaN where the group is the class */
    double p;                  /* (1 + random groups whose best phrase scores at least this much) / (1 + rounds) */
} spot_word;

typedef struct { const int *row; int n; } spot_group;  /* rows of a class, by their index in it, ascending */

typedef struct {
    int    n, d;               /* rows of the class; numbers of a row */
    const float *feature;      /* (n, d) */
    int    phrases;
    const float *text;         /* (phrases, d), of the same encoder */
    char *const *phrase;       /* (phrases) */
    int    groups;
    const spot_group *group;   /* (groups) */
    int    most;               /* phrases that are kept of a group */
    int    rounds;             /* random groups: 999 give p-values down to 0.001; 0: p is NaN */
    spot_seed seed;            /* of the random groups: SPOT_RNG_DESCRIBE, index = 1 + round */
} spot_words_problem;

/* word (groups, most): the phrases of the greatest score, in its order; of equal scores the earlier phrase comes first. Entries
 * borrow the phrases. kept (groups): their number, `most` at most; 0 for an empty group. Rows and texts count with length 1,
 * whatever their length is; SPOT_INPUT names one of length 0. Where the class is "all rows" the score is that of Domino's
 * MeanDescriber, which takes the mean of all rows, else that of its ClassMeanDescriber. */
spot_status spot_words_find(spot_ctx *c, spot_word *word, int *kept, const spot_words_problem *p);

/* Bytes that the call takes for a problem of this size; its arrays are not looked at. */
spot_status spot_words_needs(spot_ctx *c, size_t *bytes, const spot_words_problem *p);

/* ---- attributes ---- */

/* Attributes of all rows of a subject as items: an item holds for a row or does not. All arrays and names are malloc'd. */
typedef struct {
    int       rows, items;
    size_t    words;           /* 64-bit words of an item: (rows + 63) / 64, at least 1 */
    char    **name;            /* (items): "indoor", "not indoor", "weather=rain", "size=low (<= 3.2)" */
    int      *column;          /* (items): items of one column are never combined */
    double  (*range)[2];       /* (items): a third of a column of numbers: above the first, up to the second; else both NaN */
    uint64_t *bit;             /* (items, words): bit i % 64 of word i / 64 is row i; bits behind the last row are 0 */
} spot_attributes;

/* Reads a .csv: a record for each row, in the order of the rows; or, as "FILE.csv:COLUMN", found by the id in this column, with
 * id (rows) as the rows' ids, which several rows may share. Every other column becomes items:
 *
 *     0 and 1, true and false     two items: the column's name, and "not" with it
 *     words, or two numbers       an item for each value that at least two rows have, of the 256 most frequent ones
 *     free text                   "NAME has TERM" for each term of the text that five rows or more have, and nine tenths of
 *                                 the rows at most, of the 256 most frequent ones. A column of words is text where most cells
 *                                 are there once and have three words between blanks on the average; terms are letters and
 *                                 digits, without regard to ASCII's case
 *     more numbers                up to three items: the thirds of the rows by rank, equal numbers together
 *
 * A cell that is empty or nan has no value, and no item holds for it. Columns without a name, and columns without two different
 * values, are left out with a log. SPOT_INPUT names what does not fit: a row without a record, an id of two records, a record
 * with more or fewer cells. */
spot_status spot_attributes_read(spot_ctx *c, spot_attributes *a, const char *where, char *const *id, int rows);

/* spot_attributes_read for the rows of a subject: records in the order of the rows are those of its files, also where rows
 * were left out. */
spot_status spot_attributes_of_subject(spot_ctx *c, spot_attributes *a, const char *where, const spot_subject *s);

/* The categories of rows that have several, has (rows, classes) of 0 and 1: each becomes the items "NAME" and "not NAME". */
spot_status spot_attributes_of_classes(spot_ctx *c, spot_attributes *a, const uint8_t *has, char *const *class_name, int rows,
                                       int classes);

/* Numbers of a picture, which need no table: they come from its pixels as they are decoded (Pillow's convert("RGB") and its
 * grey "L"), in the rows' boxes where they have some. They are brightness (mean of L), contrast (its standard deviation),
 * colourfulness (Hasler & Suesstrunk 2003), sharpness (variance of L's Laplacian), entropy of L in bits, aspect (width /
 * height), pixels, transparency (mean of 1 - alpha, of a PNG). */
enum { SPOT_PICTURE_NUMBERS = 8 };
typedef struct { double of[SPOT_PICTURE_NUMBERS]; } spot_picture_numbers;

/* Whether all of a slice's words are terms of a column of text of these attributes (NULL: none), as a description without
 * phrases gives them. They say which texts the rows have, and not what is seen in a picture. false for no words. */
bool spot_words_are_terms(const spot_attributes *a, const spot_word *word, int words);

/* Adds the items of `more`, of the same rows, to a, and closes `more`, also after a failure. a may be zeroed. */
spot_status spot_attributes_join(spot_ctx *c, spot_attributes *a, spot_attributes *more);
void        spot_attributes_close(spot_attributes *a);

enum { SPOT_MOST_ITEMS = 3, SPOT_RULE_ITEMS = 20 };
#define SPOT_LEAST_F1 0.1

/* Rows that have all of these items. items 0: no rule. */
typedef struct {
    int items, item[SPOT_RULE_ITEMS];      /* indices into the attributes, ascending */
} spot_rule;

/* A conjunction and a group on some rows of a class. */
typedef struct {
    int    rows, group;        /* rows here; rows of the group among them */
    int    covered, inside;    /* rows of the conjunction; those in the group */
    int    wrong;              /* wrong rows of the conjunction */
    double precision, recall, f1;    /* inside / covered, inside / group, 2 inside / (covered + group); NaN for 0 / 0 */
    double lift;               /* precision / (group / rows) */
    double t;                  /* Bayesian t of the conjunction's error rate against that of all rows here (DivExplorer): with
                                * m = (k+1)/(n+2) and v = m (1-m) / (n+3) for k wrong of n, (m_c - m) / sqrt(v_c + v). Negative
                                * where the conjunction has the lower rate (DivExplorer drops the sign) */
    double p;                  /* probability that a random choice of `covered` rows has at least `inside` of the group's
                                * (hypergeometric) */
} spot_match;

typedef struct {
    int        items, item[SPOT_MOST_ITEMS];           /* indices into the attributes, ascending; -1 beyond `items` */
    char      *name[SPOT_MOST_ITEMS];                  /* their names; NULL beyond `items` */
    spot_match held_out, all;  /* on the half that the search has not seen; on all rows of the class */
} spot_conjunction;

typedef struct {
    const spot_attributes *attributes;
    int    n;                  /* rows of the class */
    const int *row;            /* (n): their numbers in the attributes */
    const uint8_t *wrong;      /* (n): 1 where the classifier is wrong */
    int    groups;
    const spot_group *group;   /* (groups) */
    bool   whole;              /* the search sees all rows, of which then no half is left to test: held_out has no rows */
    spot_seed seed;            /* of the halves: SPOT_RNG_DESCRIBE, index = 0 */
} spot_conjunctions_problem;

/* best (groups): of all conjunctions of one to three items of different columns the one of the greatest F1 on the first half of
 * the class's rows, exactly as if all were tried; of equal ones that of fewer items, then of lower items. F1 alone weighs
 * precision against recall: precision selects single rows, recall selects everything, lift prefers rare items. Items that hold
 * for every row of the first half tell nothing and are left out. `items` is 0 where the first half has no row of the group, or
 * no conjunction has SPOT_LEAST_F1 there, which would describe nothing. The halves are the same for all groups of a class.
 * `all` has the rows on which the conjunction was chosen; `held_out` is the figure to quote. */
spot_status spot_conjunctions_find(spot_ctx *c, spot_conjunction *best, const spot_conjunctions_problem *p);

/* Bytes that the call takes for so many rows and these attributes; other arrays are not looked at. */
spot_status spot_conjunctions_needs(spot_ctx *c, size_t *bytes, const spot_conjunctions_problem *p);

#ifdef __cplusplus
}
#endif
#endif
