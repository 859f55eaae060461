/* version_place.h - what a version is, by the words of the user: probabilities, a folder of findings, or a run of a study,
 * which is "DIR", with one model, or "DIR:MODEL". */
#ifndef SPOTTER_VERSION_PLACE_H
#define SPOTTER_VERSION_PLACE_H

#include "spotter/versions.h"

typedef struct { char dir[1024]; const char *model; } spot_version_place;      /* model: NULL where none is named */

/* Colons may be in both parts: the longest DIR that is there counts, so that a directory is found whatever its name is. Where
 * none is there, the part before the last colon. SPOT_USAGE for a path that is too long. */
spot_status spot_version_place_of(spot_ctx *c, spot_version_place *p, const char *version);

/* The kind follows from what is there; nothing: a file of probabilities, whose reader will say so. */
typedef enum { SPOT_VERSION_PROBABILITIES, SPOT_VERSION_FINDINGS, SPOT_VERSION_RUN } spot_version_kind;
spot_version_kind spot_version_kind_of(const char *version);

/* *model: the index of the version's model among `models`, whose names come from name_of. SPOT_USAGE names those to choose
 * from. */
spot_status spot_version_model(spot_ctx *c, int *model, const spot_version_place *p, const void *run, int models,
                               const char *(*name_of)(const void *run, int model));

/* Names by which two versions can be told apart: of "a/v1.npy" and "a/v2.npy" the names of the files, "v1" and "v2"; of equal
 * ones the shortest ends of both paths that differ, "v1/p.npy" and "v2/p.npy". "version 1" and "version 2" where nothing
 * differs. A member of a file follows behind a colon. */
spot_status spot_version_names(spot_ctx *c, char name[SPOT_VERSIONS][SPOT_VERSION_NAME],
                               const char *const version[SPOT_VERSIONS]);

#endif
