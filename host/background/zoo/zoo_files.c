/* zoo_files.c - the pictures of the zoo in files: targets with masks, backgrounds, and the keywords of both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/zoo/zoo_make.h"
#include "base/text.h"
#include "store/store.h"

/* The pictures of one folder. rgb, mask: scratch of one thread. */
typedef struct {
    const spot_zoo_stock *stock;
    const char *dir, *folder;              /* "bird", "meadow" */
    int   unit, n;                         /* class or family; pictures */
    char (*words)[SPOT_ZOO_WORDING];       /* (n) */
} zoo_files_batch;

typedef spot_status (*writer)(spot_ctx *c, const zoo_files_batch *b, int i, uint8_t *rgb, uint8_t *mask);

static spot_status write_background(spot_ctx *c, const zoo_files_batch *b, int i, uint8_t *rgb, uint8_t *mask)
{
    char path[SPOT_ZOO_PATH];

    (void)mask;
    spot_zoo_background(rgb, b->words[i], b->stock, SPOT_ZOO_GROUNDS, b->unit, (uint32_t)i);
    snprintf(path, sizeof path, "%s/backgrounds/%s/%05d.png", b->dir, b->folder, i);
    return spot_world_picture(c, path, rgb, b->stock->cfg->size);
}

static spot_status write_target(spot_ctx *c, const zoo_files_batch *b, int i, uint8_t *rgb, uint8_t *mask)
{
    const spot_background_zoo *cfg = b->stock->cfg;
    spot_rng r = spot_zoo_numbers(b->stock, SPOT_ZOO_TARGETS, b->unit, (uint32_t)i);
    const spot_zoo_object o = spot_zoo_object_of(b->stock, b->unit, cfg->natural, 0, &r);
    char path[SPOT_ZOO_PATH];

    spot_zoo_background(rgb, b->words[i], b->stock, SPOT_ZOO_TARGETS, o.family, (uint32_t)(b->unit * cfg->targets + i));
    spot_zoo_compose(rgb, mask, b->stock, &o, rgb);
    snprintf(path, sizeof path, "%s/images/%s/%05d.png", b->dir, b->folder, i);
    SPOT_TRY(spot_world_picture(c, path, rgb, cfg->size));
    for (size_t k = (size_t)cfg->size * (size_t)cfg->size; k-- > 0;) memset(rgb + 3 * k, mask[k], 3);
    snprintf(path, sizeof path, "%s/masks/%s/%05d.png", b->dir, b->folder, i);
    return spot_world_picture(c, path, rgb, cfg->size);
}

/* Writes the pictures of a batch, then their rows. */
static spot_status write_batch(spot_ctx *c, const zoo_files_batch *b, writer write, FILE *table)
{
    const size_t pixels = (size_t)b->stock->cfg->size * (size_t)b->stock->cfg->size;
    spot_status failed = SPOT_OK;

    SPOT_TRY(spot_check_stop(c));
#pragma omp parallel for schedule(dynamic) num_threads(c->threads)
    for (int i = 0; i < b->n; i++) {
        uint8_t *rgb = malloc(4 * pixels);
        spot_status s = rgb ? write(c, b, i, rgb, rgb + 3 * pixels) : spot_fail(c, SPOT_NOMEM, "no memory for a picture");
        free(rgb);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    for (int i = 0; i < b->n && !failed; i++)
        fprintf(table, "%s/%05d.png,%s%s%s\n", b->folder, i, write == write_target ? b->folder : "",
                write == write_target ? "; " : "", b->words[i]);
    return failed;
}

static spot_status make_folder(spot_ctx *c, const char *dir, const char *kind, const char *name)
{
    char path[SPOT_ZOO_PATH];

    snprintf(path, sizeof path, "%s/%s/%s", dir, kind, name);
    return spot_folder_make(c, path);
}

static spot_status write_all(spot_ctx *c, const char *dir, const spot_zoo_stock *stock, bool targets, FILE *table)
{
    const spot_background_zoo *cfg = stock->cfg;
    const int units = targets ? cfg->classes : cfg->families + 1, n = targets ? cfg->targets : cfg->backgrounds;
    zoo_files_batch b = { .stock = stock, .dir = dir, .n = n, .words = calloc((size_t)n, sizeof *b.words) };
    spot_status s = b.words ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the keywords of %d pictures", n);

    fputs("path,keywords\n", table);
    for (b.unit = 0; b.unit < units && !s; b.unit++) {
        b.folder = targets ? spot_zoo_class_name(b.unit) : b.unit < cfg->families ? spot_zoo_family_name(b.unit) : "scenes";
        s = make_folder(c, dir, targets ? "images" : "backgrounds", b.folder);
        if (!s && targets) s = make_folder(c, dir, "masks", b.folder);
        if (!s) s = write_batch(c, &b, targets ? write_target : write_background, table);
        spot_tell(c, targets ? "zoo: targets" : "zoo: backgrounds", -1, b.unit + 1, units, "");
    }
    free(b.words);
    return s;
}

/* The pictures and the table of their keywords, unless the table is there. */
static spot_status write_table(spot_ctx *c, const char *dir, const spot_zoo_stock *stock, bool targets)
{
    char path[SPOT_ZOO_PATH];
    spot_text text = { 0 };
    spot_status s;
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, targets ? "images.csv" : "backgrounds.csv");
    if (!access(path, F_OK)) return SPOT_OK;
    f = spot_text_stream(&text);
    if (!f) return spot_fail(c, SPOT_NOMEM, "no memory for %s", path);
    s = write_all(c, dir, stock, targets, f);
    if ((fclose(f) || text.status) && !s) s = spot_fail(c, SPOT_NOMEM, "no memory for %s", path);
    if (!s) s = spot_world_sync(c, dir);
    if (!s) s = spot_file_write(c, path, text.bytes, text.used);
    spot_text_free(&text);
    return s;
}

spot_status spot_zoo_files(spot_ctx *c, const char *dir, const spot_zoo_stock *stock)
{
    char path[SPOT_ZOO_PATH], text[64 * SPOT_ZOO_CLASSES] = "";

    for (int k = 0; k < stock->cfg->classes; k++) strcat(strcat(text, spot_zoo_class_name(k)), "\n");
    snprintf(path, sizeof path, "%s/classes.txt", dir);
    if (access(path, F_OK)) SPOT_TRY(spot_file_write(c, path, text, strlen(text)));
    SPOT_TRY(write_table(c, dir, stock, true));
    return write_table(c, dir, stock, false);
}
