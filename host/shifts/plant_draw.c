/* plant_draw.c - the contents and pixels of planted pictures. */
#include "shifts/plant_draw.h"

#include <stdlib.h>
#include <string.h>

#include "image/raster.h"

enum { TRIES = 1000, AT_A_TIME = 64 };     /* tries for one arrangement; scenes in memory */

static const char *const class_name[SPOT_PLANT_CLASSES] = {
    "solid square",    "striped square",    "pair of solid squares",    "pair of striped squares",
    "solid circle",    "striped circle",    "pair of solid circles",    "pair of striped circles",
    "solid rectangle", "striped rectangle", "pair of solid rectangles", "pair of striped rectangles",
    "solid text",      "striped text",      "pair of solid texts",      "pair of striped texts"
};
static const spot_layer shape_of[SPOT_PLANT_CLASSES / 4] = { SPOT_SQUARE, SPOT_CIRCLE, SPOT_RECTANGLE, SPOT_TEXT };

static const spot_plant_shift_info shift_info[SPOT_PLANT_KINDS] = {
    { "base", "", "", false },
#define X(NAME, folder, caption, category, style) { folder, caption, category, style },
    SPOT_PLANT_SHIFTS(X)
#undef X
};

const char *spot_plant_class_name(int cls) { return class_name[cls]; }

const spot_plant_shift_info *spot_plant_shift_about(spot_plant_shift shift) { return &shift_info[shift]; }

const char *spot_plant_set_name(spot_plant_set set)
{
    static const char *const name[SPOT_PLANT_SETS] = { "clean", "confounded", "real", "train", "truth" };

    return name[set];
}

/* -- what is there ------------------------------------------------------------------------------------------------- */

/* The confounded classes are the pairs of striped shapes, then the pairs of solid ones, then all others. */
static bool is_confounded(const spot_plant_config *cfg, int cls)
{
    int place = 0;

    for (int k = 0; k < cfg->classes; k++) place += k % 4 > cls % 4 || (k % 4 == cls % 4 && k < cls);
    return place < cfg->confounded;
}

static double table_share(const spot_plant_config *cfg, spot_plant_set set, spot_plant_shift shift, int cls)
{
    if (!is_confounded(cfg, cls)) return 0;
    if (set == SPOT_PLANT_TRAIN) return cfg->table_train;
    return set == SPOT_PLANT_CONFOUNDED && shift == SPOT_PLANT_BASE ? 0 : cfg->table_real;
}

/* Another class, or -1 for nothing, one as likely as the other. */
static int draw_wrong(spot_rng *r, int cls, int classes)
{
    bool nothing = spot_rng_below(r, 2);
    int other = (int)spot_rng_below(r, (uint32_t)classes - 1);

    return nothing ? -1 : other + (other >= cls);
}

void spot_plant_draw(spot_plant_picture *p, const spot_plant_config *cfg, spot_plant_set set, spot_plant_shift shift, int cls,
                     uint32_t index)
{
    bool source = set == SPOT_PLANT_CLEAN || set == SPOT_PLANT_CONFOUNDED;
    uint32_t unit = (uint32_t)set << 16 | (uint32_t)shift << 8 | (uint32_t)cls;
    spot_rng r = spot_rng_at(cfg->seed, SPOT_RNG_PLANT, unit, index);
    double missing = spot_rng_uniform(&r), wrong = spot_rng_uniform(&r), table = spot_rng_uniform(&r);
    int other = draw_wrong(&r, cls, cfg->classes);

    memset(p, 0, sizeof *p);
    p->seed = cfg->seed;
    p->unit = unit;
    p->index = index;
    p->shift = shift;
    p->cls = cls;
    p->shift_there = shift != SPOT_PLANT_BASE && !(source && missing < cfg->missing);
    p->object_there = !(source && wrong < cfg->wrong);
    p->shown = p->object_there ? cls : other;
    p->table = table < table_share(cfg, set, shift, cls);
}

/* -- where it is --------------------------------------------------------------------------------------------------- */

spot_scene_config spot_plant_scene_config(int side)
{
    spot_scene_config cfg = spot_scene_defaults();

    cfg.size = spot_plant_scene_side(side);
    cfg.jpeg_quality = 0;
    cfg.text_alternative = SPOT_TEXT_SMALLER;          /* so the usual text is the large one */
    return cfg;
}

typedef struct { int x, y, w, h; } box;

static bool far_apart(box a, box b, int margin)
{
    return a.x + a.w + margin <= b.x || b.x + b.w + margin <= a.x || a.y + a.h + margin <= b.y || b.y + b.h + margin <= a.y;
}

/* Moves b anywhere inside the window of `side` pixels at (edge, edge). */
static void place(box *b, int edge, int side, spot_rng *r)
{
    b->x = edge + 1 + (int)spot_rng_below(r, (uint32_t)(side - b->w - 2));
    b->y = edge + 1 + (int)spot_rng_below(r, (uint32_t)(side - b->h - 2));
}

/* Places n boxes apart from each other; the cross is the last of them. Few arrangements are impossible, so it gives up late. */
static void arrange(box *b, int n, int edge, int side, spot_rng *r)
{
    for (int i = 0; i < TRIES; i++) {
        bool apart = true;
        for (int k = 0; k < n; k++) place(&b[k], edge, side, r);
        for (int k = 1; k < n && apart; k++)
            for (int j = 0; j < k; j++) apart = apart && far_apart(b[j], b[k], 2);
        if (apart) return;
    }
}

static void put_object(spot_object *o, const spot_geometry *g, const box *at, int cls, int colour, int phase)
{
    const spot_shape *s;

    memset(o, 0, sizeof *o);
    o->layer = (uint8_t)shape_of[cls / 4];
    o->color = (uint8_t)colour;
    o->texture = (uint8_t)(cls % 2);
    o->stripe_phase = (uint8_t)(o->texture ? phase : 0);
    s = &g->shape[o->layer][o->size];
    o->place_x = (int16_t)at->x;
    o->place_y = (int16_t)at->y;
    o->x0 = (int16_t)(at->x + s->ink_x);
    o->y0 = (int16_t)(at->y + s->ink_y);
    o->x1 = (int16_t)(o->x0 + s->ink_w - 1);
    o->y1 = (int16_t)(o->y0 + s->ink_h - 1);
}

void spot_plant_compose(spot_plant_scene *s, int cls, int table, int side, spot_rng *r)
{
    const spot_scene_config cfg = spot_plant_scene_config(side);
    const spot_geometry g = spot_geometry_of(&cfg);
    int n = cls < 0 ? 0 : 1 + cls % 4 / 2, edge = (g.size - side) / 2, cross = spot_plant_cross_side(side);
    int colour = (int)spot_rng_below(r, 2), phase = (int)spot_rng_below(r, (uint32_t)g.run);
    box at[3];

    memset(s, 0, sizeof *s);
    s->scene.background_color = (uint8_t)spot_rng_below(r, 2);
    s->scene.background_texture = spot_rng_below(r, 4) == 0;
    s->scene.object_count = (uint8_t)n;
    for (int k = 0; k < n; k++) at[k] = (box){ 0, 0, g.shape[shape_of[cls / 4]][0].w, g.shape[shape_of[cls / 4]][0].h };
    at[n] = (box){ 0, 0, cross, cross };
    arrange(at, n + 1, edge, side, r);
    for (int k = 0; k < n; k++) put_object(&s->scene.object[k], &g, &at[k], cls, colour, phase);
    s->look.cross_x = (int16_t)(at[n].x - edge);
    s->look.cross_y = (int16_t)(at[n].y - edge);
    s->look.table = (uint8_t)table;
}

void spot_plant_apply(spot_plant_look *look, spot_plant_shift shift)
{
    switch (shift) {
    case SPOT_PLANT_GREEN:   look->ground = SPOT_GROUND_GREEN; break;
    case SPOT_PLANT_CHECKER: look->ground = SPOT_GROUND_CHECKERED; break;
    case SPOT_PLANT_NIGHT:   look->effects |= SPOT_EFFECT_NIGHT; break;
    case SPOT_PLANT_FOG:     look->effects |= SPOT_EFFECT_FOG; break;
    case SPOT_PLANT_RAIN:    look->effects |= SPOT_EFFECT_RAIN; break;
    case SPOT_PLANT_RED:     look->body = SPOT_BODY_RED; break;
    case SPOT_PLANT_PURPLE:  look->body = SPOT_BODY_PURPLE; break;
    case SPOT_PLANT_CROSS:   look->cross = true; break;
    case SPOT_PLANT_NOISE:   look->effects |= SPOT_EFFECT_NOISE; break;
    case SPOT_PLANT_BLUR:    look->effects |= SPOT_EFFECT_BLUR; break;
    case SPOT_PLANT_SKETCH:  look->effects |= SPOT_EFFECT_SKETCH; break;
    case SPOT_PLANT_MOSAIC:  look->effects |= SPOT_EFFECT_MOSAIC; break;
    case SPOT_PLANT_BASE: case SPOT_PLANT_KINDS: break;
    }
}

/* -- pixels -------------------------------------------------------------------------------------------------------- */

/* The highest bit of the unit keeps these numbers apart from those of spot_plant_draw. */
static void compose_picture(spot_plant_scene *s, const spot_plant_picture *p, const spot_plant_config *cfg)
{
    spot_rng r = spot_rng_at(p->seed, SPOT_RNG_PLANT, p->unit | 1u << 31, p->index);

    spot_plant_compose(s, p->shown, p->table ? 1 + p->cls / 4 : 0, cfg->size, &r);
    s->scene.seed = p->seed;
    s->scene.ec = p->unit | 1u << 31;
    s->scene.index = p->index;
    s->scene.split = SPOT_TEST;
}

/* A shift of less than full strength is a mixture of the picture with and without it. */
static void paint_picture(uint8_t *rgb, const spot_plant_scene *s, const spot_plant_picture *p, const spot_plant_config *cfg,
                          const uint8_t *scene, uint8_t *scratch)
{
    int side = cfg->size, edge = (spot_plant_scene_side(side) - side) / 2, stride = 3 * spot_plant_scene_side(side);
    int part = (int)(256 * cfg->strength + 0.5), bytes = 3 * side * side;
    spot_plant_canvas canvas = { .scene = scene + edge * stride + 3 * edge, .stride = stride, .side = side, .look = s->look,
                                 .noise = spot_rng_at(p->seed, SPOT_RNG_PLANT_NOISE, p->unit, p->index) };

    if (p->shift_there) spot_plant_apply(&canvas.look, p->shift);
    spot_plant_paint(rgb, &canvas, scratch);
    if (!p->shift_there || part == 256) return;
    canvas.look = s->look;
    spot_plant_paint(scratch + bytes, &canvas, scratch);
    for (int i = 0; i < bytes; i++) rgb[i] = (uint8_t)((part * rgb[i] + (256 - part) * scratch[bytes + i]) >> 8);
}

static spot_status render_some(spot_ctx *c, uint8_t *rgb, const spot_plant_picture *p, int n, const spot_plant_config *cfg,
                               spot_image *image, uint8_t *scene, uint8_t *scratch)
{
    const spot_scene_config how = spot_plant_scene_config(cfg->size);
    size_t bytes = 3 * (size_t)cfg->size * (size_t)cfg->size, whole = 3 * (size_t)how.size * (size_t)how.size;
    spot_plant_scene s[AT_A_TIME];

    for (int i = 0; i < n; i++) {
        compose_picture(&s[i], &p[i], cfg);
        image[i] = s[i].scene;
    }
    SPOT_TRY(spot_raster_draw(c, scene, image, n, &how));
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++)
        paint_picture(rgb + (size_t)i * bytes, &s[i], &p[i], cfg, scene + (size_t)i * whole, scratch + (size_t)i * 2 * bytes);
    return SPOT_OK;
}

spot_status spot_plant_render(spot_ctx *c, uint8_t *rgb, const spot_plant_picture *p, int n, const spot_plant_config *cfg)
{
    int side = cfg->size, whole = spot_plant_scene_side(side), most = n < AT_A_TIME ? n : AT_A_TIME;
    size_t bytes = 3 * (size_t)side * (size_t)side;
    spot_ctx here = { .ops = &spot_ops_cpu, .threads = c->threads };
    spot_image *image = malloc((size_t)most * sizeof *image + 1);
    uint8_t *scene = malloc((size_t)most * 3 * (size_t)whole * (size_t)whole + 1);
    uint8_t *scratch = malloc((size_t)most * 2 * bytes + 1);
    spot_status s = SPOT_OK;

    if (!image || !scene || !scratch) s = spot_fail(c, SPOT_NOMEM, "no memory for %d pictures of %d pixels", most, side);
    for (int i = 0; i < n && !s; i += AT_A_TIME) {
        int some = n - i < AT_A_TIME ? n - i : AT_A_TIME;
        s = render_some(&here, rgb + (size_t)i * bytes, p + i, some, cfg, image, scene, scratch);
        if (s) s = spot_fail(c, s, "%s", here.message);
    }
    free(scratch);
    free(scene);
    free(image);
    return s;
}
