/* versions_background.c - what spotter background tells of two versions of a model: of every target, the share of right answers
 * in each set of pictures, and whether some background turns it. A set without the object is only shown: there the class can
 * only be guessed from the background, which a model need not do. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "result/result.h"
#include "spotter/background.h"
#include "versions/version_values.h"

typedef struct {
    spot_background_results   run;
    spot_background_responses r;
} background_version;

enum { TURNED = SPOT_BACKGROUND_SETS, QUANTITIES };

static const char *name_of(const void *run, int model) { return ((const spot_background_results *)run)->unit[model].name; }

/* The share of right answers of target t in a set; NaN: it has no picture. */
static double share_right(const background_version *v, int t, int set)
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

/* 1: some background turns the answer; NaN: it is wrong on the original already. */
static double is_turned(const background_version *v, int t)
{
    return share_right(v, t, SPOT_SET_ORIGINAL) == 1 ? share_right(v, t, SPOT_SET_SUITE) < 1 : NAN;
}

static spot_status fill_values(spot_ctx *c, spot_version_values *v, const background_version *b, int model)
{
    const int targets = b->run.suite->targets;

    SPOT_TRY(spot_version_values_open(c, v, targets, QUANTITIES));
    memcpy(v->name, b->run.unit[model].name, sizeof v->name);
    for (int q = 0; q < QUANTITIES; q++) {
        snprintf(v->quantity[q].name, sizeof v->quantity[q].name, "%s", q == TURNED ? "turned" : spot_background_set_name(q));
        v->quantity[q].sign = spot_quantity_sign(spot_background_models.rows, v->quantity[q].name);
        v->quantity[q].scale = q == SPOT_SET_SUITE ? SPOT_MODEL_SHARE : SPOT_MODEL_ANSWER;
        v->quantity[q].level = q == SPOT_SET_ORIGINAL ? SPOT_MODEL_WHOLE : SPOT_MODEL_PART;
    }
    for (int t = 0; t < targets; t++) {
        snprintf(v->id[t], sizeof v->id[t], "%d", t);
        for (int q = 0; q < QUANTITIES; q++)
            *spot_version_value(v, q, t) = q == TURNED ? is_turned(b, t) : share_right(b, t, q);
    }
    return SPOT_OK;
}

static spot_status open_version(spot_ctx *c, background_version *b, spot_version_values *v, const spot_version_place *p)
{
    int model;

    SPOT_TRY(spot_background_read(c, &b->run, p->dir));
    SPOT_TRY(spot_version_model(c, &model, p, &b->run, b->run.units, name_of));
    SPOT_TRY(spot_background_responses_read(c, &b->r, p->dir, &b->run.unit[model]));
    return fill_values(c, v, b, model);
}

static spot_status read_versions(spot_ctx *c, spot_version_values v[SPOT_VERSIONS], const spot_version_place p[SPOT_VERSIONS])
{
    background_version b[SPOT_VERSIONS] = { 0 };
    spot_status s = open_version(c, &b[0], &v[0], &p[0]);

    if (s == SPOT_OK) s = open_version(c, &b[1], &v[1], &p[1]);
    if (s == SPOT_OK && strcmp(b[0].run.suite->key, b[1].run.suite->key))
        s = spot_fail(c, SPOT_INPUT, "{versions.suites} %s and %s looked at different suites (other pictures, backgrounds or "
                      "settings); examine both models with one config", p[0].dir, p[1].dir);
    for (int i = 0; i < SPOT_VERSIONS; i++) {
        spot_background_responses_free(&b[i].r);
        spot_background_close(&b[i].run);
    }
    return s;
}

const spot_version_reader spot_background_versions = {
    "background",
    { .quantity = "set", .objects = "targets", .worse = "lost", .better = "gained", .is_share = true,
      .whole = "original", .advice = "examine both models with one config",
      .note = "lost, gained: targets that became worse, better; turned: objects that both know and some background turns; "
              "no-fg has no object" },
    read_versions
};
