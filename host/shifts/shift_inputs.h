/* shift_inputs.h - the user's tables: masks, truth about pictures, hashes of files. */
#ifndef SPOTTER_SHIFT_INPUTS_H
#define SPOTTER_SHIFT_INPUTS_H

#include "shifts/shift_pictures.h"
#include "shifts/shift_programs.h"
#include "spotter/array.h"

/* Joins the content of a file into k. */
spot_status spot_shift_hash_file(spot_ctx *c, spot_key *k, const char *path);

/* The hash of every file but pictures and encoder on which results depend: tables and weights of models, names of classes,
 * masks, truth, and (by `real`, a hash) the real pictures. */
spot_status spot_shift_inputs_hash(spot_ctx *c, char hash[33], const spot_shifts_config *cfg, spot_shift_programs *programs,
                                   const char *real);

/* keep (n): 0 or 1 from the array of filter.masks for this unit, whose pictures lie in the order of the folder. */
spot_status spot_shift_masks(spot_ctx *c, uint8_t *keep, const spot_shifts_config *cfg, const spot_shift_pictures *p);

/* The truth about pictures (filter.oracle), by path. Zeroed: none. */
typedef struct {
    spot_array path;
    int *shift, *object;       /* (path.count); equal where the table has `keep` alone */
    int *order;                /* (path.count): sorted by path */
    bool parts;                /* shift and object are told apart */
} spot_shift_truth;

spot_status spot_shift_truth_open (spot_ctx *c, spot_shift_truth *t, const spot_shifts_config *cfg);
void        spot_shift_truth_close(spot_shift_truth *t);

/* bits (n): 1 object there, 2 shift there. SPOT_INPUT names a picture without a row. */
spot_status spot_shift_truth_of(spot_ctx *c, uint8_t *bits, const spot_shift_truth *t, const spot_shift_pictures *p);

#endif
