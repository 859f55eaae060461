/* shifts_write.c - the files and the terminal's text of the results of a study of shifts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/columns.h"
#include "shifts/shift_result.h"
#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"

static spot_status make_document(spot_ctx *c, spot_text *out, const spot_shifts_results *r, const char *key,
                                 const char *indent)
{
    spot_shifts_account a;
    spot_status s = spot_shifts_tell(c, &a, r);

    if (s == SPOT_OK)
        s = spot_result_document(c, out, &(spot_result_head){ key, SPOT_SHIFT_NUMBERS }, spot_shifts_parts, &a, indent);
    spot_shifts_account_close(&a);
    return s;
}

spot_status spot_shifts_json(spot_ctx *c, char **json, size_t *n, const spot_shifts_results *r)
{
    spot_text out = { 0 };
    char key[33];

    spot_key_text(key, spot_shifts_key(r->cfg));
    SPOT_TRY(make_document(c, &out, r, key, NULL));
    *json = out.bytes, *n = out.used;
    return SPOT_OK;
}

/* Whether pictures are compared with real ones. */
static bool covers(const spot_shifts_results *r) { return r->unit[r->units - 1].covers; }

static spot_status write_files(spot_ctx *c, const spot_shifts_results *r, const char *dir, const char *key)
{
    char path[1200];
    spot_text text = { 0 };
    spot_status s;

    snprintf(path, sizeof path, "%s/shifts.csv", dir);
    SPOT_TRY(spot_result_csv(c, path, &spot_shifts_lines, r));
    snprintf(path, sizeof path, "%s/coverage.csv", dir);
    if (covers(r)) SPOT_TRY(spot_result_csv(c, path, &spot_shifts_covers, r));
    snprintf(path, sizeof path, "%s/shifts.json", dir);
    s = make_document(c, &text, r, key, " ");
    if (s == SPOT_OK) s = spot_result_write(c, path, &text);
    spot_text_free(&text);
    return s;
}

spot_status spot_shifts_write(spot_ctx *c, const spot_study *y, spot_shifts_results *r, const char *dir, const char *key)
{
    spot_status s = spot_shifts_collect(c, y, r, dir);

    if (s == SPOT_OK) return write_files(c, r, dir, key);
    if (!r->missing) return s;
    spot_forget(c);
    return SPOT_OK;
}

/* ---- the terminal ---- */

/* How far impacts and slopes of a planted world are from the truth. */
typedef struct { const spot_shifts_results *r; spot_plant_error e[SPOT_MAX_SOURCES][SPOT_SHIFT_SETS]; } errors;
typedef struct { const char *source, *set; spot_plant_error e; } error_row;

static long count_errors(const void *root) { return ((const errors *)root)->r->sources * SPOT_SHIFT_SETS; }

static bool get_error(void *out, const void *root, long i)
{
    static const char *const set[SPOT_SHIFT_SETS] = { "unfiltered", "filtered", "by the oracle" };
    const errors *of = root;
    const int v = (int)i / SPOT_SHIFT_SETS, k = (int)i % SPOT_SHIFT_SETS;

    *(error_row *)out = (error_row){ of->r->cfg->source[v].name, set[k], of->e[v][k] };
    return of->e[v][k].impacts;
}

static const spot_quantity error[] = {
#define S(name, field, title_) SPOT_QUANTITY(name, error_row, field, .title = title_)
    S("source", source, "source"), S("set", set, "pictures"), S("impact", e.impact, "impact"), S("slope", e.slope, "slope"),
#undef S
    SPOT_QUANTITIES_END
};

static const spot_quantity planted = SPOT_ROWS("errors", SPOT_AS_LIST, error, error_row, count_errors, get_error,
                                               .title = "Planted world: mean error over the shifts");

static spot_status show_planted(spot_ctx *c, FILE *f, const spot_shifts_results *r, const char *dir)
{
    errors of = { .r = r };

    SPOT_TRY(spot_plant_compare(c, of.e, r, dir));
    spot_result_print(f, SPOT_TABLE_TEXT, &planted, &of);
    return SPOT_OK;
}

spot_status spot_shifts_show(spot_ctx *c, FILE *f, const spot_shifts_results *r, const char *dir)
{
    spot_shifts_account a;
    spot_status s = spot_shifts_tell(c, &a, r);

    if (s == SPOT_OK) {
        spot_result_print(f, SPOT_TABLE_TEXT, &spot_shifts_table, r);
        if (r->cfg->plant.pictures && r->cfg->models && r->cfg->models == r->cfg->plant.models)
            s = show_planted(c, f, r, dir);
        fputc('\n', f);
        for (int v = 0; v < r->sources; v++) {
            if (r->sources > 1) spot_note(f, false, "%s:", r->cfg->source[v].name);
            spot_words_print(f, &a.source[v]);
        }
        spot_words_print(f, &a.notes);
        fprintf(f, "in %s: shifts.json, shifts.csv%s; brackets: 95 %%\n", dir, covers(r) ? ", coverage.csv" : "");
    }
    spot_shifts_account_close(&a);
    return s;
}
