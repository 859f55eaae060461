/* png.c - writes through libpng's simple interface; reads through the full one, since the simple one corrects gammas. */
#include "formats/png.h"

#include "formats/byte_scan.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>

#include <png.h>
#include <stdlib.h>
#include <string.h>

static spot_status encode(spot_ctx *c, unsigned char **png, size_t *size, const uint8_t *pixels, png_image image)
{
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);

    *size = 0;
    *png = malloc(bytes);
    if (!*png) return spot_fail(c, SPOT_NOMEM, "no memory for a PNG of %ux%u pixels", image.width, image.height);
    if (!png_image_write_to_memory(&image, *png, &bytes, 0, pixels, 0, NULL)) {
        free(*png);
        *png = NULL;
        return spot_fail(c, SPOT_NUMERIC, "PNG of %ux%u pixels: %s", image.width, image.height, image.message);
    }
    *size = bytes;
    return SPOT_OK;
}

spot_status spot_png_encode(spot_ctx *c, unsigned char **png, size_t *size, const uint8_t *rgb, int width, int height)
{
    return encode(c, png, size, rgb, (png_image){ .version = PNG_IMAGE_VERSION, .width = (png_uint_32)width,
                                                  .height = (png_uint_32)height, .format = PNG_FORMAT_RGB });
}

spot_status spot_png_encode_grey(spot_ctx *c, unsigned char **png, size_t *size, const uint8_t *grey, int width, int height)
{
    return encode(c, png, size, grey, (png_image){ .version = PNG_IMAGE_VERSION, .width = (png_uint_32)width,
                                                   .height = (png_uint_32)height, .format = PNG_FORMAT_GRAY });
}

/* -- reading ------------------------------------------------------------------------------------------------------ */

/* libpng reports errors by a callback that must not return: keeps the message and jumps to the caller. This struct holds
 * everything that is needed after a jump, in the caller's frame. */
typedef struct {
    jmp_buf out;
    char text[160];
    const uint8_t *file;
    size_t left;
    png_structp png;
    png_infop info;
    spot_ctx *c;
    spot_picture *picture;
    const char *name;
    spot_status refused;       /* our own error, before any of libpng's */
    enum { COLOURS, MASK, LABELS } as;         /* the last two have one byte a pixel */
} reading;

static void give_up(png_structp png, png_const_charp text)
{
    reading *r = png_get_error_ptr(png);

    snprintf(r->text, sizeof r->text, "%s", text);
    longjmp(r->out, 1);
}

static void say_nothing(png_structp png, png_const_charp text) { (void)png, (void)text; }

static void next_bytes(png_structp png, png_bytep out, size_t n)
{
    reading *r = png_get_io_ptr(png);

    if (n > r->left) png_error(png, "it is cut short");
    memcpy(out, r->file, n);
    r->file += n;
    r->left -= n;
}

/* A row is read to the end of its place and then expanded from the front: a palette index or a 16-bit grey has fewer than the
 * three bytes of its RGB. Indices beyond the palette are black, as in PIL. */
typedef struct { int color, depth; size_t skip; uint8_t palette[256][3]; } form;

/* Blends a picture with alpha or tRNS with white or black, in 8 bits and without gammas: 8-bit RGB. */
static bool choose_matte(reading *r, const form *f)
{
    const png_uint_16 level = r->picture->matte == 1 ? 255 : 0;
    const png_color_16 ground = { .red = level, .green = level, .blue = level, .gray = level };

    if (!r->picture->matte) return false;
    if (!(f->color & PNG_COLOR_MASK_ALPHA) && !png_get_valid(r->png, r->info, PNG_INFO_tRNS)) return false;
    png_set_expand(r->png);
    png_set_strip_16(r->png);
    png_set_gray_to_rgb(r->png);
    png_set_background(r->png, &ground, PNG_BACKGROUND_GAMMA_SCREEN, 0, 1);
    return true;
}

static void choose_form(reading *r, form *f)
{
    size_t width = (size_t)r->picture->width;
    png_colorp entry = NULL;
    int entries = 0;

    f->skip = 0;
    if (choose_matte(r, f)) return;
    if (f->color == PNG_COLOR_TYPE_PALETTE) {
        f->skip = 2 * width;
        png_set_packing(r->png);
        png_get_PLTE(r->png, r->info, &entry, &entries);
        memset(f->palette, 0, sizeof f->palette);
        for (int i = 0; i < entries; i++) memcpy(f->palette[i], (uint8_t[]){ entry[i].red, entry[i].green, entry[i].blue }, 3);
    } else if (f->color == PNG_COLOR_TYPE_GRAY && f->depth == 16) {
        f->skip = width;
    } else {
        if (f->depth == 16) png_set_strip_16(r->png);
        if (f->depth < 8) png_set_expand_gray_1_2_4_to_8(r->png);
        if (f->color & PNG_COLOR_MASK_ALPHA) png_set_strip_alpha(r->png);
        if (!(f->color & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(r->png);
    }
}

static void expand_row(uint8_t *row, const form *f, size_t width)
{
    const uint8_t *in = row + f->skip;

    if (f->color == PNG_COLOR_TYPE_PALETTE)
        for (size_t x = 0; x < width; x++) memcpy(row + 3 * x, f->palette[in[x]], 3);
    else if (f->skip)
        for (size_t x = 0; x < width; x++) memset(row + 3 * x, in[2 * x] ? 255 : in[2 * x + 1], 3);
}

/* -- masks -------------------------------------------------------------------------------------------------------- */

/* A row of 8-bit greys or colours, with or without alpha -> one byte a pixel, in place. */
static void keep_mask(png_structp png, png_row_infop row, png_bytep at)
{
    const size_t channels = row->channels;

    (void)png;
    for (size_t x = 0; x < row->width; x++) {
        const uint8_t *in = at + x * channels;
        at[x] = channels == 2 || channels == 4 ? in[channels - 1] : channels == 1 ? in[0]
              : (uint8_t)((in[0] * 19595u + in[1] * 38470u + in[2] * 7471u + 0x8000u) >> 16);
    }
}

static void choose_mask(reading *r)
{
    png_set_expand(r->png);
    png_set_strip_16(r->png);
    png_set_read_user_transform_fn(r->png, keep_mask);
    png_set_user_transform_info(r->png, NULL, 8, 1);
}

/* -- the picture -------------------------------------------------------------------------------------------------- */

/* 0, or -1 after an error of libpng or a refused picture. */
static int decode_picture(reading *r)
{
    png_uint_32 width, height;
    spot_picture *p = r->picture;
    form f;
    int passes;

    if (setjmp(r->out)) return -1;
    png_set_read_fn(r->png, r, next_bytes);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);    /* texts, profiles, gammas */
    png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);           /* our limits are checked below */
    png_read_info(r->png, r->info);
    png_get_IHDR(r->png, r->info, &width, &height, &f.depth, &f.color, NULL, NULL, NULL);
    r->refused = spot_picture_start(r->c, p, width, height, r->name);
    if (r->refused) return -1;
    f.skip = 0;
    if (r->as == MASK) choose_mask(r);
    else if (r->as == LABELS) png_set_packing(r->png);
    else choose_form(r, &f);
    passes = png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < height; y++)
            png_read_row(r->png, p->rgb + (r->as == COLOURS ? 3 : 1) * width * y + f.skip, NULL);
    for (size_t y = 0; y < height && f.skip; y++) expand_row(p->rgb + 3 * width * y, &f, width);
    return 0;
}

static spot_status decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name, int as)
{
    reading r = { .file = file, .left = size, .c = c, .picture = p, .name = name, .as = as };
    spot_status s = SPOT_OK;

    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, give_up, say_nothing);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    if (!r.info)
        s = spot_fail(c, SPOT_NOMEM, "%s: no memory to read a PNG", name);
    else if (decode_picture(&r))
        s = r.refused ? r.refused : spot_fail(c, SPOT_INPUT, "{png.damaged} %s is no PNG that can be read: %s", name, r.text);
    png_destroy_read_struct(&r.png, &r.info, NULL);
    return s;
}

spot_status spot_png_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    return decode(c, p, file, size, name, COLOURS);
}

spot_status spot_png_mask(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    return decode(c, p, file, size, name, MASK);
}

spot_status spot_png_labels(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    if (!spot_png_is(file, size) || size < 33 || file[25] != PNG_COLOR_TYPE_PALETTE)
        return spot_fail(c, SPOT_INVALID, "%s is no PNG with a palette", name);
    return decode(c, p, file, size, name, LABELS);
}

bool spot_png_is(const uint8_t *file, size_t size) { return size >= 8 && !memcmp(file, "\x89PNG\r\n\x1a\n", 8); }

/* A chunk before the pixels; NULL: there is none that is whole. *length: its bytes. */
static const uint8_t *find_chunk(const uint8_t *file, size_t size, const char *kind, size_t *length)
{
    for (size_t at = 8; size - at >= 12;) {
        *length = spot_big_u32(file + at);
        if (*length > size - at - 12 || !memcmp(file + at + 4, "IDAT", 4)) return NULL;
        if (!memcmp(file + at + 4, kind, 4)) return file + at + 8;
        at += 12 + *length;
    }
    return NULL;
}

/* The colour type has alpha, or a chunk tRNS gives it. */
bool spot_png_has_alpha(const uint8_t *file, size_t size)
{
    size_t length;

    if (!spot_png_is(file, size) || size < 33) return false;
    return file[25] & PNG_COLOR_MASK_ALPHA || find_chunk(file, size, "tRNS", &length);
}

bool spot_png_has_labels(const uint8_t *file, size_t size)
{
    const uint8_t *palette;
    size_t length = 0;

    if (!spot_png_is(file, size) || size < 33 || file[25] != PNG_COLOR_TYPE_PALETTE || spot_png_has_alpha(file, size))
        return false;
    palette = find_chunk(file, size, "PLTE", &length);
    for (size_t i = 0; palette && i + 3 <= length; i += 3)
        if (palette[i] != palette[i + 1] || palette[i] != palette[i + 2]) return true;
    return false;
}
