/* clip_file.c - the tensors of a CLIP: names, shapes, numbers. */
#include "models/clip_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/finite.h"

/* Greater sizes are no network's, and their products would not fit into an int. */
enum { MOST_WIDTH = 1 << 14, MOST_DIM = 1 << 14, MOST_HIDDEN = 1 << 17, MOST_WORDS = 1 << 24, MOST_LAYERS = 1 << 10,
       MOST_CONTEXT = 1 << 16, MOST_PATCH = 1 << 10, MOST_TOKENS = 1 << 16, CHUNK = 1 << 14 };

#define HUGGING_FACE_BLOCK .norm1 = "layer_norm1", .query = "self_attn.q_proj", .key = "self_attn.k_proj",              \
    .value = "self_attn.v_proj", .out = "self_attn.out_proj", .norm2 = "layer_norm2", .up = "mlp.fc1", .down = "mlp.fc2"
#define OPENAI_BLOCK .norm1 = "ln_1", .fused = "attn.in_proj_", .out = "attn.out_proj", .norm2 = "ln_2",                \
    .up = "mlp.c_fc", .down = "mlp.c_proj", .turned = true

static const spot_clip_names hugging_face[SPOT_CLIP_TOWERS] = {
    { .start = "vision_model.embeddings.patch_embedding.weight", .first = "vision_model.embeddings.class_embedding",
      .position = "vision_model.embeddings.position_embedding.weight", .before = "vision_model.pre_layrnorm",
      .after = "vision_model.post_layernorm", .projection = "visual_projection.weight",
      .block = "vision_model.encoder.layers.", HUGGING_FACE_BLOCK },
    { .start = "text_model.embeddings.token_embedding.weight", .position = "text_model.embeddings.position_embedding.weight",
      .after = "text_model.final_layer_norm", .projection = "text_projection.weight", .block = "text_model.encoder.layers.",
      HUGGING_FACE_BLOCK },
};

/* The last one is open_clip's CustomTextCLIP. */
static const spot_clip_names openai[SPOT_CLIP_TOWERS + 1] = {
    { .start = "visual.conv1.weight", .first = "visual.class_embedding", .position = "visual.positional_embedding",
      .before = "visual.ln_pre", .after = "visual.ln_post", .projection = "visual.proj",
      .block = "visual.transformer.resblocks.", OPENAI_BLOCK },
    { .start = "token_embedding.weight", .position = "positional_embedding", .after = "ln_final",
      .projection = "text_projection", .block = "transformer.resblocks.", OPENAI_BLOCK },
    { .start = "text.token_embedding.weight", .position = "text.positional_embedding", .after = "text.ln_final",
      .projection = "text.text_projection", .block = "text.transformer.resblocks.", OPENAI_BLOCK },
};

/* Entries that change no embedding. */
static const char *const idle[] = { "logit_scale", "text_model.embeddings.position_ids", "vision_model.embeddings.position_ids",
                                    "input_resolution", "context_length", "vocab_size" };

spot_clip_name spot_clip_name_of(const char *block, int layer, const char *name, const char *end)
{
    spot_clip_name n;
    char number[16] = "";

    if (layer >= 0) snprintf(number, sizeof number, "%d.", layer);
    snprintf(n.text, sizeof n.text, "%s%s%s%s", block ? block : "", number, name, end ? end : "");
    return n;
}

static bool exists(const spot_clip_file *f, const char *name) { return spot_tensors_find(&f->header, name) != NULL; }

static void choose_names(spot_clip_file *f)
{
    const spot_clip_names *image[] = { &hugging_face[0], &openai[0] }, *text[] = { &hugging_face[1], &openai[1], &openai[2] };

    for (int i = 0; i < 2; i++)
        if (exists(f, image[i]->start)) f->names[SPOT_CLIP_IMAGE] = image[i];
    for (int i = 0; i < 3; i++)
        if (exists(f, text[i]->start)) f->names[SPOT_CLIP_TEXT] = text[i];
    f->info.has_images = f->names[SPOT_CLIP_IMAGE];
    f->info.has_texts = f->names[SPOT_CLIP_TEXT];
    f->info.names = f->names[SPOT_CLIP_IMAGE] == hugging_face || f->names[SPOT_CLIP_TEXT] == hugging_face + 1
                  ? "Hugging Face" : "OpenAI";
}

/* -- shapes ------------------------------------------------------------------------------------------------------- */

static void write_shape(char *text, size_t size, int rank, const int64_t *dim)
{
    size_t n = (size_t)snprintf(text, size, "(");

    for (int i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", i ? ", " : "", (long long)dim[i]);
    if (n < size) snprintf(text + n, size - n, ")");
}

/* The tensor is there, of a type that is read, and has this shape; a dimension 0 may have any size from 1 to `most`. */
static spot_status expect(spot_ctx *c, spot_clip_file *f, spot_clip_name name, int rank, const int64_t *dim, int64_t most)
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
    write_shape(have, sizeof have, t->rank, t->dim);
    write_shape(want, sizeof want, rank, dim);
    if (!same)
        return spot_fail(c, SPOT_INPUT, "{clip_file.shape} %s: %s has the shape %s where %s is wanted (0: from 1 to %lld)",
                         f->in.name, name.text, have, want, (long long)most);
    f->known[t - f->header.tensor] = true;
    f->info.parameters += count;
    return SPOT_OK;
}

#define EXPECT(c, f, name, most, ...)                                                                                  \
    SPOT_TRY(expect((c), (f), (name), (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),                     \
                    (const int64_t[]){ __VA_ARGS__ }, (most)))

static int64_t size_of(const spot_clip_file *f, const char *name, int i)
{
    return spot_tensors_find(&f->header, name)->dim[i];
}

static spot_status expect_pair(spot_ctx *c, spot_clip_file *f, const char *block, int layer, const char *name, int64_t out,
                               int64_t in)
{
    if (in) EXPECT(c, f, spot_clip_name_of(block, layer, name, ".weight"), 1, out, in);
    else    EXPECT(c, f, spot_clip_name_of(block, layer, name, ".weight"), 1, out);
    EXPECT(c, f, spot_clip_name_of(block, layer, name, ".bias"), 1, out);
    return SPOT_OK;
}

static spot_status expect_block(spot_ctx *c, spot_clip_file *f, const spot_clip_names *n, int layer, int64_t width,
                                int64_t hidden)
{
    const char *const part[] = { n->query, n->key, n->value };

    SPOT_TRY(expect_pair(c, f, n->block, layer, n->norm1, width, 0));
    for (int i = 0; n->query && i < 3; i++) SPOT_TRY(expect_pair(c, f, n->block, layer, part[i], width, width));
    if (!n->query) {
        EXPECT(c, f, spot_clip_name_of(n->block, layer, n->fused, "weight"), 1, 3 * width, width);
        EXPECT(c, f, spot_clip_name_of(n->block, layer, n->fused, "bias"), 1, 3 * width);
    }
    SPOT_TRY(expect_pair(c, f, n->block, layer, n->out, width, width));
    SPOT_TRY(expect_pair(c, f, n->block, layer, n->norm2, width, 0));
    SPOT_TRY(expect_pair(c, f, n->block, layer, n->up, hidden, width));
    return expect_pair(c, f, n->block, layer, n->down, width, hidden);
}

/* Checks the tensors that both towers have: blocks, the norm behind them, the projection. */
static spot_status expect_tower(spot_ctx *c, spot_clip_file *f, int which, spot_clip_tower *t)
{
    const spot_clip_names *n = f->names[which];
    spot_clip_name up = spot_clip_name_of(n->block, 0, n->up, ".weight");
    spot_clip_name projection = spot_clip_name_of(NULL, -1, n->projection, NULL);
    int64_t dim = f->info.dim;

    while (t->layers < MOST_LAYERS && exists(f, spot_clip_name_of(n->block, t->layers, n->norm1, ".weight").text))
        t->layers++;
    if (!t->layers) SPOT_TRY(expect_pair(c, f, n->block, 0, n->norm1, t->width, 0));   /* says that it is not there */
    EXPECT(c, f, up, MOST_HIDDEN, 0, t->width);
    f->info.parameters -= (size_t)size_of(f, up.text, 0) * (size_t)t->width;       /* counted with its block */
    t->hidden = (int)size_of(f, up.text, 0);
    for (int i = 0; i < t->layers; i++) SPOT_TRY(expect_block(c, f, n, i, t->width, t->hidden));
    SPOT_TRY(expect_pair(c, f, NULL, -1, n->after, t->width, 0));
    if (n->turned) EXPECT(c, f, projection, MOST_DIM, t->width, dim);
    else           EXPECT(c, f, projection, MOST_DIM, dim, t->width);
    f->info.dim = (int)size_of(f, n->projection, n->turned);
    return SPOT_OK;
}

static spot_status expect_images(spot_ctx *c, spot_clip_file *f)
{
    const spot_clip_names *n = f->names[SPOT_CLIP_IMAGE];
    spot_clip_info *i = &f->info;
    spot_clip_name start = spot_clip_name_of(NULL, -1, n->start, NULL);
    int64_t tokens, across = 0;

    EXPECT(c, f, start, MOST_WIDTH, 0, 3, 0, 0);
    i->image.width = (int)size_of(f, n->start, 0);
    if (size_of(f, n->start, 2) != size_of(f, n->start, 3) || size_of(f, n->start, 2) > MOST_PATCH)
        return spot_fail(c, SPOT_INPUT, "{clip_file.patch_size} %s: the patches of %s are not square, or of more than %d "
                         "pixels", f->in.name, n->start, MOST_PATCH);
    i->patch = (int)size_of(f, n->start, 2);
    EXPECT(c, f, spot_clip_name_of(NULL, -1, n->first, NULL), 1, i->image.width);
    EXPECT(c, f, spot_clip_name_of(NULL, -1, n->position, NULL), MOST_TOKENS, 0, i->image.width);
    tokens = size_of(f, n->position, 0);
    while ((across + 1) * (across + 1) < tokens) across++;
    if (across < 1 || across * across + 1 != tokens)
        return spot_fail(c, SPOT_INPUT, "{clip_file.patches} %s: %s has %lld rows, not one more than a square number of "
                         "patches", f->in.name, n->position, (long long)tokens);
    i->side = (int)across * i->patch;
    SPOT_TRY(expect_pair(c, f, NULL, -1, n->before, i->image.width, 0));
    return expect_tower(c, f, SPOT_CLIP_IMAGE, &i->image);
}

static spot_status expect_texts(spot_ctx *c, spot_clip_file *f)
{
    const spot_clip_names *n = f->names[SPOT_CLIP_TEXT];
    spot_clip_info *i = &f->info;

    EXPECT(c, f, spot_clip_name_of(NULL, -1, n->start, NULL), MOST_WORDS, 0, 0);
    i->vocabulary = (int)size_of(f, n->start, 0);
    if (size_of(f, n->start, 1) > MOST_WIDTH)
        return spot_fail(c, SPOT_INPUT, "%s: %s is wider than %d", f->in.name, n->start, MOST_WIDTH);
    i->text.width = (int)size_of(f, n->start, 1);
    EXPECT(c, f, spot_clip_name_of(NULL, -1, n->position, NULL), MOST_CONTEXT, 0, i->text.width);
    i->context = (int)size_of(f, n->position, 0);
    return expect_tower(c, f, SPOT_CLIP_TEXT, &i->text);
}

/* A tensor that nobody asked for belongs to a network that Spotter would compute wrongly. */
static spot_status expect_no_more(spot_ctx *c, spot_clip_file *f)
{
    for (int i = 0; i < f->header.count; i++) {
        bool known = f->known[i];
        for (size_t k = 0; !known && k < sizeof idle / sizeof *idle; k++) known = !strcmp(f->header.tensor[i].name, idle[k]);
        if (!known)
            return spot_fail(c, SPOT_INPUT, "{clip_file.other_tensor} %s: %.80s is no tensor of CLIP's vision transformer; "
                             "this is another network", f->in.name, f->header.tensor[i].name);
    }
    return SPOT_OK;
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

static spot_status read_scale(spot_ctx *c, spot_clip_file *f)
{
    const spot_tensor *t = spot_tensors_find(&f->header, "logit_scale");
    float scale;

    f->info.scale = NAN;
    if (!t) return SPOT_OK;
    if (t->rank > 1 || (t->rank == 1 && t->dim[0] != 1) || (t->type != SPOT_F32 && t->type != SPOT_F16
                                                            && t->type != SPOT_BFLOAT16))
        return spot_fail(c, SPOT_INPUT, "%s: logit_scale is not one number of F32, F16 or BF16", f->in.name);
    f->info.parameters++;
    SPOT_TRY(spot_clip_read(c, f, &scale, spot_clip_name_of(NULL, -1, "logit_scale", NULL), 1));
    f->info.scale = expf(scale);
    if (f->info.scale > 0 && isfinite(f->info.scale)) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{clip_file.logit_scale} %s: logit_scale is %g, and e to this power no scale; CLIP's is "
                     "near 4.6", f->in.name, (double)scale);
}

/* -- the file ----------------------------------------------------------------------------------------------------- */

bool spot_clip_is_in(const spot_tensors *header)
{
    spot_clip_file f = { .header = *header };

    choose_names(&f);
    return f.info.has_images || f.info.has_texts;
}

spot_status spot_clip_file_open(spot_ctx *c, spot_clip_file *f, const char *path, const spot_clip_options *o)
{
    memset(f, 0, sizeof *f);
    f->in.fd = -1;
    SPOT_TRY(spot_blob_open(c, &f->in, path));
    SPOT_TRY(spot_tensors_check_no_pickle(c, &f->in));
    SPOT_TRY(spot_tensors_header(c, &f->header, &f->in, &f->data));
    f->known = calloc((size_t)f->header.count + 1, sizeof *f->known);
    if (!f->known) return spot_fail(c, SPOT_NOMEM, "%s: no memory for %d tensors", path, f->header.count);
    choose_names(f);
    if (!f->info.has_images && !f->info.has_texts)
        return spot_fail(c, SPOT_INPUT, "%s is no CLIP: it has neither %s nor %s nor the tensors of the same meaning by OpenAI "
                         "and open_clip", path, hugging_face[0].start, hugging_face[1].start);
    if (f->info.has_images) SPOT_TRY(expect_images(c, f));
    if (f->info.has_texts) SPOT_TRY(expect_texts(c, f));
    SPOT_TRY(expect_no_more(c, f));
    SPOT_TRY(read_scale(c, f));
    return spot_clip_configure(c, f, path, o);
}

void spot_clip_file_close(spot_clip_file *f)
{
    spot_tensors_close(&f->header);
    free(f->known);
    spot_blob_close(&f->in);
    memset(f, 0, sizeof *f);
}
