/* device.h - a context's device: its table of kernels, its memory, and its order of work.
 *
 * The CPU's table is linked in. CUDA's is in libspotter_cuda.so, which is opened at run time from the folder of the running
 * program or from $SPOT_PLUGIN_DIR. So one binary starts on machines without a GPU or a driver. */
#ifndef SPOTTER_DEVICE_H
#define SPOTTER_DEVICE_H

#include "core/ops.h"

/* The target of c->device when c runs on a plugin; on the CPU c->device is NULL. */
typedef struct {
    void *library;               /* from dlopen                                  */
    const spot_plugin *plugin;
    void *state;                 /* made by the plugin's `open`: stream, ...     */
    char name[128];              /* "cuda:0 NVIDIA H200"                         */
} spot_device;

/* Sets c->ops and c->device. "cpu"; "cuda": SPOT_DEVICE gives the reason when it is not available; "auto": CUDA where there
 * is a GPU and the plugin has every family of kernels, else the CPU; logs the choice and the reason (SPOT_LOG_DEBUG). Any
 * other word is SPOT_USAGE. */
spot_status spot_device_open(spot_ctx *c, const char *device);
void        spot_device_close(spot_ctx *c);              /* accepts a context without a device */

const char *spot_device_name(const spot_ctx *c);         /* "cpu", "cuda:0 NVIDIA H200", "none" */

/* kind: devices with an equal text give equal bits. unit: identifies this device. Both "" on the CPU (base/platform.h
 * describes it). Either may be NULL. */
void spot_device_about(spot_ctx *c, char *kind, size_t kind_size, char *unit, size_t unit_size);

/* The number of visible GPUs (CUDA_VISIBLE_DEVICES, driver). SPOT_DEVICE with the reason when there are none. */
spot_status spot_device_count(spot_ctx *c, int *n);

/* Memory that c's kernels can read and write, not cleared. On the CPU host memory, aligned as an arena's. */
spot_status spot_device_take(spot_ctx *c, void **out, size_t bytes);
void        spot_device_give(spot_ctx *c, void *p);      /* accepts NULL */

/* Copies bytes; each side may lie in host or device memory. The copy is complete when it returns. It does nothing when both
 * sides are the same, as in code that keeps one array on the CPU and two elsewhere. */
spot_status spot_device_copy(spot_ctx *c, void *to, const void *from, size_t bytes);

/* Sets memory of c's device to zero, in order with c's kernels. */
spot_status spot_device_clear(spot_ctx *c, void *p, size_t bytes);

/* Free and total bytes of the device's memory; 0 and 0 on the CPU, where they are not measured. */
spot_status spot_device_room(spot_ctx *c, size_t *left, size_t *total);

/* Waits until all work of c's device is complete. An op returns when its kernels are started, not when they end. */
spot_status spot_device_wait(spot_ctx *c);

/* Recording of repeated work. Kernels and clears between record and recorded are stored with their arguments and not run;
 * replay runs all of them in order, at the cost of one call. The calls between must not copy, take or wait. Call recorded
 * even when one of them fails (graph NULL: discards the recording). SPOT_UNSUPPORTED on the CPU. */
spot_status spot_device_record(spot_ctx *c);
spot_status spot_device_recorded(spot_ctx *c, void **graph);
spot_status spot_device_replay(spot_ctx *c, void *graph);
void        spot_device_forget(spot_ctx *c, void *graph);        /* accepts NULL */

/* Work beside other work. What is started from fork to unfork follows the work before fork, runs beside what is started from
 * unfork to join, and ends before what is started after join. The two must not write what the other reads or writes. One such
 * branch at a time; a recording must have its join. Call unfork even when the work fails. On the CPU all is done in order. */
spot_status spot_device_fork(spot_ctx *c);
spot_status spot_device_unfork(spot_ctx *c);
spot_status spot_device_join(spot_ctx *c);

/* product = a b, (n, n) each, bf16 with fp32 sums, by the vendor's library: the upper bound of a GPU's speed (spotter bench).
 * SPOT_UNSUPPORTED on the CPU, SPOT_DEVICE where the library is not available. */
spot_status spot_device_multiply(spot_ctx *c, void *product, const void *a, const void *b, int n);

#endif
