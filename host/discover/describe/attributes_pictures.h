/* attributes_pictures.h - numbers of a decoded picture, for spot_attributes_of_pictures (spotter/describe.h). */
#ifndef SPOTTER_ATTRIBUTES_PICTURES_H
#define SPOTTER_ATTRIBUTES_PICTURES_H

#include "formats/picture.h"
#include "spotter/describe.h"

/* All but the transparency, which is 0: the pixels have no alpha. */
spot_picture_numbers spot_numbers_of_picture(const spot_picture *p);

/* Reads the picture at path, or its part at box, into p, and fills all numbers. Give p back before another read. */
spot_status spot_picture_measure(spot_ctx *c, spot_picture_numbers *n, spot_picture *p, const char *path, const float *box);

#endif
