/* batch.h - many files whole or not at all, for a few syncs instead of two each.
 *
 * A file that is added lies beside its place under a temp name. The commit syncs all of them at once (syncfs), renames them in
 * the order in which they were added, and syncs the folders. So whatever happens no name points at bytes that a power cut can
 * take away, and what is committed before is there when a later commit fails. */
#ifndef SPOTTER_BATCH_H
#define SPOTTER_BATCH_H

#include <stdbool.h>

#include "spotter/store.h"

typedef struct {
    char  *names;              /* temp NUL path NUL, file after file; temp "": it is in its place already */
    size_t used, room;
    bool   dirty;              /* some have bytes that are not on the disk yet */
} spot_batch;

/* A zeroed batch is empty. n bytes to path; or the file `from`, at once as a link where the file system has links between the
 * two places and nothing is there yet, else copied: files of a run are replaced, never changed. Folders are made. */
spot_status spot_batch_write(spot_ctx *c, spot_batch *b, const char *path, const void *bytes, size_t n);
spot_status spot_batch_link (spot_ctx *c, spot_batch *b, const char *path, const char *from);

/* The batch is empty then. */
spot_status spot_batch_commit(spot_ctx *c, spot_batch *b);

/* Removes what was not committed, and the memory. */
void        spot_batch_drop(spot_batch *b);

#endif
