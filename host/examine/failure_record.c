/* failure_record.c - what a run records of failures while a model is open: pictures, renders along the factors, random renders
 * for the maps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "examine/failure_parts.h"
#include "formats/png.h"
#include "formats/safetensors.h"
#include "spotter/rng.h"
#include "store/store.h"

enum { MAP = 1 << 24, GAP = 2 };       /* index of an object's first random render of a map; pixels between two pictures */
enum { FRESH = 0 };                    /* index of fresh renders; those of `robust` have the points of a curve, above 0 */

static const double APART = 0.05;      /* of a range, between two pictures */

void spot_failure_map_path(char *path, size_t size, const char *dir, int unit)
{
    snprintf(path, size, "%s/maps/%03d/unit-%06d.safetensors", dir, unit / SPOT_ECS_A_FOLDER, unit);
}

void spot_failure_scan_path(char *path, size_t size, const char *dir, int unit)
{
    snprintf(path, size, "%s/searches/%03d/unit-%06d.scan.safetensors", dir, unit / SPOT_ECS_A_FOLDER, unit);
}

void spot_failure_strip_path(char *path, size_t size, const char *dir, int unit)
{
    snprintf(path, size, "%s/searches/%03d/unit-%06d.png", dir, unit / SPOT_ECS_A_FOLDER, unit);
}

static bool wants_scan(const spot_examine_config *cfg, const spot_examine_unit *u)
{
    return cfg->maps.scans == SPOT_SCANS_ALL || (cfg->maps.scans == SPOT_SCANS_FIRST && !u->examiner && !u->seed);
}

/* The map of an object comes with its first search, so that one shard draws it. */
static bool wants_map(const spot_examine_config *cfg, const spot_examine_unit *u)
{
    return cfg->maps.renders && !u->examiner && !u->seed;
}

spot_failure_spent spot_failure_renders(const spot_examine_config *cfg, int dims)
{
    const double objects = (double)cfg->models * spot_examine_objects_of_a_model(cfg), scan = (double)dims * SPOT_SCAN_STEPS;
    const double searches = cfg->maps.scans == SPOT_SCANS_ALL ? (double)cfg->examiners * cfg->search.seeds
                          : cfg->maps.scans == SPOT_SCANS_FIRST;

    return (spot_failure_spent){ objects * cfg->maps.renders, objects * searches * scan,
                                 objects * cfg->examiners * cfg->search.seeds * cfg->search.perturbed };
}

spot_failure_unit_spent spot_failure_unit_renders(const spot_examine_config *cfg, const spot_examine_unit *u, int dims)
{
    return (spot_failure_unit_spent){ SPOT_STRIP_PICTURES, cfg->search.perturbed,
                                      wants_scan(cfg, u) ? (double)dims * SPOT_SCAN_STEPS : 0,
                                      wants_map(cfg, u) ? cfg->maps.renders : 0 };
}

/* ---- pictures ---- */

/* The greatest difference in a factor, in shares of its range. */
static double distance(const double *a, const double *b, const spot_factor_space *s)
{
    double most = 0;

    for (int d = 0; d < s->dims; d++) {
        const double gap = fabs(a[d] - b[d]);
        most = fmax(most, s->turns[d] ? fmin(gap, 1 - gap) : gap);
    }
    return most;
}

int spot_failure_worst(int *row, int most, const spot_examine_history *h, const spot_factor_space *s, int mode)
{
    const size_t dims = (size_t)h->dims;
    int n = 0;

    for (int best = 0; n < most && best >= 0;) {
        best = -1;
        for (int i = 0; i < h->renders; i++) {
            bool apart = h->valid[i];
            if (best >= 0 && (mode == SPOT_MODE_STRENGTH ? h->p[i] <= h->p[best] : h->p[i] >= h->p[best])) continue;
            for (int k = 0; k < n && apart; k++)
                apart = distance(h->at + (size_t)i * dims, h->at + (size_t)row[k] * dims, s) >= APART;
            if (apart) best = i;
        }
        if (best >= 0) row[n++] = best;
    }
    return n;
}

static spot_status write_strip(spot_ctx *c, const char *path, const uint8_t *rgb, int n, int size)
{
    const size_t line = 3 * (size_t)size, gap = 3 * GAP, wide = (size_t)n * line + (size_t)(n - 1) * gap;
    uint8_t *strip = malloc(wide * (size_t)size);
    unsigned char *png = NULL;
    size_t bytes = 0;
    spot_status s;

    if (!strip) return spot_fail(c, SPOT_NOMEM, "no memory for a picture of %d renders", n);
    memset(strip, 255, wide * (size_t)size);
    for (int i = 0; i < n; i++) {
        uint8_t *to = strip + (size_t)i * (line + gap);
        for (int y = 0; y < size; y++, to += wide, rgb += line) memcpy(to, rgb, line);
    }
    s = spot_png_encode(c, &png, &bytes, strip, (int)(wide / 3), size);
    if (s == SPOT_OK) s = spot_file_write(c, path, png, bytes);
    free(png), free(strip);
    return s;
}

static spot_status record_strip(spot_ctx *c, spot_examine_result *r, const spot_examine_group *g,
                                const spot_examine_problem *p)
{
    const int size = g->cfg->render.size;
    const size_t square = 3 * (size_t)size * (size_t)size;
    spot_examine_shot shot[SPOT_STRIP_PICTURES];
    spot_examine_seen seen[SPOT_STRIP_PICTURES];
    int row[SPOT_STRIP_PICTURES - 1];
    const int n = spot_failure_worst(row, SPOT_STRIP_PICTURES - 1, &p->history, g->space, g->cfg->search.mode);
    char path[SPOT_EXAMINE_PATH];
    uint8_t *rgb;

    shot[0] = (spot_examine_shot){ p->entry, p->number,
                                   spot_examine_chance(g->space, &p->fixed, g->cfg->search.seed, p->number, r->usual) };
    for (int k = 0; k < n; k++) {
        shot[k + 1] = (spot_examine_shot){ p->entry, p->number, p->fixed };
        spot_factor_space_place(&shot[k + 1].at, g->space, p->history.at + (size_t)row[k] * (size_t)p->history.dims);
    }
    SPOT_TRY(spot_examine_look(c, g->look, shot, n + 1, seen));
    r->usual_p = seen[0].p;
    rgb = malloc((size_t)(n + 1) * square);
    if (!rgb) return spot_fail(c, SPOT_NOMEM, "no memory for %d renders", n + 1);
    spot_status s = spot_device_copy(c, rgb, g->look->drawer.rgb, (size_t)(n + 1) * square);
    spot_failure_strip_path(path, sizeof path, g->dir, p->unit);
    if (s == SPOT_OK) s = write_strip(c, path, rgb, n + 1, size);
    free(rgb);
    return s;
}

/* ---- along the factors ---- */

/* Renders that are looked at together, as a search's history has them. */
typedef struct { spot_examine_history h; spot_examine_shot *shot; spot_examine_seen *seen; } looks;

static spot_status open_looks(spot_ctx *c, looks *k, const spot_examine_group *g, const spot_examine_problem *p, int n)
{
    k->shot = malloc((size_t)n * sizeof *k->shot);
    k->seen = malloc((size_t)n * sizeof *k->seen);
    SPOT_TRY(spot_examine_history_take(c, &k->h, n, g->space->dims));
    k->h.fixed = p->fixed;
    return k->shot && k->seen ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d renders", n);
}

static void close_looks(looks *k)
{
    spot_examine_history_free(&k->h);
    free(k->shot), free(k->seen);
}

static spot_status look_at_all(spot_ctx *c, looks *k, const spot_examine_group *g)
{
    SPOT_TRY(spot_examine_look(c, g->look, k->shot, k->h.renders, k->seen));
    for (int i = 0; i < k->h.renders; i++)
        k->h.p[i] = k->seen[i].p, k->h.valid[i] = k->seen[i].valid, k->h.answer[i] = k->seen[i].answer;
    return SPOT_OK;
}

static spot_status record_scan(spot_ctx *c, spot_examine_result *r, const spot_examine_group *g, const spot_examine_problem *p)
{
    const int dims = g->space->dims;
    const double *from = p->history.at + (size_t)p->lowest * (size_t)dims;
    const spot_examine_progress none = { .key = "scan" };
    char path[SPOT_EXAMINE_PATH];
    looks k = { .shot = NULL };
    spot_status s = open_looks(c, &k, g, p, dims * SPOT_SCAN_STEPS);

    for (int i = 0; s == SPOT_OK && i < k.h.renders; i++) {
        double *x = k.h.at + (size_t)i * (size_t)dims;
        memcpy(x, from, (size_t)dims * sizeof *x);
        x[i / SPOT_SCAN_STEPS] = (double)(i % SPOT_SCAN_STEPS) / (SPOT_SCAN_STEPS - 1);
        k.shot[i] = (spot_examine_shot){ p->entry, p->number, p->fixed };
        spot_factor_space_place(&k.shot[i].at, g->space, x);
    }
    spot_failure_scan_path(path, sizeof path, g->dir, p->unit);
    if (s == SPOT_OK) s = look_at_all(c, &k, g);
    if (s == SPOT_OK) s = spot_examine_history_save(c, &k.h, k.h.renders, &none, path);
    r->scanned = k.h.renders;
    close_looks(&k);
    return s;
}

/* ---- fresh renders ---- */

/* Looks around the lowest p once more. Of an object's searches the one whose test around that point had the lowest mean is
 * judged; a choice among means prefers those that are low by chance, so it is judged by other renders. */
static spot_status record_fresh(spot_ctx *c, spot_examine_result *r, const spot_examine_group *g, const spot_examine_problem *p)
{
    const spot_examine_search *how = &g->cfg->search;
    const double *from = p->history.at + (size_t)p->lowest * (size_t)g->space->dims;
    spot_rng rng = spot_rng_at(g->seed, SPOT_RNG_PERTURB, p->number, FRESH);
    looks k = { .shot = NULL };
    double sum = 0;

    r->fresh = NAN;
    if (!how->perturbed) return SPOT_OK;
    spot_status s = open_looks(c, &k, g, p, how->perturbed);
    for (int i = 0; s == SPOT_OK && i < how->perturbed; i++) {
        double x[SPOT_FACTORS];
        spot_examine_near(x, g->space, from, how->perturb, &rng);
        k.shot[i] = (spot_examine_shot){ p->entry, p->number, p->fixed };
        spot_factor_space_place(&k.shot[i].at, g->space, x);
    }
    if (s == SPOT_OK) s = look_at_all(c, &k, g);
    for (int i = 0; s == SPOT_OK && i < how->perturbed; i++)
        if (k.seen[i].valid) sum += k.seen[i].p, r->fresh_valid++;
    if (r->fresh_valid) r->fresh = sum / r->fresh_valid;
    close_looks(&k);
    return s;
}

/* ---- maps ---- */

static spot_status record_map(spot_ctx *c, spot_examine_result *r, const spot_examine_group *g, const spot_examine_problem *p)
{
    const int dims = g->space->dims;
    const spot_examine_progress none = { .key = "map" };
    char path[SPOT_EXAMINE_PATH];
    looks k = { .shot = NULL };
    spot_status s = open_looks(c, &k, g, p, g->cfg->maps.renders);

    for (int i = 0; s == SPOT_OK && i < k.h.renders; i++) {
        const spot_conditions at = spot_examine_chance(g->space, &p->fixed, g->cfg->search.seed, p->number, MAP + i);
        k.shot[i] = (spot_examine_shot){ p->entry, p->number, at };
        spot_factor_space_point(k.h.at + (size_t)i * (size_t)dims, g->space, &at);
    }
    spot_failure_map_path(path, sizeof path, g->dir, p->unit);
    if (s == SPOT_OK) s = look_at_all(c, &k, g);
    if (s == SPOT_OK) s = spot_examine_history_save(c, &k.h, k.h.renders, &none, path);
    r->mapped = k.h.renders;
    close_looks(&k);
    return s;
}

spot_status spot_failure_record(spot_ctx *c, spot_examine_result *r, spot_examine_group *g, const spot_examine_problem *p)
{
    const spot_examine_unit u = spot_examine_unit_of(g->cfg, p->unit);
    const spot_failure_unit_spent all = spot_failure_unit_renders(g->cfg, &u, g->space->dims);

    SPOT_TRY(record_strip(c, r, g, p));
    SPOT_TRY(record_fresh(c, r, g, p));
    spot_examine_spend(c, g, all.strip + all.fresh);
    if (wants_scan(g->cfg, &u)) SPOT_TRY(record_scan(c, r, g, p));
    if (wants_map(g->cfg, &u)) SPOT_TRY(record_map(c, r, g, p));
    spot_examine_spend(c, g, all.scan + all.map);
    return SPOT_OK;
}
