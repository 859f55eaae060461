/* background_look.c - see background_look.h. A few targets are looked at together: one call of the blend for the suite, one for
 * the derived sets, one call of each model. */
#include "background/background_look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/blender.h"
#include "background/derived_sets.h"

enum { IMAGES = 160, DONORS = 3 };     /* images of a batch, about; targets whose backgrounds a target may get */

/* An image of the batch: image 0 is the original of a target, 1 .. n its blends, n + 1 + k its derived set k. */
typedef struct { int target, image; } spot_seen;

typedef struct {
    const spot_background_look *l;
    spot_blender blender, cut;         /* of the suite, by pyramids; of the derived sets, by eq. 1, as Xiao et al. have it */
    int   together;
    spot_seen *seen;                   /* (images): those of the blender's `out` */
    spot_set_picture *made;
    int   *picture, *back;             /* numbers of needed squares */
    int   *slot;                       /* (suite's backgrounds): the blender's background; -1: not there */
    uint8_t *rest;                     /* (2 together, square): originals and no-fg, which are no blends */
    int   wanted_target, wanted_image; /* of one picture; -1: all */
} looker;

int spot_look_images(const spot_background_config *cfg)
{
    return 1 + cfg->suite.n + (cfg->measure.sets ? SPOT_BACKGROUND_SETS - 2 : 1);
}

int spot_look_together(const spot_background_config *cfg)
{
    const int n = IMAGES / spot_look_images(cfg);

    return n < 1 ? 1 : n;
}

/* ---- the batch ---- */

static bool is_wanted(const looker *k, int target, int image)
{
    return k->wanted_target < 0 || (k->wanted_target == target && k->wanted_image == image);
}

static bool has_set(const looker *k, int set) { return k->l->cfg->measure.sets || set == SPOT_SET_ONLY_FG; }

/* The squares of targets [from, to) and of their donors. */
static spot_status need_pictures(spot_ctx *c, looker *k, int from, int to)
{
    const spot_background_suite *s = k->l->suite;
    int n = 0;

    for (int t = from; t < to; t++) {
        k->picture[n++] = s->target_number[t];
        for (int set = SPOT_SET_MIXED_SAME; set <= SPOT_SET_MIXED_NEXT && k->l->cfg->measure.sets; set++) {
            const int donor = spot_set_donor(s, k->l->cfg->suite.seed, t, set);
            if (donor >= 0) k->picture[n++] = s->target_number[donor];
        }
    }
    SPOT_TRY(spot_squares_need(c, &k->l->in->picture, k->picture, n));
    for (int t = from; t < to; t++) {
        const int number = s->target_number[t];
        memcpy(spot_blender_target(&k->blender, t - from), spot_square_rgb(&k->l->in->picture, number), k->blender.bytes);
        memcpy(spot_blender_mask(&k->blender, t - from), spot_square_mask(&k->l->in->picture, number), k->blender.bytes / 3);
        memcpy(spot_blender_target(&k->cut, t - from), spot_blender_target(&k->blender, t - from), k->blender.bytes);
        memcpy(spot_blender_mask(&k->cut, t - from), spot_blender_mask(&k->blender, t - from), k->blender.bytes / 3);
    }
    return SPOT_OK;
}

/* The squares of their backgrounds, and pairs with them. Returns the pairs by *pairs, the backgrounds by *backs. */
static spot_status add_suite(spot_ctx *c, looker *k, int from, int to, int *backs, int *pairs)
{
    const spot_background_suite *s = k->l->suite;

    *backs = *pairs = 0;
    for (int t = from; t < to; t++)
        for (int j = 0; j < s->n; j++) {
            const int back = s->chosen[(size_t)t * (size_t)s->n + (size_t)j];
            if (!is_wanted(k, t, 1 + j)) continue;
            if (k->slot[back] < 0) k->slot[back] = *backs, k->back[(*backs)++] = back;
            k->blender.pair[*pairs] = (spot_blend_pair){ t - from, k->slot[back] };
            k->seen[(*pairs)++] = (spot_seen){ t, 1 + j };
        }
    int *number = k->picture;                  /* scratch from here on */
    for (int i = 0; i < *backs; i++) number[i] = s->background_number[k->back[i]], k->slot[k->back[i]] = -1;
    SPOT_TRY(spot_squares_need(c, &k->l->in->background, number, *backs));
    for (int i = 0; i < *backs; i++)
        memcpy(spot_blender_background(&k->blender, i), spot_square_rgb(&k->l->in->background, number[i]), k->blender.bytes);
    return SPOT_OK;
}

/* Backgrounds of the derived sets, and pairs with them, seen after the `pairs` of the suite; no-fg goes to `rest`. */
static spot_status add_sets(spot_ctx *c, looker *k, int from, int to, int pairs, int *cuts)
{
    const spot_background_suite *s = k->l->suite;
    const spot_square_cache *q = &k->l->in->picture;
    int n = 0;

    *cuts = 0;
    for (int t = from; t < to; t++)
        for (int set = SPOT_SET_ONLY_FG; set < SPOT_SET_SUITE; set++) {
            const int donor = spot_set_donor(s, k->l->cfg->suite.seed, t, set);
            const int of = s->target_number[donor >= 0 ? donor : t];
            const bool mixed = set >= SPOT_SET_MIXED_SAME && set <= SPOT_SET_MIXED_NEXT;
            if (!has_set(k, set) || (mixed && donor < 0) || !is_wanted(k, t, s->n + 1 + set)) continue;
            spot_set_picture p = { set, s->target_number[t], spot_square_rgb(q, of), spot_square_mask(q, of), NULL };
            if (spot_set_is_blend(set)) {
                p.out = spot_blender_background(&k->cut, *cuts);
                k->cut.pair[*cuts] = (spot_blend_pair){ t - from, *cuts };
                k->seen[pairs + (*cuts)++] = (spot_seen){ t, s->n + 1 + set };
            } else p.out = k->rest + (size_t)(2 * (t - from) + 1) * k->blender.bytes;
            k->made[n++] = p;
        }
    return spot_sets_make(c, k->made, n, k->blender.size, k->l->cfg->suite.seed);
}

/* Originals and no-fg follow the blends. */
static int add_rest(looker *k, int from, int to, int images)
{
    const int n = k->l->suite->n;

    for (int t = from; t < to; t++) {
        if (is_wanted(k, t, 0)) {
            memcpy(spot_blender_out(&k->blender, images), spot_blender_target(&k->blender, t - from), k->blender.bytes);
            k->seen[images++] = (spot_seen){ t, 0 };
        }
        if (!has_set(k, SPOT_SET_NO_FG) || !is_wanted(k, t, n + 1 + SPOT_SET_NO_FG)) continue;
        memcpy(spot_blender_out(&k->blender, images), k->rest + (size_t)(2 * (t - from) + 1) * k->blender.bytes,
               k->blender.bytes);
        k->seen[images++] = (spot_seen){ t, n + 1 + SPOT_SET_NO_FG };
    }
    return images;
}

/* All images of targets [from, to): *images of them in the blender's `out`. */
static spot_status make_images(spot_ctx *c, looker *k, int from, int to, int *images)
{
    int backs, pairs, cuts;

    SPOT_TRY(need_pictures(c, k, from, to));
    SPOT_TRY(add_suite(c, k, from, to, &backs, &pairs));
    SPOT_TRY(add_sets(c, k, from, to, pairs, &cuts));
    if (pairs) SPOT_TRY(spot_blender_blend(c, &k->blender, to - from, backs, pairs));
    if (cuts) SPOT_TRY(spot_blender_blend(c, &k->cut, to - from, cuts, cuts));
    if (cuts) memcpy(spot_blender_out(&k->blender, pairs), spot_blender_out(&k->cut, 0), (size_t)cuts * k->blender.bytes);
    *images = add_rest(k, from, to, pairs + cuts);
    return SPOT_OK;
}

/* ---- responses ---- */

/* Softmax of the greatest output, or of all outputs of the true class. */
static float confidence_of(const float *logit, int outputs, int best, const int *class_of, int cls, bool of_truth)
{
    double sum = 0, part = 0;

    for (int i = 0; i < outputs; i++) {
        const double e = exp((double)logit[i] - logit[best]);
        sum += e;
        if (of_truth ? (class_of ? class_of[i] : i) == cls : i == best) part += e;
    }
    return (float)(part / sum);
}

/* The `top` numbers of the greatest activations; of equal ones the first. Returns how many. */
static int find_top(int *out, int top, const float *row, int dim)
{
    int n = 0;

    for (int i = 0; i < dim; i++) {
        int at = n < top ? n++ : n;
        for (; at > 0 && row[out[at - 1]] < row[i]; at--)
            if (at < top) out[at] = out[at - 1];
        if (at < top) out[at] = i;
    }
    return n;
}

static void add_embedding(float *const signal[SPOT_BACKGROUND_MATRICES], size_t at, const float *row, int dim, const int *top,
                          int tops)
{
    double sum = 0, all = 0;
    float most = row[0];

    for (int i = 0; i < tops; i++) sum += row[top[i]];
    for (int i = 0; i < dim; i++) all += row[i], most = row[i] > most ? row[i] : most;
    signal[1][at] = (float)(sum / tops);
    signal[2][at] = most;
    signal[3][at] = (float)(all / dim);
}

static void add_channels(float *most, const float *row, int channels)
{
    for (int i = 0; i < channels; i++) most[i] = row[i] > most[i] ? row[i] : most[i];
}

/* The image of the batch that is set `set` of a target. */
static int find_seen(const looker *k, int images, int target, int image)
{
    for (int i = 0; i < images; i++)
        if (k->seen[i].target == target && k->seen[i].image == image) return i;
    return -1;
}

static void take_responses(const looker *k, spot_look_model *m, int images, int *top)
{
    const spot_background_suite *s = k->l->suite;
    const spot_background_measure *how = &k->l->cfg->measure;
    const spot_predictor_info *about = spot_predictor_about(m->predictor);
    const size_t all = (size_t)s->targets * (size_t)(s->n + 1);
    float *const signal[] = { m->signal, m->signal + all, m->signal + 2 * all, m->signal + 3 * all };
    int of = -1, tops = 0;

    for (int i = 0; i < images; i++) {
        const int t = k->seen[i].target, image = k->seen[i].image;
        const float *logit = m->logit + (size_t)i * (size_t)about->outputs;
        const size_t at = (size_t)t * (size_t)(s->n + 1) + (size_t)image;
        int best = 0;
        for (int o = 1; o < about->outputs; o++)
            if (logit[o] > logit[best]) best = o;
        const int answer = m->class_of ? m->class_of[best] : best;
        if (image > s->n) {
            m->derived[(size_t)t * SPOT_BACKGROUND_SETS + (size_t)(image - s->n - 1)] = answer;
            continue;
        }
        m->answer[at] = answer;
        if (!image) m->derived[(size_t)t * SPOT_BACKGROUND_SETS + SPOT_SET_ORIGINAL] = answer;
        signal[0][at] = confidence_of(logit, about->outputs, best, m->class_of, s->cls[t], how->confidence == 1);
        if (about->dim) {
            const int fg = of == t ? -1 : find_seen(k, images, t, s->n + 1 + SPOT_SET_ONLY_FG);
            if (of != t) tops = find_top(top, how->top, m->embedding + (size_t)fg * (size_t)about->dim, about->dim), of = t;
            add_embedding(signal, at, m->embedding + (size_t)i * (size_t)about->dim, about->dim, top, tops);
        }
        if (image && about->channels) add_channels(m->most, m->channel + (size_t)i * (size_t)about->channels, about->channels);
    }
}

/* ---- all ---- */

static spot_status open_looker(spot_ctx *c, looker *k, const spot_background_look *l, int together)
{
    const int images = together * spot_look_images(l->cfg), made = together * SPOT_BACKGROUND_SETS;
    const size_t backs = (size_t)together * (size_t)l->suite->n;

    *k = (looker){ .l = l, .together = together, .wanted_target = -1 };
    SPOT_TRY(spot_blender_open(c, &k->blender, l->cfg->data.size, l->cfg->measure.levels, together, (int)backs, images));
    SPOT_TRY(spot_blender_open(c, &k->cut, l->cfg->data.size, 1, together, made, made));
    k->seen = malloc((size_t)images * sizeof *k->seen);
    k->made = malloc((size_t)made * sizeof *k->made);
    k->picture = malloc((backs + (size_t)together * (1 + DONORS)) * sizeof *k->picture);
    k->back = malloc(backs * sizeof *k->back);
    k->slot = malloc(((size_t)l->suite->backgrounds + 1) * sizeof *k->slot);
    k->rest = malloc((size_t)2 * (size_t)together * k->blender.bytes);
    if (!k->seen || !k->made || !k->picture || !k->back || !k->slot || !k->rest)
        return spot_fail(c, SPOT_NOMEM, "no memory to blend %d pictures", images);
    for (int i = 0; i < l->suite->backgrounds; i++) k->slot[i] = -1;
    return SPOT_OK;
}

static void close_looker(looker *k)
{
    spot_blender_close(&k->cut);
    spot_blender_close(&k->blender);
    free(k->seen), free(k->made), free(k->picture), free(k->back), free(k->slot), free(k->rest);
}

size_t spot_look_memory(const spot_background_config *cfg, int threads)
{
    const int together = spot_look_together(cfg), images = together * spot_look_images(cfg);
    const int backs = together * cfg->suite.n, made = together * SPOT_BACKGROUND_SETS;

    return spot_blender_memory(cfg->data.size, cfg->measure.levels, together, backs, images, threads)
         + spot_blender_memory(cfg->data.size, 1, together, made, made, threads)
         + (size_t)6 * (size_t)together * (size_t)cfg->data.size * (size_t)cfg->data.size;
}

static spot_status take_scratch(spot_ctx *c, const spot_background_look *l, int images)
{
    for (int i = 0; i < l->models; i++) {
        spot_look_model *m = &l->model[i];
        const spot_predictor_info *about = spot_predictor_about(m->predictor);
        m->logit = malloc((size_t)images * (size_t)about->outputs * sizeof *m->logit);
        m->embedding = about->dim ? malloc((size_t)images * (size_t)about->dim * sizeof *m->embedding) : NULL;
        m->channel = about->channels ? malloc((size_t)images * (size_t)about->channels * sizeof *m->channel) : NULL;
        if (!m->logit || (about->dim && !m->embedding) || (about->channels && !m->channel))
            return spot_fail(c, SPOT_NOMEM, "no memory for the outputs of %s", m->name);
    }
    return SPOT_OK;
}

static bool all_failed(const spot_background_look *l)
{
    for (int i = 0; i < l->models; i++)
        if (!l->model[i].failed) return false;
    return true;
}

static spot_status look_at_batch(spot_ctx *c, looker *k, int from, int to, int *top)
{
    int images;

    SPOT_TRY(make_images(c, k, from, to, &images));
    for (int i = 0; i < k->l->models; i++) {
        spot_look_model *m = &k->l->model[i];
        const spot_prediction q = { k->blender.out.here, images, k->blender.size, m->logit, m->embedding, m->channel };
        SPOT_TRY(spot_check_stop(c));
        if (m->failed) continue;
        m->failed = spot_predict(c, m->predictor, &q);
        if (m->failed && m->failed != SPOT_INPUT) return m->failed;
        if (m->failed) snprintf(m->why, sizeof m->why, "%s", spot_message(c, m->failed)), spot_forget(c);
        else take_responses(k, m, images, top);
    }
    return SPOT_OK;
}

spot_status spot_look_all(spot_ctx *c, const spot_background_look *l)
{
    const int together = spot_look_together(l->cfg), targets = l->suite->targets;
    int *top = malloc((size_t)l->cfg->measure.top * sizeof *top);
    looker k;
    spot_status s = open_looker(c, &k, l, together);

    if (s == SPOT_OK && !top) s = spot_fail(c, SPOT_NOMEM, "no memory for %d neurons", l->cfg->measure.top);
    if (s == SPOT_OK) s = take_scratch(c, l, together * spot_look_images(l->cfg));
    for (int from = 0; from < targets && s == SPOT_OK && !all_failed(l); from += together) {
        const int to = from + together < targets ? from + together : targets;
        s = look_at_batch(c, &k, from, to, top);
        spot_tell(c, "look", -1, to, targets, l->models == 1 ? l->model[0].name : "");
    }
    for (int i = 0; i < l->models; i++) free(l->model[i].logit), free(l->model[i].embedding), free(l->model[i].channel);
    close_looker(&k);
    free(top);
    return s;
}

spot_status spot_look_picture(spot_ctx *c, const spot_background_look *l, uint8_t *rgb, int target, int image)
{
    looker k;
    int images = 0;
    spot_status s = open_looker(c, &k, l, 1);

    k.wanted_target = target, k.wanted_image = image;
    if (s == SPOT_OK) s = make_images(c, &k, target, target + 1, &images);
    if (s == SPOT_OK && images != 1)
        s = spot_fail(c, SPOT_INPUT, "%s has no such picture", l->suite->target[target]);
    if (s == SPOT_OK) memcpy(rgb, spot_blender_out(&k.blender, 0), k.blender.bytes);
    close_looker(&k);
    return s;
}
