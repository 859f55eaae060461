/* versions_examine.c - what spotter examine tells of two versions of a model: of every object, three numbers of each examiner's
 * searches at their last point, as means over the seeds. */
#include <stdio.h>

#include "examine/examine_study.h"
#include "versions/versions_examine.h"

enum { NUMBERS = 3 };

static const struct { const char *name; spot_examine_quantity of; } number[NUMBERS] = {
    { "mean", SPOT_EXAMINE_MEAN }, { "lowest", SPOT_EXAMINE_LOWEST_VALID }, { "robust", SPOT_EXAMINE_ROBUST }
};

static const char *name_of(const void *run, int model) { return ((const spot_examine_results *)run)->cfg->model[model].name; }

static void fill_head(spot_version_values *v, const spot_examine_results *r, int model)
{
    const spot_examine_config *cfg = r->cfg;
    int most = 0;

    snprintf(v->name, sizeof v->name, "%s", cfg->model[model].name);
    for (int e = 0; e < cfg->examiners; e++) {
        const int renders = spot_examine_search_of(cfg, &cfg->examiner[e]).renders;
        most = renders > most ? renders : most;
    }
    v->facts = (spot_model_facts){ 2, { { "seeds", cfg->search.seeds }, { "renders", most } } };
}

static spot_status fill_values(spot_ctx *c, spot_version_values *v, const spot_examine_results *r, int model)
{
    const spot_examine_config *cfg = r->cfg;

    SPOT_TRY(spot_version_values_open(c, v, r->objects, cfg->examiners * NUMBERS));
    fill_head(v, r, model);
    for (int i = 0; i < r->objects; i++)
        snprintf(v->id[i], sizeof v->id[i], "%s", spot_examine_first_unit(r, model, 0)[i].object);
    for (int q = 0; q < v->quantities; q++) {
        const spot_examine_result *first = spot_examine_first_unit(r, model, q / NUMBERS);
        snprintf(v->quantity[q].group, sizeof v->quantity[q].group, "%s", spot_examine_label(&cfg->examiner[q / NUMBERS]));
        snprintf(v->quantity[q].name, sizeof v->quantity[q].name, "%s", number[q % NUMBERS].name);
        v->quantity[q].sign = spot_quantity_sign(spot_examine_curves(r)->rows, number[q % NUMBERS].name);
        v->quantity[q].scale = SPOT_MODEL_NUMBER;
        v->quantity[q].level = number[q % NUMBERS].of == SPOT_EXAMINE_MEAN ? SPOT_MODEL_WHOLE : SPOT_MODEL_PART;
        for (int i = 0; i < r->objects; i++)
            *spot_version_value(v, q, i) = spot_examine_over_seeds(r, first, i, first->points - 1, number[q % NUMBERS].of);
    }
    return SPOT_OK;
}

/* SPOT_INPUT where the runs differ in anything but their models. */
static spot_status check_alike(spot_ctx *c, const spot_examine_results *a, const spot_examine_results *b)
{
    spot_examine_config copy[SPOT_VERSIONS] = { *a->cfg, *b->cfg };
    char words[512];

    copy[0].models = copy[1].models = 0;
    if (!spot_study_differs(&spot_examine_study, words, sizeof words, &copy[0], &copy[1])) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{versions.other_config} the two runs cannot be compared: %s; examine both versions with "
                     "one config", words);
}

spot_status spot_examine_version_values(spot_ctx *c, spot_version_values v[SPOT_VERSIONS],
                                        const spot_examine_results r[SPOT_VERSIONS], const int model[SPOT_VERSIONS])
{
    SPOT_TRY(check_alike(c, &r[0], &r[1]));
    SPOT_TRY(fill_values(c, &v[0], &r[0], model[0]));
    return fill_values(c, &v[1], &r[1], model[1]);
}

static spot_status read_versions(spot_ctx *c, spot_version_values v[SPOT_VERSIONS], const spot_version_place p[SPOT_VERSIONS])
{
    spot_examine_results r[SPOT_VERSIONS] = { 0 };
    spot_status s = SPOT_OK;
    int model[SPOT_VERSIONS];

    for (int i = 0; s == SPOT_OK && i < SPOT_VERSIONS; i++) {
        s = spot_examine_read(c, &r[i], p[i].dir);
        if (s == SPOT_OK) s = spot_version_model(c, &model[i], &p[i], &r[i], r[i].cfg->models, name_of);
    }
    if (s == SPOT_OK) s = spot_examine_version_values(c, v, r, model);
    spot_examine_close(&r[0]), spot_examine_close(&r[1]);
    return s;
}

const spot_version_reader spot_examine_versions = {
    "examine",
    { .group = "examiner", .quantity = "quantity", .objects = "objects", .worse = "worse", .better = "better",
      .whole = "the means",
      .advice = "`objects: {choice: first}` examines the same ones for every model",
      .note = "p of the true class; worse, better: objects whose p fell, rose; mean: of the last renders" },
    read_versions
};
