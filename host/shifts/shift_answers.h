/* shift_answers.h - the class that each model predicts for each picture: from its table, or by looking. */
#ifndef SPOTTER_SHIFT_ANSWERS_H
#define SPOTTER_SHIFT_ANSWERS_H

#include "base/text.h"
#include "image/resize.h"
#include "shifts/shift_pictures.h"
#include "shifts/shift_programs.h"
#include "store/store.h"

/* Words that models predict. The first ones are the study's classes. */
typedef struct {
    const spot_shift_classes *classes;
    spot_text words;           /* further words, each with its NUL */
    size_t   *at;              /* (count): offsets of them in words */
    int      *order;           /* (count): sorted */
    int       count, room;
} spot_shift_words;

/* answer (models, n): an index of words; -1: no row, which only the real pictures may have. */
typedef struct {
    const spot_shift_pictures *pictures;
    int *answer;
} spot_shift_unit_answers;

/* A model that looks. */
typedef struct {
    char name[32];             /* its encoder's; "": the model has a table */
    spot_filter filter;        /* of the squares that it looks at */
    int  outputs;
    int *index;                /* (outputs): words; NULL: the classes in order */
    struct spot_encoder *encoder;      /* NULL: is opened when it is needed (shift_look.c) */
} spot_shift_network;

typedef struct {
    const spot_shifts_config *cfg;
    const spot_store *store;
    spot_shift_programs *programs;
    spot_shift_progress *progress;
    spot_shift_network  *network;      /* (models) */
    spot_shift_words words;
    int units;
    spot_shift_unit_answers *unit;     /* (units) */
    struct spot_shift_place *place, *plain;    /* (places), (plains): pictures by the hash of their path, and of its plain form
                                                * (base/same_id.h); plain NULL: not needed yet */
    int places, plains;
} spot_shift_answers;

/* Reads the tables of all models for the pictures of these units, and checks the weights of those that look. SPOT_INPUT for a
 * picture without a row, for one that has two, for a class number that is not there, for a table or a list of outputs that
 * names no class, and for weights of another network. A table of which less than a tenth names a class, or only one of three
 * or more classes, and outputs that lack classes get a warning. pictures, progress and a->programs, which is set before, must
 * outlive a. Close also after a failure. */
spot_status spot_shift_answers_open (spot_ctx *c, spot_shift_answers *a, const spot_shifts_config *cfg,
                                     const spot_shift_classes *k, const spot_store *store, const spot_shift_pictures *pictures,
                                     int units, spot_shift_progress *progress);
void        spot_shift_answers_close(spot_ctx *c, spot_shift_answers *a);

/* Fills the answers of the models that look at the pictures, for one unit. Answers are kept in the cache. */
spot_status spot_shift_answers_look(spot_ctx *c, spot_shift_answers *a, int unit);

/* shift_look.c: fills a->network; closes the encoders that are still open. network_bytes: memory of the model that takes most
 * while it looks at a folder of `pictures`; one that cannot be opened counts nothing. look_bytes: memory of the decoded
 * pictures then: a piece, on a device two. */
spot_status spot_shift_networks_open(spot_ctx *c, spot_shift_answers *a);
void        spot_shift_networks_close(spot_ctx *c, spot_shift_answers *a);
size_t      spot_shift_network_bytes(spot_ctx *c, const spot_shifts_config *cfg, int pictures);
size_t      spot_shift_look_bytes(const spot_ctx *c, const spot_shifts_config *cfg, int pictures);

/* The word of an answer; its index, added where it is new (-1: no memory). */
const char *spot_shift_word(const spot_shift_words *w, int index);
int         spot_shift_word_index(spot_shift_words *w, const char *word);

/* The words of a model's outputs: output -> index of words. *index is malloc'd, (*n); NULL: the classes in order. */
spot_status spot_shift_outputs(spot_ctx *c, spot_shift_words *w, int **index, int *n, const spot_shift_model *m);

#endif
