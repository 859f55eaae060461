/* attack.h - changes images so that a network's loss grows: projected gradient ascent in L2 (Madry et al. 2018), or by the
 * gradient's signs (Goodfellow et al. 2015: FGSM is a start at the image and one move of length epsilon).
 *
 * Each image is changed alone. Pixel values are from 0 to 1, g is the gradient by them, |.| is over all numbers of an image:
 *
 *     start    d = 0, or a vector of length epsilon in a random direction (noise uniform in (-1, 1), scaled)
 *     move     d += length * g / |g|,  then where |d| > epsilon   d *= epsilon / |d|
 *     signs    d += length * sign(g),  then each number of d is cut to [-epsilon, epsilon]; no random start
 *     all      d is cut so that pixel + d stays in [0, 1];  x = clean + d / std[channel]
 *
 * clean, x and grad are inputs of a network (conv.h), normalised (raster.h): on the CPU (rows, 3, pixels) in fp32 and (rows,
 * pixels, 3) in bf16, on CUDA (rows, pixels, 4) in the order of core/stem.h and in the plane's precision; grad is the
 * gradient by x, whose signs are those of g. d (live, 3 * pixels) is fp32 on both, in the order of x without its empty
 * channels, so bf16 rounds x and never d. A gradient of 0 moves nothing; a NaN in it stays. Norms are summed in double in a
 * fixed order: d is within 1e-6 of epsilon. Number j = 3 * pixel + channel of the noise of image n is word j % 4 of the block
 * at draw n * ceil(3 * pixels / 4) + j / 4, index *made, of SPOT_RNG_ADVERSARY; pixels count row by row. */
#ifndef SPOTTER_ATTACK_H
#define SPOTTER_ATTACK_H

#include "core/philox.h"
#include "net/norm.h"

typedef struct {
    double     epsilon, length;
    bool       random;         /* start in a random direction */
    bool       signs;          /* moves by signs */
    uint64_t   seed;
    uint32_t   ec;
    const int *made;           /* steps of the training so far, in the memory of c's device */
} spot_attack_rule;

/* A number in (-1, 1), exact. */
static inline SPOT_HD float spot_attack_noise(uint32_t word) { return ((float)(word >> 9) + 0.5f) / 4194304 - 1; }

/* A number of d after a move by the sign of its gradient g, which keeps a NaN. */
static inline SPOT_HD float spot_attack_sign(float d, float g, float length, float epsilon)
{
    const float to = d + length * (g > 0 ? 1.0f : g < 0 ? -1.0f : g);

    return to > epsilon ? epsilon : to < -epsilon ? -epsilon : to;
}

struct spot_attack_ops {
    spot_status (*start)(spot_ctx *c, void *x, float *d, const void *clean, spot_plane p, const spot_attack_rule *rule);
    spot_status (*move)(spot_ctx *c, void *x, float *d, const void *clean, const void *grad, spot_plane p,
                        const spot_attack_rule *rule);
};

/* p: the plane of clean, with 3 channels on the CPU. Rows from live on are not touched. */
spot_status spot_attack_start(spot_ctx *c, void *x, float *d, const void *clean, spot_plane p, const spot_attack_rule *rule);
spot_status spot_attack_move(spot_ctx *c, void *x, float *d, const void *clean, const void *grad, spot_plane p,
                             const spot_attack_rule *rule);

#endif
