/* jpeg.c - a round trip through libjpeg, in memory. */
#include "jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

/* libjpeg reports by calling back and must not be returned to: the message is kept and the caller jumped to. */
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

static void encode(trip *t, uint8_t *rgb, int width, int height, int quality)
{
    jpeg_create_compress(&t->enc);
    jpeg_mem_dest(&t->enc, &t->file, &t->size);
    t->enc.image_width = (JDIMENSION)width;
    t->enc.image_height = (JDIMENSION)height;
    t->enc.input_components = 3;
    t->enc.in_color_space = JCS_RGB;
    jpeg_set_defaults(&t->enc);
    jpeg_set_quality(&t->enc, quality, TRUE);
    jpeg_start_compress(&t->enc, TRUE);
    while (t->enc.next_scanline < t->enc.image_height) {
        JSAMPROW row = rgb + 3 * (size_t)width * t->enc.next_scanline;
        jpeg_write_scanlines(&t->enc, &row, 1);
    }
    jpeg_finish_compress(&t->enc);
}

static void decode(trip *t, uint8_t *rgb, int width)
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

/* 0, or -1 after libjpeg gave up. */
static int go(trip *t, uint8_t *rgb, int width, int height, int quality)
{
    if (setjmp(t->err.out)) return -1;
    encode(t, rgb, width, height, quality);
    decode(t, rgb, width);
    return 0;
}

spot_status spot_jpeg_round_trip(spot_ctx *c, uint8_t *rgb, int width, int height, int quality)
{
    spot_status s = SPOT_OK;
    trip t = { .file = NULL };      /* destroying a zeroed coder is allowed */

    t.enc.err = t.dec.err = jpeg_std_error(&t.err.jpeg);
    t.err.jpeg.error_exit = give_up;
    t.err.jpeg.output_message = say_nothing;
    if (go(&t, rgb, width, height, quality))
        s = spot_fail(c, SPOT_NUMERIC, "JPEG of %dx%d pixels at quality %d: %s", width, height, quality, t.err.text);
    jpeg_destroy_compress(&t.enc);
    jpeg_destroy_decompress(&t.dec);
    free(t.file);
    return s;
}
