/* scene_json.c - the contents of an image, and an EC, as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "spotter/config.h"
#include "worlds/pictures.h"

static void write_object(spot_json *j, const spot_object *o)
{
    spot_json_object(j, NULL);
    spot_json_put_text(j, "layer", spot_layer_name(o->layer));
    spot_json_array(j, "box", 0, 0);
    spot_json_put_int(j, NULL, o->x0);
    spot_json_put_int(j, NULL, o->y0);
    spot_json_put_int(j, NULL, o->x1);
    spot_json_put_int(j, NULL, o->y1);
    spot_json_end(j);
    spot_json_put_text(j, "size", spot_value_name(o->layer, SPOT_SIZE, o->size));
    spot_json_put_text(j, "color", spot_value_name(o->layer, SPOT_COLOR, o->color));
    spot_json_put_text(j, "texture", spot_value_name(o->layer, SPOT_TEXTURE, o->texture));
    spot_json_put_int(j, "stripe_phase", o->stripe_phase);
    spot_json_end(j);
}

/* Members of both rendered images and pictures; the object stays open. */
static void begin_image(spot_json *j, const spot_image *image, const char *file)
{
    spot_json_object(j, NULL);
    spot_json_put_int(j, "index", image->index);
    spot_json_put_text(j, "split", spot_split_name(image->split));
    spot_json_put_text(j, "file", file);
    spot_json_put_int(j, "label", image->label);
    spot_json_put_int(j, "train_label", image->train_label);
    spot_json_array(j, "blindspots", 0, 0);
    for (int m = 0; m < SPOT_MAX_BLINDSPOTS; m++)
        if (image->blindspots >> m & 1) spot_json_put_int(j, NULL, m);
    spot_json_end(j);
}

static void write_image(spot_json *j, const spot_image *image, const char *file)
{
    begin_image(j, image, file);
    spot_json_object(j, "background");
    spot_json_put_text(j, "color", spot_value_name(SPOT_BACKGROUND, SPOT_COLOR, image->background_color));
    spot_json_put_text(j, "texture", spot_value_name(SPOT_BACKGROUND, SPOT_TEXTURE, image->background_texture));
    spot_json_end(j);
    spot_json_array(j, "objects", 0, 0);
    for (int k = 0; k < image->object_count; k++) write_object(j, &image->object[k]);
    spot_json_end(j);
    spot_json_put_int(j, "relative_position", image->relative_position);
    spot_json_end(j);
}

/* A picture's file and its annotated categories. */
static void write_picture(spot_json *j, const spot_image *image, const char *file, const spot_ec *ec)
{
    const spot_photos *p = ec->photos;
    const uint32_t picture = p->task[ec->task].picture[image->split][image->index];
    char path[SPOT_PHOTO_PATH];

    begin_image(j, image, file);
    spot_photo_path(p, picture, path);
    spot_json_put_text(j, "picture", path);
    spot_json_array(j, "shows", 0, 0);
    for (int k = 0; k < p->categories; k++)
        if (spot_shows(p, picture, k)) spot_json_put_text(j, NULL, spot_category(p, k));
    spot_json_end(j);
    spot_json_end(j);
}

static void write_blindspot(spot_json *j, const spot_ec *ec, int m)
{
    const spot_blindspot *b = &ec->blindspot[m];
    double share = spot_blindspot_share(ec, m);

    spot_json_object(j, NULL);
    spot_json_put_int(j, "specificity", b->specificity);
    spot_json_put_number(j, "share", share == floor(share) ? "%.1f" : "%.20g", share);
    spot_json_array(j, "triplets", 0, 0);
    for (int i = 0; i < b->len; i++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "layer", spot_layer_name(b->triplet[i].layer));
        spot_json_put_text(j, "attribute", spot_attribute_name(b->triplet[i].attribute));
        spot_json_put_int(j, "value", b->triplet[i].value);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
}

static void begin_ec(spot_json *j, const spot_ec *ec)
{
    spot_json_object(j, NULL);
    spot_json_put_int(j, "ec", ec->index);
    spot_json_object(j, "images");
    for (int k = 0; k < SPOT_SPLITS; k++) spot_json_put_int(j, spot_split_name(k), ec->images[k]);
    spot_json_end(j);
}

static void write_pictures_ec(spot_json *j, const spot_ec *ec)
{
    begin_ec(j, ec);
    spot_json_put_text(j, "task", spot_ec_task(ec));
    spot_json_array(j, "blindspots", 0, 0);
    for (int m = 0; m < ec->blindspot_count; m++) {
        char words[512];
        spot_ec_describe(words, sizeof words, ec, m);
        spot_json_object(j, NULL);
        spot_json_put_int(j, "specificity", ec->blindspot[m].specificity);
        spot_json_put_text(j, "is", words);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
}

static void write_scene_ec(spot_json *j, const spot_ec *ec)
{
    begin_ec(j, ec);
    spot_json_array(j, "layers", 0, 0);
    spot_json_put_text(j, NULL, spot_layer_name(SPOT_BACKGROUND));
    spot_json_put_text(j, NULL, spot_layer_name(SPOT_SQUARE));
    for (int k = 0; k < ec->extras; k++) spot_json_put_text(j, NULL, spot_layer_name(ec->extra[k]));
    spot_json_end(j);
    spot_json_array(j, "rollable", 0, 0);
    for (int l = 0; l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++) {
            if (!ec->rollable[l][a]) continue;
            spot_json_object(j, NULL);
            spot_json_put_text(j, "layer", spot_layer_name(l));
            spot_json_put_text(j, "attribute", spot_attribute_name(a));
            spot_json_end(j);
        }
    spot_json_end(j);
    spot_json_put_text(j, "induce", spot_induce_name(ec->scene.induce));
    spot_json_put_real(j, "strength", spot_induce_strength(&ec->scene));
    spot_json_array(j, "blindspots", 0, 0);
    for (int m = 0; m < ec->blindspot_count; m++) write_blindspot(j, ec, m);
    spot_json_end(j);
    spot_json_end(j);
}

/* Writes the document and `tail` to text; frees the document. */
static spot_status finish_text(spot_ctx *c, spot_json *j, char *text, size_t size, const char *tail)
{
    size_t bytes = j->out.used + strlen(tail) + 1;
    spot_status s = spot_json_whole(c, j, "a scene");

    if (!s && bytes > size) s = spot_fail(c, SPOT_INVALID, "{scene_json.room} %zu bytes of JSON do not fit into %zu", bytes,
                                          size);
    if (!s) snprintf(text, size, "%.*s%s", (int)j->out.used, j->out.bytes, tail);
    spot_json_free(j);
    return s;
}

spot_status spot_scene_jsonl(spot_ctx *c, char *text, size_t size, const spot_image *image, const char *file)
{
    spot_json j;

    SPOT_TRY(spot_json_begin(c, &j, NULL));
    write_image(&j, image, file);
    return finish_text(c, &j, text, size, "\n");
}

spot_status spot_ec_jsonl(spot_ctx *c, char *text, size_t size, const spot_image *image, const char *file, const spot_ec *ec)
{
    spot_json j;

    if (!ec->photos) return spot_scene_jsonl(c, text, size, image, file);
    SPOT_TRY(spot_json_begin(c, &j, NULL));
    write_picture(&j, image, file, ec);
    return finish_text(c, &j, text, size, "\n");
}

spot_status spot_ec_json(spot_ctx *c, char *text, size_t size, const spot_ec *ec)
{
    spot_json j;

    SPOT_TRY(spot_json_begin(c, &j, NULL));
    (ec->photos ? write_pictures_ec : write_scene_ec)(&j, ec);
    return finish_text(c, &j, text, size, "");
}
