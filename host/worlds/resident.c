/* resident.c - the pictures of a run in the memory of a GPU, from which training and looking take their batches.
 *
 * COCO's 123,287 pictures of 224 pixels are 18.6 GB of an H200's 141. They are copied once a run: some seconds, where ninety
 * ECs of ten epochs read 66,874 of them (10 GB) nine hundred times. So a step copies nothing and can be recorded. */
#include <stdlib.h>

#include "core/device.h"
#include "worlds/pictures.h"
#include "worlds/source_draw.h"

enum { AT_A_TIME = 256 };          /* pictures between two copies */

static size_t picture_bytes(const spot_photos *p) { return 3 * (size_t)p->cfg.size * (size_t)p->cfg.size; }

static spot_status lay_out(spot_ctx *c, const spot_photos *p, spot_arena *a, spot_resident *r)
{
    SPOT_TRY(SPOT_TAKE(c, a, r->rgb, (size_t)p->used * picture_bytes(p)));
    SPOT_TRY(SPOT_TAKE(c, a, r->shows, (size_t)p->used * p->words));
    for (int t = 0; t < p->tasks; t++) {
        SPOT_TRY(SPOT_TAKE(c, a, r->task[t], p->words));
        for (int k = 0; k < SPOT_SPLITS; k++) SPOT_TRY(SPOT_TAKE(c, a, r->row[t][k], p->task[t].images[k]));
    }
    return SPOT_OK;
}

size_t spot_photos_device_bytes(const spot_ctx *c, const spot_photos *p)
{
    spot_ctx mine = { .ops = c->ops, .threads = 1 };
    spot_arena a = spot_arena_counting();
    spot_resident r;

    return c->device && !lay_out(&mine, p, &a, &r) ? a.peak : 0;
}

bool spot_photos_are_resident(const spot_photos *p) { return p->resident.rgb != NULL; }

/* Categories and lists of pictures; the pictures that no task uses are left out. */
static spot_status copy_lists(spot_ctx *c, const spot_photos *p, const spot_resident *r)
{
    size_t words = (size_t)p->words, line = words * sizeof *p->shows;
    uint64_t *shows = malloc((size_t)p->used * line + 1);
    uint32_t *row = malloc((size_t)p->pictures * sizeof *row + 1);
    spot_status s = shows && row ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the lists of %d pictures", p->used);

    for (size_t i = 0; !s && i < (size_t)p->used * words; i++) shows[i] = p->shows[p->use[i / words] * words + i % words];
    if (!s) s = spot_device_copy(c, r->shows, shows, (size_t)p->used * line);
    for (int t = 0; t < p->tasks && !s; t++) {
        const spot_task *task = &p->task[t];
        s = spot_device_copy(c, r->task[t], task->mask, line);
        for (int k = 0; k < SPOT_SPLITS && !s; k++) {
            for (int i = 0; i < task->images[k]; i++) row[i] = (uint32_t)p->row[task->picture[k][i]];
            s = spot_device_copy(c, r->row[t][k], row, (size_t)task->images[k] * sizeof *row);
        }
    }
    free(row);
    free(shows);
    return s;
}

static spot_status read_pictures(spot_ctx *c, uint8_t *rgb, const spot_photos *p, int from, int n)
{
    spot_status failed = SPOT_OK;

#pragma omp parallel for schedule(dynamic) num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        spot_status s = spot_photo_row(c, rgb + (size_t)i * picture_bytes(p), p, from + i);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    return failed;
}

static spot_status copy_pictures(spot_ctx *c, const spot_photos *p, const spot_resident *r, int distinct)
{
    int at_a_time = distinct && distinct < AT_A_TIME ? distinct : AT_A_TIME;
    uint8_t *rgb = malloc((size_t)at_a_time * picture_bytes(p));
    spot_status s = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures of %d pixels a side", at_a_time,
                                              p->cfg.size);

    for (int from = 0; from < p->used && !s; from += at_a_time) {
        int n = p->used - from < at_a_time ? p->used - from : at_a_time;
        s = spot_check_stop(c);
        if (!s && (!distinct || !from)) s = read_pictures(c, rgb, p, from, n);
        if (!s) s = spot_device_copy(c, r->rgb + (size_t)from * picture_bytes(p), rgb, (size_t)n * picture_bytes(p));
    }
    free(rgb);
    return s;
}

spot_status spot_photos_upload(spot_ctx *c, spot_photos *p, int distinct)
{
    spot_resident r = { 0 };
    spot_status s;

    if (!c->device || p->resident.rgb) return SPOT_OK;
    SPOT_TRY(spot_arena_open_device(c, &r.arena, spot_photos_device_bytes(c, p)));
    s = lay_out(c, p, &r.arena, &r);
    if (!s) s = copy_lists(c, p, &r);
    if (!s) s = copy_pictures(c, p, &r, distinct);
    if (s) spot_arena_close(&r.arena);
    else p->resident = r;
    return s;
}

spot_photo_set spot_photos_on_host(const spot_ec *ec)
{
    const spot_photos *p = ec->photos;
    const spot_task *task = &p->task[ec->task];
    spot_photo_set set = { .pictures = p->pictures, .size = p->cfg.size, .shows = p->shows, .task = task->mask,
                           .words = p->words, .val_is_true = !p->cfg.flip_val };

    for (int k = 0; k < SPOT_SPLITS; k++) {
        set.row[k] = task->picture[k];
        set.images[k] = ec->images[k];
    }
    return set;
}

spot_status spot_photos_on_device(spot_ctx *c, spot_photo_set *set, const spot_ec *ec)
{
    const spot_resident *r = &ec->photos->resident;

    *set = spot_photos_on_host(ec);
    if (!c->device) return SPOT_OK;
    if (!r->rgb)
        return spot_fail(c, SPOT_INVALID, "{photos.not_uploaded} the pictures of EC %u are not in the memory of %s; "
                         "spot_photos_upload copies them", ec->index, spot_device_name(c));
    set->pictures = ec->photos->used;
    set->rgb = r->rgb;
    set->shows = r->shows;
    set->task = r->task[ec->task];
    for (int k = 0; k < SPOT_SPLITS; k++) set->row[k] = r->row[ec->task][k];
    return SPOT_OK;
}
