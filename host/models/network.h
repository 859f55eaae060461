/* network.h - networks as tables: convolutions, each with its batch norm, and blocks that use them.
 *
 * Two nets: one for training (it can also run with fixed statistics), one for inference (batch norm folded). Both call ops and
 * never a device. A batch has `live` images; the net works on whole pieces of rows/lanes and pads the last piece. A net's
 * arrays lie in the memory of its context's device; its struct, and models, lie on the host. */
#ifndef SPOTTER_NETWORK_H
#define SPOTTER_NETWORK_H

#include "formats/safetensors.h"
#include "net/conv.h"
#include "net/dense.h"
#include "net/head.h"
#include "net/norm.h"
#include "net/optim.h"
#include "net/pooling.h"
#include "net/triplet.h"
#include "spotter/model.h"

enum { SPOT_MAX_UNITS = 160, SPOT_MAX_BLOCKS = 64 };     /* ResNet-152 has 155 and 50 */
enum { SPOT_MAX_BIASES = 5 };                            /* AlexNet's convolutions */

/* Limits for models of any origin. The width is a multiple of SPOT_LEAST_WIDTH. */
enum { SPOT_LEAST_WIDTH = 16, SPOT_MOST_WIDTH = 1024, SPOT_MOST_OUTPUTS = 100000 };

/* Bounds in inference: of an activation, and of the sum of a channel's weights in a ResNet. A product of both is finite in
 * fp32, so no NaN arises before a layer is found whose numbers pass the first. */
#define SPOT_MOST_ACTIVATION 1e28f
#define SPOT_MOST_WEIGHTS    1e8

/* A convolution and, in a ResNet, its batch norm. There unit u owns the tensors 6u..6u+5 of the state_dict. */
typedef struct {
    int in, out;               /* channels, in widths; in 0: the image's three */
    int k, stride;
    int shrink;                /* x has size/shrink pixels a side; AlexNet: 1 where a max-pool follows */
} spot_unit;

typedef struct { char conv[48], norm[48]; } spot_unit_name;   /* "layer1.0.conv1", "layer1.0.bn1"; AlexNet has no norm */

/* Units from first to last, one behind the other: two, or three of a bottleneck. down 0: the shortcut is the identity. */
typedef struct { int first, last, down; } spot_block;

/* The form of a ResNet, by the names and shapes of its weights. Widths of a stage are those of the stage before, doubled. */
enum { SPOT_STAGES = 4, SPOT_MOST_BOTTLENECK = 3 };
typedef struct {
    int  count[SPOT_STAGES];                          /* blocks; 0: no such stage, and none behind it */
    int  bottleneck;                                  /* 0: blocks of two 3x3; n: 1x1, 3x3 of n times the stage's width, 1x1 */
    bool small_stem;                                  /* 3x3 of stride 1 and no max-pool, for small pictures (CIFAR) */
} spot_resnet_form;

/* A form as a spot_arch: the two that the enumeration has, or a number above all of them; -1: a form that no network here can
 * have. Such a network runs and does not train. */
int              spot_arch_of_form(const spot_resnet_form *f);
spot_resnet_form spot_form_of_arch(int arch);

typedef struct spot_net spot_net;
typedef struct spot_look spot_look;
typedef struct spot_net_way spot_net_way;
typedef struct spot_look_way spot_look_way;

/* An architecture, its units, its blocks and the names of its layers. */
typedef struct {
    const char *name;                                 /* "ResNet-18" */
    const char *head;                                 /* the last layer: "fc" */
    int least;                                        /* pixels a side that it takes at least */
    int features;                                     /* numbers before the head, in widths */
    int units, blocks;
} spot_architecture;

spot_architecture spot_architecture_of(int arch);
spot_unit         spot_unit_of(int arch, int u);
spot_unit_name    spot_unit_name_of(int arch, int u);
spot_block        spot_block_of(int arch, int b);

/* Shapes that both nets share; size a multiple of 32, width of 16. */
typedef struct {
    int width, outputs, size, rows, lanes;            /* a GPU always has one lane */
    int arch;                                         /* spot_arch */
    spot_precision precision;                         /* of activations, and of the weights that convolutions read */
    bool attacked;                                    /* training: the gradient by the images, too */
} spot_net_shape;

struct spot_net {
    spot_net_shape s;
    spot_architecture arch;                           /* of s.arch */
    const spot_net_way *way;
    int        features;                              /* numbers before the head */
    spot_conv *conv[SPOT_MAX_UNITS];
    spot_norm  norm[SPOT_MAX_UNITS];
    float     *w[SPOT_MAX_UNITS], *dw[SPOT_MAX_UNITS];        /* packed, within param and grad */
    const void *read[SPOT_MAX_UNITS];                     /* weights that a convolution reads: w, or their bf16 in `rounded` */
    float     *fc_w, *fc_b, *fc_dw, *fc_db;
    size_t     params, state;                         /* learned floats, with padding; these and the running statistics */
    float     *param, *grad;                          /* (state): the whole model; (params) */
    float     *moment, *square;                       /* (params): the optimizer's */
    void      *rounded;                               /* (params) bf16 that spot_optim_step updates; NULL in fp32 */
    void      *planes, *dplanes;                      /* the input, as spot_conv_planes makes it; its gradient, if attacked */
    void      *y[SPOT_MAX_UNITS];                     /* output of each convolution; backward overwrites it with gradients */
    void      *pooled;                                /* input of the first block */
    unsigned char *at;                                /* the greatest pixel of each window of the pool */
    void      *inner[SPOT_MAX_BLOCKS], *out[SPOT_MAX_BLOCKS]; /* activations inside and after each block */
    void      *direct, *side;                         /* gradient of a block's input: through its first unit, and past it; the
                                                       * sum in side where spot_conv_onto */
    float     *feature, *logit, *dlogit;              /* (rows, features), (rows, outputs) twice */
    spot_loss  kind;                                  /* of the loss; SPOT_SIGMOID until the caller changes it */
    double     triplet, margin;                       /* weight of the embeddings' triplet loss, which is added; 0: none */
    float     *dfeature;                              /* (rows, features), and scratch for it; NULL without that loss */
    void      *triplet_scratch;
    void      *scratch;

    /* AlexNet: biases of convolutions; after each its bias, ReLU and pool, in `out`, and where a pool's largest were; the input
     * of the linear layers, their outputs, and gradients of them */
    float     *bias[SPOT_MAX_BIASES], *dbias[SPOT_MAX_BIASES];
    unsigned char *won[SPOT_MAX_BIASES];
    float     *dense_w[2], *dense_b[2], *dense_dw[2], *dense_db[2];
    float     *flat, *hidden[2], *dflat, *dhidden[2];
    spot_drop_rule drop;                              /* p 0 until spot_net_drop */
};

/* How an architecture learns. */
struct spot_net_way {
    bool        (*sums)(int arch, int u);                             /* its data gradient is added to another */
    size_t      (*learned)(spot_ctx *c, spot_net *net, float *from, bool gradient);    /* divides `from`, or counts */
    size_t      (*running)(spot_net *net, float *from);
    spot_status (*take)(spot_ctx *c, spot_arena *a, spot_net *net);   /* all but what every net has */
    int         tensors;                              /* of a unit; the first are the weights of its convolution */
    void        (*arrays)(const spot_net *net, float **at);           /* sets at[i] to tensor i, but for those and the head */
    spot_status (*forward)(spot_ctx *c, spot_net *net, int live, bool learning);       /* from net->planes */
    spot_status (*back)(spot_ctx *c, spot_net *net, const float *target, int live, double *loss, bool learning);   /* to y[0] */
};

extern const spot_net_way spot_resnet_way, spot_alexnet_way;

/* Allocates the net in a (which may count). Close it even after a failure. */
spot_status spot_net_open(spot_ctx *c, spot_arena *a, spot_net *net, spot_net_shape s);
void        spot_net_close(spot_ctx *c, spot_net *net);

/* AlexNet's, as in the paper and torchvision. */
#define SPOT_DROPOUT 0.5

/* Makes steps of learning drop numbers with probability p (dense.h); made: steps so far, in the memory of c's device. Nets
 * without dropout take no notice. */
void spot_net_drop(spot_net *net, double p, uint64_t seed, uint32_t number, const int *made);

/* Adds the triplet loss of the features (triplet.h) to the net's loss; takes memory in a. */
spot_status spot_net_add_triplets(spot_ctx *c, spot_arena *a, spot_net *net, double weight, double margin);

/* *value: the model's numbers in the memory of c's device: m->value on the CPU, else `there`, or where that is NULL a copy,
 * which spot_device_give(c, *copy) gives back. */
spot_status spot_model_on_device(spot_ctx *c, const spot_model *m, const float *there, const float **value, void **copy);

/* Copy weights from and to torchvision's order. put resets the optimizer's state. get fills m->value; either
 * is one copy between host and device. */
spot_status spot_net_put(spot_ctx *c, spot_net *net, const spot_model *m);
spot_status spot_net_get(spot_ctx *c, spot_model *m, const spot_net *net);

/* The same, from and to (m->floats) numbers that stay in the memory of c's device; NULL: as above. get fills m->value, too.
 * new_head: the numbers there have another head, and m's is taken. */
spot_status spot_net_put_from(spot_ctx *c, spot_net *net, const spot_model *m, const float *there, bool new_head);
spot_status spot_net_get_to(spot_ctx *c, spot_model *m, const spot_net *net, float *there);

/* pixels (live, size, size, 3), normalised -> net->feature, net->logit. pixels NULL: net->planes already hold the images, from
 * a device's renderer. learning: uses the batch's statistics and keeps them for backward; else the running ones. */
spot_status spot_net_forward(spot_ctx *c, spot_net *net, const float *pixels, int live, bool learning);

/* target (live, outputs) -> loss and net->grad, by net->kind and net->triplet, after a forward with learning. All three lie
 * in the memory of c's device; copy a GPU's loss before reading it. */
spot_status spot_net_backward(spot_ctx *c, spot_net *net, const float *target, int live, double *loss);

/* Computes net->dplanes, the gradient by the images. Does not change the convolutions' part of net->grad. */
spot_status spot_net_backward_image(spot_ctx *c, spot_net *net, const float *target, int live, double *loss);

/* The plane of `live` images in net->planes; the bytes of all rows there. */
spot_plane spot_net_images(const spot_ctx *c, const spot_net *net, int live);
size_t     spot_net_image_bytes(const spot_ctx *c, const spot_net *net);

/* Makes net update the running statistics at `running` (net->state - net->params) instead of its own. */
void spot_net_running(spot_net *net, float *running);

/* The net for inference: weights with folded batch norm (in double, then rounded to the precision), three buffers. */
struct spot_look {
    spot_net_shape s;
    spot_architecture arch;                           /* of s.arch */
    const spot_look_way *look;
    int        features, channels;                    /* numbers before the head; spot_look_channels */
    spot_conv *conv[SPOT_MAX_UNITS];
    void      *w[SPOT_MAX_UNITS];
    float     *bias[SPOT_MAX_UNITS];
    float     *fc_w, *fc_b, *one, *none;              /* one and none: the stem's norm, already folded */
    void      *planes, *stem, *buffer[3];
    void      *scratch;
    void      *dense_w[2];                            /* AlexNet, as spot_dense_pack makes them */
    float     *dense_b[2], *flat, *hidden[2];
    float     *channel;                               /* NULL until the caller wants it: (rows, spot_look_channels), the
                                                       * activity of every channel of every layer (predictor.h) */
};

/* In the memory of c's device, while weights are put: a tensor's, scaled; sizes of all channels that have been folded. */
typedef struct { float *scaled; double *size; size_t channels; } spot_look_room;

/* How an architecture looks. */
struct spot_look_way {
    void        (*fuse)(int arch, int u, spot_conv_shape *s);         /* sets relu and add of unit u */
    spot_status (*take)(spot_ctx *c, spot_arena *a, spot_look *net, size_t *scratch); /* all but what every net has */
    spot_status (*put)(spot_ctx *c, spot_look *net, const float *value, const spot_model_tensor *table, spot_look_room *room);
    spot_status (*run)(spot_ctx *c, spot_look *net, float *feature, float *logit, int live);       /* from net->planes */
    int         (*channels)(int arch);                                /* in widths */
};

/* Parts that all nets take: a convolution, and the activity of the channels of a layer's output, which goes to net->channel +
 * *at and moves *at. relu: negative numbers count as 0. */
spot_status spot_look_convolve(spot_ctx *c, spot_look *net, int u, void *y, const void *x, const void *other, int rows);
spot_status spot_look_watch(spot_ctx *c, spot_look *net, const void *y, spot_plane p, bool relu, int *at);

extern const spot_look_way spot_resnet_look, spot_alexnet_look;

spot_status spot_look_open(spot_ctx *c, spot_arena *a, spot_look *net, spot_net_shape s);
void        spot_look_close(spot_ctx *c, spot_look *net);
spot_status spot_look_put(spot_ctx *c, spot_look *net, const spot_model *m);
spot_status spot_look_put_from(spot_ctx *c, spot_look *net, const spot_model *m, const float *there);

/* Channels of the stem and of all layers of each block. A convolution of a shortcut is no layer of its own: its output is seen
 * in the block's sum. */
int spot_look_channels(int arch, int width);

/* pixels (live, size, size, 3), or NULL as above -> feature (live, features), logit (live, outputs), and net->channel where it
 * is wanted, all in the memory of c's device. */
spot_status spot_look_run(spot_ctx *c, spot_look *net, float *feature, float *logit, const float *pixels, int live);

/* The shape for n images; 0: many. The images of a piece, on which Winograd's bits depend, depend on the images' size only: a
 * view never depends on the batches of training, nor on the threads. Where threads are few, large images have fewer lanes, for
 * memory. On a GPU rows are a power of two, since each number of rows wants a plan of its own for every layer. */
spot_net_shape spot_look_shape(const spot_ctx *c, int arch, int width, int outputs, int size, int n, spot_precision precision);

/* A network that is open for inference on pixels of the host: weights, plans and workspaces stay in the memory of c's device
 * from the opening to the closing. A GPU computes all rows of every batch and drops those behind the last picture, so that one
 * shape has one plan a layer and one recording of its work. */
typedef struct {
    spot_look  net;
    spot_arena room;                                  /* unused where the caller's arena has all (spot_model_infer) */
    uint8_t   *rgb;                                   /* (rows, size, size, 3); NULL on the CPU, which reads the caller's */
    float     *pixels;                                /* the same, by `rule` */
    float     *feature, *logit;                       /* of a batch */
    bool       warm[2];                               /* a batch ran without its channels, or with them */
    void      *graph[2];                              /* the recordings of that */
    spot_pixel_rule rule;                             /* the model's; a caller may change it before the first run */
} spot_look_pixels;

/* pictures: the most of a call, as far as it is known; 0: many. channels: the caller may want them. */
typedef struct { int size, pictures; spot_precision precision; bool channels; } spot_look_rule;

/* The memory of an open network of m's shape; its weights do not matter. */
spot_status spot_look_pixels_needs(spot_ctx *c, spot_bytes *needs, const spot_model *m, const spot_look_rule *r);

/* m is needed for the opening alone. Close it even after a failure; a zeroed one may be closed. */
spot_status spot_look_pixels_open(spot_ctx *c, spot_look_pixels *l, const spot_model *m, const spot_look_rule *r);
void        spot_look_pixels_close(spot_ctx *c, spot_look_pixels *l);

/* rgb (n, size, size, 3) -> logit (n, outputs), feature (n, features) and channel (n, spot_look_channels), all on the host; the
 * last two may be NULL. Any n. The stop flag is looked at between batches. An image's numbers do not depend on the others. */
spot_status spot_look_pixels_run(spot_ctx *c, spot_look_pixels *l, float *logit, float *feature, float *channel,
                                 const uint8_t *rgb, int n);

/* Memory for inference on this many images, including the view (look.c). */
spot_status spot_look_needs(spot_ctx *c, spot_bytes *needs, const spot_scene_config *scene, const spot_model_config *cfg,
                            int images);

/* Draws n images of the EC, normalised, into pixels (n, size, size, 3); if pixels is NULL, into planes in the layout of the
 * convolutions of c's device. spare: the first convolution's output, which has room for JPEG on a device: 8 bytes a pixel or
 * more, of which it takes 4.5. */
spot_status spot_net_draw(spot_ctx *c, float *pixels, void *planes, spot_precision precision, const spot_image *image, int n,
                          const spot_ec *ec, void *spare);

/* A training and a look whose weights stay in the memory of c's device, (floats) numbers each; NULL: they do not.
 *     train  from model, whose numbers lie at `from`, and leaves those of m at `to`; robust: against the adversary
 *     look   by model, whose numbers lie at `from`; leaves features at `features` (spot_model_look_on) */
typedef struct { const spot_model *model; const float *from; float *to; bool robust; } spot_resident_training;
typedef struct { const spot_model *model; const float *from; float *features; } spot_resident_look;

spot_status spot_model_train_resident(spot_ctx *c, spot_arena *a, spot_model *m, spot_learning *lesson, const spot_ec *ec,
                                      const spot_model_config *cfg, const spot_resident_training *how);
spot_status spot_model_look_resident(spot_ctx *c, spot_arena *a, const spot_resident_look *how, spot_view *view,
                                     spot_truth *truth, const spot_ec *ec, spot_split split, const spot_model_config *cfg);

/* take: allocates a model. start: initialises its tensor number `tensor`. */
spot_status spot_model_take(spot_ctx *c, spot_arena *a, spot_model *m, int arch, int width, int outputs);
void        spot_model_start(spot_model *m, int tensor, uint64_t seed, uint32_t ec);

/* check: cfg's ranges, and its precision on c's device. begin: the model that a training starts from (spot_model_train);
 * (seed, number) is the address of what is drawn. */
spot_status spot_model_check(spot_ctx *c, const spot_model_config *cfg);
spot_status spot_model_begin(spot_ctx *c, spot_arena *a, spot_model *m, int outputs, uint64_t seed, uint32_t number,
                             const spot_model_config *cfg, const spot_model *start);

/* Parts of steps that all nets take: the loss, with its gradients by the logits and, of triplets, by the features; the
 * gradients of unit u by its weights, and by its input. */
spot_status spot_net_loss(spot_ctx *c, spot_net *net, const float *target, int live, double *loss);
spot_status spot_net_weights_back(spot_ctx *c, spot_net *net, int u, const void *x, int rows);
spot_status spot_net_data_back(spot_ctx *c, spot_net *net, int u, void *dx, int rows);

/* The output of unit u for `live` images; rows are whole pieces. */
spot_plane spot_unit_output(int u, spot_net_shape s, int live);
size_t     spot_plane_bytes(spot_plane p);
size_t     spot_plane_numbers(spot_plane p);

/* The next `count` numbers of `from`, from number *at on; NULL while they are only counted. They begin at a multiple of
 * SPOT_ALIGN bytes, in net->rounded, too. */
float     *spot_net_deal(float *from, size_t *at, size_t count);

/* Checks the shape of either net. */
spot_status spot_net_check(spot_ctx *c, spot_net_shape s);

/* The shape of unit u's convolution. */
spot_conv_shape spot_unit_shape(int u, spot_net_shape s, bool train);

#endif
