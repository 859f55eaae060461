/* encoder_look.c - EC -> pictures -> squares of the encoder's side -> features, a block at a time. */
#include "models/encoder_look.h"

#include <omp.h>
#include <string.h>

#include "core/device.h"
#include "image/resize.h"
#include "worlds/source_draw.h"

/* The arrays of a block. On the CPU drawn and rgb are one. */
typedef struct {
    int         block, size, side;
    int        *index;             /* (rows): the numbers of the pictures */
    spot_image *image;             /* (block), and ... */
    uint8_t    *drawn;             /* ... (block, size, size, 3) and ... */
    uint32_t   *drawn_index;       /* ... (rows): in the memory of c's device */
    uint8_t    *rgb;               /* (block, size, size, 3) */
    uint8_t    *square;            /* (block, side, side, 3); rgb where the sides are equal */
    unsigned char *scratch;        /* (threads, each) */
    size_t      each;
} looker;

static size_t bytes_of(int side) { return 3 * (size_t)side * (size_t)side; }

static spot_resize resize_of(const looker *l, const uint8_t *rgb, uint8_t *out)
{
    return (spot_resize){ rgb, l->size, l->size, l->side, l->side, SPOT_BICUBIC, out,
                          SPOT_PILLOW_13 /* of squares every Pillow makes the same */ };
}

static spot_status take_host(spot_ctx *c, spot_arena *a, looker *l, const spot_encoder_info *about, int size, int rows)
{
    *l = (looker){ .block = rows < about->picture_block ? rows : about->picture_block, .size = size, .side = about->side };
    SPOT_TRY(SPOT_TAKE(c, a, l->index, rows));
    SPOT_TRY(SPOT_TAKE(c, a, l->rgb, (size_t)l->block * bytes_of(size)));
    l->square = l->rgb;
    if (size == l->side) return SPOT_OK;
    const spot_resize one = resize_of(l, NULL, NULL);
    l->each = spot_resize_scratch(1, &one, 1);
    SPOT_TRY(SPOT_TAKE(c, a, l->square, (size_t)l->block * bytes_of(l->side)));
    return SPOT_TAKE(c, a, l->scratch, (size_t)c->threads * l->each);
}

static spot_status take_drawn(spot_ctx *c, spot_arena *on, looker *l, int rows)
{
    SPOT_TRY(SPOT_TAKE(c, on, l->image, l->block));
    l->drawn = l->rgb;
    l->drawn_index = (uint32_t *)(void *)l->index;
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, on, l->drawn_index, rows));
    return SPOT_TAKE(c, on, l->drawn, (size_t)l->block * bytes_of(l->size));
}

/* Pictures from files lie on the host. */
static spot_status read_block(spot_ctx *c, const looker *l, const spot_ec *ec, spot_split split, const int *index, int n)
{
    spot_status failed = SPOT_OK;

#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        spot_image image;
        spot_status s = spot_photo_image(c, &image, ec, split, (uint32_t)index[i]);
        if (!s) s = spot_photo_pixels(c, l->rgb + (size_t)i * bytes_of(l->size), &image, ec);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    return failed;
}

static spot_status draw_block(spot_ctx *c, const looker *l, const spot_ec *ec, spot_split split, int first, int n)
{
    spot_sample s = { .ec = ec, .split = split, .n = n, .first = (uint32_t)first, .index = l->drawn_index, .image = l->image };

    if (ec->photos) return read_block(c, l, ec, split, l->index + first, n);
    SPOT_TRY(spot_sample_images(c, 1, &s));
    SPOT_TRY(spot_image_render(c, l->drawn, l->image, n, &ec->scene));
    return spot_device_copy(c, l->rgb, l->drawn, (size_t)n * bytes_of(l->size));
}

static void fit_block(const spot_ctx *c, const looker *l, int n)
{
    if (l->square == l->rgb) return;
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        const spot_resize one = resize_of(l, l->rgb + (size_t)i * bytes_of(l->size), l->square + (size_t)i * bytes_of(l->side));
        spot_resize_one(&one, l->scratch + (size_t)omp_get_thread_num() * l->each);
    }
}

static spot_status look_by_blocks(spot_ctx *c, const looker *l, spot_encoder *e, float *feature, const spot_ec *ec,
                                  spot_split split, int rows)
{
    size_t dim = (size_t)spot_encoder_about(e)->dim;

    SPOT_TRY(spot_device_copy(c, l->drawn_index, l->index, (size_t)rows * sizeof *l->index));
    for (int first = 0, n; first < rows; first += n) {
        n = rows - first < l->block ? rows - first : l->block;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(draw_block(c, l, ec, split, first, n));
        fit_block(c, l, n);
        SPOT_TRY(spot_encode_pixels(c, e, feature + (size_t)first * dim, NULL, l->square, n));
        spot_tell(c, "encode", (int)ec->index, first + n, rows, "");
    }
    return SPOT_OK;
}

static spot_status open_drawn(spot_ctx *c, spot_arena *a, spot_arena *on, looker *l, int rows)
{
    spot_arena count = spot_arena_counting();
    looker counted = *l;

    if (!c->device) return take_drawn(c, a, l, rows);
    SPOT_TRY(take_drawn(c, &count, &counted, rows));
    SPOT_TRY(spot_arena_open_device(c, on, count.peak));
    return take_drawn(c, on, l, rows);
}

spot_status spot_encoder_look(spot_ctx *c, spot_arena *a, spot_encoder *e, float *feature, const spot_ec *ec, spot_split split)
{
    int rows = spot_ec_positives(NULL, ec, split);
    size_t mark = a->used;
    spot_arena on = { 0 };
    spot_status s;
    looker l;

    if (!rows) return SPOT_OK;
    s = take_host(c, a, &l, spot_encoder_about(e), ec->scene.size, rows);
    if (!s) spot_ec_positives(l.index, ec, split);
    if (!s) s = open_drawn(c, a, &on, &l, rows);
    if (!s) s = look_by_blocks(c, &l, e, feature, ec, split, rows);
    spot_arena_close(&on);
    a->used = mark;
    return s;
}

spot_status spot_encoder_look_needs(spot_ctx *c, spot_bytes *needs, const spot_encoder_info *about, int size, int rows)
{
    spot_arena host = spot_arena_counting(), on = host;
    looker l;

    SPOT_TRY(take_host(c, &host, &l, about, size, rows));
    SPOT_TRY(take_drawn(c, c->device ? &on : &host, &l, rows));
    *needs = (spot_bytes){ host.peak, on.peak };
    return SPOT_OK;
}
