/* examine.h - the adversarial examiner: conditions under which a classifier fails on 3-D objects (Shu et al. 2020, paper 002).
 *
 *     objects (mesh.h) + conditions -> render -> model -> p of the true class -> examiner (examiner.h) -> conditions ...
 *         -> lowest p and mean p against renders spent, the region of failure, failing renders, findings in words
 *
 * A unit of work is (model, examiner, seed, object). The objects of one model, examiner and seed are searched together: one
 * batch of renders and one of inference for all; no number of a unit depends on the others. A searched point is never drawn
 * twice by an examiner's asking; renders that test a point (robust) are counted as spent.
 * host/examine/README.md explains the study to users. */
#ifndef SPOTTER_EXAMINE_H
#define SPOTTER_EXAMINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/examiner.h"
#include "spotter/interval.h"
#include "spotter/mesh.h"
#include "spotter/predictor.h"
#include "spotter/work.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MAX_EXAMINED_MODELS    64
#define SPOT_MAX_EXAMINERS          32
#define SPOT_MAX_EXAMINE_POINTS     16
#define SPOT_MAX_EXAMINE_REGION     4
#define SPOT_EXAMINE_START          64      /* random renders of an object before all searches */

/* ---- 1. config ---- */

/* The objects that are examined. BEST: of each class the held-out object to which the model gives the greatest mean p (paper,
 * 4.1); FIRST: the first held-out ones; TRAINED: the first ones that the networks learned. */
typedef enum { SPOT_OBJECTS_BEST, SPOT_OBJECTS_FIRST, SPOT_OBJECTS_TRAINED } spot_object_choice;

typedef struct {
    const char *catalogue;         /* path for spot_catalogue_read */
    int    choice;                 /* spot_object_choice */
    int    per_class;              /* examined objects of a class; 1 */
    double held_out;               /* share of the objects of a class that no network learns; .25 */
    int    views;                  /* random renders of an object by which BEST chooses; 64 */
    double crease;                 /* degrees, 45 (mesh.h) */
    int    up;                     /* the axis of the files that points up: 0: y, as in OBJ and glTF; 1: z */
} spot_examine_objects;

/* Settings of render.h by its names. */
typedef struct {
    int    size, samples;          /* 64, 2 */
    double view, near, ambient, specular, sun_scale, lamp_scale, exposure;
    int    falloff;                /* 0: linear, 1: square */
    double falloff_distance;
    double background;             /* linear light of a grey background, .2 */
    const char *pictures;          /* folder of background pictures, one for each object in turn; "": the grey */
} spot_examine_render;

/* A number that a config does not give: the paper's range counts. spot_study_load and spot_examine_parse put it in. */
#define SPOT_EXAMINE_OPEN (-1e9)

/* One factor that the search changes; least = most: it has this value. Factors that are not listed are drawn once for an
 * object, as the paper draws the sun's rotation. */
typedef struct { int factor; double least, most; } spot_examine_factor;

/* A region of the conditions: all of its limits hold. absolute: of the value's magnitude. */
typedef struct { int factor; int absolute; double least, most; } spot_examine_limit;

/* A network that is trained here on renders, or weights, or a program. */
typedef struct {
    const char *name;
    const char *weights;           /* .safetensors with torchvision's names; "": trained here, unless there is a command */
    const char *command;           /* predictor.h */
    const char *identity;          /* the program's name, under which its results are stored; "": it is known by its answers */
    const char *classes;           /* text: a line for each output, the class; "": the classes in order */
    int    arch;                   /* spot_arch (model.h) */
    int    width, batch, optimizer, schedule;
    double lr, weight_decay;
    int    objects;                /* of each class that it learns, of those not held out; 0: all */
    int    renders;                /* m: renders of each object, drawn once */
    int    epochs, steps;          /* passes over them; or, above 0, steps of a batch */
    uint64_t seed;
    double least_elevation, most_elevation;    /* of the training views (paper, 4.4): -90, 90 */
    int    limits;                 /* of the planted region: a training render in it gets the next class; 0: none */
    spot_examine_limit *limit;
    spot_picture_input input;      /* of weights or a command: mean, std and scale (array.h) */
} spot_examine_model;

typedef enum { SPOT_MODE_WEAKNESS, SPOT_MODE_STRENGTH } spot_examine_mode;  /* the lowest p, or the highest (4.6) */

/* A point of the curves answers for a user who spends that many renders on an object: `perturbed` of them test the weakness
 * that was found, and the examiner asks for the others. So a point does not depend on the other points. */
typedef struct {
    int    renders;                /* of each object, all: those of the last point; an examiner may have its own */
    const char *curve;             /* "50, 100, 200": renders of the points; "": a tenth, a fifth, a half and all */
    int    points;                 /* derived from `curve`, as are ... */
    int    point[SPOT_MAX_EXAMINE_POINTS];     /* ... these: ascending; the last one is `renders` */
    int    window;                 /* last renders of the mean p; 32 */
    int    seeds;                  /* searches of each examiner with different seeds; 3 */
    uint64_t seed;                 /* of the first; the next ones count up */
    int    mode;                   /* spot_examine_mode */
    double perturb;                /* of the robust lowest p: standard deviation in shares of each range, .02 */
    int    perturbed;              /* renders of it, at each point of the curve; 32 */
    double fails;                  /* p below which a render is a failure; .1 */
} spot_examine_search;

/* A render is valid if a person could still name the object. */
typedef struct {
    double area;                   /* least share of the image; .01 */
    double border;                 /* greatest share of the image's border that the object covers; .5 */
    double contrast;               /* least contrast to the background; .02 */
    int    inside;                 /* 1: the camera may be inside the object's box */
} spot_examine_valid;

/* Renders beside the searches (failures.h). They count as spent on maps, for no examiner. Scans follow the lowest p of a search
 * along each factor: FIRST: of the first examiner's first seed. */
typedef enum { SPOT_SCANS_FIRST, SPOT_SCANS_ALL, SPOT_SCANS_NONE } spot_examine_scans;

typedef struct {
    int renders;                   /* random ones of each object; 0: no maps; 1000 */
    int scans;                     /* spot_examine_scans */
} spot_examine_maps;

typedef struct {
    spot_memory *memory;             /* holds texts and lists; spot_memory_close frees it */
    int study;                     /* 0, "examine" */
    spot_examine_objects objects;
    spot_examine_render  render;
    spot_examine_search  search;
    spot_examine_valid   valid;
    spot_examine_maps    maps;
    int classes, factors, models, examiners;
    spot_catalogue_class *cls;
    spot_examine_factor  *factor;  /* none: the paper's nine */
    spot_examine_model   *model;
    spot_examiner_config *examiner;
} spot_examine_config;

spot_status spot_examine_parse(spot_ctx *c, spot_examine_config *cfg, const char *text, size_t len, const char *name);
void        spot_examine_document(FILE *f);

/* A model that is not trained here: the caller adds weights or a command. complete: what load and parse do last, for a config
 * that is filled by hand: open ranges become the paper's, and a config without examiners gets one. */
spot_examine_model spot_examine_outside_model(const char *name);
spot_status        spot_examine_complete(spot_ctx *c, spot_examine_config *cfg);

/* The search with the budget of an examiner, which may have its own. */
spot_examine_search spot_examine_search_of(const spot_examine_config *cfg, const spot_examiner_config *e);

/* The name of an examiner in tables; of class `cls` of a result, "" where the config has none such. */
const char *spot_examine_label(const spot_examiner_config *e);
const char *spot_examine_class(const spot_examine_config *cfg, int cls);

/* ---- 2. results ---- */

/* One point of the curves of a unit. */
typedef struct {
    int    renders;                /* spent, with those of robust; those of other points do not count */
    int    asked;                  /* of them by the examiner */
    double mean;                   /* p, mean over the last `window` renders that were asked for */
    double lowest, lowest_valid;   /* p so far; NaN before there is a valid render. In strength mode the highest ones */
    double robust;                 /* mean p around the point of `lowest_valid`, or of `lowest` where no render is valid; NaN
                                    * where search.perturbed is 0 */
    double valid;                  /* share of the renders asked for */
    double inside;                 /* share of the last 100 that lie in the planted region; NaN: none */
} spot_examine_point;

/* An answer that is no class: an output that stands for none; to a render that is not valid. */
typedef enum { SPOT_ANSWER_NO_CLASS = -1, SPOT_ANSWER_NOT_VALID = -2 } spot_examine_answer;

typedef struct {
    int    index, numbers;
    char   config[33], inputs[33]; /* the config's key; hash of the model and of the object's mesh */
    int    model, examiner, seed, cls;
    char   object[128], title[128];    /* the catalogue's id and name */
    char   licence[160], author[128];  /* of the 3-D model, for the attribution; "": not known */
    char   mesh[SPOT_MESH_WORDS];  /* what is not drawn as the object's file says (spot_mesh_repairs_say); "": all is */
    char   identity[48];           /* of the model */
    double start;                  /* mean p of SPOT_EXAMINE_START random renders, the same ones for all examiners */
    int    answer[SPOT_EXAMINE_START];     /* to these: a class, or one of spot_examine_answer */
    int    usual;                  /* of these the one whose p is nearest to the mean ... */
    double usual_p;                /* ... and its p */
    int    scanned, mapped;        /* renders along the factors; random ones for maps (failures.h) */
    int    learned;                /* the planted region: 1 learned (.9 right outside, .1 inside), 0 not, -1: none */
    double outside, inside;        /* accuracies of that; NaN */
    int    points;
    spot_examine_point point[SPOT_MAX_EXAMINE_POINTS];
    double lowest_at[SPOT_FACTORS];    /* the conditions of the last `lowest_valid` (or `lowest`), all factors */
    double fresh;                  /* p around lowest_at once more: mean of the valid ones of `perturbed` renders that have no
                                    * part in `robust`, by which a search is chosen; NaN: none */
    int    fresh_valid;            /* how many of these are valid */
} spot_examine_result;

/* All renders of a unit: DIR/searches/000/unit-000012.safetensors. Also what an interrupted search goes on from. */
typedef struct {
    int    renders, dims;
    double *at;                    /* (renders, dims): in the cube */
    float  *p;                     /* (renders) */
    uint8_t *valid;                /* (renders) */
    int    *answer;                /* (renders): class, -1: an output that is no class */
    spot_conditions fixed;         /* factors outside of the cube; NaN inside */
    void   *owned;
} spot_examine_history;

spot_status spot_examine_history_read(spot_ctx *c, spot_examine_history *h, const char *dir, int unit);
void        spot_examine_history_free(spot_examine_history *h);

/* Means over the objects at one point of the curves, with intervals of 95 % by a bootstrap over objects, whose seeds are drawn
 * with them. */
typedef struct {
    int    renders;
    spot_interval mean, lowest, lowest_valid, robust;
    double valid;
    spot_interval inside;          /* of the objects that learned the region */
} spot_examine_line;

typedef struct {
    int    model, examiner, objects, seeds;
    int    learned, found;         /* objects that learned the region; of those: .8 of the last 100 inside or more, all seeds */
    double start;
    int    points;
    spot_examine_line line[SPOT_MAX_EXAMINE_POINTS];
} spot_examine_summary;

/* Whether a model fails lastingly on an object, whatever examiner and seed found it. Of all its searches the one with the
 * lowest robust p (strength mode: the highest) is judged by its fresh renders: they are not those by which it was chosen, so
 * more seeds find more and add no chance. Where search.perturbed is 0, the search with the lowest valid p is judged by that. */
typedef struct {
    int    unit;                   /* the search that is judged; -1: none has a valid render */
    double p;                      /* by which it is judged; NaN: none */
    bool   fails;                  /* p is a failure (in strength mode: above 1 - search.fails), and half of the fresh renders
                                    * are valid */
} spot_examine_verdict;

/* A model on its objects. The last three are over the random renders of `start`. */
typedef struct {
    int    failing;                /* objects with a verdict that fails */
    double valid;                  /* share that is valid */
    double accuracy;               /* on the valid ones; NaN: there is none */
    double reordered;              /* the accuracy if the outputs stood in another order, where that is so much better that the
                                    * order may be wrong; else NaN */
} spot_examine_model_summary;

typedef struct {
    spot_examine_config *cfg;
    spot_factor_space space;
    bool missing;                  /* read failed because units are not computed yet */
    int  units, objects;           /* objects of a model */
    spot_examine_result  *unit;    /* (units): index = ((model * examiners + examiner) * seeds + seed) * objects + object */
    int  summaries;
    spot_examine_summary *summary; /* (models * examiners) */
    spot_examine_model_summary *about;     /* (models) */
    spot_examine_verdict *verdict; /* (models * objects) */
} spot_examine_results;

spot_status spot_examine_read (spot_ctx *c, spot_examine_results *r, const char *dir);
void        spot_examine_close(spot_examine_results *r);

/* The table of results: a row for each point of a search. */
struct spot_quantity;
const struct spot_quantity *spot_examine_curves(const spot_examine_results *r);

struct spot_failures;              /* failures.h */

/* The document examine.json, on one line; the caller frees it. f: NULL, or the run's failures, for its sentences. */
spot_status spot_examine_json(spot_ctx *c, char **json, size_t *n, const spot_examine_results *r,
                              const struct spot_failures *f);

/* Prints the results as `spotter examine` ends with them. */
spot_status spot_examine_show(spot_ctx *c, FILE *f, const spot_examine_results *r, const struct spot_failures *failures,
                              const char *dir);

/* Renders of a run made again, from the 3-D models that its config names. SPOT_INPUT or SPOT_IO where they are gone. close
 * accepts NULL. draw: rgb (n, size, size, 3) on the host, the object of a unit under n conditions. */
typedef struct spot_examine_pictures spot_examine_pictures;
spot_status spot_examine_pictures_open (spot_ctx *c, spot_examine_pictures **p, const spot_examine_results *r);
spot_status spot_examine_pictures_draw (spot_ctx *c, spot_examine_pictures *p, uint8_t *rgb, int unit,
                                        const spot_conditions *at, int n);
void        spot_examine_pictures_close(spot_ctx *c, spot_examine_pictures *p);

/* ---- 3. the run ---- */

typedef struct {
    spot_run_place place;
    spot_predict_function function;        /* in place of the config's models: one model, a function */
    void  *user;
    int    outputs;
    const char *identity;
    spot_examine_results *results;         /* both get what the run ends with where all searches are there; the caller closes */
    struct spot_failures *failures;        /* them, also after a failure. cfg NULL: some are missing. NULL: not kept */
} spot_examine_options;

/* Trains the networks that are not there yet (OUT/models), then computes the missing units of a shard; the last one writes
 * DIR/examine.json and .csv. An interrupted search goes on to the same bytes. */
spot_status spot_examine_run(spot_ctx *c, const spot_examine_config *cfg, const spot_examine_options *o,
                             spot_run_report *report);

/* ---- 4. renders to files ---- */

/* Pictures of objects under given conditions: for training, for looking, for checking. Objects, classes, renderer and factors
 * are a config's; its models and examiners have no part in it. Each object has `number` renders at each point of a grid or of a
 * table, or, without both, at no point: all that varies is random. Random conditions are those of the examination's random
 * renders with the same factors and search.seed: equal pixels.
 *
 *     OUT/images/CLASS/NAME-HASH-000012.png     a render; name and hash of the object's id
 *     OUT/masks/CLASS/...png, OUT/depth/CLASS/...npy
 *     OUT/conditions.csv                        a line for each: files, class, object, valid, area, all factors
 *     OUT/render.json                           what the files depend on
 *
 * gpu_to_gpu: the same bytes for any number of threads. */
typedef struct {
    const char *out;
    const char *factors;           /* "camera_azimuth=0:360:12, camera_roll=0, sun_energy=1:3": twelve values of a grid, one
                                    * value, a random one. The others are drawn once for an object. "": the config's */
    const char *table;             /* CSV with columns of factors and, where a row is about one object, `object`; "": none */
    int  number;                   /* at least 1 */
    bool masks, depth;             /* share of the samples that the object covers; distance along the view, 0: no object */
    const char *const *object, *const *cls;    /* (objects), (classes): only these; 0: all */
    int  objects, classes;
} spot_renders_job;

typedef struct {
    int    objects, renders;       /* planned */
    double memory, disk;           /* bytes: beside the mesh of an object; of the files at most */
    int    written, valid;         /* by run: pictures that were not there; renders on which a person could name the object */
    int    left_out;               /* objects whose file cannot be read */
} spot_renders_report;

/* open: SPOT_USAGE, SPOT_INPUT with a sentence. run: SPOT_STOPPED between renders; the same call goes on. A folder that this
 * function did not make is refused, and so are files in it that have other bytes than it would write. close accepts NULL. */
typedef struct spot_renders spot_renders;
spot_status spot_renders_open (spot_ctx *c, spot_renders **r, const spot_examine_config *cfg, const spot_renders_job *job);
const spot_renders_report *spot_renders_about(const spot_renders *r);
spot_status spot_renders_run  (spot_ctx *c, spot_renders *r);
void        spot_renders_close(spot_ctx *c, spot_renders *r);

/* The study, for `spotter status` and `spotter merge` (work.h). */
extern const struct spot_study spot_examine_study;

/* memory: the most bytes that the whole process takes, with networks, training and the decoding of the largest background,
 * without meshes and programs that predict. */
typedef struct { int units, objects; double renders, maps, trained; size_t memory; double disk; } spot_examine_cost;
spot_status spot_examine_cost_of(spot_ctx *c, const spot_examine_config *cfg, spot_examine_cost *cost);

/* The seconds of such a run on c, and of its processors, by timing a small part of everything: meshes, renders, looks of each
 * model, some steps of training, and each examiner's own work. Programs that predict are not started, and count nothing; nor do
 * the writing of files and what is made of the renders at the end. calibration: the seconds of that. All NaN on a GPU. */
typedef struct { double seconds, processor, calibration; } spot_examine_time;
spot_status spot_examine_time_of(spot_ctx *c, const spot_examine_config *cfg, const spot_examine_cost *cost,
                                 spot_examine_time *time);

#ifdef __cplusplus
}
#endif
#endif
