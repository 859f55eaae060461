/* verdict_reach.c - how far a model is from those that a forest was trained on, and how far is too far (verdict.h). */
#include "background/verdict/verdict_reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* Some of the models: columns in ascending order, and where each model stands in them. */
typedef struct {
    int     n;
    int    *model;                 /* (n): rows of the models */
    double *sorted;                /* (features, n) */
    double *spread;                /* (features): from the tenth to the ninetieth hundredth of them */
    double *place;                 /* (n, features) */
} crowd;

struct spot_verdict_reach {
    const spot_reach_models *of;
    crowd   all;
    double *place;                 /* (features): scratch of one model */
    double  limit;                 /* greatest usual distance */
    double  least_accuracy;
    void   *owned;
};

/* ---- a crowd ---- */

/* Where v stands among n ascending values: the share of them below it, from 0 to 1, and beyond their ends how many spreads it
 * is away, at most SPOT_REACH_BEYOND of them. */
static double place_of(const double *s, int n, double spread, double v)
{
    const double off = v < s[0] ? s[0] - v : v > s[n - 1] ? v - s[n - 1] : 0;
    const double beyond = off > 0 ? fmin(spread > 0 ? off / spread : SPOT_REACH_BEYOND, SPOT_REACH_BEYOND) : 0;
    int low = 0, high;

    if (v < s[0]) return 0.5 / n - beyond;
    if (v > s[n - 1]) return 1 - 0.5 / n + beyond;
    while (s[low] < v) low++;
    for (high = low; high < n && s[high] == v; high++) { }
    if (high > low) return 0.5 * (low + high) / n;
    return (low - 0.5 + (v - s[low - 1]) / (s[low] - s[low - 1])) / n;
}

static void place_model(double *place, const crowd *w, int features, const float *row)
{
    for (int j = 0; j < features; j++) place[j] = place_of(w->sorted + (size_t)j * (size_t)w->n, w->n, w->spread[j], row[j]);
}

/* Fills w with the models that are not of group `without`. */
static void gather(crowd *w, const spot_reach_models *of, bool all, int without)
{
    const int features = of->features;

    w->n = 0;
    for (int i = 0; i < of->n; i++)
        if (all || of->group[i] != without) w->model[w->n++] = i;
    for (int j = 0; j < features; j++) {
        double *s = w->sorted + (size_t)j * (size_t)w->n;
        for (int i = 0; i < w->n; i++) s[i] = of->x[(size_t)w->model[i] * (size_t)features + (size_t)j];
        spot_sort_doubles(s, (size_t)w->n);
        w->spread[j] = w->n ? spot_quantile(s, w->n, 0.9) - spot_quantile(s, w->n, 0.1) : 0;
        if (w->n && !(w->spread[j] > 0)) w->spread[j] = s[w->n - 1] - s[0];
    }
    for (int i = 0; i < w->n; i++)
        place_model(w->place + (size_t)i * (size_t)features, w, features, of->x + (size_t)w->model[i] * (size_t)features);
}

/* The mean distance to the SPOT_REACH_NEAREST nearest of the crowd; near: which of it, the nearest first, at least one. */
static double distance_to(const crowd *w, const double *place, int features, int near[SPOT_REACH_NEAREST], int *nears)
{
    double best[SPOT_REACH_NEAREST], sum = 0;
    int n = 0;

    for (int i = 0; i < w->n; i++) {
        const double *other = w->place + (size_t)i * (size_t)features;
        double d = 0;
        int at;
        for (int j = 0; j < features; j++) d += fabs(place[j] - other[j]);
        d /= features;
        if (n == SPOT_REACH_NEAREST && d >= best[n - 1]) continue;
        for (at = n < SPOT_REACH_NEAREST ? n++ : n - 1; at > 0 && best[at - 1] > d; at--)
            best[at] = best[at - 1], near[at] = near[at - 1];
        best[at] = d, near[at] = i;
    }
    for (int i = 0; i < n; i++) sum += best[i];
    *nears = n;
    return n ? sum / n : INFINITY;
}

/* ---- how far is too far ---- */

/* Distances of all models to those of other groups: SPOT_REACH_SHARE of them are usual. some: scratch; distance: (n) */
static double usual_distance(const spot_verdict_reach *r, crowd *some, double *distance)
{
    const spot_reach_models *of = r->of;
    int near[SPOT_REACH_NEAREST], nears, at, filled = -1;

    for (int i = 0; i < of->n; i++) {
        if (filled < 0 || of->group[i] != of->group[filled]) gather(some, of, false, of->group[i]);
        filled = i;
        place_model(r->place, some, of->features, of->x + (size_t)i * (size_t)of->features);
        distance[i] = distance_to(some, r->place, of->features, near, &nears);
    }
    spot_sort_doubles(distance, (size_t)of->n);
    at = (int)ceil(SPOT_REACH_SHARE * (of->n + 1)) - 1;
    return distance[at < of->n ? at : of->n - 1];
}

static double *take_crowd(crowd *w, double *at, int *model, size_t n, size_t features)
{
    *w = (crowd){ .model = model, .sorted = at, .spread = at + n * features, .place = at + (n + 1) * features };
    return at + (2 * n + 1) * features;
}

spot_status spot_verdict_reach_open(spot_ctx *c, spot_verdict_reach **reach, const spot_reach_models *of)
{
    const size_t n = (size_t)of->n, features = (size_t)of->features;
    spot_verdict_reach *r = calloc(1, sizeof *r);
    double *at = malloc((2 * (2 * n + 1) * features + features + n) * sizeof *at + 2 * n * sizeof(int));
    crowd some;
    int *model;

    *reach = NULL;
    if (!r || !at) return free(r), free(at), spot_fail(c, SPOT_NOMEM, "no memory for the distances of %d models", of->n);
    r->of = of, r->owned = at;
    r->place = at, at += features;
    model = (int *)(void *)(at + 2 * (2 * n + 1) * features + n);
    at = take_crowd(&r->all, at, model, n, features);
    at = take_crowd(&some, at, model + n, n, features);
    r->limit = usual_distance(r, &some, at);
    r->least_accuracy = INFINITY;
    for (int i = 0; i < of->n; i++) r->least_accuracy = fmin(r->least_accuracy, of->accuracy[i]);
    gather(&r->all, of, true, 0);
    *reach = r;
    return SPOT_OK;
}

void spot_verdict_reach_close(spot_verdict_reach *reach)
{
    if (!reach) return;
    free(reach->owned);
    free(reach);
}

/* ---- one model ---- */

/* The part of feature j in the distance of a row, and the values of its nearest models there. */
static spot_verdict_oddity oddity_of(const spot_verdict_reach *r, int j, const float *row, const int *near, int nears)
{
    const size_t features = (size_t)r->of->features;
    spot_verdict_oddity o = { .feature = j, .value = row[j], .least = INFINITY, .most = -INFINITY };

    for (int i = 0; i < nears; i++) {
        const float v = r->of->x[(size_t)r->all.model[near[i]] * features + (size_t)j];
        o.least = fminf(o.least, v), o.most = fmaxf(o.most, v);
        o.part += fabs(r->place[j] - r->all.place[(size_t)near[i] * features + (size_t)j]);
    }
    return o;
}

static void add_oddity(spot_verdict_distance *out, spot_verdict_oddity o)
{
    int at = out->oddities;

    while (at > 0 && out->oddity[at - 1].part < o.part) at--;
    if (at == SPOT_VERDICT_REASONS) return;
    if (out->oddities < SPOT_VERDICT_REASONS) out->oddities++;
    for (int i = out->oddities - 1; i > at; i--) out->oddity[i] = out->oddity[i - 1];
    out->oddity[at] = o;
}

void spot_verdict_reach_find(const spot_verdict_reach *reach, spot_verdict_distance *out, const float *row, double accuracy)
{
    const int features = reach->of->features;
    int near[SPOT_REACH_NEAREST], nears;
    double all = 0;

    place_model(reach->place, &reach->all, features, row);
    *out = (spot_verdict_distance){ .distance = distance_to(&reach->all, reach->place, features, near, &nears),
                                    .limit = reach->limit, .accuracy = accuracy, .least_accuracy = reach->least_accuracy };
    for (int j = 0; j < features; j++) {
        const spot_verdict_oddity o = oddity_of(reach, j, row, near, nears);
        all += o.part;
        add_oddity(out, o);
    }
    for (int i = 0; i < out->oddities; i++) out->oddity[i].part /= all > 0 ? all : 1;
    out->inaccurate = !(accuracy >= reach->least_accuracy - SPOT_REACH_ACCURACY);
    out->within = out->distance <= out->limit && !out->inaccurate;
}
