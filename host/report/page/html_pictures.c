/* html_pictures.c - thumbnails: chooses and sizes them, and writes them in sheets of 64, each a JPEG.
 *
 * A sheet is smaller than 64 files: it has one header and one set of tables. Sides of tiles are multiples of 16 pixels, the
 * block of JPEG with halved colours: neighbours do not mix. A picture keeps its shape within its tile; the page has the visible
 * part of each tile. If the budget is short, pictures outside of the strips get smaller, down to half a side, and then fewer,
 * by priority. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/jpeg.h"
#include "report/page/html.h"

enum { ACROSS = 8, SHEET = ACROSS * ACROSS, NONE = -1, UNREADABLE = -2 };

spot_status spot_wanted_open(spot_ctx *c, spot_wanted *w, int rows)
{
    *w = (spot_wanted){ .row = malloc(((size_t)rows + 1) * sizeof *w->row), .taken = calloc((size_t)rows + 1, 1) };
    return w->row && w->taken ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the order of %d pictures", rows);
}

void spot_wanted_add(spot_wanted *w, int row)
{
    if (w->taken[row]) return;
    w->taken[row] = true;
    w->row[w->n++] = row;
}

/* Steps of about the golden section visit all rows, and every first part of them is evenly spread. */
void spot_wanted_rest(spot_wanted *w, int rows)
{
    long long step = (long long)(0.6180339887 * rows) | 1, at = 0;

    for (long long a = rows, b = step; b;) {                /* a step that shares a divisor with rows would not visit all */
        long long r = a % b;
        a = b, b = r;
        if (!b && a != 1) step += 2, a = rows, b = step;
    }
    for (int i = 0; i < rows; i++, at = (at + step) % rows) spot_wanted_add(w, (int)at);
}

void spot_wanted_close(spot_wanted *w)
{
    free(w->row);
    free(w->taken);
}

/* Shrinks `in` to tw x th pixels by means over areas, into a tile of a sheet that is `stride` pixels wide. */
static void shrink_picture(uint8_t *out, size_t stride, int tw, int th, const spot_picture *in)
{
    for (int y = 0; y < th; y++) {
        int y0 = (int)((long long)y * in->height / th), y1 = (int)((long long)(y + 1) * in->height / th);
        if (y1 <= y0) y1 = y0 + 1;
        for (int x = 0; x < tw; x++) {
            int x0 = (int)((long long)x * in->width / tw), x1 = (int)((long long)(x + 1) * in->width / tw);
            long long sum[3] = { 0, 0, 0 }, n;
            if (x1 <= x0) x1 = x0 + 1;
            for (int j = y0; j < y1; j++)
                for (int i = x0; i < x1; i++)
                    for (int k = 0; k < 3; k++) sum[k] += in->rgb[((size_t)j * (size_t)in->width + (size_t)i) * 3 + (size_t)k];
            n = (long long)(y1 - y0) * (x1 - x0);
            for (int k = 0; k < 3; k++) out[((size_t)y * stride + (size_t)x) * 3 + (size_t)k] = (uint8_t)((sum[k] + n / 2) / n);
        }
    }
}

typedef struct {
    spot_page *p;
    const spot_picture_source *from;
    spot_picture_gate gate;
    uint8_t *rgb;                  /* one sheet */
    int     *tile;                 /* (rows): sheet * 64 + place, NONE, UNREADABLE */
    uint8_t *shape;                /* (rows, 2): visible width and height of the tile */
    uint64_t *pixels;              /* (rows): hash of the picture as read; rows with equal ones show the same picture */
    int      sheet, side, given, unreadable;
    int      strip_side;
    size_t   spent, pictures;      /* bytes and pictures of all sheets so far */
    char     why[SHEET][512];      /* errors of the unreadable pictures of a sheet, by their places; "" for a readable one */
    char   (*said)[512];           /* (SPOT_UNREADABLE_NAMED): errors of the first unreadable pictures, `names` so far */
    int      names;
} sheets;

/* FNV-1a over the size and the pixels. Two different pictures with one hash would hide one of them; that is a chance of 2^-64
 * a pair. 0 stands for no picture. */
static uint64_t hash_picture(const spot_picture *in)
{
    const size_t n = (size_t)in->width * (size_t)in->height * 3;
    uint64_t h = 14695981039346656037u ^ (uint64_t)(unsigned)in->width << 32 ^ (uint64_t)(unsigned)in->height;

    for (size_t i = 0; i < n; i++) h = (h ^ in->rgb[i]) * 1099511628211u;
    return h ? h : 1;
}

/* Puts a picture into its tile. A picture larger than the tile shrinks. */
static spot_status place_picture(sheets *a, spot_ctx *quiet, spot_picture *in, int row, int at)
{
    size_t stride = (size_t)a->side * ACROSS;
    uint8_t *out = a->rgb + ((size_t)(at / ACROSS * a->side) * stride + (size_t)(at % ACROSS * a->side)) * 3;
    int longer, w, h;

    SPOT_TRY(a->from->read(quiet, a->from->user, row, in));
    longer = in->width > in->height ? in->width : in->height;
    w = longer > a->side ? (int)((long long)in->width * a->side / longer) : in->width;
    h = longer > a->side ? (int)((long long)in->height * a->side / longer) : in->height;
    if (w < 1) w = 1;
    if (h < 1) h = 1;
    shrink_picture(out, stride, w, h, in);
    a->shape[2 * row] = (uint8_t)w;
    a->shape[2 * row + 1] = (uint8_t)h;
    a->pixels[row] = hash_picture(in);
    return SPOT_OK;
}

/* Puts up to 64 pictures into the tiles of a sheet. Returns the number of unreadable ones. */
static int place_pictures(sheets *a, const int *row, int n)
{
    spot_ctx *c = a->p->c;
    int failed = 0;

    #pragma omp parallel num_threads(c->threads > 0 ? c->threads : 1) reduction(+ : failed)
    {
        spot_picture in = { .gate = &a->gate, .matte = a->p->o->matte };
        #pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i++) {
            spot_ctx quiet = { .ops = c->ops, .device = c->device, .threads = 1 };
            spot_status s = place_picture(a, &quiet, &in, row[i], i);
            spot_picture_give_back(&in);
            a->tile[row[i]] = s ? UNREADABLE : a->sheet * SHEET + i;
            failed += s != SPOT_OK;
            snprintf(a->why[i], sizeof a->why[i], "%s", s ? spot_message(&quiet, s) : "");
        }
        spot_picture_close(&in);
    }
    return failed;
}

/* Names the unreadable pictures of a sheet of n. */
static void name_unreadable(sheets *a, int n)
{
    for (int i = 0; i < n && a->names < SPOT_UNREADABLE_NAMED; i++) {
        if (!*a->why[i]) continue;
        spot_log(a->p->c, SPOT_LOG_WARN, "could not be read: %s", a->why[i]);
        snprintf(a->said[a->names++], sizeof *a->said, "%s", a->why[i]);
    }
}

/* Adds up to 64 pictures as one sheet; *fits false: larger than the room, nothing was added. */
static spot_status add_sheet(sheets *a, const int *row, int n, size_t room, bool *fits)
{
    spot_ctx *c = a->p->c;
    int lines = (n + ACROSS - 1) / ACROSS * a->side, failed;
    unsigned char *jpeg = NULL;
    size_t bytes = 0;

    memset(a->rgb, 0x80, (size_t)lines * (size_t)a->side * ACROSS * 3);
    failed = place_pictures(a, row, n);
    SPOT_TRY(spot_jpeg_encode(c, &jpeg, &bytes, a->rgb, a->side * ACROSS, lines, 80));
    *fits = bytes * 4 / 3 + 100 <= room;
    if (*fits) {
        spot_page_element(a->p, 's', a->sheet++, jpeg, bytes);
        spot_json_put_int(a->p->at, NULL, a->side);
        a->spent += bytes * 4 / 3 + 100;
        a->pictures += (size_t)n;
        a->given += n - failed;
        a->unreadable += failed;
        name_unreadable(a, n);
    } else
        for (int i = 0; i < n; i++) a->tile[row[i]] = NONE;
    free(jpeg);
    return SPOT_OK;
}

/* The side at which `left` pictures fit into the room, at most the wanted side and at least half of it. Estimates the bytes
 * from the pictures so far, or guesses. */
static int choose_side(const sheets *a, int left, size_t room)
{
    int full = a->side;
    double each = a->pictures ? (double)a->spent / (double)a->pictures : 0.3 * full * full;

    for (int side = full; side > full / 2; side -= 16)
        if (1.1 * left * each * side * side / full / full < (double)room) return side;
    return full / 2 >= 16 ? full / 2 / 16 * 16 : 16;
}

static spot_status add_sheets(sheets *a, const spot_wanted *w, size_t room)
{
    bool fits = true;

    for (int i = 0; i < w->n && fits;) {
        int end = i < w->strips ? w->strips : w->n, n = end - i < SHEET ? end - i : SHEET;
        if ((i == 0 || i == w->strips) && !a->p->o->full) {
            a->side = choose_side(a, end - i, room - a->spent);
            if (i < w->strips) a->strip_side = a->side;
        }
        SPOT_TRY(add_sheet(a, w->row + i, n, a->p->o->full ? SIZE_MAX : room - a->spent, &fits));
        spot_tell(a->p->c, "pictures", -1, i + n, w->n, "");
        SPOT_TRY(spot_check_stop(a->p->c));
        i += n;
    }
    return SPOT_OK;
}

static int keep_available(spot_wanted *w, const spot_picture_source *from)
{
    int n = 0, strips = 0;

    for (int i = 0; i < w->n; i++)
        if (!from->has || from->has(from->user, w->row[i])) {
            strips += i < w->strips;
            w->row[n++] = w->row[i];
        }
    w->strips = strips;
    return w->n = n;
}

typedef struct { uint64_t pixels; int row; } shown;

static int by_pixels(const void *x, const void *y)
{
    const shown *a = x, *b = y;

    return a->pixels != b->pixels ? (a->pixels > b->pixels) - (a->pixels < b->pixels) : (a->row > b->row) - (a->row < b->row);
}

/* Adds the member "twin" where pictures are the same: each row's first row with its picture, itself where there is none. */
static void write_twins(sheets *a)
{
    const int n = a->from->rows;
    shown *k = malloc(((size_t)n + 1) * sizeof *k);
    int *twin = malloc(((size_t)n + 1) * sizeof *twin), twins = 0;

    if (!k || !twin) a->p->blocks.status = SPOT_NOMEM;
    else {
        for (int i = 0; i < n; i++) k[i].pixels = a->pixels[i], k[i].row = i;
        qsort(k, (size_t)n, sizeof *k, by_pixels);
        for (int i = 0; i < n; i++) {
            bool same = i && k[i].pixels && k[i].pixels == k[i - 1].pixels;
            twin[k[i].row] = same ? twin[k[i - 1].row] : k[i].row;
            twins += same;
        }
        if (twins) spot_page_block(a->p, "twin", twin, (size_t)n * sizeof *twin);
    }
    free(k);
    free(twin);
}

static void write_sizes(sheets *a, int available, int side)
{
    spot_page *p = a->p;

    spot_json_put_int(p->at, "there", available);
    spot_json_put_int(p->at, "given", a->given);
    spot_json_put_int(p->at, "unreadable", a->unreadable);
    spot_json_array(p->at, "unreadable_named", 0, 0);
    for (int i = 0; i < a->names; i++) spot_page_text(p, NULL, a->said[i]);
    spot_json_end(p->at);
    spot_json_put_int(p->at, "wanted", side);
    spot_json_put_int(p->at, "strips", a->strip_side);
    spot_json_put_int(p->at, "others", a->side);
    spot_page_block(p, "tile", a->tile, (size_t)a->from->rows * sizeof *a->tile);
    spot_page_block(p, "shape", a->shape, (size_t)a->from->rows * 2);
    write_twins(a);
}

spot_status spot_page_pictures(spot_page *p, const spot_picture_source *from, spot_wanted *w)
{
    int available = keep_available(w, from), side = (p->o->thumb + 8) / 16 * 16;
    size_t used = p->what.out.used + p->blocks.used + (size_t)from->rows * 3 + 4000 + spot_page_bare();
    size_t rows = (size_t)from->rows + 1, room = p->o->budget > used ? p->o->budget - used : 0;
    sheets a = { .p = p, .from = from, .side = side < 16 ? 16 : side > 240 ? 240 : side };
    spot_status s = SPOT_OK;

    a.strip_side = side = a.side;
    spot_picture_gate_open(&a.gate, p->o->memory, 0, 0);
    a.rgb = malloc((size_t)side * (size_t)side * SHEET * 3);
    a.tile = malloc(rows * sizeof *a.tile);
    a.shape = calloc(rows, 2);
    a.pixels = calloc(rows, sizeof *a.pixels);
    a.said = malloc(SPOT_UNREADABLE_NAMED * sizeof *a.said);
    if (!a.rgb || !a.tile || !a.shape || !a.pixels || !a.said)
        s = spot_fail(p->c, SPOT_NOMEM, "no memory for the pictures of %d rows", from->rows);
    else {
        for (int i = 0; i < from->rows; i++) a.tile[i] = NONE;
        spot_json_object(p->at, "pictures");
        spot_json_array(p->at, "sheets", 0, 0);
        s = add_sheets(&a, w, room);
        spot_json_end(p->at);
        write_sizes(&a, available, side);
        spot_json_end(p->at);
        if (a.unreadable)
            spot_log(p->c, SPOT_LOG_WARN, "%d of %d pictures could not be read%s", a.unreadable, available,
                     a.unreadable > a.names ? "; the first are named" : "");
        if (a.given + a.unreadable < available)
            spot_log(p->c, SPOT_LOG_INFO, "the report has %d of %d pictures; more do not fit into %.3g MB; --full takes all",
                     a.given, available, (double)p->o->budget / 1e6);
    }
    spot_picture_gate_close(&a.gate);
    free(a.rgb);
    free(a.tile);
    free(a.shape);
    free(a.pixels);
    free(a.said);
    return s;
}
