/* picture_batches.c - see picture_batches.h. */
#include "worlds/picture_batches.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pictures [first, first + n). */
typedef struct {
    spot_ctx *c;
    const spot_picture_batches *b;
    spot_picture *decoder;     /* (threads) */
    spot_picture *part;        /* (threads): cut from it */
    spot_picture_gate gate;    /* open where decoder is there */
    int       first, n;
    uint8_t  *rgb;             /* (batch, crop, crop, 3) */
    spot_ctx *verdict;         /* (batch): each row's failure, if it has one */
    int      *picture;         /* (batch) */
    bool     *rotated;         /* (batch): the row is the first of a picture whose rotation was not applied */
    double    start;
} picture_batches_reader;

static size_t square_bytes(const spot_picture_batches *b) { return 3 * (size_t)b->crop * (size_t)b->crop; }

/* The square of row k of the batch from its decoded picture. */
static spot_status fit_square(picture_batches_reader *r, spot_ctx *own, int k, spot_picture *p, spot_picture *part)
{
    const spot_picture_batches *b = r->b;

    if (b->box) SPOT_TRY(spot_picture_cut(own, part, p, b->box + 4 * (size_t)(r->first + k)));
    return spot_picture_fit_by(own, r->rgb + k * square_bytes(b), b->box ? part : p, b->resize, b->crop, b->filter);
}

/* Whether row k of the batch begins another picture. Parts of one picture are cut by one thread. */
static bool begins_picture(const picture_batches_reader *r, int k)
{
    char *const *path = r->b->path + r->first + k;

    return !r->b->box || !k || (path[0] != path[-1] && strcmp(path[0], path[-1]));
}

/* Decodes the picture of row k, and makes the squares of this row and of the rows behind it of the same picture. */
static void decode_picture(picture_batches_reader *r, int k, spot_picture *p, spot_picture *part)
{
    spot_ctx own = { 0 };      /* for this picture's sentence; whether it is a failure is decided later, in order */
    const spot_status read = spot_picture_read(&own, p, r->b->path[r->first + k]);

    r->rotated[k] = !read && p->orientation > 1;
    do {
        const spot_status s = read ? read : fit_square(r, &own, k, p, part);
        spot_forget(&r->verdict[k]);
        if (s) spot_fail_from(&r->verdict[k], s, &own);
    } while (++k < r->n && !begins_picture(r, k));
    spot_picture_give_back(p);
}

/* Without `skip`: fails with the first unreadable picture and logs the others of its batch. */
static spot_status fail_unreadable(picture_batches_reader *r, int first)
{
    int bad = 1;

    for (int k = first + 1; k < r->n; k++)
        if (r->verdict[k].status && bad++ < SPOT_PICTURES_NAMED)
            spot_log(r->c, SPOT_LOG_WARN, "%s", spot_message(&r->verdict[k], SPOT_INPUT));
    spot_fail_from(r->c, SPOT_INPUT, &r->verdict[first]);
    return spot_fail(r->c, SPOT_INPUT, "%s (%d of the %d pictures so far cannot be read; %s%s)",
                     spot_take_message(r->c, SPOT_INPUT), bad, r->b->before + r->first + r->n,
                     r->b->option ? r->b->option : "mend or remove them", r->b->option ? " leaves such out" : "");
}

static spot_status leave_out(picture_batches_reader *r, int k)
{
    const spot_ctx *v = &r->verdict[k];

    if (v->status == SPOT_NOMEM) return spot_fail_from(r->c, v->status, v);
    if (!r->b->skip) return fail_unreadable(r, k);
    if ((*r->b->skipped)++ < SPOT_PICTURES_NAMED) spot_log(r->c, SPOT_LOG_WARN, "left out: %s", spot_message(v, v->status));
    return SPOT_OK;
}

/* Moves the squares of readable pictures to the front. */
static spot_status drop_unreadable(picture_batches_reader *r, int *live)
{
    size_t bytes = square_bytes(r->b);

    *live = 0;
    for (int k = 0; k < r->n; k++) {
        if (begins_picture(r, k) && r->rotated[k]) spot_picture_note_rotated(r->c, r->b->path[r->first + k]);
        if (r->verdict[k].status) {
            SPOT_TRY(leave_out(r, k));
            continue;
        }
        if (*live != k) memcpy(r->rgb + *live * bytes, r->rgb + k * bytes, bytes);
        r->picture[(*live)++] = r->first + k;
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

static spot_status run_batch(picture_batches_reader *r)
{
    int live, n = r->n;

#pragma omp parallel for num_threads(r->c->threads) schedule(dynamic, 1)
    for (int k = 0; k < n; k++)
        if (begins_picture(r, k)) decode_picture(r, k, &r->decoder[omp_get_thread_num()], &r->part[omp_get_thread_num()]);
    SPOT_TRY(drop_unreadable(r, &live));
    return live ? r->b->take(r->c, r->b->user, &(spot_picture_batch){ live, r->picture, r->rgb }) : SPOT_OK;
}

static spot_status run_all(picture_batches_reader *r)
{
    const spot_picture_batches *b = r->b;

    r->start = omp_get_wtime();
    for (; r->first < b->n; r->first += r->n) {
        r->n = r->first || !b->early ? b->batch : b->early;
        if (r->n > b->n - r->first) r->n = b->n - r->first;
        SPOT_TRY(spot_check_stop(r->c));
        SPOT_TRY(run_batch(r));
        report_progress(r, r->first + r->n);
    }
    return SPOT_OK;
}

size_t spot_picture_batches_bytes(const spot_picture_batches *b) { return (size_t)b->batch * square_bytes(b); }

spot_status spot_picture_batches_run(spot_ctx *c, const spot_picture_batches *b)
{
    size_t most = (size_t)b->batch;
    picture_batches_reader r = { .c = c, .b = b, .rgb = malloc(spot_picture_batches_bytes(b)),
                                 .picture = malloc(most * sizeof *r.picture), .verdict = calloc(most, sizeof *r.verdict),
                                 .rotated = calloc(most, sizeof *r.rotated),
                                 .decoder = calloc((size_t)c->threads, sizeof *r.decoder),
                                 .part = calloc((size_t)c->threads, sizeof *r.part) };
    bool found = r.rgb && r.picture && r.rotated && r.verdict && r.decoder && r.part;
    spot_status s = found ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", b->batch);

    if (found) {
        spot_picture_gate_open(&r.gate, b->memory, b->resize, b->crop);
        for (int i = 0; i < c->threads; i++) r.decoder[i].gate = &r.gate, r.decoder[i].reading = b->reading;
        s = run_all(&r);
        for (int i = 0; i < c->threads; i++) {
            spot_picture_close(&r.decoder[i]);
            spot_picture_close(&r.part[i]);
        }
        spot_picture_gate_close(&r.gate);
    }
    free(r.rgb);
    free(r.picture);
    free(r.rotated);
    free(r.verdict);
    free(r.decoder);
    free(r.part);
    return s;
}
