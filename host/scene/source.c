/* source.c - an EC's images, rendered or read from files. */
#include "scene/source_draw.h"

#include <stdio.h>
#include <string.h>

#include "image/scene_draw.h"
#include "scene/pictures.h"

spot_status spot_source_open(spot_ctx *c, spot_source *s, const spot_config *cfg)
{
    *s = (spot_source){ .scene = cfg->scene, .seed = cfg->seed };
    if (!cfg->data.coco[0]) return SPOT_OK;
    SPOT_TRY(spot_refuse_device(c, true, 0));
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
    return s->photos ? spot_photos_ec(c, ec, s->photos, index) : spot_ec_draw(c, ec, &s->scene, s->seed, index);
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

/* Labels and blindspots of picture `index` of the split in the EC. */
static void describe_picture(spot_image *image, const spot_ec *ec, spot_split split, uint32_t index)
{
    const spot_photos *p = ec->photos;
    const spot_task *task = &p->task[ec->task];
    const uint32_t picture = task->picture[split][index];

    memset(image, 0, sizeof *image);
    image->index = index;
    image->split = (uint8_t)split;
    image->seed = ec->seed;
    image->ec = ec->index;
    for (int a = 0; a < task->categories; a++) image->label |= spot_shows(p, picture, task->category[a]);
    for (int m = 0; m < ec->blindspot_count; m++) {
        const spot_motif *s = &ec->motif[m];
        bool in = spot_shows(p, picture, s->object) && (s->other < 0 || spot_shows(p, picture, s->other) == s->with);
        image->blindspots |= (uint32_t)in << m;
    }
    image->train_label = split == SPOT_VAL && !p->cfg.flip_val ? image->label : spot_scene_train_label(image, ec);
}

spot_status spot_ec_images(spot_ctx *c, const spot_sample *s)
{
    const spot_ec *ec = s->ec;
    uint32_t first = s->first + (s->cursor && ec->photos ? *s->cursor : 0);

    if (!ec->photos) return spot_sample_images(c, 1, s);
    for (int i = 0; i < s->n; i++) {
        uint32_t at = first + (uint32_t)i, index = s->index ? s->index[at] : at;
        spot_image image;
        if (index >= (uint32_t)ec->images[s->split])
            return spot_fail(c, SPOT_INVALID, "the %s split of EC %u has no picture %u", spot_split_name(s->split), ec->index,
                             index);
        describe_picture(&image, ec, s->split, index);
        if (s->image) s->image[i] = image;
        if (s->target) s->target[i] = image.train_label;
        if (s->mask) s->mask[i] = image.blindspots;
    }
    return SPOT_OK;
}

int spot_ec_positives(int *index, const spot_ec *ec, spot_split split)
{
    int n = 0, bit = ec->photos ? 0 : spot_scene_label_bit(ec);
    spot_image image;

    for (int i = 0; i < ec->images[split]; i++) {
        if (ec->photos) describe_picture(&image, ec, split, (uint32_t)i);
        else image.label = spot_scene_label(ec->seed, ec->index, split, (uint32_t)i, bit);
        if (!image.label) continue;
        if (index) index[n] = i;
        n++;
    }
    return n;
}
