/* findings_write.c - writes findings: slices.csv, slices.json, map.npy, config.yaml, fit.safetensors. Text is built in memory
 * and written whole. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/platform.h"
#include "base/text.h"
#include "discover/describe/suspect_labels.h"
#include "discover/proof/proof_files.h"
#include "discover/search/discover_config.h"
#include "discover/search/slice_describe.h"
#include "discover/subject/subject_file.h"
#include "discover/subject/subject_memory.h"
#include "formats/safetensors.h"
#include "store/store.h"

enum { SCHEMA = 1, PROVED = 2, PATH = 1200 };       /* schema of slices without and with proofs */

static const char *class_of(const spot_subject *s, int cls) { return cls < 0 ? "" : s->class_name[cls]; }

/* ---- slices.csv ---- */

/* The name of the row's group, or its number. */
static void put_group(FILE *f, const spot_subject *s, int row)
{
    if (!spot_subject_is_grouped(s)) return;
    fputc(',', f);
    if (s->group_name) spot_csv_field(f, s->group_name[s->group[row]]);
    else fprintf(f, "%d", s->group[row]);
}

/* The class that a row with a suspect label seems to have. */
static void put_seeming(FILE *f, const spot_subject *s, const spot_suspects *suspects, int row)
{
    const int at = spot_suspects_place(suspects, row);

    fputc(',', f);
    if (at >= 0) spot_csv_field(f, s->class_name[suspects->cls[at]]);
}

/* told: the slice's number, and that of its entry. */
static void put_slice(FILE *f, const spot_subject *s, const spot_suspects *suspects, const spot_finding *g, int k,
                      const char *method, const int told[2])
{
    const spot_proof *p = g->slice[k].proof;
    char score[32];

    spot_digits(score, g->slice[k].score, 1);
    for (int i = 0; i < g->slice[k].size; i++) {
        int row = g->slice[k].row[i];
        if (s->id) spot_csv_field(f, s->id[row]);
        else fprintf(f, "%d", row);
        fputc(',', f);
        spot_csv_field(f, class_of(s, g->cls));
        fputc(',', f);
        spot_csv_field(f, method);
        fprintf(f, ",%" PRIu64 ",%d,%s", p ? p->piece->seed : g->seed, k + 1, score);
        if (p) fprintf(f, ",%s,%s", spot_claim_name(p->claim), spot_origin_name(p->origin[i]));
        fprintf(f, ",%d,%d", told[0], told[1]);
        put_group(f, s, row);
        if (suspects->known) put_seeming(f, s, suspects, row);
        fputc('\n', f);
    }
}

/* Closes f, the stream of t, writes the text to the file and frees it. */
static spot_status write_stream(spot_ctx *c, const char *dir, const char *name, FILE *f, spot_text *t)
{
    char path[PATH];
    bool whole = f && !fclose(f) && !t->status;
    spot_status s;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (!whole) s = spot_fail(c, SPOT_NOMEM, "no memory to write %s", path);
    else s = spot_file_write(c, path, t->bytes, t->used);
    spot_text_free(t);
    return s;
}

static spot_status write_csv(spot_ctx *c, const char *dir, const spot_findings *f, const spot_subject *s,
                             const spot_discover_options *o, const spot_slice_list *e)
{
    spot_text text = { 0 };
    FILE *out = spot_text_stream(&text);
    char method[400];

    if (out)
        fprintf(out, "id,class,method,seed,rank,score%s,number,entry%s%s\n", o->proof ? ",claim,part" : "",
                spot_subject_is_grouped(s) ? ",group" : "", f->suspects.known ? ",seems" : "");
    for (int i = 0; out && i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            const spot_finding *g = &f->finding[i];
            const int at = i * SPOT_MAX_HYPOTHESES + k;
            if (g->merged) spot_proof_methods(method, sizeof method, g->slice[k].proof, o);
            else spot_bdm_name(&o->bdm[g->bdm], method, sizeof method);
            put_slice(out, s, &f->suspects, g, k, method, (int[]){ e->number[at], e->entry_of[at] });
        }
    return write_stream(c, dir, "slices.csv", out, &text);
}

/* ---- slices.json: tools/python/spotter/slices.schema.json describes it ---- */

static void put_class(spot_json *j, const spot_subject *s, int cls)
{
    spot_json_put_text(j, "class", cls < 0 ? NULL : class_of(s, cls));
    if (cls < 0) spot_json_put_text(j, "class_number", NULL);
    else spot_json_put_int(j, "class_number", cls);
}

static void put_finding(spot_json *j, const spot_slice_list_row *list, const spot_finding *f)
{
    const int first = (int)(f - list->f->finding) * SPOT_MAX_HYPOTHESES;
    const spot_subject *s = list->s;
    const spot_discover_options *o = list->o;
    char name[80];

    spot_json_object(j, NULL);
    put_class(j, s, f->cls);
    if (f->merged) spot_json_put_raw(j, "merged", "true", 4);
    else {
        spot_json_put_text(j, "method", spot_bdm_name(&o->bdm[f->bdm], name, sizeof name));
        spot_json_put_number(j, "seed", "%" PRIu64, f->seed);
    }
    spot_json_put_int(j, "rows", f->n);
    spot_json_put_int(j, "wrong", f->wrong);
    spot_json_put_text(j, "status", spot_status_name(f->status));
    if (f->status) spot_json_put_text(j, "message", f->message);
    spot_json_array(j, "slices", 0, 0);
    for (int k = 0; k < f->slices; k++) {
        spot_json_object(j, NULL);
        spot_quantities_put(j, spot_slice_in_file, &(spot_slice_row){ s, o, &f->slice[k], f->slice[k].proof, k + 1,
                            list->e->number[first + k], list->e->entry_of[first + k] });
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
}

static void put_left_out(spot_json *j, const spot_findings *f, const spot_subject *s, const spot_discover_options *o)
{
    spot_json_array(j, "left_out", 0, 0);
    for (int i = 0; i < f->left_out; i++) {
        int n = spot_subject_rows(s, f->left_class[i]);
        char why[64];
        snprintf(why, sizeof why, n < o->least ? "fewer than %d rows" : "no row is wrong", o->least);
        spot_json_object(j, NULL);
        put_class(j, s, f->left_class[i]);
        spot_json_put_int(j, "rows", n);
        spot_json_put_text(j, "why", why);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_subject(spot_json *j, const spot_subject *s)
{
    int wrong = 0;

    spot_json_object(j, "subject");
    spot_json_put_text(j, "source", s->source);
    spot_json_put_int(j, "rows", s->n);
    spot_json_put_int(j, "features", s->d);
    spot_json_put_text(j, "encoder", *s->encoder ? s->encoder : NULL);
    for (int b = 0; b < s->blocks; b++) {
        if (!b) spot_json_array(j, "sources", 0, 0);
        spot_json_object(j, NULL);
        spot_json_put_int(j, "features", s->block[b].d);
        spot_json_put_real(j, "scale", (double)s->block[b].scale);
        spot_json_put_text(j, "encoder", *s->block[b].encoder ? s->block[b].encoder : NULL);
        spot_json_end(j);
    }
    if (s->blocks) spot_json_end(j);
    spot_json_put_int(j, "classes", s->classes);
    spot_json_array(j, "class_names", 0, 0);
    for (int k = 0; k < s->classes; k++) spot_json_put_text(j, NULL, s->class_name[k]);
    spot_json_end(j);
    spot_json_put_int(j, "skipped", s->skipped);
    if (spot_subject_is_grouped(s)) {
        spot_json_put_int(j, "groups", s->groups);
        spot_json_put_int(j, "largest_group", spot_groups_largest(s));
    }
    if (s->target) {
        for (int i = 0; i < s->n; i++) wrong += spot_subject_wrong(s, i, s->target[i]);
        spot_json_put_int(j, "wrong", wrong);
        spot_json_put_real(j, "accuracy", s->n ? 1 - (double)wrong / s->n : NAN);
    }
    spot_json_end(j);
}

static void put_features(spot_json *j, const spot_decided *d)
{
    spot_json_object(j, "features");
    spot_json_put_int(j, "rows", d->rows);
    spot_json_put_int(j, "neighbours", d->neighbours);
    spot_json_put_real(j, "same_answer", d->same);
    spot_json_put_real(j, "same_answer_expected", d->expected);
    spot_json_put_real(j, "wrong_told", d->wrong);
    spot_json_put_raw(j, "decide", d->decide ? "true" : "false", d->decide ? 4 : 5);
    spot_json_end(j);
}

/* The document; free it also after a failure. */
static spot_status build_json(spot_ctx *c, spot_json *j, const char *path, const spot_slice_list_row *list)
{
    const spot_findings *f = list->f;
    const spot_subject *s = list->s;
    const spot_discover_options *o = list->o;

    *j = (spot_json){ 0 };
    SPOT_TRY(spot_json_begin(c, j, "    "));
    spot_json_object(j, NULL);
    spot_json_put_int(j, "schema", o->proof ? PROVED : SCHEMA);
    spot_json_put_text(j, "spotter", spot_made_by());
    spot_json_put_int(j, "numbers", SPOT_NUMBERS);
    put_subject(j, s);
    if (f->decided.rows) put_features(j, &f->decided);
    if (f->suspects.known) spot_json_put_int(j, "suspect_labels", f->suspects.count);
    if (o->proof) spot_put_proof_options(j, o->proof, f);
    spot_slice_list_members.put(j, list);
    put_left_out(j, f, s, o);
    spot_json_array(j, "findings", 0, 0);
    for (int i = 0; i < f->count; i++) put_finding(j, list, &f->finding[i]);
    spot_json_end(j);
    spot_json_end(j);
    return spot_json_whole(c, j, path);
}

static spot_status write_json(spot_ctx *c, const char *dir, const spot_slice_list_row *list)
{
    spot_json j;
    char path[PATH];
    spot_status how;

    snprintf(path, sizeof path, "%s/slices.json", dir);
    how = build_json(c, &j, path, list);
    if (how == SPOT_OK) how = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return how;
}

spot_status spot_findings_json(spot_ctx *c, char **text, const spot_findings *f, const spot_subject *s,
                               const spot_discover_options *o)
{
    spot_json j = { 0 };
    spot_status how;
    spot_slice_list e;

    *text = NULL;
    how = spot_findings_entries(c, &e, f, s);
    if (how == SPOT_OK) how = build_json(c, &j, "slices.json", &(spot_slice_list_row){ &e, f, s, o, NULL });
    if (how == SPOT_OK) *text = calloc(j.out.used + 1, 1);
    if (how == SPOT_OK && !*text) how = spot_fail(c, SPOT_NOMEM, "no memory for the text of slices.json");
    if (*text) memcpy(*text, j.out.bytes, j.out.used);
    spot_json_free(&j);
    spot_slice_list_close(&e);
    return how;
}

/* ---- config.yaml ---- */

/* The same as that of a run (discover_run.h). */
static spot_status write_config(spot_ctx *c, const char *dir, const spot_findings *f, const spot_subject *s,
                                const spot_discover_options *o)
{
    const int each = o->proof ? 1 : o->bdms * o->seeds;
    spot_discover_config cfg = { 0 };
    char path[PATH], *text = NULL;
    spot_status how = spot_discover_config_of(c, &cfg, s, o, f->count / each);

    snprintf(path, sizeof path, "%s/config.yaml", dir);
    if (how == SPOT_OK) how = spot_yaml_print(c, spot_discover_kind.rows, &cfg, &text);
    if (how == SPOT_OK) how = spot_file_write(c, path, text, strlen(text));
    free(text);
    spot_memory_close(&cfg.memory);
    return how;
}

/* ---- fit.safetensors ---- */

/* The tensors of each fit as "I/NAME": I is the finding's index in slices.json. */
static spot_status write_fit(spot_ctx *c, const char *dir, const spot_findings *f)
{
    enum { NAME = 56 };
    size_t count = 0, room = 0;
    spot_tensor *all;
    char path[PATH], *names;
    spot_status s;

    for (int i = 0; i < f->count; i++) room += (size_t)f->finding[i].fit.count;
    if (!room) return SPOT_OK;
    snprintf(path, sizeof path, "%s/fit.safetensors", dir);
    all = calloc(room, sizeof *all);
    names = malloc(room * NAME);
    for (int i = 0; i < f->count && all && names; i++)
        for (int k = 0; k < f->finding[i].fit.count; k++) {
            const spot_fit_tensor *t = &f->finding[i].fit.tensor[k];
            char *name = names + count * NAME;
            snprintf(name, NAME, "%d/%s", i, t->name);
            all[count++] = spot_tensor_of(name, t->type, (size_t)t->rows, t->columns, t->data);
        }
    s = all && names ? spot_tensors_save(c, path, all, (int)count) : spot_fail(c, SPOT_NOMEM, "no memory to write %s", path);
    free(all);
    free(names);
    return s;
}

spot_status spot_findings_write(spot_ctx *c, const char *dir, const spot_findings *f, const spot_subject *s,
                                const spot_discover_options *o)
{
    static const char *const earlier[] = { "slices.json", "fit.safetensors", "subject.safetensors", "report.html" };
    char path[PATH];
    spot_status how;
    spot_slice_list e;

    SPOT_TRY(spot_folder_make(c, dir));
    for (size_t i = 0; i < sizeof earlier / sizeof *earlier; i++) {       /* older files must not lie beside the new ones */
        snprintf(path, sizeof path, "%s/%s", dir, earlier[i]);
        remove(path);
    }
    snprintf(path, sizeof path, "%s/map.npy", dir);
    SPOT_TRY(write_config(c, dir, f, s, o));
    SPOT_TRY(spot_npy_write(c, path, f->map, s->n, 2));
    SPOT_TRY(write_fit(c, dir, f));
    SPOT_TRY(spot_recall_write(c, dir, f, s, o));
    how = spot_findings_entries(c, &e, f, s);
    if (how == SPOT_OK) how = write_csv(c, dir, f, s, o, &e);
    if (how == SPOT_OK)                /* last: if it is there, all files are */
        how = write_json(c, dir, &(spot_slice_list_row){ &e, f, s, o, NULL });
    spot_slice_list_close(&e);
    return how;
}
