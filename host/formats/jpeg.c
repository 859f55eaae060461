/* jpeg.c - encodes, decodes and round-trips JPEG in memory through libjpeg. */
#include "formats/jpeg.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

/* libjpeg reports errors by a callback that must not return: keeps the message and jumps to the caller. */
typedef struct {
    struct jpeg_error_mgr jpeg;
    jmp_buf out;
    char text[JMSG_LENGTH_MAX];
} trouble;

static void give_up(j_common_ptr any)
{
    trouble *t = (trouble *)any->err;

    t->jpeg.format_message(any, t->text);
    longjmp(t->out, 1);
}

static void say_nothing(j_common_ptr any) { (void)any; }

typedef struct {
    struct jpeg_compress_struct enc;
    struct jpeg_decompress_struct dec;
    trouble err;
    unsigned char *file;
    unsigned long size;
} trip;

/* small: optimised Huffman tables, 10 % fewer bytes for twice the time. */
static void encode_rgb(trip *t, uint8_t *rgb, int width, int height, int quality, bool small)
{
    jpeg_create_compress(&t->enc);
    jpeg_mem_dest(&t->enc, &t->file, &t->size);
    t->enc.image_width = (JDIMENSION)width;
    t->enc.image_height = (JDIMENSION)height;
    t->enc.input_components = 3;
    t->enc.in_color_space = JCS_RGB;
    jpeg_set_defaults(&t->enc);
    jpeg_set_quality(&t->enc, quality, TRUE);
    t->enc.optimize_coding = small;
    jpeg_start_compress(&t->enc, TRUE);
    while (t->enc.next_scanline < t->enc.image_height) {
        JSAMPROW row = rgb + 3 * (size_t)width * t->enc.next_scanline;
        jpeg_write_scanlines(&t->enc, &row, 1);
    }
    jpeg_finish_compress(&t->enc);
}

static void decode_rgb(trip *t, uint8_t *rgb, int width)
{
    jpeg_create_decompress(&t->dec);
    jpeg_mem_src(&t->dec, t->file, t->size);
    jpeg_read_header(&t->dec, TRUE);
    t->dec.out_color_space = JCS_RGB;
    jpeg_start_decompress(&t->dec);
    while (t->dec.output_scanline < t->dec.output_height) {
        JSAMPROW row = rgb + 3 * (size_t)width * t->dec.output_scanline;
        jpeg_read_scanlines(&t->dec, &row, 1);
    }
    jpeg_finish_decompress(&t->dec);
}

/* 0, or -1 after an error of libjpeg. */
static int round_trip(trip *t, uint8_t *rgb, int width, int height, int quality)
{
    if (setjmp(t->err.out)) return -1;
    encode_rgb(t, rgb, width, height, quality, false);
    decode_rgb(t, rgb, width);
    return 0;
}

spot_status spot_jpeg_round_trip(spot_ctx *c, uint8_t *rgb, int width, int height, int quality)
{
    spot_status s = SPOT_OK;
    trip t = { .file = NULL };      /* destroying a zeroed coder is allowed */

    t.enc.err = t.dec.err = jpeg_std_error(&t.err.jpeg);
    t.err.jpeg.error_exit = give_up;
    t.err.jpeg.output_message = say_nothing;
    if (round_trip(&t, rgb, width, height, quality))
        s = spot_fail(c, SPOT_NUMERIC, "{jpeg.encoding} JPEG of %dx%d pixels at quality %d: %s", width, height, quality,
                      t.err.text);
    jpeg_destroy_compress(&t.enc);
    jpeg_destroy_decompress(&t.dec);
    free(t.file);
    return s;
}

static int encode_only(trip *t, uint8_t *rgb, int width, int height, int quality)
{
    if (setjmp(t->err.out)) return -1;
    encode_rgb(t, rgb, width, height, quality, true);
    return 0;
}

spot_status spot_jpeg_encode(spot_ctx *c, unsigned char **jpeg, size_t *size, uint8_t *rgb, int width, int height, int quality)
{
    spot_status s = SPOT_OK;
    trip t = { .file = NULL };

    t.enc.err = jpeg_std_error(&t.err.jpeg);
    t.err.jpeg.error_exit = give_up;
    t.err.jpeg.output_message = say_nothing;
    if (encode_only(&t, rgb, width, height, quality)) {
        s = spot_fail(c, SPOT_NUMERIC, "{jpeg.encoding} JPEG of %dx%d pixels at quality %d: %s", width, height, quality,
                      t.err.text);
        free(t.file);
        t.file = NULL;
    }
    jpeg_destroy_compress(&t.enc);
    *jpeg = t.file;
    *size = t.file ? t.size : 0;
    return s;
}

/* -- reading ------------------------------------------------------------------------------------------------------ */

typedef struct {
    struct jpeg_decompress_struct dec;
    struct jpeg_progress_mgr progress;
    trouble err;
    const uint8_t *file;
    size_t size;
    spot_ctx *c;
    spot_picture *picture;
    const char *name;
    spot_status refused;
} reading;

/* libjpeg continues after the end of a truncated file; PIL does not. */
static void on_message(j_common_ptr any, int level)
{
    if (level < 0 && any->err->msg_code == JWRN_JPEG_EOF) give_up(any);
}

static void on_progress(j_common_ptr any)
{
    if (((j_decompress_ptr)any)->input_scan_number > SPOT_PICTURE_SCANS) ERREXIT(any, JERR_BAD_PROGRESSION);
}

/* Converts a row (width, 4) of inverted CMYK, as Adobe stores it, to RGB, rounded as in PIL. */
static void cmyk_to_rgb(uint8_t *rgb, const uint8_t *ink, int width)
{
    for (int x = 0; x < width; x++, rgb += 3, ink += 4)
        for (int k = 0; k < 3; k++) {
            unsigned light = ink[3], taken = (255u - ink[k]) * light + 128;
            taken = (taken + (taken >> 8)) >> 8;
            rgb[k] = (uint8_t)(light > taken ? light - taken : 0);
        }
}

static spot_status open_picture(reading *r)
{
    j_decompress_ptr dec = &r->dec;

    if (dec->num_components != 1 && dec->num_components != 3 && dec->num_components != 4)
        return spot_fail(r->c, SPOT_INPUT, "%s is a JPEG of %d channels; 1, 3 and 4 are read", r->name, dec->num_components);
    SPOT_TRY(spot_picture_start(r->c, r->picture, dec->image_width, dec->image_height, r->name));
    dec->out_color_space = dec->num_components == 4 ? JCS_CMYK : JCS_RGB;
    return spot_room_need(r->c, &r->picture->line, 4 * (size_t)dec->image_width);
}

/* 0, or -1 after an error of libjpeg or a refused picture. */
static int decode_picture(reading *r)
{
    j_decompress_ptr dec = &r->dec;
    spot_picture *p = r->picture;

    if (setjmp(r->err.out)) return -1;
    jpeg_create_decompress(dec);
    dec->mem->max_memory_to_use = (long)p->work;           /* picture_cost.c */
    r->progress.progress_monitor = on_progress;
    dec->progress = &r->progress;
    jpeg_mem_src(dec, r->file, r->size);
    jpeg_read_header(dec, TRUE);
    r->refused = open_picture(r);
    if (r->refused) return -1;
    jpeg_start_decompress(dec);
    while (dec->output_scanline < dec->output_height) {
        uint8_t *row = p->rgb + 3 * (size_t)p->width * dec->output_scanline;
        JSAMPROW to = dec->num_components == 4 ? p->line.at : row;
        jpeg_read_scanlines(dec, &to, 1);
        if (to != row) cmyk_to_rgb(row, to, p->width);
    }
    return 0;
}

spot_status spot_jpeg_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    reading r = { .file = file, .size = size, .c = c, .picture = p, .name = name };
    spot_status s = SPOT_OK;

    r.dec.err = jpeg_std_error(&r.err.jpeg);
    r.err.jpeg.error_exit = give_up;
    r.err.jpeg.emit_message = on_message;
    r.err.jpeg.output_message = say_nothing;
    if (decode_picture(&r))
        s = r.refused ? r.refused : spot_fail(c, SPOT_INPUT, "{jpeg.damaged} %s is no JPEG that can be read: %s", name,
                                              r.err.text);
    jpeg_destroy_decompress(&r.dec);
    return s;
}
