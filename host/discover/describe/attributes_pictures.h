/* attributes_pictures.h - numbers of a decoded picture, for spot_attributes_of_pictures (spotter/describe.h). */
#ifndef SPOTTER_ATTRIBUTES_PICTURES_H
#define SPOTTER_ATTRIBUTES_PICTURES_H

#include "formats/picture.h"
#include "spotter/discover.h"

/* All but the transparency, which is 0: the pixels have no alpha. */
spot_picture_numbers spot_numbers_of_picture(const spot_picture *p);

/* Reads the picture at path, or its part at box, into p, and fills all numbers. Give p back before another read. */
spot_status spot_picture_measure(spot_ctx *c, spot_picture_numbers *n, spot_picture *p, const char *path, const float *box);

/* Whether an item of a is one of pictures, such as "brightness: dark (<= 80)". */
bool spot_is_of_pictures(const spot_attributes *a, int item);

/* For each item of `like` that is one of pictures: the rows of s whose pictures are in its range, into a, which has the same
 * items. A row without a picture that can be read has none; a line counts such rows. */
spot_status spot_attributes_like_pictures(spot_ctx *c, spot_attributes *a, const spot_subject *s, const spot_attributes *like);

#endif
