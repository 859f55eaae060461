/* calls.h - how often the runtime was called, by stage. A stage is made of the open ranges (spot_range_begin) of the
 * calling thread down to the first op, without their numbers: "EC/train", "points/domino"; "" outside of ranges. With
 * SPOT_EMULATOR_CALLS=FILE in the environment the counts are appended to FILE as one line of JSON when the plugin is
 * unloaded. Tests ask by dlsym in the plugin. */
#ifndef SPOTTER_EMULATOR_CALLS_H
#define SPOTTER_EMULATOR_CALLS_H

#ifdef __cplusplus
extern "C" {
#endif

/*    call           what is counted */
#define EMU_CALLS(X)                                                                     \
    X(launches)      /* kernels that the host starts                                  */ \
    X(library)       /* calls of what stands in for cuDNN                             */ \
    X(clears)        /* cudaMemsetAsync                                               */ \
    X(recordings)    /* captures of a graph                                           */ \
    X(nodes)         /* kernels, clears and library calls that they recorded          */ \
    X(branches)      /* second branches that they recorded                            */ \
    X(replays)       /* cudaGraphLaunch                                               */ \
    X(waits)         /* the host waits for the device                                 */ \
    X(takes)         /* cudaMalloc                                                    */ \
    X(taken)         /* its bytes                                                     */ \
    X(gives)         /* cudaFree                                                      */ \
    X(copies_in)     /* copies from the host to the device                            */ \
    X(bytes_in)                                                                          \
    X(copies_out)    /* copies from the device to the host                            */ \
    X(bytes_out)                                                                         \
    X(copies_within) /* copies from the device to the device                          */ \
    X(bytes_within)                                                                      \
    X(pins)          /* cudaHostRegister                                              */ \
    X(pinned)        /* its bytes                                                     */

enum emu_call {
#define X(call) EMU_##call,
    EMU_CALLS(X)
#undef X
    EMU_CALL_KINDS
};

/* The plugin's table, exported as "spot_emulator_calls". A stage or call that never happened has the count 0. */
typedef struct {
    long long (*count)(const char *stage, const char *call);     /* stage NULL: all stages together */
    void      (*each)(void (*visit)(void *user, const char *stage, const char *call, long long count), void *user);
    void      (*reset)(void);
} spot_emulator_calls;

#ifdef __cplusplus
}

void emu_count(emu_call call, long long by);
void emu_count_kernel(const char *name);         /* one that ran, started by the host or by a graph */

#endif
#endif
