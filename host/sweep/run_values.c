/* run_values.c - reads the cache of a run (spotter/sweep.h); and spot_sweep_view, which can also run a model of the cache. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ops.h"
#include "models/encoder_look.h"
#include "spotter/sweep.h"
#include "store/embedding.h"
#include "sweep/encoder_view.h"
#include "sweep/network_view.h"
#include "sweep/pipeline.h"

struct spot_run_values {
    const spot_config *cfg;
    spot_identity id;
    spot_store    store;
};

/* Keys contain the name of the device that computed the value. */
static const char *const devices[] = { "cpu", "cuda" };
enum { DEVICES = sizeof devices / sizeof *devices };

typedef spot_key key_maker(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec);

static spot_key key_on(const char *device, const spot_run_values *m, uint32_t ec, key_maker *of)
{
    const spot_ops named = { .name = device };
    const spot_ctx as = { .ops = &named };

    return of(&as, &m->id, m->cfg, ec);
}

static spot_status open_cache(spot_ctx *c, spot_run_values *v, const char *dir, const spot_config *cfg,
                              const spot_photos *photos)
{
    *v = (spot_run_values){ .cfg = cfg };
    SPOT_TRY(spot_identify(c, &v->id, cfg, photos));
    return spot_store_open_to_read(c, &v->store, dir);
}

spot_status spot_run_values_open(spot_ctx *c, spot_run_values **v, const char *dir, const spot_config *cfg,
                                 const spot_photos *photos)
{
    *v = calloc(1, sizeof **v);
    if (!*v) return spot_fail(c, SPOT_NOMEM, "no memory to read the cache of %s", dir);
    return open_cache(c, *v, dir, cfg, photos);
}

void spot_run_values_close(spot_run_values *v) { free(v); }

/* Features of the classifier and of a file, the map, the rows of all hypotheses, and principal components. */
size_t spot_run_values_needs(const spot_run_values *m, int rows)
{
    const spot_bdm_config principal = spot_bdm_defaults(SPOT_PLANESPOT);
    int d = spot_model_features(m->cfg->model.arch, m->cfg->model.width);
    size_t n = (size_t)rows + 64, numbers = (size_t)d;

    for (int b = 0; b < m->cfg->bdms; b++)
        if (m->cfg->bdm[b].representation == SPOT_BY_FILE) {
            spot_ctx quiet = { 0 };
            int columns = 0;
            if (spot_embedding_columns(&quiet, &columns, m->cfg->bdm[b].embeddings) == SPOT_OK && (size_t)columns > numbers)
                numbers = (size_t)columns;
        }
    return n * (2 * numbers + (size_t)d + 3 * SPOT_MAX_HYPOTHESES + 64) * sizeof(float) +
           spot_embed_bytes(1, &rows, d, &principal.embed, 1) + (1 << 20);
}

spot_status spot_run_values_view(spot_ctx *c, spot_arena *a, const spot_run_values *m, uint32_t ec, spot_view *view,
                                 spot_truth *truth, bool *found)
{
    spot_seen seen;

    *found = false;
    for (int i = 0; i < DEVICES && !*found; i++)
        SPOT_TRY(spot_recall(c, a, &m->store, key_on(devices[i], m, ec, spot_key_of_model), spot_classifier.view,
                             spot_pack_seen, &seen, found));
    if (*found) {
        *view = seen.view;
        *truth = seen.truth;
    }
    return SPOT_OK;
}

/* The key of the features that a method looks at, on a device; false if the features are in a file that is gone. */
static bool features_key(const spot_run_values *m, uint32_t ec, const char *device, const spot_bdm_config *cfg, spot_key *key)
{
    spot_key content;

    *key = key_on(device, m, ec, cfg->representation == SPOT_BY_ROBUST ? spot_key_of_robust : spot_key_of_model);
    if (cfg->representation == SPOT_BY_CLIP) *key = spot_key_of_features(*key, key_on(device, m, ec, spot_key_of_clip));
    if (cfg->representation == SPOT_BY_ATTRIBUTES) *key = spot_key_of_attributes(*key);
    if (cfg->representation != SPOT_BY_FILE) return true;
    if (!spot_embedding_content(&content, cfg->embeddings, (int)ec)) return false;
    *key = spot_key_of_features(*key, content);
    return true;
}

/* The first method that reduces the classifier's features as `map` does; -1: none. */
static int method_of(const spot_config *cfg, const spot_bdm_config *map)
{
    const spot_key key = spot_key_of_reduction(map);

    for (int b = 0; b < cfg->bdms; b++) {
        const spot_key other = spot_key_of_reduction(&cfg->bdm[b]);
        if (key.hi == other.hi && key.lo == other.lo && cfg->bdm[b].representation == SPOT_BY_MODEL) return b;
    }
    return -1;
}

spot_status spot_run_values_found(spot_ctx *c, spot_arena *a, const spot_run_values *m, uint32_t ec, const spot_view *view,
                                  int b, spot_drawn_finding *f)
{
    const spot_bdm_config on = spot_method_picture_map(m->cfg, b);
    const spot_seed seed = { m->cfg->seed, ec };
    spot_key key;
    bool mapped = false;
    spot_status s;

    f->is_kept = false;
    f->map = (spot_points){ 0 };
    f->of = method_of(m->cfg, &on);
    for (int i = 0; i < DEVICES && !f->is_kept; i++) {
        if (!features_key(m, ec, devices[i], &m->cfg->bdm[b], &key)) continue;
        key = spot_key_of_found(spot_key_of_points(key, &m->cfg->bdm[b]), &m->cfg->bdm[b]);
        SPOT_TRY(spot_recall(c, a, &m->store, key, "found", spot_pack_found, f->found, &f->is_kept));
    }
    for (int i = 0; i < DEVICES && f->is_kept && !mapped; i++)
        SPOT_TRY(spot_recall(c, a, &m->store, spot_key_of_points(key_on(devices[i], m, ec, spot_key_of_model), &on), "points",
                             spot_pack_points, &f->map, &mapped));
    if (!f->is_kept || mapped || on.embed.method != SPOT_REDUCE_PCA) return SPOT_OK;
    s = spot_embed_fit(c, a, 1, &f->map, view, &seed, &on.embed);
    if (s == SPOT_OK || !spot_is_verdict(s)) return s;
    spot_forget(c);
    f->map = (spot_points){ 0 };
    return SPOT_OK;
}

/* ---- spotter/sweep.h ---- */

static spot_status find_view(spot_ctx *c, spot_arena *a, const spot_run_values *m, const char *device, const spot_ec *ec,
                             spot_split split, bool robust, spot_seen *seen, bool *found)
{
    const spot_network *net = robust ? &spot_robust : &spot_classifier;
    spot_key key = key_on(device, m, ec->index, robust ? spot_key_of_robust : spot_key_of_model);
    spot_model model;

    if (split == SPOT_TEST) {
        SPOT_TRY(spot_recall(c, a, &m->store, key, net->view, spot_pack_seen, seen, found));
        if (*found) return SPOT_OK;
    }
    SPOT_TRY(spot_recall(c, a, &m->store, key, net->model, spot_pack_model, &model, found));
    return *found ? spot_model_look(c, a, &seen->view, &seen->truth, &model, ec, split, &m->cfg->model) : SPOT_OK;
}

/* Puts the encoder's features in the place of the classifier's. Those of test are in the cache; others are computed. */
static spot_status put_clip_features(spot_ctx *c, spot_arena *a, const spot_run_values *m, const spot_ec *ec, spot_split split,
                                     spot_view *view)
{
    spot_encoder *encoder = NULL;
    bool found = false;
    spot_status s;

    for (int i = 0; i < DEVICES && split == SPOT_TEST && !found; i++)
        SPOT_TRY(spot_encoder_view_recall(c, a, &m->store, key_on(devices[i], m, ec->index, spot_key_of_clip), view, &found));
    if (found) return SPOT_OK;
    SPOT_TRY(spot_sweep_encoder_open(c, &encoder, m->cfg));
    view->d = spot_encoder_about(encoder)->dim;
    view->head = view->device_feature = NULL;
    s = SPOT_TAKE(c, a, view->feature, (size_t)view->n * (size_t)view->d);
    if (!s) s = spot_encoder_look(c, a, encoder, view->feature, ec, split);
    spot_encoder_close(c, encoder);
    return s;
}

static spot_status missing_view(spot_ctx *c, const char *dir, const spot_ec *ec, spot_split split, bool robust)
{
    const char *which = robust ? "robust " : "";
    char path[1200];

    spot_segment_path(path, sizeof path, dir, (int)ec->index);
    if (access(path, F_OK))
        return spot_fail(c, SPOT_INPUT, "{view.missing} EC %u of %s has no %sview yet; a sweep into that directory makes it",
                         ec->index, dir, which);
    return spot_fail(c, SPOT_INPUT, "EC %u of %s is done, but the cache has no longer its %snetwork%s (sweep --keep, or merge "
                     "without --cache); remove %.900s, and the sweep trains it again", ec->index, dir, which,
                     split == SPOT_TEST ? " nor its view" : ", which other splits than test need", path);
}

spot_status spot_sweep_view(spot_ctx *c, spot_arena *a, const char *dir, const spot_config *cfg, const spot_ec *ec,
                            spot_split split, int representation, spot_view *view, spot_truth *truth)
{
    const bool robust = representation == SPOT_BY_ROBUST, clip = representation == SPOT_BY_CLIP;
    spot_run_values m;
    spot_seen seen;
    bool found = false;

    if (representation == SPOT_BY_FILE)
        return spot_fail(c, SPOT_INVALID, "the features of files are in the files, not in the run");
    if (representation == SPOT_BY_ATTRIBUTES)
        return spot_fail(c, SPOT_INVALID, "the attributes of an EC's images are in the table of spotter scene, not in the run");
    if (clip && !spot_wants_clip(cfg))
        return spot_fail(c, SPOT_INPUT,
                         "{view.no_encoder} no method of %s looks with an encoder (representation: clip), so it has none", dir);
    SPOT_TRY(open_cache(c, &m, dir, cfg, ec->photos));
    for (int i = 0; i < DEVICES && !found; i++)
        SPOT_TRY(find_view(c, a, &m, devices[i], ec, split, robust, &seen, &found));
    if (!found && robust && !spot_wants_robust(cfg))
        return spot_fail(c, SPOT_INPUT, "{view.no_robust} no method of %s asks for a robust network (representation: robust), "
                         "so it has none", dir);
    if (!found) return missing_view(c, dir, ec, split, robust);
    if (clip) SPOT_TRY(put_clip_features(c, a, &m, ec, split, &seen.view));
    *view = seen.view;
    *truth = seen.truth;
    return SPOT_OK;
}

spot_status spot_sweep_network(spot_ctx *c, spot_arena *a, const char *dir, const spot_config *cfg, const spot_ec *ec,
                               spot_model *m)
{
    spot_run_values v;
    bool found = false;

    SPOT_TRY(open_cache(c, &v, dir, cfg, ec->photos));
    for (int i = 0; i < DEVICES && !found; i++)
        SPOT_TRY(spot_recall(c, a, &v.store, key_on(devices[i], &v, ec->index, spot_key_of_model), spot_classifier.model,
                             spot_pack_model, m, &found));
    return found ? SPOT_OK : missing_view(c, dir, ec, SPOT_VAL, false);
}

spot_status spot_sweep_view_needs(spot_ctx *c, size_t *bytes, const spot_config *cfg, const spot_scene_config *scene, int rows,
                                  int representation)
{
    spot_encoder_info about;
    spot_bytes needs;

    SPOT_TRY(spot_model_needs(c, &needs, scene, &cfg->model, rows, false));
    *bytes = needs.host;
    if (representation != SPOT_BY_CLIP || !spot_wants_clip(cfg)) return SPOT_OK;
    SPOT_TRY(spot_encoder_describe(c, &about, &cfg->encoder));
    SPOT_TRY(spot_encoder_look_needs(c, &needs, &about, scene->size, rows));
    *bytes += needs.host + spot_arena_room((size_t)rows * (size_t)about.dim * sizeof(float));
    return SPOT_OK;
}
