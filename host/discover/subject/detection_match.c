/* detection_match.c - see detection_match.h. */
#include "discover/subject/detection_match.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000 };                     /* objects or detections of one picture: time grows with their product */

static const double LOOSE = 0.1;           /* least IoU of a detection in the wrong place, as TIDE has it */

/* ---- ids ---- */

typedef struct { int64_t id; int at; } by_id;

static int compare_ids(const void *a, const void *b)
{
    const by_id *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int find_id(const by_id *ids, int n, int64_t id)
{
    const by_id wanted = { id, 0 }, *at = bsearch(&wanted, ids, (size_t)n, sizeof *ids, compare_ids);

    return at ? at->at : -1;
}

typedef struct { by_id *images, *categories; } known_ids;

static spot_status sort_ids(spot_ctx *c, known_ids *out, const spot_coco *k)
{
    out->images = malloc(((size_t)k->images + 1) * sizeof *out->images);
    out->categories = malloc(((size_t)k->categories + 1) * sizeof *out->categories);
    if (!out->images || !out->categories) return spot_fail(c, SPOT_NOMEM, "no memory for %d ids of pictures", k->images);
    for (int i = 0; i < k->images; i++) out->images[i] = (by_id){ k->image[i].id, i };
    for (int i = 0; i < k->categories; i++) out->categories[i] = (by_id){ k->category[i].id, i };
    qsort(out->images, (size_t)k->images, sizeof *out->images, compare_ids);
    qsort(out->categories, (size_t)k->categories, sizeof *out->categories, compare_ids);
    return SPOT_OK;
}

/* ---- the detections in order ---- */

static int compare_detections(const void *a, const void *b)
{
    const spot_detection *x = a, *y = b;

    if (x->image != y->image) return x->image < y->image ? -1 : 1;
    if (x->category != y->category) return x->category < y->category ? -1 : 1;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static spot_status take_detections(spot_ctx *c, spot_matches *m, const spot_coco *k, const spot_coco_results *r,
                                   const spot_detection_options *o, const char *names)
{
    known_ids ids = { NULL, NULL };
    spot_status s = sort_ids(c, &ids, k);
    int strange = 0;

    for (int i = 0; !s && i < r->n; i++) {
        const spot_coco_result *d = &r->result[i];
        const int image = find_id(ids.images, k->images, d->image);
        const int category = find_id(ids.categories, k->categories, d->category);
        if (image < 0)
            s = spot_fail(c, SPOT_INPUT, "{detections.image_id} %s, entry %d (from 0): %s has no picture with the \"image_id\" "
                          "%" PRId64, o->file, i, names, d->image);
        if (category < 0 && !strange++)
            spot_log(c, SPOT_LOG_WARN, "%s, entry %d (from 0): %s has no category with the id %" PRId64 "; such detections are "
                     "left out", o->file, i, names, d->category);
        if (s || category < 0) continue;
        m->detection[m->n++] = (spot_detection){ .image = image, .category = category, .number = i, .match = -1,
            .exists = d->score >= (float)o->score, .x = d->x, .y = d->y, .w = d->w, .h = d->h, .score = d->score };
    }
    if (strange > 1) spot_log(c, SPOT_LOG_WARN, "%s: left out are %d detections of such categories", o->file, strange);
    free(ids.images);
    free(ids.categories);
    return s;
}

static spot_status order_detections(spot_ctx *c, spot_matches *m, const spot_coco *k, const spot_coco_results *r,
                                    const spot_detection_options *o, const char *names)
{
    m->detection = malloc(((size_t)r->n + 1) * sizeof *m->detection);
    m->first = calloc((size_t)k->images + 1, sizeof *m->first);
    m->match = malloc(((size_t)k->boxes + 1) * sizeof *m->match);
    m->below = calloc((size_t)k->boxes + 1, sizeof *m->below);
    m->reason = calloc((size_t)k->boxes + 1, sizeof *m->reason);
    if (!m->detection || !m->first || !m->match || !m->below || !m->reason)
        return spot_fail(c, SPOT_NOMEM, "no memory to match %d detections with %d boxes", r->n, k->boxes);
    for (int i = 0; i < k->boxes; i++) m->match[i] = -1;
    SPOT_TRY(take_detections(c, m, k, r, o, names));
    qsort(m->detection, (size_t)m->n, sizeof *m->detection, compare_detections);
    for (int i = 0; i < m->n; i++) m->first[m->detection[i].image + 1]++;
    for (int i = 0; i < k->images; i++) {
        const int objects = k->first[i + 1] - k->first[i], detections = m->first[i + 1];
        if (objects > MOST || detections > MOST)
            return spot_fail(c, SPOT_INPUT, "%.200s has %d objects in %s and %d detections in %s; a picture may have "
                             "%d of each",
                             k->image[i].file, objects, names, detections, o->file, MOST);
        m->first[i + 1] += m->first[i];
    }
    return SPOT_OK;
}

/* ---- matches ---- */

double spot_box_iou(const spot_coco_box *box, const spot_detection *d)
{
    const double x = box->x, y = box->y, w = box->w, h = box->h, u = d->x, v = d->y, dw = d->w, dh = d->h;
    const double wide = fmin(u + dw, x + w) - fmax(u, x), high = fmin(v + dh, y + h) - fmax(v, y);
    const double both = wide * high, own = dw * dh;

    return wide <= 0 || high <= 0 ? 0 : both / (box->crowd ? own : own + w * h - both);
}

/* The box of the picture that d takes: a crowd only where no object is free for it. */
static int best_box(const spot_matches *m, const spot_coco *k, const spot_detection *d, double iou)
{
    int best = -1;

    for (int crowd = 0; crowd < 2 && best < 0; crowd++) {
        double most = iou < 1 - 1e-10 ? iou : 1 - 1e-10;
        for (int b = k->first[d->image]; b < k->first[d->image + 1]; b++) {
            const spot_coco_box *box = &k->box[b];
            if (box->category != d->category || box->crowd != crowd || (!crowd && m->match[b] >= 0)) continue;
            const double is = spot_box_iou(box, d);
            if (is < most) continue;
            most = is;
            best = b;
        }
    }
    return best;
}

/* ---- reasons ---- */

static uint8_t reason_of_false(const spot_coco *k, const spot_detection *d, double iou)
{
    double same = 0, other = 0;

    for (int b = k->first[d->image]; b < k->first[d->image + 1]; b++) {
        if (k->box[b].crowd) continue;
        double *most = k->box[b].category == d->category ? &same : &other;
        *most = fmax(*most, spot_box_iou(&k->box[b], d));
    }
    return same >= iou ? SPOT_REASON_DUPLICATE : other >= iou ? SPOT_REASON_CONFUSION : same >= LOOSE ? SPOT_REASON_LOCALISATION
         : other >= LOOSE ? SPOT_REASON_BOTH : SPOT_REASON_NOTHING;
}

static void explain_missed(spot_matches *m, const spot_coco *k, int b, double iou)
{
    const spot_coco_box *box = &k->box[b];
    double same = 0, other = 0;

    for (int i = m->first[box->image]; i < m->first[box->image + 1]; i++) {
        const spot_detection *d = &m->detection[i];
        const double is = spot_box_iou(box, d);
        if (!d->exists && d->category == box->category && is >= iou) m->below[b] = fmaxf(m->below[b], d->score);
        if (!d->exists || d->match >= 0) continue;
        if (d->category == box->category) same = fmax(same, is);
        else other = fmax(other, is);
    }
    m->reason[b] = m->below[b] > 0 ? SPOT_REASON_LOW_SCORE : other >= iou ? SPOT_REASON_CONFUSION
                 : same >= LOOSE ? SPOT_REASON_LOCALISATION : SPOT_REASON_NOTHING;
}

/* ---- all ---- */

static void match_picture(spot_matches *m, const spot_coco *k, int image, double iou)
{
    for (int i = m->first[image]; i < m->first[image + 1]; i++) {
        spot_detection *d = &m->detection[i];
        if (!d->exists) continue;
        d->match = best_box(m, k, d, iou);
        if (d->match >= 0 && !k->box[d->match].crowd) m->match[d->match] = i;
        if (d->match < 0) d->reason = reason_of_false(k, d, iou);
    }
    for (int b = k->first[image]; b < k->first[image + 1]; b++)
        if (!k->box[b].crowd && m->match[b] < 0) explain_missed(m, k, b, iou);
}

spot_status spot_matches_find(spot_ctx *c, spot_matches *m, const spot_coco *k, const spot_coco_results *r,
                              const spot_detection_options *o, const char *names)
{
    *m = (spot_matches){ 0 };
    if (!(o->iou > 0 && o->iou <= 1) || !(o->score >= 0 && o->score < 1) || !(o->context >= 0 && o->context <= 10))
        return spot_fail(c, SPOT_USAGE, "{detections.options} an IoU of %g, a score of %g and a context of %g; the IoU must be "
                         "above 0 and at most 1, the score 0 or more and below 1, the context 0 to 10",
                         o->iou, o->score, o->context);
    SPOT_TRY(order_detections(c, m, k, r, o, names));
    for (int i = 0; i < k->images; i++) {
        SPOT_TRY(spot_check_stop(c));
        match_picture(m, k, i, o->iou);
    }
    return SPOT_OK;
}

void spot_matches_close(spot_matches *m)
{
    free(m->detection);
    free(m->first);
    free(m->match);
    free(m->below);
    free(m->reason);
    *m = (spot_matches){ 0 };
}

/* ---- names ---- */

spot_detection_options spot_detection_defaults(void)
{
    return (spot_detection_options){ .iou = 0.5, .score = 0.5, .rows = SPOT_ROWS_BOTH, .context = 0.1 };
}

const char *spot_reason_name(int reason, int detected)
{
    static const char *const name[SPOT_REASONS] = { "", "low score", "confusion", "localisation", "duplicate",
                                                    "confusion and localisation", "not found" };

    if (reason == SPOT_REASON_NOTHING && detected) return "background";
    return (unsigned)reason < SPOT_REASONS ? name[reason] : "";
}
