/* claim_files.c - gathered.csv and claim.json. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/json_tree.h"
#include "base/text.h"
#include "claims/slice_claim.h"
#include "discover/subject/subject_memory.h"
#include "formats/csv_rows.h"
#include "store/contents.h"

enum { PATH = 1200, MOST_BYTES = 1 << 20 };

const char *const spot_gathered_group[2] = { "gathered", "control" };

/* ---- the claim: one description writes and reads it ---- */

static void describe_claim(spot_json *j, spot_slice_claim *k)
{
    spot_json_text(j, "claim", k->text, sizeof k->text);
    spot_json_text(j, "class", k->cls, sizeof k->cls);
    spot_json_text(j, "findings", k->found, sizeof k->found);
    spot_json_int(j, "slice", &k->slice);
    spot_json_text(j, "slice_claim", k->proof, sizeof k->proof);
    spot_json_real(j, "slice_rate", &k->rate);
    spot_json_real(j, "class_rate", &k->class_rate);
    spot_json_text(j, "pictures", k->root, sizeof k->root);
    spot_json_text(j, "model", k->model, sizeof k->model);
}

/* The order of the rows does not count, since people sort tables. */
static spot_status hash_pictures(spot_ctx *c, char text[33], const char *root, const spot_new_pictures *p)
{
    const char **name = malloc(((size_t)p->n + 1) * sizeof *name);
    spot_key *key = malloc(((size_t)p->n + 1) * sizeof *key), sum = { 0 };
    spot_status s = name && key ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the hashes of %d pictures", p->n);

    for (int i = 0; i < p->n && !s; i++) name[i] = p->row[i].picture;
    if (!s) s = spot_contents_of(c, key, root, name, p->n, NULL);
    for (int i = 0; i < p->n && !s; i++) {
        const spot_key k = spot_key_join(spot_key_of(name[i], strlen(name[i])), "content", &key[i], sizeof key[i]);
        sum.hi += k.hi, sum.lo += k.lo;
    }
    if (!s) spot_key_text(text, sum);
    free(name);
    free(key);
    return s;
}

bool spot_gathered_same(spot_ctx *c, const spot_slice_claim *k, const spot_new_pictures *p)
{
    char now[33] = "";

    for (int i = 0; i < p->n; i++)
        if (spot_name_leads_out(p->row[i].picture)) return false;
    if (*k->contents && hash_pictures(c, now, k->root, p)) spot_forget(c);
    return *now && !strcmp(now, k->contents);
}

static spot_status write_claim(spot_ctx *c, const char *dir, const spot_slice_claim *claim)
{
    spot_slice_claim k = *claim;
    char path[PATH];
    spot_json j;
    spot_status s;

    snprintf(path, sizeof path, "%s/claim.json", dir);
    SPOT_TRY(spot_json_begin(c, &j, "    "));
    spot_json_object(&j, NULL);
    describe_claim(&j, &k);
    spot_json_text(&j, "contents", k.contents, sizeof k.contents);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, path);
    if (s == SPOT_OK) s = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return s;
}

/* path: claim.json. */
static spot_status read_claim(spot_ctx *c, spot_slice_claim *k, const char *path)
{
    unsigned char *text = NULL;
    char why[200] = "";
    spot_json j = { .depth = 1 };
    size_t n;

    *k = (spot_slice_claim){ .rate = NAN, .class_rate = NAN };
    SPOT_TRY(spot_file_read(c, path, &text, &n, MOST_BYTES));
    j.at[0] = spot_tree_parse((char *)text, n, why, sizeof why);
    free(text);
    if (j.at[0]) describe_claim(&j, k);
    if (j.at[0] && !j.wrong) {
        spot_json_text(&j, "contents", k->contents, sizeof k->contents);
        if (j.wrong) j.wrong = NULL, *k->contents = 0;         /* files of older versions do not have it */
    }
    yajl_tree_free(j.at[0]);
    if (!j.at[0]) return spot_fail(c, SPOT_INPUT, "%s: %s", path, why);
    if (j.wrong) return spot_fail(c, SPOT_INPUT, "%s is no claim of spotter gather: \"%s\" is missing or of another type", path,
                                  j.wrong);
    return SPOT_OK;
}

/* ---- the table ---- */

typedef struct { const spot_new_pictures *p; const spot_subject *of; } table_of_pictures;

/* The name of a picture's group, or its number; "" where it is alone. */
static void put_group(FILE *f, const spot_subject *of, int i)
{
    fputc(',', f);
    if (of->group_name) spot_csv_field(f, of->group_name[of->group[i]]);
    else fprintf(f, "%d", of->group[i]);
}

static bool fill_table(FILE *f, const void *user)
{
    const table_of_pictures *t = user;
    const spot_new_pictures *p = t->p;
    const bool grouped = t->of && t->of->group;

    fprintf(f, "picture,group,similarity,wrong,predicted%s\n", grouped ? "," SPOT_GATHERED_GROUPS : "");
    for (int i = 0; i < p->n; i++) {
        const spot_new_picture *r = &p->row[i];
        spot_csv_field(f, r->picture);
        fprintf(f, ",%s,", spot_gathered_group[r->group]);
        if (isfinite(r->similarity)) fprintf(f, "%.6g", r->similarity);
        fputs(r->wrong < 0 ? "," : r->wrong ? ",1" : ",0", f);
        fputc(',', f);
        if (r->predicted) spot_csv_field(f, r->predicted);
        if (grouped) put_group(f, t->of, i);
        fputc('\n', f);
    }
    return !ferror(f);
}

spot_status spot_gathered_write(spot_ctx *c, const char *dir, const spot_slice_claim *k, const spot_new_pictures *p,
                                const spot_subject *of)
{
    spot_slice_claim own = *k;
    char path[PATH];

    own.contents[0] = 0;
    if (hash_pictures(c, own.contents, own.root, p)) spot_forget(c);
    SPOT_TRY(spot_folder_make(c, dir));
    snprintf(path, sizeof path, "%s/gathered.csv", dir);
    SPOT_TRY(spot_file_fill(c, path, fill_table, &(table_of_pictures){ p, of }));
    return write_claim(c, dir, &own);
}

enum { PICTURE = 2, SIMILARITY, PREDICTED, GROUPS };       /* columns that may be missing, behind group and wrong */

static spot_status read_row(spot_ctx *c, const char *path, const spot_rows *t, bool whole, spot_new_pictures *p)
{
    const char *group = spot_rows_cell(t, 0), *wrong = spot_rows_cell(t, 1), *name = whole ? spot_rows_cell(t, PICTURE) : "";
    spot_new_picture *r = &p->row[p->n];

    *r = (spot_new_picture){ .similarity = NAN, .wrong = *wrong ? *wrong - '0' : -1 };
    r->group = !strcmp(group, spot_gathered_group[SPOT_GATHERED]) ? SPOT_GATHERED : SPOT_CONTROL;
    if (r->group && strcmp(group, spot_gathered_group[SPOT_CONTROL]))
        return spot_fail(c, SPOT_INPUT, "%s, line %llu: the group is \"%.40s\", neither gathered nor control", path,
                         (unsigned long long)spot_rows_line(t), group);
    if (*wrong && strcmp(wrong, "0") && strcmp(wrong, "1"))
        return spot_fail(c, SPOT_INPUT, "%s, line %llu: wrong is \"%.40s\"; it must be 0 or 1, or empty", path,
                         (unsigned long long)spot_rows_line(t), wrong);
    if (name[0] == '\'' && name[1] && strchr("=+-@\t", name[1])) name++;       /* a guard against spreadsheets */
    r->picture = strdup(name);
    if (whole) spot_rows_number(t, SIMILARITY, &r->similarity);
    if (whole && *spot_rows_cell(t, PREDICTED)) r->predicted = strdup(spot_rows_cell(t, PREDICTED));
    p->n++;
    return r->picture ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the pictures of %s", path);
}

static spot_status read_rows(spot_ctx *c, const char *path, spot_rows *t, bool whole, spot_new_pictures *p)
{
    int room = 0;
    bool more;

    for (;;) {
        SPOT_TRY(spot_rows_next(c, t, &more));
        if (!more) return SPOT_OK;
        if (p->n == room) {
            spot_new_picture *row = realloc(p->row, (size_t)(room = 2 * room + 64) * sizeof *row);
            if (!row) return spot_fail(c, SPOT_NOMEM, "no memory for the pictures of %s", path);
            p->row = row;
        }
        SPOT_TRY(read_row(c, path, t, whole, p));
    }
}

spot_status spot_gathered_read(spot_ctx *c, const char *path, spot_slice_claim *k, spot_new_pictures *p,
                               spot_gathered_has *has)
{
    static const char *const column[] = { "group", "wrong", "picture", "similarity", "predicted", SPOT_GATHERED_GROUPS };
    const char *slash = strrchr(path, '/');
    char claim[PATH];
    spot_rows *t;
    spot_status s;

    *p = (spot_new_pictures){ 0 };
    *k = (spot_slice_claim){ .rate = NAN, .class_rate = NAN };
    snprintf(claim, sizeof claim, "%.*sclaim.json", slash ? (int)(slash - path + 1) : 0, path);
    *has = (spot_gathered_has){ .claim = !access(claim, F_OK) };
    if (has->claim) SPOT_TRY(read_claim(c, k, claim));
    SPOT_TRY(spot_rows_open_some(c, &t, path, column, GROUPS + 1, has->claim ? GROUPS : PICTURE));
    has->groups = spot_rows_has(t, GROUPS);
    s = read_rows(c, path, t, has->claim, p);
    spot_rows_close(t);
    return s;
}

spot_status spot_gathered_groups(spot_ctx *c, spot_subject *of, const char *path, const char *column, int n)
{
    const spot_array_how how = { .text = true, .holes = true };
    spot_array a = { 0 };
    char where[2 * PATH], **cell;

    *of = (spot_subject){ .n = n };
    snprintf(where, sizeof where, "%s:%s", path, column);
    SPOT_TRY(spot_array_read_as(c, &a, where, &how));
    if (a.rank != 1 || a.dim[0] != n || a.type != SPOT_WORDS) {
        spot_array_close(&a);
        return spot_fail(c, SPOT_INPUT, "{gather.groups} %s is no column with a group for each of %d pictures", where, n);
    }
    cell = a.data, a.data = NULL;
    spot_array_close(&a);
    SPOT_TRY(spot_subject_keep(c, of, cell));
    SPOT_TRY(spot_groups_of_cells(c, of, cell));
    return spot_groups_settle(c, of, where);
}
