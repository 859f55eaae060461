/* cmd_gather.c - spotter gather: tests a slice's description on new pictures. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/encoder_rows.h"
#include "discover/hypothesis.h"
#include "formats/csv_rows.h"
#include "spotter/store.h"

enum { PATH = 1200 };

typedef struct {
    cli_machine machine;
    cli_encoder encoder;
    const char *text, *images, *weights, *out, *judge;
    int most, seed;
    double level;
    bool json;
} options;

static const cli_row table[] = {
    { "text",    0,   "PHRASE", CLI_TEXT, CLI_AT(text), .help = "description of a slice, such as \"a dog in the snow\"" },
    { "images",  0,   "DIR",  CLI_TEXT, CLI_AT(images), .help = "folder of new pictures, of one class" },
    { "encoder", 0,   "FILE", CLI_TEXT, CLI_AT(weights),
      .help = "CLIP in .safetensors that compares the phrase with the pictures" },
    { "most",    0,   "N",    CLI_INT,  CLI_AT(most), 1, 1000000, .preset = "40",
      .help = "pictures that are gathered, and as many random others as controls" },
    { "seed",    's', "N",    CLI_INT,  CLI_AT(seed), 0, 2147483647, .preset = "0", .help = "seed of the controls" },
    { "out",     'o', "DIR",  CLI_TEXT, CLI_AT(out), .most = 1000, .help = "folder for gathered.csv" },
    { "judge",   0,   "FILE", CLI_TEXT, CLI_AT(judge),
      .help = "gathered.csv whose column `wrong` you have filled with 0 and 1; a picture with an empty cell is left out" },
    { "level",   0,   "X",    CLI_REAL, CLI_AT(level), 0.000001, 0.5, .preset = "0.05", .help = "level of the test" },
    { "json",    'j', NULL,   CLI_ON,   CLI_AT(json), .help = "one JSON object on stdout at the end, with --judge" },
    CLI_ENCODER_ROWS("", encoder),
    CLI_ENCODER_TEXT_ROWS("", encoder),
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    const options *o = input;

    if (o->judge && (o->text || o->images || o->weights || o->out))
        argp_error(state, "--judge tests a table that is filled; the options that make one do not go with it");
    if (!o->judge && (!o->text || !o->images || !o->weights || !o->out))
        argp_error(state, "give --text, --images, --encoder and --out to gather pictures, or --judge FILE to test");
}

/* ---- gather ---- */

typedef struct { const spot_folder *folder; const spot_gathered *pick; int n; } chosen;

static bool write_table(FILE *f, const void *user)
{
    static const char *const group[] = { "gathered", "control" };
    const chosen *t = user;

    fputs("picture,group,similarity,wrong\n", f);
    for (int i = 0; i < t->n; i++) {
        spot_csv_field(f, t->folder->path[t->pick[i].picture]);
        fprintf(f, ",%s,%.6g,\n", group[t->pick[i].group], t->pick[i].similarity);
    }
    return !ferror(f);
}

static spot_status write_picks(spot_ctx *c, const options *o, const spot_folder *f, const double *similarity, const int *of,
                               int n)
{
    spot_gathered *pick = malloc(2 * (size_t)o->most * sizeof *pick);
    chosen t = { .folder = f, .pick = pick };
    char path[PATH];
    spot_status s = pick ? spot_gather_pick(c, pick, &t.n, similarity, n, o->most, (uint64_t)o->seed)
                         : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", o->most);

    for (int i = 0; !s && i < t.n; i++) pick[i].picture = of[pick[i].picture];
    if (!s) s = spot_folder_make(c, o->out);
    snprintf(path, sizeof path, "%s/gathered.csv", o->out);
    if (!s) s = spot_file_fill(c, path, write_table, &t);
    if (!s) printf("%s: %d pictures and %d controls; fill the column `wrong`, then spotter gather --judge %s\n", path, t.n / 2,
                   t.n / 2, path);
    free(pick);
    return s;
}

/* Cosines of the phrase with the readable pictures; of: their places in the folder. */
static spot_status compare(spot_ctx *c, const options *o, spot_encoder *e, char *const *path, int n, double *similarity,
                           int *of, int *readable)
{
    const int d = spot_encoder_about(e)->dim;
    float *v = malloc(((size_t)n + 1) * (size_t)d * sizeof *v), *text = v ? v + (size_t)n * (size_t)d : NULL;
    uint8_t *bad = malloc((size_t)n);
    const spot_encoder_pictures p = { .path = path, .n = n, .feature = v, .unreadable = bad, .stage = "gather" };
    spot_status s = v && bad ? spot_encode_texts(c, e, text, &o->text, 1)
                               : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", n);

    if (!s) s = spot_encode_pictures(c, e, &p);
    for (int i = 0; !s && i < n; i++) {
        if (bad[i]) continue;
        similarity[*readable] = 0;
        for (int k = 0; k < d; k++) similarity[*readable] += (double)text[k] * (double)v[(size_t)i * (size_t)d + (size_t)k];
        of[(*readable)++] = i;
    }
    free(v);
    free(bad);
    return s;
}

static spot_status gather_folder(spot_ctx *c, const options *o, const spot_folder *f)
{
    const size_t n = (size_t)f->n;
    size_t bytes = n * sizeof(char *);
    char **path, *at;
    double *similarity = malloc(n * sizeof *similarity);
    int *of = malloc(n * sizeof *of), readable = 0;
    spot_encoder *e = NULL;
    spot_status s;

    for (int i = 0; i < f->n; i++) bytes += strlen(o->images) + strlen(f->path[i]) + 2;
    path = malloc(bytes);
    s = path && similarity && of ? spot_encoder_open(c, &e, o->weights, &o->encoder.o)
                                 : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", f->n);
    at = (char *)(path + n);
    for (int i = 0; !s && i < f->n; i++) {
        path[i] = at;
        at += sprintf(at, "%s/%s", o->images, f->path[i]) + 1;
    }
    if (!s) s = compare(c, o, e, path, f->n, similarity, of, &readable);
    spot_encoder_close(c, e);
    if (!s) s = write_picks(c, o, f, similarity, of, readable);
    free(path);
    free(similarity);
    free(of);
    return s;
}

/* ---- judge ---- */

static spot_status count_row(spot_ctx *c, const options *o, const spot_rows *t, spot_claim_test *test)
{
    const char *group = spot_rows_cell(t, 0), *wrong = spot_rows_cell(t, 1);
    const int g = !strcmp(group, "gathered") ? SPOT_GATHERED : SPOT_CONTROL;

    if (g && strcmp(group, "control"))
        return spot_fail(c, SPOT_INPUT, "%s, line %llu: the group is \"%.40s\", neither gathered nor control", o->judge,
                         (unsigned long long)spot_rows_line(t), group);
    if (!*wrong) return SPOT_OK;
    if (strcmp(wrong, "0") && strcmp(wrong, "1"))
        return spot_fail(c, SPOT_INPUT, "%s, line %llu: wrong is \"%.40s\"; it must be 0 or 1, or empty", o->judge,
                         (unsigned long long)spot_rows_line(t), wrong);
    test->n[g]++;
    test->wrong[g] += *wrong == '1';
    return SPOT_OK;
}

static spot_status count_rows(spot_ctx *c, const options *o, spot_claim_test *test)
{
    static const char *const column[] = { "group", "wrong" };
    bool more = true;
    spot_rows *t;
    spot_status s;

    SPOT_TRY(spot_rows_open(c, &t, o->judge, column, 2));
    do {
        s = spot_rows_next(c, t, &more);
        if (!s && more) s = count_row(c, o, t, test);
    } while (!s && more);
    spot_rows_close(t);
    return s;
}

static spot_status print_verdict(spot_ctx *c, const options *o, const spot_claim_test *t)
{
    static const char *const name[] = { "too few pictures", "not confirmed", "confirmed" };
    static const char *const group[] = { "gathered", "control" };
    spot_json j;

    if (!o->json) {
        for (int g = 0; g < 2; g++)
            printf("%-9s %d of %d wrong, %.1f %% (95 %%: %.1f to %.1f)\n", group[g], t->wrong[g], t->n[g],
                   100 * t->rate[g].value, 100 * t->rate[g].low, 100 * t->rate[g].high);
        printf("%s: p = %.3g (Fisher's exact test, one-sided)\n", name[t->verdict], t->p);
        return SPOT_OK;
    }
    SPOT_TRY(cli_json_open(c, &j, SPOT_OK, o->judge));
    for (int g = 0; g < 2; g++) {
        spot_json_object(&j, group[g]);
        spot_json_put_int(&j, "pictures", t->n[g]);
        spot_json_put_int(&j, "wrong", t->wrong[g]);
        spot_json_put_interval(&j, "rate", t->rate[g]);
        spot_json_end(&j);
    }
    spot_json_put_real(&j, "p", t->p);
    spot_json_put_text(&j, "verdict", name[t->verdict]);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

static spot_status gather_pictures(spot_ctx *c, void *input)
{
    options *o = input;
    spot_claim_test test = { .n = { 0 } };
    spot_folder f;
    spot_status s;

    if (o->judge) {
        SPOT_TRY(count_rows(c, o, &test));
        spot_claim_judge(&test, o->level);
        return print_verdict(c, o, &test);
    }
    SPOT_TRY(cli_encoder_options(c, &o->encoder, ""));
    SPOT_TRY(spot_folder_pictures(c, &f, o->images));
    s = gather_folder(c, o, &f);
    spot_folder_close(&f);
    return s;
}

static void store_defaults(void *input) { cli_encoder_defaults(&((options *)input)->encoder); }

const cli_command cli_gather_command = {
    "gather", "test of a slice's description on new pictures", "--text T --images DIR --out DIR",
    "  spotter gather --text \"a dog in the snow\" --images dogs --encoder clip.safetensors --out snow\n"
    "  spotter gather --judge snow/gathered.csv",
    "Takes the pictures of a folder that are nearest to a phrase, and as many random others as controls, into gathered.csv. "
    "When you have looked whether your classifier is wrong on each, --judge says whether the phrase names a weakness: "
    "Fisher's exact test, one-sided. The pictures must be new to the search that found the slice.",
    table, check_options, .work = gather_pictures, CLI_OPTIONS(out), .machine = true, .fill = store_defaults
};
