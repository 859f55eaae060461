/* store.h - where values and results live: a run directory.
 *
 *     DIR/config.yaml            the resolved config
 *     DIR/cache/ab/<key>.<kind>  stage values by key
 *     DIR/segments/000/ec-000012.json   one result segment per EC: whole or not there; a folder per thousand ECs
 *     DIR/pictures/000/ec-000012-0-<method>.png
 *     DIR/logs/<I>-of-<N>-<host>-<pid>.jsonl   one file per process of shard I of N: no two ever append to the same one
 *     DIR/results.sqlite         made from the segments, can be made again at any time
 *
 * A value's name is the hash of what made it: the settings, its source's key, the version of the numbers. Files are
 * written to a temp name in the same directory, fsynced, renamed, and the directory fsynced; each carries its length
 * and checksum. No locks, no shared appends. Done means that a valid segment is there. */
#ifndef SPOTTER_STORE_H
#define SPOTTER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_ECS_A_FOLDER 1000

typedef struct { uint64_t hi, lo; } spot_key;                     /* 128 bits of XXH3 */

spot_key spot_key_of(const void *bytes, size_t n);
spot_key spot_key_join(spot_key source, const char *what, const void *settings, size_t n);
void     spot_key_text(char text[33], spot_key k);

/* bytes to path, whole or not at all. SPOT_IO names the path and the reason. A device or a pipe, such as /dev/stdout, is
 * written into and stays what it is. */
spot_status spot_file_write(spot_ctx *c, const char *path, const void *bytes, size_t n);
/* The same in steps: a new file beside path, whose name `temp` gets, open for writing; and when it is written and closed,
 * fsync, rename, fsync, as also for a file that another library wrote; or its end with the errno that it came to. */
spot_status spot_file_begin (spot_ctx *c, char *temp, size_t size, const char *path, int *fd);
spot_status spot_file_commit(spot_ctx *c, const char *temp, const char *path);
spot_status spot_file_abort (spot_ctx *c, const char *temp, const char *path, int error);
/* The whole file into a malloc'd buffer, NUL-terminated behind its end; refuses more than `limit` bytes, pipes and devices. */
spot_status spot_file_read(spot_ctx *c, const char *path, unsigned char **bytes, size_t *n, size_t limit);

/* The folder and those above it, where they are missing; one that is made is synced into the one above it. And the folder in
 * which a file of this path lies; a symbolic link in its place is refused, for it may lead out of the run. */
spot_status spot_folder_make(spot_ctx *c, const char *path);
spot_status spot_folder_of(spot_ctx *c, const char *path);

typedef struct { char dir[1024]; } spot_store;

/* Makes the directory tree when missing, and removes temp files of this program that were left there an hour or longer ago.
 * SPOT_IO if it cannot be made; a symbolic link in the place of one of its folders is refused. */
spot_status spot_store_open(spot_ctx *c, spot_store *s, const char *dir);
/* For reading: nothing is made and nothing removed. */
spot_status spot_store_open_to_read(spot_ctx *c, spot_store *s, const char *dir);
/* With the cache as its only room. */
spot_status spot_store_open_cache(spot_ctx *c, spot_store *s, const char *dir);

/* A stage value: a framed file (magic, length, checksum, payload). has: it is there, whole or not. get: *found false when
 * absent or damaged (damaged is logged and counts as absent); bytes are malloc'd. drop: it is there no longer, if the file
 * system lets it go. */
spot_status spot_store_put(spot_ctx *c, const spot_store *s, spot_key k, const char *kind, const void *bytes, size_t n);
bool        spot_store_has(const spot_store *s, spot_key k, const char *kind);
spot_status spot_store_get(spot_ctx *c, const spot_store *s, spot_key k, const char *kind,
                           unsigned char **bytes, size_t *n, bool *found);
void        spot_store_drop(const spot_store *s, spot_key k, const char *kind);

#ifdef __cplusplus
}
#endif
#endif
