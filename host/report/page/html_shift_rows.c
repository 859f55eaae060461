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

    out->reading = w->cfg->data.reading;
    return spot_picture_read(c, out, spot_shift_picture_file(path, sizeof path, w->cfg, w->unit[row], w->name[row]));
}

spot_status spot_shift_rows_write(spot_shift_rows *w)
{
    const spot_picture_source from = { .rows = w->rows, .read = read_row, .user = w };
    spot_wanted wanted;
    spot_status s = spot_wanted_open(w->p->c, &wanted, w->rows);

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
    free(w->name), free(w->unit);
}
