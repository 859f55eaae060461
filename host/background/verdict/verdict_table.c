/* verdict_table.c - models as rows of features (verdict.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_config.h"
#include "spotter/verdict.h"
#include "spotter/zoo.h"

const char *spot_verdict_feature_name(char text[64], int feature)
{
    snprintf(text, 64, "%s: %s", spot_background_matrix_name(feature / SPOT_BACKGROUND_FEATURES),
             spot_variance_names[feature % SPOT_BACKGROUND_FEATURES]);
    return text;
}

void spot_verdict_table_free(spot_verdict_table *t)
{
    free(t->model);
    *t = (spot_verdict_table){ 0 };
}

/* ---- rows ---- */

static spot_status check_row(spot_ctx *c, const spot_verdict_table *t, const spot_verdict_model *m, int matrices)
{
    const int features = matrices * SPOT_BACKGROUND_FEATURES;
    char name[64];

    if (t->models && features != t->features)
        return spot_fail(c, SPOT_INPUT, "{verdict.model_matrices} %s has %d and %s has %d of the %d variance matrices: a "
                         "forest takes models with the same ones, so give those with embeddings and those without apart",
                         t->model[0].name, t->features / SPOT_BACKGROUND_FEATURES, m->name, matrices, SPOT_BACKGROUND_MATRICES);
    for (int i = 0; i < features; i++)
        if (!isfinite(m->feature[i]))
            return spot_fail(c, SPOT_INPUT, "{verdict.value} %s: \"%s\" is %g, no finite number", m->name,
                             spot_verdict_feature_name(name, i), m->feature[i]);
    for (int i = 0; i < t->models; i++) {
        if (m->identity[0] && !strcmp(t->model[i].identity, m->identity))
            return spot_fail(c, SPOT_INPUT, "{verdict.model_twice} %s and %s are one model: a split could train on one and "
                             "test on the other; leave one run out", t->model[i].name, m->name);
        if (!strcmp(t->model[i].name, m->name)) return spot_fail(c, SPOT_INPUT, "{verdict.name_twice} two models are named %s",
                                                                 m->name);
    }
    return SPOT_OK;
}

spot_status spot_verdict_table_put(spot_ctx *c, spot_verdict_table *t, const spot_verdict_model *m, int matrices)
{
    if (matrices != 1 && matrices != SPOT_BACKGROUND_MATRICES)
        return spot_fail(c, SPOT_INVALID, "%s: features of %d matrices, not of 1 or %d", m->name, matrices,
                         SPOT_BACKGROUND_MATRICES);
    SPOT_TRY(check_row(c, t, m, matrices));
    if (t->models == t->room) {
        const int room = t->room ? 2 * t->room : 64;
        spot_verdict_model *more = realloc(t->model, (size_t)room * sizeof *more);
        if (!more) return spot_fail(c, SPOT_NOMEM, "no memory for the features of %d models", room);
        t->model = more, t->room = room;
    }
    t->features = matrices * SPOT_BACKGROUND_FEATURES;
    t->model[t->models++] = *m;
    return SPOT_OK;
}

/* ---- a run ---- */

static void describe_measure(spot_verdict_table *t, const spot_background_config *cfg, const char *encoder)
{
    static const char *const choice[SPOT_SUITE_CHOICES] = { "random", "nearest", "interval", "clip", "ontology" };
    const spot_background_measure *m = &cfg->measure;

    snprintf(t->measured, sizeof t->measured, "grid %d, kernel %d, sigma %.9g, neighbours %d, %s points, range %.9g, levels "
             "%d, top %d, confidence %s", m->grid, m->kernel, m->sigma, m->neighbours, m->exact ? "exact" : "binned", m->range,
             m->levels, m->top, m->confidence ? "true" : "greatest");
    snprintf(t->suite, sizeof t->suite, "%s, N %d, distances by %.120s", choice[cfg->suite.choice], cfg->suite.n, encoder);
}

/* The number of a model's matrices; 0: they are not those that a forest takes. */
static int count_matrices(const spot_background_result *u)
{
    int n = 0;

    while (n < SPOT_BACKGROUND_MATRICES && u->has[n]) n++;
    return n == SPOT_BACKGROUND_MATRICES ? n : n > 0;
}

static double share_of(const int *part, const int *all, int classes)
{
    double hits = 0, n = 0;

    for (int k = 0; k < classes; k++) hits += part[k], n += all[k];
    return n > 0 ? hits / n : NAN;
}

static spot_verdict_model model_of(const spot_background_config *cfg, const spot_background_result *u)
{
    const double planted = u->index < cfg->models ? cfg->model[u->index].reliance : NAN;
    spot_verdict_model m = { .reliance = { planted >= 0 ? planted : NAN, NAN } };

    memcpy(m.name, u->name, sizeof m.name);
    memcpy(m.identity, u->identity, sizeof m.identity);
    for (int i = 0; i < SPOT_VERDICT_FEATURES; i++)
        m.feature[i] = (float)u->feature[i / SPOT_BACKGROUND_FEATURES][i % SPOT_BACKGROUND_FEATURES];
    memcpy(m.coverage, u->coverage, sizeof m.coverage);
    m.accuracy = share_of(u->right[SPOT_SET_ORIGINAL], u->count[SPOT_SET_ORIGINAL], u->classes);
    m.worst = share_of(u->steady, u->count[SPOT_SET_ORIGINAL], u->classes);
    return m;
}

/* A name that another run's model has gets its run before it. */
static void tell_apart(spot_verdict_model *m, const spot_verdict_table *t, int before, const char *dir)
{
    const size_t length = strlen(dir);
    size_t end = length, from;
    char name[64];

    while (end > 1 && dir[end - 1] == '/') end--;
    for (from = end; from > 0 && dir[from - 1] != '/'; ) from--;
    for (int i = 0; i < before; i++) {
        if (strcmp(t->model[i].name, m->name)) continue;
        snprintf(name, sizeof name, "%.*s/%.38s", (int)(end - from > 24 ? 24 : end - from), dir + from, m->name);
        memcpy(m->name, name, sizeof name);
        return;
    }
}

/* truth: SPOT_ZOO_MODELS, some of which get a name. A run that moved may lack the file that says what its models learned. */
static spot_status read_truth(spot_ctx *c, spot_zoo_truth *truth, const spot_background_results *r, const char *dir)
{
    char path[SPOT_BACKGROUND_PATH];
    spot_status s = SPOT_OK;

    snprintf(path, sizeof path, "%.1200s/zoo", dir);
    if (r->cfg->zoo.models) s = spot_zoo_truth_read(c, truth, path, &r->cfg->zoo);
    if (s == SPOT_IO) s = SPOT_OK, spot_forget(c);
    return s;
}

static double learned_by(const spot_zoo_truth *truth, const char *name)
{
    for (int k = 0; k < SPOT_ZOO_MODELS; k++)
        if (!strcmp(truth[k].recipe.name, name)) return truth[k].reliance;
    return NAN;
}

static spot_status add_models(spot_ctx *c, spot_verdict_table *t, const spot_background_results *r, const spot_zoo_truth *truth,
                              const char *dir)
{
    const int before = t->models;

    for (int i = 0; i < r->units; i++) {
        spot_verdict_model m = model_of(r->cfg, &r->unit[i]);
        const int matrices = count_matrices(&r->unit[i]);
        if (!matrices) return spot_fail(c, SPOT_INPUT, "%s: %s has no variance matrix", dir, m.name);
        m.run = before ? t->model[before - 1].run + 1 : 0;
        if (r->summary) spot_background_dependence_words(m.dependence, sizeof m.dependence, &r->summary[i]);
        m.reliance[SPOT_TRUTH_LEARNED] = learned_by(truth, m.name);
        tell_apart(&m, t, before, dir);
        SPOT_TRY(spot_verdict_table_put(c, t, &m, matrices));
    }
    return SPOT_OK;
}

spot_status spot_verdict_table_add(spot_ctx *c, spot_verdict_table *t, const spot_background_results *r, const char *dir)
{
    const int before = t->models;
    spot_verdict_table of = { 0 };
    spot_zoo_truth *truth;
    spot_status s;

    describe_measure(&of, r->cfg, r->suite ? r->suite->encoder : "unknown encoders");
    if (before && strcmp(t->measured, of.measured))
        return spot_fail(c, SPOT_INPUT, "{verdict.runs_matrices} %s has matrices of %s; the runs before it of %s: their "
                         "features do not compare", dir, of.measured, t->measured);
    truth = calloc(SPOT_ZOO_MODELS, sizeof *truth);
    s = truth ? read_truth(c, truth, r, dir) : spot_fail(c, SPOT_NOMEM, "no memory for what planted models learned");
    if (s == SPOT_OK) s = add_models(c, t, r, truth, dir);
    free(truth);
    if (s != SPOT_OK) return t->models = before, s;
    if (!before) memcpy(t->suite, of.suite, sizeof t->suite);
    else if (strcmp(t->suite, of.suite)) snprintf(t->suite, sizeof t->suite, "several suites");
    memcpy(t->measured, of.measured, sizeof t->measured);
    return SPOT_OK;
}

void spot_coverage_mean(double coverage[SPOT_COVERAGES], const spot_verdict_table *t)
{
    for (int k = 0; k < SPOT_COVERAGES; k++) {
        double sum = 0;
        int n = 0;
        for (int i = 0; i < t->models; i++)
            if (isfinite(t->model[i].coverage[k])) sum += t->model[i].coverage[k], n++;
        coverage[k] = n ? sum / n : NAN;
    }
}
