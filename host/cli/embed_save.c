/* embed_save.c - see embed_save.h. */
#define _POSIX_C_SOURCE 200809L
#include "cli/embed_save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "formats/formats.h"
#include "formats/safetensors.h"

enum { NOTES = 8 };

static const char made_by[] = SPOT_MADE_BY_EMBED;      /* the name of the key in the facts of an output */

spot_status cli_embed_name_files(spot_ctx *c, cli_embed_files *f, const char *out, bool half)
{
    const char *dot = strrchr(out, '.'), *slash = strrchr(out, '/');
    bool npy = dot && !strcasecmp(dot, ".npy"), tensors = dot && !strcasecmp(dot, ".safetensors");
    int stem = dot ? (int)(dot - out) : 0;

    if ((!npy && !tensors) || dot == out || dot == slash + 1)
        return spot_fail(c, SPOT_USAGE, "--out %s: the name has to end in .safetensors or .npy", out);
    if (npy && half) return spot_fail(c, SPOT_USAGE, "--half writes .safetensors, not %s", out);
    *f = (cli_embed_files){ .half = half };
    snprintf(f->out, sizeof f->out, "%s", out);
    snprintf(f->csv, sizeof f->csv, "%.*s.csv", stem, out);
    if (npy) snprintf(f->json, sizeof f->json, "%.*s.json", stem, out);
    return SPOT_OK;
}

/* -- whose files are there ------------------------------------------------------------------------------------------- */

spot_status cli_embed_check(spot_ctx *c, const cli_embed_files *f, bool part, bool *done, cli_embed_report *report)
{
    const char *const all[] = { f->out, f->csv, f->json };
    spot_notes k;

    *done = false;
    SPOT_TRY(spot_notes_read(c, &k, f->out));
    if (*k.text[SPOT_NOTE_MADE_BY] && !access(f->out, F_OK)) {
        *done = !strcmp(k.text[SPOT_NOTE_MADE_BY], f->key) && !access(f->csv, F_OK);
        report->rows = atoi(k.text[SPOT_NOTE_ROWS]);
        report->skipped = atoi(k.text[SPOT_NOTE_SKIPPED]);
        if (*done) return SPOT_OK;
        return spot_fail(c, SPOT_USAGE, "%s holds rows of other pictures or texts, or of another encoder, or its .csv is gone; "
                         "choose another name, or say --replace", f->out);
    }
    for (int i = 0; i < 3; i++)
        if (*all[i] && !access(all[i], F_OK) && !(part && i))
            return spot_fail(c, SPOT_USAGE, "%s is there, and spotter embed did not write it; choose another name, or say "
                             "--replace", all[i]);
    return SPOT_OK;
}

/* -- writing --------------------------------------------------------------------------------------------------------- */

/* The blocks' rows one behind the other; row[i]: the number of row i before pictures were left out. */
typedef struct { float *v; int *row, n; } whole;

static spot_status gather(spot_ctx *c, whole *w, cli_embed_part *p)
{
    size_t dim = (size_t)p->dim;

    w->v = malloc((size_t)p->n * dim * sizeof *w->v);
    w->row = malloc((size_t)p->n * sizeof *w->row);
    if (!w->v || !w->row) return spot_fail(c, SPOT_NOMEM, "no memory for %d rows of %d numbers", p->n, p->dim);
    for (int b = 0; b < cli_embed_blocks(p); b++) {
        SPOT_TRY(cli_embed_part_read(c, p, b));
        for (int i = 0; i < cli_embed_block_rows(p, b); i++) {
            if (cli_embed_part_marks(p, b)[i]) continue;
            memcpy(w->v + (size_t)w->n * dim, cli_embed_part_rows(p) + (size_t)i * dim, dim * sizeof *w->v);
            w->row[w->n++] = b * p->block + i;
        }
    }
    return SPOT_OK;
}

typedef struct { const whole *w; const cli_embed_rows *r; } lines;

/* A path that a spreadsheet would take for a formula begins with "./", so that it stays a path. */
static void write_id(FILE *f, const char *id, bool path)
{
    char *safe = NULL;

    if (path && strchr("=+-@\t", *id) && (safe = malloc(strlen(id) + 3))) sprintf(safe, "./%s", id);
    spot_csv_field(f, safe ? safe : id);
    free(safe);
}

static bool write_csv(FILE *f, const void *what)
{
    const lines *l = what;

    fprintf(f, "row,id%s\n", l->r->of ? ",image" : "");
    for (int i = 0; i < l->w->n; i++) {
        int row = l->w->row[i];
        fprintf(f, "%d,", i);
        write_id(f, l->r->id[row], l->r->path);
        if (l->r->of) fputc(',', f), write_id(f, l->r->of[row], true);
        fputc('\n', f);
    }
    return !ferror(f);
}

/* The facts that an output tells about itself. */
typedef struct { char rows[16], dim[16], skipped[16]; spot_tensor_note note[NOTES]; } facts;

static void list_facts(facts *k, const cli_embed_files *f, const cli_embed_rows *r, const spot_encoder_info *e,
                       const char *model, const cli_embed_report *report)
{
    const char *slash = strrchr(model, '/');
    const spot_tensor_note note[NOTES] = {
        { made_by, f->key }, { "encoder", e->name }, { "kind", spot_encoder_kind_name(e->kind) },
        { "rows_of", r->path ? "images" : "texts" }, { "model", slash ? slash + 1 : model },
        { "rows", k->rows }, { "dim", k->dim }, { "skipped", k->skipped },
    };

    snprintf(k->rows, sizeof k->rows, "%d", report->rows);
    snprintf(k->dim, sizeof k->dim, "%d", report->dim);
    snprintf(k->skipped, sizeof k->skipped, "%d", report->skipped);
    memcpy(k->note, note, sizeof note);
}

static spot_status write_facts(spot_ctx *c, const char *path, const facts *k)
{
    spot_json j;
    spot_status s;

    SPOT_TRY(spot_json_begin(c, &j, "  "));
    spot_json_object(&j, NULL);
    for (int i = 0; i < NOTES; i++) spot_json_put_text(&j, k->note[i].key, k->note[i].value);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, path);
    if (!s) s = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return s;
}

/* Halves take the place of the floats that they come from. */
static void halve(float *v, size_t n)
{
    unsigned char *to = (unsigned char *)v;

    for (size_t i = 0; i < n; i++) {
        uint16_t half = spot_half_bits(v[i]);
        memcpy(to + 2 * i, &half, sizeof half);
    }
}

static spot_status write_rows(spot_ctx *c, const cli_embed_files *f, const whole *w, int dim, const facts *k)
{
    spot_tensor t = spot_tensor_of("embeddings", f->half ? SPOT_F16 : SPOT_F32, (size_t)w->n, dim, w->v);

    if (f->half) halve(w->v, (size_t)w->n * (size_t)dim);
    if (!*f->json) return spot_tensors_save_with(c, f->out, &t, 1, k->note, NOTES);
    SPOT_TRY(write_facts(c, f->json, k));
    return spot_npy_write(c, f->out, w->v, w->n, dim);
}

static spot_status save_whole(spot_ctx *c, const cli_embed_files *f, whole *w, cli_embed_part *p, const cli_embed_rows *r,
                              const spot_encoder_info *e, const char *model, cli_embed_report *report)
{
    lines l = { w, r };
    facts k;

    SPOT_TRY(gather(c, w, p));
    *report = (cli_embed_report){ w->n, p->n - w->n, p->dim };
    if (!w->n) return spot_fail(c, SPOT_INPUT, "none of the %d pictures can be read", p->n);
    list_facts(&k, f, r, e, model, report);
    SPOT_TRY(spot_file_fill(c, f->csv, write_csv, &l));
    return write_rows(c, f, w, p->dim, &k);
}

spot_status cli_embed_save(spot_ctx *c, const cli_embed_files *f, cli_embed_part *p, const cli_embed_rows *r,
                           const spot_encoder_info *e, const char *model, cli_embed_report *report)
{
    whole w = { 0 };
    spot_status s = save_whole(c, f, &w, p, r, e, model, report);

    free(w.v);
    free(w.row);
    return s;
}
