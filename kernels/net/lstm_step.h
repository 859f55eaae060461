/* lstm_step.h - arithmetic and the trail of the policy, for CPU and CUDA. Rows of the trail have 32 lanes, one a draw. */
#ifndef SPOTTER_LSTM_STEP_H
#define SPOTTER_LSTM_STEP_H

#include "core/vmath.h"
#include "net/lstm.h"

/* 32 draws of a policy at one factor. */
typedef struct {
    float *gate;       /* (4 hidden): i, f, g, o; learn: their slopes before the sigmoid and tanh */
    float *cell, *squashed;            /* (hidden): c, tanh(c) */
    float *state;      /* (pitch): h, then 1, then 0 */
    float *p;          /* (values): probabilities; learn: slopes of the logits */
} spot_lstm_factor;

/* Room that the factors share. */
typedef struct {
    float *in;         /* (pitch): draw: the chosen embeddings, (k, lane); learn: an input of a product, (lane, k) */
    float *dh, *dx;    /* (pitch): slopes of the state and of the embeddings */
    float *dc;         /* (hidden) */
    float *amount;     /* (1): entropy */
} spot_lstm_room;

/* Part `chunk` of a policy's trail. */
static inline SPOT_HD float *spot_lstm_part(const spot_lstm_batch *b, const spot_lstm_layout *at, size_t policy, size_t chunk)
{
    const size_t chunks = (size_t)at->lanes / SPOT_LSTM_LANES;

    return b->trail + policy * at->trail + chunk * (at->trail / chunks);
}

static inline SPOT_HD spot_lstm_factor spot_lstm_factor_of(const spot_lstm_shape *s, int pitch, float *part, int factor)
{
    const size_t hidden = (size_t)s->hidden * SPOT_LSTM_LANES;
    spot_lstm_factor f;

    f.gate = part + (size_t)factor * spot_lstm_rows(s, pitch) * SPOT_LSTM_LANES;
    f.cell = f.gate + 4 * hidden;
    f.squashed = f.cell + hidden;
    f.state = f.squashed + hidden;
    f.p = f.state + (size_t)pitch * SPOT_LSTM_LANES;
    return f;
}

static inline SPOT_HD spot_lstm_room spot_lstm_room_of(const spot_lstm_shape *s, int pitch, float *part)
{
    const size_t rows = (size_t)pitch * SPOT_LSTM_LANES;
    spot_lstm_room r;

    r.in = part + (size_t)s->factors * spot_lstm_rows(s, pitch) * SPOT_LSTM_LANES;
    r.dh = r.in + rows;
    r.dx = r.dh + rows;
    r.dc = r.dx + rows;
    r.amount = r.dc + (size_t)s->hidden * SPOT_LSTM_LANES;
    return r;
}

static inline SPOT_HD float spot_lstm_sigmoid(float x) { return 1.0f / (1.0f + spot_expf(-x)); }

static inline SPOT_HD float spot_lstm_tanh(float x)
{
    const float e = spot_expf(-2.0f * fabsf(x));

    return copysignf((1.0f - e) / (1.0f + e), x);
}

/* Number i (cell, lane) of a step: gates from their sums; before: c of the former factor. */
static inline SPOT_HD void spot_lstm_cell(const spot_lstm_factor *f, int hidden, int i, float before)
{
    const int all = hidden * SPOT_LSTM_LANES;
    const float in = spot_lstm_sigmoid(f->gate[i]), keep = spot_lstm_sigmoid(f->gate[all + i]);
    const float add = spot_lstm_tanh(f->gate[2 * all + i]), out = spot_lstm_sigmoid(f->gate[3 * all + i]);
    const float cell = fmaf(keep, before, in * add), squashed = spot_lstm_tanh(cell);

    f->gate[i] = in, f->gate[all + i] = keep, f->gate[2 * all + i] = add, f->gate[3 * all + i] = out;
    f->cell[i] = cell;
    f->squashed[i] = squashed;
    f->state[i] = out * squashed;
}

/* The slopes of a step's sums, from dh and *dc, the slopes of h and c; then *dc is that of the former c. */
static inline SPOT_HD void spot_lstm_cell_back(const spot_lstm_factor *f, int hidden, int i, float before, float dh, float *dc)
{
    const int all = hidden * SPOT_LSTM_LANES;
    const float in = f->gate[i], keep = f->gate[all + i], add = f->gate[2 * all + i], out = f->gate[3 * all + i];
    const float squashed = f->squashed[i], d = fmaf(dh * out, 1.0f - squashed * squashed, *dc);

    f->gate[i] = d * add * in * (1.0f - in);
    f->gate[all + i] = d * before * keep * (1.0f - keep);
    f->gate[2 * all + i] = d * in * (1.0f - add * add);
    f->gate[3 * all + i] = dh * squashed * out * (1.0f - out);
    *dc = d * keep;
}

/* Logarithm of a probability that may be 0, where its product with the probability is 0, too. */
static inline SPOT_HD float spot_lstm_log(float p) { return spot_logf(p > 1.2e-38f ? p : 1.2e-38f); }

/* The slope of a logit. share: 1 / live, 0 in a lane that is not live; amount: the entropy of the factor's distribution. */
static inline SPOT_HD float spot_lstm_logit(float p, float hit, float reward, float share, float entropy, float amount)
{
    float d = reward * (p - hit);

    if (entropy != 0) d = fmaf(entropy * p, spot_lstm_log(p) + amount, d);
    return share * d;
}

#endif
