/* test_cuda_resize.c - kernels/image/resize: one pixel, extreme shapes, larger, smaller, without scaling, both filters.
 * test_picture.c compares with the bytes of PIL. ctest: threads */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "image/resize.h"
#include "op_resize.h"

/* width, height, resize, crop, filter, order of the filters: more pictures than a launch takes */
static const int sizes[][SPOT_OP_SIZES] = {
    { 1, 1, 7, 7, SPOT_BICUBIC },      { 40, 30, 24, 24, SPOT_BICUBIC }, { 33, 57, 16, 11, SPOT_BILINEAR },
    { 300, 1, 5, 4, SPOT_BICUBIC },    { 1, 300, 3, 9, SPOT_BILINEAR },  { 20, 31, 0, 17, SPOT_BICUBIC },
    { 5, 4, 0, 16, SPOT_BICUBIC },     { 9, 9, 31, 40, SPOT_BICUBIC },   { 640, 48, 32, 32, SPOT_BICUBIC },
    { 64, 64, 64, 64, SPOT_BICUBIC },  { 65, 64, 1, 1, SPOT_BICUBIC },
    { 40, 30, SPOT_RESIZE_SQUASH, 24, SPOT_BICUBIC },  { 7, 90, SPOT_RESIZE_SQUASH, 33, SPOT_BILINEAR },
    { 7, 90, SPOT_RESIZE_SQUASH, 33, SPOT_BILINEAR, SPOT_PILLOW_12 },  { 21, 97, 10, 13, SPOT_BICUBIC },
    { 21, 97, 10, 13, SPOT_BICUBIC, SPOT_PILLOW_12 },  { 40, 130, 20, 35, SPOT_BILINEAR }, { 33, 80, 30, 24, SPOT_BICUBIC },
};

TEST(a_number_out_of_range_is_refused)
{
    static const spot_resize bad[] = {
        { .width = 0, .height = 3, .resize = 1, .crop = 1 },       { .width = 3, .height = -1, .resize = 1, .crop = 1 },
        { .width = 1 << 20, .height = 1 << 20, .crop = 1 },        { .width = 3, .height = 3, .resize = -2, .crop = 1 },
        { .width = 3, .height = 3, .crop = 0 },                    { .width = 3, .height = 3, .crop = SPOT_RESIZE_CROP + 1 },
        { .width = 3, .height = 3, .crop = 1, .filter = SPOT_FILTERS },
    };
    spot_ctx c = check_ctx(1);
    spot_arena a = spot_arena_counting();
    for (int i = 0; i < LEN(bad); i++)
        CHECK_FAILS(&c, spot_resize_fit(&c, &a, 1, &bad[i]), SPOT_INVALID,
                    i < 3 ? "resize.sizes: picture 0" : "resize.fit: picture 0");
}

/* A white picture stays white, and a black one black: the cubic's negative weights are limited, and all weights sum to 1. */
TEST(one_colour_stays)
{
    static uint8_t rgb[3 * 70 * 50], out[3 * 40 * 40];
    spot_ctx c = check_ctx(2);
    for (int colour = 0; colour < 256; colour += 51)
        for (int resize = 20; resize <= 90; resize += 35) {
            spot_resize p = { rgb, 70, 50, resize, 20, SPOT_BICUBIC, out, SPOT_PILLOW_13 };
            spot_arena a;
            memset(rgb, colour, sizeof rgb);
            CHECK_OK(&c, spot_arena_open(&c, &a, spot_resize_scratch(1, &p, 2)));
            CHECK_OK(&c, spot_resize_fit(&c, &a, 1, &p));
            for (int i = 0; i < 3 * 20 * 20; i++) assert_int_equal(out[i], colour);
            spot_arena_close(&a);
        }
}

int main(void)
{
    static op_row rows[] = { OP_ROW(spot_op_resize, sizes, .problems = 2 * LEN(sizes)) };

    return run_ops(rows, LEN(rows));
}
