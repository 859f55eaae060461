/* test_cuda_raster.c - pixels from draw lists that lie on the device, CUDA's against the CPU's, all to the byte. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"
#include "check_scene.h"

#include <math.h>

#include "image/raster.h"
#include "image/sample.h"
#include "image/scene_draw.h"

/* 33 pixels a side: no multiple of a tile, of a Philox block or of a store; 36: of a store only. */
static const struct { int size, n; } canvases[] = { { 33, 21 }, { 36, 5 }, { 64, 9 }, { 224, 1 } };

/* The kinds of output. */
static const struct { const char *name; int bytes, channels; spot_precision precision; } kinds[] = {
    { "bytes", 1, 3, SPOT_FP32 }, { "floats", 4, 3, SPOT_FP32 }, { "bf16", 2, 3, SPOT_BF16 },
    { "floats of 8 channels", 4, 8, SPOT_TF32 }, { "bf16 of 8 channels", 2, 8, SPOT_BF16 },
};
enum { BYTES, FLOATS, HALVES, KINDS = LEN(kinds) };

static spot_status paint(spot_ctx *c, int kind, void *out, const spot_image *image, int n, const spot_scene_config *cfg)
{
    if (kind == BYTES) return spot_raster_draw(c, out, image, n, cfg);
    return spot_raster_input(c, out, kinds[kind].channels, kinds[kind].precision, image, n, cfg);
}

static size_t bytes_of(int kind, int n, int size)
{
    return (size_t)n * (size_t)size * (size_t)size * (size_t)kinds[kind].channels * (size_t)kinds[kind].bytes;
}

/* Images of two ECs in one batch, the first of which varies everything. The device draws its own lists. */
TEST(pixels_agree)
{
    spot_ctx cpu = check_ctx(2);
    for (int i = 0; i < LEN(canvases); i++) {
        int n = canvases[i].n, size = canvases[i].size;
        spot_ec ec[2] = { some_ec(2, size), some_ec(3 + i, size) };
        spot_image *image = calloc((size_t)n, sizeof *image);
        void *want[KINDS];

        for (int k = 0; k < n; k++) spot_image_draw(&image[k], &ec[k >= n / 2], SPOT_VAL, (uint32_t)k);
        for (int kind = 0; kind < KINDS; kind++) {
            want[kind] = malloc(bytes_of(kind, n, size));
            CHECK_OK(&cpu, paint(&cpu, kind, want[kind], image, n, &ec->scene));
        }
        for (int s = 0; s < LEN(schedules); s++) {
            spot_image *list;
            spot_ctx c;
            void *x, *rgb;
            open_cuda(&c, s);
            list = to_device(&c, NULL, (size_t)n * sizeof *list);
            CHECK_OK(&c, spot_sample_images(&c, 2, (spot_sample[]){
                { .ec = &ec[0], .split = SPOT_VAL, .n = n / 2, .image = list },
                { .ec = &ec[1], .split = SPOT_VAL, .n = n - n / 2, .first = (uint32_t)n / 2, .image = list + n / 2 } }));
            for (int kind = 0; kind < KINDS; kind++) {
                void *out = to_device(&c, NULL, bytes_of(kind, n, size));
                CHECK_OK(&c, paint(&c, kind, out, list, n, &ec->scene));
                expect_bytes(&c, out, want[kind], bytes_of(kind, n, size), kinds[kind].name, i, s);
            }
            x = to_device(&c, NULL, bytes_of(FLOATS, n, size));
            rgb = to_device(&c, want[BYTES], bytes_of(BYTES, n, size));
            CHECK_OK(&c, spot_raster_normalise(&c, x, rgb, n, size));
            expect_bytes(&c, x, want[FLOATS], bytes_of(FLOATS, n, size), "normalised", i, s);
            spot_device_give(&c, rgb);
            spot_device_give(&c, list);
            spot_device_close(&c);
        }
        for (int kind = 0; kind < KINDS; kind++) free(want[kind]);
        free(image);
    }
}

/* A tile of 1,024 pixels looks only at the objects in its rows, of which it may own the left or the right part. Here one
 * begins and one ends in every row, at either side. */
TEST(objects_at_every_row)
{
    enum { SIZE = 40, MOST = 2 * SIZE };
    static uint8_t want[MOST * 3 * SIZE * SIZE];
    spot_ctx cpu = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults();
    spot_image image[MOST] = { { 0 } };
    spot_geometry g;
    int n = 0;
    cfg.size = SIZE;
    g = spot_geometry_of(&cfg);
    for (int room = SIZE - g.shape[SPOT_SQUARE][1].h; n < 2 * room + 2; n++) {
        spot_object *o = &image[n].object[0];
        *o = (spot_object){ .layer = SPOT_SQUARE, .size = 1, .place_x = (int16_t)(n % 2 * room), .place_y = (int16_t)(n / 2) };
        spot_scene_box(o, &g);
        image[n].object_count = 1;
    }
    CHECK_OK(&cpu, spot_raster_draw(&cpu, want, image, n, &cfg));
    for (int s = 0; s < LEN(schedules); s++) {
        spot_image *list;
        spot_ctx c;
        void *rgb;
        open_cuda(&c, s);
        list = to_device(&c, image, (size_t)n * sizeof *image);
        rgb = to_device(&c, NULL, bytes_of(BYTES, n, SIZE));
        CHECK_OK(&c, spot_raster_draw(&c, rgb, list, n, &cfg));
        expect_bytes(&c, rgb, want, bytes_of(BYTES, n, SIZE), "bytes", 0, s);
        spot_device_give(&c, list);
        spot_device_close(&c);
    }
}

/* An output that begins between two stores of 128 bits; what lies before and behind stays. */
TEST(pixels_anywhere)
{
    enum { SIZE = 64, N = 2, MOST = 4 * 8 * SIZE * SIZE * N + 8 };
    static unsigned char want[MOST], mark[MOST];
    spot_ctx cpu = check_ctx(1);
    spot_ec ec = some_ec(2, SIZE);
    spot_image image[N];
    memset(mark, 7, sizeof mark);
    for (int k = 0; k < N; k++) spot_image_draw(&image[k], &ec, SPOT_TRAIN, (uint32_t)k);
    for (int kind = 0; kind < KINDS; kind++) {
        size_t step = (size_t)kinds[kind].bytes, bytes = bytes_of(kind, N, SIZE);
        void *aligned = malloc(bytes);
        CHECK_OK(&cpu, paint(&cpu, kind, aligned, image, N, &ec.scene));
        memcpy(want, mark, sizeof mark);
        memcpy(want + step, aligned, bytes);
        for (int s = 0; s < 2; s++) {
            unsigned char *out;
            spot_image *list;
            spot_ctx c;
            open_cuda(&c, s);
            list = to_device(&c, image, sizeof image);
            out = to_device(&c, mark, bytes + 2 * step);
            CHECK_OK(&c, paint(&c, kind, out + step, list, N, &ec.scene));
            expect_bytes(&c, out, want, bytes + 2 * step, kinds[kind].name, 0, s);
            spot_device_give(&c, list);
            spot_device_close(&c);
        }
        free(aligned);
    }
}

/* What the CPU refuses comes out as NaN, alone. */
TEST(lists_that_are_none_show)
{
    enum { SIZE = 40, N = 4, VALUES = 3 * SIZE * SIZE };
    static float x[N * VALUES];
    static uint16_t bf16[N * VALUES];
    static uint8_t rgb[N * VALUES];
    void *out[] = { rgb, x, bf16 };
    spot_ctx cpu = check_ctx(1);
    spot_ec ec = some_ec(2, SIZE);
    spot_image image[N];
    for (int k = 0; k < N; k++) {
        spot_image_draw(&image[k], &ec, SPOT_TRAIN, (uint32_t)k);
        if (!image[k].object_count) fail_msg("image %d has nothing to spoil", k);
    }
    image[1].object[0].x1 = 300;
    image[2].object_count = 200;
    image[3].object[image[3].object_count - 1].layer = 99;
    for (int k = 1; k < N; k++)
        CHECK_FAILS(&cpu, spot_raster_input(&cpu, x, 3, SPOT_FP32, &image[k], 1, &ec.scene), SPOT_INVALID, "raster");
    for (int s = 0; s < LEN(schedules); s++) {
        spot_image *list;
        spot_ctx c;
        open_cuda(&c, s);
        list = to_device(&c, image, sizeof image);
        for (int kind = BYTES; kind <= HALVES; kind++) {
            void *p = to_device(&c, NULL, bytes_of(kind, N, SIZE));
            CHECK_OK(&c, paint(&c, kind, p, list, N, &ec.scene));
            CHECK_OK(&c, spot_device_copy(&c, out[kind], p, bytes_of(kind, N, SIZE)));
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

int main(void) { return run_cuda_tests(); }
