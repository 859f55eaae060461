/* conv_plans.cu - chooses the plan of cuDNN for a pass.
 *
 * All proposals of the heuristics are tried. A plan is right if it is deterministic and precise enough (conv_cudnn.cuh),
 * agrees with the naive kernel, and gives the same bits twice. Right plans are timed, and the fastest is taken. Close timings
 * would change the choice, and so the bits, from run to run. So it is kept in a file (conv_stored.cu); later runs take it from
 * there and check that it gives the bits of its trial again. SPOT_PLANS=heuristic in the environment times nothing, reads and
 * writes no file and takes the first right plan. The same happens where no file can be kept. */
#include "net/conv.cuh"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 256, TIMINGS = 7, BURST = 4 };   /* a burst of runs hides what the host needs to start one */

/* Numbers in [-1, 1), hashes of their positions. They use all bits, so that sums in another order give other bits. Grid
 * (ceil(count / 256)). */
template <typename T> static __global__ void __launch_bounds__(THREADS) fill_kernel(T *v, size_t count, unsigned seed)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    unsigned h = ((unsigned)i + seed) * 2654435761u;

    h = (h ^ h >> 15) * 2246822519u;
    h ^= h >> 13;
    if (i < count) spot_round(&v[i], (float)((int)(h >> 8) - (1 << 23)) / (float)(1 << 23));
}

/* seen[0]: a digest of all bits. seen[1]: the largest difference, seen[2]: the largest number wanted; as bits, in whose
 * order NaN is the largest. want NULL: the digest alone. Grid (ceil(count / 65536)). */
template <typename T>
static __global__ void __launch_bounds__(THREADS) compare_kernel(unsigned *seen, const T *got, const T *want, size_t count)
{
    size_t i = (size_t)blockIdx.x * RUN * THREADS + threadIdx.x;
    unsigned digest = 0, off = 0, largest = 0;

    for (int run = 0; run < RUN && i < count; run++, i += THREADS) {
        float a = spot_widen(got[i]), b = want ? spot_widen(want[i]) : 0;
        unsigned h = ((unsigned)__float_as_int(a) + (unsigned)i * 2246822519u) * 2654435761u;
        digest += (h ^ h >> 15) * 3266489917u;
        off = max(off, (unsigned)__float_as_int(fabsf(a - b)) & 0x7fffffffu);
        largest = max(largest, (unsigned)__float_as_int(fabsf(b)) & 0x7fffffffu);
    }
    atomicAdd(&seen[0], digest);
    atomicMax(&seen[1], off);
    atomicMax(&seen[2], largest);
}

/* The roles of the three arrays of a pass; `written` is the role that the pass writes. */
enum { ROLE_X, ROLE_W, ROLE_Y };

typedef struct {
    spot_conv_task task;
    const spot_conv *p;
    spot_cudnn *lib;
    void *at[3], *want, *bias, *other;
    unsigned *seen;
    size_t count[3], bytes[3];
    int written;
    bool known;                /* want is computed */
} trial;

static void fill_array(cudaStream_t stream, void *v, size_t count, size_t bytes, unsigned seed)
{
    if (bytes == 2) SPOT_LAUNCH(fill_kernel<spot_bf16>, blocks_for(count), THREADS, 0, stream, (spot_bf16 *)v, count, seed);
    else            SPOT_LAUNCH(fill_kernel<float>, blocks_for(count), THREADS, 0, stream, (float *)v, count, seed);
}

static spot_status take_memory(spot_ctx *c, const trial *t, void **out, size_t bytes)
{
    return spot_cuda_check(c, cudaMalloc(out, max(bytes, (size_t)1)), "taking %.1f MB to try plans of %s", bytes / 1e6,
                           t->task.words);
}

static spot_status open_trial(spot_ctx *c, trial *t)
{
    static const int written[SPOT_PASSES] = { ROLE_Y, ROLE_X, ROLE_W };
    const layer *l = &t->p->l;
    const size_t count[3] = { x_numbers(l), w_numbers(l), y_numbers(l) };

    t->written = written[t->task.pass];
    for (int r = 0; r < 3; r++) {
        t->count[r] = count[r];
        t->bytes[r] = r == ROLE_W && t->written == ROLE_W ? 4 : spot_precision_bytes(t->p->s.precision);
        SPOT_TRY(take_memory(c, t, &t->at[r], count[r] * t->bytes[r]));
        fill_array(spot_cuda_stream(c), t->at[r], count[r], t->bytes[r], 77 * r);
    }
    SPOT_TRY(take_memory(c, t, &t->bias, l->co * sizeof(float)));
    fill_array(spot_cuda_stream(c), t->bias, l->co, sizeof(float), 231);
    if (t->p->s.add) {
        SPOT_TRY(take_memory(c, t, &t->other, count[ROLE_Y] * t->bytes[ROLE_Y]));
        fill_array(spot_cuda_stream(c), t->other, count[ROLE_Y], t->bytes[ROLE_Y], 308);
    }
    SPOT_TRY(take_memory(c, t, &t->want, t->count[t->written] * t->bytes[t->written]));
    return take_memory(c, t, (void **)&t->seen, 3 * sizeof *t->seen);
}

static void close_trial(spot_ctx *c, trial *t)
{
    for (int r = 0; r < 3; r++) spot_cuda_memory(c)->give(c, t->at[r]);
    spot_cuda_memory(c)->give(c, t->bias);
    spot_cuda_memory(c)->give(c, t->other);
    spot_cuda_memory(c)->give(c, t->want);
    spot_cuda_memory(c)->give(c, t->seen);
}

static spot_conv_summands summands(const trial *t)
{
    return { t->p->s.bias ? (const float *)t->bias : NULL, t->other };
}

spot_status spot_conv_by_plan(spot_ctx *c, int pass, const spot_conv *p, const spot_cudnn_plan *plan, void *x, void *w,
                              void *y, spot_conv_summands plus, void *scratch)
{
    bool finished;

    SPOT_TRY(spot_cudnn_run(c, plan, x, w, y, plus.bias, plus.other, scratch, &finished));
    if (!plus.bias || finished) return SPOT_OK;
    return spot_conv_finish(c, pass, p, y, plus);
}

static spot_status run_plan(spot_ctx *c, const trial *t, const spot_cudnn_plan *plan, void *scratch)
{
    return spot_conv_by_plan(c, t->task.pass, t->p, plan, t->at[0], t->at[1], t->at[2], summands(t), scratch);
}

static spot_status make_wanted(spot_ctx *c, trial *t)
{
    void *role[3] = { t->at[0], t->at[1], t->at[2] };

    if (t->known) return SPOT_OK;
    t->known = true;
    role[t->written] = t->want;
    fill_array(spot_cuda_stream(c), t->want, t->count[t->written], t->bytes[t->written], 77 * t->written);
    return spot_conv_naive(c, t->task.pass, t->p, role[0], role[1], role[2], summands(t), t->p->l.rows);
}

/* Runs the plan once on the filled arrays. Gives the digest of its bits and, compared with the naive kernel, whether it is
 * right. A wrong plan is far off: a border, a channel, a row. The bounds allow another order of an fp32 sum (of up to three
 * million terms for weights) and two roundings to the written type. */
static spot_status check_plan(spot_ctx *c, trial *t, const spot_cudnn_plan *plan, void *scratch, bool compare,
                              unsigned *digest, bool *right)
{
    float bound = t->p->s.precision == SPOT_BF16 ? 1e-2f : t->p->s.precision == SPOT_TF32 ? 5e-3f : 1e-4f;
    size_t count = t->count[t->written], bytes = t->bytes[t->written];
    union { unsigned bits; float number; } seen[3];
    unsigned grid = blocks_for((count + RUN - 1) / RUN);
    void *got = t->at[t->written], *want = compare ? t->want : NULL;
    cudaStream_t stream = spot_cuda_stream(c);

    if (compare) SPOT_TRY(make_wanted(c, t));
    fill_array(stream, got, count, bytes, 77 * t->written);
    *right = run_plan(c, t, plan, scratch) == SPOT_OK;
    if (!*right) {                                     /* the plan does not run; a broken device fails again below */
        spot_forget(c);
        cudaGetLastError();
    }
    SPOT_TRY(spot_cuda_memory(c)->clear(c, t->seen, sizeof seen));
    if (bytes == 2)
        SPOT_LAUNCH(compare_kernel<spot_bf16>, grid, THREADS, 0, stream, t->seen, (spot_bf16 *)got, (spot_bf16 *)want, count);
    else
        SPOT_LAUNCH(compare_kernel<float>, grid, THREADS, 0, stream, t->seen, (float *)got, (float *)want, count);
    SPOT_TRY(spot_conv_launched(c, t->task.pass, &t->p->l, t->p->s.precision));
    SPOT_TRY(spot_cuda_memory(c)->copy(c, seen, t->seen, sizeof seen));
    *digest = seen[0].bits;
    if (*right && compare) *right = seen[1].number <= bound * seen[2].number;
    return SPOT_OK;
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Milliseconds of a run: the median of TIMINGS bursts; one burst for a plan that takes more than twice `best`. */
static spot_status take_times(spot_ctx *c, const trial *t, const spot_cudnn_plan *plan, void *scratch, cudaEvent_t from,
                              cudaEvent_t to, float best, float *ms)
{
    float burst[TIMINGS] = { 0 };
    int made = 0;

    while (made < TIMINGS && (!made || burst[0] < 2.0f * (int)BURST * best)) {
        SPOT_TRY(spot_cuda_check(c, cudaEventRecord(from, spot_cuda_stream(c)), "timing %s", t->task.words));
        for (int i = 0; i < BURST; i++) SPOT_TRY(run_plan(c, t, plan, scratch));
        SPOT_TRY(spot_cuda_check(c, cudaEventRecord(to, spot_cuda_stream(c)), "timing %s", t->task.words));
        SPOT_TRY(spot_cuda_check(c, cudaEventSynchronize(to), "timing %s", t->task.words));
        SPOT_TRY(spot_cuda_check(c, cudaEventElapsedTime(&burst[made++], from, to), "timing %s", t->task.words));
    }
    qsort(burst, made, sizeof *burst, by_size);
    *ms = burst[made / 2] / (int)BURST;
    return SPOT_OK;
}

static spot_status time_plan(spot_ctx *c, const trial *t, const spot_cudnn_plan *plan, void *scratch, float best, float *ms)
{
    cudaEvent_t from = NULL, to = NULL;
    spot_status s = spot_cuda_check(c, cudaEventCreate(&from), "timing %s", t->task.words);

    if (!s) s = spot_cuda_check(c, cudaEventCreate(&to), "timing %s", t->task.words);
    if (!s) s = take_times(c, t, plan, scratch, from, to, best, ms);
    if (from) cudaEventDestroy(from);
    if (to) cudaEventDestroy(to);
    return s;
}

/* The plan of a choice, if cuDNN makes it and it is right; else *plan is NULL, and the log has the reason. stored: the digest
 * must be equal to it, and no other check is made. ms: receives the time of a run; may be NULL. */
static spot_status try_choice(spot_ctx *c, trial *t, const spot_cudnn_choice *choice, const unsigned *stored, float best,
                              spot_cudnn_plan **plan, unsigned *digest, float *ms)
{
    char why[256] = "";
    void *scratch = NULL;
    unsigned again = 0;
    bool right = false, twice = false;
    spot_status s;

    SPOT_TRY(spot_cudnn_plan_open(c, t->lib, plan, &t->task, choice, why, sizeof why));
    if (!*plan) spot_log(c, stored ? SPOT_LOG_WARN : SPOT_LOG_DEBUG, "%s: no %s: %s", t->task.words, choice->words, why);
    if (!*plan) return SPOT_OK;
    s = take_memory(c, t, &scratch, spot_cudnn_plan_scratch(*plan));
    if (!s) s = check_plan(c, t, *plan, scratch, !stored, digest, &right);
    if (!s && right && !stored) s = check_plan(c, t, *plan, scratch, true, &again, &twice);
    if (!s && right && ms) s = time_plan(c, t, *plan, scratch, best, ms);
    spot_cuda_memory(c)->give(c, scratch);
    if (!right) snprintf(why, sizeof why, "gives a wrong answer, or none");
    else if (stored && *digest != *stored) snprintf(why, sizeof why, "leaves other bits than when it was found right");
    else if (!stored && (!twice || again != *digest)) snprintf(why, sizeof why, "leaves other bits each time");
    else if (!s) return SPOT_OK;
    if (!s) spot_log(c, SPOT_LOG_WARN, "%s: cuDNN's %s %s; it is not taken", t->task.words, choice->words, why);
    spot_cudnn_plan_close(*plan);
    *plan = NULL;
    return s;
}

/* The fastest right plan, or with timed false the first. *plan stays NULL where there is none. */
static spot_status search_plan(spot_ctx *c, trial *t, bool timed, spot_cudnn_plan **plan, spot_stored *found, char *remark,
                               size_t size)
{
    spot_cudnn_choice *choice = (spot_cudnn_choice *)calloc(SPOT_MOST_CHOICES, sizeof *choice);
    float best = INFINITY, ms = 0;
    int count = 0, proposed = 0, right = 0;
    spot_status s = choice ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for cuDNN's proposals");

    for (int fallback = 0; fallback < 2 && !*plan && !s; fallback++, proposed += count) {
        s = spot_cudnn_propose(c, t->lib, &t->task, fallback, choice, &count);
        for (int i = 0; i < count && !s && (timed || !*plan); i++) {
            spot_cudnn_plan *now = NULL;
            unsigned digest = 0;
            s = try_choice(c, t, &choice[i], NULL, best, &now, &digest, timed ? &ms : NULL);
            right += now != NULL;
            if (now && (!*plan || ms < best)) {
                spot_cudnn_plan *slower = *plan;
                *plan = now, now = slower, best = ms;
                *found = { choice[i], digest };
            }
            spot_cudnn_plan_close(now);
        }
    }
    free(choice);
    snprintf(remark, size, "%d proposed, %d right, %.4f ms", proposed, right, timed ? best : 0);
    return s;
}

/* The plan of the stored choice, if it can be made again. */
static spot_status take_stored(spot_ctx *c, trial *t, const spot_stored *stored, spot_cudnn_plan **plan)
{
    unsigned digest;

    SPOT_TRY(try_choice(c, t, &stored->choice, &stored->digest, INFINITY, plan, &digest, NULL));
    if (!*plan) spot_log(c, SPOT_LOG_WARN, "%s: the plan that was kept is of no use any more", t->task.words);
    return SPOT_OK;
}

/* Takes the kept plan, or searches and keeps one. A plan that another process has kept in the meantime precedes our own. */
static spot_status choose_kept(spot_ctx *c, trial *t, spot_cudnn_plan **plan, spot_stored *taken)
{
    size_t version = spot_cudnn_version(t->lib);
    bool kept = spot_stored_read(c, &t->task, version, taken), able;
    spot_stored found;
    spot_cudnn_plan *other = NULL;
    char remark[128];

    if (kept) SPOT_TRY(take_stored(c, t, taken, plan));
    if (*plan) return SPOT_OK;
    able = spot_stored_can(c, version);
    SPOT_TRY(search_plan(c, t, able, plan, taken, remark, sizeof remark));
    if (!*plan || !able) return SPOT_OK;
    spot_log(c, SPOT_LOG_DEBUG, "%s: %s by cuDNN's %s", t->task.words, remark, taken->choice.words);
    if (!spot_stored_write(c, &t->task, version, taken, remark, kept) || !spot_stored_read(c, &t->task, version, &found)) {
        spot_cudnn_plan_close(*plan);
        *plan = NULL;
        return search_plan(c, t, false, plan, taken, remark, sizeof remark);
    }
    if (!strcmp(found.choice.words, taken->choice.words)) return SPOT_OK;
    SPOT_TRY(take_stored(c, t, &found, &other));
    if (!other) return SPOT_OK;
    spot_cudnn_plan_close(*plan);
    *plan = other;
    *taken = found;
    return SPOT_OK;
}

/* Continues an FNV-1a hash. */
static uint64_t hashed(uint64_t h, const char *text)
{
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/* Contexts that search at the same time would disturb each other's timings, and repeat the work. */
static pthread_mutex_t one_search = PTHREAD_MUTEX_INITIALIZER;

spot_status spot_conv_choose(spot_ctx *c, spot_conv *p, int pass)
{
    spot_cuda *cuda = spot_cuda_of(c);
    const char *how = getenv("SPOT_PLANS"), *device = ((const spot_device *)c->device)->name;
    bool timed = !how || strcmp(how, "heuristic");
    trial t = { .p = p };
    spot_stored taken;
    char remark[128];
    spot_status s;

    if (how && timed && strcmp(how, "timed"))
        return spot_fail(c, SPOT_USAGE, "SPOT_PLANS is \"%s\"; say timed (the default) or heuristic", how);
    if (!cuda->cudnn) SPOT_TRY(spot_cudnn_open(c, &cuda->cudnn));
    if (!cuda->cudnn) return SPOT_OK;
    t.lib = cuda->cudnn;
    t.task = spot_conv_task_of(&p->s, pass);
    pthread_mutex_lock(&one_search);
    s = open_trial(c, &t);
    if (!s) s = timed ? choose_kept(c, &t, &p->plan[pass], &taken)
                      : search_plan(c, &t, false, &p->plan[pass], &taken, remark, sizeof remark);
    close_trial(c, &t);
    pthread_mutex_unlock(&one_search);
    if (!s && !p->plan[pass])
        s = spot_fail(c, SPOT_UNSUPPORTED, "cuDNN %zu has no deterministic engine for %s on %s; run with --device cpu",
                      spot_cudnn_version(t.lib), t.task.words, device);
    if (s) return s;
    snprintf(remark, sizeof remark, " by cuDNN %zu on ", spot_cudnn_version(t.lib));
    p->made_with += hashed(hashed(hashed(hashed(0xcbf29ce484222325u, t.task.words), remark), device), taken.choice.words);
    return SPOT_OK;
}
