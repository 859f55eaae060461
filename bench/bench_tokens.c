/* bench_tokens.c - pictures and words -> tokens: their problems for the tests, and what those of ViT-B/16 take on a GPU. */
#include <math.h>
#include <stdlib.h>

#include "op_transformer.h"

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

    *p = (spot_op_tokened){ .id = SPOT_OP_IDS * r->number, .count = each, .width = size[3], .picked = size[0] + 2 };
    p->p = (spot_patches){ size[0], size[1], size[2], spot_op_noise(r, p->id + VALUE, 3 * 256),
                           spot_op_on_device(r, (spot_precision)size[4]) };
    for (size_t i = 0; rgb && i < pixels; i++) rgb[i] = byte_of(i);
    p->rgb = spot_op_given(r, rgb, pixels);
    p->result = spot_op_row_of(numbers, (spot_precision)size[4]);
    p->row = spot_op_tensor_blank(r, p->result, SPOT_OP_FLOAT);
    spot_op_tensor_part(r, "patches", p->row, p->result, SPOT_OP_FLOAT, 0, 0);
    p->patch = spot_op_noise(r, p->id + PATCH, (rows - (size_t)size[0]) * width);
    p->first = spot_op_noise(r, p->id + FIRST, width);
    p->position = spot_op_noise(r, p->id + POSITION, (size_t)(each + 1) * width);
    p->joined = spot_op_out(r, "joined", SPOT_OP_FLOAT, rows * width, 0);
    p->words = spot_op_out(r, "words", SPOT_OP_FLOAT, (size_t)p->picked * width, 0);
    p->unit = spot_op_out(r, "unit rows", SPOT_OP_FLOAT, (size_t)p->picked * width, 2e-6);
    p->mean = spot_op_out(r, "means", SPOT_OP_FLOAT, (size_t)size[0] * width, 0);
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
        SPOT_OP(r, spot_tokens_join(r->c, p->joined,
                                    &(spot_picture_tokens){ p->patch, p->first, p->position, p->p.n, p->count, p->width }));
        SPOT_OP(r, spot_tokens_words(r->c, p->words,
                                     &(spot_word_tokens){ p->list, p->list + n, p->patch, p->position, n, p->width }));
        SPOT_OP(r, spot_tokens_mean(r->c, p->mean, p->joined,
                                    &(spot_token_mean){ .n = p->p.n, .each = p->count + 1, .first = 1, .last = p->count + 1,
                                                        .width = p->width, .pitch = p->width, .precision = SPOT_FP32 }));
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

static double mean_of(const spot_op_tokened *p, size_t k, size_t i)
{
    double sum = 0;

    for (int t = 1; t <= p->count; t++) sum += joined(p, k, (size_t)t, i);
    return sum / p->count;
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
    spot_op_tensor floats = spot_op_row_of(rows * w, SPOT_FP32), means = spot_op_row_of((size_t)p->p.n * w, SPOT_FP32);

    for (size_t e = 0; e < SPOT_OP_CHECKED; e++) {
        size_t i = e * 5 % w, row = (rows - 1) * e / (SPOT_OP_CHECKED - 1), n = (numbers - 1) * e / (SPOT_OP_CHECKED - 1);
        size_t k = e % (size_t)p->picked, at = (size_t)listed(p, 2, (int)k);
        double length = 0;
        SPOT_TRY(spot_op_check_number(r, "number of a patch", p->row, &p->result, n, patch_of(p, n),
                                      p->p.precision == SPOT_BF16 ? 0x1p-8 * fabs(patch_of(p, n)) : 0));
        SPOT_TRY(spot_op_check_number(r, "joined number", p->joined, &floats, row * w + i,
                                      joined(p, row / (size_t)(p->count + 1), row % (size_t)(p->count + 1), i), 1e-6));
        SPOT_TRY(spot_op_check_number(r, "number of a word", p->words, &floats, k * w + i,
                                      (double)spot_noise(p->id + PATCH, (size_t)listed(p, 0, (int)k) * w + i, SPOT_FP32)
                                      + spot_noise(p->id + POSITION, (size_t)listed(p, 1, (int)k) * w + i, SPOT_FP32), 1e-6));
        SPOT_TRY(spot_op_check_number(r, "mean", p->mean, &means, k % (size_t)p->p.n * w + i, mean_of(p, k % (size_t)p->p.n, i),
                                      1e-6));
        for (size_t j = 0; j < w; j++) length += pow(joined(p, 0, at, j), 2);
        SPOT_TRY(spot_op_check_number(r, "unit number", p->unit, &floats, k * w + i, joined(p, 0, at, i) / sqrt(length), 2e-6));
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

static const spot_bench_kind kind_tokens = { open_tokens, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

const spot_bench_row spot_bench_tokens[] = {
    { "tokens", "ViT-B/16, patches and tokens, bf16", "pictures", SPOT_ON_CUDA, &kind_tokens,
      { SPOT_OP_VIT_PICTURES, 224, 16, 768, SPOT_BF16 }, { 2, 8, 4, 16, SPOT_BF16 } },
    { .op = NULL },
};
