/* versions.h - two versions of a model: what became of each class and each weakness on the same rows, and of each number that a
 * study has of both; by paired tests.
 *
 *     pairs of answers -> all rows, classes, guards, slices -> rows that turned wrong less rows that turned right, against a
 *     margin -> levels of questions, each with its share of the error -> verdicts
 *
 * Slices take no side. A slice that was found with the errors of one version cannot be compared on the same rows: errors of the
 * version that chose it are too many there, and fall on a second look. So the search sees one classifier, which has a row wrong
 * where either version has, with the lesser of the two confidences: the same if the versions change places. Features of a
 * version take a side, too: what lies beyond a border of version 1 can only get better in another network. Where both versions
 * have features, both enter, each scaled to total variance 1, in an order that does not depend on which version is first.
 * Slices are found and tested in these errors (spot_discover with a proof). Compared are the confirmed ones, and those that
 * would be if each were the only one. Slices that are nearly the same rows are merged before they are compared, the surest
 * proof first; all this does not know the versions. Compared rows are those that joined a slice by the vote of nearest rows, or
 * by its rule, blind to their own answers.
 *
 * A change is the error rate of version 2 less that of version 1. Each group of rows has three one-sided tests against its
 * margin m: that the change is at most m, at least -m, at least m. With three further trainings or more, the first two are
 * against 0 and the spread of trainings in place of m. The p of a test is
 *
 *     the score test of a paired difference (Tango 1998), with the variance that equal trainings add (below); and not less than
 *     the exact one of no change: McNemar's, or where rows have groups all choices of the signs of the groups' sums
 *     where rows have groups, not less than Student's t of the groups' sums either (groups - 1 degrees of freedom)
 *
 * Questions have an order: all rows, classes, guards, slices. Each of these levels has its share of `level`, 5 % for the whole
 * comparison. Within a level Holm's procedure tests; a level that has no question, or all of whose hypotheses are rejected,
 * passes its share on to the next (serial gatekeeping: Bretz, Maurer, Brannath and Posch 2009). So a version that is
 * nowhere worse by more than the margin is called worse anywhere in at most 5 % of trials, and the same holds of "better" and
 * of "same". That is no promise for a training with another seed, which may move small groups of rows by tens of points.
 *
 *     new        version 2 is worse there, and version 1 does not confirm the slice
 *     worse      the change is above the margin, or above 0 beyond the spread of trainings, beyond chance: the lower end of its
 *                corrected interval is
 *     mended     version 2 is better there, and no longer above its error rate in the class: by the margin at most, and
 *                the 95 % interval of its error rate holds that of the class
 *     better     the same below
 *     same       the change is below the margin, beyond chance: the upper end of its corrected interval is. It is not
 *                worse, then, and may be better by more than these rows can show
 *     pending    these rows cannot tell; `needed` says how many could
 * Only new and worse fail a gate.
 *
 * Equal trainings differ, too. Given the answers of further trainings of version 1 on the same rows, version 2 is compared with
 * the mean of all of them, so that the luck of one training counts less, and their spread is measured: of two trainings, the
 * square of (rows lost less rows gained) is their number of changed rows q plus q (n - 1) r, where n rows are compared and the
 * share r is what rows of a group have in common. r is pooled over pairs of trainings, once over classes, once over slices and
 * guards, and adds its part to the variance of the tests of worse and better; the tail is Student's then, with the degrees of
 * freedom that trainings and classes give (Satterthwaite). Where trainings differ on some rows by more than that lets
 * expect (5 %), these rows have their own r and its degrees of freedom. "Same" is a statement about this version 2, and has the
 * variance of the rows alone.
 *
 * An equal training moves a whole slice at once: rows that look alike and lie near a border turn together, by tens of points.
 * The rows of one slice cannot tell that from a planted error; the other slices can, since a border moves the log odds of the
 * rows' classes by little. So a slice that the search found has a further test: that the mean change of its log odds lies no
 * further from the slices' median than slices lie whose errors did not change beyond chance (1.4826 times their median absolute
 * deviation, of which the rows' own error is taken off; Student's t with 0.37 (slices - 1) degrees of freedom). The greater p
 * of the two counts: worse has more errors and lower log odds, beyond both. It is as genomic control (Devlin and Roeder 1999),
 * by log odds. It needs SPOT_ENOUGH_SLICES and probabilities; rows that the user named before, and classes, do without.
 *
 * A version confirms a slice if it has more of the compared rows wrong than their classes let expect: exact, corrected for the
 * number of slices. */
#ifndef SPOTTER_VERSIONS_H
#define SPOTTER_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/discover.h"
#include "spotter/interval.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. two classifiers on the same rows ---- */

enum { SPOT_VERSIONS = 2, SPOT_VERSION_NAME = 80 };

typedef enum { SPOT_CHANGE_PENDING, SPOT_CHANGE_SAME, SPOT_CHANGE_BETTER, SPOT_CHANGE_MENDED, SPOT_CHANGE_WORSE,
               SPOT_CHANGE_NEW } spot_change_verdict;
const char *spot_change_verdict_name(spot_change_verdict v);       /* "pending", "same", "better", "mended", "worse", "new" */

/* Worse, better, same or pending, in this order, by corrected p and their level. */
spot_change_verdict spot_change_verdict_of(double p_worse, double p_better, double p_same, double level);

/* Rows that the user named before, on which no version shall be worse. in (rows of the subjects): 1 for them. */
typedef struct {
    const char *name;                          /* as the user wrote it */
    int      cls;                              /* class of its rows, or SPOT_ALL_CLASSES */
    double   margin;                           /* its own, for worse, too; 0: any change counts. NaN: that of all */
    const uint8_t *in;
} spot_version_guard;

typedef enum { SPOT_ASK_ALL, SPOT_ASK_CLASS, SPOT_ASK_GUARD, SPOT_ASK_SLICE, SPOT_ASK_LEVELS } spot_version_level;
const char *spot_version_level_name(spot_version_level l);         /* "all rows", "classes", "guards", "slices" */

/* The features that the search is given are those of no version, of version 1, or of both. */
typedef enum { SPOT_FEATURES_NEUTRAL, SPOT_FEATURES_FIRST, SPOT_FEATURES_BOTH } spot_version_features;

enum { SPOT_ENOUGH_RETRAINS = 3 };             /* further trainings, whose spread takes the place of a margin */

typedef struct {
    const spot_discover_options *search;       /* methods, seeds, classes, least, memory; NULL: spot_discover_defaults */
    spot_proof_options proof;                  /* of the slices */
    double   level;                            /* of each family of tests: 0.05 */
    double   share[SPOT_ASK_LEVELS];           /* of the level: 0.1, 0.2, 0.5, 0.2; their sum is 1 */
    double   margin;                           /* changes up to it count as none: 0.05 */
    double   beyond;                           /* worse is above it; NaN: above the margin, or 0 with SPOT_ENOUGH_RETRAINS */
    const spot_version_guard *guard;           /* (guards) */
    int      guards;
    const spot_subject *const *retrain;        /* (retrains): further trainings of version 1, on the same rows; features NULL */
    int      retrains;
    spot_version_features features;            /* whose those of the first subject are; BOTH is found by itself */
    const char *name[SPOT_VERSIONS];           /* of the versions: "version 1", "version 2" */
    const char *data;                          /* name of the rows, or NULL */
} spot_versions_options;

spot_versions_options spot_versions_defaults(void);

/* The two versions on some rows. */
typedef struct {
    int    rows;
    int    wrong[SPOT_VERSIONS];               /* rows that version 1, 2 has wrong */
    int    lost, gained;                       /* right, then wrong; wrong, then right */
    int   *lost_row, *gained_row;              /* (lost), (gained): these rows, ascending */
    double before;                             /* error rate of version 1; with further trainings the mean over all of them */
    int    groups;                             /* of the rows; 0: rows are alone */
    double margin, beyond;                     /* of same; of worse and better */
    double p_worse, p_better, p_same;          /* one-sided, corrected over the whole comparison */
    spot_interval change;                      /* error rate of version 2 less `before`, with its 95 % interval */
    spot_interval corrected;                   /* the same with the ends that verdicts look at */
    double needed;                             /* pending: rows of this kind, or groups of them, that would decide with 80 %
                                                * probability, if the change stays as it is; INFINITY: it is about the margin,
                                                * or as an equal training moves slices, so that no number does. 0: it is
                                                * decided */
    double shift;                              /* of a slice: mean change of the log odds of its rows' class; NaN: not known */
    bool   as_others;                          /* of a slice: it changed beyond chance, and its log odds moved as others' do */
} spot_version_counts;

/* A slice of one search. */
typedef struct {
    int cls;                                   /* class, or SPOT_ALL_CLASSES */
    int found, found_wrong;                    /* rows of its search; those of them that the searched errors have wrong */
    int compared;                              /* rows that joined it */
    double proof_p;                            /* corrected p of its proof; above the proof's level: not confirmed */
} spot_version_piece;

typedef struct {
    int    cls;                                /* class, or SPOT_ALL_CLASSES */
    spot_change_verdict verdict;
    bool   confirmed[SPOT_VERSIONS];           /* by version 1, 2 */
    const char *rule;                          /* "colour=grey & px=16": the slice's rows are all rows of its class with these
                                                * items; NULL: no rule says it */
    int    size, *row;                         /* (size): all its rows, ascending: of its searches, and the compared ones */
    int    compared, *at;                      /* (compared): the compared rows, ascending, each once */
    spot_version_counts counts;                /* over the compared rows */
    double class_rate[SPOT_VERSIONS];          /* error rates in the classes of the compared rows */
    int    pieces;
    const spot_version_piece *piece;           /* (pieces): the smallest first */
} spot_version_slice;

/* Rows that were named before: all, a class, a guard. */
typedef struct {
    int    cls;                                /* class, or SPOT_ALL_CLASSES */
    const char *name;                          /* of a guard; NULL */
    spot_change_verdict verdict;               /* never mended or new */
    spot_version_counts counts;
} spot_version_class;

typedef struct { int row, cls; } spot_version_row;

/* The spread of equal trainings, from `files` further ones. share: of the variance, r above, of classes and of slices; move:
 * the change of a class of its usual size (their median) that 95 % of pairs of equal trainings stay within. */
typedef struct { int files; double share[2], move; int freedom; } spot_version_spread;

/* How far slices' log odds move between these two versions: slices of ten rows or more whose errors did not change, median,
 * standard deviation by the median absolute deviation, its degrees of freedom. freedom 0: too few slices, or no probabilities.
 * as_others: slices for which that decides. */
enum { SPOT_ENOUGH_SLICES = 8 };
typedef struct { int slices, freedom; double middle, spread; int as_others; } spot_version_shift;

typedef struct {
    char   name[SPOT_VERSIONS][SPOT_VERSION_NAME], data[SPOT_VERSION_NAME];
    int    n, tests[SPOT_ASK_LEVELS];          /* rows; tests of each level, in a family */
    double level, margin, beyond, share[SPOT_ASK_LEVELS];
    spot_version_features features;
    spot_version_spread spread;
    spot_version_shift shift;
    int    slices;
    spot_version_slice *slice;                 /* (slices): worse, new, mended, better, pending, same; the surest first */
    int    classes;
    spot_version_class *of;                    /* (classes): all rows first where each has one class, then class by class */
    int    guards;
    spot_version_class *guard;                 /* (guards), as given */
    int    outside;
    spot_version_row *lost;                    /* (outside): rows outside all slices that were right and are wrong */
    bool   failed;                             /* a verdict is new or worse */
    bool   pending;                            /* not failed, and a guard, a class or all rows are pending */
    bool   equal;                              /* both versions have the same rows wrong */
    spot_arena arena;                          /* holds all arrays */
} spot_versions;

/* Compares s[1] with s[0]: subjects of the same rows, classes and labels in the same order. Features are those of both where
 * s[1]->feature is neither NULL nor that of s[0], else those of s[0]. Both know probabilities or predicted classes, or neither
 * does, so that "wrong" means the same. SPOT_INPUT where the two do not fit. A class without errors, or of too few rows, has no
 * slices; that is no failure. Results do not depend on threads. Close v also after a failure. */
spot_status spot_versions_compare(spot_ctx *c, spot_versions *v, const spot_subject *const s[SPOT_VERSIONS],
                                  const spot_versions_options *o);
void        spot_versions_close(spot_versions *v);

/* Members of an object of versions.json: how it was judged; a slice, without its pieces and rows; a class or a guard. s: the
 * first version. */
struct spot_json;
void spot_version_rules_put(struct spot_json *j, const spot_versions *v);
void spot_version_slice_put(struct spot_json *j, const spot_version_slice *p, const spot_subject *s);
void spot_version_class_put(struct spot_json *j, const spot_version_class *x, const spot_subject *s);

/* DIR/versions.json: schema, names, level, and all above; and DIR/versions.csv: id, class, slice, verdict, before, now for each
 * row of each slice, then the rows that were lost outside. Makes DIR. s: the first version. */
spot_status spot_versions_write(spot_ctx *c, const char *dir, const spot_versions *v,
                                const spot_subject *const s[SPOT_VERSIONS]);

/* Makes DIR. SPOT_USAGE where it has one of the two from another program; NULL as advice: any is replaced. SPOT_IO where they
 * cannot be written. A command asks before it works. */
spot_status spot_versions_place(spot_ctx *c, const char *dir, const char *advice);

/* ---- 2. two models that a study has examined ---- */

/* Values of an object: 0 or 1; a share of its own pictures, which may change as a whole; a number between 0 and 1. */
typedef enum { SPOT_MODEL_ANSWER, SPOT_MODEL_SHARE, SPOT_MODEL_NUMBER } spot_model_scale;

/* Questions have an order here, too: numbers of the whole come first, then the others. */
typedef enum { SPOT_MODEL_WHOLE, SPOT_MODEL_PART, SPOT_MODEL_LEVELS } spot_model_level;

/* A number that the study has of each of its objects: "cem", "lowest"; "", "mixed-rand"; "clean, in the snow", "accuracy". */
typedef struct {
    char group[160], name[32];     /* group: "" where the study has no groups */
    int  sign;                     /* 1: higher is better; -1: lower is better; 0: neither, the number is only shown */
    spot_model_scale scale;
    spot_model_level level;        /* the whole: accuracy on originals, or on a source's own pictures; the mean p */
} spot_model_quantity;

/* The change of one number over the objects that have it on both sides. Verdicts are those of part 1, for the mean worsening
 * against the margin, at 5 % for each family (worse, better, same) over all numbers that are judged: a third for numbers of the
 * whole, two thirds for the others. Within each Holm's procedure tests, and shares are passed on as in part 1. The p of a
 * test is
 *
 *     answers    Tango's score test and not less than McNemar's
 *     shares     the same with the sums of changes for counts of objects, not less than Student's t, nor than the exact test of
 *                the signs of the objects' changes
 *     numbers    Student's t of the objects' worsenings less the margin; not less than the test of their signs, which is exact
 *                for no change, nor than 2^-objects */
typedef struct {
    spot_model_quantity of;
    spot_change_verdict verdict;   /* worse, better, same or pending; pending where the number is only shown, too */
    int    objects;
    double before, now;            /* means over them */
    spot_interval change;          /* now - before, 95 %; of numbers by a bootstrap over objects (BCa) */
    int    worse, better;          /* objects that changed; those that fell and rose where the number is only shown */
    double p_worse, p_better, p_same;          /* one-sided, corrected; NaN: only shown */
    double needed;                 /* pending: objects of this kind that would decide with 80 % probability, if the change stays
                                    * as it is; INFINITY: it is the margin. 0: it is decided, or only shown */
} spot_model_change;
const char *spot_model_change_word(const spot_model_change *x);        /* "worse", ... "pending"; "only shown" */

/* How a study speaks of a comparison: heads of columns, which are keys of JSON, too. */
typedef struct {
    const char *group;             /* "examiner"; NULL: quantities have no groups */
    const char *quantity, *objects, *worse, *better;
    const char *whole;             /* numbers of the whole: "mean" */
    const char *note, *advice;     /* what the words mean; how to examine the same objects */
    bool is_share;                 /* numbers are shares */
} spot_model_words;

typedef struct { int n; struct { const char *name; int value; } of[4]; } spot_model_facts;      /* "seeds", 3 */

typedef struct {
    const spot_model_words *words;
    char   before[SPOT_VERSION_NAME], now[SPOT_VERSION_NAME];      /* names of the models; of equal ones the runs' */
    int    objects, left_out;      /* in both runs; in one of them alone */
    spot_model_facts facts;
    double margin;                 /* worsenings up to it count as none */
    double least_p;                /* that so many objects can reach: above 0.05 nothing can be shown */
    int    changes;
    spot_model_change *change;     /* (changes) */
    bool   failed;                 /* something is worse */
    bool   pending;                /* not failed, and a number that is judged is pending */
    spot_memory *memory;           /* holds the array; spot_memory_close frees it */
} spot_model_comparison;

/* Whether it is a version: a run of `spotter background`, `examine` or `shifts`. A version is "DIR", a run with one model, or
 * "DIR:MODEL"; the longest directory that is there counts, whatever colons its name has. */
bool spot_is_model_run(const char *version);

/* margin: a share of objects, or a difference of p, from 0 (any change counts) to 0.5; usually spot_versions_defaults().margin.
 * SPOT_INPUT where the runs differ in more than the model: other objects, pictures or settings. SPOT_USAGE: runs of two
 * studies, or of a sweep, whose networks have no versions. The caller closes k's memory, also after a failure. */
spot_status spot_models_compare(spot_ctx *c, spot_model_comparison *k, const char *before, const char *now, double margin);

#ifdef __cplusplus
}
#endif
#endif
