/* conv_cudnn.cpp - stands in for cuDNN on the emulator. As a rule it has no plan, so conv_naive.cu's kernels compute. With
 * SPOT_EMULATOR_CUDNN in the environment it convolves by plain loops, and the first plan that it offers for each pass
 * forgets the last image's last pixel: what conv.cu does around a library, and that it refuses a wrong one, can be seen. */
#include "conv_cudnn.h"

#include <cstdlib>

#include "lanes.cuh"
#include "runtime.h"

struct spot_cudnn_plan {
    spot_conv_shape s;
    int channels, pass;
    bool forgets;
};

static size_t narrow(const spot_cudnn_plan *p)
{
    bool weights = p->pass == SPOT_PASS_WEIGHTS && p->s.precision == SPOT_BF16;

    return weights ? (size_t)p->s.co * p->channels * p->s.k * p->s.k : 0;
}

/* Calls visit(x, w, y) with the places of every product. */
template <typename F> static void products(const spot_cudnn_plan *p, F visit)
{
    int size = p->s.size, out = size / p->s.stride, k = p->s.k, last = p->s.rows * out * out - 1;

    for (int at = 0; at <= last - p->forgets; at++)
        for (int tap = 0; tap < k * k; tap++) {
            int row = at / out % out * p->s.stride + tap / k - k / 2, col = at % out * p->s.stride + tap % k - k / 2;
            if (row < 0 || row >= size || col < 0 || col >= size) continue;
            for (int o = 0; o < p->s.co; o++)
                for (int i = 0; i < p->channels; i++)
                    visit(((size_t)(at / out / out * size + row) * size + col) * p->channels + i,
                          ((size_t)o * k * k + tap) * p->channels + i, (size_t)at * p->s.co + o);
        }
}

template <typename T> static void run(const spot_cudnn_plan *p, T *x, T *w, T *y, bool add)
{
    size_t pixels = (size_t)p->s.rows * p->s.size * p->s.size, out = pixels / (p->s.stride * p->s.stride);
    size_t count[] = { out * p->s.co, pixels * p->channels, (size_t)p->s.co * p->channels * p->s.k * p->s.k };
    size_t n = count[p->pass];
    double *sum = (double *)calloc(n, sizeof *sum);
    T *to = p->pass == SPOT_PASS_FORWARD ? y : p->pass == SPOT_PASS_DATA ? x : w;

    products(p, [&](size_t a, size_t b, size_t c) {
        if (p->pass == SPOT_PASS_FORWARD)   sum[c] += (double)spot_widen(x[a]) * spot_widen(w[b]);
        else if (p->pass == SPOT_PASS_DATA) sum[a] += (double)spot_widen(y[c]) * spot_widen(w[b]);
        else                                sum[b] += (double)spot_widen(x[a]) * spot_widen(y[c]);
    });
    for (size_t i = 0; i < n; i++) spot_round(&to[i], (float)(sum[i] + (add ? spot_widen(to[i]) : 0)));
    free(sum);
}

spot_status spot_cudnn_run(spot_ctx *c, const spot_cudnn_plan *p, void *x, void *w, void *y, void *scratch)
{
    bool add = p->s.add && p->pass == SPOT_PASS_FORWARD;

    emu::submit([=] {
        emu_open_memory(true);                 /* a library computes on the device */
        if (p->s.precision != SPOT_BF16) run(p, (float *)x, (float *)w, (float *)y, add);
        else run(p, (spot_bf16 *)x, (spot_bf16 *)(narrow(p) ? scratch : w), (spot_bf16 *)y, add);
        emu_open_memory(false);
    });
    return narrow(p) ? spot_conv_widen(c, (float *)w, scratch, narrow(p)) : SPOT_OK;
}

spot_status spot_cudnn_plan_open(spot_ctx *c, spot_cudnn **, spot_cudnn_plan **plan, const spot_conv_shape *s, int channels,
                                 int pass, spot_cudnn_check *check, void *user)
{
    spot_cudnn_plan *p;
    bool right = false;

    *plan = nullptr;
    if (!getenv("SPOT_EMULATOR_CUDNN")) return SPOT_OK;
    p = (spot_cudnn_plan *)malloc(sizeof *p);
    *p = { *s, channels, pass, true };
    SPOT_TRY(check(c, user, p, &right));
    if (!right) spot_log(c, SPOT_LOG_WARN, "a wrong plan was refused");
    p->forgets = false;
    SPOT_TRY(check(c, user, p, &right));
    if (!right) return spot_fail(c, SPOT_DEVICE, "a right plan was refused");
    *plan = p;
    return SPOT_OK;
}

void   spot_cudnn_plan_close(spot_cudnn_plan *p) { free(p); }
size_t spot_cudnn_plan_scratch(const spot_cudnn_plan *p) { return p ? 2 * narrow(p) : 0; }
void   spot_cudnn_close(spot_cudnn *) {}
