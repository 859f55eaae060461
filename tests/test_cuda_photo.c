/* test_cuda_photo.c - kernels/image/photo and jpeg: labels and input of pictures that lie on the device, and images through
 * JPEG, all to the byte. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include <math.h>

#include "image/jpeg_trip.h"
#include "op_photo.h"

/* Every kind of input: pixels a side, pictures, images. An even size may have blocks of 2 x 2 pixels, with 4 channels. */
#define ODD_INPUTS(size, pictures, n, split) \
    { size, pictures, n, 3, SPOT_FP32, split, 80 }, { size, pictures, n, 3, SPOT_BF16, split, 64 }
#define INPUTS(size, pictures, n, split) ODD_INPUTS(size, pictures, n, split), \
    { size, pictures, n, 4, SPOT_TF32, split, 5 }, { size, pictures, n, 4, SPOT_BF16, split, 131 }

/* 33 pixels a side: no multiple of a warp; 64: one tile of 4,096; 65: a second one of a few pixels. Labels alone, around a
 * block of 256, and no image at all. A set's first pictures. An output that begins between two stores of 128 bits, before and
 * behind which nothing may change. */
static const int photo_sizes[][SPOT_OP_SIZES] = {
    ODD_INPUTS(33, 7, 11, SPOT_TRAIN), INPUTS(64, 5, 6, SPOT_VAL), ODD_INPUTS(65, 3, 4, SPOT_TEST),
    INPUTS(66, 3, 4, SPOT_TEST), INPUTS(40, 9, 9, SPOT_SPLITS),
    { 32, 50, 257, 0, 0, SPOT_TRAIN, 80 }, { 32, 50, 256, 0, 0, SPOT_VAL, 65 }, { 32, 1, 1, 0, 0, SPOT_TRAIN, 5 },
    { 32, 50, 255, 0, 0, SPOT_TEST, 300 }, { 32, 3, 0, 3, SPOT_FP32, SPOT_TRAIN, 80 },
    { 64, 3, 2, 4, SPOT_BF16, SPOT_TRAIN, 80, 1 }, { 64, 3, 2, 4, SPOT_FP32, SPOT_TRAIN, 80, 3 },
};

/* Pixels a side that fill blocks and do not, odd ones among them; qualities whose steps are 255, 1 and the authors'. */
static const int jpeg_sizes[][SPOT_OP_SIZES] = {
    { 32, 3, 75, 0 }, { 33, 2, 75, 1 }, { 40, 2, 75, 2 }, { 47, 1, 1, 0 }, { 48, 1, 100, 2 }, { 50, 1, 30, 2 },
    { 64, 2, 75, 2 }, { 8, 1, 75, 0 },  { 65, 1, 95, 1 }, { 32, 0, 75, 0 },
};

/* Each number that a split lacks comes out as NaN, alone; the CPU refuses it. */
TEST_ON_CUDA(pictures_that_are_none_show)
{
    enum { SIZE = 32, N = 3, VALUES = SIZE * SIZE * 4, PICTURES = 2 };
    static uint8_t rgb[PICTURES * 3 * SIZE * SIZE];
    static float x[N * VALUES];
    const uint64_t shows[PICTURES] = { 1, 0 }, task[] = { 1 };
    const uint32_t row[] = { 1, 0 }, index[N] = { 1, 2, 0 };
    const spot_ec ec = { .seed = 1, .targets = 1 };
    float target[N];
    spot_image image[N];
    spot_photo_set set = { .pictures = PICTURES, .size = SIZE, .rgb = rgb, .shows = shows, .task = task, .words = 1,
                           .row = { row }, .images = { PICTURES } };
    spot_sample s = { .ec = &ec, .n = N, .index = index, .image = image, .target = target };
    spot_ctx cpu = check_ctx(1), c;

    CHECK_FAILS(&cpu, spot_photo_images(&cpu, &set, &s), SPOT_INVALID, "photo.number: picture 2");
    image[0] = (spot_image){ .split = SPOT_TRAIN, .index = 2 };
    CHECK_FAILS(&cpu, spot_photo_input(&cpu, x, 4, SPOT_FP32, &set, image, 1), SPOT_INVALID, "photo.row");
    open_cuda(&c, 0);
    set.rgb = to_device(&c, rgb, sizeof rgb), set.shows = to_device(&c, shows, sizeof shows);
    set.task = to_device(&c, task, sizeof task), set.row[0] = to_device(&c, row, sizeof row);
    s.index = to_device(&c, index, sizeof index), s.image = to_device(&c, NULL, sizeof image);
    s.target = to_device(&c, NULL, sizeof target);
    void *out = to_device(&c, NULL, sizeof x);
    CHECK_OK(&c, spot_photo_images(&c, &set, &s));
    CHECK_OK(&c, spot_photo_input(&c, out, 4, SPOT_FP32, &set, s.image, N));
    CHECK_OK(&c, spot_device_copy(&c, x, out, sizeof x));
    CHECK_OK(&c, spot_device_copy(&c, target, s.target, sizeof target));
    assert_true(target[0] == 1 && isnan(target[1]) && target[2] == 0);
    for (int i = 0; i < N * VALUES; i++) assert_int_equal(isnan(x[i]) != 0, i / VALUES == 1);
    const void *taken[] = { set.rgb, set.shows, set.task, set.row[0], s.index, s.image, s.target, out };
    for (int i = 0; i < LEN(taken); i++) spot_device_give(&c, (void *)taken[i]);
    spot_device_close(&c);
}

TEST(wrong_calls_are_refused)
{
    static const uint8_t rgb[3 * 32 * 32];
    static float x[3 * 32 * 32];
    spot_photo_set set = { .pictures = 1, .size = 32, .rgb = rgb };
    spot_ctx c = check_ctx(1);

    CHECK_FAILS(&c, spot_photo_input(&c, x, 5, SPOT_FP32, &set, NULL, 1), SPOT_INVALID, "photo.input_sizes: 5");
    set.size = 31;
    CHECK_FAILS(&c, spot_photo_input(&c, x, 4, SPOT_FP32, &set, NULL, 1), SPOT_INVALID, "photo.input_sizes");
    set.size = 32;
    CHECK_FAILS(&c, spot_photo_input(&c, x, 3, SPOT_FP32, &set, NULL, 2), SPOT_INVALID, "photo.input_count: 2 | 1");
    CHECK_FAILS(&c, spot_photo_images(&c, &set, &(spot_sample){ .n = -1, .ec = &(spot_ec){ .targets = 1 } }), SPOT_INVALID,
                "photo.sizes: -1");
    CHECK_FAILS(&c, spot_jpeg_trip(&c, NULL, NULL, 0, 32, 0), SPOT_INVALID, "jpeg_trip.sizes: quality 0");
}

int main(void)
{
    static op_row rows[] = {
        OP_ROW(spot_op_photo, photo_sizes, .alone_step = LEN(schedules)),
        OP_ROW(spot_op_jpeg, jpeg_sizes, .alone_step = LEN(schedules)),
    };

    return run_ops(rows, LEN(rows));
}
