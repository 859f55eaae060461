/* test_clip.c - CLIP against transformers (tests/golden/clip, tools/golden/clip.py), on files that lie, and by any number of
 * threads. With a folder as argument: against that folder's want.safetensors alone. ctest: threads */
#define _GNU_SOURCE
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/safetensors.h"
#include "net/conv.h"
#include "spotter/clip.h"

#define QUICK "golden/clip/quick/"
#define EXACT "golden/clip/exact/"

static const spot_clip_options as_told;

/* -- an open CLIP and what is wanted of it ------------------------------------------------------------------------- */

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

static void *copy_of(const spot_tensors *t, const char *name)
{
    const spot_tensor *e = spot_tensors_find(t, name);
    void *v = malloc(e->bytes + 1);

    memcpy(v, e->data, e->bytes);
    return v;
}

static void open_clip(bed *b, const char *path, const spot_clip_options *o)
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
static bed make_bed(const char *model, const char *wanted, const spot_clip_options *o, int threads)
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

static void clear_bed(bed *b)
{
    spot_clip_close(&b->c, b->clip);
    spot_arena_close(&b->a), spot_arena_close(&b->scratch);
    if (b->want.count) spot_tensors_close(&b->want);
    free(b->pixels), free(b->ids), free(b->length), free(b->image), free(b->text);
}

static void embed(bed *b, bool unit)
{
    if (b->info->has_images)
        CHECK_OK(&b->c, spot_clip_images(&b->c, &b->scratch, b->clip, b->image, b->pixels, b->n, unit));
    if (b->info->has_texts)
        CHECK_OK(&b->c, spot_clip_texts(&b->c, &b->scratch, b->clip, b->text, b->ids, b->length, b->n, unit));
    assert_int_equal(b->scratch.used, 0);
}

/* -- against transformers ------------------------------------------------------------------------------------------ */

static double dot(const float *a, const float *b, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += (double)a[i] * b[i];
    return sum;
}

/* The worst distance of two embeddings divided by their lengths; least: their least cosine. */
static double worst_of(const bed *b, const float *got, const char *name, double *least)
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

/* Logits of pictures by texts and of texts by pictures. */
static void check_logits(bed *b)
{
    float *per_image = copy_of(&b->want, "per_image"), *per_text = copy_of(&b->want, "per_text");
    int n = b->n, d = b->info->dim;

    embed(b, true);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double logit = b->info->scale * dot(b->image + (size_t)i * d, b->text + (size_t)k * d, d);
            CHECK_NEAR(logit, per_image[i * n + k], 1e-4 * b->info->scale);
            CHECK_NEAR(logit, per_text[k * n + i], 1e-4 * b->info->scale);
        }
    free(per_image), free(per_text);
}

static void agrees(const char *model, const char *folder, const spot_clip_options *o)
{
    bed b = make_bed(model, folder, o, 2);
    double least[2] = { 1, 1 }, worst[2];
    float *own = copy_of(&b.want, "own");

    embed(&b, false);
    worst[0] = worst_of(&b, b.image, "image", &least[0]);
    worst[1] = worst_of(&b, b.text, "text", &least[1]);
    print_message("%s: pictures off by %.1e (PyTorch's fp32 %.1e), 1 - cosine %.1e; texts by %.1e (%.1e), %.1e\n", folder,
                  worst[0], own[0], 1 - least[0], worst[1], own[1], 1 - least[1]);
    for (int k = 0; k < 2; k++) {
        CHECK_NEAR(worst[k], 0, 1e-4);
        CHECK_NEAR(least[k], 1, 1e-5);
    }
    check_logits(&b);
    free(own);
    clear_bed(&b);
}

TEST(embeds_as_transformers_with_its_names)   { agrees(QUICK "model.safetensors", QUICK, &as_told); }
TEST(embeds_as_transformers_with_open_clips)  { agrees(EXACT "model.safetensors", EXACT, &as_told); }

/* The same weights: what differs between the two folders is the activation. */
TEST(the_caller_may_choose_the_activation)
{
    spot_clip_options quick = { .activation = SPOT_CLIP_QUICK_GELU }, exact = { .activation = SPOT_CLIP_GELU };

    agrees(QUICK "model.safetensors", EXACT, &exact);
    agrees(EXACT "model.safetensors", QUICK, &quick);
}

TEST(a_file_tells_its_sizes)
{
    static const char *const folder[] = { QUICK, EXACT }, *const names[] = { "Hugging Face", "OpenAI" };

    for (int k = 0; k < 2; k++) {
        spot_ctx c = check_ctx(1);
        spot_clip_info i;
        char path[128];
        snprintf(path, sizeof path, "%smodel.safetensors", folder[k]);
        CHECK_OK(&c, spot_clip_describe(&c, &i, path, &as_told));
        assert_true(i.has_images && i.has_texts);
        assert_int_equal(i.dim, 8), assert_int_equal(i.side, 14), assert_int_equal(i.patch, 4);
        assert_int_equal(i.image.width, 16), assert_int_equal(i.image.heads, 2), assert_int_equal(i.image.layers, 2);
        assert_int_equal(i.text.hidden, 64), assert_int_equal(i.context, 10), assert_int_equal(i.vocabulary, 40);
        assert_int_equal(i.end, SPOT_CLIP_GREATEST_ID), assert_string_equal(i.names, names[k]);
        assert_int_equal(i.image.activation, k ? SPOT_CLIP_GELU : SPOT_CLIP_QUICK_GELU);
        CHECK_NEAR(i.scale, 14.2985, 1e-3);       /* exp of 2.6592 as F16 */
    }
}

/* -- the same bits -------------------------------------------------------------------------------------------------- */

static void same(const float *a, const float *b, int n, const char *what)
{
    if (memcmp(a, b, (size_t)n * sizeof *a)) fail_msg("%s: not the same bits", what);
}

TEST(threads_change_no_bit)
{
    bed one = make_bed(QUICK "model.safetensors", QUICK, &as_told, 1);

    embed(&one, true);
    for (int threads = 2; threads <= 5; threads++) {
        bed b = make_bed(QUICK "model.safetensors", QUICK, &as_told, threads);
        embed(&b, true);
        same(b.image, one.image, b.n * b.info->dim, "pictures");
        same(b.text, one.text, b.n * b.info->dim, "texts");
        clear_bed(&b);
    }
    clear_bed(&one);
}

/* More than a batch: 1,000 pictures of 10 tokens, 1,000 texts of up to 10. Each is near what it is in its own call. */
TEST(batches_do_not_matter)
{
    enum { N = 1000 };
    bed b = make_bed(QUICK "model.safetensors", QUICK, &as_told, 2);
    int d = b.info->dim, picture = b.info->side * b.info->side * 3, context = b.info->context;
    uint8_t *pixels = malloc((size_t)N * picture);
    int *ids = malloc((size_t)N * context * sizeof *ids), *length = malloc(N * sizeof *length);
    float *image = malloc((size_t)N * d * sizeof *image), *text = malloc((size_t)N * d * sizeof *text);
    spot_arena count = spot_arena_counting();

    for (int i = 0; i < N; i++) {
        memcpy(pixels + (size_t)i * picture, b.pixels + (size_t)(i % b.n) * picture, (size_t)picture);
        memcpy(ids + (size_t)i * context, b.ids + (size_t)(i % b.n) * context, (size_t)context * sizeof *ids);
        length[i] = b.length[i % b.n];
    }
    embed(&b, true);
    CHECK_OK(&b.c, spot_clip_images(&b.c, &count, b.clip, NULL, NULL, N, true));
    CHECK_OK(&b.c, spot_clip_texts(&b.c, &count, b.clip, NULL, NULL, NULL, N, true));
    spot_arena_close(&b.scratch);
    CHECK_OK(&b.c, spot_arena_open(&b.c, &b.scratch, count.peak));
    CHECK_OK(&b.c, spot_clip_images(&b.c, &b.scratch, b.clip, image, pixels, N, true));
    CHECK_OK(&b.c, spot_clip_texts(&b.c, &b.scratch, b.clip, text, ids, length, N, true));
    for (int i = 0; i < N * d; i++) {
        CHECK_NEAR(image[i], b.image[i % (b.n * d)], 1e-6);
        CHECK_NEAR(text[i], b.text[i % (b.n * d)], 1e-6);
    }
    free(pixels), free(ids), free(length), free(image), free(text);
    clear_bed(&b);
}

/* Less than a picture's tokens, and room for a few texts: each batch has one at least. */
TEST(a_batch_may_be_small)
{
    static const int rows[] = { 1, 25 };
    bed all = make_bed(QUICK "model.safetensors", QUICK, &as_told, 2);
    spot_clip_options o = { 0 };
    spot_arena count = spot_arena_counting();
    spot_clip *clip;

    embed(&all, true);
    for (int k = 0; k < LEN(rows); k++) {
        o.rows = rows[k];
        bed b = make_bed(QUICK "model.safetensors", QUICK, &o, 2);
        assert_true(b.scratch.size < all.scratch.size);
        embed(&b, true);
        for (int i = 0; i < b.n * b.info->dim; i++) {
            CHECK_NEAR(b.image[i], all.image[i], 1e-6);
            CHECK_NEAR(b.text[i], all.text[i], 1e-6);
        }
        clear_bed(&b);
    }
    o.rows = -1;
    CHECK_FAILS(&all.c, spot_clip_open(&all.c, &count, &clip, QUICK "model.safetensors", &o), SPOT_INVALID, "a batch of -1");
    clear_bed(&all);
}

/* Ids behind the end token are not looked at. */
TEST(padding_changes_nothing)
{
    bed b = make_bed(QUICK "model.safetensors", QUICK, &as_told, 2);
    int context = b.info->context, size = b.n * b.info->dim;
    float *first = malloc((size_t)size * sizeof *first);

    embed(&b, true);
    memcpy(first, b.text, (size_t)size * sizeof *first);
    CHECK_OK(&b.c, spot_clip_texts(&b.c, &b.scratch, b.clip, b.text, b.ids, NULL, b.n, true));
    same(b.text, first, size, "without lengths");
    for (int i = 0; i < b.n; i++)
        for (int k = b.length[i]; k < context; k++) b.ids[i * context + k] = -7;
    embed(&b, true);
    same(b.text, first, size, "with other padding");
    free(first);
    clear_bed(&b);
}

static const volatile sig_atomic_t stopped = 1;

TEST(what_cannot_be_embedded_is_named)
{
    bed b = make_bed(QUICK "model.safetensors", QUICK, &as_told, 1);
    spot_clip_options end = { .end = SPOT_CLIP_FIRST_END, .end_id = 5 };

    b.length[1] = 0;
    CHECK_FAILS(&b.c, spot_clip_texts(&b.c, &b.scratch, b.clip, b.text, b.ids, b.length, b.n, true), SPOT_INPUT,
                "text 1 (from 0) has 0 ids where 1 to 10 are possible");
    b.length[1] = 3, b.ids[2 * b.info->context + 1] = 40;
    CHECK_FAILS(&b.c, spot_clip_texts(&b.c, &b.scratch, b.clip, b.text, b.ids, b.length, b.n, true), SPOT_INPUT,
                "text 2 (from 0): id 40 is not among the 40");
    CHECK_FAILS(&b.c, spot_clip_images(&b.c, &b.scratch, b.clip, b.image, b.pixels, -1, true), SPOT_INVALID, "-1 pictures");
    b.c.stop = &stopped;
    assert_int_equal(spot_clip_images(&b.c, &b.scratch, b.clip, b.image, b.pixels, b.n, true), SPOT_STOPPED);
    assert_int_equal(b.scratch.used, 0);
    clear_bed(&b);
    b = make_bed(QUICK "model.safetensors", QUICK, &end, 1);
    for (int k = 0; k < b.info->context; k++) b.ids[k] = 6;
    CHECK_FAILS(&b.c, spot_clip_texts(&b.c, &b.scratch, b.clip, b.text, b.ids, b.length, b.n, true), SPOT_INPUT,
                "text 0 (from 0) has no end token 5");
    clear_bed(&b);
}

/* On a CPU that has it, asked for in the environment (conv.h). */
TEST(bf16_is_near_fp32)
{
    spot_clip_options half = { .precision = SPOT_BF16 };
    spot_ctx c = check_ctx(1);
    double least = 1;
    bed b;

    if (!spot_conv_has(&c, SPOT_BF16)) skip();
    b = make_bed(QUICK "model.safetensors", QUICK, &half, 2);
    embed(&b, true);
    for (int k = 0; k < 2; k++) {
        float *want = copy_of(&b.want, k ? "text" : "image"), *got = k ? b.text : b.image;
        int d = b.info->dim;
        for (int i = 0; i < b.n; i++)
            least = fmin(least, dot(got + i * d, want + i * d, d) / sqrt(dot(want + i * d, want + i * d, d)));
        free(want);
    }
    CHECK_NEAR(least, 1, 1e-3);
    clear_bed(&b);
}

/* -- files that lie -------------------------------------------------------------------------------------------------- */

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

int main(int argc, char **argv)
{
    char path[512];

    if (argc < 2) return run_all_tests();
    snprintf(path, sizeof path, "%s/model.safetensors", argv[1]);
    agrees(path, argv[1], &as_told);
    return 0;
}
