/* render.c - images of meshes on the CPU, one to a thread: its triangles (render_fill.c), then its pixels (render_shade.c). */
#include "image/render.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "core/problems.h"
#include "image/render_cpu.h"
#include "image/render_pack.h"

spot_render_settings spot_render_defaults(void)
{
    return (spot_render_settings){ .size = 64, .samples = 2, .view = 49.13, .near = 0.02, .ambient = 0.15, .specular = 0.5,
                                   .sun_scale = 1 / 3.14159265358979323846, .lamp_scale = 1, .exposure = 1,
                                   .falloff = SPOT_FALLOFF_LINEAR, .falloff_distance = 25, .background = { 0.2, 0.2, 0.2 } };
}

/* -- meshes -------------------------------------------------------------------------------------------------------------- */

static spot_status check_numbers(spot_ctx *c, const char *what, const float *v, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(v[i]) <= SPOT_RENDER_FAR))
            return spot_fail(c, SPOT_INVALID, "{render.mesh_value} render.take: %s %zu of the mesh is %g; numbers up to %d are "
                             "drawn", what, i, v[i], SPOT_RENDER_FAR);
    return SPOT_OK;
}

static spot_status check_materials(spot_ctx *c, const spot_mesh *m)
{
    for (int i = 0; i < m->materials; i++) {
        const spot_mesh_material *l = &m->look[i];
        SPOT_TRY(check_numbers(c, "a number of diffuse", l->diffuse, 3));
        SPOT_TRY(check_numbers(c, "a number of specular", l->specular, 3));
        SPOT_TRY(check_numbers(c, "a number of shininess", &l->shininess, 1));
        SPOT_TRY(check_numbers(c, "a number of opacity", &l->opacity, 1));
        if (l->texture < -1 || l->texture >= m->textures || l->cutout < -1 || l->cutout >= m->textures)
            return spot_fail(c, SPOT_INVALID, "{render.mesh_material} render.take: material %d has texture %d and cut-out %d "
                             "of %d", i, l->texture, l->cutout, m->textures);
        if (l->shininess < 0)
            return spot_fail(c, SPOT_INVALID, "render.take: material %d has a shininess of %g", i, l->shininess);
    }
    for (int i = 0; i < m->textures; i++) {
        const spot_mesh_texture *t = &m->texture[i];
        if (t->width < 1 || t->width > SPOT_MESH_TEXTURE_SIDE || t->height < 1 || t->height > SPOT_MESH_TEXTURE_SIDE
            || t->levels < 1 || t->levels > 11 || !t->texel)
            return spot_fail(c, SPOT_INVALID, "{render.mesh_texture} render.take: texture %d has %d x %d texels in %d levels; "
                             "at most %d a side", i, t->width, t->height, t->levels, SPOT_MESH_TEXTURE_SIDE);
    }
    return SPOT_OK;
}

static spot_status check_mesh(spot_ctx *c, const spot_mesh *m)
{
    const size_t vertices = (size_t)m->vertices, triangles = (size_t)m->triangles;

    if (m->vertices < 0 || m->triangles < 0 || m->triangles > SPOT_MESH_MOST_TRIANGLES || m->materials < 0 || m->textures < 0
        || m->materials > SPOT_RENDER_MATERIAL + 1)
        return spot_fail(c, SPOT_INVALID, "{render.mesh_sizes} render.take: %d vertices, %d triangles, %d materials and %d "
                         "textures; at most %d triangles and %d materials", m->vertices, m->triangles, m->materials,
                         m->textures, SPOT_MESH_MOST_TRIANGLES, SPOT_RENDER_MATERIAL + 1);
    SPOT_TRY(check_materials(c, m));
    SPOT_TRY(check_numbers(c, "place", m->place, 3 * vertices));
    SPOT_TRY(check_numbers(c, "normal", m->normal, 3 * vertices));
    if (m->coordinate) SPOT_TRY(check_numbers(c, "coordinate", m->coordinate, 2 * vertices));
    if (m->colour) SPOT_TRY(check_numbers(c, "colour", m->colour, 3 * vertices));
    for (size_t i = 0; i < 3 * triangles; i++)
        if (m->corner[i] >= vertices)
            return spot_fail(c, SPOT_INVALID, "{render.mesh_corner} render.take: corner %zu is vertex %u of %d", i,
                             m->corner[i], m->vertices);
    for (size_t t = 0; t < triangles; t++)
        if (m->material[t] >= m->materials)
            return spot_fail(c, SPOT_INVALID, "{render.mesh_triangle} render.take: triangle %zu has material %d of %d", t,
                             m->material[t], m->materials);
    return SPOT_OK;
}

static spot_status send_mesh(spot_ctx *c, spot_render_mesh *to, const spot_mesh *m, char *host, const spot_render_piece *piece)
{
    SPOT_TRY(spot_device_take(c, &to->owned, piece->bytes));
    to->body = spot_render_pack(host, to->owned, m, piece, (bool *)(host + piece->bytes));
    spot_render_pack_box(to, m);
    return spot_device_copy(c, to->owned, host, piece->bytes);
}

spot_status spot_render_take(spot_ctx *c, spot_render_mesh **out, const spot_mesh *m)
{
    spot_render_mesh *to;
    char *host;
    spot_status s;

    SPOT_TRY(check_mesh(c, m));
    const spot_render_piece piece = spot_render_piece_of(m);
    to = calloc(1, sizeof *to);
    host = malloc(piece.bytes + (size_t)m->materials + 1);
    if (to && host) s = send_mesh(c, to, m, host, &piece);
    else            s = spot_fail(c, SPOT_NOMEM, "render.take: no memory for a mesh of %.1f MB", (double)piece.bytes / 1e6);
    free(host);
    if (s == SPOT_OK) *out = to;
    else              spot_render_give(c, to);
    return s;
}

void spot_render_give(spot_ctx *c, spot_render_mesh *m)
{
    if (m) spot_device_give(c, m->owned);
    free(m);
}

/* -- scratch ------------------------------------------------------------------------------------------------------------- */

/* Sets lane's arrays behind `room`, which may be NULL, and returns their bytes. */
static size_t lay_out(spot_render_lane *lane, char *room, const spot_render_call *r)
{
    const size_t size = (size_t)r->settings->size, side = size * (size_t)r->settings->samples;
    size_t vertices = 0, used = 0;

    for (int i = 0; i < r->meshes; i++)
        vertices = (size_t)r->mesh[i]->body.vertices > vertices ? (size_t)r->mesh[i]->body.vertices : vertices;
    lane->pitch = (side + 2 * SPOT_RENDER_LANES - 1) / SPOT_RENDER_LANES * SPOT_RENDER_LANES;
    const size_t samples = (size_t)r->settings->samples, shown = 4 * samples * lane->pitch;
    const size_t row = 4 * (size + SPOT_RENDER_LANES);
    struct { void *at; size_t bytes; } part[] = {
        { &lane->corner, 16 * vertices }, { &lane->place, 4 * vertices },
        { &lane->depth, 4 * side * lane->pitch }, { &lane->triangle, 4 * side * lane->pitch },
        { &lane->shown[0], shown }, { &lane->shown[1], shown }, { &lane->shown[2], shown }, { &lane->sum, 3 * row },
        { &lane->ground, row }, { &lane->byte, row }, { &lane->near, row }, { &lane->covered, row },
        { &lane->seen, 2 * (samples * side + SPOT_RENDER_LANES) },
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        char *at = room ? room + used : NULL;
        memcpy(part[i].at, &at, sizeof at);
        used += spot_arena_room(part[i].bytes);
    }
    return used;
}

static size_t scratch_cpu(const spot_render_call *r, int threads)
{
    spot_render_lane lane;

    return lay_out(&lane, NULL, r) * (size_t)threads + spot_arena_room((size_t)r->pictures * sizeof(double));
}

size_t spot_render_scratch(spot_ctx *c, const spot_render_call *r)
{
    return c->ops && c->ops->render ? c->ops->render->scratch(r, c->threads) : 0;
}

/* -- drawing ------------------------------------------------------------------------------------------------------------- */

/* Settings, light of bytes, and the mean luminance of pictures, for all images of a call. */
typedef struct {
    const spot_render_call *r;
    float linear[256];
    double *ground;                /* (pictures) */
    uint8_t byte[3];               /* settings.background */
    double plain;                  /* its luminance */
} render_work;

static double luminance_of(const render_work *w, const uint8_t *rgb, size_t pixels)
{
    unsigned long long sum = 0;

    for (size_t i = 0; i < pixels; i++, rgb += 3)
        sum += spot_render_luminance(w->linear[rgb[0]], w->linear[rgb[1]], w->linear[rgb[2]]);
    return (double)sum / (double)pixels;
}

/* The image without the object. */
static void clear_image(const render_work *w, const spot_render_image *out)
{
    const size_t size = (size_t)w->r->settings->size, pixels = size * size, bytes = 3 * pixels;

    if (out->mask) memset(out->mask, 0, pixels);
    if (out->depth) memset(out->depth, 0, pixels * sizeof *out->depth);
    if (out->picture) {
        memcpy(out->rgb, out->picture, bytes);
        return;
    }
    memcpy(out->rgb, w->byte, 3);
    for (size_t done = 3; done < bytes; done *= 2) memcpy(out->rgb + done, out->rgb, done < bytes - done ? done : bytes - done);
}

static void draw_image(const render_work *w, spot_render_lane *lane, int i)
{
    const spot_render_call *r = w->r;
    const spot_shot *shot = &r->shot[i];
    const size_t pixels = (size_t)r->settings->size * (size_t)r->settings->size, at = pixels * (size_t)i;
    const spot_render_image out = { r->rgb + 3 * at, r->mask ? r->mask + at : NULL, r->depth ? r->depth + at : NULL,
                                    shot->picture < 0 ? NULL : r->picture + 3 * pixels * (size_t)shot->picture };

    lane->view = spot_render_view_of(r->settings, shot, r->mesh[shot->mesh]);
    lane->body = &r->mesh[shot->mesh]->body;
    clear_image(w, &out);
    spot_render_fill(lane);
    spot_render_shade(lane, &out);
    if (r->facts)
        r->facts[i] = spot_render_facts_of(&lane->view, lane->total, shot->picture < 0 ? w->plain : w->ground[shot->picture]);
}

static void begin(render_work *w, const spot_render_call *r, double *ground)
{
    float light[3];

    w->r = r;
    w->ground = ground;
    for (int i = 0; i < 256; i++) w->linear[i] = spot_render_linear(i);
    for (int k = 0; k < 3; k++) {
        light[k] = (float)r->settings->background[k];
        w->byte[k] = (uint8_t)spot_render_byte(light[k]);
    }
    w->plain = spot_render_luminance(light[0], light[1], light[2]);
}

static spot_status draw_cpu(spot_ctx *c, spot_arena *scratch, const spot_render_call *r)
{
    const size_t mark = scratch->used, pixels = (size_t)r->settings->size * (size_t)r->settings->size;
    spot_render_lane any;
    const size_t each = lay_out(&any, NULL, r), grounds = spot_arena_room((size_t)r->pictures * sizeof(double));
    char *room;
    render_work w;

    SPOT_TRY(SPOT_TAKE(c, scratch, room, scratch_cpu(r, c->threads)));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
    begin(&w, r, (double *)(void *)room);
#pragma omp parallel num_threads(c->threads)
    {
        spot_render_lane lane = { .linear = w.linear };
        lay_out(&lane, room + grounds + each * (size_t)omp_get_thread_num(), r);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < (r->facts ? r->pictures : 0); i++)
            w.ground[i] = luminance_of(&w, r->picture + 3 * pixels * (size_t)i, pixels);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < r->n; i++) draw_image(&w, &lane, i);
    }
    return SPOT_OK;
}

const spot_render_ops spot_render_cpu = { .draw = draw_cpu, .scratch = scratch_cpu };

/* -- checks -------------------------------------------------------------------------------------------------------------- */

static spot_status check_setting(spot_ctx *c, const char *what, double value, double least, double most)
{
    if (value >= least && value <= most) return SPOT_OK;
    return spot_fail(c, SPOT_INVALID, "{render.setting} render.draw: %s is %g; from %g to %g", what, value, least, most);
}

static spot_status check_settings(spot_ctx *c, const spot_render_settings *s)
{
    const double most = SPOT_RENDER_MOST;

    if (s->size < SPOT_RENDER_LEAST_SIZE || s->size > SPOT_RENDER_SIZE
        || (s->samples != 1 && s->samples != 2 && s->samples != SPOT_RENDER_SAMPLES))
        return spot_fail(c, SPOT_INVALID, "{render.sizes} render.draw: %d pixels a side, %d samples; from %d to %d pixels, 1, "
                         "2 or 4 samples", s->size, s->samples, SPOT_RENDER_LEAST_SIZE, SPOT_RENDER_SIZE);
    if (s->falloff != SPOT_FALLOFF_LINEAR && s->falloff != SPOT_FALLOFF_SQUARE)
        return spot_fail(c, SPOT_INVALID, "{render.falloff} render.draw: there is no falloff %d", s->falloff);
    SPOT_TRY(check_setting(c, "view", s->view, 1, 170));
    SPOT_TRY(check_setting(c, "near", s->near, 1e-4, 100));
    SPOT_TRY(check_setting(c, "ambient", s->ambient, 0, most));
    SPOT_TRY(check_setting(c, "specular", s->specular, 0, most));
    SPOT_TRY(check_setting(c, "sun_scale", s->sun_scale, 0, most));
    SPOT_TRY(check_setting(c, "lamp_scale", s->lamp_scale, 0, most));
    SPOT_TRY(check_setting(c, "exposure", s->exposure, 0, most));
    SPOT_TRY(check_setting(c, "falloff_distance", s->falloff_distance, 1e-6, most));
    for (int k = 0; k < 3; k++) SPOT_TRY(check_setting(c, "background", s->background[k], 0, 1));
    return SPOT_OK;
}

static spot_status check_shot(spot_ctx *c, const spot_render_call *r, int i)
{
    const spot_shot *s = &r->shot[i];

    if (s->mesh < 0 || s->mesh >= r->meshes || s->picture < -1 || s->picture >= r->pictures)
        return spot_fail(c, SPOT_INVALID, "{render.image} render.draw: image %d is of mesh %d of %d before picture %d of %d", i,
                         s->mesh, r->meshes, s->picture, r->pictures);
    for (int k = 0; k < SPOT_FACTORS; k++)
        if (!(fabsf(s->at.value[k]) <= SPOT_RENDER_MOST))
            return spot_fail(c, SPOT_INVALID, "{render.factor} render.draw: factor %d of image %d is %g; numbers up to %d are "
                             "drawn", k, i, s->at.value[k], SPOT_RENDER_MOST);
    if (!(s->at.value[SPOT_CAMERA_DISTANCE] > 0))
        return spot_fail(c, SPOT_INVALID, "{render.camera} render.draw: the camera of image %d is at distance %g; above 0", i,
                         s->at.value[SPOT_CAMERA_DISTANCE]);
    return SPOT_OK;
}

spot_status spot_render_draw(spot_ctx *c, spot_arena *scratch, const spot_render_call *r)
{
    SPOT_TRY(check_settings(c, r->settings));
    if (r->n < 0 || r->meshes < 0 || r->pictures < 0 || (r->pictures && !r->picture) || (r->n && !r->rgb))
        return spot_fail(c, SPOT_INVALID, "{render.counts} render.draw: %d images of %d meshes before %d pictures, or an array "
                         "is missing", r->n, r->meshes, r->pictures);
    for (int i = 0; i < r->n; i++) SPOT_TRY(check_shot(c, r, i));
    SPOT_DISPATCH(c, render, draw, scratch, r);
}
