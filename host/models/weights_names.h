/* weights_names.h - which network the names and shapes of a file's tensors tell, and which tensor is which. */
#ifndef SPOTTER_WEIGHTS_NAMES_H
#define SPOTTER_WEIGHTS_NAMES_H

#include "formats/safetensors.h"
#include "models/network.h"

typedef struct {
    int  arch, width, outputs;         /* outputs 0: the file has no head */
    char prefix[160];                  /* stands before every name of the body: "", "module.", "model.backbone." */
    char head[200];                    /* the whole name of the head without ".weight"; "": none */
    bool bias;                         /* the head has one */
    bool numbered;                     /* layers are called 0, 1, 4 to 7, as in Sequential(*net.children()) */
    bool shortcut;                     /* "shortcut" stands for "downsample" */
} spot_weights_names;

typedef struct { char text[256]; } spot_weights_name;

/* Whether a file holds one of these networks, or parts of one. */
bool spot_weights_known(const spot_tensors *file);

/* SPOT_INPUT for a file that holds none or several, or one whose first layers fit no network; path is for sentences. */
spot_status spot_weights_find(spot_ctx *c, spot_weights_names *n, const spot_tensors *file, const char *path);

/* The file's name of a tensor of spot_model_layout: "layer1.0.conv1.weight" -> "module.4.0.conv1.weight". */
spot_weights_name spot_weights_name_of(const spot_weights_names *n, const char *name);

/* Whether a name without a prefix is that of a head's weights, "fc.1.weight". */
bool spot_weights_is_head(const char *name);

/* "(64, 3, 7, 7)" */
void spot_shape_words(char *text, size_t size, int rank, const int64_t *dim);

/* Words for the log about all that differs from torchvision's file; empty where nothing does. */
void spot_weights_words(char *text, size_t size, const spot_weights_names *n);

#endif
