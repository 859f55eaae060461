/* versions.h - two versions of a model: what became of each blindspot on the same rows, and of each number that a study has of
 * both; by paired tests.
 *
 *     pairs of answers -> slices, found and proven by what both versions have wrong together -> lost against gained -> Holm
 *
 * A slice that was found or confirmed with the errors of one version cannot be compared on the same rows: errors of the version
 * that chose it are too many there, and fall on a second look. So the search must not know which version made an error. It sees
 * one classifier, which has a row wrong where either version has, with the lesser of the two confidences: the same if the
 * versions change places. Slices are found and tested in these errors (spot_discover with a proof). Compared are the confirmed
 * ones, and those that would be if each were the only one: this choice does not know the versions either, and a weakness that
 * is new beside one that is mended stands out from its class too little to be confirmed among many tests, but its change does
 * not. A slice that is not confirmed is shown only if it changed, and if less than half of it is in slices that changed alike.
 * A slice's compared rows are those that joined it by the vote of nearest rows, blind to their own answers.
 *
 * The test is McNemar's, exact: of the rows that only one version has wrong, how many does version 2? If the versions are
 * equally good there, each such row is a fair coin, and no coin was looked at before. "worse" and "better" are two families of
 * one-sided tests, each at `level`, over all slices and all classes as wholes: so an equal version is called worse anywhere in
 * at most `level` of trials, and better in at most `level`. Holm's correction makes a family of its tests.
 *
 * Where rows have groups (of the first subject), a group's lost rows less its gained ones are one such coin: all signs are
 * equally likely, and m groups give no p below 2^-m.
 *
 * Slices that are nearly the same rows are merged afterwards, for display; a merged slice has the least corrected p of its
 * pieces, which stays valid. A version confirms a slice if it has more of the compared rows wrong than their classes let
 * expect: exact, corrected for the number of slices.
 *
 *     new        version 2 is worse there, and version 1 does not confirm the slice
 *     worse      version 2 is worse there
 *     mended     version 2 is better there, and no longer above its error rate in the class: by `margin` at most, and the 95 %
 *                interval of its error rate holds that of the class
 *     better     version 2 is better there
 *     same       no change is shown, and the 90 % interval of the change lies within -margin and margin (two one-sided tests)
 *     pending    these rows cannot tell; `enough` says how many could
 * Only new and worse fail a gate. */
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

typedef struct {
    const spot_discover_options *search;       /* methods, seeds, classes, least, memory; NULL: spot_discover_defaults */
    spot_proof_options proof;                  /* of the slices */
    double   level;                            /* of each family of tests: 0.05 */
    double   margin;                           /* error rates that differ by this much count as equal: 0.05 */
    const char *name[SPOT_VERSIONS];           /* of the versions: "version 1", "version 2" */
    const char *data;                          /* name of the rows, or NULL */
} spot_versions_options;

spot_versions_options spot_versions_defaults(void);

/* The two versions on some rows. */
typedef struct {
    int    rows;
    int    wrong[SPOT_VERSIONS];               /* rows that version 1, 2 has wrong */
    int    lost, gained;                       /* right, then wrong; wrong, then right */
    double p_worse, p_better;                  /* exact, one-sided, corrected for the whole family */
    int    enough;                             /* rows, or groups of them, that only one version has wrong, all the same one,
                                                * which would show a change; 0: no such test was made */
    int    groups;                             /* of the rows; 0: rows are alone */
} spot_version_counts;

/* A slice of one search, on its compared rows. */
typedef struct {
    int cls;                                   /* class, or SPOT_ALL_CLASSES */
    int found, found_wrong;                    /* rows of its search; those of them that the searched errors have wrong */
    double proof_p;                            /* corrected p of its proof; above the proof's level: not confirmed */
    spot_version_counts counts;
} spot_version_piece;

typedef struct {
    int    cls;                                /* class, or SPOT_ALL_CLASSES */
    spot_change_verdict verdict;
    bool   confirmed[SPOT_VERSIONS];           /* by version 1, 2 */
    int    size, *row;                         /* (size): all its rows, ascending: of its searches, and the compared ones */
    int    compared, *at;                      /* (compared): the compared rows, ascending, each once */
    spot_version_counts counts;                /* over the compared rows; p and enough: the least of its pieces */
    double class_rate[SPOT_VERSIONS];          /* error rates in the classes of the compared rows */
    spot_interval change;                      /* error rate of version 2 less that of version 1 on the compared rows; 95 % */
    int    pieces;
    const spot_version_piece *piece;           /* (pieces): the smallest first */
} spot_version_slice;

/* A class as a whole: all of its rows, which need no search. */
typedef struct {
    int    cls;                                /* class, or SPOT_ALL_CLASSES: all rows, where each has one class */
    spot_change_verdict verdict;               /* never mended or new */
    spot_version_counts counts;
    spot_interval change;
} spot_version_class;

typedef struct { int row, cls; } spot_version_row;

typedef struct {
    char   name[SPOT_VERSIONS][SPOT_VERSION_NAME], data[SPOT_VERSION_NAME];
    int    n, tests;                           /* rows; paired tests in a family */
    double level, margin;
    int    slices;
    spot_version_slice *slice;                 /* (slices): new, worse, pending, same, better, mended; the surest first */
    int    classes;
    spot_version_class *of;                    /* (classes): all rows first where each has one class, then class by class */
    int    outside;
    spot_version_row *lost;                    /* (outside): rows outside all slices that were right and are wrong */
    bool   failed;                             /* a verdict is new or worse */
    bool   equal;                              /* both versions have the same rows wrong */
    spot_arena arena;                          /* holds all arrays */
} spot_versions;

/* Compares s[1] with s[0]: subjects of the same rows, classes and labels in the same order. The features are those of s[0];
 * those of s[1] are not used and may be NULL. Both know probabilities or predicted classes, or neither does, so that "wrong"
 * means the same. SPOT_INPUT where the two do not fit. A class without errors, or of too few rows, has no slices; that is no
 * failure. Results do not depend on threads. Close v also after a
 * failure. */
spot_status spot_versions_compare(spot_ctx *c, spot_versions *v, const spot_subject *const s[SPOT_VERSIONS],
                                  const spot_versions_options *o);
void        spot_versions_close(spot_versions *v);

/* Members of an object of versions.json: a slice, without its pieces and rows; a class. s: the first version. */
struct spot_json;
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

/* A number that the study has of each of its objects: "cem", "lowest"; "", "mixed-rand"; "clean, in the snow", "accuracy". */
typedef struct {
    char group[160], name[32];     /* group: "" where the study has no groups */
    bool lower_is_better;
} spot_model_quantity;

/* The change of one number over the objects that have it on both sides. p: two-sided, corrected over all changes (Holm). */
typedef struct {
    spot_model_quantity of;
    int    objects;
    double before, now;            /* means over them */
    spot_interval change;          /* now - before, 95 % by a bootstrap over objects (BCa); NaN where words.by_size is false */
    int    worse, better;          /* objects that changed */
    double p;
    bool   is_worse, is_better;    /* p at most 0.05 */
} spot_model_change;
const char *spot_model_change_word(const spot_model_change *x);        /* "worse", "better", "not shown", "same" */

/* How a study speaks of a comparison: heads of columns, which are keys of JSON, too. */
typedef struct {
    const char *group;             /* "examiner"; NULL: quantities have no groups */
    const char *quantity, *objects, *worse, *better;
    const char *note, *advice;     /* what the words mean; how to examine the same objects */
    bool is_share;                 /* numbers are shares */
    bool by_size;                  /* the test looks at the sizes of changes (all signs are equally likely), else only at how
                                    * many objects changed to each side (McNemar; for shares the sign test) */
} spot_model_words;

typedef struct { int n; struct { const char *name; int value; } of[4]; } spot_model_facts;      /* "seeds", 3 */

typedef struct {
    const spot_model_words *words;
    char   before[64], now[64];    /* names of the models */
    int    objects, left_out;      /* in both runs; in one of them alone */
    spot_model_facts facts;
    double least_p;                /* that so many objects can reach: above 0.05 nothing can be shown */
    int    changes;
    spot_model_change *change;     /* (changes) */
    bool   failed;                 /* something is worse */
    spot_memory *memory;           /* holds the array; spot_memory_close frees it */
} spot_model_comparison;

/* Whether it is a version: a run of `spotter background`, `examine` or `shifts`. A version is "DIR", a run with one model, or
 * "DIR:MODEL"; the longest directory that is there counts, whatever colons its name has. */
bool spot_is_model_run(const char *version);

/* SPOT_INPUT where the runs differ in more than the model: other objects, pictures or settings. SPOT_USAGE: runs of two
 * studies, or of a sweep, whose networks have no versions. The caller closes k's memory, also after a failure. */
spot_status spot_models_compare(spot_ctx *c, spot_model_comparison *k, const char *before, const char *now);

#ifdef __cplusplus
}
#endif
#endif
