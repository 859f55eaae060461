/* ahead.h - a thread does what is needed next, such as decoding, while its caller works on what is there. */
#ifndef SPOTTER_AHEAD_H
#define SPOTTER_AHEAD_H

#include <pthread.h>
#include <stdbool.h>

/* Zeroed: nothing is under way. */
typedef struct {
    pthread_t thread;
    bool      running;
    void    (*work)(void *user);
    void     *user;
} spot_ahead;

/* Begins work(user); nobody else may touch what it works on until the join. False: there is no thread for it, and nothing was
 * done. */
bool spot_ahead_start(spot_ahead *a, void (*work)(void *user), void *user);

/* Waits for the work. Nothing to do where none is under way. */
void spot_ahead_join(spot_ahead *a);

#endif
