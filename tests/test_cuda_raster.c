/* test_cuda_raster.c - kernels/image/raster: pixels from draw lists that lie on the device, all to the byte. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include <math.h>

#include "image/raster.h"
#include "op_scene.h"

/* Every kind of output, and blocks of 2 x 2 pixels, which take an even size: pixels a side, ECs, images, kind of ECs. */
#define CANVAS(size, ecs, n, kind)                                                                          \
    { size, ecs, n, 0, 0, kind }, { size, ecs, n, 3, SPOT_FP32, kind }, { size, ecs, n, 3, SPOT_BF16, kind }
#define BLOCKS(size, ecs, n, kind) { size, ecs, n, 4, SPOT_TF32, kind }, { size, ecs, n, 4, SPOT_BF16, kind }

/* 33 pixels a side: no multiple of a tile, of a Philox block or of a store; 36: of a store only. Images of two ECs in one
 * batch, the first of which varies everything. Then squares at every row, and an output that begins between two stores of 128
 * bits, before and behind which nothing may change. */
static const int canvas_sizes[][SPOT_OP_SIZES] = {
    CANVAS(33, 2, 21, 3), CANVAS(36, 2, 5, 4), CANVAS(64, 2, 9, 5), CANVAS(224, 2, 1, 6),
    BLOCKS(34, 2, 21, 3), BLOCKS(36, 2, 5, 4), BLOCKS(64, 2, 9, 5), BLOCKS(224, 2, 1, 6),
    { 40, 0, 0, 0 },
    { 64, 1, 2, 0, 0, 0, 1 }, { 64, 1, 2, 3, SPOT_FP32, 0, 1 }, { 64, 1, 2, 3, SPOT_BF16, 0, 1 },
    { 64, 1, 2, 4, SPOT_TF32, 0, 1 }, { 64, 1, 2, 4, SPOT_BF16, 0, 1 },
};

enum { BYTES, FLOATS, HALVES, KINDS };

static spot_status paint(spot_ctx *c, int kind, void *out, const spot_image *image, int n, const spot_scene_config *cfg)
{
    if (kind == BYTES) return spot_raster_draw(c, out, image, n, cfg);
    return spot_raster_input(c, out, 3, kind == HALVES ? SPOT_BF16 : SPOT_FP32, image, n, cfg);
}

/* An image that the CPU refuses comes out as NaN, alone. */
TEST_ON_CUDA(lists_that_are_none_show)
{
    enum { SIZE = 40, N = 4, VALUES = 3 * SIZE * SIZE };
    static float x[N * VALUES];
    static uint16_t bf16[N * VALUES];
    static uint8_t rgb[N * VALUES];
    void *out[] = { rgb, x, bf16 };
    const size_t bytes[] = { sizeof rgb, sizeof x, sizeof bf16 };
    spot_ctx cpu = check_ctx(1);
    spot_image image[N];
    spot_ec ec;
    CHECK_OK(&cpu, spot_op_ec(&cpu, &ec, 2, SIZE));
    for (int k = 0; k < N; k++) {
        spot_image_draw(&image[k], &ec, SPOT_TRAIN, (uint32_t)k);
        if (!image[k].object_count) fail_msg("image %d has nothing to spoil", k);
    }
    image[1].object[0].x1 = 300;
    image[2].object_count = 200;
    image[3].object[image[3].object_count - 1].layer = 99;
    for (int k = 1; k < N; k++)
        CHECK_FAILS(&cpu, spot_raster_input(&cpu, x, 3, SPOT_FP32, &image[k], 1, &ec.scene), SPOT_INVALID,
                    k == 2 ? "raster.objects: image 0" : "raster.object_place");
    for (int s = 0; s < LEN(schedules); s = schedule_after(s, 1)) {
        spot_image *list;
        spot_ctx c;
        open_cuda(&c, s);
        list = to_device(&c, image, sizeof image);
        for (int kind = BYTES; kind < KINDS; kind++) {
            void *p = to_device(&c, NULL, bytes[kind]);
            CHECK_OK(&c, paint(&c, kind, p, list, N, &ec.scene));
            CHECK_OK(&c, spot_device_copy(&c, out[kind], p, bytes[kind]));
            spot_device_give(&c, p);
        }
        for (int i = 0; i < N * VALUES; i++) {
            assert_int_equal(isnan(x[i]) != 0, i >= VALUES);
            assert_int_equal((bf16[i] & 0x7fff) > 0x7f80, i >= VALUES);
            if (i >= VALUES) assert_int_equal(rgb[i], 0);
        }
        spot_device_give(&c, list);
        spot_device_close(&c);
    }
}

int main(void)
{
    static op_row rows[] = { OP_ROW(spot_op_render, canvas_sizes, .alone_step = LEN(schedules)) };

    return run_ops(rows, LEN(rows));
}
