/* detection_rows.c - matches -> rows of a subject: spot_instances_fill. */
#define _POSIX_C_SOURCE 200809L
#include "discover/subject/detection_rows.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/subject_memory.h"

static const double COVERED = 0.1;         /* share of a box that another covers for spot_instance.overlaps */

typedef struct {
    spot_ctx *c;
    spot_subject *s;
    const spot_coco *k;
    const spot_matches *m;
    const spot_detection_options *o;
    int *category;             /* (n) of each row */
} filler;

/* ---- one row ---- */

/* The score on the scale on which the threshold is 1/2. */
static double scaled(double score, double threshold)
{
    return score < threshold ? score / (2 * threshold) : 0.5 + (score - threshold) / (2 * (1 - threshold));
}

/* Keeps the confidence on the right side of 1/2. */
static float confidence_of(double p, bool wrong)
{
    const float below = nextafterf(0.5f, 0);

    return wrong ? fminf((float)p, below) : fmaxf((float)p, 0.5f);
}

/* The square around the box, with context, moved into the picture where its size is known. */
static void show_box(float out[4], const spot_instance *v, const spot_coco_image *image, double context)
{
    const double side = fmax(fmax(v->w, v->h) * (1 + 2 * context), 1);
    const double size[2] = { image->width, image->height }, at[2] = { v->x + v->w / 2.0, v->y + v->h / 2.0 };

    for (int k = 0; k < 2; k++) {
        const double length = size[k] > 0 ? fmin(side, size[k]) : side;
        double from = at[k] - length / 2;
        if (size[k] > 0) from = fmin(fmax(from, 0), size[k] - length);
        out[k] = (float)from;
        out[2 + k] = (float)length;
    }
}

static int at_edge(const spot_instance *v, const spot_coco_image *image)
{
    if (!image->width || !image->height) return 2;
    return v->x <= 1 || v->y <= 1 || v->x + v->w >= (float)image->width - 1 || v->y + v->h >= (float)image->height - 1;
}

static void add_row(filler *f, const spot_instance *v, int category, double confidence)
{
    spot_subject *s = f->s;
    const spot_coco_image *image = &f->k->image[v->picture];

    f->category[s->n] = category;
    s->instance[s->n] = *v;
    s->instance[s->n].edge = (uint8_t)at_edge(v, image);
    s->instance[s->n].width = image->width;
    s->instance[s->n].height = image->height;
    show_box(s->box + 4 * (size_t)s->n, v, image, f->o->context);
    s->confidence[s->n++] = confidence_of(confidence, v->wrong);
}

static void add_object(filler *f, int b)
{
    const spot_coco_box *box = &f->k->box[b];
    const int match = f->m->match[b];
    const float score = match >= 0 ? f->m->detection[match].score : f->m->below[b];
    const spot_instance v = { .x = box->x, .y = box->y, .w = box->w, .h = box->h, .area = box->area,
        .score = match >= 0 || score > 0 ? score : NAN, .picture = box->image, .wrong = match < 0,
        .reason = match < 0 ? f->m->reason[b] : SPOT_REASON_NONE,
        .number = box->id != INT64_MIN ? box->id : b - f->k->first[box->image], .counted = box->id == INT64_MIN };

    if (!box->crowd) add_row(f, &v, box->category, scaled(score, f->o->score));
}

static void add_detection(filler *f, const spot_detection *d)
{
    const double p = scaled(d->score, f->o->score);
    const spot_instance v = { .x = d->x, .y = d->y, .w = d->w, .h = d->h, .area = d->w * d->h, .score = d->score,
        .picture = d->image, .wrong = d->match < 0, .reason = d->reason, .number = d->number, .detected = 1 };

    if (d->exists && (d->match < 0 || !f->k->box[d->match].crowd)) add_row(f, &v, d->category, d->match < 0 ? 1 - p : p);
}

/* ---- the rows around one ---- */

static double covered(const spot_instance *a, const spot_instance *b)
{
    const double wide = fmin((double)a->x + a->w, (double)b->x + b->w) - fmax(a->x, b->x);
    const double high = fmin((double)a->y + a->h, (double)b->y + b->h) - fmax(a->y, b->y);
    const double own = (double)a->w * a->h;

    return wide > 0 && high > 0 && own > 0 ? wide * high / own : 0;
}

/* Counts the rows beside each row of [from, to), which are of one kind and picture. */
static void look_around(filler *f, int from, int to)
{
    spot_instance *v = f->s->instance;

    for (int i = from; i < to; i++)
        for (int j = from; j < to; j++) {
            if (i == j) continue;
            v[i].others += f->category[i] == f->category[j];
            v[i].overlaps |= covered(&v[i], &v[j]) >= COVERED;
        }
}

static spot_status look_around_all(filler *f)
{
    const spot_instance *v = f->s->instance;

    for (int from = 0, to; from < f->s->n; from = to) {
        for (to = from; to < f->s->n && v[to].picture == v[from].picture && v[to].detected == v[from].detected;) to++;
        SPOT_TRY(spot_check_stop(f->c));
        look_around(f, from, to);
    }
    return SPOT_OK;
}

/* ---- classes and ids ---- */

static spot_status fill_classes(filler *f)
{
    static const char *const kind[] = { "objects", "detections" };
    spot_subject *s = f->s;
    const int most = 2 * f->k->categories;
    int *number;
    char *text;
    size_t bytes = 0;

    for (int i = 0; i < f->k->categories; i++) bytes += 2 * (strlen(f->k->category[i].name) + sizeof ": detections");
    SPOT_TRY(SPOT_SUBJECT_TAKE(f->c, s, number, most));
    SPOT_TRY(SPOT_SUBJECT_TAKE(f->c, s, s->class_name, most));
    SPOT_TRY(SPOT_SUBJECT_TAKE(f->c, s, text, bytes));
    for (int i = 0; i < s->n; i++) number[2 * f->category[i] + s->instance[i].detected] = 1;
    for (int i = 0; i < most; i++) {
        if (!number[i]) continue;
        number[i] = s->classes;
        s->class_name[s->classes++] = text;
        text += sprintf(text, "%s: %s", f->k->category[i / 2].name, kind[i % 2]) + 1;
    }
    for (int i = 0; i < s->n; i++) s->target[i] = number[2 * f->category[i] + s->instance[i].detected];
    return SPOT_OK;
}

static int write_id(char *text, size_t size, const filler *f, const spot_instance *v)
{
    return snprintf(text, size, "%s#%s%" PRId64, f->k->image[v->picture].file,
                    v->detected ? "detection " : v->counted ? "object " : "", v->number);
}

static spot_status fill_ids(filler *f)
{
    spot_subject *s = f->s;
    size_t bytes = 0;
    char *text;

    for (int i = 0; i < s->n; i++) bytes += (size_t)write_id(NULL, 0, f, &s->instance[i]) + 1;
    SPOT_TRY(SPOT_SUBJECT_TAKE(f->c, s, s->id, s->n));
    SPOT_TRY(SPOT_SUBJECT_TAKE(f->c, s, text, bytes));
    for (int i = 0; i < s->n; i++) {
        s->id[i] = text;
        text += write_id(text, bytes, f, &s->instance[i]) + 1;
    }
    return SPOT_OK;
}

/* The rows of a picture belong together: what hides one object hides others. */
static spot_status group_by_picture(filler *f)
{
    spot_subject *s = f->s;
    size_t bytes = 1;
    char *text;

    for (int k = 0; k < f->k->images; k++) bytes += strlen(f->k->image[k].file) + 1;
    SPOT_TRY(SPOT_SUBJECT_TAKE(f->c, s, s->group, s->n));
    SPOT_TRY(SPOT_SUBJECT_TAKE(f->c, s, s->group_name, f->k->images));
    SPOT_TRY(SPOT_SUBJECT_TAKE(f->c, s, text, bytes));
    for (int k = 0; k < f->k->images; k++) {
        s->group_name[k] = text;
        text = stpcpy(text, f->k->image[k].file) + 1;
    }
    for (int i = 0; i < s->n; i++) s->group[i] = s->instance[i].picture;
    s->groups = f->k->images;
    return SPOT_OK;
}

/* ---- all ---- */

static void add_rows(filler *f)
{
    for (int b = 0; f->o->rows != SPOT_ROWS_ALARMS && b < f->k->boxes; b++) add_object(f, b);
    for (int i = 0; f->o->rows != SPOT_ROWS_MISSES && i < f->m->n; i++) add_detection(f, &f->m->detection[i]);
}

spot_status spot_instances_fill(spot_ctx *c, spot_subject *s, const spot_coco *k, const spot_matches *m,
                                const spot_subject_files *files)
{
    filler f = { .c = c, .s = s, .k = k, .m = m, .o = files->detections };
    const size_t most = (size_t)k->boxes + (size_t)m->n;

    if (most > INT_MAX / 4) return spot_fail(c, SPOT_INPUT, "%zu objects and detections are more than %d", most, INT_MAX / 4);
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->instance, most));
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->box, 4 * most));
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->confidence, most));
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->target, most));
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, f.category, most));
    add_rows(&f);
    if (!s->n)
        return spot_fail(c, SPOT_INPUT, "{detections.no_rows} %s has no object%s, and %s no detection with a score of %g or "
                         "more: there is no row",
                         files->coco, k->boxes ? " that is no crowd" : "", f.o->file, f.o->score);
    SPOT_TRY(look_around_all(&f));
    SPOT_TRY(fill_classes(&f));
    SPOT_TRY(fill_ids(&f));
    return files->groups ? SPOT_OK : group_by_picture(&f);
}
