/* dense.c - products by core/gemm.h, whose bits do not depend on how rows and columns are cut. */
#include "net/dense.h"

#include <string.h>

#include "core/gemm.h"
#include "net/dense_step.h"

enum { CUT = 128 };            /* rows or columns of a task, and of a tile */

/* x and y, turned. */
static size_t scratch_cpu(const spot_dense_shape *s) { return (size_t)s->rows * ((size_t)s->in + s->out) * sizeof(float); }

static spot_status pack_cpu(spot_ctx *c, void *packed, const float *w, const spot_dense_shape *s)
{
    (void)c;
    memcpy(packed, w, (size_t)s->in * s->out * sizeof *w);
    return SPOT_OK;
}

static void turn(float *to, const float *from, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) to[(size_t)j * rows + i] = from[(size_t)i * columns + j];
}

/* c += a b for at most CUT columns, chain after chain; b (depth, columns). */
static void add_product(float *c, size_t ldc, spot_gemm_factor a, spot_gemm_factor b, int rows, int columns, int depth)
{
    float piece[CUT][CUT];

    for (int top = 0; top < rows; top += CUT)
        for (int k = 0; k < depth; k += SPOT_DENSE_CHAIN) {
            const int high = rows - top < CUT ? rows - top : CUT;
            const int deep = depth - k < SPOT_DENSE_CHAIN ? depth - k : SPOT_DENSE_CHAIN;
            memset(piece, 0, sizeof piece);
            spot_gemm_add(piece[0], CUT, (spot_gemm_factor){ a.v + top * a.row + k * a.step, a.row, a.step },
                          (spot_gemm_factor){ b.v + k * b.row, b.row, 1 }, high, columns, deep);
            for (int i = 0; i < high; i++)
                for (int j = 0; j < columns; j++) c[(top + i) * ldc + j] += piece[i][j];
        }
}

/* y' = w x', since gemm wants rows of the second factor. */
static spot_status forward_cpu(spot_ctx *c, float *y, const float *x, const void *w, const float *b, const spot_dense_shape *s,
                               void *scratch)
{
    const int rows = s->rows;
    const float *weights = w;
    float *across = scratch, *down = across + (size_t)rows * s->in;

    turn(across, x, rows, s->in);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int first = 0; first < s->out; first += CUT) {
        const int n = s->out - first < CUT ? s->out - first : CUT;
        float *to = down + (size_t)first * rows;
        for (int i = 0; i < n * rows; i++) to[i] = b[first + i / rows];
        for (int i = 0; i < rows; i += CUT)
            add_product(to + i, rows, (spot_gemm_factor){ weights + (size_t)first * s->in, s->in, 1 },
                        (spot_gemm_factor){ across + i, rows, 1 }, n,
                        rows - i < CUT ? rows - i : CUT, s->in);
        for (int i = 0; i < rows; i++)
            for (int o = 0; o < n; o++) {
                const float v = to[(size_t)o * rows + i];
                y[(size_t)i * s->out + first + o] = s->relu && v <= 0 ? 0 : v;
            }
    }
    return SPOT_OK;
}

/* A task is CUT columns of dw. */
static void weights_back(spot_ctx *c, float *dw, const float *dz, const float *x, const spot_dense_shape *s)
{
    memset(dw, 0, (size_t)s->out * s->in * sizeof *dw);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int first = 0; first < s->in; first += CUT)
        add_product(dw + first, s->in, (spot_gemm_factor){ dz, 1, s->out }, (spot_gemm_factor){ x + first, s->in, 1 }, s->out,
                    s->in - first < CUT ? s->in - first : CUT, s->rows);
}

static void bias_back(float *db, const float *dz, const spot_dense_shape *s)
{
    for (int o = 0; o < s->out; o++) {
        double sum = 0;
        for (int i = 0; i < s->rows; i++) sum += dz[(size_t)i * s->out + o];
        db[o] = (float)sum;
    }
}

static spot_status back_cpu(spot_ctx *c, const spot_dense_gradients *g, const spot_dense_shape *s, void *scratch)
{
    const float *w = g->w;

    (void)scratch;
    for (size_t i = 0; s->relu && i < (size_t)s->rows * s->out; i++)
        if (g->y[i] <= 0) g->dy[i] = 0;
    if (g->dw) weights_back(c, g->dw, g->dy, g->x, s), bias_back(g->db, g->dy, s);
    if (!g->dx) return SPOT_OK;
    memset(g->dx, 0, (size_t)s->rows * s->in * sizeof *g->dx);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int first = 0; first < s->in; first += CUT)
        add_product(g->dx + first, s->in, (spot_gemm_factor){ g->dy, s->out, 1 }, (spot_gemm_factor){ w + first, s->in, 1 },
                    s->rows,
                    s->in - first < CUT ? s->in - first : CUT, s->out);
    return SPOT_OK;
}

static spot_status drop_cpu(spot_ctx *c, float *x, size_t count, const spot_drop_rule *rule, uint32_t below, int site)
{
    const float grown = (float)(1 / (1 - rule->p));
    const long long blocks = (long long)((count + 3) / 4);

#pragma omp parallel for num_threads(c->threads)
    for (long long b = 0; b < blocks; b++) {
        uint32_t word[4];
        spot_drop_words(word, rule->seed, rule->number, (uint32_t)*rule->made, (uint32_t)site, (uint32_t)b);
        for (size_t i = 4 * (size_t)b; i < 4 * (size_t)b + 4 && i < count; i++) x[i] = word[i % 4] < below ? 0 : x[i] * grown;
    }
    return SPOT_OK;
}

const spot_dense_ops spot_dense_cpu = { scratch_cpu, pack_cpu, forward_cpu, back_cpu, drop_cpu };

/* -- checked entries ------------------------------------------------------------------------------------------ */

static spot_status check_shape(spot_ctx *c, const char *op, const spot_dense_shape *s)
{
    if (s->rows > 0 && s->in > 0 && s->out > 0 && spot_dense_reads(c, s->precision) == s->precision) return SPOT_OK;
    return spot_fail(c, SPOT_INVALID, "dense.%s: %d rows of %d numbers by (%d, %d)", op, s->rows, s->in, s->out, s->in);
}

size_t spot_dense_scratch(spot_ctx *c, const spot_dense_shape *s) { return c->ops->dense ? c->ops->dense->scratch(s) : 0; }

spot_status spot_dense_pack(spot_ctx *c, void *packed, const float *w, const spot_dense_shape *s)
{
    SPOT_TRY(check_shape(c, "pack", s));
    SPOT_DISPATCH(c, dense, pack, packed, w, s);
}

spot_status spot_dense_forward(spot_ctx *c, float *y, const float *x, const void *w, const float *b, const spot_dense_shape *s,
                               void *scratch)
{
    SPOT_TRY(check_shape(c, "forward", s));
    SPOT_DISPATCH(c, dense, forward, y, x, w, b, s, scratch);
}

spot_status spot_dense_back(spot_ctx *c, const spot_dense_gradients *g, const spot_dense_shape *s, void *scratch)
{
    SPOT_TRY(check_shape(c, "back", s));
    if (!g->dw != !g->db) return spot_fail(c, SPOT_INVALID, "dense.back: dw and db come together");
    SPOT_DISPATCH(c, dense, back, g, s, scratch);
}

spot_status spot_dense_drop(spot_ctx *c, float *x, size_t count, const spot_drop_rule *rule, int site)
{
    if (!(rule->p >= 0 && rule->p < 1) || site < 0 || site >= SPOT_DROP_SITES || count >> 32)
        return spot_fail(c, SPOT_INVALID, "dense.drop: %g of %zu numbers at site %d", rule->p, count, site);
    if (rule->p == 0) return SPOT_OK;
    if (!rule->made) return spot_fail(c, SPOT_INVALID, "dense.drop: no count of the steps");
    SPOT_DISPATCH(c, dense, drop, x, count, rule, (uint32_t)(rule->p * 4294967296.0), site);
}
