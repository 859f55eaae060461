/* clip_bed.h - an open CLIP, the inputs of a golden file and what is wanted of them. */
#ifndef SPOTTER_CLIP_BED_H
#define SPOTTER_CLIP_BED_H

#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "formats/safetensors.h"
#include "spotter/encoder.h"

#define QUICK "golden/clip/quick/"
#define EXACT "golden/clip/exact/"

static const spot_clip_options as_told;

typedef struct {
    spot_ctx c;
    spot_arena a, scratch;
    spot_clip *clip;
    const spot_clip_info *info;
    spot_tensors want;
    int n;
    uint8_t *pixels;
    int *ids, *length;
    float *image, *text;
} bed;

static inline void *copy_of(const spot_tensors *t, const char *name)
{
    const spot_tensor *e = spot_tensors_find(t, name);
    void *v = malloc(e->bytes + 1);

    memcpy(v, e->data, e->bytes);
    return v;
}

static inline void open_clip(bed *b, const char *path, const spot_clip_options *o)
{
    spot_arena count = spot_arena_counting();

    CHECK_OK(&b->c, spot_clip_open(&b->c, &count, &b->clip, path, o));
    assert_null(b->clip);
    CHECK_OK(&b->c, spot_arena_open(&b->c, &b->a, count.peak));
    CHECK_OK(&b->c, spot_clip_open(&b->c, &b->a, &b->clip, path, o));
    assert_int_equal(b->a.peak, count.peak);
    b->info = spot_clip_info_of(b->clip);
}

/* `wanted`: the folder of want.safetensors. */
static inline bed make_bed(const char *model, const char *wanted, const spot_clip_options *o, int threads)
{
    bed b = { .c = check_ctx(threads) };
    spot_arena count = spot_arena_counting();
    char path[512];

    open_clip(&b, model, o);
    snprintf(path, sizeof path, "%s/want.safetensors", wanted);
    CHECK_OK(&b.c, spot_tensors_open(&b.c, &b.want, path));
    b.n = (int)spot_tensors_find(&b.want, "length")->dim[0];
    b.pixels = copy_of(&b.want, "pixels"), b.ids = copy_of(&b.want, "ids"), b.length = copy_of(&b.want, "length");
    b.image = malloc((size_t)b.n * b.info->dim * sizeof(float)), b.text = malloc((size_t)b.n * b.info->dim * sizeof(float));
    if (b.info->has_images) CHECK_OK(&b.c, spot_clip_images(&b.c, &count, b.clip, NULL, NULL, b.n, true));
    if (b.info->has_texts) CHECK_OK(&b.c, spot_clip_texts(&b.c, &count, b.clip, NULL, NULL, NULL, b.n, true));
    CHECK_OK(&b.c, spot_arena_open(&b.c, &b.scratch, count.peak));
    return b;
}

static inline void clear_bed(bed *b)
{
    spot_clip_close(&b->c, b->clip);
    spot_arena_close(&b->a), spot_arena_close(&b->scratch);
    if (b->want.count) spot_tensors_close(&b->want);
    free(b->pixels), free(b->ids), free(b->length), free(b->image), free(b->text);
}

static inline void embed(bed *b, bool unit)
{
    if (b->info->has_images)
        CHECK_OK(&b->c, spot_clip_images(&b->c, &b->scratch, b->clip, b->image, b->pixels, b->n, unit));
    if (b->info->has_texts)
        CHECK_OK(&b->c, spot_clip_texts(&b->c, &b->scratch, b->clip, b->text, b->ids, b->length, b->n, unit));
    assert_int_equal(b->scratch.used, 0);
}

static inline double dot(const float *a, const float *b, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += (double)a[i] * b[i];
    return sum;
}

/* The worst distance of two embeddings divided by their lengths; least: their least cosine. */
static inline double worst_of(const bed *b, const float *got, const char *name, double *least)
{
    float *want = copy_of(&b->want, name);
    int d = b->info->dim;
    double worst = 0;

    for (int i = 0; i < b->n; i++) {
        const float *g = got + (size_t)i * d, *w = want + (size_t)i * d;
        double lg = sqrt(dot(g, g, d)), lw = sqrt(dot(w, w, d)), cosine = dot(g, w, d) / (lg * lw);
        assert_true(isfinite(lg) && lw > 0);
        *least = fmin(*least, cosine);
        for (int k = 0; k < d; k++) worst = fmax(worst, fabs(g[k] / lg - w[k] / lw));
        CHECK_NEAR(lg / lw, 1, 1e-4);
    }
    free(want);
    return worst;
}

#endif
