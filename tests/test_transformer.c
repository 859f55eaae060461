/* test_transformer.c - linear, layernorm, attention and tokens against plain loops in double, by any number of threads.
 * ctest: threads, both */
#include "check_bf16.h"

#include "net/attention.h"
#include "net/layernorm.h"
#include "net/linear.h"
#include "net/tokens.h"

static void same_bits(const void *a, const void *b, size_t bytes) { assert_memory_equal(a, b, bytes); }

/* -- linear --------------------------------------------------------------------------------------------------------- */

static double activated(double z, spot_activation act)
{
    return act == SPOT_ACT_QUICK_GELU ? z / (1 + exp(-1.702 * z)) : act == SPOT_ACT_GELU ? z * (1 + erf(z / sqrt(2))) / 2 : z;
}

static void multiply(float *y, const float *x, const float *w, const float *b, const spot_linear_shape *s, int rows,
                     int threads)
{
    spot_ctx c = check_ctx(threads);
    spot_linear *plan;
    void *packed, *scratch;

    CHECK_OK(&c, spot_linear_open(&c, &plan, s));
    packed = room(spot_linear_packed(&c, plan)), scratch = room(spot_linear_scratch(&c, plan));
    CHECK_OK(&c, spot_linear_pack(&c, plan, packed, w));
    CHECK_OK(&c, spot_linear_forward(&c, plan, y, x, packed, s->bias ? b : NULL, rows, scratch));
    free(packed), free(scratch);
    spot_linear_close(&c, plan);
}

static void check_linear(spot_linear_shape s, int rows)
{
    size_t high = spot_linear_room((size_t)rows), ny = high * (size_t)s.out;
    float *x = random_tensor(high * (size_t)s.in, 0), *w = random_tensor((size_t)s.in * s.out, 1), *b = random_tensor(s.out, 2);
    float *old = random_tensor(ny, 3), *y = room(ny * sizeof *y), *again = room(ny * sizeof *y);
    double *want = malloc((size_t)rows * s.out * sizeof *want);

    for (size_t i = (size_t)rows * s.in; i < high * (size_t)s.in; i++) x[i] = NAN;       /* behind the last row */
    for (size_t i = 0; i < (size_t)s.in * s.out; i++) w[i] /= sqrtf((float)s.in);
    memcpy(y, old, ny * sizeof *y);
    multiply(y, x, w, b, &s, rows, 1);
    for (int threads = 2; threads <= 4; threads++) {
        memcpy(again, old, ny * sizeof *y);
        multiply(again, x, w, b, &s, rows, threads);
        same_bits(again, y, (size_t)rows * s.out * sizeof *y);
    }
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < s.out; o++) {
            double z = s.bias ? b[o] : 0;
            for (int i = 0; i < s.in; i++) z += (double)x[(size_t)r * s.in + i] * w[(size_t)o * s.in + i];
            want[(size_t)r * s.out + o] = activated(z, s.activation) + (s.add ? old[(size_t)r * s.out + o] : 0);
        }
    CHECK_NEAR(distance(y, want, (size_t)rows * s.out), 0, 2e-6);
    free(x), free(w), free(b), free(old), free(y), free(again), free(want);
}

TEST(products_are_right)
{
    static const int rows[] = { 1, 15, 16, 63, 64, 65, 191, 192, 257, 463 };

    for (int k = 0; k < LEN(rows); k++) {
        check_linear((spot_linear_shape){ .in = 48, .out = 80 }, rows[k]);
        check_linear((spot_linear_shape){ .in = 7, .out = 5, .bias = true }, rows[k]);
    }
}

TEST(products_end_in_what_the_plan_says)
{
    check_linear((spot_linear_shape){ .in = 96, .out = 33, .bias = true, .add = true }, 70);
    check_linear((spot_linear_shape){ .in = 96, .out = 64, .bias = true, .activation = SPOT_ACT_QUICK_GELU }, 70);
    check_linear((spot_linear_shape){ .in = 96, .out = 64, .bias = true, .narrow = true, .activation = SPOT_ACT_GELU }, 70);
    check_linear((spot_linear_shape){ .in = 1500, .out = 64, .bias = true }, 70);
}

static float half_of(uint16_t h) { return spot_bf16_float(h); }

/* Operands that bf16 holds exactly; a narrow result is rounded once. */
TEST(products_in_bf16_are_right)
{
    enum { ROWS = 83, IN = 96, OUT = 48 };
    NEEDS_BF16();
    for (int narrow = 0; narrow < 2; narrow++) {
        spot_linear_shape s = { .in = IN, .out = OUT, .bias = true, .narrow = narrow, .precision = SPOT_BF16,
                                .activation = narrow ? SPOT_ACT_QUICK_GELU : SPOT_ACT_NONE };
        uint16_t *x = random_halves(spot_linear_room(ROWS) * IN, 0, 0, 1), *h = random_halves(IN * OUT, 1, 0, 0.1f);
        float *w = room(IN * OUT * sizeof *w), *b = random_tensor(OUT, 2), *y = room(spot_linear_room(ROWS) * OUT * sizeof *y);
        for (int i = 0; i < IN * OUT; i++) w[i] = half_of(h[i]);
        multiply(y, (float *)x, w, b, &s, ROWS, 2);
        for (int i = 0; i < ROWS * OUT; i++) {
            double z = b[i % OUT], want, got = narrow ? half_of(((uint16_t *)y)[i]) : y[i];
            for (int k = 0; k < IN; k++) z += (double)half_of(x[i / OUT * IN + k]) * w[i % OUT * IN + k];
            want = activated(z, s.activation);
            CHECK_NEAR(got, want, narrow ? 1e-5 + fabs(want) / 250 : 1e-5);
        }
        free(x), free(h), free(w), free(b), free(y);
    }
}

TEST(plans_that_mean_nothing_are_refused)
{
    spot_ctx c = check_ctx(1);
    spot_linear *plan;

    CHECK_FAILS(&c, spot_linear_open(&c, &plan, &(spot_linear_shape){ .in = 0, .out = 4 }), SPOT_INVALID,
                "linear.sizes: 0 | 4");
    CHECK_FAILS(&c, spot_linear_open(&c, &plan, &(spot_linear_shape){ .in = 4, .out = 4, .add = true, .narrow = true }),
                SPOT_INVALID, "linear.sizes");
    CHECK_FAILS(&c, spot_linear_open(&c, &plan, &(spot_linear_shape){ .in = 4, .out = 4, .precision = SPOT_TF32 }),
                SPOT_UNSUPPORTED, "conv.precision");
    assert_null(plan);
}

/* -- layernorm ------------------------------------------------------------------------------------------------------ */

TEST(rows_are_normalised)
{
    static const int widths[] = { 1, 5, 16, 48, 77, 768, 1280 };
    enum { ROWS = 9 };

    for (int k = 0; k < LEN(widths); k++) {
        int n = widths[k];
        float *x = random_tensor((size_t)ROWS * n, 0), *w = random_tensor(n, 1), *b = random_tensor(n, 2);
        float *y = room((size_t)ROWS * n * sizeof *y);
        uint16_t *half = room((size_t)ROWS * n * sizeof *half);
        double *want = malloc((size_t)ROWS * n * sizeof *want);
        spot_layernorm l = { n, 1e-5f, w, b };
        spot_ctx c = check_ctx(1), three = check_ctx(3);

        for (int i = 0; i < ROWS * n; i++) x[i] = x[i] * (float)(1 + i / n) + 3 * (float)(i / n);
        for (int r = 0; r < ROWS; r++) {
            double mean = 0, var = 0;
            for (int i = 0; i < n; i++) mean += x[r * n + i] / (double)n;
            for (int i = 0; i < n; i++) var += (x[r * n + i] - mean) * (x[r * n + i] - mean) / n;
            for (int i = 0; i < n; i++) want[r * n + i] = (x[r * n + i] - mean) / sqrt(var + 1e-5) * w[i] + b[i];
        }
        CHECK_OK(&c, spot_layernorm_apply(&c, y, x, &l, ROWS, SPOT_FP32));
        CHECK_NEAR(distance(y, want, (size_t)ROWS * n), 0, 2e-6);
        CHECK_OK(&c, spot_layernorm_apply(&c, half, x, &l, ROWS, SPOT_BF16));
        for (int i = 0; i < ROWS * n; i++) assert_int_equal(half[i], spot_bf16_bits(y[i]));
        CHECK_OK(&three, spot_layernorm_apply(&three, x, x, &l, ROWS, SPOT_FP32));       /* in place */
        same_bits(x, y, (size_t)ROWS * n * sizeof *y);
        free(x), free(w), free(b), free(y), free(half), free(want);
    }
}

/* -- attention ------------------------------------------------------------------------------------------------------ */

/* The result of row `row` (of all) in the sequence [from, to) for one head and number. */
static double attended(const float *qkv, const spot_attention *a, int from, int to, int row, int at)
{
    int w = a->width, d = w / a->heads, end = a->causal ? row + 1 : to;
    const float *q = qkv + (size_t)row * 3 * w + at / d * d, *k = qkv + w + at / d * d;
    double sum = 0, out = 0;

    for (int j = from; j < end; j++) {
        double score = 0;
        for (int i = 0; i < d; i++) score += (double)q[i] * k[(size_t)j * 3 * w + i];
        score = exp(score / sqrt(d));
        sum += score;
        out += score * qkv[(size_t)j * 3 * w + 2 * w + at];
    }
    return out / sum;
}

static void check_attention(int heads, int width, bool causal, const int *start, int sequences)
{
    int rows = start[sequences], only[8], longest = 0;
    float *qkv = random_tensor((size_t)rows * 3 * width, 0), *out = room((size_t)rows * width * sizeof *out);
    float *again = room((size_t)rows * width * sizeof *out);
    double *want = malloc((size_t)rows * width * sizeof *want);
    spot_attention shape = { .heads = heads, .width = width, .causal = causal };

    for (int s = 0; s < sequences; s++) {
        only[s] = start[s] + (start[s + 1] - start[s]) / 2;
        if (start[s + 1] - start[s] > longest) longest = start[s + 1] - start[s];
        for (int r = start[s]; r < start[s + 1]; r++)
            for (int i = 0; i < width; i++)
                want[(size_t)r * width + i] = attended(qkv, &shape, start[s], start[s + 1], r, i);
    }
    for (int threads = 1; threads <= 3; threads++) {
        spot_attention a = { heads, width, sequences, longest, causal, start, NULL, SPOT_FP32 };
        spot_ctx c = check_ctx(threads);
        void *scratch = room(spot_attention_scratch(&c, &a));
        CHECK_OK(&c, spot_attention_forward(&c, threads > 1 ? again : out, qkv, &a, scratch));
        if (threads > 1) same_bits(again, out, (size_t)rows * width * sizeof *out);
        a.only = only;
        CHECK_OK(&c, spot_attention_forward(&c, again, qkv, &a, scratch));
        for (int s = 0; s < sequences; s++)
            same_bits(again + (size_t)s * width, out + (size_t)only[s] * width, (size_t)width * sizeof *out);
        free(scratch);
    }
    CHECK_NEAR(distance(out, want, (size_t)rows * width), 0, 4e-6);
    free(qkv), free(out), free(again), free(want);
}

TEST(attention_is_right)
{
    static const int one[] = { 0, 1 }, ragged[] = { 0, 3, 4, 69, 133, 150 }, long_one[] = { 0, 197 };

    for (int causal = 0; causal < 2; causal++) {
        check_attention(1, 1, causal, one, 1);
        check_attention(2, 16, causal, ragged, LEN(ragged) - 1);
        check_attention(3, 15, causal, ragged, LEN(ragged) - 1);
        check_attention(2, 160, causal, long_one, 1);
    }
}

/* Scores so great that exp overflows without the subtraction. */
TEST(great_scores_leave_finite_numbers)
{
    static const int start[] = { 0, 4 };
    spot_attention a = { 1, 2, 1, 4, false, start, NULL, SPOT_FP32 };
    spot_ctx c = check_ctx(1);
    float qkv[4 * 6], out[8];
    void *scratch = room(spot_attention_scratch(&c, &a));

    for (int i = 0; i < LEN(qkv); i++) qkv[i] = i % 6 < 4 ? 1000.0f * (float)(i / 6 + 1) : (float)(i / 6);
    CHECK_OK(&c, spot_attention_forward(&c, out, qkv, &a, scratch));
    for (int i = 0; i < 8; i++) CHECK_NEAR(out[i], 3, 1e-6);
    a.longest = 3;
    CHECK_FAILS(&c, spot_attention_forward(&c, out, qkv, &a, scratch), SPOT_INVALID, "attention.sequence: 3");
    a.heads = 3;
    CHECK_FAILS(&c, spot_attention_forward(&c, out, qkv, &a, scratch), SPOT_INVALID, "attention.sizes: 3 | width 2");
    free(scratch);
}

/* -- tokens --------------------------------------------------------------------------------------------------------- */

TEST(patches_are_cut_row_by_row)
{
    enum { N = 3, SIDE = 11, PATCH = 4, EACH = 4, NUMBERS = 48 };
    uint8_t rgb[N * SIDE * SIDE * 3];
    float value[768], row[N * EACH * NUMBERS];
    spot_patches p = { N, SIDE, PATCH, value, SPOT_FP32 };
    spot_ctx c = check_ctx(2);

    for (int i = 0; i < LEN(rgb); i++) rgb[i] = (uint8_t)(i * 37 % 251);
    for (int i = 0; i < 768; i++) value[i] = (float)i * 0.5f;
    CHECK_OK(&c, spot_tokens_patches(&c, row, rgb, &p));
    for (int i = 0; i < LEN(row); i++) {
        int n = i / NUMBERS / EACH, patch = i / NUMBERS % EACH, channel = i % NUMBERS / 16, y = i % 16 / 4, x = i % 4;
        int at = ((n * SIDE + patch / 2 * PATCH + y) * SIDE + patch % 2 * PATCH + x) * 3 + channel;
        assert_true(row[i] == value[256 * channel + rgb[at]]);
    }
    p.patch = 12;
    CHECK_FAILS(&c, spot_tokens_patches(&c, row, rgb, &p), SPOT_INVALID, "tokens.patches: 12");
}

TEST(the_mean_of_some_tokens_goes_by_picture)
{
    enum { W = 70, EACH = 7, N = 3, PITCH = 80 };
    float x[N * EACH * W], y[N * PITCH];
    uint16_t narrow[N * PITCH];
    spot_token_mean m = { N, EACH, 2, EACH, W, PITCH, SPOT_FP32 };
    spot_ctx c = check_ctx(2);

    for (int i = 0; i < LEN(x); i++) x[i] = (float)(i * 7919 % 1000) / 7;
    for (int i = 0; i < LEN(y); i++) y[i] = -1;
    CHECK_OK(&c, spot_tokens_mean(&c, y, x, &m));
    m.precision = SPOT_BF16;
    CHECK_OK(&c, spot_tokens_mean(&c, narrow, x, &m));
    for (int i = 0; i < N * PITCH; i++) {
        double sum = 0;
        for (int t = 2; t < EACH && i % PITCH < W; t++) sum += (double)x[(i / PITCH * EACH + t) * W + i % PITCH];
        assert_true(y[i] == (i % PITCH < W ? (float)(sum / (EACH - 2)) : -1));
        assert_true(i % PITCH >= W || narrow[i] == spot_bf16_bits(y[i]));
    }
    m.first = EACH;
    CHECK_FAILS(&c, spot_tokens_mean(&c, y, x, &m), SPOT_INVALID, "tokens.sizes: 0 | 70");
    m.first = 0, m.pitch = W - 1;
    CHECK_FAILS(&c, spot_tokens_mean(&c, y, x, &m), SPOT_INVALID, "tokens.sizes: 0 | 70");
}

TEST(tokens_are_joined_picked_and_scaled)
{
    enum { W = 5, COUNT = 3, N = 2 };
    float patch[N * COUNT * W], first[W], position[(COUNT + 1) * W], x[N * (COUNT + 1) * W], y[2 * W];
    int id[] = { 2, 0 }, place[] = { 1, 3 }, pick[] = { 7, 4 };
    spot_ctx c = check_ctx(2);

    for (int i = 0; i < LEN(patch); i++) patch[i] = (float)i;
    for (int i = 0; i < W; i++) first[i] = 100 + (float)i;
    for (int i = 0; i < LEN(position); i++) position[i] = 1000 * (float)i;
    CHECK_OK(&c, spot_tokens_join(&c, x, &(spot_picture_tokens){ patch, first, position, N, COUNT, W }));
    for (int r = 0; r < N * (COUNT + 1); r++)
        for (int i = 0; i < W; i++) {
            int t = r % (COUNT + 1), from = (r / (COUNT + 1) * COUNT + t - 1) * W + i;
            assert_true(x[r * W + i] == position[t * W + i] + (t ? patch[from] : first[i]));
        }
    CHECK_OK(&c, spot_tokens_pick(&c, y, x, pick, 2, W));
    assert_memory_equal(y, x + 7 * W, W * sizeof *y);
    assert_memory_equal(y + W, x + 4 * W, W * sizeof *y);
    CHECK_OK(&c, spot_tokens_words(&c, y, &(spot_word_tokens){ id, place, patch, position, 2, W }));
    for (int i = 0; i < W; i++) {
        assert_true(y[i] == patch[2 * W + i] + position[W + i]);
        assert_true(y[W + i] == patch[i] + position[3 * W + i]);
    }
    CHECK_OK(&c, spot_tokens_unit(&c, y, 2, W));
    for (int r = 0; r < 2; r++) {
        double sum = 0;
        for (int i = 0; i < W; i++) sum += (double)y[r * W + i] * y[r * W + i];
        CHECK_NEAR(sum, 1, 1e-6);
    }
    CHECK_FAILS(&c, spot_tokens_unit(&c, y, 0, W), SPOT_INVALID, "tokens.sizes: 0 | 5");
}
