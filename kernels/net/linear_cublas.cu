/* linear_cublas.cu - finds cuBLASLt 12 or 13, chooses an algorithm for a layer once, and multiplies with it.
 *
 * One algorithm serves every count of rows: so the bits of a row do not depend on how many rows a call has, as long as the
 * library takes the algorithm for that count. Sums are fp32, and a sum that is cut into parts is added up in fp32, in an order
 * that is always the same; tensor cores multiply bf16 and TF32 only. */
#include "net/linear_cublas.cuh"

#if !__has_include(<cublasLt.h>)

spot_status spot_product_open(spot_ctx *c, spot_product **out, const spot_product_shape *, bool)
{
    *out = NULL;
    return spot_fail(c, SPOT_DEVICE, "this build was made without cuBLAS's headers, so it cannot multiply on a GPU; install "
                     "CUDA's libraries and build again, or run with --device cpu");
}

/* Never called with a product. */
void spot_product_close(spot_product *) {}
void spot_products_forget(spot_cuda *) {}
size_t spot_product_scratch() { return 0; }
spot_product *spot_product_kept(spot_ctx *, const spot_product_shape *) { return NULL; }
void spot_product_keep(spot_ctx *, spot_product *) {}

spot_status spot_product_run(spot_ctx *, spot_product *, void *, const void *, const void *, const void *, int, void *)
{
    return SPOT_DEVICE;
}

#else
#include <cublasLt.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/library.cuh"

/* WORKSPACE: NVIDIA's advice for Hopper. */
enum { WORKSPACE = 32 << 20 };

#define FUNCTIONS(X)                                                                                               \
    X(Create) X(Destroy) X(MatmulDescCreate) X(MatmulDescDestroy) X(MatmulDescSetAttribute) X(MatrixLayoutCreate) \
    X(MatrixLayoutDestroy) X(MatrixLayoutSetAttribute) X(MatmulPreferenceCreate) X(MatmulPreferenceDestroy)       \
    X(MatmulPreferenceSetAttribute) X(MatmulAlgoGetHeuristic) X(MatmulAlgoCheck) X(Matmul)

struct spot_products {
    cublasLtHandle_t handle;
#define X(name) decltype(&cublasLt##name) name;
    FUNCTIONS(X)
#undef X
    char where[1024];
    spot_product *kept;
};

/* A bias has the type of y. The library is column-major: in its order y' = b' a', where b' (in, out) of Y is w, turned, and a'
 * (out, rows) of DW is dy, turned. */
struct spot_product {
    spot_product_shape shape;
    const spot_products *lib;
    cublasLtMatmulDesc_t what;
    cublasLtMatrixLayout_t b, a, y;
    cublasLtMatmulPreference_t wish;
    cublasLtMatmulAlgo_t chosen, algorithm;    /* for shape.rows; for `rows` */
    int rows;
    spot_product *next;                        /* of the kept ones */
};

static spot_status check_cublas(spot_ctx *c, cublasStatus_t e, const char *what, const spot_linear_shape *s)
{
    const spot_status as = e == CUBLAS_STATUS_ALLOC_FAILED ? SPOT_NOMEM
                         : e == CUBLAS_STATUS_NOT_SUPPORTED ? SPOT_UNSUPPORTED : SPOT_DEVICE;

    if (e == CUBLAS_STATUS_SUCCESS) return SPOT_OK;
    return spot_fail(c, as, "cuBLASLt cannot %s a layer of %d -> %d numbers on %s: status %d", what, s->in, s->out,
                     ((const spot_device *)c->device)->name, (int)e);
}

/* Opens the version of the library that the headers are from, because their enumerations must agree. */
static spot_status open_library(spot_ctx *c, spot_products *b)
{
    char file[32], looked[2048];
    void *so;
    bool whole = true;

    snprintf(file, sizeof file, "libcublasLt.so.%d", CUBLAS_VER_MAJOR);
    so = spot_library_open(file, "SPOT_CUBLAS_DIR", b->where, sizeof b->where, looked, sizeof looked);
    if (!so)
        return spot_fail(c, SPOT_DEVICE, "%s was not found (searched: %s): set SPOT_CUBLAS_DIR to its folder", file, looked);
#define X(name) whole = (b->name = (decltype(b->name))dlsym(so, "cublasLt" #name)) && whole;
    FUNCTIONS(X)
#undef X
    if (!whole) return spot_fail(c, SPOT_DEVICE, "%s lacks functions of cuBLASLt", b->where);
    if (b->Create(&b->handle) == CUBLAS_STATUS_SUCCESS) return SPOT_OK;
    return spot_fail(c, SPOT_DEVICE, "%s does not start on %s", b->where, ((const spot_device *)c->device)->name);
}

void spot_products_forget(spot_cuda *cuda)
{
    while (cuda->products && cuda->products->kept) {
        spot_product *first = cuda->products->kept;
        cuda->products->kept = first->next;
        spot_product_close(first);
    }
    if (cuda->products && cuda->products->handle) cuda->products->Destroy(cuda->products->handle);
    free(cuda->products);              /* the library stays loaded */
    cuda->products = NULL;
}

static spot_status library_of(spot_ctx *c, const spot_products **lib)
{
    spot_cuda *cuda = spot_cuda_of(c);
    spot_status s = SPOT_OK;

    if (!cuda->products) {
        cuda->products = (spot_products *)calloc(1, sizeof *cuda->products);
        s = cuda->products ? open_library(c, cuda->products) : spot_fail(c, SPOT_NOMEM, "no memory for cuBLASLt's handle");
        if (s != SPOT_OK) spot_products_forget(cuda);
    }
    *lib = cuda->products;
    return s;
}

/* -- what is to be computed ------------------------------------------------------------------------------------------ */

template <typename T> static cublasStatus_t set(const spot_product *p, cublasLtMatmulDescAttributes_t name, T value)
{
    return p->lib->MatmulDescSetAttribute(p->what, name, &value, sizeof value);
}

template <typename T> static cublasStatus_t set(const spot_product *p, cublasLtMatmulPreferenceAttributes_t name, T value)
{
    return p->lib->MatmulPreferenceSetAttribute(p->wish, name, &value, sizeof value);
}

/* In the library's order every array of rows has them as its columns. */
static cublasStatus_t set_rows(const spot_product *p, uint64_t rows)
{
    cublasLtMatrixLayout_t other = p->shape.kind == SPOT_PRODUCT_DW ? p->b : p->y;
    cublasStatus_t e = p->lib->MatrixLayoutSetAttribute(p->a, CUBLASLT_MATRIX_LAYOUT_COLS, &rows, sizeof rows);

    return e ? e : p->lib->MatrixLayoutSetAttribute(other, CUBLASLT_MATRIX_LAYOUT_COLS, &rows, sizeof rows);
}

static cublasStatus_t set_bias(const spot_product *p, const void *bias)
{
    return p->shape.s.bias ? set(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias) : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t describe(spot_product *p)
{
    const spot_linear_shape *s = &p->shape.s;
    const bool forward = p->shape.kind == SPOT_PRODUCT_Y, weights = p->shape.kind == SPOT_PRODUCT_DW;
    const int rows = p->shape.rows, wide = forward ? s->out : s->in;
    cudaDataType type = s->precision == SPOT_BF16 ? CUDA_R_16BF : CUDA_R_32F;
    cublasStatus_t e = p->lib->MatmulDescCreate(&p->what, s->precision == SPOT_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                : CUBLAS_COMPUTE_32F, CUDA_R_32F);

    if (!e && forward) e = set(p, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    if (!e && weights) e = set(p, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
    if (!e && s->bias) e = set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    if (!e) e = p->lib->MatrixLayoutCreate(&p->b, type, s->in, weights ? rows : s->out, s->in);
    if (!e) e = p->lib->MatrixLayoutCreate(&p->a, type, forward ? s->in : s->out, rows, forward ? s->in : s->out);
    if (!e) e = p->lib->MatrixLayoutCreate(&p->y, s->narrow ? type : CUDA_R_32F, wide, weights ? s->out : rows, wide);
    return e;
}

/* Says which algorithms may be taken: arena's pointers have 16 bytes of alignment at any row that a piece begins with. known:
 * of these numerical kinds alone. */
static cublasStatus_t describe_wish(spot_product *p, bool known)
{
    static const cublasLtMatmulPreferenceAttributes_t alignment[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES };
    uint64_t how = CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F | CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA
                 | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
    cublasStatus_t e = p->lib->MatmulPreferenceCreate(&p->wish);
    const spot_precision precision = p->shape.s.precision;

    if (precision != SPOT_FP32)
        how |= CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | (precision == SPOT_BF16 ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF
                                                     : CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32);
    if (!e && known) e = set(p, CUBLASLT_MATMUL_PREF_IMPL_MASK, how);
    if (!e) e = set(p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, (uint64_t)WORKSPACE);
    if (!e) e = set(p, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, (uint32_t)CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
    for (size_t i = 0; i < sizeof alignment / sizeof *alignment && !e; i++) e = set(p, alignment[i], (uint32_t)16);
    return e;
}

/* The library's first proposal for the rows of the layouts. */
static cublasStatus_t propose(const spot_product *p, cublasLtMatmulAlgo_t *algorithm)
{
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    cublasStatus_t e = p->lib->MatmulAlgoGetHeuristic(p->lib->handle, p->what, p->b, p->a, p->y, p->y, p->wish, 1, &found,
                                                      &count);

    if (!e) e = count ? found.state : CUBLAS_STATUS_NOT_SUPPORTED;
    if (!e) *algorithm = found.algo;
    return e;
}

spot_status spot_product_open(spot_ctx *c, spot_product **out, const spot_product_shape *s, bool known)
{
    const spot_products *lib;
    spot_product *p;
    cublasStatus_t e;

    *out = NULL;
    SPOT_TRY(library_of(c, &lib));
    p = (spot_product *)calloc(1, sizeof *p);
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for the plan of a linear layer");
    p->shape = *s;
    p->lib = lib;
    e = describe(p);
    if (!e) e = describe_wish(p, known);
    if (!e) e = set_bias(p, spot_cuda_of(c)->tickets);      /* any address that is aligned as biases are */
    if (!e) e = propose(p, &p->chosen);
    if (e) spot_product_close(p);
    SPOT_TRY(check_cublas(c, e, "plan", &s->s));
    *out = p;
    return SPOT_OK;
}

void spot_product_close(spot_product *p)
{
    if (!p) return;
    if (p->wish) p->lib->MatmulPreferenceDestroy(p->wish);
    if (p->y) p->lib->MatrixLayoutDestroy(p->y);
    if (p->a) p->lib->MatrixLayoutDestroy(p->a);
    if (p->b) p->lib->MatrixLayoutDestroy(p->b);
    if (p->what) p->lib->MatmulDescDestroy(p->what);
    free(p);
}

size_t spot_product_scratch() { return WORKSPACE; }

spot_product *spot_product_kept(spot_ctx *c, const spot_product_shape *s)
{
    const spot_products *lib = spot_cuda_of(c)->products;
    spot_product *p = lib ? lib->kept : NULL;

    while (p && !spot_product_shapes_equal(&p->shape, s)) p = p->next;
    return p;
}

void spot_product_keep(spot_ctx *c, spot_product *p)
{
    p->next = spot_cuda_of(c)->products->kept;
    spot_cuda_of(c)->products->kept = p;
}

/* -- a product -------------------------------------------------------------------------------------------------------- */

/* The chosen algorithm for another count of rows, or the library's proposal where it does not serve. */
static cublasStatus_t fit_rows(spot_product *p, int rows)
{
    cublasLtMatmulHeuristicResult_t found;
    cublasStatus_t e;

    if (rows == p->rows) return CUBLAS_STATUS_SUCCESS;
    p->rows = 0;
    e = set_rows(p, (uint64_t)rows);
    if (e) return e;
    p->algorithm = p->chosen;
    e = p->lib->MatmulAlgoCheck(p->lib->handle, p->what, p->b, p->a, p->y, p->y, &p->algorithm, &found);
    if (e || found.workspaceSize > WORKSPACE) e = propose(p, &p->algorithm);
    if (!e) p->rows = rows;
    return e;
}

spot_status spot_product_run(spot_ctx *c, spot_product *p, void *y, const void *a, const void *b, const void *bias, int rows,
                             void *scratch)
{
    const float one = 1, beta = p->shape.s.add;
    cublasStatus_t e = set_bias(p, bias);

    if (!e) e = fit_rows(p, rows);
    if (!e) e = p->lib->Matmul(p->lib->handle, p->what, &one, b, p->b, a, p->a, &beta, y, p->y, y, p->y, &p->algorithm,
                               scratch, WORKSPACE, spot_cuda_stream(c));
    return check_cublas(c, e, "multiply", &p->shape.s);
}

#endif
