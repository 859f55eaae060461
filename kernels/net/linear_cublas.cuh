/* linear_cublas.cuh - the products of linear.cu, by cuBLASLt: y = x w' (+ bias), or y += x w' (+ bias). y and the bias are
 * fp32; bf16 with `narrow` in that precision. */
#ifndef SPOTTER_LINEAR_CUBLAS_CUH
#define SPOTTER_LINEAR_CUBLAS_CUH

#include "core/cuda.cuh"
#include "net/linear.h"

typedef struct spot_product spot_product;

/* Chooses the library's algorithm for s, whose activation is the caller's. known: only algorithms of the numerical kinds
 * that linear_cublas.cu lists. SPOT_UNSUPPORTED: the library proposes none, and linear.cu then tries one of any kind. *out is
 * NULL after a failure; close accepts NULL. cuBLASLt stays open until spot_products_forget. */
spot_status spot_product_open(spot_ctx *c, spot_product **out, const spot_linear_shape *s, bool known);
void        spot_product_close(spot_product *p);
void        spot_products_forget(spot_cuda *cuda);

/* Bytes of scratch of a run. */
size_t spot_product_scratch(const spot_product *p);

/* x and w (plain (out, in)) have the precision of the shape. */
spot_status spot_product_run(spot_ctx *c, spot_product *p, void *y, const void *x, const void *w, const void *bias, int rows,
                             void *scratch);

#endif
