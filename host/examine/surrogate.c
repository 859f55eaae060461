/* surrogate.c - points, features, the bounded set, the pool. */
#include "examine/surrogate.h"

#include <math.h>
#include <string.h>

static const double turn = 6.283185307179586, radius = 0.25;

enum { AT_ONCE = 64 };     /* points that are told one after the other in parts of so many */

static spot_gp_shape shape_of(const spot_surrogate_plan *p, const spot_factor_space *space)
{
    spot_gp_shape shape = { 0, 0, { 0 } };

    for (int d = 0; d < space->dims; d++) {
        shape.scale_of[shape.features++] = p->ard ? d : 0;
        if (p->features == SPOT_FEATURES_CIRCLES && space->turns[d]) shape.scale_of[shape.features++] = p->ard ? d : 0;
    }
    shape.scales = p->ard ? space->dims : 1;
    return shape;
}

static int least_of(int a, int b) { return a < b ? a : b; }

/* Everything that open takes, from a memory that counts or holds. */
static spot_status take_all(spot_ctx *c, spot_arena *a, spot_surrogate *s, const spot_surrogate_plan *p)
{
    size_t problems = (size_t)s->search.problems, budget = (size_t)s->search.budget, dims = (size_t)s->search.space->dims;
    size_t tries = (size_t)p->tries, room = (size_t)s->most + (size_t)p->extra;
    size_t part = (size_t)s->most * ((size_t)s->shape.features + 1), list = s->spread ? (size_t)s->most + AT_ONCE : 1;

    SPOT_TRY(SPOT_TAKE(c, a, s->at, problems * budget * dims));
    SPOT_TRY(SPOT_TAKE(c, a, s->loss, problems * budget));
    SPOT_TRY(SPOT_TAKE(c, a, s->kernel, problems));
    SPOT_TRY(SPOT_TAKE(c, a, s->next, problems));
    SPOT_TRY(SPOT_TAKE(c, a, s->kept, s->spread ? problems * (size_t)s->most : 1));
    SPOT_TRY(SPOT_TAKE(c, a, s->choice.list, list));
    SPOT_TRY(SPOT_TAKE(c, a, s->choice.place, list * (size_t)s->shape.features));
    SPOT_TRY(SPOT_TAKE(c, a, s->choice.off, list));
    SPOT_TRY(SPOT_TAKE(c, a, s->choice.apart, list));
    SPOT_TRY(SPOT_TAKE(c, a, s->desk, s->desks));
    for (int t = 0; t < s->desks; t++) {
        spot_surrogate_desk own;
        SPOT_TRY(spot_gp_take(c, a, &own.g, &s->shape, p->scaling, (int)room));
        SPOT_TRY(SPOT_TAKE(c, a, own.which, s->most));
        SPOT_TRY(SPOT_TAKE(c, a, own.x, (size_t)s->most * (size_t)s->shape.features));
        SPOT_TRY(SPOT_TAKE(c, a, own.y, s->most));
        SPOT_TRY(SPOT_TAKE(c, a, own.pool, tries * dims));
        SPOT_TRY(SPOT_TAKE(c, a, own.over, tries * (size_t)s->shape.features));
        SPOT_TRY(SPOT_TAKE(c, a, own.mean, tries));
        SPOT_TRY(SPOT_TAKE(c, a, own.deviation, tries));
        SPOT_TRY(SPOT_TAKE(c, a, own.solved, tries * room > part ? tries * room : part));
        SPOT_TRY(SPOT_TAKE(c, a, own.joint, p->joint ? tries * tries : 1));
        SPOT_TRY(SPOT_TAKE(c, a, own.swap, p->joint ? tries * (size_t)s->shape.features : 1));
        if (!a->counting) s->desk[t] = own;
    }
    return SPOT_OK;
}

static void order_by_name(spot_surrogate *s)
{
    const spot_factor_space *space = s->search.space;

    for (int d = 0; d < space->dims; d++) {
        int at = d;
        for (; at && strcmp(spot_factor_label(space->factor[s->dim[at - 1]]), spot_factor_label(space->factor[d])) > 0; at--)
            s->dim[at] = s->dim[at - 1];
        s->dim[at] = d;
    }
}

static spot_surrogate plain(const spot_surrogate_plan *p, const spot_examiner_search *search, int threads)
{
    spot_surrogate s = { .search = *search, .shape = shape_of(p, search->space), .best = p->best, .last = p->last,
                         .spread = p->spread, .tries = p->tries, .features = p->features };

    s.most = least_of(p->best + p->last + p->spread, search->budget);
    s.desks = least_of(threads < 1 ? 1 : threads, least_of(search->problems, SPOT_SURROGATE_DESKS));
    return s;
}

static size_t bytes_of(const spot_surrogate_plan *p, const spot_examiner_search *search, int threads)
{
    spot_surrogate s = plain(p, search, threads);
    spot_arena counting = spot_arena_counting();
    spot_ctx c = { 0 };

    return take_all(&c, &counting, &s, p) ? 0 : counting.peak;
}

size_t spot_surrogate_bytes(const spot_surrogate_plan *p, const spot_examiner_search *search)
{
    return bytes_of(p, search, SPOT_SURROGATE_DESKS);
}

spot_status spot_surrogate_open(spot_ctx *c, spot_surrogate *s, const spot_surrogate_plan *p,
                                const spot_examiner_search *search)
{
    spot_gp_kernel first = { .amplitude = 1, .noise = 1e-2 };

    *s = plain(p, search, c->threads);
    SPOT_TRY(spot_arena_open(c, &s->memory, bytes_of(p, search, c->threads)));
    SPOT_TRY(take_all(c, &s->memory, s, p));
    for (int k = 0; k < s->shape.scales; k++) first.length[k] = 1;
    for (int i = 0; i < search->problems; i++) s->kernel[i] = first;
    order_by_name(s);
    return SPOT_OK;
}

void spot_surrogate_close(spot_surrogate *s) { spot_arena_close(&s->memory); }

void spot_surrogate_features(const spot_surrogate *s, double *feature, const double *x)
{
    const spot_factor_space *space = s->search.space;

    if (s->features == SPOT_FEATURES_RAW) {
        for (int f = 0; f < space->dims; f++) {
            int d = s->dim[f];
            feature[f] = space->least[d] + x[d] * (space->most[d] - space->least[d]);
        }
        return;
    }
    for (int d = 0, f = 0; d < space->dims; d++)
        if (space->turns[d]) {
            feature[f++] = radius * cos(turn * x[d]);
            feature[f++] = radius * sin(turn * x[d]);
        } else feature[f++] = x[d];
}

void spot_surrogate_back(const spot_surrogate *s, double *slope, const double *feature_slope, const double *x)
{
    const spot_factor_space *space = s->search.space;

    if (s->features == SPOT_FEATURES_RAW) {
        for (int f = 0; f < space->dims; f++) {
            int d = s->dim[f];
            slope[d] = feature_slope[f] * (space->most[d] - space->least[d]);
        }
        return;
    }
    for (int d = 0, f = 0; d < space->dims; d++)
        if (space->turns[d]) {
            slope[d] = turn * radius * (cos(turn * x[d]) * feature_slope[f + 1] - sin(turn * x[d]) * feature_slope[f]);
            f += 2;
        } else slope[d] = feature_slope[f++];
}

void spot_surrogate_uniform(const spot_surrogate *s, double *at, int n)
{
    for (int i = 0; i < s->search.problems; i++)
        for (int k = 0; k < n; k++, at += s->search.space->dims) spot_examiner_uniform(at, &s->search, i, s->told + k);
}

/* Lists the `most` greatest of points [0, end), greatest first, the earlier of equals: by insertion, because few of many
 * points are among the best so far. */
static int greatest(int *which, const double *loss, int end, int most)
{
    int n = 0;

    for (int k = 0; k < end; k++) {
        int at = n < most ? n++ : most;
        if (at == most && (!most || loss[k] <= loss[which[most - 1]])) continue;
        if (at == most) at--;
        for (; at && loss[which[at - 1]] < loss[k]; at--) which[at] = which[at - 1];
        which[at] = k;
    }
    return n;
}

/* ---- the set ---- */

static void exchange(double *a, int i, int j)
{
    double own = a[i];

    a[i] = a[j], a[j] = own;
}

static void exchange_points(spot_surrogate *s, int i, int j)
{
    const int own = s->choice.list[i], room = s->most + AT_ONCE;

    s->choice.list[i] = s->choice.list[j], s->choice.list[j] = own;
    exchange(s->choice.apart, i, j);
    for (int f = 0; f < s->shape.features; f++) exchange(s->choice.place + (size_t)f * (size_t)room, i, j);
}

static void place_points(spot_surrogate *s, int i, int n)
{
    const size_t dims = (size_t)s->search.space->dims, first = (size_t)i * (size_t)s->search.budget;
    double feature[SPOT_GP_FEATURES];

    for (int k = 0; k < n; k++) {
        spot_surrogate_features(s, feature, s->at + (first + (size_t)s->choice.list[k]) * dims);
        for (int f = 0; f < s->shape.features; f++)
            s->choice.place[f * (s->most + AT_ONCE) + k] = feature[f] / s->kernel[i].length[s->shape.scale_of[f]];
        s->choice.apart[k] = INFINITY;
    }
}

/* apart (n): squared distances to the nearest of the points that are kept, of which point k is the newest. */
static void come_near(const spot_surrogate *s, int k, int n)
{
    double *restrict off = s->choice.off, *restrict apart = s->choice.apart;

    for (int j = k; j < n; j++) off[j] = 0;
    for (int f = 0; f < s->shape.features; f++) {
        const double *restrict x = s->choice.place + (size_t)f * (size_t)(s->most + AT_ONCE);
        const double at = x[k];
        for (int j = k; j < n; j++) off[j] = fma(x[j] - at, x[j] - at, off[j]);
    }
    for (int j = k; j < n; j++) apart[j] = off[j] < apart[j] ? off[j] : apart[j];
}

/* The first `most` of the list become the set. */
static void order_list(spot_surrogate *s, int i, int n)
{
    const double *loss = s->loss + (size_t)i * (size_t)s->search.budget;
    const int *list = s->choice.list;

    place_points(s, i, n);
    for (int k = 0; k < s->most; k++) {
        int next = k;
        for (int j = k + 1; j < n; j++)
            if (k < s->best ? loss[list[j]] > loss[list[next]] : s->choice.apart[j] > s->choice.apart[next]) next = j;
        exchange_points(s, k, next);
        come_near(s, k, n);
    }
}

/* Points [from, end) are new. */
static void keep(spot_surrogate *s, int i, int from, int end)
{
    int held = least_of(from, s->most), n = held, *kept = s->kept + (size_t)i * (size_t)s->most;

    memcpy(s->choice.list, kept, (size_t)held * sizeof *kept);
    for (int k = from; k < end; k++) s->choice.list[n++] = k;
    if (n > s->most) order_list(s, i, n);
    memcpy(kept, s->choice.list, (size_t)least_of(n, s->most) * sizeof *kept);
}

static void choose_kept(const spot_surrogate *s, spot_surrogate_desk *d, int i)
{
    const int *kept = s->kept + (size_t)i * (size_t)s->most;
    const double *loss = s->loss + (size_t)i * (size_t)s->search.budget;

    d->n = least_of(s->told, s->most);
    for (int k = 0; k < d->n; k++) {
        int at = k;
        for (; at && loss[d->which[at - 1]] < loss[kept[k]]; at--) d->which[at] = d->which[at - 1];
        d->which[at] = kept[k];
    }
}

void spot_surrogate_tell(spot_surrogate *s, const double *at, const double *loss, int n)
{
    size_t dims = (size_t)s->search.space->dims, budget = (size_t)s->search.budget, told = (size_t)s->told, more = (size_t)n;

    for (size_t i = 0; i < (size_t)s->search.problems; i++) {
        memcpy(s->at + (i * budget + told) * dims, at + i * more * dims, more * dims * sizeof *at);
        memcpy(s->loss + i * budget + told, loss + i * more, more * sizeof *loss);
    }
    for (int i = 0; s->spread && i < s->search.problems; i++)
        for (int k = s->told; k < s->told + n; k += AT_ONCE) keep(s, i, k, least_of(k + AT_ONCE, s->told + n));
    s->told += n;
}

static void choose_newest(const spot_surrogate *s, spot_surrogate_desk *d, int i, int from)
{
    const double *loss = s->loss + (size_t)i * (size_t)s->search.budget + (size_t)from;
    const int told = s->told - from;
    const bool all = told <= s->most;
    const int old = all ? told : told - s->last;

    d->n = greatest(d->which, loss, old, all ? told : s->best);
    for (int k = old; k < told; k++) d->which[d->n++] = k;
    for (int k = 0; k < d->n; k++) d->which[k] += from;
}

void spot_surrogate_choose(const spot_surrogate *s, spot_surrogate_desk *d, int i, int from)
{
    const size_t dims = (size_t)s->search.space->dims, first = (size_t)i * (size_t)s->search.budget;

    if (s->spread) choose_kept(s, d, i);
    else choose_newest(s, d, i, from);
    for (int k = 0; k < d->n; k++) {
        const size_t at = first + (size_t)d->which[k];
        spot_surrogate_features(s, d->x + (size_t)k * (size_t)s->shape.features, s->at + at * dims);
        d->y[k] = s->loss[at];
    }
}

void spot_surrogate_fit(const spot_surrogate *s, spot_surrogate_desk *d, const spot_gp_search *search, spot_gp_kernel *k,
                        spot_rng *r)
{
    size_t features = (size_t)s->shape.features;
    int n = least_of(d->n, SPOT_SURROGATE_FIT);
    double *x = d->solved, *y = x + (size_t)n * features;

    for (int i = 0; i < n; i++) {
        int from = (int)((long long)i * d->n / n);
        memcpy(x + (size_t)i * features, d->x + (size_t)from * features, features * sizeof *x);
        y[i] = d->y[from];
    }
    spot_gp_set(&d->g, x, y, n);
    d->g.kernel = *k;
    if (spot_gp_fit(&d->g, search, r)) *k = d->g.kernel;
}

void spot_surrogate_look(const spot_surrogate *s, spot_surrogate_desk *d, int tries)
{
    for (int k = 0; k < tries; k++)
        spot_surrogate_features(s, d->over + (size_t)k * (size_t)s->shape.features,
                                d->pool + (size_t)k * (size_t)s->search.space->dims);
    spot_gp_look(&d->g, d->over, tries, d->mean, d->deviation, d->solved);
}

void spot_surrogate_look_again(const spot_surrogate *s, spot_surrogate_desk *d, int tries)
{
    (void)s;
    spot_gp_again(&d->g, d->over, tries, d->deviation, d->solved);
}
