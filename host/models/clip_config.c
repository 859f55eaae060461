/* clip_config.c - heads, activation, end token: what CLIP's tensors do not tell, from the config beside them. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_tree.h"
#include "models/clip_file.h"
#include "models/picture_input.h"

enum { LONGEST = 1 << 20 };            /* bytes of a config */

static const spot_pixel_rule openai = { 255, { 0.48145466f, 0.4578275f, 0.40821073f },
                                        { 0.26862954f, 0.26130258f, 0.27577711f } };

/* One object of a config, and its name in sentences. */
typedef struct { spot_ctx *c; const char *path, *where; yajl_val map; } part;

static yajl_val member(yajl_val map, const char *key)
{
    const char *path[] = { key, NULL };

    return map && YAJL_IS_OBJECT(map) ? yajl_tree_get(map, path, yajl_t_any) : NULL;
}

/* null and a key that is not there are the same. */
static yajl_val find(const part *p, const char *key)
{
    yajl_val v = member(p->map, key);

    return v && YAJL_IS_NULL(v) ? NULL : v;
}

static bool is_object(const part *p) { return p->map && YAJL_IS_OBJECT(p->map); }

static spot_status wrong(const part *p, const char *key, const char *want)
{
    return spot_fail(p->c, SPOT_INPUT, "{clip_config.member} %s: %s%s%.60s is not %s", p->path, p->where, *p->where ? "." : "",
                     key, want);
}

/* A whole number from 1; *out keeps its value where the key is missing. */
static spot_status read_int(const part *p, const char *key, int *out)
{
    yajl_val v = find(p, key);

    if (!v) return SPOT_OK;
    if (!YAJL_IS_INTEGER(v) || YAJL_GET_INTEGER(v) < 1 || YAJL_GET_INTEGER(v) > INT_MAX)
        return wrong(p, key, "a whole number from 1");
    *out = (int)YAJL_GET_INTEGER(v);
    return SPOT_OK;
}

static spot_status read_eps(const part *p, const char *key, float *out)
{
    yajl_val v = find(p, key);

    if (!v) return SPOT_OK;
    if (!YAJL_IS_NUMBER(v) || !((float)YAJL_GET_DOUBLE(v) > 0) || !((float)YAJL_GET_DOUBLE(v) < 1))
        return wrong(p, key, "between 0 and 1");
    *out = (float)YAJL_GET_DOUBLE(v);
    return SPOT_OK;
}

/* The text of a key, `other` where it is missing, NULL if it is no text. */
static const char *text_of(const part *p, const char *key, const char *other)
{
    yajl_val v = find(p, key);

    return v ? YAJL_GET_STRING(v) : other;
}

/* The config's size of something that a tensor tells, too. */
static spot_status check_size(const part *p, const char *key, int told)
{
    int have = told;

    SPOT_TRY(read_int(p, key, &have));
    if (have == told) return SPOT_OK;
    return spot_fail(p->c, SPOT_INPUT,
                     "{clip_config.of_others} %s: %s%s%s is %d, and the tensors have %d: it is not the config of these weights",
                     p->path, p->where, *p->where ? "." : "", key, have, told);
}

/* A picture may be larger than its whole patches. */
static spot_status read_side(const part *p, spot_clip_info *i)
{
    int side = i->side;

    SPOT_TRY(read_int(p, "image_size", &side));
    if (side / i->patch != i->side / i->patch) return check_size(p, "image_size", i->side);
    i->side = side;
    return check_size(p, "patch_size", i->patch);
}

/* Three numbers; *out keeps its value where the key is missing. */
static spot_status read_colour(const part *p, const char *key, float *out, double least)
{
    yajl_val v = find(p, key);

    if (!v) return SPOT_OK;
    if (!YAJL_IS_ARRAY(v) || YAJL_GET_ARRAY(v)->len != 3) return wrong(p, key, "a list of three numbers");
    for (int k = 0; k < 3; k++) {
        yajl_val x = YAJL_GET_ARRAY(v)->values[k];
        if (!YAJL_IS_NUMBER(x) || !(YAJL_GET_DOUBLE(x) > least) || !(YAJL_GET_DOUBLE(x) < 1))
            return wrong(p, key, "a list of three numbers between 0 and 1");
        out[k] = (float)YAJL_GET_DOUBLE(x);
    }
    return SPOT_OK;
}

/* -- Hugging Face's ----------------------------------------------------------------------------------------------- */

/* transformers takes <key>_dict in place of <key> where old files have both. A tower's own config has its keys at the top. */
static part part_of(const part *all, const char *key, const char *kind)
{
    char old[64];
    part p = *all;
    const char *model = text_of(all, "model_type", "");

    snprintf(old, sizeof old, "%s_dict", key);
    p.where = key;
    p.map = find(all, old);
    if (!p.map) p.map = find(all, key);
    if (!p.map && model && !strcmp(model, kind)) p.map = all->map, p.where = "";
    return p;
}

static spot_status read_transformers_tower(const part *p, spot_clip_tower *t, int heads)
{
    const char *act = text_of(p, "hidden_act", "quick_gelu");

    t->heads = heads;
    t->eps = 1e-5f;
    SPOT_TRY(read_int(p, "num_attention_heads", &t->heads));
    SPOT_TRY(read_eps(p, "layer_norm_eps", &t->eps));
    if (!act || (strcmp(act, "quick_gelu") && strcmp(act, "gelu"))) return wrong(p, "hidden_act", "quick_gelu or gelu");
    t->activation = strcmp(act, "gelu") ? SPOT_CLIP_QUICK_GELU : SPOT_CLIP_GELU;
    SPOT_TRY(check_size(p, "hidden_size", t->width));
    SPOT_TRY(check_size(p, "intermediate_size", t->hidden));
    return check_size(p, "num_hidden_layers", t->layers);
}

static spot_status read_transformers(const part *all, spot_clip_info *i)
{
    part image = part_of(all, "vision_config", "clip_vision_model"), text = part_of(all, "text_config", "clip_text_model");

    if (i->has_images && !is_object(&image)) return spot_fail(all->c, SPOT_INPUT, "{clip_config.no_object} %s has no object "
                                                              "vision_config", all->path);
    if (i->has_texts && !is_object(&text)) return spot_fail(all->c, SPOT_INPUT, "%s has no object text_config", all->path);
    if (i->has_images) {
        SPOT_TRY(read_transformers_tower(&image, &i->image, 12));
        SPOT_TRY(read_side(&image, i));
    }
    if (!i->has_texts) return SPOT_OK;
    SPOT_TRY(read_transformers_tower(&text, &i->text, 8));
    SPOT_TRY(check_size(&text, "max_position_embeddings", i->context));
    SPOT_TRY(check_size(&text, "vocab_size", i->vocabulary));
    i->end_id = 49407;
    SPOT_TRY(read_int(&text, "eos_token_id", &i->end_id));
    i->end = i->end_id == 2 ? SPOT_CLIP_GREATEST_ID : SPOT_CLIP_FIRST_END;     /* 2: as transformers reads OpenAI's configs */
    return SPOT_OK;
}

/* -- open_clip's -------------------------------------------------------------------------------------------------- */

/* Every key is known, or its value changes nothing: null, false, 0. */
static spot_status check_keys(const part *p, const char *known)
{
    for (size_t k = 0; k < YAJL_GET_OBJECT(p->map)->len; k++) {
        const char *key = YAJL_GET_OBJECT(p->map)->keys[k];
        yajl_val v = YAJL_GET_OBJECT(p->map)->values[k];
        char word[80];
        if (YAJL_IS_NULL(v) || YAJL_IS_FALSE(v) || (YAJL_IS_NUMBER(v) && YAJL_GET_DOUBLE(v) == 0)) continue;
        if (snprintf(word, sizeof word, " %s ", key) < (int)sizeof word && strstr(known, word)) continue;
        return spot_fail(p->c, SPOT_INPUT, "{clip_config.network} %s: %s.%.60s asks for a network that Spotter does not "
                         "compute", p->path, p->where, key);
    }
    return SPOT_OK;
}

/* A key whose only value that Spotter computes is `only`. */
static spot_status check_only(const part *p, const char *key, const char *only)
{
    const char *have = text_of(p, key, only);

    return have && !strcmp(have, only) ? SPOT_OK : wrong(p, key, only);
}

static spot_status read_open_clip_tower(const part *p, spot_clip_tower *t, bool quick)
{
    part norm = *p;

    norm.where = "norm_kwargs";
    norm.map = find(p, "norm_kwargs");
    t->eps = 1e-5f;
    t->activation = quick ? SPOT_CLIP_QUICK_GELU : SPOT_CLIP_GELU;
    if (norm.map && !YAJL_IS_OBJECT(norm.map)) return wrong(p, "norm_kwargs", "an object");
    if (norm.map) SPOT_TRY(check_keys(&norm, " eps "));
    if (norm.map) SPOT_TRY(read_eps(&norm, "eps", &t->eps));
    SPOT_TRY(check_only(p, "block_type", "default"));
    SPOT_TRY(check_size(p, "width", t->width));
    return check_size(p, "layers", t->layers);
}

static spot_status read_open_clip_text(const part *p, spot_clip_info *i, bool quick)
{
    const char *pool = text_of(p, "pool_type", "argmax");

    SPOT_TRY(check_keys(p, " context_length  vocab_size  width  heads  layers  mlp_ratio  eos_id  pool_type  proj_type "
                        " block_type  norm_kwargs  hf_tokenizer_name  tokenizer_kwargs  tokenizer_mode  output_tokens "
                        " hf_model_pretrained  hf_proj_type  hf_pooler_type "));
    SPOT_TRY(read_open_clip_tower(p, &i->text, quick));
    SPOT_TRY(check_only(p, "proj_type", "linear"));
    if (!pool || (strcmp(pool, "argmax") && strcmp(pool, "eos"))) return wrong(p, "pool_type", "argmax or eos");
    SPOT_TRY(check_size(p, "context_length", i->context));
    SPOT_TRY(check_size(p, "vocab_size", i->vocabulary));
    i->text.heads = 8;
    i->end_id = 2;
    i->end = strcmp(pool, "eos") ? SPOT_CLIP_GREATEST_ID : SPOT_CLIP_FIRST_END;
    SPOT_TRY(read_int(p, "eos_id", &i->end_id));
    return read_int(p, "heads", &i->text.heads);
}

static spot_status read_open_clip_image(const part *p, spot_clip_info *i, bool quick)
{
    int each = 64;

    SPOT_TRY(check_keys(p, " layers  width  head_width  mlp_ratio  patch_size  image_size  patch_dropout  attn_pooler_queries "
                        " attn_pooler_heads  pos_embed_type  pool_type  norm_kwargs  block_type  timm_pool  timm_proj "
                        " timm_model_pretrained  output_tokens "));
    SPOT_TRY(read_open_clip_tower(p, &i->image, quick));
    SPOT_TRY(check_only(p, "pos_embed_type", "learnable"));
    SPOT_TRY(check_only(p, "pool_type", "tok"));
    SPOT_TRY(read_int(p, "head_width", &each));
    i->image.heads = i->image.width / each;
    if (i->image.heads * each != i->image.width) return wrong(p, "head_width", "a divisor of the width");
    return read_side(p, i);
}

static spot_status read_open_clip(const part *all, yajl_val pictures, spot_clip_info *i)
{
    yajl_val quick = find(all, "quick_gelu");
    part text = *all, image = *all, colour = *all;

    if (quick && !YAJL_IS_TRUE(quick) && !YAJL_IS_FALSE(quick)) return wrong(all, "quick_gelu", "true or false");
    SPOT_TRY(check_keys(all, " embed_dim  quick_gelu  vision_cfg  text_cfg  custom_text  init_logit_scale  init_logit_bias "));
    SPOT_TRY(check_size(all, "embed_dim", i->dim));
    text.where = "text_cfg", text.map = find(all, "text_cfg");
    image.where = "vision_cfg", image.map = find(all, "vision_cfg");
    if (!is_object(&text) || !is_object(&image))
        return spot_fail(all->c, SPOT_INPUT, "%s: model_cfg has no objects text_cfg and vision_cfg", all->path);
    if (i->has_texts) SPOT_TRY(read_open_clip_text(&text, i, quick && YAJL_IS_TRUE(quick)));
    if (i->has_images) SPOT_TRY(read_open_clip_image(&image, i, quick && YAJL_IS_TRUE(quick)));
    colour.where = "preprocess_cfg", colour.map = pictures;
    SPOT_TRY(read_colour(&colour, "mean", i->pixels.mean, -1e-9));
    return read_colour(&colour, "std", i->pixels.std, SPOT_LEAST_STD);
}

/* -- the file, and the caller ------------------------------------------------------------------------------------- */

/* *map is NULL where there is no such file, unless it must be there. */
static spot_status read_tree(spot_ctx *c, yajl_val *map, const char *path, bool must)
{
    unsigned char *text;
    char why[128] = "";
    size_t n;

    *map = NULL;
    if (!must && access(path, F_OK)) return SPOT_OK;           /* to open a pipe would wait for its writer */
    SPOT_TRY(spot_file_read(c, path, &text, &n, LONGEST));
    *map = spot_tree_parse((char *)text, n, why, sizeof why);
    free(text);
    if (*map && YAJL_IS_OBJECT(*map)) return SPOT_OK;
    yajl_tree_free(*map);
    *map = NULL;
    return spot_fail(c, SPOT_INPUT, "{clip_config.json} %s is not a JSON object: %s", path,
                     *why ? why : "it is a value of another kind");
}

static spot_status read_config(spot_ctx *c, spot_clip_info *i, const char *path, yajl_val map)
{
    part all = { c, path, "", map };
    yajl_val open = find(&all, "model_cfg"), width = find(&all, "embed_dim");
    const char *model = text_of(&all, "model_type", "");

    if (open || width) {
        all.where = open ? "model_cfg" : "";
        all.map = open ? open : map;
        return YAJL_IS_OBJECT(all.map) ? read_open_clip(&all, member(map, "preprocess_cfg"), i) : wrong(&all, "", "an object");
    }
    if (model && strncmp(model, "clip", 4) && !find(&all, "vision_config") && !find(&all, "text_config"))
        return spot_fail(c, SPOT_INPUT, "{clip_config.kind} %s is no config of CLIP: it has no model_cfg as open_clip's, and "
                         "no vision_config or text_config as Hugging Face's", path);
    return read_transformers(&all, i);
}

/* The folder of `path` and a name in it. */
static void beside(char *out, size_t size, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    snprintf(out, size, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
}

static spot_status read_beside(spot_ctx *c, spot_clip_info *i, const char *path, const spot_clip_options *o, bool *found)
{
    bool open = !strcmp(i->names, "OpenAI");
    const char *const name[] = { "config.json", "open_clip_config.json" };
    char file[PATH_MAX];
    yajl_val map = NULL;
    spot_status s = SPOT_OK;

    if (o->config) s = read_tree(c, &map, o->config, true);
    for (int k = 0; !o->config && k < 2 && !map && !s; k++) {
        beside(file, sizeof file, path, name[open ? 1 - k : k]);
        s = read_tree(c, &map, file, false);
    }
    *found = map;
    if (map) s = read_config(c, i, o->config ? o->config : file, map);
    yajl_tree_free(map);
    return s;
}

/* Hugging Face keeps the colours of pictures in a file of their own. */
static spot_status read_colours(spot_ctx *c, spot_clip_info *i, const char *path)
{
    char file[PATH_MAX];
    yajl_val map;
    spot_status s;

    beside(file, sizeof file, path, "preprocessor_config.json");
    SPOT_TRY(read_tree(c, &map, file, false));
    if (!map) return SPOT_OK;
    part p = { c, file, "", map };
    s = read_colour(&p, "image_mean", i->pixels.mean, -1e-9);
    if (!s) s = read_colour(&p, "image_std", i->pixels.std, SPOT_LEAST_STD);
    yajl_tree_free(map);
    return s;
}

static void choose(spot_clip_tower *t, int heads, spot_clip_activation activation)
{
    if (heads) t->heads = heads;
    if (activation) t->activation = activation;
    if (!(t->eps > 0)) t->eps = 1e-5f;
}

static spot_status check_tower(spot_ctx *c, const char *path, const spot_clip_tower *t, const char *what, bool found)
{
    const char *where = found ? "the config" : "no config.json or open_clip_config.json lies beside it, and the call";

    if (!t->heads)
        return spot_fail(c, SPOT_INPUT, "{clip_config.no_heads} %s: %s does not tell the heads of the %s tower, which no "
                         "tensor tells", path, where, what);
    if (!t->activation)
        return spot_fail(c, SPOT_INPUT, "{clip_config.no_activation} %s: %s does not tell the activation, quick_gelu or gelu, "
                         "which no tensor tells", path, where);
    if (t->heads < 1 || t->width % t->heads)
        return spot_fail(c, SPOT_INPUT, "{clip_config.heads_width} %s: %d heads do not divide the width %d of the %s tower",
                         path, t->heads, t->width, what);
    return SPOT_OK;
}

spot_status spot_clip_configure(spot_ctx *c, spot_clip_file *f, const char *path, const spot_clip_options *o)
{
    spot_clip_info *i = &f->info;
    bool found;

    i->pixels = openai;
    SPOT_TRY(read_colours(c, i, path));
    SPOT_TRY(read_beside(c, i, path, o, &found));
    SPOT_TRY(spot_picture_input_rule(c, &i->pixels, &o->input));
    choose(&i->image, o->image_heads, o->activation);
    choose(&i->text, o->text_heads, o->activation);
    if (o->end) i->end = o->end, i->end_id = o->end_id;
    if (i->has_images) SPOT_TRY(check_tower(c, path, &i->image, "image", found));
    if (!i->has_texts) return SPOT_OK;
    SPOT_TRY(check_tower(c, path, &i->text, "text", found));
    if (!i->end)
        return spot_fail(c, SPOT_INPUT, "{clip_config.no_end_token} %s: neither a config nor the call tells which token ends a "
                         "text (the greatest id, or the first end token)", path);
    if (i->end == SPOT_CLIP_FIRST_END && (i->end_id < 0 || i->end_id >= i->vocabulary))
        return spot_fail(c, SPOT_INPUT, "{clip_config.end_token} %s: the end token %d is not among the %d ids of the "
                         "vocabulary; the config's eos_token_id belongs to another file", path, i->end_id, i->vocabulary);
    return SPOT_OK;
}
