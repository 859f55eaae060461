/* shifts.h - distribution shifts: how much each shift costs each model (dataset interfaces, Vendrow et al. 2023, paper 004).
 *
 *     pictures of class and shift -> similarities to two captions -> kept or not -> accuracies -> impact and slope
 *
 * The first part works on counts in memory and needs no files. The second part is the study: its config, its run, its results.
 * host/shifts/README.md explains it to users. */
#ifndef SPOTTER_SHIFTS_H
#define SPOTTER_SHIFTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "spotter/arena.h"
#include "spotter/array.h"
#include "spotter/ctx.h"
#include "spotter/interval.h"
#include "spotter/plant.h"
#include "spotter/work.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MAX_SHIFTS        64
#define SPOT_MAX_SOURCES       16
#define SPOT_MAX_SHIFT_MODELS  512
#define SPOT_SHIFT_QUANTILES   101        /* of similarities: percentiles 0 to 100 */
#define SPOT_SHIFT_TOP         5          /* classes that are listed as predicted most */

/* ---- 1. evaluation, from counts ---- */

/* The axes of the fit of shift accuracy against base accuracy. The paper names no transform: linear. Taori et al. 2020 and
 * Miller et al. 2021, which it follows, use logit and probit. */
typedef enum { SPOT_AXES_LINEAR, SPOT_AXES_PROBIT, SPOT_AXES_LOGIT } spot_shift_axes;

/* Pictures of one folder, class by class, that pass a filter; and those of them that each model answers right. */
typedef struct {
    const int *pictures;       /* (classes) */
    const int *right;          /* (models, classes) */
} spot_shift_tally;

typedef struct {
    int classes, models, shifts, categories;
    spot_shift_tally base;
    const spot_shift_tally *shift;         /* (shifts) */
    const int *category;                   /* (shifts), below categories; may be NULL where categories is 0 */
    const spot_shift_tally *own_base;      /* (shifts): each shift's base, as of two runs side by side; NULL: all have `base` */
} spot_shift_table;

typedef struct {
    int      axes;             /* spot_shift_axes */
    int      least, least_base;   /* a class counts with so many pictures of the shift, and of the base; 5 and 1 */
    int      draws;            /* bootstrap over classes and models; 0: no intervals (NaN) */
    uint64_t seed;
} spot_shift_rule;

/* Figures of one shift. A class is used when it has rule.least pictures of the shift and rule.least_base of the base. The
 * accuracy of a model is the mean of its accuracies on the used classes. On probit and logit axes, an accuracy is first limited
 * to [1/2n, 1 - 1/2n], where n is the number of pictures behind it: 0 and 1 have no finite place there. */
typedef struct {
    int used;                  /* classes */
    int few, lost;             /* classes left out: with 1 to least - 1 pictures of the shift; with none */
    int few_base;              /* left out: enough of the shift, too few of the base */
    spot_interval impact;      /* mean over models of base - shift accuracy; NaN without a used class */
    spot_interval slope;       /* least squares of shift on base accuracy over models; NaN: under two models, or all have one
                                * base accuracy */
    double intercept, correlation;         /* of the same fit */
    int limited;               /* accuracies that were limited for the axes */
    double limit_base, limit_shift;        /* 1/2n of each; 0 without a used class */
    int draws;                 /* bootstrap draws that have a slope */
    double impact_error, slope_error;      /* standard errors: of the draws; NaN where there is no interval */
    double *base, *shift;      /* (models) accuracies; NaN without a used class */
} spot_shift_estimate;

/* Two shifts or two categories, a - b, from the same draws. p: two-sided, normal with the standard error of the draws, adjusted
 * by Holm over all pairs; NaN where there is no interval. */
typedef struct {
    int a, b;
    spot_interval impact, slope;
    double impact_p, slope_p, impact_error, slope_error;
} spot_shift_difference;

/* The mean of its shifts; a shift without a value is left out. */
typedef struct { int shifts; spot_interval impact, slope; } spot_shift_category;

typedef struct {
    int shifts, categories;
    spot_shift_estimate   *shift;          /* (shifts) */
    spot_shift_difference *between;        /* (shifts (shifts - 1) / 2): a < b */
    spot_shift_category   *category;       /* (categories) */
    spot_shift_difference *across;         /* (categories (categories - 1) / 2) */
    double *owned;
} spot_shift_estimates;

spot_shift_rule spot_shift_rule_defaults(void);

/* The place of an accuracy on axes (spot_shift_axes) once it is limited to [limit, 1 - limit]; the accuracy of a place. */
double spot_shift_on_axis  (int axes, double accuracy, double limit);
double spot_shift_from_axis(int axes, double place);

/* A draw of the bootstrap takes as many classes, and as many models, as there are, with replacement; the same draw serves base
 * and all shifts, so that differences are of pairs. Random numbers have addresses: the same bits for any number of threads.
 * SPOT_INVALID for a table without classes or models, with negative counts, or with more right than there are. Close e also
 * after a failure; zeroed before. */
spot_status spot_shift_evaluate(spot_ctx *c, spot_shift_estimates *e, const spot_shift_table *t, const spot_shift_rule *rule);
void        spot_shift_estimates_close(spot_shift_estimates *e);

/* ---- 2. the study ---- */

/* A source is a way to get pictures: a generator, a search. A folder below data.root; "" where the layout has no sources. */
typedef struct { const char *name; } spot_shift_source;

/* Captions: "<class>" stands for the name of the class. */
typedef struct {
    const char *name;
    const char *folder;            /* "": the name with '_' for ' ' */
    const char *prompt;            /* what the pictures were generated from; Spotter does not read it */
    const char *class_caption;     /* "": captions.object, or captions.style for a style */
    const char *shift_caption;     /* "": "a photo NAME" */
    const char *category;
    double threshold;              /* least similarity to shift_caption; -1: all pictures pass */
    int    style;                  /* 1: the pictures are no photos */
} spot_shift;

/* Its answers come from a table, or from weights that look at the pictures. */
typedef struct {
    const char *name;
    const char *predictions;       /* CSV with the columns path and predicted */
    const char *weights;           /* ResNet of any depth, AlexNet or ViT, .safetensors */
    const char *classes;           /* text: a line for each output, the class's folder; "": the folders in order */
    int  resize, crop;             /* of weights, as in encoder.h */
    spot_picture_input input;      /* of weights (array.h) */
} spot_shift_model;

typedef struct {
    const char *root;              /* folders <shift>/<class>, or <source>/<shift>/<class> */
    const char *real;              /* real pictures, <class>: below root, or a path that begins with '/' or '.'; "": none */
    const char *base;              /* folder of the base pictures beside those of shifts */
    const char *names;             /* CSV with the columns folder and name; "": the folders, with ' ' for '_' */
    spot_picture_reading reading;  /* array.h */
} spot_shift_data;

typedef struct {
    const char *weights;           /* CLIP, .safetensors; "": none */
    const char *vocabulary, *config;       /* "": beside the weights */
    const char *label;             /* what the user says the encoder is; "": its own name (encoder.h) */
    const char *embeddings;        /* folder of embeddings, in place of weights: host/shifts/README.md */
    int  image_heads, text_heads;  /* 0: the config's */
    int  clean, precision;         /* clean: 0, "fast", the only way; spot_precision */
} spot_shift_encoder;

/* The class caption of style shifts: the paper's "a <class>", or that of the released masks. */
typedef enum { SPOT_STYLE_PAPER, SPOT_STYLE_RELEASED } spot_shift_style;

typedef struct {
    double percentile;             /* of the similarities of a class's real pictures: the class's threshold */
    const char *chosen_for;        /* the encoder for which the thresholds of the shifts were chosen */
    int    base;                   /* 1: base pictures pass the class's threshold, too */
    int    style;                  /* spot_shift_style */
    const char *masks;             /* .npz, an array of 0 and 1 for each shift and base, in place of an encoder; "": none */
    const char *oracle;            /* CSV: path and keep, or path, shift_there and object_there; "": none */
} spot_shift_filter;

typedef struct {
    spot_shift_rule rule;
    double          confounded;    /* least gap of a class beyond the usual gap of its source (spot_shift_gap) */
} spot_shift_evaluation;

typedef struct {
    spot_memory *memory;             /* holds texts and lists; spot_memory_close frees it */
    int study;                     /* 0, "shifts": how a run directory tells its study */
    spot_shift_data       data;
    spot_shift_encoder    encoder;
    spot_shift_filter     filter;
    spot_shift_evaluation evaluation;
    spot_plant_config     plant;   /* a world that is made before the run; plant.pictures 0: none */
    int sources, shifts, models;
    spot_shift_source *source;
    spot_shift        *shift;
    spot_shift_model  *model;
} spot_shifts_config;

spot_status spot_shifts_parse(spot_ctx *c, spot_shifts_config *cfg, const char *text, size_t len, const char *name);
void        spot_shifts_document(FILE *f);

/* Whether they differ in more than the paths of files; words: the first difference. */
bool        spot_shifts_change(char *words, size_t size, const spot_shifts_config *saved, const spot_shifts_config *here);

/* ---- 3. results ---- */

/* The pictures that a number is from: all, those that pass the filter, those that are right by the table of truth. */
typedef enum { SPOT_SHIFT_ALL, SPOT_SHIFT_KEPT, SPOT_SHIFT_ORACLE, SPOT_SHIFT_SETS } spot_shift_set;

/* A class that is predicted often, by all models together. */
typedef struct { char name[64]; int answers; } spot_shift_top;

/* Pictures by what the filter and the truth say: hits pass and are right, passed pass, right are right. */
typedef struct { int hits, passed, right; } spot_shift_hits;

/* How much of the real pictures a folder's pictures cover, in the encoder's features of length 1: each class by itself, then
 * the mean over the classes that have 12 pictures of both kinds. Density and coverage with 5 neighbours (Naeem et al. 2020),
 * precision and recall with 3 (Kynkaanniemi et al. 2019). Intervals: 95 %, by halves of the pictures, of these classes. */
typedef struct {
    int classes;               /* that count; of a class by itself 1, or 0: it has too few pictures */
    int real, pictures;        /* their real and other pictures; at most 1,000 of a class */
    spot_interval density, coverage, precision, recall;        /* NaN where no class counts */
    /* The same four with real pictures in place of the others, in the ratio of the two: what equal distributions have. */
    double density_chance, coverage_chance, precision_chance, recall_chance;
} spot_shift_cover;

/* The result of one folder: the real pictures, a source's base, a source's shift. */
typedef struct {
    int    index, numbers;
    char   config[33];
    char   name[160], id[160]; /* "clean, in the snow", "clean/in_the_snow" */
    int    source, shift;      /* index of config.source and config.shift; -1: base; -2: real pictures */
    char   inputs[33], pictures_hash[33], encoder[96];
    int    classes, models, columns;
    int    pictures;
    int    pass_class, pass_shift;         /* pictures that pass each part of the filter */
    int    absent;             /* classes of the study without a picture here */
    int    named;              /* real pictures whose class the encoder names: no class's caption is more similar; -1: others */
    bool   covers;             /* it is compared with real pictures by an encoder's features */
    spot_shift_cover cover[SPOT_SHIFT_SETS];
    bool   filtered, truth, parts;         /* there is a filter; a table of truth; one that tells object and shift apart */
    spot_shift_hits hits, object_hits, shift_hits;      /* filter against truth: whole, and its two parts */
    double threshold;          /* of the shift caption; NaN: none */
    char   (*column)[400];     /* (columns): captions that similarities are to; <class> stands for each class */
    double *quantile;          /* (columns, SPOT_SHIFT_QUANTILES) */
    char   (*class_name)[128]; /* (classes): folders */
    double *class_threshold;   /* (classes): of the class caption; NaN: none */
    spot_shift_cover *class_cover;         /* (classes): of the pictures that pass */
    double *split;             /* (classes): sum over the pictures that pass of models that are right times models that are
                                * wrong */
    int    *answered;          /* (models): 0 where a table has no real pictures */
    int    *count[SPOT_SHIFT_SETS];        /* (classes): pictures; NULL where there is no such set */
    int    *right[SPOT_SHIFT_SETS];        /* (models, classes) */
    spot_shift_top *top;       /* (classes, SPOT_SHIFT_TOP): of pictures that pass; "" where there are fewer */
} spot_shift_result;

/* A class of a source, base against real pictures: does the source change more than it says? */
typedef struct {
    int    cls;
    double real, base;         /* accuracy: means over pictures and models */
    double gap, low, high;     /* real - base; 95 % interval (Newcombe 1998) over as many independent answers as the models'
                                * agreement leaves */
    double p;                  /* one-sided, exact for one model: the gap is above the usual one: the median gap of the source's
                                * classes, or 0 where that is below 0; Holm over all classes of all sources */
    bool   confounded;         /* p <= 0.05, and gap - usual gap >= evaluation.confounded */
} spot_shift_gap;

typedef struct {
    spot_shift_estimates set[SPOT_SHIFT_SETS];     /* set[].shifts is 0 where there is no such set */
    int    gaps;               /* classes that are compared with real pictures; 0: models did not answer them */
    double median_gap;
    spot_shift_gap *gap;       /* (gaps): largest first */
} spot_shift_source_result;

typedef struct {
    spot_shifts_config *cfg;
    bool missing;              /* spot_shifts_read failed because units are not computed yet */
    int units;
    spot_shift_result *unit;   /* (units): spot_shift_unit order: real pictures if there are some; then for each source base and
                                * shifts */
    int sources, categories;
    char (*category)[32];      /* (categories), in order of appearance */
    int  *category_of;         /* (shifts) */
    spot_shift_source_result *source;      /* (sources) */
} spot_shifts_results;

/* Reads the segments of a run directory and evaluates them. SPOT_INPUT when units are missing or damaged, or were made by
 * different encoders or from different tables. Close also after a failure. */
spot_status spot_shifts_read (spot_ctx *c, spot_shifts_results *r, const char *dir);
void        spot_shifts_close(spot_shifts_results *r);

/* Tables of a spot_shifts_results: of the shifts; of each shift and model; of what each folder covers, and each class in it. */
extern const struct spot_quantity spot_shifts_table, spot_shifts_lines, spot_shifts_covers;

/* The document shifts.json, on one line; the caller frees it. */
spot_status spot_shifts_json(spot_ctx *c, char **json, size_t *n, const spot_shifts_results *r);

/* Prints the results as `spotter shifts` ends with them. */
spot_status spot_shifts_show(spot_ctx *c, FILE *f, const spot_shifts_results *r, const char *dir);

/* "open_clip ViT-H-14 ...": what the thresholds are chosen for. */
const char *spot_shift_encoder_name(const spot_shifts_results *r);

/* Pictures of a unit that pass the filter; 0 where there is none. */
int spot_shift_kept_pictures(const spot_shift_result *u);

/* The set of pictures that figures and sentences about a source take: those that pass the filter, where there is one. */
int spot_shift_compared(const spot_shifts_results *r, int source);

/* The pictures of a unit: DIR/similarities/000/shift-000003.safetensors. */
typedef struct {
    int     n, columns;
    char  **path;              /* (n): names, "clean/in_the_snow/dog/1.png" */
    int    *cls;               /* (n) */
    float  *similarity;        /* (n, columns) */
    uint8_t *pass;             /* (n) bits: 1 class caption, 2 shift caption; 4 object there, 8 shift there, by the truth */
    int    *right;             /* (n): models that answer right */
    void   *owned;
} spot_shift_pictures_result;

/* SPOT_INPUT for a damaged file and for one of another result than u. */
spot_status spot_shift_pictures_read (spot_ctx *c, spot_shift_pictures_result *p, const char *dir, const spot_shift_result *u);
void        spot_shift_pictures_free(spot_shift_pictures_result *p);

/* The file of a picture: data.root and its name, or where the real pictures are. Returns path. */
const char *spot_shift_picture_file(char *path, size_t size, const spot_shifts_config *cfg, int unit, const char *name);

/* Whether the folder of a unit holds the pictures that the run saw, by their names and bytes: it reads all of them. A config in
 * a stranger's run may name the reader's own folders. False, too, where they cannot be read. SPOT_STOPPED and SPOT_NOMEM are
 * the only failures. */
spot_status spot_shift_pictures_same(spot_ctx *c, bool *same, const spot_shifts_config *cfg, const spot_shift_result *u);

/* ---- 4. the run ---- */

typedef struct {
    spot_run_place place;
    /* Receives what the files were made from; its cfg stays NULL where units of other shards are missing. Close it also after
     * a failure. NULL: not wanted. */
    spot_shifts_results *results;
} spot_shifts_options;

/* Computes the missing units of a shard; the last one writes DIR/shifts.json and DIR/shifts.csv. SPOT_USAGE for thresholds of
 * another encoder and for a DIR in a folder of pictures, SPOT_INPUT for tables that lack pictures and for weights of another
 * network, all before anything is computed. Otherwise as spot_sweep_run. A finished run needs no disk that can be written. A
 * directory may be continued with other thresholds, captions, categories, models or evaluation: similarities and looks come
 * from its cache. */
spot_status spot_shifts_run(spot_ctx *c, const spot_shifts_config *cfg, const spot_shifts_options *o,
                            spot_run_report *report);

/* The size of a run: units, pictures, models; the most bytes that the whole process takes, with networks and the decoding of
 * the largest pictures, whose headers tell their sizes; bytes of the run directory. A planted world counts with its settings
 * where cfg does not say where it lies. */
typedef struct {
    int units, classes, pictures, models;
    int features;              /* numbers that are kept of each picture */
    size_t memory;
    double disk;
} spot_shifts_cost;
spot_status spot_shifts_cost_of(spot_ctx *c, const spot_shifts_config *cfg, spot_shifts_cost *cost);

/* The seconds of such a run on c, by timing a small part of everything: a block of pictures by the encoder and by each model,
 * some files, and of a planted world that is not made yet, its drawing and training. *calibration: the seconds of that. */
spot_status spot_shifts_time_of(spot_ctx *c, const spot_shifts_config *cfg, const spot_shifts_cost *cost, double *seconds,
                                double *calibration);

/* ---- 5. a planted world ---- */

/* Makes the world in OUT/plant (spot_shifts_plant) and fills root, real pictures, oracle, sources and models of cfg, if
 * cfg->plant.pictures is above 0: before the cost and the run. With a wrong file or encoder it fails before as the run does. */
spot_status spot_shifts_planted(spot_ctx *c, spot_shifts_config *cfg, const char *out);

/* Mean absolute errors over the shifts that have an impact, and over those that have a slope; NaN: none has. */
typedef struct { int impacts, slopes; double impact, slope; } spot_plant_error;

/* e (sources, SPOT_SHIFT_SETS): results of a planted world, whose models are the planted ones, against OUT/plant/truth.csv. */
spot_status spot_plant_compare(spot_ctx *c, spot_plant_error (*e)[SPOT_SHIFT_SETS], const spot_shifts_results *r,
                               const char *out);

struct spot_study;
extern const struct spot_study spot_shifts_study;

#ifdef __cplusplus
}
#endif
#endif
