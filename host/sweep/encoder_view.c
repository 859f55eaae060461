/* encoder_view.c - see encoder_view.h. The features of an EC do not depend on its model, and all methods share them. */
#define _POSIX_C_SOURCE 200809L
#include "sweep/encoder_view.h"

#include <math.h>
#include <sys/stat.h>

#include "base/room.h"
#include "core/ops.h"
#include "models/encoder_look.h"

spot_status spot_sweep_encoder_open(spot_ctx *c, spot_encoder **e, const spot_config *cfg)
{
    const char *whose;
    struct stat st;
    size_t left;

    *e = NULL;
    if (!spot_wants_clip(cfg)) return SPOT_OK;
    left = spot_room_of_memory("", &whose);
    if (!stat(cfg->encoder.weights, &st) && st.st_size > 0 && (size_t)st.st_size > left)
        return spot_fail(c, SPOT_NOMEM, "encoder.weights: %s has %.2f GB and %s leaves %.2f GB of memory", cfg->encoder.weights,
                         st.st_size / 1e9, whose, left / 1e9);
    return spot_encoder_open_config(c, e, &cfg->encoder);
}

spot_status spot_encoder_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, const spot_ec *ec)
{
    spot_points x = { .n = spot_ec_positives(NULL, ec, SPOT_TEST), .d = spot_encoder_about(run->encoder)->dim,
                      .objective = NAN };
    double since = spot_clock();
    spot_status s;

    if (spot_store_has(&run->store, key, SPOT_ENCODED)) {
        spot_points kept;
        size_t mark = a->used;
        bool found;
        SPOT_TRY(spot_recall(c, a, &run->store, key, SPOT_ENCODED, spot_pack_points, &kept, &found));
        a->used = mark;
        if (found && kept.n == x.n && kept.d == x.d) return SPOT_OK;
    }
    SPOT_TRY(SPOT_TAKE(c, a, x.at, (size_t)x.n * (size_t)x.d));
    spot_range_begin(c, "encode");
    s = spot_encoder_look(c, a, run->encoder, x.at, ec, SPOT_TEST);
    spot_range_end(c);
    SPOT_TRY(s);
    SPOT_TRY(spot_keep(c, &run->store, key, SPOT_ENCODED, spot_pack_points, &x));
    spot_run_log_kept(&run->run_log, SPOT_ENCODED, (int)ec->index, spot_clock() - since, NULL);
    return spot_check_stop(c);
}

spot_status spot_encoder_view_recall(spot_ctx *c, spot_arena *a, const spot_store *s, spot_key key, spot_view *view,
                                     bool *found)
{
    spot_points x;

    SPOT_TRY(spot_recall(c, a, s, key, SPOT_ENCODED, spot_pack_points, &x, found));
    *found = *found && x.n == view->n;
    if (!*found) return SPOT_OK;
    view->feature = x.at;
    view->d = x.d;
    view->head = NULL;
    view->device_feature = NULL;
    return SPOT_OK;
}
