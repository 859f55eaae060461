/* check_night.h - nights by chance: runs of the same code, or of one that got worse, as the verdict sees them, in memory.
 *
 * The values look like a sweep's: one to three blindspots an EC, means like the paper's Table 2, ECs that are hard for all
 * methods, DR of covered / blindspots and FDR of strangers / u. */
#ifndef SPOTTER_TESTS_CHECK_NIGHT_H
#define SPOTTER_TESTS_CHECK_NIGHT_H

#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "check/layers.h"
#include "spotter/rng.h"

enum { NIGHT_METHODS = 5 };

typedef struct {
    int    ecs;
    bool   paired;             /* the same ECs; else those of another seed */
    double shared;             /* 0 to 1: how much of an EC's difficulty all methods share */
    double fresh;              /* of pairs: the share of scores that another night draws anew */
    double drop;               /* that DR of method 1 loses on average, on ECs by chance */
} nights;

typedef struct { spot_checking g; spot_check check; } night;

static inline double night_normal_share(double z) { return 0.5 * erfc(-z / 1.4142135623730951); }

/* One method on one EC: z is how easy the EC is for it. */
static inline void night_score(spot_baseline_found *f, int blindspots, int method, double z, spot_rng *r)
{
    static const double ease[NIGHT_METHODS] = { 1.9, 1.3, 0.6, -0.3, 0.9 };         /* DR 0.87, 0.79, 0.65, 0.43, 0.72 */
    static const double stranger[NIGHT_METHODS] = { 0.02, 0.09, 0.07, 0.03, 0.05 };
    double chance = night_normal_share((ease[method] + 1.3 * z));
    memset(f, 0, sizeof *f);
    for (int m = 0; m < blindspots; m++) f->covered += spot_rng_uniform(r) < chance;
    if (f->covered) f->u = f->covered + (int)spot_rng_below(r, 3);
    for (int h = f->covered; h < f->u; h++) f->strangers += spot_rng_uniform(r) < 3 * stranger[method];
}

/* Side `side` of night `n`: of pairs both sides have the ECs of side 0, and scores that are drawn anew are side's own. */
static inline void night_side(spot_baseline *b, const nights *w, uint32_t n, uint32_t side)
{
    uint32_t world = n * 2 + (w->paired ? 0 : side);
    b->ecs = w->ecs;
    b->methods = NIGHT_METHODS;
    b->ec = calloc((size_t)w->ecs, sizeof *b->ec);
    assert_non_null(b->ec);
    for (int m = 0; m < NIGHT_METHODS; m++) {
        snprintf(b->method[m].name, sizeof b->method[m].name, "m%d", m);
        b->method[m].found = calloc((size_t)w->ecs, sizeof *b->method[m].found);
        assert_non_null(b->method[m].found);
    }
    for (int i = 0; i < w->ecs; i++) {
        spot_rng of_ec = spot_rng_at(77, SPOT_RNG_EC, (uint32_t)i, world);
        spot_rng fresh = spot_rng_at(78, SPOT_RNG_EC, (uint32_t)i, n * 2 + side);
        spot_baseline_ec *e = &b->ec[i];
        double z = spot_rng_normal(&of_ec);
        e->index = i;
        e->blindspots = 1 + (int)spot_rng_below(&of_ec, 3);
        e->learned = spot_rng_uniform(&of_ec) < 0.95;
        snprintf(e->definition, sizeof e->definition, "%x-%x", world & 0xffffff, (unsigned)i & 0xffffff);
        for (int m = 0; m < NIGHT_METHODS; m++) {
            double own = sqrt(w->shared) * z + sqrt(1 - w->shared) * spot_rng_normal(&of_ec);
            spot_baseline_found *f = &b->method[m].found[i];
            night_score(f, e->blindspots, m, own, &of_ec);
            if (side && w->paired && spot_rng_uniform(&fresh) < w->fresh) night_score(f, e->blindspots, m, own, &fresh);
            /* One blindspot of an EC where it finds anything is lost so often that DR falls by `drop` on average. */
            if (side && m == 1 && w->drop > 0 && f->covered
                && spot_rng_uniform(&fresh) < w->drop * e->blindspots / 0.87) f->covered--;
            if (!f->covered) f->u = f->strangers = 0;
        }
    }
    for (int m = 0; m <= SPOT_CHECK_LEARNED; m++) b->margin[m] = 0.02;
}

static inline void night_open(spot_ctx *c, night *t, const nights *w, uint32_t n)
{
    size_t ecs = (size_t)w->ecs + 1;
    memset(t, 0, sizeof *t);
    t->g.c = c;
    t->g.k = &t->check;
    night_side(&t->g.before, w, n, 0);
    night_side(&t->g.now, w, n, 1);
    t->g.paired = w->paired;
    t->g.at = calloc(ecs, sizeof *t->g.at);
    t->g.x = calloc(2 * ecs, sizeof *t->g.x);
    t->check.line = calloc(64, sizeof *t->check.line);
    assert_true(t->g.at && t->g.x && t->check.line);
    t->g.y = t->g.x + ecs;
    for (int i = 0; i < w->ecs; i++) t->g.at[i] = i;
}

static inline void night_close(night *t)
{
    spot_baseline_free(&t->g.before);
    spot_baseline_free(&t->g.now);
    free(t->g.at);
    free(t->g.x);
    free(t->check.line);
}

#endif
