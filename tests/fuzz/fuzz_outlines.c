/* fuzz_outlines.c - any bytes as the outline of an object, or as COCO's annotations whose objects are targets: either one
 * sentence, or masks of nothing but 0 and 255. The first byte says which, and with another one the size of the mask.
 * fuzz: -max_len=512 */
#include "fuzz/fuzz_file.h"

#include "background/suite/outlines.h"
#include "formats/coco_outline.h"

enum { MOST = 24 };

FILE *__wrap_spot_file_stream(const spot_ctx *c, const char *path);

FILE *__wrap_spot_file_stream(const spot_ctx *c, const char *path) { return (void)c, __wrap_fopen(path, "r"); }

static uint8_t *plane_of(int width, int height)
{
    uint8_t *plane = calloc((size_t)width * (size_t)height, 1);

    return plane ? plane : (abort(), plane);
}

static void check_plane(uint8_t *plane, int width, int height)
{
    for (int i = 0; i < width * height; i++)
        if (plane[i] != 0 && plane[i] != 255) abort();
    free(plane);
}

static void try_outline(spot_ctx *c, int width, int height, const uint8_t *data, size_t size)
{
    uint8_t *plane = plane_of(width, height);
    char *json = malloc(size + 1);
    float box[4];

    if (!json) abort();
    memcpy(json, data, size);
    json[size] = 0;
    if (spot_coco_outline(c, plane, width, height, json, size, "a.jpg")) fuzz_said(c);
    check_plane(plane, width, height);
    if (spot_coco_outline_box(c, box, json, size, "a.jpg")) fuzz_said(c);
    else if (!(box[2] >= 0 && box[3] >= 0)) abort();
    free(json);
}

static void draw_all(spot_ctx *c, const spot_outlines *o)
{
    for (int i = 0; i < o->n; i++) {
        const spot_coco_image *image = &o->coco.image[o->coco.box[o->box[i]].image];
        const int width = image->width > 0 && image->width <= MOST ? image->width : 8,
            height = image->height > 0 && image->height <= MOST ? image->height : 8;
        uint8_t *plane = plane_of(width, height);
        fuzz_within(o->cls[i], 0, o->classes - 1);
        if (!o->class_name[o->cls[i]] || (i && o->cls[i] < o->cls[i - 1])) abort();
        if (spot_outlines_draw(c, o, i, plane, width, height)) fuzz_said(c), spot_forget(c);
        check_plane(plane, width, height);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_ctx c = { .threads = 1 };
    spot_outlines o = { 0 };

    if (size < 2) return 0;
    if (data[0] & 128) {
        try_outline(&c, 1 + data[0] % MOST, 1 + data[1] % MOST, data + 2, size - 2);
        return 0;
    }
    fuzz_file(0, "a.json", data + 2, size - 2);
    if (spot_outlines_open(&c, &o, "a.json", data[0] & 1 ? "cat, dog" : "")) fuzz_said(&c);
    else draw_all(&c, &o);
    spot_outlines_close(&o);
    return 0;
}
