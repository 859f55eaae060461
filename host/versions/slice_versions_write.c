/* slice_versions_write.c - versions.json and versions.csv. */
#define _POSIX_C_SOURCE 200809L
#include "spotter/versions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "store/store.h"
#include "versions/versions_json.h"

enum { SCHEMA = 2, PATH = 1200 };

/* The schema before this one had the same file name, and may be replaced. */
static const char head_of_json[] = "{\n  \"schema\": 2,\n  \"before\": ", former_head[] = "{\n  \"schema\": 1,\n  \"before\": ";
static const char head_of_csv[] = "id,class,slice,verdict,compared,before,now\n";

static const char *const features[] = { "neutral", "version 1", "both" };       /* spot_version_features */

static const char *class_of(const spot_subject *s, int cls) { return cls < 0 ? NULL : s->class_name[cls]; }

/* ---- json ---- */

static void put_counts(spot_json *j, const spot_version_counts *k)
{
    spot_json_put_int(j, "compared", k->rows);
    spot_json_put_int(j, "wrong_before", k->wrong[0]);
    spot_json_put_int(j, "wrong_now", k->wrong[1]);
    spot_json_put_real(j, "before", k->before);
    spot_json_put_int(j, "lost", k->lost);
    spot_json_put_int(j, "gained", k->gained);
    if (k->groups) spot_json_put_int(j, "groups", k->groups);
    spot_json_put_real(j, "margin", k->margin);
    spot_json_put_real(j, "beyond", k->beyond);
    spot_json_put_interval(j, "change", k->change);
    spot_json_put_interval(j, "corrected", k->corrected);
    spot_json_put_real(j, "p_worse", k->p_worse);
    spot_json_put_real(j, "p_better", k->p_better);
    spot_json_put_real(j, "p_same", k->p_same);
    spot_json_put_real(j, "needed", isfinite(k->needed) ? ceil(k->needed) : NAN);
}

static void put_bool(spot_json *j, const char *key, bool v) { spot_json_bool(j, key, &v); }

static void put_piece(spot_json *j, const spot_version_piece *p)
{
    spot_json_object(j, NULL);
    spot_json_put_int(j, "found", p->found);
    spot_json_put_int(j, "found_wrong", p->found_wrong);
    spot_json_put_int(j, "compared", p->compared);
    spot_json_put_real(j, "proof_p", p->proof_p);
    spot_json_end(j);
}

static void put_rows(spot_json *j, const char *key, const int *row, int n)
{
    spot_json_array(j, key, n, n);
    for (int i = 0; i < n; i++) spot_json_put_int(j, NULL, row[i]);
    spot_json_end(j);
}

/* The rows that turned, which `lost` and `gained` count. */
static void put_turned(spot_json *j, const spot_version_counts *k)
{
    put_rows(j, "lost_rows", k->lost_row, k->lost);
    put_rows(j, "gained_rows", k->gained_row, k->gained);
}

void spot_version_slice_put(spot_json *j, const spot_version_slice *p, const spot_subject *s)
{
    spot_json_put_text(j, "class", class_of(s, p->cls));
    spot_json_put_text(j, "rule", p->rule);
    spot_json_put_text(j, "verdict", spot_change_verdict_name(p->verdict));
    put_bool(j, "confirmed_before", p->confirmed[0]);
    put_bool(j, "confirmed_now", p->confirmed[1]);
    spot_json_put_int(j, "size", p->size);
    put_counts(j, &p->counts);
    spot_json_put_real(j, "log_odds", p->counts.shift);
    put_bool(j, "as_others", p->counts.as_others);
    spot_json_put_real(j, "class_rate_before", p->class_rate[0]);
    spot_json_put_real(j, "class_rate_now", p->class_rate[1]);
}

static void put_slice(spot_json *j, const spot_version_slice *p, const spot_subject *s)
{
    spot_json_object(j, NULL);
    spot_version_slice_put(j, p, s);
    spot_json_array(j, "pieces", p->pieces, p->pieces);
    for (int i = 0; i < p->pieces; i++) put_piece(j, &p->piece[i]);
    spot_json_end(j);
    put_rows(j, "rows", p->row, p->size);
    put_rows(j, "compared_rows", p->at, p->compared);
    put_turned(j, &p->counts);
    spot_json_end(j);
}

void spot_version_class_put(spot_json *j, const spot_version_class *x, const spot_subject *s)
{
    if (x->name) spot_json_put_text(j, "guard", x->name);
    spot_json_put_text(j, "class", class_of(s, x->cls));
    spot_json_put_text(j, "verdict", spot_change_verdict_name(x->verdict));
    put_counts(j, &x->counts);
}

static void put_classes(spot_json *j, const char *key, const spot_version_class *x, int n, const spot_subject *s)
{
    spot_json_array(j, key, n, n);
    for (int i = 0; i < n; i++) {
        spot_json_object(j, NULL);
        spot_version_class_put(j, &x[i], s);
        put_turned(j, &x[i].counts);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_lost(spot_json *j, const spot_version_row *x, const spot_subject *s)
{
    spot_json_object(j, NULL);
    spot_json_put_int(j, "row", x->row);
    if (s->id) spot_json_put_text(j, "id", s->id[x->row]);
    spot_json_put_text(j, "class", class_of(s, x->cls));
    spot_json_end(j);
}

static void put_spread(spot_json *j, const spot_version_spread *x)
{
    spot_json_object(j, "retrain");
    spot_json_put_int(j, "files", x->files);
    spot_json_put_real(j, "share_of_classes", x->share[0]);
    spot_json_put_real(j, "share_of_slices", x->share[1]);
    spot_json_put_int(j, "degrees_of_freedom", x->freedom);
    spot_json_put_real(j, "move", x->move);
    spot_json_end(j);
}

static void put_shift(spot_json *j, const spot_version_shift *x)
{
    spot_json_object(j, "log_odds");
    spot_json_put_int(j, "slices", x->slices);
    spot_json_put_real(j, "middle", x->freedom ? x->middle : NAN);
    spot_json_put_real(j, "spread", x->freedom ? x->spread : NAN);
    spot_json_put_int(j, "degrees_of_freedom", x->freedom);
    spot_json_put_int(j, "slices_as_others", x->as_others);
    spot_json_end(j);
}

void spot_version_rules_put(spot_json *j, const spot_versions *v)
{
    spot_json_put_real(j, "level", v->level);
    spot_json_put_real(j, "margin", v->margin);
    spot_json_put_real(j, "beyond", v->beyond);
    spot_json_put_text(j, "features", features[v->features]);
    if (v->spread.files) put_spread(j, &v->spread);
    if (v->tests[SPOT_ASK_SLICE]) put_shift(j, &v->shift);
    spot_json_array(j, "levels", SPOT_ASK_LEVELS, SPOT_ASK_LEVELS);
    for (int l = 0; l < SPOT_ASK_LEVELS; l++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "level", spot_version_level_name((spot_version_level)l));
        spot_json_put_int(j, "tests", v->tests[l]);
        spot_json_put_real(j, "share", v->share[l]);
        spot_json_end(j);
    }
    spot_json_end(j);
}

void spot_versions_put(spot_json *j, const spot_versions *v, const spot_subject *s)
{
    spot_json_put_text(j, "before", v->name[0]);
    spot_json_put_text(j, "now", v->name[1]);
    spot_json_put_text(j, "data", *v->data ? v->data : NULL);
    spot_json_put_text(j, "verdict", v->failed ? "failed" : v->pending ? "pending" : "passed");
    spot_json_put_int(j, "rows", v->n);
    spot_version_rules_put(j, v);
    spot_json_array(j, "slices", v->slices, v->slices);
    for (int i = 0; i < v->slices; i++) put_slice(j, &v->slice[i], s);
    spot_json_end(j);
    put_classes(j, "classes", v->of, v->classes, s);
    put_classes(j, "guards", v->guard, v->guards, s);
    spot_json_array(j, "lost_outside", v->outside, v->outside);
    for (int i = 0; i < v->outside; i++) put_lost(j, &v->lost[i], s);
    spot_json_end(j);
}

static spot_status write_json(spot_ctx *c, const char *dir, const spot_versions *v, const spot_subject *s)
{
    char path[PATH];
    spot_status status;
    spot_json j;

    SPOT_TRY(spot_json_begin(c, &j, "  "));
    spot_json_object(&j, NULL);
    spot_json_put_int(&j, "schema", SCHEMA);
    spot_versions_put(&j, v, s);
    spot_json_end(&j);
    snprintf(path, sizeof path, "%s/versions.json", dir);
    status = spot_json_whole(c, &j, path);
    if (!status) status = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return status;
}

/* ---- csv ---- */

static void write_row(FILE *f, const spot_subject *const s[SPOT_VERSIONS], int row, int cls, const char *slice,
                      const char *verdict, bool compared)
{
    if (s[0]->id) spot_csv_field(f, s[0]->id[row]);
    else fprintf(f, "%d", row);
    fputc(',', f);
    spot_csv_field(f, cls < 0 ? "" : s[0]->class_name[cls]);
    fprintf(f, ",%s,%s,%d,%s,%s\n", slice, verdict, compared, spot_subject_wrong(s[0], row, cls) ? "wrong" : "right",
            spot_subject_wrong(s[1], row, cls) ? "wrong" : "right");
}

static spot_status write_csv(spot_ctx *c, const char *dir, const spot_versions *v, const spot_subject *const s[SPOT_VERSIONS])
{
    spot_text text = { 0 };
    FILE *f = spot_text_stream(&text);
    char path[PATH], number[16];
    spot_status status;

    if (f) fputs(head_of_csv, f);
    for (int k = 0; f && k < v->slices; k++) {
        const spot_version_slice *p = &v->slice[k];
        snprintf(number, sizeof number, "%d", k + 1);
        for (int i = 0, at = 0; i < p->size; i++) {
            const bool compared = at < p->compared && p->at[at] == p->row[i];
            write_row(f, s, p->row[i], p->cls, number, spot_change_verdict_name(p->verdict), compared);
            at += compared;
        }
    }
    for (int i = 0; f && i < v->outside; i++) write_row(f, s, v->lost[i].row, v->lost[i].cls, "", "", false);
    snprintf(path, sizeof path, "%s/versions.csv", dir);
    if (!f || fclose(f) || text.status) status = spot_fail(c, SPOT_NOMEM, "no memory to write %s", path);
    else status = spot_file_write(c, path, text.bytes, text.used);
    spot_text_free(&text);
    return status;
}

static spot_status check_result(spot_ctx *c, const char *dir, const char *name, const char *head, const char *advice)
{
    char path[PATH];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    SPOT_TRY(spot_file_place(c, path, false));
    if (!advice || spot_file_is_ours(path, head)) return SPOT_OK;
    if (head == head_of_json && spot_file_is_ours(path, former_head)) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{versions.foreign} %s is there, and it is no result of `spotter compare`; %s", path,
                     advice);
}

spot_status spot_versions_place(spot_ctx *c, const char *dir, const char *advice)
{
    SPOT_TRY(spot_folder_make(c, dir));
    SPOT_TRY(check_result(c, dir, "versions.json", head_of_json, advice));
    return check_result(c, dir, "versions.csv", head_of_csv, advice);
}

spot_status spot_versions_write(spot_ctx *c, const char *dir, const spot_versions *v,
                                const spot_subject *const s[SPOT_VERSIONS])
{
    SPOT_TRY(spot_folder_make(c, dir));
    SPOT_TRY(write_json(c, dir, v, s[0]));
    return write_csv(c, dir, v, s);
}
