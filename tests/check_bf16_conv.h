/* check_bf16_conv.h - all passes of a convolution in bf16 on the CPU, over fenced arrays. */
#ifndef SPOTTER_TESTS_CHECK_BF16_CONV_H
#define SPOTTER_TESTS_CHECK_BF16_CONV_H

#include "check_bf16.h"
#include "check_fence.h"

typedef struct {
    spot_conv_shape s;
    int    rows, out;
    size_t nx, ny, nw;
    uint16_t *x, *y, *dy, *dx, *w, *other;
    float *oihw, *packed, *dw, *dw_oihw, *bias;
    fence_side side;
    fenced array[10];
    int    arrays;
} bed;

static inline void *fence_copy(bed *b, void *from, size_t bytes)
{
    fenced *f = &b->array[b->arrays++];

    *f = fenced_room(bytes, b->side);
    memcpy(f->array, from, bytes);
    free(from);
    return f->array;
}

static inline uint16_t *fenced_halves(bed *b, size_t n, uint32_t index)
{
    return fence_copy(b, random_halves(n, index, 0, 1), n * sizeof(uint16_t));
}

static inline float *fenced_floats(bed *b, size_t n, uint32_t index)
{
    return fence_copy(b, random_tensor(n, index), n * sizeof(float));
}

static inline bed make_bed(spot_conv_shape s, int rows, fence_side side)
{
    bed b = { .s = s, .rows = rows, .out = s.size / s.stride, .side = side };

    b.nx = (size_t)rows * s.ci * s.size * s.size;
    b.ny = (size_t)rows * s.co * b.out * b.out;
    b.nw = (size_t)s.co * s.ci * s.k * s.k;
    b.x = fenced_halves(&b, b.nx, 0), b.dx = fenced_halves(&b, b.nx, 1), b.dy = fenced_halves(&b, b.ny, 2);
    b.y = fenced_halves(&b, b.ny, 3), b.other = fenced_halves(&b, b.ny, 4);
    b.oihw = fenced_floats(&b, b.nw, 6), b.packed = fenced_floats(&b, b.nw, 7), b.dw = fenced_floats(&b, b.nw, 8);
    b.dw_oihw = fenced_floats(&b, b.nw, 9), b.bias = fenced_floats(&b, (size_t)s.co, 10);
    return b;
}

static inline void clear_bed(bed *b)
{
    for (int i = 0; i < b->arrays; i++) clear_fenced(&b->array[i]);
}

/* All passes that the plan knows; learned weights are packed in fp32, and rounded by the optimizer. */
static inline void run(bed *b, int threads)
{
    spot_ctx c = check_ctx(threads);
    spot_conv *plan;
    fenced scratch, w;

    CHECK_OK(&c, spot_conv_open(&c, &plan, &b->s));
    scratch = fenced_room(spot_conv_scratch(&c, plan), b->side);
    w = fenced_room(spot_conv_packed(&c, plan) * sizeof *b->w, b->side);
    b->w = (uint16_t *)(void *)w.array;
    if (b->s.train) {
        assert_int_equal(spot_conv_packed(&c, plan), b->nw);
        CHECK_OK(&c, spot_conv_pack(&c, plan, b->packed, b->oihw));
        for (size_t i = 0; i < b->nw; i++) b->w[i] = spot_bf16_bits(b->packed[i]);
    } else {
        assert_in_range(spot_conv_packed(&c, plan), b->nw, 8 * b->nw);
        CHECK_OK(&c, spot_conv_pack(&c, plan, b->w, b->oihw));
    }
    if (b->s.add) memcpy(b->y, b->other, b->ny * sizeof *b->y);
    CHECK_OK(&c, spot_conv_forward(&c, plan, b->y,
                                   &(spot_conv_terms){ b->x, b->w, b->s.bias ? b->bias : NULL, b->s.add ? b->y : NULL },
                                   b->rows, scratch.array));
    if (b->s.train > (b->s.ci == 3))
        CHECK_OK(&c, spot_conv_backward_data(&c, plan, b->dx, b->dy, b->w, b->rows, scratch.array));
    if (b->s.train) {
        CHECK_OK(&c, spot_conv_backward_weights(&c, plan, b->dw, b->x, b->dy, b->rows, scratch.array));
        CHECK_OK(&c, spot_conv_unpack(&c, plan, b->dw_oihw, b->dw));
    }
    clear_fenced(&scratch), clear_fenced(&w);
    spot_conv_close(&c, plan);
}

#endif
