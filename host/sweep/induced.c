/* induced.c - the categories that a run of single blindspots has learned, for the conditioned pools of another (paper, G.5). */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spotter/config.h"
#include "spotter/sweep.h"

/* The singles must be of the same pictures and tasks; a learned category of other data says nothing. */
static spot_status check_singles(spot_ctx *c, const char *dir, const spot_config *singles, const spot_config *cfg)
{
    const spot_photos_config *a = &singles->data, *b = &cfg->data;

    if (!a->coco[0] || a->pool != SPOT_POOL_SINGLES)
        return spot_fail(c, SPOT_USAGE, "data.induced_from: %s is no run of pool: singles", dir);
    if (strcmp(a->coco, b->coco) || strcmp(a->tasks, b->tasks) || strcmp(a->against, b->against))
        return spot_fail(c, SPOT_USAGE,
                         "{induced.other_data} data.induced_from: %s has other annotations or tasks than this config", dir);
    return SPOT_OK;
}

/* Adds a category to the list; false: it is too long. A category's name may not hold the comma that ends it. */
static bool add_name(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);

    if (strchr(name, ',') || used + strlen(name) + 2 > size) return false;
    snprintf(list + used, size - used, "%s%s", used ? "," : "", name);
    return true;
}

/* Every EC must be there: a category without a result is neither induced nor not. */
static spot_status list_learned(spot_ctx *c, spot_segment *s, const char *dir, int ecs, char *list, size_t size)
{
    spot_segment_state state;
    char why[1300];

    *list = 0;
    for (int i = 0; i < ecs; i++) {
        SPOT_TRY(spot_segment_read(c, dir, i, s, &state, why, sizeof why));
        if (state != SPOT_SEGMENT_WHOLE)
            return spot_fail(c, SPOT_USAGE, "{induced.unfinished} data.induced_from: EC %d of the %d in %s is not done; finish "
                             "that sweep first", i, ecs, dir);
        if (s->status != SPOT_OK || !s->lesson.learned) continue;
        if (!add_name(list, size, s->blindspot[0]))
            return spot_fail(c, SPOT_USAGE, "data.induced_from: the names in %s take more than %zu bytes, or one has a comma",
                             dir, size - 1);
    }
    if (*list) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "data.induced_from: none of the %d ECs of %s learned its blindspot", ecs, dir);
}

static spot_status read_singles(spot_ctx *c, const char *dir, const spot_config *cfg, char *list, size_t size)
{
    spot_config *singles = calloc(1, sizeof *singles);
    spot_segment *s = calloc(1, sizeof *s);
    char path[1200];
    spot_status status = SPOT_OK;

    snprintf(path, sizeof path, "%s/config.yaml", dir);
    if (access(path, F_OK))
        status = spot_fail(c, SPOT_IO, "data.induced_from: cannot read %s: %s; sweep the singles first", path, strerror(errno));
    if (status == SPOT_OK && (!singles || !s)) status = spot_fail(c, SPOT_NOMEM, "no memory to read %s", dir);
    if (status == SPOT_OK) status = spot_config_load(c, singles, path);
    if (status == SPOT_OK) status = check_singles(c, dir, singles, cfg);
    if (status == SPOT_OK) status = list_learned(c, s, dir, singles->ecs, list, size);
    spot_segment_free(s);
    if (singles) spot_memory_close(&singles->memory);
    free(singles);
    return status;
}

spot_status spot_sweep_induced(spot_ctx *c, spot_config *cfg)
{
    spot_photos_config *d = &cfg->data;
    const char *from = d->induced_from;
    char list[1024];
    spot_source source;
    spot_status s;
    int pool = 0;

    if (!d->coco[0] || !d->induced_from[0]) return SPOT_OK;
    if (d->induced[0]) return spot_fail(c, SPOT_USAGE,
                                        "{induced.twice} data.induced and data.induced_from name the categories twice");
    if (d->pool != SPOT_POOL_NUMBER && d->pool != SPOT_POOL_SPECIFICITY)
        return spot_fail(c, SPOT_USAGE,
                         "{induced.pool} data.induced_from is for the conditioned pools, number and specificity");
    SPOT_TRY(read_singles(c, from, cfg, list, sizeof list));
    d->induced = spot_memory_text(&cfg->memory, list);
    if (!d->induced) return spot_fail(c, SPOT_NOMEM, "no memory for the categories of %s", from);
    d->induced_from = "";
    s = spot_source_open(c, &source, cfg);
    if (s == SPOT_OK) pool = spot_photos_pool(source.photos);
    spot_source_close(&source);
    if (s != SPOT_OK) return s;
    if (pool < cfg->ecs) cfg->ecs = pool;
    spot_log(c, SPOT_LOG_INFO, "induced in %s: %s; the pool has %d ECs, of which %d are run", from, d->induced, pool, cfg->ecs);
    return SPOT_OK;
}
