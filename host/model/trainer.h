/* trainer.h - a net with its images: what one training holds on its device, one epoch of it, one look at the val images.
 *
 * An epoch asks nothing of the host: images are drawn where they are seen, the optimizer's course lies beside them, and the
 * host reads the losses when all steps were begun. Where work can be recorded, a step is recorded once and replayed. */
#ifndef SPOTTER_TRAINER_H
#define SPOTTER_TRAINER_H

#include "model/resnet18.h"

/* The val images, the same in every epoch: in the memory of the device, and as the host reads them. */
typedef struct {
    spot_image *image;        /* (val) */
    float      *target;       /* (val, targets) */
    float      *logit;        /* (val, targets) */
    double     *loss;         /* (batches) */
} spot_val;

/* Who moves images to where their loss is greater, before they are learned. */
typedef struct {
    const spot_robust_config *how;        /* NULL: nobody */
    void  *clean;                         /* as net.planes: the images as they were drawn */
    float *moved;                         /* (rows, 3, size, size): how far they have come, in pixel values */
    float *running;                       /* statistics that nobody asks about */
    double *loss;                         /* (1): no more */
} spot_adversary;

typedef struct {
    const spot_ec *ec;
    const spot_model_config *cfg;
    int         images, steps;            /* of an epoch; the last step may have fewer images than a batch */
    spot_net    net;
    spot_adversary foe;
    spot_image *image;                    /* (rows): of the batch */
    float      *target;                   /* (rows, targets) */
    float      *pixels;                   /* (rows, size, size, 3); NULL where images are drawn into net.planes */
    uint32_t   *order;                    /* (images): this epoch's */
    double     *loss;                     /* (1): this step's */
    float      *best;                     /* (net.state) */
    spot_optim_course course;
    spot_val    val;
    double     *losses, *rates;           /* course.losses and .rates, and val, on the host; on the CPU they are the same */
    spot_val    here;
    void       *graph;                    /* a step on a whole batch, once there is one */
    bool        warm;                     /* one has been done */
} spot_trainer;

/* The learning rate of step `step` (from 0) of `steps` in the whole training. */
double spot_learning_rate(const spot_model_config *cfg, int step, int steps);

/* A batch of cfg->batch, padded to whole lanes. */
spot_net_shape spot_net_shape_of(const spot_model_config *cfg, int size, int outputs);

/* foe: NULL, or an adversary who attacks every batch first: gradient ascent through the net as it trains, with the batch's
 * statistics (its running ones stay as they are), from the images themselves or at random from the sphere around them. It is
 * part of the step that is recorded.
 * Lays everything into a, which lies on c's device, and what the host reads into `host`, which may be a on the CPU; both
 * may count. Close it even after a failure. */
spot_status spot_trainer_open(spot_ctx *c, spot_arena *a, spot_arena *host, spot_trainer *t, const spot_ec *ec,
                              const spot_model_config *cfg, const spot_robust_config *foe);
void        spot_trainer_close(spot_ctx *c, spot_trainer *t);

/* Begins with m's weights: draws the val images, plans the learning rates. */
spot_status spot_trainer_start(spot_ctx *c, spot_trainer *t, const spot_model *m);

/* One pass over the training images; their mean loss. */
spot_status spot_trainer_learn(spot_ctx *c, spot_trainer *t, int epoch, double *mean);

/* One pass over the val images: their mean loss against what training is told; t->here holds the logits. attacked: by the
 * adversary, who moves them first. */
spot_status spot_trainer_watch(spot_ctx *c, spot_trainer *t, bool attacked, double *mean);

/* Remembers the net as it is; m becomes what was remembered last. */
spot_status spot_trainer_keep(spot_ctx *c, spot_trainer *t);
spot_status spot_trainer_get(spot_ctx *c, spot_trainer *t, spot_model *m);

#endif
