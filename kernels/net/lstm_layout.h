/* lstm_layout.h - where the numbers and the trail of a policy lie, the same on every device. */
#ifndef SPOTTER_LSTM_LAYOUT_H
#define SPOTTER_LSTM_LAYOUT_H

#include <stddef.h>

#include "core/hd.h"

enum { SPOT_LSTM_LANES = 32 };

typedef struct { int factors, values, hidden, batch; } spot_lstm_shape;

/* Where a policy has its numbers. Rows of matrices: `hidden` numbers, the bias, zeros up to `pitch`. */
typedef struct {
    int    pitch;               /* hidden + 1, rounded up to 32 */
    int    lanes;               /* batch, rounded up to 32 */
    size_t embedding;           /* (factors - 1, values, pitch); no bias */
    size_t input, recurrent;    /* (4 hidden, pitch): gates i, f, g, o */
    size_t head;                /* (factors, values, pitch); of head[0] only the bias has an effect */
    size_t count;               /* of all numbers */
    size_t trail;               /* floats that draw leaves for learn */
} spot_lstm_layout;

/* Rows of 32 lanes in a trail: those of a factor, and those that learn works in. */
static inline SPOT_HD size_t spot_lstm_rows(const spot_lstm_shape *s, int pitch)
{
    return (size_t)6 * (size_t)s->hidden + (size_t)pitch + (size_t)s->values;
}

static inline SPOT_HD size_t spot_lstm_spare(const spot_lstm_shape *s, int pitch)
{
    return (size_t)3 * (size_t)pitch + (size_t)s->hidden + 1;
}

static inline SPOT_HD spot_lstm_layout spot_lstm_layout_of(const spot_lstm_shape *s)
{
    const size_t factors = (size_t)s->factors, values = (size_t)s->values, gates = 4 * (size_t)s->hidden;
    spot_lstm_layout at;

    at.pitch = (s->hidden + SPOT_LSTM_LANES) / SPOT_LSTM_LANES * SPOT_LSTM_LANES;
    at.lanes = (s->batch + SPOT_LSTM_LANES - 1) / SPOT_LSTM_LANES * SPOT_LSTM_LANES;
    at.embedding = 0;
    at.input = (factors - 1) * values * (size_t)at.pitch;
    at.recurrent = at.input + gates * (size_t)at.pitch;
    at.head = at.recurrent + gates * (size_t)at.pitch;
    at.count = at.head + factors * values * (size_t)at.pitch;
    at.trail = (size_t)at.lanes * (factors * spot_lstm_rows(s, at.pitch) + spot_lstm_spare(s, at.pitch));
    return at;
}

#endif
