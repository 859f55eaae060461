/* suite_choose.c - N backgrounds for each target.
 *
 * A target has N places. Each belongs to a subspace, in turn; subspaces that have no more candidates are passed over, and the
 * last subspace, which has all backgrounds, fills what is left. In a round each place without a background takes the next
 * candidate of its subspace that no place of the target had before. The first one that is real stays. After `tries` rounds the
 * best candidate that the place had stays, and is marked. Without a test of realness the first candidate stays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background/suite/suite_work.h"

enum { TOGETHER = 32, PAIRS = 64 };        /* targets that are chosen for together; most blends of a batch */

typedef struct { int space, candidate, best, best_space; float distance, best_distance; bool filled, unreal; } place;

typedef struct {
    spot_suite_spaces spaces;
    int     *at;               /* (spaces): the next candidate */
    uint8_t *had;              /* (backgrounds) */
    place   *place;            /* (n) */
} chooser;

/* A blend that is to be measured. */
typedef struct { int target, back; float *distance; } trial;

/* ---- distances of blends ---- */

typedef struct {
    spot_suite_work *w;
    float *row;                /* (PAIRS + originals, dim) */
    uint8_t *rgb;              /* (PAIRS, square) originals */
} meter;

/* Lays the squares of n trials in the blender; original[i]: the blender's target of trial i. Trials are sorted by target. */
static spot_status lay_squares(spot_ctx *c, meter *m, const trial *t, int n, int *targets)
{
    spot_suite_work *w = m->w;
    spot_blender *b = &w->blender;
    int picture[PAIRS], back[PAIRS], backs = 0;

    *targets = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        if (!i || t[i].target != t[i - 1].target) picture[(*targets)++] = w->picture[t[i].target];
        while (k < backs && back[k] != t[i].back) k++;
        if (k == backs) back[backs++] = t[i].back;
        b->part[0].pair[i] = (spot_blend_pair){ *targets - 1, k };
    }
    SPOT_TRY(spot_squares_need(c, &w->in->picture, picture, *targets));
    for (int i = 0; i < *targets; i++) {
        memcpy(spot_blender_here(&b->target, b->bytes, i), spot_square_rgb(&w->in->picture, picture[i]), b->bytes);
        memcpy(spot_blender_here(&b->mask, b->bytes / 3, i), spot_square_mask(&w->in->picture, picture[i]), b->bytes / 3);
    }
    SPOT_TRY(spot_squares_need(c, &w->in->background, back, backs));
    for (int k = 0; k < backs; k++)
        memcpy(spot_blender_here(&b->part[0].background, b->bytes, k), spot_square_rgb(&w->in->background, back[k]), b->bytes);
    SPOT_TRY(spot_blender_push(c, b, *targets, backs));
    SPOT_TRY(spot_blender_blend(c, b, *targets, &(spot_blender_count){ backs, n }));
    return spot_blender_pull(c, b, n);
}

static spot_status measure(spot_ctx *c, meter *m, const trial *t, int n)
{
    const size_t dim = (size_t)m->w->encoders->dim;
    spot_blender *b = &m->w->blender;

    for (int from = 0, k; from < n; from += k) {
        int targets;
        k = n - from < PAIRS ? n - from : PAIRS;
        SPOT_TRY(lay_squares(c, m, t + from, k, &targets));
        SPOT_TRY(spot_suite_encode(c, m->w->encoders, m->row, b->out.here, k));
        SPOT_TRY(spot_suite_encode(c, m->w->encoders, m->row + PAIRS * dim, b->target.here, targets));
        for (int i = 0; i < k; i++)
            *t[from + i].distance = spot_suite_distance(m->w->encoders, m->row + (size_t)i * dim,
                                                        m->row + (size_t)(PAIRS + b->part[0].pair[i].target) * dim);
    }
    return SPOT_OK;
}

/* ---- places ---- */

static spot_status open_chooser(spot_ctx *c, chooser *o, const spot_suite_drawer *d, const spot_suite_work *w, int target)
{
    const int n = w->in->cfg->suite.n;

    SPOT_TRY(spot_suite_spaces_of(c, &o->spaces, d, target));
    o->at = malloc(((size_t)o->spaces.spaces + 1) * sizeof *o->at);
    o->had = calloc((size_t)w->in->backgrounds + 1, 1);
    o->place = calloc((size_t)n, sizeof *o->place);
    if (!o->at || !o->had || !o->place) return spot_fail(c, SPOT_NOMEM, "no memory for the backgrounds of a target");
    memcpy(o->at, o->spaces.first, (size_t)o->spaces.spaces * sizeof *o->at);
    const int last = o->spaces.spaces - 1;
    if (o->spaces.first[last + 1] - o->spaces.first[last] < n)
        return spot_fail(c, SPOT_INPUT, "{suite.few_backgrounds} %s: %d backgrounds are left of %d that it needs (suite.n), "
                         "since %d of them are the picture itself; add backgrounds or take a smaller suite.n",
                         w->in->path[w->picture[target]], o->spaces.first[last + 1] - o->spaces.first[last], n, o->spaces.own);
    /* place j belongs to the subspaces in turn, as long as they have candidates */
    for (int j = 0, turn = 0; j < n; turn++)
        for (int k = 0, found = 0; k <= last && j < n; k++) {
            const bool has = k == last ? !found : o->spaces.first[k + 1] - o->spaces.first[k] > turn;
            if (!has) continue;
            o->place[j++] = (place){ .space = k, .candidate = -1, .best = -1 };
            found = 1;
        }
    return SPOT_OK;
}

static void close_chooser(chooser *o)
{
    spot_suite_spaces_free(&o->spaces);
    free(o->at), free(o->had), free(o->place);
    memset(o, 0, sizeof *o);
}

/* The next candidate of the place's subspace, or of the last one; -1: every background was had. */
static int next_candidate(chooser *o, place *p)
{
    for (;; p->space = o->spaces.spaces - 1) {
        while (o->at[p->space] < o->spaces.first[p->space + 1]) {
            const int back = o->spaces.order[o->at[p->space]++];
            if (!o->had[back]) return o->had[back] = 1, back;
        }
        if (p->space == o->spaces.spaces - 1) return -1;
    }
}

/* Proposals of one round. Returns their number. */
static int propose(chooser *o, int target, int n, trial *t)
{
    int count = 0;

    for (int j = 0; j < n; j++) {
        place *p = &o->place[j];
        if (p->filled) continue;
        p->candidate = next_candidate(o, p);
        if (p->candidate >= 0) t[count++] = (trial){ target, p->candidate, &p->distance };
    }
    return count;
}

static void accept(place *p, double realness)
{
    if (p->filled || p->candidate < 0) return;
    p->filled = 1 - p->distance >= realness;
    if (p->best >= 0 && !p->filled && !(p->distance < p->best_distance)) return;
    p->best = p->candidate, p->best_space = p->space, p->best_distance = p->distance;
}

/* A place that never had a candidate of its own takes one that other places had and did not keep. */
static void borrow(chooser *o, int n, int backgrounds)
{
    for (int j = 0; j < n; j++) {
        place *p = &o->place[j];
        for (int back = 0; back < backgrounds && p->best < 0; back++) {
            bool kept = !o->had[back];
            for (int k = 0; k < n && !kept; k++) kept = o->place[k].best == back;
            if (!kept) p->best = back, p->best_space = o->spaces.spaces - 1, p->best_distance = NAN;
        }
    }
}

/* ---- together ---- */

static void store_places(spot_suite_work *w, const chooser *o, int target, bool tested)
{
    spot_background_suite *s = w->s;

    for (int j = 0; j < s->n; j++) {
        const size_t at = (size_t)target * (size_t)s->n + (size_t)j;
        const place *p = &o->place[j];
        s->chosen[at] = p->best;
        s->distance[at] = p->best_distance;
        s->unreal[at] = tested && !p->filled;
        s->keyword[at] = o->spaces.word[p->best_space];
        s->level[at] = o->spaces.level[p->best_space];
    }
    s->own += o->spaces.own;
}

/* Measures what has no distance yet: without a test everything. */
static spot_status measure_rest(spot_ctx *c, meter *m, trial *t, int target, int count)
{
    spot_background_suite *s = m->w->s;
    int n = 0;

    for (int i = 0; i < count * s->n; i++) {
        const size_t at = (size_t)target * (size_t)s->n + (size_t)i;
        if (isnan(s->distance[at])) t[n++] = (trial){ target + i / s->n, s->chosen[at], &s->distance[at] };
    }
    return measure(c, m, t, n);
}

/* Targets [from, from + count). */
static spot_status choose_together(spot_ctx *c, meter *m, chooser *o, trial *t, const spot_suite_drawer *d, int from, int count)
{
    const spot_background_choice *k = &m->w->in->cfg->suite;
    const bool tested = k->realness > 0;
    spot_status s = SPOT_OK;

    for (int i = 0; i < count && s == SPOT_OK; i++) s = open_chooser(c, &o[i], d, m->w, from + i);
    for (int round = 0; round < (tested ? k->tries : 1) && s == SPOT_OK; round++) {
        int n = 0;
        for (int i = 0; i < count; i++) n += propose(&o[i], from + i, k->n, t + n);
        if (!n) break;
        for (int i = 0; i < n && !tested; i++) *t[i].distance = NAN;
        if (tested) s = measure(c, m, t, n);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < k->n; j++) accept(&o[i].place[j], k->realness);
    }
    for (int i = 0; i < count && s == SPOT_OK; i++) {
        borrow(&o[i], k->n, m->w->in->backgrounds);
        store_places(m->w, &o[i], from + i, tested);
    }
    for (int i = 0; i < count; i++) close_chooser(&o[i]);
    return s == SPOT_OK ? measure_rest(c, m, t, from, count) : s;
}

static spot_blender_room room_of(const spot_background_config *cfg)
{
    return (spot_blender_room){ cfg->data.size, PAIRS, PAIRS, 1,
                                { { .levels = cfg->measure.levels, .backgrounds = PAIRS, .pairs = PAIRS } } };
}

size_t spot_suite_memory(const spot_ctx *c, const spot_background_config *cfg, int dim, int targets, int backgrounds)
{
    spot_background_config own = { .data.size = cfg->data.size, .measure.levels = spot_background_levels(cfg) };
    const spot_blender_room room = room_of(&own);

    return spot_blender_memory(c, &room)
         + ((size_t)targets + (size_t)backgrounds + 2 * PAIRS) * (size_t)dim * sizeof(float);
}

spot_status spot_suite_choose(spot_ctx *c, spot_suite_work *w)
{
    const int n = w->s->n, targets = w->s->targets;
    const spot_blender_room room = room_of(w->in->cfg);
    meter m = { .w = w };
    spot_suite_drawer *d = NULL;
    chooser *o = calloc(TOGETHER, sizeof *o);
    trial *t = malloc((size_t)TOGETHER * (size_t)n * sizeof *t);
    spot_status s;

    m.row = malloc((size_t)2 * PAIRS * (size_t)w->encoders->dim * sizeof *m.row);
    s = o && t && m.row ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the suite");
    if (s == SPOT_OK) s = spot_blender_open(c, &w->blender, &room);
    if (s == SPOT_OK) s = spot_suite_drawer_open(c, &d, w);
    for (int from = 0; from < targets && s == SPOT_OK; from += TOGETHER) {
        const int count = targets - from < TOGETHER ? targets - from : TOGETHER;
        s = choose_together(c, &m, o, t, d, from, count);
        spot_tell(c, "backgrounds", -1, from + count, targets, "");
    }
    spot_suite_drawer_close(d);
    spot_blender_close(&w->blender);
    free(o), free(t), free(m.row);
    return s;
}
