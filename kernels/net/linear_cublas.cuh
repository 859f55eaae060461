/* linear_cublas.cuh - the products of linear.cu and dense.cu, by cuBLASLt. The result is fp32; bf16 with `narrow` in that
 * precision, and a bias likewise. */
#ifndef SPOTTER_LINEAR_CUBLAS_CUH
#define SPOTTER_LINEAR_CUBLAS_CUH

#include "core/cuda.cuh"
#include "net/linear.h"

/* The products of a layer with weights w (out, in), and rows x (rows, in) and dy (rows, out):
 *     Y   y = x w' (+ bias), or y += x w' (+ bias)        a is x,  b is w
 *     DX  dx = dy w                                       a is dy, b is w
 *     DW  dw = dy' x                                      a is dy, b is x */
typedef enum { SPOT_PRODUCT_Y, SPOT_PRODUCT_DX, SPOT_PRODUCT_DW } spot_product_kind;

/* rows: for which an algorithm is chosen. The activation of s is the caller's. */
typedef struct {
    spot_linear_shape s;
    spot_product_kind kind;
    int rows;
} spot_product_shape;

typedef struct spot_product spot_product;

/* The result (m, n) has at (i, j) the sum of `depth` products a(i, k) b(j, k), which lie at i * row + k * step. */
typedef struct {
    int m, n, depth;
    struct { size_t row, step; } a, b;
} spot_product_sums;

static inline spot_product_sums spot_product_sums_of(const spot_product_shape *s, int rows)
{
    const int in = s->s.in, out = s->s.out;

    if (s->kind == SPOT_PRODUCT_Y)  return { rows, out, in, { (size_t)in, 1 }, { (size_t)in, 1 } };
    if (s->kind == SPOT_PRODUCT_DX) return { rows, in, out, { (size_t)out, 1 }, { 1, (size_t)in } };
    return { out, in, rows, { 1, (size_t)out }, { 1, (size_t)in } };
}

/* Chooses the library's algorithm for s. known: only algorithms of the numerical kinds that linear_cublas.cu lists.
 * SPOT_UNSUPPORTED: the library proposes none. *out is NULL after a failure; close accepts NULL. cuBLASLt stays open until
 * spot_products_forget. */
spot_status spot_product_open(spot_ctx *c, spot_product **out, const spot_product_shape *s, bool known);
void        spot_product_close(spot_product *p);
void        spot_products_forget(spot_cuda *cuda);

/* The same, with an algorithm of a known kind, or else of any kind that proves right and repeatable (linear_trial.cu). */
spot_status spot_product_find(spot_ctx *c, spot_product **out, const spot_product_shape *s);

/* The product that was kept for s, or NULL. keep: until spot_products_forget, which closes it. */
spot_product *spot_product_kept(spot_ctx *c, const spot_product_shape *s);
void          spot_product_keep(spot_ctx *c, spot_product *p);

static inline bool spot_product_shapes_equal(const spot_product_shape *p, const spot_product_shape *q)
{
    return p->kind == q->kind && p->rows == q->rows && p->s.in == q->s.in && p->s.out == q->s.out && p->s.bias == q->s.bias
        && p->s.add == q->s.add && p->s.narrow == q->s.narrow && p->s.precision == q->s.precision;
}

/* Bytes of scratch of a run. */
size_t spot_product_scratch();

/* a and b have the precision of the shape. */
spot_status spot_product_run(spot_ctx *c, spot_product *p, void *y, const void *a, const void *b, const void *bias, int rows,
                             void *scratch);

#endif
