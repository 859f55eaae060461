/* test_cuda_scene.c - scenes that never leave the device: draw lists, pixels, positives and orders, CUDA's against the
 * CPU's, all to the byte. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <math.h>

#include "raster.h"
#include "sample.h"
#include "scene_draw.h"
#include "spotter/rng.h"

/* ECs of many kinds, all on one canvas: the authors' settings, labels flipped by chance, and a base model's. */
static spot_ec some_ec(int kind, int size)
{
    spot_scene_config cfg = spot_scene_defaults();
    spot_ctx c = check_ctx(1);
    spot_ec ec;

    cfg.size = size;
    if (kind % 3 == 1) cfg.flip = 0.4;
    if (kind % 3 == 1) cfg.square_presence = SPOT_SQUARE_FREE;
    if (kind % 3 == 2) spot_ec_base(&ec, &cfg, 77, 3000, 100);
    else CHECK_OK(&c, spot_ec_draw(&c, &ec, &cfg, 5, (uint32_t)kind));
    return ec;
}

/* Ragged on purpose: edges of warps and blocks, one image, none. More problems than one launch takes. */
static const struct { int n, first, indexed, cursor; spot_split split; } batches[] = {
    { 1, 0, 0, 0, SPOT_TRAIN }, { 31, 7, 1, 0, SPOT_TEST }, { 33, 0, 0, 1, SPOT_VAL }, { 0, 0, 0, 0, SPOT_TRAIN },
    { 255, 3, 1, 1, SPOT_TRAIN }, { 257, 0, 0, 0, SPOT_VAL }, { 128, 99, 1, 1, SPOT_TRAIN }, { 129, 0, 1, 0, SPOT_TRAIN },
    { 2, 4000000, 0, 1, SPOT_TRAIN },
};
enum { CURSOR = 5 };

/* Problem p on c. The arrays of a problem without images are not there at all. */
static spot_sample batch_on(spot_ctx *c, int p, const spot_ec *ec)
{
    int n = batches[p].n, numbers = batches[p].first + CURSOR + n;
    const uint32_t cursor = CURSOR;
    spot_sample s = { .ec = ec, .split = batches[p].split, .n = n, .first = (uint32_t)batches[p].first };

    if (batches[p].indexed) {
        uint32_t *index = malloc((size_t)numbers * sizeof *index);
        for (int i = 0; i < numbers; i++) index[i] = (uint32_t)(7919 * (i + 1) % 50021);
        s.index = to_device(c, index, (size_t)numbers * sizeof *index);
        free(index);
    }
    if (batches[p].cursor) s.cursor = to_device(c, &cursor, sizeof cursor);
    if (!n) return s;
    s.image = to_device(c, NULL, (size_t)n * sizeof *s.image);
    s.target = to_device(c, NULL, (size_t)(n * ec->targets) * sizeof *s.target);
    s.mask = to_device(c, NULL, (size_t)n * sizeof *s.mask);
    return s;
}

static void give_batch(spot_ctx *c, const spot_sample *s)
{
    spot_device_give(c, (void *)s->index);
    spot_device_give(c, (void *)s->cursor);
    spot_device_give(c, s->image);
    spot_device_give(c, s->target);
    spot_device_give(c, s->mask);
}

static void expect_batch(spot_ctx *c, spot_sample *s, const spot_sample *want, int p, int schedule)
{
    size_t n = (size_t)s->n;

    if (n) expect_bytes(c, s->image, want->image, n * sizeof *s->image, "draw lists", p, schedule);
    if (n) expect_bytes(c, s->target, want->target, n * (size_t)s->ec->targets * sizeof *s->target, "targets", p, schedule);
    if (n) expect_bytes(c, s->mask, want->mask, n * sizeof *s->mask, "masks", p, schedule);
    s->image = NULL;
    s->target = NULL;
    s->mask = NULL;
    give_batch(c, s);
}

static void images_agree(void **state)
{
    const int sizes[] = { 224, 32 };
    spot_ctx cpu = check_ctx(2);
    (void)state;
    for (int z = 0; z < LEN(sizes); z++) {
        spot_sample want[LEN(batches)], got[LEN(batches)];
        spot_ec ec[LEN(batches)];
        for (int p = 0; p < LEN(batches); p++) {
            ec[p] = some_ec(p, sizes[z]);
            want[p] = batch_on(&cpu, p, &ec[p]);
        }
        CHECK_OK(&cpu, spot_sample_images(&cpu, LEN(batches), want));
        for (int s = 0; s < LEN(schedules); s++) {
            spot_ctx c;
            open_cuda(&c, s);
            for (int p = 0; p < LEN(batches); p++) got[p] = batch_on(&c, p, &ec[p]);
            CHECK_OK(&c, spot_sample_images(&c, LEN(batches), got));
            for (int p = 0; p < LEN(batches); p++) expect_batch(&c, &got[p], &want[p], p, s);
            for (int p = 0; p < LEN(batches); p++) {
                got[p] = batch_on(&c, p, &ec[p]);
                CHECK_OK(&c, spot_sample_images(&c, 1, &got[p]));
                expect_batch(&c, &got[p], &want[p], p, s);
            }
            spot_device_close(&c);
        }
        for (int p = 0; p < LEN(batches); p++) give_batch(&cpu, &want[p]);
    }
}

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
    if (kind == FLOATS) return spot_raster_input(c, out, image, n, cfg);
    return spot_raster_input_as(c, out, kinds[kind].channels, kinds[kind].precision, image, n, cfg);
}

static size_t bytes_of(int kind, int n, int size)
{
    return (size_t)n * (size_t)size * (size_t)size * (size_t)kinds[kind].channels * (size_t)kinds[kind].bytes;
}

/* Images of two ECs in one batch, the first of which varies everything. The device draws its own lists. */
static void pixels_agree(void **state)
{
    spot_ctx cpu = check_ctx(2);
    (void)state;
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
static void objects_at_every_row(void **state)
{
    enum { SIZE = 40, MOST = 2 * SIZE };
    static uint8_t want[MOST * 3 * SIZE * SIZE];
    spot_ctx cpu = check_ctx(1);
    spot_scene_config cfg = spot_scene_defaults();
    spot_image image[MOST] = { { 0 } };
    spot_geometry g;
    int n = 0;
    (void)state;
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
static void pixels_anywhere(void **state)
{
    enum { SIZE = 64, N = 2, MOST = 4 * 8 * SIZE * SIZE * N + 8 };
    static unsigned char want[MOST], mark[MOST];
    spot_ctx cpu = check_ctx(1);
    spot_ec ec = some_ec(2, SIZE);
    spot_image image[N];
    (void)state;
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
static void lists_that_are_none_show(void **state)
{
    enum { SIZE = 40, N = 4, VALUES = 3 * SIZE * SIZE };
    static float x[N * VALUES];
    static uint16_t bf16[N * VALUES];
    static uint8_t rgb[N * VALUES];
    void *out[] = { rgb, x, bf16 };
    spot_ctx cpu = check_ctx(1);
    spot_ec ec = some_ec(2, SIZE);
    spot_image image[N];
    (void)state;
    for (int k = 0; k < N; k++) {
        spot_image_draw(&image[k], &ec, SPOT_TRAIN, (uint32_t)k);
        if (!image[k].object_count) fail_msg("image %d has nothing to spoil", k);
    }
    image[1].object[0].x1 = 300;
    image[2].object_count = 200;
    image[3].object[image[3].object_count - 1].layer = 99;
    for (int k = 1; k < N; k++) CHECK_FAILS(&cpu, spot_raster_input(&cpu, x, &image[k], 1, &ec.scene), SPOT_INVALID, "raster");
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

/* More problems than one launch takes, around the 512 images of a round. */
static void positives_agree(void **state)
{
    enum { PROBLEMS = 120 };
    const int images[] = { 0, 1, 31, 32, 33, 511, 512, 513, 1025, 3200 };
    static spot_ec ec[PROBLEMS];
    int *want[PROBLEMS], n[PROBLEMS];
    (void)state;
    for (int p = 0; p < PROBLEMS; p++) {
        ec[p] = some_ec(p, 64);
        ec[p].images[p % SPOT_SPLITS] = p < 3 * LEN(images) ? images[p % LEN(images)] : 5;
        n[p] = spot_ec_positives(NULL, &ec[p], p % SPOT_SPLITS);
        want[p] = malloc((size_t)(n[p] + 1) * sizeof *want[p]);
        spot_ec_positives(want[p], &ec[p], p % SPOT_SPLITS);
    }
    for (int s = -1; s < LEN(schedules); s++) {        /* -1: the CPU's own */
        spot_positives of[PROBLEMS];
        spot_ctx c = check_ctx(2);
        if (s >= 0) open_cuda(&c, s);
        for (int alone = 0; alone < 2; alone++) {
            for (int p = 0; p < PROBLEMS; p++)
                of[p] = (spot_positives){ &ec[p], p % SPOT_SPLITS, to_device(&c, NULL, (size_t)n[p] * sizeof **want) };
            if (!alone) CHECK_OK(&c, spot_sample_positives(&c, PROBLEMS, of));
            for (int p = 0; p < PROBLEMS; p++) {
                if (alone) CHECK_OK(&c, spot_sample_positives(&c, 1, &of[p]));
                expect_bytes(&c, of[p].index, want[p], (size_t)n[p] * sizeof **want, "positives", p, s < 0 ? 0 : s);
            }
        }
        if (s >= 0) spot_device_close(&c);
    }
    for (int p = 0; p < PROBLEMS; p++) free(want[p]);
}

/* Words that were rejected while {SPOT_RNG_SHUFFLE, ec, epoch} ordered n images; the order too. */
static int host_order(uint32_t *order, const spot_shuffle *s)
{
    spot_rng r = spot_rng_at(s->seed, SPOT_RNG_SHUFFLE, s->ec, s->epoch);

    spot_rng_shuffle(&r, order, s->n);
    return (int)(4 * r.counter[0] - (uint32_t)r.left - s->n);
}

static void orders_agree_for(int problems, spot_shuffle *job, int schedules_tried, int rejected_at_least)
{
    uint32_t **want = malloc((size_t)problems * sizeof *want);
    int rejected = 0;

    for (int p = 0; p < problems; p++) {
        want[p] = malloc((job[p].n + 1) * sizeof **want);
        rejected += host_order(want[p], &job[p]);
    }
    if (rejected < rejected_at_least) fail_msg("only %d words were rejected: the case tries nothing", rejected);
    for (int s = -1; s < schedules_tried; s++) {
        spot_ctx c = check_ctx(2);
        if (s >= 0) open_cuda(&c, s);
        for (int p = 0; p < problems; p++) job[p].order = to_device(&c, NULL, job[p].n * sizeof **want);
        CHECK_OK(&c, spot_sample_shuffle(&c, problems, job));
        for (int p = 0; p < problems; p++)
            expect_bytes(&c, job[p].order, want[p], job[p].n * sizeof **want, "order", p, s < 0 ? 0 : s);
        if (s >= 0) spot_device_close(&c);
    }
    for (int p = 0; p < problems; p++) free(want[p]);
    free(want);
}

/* Around the tile of 256 steps; more than one launch takes. */
static void short_orders_agree(void **state)
{
    const uint32_t n[] = { 0, 1, 2, 3, 31, 33, 255, 256, 257, 511, 512, 513, 1000 };
    spot_shuffle job[150];
    (void)state;
    for (int p = 0; p < LEN(job); p++)
        job[p] = (spot_shuffle){ 3, (uint32_t)p / 7, (uint32_t)p % 7, p < 52 ? n[p % LEN(n)] : 9, NULL };
    orders_agree_for(LEN(job), job, LEN(schedules), 0);
}

/* Epochs of the authors' length, and one so long that more than ten words are rejected. */
static void long_orders_agree(void **state)
{
    spot_shuffle epoch[2], longest = { 1, 2, 0, 600000, NULL };
    (void)state;
    for (uint32_t e = 0; e < LEN(epoch); e++) epoch[e] = (spot_shuffle){ 1, 0, e, 51200, NULL };
    orders_agree_for(LEN(epoch), epoch, 2, 0);
    orders_agree_for(1, &longest, 3, 10);
}

static void host_memory_is_refused(void **state)
{
    spot_ec ec = some_ec(2, 64);
    spot_image image[2];
    uint32_t order[4];
    spot_ctx c;
    void *out;
    (void)state;
    open_cuda(&c, 0);
    out = to_device(&c, NULL, 3 * 64 * 64 * 2);
    CHECK_FAILS(&c, spot_raster_draw(&c, out, image, 2, &ec.scene), SPOT_UNSUPPORTED, "the draw lists: in host memory");
    CHECK_FAILS(&c, spot_sample_images(&c, 1, &(spot_sample){ .ec = &ec, .n = 2, .image = image }), SPOT_UNSUPPORTED,
                "image: in host memory");
    CHECK_FAILS(&c, spot_sample_positives(&c, 1, &(spot_positives){ &ec, SPOT_VAL, order }), SPOT_UNSUPPORTED, "index");
    CHECK_FAILS(&c, spot_sample_shuffle(&c, 1, &(spot_shuffle){ .n = 4, .order = order }), SPOT_UNSUPPORTED, "order");
    spot_device_give(&c, out);
    spot_device_close(&c);
}

/* People's pictures are made on the device and brought to the host. */
static void pictures_come_to_the_host(void **state)
{
    static uint8_t want[3 * 64 * 64], got[3 * 64 * 64];
    spot_ctx cpu = check_ctx(1), c;
    spot_ec ec = some_ec(2, 64);
    spot_image image[2];
    (void)state;
    CHECK_OK(&cpu, spot_image_picture(&cpu, &image[0], want, &ec, SPOT_VAL, 70000));
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_image_picture(&c, &image[1], got, &ec, SPOT_VAL, 70000));
    assert_memory_equal(got, want, sizeof want);
    assert_memory_equal(&image[1], &image[0], sizeof *image);
    spot_image_draw(&image[1], &ec, SPOT_VAL, 70000);
    assert_memory_equal(&image[1], &image[0], sizeof *image);
    ec.scene.jpeg_quality = 75;
    CHECK_FAILS(&c, spot_image_picture(&c, image, got, &ec, SPOT_VAL, 1), SPOT_UNSUPPORTED, "JPEG runs on the CPU");
    CHECK_FAILS(&c, spot_image_input(&c, (float *)got, image, 1, &ec.scene), SPOT_UNSUPPORTED, "JPEG runs on the CPU");
    spot_device_close(&c);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_agree),
        cmocka_unit_test(pixels_agree),
        cmocka_unit_test(objects_at_every_row),
        cmocka_unit_test(pixels_anywhere),
        cmocka_unit_test(lists_that_are_none_show),
        cmocka_unit_test(positives_agree),
        cmocka_unit_test(short_orders_agree),
        cmocka_unit_test(long_orders_agree),
        cmocka_unit_test(host_memory_is_refused),
        cmocka_unit_test(pictures_come_to_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) { return run_cuda_tests_or_skip(run); }
