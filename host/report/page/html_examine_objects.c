/* html_examine_objects.c - pictures of the failures of an examination. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "report/page/html_examine.h"

/* The seed whose search found the lowest robust p of an object: its pictures are those of the page. */
static int best_unit(const spot_examine_page *w, int model, int examiner, int object)
{
    const spot_examine_config *cfg = w->r->cfg;
    const double sign = cfg->search.mode == SPOT_MODE_STRENGTH ? -1 : 1;
    const int first = (model * cfg->examiners + examiner) * cfg->search.seeds * w->r->objects + object;
    double least = INFINITY;
    int best = first;

    for (int s = 0; s < cfg->search.seeds; s++) {
        const spot_examine_result *u = &w->r->unit[first + s * w->r->objects];
        const spot_examine_point *p = &u->point[u->points - 1];
        const double v = sign * (isfinite(p->robust) ? p->robust : p->lowest);
        if (v < least) least = v, best = first + s * w->r->objects;
    }
    return best;
}

static const spot_failure_strip *strip_of(const spot_examine_page *w, int unit)
{
    for (int i = 0; i < w->failures.strips; i++)
        if (w->failures.strip[i].unit == unit) return &w->failures.strip[i];
    return NULL;
}

/* A row of the page is one picture of a strip. */
static bool has_picture(void *user, int row)
{
    const spot_examine_page *w = user;

    return row % SPOT_STRIP_PICTURES < w->failures.strip[row / SPOT_STRIP_PICTURES].pictures;
}

/* A stranger's run may have links to the reader's own pictures. */
static spot_status check_strip(spot_ctx *c, const spot_examine_page *w, const spot_failure_strip *strip)
{
    spot_list_folder of;
    spot_status s = spot_list_folder_open(c, &of, w->dir, false);

    if (s == SPOT_OK) s = spot_list_folder_check(c, &of, strip->unit, strip->path, NULL);
    spot_list_folder_close(&of);
    return s;
}

/* Reads the strip and takes one of its squares, between which it has gaps of equal width. */
static spot_status read_picture(spot_ctx *c, void *user, int row, spot_picture *out)
{
    const spot_examine_page *w = user;
    const spot_failure_strip *strip = &w->failures.strip[row / SPOT_STRIP_PICTURES];
    const int k = row % SPOT_STRIP_PICTURES;
    char path[1300];

    snprintf(path, sizeof path, "%s/%s", w->dir, strip->path);
    SPOT_TRY(check_strip(c, w, strip));
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
    const spot_failure_strip *strip = strip_of(w, best_unit(w, model, examiner, object));

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
