/* versions.c - two versions of a model on the same suite: exact tests on targets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_study.h"
#include "fit/paired.h"
#include "fit/statistics.h"

/* One side. */
typedef struct {
    spot_background_results   run;
    spot_background_responses r;
    int unit;
} version;

/* ---- open ---- */

static spot_status find_model(spot_ctx *c, version *v, const char *name, const char *dir)
{
    if (!name && v->run.units == 1) return SPOT_OK;
    for (v->unit = 0; name && v->unit < v->run.units; v->unit++)
        if (!strcmp(v->run.unit[v->unit].name, name)) return SPOT_OK;
    if (name) return spot_fail(c, SPOT_USAGE, "%s has no model \"%s\"", dir, name);
    return spot_fail(c, SPOT_USAGE, "%s has %d models; name one, such as %s:%s", dir, v->run.units, dir, v->run.unit[0].name);
}

static spot_status open_version(spot_ctx *c, version *v, const char *where)
{
    char dir[1024];
    const char *colon = strrchr(where, ':');

    snprintf(dir, sizeof dir, "%.*s", colon ? (int)(colon - where) : (int)strlen(where), where);
    SPOT_TRY(spot_background_read(c, &v->run, dir));
    SPOT_TRY(find_model(c, v, colon ? colon + 1 : NULL, dir));
    return spot_background_responses_read(c, &v->r, dir, &v->run.unit[v->unit]);
}

static void close_version(version *v)
{
    spot_background_responses_free(&v->r);
    spot_background_close(&v->run);
}

/* ---- tests ---- */

/* The share of right answers of target t in a set; NaN: it has no picture. */
static double share_right(const version *v, int t, int set)
{
    const spot_background_suite *s = v->run.suite;
    const int *answer = v->r.answer + (size_t)t * (size_t)(s->n + 1);
    double right = 0;

    if (set != SPOT_SET_SUITE) {
        const int a = v->r.derived[(size_t)t * SPOT_BACKGROUND_SETS + (size_t)set];
        return a == -2 ? NAN : a == s->cls[t];
    }
    for (int j = 1; j <= s->n; j++) right += answer[j] == s->cls[t];
    return right / s->n;
}

static void compare_set(spot_background_change *x, const version *a, const version *b, int set)
{
    snprintf(x->name, sizeof x->name, "%s", spot_background_set_name(set));
    for (int t = 0; t < a->run.suite->targets; t++) {
        const double was = share_right(a, t, set), is = share_right(b, t, set);
        if (!isfinite(was) || !isfinite(is)) continue;
        x->targets++;
        x->before += was, x->now += is;
        x->worse += is < was, x->better += is > was;
    }
}

static void compare_turned(spot_background_change *x, const version *a, const version *b)
{
    strcpy(x->name, "turned");
    for (int t = 0; t < a->run.suite->targets; t++) {
        if (share_right(a, t, SPOT_SET_ORIGINAL) != 1 || share_right(b, t, SPOT_SET_ORIGINAL) != 1) continue;
        const bool was = share_right(a, t, SPOT_SET_SUITE) < 1, is = share_right(b, t, SPOT_SET_SUITE) < 1;
        x->targets++;
        x->before += was, x->now += is;
        x->worse += is && !was, x->better += was && !is;
    }
}

static void judge(spot_background_comparison *out)
{
    double p[SPOT_BACKGROUND_SETS + 1];

    for (int i = 0; i < out->changes; i++) {
        spot_background_change *x = &out->change[i];
        x->before /= x->targets, x->now /= x->targets;
        p[i] = spot_mcnemar(x->worse, x->better);
    }
    spot_holm(p, out->changes);
    for (int i = 0; i < out->changes; i++) {
        spot_background_change *x = &out->change[i];
        x->p = p[i];
        x->is_worse = p[i] < 0.05 && x->worse > x->better;
        x->is_better = p[i] < 0.05 && x->better > x->worse;
        out->failed |= x->is_worse;
    }
}

spot_status spot_background_compare(spot_ctx *c, spot_background_comparison *out, const char *before, const char *now)
{
    version v[2] = { 0 };
    spot_status s = open_version(c, &v[0], before);

    *out = (spot_background_comparison){ 0 };
    if (s == SPOT_OK) s = open_version(c, &v[1], now);
    if (s == SPOT_OK && strcmp(v[0].run.suite->key, v[1].run.suite->key))
        s = spot_fail(c, SPOT_INPUT, "%s and %s looked at different suites (other pictures, backgrounds or settings); examine "
                      "both models with one config", before, now);
    if (s == SPOT_OK) {
        strcpy(out->before, v[0].run.unit[v[0].unit].name);
        strcpy(out->now, v[1].run.unit[v[1].unit].name);
        for (int k = 0; k < SPOT_BACKGROUND_SETS; k++) {
            compare_set(&out->change[out->changes], &v[0], &v[1], k);
            if (out->change[out->changes].targets) out->changes++;
            else out->change[out->changes] = (spot_background_change){ 0 };
        }
        compare_turned(&out->change[out->changes], &v[0], &v[1]);
        if (out->change[out->changes].targets) out->changes++;
        judge(out);
    }
    close_version(&v[0]), close_version(&v[1]);
    return s;
}
