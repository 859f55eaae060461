/* versions_shifts.c - what spotter shifts tells of two versions of a model: of every class, the share of right answers on the
 * pictures of each source and shift that count there. */
#include <stdio.h>
#include <string.h>

#include "shifts/shifts_config.h"
#include "versions/version_values.h"

static const char *name_of(const void *run, int model) { return ((const spot_shifts_results *)run)->cfg->model[model].name; }

/* The first unit with pictures of a source; before it come the real ones, which many tables do not answer. */
static int first_unit(const spot_shifts_results *r) { return spot_shift_unit_of(r->cfg, 0, SPOT_BASE_PICTURES); }

/* Whether class k counts, as it does in the estimates of impact and slope. */
static bool class_counts(const spot_shifts_results *r, const spot_shift_result *u, int set, int k)
{
    const spot_shift_rule *rule = &r->cfg->evaluation.rule;
    const spot_shift_result *base = &r->unit[spot_shift_unit_of(r->cfg, u->source, SPOT_BASE_PICTURES)];
    const int n = u->count[set][k];

    return n && (u == base || n >= rule->least) && base->count[set][k] >= rule->least_base;
}

static void fill_unit(spot_version_values *v, const spot_shifts_results *r, int model, int unit)
{
    const spot_shift_result *u = &r->unit[unit];
    const int q = unit - first_unit(r), set = spot_shift_compared(r, u->source);
    const int base = spot_shift_unit_of(r->cfg, u->source, SPOT_BASE_PICTURES);
    const int *right = u->right[set] + (size_t)model * (size_t)u->classes;

    snprintf(v->quantity[q].group, sizeof v->quantity[q].group, "%s", u->name);
    strcpy(v->quantity[q].name, "accuracy");
    v->quantity[q].sign = 1, v->quantity[q].scale = SPOT_MODEL_NUMBER;
    v->quantity[q].level = unit == base ? SPOT_MODEL_WHOLE : SPOT_MODEL_PART;
    for (int k = 0; k < u->classes; k++)
        if (class_counts(r, u, set, k)) *spot_version_value(v, q, k) = (double)right[k] / u->count[set][k];
}

static spot_status fill_values(spot_ctx *c, spot_version_values *v, const spot_shifts_results *r, int model)
{
    const spot_shift_result *first = &r->unit[first_unit(r)];

    SPOT_TRY(spot_version_values_open(c, v, first->classes, r->units - first_unit(r)));
    snprintf(v->name, sizeof v->name, "%s", r->cfg->model[model].name);
    for (int k = 0; k < first->classes; k++) memcpy(v->id[k], first->class_name[k], sizeof v->id[k]);
    for (int i = first_unit(r); i < r->units; i++) fill_unit(v, r, model, i);
    return SPOT_OK;
}

/* Equal pictures, of which the same ones count. */
static bool is_alike(const spot_shifts_results *a, const spot_shifts_results *b, int i)
{
    const spot_shift_result *x = &a->unit[first_unit(a) + i], *y = &b->unit[first_unit(b) + i];
    const int s = spot_shift_compared(a, x->source), t = spot_shift_compared(b, y->source);

    return !strcmp(x->id, y->id) && x->classes == y->classes && !strcmp(x->pictures_hash, y->pictures_hash) && s == t
        && !memcmp(x->count[s], y->count[s], (size_t)x->classes * sizeof *x->count[s]);
}

static spot_status check_alike(spot_ctx *c, const spot_shifts_results *a, const spot_shifts_results *b)
{
    const int units = a->units - first_unit(a);

    if (units != b->units - first_unit(b))
        return spot_fail(c, SPOT_INPUT, "the two runs cannot be compared: they have %d and %d folders of sources and shifts",
                         units, b->units - first_unit(b));
    for (int i = 0; i < units; i++)
        if (!is_alike(a, b, i))
            return spot_fail(c, SPOT_INPUT, "the two runs cannot be compared: other pictures of \"%s\", or others that pass "
                             "the filter; run both models with one config", a->unit[first_unit(a) + i].name);
    return SPOT_OK;
}

static spot_status read_versions(spot_ctx *c, spot_version_values v[SPOT_VERSIONS], const spot_version_place p[SPOT_VERSIONS])
{
    spot_shifts_results r[SPOT_VERSIONS] = { 0 };
    spot_status s = SPOT_OK;
    int model[SPOT_VERSIONS];

    for (int i = 0; s == SPOT_OK && i < SPOT_VERSIONS; i++) {
        s = spot_shifts_read(c, &r[i], p[i].dir);
        if (s == SPOT_OK) s = spot_version_model(c, &model[i], &p[i], &r[i], r[i].cfg->models, name_of);
    }
    if (s == SPOT_OK) s = check_alike(c, &r[0], &r[1]);
    for (int i = 0; s == SPOT_OK && i < SPOT_VERSIONS; i++) s = fill_values(c, &v[i], &r[i], model[i]);
    spot_shifts_close(&r[0]), spot_shifts_close(&r[1]);
    return s;
}

const spot_version_reader spot_shifts_versions = {
    "shifts",
    { .group = "folder", .quantity = "quantity", .objects = "classes", .worse = "worse", .better = "better", .is_share = true,
      .whole = "accuracy on a source's own pictures", .advice = "run both models with one config",
      .note = "accuracy: mean over classes; worse, better: classes whose accuracy fell, rose" },
    read_versions
};
