/* check_background.h - a world for the background study: classes "a" and "b", whose objects are red and blue squares in the
 * middle and whose own backgrounds are bright and dark, and models that see one or the other. */
#ifndef SPOTTER_TESTS_CHECK_BACKGROUND_H
#define SPOTTER_TESTS_CHECK_BACKGROUND_H

#include "check_resnet.h"
#include "check_folder.h"
#include "heard.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/png.h"
#include "spotter/background.h"
#include "spotter/model.h"
#include "store/store.h"

enum { SIDE = 32 };

static inline const char *in_world(const char *name)
{
    static char path[4][300];
    static int next;

    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", root, name);
    return path[next];
}

static inline void write_bytes(const char *name, const void *bytes, size_t n)
{
    spot_ctx c = check_ctx(1);
    char folder[300];

    snprintf(folder, sizeof folder, "%s", in_world(name));
    *strrchr(folder, '/') = 0;
    if (access(folder, F_OK)) CHECK_OK(&c, spot_folder_make(&c, folder));
    FILE *f = fopen(in_world(name), "wb");             /* spot_file_write would wait for the disk */
    assert_true(f && fwrite(bytes, 1, n, f) == n && !fclose(f));
}

static inline void write_file(const char *name, const char *text) { write_bytes(name, text, strlen(text)); }
static inline void remove_file(const char *name) { assert_int_equal(unlink(in_world(name)), 0); }

static inline void copy_file(const char *from, const char *to)
{
    spot_ctx c = check_ctx(1);
    unsigned char *bytes;
    size_t n;

    CHECK_OK(&c, spot_file_read(&c, in_world(from), &bytes, &n, 1 << 26));
    write_bytes(to, bytes, n);
    free(bytes);
}

static inline void assert_same_file(const char *one, const char *two, const char *name)
{
    spot_ctx c = check_ctx(1);
    char path[2][300];
    unsigned char *bytes[2];
    size_t n[2];

    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s/%s", root, i ? two : one, name);
        CHECK_OK(&c, spot_file_read(&c, path[i], &bytes[i], &n[i], 1 << 26));
    }
    if (n[0] != n[1] || memcmp(bytes[0], bytes[1], n[0])) fail_msg("%s differs between %s and %s", name, one, two);
    free(bytes[0]), free(bytes[1]);
}

/* ---- pictures ---- */

static inline void write_picture(const char *name, const uint8_t *rgb, int width, int height)
{
    spot_ctx c = check_ctx(1);
    unsigned char *png;
    size_t n;

    CHECK_OK(&c, spot_png_encode(&c, &png, &n, rgb, width, height));
    write_bytes(name, png, n);
    free(png);
}

/* A mask of `value` in the square [from, to) of both axes, scaled to the height. */
static inline void make_mask(const char *name, int width, int height, int from, int to, int value)
{
    uint8_t rgb[64 * 64 * 3] = { 0 };

    for (int y = from; y < to; y++)
        for (int x = from; x < to; x++) memset(rgb + 3 * (y * width + x), value, 3);
    write_picture(name, rgb, width, height);
}

static inline void make_inverted(const char *name)
{
    uint8_t rgb[SIDE * SIDE * 3];

    memset(rgb, 255, sizeof rgb);
    for (int y = 8; y < 24; y++) memset(rgb + 3 * (y * SIDE + 8), 0, 3 * 16);
    write_picture(name, rgb, SIDE, SIDE);
}

/* A background: bright or dark, with a pattern of its own. */
static inline void paint_background(uint8_t *rgb, bool bright, int number)
{
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int wave = (i % SIDE * (number + 1) + i / SIDE * (number % 3)) % 16;
        for (int k = 0; k < 3; k++) rgb[3 * i + k] = (uint8_t)((bright ? 200 : 40) + wave + 5 * ((number + k) % 3));
    }
}

static inline void paint_object(uint8_t *rgb, int cls)
{
    for (int y = 8; y < 24; y++)
        for (int x = 8; x < 24; x++) {
            uint8_t *p = rgb + 3 * (y * SIDE + x);
            p[0] = cls ? 20 : 230, p[1] = 30, p[2] = cls ? 230 : 20;
        }
}

/* `each` pictures of both classes, a/0.png ..., with masks, and `backgrounds`, half of them bright: bright0.png, dark0.png
 * ... */
static inline void make_world(int each, int backgrounds)
{
    uint8_t rgb[SIDE * SIDE * 3];
    char name[64];

    for (int i = 0; i < 2 * each; i++) {
        const int cls = i / each;
        paint_background(rgb, !cls, 50 + i);
        paint_object(rgb, cls);
        snprintf(name, sizeof name, "images/%c/%d.png", 'a' + cls, i % each);
        write_picture(name, rgb, SIDE, SIDE);
        snprintf(name, sizeof name, "masks/%c/%d.png", 'a' + cls, i % each);
        make_mask(name, SIDE, SIDE, 8, 24, 255);
    }
    for (int i = 0; i < backgrounds; i++) {
        paint_background(rgb, i % 2 == 0, i);
        snprintf(name, sizeof name, "backgrounds/%s%d.png", i % 2 ? "dark" : "bright", i / 2);
        write_picture(name, rgb, SIDE, SIDE);
    }
}

/* Picture i of a class gets the middle square as its alpha. */
static inline void add_alpha(const char *cls, int number)
{
    uint8_t rgba[SIDE * SIDE * 4], rgb[SIDE * SIDE * 3];
    png_image image = { .version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = PNG_FORMAT_RGBA };
    char name[300];

    paint_background(rgb, *cls == 'a', number);
    paint_object(rgb, *cls != 'a');
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int x = i % SIDE, y = i / SIDE;
        memcpy(rgba + 4 * i, rgb + 3 * i, 3);
        rgba[4 * i + 3] = x >= 8 && x < 24 && y >= 8 && y < 24 ? 255 : 0;
    }
    snprintf(name, sizeof name, "%s/images/%s/%d.png", root, cls, number);
    assert_true(png_image_write_to_file(&image, name, 0, rgba, 0, NULL));
}

/* ---- models ---- */

/* of_black: what it says where the object is black. 1: the class of the background; -1: the other one; 0: as of any object. */
typedef struct { bool of_background; int outputs, of_black; } world_model;

/* Output 0 is greater for red, or for a bright corner. */
static inline spot_status predict_world(spot_ctx *c, void *user, const spot_prediction *p)
{
    const world_model *m = user;
    const int outputs = m->outputs ? m->outputs : 2;

    (void)c;
    for (int i = 0; i < p->n; i++) {
        const uint8_t *rgb = p->rgb + (size_t)i * 3 * SIDE * SIDE, *middle = rgb + 3 * (SIDE / 2 * SIDE + SIDE / 2);
        const bool is_black = m->of_black && middle[0] < 10 && middle[2] < 10;
        const bool first = is_black ? (rgb[0] > 120) == (m->of_black > 0)
                         : m->of_background ? rgb[0] > 120 : middle[0] >= middle[2];
        for (int o = 0; o < outputs; o++) p->logit[i * outputs + o] = m->outputs ? o == 1 ? 5 : 0 : (o == !first ? 3 : 0);
        for (int k = 0; k < 3 && p->embedding; k++) p->embedding[3 * i + k] = rgb[k] / 255.0f + middle[k] / 255.0f;
        if (p->channel) p->channel[2 * i] = 0.3f, p->channel[2 * i + 1] = 0.6f;
    }
    return SPOT_OK;
}

/* Room for models and encoders, which a test adds. */
static inline void world_room(spot_background_config *cfg, int n)
{
    cfg->model = spot_memory_take(&cfg->memory, (size_t)n * sizeof *cfg->model);
    cfg->encoder = spot_memory_take(&cfg->memory, (size_t)n * sizeof *cfg->encoder);
    for (int i = 0; i < n; i++) {
        cfg->model[i] = (spot_background_model){ "", "", "", "", "", -1, { 0 } };
        cfg->encoder[i] = (spot_background_encoder){ "", "", "", 1 };
    }
}

static inline spot_background_config *world_config(int n)
{
    spot_background_config *cfg = malloc(sizeof *cfg);

    spot_background_defaults(cfg);
    cfg->data.images = check_text("%s", in_world("images"));
    cfg->data.masks = check_text("%s", in_world("masks"));
    cfg->data.backgrounds = check_text("%s", in_world("backgrounds"));
    cfg->data.size = SIDE, cfg->data.most = 0.9;
    cfg->suite.n = n;
    cfg->measure.levels = 2, cfg->measure.grid = 8, cfg->measure.kernel = 4, cfg->measure.sigma = 1,
        cfg->measure.neighbours = 4;
    world_room(cfg, 4);
    return cfg;
}

/* Two more models with weights from a hash: a small ResNet-18, and one that is a little different. */
static inline void add_weights(spot_background_config *cfg)
{
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < 2; i++) {
        spot_background_model *m = &cfg->model[cfg->models];
        char name[64];
        spot_arena a;
        spot_model w;
        CHECK_OK(&c, spot_arena_open(&c, &a, 1 << 22));
        CHECK_OK(&c, spot_model_take(&c, &a, &w, SPOT_ARCH_RESNET18, 16, 2));
        fill_model(&w);
        for (int k = 0; k < 2; k++) w.value[k] += 0.01f * (float)cfg->models;
        *m = (spot_background_model){ "", "", "", "", "", -1, { 0 } };
        m->name = check_text("weights%d", cfg->models);
        snprintf(name, sizeof name, "weights%d.safetensors", cfg->models++);
        m->weights = check_text("%s", in_world(name));
        CHECK_OK(&c, spot_model_save(&c, m->weights, &w));
        spot_arena_close(&a);
    }
}

/* m: the model is this function; NULL: the config's models. */
static inline spot_status run_world(spot_ctx *c, const spot_background_config *cfg, const char *out, world_model *m, int shard,
                                    int shards, spot_run_report *report)
{
    spot_background_options o = { .place.shard = shard, .place.shards = shards };

    o.place.out = in_world(out);
    if (m) {
        o.function = predict_world, o.user = m, o.outputs = m->outputs ? m->outputs : 2, o.dim = 3, o.channels = 2;
        o.identity = m->of_background ? "background" : "object";
    }
    return spot_background_run(c, cfg, &o, report);
}

#endif
