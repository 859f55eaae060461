/* examine_pictures.c - renders of a run made again, for figures: a run keeps conditions and answers, not pictures. They are the
 * same renders where the catalogue's meshes are. */
#include <stdlib.h>

#include "core/device.h"
#include "examine/examine_draw.h"

struct spot_examine_pictures {
    const spot_examine_results *r;
    spot_examine_config *cfg;          /* a copy: objects_open gives it the catalogue's classes */
    spot_examine_objects_list objects;
    spot_examine_backgrounds backgrounds;
    spot_examine_drawer drawer;
};

static spot_status open_parts(spot_ctx *c, spot_examine_pictures *p)
{
    *p->cfg = *p->r->cfg;
    SPOT_TRY(spot_examine_objects_open(c, &p->objects, p->cfg));
    SPOT_TRY(spot_examine_backgrounds_open(c, &p->backgrounds, p->cfg));
    return spot_examine_drawer_open(c, &p->drawer, &p->objects, &p->backgrounds, SPOT_EXAMINE_BATCH);
}

spot_status spot_examine_pictures_open(spot_ctx *c, spot_examine_pictures **p, const spot_examine_results *r)
{
    spot_examine_pictures *v = *p = calloc(1, sizeof *v);
    spot_status s;

    if (v) v->r = r, v->cfg = malloc(sizeof *v->cfg);
    s = v && v->cfg ? open_parts(c, v) : spot_fail(c, SPOT_NOMEM, "no memory for renders");
    if (s != SPOT_OK) spot_examine_pictures_close(c, v), *p = NULL;
    return s;
}

void spot_examine_pictures_close(spot_ctx *c, spot_examine_pictures *p)
{
    if (!p) return;
    spot_examine_drawer_close(&p->drawer);
    spot_examine_backgrounds_close(&p->backgrounds);
    spot_examine_objects_close(c, &p->objects);
    free(p->cfg);
    free(p);
}

spot_status spot_examine_pictures_draw(spot_ctx *c, spot_examine_pictures *p, uint8_t *rgb, int unit, const spot_conditions *at,
                                       int n)
{
    const spot_examine_result *u = &p->r->unit[unit];
    const size_t square = 3 * (size_t)p->cfg->render.size * (size_t)p->cfg->render.size;
    const int entry = spot_examine_find(&p->objects, u->object);
    spot_examine_shot shot[SPOT_EXAMINE_BATCH];

    if (entry < 0) return spot_fail(c, SPOT_INPUT, "%s has no object \"%s\" any more", p->cfg->objects.catalogue, u->object);
    const uint32_t number = spot_examine_number(p->objects.list.entry[entry].id);      /* chooses the background, as then */
    for (int from = 0; from < n; from += SPOT_EXAMINE_BATCH) {
        const int some = n - from < SPOT_EXAMINE_BATCH ? n - from : SPOT_EXAMINE_BATCH;
        for (int i = 0; i < some; i++) shot[i] = (spot_examine_shot){ entry, number, at[from + i] };
        SPOT_TRY(spot_examine_draw(c, &p->drawer, shot, some));
        SPOT_TRY(spot_device_copy(c, rgb + (size_t)from * square, p->drawer.rgb, (size_t)some * square));
    }
    return SPOT_OK;
}
