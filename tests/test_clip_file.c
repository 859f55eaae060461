/* test_clip_file.c - files of CLIP that lie: tensors, configs, cuts. */
#define _GNU_SOURCE
#include "clip_bed.h"

#include <sys/stat.h>
#include <unistd.h>

/* A folder of the test's own with the golden model in which a tensor is changed, and a config. */
typedef struct { spot_ctx c; spot_tensors file; char folder[64], path[96], config[96]; } forged;

static forged forge(void)
{
    forged f = { .c = check_ctx(1), .folder = "/tmp/spotter_clip_XXXXXX" };

    assert_non_null(mkdtemp(f.folder));
    snprintf(f.path, sizeof f.path, "%s/model.safetensors", f.folder);
    snprintf(f.config, sizeof f.config, "%s/config.json", f.folder);
    CHECK_OK(&f.c, spot_tensors_open(&f.c, &f.file, QUICK "model.safetensors"));
    return f;
}

static void put_config(forged *f, const char *text)
{
    FILE *out = fopen(f->config, "w");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0 && !fclose(out));
}

static void put_model(forged *f) { CHECK_OK(&f->c, spot_tensors_save(&f->c, f->path, f->file.tensor, f->file.count)); }

static void drop(forged *f)
{
    remove(f->path), remove(f->config);
    assert_int_equal(rmdir(f->folder), 0);
    if (f->file.count) spot_tensors_close(&f->file);
}

static spot_tensor *tensor(forged *f, const char *name) { return (spot_tensor *)spot_tensors_find(&f->file, name); }

#define GOOD "{\"model_type\":\"clip\",\"text_config\":{\"num_attention_heads\":2,\"eos_token_id\":2}," \
             "\"vision_config\":{\"num_attention_heads\":2,\"image_size\":14}}"

static void refused(forged *f, const spot_clip_options *o, const char *words)
{
    spot_arena count = spot_arena_counting();
    spot_clip_info i;
    spot_clip *clip;

    CHECK_FAILS(&f->c, spot_clip_describe(&f->c, &i, f->path, o), SPOT_INPUT, words);
    CHECK_FAILS(&f->c, spot_clip_open(&f->c, &count, &clip, f->path, o), SPOT_INPUT, words);
    assert_null(clip);
}

TEST(tensors_that_are_no_clip_are_refused)
{
    static const struct { const char *name, *as; int dim, wrong; const char *words; } cases[] = {
        { "vision_model.post_layernorm.bias", "vision_model.post_layernorm.bia", 0, 0, "has no tensor vision_model.post" },
        { "logit_scale", "visual_stranger", 0, 0, "visual_stranger is no tensor of CLIP" },
        { "text_model.final_layer_norm.bias", NULL, 0, 8, "has the shape (8) where (16) is wanted" },
        { "vision_model.encoder.layers.0.layer_norm1.weight", "block", 0, 0, "has no tensor vision_model.encoder.layers.0." },
        { "text_projection.weight", NULL, 0, 2, "has the shape (2, 16) where (8, 16) is wanted" },
        { "vision_model.embeddings.position_embedding.weight", NULL, 0, 9, "has 9 rows, not one more than a square" },
        { "vision_model.embeddings.patch_embedding.weight", NULL, 3, 2, "are not square" },
        { "vision_model.encoder.layers.1.mlp.fc2.weight", NULL, 1, 32, "has the shape (16, 32) where (16, 64) is wanted" },
    };

    for (int k = 0; k < LEN(cases); k++) {
        forged f = forge();
        spot_tensor *t = tensor(&f, cases[k].name);
        if (cases[k].as) t->name = cases[k].as;
        else t->bytes = t->bytes / (size_t)t->dim[cases[k].dim] * (size_t)cases[k].wrong, t->dim[cases[k].dim] = cases[k].wrong;
        put_model(&f);
        put_config(&f, GOOD);
        refused(&f, &as_told, cases[k].words);
        drop(&f);
    }
}

TEST(numbers_and_types_are_looked_at)
{
    forged f = forge();
    spot_tensor *t = tensor(&f, "vision_model.post_layernorm.bias");
    spot_arena a;
    spot_clip *clip;
    float *v = malloc(t->bytes);

    memcpy(v, t->data, t->bytes);
    v[3] = NAN;
    t->data = v;
    put_model(&f);
    put_config(&f, GOOD);
    CHECK_OK(&f.c, spot_arena_open(&f.c, &a, 1 << 24));
    CHECK_FAILS(&f.c, spot_clip_open(&f.c, &a, &clip, f.path, &as_told), SPOT_INPUT, "bias holds a weight that is not a");
    assert_null(clip);
    t->type = SPOT_I32;
    put_model(&f);
    refused(&f, &as_told, "is of type I32; F32, F16 and BF16 are read");
    t->type = SPOT_F32;
    tensor(&f, "logit_scale")->data = &(float){ 1000 };
    put_model(&f);
    refused(&f, &as_told, "logit_scale is 1000, and e to this power no scale");
    spot_arena_close(&a);
    free(v);
    drop(&f);
}

TEST(configs_that_do_not_fit_are_refused)
{
    static const struct { const char *text, *words; } cases[] = {
        { "", "is not a JSON object" }, { "[1]", "is not a JSON object" },
        { "{\"model_type\":\"bert\"}", "is no config of CLIP" },
        { "{\"model_type\":\"clip\",\"text_config\":{}}", "has no object vision_config" },
        { "{\"vision_config\":{\"num_attention_heads\":2},\"text_config\":{\"num_attention_heads\":3,\"eos_token_id\":2}}",
          "3 heads do not divide the width 16 of the text tower" },
        { "{\"vision_config\":{},\"text_config\":{\"num_attention_heads\":2}}", "12 heads do not divide the width 16" },
        { "{\"vision_config\":{\"num_attention_heads\":2},\"text_config\":{\"num_attention_heads\":2}}",
          "the end token 49407 is not among the 40 ids" },
        { "{\"vision_config\":{\"hidden_act\":\"silu\"},\"text_config\":{}}", "vision_config.hidden_act is not quick_gelu" },
        { "{\"vision_config\":{\"hidden_size\":32},\"text_config\":{}}", "hidden_size is 32, and the tensors have 16" },
        { "{\"vision_config\":{\"num_attention_heads\":-1},\"text_config\":{}}", "is not a whole number from 1" },
        { "{\"vision_config\":{\"layer_norm_eps\":1e-300},\"text_config\":{}}", "layer_norm_eps is not between 0 and 1" },
        { "{\"model_cfg\":{\"vision_cfg\":{\"head_width\":8},\"text_cfg\":{\"heads\":2}},"
          "\"preprocess_cfg\":{\"std\":[1,1e-60,1]}}",
          "preprocess_cfg.std is not a list of three" },
        { "{\"vision_config\":{\"image_size\":20},\"text_config\":{}}", "image_size is 20, and the tensors have 12" },
        { "{\"model_cfg\":{\"embed_dim\":8,\"vision_cfg\":{\"head_width\":8},\"text_cfg\":{\"heads\":2,\"embed_cls\":true}}}",
          "text_cfg.embed_cls asks for a network that Spotter does not compute" },
        { "{\"model_cfg\":{\"vision_cfg\":{\"head_width\":8,\"pool_type\":\"avg\"},\"text_cfg\":{\"heads\":2}}}",
          "vision_cfg.pool_type is not tok" },
        { "{\"model_cfg\":{\"vision_cfg\":{\"head_width\":7},\"text_cfg\":{\"heads\":2}}}", "head_width is not a divisor" },
        { "{\"model_cfg\":{\"vision_cfg\":{\"act_kwargs\":{\"approximate\":\"tanh\"}},\"text_cfg\":{}}}", "act_kwargs asks" },
    };
    forged f = forge();

    put_model(&f);
    for (int k = 0; k < LEN(cases); k++) {
        put_config(&f, cases[k].text);
        refused(&f, &as_told, cases[k].words);
    }
    drop(&f);
}

/* Without a config the caller tells all that the tensors do not, or is told so. */
TEST(nothing_is_guessed)
{
    forged f = forge();
    spot_clip_options o = { 0 };
    spot_clip_info i;

    put_model(&f);
    refused(&f, &o, "does not tell the heads of the image tower");
    o.image_heads = o.text_heads = 2;
    refused(&f, &o, "does not tell the activation");
    o.activation = SPOT_CLIP_GELU;
    refused(&f, &o, "which token ends a text");
    o.end = SPOT_CLIP_GREATEST_ID;
    CHECK_OK(&f.c, spot_clip_describe(&f.c, &i, f.path, &o));
    o.config = "golden/clip/nowhere.json";
    CHECK_FAILS(&f.c, spot_clip_describe(&f.c, &i, f.path, &o), SPOT_IO, "nowhere.json");
    drop(&f);
}

/* Every length of the file up to the whole: none is taken for a model. */
TEST(cut_files_are_refused)
{
    forged f = forge();
    spot_clip_info i;
    struct stat st;

    put_model(&f);
    put_config(&f, GOOD);
    CHECK_OK(&f.c, spot_clip_describe(&f.c, &i, f.path, &as_told));
    assert_int_equal(stat(f.path, &st), 0);
    for (long size = st.st_size - 1; size >= 0; size -= size > 8000 ? 997 : 61) {
        assert_int_equal(truncate(f.path, size), 0);
        refused(&f, &as_told, f.path);
    }
    assert_int_equal(truncate(f.path, 0), 0);
    refused(&f, &as_told, "too few");
    drop(&f);
}

TEST(a_file_with_one_tower_serves_that_tower)
{
    for (int text = 0; text < 2; text++) {
        forged f = forge();
        bed b;
        int kept = 0;
        put_config(&f, GOOD);
        for (int k = 0; k < f.file.count; k++)
            if (strncmp(f.file.tensor[k].name, "text", 4) ? !text : text) f.file.tensor[kept++] = f.file.tensor[k];
        f.file.count = kept;
        put_model(&f);
        b = make_bed(f.path, QUICK, &as_told, 2);
        assert_int_equal(b.info->has_texts, text);
        assert_int_equal(b.info->has_images, !text);
        embed(&b, false);
        double least = 1;
        CHECK_NEAR(worst_of(&b, text ? b.text : b.image, text ? "text" : "image", &least), 0, 1e-4);
        if (text)
            CHECK_FAILS(&b.c, spot_clip_images(&b.c, &b.scratch, b.clip, b.image, b.pixels, 1, true), SPOT_INPUT, "for pict");
        else
            CHECK_FAILS(&b.c, spot_clip_texts(&b.c, &b.scratch, b.clip, b.text, b.ids, NULL, 1, true), SPOT_INPUT, "for texts");
        clear_bed(&b);
        drop(&f);
    }
}
