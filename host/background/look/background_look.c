/* background_look.c - see background_look.h. A few targets are looked at together: one call of the blend for the suite and the
 * derived sets, one call of each model. The pictures are made where the models run: on a device nothing but the files' squares
 * goes there, and nothing but responses comes back, unless a program or a function wants to see them. */
#include "background/look/background_look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_config.h"
#include "background/suite/blender.h"
#include "background/suite/derived_sets.h"
#include "background/suite/squares_ahead.h"
#include "base/greatest.h"
#include "core/device.h"

/* Images of a batch, about: on the CPU whole pieces of ResNet-18's net, if there are 32 backgrounds; on a device, fewer where
 * they are larger than usual. Targets whose backgrounds a target may get. */
enum { IMAGES = 240, DEVICE_IMAGES = 1280, USUAL_SIDE = 224, DONORS = 3, MOST_TOP = 1000 };

enum { SUITE, DERIVED };               /* parts of the blender: by pyramids; by eq. 1, as Xiao et al. have it */

/* An image of the batch: image 0 is the original of a target, 1 .. n its blends, n + 1 + k its derived set k. */
typedef struct { int target, image; } spot_seen;

typedef struct {
    const spot_background_look *l;
    spot_blender blender;
    int   together;
    spot_seen *seen;                   /* (images): those of the blender's `out` */
    spot_set_picture *made;            /* (images) */
    int   *picture, *back;             /* numbers of needed squares: of targets and donors; of backgrounds */
    int   *slot;                       /* (suite's backgrounds): the blender's background; -1: not there */
    spot_arena host, device, scratch;
    spot_twin donor;                   /* on a device: (together, DONORS, square with its mask) */
    spot_squares_ahead ahead;
    int   wanted_target, wanted_image; /* of one picture; -1: all */
} looker;

int spot_look_images(const spot_background_config *cfg)
{
    return 1 + cfg->suite.n + (cfg->measure.sets ? SPOT_BACKGROUND_SETS - 2 : 1);
}

int spot_look_together(const spot_ctx *c, const spot_background_config *cfg)
{
    const int size = cfg->data.size, usual = USUAL_SIDE * USUAL_SIDE;
    int images = c->device ? DEVICE_IMAGES : IMAGES;

    if (c->device && size > USUAL_SIDE) images = (int)((long long)images * usual / (size * size));
    return images / spot_look_images(cfg) > 1 ? images / spot_look_images(cfg) : 1;
}

/* ---- the batch ---- */

static bool is_wanted(const looker *k, int target, int image)
{
    return k->wanted_target < 0 || (k->wanted_target == target && k->wanted_image == image);
}

static bool has_set(const looker *k, int set) { return k->l->cfg->measure.sets || set == SPOT_SET_ONLY_FG; }

/* -1: the set has no donor. */
static int donor_of(const looker *k, int t, int set) { return spot_set_donor(k->l->suite, k->l->cfg->suite.seed, t, set); }

static bool is_mixed(int set) { return set >= SPOT_SET_MIXED_SAME && set <= SPOT_SET_MIXED_NEXT; }

/* Where a donor of target `from` + i lies in an array of them. */
static size_t donor_at(const looker *k, int i, int set)
{
    return ((size_t)i * DONORS + (size_t)(set - SPOT_SET_MIXED_SAME)) * (k->blender.bytes / 3 * 4);
}

/* Lays the squares of target t, in place i, side by side with others'. */
static void lay_target(const looker *k, int t, int i)
{
    const spot_background_suite *s = k->l->suite;
    const spot_square_cache *q = &k->l->in->picture;
    const size_t bytes = k->blender.bytes;

    memcpy(spot_blender_here(&k->blender.target, bytes, i), spot_square_rgb(q, s->target_number[t]), bytes);
    memcpy(spot_blender_here(&k->blender.mask, bytes / 3, i), spot_square_mask(q, s->target_number[t]), bytes / 3);
    for (int set = SPOT_SET_MIXED_SAME; set <= SPOT_SET_MIXED_NEXT && k->donor.here && k->l->cfg->measure.sets; set++) {
        const int donor = donor_of(k, t, set);
        if (donor < 0) continue;
        memcpy((uint8_t *)k->donor.here + donor_at(k, i, set), spot_square_rgb(q, s->target_number[donor]), bytes / 3 * 4);
    }
}

/* The numbers of targets [from, to) and of their donors. Returns how many. */
static int list_pictures(const looker *k, int *number, int from, int to)
{
    const spot_background_suite *s = k->l->suite;
    int n = 0;

    for (int t = from; t < to; t++) {
        number[n++] = s->target_number[t];
        for (int set = SPOT_SET_MIXED_SAME; set <= SPOT_SET_MIXED_NEXT && k->l->cfg->measure.sets; set++)
            if (donor_of(k, t, set) >= 0) number[n++] = s->target_number[donor_of(k, t, set)];
    }
    return n;
}

/* Their squares. */
static spot_status need_pictures(spot_ctx *c, looker *k, int from, int to)
{
    SPOT_TRY(spot_squares_need(c, &k->l->in->picture, k->picture, list_pictures(k, k->picture, from, to)));
#pragma omp parallel for num_threads(c->threads)
    for (int t = from; t < to; t++) lay_target(k, t, t - from);
    return SPOT_OK;
}

/* While the device looks at a batch, threads decode what targets [from, to) need; the CPU has no thread to spare. */
static void start_ahead(spot_ctx *c, looker *k, int from, int to)
{
    const spot_background_suite *s = k->l->suite;
    const size_t first = (size_t)from * (size_t)s->n, end = (size_t)to * (size_t)s->n;
    spot_square_cache *const cache[] = { &k->l->in->picture, &k->l->in->background };
    const int *const item[] = { k->picture, k->back };

    if (!c->device || from >= to) return;
    const int n[] = { list_pictures(k, k->picture, from, to), (int)(end - first) };
    for (size_t i = first; i < end; i++) k->back[i - first] = s->background_number[s->chosen[i]];
    spot_squares_ahead_start(c, &k->ahead, cache, item, n);
}

/* The squares of their backgrounds, and pairs with them. */
static spot_status add_suite(spot_ctx *c, looker *k, int from, int to, spot_blender_count *count)
{
    const spot_background_suite *s = k->l->suite;
    spot_blender_part *part = &k->blender.part[SUITE];
    int backs = 0, pairs = 0;

    for (int t = from; t < to; t++)
        for (int j = 0; j < s->n; j++) {
            const int back = s->chosen[(size_t)t * (size_t)s->n + (size_t)j];
            if (!is_wanted(k, t, 1 + j)) continue;
            if (k->slot[back] < 0) k->slot[back] = backs, k->back[backs++] = s->background_number[back];
            part->pair[pairs] = (spot_blend_pair){ t - from, k->slot[back] };
            k->seen[pairs++] = (spot_seen){ t, 1 + j };
        }
    for (int i = 0; i < pairs; i++) {
        const spot_seen *of = &k->seen[i];
        k->slot[s->chosen[(size_t)of->target * (size_t)s->n + (size_t)(of->image - 1)]] = -1;
    }
    SPOT_TRY(spot_squares_need(c, &k->l->in->background, k->back, backs));
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < backs; i++)
        memcpy(spot_blender_here(&part->background, k->blender.bytes, i), spot_square_rgb(&k->l->in->background, k->back[i]),
               k->blender.bytes);
    *count = (spot_blender_count){ backs, pairs };
    return SPOT_OK;
}

/* A picture of a set, from the target's square or its donor's. */
static spot_set_picture picture_of(const looker *k, int from, int t, int set, int donor)
{
    const spot_blender *b = &k->blender;
    const spot_square_cache *q = &k->l->in->picture;
    const int number = k->l->suite->target_number[t];
    spot_set_picture p = { .set = set, .number = number };

    if (donor < 0) {
        p.rgb = spot_blender_on_device(&b->target, b->bytes, t - from);
        p.mask = spot_blender_on_device(&b->mask, b->bytes / 3, t - from);
    } else if (k->donor.on_device) {
        p.rgb = (uint8_t *)k->donor.on_device + donor_at(k, t - from, set), p.mask = p.rgb + b->bytes;
    } else {
        p.rgb = spot_square_rgb(q, k->l->suite->target_number[donor]);
        p.mask = spot_square_mask(q, k->l->suite->target_number[donor]);
    }
    return p;
}

/* Backgrounds of the derived sets, and pairs with them; the blends are seen after `seen` others. */
static int add_sets(looker *k, int from, int to, int seen)
{
    spot_blender_part *part = &k->blender.part[DERIVED];
    int n = 0;

    for (int t = from; t < to; t++)
        for (int set = SPOT_SET_ONLY_FG; set < SPOT_SET_SUITE; set++) {
            const int donor = donor_of(k, t, set), image = k->l->suite->n + 1 + set;
            if (!has_set(k, set) || !spot_set_is_blend(set) || (is_mixed(set) && donor < 0)) continue;
            if (!is_wanted(k, t, image)) continue;
            k->made[n] = picture_of(k, from, t, set, donor);
            k->made[n].out = spot_blender_on_device(&part->background, k->blender.bytes, n);
            part->pair[n] = (spot_blend_pair){ t - from, n };
            k->seen[seen + n++] = (spot_seen){ t, image };
        }
    return n;
}

/* Originals and pictures without the object follow the `images` blends. made: pictures of sets so far. Returns the images. */
static int add_rest(looker *k, int from, int to, int images, int *made)
{
    for (int t = from; t < to; t++) {
        if (is_wanted(k, t, 0)) k->seen[images++] = (spot_seen){ t, 0 };
        for (int set = 0; set < SPOT_SET_SUITE; set++) {
            const int image = k->l->suite->n + 1 + set;
            if (!spot_set_is_without_object(set) || !has_set(k, set) || !is_wanted(k, t, image)) continue;
            k->made[*made] = picture_of(k, from, t, set, -1);
            k->made[(*made)++].out = spot_blender_on_device(&k->blender.out, k->blender.bytes, images);
            k->seen[images++] = (spot_seen){ t, image };
        }
    }
    return images;
}

static spot_status push_donors(spot_ctx *c, const looker *k, int targets)
{
    const spot_twin first = { k->donor.here, k->donor.on_device, donor_at(k, targets, SPOT_SET_MIXED_SAME) };

    return spot_twin_push(c, &first);
}

/* Behind the blends. */
static spot_status copy_originals(spot_ctx *c, const looker *k, int from, int blends, int images)
{
    const spot_blender *b = &k->blender;

    for (int i = blends; i < images; i++)
        if (!k->seen[i].image) SPOT_TRY(spot_device_copy(c, spot_blender_on_device(&b->out, b->bytes, i),
                                                         spot_blender_on_device(&b->target, b->bytes, k->seen[i].target - from),
                                                         b->bytes));
    return SPOT_OK;
}

/* All images of targets [from, to): *images of them in the blender's `out`, on c's device. */
static spot_status make_images(spot_ctx *c, looker *k, int from, int to, int *images)
{
    spot_blender_count count[SPOT_BLENDER_PARTS];

    spot_squares_ahead_join(&k->ahead);
    SPOT_TRY(need_pictures(c, k, from, to));
    SPOT_TRY(add_suite(c, k, from, to, &count[SUITE]));
    const int pairs = count[SUITE].pairs, cuts = add_sets(k, from, to, pairs), blends = pairs + cuts;
    int made = cuts;
    count[DERIVED] = (spot_blender_count){ cuts, cuts };
    *images = add_rest(k, from, to, blends, &made);
    SPOT_TRY(spot_blender_push(c, &k->blender, to - from, count[SUITE].backgrounds));
    if (k->donor.on_device && k->l->cfg->measure.sets) SPOT_TRY(push_donors(c, k, to - from));
    SPOT_TRY(spot_sets_make(c, &k->scratch, k->made, made, k->blender.size, k->l->cfg->suite.seed));
    SPOT_TRY(spot_blender_blend(c, &k->blender, to - from, count));
    return copy_originals(c, k, from, blends, *images);
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

/* Threads own groups of channels. */
static void add_channels(const spot_ctx *c, const looker *k, const spot_look_model *m, int images, int channels)
{
    enum { GROUP = 64 };

#pragma omp parallel for num_threads(c->threads)
    for (int from = 0; from < channels; from += GROUP) {
        const int to = from + GROUP < channels ? from + GROUP : channels;
        for (int i = 0; i < images; i++) {
            const float *row = m->channel + (size_t)i * (size_t)channels;
            if (!k->seen[i].image || k->seen[i].image > k->l->suite->n) continue;
            for (int n = from; n < to; n++) m->most[n] = row[n] > m->most[n] ? row[n] : m->most[n];
        }
    }
}

/* The place in the batch of an image of a target; -1: it is not there. */
static int find_seen(const looker *k, int images, int target, int image)
{
    for (int i = 0; i < images; i++)
        if (k->seen[i].target == target && k->seen[i].image == image) return i;
    return -1;
}

/* Image i of a target whose top neurons are known. */
static void take_response(const looker *k, const spot_look_model *m, int i, const int *top, int tops)
{
    const spot_background_suite *s = k->l->suite;
    const spot_predictor_info *about = spot_predictor_about(m->predictor);
    const size_t all = (size_t)s->targets * (size_t)(s->n + 1);
    float *const signal[] = { m->signal, m->signal + all, m->signal + 2 * all, m->signal + 3 * all };
    const int t = k->seen[i].target, image = k->seen[i].image, outputs = about->outputs;
    const float *logit = m->logit + (size_t)i * (size_t)outputs;
    const size_t at = (size_t)t * (size_t)(s->n + 1) + (size_t)image;
    const int best = spot_first_greatest(logit, outputs);
    const int answer = m->class_of ? m->class_of[best] : best;
    if (image > s->n) {
        m->derived[(size_t)t * SPOT_BACKGROUND_SETS + (size_t)(image - s->n - 1)] = answer;
        return;
    }
    m->answer[at] = answer;
    if (!image) m->derived[(size_t)t * SPOT_BACKGROUND_SETS + SPOT_SET_ORIGINAL] = answer;
    signal[0][at] = confidence_of(logit, outputs, best, m->class_of, s->cls[t], k->l->cfg->measure.confidence == 1);
    if (about->dim) add_embedding(signal, at, m->embedding + (size_t)i * (size_t)about->dim, about->dim, top, tops);
}

/* A thread owns a target. */
static void take_responses(const spot_ctx *c, const looker *k, const spot_look_model *m, int from, int to, int images)
{
    const spot_predictor_info *about = spot_predictor_about(m->predictor);
    const int only_fg = k->l->suite->n + 1 + SPOT_SET_ONLY_FG;

#pragma omp parallel for num_threads(c->threads)
    for (int t = from; t < to; t++) {
        int top[MOST_TOP], tops = 0;
        const int own = about->dim ? find_seen(k, images, t, only_fg) : -1;
        if (own >= 0)
            tops = find_top(top, k->l->cfg->measure.top, m->embedding + (size_t)own * (size_t)about->dim, about->dim);
        for (int i = 0; i < images; i++)
            if (k->seen[i].target == t) take_response(k, m, i, top, tops);
    }
    if (about->channels) add_channels(c, k, m, images, about->channels);
}

/* ---- all ---- */

static spot_blender_room room_of(const spot_background_config *cfg, int together)
{
    const int made = together * SPOT_BACKGROUND_SETS, pairs = together * cfg->suite.n;

    return (spot_blender_room){ cfg->data.size, together, together * spot_look_images(cfg), 2,
                                { [SUITE] = { .levels = spot_background_levels(cfg), .backgrounds = pairs, .pairs = pairs },
                                  [DERIVED] = { .levels = 1, .backgrounds = made, .pairs = made } } };
}

static spot_status take_donors(spot_ctx *c, looker *k, size_t bytes)
{
    SPOT_TRY(spot_arena_open_pinned(c, &k->host, bytes));
    SPOT_TRY(spot_arena_open_device(c, &k->device, bytes));
    return spot_twin_take(c, &k->host, &k->device, &k->donor, bytes);
}

static spot_status open_looker(spot_ctx *c, looker *k, const spot_background_look *l, int together)
{
    const size_t images = (size_t)together * (size_t)spot_look_images(l->cfg), backs = (size_t)together * (size_t)l->suite->n;
    const spot_blender_room room = room_of(l->cfg, together);

    *k = (looker){ .l = l, .together = together, .wanted_target = -1 };
    SPOT_TRY(spot_blender_open(c, &k->blender, &room));
    SPOT_TRY(spot_arena_open_device(c, &k->scratch, spot_sets_scratch((int)images, room.size, c->device ? 0 : c->threads)));
    if (c->device) SPOT_TRY(take_donors(c, k, donor_at(k, together, SPOT_SET_MIXED_SAME)));
    k->seen = malloc(images * sizeof *k->seen);
    k->made = malloc(images * sizeof *k->made);
    k->picture = malloc((size_t)together * (1 + DONORS) * sizeof *k->picture);
    k->back = malloc(backs * sizeof *k->back);
    k->slot = malloc(((size_t)l->suite->backgrounds + 1) * sizeof *k->slot);
    if (!k->seen || !k->made || !k->picture || !k->back || !k->slot)
        return spot_fail(c, SPOT_NOMEM, "no memory to blend %zu pictures", images);
    for (int i = 0; i < l->suite->backgrounds; i++) k->slot[i] = -1;
    return SPOT_OK;
}

static void close_looker(looker *k)
{
    spot_squares_ahead_join(&k->ahead);
    spot_arena_close(&k->scratch);
    spot_arena_close(&k->device), spot_arena_close(&k->host);
    spot_blender_close(&k->blender);
    free(k->seen), free(k->made), free(k->picture), free(k->back), free(k->slot);
}

size_t spot_look_memory(const spot_ctx *c, const spot_background_config *cfg)
{
    const int together = spot_look_together(c, cfg), threads = c->device ? 0 : c->threads;
    const spot_blender_room room = room_of(cfg, together);

    return spot_blender_memory(&room, threads) + (threads ? spot_sets_scratch(room.pictures, room.size, threads) : 0);
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

/* Spotter's own networks look at pictures on the device, all others on the host. */
static bool is_seen_on_device(const spot_look_model *m)
{
    return spot_predictor_about(m->predictor)->kind == SPOT_PREDICTOR_WEIGHTS;
}

static spot_status look_at_batch(spot_ctx *c, looker *k, int from, int to)
{
    const spot_background_look *l = k->l;
    bool fetched = false;
    int images;

    SPOT_TRY(make_images(c, k, from, to, &images));
    start_ahead(c, k, to, to + k->together < l->suite->targets ? to + k->together : l->suite->targets);
    for (int i = 0; i < l->models; i++) {
        spot_look_model *m = &l->model[i];
        const spot_twin *out = &k->blender.out;
        const spot_prediction q = { is_seen_on_device(m) ? out->on_device : out->here, images, k->blender.size, m->logit,
                                    m->embedding, m->channel };
        SPOT_TRY(spot_check_stop(c));
        if (m->failed) continue;
        if (!is_seen_on_device(m) && !fetched) SPOT_TRY(spot_blender_pull(c, &k->blender, images));
        fetched |= !is_seen_on_device(m);
        m->failed = spot_predict(c, m->predictor, &q);
        if (m->failed && m->failed != SPOT_INPUT) return m->failed;
        if (m->failed) snprintf(m->why, sizeof m->why, "%s", spot_take_message(c, m->failed));
        else take_responses(c, k, m, from, to, images);
    }
    return SPOT_OK;
}

spot_status spot_look_all(spot_ctx *c, const spot_background_look *l)
{
    const int targets = l->suite->targets, most = spot_look_together(c, l->cfg), together = most < targets ? most : targets;
    looker k;
    spot_status s = open_looker(c, &k, l, together);

    if (s == SPOT_OK) s = take_scratch(c, l, together * spot_look_images(l->cfg));
    for (int from = 0; from < targets && s == SPOT_OK && !all_failed(l); from += together) {
        const int to = from + together < targets ? from + together : targets;
        s = look_at_batch(c, &k, from, to);
        spot_tell(c, "look", -1, to, targets, l->models == 1 ? l->model[0].name : "");
    }
    for (int i = 0; i < l->models; i++) free(l->model[i].logit), free(l->model[i].embedding), free(l->model[i].channel);
    close_looker(&k);
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
        s = spot_fail(c, SPOT_INPUT, "{pictures.unknown} %s has no such picture", l->suite->target[target]);
    if (s == SPOT_OK) s = spot_device_copy(c, rgb, k.blender.out.on_device, k.blender.bytes);
    close_looker(&k);
    return s;
}
