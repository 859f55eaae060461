/* cover.h - how much of real pictures generated ones cover, and how many of these lie among real ones, by their features.
 *
 * A picture's ball reaches as far as its k-th nearest neighbour of its own kind; who lies on its border is outside. Of n real
 * and m generated pictures,
 *     density     pairs of a real picture and a generated one in its ball, divided by k m     k = 5 (Naeem et al. 2020)
 *     coverage    share of the real pictures with a generated one in their ball               k = 5
 *     precision   share of the generated pictures in the ball of a real one                   k = 3 (Kynkaanniemi et al. 2019)
 *     recall      share of the real pictures in the ball of a generated one                   k = 3
 *
 * Draws: random halves of the real and of the generated pictures. A number of half of the pictures varies over the halves about
 * as much as the number of all of them over new pictures. Chance: real pictures in the place of generated ones, which are
 * divided in the ratio of the two kinds. The numbers of equal distributions depend on that ratio. */
#ifndef SPOTTER_COVER_H
#define SPOTTER_COVER_H

#include "spotter/arena.h"
#include "spotter/interval.h"

typedef enum { SPOT_COVER_DENSITY, SPOT_COVER_COVERAGE, SPOT_COVER_PRECISION, SPOT_COVER_RECALL,
               SPOT_COVER_NUMBERS } spot_cover_number;

enum {
    SPOT_COVER_K = 5, SPOT_COVER_NARROW = 3,
    SPOT_COVER_LEAST = 12,             /* pictures of each kind: halves have k others */
    SPOT_COVER_MOST = 1000,            /* of each kind; of more, as many are taken, evenly */
    SPOT_COVER_DRAWS = 100
};

typedef struct {
    int real, made;                    /* pictures that were taken */
    double value[SPOT_COVER_NUMBERS], chance[SPOT_COVER_NUMBERS];
    double draw[SPOT_COVER_DRAWS][SPOT_COVER_NUMBERS];
} spot_cover_draws;

/* Bytes that a call of spot_cover_of takes for n real and m generated pictures. */
size_t spot_cover_bytes(int n, int m);

/* real (n, d), made (m, d), on the host, both with SPOT_COVER_LEAST rows or more. unit: address of the draws. On one thread;
 * several may call it at once, each with its own c. The same bits everywhere. */
spot_status spot_cover_of(spot_ctx *c, spot_cover_draws *out, spot_mat real, spot_mat made, uint32_t unit);

/* A number's mean over n > 0 sets of pictures that are there whatever was drawn, as classes are. Its interval: 1.96 standard
 * deviations of the draws' means, and of a share at least Wilson's for as many independent pictures. */
spot_interval spot_cover_mean(const spot_cover_draws *of, int n, spot_cover_number number);

#endif
