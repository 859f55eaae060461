/* config_input.h - how pictures enter a model of a config: refused where its line stands, before a run begins. */
#ifndef SPOTTER_CONFIG_INPUT_H
#define SPOTTER_CONFIG_INPUT_H

#include "spotter/array.h"
#include "study/config_read.h"

/* Refuses the mean, std or scale of models[i], `name`, that opening it would refuse. program: a command line, which has numbers
 * of its own; "": a model of a file. */
spot_status spot_refuse_input(spot_reading *r, int line, int i, const char *name, const spot_picture_input *in,
                              const char *program);

#endif
