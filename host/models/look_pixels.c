/* look_pixels.c - inference on pixels of the host by a network that stays open, a batch at a time. */
#include "core/device.h"
#include "image/photo.h"
#include "models/network.h"

/* -- opening ------------------------------------------------------------------------------------------------------ */

/* Allocates all but the room itself in a, which may count. */
static spot_status take(spot_ctx *c, spot_arena *a, spot_look_pixels *l, spot_net_shape s, bool channels)
{
    size_t rows = (size_t)s.rows, pixels = rows * 3 * (size_t)s.size * (size_t)s.size;

    SPOT_TRY(spot_look_open(c, a, &l->net, s));
    if (c->device) SPOT_TRY(SPOT_TAKE(c, a, l->rgb, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, l->pixels, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, l->feature, rows * (size_t)l->net.features));
    if (channels) SPOT_TRY(SPOT_TAKE(c, a, l->net.channel, rows * (size_t)spot_look_channels(s.arch, s.width)));
    return SPOT_TAKE(c, a, l->logit, rows * (size_t)s.outputs);
}

static spot_net_shape shape_of(const spot_ctx *c, const spot_model *m, const spot_look_rule *r)
{
    return spot_look_shape(c, m->arch, m->width, m->outputs, r->size, r->pictures, r->precision);
}

static spot_status count(spot_ctx *c, size_t *bytes, spot_net_shape s, bool channels)
{
    spot_arena a = spot_arena_counting();
    spot_look_pixels l = { 0 };
    spot_status status = take(c, &a, &l, s, channels);

    spot_look_close(c, &l.net);
    *bytes = a.peak;
    return status;
}

spot_status spot_look_pixels_needs(spot_ctx *c, spot_bytes *needs, const spot_model *m, const spot_look_rule *r)
{
    size_t bytes;

    SPOT_TRY(count(c, &bytes, shape_of(c, m, r), r->channels));
    *needs = c->device ? (spot_bytes){ .device = bytes } : (spot_bytes){ .host = bytes };
    return SPOT_OK;
}

/* In memory of its own on c's device. Rows behind the pictures of a first batch that is not whole have the value 0. */
static spot_status take_own(spot_ctx *c, spot_look_pixels *l, spot_net_shape s, bool channels)
{
    size_t bytes;

    SPOT_TRY(count(c, &bytes, s, channels));
    SPOT_TRY(spot_arena_open_device(c, &l->room, bytes));
    SPOT_TRY(take(c, &l->room, l, s, channels));
    return l->rgb ? spot_device_clear(c, l->rgb, (size_t)s.rows * 3 * (size_t)s.size * (size_t)s.size) : SPOT_OK;
}

spot_status spot_look_pixels_open(spot_ctx *c, spot_look_pixels *l, const spot_model *m, const spot_look_rule *r)
{
    *l = (spot_look_pixels){ 0 };
    SPOT_TRY(take_own(c, l, shape_of(c, m, r), r->channels));
    l->rule = m->pixels;
    return spot_look_put(c, &l->net, m);
}

void spot_look_pixels_close(spot_ctx *c, spot_look_pixels *l)
{
    for (int i = 0; i < 2; i++) spot_device_forget(c, l->graph[i]);
    spot_look_close(c, &l->net);
    spot_arena_close(&l->room);
    *l = (spot_look_pixels){ 0 };
}

/* -- looking ------------------------------------------------------------------------------------------------------ */

/* The first `live` pictures of rgb, in the memory of c's device; channels: those, too. */
static spot_status run_batch(spot_ctx *c, const spot_look_pixels *l, const uint8_t *rgb, int live, bool channels)
{
    const spot_photo_set set = { .pictures = live, .size = l->net.s.size, .rgb = rgb, .pixels = l->rule };
    spot_look net = l->net;

    if (!channels) net.channel = NULL;
    SPOT_TRY(spot_photo_input(c, l->pixels, 3, SPOT_FP32, &set, NULL, live));
    return spot_look_run(c, &net, l->feature, l->logit, l->pixels, live);
}

static spot_status record_batch(spot_ctx *c, spot_look_pixels *l, bool channels)
{
    spot_status s, ended;

    SPOT_TRY(spot_device_record(c));
    s = run_batch(c, l, l->rgb, l->net.s.rows, channels);
    ended = spot_device_recorded(c, s ? NULL : &l->graph[channels]);
    return s ? s : ended;
}

/* The first batch is not recorded: it makes the libraries load their code, which a recording must not do. */
static spot_status run_whole(spot_ctx *c, spot_look_pixels *l, bool channels)
{
    if (!l->warm[channels]) {
        l->warm[channels] = true;
        return run_batch(c, l, l->rgb, l->net.s.rows, channels);
    }
    if (!l->graph[channels]) SPOT_TRY(record_batch(c, l, channels));
    return spot_device_replay(c, l->graph[channels]);
}

/* Rows [first, first + live) of an array on the host; to NULL: not wanted. */
static spot_status take_rows(spot_ctx *c, float *to, const float *from, int first, int live, int columns)
{
    return to ? spot_device_copy(c, to + (size_t)first * (size_t)columns, from, (size_t)live * (size_t)columns * sizeof *to)
              : SPOT_OK;
}

spot_status spot_look_pixels_run(spot_ctx *c, spot_look_pixels *l, float *logit, float *feature, float *channel,
                                 const uint8_t *rgb, int n)
{
    const spot_net_shape *s = &l->net.s;
    const size_t image = 3 * (size_t)s->size * (size_t)s->size;

    for (int first = 0; first < n; first += s->rows) {
        int live = n - first < s->rows ? n - first : s->rows;
        const uint8_t *here = rgb + (size_t)first * image;
        SPOT_TRY(spot_check_stop(c));
        if (l->rgb) SPOT_TRY(spot_device_copy(c, l->rgb, here, (size_t)live * image));
        SPOT_TRY(l->rgb ? run_whole(c, l, channel != NULL) : run_batch(c, l, here, live, channel != NULL));
        SPOT_TRY(take_rows(c, logit, l->logit, first, live, s->outputs));
        SPOT_TRY(take_rows(c, feature, l->feature, first, live, l->net.features));
        SPOT_TRY(take_rows(c, channel, l->net.channel, first, live, spot_look_channels(s->arch, s->width)));
    }
    return SPOT_OK;
}

/* -- one call ----------------------------------------------------------------------------------------------------- */

spot_status spot_model_infer(spot_ctx *c, spot_arena *scratch, float *logits, float *features, const spot_model *m,
                             const uint8_t *rgb, int n, int size)
{
    const spot_net_shape shape = spot_look_shape(c, m->arch, m->width, m->outputs, size, n, SPOT_FP32);
    size_t mark = scratch->used;
    spot_look_pixels l = { 0 };
    spot_status s;

    if (!c->device) s = take(c, scratch, &l, shape, false);
    else s = scratch->counting ? SPOT_OK : take_own(c, &l, shape, false);
    l.rule = m->pixels;
    if (!s && !scratch->counting) s = spot_look_put(c, &l.net, m);
    if (!s && !scratch->counting) s = spot_look_pixels_run(c, &l, logits, features, NULL, rgb, n);
    spot_look_pixels_close(c, &l);
    scratch->used = mark;
    return s;
}
