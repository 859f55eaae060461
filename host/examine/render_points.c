/* render_points.c - see render_points.h. */
#include "examine/render_points.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examine_draw.h"
#include "examine/examine_search.h"
#include "formats/csv_rows.h"
#include "formats/formats.h"

enum { MOST_STEPS = 1000000, MOST_ROWS = 10000000, COLUMNS = SPOT_FACTORS + 1 };

/* ---- "camera_azimuth=0:360:12, camera_roll=0, sun_energy=1:3" ---- */

/* "12" of the text's n bytes, without blanks around it. */
static bool take_number(double *v, const char *text, size_t n)
{
    while (n && *text == ' ') text++, n--;
    while (n && text[n - 1] == ' ') n--;
    return n && spot_number(v, text, n) && isfinite(*v);
}

/* "0:360:12" into the three numbers: steps 1 of a value, 0 of a range. */
static bool take_range(spot_renders_axis *a, const char *text, size_t n)
{
    const char *end = text + n, *first = memchr(text, ':', n);
    const char *second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
    double steps = first ? 0 : 1;

    if (!take_number(&a->least, text, first ? (size_t)(first - text) : n)) return false;
    a->most = a->least;
    if (first && !take_number(&a->most, first + 1, (size_t)((second ? second : end) - first - 1))) return false;
    if (second && !(take_number(&steps, second + 1, (size_t)(end - second - 1)) && steps >= 2 && steps <= MOST_STEPS
                    && steps == floor(steps) && a->least < a->most))
        return false;
    a->steps = (int)steps;
    return true;
}

static spot_status take_factor(spot_ctx *c, spot_renders_axis *a, const char *text, size_t n)
{
    const char *equal = memchr(text, '=', n);
    size_t letters = equal ? (size_t)(equal - text) : 0;
    char name[32] = "";

    while (letters && text[letters - 1] == ' ') letters--;
    if (letters && letters < sizeof name) memcpy(name, text, letters);
    a->factor = spot_factor_find(name);
    if (equal && a->factor >= 0 && take_range(a, equal + 1, (size_t)(text + n - equal - 1))) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{renders.factors} the factors have \"%.*s\"; each is FACTOR=VALUE, FACTOR=LEAST:MOST or "
                     "FACTOR=LEAST:MOST:STEPS, such as camera_azimuth=0:360:12, and `spotter help config examine` lists the "
                     "factors", (int)(n < 80 ? n : 80), text);
}

static spot_status take_factors(spot_ctx *c, spot_render_points *p, const char *text)
{
    spot_factor_range range[SPOT_FACTORS];
    spot_renders_axis a;
    int n = 0;

    for (size_t letters; *text; text += letters + (text[letters] == ',')) {
        text += strspn(text, " ");
        letters = strcspn(text, ",");
        SPOT_TRY(take_factor(c, &a, text, letters));
        if (n == SPOT_FACTORS)
            return spot_fail(c, SPOT_USAGE, "{renders.factors} there are %d factors, and more are given", SPOT_FACTORS);
        range[n++] = (spot_factor_range){ a.factor, a.least, a.most };
        if (a.steps > 1) p->axis[p->axes++] = a;
    }
    return spot_factor_ranges(c, &p->space, &p->fixed, range, n);
}

/* ---- the table ---- */

/* The columns of a table: the object's id, which it may lack, and the factors. */
static const char *const column[COLUMNS] = {
#define X(NAME, name, symbol, unit, least, most, turns) #name,
    SPOT_FACTOR_TABLE(X)
#undef X
    "object"
};

static spot_status take_row(spot_ctx *c, spot_renders_row *to, const spot_rows *t, const spot_examine_objects_list *o,
                            const char *file)
{
    spot_factor_range range[SPOT_FACTORS];
    spot_factor_space none;
    int n = 0;

    to->entry = spot_rows_has(t, SPOT_FACTORS) ? spot_examine_find(o, spot_rows_cell(t, SPOT_FACTORS)) : -1;
    if (spot_rows_has(t, SPOT_FACTORS) && to->entry < 0)
        return spot_fail(c, SPOT_INPUT, "{renders.table_object} %s line %" PRIu64 ": there is no object \"%.200s\"", file,
                         spot_rows_line(t), spot_rows_cell(t, SPOT_FACTORS));
    for (int f = 0; f < SPOT_FACTORS; f++) {
        double v;
        if (!spot_rows_has(t, f)) continue;
        if (!spot_rows_number(t, f, &v))
            return spot_fail(c, SPOT_INPUT, "{renders.table_number} %s line %" PRIu64 ": %s is \"%.80s\", and that is no "
                             "number", file, spot_rows_line(t), column[f], spot_rows_cell(t, f));
        range[n++] = (spot_factor_range){ f, v, v };
    }
    const spot_status s = spot_factor_ranges(c, &none, &to->at, range, n);
    if (s != SPOT_USAGE) return s;
    return spot_fail(c, SPOT_INPUT, "%s line %" PRIu64 ": %s", file, spot_rows_line(t), spot_take_message(c, s));
}

static spot_status take_rows(spot_ctx *c, spot_render_points *p, spot_rows *t, const spot_examine_objects_list *o)
{
    int room = 0, factors = 0;
    bool more = true;

    for (int f = 0; f < SPOT_FACTORS; f++) factors += spot_rows_has(t, f);
    if (!factors)
        return spot_fail(c, SPOT_INPUT, "{renders.table_columns} %s has no column of a factor, such as camera_azimuth",
                         p->file);
    for (;;) {
        SPOT_TRY(spot_rows_next(c, t, &more));
        if (!more) break;
        if (p->rows == room) {
            room = room ? 2 * room : 64;
            spot_renders_row *row = room <= 2 * MOST_ROWS ? realloc(p->row, (size_t)room * sizeof *row) : NULL;
            if (!row) return spot_fail(c, SPOT_NOMEM, "no memory for the %d rows of %s", room, p->file);
            p->row = row;
        }
        SPOT_TRY(take_row(c, &p->row[p->rows++], t, o, p->file));
    }
    if (!p->rows) return spot_fail(c, SPOT_INPUT, "{renders.table_empty} %s has no rows below its header", p->file);
    p->own = malloc((size_t)p->rows * sizeof *p->own);
    return p->own ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the %d rows of %s", p->rows, p->file);
}

static spot_status read_table(spot_ctx *c, spot_render_points *p, const spot_examine_objects_list *o)
{
    spot_rows *t;

    if (p->axes)
        return spot_fail(c, SPOT_USAGE, "{renders.table_and_grid} %s gives the points, and so does the grid of %s; leave one "
                         "out", p->file, spot_factor_label(p->axis[0].factor));
    SPOT_TRY(spot_rows_open_some(c, &t, p->file, column, COLUMNS, 0));
    const spot_status s = take_rows(c, p, t, o);
    spot_rows_close(t);
    return s;
}

/* ---- all ---- */

spot_status spot_render_points_open(spot_ctx *c, spot_render_points *p, const spot_examine_objects_list *o, const char *factors,
                                    const char *table)
{
    *p = (spot_render_points){ .file = table };
    if (factors[strspn(factors, " ")]) SPOT_TRY(take_factors(c, p, factors));
    else                               SPOT_TRY(spot_examine_space(c, &p->space, &p->fixed, o->cfg));
    return table[0] ? read_table(c, p, o) : SPOT_OK;
}

void spot_render_points_close(spot_render_points *p)
{
    free(p->row), free(p->own);
    *p = (spot_render_points){ 0 };
}

double spot_render_points_begin(spot_render_points *p, int entry)
{
    double n = 1;

    for (int k = 0; k < p->axes; k++) n *= p->axis[k].steps;
    if (!p->file[0]) return n;
    p->owns = 0;
    for (int k = 0; k < p->rows; k++)
        if (p->row[k].entry < 0 || p->row[k].entry == entry) p->own[p->owns++] = k;
    return p->owns;
}

/* Value k of an axis. The end of a full turn is its beginning, so it is left out. */
static double value_of(const spot_renders_axis *a, int k)
{
    const bool turns = !strcmp(spot_factor_unit(a->factor), "degrees") && a->most - a->least == 360;

    return a->least + (a->most - a->least) * k / (turns ? a->steps : a->steps - 1);
}

spot_conditions spot_render_points_at(const spot_render_points *p, const spot_examine_config *cfg, uint32_t object, int i,
                                      int number)
{
    const spot_conditions own = spot_examine_fixed(cfg, &p->space, &p->fixed, object);
    spot_conditions at = spot_examine_chance(&p->space, &own, cfg->search.seed, object, i);
    int point = i / number;

    if (p->file[0]) {
        const spot_renders_row *row = &p->row[p->own[point]];
        for (int f = 0; f < SPOT_FACTORS; f++)
            if (!isnan(row->at.value[f])) at.value[f] = row->at.value[f];
    }
    for (int k = p->axes - 1; k >= 0; point /= p->axis[k--].steps)
        at.value[p->axis[k].factor] = (float)value_of(&p->axis[k], point % p->axis[k].steps);
    return at;
}
