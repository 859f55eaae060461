/* run_view.c - what a run's networks saw, for those who want it outside of a sweep. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "core/ops.h"
#include "sweep/network_view.h"

/* A store that another device filled has keys with its name. */
static const char *const devices[] = { "cpu", "cuda" };

typedef struct {
    const spot_store *store;
    const spot_network *net;
    spot_key key;
} place;

static spot_status see(spot_ctx *c, spot_arena *a, const place *at, const spot_config *cfg, const spot_ec *ec, spot_split split,
                       spot_seen *seen, bool *there)
{
    spot_model m;

    if (split == SPOT_TEST) {
        SPOT_TRY(spot_recall(c, a, at->store, at->key, at->net->view, spot_pack_seen, seen, there));
        if (*there) return SPOT_OK;
    }
    SPOT_TRY(spot_recall(c, a, at->store, at->key, at->net->model, spot_pack_model, &m, there));
    return *there ? spot_model_look(c, a, &seen->view, &seen->truth, &m, ec, split, &cfg->model) : SPOT_OK;
}

static spot_status is_missing(spot_ctx *c, const char *dir, const spot_ec *ec, spot_split split, bool robust)
{
    const char *which = robust ? "robust " : "";
    char path[1200];

    spot_segment_path(path, sizeof path, dir, (int)ec->index);
    if (access(path, F_OK))
        return spot_fail(c, SPOT_INPUT, "EC %u of %s has no %sview yet; a sweep into that directory makes it", ec->index, dir,
                         which);
    return spot_fail(c, SPOT_INPUT, "EC %u of %s is done, but the cache has no longer its %snetwork%s (sweep --keep, or merge "
                     "without --cache); remove %.900s, and the sweep trains it anew", ec->index, dir, which,
                     split == SPOT_TEST ? " nor its view" : ", which is what looks at other splits than test", path);
}

spot_status spot_sweep_view(spot_ctx *c, spot_arena *a, const char *dir, const spot_config *cfg, const spot_ec *ec,
                            spot_split split, bool robust, spot_view *view, spot_truth *truth)
{
    spot_identity id;
    spot_store store;
    spot_seen seen;
    bool there = false;

    SPOT_TRY(spot_identify(c, &id, cfg, ec->photos));
    SPOT_TRY(spot_store_open_to_read(c, &store, dir));
    for (size_t i = 0; i < sizeof devices / sizeof *devices && !there; i++) {
        const spot_ops named = { .name = devices[i] };
        const spot_ctx as = { .ops = &named };
        place at = { &store, robust ? &spot_robust : &spot_classifier,
                     robust ? spot_key_of_robust(&as, &id, cfg, ec->index) : spot_key_of_model(&as, &id, cfg, ec->index) };
        SPOT_TRY(see(c, a, &at, cfg, ec, split, &seen, &there));
    }
    if (!there && robust && !spot_wants_robust(cfg))
        return spot_fail(c, SPOT_INPUT, "no method of %s asks for a robust network (representation: robust), so it has none",
                         dir);
    if (!there) return is_missing(c, dir, ec, split, robust);
    *view = seen.view;
    *truth = seen.truth;
    return SPOT_OK;
}
