/* lstm.c - the policy on the CPU: 32 draws side by side in vectors, policies side by side in threads. */
#include "net/lstm.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"
#include "net/lstm_step.h"

enum { LANES = SPOT_LSTM_LANES, TILE = 4 };

/* Factors, values, cells and rows of a batch: more have no use, and all sizes fit an int. */
enum { MOST_FACTORS = 1024, MOST_VALUES = 1 << 16, MOST_HIDDEN = 1024, MOST_BATCH = 1 << 16 };

/* out[r][lane] goes on as a chain over t < terms of w[r * by_row + t * by_term] in[t][lane]. */
typedef struct { const float *w; size_t by_row, by_term; int terms; const float *in; size_t in_step; } factors;

/* Four rows at a time: their chains rest in registers, and hide each other's latency. */
static void add_tile(float *restrict out, size_t step, const factors *f)
{
    const float *restrict w = f->w, *restrict in = f->in;
    float a[LANES], b[LANES], c[LANES], d[LANES];

    memcpy(a, out, sizeof a), memcpy(b, out + step, sizeof b);
    memcpy(c, out + 2 * step, sizeof c), memcpy(d, out + 3 * step, sizeof d);
    for (int t = 0; t < f->terms; t++, w += f->by_term, in += f->in_step) {
        const float wa = w[0], wb = w[f->by_row], wc = w[2 * f->by_row], wd = w[3 * f->by_row];
#pragma omp simd
        for (int l = 0; l < LANES; l++) a[l] = fmaf(wa, in[l], a[l]);
#pragma omp simd
        for (int l = 0; l < LANES; l++) b[l] = fmaf(wb, in[l], b[l]);
#pragma omp simd
        for (int l = 0; l < LANES; l++) c[l] = fmaf(wc, in[l], c[l]);
#pragma omp simd
        for (int l = 0; l < LANES; l++) d[l] = fmaf(wd, in[l], d[l]);
    }
    memcpy(out, a, sizeof a), memcpy(out + step, b, sizeof b);
    memcpy(out + 2 * step, c, sizeof c), memcpy(out + 3 * step, d, sizeof d);
}

static void add_row(float *restrict out, const factors *f)
{
    float a[LANES];

    memcpy(a, out, sizeof a);
    for (int t = 0; t < f->terms; t++) {
        const float w = f->w[(size_t)t * f->by_term], *restrict in = f->in + (size_t)t * f->in_step;
#pragma omp simd
        for (int l = 0; l < LANES; l++) a[l] = fmaf(w, in[l], a[l]);
    }
    memcpy(out, a, sizeof a);
}

static void add_products(float *out, size_t step, int rows, factors f)
{
    int r = 0;

    for (; r + TILE <= rows; r += TILE, f.w += TILE * f.by_row) add_tile(out + (size_t)r * step, step, &f);
    for (; r < rows; r++, f.w += f.by_row) add_row(out + (size_t)r * step, &f);
}

/* Rows of w times in (pitch, lanes). */
static void add_forward(float *out, const float *w, int rows, int pitch, const float *in)
{
    add_products(out, LANES, rows, (factors){ w, (size_t)pitch, 1, pitch, in, LANES });
}

/* Columns of w times d (rows, lanes). */
static void add_back(float *out, const float *w, int rows, int pitch, const float *d)
{
    add_products(out, LANES, pitch, (factors){ w, 1, (size_t)pitch, rows, d, LANES });
}

/* The slope of w (rows, pitch): d (rows, lanes) times in (lanes, pitch). */
static void add_outer(float *slope, int rows, int pitch, const float *d, const float *in)
{
    for (int k = 0; k < pitch; k += LANES)
        add_products(slope + k, (size_t)pitch, rows, (factors){ d, LANES, 1, LANES, in + k, (size_t)pitch });
}

/* The rows of the chosen embeddings with a 1 for the bias: number (lane, k) at lane * by_lane + k * by_k. */
static void gather(float *in, size_t by_lane, size_t by_k, const float *table, const int *choice, int hidden, int pitch)
{
    for (int l = 0; l < LANES; l++, in += by_lane) {
        const float *row = table + (size_t)choice[l] * (size_t)pitch;
        for (int k = 0; k < pitch; k++) in[(size_t)k * by_k] = k < hidden ? row[k] : (float)(k == hidden);
    }
}

static void transpose(float *in, const float *state, int pitch)
{
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < pitch; k++) in[l * pitch + k] = state[k * LANES + l];
}

/* Logits -> probabilities, in place; the choice of each lane, and what it adds to log_p. */
static void choose(float *restrict p, int values, const float *restrict uniform, int *restrict choice, float *restrict log_p)
{
    float most[LANES], sum[LANES] = { 0 }, before[LANES] = { 0 }, chosen[LANES] = { 0 };

    for (int l = 0; l < LANES; l++) most[l] = p[l], choice[l] = 0;
    for (int v = 1; v < values; v++)
        for (int l = 0; l < LANES; l++) most[l] = p[v * LANES + l] > most[l] ? p[v * LANES + l] : most[l];
    for (int v = 0; v < values; v++)
        for (int l = 0; l < LANES; l++) {
            const float e = spot_expf(p[v * LANES + l] - most[l]);
            p[v * LANES + l] = e;
            sum[l] += e;
        }
    for (int v = 0; v < values; v++)
        for (int l = 0; l < LANES; l++) {
            const float e = p[v * LANES + l];
            before[l] += e;
            choice[l] += before[l] <= uniform[l] * sum[l];
            p[v * LANES + l] = e / sum[l];
        }
    for (int l = 0; l < LANES; l++) {
        if (choice[l] >= values) choice[l] = values - 1;      /* a NaN among the logits */
        chosen[l] = p[choice[l] * LANES + l];
    }
    for (int l = 0; l < LANES; l++) log_p[l] += spot_lstm_log(chosen[l]);
}

static void draw_part(const spot_lstm_batch *b, const spot_lstm_layout *at, int policy, int chunk)
{
    const spot_lstm_shape *s = &b->shape;
    const float *theta = b->theta + (size_t)policy * at->count;
    const size_t table = (size_t)s->values * (size_t)at->pitch, lane = (size_t)chunk * LANES;
    float *part = spot_lstm_part(b, at, (size_t)policy, (size_t)chunk);
    const spot_lstm_room room = spot_lstm_room_of(s, at->pitch, part);
    float log_p[LANES] = { 0 };

    for (int f = 0; f < s->factors; f++) {
        const spot_lstm_factor now = spot_lstm_factor_of(s, at->pitch, part, f);
        const spot_lstm_factor last = spot_lstm_factor_of(s, at->pitch, part, f ? f - 1 : 0);
        const size_t row = ((size_t)policy * (size_t)s->factors + (size_t)f) * (size_t)at->lanes + lane;
        memset(now.gate, 0, spot_lstm_rows(s, at->pitch) * LANES * sizeof(float));
        for (int l = 0; l < LANES; l++) now.state[s->hidden * LANES + l] = 1;
        if (f) {
            gather(room.in, 1, LANES, theta + at->embedding + (size_t)(f - 1) * table, b->choice + row - at->lanes, s->hidden,
                   at->pitch);
            add_forward(now.gate, theta + at->input, 4 * s->hidden, at->pitch, room.in);
            add_forward(now.gate, theta + at->recurrent, 4 * s->hidden, at->pitch, last.state);
#pragma omp simd
            for (int i = 0; i < s->hidden * LANES; i++) spot_lstm_cell(&now, s->hidden, i, last.cell[i]);
        }
        add_forward(now.p, theta + at->head + (size_t)f * table, s->values, at->pitch, now.state);
        choose(now.p, s->values, b->uniform + row, b->choice + row, log_p);
    }
    memcpy(b->log_p + (size_t)policy * (size_t)at->lanes + lane, log_p, sizeof log_p);
}

static spot_status draw_cpu(spot_ctx *c, const spot_lstm_batch *b)
{
    const spot_lstm_layout at = spot_lstm_layout_of(&b->shape);
    const int chunks = at.lanes / LANES;

#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < b->policies * chunks; i++) draw_part(b, &at, i / chunks, i % chunks);
    return SPOT_OK;
}

/* Probabilities -> slopes of the logits, in place. reward, share: of each lane. */
static void slope_logits(const spot_lstm_batch *b, float *restrict p, const int *restrict choice, const float *restrict reward,
                         const float *restrict share)
{
    const float entropy = (float)b->entropy;
    float amount[LANES] = { 0 };

    for (int v = 0; v < b->shape.values && entropy != 0; v++)
        for (int l = 0; l < LANES; l++) amount[l] = fmaf(-p[v * LANES + l], spot_lstm_log(p[v * LANES + l]), amount[l]);
    for (int v = 0; v < b->shape.values; v++)
        for (int l = 0; l < LANES; l++)
            p[v * LANES + l] = spot_lstm_logit(p[v * LANES + l], (float)(choice[l] == v), reward[l], share[l], entropy,
                                               amount[l]);
}

/* From the slopes of the state: those of the LSTM's weights, of the chosen embeddings and of the former state. */
static void learn_step(const spot_lstm_batch *b, const spot_lstm_layout *at, const float *theta, float *slope, float *part,
                       int f, const int *choice)
{
    const spot_lstm_shape *s = &b->shape;
    const int hidden = s->hidden, pitch = at->pitch, gates = 4 * hidden;
    const size_t table = at->embedding + (size_t)(f - 1) * (size_t)s->values * (size_t)pitch;
    const spot_lstm_factor now = spot_lstm_factor_of(s, pitch, part, f), last = spot_lstm_factor_of(s, pitch, part, f - 1);
    const spot_lstm_room room = spot_lstm_room_of(s, pitch, part);

#pragma omp simd
    for (int i = 0; i < hidden * LANES; i++)
        spot_lstm_cell_back(&now, hidden, i, last.cell[i], room.dh[i], &room.dc[i]);
    gather(room.in, (size_t)pitch, 1, theta + table, choice, hidden, pitch);
    add_outer(slope + at->input, gates, pitch, now.gate, room.in);
    transpose(room.in, last.state, pitch);
    add_outer(slope + at->recurrent, gates, pitch, now.gate, room.in);
    memset(room.dh, 0, 2 * (size_t)pitch * LANES * sizeof(float));        /* and dx */
    add_back(room.dx, theta + at->input, gates, pitch, now.gate);
    add_back(room.dh, theta + at->recurrent, gates, pitch, now.gate);
    for (int l = 0; l < LANES; l++) {
        float *row = slope + table + (size_t)choice[l] * (size_t)pitch;
        for (int k = 0; k < hidden; k++) row[k] += room.dx[k * LANES + l];
    }
}

static void learn_part(const spot_lstm_batch *b, const spot_lstm_layout *at, int policy, int chunk)
{
    const spot_lstm_shape *s = &b->shape;
    const size_t table = (size_t)s->values * (size_t)at->pitch, lane = (size_t)chunk * LANES;
    const float *theta = b->theta + (size_t)policy * at->count;
    float *slope = b->slope + (size_t)policy * at->count, *part = spot_lstm_part(b, at, (size_t)policy, (size_t)chunk);
    const spot_lstm_room room = spot_lstm_room_of(s, at->pitch, part);
    const int *choice = b->choice + (size_t)policy * (size_t)s->factors * (size_t)at->lanes + lane;
    float reward[LANES] = { 0 }, share[LANES] = { 0 };

    for (int l = 0; l < LANES && (int)lane + l < b->live; l++) {
        reward[l] = b->reward[(size_t)policy * (size_t)at->lanes + lane + (size_t)l];
        share[l] = 1.0f / (float)b->live;
    }
    memset(room.dh, 0, (2 * (size_t)at->pitch + (size_t)s->hidden) * LANES * sizeof(float));
    for (int f = s->factors - 1; f >= 0; f--) {
        const spot_lstm_factor now = spot_lstm_factor_of(s, at->pitch, part, f);
        const float *head = theta + at->head + (size_t)f * table;
        slope_logits(b, now.p, choice + (size_t)f * (size_t)at->lanes, reward, share);
        transpose(room.in, now.state, at->pitch);
        add_outer(slope + (head - theta), s->values, at->pitch, now.p, room.in);
        if (!f) break;
        add_back(room.dh, head, s->values, at->pitch, now.p);
        learn_step(b, at, theta, slope, part, f, choice + (size_t)(f - 1) * (size_t)at->lanes);
    }
}

static spot_status learn_cpu(spot_ctx *c, const spot_lstm_batch *b)
{
    const spot_lstm_layout at = spot_lstm_layout_of(&b->shape);

#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < b->policies; i++) {
        memset(b->slope + (size_t)i * at.count, 0, at.count * sizeof(float));
        for (int chunk = 0; chunk < at.lanes / LANES; chunk++) learn_part(b, &at, i, chunk);
    }
    return SPOT_OK;
}

const spot_lstm_ops spot_lstm_cpu = { .draw = draw_cpu, .learn = learn_cpu };

static spot_status check_batch(spot_ctx *c, const char *op, const spot_lstm_batch *b)
{
    const spot_lstm_shape *s = &b->shape;

    if (s->factors < 1 || s->factors > MOST_FACTORS || s->values < 1 || s->values > MOST_VALUES || s->hidden < 1 ||
        s->hidden > MOST_HIDDEN)
        return spot_fail(c, SPOT_INVALID, "{lstm.sizes} %s: %d factors of %d values, %d cells", op, s->factors, s->values,
                         s->hidden);
    if (b->policies < 1 || s->batch < 1 || s->batch > MOST_BATCH || b->live < 1 || b->live > s->batch ||
        b->policies > (1 << 30) / s->batch)
        return spot_fail(c, SPOT_INVALID, "{lstm.batch} %s: %d policies, %d rows in use of a batch of %d", op, b->policies,
                         b->live, s->batch);
    return SPOT_OK;
}

spot_status spot_lstm_draw(spot_ctx *c, const spot_lstm_batch *b)
{
    SPOT_TRY(check_batch(c, "lstm.draw", b));
    SPOT_DISPATCH(c, lstm, draw, b);
}

spot_status spot_lstm_learn(spot_ctx *c, const spot_lstm_batch *b)
{
    SPOT_TRY(check_batch(c, "lstm.learn", b));
    if (!isfinite(b->entropy)) return spot_fail(c, SPOT_INVALID, "{lstm.entropy} lstm.learn: a weight of %g for the entropy",
                                                b->entropy);
    SPOT_DISPATCH(c, lstm, learn, b);
}
