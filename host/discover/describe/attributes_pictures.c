/* attributes_pictures.c - what pictures show without a table: see spotter/describe.h. Sums are of whole numbers, so the bits do
 * not depend on their order. */
#include "discover/describe/attributes_pictures.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/attributes.h"
#include "formats/png.h"
#include "spotter/discover.h"

enum { BRIGHTNESS, CONTRAST, COLOURFULNESS, SHARPNESS, ENTROPY, ASPECT, PIXELS, TRANSPARENCY, BATCH = 512 };

static const struct { const char *front, *part[3]; } words[SPOT_PICTURE_NUMBERS] = {
    [BRIGHTNESS]    = { "brightness: ",    { "dark", "middle", "bright" } },
    [CONTRAST]      = { "contrast: ",      { "low", "middle", "high" } },
    [COLOURFULNESS] = { "colourfulness: ", { "grey", "middle", "colourful" } },
    [SHARPNESS]     = { "sharpness: ",     { "blurred", "middle", "sharp" } },
    [ENTROPY]       = { "entropy: ",       { "plain", "middle", "busy" } },
    [ASPECT]        = { "aspect: ",        { "tall", "middle", "wide" } },
    [PIXELS]        = { "pixels: ",        { "few", "middle", "many" } },
    [TRANSPARENCY]  = { "transparency: ",  { "low", "middle", "high" } },
};

/* ---- a picture ---- */

/* Pillow's "L": 19595 R + 38470 G + 7471 B, in 65536ths, rounded. */
static int grey(const uint8_t *rgb) { return (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16; }

static double variance(int64_t sum, int64_t squares, double n)
{
    const double mean = (double)sum / n, v = (double)squares / n - mean * mean;

    return v > 0 ? v : 0;
}

/* L's mean and deviation, its entropy, and the colourfulness: sqrt(var(rg) + var(yb)) + 0.3 sqrt(mean(rg)^2 + mean(yb)^2) with
 * rg = R - G, yb = (R + G) / 2 - B; here yb is summed doubled. */
static void measure_colours(spot_picture_numbers *out, const spot_picture *p)
{
    const size_t all = (size_t)p->width * (size_t)p->height;
    int64_t count[256] = { 0 }, sum = 0, squares = 0, rg = 0, rg2 = 0, yb = 0, yb2 = 0;
    const double n = (double)all;

    for (const uint8_t *x = p->rgb; x < p->rgb + 3 * all; x += 3) {
        const int r = x[0] - x[1], y = x[0] + x[1] - 2 * x[2];
        count[grey(x)]++;
        rg += r, rg2 += r * r, yb += y, yb2 += y * y;
    }
    for (int v = 0; v < 256; v++) {
        sum += v * count[v], squares += v * v * count[v];
        if (count[v]) out->of[ENTROPY] -= (double)count[v] / n * log2((double)count[v] / n);
    }
    out->of[BRIGHTNESS] = (double)sum / n;
    out->of[CONTRAST] = sqrt(variance(sum, squares, n));
    out->of[COLOURFULNESS] = sqrt(variance(rg, rg2, n) + variance(yb, yb2, n) / 4)
                           + 0.3 * sqrt((double)rg / n * ((double)rg / n) + (double)yb / n * ((double)yb / n) / 4);
}

/* The variance of L(left) + L(right) + L(up) + L(down) - 4 L where all five are there; 0 where they nowhere are. */
static double sharpness_of(const spot_picture *p)
{
    const size_t row = 3 * (size_t)p->width;
    int64_t sum = 0, squares = 0;

    if (p->width < 3 || p->height < 3) return 0;
    for (int y = 1; y < p->height - 1; y++)
        for (int x = 1; x < p->width - 1; x++) {
            const uint8_t *at = p->rgb + (size_t)y * row + 3 * (size_t)x;
            const int v = grey(at - 3) + grey(at + 3) + grey(at - row) + grey(at + row) - 4 * grey(at);
            sum += v, squares += v * v;
        }
    return variance(sum, squares, (double)(p->width - 2) * (p->height - 2));
}

spot_picture_numbers spot_numbers_of_picture(const spot_picture *p)
{
    spot_picture_numbers n = { .of = { [ASPECT] = (double)p->width / p->height, [PIXELS] = (double)p->width * p->height } };

    measure_colours(&n, p);
    n.of[SHARPNESS] = sharpness_of(p);
    return n;
}

static spot_status ask_transparency(spot_ctx *c, bool *has, const char *path)
{
    spot_blob in;
    spot_status how;

    SPOT_TRY(spot_blob_open(c, &in, path));
    how = spot_png_transparency(c, has, &in);
    spot_blob_close(&in);
    return how;
}

static spot_status read_part(spot_ctx *c, spot_picture *p, const char *path, const float *box, int matte)
{
    p->matte = matte;
    SPOT_TRY(spot_picture_read(c, p, path));
    return box ? spot_picture_keep(c, p, box) : SPOT_OK;
}

static spot_status sum_bytes(spot_ctx *c, int64_t *sum, spot_picture *p, const char *path, const float *box, int matte)
{
    SPOT_TRY(read_part(c, p, path, box, matte));
    *sum = 0;
    for (size_t i = 0; i < 3 * (size_t)p->width * (size_t)p->height; i++) *sum += p->rgb[i];
    return SPOT_OK;
}

/* On white a pixel is 255 (1 - alpha) brighter than on black, in each colour. */
static spot_status measure_transparency(spot_ctx *c, double *share, spot_picture *p, const char *path, const float *box)
{
    int64_t white, black;

    SPOT_TRY(sum_bytes(c, &white, p, path, box, 1));
    spot_picture_give_back(p);
    SPOT_TRY(sum_bytes(c, &black, p, path, box, 2));
    *share = (double)(white - black) / (255.0 * 3 * p->width * p->height);
    return SPOT_OK;
}

spot_status spot_picture_measure(spot_ctx *c, spot_picture_numbers *n, spot_picture *p, const char *path, const float *box)
{
    bool transparent;

    SPOT_TRY(read_part(c, p, path, box, 0));
    *n = spot_numbers_of_picture(p);
    SPOT_TRY(ask_transparency(c, &transparent, path));
    if (!transparent) return SPOT_OK;
    spot_picture_give_back(p);
    return measure_transparency(c, &n->of[TRANSPARENCY], p, path, box);
}

/* ---- all pictures ---- */

typedef struct {
    spot_ctx *c;
    const spot_subject *s;
    spot_picture_numbers *number;      /* (rows) */
    spot_picture *p;                   /* (threads) */
    spot_picture_gate gate;
    int unreadable, without;
} measurer;

/* Rows without a picture, or with one that cannot be read, have NaN. */
static void measure_row(measurer *m, int row)
{
    const int t = omp_get_thread_num();
    spot_ctx own = { 0 };
    bool read = false;

    if (m->s->image[row])
        read = !spot_picture_measure(&own, &m->number[row], &m->p[t], m->s->image[row],
                                     m->s->box ? m->s->box + 4 * (size_t)row : NULL);
    spot_picture_give_back(&m->p[t]);
    spot_forget(&own);
    for (int k = 0; k < SPOT_PICTURE_NUMBERS && !read; k++) m->number[row].of[k] = NAN;
}

static spot_status measure_all(measurer *m)
{
    const int n = m->s->n;

    for (int first = 0; first < n; first += BATCH) {
        const int end = first + BATCH < n ? first + BATCH : n;
        spot_tell(m->c, "attributes", -1, first, n, "");
        SPOT_TRY(spot_check_stop(m->c));
#pragma omp parallel for num_threads(m->c->threads) schedule(dynamic, 1)
        for (int i = first; i < end; i++) measure_row(m, i);
        for (int i = first; i < end; i++) {
            if (!m->s->image[i]) m->without++;
            else m->unreadable += isnan(m->number[i].of[0]);
        }
    }
    return SPOT_OK;
}

static spot_status add_items(measurer *m, spot_attributes *a)
{
    double *value = malloc(((size_t)m->s->n + 1) * sizeof *value);
    spot_status how = value ? SPOT_OK : spot_fail(m->c, SPOT_NOMEM, "no memory for attributes of %d pictures", m->s->n);

    spot_attributes_begin(a, m->s->n);
    for (int k = 0; k < SPOT_PICTURE_NUMBERS && how == SPOT_OK; k++) {
        for (int i = 0; i < m->s->n; i++) value[i] = m->number[i].of[k];
        how = spot_attributes_thirds(m->c, a, k, words[k].front, value, words[k].part);
    }
    free(value);
    return how;
}

static void say_what(const measurer *m, const spot_attributes *a, double seconds)
{
    char names[200] = "", none[120] = "";
    size_t used = 0;

    for (int i = 0; i < a->items; i++) {
        const char *front = words[a->column[i]].front;
        if (i && a->column[i] == a->column[i - 1]) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", (int)strlen(front) - 2, front);
    }
    if (m->unreadable) snprintf(none, sizeof none, "; %d cannot be read and have none", m->unreadable);
    if (m->unreadable + m->without < m->s->n)
        spot_log(m->c, SPOT_LOG_INFO, "attributes of %d pictures, in %.1f s: %s%s", m->s->n - m->without - m->unreadable,
                 seconds, used ? names : "none, they are alike", none);
}

/* Measures all pictures of m->s. Close m also after a failure. */
static spot_status open_measurer(measurer *m, size_t memory)
{
    const int threads = m->c->threads;
    spot_status how;

    m->number = malloc(((size_t)m->s->n + 1) * sizeof *m->number);
    m->p = calloc((size_t)threads, sizeof *m->p);
    if (!m->number || !m->p) return spot_fail(m->c, SPOT_NOMEM, "no memory for attributes of %d pictures", m->s->n);
    spot_picture_gate_open(&m->gate, memory ? memory : SPOT_PICTURE_MEMORY, 0, 0);
    for (int t = 0; t < threads; t++) m->p[t].reading = m->s->reading, m->p[t].gate = &m->gate;
    how = measure_all(m);
    for (int t = 0; t < threads; t++) spot_picture_close(&m->p[t]);
    spot_picture_gate_close(&m->gate);
    return how;
}

static void close_measurer(measurer *m)
{
    free(m->p);
    free(m->number);
}

spot_status spot_attributes_of_pictures(spot_ctx *c, spot_attributes *a, const spot_subject *s, size_t memory)
{
    const double since = spot_clock();
    measurer m = { .c = c, .s = s };
    spot_status how;

    *a = (spot_attributes){ 0 };
    spot_attributes_begin(a, s->n);
    if (!s->image) return SPOT_OK;
    how = open_measurer(&m, memory);
    if (how == SPOT_OK) how = add_items(&m, a);
    if (how == SPOT_OK) say_what(&m, a, spot_clock() - since);
    if (how) spot_attributes_close(a);
    close_measurer(&m);
    return how;
}

/* ---- items of other pictures ---- */

/* The number that an item is about, by its name; -1: it is none of pictures. */
static int number_of(const spot_attributes *a, int item)
{
    for (int k = 0; k < SPOT_PICTURE_NUMBERS; k++)
        if (!isnan(a->range[item][0]) && !strncmp(a->name[item], words[k].front, strlen(words[k].front))) return k;
    return -1;
}

bool spot_is_of_pictures(const spot_attributes *a, int item) { return number_of(a, item) >= 0; }

static void set_rows(const measurer *m, spot_attributes *a, int item, const double range[2], int number)
{
    for (int i = 0; i < m->s->n; i++) {
        const double v = m->number[i].of[number];
        if (v > range[0] && v <= range[1])
            a->bit[(size_t)item * a->words + (size_t)i / 64] |= (uint64_t)1 << i % 64;
    }
}

spot_status spot_attributes_like_pictures(spot_ctx *c, spot_attributes *a, const spot_subject *s, const spot_attributes *like)
{
    measurer m = { .c = c, .s = s };
    spot_status how = SPOT_OK;
    int wanted = 0;

    for (int k = 0; k < like->items; k++) wanted += number_of(like, k) >= 0;
    if (!wanted) return SPOT_OK;
    how = open_measurer(&m, 0);
    for (int k = 0; k < like->items && how == SPOT_OK; k++)
        if (number_of(like, k) >= 0) set_rows(&m, a, k, like->range[k], number_of(like, k));
    if (how == SPOT_OK && m.unreadable + m.without)
        spot_log(c, SPOT_LOG_WARN, "%d of %d rows have no picture that can be read: no rule of pictures has them",
                 m.unreadable + m.without, s->n);
    close_measurer(&m);
    return how;
}
