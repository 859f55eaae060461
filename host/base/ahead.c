/* ahead.c - see ahead.h. */
#include "base/ahead.h"

static void *run(void *user)
{
    const spot_ahead *a = user;

    a->work(a->user);
    return NULL;
}

bool spot_ahead_start(spot_ahead *a, void (*work)(void *user), void *user)
{
    a->work = work, a->user = user;
    a->running = !pthread_create(&a->thread, NULL, run, a);
    return a->running;
}

void spot_ahead_join(spot_ahead *a)
{
    if (a->running) pthread_join(a->thread, NULL);
    a->running = false;
}
