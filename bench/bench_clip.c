/* bench_clip.c - CLIP's towers at true sizes with random weights. Peer: bench/peers/clip_torch.py. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bf16.h"
#include "core/device.h"
#include "models/clip_tower.h"

enum { IMAGES, TEXTS };

typedef struct {
    spot_arena a, scratch;
    spot_clip *clip;
    uint8_t   *rgb;                    /* (n, side, side, 3) */
    int       *ids, *length;           /* (n, context), (n) */
    float     *out;                    /* (n, dim) */
    int        what, n;
} clip_state;

/* ViT-B of 12 blocks. small: a network of 2 blocks for tests. */
static spot_clip_info sizes_of(int what, int patch, bool small)
{
    spot_clip_tower image = { 768, 12, 12, 3072, SPOT_CLIP_QUICK_GELU, 1e-5f };
    spot_clip_tower text = { 512, 12, 8, 2048, SPOT_CLIP_QUICK_GELU, 1e-5f };
    spot_clip_info i = { .has_images = what == IMAGES, .has_texts = what == TEXTS, .dim = small ? 16 : 512, .image = image,
                         .text = text, .side = small ? 32 : 224, .patch = patch, .context = 77,
                         .pixels = { 255, { 0 }, { 1, 1, 1 } }, .vocabulary = small ? 100 : 49408,
                         .end = SPOT_CLIP_GREATEST_ID };

    if (small) i.image = i.text = (spot_clip_tower){ 32, 2, 2, 128, SPOT_CLIP_QUICK_GELU, 1e-5f };
    return i;
}

/* The ids of a caption: captions of COCO have 8 to 22 ids with both ends, 12 or 13 in the middle. The peer has the same. */
static int caption_length(int i) { return 8 + (i * 7 % 5) + (i * 11 % 4) + i * 13 % 3 + (i % 50 == 0 ? 6 : 0); }

static spot_status make_inputs(spot_ctx *c, clip_state *s, const spot_clip_info *i)
{
    size_t pixels = (size_t)s->n * i->side * i->side * 3;

    s->rgb = malloc(pixels);
    s->ids = calloc((size_t)s->n * i->context, sizeof *s->ids);
    s->length = malloc((size_t)s->n * sizeof *s->length);
    s->out = malloc((size_t)s->n * i->dim * sizeof *s->out);
    if (!s->rgb || !s->ids || !s->length || !s->out) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    for (size_t k = 0; k < pixels; k++) s->rgb[k] = (uint8_t)(k * 2654435761u >> 13);
    for (int k = 0; k < s->n; k++) {
        int *id = s->ids + (size_t)k * i->context;
        s->length[k] = caption_length(k);
        for (int t = 0; t < s->length[k]; t++) id[t] = (k * 31 + t * 17) % (i->vocabulary - 2);
        id[s->length[k] - 1] = i->vocabulary - 1;
    }
    return SPOT_OK;
}

static spot_status run_clip(spot_ctx *c, void *p)
{
    clip_state *s = p;

    if (s->what == IMAGES) return spot_clip_images(c, &s->scratch, s->clip, s->out, s->rgb, s->n, true);
    return spot_clip_texts(c, &s->scratch, s->clip, s->out, s->ids, s->length, s->n, true);
}

/* Two operations for each product of the blocks, the patches and the projection, of the tokens that there are. Behind the keys
 * and values of its last block a tower computes one row of a picture or text. */
static double flops_of(const spot_clip_info *i, const clip_state *s)
{
    const spot_clip_tower *t = s->what == IMAGES ? &i->image : &i->text;
    double across = i->side / i->patch, w = t->width, rows = 0, pairs = 0;

    for (int k = 0; k < s->n; k++) {
        double n = s->what == IMAGES ? across * across + 1 : s->length[k];
        rows += n, pairs += n * n;
    }
    return 2 * (t->layers - 1) * (rows * (4 * w * w + 2 * w * t->hidden) + 2 * pairs * w)
         + 2 * (rows * 3 * w * w + s->n * (w * w + 2 * w * t->hidden) + 2 * rows * w)
         + (s->what == IMAGES ? 2 * s->n * across * across * 3 * i->patch * i->patch * w : 0) + 2.0 * s->n * w * i->dim;
}

/* Numbers up to 0.06 whose two halves are the same bf16: packed weights are fp32 or bf16. */
static spot_status fill_weights(spot_ctx *c, spot_arena *a)
{
    size_t n = a->used / sizeof(uint32_t);
    uint32_t *word = malloc(n * sizeof *word);
    spot_status s;

    if (!word) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    for (size_t k = 0; k < n; k++) {
        uint32_t half = spot_bf16_bits((float)((int)(k * 2654435761u >> 16 & 0xffff) - 0x8000) * (0.06f / 0x8000));
        word[k] = half << 16 | half;
    }
    s = spot_device_copy(c, a->base, word, n * sizeof *word);
    free(word);
    return s;
}

/* size: what, patch, pictures or texts, small, precision. */
static spot_status open_state(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    spot_clip_info info = sizes_of(size[0], size[1], size[3]);
    spot_arena count = spot_arena_counting();
    clip_state *s = *out = calloc(1, sizeof *s);

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->what = size[0], s->n = size[2];
    SPOT_TRY(spot_clip_blank(c, &count, &s->clip, &info, (spot_precision)size[4]));
    SPOT_TRY(spot_arena_open_device(c, &s->a, count.peak));
    SPOT_TRY(spot_clip_blank(c, &s->a, &s->clip, &info, (spot_precision)size[4]));
    SPOT_TRY(fill_weights(c, &s->a));
    SPOT_TRY(make_inputs(c, s, &info));
    *work = (spot_bench_work){ .items = s->n, .flops = flops_of(&info, s), .matrix = true };
    count = spot_arena_counting();
    if (s->what == IMAGES) SPOT_TRY(spot_clip_images(c, &count, s->clip, NULL, NULL, s->n, true));
    else SPOT_TRY(spot_clip_texts(c, &count, s->clip, NULL, NULL, NULL, s->n, true));
    return spot_arena_open_device(c, &s->scratch, count.peak);
}

static void close_state(spot_ctx *c, void *p)
{
    clip_state *s = p;

    spot_clip_close(c, s->clip);
    spot_arena_close(&s->a);
    spot_arena_close(&s->scratch);
    free(s->rgb), free(s->ids), free(s->length), free(s->out);
    free(s);
}

/* The last picture or text alone gives what it gives among the others, and another than the first. */
static spot_status check_clip(spot_ctx *c, void *p)
{
    clip_state *s = p;
    const spot_clip_info *i = spot_clip_info_of(s->clip);
    int last = s->n - 1, d = i->dim;
    size_t picture = (size_t)i->side * i->side * 3;
    float alone[512];
    double apart = 0;

    SPOT_TRY(run_clip(c, p));
    if (s->what == IMAGES) SPOT_TRY(spot_clip_images(c, &s->scratch, s->clip, alone, s->rgb + last * picture, 1, true));
    else SPOT_TRY(spot_clip_texts(c, &s->scratch, s->clip, alone, s->ids + (size_t)last * i->context, NULL, 1, true));
    for (int k = 0; k < d; k++) {
        apart += fabs(alone[k] - s->out[k]);
        SPOT_TRY(spot_bench_near(c, "number", (size_t)k, s->out[(size_t)last * d + k], alone[k], 1e-5));
    }
    return apart > 1e-6 ? SPOT_OK : spot_fail(c, SPOT_CHECK, "different inputs have the same embedding");
}

static const spot_bench_kind kind = { open_state, check_clip, run_clip, close_state };

const spot_bench_row spot_bench_clip[] = {
    { "clip", "ViT-B/32, 32 pictures", "pictures", SPOT_ON_CPU, &kind, { IMAGES, 32, 32 }, { IMAGES, 8, 5, 1 } },
    { "clip", "ViT-B/16, 8 pictures", "pictures", SPOT_ON_CPU, &kind, { IMAGES, 16, 8 }, { IMAGES, 4, 3, 1 } },
    { "clip", "ViT-B/32, 32 pictures, bf16", "pictures", SPOT_ON_CPU, &kind, { IMAGES, 32, 32, 0, SPOT_BF16 },
      { IMAGES, 8, 5, 1, SPOT_BF16 } },
    { "clip", "ViT-B/16, 8 pictures, bf16", "pictures", SPOT_ON_CPU, &kind, { IMAGES, 16, 8, 0, SPOT_BF16 },
      { IMAGES, 4, 3, 1, SPOT_BF16 } },
    { "clip", "ViT-B/32, 250 captions", "texts", SPOT_ON_CPU, &kind, { TEXTS, 32, 250 }, { TEXTS, 8, 30, 1 } },
    { "clip", "ViT-B/16, 1,328 pictures, bf16", "pictures", SPOT_ON_CUDA, &kind, { IMAGES, 16, 1328, 0, SPOT_BF16 },
      { IMAGES, 4, 3, 1, SPOT_BF16 } },
    { "clip", "ViT-B/16, 1,328 pictures, fp32", "pictures", SPOT_ON_CUDA, &kind, { IMAGES, 16, 1328 }, { IMAGES, 8, 3, 1 } },
    { "clip", "ViT-B/16's captions, 100,000, bf16", "texts", SPOT_ON_CUDA, &kind, { TEXTS, 16, 100000, 0, SPOT_BF16 },
      { TEXTS, 8, 20, 1, SPOT_BF16 } },
    { .op = NULL },
};
