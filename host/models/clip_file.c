/* clip_file.c - the tensors of a CLIP: shapes and numbers. */
#include "models/clip_file.h"

#include <stdio.h>
#include <string.h>

#include "models/finite.h"
#include "models/weights_names.h"

/* Greater sizes are no network's, and their products would not fit into an int. */
enum { MOST_WIDTH = 1 << 14, MOST_DIM = 1 << 14, MOST_HIDDEN = 1 << 17, MOST_WORDS = 1 << 24, MOST_LAYERS = 1 << 10,
       MOST_CONTEXT = 1 << 16, MOST_PATCH = 1 << 10, MOST_TOKENS = 1 << 16, CHUNK = 1 << 14 };

spot_clip_name spot_clip_name_of(const char *block, int layer, const char *name, const char *end)
{
    spot_clip_name n;
    char number[16] = "";

    if (layer >= 0) snprintf(number, sizeof number, "%d.", layer);
    snprintf(n.text, sizeof n.text, "%s%s%s%s", block ? block : "", number, name, end ? end : "");
    return n;
}

static bool exists(const spot_clip_file *f, const char *name) { return spot_tensors_find(&f->header, name) != NULL; }

/* -- shapes ------------------------------------------------------------------------------------------------------- */

spot_status spot_clip_expect(spot_ctx *c, spot_clip_file *f, spot_clip_name name, int rank, const int64_t *dim, int64_t most)
{
    const spot_tensor *t = spot_tensors_find(&f->header, name.text);
    char have[128], want[128];
    bool same = t && t->rank == rank;
    size_t count = 1;

    if (!t)
        return spot_fail(c, SPOT_INPUT, "{clip_file.no_tensor} %s has no tensor %s: it is cut, or not CLIP's vision "
                         "transformer with %s's names", f->in.name, name.text, f->info.names);
    if (t->type != SPOT_F32 && t->type != SPOT_F16 && t->type != SPOT_BFLOAT16)
        return spot_fail(c, SPOT_INPUT, "{clip_file.type} %s: %s is of type %.20s; F32, F16 and BF16 are read", f->in.name,
                         name.text, t->dtype);
    for (int i = 0; same && i < rank; i++) {
        same = dim[i] ? t->dim[i] == dim[i] : t->dim[i] > 0 && t->dim[i] <= most;
        count *= (size_t)t->dim[i];
    }
    spot_shape_words(have, sizeof have, t->rank, t->dim);
    spot_shape_words(want, sizeof want, rank, dim);
    if (!same)
        return spot_fail(c, SPOT_INPUT, "{clip_file.shape} %s: %s has the shape %s where %s is wanted (0: from 1 to %lld)",
                         f->in.name, name.text, have, want, (long long)most);
    f->known[t - f->header.tensor] = true;
    f->info.parameters += count;
    return SPOT_OK;
}

static int64_t size_of(const spot_clip_file *f, const char *name, int i)
{
    return spot_tensors_find(&f->header, name)->dim[i];
}

static spot_status expect_pair(spot_ctx *c, spot_clip_file *f, const char *block, int layer, const char *name, int64_t out,
                               int64_t in)
{
    if (in) SPOT_EXPECT(c, f, spot_clip_name_of(block, layer, name, ".weight"), 1, out, in);
    else    SPOT_EXPECT(c, f, spot_clip_name_of(block, layer, name, ".weight"), 1, out);
    SPOT_EXPECT(c, f, spot_clip_name_of(block, layer, name, ".bias"), 1, out);
    return SPOT_OK;
}

/* timm has the same names for blocks without this bias and without layer scales whose norms stand elsewhere. */
bool spot_clip_qkv_has_bias(const spot_clip_file *f, const spot_clip_names *n, int layer)
{
    return exists(f, spot_clip_name_of(n->block, layer, n->fused, "bias").text)
           || !n->gamma1 || !exists(f, spot_clip_name_of(n->block, layer, n->gamma1, NULL).text);
}

static spot_status expect_block(spot_ctx *c, spot_clip_file *f, const spot_clip_names *n, int layer, int64_t width,
                                int64_t hidden)
{
    const char *const part[] = { n->query, n->key, n->value };

    SPOT_TRY(expect_pair(c, f, n->block, layer, n->norm1, width, 0));
    for (int i = 0; n->query && i < 3; i++) SPOT_TRY(expect_pair(c, f, n->block, layer, part[i], width, width));
    if (!n->query) {
        SPOT_EXPECT(c, f, spot_clip_name_of(n->block, layer, n->fused, "weight"), 1, 3 * width, width);
        if (spot_clip_qkv_has_bias(f, n, layer))
            SPOT_EXPECT(c, f, spot_clip_name_of(n->block, layer, n->fused, "bias"), 1, 3 * width);
    }
    SPOT_TRY(expect_pair(c, f, n->block, layer, n->out, width, width));
    SPOT_TRY(expect_pair(c, f, n->block, layer, n->norm2, width, 0));
    for (int i = 0; i < 2; i++) {
        const char *gamma = i ? n->gamma2 : n->gamma1;
        if (gamma && exists(f, spot_clip_name_of(n->block, layer, gamma, NULL).text))
            SPOT_EXPECT(c, f, spot_clip_name_of(n->block, layer, gamma, NULL), 1, width);
    }
    SPOT_TRY(expect_pair(c, f, n->block, layer, n->up, hidden, width));
    return expect_pair(c, f, n->block, layer, n->down, width, hidden);
}

spot_status spot_clip_expect_blocks(spot_ctx *c, spot_clip_file *f, int which, spot_clip_tower *t)
{
    const spot_clip_names *n = f->names[which];
    spot_clip_name up = spot_clip_name_of(n->block, 0, n->up, ".weight");

    while (t->layers < MOST_LAYERS && exists(f, spot_clip_name_of(n->block, t->layers, n->norm1, ".weight").text))
        t->layers++;
    if (!t->layers) SPOT_TRY(expect_pair(c, f, n->block, 0, n->norm1, t->width, 0));   /* says that it is not there */
    SPOT_EXPECT(c, f, up, MOST_HIDDEN, 0, t->width);
    f->info.parameters -= (size_t)size_of(f, up.text, 0) * (size_t)t->width;       /* counted with its block */
    t->hidden = (int)size_of(f, up.text, 0);
    for (int i = 0; i < t->layers; i++) SPOT_TRY(expect_block(c, f, n, i, t->width, t->hidden));
    return expect_pair(c, f, NULL, -1, f->info.pool == SPOT_VIT_MEAN_NORM ? SPOT_VIT_POOLED_NORM : n->after, t->width, 0);
}

/* Checks the tensors that both towers have: blocks, the norm behind them, the projection. */
static spot_status expect_tower(spot_ctx *c, spot_clip_file *f, int which, spot_clip_tower *t)
{
    const spot_clip_names *n = f->names[which];
    spot_clip_name projection = spot_clip_name_of(NULL, -1, n->projection, NULL);
    int64_t dim = f->info.dim;

    SPOT_TRY(spot_clip_expect_blocks(c, f, which, t));
    if (n->turned) SPOT_EXPECT(c, f, projection, MOST_DIM, t->width, dim);
    else           SPOT_EXPECT(c, f, projection, MOST_DIM, dim, t->width);
    f->info.dim = (int)size_of(f, n->projection, n->turned);
    return SPOT_OK;
}

spot_status spot_clip_expect_images(spot_ctx *c, spot_clip_file *f)
{
    const spot_clip_names *n = f->names[SPOT_CLIP_IMAGE];
    spot_clip_info *i = &f->info;
    spot_clip_name start = spot_clip_name_of(NULL, -1, n->start, NULL);
    int64_t tokens, across = 0;

    SPOT_EXPECT(c, f, start, MOST_WIDTH, 0, 3, 0, 0);
    i->image.width = (int)size_of(f, n->start, 0);
    if (size_of(f, n->start, 2) != size_of(f, n->start, 3) || size_of(f, n->start, 2) > MOST_PATCH)
        return spot_fail(c, SPOT_INPUT, "{clip_file.patch_size} %s: the patches of %s are not square, or of more than %d "
                         "pixels", f->in.name, n->start, MOST_PATCH);
    i->patch = (int)size_of(f, n->start, 2);
    SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, n->first, NULL), 1, i->image.width);
    SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, n->position, NULL), MOST_TOKENS, 0, i->image.width);
    tokens = size_of(f, n->position, 0);
    while ((across + 1) * (across + 1) < tokens) across++;
    if (across < 1 || across * across + 1 != tokens)
        return spot_fail(c, SPOT_INPUT, "{clip_file.patches} %s: %s has %lld rows, not one more than a square number of "
                         "patches", f->in.name, n->position, (long long)tokens);
    i->side = (int)across * i->patch;
    SPOT_TRY(expect_pair(c, f, NULL, -1, n->before, i->image.width, 0));
    return expect_tower(c, f, SPOT_CLIP_IMAGE, &i->image);
}

spot_status spot_clip_expect_texts(spot_ctx *c, spot_clip_file *f)
{
    const spot_clip_names *n = f->names[SPOT_CLIP_TEXT];
    spot_clip_info *i = &f->info;

    SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, n->start, NULL), MOST_WORDS, 0, 0);
    i->vocabulary = (int)size_of(f, n->start, 0);
    if (size_of(f, n->start, 1) > MOST_WIDTH)
        return spot_fail(c, SPOT_INPUT, "%s: %s is wider than %d", f->in.name, n->start, MOST_WIDTH);
    i->text.width = (int)size_of(f, n->start, 1);
    SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, n->position, NULL), MOST_CONTEXT, 0, i->text.width);
    i->context = (int)size_of(f, n->position, 0);
    return expect_tower(c, f, SPOT_CLIP_TEXT, &i->text);
}

/* -- numbers ------------------------------------------------------------------------------------------------------ */

static spot_status check_finite(spot_ctx *c, const spot_clip_file *f, const char *name, const float *v, size_t n)
{
    if (spot_all_finite(v, n)) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{weights.value} %s: %s holds a weight that is not a finite number", f->in.name, name);
}

spot_status spot_clip_read(spot_ctx *c, const spot_clip_file *f, float *out, spot_clip_name name, size_t count)
{
    const spot_tensor *t = spot_tensors_find(&f->header, name.text);
    size_t each = spot_dtype_size(t->type);
    spot_array part = { .type = t->type };
    uint16_t half[CHUNK];
    double v[CHUNK];

    part.data = half;
    if (t->type == SPOT_F32) SPOT_TRY(spot_blob_read(c, &f->in, f->data + t->at, out, count * sizeof *out));
    for (size_t at = 0; t->type != SPOT_F32 && at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        SPOT_TRY(spot_blob_read(c, &f->in, f->data + t->at + at * each, half, n * each));
        spot_array_doubles(v, &part, 0, n);
        for (size_t i = 0; i < n; i++) out[at + i] = (float)v[i];
    }
    return check_finite(c, f, name.text, out, count);
}
