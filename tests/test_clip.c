/* test_clip.c - CLIP against transformers (tests/golden/clip, tools/golden/clip.py), and by any number of threads. With a
 * folder as argument: against that folder's want.safetensors alone. ctest: threads, both */
#define _GNU_SOURCE
#include "clip_bed.h"

#include "net/conv.h"

/* -- against transformers ------------------------------------------------------------------------------------------ */

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
    CHECK_FAILS(&all.c, spot_clip_open(&all.c, &count, &clip, QUICK "model.safetensors", &o), SPOT_INVALID, "clip.batch: -1");
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
                "clip.text_length: text 1 | 0 | 10");
    b.length[1] = 3, b.ids[2 * b.info->context + 1] = 40;
    CHECK_FAILS(&b.c, spot_clip_texts(&b.c, &b.scratch, b.clip, b.text, b.ids, b.length, b.n, true), SPOT_INPUT,
                "clip.token: text 2 | id 40 | 40");
    CHECK_FAILS(&b.c, spot_clip_images(&b.c, &b.scratch, b.clip, b.image, b.pixels, -1, true), SPOT_INVALID,
                "clip.pictures: -1");
    b.c.stop = &stopped;
    assert_int_equal(spot_clip_images(&b.c, &b.scratch, b.clip, b.image, b.pixels, b.n, true), SPOT_STOPPED);
    assert_int_equal(b.scratch.used, 0);
    clear_bed(&b);
    b = make_bed(QUICK "model.safetensors", QUICK, &end, 1);
    for (int k = 0; k < b.info->context; k++) b.ids[k] = 6;
    CHECK_FAILS(&b.c, spot_clip_texts(&b.c, &b.scratch, b.clip, b.text, b.ids, b.length, b.n, true), SPOT_INPUT,
                "clip.end_token: text 0 | token 5");
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

int main(int argc, char **argv)
{
    char path[512];

    if (argc < 2) return run_all_tests();
    snprintf(path, sizeof path, "%s/model.safetensors", argv[1]);
    agrees(path, argv[1], &as_told);
    return 0;
}
