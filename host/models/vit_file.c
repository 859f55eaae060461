/* vit_file.c - the tensors of a vision transformer by timm's and DINOv2's names: the picture's tower of a CLIP without a norm
 * before its blocks and without a projection, with a bias of its patches and, in DINOv2, layer scales and registers. */
#include "models/clip_file.h"

#include <stdio.h>
#include <string.h>

#include "models/picture_input.h"
#include "models/weights_names.h"

enum { MOST_WIDTH = 1 << 14, MOST_PATCH = 1 << 10, MOST_TOKENS = 1 << 16, MOST_REGISTERS = 64 };

const spot_clip_names spot_vit_names = {
    .start = "patch_embed.proj.weight", .first = "cls_token", .position = "pos_embed", .after = "norm", .block = "blocks.",
    .norm1 = "norm1", .fused = "attn.qkv.", .out = "attn.proj", .norm2 = "norm2", .up = "mlp.fc1", .down = "mlp.fc2",
    .gamma1 = "ls1.gamma", .gamma2 = "ls2.gamma", .bias = "patch_embed.proj.bias",
};

/* timm's reg_token, and register_tokens of DINOv2's own files. */
const char *spot_vit_registers(const spot_tensors *header)
{
    static const char *const names[] = { "reg_token", "register_tokens" };

    return spot_tensors_find(header, names[0]) ? names[0] : spot_tensors_find(header, names[1]) ? names[1] : NULL;
}

const spot_tensor *spot_vit_head(const spot_tensors *header)
{
    const spot_tensor *e = NULL;

    for (int i = 0; i < header->count; i++)
        if (header->tensor[i].rank == 2 && spot_weights_is_head(header->tensor[i].name)) {
            if (e) return NULL;                        /* two of them: others of the file's tensors are refused by name */
            e = &header->tensor[i];
        }
    return e;
}

/* Heads are in no tensor. These are the sizes that timm and DINOv2 have; others must be told. Of some widths timm has networks
 * without a class token that differ in their heads, or whose GELU is approximated, though their tensors are the same. */
static int heads_of(int width, bool classless)
{
    static const struct { int width, heads; bool told; } known[] = {
        { 192, 3, false },   { 320, 5, false },   { 384, 6, false },   { 512, 8, false },  { 576, 8, false },
        { 640, 10, false },  { 768, 12, true },   { 832, 13, false },  { 896, 14, false }, { 1024, 16, true },
        { 1152, 16, true },  { 1280, 16, false }, { 1408, 16, false }, { 1536, 24, true }, { 1664, 16, false } };

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].width == width && !(classless && known[k].told)) return known[k].heads;
    return 0;
}

static int64_t root_of(int64_t n)
{
    int64_t r = 0;

    while ((r + 1) * (r + 1) <= n) r++;
    return r > 0 && r * r == n ? r : 0;
}

/* Rows of pos_embed: those of the patches, with the class token's in front or without, or with the registers', too. */
static spot_status find_side(spot_ctx *c, spot_clip_file *f, int64_t rows)
{
    spot_clip_info *i = &f->info;
    const int own = !i->classless, placed[] = { own, 0, own + i->registers };
    int64_t across = 0;

    for (int k = 0; k < 3 && !across; k++) across = root_of(rows - (i->placed = placed[k]));
    if (!across)
        return spot_fail(c, SPOT_INPUT, "{vit.patches} %s: pos_embed has %lld rows: neither a square number of patches nor "
                         "that with %d class tokens and %d registers", f->in.name, (long long)rows, own, i->registers);
    i->side = (int)across * i->patch;
    return SPOT_OK;
}

/* timm's norm of the mean is in place of the one behind the blocks; without a class token the mean is behind that one. */
static spot_status find_pool(spot_ctx *c, spot_clip_file *f)
{
    spot_clip_info *i = &f->info;
    const bool norm = spot_tensors_find(&f->header, "norm.weight"), mean = spot_tensors_find(&f->header, "fc_norm.weight");

    i->classless = !spot_tensors_find(&f->header, "cls_token");
    i->pool = mean ? SPOT_VIT_MEAN_NORM : i->classless ? SPOT_VIT_NORM_MEAN : SPOT_VIT_CLASS;
    if (norm != mean) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{vit.norm} %s has %s norm.weight behind its blocks %s fc_norm.weight of the mean of its "
                     "patches: one of them tells its feature; --predict takes a program that computes another", f->in.name,
                     norm ? "both" : "neither", norm ? "and" : "nor");
}

static spot_status expect_ends(spot_ctx *c, spot_clip_file *f)
{
    spot_clip_info *i = &f->info;
    const int64_t w = i->image.width;
    const char *registers = spot_vit_registers(&f->header);
    const spot_tensor *e;

    SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, "patch_embed.proj.bias", NULL), 1, w);
    SPOT_TRY(find_pool(c, f));
    if (!i->classless) SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, "cls_token", NULL), 1, 1, 1, w);
    if (registers) {
        SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, registers, NULL), MOST_REGISTERS, 1, 0, w);
        i->registers = (int)spot_tensors_find(&f->header, registers)->dim[1];
    }
    SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, "pos_embed", NULL), MOST_TOKENS, 1, 0, w);
    SPOT_TRY(find_side(c, f, spot_tensors_find(&f->header, "pos_embed")->dim[1]));
    e = spot_vit_head(&f->header);
    if (!e) return SPOT_OK;
    if (e->dim[1] == 2 * w && i->pool == SPOT_VIT_CLASS) i->pool = SPOT_VIT_CLASS_MEAN, i->dim = (int)(2 * w);
    SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, e->name, NULL), SPOT_MOST_OUTPUTS, 0, i->dim);
    i->outputs = (int)e->dim[0];
    snprintf(f->head, sizeof f->head, "%.*s", (int)strlen(e->name) - 7, e->name);
    if (spot_tensors_find(&f->header, spot_clip_name_of(NULL, -1, f->head, ".bias").text))
        SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, f->head, ".bias"), 1, i->outputs);
    return SPOT_OK;
}

spot_status spot_vit_expect(spot_ctx *c, spot_clip_file *f)
{
    spot_clip_info *i = &f->info;
    const spot_clip_names *n = f->names[SPOT_CLIP_IMAGE];
    const spot_tensor *start = spot_tensors_find(&f->header, n->start);

    i->plain = true;
    i->names = "timm";
    SPOT_EXPECT(c, f, spot_clip_name_of(NULL, -1, n->start, NULL), MOST_WIDTH, 0, 3, 0, 0);
    if (start->dim[2] != start->dim[3] || start->dim[2] > MOST_PATCH)
        return spot_fail(c, SPOT_INPUT, "{clip_file.patch_size} %s: the patches of %s are not square, or of more than %d "
                         "pixels", f->in.name, n->start, MOST_PATCH);
    i->image.width = i->dim = (int)start->dim[0];
    i->patch = (int)start->dim[2];
    SPOT_TRY(expect_ends(c, f));
    return spot_clip_expect_blocks(c, f, SPOT_CLIP_IMAGE, &i->image);
}

/* ImageNet's mean and deviation, as ResNets have them, unless the caller knows better. */
spot_status spot_vit_configure(spot_ctx *c, spot_clip_file *f, const char *path, const spot_clip_options *o)
{
    spot_clip_info *i = &f->info;

    i->image.heads = o->image_heads ? o->image_heads : heads_of(i->image.width, i->classless);
    i->image.activation = o->activation ? o->activation : SPOT_CLIP_GELU;
    i->image.eps = 1e-6f;
    i->pixels = spot_imagenet_rule();
    SPOT_TRY(spot_picture_input_rule(c, &i->pixels, &o->input));
    if (i->image.heads < 1 || i->image.width % i->image.heads)
        return spot_fail(c, SPOT_INPUT, "{vit.heads} %s: no tensor tells the attention heads of a transformer of width %d%s, "
                         "which are no divisor of it here (%d); --heads tells them", path, i->image.width,
                         i->classless ? " without a class token" : "", i->image.heads);
    return SPOT_OK;
}
