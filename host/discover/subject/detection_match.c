/* detection_match.c - see detection_match.h. */
#include "discover/subject/detection_match.h"

#include <math.h>
#include <stdlib.h>

#include "discover/subject/detection_ids.h"
#include "discover/subject/detection_iou.h"

enum { MOST = 20000 };                     /* objects or detections of one picture: time grows with their product */

static const double LOOSE = 0.1;           /* least IoU of a detection in the wrong place, as TIDE has it */

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
    int *image = malloc((2 * (size_t)r->n + 1) * sizeof *image), *category = image + r->n;
    spot_status s = image ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the ids of %d detections", r->n);

    if (!s) s = spot_detection_ids(c, image, category, k, r, o, names);
    for (int i = 0; !s && i < r->n; i++) {
        const spot_coco_result *d = &r->result[i];
        if (category[i] < 0) continue;
        m->detection[m->n++] = (spot_detection){ .image = image[i], .category = category[i], .number = i, .match = -1,
            .exists = d->score >= (float)o->score, .x = d->x, .y = d->y, .w = d->w, .h = d->h, .score = d->score };
    }
    free(image);
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

static double iou_of(const spot_coco_box *box, const spot_detection *d)
{
    return spot_box_iou(box, (const float[4]){ d->x, d->y, d->w, d->h });
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
            const double is = iou_of(box, d);
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
        *most = fmax(*most, iou_of(&k->box[b], d));
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
        const double is = iou_of(box, d);
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
