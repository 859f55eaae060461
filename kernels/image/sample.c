/* sample.c - the CPU calls scene_draw.h image by image. */
#include "image/sample.h"

#include "image/raster.h"
#include "image/scene_draw.h"

static spot_status images_cpu(spot_ctx *c, int problems, const spot_sample *all, const spot_geometry *g)
{
    for (int p = 0; p < problems; p++) {
        const spot_sample *s = &all[p];
        const uint32_t first = s->first + (s->cursor ? *s->cursor : 0);

#pragma omp parallel for num_threads(c->threads)
        for (int i = 0; i < s->n; i++) {
            uint32_t at = first + (uint32_t)i;
            spot_image image;
            spot_scene_draw(&image, s->ec, g, s->split, s->index ? s->index[at] : at);
            if (s->image) s->image[i] = image;
            if (s->target) spot_scene_targets(s->target + (size_t)i * (size_t)s->ec->targets, &image, s->ec);
            if (s->mask) s->mask[i] = image.blindspots;
        }
    }
    return SPOT_OK;
}

static spot_status positives_cpu(spot_ctx *c, int problems, const spot_positives *all)
{
#pragma omp parallel for num_threads(c->threads)
    for (int p = 0; p < problems; p++) {
        const spot_ec *ec = all[p].ec;
        uint32_t *index = all[p].index;
        int bit = spot_scene_label_bit(ec);

        for (uint32_t i = 0; i < (uint32_t)ec->images[all[p].split]; i++)
            if (spot_scene_label(ec->seed, ec->index, all[p].split, i, bit)) *index++ = i;
    }
    return SPOT_OK;
}

static spot_status shuffle_cpu(spot_ctx *c, int problems, const spot_shuffle *s)
{
#pragma omp parallel for num_threads(c->threads)
    for (int p = 0; p < problems; p++) {
        spot_rng r = spot_rng_at(s[p].seed, SPOT_RNG_SHUFFLE, s[p].ec, s[p].epoch);
        spot_rng_shuffle(&r, s[p].order, s[p].n);
    }
    return SPOT_OK;
}

const spot_sample_ops spot_sample_cpu = { .images = images_cpu, .positives = positives_cpu, .shuffle = shuffle_cpu };

/* Checks every number of the EC that is used as an array index. */
static spot_status check_ec(spot_ctx *c, const spot_ec *ec, spot_split split, int problem)
{
    bool sane = ec && (unsigned)split < SPOT_SPLITS && ec->scene.size >= SPOT_MIN_SIZE && ec->scene.size <= SPOT_MAX_SIZE &&
                ec->extras >= 0 && ec->extras <= SPOT_EXTRAS && ec->blindspot_count >= 0 &&
                ec->blindspot_count <= SPOT_MAX_BLINDSPOTS && ec->images[split] >= 0 &&
                (ec->targets == 1 || ec->targets == ec->rollable_count + 1);

    if (sane) return SPOT_OK;
    return spot_fail(c, SPOT_INVALID, "{sample.ec} sample: problem %d has no EC and split as spot_ec_draw or spot_ec_base make "
                     "them", problem);
}

spot_status spot_sample_images(spot_ctx *c, int problems, const spot_sample *s)
{
    spot_geometry g;

    for (int p = 0; p < problems; p++) {
        SPOT_TRY(check_ec(c, s[p].ec, s[p].split, p));
        if (s[p].n < 0) return spot_fail(c, SPOT_INVALID, "{sample.images} sample: problem %d asks for %d images", p, s[p].n);
        const spot_scene_config *scene = &s[p].ec->scene, *first = &s[0].ec->scene;
        if (scene->size != first->size || scene->text_alternative != first->text_alternative)
            return spot_fail(c, SPOT_INVALID, "{sample.mixed} sample: problem %d draws on %d pixels a side, the first on %d, "
                             "or their text alternatives differ; call once for each", p, scene->size, first->size);
    }
    if (problems < 1) return SPOT_OK;
    g = spot_geometry_of(&s[0].ec->scene);
    SPOT_DISPATCH(c, sample, images, problems, s, &g);
}

spot_status spot_sample_positives(spot_ctx *c, int problems, const spot_positives *p)
{
    for (int i = 0; i < problems; i++) {
        SPOT_TRY(check_ec(c, p[i].ec, p[i].split, i));
        if (!p[i].index && p[i].ec->images[p[i].split])
            return spot_fail(c, SPOT_INVALID, "{sample.positives} sample: problem %d has no room for its positives", i);
    }
    SPOT_DISPATCH(c, sample, positives, problems, p);
}

spot_status spot_sample_shuffle(spot_ctx *c, int problems, const spot_shuffle *s)
{
    for (int p = 0; p < problems; p++)
        if (s[p].n > INT32_MAX || (s[p].n && !s[p].order))
            return spot_fail(c, SPOT_INVALID, "{sample.order} sample: problem %d asks for the order of %u images; it needs an "
                             "array, and at most 2^31 - 1 images", p, s[p].n);
    SPOT_DISPATCH(c, sample, shuffle, problems, s);
}
