/* suite_targets.c - which pictures are targets. */
#include <stdlib.h>
#include <string.h>

#include "background/suite/suite_work.h"
#include "base/order.h"
#include "spotter/rng.h"

enum { PIECE = 64, BRIGHT = 128 };

/* A prefix of one shuffled order for each class, so that a smaller part lies within a larger one. */
static spot_status draw_part(spot_ctx *c, spot_suite_work *w)
{
    const spot_background_config *cfg = w->in->cfg;
    uint32_t *order = malloc(((size_t)w->in->pictures + 1) * sizeof *order);
    int n = 0;

    if (!order) return spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", w->in->pictures);
    for (int from = 0, to; from < w->in->pictures; from = to) {
        for (to = from; to < w->in->pictures && w->in->cls[to] == w->in->cls[from];) to++;
        const int count = to - from, keep = (count * cfg->data.part + 99) / 100;
        spot_rng r = spot_rng_at(cfg->suite.seed, SPOT_RNG_BACKGROUND_PART, (uint32_t)w->in->cls[from], 0);
        spot_rng_shuffle(&r, order, (uint32_t)count);
        for (int i = 0; i < keep; i++) w->picture[n + i] = from + (int)order[i];
        spot_sort_ints(w->picture + n, (size_t)keep);
        n += keep;
    }
    w->s->targets = n;
    free(order);
    return SPOT_OK;
}

typedef struct { double share, border; uint8_t most; } look;

static look look_at(const uint8_t *mask, int size)
{
    look l = { 0 };

    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            const uint8_t v = mask[(size_t)y * (size_t)size + (size_t)x];
            l.share += v;
            l.most = v > l.most ? v : l.most;
            if (!x || !y || x == size - 1 || y == size - 1) l.border += v;
        }
    l.share /= 255.0 * size * size;
    l.border /= 255.0 * (4.0 * size - 4);
    return l;
}

/* Keeps the target unless its mask is too small or too large. */
static void judge_target(spot_suite_work *w, int *kept, int picture, const look *l)
{
    const spot_background_data *d = &w->in->cfg->data;

    if (l->most < BRIGHT) w->s->empty++;
    else if (l->share < d->least) w->s->small++;
    else if (l->share > d->most) w->s->large++;
    else w->picture[(*kept)++] = picture;
    if (l->most >= BRIGHT && l->border > 0.5) w->s->inverted++;
}

/* The brightest pixel of all masks; *labelled: masks that are labels; *faint: others whose brightest pixel is neither black nor
 * white, so that no object is whole. */
static int find_brightest(const spot_suite_work *w, int *labelled, int *faint)
{
    const spot_square_cache *q = &w->in->picture;
    int most = 0;

    *labelled = *faint = 0;
    for (int i = 0; i < w->in->pictures; i++) {
        most = q->brightest[i] > most ? q->brightest[i] : most;
        *labelled += q->labelled[i];
        *faint += q->brightest[i] && q->brightest[i] < 255;
    }
    return most;
}

static void log_masks(spot_ctx *c, int labelled, int faint, int looked)
{
    if (labelled)
        spot_log(c, SPOT_LOG_INFO, "%d of %d masks are read by the indices of their palettes, as in Pascal VOC: 0 is the "
                 "background, 255 void, the others the object", labelled, looked);
    if (faint)
        spot_log(c, SPOT_LOG_WARN, "%d of %d masks have no white pixel; where a mask is grey, the object is seen in part",
                 faint, looked);
}

static void log_left_out(spot_ctx *c, const spot_suite_work *w, int looked)
{
    const spot_background_suite *s = w->s;
    const spot_background_data *d = &w->in->cfg->data;

    if (s->empty + s->small + s->large)
        spot_log(c, SPOT_LOG_WARN, "%d of %d pictures are no targets; empty masks: %d, objects that cover less than %g %% of "
                 "the square: %d, more than %g %%: %d", s->empty + s->small + s->large, looked, s->empty, 100 * d->least,
                 s->small, 100 * d->most, s->large);
    if (s->inverted)
        spot_log(c, SPOT_LOG_WARN, "%d of %d masks cover most of the border of their picture; are they inverted? The object "
                 "is bright in a mask", s->inverted, looked);
}

spot_status spot_suite_targets(spot_ctx *c, spot_suite_work *w)
{
    look l[PIECE];
    int kept = 0, labelled, faint;

    w->picture = malloc(((size_t)w->in->pictures + 1) * sizeof *w->picture);
    if (!w->picture) return spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", w->in->pictures);
    SPOT_TRY(draw_part(c, w));
    const int looked = w->s->targets;
    for (int at = 0, n; at < looked; at += n) {
        int item[PIECE];
        n = looked - at < PIECE ? looked - at : PIECE;
        memcpy(item, w->picture + at, (size_t)n * sizeof *item);
        SPOT_TRY(spot_squares_need(c, &w->in->picture, item, n));
#pragma omp parallel for num_threads(c->threads)
        for (int i = 0; i < n; i++) l[i] = look_at(spot_square_mask(&w->in->picture, item[i]), w->in->cfg->data.size);
        for (int i = 0; i < n; i++) judge_target(w, &kept, item[i], &l[i]);
        spot_tell(c, "masks", -1, at + n, looked, "");
    }
    const int most = find_brightest(w, &labelled, &faint);
    if (most && most < 255)
        return spot_fail(c, SPOT_INPUT, "{masks.dark} the brightest pixel of the masks of all %d pictures is %d of 255, and an "
                         "object is 255; multiply masks of 0 and 1 by 255", looked, most);
    log_masks(c, labelled, faint, looked);
    log_left_out(c, w, looked);
    w->s->targets = kept;
    if (kept) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{suite.no_target} none of %d pictures is a target; empty masks: %d, objects that cover "
                     "too little of the square (data.least): %d, too much (data.most): %d",
                     looked, w->s->empty, w->s->small, w->s->large);
}
