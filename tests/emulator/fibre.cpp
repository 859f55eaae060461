/* fibre.cpp - stacks, and the switch in fifteen lines of assembly. */
#include "fibre.h"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#ifdef SPOT_EMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#endif

static const size_t page = (size_t)sysconf(_SC_PAGESIZE);

/* ASan's red zones of locals outlive the stack of a fibre that was left in the middle of a function: a new stack in the same
 * place has none. A fibre that returned has left none, so that a stack may serve the next one as it is. */
void *fibre_stack()
{
    char *p = (char *)mmap(nullptr, page + FIBRE_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || mprotect(p, page, PROT_NONE)) return nullptr;
#ifdef SPOT_EMULATOR_ASAN
    __asan_unpoison_memory_region(p + page, FIBRE_STACK);
#endif
    return p + page;
}

void fibre_stack_give(void *stack)
{
    if (stack) munmap((char *)stack - page, page + FIBRE_STACK);
}

#ifdef __x86_64__

extern "C" void spot_fibre_switch(void **from, void *to);

asm(R"(
    .text
    .hidden spot_fibre_switch
    .globl  spot_fibre_switch
    .type   spot_fibre_switch, @function
spot_fibre_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq  %rsp, (%rdi)
    movq  %rsi, %rsp
    popq  %r15
    popq  %r14
    popq  %r13
    popq  %r12
    popq  %rbx
    popq  %rbp
    ret
    .size   spot_fibre_switch, . - spot_fibre_switch
)");

void fibre_start(fibre_place *place, void *stack, void (*entry)())
{
    /* stacks begin with pages: the tops of all of them would lie in the same few sets of a cache */
    size_t apart = (uintptr_t)stack / page % 64 * 64;
    void **top = (void **)((char *)stack + FIBRE_STACK - apart);

    *--top = nullptr;                            /* entry's return address; leaves the alignment that a call leaves */
    *--top = (void *)entry;
    for (int i = 0; i < 6; i++) *--top = nullptr;   /* the six registers */
    *place = top;
}

void fibre_switch(fibre_place *from, fibre_place *to) { spot_fibre_switch(from, *to); }

#else

void fibre_start(fibre_place *place, void *stack, void (*entry)())
{
    getcontext(place);
    place->uc_stack.ss_sp = stack;
    place->uc_stack.ss_size = FIBRE_STACK;
    place->uc_link = nullptr;
    makecontext(place, entry, 0);
}

void fibre_switch(fibre_place *from, fibre_place *to) { swapcontext(from, to); }

#endif
