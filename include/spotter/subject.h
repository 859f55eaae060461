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
#include "spotter/ctx.h"
#include "spotter/detections.h"
#include "spotter/encoder.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int      n, d, classes;
    float   *feature;          /* (n, d) */
    int     *target;           /* (n): the true class; NULL where a row may have several classes (`has`) */
    uint8_t *has;              /* (n, classes): 1 where row i has the class; NULL where `target` is set */
    float   *prob;             /* (n, classes): probability that the classifier gives each class; NULL: not known */
    float   *confidence;       /* (n): probability of the true class; NULL where `has` is set */
    int     *predicted;        /* (n), where `prob` is not known: the class of the greatest probability, the true one if
                                * equal; NULL: not known, or `prob` is set */
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
    char     encoder[32];      /* name of the encoder that made `feature` (encoder.h); "": not known, or the classifier */
    void    *owned;            /* freed by spot_subject_close; NULL: the caller owns all arrays */
} spot_subject;

/* The files of a subject. The first five are "FILE" or "FILE:NAME" (array.h), or NULL. */
typedef struct {
    const char *embeddings;    /* (n, d) */
    const char *labels;        /* (n): class numbers, 0 and 1, or words; (n, classes) of 0 and 1: several at once */
    const char *probs;         /* (n, classes); or (n): of the true class where labels are of one class, of class 1 where
                                * there are two */
    const char *losses;        /* (n): cross-entropy, in place of probs: confidence is exp(-loss) */
    const char *ids;           /* (n) words or numbers; ids that name files below `images` give the pictures */
    const char *images;        /* folder. Without embeddings: root/class/picture, classes sorted by name */
    const char *coco;          /* annotations of the pictures in `images`: every category is a class, an image may have many */
    const char *model;         /* .safetensors of a ResNet or AlexNet (torchvision's names), run on the pictures */
    int  resize, crop;         /* pixels: shorter side, then central square; 256, 224, as torchvision; resize 0: none */
    bool skip;                 /* leave out and count unreadable pictures; false: the first one is SPOT_INPUT */
    size_t memory;             /* most bytes to take; 0: all that the machine has */
    bool links;                /* pictures may be symbolic links that lead out of `images` */
    const char *embed;         /* .safetensors of an encoder (encoder.h), run on the pictures for their features, in place of
                                * `embeddings` or of the model's: with labels, probs and ids, or with a model */
    const spot_encoder_options *encoder;       /* of `embed`; NULL: the defaults */
    const spot_detection_options *detections;  /* not NULL: rows are the objects and detections of `coco` in the pictures of
                                * `images`; features come from `embed`, or from `embeddings`, whose rows `ids` name by the ids
                                * of spot_instances_write; without ids in its order. With neither, d is 1 and feature 0 */
} spot_subject_files;

/* Reads and checks the files. Without embeddings it runs the model, the encoder or both on the pictures. SPOT_INPUT names file
 * and row: lengths that disagree, labels out of range, NaN, probabilities outside 0..1, and, for labels of one class, rows of
 * probabilities whose sum differs from 1 by more than 1e-3 (5e-3 where all of a row are bfloat16 values). Memory and time are
 * logged (SPOT_LOG_INFO) before long work begins. */
spot_status spot_subject_read (spot_ctx *c, spot_subject *s, const spot_subject_files *files);
void        spot_subject_close(spot_subject *s);

/* Writes what is known of the rows of objects and detections into DIR/rows.csv, in their order:
 *     id, image, class, x, y, width, height, outcome (found, missed, right, false), reason, score
 * and what describes them and does not tell their outcome into DIR/attributes.csv: id, size, at edge, in picture, overlaps. */
spot_status spot_instances_write(spot_ctx *c, const spot_subject *s, const char *dir);

/* The checks of spot_subject_read, for arrays that the caller made. */
spot_status spot_subject_check(spot_ctx *c, const spot_subject *s);

/* The rows of one class as a view; cls -1: all rows (confidence must be known). Its arrays live in a; image is the row of the
 * subject. Where the view has all rows, feature is the subject's array. */
spot_status spot_subject_view(spot_ctx *c, spot_arena *a, spot_view *v, const spot_subject *s, int cls);
int         spot_subject_rows(const spot_subject *s, int cls);

/* The error of the classifier on row i as one of class cls: 1 - confidence. */
double spot_subject_error(const spot_subject *s, int i, int cls);

/* Whether row i is wrong: the error is above 1/2; or, with `prob` and labels of one class, another class has the greater
 * probability. */
bool   spot_subject_wrong(const spot_subject *s, int i, int cls);

/* The class of the greatest probability; -1: not known, or rows have several classes. */
int    spot_subject_predicted(const spot_subject *s, int i);

#ifdef __cplusplus
}
#endif
#endif
