/* retention.c - see retention.h. The segment holds the results; stage values only serve report pages and continued runs. */
#include "sweep/retention.h"

#include <inttypes.h>
#include <stdio.h>

#include "study/chain.h"
#include "sweep/encoder_view.h"
#include "sweep/network_view.h"

/* The key of the features that method b looked at. */
static spot_key features_key(const spot_run *run, const spot_segment *s, int b, spot_key model, spot_key robust, spot_key clip)
{
    spot_key content = { 0, 0 };

    if (run->cfg->bdm[b].representation == SPOT_BY_MODEL) return model;
    if (run->cfg->bdm[b].representation == SPOT_BY_ROBUST) return robust;
    if (run->cfg->bdm[b].representation == SPOT_BY_ATTRIBUTES) return spot_key_of_attributes(model);
    if (run->cfg->bdm[b].representation == SPOT_BY_CLIP) return spot_key_of_features(model, clip);
    sscanf(s->method[b].embedding, "%16" SCNx64 "%16" SCNx64, &content.hi, &content.lo);
    return spot_key_of_features(model, content);
}

static void drop_network(const spot_run *run, const spot_network *net, spot_key key)
{
    spot_store_drop(&run->store, key, net->model);
    if (run->keep == SPOT_KEEP_VIEWS) return;
    spot_store_drop(&run->store, key, net->lesson);
    spot_store_drop(&run->store, key, net->view);
}

/* The classifier's view is removed last: when it is gone, all other values are gone, too. */
void spot_keep_only(const spot_ctx *c, const spot_run *run, const spot_segment *s)
{
    const spot_config *cfg = run->cfg;
    spot_key model, robust, clip;

    if (run->keep == SPOT_KEEP_ALL) return;
    model = spot_key_of_model(c, &run->id, cfg, (uint32_t)s->index);
    robust = spot_key_of_robust(c, &run->id, cfg, (uint32_t)s->index);
    clip = spot_key_of_clip(c, &run->id, cfg, (uint32_t)s->index);
    if (run->keep == SPOT_KEEP_RESULTS && !spot_store_has(&run->store, model, spot_classifier.view)) return;
    for (int b = 0; b < s->methods && run->keep == SPOT_KEEP_RESULTS; b++) {
        const spot_bdm_config map = spot_method_picture_map(cfg, b);
        spot_key points = spot_key_of_points(features_key(run, s, b, model, robust, clip), &cfg->bdm[b]);
        spot_store_drop(&run->store, spot_key_of_found(points, &cfg->bdm[b]), "found");
        spot_store_drop(&run->store, points, "points");
        spot_store_drop(&run->store, spot_key_of_points(model, &map), "points");
    }
    if (spot_wants_clip(cfg) && run->keep == SPOT_KEEP_RESULTS) spot_store_drop(&run->store, clip, SPOT_ENCODED);
    if (spot_wants_robust(cfg)) drop_network(run, &spot_robust, robust);
    if (run->keep == SPOT_KEEP_RESULTS) spot_store_drop(&run->store, model, SPOT_NEGATIVES);
    drop_network(run, &spot_classifier, model);
}

/* Hypotheses count each row once, as clusters do. A segment takes 2 kB and 1.5 kB per method, a lesson 5 kB. */
double spot_keep_bytes(const spot_config *cfg, const int *features, int rows, spot_kept keep, double picture)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    int own = spot_model_features(cfg->model.arch, cfg->model.width), networks = 1 + spot_wants_robust(cfg);
    double model = 4.0 * (double)spot_model_layout(table, cfg->model.arch, cfg->model.width, 1), bytes = 2e3;

    for (int b = 0; b < cfg->bdms; b++) {
        const spot_bdm_config *bdm = &cfg->bdm[b];
        bytes += 1.5e3 + picture;
        if (keep == SPOT_KEEP_RESULTS) continue;
        bytes += 4.0 * rows * (spot_bdm_weighs(bdm->method) ? 1 + bdm->top : 1);
        if (!spot_embed_is_nothing(&bdm->embed) && !spot_has_points_before(cfg->bdm, b, false))
            bytes += 4.0 * rows * spot_embed_dim(&bdm->embed, rows, features[b]);
    }
    if (keep != SPOT_KEEP_RESULTS && cfg->metric.repair) bytes += 4.0 * rows * (own + 3);
    if (keep != SPOT_KEEP_RESULTS) bytes += networks * (5e3 + 4.0 * rows * (own + 3));
    if (keep != SPOT_KEEP_RESULTS) bytes += 4.0 * rows * spot_encoded_columns(cfg, features);
    if (keep == SPOT_KEEP_ALL) bytes += networks * model;
    return bytes;
}
