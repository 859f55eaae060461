/* claim_scenes.c - new images of an EC that have the attributes of a claim, and others that lack them. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "claims/claim_scenes.h"
#include "claims/measure.h"
#include "models/idle_cores.h"
#include "spotter/sweep.h"
#include "store/store.h"
#include "worlds/scene_files.h"

enum { SCENES_BATCH = 64 };

/* ---- the EC ---- */

spot_status spot_claim_scenes_open(spot_ctx *c, spot_claim_scenes *k, int ec)
{
    SPOT_TRY(spot_source_open(c, &k->source, k->cfg));
    if (ec >= k->cfg->ecs)
        return spot_fail(c, SPOT_USAGE, "there is no EC %d: %s has %d, from 0", ec, k->run, k->cfg->ecs);
    if (k->source.photos)
        return spot_fail(c, SPOT_USAGE, "the ECs of %s have pictures from files, and new ones cannot be drawn; gather them "
                         "from a folder with --images", k->run);
    return spot_source_ec(c, &k->ec, &k->source, (uint32_t)ec);
}

void spot_claim_scenes_close(spot_ctx *c, spot_claim_scenes *k)
{
    spot_source_close(&k->source);
    spot_look_pixels_close(c, &k->network);
}

/* ---- its images ---- */

static spot_status read_attributes(spot_ctx *c, spot_triplet *t, int *n, const spot_slice_claim *k)
{
    spot_blindspot own;

    for (*n = 0; *n < k->items; ++*n)
        if (!spot_triplet_read(&t[*n], k->item[*n]))
            return spot_fail(c, SPOT_INPUT, "slice %d of %s is described by \"%s\", which is no attribute of scenes; were its "
                             "attributes those of spotter view --images?", k->slice, k->found, k->item[*n]);
    if (k->items) return SPOT_OK;
    if (!spot_blindspot_read(&own, k->text))
        return spot_fail(c, SPOT_USAGE, "\"%s\" are no attributes of scenes, such as \"square above, circle blue, no text\"",
                         k->text);
    memcpy(t, own.triplet, (size_t)own.len * sizeof *t);
    *n = own.len;
    return SPOT_OK;
}

static spot_status draw_picture(spot_ctx *c, spot_new_pictures *p, const char *dir, const spot_ec *ec, uint32_t index,
                                int group, uint8_t *rgb)
{
    spot_image image;
    char file[32];

    SPOT_TRY(spot_check_stop(c));
    SPOT_TRY(spot_scene_picture(c, dir, ec, SPOT_TEST, index, &image, rgb, file));
    p->row[p->n] = (spot_new_picture){ strdup(file), group, NAN, -1, NULL };
    return p->row[p->n++].picture ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a picture's name");
}

static spot_status draw_all(spot_ctx *c, spot_new_pictures *p, const char *dir, const spot_ec *ec, const uint32_t *index,
                            const int found[2], int most)
{
    const size_t bytes = (size_t)ec->scene.size * (size_t)ec->scene.size * 3;
    uint8_t *rgb = malloc(bytes);
    spot_status s = rgb ? spot_new_pictures_take(c, p, found[0] + found[1])
                        : spot_fail(c, SPOT_NOMEM, "no memory for an image of %zu bytes", bytes);

    for (int g = 0; g < 2 && !s; g++)
        for (int i = 0; i < found[g] && !s; i++) s = draw_picture(c, p, dir, ec, index[g * most + i], g, rgb);
    free(rgb);
    return s;
}

spot_status spot_claim_scenes_draw(spot_ctx *c, spot_new_pictures *p, const spot_claim_scenes *k, const spot_slice_claim *claim,
                                   int most, int seed)
{
    const int label = !strcmp(claim->cls, "1");
    spot_triplet t[SPOT_MAX_TRIPLETS];
    spot_drawn_images d;
    uint32_t *index;
    int n;
    spot_ec renewed;
    spot_status s;

    if (!label && strcmp(claim->cls, "0"))
        return spot_fail(c, SPOT_USAGE, "the images of an EC have class 1, a square, or 0; not \"%s\"", claim->cls);
    SPOT_TRY(read_attributes(c, t, &n, claim));
    SPOT_TRY(spot_ec_renew(c, &renewed, &k->ec, (uint32_t)seed));
    index = malloc(2 * (size_t)most * sizeof *index);
    if (!index) return spot_fail(c, SPOT_NOMEM, "no memory for %d images", most);
    d = (spot_drawn_images){ .with = index, .without = index + most };
    s = spot_images_with(c, &d, most, &renewed, label, t, n);
    for (int g = 0; g < 2 && !s; g++)
        if (!d.found[g])
            s = spot_fail(c, SPOT_INPUT, "of %d images of EC %u with class %d %s has \"%s\": there is nothing to compare",
                          SPOT_DRAWS, k->ec.index, label, g ? "each" : "none", claim->text);
        else if (d.found[g] < most)
            spot_log(c, SPOT_LOG_WARN, "%d of %d wanted %s are among %d images of EC %u", d.found[g], most,
                     g ? "controls" : "images", SPOT_DRAWS, k->ec.index);
    if (!s) s = spot_folder_make(c, claim->root);
    if (!s) s = draw_all(c, p, claim->root, &renewed, index, d.found, most);
    free(index);
    return s;
}

/* ---- its network ---- */

static spot_status infer(spot_ctx *c, void *user, const spot_prediction *p)
{
    spot_claim_scenes *k = user;

    return spot_look_pixels_run(c, &k->network, p->logit, NULL, NULL, p->rgb, p->n);
}

spot_status spot_claim_scenes_network(spot_ctx *c, spot_claim_scenes *k, spot_predictor_options *o)
{
    const spot_look_rule rule = { .size = k->ec.scene.size, .pictures = SCENES_BATCH };
    spot_arena weights;
    spot_model m;
    size_t bytes;
    spot_status s;

    SPOT_TRY(spot_sweep_view_needs(c, &bytes, k->cfg, &k->source.scene, 1, SPOT_BY_MODEL));
    SPOT_TRY(spot_arena_open(c, &weights, bytes));
    s = spot_sweep_network(c, &weights, k->run, k->cfg, &k->ec, &m);
    if (!s) s = spot_look_pixels_open(c, &k->network, &m, &rule);
    spot_arena_close(&weights);
    SPOT_TRY(s);
    spot_warn_of_fp32_alone(c, "the networks of a sweep that new images are shown to");
    *o = (spot_predictor_options){ .kind = SPOT_PREDICTOR_FUNCTION, .function = infer, .user = k,
                                   .outputs = k->network.net.s.outputs, .batch = SCENES_BATCH };
    return SPOT_OK;
}
