/* scene_table.c - the attributes of an EC's images: as a table in CSV, and as columns of 0 and 1. */
#include <stdio.h>

#include "base/text.h"
#include "spotter/config.h"
#include "worlds/pictures.h"

/* The relative position varies wherever there is a square, and is not rolled. */
static bool varies(const spot_ec *ec, int layer, int attribute)
{
    return ec->rollable[layer][attribute] || (layer == SPOT_BACKGROUND && attribute == SPOT_RELATIVE_POSITION);
}

void spot_ec_columns(FILE *f, const spot_ec *ec)
{
    fputs("file", f);
    for (int k = 0; ec->photos && k < ec->photos->categories; k++) {
        fputc(',', f);
        spot_csv_field(f, spot_category(ec->photos, k));
    }
    for (int l = 0; !ec->photos && l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++) {
            if (!varies(ec, l, a)) continue;
            if (a == SPOT_RELATIVE_POSITION) fprintf(f, ",%s", spot_attribute_name(a));
            else fprintf(f, a == SPOT_PRESENCE ? ",%s" : ",%s %s", spot_layer_name(l), spot_attribute_name(a));
        }
    fputc('\n', f);
}

static void write_value(FILE *f, const spot_image *image, int layer, int attribute)
{
    const int value = image->value[layer][attribute];

    if (attribute == SPOT_PRESENCE) fprintf(f, ",%d", value);
    else if (layer != SPOT_BACKGROUND && !image->value[layer][SPOT_PRESENCE]) fputc(',', f);
    else fprintf(f, ",%s", spot_value_name(layer, attribute, value));
}

void spot_ec_record(FILE *f, const spot_ec *ec, const spot_image *image, const char *file)
{
    const spot_photos *p = ec->photos;

    spot_csv_field(f, file);
    for (int k = 0; p && k < p->categories; k++)
        fprintf(f, ",%d", spot_shows(p, p->task[ec->task].picture[image->split][image->index], k));
    for (int l = 0; !p && l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++)
            if (varies(ec, l, a)) write_value(f, image, l, a);
    fputc('\n', f);
}

int spot_ec_items(const spot_ec *ec)
{
    int items = 0;

    if (ec->photos) return ec->photos->categories;
    for (int l = 0; l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++) items += varies(ec, l, a) ? 2 : 0;
    return items;
}

void spot_image_items(float *item, const spot_image *image, const spot_ec *ec)
{
    const spot_photos *p = ec->photos;

    for (int k = 0; p && k < p->categories; k++)
        *item++ = (float)spot_shows(p, p->task[ec->task].picture[image->split][image->index], k);
    for (int l = 0; !p && l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++) {
            bool found = a == SPOT_PRESENCE || l == SPOT_BACKGROUND || image->value[l][SPOT_PRESENCE];
            if (!varies(ec, l, a)) continue;
            for (int value = 0; value < 2; value++) *item++ = (float)(found && image->value[l][a] == value);
        }
}

/* The relative position varies beside the rolled attributes. */
int spot_source_items(const spot_source *s) { return s->photos ? s->photos->categories : 2 * (s->scene.rollable[1] + 1); }
