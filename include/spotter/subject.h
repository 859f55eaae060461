/* subject.h - a classifier that a user brings, as it shows on images of theirs: what spotter discover examines.
 *
 *     arrays, or images and a network -> subject -> a view per class -> points -> hypotheses
 *
 * Rows keep their order from the files to the last picture: row i is image i, and nothing is sampled. */
#ifndef SPOTTER_SUBJECT_H
#define SPOTTER_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int      n, d, classes;
    float   *feature;          /* (n, d) */
    int     *target;           /* (n): the true class; NULL where images have several, and `has` says which */
    uint8_t *has;              /* (n, classes): 1 where row i has the class; NULL where target says */
    float   *prob;             /* (n, classes): probability that the classifier gives each class; NULL: not known */
    float   *confidence;       /* (n): probability of the true class; NULL where `has` says */
    int     *predicted;        /* (n): the class of the greatest probability, of equals the true one, for want of `prob`; NULL:
                                * `prob` says, or nothing does */
    float   *head;             /* (classes, d): the direction of each class's logit; NULL: not known */
    char   **class_name;       /* (classes) */
    char   **id;               /* (n): what the user calls the row: an id, a path, else its number; NULL: all numbers */
    char   **image;            /* (n): path of the picture as it can be opened from here, NULL entries where there is none;
                                * NULL: no pictures at all */
    char     source[512];      /* one line for people: what was read, how many rows */
    int      skipped;          /* pictures left out because they could not be read, with leave */
    void    *owned;            /* what spot_subject_close frees; NULL: all arrays are the caller's */
} spot_subject;

/* Where it is read from. Each of the first five is as spot_array_read takes it ("FILE" or "FILE:NAME"), or NULL. */
typedef struct {
    const char *embeddings;    /* (n, d) */
    const char *labels;        /* (n): class numbers, 0 and 1, or words; (n, classes) of 0 and 1: several at once */
    const char *probs;         /* (n): of the true class where labels are of one class, of class 1 where there are two;
                                * (n, classes) */
    const char *losses;        /* (n): cross-entropy, in place of probs: confidence is exp(-loss) */
    const char *ids;           /* (n) words or numbers; those that name files below `images` give the pictures */
    const char *images;        /* folder. Without embeddings it is looked through: root/class/picture, classes sorted by name */
    const char *coco;          /* annotations of the pictures in `images`: every category is a class, an image may have many */
    const char *model;         /* .safetensors with torchvision's names of a ResNet-18: looks at the pictures */
    int  resize, crop;         /* of the shorter side, then the middle; 256 and 224; resize 0: none (as torchvision has it) */
    bool skip;                 /* leave out pictures that cannot be read, counting them; else the first is SPOT_INPUT */
    size_t memory;             /* bytes that it may take; 0: what the machine has */
    bool links;                /* ids and annotations may name pictures that symbolic links lead to out of `images` */
} spot_subject_files;

/* Reads, checks and, where embeddings are missing, looks. SPOT_INPUT names file and row: lengths that disagree, labels out of
 * range, probabilities outside 0..1 or rows of them that do not sum to 1 within 1e-3 (5e-3 where a row's are all bfloat16's;
 * labels of one class), NaN. Memory and time are told (SPOT_LOG_INFO) before anything long begins. */
spot_status spot_subject_read (spot_ctx *c, spot_subject *s, const spot_subject_files *files);
void        spot_subject_close(spot_subject *s);

/* Checks arrays that came another way, as spot_subject_read checks its own. */
spot_status spot_subject_check(spot_ctx *c, const spot_subject *s);

/* The rows of one class, or of all (cls -1: then confidence must be known), as a view whose feature, confidence and image
 * (= row of the subject) live in a; feature is the subject's own where it is the whole. */
spot_status spot_subject_view(spot_ctx *c, spot_arena *a, spot_view *v, const spot_subject *s, int cls);
int         spot_subject_rows(const spot_subject *s, int cls);

/* How wrong the classifier is about row i as one of class cls: 1 - confidence. Wrong for certain: above 1/2, or, where `prob`
 * is there and labels are of one class, when another class has the greater probability. The class of the greatest: -1 where it
 * is not known, or rows have several. */
double spot_subject_error(const spot_subject *s, int i, int cls);
bool   spot_subject_wrong(const spot_subject *s, int i, int cls);
int    spot_subject_predicted(const spot_subject *s, int i);

#ifdef __cplusplus
}
#endif
#endif
