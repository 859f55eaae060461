/* clip_tower.h - a tower of CLIP, ready to run: plans, weights on the device, and the way through its blocks. */
#ifndef SPOTTER_CLIP_TOWER_H
#define SPOTTER_CLIP_TOWER_H

#include "models/clip_file.h"
#include "net/attention.h"
#include "net/layernorm.h"
#include "net/linear.h"
#include "net/tokens.h"

/* The four products of a block, that of the patches, and the projection. */
enum { SPOT_CLIP_QKV, SPOT_CLIP_OUT, SPOT_CLIP_UP, SPOT_CLIP_DOWN, SPOT_CLIP_OF_BLOCK, SPOT_CLIP_PATCHES = SPOT_CLIP_OF_BLOCK,
       SPOT_CLIP_PROJECTION, SPOT_CLIP_PLANS };

typedef struct {
    spot_layernorm norm1, norm2;
    void  *w[SPOT_CLIP_OF_BLOCK];              /* packed */
    float *b[SPOT_CLIP_OF_BLOCK];
} spot_clip_block;

typedef struct {
    spot_clip_tower shape;
    int  dim, patch;                           /* dim 0: a ViT without a head; patch 0: text */
    int  feature;                              /* numbers behind the last norm: width, or twice as many */
    bool plain;                                /* spot_clip_info */
    spot_vit_pool pool;
    int  front;                                /* tokens before the patches of a picture: the class token and registers */
    int  positions;                            /* rows of the longest sequence */
    int  words;                                /* rows of the table; 0: pictures */
    spot_precision precision, qkv;             /* qkv: of q, k and v (spot_attention_reads) */
    spot_linear *plan[SPOT_CLIP_PLANS];
    spot_clip_block *block;                    /* (layers), on the host */
    void  *patches, *projection;               /* packed */
    float *table, *first, *position;           /* first (front, width) */
    float *head;                               /* (dim): bias of a ViT's head */
    spot_layernorm before, after;
} spot_clip_net;

/* Lists of a batch: attention.h's start and only; the id of each row of texts, and its place in its text. */
typedef struct { int *start, *only, *id, *place; } spot_clip_lists;

/* Memory for a batch, of c's device. */
typedef struct {
    uint8_t *rgb;                              /* (sequences) pictures, on a device that is not the host; else NULL */
    float *x, *last;                           /* (rows, width) tokens; (sequences, width) those that become embeddings */
    void  *narrow, *wide;                      /* (rows, width), and (rows, 3 width or hidden) or patches and their products */
    spot_clip_lists at, own;                   /* own: on the host, where the caller fills them; the same arrays on the CPU */
    size_t numbers;                            /* of all lists, which are one piece of memory */
    void  *scratch, *desk;                     /* of linear.h, of attention.h */
} spot_clip_work;

/* Plans and memory in a, not filled. Close also after a failure. */
spot_status spot_clip_net_open(spot_ctx *c, spot_arena *a, spot_clip_net *net, const spot_clip_info *info, int which,
                               spot_precision precision);
void        spot_clip_net_close(spot_ctx *c, spot_clip_net *net);

/* Weights of the file -> net. */
spot_status spot_clip_net_load(spot_ctx *c, spot_clip_net *net, const spot_clip_file *f, int which);

/* Give back also after a failure. */
spot_status spot_clip_work_take(spot_ctx *c, spot_arena *a, spot_clip_work *w, const spot_clip_net *net, int rows,
                                int sequences);
void        spot_clip_work_give(spot_ctx *c, spot_clip_work *w);

/* The lists on the host -> those that kernels read. */
spot_status spot_clip_work_list(spot_ctx *c, const spot_clip_work *w);

/* Tokens w->x of w->at.start[sequences] rows -> the embeddings of the rows w->at.only, in *out (sequences, dim), memory of w;
 * of a ViT its features, (sequences, feature), and in *logit (sequences, dim) where it has a head; else *logit stays. rows:
 * w->own.start[sequences]. */
spot_status spot_clip_net_run(spot_ctx *c, const spot_clip_net *net, spot_clip_work *w, float **out, float **logit, int rows,
                              int sequences);

/* A CLIP of these sizes whose weights nobody has set, for benches, which fill a's memory with numbers. encoder.h says the
 * rest. */
spot_status spot_clip_blank(spot_ctx *c, spot_arena *a, spot_clip **clip, const spot_clip_info *info, spot_precision precision);

#endif
