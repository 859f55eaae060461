/* examine_cost.c - the renders, the memory and the disk of a run, before it starts. */
#include <math.h>
#include <stdlib.h>

#include "examine/examine_networks.h"
#include "examine/failure_parts.h"

enum { ALWAYS = 64 + 256 };            /* renders of an object that no search has a part in */

/* Objects that a network learns, and renders in training. */
static void add_training(const spot_examine_objects_list *o, const spot_examine_model *m, spot_examine_cost *cost)
{
    double objects = 0;
    int epochs;

    if (!spot_examine_is_trained(m)) return;
    for (int k = 0; k < o->list.classes; k++) {
        int from, n;
        spot_examine_learned(o, m, k, &from, &n);
        objects += n;
    }
    const double images = spot_examine_passes(m, objects, &epochs);
    cost->trained += images * epochs;
}

/* Renders of a search, means over the examiners: those that one asks for, those that test points; the most that one asks
 * for. */
typedef struct { double asked, tests, most; } spending;

static spending add_examiners(const spot_examine_config *cfg)
{
    spending all = { 0 };

    for (int e = 0; e < cfg->examiners; e++) {
        const spot_examine_search s = spot_examine_search_of(cfg, &cfg->examiner[e]);
        const double asked = s.renders - s.perturbed;
        all.asked += asked / cfg->examiners, all.tests += (double)s.points * s.perturbed / cfg->examiners;
        all.most = fmax(all.most, asked);
    }
    return all;
}

spot_status spot_examine_cost_of(spot_ctx *c, const spot_examine_config *cfg, spot_examine_cost *cost)
{
    spot_examine_config *own = malloc(sizeof *own);
    spot_examine_objects_list o;
    spot_status s;
    double held = 0;

    *cost = (spot_examine_cost){ 0 };
    if (!own) return spot_fail(c, SPOT_NOMEM, "no memory for a config");
    *own = *cfg;
    s = spot_examine_objects_open(c, &o, own);
    if (s == SPOT_OK) {
        const spending all = add_examiners(own);
        const size_t pixels = (size_t)own->render.size * (size_t)own->render.size;
        cost->units = spot_examine_units(own);
        cost->objects = spot_examine_objects_of_a_model(own);
        for (int k = 0; k < o.list.classes; k++) held += o.held[k];
        if (own->objects.choice != SPOT_OBJECTS_BEST) held = 0;
        cost->renders = cost->units * (all.asked + all.tests) +
                        own->models * ((double)cost->objects * ALWAYS + held * own->objects.views);
        for (int m = 0; m < own->models; m++) add_training(&o, &own->model[m], cost);
        spot_factor_space space;
        spot_conditions fixed;
        s = spot_examine_space(c, &space, &fixed, own);
        const spot_failure_spent maps = s ? (spot_failure_spent){ 0, 0 } : spot_failure_renders(own, space.dims);
        cost->maps = maps.maps + maps.scans;
        cost->disk = cost->maps * (8 * SPOT_FACTORS + 9) + cost->units * (all.asked * (8 * SPOT_FACTORS + 9) + 4096);
        cost->memory = (size_t)(cost->objects * all.most * (8 * SPOT_FACTORS + 9)) + SPOT_EXAMINE_BATCH * 16 * pixels;
    }
    spot_examine_objects_close(c, &o);
    free(own);
    return s;
}
