/* output_order.h - whether a model's outputs stand in another order than the classes. */
#ifndef SPOTTER_OUTPUT_ORDER_H
#define SPOTTER_OUTPUT_ORDER_H

#include "spotter/ctx.h"

/* *accuracy: the share of n answers that would be right if the outputs stood in another order. The pairs of class and answer
 * with the most rows make that order, one after another, no class and no answer twice. NaN, no suspicion, where that is less
 * than half of all rows or than twice those that are right now, or where a class has less than five rows on average. cls,
 * answer (n): a class, from 0; an answer below 0 is no class. A model may take each of few objects for another class by their
 * looks, so a user hears that the order may be wrong, never that it is. */
spot_status spot_output_order(spot_ctx *c, double *accuracy, const int *cls, const int *answer, int n, int classes);

#endif
