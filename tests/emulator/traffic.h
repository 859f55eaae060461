/* traffic.h - the memory traffic of kernels as a GPU would have it, by kernel: of the plugin whose accesses are watched, with
 * SPOT_EMULATOR_TRAFFIC in the environment. Tests ask by dlsym in the plugin.
 *
 * The lanes of a warp that make the n-th access of one place in the code between two barriers or warp operations make one
 * request together. Lanes that skipped an earlier one are counted with the wrong request: the counts of divergent code are
 * close, not exact. A global request moves sectors of 32 bytes. A shared one takes a wavefront for each different word that
 * lies in the same of 32 banks; 8 and 16 bytes a lane go in two and four parts. The host's compiler chooses the accesses:
 * nvcc may join or repeat some. */
#ifndef SPOTTER_EMULATOR_TRAFFIC_H
#define SPOTTER_EMULATOR_TRAFFIC_H

typedef struct {
    char name[96];
    long long launches, blocks;
    long long read, written;                   /* bytes of the sectors of global memory that launches touched, each once */
    long long requests, sectors, least_sectors;          /* global; least: were the lanes' bytes side by side */
    long long shared_requests, wavefronts, least_wavefronts;
} spot_traffic;

/* Exported as "spot_emulator_traffic". */
typedef struct {
    void (*each)(void (*visit)(void *user, const spot_traffic *kernel), void *user);     /* in the order of names */
    void (*reset)(void);
} spot_emulator_traffic;

#endif
