/* ops.h - a device is a table of kernels.
 *
 * One row per op family. A family's function table is declared in its own header, next to the contract. A family or
 * function that a device lacks is NULL, and the op's checked entry returns SPOT_UNSUPPORTED: never a silent run on the CPU.
 *
 * To add an op, write three files in its subject's folder (net, image, map, fit), one row below, and its cases
 * (tests/test_cuda_<folder>.c):
 *     x.h     the contract and `struct spot_x_ops`
 *     x.c     the checked entry, the CPU version and `const spot_x_ops spot_x_cpu`
 *     x.cu    the kernels and `extern const spot_x_ops spot_x_cuda`; without it CUDA lacks the family
 * A row becomes a member of both tables (kernels/open.c, kernels/plugin.cu), and SPOT_PLUGIN_ABI changes by itself.
 *
 * A larger op has more files:
 *     x_part.c, x_part.cu    a part of the op; x_part.h is its contract
 *     x_step.h               arithmetic that CPU and CUDA share (SPOT_HD)
 *     x_scratch.h            the layout of CUDA's scratch, which x.c counts and x.cu uses
 *     x_cpu.h                shared by .c files
 *     x.cuh, x_part.cuh      shared by .cu files
 */
#ifndef SPOTTER_OPS_H
#define SPOTTER_OPS_H

#include "spotter/ctx.h"

/*    family     what it computes */
#define SPOT_OP_FAMILIES(X)                                              \
    X(sample)    /* image numbers -> draw lists, and their order      */ \
    X(raster)    /* draw lists -> pixels                              */ \
    X(render)    /* triangles -> pixels, under conditions             */ \
    X(resize)    /* pictures of any sizes -> squares, as PIL does it  */ \
    X(blend)     /* objects on other backgrounds, by pyramids         */ \
    X(backdrop)  /* pictures without their objects                    */ \
    X(photo)     /* pictures by number -> labels, a network's input   */ \
    X(jpeg)      /* pixels through JPEG and back                      */ \
    X(conv)      /* 2-D convolution and its gradients                 */ \
    X(norm)      /* batch norm, ReLU, residual, pooling, fused        */ \
    X(pooling)   /* bias, ReLU, max-pool, adaptive average pool       */ \
    X(dense)     /* linear layers that learn, dropout                 */ \
    X(head)      /* average pooling, linear head, loss                */ \
    X(triplet)   /* triplet loss of a batch's embeddings              */ \
    X(lstm)      /* policies that draw values, and how they learn     */ \
    X(optim)     /* Adam, SGD and RMSprop over all parameters         */ \
    X(attack)    /* images moved to where the loss is greater         */ \
    X(rows)      /* rows chosen, scaled, normalised for the next op   */ \
    X(linear)    /* rows times a layer's weights, with activations    */ \
    X(layernorm) /* each row to mean 0 and variance 1                 */ \
    X(attention) /* scaled dot products within sequences              */ \
    X(tokens)    /* pictures and words -> rows of a transformer       */ \
    X(distance)  /* squared distances of all pairs                    */ \
    X(centres)   /* the nearest of many centres, for very many rows   */ \
    X(pca)       /* covariance, and scores on its eigenvectors        */ \
    X(affinity)  /* perplexity search                                 */ \
    X(tsne)      /* t-SNE forces and step                             */ \
    X(scvis)     /* one scvis training, whole                         */ \
    X(umap)      /* UMAP: strengths of neighbours, and the descent    */ \
    X(rbf)       /* variance matrices: pairs of images on a grid     */ \
    X(mixture)   /* k-means++ start and EM                            */ \
    X(kmeans)    /* k-means++ and Lloyd, in any number of dimensions  */ \
    X(ward)      /* Ward's trees                                      */ \
    X(domino)    /* Domino's mixture of points, labels, predictions   */ \
    X(spotlight) /* spotlights by Adam                                */ \
    X(silhouette) /* silhouettes of clusters                          */ \
    X(information) /* mutual information of features and an outcome   */ \
    X(tree)      /* splits of decision trees                          */ \
    X(ridge)     /* normal equations of rows, and their scores        */ \
    X(overlap)   /* rows that hypotheses and blindspots share         */ \
    X(hinge)     /* linear support vector machines                    */ \
    X(similar)   /* rows times a table's: similarities, best ones     */

#define X(family)                                       \
    typedef struct spot_##family##_ops spot_##family##_ops; \
    extern const spot_##family##_ops spot_##family##_cpu;
SPOT_OP_FAMILIES(X)
#undef X

struct spot_ops {
    const char *name;                          /* "cpu", "cuda" */
#define X(family) const spot_##family##_ops *family;
    SPOT_OP_FAMILIES(X)
#undef X
};

extern const spot_ops spot_ops_cpu;

/* libspotter_cuda.so exports this table under the name SPOT_PLUGIN_ENTRY. abi is SPOT_PLUGIN_ABI, a checksum of all headers
 * (the build makes it: plugin_abi.h). A program refuses a plugin that was built from other headers. */
#define SPOT_PLUGIN_ENTRY "spot_plugin"
typedef struct {
    unsigned abi;
    const spot_ops *ops;
    /* Opens the first visible GPU: its state and its name (at most size bytes). When there is none, `why` is a sentence. */
    spot_status (*open)(void **device, char *name, size_t size, char *why, size_t why_size);
    void        (*close)(void *device);
    /* Contracts: spot_device_take, _give, ... in device.h. */
    spot_status (*take)(spot_ctx *c, void **out, size_t bytes);
    void        (*give)(spot_ctx *c, void *p);
    spot_status (*copy)(spot_ctx *c, void *to, const void *from, size_t bytes);
    spot_status (*clear)(spot_ctx *c, void *p, size_t bytes);
    spot_status (*room)(spot_ctx *c, size_t *left, size_t *total);
    spot_status (*wait)(spot_ctx *c);
    spot_status (*record)(spot_ctx *c);
    spot_status (*recorded)(spot_ctx *c, void **graph);
    spot_status (*replay)(spot_ctx *c, void *graph);
    void        (*forget)(void *graph);
    spot_status (*fork)(spot_ctx *c);
    spot_status (*unfork)(spot_ctx *c);
    spot_status (*join)(spot_ctx *c);
    void        (*range)(const char *name);
    spot_status (*multiply)(spot_ctx *c, void *product, const void *a, const void *b, int n);
    void        (*about)(spot_ctx *c, char *kind, size_t kind_size, char *unit, size_t unit_size);
    int         (*count)(void);                /* visible GPUs; 0 also where there is no driver */
    /* Host memory that copies may read and write by themselves, several times as fast, until it is unpinned. */
    spot_status (*pin)(spot_ctx *c, void *p, size_t bytes);
    void        (*unpin)(spot_ctx *c, void *p);
    /* With SPOT_CUDA_POISON=1 in the environment sets every byte to 0xFF, NaN as float and as double, in order with c's
     * kernels: what is read before it is written is then seen. An arena calls it for all that it hands out. */
    spot_status (*poison)(spot_ctx *c, void *p, size_t bytes);
} spot_plugin;

/* A named range in a profiler, from begin to end. Ranges nest. Nothing on the CPU. */
void spot_range_begin(const spot_ctx *c, const char *name);
void spot_range_end(const spot_ctx *c);

/* Ends a checked entry: returns the result of the family's function of c's device, called within a profiler's range of its
 * name; or SPOT_UNSUPPORTED with the op's name. */
#define SPOT_DISPATCH(c, family, function, ...)                                                        \
    do {                                                                                               \
        if (!(c)->ops || !(c)->ops->family || !(c)->ops->family->function)                             \
            return spot_fail((c), SPOT_UNSUPPORTED, "{op.no_kernel} %s has no kernel for %s.%s; run with --device cpu", \
                             (c)->ops ? (c)->ops->name : "no device", #family, #function);             \
        spot_range_begin((c), #family "." #function);                                                  \
        spot_status dispatched_ = (c)->ops->family->function((c), __VA_ARGS__);                        \
        spot_range_end(c);                                                                             \
        return dispatched_;                                                                            \
    } while (0)

#endif
