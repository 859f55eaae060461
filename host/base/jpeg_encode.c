/* jpeg_encode.c - pixels as a JPEG file in memory. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "jpeg.h"

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
    trouble err;
    unsigned char *file;
    unsigned long size;
} work;

/* 0, or -1 after libjpeg gave up. */
static int encode(work *w, const uint8_t *rgb, int width, int height, int quality)
{
    if (setjmp(w->err.out)) return -1;
    jpeg_create_compress(&w->enc);
    jpeg_mem_dest(&w->enc, &w->file, &w->size);
    w->enc.image_width = (JDIMENSION)width;
    w->enc.image_height = (JDIMENSION)height;
    w->enc.input_components = 3;
    w->enc.in_color_space = JCS_RGB;
    jpeg_set_defaults(&w->enc);
    jpeg_set_quality(&w->enc, quality, TRUE);
    w->enc.optimize_coding = TRUE;
    jpeg_start_compress(&w->enc, TRUE);
    while (w->enc.next_scanline < w->enc.image_height) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(rgb + 3 * (size_t)width * w->enc.next_scanline);
        jpeg_write_scanlines(&w->enc, &row, 1);
    }
    jpeg_finish_compress(&w->enc);
    return 0;
}

spot_status spot_jpeg_encode(spot_ctx *c, unsigned char **jpeg, size_t *size, const uint8_t *rgb, int width, int height,
                             int quality)
{
    spot_status s = SPOT_OK;
    work w = { .file = NULL };      /* destroying a zeroed coder is allowed */

    w.enc.err = jpeg_std_error(&w.err.jpeg);
    w.err.jpeg.error_exit = give_up;
    w.err.jpeg.output_message = say_nothing;
    if (encode(&w, rgb, width, height, quality)) {
        s = spot_fail(c, SPOT_NUMERIC, "JPEG of %dx%d pixels at quality %d: %s", width, height, quality, w.err.text);
        free(w.file);
        w.file = NULL;
    }
    jpeg_destroy_compress(&w.enc);
    *jpeg = w.file;
    *size = w.file ? w.size : 0;
    return s;
}
