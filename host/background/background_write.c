/* background_write.c - the files and the terminal's text of a study's results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_study.h"
#include "spotter/zoo.h"

enum { FEW = 3 };              /* models that are shown with all their numbers */

static spot_status compute_ranks(spot_ctx *c, spot_background_results *r, const char *dir)
{
    if (!r->cfg->zoo.models || r->rank) return SPOT_OK;
    r->rank = calloc(SPOT_ZOO_RANKS, sizeof *r->rank);
    if (!r->rank) return spot_fail(c, SPOT_NOMEM, "no memory for the correlations of %s", dir);
    return spot_zoo_ranks(c, r->rank, &r->ranks, r, dir);
}

static spot_status make_document(spot_ctx *c, spot_text *out, const spot_background_results *r, const char *key,
                                 const char *indent)
{
    spot_background_account a;
    spot_status s = spot_background_tell(c, &a, r);

    if (s == SPOT_OK)
        s = spot_result_document(c, out, &(spot_result_head){ key, SPOT_BACKGROUND_NUMBERS }, spot_background_parts, &a,
                                 indent);
    spot_background_account_close(&a);
    return s;
}

spot_status spot_background_json(spot_ctx *c, char **json, size_t *n, spot_background_results *r, const char *dir)
{
    spot_text out = { 0 };
    char key[33];

    spot_key_text(key, spot_background_key(r->cfg));
    SPOT_TRY(compute_ranks(c, r, dir));
    SPOT_TRY(make_document(c, &out, r, key, NULL));
    *json = out.bytes, *n = out.used;
    return SPOT_OK;
}

static spot_status write_files(spot_ctx *c, spot_background_results *r, const char *dir, const char *key)
{
    char path[SPOT_BACKGROUND_PATH];
    spot_text text = { 0 };
    spot_status s;

    SPOT_TRY(compute_ranks(c, r, dir));
    snprintf(path, sizeof path, "%s/background.csv", dir);
    SPOT_TRY(spot_result_csv(c, path, &spot_background_counts, r));
    snprintf(path, sizeof path, "%s/models.csv", dir);
    SPOT_TRY(spot_result_csv(c, path, &spot_background_models, r));
    snprintf(path, sizeof path, "%s/background.json", dir);
    s = make_document(c, &text, r, key, " ");
    if (s == SPOT_OK) s = spot_result_write(c, path, &text);
    spot_text_free(&text);
    return s;
}

spot_status spot_background_write(spot_ctx *c, const spot_study *y, spot_background_results *r, const char *dir,
                                  const char *key)
{
    spot_status s = spot_background_collect(c, y, r, dir);

    if (s == SPOT_OK) return write_files(c, r, dir, key);
    if (!r->missing) return s;
    spot_forget(c);
    return SPOT_OK;
}

spot_status spot_background_show(spot_ctx *c, FILE *f, spot_background_results *r, const char *dir)
{
    spot_background_account a;
    spot_status s = compute_ranks(c, r, dir);

    if (s == SPOT_OK) s = spot_background_tell(c, &a, r);
    else return s;
    if (s == SPOT_OK) {
        if (r->units <= FEW) spot_result_print_rows(f, &spot_background_models, r);
        else spot_result_print(f, SPOT_TABLE_TEXT, &spot_background_models, r);
        if (r->ranks) spot_result_print(f, SPOT_TABLE_TEXT, &spot_background_ranks, r);
        fputc('\n', f);
        spot_words_print(f, &a.summary), spot_words_print(f, &a.notes);
        fprintf(f, "in %s: background.json, background.csv, models.csv; brackets: 95 %%\n", dir);
    }
    spot_background_account_close(&a);
    return s;
}
