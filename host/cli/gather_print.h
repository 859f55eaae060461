/* gather_print.h - a claim and its verdict on the terminal and as a page. */
#ifndef SPOTTER_GATHER_PRINT_H
#define SPOTTER_GATHER_PRINT_H

#include "claims/slice_claim.h"

/* Prints the claim, a line. */
void cli_claim_print(const spot_slice_claim *k);

/* The verdict, on stdout as lines or as JSON; and with dir into DIR/verdict.json and the page DIR/gather.html. group (p->n): of
 * pictures that depend on each other; NULL: they are alone. */
spot_status cli_claim_verdict(spot_ctx *c, const spot_slice_claim *k, const spot_new_pictures *p, const int *group,
                              const char *dir, double level, bool json);

#endif
