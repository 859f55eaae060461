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

/* A triplet in words, "%s" the layer's name: [attribute][value]. A background's color and texture have words of their own. */
static const char *phrase(const spot_triplet *t)
{
    static const char *const object[SPOT_ATTRIBUTES][2] = {
        { "no %s", "%s" }, { "%s normal", "%s small" }, { "%s blue", "%s orange" }, { "%s solid", "%s striped" },
        { "one %s", "two %ss" }, { "", "" },
    };
    static const char *const background[SPOT_ATTRIBUTES][2] = {
        { "no %s", "%s" }, { "", "" }, { "%s white", "%s grey" }, { "%s plain", "%s noisy" }, { "", "" },
        { "square below", "square above" },
    };
    if (t->value < 0) return "no square";      /* a relative position without anything that has one */
    return (t->layer == SPOT_BACKGROUND ? background : object)[t->attribute][t->value];
}

void spot_blindspot_describe(char *text, size_t size, const spot_blindspot *b)
{
    size_t used = 0;

    if (size) text[0] = 0;
    for (int i = 0; i < b->len && used < size; i++) {
        const spot_triplet *t = &b->triplet[i];
        char words[48];
        snprintf(words, sizeof words, phrase(t), spot_layer_name(t->layer));
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", words);
    }
}
