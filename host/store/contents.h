/* contents.h - hashes of the bytes of files, remembered by their paths, sizes and times. */
#ifndef SPOTTER_CONTENTS_H
#define SPOTTER_CONTENTS_H

#include "store/store.h"

/* key (n): the hash of each file. root: the folder that the paths begin in; NULL: they are whole. store: a later call with
 * files of equal paths, sizes and times does not read them; NULL: they are read. A store that cannot keep the hashes is no
 * failure. SPOT_IO names the first file that cannot be read. */
spot_status spot_contents_of(spot_ctx *c, spot_key *key, const char *root, const char *const *path, int n,
                             const spot_store *store);

#endif
