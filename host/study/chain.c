#include "study/chain.h"

#include <math.h>

#include "core/ops.h"
#include "models/reduce.h"
#include "store/pack.h"
#include "study/keys.h"

typedef enum { POINTS, FOUND } step;

static const struct { const char *kind; spot_pack_fn *pack; } values[] = {
    { "points", spot_pack_points }, { "found", spot_pack_found },
};

bool spot_is_verdict(spot_status s)
{
    return s == SPOT_NUMERIC || s == SPOT_INPUT || s == SPOT_USAGE || s == SPOT_INVALID;
}

bool spot_concerns_one_problem(spot_status s) { return spot_is_verdict(s) || s == SPOT_NOMEM || s == SPOT_UNSUPPORTED; }

spot_status spot_chain_open(spot_chain *k, int count, bool fits)
{
    k->count = count;
    k->fit = NULL;
    SPOT_TRY(SPOT_TAKE(k->c, k->a, k->skip, count));
    SPOT_TRY(SPOT_TAKE(k->c, k->a, k->view, count));
    SPOT_TRY(SPOT_TAKE(k->c, k->a, k->seed, count));
    SPOT_TRY(SPOT_TAKE(k->c, k->a, k->points_key, count));
    SPOT_TRY(SPOT_TAKE(k->c, k->a, k->found_key, count));
    SPOT_TRY(SPOT_TAKE(k->c, k->a, k->points, count));
    SPOT_TRY(SPOT_TAKE(k->c, k->a, k->found, count));
    return fits ? SPOT_TAKE(k->c, k->a, k->fit, count) : SPOT_OK;
}

size_t spot_chain_bytes(int count, bool fits)
{
    spot_arena a = spot_arena_counting();
    spot_ctx quiet = { 0 };
    spot_chain k = { .c = &quiet, .a = &a };

    spot_chain_open(&k, count, fits);
    return a.peak;
}

spot_bytes spot_chain_method_needs(const spot_ctx *c, const spot_bdm_config *cfg, int count, const int *n, int features,
                                   size_t after)
{
    bool reduces = !spot_embed_is_nothing(&cfg->embed);
    spot_bytes embed = { 0, 0 }, find;
    size_t rows = 0, recalled;
    int most = 0, d;

    for (int p = 0; p < count; p++) {
        rows += (size_t)n[p];
        most = n[p] > most ? n[p] : most;
    }
    d = spot_embed_dim(&cfg->embed, most, features);
    /* hypotheses may overlap */
    recalled = SPOT_MAX_HYPOTHESES * (rows * sizeof(int) + (size_t)count * SPOT_ALIGN);
    find = spot_bdm_needs(c, count, n, d, cfg);
    find.host = (find.host > recalled ? find.host : recalled) + after;
    if (reduces) embed = spot_embed_needs(c, count, n, features, &cfg->embed);
    if (reduces) find.host += rows * (size_t)d * sizeof(float) + (size_t)count * SPOT_ALIGN;        /* the points */
    return spot_bytes_larger(embed, find);
}

bool spot_same_points(const spot_bdm_config *a, const spot_bdm_config *b, bool same_features)
{
    const spot_key none = { 0, 0 };
    spot_key x = same_features ? spot_key_of_points(none, a) : spot_key_of_reduction(a);
    spot_key y = same_features ? spot_key_of_points(none, b) : spot_key_of_reduction(b);

    return x.hi == y.hi && x.lo == y.lo;
}

bool spot_has_points_before(const spot_bdm_config *bdm, int b, bool same_features)
{
    for (int i = 0; i < b; i++)
        if (spot_same_points(&bdm[i], &bdm[b], same_features)) return true;
    return false;
}

static spot_key key_of(const spot_chain *k, step s, int i) { return s == POINTS ? k->points_key[i] : k->found_key[i]; }

static void *value_of(const spot_chain *k, step s, int i)
{
    return s == POINTS ? (void *)&k->points[i] : (void *)&k->found[i];
}

static spot_status run_step(spot_chain *k, step s, int first, int n)
{
    const spot_view *view = k->view + first;
    const spot_seed *seed = k->seed + first;
    spot_points *points = k->points + first;
    spot_fit *fit = k->fit ? k->fit + first : NULL;

    if (s == POINTS) return spot_embed_fit_on(k->c, k->a, k->on_device, n, points, view, seed, &k->method->embed);
    return spot_bdm_fit(k->c, k->a, n, k->found + first, fit, view, points, seed, k->method);
}

static spot_status run_and_keep(spot_chain *k, step s, int first, int n)
{
    double since = spot_clock(), each;
    spot_status how;

    spot_range_begin(k->c, values[s].kind);
    spot_range_begin(k->c, k->who ? k->who : "method");
    k->c->who = k->who;
    how = run_step(k, s, first, n);
    k->c->who = NULL;
    spot_range_end(k->c);
    spot_range_end(k->c);
    SPOT_TRY(how);
    each = (spot_clock() - since) / n;
    for (int i = first; i < first + n && k->store; i++) {
        SPOT_TRY(spot_keep(k->c, k->store, key_of(k, s, i), values[s].kind, values[s].pack, value_of(k, s, i)));
        if (k->fit && s == FOUND) SPOT_TRY(spot_keep(k->c, k->store, key_of(k, s, i), "fit", spot_pack_fit, &k->fit[i]));
        if (k->kept) k->kept(k->study, i, values[s].kind, each);
    }
    return spot_check_stop(k->c);
}

/* Runs the step on the n problems from `first` on; after a failure, on each half. */
static spot_status run_range(spot_chain *k, step s, int first, int n)
{
    size_t mark = k->a->used, mark_there = k->on_device ? k->on_device->used : 0;
    spot_status how = run_and_keep(k, s, first, n);

    if (how == SPOT_OK) return how;
    k->a->used = mark;
    if (k->on_device) k->on_device->used = mark_there;
    for (int i = first; i < first + n && k->fit && s == FOUND; i++) spot_fit_close(&k->fit[i]);
    if (n == 1) {
        SPOT_TRY(k->judge(k->study, first, how));
        k->skip[first] = true;
        return SPOT_OK;
    }
    if (!spot_concerns_one_problem(how)) return how;
    spot_log(k->c, SPOT_LOG_DEBUG, "%s of %d at once: %s; in halves", values[s].kind, n, spot_take_message(k->c, how));
    SPOT_TRY(run_range(k, s, first, n / 2));
    return run_range(k, s, first + n / 2, n - n / 2);
}

static spot_status recall_value(spot_chain *k, step s, int i, bool *found)
{
    *found = k->skip[i] || (s == POINTS && k->points[i].at);
    if (*found || !k->store) return SPOT_OK;
    SPOT_TRY(spot_recall(k->c, k->a, k->store, key_of(k, s, i), values[s].kind, values[s].pack, value_of(k, s, i), found));
    if (*found && k->fit && s == FOUND) {
        SPOT_TRY(spot_recall(k->c, k->a, k->store, key_of(k, s, i), "fit", spot_pack_fit, &k->fit[i], found));
        if (!*found) spot_fit_close(&k->fit[i]);
    }
    if (!*found || s != POINTS || !k->on_device || k->points[i].device_at) return SPOT_OK;
    return spot_points_put(k->c, k->on_device, &k->points[i]);
}

/* Adjacent problems without a value are computed in one call. */
static spot_status complete_step(spot_chain *k, step s)
{
    int first = 0;

    for (int i = 0; i <= k->count; i++) {
        bool found = true;
        if (i < k->count) SPOT_TRY(recall_value(k, s, i, &found));
        if (!found) continue;
        if (i > first) SPOT_TRY(run_range(k, s, first, i - first));
        first = i + 1;
    }
    return SPOT_OK;
}

spot_status spot_chain_points(spot_chain *k)
{
    if (!spot_embed_is_nothing(&k->method->embed)) return complete_step(k, POINTS);
    for (int i = 0; i < k->count; i++)
        if (!k->skip[i])
            k->points[i] = (spot_points){ .n = k->view[i].n, .d = k->view[i].d, .at = k->view[i].feature, .objective = NAN,
                                          .device_at = k->view[i].device_feature };
    return SPOT_OK;
}

spot_status spot_chain_found(spot_chain *k) { return complete_step(k, FOUND); }
