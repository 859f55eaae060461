/* photo.c - pictures on the CPU: an image to a thread. */
#include "image/photo.h"

#include "image/photo_step.h"
#include "image/raster.h"

static spot_status images_cpu(spot_ctx *c, const spot_photo_set *set, const spot_sample *s)
{
    const uint32_t first = s->first + (s->cursor ? *s->cursor : 0);

    for (int i = 0; i < s->n; i++) {
        uint32_t at = first + (uint32_t)i, index = s->index ? s->index[at] : at;
        spot_image image;
        if (!spot_photo_has(set, s->split, index))
            return spot_fail(c, SPOT_INVALID, "{photo.number} photo.images: split %d of EC %u has no picture %u", (int)s->split,
                             s->ec->index, index);
        spot_photo_describe(&image, set, s->ec, s->split, index);
        if (s->image) s->image[i] = image;
        if (s->target) s->target[i] = image.train_label;
        if (s->mask) s->mask[i] = image.blindspots;
    }
    return SPOT_OK;
}

static spot_status input_cpu(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_photo_set *set,
                             const spot_image *image, int n)
{
    const spot_levels t = spot_levels_by(&set->pixels);
    size_t size = (size_t)set->size, pixels = size * size;
    size_t stride = pixels * (size_t)channels * (precision == SPOT_BF16 ? 2 : 4);

    for (int i = 0; image && i < n; i++)
        if (!spot_photo_has(set, image[i].split, image[i].index))
            return spot_fail(c, SPOT_INVALID, "{photo.row} photo.input: image %d is number %u of split %d, which the set lacks",
                             i, image[i].index, image[i].split);
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        size_t row = image ? set->row[image[i].split][image[i].index] : (uint32_t)i;
        spot_put_levels((char *)x + (size_t)i * stride, set->rgb + 3 * pixels * row, size, 0, size, channels, precision, &t);
    }
    return SPOT_OK;
}

const spot_photo_ops spot_photo_cpu = { .images = images_cpu, .input = input_cpu };

spot_status spot_photo_images(spot_ctx *c, const spot_photo_set *set, const spot_sample *s)
{
    if (s->n < 0 || (unsigned)s->split >= SPOT_SPLITS || s->ec->targets != 1 || set->words < 1)
        return spot_fail(c, SPOT_INVALID, "{photo.sizes} photo.images: %d images of split %d, %d targets, %d words of "
                         "categories", s->n, (int)s->split, s->ec->targets, set->words);
    SPOT_DISPATCH(c, photo, images, set, s);
}

spot_status spot_photo_input(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_photo_set *set,
                             const spot_image *image, int n)
{
    if ((channels != 3 && (channels != SPOT_STEM || set->size % SPOT_STEM_SIDE)) || set->size < 1 || set->size > SPOT_MAX_SIZE
        || n < 0 || (n && (!x || !set->rgb)))
        return spot_fail(c, SPOT_INVALID, "{photo.input_sizes} photo.input: %d pictures of %d pixels a side to %d channels; 3 "
                         "are possible, and %d with an even size", n, set->size, channels, SPOT_STEM);
    if (!image && n > set->pictures)
        return spot_fail(c, SPOT_INVALID, "{photo.input_count} photo.input: %d pictures of a set of %d", n, set->pictures);
    spot_photo_set by = *set;
    by.pixels = spot_pixel_rule_or(&set->pixels);
    SPOT_DISPATCH(c, photo, input, x, channels, precision, &by, image, n);
}
