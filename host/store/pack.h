/* pack.h - converts stage values to bytes and back, by one description of each value.
 *
 * A description ("spot_pack_points") names the value's parts in order. The same function counts, writes and reads; the packer
 * decides which. Arrays that are read live in the arena. Numbers have this machine's byte order; the store's checksum
 * protects the bytes. */
#ifndef SPOTTER_PACK_H
#define SPOTTER_PACK_H

#include "spotter/arena.h"
#include "spotter/bdm.h"
#include "spotter/model.h"
#include "spotter/view.h"
#include "store/store.h"

typedef struct {
    enum { PACK_COUNT, PACK_WRITE, PACK_READ } way;
    unsigned char *at;         /* the next byte */
    size_t n, left;            /* bytes counted; bytes left to read */
    spot_arena *arena;         /* memory of arrays that are read */
} spot_packer;

typedef spot_status spot_pack_fn(spot_ctx *c, spot_packer *p, void *value);

typedef struct { spot_view view; spot_truth truth; } spot_seen;

spot_pack_fn spot_pack_model, spot_pack_learning, spot_pack_seen, spot_pack_points, spot_pack_found;
spot_pack_fn spot_pack_fit;            /* read: a fit that owns its arrays, for spot_fit_close also after a failure */

/* recall: reads the stored value of this key; *found is false if it is missing or damaged. keep: stores a value. */
spot_status spot_recall(spot_ctx *c, spot_arena *a, const spot_store *s, spot_key k, const char *kind,
                        spot_pack_fn *pack, void *value, bool *found);
spot_status spot_keep(spot_ctx *c, const spot_store *s, spot_key k, const char *kind, spot_pack_fn *pack, void *value);

#endif
