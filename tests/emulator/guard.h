/* guard.h - red zones: bytes that nobody may touch. ASan reports at the write; without it the pattern tells later. The emulator
 * itself is compiled without ASan, so SPOT_EMULATOR_ASAN says whether the kernels are. */
#ifndef SPOTTER_EMULATOR_GUARD_H
#define SPOTTER_EMULATOR_GUARD_H

#include <cstddef>
#include <cstring>

#ifdef SPOT_EMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum { GUARD = 64, GUARD_BYTE = 0xED, POISON_BYTE = 0xFF };   /* 0xFF..: NaN as float and as double */

/* For bytes that have the pattern. */
inline void guard_close(unsigned char *p, size_t bytes)
{
#ifdef SPOT_EMULATOR_ASAN
    __asan_poison_memory_region(p, bytes);
#else
    (void)p, (void)bytes;
#endif
}

inline void guard_set(unsigned char *p, size_t bytes)
{
    memset(p, GUARD_BYTE, bytes);
    guard_close(p, bytes);
}

/* Opens the red zone; how many of its bytes were changed. */
inline size_t guard_take_off(unsigned char *p, size_t bytes)
{
    size_t changed = 0;

#ifdef SPOT_EMULATOR_ASAN
    __asan_unpoison_memory_region(p, bytes);
#endif
    if (!bytes || (p[0] == GUARD_BYTE && !memcmp(p, p + 1, bytes - 1))) return 0;      /* each byte is as the next */
    for (size_t i = 0; i < bytes; i++) changed += p[i] != GUARD_BYTE;
    return changed;
}

inline size_t guard_changed(unsigned char *p, size_t bytes)
{
    size_t changed = guard_take_off(p, bytes);

    if (changed) guard_set(p, bytes);
    else         guard_close(p, bytes);
    return changed;
}

#endif
