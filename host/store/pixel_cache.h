/* pixel_cache.h - the pixels of all pictures that a sweep uses, decoded once: DIR/cache/<key>.album.
 *
 * n pictures of size x size x 3 bytes, the XXH3-64 of each, and a tail that says so. Training reads from it by pread, so that
 * no memory is taken but what the system has to spare for its page cache. */
#ifndef SPOTTER_PIXEL_CACHE_H
#define SPOTTER_PIXEL_CACHE_H

#include "spotter/photos.h"
#include "spotter/store.h"

/* Opens the run's album of p, which from then on reads from it; makes it first where it is missing or not whole. SPOT_INPUT
 * names the first of the pictures that cannot be decoded and says how many there are. */
spot_status spot_pixel_cache_open(spot_ctx *c, const spot_store *store, spot_photos *p);

/* What it takes on the disk; how many pictures it has; and what making it takes for each, by some of them. */
double      spot_pixel_cache_bytes(const spot_photos *p);
int         spot_pixel_cache_pictures(const spot_photos *p);
spot_status spot_pixel_cache_pace(spot_ctx *c, spot_spent *each, const spot_photos *p);

#endif
