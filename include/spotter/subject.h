/* subject.h - a user's classifier and its outputs on the user's images: the input of spotter discover.
 *
 *     arrays, or images and a network -> subject -> a view per class -> points -> hypotheses
 *
 * Rows keep the order of the files: row i is image i. Nothing is sampled. */
#ifndef SPOTTER_SUBJECT_H
#define SPOTTER_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/array.h"
#include "spotter/ctx.h"
#include "spotter/encoder.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a detector's answers as rows ---- */

/* A detector's answers as rows: each object and each detection is one.
 *
 *     COCO's ground truth + detections in COCO's format of results -> matches -> rows with a box and an outcome
 *
 * Matches are those of pycocotools' COCOeval.evaluateImg at one IoU, with all areas and any number of detections: within a
 * picture and a category the detections choose in the order of their scores (of equal scores the earlier one first), each the
 * free object of the greatest IoU that is at least `iou` (of equal ones the last in the file). A detection that finds only a
 * crowd is no row, and crowds are none. Detections below `score` do not exist. Two kinds of rows answer two questions:
 *
 *     objects       which objects does the detector miss?      wrong: no detection matches          class "NAME: objects"
 *     detections    when does it see what is not there?        wrong: it matches no object          class "NAME: detections"
 *
 * The confidence of a row is the score, on a scale on which the threshold t is 1/2: s / 2t below it, 1/2 + (s - t) /
 * (2 (1 - t)) above. An object has that of its match, a missed one that of the best detection below the threshold that would
 * match it, else 0; a right detection has its own, a false one 1 minus its own. So confidence below 1/2 and wrong are the
 * same. */

enum { SPOT_ROWS_BOTH, SPOT_ROWS_MISSES, SPOT_ROWS_ALARMS };           /* both kinds; objects alone; detections alone */

typedef struct {
    const char *file;          /* the detections */
    double iou;                /* least IoU of a match: 0.5, above 0 */
    double score;              /* least score of a detection: 0.5, below 1 */
    int    rows;               /* one of the three above */
    double context;            /* what a row shows around its box, in its longer side: 0.1 */
} spot_detection_options;

spot_detection_options spot_detection_defaults(void);          /* without a file */

/* Why a row is wrong; the first that holds. `other`: of another category.
 *
 *     LOW_SCORE      missed: a detection below the threshold would match it
 *     CONFUSION      missed: a detection of another category has IoU >= iou with it; false: an object of another does
 *     LOCALISATION   missed, false: the same category, IoU in [0.1, iou)
 *     DUPLICATE      false: IoU >= iou with an object of its category that a better detection has
 *     BOTH           false: an object of another category, IoU in [0.1, iou)
 *     NOTHING        missed: nothing is there; false: background
 *
 * False detections are asked in the order DUPLICATE, CONFUSION, LOCALISATION, BOTH, NOTHING; missed objects in the order of the
 * list. TIDE (Bolya et al. 2020) has the same kinds. */
typedef enum { SPOT_REASON_NONE, SPOT_REASON_LOW_SCORE, SPOT_REASON_CONFUSION, SPOT_REASON_LOCALISATION, SPOT_REASON_DUPLICATE,
               SPOT_REASON_BOTH, SPOT_REASON_NOTHING, SPOT_REASONS } spot_reason;

/* "", "low score", "confusion", "localisation", "duplicate", "confusion and localisation"; "not found" or "background" */
const char *spot_reason_name(int reason, int detected);

/* Facts about a row beside its class and confidence. */
typedef struct {
    float   x, y, w, h;        /* its box in pixels, from the upper left corner */
    float   area;              /* of the outline for an object, else w * h */
    float   score;             /* of the detection; of an object's match, or of the detection below the threshold; NaN: none */
    int64_t number;            /* the annotation's id, or its place in its picture from 0; the detection's place in the file */
    int     picture;           /* in the order of the file */
    int     width, height;     /* of the picture, in pixels; 0: not known */
    int     others;            /* rows of the same kind and category in the picture, without this one */
    uint8_t detected;          /* 1: a detection, 0: an object */
    uint8_t counted;           /* 1: the number of an object is its place, since its annotation has no id */
    uint8_t wrong, reason;
    uint8_t edge;              /* 1: it reaches the border of the picture within a pixel; 0: no; 2: the size is not known */
    uint8_t overlaps;          /* 1: another row of its kind, of any category, covers a tenth of it or more */
} spot_instance;

/* ---- a classifier's answers as rows ---- */

/* Features of one source among several: columns that were multiplied by `scale`, which gives them total variance 1. */
#define SPOT_MOST_BLOCKS 8
typedef struct { int d; float scale; char encoder[32]; } spot_feature_block;      /* encoder "": not known */

typedef struct {
    int      n, d, classes;
    float   *feature;          /* (n, d) */
    int     *target;           /* (n): the true class; NULL where a row may have several classes (`has`) */
    uint8_t *has;              /* (n, classes): 1 where row i has the class; NULL where `target` is set */
    float   *prob;             /* (n, classes): probability that the classifier gives each class; NULL: not known */
    float   *confidence;       /* (n): probability of the true class; NULL where `has` is set */
    int     *predicted;        /* (n), where `prob` is not known: the class of the first greatest probability; NULL: not known,
                                * or `prob` is set */
    float   *head;             /* (classes, d): the direction of each class's logit; NULL: not known */
    char   **class_name;       /* (classes) */
    char   **id;               /* (n): the user's name of the row: an id, a path, else its number; NULL: all numbers */
    char   **image;            /* (n): path of the picture, from the current directory; NULL entries: no picture; NULL: no
                                * pictures at all */
    float   *box;              /* (n, 4): the part of the picture that the row is, in pixels: x, y of the upper left corner,
                                * width, height; it may reach beyond the picture; NULL: rows are whole pictures */
    spot_instance *instance;   /* (n): what is known of objects and detections; NULL: rows are none, or come from findings */
    char     source[512];      /* one line for people: the files read and the number of rows */
    int      skipped;          /* unreadable pictures left out (spot_subject_files.skip) */
    int      left_out;         /* rows left out: by spot_subject_files.skip_bad, or with a picture that cannot be read */
    int     *group;            /* (n): rows of one group depend on each other, as frames of a video or crops of a picture do;
                                * groups count from 0 in the order of their first rows; NULL: each row is alone */
    int      groups;           /* 0 where group is NULL */
    char   **group_name;       /* (groups): the user's names, "" of a row without a group; NULL: not known */
    int     *file_row;         /* (n), ascending: the rows' numbers in the files, where rows were left out; NULL: row i is i */
    spot_picture_reading reading;      /* of `image`, for pages that show it */
    char     encoder[32];      /* name of the encoder that made `feature` (encoder.h); "": not known, or the classifier */
    int      blocks;           /* sources of `feature`, side by side; 0: one, as it is */
    spot_feature_block block[SPOT_MOST_BLOCKS];
    void    *owned;            /* freed by spot_subject_close; NULL: the caller owns all arrays */
} spot_subject;

#define SPOT_GROUPS_ROWS "rows"

/* The files of a subject. The first six are "FILE" or "FILE:NAME" (array.h), or NULL. */
typedef struct {
    const char *embeddings;    /* (n, d); several, in lines of their own ("\n"): joined, each scaled to total variance 1 */
    const char *labels;        /* (n): class numbers, or words; (n, classes) of 0 and 1: several at once */
    const char *probs;         /* (n, classes); or (n): of the true class where labels are of one class, of class 1 where
                                * there are two */
    const char *losses;        /* (n): cross-entropy, in place of probs: confidence is exp(-loss) */
    const char *ids;           /* (n) words or numbers; ids that name files below `images` give the pictures */
    const char *groups;        /* (n) words or numbers: rows with an equal one are a group (spot_subject.group), a row with a
                                * missing one is alone; SPOT_GROUPS_ROWS: each row is alone; NULL: so, but a detector's rows of
                                * one picture are a group */
    const char *images;        /* folder. Without embeddings: root/class/picture, classes sorted by name */
    const char *coco;          /* annotations of the pictures in `images`: every category is a class, an image may have many */
    const char *model;         /* .safetensors of a ResNet or AlexNet (torchvision's names), run on the pictures */
    int  resize, crop;         /* pixels: shorter side, then central square; 256, 224, as torchvision; resize 0: none,
                                * SPOT_SQUEEZE: whole pictures, squeezed */
    spot_picture_reading reading;      /* of the pictures; that of `encoder` is its own */
    bool skip;                 /* leave out and count unreadable pictures; false: the first one is SPOT_INPUT */
    bool skip_bad;             /* leave out and count rows that no method can use; false: the first one is SPOT_INPUT */
    bool logits;               /* probs are logits, of which the softmax makes probabilities, in double precision; where a row
                                * may have several classes, or for one number a row and two classes, the sigmoid */
    size_t memory;             /* most bytes to take; 0: all that the machine has */
    bool links;                /* pictures may be symbolic links that lead out of `images` */
    const char *embed;         /* .safetensors of an encoder, or "neutral" (encoder.h), run on the pictures for their features,
                                * in place of the model's, or behind `embeddings`, joined as several of these: with labels,
                                * probs and ids, or with a model */
    const spot_encoder_options *encoder;       /* of `embed`; NULL: the defaults */
    struct spot_kept_encoder *programs;        /* Spotter's own: where answers of a program as `embed` are kept; or NULL */
    const spot_array *array;   /* (arrays) of the caller, with a name: a file that is called so is this array, not looked for on
                                * disk. It is not changed, and features of floats are used in place: they must stay */
    int  arrays;
    char *const *class_name;   /* (classes) in the order of their numbers and of the columns of probs; labels that are words
                                * must be among them. They must stay. NULL: labels tell the classes */
    int  classes;
    const spot_detection_options *detections;  /* not NULL: rows are the objects and detections of `coco` in the pictures of
                                * `images`; features come from `embed`, or from `embeddings`, whose rows `ids` name by the ids
                                * of spot_instances_write; without ids in its order. With neither, d is 1 and feature 0 */
    spot_picture_input input;  /* how a picture enters `model`; that of `encoder` is its own */
} spot_subject_files;

/* Reads and checks the files. Without embeddings it runs the model, the encoder or both on the pictures. Memory and time are
 * logged (SPOT_LOG_INFO) before long work begins.
 *
 * Labels. Words are sorted by their bytes; where all are whole numbers, as numbers. "01" and "1" are two words; so are "dog"
 * and "Dog", which is warned of. A missing label (an empty word, nan, None, NA, <NA>, null) is no class: SPOT_INPUT. (n,
 * classes) with one 1 in each row, beside probabilities that sum to 1 or one number a row, is one class a row; so are shares
 * that sum to 1, by the greatest. Each of these readings is logged.
 *
 * Probabilities. Columns of a .csv that are called as the classes, all with a prefix such as p_ or none, belong to the classes
 * of these names in any order, and may name classes that no row has; a class without a column is SPOT_INPUT. Columns that end
 * in numbers go by them. Others have the order of the classes. The answer is the first greatest probability; ties are counted
 * and logged. Classes whose rows have another class as the usual answer are warned of.
 *
 * SPOT_INPUT names file and row of the file: lengths that disagree, labels out of range, NaN, features beyond
 * SPOT_LARGEST_FEATURE, probabilities outside 0..1, and, for labels of one class, rows of probabilities whose sum differs from
 * 1 by more than 1e-3 or, of many classes, 5e-5 for each (4e-3 more where all of a row are bfloat16 values). With skip_bad
 * such a row is left out and counted, unless more than half of the rows are such; ids, or their numbers, stay those of the
 * file. */
spot_status spot_subject_read (spot_ctx *c, spot_subject *s, const spot_subject_files *files);
void        spot_subject_close(spot_subject *s);

/* Writes what is known of the rows of objects and detections into DIR/rows.csv, in their order:
 *     id, image, class, x, y, width, height, outcome (found, missed, right, false), reason, score
 * and what describes them and does not tell their outcome into DIR/attributes.csv: id, size, at edge, in picture, overlaps. */
spot_status spot_instances_write(spot_ctx *c, const spot_subject *s, const char *dir);

/* Files of these names that spotter discover did not write stay as they are. check: SPOT_USAGE, with a sentence that names
 * --replace, when dir holds such a file. drop: removes both, after findings of other rows were written there. */
spot_status spot_tables_check(spot_ctx *c, const char *dir);
spot_status spot_tables_drop (spot_ctx *c, const char *dir);

/* The checks of spot_subject_read, for arrays that the caller made. */
spot_status spot_subject_check(spot_ctx *c, const spot_subject *s);

/* The rows of one class as a view; cls -1: all rows (confidence must be known). Its arrays live in a; image is the row of the
 * subject. Where the view has all rows, feature is the subject's array. */
spot_status spot_subject_view(spot_ctx *c, spot_arena *a, spot_view *v, const spot_subject *s, int cls);
int         spot_subject_rows(const spot_subject *s, int cls);

/* Whether some rows belong together. */
static inline bool spot_subject_is_grouped(const spot_subject *s) { return s->group && s->groups < s->n; }

/* The error of the classifier on row i as one of class cls: 1 - confidence. */
double spot_subject_error(const spot_subject *s, int i, int cls);

/* Whether row i is wrong. With `prob` or `predicted` and labels of one class: its class is not the predicted one, so that of
 * two classes with exactly 1/2 the first is the answer. Else: the error is above 1/2, so that exactly 1/2 is right. */
bool   spot_subject_wrong(const spot_subject *s, int i, int cls);

/* The class of the first greatest probability, as argmax of numpy and torch; -1: not known, or rows have several classes. */
int    spot_subject_predicted(const spot_subject *s, int i);

/* Both for all rows: wrong (n) as ones of their true class, which they must have; predicted (n). Either may be NULL. */
void   spot_subject_outcomes(const spot_subject *s, uint8_t *wrong, int *predicted);

#ifdef __cplusplus
}
#endif
#endif
