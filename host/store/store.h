/* store.h - the run directory, which holds values and results.
 *
 *     DIR/config.yaml            the resolved config
 *     DIR/cache/ab/<key>.<kind>  stage values by key
 *     DIR/segments/000/ec-000012.json   one result segment per EC, whole or absent; a folder per thousand ECs
 *     DIR/pictures/000/ec-000012-0-<method>.png
 *     DIR/logs/<I>-of-<N>-<host>-<pid>.jsonl   one file per process of shard I of N; no two processes share a file
 *     DIR/claims/ec-000012       units that living processes compute, where shards share units (study/unit_claim.h)
 *     DIR/plans/<GPU>-cudnn-<version>/<convolution>.plan   what all processes of a run on GPUs convolve with
 *     DIR/results.sqlite         derived from the segments at any time
 *
 * The name of a value is a hash of its settings, the key of its source, and the version of the numbers. A file is written
 * under a temp name in the same directory, fsynced and renamed; then the directory is fsynced. Each file carries its length
 * and checksum. There are no locks and no shared appends. An EC is done when it has a valid segment. */
#ifndef SPOTTER_STORE_H
#define SPOTTER_STORE_H

#include "base/file.h"
#include "base/key.h"

#define SPOT_ECS_A_FOLDER 1000

/* spot_folder_make makes a folder and its parents where they are missing, and syncs each new one into its parent.
 * spot_folder_of makes the folder that will hold the file `path`; it refuses a symbolic link, which may lead out of the run. */
spot_status spot_folder_make(spot_ctx *c, const char *path);
spot_status spot_folder_of(spot_ctx *c, const char *path);
/* Removes temp files of this program that are an hour old or older, from the folder and from those in it; follows no links. */
void        spot_folder_tidy(const char *dir);

typedef struct {
    char dir[1024];
    bool brief;            /* values take moments: no fsync. A power cut may damage them; then they are computed again */
} spot_store;

/* Makes the directory tree where it is missing. Removes temp files of this program that are an hour old or older. SPOT_IO if
 * it cannot be made, or if one of its folders is a symbolic link. */
spot_status spot_store_open(spot_ctx *c, spot_store *s, const char *dir);
/* A folder of a study in it: makes it and removes old temp files, as open does with the folders that all studies have; and
 * syncs it with its subfolders, since who wrote there may have been killed before that. A study opens its folders before it
 * looks for files in them. */
spot_status spot_store_folder(spot_ctx *c, const spot_store *s, const char *name);
/* Opens it for reading: makes and removes nothing. */
spot_status spot_store_open_to_read(spot_ctx *c, spot_store *s, const char *dir);
/* Opens the folder `plans` of a run on a GPU: c's convolutions take cuDNN's plans from it from now on (net/conv.h), so that all
 * processes of the run round alike. Nothing on the CPU. Call it before the first network is opened. */
spot_status spot_store_plans(spot_ctx *c, const spot_store *s);
/* Opens a store that has only the cache, brief. */
spot_status spot_store_open_cache(spot_ctx *c, spot_store *s, const char *dir);

/* A stage value is a framed file: magic, length, checksum, payload. has: the file exists, whole or damaged. get: *found is
 * false when it is absent or damaged (damage is logged); bytes are malloc'd. drop: removes it, if the file system allows. */
spot_status spot_store_put(spot_ctx *c, const spot_store *s, spot_key k, const char *kind, const void *bytes, size_t n);
bool        spot_store_has(const spot_store *s, spot_key k, const char *kind);
spot_status spot_store_get(spot_ctx *c, const spot_store *s, spot_key k, const char *kind,
                           unsigned char **bytes, size_t *n, bool *found);
void        spot_store_drop(const spot_store *s, spot_key k, const char *kind);

#endif
