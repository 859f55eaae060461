/* conv.cuh - shared by the .cu files of conv.
 *
 * x (rows, pixels, channels), an image as in core/stem.h; packed weights (co, k, k, channels), y (rows, out*out, co). */
#ifndef SPOTTER_CONV_CUH
#define SPOTTER_CONV_CUH

#include "core/cuda.cuh"
#include "core/lanes.cuh"
#include "net/conv_cudnn.cuh"

enum { THREADS = 256 };

/* The numbers for kernels, as in the task (conv_cudnn.cuh): for an image those of its blocks. */
typedef struct {
    int rows, size, out, ci, co, k, stride, before;
} layer;

struct spot_conv {
    spot_conv_shape s;          /* first: spot_conv_shape_of */
    layer l;
    size_t scratch, ordered;    /* ordered: where the scratch has an image's pixels row by row */
    uint64_t made_with;         /* a hash of the plans */
    spot_cudnn_plan *plan[SPOT_PASSES];
    spot_conv *next;            /* of the plans that this device keeps */
    int run;                    /* spot_cuda.runs when it was opened: a plan does not serve another run */
};

static inline unsigned blocks_for(size_t numbers) { return (unsigned)((numbers + THREADS - 1) / THREADS); }

static inline size_t x_numbers(const layer *l) { return (size_t)l->rows * l->size * l->size * l->ci; }
static inline size_t y_numbers(const layer *l) { return (size_t)l->rows * l->out * l->out * l->co; }
static inline size_t w_numbers(const layer *l) { return (size_t)l->co * l->k * l->k * l->ci; }

/* The tap of an image's convolution with this padding, along one side, that number `half` of block tap t has; negative or too
 * large for none. */
static __host__ __device__ inline int spot_image_tap(int pad, int t, int half)
{
    return 2 * t + half + pad - 2 * ((pad + 1) / 2);
}

/* conv_pack.cu: the entries of the op. */
spot_status spot_conv_pack_cuda  (spot_ctx *c, const spot_conv *p, void *packed, const float *oihw);
spot_status spot_conv_unpack_cuda(spot_ctx *c, const spot_conv *p, float *oihw, const float *packed);
spot_status spot_conv_copy_parts_cuda(spot_ctx *c, const spot_conv_part *part, int count);

/* The summands of a convolution; NULL is 0. */
typedef struct {
    const float *bias;
    const void *other;
} spot_conv_summands;

/* A pass over the first rows, its arrays by role: x, w, y. relu is the shape's. */
spot_status spot_conv_naive(spot_ctx *c, int pass, const spot_conv *p, void *x, void *w, void *y, spot_conv_summands plus,
                            int rows);

/* The pass by a plan of cuDNN, over all rows. Adds summands and applies ReLU where the plan does not. */
spot_status spot_conv_by_plan(spot_ctx *c, int pass, const spot_conv *p, const spot_cudnn_plan *plan, void *x, void *w,
                              void *y, spot_conv_summands plus, void *scratch);

/* Adds the summands to y and applies ReLU. */
spot_status spot_conv_finish(spot_ctx *c, int pass, const spot_conv *p, void *y, spot_conv_summands plus);

/* Gives p the plan of a pass; none where there is no library. conv_plans.cu */
spot_status spot_conv_choose(spot_ctx *c, spot_conv *p, int pass);

/* A pass's choice that is kept in a file (conv_stored.cu), and the digest of the bits that it gave in its trial. */
typedef struct {
    spot_cudnn_choice choice;
    unsigned digest;
} spot_stored;

/* The places where choices are kept, 1 or 2: place 0 decides, place 1 is asked where it has none (conv_stored.cu). */
int spot_stored_places(const spot_ctx *c);

/* Reads the choice for a task on c's device with this version of cuDNN. A file that begins as ours and is damaged is removed;
 * one that does not begin so is foreign and stays. The log has either. */
typedef enum { SPOT_STORED_NONE, SPOT_STORED_READ, SPOT_STORED_FOREIGN } spot_stored_found;
spot_stored_found spot_stored_read(spot_ctx *c, const spot_conv_task *t, size_t version, int place, spot_stored *s);

/* Makes the folder; false, with errno, where choices cannot be kept. */
bool spot_stored_can(spot_ctx *c, size_t version, int place);

/* One process of all that keep choices there searches at a time. *held: another one does. *lock: for unlock; -1 then, and
 * where the file system has no locks. A lock ends with its process. */
void spot_stored_lock(const spot_ctx *c, size_t version, int place, int *lock, bool *held);
void spot_stored_unlock(int lock);

/* Keeps a choice with a remark for people. The first writer wins: of processes that search at the same time all must take the
 * choice that is in the file afterwards. replace: overwrites a bad one. False, with errno and the reason in the log, on
 * failure. */
bool spot_stored_write(spot_ctx *c, const spot_conv_task *t, size_t version, int place, const spot_stored *s,
                       const char *remark, bool replace);

spot_status spot_conv_launched(spot_ctx *c, int pass, const layer *l, spot_precision precision);

/* Closes the plans that the device keeps, and cuDNN. */
void spot_conv_forget(spot_cuda *cuda);

#endif
