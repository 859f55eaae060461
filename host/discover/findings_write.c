/* findings_write.c - findings as files: slices.csv, slices.json, map.npy, config.yaml. Text is built in memory and written
 * whole. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "config/config_table.h"
#include "discover/search.h"
#include "discover/subject_file.h"
#include "formats/safetensors.h"
#include "spotter/config.h"
#include "spotter/store.h"

enum { SCHEMA = 1, PATH = 1200 };

static const char *class_of(const spot_subject *s, int cls) { return cls < 0 ? "" : s->class_name[cls]; }

/* The fewest digits that bring the same double back. */
static const char *number(char text[32], double v)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, v);
        if (strtod(text, NULL) == v) break;
    }
    return text;
}

/* ---- slices.csv ---- */

void spot_csv_field(FILE *f, const char *text)
{
    bool plain = *text && *text != ' ' && text[strlen(text) - 1] != ' ' && !text[strcspn(text, ",\"\r\n")];

    if (plain || !*text) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void put_slice(FILE *f, const spot_subject *s, const spot_finding *g, int k, const char *method)
{
    char score[32];

    number(score, g->slice[k].score);
    for (int i = 0; i < g->slice[k].size; i++) {
        int row = g->slice[k].row[i];
        if (s->id) spot_csv_field(f, s->id[row]);
        else fprintf(f, "%d", row);
        fputc(',', f);
        spot_csv_field(f, class_of(s, g->cls));
        fputc(',', f);
        spot_csv_field(f, method);
        fprintf(f, ",%" PRIu64 ",%d,%s\n", g->seed, k + 1, score);
    }
}

static spot_status write_stream(spot_ctx *c, const char *dir, const char *name, FILE *f, char **text, size_t *n)
{
    char path[PATH];
    bool whole = f && !fclose(f);
    spot_status s = SPOT_OK;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (!whole) s = spot_fail(c, SPOT_NOMEM, "no memory to write %s", path);
    else s = spot_file_write(c, path, *text, *n);
    free(*text);
    return s;
}

static spot_status write_csv(spot_ctx *c, const char *dir, const spot_findings *f, const spot_subject *s,
                             const spot_discover_options *o)
{
    char *text = NULL, method[80];
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (out) fputs("id,class,method,seed,rank,score\n", out);
    for (int i = 0; out && i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++)
            put_slice(out, s, &f->finding[i], k, spot_bdm_name(&o->bdm[f->finding[i].bdm], method, sizeof method));
    return write_stream(c, dir, "slices.csv", out, &text, &n);
}

/* ---- slices.json ---- */

/* Bytes of the well-formed UTF-8 character at p; 0 where there is none. */
static int utf8(const unsigned char *p)
{
    int more = *p < 0x80 ? 0 : *p < 0xc2 ? -1 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : *p < 0xf5 ? 3 : -1;

    if (more < 0) return 0;
    for (int i = 1; i <= more; i++) if ((p[i] & 0xc0) != 0x80) return 0;
    if (*p == 0xe0 && p[1] < 0xa0) return 0;       /* longer than it need be */
    if (*p == 0xf0 && p[1] < 0x90) return 0;
    if (*p == 0xed && p[1] > 0x9f) return 0;       /* half a pair of UTF-16 */
    if (*p == 0xf4 && p[1] > 0x8f) return 0;       /* beyond Unicode */
    return more + 1;
}

/* JSON is UTF-8; a byte that is none, as names of files may have it, becomes U+FFFD. Rows are named by number as well. */
static void put_text(yajl_gen g, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = strlen(text), at = 0;
    unsigned char *clean = malloc(3 * n + 1);

    if (!clean) {
        yajl_gen_null(g);
        return;
    }
    while (*p) {
        int bytes = utf8(p);
        memcpy(clean + at, bytes ? (const char *)p : "\xef\xbf\xbd", bytes ? (size_t)bytes : 3);
        at += bytes ? (size_t)bytes : 3;
        p += bytes ? bytes : 1;
    }
    yajl_gen_string(g, clean, at);
    free(clean);
}

static void put_key(yajl_gen g, const char *key) { yajl_gen_string(g, (const unsigned char *)key, strlen(key)); }

static void put_int(yajl_gen g, const char *key, long long v)
{
    put_key(g, key);
    yajl_gen_integer(g, v);
}

static void put_real(yajl_gen g, const char *key, double v)
{
    char text[32];

    put_key(g, key);
    number(text, v);
    if (isfinite(v)) yajl_gen_number(g, text, strlen(text));
    else yajl_gen_null(g);
}

static void put_words(yajl_gen g, const char *key, const char *v)
{
    put_key(g, key);
    put_text(g, v);
}

static void put_class(yajl_gen g, const spot_subject *s, int cls)
{
    put_key(g, "class");
    if (cls < 0) yajl_gen_null(g);
    else put_text(g, class_of(s, cls));
    put_key(g, "class_number");
    if (cls < 0) yajl_gen_null(g);
    else yajl_gen_integer(g, cls);
}

static void put_found(yajl_gen g, const spot_subject *s, const spot_slice *p, int rank)
{
    yajl_gen_map_open(g);
    put_int(g, "rank", rank);
    put_real(g, "score", p->score);
    put_int(g, "size", p->size);
    put_int(g, "wrong", p->wrong);
    put_real(g, "error_rate", p->error_rate);
    put_real(g, "mean_confidence", p->mean_confidence);
    put_real(g, "share_of_errors", p->share);
    put_key(g, "nearest_correct");
    yajl_gen_array_open(g);
    for (int i = 0; i < p->neighbours; i++) {
        char row[16];
        snprintf(row, sizeof row, "%d", p->neighbour[i]);
        yajl_gen_map_open(g);
        put_int(g, "row", p->neighbour[i]);
        put_words(g, "id", s->id ? s->id[p->neighbour[i]] : row);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

static void put_finding(yajl_gen g, const spot_subject *s, const spot_finding *f, const spot_discover_options *o)
{
    char name[80], seed[24];

    yajl_gen_map_open(g);
    put_class(g, s, f->cls);
    put_words(g, "method", spot_bdm_name(&o->bdm[f->bdm], name, sizeof name));
    put_key(g, "seed");
    yajl_gen_number(g, seed, (size_t)snprintf(seed, sizeof seed, "%" PRIu64, f->seed));
    put_int(g, "rows", f->n);
    put_int(g, "wrong", f->wrong);
    put_words(g, "status", spot_status_name(f->status));
    if (f->status) put_words(g, "message", f->message);
    put_key(g, "slices");
    yajl_gen_array_open(g);
    for (int k = 0; k < f->slices; k++) put_found(g, s, &f->slice[k], k + 1);
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
}

static void put_left_out(yajl_gen g, const spot_findings *f, const spot_subject *s, const spot_discover_options *o)
{
    put_key(g, "left_out");
    yajl_gen_array_open(g);
    for (int i = 0; i < f->left_out; i++) {
        int n = spot_subject_rows(s, f->left_class[i]);
        char why[64];
        snprintf(why, sizeof why, n < o->least ? "fewer than %d rows" : "no row is wrong", o->least);
        yajl_gen_map_open(g);
        put_class(g, s, f->left_class[i]);
        put_int(g, "rows", n);
        put_words(g, "why", why);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
}

static void put_subject(yajl_gen g, const spot_subject *s)
{
    int wrong = 0;

    put_key(g, "subject");
    yajl_gen_map_open(g);
    put_words(g, "source", s->source);
    put_int(g, "rows", s->n);
    put_int(g, "features", s->d);
    put_int(g, "classes", s->classes);
    put_key(g, "class_names");
    yajl_gen_array_open(g);
    for (int k = 0; k < s->classes; k++) put_text(g, s->class_name[k]);
    yajl_gen_array_close(g);
    put_int(g, "skipped", s->skipped);
    if (s->target) {
        for (int i = 0; i < s->n; i++) wrong += spot_subject_wrong(s, i, s->target[i]);
        put_int(g, "wrong", wrong);
        put_real(g, "accuracy", s->n ? 1 - (double)wrong / s->n : NAN);
    }
    yajl_gen_map_close(g);
}

static spot_status write_json(spot_ctx *c, const char *dir, const spot_findings *f, const spot_subject *s,
                              const spot_discover_options *o)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    const unsigned char *text;
    char path[PATH];
    spot_status status;
    size_t n;

    snprintf(path, sizeof path, "%s/slices.json", dir);
    if (!g) return spot_fail(c, SPOT_NOMEM, "no memory to write %s", path);
    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_map_open(g);
    put_int(g, "schema", SCHEMA);
    put_words(g, "spotter", SPOT_VERSION);
    put_int(g, "numbers", SPOT_NUMBERS);
    put_subject(g, s);
    put_left_out(g, f, s, o);
    put_key(g, "findings");
    yajl_gen_array_open(g);
    for (int i = 0; i < f->count; i++) put_finding(g, s, &f->finding[i], o);
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
    status = yajl_gen_get_buf(g, &text, &n) ? spot_fail(c, SPOT_NOMEM, "no memory to write %s", path)
                                            : spot_file_write(c, path, text, n);
    yajl_gen_free(g);
    return status;
}

/* ---- config.yaml ---- */

/* The rows of a config that say how discover works. */
static spot_status write_config(spot_ctx *c, const char *dir, const spot_discover_options *o)
{
    const spot_setting rows[] = { *spot_setting_find(spot_settings, "seed"), *spot_setting_find(spot_settings, "bdms"),
                                  SPOT_END };
    spot_config *cfg = calloc(1, sizeof *cfg);
    char *text = NULL;
    size_t n;
    FILE *f;

    if (!cfg) return spot_fail(c, SPOT_NOMEM, "no memory to write the config");
    *cfg = spot_config_defaults();
    cfg->seed = o->seed[0];
    cfg->bdms = o->bdms < SPOT_MAX_BDMS ? o->bdms : SPOT_MAX_BDMS;
    memcpy(cfg->bdm, o->bdm, (size_t)cfg->bdms * sizeof *o->bdm);
    f = open_memstream(&text, &n);
    if (f) {
        fprintf(f, "# spotter discover --config config.yaml --seed %" PRIu64, o->seed[0]);
        for (int t = 1; t < o->seeds; t++) fprintf(f, ",%" PRIu64, o->seed[t]);
        fputc('\n', f);
        spot_settings_print(f, rows, cfg);
    }
    free(cfg);
    return write_stream(c, dir, "config.yaml", f, &text, &n);
}

/* ---- fit.safetensors ---- */

/* Of every finding that has one, "I/NAME": I is its place among the findings of slices.json. */
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
            size_t entries = (size_t)t->rows * (size_t)(t->columns ? t->columns : 1);
            char *name = names + count * NAME;
            snprintf(name, NAME, "%d/%s", i, t->name);
            all[count++] = (spot_tensor){ .name = name, .type = t->type, .rank = t->columns ? 2 : 1,
                                          .dim = { t->rows, t->columns }, .data = t->data,
                                          .bytes = entries * spot_dtype_size(t->type) };
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

    SPOT_TRY(spot_folder_make(c, dir));
    for (size_t i = 0; i < sizeof earlier / sizeof *earlier; i++) {       /* of other findings: not beside these */
        snprintf(path, sizeof path, "%s/%s", dir, earlier[i]);
        remove(path);
    }
    snprintf(path, sizeof path, "%s/map.npy", dir);
    SPOT_TRY(write_config(c, dir, o));
    SPOT_TRY(spot_npy_write(c, path, f->map, s->n, 2));
    SPOT_TRY(write_csv(c, dir, f, s, o));
    SPOT_TRY(write_fit(c, dir, f));
    SPOT_TRY(spot_recall_write(c, dir, f, s, o));
    return write_json(c, dir, f, s, o);              /* the last: where it is, all is */
}
