/* batch.h - writes many files, each whole or not at all, with a few syncs instead of two per file.
 *
 * An added file lies beside its final place under a temp name. The commit syncs all of them at once (syncfs), renames them in
 * the order of addition, and syncs the folders. So no name ever points at bytes that a power cut can lose, and earlier
 * commits survive a later one that fails. */
#ifndef SPOTTER_BATCH_H
#define SPOTTER_BATCH_H

#include <stdbool.h>

#include "base/text.h"

typedef struct {
    spot_text names;           /* temp NUL path NUL for each file; temp "": already in its place */
    bool      dirty;           /* some files are not on the disk yet */
} spot_batch;

/* A zeroed batch is empty. write: adds n bytes at path. link: adds the file `from` at path; a hard link at once if the file
 * system allows it and path is free (files of a run are replaced, never changed), else a copy. Both create folders. */
spot_status spot_batch_write(spot_ctx *c, spot_batch *b, const char *path, const void *bytes, size_t n);
spot_status spot_batch_link (spot_ctx *c, spot_batch *b, const char *path, const char *from);

/* Empties the batch. */
spot_status spot_batch_commit(spot_ctx *c, spot_batch *b);

/* Removes uncommitted files and frees the batch. */
void        spot_batch_drop(spot_batch *b);

#endif
