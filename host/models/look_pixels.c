/* look_pixels.c - inference on pixels of the host, a batch at a time. */
#include "core/device.h"
#include "image/photo.h"
#include "models/network.h"

spot_status spot_look_pixels_open(spot_ctx *c, spot_arena *a, spot_look_pixels *l, spot_net_shape s, bool channels)
{
    size_t rows = (size_t)s.rows, pixels = rows * 3 * (size_t)s.size * (size_t)s.size;

    *l = (spot_look_pixels){ 0 };
    SPOT_TRY(spot_look_open(c, a, &l->net, s));
    if (c->device) SPOT_TRY(SPOT_TAKE(c, a, l->rgb, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, l->pixels, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, l->feature, rows * (size_t)l->net.features));
    if (channels) SPOT_TRY(SPOT_TAKE(c, a, l->net.channel, rows * (size_t)spot_look_channels(s.arch, s.width)));
    return SPOT_TAKE(c, a, l->logit, rows * (size_t)s.outputs);
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
    spot_photo_set set = { .pictures = s->rows, .size = s->size, .pixels = l->rule };
    spot_look net = l->net;

    if (!channel) net.channel = NULL;
    for (int first = 0; first < n; first += s->rows) {
        int live = n - first < s->rows ? n - first : s->rows;
        const uint8_t *here = rgb + (size_t)first * image;
        SPOT_TRY(spot_check_stop(c));
        if (l->rgb) SPOT_TRY(spot_device_copy(c, l->rgb, here, (size_t)live * image));
        set.rgb = l->rgb ? l->rgb : here;
        SPOT_TRY(spot_photo_input(c, l->pixels, 3, SPOT_FP32, &set, NULL, live));
        SPOT_TRY(spot_look_run(c, &net, l->feature, l->logit, l->pixels, live));
        SPOT_TRY(take_rows(c, logit, l->logit, first, live, s->outputs));
        SPOT_TRY(take_rows(c, feature, l->feature, first, live, net.features));
        SPOT_TRY(take_rows(c, channel, net.channel, first, live, spot_look_channels(s->arch, s->width)));
    }
    return SPOT_OK;
}

/* On the CPU the net lies in the caller's arena, else in memory of its own. */
static spot_status open_in(spot_ctx *c, spot_arena *scratch, spot_arena *on, spot_look_pixels *l, spot_net_shape s)
{
    spot_arena count = spot_arena_counting();
    spot_status opened;

    if (!c->device) return spot_look_pixels_open(c, scratch, l, s, false);
    opened = spot_look_pixels_open(c, &count, l, s, false);
    spot_look_close(c, &l->net);
    if (!opened) opened = spot_arena_open_device(c, on, count.peak);
    return opened ? opened : spot_look_pixels_open(c, on, l, s, false);
}

spot_status spot_model_infer(spot_ctx *c, spot_arena *scratch, float *logits, float *features, const spot_model *m,
                             const uint8_t *rgb, int n, int size)
{
    const spot_net_shape shape = spot_look_shape(c, m->arch, m->width, m->outputs, size, n, SPOT_FP32);
    size_t mark = scratch->used;
    spot_arena on = { 0 };
    spot_look_pixels l = { 0 };
    spot_status s = open_in(c, scratch, &on, &l, shape);

    l.rule = m->pixels;
    if (!s && !scratch->counting) s = spot_look_put(c, &l.net, m);
    if (!s && !scratch->counting) s = spot_look_pixels_run(c, &l, logits, features, NULL, rgb, n);
    spot_look_close(c, &l.net);
    spot_arena_close(&on);
    scratch->used = mark;
    return s;
}
