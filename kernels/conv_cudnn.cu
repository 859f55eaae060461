/* conv_cudnn.cu - convolutions by cuDNN's backend ("graph") API: one operation a plan, NHWC, fp32 arithmetic.
 *
 * Plans come from cuDNN's heuristics, its first choice first, its fallbacks last. Taken is the first that is
 * deterministic, loses no more precision than was asked for, fits into CAP bytes of scratch and gives the right answer
 * (the caller's check). Nothing is timed, so the choice, and with it the bits, is the same on every run with the same GPU
 * and the same cuDNN. */
#include "conv_cudnn.h"
#include "cuda.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !__has_include(<cudnn.h>)

spot_status spot_cudnn_plan_open(spot_ctx *c, spot_cudnn **, spot_cudnn_plan **plan, const spot_conv_shape *, int, int,
                                 spot_cudnn_check *, void *)
{
    *plan = NULL;
    return spot_fail(c, SPOT_DEVICE, "this build was made without cuDNN's headers, so it cannot convolve on a GPU; "
                     "install cuDNN 9 and build again, or run with --device cpu");
}

void spot_cudnn_plan_close(spot_cudnn_plan *) {}
size_t spot_cudnn_plan_scratch(const spot_cudnn_plan *) { return 0; }
void spot_cudnn_close(spot_cudnn *) {}

spot_status spot_cudnn_run(spot_ctx *c, const spot_cudnn_plan *, void *, void *, void *, void *)
{
    return spot_fail(c, SPOT_DEVICE, "this build was made without cuDNN's headers");
}

#else
#include "cudnn.cuh"

/* Two attributes that carry the handle are marked deprecated in 9.19; what is to replace them is not in 9.11. */
#pragma nv_diag_suppress 1444
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { MOST_CONFIGS = 64, MOST_MADE = 2 * MOST_CONFIGS + 16, UID_X = 'x', UID_W = 'w', UID_Y = 'y' };
static const size_t CAP = (size_t)1 << 30;

struct spot_cudnn_plan {
    spot_cudnn *lib;
    cudnnBackendDescriptor_t made[MOST_MADE];      /* every descriptor, in the order of creation */
    int made_count;
    cudnnBackendDescriptor_t plan;
    size_t workspace, narrow;                      /* bytes of cuDNN's own, and of a bf16 dw that is widened afterwards */
    char words[160];                               /* "conv.forward of (256,64,56,56) by (64,64,3,3), stride 1, bf16" */
};

/* What a pass is called in cuDNN. */
typedef struct {
    const char *name;
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t conv, alpha, beta, x, w, y;
} pass_names;

static const pass_names PASS[SPOT_PASSES] = {
    { "forward", CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y },
    { "backward_data", CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY },
    { "backward_weights", CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY },
};

/* Builds one plan; the first failure sticks in `e`, and what follows it does nothing. */
typedef struct {
    const spot_cudnn *lib;
    spot_cudnn_plan *plan;
    cudnnStatus_t e;
} builder;

static cudnnBackendDescriptor_t make(builder *b, cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d = NULL;

    if (b->e == CUDNN_STATUS_SUCCESS && b->plan->made_count == MOST_MADE) b->e = CUDNN_STATUS_INTERNAL_ERROR;
    if (b->e == CUDNN_STATUS_SUCCESS) b->e = b->lib->make(type, &d);
    if (d) b->plan->made[b->plan->made_count++] = d;
    return d;
}

static void set(builder *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                int64_t count, const void *value)
{
    if (b->e == CUDNN_STATUS_SUCCESS) b->e = b->lib->set(d, name, type, count, value);
}

static void set_part(builder *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                     cudnnBackendDescriptor_t part)
{
    set(b, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &part);
}

static void finish(builder *b, cudnnBackendDescriptor_t d)
{
    if (b->e == CUDNN_STATUS_SUCCESS) b->e = b->lib->finalize(d);
}

/* (n, channels, side, side) that lies as (n, side, side, channels); of weights (co, ci, k, k) as (co, k, k, ci). */
static cudnnBackendDescriptor_t tensor(builder *b, int64_t uid, cudnnDataType_t type, int64_t n, int64_t channels,
                                       int64_t side)
{
    const int64_t dims[4] = { n, channels, side, side }, align = 16;
    const int64_t strides[4] = { channels * side * side, 1, channels * side, channels };
    cudnnBackendDescriptor_t d = make(b, CUDNN_BACKEND_TENSOR_DESCRIPTOR);

    set(b, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(b, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims);
    set(b, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
    set(b, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    set(b, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
    finish(b, d);
    return d;
}

static cudnnBackendDescriptor_t convolution(builder *b, const spot_conv_shape *s)
{
    const int64_t dims = 2, pad[2] = { s->k / 2, s->k / 2 }, stride[2] = { s->stride, s->stride }, one[2] = { 1, 1 };
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    cudnnBackendDescriptor_t d = make(b, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);

    set(b, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &dims);
    set(b, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    set(b, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(b, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    set(b, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    set(b, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, stride);
    set(b, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, one);
    finish(b, d);
    return d;
}

/* The pass as a graph of one operation. dw_type: what a weight gradient is written as. */
static cudnnBackendDescriptor_t graph(builder *b, const spot_conv_shape *s, int channels, int pass, cudnnDataType_t dw_type)
{
    const cudnnDataType_t type = s->precision == SPOT_BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
    const float one = 1, beta = pass == SPOT_PASS_FORWARD && s->add;
    const pass_names *p = &PASS[pass];
    cudnnBackendDescriptor_t x = tensor(b, UID_X, type, s->rows, channels, s->size);
    cudnnBackendDescriptor_t w = tensor(b, UID_W, pass == SPOT_PASS_WEIGHTS ? dw_type : type, s->co, channels, s->k);
    cudnnBackendDescriptor_t y = tensor(b, UID_Y, type, s->rows, s->co, s->size / s->stride);
    cudnnBackendDescriptor_t conv = convolution(b, s), operation = make(b, p->operation), d;

    set_part(b, operation, p->conv, conv);
    set_part(b, operation, p->x, x);
    set_part(b, operation, p->w, w);
    set_part(b, operation, p->y, y);
    set(b, operation, p->alpha, CUDNN_TYPE_FLOAT, 1, &one);
    set(b, operation, p->beta, CUDNN_TYPE_FLOAT, 1, &beta);
    finish(b, operation);
    d = make(b, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set_part(b, d, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    set(b, d, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &b->lib->handle);
    finish(b, d);
    return d;
}

/* The engine configurations that a heuristic proposes; none is no failure, for the next may know some. */
static int proposals(builder *b, cudnnBackendDescriptor_t of, cudnnBackendHeurMode_t mode, cudnnBackendDescriptor_t *configs)
{
    cudnnBackendDescriptor_t d = make(b, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    int64_t count = 0;

    set_part(b, d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of);
    set(b, d, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (b->e != CUDNN_STATUS_SUCCESS || b->lib->finalize(d) != CUDNN_STATUS_SUCCESS) return 0;
    b->e = b->lib->get(d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL);
    if (count > MOST_CONFIGS / 2) count = MOST_CONFIGS / 2;
    for (int64_t i = 0; i < count; i++) configs[i] = make(b, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (b->e == CUDNN_STATUS_SUCCESS && count)
        b->e = b->lib->get(d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count,
                                                configs);
    return b->e == CUDNN_STATUS_SUCCESS ? (int)count : 0;
}

/* Deterministic, and no less precise than asked for. */
static bool acceptable(builder *b, cudnnBackendDescriptor_t config, spot_precision precision)
{
    cudnnBackendDescriptor_t engine = make(b, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendNumericalNote_t note[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t count = 0;

    if (b->e != CUDNN_STATUS_SUCCESS) return false;
    if (b->lib->get(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                         &engine) != CUDNN_STATUS_SUCCESS
        || b->lib->get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                            CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, note) != CUDNN_STATUS_SUCCESS)
        return false;
    for (int64_t i = 0; i < count && i < CUDNN_NUMERICAL_NOTE_TYPE_COUNT; i++)
        switch (note[i]) {
        case CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP: break;
        case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:     if (precision == SPOT_FP32) return false; break;
        case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS: if (precision != SPOT_TF32) return false; break;
        default: return false;                         /* nondeterministic, Winograd, FFT, sums of less than fp32 */
        }
    return true;
}

/* The plan of one configuration, if it can be had within CAP. */
static cudnnBackendDescriptor_t plan_of(builder *b, cudnnBackendDescriptor_t config, int64_t *workspace)
{
    cudnnBackendDescriptor_t d = make(b, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t count;

    set(b, d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &b->lib->handle);
    set_part(b, d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    if (b->e != CUDNN_STATUS_SUCCESS || b->lib->finalize(d) != CUDNN_STATUS_SUCCESS
        || b->lib->get(d, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count,
                                            workspace) != CUDNN_STATUS_SUCCESS
        || (uint64_t)*workspace > CAP)
        return NULL;
    return d;
}

static void clear(spot_cudnn_plan *p)
{
    while (p->made_count) p->lib->unmake(p->made[--p->made_count]);
    p->plan = NULL;
    p->narrow = 0;
}

/* The first right plan among those for one type of dw; p->plan stays NULL when there is none. */
static spot_status search(spot_ctx *c, spot_cudnn_plan *p, const spot_conv_shape *s, int channels, int pass,
                          cudnnDataType_t dw_type, spot_cudnn_check *check, void *user)
{
    static const cudnnBackendHeurMode_t mode[] = { CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK };
    builder b = { p->lib, p, CUDNN_STATUS_SUCCESS };
    cudnnBackendDescriptor_t of = graph(&b, s, channels, pass, dw_type), config[MOST_CONFIGS / 2];
    bool right = false;

    SPOT_TRY(spot_cudnn_told(c, p->lib, b.e, "describe", p->words));
    if (pass == SPOT_PASS_WEIGHTS && dw_type == CUDNN_DATA_BFLOAT16)
        p->narrow = (size_t)s->co * channels * s->k * s->k * 2;
    for (size_t m = 0; m < sizeof mode / sizeof *mode && !right; m++) {
        int count = proposals(&b, of, mode[m], config), kept;
        SPOT_TRY(spot_cudnn_told(c, p->lib, b.e, "propose engines for", p->words));
        for (int i = 0; i < count && !right; i++) {
            int64_t workspace = 0;
            kept = p->made_count;
            p->plan = acceptable(&b, config[i], s->precision) ? plan_of(&b, config[i], &workspace) : NULL;
            SPOT_TRY(spot_cudnn_told(c, p->lib, b.e, "plan", p->words));
            p->workspace = (size_t)workspace;
            if (p->plan) SPOT_TRY(check(c, user, p, &right));
            if (p->plan && !right)
                spot_log(c, SPOT_LOG_WARN, "cuDNN's choice %d for %s gives a wrong answer; the next is taken", i + 1,
                         p->words);
            if (right) break;
            while (p->made_count > kept) p->lib->unmake(p->made[--p->made_count]);
        }
    }
    if (!right) clear(p);
    return SPOT_OK;
}

spot_status spot_cudnn_plan_open(spot_ctx *c, spot_cudnn **lib, spot_cudnn_plan **plan, const spot_conv_shape *s,
                                 int channels, int pass, spot_cudnn_check *check, void *user)
{
    spot_cudnn_plan *p;
    spot_status status;

    *plan = NULL;
    if (!*lib) SPOT_TRY(spot_cudnn_open(c, lib));
    p = (spot_cudnn_plan *)calloc(1, sizeof *p);
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for a plan of cuDNN");
    p->lib = *lib;
    snprintf(p->words, sizeof p->words, "conv.%s of (%d,%d,%d,%d) by (%d,%d,%d,%d), stride %d, %s", PASS[pass].name, s->rows,
             channels, s->size, s->size, s->co, channels, s->k, s->k, s->stride,
             s->precision == SPOT_BF16 ? "bf16" : s->precision == SPOT_TF32 ? "tf32" : "fp32");
    /* cuDNN 9.19 proposes nothing that sums bf16 products into an fp32 dw; another version may */
    status = search(c, p, s, channels, pass, CUDNN_DATA_FLOAT, check, user);
    if (!status && !p->plan && pass == SPOT_PASS_WEIGHTS && s->precision == SPOT_BF16)
        status = search(c, p, s, channels, pass, CUDNN_DATA_BFLOAT16, check, user);
    if (!status && !p->plan)
        status = spot_fail(c, SPOT_UNSUPPORTED, "cuDNN %zu has no deterministic engine for %s on %s; run with --device cpu",
                           p->lib->version(), p->words, ((const spot_device *)c->device)->name);
    if (status) {
        spot_cudnn_plan_close(p);
        return status;
    }
    *plan = p;
    return SPOT_OK;
}

void spot_cudnn_plan_close(spot_cudnn_plan *p)
{
    if (!p) return;
    clear(p);
    free(p);
}

static size_t whole(size_t bytes) { return (bytes + 255) / 256 * 256; }

size_t spot_cudnn_plan_scratch(const spot_cudnn_plan *p) { return p ? whole(p->narrow) + p->workspace : 0; }

spot_status spot_cudnn_run(spot_ctx *c, const spot_cudnn_plan *p, void *x, void *w, void *y, void *scratch)
{
    const int64_t uid[3] = { UID_X, UID_W, UID_Y };
    void *at[3] = { x, p->narrow ? scratch : w, y }, *workspace = (char *)scratch + whole(p->narrow);
    const spot_cudnn *lib = p->lib;
    cudnnBackendDescriptor_t d = NULL;
    cudnnStatus_t e = lib->make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &d);

    if (!e) e = lib->set(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, uid);
    if (!e) e = lib->set(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, at);
    if (!e) e = lib->set(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    if (!e) e = lib->finalize(d);
    if (!e) e = lib->execute(lib->handle, p->plan, d);
    if (d) lib->unmake(d);
    SPOT_TRY(spot_cudnn_told(c, lib, e, "run", p->words));
    return p->narrow ? spot_conv_widen(c, (float *)w, scratch, p->narrow / 2) : SPOT_OK;
}

#endif
