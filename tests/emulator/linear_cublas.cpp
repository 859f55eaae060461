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

struct spot_product { spot_linear_shape s; };

static bool is_asked(const char *word)
{
    const char *env = getenv("SPOT_EMULATOR_CUBLAS");

    return env && !strcmp(env, word);
}

spot_status spot_product_open(spot_ctx *c, spot_product **out, const spot_linear_shape *s, bool known)
{
    const char *env = getenv("SPOT_EMULATOR_CUBLAS");

    *out = nullptr;
    if ((env && known) || is_asked("nothing"))
        return spot_fail(c, SPOT_UNSUPPORTED, "cuBLASLt cannot plan a layer of %d -> %d numbers: status 15", s->in, s->out);
    *out = (spot_product *)malloc(sizeof **out);
    (*out)->s = *s;
    return SPOT_OK;
}

void   spot_product_close(spot_product *p) { free(p); }
void   spot_products_forget(spot_cuda *) {}
size_t spot_product_scratch(const spot_product *) { return SCRATCH; }

static int calls;

template <typename T> static float factor(T v)
{
    spot_bf16 narrow;

    spot_round(&narrow, spot_widen(v));
    return is_asked("coarse") ? spot_widen(narrow) : spot_widen(v);
}

template <typename T, typename Y>
static void multiply(const spot_linear_shape *s, Y *y, const T *x, const T *w, const Y *bias, int rows)
{
    for (size_t r = 0; r < (size_t)rows; r++)
        for (size_t o = 0; o < (size_t)s->out; o++) {
            const double waver = s->narrow ? 0x1p-7 : 0x1p-23;         /* of the last bit */
            double sum = 0;
            for (size_t i = 0; i < (size_t)s->in; i++) sum += (double)factor(x[r * s->in + i]) * factor(w[o * s->in + i]);
            if (s->bias) sum += spot_widen(bias[o]);
            if (s->add) sum += spot_widen(y[r * s->out + o]);
            spot_round(&y[r * s->out + o], (float)(sum * (is_asked("wavers") ? 1 + waver * (calls % 2) : 1)));
        }
}

spot_status spot_product_run(spot_ctx *c, spot_product *p, void *y, const void *x, const void *w, const void *bias, int rows,
                             void *scratch)
{
    emu::submit([=, s = p->s] {
        emu_open_memory(true);                 /* a library computes on the device */
        memset(scratch, 0x7f, SCRATCH);
        calls++;
        const spot_bf16 *hx = (const spot_bf16 *)x, *hw = (const spot_bf16 *)w, *hb = (const spot_bf16 *)bias;
        const float *b = (const float *)bias;
        if (s.narrow)                      multiply(&s, (spot_bf16 *)y, hx, hw, hb, rows);
        else if (s.precision == SPOT_BF16) multiply(&s, (float *)y, hx, hw, b, rows);
        else                               multiply(&s, (float *)y, (const float *)x, (const float *)w, b, rows);
        emu_open_memory(false);
    }, EMU_library, spot_cuda_stream(c));
    return SPOT_OK;
}
