/* cmd_verdict.c - spotter verdict: does a model depend on the background? Verdicts of a forest, and its training on labels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "spotter/verdict.h"

enum { MOST_RUNS = 64, LONGEST = 1400, FEW = 6, NAME = 30 };     /* models whose reasons are printed */

typedef struct {
    cli_machine machine;
    cli_rest dir;
    const char *labels, *truth, *forest, *train;
    int splits;
    bool json;
} verdict_flags, cli_flags;

static const cli_row table[] = {
    { .word = "RUN", .kind = CLI_REST, CLI_AT(dir), .most = MOST_RUNS, .need = "runs/background" },
    { "labels", 0, "FILE.csv", CLI_TEXT, CLI_AT(labels), .most = 500,
      .help = "labels of people: columns model, rater, label (invariant, borderline, variant); a model of a later run whose "
              "name is taken is RUN/NAME; by default those that the run's config names, or cuts of a reliance that is known" },
    { "truth",  0, "planted|learned", CLI_NAME, CLI_AT(truth), .otherwise = "the config's",
      .help = "reliance of planted models whose cuts are their labels; both are tried where both are known" },
    { "forest", 0, "FILE", CLI_TEXT, CLI_AT(forest), .most = 500, .otherwise = "that of the run's config, or Spotter's own",
      .help = "forest that gives the verdicts" },
    { "train",  0, "FILE", CLI_TEXT, CLI_AT(train), .most = 1000,
      .help = "new forest, trained on all labelled models of the runs; the verdicts are then its own" },
    { "splits", 0, "N", CLI_INT, CLI_AT(splits), 1, 1000, .otherwise = "the config's, 10",
      .help = "random splits of the models, 2/3 to train and 1/3 to test" },
    { "json",  'j', NULL, CLI_ON, CLI_AT(json), .help = "one JSON object on stdout" },
    CLI_MACHINE_ROWS("cpu"),
    { .kind = CLI_END }
};

typedef struct {
    const verdict_flags *o;
    spot_background_results *run;          /* (runs) */
    int runs;
    spot_background_config *cfg;           /* of the first run, with what the flags say */
    spot_verdict_report v;
} verdict_work;

/* ---- gathering ---- */

/* One table of all runs' models; the report is that of the first run with them. */
static spot_status read_runs(spot_ctx *c, verdict_work *w)
{
    w->run = calloc((size_t)w->o->dir.n, sizeof *w->run);
    if (!w->run) return spot_fail(c, SPOT_NOMEM, "no memory for %d runs", w->o->dir.n);
    while (w->runs < w->o->dir.n) {
        spot_background_results *r = &w->run[w->runs];
        SPOT_TRY(cli_study_for(c, NULL, w->o->dir.word[w->runs], "verdict", "background"));
        SPOT_TRY(spot_background_read(c, r, w->o->dir.word[w->runs++]));
        SPOT_TRY(spot_verdict_table_add(c, &w->v.table, r, w->o->dir.word[w->runs - 1]));
    }
    w->cfg = w->run[0].cfg;
    if (w->o->labels) w->cfg->verdict.labels = w->o->labels;
    if (w->o->forest) w->cfg->verdict.forest = w->o->forest;
    if (w->o->truth) w->cfg->verdict.truth = strcmp(w->o->truth, "learned") ? SPOT_TRUTH_PLANTED : SPOT_TRUTH_LEARNED;
    if (w->o->splits) w->cfg->verdict.splits = w->o->splits;
    return SPOT_OK;
}

static spot_status train_forest(spot_ctx *c, verdict_work *w)
{
    spot_forest f;
    spot_status s;

    if (w->v.why_labels[0]) return spot_fail(c, SPOT_INPUT, "%s", w->v.why_labels);
    SPOT_TRY(spot_verdict_train(c, &f, &w->v.table, &w->v.labels, w->cfg->verdict.seed));
    s = spot_forest_save(c, &f, w->o->train);
    if (s == SPOT_OK) spot_log(c, SPOT_LOG_INFO, "%s: a forest %s", w->o->train, f.about);
    spot_forest_close(&f);
    if (s == SPOT_OK) w->cfg->verdict.forest = w->o->train;
    return s;
}

/* ---- for people ---- */

static void print_verdict(const spot_model_verdict *v)
{
    if (v->label < 0) printf("none");
    else printf("%-10s  %3.0f %%", spot_background_label_name(v->label), 100 * v->share[v->label]);
}

/* Refusals are told of all models, reasons where there are few. */
static void print_words(const spot_verdict_report *v)
{
    char words[LONGEST], name[64];
    int more = 0;

    for (int i = 0; i < v->table.models; i++) {
        if (v->verdict[i].label >= 0 && v->table.models > FEW) { more++; continue; }
        snprintf(name, sizeof name, "%s", v->table.model[i].name);
        printf("%s: %s", spot_plain(name), spot_verdict_words(words, sizeof words, &v->verdict[i]));
        if (v->verdict[i].label < 0 && v->table.model[i].dependence[0])
            printf(". By its BG-gap alone: %s", v->table.model[i].dependence);
        printf("\n");
    }
    if (more) printf("reasons for the verdicts: --json, or spotter report\n");
}

/* labels: by one truth, or people's */
static void print_agreement(const spot_verdict_report *v, const spot_verdict_labels *l)
{
    const spot_verdict_sure agree = v->verdict ? spot_verdict_agreement(v->verdict, l) : (spot_verdict_sure){ 0 };

    if (agree.models)
        printf("the verdicts above agree with the labels for %d of %d models not trained on\n", agree.right, agree.models);
}

static void print_models(const spot_verdict_report *v)
{
    const char *about = v->forest.about, *end = about ? strstr(about, "; measured") : NULL;

    printf("%-*s  %8s  %10s  %-10s  %-10s  %s\n", NAME, "model", "accuracy", "worst case", "label", "verdict", "vote");
    for (int i = 0; i < v->table.models; i++) {
        const spot_verdict_model *m = &v->table.model[i];
        const int label = v->labels.models ? v->labels.majority[i] : -1;
        spot_text_column(stdout, m->name, NAME);
        printf("%8.3f  %10.3f  %-10s  ", m->accuracy, m->worst, label < 0 ? "-" : spot_background_label_name(label));
        if (v->verdict) print_verdict(&v->verdict[i]);
        else printf("-");
        printf("\n");
    }
    if (!v->verdict) printf("no verdicts: %s\n", v->why_verdict);
    if (!v->verdict) return;
    printf("forest: %.*s\n\n", end ? (int)(end - about) : (int)strlen(about), about);
    print_words(v);
}

static void print_labels(const spot_verdict_labels *l)
{
    printf("\nlabels: %s; %d of %d models: %d invariant, %d borderline, %d variant", l->source, l->labelled, l->models,
           l->count[SPOT_INVARIANT], l->count[SPOT_BORDERLINE], l->count[SPOT_VARIANT]);
    if (l->ties) printf("; %d tied vote%s count as borderline", l->ties, l->ties > 1 ? "s" : "");
    if (l->others) printf("; %d rows are about other models", l->others);
    if (isfinite(l->kappa)) printf("\nFleiss' kappa of the raters %.3f, over %d models", l->kappa, l->kappa_models);
    printf("\n");
}

static void print_assessor(const spot_verdict_scores *s, int a)
{
    const spot_spread acc = s->assessor[a].of_accuracy, kappa = s->assessor[a].of_kappa;
    const int (*n)[SPOT_BACKGROUND_LABELS] = s->assessor[a].confusion;
    const int swapped = n[SPOT_INVARIANT][SPOT_VARIANT] + n[SPOT_VARIANT][SPOT_INVARIANT];

    printf("%-20s  %.3f +- %.3f  ", spot_assessor_name(a), acc.mean, acc.deviation);
    if (kappa.n) printf("%.3f +- %.3f", kappa.mean, kappa.deviation);
    else printf("%-15s", "none");
    printf("  %.3f%s\n", (double)swapped / (s->splits * s->test),
           kappa.n && kappa.n < s->splits ? "  (some splits have no kappa)" : "");
}

/* The forest's answers for models of each label, which it was not trained on. */
static void print_confusion(const spot_verdict_scores *s)
{
    printf("the forest says");
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) printf("  %10s", spot_background_label_name(k));
    for (int l = 0; l < SPOT_BACKGROUND_LABELS; l++) {
        const int *n = s->assessor[SPOT_ASSESSOR_FOREST].confusion[l], all = n[0] + n[1] + n[2];
        printf("\n  of %-10s ", spot_background_label_name(l));
        for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) printf("  %8.0f %%", all ? 100.0 * n[k] / all : 0);
    }
    printf("\n");
}

static void print_sureness(const spot_verdict_scores *s)
{
    const int tested = s->splits * s->test;
    bool first = true;

    printf("%.0f %% of the tested models are within the forest's reach", 100.0 * s->judged / tested);
    if (s->judged) printf(", and %.0f %% of its verdicts on them are right", 100.0 * s->judged_right / s->judged);
    printf("\nright by share of the vote:");
    for (int i = 0; i < SPOT_VERDICT_VOTES; i++) {
        if (!s->sure[i].models) continue;
        if (i) printf("%s from %d %%: ", first ? "" : ",", 40 + 10 * i);
        else printf(" below 50 %%: ");
        printf("%.0f %% of %d", 100.0 * s->sure[i].right / s->sure[i].models, s->sure[i].models);
        first = false;
    }
    printf("\n");
}

static void print_scores(const spot_verdict_scores *s)
{
    printf("%d random splits, %d models to train and %d to test (mean, standard deviation)\n", s->splits, s->train, s->test);
    printf("%-20s  %-15s  %-15s  %s\n", "assessor", "accuracy", "kappa", "extremes swapped");
    for (int a = 0; a < SPOT_ASSESSORS; a++) print_assessor(s, a);
    printf("the forest is %+.3f (s.d. %.3f) more accurate than worst-case accuracy\n", s->gain.mean, s->gain.deviation);
    print_confusion(s);
    print_sureness(s);
}

/* Rank correlations with what is known of the models; by: value of each model. */
static spot_status print_rank(spot_ctx *c, const spot_verdict_report *v, const char *name, const double *by, double *truth)
{
    printf("%-44s", name);
    for (int k = 0; k < SPOT_TRUTHS; k++) {
        spot_interval r;
        for (int i = 0; i < v->table.models; i++) truth[i] = v->table.model[i].reliance[k];
        SPOT_TRY(spot_rank_correlation(c, &r, by, truth, v->table.models, 1));
        if (isfinite(r.value)) printf("  %+.3f [%+.3f, %+.3f]", r.value, r.low, r.high);
        else printf("  %-23s", "-");
    }
    printf("\n");
    return SPOT_OK;
}

static spot_status print_ranks(spot_ctx *c, const spot_verdict_report *v)
{
    const int n = v->table.models;
    double *by = malloc(2 * (size_t)n * sizeof *by + 1);
    bool any = false;
    char name[64];
    spot_status s = SPOT_OK;

    for (int i = 0; i < n; i++)
        for (int k = 0; k < SPOT_TRUTHS; k++) any |= isfinite(v->table.model[i].reliance[k]);
    if (!any || !by) return free(by), by ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d models", n);
    printf("\n%-44s  %-23s  %s\n", "rank correlation with", "planted reliance", "learned reliance");
    for (int i = 0; i < n; i++) by[i] = -v->table.model[i].worst;
    s = print_rank(c, v, "worst-case accuracy, negative", by, by + n);
    if (s == SPOT_OK && v->scores.splits) s = print_rank(c, v, "verdict on models not trained on", v->scores.held_out, by + n);
    for (int k = 0; s == SPOT_OK && k < v->table.features; k++) {
        for (int i = 0; i < n; i++) by[i] = v->table.model[i].feature[k];
        s = print_rank(c, v, spot_verdict_feature_name(name, k), by, by + n);
    }
    if (s == SPOT_OK) printf("(Spearman, 95 %% bootstrap over models)\n");
    free(by);
    return s;
}

/* ---- for programs ---- */

static void put_spread(spot_json *j, const char *key, spot_spread s)
{
    spot_json_object(j, key);
    spot_json_put_real(j, "mean", s.n ? s.mean : NAN);
    spot_json_put_real(j, "sd", s.n ? s.deviation : NAN);
    spot_json_put_int(j, "n", s.n);
    spot_json_end(j);
}

static void put_reasons(spot_json *j, const char *key, const spot_verdict_reason *r, int n)
{
    char name[64];

    spot_json_array(j, key, n, n);
    for (int i = 0; i < n; i++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "feature", spot_verdict_feature_name(name, r[i].feature));
        spot_json_put_real(j, "value", r[i].value);
        spot_json_put_real(j, "effect", r[i].effect);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_reach(spot_json *j, const spot_verdict_distance *d)
{
    char name[64];

    spot_json_put_real(j, "distance", d->distance);
    spot_json_put_real(j, "distance_limit", d->limit);
    spot_json_array(j, "unlike", d->oddities, d->oddities);
    for (int i = 0; i < d->oddities; i++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "feature", spot_verdict_feature_name(name, d->oddity[i].feature));
        spot_json_put_real(j, "value", d->oddity[i].value);
        spot_json_put_real(j, "nearest_least", d->oddity[i].least);
        spot_json_put_real(j, "nearest_most", d->oddity[i].most);
        spot_json_put_real(j, "part", d->oddity[i].part);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_verdict(spot_json *j, const spot_model_verdict *v)
{
    char words[LONGEST];

    spot_json_put_text(j, "verdict", v->label < 0 ? NULL : spot_background_label_name(v->label));
    spot_json_put_text(j, "words", spot_verdict_words(words, sizeof words, v));
    put_reach(j, &v->reach);
    spot_json_put_int(j, "models_of_such_votes", v->sure.models);
    spot_json_put_int(j, "right_of_such_votes", v->sure.right);
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) spot_json_put_real(j, spot_background_label_name(k), v->share[k]);
    put_reasons(j, "reasons", v->reason, v->reasons);
    put_reasons(j, "objections", v->objection, v->objections);
}

static void put_models(spot_json *j, const spot_verdict_report *v)
{
    spot_json_array(j, "models", v->table.models, v->table.models);
    for (int i = 0; i < v->table.models; i++) {
        const spot_verdict_model *m = &v->table.model[i];
        const int label = v->labels.models ? v->labels.majority[i] : -1;
        spot_json_object(j, NULL);
        spot_json_put_text(j, "model", m->name);
        spot_json_put_real(j, "accuracy", m->accuracy);
        spot_json_put_real(j, "worst_case", m->worst);
        spot_json_put_real(j, "reliance", m->reliance[SPOT_TRUTH_PLANTED]);
        spot_json_put_real(j, "learned_reliance", m->reliance[SPOT_TRUTH_LEARNED]);
        spot_json_put_text(j, "label", label < 0 ? NULL : spot_background_label_name(label));
        if (v->scores.splits) spot_json_put_real(j, "held_out", v->scores.held_out[i]);
        if (m->dependence[0]) spot_json_put_text(j, "by_bg_gap", m->dependence);
        if (v->verdict) put_verdict(j, &v->verdict[i]);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_confusion(spot_json *j, const int (*n)[SPOT_BACKGROUND_LABELS])
{
    spot_json_array(j, "confusion", 0, 0);         /* row by row: a row for each label, a column for each verdict */
    for (int l = 0; l < SPOT_BACKGROUND_LABELS; l++)
        for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) spot_json_put_int(j, NULL, n[l][k]);
    spot_json_end(j);
}

static void put_scores(spot_json *j, const char *key, const spot_verdict_scores *s)
{
    spot_json_array(j, key, 0, 0);
    for (int a = 0; s->splits && a < SPOT_ASSESSORS; a++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "assessor", spot_assessor_name(a));
        put_spread(j, "accuracy", s->assessor[a].of_accuracy);
        put_spread(j, "kappa", s->assessor[a].of_kappa);
        put_confusion(j, s->assessor[a].confusion);
        if (a == SPOT_ASSESSOR_FOREST) {
            spot_json_put_int(j, "tested", s->splits * s->test);
            spot_json_put_int(j, "judged", s->judged);
            spot_json_put_int(j, "judged_right", s->judged_right);
        }
        spot_json_end(j);
    }
    spot_json_end(j);
}

static spot_status print_json(spot_ctx *c, const spot_verdict_report *v)
{
    const spot_verdict_scores *s = &v->scores;
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    put_models(&j, v);
    spot_json_put_text(&j, "forest", v->forest.about);
    spot_json_put_text(&j, "no_verdict", v->why_verdict[0] ? v->why_verdict : NULL);
    spot_json_put_text(&j, "labels", v->labels.models ? v->labels.source : NULL);
    spot_json_put_int(&j, "ties", v->labels.ties);
    spot_json_put_real(&j, "kappa", v->labels.models ? v->labels.kappa : NAN);
    spot_json_put_text(&j, "no_scores", v->why_scores[0] ? v->why_scores : NULL);
    put_scores(&j, "assessors", s);
    spot_json_put_text(&j, "other_labels", v->other_labels.models ? v->other_labels.source : NULL);
    put_scores(&j, "other_assessors", &v->other_scores);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

/* ---- the command ---- */

static spot_status print_report(spot_ctx *c, const verdict_work *w)
{
    const spot_verdict_report *v = &w->v;

    if (w->o->json) return print_json(c, v);
    print_models(v);
    if (v->labels.models) print_labels(&v->labels), print_agreement(v, &v->labels);
    else printf("\nno labels: %s\n", v->why_labels);
    if (v->scores.splits) print_scores(&v->scores);
    else if (v->labels.models) printf("no assessor: %s\n", v->why_scores);
    if (v->other_scores.splits) {
        print_labels(&v->other_labels), print_agreement(v, &v->other_labels);
        print_scores(&v->other_scores);
    }
    return print_ranks(c, v);
}

static spot_status give_verdicts(spot_ctx *c, void *input)
{
    verdict_work w = { .o = input };
    spot_status s = read_runs(c, &w);

    if (s == SPOT_OK) s = spot_verdict_report_learn(c, &w.v, w.cfg);
    if (s == SPOT_OK && w.o->train) s = train_forest(c, &w);
    if (s == SPOT_OK) s = spot_verdict_report_judge(c, &w.v, w.cfg);
    if (s == SPOT_OK) s = print_report(c, &w);
    spot_verdict_report_free(&w.v);
    for (int r = 0; r < w.runs; r++) spot_background_close(&w.run[r]);
    free(w.run);
    return s;
}

const cli_command cli_verdict_command = {
    "verdict", "whether models depend on the background, by a forest trained on labels", "RUN...",
    "  spotter verdict runs/background\n"
    "  spotter verdict runs/mine --labels labels.csv --train mine.safetensors\n"
    "  spotter verdict runs/new --forest mine.safetensors",
    "Tells for every model of runs of `spotter background` whether it is invariant, borderline or variant, and which features "
    "of its variance matrices say so. A model that is unlike those that the forest was trained on gets no verdict. With "
    "labels it also tells how well a forest, AdaBoost and worst-case accuracy learn them, over random splits of the models, "
    "and how often votes of a forest are right on models that it has not seen. --train makes a forest of your labels.",
    table, NULL,
    .work = give_verdicts, CLI_OPTIONS(json), .machine = true
};
