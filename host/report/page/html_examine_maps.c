/* html_examine_maps.c - where models fail: maps over the spheres of camera and lamp, renders along each factor, mixtures,
 * findings in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_examine.h"

enum { NONE = 65535 };         /* in place of a mean p */

/* ---- maps ---- */

static uint16_t short_of(double v) { return isfinite(v) ? (uint16_t)lrint(v * (NONE - 1)) : NONE; }
static uint16_t count_of(int n) { return (uint16_t)(n < NONE ? n : NONE); }

/* A sphere: of each cell renders, failing ones, the mean p in steps of 1/65534. */
static void write_sphere(spot_page *p, const char *key, const spot_failure_count *cell)
{
    uint16_t v[3 * SPOT_SPHERE_CELLS];

    for (int i = 0; i < SPOT_SPHERE_CELLS; i++) {
        v[i] = count_of(cell[i].renders);
        v[SPOT_SPHERE_CELLS + i] = count_of(cell[i].failing);
        v[2 * SPOT_SPHERE_CELLS + i] = short_of(cell[i].mean);
    }
    spot_page_block(p, key, v, sizeof v);
}

static void write_map(const spot_examine_page *w, const spot_failure_map *m)
{
    static const char *const key[SPOT_SPHERES] = { "camera", "lamp" };
    const int object = m->object < 0 ? -1
                     : spot_examine_page_object(w, spot_examine_page_unit(w, m->model, 0, 0, m->object)->index);
    spot_page *p = w->p;

    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "model", m->model);
    spot_json_put_int(p->at, "cls", m->cls);
    spot_json_put_int(p->at, "object", object);
    spot_json_put_int(p->at, "renders", m->all.renders);
    spot_json_put_int(p->at, "failing", m->all.failing);
    spot_page_interval(p, "share", spot_share_of(m->all.failing, m->all.renders));
    spot_page_real(p, "mean", m->all.mean);
    for (int k = 0; k < SPOT_SPHERES; k++)
        if (m->has[k]) write_sphere(p, key[k], m->cell[k]);
    spot_json_end(p->at);
}

/* The cells of a sphere: south, north, from, to of each. */
static void write_cells(spot_page *p)
{
    spot_json_array(p->at, "cells", 0, 0);
    for (int i = 0; i < SPOT_SPHERE_CELLS; i++) {
        const spot_sphere_cell c = spot_sphere_cell_of(i);
        spot_json_array(p->at, NULL, 4, 4);
        spot_page_real(p, NULL, c.south), spot_page_real(p, NULL, c.north);
        spot_page_real(p, NULL, c.from), spot_page_real(p, NULL, c.to);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
}

/* ---- along the factors ---- */

static void write_axis(spot_page *p, const spot_failure_axis *a)
{
    uint16_t v[2 * SPOT_SCAN_STEPS];

    for (int i = 0; i < SPOT_SCAN_STEPS; i++) v[i] = short_of(a->p[i]), v[SPOT_SCAN_STEPS + i] = a->valid[i] != 0;
    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "factor", a->factor);
    spot_page_real(p, "from", a->at[0]);
    spot_page_real(p, "to", a->at[SPOT_SCAN_STEPS - 1]);
    spot_page_real(p, "below", a->below);
    spot_page_real(p, "above", a->above);
    spot_page_block(p, "p", v, sizeof v);
    spot_json_end(p->at);
}

static void write_scan(spot_page *p, const spot_failure_scan *s)
{
    spot_json_object(p->at, NULL);
    spot_page_real(p, "p", s->p);
    spot_json_array(p->at, "axes", 0, 0);
    for (int i = 0; i < s->axes; i++) write_axis(p, &s->axis[i]);
    spot_json_end(p->at);
    spot_json_end(p->at);
}

/* ---- mixtures and findings ---- */

static void write_mixture(spot_page *p, const spot_failure_mixture *m)
{
    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "model", m->model);
    spot_json_put_int(p->at, "cls", m->cls);
    spot_json_put_int(p->at, "failures", m->failures);
    spot_json_array(p->at, "components", 0, 0);
    for (int k = 0; k < m->components; k++) {
        spot_json_object(p->at, NULL);
        spot_page_real(p, "weight", m->component[k].weight);
        spot_json_array(p->at, "centre", 0, 0);
        for (int f = 0; f < SPOT_FACTORS; f++) spot_page_real(p, NULL, m->component[k].centre[f]);
        spot_json_end(p->at);
        spot_json_array(p->at, "spread", 0, 0);
        for (int f = 0; f < SPOT_FACTORS; f++) spot_page_real(p, NULL, m->component[k].spread[f]);
        spot_json_end(p->at);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
    spot_json_end(p->at);
}

static void write_finding(spot_page *p, const spot_failure_finding *f)
{
    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "model", f->model);
    spot_json_put_int(p->at, "cls", f->cls);
    spot_page_text(p, "words", f->words);
    spot_page_text(p, "source", f->source);
    spot_page_real(p, "volume", f->volume);
    spot_json_put_int(p->at, "renders", f->renders);
    spot_json_put_int(p->at, "renders_outside", f->renders_outside);
    spot_page_real(p, "mean_inside", f->mean_inside);
    spot_page_real(p, "mean_outside", f->mean_outside);
    spot_page_interval(p, "inside", f->inside);
    spot_page_interval(p, "outside", f->outside);
    spot_page_real(p, "covered", f->covered);
    spot_page_real(p, "p", f->adjusted);
    spot_json_put_int(p->at, "confirmed", f->confirmed);
    spot_page_real(p, "overlap", f->overlap);
    spot_json_end(p->at);
}

spot_status spot_examine_page_maps(spot_examine_page *w)
{
    const spot_failures *f = &w->failures;
    spot_page *p = w->p;

    if (!w->mapped) return SPOT_OK;
    spot_json_object(p->at, "failures");
    spot_json_put_int(p->at, "spent_maps", f->spent_maps);
    spot_json_put_int(p->at, "spent_scans", f->spent_scans);
    write_cells(p);
    spot_json_array(p->at, "maps", 0, 0);
    for (int i = 0; i < f->maps; i++) write_map(w, &f->map[i]);
    spot_json_end(p->at);
    spot_json_array(p->at, "scans", 0, 0);
    for (int i = 0; i < f->scans; i++) write_scan(p, &f->scan[i]);
    spot_json_end(p->at);
    spot_json_array(p->at, "mixtures", 0, 0);
    for (int i = 0; i < f->mixtures; i++) write_mixture(p, &f->mixture[i]);
    spot_json_end(p->at);
    spot_json_array(p->at, "findings", 0, 0);
    for (int i = 0; i < f->findings; i++) write_finding(p, &f->finding[i]);
    spot_json_end(p->at);
    spot_json_end(p->at);
    return p->blocks.status ? spot_fail(w->c, p->blocks.status, "no memory for the maps of %s", w->dir) : SPOT_OK;
}
