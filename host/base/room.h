/* room.h - the memory that this process can still use. */
#ifndef SPOTTER_ROOM_H
#define SPOTTER_ROOM_H

#include <stddef.h>

/* Bytes available without swapping: the lesser of the machine's available memory and the rest of the limits of this process's
 * control groups (version 1 or 2; Slurm and containers set them). *whose: "the machine" or "the control group". root: prefix
 * of the paths /proc and /sys; "" except in tests. */
size_t spot_room_of_memory(const char *root, const char **whose);

/* Bytes of address space left below RLIMIT_AS (ulimit -v); SIZE_MAX without a limit. */
size_t spot_room_of_addresses(void);

/* The lesser of both. *whose: also "the limit on addresses (ulimit -v)". */
size_t spot_room_of_all(const char **whose);

/* Resident memory of this process now, in bytes. */
size_t spot_resident_now(void);

/* Peak resident memory of this process so far, in bytes. */
size_t spot_resident_most(void);

#endif
