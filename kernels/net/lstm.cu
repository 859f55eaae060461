/* lstm.cu - a block to 32 draws, and to the gradient of a policy: a lane is a draw, or a column of a matrix; the warps share
 * the rows. Weights come from the nearest cache, four at a time. A policy's numbers (240 KiB for the paper's) do not fit into
 * shared memory; rendering and looking take so much longer that simple kernels are enough (bench/predictions.md). */
#include "core/lanes.cuh"
#include "core/sums.cuh"
#include "net/lstm_step.h"

enum { THREADS = 256, WARPS = THREADS / SPOT_WARP, LANES = SPOT_LSTM_LANES, OWN = 4 };

static __device__ inline int lane_of() { return (int)(threadIdx.x % SPOT_WARP); }
static __device__ inline int warp_of() { return (int)(threadIdx.x / SPOT_WARP); }

static __device__ inline void fill(float *to, int count, float value)
{
    for (int i = (int)threadIdx.x; i < count; i += THREADS) to[i] = value;
}

/* out[r][lane] goes on as a chain over t < terms of w[r][t] in[t][lane]; terms is a multiple of 4. */
static __device__ void add_rows(float *out, int step, int rows, const float *w, int terms, const float *in, int in_step)
{
    const int lane = lane_of();

    for (int r0 = OWN * warp_of(); r0 < rows; r0 += OWN * WARPS) {
        const float *row[OWN];
        float sum[OWN], weight[4];
        for (int j = 0; j < OWN; j++) {
            const int r = r0 + j < rows ? r0 + j : rows - 1;
            row[j] = w + (size_t)r * terms;
            sum[j] = out[(size_t)r * step + lane];
        }
        for (int t = 0; t < terms; t += 4) {
            float x[4];
            for (int i = 0; i < 4; i++) x[i] = in[(size_t)(t + i) * in_step + lane];
            for (int j = 0; j < OWN; j++) {
                spot_load(weight, row[j] + t);
                for (int i = 0; i < 4; i++) sum[j] = fmaf(weight[i], x[i], sum[j]);
            }
        }
        for (int j = 0; j < OWN; j++)
            if (r0 + j < rows) out[(size_t)(r0 + j) * step + lane] = sum[j];
    }
}

/* out[r][lane] goes on as a chain over t < terms of w[t][r] d[t][lane], for the `pitch` columns r of w. */
static __device__ void add_columns(float *out, int pitch, const float *w, int terms, const float *d)
{
    const int lane = lane_of();

    for (int r0 = OWN * warp_of(); r0 < pitch; r0 += OWN * WARPS) {
        float sum[OWN], weight[4];
        for (int j = 0; j < OWN; j++) sum[j] = out[(r0 + j) * LANES + lane];
        for (int t = 0; t < terms; t++) {
            const float x = d[t * LANES + lane];
            spot_load(weight, w + (size_t)t * pitch + r0);
            for (int j = 0; j < OWN; j++) sum[j] = fmaf(weight[j], x, sum[j]);
        }
        for (int j = 0; j < OWN; j++) out[(r0 + j) * LANES + lane] = sum[j];
    }
}

/* The slope of w (rows, pitch): d (rows, lanes) times in (lanes, pitch). */
static __device__ void add_outer(float *slope, int rows, int pitch, const float *d, const float *in)
{
    for (int k = 0; k < pitch; k += LANES) add_rows(slope + k, pitch, rows, d, LANES, in + k, pitch);
}

/* The rows of the chosen embeddings with a 1 for the bias, as (k, lane) or (lane, k). */
static __device__ void gather(float *in, bool by_lane, const float *table, const int *choice, int hidden, int pitch)
{
    for (int i = (int)threadIdx.x; i < pitch * LANES; i += THREADS) {
        const int k = by_lane ? i % pitch : i / LANES, l = by_lane ? i / pitch : i % LANES;
        in[i] = k < hidden ? table[(size_t)choice[l] * pitch + k] : (float)(k == hidden);
    }
}

static __device__ void transpose(float *in, const float *state, int pitch)
{
    for (int i = (int)threadIdx.x; i < pitch * LANES; i += THREADS) in[i] = state[i % pitch * LANES + i / pitch];
}

/* A warp; the others wait. The greatest logit of each lane. */
static __device__ void find_most(float *most, const float *p, int values)
{
    const int l = lane_of();
    float m = p[l];

    for (int v = 1; v < values; v++) m = p[v * LANES + l] > m ? p[v * LANES + l] : m;
    most[l] = m;
}

/* A warp. The sum of each lane's exponentials, the choice, and what it adds to log_p. */
static __device__ void choose(float *sum, const float *p, int values, float uniform, int *choice, float *log_p)
{
    const int l = lane_of();
    float all = 0, before = 0;
    int at = 0;

    for (int v = 0; v < values; v++) all += p[v * LANES + l];
    for (int v = 0; v < values; v++) {
        before += p[v * LANES + l];
        at += before <= uniform * all;
    }
    if (at >= values) at = values - 1;
    sum[l] = all;
    choice[l] = at;
    *log_p += spot_lstm_log(p[at * LANES + l] / all);
}

/* grid (policies * lanes / 32) */
static __global__ void __launch_bounds__(THREADS) draw_kernel(spot_lstm_batch b)
{
    SPOT_SHARED(float, most, LANES);
    SPOT_SHARED(float, sum, LANES);
    const spot_lstm_shape *s = &b.shape;
    const spot_lstm_layout at = spot_lstm_layout_of(s);
    const size_t chunks = (size_t)at.lanes / LANES, policy = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
    const size_t table = (size_t)s->values * at.pitch;
    const float *theta = b.theta + policy * at.count;
    float *part = spot_lstm_part(&b, &at, policy, chunk), log_p = 0;
    const spot_lstm_room room = spot_lstm_room_of(s, at.pitch, part);

    for (int f = 0; f < s->factors; f++) {
        const spot_lstm_factor now = spot_lstm_factor_of(s, at.pitch, part, f);
        const spot_lstm_factor last = spot_lstm_factor_of(s, at.pitch, part, f ? f - 1 : 0);
        const size_t row = (policy * s->factors + f) * at.lanes + chunk * LANES;
        fill(now.gate, (int)spot_lstm_rows(s, at.pitch) * LANES, 0);
        if (f) gather(room.in, false, theta + at.embedding + (f - 1) * table, b.choice + row - at.lanes, s->hidden, at.pitch);
        __syncthreads();
        fill(now.state + s->hidden * LANES, LANES, 1);
        if (f) {
            add_rows(now.gate, LANES, 4 * s->hidden, theta + at.input, at.pitch, room.in, LANES);
            add_rows(now.gate, LANES, 4 * s->hidden, theta + at.recurrent, at.pitch, last.state, LANES);
            __syncthreads();
            for (int i = (int)threadIdx.x; i < s->hidden * LANES; i += THREADS)
                spot_lstm_cell(&now, s->hidden, i, last.cell[i]);
        }
        __syncthreads();
        add_rows(now.p, LANES, s->values, theta + at.head + f * table, at.pitch, now.state, LANES);
        __syncthreads();
        if (!warp_of()) find_most(most, now.p, s->values);
        __syncthreads();
        for (int i = (int)threadIdx.x; i < s->values * LANES; i += THREADS) now.p[i] = spot_expf(now.p[i] - most[i % LANES]);
        __syncthreads();
        if (!warp_of()) choose(sum, now.p, s->values, b.uniform[row + lane_of()], b.choice + row, &log_p);
        __syncthreads();
        for (int i = (int)threadIdx.x; i < s->values * LANES; i += THREADS) now.p[i] /= sum[i % LANES];
    }
    if (!warp_of()) b.log_p[policy * at.lanes + chunk * LANES + lane_of()] = log_p;
}

/* Probabilities -> slopes of the logits, in place. A thread's numbers are all of one lane. */
static __device__ void slope_logits(float *p, int values, const int *choice, float reward, float share, float entropy,
                                    float *amount)
{
    const int l = lane_of();

    if (entropy != 0) {
        float sum = 0;
        if (!warp_of())
            for (int v = 0; v < values; v++) sum = fmaf(-p[v * LANES + l], spot_lstm_log(p[v * LANES + l]), sum);
        if (!warp_of()) amount[l] = sum;
        __syncthreads();
    }
    for (int v = warp_of(); v < values; v += WARPS)
        p[v * LANES + l] = spot_lstm_logit(p[v * LANES + l], (float)(choice[l] == v), reward, share, entropy,
                                           entropy != 0 ? amount[l] : 0);
}

/* The slopes of the chosen embeddings, in the order of the lanes: a row belongs to one warp. */
static __device__ void add_chosen(float *slope, const float *dx, const int *choice, int hidden, int pitch)
{
    for (int l = 0; l < LANES; l++)
        for (int k = lane_of(); k < hidden && choice[l] % WARPS == warp_of(); k += SPOT_WARP)
            slope[(size_t)choice[l] * pitch + k] += dx[k * LANES + l];
}

/* From the slopes of the state: those of the LSTM's weights, of the chosen embeddings and of the former state. */
static __device__ void learn_step(const spot_lstm_shape *s, const spot_lstm_layout *at, const float *theta, float *slope,
                                  float *part, int f, const int *choice)
{
    const int hidden = s->hidden, pitch = at->pitch, gates = 4 * hidden;
    const size_t table = at->embedding + (size_t)(f - 1) * s->values * pitch;
    const spot_lstm_factor now = spot_lstm_factor_of(s, pitch, part, f), last = spot_lstm_factor_of(s, pitch, part, f - 1);
    const spot_lstm_room room = spot_lstm_room_of(s, pitch, part);

    for (int i = (int)threadIdx.x; i < hidden * LANES; i += THREADS)
        spot_lstm_cell_back(&now, hidden, i, last.cell[i], room.dh[i], &room.dc[i]);
    gather(room.in, true, theta + table, choice, hidden, pitch);
    __syncthreads();
    add_outer(slope + at->input, gates, pitch, now.gate, room.in);
    fill(room.dh, 2 * pitch * LANES, 0);        /* and dx */
    __syncthreads();
    transpose(room.in, last.state, pitch);
    add_columns(room.dx, pitch, theta + at->input, gates, now.gate);
    add_columns(room.dh, pitch, theta + at->recurrent, gates, now.gate);
    __syncthreads();
    add_outer(slope + at->recurrent, gates, pitch, now.gate, room.in);
    add_chosen(slope + table, room.dx, choice, hidden, pitch);
    __syncthreads();
}

/* 32 rows of a policy's batch. reward, share: of the thread's lane. */
static __device__ void learn_part(const spot_lstm_batch *b, const spot_lstm_layout *at, size_t policy, size_t chunk)
{
    const spot_lstm_shape *s = &b->shape;
    const size_t table = (size_t)s->values * at->pitch, lane = chunk * LANES + lane_of();
    const float *theta = b->theta + policy * at->count;
    float *slope = b->slope + policy * at->count, *part = spot_lstm_part(b, at, policy, chunk);
    const spot_lstm_room room = spot_lstm_room_of(s, at->pitch, part);
    const int *choice = b->choice + policy * s->factors * at->lanes + chunk * LANES;
    const bool live = (int)lane < b->live;
    const float reward = live ? b->reward[policy * at->lanes + lane] : 0, share = live ? 1.0f / (float)b->live : 0;

    fill(room.dh, (2 * at->pitch + s->hidden) * LANES, 0);
    for (int f = s->factors - 1; f >= 0; f--) {
        const spot_lstm_factor now = spot_lstm_factor_of(s, at->pitch, part, f);
        const float *head = theta + at->head + (size_t)f * table;
        slope_logits(now.p, s->values, choice + (size_t)f * at->lanes, reward, share, (float)b->entropy, room.amount);
        transpose(room.in, now.state, at->pitch);
        __syncthreads();
        add_outer(slope + (head - theta), s->values, at->pitch, now.p, room.in);
        if (f) add_columns(room.dh, at->pitch, head, s->values, now.p);
        __syncthreads();
        if (f) learn_step(s, at, theta, slope, part, f, choice + (size_t)(f - 1) * at->lanes);
    }
}

/* grid (policies) */
static __global__ void __launch_bounds__(THREADS) learn_kernel(spot_lstm_batch b)
{
    const spot_lstm_layout at = spot_lstm_layout_of(&b.shape);
    float *slope = b.slope + blockIdx.x * at.count;

    for (size_t i = threadIdx.x; i < at.count; i += THREADS) slope[i] = 0;
    __syncthreads();
    for (int chunk = 0; chunk < at.lanes / LANES; chunk++) learn_part(&b, &at, blockIdx.x, (size_t)chunk);
}

static spot_status draw_cuda(spot_ctx *c, const spot_lstm_batch *b)
{
    const unsigned chunks = (unsigned)((b->shape.batch + LANES - 1) / LANES);

    SPOT_TRY(spot_cuda_needs_all(c, "lstm.draw", { { b->theta, "theta" }, { b->uniform, "uniform" }, { b->choice, "choice" },
                                                   { b->log_p, "log_p" }, { b->trail, "trail" } }));
    SPOT_LAUNCH(draw_kernel, (unsigned)b->policies * chunks, THREADS, 0, spot_cuda_stream(c), *b);
    return spot_cuda_launched(c, "lstm.draw of %d policies of %d factors, %d rows", b->policies, b->shape.factors, b->live);
}

static spot_status learn_cuda(spot_ctx *c, const spot_lstm_batch *b)
{
    SPOT_TRY(spot_cuda_needs_all(c, "lstm.learn", { { b->theta, "theta" }, { b->choice, "choice" }, { b->trail, "trail" },
                                                    { b->reward, "reward" }, { b->slope, "slope" } }));
    SPOT_LAUNCH(learn_kernel, (unsigned)b->policies, THREADS, 0, spot_cuda_stream(c), *b);
    return spot_cuda_launched(c, "lstm.learn of %d policies of %d factors, %d rows", b->policies, b->shape.factors, b->live);
}

extern const spot_lstm_ops spot_lstm_cuda = { .draw = draw_cuda, .learn = learn_cuda };
