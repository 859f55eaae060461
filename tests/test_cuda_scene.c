/* test_cuda_scene.c - kernels/image/sample: scenes that never leave the device, as draw lists, positives and orders, all to the
 * byte. Pixels: test_cuda_raster.c. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "op_scene.h"
#include "spotter/config.h"
#include "spotter/rng.h"

/* -- draw lists, targets, blindspots ------------------------------------------------------------------------------------ */

enum { INDEXED = 1, CURSOR = 2, CURSOR_AT = 5 };

/* pixels a side, images, the first one, index and cursor, split: edges of warps and blocks, one image, none. More problems
 * than one launch takes. */
#define BATCHES(size)                                                                                       \
    { size, 1, 0, 0, SPOT_TRAIN }, { size, 31, 7, INDEXED, SPOT_TEST }, { size, 33, 0, CURSOR, SPOT_VAL },  \
    { size, 0, 0, 0, SPOT_TRAIN }, { size, 255, 3, INDEXED | CURSOR, SPOT_TRAIN }, { size, 257, 0, 0, SPOT_VAL }, \
    { size, 128, 99, INDEXED | CURSOR, SPOT_TRAIN }, { size, 129, 0, INDEXED, SPOT_TRAIN }, \
    { size, 2, 4000000, CURSOR, SPOT_TRAIN }
static const int batch_sizes[][SPOT_OP_SIZES] = { BATCHES(224), BATCHES(32) };
enum { BATCH_KINDS = LEN(batch_sizes) / 2 };

typedef struct { spot_ec ec; spot_sample sample; int flags; } batch_problem;

static uint32_t indexed(uint32_t i) { return 7919 * (i + 1) % 50021; }

/* The arrays of a problem without images are not there at all. */
static void make_batch(spot_op_run *r, void *problem, const int *size)
{
    batch_problem *p = problem;
    size_t n = (size_t)size[1], numbers = (size_t)size[2] + CURSOR_AT + n;
    const uint32_t cursor = CURSOR_AT;

    r->status = spot_op_ec(r->c, &p->ec, r->number % BATCH_KINDS, size[0]);
    p->flags = size[3];
    p->sample = (spot_sample){ .ec = &p->ec, .split = (spot_split)size[4], .n = size[1], .first = (uint32_t)size[2] };
    if (p->flags & INDEXED) {
        uint32_t *index = malloc(numbers * sizeof *index);
        for (size_t i = 0; i < numbers; i++) index[i] = indexed((uint32_t)i);
        p->sample.index = spot_op_given(r, index, numbers * sizeof *index);
    }
    if (p->flags & CURSOR) p->sample.cursor = spot_op_input(r, &cursor, sizeof cursor);
    if (!n) return;
    p->sample.image = spot_op_out(r, "draw lists", SPOT_OP_BYTE, n * sizeof *p->sample.image, 0);
    p->sample.target = spot_op_out(r, "targets", SPOT_OP_FLOAT, n * (size_t)p->ec.targets, 0);
    p->sample.mask = spot_op_out(r, "masks", SPOT_OP_INT, n, 0);
}

/* A call takes ECs of one canvas. */
static spot_status run_batches(spot_op_run *r, void *problems, int count)
{
    batch_problem *p = problems;
    int equal;

    if (!count) SPOT_OP(r, spot_sample_images(r->c, 0, NULL));
    for (int first = 0; first < count; first += equal) {
        for (equal = 1; first + equal < count && p[first + equal].ec.scene.size == p[first].ec.scene.size; equal++) {}
        SPOT_OP(r, spot_sample_images(r->c, equal, SPOT_OP_ALL(r, p + first, sample, equal)));
    }
    return SPOT_OK;
}

static spot_status check_batch(spot_op_run *r, void *problem)
{
    const batch_problem *p = problem;
    uint32_t at = p->sample.first + (p->flags & CURSOR ? CURSOR_AT : 0), mask;
    float target[SPOT_BASE_TARGETS], want[SPOT_BASE_TARGETS];
    size_t targets = (size_t)p->ec.targets;
    spot_image image, one;

    for (uint32_t i = 0; i < (uint32_t)p->sample.n; i++) {
        SPOT_TRY(spot_op_fetch(r, &image, p->sample.image + i, sizeof image));
        SPOT_TRY(spot_op_fetch(r, target, p->sample.target + i * targets, targets * sizeof *target));
        SPOT_TRY(spot_op_fetch(r, &mask, p->sample.mask + i, sizeof mask));
        spot_image_draw(&one, &p->ec, p->sample.split, p->flags & INDEXED ? indexed(at + i) : at + i);
        spot_image_targets(want, &one, &p->ec);
        assert_memory_equal(&image, &one, sizeof one);
        assert_memory_equal(target, want, targets * sizeof *want);
        assert_int_equal(mask, one.blindspots);
    }
    return SPOT_OK;
}

static const spot_op batches = { "samples", sizeof(batch_problem), make_batch, run_batches, check_batch, false };

/* -- positives ---------------------------------------------------------------------------------------------------------- */

/* images, around the 512 of a round, in every split; more problems than one launch takes, the later ones small. */
#define IMAGES { 0 }, { 1 }, { 31 }, { 32 }, { 33 }, { 511 }, { 512 }, { 513 }, { 1025 }, { 3200 }
static const int positive_sizes[][SPOT_OP_SIZES] = { IMAGES, IMAGES, IMAGES };

typedef struct { spot_ec ec; spot_positives of; } positive_problem;

static void make_positives(spot_op_run *r, void *problem, const int *size)
{
    positive_problem *p = problem;
    spot_split split = (spot_split)(r->number % SPOT_SPLITS);

    r->status = spot_op_ec(r->c, &p->ec, r->number, 64);
    p->ec.images[split] = size[0];
    p->of = (spot_positives){ &p->ec, split, NULL };
    p->of.index = spot_op_out(r, "positives", SPOT_OP_INT, (size_t)spot_ec_positives(NULL, &p->ec, split), 0);
}

static spot_status run_positives(spot_op_run *r, void *problems, int count)
{
    positive_problem *p = problems;

    SPOT_OP(r, spot_sample_positives(r->c, count, SPOT_OP_ALL(r, p, of, count)));
    return SPOT_OK;
}

static spot_status check_positives(spot_op_run *r, void *problem)
{
    const positive_problem *p = problem;
    int want[3200], got[3200], n = spot_ec_positives(want, &p->ec, p->of.split);

    SPOT_TRY(spot_op_fetch(r, got, p->of.index, (size_t)n * sizeof *got));
    assert_memory_equal(got, want, (size_t)n * sizeof *got);
    return SPOT_OK;
}

static const spot_op positives = { "positives", sizeof(positive_problem), make_positives, run_positives, check_positives,
                                   false };

/* -- orders of an epoch ------------------------------------------------------------------------------------------------- */

/* images, seed, words that are rejected at least: around the tile of 256 steps; more than one launch takes. */
#define SHORT { 0, 3 }, { 1, 3 }, { 2, 3 }, { 3, 3 }, { 9, 3 }, { 31, 3 }, { 33, 3 }, { 255, 3 }, { 256, 3 }, { 257, 3 }, \
              { 511, 3 }, { 512, 3 }, { 513, 3 }, { 1000, 3 }
static const int short_sizes[][SPOT_OP_SIZES] = { SHORT, SHORT, SHORT, SHORT };

/* Epochs of the authors' length, and one so long that more than ten words are rejected. */
static const int long_sizes[][SPOT_OP_SIZES] = { { 51200, 1 }, { 51200, 1 }, { 600000, 1, 10 } };

typedef struct { spot_shuffle job; int rejected; } order_problem;

static void make_order(spot_op_run *r, void *problem, const int *size)
{
    order_problem *p = problem;

    p->job = (spot_shuffle){ (uint64_t)size[1], (uint32_t)r->number / 7, (uint32_t)r->number % 7, (uint32_t)size[0], NULL };
    if (size[2]) p->job.ec = 2, p->job.epoch = 0;
    p->job.order = spot_op_out(r, "order", SPOT_OP_INT, (size_t)size[0], 0);
    p->rejected = size[2];
}

static spot_status run_orders(spot_op_run *r, void *problems, int count)
{
    order_problem *p = problems;

    SPOT_OP(r, spot_sample_shuffle(r->c, count, SPOT_OP_ALL(r, p, job, count)));
    return SPOT_OK;
}

/* The order of spot_rng_shuffle from {SPOT_RNG_SHUFFLE, ec, epoch}. */
static spot_status check_order(spot_op_run *r, void *problem)
{
    const order_problem *p = problem;
    spot_rng rng = spot_rng_at(p->job.seed, SPOT_RNG_SHUFFLE, p->job.ec, p->job.epoch);
    size_t n = p->job.n;
    uint32_t *want = malloc((n + 1) * sizeof *want), *got = malloc((n + 1) * sizeof *got);
    int rejected;

    spot_rng_shuffle(&rng, want, p->job.n);
    rejected = (int)(4 * rng.counter[0] - (uint32_t)rng.left - p->job.n);
    if (rejected < p->rejected) fail_msg("only %d words were rejected: the case tries nothing", rejected);
    SPOT_TRY(spot_op_fetch(r, got, p->job.order, n * sizeof *got));
    assert_memory_equal(got, want, n * sizeof *got);
    free(want), free(got);
    return SPOT_OK;
}

#define ORDERS(name) { name, sizeof(order_problem), make_order, run_orders, check_order, false }
static const spot_op short_orders = ORDERS("short_orders"), long_orders = ORDERS("long_orders");

/* -- pictures ----------------------------------------------------------------------------------------------------------- */

/* People's pictures are made on the device and brought to the host. */
TEST_ON_CUDA(pictures_come_to_the_host)
{
    static uint8_t want[3 * 64 * 64], got[3 * 64 * 64];
    spot_ctx cpu = check_ctx(1), c;
    spot_image image[2];
    spot_ec ec;
    CHECK_OK(&cpu, spot_op_ec(&cpu, &ec, 2, 64));
    CHECK_OK(&cpu, spot_image_picture(&cpu, &image[0], want, &ec, SPOT_VAL, 70000));
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_image_picture(&c, &image[1], got, &ec, SPOT_VAL, 70000));
    assert_memory_equal(got, want, sizeof want);
    assert_memory_equal(&image[1], &image[0], sizeof *image);
    spot_image_draw(&image[1], &ec, SPOT_VAL, 70000);
    assert_memory_equal(&image[1], &image[0], sizeof *image);
    ec.scene.jpeg_quality = 75;
    CHECK_OK(&cpu, spot_image_picture(&cpu, image, want, &ec, SPOT_VAL, 1));
    assert_memory_not_equal(got, want, sizeof want);
    CHECK_OK(&c, spot_image_picture(&c, image, got, &ec, SPOT_VAL, 1));
    assert_memory_equal(got, want, sizeof want);
    spot_device_close(&c);
}

int main(void)
{
    static op_row rows[] = {
        OP_ROW(batches, batch_sizes, .alone_step = 1),
        OP_ROW(positives, positive_sizes, .problems = 120, .again = 5, .alone_step = 1),
        OP_ROW(short_orders, short_sizes, .problems = 150, .again = 5),
        OP_ROW(long_orders, long_sizes, .step = 2),
    };

    return run_ops(rows, LEN(rows));
}
