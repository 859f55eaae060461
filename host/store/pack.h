/* pack.h - stage values to bytes and back, by one description of each value.
 *
 * A description ("pack_points") names the value's parts in order. The same function counts, writes and reads: what a
 * direction does with a part is decided by the packer. Arrays that are read live in the arena. Numbers are in this
 * machine's order; the store's frame vouches for the bytes. */
#ifndef SPOTTER_PACK_H
#define SPOTTER_PACK_H

#include "spotter/arena.h"
#include "spotter/bdm.h"
#include "spotter/model.h"
#include "spotter/store.h"
#include "spotter/view.h"

typedef struct {
    enum { PACK_COUNT, PACK_WRITE, PACK_READ } way;
    unsigned char *at;         /* the next byte */
    size_t n, left;            /* counted; still to be read */
    spot_arena *arena;         /* of arrays that are read */
} spot_packer;

typedef spot_status spot_pack_fn(spot_ctx *c, spot_packer *p, void *value);

typedef struct { spot_view view; spot_truth truth; } spot_seen;

spot_pack_fn spot_pack_model, spot_pack_learning, spot_pack_seen, spot_pack_points, spot_pack_found;

/* The stored value of this key, if it is there and whole. */
spot_status spot_recall(spot_ctx *c, spot_arena *a, const spot_store *s, spot_key k, const char *kind,
                        spot_pack_fn *pack, void *value, bool *found);
spot_status spot_keep(spot_ctx *c, const spot_store *s, spot_key k, const char *kind, spot_pack_fn *pack, void *value);

#endif
