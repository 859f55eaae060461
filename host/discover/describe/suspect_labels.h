/* suspect_labels.h - labels that may be wrong (spot_suspects in spotter/discover.h): of the subject, and in each slice. */
#ifndef SPOTTER_SUSPECT_LABELS_H
#define SPOTTER_SUSPECT_LABELS_H

#include "spotter/discover.h"

/* Fills f->suspects, and the slices' numbers of them. Takes 64 MiB and some bytes a row beside the subject; bytes: how many. */
spot_status spot_suspects_find(spot_ctx *c, spot_findings *f, const spot_subject *s);
size_t      spot_suspects_bytes(const spot_ctx *c, const spot_subject *s);

/* Pairs of rows that spot_suspects_find compares, for an estimate of its time; 0 where it does nothing or memory is short. */
double spot_suspects_pairs(const spot_ctx *c, const spot_subject *s);

/* label (n): the class that confident learning gives each row in place of its own; -1: none. False where it is not known. */
bool spot_confident_labels(const spot_ctx *c, int *label, double *threshold, const spot_subject *s);

/* The slices' numbers, from f->suspects. */
void spot_suspects_count(spot_findings *f);

/* The place of a row in f->suspects; -1: its label is not suspect. */
int  spot_suspects_place(const spot_suspects *x, int row);

#endif
