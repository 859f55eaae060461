/* slice_table.c - see slice_table.h. */
#include "cli/slice_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bdm/methods.h"
#include "cli/slice_words.h"
#include "discover/proof/proof_files.h"
#include "discover/search/slice_describe.h"
#include "result/columns.h"

static const spot_slice *slice_at(const spot_findings *f, const spot_slice_place *at)
{
    return &f->finding[at->finding].slice[at->slice];
}

/* ---- a table's lines ---- */

enum { NAME = 17 };                        /* bytes of an ASCII name of a class in the table */

typedef struct {
    const spot_findings *f;
    const spot_subject *s;
    const spot_discover_options *d;
    const spot_slice_place *all;
    int n;                                 /* slices that are printed */
} slice_list;

/* p: of a slice; of a cause it is NULL, and the numbers are those of its slices together. */
typedef struct {
    const slice_list *of;
    const spot_slice *p;
    const char *claim;
    int number, cause, size, judged;
    double rate, class_rate, shrunk, least_p;
    uint64_t seed;
    char name[80], cls[4 * NAME], predicted[4 * NAME];     /* name: of the method */
} table_row;

static void set_class(char text[4 * NAME], const spot_subject *s, int cls, const char *none)
{
    spot_short_name name;

    snprintf(text, 4 * NAME, "%s", spot_shorten_to(name, cls < 0 ? none : s->class_name[cls], NAME - 1));
}

/* Whether one of the first n slices has the cause; 0: none has. */
static bool has_cause(const slice_list *l, int n, int cause)
{
    bool has = false;

    for (int i = 0; i < n && cause; i++) has |= slice_at(l->f, &l->all[i])->proof->cause == cause;
    return has;
}

/* The slices of a cause are one line, with the number of the first. */
static bool is_line(const slice_list *l, int i)
{
    const spot_proof *q = slice_at(l->f, &l->all[i])->proof;

    return !q || !has_cause(l, i, q->cause);
}

static long count_lines(const void *root) { return ((const slice_list *)root)->n; }

static void fill_proof(table_row *x, const spot_slice *p, const slice_list *l)
{
    const spot_proof *q = p->proof;
    char names[400];

    x->claim = spot_claim_name(q->claim);
    x->size = p->size, x->judged = q->judged, x->rate = (double)q->wrong / q->judged;
    x->class_rate = q->class_rate, x->shrunk = q->shrunk, x->least_p = q->p;
    set_class(x->predicted, l->s, q->predicted, "-");
    snprintf(x->name, sizeof x->name, "%.16s", spot_proof_methods(names, sizeof names, q, l->d));
}

static void fill_cause(table_row *x, int cause, const slice_list *l)
{
    const spot_cause k = spot_cause_of(l->f, cause);

    x->p = NULL, x->cause = cause;
    x->size = k.size, x->judged = k.judged, x->rate = (double)k.judged_wrong / k.judged;
    x->class_rate = k.class_rate, x->shrunk = k.shrunk, x->least_p = k.p;
    set_class(x->predicted, l->s, k.predicted, "-");
    snprintf(x->cls, sizeof x->cls, "%d classes", k.classes);
    snprintf(x->name, sizeof x->name, "one cause");
}

static bool get_line(void *out, const void *root, long i)
{
    const slice_list *l = root;
    const spot_finding *g = &l->f->finding[l->all[i].finding];
    const spot_slice *p = slice_at(l->f, &l->all[i]);
    table_row *x = out;

    if (!is_line(l, (int)i)) return false;
    *x = (table_row){ .of = l, .p = p, .number = (int)i + 1, .seed = g->seed };
    set_class(x->cls, l->s, g->cls, "(all)");
    if (p->proof) fill_proof(x, p, l);
    else spot_bdm_name(&l->d->bdm[g->bdm], x->name, sizeof x->name);
    if (p->proof && p->proof->cause) fill_cause(x, p->proof->cause, l);
    return true;
}

static void print_groups(FILE *to, const table_row *x)
{
    char note[SPOT_GROUPS_NOTE];

    if (x->p->proof && *spot_groups_note(note, x->of->s, x->p, x->of->d->proof->level))
        fprintf(to, "      %s\n", spot_plain(note));
}

/* Below the line of a cause stand its classes. */
static void print_below(FILE *to, const void *row)
{
    const table_row *x = row;
    const spot_findings *f = x->of->f;

    if (x->p) {
        print_groups(to, x);
        cli_slice_words(x->p);
        return;
    }
    const spot_cause k = spot_cause_of(f, x->cause);
    fprintf(to, "      %d slices that are alike, %.0f %% of their wrong rows taken for this class; rows: ", k.slices,
            100 * k.predicted_share);
    for (int i = 0, shown = 0; i < f->count; i++) {
        char text[40];
        int rows = 0;
        for (int j = 0; j < f->finding[i].slices; j++)
            if (f->finding[i].slice[j].proof->cause == x->cause) rows += f->finding[i].slice[j].size;
        if (!rows) continue;
        snprintf(text, sizeof text, "%.30s", x->of->s->class_name[f->finding[i].cls]);
        fprintf(to, "%s%d of %s", shown++ ? ", " : "", rows, spot_plain(text));
    }
    fputc('\n', to);
}

/* Files have the whole names. */
static const char *class_of(const table_row *x)
{
    const int cls = x->of->f->finding[x->of->all[x->number - 1].finding].cls;

    return !x->p ? x->cls : cls < 0 ? NULL : x->of->s->class_name[cls];
}

static void put_class(spot_json *j, const void *row) { spot_json_put_text(j, "class", class_of(row)); }

static void put_predicted(spot_json *j, const void *row)
{
    const table_row *x = row;
    const int to = slice_at(x->of->f, &x->of->all[x->number - 1])->proof->predicted;

    spot_json_put_text(j, "predicted", to < 0 ? NULL : x->of->s->class_name[to]);
}

static void judged_groups(spot_quantity_value *v, const void *row)
{
    const spot_slice *p = ((const table_row *)row)->p;

    if (p && p->proof->groups) v->value = p->proof->groups;
}

#define S(key, name_, ...) SPOT_QUANTITY(key, table_row, name_, .title = __VA_ARGS__)
#define RATE(key, name_, title_, format_, ...) S(key, name_, title_, .unit = SPOT_UNIT_SHARE, .format = format_, __VA_ARGS__)
#define WHOLE .unit = SPOT_UNIT_COUNT

static const spot_quantity proved[] = {
    S("number", number, "#", .right = true, WHOLE), S("claim", claim, "claim"), S("class", cls, "class", .put = put_class),
    S("size", size, "size", WHOLE, .about = "rows"), S("judged", judged, "judged", WHOLE, .about = "rows that judged it"),
    SPOT_COMPUTED("judged_groups", SPOT_AS_INT, judged_groups, .title = "groups", WHOLE, .optional = true,
                  .about = "groups of the rows that judged it"),
    RATE("judged_rate", rate, "rate", "%.0f %%", .about = "error rate of the judged rows"),
    RATE("class_rate", class_rate, "class", "%.0f %%", .about = "error rate of their classes"),
    RATE("shrunk_excess", shrunk, "excess", "%+.0f %%", .about = "excess to expect on new rows"),
    SPOT_BEHIND(NULL, table_row, p, spot_slice_more), S("predicted", predicted, "predicted", .put = put_predicted,
                                                       .about = "class that most of its wrong rows are taken for"),
    S("corrected_p", least_p, "p", .format = "%.2g", .about = "corrected for all tests"), S("methods", name, "found by"),
    SPOT_QUANTITIES_END
};

static const spot_quantity score[] = {
    SPOT_QUANTITY("score", spot_slice, score, .title = "score", .format = "%.4g"), SPOT_QUANTITIES_END
};

static const spot_quantity found[] = {
    S("number", number, "#", .right = true, WHOLE), S("class", cls, "class", .put = put_class), S("method", name, "method"),
    S("seed", seed, "seed", WHOLE),
    SPOT_BEHIND(NULL, table_row, p, spot_slice_errors), SPOT_BEHIND(NULL, table_row, p, spot_slice_more),
    SPOT_BEHIND(NULL, table_row, p, spot_slice_share), SPOT_BEHIND(NULL, table_row, p, score), SPOT_QUANTITIES_END
};

#define TABLE(rows_) SPOT_ROWS(NULL, SPOT_AS_LIST, rows_, table_row, count_lines, get_line, .keep = true, .page = 120, \
                               .below = print_below)

static const spot_quantity table_of_proved = TABLE(proved), table_of_found = TABLE(found);

static void print_claims(const slice_list *l, int n, const spot_proof_options *p)
{
    int claims[3] = { 0, 0, 0 };

    for (int i = 0; i < n; i++) claims[slice_at(l->f, &l->all[i])->proof->claim]++;
    printf("%d confirmed of %d tests at level %g%s; ", claims[SPOT_CLAIM_CONFIRMED], slice_at(l->f, l->all)->proof->tests,
           p->level, claims[SPOT_CLAIM_CONFIRMED] ? "" : ": no blindspot is proved");
    if (p->chance)
        printf("%d suggested: better than the best of %d searches in errors without structure; ", claims[SPOT_CLAIM_SUGGESTED],
               p->chance);
    printf("%d may be chance\n", claims[SPOT_CLAIM_CHANCE]);
}

/* The rate is that of the judged rows. */
static spot_status print_slices(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d,
                                int top)
{
    slice_list l = { f, s, d, NULL, 0 };
    char note[SPOT_FINDINGS_NOTE];
    spot_slice_place *all;
    int lines = 0, n;

    SPOT_TRY(spot_slice_order(c, &all, &n, f));
    l.all = all;
    for (int i = 0; i < n; i++) {
        lines += is_line(&l, i);
        if (lines <= top) l.n = i + 1;
    }
    spot_result_print(stdout, SPOT_TABLE_TEXT, d->proof ? &table_of_proved : &table_of_found, &l);
    if (lines > top) printf("and %d more\n", lines - top);
    if (*spot_findings_note(note, f, s)) printf("%s\n", spot_plain(note));
    else if (!n) printf("%s\n", d->proof ? "no slice to test" : "no slices");
    if (d->proof && n) print_claims(&l, n, d->proof);
    free(all);
    return SPOT_OK;
}

static void print_left_out(const spot_findings *f, const spot_subject *s, const spot_discover_options *d)
{
    enum { NAMED = 5 };
    char name[200];
    int few = 0;

    if (!f->left_out) return;
    for (int i = 0; i < f->left_out; i++) few += spot_subject_rows(s, f->left_class[i]) < d->least;
    printf("left out: %d with fewer than %d rows, %d without a wrong one (", few, d->least, f->left_out - few);
    for (int i = 0; i < f->left_out && i < NAMED; i++) {
        if (i) printf(", ");
        snprintf(name, sizeof name, "%s", s->class_name[f->left_class[i]]);
        fputs(spot_plain(name), stdout);
    }
    printf("%s)\n", f->left_out > NAMED ? ", ...; slices.json names all" : "");
}

spot_status cli_slice_table(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d, int top)
{
    SPOT_TRY(print_slices(c, f, s, d, top));
    print_left_out(f, s, d);
    return SPOT_OK;
}

spot_status cli_slice_of_table(spot_ctx *c, const spot_finding **g, const spot_slice **s, int *slices, const spot_findings *f,
                               int number)
{
    spot_slice_place *all;

    *g = NULL, *s = NULL;
    SPOT_TRY(spot_slice_order(c, &all, slices, f));
    if (number >= 1 && number <= *slices) {
        *g = &f->finding[all[number - 1].finding];
        *s = slice_at(f, &all[number - 1]);
    }
    free(all);
    return SPOT_OK;
}

/* ---- the verdict ---- */

enum { CONFIRMED, SUGGESTED, CHANCE, UNTESTED, RULES };

static const spot_ci_rule rules[RULES] = {
    { "confirmed", "a blindspot that is proved: its judged rows fail more often than chance gives, all tests counted",
      SPOT_CI_WARNING },
    { "suggested", "a slice that is not proved, but better than the best of searches in errors without structure",
      SPOT_CI_OPEN },
    { "chance", "a slice that may be chance", SPOT_CI_FINE },
    { "not tested", "a slice that was found and counted on the same rows, where chance alone gives some", SPOT_CI_OPEN },
};

static int judge_line(char name[SPOT_CI_NAME], const void *row)
{
    const table_row *x = row;
    const char *cls = class_of(x);

    if (!x->p) snprintf(name, SPOT_CI_NAME, "slice %d and those of one cause, %s", x->number, x->cls);
    else snprintf(name, SPOT_CI_NAME, "slice %d of %s%.250s", x->number, cls ? "class " : "all rows", cls ? cls : "");
    for (int i = 0; i < UNTESTED && x->claim; i++)
        if (!strcmp(x->claim, rules[i].word)) return i;
    return UNTESTED;
}

static void put_slice_verdict(spot_ci_report *r, const slice_list *l, const int claims[3])
{
    char note[SPOT_FINDINGS_NOTE];
    char suggested[40] = "";

    snprintf(r->subject, sizeof r->subject, "%.600s", l->s->source);
    if (*spot_findings_note(note, l->f, l->s)) snprintf(r->verdict, sizeof r->verdict, "%s", note);
    else if (!l->n) snprintf(r->verdict, sizeof r->verdict, "no slice was found");
    else if (!l->d->proof) snprintf(r->verdict, sizeof r->verdict, "%d slices, none of them tested", l->n);
    else {
        if (l->d->proof->chance) snprintf(suggested, sizeof suggested, "%d suggested, ", claims[SUGGESTED]);
        snprintf(r->verdict, sizeof r->verdict, "%d confirmed of %d tests at level %g; %s%d may be chance", claims[CONFIRMED],
                 slice_at(l->f, l->all)->proof->tests, l->d->proof->level, suggested, claims[CHANCE]);
    }
}

spot_status cli_slices_judge(spot_ctx *c, const cli_slice_verdict *o, const spot_findings *f, const spot_subject *s,
                             const spot_discover_options *d)
{
    slice_list l = { f, s, d, NULL, 0 };
    spot_ci_report r = { .command = "discover", .root = &l, .judge = judge_line, .rules = RULES, .input = o->input,
                         .page = o->page, .list = d->proof ? table_of_proved : table_of_found, .named = { "claim", "class" } };
    int claims[3] = { 0, 0, 0 }, failing;
    spot_slice_place *all;
    spot_status how;

    SPOT_TRY(spot_slice_order(c, &all, &l.n, f));
    l.all = all;
    memcpy(r.rule, rules, sizeof rules);
    for (int i = 0; i < l.n && d->proof; i++) claims[SPOT_CLAIM_CONFIRMED - slice_at(f, &all[i])->proof->claim]++;
    for (int i = 0; i < (int)o->fail_on; i++) r.rule[i].level = SPOT_CI_FAILED;
    failing = (o->fail_on ? claims[CONFIRMED] : 0) + (o->fail_on == CLI_FAIL_ON_SUGGESTED ? claims[SUGGESTED] : 0);
    r.failed = failing > 0;
    put_slice_verdict(&r, &l, claims);
    how = cli_ci_write(c, o->ci, &r);
    free(all);
    if (how == SPOT_OK && failing)
        how = spot_fail(c, SPOT_CHECK, "{discover.fails} %d slice%s confirmed%s", failing, failing == 1 ? " is" : "s are",
                        o->fail_on == CLI_FAIL_ON_SUGGESTED ? " or suggested" : "");
    return how;
}
