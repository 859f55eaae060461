/* conv.cu - convolutions by cuDNN (conv_cudnn.cu): its plans, kept for the whole run, and the entries of the op. */
#include "net/conv.cuh"

#include <stdlib.h>

enum { STEM = 8 };

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
    cuda->convs = NULL;
    cuda->cudnn = NULL;
}

static spot_status open_cuda(spot_ctx *c, spot_conv **plan, const spot_conv_shape *s)
{
    spot_cuda *cuda = spot_cuda_of(c);
    spot_status status = SPOT_OK;
    spot_conv *p;

    if (s->lanes != 1)
        return spot_fail(c, SPOT_UNSUPPORTED, "conv: %d lanes; CUDA takes a batch in one piece", s->lanes);
    for (p = cuda->convs; p; p = p->next)
        if (same_shape(&p->s, s)) {
            *plan = p;
            return SPOT_OK;
        }
    p = (spot_conv *)calloc(1, sizeof *p);
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for the plan of a convolution");
    p->s = *s;
    p->l = { s->rows, s->size, s->size / s->stride, s->ci == 3 ? STEM : s->ci, s->co, s->k, s->stride };
    for (int pass = 0; pass < SPOT_PASSES && !status; pass++) {
        if (!spot_conv_has(s, pass)) continue;
        status = spot_conv_choose(c, p, pass);
        p->scratch = max(p->scratch, spot_cudnn_plan_scratch(p->plan[pass]));
    }
    if (status) {
        close_plans(p);
        return status;
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

/* -- the ops --------------------------------------------------------------------------------------------------------- */

/* grid (ceil(pixels of all rows / 256)); pixels are read 12 bytes and written 16 or 32 at a time */
template <typename T>
static __global__ void __launch_bounds__(THREADS) planes_kernel(T *x, const float *pixels, size_t live, size_t all)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    float v[STEM] = { 0 };

    if (i >= all) return;
    for (int j = 0; j < 3 && i < live; j++) v[j] = pixels[3 * i + j];
    for (int j = 0; j < STEM; j += spot_lanes<T>::N) spot_store(x + i * STEM + j, v + j);
}

static spot_status planes_cuda(spot_ctx *c, void *x, const float *pixels, int live, int rows, int count,
                               spot_precision precision)
{
    size_t all = (size_t)rows * count, alive = (size_t)live * count;
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_TRY(spot_cuda_needs(c, x, "conv.planes: planes"));
    SPOT_TRY(spot_cuda_needs(c, pixels, "conv.planes: pixels"));
    if (precision == SPOT_BF16)
        SPOT_LAUNCH(planes_kernel<spot_bf16>, blocks_for(all), THREADS, 0, stream, (spot_bf16 *)x, pixels, alive, all);
    else
        SPOT_LAUNCH(planes_kernel<float>, blocks_for(all), THREADS, 0, stream, (float *)x, pixels, alive, all);
    return spot_cuda_launched(c, "conv.planes of %d of %d images, %d pixels", live, rows, count);
}

/* Converts (co, ci, k, k) to (co, k, k, channels) on the host, or back. It runs once per training, so speed does not matter. */
static void reorder_weights(const spot_conv *p, float *oihw, float *packed, bool pack)
{
    const layer *l = &p->l;
    int taps = l->k * l->k;

    for (int o = 0; o < l->co; o++)
        for (int i = 0; i < p->s.ci; i++)
            for (int tap = 0; tap < taps; tap++) {
                float *a = oihw + ((size_t)o * p->s.ci + i) * taps + tap, *b = packed + ((size_t)o * taps + tap) * l->ci + i;
                if (pack) *b = *a;
                else      *a = *b;
            }
}

static spot_status pack_cuda(spot_ctx *c, const spot_conv *p, void *packed, const float *oihw)
{
    size_t count = w_numbers(&p->l), bytes = p->s.train ? sizeof(float) : spot_precision_bytes(p->s.precision);
    float *host = (float *)calloc(count, sizeof *host);
    spot_status s;

    if (!host) return spot_fail(c, SPOT_NOMEM, "no memory to pack weights in");
    reorder_weights(p, (float *)oihw, host, true);
    for (size_t i = 0; i < count && bytes == 2; i++) {     /* in place: bytes are read before they are overwritten */
        spot_bf16 v;
        spot_round(&v, host[i]);
        memcpy((char *)host + 2 * i, &v, 2);
    }
    s = spot_cuda_memory(c)->copy(c, packed, host, count * bytes);
    free(host);
    return s;
}

static spot_status unpack_cuda(spot_ctx *c, const spot_conv *p, float *oihw, const float *packed)
{
    float *host = (float *)malloc(w_numbers(&p->l) * sizeof *host);
    spot_status s;

    if (!host) return spot_fail(c, SPOT_NOMEM, "no memory to unpack weights in");
    s = spot_cuda_memory(c)->copy(c, host, packed, w_numbers(&p->l) * sizeof *host);
    if (!s) reorder_weights(p, oihw, host, false);
    free(host);
    return s;
}

/* Runs a pass by cuDNN, or without cuDNN by the naive kernels. */
static spot_status run_pass(spot_ctx *c, int pass, const spot_conv *p, void *x, void *w, void *y, spot_conv_summands plus,
                            int rows, void *scratch)
{
    if (p->plan[pass]) return spot_conv_by_plan(c, pass, p, p->plan[pass], x, w, y, plus, scratch);
    return spot_conv_naive(c, pass, p, x, w, y, plus, rows);
}

static spot_status forward_cuda(spot_ctx *c, const spot_conv *p, void *y, const void *x, const void *w, const float *bias,
                                const void *other, int rows, void *scratch)
{
    spot_conv_summands plus = { bias, other };

    SPOT_TRY(spot_cuda_needs(c, y, "conv.forward: y"));
    return run_pass(c, SPOT_PASS_FORWARD, p, (void *)x, (void *)w, y, plus, rows, scratch);
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
    return run_pass(c, SPOT_PASS_WEIGHTS, p, (void *)x, dw, (void *)dy, { NULL, NULL }, rows, scratch);
}

extern const spot_conv_ops spot_conv_cuda = {
    .stem = STEM, .apart = true, .open = open_cuda, .close = close_cuda, .scratch = scratch_cuda, .packed = packed_cuda,
    .made_with = made_with_cuda, .planes = planes_cuda, .pack = pack_cuda, .unpack = unpack_cuda,
    .forward = forward_cuda, .backward_data = backward_data_cuda, .backward_weights = backward_weights_cuda,
};
