/* room.h - how much memory this process may still take. */
#ifndef SPOTTER_ROOM_H
#define SPOTTER_ROOM_H

#include <stddef.h>

/* Bytes that can be had without writing some to disk: what the machine has available or what the control groups of this process
 * (version 1 or 2; Slurm and containers set them) still leave, whichever is less. *whose: "the machine" or "the control group".
 * root is put before the paths of /proc and /sys: "". */
size_t spot_room_of_memory(const char *root, const char **whose);

/* Bytes of address space that RLIMIT_AS (ulimit -v) leaves; SIZE_MAX where there is no limit. */
size_t spot_room_of_addresses(void);

/* The most memory that this process has had so far, in bytes. */
size_t spot_resident_most(void);

#endif
