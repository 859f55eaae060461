/* op_tensor.c - a network's tensors among the arrays of an op's problems: into the layout of the run's device, and back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/device.h"
#include "core/stem.h"
#include "image/raster.h"
#include "net/conv.h"
#include "op.h"

enum { BLANK = 0xFF };         /* bytes of a number that nobody wrote, as in op.c */

size_t spot_op_numbers(const spot_op_tensor *t) { return (size_t)t->rows * t->pixels * t->channels; }

static float widen(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float v;

    memcpy(&v, &word, sizeof v);
    return v;
}

float spot_op_rounded(float v, spot_precision precision)
{
    return precision == SPOT_BF16 && !isnan(v) ? widen(spot_bf16_bits(v)) : v;
}

/* Bytes of a number on the run's device. */
static size_t width(const spot_op_run *r, const spot_op_tensor *t, spot_op_kind kind)
{
    return kind == SPOT_OP_BYTE ? 1 : r->c->device ? spot_precision_bytes(t->precision) : sizeof(float);
}

static size_t room(const spot_op_run *r, const spot_op_tensor *t, spot_op_kind kind)
{
    return (size_t)t->rows * t->pixels * (r->c->device ? t->pitch : t->channels) * width(r, t, kind);
}

/* Where number i of (rows, pixels, channels) lies on the run's device. */
static size_t place(const spot_op_run *r, const spot_op_tensor *t, size_t i)
{
    size_t pixel = i / t->channels, ch = i % t->channels, pixels = (size_t)t->pixels;
    size_t b = t->channels % SPOT_CHANNELS ? 1 : SPOT_CHANNELS;

    if (r->c->device && t->image) pixel += (size_t)spot_stem_place((int)(pixel % pixels), t->image) - pixel % pixels;
    if (r->c->device) return pixel * t->pitch + ch;
    return ((pixel / pixels * (t->channels / b) + ch / b) * pixels + pixel % pixels) * b + ch % b;
}

void *spot_op_tensor_of(spot_op_run *r, spot_op_tensor t, const float *from)
{
    size_t bytes = width(r, &t, SPOT_OP_FLOAT), n = spot_op_numbers(&t), all = room(r, &t, SPOT_OP_FLOAT);
    unsigned char *to = calloc(all + 1, 1);

    for (size_t i = 0; to && i < n; i++) {
        float v = spot_op_rounded(from[i], t.precision);
        memcpy(to + place(r, &t, i) * bytes, (char *)&v + sizeof v - bytes, bytes);   /* bf16: the upper half; little-endian */
    }
    if (!to && r->status == SPOT_OK) r->status = spot_fail(r->c, SPOT_NOMEM, "no memory for the problems of %s", r->op->name);
    return spot_op_given(r, to, all);
}

/* A bench has tensors of 400 MB: noise goes to the device as it is wherever the layout allows it. */
void *spot_op_tensor_noise(spot_op_run *r, spot_op_tensor t, int id)
{
    size_t n = spot_op_numbers(&t), live = n / (size_t)t.rows * t.live;
    float *v;
    void *p;

    if (r->c->device && !r->misplaced && live == n && t.pitch == t.channels && !t.image) {
        p = spot_op_room(r, room(r, &t, SPOT_OP_FLOAT));
        if (p && r->status == SPOT_OK) r->status = spot_noise_fill(r->c, p, id, n, t.precision);
        return p;
    }
    v = malloc((n + 1) * sizeof *v);
    for (size_t i = 0; v && i < n; i++) v[i] = i < live ? spot_noise(id, i, t.precision) : NAN;
    if (!v && r->status == SPOT_OK) r->status = spot_fail(r->c, SPOT_NOMEM, "no memory for the problems of %s", r->op->name);
    p = v ? spot_op_tensor_of(r, t, v) : NULL;
    free(v);
    return p;
}

void *spot_op_tensor_blank(spot_op_run *r, spot_op_tensor t, spot_op_kind kind)
{
    size_t bytes = room(r, &t, kind);
    unsigned char *blank = malloc(bytes + 1);

    if (blank) memset(blank, BLANK, bytes);
    else if (r->status == SPOT_OK) r->status = spot_fail(r->c, SPOT_NOMEM, "no memory for the results of %s", r->op->name);
    return spot_op_given(r, blank, bytes);
}

void spot_op_tensor_part(spot_op_run *r, const char *what, void *part, spot_op_tensor t, spot_op_kind kind, double off,
                         double least)
{
    int before = r->results;

    spot_op_part(r, what, part, kind, spot_op_numbers(&t), off);
    if (r->results == before) return;
    r->result[before].tensor = t;
    r->result[before].least = least;
}

/* A number as it is compared: a NaN is NAN unless nobody wrote it. */
static float number_of(const unsigned char *from, size_t bytes)
{
    static const unsigned char blank[sizeof(float)] = { BLANK, BLANK, BLANK, BLANK };
    float v = 0;

    memcpy((char *)&v + sizeof v - bytes, from, bytes);
    if (!memcmp(from, blank, bytes)) memcpy(&v, blank, sizeof v);
    else if (isnan(v)) v = NAN;
    return v;
}

spot_status spot_op_number(spot_op_run *r, double *out, const void *tensor, const spot_op_tensor *t, size_t i)
{
    size_t bytes = width(r, t, SPOT_OP_FLOAT);
    unsigned char v[sizeof(float)];

    SPOT_TRY(spot_op_fetch(r, v, (const char *)tensor + place(r, t, i) * bytes, bytes));
    *out = number_of(v, bytes);
    return SPOT_OK;
}

static spot_status unpack(spot_op_run *r, void *to, const unsigned char *from, const spot_op_result *o)
{
    const spot_op_tensor *t = &o->tensor;
    size_t bytes = width(r, t, o->kind), pixels = (size_t)t->live * t->pixels;

    for (size_t i = 0; i < o->count; i++) {
        const unsigned char *at = from + place(r, t, i) * bytes;
        if (o->kind == SPOT_OP_BYTE) ((unsigned char *)to)[i] = *at;
        else ((float *)to)[i] = number_of(at, bytes);
        if (o->kind == SPOT_OP_FLOAT && o->off == 0) ((float *)to)[i] = spot_op_rounded(((float *)to)[i], t->precision);
    }
    for (size_t i = 0; r->c->device && t->pitch > t->channels && i < pixels * t->pitch; i++)
        if ((int)(i % t->pitch) >= t->channels && number_of(from + i * bytes, bytes) != 0)
            return spot_fail(r->c, SPOT_CHECK, "%s of problem %d: channel %zu of pixel %zu, which is empty, is not 0", o->what,
                             o->number, i % t->pitch, i / t->pitch);
    return SPOT_OK;
}

spot_status spot_op_result_back(spot_op_run *r, void *to, const spot_op_result *o)
{
    size_t bytes = o->tensor.rows ? room(r, &o->tensor, o->kind) : o->count * spot_op_size(o->kind);
    unsigned char *raw;
    spot_status s;

    if (o->on_host) memcpy(to, o->p, bytes);
    if (o->on_host) return SPOT_OK;
    if (!o->tensor.rows) return spot_op_fetch(r, to, o->p, bytes);
    raw = malloc(bytes + 1);
    if (!raw) return spot_fail(r->c, SPOT_NOMEM, "no memory for the results of %s", r->op->name);
    s = spot_op_fetch(r, raw, o->p, bytes);
    if (s == SPOT_OK) s = unpack(r, to, raw, o);
    free(raw);
    return s;
}
