/* background_inputs.h - pictures with masks, and backgrounds: lists, hashes, squares. */
#ifndef SPOTTER_BACKGROUND_INPUTS_H
#define SPOTTER_BACKGROUND_INPUTS_H

#include "background/background_config.h"
#include "background/suite/squares.h"
#include "base/folder.h"
#include "store/store.h"

typedef struct {
    const spot_background_config *cfg;
    int    pictures, backgrounds, classes;
    char **class_name;             /* (classes) */
    int   *cls;                    /* (pictures) */
    char **name, **back_name;      /* (pictures), (backgrounds): below data.images and data.backgrounds */
    const char **path, **back_path;        /* their files */
    const char **mask;             /* (pictures): the files of the masks, or NULL: own alpha or COCO */
    spot_key *picture_key, *back_key;      /* hashes of the files' bytes; NULL before spot_background_hash */
    char   key[33];                /* of all content that a suite depends on */
    spot_square_cache picture, background;      /* NULL room before spot_background_squares */
    spot_folder list, back_list;
    struct spot_outlines *outlines;        /* COCO: outlines.h; else NULL */
    void  *owned[4];
} spot_background_inputs;

/* Lists the folders. SPOT_INPUT: a picture without a mask (the first three and their number), two pictures that share one
 * mask. */
spot_status spot_background_inputs_open (spot_ctx *c, spot_background_inputs *in, const spot_background_config *cfg);
void        spot_background_inputs_close(spot_background_inputs *in);

/* Hashes all files; store: remembers the hashes. */
spot_status spot_background_hash(spot_ctx *c, spot_background_inputs *in, const spot_store *store);

/* Opens both squares with at most `memory` bytes, so that `pictures` and `backgrounds` of them can be needed at once. */
spot_status spot_background_squares(spot_ctx *c, spot_background_inputs *in, size_t memory, int pictures, int backgrounds);

#endif
