/* cmd_assign.c - spotter assign: rows that were not there before into the slices of a folder of findings. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "discover/fits.h"
#include "discover/search.h"
#include "spotter/store.h"

typedef struct {
    cli_machine machine;
    spot_subject_files files;
    const char *dir, *out;
    bool json;
} options;

typedef struct { int rows, members; } counts;

enum { EMBEDDINGS = 'e', LABELS = 'y', PROBS = 'p', IDS = 'i', OUT = 'o', JSON = 'j', LOSSES = 0x100 };

static const struct argp_option table[] = {
    { "embeddings", EMBEDDINGS, "E", 0, "what the same network sees of each new row: (n, d) numbers in .npy, .npz:NAME, "
      ".safetensors:NAME or .csv:e0..e511", 0 },
    { "labels",     LABELS, "Y",     0, "the true class of each row: numbers or words as spotter discover had them. Not needed "
      "where the findings are of one class, or of all rows at once", 0 },
    { "probs",      PROBS,  "P",     0, "the probability of each row's true class, of class 1 where there are two, or (n, "
      "classes). Not needed by spotlight, barlow and george", 0 },
    { "losses",     LOSSES, "L",     0, "cross-entropy of each row, in place of --probs", 0 },
    { "ids",        IDS,    "I",     0, "names of the rows (their numbers)", 0 },
    { "json",       JSON,   NULL,    0, "one final object on stdout", 0 },
    { "out",        OUT,    "FILE",  0, "a .csv: id, class, method, seed, rank; a line for every row in every slice", 0 },
    { 0 }
};

static void check(const struct argp_state *state, const options *o)
{
    if (!o->dir) argp_error(state, "whose slices? name a folder that spotter discover wrote");
    if (!o->files.embeddings) argp_error(state, "which rows? give --embeddings");
    if (!o->out) argp_error(state, "where to? give a file with --out FILE");
    if (o->files.probs && o->files.losses) argp_error(state, "--probs and --losses say the same; give one of them");
    if (strlen(o->dir) > 1000 || strlen(o->out) > 1000) argp_error(state, "a name is longer than 1000 bytes");
}

static error_t option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->machine; return 0;
    case EMBEDDINGS:    o->files.embeddings = arg; return 0;
    case LABELS:        o->files.labels = arg; return 0;
    case PROBS:         o->files.probs = arg; return 0;
    case LOSSES:        o->files.losses = arg; return 0;
    case IDS:           o->files.ids = arg; return 0;
    case OUT:           o->out = arg; return 0;
    case JSON:          o->json = true; return 0;
    case ARGP_KEY_ARG:
        if (o->dir) argp_error(state, "\"%s\" is one word too many; one folder of findings at a time", arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END:  check(state, o); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The class of rows without labels: that of all findings. */
static spot_status choose_only(spot_ctx *c, const options *o, spot_fits *f)
{
    for (int i = 1; i < f->count && !o->files.labels; i++)
        if (f->of[i].cls != f->of[0].cls)
            return spot_fail(c, SPOT_USAGE, "%s has findings of several classes; say with --labels which one each row has",
                             o->dir);
    f->known.only = f->of[0].cls < 0 ? 0 : f->of[0].cls;
    return SPOT_OK;
}

/* A warning where rows have a class that nobody examined; a failure where all do. */
static spot_status check_classes(spot_ctx *c, const spot_subject *s, const spot_fits *f)
{
    int left = 0, first = -1;

    for (int k = 0; k < s->classes; k++) {
        bool examined = false;
        for (int i = 0; i < f->count; i++) examined |= f->of[i].cls < 0 || f->of[i].cls == k;
        if (examined || !spot_subject_rows(s, k)) continue;
        left += spot_subject_rows(s, k);
        if (first < 0) first = k;
    }
    if (!left) return SPOT_OK;
    if (left == s->n)
        return spot_fail(c, SPOT_INPUT, "none of the %d rows has a class that was examined; there is class \"%.80s\"",
                         left, s->class_name[first]);
    spot_log(c, SPOT_LOG_WARN, "%d rows have classes that were not examined, as class \"%.80s\"; they are in no slice", left,
             s->class_name[first]);
    return SPOT_OK;
}

static void put_members(FILE *out, const spot_subject *s, const spot_view *rows, const spot_fitted *g, const uint8_t *member,
                        counts *n)
{
    char method[80];

    spot_bdm_name(g->bdm, method, sizeof method);
    for (int k = 0; k < g->slices; k++)
        for (int i = 0; i < rows->n; i++) {
            if (!member[(size_t)i * g->slices + k]) continue;
            n->members++;
            spot_csv_field(out, s->id[rows->image[i]]);
            fputc(',', out);
            spot_csv_field(out, g->cls < 0 ? "" : s->class_name[g->cls]);
            fputc(',', out);
            spot_csv_field(out, method);
            fprintf(out, ",%" PRIu64 ",%d\n", g->seed, k + 1);
        }
}

/* The rows of one finding's class. */
static spot_status assign_one(spot_ctx *c, FILE *out, const options *o, const spot_subject *s, const spot_fitted *g, counts *n)
{
    spot_arena a = spot_arena_counting();
    uint8_t *member;
    spot_view rows;
    spot_status how;

    if (!g->slices || !spot_subject_rows(s, g->cls)) return SPOT_OK;
    SPOT_TRY(spot_subject_view(c, &a, &rows, s, g->cls));
    SPOT_TRY(SPOT_TAKE(c, &a, member, (size_t)rows.n * g->slices));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    how = spot_subject_view(c, &a, &rows, s, g->cls);
    if (how == SPOT_OK) how = SPOT_TAKE(c, &a, member, (size_t)rows.n * g->slices);
    if (!o->files.probs && !o->files.losses) rows.confidence = NULL;
    if (how == SPOT_OK) how = spot_assign(c, member, g->slices, &rows, &g->fit, g->bdm);
    if (how == SPOT_OK) put_members(out, s, &rows, g, member, n);
    spot_arena_close(&a);
    return how;
}

static spot_status assign_all(spot_ctx *c, const options *o, const spot_subject *s, const spot_fits *f, counts *n)
{
    spot_status how = SPOT_OK;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out) return spot_fail(c, SPOT_NOMEM, "no memory for %s", o->out);
    fputs("id,class,method,seed,rank\n", out);
    n->rows = s->n;
    for (int i = 0; i < f->count && how == SPOT_OK; i++) {
        spot_tell(c, "assign", -1, i, f->count, "");
        how = spot_check_stop(c);
        if (how == SPOT_OK) how = assign_one(c, out, o, s, &f->of[i], n);
    }
    if (fclose(out) && how == SPOT_OK) how = spot_fail(c, SPOT_NOMEM, "no memory for %s", o->out);
    if (how == SPOT_OK) how = spot_file_write(c, o->out, text, bytes);
    free(text);
    return how;
}

static spot_status print_json(spot_ctx *c, spot_status s, const options *o, const counts *n)
{
    spot_json j;
    char status[32], out[1024];

    SPOT_TRY(spot_json_open(c, &j));
    snprintf(status, sizeof status, "%s", spot_status_name(s));
    snprintf(out, sizeof out, "%s", o->out);
    spot_json_int(&j, "schema", &(int){ 1 });
    spot_json_text(&j, "status", status, sizeof status);
    spot_json_text(&j, "out", out, sizeof out);
    spot_json_int(&j, "rows", &(int){ n->rows });
    spot_json_int(&j, "members", &(int){ n->members });
    spot_json_print(&j, stdout);
    return s;
}

static spot_status run(spot_ctx *c, const options *o, counts *n)
{
    spot_subject s = { 0 };
    spot_status how;
    spot_fits f;

    SPOT_TRY(spot_fits_open(c, &f, o->dir));
    how = choose_only(c, o, &f);
    if (how == SPOT_OK) how = spot_rows_read(c, &s, &o->files, &f.known);
    if (how == SPOT_OK) how = check_classes(c, &s, &f);
    if (how == SPOT_OK) how = assign_all(c, o, &s, &f, n);
    spot_subject_close(&s);
    spot_fits_close(&f);
    return how;
}

int cli_assign(int argc, char **argv)
{
    static const struct argp_child children[] = { { &cli_machine_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = { table, option, "DIR --embeddings E --out FILE",
        "Puts rows that were not there before into the slices that spotter discover found. The rows that were there come "
        "back as they were found.\n\nExamples:\n"
        "  spotter discover --embeddings e.npy --labels y.npy --probs p.npy --out found\n"
        "  spotter assign found --embeddings e2.npy --labels y2.npy --probs p2.npy --out slices2.csv",
        children, NULL, NULL };
    options o = { .dir = NULL };
    counts n = { 0, 0 };
    spot_ctx c;
    spot_status s;

    cli_parse_argp(&argp, argc, argv, &o);
    s = cli_open(&c, &o.machine);
    if (s == SPOT_OK) s = run(&c, &o, &n);
    cli_log_close();
    if (o.json) s = print_json(&c, s, &o, &n);
    else if (s == SPOT_OK) printf("%d rows, %d times in a slice: %s\n", n.rows, n.members, o.out);
    return cli_close(&c, s);
}
