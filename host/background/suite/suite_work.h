/* suite_work.h - the steps by which a suite is made. */
#ifndef SPOTTER_SUITE_WORK_H
#define SPOTTER_SUITE_WORK_H

#include "background/suite/blender.h"
#include "background/suite/keywords.h"
#include "background/suite/suite.h"

typedef struct {
    spot_background_suite *s;
    spot_background_inputs *in;
    spot_suite_encoders *encoders;
    const spot_store *store;
    int   *picture;                /* (s->targets): numbers of pictures, ascending by class and path */
    float *row, *back_row;         /* (s->targets, dim), (in->backgrounds, dim); NULL: not needed */
    spot_keywords keywords;        /* words 0: none */
    int   *excluded;               /* (in->backgrounds): 0: allowed */
    int   *allowed;                /* (allowed_count), ascending */
    int    allowed_count;
    int   *similar;                /* (s->targets, similar_words): words by similarity; choice clip */
    int    similar_words;
    spot_blender blender;
} spot_suite_work;

/* suite_targets.c: draws the part, looks at every mask, leaves out what is too small or too large. */
spot_status spot_suite_targets(spot_ctx *c, spot_suite_work *w);

/* suite_rows.c: rows of all targets and backgrounds, from the cache or by the encoders. */
spot_status spot_suite_rows(spot_ctx *c, spot_suite_work *w);

/* suite_words.c: keywords of targets and backgrounds, excluded backgrounds, words by similarity. */
spot_status spot_suite_words(spot_ctx *c, spot_suite_work *w);

/* suite_spaces.c: the subspaces of a target: subspace k has the backgrounds order[first[k]] .. order[first[k + 1] - 1] in the
 * order in which they are tried. The last one has every other allowed background. */
typedef struct {
    int  spaces;                   /* with the last one */
    int *first;                    /* (spaces + 1) */
    int *order;
    int *word;                     /* (spaces): keyword or -1 */
    uint8_t *level;                /* (spaces) */
    int  own;                      /* backgrounds that are the target itself */
} spot_suite_spaces;
typedef struct spot_suite_drawer spot_suite_drawer;    /* what all targets share, such as ontologies */
spot_status spot_suite_drawer_open (spot_ctx *c, spot_suite_drawer **d, const spot_suite_work *w);
void        spot_suite_drawer_close(spot_suite_drawer *d);
spot_status spot_suite_spaces_of(spot_ctx *c, spot_suite_spaces *p, const spot_suite_drawer *d, int target);
void        spot_suite_spaces_free(spot_suite_spaces *p);

/* suite_choose.c: fills the suite's arrays of backgrounds. */
spot_status spot_suite_choose(spot_ctx *c, spot_suite_work *w);

#endif
