/* new_images.c - attributes of scenes by their words, and new images that have them. */
#include <stdio.h>
#include <string.h>

#include "spotter/rng.h"
#include "spotter/scene.h"

enum { LOOKED = 4096 };        /* images between two checks of the stop flag */

/* The layer and attribute of a column of spot_ec_columns, whose name has n letters. */
static bool find_column(spot_triplet *t, const char *name, size_t n)
{
    char column[64];

    for (int l = 0; l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++) {
            if (a == SPOT_RELATIVE_POSITION) snprintf(column, sizeof column, "%s", l ? "" : spot_attribute_name(a));
            else if (a == SPOT_PRESENCE) snprintf(column, sizeof column, "%s", l ? spot_layer_name(l) : "");
            else snprintf(column, sizeof column, "%s %s", spot_layer_name(l), spot_attribute_name(a));
            if (!*column || strlen(column) != n || memcmp(column, name, n)) continue;
            *t = (spot_triplet){ (uint8_t)l, (uint8_t)a, 1 };
            return true;
        }
    return false;
}

bool spot_triplet_read(spot_triplet *t, const char *item)
{
    const char *equal = strchr(item, '=');
    const bool denied = !equal && !strncmp(item, "not ", 4);

    if (denied) item += 4;
    if (!find_column(t, item, equal ? (size_t)(equal - item) : strlen(item))) return false;
    if ((t->attribute == SPOT_PRESENCE) == (equal != NULL)) return false;
    if (!equal) t->value = !denied;
    for (int v = 0; equal && v < 2; v++)
        if (!strcmp(spot_value_name(t->layer, t->attribute, v), equal + 1)) {
            t->value = (int8_t)v;
            return true;
        }
    return !equal;
}

bool spot_triplet_holds(const spot_triplet *t, const spot_image *image)
{
    const bool found = t->layer == SPOT_BACKGROUND || t->attribute == SPOT_PRESENCE || image->value[t->layer][SPOT_PRESENCE];

    return found && image->value[t->layer][t->attribute] == t->value;
}

spot_status spot_ec_renew(spot_ctx *c, spot_ec *renewed, const spot_ec *ec, uint32_t number)
{
    spot_rng r = spot_rng_at(ec->seed, SPOT_RNG_NEW_IMAGES, ec->index, number);

    if (ec->photos) return spot_fail(c, SPOT_INVALID, "EC %u has pictures from files; new ones cannot be drawn", ec->index);
    *renewed = *ec;
    renewed->seed = spot_rng_u32(&r);
    renewed->seed = renewed->seed << 32 | spot_rng_u32(&r);
    return SPOT_OK;
}

spot_status spot_images_with(spot_ctx *c, spot_drawn_images *d, int most, const spot_ec *ec, int label, const spot_triplet *t,
                             int n)
{
    spot_image image;

    d->found[0] = d->found[1] = 0;
    for (uint32_t i = 0; i < SPOT_DRAWS && (d->found[0] < most || d->found[1] < most); i++) {
        bool has = true;
        if (i % LOOKED == 0) SPOT_TRY(spot_check_stop(c));
        spot_image_draw(&image, ec, SPOT_TEST, i);
        if (image.label != label) continue;
        for (int k = 0; k < n; k++) has = has && spot_triplet_holds(&t[k], &image);
        if (d->found[!has] < most) (has ? d->with : d->without)[d->found[!has]++] = i;
    }
    return SPOT_OK;
}
