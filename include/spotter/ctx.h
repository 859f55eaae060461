/* ctx.h - the context of a computation: device, threads, failure, messages, progress, stop request.
 *
 * A context serves one caller at a time. The library never prints or exits: messages and progress go to two callbacks,
 * failures to the status. */
#ifndef SPOTTER_CTX_H
#define SPOTTER_CTX_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spot_ops spot_ops;   /* the device's table of kernels: kernels/core/ops.h */

/* Seconds that a piece of work took: by the clock, and of processor time (all threads together). */
typedef struct { double wall, cpu; } spot_spent;

typedef enum { SPOT_LOG_DEBUG, SPOT_LOG_INFO, SPOT_LOG_WARN } spot_log_level;

/* The progress of a long piece of work: `done` of `total`, in units for a progress bar. */
typedef struct {
    const char *stage;      /* "train", "scvis", ...                     */
    int         ec;         /* which experimental configuration, -1 none */
    double      done, total;
    const char *note;       /* short, may be "": "epoch 3 loss 0.12"     */
} spot_progress;

struct spot_ctx {
    const spot_ops *ops;
    void           *device;      /* the device's own state; NULL on the CPU */
    int             threads;     /* OpenMP threads; results never depend on it */
    spot_status     status;      /* of the first failure, SPOT_OK if none */
    char            message[1024];
    int             label_length;         /* bytes of the message that name the problem: "EC 5: " */
    char            id[48];               /* of the failure: spot_failure_id */
    void          (*on_log)(void *user, spot_log_level level, const char *text);       /* may be NULL */
    void          (*on_progress)(void *user, const spot_progress *p);                  /* may be NULL */
    void          (*label)(void *user, uint32_t problem, char *text, size_t size);     /* spot_label_of; NULL: "EC 5" */
    void           *user;        /* handed to the three callbacks */
    const char     *who;         /* the running method, named in every log line; may be NULL */
    const volatile sig_atomic_t *stop;   /* non-zero: return SPOT_STOPPED at the next safe point; may be NULL */
    uint64_t       *rotated;     /* formats/picture.h counts pictures in it; copies of the context share it; NULL: none */
};

/* Opens a context. The caller first sets on_log, on_progress, user and stop, or zeroes them (`spot_ctx c = { 0 };`). The
 * call sets the rest. device is "cpu", "cuda" or "auto" (cuda if the plugin and a GPU are there, else cpu). threads 0
 * takes every core that this process may use. SPOT_DEVICE gives the reason why "cuda" is not available.
 * Close c also after a failure. */
spot_status spot_ctx_open(spot_ctx *c, const char *device, int threads);
void        spot_ctx_close(spot_ctx *c);

/* The name of the device in messages and results: "cpu" or e.g. "cuda:0 NVIDIA H200". */
const char *spot_ctx_device_name(const spot_ctx *c);

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void spot_log(spot_ctx *c, spot_log_level level, const char *fmt, ...);

/* The name of one problem of a batch in sentences: "EC 5", or the text that c->label writes. `problem` is the `ec` of its
 * spot_seed. */
typedef struct { char text[160]; } spot_label;
spot_label spot_label_of(const spot_ctx *c, uint32_t problem);

/* spot_log about one problem: "EC 5: ...". */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void spot_log_of(spot_ctx *c, spot_log_level level, uint32_t problem, const char *fmt, ...);

/* Calls on_progress with these values. */
void spot_tell(spot_ctx *c, const char *stage, int ec, double done, double total, const char *note);

/* spot_spent_now returns the present moment. spot_spend adds the time since the moment *at to *sum and sets *at to now. */
spot_spent spot_spent_now(void);
void       spot_spend(spot_spent *sum, spot_spent *at);

/* Seconds on a clock that never runs backward. */
double spot_clock(void);

/* SPOT_STOPPED once the caller has set the stop flag. Long loops call it at their safe points. */
spot_status spot_check_stop(spot_ctx *c);

/* ---- what a binding repeats ---- */

/* Sizes of structs and constants that a binding in another language repeats. It compares them before it calls. */

typedef struct {
    const char *name;          /* "spot_view", "spot_config.bdm", or "SPOT_LAYERS" */
    size_t      bytes;         /* sizeof, offsetof, or the constant itself (a length of arrays) */
} spot_binding_row;

/* (*count) rows that live as long as the library. */
const spot_binding_row *spot_binding(int *count);

/* "0.1.0" */
const char *spot_version(void);

#ifdef __cplusplus
}
#endif
#endif
