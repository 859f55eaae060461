/* discover.h - subject -> findings: every method on every class asked for, under every seed; and what is written of them.
 *
 * Every method looks at the subject's features, whatever its `representation`; that of a file is SPOT_USAGE.
 *
 * A folder of findings:
 *     slices.csv     id, class, method, seed, rank, score: a line for every row of every slice. A text that a spreadsheet would
 *                    run as a formula (it begins with = + - @ or a tab, and is no number) has ' before it
 *     slices.json    what was examined; each slice: size, error rate, mean confidence, share of all errors, nearest correct
 *                    neighbours; what was not examined and why
 *     map.npy        (n, 2): the first map's first two columns in the subject's order, those of PCA where no method has a map;
 *                    NaN where a row was in no class examined
 *     fit.safetensors    what the methods learned (spot_fit), by which spotter assign puts new rows into the slices: "I/NAME"
 *                    for finding I of slices.json
 *     subject.safetensors    of subject and findings what a report shows: by it spot_findings_read makes one later
 *     config.yaml    methods and seeds as resolved
 *     report.html    for eyes (report.h)
 *     cache/         maps and hypotheses by what made them (store.h): another method does not make a map again
 * Each whole or not at all; the same bytes for any number of threads, and from the library, the program and Python. */
#ifndef SPOTTER_DISCOVER_H
#define SPOTTER_DISCOVER_H

#include <stdbool.h>

#include "spotter/bdm.h"
#include "spotter/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPOT_EACH_CLASS = -2, SPOT_ALL_CLASSES = -1 };
#define SPOT_MAX_NEIGHBOURS 8

typedef struct {
    const spot_bdm_config *bdm;
    int   bdms;
    const uint64_t *seed;
    int   seeds;
    int   cls;                 /* one class, or one of the two above */
    int   least;               /* rows that a class must have to be examined: 20, at least 1 */
    int   neighbours;          /* correct rows nearest to each slice's middle that are named: 8 at most */
    bool  fit;                 /* keep what assigns new rows; hypotheses are then not taken from the cache */
    size_t memory;             /* bytes that subject, work and findings may take together; 0: what the machine has free */
    const char *cache;         /* folder of findings whose cache is used and filled, made when missing; NULL: none */
} spot_discover_options;

/* A hypothesis with what people ask about it. */
typedef struct {
    int    size, wrong;        /* rows; of them wrong for certain */
    double error_rate;         /* wrong / size */
    double mean_confidence, share;   /* share of all wrong rows of its class */
    double score;              /* the method's */
    int   *row;                /* (size): rows of the subject, ascending */
    int    neighbours, neighbour[SPOT_MAX_NEIGHBOURS];   /* correct rows of the class, nearest in the features first */
} spot_slice;

/* One method on one class under one seed. */
typedef struct {
    int         bdm, cls;      /* of the options; SPOT_ALL_CLASSES */
    uint64_t    seed;
    int         n, wrong;      /* rows of the class; of them wrong for certain */
    int        *row;           /* (n): rows of the subject */
    spot_points points;        /* the map the method saw, (n, points.d); at NULL where nothing was reduced */
    int         slices;
    spot_slice  slice[SPOT_MAX_HYPOTHESES];
    spot_fit    fit;           /* of no tensors unless asked for; may borrow the subject's features, which then stay */
    spot_status status;        /* not SPOT_OK: it failed on this class, others went on, and this is why */
    char        message[1024];
} spot_finding;

typedef struct {
    int           count;
    spot_finding *finding;     /* by class, then method, then seed */
    int           left_out;    /* classes with fewer than `least` rows, or without a wrong one */
    int          *left_class;  /* (left_out) */
    float        *map;         /* (n, 2), as map.npy */
    spot_arena    arena;       /* holds all of it; the features of a large subject are not copied into it */
} spot_findings;

spot_discover_options spot_discover_defaults(void);      /* planespot as spot_bdm_defaults has it; one seed, 0; each class */

/* Bytes at the peak, the subject's arrays among them; and seconds (an estimate from sizes and a calibration of at most two
 * seconds, NaN where none is known; NULL: not asked for). SPOT_NOMEM where o->memory does not suffice; both are set all the
 * same. */
spot_status spot_discover_cost(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_bytes *bytes,
                               double *seconds);

/* Classes go through a method as one batch, or as many at a time as memory suffices for; none of it changes a result. SPOT_OK
 * where at least one finding is; else the first failure. SPOT_STOPPED when the stop flag went up: what was computed is in
 * the cache. Close after either. */
spot_status spot_discover      (spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o);
void        spot_findings_close(spot_findings *f);

/* spot_bdm_assign with memory of its own: member (rows->n, hypotheses), hypotheses the finding's slices, fit its fit and cfg
 * its method's settings. rows->confidence NULL: not known. */
spot_status spot_assign(spot_ctx *c, uint8_t *member, int hypotheses, const spot_view *rows, const spot_fit *fit,
                        const spot_bdm_config *cfg);

/* All files above but report.html into dir, which is made. */
spot_status spot_findings_write(spot_ctx *c, const char *dir, const spot_findings *f, const spot_subject *s,
                                const spot_discover_options *o);

/* Back from such a folder, as far as spot_report_findings goes: s has no features, f no fit, o nothing but the names of the
 * methods. Pictures are found where they were, seen from the directory in which the folder was written. Whoever wrote the
 * folder chose their names, so only files of the recorded size and time of change count; others are left out with a warning.
 * Everything is s's own: close f, then s. SPOT_INPUT where the folder is older than subject.safetensors, or that file is
 * damaged. */
spot_status spot_findings_read(spot_ctx *c, const char *dir, spot_subject *s, spot_findings *f, spot_discover_options *o);

/* The pictures of findings that were read are FOLDER/ID from here on. SPOT_INPUT where an id leads out of the folder, also by a
 * symbolic link. */
spot_status spot_findings_pictures(spot_ctx *c, spot_subject *s, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
