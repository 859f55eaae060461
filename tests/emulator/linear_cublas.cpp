/* linear_cublas.cpp - stands in for cuBLASLt on the emulator: plain loops, a sum of double in the order of the inputs. It takes
 * scratch like the library, and spoils it.
 *
 *     SPOT_EMULATOR_CUBLAS=unknown    it proposes nothing of the kinds that are asked for, and otherwise a right algorithm
 *     SPOT_EMULATOR_CUBLAS=coarse     ... and otherwise one that rounds its factors to bf16
 *     SPOT_EMULATOR_CUBLAS=wavers     ... and otherwise one whose last bit changes from call to call
 *     SPOT_EMULATOR_CUBLAS=nothing    it proposes nothing */
#include "net/linear_cublas.cuh"

#include <cstdlib>

#include "core/lanes.cuh"
#include "runtime.h"

enum { SCRATCH = 256 };

struct spot_product { spot_product_shape s; spot_product *next; };
struct spot_products { spot_product *kept; };

static bool is_asked(const char *word)
{
    const char *env = getenv("SPOT_EMULATOR_CUBLAS");

    return env && !strcmp(env, word);
}

spot_status spot_product_open(spot_ctx *c, spot_product **out, const spot_product_shape *s, bool known)
{
    const char *env = getenv("SPOT_EMULATOR_CUBLAS");

    *out = nullptr;
    if ((env && known) || is_asked("nothing"))
        return spot_fail(c, SPOT_UNSUPPORTED, "cuBLASLt cannot plan a layer of %d -> %d numbers: status 15", s->s.in,
                         s->s.out);
    if (!spot_cuda_of(c)->products) spot_cuda_of(c)->products = (spot_products *)calloc(1, sizeof(spot_products));
    *out = (spot_product *)malloc(sizeof **out);
    **out = { *s, nullptr };
    return SPOT_OK;
}

void   spot_product_close(spot_product *p) { free(p); }
size_t spot_product_scratch() { return SCRATCH; }

void spot_products_forget(spot_cuda *cuda)
{
    for (spot_product *p = cuda->products ? cuda->products->kept : nullptr, *next; p; p = next) {
        next = p->next;
        spot_product_close(p);
    }
    free(cuda->products);
    cuda->products = nullptr;
}

spot_product *spot_product_kept(spot_ctx *c, const spot_product_shape *s)
{
    spot_product *p = spot_cuda_of(c)->products ? spot_cuda_of(c)->products->kept : nullptr;

    while (p && !spot_product_shapes_equal(&p->s, s)) p = p->next;
    return p;
}

void spot_product_keep(spot_ctx *c, spot_product *p)
{
    p->next = spot_cuda_of(c)->products->kept;
    spot_cuda_of(c)->products->kept = p;
}

static int calls;

template <typename T> static float factor(T v, bool coarse)
{
    spot_bf16 narrow;

    spot_round(&narrow, spot_widen(v));
    return coarse ? spot_widen(narrow) : spot_widen(v);
}

template <typename T, typename Y>
static void multiply(const spot_product_shape *s, Y *y, const T *a, const T *b, const Y *bias, int rows)
{
    const double waver = s->s.narrow ? 0x1p-7 : 0x1p-23;         /* of the last bit */
    const spot_product_sums p = spot_product_sums_of(s, rows);
    const bool coarse = is_asked("coarse"), wavers = is_asked("wavers");

    for (size_t i = 0; i < (size_t)p.m; i++)
        for (size_t j = 0; j < (size_t)p.n; j++) {
            double sum = 0;
            for (size_t k = 0; k < (size_t)p.depth; k++)
                sum += (double)factor(a[i * p.a.row + k * p.a.step], coarse) * factor(b[j * p.b.row + k * p.b.step], coarse);
            if (s->s.bias) sum += spot_widen(bias[j]);
            if (s->s.add) sum += spot_widen(y[i * p.n + j]);
            spot_round(&y[i * p.n + j], (float)(sum * (wavers ? 1 + waver * (calls % 2) : 1)));
        }
}

spot_status spot_product_run(spot_ctx *c, spot_product *p, void *y, const void *a, const void *b, const void *bias, int rows,
                             void *scratch)
{
    emu::submit([=, s = p->s] {
        emu_open_memory(true);                 /* a library computes on the device */
        memset(scratch, 0x7f, SCRATCH);
        calls++;
        const spot_bf16 *ha = (const spot_bf16 *)a, *hb = (const spot_bf16 *)b;
        if (s.s.narrow)                      multiply(&s, (spot_bf16 *)y, ha, hb, (const spot_bf16 *)bias, rows);
        else if (s.s.precision == SPOT_BF16) multiply(&s, (float *)y, ha, hb, (const float *)bias, rows);
        else multiply(&s, (float *)y, (const float *)a, (const float *)b, (const float *)bias, rows);
        emu_open_memory(false);
    }, EMU_library, spot_cuda_stream(c));
    return SPOT_OK;
}
