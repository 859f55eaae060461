/* model.h - ResNet-18, ResNet-34 (He et al. 2016) and AlexNet (Krizhevsky 2014), in torchvision's form: train one on an EC, run
 * it, save and load its weights. ResNets of other forms (50, 101, 152, wide ones, those for CIFAR) run by their weights.
 *
 * Width 64 is torchvision's; another scales every layer. AlexNet takes images from 64 pixels on. Its adaptive pool makes 6 x 6
 * numbers of a channel of any size: of 1 x 1, at 64 pixels, 36 times the same, so that there its first linear layer sums its
 * weights over them. Its linear layers compute in fp32 in every precision; training drops half of their inputs.
 *
 * images -> model -> view. fp32 by oneDNN on the CPU. run_to_run: the same bits for any number of threads (a batch is cut
 * into `lanes` fixed pieces; gradients are summed in lane order). Logits and gradients are as close to double precision as
 * PyTorch's fp32: the error is 0.6 to 1.2 times PyTorch's (tests/test_resnet.c allows 4). A ReLU that rounding flips changes
 * the gradient of a small batch by percents, here and in PyTorch. */
#ifndef SPOTTER_MODEL_H
#define SPOTTER_MODEL_H

#include <stdbool.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/scene.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { SPOT_ARCH_RESNET18, SPOT_ARCH_RESNET34, SPOT_ARCH_ALEXNET } spot_arch;
typedef enum { SPOT_ADAM, SPOT_SGD, SPOT_RMSPROP } spot_optimizer;
typedef enum { SPOT_CONSTANT, SPOT_ONE_CYCLE } spot_schedule;
typedef enum { SPOT_SIGMOID, SPOT_SOFTMAX } spot_loss;             /* one for each output; cross-entropy over all */
typedef enum { SPOT_FP32, SPOT_TF32, SPOT_BF16 } spot_precision;   /* the CPU: fp32, some bf16 */

#define SPOT_MAX_EPOCHS 200

#define SPOT_BASE_VAL 2048        /* val images of a base model: they give its accuracy to a tenth of a percent */

/* A base model has learned every attribute of SpotCheck's images (spot_ec_base). It replaces the paper's ImageNet weights:
 * training that starts from it needs fewer epochs. Batch, optimizer and schedule are those of spot_model_config. */
typedef struct {
    int    images, epochs;     /* images 0: no base model */
    double lr;
} spot_base_config;

/* SPOT_FROM_START: what the classifier started from (base model, model.init or chance). SPOT_FROM_CLASSIFIER: the trained
 * classifier, which needs fewer epochs. */
typedef enum { SPOT_FROM_START, SPOT_FROM_CLASSIFIER } spot_robust_start;

/* A second network for methods that use robust features (bdms: representation: robust), trained against an adversary
 * (Madry et al. 2018): an attack changes each batch by at most epsilon in L2, so that its loss grows, before the training
 * step. All other settings are those of spot_model_config. */
typedef struct {
    double epsilon;            /* for an image of 224 pixels a side with values from 0 to 1; times size/224 at another size */
    int    steps;              /* attack steps per batch */
    double step;               /* length of an attack step, in epsilons */
    int    random;             /* 1: the attack starts on the sphere around each image; 0: at the image */
    int    epochs;
    double lr;
    int    from;               /* spot_robust_start: the weights that the training starts from */
} spot_robust_config;

/* "fp32", "tf32", "bf16": as a config writes it. */
const char *spot_precision_name(spot_precision p);

typedef struct {
    int    arch;               /* spot_arch */
    int    width;              /* channels of the first stage, a multiple of 16; 64 in torchvision's */
    int    epochs, batch;
    int    optimizer;          /* spot_optimizer. Adam: 0.9, 0.999, eps 1e-8. SGD: momentum below. RMSprop: 0.99, 1e-8, none */
    double lr;                 /* constant, or the peak of one_cycle */
    double momentum, weight_decay;
    int    schedule;           /* spot_schedule; one_cycle as PyTorch's OneCycleLR (pct_start 0.3, cosine, 25, 1e4), lr only */
    int    precision;          /* spot_precision */
    const char *init;          /* "" = He initialisation, else a .safetensors file with torchvision's names */
    spot_base_config base;
    spot_robust_config robust;
    int    keep_best;          /* 1: keep the epoch of the least validation loss (the first of equals) */
    int    lanes;              /* pieces of a batch; changes bits, not meaning */
    double learned_outside;    /* an EC counts as learned if accuracy outside is at least this ...   */
    double learned_inside;     /* ... and inside each blindspot at most this                          */
    double learned_gap;        /* above 0, replaces both: least recall of test positives outside minus recall inside */
    double learned_band[2];    /* not [0, 0]: replaces all three for ECs with blindspots: error inside (metric.h)     */
    int    learned_rest;       /* "outside" for learned_gap: 0 outside this blindspot, 1 outside all (spot_learning_by_view) */
} spot_model_config;

/* Most entries of a state_dict: 160 convolutions of a ResNet, and a head. */
#define SPOT_MAX_TENSORS 962

typedef struct {
    char   name[80];           /* "layer1.0.conv1.weight"; the longest has 43 letters */
    int    rank, dim[4];
    size_t offset, count;      /* in floats, within spot_model.value; num_batches_tracked has count 0 */
} spot_model_tensor;

/* Byte v of channel k becomes a network's input as (v / scale - mean[k]) / std[k], each step in fp32. All zero: ImageNet's
 * numbers, as torchvision's networks have them. */
typedef struct { float scale, mean[3], std[3]; } spot_pixel_rule;

typedef struct {
    int     arch;              /* spot_arch, or a number above: another ResNet, from a file, which runs and does not train */
    int     width, outputs;    /* outputs: rows of the head; 0: it has none */
    float  *value;             /* (floats): all tensors, torchvision's layouts (OIHW) */
    size_t  floats;
    int64_t batches_tracked;
    spot_pixel_rule pixels;    /* of spot_model_infer; a file has none: load leaves it zero */
} spot_model;

typedef struct { double train_loss, val_loss, seconds; } spot_epoch;

/* The result of training: losses per epoch, and whether the blindspots were learned (paper, appendix A; spot_model_config). */
typedef struct {
    int    epochs, best_epoch;                     /* 0-based */
    spot_epoch epoch[SPOT_MAX_EPOCHS];
    double outside;                                /* accuracy on val images in no blindspot, true labels */
    double inside[SPOT_MAX_BLINDSPOTS];            /* accuracy on val images in blindspot m, true labels; NaN if none */
    int    outside_count, inside_count[SPOT_MAX_BLINDSPOTS];
    int    blindspots;
    bool   learned;
    spot_spent learn, watch;                       /* time on train and on val images, all epochs; not stored */
    double attacked;                               /* robust network: accuracy outside under the adversary's attack */
} spot_learning;

spot_model_config spot_model_defaults(void);

/* "ResNet-18"; whether a number is a spot_arch or that of another ResNet. The others want one. */
const char *spot_arch_name(int arch);
bool        spot_arch_is(int arch);

/* The entries of torchvision's state_dict: 122, 218, 16; of other ResNets 6 a convolution, and 2.
 * The last two are the head's weights (outputs, features) and its bias. features: numbers of an image before the head: 8*width,
 * 32*width of bottlenecks, AlexNet's 64*width. */
int spot_model_tensors(int arch);
int spot_model_features(int arch, int width);

/* The table of tensors, in the order of torchvision's state_dict; `table` has room for SPOT_MAX_TENSORS rows. Returns the
 * floats needed for all. */
size_t spot_model_layout(spot_model_tensor *table, int arch, int width, int outputs);

/* Multiplications of a forward pass of one image of `size` pixels a side: those of convolutions and linear layers. */
double spot_model_multiplications(int arch, int width, int outputs, int size);

/* He initialisation (torchvision's: fan_out, ReLU; batch norm 1 and 0; head uniform +-1/sqrt(fan_in)) from the EC's seed. */
spot_status spot_model_init(spot_ctx *c, spot_arena *a, spot_model *m, int arch, int width, int outputs, uint64_t seed,
                            uint32_t ec);

/* Trains on the EC's train images and measures on val. m lives in a; scratch is returned to a. start: the initial weights
 * (a new head where the outputs differ); NULL: cfg->init, or He initialisation.
 * SPOT_NUMERIC when the loss is not finite; the sentence names epoch, step and learning rate. */
spot_status spot_model_train(spot_ctx *c, spot_arena *a, spot_model *m, spot_learning *lesson,
                             const spot_ec *ec, const spot_model_config *cfg, const spot_model *start);

/* spot_model_train against the adversary of cfg->robust. */
spot_status spot_model_robust(spot_ctx *c, spot_arena *a, spot_model *m, spot_learning *lesson,
                              const spot_ec *ec, const spot_model_config *cfg, const spot_model *start);

/* Trains the base model of cfg->base. lesson->outside is its accuracy on the visible attributes of val images. */
spot_status spot_model_base(spot_ctx *c, spot_arena *a, spot_model *m, spot_learning *lesson,
                            const spot_scene_config *scene, const spot_model_config *cfg, uint64_t seed);

/* A batch that is to be drawn. */
typedef struct {
    int       step, epoch, n;
    const uint32_t *index;     /* (n): the numbers of its pictures; an epoch has each from 0 to images - 1 once */
    uint8_t  *rgb;             /* (n, size, size, 3) result */
    float    *target;          /* (n, classes) result, given as zeros: 1 for the class, or a distribution */
} spot_lesson;

/* Fills rgb and target; what it draws at random has an address (rng.h), of which step or the picture's number is a part. */
typedef spot_status (*spot_lesson_draw)(spot_ctx *c, void *user, const spot_lesson *l);

/* Training on pixels of the caller: pictures in memory, or batches that he draws (augmentation, backgrounds). */
typedef struct {
    int    size, classes;      /* pixels a side, a multiple of 32, for AlexNet from 64 on; outputs of the network */
    int    images;             /* of an epoch */
    int    loss;               /* spot_loss */
    double triplet, margin;    /* weight of the triplet loss of the embeddings, which is added (Schroff et al. 2015, equation 3,
                                * over all triplets of a batch; kernels/net/triplet.h), 0: none; its margin */
    double fgsm;               /* above 0: the network learns each batch as an adversary changed it, every pixel (from 0 to 1)
                                * by this much along the sign of its gradient (FGSM, Goodfellow et al. 2015) */
    const uint8_t *rgb;        /* (images, size, size, 3) and ... */
    const int *cls;            /* ... (images), 0 to classes - 1; both unused where draw is set */
    spot_lesson_draw draw;     /* NULL: rgb and cls */
    void  *user;               /* handed to draw */
    bool   ahead;              /* a thread of its own draws the next batch during a step, with a context of one thread; the same
                                * bits. false: the caller's thread draws before the step, with the caller's context */
    uint64_t seed;             /* with number, below 2^31, the address of the first weights and of the orders */
    uint32_t number;
    const char *stage;         /* name of the progress that is told; NULL: none */
    double before, part, total;            /* progress counts from `before` to `before` + `part` of `total`, for several
                                * trainings; total 0: epochs */
} spot_pixel_training;

/* Trains on those by cfg's width, epochs, batch, optimizer, lr, schedule, precision, init and lanes; the last epoch is kept.
 * losses (epochs): the mean loss of each, or NULL. m lives in a; scratch is returned to a. A counting a only counts. start: as
 * in spot_model_train. SPOT_NUMERIC when the loss is not finite. */
spot_status spot_model_train_pixels(spot_ctx *c, spot_arena *a, spot_model *m, double *losses, const spot_pixel_training *how,
                                    const spot_model_config *cfg, const spot_model *start);

/* Runs m on the positives (label 1) of a split, in index order: features, confidence, the head's row, and the truth.
 * spot_model_look_on: leaves the features also in `features` (n, d), memory of c's device, as view->device_feature. NULL, or on
 * the CPU: they lie on the host alone. */
spot_status spot_model_look(spot_ctx *c, spot_arena *a, spot_view *view, spot_truth *truth,
                            const spot_model *m, const spot_ec *ec, spot_split split, const spot_model_config *cfg);
spot_status spot_model_look_on(spot_ctx *c, spot_arena *a, float *features, spot_view *view, spot_truth *truth,
                               const spot_model *m, const spot_ec *ec, spot_split split, const spot_model_config *cfg);

/* If cfg->learned_gap > 0 (paper, G.3), it sets the lesson's accuracies to the recall on the view's rows (all positives),
 * outside of all blindspots and inside each, and sets `learned` by their gaps. Otherwise changes nothing. */
void spot_learning_by_view(spot_learning *lesson, const spot_view *view, const spot_truth *truth, const spot_model_config *cfg);

/* Inference on pixels: rgb (n, size, size, 3) bytes -> logits (n, outputs) and, unless NULL, features (n, spot_model_features).
 * Bytes count by m->pixels; batch norm folded into the convolutions. size: a multiple of 32, for AlexNet from 64 on. */
spot_status spot_model_infer(spot_ctx *c, spot_arena *scratch, float *logits, float *features,
                             const spot_model *m, const uint8_t *rgb, int n, int size);

/* .safetensors with torchvision's names, written whole or not at all. Load finds the architecture by names and shapes: AlexNet,
 * and ResNets of any number of blocks, of two 3x3 or of bottlenecks whose 3x3 has the stride (torchvision's, timm's), of any
 * width that is a multiple of 16. A first layer of 3x3 has stride 1 and no max-pool behind it (CIFAR). Tensors are F32, F16,
 * BF16 or F64. All names may have a prefix ("module.", "model.backbone."); layers may be numbered as in
 * Sequential(*net.children()); the head is the one linear layer called fc, head, classifier, linear, last_linear or heads, or
 * one in it ("fc.1", "head.fc"), within the prefix or outside. A line of the log says what was found.
 *
 * It refuses missing, extra or misshapen tensors, a weight that is not finite and a variance below 0, and names them
 * (SPOT_INPUT).
 * num_batches_tracked may be missing. outputs 0: the file must have a head; -1: without one m->outputs is 0; above 0: a head
 * that is missing or has another number of outputs is initialised from the seed. */
spot_status spot_model_save(spot_ctx *c, const char *path, const spot_model *m);
spot_status spot_model_load(spot_ctx *c, spot_arena *a, spot_model *m, const char *path, int outputs, uint64_t seed);

/* Arena bytes that spot_model_train / spot_model_look need for such an EC. */
size_t spot_model_train_bytes(const spot_scene_config *scene, const spot_model_config *cfg);
size_t spot_model_look_bytes(const spot_scene_config *scene, const spot_model_config *cfg, int images);

/* The direction in which the logit of m (one output) grows: the head's row, (spot_model_features). */
void spot_model_direction(float *direction, const spot_model *m);

/* Memory for training (robust: also against the adversary) and for running the model on `images` images on c's device;
 * on a CPU without cfg's precision, in fp32. */
spot_status spot_model_needs(spot_ctx *c, spot_bytes *needs, const spot_scene_config *scene, const spot_model_config *cfg,
                             int images, bool robust);

#ifdef __cplusplus
}
#endif
#endif
