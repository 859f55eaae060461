/* method_picture.c - the picture of an EC and a method, and the map on which it is drawn.
 *
 * A method without its own map of two dimensions is shown on the first such map of the config's methods, or on the first two
 * principal components. The choice depends only on the config, so that a picture drawn again is the same. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "spotter/report.h"
#include "sweep/picture_threads.h"

void spot_method_picture_path(char *path, size_t size, const char *dir, int index, int b, const char *method)
{
    char name[80];
    size_t n = 0;

    for (; method[n] && n + 1 < sizeof name; n++)
        name[n] = isalnum((unsigned char)method[n]) || strchr("._-", method[n]) ? method[n] : '-';
    name[n] = 0;
    snprintf(path, size, "%s/pictures/%03d/ec-%06d-%d-%s.png", dir, index / SPOT_ECS_A_FOLDER, index, b, name);
}

static bool is_map(const spot_bdm_config *cfg)
{
    return cfg->embed.method != SPOT_REDUCE_NONE && cfg->embed.dim == 2 && cfg->representation == SPOT_BY_MODEL;
}

spot_bdm_config spot_method_picture_map(const spot_config *cfg, int b)
{
    spot_bdm_config principal = spot_bdm_defaults(SPOT_PLANESPOT);

    if (is_map(&cfg->bdm[b])) return cfg->bdm[b];
    for (int i = 0; i < cfg->bdms; i++)
        if (is_map(&cfg->bdm[i])) return cfg->bdm[i];
    principal.embed.method = SPOT_REDUCE_PCA;
    principal.name = "the first two principal components";
    return principal;
}

/* Recalls the map from the store, or computes it and keeps it there, also for the method that it belongs to. */
static spot_status recall_map(spot_ctx *c, spot_arena *a, const spot_run *run, const spot_ec_run *p, const spot_bdm_config *cfg,
                          spot_points *map)
{
    const spot_seed seed = { run->cfg->seed, p->ec.index };
    spot_key key = spot_key_of_points(p->key, cfg);
    bool found;

    SPOT_TRY(spot_recall(c, a, &run->store, key, "points", spot_pack_points, map, &found));
    if (found) return SPOT_OK;
    SPOT_TRY(spot_embed_fit(c, a, 1, map, &p->seen.view, &seed, &cfg->embed));
    return spot_keep(c, &run->store, key, "points", spot_pack_points, map);
}

/* The map of another method. If it cannot be computed, all dots are drawn in one place. */
static spot_status borrow_map(spot_ctx *c, spot_arena *a, const spot_run *run, const spot_ec_run *p,
                              const spot_bdm_config *cfg, spot_points *map, char *title, size_t size)
{
    char name[80];
    spot_status s = recall_map(c, a, run, p, cfg, map);

    if (!spot_is_verdict(s)) {
        snprintf(title, size, "on the map of %s", spot_bdm_name(cfg, name, sizeof name));
        return s;
    }
    spot_log(c, SPOT_LOG_WARN, "a picture of EC %u has no map: %s", p->ec.index, spot_take_message(c, s));
    snprintf(title, size, "without a map");
    *map = (spot_points){ .n = p->seen.view.n, .d = 1, .objective = NAN };
    SPOT_TRY(SPOT_TAKE(c, a, map->at, map->n));
    memset(map->at, 0, (size_t)map->n * sizeof *map->at);
    return SPOT_OK;
}

spot_status spot_method_picture(spot_ctx *c, spot_arena *a, const spot_run *run, const spot_ec_run *p, int b,
                                spot_points points, const spot_hypotheses *found, spot_picture_threads *threads)
{
    const spot_bdm_config map = spot_method_picture_map(run->cfg, b);
    const spot_outcome *o = &p->segment.method[b];
    char path[1200], where[120], title[240];
    size_t mark = a->used;
    spot_status s = SPOT_OK;

    if (is_map(&run->cfg->bdm[b])) snprintf(title, sizeof title, "%s", o->name);
    else {
        s = borrow_map(c, a, run, p, &map, &points, where, sizeof where);
        snprintf(title, sizeof title, "%s   %s", o->name, where);
    }
    spot_method_picture_path(path, sizeof path, run->store.dir, (int)p->ec.index, b, o->name);
    if (s == SPOT_OK) s = spot_folder_of(c, path);
    if (s == SPOT_OK && threads) s = spot_pictures_add(c, threads, p, b, path, title, &points, found);
    else if (s == SPOT_OK)
        s = spot_report_ec(c, path, title, &(spot_ec_picture){ &p->ec, &p->segment.lesson, &p->seen.view, &p->seen.truth,
                                                               &points, found, &o->score });
    a->used = mark;
    return s;
}
