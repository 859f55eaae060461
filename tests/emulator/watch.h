/* watch.h - what the scheduler tells those who watch the accesses of kernels. Only a plugin whose kernels are compiled with
 * -fsanitize=thread has any (SPOT_EMULATOR_WATCHES): the compiler then calls a function before each access, and hooks.cpp
 * defines those functions in place of ThreadSanitizer's library. race.cpp looks for races, traffic.cpp counts requests. */
#ifndef SPOTTER_EMULATOR_WATCH_H
#define SPOTTER_EMULATOR_WATCH_H

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emulator.h"

namespace emu {

enum access_kind { READ, WRITE, ATOMIC };

/* One access. A step of a block from barrier to barrier has a number that no other step has: its moment. */
struct record {
    uint32_t moment;                           /* 0: no access */
    uint32_t thread : 10, clock : 21, atomic : 1;
    uint32_t site;                             /* return address, counted from the start of the module */
};

/* The last accesses to the bytes of a granule. seen: reads and atomics; of those that nothing orders, distant ones. */
struct granule { record written, seen[2]; };

/* 64 bytes of memory in granules of 1 << shift bytes, the largest that no access so far has divided. */
enum { LINE = 64, SHIFT = 2, PAGE = 4096 };
struct line {
    uint8_t shift = SHIFT;
    std::unique_ptr<granule[]> of;             /* nullptr: never touched */
};

/* The accesses that lanes of a warp make together. */
struct request {
    access_kind kind;
    bool shared;
    uint8_t bytes;                             /* of each lane */
    uint32_t lanes;                            /* a bit for each that takes part */
    uintptr_t at[WARP];
};

/* The requests of one place in the code, since the lanes last met. */
struct requests {
    uint32_t made[WARP];                       /* how many each lane made */
    std::vector<request> of;
};

/* The last access of a thread before a __threadfence. */
struct fence { uint32_t moment, clock; };

/* A block's knowledge of others, by their numbers: the fences (threads) up to which their accesses are ordered. */
typedef std::map<uint64_t, std::vector<fence>> knowledge;

/* An atomic that read what other blocks had left behind their fences. Its block knows of them from its own next fence on. */
struct meeting {
    uint32_t moment, known;                    /* known: moment of that fence; 0: none so far */
    unsigned thread;
    knowledge of;
};

/* A block that runs. */
struct block_watch {
    dim3 index;
    uint64_t number;
    uint32_t moment;
    size_t threads;
    unsigned char *memory;                     /* its shared arrays */
    size_t room;
    std::vector<line> lines;                   /* of them */
    std::vector<uint32_t> clock;               /* (threads, WARP): the clocks of a warp's lanes as each thread knows them */
    std::vector<bool> met;                     /* warps whose clocks moved since the last barrier */
    std::vector<fence> fenced;                 /* (threads): the last fence of each */
    std::vector<meeting> meetings;
    std::vector<std::unordered_map<uint64_t, requests>> pending;      /* by warp and place */
};

/* Where the thread runs that asks; block is nullptr outside of kernels. */
struct running_thread {
    block_watch *block;
    unsigned thread;
    const char *stack;                         /* its lowest byte; FIBRE_STACK of them */
};
running_thread running();

#ifdef SPOT_EMULATOR_WATCHES

void watch_launch(const char *name);
void watch_block(block_watch *b, dim3 index, uint64_t number, size_t threads, unsigned char *memory, size_t room);
void watch_barrier(block_watch *b, const char *site);
void watch_block_end(block_watch *b);

/* The lanes of mask met in the warp operation op; first: thread of the warp's lane 0. */
void watch_meet(block_watch *b, unsigned first, unsigned mask, const char *op, const char *site);
void watch_memory();                                                     /* buffers came or went */

/* An access of the thread that runs, if one does. */
void watch_access(const void *p, size_t bytes, access_kind kind, const void *site);

/* FILE:LINE of a site. */
void words_of_site(uint32_t site, char *text, size_t size);

void race_launch();
void race_block(block_watch *b);
void race_barrier(block_watch *b);
void race_syncwarp(block_watch *b, unsigned first, unsigned mask);
void race_memory();
void race_fence(block_watch *b, unsigned thread);
void race_access(block_watch *b, unsigned thread, const void *p, size_t bytes, access_kind kind, uint32_t site);

extern bool traffic_counts;
void traffic_launch(const char *name);
void traffic_block(block_watch *b);
void traffic_barrier(block_watch *b);
void traffic_meet(block_watch *b, unsigned warp);
void traffic_access(block_watch *b, unsigned thread, const void *p, size_t bytes, access_kind kind, uint32_t site);

#else

inline void watch_launch(const char *) {}
inline void watch_block(block_watch *, dim3, uint64_t, size_t, unsigned char *, size_t) {}
inline void watch_barrier(block_watch *, const char *) {}
inline void watch_block_end(block_watch *) {}
inline void watch_meet(block_watch *, unsigned, unsigned, const char *, const char *) {}
inline void watch_memory() {}

#endif
}
#endif
