/* background_lines.c - see background_lines.h. A row of a paper's table belongs to the run that differs from the first one in
 * that row's setting alone. */
#include "report/table/background_lines.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/background_pictures.h"

enum { F1_THRESHOLD = 1 };         /* .25: the paper does not say its threshold */

static const double thresholds[SPOT_COVERAGES] = { 0, 0.25, 0.5, 0.75, 0.9 };

const char *spot_background_table_title(int table)
{
    static const char *const title[SPOT_BACKGROUND_TABLES] = {
        "Diversity and agreement of ways to choose backgrounds", "Accuracy of assessors",
        "Accuracy of assessors by interpolation", "Number of backgrounds", "Labels of the models", "Accuracies of the models"
    };

    if (table == SPOT_BACKGROUND_REALNESS) return "Answers by the realness of a blend (1 - its distance to the original)";

    return title[table - 1];
}

/* ---- lines ---- */

static spot_background_line *add(spot_background_lines *l, int table, const char *row, const spot_background_table_run *run,
                                 double paper, double paper_sd)
{
    spot_background_line *at = &l->line[l->lines < SPOT_BACKGROUND_LINES ? l->lines++ : SPOT_BACKGROUND_LINES - 1];

    *at = (spot_background_line){ .table = table, .run = run, .value = NAN, .sd = NAN, .low = NAN, .high = NAN, .paper = paper,
                                  .paper_sd = paper_sd };
    snprintf(at->row, sizeof at->row, "%s", row);
    return at;
}

__attribute__((format(printf, 2, 3)))
static void name_quantity(spot_background_line *at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(at->quantity, sizeof at->quantity, fmt, args);
    va_end(args);
}

/* ---- finding runs ---- */

/* want: the first run's config with the settings of a row. */
typedef struct {
    spot_ctx *c;
    spot_background_lines *l;
    const spot_background_table_run *run;
    int runs;
    spot_background_config *want;
} search;

static void begin_row(search *q) { *q->want = *q->run[0].r.cfg; }

static bool is_wanted(search *q, int i)
{
    char words[512];

    return !spot_study_differs(&spot_background_study, words, sizeof words, q->want, q->run[i].r.cfg);
}

/* The first run with the wanted settings and the first run's seed; NULL: none. */
static const spot_background_table_run *find_run(search *q)
{
    for (int i = 0; i < q->runs; i++)
        if (is_wanted(q, i)) return &q->run[i];
    return NULL;
}

/* The same with another seed of the suite. */
static const spot_background_table_run *find_twin(search *q)
{
    const uint64_t seed = q->want->suite.seed;
    const spot_background_table_run *found = NULL;

    for (int i = 0; i < q->runs && !found; i++) {
        q->want->suite.seed = q->run[i].r.cfg->suite.seed;
        if (q->want->suite.seed != seed && is_wanted(q, i)) found = &q->run[i];
    }
    q->want->suite.seed = seed;
    return found;
}

/* ---- tables 1 and 4 ---- */

/* Fleiss' kappa of two or more raters; without them the agreement of two suites that differ in their seed stands in for it. */
static spot_status agreement_of(search *q, spot_background_line *at)
{
    const spot_background_table_run *one = at->run, *other;
    spot_suite_consistency pair;

    name_quantity(at, "Fleiss' kappa");
    if (!one) return SPOT_OK;
    if (one->v.labels.raters > 1) {
        at->value = one->v.labels.kappa, at->n = one->v.labels.kappa_models;
        return SPOT_OK;
    }
    other = find_twin(q);
    name_quantity(at, "two suites (stand-in for kappa)");
    if (!other) return SPOT_OK;
    SPOT_TRY(spot_suites_compare(q->c, &pair, &one->r, one->dir, &other->r, other->dir));
    at->value = pair.consistency, at->n = pair.models;
    return SPOT_OK;
}

/* choice: -1, or the row's; n: 0, or the row's. The others are those of the first run. */
typedef struct { const char *name; int choice, n; double coverage, kappa, f1; } suite_row;

static spot_status add_suite(search *q, int table, const suite_row *row)
{
    const spot_background_table_run *of;
    double coverage[SPOT_COVERAGES], kappa;
    spot_background_line *at;

    begin_row(q);
    if (row->choice >= 0) q->want->suite.choice = row->choice;
    if (row->n) q->want->suite.n = row->n;
    of = find_run(q);
    if (of) spot_coverage_mean(coverage, &of->v.table);
    for (int k = 0; k < SPOT_COVERAGES; k++) {
        if (k != F1_THRESHOLD && (table != 1 || !of)) continue;
        at = add(q->l, table, row->name, of, k == F1_THRESHOLD ? row->coverage : NAN, NAN);
        name_quantity(at, "neuron coverage above %g", thresholds[k]);
        if (of) at->value = coverage[k], at->n = of->v.table.models;
    }
    at = add(q->l, table, row->name, of, row->kappa, NAN);
    SPOT_TRY(agreement_of(q, at));
    kappa = at->value;
    at = add(q->l, table, row->name, of, row->f1, NAN);
    name_quantity(at, "F1 of both");
    if (of && coverage[F1_THRESHOLD] >= 0 && kappa >= 0) at->value = spot_f1(kappa, coverage[F1_THRESHOLD]);
    return SPOT_OK;
}

static spot_status add_choices(search *q)
{
    static const suite_row paper[SPOT_SUITE_CHOICES] = {
        { "random",   SPOT_SUITE_RANDOM,   0, .681, .384, .491 },
        { "nearest",  SPOT_SUITE_NEAREST,  0, .133, .906, .232 },
        { "interval", SPOT_SUITE_INTERVAL, 0, .667, .531, .591 },
        { "clip",     SPOT_SUITE_CLIP,     0, .591, .640, .615 },
        { "ontology", SPOT_SUITE_ONTOLOGY, 0, .652, .649, .650 },
    };

    for (int i = 0; i < SPOT_SUITE_CHOICES; i++) SPOT_TRY(add_suite(q, 1, &paper[i]));
    return SPOT_OK;
}

static spot_status add_numbers(search *q)
{
    static const suite_row paper[] = {
        { "N = 32",  -1, 32,  .652, .649, .650 },
        { "N = 50",  -1, 50,  .657, .645, .651 },
        { "N = 100", -1, 100, .660, .645, .652 },
    };

    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) SPOT_TRY(add_suite(q, 4, &paper[i]));
    return SPOT_OK;
}

/* ---- tables 2 and 3 ---- */

typedef struct { double accuracy, accuracy_sd, kappa, kappa_sd; } paper_score;

static void add_assessor(spot_background_lines *l, int table, const char *row, int assessor, const paper_score *p,
                         const spot_background_table_run *run)
{
    const bool has = run && run->v.scores.splits;

    for (int k = 0; k < 2; k++) {
        spot_background_line *at = add(l, table, row, run, k ? p->kappa : p->accuracy, k ? p->kappa_sd : p->accuracy_sd);
        spot_spread s = { NAN, NAN, 0 };
        if (has) s = k ? run->v.scores.assessor[assessor].of_kappa : run->v.scores.assessor[assessor].of_accuracy;
        name_quantity(at, "%s: %s", spot_assessor_name(assessor), k ? "kappa with the majority" : "accuracy");
        at->value = s.mean, at->sd = s.deviation, at->n = s.n;
    }
}

static void add_assessors(spot_background_lines *l, const spot_background_table_run *run)
{
    static const paper_score paper[SPOT_ASSESSORS] = {
        { .797, .075, .649, .091 }, { .748, .091, .599, .102 }, { .644, NAN, .387, NAN }
    };

    for (int a = 0; a < SPOT_ASSESSORS; a++) add_assessor(l, 2, "10 splits", a, &paper[a], run);
}

static void add_interpolants(search *q)
{
    static const struct { const char *name; int kernel; double sigma; paper_score score[2]; } paper[] = {
        { "kernel 16, sigma 5",  16, 5,  { { .787, .077, .635, NAN }, { .709, .102, .548, NAN } } },
        { "kernel 32, sigma 2",  32, 2,  { { .796, .081, .651, NAN }, { .545, .075, .358, NAN } } },
        { "kernel 32, sigma 10", 32, 10, { { .797, .075, .649, .091 }, { .748, .091, .599, .102 } } },
    };

    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) {
        begin_row(q);
        q->want->measure.kernel = paper[i].kernel, q->want->measure.sigma = paper[i].sigma;
        for (int a = SPOT_ASSESSOR_FOREST; a <= SPOT_ASSESSOR_BOOST; a++)
            add_assessor(q->l, 3, paper[i].name, a, &paper[i].score[a], find_run(q));
    }
}

/* ---- tables 5 and 6 ---- */

static void add_labels(spot_background_lines *l, const spot_background_table_run *run)
{
    static const double paper[SPOT_BACKGROUND_LABELS] = { .248, .280, .472 };
    const spot_verdict_labels *v = &run->v.labels;

    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) {
        spot_background_line *at = add(l, 5, spot_background_label_name(k), run, paper[k], NAN);
        name_quantity(at, "share of the models");
        if (v->labelled) at->value = (double)v->count[k] / v->labelled, at->n = v->count[k];
    }
}

static void add_accuracies(spot_background_lines *l, const spot_background_table_run *run)
{
    static const char *const quantity[] = { "mean", "max", "min", "std" };
    static const double paper[2][4] = { { .9188, .9942, .4340, .0911 }, { .2876, .6536, .0018, .1192 } };
    const spot_verdict_table *t = &run->v.table;

    for (int w = 0; w < 2; w++) {
        double sum = 0, square = 0, most = -INFINITY, least = INFINITY;
        for (int i = 0; i < t->models; i++) {
            const double v = w ? t->model[i].worst : t->model[i].accuracy;
            sum += v, square += v * v;
            most = v > most ? v : most, least = v < least ? v : least;
        }
        const double n = t->models, mean = sum / n, spread = n > 1 ? sqrt(fmax(0, square - n * mean * mean) / (n - 1)) : NAN;
        for (int k = 0; k < 4; k++) {
            spot_background_line *at = add(l, 6, w ? "worst-case" : "accuracy", run, paper[w][k], NAN);
            name_quantity(at, "%s", quantity[k]);
            if (t->models) at->value = k == 0 ? mean : k == 1 ? most : k == 2 ? least : spread, at->n = t->models;
        }
    }
}

/* ---- realness ---- */

/* No table of the paper: answers by the realness of a blend, of each run whose suite is another one than before. */
static spot_status add_realness(search *q)
{
    for (int i = 0; i < q->runs; i++) {
        const spot_background_table_run *run = &q->run[i];
        spot_realness_bin bin[SPOT_REALNESS_BINS];
        bool again = false;
        for (int k = 0; k < i; k++) again |= !strcmp(q->run[k].r.suite->key, run->r.suite->key);
        if (again) continue;
        SPOT_TRY(spot_realness_bins(q->c, bin, &run->r, run->dir));
        for (int b = 0; b < SPOT_REALNESS_BINS; b++) {
            char row[64];
            snprintf(row, sizeof row, "realness %.3f to %.3f", bin[b].from, bin[b].to);
            spot_background_line *at = add(q->l, SPOT_BACKGROUND_REALNESS, row, run, NAN, NAN);
            name_quantity(at, "accuracy");
            at->value = bin[b].accuracy.value, at->low = bin[b].accuracy.low, at->high = bin[b].accuracy.high;
            at->n = (int)bin[b].looks;
            at = add(q->l, SPOT_BACKGROUND_REALNESS, row, run, NAN, NAN);
            name_quantity(at, "flipped of the known");
            at->value = bin[b].flipped.value, at->low = bin[b].flipped.low, at->high = bin[b].flipped.high;
            at->n = (int)bin[b].looks;
        }
    }
    return SPOT_OK;
}

static spot_status add_table(search *q, int table)
{
    switch (table) {
    case 1: return add_choices(q);
    case 2: return add_assessors(q->l, q->run), SPOT_OK;
    case 3: return add_interpolants(q), SPOT_OK;
    case 4: return add_numbers(q);
    case 5: return add_labels(q->l, q->run), SPOT_OK;
    case 6: return add_accuracies(q->l, q->run), SPOT_OK;
    case SPOT_BACKGROUND_REALNESS: return add_realness(q);
    default: return spot_fail(q->c, SPOT_USAGE,
                              "{tables.unknown} Table %d is not here; the tables of the background paper are 1 to %d, and %d "
                              "has the answers by realness", table, SPOT_BACKGROUND_TABLES, SPOT_BACKGROUND_REALNESS);
    }
}

spot_status spot_background_lines_add(spot_ctx *c, spot_background_lines *l, int table, const spot_background_table_run *run,
                                      int runs)
{
    search q = { c, l, run, runs, malloc(sizeof *q.want) };
    spot_status s = q.want ? add_table(&q, table) : spot_fail(c, SPOT_NOMEM, "no memory to compare runs");

    free(q.want);
    return s;
}
