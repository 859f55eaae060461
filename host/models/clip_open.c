/* clip_open.c - a file of a CLIP or a ViT: whose names its tensors have, and whether all of them are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/clip_file.h"

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
                                    "input_resolution", "context_length", "vocab_size", "mask_token" };

static bool exists(const spot_clip_file *f, const char *name) { return spot_tensors_find(&f->header, name) != NULL; }

static void choose_names(spot_clip_file *f)
{
    const spot_clip_names *image[] = { &hugging_face[0], &openai[0], &spot_vit_names };
    const spot_clip_names *text[] = { &hugging_face[1], &openai[1], &openai[2] };

    for (int i = 0; i < 3; i++)
        if (exists(f, image[i]->start)) f->names[SPOT_CLIP_IMAGE] = image[i];
    for (int i = 0; i < 3; i++)
        if (exists(f, text[i]->start)) f->names[SPOT_CLIP_TEXT] = text[i];
    f->info.has_images = f->names[SPOT_CLIP_IMAGE];
    f->info.has_texts = f->names[SPOT_CLIP_TEXT];
    f->info.names = f->names[SPOT_CLIP_IMAGE] == hugging_face || f->names[SPOT_CLIP_TEXT] == hugging_face + 1
                  ? "Hugging Face" : "OpenAI";
}

/* Letters before the name of a tower's first tensor, as training frameworks put them there ("module."). */
static size_t find_prefix(const spot_tensors *header, const char **name)
{
    const char *const start[] = { hugging_face[0].start, openai[0].start, spot_vit_names.start };

    for (int k = 0; k < 3; k++)
        for (int i = 0; i < header->count; i++) {
            const size_t n = strlen(*name = header->tensor[i].name), m = strlen(start[k]);
            if (n > m && (*name)[n - m - 1] == '.' && !strcmp(*name + n - m, start[k])) return n - m;
        }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const spot_tensor *)a)->name, ((const spot_tensor *)b)->name);
}

/* Names begin behind that prefix, or behind the part of it that they share, as a head's beside the body. */
static void strip_prefix(spot_tensors *header)
{
    const char *first = NULL;
    const size_t n = find_prefix(header, &first);

    for (int i = 0; n && i < header->count; i++) {
        const char *name = header->tensor[i].name;
        size_t same = 0, cut = 0;
        while (same < n && name[same] && name[same] == first[same])
            if (name[same++] == '.') cut = same;
        header->tensor[i].name = name + cut;
    }
    if (n) qsort(header->tensor, (size_t)header->count, sizeof *header->tensor, by_name);
}

/* -- the file ----------------------------------------------------------------------------------------------------- */

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

bool spot_clip_is_in(const spot_tensors *header)
{
    spot_clip_file f = { .header = *header };
    const char *name;

    choose_names(&f);
    return f.info.has_images || f.info.has_texts || find_prefix(header, &name);
}

bool spot_vit_is_in(const spot_tensors *header)
{
    const char *name = spot_vit_names.start;

    if (spot_tensors_find(header, name)) return true;
    return find_prefix(header, &name) && !strcmp(name + strlen(name) - strlen(spot_vit_names.start), spot_vit_names.start);
}

spot_status spot_clip_file_open(spot_ctx *c, spot_clip_file *f, const char *path, const spot_clip_options *o)
{
    memset(f, 0, sizeof *f);
    f->in.fd = -1;
    SPOT_TRY(spot_blob_open(c, &f->in, path));
    SPOT_TRY(spot_tensors_check_no_pickle(c, &f->in));
    SPOT_TRY(spot_tensors_header(c, &f->header, &f->in, &f->data));
    strip_prefix(&f->header);
    f->known = calloc((size_t)f->header.count + 1, sizeof *f->known);
    if (!f->known) return spot_fail(c, SPOT_NOMEM, "%s: no memory for %d tensors", path, f->header.count);
    choose_names(f);
    if (!f->info.has_images && !f->info.has_texts)
        return spot_fail(c, SPOT_INPUT, "%s is no CLIP: it has neither %s nor %s nor the tensors of the same meaning by OpenAI "
                         "and open_clip", path, hugging_face[0].start, hugging_face[1].start);
    if (f->names[SPOT_CLIP_IMAGE] == &spot_vit_names) SPOT_TRY(spot_vit_expect(c, f));
    else if (f->info.has_images) SPOT_TRY(spot_clip_expect_images(c, f));
    if (f->info.has_texts) SPOT_TRY(spot_clip_expect_texts(c, f));
    SPOT_TRY(expect_no_more(c, f));
    SPOT_TRY(read_scale(c, f));
    return f->info.plain ? spot_vit_configure(c, f, path, o) : spot_clip_configure(c, f, path, o);
}

void spot_clip_file_close(spot_clip_file *f)
{
    spot_tensors_close(&f->header);
    free(f->known);
    spot_blob_close(&f->in);
    memset(f, 0, sizeof *f);
}
