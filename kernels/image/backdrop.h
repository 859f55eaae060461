/* backdrop.h - pictures of objects become pictures without them: backgrounds for blend.h, and derived sets of the Backgrounds
 * Challenge (Xiao et al. 2021, "Noise or signal").
 *
 *   SPOT_BACKDROP_PLAIN     one colour everywhere
 *   SPOT_BACKDROP_NOISE     normal noise of deviation sigma around the colour, rounded and limited to bytes
 *   SPOT_BACKDROP_BLURRED   the background, blurred by a Gaussian of sigma pixels, cut at 3 sigma. Pixels of the object weigh
 *                           nothing, so that it does not bleed. The colour where no other pixel is near
 *   SPOT_BACKDROP_CUT       the picture with the object in the colour: (1 - mask) x + mask x colour
 *   SPOT_BACKDROP_BOX       the picture with the object's bounding box in the colour
 *   SPOT_BACKDROP_TILED     the picture with the bounding box filled by tiles, from its corner on. The tile is the largest
 *                           rectangle of the picture beside the box: the strip to its left, to its right, above or below, the
 *                           first of equal ones. Without any, the box has the colour
 *   SPOT_BACKDROP_NOISE_ON  the picture with normal noise of deviation sigma added to the object's pixels alone
 *   SPOT_BACKDROP_NOISE_OFF the same on all other pixels
 *
 * In the paper's words: Only-FG is the picture blended on PLAIN black; No-FG is CUT in black; Only-BG-B is BOX in black;
 * Only-BG-T is TILED; Mixed-Same, Mixed-Rand and Mixed-Next are the picture blended on TILED of a donor, whose class the caller
 * chooses.
 *
 * A pixel is the object's when its mask is at least `least`; CUT alone has soft edges. Bytes are equal on every device and for
 * any number of threads (gpu_to_gpu): integers, or one correctly rounded operation or fmaf at a time, in one order. Arrays lie
 * in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_BACKDROP_H
#define SPOTTER_BACKDROP_H

#include <stddef.h>
#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"
#include "spotter/rng.h"

typedef enum {
    SPOT_BACKDROP_PLAIN, SPOT_BACKDROP_NOISE, SPOT_BACKDROP_BLURRED, SPOT_BACKDROP_CUT, SPOT_BACKDROP_BOX, SPOT_BACKDROP_TILED,
    SPOT_BACKDROP_NOISE_ON, SPOT_BACKDROP_NOISE_OFF, SPOT_BACKDROPS
} spot_backdrop_kind;

typedef struct {
    spot_backdrop_kind kind;
    int            width, height, pictures;
    const uint8_t *rgb;            /* (pictures, height, width, 3); all kinds but PLAIN and NOISE */
    const uint8_t *mask;           /* (pictures, height, width), 255: the object; the same */
    int            least;          /* from 1 to 255; BLURRED, BOX, TILED, NOISE_ON, NOISE_OFF */
    uint8_t        colour[3];
    float          sigma;          /* NOISE, NOISE_ON, NOISE_OFF: above 0, at most 255; BLURRED: at most SPOT_BACKDROP_SIGMA */
    spot_seed      seed;           /* the same three: picture i has the address (first + i), one noise for all of them */
    uint32_t       first;
    uint8_t       *out;            /* (pictures, height, width, 3) */
    int           *box;            /* (pictures, 4): BOX and TILED write first column, first row, and the ends of both; all 0
                                    * for an empty mask */
} spot_backdrop;

enum { SPOT_BACKDROP_SIDE = 8192, SPOT_BACKDROP_SIGMA = 32 };

struct spot_backdrop_ops {
    spot_status (*make)(spot_ctx *c, spot_arena *scratch, int problems, const spot_backdrop *p);
};

/* SPOT_INVALID for a kind, size, threshold or sigma that is out of range. */
spot_status spot_backdrop_make(spot_ctx *c, spot_arena *scratch, int problems, const spot_backdrop *p);

/* Bytes of scratch. threads 0: CUDA's. */
size_t spot_backdrop_scratch(int problems, const spot_backdrop *p, int threads);

#endif
