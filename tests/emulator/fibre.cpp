/* fibre.cpp - stacks, and the switch in fifteen lines of assembly. */
#include "fibre.h"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

static const size_t page = (size_t)sysconf(_SC_PAGESIZE);

void *fibre_stack()
{
    char *p = (char *)mmap(nullptr, page + FIBRE_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || mprotect(p, page, PROT_NONE)) return nullptr;
    return p + page;
}

void fibre_stack_give(void *stack)
{
    if (stack) munmap((char *)stack - page, page + FIBRE_STACK);
}

/* A fibre that was left in the middle of a function leaves the red zones of its locals behind. */
static void forget_red_zones(void *stack)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(stack, FIBRE_STACK);
#endif
    (void)stack;
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
    void **top = (void **)((char *)stack + FIBRE_STACK);

    forget_red_zones(stack);
    *--top = nullptr;                            /* entry's return address; leaves the alignment that a call leaves */
    *--top = (void *)entry;
    for (int i = 0; i < 6; i++) *--top = nullptr;   /* the six registers */
    *place = top;
}

void fibre_switch(fibre_place *from, fibre_place *to) { spot_fibre_switch(from, *to); }

#else

void fibre_start(fibre_place *place, void *stack, void (*entry)())
{
    forget_red_zones(stack);
    getcontext(place);
    place->uc_stack.ss_sp = stack;
    place->uc_stack.ss_size = FIBRE_STACK;
    place->uc_link = nullptr;
    makecontext(place, entry, 0);
}

void fibre_switch(fibre_place *from, fibre_place *to) { swapcontext(from, to); }

#endif
