/* cmd_assign.c - spotter assign: assigns new rows to the slices of a folder of findings. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "discover/search/discover_run.h"
#include "discover/subject/fit_rules.h"
#include "stats/group_sums.h"
#include "stats/statistics.h"

typedef struct {
    cli_machine machine;
    spot_subject_files files;
    const char *dir, *rows_file, *out, *attributes;
    bool json;
} assign_flags, cli_flags;

/* A slice on the new rows: its rows and wrong rows, those of its class, and the exact test that it fails no more often. */
typedef struct {
    const spot_fitted *of;
    int    cls, rank, rows, wrong, class_rows, class_wrong;
    int    groups;             /* of its rows; 0: rows are alone */
    spot_interval excess;      /* error rate of its rows less that of their classes */
    double base;               /* wrong rows expected among `rows`, by the rates of their classes */
    double p, corrected;
} judged;

typedef struct {
    int     rows, members, slices;
    judged *slice;             /* where labels and probabilities are known; else NULL */
    bool    merged;            /* slices of a proof */
    spot_fits fits;
    spot_attributes attributes;        /* items of the rules, for the new rows */
} counts;

static const cli_row table[] = {
    { .word = "DIR", .kind = CLI_TEXT, CLI_AT(dir), .most = 1000, .need = "found" },
    { .word = "ROWS.yaml", .kind = CLI_ROWS_FILE, CLI_AT(rows_file), .from = &cli_discover_command },
    { "embeddings", 'e', "E",    CLI_TEXT, CLI_AT(files.embeddings), .need = "e2.npy",
      .flags = CLI_ROWS_PATH | CLI_LINES,
      .help = "features of the new rows from the same network: (n, d) numbers in .npy, .npz:NAME, .safetensors:NAME or "
              ".csv:e0..e511; as often and in the order as the findings have sources" },
    { "labels",     'y', "Y",    CLI_TEXT, CLI_AT(files.labels), .flags = CLI_ROWS_PATH,
      .help = "true class of each row: numbers or words as for `spotter discover`; not needed if the findings have one class, "
              "or all rows at once" },
    { "probs",      'p', "P",    CLI_TEXT, CLI_AT(files.probs), .flags = CLI_ROWS_PATH,
      .help = "probability of each row's true class, or of class 1 of two, or (n, classes); spotlight, barlow and george do "
              "not need it" },
    { "losses",     0,   "L",    CLI_TEXT, CLI_AT(files.losses), .flags = CLI_ROWS_PATH,
      .help = "cross-entropy of each row, instead of --probs" },
    { "logits",     0,   NULL,   CLI_ON,   CLI_AT(files.logits), .flags = CLI_ROWS | CLI_MORE,
      .help = "--probs has scores before the softmax, of which probabilities are made" },
    { "skip-bad-rows", 0, NULL,  CLI_ON,   CLI_AT(files.skip_bad), .flags = CLI_ROWS | CLI_MORE,
      .help = "rows that no method can use (NaN, no label, a feature beyond 1e12) are left out and counted" },
    { "ids",        'i', "I",    CLI_TEXT, CLI_AT(files.ids), .otherwise = "row numbers",
      .flags = CLI_ROWS_PATH, .help = "names of the rows" },
    { "groups",     0,   "G|rows", CLI_TEXT, CLI_AT(files.groups), .otherwise = "each row alone", .flags = CLI_ROWS_PATH,
      .help = "video, patient or other group of each new row: rows with an equal word or number depend on each other" },
    { "attributes", 0,   "FILE", CLI_TEXT, CLI_AT(attributes), .flags = CLI_ROWS_PATH,
      .help = "table.csv with a record for each new row, or table.csv:COLUMN with their ids, for slices that are rules" },
    { "images",     0,   "DIR",  CLI_TEXT, CLI_AT(files.images), .flags = CLI_ROWS_PATH,
      .help = "folder of the new rows' pictures, which --ids name below it, for rules of what pictures show, such as "
              "brightness: dark" },
    CLI_READING_ROWS(files.reading, CLI_ROWS | CLI_MORE),
    { "skip-unreadable", 0, NULL, CLI_ON, CLI_AT(files.skip), .flags = CLI_ROWS | CLI_MORE,
      .help = "a row whose picture is not there has no attributes of pictures" },
    { "follow-links", 0, NULL,   CLI_ON, CLI_AT(files.links), .flags = CLI_ROWS | CLI_MORE,
      .help = "pictures that --ids name may lie outside --images, behind symbolic links" },
    { "json",       'j', NULL,   CLI_ON,   CLI_AT(json), .help = "one JSON object on stdout at the end" },
    { "out",        'o', "FILE", CLI_TEXT, CLI_AT(out), .most = 1000, .need = "slices2.csv",
      .help = "CSV file with a line for every row in every slice: id, class, method, seed, rank (in the class), number (of the "
              "slice)" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    const assign_flags *o = input;

    if (o->files.probs && o->files.losses) argp_error(state, "--probs and --losses mean the same; give one of them");
    if (o->files.images && !o->files.ids)
        argp_error(state, "--images holds the pictures that --ids name; give the names with --ids");
}

static bool knows_attributes(const assign_flags *o) { return o->attributes || o->files.images; }

/* Rows without labels get the class of all findings. */
static spot_status choose_only_class(spot_ctx *c, const assign_flags *o, spot_fits *f)
{
    for (int i = 1; i < f->count && !o->files.labels; i++)
        if (f->of[i].cls != f->of[0].cls)
            return spot_fail(c, SPOT_USAGE, "%s has findings of several classes; say with --labels which one each row has",
                             o->dir);
    f->known.only = f->of[0].cls < 0 ? 0 : f->of[0].cls;
    return SPOT_OK;
}

/* Warns if rows have a class that was not examined; fails if all have. */
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
    for (int k = 0; k < g->slices; k++)
        for (int i = 0; i < rows->n; i++) {
            if (!member[(size_t)i * g->slices + k]) continue;
            n->members++;
            spot_csv_field(out, s->id[rows->image[i]]);
            fputc(',', out);
            spot_csv_field(out, g->cls < 0 ? "" : s->class_name[g->cls]);
            fputc(',', out);
            spot_csv_field(out, g->method[k]);
            fprintf(out, ",%" PRIu64 ",%d,%d\n", g->seed, k + 1, g->number[k]);
        }
}

/* ---- claims on new rows ---- */

/* The strata of a test: one class, or, for all rows at once, each class. Counts the rows and the wrong ones of each. */
static void count_strata(spot_stratum *t, int strata, const spot_subject *s, const spot_view *rows, int cls)
{
    for (int h = 0; h < strata; h++) t[h] = (spot_stratum){ 0, 0, 0 };
    for (int i = 0; i < rows->n; i++) {
        spot_stratum *own = &t[strata > 1 ? s->target[rows->image[i]] : 0];
        own->rows++;
        own->group += spot_subject_wrong(s, rows->image[i], cls);
    }
}

/* The new rows of a class, or all, and which of them belong to each slice. */
typedef struct {
    const spot_subject *s;
    const spot_view *rows;
    const uint8_t *member;     /* (rows->n, slices) */
    spot_stratum *t;           /* (strata) */
    int strata;
} judged_rows;

/* Counts the slice's rows and the wrong ones, and of each stratum the rows that it covers. */
static void count_slice(judged *v, const judged_rows *of, int k)
{
    for (int h = 0; h < of->strata; h++) of->t[h].covered = 0;
    for (int i = 0; i < of->rows->n; i++) {
        const int row = of->rows->image[i];
        if (!of->member[(size_t)i * (size_t)v->of->slices + (size_t)k]) continue;
        of->t[of->strata > 1 ? of->s->target[row] : 0].covered++;
        v->rows++;
        v->wrong += spot_subject_wrong(of->s, row, v->cls);
    }
}

/* The same slice where rows have groups: its excess over its classes' rates by the sums of its groups. row (rows->n): scratch;
 * n: of the test. */
static void judge_groups(judged *v, spot_group_sums *sums, spot_group_row *row, const judged_rows *of, int k, int n)
{
    const spot_view *rows = of->rows;

    for (int i = 0; i < rows->n; i++) {
        const int at = rows->image[i];
        const spot_stratum *own = &of->t[of->strata > 1 ? of->s->target[at] : 0];
        row[i] = (spot_group_row){ of->s->group[at], of->member[(size_t)i * (size_t)v->of->slices + (size_t)k],
                                   spot_subject_wrong(of->s, at, v->cls) - (double)own->group / own->rows,
                                   (double)own->covered / own->rows };
    }
    if (!v->rows) return;
    v->excess = spot_wider(v->excess, spot_group_excess(sums, row, rows->n, &v->groups));
    v->p = fmax(spot_signs_tail(sums, (uint32_t)n), ldexp(1, -v->groups));
}

static spot_status judge_slices(spot_ctx *c, const spot_subject *s, const spot_view *rows, const spot_fitted *g,
                                const uint8_t *member, counts *n)
{
    const int strata = g->cls < 0 ? s->classes : 1;
    spot_stratum *t = malloc((size_t)strata * sizeof *t);
    double *scratch = malloc(2 * ((size_t)rows->n + 1) * sizeof *scratch);
    spot_group_row *row = malloc(((size_t)rows->n + 1) * sizeof *row);
    const judged_rows of = { s, rows, member, t, strata };
    const bool grouped = spot_subject_is_grouped(s);
    spot_group_sums sums = { 0 };
    bool room = t && scratch && row && (!grouped || spot_group_sums_open(c, &sums, s->groups) == SPOT_OK);
    int all = 0;

    if (room) count_strata(t, strata, s, rows, g->cls);
    for (int h = 0; h < strata && room; h++) all += t[h].group;
    for (int k = 0; k < g->slices && room; k++) {
        judged *v = &n->slice[n->slices++];
        *v = (judged){ .of = g, .cls = g->cls, .rank = k + 1, .class_rows = rows->n, .class_wrong = all };
        count_slice(v, &of, k);
        for (int h = 0; h < strata; h++) v->base += t[h].rows ? (double)t[h].covered * t[h].group / t[h].rows : 0;
        v->p = v->rows ? spot_stratified_tail(t, strata, v->wrong, scratch) : 1;
        v->excess = spot_share_excess(v->wrong, v->rows, v->class_wrong, v->class_rows, v->base);
        if (grouped) judge_groups(v, &sums, row, &of, k, n->slices);
    }
    spot_group_sums_close(&sums);
    free(t);
    free(scratch);
    free(row);
    if (!room) n->slices = 0;
    return room ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to judge %d slices", g->slices);
}

static int surer_first(const void *a, const void *b)
{
    const judged *x = a, *y = b;

    return x->corrected != y->corrected ? (x->corrected > y->corrected) - (x->corrected < y->corrected)
         : x->p != y->p ? (x->p > y->p) - (x->p < y->p) : x->cls != y->cls ? x->cls - y->cls : x->rank - y->rank;
}

static spot_status correct(spot_ctx *c, counts *n)
{
    spot_ranked_p *scratch = malloc(((size_t)n->slices + 1) * sizeof *scratch);
    double *p = malloc(((size_t)n->slices + 1) * sizeof *p);
    const bool room = scratch && p;

    for (int i = 0; i < n->slices && room; i++) p[i] = n->slice[i].p;
    if (room) spot_holm(p, n->slices, scratch);
    for (int i = 0; i < n->slices && room; i++) n->slice[i].corrected = p[i];
    if (room) qsort(n->slice, (size_t)n->slices, sizeof *n->slice, surer_first);
    free(scratch);
    free(p);
    return room ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the tests of %d slices", n->slices);
}

static void print_slice(const counts *n, const judged *v, const spot_subject *s, bool held)
{
    const spot_interval x = v->excess;
    char name[24];

    snprintf(name, sizeof name, "%.20s", v->cls < 0 ? "(all)" : s->class_name[v->cls]);
    printf("%5d  %-20s  %6d  ", v->of->number[v->rank - 1], spot_plain(name), v->rows);
    if (v->rows)
        printf("%3.0f %%  %3.0f %%  %+4.0f %% (%+.0f to %+.0f)", 100.0 * v->wrong / v->rows, 100 * v->base / v->rows,
               100 * x.value, 100 * x.low, 100 * x.high);
    if (!n->merged) printf("  %s\n", v->of->method[v->rank - 1]);
    else if (!v->rows) printf("no row\n");
    else {
        printf("  %8.2g  %s", v->corrected, held ? "confirmed" : "not confirmed");
        if (v->groups) printf(", %d group%s", v->groups, v->groups == 1 ? "" : "s");
        putchar('\n');
    }
}

static void print_claims(const counts *n, const spot_subject *s)
{
    enum { TOP = 40 };
    const double level = spot_proof_defaults().level;
    int holds = 0;

    printf("slice  class                   rows  wrong  class  excess (95 %% interval)  %s\n",
           n->merged ? "p for all  on these rows" : "method");
    for (int i = 0; i < n->slices; i++) {
        const judged *v = &n->slice[i];
        const bool held = v->rows && v->corrected <= level;
        holds += held;
        if (i < TOP) print_slice(n, v, s, held);
    }
    if (n->slices > TOP) printf("and %d more; --json has all\n", n->slices - TOP);
    if (n->merged)
        printf("%d of %d slices are confirmed on these rows, at level %g for all together\n", holds, n->slices, level);
    if (n->merged && spot_subject_is_grouped(s))
        printf("rows in %d groups: m groups of a slice give no p below 2^-m\n", s->groups);
}

/* Slices without a proof: some methods decide by the new rows' own probabilities which slice a row is in. */
static void warn_of_rates(spot_ctx *c)
{
    spot_log(c, SPOT_LOG_WARN, "these rates test nothing: planespot, domino, multiaccuracy and others use the probabilities of "
             "the new rows to decide membership; leave --no-proof out of `spotter discover` for slices that can be tested");
}

/* Assigns the rows of one finding's class. */
static spot_status assign_one(spot_ctx *c, FILE *out, const assign_flags *o, const spot_subject *s, const spot_fitted *g,
                              counts *n)
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
    if (how == SPOT_OK && knows_attributes(o))
        how = spot_fit_rules_assign(c, member, &rows, &n->fits, (int)(g - n->fits.of), &n->attributes);
    if (how == SPOT_OK) put_members(out, s, &rows, g, member, n);
    if (how == SPOT_OK && n->slice) how = judge_slices(c, s, &rows, g, member, n);
    spot_arena_close(&a);
    return how;
}

static spot_status assign_all(spot_ctx *c, const assign_flags *o, const spot_subject *s, const spot_fits *f, counts *n)
{
    spot_status how = SPOT_OK;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out) return spot_fail(c, SPOT_NOMEM, "no memory for %s", o->out);
    fputs("id,class,method,seed,rank,number\n", out);
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

static void put_claims(spot_json *j, const counts *n)
{
    spot_json_array(j, "slices", 0, 0);
    for (int i = 0; i < n->slices; i++) {
        const judged *v = &n->slice[i];
        spot_json_object(j, NULL);
        spot_json_put_int(j, "number", v->of->number[v->rank - 1]);
        spot_json_put_text(j, "class", v->cls < 0 ? NULL : n->fits.known.class_name[v->cls]);
        spot_json_put_int(j, "class_number", v->cls);
        spot_json_put_int(j, "rank", v->rank);
        spot_json_put_text(j, "method", v->of->method[v->rank - 1]);
        spot_json_put_int(j, "rows", v->rows);
        spot_json_put_int(j, "wrong", v->wrong);
        spot_json_put_int(j, "class_rows", v->class_rows);
        spot_json_put_int(j, "class_wrong", v->class_wrong);
        spot_json_put_real(j, "expected_wrong", v->base);
        spot_json_put_interval(j, "excess", v->excess);
        if (v->groups) spot_json_put_int(j, "groups", v->groups);
        if (n->merged) spot_json_put_real(j, "p", v->p);
        if (n->merged) spot_json_put_real(j, "corrected_p", v->corrected);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static spot_status print_json(spot_ctx *c, spot_status s, const assign_flags *o, const counts *n)
{
    spot_json j;

    SPOT_TRY(cli_json_open(c, &j, s, o->out));
    spot_json_put_int(&j, "rows", n->rows);
    spot_json_put_int(&j, "members", n->members);
    if (n->slice) put_claims(&j, n);
    spot_json_print(&j, stdout);
    return s;
}

/* Refuses an output that would overwrite an input: the new rows and the findings. */
static spot_status check_out(spot_ctx *c, const assign_flags *o)
{
    const spot_subject_files more = { .ids = o->attributes, .labels = o->rows_file };
    char path[1200];

    if (cli_is_input(&o->files, o->out) || cli_is_input(&more, o->out))
        return spot_fail(c, SPOT_USAGE, "--out %s would be read and written over; choose another name", o->out);
    for (const char *const *name = spot_findings_files; *name; name++) {
        const spot_subject_files found = { .ids = path };
        snprintf(path, sizeof path, "%s/%s", o->dir, *name);
        if (cli_is_input(&found, o->out))
            return spot_fail(c, SPOT_USAGE, "--out %s is a file of the findings; choose another name", o->out);
    }
    return SPOT_OK;
}

/* A row's features do not tell whether it has the attributes of a rule. */
static void warn_of_rules(spot_ctx *c, const spot_fits *f)
{
    int rules = 0, slices = 0;

    for (int i = 0; i < f->count; i++) rules += f->of[i].rules, slices += f->of[i].slices;
    if (rules)
        spot_log(c, SPOT_LOG_WARN, "%d of %d slices are rules of attributes, and new rows come without: they join by the vote "
                 "of their neighbours, so that these rates are not those of the rules; give --attributes FILE.csv, or "
                 "--images DIR for what pictures show", rules, slices);
}

/* Room for the rates of all slices, where the rows' errors are known. */
static spot_status open_claims(spot_ctx *c, const assign_flags *o, const spot_fits *f, counts *n)
{
    size_t slices = 0;

    for (int i = 0; i < f->count; i++) {
        slices += (size_t)f->of[i].slices;
        n->merged = n->merged || f->of[i].merged;
    }
    if (!slices || !o->files.labels || (!o->files.probs && !o->files.losses)) return SPOT_OK;
    n->slice = calloc(slices, sizeof *n->slice);
    return n->slice ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %zu claims", slices);
}

static spot_status assign(spot_ctx *c, const assign_flags *o, counts *n)
{
    spot_subject s = { 0 };
    spot_fits *f = &n->fits;
    spot_status how;

    SPOT_TRY(check_out(c, o));
    SPOT_TRY(cli_study_for(c, NULL, o->dir, "assign", "discover"));
    SPOT_TRY(spot_fits_open(c, f, o->dir));
    how = choose_only_class(c, o, f);
    if (how == SPOT_OK) how = spot_rows_read(c, &s, &o->files, &f->known);
    if (how == SPOT_OK) how = check_classes(c, &s, f);
    if (how == SPOT_OK && knows_attributes(o)) how = spot_fit_rules_read(c, &n->attributes, f, o->attributes, &s);
    if (how == SPOT_OK) how = open_claims(c, o, f, n);
    if (how == SPOT_OK) how = assign_all(c, o, &s, f, n);
    if (how == SPOT_OK && n->slice) how = correct(c, n);
    if (how == SPOT_OK && n->slices && !n->merged) warn_of_rates(c);
    if (how == SPOT_OK && !knows_attributes(o)) warn_of_rules(c, f);
    if (how == SPOT_OK && n->slices && !o->json) print_claims(n, &s);
    spot_subject_close(&s);
    return how;
}

static spot_status assign_and_print(spot_ctx *c, void *input)
{
    const assign_flags *o = input;
    counts n = { 0 };
    spot_status s = assign(c, o, &n);

    cli_log_close();
    if (o->json) s = print_json(c, s, o, &n);
    else if (s == SPOT_OK) printf("%d rows, %d times in a slice: %s\n", n.rows, n.members, o->out);
    free(n.slice);
    spot_fits_close(&n.fits);
    spot_attributes_close(&n.attributes);
    return s;
}

const cli_command cli_assign_command = {
    "assign", "slices of new rows, from the findings of discover", "DIR -e E --out FILE\nDIR ROWS.yaml --out FILE",
    "  spotter discover --embeddings e.npy --labels y.npy --probs p.npy --out found\n"
    "  spotter assign found -e e2.npy -y y2.npy -p p2.npy --out slices2.csv\n"
    "  spotter assign found new/rows.yaml --out slices2.csv",
    "Assigns new rows to the slices that `spotter discover` found. A new row joins a slice where most of its nearest examined "
    "rows are in it, whatever the classifier says of it. With --labels and --probs each slice gets the error rate of its new "
    "rows beside that of their class, and an exact test for all slices together. Findings of --no-proof take rows as their "
    "methods do: rows that they have seen get the slices that they had, and the error rates test nothing. ROWS.yaml may hold "
    "the options about the new rows, as for `spotter discover`.",
    table, check_options,
    .work = assign_and_print, CLI_OPTIONS(dir), .machine = true
};
