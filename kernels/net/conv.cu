/* conv.cu - convolutions by cuDNN (conv_cudnn.cu): its plans, kept for the whole run, and the entries of the op. */
#include "net/conv.cuh"

#include <stdlib.h>
#include <string.h>

#include "core/stem.h"

static bool same_shape(const spot_conv_shape *a, const spot_conv_shape *b)
{
    return a->rows == b->rows && a->ci == b->ci && a->co == b->co && a->k == b->k && a->stride == b->stride &&
           a->size == b->size && a->train == b->train && a->bias == b->bias && a->add == b->add && a->relu == b->relu &&
           a->precision == b->precision;
}

static void close_plans(spot_conv *p)
{
    for (int pass = 0; pass < SPOT_PASSES; pass++) spot_cudnn_plan_close(p->plan[pass]);
    free(p);
}

void spot_conv_forget(spot_cuda *cuda)
{
    for (spot_conv *p = cuda->convs, *next; p; p = next) {
        next = p->next;
        close_plans(p);
    }
    spot_cudnn_close(cuda->cudnn);
    free(cuda->run_plans);
    cuda->convs = NULL;
    cuda->cudnn = NULL;
    cuda->run_plans = NULL;
}

static layer layer_of(const spot_conv_shape *s)
{
    spot_conv_task t = spot_conv_task_of(s, SPOT_PASS_FORWARD);

    return { s->rows, t.size, t.out, t.channels, s->co, t.k, t.stride, t.before };
}

/* Whether the pixels of an image have to be put row by row first: a convolution of stride 1 goes by pixels, not by blocks. */
static bool is_ordered(const spot_conv_shape *s) { return s->ci == 3 && !spot_conv_in_blocks(s); }

static spot_status open_cuda(spot_ctx *c, spot_conv **plan, const spot_conv_shape *s)
{
    spot_cuda *cuda = spot_cuda_of(c);
    spot_status status = SPOT_OK;
    spot_conv *p;

    if (s->lanes != 1)
        return spot_fail(c, SPOT_UNSUPPORTED, "{conv.lanes} conv: %d lanes; CUDA takes a batch in one piece", s->lanes);
    if (s->ci == 3 && (s->size % 2 || (!spot_conv_in_blocks(s) && (s->stride > 1 || s->train))))
        return spot_fail(c, SPOT_UNSUPPORTED, "{conv.odd_size} conv: an image of %d pixels a side by stride %d; CUDA takes "
                         "blocks of 2 x 2, and stride 1 in inference", s->size, s->stride);
    for (p = cuda->convs; p; p = p->next)
        if (p->run == cuda->runs && same_shape(&p->s, s)) {
            *plan = p;
            return SPOT_OK;
        }
    p = (spot_conv *)calloc(1, sizeof *p);
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for the plan of a convolution");
    p->s = *s;
    p->l = layer_of(s);
    p->run = cuda->runs;
    for (int pass = 0; pass < SPOT_PASSES && !status; pass++) {
        if (!spot_conv_has_pass(s, pass)) continue;
        status = spot_conv_choose(c, p, pass);
        p->scratch = max(p->scratch, spot_cudnn_plan_scratch(p->plan[pass]));
    }
    if (status) {
        close_plans(p);
        return status;
    }
    if (is_ordered(s)) {
        p->ordered = spot_arena_room(p->scratch);
        p->scratch = p->ordered + x_numbers(&p->l) * spot_precision_bytes(s->precision);
    }
    p->next = cuda->convs;
    cuda->convs = p;
    *plan = p;
    return SPOT_OK;
}

static void close_cuda(spot_conv *) {}                 /* kept for the next net of this shape; spot_conv_forget */

static size_t scratch_cuda(const spot_conv *p) { return p->scratch; }
static size_t packed_cuda(const spot_conv *p)  { return w_numbers(&p->l); }

static uint64_t made_with_cuda(spot_ctx *c, const spot_conv *plan)
{
    uint64_t sum = 0;

    for (const spot_conv *p = spot_cuda_of(c)->convs; p; p = p->next) sum += !plan || p == plan ? p->made_with : 0;
    return sum;
}

static const char *kept_in_cuda(const spot_ctx *c)
{
    const char *folder = spot_cuda_of(c)->run_plans;

    return folder ? folder : "";
}

static spot_status keep_in_cuda(spot_ctx *c, const char *folder)
{
    spot_cuda *cuda = spot_cuda_of(c);
    char *own;

    if (!strcmp(folder, kept_in_cuda(c))) return SPOT_OK;
    own = *folder ? strdup(folder) : NULL;
    if (*folder && !own) return spot_fail(c, SPOT_NOMEM, "no memory for the name of %s", folder);
    free(cuda->run_plans);
    cuda->run_plans = own;
    cuda->runs++;
    return SPOT_OK;
}

/* -- the ops --------------------------------------------------------------------------------------------------------- */

/* grid (ceil(pairs of pixels of all rows / 256)): two pixels side by side, 16 or 32 bytes. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) planes_kernel(T *x, const float *pixels, int size, size_t live, size_t all)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, first = 2 * i;
    int count = size * size;
    float v[2 * SPOT_STEM] = { 0 };

    if (first >= all) return;
    if (first < live) {
        const float *from = pixels + 3 * (first / count * count + spot_stem_pixel(first % count, size));
        for (int j = 0; j < 6; j++) v[j / 3 * SPOT_STEM + j % 3] = from[j];
    }
    for (int j = 0; j < 2 * SPOT_STEM; j += spot_lanes<T>::N) spot_store(x + first * SPOT_STEM + j, v + j);
}

static spot_status planes_cuda(spot_ctx *c, void *x, const float *pixels, int live, int rows, int count,
                               spot_precision precision)
{
    size_t all = (size_t)rows * count, alive = (size_t)live * count;
    cudaStream_t stream = spot_cuda_stream(c);
    int size = 1;

    while (size * size < count) size++;
    if (size * size != count || size % 2)
        return spot_fail(c, SPOT_UNSUPPORTED, "conv.planes: images of %d pixels; CUDA takes squares of blocks of 2 x 2", count);
    SPOT_TRY(spot_cuda_needs(c, x, "conv.planes: planes"));
    SPOT_TRY(spot_cuda_needs(c, pixels, "conv.planes: pixels"));
    if (precision == SPOT_BF16)
        SPOT_LAUNCH(planes_kernel<spot_bf16>, blocks_for(all / 2), THREADS, 0, stream, (spot_bf16 *)x, pixels, size, alive,
                    all);
    else
        SPOT_LAUNCH(planes_kernel<float>, blocks_for(all / 2), THREADS, 0, stream, (float *)x, pixels, size, alive, all);
    return spot_cuda_launched(c, "conv.planes of %d of %d images, %d pixels", live, rows, count);
}

/* The blocks of an image's convolution have numbers outside its k x k taps. Their weights are 0 and stay so, because this sets
 * their gradients to 0. Grid (ceil(numbers of dw / 256)). */
static __global__ void __launch_bounds__(THREADS) clear_outside_kernel(float *dw, layer l, int k, int pad)
{
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    int pixel = at / SPOT_STEM % 4, tap = at / l.ci % (l.k * l.k);
    int row = spot_image_tap(pad, tap / l.k, pixel / 2), col = spot_image_tap(pad, tap % l.k, pixel % 2);

    if (at < (size_t)l.co * l.k * l.k * l.ci && (row < 0 || row >= k || col < 0 || col >= k)) dw[at] = 0;
}

/* Runs a pass by cuDNN, or without cuDNN by the naive kernels. */
static spot_status run_pass(spot_ctx *c, int pass, const spot_conv *p, void *x, void *w, void *y, spot_conv_summands plus,
                            int rows, void *scratch)
{
    if (p->plan[pass]) return spot_conv_by_plan(c, pass, p, p->plan[pass], x, w, y, plus, scratch);
    return spot_conv_naive(c, pass, p, x, w, y, plus, rows);
}

/* Images as in core/stem.h -> x (rows, size, size, ci), whose numbers behind a pixel's are 0. Grid (ceil(pixels / 256)). */
template <typename T>
static __global__ void __launch_bounds__(THREADS) order_kernel(T *x, const T *image, int size, int ci, size_t pixels)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, count = (size_t)size * size;

    if (i >= pixels) return;
    const T *from = image + (i / count * count + spot_stem_place((int)(i % count), size)) * SPOT_STEM;
    for (int j = 0; j < ci; j++) spot_round(x + i * ci + j, j < SPOT_STEM ? spot_widen(from[j]) : 0.0f);
}

template <typename T> static void launch_order(cudaStream_t stream, const spot_conv *p, void *x, const void *image)
{
    const size_t pixels = (size_t)p->l.rows * p->l.size * p->l.size;

    SPOT_LAUNCH(order_kernel<T>, blocks_for(pixels), THREADS, 0, stream, (T *)x, (const T *)image, p->l.size, p->l.ci, pixels);
}

static spot_status forward_cuda(spot_ctx *c, const spot_conv *p, void *y, const spot_conv_terms *t, int rows, void *scratch)
{
    void *x = (void *)t->x;

    SPOT_TRY(spot_cuda_needs(c, y, "conv.forward: y"));
    if (is_ordered(&p->s)) {
        x = (char *)scratch + p->ordered;
        (p->s.precision == SPOT_BF16 ? launch_order<spot_bf16> : launch_order<float>)(spot_cuda_stream(c), p, x, t->x);
        SPOT_TRY(spot_conv_launched(c, SPOT_PASS_FORWARD, &p->l, p->s.precision));
    }
    return run_pass(c, SPOT_PASS_FORWARD, p, x, (void *)t->w, y, { t->bias, t->other }, rows, scratch);
}

static spot_status backward_data_cuda(spot_ctx *c, const spot_conv *p, void *dx, const void *dy, const void *w, int rows,
                                      void *scratch)
{
    SPOT_TRY(spot_cuda_needs(c, dx, "conv.backward_data: dx"));
    return run_pass(c, SPOT_PASS_DATA, p, dx, (void *)w, (void *)dy, { NULL, NULL }, rows, scratch);
}

static spot_status backward_weights_cuda(spot_ctx *c, const spot_conv *p, float *dw, const void *x, const void *dy,
                                         int rows, void *scratch)
{
    SPOT_TRY(spot_cuda_needs(c, dw, "conv.backward_weights: dw"));
    SPOT_TRY(run_pass(c, SPOT_PASS_WEIGHTS, p, (void *)x, dw, (void *)dy, { NULL, NULL }, rows, scratch));
    if (p->s.ci != 3) return SPOT_OK;
    SPOT_LAUNCH(clear_outside_kernel, blocks_for(w_numbers(&p->l)), THREADS, 0, spot_cuda_stream(c), dw, p->l, p->s.k,
                spot_conv_pad(&p->s));
    return spot_conv_launched(c, SPOT_PASS_WEIGHTS, &p->l, p->s.precision);
}

extern const spot_conv_ops spot_conv_cuda = {
    .stem = SPOT_STEM, .apart = true, .onto = true, .open = open_cuda, .close = close_cuda, .scratch = scratch_cuda,
    .packed = packed_cuda, .made_with = made_with_cuda, .keep_in = keep_in_cuda, .kept_in = kept_in_cuda,
    .planes = planes_cuda, .pack = spot_conv_pack_cuda, .unpack = spot_conv_unpack_cuda,
    .copy_parts = spot_conv_copy_parts_cuda, .forward = forward_cuda, .backward_data = backward_data_cuda,
    .backward_weights = backward_weights_cuda,
};
