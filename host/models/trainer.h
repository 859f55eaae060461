/* trainer.h - a net with its images: the memory of one training on its device, one epoch, one pass over the val images.
 *
 * An epoch needs nothing from the host: the device draws the images and holds the learning rates, and the host reads the losses
 * after it has started all steps. A device that can record work records a step once for each of two batches and replays it. A
 * step learns from one batch and beside that draws the next into the other. */
#ifndef SPOTTER_TRAINER_H
#define SPOTTER_TRAINER_H

#include "models/network.h"

/* The val images, the same in every epoch. One struct points to the device's memory, one to the host's. */
typedef struct {
    spot_image *image;        /* (val) */
    float      *target;       /* (val, targets) */
    float      *logit;        /* (val, targets) */
    double     *loss;         /* (batches) */
} spot_val;

/* The adversary changes images so that their loss grows, before the net learns them: gradient ascent through the net with the
 * batch's statistics (the net's running ones do not change). */
typedef struct {
    void  *clean;                         /* as net.planes: for images before they are moved */
    float *moved;                         /* (rows, 3, size, size): the change, in pixel values */
    float *running;                       /* running statistics of the attack, unused */
    double *loss;                         /* (1): loss of the attack, unused */
} spot_adversary;

/* A batch as it is drawn. */
typedef struct {
    spot_image *image;                    /* (rows) */
    float      *target;                   /* (rows, targets) */
    void       *planes;                   /* as net.planes */
} spot_batch_drawn;

typedef struct {
    const spot_ec *ec;
    const spot_model_config *cfg;
    int         images, steps;            /* per epoch; the last step may have fewer images than a batch */
    spot_net    net;
    const spot_robust_config *robust;     /* NULL: no adversary */
    spot_adversary foe;
    spot_batch_drawn batch[2];            /* in turn; a device draws one while it learns from the other, the CPU has one */
    void       *spare;                    /* for spot_net_draw */
    float      *pixels;                   /* (rows, size, size, 3); NULL if images are drawn into planes */
    uint32_t   *order;                    /* (order_of): the images' order in this epoch */
    double     *loss;                     /* (1): loss of this step */
    float      *best;                     /* (net.state) */
    spot_optim_course course;
    spot_val    val;
    double     *losses;                   /* course.losses, course.strides and val on the host; on the CPU the same arrays */
    spot_optim_stride *strides;
    spot_val    here;
    void       *graph[2];                 /* the recorded step on each whole batch; NULL before the recording */
    bool        warm;                     /* a step on a whole batch has run */
    int         ahead;                    /* steps that wait for a GPU at most, SPOT_STEPS_AHEAD: a stop waits for these */
    const float *from;                    /* NULL until the caller says where weights lie on the device (network.h) */
    float      *to;
    bool        new_head;                 /* `from` has another head than the model */
} spot_trainer;

/* 64 steps of ResNet-18 at batch 256 in bf16 are 0.8 s on an H200 (predicted), and a wait for them takes 20 to 50 us. */
enum { SPOT_STEPS_AHEAD = 64 };

/* The learning rate at step `step` (from 0) of a training of `steps` steps. */
double spot_learning_rate(const spot_model_config *cfg, int step, int steps);

/* cfg's optimizer with the constants that model.h says; the caller adds what belongs to a training. */
spot_optim_rule spot_optim_rule_of(const spot_model_config *cfg);

/* to (steps): the strides of a training of `steps` steps. */
void spot_fill_strides(spot_optim_stride *to, const spot_model_config *cfg, int steps);

/* A batch of cfg->batch, padded to whole lanes. */
spot_net_shape spot_net_shape_of(const spot_model_config *cfg, int size, int outputs);

/* Allocates a trainer in a, on c's device, and the host's arrays in `host`, which may be a on the CPU; both may count. Close it
 * even after a failure.
 * robust: NULL, or the adversary that attacks every batch first, from the images or from random points on the sphere around
 * them. The attack is part of the recorded step. */
spot_status spot_trainer_open(spot_ctx *c, spot_arena *a, spot_arena *host, spot_trainer *t, const spot_ec *ec,
                              const spot_model_config *cfg, const spot_robust_config *robust);
void        spot_trainer_close(spot_ctx *c, spot_trainer *t);

/* Starts from m's weights, on a device from t->from where that is set: draws the val images, computes the learning rates. */
spot_status spot_trainer_start(spot_ctx *c, spot_trainer *t, const spot_model *m);

/* One pass over the training images; their mean loss. */
spot_status spot_trainer_learn(spot_ctx *c, spot_trainer *t, int epoch, double *mean);

/* One pass over the val images: their mean loss against the training labels; t->here receives the logits. attacked: the
 * adversary changes the images first. */
spot_status spot_trainer_watch(spot_ctx *c, spot_trainer *t, bool attacked, double *mean);

/* keep: saves the net's current state. get: copies the saved state into m, and on a device to t->to where that is set. */
spot_status spot_trainer_keep(spot_ctx *c, spot_trainer *t);
spot_status spot_trainer_get(spot_ctx *c, spot_trainer *t, spot_model *m);

#endif
