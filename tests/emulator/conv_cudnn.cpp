/* conv_cudnn.cpp - stands in for cuDNN on the emulator. As a rule there is none, so conv_naive.cu's kernels compute. With
 * SPOT_EMULATOR_CUDNN in the environment there is one that convolves by plain loops, has engines of every sort, and says
 * how long each run took: what conv_plans.cu does around a library, and which engine it takes, can be seen.
 *
 *     SPOT_EMULATOR_CUDNN="fast=4 gone=6 other=5"   engine 4 takes 3 ms, as those do that are no good, and the others take
 *                                                   9; 6 cannot be made; 5 does not round as it used to
 *     SPOT_EMULATOR_CUDNN="last=3"                  there are engines 1 to 3 only
 *     SPOT_EMULATOR_CUDNN="new=4"                   engines from 4 on have a note that nobody knows yet
 *     SPOT_EMULATOR_CUDNN="silent=1"                its heuristics propose nothing */
#include "net/conv_cudnn.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/lanes.cuh"
#include "runtime.h"

struct spot_cudnn { int unused; };

/* The peculiarity of an engine. FORGETS leaves out a pixel, or what it should add to. The last three are right, and differ
 * in their bits: one sums in double, one in float, one in float backwards. */
enum { FORGETS = 1, WAVERS, REFUSES, IN_DOUBLE, IN_FLOAT, BACKWARDS, ENGINES };

struct spot_cudnn_plan {
    spot_conv_task t;
    int engine;
    bool narrow, fused;
};

/* The number behind `word=` in the environment; -1 where it does not stand there. */
static int asked(const char *word)
{
    const char *env = getenv("SPOT_EMULATOR_CUDNN"), *at = env ? strstr(env, word) : nullptr;

    return at ? atoi(at + strlen(word) + 1) : -1;
}

static size_t weights(const spot_conv_task *t) { return (size_t)t->s.co * t->channels * t->k * t->k; }

static bool adds_to_dx(const spot_cudnn_plan *p) { return p->t.pass == SPOT_PASS_DATA && p->t.adds; }

static size_t narrow(const spot_cudnn_plan *p) { return p->narrow ? weights(&p->t) : 0; }

/* Calls visit(x, w, y) with the places of every product; in this order every sum adds its own. */
template <typename F> static void products(const spot_cudnn_plan *p, int engine, F visit)
{
    const spot_conv_shape *s = &p->t.s;
    int size = p->t.size, out = p->t.out, k = p->t.k, channels = p->t.channels, all = s->rows * out * out;

    for (int i = 0; i < all - (engine == FORGETS && !adds_to_dx(p)); i++)
        for (int j = 0; j < k * k; j++) {
            int at = engine == BACKWARDS ? all - 1 - i : i, tap = engine == BACKWARDS ? k * k - 1 - j : j;
            int row = at / out % out * p->t.stride + tap / k - p->t.before;
            int col = at % out * p->t.stride + tap % k - p->t.before;
            if (row < 0 || row >= size || col < 0 || col >= size) continue;
            for (int o = 0; o < s->co; o++)
                for (int ch = 0; ch < channels; ch++)
                    visit(((size_t)(at / out / out * size + row) * size + col) * channels + ch,
                          ((size_t)o * k * k + tap) * channels + ch, (size_t)at * s->co + o);
        }
}

template <typename T> static void run(const spot_cudnn_plan *p, T *x, T *w, T *y, const float *bias, const T *other)
{
    static int runs;
    const spot_conv_shape *s = &p->t.s;
    int pass = p->t.pass, engine = p->engine == asked("other") ? (int)IN_DOUBLE : p->engine;
    size_t pixels = (size_t)s->rows * p->t.size * p->t.size, out = (size_t)s->rows * p->t.out * p->t.out;
    size_t count[] = { out * s->co, pixels * p->t.channels, weights(&p->t) };
    size_t n = count[pass];
    double *sum = (double *)calloc(n, sizeof *sum);
    T *to = pass == SPOT_PASS_FORWARD ? y : pass == SPOT_PASS_DATA ? x : w;

    products(p, engine, [&](size_t a, size_t b, size_t c) {
        double *at = &sum[pass == SPOT_PASS_FORWARD ? c : pass == SPOT_PASS_DATA ? a : b];
        *at += pass == SPOT_PASS_FORWARD ? (double)spot_widen(x[a]) * spot_widen(w[b])
             : pass == SPOT_PASS_DATA    ? (double)spot_widen(y[c]) * spot_widen(w[b])
                                         : (double)spot_widen(x[a]) * spot_widen(y[c]);
        if (engine != IN_DOUBLE) *at = (float)*at;
    });
    if (engine == WAVERS) *std::max_element(sum, sum + n) *= 1 + 0x1p-7 * (runs++ % 2);   /* no ReLU hides it */
    for (size_t i = 0; i < n; i++) {
        if (adds_to_dx(p) && engine != FORGETS) sum[i] += spot_widen(to[i]);
        if (p->fused) sum[i] += bias[i % s->co];
        if (p->fused && other) sum[i] += spot_widen(other[i]);
        if (p->fused && s->relu && sum[i] <= 0) sum[i] = 0;
        spot_round(&to[i], (float)sum[i]);
    }
    free(sum);
}

spot_status spot_cudnn_run(spot_ctx *c, const spot_cudnn_plan *p, void *x, void *w, void *y, const float *bias,
                           const void *other, void *scratch, bool *finished)
{
    *finished = p->fused;
    if (p->engine == REFUSES) return spot_fail(c, SPOT_DEVICE, "engine %d does not run", p->engine);
    emu::submit([=] {
        emu_open_memory(true);                 /* a library computes on the device */
        if (p->t.s.precision != SPOT_BF16) run(p, (float *)x, (float *)w, (float *)y, bias, (const float *)other);
        else run(p, (spot_bf16 *)x, (spot_bf16 *)(p->narrow ? scratch : w), (spot_bf16 *)y, bias, (const spot_bf16 *)other);
        emu_open_memory(false);
        emu_pass_time((p->engine == asked("fast") || p->engine < IN_DOUBLE ? 3 : 9) - p->fused);
    });
    return p->narrow ? spot_conv_widen(c, (float *)w, scratch, narrow(p)) : SPOT_OK;
}

spot_status spot_cudnn_open(spot_ctx *, spot_cudnn **lib)
{
    *lib = getenv("SPOT_EMULATOR_CUDNN") ? (spot_cudnn *)calloc(1, sizeof **lib) : nullptr;
    return SPOT_OK;
}

/* Weights from bf16 are to be had narrow only, as in cuDNN 9.19; one engine does bias, other summand and ReLU, too. */
spot_status spot_cudnn_propose(spot_ctx *, spot_cudnn *, const spot_conv_task *t, bool fallback,
                               spot_cudnn_choice choice[SPOT_MOST_CHOICES], int *count)
{
    bool weights_of_bf16 = t->pass == SPOT_PASS_WEIGHTS && t->s.precision == SPOT_BF16;

    *count = 0;
    if (fallback != weights_of_bf16 || asked("silent") > 0) return SPOT_OK;
    if (t->s.bias) snprintf(choice[(*count)++].words, sizeof choice->words, "fused %d", IN_DOUBLE);
    for (int e = FORGETS; e < ENGINES; e++)
        snprintf(choice[(*count)++].words, sizeof choice->words, "%s %d 2=%d 13=-1", fallback ? "narrow" : "plain", e, 7 * e);
    return SPOT_OK;
}

spot_status spot_cudnn_plan_open(spot_ctx *, spot_cudnn *, spot_cudnn_plan **plan, const spot_conv_task *t,
                                 const spot_cudnn_choice *choice, char *why, size_t size)
{
    int engine = atoi(choice->words + strcspn(choice->words, " ")), last = asked("last") > 0 ? asked("last") : ENGINES - 1;

    *plan = nullptr;
    snprintf(why, size, "there is no engine %d", engine);
    if (engine < FORGETS || engine > last || engine == asked("gone")) return SPOT_OK;
    if (!choice->unknown && asked("new") > 0 && engine >= asked("new")) return SPOT_OK;
    *plan = (spot_cudnn_plan *)malloc(sizeof **plan);
    **plan = { *t, engine, choice->words[0] == 'n', choice->words[0] == 'f' };
    return SPOT_OK;
}

void   spot_cudnn_plan_close(spot_cudnn_plan *p) { free(p); }
size_t spot_cudnn_plan_scratch(const spot_cudnn_plan *p) { return p ? 2 * narrow(p) : 0; }
size_t spot_cudnn_version(const spot_cudnn *) { return 91900; }
bool   spot_cudnn_plan_tensor_cores(const spot_cudnn_plan *) { return false; }
void   spot_cudnn_close(spot_cudnn *lib) { free(lib); }
