/* fibre.h - a stack and the switch between two of them.
 *
 * On x86-64 the switch is our own: under ASan swapcontext loses the red zones of local arrays (an overflow after a
 * barrier goes unseen) and costs six times as much. Elsewhere ucontext does. */
#ifndef SPOTTER_EMULATOR_FIBRE_H
#define SPOTTER_EMULATOR_FIBRE_H

#include <cstddef>

#ifdef __x86_64__
typedef void *fibre_place;                       /* a saved stack pointer */
#else
#include <ucontext.h>
typedef ucontext_t fibre_place;
#endif

enum { FIBRE_STACK = 128 * 1024 };

/* A stack with a guard page below it; NULL when there is no memory. */
void *fibre_stack();
void  fibre_stack_give(void *stack);

/* place becomes the start of entry on that stack; entry must never return. */
void fibre_start(fibre_place *place, void *stack, void (*entry)());

/* Leaves to `to`; comes back when somebody switches to `from`. */
void fibre_switch(fibre_place *from, fibre_place *to);

#endif
