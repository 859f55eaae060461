/* test_cuda_scene.c - scenes that never leave the device: draw lists, positives and orders, CUDA's against the CPU's, all
 * to the byte. Pixels: test_cuda_raster.c. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"
#include "check_scene.h"

#include "image/raster.h"
#include "image/sample.h"
#include "spotter/rng.h"
#include "spotter/source.h"

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

TEST(images_agree)
{
    const int sizes[] = { 224, 32 };
    spot_ctx cpu = check_ctx(2);
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

/* More problems than one launch takes, around the 512 images of a round. */
TEST(positives_agree)
{
    enum { PROBLEMS = 120 };
    const int images[] = { 0, 1, 31, 32, 33, 511, 512, 513, 1025, 3200 };
    static spot_ec ec[PROBLEMS];
    int *want[PROBLEMS], n[PROBLEMS];
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
TEST(short_orders_agree)
{
    const uint32_t n[] = { 0, 1, 2, 3, 31, 33, 255, 256, 257, 511, 512, 513, 1000 };
    spot_shuffle job[150];
    for (int p = 0; p < LEN(job); p++)
        job[p] = (spot_shuffle){ 3, (uint32_t)p / 7, (uint32_t)p % 7, p < 52 ? n[p % LEN(n)] : 9, NULL };
    orders_agree_for(LEN(job), job, LEN(schedules), 0);
}

/* Epochs of the authors' length, and one so long that more than ten words are rejected. */
TEST(long_orders_agree)
{
    spot_shuffle epoch[2], longest = { 1, 2, 0, 600000, NULL };
    for (uint32_t e = 0; e < LEN(epoch); e++) epoch[e] = (spot_shuffle){ 1, 0, e, 51200, NULL };
    orders_agree_for(LEN(epoch), epoch, 2, 0);
    orders_agree_for(1, &longest, 3, 10);
}

TEST(host_memory_is_refused)
{
    spot_ec ec = some_ec(2, 64);
    spot_image image[2];
    uint32_t order[4];
    spot_ctx c;
    void *out;
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
TEST(pictures_come_to_the_host)
{
    static uint8_t want[3 * 64 * 64], got[3 * 64 * 64];
    spot_ctx cpu = check_ctx(1), c;
    spot_ec ec = some_ec(2, 64);
    spot_image image[2];
    CHECK_OK(&cpu, spot_image_picture(&cpu, &image[0], want, &ec, SPOT_VAL, 70000));
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_image_picture(&c, &image[1], got, &ec, SPOT_VAL, 70000));
    assert_memory_equal(got, want, sizeof want);
    assert_memory_equal(&image[1], &image[0], sizeof *image);
    spot_image_draw(&image[1], &ec, SPOT_VAL, 70000);
    assert_memory_equal(&image[1], &image[0], sizeof *image);
    ec.scene.jpeg_quality = 75;
    CHECK_FAILS(&c, spot_image_picture(&c, image, got, &ec, SPOT_VAL, 1), SPOT_UNSUPPORTED, "JPEG runs on the CPU");
    CHECK_FAILS(&c, spot_ec_input(&c, got, 3, false, image, 1, &ec), SPOT_UNSUPPORTED, "JPEG runs on the CPU");
    spot_device_close(&c);
}

int main(void) { return run_cuda_tests(); }
