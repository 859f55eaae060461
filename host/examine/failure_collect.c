/* failure_collect.c - the files of a run -> everything about its failures. The work runs on the CPU on every device, so that
 * the bytes of failures.json do not depend on where a run, or its merge, ends. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ops.h"
#include "examine/failure_parts.h"

/* The random renders of a model: its objects one behind the other, so that those of a class are together. */
typedef struct {
    const spot_examine_results *r;
    int model;
    spot_random_renders all;
    int *first;                    /* (objects + 1) */
    spot_conditions *fixed;        /* (objects): what no search changes; NaN for the others */
} renders;

static const spot_examine_result *unit_of(const spot_examine_results *r, int model, int object)
{
    return spot_examine_first_unit(r, model, 0) + object;
}

/* ---- random renders ---- */

static void close_renders(renders *v)
{
    free(v->all.at), free(v->all.p), free(v->all.valid), free(v->all.number), free(v->first), free(v->fixed);
}

static spot_status open_renders(spot_ctx *c, renders *v)
{
    size_t n = 1;

    for (int i = 0; i < v->r->objects; i++) n += (size_t)unit_of(v->r, v->model, i)->mapped;
    v->all.at = malloc(n * sizeof *v->all.at);
    v->all.p = malloc(n * sizeof *v->all.p);
    v->all.valid = malloc(n);
    v->all.number = malloc(n * sizeof *v->all.number);
    v->first = calloc((size_t)v->r->objects + 1, sizeof *v->first);
    v->fixed = calloc((size_t)v->r->objects + 1, sizeof *v->fixed);
    if (!v->all.at || !v->all.p || !v->all.valid || !v->all.number || !v->first || !v->fixed)
        return spot_fail(c, SPOT_NOMEM, "no memory for %zu random renders", n);
    return SPOT_OK;
}

/* Adds the renders of an object; none where its file is not there. */
static spot_status read_object(spot_ctx *c, renders *v, const char *dir, int object)
{
    const spot_examine_result *u = unit_of(v->r, v->model, object);
    char path[SPOT_EXAMINE_PATH];
    spot_examine_history h;

    v->first[object + 1] = v->all.n;
    spot_failure_map_path(path, sizeof path, dir, u->index);
    if (!u->mapped || access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_examine_history_load(c, &h, path));
    if (h.dims != v->r->space.dims || h.renders != u->mapped) {
        spot_examine_history_free(&h);
        return spot_fail(c, SPOT_INPUT, "%s does not fit the run; remove it and run `spotter examine` again", path);
    }
    v->fixed[object] = h.fixed;
    for (int i = 0; i < h.renders; i++) {
        const int k = v->all.n++;
        v->all.at[k] = h.fixed;
        spot_factor_space_place(&v->all.at[k], &v->r->space, h.at + (size_t)i * (size_t)h.dims);
        v->all.p[k] = h.p[i], v->all.valid[k] = h.valid[i], v->all.number[k] = i;
    }
    v->first[object + 1] = v->all.n;
    spot_examine_history_free(&h);
    return SPOT_OK;
}

/* The renders of objects from..to - 1. */
static spot_random_renders slice(const renders *v, int from, int to)
{
    const int at = v->first[from];

    return (spot_random_renders){ v->first[to] - at, v->all.at + at, v->all.p + at, v->all.valid + at, v->all.number + at };
}

/* ---- a model ---- */

/* Objects that are looked at together. */
typedef struct { int cls, object, from, to; } group;

static void add_map(spot_failures *f, const renders *v, const group *g)
{
    const spot_random_renders r = slice(v, g->from, g->to);
    spot_failure_map *m = &f->map[f->maps++];

    m->model = v->model, m->cls = g->cls, m->object = g->object;
    spot_failure_count_map(m, &r, &v->r->space, spot_failure_cut_of(&v->r->cfg->search));
}

static void fill_overlap(spot_failure_finding *to, const renders *v, const group *g)
{
    const spot_examine_model *m = &v->r->cfg->model[v->model];

    to->objects = g->to - g->from;
    if (!m->limits) return;
    to->learned = 0;
    for (int i = g->from; i < g->to; i++) to->learned += unit_of(v->r, v->model, i)->learned == 1;
    to->overlap = spot_failure_overlap(&to->rule, m, &v->r->space, v->fixed + g->from, g->to - g->from);
}

static spot_status add_group(spot_ctx *c, spot_failures *f, const renders *v, const group *g)
{
    const spot_random_renders r = slice(v, g->from, g->to);
    spot_failure_mixture *m = &f->mixture[f->mixtures++];
    spot_failure_finding *to = f->finding + f->findings;
    const spot_failure_cut cut = spot_failure_cut_of(&v->r->cfg->search);
    int n;

    add_map(f, v, g);
    m->model = v->model, m->cls = g->cls;
    SPOT_TRY(spot_failure_fit_mixture(c, m, &r, &v->r->space, cut));
    SPOT_TRY(spot_failure_find_rules(c, to, &n, &r, &v->r->space, cut));
    for (int i = 0; i < n; i++) {
        to[i].model = v->model, to[i].cls = g->cls;
        fill_overlap(&to[i], v, g);
    }
    f->findings += n;
    return SPOT_OK;
}

static spot_status add_shares(spot_ctx *c, spot_failures *f, const renders *v)
{
    spot_failure_share *to = f->share + f->shares;
    int n;

    SPOT_TRY(spot_failure_shares(c, to, &n, &v->all, &v->r->space));
    for (int i = 0; i < n; i++) to[i].model = v->model;
    f->shares += n;
    return SPOT_OK;
}

static spot_status add_groups(spot_ctx *c, spot_failures *f, const renders *v)
{
    const int each = v->r->cfg->objects.per_class, classes = v->r->objects / each, before = f->findings;
    group all = { -1, -1, 0, v->r->objects };

    SPOT_TRY(add_group(c, f, v, &all));
    SPOT_TRY(add_shares(c, f, v));
    for (int k = 0; k < classes; k++) {
        const group one = { k, -1, k * each, (k + 1) * each };
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(add_group(c, f, v, &one));
        spot_tell(c, "examine: failures", -1, v->model * classes + k + 1, v->r->cfg->models * classes, "");
    }
    for (int i = 0; i < v->r->objects; i++) add_map(f, v, &(group){ i / each, i, i, i + 1 });
    return spot_failure_confirm(c, f->finding + before, f->findings - before);
}

static spot_status add_model(spot_ctx *c, spot_failures *f, const spot_examine_results *r, const char *dir, int model)
{
    renders v = { .r = r, .model = model };
    spot_status s = open_renders(c, &v);

    for (int i = 0; i < r->objects && s == SPOT_OK; i++) s = read_object(c, &v, dir, i);
    f->spent_maps += v.all.n;
    if (s == SPOT_OK && v.all.n) s = add_groups(c, f, &v);
    close_renders(&v);
    return s;
}

/* ---- a search ---- */

static void class_and_object(const spot_examine_results *r, int unit, int *cls, int *object)
{
    *object = spot_examine_unit_of(r->cfg, unit).object;
    *cls = *object / r->cfg->objects.per_class;
}

static spot_status add_scan(spot_ctx *c, spot_failures *f, const spot_examine_results *r, const char *dir, int unit)
{
    const spot_examine_result *u = &r->unit[unit];
    const spot_examine_point *last = &u->point[u->points - 1];
    char path[SPOT_EXAMINE_PATH];
    spot_examine_history h;
    spot_failure_scan *scan;

    spot_failure_scan_path(path, sizeof path, dir, unit);
    if (!u->scanned || access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_examine_history_load(c, &h, path));
    if (h.dims != r->space.dims || h.renders != h.dims * SPOT_SCAN_STEPS) {
        spot_examine_history_free(&h);
        return spot_fail(c, SPOT_INPUT, "%s does not fit the run; remove it and run `spotter examine` again", path);
    }
    scan = &f->scan[f->scans++];
    *scan = (spot_failure_scan){ .unit = unit, .model = u->model,
                                 .p = isfinite(last->lowest_valid) ? last->lowest_valid : last->lowest };
    class_and_object(r, unit, &scan->cls, &scan->object);
    spot_failure_axes(scan, &r->space, u->lowest_at, spot_failure_cut_of(&r->cfg->search), h.p, h.valid);
    f->spent_scans += h.renders;
    spot_examine_history_free(&h);
    return SPOT_OK;
}

static void fill_picture(spot_failure_picture *to, int render, double p, const spot_conditions *at)
{
    to->render = render, to->p = p;
    for (int i = 0; i < SPOT_FACTORS; i++) to->at[i] = at->value[i];
}

static spot_status add_strip(spot_ctx *c, spot_failures *f, const spot_examine_results *r, const char *dir, int unit)
{
    const spot_examine_result *u = &r->unit[unit];
    spot_failure_strip *to = &f->strip[f->strips];
    int row[SPOT_STRIP_PICTURES - 1], n;
    char path[SPOT_EXAMINE_PATH];
    spot_examine_history h;
    spot_conditions at;

    spot_failure_strip_path(path, sizeof path, dir, unit);
    if (access(path, F_OK)) return SPOT_OK;
    spot_examine_history_path(path, sizeof path, dir, unit);
    if (access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_examine_history_load(c, &h, path));
    *to = (spot_failure_strip){ .unit = unit };
    spot_failure_strip_path(path, sizeof path, dir, unit);
    snprintf(to->path, sizeof to->path, "%.63s", path + strlen(dir) + 1);
    n = spot_failure_worst(row, SPOT_STRIP_PICTURES - 1, &h, &r->space, r->cfg->search.mode);
    const uint32_t number = spot_examine_number(u->object);
    at = spot_examine_chance(&r->space, &h.fixed, r->cfg->search.seed, number, u->usual);
    fill_picture(&to->picture[to->pictures++], u->usual, u->usual_p, &at);
    for (int i = 0; i < n; i++) {
        at = h.fixed;
        spot_factor_space_place(&at, &r->space, h.at + (size_t)row[i] * (size_t)h.dims);
        fill_picture(&to->picture[to->pictures++], row[i], h.p[row[i]], &at);
    }
    f->strips++;
    spot_examine_history_free(&h);
    return SPOT_OK;
}

/* ---- all ---- */

static spot_status take_room(spot_ctx *c, spot_failures *f, const spot_examine_results *r)
{
    const size_t models = (size_t)r->cfg->models, objects = (size_t)r->objects, units = (size_t)r->units;
    const size_t groups = models * (1 + objects / (size_t)r->cfg->objects.per_class);

    f->map = calloc(groups + models * objects, sizeof *f->map);
    f->mixture = calloc(groups, sizeof *f->mixture);
    f->finding = calloc(groups * SPOT_FAILURE_RULES, sizeof *f->finding);
    f->scan = calloc(units, sizeof *f->scan);
    f->share = calloc(models * (SPOT_FACTORS + 1), sizeof *f->share);
    f->strip = calloc(units, sizeof *f->strip);
    return f->map && f->mixture && f->finding && f->scan && f->share && f->strip ? SPOT_OK
         : spot_fail(c, SPOT_NOMEM, "no memory for the failures of %d searches", r->units);
}

static spot_status collect(spot_ctx *c, spot_failures *f, const spot_examine_results *r, const char *dir)
{
    SPOT_TRY(take_room(c, f, r));
    for (int m = 0; m < r->cfg->models; m++) SPOT_TRY(add_model(c, f, r, dir, m));
    for (int u = 0; u < r->units; u++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(add_scan(c, f, r, dir, u));
        SPOT_TRY(add_strip(c, f, r, dir, u));
    }
    return SPOT_OK;
}

spot_status spot_failures_collect(spot_ctx *c, spot_failures *f, const spot_examine_results *r, const char *dir)
{
    spot_ctx here = { .ops = &spot_ops_cpu, .threads = c->threads, .stop = c->stop, .on_progress = c->on_progress,
                      .user = c->user };
    spot_status s;

    *f = (spot_failures){ .fails = spot_failure_cut_of(&r->cfg->search).p };
    s = collect(&here, f, r, dir);
    return s ? spot_fail_from(c, s, &here) : SPOT_OK;
}

void spot_failures_close(spot_failures *f)
{
    free(f->map), free(f->mixture), free(f->scan), free(f->strip), free(f->finding), free(f->share);
    *f = (spot_failures){ 0 };
}
