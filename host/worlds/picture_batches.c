/* picture_batches.c - see picture_batches.h. */
#include "worlds/picture_batches.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ahead.h"

/* Pictures [first, first + n), decoded. */
typedef struct {
    int        first, n;
    spot_arena room;
    uint8_t   *rgb;            /* (batch, crop, crop, 3), in that room */
    spot_ctx  *verdict;        /* (batch): each row's failure, if it has one */
    bool      *rotated;        /* (batch): the row is the first of a picture whose rotation was not applied */
} decoded_batch;

typedef struct {
    spot_ctx *c;
    const spot_picture_batches *b;
    spot_picture *decoder;     /* (threads) */
    spot_picture *part;        /* (threads): cut from it */
    spot_picture_gate gate;    /* open where decoder is there */
    int       slots;
    decoded_batch slot[2];     /* (slots) */
    decoded_batch *next;       /* what `ahead` decodes */
    spot_ahead ahead;
    int      *picture;         /* (batch) */
    double    start;
} picture_batches_reader;

/* A device works on one batch while the threads decode the next. The CPU has no thread to spare. */
static int slots_of(const spot_ctx *c, const spot_picture_batches *b)
{
    return c->device && b->n > (b->early ? b->early : b->batch) ? 2 : 1;
}

/* Pictures of the largest batch. */
static size_t most_of(const spot_picture_batches *b) { return (size_t)(b->n < b->batch ? b->n : b->batch); }

static size_t square_bytes(const spot_picture_batches *b) { return 3 * (size_t)b->crop * (size_t)b->crop; }

/* The square of row k of the batch from its decoded picture. */
static spot_status fit_square(const spot_picture_batches *b, decoded_batch *d, spot_ctx *own, int k, spot_picture *p,
                              spot_picture *part)
{
    if (b->box) SPOT_TRY(spot_picture_cut(own, part, p, b->box + 4 * (size_t)(d->first + k)));
    return spot_picture_fit_by(own, d->rgb + k * square_bytes(b), b->box ? part : p, b->resize, b->crop, b->filter);
}

/* Whether row k of the batch begins another picture. Parts of one picture are cut by one thread. */
static bool begins_picture(const spot_picture_batches *b, const decoded_batch *d, int k)
{
    char *const *path = b->path + d->first + k;

    return !b->box || !k || (path[0] != path[-1] && strcmp(path[0], path[-1]));
}

/* Decodes the picture of row k, and makes the squares of this row and of the rows behind it of the same picture. */
static void decode_picture(const spot_picture_batches *b, decoded_batch *d, int k, spot_picture *p, spot_picture *part)
{
    spot_ctx own = { 0 };      /* for this picture's sentence; whether it is a failure is decided later, in order */
    const spot_status read = spot_picture_read(&own, p, b->path[d->first + k]);

    d->rotated[k] = !read && p->orientation > 1;
    do {
        const spot_status s = read ? read : fit_square(b, d, &own, k, p, part);
        spot_forget(&d->verdict[k]);
        if (s) spot_fail_from(&d->verdict[k], s, &own);
    } while (++k < d->n && !begins_picture(b, d, k));
    spot_picture_give_back(p);
}

static void decode_batch(picture_batches_reader *r, decoded_batch *d)
{
#pragma omp parallel for num_threads(r->c->threads) schedule(dynamic, 1)
    for (int k = 0; k < d->n; k++)
        if (begins_picture(r->b, d, k))
            decode_picture(r->b, d, k, &r->decoder[omp_get_thread_num()], &r->part[omp_get_thread_num()]);
}

/* Without `skip`: fails with the first unreadable picture and logs the others of its batch. */
static spot_status fail_unreadable(picture_batches_reader *r, const decoded_batch *d, int first)
{
    int bad = 1;

    for (int k = first + 1; k < d->n; k++)
        if (d->verdict[k].status && bad++ < SPOT_PICTURES_NAMED)
            spot_log(r->c, SPOT_LOG_WARN, "%s", spot_message(&d->verdict[k], SPOT_INPUT));
    spot_fail_from(r->c, SPOT_INPUT, &d->verdict[first]);
    return spot_fail(r->c, SPOT_INPUT, "%s (%d of the %d pictures so far cannot be read; %s%s)",
                     spot_take_message(r->c, SPOT_INPUT), bad, r->b->before + d->first + d->n,
                     r->b->option ? r->b->option : "mend or remove them", r->b->option ? " leaves such out" : "");
}

static spot_status leave_out(picture_batches_reader *r, const decoded_batch *d, int k)
{
    const spot_ctx *v = &d->verdict[k];

    if (v->status == SPOT_NOMEM) return spot_fail_from(r->c, v->status, v);
    if (!r->b->skip) return fail_unreadable(r, d, k);
    if ((*r->b->skipped)++ < SPOT_PICTURES_NAMED) spot_log(r->c, SPOT_LOG_WARN, "left out: %s", spot_message(v, v->status));
    return SPOT_OK;
}

/* Moves the squares of readable pictures to the front. */
static spot_status drop_unreadable(picture_batches_reader *r, decoded_batch *d, int *live)
{
    size_t bytes = square_bytes(r->b);

    *live = 0;
    for (int k = 0; k < d->n; k++) {
        if (begins_picture(r->b, d, k) && d->rotated[k]) spot_picture_note_rotated(r->c, r->b->path[d->first + k]);
        if (d->verdict[k].status) {
            SPOT_TRY(leave_out(r, d, k));
            continue;
        }
        if (*live != k) memcpy(d->rgb + *live * bytes, d->rgb + k * bytes, bytes);
        r->picture[(*live)++] = d->first + k;
    }
    return SPOT_OK;
}

static void report_progress(const picture_batches_reader *r, int done)
{
    const spot_picture_batches *b = r->b;
    double left = (omp_get_wtime() - r->start) / done * (b->n - done);

    if (done == b->early)
        spot_log(r->c, SPOT_LOG_INFO, "%d of %d pictures are done; the others take about %.0f s", done, b->n, left);
    if (b->stage) spot_tell(r->c, b->stage, -1, b->before + done, b->total ? b->total : b->n, "");
}

static spot_status hand_over(picture_batches_reader *r, decoded_batch *d)
{
    int live;

    SPOT_TRY(drop_unreadable(r, d, &live));
    return live ? r->b->take(r->c, r->b->user, &(spot_picture_batch){ live, r->picture, d->rgb }) : SPOT_OK;
}

static void begin_batch(const picture_batches_reader *r, decoded_batch *d, int first)
{
    const spot_picture_batches *b = r->b;

    d->first = first;
    d->n = first || !b->early ? b->batch : b->early;
    if (d->n > b->n - first) d->n = b->n - first;
}

static void decode_next(void *user)
{
    picture_batches_reader *r = user;

    decode_batch(r, r->next);
}

/* Whether the batch at picture `first` is decoded beside what follows, until spot_ahead_join. */
static bool decode_ahead(picture_batches_reader *r, decoded_batch *d, int first)
{
    if (r->slots < 2 || first >= r->b->n) return false;
    begin_batch(r, d, first);
    r->next = d;
    return spot_ahead_start(&r->ahead, decode_next, r);
}

static spot_status run_all(picture_batches_reader *r)
{
    bool decoded = false;
    int slot = 0, end;

    r->start = omp_get_wtime();
    for (int first = 0; first < r->b->n; first = end) {
        decoded_batch *d = &r->slot[slot];
        spot_status s;
        SPOT_TRY(spot_check_stop(r->c));
        if (!decoded) begin_batch(r, d, first), decode_batch(r, d);
        end = first + d->n;
        decoded = decode_ahead(r, &r->slot[!slot], end);
        if (decoded) slot = !slot;
        s = hand_over(r, d);
        spot_ahead_join(&r->ahead);
        SPOT_TRY(s);
        report_progress(r, end);
    }
    return SPOT_OK;
}

size_t spot_picture_batches_bytes(const spot_ctx *c, const spot_picture_batches *b)
{
    return (size_t)slots_of(c, b) * most_of(b) * square_bytes(b);
}

static spot_status take_slot(spot_ctx *c, const spot_picture_batches *b, decoded_batch *d)
{
    const size_t most = most_of(b);

    SPOT_TRY(spot_arena_open_pinned(c, &d->room, most * square_bytes(b)));
    SPOT_TRY(SPOT_TAKE(c, &d->room, d->rgb, most * square_bytes(b)));
    d->verdict = calloc(most, sizeof *d->verdict);
    d->rotated = calloc(most, sizeof *d->rotated);
    return d->verdict && d->rotated ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", b->batch);
}

static spot_status open_reader(spot_ctx *c, picture_batches_reader *r)
{
    const size_t threads = (size_t)c->threads;

    for (int i = 0; i < r->slots; i++) SPOT_TRY(take_slot(c, r->b, &r->slot[i]));
    r->picture = malloc(most_of(r->b) * sizeof *r->picture);
    r->decoder = calloc(threads, sizeof *r->decoder);
    r->part = calloc(threads, sizeof *r->part);
    if (!r->picture || !r->decoder || !r->part) return spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", r->b->batch);
    spot_picture_gate_open(&r->gate, r->b->memory, r->b->resize, r->b->crop);
    for (size_t i = 0; i < threads; i++) r->decoder[i].gate = &r->gate, r->decoder[i].reading = r->b->reading;
    return SPOT_OK;
}

static void close_reader(picture_batches_reader *r, bool gate)
{
    for (int i = 0; gate && i < r->c->threads; i++) {
        spot_picture_close(&r->decoder[i]);
        spot_picture_close(&r->part[i]);
    }
    if (gate) spot_picture_gate_close(&r->gate);
    for (int i = 0; i < r->slots; i++) {
        spot_arena_close(&r->slot[i].room);
        free(r->slot[i].verdict);
        free(r->slot[i].rotated);
    }
    free(r->picture);
    free(r->decoder);
    free(r->part);
}

spot_status spot_picture_batches_run(spot_ctx *c, const spot_picture_batches *b)
{
    picture_batches_reader r = { .c = c, .b = b, .slots = slots_of(c, b) };
    const spot_status opened = open_reader(c, &r), s = opened ? opened : run_all(&r);

    close_reader(&r, !opened);
    return s;
}
