/* html_examine_objects.c - the objects of an examination: their attribution, the numbers of every search, pictures of
 * failures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_examine.h"

const spot_examine_result *spot_examine_page_unit(const spot_examine_page *w, int model, int examiner, int seed, int object)
{
    const spot_examine_config *cfg = w->r->cfg;

    return &w->r->unit[((model * cfg->examiners + examiner) * cfg->search.seeds + seed) * w->r->objects + object];
}

const spot_examine_point *spot_examine_page_last(const spot_examine_result *u) { return &u->point[u->points - 1]; }

int spot_examine_page_seed(const spot_examine_page *w, int model, int examiner, int object)
{
    const double sign = w->r->cfg->search.mode == SPOT_MODE_STRENGTH ? -1 : 1;
    double least = INFINITY;
    int best = 0;

    for (int s = 0; s < w->r->cfg->search.seeds; s++) {
        const spot_examine_point *p = spot_examine_page_last(spot_examine_page_unit(w, model, examiner, s, object));
        const double v = sign * (isfinite(p->robust) ? p->robust : p->lowest);
        if (v < least) least = v, best = s;
    }
    return best;
}

/* ---- objects ---- */

int spot_examine_page_object(const spot_examine_page *w, int u)
{
    const int searches = w->r->cfg->examiners * w->r->cfg->search.seeds;

    for (int m = 0; m < w->r->cfg->models; m++)
        for (int i = 0; i < w->r->objects; i++) {
            const int k = m * searches * w->r->objects + i;        /* the other searches of a model have its objects again */
            if (!strcmp(w->r->unit[k].object, w->r->unit[u].object)) return k;
        }
    return u;
}

static void write_objects(spot_examine_page *w)
{
    spot_page *p = w->p;

    spot_json_array(p->at, "objects", 0, 0);
    for (int u = 0; u < w->r->units; u++) {
        const spot_examine_result *v = &w->r->unit[u];
        if (spot_examine_page_object(w, u) != u) continue;
        spot_json_object(p->at, NULL);
        spot_json_put_int(p->at, "unit", u);
        spot_page_text(p, "id", v->object);
        spot_page_text(p, "title", v->title);
        spot_json_put_int(p->at, "cls", v->cls);
        spot_page_text(p, "licence", v->licence);
        spot_page_text(p, "author", v->author);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
}

/* ---- searches ---- */

/* One object of a model under an examiner: means over the seeds; NaN: no search has it. */
static double over_seeds(const spot_examine_page *w, int model, int examiner, int object, size_t at)
{
    double sum = 0;
    int n = 0;

    for (int s = 0; s < w->r->cfg->search.seeds; s++) {
        const char *last = (const char *)spot_examine_page_last(spot_examine_page_unit(w, model, examiner, s, object));
        const double v = *(const double *)(const void *)(last + at);
        if (isfinite(v)) sum += v, n++;
    }
    return n ? sum / n : NAN;
}

static const spot_failure_strip *strip_of(const spot_examine_page *w, int unit)
{
    for (int i = 0; w->mapped && i < w->failures.strips; i++)
        if (w->failures.strip[i].unit == unit) return &w->failures.strip[i];
    return NULL;
}

static const spot_failure_scan *scan_of(const spot_examine_page *w, int unit)
{
    for (int i = 0; w->mapped && i < w->failures.scans; i++)
        if (w->failures.scan[i].unit == unit) return &w->failures.scan[i];
    return NULL;
}

/* The search with a scan of this object, by any seed; -1: none. */
static int scanned(const spot_examine_page *w, int model, int examiner, int object)
{
    for (int s = 0; s < w->r->cfg->search.seeds; s++) {
        const spot_failure_scan *scan = scan_of(w, spot_examine_page_unit(w, model, examiner, s, object)->index);
        if (scan) return (int)(scan - w->failures.scan);
    }
    return -1;
}

static void write_conditions(spot_page *p, const char *key, const double at[SPOT_FACTORS])
{
    spot_json_array(p->at, key, 0, 0);
    for (int f = 0; f < SPOT_FACTORS; f++) spot_page_real(p, NULL, at[f]);
    spot_json_end(p->at);
}

static void write_strip(spot_page *p, const spot_failures *f, const spot_failure_strip *strip)
{
    spot_json_put_int(p->at, "row", (int)(strip - f->strip) * SPOT_STRIP_PICTURES);
    spot_json_array(p->at, "strip", 0, 0);
    for (int k = 0; k < strip->pictures; k++) {
        spot_json_object(p->at, NULL);
        spot_page_real(p, "p", strip->picture[k].p);
        write_conditions(p, "at", strip->picture[k].at);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
}

static void write_unit(spot_examine_page *w, int model, int examiner, int object)
{
    const int seed = spot_examine_page_seed(w, model, examiner, object);
    const spot_examine_result *u = spot_examine_page_unit(w, model, examiner, seed, object);
    const spot_failure_strip *strip = strip_of(w, u->index);
    const int scan = scanned(w, model, examiner, object);
    spot_page *p = w->p;

    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "model", model);
    spot_json_put_int(p->at, "examiner", examiner);
    spot_json_put_int(p->at, "object", spot_examine_page_object(w, u->index));
    spot_json_put_int(p->at, "seed", seed);
    spot_page_real(p, "start", u->start);
    if (u->learned >= 0) spot_json_put_int(p->at, "learned", u->learned);
#define MEAN(field) spot_page_real(p, #field, over_seeds(w, model, examiner, object, offsetof(spot_examine_point, field)))
    MEAN(mean), MEAN(lowest), MEAN(lowest_valid), MEAN(robust), MEAN(valid), MEAN(inside);
#undef MEAN
    write_conditions(p, "at", u->lowest_at);
    if (strip) write_strip(p, &w->failures, strip);
    if (scan >= 0) spot_json_put_int(p->at, "scan", scan);
    spot_json_end(p->at);
}

void spot_examine_page_objects(spot_examine_page *w)
{
    write_objects(w);
    spot_json_array(w->p->at, "units", 0, 0);
    for (int m = 0; m < w->r->cfg->models; m++)
        for (int e = 0; e < w->r->cfg->examiners; e++)
            for (int i = 0; i < w->r->objects; i++) write_unit(w, m, e, i);
    spot_json_end(w->p->at);
}

/* ---- pictures ---- */

/* A row of the page is one picture of a strip. */
static bool has_picture(void *user, int row)
{
    const spot_examine_page *w = user;

    return row % SPOT_STRIP_PICTURES < w->failures.strip[row / SPOT_STRIP_PICTURES].pictures;
}

/* Reads the strip and takes one of its squares, between which it has gaps of equal width. */
static spot_status read_picture(spot_ctx *c, void *user, int row, spot_picture *out)
{
    const spot_examine_page *w = user;
    const spot_failure_strip *strip = &w->failures.strip[row / SPOT_STRIP_PICTURES];
    const int k = row % SPOT_STRIP_PICTURES;
    char path[1300];

    snprintf(path, sizeof path, "%s/%s", w->dir, strip->path);
    SPOT_TRY(spot_picture_read(c, out, path));
    const int side = out->height, width = out->width, n = strip->pictures;
    if (width / n < side)
        return spot_fail(c, SPOT_INPUT, "%s has %d x %d pixels, not %d pictures", path, width, side, n);
    const int from = n > 1 ? k * (side + (width - n * side) / (n - 1)) : 0;
    for (int y = 0; y < side; y++)
        memmove(out->rgb + (size_t)y * (size_t)side * 3, out->rgb + ((size_t)y * (size_t)width + (size_t)from) * 3,
                (size_t)side * 3);
    out->width = side;
    return SPOT_OK;
}

static void want_strip(spot_examine_page *w, spot_wanted *wanted, int model, int examiner, int object)
{
    const int seed = spot_examine_page_seed(w, model, examiner, object);
    const spot_failure_strip *strip = strip_of(w, spot_examine_page_unit(w, model, examiner, seed, object)->index);

    for (int k = 0; strip && k < strip->pictures; k++)
        spot_wanted_add(wanted, (int)(strip - w->failures.strip) * SPOT_STRIP_PICTURES + k);
}

spot_status spot_examine_page_pictures(spot_examine_page *w)
{
    const int rows = w->mapped ? w->failures.strips * SPOT_STRIP_PICTURES : 0;
    const spot_picture_source from = { .rows = rows, .has = has_picture, .read = read_picture, .user = w };
    spot_wanted wanted;
    spot_status s;

    if (!rows) return SPOT_OK;
    s = spot_wanted_open(w->c, &wanted, rows);
    for (int e = 0; s == SPOT_OK && e < w->r->cfg->examiners; e++)
        for (int m = 0; m < w->r->cfg->models; m++) {
            for (int i = 0; i < w->r->objects; i++) want_strip(w, &wanted, m, e, i);
            if (!e && !m) wanted.strips = wanted.n;
        }
    if (s == SPOT_OK) s = spot_page_pictures(w->p, &from, &wanted);
    spot_wanted_close(&wanted);
    return s;
}
