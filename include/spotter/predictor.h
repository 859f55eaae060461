/* predictor.h - a classifier as a black box: pixels -> logits and, where it can, embeddings and the activity of channels.
 *
 * It is a file of weights that Spotter runs itself (ResNet of any depth or AlexNet, torchvision's
 * names; a vision transformer with a head, timm's), any program that speaks the protocol below, or a function.
 *
 * The protocol of a program: it is started once. On its standard input come batches, on its standard output it answers each
 * with three arrays; all are NumPy arrays in the bytes of a .npy file (version 1.0), one behind the other:
 *
 *     in    uint8   (n, side, side, 3)    pixels, RGB
 *     out   float32 (n, outputs)          logits
 *     out   float32 (n, dim)              embedding before the last layer; dim 0: none
 *     out   float32 (n, channels)         activity of each channel of each layer, scaled (below); channels 0: none
 *
 * outputs, dim and channels are the same in every answer, n is the batch's. The end of its input asks it to end. Lines that it
 * writes to standard error go to the log. numpy.load and numpy.save seek in what they read and write, which a pipe cannot:
 * numpy.lib.format.read_array reads from an object that has nothing but read(), and numpy.save writes to an io.BytesIO.
 * tools/python/examples/protocol.py does so in ten lines, and has a network of PyTorch behind them.
 *
 * Which program it is: every command that keeps results or features (examine, background, shifts, discover, embed) knows a
 * program by its answers, not by its command.
 * A run keeps 4 pictures of Spotter's own and up to 8 of the study, with the program's answers to them
 * (DIR/programs/IDENTITY.safetensors). Every later run asks the same pictures again. The program is the same one where no
 * logit, embedding or channel differs by more than 1e-4 of the spread of its array (the most by which a column varies between
 * the kept pictures) plus 1e-5 of the number itself: the last bits of another thread count, machine or batch stay below that,
 * and a network that was trained further does not. Else a sentence says how far off it is, and what the program answered is
 * computed again; results of both are never mixed. A program whose answers vary from run to run, as with dropout left on, is a
 * new one each time. `identity` names a program instead: then nothing is asked, and who trains it again changes the name.
 *
 * Activity of a channel, for neuron coverage (Pei et al. 2017, DeepXplore): the least and the greatest number of the whole
 * output of a layer for one picture become 0 and 1; the channel's value is its mean over the pixels. Where all numbers of the
 * output are equal, it is 0. Layers of a ResNet, in order: the stem behind its ReLU; of each block all convolutions but
 * the last, behind their ReLUs, and the sum behind its ReLU, which holds the last convolution and that of the shortcut. At
 * width 64 ResNet-18's have 3904 channels, ResNet-34's 7616, ResNet-50's 22,720. AlexNet's are its five convolutions and its
 * two hidden linear layers, each behind its ReLU: 9344 channels. */
#ifndef SPOTTER_PREDICTOR_H
#define SPOTTER_PREDICTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/array.h"
#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MAX_PREDICTOR_OUTPUTS 100000

typedef enum { SPOT_PREDICTOR_WEIGHTS, SPOT_PREDICTOR_COMMAND, SPOT_PREDICTOR_FUNCTION } spot_predictor_kind;

/* One batch: the caller owns all arrays. embedding and channel may be NULL: not wanted; they must be NULL where the predictor
 * has none. */
typedef struct {
    const uint8_t *rgb;            /* (n, side, side, 3); for weights, also in the memory of c's device */
    int    n, side;
    float *logit;                  /* (n, outputs) result */
    float *embedding;              /* (n, dim) result */
    float *channel;                /* (n, channels) result */
} spot_prediction;

/* SPOT_PREDICTOR_FUNCTION calls it to fill the wanted arrays. It returns SPOT_OK, or a failure with a sentence (spot_fail). */
typedef spot_status (*spot_predict_function)(spot_ctx *c, void *user, const spot_prediction *p);

typedef struct {
    int    kind;                   /* spot_predictor_kind */
    const char *weights;           /* .safetensors: ResNets and AlexNet by torchvision's names, ViTs by timm's (encoder.h) */
    const char *command;           /* a line for /bin/sh */
    double patience;               /* seconds that a program may take for one answer; 0: 600 */
    spot_predict_function function;
    void  *user;
    int    outputs, dim, channels; /* of the function */
    const char *identity;          /* of the function or the program: its results are stored under it ("", NULL: the command; a
                                    * function without one is never found again), and a study asks no kept pictures */
    int    side;                   /* pixels a side of every batch; for weights a multiple of 32, for AlexNet from 64 on,
                                    * for a ViT the side of its positions */
    int    precision;              /* spot_precision (model.h) of a network of weights */
    int    batch;                  /* most pictures of a batch for a program or a function; 0: 64 */
    spot_picture_input input;      /* mean, std and scale of weights; a model that the Python package's predictor opens gets
                                    * them as options, and any other program or a function, whose numbers are its own, is
                                    * SPOT_USAGE */
} spot_predictor_options;

typedef struct {
    int    kind;
    int    outputs;                /* a program's: known from answers to one grey picture and to two, which open asks for */
    int    dim, channels;          /* 0: none */
    int    side;                   /* pixels a side of every batch */
    int    batch;                  /* pictures of a call by which it works well; any number is right */
    char   identity[48];           /* "resnet-3f9a0c12d4e5b687", "command-...", "function-...": a hash of what it is. A study
                                    * adds "-..." for the answers of a program */
    size_t bytes;                  /* memory that it takes in this process, with its scratch */
} spot_predictor_info;

typedef struct spot_predictor spot_predictor;

/* SPOT_INPUT: unreadable weights, a program that cannot be started, dies or answers wrongly (the sentence has its exit code and
 * the last line that it wrote to standard error). *p is NULL after a failure; close accepts NULL. A program is closed by the
 * end of its input; after 5 s it is killed. Processes that it started are killed with it, unless they left its group. */
spot_status spot_predictor_open (spot_ctx *c, spot_predictor **p, const spot_predictor_options *o);
void        spot_predictor_close(spot_ctx *c, spot_predictor *p);

const spot_predictor_info *spot_predictor_about(const spot_predictor *p);

/* Any n; cut into batches. The stop flag is looked at between batches and while a program is waited for. SPOT_INPUT for an
 * answer of a wrong shape or type, a number that is not finite (the sentence names the picture of the call), an answer later
 * than `patience`. After such a failure of a program, and after SPOT_STOPPED, every other call fails: close it. run_to_run for
 * weights: a picture's numbers do not depend on the others of its batch. */
spot_status spot_predict(spot_ctx *c, spot_predictor *p, const spot_prediction *q);

#ifdef __cplusplus
}
#endif
#endif
