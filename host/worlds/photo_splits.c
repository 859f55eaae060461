/* photo_splits.c - which pictures are for training, validation and test. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "spotter/rng.h"
#include "worlds/pictures.h"

static void split_by_share(const spot_photos *p, uint8_t *split, uint32_t *order)
{
    spot_rng r = spot_rng_at(p->seed, SPOT_RNG_SPLIT, 0, 0);
    int n = p->pictures, val = (int)lround(p->cfg.val * n), test = (int)lround(p->cfg.test * n);

    spot_rng_shuffle(&r, order, (uint32_t)n);
    for (int i = 0; i < n; i++) split[order[i]] = i < val ? SPOT_VAL : i < val + test ? SPOT_TEST : SPOT_TRAIN;
}

static spot_status fail_split(spot_ctx *c, const spot_coco_image *of)
{
    char said[80] = "no \"split\"";

    if (of->split) snprintf(said, sizeof said, "the \"split\" \"%.40s\"", of->split);
    return spot_fail(c, SPOT_INPUT, "{data.split} data.splits is file, and picture %.300s of data.coco has %s; give each "
                     "picture train, val or test, or set data.splits to share", of->file, said);
}

static spot_status split_by_file(spot_ctx *c, const spot_photos *p, uint8_t *split)
{
    for (int f = 0; f < p->files; f++)
        for (int i = 0; i < p->coco[f].images; i++) {
            const char *word = p->coco[f].image[i].split;
            int k = 0;
            while (k < SPOT_SPLITS && (!word || strcmp(word, spot_split_name((spot_split)k)))) k++;
            if (k == SPOT_SPLITS) return fail_split(c, &p->coco[f].image[i]);
            split[p->first[f] + i] = (uint8_t)k;
        }
    return SPOT_OK;
}

spot_status spot_photos_split(spot_ctx *c, const spot_photos *p, uint8_t *split, uint32_t *order)
{
    if (p->cfg.splits == SPOT_SPLITS_BY_FILE) return split_by_file(c, p, split);
    split_by_share(p, split, order);
    return SPOT_OK;
}
