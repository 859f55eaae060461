/* scene_json.c - what is in an image, and what an EC is, as JSON. */
#include <stdio.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "scene/pictures.h"
#include "spotter/source.h"

/* Only writing out of step can fail, and then the text has no end: `give` looks there, nobody else. */
static void key(yajl_gen g, const char *text) { yajl_gen_string(g, (const unsigned char *)text, strlen(text)); }

static void text_of(yajl_gen g, const char *name, const char *text)
{
    key(g, name);
    key(g, text);
}

static void integer_of(yajl_gen g, const char *name, long long v)
{
    key(g, name);
    yajl_gen_integer(g, v);
}

static void open_map(yajl_gen g, const char *name) { key(g, name); yajl_gen_map_open(g); }
static void open_array(yajl_gen g, const char *name) { key(g, name); yajl_gen_array_open(g); }

static void object(yajl_gen g, const spot_object *o)
{
    yajl_gen_map_open(g);
    text_of(g, "layer", spot_layer_name(o->layer));
    open_array(g, "box");
    yajl_gen_integer(g, o->x0);
    yajl_gen_integer(g, o->y0);
    yajl_gen_integer(g, o->x1);
    yajl_gen_integer(g, o->y1);
    yajl_gen_array_close(g);
    text_of(g, "size", o->size ? "small" : "normal");
    text_of(g, "color", o->color ? "orange" : "blue");
    text_of(g, "texture", o->texture ? "stripes" : "solid");
    integer_of(g, "stripe_phase", o->stripe_phase);
    yajl_gen_map_close(g);
}

/* What is true of rendered images and of pictures; the map stays open. */
static void image_head(yajl_gen g, const spot_image *image, const char *file)
{
    yajl_gen_map_open(g);
    integer_of(g, "index", image->index);
    text_of(g, "split", spot_split_name(image->split));
    text_of(g, "file", file);
    integer_of(g, "label", image->label);
    integer_of(g, "train_label", image->train_label);
    open_array(g, "blindspots");
    for (int m = 0; m < SPOT_MAX_BLINDSPOTS; m++)
        if (image->blindspots >> m & 1) yajl_gen_integer(g, m);
    yajl_gen_array_close(g);
}

static void image_map(yajl_gen g, const spot_image *image, const char *file)
{
    image_head(g, image, file);
    open_map(g, "background");
    text_of(g, "color", image->background_color ? "grey" : "white");
    text_of(g, "texture", image->background_texture ? "salt_and_pepper" : "solid");
    yajl_gen_map_close(g);
    open_array(g, "objects");
    for (int k = 0; k < image->object_count; k++) object(g, &image->object[k]);
    yajl_gen_array_close(g);
    integer_of(g, "relative_position", image->relative_position);
    yajl_gen_map_close(g);
}

/* The file that a picture is from, and all that is annotated in it. */
static void picture_map(yajl_gen g, const spot_image *image, const char *file, const spot_ec *ec)
{
    const spot_photos *p = ec->photos;
    const uint32_t picture = p->task[ec->task].picture[image->split][image->index];
    char path[SPOT_PHOTO_PATH];

    image_head(g, image, file);
    spot_photo_path(p, picture, path);
    text_of(g, "picture", path);
    open_array(g, "shows");
    for (int k = 0; k < p->categories; k++)
        if (spot_shows(p, picture, k)) key(g, spot_category(p, k));
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

static void blindspot(yajl_gen g, const spot_ec *ec, int m)
{
    const spot_blindspot *b = &ec->blindspot[m];

    yajl_gen_map_open(g);
    integer_of(g, "specificity", b->specificity);
    key(g, "share");
    yajl_gen_double(g, spot_blindspot_share(ec, m));
    open_array(g, "triplets");
    for (int i = 0; i < b->len; i++) {
        yajl_gen_map_open(g);
        text_of(g, "layer", spot_layer_name(b->triplet[i].layer));
        text_of(g, "attribute", spot_attribute_name(b->triplet[i].attribute));
        integer_of(g, "value", b->triplet[i].value);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

static void ec_head(yajl_gen g, const spot_ec *ec)
{
    yajl_gen_map_open(g);
    integer_of(g, "ec", ec->index);
    open_map(g, "images");
    for (int k = 0; k < SPOT_SPLITS; k++) integer_of(g, spot_split_name(k), ec->images[k]);
    yajl_gen_map_close(g);
}

static void pictures_map(yajl_gen g, const spot_ec *ec)
{
    ec_head(g, ec);
    text_of(g, "task", spot_ec_task(ec));
    open_array(g, "blindspots");
    for (int m = 0; m < ec->blindspot_count; m++) {
        char words[512];
        spot_ec_describe(words, sizeof words, ec, m);
        yajl_gen_map_open(g);
        integer_of(g, "specificity", ec->blindspot[m].specificity);
        text_of(g, "is", words);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

static void ec_map(yajl_gen g, const spot_ec *ec)
{
    ec_head(g, ec);
    open_array(g, "layers");
    key(g, spot_layer_name(SPOT_BACKGROUND));
    key(g, spot_layer_name(SPOT_SQUARE));
    for (int k = 0; k < ec->extras; k++) key(g, spot_layer_name(ec->extra[k]));
    yajl_gen_array_close(g);
    open_array(g, "rollable");
    for (int l = 0; l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++) {
            if (!ec->rollable[l][a]) continue;
            yajl_gen_map_open(g);
            text_of(g, "layer", spot_layer_name(l));
            text_of(g, "attribute", spot_attribute_name(a));
            yajl_gen_map_close(g);
        }
    yajl_gen_array_close(g);
    open_array(g, "blindspots");
    for (int m = 0; m < ec->blindspot_count; m++) blindspot(g, ec, m);
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

/* What the generator holds, with `tail` behind it, into text; frees the generator. */
static spot_status give(spot_ctx *c, yajl_gen g, char *text, size_t size, const char *tail)
{
    const unsigned char *json = NULL;
    size_t len = 0;
    spot_status s = SPOT_OK;

    if (yajl_gen_get_buf(g, &json, &len) != yajl_gen_status_ok || !len || json[len - 1] != '}')
        s = spot_fail(c, SPOT_NUMERIC, "a scene could not be written as JSON");
    else if (len + strlen(tail) + 1 > size)
        s = spot_fail(c, SPOT_INVALID, "%zu bytes of JSON do not fit into %zu", len + strlen(tail) + 1, size);
    else
        snprintf(text, size, "%.*s%s", (int)len, (const char *)json, tail);
    yajl_gen_free(g);
    return s;
}

spot_status spot_scene_jsonl(spot_ctx *c, char *text, size_t size, const spot_image *image, const char *file)
{
    yajl_gen g = yajl_gen_alloc(NULL);

    if (!g) return spot_fail(c, SPOT_NOMEM, "no memory for a line of JSON");
    image_map(g, image, file);
    return give(c, g, text, size, "\n");
}

spot_status spot_ec_jsonl(spot_ctx *c, char *text, size_t size, const spot_image *image, const char *file, const spot_ec *ec)
{
    yajl_gen g;

    if (!ec->photos) return spot_scene_jsonl(c, text, size, image, file);
    g = yajl_gen_alloc(NULL);
    if (!g) return spot_fail(c, SPOT_NOMEM, "no memory for a line of JSON");
    picture_map(g, image, file, ec);
    return give(c, g, text, size, "\n");
}

spot_status spot_ec_json(spot_ctx *c, char *text, size_t size, const spot_ec *ec)
{
    yajl_gen g = yajl_gen_alloc(NULL);

    if (!g) return spot_fail(c, SPOT_NOMEM, "no memory for an EC as JSON");
    if (ec->photos) pictures_map(g, ec);
    else ec_map(g, ec);
    return give(c, g, text, size, "");
}
