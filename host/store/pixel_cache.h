/* pixel_cache.h - the pixels of all pictures that a sweep uses, decoded once: DIR/cache/<key>.album.
 *
 * The file holds n pictures of size x size x 3 bytes, the XXH3-64 of each, and a tail with these numbers. Training reads it by
 * pread, so it uses no memory except the system's page cache. */
#ifndef SPOTTER_PIXEL_CACHE_H
#define SPOTTER_PIXEL_CACHE_H

#include "spotter/scene.h"
#include "store/store.h"

/* Opens the run's pixel cache for p, which reads from it from then on; creates it if it is missing or damaged. SPOT_INPUT gives
 * the number of pictures that cannot be decoded, and the first of them; or of those whose files have other bytes than when the
 * cache was made. Files whose names, sizes and times are those of an earlier start are not read again (contents.h). */
spot_status spot_pixel_cache_open(spot_ctx *c, const spot_store *store, spot_photos *p);

/* The same for who reads the run in dir, which may be a stranger's: makes nothing. *found is false, and p reads its files as
 * before, where the run has no whole pixel cache. */
spot_status spot_pixel_cache_find(spot_ctx *c, const char *dir, spot_photos *p, bool *found);

/* Bytes on the disk; number of pictures; time to create it per picture, measured on some of them. */
double      spot_pixel_cache_bytes(const spot_photos *p);
int         spot_pixel_cache_pictures(const spot_photos *p);
spot_status spot_pixel_cache_pace(spot_ctx *c, spot_spent *each, const spot_photos *p);

#endif
