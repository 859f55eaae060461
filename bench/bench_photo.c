/* bench_photo.c - real pictures per second: from their numbers to labels and to the input of a network. The pictures are more
 * than a GPU's cache holds, in an epoch's order. */
#include "op_photo.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "net/conv.h"
#include "op_scene.h"

enum { CHECKED = 64, CURSOR = 3 };

/* Numbers with an address; any bits will do. */
static uint32_t word_at(uint32_t i, uint32_t id)
{
    i = (i ^ id * 0x9e3779b9u) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    return i ^ i >> 16;
}

static uint8_t byte_of(size_t row, size_t i) { return (uint8_t)word_at((uint32_t)i, 7 + (uint32_t)row); }

/* Half of the categories at hand, so that labels and blindspots differ. */
static bool shows(size_t row, int category) { return word_at((uint32_t)row, 1000 + (uint32_t)category) % 4 == 0; }

static uint32_t picture_of(int split, uint32_t i, int pictures)
{
    return word_at(i, 20 + (uint32_t)split) % (uint32_t)pictures;
}

static int images_of(const spot_op_photos *p, int split) { return p->sample.n + CURSOR + 1 + split; }

static uint32_t index_of(const spot_op_photos *p, uint32_t i)
{
    return word_at(i, 40) % (uint32_t)images_of(p, p->sample.split);
}

static void make_pixels(spot_op_run *r, spot_op_photos *p)
{
    size_t bytes = 3 * (size_t)p->set.size * (size_t)p->set.size;
    uint8_t *rgb = malloc(bytes * (size_t)p->set.pictures);

    for (size_t row = 0; rgb && row < (size_t)p->set.pictures; row++)
        for (size_t i = 0; i < bytes; i++) rgb[row * bytes + i] = byte_of(row, i);
    p->set.rgb = spot_op_given(r, rgb, bytes * (size_t)p->set.pictures);
}

static void make_set(spot_op_run *r, spot_op_photos *p, int categories)
{
    int words = p->set.words = (categories + 63) / 64, most = images_of(p, SPOT_SPLITS - 1);
    uint64_t *bits = calloc((size_t)p->set.pictures * (size_t)words + 1, sizeof *bits);
    uint32_t *row = malloc((size_t)most * sizeof *row);

    for (int k = 0; bits && k < categories; k += 2) bits[k / 64] |= (uint64_t)1 << k % 64;      /* the task's: the even ones */
    p->set.task = spot_op_input(r, bits, (size_t)words * sizeof *bits);
    if (bits) memset(bits, 0, (size_t)words * sizeof *bits);
    for (int i = 0; bits && i < p->set.pictures; i++)
        for (int k = 0; k < categories; k++)
            bits[(size_t)i * (size_t)words + (size_t)k / 64] |= (uint64_t)shows((size_t)i, k) << k % 64;
    p->set.shows = spot_op_given(r, bits, (size_t)p->set.pictures * (size_t)words * sizeof *bits);
    for (int s = 0; s < SPOT_SPLITS; s++) {
        p->set.images[s] = p->ec.images[s] = images_of(p, s);
        for (int i = 0; row && i < images_of(p, s); i++) row[i] = picture_of(s, (uint32_t)i, p->set.pictures);
        p->set.row[s] = spot_op_input(r, row, (size_t)images_of(p, s) * sizeof *row);
    }
    free(row);
}

static void make_labels(spot_op_run *r, spot_op_photos *p, int categories)
{
    size_t n = (size_t)p->sample.n;
    uint32_t *index = malloc((n + CURSOR + 1) * sizeof *index), cursor = CURSOR;

    p->ec = (spot_ec){ .seed = 5, .index = (uint32_t)r->number, .targets = 1, .blindspot_count = 3,
                       .scene = { .flip = r->number % 2 ? 0.5 : 1 },
                       .motif = { { 0, -1, false }, { 2, categories - 1, true }, { 0, 1, false } } };
    p->set.val_is_true = r->number % 3 == 0;
    make_set(r, p, categories);
    for (size_t i = 0; index && i < n + CURSOR + 1; i++) index[i] = index_of(p, (uint32_t)i);
    p->sample.ec = &p->ec;
    p->sample.first = 1;
    p->sample.index = spot_op_given(r, index, (n + CURSOR + 1) * sizeof *index);
    p->sample.cursor = spot_op_input(r, &cursor, sizeof cursor);
    p->sample.image = spot_op_out(r, "draw lists", SPOT_OP_BYTE, n * sizeof *p->sample.image, 0);
    p->sample.target = spot_op_out(r, "targets", SPOT_OP_FLOAT, n, 0);
    p->sample.mask = spot_op_out(r, "masks", SPOT_OP_INT, n, 0);
}

static size_t numbers_of_image(const spot_op_photos *p)
{
    return (size_t)p->set.size * (size_t)p->set.size * (size_t)p->channels;
}

/* A network's own numbers, of every third set; the others have ImageNet's. */
static const spot_pixel_rule other_rule = { 127.5f, { 1, 0.5f, -0.25f }, { 0.75f, 0.3f, 2 } };

static void make_photos(spot_op_run *r, void *problem, const int *size)
{
    spot_op_photos *p = problem;
    size_t unit = spot_precision_bytes((spot_precision)size[4]);

    if (size[1] == 3) p->set.pixels = other_rule;
    p->set.size = size[0], p->set.pictures = size[1], p->sample.n = size[2], p->channels = size[3];
    p->precision = (spot_precision)size[4];
    p->sample.split = (spot_split)size[5];
    if (size[5] < SPOT_SPLITS) make_labels(r, p, size[6]);
    if (!p->channels) return;
    make_pixels(r, p);
    p->out = spot_op_out(r, "input", SPOT_OP_BYTE, unit * (numbers_of_image(p) * (size_t)p->sample.n + 2 * (size_t)size[7]), 0);
    if (p->out) p->out += unit * (size_t)size[7];
}

static spot_status run_photos(spot_op_run *r, void *problems, int count)
{
    spot_op_photos *p = problems;

    for (int q = 0; q < count; q++, p++) {
        p->sample.ec = &p->ec;
        if (r->misplaced && !p->sample.n) continue;      /* no images, nothing to refuse */
        if (p->sample.image) SPOT_OP(r, spot_photo_images(r->c, &p->set, &p->sample));
        if (p->channels)
            SPOT_OP(r, spot_photo_input(r->c, p->out, p->channels, p->precision, &p->set, p->sample.image, p->sample.n));
    }
    return SPOT_OK;
}

/* The picture that image i is: its row of the set. */
static size_t row_of(const spot_op_photos *p, int i)
{
    int split = p->sample.split;

    if (split == SPOT_SPLITS) return (size_t)i;
    return picture_of(split, index_of(p, p->sample.first + CURSOR + (uint32_t)i), p->set.pictures);
}

static spot_status check_labels(spot_op_run *r, const spot_op_photos *p, int categories)
{
    for (int i = 0; i < p->sample.n; i++) {
        size_t row = row_of(p, i);
        uint32_t mask = 0, got;
        spot_image image;
        float target;
        bool label = false, flipped;
        for (int k = 0; k < categories; k += 2) label |= shows(row, k);
        for (int m = 0; m < p->ec.blindspot_count; m++) {
            const spot_motif *s = &p->ec.motif[m];
            mask |= (uint32_t)(shows(row, s->object) && (s->other < 0 || shows(row, s->other) == s->with)) << m;
        }
        flipped = mask && p->sample.split != SPOT_TEST && !(p->sample.split == SPOT_VAL && p->set.val_is_true);
        SPOT_TRY(spot_op_fetch(r, &image, p->sample.image + i, sizeof image));
        SPOT_TRY(spot_op_fetch(r, &target, p->sample.target + i, sizeof target));
        SPOT_TRY(spot_op_fetch(r, &got, p->sample.mask + i, sizeof got));
        if (image.label != label || image.blindspots != mask || got != mask || image.train_label != target
            || (p->ec.scene.flip == 1 && target != (label != flipped)) || (!flipped && target != label))
            return spot_fail(r->c, SPOT_CHECK, "picture %d: label %d, blindspots %x, target %g; wanted %d, %x, flipped %d", i,
                             image.label, got, target, label, mask, flipped);
    }
    return SPOT_OK;
}

static float number_of(const spot_op_photos *p, uint8_t byte, int channel)
{
    const spot_pixel_rule *r = &p->set.pixels;

    return r->scale > 0 ? (byte / r->scale - r->mean[channel]) / r->std[channel] : spot_op_normalised(byte, channel);
}

/* Every number of up to 64 pictures, with the last. */
static spot_status check_input(spot_op_run *r, const spot_op_photos *p)
{
    size_t unit = spot_precision_bytes(p->precision), numbers = numbers_of_image(p);
    unsigned char *got = malloc(numbers * unit);
    spot_status e = got ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory to check pictures");

    for (int i = p->sample.n - 1; i >= 0 && !e; i -= (p->sample.n + CHECKED - 1) / CHECKED) {
        e = spot_op_fetch(r, got, p->out + (size_t)i * numbers * unit, numbers * unit);
        for (size_t k = 0; k < numbers && !e; k++) {
            size_t channel = k % (size_t)p->channels, pixel = k / (size_t)p->channels;
            size_t from = p->channels == SPOT_STEM ? (size_t)spot_stem_pixel((int)pixel, p->set.size) : pixel;
            float v = channel < 3 ? number_of(p, byte_of(row_of(p, i), 3 * from + channel), (int)channel) : 0;
            uint16_t bits = spot_bf16_bits(v);
            if (memcmp(got + k * unit, p->precision == SPOT_BF16 ? (void *)&bits : &v, unit))
                e = spot_fail(r->c, SPOT_CHECK, "number %zu of picture %d is not that of its byte", k, i);
        }
    }
    free(got);
    return e;
}

/* The last category is the second motif's. */
static spot_status check_photos(spot_op_run *r, void *problem)
{
    const spot_op_photos *p = problem;

    if (p->sample.image) SPOT_TRY(check_labels(r, p, p->ec.motif[1].other + 1));
    return p->channels ? check_input(r, p) : SPOT_OK;
}

const spot_op spot_op_photo = { "photos", sizeof(spot_op_photos), make_photos, run_photos, check_photos, false };

static spot_status open_photos(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    const spot_op_photos *p;

    SPOT_TRY(spot_op_bench_open(c, state, &spot_op_photo, 1, size));
    p = ((const spot_op_run *)*state)->problem;
    work->items = p->sample.n;
    work->bytes = p->sample.n * (3.0 * p->set.size * p->set.size
                                 + (double)(numbers_of_image(p) * spot_precision_bytes(p->precision)));
    return SPOT_OK;
}

static const spot_bench_kind photos = { open_photos, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

const spot_bench_row spot_bench_photo[] = {
    { "photos", "224 px, network input", "images", SPOT_ON_CPU, &photos, { 224, 512, 64, 3, SPOT_FP32, SPOT_TRAIN, 80 },
      { 32, 8, 4, 3, SPOT_FP32, SPOT_TRAIN, 80 } },
    { "photos", "224 px, batch 256, bf16 input", "images", SPOT_ON_CUDA, &photos,
      { 224, 2048, 256, 4, SPOT_BF16, SPOT_TRAIN, 80 }, { 32, 8, 4, 4, SPOT_BF16, SPOT_TRAIN, 80 } },
    { "photos", "224 px, batch 256, fp32 input", "images", SPOT_ON_CUDA, &photos,
      { 224, 2048, 256, 4, SPOT_FP32, SPOT_TRAIN, 80 }, { 32, 8, 4, 4, SPOT_FP32, SPOT_TRAIN, 80 } },
    { 0 },
};
