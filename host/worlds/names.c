/* names.c - the words for layers, attributes and blindspots in configs, JSON and tables. */
#include <stdio.h>
#include <string.h>

#include "spotter/scene.h"

const char *spot_layer_name(spot_layer layer)
{
#define X(NAME, word, place) word,
    static const char *const name[SPOT_LAYERS] = { "background", "square", SPOT_SHAPES(X) };
#undef X
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

const char *spot_value_name(spot_layer layer, spot_attribute attribute, int value)
{
    static const char *const object[SPOT_ATTRIBUTES][2] = {
        { "no", "yes" }, { "normal", "small" }, { "blue", "orange" }, { "solid", "stripes" }, { "one", "two" }, { "", "" },
    };
    static const char *const background[SPOT_ATTRIBUTES][2] = {
        { "no", "yes" }, { "", "" }, { "white", "grey" }, { "solid", "salt_and_pepper" }, { "", "" }, { "below", "above" },
    };
    return value < 0 ? "" : (layer == SPOT_BACKGROUND ? background : object)[attribute][value];
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
    if (t->value < 0) return "no square";      /* a relative position without a square */
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

/* The triplet that these n letters name. "no square" is the square's presence, not a relative position. */
static bool triplet_of(spot_triplet *t, const char *text, size_t n)
{
    char words[48];

    for (int layer = 0; layer < SPOT_LAYERS; layer++)
        for (int i = 0; i < 2 * SPOT_ATTRIBUTES; i++) {
            *t = (spot_triplet){ (uint8_t)layer, (uint8_t)(i / 2), (int8_t)(i % 2) };
            snprintf(words, sizeof words, phrase(t), spot_layer_name(t->layer));
            if (strlen(words) == n && n && !memcmp(words, text, n)) return true;
        }
    return false;
}

bool spot_blindspot_read(spot_blindspot *b, const char *text)
{
    memset(b, 0, sizeof *b);
    while (*text) {
        size_t n = strcspn(text, ",");
        if (b->len == SPOT_MAX_TRIPLETS || !triplet_of(&b->triplet[b->len++], text, n)) return false;
        text += n;
        if (*text) text += text[1] == ' ' ? 2 : 1;
    }
    b->specificity = b->len;
    return true;
}
