/* rank.h - sorts a method's slices: clusters, leaves, kernels, auditors. */
#ifndef SPOTTER_RANK_H
#define SPOTTER_RANK_H

/* part and which name the slice; size: its rows; error: their mean error. A method sets the members that it needs. */
typedef struct { int part, which, size; double score, error; } spot_rank;

/* Sorts n ranks: highest score first, equal scores by part, then by `which`. The order of two: negative if a comes first. */
void spot_ranks_sort(spot_rank *ranks, int n);
int  spot_rank_order(const void *a, const void *b);

#endif
