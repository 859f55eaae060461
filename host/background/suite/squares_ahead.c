/* squares_ahead.c - see squares_ahead.h. */
#include "background/suite/squares_ahead.h"

static void decode(void *user)
{
    spot_squares_ahead *a = user;

    for (int i = 0; i < 2; i++)
        if (spot_squares_need(&a->own, a->cache[i], a->item[i], a->n[i]) != SPOT_OK) break;
}

void spot_squares_ahead_start(spot_ctx *c, spot_squares_ahead *a, spot_square_cache *const cache[2], const int *const item[2],
                              const int n[2])
{
    *a = (spot_squares_ahead){ .own = { .ops = c->ops, .threads = c->threads, .stop = c->stop },
                               .cache = { cache[0], cache[1] }, .item = { item[0], item[1] }, .n = { n[0], n[1] } };
    spot_ahead_start(&a->thread, decode, a);
}

void spot_squares_ahead_join(spot_squares_ahead *a)
{
    spot_ahead_join(&a->thread);
}
