/* plant_files.c - the pictures of sources, the real ones, and the table of what each of them is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "shifts/plant_make.h"
#include "store/store.h"

/* The pictures of one class in one folder. */
typedef struct { spot_plant_set set; spot_plant_shift shift; int cls, pictures; char folder[200]; } plant_files_batch;

static void name_folder(plant_files_batch *b)
{
    char *at;

    if (b->set == SPOT_PLANT_REAL) snprintf(b->folder, sizeof b->folder, "real/");
    else
        snprintf(b->folder, sizeof b->folder, "%s/%s/", spot_plant_set_name(b->set), spot_plant_shift_about(b->shift)->folder);
    at = b->folder + strlen(b->folder);
    snprintf(at, sizeof b->folder - (size_t)(at - b->folder), "%s", spot_plant_class_name(b->cls));
    for (; *at; at++)
        if (*at == ' ') *at = '_';
}

/* Batch number i; false behind the last. */
static bool batch_at(plant_files_batch *b, const spot_plant_config *cfg, int i)
{
    int folders = 1 + cfg->shifts, source = i / cfg->classes / folders;

    *b = (plant_files_batch){ .set = (spot_plant_set)source, .shift = (spot_plant_shift)(i / cfg->classes % folders),
                  .cls = i % cfg->classes, .pictures = cfg->pictures };
    if (source == SPOT_PLANT_REAL) b->pictures = cfg->real;
    name_folder(b);
    return source < SPOT_PLANT_REAL || (source == SPOT_PLANT_REAL && b->shift == SPOT_PLANT_BASE);
}

static void describe_picture(FILE *f, const plant_files_batch *b, const spot_plant_picture *p)
{
    bool source = b->set != SPOT_PLANT_REAL;

    fprintf(f, "%s/%05u.png,%s,%s,", b->folder, p->index, spot_plant_set_name(b->set),
            source ? spot_plant_shift_about(b->shift)->folder : "");
    spot_csv_field(f, spot_plant_class_name(b->cls));
    fprintf(f, ",%d,%d,%s,%d\n", p->shift_there || !b->shift, p->object_there,
            p->shown < 0 ? "" : spot_plant_class_name(p->shown), p->table);
}

static spot_status write_batch(spot_ctx *c, const char *dir, const spot_plant_config *cfg, const plant_files_batch *b,
                               spot_plant_picture *p, uint8_t *rgb)
{
    size_t bytes = 3 * (size_t)cfg->size * (size_t)cfg->size;
    char folder[SPOT_PLANT_PATH];
    spot_status failed = SPOT_OK;

    SPOT_TRY(spot_check_stop(c));
    snprintf(folder, sizeof folder, "%s/pictures/%s", dir, b->folder);
    SPOT_TRY(spot_folder_make(c, folder));
    for (int i = 0; i < b->pictures; i++) spot_plant_draw(&p[i], cfg, b->set, b->shift, b->cls, (uint32_t)i);
    SPOT_TRY(spot_plant_render(c, rgb, p, b->pictures, cfg));
#pragma omp parallel for schedule(dynamic) num_threads(c->threads)
    for (int i = 0; i < b->pictures; i++) {
        char path[SPOT_PLANT_PATH + 16];
        spot_status s;
        snprintf(path, sizeof path, "%s/%05d.png", folder, i);
        s = spot_world_picture(c, path, rgb + (size_t)i * bytes, cfg->size);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    return failed;
}

static spot_status write_batches(spot_ctx *c, const char *dir, const spot_plant_config *cfg, FILE *table)
{
    size_t most = (size_t)(cfg->pictures > cfg->real ? cfg->pictures : cfg->real);
    uint8_t *rgb = malloc(most * 3 * (size_t)cfg->size * (size_t)cfg->size);
    spot_plant_picture *p = malloc(most * sizeof *p);
    int total = cfg->classes * (2 * (1 + cfg->shifts) + 1);
    spot_status s = rgb && p ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %zu pictures", most);
    plant_files_batch b;

    fputs("path,source,shift,class,shift_there,object_there,shown,table\n", table);
    for (int i = 0; !s && batch_at(&b, cfg, i); i++) {
        s = write_batch(c, dir, cfg, &b, p, rgb);
        for (int k = 0; k < b.pictures && !s; k++) describe_picture(table, &b, &p[k]);
        spot_tell(c, "plant: pictures", -1, i + 1, total, "");
    }
    free(p);
    free(rgb);
    return s;
}

/* DIR/classes.txt: the folder of each output of the planted models. */
static spot_status write_classes(spot_ctx *c, const char *dir, const spot_plant_config *cfg)
{
    char path[SPOT_PLANT_PATH], text[64 * SPOT_PLANT_CLASSES] = "";
    plant_files_batch b = { .set = SPOT_PLANT_REAL };

    for (b.cls = 0; b.cls < cfg->classes; b.cls++) {
        name_folder(&b);
        strcat(strcat(text, strchr(b.folder, '/') + 1), "\n");
    }
    snprintf(path, sizeof path, "%s/classes.txt", dir);
    return spot_file_write(c, path, text, strlen(text));
}

spot_status spot_plant_files(spot_ctx *c, const char *dir, const spot_plant_config *cfg)
{
    char path[SPOT_PLANT_PATH];
    spot_text text = { 0 };
    spot_status s;
    FILE *f;

    snprintf(path, sizeof path, "%s/plant.csv", dir);
    if (!access(path, F_OK)) return SPOT_OK;
    f = spot_text_stream(&text);
    if (!f) return spot_fail(c, SPOT_NOMEM, "no memory for the table of planted pictures");
    s = write_batches(c, dir, cfg, f);
    if ((fclose(f) || text.status) && !s) s = spot_fail(c, SPOT_NOMEM, "no memory for the table of planted pictures");
    if (!s) s = write_classes(c, dir, cfg);
    if (!s) s = spot_world_sync(c, dir);
    if (!s) s = spot_file_write(c, path, text.bytes, text.used);
    spot_text_free(&text);
    return s;
}
