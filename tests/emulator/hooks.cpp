/* hooks.cpp - the functions that g++ -fsanitize=thread calls at each access. They stand in for ThreadSanitizer's library, which
 * would see one thread: fibres. */
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fibre.h"
#include "watch.h"

namespace emu {

static uintptr_t module_start()
{
    static uintptr_t start;
    Dl_info info;

    if (!start && dladdr((void *)&module_start, &info)) start = (uintptr_t)info.dli_fbase;
    return start;
}

/* Asks addr2line, which stands beside every g++, for the line: of inlined functions the innermost outside of cuda_runtime.h.
 * Without it the place in the module has to do. */
void words_of_site(uint32_t site, char *text, size_t size)
{
    char command[1400], where[256] = "";
    Dl_info info = {};

    dladdr((void *)&module_start, &info);
    snprintf(text, size, "%s+0x%x", info.dli_fname ? info.dli_fname : "?", site);
    snprintf(command, sizeof command, "addr2line -i -s -e '%s' 0x%x 2>/dev/null", info.dli_fname ? info.dli_fname : "",
             site - 1);
    FILE *f = popen(command, "r");
    while (f && fgets(where, sizeof where, f) && where[0] != '?') {
        where[strcspn(where, " \n")] = 0;
        snprintf(text, size, "%s", where);
        if (strncmp(where, "cuda_runtime.h:", 15)) break;
    }
    if (f) pclose(f);
}

void watch_launch(const char *name)
{
    race_launch();
    traffic_launch(name);
}

void watch_block(block_watch *b, dim3 index, uint64_t number, size_t threads, unsigned char *memory, size_t room)
{
    b->index = index;
    b->number = number;
    b->threads = threads;
    b->memory = memory;
    b->room = room;
    race_block(b);
    traffic_block(b);
}

/* With SPOT_EMULATOR_IGNORE=FILE:LINE in the environment a barrier there orders nothing, as if it were missing: whoever needs
 * it is reported. */
static bool orders(const char *site)
{
    static const char *const ignored = getenv("SPOT_EMULATOR_IGNORE");
    const char *slash = ignored ? strrchr(site, '/') : nullptr;

    return !ignored || strcmp(ignored, slash ? slash + 1 : site) != 0;
}

void watch_barrier(block_watch *b, const char *site)
{
    traffic_barrier(b);
    if (orders(site)) race_barrier(b);
}

void watch_meet(block_watch *b, unsigned first, unsigned mask, const char *op, const char *site)
{
    traffic_meet(b, first / WARP);
    if (!strcmp(op, "syncwarp") && orders(site)) race_syncwarp(b, first, mask);
}

void watch_block_end(block_watch *b) { traffic_barrier(b); }
void watch_memory()                  { race_memory(); }

/* A thread's own locals are nobody else's concern. */
void watch_access(const void *p, size_t bytes, access_kind kind, const void *site)
{
    const running_thread r = running();

    if (!r.block || (uintptr_t)p - (uintptr_t)r.stack < FIBRE_STACK) return;
    uint32_t place = (uint32_t)((uintptr_t)site - module_start());
    race_access(r.block, r.thread, p, bytes, kind, place);
    if (traffic_counts) traffic_access(r.block, r.thread, p, bytes, kind, place);
}

void watch_fence()
{
    const running_thread r = running();

    if (r.block) race_fence(r.block, r.thread);
}

void watch_copy(void *to, const void *from, size_t bytes)
{
    const char *site = (const char *)__builtin_return_address(0);

    if (from && bytes) watch_access(from, bytes, READ, site - 1);      /* two places for traffic.cpp, of one line */
    if (bytes) watch_access(to, bytes, WRITE, site);
}

void watch_atomic(const void *p, size_t bytes, const void *site) { watch_access(p, bytes, ATOMIC, site); }

}

#define SITE __builtin_return_address(0)
#define HOOKS(bytes)                                                                                             \
    void __tsan_read##bytes(void *p)             { emu::watch_access(p, bytes, emu::READ, SITE); }               \
    void __tsan_write##bytes(void *p)            { emu::watch_access(p, bytes, emu::WRITE, SITE); }              \
    void __tsan_unaligned_read##bytes(void *p)   { emu::watch_access(p, bytes, emu::READ, SITE); }               \
    void __tsan_unaligned_write##bytes(void *p)  { emu::watch_access(p, bytes, emu::WRITE, SITE); }

/* Atomics of C, which only the host's part of a .cu file has. */
#define HOST_ATOMICS(bits)                                                                                       \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int)                             \
    {                                                                                                            \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                             \
    }                                                                                                            \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int)                          \
    {                                                                                                            \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                \
    }                                                                                                            \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *p, uint##bits##_t *expected,      \
                                                      uint##bits##_t v, int, int)                                \
    {                                                                                                            \
        return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    }

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void *, void *) {}
void __tsan_vptr_read(void *) {}
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
HOST_ATOMICS(32)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_read_range(void *p, unsigned long bytes)  { emu::watch_access(p, bytes, emu::READ, SITE); }
void __tsan_write_range(void *p, unsigned long bytes) { emu::watch_access(p, bytes, emu::WRITE, SITE); }
}
