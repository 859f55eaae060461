/* examine_draw.c - see examine_draw.h. */
#include "examine/examine_draw.h"

#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "core/device.h"
#include "formats/picture.h"
#include "spotter/rng.h"

enum { CHANCE = 1 << 16 };         /* index of the first random view; smaller ones are factors (mesh.h) */

/* ---- backgrounds ---- */

static spot_status read_squares(spot_ctx *c, uint8_t *rgb, const spot_folder *f, const char *root, int size)
{
    spot_picture p = { 0 };
    char path[SPOT_EXAMINE_PATH];
    spot_status s = SPOT_OK;

    for (int i = 0; i < f->n && s == SPOT_OK; i++) {
        snprintf(path, sizeof path, "%s/%s", root, f->path[i]);
        s = spot_check_stop(c);
        if (s == SPOT_OK) s = spot_picture_read(c, &p, path);
        if (s == SPOT_OK) s = spot_picture_fit(c, rgb + (size_t)i * 3 * (size_t)size * (size_t)size, &p, size, size);
    }
    spot_picture_close(&p);
    return s;
}

spot_status spot_examine_backgrounds_open(spot_ctx *c, spot_examine_backgrounds *b, const spot_examine_config *cfg)
{
    const size_t square = 3 * (size_t)cfg->render.size * (size_t)cfg->render.size;
    spot_folder f = { 0 };
    uint8_t *rgb = NULL;
    spot_status s;

    *b = (spot_examine_backgrounds){ 0 };
    if (!cfg->render.pictures[0]) return SPOT_OK;
    SPOT_TRY(spot_folder_pictures(c, &f, cfg->render.pictures));
    rgb = malloc((size_t)f.n * square);
    s = rgb ? read_squares(c, rgb, &f, cfg->render.pictures, cfg->render.size)
            : spot_fail(c, SPOT_NOMEM, "no memory for %d backgrounds", f.n);
    if (s == SPOT_OK) s = spot_arena_open_device(c, &b->room, (size_t)f.n * square);
    if (s == SPOT_OK) s = SPOT_TAKE(c, &b->room, b->rgb, (size_t)f.n * square);
    if (s == SPOT_OK) s = spot_device_copy(c, b->rgb, rgb, (size_t)f.n * square);
    if (s == SPOT_OK) b->n = f.n, spot_key_text(b->hash, spot_key_of(rgb, (size_t)f.n * square));
    free(rgb);
    spot_folder_close(&f);
    return s;
}

void spot_examine_backgrounds_close(spot_examine_backgrounds *b)
{
    spot_arena_close(&b->room);
    *b = (spot_examine_backgrounds){ 0 };
}

/* ---- the drawer ---- */

static spot_status take_rooms(spot_ctx *c, spot_examine_drawer *d)
{
    const size_t n = (size_t)d->most, size = (size_t)d->settings.size, entries = (size_t)d->objects->list.entries;

    SPOT_TRY(SPOT_TAKE(c, &d->room, d->rgb, n * 3 * size * size));
    SPOT_TRY(SPOT_TAKE(c, &d->room, d->facts, n));
    SPOT_TRY(SPOT_TAKE(c, &d->host, d->seen, n));
    SPOT_TRY(SPOT_TAKE(c, &d->host, d->shot, n));
    SPOT_TRY(spot_arena_take(c, &d->host, &d->mesh, n * sizeof(spot_render_mesh *)));
    SPOT_TRY(SPOT_TAKE(c, &d->host, d->slot, entries));
    for (size_t i = 0; i < entries && !d->host.counting; i++) d->slot[i] = -1;
    return SPOT_OK;
}

static spot_status open_rooms(spot_ctx *c, spot_examine_drawer *d)
{
    d->room = d->host = spot_arena_counting();
    SPOT_TRY(take_rooms(c, d));
    SPOT_TRY(spot_arena_open_device(c, &d->room, d->room.peak));
    SPOT_TRY(spot_arena_open(c, &d->host, d->host.peak));
    return take_rooms(c, d);
}

spot_status spot_examine_drawer_open(spot_ctx *c, spot_examine_drawer *d, spot_examine_objects_list *o,
                                     const spot_examine_backgrounds *pictures, int most)
{
    *d = (spot_examine_drawer){ .objects = o, .pictures = pictures, .settings = spot_examine_rendering(o->cfg), .most = most };
    return open_rooms(c, d);
}

void spot_examine_drawer_close(spot_examine_drawer *d)
{
    spot_arena_close(&d->room);
    spot_arena_close(&d->scratch);
    spot_arena_close(&d->host);
    spot_arena_close(&d->shapes);
    *d = (spot_examine_drawer){ 0 };
}

spot_status spot_examine_drawer_shapes(spot_ctx *c, spot_examine_drawer *d, bool masks, bool depth)
{
    const size_t all = (size_t)d->most * (size_t)d->settings.size * (size_t)d->settings.size;
    const size_t bytes = spot_arena_room(masks * all) + spot_arena_room(depth * all * sizeof *d->depth);

    SPOT_TRY(spot_arena_open_device(c, &d->shapes, bytes));
    if (depth) SPOT_TRY(SPOT_TAKE(c, &d->shapes, d->depth, all));
    return masks ? SPOT_TAKE(c, &d->shapes, d->mask, all) : SPOT_OK;
}

/* Lays out the call's meshes and shots. Returns the number of meshes. */
static int lay_out(spot_examine_drawer *d, const spot_examine_shot *shot, int n)
{
    int meshes = 0;

    for (int i = 0; i < n; i++) {
        const int entry = shot[i].entry, pictures = d->pictures->n;
        if (d->slot[entry] < 0) d->slot[entry] = meshes, d->mesh[meshes++] = d->objects->mesh[entry];
        d->shot[i] = (spot_shot){ .mesh = d->slot[entry], .at = shot[i].at,
                                  .picture = pictures && shot[i].picture >= 0 ? (int)(shot[i].picture % pictures) : -1 };
    }
    for (int i = 0; i < n; i++) d->slot[shot[i].entry] = -1;
    return meshes;
}

spot_status spot_examine_draw(spot_ctx *c, spot_examine_drawer *d, const spot_examine_shot *shot, int n)
{
    for (int i = 0; i < n; i++) SPOT_TRY(spot_examine_mesh(c, d->objects, shot[i].entry));
    const int meshes = lay_out(d, shot, n);
    const spot_render_call r = { .settings = &d->settings, .mesh = d->mesh, .meshes = meshes, .picture = d->pictures->rgb,
                                 .pictures = d->pictures->n, .shot = d->shot, .n = n, .rgb = d->rgb, .mask = d->mask,
                                 .depth = d->depth, .facts = d->facts };
    const size_t bytes = spot_render_scratch(c, &r);
    if (bytes > d->scratch.size) {
        spot_arena_close(&d->scratch);
        SPOT_TRY(spot_arena_open_device(c, &d->scratch, bytes));
    }
    SPOT_TRY(spot_render_draw(c, &d->scratch, &r));
    return spot_device_copy(c, d->seen, d->facts, (size_t)n * sizeof *d->seen);
}

bool spot_examine_is_valid(const spot_examine_valid *v, const spot_shot_facts *f)
{
    return f->area >= (float)v->area && f->area > 0 && f->border <= (float)v->border && f->contrast >= (float)v->contrast
        && (v->inside || !f->inside);
}

spot_conditions spot_examine_chance(const spot_factor_space *s, const spot_conditions *fixed, uint64_t seed, uint32_t number,
                                    int index)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_CONDITIONS, number, CHANCE + (uint32_t)index);
    spot_conditions at = *fixed;
    double u[SPOT_FACTORS], x[SPOT_FACTORS];

    for (int f = 0; f < SPOT_FACTORS; f++) u[f] = spot_rng_uniform(&r);
    for (int d = 0; d < s->dims; d++) x[d] = u[s->factor[d]];          /* whatever the order of the factors */
    spot_factor_space_place(&at, s, x);
    return at;
}
