/* grids.c - chooses the pictures of grids for raters, and writes grids, key and answer form.
 *
 * A grid takes pictures in turn from its folders: of each source those that the filter keeps and those that it drops, and the
 * real pictures as control. A picture's weight is the number of pictures of its folder over the number drawn from it, so
 * weighted means stand for all pictures although kept and dropped ones are drawn in equal numbers. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "report/grid/votes.h"
#include "spotter/report.h"
#include "spotter/rng.h"
#include "store/store.h"

const char *const spot_task_names[SPOT_TASKS] = { "shift", "label" };

enum { PASS = 3, FOLDERS = 2 * SPOT_MAX_SOURCES + 1, REAL = -1 };

typedef struct { int unit, row, source, shift; } candidate;

/* One of the folders that a grid draws from, its candidates in random order. */
typedef struct { candidate *of; int n, room, drawn; bool kept; } pool;

typedef struct {
    spot_ctx *c;
    const spot_shifts_results *r;
    const char *dir;
    uint64_t seed;
    spot_shift_pictures_result *file;      /* (units) */
    spot_grid_picture *picture;
    int *unit;                             /* (pictures): of each picture's file */
    int pictures, room;
} grids_work;

static void close_work(grids_work *w)
{
    for (int u = 0; w->file && u < w->r->units; u++) spot_shift_pictures_free(&w->file[u]);
    free(w->file), free(w->picture), free(w->unit);
}

/* ---- pools ---- */

static spot_status add_candidate(grids_work *w, pool *p, candidate one)
{
    if (p->n == p->room) {
        const int room = p->room ? 2 * p->room : 64;
        candidate *more = realloc(p->of, (size_t)room * sizeof *more);
        if (!more) return spot_fail(w->c, SPOT_NOMEM, "no memory for a grid's pictures");
        p->of = more;
        p->room = room;
    }
    p->of[p->n++] = one;
    return SPOT_OK;
}

/* Adds the pictures of a unit, of one class if cls is not negative. */
static spot_status add_unit(grids_work *w, pool *kept, pool *dropped, int u, int cls)
{
    const spot_shift_result *r = &w->r->unit[u];
    const spot_shift_pictures_result *f = &w->file[u];
    const bool real = r->shift < -1;

    for (int i = 0; i < f->n; i++) {
        const bool in = real || (f->pass[i] & PASS) == PASS;
        if (cls >= 0 && f->cls[i] != cls) continue;
        SPOT_TRY(add_candidate(w, in ? kept : dropped, (candidate){ u, i, real ? REAL : r->source, real ? REAL : r->shift }));
    }
    return SPOT_OK;
}

/* pool[0]: real pictures; then two of each source. */
static spot_status fill_pools(grids_work *w, pool *p, int task, int label)
{
    for (int u = 0; u < w->r->units; u++) {
        const spot_shift_result *r = &w->r->unit[u];
        const int cls = task == SPOT_TASK_LABEL ? label : -1, source = r->shift < -1 ? 0 : r->source;
        if (r->shift == -1 || (r->shift >= 0 && task == SPOT_TASK_SHIFT && r->shift != label)) continue;
        SPOT_TRY(add_unit(w, r->shift < -1 ? &p[0] : &p[1 + 2 * source], &p[2 + 2 * source], u, cls));
    }
    for (int k = 0; k < 2 * w->r->sources + 1; k++) p[k].kept = k % 2 == 1;
    return SPOT_OK;
}

/* The first n candidates become a random choice, in random order. */
static void shuffle_pool(pool *p, spot_rng *rng, int n)
{
    for (int i = 0; i < n; i++) {
        const int other = i + (int)spot_rng_below(rng, (uint32_t)(p->n - i));
        const candidate one = p->of[i];
        p->of[i] = p->of[other];
        p->of[other] = one;
    }
}

/* ---- a grid ---- */

static spot_status add_picture(grids_work *w, const spot_grid_picture *like, const pool *p, int i)
{
    const candidate *one = &p->of[i];
    spot_grid_picture *new;

    if (w->pictures == w->room) {
        const int room = w->room ? 2 * w->room : 512;
        spot_grid_picture *more = realloc(w->picture, (size_t)room * sizeof *more);
        if (more) w->picture = more;
        int *unit = more ? realloc(w->unit, (size_t)room * sizeof *unit) : NULL;
        if (!unit) return spot_fail(w->c, SPOT_NOMEM, "no memory for %d pictures of grids", room);
        w->unit = unit;
        w->room = room;
    }
    w->unit[w->pictures] = one->unit;
    new = &w->picture[w->pictures++];
    *new = *like;
    new->source = one->source;
    new->shift = one->shift;
    new->kept = p->kept;
    new->weight = (double)p->n / p->drawn;
    snprintf(new->path, sizeof new->path, "%s", w->file[one->unit].path[one->row]);
    return SPOT_OK;
}

static spot_status draw_pools(grids_work *w, pool *p, int pools, const spot_grid_picture *like, spot_rng *rng)
{
    int total = 0, pass = 0;

    for (bool some = true; some && total < SPOT_GRID; pass++) {
        some = false;
        for (int k = 0; k < pools && total < SPOT_GRID; k++)
            if (p[k].drawn < p[k].n) p[k].drawn++, total++, some = true;
    }
    for (int k = 0; k < pools; k++) shuffle_pool(&p[k], rng, p[k].drawn);
    for (int k = 0; k < pools; k++)
        for (int i = 0; i < p[k].drawn; i++) SPOT_TRY(add_picture(w, like, &p[k], i));
    return SPOT_OK;
}

/* Mixes the grid's pictures, so that the place tells nothing. */
static void mix(grids_work *w, int first, spot_rng *rng)
{
    for (int i = w->pictures - 1; i > first; i--) {
        const int other = first + (int)spot_rng_below(rng, (uint32_t)(i - first + 1)), u = w->unit[i];
        const spot_grid_picture one = w->picture[i];
        w->picture[i] = w->picture[other], w->unit[i] = w->unit[other];
        w->picture[other] = one, w->unit[other] = u;
    }
    for (int i = first; i < w->pictures; i++) w->picture[i].place = i - first + 1;
}

/* "shift_000_1a2b": the end is a hash of the pictures, so that a form of other grids is not taken for one of these. */
static spot_status name_grid(grids_work *w, int first)
{
    spot_text all = { 0 };
    char hash[33];

    for (int i = first; i < w->pictures; i++) spot_text_add(&all, w->picture[i].path, strlen(w->picture[i].path) + 1);
    if (all.status) return spot_text_free(&all), spot_fail(w->c, SPOT_NOMEM, "no memory for the name of a grid");
    spot_key_text(hash, spot_key_of(all.bytes, all.used));
    spot_text_free(&all);
    for (int i = first; i < w->pictures; i++) {
        spot_grid_picture *p = &w->picture[i];
        snprintf(p->name, sizeof p->name, "%s_%03d_%.4s", spot_task_names[p->task], p->grid, hash);
    }
    return SPOT_OK;
}

static spot_status choose_grid(grids_work *w, int task, int grid, int label)
{
    spot_rng rng = spot_rng_at(w->seed, SPOT_RNG_GRID, (uint32_t)task, (uint32_t)grid + 1);
    const int first = w->pictures, pools = 2 * w->r->sources + 1;
    spot_grid_picture like = { .task = task, .grid = grid };
    pool p[FOLDERS] = { 0 };
    spot_status s;

    snprintf(like.label, sizeof like.label, "%s", task == SPOT_TASK_SHIFT ? w->r->cfg->shift[label].name
                                                                           : w->r->unit[0].class_name[label]);
    for (char *at = like.label; task == SPOT_TASK_LABEL && *at; at++)
        if (*at == '_') *at = ' ';
    s = fill_pools(w, p, task, label);
    if (s == SPOT_OK) s = draw_pools(w, p, pools, &like, &rng);
    if (s == SPOT_OK) mix(w, first, &rng);
    if (s == SPOT_OK && w->pictures > first) s = name_grid(w, first);
    for (int k = 0; k < pools; k++) free(p[k].of);
    return s;
}

/* The labels of a task in random order, again from the first where there are more grids. */
static spot_status choose_task(grids_work *w, int task, int grids)
{
    const int labels = task == SPOT_TASK_SHIFT ? w->r->cfg->shifts : w->r->unit[0].classes;
    spot_rng rng = spot_rng_at(w->seed, SPOT_RNG_GRID, (uint32_t)task, 0);
    uint32_t *order = malloc((size_t)labels * sizeof *order);
    spot_status s = order ? SPOT_OK : spot_fail(w->c, SPOT_NOMEM, "no memory for the order of %d labels", labels);

    if (s == SPOT_OK) spot_rng_shuffle(&rng, order, (uint32_t)labels);
    for (int g = 0; g < grids && s == SPOT_OK; g++) s = choose_grid(w, task, g, (int)order[g % labels]);
    free(order);
    return s;
}

/* ---- files ---- */

static bool write_key(FILE *f, const void *user)
{
    const grids_work *w = user;
    const spot_shifts_config *cfg = w->r->cfg;

    fputs("grid,task,label,place,set,source,shift,path,weight\n", f);
    for (int i = 0; i < w->pictures; i++) {
        const spot_grid_picture *p = &w->picture[i];
        fprintf(f, "%s,%s,", p->name, spot_task_names[p->task]);
        spot_csv_field(f, p->label);
        fprintf(f, ",%d,%s,", p->place, p->shift < 0 ? "real" : p->kept ? "kept" : "dropped");
        if (p->source >= 0 && cfg->sources) spot_csv_field(f, cfg->source[p->source].name);
        fputc(',', f);
        if (p->shift >= 0) spot_csv_field(f, cfg->shift[p->shift].name);
        fputc(',', f);
        spot_csv_field(f, p->path);
        fprintf(f, ",%.17g\n", p->weight);
    }
    return !ferror(f);
}

static bool write_form(FILE *f, const void *user)
{
    const grids_work *w = user;

    fputs("rater,grid,place,selected\n", f);
    for (int i = 0; i < w->pictures; i++) fprintf(f, ",%s,%d,\n", w->picture[i].name, w->picture[i].place);
    return !ferror(f);
}

static spot_status write_grids(grids_work *w)
{
    char path[1300];

    snprintf(path, sizeof path, "%s/grids", w->dir);
    SPOT_TRY(spot_folder_make(w->c, path));
    for (int i = 0, n; i < w->pictures; i += n) {
        for (n = 1; i + n < w->pictures && !strcmp(w->picture[i + n].name, w->picture[i].name); n++) continue;
        snprintf(path, sizeof path, "%s/grids/%s.png", w->dir, w->picture[i].name);
        SPOT_TRY(spot_grid_draw(w->c, path, w->r->cfg, w->picture + i, w->unit + i, n));
        spot_tell(w->c, "grids", -1, i + n, w->pictures, "");
        SPOT_TRY(spot_check_stop(w->c));
    }
    snprintf(path, sizeof path, "%s/grids/answers.csv", w->dir);
    SPOT_TRY(spot_file_fill(w->c, path, write_form, w));
    snprintf(path, sizeof path, "%s/grids/key.csv", w->dir);
    return spot_file_fill(w->c, path, write_key, w);
}

spot_status spot_shifts_grids(spot_ctx *c, const spot_shifts_results *r, const char *dir, int grids)
{
    grids_work w = { .c = c, .r = r, .dir = dir, .seed = r->cfg->evaluation.rule.seed };
    spot_status s = SPOT_OK;

    if (grids < 1 || grids > 1000) return spot_fail(c, SPOT_INVALID, "%d grids of each task; 1 to 1000 are possible", grids);
    w.file = calloc((size_t)r->units, sizeof *w.file);
    if (!w.file) return spot_fail(c, SPOT_NOMEM, "no memory for the pictures of %d folders", r->units);
    for (int u = 0; u < r->units && s == SPOT_OK; u++)
        if (r->unit[u].shift != -1) s = spot_shift_pictures_read(c, &w.file[u], dir, &r->unit[u]);
    for (int t = 0; t < SPOT_TASKS && s == SPOT_OK; t++) s = choose_task(&w, t, grids);
    if (s == SPOT_OK) s = write_grids(&w);
    close_work(&w);
    return s;
}
