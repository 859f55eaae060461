/* examine_write.c - the files and the terminal's text of an examination's results. */
#include <stdio.h>
#include <stdlib.h>

#include "examine/examine_study.h"
#include "examine/failure_parts.h"

enum { MOST_FINDINGS = 5 };            /* of a model that are printed */

static spot_status make_document(spot_ctx *c, spot_text *out, const spot_examine_results *r, const spot_failures *f,
                                 const char *key, const char *indent)
{
    spot_examine_account a;
    spot_status s = spot_examine_tell(c, &a, r, f);

    if (s == SPOT_OK)
        s = spot_result_document(c, out, &(spot_result_head){ key, SPOT_EXAMINE_NUMBERS }, spot_examine_parts, &a, indent);
    spot_examine_account_close(&a);
    return s;
}

spot_status spot_examine_json(spot_ctx *c, char **json, size_t *n, const spot_examine_results *r, const spot_failures *f)
{
    spot_text out = { 0 };
    char key[33];

    spot_key_text(key, spot_examine_key(r->cfg));
    SPOT_TRY(make_document(c, &out, r, f, key, NULL));
    *json = out.bytes, *n = out.used;
    return SPOT_OK;
}

spot_status spot_failures_json(spot_ctx *c, char **json, size_t *n, const spot_failures *f, const spot_examine_results *r)
{
    spot_text out = { 0 };
    char key[33];

    spot_key_text(key, spot_examine_key(r->cfg));
    SPOT_TRY(spot_failures_document(c, &out, f, r, key));
    *json = out.bytes, *n = out.used;
    return SPOT_OK;
}

static spot_status write_files(spot_ctx *c, const spot_examine_results *r, spot_failures *f, const char *dir, const char *key)
{
    char path[SPOT_EXAMINE_PATH];
    spot_text text = { 0 };
    spot_status s;

    SPOT_TRY(spot_failures_write(c, f, r, dir, key));
    snprintf(path, sizeof path, "%s/examine.csv", dir);
    SPOT_TRY(spot_result_csv(c, path, &spot_examine_searches, r));
    snprintf(path, sizeof path, "%s/examine.json", dir);
    s = make_document(c, &text, r, f, key, " ");
    if (s == SPOT_OK) s = spot_result_write(c, path, &text);
    spot_text_free(&text);
    return s;
}

spot_status spot_examine_write(spot_ctx *c, const spot_study *y, spot_examine_results *r, spot_failures *f, const char *dir,
                               const char *key)
{
    spot_status s = spot_examine_collect(c, y, r, dir);

    *f = (spot_failures){ 0 };
    if (s == SPOT_OK) return write_files(c, r, f, dir, key);
    if (!r->missing) return s;
    spot_forget(c);
    return SPOT_OK;
}

spot_status spot_examine_show(spot_ctx *c, FILE *f, const spot_examine_results *r, const spot_failures *failures,
                              const char *dir)
{
    spot_examine_account a;
    spot_status s = spot_examine_tell(c, &a, r, failures);

    if (s == SPOT_OK) {
        spot_words *w = &a.notes;
        spot_result_print(f, SPOT_TABLE_TEXT, spot_examine_curves(r), r);
        fputc('\n', f);
        for (int m = 0; m < r->cfg->models; m++) spot_examine_tell_findings(w, r, failures, m, MOST_FINDINGS);
        spot_words_print(f, &a.summary), spot_words_print(f, w);
        fprintf(f, "in %s: examine.json, examine.csv, failures.json, searches, maps\n", dir);
        if (w->status) s = spot_fail(c, w->status, "no memory for the findings of %s", dir);
    }
    spot_examine_account_close(&a);
    return s;
}
