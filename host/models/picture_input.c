/* picture_input.c - see picture_input.h. */
#include "models/picture_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 96 };
#define MOST 1e6

const spot_setting spot_picture_input_settings[] = {
    SPOT_ROW("mean", TEXT, spot_picture_input, mean, "what is taken from pixels / scale: one number, or three of red, green "
             "and blue, \"0.5,0.5,0.5\"; \"\": the network's own, or ImageNet's", .hi = TEXT, .newer = SPOT_NEWER,
             .affects = SPOT_AFFECTS_PATH),
    SPOT_ROW("std", TEXT, spot_picture_input, std, "by which they are divided then, as mean", .hi = TEXT, .newer = SPOT_NEWER,
             .affects = SPOT_AFFECTS_PATH),
    SPOT_ROW("scale", REAL, spot_picture_input, scale, "by which pixels, 0 to 255, are divided first; 1: they stay as they "
             "are; 0: 255", SPOT_IN(0, MOST), .newer = SPOT_NEWER, .affects = SPOT_AFFECTS_PATH),
    SPOT_END
};

const spot_setting spot_picture_resizing_settings[] = {
    SPOT_ROW("interpolation", NAME, spot_picture_input, interpolation, "how pictures are resized; own: bilinear, bicubic for a "
             "CLIP and a ViT", SPOT_ONE_OF("own", "bilinear", "bicubic"), .newer = SPOT_NEWER),
    SPOT_END
};

/* ---- read ---- */

/* One number for all channels, or three. */
static bool read_three(float v[3], const char *text)
{
    int n = 0;

    for (;; text++) {
        char *end;
        const double x = strtod(text, &end);
        if (n == 3 || end == text || strchr(" \t+", *text) || !(fabs(x) <= MOST)) return false;
        v[n++] = (float)x;
        text = end;
        if (!*text) break;
        if (*text != ',') return false;
    }
    for (int k = n; k < 3; k++) v[k] = v[0];
    return n != 2;
}

static spot_status read_named(spot_ctx *c, float v[3], const char *name, const char *text)
{
    if (!text || !*text || read_three(v, text)) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{input.three} %s is \"%.80s\"; it takes one number, or three with commas between them, of "
                     "red, green and blue, such as 0.485,0.456,0.406", name, text);
}

spot_status spot_picture_input_rule(spot_ctx *c, spot_pixel_rule *rule, const spot_picture_input *in)
{
    SPOT_TRY(read_named(c, rule->mean, "mean", in->mean));
    SPOT_TRY(read_named(c, rule->std, "std", in->std));
    for (int k = 0; k < 3; k++)
        if (!(rule->std[k] >= (float)SPOT_LEAST_STD))
            return spot_fail(c, SPOT_USAGE, "{input.std} std is \"%.80s\"; pixels are divided by it, so that each number is "
                             "above 0 (%g or more)", in->std, SPOT_LEAST_STD);
    if (in->scale && !(in->scale >= SPOT_LEAST_STD && in->scale <= MOST))
        return spot_fail(c, SPOT_USAGE, "{input.scale} scale is %g; pixels are divided by it: 255, or 1 where they stay as "
                         "they are, from %g to %g", in->scale, SPOT_LEAST_STD, MOST);
    if (in->scale) rule->scale = (float)in->scale;
    return SPOT_OK;
}

bool spot_picture_input_is_given(const spot_picture_input *in)
{
    return (in->mean && *in->mean) || (in->std && *in->std) || in->scale;
}

spot_status spot_picture_input_refuse(spot_ctx *c, const spot_picture_input *in, const char *name)
{
    if (!spot_picture_input_is_given(in)) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{input.program} mean, std and scale are of networks that Spotter or its Python package "
                     "opens; %.200s gets the pixels as they are: give such options to the program itself", name);
}

spot_filter spot_picture_input_filter(const spot_picture_input *in, spot_filter own)
{
    return in->interpolation == SPOT_INTERPOLATION_OWN ? own
         : in->interpolation == SPOT_INTERPOLATION_BICUBIC ? SPOT_BICUBIC : SPOT_BILINEAR;
}

/* ---- keys, words ---- */

spot_key spot_picture_input_join(spot_key key, const spot_picture_input *in, bool foreign)
{
    const spot_pixel_rule usual = spot_imagenet_rule();
    spot_pixel_rule rule = usual;
    spot_ctx quiet = { 0 };

    if (!spot_picture_input_is_given(in)) return key;
    if (!foreign && spot_picture_input_rule(&quiet, &rule, in) == SPOT_OK)
        return memcmp(&rule, &usual, sizeof rule) ? spot_key_join(key, "pixels", &rule, sizeof rule) : key;
    if (in->mean && *in->mean) key = spot_key_join(key, "mean", in->mean, strlen(in->mean));
    if (in->std && *in->std) key = spot_key_join(key, "std", in->std, strlen(in->std));
    return in->scale ? spot_key_join(key, "scale", &in->scale, sizeof in->scale) : key;
}

static const char *three_words(char *text, size_t size, const float v[3])
{
    const bool one = v[0] == v[1] && v[1] == v[2];

    if (one) snprintf(text, size, "%g", (double)v[0]);
    else snprintf(text, size, "%g,%g,%g", (double)v[0], (double)v[1], (double)v[2]);
    return text;
}

const char *spot_pixel_words(spot_input_words *w, const spot_pixel_rule *rule)
{
    char mean[64], std[64];

    snprintf(w->text, sizeof w->text, "pixels / %g, less %s, by %s", (double)rule->scale,
             three_words(mean, sizeof mean, rule->mean), three_words(std, sizeof std, rule->std));
    return w->text;
}

const char *spot_square_words(spot_input_words *w, int resize, int crop, spot_filter filter)
{
    const char *by = filter == SPOT_BICUBIC ? "bicubic" : "bilinear";

    if (resize == SPOT_SQUEEZE) snprintf(w->text, sizeof w->text, "squeezed to %d x %d (%s)", crop, crop, by);
    else if (!resize) snprintf(w->text, sizeof w->text, "the middle %d x %d", crop, crop);
    else snprintf(w->text, sizeof w->text, "shorter side to %d, the middle %d x %d (%s)", resize, crop, crop, by);
    return w->text;
}

void spot_picture_input_say(spot_ctx *c, const char *name, const char *square, const spot_pixel_rule *rule,
                            const char *options)
{
    spot_input_words pixels;

    spot_log(c, SPOT_LOG_INFO, "pictures enter %s: %s; %s (%s)", name, square,
             rule ? spot_pixel_words(&pixels, rule) : "pixels as the program has them", options);
}

void spot_picture_input_say_by(spot_ctx *c, const char *name, const char *square, const spot_picture_input *in, bool program,
                               const char *options)
{
    spot_pixel_rule rule = spot_imagenet_rule();
    spot_ctx quiet = { 0 };

    if (program || spot_picture_input_rule(&quiet, &rule, in) == SPOT_OK)
        spot_picture_input_say(c, name, square, program ? NULL : &rule, options);
}
