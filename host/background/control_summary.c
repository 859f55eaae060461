/* control_summary.c - see background_summary.h: the control of what backgrounds turn, and the sensitivity to noise. */
#include <math.h>
#include <stdlib.h>

#include "background/background_summary.h"
#include "stats/bootstrap.h"
#include "stats/paired.h"
#include "stats/statistics.h"

enum { CONTROL = 5, NOISE = 6 };           /* addresses of bootstraps, beside those of background_summary.c */

/* ---- backgrounds of the object's own class ---- */

/* P(some of k backgrounds turn), drawn without repetition from n of which `wrong` do. */
static double expected_turn(int n, int wrong, int k)
{
    double none = 1;

    for (int i = 0; i < k; i++) none *= (double)(n - wrong - i > 0 ? n - wrong - i : 0) / (n - i);
    return 1 - none;
}

/* One object: the number of backgrounds of its own class, whether one turns it, and how likely as many of the suite do. */
typedef struct { int own; bool turned; double foreign; } controlled;

static controlled control_of(const spot_background_responses *r, const spot_background_suite *s, int t)
{
    const int *answer = r->answer + (size_t)t * (size_t)(s->n + 1), *of_own = r->of_own + (size_t)t * (size_t)r->own;
    controlled o = { 0 };
    int wrong = 0;

    for (; o.own < r->own && of_own[o.own] != -2; o.own++) o.turned |= of_own[o.own] != s->cls[t];
    for (int j = 1; j <= s->n; j++) wrong += answer[j] != s->cls[t];
    o.foreign = expected_turn(s->n, wrong, o.own);
    return o;
}

/* The intervals of n objects: foreign (n), beyond (n). */
static void set_intervals(spot_background_control *k, double *foreign, double *beyond, int n, int threads, double *draw)
{
    int turned = 0, up = 0, down = 0;
    bool whole = true;

    for (int i = 0; i < n; i++) {
        turned += foreign[i] == 1, up += beyond[i] == 1, down += beyond[i] == -1;
        whole = whole && (foreign[i] == 0 || foreign[i] == 1);
    }
    if (whole) {
        k->foreign = spot_share_of(turned, n);
        k->beyond = spot_paired_change(up, down, n, spot_normal_quantile(0.975));
        return;
    }
    k->foreign = spot_bootstrap_mean(foreign, n, CONTROL, threads, draw);
    k->beyond = spot_bootstrap_mean(beyond, n, CONTROL, threads, draw);
}

spot_status spot_background_control_of(spot_ctx *c, spot_background_control *k, const spot_background_responses *r,
                                       const spot_background_suite *s)
{
    double *draw = malloc((SPOT_REDRAWS + 2 * (size_t)s->targets) * sizeof *draw);
    double *foreign, *beyond;
    int n = 0, turned = 0;

    *k = (spot_background_control){ .own = { NAN, NAN, NAN }, .foreign = { NAN, NAN, NAN }, .beyond = { NAN, NAN, NAN } };
    if (!draw) return spot_fail(c, SPOT_NOMEM, "no memory for a bootstrap");
    foreign = draw + SPOT_REDRAWS, beyond = foreign + s->targets;
    for (int t = 0; t < s->targets; t++) {
        if (r->answer[(size_t)t * (size_t)(s->n + 1)] != s->cls[t]) continue;
        const controlled o = control_of(r, s, t);
        if (!o.own) continue;
        k->least = n && k->least < o.own ? k->least : o.own;
        k->most = k->most > o.own ? k->most : o.own;
        turned += o.turned;
        foreign[n] = o.foreign;
        beyond[n++] = o.foreign - o.turned;
    }
    k->objects = n;
    if (n) {
        k->own = spot_share_of(turned, n);
        set_intervals(k, foreign, beyond, n, c->threads, draw);
    }
    free(draw);
    return SPOT_OK;
}

/* ---- noise ---- */

/* (targets): bit 0: right with noise on the background; bit 1: with noise on the object. */
typedef struct { const unsigned char *right; int n; } noisy;

/* (a - b) / (2 min(m, 1 - m)), with both sides times n. */
static double sensitivity_of(int with_back, int with_object, int n)
{
    const int both = with_back + with_object, least = both < 2 * n - both ? both : 2 * n - both;

    return least ? (double)(with_back - with_object) / least : NAN;
}

static void draw_sensitivity(double *out, const void *of, spot_rng *rng)
{
    const noisy *s = of;
    int with_back = 0, with_object = 0;

    for (int i = 0; i < s->n; i++) {
        const unsigned char right = s->right[spot_rng_below(rng, (uint32_t)s->n)];
        with_back += right & 1, with_object += right >> 1;
    }
    *out = sensitivity_of(with_back, with_object, s->n);
}

spot_status spot_background_sensitivity(spot_ctx *c, spot_interval *rfs, const spot_background_responses *r,
                                        const spot_background_suite *s)
{
    double *draw = malloc(SPOT_REDRAWS * sizeof *draw);
    unsigned char *right = malloc((size_t)s->targets + 1);
    const bool room = draw && right;
    int n = 0, with_back = 0, with_object = 0;

    *rfs = (spot_interval){ NAN, NAN, NAN };
    for (int t = 0; room && t < s->targets; t++) {
        const int *a = r->derived + (size_t)t * SPOT_BACKGROUND_SETS;
        if (a[SPOT_SET_NOISE_BG] == -2 || a[SPOT_SET_NOISE_FG] == -2) continue;
        const bool back = a[SPOT_SET_NOISE_BG] == s->cls[t], object = a[SPOT_SET_NOISE_FG] == s->cls[t];
        with_back += back, with_object += object;
        right[n++] = (unsigned char)(back + 2 * object);
    }
    if (n) {
        const noisy sample = { right, n };
        rfs->value = sensitivity_of(with_back, with_object, n);
        spot_bootstrap_run(rfs, &(spot_bootstrap){ 1, NOISE, 1, SPOT_REDRAWS / 2, draw_sensitivity, &sample }, c->threads,
                           draw);
    }
    free(draw), free(right);
    return room ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a bootstrap");
}
