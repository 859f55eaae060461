/* look_pictures.c - pictures and a network -> subject: all threads decode a batch, then the network runs on it. The two take
 * turns, since on the CPU both use every core. */
#include "discover/look_pictures.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/gallery.h"
#include "discover/subject_memory.h"
#include "formats/picture.h"
#include "spotter/model.h"

/* Pictures per batch; a smaller first batch, to estimate the time early. Unreadable pictures that are named. */
enum { BATCH = 256, FIRST = 32, NAMED = 10 };

typedef struct {
    spot_status status;
    char        why[512];
} verdict;

/* Pictures [first, first + n) of the subject, prepared for the network. */
typedef struct {
    const spot_subject *s;
    spot_picture *picture;     /* (threads) */
    int      threads, resize, crop, first, n;
    uint8_t *rgb;              /* (BATCH, crop, crop, 3) */
    verdict *verdict;          /* (BATCH) */
} batch;

typedef struct {
    spot_ctx     *c;
    spot_subject *s;
    const spot_subject_files *files;
    spot_arena    weights, scratch;
    spot_model    m;
    spot_picture *picture;
    spot_picture_gate gate;    /* open where picture is there */
    batch         batch;
    float        *logit;       /* (BATCH, outputs) */
    int           all, kept;   /* pictures that there are; of them seen so far */
    double        start;
} looker;

static void decode_picture(batch *b, int k, spot_picture *p)
{
    spot_ctx own = { 0 };      /* for this picture's sentence; whether it is a failure is decided later, in order */
    verdict *v = &b->verdict[k];

    v->status = spot_picture_read(&own, p, b->s->image[b->first + k]);
    if (!v->status) v->status = spot_picture_fit(&own, b->rgb + 3 * (size_t)k * b->crop * b->crop, p, b->resize, b->crop);
    if (v->status) snprintf(v->why, sizeof v->why, "%s", spot_message(&own, v->status));
    spot_picture_give_back(p);
}

/* -- one batch --------------------------------------------------------------------------------------------------------- */

static void move_row(spot_subject *s, int to, int from)
{
    s->id[to] = s->id[from];
    s->image[to] = s->image[from];
    if (s->target) s->target[to] = s->target[from];
    if (s->has) memmove(s->has + (size_t)to * s->classes, s->has + (size_t)from * s->classes, (size_t)s->classes);
}

/* Without --skip-unreadable: fails with the first unreadable picture and logs the others of its batch. */
static spot_status fail_unreadable(looker *l, const batch *b, int first)
{
    int bad = 1;

    for (int k = first + 1; k < b->n; k++)
        if (b->verdict[k].status && bad++ < NAMED) spot_log(l->c, SPOT_LOG_WARN, "%s", b->verdict[k].why);
    return spot_fail(l->c, SPOT_INPUT, "%s (%d of the %d pictures so far cannot be read; --skip-unreadable leaves such out)",
                     b->verdict[first].why, bad, b->first + b->n);
}

static spot_status leave_out(looker *l, const batch *b, int k)
{
    const verdict *v = &b->verdict[k];

    if (v->status == SPOT_NOMEM) return spot_fail(l->c, v->status, "%s", v->why);
    if (!l->files->skip) return fail_unreadable(l, b, k);
    if (l->s->skipped++ < NAMED) spot_log(l->c, SPOT_LOG_WARN, "left out: %s", v->why);
    return SPOT_OK;
}

/* Moves readable pictures, and their rows, to the front. */
static spot_status drop_unreadable(looker *l, batch *b, int *live)
{
    size_t bytes = 3 * (size_t)b->crop * b->crop;

    *live = 0;
    for (int k = 0; k < b->n; k++) {
        if (b->verdict[k].status) {
            SPOT_TRY(leave_out(l, b, k));
            continue;
        }
        if (*live != k) memcpy(b->rgb + *live * bytes, b->rgb + k * bytes, bytes);
        if (l->kept + *live != b->first + k) move_row(l->s, l->kept + *live, b->first + k);
        ++*live;
    }
    return SPOT_OK;
}

static void soft_max(float *p, const float *logit, int n)
{
    double sum = 0, most = logit[0];

    for (int k = 1; k < n; k++) most = fmax(most, logit[k]);
    for (int k = 0; k < n; k++) sum += exp(logit[k] - most);
    for (int k = 0; k < n; k++) p[k] = (float)(exp(logit[k] - most) / sum);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static spot_status fill_prob(looker *l, int row, const float *logit)
{
    spot_subject *s = l->s;
    float *p = s->prob + (size_t)row * s->classes;

    for (int k = 0; k < l->m.outputs; k++)
        if (!isfinite(logit[k]))
            return spot_fail(l->c, SPOT_NUMERIC, "%s: output %d for %s is not a finite number", l->files->model, k,
                             s->image[row]);
    if (s->has) {
        for (int k = 0; k < s->classes; k++) p[k] = (float)sigmoid(logit[k]);
        return SPOT_OK;
    }
    if (l->m.outputs == 1) {
        p[0] = (float)sigmoid(-(double)logit[0]);
        p[1] = (float)sigmoid(logit[0]);
    } else {
        soft_max(p, logit, s->classes);
    }
    s->confidence[row] = p[s->target[row]];
    return SPOT_OK;
}

static spot_status infer_batch(looker *l, batch *b)
{
    spot_subject *s = l->s;
    int live;

    SPOT_TRY(drop_unreadable(l, b, &live));
    if (live)
        SPOT_TRY(spot_model_infer(l->c, &l->scratch, l->logit, s->feature + (size_t)l->kept * s->d, &l->m, b->rgb, live,
                                  b->crop));
    for (int i = 0; i < live; i++) SPOT_TRY(fill_prob(l, l->kept + i, l->logit + (size_t)i * l->m.outputs));
    l->kept += live;
    return SPOT_OK;
}

/* -- all of them ------------------------------------------------------------------------------------------------------- */

static void report_progress(looker *l, int done)
{
    double left = (omp_get_wtime() - l->start) / done * (l->all - done);

    if (done == FIRST)
        spot_log(l->c, SPOT_LOG_INFO, "%d of %d pictures are done; the others take about %.0f s", done, l->all, left);
    spot_tell(l->c, "look", -1, done, l->all, "");
}

static spot_status infer_all(looker *l)
{
    batch *b = &l->batch;

    l->start = omp_get_wtime();
    for (; b->first < l->all; b->first += b->n) {
        b->n = b->first ? BATCH : FIRST;
        if (b->n > l->all - b->first) b->n = l->all - b->first;
        SPOT_TRY(spot_check_stop(l->c));
#pragma omp parallel for num_threads(b->threads) schedule(dynamic, 1)
        for (int k = 0; k < b->n; k++) decode_picture(b, k, &b->picture[omp_get_thread_num()]);
        SPOT_TRY(infer_batch(l, b));
        report_progress(l, b->first + b->n);
    }
    if (l->s->skipped > NAMED) spot_log(l->c, SPOT_LOG_WARN, "left out: %d more that cannot be read", l->s->skipped - NAMED);
    l->s->n = l->kept;
    if (!l->kept) return spot_fail(l->c, SPOT_INPUT, "none of the %d pictures in %s can be read", l->all, l->files->images);
    return SPOT_OK;
}

/* Row k of the head: the direction of class k's logit. A single output is class 1's logit; its negative is class 0's. */
static void fill_head(looker *l)
{
    spot_subject *s = l->s;
    spot_model_tensor table[SPOT_RESNET18_TENSORS];
    const float *w;

    spot_model_layout(table, l->m.width, l->m.outputs);
    w = l->m.value + table[120].offset;
    if (l->m.outputs == s->classes) {
        memcpy(s->head, w, (size_t)s->classes * s->d * sizeof *w);
        return;
    }
    for (int k = 0; k < s->d; k++) {
        s->head[k] = -w[k];
        s->head[s->d + k] = w[k];
    }
}

/* -- before looking ---------------------------------------------------------------------------------------------------- */

static spot_status open_model(looker *l)
{
    const char *path = l->files->model;
    spot_arena count = spot_arena_counting();
    spot_subject *s = l->s;

    SPOT_TRY(spot_model_load(l->c, &count, &l->m, path, 0, 0));
    SPOT_TRY(spot_arena_open(l->c, &l->weights, count.peak));
    SPOT_TRY(spot_model_load(l->c, &l->weights, &l->m, path, 0, 0));
    if (!s->class_name) {      /* labels that are numbers leave open how many classes there are: the network knows */
        int known = l->m.outputs > 1 ? l->m.outputs : 2;
        if (s->target && s->classes < known) s->classes = known;
        SPOT_TRY(spot_subject_numbers(l->c, s, &s->class_name, s->classes));
    }
    if (l->m.outputs == 1 && s->classes == 2 && s->target) return SPOT_OK;
    if (l->m.outputs != s->classes || (s->classes == 1 && s->target))
        return spot_fail(l->c, SPOT_INPUT, "%s has %d outputs, %s has %d classes (%.80s ... %.80s); as many are wanted%s", path,
                         l->m.outputs, l->files->coco ? l->files->coco : l->files->labels ? l->files->labels : l->files->images,
                         s->classes, s->class_name[0], s->class_name[s->classes - 1],
                         s->target ? ", or one output and two classes" : "");
    return SPOT_OK;
}

static spot_status take_memory(looker *l)
{
    spot_subject *s = l->s;
    size_t n = (size_t)s->n, classes = (size_t)s->classes, image = 3 * (size_t)l->files->crop * (size_t)l->files->crop;
    spot_arena count = spot_arena_counting();
    size_t bytes = n * ((size_t)s->d + classes + 1) * sizeof(float) + BATCH * image, most = l->files->memory, decoding;

    SPOT_TRY(spot_model_infer(l->c, &count, NULL, NULL, &l->m, NULL, BATCH, l->files->crop));
    bytes += l->weights.size + count.peak;
    decoding = most > bytes ? most - bytes : SPOT_PICTURE_MEMORY;
    spot_log(l->c, SPOT_LOG_INFO, "%s: %d pictures of %d classes, seen by %s: takes %.0f MB, and decoding at most %.0f MB; "
             "up to %d pictures are decoded at a time, fewer where they are large", l->files->images, s->n, s->classes,
             l->files->model, (double)bytes / 1e6, (double)decoding / 1e6, l->c->threads);
    if (most && bytes >= most)
        return spot_fail(l->c, SPOT_INPUT, "%s: looking takes %zu bytes of memory where %zu are allowed", l->files->images,
                         bytes, most);
    SPOT_TRY(SPOT_SUBJECT_TAKE(l->c, s, s->feature, n * (size_t)s->d));
    SPOT_TRY(SPOT_SUBJECT_TAKE(l->c, s, s->prob, n * classes));
    SPOT_TRY(SPOT_SUBJECT_TAKE(l->c, s, s->head, classes * (size_t)s->d));
    if (s->target) SPOT_TRY(SPOT_SUBJECT_TAKE(l->c, s, s->confidence, n));
    SPOT_TRY(spot_arena_open(l->c, &l->scratch, count.peak));
    l->picture = calloc((size_t)l->c->threads, sizeof *l->picture);
    if (l->picture) spot_picture_gate_open(&l->gate, decoding, l->files->resize, l->files->crop);
    for (int i = 0; l->picture && i < l->c->threads; i++) l->picture[i].gate = &l->gate;
    l->logit = malloc(BATCH * (size_t)l->m.outputs * sizeof *l->logit);
    l->batch = (batch){ s, l->picture, l->c->threads, l->files->resize, l->files->crop, 0, 0, malloc(BATCH * image),
                        calloc(BATCH, sizeof(verdict)) };
    if (!l->batch.rgb || !l->batch.verdict) return spot_fail(l->c, SPOT_NOMEM, "no memory for %d pictures", BATCH);
    return l->picture && l->logit ? SPOT_OK : spot_fail(l->c, SPOT_NOMEM, "no memory to look at pictures");
}

static void close_looker(looker *l)
{
    for (int i = 0; l->picture && i < l->c->threads; i++) spot_picture_close(&l->picture[i]);
    if (l->picture) spot_picture_gate_close(&l->gate);
    free(l->batch.rgb);
    free(l->batch.verdict);
    free(l->picture);
    free(l->logit);
    spot_arena_close(&l->weights);
    spot_arena_close(&l->scratch);
}

spot_status spot_subject_look(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    looker l = { .c = c, .s = s, .files = files };
    spot_status status;

    if (files->crop < 32 || files->crop > SPOT_PICTURE_CROP || files->crop % 32 || files->resize < 0)
        return spot_fail(c, SPOT_USAGE, "crop %d, resize %d: the network looks at squares of 32, 64, ... %d pixels (224), cut "
                         "from pictures whose shorter side is resized (256; 0: is left)", files->crop, files->resize,
                         SPOT_PICTURE_CROP);
    SPOT_TRY(spot_gallery_open(c, s, files));
    l.all = s->n;
    status = open_model(&l);
    s->d = 8 * l.m.width;
    if (!status) status = take_memory(&l);
    if (!status) status = infer_all(&l);
    if (!status) fill_head(&l);
    close_looker(&l);
    if (!status)
        snprintf(s->source, sizeof s->source, "%d pictures of %d classes in %.150s%s%.150s, seen by %.150s", s->n, s->classes,
                 files->images, files->coco ? " as in " : "", files->coco ? files->coco : "", files->model);
    return status;
}
