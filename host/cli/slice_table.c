/* slice_table.c - see slice_table.h. */
#include "cli/slice_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bdm/methods.h"
#include "cli/slice_words.h"
#include "discover/proof/proof_files.h"
#include "discover/search/slice_describe.h"
#include "result/columns.h"

/* ---- a table's lines: an entry is one ---- */

enum { NAME = 15, CLASSES = 5, CHANCES = 3 };          /* bytes of an ASCII name of a class in the table; classes, and slices
                                                        * that may be chance, that are shown */

typedef struct {
    const spot_findings *f;
    const spot_subject *s;
    const spot_discover_options *d;
    const spot_slice_list *e;
    int n;                                 /* entries that are printed */
    bool folded;                           /* with those that the confusion matrix explains */
} slice_list;

/* x: the entry; p: its head. */
typedef struct {
    const slice_list *of;
    const spot_entry *x;
    const spot_slice *p;
    const char *claim;
    int number, size, judged;
    double rate, class_rate, excess, to_expect, least_p;
    uint64_t seed;
    char name[80], cls[4 * NAME], predicted[4 * NAME];     /* name: of the method */
} table_row;

static const spot_slice *slice_at(const spot_findings *f, const spot_slice_place *at)
{
    return &f->finding[at->finding].slice[at->slice];
}

static const spot_slice *head_of(const slice_list *l, const spot_entry *x) { return slice_at(l->f, x->member); }

static void set_class(char text[4 * NAME], const spot_subject *s, int cls, const char *none)
{
    spot_short_name name;

    snprintf(text, 4 * NAME, "%s", spot_shorten_to(name, cls < 0 ? none : s->class_name[cls], NAME - 1));
}

static long count_lines(const void *root) { return ((const slice_list *)root)->n; }

static void fill_proof(table_row *row, const slice_list *l)
{
    const spot_entry *x = row->x;
    char names[400];

    row->claim = spot_claim_name(row->p->proof->claim);
    row->judged = x->judged, row->rate = (double)x->judged_wrong / x->judged, row->class_rate = x->class_rate;
    row->excess = row->rate - x->class_rate, row->to_expect = x->shrunk, row->least_p = x->p;
    set_class(row->predicted, l->s, x->predicted, "-");
    snprintf(row->name, sizeof row->name, "%.16s", spot_proof_methods(names, sizeof names, row->p->proof, l->d));
}

static bool get_line(void *out, const void *root, long i)
{
    const slice_list *l = root;
    const spot_entry *x = &l->e->entry[i];
    const spot_finding *g = &l->f->finding[x->member->finding];
    table_row *row = out;

    if (x->folded && !l->folded) return false;
    *row = (table_row){ .of = l, .x = x, .p = head_of(l, x), .number = x->number, .size = x->size, .seed = g->seed };
    if (x->cls < 0 && g->cls >= 0) snprintf(row->cls, sizeof row->cls, "%d classes", x->classes);
    else set_class(row->cls, l->s, g->cls, "(all)");
    if (row->p->proof) fill_proof(row, l);
    else spot_bdm_name(&l->d->bdm[g->bdm], row->name, sizeof row->name);
    return true;
}

static void print_groups(FILE *to, const table_row *x)
{
    char note[SPOT_GROUPS_NOTE];

    if (x->p->proof && *spot_groups_note(note, x->of->s, x->p, x->of->d->proof->level))
        fprintf(to, "      %s\n", spot_plain(note));
}

/* The head's words; then the other slices of the entry. */
static void print_below(FILE *to, const void *row)
{
    enum { LISTED = 8 };
    const table_row *v = row;
    const spot_entry *x = v->x;

    print_groups(to, v);
    cli_slice_words(v->p);
    if (x->members == 1) return;
    fprintf(to, "      with %d other slice%s of the same cause:", x->members - 1, x->members == 2 ? "" : "s");
    for (int i = 1; i < x->members && i <= LISTED; i++)
        fprintf(to, "%s %d", i > 1 ? "," : "",
                v->of->e->number[x->member[i].finding * SPOT_MAX_HYPOTHESES + x->member[i].slice]);
    fprintf(to, "%s\n", x->members > LISTED + 1 ? ", ..." : "");
}

/* Files have the whole names. */
static const char *class_of(const table_row *v)
{
    const int cls = v->of->f->finding[v->x->member->finding].cls;

    return v->x->cls < 0 && cls >= 0 ? v->cls : cls < 0 ? NULL : v->of->s->class_name[cls];
}

static void put_class(spot_json *j, const void *row) { spot_json_put_text(j, "class", class_of(row)); }

static void put_predicted(spot_json *j, const void *row)
{
    const table_row *v = row;

    spot_json_put_text(j, "predicted", v->x->predicted < 0 ? NULL : v->of->s->class_name[v->x->predicted]);
}

static void judged_groups(spot_quantity_value *v, const void *row)
{
    const table_row *x = row;

    if (x->p->proof->groups && x->x->members == 1) v->value = x->p->proof->groups;
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
    RATE("class_rate", class_rate, "class", "%.0f %%", .place = SPOT_SHOWN_WIDE, .about = "error rate of their classes"),
    RATE("excess", excess, "excess", "%+.0f %%", .about = "error rate of the judged rows beyond that of their classes"),
    RATE("to_expect", to_expect, "to expect", "%+.0f %%", .about = "excess to expect on new rows"),
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

/* ---- classes ---- */

/* A class with its errors; at: its place in spot_slice_list.cls. */
typedef struct {
    const slice_list *of;
    int at, rows, wrong;
    double rate, share;
    char cls[4 * NAME], taken[4 * NAME];
} class_line;

/* Below a class: the entries that are cells of the confusion matrix. */
static void print_cells(FILE *to, const void *row)
{
    const class_line *v = row;
    const spot_slice_list *e = v->of->e;
    const spot_class_errors *k = &e->cls[v->at];

    for (int i = 0; i < e->count; i++) {
        const spot_entry *x = &e->entry[i];
        char title[SPOT_ENTRY_TITLE];
        if (!x->folded || x->cls != k->cls) continue;
        snprintf(title, sizeof title, "%s", x->title);
        fprintf(to, "      in the confusion matrix: %d, %s, %.0f %% of the class\n", x->number, spot_plain(title),
                100.0 * x->size / (double)k->rows);
    }
}

static long count_classes(const void *root)
{
    const spot_slice_list *e = ((const slice_list *)root)->e;

    return e->classes < CLASSES ? e->classes : CLASSES;
}

static bool get_class(void *out, const void *root, long i)
{
    const slice_list *l = root;
    const spot_class_errors *k = &l->e->cls[i];
    class_line *v = out;

    *v = (class_line){ .of = l, .at = (int)i, .rows = (int)k->rows, .wrong = (int)k->wrong };
    v->rate = (double)k->wrong / (double)k->rows;
    v->share = k->taken < 0 ? NAN : (double)k->taken_rows / (double)k->wrong;
    set_class(v->cls, l->s, k->cls, "");
    set_class(v->taken, l->s, k->taken, "-");
    return true;
}

static const spot_quantity classes[] = {
#define C(name_, ...) SPOT_QUANTITY(#name_, class_line, name_, .title = __VA_ARGS__)
    C(cls, "class"), C(rows, "rows", WHOLE), C(wrong, "wrong", WHOLE), C(rate, "rate", .unit = SPOT_UNIT_SHARE,
    .format = "%.0f %%"), C(taken, "most often taken for"),
    C(share, "share", .unit = SPOT_UNIT_SHARE, .format = "%.0f %%", .about = "share of its wrong rows"), SPOT_QUANTITIES_END
#undef C
};

static const spot_quantity table_of_classes = SPOT_ROWS(NULL, SPOT_AS_LIST, classes, class_line, count_classes, get_class,
                                                        .keep = true, .page = 120, .below = print_cells);

static void print_classes(const slice_list *l)
{
    int below = 0, folded = 0;

    if (l->e->classes < 2 || !l->e->answers.wrong) return;
    spot_result_print(stdout, SPOT_TABLE_TEXT, &table_of_classes, l);
    if (l->e->classes > CLASSES) printf("and %d classes with fewer errors\n", l->e->classes - CLASSES);
    for (int i = 0; i < l->e->count; i++) {
        bool shown = false;
        for (int k = 0; k < CLASSES && k < l->e->classes; k++) shown |= l->e->cls[k].cls == l->e->entry[i].cls;
        below += l->e->entry[i].folded && shown;
        folded += l->e->entry[i].folded;
    }
    if (folded > below) printf("and %d more in the confusion matrix, in other classes\n", folded - below);
    printf("\n");
}

/* ---- the list ---- */

static void print_claims(const slice_list *l, const spot_proof_options *p)
{
    int claims[3] = { 0, 0, 0 }, causes = 0;

    for (int i = 0; i < l->e->slices; i++) claims[slice_at(l->f, &l->e->place[i])->proof->claim]++;
    for (int i = 0; i < l->e->count; i++) causes += l->e->entry[i].claim == SPOT_SLICE_CONFIRMED && !l->e->entry[i].folded;
    printf("%d confirmed of %d tests at level %g%s", claims[SPOT_CLAIM_CONFIRMED],
           slice_at(l->f, l->e->place)->proof->tests, p->level, claims[SPOT_CLAIM_CONFIRMED] ? "" : ": no blindspot is proved");
    if (causes && causes < claims[SPOT_CLAIM_CONFIRMED]) printf(": %d cause%s", causes, causes == 1 ? "" : "s");
    if (l->e->folded) printf(" and %d cell%s of the confusion matrix", l->e->folded, l->e->folded == 1 ? "" : "s");
    if (p->chance)
        printf("; %d suggested: better than the best of %d searches in errors without structure", claims[SPOT_CLAIM_SUGGESTED],
               p->chance);
    printf("; %d may be chance\n", claims[SPOT_CLAIM_CHANCE]);
}

static void print_summary(const slice_list *l, const char *folder)
{
    spot_top_lines top;

    spot_findings_summary(&top, l->e, l->f, l->s, l->d, folder);
    for (int i = 0; i < top.lines; i++) cli_wrap(spot_plain(top.line[i]));
    printf("\n");
}

/* The rate is that of the judged rows. Those that may be chance come last. */
static void print_slices(slice_list *l, int top)
{
    int lines = 0, chances = 0;

    for (int i = 0; i < l->e->count; i++) {
        lines += l->folded || !l->e->entry[i].folded;
        chances += !l->folded && l->d->proof && l->e->entry[i].claim >= SPOT_SLICE_CHANCE;
        if (lines <= top && chances <= CHANCES) l->n = i + 1;
    }
    if (chances > CHANCES) top = top < lines - chances + CHANCES ? top : lines - chances + CHANCES;
    spot_result_print(stdout, SPOT_TABLE_TEXT, l->d->proof ? &table_of_proved : &table_of_found, l);
    if (lines > top) printf("and %d more in slices.csv\n", lines - top);
    if (!l->e->slices) printf("%s\n", l->d->proof ? "no slice to test" : "no slices");
    if (l->d->proof && l->e->slices) print_claims(l, l->d->proof);
}

static void print_left_out(const spot_findings *f, const spot_subject *s, const spot_discover_options *d)
{
    enum { NAMED = 5 };
    char name[200];
    int few = 0;

    if (!f->left_out) return;
    for (int i = 0; i < f->left_out; i++) few += spot_subject_rows(s, f->left_class[i]) < d->least;
    printf("classes left out: ");
    if (few) printf("%d with fewer than %d rows%s", few, d->least, few < f->left_out ? ", " : "");
    if (few < f->left_out) printf("%d without a wrong row", f->left_out - few);
    printf(" (");
    for (int i = 0; i < f->left_out && i < NAMED; i++) {
        if (i) printf(", ");
        snprintf(name, sizeof name, "%s", s->class_name[f->left_class[i]]);
        fputs(spot_plain(name), stdout);
    }
    printf("%s)\n", f->left_out > NAMED ? ", ...; slices.json names all" : "");
}

spot_status cli_slice_table(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d,
                            const cli_slice_list *how)
{
    spot_slice_list e;
    spot_status status = spot_findings_entries(c, &e, f, s);
    slice_list l = { .f = f, .s = s, .d = d, .e = &e, .folded = !how->summary };

    if (status == SPOT_OK && how->summary) print_summary(&l, how->found);
    if (status == SPOT_OK && how->summary) print_classes(&l);
    if (status == SPOT_OK) print_slices(&l, how->top);
    spot_slice_list_close(&e);
    if (status == SPOT_OK) print_left_out(f, s, d);
    return status;
}

spot_status cli_slice_of_table(spot_ctx *c, const spot_finding **g, const spot_slice **s, int *slices, const spot_findings *f,
                               const spot_subject *subject, int number)
{
    spot_slice_list e;
    spot_status how = spot_findings_entries(c, &e, f, subject);

    *g = NULL, *s = NULL;
    *slices = e.slices;
    if (how == SPOT_OK && number >= 1 && number <= e.slices) {
        *g = &f->finding[e.place[number - 1].finding];
        *s = slice_at(f, &e.place[number - 1]);
    }
    spot_slice_list_close(&e);
    return how;
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

    if (x->x->cls < 0 && cls) snprintf(name, SPOT_CI_NAME, "slice %d and those of one cause, %s", x->number, x->cls);
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
    else if (!l->e->slices) snprintf(r->verdict, sizeof r->verdict, "no slice was found");
    else if (!l->d->proof) snprintf(r->verdict, sizeof r->verdict, "%d slices, none of them tested", l->e->slices);
    else {
        if (l->d->proof->chance) snprintf(suggested, sizeof suggested, "%d suggested, ", claims[SUGGESTED]);
        snprintf(r->verdict, sizeof r->verdict, "%d confirmed of %d tests at level %g; %s%d may be chance", claims[CONFIRMED],
                 slice_at(l->f, l->e->place)->proof->tests, l->d->proof->level, suggested, claims[CHANCE]);
    }
}

spot_status cli_slices_judge(spot_ctx *c, const cli_slice_verdict *o, const spot_findings *f, const spot_subject *s,
                             const spot_discover_options *d)
{
    spot_slice_list e;
    slice_list l = { .f = f, .s = s, .d = d, .e = &e, .folded = true };
    spot_ci_report r = { .command = "discover", .root = &l, .judge = judge_line, .rules = RULES, .input = o->input,
                         .page = o->page, .list = d->proof ? table_of_proved : table_of_found, .named = { "claim", "class" } };
    int claims[3] = { 0, 0, 0 }, failing;
    spot_status how = spot_findings_entries(c, &e, f, s);

    l.n = e.count;
    memcpy(r.rule, rules, sizeof rules);
    for (int i = 0; how == SPOT_OK && i < e.slices && d->proof; i++)
        claims[SPOT_CLAIM_CONFIRMED - slice_at(f, &e.place[i])->proof->claim]++;
    for (int i = 0; i < (int)o->fail_on; i++) r.rule[i].level = SPOT_CI_FAILED;
    failing = (o->fail_on ? claims[CONFIRMED] : 0) + (o->fail_on == CLI_FAIL_ON_SUGGESTED ? claims[SUGGESTED] : 0);
    r.failed = failing > 0;
    if (how == SPOT_OK) {
        put_slice_verdict(&r, &l, claims);
        how = cli_ci_write(c, o->ci, &r);
    }
    spot_slice_list_close(&e);
    if (how == SPOT_OK && failing)
        how = spot_fail(c, SPOT_CHECK, "{discover.fails} %d slice%s confirmed%s", failing, failing == 1 ? " is" : "s are",
                        o->fail_on == CLI_FAIL_ON_SUGGESTED ? " or suggested" : "");
    return how;
}
