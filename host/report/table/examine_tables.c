/* examine_tables.c - spotter tables of a run of `spotter examine`: the tables of paper 002 with the run's numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/columns.h"
#include "result/result.h"
#include "report/table/examine_lines.h"
#include "spotter/report.h"

enum { POINTS = SPOT_COLUMNS - 3 };            /* points of Table 1, at most, beside its first columns */

typedef struct {
    const spot_examine_results *r;
    int number;                                /* 0: all */
    spot_examine_family *family;
    int families;
    int points, point[POINTS];                 /* renders at which an examiner has a point, ascending: columns of Table 1 */
} tables;

typedef struct { const tables *t; int family; } one_family;

static const spot_examine_summary *summary_of(const tables *t, int model, int examiner)
{
    return &t->r->summary[model * t->r->cfg->examiners + examiner];
}

static const char *examiner_name(const tables *t, int examiner) { return spot_examine_label(&t->r->cfg->examiner[examiner]); }
static const char *model_name(const tables *t, int model) { return t->r->cfg->model[model].name; }

/* Adds a point of some examiner; those beyond the page's columns stand in Table 3 alone. */
static void add_point(tables *t, int renders)
{
    int k = t->points;

    while (k > 0 && t->point[k - 1] >= renders) k--;
    if ((k < t->points && t->point[k] == renders) || t->points == POINTS) return;
    memmove(t->point + k + 1, t->point + k, (size_t)(t->points++ - k) * sizeof *t->point);
    t->point[k] = renders;
}

/* The point of an examiner's curve in this column; -1: it has none there. */
static int point_of(const tables *t, const spot_examine_summary *s, int column)
{
    for (int k = 0; k < s->points; k++)
        if (s->line[k].renders == t->point[column]) return k;
    return -1;
}

/* The point of a family's table: that of the paper's T = 200 where the curve has it, else the last one. */
static int family_point(const tables *t, int model, int examiner)
{
    const spot_examine_summary *s = summary_of(t, model, examiner);
    const int wanted = spot_examine_paper_renders(&t->r->cfg->examiner[examiner], SPOT_EXAMINE_PAPER_T);
    const int k = wanted ? spot_examine_point_at(t->r, s, wanted) : -1;

    return k < 0 ? s->points - 1 : k;
}

/* ---- text ---- */

static void interval_cell(spot_columns *p, spot_interval v)
{
    if (isnan(v.value)) spot_cell(p, "-");
    else if (isnan(v.low)) spot_cell(p, "%.3f", v.value);
    else spot_cell(p, "%.3f [%.3f, %.3f]", v.value, v.low, v.high);
}

static void print_mean_row(spot_columns *p, const tables *t, int model, int examiner)
{
    const spot_examine_summary *s = summary_of(t, model, examiner);

    spot_cell_name(p, 0, model_name(t, model)), spot_cell(p, "%s", examiner_name(t, examiner));
    spot_cell(p, "%.3f", s->start);
    for (int i = 0; i < t->points; i++) {
        const int k = point_of(t, s, i);
        interval_cell(p, k < 0 ? (spot_interval){ NAN, NAN, NAN } : s->line[k].mean);
    }
    spot_end_row(p);
}

/* The paper's numbers at the points that have the renders of its T; no row where none has. */
static void print_paper_row(spot_columns *p, const tables *t, int model, int examiner)
{
    const spot_examiner_config *e = &t->r->cfg->examiner[examiner];
    const spot_examine_summary *s = summary_of(t, model, examiner);
    const int arch = t->r->cfg->model[model].arch;
    double value[SPOT_MAX_EXAMINE_POINTS];
    int found = 0;

    if (isnan(spot_examine_paper_mean(arch, e->method, 0))) return;
    for (int k = 0; k < s->points; k++) value[k] = NAN;
    for (int i = 1; i < SPOT_EXAMINE_PAPER_POINTS; i++) {
        const int T = spot_examine_paper_T[i], k = spot_examine_point_at(t->r, s, spot_examine_paper_renders(e, T));
        if (k >= 0) value[k] = spot_examine_paper_mean(arch, e->method, T), found++;
    }
    if (!found) return;
    spot_cell(p, "  paper"), spot_cell(p, "%s", e->method == SPOT_EXAMINER_RL ? "RL" : "BO");
    spot_cell(p, "%.3f", spot_examine_paper_mean(arch, e->method, 0));
    for (int i = 0; i < t->points; i++) {
        const int k = point_of(t, s, i);
        spot_cell_number(p, k < 0 ? NAN : value[k]);
    }
    spot_end_row(p);
}

static void print_means(spot_columns *p, const void *user)
{
    const tables *t = user;

    p->left |= 2;
    spot_cell(p, "model"), spot_cell(p, "examiner"), spot_cell(p, "T = 0");
    for (int i = 0; i < t->points; i++) spot_cell(p, "%d renders", t->point[i]);
    spot_end_row(p);
    for (int m = 0; m < t->r->cfg->models; m++)
        for (int e = 0; e < t->r->cfg->examiners; e++) {
            print_mean_row(p, t, m, e);
            if (!t->r->cfg->model[m].weights[0] && !t->r->cfg->model[m].command[0]) print_paper_row(p, t, m, e);
        }
}

static void print_family(spot_columns *p, const void *user)
{
    const one_family *of = user;
    const tables *t = of->t;
    const spot_examine_family *f = &t->family[of->family];

    p->left |= 1;
    spot_cell(p, "examiner"), spot_cell(p, "renders");
    for (int i = 0; i < f->models; i++) spot_cell(p, "m = %d", t->r->cfg->model[f->model[i]].renders);
    spot_end_row(p);
    for (int e = 0; e < t->r->cfg->examiners; e++) {
        const int k = family_point(t, f->model[0], e), method = t->r->cfg->examiner[e].method;
        bool paper = false;
        spot_cell(p, "%s", examiner_name(t, e)), spot_cell(p, "%d", summary_of(t, f->model[0], e)->line[k].renders);
        for (int i = 0; i < f->models; i++) {
            const spot_examine_model *m = &t->r->cfg->model[f->model[i]];
            interval_cell(p, summary_of(t, f->model[i], e)->line[k].mean);
            paper |= !isnan(spot_examine_paper_by_m(m->arch, method, m->renders));
        }
        spot_end_row(p);
        if (!paper) continue;
        spot_cell(p, "  paper"), spot_cell(p, "T = %d", SPOT_EXAMINE_PAPER_T);
        for (int i = 0; i < f->models; i++) {
            const spot_examine_model *m = &t->r->cfg->model[f->model[i]];
            spot_cell_number(p, spot_examine_paper_by_m(m->arch, method, m->renders));
        }
        spot_end_row(p);
    }
}

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

static void print_text(FILE *f, const tables *t, bool markdown)
{
    char title[256], words[128];

    if (!t->number || t->number == 1)
        spot_columns_print(f, markdown, spot_examine_table_title(1, t->r->cfg->search.mode), print_means, t);
    for (int i = 0; i < t->families && (!t->number || t->number == 2); i++) {
        const one_family of = { t, i };
        spot_examine_training(words, sizeof words, t->r->cfg, &t->family[i]);
        snprintf(title, sizeof title, "%s: %s, %s", spot_examine_table_title(2, t->r->cfg->search.mode), t->family[i].name,
                 words);
        spot_columns_print(f, markdown, spot_plain(title), print_family, &of);
    }
    if (!t->number || t->number == 3) {
        spot_quantity curves = *spot_examine_curves(t->r);
        curves.title = spot_examine_table_title(3, t->r->cfg->search.mode);
        spot_result_print(f, markdown ? SPOT_TABLE_MD : SPOT_TABLE_TEXT, &curves, t->r);
    }
    fputs("\n", f);
    print_notes(f, markdown, t);
}

/* ---- for programs: a line for each number ---- */

typedef struct {
    int table, model, examiner, m, renders, n;
    const char *quantity;
    spot_interval value;
    double paper;
    const char *model_name, *examiner_name;            /* add_line */
} line;

typedef struct { const tables *t; line *line; int lines, room; bool failed; } line_list;

static void add_line(line_list *to, const line *l)
{
    if (to->lines == to->room) {
        const int room = to->room ? 2 * to->room : 256;
        line *more = realloc(to->line, (size_t)room * sizeof *more);
        if (!more) {
            to->failed = true;
            return;
        }
        to->line = more, to->room = room;
    }
    to->line[to->lines] = *l;
    to->line[to->lines].model_name = model_name(to->t, l->model);
    to->line[to->lines++].examiner_name = examiner_name(to->t, l->examiner);
}

static void give_means(const tables *t, line_list *to)
{
    for (int i = 0; i < t->r->summaries; i++) {
        const spot_examine_summary *s = &t->r->summary[i];
        const spot_examiner_config *e = &t->r->cfg->examiner[s->examiner];
        const spot_examine_model *m = &t->r->cfg->model[s->model];
        const bool trained = !m->weights[0] && !m->command[0];
        line l = { 1, s->model, s->examiner, 0, 0, s->objects, "mean", { s->start, NAN, NAN },
                   trained ? spot_examine_paper_mean(m->arch, e->method, 0) : NAN, NULL, NULL };
        add_line(to, &l);
        for (int k = 0; k < s->points; k++) {
            l.renders = s->line[k].renders, l.value = s->line[k].mean, l.paper = NAN;
            for (int q = 1; q < SPOT_EXAMINE_PAPER_POINTS && trained; q++) {
                const int T = spot_examine_paper_T[q], renders = spot_examine_paper_renders(e, T);
                if (!renders || spot_examine_point_at(t->r, s, renders) != k) continue;
                l.paper = spot_examine_paper_mean(m->arch, e->method, T);
            }
            add_line(to, &l);
        }
    }
}

static void give_families(const tables *t, line_list *to)
{
    for (int f = 0; f < t->families; f++)
        for (int e = 0; e < t->r->cfg->examiners; e++)
            for (int i = 0; i < t->family[f].models; i++) {
                const int model = t->family[f].model[i], k = family_point(t, t->family[f].model[0], e);
                const spot_examine_model *m = &t->r->cfg->model[model];
                const spot_examine_line *v = &summary_of(t, model, e)->line[k];
                const line l = { 2, model, e, m->renders, v->renders, t->r->objects, "mean", v->mean,
                                 spot_examine_paper_by_m(m->arch, t->r->cfg->examiner[e].method, m->renders), NULL, NULL };
                add_line(to, &l);
            }
}

static void give_lowest(const tables *t, line_list *to)
{
    for (int i = 0; i < t->r->summaries; i++) {
        const spot_examine_summary *s = &t->r->summary[i];
        for (int k = 0; k < s->points; k++) {
            const spot_examine_line *v = &s->line[k];
            const struct { const char *name; spot_interval value; int n; } own[] = {
                { "lowest", v->lowest_valid, s->objects }, { "robust", v->robust, s->objects },
                { "valid", { v->valid, NAN, NAN }, s->objects }, { "inside", v->inside, s->learned },
            };
            for (size_t q = 0; q < sizeof own / sizeof *own; q++) {
                const line l = { 3, s->model, s->examiner, 0, v->renders, own[q].n, own[q].name, own[q].value, NAN, NULL,
                                 NULL };
                if (q < 3 || s->learned) add_line(to, &l);
            }
        }
        const line l = { 3, s->model, s->examiner, 0, s->line[s->points - 1].renders, s->learned, "found",
                         { s->found, NAN, NAN }, NAN, NULL, NULL };
        if (s->learned) add_line(to, &l);
    }
}

static void give_lines(const tables *t, line_list *to)
{
    if (!t->number || t->number == 1) give_means(t, to);
    if (!t->number || t->number == 2) give_families(t, to);
    if (!t->number || t->number == 3) give_lowest(t, to);
}

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

static long count_lines(const void *root) { return ((const line_list *)root)->lines; }

static bool get_line(void *out, const void *root, long i)
{
    *(line *)out = ((const line_list *)root)->line[i];
    return true;
}

static const spot_quantity lines = SPOT_ROWS("lines", SPOT_AS_LIST, parts, line, count_lines, get_line);

static spot_status print_lines(spot_ctx *c, FILE *f, const tables *t, spot_table_format format)
{
    line_list list = { .t = t };
    spot_status s;

    give_lines(t, &list);
    s = list.failed ? spot_fail(c, SPOT_NOMEM, "no memory for the tables") : spot_result_data(c, f, format, &lines, &list);
    free(list.line);
    return s;
}

/* ---- the command ---- */

static spot_status print_tables(spot_ctx *c, FILE *f, const tables *t, spot_table_format format)
{
    spot_status s = SPOT_OK;

    if (t->number == 2 && !t->families)
        return spot_fail(c, SPOT_USAGE, "there is no Table 2: no models differ in m alone; networks with names such as net-m1 "
                         "and net-m10, and other `renders`, make one");
    if (format == SPOT_TABLE_JSON || format == SPOT_TABLE_CSV) s = print_lines(c, f, t, format);
    else print_text(f, t, format == SPOT_TABLE_MD);
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
    free(t.family);
    spot_examine_close(&r);
    return s;
}
