/* background_write.c - background.json, one object with every number, and background.csv, a line for each model, set and
 * class. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_study.h"
#include "spotter/worst_pairs.h"
#include "base/file.h"
#include "base/json.h"
#include "spotter/model.h"
#include "spotter/variance.h"
#include "spotter/zoo.h"

enum { WORST = 20 };           /* pairs in the document */

/* ---- the suite ---- */

static void put_suite(spot_json *j, const spot_background_results *r)
{
    const spot_background_suite *s = r->suite;
    const size_t n = (size_t)s->targets * (size_t)s->n;
    int unreal = 0;

    for (size_t i = 0; i < n; i++) unreal += s->unreal[i];
    spot_json_object(j, "suite");
    spot_json_put_text(j, "key", s->key);
    spot_json_put_text(j, "choice", spot_background_choice_name(r->cfg->suite.choice));
    spot_json_put_text(j, "encoder", s->encoder);
    spot_json_put_int(j, "targets", s->targets);
    spot_json_put_int(j, "backgrounds_of_a_target", s->n);
    spot_json_put_int(j, "different_backgrounds", s->backgrounds);
    spot_json_put_int(j, "masks_empty", s->empty);
    spot_json_put_int(j, "objects_too_small", s->small);
    spot_json_put_int(j, "objects_too_large", s->large);
    spot_json_put_int(j, "masks_perhaps_inverted", s->inverted);
    spot_json_put_int(j, "backgrounds_with_a_class", s->with_class);
    spot_json_put_int(j, "backgrounds_that_were_the_target", s->own);
    spot_json_put_int(j, "blends_below_realness", unreal);
    spot_json_put_real(j, "range", s->range);
    spot_json_end(j);
}

static void put_settings(spot_json *j, const spot_background_config *cfg)
{
    const spot_background_measure *m = &cfg->measure;

    spot_json_object(j, "settings");
    spot_json_put_int(j, "size", cfg->data.size);
    spot_json_put_text(j, "fit", cfg->data.fit == SPOT_FIT_SQUASH ? "squash" : "middle");
    spot_json_put_int(j, "part", cfg->data.part);
    spot_json_put_int(j, "levels", m->levels);
    spot_json_put_real(j, "realness", cfg->suite.realness);
    spot_json_put_int(j, "seed", (long long)cfg->suite.seed);
    spot_json_put_text(j, "confidence", m->confidence ? "true" : "greatest");
    spot_json_put_int(j, "top", m->top);
    spot_json_put_text(j, "precision", spot_precision_name((spot_precision)m->precision));
    spot_json_put_int(j, "grid", m->grid);
    spot_json_put_int(j, "kernel", m->kernel);
    spot_json_put_real(j, "sigma", m->sigma);
    spot_json_put_int(j, "neighbours", m->neighbours);
    spot_json_put_text(j, "method", m->exact ? "exact" : "binned");
    spot_json_end(j);
}

/* ---- a model ---- */

static void put_sets(spot_json *j, const spot_background_result *u, const spot_background_summary *s)
{
    spot_json_object(j, "sets");
    for (int k = 0; k < SPOT_BACKGROUND_SETS; k++) {
        int count = 0, right = 0;
        for (int i = 0; i < u->classes; i++) count += u->count[k][i], right += u->right[k][i];
        if (!count) continue;
        spot_json_object(j, spot_background_set_name(k));
        spot_json_put_int(j, "pictures", count);
        spot_json_put_int(j, "right", right);
        spot_json_put_interval(j, "accuracy", s->accuracy[k]);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_classes(spot_json *j, const spot_background_results *r, const spot_background_result *u)
{
    spot_json_array(j, "classes", u->classes, u->classes);
    for (int i = 0; i < u->classes; i++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "class", r->suite->class_name[i]);
        spot_json_put_int(j, "targets", u->count[SPOT_SET_ORIGINAL][i]);
        for (int k = 0; k < SPOT_BACKGROUND_SETS; k++)
            if (u->count[k][i])
                spot_json_put_interval(j, spot_background_set_name(k), k == SPOT_SET_SUITE
                             ? (spot_interval){ (double)u->right[k][i] / u->count[k][i], NAN, NAN }
                                 : spot_share_of(u->right[k][i], u->count[k][i]));
        spot_json_put_interval(j, "turned", spot_share_of(u->turned[i], u->right[SPOT_SET_ORIGINAL][i]));
        spot_json_put_interval(j, "worst_case", spot_share_of(u->steady[i], u->count[SPOT_SET_ORIGINAL][i]));
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_matrices(spot_json *j, const spot_background_result *u)
{
    spot_json_array(j, "matrices", 0, 0);
    for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++) {
        if (!u->has[k]) continue;
        spot_json_object(j, NULL);
        spot_json_put_text(j, "of", spot_background_matrix_name(k));
        spot_json_object(j, "features");
        for (int i = 0; i < SPOT_BACKGROUND_FEATURES; i++) spot_json_put_real(j, spot_variance_names[i], u->feature[k][i]);
        spot_json_end(j);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_array(j, "neuron_coverage", 0, 0);
    for (int k = 0; k < SPOT_COVERAGES && u->channels; k++) {
        spot_json_object(j, NULL);
        spot_json_put_real(j, "above", spot_coverage_at[k]);
        spot_json_put_real(j, "share", u->coverage[k]);
        spot_json_end(j);
    }
    spot_json_end(j);
}

/* The blends on which an object that the model knows is taken for something else, the surest answers first. */
static spot_status put_worst(spot_ctx *c, spot_json *j, const spot_background_results *r, const spot_background_result *u,
                             const char *dir)
{
    spot_background_responses p;
    spot_worst_pair worst[WORST];
    spot_status s = spot_background_responses_read(c, &p, dir, u);
    int n = s == SPOT_OK ? spot_worst_pairs(worst, WORST, &p, r->suite, r->cfg->measure.confidence) : 0;

    spot_json_array(j, "worst_pairs", 0, 0);
    for (int i = 0; i < n; i++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "target", r->suite->target[worst[i].target]);
        spot_json_put_text(j, "background", r->suite->background[worst[i].background]);
        spot_json_put_text(j, "class", r->suite->class_name[r->suite->cls[worst[i].target]]);
        spot_json_put_text(j, "answer", worst[i].answer >= 0 ? r->suite->class_name[worst[i].answer] : "another class");
        spot_json_put_real(j, "confidence", worst[i].confidence);
        spot_json_put_real(j, "distance", worst[i].distance);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_background_responses_free(&p);
    return s;
}

static spot_status put_model(spot_ctx *c, spot_json *j, const spot_background_results *r, int unit, const char *dir)
{
    const spot_background_result *u = &r->unit[unit];
    const spot_background_summary *s = &r->summary[unit];
    spot_status how;

    spot_json_object(j, NULL);
    spot_json_put_int(j, "unit", u->index);
    spot_json_put_text(j, "model", u->name);
    spot_json_put_text(j, "identity", u->identity);
    spot_json_put_int(j, "outputs", u->outputs);
    spot_json_put_int(j, "embedding", u->dim);
    spot_json_put_int(j, "channels", u->channels);
    if (r->cfg->model[unit].reliance >= 0) spot_json_put_real(j, "planted_reliance", r->cfg->model[unit].reliance);
    spot_json_put_interval(j, "accuracy", s->accuracy[SPOT_SET_ORIGINAL]);
    if (isfinite(s->reordered)) spot_json_put_real(j, "accuracy_in_another_order", s->reordered);
    spot_json_put_interval(j, "lost_on_the_suite", s->lost);
    spot_json_put_interval(j, "bg_gap", s->gap);
    spot_json_put_interval(j, "turned_by_some_background", s->turned);
    spot_json_put_interval(j, "worst_case_accuracy", s->steady);
    put_sets(j, u, s);
    put_matrices(j, u);
    spot_json_put_int(j, "images_left_out_of_matrices", u->left_out);
    put_classes(j, r, u);
    how = put_worst(c, j, r, u, dir);
    spot_json_end(j);
    return how;
}

/* Puts how measures order models of planted reliance. */
static spot_status put_ranks(spot_ctx *c, spot_json *j, const spot_background_results *r, const char *dir)
{
    spot_zoo_rank rank[SPOT_ZOO_RANKS];
    int n;

    SPOT_TRY(spot_zoo_ranks(c, rank, &n, r, dir));
    spot_json_array(j, "rank_correlations", n, n);
    for (int i = 0; i < n; i++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "measure", rank[i].name);
        spot_json_put_int(j, "models", rank[i].models);
        spot_json_put_interval(j, "with_planted_reliance", rank[i].planted);
        spot_json_put_interval(j, "with_learned_reliance", rank[i].learned);
        spot_json_end(j);
    }
    spot_json_end(j);
    return SPOT_OK;
}

static spot_status write_json(spot_ctx *c, const spot_background_results *r, const char *dir, const char *key)
{
    char path[SPOT_BACKGROUND_PATH];
    spot_json j = { 0 };
    spot_status s;

    snprintf(path, sizeof path, "%s/background.json", dir);
    SPOT_TRY(spot_json_begin(c, &j, " "));
    spot_json_object(&j, NULL);
    spot_json_put_int(&j, "schema", 1);
    spot_json_put_text(&j, "config", key);
    spot_json_put_int(&j, "numbers", SPOT_BACKGROUND_NUMBERS);
    put_settings(&j, r->cfg);
    put_suite(&j, r);
    spot_json_array(&j, "models", r->units, r->units);
    s = SPOT_OK;
    for (int u = 0; u < r->units && s == SPOT_OK; u++) s = put_model(c, &j, r, u, dir);
    spot_json_end(&j);
    if (s == SPOT_OK && r->cfg->zoo.models) s = put_ranks(c, &j, r, dir);
    spot_json_end(&j);
    if (s == SPOT_OK) s = spot_json_whole(c, &j, path);
    if (s == SPOT_OK) s = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return s;
}

/* ---- the table ---- */

static bool write_lines(FILE *f, const void *user)
{
    const spot_background_results *r = user;

    fputs("model,set,class,pictures,right\n", f);
    for (int u = 0; u < r->units; u++)
        for (int k = 0; k < SPOT_BACKGROUND_SETS; k++)
            for (int i = 0; i < r->unit[u].classes; i++) {
                if (!r->unit[u].count[k][i]) continue;
                spot_csv_field(f, r->unit[u].name);
                fprintf(f, ",%s,", spot_background_set_name(k));
                spot_csv_field(f, r->suite->class_name[i]);
                fprintf(f, ",%d,%d\n", r->unit[u].count[k][i], r->unit[u].right[k][i]);
            }
    return !ferror(f);
}

spot_status spot_background_write(spot_ctx *c, const spot_study *y, const char *dir, const char *key)
{
    char path[SPOT_BACKGROUND_PATH];
    spot_background_results r;
    spot_status s = spot_background_collect(c, y, &r, dir);

    snprintf(path, sizeof path, "%s/background.csv", dir);
    if (s == SPOT_OK) {
        s = spot_file_fill(c, path, write_lines, &r);
        if (s == SPOT_OK) s = write_json(c, &r, dir, key);
    } else if (r.missing) {
        spot_forget(c);
        s = SPOT_OK;
    }
    spot_background_close(&r);
    return s;
}
