/* background.h - does a classifier depend on what lies behind the object? (background invariance testing, Liao & Chen, paper
 * 003; derived sets: Xiao et al. 2021, the Backgrounds Challenge)
 *
 *     images + masks, backgrounds -> suite: N backgrounds for each image -> blends -> responses of a model
 *         -> accuracies, BG-gap, objects that some background turns -> variance matrices -> features -> verdict
 *
 * A unit of work is a model. All models of a call look at the same blends, which are made once and dropped.
 * host/background/README.md explains it to users. */
#ifndef SPOTTER_BACKGROUND_H
#define SPOTTER_BACKGROUND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "spotter/arena.h"
#include "spotter/array.h"
#include "spotter/ctx.h"
#include "spotter/interval.h"
#include "spotter/predictor.h"
#include "spotter/work.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MAX_BACKGROUND_MODELS   1024
#define SPOT_MAX_BACKGROUND_ENCODERS 8
#define SPOT_MAX_BACKGROUND_VARIANTS 64
#define SPOT_MAX_BACKGROUNDS         255      /* N: rbf.h takes 256 images */
#define SPOT_BACKGROUND_MATRICES     4        /* confidence; top neurons of the foreground, greatest neuron, mean of neurons */
#define SPOT_BACKGROUND_FEATURES     16       /* of a matrix: verdict.h */

/* ---- 1. config ---- */

/* A picture becomes a square: it is squashed, as in the paper, or cut to its middle. */
typedef enum { SPOT_FIT_SQUASH, SPOT_FIT_MIDDLE } spot_background_fit;

typedef struct {
    const char *images;            /* folder CLASS/picture; with coco: the folder of the pictures */
    const char *masks;             /* folder CLASS/NAME.png, grey or alpha, bright is the object; "": the pictures' own alpha */
    int follow_links;              /* pictures that coco names may be symbolic links that lead out of images */
    const char *coco;              /* annotations with outlines in place of class folders and masks; "": none */
    const char *categories;        /* COCO: names of the categories that are classes, "dog, cat"; "": all */
    const char *backgrounds;       /* folder of backgrounds, at any depth */
    int    size;                   /* pixels a side of every blend; 224 */
    int    fit;                    /* spot_background_fit */
    spot_picture_reading reading;  /* array.h; masks are never turned */
    double least, most;            /* a target whose mask covers less or more of the square is left out and counted; .01, .95 */
    int    part;                   /* per cent of the targets, drawn class by class; 100 */
} spot_background_data;

typedef struct {
    const char *images;            /* CSV: path, then a column of 0 and 1 for each keyword; or path and keywords, "sky; tree" */
    const char *backgrounds;       /* the same for the backgrounds */
    const char *words;             /* a keyword a line: an encoder with texts (CLIP) says which fit, where there is no CSV */
    int    top;                    /* CLIP: keywords of a picture: so many of the most similar; 5 */
    const char *excluded;          /* keywords, "dog; cat": a background with one of them is left out. The names of the classes
                                    * always are excluded */
    double support, confidence;    /* of the ontology: .01, .1 */
    int    by_class;               /* 1: one graph for each class, as in the authors' code; 0: one graph */
    int    least, levels;          /* MINKWS 32, MAXITS 5 (ontology.h) */
    int    measure;                /* spot_path_measure */
    double alpha;
} spot_background_ontology;

/* The choice of the N backgrounds of a target (4.2.1). RANDOM; NEAREST: the nearest by the encoders; INTERVAL: one of each of
 * N equal bins of distance; CLIP: one for each of the N words that are most similar to the target; ONTOLOGY: one for each of
 * its detected and expanded keywords. Where keywords are fewer than N, they are gone through again. */
typedef enum { SPOT_SUITE_RANDOM, SPOT_SUITE_NEAREST, SPOT_SUITE_INTERVAL, SPOT_SUITE_CLIP, SPOT_SUITE_ONTOLOGY,
               SPOT_SUITE_CHOICES } spot_suite_choice;

typedef struct {
    int      choice;               /* spot_suite_choice */
    int      n;                    /* N, 32 */
    double   realness;             /* the first candidate of a subspace is taken whose blend has 1 - distance to the original of
                                    * this or more; where none has, the best one; 0: the first */
    int      tries;                /* most candidates that are looked at in a subspace; 8 */
    uint64_t seed;
} spot_background_choice;

/* A fixed encoder that measures semantic distance; the mean of 1 - cosine over all of them, by weight. "": "pixels", which
 * needs no weights: colours on a coarse grid and directions of edges. It is never a model under test (refused by its hash). */
typedef struct { const char *name, *weights, *config;      double weight; } spot_background_encoder;

typedef struct {
    int    levels;                 /* of the Laplacian pyramids of the suite's blends, with the last one; 1: eq. 1 alone; 0: as
                                    * many as leave 14 pixels a side to the coarsest: 5 at 224, 4 at 128, 3 at 64. How much
                                    * of the background's colour an object takes depends on the coarsest level alone. A run
                                    * directory has the number */
    int    top;                    /* neurons: those that the foreground alone triggers most; 3 */
    int    confidence;             /* 0: greatest softmax (the authors' code); 1: softmax of the true class */
    int    sets;                   /* 1: also look at the derived sets */
    int    own;                    /* with sets: so many blends of each target with backgrounds of its own class, those of other
                                    * targets, their object tiled out; at most suite.n, and at most the other targets */
    int    precision;              /* spot_precision of Spotter's own networks: fp32; tf32 on GPUs; bf16 also on some CPUs */
    int    grid, kernel;           /* cells a side of a matrix; diameter of the window in cells: 128, 32 */
    double sigma;                  /* in cells: 10 */
    int    neighbours;             /* K, 32 */
    int    exact;                  /* 1: every point where it lies; 0: points are put into cells first */
    double range;                  /* of both axes; 0: the greatest distance of the suite */
} spot_background_measure;

typedef struct {
    const char *name;
    const char *weights;           /* ResNet of any depth, AlexNet or ViT, .safetensors */
    const char *command;           /* a program: predictor.h */
    const char *identity;          /* the program's name, under which its results are stored; "": it is known by its answers */
    const char *classes;           /* text: a line for each output, the class; "": the classes in order */
    double reliance;               /* planted reliance on the background, 0 to 1; NaN (-1 in a config): not known */
    spot_picture_input input;      /* mean, std and scale (array.h) */
} spot_background_model;

/* Where the reliance of models on the background is known. PLANTED: the chance rho with which training showed a model the
 * background of a picture's class. LEARNED: the accuracy that a model loses where backgrounds say nothing (zoo.h). */
typedef enum { SPOT_TRUTH_PLANTED, SPOT_TRUTH_LEARNED, SPOT_TRUTHS } spot_verdict_truth;

typedef struct {
    const char *labels;            /* CSV: model, rater, label (invariant, borderline, variant); "": none */
    const char *forest;            /* a trained assessor; "": the one that Spotter has */
    int    truth;                  /* spot_verdict_truth: whose cuts make labels where `labels` is "" */
    double invariant, variant;     /* cuts of the planted reliance: below `invariant` invariant, from `variant` on variant */
    double learned_invariant, learned_variant;     /* the same of the learned one */
    int    splits;                 /* of the models into 2/3 for training and 1/3; 10 */
    uint64_t seed;
} spot_background_verdict;

/* A world with planted reliance: zoo.h has it. zoo.models 0: none. */
typedef struct {
    uint64_t seed;
    const char *stamps, *scenes;          /* folders of cut-outs with alpha, and of scenes */
    int    size;                   /* pixels a side */
    int    classes, families;      /* classes of objects; families of backgrounds, one of which belongs to each class */
    int    targets;                /* of each class */
    double natural;                /* share of the targets before a background of their class's family */
    int    backgrounds;            /* of each family */
    int    models;
    int    recipes;                /* spot_zoo_recipes (zoo.h): what varies in the models beside their reliance */
    int    train, epochs;          /* pictures of a model's training, passes over them */
    int    tested;                 /* objects of each class by which it is measured what a model has learned */
} spot_background_zoo;

/* A further setting of the study: what differs from the config's own. A run makes it beside its own results, on the same models
 * and files. */
typedef struct {
    const char *name;              /* of its folder: letters, digits, ".", "-", "_" */
    spot_background_data     data;
    spot_background_ontology ontology;
    spot_background_choice   suite;
    spot_background_measure  measure;
} spot_background_variant;

typedef struct {
    spot_memory *memory;             /* holds texts and lists; spot_memory_close frees it. Variants and copies share it */
    int study;                     /* 0, "background" */
    spot_background_data     data;
    spot_background_ontology ontology;
    spot_background_choice   suite;
    spot_background_measure  measure;
    spot_background_verdict  verdict;
    spot_background_zoo      zoo;
    int encoders, models, variants;
    spot_background_encoder *encoder;
    spot_background_model   *model;
    spot_background_variant *variant;
} spot_background_config;

void        spot_background_defaults(spot_background_config *cfg);
spot_status spot_background_parse(spot_ctx *c, spot_background_config *cfg, const char *text, size_t len, const char *name);
void        spot_background_document(FILE *f);

/* The config of variant k alone, which has no variants itself; out may be cfg. Its run directory is DIR/variants/NAME. */
void spot_background_vary(spot_background_config *out, const spot_background_config *cfg, int k);
void spot_background_variant_path(char *path, size_t size, const char *dir, const spot_background_config *cfg, int k);

/* The run directories that the n runs consist of: each with its variants behind it, whether they are computed or not. */
spot_status spot_background_runs(spot_ctx *c, char ***list, int *runs, const char *const *dirs, int n);
void        spot_background_runs_free(char **list, int runs);

/* ---- 2. the suite ---- */

/* The targets, and the N backgrounds of each. It does not depend on the models. */
typedef struct {
    int    targets, n, classes, backgrounds;
    char **target;                 /* (targets): paths below data.images */
    int   *target_number;          /* (targets): of the target among all pictures, by path: the address of its random numbers */
    int   *cls;                    /* (targets) */
    char **class_name;             /* (classes) */
    char **background;             /* (backgrounds): paths below data.backgrounds; those that some target has */
    int   *background_number;      /* (backgrounds): of the background among all, by path */
    int   *chosen;                 /* (targets, n): indices of backgrounds */
    float *distance;               /* (targets, n): semantic distance of the blend to the original */
    uint8_t *unreal;               /* (targets, n): 1 where no candidate passed realness */
    int   *keyword;                /* (targets, n): for which of `word` it was chosen; -1: none */
    uint8_t *level;                /* (targets, n): level of that keyword */
    char **word;                   /* keywords */
    int    words;
    float  range;                  /* of the matrices' axes */
    int    small, large, empty;    /* targets left out: mask below least, above most, without a bright pixel */
    int    inverted;               /* targets whose mask covers most of the border of the square; they are not left out */
    int    own;                    /* how often a background was not taken since it is the target itself */
    int    with_class;             /* backgrounds left out because of a keyword */
    char   key[33], encoder[128];  /* hash of all that made it; names of the encoders */
    char   inputs[33];             /* hash of the names and bytes of all pictures, masks and backgrounds; "": not recorded */
    void  *owned;
} spot_background_suite;

/* ---- 3. results ---- */

/* The derived sets of the Backgrounds Challenge, and the suite itself. Only-FG: black behind the object. No-FG: the object
 * black. Mixed-Same, -Rand, -Next: the background of another target of the same, any, the next class, with its object tiled
 * out. Only-BG-B, -T: the target's own background without the outline of the object: its bounding box black, or tiled over.
 * Noise: the object before noise. Noise-FG, -BG: the picture with noise added to the object's pixels alone, to all others alone
 * (the RIVAL10 sets of Moayeri et al. 2022): normal, deviation SPOT_NOISE_SIGMA of 255 levels, one noise for both. */
typedef enum { SPOT_SET_ORIGINAL, SPOT_SET_ONLY_FG, SPOT_SET_NO_FG, SPOT_SET_MIXED_SAME, SPOT_SET_MIXED_RAND,
               SPOT_SET_MIXED_NEXT, SPOT_SET_PLAIN, SPOT_SET_NOISE, SPOT_SET_BLURRED, SPOT_SET_ONLY_BG_B, SPOT_SET_ONLY_BG_T,
               SPOT_SET_NOISE_FG, SPOT_SET_NOISE_BG, SPOT_SET_SUITE, SPOT_BACKGROUND_SETS } spot_background_set;

#define SPOT_NOISE_SIGMA 63.75f        /* a quarter of the range */

const char *spot_background_set_name(int set);         /* "original", "only-fg", ... */
const char *spot_background_choice_name(int choice);   /* "random", "nearest", ... */
const char *spot_background_matrix_name(int matrix);   /* "confidence", ... */

#define SPOT_COVERAGES 5
extern const double spot_coverage_at[SPOT_COVERAGES];  /* thresholds of neuron coverage: 0, .25, .5, .75, .9 */

/* One model. Counts are of targets, but of blends for SPOT_SET_SUITE. */
typedef struct {
    int    index, numbers;
    char   config[33], suite[33];
    char   inputs[33];             /* hash of the model, its classes and the suite */
    char   name[64], identity[48];
    int    classes, targets, n;
    int    outputs, dim, channels;
    int   *count[SPOT_BACKGROUND_SETS];    /* (classes): pictures of a set; 0 where a class has no donor */
    int   *right[SPOT_BACKGROUND_SETS];    /* (classes) */
    int   *turned;                 /* (classes): right on the original and wrong on some blend */
    int   *steady;                 /* (classes): right on the original and on every blend */
    bool   has[SPOT_BACKGROUND_MATRICES];  /* without embeddings the first alone */
    double feature[SPOT_BACKGROUND_MATRICES][SPOT_BACKGROUND_FEATURES];    /* NaN where there is no matrix */
    int    left_out;               /* images that the matrices leave out: beyond measure.range, or without a number */
    double coverage[SPOT_COVERAGES];       /* share of the channels that some blend activates more; NaN without channels */
} spot_background_result;

/* Its responses: DIR/responses/000/model-000003.safetensors. */
typedef struct {
    int    targets, n, sets, grid, own;
    float *signal;                 /* (matrices, targets, n + 1): original first; NaN where there is none */
    int   *answer;                 /* (targets, n + 1): predicted class; -1: an output that is no class */
    int   *derived;                /* (targets, sets); -2: no such picture */
    int   *of_own;                 /* (targets, own): before backgrounds of its own class; -2: there are no more */
    float *matrix;                 /* (matrices, grid, grid), row d_j, column d_k */
    float *weight;                 /* (grid, grid): points within a cell */
    void  *owned;
} spot_background_responses;

spot_status spot_background_responses_read(spot_ctx *c, spot_background_responses *r, const char *dir,
                                           const spot_background_result *u);
void        spot_background_responses_free(spot_background_responses *r);

/* A blend. place: which of the target's backgrounds; background: index in the suite; answer: a class, or -1. */
typedef struct { int target, place, background, answer; float confidence, distance; } spot_worst_pair;

/* Finds, for each target that is right on its original, the blend with the most confident wrong answer; the most confident
 * come first, of equal ones the first target. of_truth: confidence is that of the true class, so the least confident. Returns
 * how many, at most `most`. */
int spot_worst_pairs(spot_worst_pair *out, int most, const spot_background_responses *r, const spot_background_suite *s,
                     bool of_truth);

#define SPOT_WORST_PAIRS 20        /* of a model, in its summary */

/* Whether a model depends on the background, by the interval of its BG-gap. UNKNOWN: it has no BG-gap, or its accuracy on the
 * originals is not shown to be above a guess. */
typedef enum { SPOT_DEPENDENCE_UNKNOWN, SPOT_DEPENDENCE_NOT_SHOWN, SPOT_DEPENDENCE_SHOWN } spot_background_dependence;

/* Shares of objects that backgrounds of their own class turn, of those that are right on the original and have others of their
 * class. An object has as many of them as of the suite (N) where there are so many; they are blended as the suite's are. own:
 * the share that some of them turn, Wilson. foreign: the share to be expected where an object has as many of the suite's, drawn
 * without repetition: 1 - C(N - w, k) / C(N, k) for one that w of the N turn and that has k of its class. beyond: foreign less
 * own. Where the differences of all objects are -1, 0 or 1, intervals are Wilson's and Tango's for pairs; else a bootstrap's
 * over objects. NaN without such objects. */
typedef struct {
    int objects, least, most;   /* so many; the fewest and the most backgrounds of its own class that one has */
    spot_interval own, foreign, beyond;
} spot_background_control;

/* The numbers of one model that a user reads first. */
typedef struct {
    spot_interval accuracy[SPOT_BACKGROUND_SETS];  /* over pictures, Wilson; suite: bootstrap over targets */
    spot_interval gap;          /* BG-gap: Mixed-Same less Mixed-Rand, Tango's interval of pairs */
    spot_interval turned;       /* share of the targets right on the original that some background turns */
    spot_background_control control;       /* of `turned` */
    spot_interval rfs;          /* relative foreground sensitivity (Moayeri et al. 2022): with a and b the accuracies on
                                 * noise-bg and noise-fg and m their mean, (a - b) / (2 min(m, 1 - m)): -1 to 1, above 0 where
                                 * noise on the object costs more. Bootstrap over targets. NaN where m is 0 or 1 */
    spot_interval steady;       /* worst-case accuracy: right on the original and all N */
    spot_interval lost;         /* accuracy on the original less that on the suite, paired bootstrap over targets */
    spot_interval blending;     /* accuracy on the original less that on Mixed-Same, of the targets that have it: the cost of
                                 * cutting and blending, where the background's class stays; Tango's interval of pairs */
    int    dependence;          /* spot_background_dependence */
    double reordered;           /* accuracy on the original if the outputs stood in another order, where that is so much better
                                 * that the order may be wrong; else NaN */
    spot_worst_pair worst[SPOT_WORST_PAIRS];
    int    worst_pairs;
} spot_background_summary;

typedef enum { SPOT_INVARIANT, SPOT_BORDERLINE, SPOT_VARIANT, SPOT_BACKGROUND_LABELS } spot_background_label;

typedef struct {
    spot_background_config *cfg;
    bool missing;                  /* read failed because units are not computed yet */
    int  units;
    spot_background_result  *unit;         /* (units) */
    spot_background_summary *summary;      /* (units) */
    spot_background_suite   *suite;
    struct spot_zoo_rank    *rank;         /* (ranks): how measures order planted models, zoo.h; NULL: not computed */
    int  ranks;
} spot_background_results;

spot_status spot_background_read (spot_ctx *c, spot_background_results *r, const char *dir);
void        spot_background_close(spot_background_results *r);

/* The document background.json, on one line; the caller frees it. Computes r->rank where there is a planted world. */
spot_status spot_background_json(spot_ctx *c, char **json, size_t *n, spot_background_results *r, const char *dir);

/* "depends on the background: 56 points [48, 64]", "not shown to depend on the background beyond 3 points", or why there is no
 * answer. size 120 is enough. Returns words. */
const char *spot_background_dependence_words(char *words, size_t size, const spot_background_summary *m);

/* Prints the results as `spotter background` ends with them. */
spot_status spot_background_show(spot_ctx *c, FILE *f, spot_background_results *r, const char *dir);

struct spot_quantity;
extern const struct spot_quantity spot_background_models;      /* the table of the models of a spot_background_results */

/* ---- 4. the run ---- */

typedef struct {
    spot_run_place place;
    spot_predict_function function;        /* in place of the config's models: one model, a function */
    void  *user;
    int    outputs, dim, channels;
    const char *identity;
    spot_background_results *results;      /* gets the results of the config's own run where all models are there; the caller
                                            * closes them, also after a failure. cfg NULL: some are missing. NULL: not kept */
} spot_background_options;

/* Computes the missing models of a shard; the last one writes DIR/background.json, .csv and models.csv. Makes the suite
 * first, once for a directory. SPOT_USAGE, before anything is made, where DIR holds another config or lies in the folder of
 * pictures, masks or backgrounds. */
spot_status spot_background_run(spot_ctx *c, const spot_background_config *cfg, const spot_background_options *o,
                                spot_run_report *report);

/* units: models. runs: the config's own and its variants. disk: bytes of all results. looks: pictures of all runs, without
 * those whose answers another run has. trained: pictures that the models of a planted world learn from, all passes; multiplied:
 * the multiplications that they take, by their architectures: three times those of a forward pass, five times against FGSM.
 * memory: the most bytes that the whole process takes in the greatest run, with networks and the decoding of the largest
 * pictures, whose headers tell their sizes, without programs that predict; again: of a run that goes on with a suite that is
 * there, which decodes while its models look; world: while a planted world is made, with one model for each thread of c. */
typedef struct {
    int    units, targets, backgrounds, runs;
    double looks, trained, multiplied, disk;
    size_t memory, again, world;
} spot_background_cost;
spot_status spot_background_cost_of(spot_ctx *c, const spot_background_config *cfg, spot_background_cost *cost);

/* The seconds of such a run on c, and of its processors, by timing a small part of everything: decoding, encoders, blends,
 * every model's look and matrices; of a planted world that is not made yet, its training and looks. Programs that predict are
 * not started, and count nothing. calibration: the seconds of that. */
typedef struct { double seconds, processor, calibration; } spot_background_time;
spot_status spot_background_time_of(spot_ctx *c, const spot_background_config *cfg, const spot_background_cost *cost,
                                    spot_background_time *time);

/* Fills data, keywords and models of cfg if cfg->zoo.models is above 0, checks the config's files, and makes OUT/zoo. */
spot_status spot_background_planted(spot_ctx *c, spot_background_config *cfg, const char *out);

struct spot_study;
extern const struct spot_study spot_background_study;

#ifdef __cplusplus
}
#endif
#endif
