/* names.c - the words of the data set, as they stand in configs, JSON and tables. */
#include <stdio.h>

#include "spotter/scene.h"

const char *spot_layer_name(spot_layer layer)
{
    static const char *const name[SPOT_LAYERS] = { "background", "square", "rectangle", "circle", "text" };
    return name[layer];
}

const char *spot_attribute_name(spot_attribute attribute)
{
    static const char *const name[SPOT_ATTRIBUTES] = { "presence", "size", "color", "texture", "number",
                                                       "relative_position" };
    return name[attribute];
}

const char *spot_split_name(spot_split split)
{
    static const char *const name[SPOT_SPLITS] = { "train", "val", "test" };
    return name[split];
}

void spot_blindspot_describe(char *text, size_t size, const spot_blindspot *b)
{
    size_t used = 0;

    if (size) text[0] = 0;
    for (int i = 0; i < b->len && used < size; i++) {
        const spot_triplet *t = &b->triplet[i];
        const char *layer = spot_layer_name(t->layer), *gap = i ? " " : "";
        if (t->attribute == SPOT_PRESENCE)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%d", gap, layer, t->value);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%s.%s=%d", gap, layer,
                                     spot_attribute_name(t->attribute), t->value);
    }
}
