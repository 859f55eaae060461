/* pointer.h - a pointer in a variable of any pointer type, whose address comes as void *. Strict aliasing forbids to reach it
 * as a void **: that is another type. */
#ifndef SPOTTER_POINTER_H
#define SPOTTER_POINTER_H

#include <string.h>

/* *out = p */
static inline void spot_pointer_put(void *out, void *p) { memcpy(out, &p, sizeof p); }

/* *from, a pointer of any type */
static inline void *spot_pointer_get(const void *from)
{
    void *p;

    memcpy(&p, from, sizeof p);
    return p;
}

#endif
