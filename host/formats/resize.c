/* resize.c - torchvision's Resize and CenterCrop, with the same bytes as PIL.
 *
 * PIL's BILINEAR is a triangle over the source pixels whose half width is the scale (1 when enlarging), first along rows, then
 * along columns, each rounded to a byte. Weights are normalised to sum 1 in double, then rounded to 22 fractional bits; sums
 * of weight x byte are rounded half up. Only the cropped part of the resized picture is computed. */
#include <math.h>
#include <string.h>

#include "formats/picture.h"

enum { POINT = 22 };

/* One axis: `from` pixels become `to`; the output has `pad` black pixels, then `count` of them from `first` on. Pixel i of
 * these is the sum of weight[i * most + k] x source pixel start[i] + k, k < taps[i]. */
typedef struct {
    int64_t from, to, first;
    int pad, count, most;
    int *start, *taps;
    int32_t *weight;
} axis;

static double half_width(const axis *a) { return a->from > a->to ? (double)a->from / (double)a->to : 1; }

/* The middle of `to` pixels, cropped or padded to `crop`, with torchvision's rounding (half to even when cropping). */
static axis middle_axis(int64_t from, int64_t to, int crop)
{
    axis a = { .from = from, .to = to };
    int64_t rest = to - crop, half = rest / 2;

    if (rest >= 0) {
        a.first = half + (rest % 2 && half % 2);
        a.count = crop;
    } else {
        a.pad = (int)(-rest / 2);
        a.count = (int)to;
    }
    a.most = (int)ceil(half_width(&a)) * 2 + 1;
    return a;
}

static void find_weights(axis *a, int i, double *w)
{
    double wide = half_width(a), scale = (double)a->from / (double)a->to, at = ((double)(a->first + i) + 0.5) * scale;
    double low = at - wide + 0.5, high = at + wide + 0.5, sum = 0;
    int begin = low > 0 ? (int)low : 0, end = high < (double)a->from ? (int)high : (int)a->from;

    a->start[i] = begin;
    a->taps[i] = end - begin;
    for (int k = 0; k < end - begin; k++) {
        double far = fabs((begin + k - at + 0.5) * (1 / wide));
        w[k] = far < 1 ? 1 - far : 0;
        sum += w[k];
    }
    for (int k = 0; k < end - begin; k++)      /* the sum is never 0: the nearest pixel is less than half a width away */
        a->weight[(size_t)i * a->most + k] = (int32_t)(w[k] / sum * (1 << POINT) + 0.5);
}

static uint8_t *place_arrays(axis *a, uint8_t *at, double *w)
{
    a->start = (int *)at;
    a->taps = a->start + a->count;
    a->weight = a->taps + a->count;
    for (int i = 0; i < a->count; i++) find_weights(a, i, w);
    return (uint8_t *)(a->weight + (size_t)a->count * a->most);
}

static size_t bytes_of(const axis *a) { return sizeof(int) * (size_t)a->count * (2 + (size_t)a->most); }

static uint8_t rounded(int32_t sum) { return (uint8_t)(sum >> POINT > 255 ? 255 : sum >> POINT); }

/* in: a row of the picture -> out (x.count, 3). */
static void along_row(uint8_t *restrict out, const uint8_t *restrict in, const axis *x)
{
    for (int i = 0; i < x->count; i++) {
        const int32_t *w = x->weight + (size_t)i * x->most;
        const uint8_t *px = in + 3 * (size_t)x->start[i];
        int32_t r = 1 << (POINT - 1), g = r, b = r;
        for (int k = 0; k < x->taps[i]; k++, px += 3) {
            r += w[k] * px[0];
            g += w[k] * px[1];
            b += w[k] * px[2];
        }
        out[3 * i] = rounded(r);
        out[3 * i + 1] = rounded(g);
        out[3 * i + 2] = rounded(b);
    }
}

/* rows of `wide` bytes each -> out (wide); sum (wide) is scratch. */
static void across_rows(uint8_t *restrict out, const uint8_t *restrict rows, int wide, const int32_t *w, int taps,
                        int32_t *restrict sum)
{
    for (int i = 0; i < wide; i++) sum[i] = 1 << (POINT - 1);
    for (int k = 0; k < taps; k++, rows += wide)
        for (int i = 0; i < wide; i++) sum[i] += w[k] * rows[i];
    for (int i = 0; i < wide; i++) out[i] = rounded(sum[i]);
}

static spot_status resample(spot_ctx *c, uint8_t *out, spot_picture *p, axis *x, axis *y, int crop)
{
    int wide = 3 * x->count, last = y->count - 1, top, rows;
    size_t most = (size_t)(x->most > y->most ? x->most : y->most);
    uint8_t *at;
    int32_t *sum;

    SPOT_TRY(spot_room_need(c, &p->taps, most * sizeof(double) + bytes_of(x) + bytes_of(y) + (size_t)wide * sizeof *sum));
    at = (uint8_t *)p->taps.at + most * sizeof(double);
    at = place_arrays(x, at, p->taps.at);
    sum = (int32_t *)place_arrays(y, at, p->taps.at);
    top = y->start[0];
    rows = y->start[last] + y->taps[last] - top;
    SPOT_TRY(spot_room_need(c, &p->line, (size_t)rows * wide));
    for (int r = 0; r < rows; r++)
        along_row((uint8_t *)p->line.at + (size_t)r * wide, p->rgb + 3 * (size_t)p->width * (top + r), x);
    for (int i = 0; i < y->count; i++)
        across_rows(out + 3 * ((size_t)crop * (y->pad + i) + x->pad),
                    (uint8_t *)p->line.at + (size_t)(y->start[i] - top) * wide, wide, y->weight + (size_t)i * y->most,
                    y->taps[i], sum);
    return SPOT_OK;
}

/* The axes of a picture of this size. */
static void make_axes(axis *x, axis *y, int64_t width, int64_t height, int resize, int crop)
{
    int64_t least = width < height ? width : height;

    *x = middle_axis(width, resize ? width * resize / least : width, crop);
    *y = middle_axis(height, resize ? height * resize / least : height, crop);
}

size_t spot_picture_fit_bytes(uint64_t width, uint64_t height, int resize, int crop)
{
    size_t most, rows;
    axis x, y;

    make_axes(&x, &y, (int64_t)width, (int64_t)height, resize, crop);
    most = (size_t)(x.most > y.most ? x.most : y.most);
    rows = (size_t)ceil((double)y.from / (double)y.to * y.count) + (size_t)y.most + 1;
    if (rows > height) rows = (size_t)height;
    return most * sizeof(double) + bytes_of(&x) + bytes_of(&y) + 3 * (size_t)x.count * (rows + sizeof(int32_t));
}

spot_status spot_picture_fit(spot_ctx *c, uint8_t *out, spot_picture *p, int resize, int crop)
{
    axis x, y;

    if (!p->rgb || resize < 0 || crop < 1 || crop > SPOT_PICTURE_CROP)
        return spot_fail(c, SPOT_INVALID, "a picture cannot be fit to %d and then %d pixels", resize, crop);
    make_axes(&x, &y, p->width, p->height, resize, crop);
    memset(out, 0, 3 * (size_t)crop * crop);
    return resample(c, out, p, &x, &y, crop);
}
