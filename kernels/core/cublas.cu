/* cublas.cu - finds cuBLAS 12 or 13 and multiplies with it. */
#include "core/cublas.cuh"

#if !__has_include(<cublas_v2.h>)

spot_status spot_cublas_multiply(spot_ctx *c, void *, const void *, const void *, int)
{
    return spot_fail(c, SPOT_UNSUPPORTED, "this build was made without cuBLAS's header: no matrix product to compare with");
}

void spot_cublas_forget(spot_cuda *) {}

#else
#include <cublas_v2.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/library.cuh"

/* The type of cublasGemmEx, whose name the header overloads for C++. */
typedef cublasStatus_t multiply_function(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                                         const void *, cudaDataType, int, const void *, cudaDataType, int, const void *,
                                         void *, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);

struct spot_cublas {
    cublasHandle_t handle;
    decltype(&cublasCreate_v2) create;
    decltype(&cublasDestroy_v2) destroy;
    decltype(&cublasSetStream_v2) set_stream;
    multiply_function *multiply;
    char where[1024];
};

static spot_status check_cublas(spot_ctx *c, cublasStatus_t e, const char *what)
{
    if (e == CUBLAS_STATUS_SUCCESS) return SPOT_OK;
    return spot_fail(c, e == CUBLAS_STATUS_ALLOC_FAILED ? SPOT_NOMEM : SPOT_DEVICE, "cuBLAS cannot %s on %s: status %d", what,
                     ((const spot_device *)c->device)->name, (int)e);
}

/* Opens the version of the library that the headers are from, because their enumerations must agree. */
static spot_status open_cublas(spot_ctx *c, struct spot_cublas *b)
{
    char file[32], looked[2048];
    void *so;

    snprintf(file, sizeof file, "libcublas.so.%d", CUBLAS_VER_MAJOR);
    so = spot_library_open(file, "SPOT_CUBLAS_DIR", b->where, sizeof b->where, looked, sizeof looked);
    if (!so)
        return spot_fail(c, SPOT_DEVICE, "%s was not found (searched: %s): set SPOT_CUBLAS_DIR to its folder", file, looked);
    b->create = (decltype(b->create))dlsym(so, "cublasCreate_v2");
    b->destroy = (decltype(b->destroy))dlsym(so, "cublasDestroy_v2");
    b->set_stream = (decltype(b->set_stream))dlsym(so, "cublasSetStream_v2");
    b->multiply = (decltype(b->multiply))dlsym(so, "cublasGemmEx");
    if (!b->create || !b->destroy || !b->set_stream || !b->multiply)
        return spot_fail(c, SPOT_DEVICE, "%s lacks functions of cuBLAS", b->where);
    SPOT_TRY(check_cublas(c, b->create(&b->handle), "start"));
    return check_cublas(c, b->set_stream(b->handle, spot_cuda_stream(c)), "take a stream");
}

void spot_cublas_forget(spot_cuda *cuda)
{
    if (cuda->cublas && cuda->cublas->handle) cuda->cublas->destroy(cuda->cublas->handle);
    free(cuda->cublas);                /* the library stays loaded */
    cuda->cublas = NULL;
}

/* cuBLAS is column-major: in its order the row-major product a b is b times a. */
spot_status spot_cublas_multiply(spot_ctx *c, void *product, const void *a, const void *b, int n)
{
    spot_cuda *cuda = spot_cuda_of(c);
    const float one = 1, zero = 0;

    if (!cuda->cublas) {
        cuda->cublas = (struct spot_cublas *)calloc(1, sizeof *cuda->cublas);
        if (!cuda->cublas) return spot_fail(c, SPOT_NOMEM, "no memory for cuBLAS's handle");
        spot_status s = open_cublas(c, cuda->cublas);
        if (s != SPOT_OK) spot_cublas_forget(cuda);
        SPOT_TRY(s);
    }
    return check_cublas(c, cuda->cublas->multiply(cuda->cublas->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, CUDA_R_16BF,
                                                  n, a, CUDA_R_16BF, n, &zero, product, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F,
                                                  CUBLAS_GEMM_DEFAULT), "multiply matrices");
}

#endif
