/* verdict.h - does a model depend on what lies behind the object? People's labels of models, and a forest that learns them from
 * the features of variance matrices (Liao & Chen, paper 003: sections 4.3.3, 4.3.4, 5.1, 5.3, appendix C).
 *
 *     spot_verdict_table t = { 0 };
 *     SPOT_TRY(spot_verdict_table_add(c, &t, results, "runs/mine"));       // models of a run, as rows
 *     SPOT_TRY(spot_verdict_labels_read(c, &labels, &t, "labels.csv"));
 *     SPOT_TRY(spot_verdict_try(c, &scores, &t, &labels, splits, seed));   // how well labels are learned
 *     SPOT_TRY(spot_verdict_train(c, &forest, &t, &labels));
 *     SPOT_TRY(spot_verdict_give(c, verdict, &forest, &t));
 *     spot_forest_close(&forest), spot_verdict_scores_free(&scores), spot_verdict_labels_free(&labels);
 *     spot_verdict_table_free(&t);
 *
 * Everything that is freed may be zeroed. Results do not depend on threads. */
#ifndef SPOTTER_VERDICT_H
#define SPOTTER_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/background.h"
#include "spotter/ctx.h"
#include "spotter/forest.h"
#include "spotter/interval.h"
#include "spotter/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- variance matrices ---- */

/* A variance matrix as 16 numbers, from which a forest tells whether a model depends on the background
 * (the background paper's section 4.3.3; kernels/map/rbf.h makes the matrices). */

/* Distances grow with the row a and the column b; g cells a side; std divides by the number of values.
 *
 *   error          share of the cells whose value is above SPOT_VARIANCE_ERROR
 *   discontinuity  the sum of (w / g) std over the lines of cells parallel to the main diagonal, that and the ones below it, w
 *                  the cells of a line, without the corner of one cell; divided by m = (sum of all cells) / (g^2 - g)
 *   asymmetry      the mean of |M[a][b] - M[g-1-b][g-1-a]| over a + b < g - 1, divided by m. It compares near distances with
 *                  far ones; a variance matrix equals its transpose
 *   gradients      first differences among the cells from the diagonal on, b <= a, each away from the diagonal: vertical
 *                  M[a+1][b] - M[a][b], horizontal M[a][b-1] - M[a][b], diagonal M[a+1][b-1] - M[a][b]. wstd is the mean std
 *                  of the differences of a row (vertical) or of a column (horizontal), of those with two at least
 *   gradient       the mean of three scores: mean / wstd, vertical and horizontal, and mean / std, diagonal
 *   sensitivity    the sum of |M - M'|, M' from a random 90 % of the targets
 *
 * Cells without a value (NaN) are left out of each mean, std, share and sum, and so is a difference or pair that has one; a
 * line's w counts the others, and m is the mean value times g / (g - 1). A quotient is 0 where what it is divided by is 0.
 *
 * The paper's code takes its diagonal statistics from the vertical differences; here they are from the diagonal ones. */
typedef enum {
    SPOT_VARIANCE_MEAN, SPOT_VARIANCE_SQUARE, SPOT_VARIANCE_STD, SPOT_VARIANCE_ERRORS, SPOT_VARIANCE_DISCONTINUITY,
    SPOT_VARIANCE_ASYMMETRY,
    SPOT_VARIANCE_VERTICAL_MEAN, SPOT_VARIANCE_VERTICAL_STD, SPOT_VARIANCE_VERTICAL_WSTD,
    SPOT_VARIANCE_HORIZONTAL_MEAN, SPOT_VARIANCE_HORIZONTAL_STD, SPOT_VARIANCE_HORIZONTAL_WSTD,
    SPOT_VARIANCE_DIAGONAL_MEAN, SPOT_VARIANCE_DIAGONAL_STD,
    SPOT_VARIANCE_GRADIENT, SPOT_VARIANCE_SENSITIVITY,
    SPOT_VARIANCE_FEATURES
} spot_variance_feature;

#define SPOT_VARIANCE_ERROR 0.15

extern const char *const spot_variance_names[SPOT_VARIANCE_FEATURES];      /* "mean", "vertical std", ... */

/* feature (SPOT_VARIANCE_FEATURES), out; value, part (grid, grid): M and M'. SPOT_INVALID where grid is below 2, where M has
 * no value at all, and where a value is infinite. */
spot_status spot_variance_features(spot_ctx *c, double *feature, const float *value, const float *part, int grid);

/* The targets of M': kept (targets) gets 1 for a random 90 %, rounded to the nearest, and 0 for the others; returns how many
 * are kept. SPOT_RNG_VARIANCE at `seed`. A left-out target's distances are set to NaN. */
int spot_variance_part(unsigned char *kept, int targets, spot_seed seed);

/* ---- verdicts ---- */

/* ---- agreement of raters ---- */

/* Labels by several raters, and accuracies over repeated random splits. */

/* Fleiss' kappa (1971). count: (subjects, categories), how many raters gave a subject a category, with equally many raters, at
 * least 2, for every subject: else SPOT_INPUT. With P_i the share of agreeing pairs of raters and p_j the share of category j
 * among all labels, kappa = (mean P_i - sum p_j^2) / (1 - sum p_j^2). NaN where all labels are of one category, for which the
 * formula is 0 / 0. */
spot_status spot_fleiss_kappa(spot_ctx *c, double *kappa, const int *count, int subjects, int categories);

/* The category that most raters gave. *tied: another has as many, and this is the first of them. count: (categories) */
int spot_majority(const int *count, int categories, bool *tied);

/* Harmonic mean of precision and recall; 0 if both are 0. Neither may be below 0. */
double spot_f1(double precision, double recall);

/* A random split: order (n) gets the rows of 0..n-1, first the part that is fitted to. Returns that part's size: n less a
 * third of it, rounded up, as scikit-learn does. `split` is an address: repeated splits have different ones. */
int spot_split_rows(uint32_t *order, int n, spot_seed seed, int split);

/* Mean and standard deviation (n - 1) of n values; the deviation of one value is 0. */
typedef struct { double mean, deviation; int n; } spot_spread;
spot_spread spot_spread_of(const double *value, int n);

/* ---- verdicts ---- */

#define SPOT_VERDICT_FEATURES (SPOT_BACKGROUND_MATRICES * SPOT_BACKGROUND_FEATURES)

const char *spot_background_label_name(int label);     /* "invariant", "borderline", "variant" */

/* Feature i belongs to matrix i / SPOT_BACKGROUND_FEATURES. */
const char *spot_verdict_feature_name(char text[64], int feature);      /* "confidence: mean" */

/* ---- 1. models as rows ---- */

typedef struct {
    char   name[64], identity[48]; /* identity: hash of the model; "": not known */
    float  feature[SPOT_VERDICT_FEATURES];     /* of the confidence matrix alone: the first SPOT_BACKGROUND_FEATURES */
    double accuracy, worst;        /* shares of the targets: right on the original; on it and all N backgrounds */
    double coverage[SPOT_COVERAGES];
    double reliance[SPOT_TRUTHS];  /* NaN: not known */
    char   dependence[120];        /* what its BG-gap says (spot_background_dependence_words); "": not known */
    int    run;                    /* models of one run have one number */
} spot_verdict_model;

/* Models measured in the same way: one set of matrices, one kind of features. */
typedef struct {
    int    models, features, room; /* features: SPOT_VERDICT_FEATURES, or those of one matrix */
    spot_verdict_model *model;     /* (models) */
    char   measured[256];          /* settings that give the features their meaning: "grid 128, kernel 32, ..." */
    char   suite[256];             /* "ontology, N 32, distances by pixels" */
} spot_verdict_table;

/* Appends the models of a run; dir: of the run, for sentences and for what planted models learned. SPOT_INPUT, with t as it
 * was, for models with different sets of matrices (they are refused together), a model without a matrix, a feature that is not
 * finite, a model that t has, and a run whose matrices were made with other settings. A model whose name is taken becomes
 * "RUN/name", by the last folder of dir. */
spot_status spot_verdict_table_add(spot_ctx *c, spot_verdict_table *t, const spot_background_results *r, const char *dir);

/* The same of one row. `matrices` is 1 or SPOT_BACKGROUND_MATRICES. */
spot_status spot_verdict_table_put(spot_ctx *c, spot_verdict_table *t, const spot_verdict_model *m, int matrices);
void        spot_verdict_table_free(spot_verdict_table *t);

/* ---- 2. labels ---- */

typedef struct {
    int     models, raters;
    char  **rater;                 /* (raters) */
    int8_t *label;                 /* (models, raters): spot_background_label; -1: none */
    int8_t *majority;              /* (models): the label with most votes, borderline where several have as many; -1: none */
    uint8_t *tied;                 /* (models) */
    int     labelled, ties;        /* models with a label; those among them whose vote was tied */
    int     count[SPOT_BACKGROUND_LABELS];     /* models of each majority */
    int     others;                /* rows of the file about models that the table does not have */
    double  kappa;                 /* Fleiss', over the models that every rater labelled; NaN: one rater, or no such model */
    int     kappa_models;
    char    source[256];           /* "labels.csv, 3 raters", "planted reliance, ..." */
} spot_verdict_labels;

/* A CSV file with the columns model, rater, label. SPOT_INPUT names the line of an unknown label, or of a second label by the
 * same rater for a model; and it refuses a file without a model of the table. */
spot_status spot_verdict_labels_read(spot_ctx *c, spot_verdict_labels *l, const spot_verdict_table *t, const char *path);

/* Labels by the cuts of a known reliance that cfg has for this truth; the rater has the truth's name. Models whose reliance is
 * not known get none. */
spot_status spot_verdict_labels_cut(spot_ctx *c, spot_verdict_labels *l, const spot_verdict_table *t, int truth,
                                    const spot_background_verdict *cfg);
const char *spot_verdict_truth_name(int truth);        /* "planted", "learned" */
void        spot_verdict_labels_free(spot_verdict_labels *l);

/* ---- 3. how well an assessor learns them ---- */

/* FOREST and BOOST (AdaBoost, SAMME.R) have the features. WORST is the baseline: two cuts of worst-case accuracy, those with
 * the greatest accuracy on the training part; of equal ones the lowest, first of the lower cut. Cuts lie between neighbouring
 * values and beyond both ends. */
typedef enum { SPOT_ASSESSOR_FOREST, SPOT_ASSESSOR_BOOST, SPOT_ASSESSOR_WORST, SPOT_ASSESSORS } spot_assessor;
const char *spot_assessor_name(int assessor);

/* Votes in steps: below .5, below .6, ..., from .9 on. How many models got such a vote, and for how many it was right. */
enum { SPOT_VERDICT_VOTES = 6 };
typedef struct { int models, right; } spot_verdict_sure;
int spot_verdict_vote_step(double vote);

typedef struct {
    int splits, train, test;       /* models of a split */
    struct {
        double *accuracy, *kappa;  /* (splits); kappa: Fleiss' of assessor and majority; NaN: both say one label only */
        spot_spread of_accuracy, of_kappa;     /* of_kappa: over the splits that have one */
        int confusion[SPOT_BACKGROUND_LABELS][SPOT_BACKGROUND_LABELS];         /* [label][said]: tested models, all splits */
    } assessor[SPOT_ASSESSORS];
    spot_spread gain;              /* accuracy of the forest less that of the baseline, split by split */
    int     judged, judged_right;  /* of splits * test models: those within the forest's reach (4); those judged rightly */
    spot_verdict_sure sure[SPOT_VERDICT_VOTES];        /* of the judged ones */
    double *held_out;              /* (models): mean spot_dependence by forests that did not see the model; NaN: none */
    double *owned;
} spot_verdict_scores;

/* Random splits of the labelled models, 2/3 to train and 1/3 to test. SPOT_INPUT for fewer than six labelled models, and for
 * labels that are all the same. */
spot_status spot_verdict_try(spot_ctx *c, spot_verdict_scores *out, const spot_verdict_table *t, const spot_verdict_labels *l,
                             int splits, uint64_t seed);
void        spot_verdict_scores_free(spot_verdict_scores *s);

/* Shares of the three labels as one number: 0 invariant, 1/2 borderline, 1 variant. */
double spot_dependence(const double share[SPOT_BACKGROUND_LABELS]);

/* The two cuts of the baseline: below low variant, from high on invariant. Needs n >= 1. */
typedef struct { double low, high; int right; } spot_worst_cuts;
spot_status spot_worst_cuts_fit(spot_ctx *c, spot_worst_cuts *cuts, const double *worst, const uint8_t *label, int n);
int         spot_worst_cuts_label(const spot_worst_cuts *cuts, double worst);

/* ---- 4. the forest's reach ---- */

/* A forest judges no model that is unlike those of its training. A feature's place is the share of the training's models below
 * it, 0 to 1, and beyond their range how many spreads (ninth less first decile) it is away, at most SPOT_REACH_BEYOND. The
 * distance of two models is the mean difference of their places; a model's distance to the training is the mean of those to the
 * SPOT_REACH_NEAREST nearest models. The limit is made in the same way from the training alone: each of its models against
 * those of the other runs (below three runs: against nine tenths of the models), and SPOT_REACH_SHARE of them are within. A
 * model is refused, too, if its accuracy on the originals is more than SPOT_REACH_ACCURACY below the lowest of the training.
 * The rule and its numbers are ours, chosen on planted models (bench/studies/background.md); the paper has none. */
#define SPOT_REACH_NEAREST  3
#define SPOT_REACH_BEYOND   3
#define SPOT_REACH_SHARE    0.95
#define SPOT_REACH_ACCURACY 0.1

enum { SPOT_VERDICT_REASONS = 3 };

/* A feature that makes a model unlike its nearest ones, which have `least` to `most`. part: its share of the distance. */
typedef struct { int feature; float value, least, most; double part; } spot_verdict_oddity;

typedef struct {
    bool   within;
    double distance, limit;
    bool   inaccurate;             /* refused for its accuracy */
    double accuracy, least_accuracy;           /* least: of the training */
    int    oddities;
    spot_verdict_oddity oddity[SPOT_VERDICT_REASONS];          /* the greatest part first */
} spot_verdict_distance;

/* ---- 5. the forest and its verdicts ---- */

/* A random forest of all labelled models. It keeps their features, and says what it was trained on. */
spot_status spot_verdict_train(spot_ctx *c, spot_forest *f, const spot_verdict_table *t, const spot_verdict_labels *l,
                               uint64_t seed);

/* path "": the forest that Spotter was built with; SPOT_INPUT where it has none. SPOT_INPUT for a forest that gives no such
 * verdicts. */
spot_status spot_verdict_forest_open(spot_ctx *c, spot_forest *f, const char *path);

typedef struct { int feature; float value; double effect; } spot_verdict_reason;       /* TreeSHAP on the label's share */

typedef struct {
    int    label;                  /* spot_background_label; -1: the forest has not seen such a model */
    double share[SPOT_BACKGROUND_LABELS];      /* the trees' vote; NaN without a label */
    spot_verdict_sure sure;        /* models of the training with such a vote of forests that did not see them */
    spot_verdict_distance reach;
    int    reasons, objections;
    spot_verdict_reason reason[SPOT_VERDICT_REASONS];          /* what speaks most for the label, the first most */
    spot_verdict_reason objection[SPOT_VERDICT_REASONS];       /* what speaks most against it */
    bool   known;                  /* f was trained on this very model */
} spot_model_verdict;

/* verdict (t->models), out. SPOT_INPUT where the forest has another number of features, or was trained on matrices made with
 * other settings. */
spot_status spot_verdict_give(spot_ctx *c, spot_model_verdict *verdict, const spot_forest *f, const spot_verdict_table *t);

/* Models that have a label and a verdict, and on which the forest was not trained; those where both are the same. */
spot_verdict_sure spot_verdict_agreement(const spot_model_verdict *verdict, const spot_verdict_labels *l);

/* One or two sentences, without a full stop: "variant, with 83 % of the vote (such votes were right for 41 of 47 models not
 * trained on); for it: confidence: mean 0.21 (+0.12), ..." */
const char *spot_verdict_words(char *text, size_t size, const spot_model_verdict *v);

/* ---- 6. comparisons ---- */

/* Mean over the cells that both matrices have of |a - b|, and the same divided by their mean value; NaN without such a cell. */
typedef struct { double apart, relative; int cells; } spot_matrix_difference;
spot_matrix_difference spot_matrices_differ(const float *a, const float *b, size_t cells);

/* The same models looked at with two suites, alike but for their seeds: a stand-in for the agreement of people, whose kappa the
 * paper has. apart, relative: mean over models; rank: Spearman's over models, mean over the features of a matrix that vary;
 * `consistency`: the mean of rank over matrices, at least 0; NaN below three models. */
typedef struct {
    int    models, matrices;
    double apart[SPOT_BACKGROUND_MATRICES], relative[SPOT_BACKGROUND_MATRICES], rank[SPOT_BACKGROUND_MATRICES];
    double consistency;
    float  range[2];               /* of the axes of both runs: cells are compared, whatever their distances */
} spot_suite_consistency;

/* dir: of the runs, for their matrices. SPOT_INPUT where the runs differ in more than suite.seed, or in their models. */
spot_status spot_suites_compare(spot_ctx *c, spot_suite_consistency *out, const spot_background_results *a, const char *dir_a,
                                const spot_background_results *b, const char *dir_b);

/* Neuron coverage of a run, mean over its models with channels; NaN where none has. */
void spot_coverage_mean(double coverage[SPOT_COVERAGES], const spot_verdict_table *t);

/* ---- 7. all of it about one run ---- */

/* `why_*`: why there is none; "": there is one. */
typedef struct {
    spot_verdict_table  table;
    spot_verdict_labels labels;
    spot_verdict_scores scores;
    spot_verdict_labels other_labels;          /* by the truth that the config does not choose, where both are known; ... */
    spot_verdict_scores other_scores;          /* ... else splits is 0 */
    spot_forest         forest;
    spot_model_verdict *verdict;   /* (table.models) */
    char why_labels[512], why_scores[512], why_verdict[512];
} spot_verdict_report;

/* Makes the report by the config's settings `verdict`. Fails where a file that the config names is there and wrong; a missing
 * one is told. */
spot_status spot_verdict_report_make(spot_ctx *c, spot_verdict_report *v, const spot_background_results *r, const char *dir);

/* Its two steps, for a v whose table is filled from one or several runs: labels and scores; forest and verdicts. Here a missing
 * file is SPOT_IO. */
spot_status spot_verdict_report_learn(spot_ctx *c, spot_verdict_report *v, const spot_background_config *cfg);
spot_status spot_verdict_report_judge(spot_ctx *c, spot_verdict_report *v, const spot_background_config *cfg);
void        spot_verdict_report_free(spot_verdict_report *v);

#ifdef __cplusplus
}
#endif
#endif
