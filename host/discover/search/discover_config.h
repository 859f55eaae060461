/* discover_config.h - the config of a folder of findings: whose rows they are, which classes are searched, and how.
 *
 * It says by hashes what the rows hold, not where their files lie. Findings of other rows are another run, which needs a folder
 * of its own; other methods or options on the same rows are the same run with other results. */
#ifndef SPOTTER_DISCOVER_CONFIG_H
#define SPOTTER_DISCOVER_CONFIG_H

#include "spotter/config.h"
#include "spotter/discover.h"
#include "study/yaml.h"

typedef struct { uint64_t seed; } spot_discover_seed;

typedef struct {
    spot_memory *memory;
    int study;                     /* 0, "discover" */
    const char *data;              /* hash of labels, confidences and names: two folders with it are of the same rows */
    const char *features;          /* hash of all else that a search looks at */
    int classes;                   /* that are searched: the units */
    int cls, least;                /* as in spot_discover_options */
    int seeds;
    spot_discover_seed *seed;      /* (seeds) */
    int proves;
    spot_proof_options proof;
    int bdms;
    spot_bdm_config *bdm;          /* (bdms) */
} spot_discover_config;

extern const spot_config_kind spot_discover_kind;

/* The config of a search in `classes` classes. o NULL: only what says whose rows they are. Close its memory, also after a
 * failure. */
spot_status spot_discover_config_of(spot_ctx *c, spot_discover_config *cfg, const spot_subject *s,
                                    const spot_discover_options *o, int classes);

#endif
