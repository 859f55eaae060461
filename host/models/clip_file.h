/* clip_file.h - CLIP's weights in a file: whose names they have, the shapes that they tell, and the config beside them. */
#ifndef SPOTTER_CLIP_FILE_H
#define SPOTTER_CLIP_FILE_H

#include "formats/safetensors.h"
#include "spotter/encoder.h"

enum { SPOT_CLIP_IMAGE, SPOT_CLIP_TEXT, SPOT_CLIP_TOWERS };

/* A tower's tensors by name. Names of a norm or a product end in ".weight" and ".bias"; those of a block follow "block7.". */
typedef struct {
    const char *start;                         /* the weights of the patches, or the table of words */
    const char *first;                         /* the class token; NULL for text */
    const char *position, *before, *after;     /* before: NULL for text */
    const char *projection, *block;
    const char *norm1, *query, *key, *value, *out, *norm2, *up, *down;       /* of a block; query NULL: fused */
    const char *fused;                         /* its start: "attn.in_proj_" */
    bool turned;                               /* the projection is (width, dim) */
    const char *gamma1, *gamma2;               /* layer scales of a block, which need not be there; NULL: CLIP has none */
    const char *bias;                          /* of the patches; NULL: none */
} spot_clip_names;

typedef struct {
    spot_blob in;
    spot_tensors header;
    uint64_t data;                             /* where the tensors' bytes begin */
    const spot_clip_names *names[SPOT_CLIP_TOWERS];      /* NULL: no such tower */
    bool *known;                               /* (header.count): a name of the network */
    char head[200];                            /* a ViT's classifier, without ".weight"; "": none */
    spot_clip_info info;
} spot_clip_file;

bool spot_clip_is_in(const spot_tensors *header);       /* whether a tower's first tensor is there, or a ViT's */
bool spot_vit_is_in(const spot_tensors *header);

/* Opens the weights and their config; checks every name and shape. Close also after a failure. */
spot_status spot_clip_file_open(spot_ctx *c, spot_clip_file *f, const char *path, const spot_clip_options *o);
void        spot_clip_file_close(spot_clip_file *f);

/* "before" + "block" + number + name + "end"; the parts may be NULL, the number -1. */
typedef struct { char text[160]; } spot_clip_name;
spot_clip_name spot_clip_name_of(const char *block, int layer, const char *name, const char *end);

/* Whether queries, keys and values of a block, whose weights are one tensor, have a bias. Only a ViT with layer scales may lack
 * it. */
bool spot_clip_qkv_has_bias(const spot_clip_file *f, const spot_clip_names *n, int layer);

/* The tensor of that name, read as `count` floats; SPOT_INPUT if a number is not finite. */
spot_status spot_clip_read(spot_ctx *c, const spot_clip_file *f, float *out, spot_clip_name name, size_t count);

/* The tensor of that name is there, of a type that is read, and has this shape, which counts it as known; a dimension 0 may
 * have any size from 1 to `most`. */
spot_status spot_clip_expect(spot_ctx *c, spot_clip_file *f, spot_clip_name name, int rank, const int64_t *dim, int64_t most);
#define SPOT_EXPECT(c, f, name, most, ...)                                                                              \
    SPOT_TRY(spot_clip_expect((c), (f), (name), (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),            \
                              (const int64_t[]){ __VA_ARGS__ }, (most)))

/* The tensors of a tower of CLIP; they tell f->info its sizes. */
spot_status spot_clip_expect_images(spot_ctx *c, spot_clip_file *f);
spot_status spot_clip_expect_texts (spot_ctx *c, spot_clip_file *f);

/* Blocks and the norm behind them, for the tower's width; fills layers and hidden. */
spot_status spot_clip_expect_blocks(spot_ctx *c, spot_clip_file *f, int which, spot_clip_tower *t);

/* vit_file.c: a vision transformer by timm's names. expect fills f->info from the tensors, configure what no tensor tells. */
extern const spot_clip_names spot_vit_names;
#define SPOT_VIT_POOLED_NORM "fc_norm"                                /* the norm of a mean of patches */
const char        *spot_vit_registers(const spot_tensors *header);     /* the tensor's name; NULL: none */
const spot_tensor *spot_vit_head(const spot_tensors *header);
spot_status spot_vit_expect(spot_ctx *c, spot_clip_file *f);
spot_status spot_vit_configure(spot_ctx *c, spot_clip_file *f, const char *path, const spot_clip_options *o);

/* clip.c: pictures of a block of a CLIP with a tower for pictures. */
enum { SPOT_CLIP_MOST_PICTURES = 256 };
int spot_clip_block_of(const spot_ctx *c, const spot_clip_info *i);

/* Completes f->info by the config and by o; the sizes are known. */
spot_status spot_clip_configure(spot_ctx *c, spot_clip_file *f, const char *path, const spot_clip_options *o);

#endif
