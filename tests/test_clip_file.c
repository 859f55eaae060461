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
        { "vision_model.post_layernorm.bias", "vision_model.post_layernorm.bia", 0, 0,
          "clip_file.no_tensor: vision_model.post" },
        { "logit_scale", "visual_stranger", 0, 0, "clip_file.other_tensor: visual_stranger" },
        { "text_model.final_layer_norm.bias", NULL, 0, 8, "clip_file.shape: (8) | (16)" },
        { "vision_model.encoder.layers.0.layer_norm1.weight", "block", 0, 0,
          "clip_file.no_tensor: vision_model.encoder.layers.0." },
        { "text_projection.weight", NULL, 0, 2, "clip_file.shape: (2, 16) | (8, 16)" },
        { "vision_model.embeddings.position_embedding.weight", NULL, 0, 9, "clip_file.patches: 9" },
        { "vision_model.embeddings.patch_embedding.weight", NULL, 3, 2, "clip_file.patch_size" },
        { "vision_model.encoder.layers.1.mlp.fc2.weight", NULL, 1, 32, "clip_file.shape: (16, 32) | (16, 64)" },
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
    CHECK_FAILS(&f.c, spot_clip_open(&f.c, &a, &clip, f.path, &as_told), SPOT_INPUT, "weights.value: bias");
    assert_null(clip);
    t->type = SPOT_I32;
    put_model(&f);
    refused(&f, &as_told, "clip_file.type: I32");
    t->type = SPOT_F32;
    tensor(&f, "logit_scale")->data = &(float){ 1000 };
    put_model(&f);
    refused(&f, &as_told, "clip_file.logit_scale: 1000");
    spot_arena_close(&a);
    free(v);
    drop(&f);
}

TEST(configs_that_do_not_fit_are_refused)
{
    static const struct { const char *text, *words; } cases[] = {
        { "", "clip_config.json" }, { "[1]", "clip_config.json" },
        { "{\"model_type\":\"bert\"}", "clip_config.kind" },
        { "{\"model_type\":\"clip\",\"text_config\":{}}", "clip_config.no_object" },
        { "{\"vision_config\":{\"num_attention_heads\":2},\"text_config\":{\"num_attention_heads\":3,\"eos_token_id\":2}}",
          "clip_config.heads_width: 3 | width 16 | text" },
        { "{\"vision_config\":{},\"text_config\":{\"num_attention_heads\":2}}", "clip_config.heads_width: 12 | width 16" },
        { "{\"vision_config\":{\"num_attention_heads\":2},\"text_config\":{\"num_attention_heads\":2}}",
          "clip_config.end_token: token 49407 | 40" },
        { "{\"vision_config\":{\"hidden_act\":\"silu\"},\"text_config\":{}}",
          "clip_config.member: vision_config.hidden_act | quick_gelu" },
        { "{\"vision_config\":{\"hidden_size\":32},\"text_config\":{}}", "clip_config.of_others: hidden_size | 32 | 16" },
        { "{\"vision_config\":{\"num_attention_heads\":-1},\"text_config\":{}}", "clip_config.member: whole number from 1" },
        { "{\"vision_config\":{\"layer_norm_eps\":1e-300},\"text_config\":{}}",
          "clip_config.member: layer_norm_eps | 0 and 1" },
        { "{\"model_cfg\":{\"vision_cfg\":{\"head_width\":8},\"text_cfg\":{\"heads\":2}},"
          "\"preprocess_cfg\":{\"std\":[1,1e-60,1]}}",
          "clip_config.member: preprocess_cfg.std | three" },
        { "{\"vision_config\":{\"image_size\":20},\"text_config\":{}}", "clip_config.of_others: image_size | 20 | 12" },
        { "{\"model_cfg\":{\"embed_dim\":8,\"vision_cfg\":{\"head_width\":8},\"text_cfg\":{\"heads\":2,\"embed_cls\":true}}}",
          "clip_config.network: text_cfg | embed_cls" },
        { "{\"model_cfg\":{\"vision_cfg\":{\"head_width\":8,\"pool_type\":\"avg\"},\"text_cfg\":{\"heads\":2}}}",
          "clip_config.member: vision_cfg.pool_type | tok" },
        { "{\"model_cfg\":{\"vision_cfg\":{\"head_width\":7},\"text_cfg\":{\"heads\":2}}}",
          "clip_config.member: head_width | divisor" },
        { "{\"model_cfg\":{\"vision_cfg\":{\"act_kwargs\":{\"approximate\":\"tanh\"}},\"text_cfg\":{}}}",
          "clip_config.network: act_kwargs" },
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
    refused(&f, &o, "clip_config.no_heads: image");
    o.image_heads = o.text_heads = 2;
    refused(&f, &o, "clip_config.no_activation");
    o.activation = SPOT_CLIP_GELU;
    refused(&f, &o, "clip_config.no_end_token");
    o.end = SPOT_CLIP_GREATEST_ID;
    CHECK_OK(&f.c, spot_clip_describe(&f.c, &i, f.path, &o));
    o.config = "golden/clip/nowhere.json";
    CHECK_FAILS(&f.c, spot_clip_describe(&f.c, &i, f.path, &o), SPOT_IO, "file.failed: nowhere.json");
    drop(&f);
}

/* Every length of the file up to the whole: none is taken for a model. */
TEST(cut_files_are_refused)
{
    forged f = forge();
    spot_clip_info i;
    struct stat st;
    uint64_t header;
    FILE *file;

    put_model(&f);
    put_config(&f, GOOD);
    CHECK_OK(&f.c, spot_clip_describe(&f.c, &i, f.path, &as_told));
    file = fopen(f.path, "rb");
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    fclose(file);
    assert_int_equal(stat(f.path, &st), 0);
    for (long size = st.st_size - 1; size >= 0; size -= size > 8000 ? 997 : 61) {
        assert_int_equal(truncate(f.path, size), 0);
        refused(&f, &as_told, check_text("safetensors.%s: %s",
                                         (uint64_t)size < 8 + header ? "header_length" : "offsets", f.path));
    }
    assert_int_equal(truncate(f.path, 0), 0);
    refused(&f, &as_told, "safetensors.short");
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
            CHECK_FAILS(&b.c, spot_clip_images(&b.c, &b.scratch, b.clip, b.image, b.pixels, 1, true), SPOT_INPUT,
                        "clip.no_picture_tower");
        else
            CHECK_FAILS(&b.c, spot_clip_texts(&b.c, &b.scratch, b.clip, b.text, b.ids, NULL, 1, true), SPOT_INPUT,
                        "clip.no_text_tower");
        clear_bed(&b);
        drop(&f);
    }
}
