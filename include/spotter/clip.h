/* clip.h - CLIP (Radford et al. 2021): pictures and texts -> vectors that can be compared. Vision transformers of any size.
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
 * A file with one tower serves that tower. fp32 by oneDNN on the CPU: embeddings are within 1e-4 of transformers' CLIPModel
 * (tests/test_clip_torch.sh), and so they are on CUDA. run_to_run: the same bits for any number of threads. */
#ifndef SPOTTER_CLIP_H
#define SPOTTER_CLIP_H

#include <stdbool.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/model.h"

#ifdef __cplusplus
extern "C" {
#endif

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
} spot_clip_options;

typedef struct {
    int width, layers, heads, hidden;          /* hidden: width between the two products of a block */
    spot_clip_activation activation;
    float eps;                                 /* of layer norms */
} spot_clip_tower;

typedef struct {
    bool has_images, has_texts;
    int  dim;                                  /* numbers of an embedding */
    spot_clip_tower image, text;
    int  side, patch;                          /* pictures are (side, side); patches (patch, patch) */
    float mean[3], std[3];                     /* of pixels / 255: the config's, or OpenAI's, which nearly all models have */
    int  context, vocabulary;                  /* the most ids of a text; ids are below vocabulary */
    spot_clip_end end;
    int  end_id;
    float scale;                               /* logits = scale * cosine; NaN where the file has no logit_scale */
    size_t parameters;
    const char *names;                         /* "Hugging Face" or "OpenAI": whose names the tensors have */
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

/* ids (n, context) with length[i] ids in row i, the end token included -> out (n, dim). length NULL: whole rows. Ids behind the
 * end token cost nothing and change nothing. SPOT_INPUT names a text without an end token or with an id outside the
 * vocabulary. */
spot_status spot_clip_texts(spot_ctx *c, spot_arena *scratch, const spot_clip *clip, float *out, const int *ids,
                            const int *length, int n, bool unit);

#ifdef __cplusplus
}
#endif
#endif
