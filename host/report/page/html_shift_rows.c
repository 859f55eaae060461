/* html_shift_rows.c - see html_shifts.h. */
#include <stdlib.h>
#include <string.h>

#include "report/page/html_shifts.h"

int spot_shift_row_add(spot_shift_rows *w, int unit, const char *name)
{
    if (w->rows == w->room) {
        const int room = w->room ? 2 * w->room : 256;
        int *units = realloc(w->unit, (size_t)room * sizeof *units);
        char **names = units ? realloc(w->name, (size_t)room * sizeof *names) : NULL;
        if (units) w->unit = units;
        if (names) w->name = names, w->room = room;
        if (!names) return w->p->blocks.status = SPOT_NOMEM, -1;
    }
    w->unit[w->rows] = unit;
    w->name[w->rows] = malloc(strlen(name) + 1);
    if (!w->name[w->rows]) return w->p->blocks.status = SPOT_NOMEM, -1;
    strcpy(w->name[w->rows], name);
    return w->rows++;
}

static spot_status read_row(spot_ctx *c, void *user, int row, spot_picture *out)
{
    const spot_shift_rows *w = user;
    char path[1400];

    spot_shift_picture_file(path, sizeof path, w->r->cfg, w->unit[row], w->name[row]);
    if (w->other[w->unit[row]]) return spot_fail(c, SPOT_INPUT, "%s is not shown: its folder has changed", path);
    out->reading = w->r->cfg->data.reading;
    return spot_picture_read(c, out, path);
}

/* Fills w->other. The config may be a stranger's, and what lies in the folders that it names may be the reader's own. */
static spot_status compare_folders(spot_shift_rows *w)
{
    const int units = w->r->units;
    bool *asked = calloc((size_t)units + 1, sizeof *asked);
    spot_status s = SPOT_OK;

    w->other = calloc((size_t)units + 1, sizeof *w->other);
    if (!asked || !w->other) s = spot_fail(w->p->c, SPOT_NOMEM, "no memory for %d folders", units);
    for (int i = 0; i < w->rows && s == SPOT_OK && !w->trusted; i++) {
        const int unit = w->unit[i];
        bool same;
        if (asked[unit]) continue;
        asked[unit] = true;
        s = spot_shift_pictures_same(w->p->c, &same, w->r->cfg, &w->r->unit[unit]);
        w->other[unit] = s == SPOT_OK && !same;
        if (w->other[unit])
            spot_log(w->p->c, SPOT_LOG_WARN, "%s: the folder does not hold the pictures that the run saw, "
                     "so none of it is shown; --other-pictures shows what lies there now", w->r->unit[unit].name);
    }
    free(asked);
    return s;
}

spot_status spot_shift_rows_write(spot_shift_rows *w)
{
    const spot_picture_source from = { .rows = w->rows, .read = read_row, .user = w };
    spot_wanted wanted = { 0 };
    spot_status s = compare_folders(w);

    if (s == SPOT_OK) s = spot_wanted_open(w->p->c, &wanted, w->rows);

    spot_json_array(w->p->at, "names", 0, 0);
    for (int i = 0; i < w->rows; i++) spot_page_text(w->p, NULL, w->name[i]);
    spot_json_end(w->p->at);
    for (int i = 0; i < w->rows && s == SPOT_OK; i++) spot_wanted_add(&wanted, i);
    if (s == SPOT_OK) s = spot_page_pictures(w->p, &from, &wanted);
    spot_wanted_close(&wanted);
    return s;
}

void spot_shift_rows_close(spot_shift_rows *w)
{
    for (int i = 0; i < w->rows; i++) free(w->name[i]);
    free(w->name), free(w->unit), free(w->other);
}
