/* pictures.c - training pictures of the tiny CLIP, on stdout: pictures FACTS | pictures SEED FIRST COUNT [KIND [SIDE]]
 *
 * FACTS prints the names of the facts, one a line. Else each picture is SIDE x SIDE x 3 bytes and a byte for each fact: 0 it
 * does not hold, 1 it holds, 2 nobody could see it. KIND: mixed (default), planted, scenes. SIDE: 64 (default), 48 or 32. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/raster.h"
#include "shifts/plant_draw.h"

enum { MOST_SIDE = 64, MOST_BYTES = 3 * MOST_SIDE * MOST_SIDE };

static const char *const layer_fact[] = { "", "small", "normal", "striped", "solid", "blue", "orange", "red", "purple",
                                          "above", "below", "one", "two" };
static const char *const other_fact[] = {
    "white", "grey", "green", "checkered", "speckled", "plain", "table", "brown", "pink", "teal", "olive", "cross", "sketch",
    "mosaic", "blur", "night", "fog", "rain", "noise", "effect", "empty", "many"
};
enum { OF_LAYER = sizeof layer_fact / sizeof *layer_fact, OTHER = sizeof other_fact / sizeof *other_fact,
       FACTS = (SPOT_LAYERS - 1 + 1) * OF_LAYER + OTHER };          /* each shape, and any of them */
enum { NONE, SMALL, NORMAL, STRIPED, SOLID, BLUE, ORANGE, RED, PURPLE, ABOVE, BELOW, ONE, TWO };
enum { WHITE, GREY, GREEN, CHECKERED, SPECKLED, PLAIN, TABLE, BROWN, PINK, TEAL, OLIVE, CROSS, SKETCH, MOSAIC, BLUR, NIGHT,
       FOG, RAIN, NOISE, EFFECT, EMPTY, MANY };

typedef struct { spot_scene_config how; spot_geometry g; spot_ec ec; int edge, side; } world;

static const char *fact_name(int fact)
{
    static char text[64];
    int layer = fact / OF_LAYER;

    if (layer >= SPOT_LAYERS) return other_fact[fact - SPOT_LAYERS * OF_LAYER];
    snprintf(text, sizeof text, "%s%s%s", layer ? spot_layer_name((spot_layer)layer) : "any",
             layer_fact[fact % OF_LAYER][0] ? " " : "", layer_fact[fact % OF_LAYER]);
    return text;
}

/* -- facts --------------------------------------------------------------------------------------------------------- */

static void note_object(uint8_t *fact, const spot_object *o, const world *w, const spot_plant_look *look)
{
    const spot_shape *s = &w->g.shape[o->layer][o->size];
    int middle = o->place_y + s->ink_y + s->ink_h / 2 - w->edge, colourless = look->effects & SPOT_EFFECT_SKETCH;
    bool small = o->layer == SPOT_TEXT ? s->ink_w * 64 < 20 * w->side : s->ink_w * 64 < 9 * w->side;
    int colour = look->body == SPOT_BODY_RED ? RED : look->body == SPOT_BODY_PURPLE ? PURPLE : o->color ? ORANGE : BLUE;

    fact[NONE] = fact[small ? SMALL : NORMAL] = fact[o->texture ? STRIPED : SOLID] = 1;
    fact[middle < w->side / 2 ? ABOVE : BELOW] = 1;
    fact[colour] = 1;
    for (int k = BLUE; colourless && k <= PURPLE; k++) fact[k] = 2;
}

static void note_facts(uint8_t *fact, const spot_image *image, const spot_plant_look *look, const world *w)
{
    uint8_t *other = fact + SPOT_LAYERS * OF_LAYER;
    bool faint = look->effects & (SPOT_EFFECT_SKETCH | SPOT_EFFECT_FOG | SPOT_EFFECT_NIGHT);
    int count[SPOT_LAYERS] = { 0 };

    memset(fact, 0, FACTS);
    for (int k = 0; k < image->object_count; k++) {
        const spot_object *o = &image->object[k];
        note_object(fact + o->layer * OF_LAYER, o, w, look);
        note_object(fact, o, w, look);
        count[o->layer]++;
    }
    for (int l = 1; l < SPOT_LAYERS; l++)
        if (count[l]) fact[l * OF_LAYER + (count[l] > 1 ? TWO : ONE)] = fact[count[l] > 1 ? TWO : ONE] = 1;
    if (look->ground) other[look->ground == SPOT_GROUND_GREEN ? GREEN : CHECKERED] = 1;
    else other[image->background_color ? GREY : WHITE] = 1;
    for (int k = WHITE; faint && k <= CHECKERED; k++)
        if (k <= GREY ? other[WHITE] || other[GREY] : look->effects & SPOT_EFFECT_SKETCH) other[k] = 2;
    other[image->background_texture ? SPECKLED : PLAIN] = 1;
    if (look->effects & ~(uint32_t)SPOT_EFFECT_NIGHT) other[SPECKLED] = other[PLAIN] = 2;
    if (look->table) other[TABLE] = other[BROWN + look->table - 1] = 1;
    for (int k = BROWN; (look->effects & SPOT_EFFECT_SKETCH) && k <= OLIVE; k++) other[k] = other[TABLE] ? 2 : 0;
    other[CROSS] = look->cross;
    for (int k = 0; k < 7; k++) other[SKETCH + k] = look->effects >> k & 1;
    other[EFFECT] = look->effects != 0;
    other[EMPTY] = image->object_count == 0;
    other[MANY] = image->object_count > 1;
}

/* -- pictures ------------------------------------------------------------------------------------------------------ */

static void draw_look(spot_plant_look *look, spot_rng *r, int none)
{
    int shifts = (int)spot_rng_below(r, 100) < none ? 0 : spot_rng_below(r, 4) ? 1 : 2;

    for (int k = 0; k < shifts; k++) spot_plant_apply(look, (spot_plant_shift)(1 + spot_rng_below(r, SPOT_PLANT_KINDS - 1)));
}

static void make_picture(uint8_t *rgb, uint8_t *fact, uint64_t seed, uint32_t index, const char *kind, const world *planted,
                         const world *scenes)
{
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1 };
    spot_rng r = spot_rng_at(seed, SPOT_RNG_PLANT, 1u << 30, index);
    bool plant = spot_rng_below(&r, 20) < 11;
    const world *w = !strcmp(kind, "mixed") ? plant ? planted : scenes : strcmp(kind, "scenes") ? planted : scenes;
    spot_plant_scene s = { 0 };
    static uint8_t raster[3 * 256 * 256], scratch[MOST_BYTES];
    spot_plant_canvas canvas;

    if (w == planted) {
        int cls = spot_rng_below(&r, 25) ? (int)spot_rng_below(&r, SPOT_PLANT_CLASSES) : -1;
        int table = spot_rng_below(&r, 4) ? 0 : 1 + (int)spot_rng_below(&r, SPOT_PLANT_TABLES);
        spot_plant_compose(&s, cls, table, w->side, &r);
        s.scene.seed = seed;
        s.scene.index = index;
        s.scene.split = SPOT_TRAIN;
        draw_look(&s.look, &r, 40);
    } else {
        spot_image_draw(&s.scene, &w->ec, SPOT_TRAIN, index);
        draw_look(&s.look, &r, 80);
        const uint32_t room = (uint32_t)(w->side - spot_plant_cross_side(w->side));
        s.look.cross_x = (int16_t)spot_rng_below(&r, room);
        s.look.cross_y = (int16_t)spot_rng_below(&r, room);
    }
    if (spot_raster_draw(&c, raster, &s.scene, 1, &w->how)) { fprintf(stderr, "%s\n", c.message); exit(1); }
    canvas = (spot_plant_canvas){ .scene = raster + 3 * (w->edge * w->how.size + w->edge), .stride = 3 * w->how.size,
                                  .side = w->side, .look = s.look,
                                  .noise = spot_rng_at(seed, SPOT_RNG_PLANT_NOISE, 1u << 30, index) };
    spot_plant_paint(rgb, &canvas, scratch);
    note_facts(fact, &s.scene, &s.look, w);
}

static world open_world(bool planted, uint64_t seed, int side)
{
    world w = { .how = spot_scene_defaults(), .side = side };

    w.how.size = side;
    if (planted) w.how = spot_plant_scene_config(side);
    w.g = spot_geometry_of(&w.how);
    w.edge = (w.how.size - side) / 2;
    spot_ec_base(&w.ec, &w.how, seed, 1, 1);
    return w;
}

int main(int argc, char **argv)
{
    uint8_t rgb[MOST_BYTES], fact[FACTS];
    const int side = argc > 5 ? atoi(argv[5]) : MOST_SIDE;
    const size_t bytes = 3 * (size_t)side * (size_t)side;

    if (argc == 2)             /* FACTS, whatever its spelling */
        for (int k = 0; k < FACTS; k++) puts(fact_name(k));
    if (side != 32 && side != 48 && side != MOST_SIDE) {
        fprintf(stderr, "pictures: SIDE is %s; give 32, 48 or 64\n", argv[5]);
        return 2;
    }
    if (argc >= 4) {
        uint64_t seed = strtoull(argv[1], NULL, 10);
        world planted = open_world(true, seed, side), scenes = open_world(false, seed, side);
        for (unsigned long i = strtoul(argv[2], NULL, 10), n = strtoul(argv[3], NULL, 10); n; n--, i++) {
            make_picture(rgb, fact, seed, (uint32_t)i, argc > 4 ? argv[4] : "mixed", &planted, &scenes);
            if (!fwrite(rgb, bytes, 1, stdout) || !fwrite(fact, FACTS, 1, stdout)) return 1;
        }
    }
    return fflush(stdout) != 0;
}
