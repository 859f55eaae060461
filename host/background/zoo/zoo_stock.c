/* zoo_stock.c - the materials of the zoo: cut-outs with alpha, scenes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "background/zoo/zoo_make.h"
#include "base/file.h"
#include "base/folder.h"
#include "formats/png.h"

enum { FOLDERS = 3, LEAST_SIDE = 40, MOST_FILE = 1 << 20 };

/* Folders of the stamps. Classes stand in the order of the families: class k lives in family k. */
static const struct { const char *name, *folder[FOLDERS]; } classes[SPOT_ZOO_CLASSES] = {
    { "cattle",    { "animals/mammals/bovines" } },
    { "bird",      { "animals/birds" } },
    { "fish",      { "animals/fish" } },
    { "house",     { "town/houses" } },
    { "vehicle",   { "vehicles/auto", "vehicles/emergency", "vehicles/construction" } },
    { "flower",    { "plants/flowers" } },
    { "insect",    { "animals/insects" } },
    { "rodent",    { "animals/mammals/rodents" } },
    { "fruit",     { "food/fruit" } },
    { "vegetable", { "food/vegetables" } },
    { "sign",      { "town/roadsigns" } },
    { "train",     { "vehicles/locomotive" } },
};

const char *spot_zoo_class_name(int cls) { return classes[cls].name; }

/* -- lists of files -------------------------------------------------------------------------------------------------- */

typedef struct { char **path; int n, room; } names;

static void close_names(names *l)
{
    for (int i = 0; i < l->n; i++) free(l->path[i]);
    free(l->path);
    *l = (names){ 0 };
}

static spot_status add_name(spot_ctx *c, names *l, const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);

    if (l->n == l->room) {
        char **more = realloc(l->path, (size_t)(2 * l->room + 16) * sizeof *more);
        if (more) l->path = more, l->room = 2 * l->room + 16;
    }
    if (!path || l->n == l->room) {
        free(path);
        return spot_fail(c, SPOT_NOMEM, "no memory for the names of cut-outs");
    }
    snprintf(path, size, "%s/%s", folder, name);
    l->path[l->n++] = path;
    return SPOT_OK;
}

static spot_status list_stamps(spot_ctx *c, names *l, const char *root, int cls)
{
    char folder[SPOT_ZOO_PATH];
    spot_status s = SPOT_OK;

    for (int k = 0; k < FOLDERS && classes[cls].folder[k] && !s; k++) {
        spot_folder f = { 0 };
        snprintf(folder, sizeof folder, "%s/%s", root, classes[cls].folder[k]);
        if (access(folder, R_OK)) continue;
        s = spot_folder_pictures(c, &f, folder);
        for (int i = 0; i < f.n && !s; i++) {
            const size_t n = strlen(f.path[i]);
            if (n > 4 && !strcmp(f.path[i] + n - 4, ".png")) s = add_name(c, l, folder, f.path[i]);
        }
        if (!s) spot_folder_close(&f);
    }
    return s;
}

/* -- a cut-out ------------------------------------------------------------------------------------------------------- */

typedef struct { spot_picture rgb, alpha; int left, top, right, bottom; double cover; } cut_out;

/* Whether the header of a PNG says that every pixel has an alpha. A palette may have one, too, but hardly a soft one. */
static bool has_alpha(const unsigned char *file, size_t n) { return n > 25 && file[25] & 4; }

/* The box of the visible part, and the share of it that is visible. */
static void find_box(cut_out *k)
{
    const int width = k->alpha.width, height = k->alpha.height;
    double sum = 0;

    k->left = width, k->top = height, k->right = 0, k->bottom = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int a = k->alpha.rgb[(size_t)y * (size_t)width + (size_t)x];
            sum += a;
            if (a < 128) continue;
            if (x < k->left) k->left = x;
            if (y < k->top) k->top = y;
            if (x + 1 > k->right) k->right = x + 1;
            if (y + 1 > k->bottom) k->bottom = y + 1;
        }
    k->cover = k->right > k->left ? sum / 255 / (k->right - k->left) / (k->bottom - k->top) : 0;
}

static spot_status read_cut_out(spot_ctx *c, cut_out *k, const char *path)
{
    unsigned char *file;
    size_t n;
    spot_status s = spot_file_read(c, path, &file, &n, SPOT_PICTURE_BYTES);

    if (s) return s;
    k->cover = 0;
    if (has_alpha(file, n)) {
        s = spot_png_decode(c, &k->rgb, file, n, path);
        if (!s) s = spot_png_mask(c, &k->alpha, file, n, path);
        if (!s) find_box(k);
    }
    free(file);
    return s;
}

/* A rectangle is no cut-out, and a thin thing is hardly seen. */
static bool is_usable(const cut_out *k)
{
    const int width = k->right - k->left, height = k->bottom - k->top;

    return k->cover > 0.25 && k->cover < 0.92 && width >= LEAST_SIDE && height >= LEAST_SIDE && width <= 2.5 * height
        && height <= 2.5 * width;
}

/* The box in the middle of a transparent square: (side, side, 3) colours times alpha, then (side, side, 3) alpha. */
static uint8_t *square_of(const cut_out *k, int *side)
{
    const int width = k->right - k->left, height = k->bottom - k->top, n = width > height ? width : height;
    const size_t plane = 3 * (size_t)n * (size_t)n;
    uint8_t *square = calloc(2, plane);

    *side = n;
    for (int y = 0; y < height && square; y++)
        for (int x = 0; x < width; x++) {
            const size_t from = (size_t)(k->top + y) * (size_t)k->rgb.width + (size_t)(k->left + x),
                         to = 3 * ((size_t)((n - height) / 2 + y) * (size_t)n + (size_t)((n - width) / 2 + x));
            const int a = k->alpha.rgb[from];
            for (size_t i = 0; i < 3; i++) {
                square[to + i] = (uint8_t)((k->rgb.rgb[3 * from + i] * a + 127) / 255);
                square[plane + to + i] = (uint8_t)a;
            }
        }
    return square;
}

/* Makes it a square of `size` pixels a side. */
static spot_status shrink(spot_ctx *c, uint8_t *rgb, uint8_t *alpha, cut_out *k, int size)
{
    const size_t pixels = (size_t)size * (size_t)size;
    int side;
    uint8_t *square = square_of(k, &side), *wide = malloc(3 * pixels);
    spot_picture p = { .width = side, .height = side, .rgb = square };
    spot_status s = square && wide ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a cut-out of %d pixels a side", side);

    if (!s) s = spot_picture_fit(c, rgb, &p, size, size);
    p.rgb = square ? square + 3 * (size_t)side * (size_t)side : NULL;
    if (!s) s = spot_picture_fit(c, wide, &p, size, size);
    for (size_t i = 0; i < pixels && !s; i++) alpha[i] = wide[3 * i];
    p.rgb = NULL;
    spot_picture_close(&p);
    free(wide);
    free(square);
    return s;
}

/* -- all cut-outs ------------------------------------------------------------------------------------------------------ */

static spot_status missing(spot_ctx *c, const char *what, const char *where, const char *setting, const char *package)
{
    return spot_fail(c, SPOT_INPUT, "{stock.missing} there are no %s in %s (zoo.%s): install Debian's packages "
                     "tuxpaint-stamps-default and plasma-workspace-wallpapers (this is %s), or name another folder",
                     what, where, setting, package);
}

/* Goes through the files of a class in an order that the seed gives, until there are enough. */
static spot_status open_class(spot_ctx *c, spot_zoo_stock *t, int cls)
{
    const size_t pixels = (size_t)t->cfg->size * (size_t)t->cfg->size, first = (size_t)cls * SPOT_ZOO_STAMPS;
    names l = { 0 };
    spot_status s = list_stamps(c, &l, t->cfg->stamps, cls);
    uint32_t *order = malloc(((size_t)l.n + 1) * sizeof *order);
    cut_out k = { 0 };
    char what[64];

    if (!order && !s) s = spot_fail(c, SPOT_NOMEM, "no memory for the names of cut-outs");
    if (!s) {
        spot_rng r = spot_zoo_numbers(t, SPOT_ZOO_SETS, cls, 0);
        spot_rng_shuffle(&r, order, (uint32_t)l.n);
    }
    for (int i = 0; i < l.n && t->stamps[cls] < SPOT_ZOO_STAMPS && !s; i++) {
        s = read_cut_out(c, &k, l.path[order[i]]);
        if (s || !is_usable(&k)) continue;
        const size_t at = first + (size_t)t->stamps[cls]++;
        s = shrink(c, t->rgb + at * 3 * pixels, t->alpha + at * pixels, &k, t->cfg->size);
    }
    snprintf(what, sizeof what, "cut-outs of the class %s", classes[cls].name);
    if (!s && !t->stamps[cls]) s = missing(c, what, t->cfg->stamps, "stamps", "tuxpaint-stamps-default");
    spot_picture_close(&k.rgb);
    spot_picture_close(&k.alpha);
    free(order);
    close_names(&l);
    return s;
}

/* -- scenes -------------------------------------------------------------------------------------------------------------- */

/* "FallenLeaf/contents/..." -> "fallen leaf". */
static void name_scene(char name[64], const char *path)
{
    size_t n = 0;

    for (const char *p = path; *p && *p != '/' && n < 60; p++) {
        if (isupper((unsigned char)*p) && p > path && p[-1] != ' ') name[n++] = ' ';
        name[n++] = *p == '_' || *p == ',' || *p == ';' ? ' ' : (char)tolower((unsigned char)*p);
    }
    name[n] = 0;
}

static bool same_scene(const char *a, const char *b)
{
    const size_t n = strcspn(a, "/");

    return n == strcspn(b, "/") && !strncmp(a, b, n) && a[n] == '/';
}

static long long bytes_of(const char *root, const char *path)
{
    char whole[SPOT_ZOO_PATH];
    struct stat st;

    snprintf(whole, sizeof whole, "%s/%s", root, path);
    return stat(whole, &st) ? -1 : (long long)st.st_size;
}

/* The smallest file of each scene, if it is quickly decoded: the first SPOT_ZOO_SCENES of them. */
static spot_status list_scenes(spot_ctx *c, names *l, spot_zoo_stock *t)
{
    spot_folder f = { 0 };
    spot_status s = SPOT_OK;

    if (access(t->cfg->scenes, R_OK)) return missing(c, "scenes", t->cfg->scenes, "scenes", "plasma-workspace-wallpapers");
    SPOT_TRY(spot_folder_pictures(c, &f, t->cfg->scenes));
    for (int i = 0, next; i < f.n && !s && l->n < SPOT_ZOO_SCENES; i = next) {
        long long least = MOST_FILE;
        int best = -1;
        for (next = i; next < f.n && (next == i || same_scene(f.path[i], f.path[next])); next++) {
            const long long n = strstr(f.path[next], "screenshot") ? -1 : bytes_of(t->cfg->scenes, f.path[next]);
            if (n > 0 && n < least) least = n, best = next;
        }
        if (best < 0) continue;
        name_scene(t->scene_name[l->n], f.path[best]);
        s = add_name(c, l, t->cfg->scenes, f.path[best]);
    }
    spot_folder_close(&f);
    if (!s && !l->n) s = missing(c, "scenes", t->cfg->scenes, "scenes", "plasma-workspace-wallpapers");
    return s;
}

static spot_status open_scenes(spot_ctx *c, spot_zoo_stock *t)
{
    const size_t bytes = 3 * (size_t)SPOT_ZOO_SCENE_SIDE * SPOT_ZOO_SCENE_SIDE;
    names l = { 0 };
    spot_status s = list_scenes(c, &l, t), failed = SPOT_OK;

    t->scene = malloc((size_t)(l.n + 1) * bytes);
    if (!s && !t->scene) s = spot_fail(c, SPOT_NOMEM, "no memory for %d scenes", l.n);
    if (!s) {
        t->scenes = l.n;
#pragma omp parallel for schedule(dynamic) num_threads(c->threads)
        for (int i = 0; i < l.n; i++) {
            spot_picture p = { 0 };
            spot_status one = spot_picture_read(c, &p, l.path[i]);
            if (!one) one = spot_picture_fit(c, t->scene + (size_t)i * bytes, &p, SPOT_ZOO_SCENE_SIDE, SPOT_ZOO_SCENE_SIDE);
            spot_picture_close(&p);
            if (one) {
#pragma omp atomic write
                failed = one;
            }
        }
    }
    close_names(&l);
    return s ? s : failed;
}

static size_t cut_outs(const spot_background_zoo *cfg)
{
    return (size_t)cfg->classes * SPOT_ZOO_STAMPS * (size_t)cfg->size * (size_t)cfg->size;
}

size_t spot_zoo_stock_bytes(const spot_background_zoo *cfg)
{
    return 4 * cut_outs(cfg) + 3 * (size_t)SPOT_ZOO_SCENES * SPOT_ZOO_SCENE_SIDE * SPOT_ZOO_SCENE_SIDE;
}

spot_status spot_zoo_stock_open(spot_ctx *c, spot_zoo_stock *t, const spot_background_zoo *cfg)
{
    const size_t n = cut_outs(cfg);

    *t = (spot_zoo_stock){ .cfg = cfg, .rgb = malloc(3 * n), .alpha = malloc(n) };
    if (!t->rgb || !t->alpha) return spot_fail(c, SPOT_NOMEM, "no memory for cut-outs of %d pixels a side", cfg->size);
    for (int k = 0; k < cfg->classes; k++) SPOT_TRY(open_class(c, t, k));
    return open_scenes(c, t);
}

void spot_zoo_stock_close(spot_zoo_stock *t)
{
    free(t->scene);
    free(t->alpha);
    free(t->rgb);
    *t = (spot_zoo_stock){ 0 };
}
