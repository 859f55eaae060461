/* output_classes.h - which class of a study each output of a model stands for. */
#ifndef SPOTTER_OUTPUT_CLASSES_H
#define SPOTTER_OUTPUT_CLASSES_H

#include "spotter/ctx.h"

/* cls (*n), malloc'd: the class of each output; -1: another word than a class. path: a text with a line for each output; "":
 * the outputs are the classes, and *cls is NULL, *n 0. model: its name, for sentences. SPOT_INPUT: a class that no output
 * stands for. */
spot_status spot_output_classes(spot_ctx *c, int **cls, int *n, const char *path, const char *model, char *const *class_name,
                                int classes);

/* SPOT_INPUT where a model has another number of outputs than its list of n classes, or than the study where cls is NULL. */
spot_status spot_output_check(spot_ctx *c, int outputs, const int *cls, int n, const char *path, const char *model,
                              int classes);

#endif
