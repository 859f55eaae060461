/* emulator.h - runs the blocks of a CUDA kernel on the host: what cuda_runtime.h of this folder is made of.
 *
 * A thread of a block is a fibre with its own stack; it runs until it meets a barrier, a warp operation or an atomic.
 * Which fibre runs next is chosen anew at each such place by the schedule in the environment:
 *
 *     SPOT_EMULATOR=identity       threads and blocks in order, one block at a time (the default)
 *     SPOT_EMULATOR=reversed       both backwards
 *     SPOT_EMULATOR=shuffled:SEED  threads and blocks in random order, warps drift apart, 1 to 4 blocks interleaved
 *
 * A branch of the work, which runs beside other work, is done at once under "identity", else as late as it may (runtime.cpp).
 *
 * A correct kernel gives the same bits under every schedule. What is wrong for certain is reported: the launch ends, the
 * CUDA status is cudaErrorLaunchFailure and cudaGetErrorString gives the sentence. Not seen: a missing __threadfence
 * (fibres are sequentially consistent), registers, speed, the last bits of approximate functions. */
#ifndef SPOTTER_EMULATOR_H
#define SPOTTER_EMULATOR_H

#include <cstddef>
#include <cstdint>
#include <functional>

#include "calls.h"

struct emu_stream;

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

namespace emu {

enum { WARP = 32, MAX_THREADS = 1024, MAX_SHARED = 48 * 1024 };

/* The indices and sizes of the fibre that runs. */
const dim3 &thread_index();
const dim3 &block_index();
const dim3 &block_size();
const dim3 &grid_size();
unsigned    lane();

/* Waits for all threads of the block at this very site; how many brought a predicate that is not 0. */
unsigned barrier(const char *site, bool predicate);

/* Waits for the lanes of mask at this op and site; what each brought, all bits set for lanes outside the mask. */
const uint64_t *gather(const char *op, const char *site, unsigned mask, uint64_t value);

/* The block's shared array that belongs to key, filled with NaNs before its first use, red zones on both sides. */
void *shared(const void *key, size_t bytes);
void *dynamic_shared();

/* Another fibre may run here. */
void step();

/* An atomic, a __threadfence and a copy (from nullptr: a fill) of the fibre that runs, for those who watch (watch.h). */
void watch_atomic(const void *p, size_t bytes, const void *site);
void watch_fence();
void watch_copy(void *to, const void *from, size_t bytes);

/* Ends the launch with a report. Does not return when called by a fibre. */
void fault(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Does the work of a stream (NULL: of the first) now, or notes it while a graph is captured; counted as this call or as a node
 * of the graph. The work of a second branch may wait (runtime.cpp). */
void submit(std::function<void()> work, emu_call call = EMU_library, emu_stream *stream = nullptr);

/* A kernel by its words in SPOT_LAUNCH and the types of its arguments. */
struct kernel_name { const char *words, *types; };

void launch(kernel_name name, dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()> &kernel);

}
#endif
