/* bench_transformer.c - the ops of a transformer: their problems for the tests, and what they take on a GPU for a batch of
 * ViT-B/16, 166 pictures of 197 tokens. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/device.h"
#include "op_transformer.h"

enum { CHECKED = 24, LAST_IDS = 8 };                 /* noise of a problem, from its id */

static spot_op_tensor row_of(size_t n, spot_precision precision)
{
    return (spot_op_tensor){ 1, 1, 1, (int)n, 1, precision, 0 };
}

static spot_precision on_device(const spot_op_run *r, spot_precision precision) { return r->c->device ? precision : SPOT_FP32; }

static spot_status check_number(spot_op_run *r, const char *what, const void *tensor, const spot_op_tensor *t, size_t i,
                                double want, double off)
{
    double got;

    SPOT_TRY(spot_op_number(r, &got, tensor, t, i));
    return spot_bench_near(r->c, what, i, got, want, off);
}

/* -- linear ----------------------------------------------------------------------------------------------------------- */

enum { X, W, BIAS, OLD };

static float weight_of(const spot_op_layer_of *p, size_t i)
{
    return spot_noise(p->id + W, i, SPOT_FP32) / sqrtf((float)p->s.in);
}

/* Rows behind the last are NaN: nothing may come of them. */
static void make_linear(spot_op_run *r, void *problem, const int *size)
{
    spot_op_layer_of *p = problem;
    spot_precision precision = (spot_precision)size[5];
    size_t rows = (size_t)size[0], high = spot_linear_room(rows), in = (size_t)size[1], out = (size_t)size[2];
    spot_op_tensor room = row_of(high * out, SPOT_FP32), x = { (int)high, (int)rows, 1, size[1], 1, precision, 0 };

    *p = (spot_op_layer_of){ .rows = size[0], .id = LAST_IDS * r->number };
    p->s = (spot_linear_shape){ size[1], size[2], size[3] & SPOT_OP_BIAS, size[3] & SPOT_OP_ADD, size[3] & SPOT_OP_NARROW,
                                (spot_activation)size[4], on_device(r, precision) };
    room.precision = p->s.narrow ? precision : SPOT_FP32;
    p->host = spot_op_host(r, in * out * sizeof *p->host);
    for (size_t i = 0; p->host && i < in * out; i++)
        p->host[i] = r->c->device ? weight_of(p, i) : spot_op_rounded(weight_of(p, i), precision);
    p->x = spot_op_tensor_noise(r, x, p->id + X);
    p->bias = spot_op_noise(r, p->id + BIAS, out);
    p->y = spot_op_tensor_noise(r, room, p->id + OLD);
    p->result = row_of(rows * out, room.precision);
    spot_op_tensor_part(r, "y", p->y, p->result, SPOT_OP_FLOAT, room.precision == SPOT_BF16 ? 0x1p-8 : 4e-6, 0);
}

static spot_status open_layer(spot_op_run *r, spot_op_layer_of *p)
{
    SPOT_TRY(spot_linear_open(r->c, &p->plan, &p->s));
    SPOT_TRY(spot_device_take(r->c, &p->packed, spot_linear_packed(r->c, p->plan)));
    return spot_linear_pack(r->c, p->plan, p->packed, p->host);
}

static void close_layer(spot_op_run *r, spot_op_layer_of *p)
{
    spot_linear_close(r->c, p->plan);
    spot_device_give(r->c, p->packed);
    p->plan = NULL, p->packed = NULL;
}

static spot_status run_layer(spot_op_run *r, const spot_op_layer_of *p)
{
    spot_arena *a;
    void *scratch = NULL;
    size_t bytes = spot_linear_scratch(r->c, p->plan);

    if (bytes) {
        SPOT_TRY(spot_op_scratch(r, &a, bytes));
        scratch = a->base;
    }
    SPOT_OP(r, spot_linear_forward(r->c, p->plan, p->y, p->x, p->packed, p->s.bias ? p->bias : NULL, p->rows, scratch));
    return SPOT_OK;
}

static spot_status run_linear(spot_op_run *r, void *problems, int count)
{
    spot_op_layer_of *p = problems;

    for (int q = 0; q < count; q++, p++) {
        bool opened = p->plan != NULL;
        spot_status s = opened ? SPOT_OK : open_layer(r, p);
        if (s == SPOT_OK) s = run_layer(r, p);
        if (!opened) close_layer(r, p);
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

static double activated(double z, spot_activation act)
{
    return act == SPOT_ACT_QUICK_GELU ? z / (1 + exp(-1.702 * z)) : act == SPOT_ACT_GELU ? z * (1 + erf(z / sqrt(2))) / 2 : z;
}

/* Checks that the memory behind the last row is as it was. */
static spot_status check_behind(spot_op_run *r, const spot_op_layer_of *p)
{
    size_t n = (size_t)p->rows * p->s.out, high = spot_linear_room((size_t)p->rows) * (size_t)p->s.out;
    spot_op_tensor room = row_of(high, p->result.precision);

    for (size_t i = n; i < high && i < n + CHECKED; i++)
        SPOT_TRY(check_number(r, "number behind the last row", p->y, &room, i,
                              spot_noise(p->id + OLD, i, p->result.precision), 0));
    return SPOT_OK;
}

/* Numbers of all parts of the result, the last among them. */
static spot_status check_linear(spot_op_run *r, void *problem)
{
    const spot_op_layer_of *p = problem;
    size_t in = (size_t)p->s.in, out = (size_t)p->s.out, n = (size_t)p->rows * out;
    spot_precision precision = p->s.precision;
    double off = p->result.precision == SPOT_BF16 ? 0x1p-6 : 1e-4;

    if (!r->c->device) return SPOT_OK;                 /* tests/test_transformer.c knows the CPU's */
    for (size_t e = 0; e < CHECKED; e++) {
        size_t i = n - 1 - e * (n - 1) / CHECKED, row = i / out, o = i % out;
        double z = p->s.bias ? spot_noise(p->id + BIAS, o, SPOT_FP32) : 0;
        for (size_t k = 0; k < in; k++)
            z += (double)spot_noise(p->id + X, row * in + k, precision) * spot_op_rounded(weight_of(p, o * in + k), precision);
        z = activated(z, p->s.activation) + (p->s.add ? spot_noise(p->id + OLD, i, SPOT_FP32) : 0);
        SPOT_TRY(check_number(r, "number of a layer", p->y, &p->result, i, z, off));
    }
    return check_behind(r, p);
}

const spot_op spot_op_linear = { "linear", sizeof(spot_op_layer_of), make_linear, run_linear, check_linear, true };

static spot_status open_linear(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    spot_status s = spot_op_bench_open(c, state, &spot_op_linear, 1, size);
    spot_op_run *r = *state;

    work->items = size[0];
    work->flops = 2.0 * size[0] * size[1] * size[2];
    work->matrix = true;
    return s ? s : open_layer(r, r->problem);
}

static void close_linear(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    if (r && r->problem) close_layer(r, r->problem);
    spot_op_bench_close(c, state);
}

/* -- layernorm -------------------------------------------------------------------------------------------------------- */

enum { NORM_X, NORM_WEIGHT, NORM_BIAS };
static const float EPS = 1e-5f;

static float number_of(const spot_op_normal *p, size_t i)
{
    return spot_noise(p->id + NORM_X, i, SPOT_FP32) + (float)(i / (size_t)p->l.width % 5);
}

static void make_layernorm(spot_op_run *r, void *problem, const int *size)
{
    spot_op_normal *p = problem;
    size_t n = (size_t)size[0] * size[1], width = (size_t)size[1];
    float *x = malloc(n * sizeof *x);

    *p = (spot_op_normal){ .rows = size[0], .id = LAST_IDS * r->number, .precision = on_device(r, (spot_precision)size[2]) };
    p->l = (spot_layernorm){ size[1], EPS, spot_op_noise(r, p->id + NORM_WEIGHT, width),
                             spot_op_noise(r, p->id + NORM_BIAS, width) };
    for (size_t i = 0; x && i < n; i++) x[i] = number_of(p, i);
    p->x = spot_op_given(r, x, n * sizeof *x);
    p->result = row_of(n, (spot_precision)size[2]);
    p->y = size[3] ? p->x : spot_op_tensor_blank(r, p->result, SPOT_OP_FLOAT);
    spot_op_tensor_part(r, "y", p->y, p->result, SPOT_OP_FLOAT, 0, 0);
}

static spot_status run_layernorm(spot_op_run *r, void *problems, int count)
{
    spot_op_normal *p = problems;

    for (int q = 0; q < count; q++, p++) SPOT_OP(r, spot_layernorm_apply(r->c, p->y, p->x, &p->l, p->rows, p->precision));
    return SPOT_OK;
}

static spot_status check_layernorm(spot_op_run *r, void *problem)
{
    const spot_op_normal *p = problem;
    size_t n = (size_t)p->l.width;

    for (size_t e = 0; e < CHECKED; e++) {
        size_t row = (size_t)p->rows - 1 - e * (size_t)(p->rows - 1) / CHECKED, i = e * 7 % n;
        double mean = 0, var = 0, want;
        for (size_t k = 0; k < n; k++) mean += number_of(p, row * n + k) / (double)n;
        for (size_t k = 0; k < n; k++) var += pow(number_of(p, row * n + k) - mean, 2) / (double)n;
        want = (number_of(p, row * n + i) - mean) / sqrt(var + EPS) * spot_noise(p->id + NORM_WEIGHT, i, SPOT_FP32)
             + spot_noise(p->id + NORM_BIAS, i, SPOT_FP32);
        SPOT_TRY(check_number(r, "normalised number", p->y, &p->result, row * n + i, want,
                              p->precision == SPOT_BF16 ? 0x1p-8 * fabs(want) + 1e-5 : 2e-5));
    }
    return SPOT_OK;
}

const spot_op spot_op_layernorm = { "layernorm", sizeof(spot_op_normal), make_layernorm, run_layernorm, check_layernorm, true };

static spot_status open_layernorm(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[0];
    work->bytes = (double)size[0] * size[1] * (sizeof(float) + spot_precision_bytes((spot_precision)size[2]));
    return spot_op_bench_open(c, state, &spot_op_layernorm, 1, size);
}

/* -- attention -------------------------------------------------------------------------------------------------------- */

static int length_of(const spot_op_attended *p, int s) { return p->even || !s ? p->a.longest : 1 + (5 * s + 2) % p->a.longest; }

static float qkv_of(const spot_op_attended *p, size_t i) { return spot_noise(p->id, i, p->result.precision); }

static void lay_sequences(spot_op_attended *p)
{
    for (int s = 0; s < p->a.sequences; s++) {
        p->start[s + 1] = p->start[s] + length_of(p, s);
        p->only[s] = p->start[s] + length_of(p, s) / 2;
    }
}

static void make_attention(spot_op_run *r, void *problem, const int *size)
{
    spot_op_attended *p = problem;
    size_t n = (size_t)size[3], width = (size_t)size[0] * size[1], rows;
    float *qkv;

    *p = (spot_op_attended){ .id = LAST_IDS * r->number, .d = size[1], .even = size[6] };
    p->a = (spot_attention){ .heads = size[0], .width = (int)width, .sequences = size[3], .longest = size[4], .causal = size[2],
                             .precision = on_device(r, (spot_precision)size[5]) };
    p->start = spot_op_host(r, (n + 1) * sizeof *p->start), p->only = spot_op_host(r, n * sizeof *p->only);
    if (!p->start || !p->only) return;
    lay_sequences(p);
    rows = (size_t)p->start[n];
    p->result = row_of(rows * width, (spot_precision)size[5]);
    qkv = malloc(rows * 3 * width * sizeof *qkv);
    for (size_t i = 0; qkv && i < rows * 3 * width; i++) qkv[i] = qkv_of(p, i);
    p->qkv = spot_op_given(r, qkv, rows * 3 * width * sizeof *qkv);
    p->a.start = spot_op_input(r, p->start, (n + 1) * sizeof *p->start);
    p->a.only = spot_op_input(r, p->only, n * sizeof *p->only);
    p->out = spot_op_tensor_blank(r, p->result, SPOT_OP_FLOAT);
    spot_op_tensor_part(r, "out", p->out, p->result, SPOT_OP_FLOAT, size[5] == SPOT_BF16 ? 0x1p-6 : 1e-5, 0);
    p->rows = spot_op_tensor_blank(r, row_of(n * width, p->result.precision), SPOT_OP_FLOAT);
    if (!p->even)
        spot_op_tensor_part(r, "single rows", p->rows, row_of(n * width, p->result.precision), SPOT_OP_FLOAT,
                            size[5] == SPOT_BF16 ? 0x1p-6 : 1e-5, 0);
}

static spot_status run_attention(spot_op_run *r, void *problems, int count)
{
    spot_op_attended *p = problems;
    spot_arena *a;

    for (int q = 0; q < count; q++, p++) {
        size_t bytes = spot_attention_scratch(r->c, &p->a);
        spot_attention all = p->a;
        void *scratch = NULL;
        all.only = NULL;
        if (bytes) {
            SPOT_TRY(spot_op_scratch(r, &a, bytes));
            scratch = a->base;
        }
        SPOT_OP(r, spot_attention_forward(r->c, p->out, p->qkv, &all, scratch));
        if (!p->even) SPOT_OP(r, spot_attention_forward(r->c, p->rows, p->qkv, &p->a, scratch));
    }
    return SPOT_OK;
}

/* Number `at` of row `row` of sequence s. */
static double attended(const spot_op_attended *p, int s, int row, int at)
{
    size_t w = (size_t)p->a.width, head = (size_t)(at / p->d * p->d);
    double sum = 0, out = 0;

    for (int j = p->start[s]; j < (p->a.causal ? row + 1 : p->start[s + 1]); j++) {
        double score = 0;
        for (int i = 0; i < p->d; i++)
            score += (double)qkv_of(p, 3 * w * row + head + i) * qkv_of(p, 3 * w * j + w + head + i);
        score = exp(score / sqrt(p->d));
        sum += score;
        out += score * qkv_of(p, 3 * w * j + 2 * w + at);
    }
    return out / sum;
}

static spot_status check_attention(spot_op_run *r, void *problem)
{
    const spot_op_attended *p = problem;
    size_t w = (size_t)p->a.width;
    double off = p->a.precision == SPOT_BF16 ? 0x1p-5 : 2e-5;

    for (int e = 0; e < CHECKED; e++) {
        int s = (e + 1) * p->a.sequences / CHECKED - 1, n, row, at = e * 11 % p->a.width;
        s = s < 0 ? 0 : s;
        n = p->start[s + 1] - p->start[s];
        row = p->start[s] + n - 1 - e * (n - 1) / CHECKED;
        SPOT_TRY(check_number(r, "number of attention", p->out, &p->result, (size_t)row * w + at, attended(p, s, row, at),
                              off));
    }
    return SPOT_OK;
}

const spot_op spot_op_attention = { "attention", sizeof(spot_op_attended), make_attention, run_attention, check_attention,
                                    true };

static spot_status open_attention(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    double pairs = (double)size[3] * size[4] * size[4], width = (double)size[0] * size[1];

    work->items = (double)size[3];
    work->flops = 4 * pairs * width;
    work->matrix = true;
    return spot_op_bench_open(c, state, &spot_op_attention, 1, size);
}

/* -- tokens ----------------------------------------------------------------------------------------------------------- */

enum { VALUE, PATCH, FIRST, POSITION, PICTURE };

static uint8_t byte_of(size_t i) { return (uint8_t)(i * 2654435761u >> 13); }

static int listed(const spot_op_tokened *p, int which, int i)
{
    return which ? (5 * i + which) % (p->count + 1) : (7 * i + 3) % (p->p.n * p->count);
}

static void make_tokens(spot_op_run *r, void *problem, const int *size)
{
    spot_op_tokened *p = problem;
    int across = size[1] / size[2], each = across * across;
    size_t pixels = (size_t)size[0] * size[1] * size[1] * 3, numbers = (size_t)size[0] * each * 3 * size[2] * size[2];
    size_t width = (size_t)size[3], rows = (size_t)size[0] * (each + 1);
    uint8_t *rgb = malloc(pixels);
    int *list;

    *p = (spot_op_tokened){ .id = LAST_IDS * r->number, .count = each, .width = size[3], .picked = size[0] + 2 };
    p->p = (spot_patches){ size[0], size[1], size[2], spot_op_noise(r, p->id + VALUE, 3 * 256),
                           on_device(r, (spot_precision)size[4]) };
    for (size_t i = 0; rgb && i < pixels; i++) rgb[i] = byte_of(i);
    p->rgb = spot_op_given(r, rgb, pixels);
    p->result = row_of(numbers, (spot_precision)size[4]);
    p->row = spot_op_tensor_blank(r, p->result, SPOT_OP_FLOAT);
    spot_op_tensor_part(r, "patches", p->row, p->result, SPOT_OP_FLOAT, 0, 0);
    p->patch = spot_op_noise(r, p->id + PATCH, (rows - (size_t)size[0]) * width);
    p->first = spot_op_noise(r, p->id + FIRST, width);
    p->position = spot_op_noise(r, p->id + POSITION, (size_t)(each + 1) * width);
    p->joined = spot_op_out(r, "joined", SPOT_OP_FLOAT, rows * width, 0);
    p->words = spot_op_out(r, "words", SPOT_OP_FLOAT, (size_t)p->picked * width, 0);
    p->unit = spot_op_out(r, "unit rows", SPOT_OP_FLOAT, (size_t)p->picked * width, 2e-6);
    list = malloc(3 * (size_t)p->picked * sizeof *list);
    for (int i = 0; list && i < 3 * p->picked; i++) list[i] = listed(p, i / p->picked, i % p->picked);
    p->list = spot_op_given(r, list, 3 * (size_t)p->picked * sizeof *list);
}

static spot_status run_tokens(spot_op_run *r, void *problems, int count)
{
    spot_op_tokened *p = problems;

    for (int q = 0; q < count; q++, p++) {
        int n = p->picked;
        SPOT_OP(r, spot_tokens_patches(r->c, p->row, p->rgb, &p->p));
        SPOT_OP(r, spot_tokens_join(r->c, p->joined, p->patch, p->first, p->position, p->p.n, p->count, p->width));
        SPOT_OP(r, spot_tokens_words(r->c, p->words, p->list, p->list + n, p->patch, p->position, n, p->width));
        SPOT_OP(r, spot_tokens_pick(r->c, p->unit, p->joined, p->list + 2 * n, n, p->width));
        SPOT_OP(r, spot_tokens_unit(r->c, p->unit, n, p->width));
    }
    return SPOT_OK;
}

/* Row t of picture k before its position is added; and a row of the joined tokens. */
static double joined(const spot_op_tokened *p, size_t k, size_t t, size_t i)
{
    size_t w = (size_t)p->width;
    float from = t ? spot_noise(p->id + PATCH, (k * (size_t)p->count + t - 1) * w + i, SPOT_FP32)
                   : spot_noise(p->id + FIRST, i, SPOT_FP32);

    return from + spot_noise(p->id + POSITION, t * w + i, SPOT_FP32);
}

static double patch_of(const spot_op_tokened *p, size_t e)
{
    size_t side = (size_t)p->p.side, patch = (size_t)p->p.patch, across = side / patch, area = patch * patch;
    size_t k = e / (3 * area), channel = e % (3 * area) / area, y = e % area / patch, x = e % patch, each = across * across;

    y += k % each / across * patch, x += k % across * patch;
    return spot_noise(p->id + VALUE, 256 * channel + byte_of(((k / each * side + y) * side + x) * 3 + channel), SPOT_FP32);
}

static spot_status check_tokens(spot_op_run *r, void *problem)
{
    const spot_op_tokened *p = problem;
    size_t w = (size_t)p->width, rows = (size_t)p->p.n * (p->count + 1), numbers = (size_t)p->result.pixels;
    spot_op_tensor floats = row_of(rows * w, SPOT_FP32);

    for (size_t e = 0; e < CHECKED; e++) {
        size_t i = e * 5 % w, row = (rows - 1) * e / (CHECKED - 1), n = (numbers - 1) * e / (CHECKED - 1);
        size_t k = e % (size_t)p->picked, at = (size_t)listed(p, 2, (int)k);
        double length = 0;
        SPOT_TRY(check_number(r, "number of a patch", p->row, &p->result, n, patch_of(p, n),
                              p->p.precision == SPOT_BF16 ? 0x1p-8 * fabs(patch_of(p, n)) : 0));
        SPOT_TRY(check_number(r, "joined number", p->joined, &floats, row * w + i,
                              joined(p, row / (size_t)(p->count + 1), row % (size_t)(p->count + 1), i), 1e-6));
        SPOT_TRY(check_number(r, "number of a word", p->words, &floats, k * w + i,
                              (double)spot_noise(p->id + PATCH, (size_t)listed(p, 0, (int)k) * w + i, SPOT_FP32)
                              + spot_noise(p->id + POSITION, (size_t)listed(p, 1, (int)k) * w + i, SPOT_FP32), 1e-6));
        for (size_t j = 0; j < w; j++) length += pow(joined(p, 0, at, j), 2);
        SPOT_TRY(check_number(r, "unit number", p->unit, &floats, k * w + i, joined(p, 0, at, i) / sqrt(length), 2e-6));
    }
    return SPOT_OK;
}

const spot_op spot_op_tokens = { "tokens", sizeof(spot_op_tokened), make_tokens, run_tokens, check_tokens, true };

static spot_status open_tokens(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    double across = size[1] / size[2], rows = size[0] * across * across;

    work->items = size[0];
    work->bytes = (double)size[0] * size[1] * size[1] * 3
                + rows * (3.0 * size[2] * size[2] * (double)spot_precision_bytes((spot_precision)size[4]) + 8.0 * size[3]);
    return spot_op_bench_open(c, state, &spot_op_tokens, 1, size);
}

/* -- rows ------------------------------------------------------------------------------------------------------------- */

static const spot_bench_kind kind_linear = { open_linear, spot_op_bench_check, spot_op_bench_run, close_linear };
static const spot_bench_kind kind_layernorm = { open_layernorm, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };
static const spot_bench_kind kind_attention = { open_attention, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };
static const spot_bench_kind kind_tokens = { open_tokens, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

enum { ROWS = 166 * 197 };

const spot_bench_row spot_bench_transformer[] = {
    { "linear", "ViT-B/16, 768 -> 2304, bias, bf16", "rows", SPOT_ON_CUDA, &kind_linear,
      { ROWS, 768, 2304, SPOT_OP_BIAS, SPOT_ACT_NONE, SPOT_BF16 }, { 20, 16, 48, SPOT_OP_BIAS, SPOT_ACT_NONE, SPOT_BF16 } },
    { "linear", "ViT-B/16, 768 -> 3072, quick-GELU, bf16", "rows", SPOT_ON_CUDA, &kind_linear,
      { ROWS, 768, 3072, SPOT_OP_BIAS | SPOT_OP_NARROW, SPOT_ACT_QUICK_GELU, SPOT_BF16 },
      { 20, 16, 64, SPOT_OP_BIAS | SPOT_OP_NARROW, SPOT_ACT_QUICK_GELU, SPOT_BF16 } },
    { "linear", "ViT-B/16, 3072 -> 768, added, bf16", "rows", SPOT_ON_CUDA, &kind_linear,
      { ROWS, 3072, 768, SPOT_OP_BIAS | SPOT_OP_ADD, SPOT_ACT_NONE, SPOT_BF16 },
      { 20, 64, 16, SPOT_OP_BIAS | SPOT_OP_ADD, SPOT_ACT_NONE, SPOT_BF16 } },
    { "linear", "ViT-B/16, 768 -> 3072, quick-GELU, fp32", "rows", SPOT_ON_CUDA, &kind_linear,
      { ROWS, 768, 3072, SPOT_OP_BIAS | SPOT_OP_NARROW, SPOT_ACT_QUICK_GELU, SPOT_FP32 },
      { 20, 16, 64, SPOT_OP_BIAS | SPOT_OP_NARROW, SPOT_ACT_QUICK_GELU, SPOT_FP32 } },
    { "layernorm", "ViT-B/16, rows of 768, bf16", "rows", SPOT_ON_CUDA, &kind_layernorm, { ROWS, 768, SPOT_BF16 },
      { 20, 16, SPOT_BF16 } },
    { "attention", "ViT-B/16, 12 heads of 64, 197 rows, bf16", "sequences", SPOT_ON_CUDA, &kind_attention,
      { 12, 64, false, 166, 197, SPOT_BF16, true }, { 2, 16, false, 2, 20, SPOT_BF16, true } },
    { "attention", "ViT-B/16, 12 heads of 64, 197 rows, fp32", "sequences", SPOT_ON_CUDA, &kind_attention,
      { 12, 64, false, 166, 197, SPOT_FP32, true }, { 2, 16, false, 2, 20, SPOT_FP32, true } },
    { "tokens", "ViT-B/16, patches and tokens, bf16", "pictures", SPOT_ON_CUDA, &kind_tokens, { 166, 224, 16, 768, SPOT_BF16 },
      { 2, 8, 4, 16, SPOT_BF16 } },
    { .op = NULL },
};
