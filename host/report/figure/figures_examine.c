/* figures_examine.c - Figures 1, 2 and 6 of paper 002. */
#include "report/figure/figures_examine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/statistics.h"

enum { DOTS = 100, SHOWN = 6 };        /* points of a curve; examiners of Figure 2 */

#define TURN 6.283185307179586

const spot_examine_result *spot_figure_unit(const spot_examine_results *r, int model, int examiner, int seed, int object)
{
    return &r->unit[((model * r->cfg->examiners + examiner) * r->cfg->search.seeds + seed) * r->objects + object];
}

static const char *examiner_name(const spot_examine_results *r, int e) { return spot_examine_label(&r->cfg->examiner[e]); }

/* ---- Figure 1 ---- */

/* Mean p of the last `window` of the first i renders, at DOTS places. */
static void run_along(double *mean, const spot_examine_history *h, int asked, int window)
{
    for (int k = 0; k < DOTS; k++) {
        const int end = (int)((long long)asked * (k + 1) / DOTS), from = end > window ? end - window : 0;
        double sum = 0;
        for (int i = from; i < end; i++) sum += h->p[i];
        mean[k] = end ? sum / (end - from) : NAN;
    }
}

/* Renders that an examiner asks for in a search. */
static int asked_by(const spot_examine_results *r, int model, int examiner)
{
    const spot_examine_result *u = spot_figure_unit(r, model, examiner, 0, 0);

    return u->point[u->points - 1].asked;
}

/* curve (examiners, objects, DOTS): means over seeds, evenly over the renders of each examiner. */
static spot_status read_curves(spot_ctx *c, double *curve, const spot_examine_results *r, const char *dir, int model)
{
    const int seeds = r->cfg->search.seeds;
    double mean[DOTS];

    for (int e = 0, asked; e < r->cfg->examiners; e++) {
        asked = asked_by(r, model, e);
        for (int s = 0; s < seeds; s++)
            for (int i = 0; i < r->objects; i++) {
                double *own = curve + ((size_t)e * (size_t)r->objects + (size_t)i) * DOTS;
                spot_examine_history h;
                SPOT_TRY(spot_examine_history_read(c, &h, dir, spot_figure_unit(r, model, e, s, i)->index));
                run_along(mean, &h, h.renders < asked ? h.renders : asked, r->cfg->search.window);
                spot_examine_history_free(&h);
                for (int k = 0; k < DOTS; k++) own[k] += mean[k] / seeds;
            }
    }
    return SPOT_OK;
}

/* Mean and 95 % interval over objects by Student's t. */
static spot_interval over_objects(const double *curve, int objects, int k)
{
    double sum = 0, square = 0;

    for (int i = 0; i < objects; i++) sum += curve[(size_t)i * DOTS + (size_t)k];
    const double mean = sum / objects;
    for (int i = 0; i < objects; i++) square += pow(curve[(size_t)i * DOTS + (size_t)k] - mean, 2);
    if (objects < 2) return (spot_interval){ mean, NAN, NAN };
    const double half = spot_student_above(0.025, objects - 1) * sqrt(square / (objects - 1) / objects);
    return (spot_interval){ mean, fmax(0, mean - half), fmin(1, mean + half) };
}

static void add_curve(spot_plot *p, const double *curve, int objects, int asked, int style, const char *name)
{
    if (objects > 1) {
        spot_plot_add_mark(p, SPOT_MARK_AREA, style, name);
        for (int k = 0; k < DOTS; k++) spot_plot_add_dot(p, asked * (k + 1.0) / DOTS, over_objects(curve, objects, k).high);
        for (int k = DOTS; k-- > 0;) spot_plot_add_dot(p, asked * (k + 1.0) / DOTS, over_objects(curve, objects, k).low);
    }
    spot_plot_add_mark(p, SPOT_MARK_CURVE, style, name);
    for (int k = 0; k < DOTS; k++) spot_plot_add_dot(p, asked * (k + 1.0) / DOTS, over_objects(curve, objects, k).value);
}

/* The object whose p the first examiner moves most, from random renders to its last ones. */
static int moved_most(const spot_examine_results *r, const double *curve, int model)
{
    const double sign = r->cfg->search.mode == SPOT_MODE_STRENGTH ? -1 : 1;
    double most = -INFINITY;
    int best = 0;

    for (int i = 0; i < r->objects; i++) {
        const double moved = sign * (spot_figure_unit(r, model, 0, 0, i)->start - curve[(size_t)i * DOTS + DOTS - 1]);
        if (moved > most) most = moved, best = i;
    }
    return best;
}

static const spot_quantity *mean_of(const spot_examine_results *r)
{
    return spot_quantity_find(spot_examine_curves(r)->rows, "mean");
}

static void begin_panel(spot_plot *p, const spot_examine_results *r, const char *title, int asked)
{
    spot_plot_panel *panel = spot_plot_add_panel(p, title, SPOT_AXIS("renders that the examiner asked for"), mean_of(r));

    panel->xlow = 0, panel->xhigh = asked, panel->ylow = 0, panel->yhigh = 1;
}

static spot_status add_model_curves(spot_ctx *c, spot_plot *p, const spot_examine_results *r, const char *dir, int model)
{
    const size_t own = (size_t)r->objects * DOTS;
    double *curve = calloc((size_t)r->cfg->examiners * own, sizeof *curve);
    char title[200];
    int most = 0;
    spot_status s;

    if (!curve) return spot_fail(c, SPOT_NOMEM, "no memory for the curves of %d objects", r->objects);
    for (int e = 0; e < r->cfg->examiners; e++) most = asked_by(r, model, e) > most ? asked_by(r, model, e) : most;
    s = read_curves(c, curve, r, dir, model);
    if (s == SPOT_OK) {
        const int one = moved_most(r, curve, model);
        snprintf(title, sizeof title, "%s: %d objects", r->cfg->model[model].name, r->objects);
        begin_panel(p, r, title, most);
        for (int e = 0; e < r->cfg->examiners; e++)
            add_curve(p, curve + (size_t)e * own, r->objects, asked_by(r, model, e), e % 8, examiner_name(r, e));
        snprintf(title, sizeof title, "%s: %.100s", r->cfg->model[model].name, spot_figure_unit(r, model, 0, 0, one)->title);
        begin_panel(p, r, title, most);
        for (int e = 0; e < r->cfg->examiners; e++)
            add_curve(p, curve + (size_t)e * own + (size_t)one * DOTS, 1, asked_by(r, model, e), e % 8, examiner_name(r, e));
    }
    free(curve);
    return s;
}

spot_status spot_plot_running(spot_ctx *c, spot_plot *p, const spot_examine_results *r, const char *dir,
                              const spot_figure_models *m)
{
    spot_plot_open(p, 2, 380, 260, r->cfg->search.mode == SPOT_MODE_STRENGTH
                   ? "Figure 1. An examiner concentrates on the strengths of a model"
                   : "Figure 1. An examiner concentrates on the weaknesses of a model");
    for (int e = 0; e < r->cfg->examiners; e++)
        spot_plot_add_entry(p, examiner_name(r, e), SPOT_MARK_CURVE, e % 8, SPOT_PLOT_PLAIN);
    snprintf(p->caption, sizeof p->caption, "Mean p of the true class over the last %d renders that an examiner asked for, "
             "mean over %d seed%s. Left: over objects, with 95 %% intervals. Right: the object whose p %s moves most. Renders "
             "of %d pixels.",
             r->cfg->search.window, r->cfg->search.seeds, r->cfg->search.seeds == 1 ? "" : "s", examiner_name(r, 0),
             r->cfg->render.size);
    for (int i = 0; i < m->models; i++) SPOT_TRY(add_model_curves(c, p, r, dir, m->model[i]));
    return SPOT_OK;
}

/* ---- Figure 2 ---- */

/* Mean p of a class at a point of the curves; k -1: of random renders. NaN: no object is of the class. */
static double class_mean(const spot_examine_results *r, int model, int examiner, int cls, int k)
{
    double sum = 0;
    int n = 0;

    for (int s = 0; s < r->cfg->search.seeds; s++)
        for (int i = 0; i < r->objects; i++) {
            const spot_examine_result *u = spot_figure_unit(r, model, examiner, s, i);
            if (u->cls == cls) sum += k < 0 ? u->start : u->point[k].mean, n++;
        }
    return n ? sum / n : NAN;
}

/* Places of the bars of an examiner: random renders, the middle of its curve, its end. Returns their number. */
static int bars_of(int at[3], const spot_examine_results *r, int examiner)
{
    const int last = spot_examine_search_of(r->cfg, &r->cfg->examiner[examiner]).points - 1;

    at[0] = -1, at[1] = last ? last / 2 : last, at[2] = last;
    return last ? 3 : 2;
}

static void add_class_bars(spot_plot *p, const spot_examine_results *r, int model, int examiner)
{
    const spot_examine_search search = spot_examine_search_of(r->cfg, &r->cfg->examiner[examiner]);
    int at[3];
    const int n = bars_of(at, r, examiner);
    spot_plot_panel *panel;
    const char *name;
    char title[160], series[64];
    int rows = 0;

    snprintf(title, sizeof title, "%s on %s", examiner_name(r, examiner), r->cfg->model[model].name);
    panel = spot_plot_add_panel(p, title, mean_of(r), NULL);
    panel->xlow = 0, panel->xhigh = 1;
    for (int cls = 0; *(name = spot_examine_class(r->cfg, cls)); cls++) {
        if (isnan(class_mean(r, model, examiner, cls, -1))) continue;
        spot_plot_add_row(p, name);
        for (int k = 0; k < n; k++) {
            snprintf(series, sizeof series, "%d renders", at[k] < 0 ? 0 : search.point[at[k]]);
            spot_plot_mark *m = spot_plot_add_mark(p, SPOT_MARK_BAR, at[k] < 0 ? SPOT_PLOT_GREY : k, series);
            m->x = class_mean(r, model, examiner, cls, at[k]), m->y = rows + (k - (n - 1) / 2.0) * 0.28;
            m->xlow = m->xhigh = m->ylow = m->yhigh = NAN, m->hollow = at[k] < 0;
        }
        rows++;
    }
}

/* Examiners with budgets of their own have no number in common. */
static void add_bar_names(spot_plot *p, const spot_examine_results *r, int examiners)
{
    const spot_examine_search first = spot_examine_search_of(r->cfg, &r->cfg->examiner[0]);
    int at[3], n = bars_of(at, r, 0);
    bool alike = true;
    char name[64];

    for (int e = 1; e < examiners; e++) {
        const spot_examine_search s = spot_examine_search_of(r->cfg, &r->cfg->examiner[e]);
        alike &= s.points == first.points && !memcmp(s.point, first.point, (size_t)s.points * sizeof *s.point);
    }
    spot_plot_add_entry(p, "random renders", SPOT_MARK_BAR, SPOT_PLOT_GREY, SPOT_PLOT_HOLLOW);
    for (int k = 1; k < (alike ? n : 3); k++) {
        snprintf(name, sizeof name, alike ? "after %d renders" : k == 1 ? "in the middle of a curve" : "at its end",
                 alike ? first.point[at[k]] : 0);
        spot_plot_add_entry(p, name, SPOT_MARK_BAR, k, SPOT_PLOT_PLAIN);
    }
}

void spot_plot_class_bars(spot_plot *p, const spot_examine_results *r, const spot_figure_models *m)
{
    const int examiners = r->cfg->examiners < SHOWN ? r->cfg->examiners : SHOWN;

    spot_plot_open(p, examiners < 2 ? 1 : 2, 300, 42, "Figure 2. Which classes are easy to turn");
    add_bar_names(p, r, examiners);
    snprintf(p->caption, sizeof p->caption, "Mean p of the true class over the last %d renders, by class; mean over seeds and "
             "over the %d objects of a class.", r->cfg->search.window, r->cfg->objects.per_class);
    for (int i = 0; i < m->models; i++)
        for (int e = 0; e < examiners; e++) add_class_bars(p, r, m->model[i], e);
}

/* ---- Figure 6 ---- */

int spot_figure_features(double *out, const spot_factor_space *s, const double *at)
{
    int n = 0;

    for (int f = 0; f < SPOT_FACTORS; f++)
        for (int d = 0; d < s->dims; d++) {
            if (s->factor[d] != f) continue;
            if (s->turns[d]) out[n++] = cos(TURN * at[d]) / 2, out[n++] = sin(TURN * at[d]) / 2;
            else out[n++] = at[d];
        }
    return n;
}

static double mean_distance(const double *x, int n, const double *y, int m, int d)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double square = 0;
            for (int k = 0; k < d; k++) {
                const double gap = x[(size_t)i * (size_t)d + (size_t)k] - y[(size_t)j * (size_t)d + (size_t)k];
                square += gap * gap;
            }
            sum += sqrt(square);
        }
    return sum / n / m;
}

double spot_energy_distance(const double *x, int n, const double *y, int m, int d)
{
    return 2 * mean_distance(x, n, y, m, d) - mean_distance(x, n, x, n, d) - mean_distance(y, m, y, m, d);
}

/* The last renders of a search as rows of features. */
typedef struct { int n, d; double *row; } tail;

static spot_status read_tail(spot_ctx *c, tail *t, const spot_examine_results *r, const char *dir, int unit)
{
    spot_examine_history h;
    spot_status s = SPOT_OK;

    *t = (tail){ 0 };
    SPOT_TRY(spot_examine_history_read(c, &h, dir, unit));
    t->n = h.renders < SPOT_ORDER_RENDERS ? h.renders : SPOT_ORDER_RENDERS;
    t->row = malloc(((size_t)t->n + 1) * 2 * SPOT_FACTORS * sizeof *t->row);
    if (!t->row || h.dims != r->space.dims)
        s = t->row ? spot_fail(c, SPOT_INPUT, "search %d of %s has %d factors, not %d", unit, dir, h.dims, r->space.dims)
                   : spot_fail(c, SPOT_NOMEM, "no memory for %d renders", t->n);
    for (int i = 0; s == SPOT_OK && i < t->n; i++)
        t->d = spot_figure_features(t->row + (size_t)i * (size_t)t->d, &r->space,
                                    h.at + (size_t)(h.renders - t->n + i) * (size_t)h.dims);
    spot_examine_history_free(&h);
    return s;
}

static double distance_of(const tail *a, const tail *b) { return spot_energy_distance(a->row, a->n, b->row, b->n, a->d); }

/* Mean energy distances of one object: between the orders, each seed with each; and between two seeds of one order. */
static spot_status order_distances(spot_ctx *c, double *between, double *within, const spot_examine_results *const *r,
                                   const char *const *dir, int model, int examiner, int object, int twin)
{
    const int seeds = r[0]->cfg->search.seeds;
    tail *t = calloc((size_t)(2 * seeds), sizeof *t);
    int pairs = 0, twins = 0;
    spot_status s = t ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d searches", 2 * seeds);

    for (int i = 0; i < 2 * seeds && s == SPOT_OK; i++) {
        const int side = i >= seeds;
        s = read_tail(c, &t[i], r[side], dir[side],
                      spot_figure_unit(r[side], model, examiner, i % seeds, side ? twin : object)->index);
    }
    *between = *within = 0;
    for (int i = 0; i < 2 * seeds && s == SPOT_OK; i++)
        for (int k = i + 1; k < 2 * seeds; k++) {
            if ((i < seeds) == (k < seeds)) *within += distance_of(&t[i], &t[k]), twins++;
            else *between += distance_of(&t[i], &t[k]), pairs++;
        }
    *between /= pairs, *within = twins ? *within / twins : NAN;
    for (int i = 0; t && i < 2 * seeds; i++) free(t[i].row);
    free(t);
    return s;
}

static int find_object(const spot_examine_results *r, int model, const char *id)
{
    for (int i = 0; i < r->objects; i++)
        if (!strcmp(spot_figure_unit(r, model, 0, 0, i)->object, id)) return i;
    return -1;
}

/* Whether the runs have the same factors in another order, and the same in everything else. */
static spot_status check_orders(spot_ctx *c, const spot_examine_results *const *r)
{
    spot_examine_config other = *r[1]->cfg;
    char words[512];
    bool same = true, differ;

    other.factors = r[0]->cfg->factors, other.factor = r[0]->cfg->factor;
    differ = spot_study_differs(&spot_examine_study, words, sizeof words, r[0]->cfg, &other);
    for (int d = 0; d < r[0]->space.dims; d++) same &= r[0]->space.factor[d] == r[1]->space.factor[d];
    if (differ) return spot_fail(c, SPOT_USAGE, "Figure 6 needs two runs that differ in the order of their factors alone: %s",
                                 words);
    if (r[0]->space.dims != r[1]->space.dims || same)
        return spot_fail(c, SPOT_USAGE, "Figure 6 needs two runs of the same factors in another order; these have %s",
                         same ? "the same order" : "other factors");
    return SPOT_OK;
}

static void add_distance(spot_plot *p, int row, double value, int style, const char *series)
{
    spot_plot_mark *m = spot_plot_add_mark(p, SPOT_MARK_POINT, style, series);

    m->x = value, m->y = row;
    m->xlow = m->xhigh = m->ylow = m->yhigh = NAN;
}

spot_status spot_plot_order(spot_ctx *c, spot_plot *p, const spot_examine_results *const *r, const char *const *dir)
{
    double most = 0;
    size_t used;

    spot_plot_open(p, 1, 420, 24, "Figure 6. Do two orders of the factors end in the same place?");
    SPOT_TRY(check_orders(c, r));
    spot_plot_add_entry(p, "two orders", SPOT_MARK_POINT, 0, SPOT_PLOT_PLAIN);
    spot_plot_add_entry(p, "two seeds of one order", SPOT_MARK_POINT, 1, SPOT_PLOT_PLAIN);
    snprintf(p->caption, sizeof p->caption, "Energy distance between the last %d renders of two searches in the cube of the "
             "factors, whole turns as circles; 0: the same distribution. Where another order is no farther than another seed, "
             "the order does not matter; one seed alone says nothing.", SPOT_ORDER_RENDERS);
    used = strlen(p->caption);
    for (int model = 0; model < r[0]->cfg->models && model < r[1]->cfg->models; model++)
        for (int e = 0; e < r[0]->cfg->examiners; e++) {
            char title[160];
            double sum[2] = { 0 };
            int row = 0;
            snprintf(title, sizeof title, "%s on %s", examiner_name(r[0], e), r[0]->cfg->model[model].name);
            spot_plot_add_panel(p, title, SPOT_AXIS("energy distance of the last renders"), NULL);
            for (int i = 0; i < r[0]->objects; i++) {
                const spot_examine_result *u = spot_figure_unit(r[0], model, e, 0, i);
                const int twin = find_object(r[1], model, u->object);
                double between, within;
                if (twin < 0) continue;
                SPOT_TRY(order_distances(c, &between, &within, r, dir, model, e, i, twin));
                spot_plot_add_row(p, u->title);
                add_distance(p, row, between, 0, "two orders");
                if (!isnan(within)) add_distance(p, row, within, 1, "two seeds");
                most = fmax(most, fmax(between, isnan(within) ? 0 : within));
                sum[0] += between, sum[1] += within;
                row++;
            }
            used += strlen(p->caption + used);
            snprintf(p->caption + used, sizeof p->caption - used, " %s: mean over objects %.3f between the orders, %.3f "
                     "between seeds.",
                     title, sum[0] / row, sum[1] / row);
        }
    for (int i = 0; i < p->panels; i++) p->panel[i].xlow = 0, p->panel[i].xhigh = most > 0 ? 1.1 * most : 1;
    return SPOT_OK;
}
