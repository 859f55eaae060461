/* encoder.h - pictures or texts -> rows of features, by CLIP, a ViT, a ResNet or AlexNet, or neutral ones, for any number of
 * them.
 *
 *     weights + options -> encoder -> rows
 *
 * The tensors of the file decide which network it is; the word "neutral" in place of a file is an encoder that needs none:
 * statistics of a picture's colours and its edges, 148 numbers (host/models/neutral.h). A model that Spotter does not run
 * itself is a program (predictor.h): net.onnx, net.pt2, net.ts, timm:NAME:FILE, torchvision:NAME:FILE, or program:COMMAND. Its
 * rows are the program's embeddings; its name has the bytes of the file. A COMMAND is known by its answers (predictor.h): its
 * name has a hash of those to four pictures; where a run keeps answers that differ by rounding alone, it has their name.
 * Pictures are prepared as the network wants them: CLIP's by its own side, bicubic; a ResNet's and a program's by `resize` and
 * `crop`, neutral's by 64 and 64, bilinear (PIL's and torchvision's bytes, picture.h). All threads decode.
 *
 * Features of different encoders cannot be compared. So an encoder has a name, "clip-3f9a0c12d4e5b687": its kind and 64 bits of
 * the hash of its file of weights and of every option that changes its numbers. The tokenizer's vocabulary belongs to the
 * weights and is not part of the name. Whoever stores features or a threshold stores the name beside it and refuses another.
 *
 * run_to_run: the same bits for any number of threads. Rows are computed in blocks, which begin at the first row of a call and
 * have picture_block pictures or text_block texts each. A row does not depend on the rows of other blocks. On the rows of its
 * own block it may depend in its last bits, since a library's kernels are chosen by the number of rows (with oneDNN 2.6 on an
 * EPYC no bit of 40 pictures by one layer of ViT-B/32's shapes did). So a caller who works in several calls begins each at a
 * multiple of the block, and gets the same bits as in one call. */
#ifndef SPOTTER_ENCODER_H
#define SPOTTER_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/array.h"
#include "spotter/ctx.h"
#include "spotter/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CLIP ---- */

/* CLIP (Radford et al. 2021): pictures and texts -> vectors that can be compared. Vision transformers of any size.
 *
 * The weights are a .safetensors file with the names of Hugging Face (CLIPModel, or one tower with its projection) or of OpenAI
 * and open_clip, in F32, F16 or BF16. The tensors tell every size. Heads, activation and the rule of the end token are in no
 * tensor: they come from the config beside the file or from the caller, and what neither tells is an error, never a guess.
 *
 *     config.json              Hugging Face's, of CLIPModel or of a tower. Keys that it leaves out have the defaults of
 *                              transformers' CLIPConfig: 12 and 8 heads, quick_gelu, end token 49407, eps 1e-5
 *     open_clip_config.json    open_clip's (model_cfg, preprocess_cfg). Heads are 8 for text and width / 64 for pictures where
 *                              it leaves them out, as in open_clip. A key that changes the network in a way that Spotter does
 *                              not compute is refused, by its name
 *
 * A vision transformer alone, by timm's names or DINOv2's ("blocks.0.attn.qkv.weight"), runs by the same blocks, behind any
 * prefix: no norm in front of them, GELU, eps 1e-6, layer scales and registers where the file has them. Its feature is the
 * class token behind the last norm, or a mean of the patches, or both (spot_vit_pool tells when), not divided by its length; a
 * head (a linear layer as in model.h) makes it a classifier.
 * Heads of attention follow from the widths that timm and DINOv2 have (768: 12), or the caller tells them. Pictures have the
 * side that pos_embed tells, bicubic, less ImageNet's mean, by its deviation.
 *
 * A file with one tower serves that tower. fp32 by oneDNN on the CPU: embeddings are within 1e-4 of transformers' CLIPModel
 * (tests/test_clip_torch.sh), and so they are on CUDA. run_to_run: the same bits for any number of threads. */

typedef enum { SPOT_CLIP_ACT_OF_CONFIG, SPOT_CLIP_QUICK_GELU, SPOT_CLIP_GELU } spot_clip_activation;

/* The row of a text that becomes its embedding: at the greatest id (the first of equals), or at the first end token. */
typedef enum { SPOT_CLIP_END_OF_CONFIG, SPOT_CLIP_GREATEST_ID, SPOT_CLIP_FIRST_END } spot_clip_end;

/* The towers to load, which saves memory; a file with one tower keeps it. */
typedef enum { SPOT_CLIP_USE_BOTH, SPOT_CLIP_USE_IMAGES, SPOT_CLIP_USE_TEXTS } spot_clip_use;

/* Facts that the caller knows better than the config; all zero: the config decides. */
typedef struct {
    const char *config;                        /* a config's path; NULL: beside the weights */
    int image_heads, text_heads;
    spot_clip_activation activation;           /* of both towers */
    spot_clip_end end;
    int end_id;                                /* the end token of SPOT_CLIP_FIRST_END */
    spot_clip_use use;                         /* spot_clip_open has and tells these towers alone */
    spot_precision precision;                  /* of weights and products; SPOT_BF16 on the CPU needs AVX512-BF16 (conv.h) */
    int rows;                                  /* tokens of a batch, at least one picture or text; 0: 8,192, on a GPU 32,768 */
    spot_picture_input input;                  /* mean, std and scale; spot_encoder_open takes those of its own options */
} spot_clip_options;

typedef struct {
    int width, layers, heads, hidden;          /* hidden: width between the two products of a block */
    spot_clip_activation activation;
    float eps;                                 /* of layer norms */
} spot_clip_tower;

/* The feature of a ViT: the class token behind the last norm; the mean of the patches, of which the norm is taken (timm's
 * fc_norm); the mean of the patches behind the norm, where there is no class token; or the class token and that mean behind it,
 * where the head takes twice the width (DINOv2's linear classifier). */
typedef enum { SPOT_VIT_CLASS, SPOT_VIT_MEAN_NORM, SPOT_VIT_NORM_MEAN, SPOT_VIT_CLASS_MEAN } spot_vit_pool;

typedef struct {
    bool has_images, has_texts;
    int  dim;                                  /* numbers of an embedding */
    spot_clip_tower image, text;
    int  side, patch;                          /* pictures are (side, side); patches (patch, patch) */
    spot_pixel_rule pixels;                    /* the caller's, the config's, or OpenAI's, which nearly all models have */
    int  context, vocabulary;                  /* the most ids of a text; ids are below vocabulary */
    spot_clip_end end;
    int  end_id;
    float scale;                               /* logits = scale * cosine; NaN where the file has no logit_scale */
    size_t parameters;
    const char *names;                         /* "Hugging Face", "OpenAI" or "timm": whose names the tensors have */
    bool plain;                                /* a ViT alone, timm's: no norm before the blocks, no projection */
    int  outputs;                              /* of its head; 0: none */
    int  registers, placed;                    /* tokens behind the class token; tokens before the patches in pos_embed */
    bool classless;                            /* it has no class token */
    spot_vit_pool pool;
} spot_clip_info;

typedef struct spot_clip spot_clip;

/* Reads the header of the weights and the config. SPOT_INPUT for a file that is cut, hostile, of another network, or does not
 * fit its config; the sentence names tensor or key. */
spot_status spot_clip_describe(spot_ctx *c, spot_clip_info *info, const char *path, const spot_clip_options *o);

/* Loads the weights into a, an arena in memory of c's device (spot_arena_open_device). A counting arena: *clip is NULL. Close
 * before a. close accepts NULL. A clip serves one caller at a time. */
spot_status spot_clip_open(spot_ctx *c, spot_arena *a, spot_clip **clip, const char *path, const spot_clip_options *o);
void        spot_clip_close(spot_ctx *c, spot_clip *clip);

const spot_clip_info *spot_clip_info_of(const spot_clip *clip);

/* rgb (n, side, side, 3) bytes -> out (n, dim), on the host; rgb may lie in memory of c's device, too. unit: each embedding
 * divided by its length. scratch, in memory of c's device, is returned; a counting one only counts. The stop flag is looked at
 * between batches. SPOT_INPUT without such a tower; SPOT_NUMERIC names a picture whose embedding is not finite. */
spot_status spot_clip_images(spot_ctx *c, spot_arena *scratch, const spot_clip *clip, float *out, const uint8_t *rgb, int n,
                             bool unit);

/* The same, and logits (n, outputs) of a ViT with a head; logit NULL: not wanted. */
spot_status spot_clip_look(spot_ctx *c, spot_arena *scratch, const spot_clip *clip, float *out, float *logit,
                           const uint8_t *rgb, int n, bool unit);

/* ids (n, context) with length[i] ids in row i, the end token included -> out (n, dim). length NULL: whole rows. Ids behind the
 * end token cost nothing and change nothing. SPOT_INPUT names a text without an end token or with an id outside the
 * vocabulary. */
spot_status spot_clip_texts(spot_ctx *c, spot_arena *scratch, const spot_clip *clip, float *out, const int *ids,
                            const int *length, int n, bool unit);

/* ---- any encoder ---- */

typedef enum { SPOT_ENCODER_CLIP, SPOT_ENCODER_RESNET, SPOT_ENCODER_NEUTRAL, SPOT_ENCODER_VIT, SPOT_ENCODER_PROGRAM }
    spot_encoder_kind;
#define SPOT_NEUTRAL "neutral"

typedef struct {
    spot_clip_options clip;        /* CLIP: for facts that no tensor and no config tells; `use` does not change the name */
    const char *vocabulary;        /* CLIP's texts: file or folder of the tokenizer; NULL: the folder of the weights */
    bool   cut;                    /* a text that is too long is cut, and a warning counts such; false: SPOT_INPUT */
    int    resize, crop;           /* ResNet, program: shorter side, then central square; 256, 224; resize 0: none,
                                    * SPOT_SQUEEZE: whole pictures; of a CLIP or a ViT where input says so, and
                                    * crop is its side */
    size_t memory;                 /* most bytes for decoding pictures; 0: 2 GB */
    spot_picture_reading reading;  /* of pictures: array.h */
    spot_picture_input input;      /* as in predictor.h, and how pictures are resized */
} spot_encoder_options;

typedef struct {
    int  kind;                     /* spot_encoder_kind */
    char name[32];
    bool has_images, has_texts;
    int  dim;                      /* numbers of a row; 0: a program without embeddings */
    int  side;                     /* pixels a side of the network's input */
    int  outputs;                  /* ResNet, ViT: outputs of its head, 0 without; a program's logits; CLIP: 0 */
    int  context;                  /* CLIP: most ids of a text */
    float scale;                   /* CLIP: logits = scale * cosine; NaN where the file has none */
    size_t bytes;                  /* memory that it takes, with its scratch; without that of decoding */
    int  picture_block, text_block;
} spot_encoder_info;

typedef struct spot_encoder spot_encoder;

spot_encoder_options spot_encoder_defaults(void);

/* Loads the weights, in memory of c's device. A tokenizer is opened where the file has a tower for texts and the vocabulary is
 * there; else texts fail with SPOT_INPUT. A vocabulary that the options name must be good. One caller at a time. *e is NULL
 * after a failure; close accepts NULL. */
spot_status spot_encoder_open (spot_ctx *c, spot_encoder **e, const char *path, const spot_encoder_options *o);
void        spot_encoder_close(spot_ctx *c, spot_encoder *e);

const spot_encoder_info *spot_encoder_about(const spot_encoder *e);

/* Logs one line: how pictures enter the network, and `options`, by which that changes. Nothing of neutral. */
void spot_encoder_say_input(spot_ctx *c, const spot_encoder *e, const char *options);

/* SPOT_INPUT for a program that answers without embeddings. */
spot_status spot_encoder_check_features(spot_ctx *c, const spot_encoder *e);

/* "clip", "resnet", "neutral", "vit", "program" */
const char *spot_encoder_kind_name(int kind);

typedef struct {
    char *const *path;             /* (n) */
    int      n;
    float   *feature;              /* (n, dim) result: CLIP's rows of length 1, others as they are */
    float   *logit;                /* (n, outputs) result of a head or a program; NULL: not wanted */
    uint8_t *unreadable;           /* (n) result: 1 where the picture cannot be read, which has rows of zeros; NULL: the first
                                    * such picture is SPOT_INPUT */
    const char *stage;             /* name of the progress that is told; NULL: none */
    int      before, total;        /* progress counts from `before` of `total`, for work in several calls; 0, 0: this call's */
    size_t   memory;               /* most bytes for decoding; 0: as the options say */
    const float *box;              /* (n, 4): x, y, width, height in pixels of the part of each picture, cut at its border; a
                                    * picture of several rows in turn is decoded once; NULL: whole pictures */
    int     *skipped;              /* raised by the unreadable pictures; the first ten are named in the log; or NULL */
    const char *option;            /* what leaves unreadable pictures out, for the sentence of SPOT_INPUT; NULL: nothing does */
} spot_encoder_pictures;

/* The stop flag is looked at between blocks. SPOT_INPUT names the picture. */
spot_status spot_encode_pictures(spot_ctx *c, spot_encoder *e, const spot_encoder_pictures *p);

/* The same for pixels in memory: rgb (n, side, side, 3) bytes, on the host. logit may be NULL. */
spot_status spot_encode_pixels(spot_ctx *c, spot_encoder *e, float *feature, float *logit, const uint8_t *rgb, int n);

/* text (n), UTF-8 -> feature (n, dim), rows of length 1. Texts are lower-cased, and any spaces count as one. SPOT_INPUT names
 * the first text that is broken (not UTF-8, an HTML entity such as &amp;) or too long, before a row is computed. */
spot_status spot_encode_texts(spot_ctx *c, spot_encoder *e, float *feature, const char *const *text, int n);

typedef struct {
    const char *const *text;       /* (n) */
    int      n;
    float   *feature;              /* (n, dim) result */
    bool     quiet;                /* no warnings about texts, because spot_encoder_check_texts gave them */
    const char *stage;             /* the last three as in spot_encoder_pictures */
    int      before, total;
} spot_encoder_texts;

/* The same with progress; the stop flag is looked at between blocks. */
spot_status spot_encode_text_rows(spot_ctx *c, spot_encoder *e, const spot_encoder_texts *t);

/* Fails and warns as spot_encode_texts, and computes nothing. */
spot_status spot_encoder_check_texts(spot_ctx *c, const spot_encoder *e, const char *const *text, int n);

/* The CLIP of a sweep, whose features are those of `representation: clip`. The shape is checked against the file, so that a
 * table knows it when the file is gone: VIT_B_32 has 12 blocks of width 768 on patches of 32 of 224 pixels, and rows of 512
 * numbers. */
typedef enum { SPOT_ENCODER_VIT_B_32, SPOT_ENCODER_OTHER } spot_encoder_shape;

typedef struct {
    const char *weights;           /* .safetensors; "neutral", which is of SPOT_ENCODER_OTHER; "": none */
    const char *config;            /* "": beside the weights */
    int  shape;                    /* spot_encoder_shape */
    int  precision;                /* spot_precision of CLIP's products */
} spot_encoder_config;

/* Fills *about without memory and blocks of texts, from the header, the config and the hash of the file. SPOT_INPUT for another
 * network than CLIP, a CLIP without a tower for pictures, and another shape than cfg's. */
spot_status spot_encoder_describe(spot_ctx *c, spot_encoder_info *about, const spot_encoder_config *cfg);

/* spot_encoder_open after these checks, and a trial with one picture: SPOT_UNSUPPORTED where c's device lacks a kernel. */
spot_status spot_encoder_open_config(spot_ctx *c, spot_encoder **e, const spot_encoder_config *cfg);

#ifdef __cplusplus
}
#endif
#endif
