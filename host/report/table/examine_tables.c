/* examine_tables.c - spotter tables of a run of `spotter examine`: the tables of paper 002 with the run's numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"
#include "report/table/examine_lines.h"
#include "spotter/report.h"

enum { POINTS = SPOT_COLUMNS - 3 };            /* points of Table 1, at most, beside its first columns */

/* A number of a table and the paper's. group: its row of Tables 1 and 2; at: its column there, renders or model. */
typedef struct {
    int table, group, at, model, examiner, m, renders, n;
    const char *quantity;
    spot_interval value;
    double paper;
    const char *model_name, *examiner_name;            /* add_line */
    bool is_rl;
} line;

typedef struct {
    const spot_examine_results *r;
    int number;                                /* 0: all */
    spot_examine_family *family;
    int families;
    int points, point[POINTS];                 /* renders at which an examiner has a point, ascending: columns of Table 1 */
    line *line;
    int lines, room;
    bool failed;
} tables;

static const spot_examine_summary *summary_of(const tables *t, int model, int examiner)
{
    return &t->r->summary[model * t->r->cfg->examiners + examiner];
}

/* Adds a point of some examiner; those beyond the page's columns stand in Table 3 alone. */
static void add_point(tables *t, int renders)
{
    int k = t->points;

    while (k > 0 && t->point[k - 1] >= renders) k--;
    if ((k < t->points && t->point[k] == renders) || t->points == POINTS) return;
    memmove(t->point + k + 1, t->point + k, (size_t)(t->points++ - k) * sizeof *t->point);
    t->point[k] = renders;
}

/* The point of a family's table: that of the paper's T = 200 where the curve has it, else the last one. */
static int family_point(const tables *t, int model, int examiner)
{
    const spot_examine_summary *s = summary_of(t, model, examiner);
    const int wanted = spot_examine_paper_renders(&t->r->cfg->examiner[examiner], SPOT_EXAMINE_PAPER_T);
    const int k = wanted ? spot_examine_point_at(t->r, s, wanted) : -1;

    return k < 0 ? s->points - 1 : k;
}

/* ---- a line for each number ---- */

static void add_line(tables *t, const line *l)
{
    if (t->lines == t->room) {
        const int room = t->room ? 2 * t->room : 256;
        line *more = realloc(t->line, (size_t)room * sizeof *more);
        if (!more) {
            t->failed = true;
            return;
        }
        t->line = more, t->room = room;
    }
    t->line[t->lines] = *l;
    t->line[t->lines].model_name = t->r->cfg->model[l->model].name;
    t->line[t->lines].is_rl = t->r->cfg->examiner[l->examiner].method == SPOT_EXAMINER_RL;
    t->line[t->lines++].examiner_name = spot_examine_label(&t->r->cfg->examiner[l->examiner]);
}

/* The paper has numbers at some T, which are those of the points that have the renders of its T. */
static void give_means(tables *t)
{
    for (int i = 0; i < t->r->summaries; i++) {
        const spot_examine_summary *s = &t->r->summary[i];
        const spot_examiner_config *e = &t->r->cfg->examiner[s->examiner];
        const spot_examine_model *m = &t->r->cfg->model[s->model];
        const bool trained = !m->weights[0] && !m->command[0];
        line l = { .table = 1, .group = i, .model = s->model, .examiner = s->examiner, .n = s->objects, .quantity = "mean",
                   .value = { s->start, NAN, NAN }, .paper = trained ? spot_examine_paper_mean(m->arch, e->method, 0) : NAN };
        add_line(t, &l);
        for (int k = 0; k < s->points; k++) {
            l.at = l.renders = s->line[k].renders, l.value = s->line[k].mean, l.paper = NAN;
            for (int q = 1; q < SPOT_EXAMINE_PAPER_POINTS && trained; q++) {
                const int T = spot_examine_paper_T[q], renders = spot_examine_paper_renders(e, T);
                if (!renders || spot_examine_point_at(t->r, s, renders) != k) continue;
                l.paper = spot_examine_paper_mean(m->arch, e->method, T);
            }
            add_line(t, &l);
        }
    }
}

static void give_families(tables *t)
{
    for (int f = 0; f < t->families; f++)
        for (int e = 0; e < t->r->cfg->examiners; e++)
            for (int i = 0; i < t->family[f].models; i++) {
                const int model = t->family[f].model[i], k = family_point(t, t->family[f].model[0], e);
                const spot_examine_model *m = &t->r->cfg->model[model];
                const spot_examine_line *v = &summary_of(t, model, e)->line[k];
                add_line(t, &(line){ .table = 2, .group = f * t->r->cfg->examiners + e, .at = model, .model = model,
                                     .examiner = e, .m = m->renders, .renders = v->renders, .n = t->r->objects,
                                     .quantity = "mean", .value = v->mean,
                                     .paper = spot_examine_paper_by_m(m->arch, t->r->cfg->examiner[e].method, m->renders) });
            }
}

static void give_lowest(tables *t)
{
    for (int i = 0; i < t->r->summaries; i++) {
        const spot_examine_summary *s = &t->r->summary[i];
        line l = { .table = 3, .model = s->model, .examiner = s->examiner, .paper = NAN };
        for (int k = 0; k < s->points; k++) {
            const spot_examine_line *v = &s->line[k];
            const struct { const char *name; spot_interval value; int n; } own[] = {
                { "lowest", v->lowest_valid, s->objects }, { "robust", v->robust, s->objects },
                { "valid", { v->valid, NAN, NAN }, s->objects }, { "inside", v->inside, s->learned },
            };
            for (int q = 0; q < (s->learned ? 4 : 3); q++) {
                l.renders = v->renders, l.n = own[q].n, l.quantity = own[q].name, l.value = own[q].value;
                add_line(t, &l);
            }
        }
        l.n = s->learned, l.quantity = "found", l.value = (spot_interval){ s->found, NAN, NAN };
        if (s->learned) add_line(t, &l);
    }
}

static void give_lines(tables *t)
{
    if (!t->number || t->number == 1) give_means(t);
    if (!t->number || t->number == 2) give_families(t);
    if (!t->number || t->number == 3) give_lowest(t);
}

/* ---- Tables 1 and 2: rows of lines, and of the paper's numbers below them where it has some ---- */

typedef struct { const tables *t; int table, from, to; } pivot;       /* groups from, to - 1 of a table */

typedef struct { const line *line; int lines; bool paper; char renders[16]; } pivot_row;

static const pivot_row *row_of(const void *row) { return row; }

static long count_rows(const void *root)
{
    const pivot *p = root;

    return 2 * (long)(p->to - p->from);
}

/* The paper's means at T = 0 alone, of random renders, are no row. */
static bool get_row(void *out, const void *root, long i)
{
    const pivot *p = root;
    pivot_row *x = out;
    bool paper = false;
    int k = 0;

    *x = (pivot_row){ .paper = i % 2 };
    while (k < p->t->lines && (p->t->line[k].table != p->table || p->t->line[k].group != p->from + i / 2)) k++;
    for (x->line = p->t->line + k; k < p->t->lines && p->t->line[k].table == p->table
         && p->t->line[k].group == x->line->group; k++, x->lines++)
        paper |= p->t->line[k].renders && isfinite(p->t->line[k].paper);
    if (x->paper) snprintf(x->renders, sizeof x->renders, "T = %d", SPOT_EXAMINE_PAPER_T);
    else if (x->lines) snprintf(x->renders, sizeof x->renders, "%d", x->line->renders);
    return x->lines && (!x->paper || paper);
}

static void get_cell(spot_quantity_value *v, const void *row, int at)
{
    const pivot_row *x = row;

    for (int k = 0; k < x->lines; k++) {
        const line *l = &x->line[k];
        if (l->at != at) continue;
        v->value = x->paper ? l->paper : l->value.value;
        if (!x->paper) v->low = l->value.low, v->high = l->value.high;
    }
}

static void row_model(spot_quantity_value *v, const void *row)
{
    v->text = row_of(row)->paper ? "  paper" : row_of(row)->line->model_name;
}

static void row_method(spot_quantity_value *v, const void *row)
{
    const pivot_row *x = row;

    v->text = !x->paper ? x->line->examiner_name : x->line->is_rl ? "RL" : "BO";
}

static void row_examiner(spot_quantity_value *v, const void *row)
{
    v->text = row_of(row)->paper ? "  paper" : row_of(row)->line->examiner_name;
}

static const spot_quantity of_means[] = {
    SPOT_COMPUTED(NULL, SPOT_AS_TEXT, row_model, .title = "model"),
    SPOT_COMPUTED(NULL, SPOT_AS_TEXT, row_method, .title = "examiner"), SPOT_QUANTITIES_END
};

static const spot_quantity of_family[] = {
    SPOT_COMPUTED(NULL, SPOT_AS_TEXT, row_examiner, .title = "examiner"),
    SPOT_QUANTITY(NULL, pivot_row, renders, .title = "renders", .right = true), SPOT_QUANTITIES_END
};

static const spot_quantity means = SPOT_ROWS(NULL, SPOT_AS_LIST, of_means, pivot_row, count_rows, get_row);
static const spot_quantity family = SPOT_ROWS(NULL, SPOT_AS_LIST, of_family, pivot_row, count_rows, get_row);

/* ---- text ---- */

static void print_notes(FILE *f, bool markdown, const tables *t)
{
    const spot_examine_config *cfg = t->r->cfg;
    bool region = false;

    for (int m = 0; m < cfg->models; m++) region |= cfg->model[m].limits > 0;
    spot_note(f, markdown, "%d objects, %d seed%s; brackets: 95 %% by a bootstrap over objects; T = 0: random renders, the "
              "same for all examiners; mean: of the last %d renders that an examiner asked for", t->r->objects,
              cfg->search.seeds, cfg->search.seeds == 1 ? "" : "s", cfg->search.window);
    spot_note(f, markdown, "renders are all that were spent on an object, with those that test a weakness; the paper's T "
              "counts updates of %d renders for RL and renders for BO; its numbers stand below a row where a point of the "
              "curve has these renders within a tenth", 32);
    spot_note(f, markdown, "the paper has 55 classes of ShapeNet, Blender's renders at 224 pixels and one object of each "
              "class; here: %d pixels, %d of the factors searched, objects of the config's catalogue", cfg->render.size,
                  t->r->space.dims);
    spot_note(f, markdown, "%s: on valid renders, on which a person could still name the object; robust: mean p of %d "
              "renders around it, each factor changed by %g %% of its range; valid: share of the renders asked for",
              cfg->search.mode == SPOT_MODE_STRENGTH ? "highest" : "lowest", cfg->search.perturbed, 100 * cfg->search.perturb);
    if (region)
        spot_note(f, markdown, "inside: share of the last 100 renders that lie in the planted region, over the objects that "
                  "learned it; found: objects with 80 %% or more of them there in every search");
}

static void print_means(FILE *f, spot_table_format format, const tables *t)
{
    spot_wide_list w;

    spot_wide_begin(&w, &means, spot_examine_table_title(1, t->r->cfg->search.mode));
    spot_wide_add(&w, get_cell, 0, "T = 0");
    for (int i = 0; i < t->points; i++) spot_wide_add(&w, get_cell, t->point[i], "%d renders", t->point[i]);
    spot_result_print(f, format, &w.list, &(pivot){ t, 1, 0, t->r->summaries });
}

static void print_family(FILE *f, spot_table_format format, const tables *t, int k)
{
    const spot_examine_family *of = &t->family[k];
    const int examiners = t->r->cfg->examiners;
    char title[256], words[128];
    spot_wide_list w;

    spot_examine_training(words, sizeof words, t->r->cfg, of);
    snprintf(title, sizeof title, "%s: %s, %s", spot_examine_table_title(2, t->r->cfg->search.mode), of->name, words);
    spot_wide_begin(&w, &family, spot_plain(title));
    for (int i = 0; i < of->models; i++)
        spot_wide_add(&w, get_cell, of->model[i], "m = %d", t->r->cfg->model[of->model[i]].renders);
    spot_result_print(f, format, &w.list, &(pivot){ t, 2, k * examiners, (k + 1) * examiners });
}

static void print_text(FILE *f, const tables *t, spot_table_format format)
{
    if (!t->number || t->number == 1) print_means(f, format, t);
    for (int i = 0; i < t->families && (!t->number || t->number == 2); i++) print_family(f, format, t, i);
    if (!t->number || t->number == 3) {
        spot_quantity curves = *spot_examine_curves(t->r);
        curves.title = spot_examine_table_title(3, t->r->cfg->search.mode);
        spot_result_print(f, format, &curves, t->r);
    }
    fputs("\n", f);
    print_notes(f, format == SPOT_TABLE_MD, t);
}

/* ---- for programs ---- */

static void m_of(spot_quantity_value *v, const void *row)
{
    if (((const line *)row)->m) v->value = ((const line *)row)->m;
}

static const spot_quantity parts[] = {
#define S(name, field) SPOT_QUANTITY(name, line, field)
    S("table", table), S("model", model_name), S("examiner", examiner_name),
    SPOT_COMPUTED("m", SPOT_AS_INT, m_of, .optional = true), S("renders", renders), S("quantity", quantity),
    S("value", value.value), S("low", value.low), S("high", value.high), S("n", n), S("paper", paper), SPOT_QUANTITIES_END
#undef S
};

static long count_lines(const void *root) { return ((const tables *)root)->lines; }

static bool get_line(void *out, const void *root, long i)
{
    *(line *)out = ((const tables *)root)->line[i];
    return true;
}

static const spot_quantity lines = SPOT_ROWS("lines", SPOT_AS_LIST, parts, line, count_lines, get_line);

/* ---- the command ---- */

static spot_status print_tables(spot_ctx *c, FILE *f, tables *t, spot_table_format format)
{
    spot_status s = SPOT_OK;

    if (t->number == 2 && !t->families)
        return spot_fail(c, SPOT_USAGE, "there is no Table 2: no models differ in m alone; networks with names such as net-m1 "
                         "and net-m10, and other `renders`, make one");
    give_lines(t);
    if (t->failed) return spot_fail(c, SPOT_NOMEM, "no memory for the tables");
    if (format == SPOT_TABLE_JSON || format == SPOT_TABLE_CSV) s = spot_result_data(c, f, format, &lines, t);
    else print_text(f, t, format);
    if (s == SPOT_OK && (fflush(f) || ferror(f))) s = spot_fail(c, SPOT_IO, "the tables could not be written");
    return s;
}

spot_status spot_examine_tables(spot_ctx *c, FILE *f, const char *dir, int number, spot_table_format format)
{
    spot_examine_results r;
    tables t = { .r = &r, .number = number };
    spot_status s;

    if (number > SPOT_EXAMINE_TABLES)
        return spot_fail(c, SPOT_USAGE, "Table %d is not here; a run of `spotter examine` has the tables 1 to %d", number,
                         SPOT_EXAMINE_TABLES);
    s = spot_examine_read(c, &r, dir);
    if (s == SPOT_OK) {
        t.family = malloc(((size_t)r.cfg->models + 1) * sizeof *t.family);
        if (!t.family) s = spot_fail(c, SPOT_NOMEM, "no memory for the tables");
        else t.families = spot_examine_families(t.family, r.cfg);
        for (int i = 0; i < r.summaries; i++)
            for (int k = 0; k < r.summary[i].points; k++) add_point(&t, r.summary[i].line[k].renders);
    }
    if (s == SPOT_OK) s = print_tables(c, f, &t, format);
    free(t.line);
    free(t.family);
    spot_examine_close(&r);
    return s;
}
