/* bench_look.c - a folder of pictures, from files to probabilities: listed, decoded, resized, classified. Peer:
 * bench/peers/look_torch.py, which makes the folder of SPOT_BENCH_PICTURES; without the variable some PNGs are generated. */
#define _XOPEN_SOURCE 700
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "discover/describe/look_pictures.h"
#include "formats/picture.h"
#include "formats/png.h"

typedef struct {
    char own[64], net[80], folder[400];    /* own: temporary folder with the network; folder: the pictures */
    int  made;                             /* pictures in own, to be removed */
    spot_subject subject;
    spot_subject_files files;
} look_state;

static const char *const folder[] = { "", "/0", "/1" };    /* below own/pictures */

static void name(char *path, size_t size, const look_state *s, int i)
{
    snprintf(path, size, "%s/pictures/%d/%03d.png", s->own, i % 2, i);
}

/* Gradients with some noise, like photographs. */
static spot_status make(spot_ctx *c, look_state *s, int count, int side)
{
    uint8_t *rgb = malloc(3 * (size_t)side * (size_t)side);
    spot_status e = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a bench");

    for (int i = 0; !e && i < count; i++) {
        unsigned char *png = NULL;
        char path[128];
        size_t size;
        for (int k = 0; k < 3 * side * side; k++)
            rgb[k] = (uint8_t)(128 + 100 * sin((double)(k / 3 % side) / (9 + i)) + 4 * spot_noise(i, (size_t)k, SPOT_FP32));
        name(path, sizeof path, s, i);
        e = spot_png_encode(c, &png, &size, rgb, side, side);
        if (!e) e = spot_file_write(c, path, png, size);
        if (!e) s->made++;
        free(png);
    }
    free(rgb);
    return e;
}

static spot_status save_net(spot_ctx *c, const char *path, int width, int outputs)
{
    spot_arena count = spot_arena_counting(), a;
    spot_model m;
    spot_status e;

    SPOT_TRY(spot_model_init(c, &count, &m, SPOT_ARCH_RESNET18, width, outputs, 1, 0));
    SPOT_TRY(spot_arena_open(c, &a, count.peak));
    e = spot_model_init(c, &a, &m, SPOT_ARCH_RESNET18, width, outputs, 1, 0);
    if (!e) e = spot_model_save(c, path, &m);
    spot_arena_close(&a);
    return e;
}

/* size: width, resize, crop; pictures to generate, pixels of their side. */
static spot_status open_state(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    const char *own_pictures = getenv("SPOT_BENCH_PICTURES"), *tmp = getenv("TMPDIR");
    bool given = own_pictures && *own_pictures;
    look_state *s = *out = calloc(1, sizeof *s);
    char sub[80];
    int outputs;
    spot_folder f;

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    snprintf(s->own, sizeof s->own, "%.40s/spot_bench_XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(s->own)) return spot_fail(c, SPOT_IO, "no folder %s can be made", s->own);
    snprintf(s->net, sizeof s->net, "%s/net", s->own);
    snprintf(s->folder, sizeof s->folder, "%s%s", given ? own_pictures : s->own, given ? "" : "/pictures");
    for (int k = 0; k < 3; k++) {
        snprintf(sub, sizeof sub, "%s/pictures%s", s->own, folder[k]);
        if (mkdir(sub, 0777)) return spot_fail(c, SPOT_IO, "no folder %s can be made", sub);
    }
    if (!given) SPOT_TRY(make(c, s, size[3], size[4]));
    SPOT_TRY(spot_folder_list(c, &f, s->folder));
    work->items = f.n;
    outputs = f.classes;
    spot_folder_close(&f);
    s->files = (spot_subject_files){ .images = s->folder, .model = s->net, .resize = size[1], .crop = size[2] };
    return save_net(c, s->net, size[0], outputs);
}

static void close_state(spot_ctx *c, void *p)
{
    look_state *s = p;
    char path[128];

    (void)c;
    spot_subject_close(&s->subject);
    for (int i = 0; i < s->made; i++) {
        name(path, sizeof path, s, i);
        remove(path);
    }
    for (int k = 2; k >= 0; k--) {
        snprintf(path, sizeof path, "%s/pictures%s", s->own, folder[k]);
        rmdir(path);
    }
    remove(s->net);
    rmdir(s->own);
    free(s);
}

static spot_status run(spot_ctx *c, void *p)
{
    look_state *s = p;

    spot_subject_close(&s->subject);
    return spot_subject_look(c, &s->subject, &s->files);
}

/* Decodes, crops and classifies the last picture alone. */
static spot_status look_alone(spot_ctx *c, const look_state *s, spot_picture *p, uint8_t *rgb, float *feature, float *logit)
{
    spot_arena count = spot_arena_counting(), a;
    spot_model m;
    spot_status e;

    SPOT_TRY(spot_picture_read(c, p, s->subject.image[s->subject.n - 1]));
    SPOT_TRY(spot_picture_fit(c, rgb, p, s->files.resize, s->files.crop));
    SPOT_TRY(spot_model_load(c, &count, &m, s->net, 0, 0));
    SPOT_TRY(spot_model_infer(c, &count, NULL, NULL, &m, NULL, 1, s->files.crop));
    SPOT_TRY(spot_arena_open(c, &a, count.peak));
    e = spot_model_load(c, &a, &m, s->net, 0, 0);
    if (!e) e = spot_model_infer(c, &a, logit, feature, &m, rgb, 1, s->files.crop);
    spot_arena_close(&a);
    return e;
}

static spot_status check(spot_ctx *c, void *p)
{
    look_state *s = p;
    spot_picture picture = { 0 };
    uint8_t *rgb = malloc(3 * (size_t)s->files.crop * (size_t)s->files.crop);
    float *v, *seen;
    spot_status e = run(c, p);

    v = malloc((size_t)(s->subject.d + s->subject.classes) * sizeof *v);
    if (!e && (!rgb || !v)) e = spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    if (!e) e = look_alone(c, s, &picture, rgb, v, v + s->subject.d);
    seen = s->subject.feature + (size_t)(s->subject.n - 1) * (size_t)s->subject.d;
    for (int k = 0; !e && k < s->subject.d; k++)
        e = spot_bench_near(c, "feature", (size_t)k, seen[k], v[k], 1e-4 * (1 + fabs(v[k])));
    spot_picture_close(&picture);
    free(rgb);
    free(v);
    return e;
}

static const spot_bench_kind kind = { open_state, check, run, close_state };

const spot_bench_row spot_bench_look[] = {
    { "look", "folder of pictures, 256 to 224 px", "images", SPOT_ON_CPU, &kind, { 64, 256, 224, 96, 480 },
      { 16, 40, 32, 5, 50 } },
    { 0 },
};
