/* amx_tiles.h - AMX's instructions. On other kinds of CPU than x86-64 they compute nothing, so that the code around them
 * compiles; SPOT_AMX_TILES is 0 there, and nothing calls it. */
#ifndef SPOTTER_AMX_TILES_H
#define SPOTTER_AMX_TILES_H

#ifdef __x86_64__
#include <immintrin.h>
#define SPOT_AMX_TILES 1
#define WITH_AMX __attribute__((target("amx-tile,amx-bf16")))
#else
#include <string.h>
#define SPOT_AMX_TILES 0
#define WITH_AMX
#define _tile_loadconfig(config) ((void)(config))
#define _tile_release() ((void)0)
#define _tile_zero(tile) ((void)0)
#define _tile_loadd(tile, from, stride) ((void)(from), (void)(stride))
#define _tile_stored(tile, to, stride) memset(to, 0, 16 * (stride))
#define _tile_dpbf16ps(sum, a, b) ((void)0)
#endif

#endif
