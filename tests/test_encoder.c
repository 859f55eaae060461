/* test_encoder.c - rows of encoders against the networks that they run, on files that cannot be read, and their names.
 * ctest: threads */
#define _GNU_SOURCE
#include "check_clip.h"
#include "check_resnet.h"

#include <unistd.h>

#include "formats/bpe.h"
#include "formats/picture.h"
#include "heard.h"
#include "spotter/encoder.h"

enum { N = 5, MANY = 300, MANY_TEXTS = 2500 };

static spot_encoder *open_as(spot_ctx *c, const char *path, spot_encoder_options o)
{
    spot_encoder *e;

    CHECK_OK(c, spot_encoder_open(c, &e, path, &o));
    return e;
}

/* root/p/00000.png ...; every `bad`-th is no picture (0: none). */
static char **put_pictures(int n, int bad)
{
    char **path = calloc((size_t)n, sizeof *path);

    mkdir(in_root("p"), 0777);
    for (int i = 0; i < n; i++) {
        path[i] = strdup(in_root("p/%05d.png", i));
        if (bad && i % bad == bad - 1) put_text(path[i], "\x89PNG\r\n\x1a\n");
        else if (i < 40) put_picture(path[i], i);
        else assert_int_equal(symlink(in_root("p/%05d.png", i % 7), path[i]), 0);
    }
    return path;
}

static void free_paths(char **path, int n)
{
    for (int i = 0; i < n; i++) free(path[i]);
    free(path);
}

static void same(const void *a, const void *b, size_t bytes, const char *words)
{
    if (memcmp(a, b, bytes)) fail_msg("%s: not the same bytes", words);
}

/* The squares of the pictures, by the functions that the encoder should use. */
static uint8_t *squares(char **path, int n, int resize, int side, spot_filter filter)
{
    uint8_t *rgb = malloc((size_t)n * side * side * 3);
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };

    for (int i = 0; i < n; i++) {
        CHECK_OK(&c, spot_picture_read(&c, &p, path[i]));
        CHECK_OK(&c, spot_picture_fit_by(&c, rgb + (size_t)i * side * side * 3, &p, resize, side, filter));
    }
    spot_picture_close(&p);
    return rgb;
}

/* -- CLIP ---------------------------------------------------------------------------------------------------------- */

typedef struct { spot_arena a, scratch; spot_clip *clip; } plain_clip;

static plain_clip open_plain(spot_ctx *c, const char *path, int n)
{
    spot_arena count = spot_arena_counting();
    spot_clip_options o = { 0 };
    plain_clip p;

    CHECK_OK(c, spot_clip_open(c, &count, &p.clip, path, &o));
    CHECK_OK(c, spot_arena_open(c, &p.a, count.peak));
    CHECK_OK(c, spot_clip_open(c, &p.a, &p.clip, path, &o));
    count = spot_arena_counting();
    CHECK_OK(c, spot_clip_images(c, &count, p.clip, NULL, NULL, n, true));
    CHECK_OK(c, spot_clip_texts(c, &count, p.clip, NULL, NULL, NULL, n, true));
    CHECK_OK(c, spot_arena_open(c, &p.scratch, count.peak));
    return p;
}

static void close_plain(spot_ctx *c, plain_clip *p)
{
    spot_clip_close(c, p->clip);
    spot_arena_close(&p->a), spot_arena_close(&p->scratch);
}

TEST_IN_FOLDER(clips_pictures_are_those_of_clip)
{
    spot_ctx c = check_ctx(2);
    const char *model = put_model();
    char **path = put_pictures(N, 0);
    uint8_t *rgb = squares(path, N, CLIP_SIDE, CLIP_SIDE, SPOT_BICUBIC);
    float want[N * CLIP_DIM], got[N * CLIP_DIM], pixels[N * CLIP_DIM];
    spot_encoder *e = open_as(&c, model, spot_encoder_defaults());
    const spot_encoder_info *i = spot_encoder_about(e);
    plain_clip p = open_plain(&c, model, N);

    assert_true(i->kind == SPOT_ENCODER_CLIP && i->has_images && i->has_texts && i->dim == CLIP_DIM && i->side == CLIP_SIDE);
    assert_true(i->context == CLIP_CONTEXT && !i->outputs && i->bytes > 0 && i->picture_block > 1 && i->text_block > 1);
    CHECK_NEAR(i->scale, exp(2.6592), 1e-4);
    CHECK_OK(&c, spot_clip_images(&c, &p.scratch, p.clip, want, rgb, N, true));
    CHECK_OK(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path, .n = N, .feature = got }));
    CHECK_OK(&c, spot_encode_pixels(&c, e, pixels, NULL, rgb, N));
    same(got, want, sizeof got, "pictures");
    same(pixels, want, sizeof got, "pixels");
    for (int k = 1; k < N; k++) assert_true(memcmp(got, got + k * CLIP_DIM, CLIP_DIM * sizeof *got));
    close_plain(&c, &p);
    spot_encoder_close(&c, e);
    free(rgb);
    free_paths(path, N);
}

TEST_IN_FOLDER(clips_texts_are_those_of_clip)
{
    static const char *const text[] = { "a cat", "Dogs!", "", "caf\xc3\xa9" };
    spot_ctx c = check_ctx(2);
    const char *model = put_model();
    float want[4 * CLIP_DIM], got[4 * CLIP_DIM];
    int32_t id[4 * CLIP_CONTEXT];
    int length[4];
    spot_encoder *e = open_as(&c, model, spot_encoder_defaults());
    plain_clip p = open_plain(&c, model, 4);
    spot_bpe_texts b = { .text = text, .n = 4, .context = CLIP_CONTEXT, .id = id, .length = length };
    spot_bpe *t;

    CHECK_OK(&c, spot_bpe_open(&c, &t, in_root("clip/merges.txt"), CLIP_WORDS));
    CHECK_OK(&c, spot_bpe_encode(&c, t, &b));
    assert_int_equal(id[0], 515);
    assert_int_equal(length[0], 4);                    /* "a", "cat" and the ends */
    CHECK_OK(&c, spot_clip_texts(&c, &p.scratch, p.clip, want, id, length, 4, true));
    CHECK_OK(&c, spot_encode_texts(&c, e, got, text, 4));
    same(got, want, sizeof got, "texts");
    spot_bpe_close(t);
    close_plain(&c, &p);
    spot_encoder_close(&c, e);
}

TEST_IN_FOLDER(long_texts_are_refused_or_cut)
{
    static const char *const text[] = { "a cat", "one two three four", "six seven eight", "\xff" };
    spot_ctx c = check_ctx(1);
    spot_encoder_options cut = spot_encoder_defaults();
    const char *model = put_model();
    const char *many[MANY_TEXTS];
    float got[3 * CLIP_DIM];
    spot_encoder *e = open_as(&c, model, cut);

    CHECK_FAILS(&c, spot_encode_texts(&c, e, got, text, 3), SPOT_INPUT, "text.too_long: text 2 | \"one two three four\"");
    CHECK_FAILS(&c, spot_encoder_check_texts(&c, e, text, 3), SPOT_INPUT, "text.too_long: text 2 | \"one two three four\"");
    CHECK_FAILS(&c, spot_encode_texts(&c, e, got, text + 3, 1), SPOT_INPUT, "text.utf8: text 1 | \"?\"");
    for (int i = 0; i < MANY_TEXTS; i++) many[i] = text[i == MANY_TEXTS - 2];
    CHECK_FAILS(&c, spot_encoder_check_texts(&c, e, many, MANY_TEXTS), SPOT_INPUT,
                "text.too_long: text 2499 | \"one two three four\"");
    spot_encoder_close(&c, e);
    c.on_log = hear_lines, says = 0;
    cut.cut = true;
    e = open_as(&c, model, cut);
    CHECK_OK(&c, spot_encoder_check_texts(&c, e, text, 3));
    CHECK_OK(&c, spot_encode_text_rows(&c, e, &(spot_encoder_texts){ .text = text, .n = 3, .feature = got, .quiet = true }));
    assert_int_equal(count_said("2 of 3 texts have more than 12 tokens and were cut"), 1);
    CHECK_OK(&c, spot_encode_texts(&c, e, got, text, 3));
    assert_int_equal(count_said("2 of 3 texts have more than 12 tokens and were cut"), 2);
    CHECK_OK(&c, spot_encoder_check_texts(&c, e, many, MANY_TEXTS));
    assert_int_equal(count_said("1 of 2500 texts have more than 12 tokens and were cut"), 1);
    spot_encoder_close(&c, e);
}

TEST_IN_FOLDER(texts_need_the_tokenizer_of_the_model)
{
    static const char *const text[] = { "a" };
    spot_ctx c = check_ctx(1);
    spot_encoder_options o = spot_encoder_defaults();
    const char *model = put_model();
    char **path = put_pictures(1, 0);
    float row[CLIP_DIM];
    spot_encoder *e;

    rename(in_root("clip/merges.txt"), in_root("elsewhere.txt"));
    e = open_as(&c, model, o);
    CHECK_FAILS(&c, spot_encode_texts(&c, e, row, text, 1), SPOT_INPUT, "encoder.no_tokenizer: clip");
    CHECK_OK(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path, .n = 1, .feature = row }));
    spot_encoder_close(&c, e);
    o.vocabulary = in_root("elsewhere.txt");
    e = open_as(&c, model, o);
    CHECK_OK(&c, spot_encode_texts(&c, e, row, text, 1));
    spot_encoder_close(&c, e);
    put_text(in_root("elsewhere.txt"), "#version: 0.2\nc a\n");
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, model, &o), SPOT_INPUT, "vocabulary.few_merges: 1");
    put_text(in_root("elsewhere.txt"), "{");
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, model, &o), SPOT_INPUT, "vocabulary.json: elsewhere.txt");
    assert_null(e);
    put_clip(in_root("clip/model.safetensors"), 1, 7);
    e = open_as(&c, model, spot_encoder_defaults());
    assert_false(spot_encoder_about(e)->has_texts);
    CHECK_FAILS(&c, spot_encode_texts(&c, e, row, text, 1), SPOT_INPUT, "encoder.no_text_tower");
    spot_encoder_close(&c, e);
    put_clip(in_root("clip/model.safetensors"), 2, 7);
    put_text(in_root("clip/merges.txt"), CLIP_VOCABULARY);
    e = open_as(&c, model, spot_encoder_defaults());
    CHECK_FAILS(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path, .n = 1, .feature = row }), SPOT_INPUT,
                "encoder.no_picture_tower");
    CHECK_OK(&c, spot_encode_texts(&c, e, row, text, 1));
    spot_encoder_close(&c, e);
    free_paths(path, 1);
}

/* Pictures alone, texts alone: less memory, the same rows, and a sentence about the other kind. */
TEST_IN_FOLDER(a_tower_may_be_left_out)
{
    static const char *const text[] = { "a cat" };
    spot_ctx c = check_ctx(1);
    const char *model = put_model();
    char **path = put_pictures(1, 0);
    float want[2][CLIP_DIM], got[CLIP_DIM];
    size_t bytes = 0;

    for (int use = SPOT_CLIP_USE_BOTH; use <= SPOT_CLIP_USE_TEXTS; use++) {
        spot_encoder_options o = spot_encoder_defaults();
        spot_encoder *e;
        spot_encoder_pictures p = { .path = path, .n = 1, .feature = use ? got : want[0] };
        o.clip.use = (spot_clip_use)use;
        e = open_as(&c, model, o);
        if (!use) bytes = spot_encoder_about(e)->bytes;
        else assert_true(spot_encoder_about(e)->bytes < bytes);
        if (use == SPOT_CLIP_USE_TEXTS) CHECK_FAILS(&c, spot_encode_pictures(&c, e, &p), SPOT_INPUT,
                                                    "encoder.no_picture_tower");
        else CHECK_OK(&c, spot_encode_pictures(&c, e, &p));
        if (use == SPOT_CLIP_USE_IMAGES) {
            same(got, want[0], sizeof got, "pictures");
            CHECK_FAILS(&c, spot_encode_texts(&c, e, got, text, 1), SPOT_INPUT, "encoder.no_text_tower");
        } else CHECK_OK(&c, spot_encode_texts(&c, e, use ? got : want[1], text, 1));
        if (use == SPOT_CLIP_USE_TEXTS) same(got, want[1], sizeof got, "texts");
        spot_encoder_close(&c, e);
    }
    free_paths(path, 1);
}

/* A vocabulary whose ids fit, but whose end token is not the one that the network looks for. */
TEST_IN_FOLDER(a_vocabulary_of_another_model_is_refused)
{
    spot_ctx c = check_ctx(1);
    spot_encoder_options o = spot_encoder_defaults();
    const char *model = put_model();
    spot_encoder *e;

    o.clip.end = SPOT_CLIP_FIRST_END;
    o.clip.end_id = 3;
    o.vocabulary = in_root("clip/merges.txt");
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, model, &o), SPOT_INPUT, "encoder.end_token: token 516");
}

/* -- blocks, threads, pictures that cannot be read ------------------------------------------------------------------- */

/* In one call, in two calls, by one thread: the same bytes. */
TEST_IN_FOLDER(calls_at_blocks_give_the_same_bits)
{
    spot_ctx c = check_ctx(3);
    const char *model = put_model();
    char **path = put_pictures(MANY, 0), text[MANY][16];
    const char *list[MANY];
    float *a = malloc(MANY * CLIP_DIM * sizeof *a), *b = malloc(MANY * CLIP_DIM * sizeof *b);
    spot_encoder *e = open_as(&c, model, spot_encoder_defaults());
    int block = spot_encoder_about(e)->picture_block;

    assert_true(block < MANY);
    CHECK_OK(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path, .n = MANY, .feature = a }));
    CHECK_OK(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path, .n = block, .feature = b }));
    c.threads = 1;
    CHECK_OK(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path + block, .n = MANY - block,
                                                                       .feature = b + block * CLIP_DIM }));
    same(a, b, MANY * CLIP_DIM * sizeof *a, "pictures");
    for (int i = 0; i < MANY; i++) snprintf(text[i], sizeof *text, "%d", i % 97), list[i] = text[i];
    CHECK_OK(&c, spot_encode_texts(&c, e, a, list, MANY));
    c.threads = 4;
    CHECK_OK(&c, spot_encode_texts(&c, e, b, list, MANY));
    same(a, b, MANY * CLIP_DIM * sizeof *a, "texts");
    spot_encoder_close(&c, e);
    free(a), free(b);
    free_paths(path, MANY);
}

static struct { double done, total; int calls; } told;

static void watch(void *user, const spot_progress *p)
{
    (void)user;
    assert_string_equal(p->stage, "embed");
    assert_true(p->done > told.done);
    told.done = p->done, told.total = p->total, told.calls++;
}

TEST_IN_FOLDER(unreadable_pictures_have_no_row_or_stop_it)
{
    spot_ctx c = check_ctx(2);
    const char *model = put_model();
    char **path = put_pictures(MANY, 20);
    float *row = malloc(MANY * CLIP_DIM * sizeof *row), zero[CLIP_DIM] = { 0 }, one[CLIP_DIM];
    uint8_t *bad = malloc(MANY);
    int skipped = 3;
    spot_encoder *e = open_as(&c, model, spot_encoder_defaults());
    spot_encoder_pictures p = { .path = path, .n = MANY, .feature = row, .unreadable = bad, .skipped = &skipped,
                                .stage = "embed", .before = 100, .total = 500 };

    c.on_log = hear_lines, c.on_progress = watch, says = 0;
    memset(&told, 0, sizeof told);
    memset(row, 0x7f, MANY * CLIP_DIM * sizeof *row);
    CHECK_OK(&c, spot_encode_pictures(&c, e, &p));
    assert_true(told.done == 100 + MANY && told.total == 500 && told.calls > 1);
    assert_int_equal(skipped, 3 + MANY / 20);
    assert_int_equal(count_said("left out: "), 10 - 3);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(bad[i], i % 20 == 19);
        assert_int_equal(!memcmp(row + i * CLIP_DIM, zero, sizeof zero), bad[i]);
    }
    CHECK_OK(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path + 23, .n = 1, .feature = one }));
    for (int k = 0; k < CLIP_DIM; k++) CHECK_NEAR(one[k], row[23 * CLIP_DIM + k], 1e-6);
    p.unreadable = NULL;
    CHECK_FAILS(&c, spot_encode_pictures(&c, e, &p), SPOT_INPUT, "png.damaged: 00019.png");
    path[0][strlen(path[0]) - 1] = 'x';
    CHECK_FAILS(&c, spot_encode_pictures(&c, e, &p), SPOT_INPUT, "file.unopened: 00000.pnx");
    spot_encoder_close(&c, e);
    free(row), free(bad);
    free_paths(path, MANY);
}

static const volatile sig_atomic_t stopped = 1;

TEST_IN_FOLDER(it_stops_when_told)
{
    static const char *const text[] = { "a" };
    spot_ctx c = check_ctx(1);
    const char *model = put_model();
    char **path = put_pictures(1, 0);
    float row[CLIP_DIM];
    spot_encoder *e = open_as(&c, model, spot_encoder_defaults());

    c.stop = &stopped;
    assert_int_equal(spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path, .n = 1, .feature = row }),
                     SPOT_STOPPED);
    spot_forget(&c);
    assert_int_equal(spot_encode_texts(&c, e, row, text, 1), SPOT_STOPPED);
    spot_encoder_close(&c, e);
    free_paths(path, 1);
}

/* -- ResNet --------------------------------------------------------------------------------------------------------- */

static const char *put_resnet(int outputs)
{
    const char *path = in_root("net.safetensors");
    spot_ctx c = check_ctx(1);
    spot_arena a;
    spot_model m;

    CHECK_OK(&c, spot_arena_open(&c, &a, 16 << 20));
    CHECK_OK(&c, spot_model_take(&c, &a, &m, SPOT_ARCH_RESNET18, 16, outputs));
    fill_model(&m);
    m.batches_tracked = 0;
    CHECK_OK(&c, spot_model_save(&c, path, &m));
    spot_arena_close(&a);
    return path;
}

TEST_IN_FOLDER(a_resnets_rows_are_its_features_and_logits)
{
    enum { SIDE = 32, D = 128, OUTPUTS = 3 };
    spot_ctx c = check_ctx(2);
    const char *net = put_resnet(OUTPUTS);
    char **path = put_pictures(N, 0);
    uint8_t *rgb = squares(path, N, 40, SIDE, SPOT_BILINEAR);
    float want[N * D], want_logit[N * OUTPUTS], got[N * D], logit[N * OUTPUTS];
    spot_encoder_options o = spot_encoder_defaults();
    spot_arena count = spot_arena_counting(), a, scratch;
    spot_encoder *e;
    spot_model m;

    o.resize = 40, o.crop = SIDE;
    e = open_as(&c, net, o);
    assert_true(spot_encoder_about(e)->kind == SPOT_ENCODER_RESNET && spot_encoder_about(e)->dim == D);
    assert_true(spot_encoder_about(e)->outputs == OUTPUTS && spot_encoder_about(e)->side == SIDE);
    CHECK_OK(&c, spot_arena_open(&c, &a, 16 << 20));
    CHECK_OK(&c, spot_model_load(&c, &a, &m, net, 0, 0));
    CHECK_OK(&c, spot_model_infer(&c, &count, NULL, NULL, &m, NULL, N, SIDE));
    CHECK_OK(&c, spot_arena_open(&c, &scratch, count.peak));
    CHECK_OK(&c, spot_model_infer(&c, &scratch, want_logit, want, &m, rgb, N, SIDE));
    CHECK_OK(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path, .n = N, .feature = got, .logit = logit }));
    same(got, want, sizeof got, "features");
    same(logit, want_logit, sizeof logit, "logits");
    memset(got, 0, sizeof got);
    CHECK_OK(&c, spot_encode_pixels(&c, e, got, NULL, rgb, N));
    same(got, want, sizeof got, "features of pixels");
    CHECK_FAILS(&c, spot_encode_texts(&c, e, got, (const char *const[]){ "a" }, 1), SPOT_INPUT, "encoder.no_text_tower");
    spot_encoder_close(&c, e);
    spot_arena_close(&a), spot_arena_close(&scratch);
    free(rgb);
    free_paths(path, N);
}

/* Features by other numbers, or of other squares, have another name; the network's own numbers, said, are no others. */
TEST_IN_FOLDER(names_follow_how_pictures_enter)
{
    static const spot_picture_input in[] = {
        { 0 }, { .std = "0.229,0.224,0.225", .interpolation = SPOT_INTERPOLATION_BILINEAR, .resizes = true, .crops = true },
        { .mean = "0.5" }, { .std = "0.5" }, { .scale = 1 }, { .interpolation = SPOT_INTERPOLATION_BICUBIC },
    };
    spot_ctx c = check_ctx(1);
    const char *net = put_resnet(2);
    char name[LEN(in) + 1][32];

    for (int i = 0; i <= LEN(in); i++) {
        spot_encoder_options o = spot_encoder_defaults();
        o.crop = 64;
        if (i < LEN(in)) o.input = in[i];
        else o.resize = SPOT_SQUEEZE;
        spot_encoder *e = open_as(&c, net, o);
        memcpy(name[i], spot_encoder_about(e)->name, 32);
        spot_encoder_close(&c, e);
        for (int k = 0; k < i; k++) assert_true(!strcmp(name[k], name[i]) == (!k && i == 1));
    }
}

TEST_IN_FOLDER(squares_that_no_resnet_has_are_refused)
{
    spot_ctx c = check_ctx(1);
    const char *net = put_resnet(2);
    spot_encoder_options o = spot_encoder_defaults();
    spot_encoder *e;

    o.crop = 50;
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, net, &o), SPOT_USAGE, "look.crop: crop 50 | resize 256");
    o = spot_encoder_defaults();
    o.clip.precision = SPOT_BF16;
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, net, &o), SPOT_USAGE, "encoder.precision: bf16");
}

/* -- neutral ---------------------------------------------------------------------------------------------------------- */

/* A white picture has statistics and no edge. Rows of many pictures, by any threads, are the
 * same as of pixels. */
TEST_IN_FOLDER(neutral_features_need_no_file)
{
    enum { SIDE = 64, D = 148, EDGE = 20 };
    spot_ctx c = check_ctx(2), one = check_ctx(1);
    spot_encoder_options o = spot_encoder_defaults();
    spot_encoder *e = open_as(&c, "neutral", o), *again = open_as(&one, "neutral", o);
    spot_encoder_info about;
    char **path = put_pictures(N, 0);
    uint8_t *rgb = squares(path, N, SIDE, SIDE, SPOT_BILINEAR), white[SIDE * SIDE * 3];
    float got[N * D], want[N * D], row[D];

    assert_true(spot_encoder_about(e)->kind == SPOT_ENCODER_NEUTRAL && spot_encoder_about(e)->dim == D);
    assert_int_equal(strncmp(spot_encoder_about(e)->name, "neutral-", 8), 0);
    assert_string_equal(spot_encoder_about(e)->name, spot_encoder_about(again)->name);
    CHECK_OK(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path, .n = N, .feature = got }));
    CHECK_OK(&one, spot_encode_pixels(&one, again, want, NULL, rgb, N));
    same(got, want, sizeof got, "neutral features");
    assert_true(memcmp(got, got + D, D * sizeof *got));
    memset(white, 255, sizeof white);
    CHECK_OK(&c, spot_encode_pixels(&c, e, row, NULL, white, 1));
    assert_true(row[0] > 0 && row[1] == 0 && row[0] == row[2] && row[8] == 0 && row[10] == 0);
    assert_true(row[0] == row[EDGE - 1] && row[0] == row[12]);
    for (int k = EDGE; k < D; k++) assert_true(row[k] == 0);
    CHECK_FAILS(&c, spot_encode_texts(&c, e, got, (const char *const[]){ "a" }, 1), SPOT_INPUT, "encoder.no_text_tower");
    CHECK_OK(&c, spot_encoder_describe(&c, &about, &(spot_encoder_config){ "neutral", "", SPOT_ENCODER_OTHER, 0 }));
    assert_true(about.dim == D && about.side == SIDE && !strcmp(about.name, spot_encoder_about(e)->name));
    CHECK_FAILS(&c, spot_encoder_describe(&c, &about, &(spot_encoder_config){ "neutral", "", SPOT_ENCODER_VIT_B_32, 0 }),
                SPOT_INPUT, "encoder.shape: vit-b-32 | other");
    spot_encoder_close(&c, e), spot_encoder_close(&one, again);
    free(rgb);
    free_paths(path, N);
}

/* -- names and other files -------------------------------------------------------------------------------------------- */

static void name_of(char name[32], const char *path, const spot_encoder_options *o)
{
    spot_ctx c = check_ctx(1);
    spot_encoder *e = open_as(&c, path, *o);

    strcpy(name, spot_encoder_about(e)->name);
    spot_encoder_close(&c, e);
}

/* Each option that changes numbers, and the weights, change the name; the others do not. */
TEST_IN_FOLDER(names_tell_encoders_apart)
{
    const char *clip = put_model(), *net = put_resnet(2);
    spot_encoder_options o[12];
    const char *path[12];
    char name[12][32], again[32], larger[256];
    int n = 0;

    for (int i = 0; i < 12; i++) o[i] = spot_encoder_defaults(), path[i] = clip;
    o[1].clip.image_heads = o[1].clip.text_heads = 4;
    o[2].clip.image_heads = 4;
    o[3].clip.text_heads = 4;
    o[4].clip.activation = SPOT_CLIP_GELU;
    put_clip(in_root("clip/other.safetensors"), 3, 8);
    path[5] = in_root("clip/other.safetensors");
    put_text(in_root("mean.json"), "{\"model_type\":\"clip\",\"text_config\":{\"num_attention_heads\":2,\"eos_token_id\":2,"
                                   "\"layer_norm_eps\":1e-6},\"vision_config\":{\"num_attention_heads\":2}}");
    o[6].clip.config = in_root("mean.json");
    path[7] = path[8] = path[9] = net;
    o[8].resize = 0;
    o[9].crop = 96;
    snprintf(larger, sizeof larger, "{\"model_type\":\"clip\",\"text_config\":{\"num_attention_heads\":2,\"eos_token_id\":2},"
             "\"vision_config\":{\"num_attention_heads\":2,\"image_size\":%d}}", CLIP_SIDE + 1);      /* no more patches */
    put_text(in_root("larger.json"), larger);
    o[10].clip.config = in_root("larger.json");
    n = 11;
    for (int i = 0; i < n; i++) {
        name_of(name[i], path[i], &o[i]);
        assert_int_equal(strlen(name[i]), strlen(path[i] == net ? "resnet-" : "clip-") + 16);
        assert_int_equal(strncmp(name[i], path[i] == net ? "resnet-" : "clip-", 5), 0);
        for (int k = 0; k < i; k++) assert_string_not_equal(name[i], name[k]);
    }
    o[0].clip.use = SPOT_CLIP_USE_IMAGES;
    o[0].cut = true, o[0].vocabulary = in_root("clip"), o[0].memory = 1 << 28, o[0].resize = 300, o[0].clip.image_heads = 2;
    o[0].clip.activation = SPOT_CLIP_QUICK_GELU;
    name_of(again, clip, &o[0]);
    assert_string_equal(again, name[0]);
}

TEST_IN_FOLDER(other_files_are_no_encoders)
{
    spot_ctx c = check_ctx(1);
    spot_encoder_options o = spot_encoder_defaults();
    float v[4] = { 0 };
    spot_tensor t = spot_tensor_of("embeddings", SPOT_F32, 2, 2, v);
    const char *model = put_model();
    spot_encoder *e;

    CHECK_OK(&c, spot_tensors_save(&c, in_root("e.safetensors"), &t, 1));
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, in_root("e.safetensors"), &o), SPOT_INPUT, "encoder.kind: e.safetensors");
    put_text(in_root("net.pt"), "PK\3\4 and so on");
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, in_root("net.pt"), &o), SPOT_INPUT, "safetensors.pickle: zip");
    put_text(in_root("old.pth"), "\x80\2\x8a\nl\xfc\x9c\x46\xf9 and so on");
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, in_root("old.pth"), &o), SPOT_INPUT, "safetensors.pickle");
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, in_root("nowhere"), &o), SPOT_IO, "file.unopened: nowhere");
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, in_root("clip"), &o), SPOT_INPUT, "file.no_data: clip");
    assert_int_equal(truncate(model, 3000), 0);
    CHECK_FAILS(&c, spot_encoder_open(&c, &e, model, &o), SPOT_INPUT, "safetensors.header_length: model.safetensors");
    assert_null(e);
    spot_encoder_close(&c, NULL);
}
