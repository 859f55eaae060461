/* version_values.h - what a study tells of two versions of a model: a number of every object, in each of its quantities.
 *
 * A study that can be compared is a reader: a function that opens both runs, sees that they fit and fills the values. Matching
 * objects, tests, correction and verdicts are the same for all (model_compare.c). */
#ifndef SPOTTER_VERSION_VALUES_H
#define SPOTTER_VERSION_VALUES_H

#include "spotter/arena.h"
#include "spotter/versions.h"
#include "versions/version_place.h"

enum { SPOT_VERSION_ID = 128 };

/* The values of one version. */
typedef struct {
    char   name[64];                       /* of the model */
    int    objects, quantities;
    char (*id)[SPOT_VERSION_ID];           /* (objects): one id on both sides is one object */
    spot_model_quantity *quantity;         /* (quantities): the same on both sides */
    double *value;                         /* (quantities, objects): NaN where the object has none */
    spot_model_facts facts;
    spot_memory *memory;                   /* holds all arrays; the caller closes it */
} spot_version_values;

/* Room for so many, with values NaN and the rest zeros; v is zeroed before. */
spot_status spot_version_values_open(spot_ctx *c, spot_version_values *v, int objects, int quantities);

static inline double *spot_version_value(const spot_version_values *v, int quantity, int object)
{
    return &v->value[(size_t)quantity * (size_t)v->objects + (size_t)object];
}

/* read: opens both versions. SPOT_INPUT where they cannot be compared. */
typedef struct {
    const char *study;                     /* its name in the run's config */
    spot_model_words words;
    spot_status (*read)(spot_ctx *c, spot_version_values v[SPOT_VERSIONS], const spot_version_place place[SPOT_VERSIONS]);
} spot_version_reader;

extern const spot_version_reader spot_background_versions, spot_examine_versions, spot_shifts_versions;

/* The reader of the study whose run the version is; NULL: it is no run, or one whose models have no versions. */
const spot_version_reader *spot_version_reader_of(const spot_version_place *p);

/* Compares values in memory. k is zeroed before but for the names; the caller closes its memory, also after a failure. */
spot_status spot_model_values_compare(spot_ctx *c, spot_model_comparison *k, const spot_model_words *words,
                                      const spot_version_values v[SPOT_VERSIONS], double margin);

#endif
