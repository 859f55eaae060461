/* run_values.c - see run_values.h. */
#include "sweep/run_values.h"

#include <string.h>

#include "core/ops.h"
#include "store/embedding.h"
#include "sweep/network_view.h"
#include "sweep/pipeline.h"

/* A store that another device filled has keys with its name. */
static const char *const devices[] = { "cpu", "cuda" };
enum { DEVICES = sizeof devices / sizeof *devices };

static spot_key key_on(const char *device, const spot_memory *m, uint32_t ec, bool robust)
{
    const spot_ops named = { .name = device };
    const spot_ctx as = { .ops = &named };

    return robust ? spot_key_of_robust(&as, &m->id, m->cfg, ec) : spot_key_of_model(&as, &m->id, m->cfg, ec);
}

spot_status spot_memory_open(spot_ctx *c, spot_memory *m, const char *dir, const spot_config *cfg,
                             const struct spot_photos *photos)
{
    *m = (spot_memory){ .cfg = cfg };
    SPOT_TRY(spot_identify(c, &m->id, cfg, photos));
    return spot_store_open_to_read(c, &m->store, dir);
}

/* Features twice (a file's beside the classifier's), the map, rows of at most so many hypotheses, and principal components. */
size_t spot_memory_needs(const spot_memory *m, int rows)
{
    const spot_bdm_config principal = spot_bdm_defaults(SPOT_PLANESPOT);
    int d = 8 * m->cfg->model.width;
    size_t n = (size_t)rows + 64, numbers = (size_t)d;

    for (int b = 0; b < m->cfg->bdms; b++)
        if (m->cfg->bdm[b].representation == SPOT_BY_FILE) {
            spot_ctx quiet = { 0 };
            int columns = 0;
            if (spot_embedding_columns(&quiet, &columns, m->cfg->bdm[b].embeddings) == SPOT_OK && (size_t)columns > numbers)
                numbers = (size_t)columns;
        }
    return n * (2 * numbers + (size_t)d + 2 * SPOT_MAX_HYPOTHESES + 64) * sizeof(float) +
           spot_embed_bytes(1, &rows, d, &principal.embed, 1) + (1 << 20);
}

spot_status spot_memory_view(spot_ctx *c, spot_arena *a, const spot_memory *m, uint32_t ec, spot_seen *seen, bool *there)
{
    *there = false;
    for (int i = 0; i < DEVICES && !*there; i++)
        SPOT_TRY(spot_recall(c, a, &m->store, key_on(devices[i], m, ec, false), spot_classifier.view, spot_pack_seen, seen,
                             there));
    return SPOT_OK;
}

/* The key of the features that a method looks at, on a device; false where they are a file's that is gone. */
static bool features_key(const spot_memory *m, uint32_t ec, const char *device, const spot_bdm_config *cfg, spot_key *key)
{
    spot_key content;

    *key = key_on(device, m, ec, cfg->representation == SPOT_BY_ROBUST);
    if (cfg->representation != SPOT_BY_FILE) return true;
    if (!spot_embedding_content(&content, cfg->embeddings, (int)ec)) return false;
    *key = spot_key_of_features(*key, content);
    return true;
}

static int method_of(const spot_config *cfg, const spot_bdm_config *map)
{
    const spot_key key = spot_key_of_reduction(map);

    for (int b = 0; b < cfg->bdms; b++) {
        const spot_key other = spot_key_of_reduction(&cfg->bdm[b]);
        if (key.hi == other.hi && key.lo == other.lo && cfg->bdm[b].representation == SPOT_BY_MODEL) return b;
    }
    return -1;
}

spot_status spot_memory_found(spot_ctx *c, spot_arena *a, const spot_memory *m, uint32_t ec, const spot_seen *seen, int b,
                              spot_hypotheses *found, spot_points *map, int *of, bool *there)
{
    const spot_bdm_config on = spot_method_picture_map(m->cfg, b);
    const spot_seed seed = { m->cfg->seed, ec };
    spot_key key;
    bool mapped = false;
    spot_status s;

    *there = false;
    *map = (spot_points){ 0 };
    *of = method_of(m->cfg, &on);
    for (int i = 0; i < DEVICES && !*there; i++) {
        if (!features_key(m, ec, devices[i], &m->cfg->bdm[b], &key)) continue;
        key = spot_key_of_found(spot_key_of_points(key, &m->cfg->bdm[b]), &m->cfg->bdm[b]);
        SPOT_TRY(spot_recall(c, a, &m->store, key, "found", spot_pack_found, found, there));
    }
    for (int i = 0; i < DEVICES && *there && !mapped; i++)
        SPOT_TRY(spot_recall(c, a, &m->store, spot_key_of_points(key_on(devices[i], m, ec, false), &on), "points",
                             spot_pack_points, map, &mapped));
    if (!*there || mapped || on.embed.method != SPOT_REDUCE_PCA) return SPOT_OK;
    s = spot_embed_fit(c, a, 1, map, &seen->view, &seed, &on.embed);
    if (s == SPOT_OK || !spot_is_verdict(s)) return s;
    spot_forget(c);
    *map = (spot_points){ 0 };
    return SPOT_OK;
}
