/* photo_step.h - the labels of a picture in an EC, for C and CUDA. */
#ifndef SPOTTER_PHOTO_STEP_H
#define SPOTTER_PHOTO_STEP_H

#include "image/photo.h"
#include "image/scene_draw.h"

static inline SPOT_HD bool spot_photo_shows(const spot_photo_set *set, uint32_t row, int category)
{
    return set->shows[(size_t)row * (size_t)set->words + (size_t)(category / 64)] >> category % 64 & 1;
}

/* Labels and blindspots of picture `index` of the split, which the set has. */
static inline SPOT_HD void spot_photo_describe(spot_image *image, const spot_photo_set *set, const spot_ec *ec,
                                               spot_split split, uint32_t index)
{
    const uint32_t row = set->row[split][index];

    memset(image, 0, sizeof *image);
    image->index = index;
    image->split = (uint8_t)split;
    image->seed = ec->seed;
    image->ec = ec->index;
    for (int w = 0; w < set->words; w++)
        image->label |= (set->shows[(size_t)row * (size_t)set->words + (size_t)w] & set->task[w]) != 0;
    for (int m = 0; m < ec->blindspot_count; m++) {
        const spot_motif *s = &ec->motif[m];
        bool in = spot_photo_shows(set, row, s->object) && (s->other < 0 || spot_photo_shows(set, row, s->other) == s->with);
        image->blindspots |= (uint32_t)in << m;
    }
    image->train_label = split == SPOT_VAL && set->val_is_true ? image->label : spot_scene_train_label(image, ec);
}

/* Whether the image is one of the set's. */
static inline SPOT_HD bool spot_photo_has(const spot_photo_set *set, unsigned split, uint32_t index)
{
    return split < SPOT_SPLITS && index < (uint32_t)set->images[split];
}

#endif
