/* source.c - an EC's images, rendered or read from files. */
#include "worlds/source_draw.h"

#include <math.h>
#include <stdio.h>

#include "image/photo_step.h"
#include "image/scene_draw.h"
#include "worlds/pictures.h"

/* A scene whose splits hold at least as many images as those of every variant, for what memory must hold. */
static spot_scene_config largest_scene(const spot_config *cfg)
{
    spot_scene_config all = *spot_config_scene(cfg, 0);

    for (int v = 1; v < cfg->variants; v++) {
        const spot_scene_config *s = &cfg->variant[v].scene;
        int most = s->rollable[1] > all.rollable[1] ? s->rollable[1] : all.rollable[1];
        for (int k = 0; k < SPOT_SPLITS; k++) {
            double here = ldexp(s->per_bucket[k], s->rollable[1] - most);
            double before = ldexp(all.per_bucket[k], all.rollable[1] - most);
            all.per_bucket[k] = (int)ceil(fmax(here, before));
        }
        all.rollable[1] = most;
    }
    return all;
}

spot_status spot_source_open(spot_ctx *c, spot_source *s, const spot_config *cfg)
{
    *s = (spot_source){ .config = cfg, .scene = largest_scene(cfg), .seed = cfg->seed };
    if (!cfg->data.coco[0]) return SPOT_OK;
    SPOT_TRY(spot_photos_open(c, &s->photos, &cfg->data, cfg->seed));
    s->scene = spot_photos_scene(s->photos);
    return SPOT_OK;
}

void spot_source_close(spot_source *s)
{
    spot_photos_close(s->photos);
    s->photos = NULL;
}

spot_status spot_source_ec(spot_ctx *c, spot_ec *ec, const spot_source *s, uint32_t index)
{
    if (s->photos) return spot_photos_ec(c, ec, s->photos, index);
    return spot_ec_draw(c, ec, spot_config_scene(s->config, index), s->seed, index);
}

const char *spot_ec_task(const spot_ec *ec) { return ec->photos->task[ec->task].name; }

void spot_ec_describe(char *text, size_t size, const spot_ec *ec, int blindspot)
{
    const spot_motif *s = &ec->motif[blindspot];

    if (!ec->photos) spot_blindspot_describe(text, size, &ec->blindspot[blindspot]);
    else if (s->other < 0) snprintf(text, size, "%s", spot_category(ec->photos, s->object));
    else snprintf(text, size, "%s %s %s", spot_category(ec->photos, s->object), s->with ? "with" : "without",
                  spot_category(ec->photos, s->other));
}

spot_status spot_ec_images(spot_ctx *c, const spot_sample *s)
{
    spot_photo_set set;

    if (!s->ec->photos) return spot_sample_images(c, 1, s);
    SPOT_TRY(spot_photos_on_device(c, &set, s->ec));
    return spot_photo_images(c, &set, s);
}

spot_status spot_photo_image(spot_ctx *c, spot_image *image, const spot_ec *ec, spot_split split, uint32_t index)
{
    const spot_photo_set set = spot_photos_on_host(ec);

    if (!spot_photo_has(&set, split, index))
        return spot_fail(c, SPOT_INVALID, "the %s split of EC %u has no picture %u", spot_split_name(split), ec->index, index);
    spot_photo_describe(image, &set, ec, split, index);
    return SPOT_OK;
}

int spot_ec_positives(int *index, const spot_ec *ec, spot_split split)
{
    int n = 0, bit = ec->photos ? 0 : spot_scene_label_bit(ec);
    spot_photo_set set = { 0 };
    spot_image image;

    if (ec->photos) set = spot_photos_on_host(ec);
    for (int i = 0; i < ec->images[split]; i++) {
        if (ec->photos) spot_photo_describe(&image, &set, ec, split, (uint32_t)i);
        else image.label = spot_scene_label(ec->seed, ec->index, split, (uint32_t)i, bit);
        if (!image.label) continue;
        if (index) index[n] = i;
        n++;
    }
    return n;
}
