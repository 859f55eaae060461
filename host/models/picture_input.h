/* picture_input.h - how a picture enters a network (spot_picture_input, array.h): the one place that reads it, says it and
 * makes it part of a key. */
#ifndef SPOTTER_PICTURE_INPUT_H
#define SPOTTER_PICTURE_INPUT_H

#include "base/key.h"
#include "base/setting.h"
#include "image/levels.h"
#include "image/resize.h"
#include "spotter/array.h"

#define SPOT_LEAST_STD 1e-6                /* pixels are divided by it */

/* Rows for the spot_picture_input of a model in a config: mean, std, scale; and interpolation, where the study resizes. */
extern const spot_setting spot_picture_input_settings[], spot_picture_resizing_settings[];

/* *rule is the network's own, and then what `in` says. SPOT_USAGE: a text that is not one number or three, a number that is not
 * finite, std or scale that is not above 0. */
spot_status spot_picture_input_rule(spot_ctx *c, spot_pixel_rule *rule, const spot_picture_input *in);

/* The same for a program, which has numbers of its own: SPOT_USAGE where `in` says any. name: of the program. */
spot_status spot_picture_input_refuse(spot_ctx *c, const spot_picture_input *in, const char *name);

/* Whether `in` has mean, std or scale. */
bool spot_picture_input_is_given(const spot_picture_input *in);

spot_filter spot_picture_input_filter(const spot_picture_input *in, spot_filter own);

/* The key with mean, std and scale of `in` where they are not ImageNet's, so that results by other numbers have another key;
 * else the key itself. foreign: the network is opened by a program and may have own numbers: whatever `in` says counts. So does
 * a text that is wrong, which opening the model refuses. */
spot_key spot_picture_input_join(spot_key key, const spot_picture_input *in, bool foreign);

/* "pixels / 255, less 0.485,0.456,0.406, by 0.229,0.224,0.225"; "shorter side to 256, the middle 224 x 224 (bilinear)". Both
 * return text. */
typedef struct { char text[200]; } spot_input_words;
const char *spot_pixel_words (spot_input_words *w, const spot_pixel_rule *rule);
const char *spot_square_words(spot_input_words *w, int resize, int crop, spot_filter filter);

#define SPOT_INPUT_OPTIONS "--mean, --std, --scale, --resize, --crop, --size, --interpolation"
#define SPOT_INPUT_SETTINGS "models[].mean, std, scale"

/* Logs one line: how pictures enter the network `name`. rule NULL: a program's own. options: by which that changes. */
void spot_picture_input_say(spot_ctx *c, const char *name, const char *square, const spot_pixel_rule *rule,
                            const char *options);

/* The same of a network that has ImageNet's numbers where `in` has none; program: it has numbers of its own. */
void spot_picture_input_say_by(spot_ctx *c, const char *name, const char *square, const spot_picture_input *in, bool program,
                               const char *options);

#endif
