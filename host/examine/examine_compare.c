/* examine_compare.c - two versions of a model under the same examiners, seeds and objects. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examine_study.h"
#include "fit/statistics.h"

static const double LEVEL = 0.05;

static const size_t member[SPOT_EXAMINE_CHANGES] = {
    offsetof(spot_examine_point, mean), offsetof(spot_examine_point, lowest_valid), offsetof(spot_examine_point, robust)
};

const char *spot_examine_change_name(int quantity)
{
    static const char *const name[SPOT_EXAMINE_CHANGES] = { "mean", "lowest", "robust" };

    return quantity >= 0 && quantity < SPOT_EXAMINE_CHANGES ? name[quantity] : "unknown";
}

/* One side: the units of a model. */
typedef struct { const spot_examine_results *r; int model; } side;

static const spot_examine_result *unit_of(const side *v, int examiner, int seed, int object)
{
    const spot_examine_config *cfg = v->r->cfg;

    return &v->r->unit[((v->model * cfg->examiners + examiner) * cfg->search.seeds + seed) * v->r->objects + object];
}

/* ---- objects ---- */

/* twin (objects of a): the object of b with the same id; -1: none. */
static int match_objects(int *twin, const side *a, const side *b)
{
    int both = 0;

    for (int i = 0; i < a->r->objects; i++) {
        const char *id = unit_of(a, 0, 0, i)->object;
        twin[i] = -1;
        for (int k = 0; k < b->r->objects && twin[i] < 0; k++)
            if (!strcmp(id, unit_of(b, 0, 0, k)->object)) twin[i] = k;
        both += twin[i] >= 0;
    }
    return both;
}

/* A number of an object at the last point, as the mean over its seeds; NaN: no search has it. */
static double over_seeds(const side *v, int examiner, int object, int quantity)
{
    double sum = 0;
    int n = 0;

    for (int s = 0; s < v->r->cfg->search.seeds; s++) {
        const spot_examine_result *u = unit_of(v, examiner, s, object);
        const char *last = (const char *)&u->point[u->points - 1];
        const double x = *(const double *)(const void *)(last + member[quantity]);
        if (isfinite(x)) sum += x, n++;
    }
    return n ? sum / n : NAN;
}

/* ---- tests ---- */

/* The least p of n objects before Holm: all differences have one sign. */
static double least_of(int n) { return fmin(1, 2 * pow(0.5, n)); }

static spot_status compare_number(spot_ctx *c, spot_examine_change *x, const side *a, const side *b, const int *twin,
                                  double *difference)
{
    spot_difference d;
    int n = 0;

    for (int i = 0; i < a->r->objects; i++) {
        if (twin[i] < 0) continue;
        const double was = over_seeds(a, x->examiner, i, x->quantity), is = over_seeds(b, x->examiner, twin[i], x->quantity);
        if (!isfinite(was) || !isfinite(is)) continue;
        x->before += was, x->now += is;
        x->worse += is < was, x->better += is > was;
        difference[n++] = is - was;
    }
    x->objects = n;
    if (!n) return SPOT_OK;
    x->before /= n, x->now /= n;
    SPOT_TRY(spot_difference_of(c, &d, difference, n, NULL, 0, (uint32_t)(x->examiner * SPOT_EXAMINE_CHANGES + x->quantity)));
    x->change = (spot_interval){ d.mean, d.low, d.high };
    x->p = fmax(fmin(1, 2 * d.p), least_of(x->worse + x->better));     /* drawn signs may miss the least p */
    return SPOT_OK;
}

static void judge(spot_examine_comparison *out)
{
    double p[SPOT_EXAMINE_CHANGES * SPOT_MAX_EXAMINERS];

    for (int i = 0; i < out->changes; i++) p[i] = out->change[i].p;
    spot_holm(p, out->changes);
    out->least_p = fmin(1, out->changes * least_of(out->objects));
    for (int i = 0; i < out->changes; i++) {
        spot_examine_change *x = &out->change[i];
        x->p = p[i];
        x->is_worse = p[i] < LEVEL && x->change.value < 0;
        x->is_better = p[i] < LEVEL && x->change.value > 0;
        out->failed |= x->is_worse;
    }
}

static spot_status check_alike(spot_ctx *c, const spot_examine_results *a, const spot_examine_results *b)
{
    spot_examine_config *copy = malloc(2 * sizeof *copy);
    char words[512];
    bool differ;

    if (!copy) return spot_fail(c, SPOT_NOMEM, "no memory to compare two configs");
    copy[0] = *a->cfg, copy[1] = *b->cfg;
    copy[0].models = copy[1].models = 0;
    differ = spot_examines_differ(words, sizeof words, &copy[0], &copy[1]);
    free(copy);
    return differ ? spot_fail(c, SPOT_INPUT, "the two runs cannot be compared: %s; examine both versions with one config",
                              words) : SPOT_OK;
}

static void fill_head(spot_examine_comparison *out, const side *a, const side *b)
{
    const spot_examine_config *cfg = a->r->cfg;

    *out = (spot_examine_comparison){ .seeds = cfg->search.seeds };
    memcpy(out->before, cfg->model[a->model].name, sizeof out->before);
    memcpy(out->now, b->r->cfg->model[b->model].name, sizeof out->now);
    for (int e = 0; e < cfg->examiners; e++) {
        const int renders = spot_examine_search_of(cfg, &cfg->examiner[e]).renders;
        out->renders = renders > out->renders ? renders : out->renders;
        snprintf(out->examiner[e], sizeof out->examiner[e], "%s", spot_examine_label(&cfg->examiner[e]));
    }
}

static spot_status compare_all(spot_ctx *c, spot_examine_comparison *out, const side *a, const side *b, int *twin,
                               double *difference)
{
    out->objects = match_objects(twin, a, b);
    out->left_out = a->r->objects + b->r->objects - 2 * out->objects;
    if (!out->objects)
        return spot_fail(c, SPOT_INPUT, "%s and %s were examined on different objects; `objects: {choice: first}` examines the "
                         "same ones for every model", out->before, out->now);
    for (int e = 0; e < a->r->cfg->examiners; e++)
        for (int q = 0; q < SPOT_EXAMINE_CHANGES; q++) {
            spot_examine_change *x = &out->change[out->changes];
            *x = (spot_examine_change){ .examiner = e, .quantity = q };
            SPOT_TRY(compare_number(c, x, a, b, twin, difference));
            out->changes += x->objects > 0;
        }
    judge(out);
    return SPOT_OK;
}

spot_status spot_examine_compare_results(spot_ctx *c, spot_examine_comparison *out, const spot_examine_results *a, int was,
                                         const spot_examine_results *b, int is)
{
    const side one = { a, was }, two = { b, is };
    int *twin = malloc((size_t)a->objects * sizeof *twin);
    double *difference = malloc((size_t)a->objects * sizeof *difference);
    spot_status s = twin && difference ? check_alike(c, a, b)
                  : spot_fail(c, SPOT_NOMEM, "no memory for %d objects", a->objects);

    fill_head(out, &one, &two);
    if (s == SPOT_OK) s = compare_all(c, out, &one, &two, twin, difference);
    free(twin), free(difference);
    return s;
}

/* ---- two runs ---- */

static spot_status find_model(spot_ctx *c, int *model, const spot_examine_results *r, const char *name, const char *dir)
{
    *model = 0;
    if (!name && r->cfg->models == 1) return SPOT_OK;
    for (; name && *model < r->cfg->models; ++*model)
        if (!strcmp(r->cfg->model[*model].name, name)) return SPOT_OK;
    if (name) return spot_fail(c, SPOT_USAGE, "%s has no model \"%s\"", dir, name);
    return spot_fail(c, SPOT_USAGE, "%s has %d models; name one, such as %s:%s", dir, r->cfg->models, dir,
                     r->cfg->model[0].name);
}

static spot_status open_version(spot_ctx *c, spot_examine_results *r, int *model, const char *where)
{
    char dir[1024];
    const char *colon = strrchr(where, ':');

    snprintf(dir, sizeof dir, "%.*s", colon ? (int)(colon - where) : (int)strlen(where), where);
    SPOT_TRY(spot_examine_read(c, r, dir));
    return find_model(c, model, r, colon ? colon + 1 : NULL, dir);
}

spot_status spot_examine_compare(spot_ctx *c, spot_examine_comparison *out, const char *before, const char *now)
{
    spot_examine_results a = { 0 }, b = { 0 };
    int was, is;
    spot_status s = open_version(c, &a, &was, before);

    *out = (spot_examine_comparison){ 0 };
    if (s == SPOT_OK) s = open_version(c, &b, &is, now);
    if (s == SPOT_OK) s = spot_examine_compare_results(c, out, &a, was, &b, is);
    spot_examine_close(&a), spot_examine_close(&b);
    return s;
}
