/* failure_json.c - failures.json: one description writes it and reads it. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "examine/failure_parts.h"
#include "result/result.h"

enum { SCHEMA = 2, MOST = 10000000 };

static const size_t LARGEST = (size_t)1 << 32;

static void describe_factor(spot_json *j, const char *key, int *factor)
{
    char name[48];

    snprintf(name, sizeof name, "%s", spot_factor_label(*factor));
    spot_json_text(j, key, name, sizeof name);
    if (!j->gen) *factor = spot_factor_find(name);
}

/* Values of factors; NaN ones are left out. */
static void describe_factors(spot_json *j, const char *key, double v[SPOT_FACTORS])
{
    spot_json_object(j, key);
    for (int f = 0; f < SPOT_FACTORS; f++) {
        if (!j->gen) v[f] = NAN;
        if (j->gen ? isfinite(v[f]) : spot_json_has(j, spot_factor_label(f))) spot_json_real(j, spot_factor_label(f), &v[f]);
    }
    spot_json_end(j);
}

static void describe_interval(spot_json *j, const char *key, spot_interval *v)
{
    spot_json_object(j, key);
    spot_json_real(j, "value", &v->value);
    spot_json_real(j, "low", &v->low);
    spot_json_real(j, "high", &v->high);
    spot_json_end(j);
}

/* ---- maps ---- */

static void describe_count(spot_json *j, spot_failure_count *k)
{
    spot_json_int(j, "renders", &k->renders);
    spot_json_int(j, "valid", &k->valid);
    spot_json_int(j, "failing", &k->failing);
    spot_json_int(j, "failing_valid", &k->failing_valid);
    spot_json_real(j, "mean", &k->mean);
    spot_json_real(j, "mean_valid", &k->mean_valid);
}

/* A list of each number: a list of objects would be three times as long. */
static void describe_cells(spot_json *j, const char *key, spot_failure_count cell[SPOT_SPHERE_CELLS])
{
    static const struct { const char *name; size_t at; bool real; } part[] = {
        { "renders", offsetof(spot_failure_count, renders), false }, { "valid", offsetof(spot_failure_count, valid), false },
        { "failing", offsetof(spot_failure_count, failing), false },
        { "failing_valid", offsetof(spot_failure_count, failing_valid), false },
        { "mean", offsetof(spot_failure_count, mean), true }, { "mean_valid", offsetof(spot_failure_count, mean_valid), true },
    };

    spot_json_object(j, key);
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        const int n = spot_json_array(j, part[k].name, SPOT_SPHERE_CELLS, SPOT_SPHERE_CELLS);
        for (int i = 0; i < n; i++) {
            char *v = (char *)&cell[i] + part[k].at;
            if (part[k].real) spot_json_real(j, NULL, (double *)(void *)v);
            else spot_json_int(j, NULL, (int *)(void *)v);
        }
        spot_json_end(j);
        if (n != SPOT_SPHERE_CELLS) j->wrong = key;
    }
    spot_json_end(j);
}

static void describe_map(spot_json *j, spot_failure_map *m)
{
    static const char *const sphere[SPOT_SPHERES] = { "camera", "lamp" };

    spot_json_object(j, NULL);
    spot_json_int(j, "model", &m->model);
    spot_json_int(j, "class", &m->cls);
    spot_json_int(j, "object", &m->object);
    describe_count(j, &m->all);
    if (j->gen) spot_json_put_interval(j, "failing_share", spot_share_of(m->all.failing, m->all.renders));
    for (int k = 0; k < SPOT_SPHERES; k++) {
        if (!j->gen) m->has[k] = spot_json_has(j, sphere[k]);
        if (m->has[k]) describe_cells(j, sphere[k], m->cell[k]);
    }
    spot_json_end(j);
}

/* ---- mixtures ---- */

static void describe_mixture(spot_json *j, spot_failure_mixture *m)
{
    spot_json_object(j, NULL);
    spot_json_int(j, "model", &m->model);
    spot_json_int(j, "class", &m->cls);
    spot_json_int(j, "failures", &m->failures);
    spot_json_real(j, "bic", &m->bic);
    m->components = spot_json_array(j, "components", m->components, SPOT_MAX_FAILURE_COMPONENTS);
    for (int k = 0; k < m->components; k++) {
        spot_json_object(j, NULL);
        spot_json_real(j, "weight", &m->component[k].weight);
        describe_factors(j, "centre", m->component[k].centre);
        describe_factors(j, "spread", m->component[k].spread);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
}

/* ---- along the factors ---- */

static void describe_axis(spot_json *j, spot_failure_axis *a)
{
    int n;

    spot_json_object(j, NULL);
    describe_factor(j, "factor", &a->factor);
    spot_json_real(j, "below", &a->below);
    spot_json_real(j, "above", &a->above);
    n = spot_json_array(j, "at", SPOT_SCAN_STEPS, SPOT_SCAN_STEPS);
    for (int k = 0; k < n; k++) spot_json_real(j, NULL, &a->at[k]);
    spot_json_end(j);
    if (spot_json_array(j, "p", SPOT_SCAN_STEPS, SPOT_SCAN_STEPS) != n || n != SPOT_SCAN_STEPS) j->wrong = "p";
    for (int k = 0; k < n; k++) spot_json_real(j, NULL, &a->p[k]);
    spot_json_end(j);
    n = spot_json_array(j, "valid", SPOT_SCAN_STEPS, SPOT_SCAN_STEPS);
    for (int k = 0; k < n; k++) spot_json_int(j, NULL, &a->valid[k]);
    spot_json_end(j);
    spot_json_end(j);
    if (a->factor < 0) j->wrong = "factor";
}

static void describe_scan(spot_json *j, spot_failure_scan *s)
{
    spot_json_object(j, NULL);
    spot_json_int(j, "search", &s->unit);
    spot_json_int(j, "model", &s->model);
    spot_json_int(j, "class", &s->cls);
    spot_json_int(j, "object", &s->object);
    spot_json_real(j, "p", &s->p);
    s->axes = spot_json_array(j, "axes", s->axes, SPOT_FACTORS);
    for (int k = 0; k < s->axes; k++) describe_axis(j, &s->axis[k]);
    spot_json_end(j);
    spot_json_end(j);
}

/* ---- pictures ---- */

static void describe_strip(spot_json *j, spot_failure_strip *s)
{
    spot_json_object(j, NULL);
    spot_json_int(j, "search", &s->unit);
    spot_json_text(j, "path", s->path, sizeof s->path);
    s->pictures = spot_json_array(j, "pictures", s->pictures, SPOT_STRIP_PICTURES);
    for (int k = 0; k < s->pictures; k++) {
        spot_json_object(j, NULL);
        spot_json_int(j, "render", &s->picture[k].render);
        spot_json_real(j, "p", &s->picture[k].p);
        describe_factors(j, "at", s->picture[k].at);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
    if (strstr(s->path, "..") || s->path[0] == '/') j->wrong = "path";
}

/* ---- findings ---- */

static void describe_limit(spot_json *j, spot_examine_limit *l)
{
    spot_json_object(j, NULL);
    describe_factor(j, "factor", &l->factor);
    spot_json_int(j, "absolute", &l->absolute);
    spot_json_real(j, "least", &l->least);
    spot_json_real(j, "most", &l->most);
    spot_json_end(j);
    if (l->factor < 0) j->wrong = "factor";
}

static void describe_finding(spot_json *j, spot_failure_finding *f)
{
    spot_json_object(j, NULL);
    spot_json_int(j, "model", &f->model);
    spot_json_int(j, "class", &f->cls);
    spot_json_int(j, "rank", &f->rank);
    spot_json_bool(j, "confirmed", &f->confirmed);
    spot_json_text(j, "words", f->words, sizeof f->words);
    spot_json_text(j, "source", f->source, sizeof f->source);
    f->rule.limits = spot_json_array(j, "limits", f->rule.limits, SPOT_MAX_RULE_LIMITS);
    for (int k = 0; k < f->rule.limits; k++) describe_limit(j, &f->rule.limit[k]);
    spot_json_end(j);
    spot_json_real(j, "volume", &f->volume);
    spot_json_int(j, "renders_inside", &f->renders);
    spot_json_int(j, "renders_outside", &f->renders_outside);
    spot_json_real(j, "mean_inside", &f->mean_inside);
    spot_json_real(j, "mean_outside", &f->mean_outside);
    describe_interval(j, "failing_inside", &f->inside);
    describe_interval(j, "failing_outside", &f->outside);
    spot_json_real(j, "covered", &f->covered);
    spot_json_real(j, "p", &f->p);
    spot_json_real(j, "adjusted", &f->adjusted);
    spot_json_real(j, "overlap", &f->overlap);
    spot_json_int(j, "learned", &f->learned);
    spot_json_int(j, "objects", &f->objects);
    spot_json_end(j);
}

/* ---- the variance of p ---- */

static void describe_share(spot_json *j, spot_failure_share *s)
{
    char name[48];

    snprintf(name, sizeof name, "%s", s->factor == SPOT_SHARE_OF_OBJECT ? "object" : spot_factor_label(s->factor));
    spot_json_object(j, NULL);
    spot_json_int(j, "model", &s->model);
    spot_json_text(j, "factor", name, sizeof name);
    describe_interval(j, "share", &s->share);
    spot_json_end(j);
    if (!j->gen) s->factor = spot_factor_find(name);
    if (s->factor < 0 && strcmp(name, "object")) j->wrong = "factor";
}

/* ---- all ---- */

#define DESCRIBE(list, number, one) do {                                                                \
        f->number = spot_json_list(j, #number, f->number, MOST, &f->list, sizeof *f->list, #number);    \
        for (int i = 0; i < f->number; i++) one(j, &f->list[i]);                                        \
        spot_json_end(j);                                                                               \
    } while (0)

static void describe_failures(spot_json *j, spot_failures *f)
{
    spot_json_real(j, "fails", &f->fails);
    spot_json_int(j, "renders_spent_on_maps", &f->spent_maps);
    spot_json_int(j, "renders_spent_on_scans", &f->spent_scans);
    DESCRIBE(finding, findings, describe_finding);
    DESCRIBE(share, shares, describe_share);
    DESCRIBE(map, maps, describe_map);
    DESCRIBE(mixture, mixtures, describe_mixture);
    DESCRIBE(scan, scans, describe_scan);
    DESCRIBE(strip, strips, describe_strip);
}

/* Where the cells of the maps lie, for programs that read the file. */
static void put_cells(spot_json *j)
{
    spot_json_array(j, "cells", SPOT_SPHERE_CELLS, SPOT_SPHERE_CELLS);
    for (int i = 0; i < SPOT_SPHERE_CELLS; i++) {
        const spot_sphere_cell s = spot_sphere_cell_of(i);
        spot_json_array(j, NULL, 4, 4);
        spot_json_put_number(j, NULL, "%.4f", s.south);
        spot_json_put_number(j, NULL, "%.4f", s.north);
        spot_json_put_number(j, NULL, "%.4f", s.from);
        spot_json_put_number(j, NULL, "%.4f", s.to);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_names(spot_json *j, const spot_examine_results *r)
{
    spot_json_array(j, "models", r->cfg->models, r->cfg->models);
    for (int m = 0; m < r->cfg->models; m++) {
        const spot_examine_result *first = spot_examine_first_unit(r, m, 0);
        spot_json_object(j, NULL);
        spot_json_put_text(j, "name", r->cfg->model[m].name);
        spot_json_array(j, "objects", r->objects, r->objects);
        for (int i = 0; i < r->objects; i++) spot_json_put_text(j, NULL, first[i].object);
        spot_json_end(j);
        spot_json_end(j);
    }
    spot_json_end(j);
}

spot_status spot_failures_document(spot_ctx *c, spot_text *out, const spot_failures *f, const spot_examine_results *r,
                                   const char *key)
{
    spot_failures written = *f;                /* a description that also reads takes what is not const */
    spot_json j = { 0 };
    spot_status s;

    SPOT_TRY(spot_json_begin(c, &j, NULL));
    spot_json_object(&j, NULL);
    spot_json_put_int(&j, "schema", SCHEMA);
    spot_json_put_text(&j, "config", key);
    put_names(&j, r);
    put_cells(&j);
    describe_failures(&j, &written);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, "failures.json");
    if (s == SPOT_OK) spot_text_add(out, j.out.bytes, j.out.used);
    if (s == SPOT_OK && out->status) s = spot_fail(c, SPOT_NOMEM, "no memory for failures.json");
    spot_json_free(&j);
    return s;
}

spot_status spot_failures_write(spot_ctx *c, spot_failures *f, const spot_examine_results *r, const char *dir, const char *key)
{
    char path[SPOT_EXAMINE_PATH];
    spot_text text = { 0 };
    spot_status s = spot_failures_collect(c, f, r, dir);

    snprintf(path, sizeof path, "%s/failures.json", dir);
    if (s == SPOT_OK) s = spot_failures_document(c, &text, f, r, key);
    if (s == SPOT_OK) s = spot_result_write(c, path, &text);
    spot_text_free(&text);
    return s;
}

/* ---- reading ---- */

/* A person may have changed the file. */
static bool is_sound(const spot_failures *f)
{
    for (int i = 0; i < f->maps; i++)
        if (f->map[i].model < 0 || f->map[i].cls < -1 || f->map[i].object < -1) return false;
    for (int i = 0; i < f->mixtures; i++)
        if (f->mixture[i].model < 0 || f->mixture[i].cls < -1) return false;
    for (int i = 0; i < f->scans; i++)
        if (f->scan[i].unit < 0 || f->scan[i].model < 0 || f->scan[i].cls < 0 || f->scan[i].object < 0) return false;
    for (int i = 0; i < f->shares; i++)
        if (f->share[i].model < 0) return false;
    for (int i = 0; i < f->strips; i++)
        if (f->strip[i].unit < 0 || !f->strip[i].pictures) return false;
    for (int i = 0; i < f->findings; i++)
        if (f->finding[i].model < 0 || f->finding[i].cls < -1 || !(f->finding[i].p >= 0 && f->finding[i].p <= 1)) return false;
    return true;
}

static spot_status read_tree(spot_ctx *c, spot_failures *f, yajl_val tree, const char *path)
{
    spot_json j = { .at = { tree }, .depth = 1 };
    int schema = 0;

    if (YAJL_IS_OBJECT(tree)) spot_json_int(&j, "schema", &schema);
    if (schema != SCHEMA)
        return spot_fail(c, SPOT_INPUT, "{failures.schema} %s is of schema %d, and this program reads %d; run `spotter "
                         "examine` again", path, schema, SCHEMA);
    describe_failures(&j, f);
    if (!j.wrong && !is_sound(f)) j.wrong = "numbers";
    return j.wrong ? spot_fail(c, SPOT_INPUT, "{failures.damaged} %s: \"%s\" is not what this program writes; remove it and "
                               "run `spotter examine` again", path, j.wrong) : SPOT_OK;
}

spot_status spot_failures_read(spot_ctx *c, spot_failures *f, const char *dir)
{
    char path[SPOT_EXAMINE_PATH], why[200];
    unsigned char *bytes = NULL;
    yajl_val tree;
    size_t n;

    *f = (spot_failures){ 0 };
    snprintf(path, sizeof path, "%s/failures.json", dir);
    if (access(path, F_OK))
        return spot_fail(c, SPOT_IO, "{failures.missing} %s is not there; `spotter examine` with the same config writes it "
                         "when all searches are done", path);
    SPOT_TRY(spot_file_read(c, path, &bytes, &n, LARGEST));
    tree = spot_tree_parse((const char *)bytes, n, why, sizeof why);
    free(bytes);
    if (!tree) return spot_fail(c, SPOT_INPUT, "{failures.unread} %s: %s", path, why);
    const spot_status s = read_tree(c, f, tree, path);
    yajl_tree_free(tree);
    return s;
}
