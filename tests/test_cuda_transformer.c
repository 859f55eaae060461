/* test_cuda_transformer.c - linear, layernorm, attention and tokens, and CLIP's towers made of them: CUDA against the CPU. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "core/bf16.h"
#include "formats/safetensors.h"
#include "op_transformer.h"
#include "spotter/encoder.h"

#define FP32_AND_BF16(...) { __VA_ARGS__, SPOT_FP32 }, { __VA_ARGS__, SPOT_BF16 }
#define QUICK SPOT_ACT_QUICK_GELU
#define EXACT SPOT_ACT_GELU

/* Odd widths, whose arrays end in less than a group of four numbers; rows of one and of several blocks of threads. */
static const int linear_sizes[][SPOT_OP_SIZES] = {
    FP32_AND_BF16(1, 7, 5, SPOT_OP_BIAS, SPOT_ACT_NONE),              FP32_AND_BF16(33, 48, 40, 0, SPOT_ACT_NONE),
    FP32_AND_BF16(70, 16, 33, SPOT_OP_BIAS | SPOT_OP_ADD, SPOT_ACT_NONE),
    FP32_AND_BF16(17, 24, 61, SPOT_OP_BIAS | SPOT_OP_NARROW, QUICK),
    FP32_AND_BF16(70, 16, 96, SPOT_OP_BIAS | SPOT_OP_NARROW, EXACT),
    FP32_AND_BF16(37, 24, 48, SPOT_OP_BIAS | SPOT_OP_NARROW, SPOT_ACT_NONE),
    FP32_AND_BF16(9, 16, 31, SPOT_OP_BIAS, QUICK),                    FP32_AND_BF16(5, 8, 11, SPOT_OP_NARROW, SPOT_ACT_NONE),
    FP32_AND_BF16(3, 8, 8, SPOT_OP_BIAS, EXACT),                      { 33, 20, 9, 0, SPOT_ACT_NONE, SPOT_FP32 },
    { 4100, 1, 2, SPOT_OP_BIAS | SPOT_OP_NARROW, QUICK, SPOT_BF16 },  /* more rows than wait in scratch for their activation */
};

/* Rows that fit into the registers of their lanes, by one number and not: 768 and 1,024 numbers. */
static const int layernorm_sizes[][SPOT_OP_SIZES] = {
    { 1, 1, SPOT_FP32 }, { 17, 15, SPOT_FP32 }, { 33, 96, SPOT_BF16 }, { 70, 16, SPOT_FP32, true }, { 5, 77, SPOT_FP32, true },
    { 16, 8, SPOT_BF16 }, { 2, 600, SPOT_FP32 }, { 3, 768, SPOT_BF16 }, { 2, 769, SPOT_FP32, true }, { 2, 1024, SPOT_FP32 },
    { 2, 1025, SPOT_BF16 }, { 3, 1300, SPOT_FP32, true },
};

/* Heads of less than, exactly and more than a chunk of 16 numbers; sequences of one key, one tile and several, and of one key
 * more than a tile. */
static const int attention_sizes[][SPOT_OP_SIZES] = {
    { 1, 1, false, 1, 1, SPOT_FP32 },  { 2, 8, true, 5, 40, SPOT_FP32 },  { 3, 5, false, 4, 33, SPOT_FP32 },
    { 1, 96, true, 1, 35, SPOT_FP32 }, { 1, 16, false, 2, 70, SPOT_FP32 }, { 1, 6, true, 1, 33, SPOT_FP32 },
    { 1, 1, false, 1, 1, SPOT_BF16 },  { 2, 8, true, 4, 40, SPOT_BF16 },  { 1, 16, false, 3, 33, SPOT_BF16 },
    { 1, 6, true, 1, 33, SPOT_BF16 },  { 1, 80, true, 1, 17, SPOT_BF16 }, { 1, 100, false, 1, 9, SPOT_BF16 },
    { 1, 4, true, 1, 140, SPOT_BF16 },
};

static const int tokens_sizes[][SPOT_OP_SIZES] = {
    FP32_AND_BF16(1, 5, 5, 8), FP32_AND_BF16(3, 11, 4, 33), FP32_AND_BF16(2, 14, 2, 48), FP32_AND_BF16(2, 8, 4, 300),
};

/* -- what the kernels do not take ------------------------------------------------------------------------------------ */

TEST_ON_CUDA(heads_that_are_too_wide_are_refused)
{
    spot_ctx c;
    spot_attention a = { .heads = 1, .width = 129, .sequences = 1, .longest = 1 };
    float *room;

    open_cuda(&c, 0);
    room = to_device(&c, NULL, 4 * 129 * sizeof *room);
    a.start = (int *)room;
    CHECK_FAILS(&c, spot_attention_forward(&c, room, room, &a, NULL), SPOT_UNSUPPORTED, "attention.head_width: heads of 129");
    spot_device_give(&c, room);
    spot_device_close(&c);
}

/* The library would answer with a number, or a kernel end all work on the device. */
TEST_ON_CUDA(misaligned_arrays_are_refused)
{
    const spot_linear_shape s = { .in = 3, .out = 5, .bias = true, .narrow = true, .precision = SPOT_BF16 };
    static const char *const name[] = { "y", "x", "w", "bias", "scratch" };
    spot_linear *plan;
    spot_ctx c;
    char *p[LEN(name)], words[64];

    open_cuda(&c, 0);
    CHECK_OK(&c, spot_linear_open(&c, &plan, &s));
    for (int i = 0; i < LEN(name); i++) p[i] = to_device(&c, NULL, spot_linear_scratch(&c, plan) + 1024);
    for (int i = 0; i < LEN(name); i++) {
        p[i] += 8;
        snprintf(words, sizeof words, "linear.unaligned: %s | %d", name[i], i == 4 ? SPOT_ALIGN : 16);
        CHECK_FAILS(&c, spot_linear_forward(&c, plan, p[0], p[1], p[2], (float *)(void *)p[3], 4, p[4]), SPOT_INVALID, words);
        p[i] -= 8;
    }
    for (int i = 0; i < LEN(name); i++) spot_device_give(&c, p[i]);
    spot_linear_close(&c, plan);
    spot_device_close(&c);
}

/* Equal values stay as they are whatever the scores: the weights sum to 1 also when they are rounded. */
TEST_ON_CUDA(weights_sum_to_one)
{
    enum { ROWS = 37, D = 16 };
    static const int start[] = { 0, ROWS };
    static uint16_t qkv[ROWS * 3 * D];
    uint16_t out[ROWS * D];
    spot_attention a = { .heads = 1, .width = D, .sequences = 1, .longest = ROWS, .precision = SPOT_BF16 };
    spot_ctx c;
    void *to, *from;

    for (int i = 0; i < LEN(qkv); i++) qkv[i] = spot_bf16_bits(i % (3 * D) < 2 * D ? 40 * sinf((float)i) : -1.5f);
    open_cuda(&c, 0);
    from = to_device(&c, qkv, sizeof qkv), to = to_device(&c, NULL, sizeof out);
    a.start = to_device(&c, start, sizeof start);
    CHECK_OK(&c, spot_attention_forward(&c, to, from, &a, NULL));
    CHECK_OK(&c, spot_device_copy(&c, out, to, sizeof out));
    for (int i = 0; i < LEN(out); i++) assert_int_equal(out[i], 0xbfc0);       /* -1.5 */
    spot_device_give(&c, to), spot_device_give(&c, from), spot_device_give(&c, (void *)(uintptr_t)a.start);
    spot_device_close(&c);
}

/* -- activations ------------------------------------------------------------------------------------------------------ */

static void activate(spot_ctx *c, float *y, const float *z, int n, spot_activation act)
{
    const spot_linear_shape s = { .in = 1, .out = 1, .activation = act };
    size_t bytes = spot_linear_room((size_t)n) * sizeof *z;
    spot_linear *plan;
    void *packed, *scratch, *from, *to;

    CHECK_OK(c, spot_linear_open(c, &plan, &s));
    CHECK_OK(c, spot_device_take(c, &packed, spot_linear_packed(c, plan)));
    CHECK_OK(c, spot_device_take(c, &scratch, spot_linear_scratch(c, plan)));
    CHECK_OK(c, spot_linear_pack(c, plan, packed, &(float){ 1 }));
    from = to_device(c, z, bytes), to = to_device(c, NULL, bytes);
    CHECK_OK(c, spot_linear_forward(c, plan, to, from, packed, NULL, n, scratch));
    CHECK_OK(c, spot_device_copy(c, y, to, (size_t)n * sizeof *y));
    spot_device_give(c, from), spot_device_give(c, to), spot_device_give(c, packed), spot_device_give(c, scratch);
    spot_linear_close(c, plan);
}

/* Each number within its own tolerance: the activations' constants show where the results are small. */
TEST_ON_CUDA(activations_are_exact_where_they_are_small)
{
    enum { N = 1024 };
    float z[N], y[N];
    spot_ctx c;

    for (int i = 0; i < N; i++) z[i] = (float)(i - N / 2) / 64;
    open_cuda(&c, 0);
    activate(&c, y, z, N, EXACT);
    for (int i = 0; i < N; i++) CHECK_NEAR(y[i], z[i] * (1 + erf(z[i] / sqrt(2))) / 2, 3e-7 * fmax(1, fabs(z[i])));
    activate(&c, y, z, N, QUICK);
    for (int i = 0; i < N; i++) CHECK_NEAR(y[i], z[i] / (1 + exp(-1.702 * z[i])), 3e-7 * fmax(1, fabs(z[i])));
    spot_device_close(&c);
}

/* -- CLIP ------------------------------------------------------------------------------------------------------------- */

enum { DIM = 8, MOST = 32 };

typedef struct { float image[MOST * DIM], text[MOST * DIM]; } embeddings;

/* A file's tensors are not aligned. */
static void *copy_of(const spot_tensors *t, const char *name)
{
    const spot_tensor *e = spot_tensors_find(t, name);

    return memcpy(malloc(e->bytes + 1), e->data, e->bytes);
}

/* Pictures that lie on the device already become what they become from the host. */
static void embed_from_device(spot_ctx *c, spot_arena *scratch, const spot_clip *clip, const uint8_t *pixels, const float *want,
                              int n)
{
    const size_t side = (size_t)spot_clip_info_of(clip)->side;
    static float image[MOST * DIM];
    void *rgb = to_device(c, pixels, (size_t)n * side * side * 3);

    CHECK_OK(c, spot_clip_images(c, scratch, clip, image, rgb, n, true));
    assert_memory_equal(image, want, (size_t)n * DIM * sizeof *want);
    spot_device_give(c, rgb);
}

/* Embeds the golden folder's pictures and texts. */
static void embed(spot_ctx *c, embeddings *e, int *n, const char *folder, const spot_clip_options *o)
{
    spot_arena count = spot_arena_counting(), most = spot_arena_counting(), a, scratch;
    spot_tensors want;
    spot_clip *clip;
    char path[128];

    snprintf(path, sizeof path, "%s/want.safetensors", folder);
    CHECK_OK(c, spot_tensors_open(c, &want, path));
    uint8_t *pixels = copy_of(&want, "pixels");
    int *ids = copy_of(&want, "ids"), *length = copy_of(&want, "length");
    *n = (int)spot_tensors_find(&want, "length")->dim[0];
    assert_in_range(*n, 1, MOST);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    CHECK_OK(c, spot_clip_open(c, &count, &clip, path, o));
    CHECK_OK(c, spot_arena_open_device(c, &a, count.peak));
    CHECK_OK(c, spot_clip_open(c, &a, &clip, path, o));
    assert_int_equal(spot_clip_info_of(clip)->dim, DIM);
    CHECK_OK(c, spot_clip_images(c, &most, clip, NULL, NULL, *n, true));
    CHECK_OK(c, spot_clip_texts(c, &most, clip, NULL, NULL, NULL, *n, true));
    CHECK_OK(c, spot_arena_open_device(c, &scratch, most.peak));
    CHECK_OK(c, spot_clip_images(c, &scratch, clip, e->image, pixels, *n, true));
    if (c->device) embed_from_device(c, &scratch, clip, pixels, e->image, *n);
    CHECK_OK(c, spot_clip_texts(c, &scratch, clip, e->text, ids, length, *n, true));
    spot_clip_close(c, clip);
    free(pixels), free(ids), free(length);
    spot_arena_close(&scratch), spot_arena_close(&a);
    spot_tensors_close(&want);
}

static void near(const float *got, const float *want, int n, double off, const char *what)
{
    for (int i = 0; i < n * DIM; i++)
        if (!(fabs(got[i] - want[i]) <= off)) fail_msg("%s: number %d is %g, wanted %g", what, i, got[i], want[i]);
}

/* Batches of 2 pictures and of a few texts give what one batch gives. */
static void embed_in_batches(const embeddings *want, const char *folder, spot_clip_options o, double off)
{
    static embeddings got;
    spot_ctx c;
    int n;

    o.rows = 25;
    open_cuda(&c, 0);
    embed(&c, &got, &n, folder, &o);
    spot_device_close(&c);
    assert_true(n > 4);
    near(got.image, want->image, n, off, "pictures in batches");
    near(got.text, want->text, n, off, "texts in batches");
}

/* Both towers, both activations, separate and fused q, k and v. */
TEST_ON_CUDA(clip_embeds_as_on_the_cpu)
{
    static const char *const folder[] = { "golden/clip/quick", "golden/clip/exact" };
    static embeddings want, first, got;

    for (int k = 0; k < 2 * LEN(folder); k++) {
        spot_clip_options o = { .precision = k % 2 ? SPOT_BF16 : SPOT_FP32 }, fp32 = { 0 };
        spot_ctx cpu = check_ctx(2), c;
        const double off = o.precision == SPOT_BF16 ? 0.03 : 1e-4;
        int n;
        embed(&cpu, &want, &n, folder[k / 2], &fp32);
        for (int s = 0; s < LEN(schedules); s = schedule_after(s, 2)) {
            open_cuda(&c, s);
            embed(&c, &got, &n, folder[k / 2], &o);
            spot_device_close(&c);
            near(got.image, want.image, n, off, "pictures");
            near(got.text, want.text, n, off, "texts");
            if (!s) first = got;
            assert_memory_equal(got.image, first.image, (size_t)n * DIM * sizeof(float));
            assert_memory_equal(got.text, first.text, (size_t)n * DIM * sizeof(float));
        }
        embed_in_batches(&want, folder[k / 2], o, off);
    }
}

int main(void)
{
    static op_row rows[] = {
        OP_ROW(spot_op_linear, linear_sizes, .step = 2),
        OP_ROW(spot_op_layernorm, layernorm_sizes, .step = 2),
        OP_ROW(spot_op_attention, attention_sizes, .step = 2),
        OP_ROW(spot_op_tokens, tokens_sizes, .step = 2),
    };

    return run_ops(rows, LEN(rows));
}
