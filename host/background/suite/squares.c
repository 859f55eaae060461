/* squares.c - see squares.h. All threads decode; sentences come in the order of the pictures. */
#define _POSIX_C_SOURCE 200809L
#include "background/suite/squares.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/picture_kind.h"
#include "formats/png.h"
#include "spotter/background.h"

enum { NAMED = 10 };

typedef struct { spot_picture picture, mask; uint8_t *square; } lane;      /* a thread's memory */

spot_status spot_squares_open(spot_ctx *c, spot_square_cache *q, const spot_square_source *from, size_t memory, int least)
{
    const size_t n = (size_t)from->n;

    *q = (spot_square_cache){ .from = *from };
    q->bytes = spot_arena_room((from->masked ? 4 : 3) * (size_t)from->size * (size_t)from->size);
    const size_t fit = memory / q->bytes, some = fit > (size_t)least ? fit : (size_t)least;
    q->slots = (int)(some < n ? some : n);
    q->room = malloc((size_t)q->slots * q->bytes + 1);
    q->slot = malloc((n + 1) * sizeof *q->slot);
    q->missing = malloc((n + 1) * sizeof *q->missing);
    q->brightest = calloc(n + 1, 1);
    q->labelled = calloc(n + 1, sizeof *q->labelled);
    q->item = malloc(((size_t)q->slots + 1) * sizeof *q->item);
    q->used = calloc((size_t)q->slots + 1, sizeof *q->used);
    if (!q->room || !q->slot || !q->missing || !q->brightest || !q->labelled || !q->item || !q->used)
        return spot_fail(c, SPOT_NOMEM, "no memory for %d squares of %d pixels", q->slots, from->size);
    for (size_t i = 0; i < n; i++) q->slot[i] = -1;
    for (int i = 0; i < q->slots; i++) q->item[i] = -1;
    return SPOT_OK;
}

void spot_squares_close(spot_square_cache *q)
{
    free(q->room), free(q->slot), free(q->missing), free(q->brightest), free(q->labelled), free(q->item), free(q->used);
    memset(q, 0, sizeof *q);
}

/* ---- one picture ---- */

/* One byte a pixel -> three, so that it is turned and fitted as a picture is. */
static spot_status fit_plane(spot_ctx *c, uint8_t *out, spot_picture *p, uint8_t *square, const spot_square_source *f)
{
    const size_t pixels = (size_t)p->width * (size_t)p->height, side = (size_t)f->size * (size_t)f->size;

    for (size_t i = pixels; i-- > 0;) p->rgb[3 * i] = p->rgb[3 * i + 1] = p->rgb[3 * i + 2] = p->rgb[i];
    if (p->orientation > 1) SPOT_TRY(spot_picture_turn(c, p));
    SPOT_TRY(spot_picture_fit(c, square, p, f->fit == SPOT_FIT_SQUASH ? SPOT_RESIZE_SQUASH : f->size, f->size));
    for (size_t i = 0; i < side; i++) out[i] = square[3 * i];
    return SPOT_OK;
}

/* Takes the memory that the picture needs from the gate, and reads its file. */
static spot_status read_bytes(spot_ctx *c, spot_picture *p, const char *path, uint64_t *size)
{
    spot_picture_cost cost;
    spot_blob in;
    spot_status s;

    SPOT_TRY(spot_blob_open(c, &in, path));
    *size = in.size;
    s = in.size > SPOT_PICTURE_BYTES ? spot_fail(c, SPOT_INPUT, "%s has %llu bytes; of a picture %d are read", path,
                                                 (unsigned long long)in.size, SPOT_PICTURE_BYTES)
                                     : spot_picture_cost_of(c, &cost, &in);
    if (s == SPOT_OK) s = spot_gate_take(c, p, &cost, path);
    if (s == SPOT_OK) s = spot_room_need(c, &p->file, (size_t)in.size + 1);
    if (s == SPOT_OK) s = spot_blob_read(c, &in, 0, p->file.at, (size_t)in.size);
    spot_blob_close(&in);
    return s;
}

/* Pascal VOC's form: 0 is the background, 255 void, which is no object either; all other labels are the object. */
static spot_status read_labels(spot_ctx *c, spot_picture *p, size_t size, const char *path)
{
    SPOT_TRY(spot_png_labels(c, p, p->file.at, size, path));
    for (size_t i = 0; i < (size_t)p->width * (size_t)p->height; i++) p->rgb[i] = p->rgb[i] % 255 ? 255 : 0;
    return SPOT_OK;
}

static spot_status read_mask_file(spot_ctx *c, lane *l, const char *path, const char *of, bool *labelled)
{
    uint64_t size;

    SPOT_TRY(read_bytes(c, &l->mask, path, &size));
    if (!spot_png_is(l->mask.file.at, (size_t)size))
        return spot_fail(c, SPOT_INPUT, "{masks.format} %s, the mask of %s, is no PNG; masks are grey PNG files, or PNG files "
                         "with alpha", path, of);
    *labelled = spot_png_has_labels(l->mask.file.at, (size_t)size);
    SPOT_TRY(*labelled ? read_labels(c, &l->mask, (size_t)size, path)
                       : spot_png_mask(c, &l->mask, l->mask.file.at, (size_t)size, path));
    const double aspect = (double)l->picture.width / l->picture.height, other = (double)l->mask.width / l->mask.height;
    if (fabs(aspect / other - 1) <= 0.01) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{masks.size} %s has %d x %d pixels, and its picture %s %d x %d: a mask has its picture's "
                     "shape (it may be larger or smaller)%s", path, l->mask.width, l->mask.height, of, l->picture.width,
                     l->picture.height, fabs(aspect * other - 1) <= 0.01 ? "; it would fit the picture turned by a quarter: "
                     "data.exif says whether EXIF turns it" : "");
}

static spot_status read_mask(spot_ctx *c, lane *l, const spot_square_source *f, int i, bool *labelled)
{
    uint64_t size;

    l->mask.orientation = 1, l->mask.reading = f->reading;
    if (f->mask) return read_mask_file(c, l, f->mask[i], f->path[i], labelled);
    if (f->draw) {
        const uint64_t w = (uint64_t)l->picture.width, h = (uint64_t)l->picture.height;
        const spot_picture_cost plane = { .width = w, .height = h, .pixels = 3 * (size_t)(w * h) };
        SPOT_TRY(spot_gate_take(c, &l->mask, &plane, f->path[i]));
        SPOT_TRY(spot_picture_start(c, &l->mask, w, h, f->path[i]));
        memset(l->mask.rgb, 0, (size_t)l->mask.width * (size_t)l->mask.height);
        return f->draw(c, f->user, i, l->mask.rgb, l->mask.width, l->mask.height);
    }
    SPOT_TRY(read_bytes(c, &l->mask, f->path[i], &size));
    if (!spot_png_has_alpha(l->mask.file.at, (size_t)size))
        return spot_fail(c, SPOT_INPUT, "{masks.no_alpha} %s has no alpha, so nothing says where its object is; data.masks is "
                         "a folder of masks", f->path[i]);
    if (f->reading.exif == SPOT_EXIF_APPLY) {      /* alpha is turned with its picture */
        const spot_blob file = spot_blob_memory(l->mask.file.at, (size_t)size, f->path[i]);
        SPOT_TRY(spot_png_orientation(c, &l->mask.orientation, &file));
    }
    return spot_png_mask(c, &l->mask, l->mask.file.at, (size_t)size, f->path[i]);
}

static uint8_t most_of(const spot_picture *mask)
{
    uint8_t most = 0;

    for (size_t i = 0; i < (size_t)mask->width * (size_t)mask->height; i++) most = mask->rgb[i] > most ? mask->rgb[i] : most;
    return most;
}

static spot_status decode_item(spot_ctx *c, spot_square_cache *q, lane *l, int i)
{
    const spot_square_source *f = &q->from;
    uint8_t *out = q->room + (size_t)q->slot[i] * q->bytes;
    const size_t side = (size_t)f->size * (size_t)f->size;

    SPOT_TRY(spot_picture_read(c, &l->picture, f->path[i]));
    SPOT_TRY(spot_picture_fit(c, out, &l->picture, f->fit == SPOT_FIT_SQUASH ? SPOT_RESIZE_SQUASH : f->size, f->size));
    spot_picture_give_back(&l->picture);       /* before it waits for the mask's memory; its size stays known */
    if (!f->masked) return SPOT_OK;
    if (!l->square && !(l->square = malloc(3 * side))) return spot_fail(c, SPOT_NOMEM, "no memory for a mask");
    SPOT_TRY(read_mask(c, l, f, i, &q->labelled[i]));
    q->brightest[i] = most_of(&l->mask);
    return fit_plane(c, out + 3 * side, &l->mask, l->square, f);
}

/* ---- all ---- */

/* Gives each missing picture a slot whose content this call does not use. */
static void place_missing(spot_square_cache *q, int n)
{
    for (int k = 0; k < n; k++) {
        while (q->used[q->hand] == q->now) q->hand = (q->hand + 1) % q->slots;
        if (q->item[q->hand] >= 0) q->slot[q->item[q->hand]] = -1;
        q->item[q->hand] = q->missing[k];
        q->used[q->hand] = q->now;
        q->slot[q->missing[k]] = q->hand;
    }
}

static spot_status fail_unreadable(spot_ctx *c, spot_square_cache *q, const spot_ctx *v, int n)
{
    int bad = 0, first = -1;

    for (int k = 0; k < n; k++) {
        if (!v[k].status) continue;
        q->item[q->slot[q->missing[k]]] = -1;
        q->slot[q->missing[k]] = -1;
        if (first < 0) first = k;
        else if (bad < NAMED) spot_log(c, SPOT_LOG_WARN, "%s", spot_message(&v[k], v[k].status));
        bad++;
    }
    if (first < 0) return SPOT_OK;
    spot_fail_from(c, v[first].status, &v[first]);
    if (bad == 1) return v[first].status;
    return spot_fail(c, v[first].status, "%s (and %d more pictures of these %d)", spot_take_message(c, v[first].status),
                     bad - 1, n);
}

static spot_status decode_missing(spot_ctx *c, spot_square_cache *q, int n)
{
    const int threads = c->threads < 1 ? 1 : c->threads;
    lane *lanes = calloc((size_t)threads, sizeof *lanes);
    spot_ctx *v = calloc((size_t)n, sizeof *v);            /* for each picture's failure */
    bool *rotated = calloc((size_t)n, sizeof *rotated);    /* its rotation was not applied */
    spot_picture_gate gate;
    spot_status s = SPOT_OK;

    if (!lanes || !v || !rotated)
        return free(lanes), free(v), free(rotated), spot_fail(c, SPOT_NOMEM, "no memory to decode %d pictures", n);
    spot_picture_gate_open(&gate, SPOT_PICTURE_MEMORY, q->from.size, q->from.size);
    for (int t = 0; t < threads; t++)
        lanes[t].picture.gate = lanes[t].mask.gate = &gate, lanes[t].picture.reading = q->from.reading;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int k = 0; k < n; k++) {
        lane *l = &lanes[omp_get_thread_num()];
        if (c->stop && *c->stop) continue;
        v[k].ops = c->ops;
        const spot_status failed = decode_item(&v[k], q, l, q->missing[k]);
        if (failed) spot_fail(&v[k], failed, "%s", spot_message(&v[k], failed));            /* one without a sentence, too */
        rotated[k] = !failed && l->picture.orientation > 1;
        spot_picture_give_back(&l->picture), spot_picture_give_back(&l->mask);
    }
    s = spot_check_stop(c);
    if (s == SPOT_OK) s = fail_unreadable(c, q, v, n);
    else
        for (int k = 0; k < n; k++) q->item[q->slot[q->missing[k]]] = -1, q->slot[q->missing[k]] = -1;
    for (int k = 0; k < n; k++)
        if (rotated[k]) spot_picture_note_rotated(c, q->from.path[q->missing[k]]);
    for (int t = 0; t < threads; t++)
        spot_picture_close(&lanes[t].picture), spot_picture_close(&lanes[t].mask), free(lanes[t].square);
    spot_picture_gate_close(&gate);
    free(lanes), free(v), free(rotated);
    return s;
}

spot_status spot_squares_need(spot_ctx *c, spot_square_cache *q, const int *item, int n)
{
    int missing = 0;

    q->now++;
    for (int k = 0; k < n; k++) {
        if (q->slot[item[k]] >= 0) q->used[q->slot[item[k]]] = q->now;
        else if (q->slot[item[k]] == -1) q->missing[missing++] = item[k], q->slot[item[k]] = -2;       /* listed once */
    }
    if (!missing) return spot_check_stop(c);
    place_missing(q, missing);
    return decode_missing(c, q, missing);
}
