/* device.h - which table of kernels a context runs on, and the memory that goes with it.
 *
 * The CPU's table is linked in. CUDA's lies in libspotter_cuda.so, which is opened at run time from the folder of the
 * running program or from $SPOT_PLUGIN_DIR, so that one binary starts on machines without a GPU or a driver. */
#ifndef SPOTTER_DEVICE_H
#define SPOTTER_DEVICE_H

#include "core/ops.h"

/* What c->device points to when c runs on a plugin; on the CPU c->device is NULL. */
typedef struct {
    void *library;               /* of dlopen                                    */
    const spot_plugin *plugin;
    void *state;                 /* what the plugin's `open` made: stream, ...   */
    char name[128];              /* "cuda:0 NVIDIA H200"                         */
} spot_device;

/* Sets c->ops and c->device. "cpu"; "cuda", SPOT_DEVICE with the reason when it is not to be had; "auto", which takes
 * CUDA where a GPU is there and the plugin has every family of kernels, else the CPU, and tells the log's debug level which
 * and why. Any other word is SPOT_USAGE. */
spot_status spot_device_open(spot_ctx *c, const char *device);
void        spot_device_close(spot_ctx *c);              /* accepts a context that runs on nothing */

const char *spot_device_name(const spot_ctx *c);         /* "cpu", "cuda:0 NVIDIA H200", "none" */

/* What equal bits are promised on, and which unit it is: base/platform.h. Both "" on the CPU. Either may be NULL. */
void spot_device_about(spot_ctx *c, char *kind, size_t kind_size, char *unit, size_t unit_size);

/* How many GPUs CUDA_VISIBLE_DEVICES and the driver show. SPOT_DEVICE with the reason when there are none. */
spot_status spot_device_count(spot_ctx *c, int *n);

/* Memory that c's kernels can read and write. On the CPU plain memory, 64-byte aligned. Not cleared. */
spot_status spot_device_take(spot_ctx *c, void **out, size_t bytes);
void        spot_device_give(spot_ctx *c, void *p);      /* accepts NULL */

/* bytes from one place to another, each in host or device memory; done when it returns. */
spot_status spot_device_copy(spot_ctx *c, void *to, const void *from, size_t bytes);

/* Zeros where the memory of c's device is, in order with c's kernels. */
spot_status spot_device_clear(spot_ctx *c, void *p, size_t bytes);

/* Bytes that are left to take, and that there are; 0 and 0 on the CPU, whose memory nobody rations. */
spot_status spot_device_room(spot_ctx *c, size_t *left, size_t *total);

/* Until all that was asked of c's device is done: kernels are only begun when an op returns. */
spot_status spot_device_wait(spot_ctx *c);

/* Work that repeats itself. Kernels and clears between record and recorded are noted with their arguments, not done;
 * replay does all of them in order, for the price of one call. What lies between must not copy, take or wait, and
 * recorded is to be called even when it fails (graph NULL: the notes are thrown away). SPOT_UNSUPPORTED on the CPU. */
spot_status spot_device_record(spot_ctx *c);
spot_status spot_device_recorded(spot_ctx *c, void **graph);
spot_status spot_device_replay(spot_ctx *c, void *graph);
void        spot_device_forget(spot_ctx *c, void *graph);        /* accepts NULL */

/* product = a b, (n, n) each, bf16 with fp32 sums, by the vendor's library: what a GPU does at most (spotter bench).
 * SPOT_UNSUPPORTED on the CPU, SPOT_DEVICE where the library is not to be had. */
spot_status spot_device_multiply(spot_ctx *c, void *product, const void *a, const void *b, int n);

#endif
