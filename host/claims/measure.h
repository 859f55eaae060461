/* measure.h - parts of claim.h that `spotter gather` uses, too. */
#ifndef SPOTTER_MEASURE_H
#define SPOTTER_MEASURE_H

#include "spotter/claim.h"

/* Room for n pictures; p->n is 0. */
spot_status spot_new_pictures_take(spot_ctx *c, spot_new_pictures *p, int n);

/* SPOT_INPUT where a model of so many outputs cannot tell o's classes apart. */
spot_status spot_measure_check(spot_ctx *c, const spot_measure_options *o, int outputs);

/* Fills wrong and predicted of a picture from the model's answer v (outputs). half: between the two classes of a single one. */
spot_status spot_measure_picture(spot_ctx *c, const spot_measure_options *o, spot_new_picture *r, const float *v, int outputs,
                                 float half);

#endif
