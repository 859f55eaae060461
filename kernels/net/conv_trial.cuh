/* conv_trial.cuh - arrays on which plans of one task are run, compared with the naive kernel, and timed. */
#ifndef SPOTTER_CONV_TRIAL_CUH
#define SPOTTER_CONV_TRIAL_CUH

#include "net/conv.cuh"

/* The roles of the three arrays of a pass; `written` is the role that the pass writes. */
enum { ROLE_X, ROLE_W, ROLE_Y, ROLES };

typedef struct {
    spot_conv_task task;
    const spot_conv *p;
    spot_cudnn *lib;
    void *at[ROLES], *want, *bias, *other;
    unsigned *seen;
    size_t count[ROLES], bytes[ROLES];
    int written;
    bool known;                /* want is computed */
    void *scratch;             /* of all plans, one after the other: spot_trial_scratch */
    size_t scratch_bytes;
} spot_trial;

/* Takes and fills the arrays. Close the trial even after a failure. */
spot_status spot_trial_open(spot_ctx *c, spot_trial *t, const spot_conv *p, int pass, spot_cudnn *lib);
void        spot_trial_close(spot_ctx *c, spot_trial *t);

spot_status spot_trial_memory(spot_ctx *c, const spot_trial *t, void **out, size_t bytes);

/* Scratch of at least so many bytes, which the next call may move; closed with the trial. To take and give back up to a GB for
 * each plan would cost more than to run it. */
spot_status spot_trial_scratch(spot_ctx *c, spot_trial *t, void **out, size_t bytes);

/* Runs the plan once on the filled arrays. digest: a hash of all bits that it wrote. *right: it ran and, with compare, agrees
 * with the naive kernel. */
spot_status spot_trial_run(spot_ctx *c, spot_trial *t, const spot_cudnn_plan *plan, void *scratch, bool compare,
                           unsigned *digest, bool *right);

/* Milliseconds of a run: the median of several bursts; one burst for a plan that takes more than twice `best`. */
spot_status spot_trial_time(spot_ctx *c, const spot_trial *t, const spot_cudnn_plan *plan, void *scratch, float best,
                            float *ms);

#endif
