/* rng.h - random numbers with addresses: Philox4x32-10 (Salmon et al. 2011). Key = seed, counter = the address
 * {draw, index, ec, purpose}. The same address gives the same bits on every device, thread and shard (gpu_to_gpu).
 * Kernels use the same functions inline (kernels/core/philox.h). */
#ifndef SPOTTER_RNG_H
#define SPOTTER_RNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Never renumber: results depend on it. */
typedef enum {
    SPOT_RNG_EC = 1,        /* layers, rollables, blindspots of an EC */
    SPOT_RNG_TRAIN, SPOT_RNG_VAL, SPOT_RNG_TEST,   /* one image: attributes, places, phases */
    SPOT_RNG_NOISE_TRAIN, SPOT_RNG_NOISE_VAL, SPOT_RNG_NOISE_TEST,   /* salt and pepper of one image */
    SPOT_RNG_INIT,          /* network weights; index = tensor */
    SPOT_RNG_SHUFFLE,       /* order of training images; index = epoch */
    SPOT_RNG_SCVIS_INIT, SPOT_RNG_SCVIS_BATCH, SPOT_RNG_SCVIS_NOISE, SPOT_RNG_SCVIS_DROP,
    SPOT_RNG_TSNE, SPOT_RNG_KMEANS, SPOT_RNG_PCA, SPOT_RNG_BOOTSTRAP,
    SPOT_RNG_FLIP,          /* label noise below 100 % */
    SPOT_RNG_UMAP_START, SPOT_RNG_UMAP_DRAW,       /* noise of the first map; drawn negatives, index = step */
    SPOT_RNG_DOMINO,        /* noise of the first responsibilities, row by row */
    SPOT_RNG_INFORMATION,   /* noise that breaks ties of a feature; index = feature */
    SPOT_RNG_SPOTLIGHT,     /* unused: the upstream code's noise before its projection is left out */
    SPOT_RNG_ADVERSARY,     /* start of an attack; index = step */
    SPOT_RNG_AUDIT,         /* the split of Multiaccuracy */
    SPOT_RNG_SPLIT,         /* the split of a picture */
    SPOT_RNG_BALANCE,       /* pictures that are kept to make classes equal; ec = task, index = split */
    SPOT_RNG_POOL,          /* order of a pool's combinations; index = cell */
    SPOT_RNG_PLANT,         /* contents of a planted picture; ec = its folder */
    SPOT_RNG_PLANT_NOISE,   /* rain and noise of a planted picture */
    SPOT_RNG_GRID,          /* labels and pictures of a grid for raters; ec = task, index = grid */
    SPOT_RNG_DESCRIBE,      /* descriptions: index 0 halves a class's rows, index 1 + r draws random group r */
    SPOT_RNG_BACKGROUND,    /* backgrounds of a target; ec = its picture, index = subspace */
    SPOT_RNG_BACKGROUND_PART,  /* pictures of a class that become targets; ec = class */
    SPOT_RNG_DONOR,         /* another target whose background it gets; ec = picture, index = derived set */
    SPOT_RNG_VARIANCE,      /* targets left out of a variance matrix, for its sensitivity */
    SPOT_RNG_BACKDROP,      /* noise behind an object; index = picture */
    SPOT_RNG_ZOO,           /* backgrounds, targets and training pictures of a planted zoo */
    SPOT_RNG_FOREST,        /* a tree of a forest: the seed of its columns, its rows; index = tree */
    SPOT_RNG_COLUMNS,       /* columns that a node looks at; index = node */
    SPOT_RNG_HOLDOUT,       /* random splits of rows in two parts; index = split */
    SPOT_RNG_CONDITIONS,    /* conditions of a view: ec = object, index = factor or view */
    SPOT_RNG_EXAMINER,      /* draws of an examiner; ec = object, index = batch or restart */
    SPOT_RNG_PERTURB,       /* small changes of a point that was found; ec = object, index = render */
    SPOT_RNG_NETWORK,       /* training renders; ec = object, index = render; from 2^31 on: those that verify it */
    SPOT_RNG_DROPOUT,       /* numbers that a training step drops; index = step */
    SPOT_RNG_SETS,          /* order of the rows that random sets are cut from */
    SPOT_RNG_HINGE,         /* order of a pass over the rows of a support vector machine; index = pass */
    SPOT_RNG_JOIN,          /* joinspot: the start of its sample */
    SPOT_RNG_PROOF,         /* a proof: index 0: parts of the rows; 1 + k: errors of search k; ec = class */
    SPOT_RNG_CONTROLS,      /* pictures beside those that a phrase gathers */
    SPOT_RNG_VERSIONS,      /* signs of groups, of two versions and of new rows; ec = address of the test, index = draw */
    SPOT_RNG_NEW_IMAGES,    /* seed of new images of an EC; index = number of the set */
    SPOT_RNG_TESTS,         /* a proof's errors, drawn to correct its tests; ec = part of the judging rows, index = draw */
    SPOT_RNG_ALIKE,         /* directions that divide a class to find near copies; index = part */
    SPOT_RNG_DEPEND         /* errors in another order of rows; ec = class, index = draw */
} spot_rng_purpose;

typedef struct {
    uint64_t seed;
    uint32_t counter[4];    /* draw, index, ec, purpose */
    uint32_t word[4];
    int      left;          /* words of the block not used yet */
} spot_rng;

/* The random numbers of one problem: `ec` is the EC, or the number of another kind of problem. */
typedef struct { uint64_t seed; uint32_t ec; } spot_seed;

spot_rng spot_rng_at(uint64_t seed, spot_rng_purpose purpose, uint32_t ec, uint32_t index);

/* The raw block at an address. Kernels on every device use the same function. */
void spot_philox(uint32_t out[4], const uint32_t counter[4], uint64_t seed);

uint32_t spot_rng_u32(spot_rng *r);
uint32_t spot_rng_below(spot_rng *r, uint32_t n);          /* uniform in [0, n), unbiased; n > 0 */
int      spot_rng_between(spot_rng *r, int lo, int hi);    /* uniform in [lo, hi], both ends included */
double   spot_rng_uniform(spot_rng *r);                    /* (0, 1): (u32 + 0.5) * 2^-32 */
double   spot_rng_normal(spot_rng *r);                     /* N(0, 1), Box-Muller, two words a number */
void     spot_rng_shuffle(spot_rng *r, uint32_t *order, uint32_t n);   /* Fisher-Yates of 0..n-1 into order */

#ifdef __cplusplus
}
#endif
#endif
