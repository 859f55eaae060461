/* matrices.c - see matrices.h. A second problem has a random 90 % of the targets, for the sensitivity. */
#include "background/look/matrices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/twin.h"
#include "map/rbf.h"
#include "spotter/verdict.h"

typedef struct {
    spot_twin distance[2], signal, value[2], count[2], left_out[2];
    spot_rbf_problem p[2];
    spot_rbf_config  cfg;
    spot_arena host, device, scratch;
} matrices_work;

/* Both problems look at distances: 0 for the original, NaN for targets left out. */
static spot_status fill_distances(spot_ctx *c, matrices_work *w, const spot_background_suite *s, uint64_t seed)
{
    const size_t images = (size_t)s->n + 1;
    unsigned char *kept = malloc((size_t)s->targets + 1);

    if (!kept) return spot_fail(c, SPOT_NOMEM, "no memory for the matrices of %d targets", s->targets);
    spot_variance_part(kept, s->targets, (spot_seed){ seed, 0 });
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < s->targets; t++) {
            float *row = (float *)w->distance[k].here + (size_t)t * images;
            for (int j = 0; j <= s->n; j++) {
                row[j] = j ? s->distance[(size_t)t * (size_t)s->n + (size_t)j - 1] : 0;
                if (k && !kept[t]) row[j] = NAN;
            }
        }
    free(kept);
    return SPOT_OK;
}

static spot_status take_arrays(spot_ctx *c, matrices_work *w, const spot_background_suite *s, int signals, int grid)
{
    const size_t images = (size_t)s->targets * ((size_t)s->n + 1), cells = (size_t)grid * (size_t)grid;

    SPOT_TRY(spot_twin_take(c, &w->host, &w->device, &w->signal, images * (size_t)signals * sizeof(float)));
    for (int k = 0; k < 2; k++) {
        SPOT_TRY(spot_twin_take(c, &w->host, &w->device, &w->distance[k], images * sizeof(float)));
        SPOT_TRY(spot_twin_take(c, &w->host, &w->device, &w->value[k], cells * (size_t)signals * sizeof(float)));
        SPOT_TRY(spot_twin_take(c, &w->host, &w->device, &w->count[k], cells * sizeof(int)));
        SPOT_TRY(spot_twin_take(c, &w->host, &w->device, &w->left_out[k], SPOT_RBF_REASONS * sizeof(int)));
        w->p[k] = (spot_rbf_problem){ s->targets, s->n + 1, signals, s->range, w->distance[k].on_device, w->signal.on_device,
                                      w->value[k].on_device, w->count[k].on_device, w->left_out[k].on_device };
    }
    return SPOT_OK;
}

static spot_status open_arrays(spot_ctx *c, matrices_work *w, const spot_background_suite *s, int signals, int grid)
{
    w->host = w->device = spot_arena_counting();
    SPOT_TRY(take_arrays(c, w, s, signals, grid));
    SPOT_TRY(spot_arena_open(c, &w->host, w->host.peak));
    if (c->device) SPOT_TRY(spot_arena_open_device(c, &w->device, w->device.peak));
    SPOT_TRY(take_arrays(c, w, s, signals, grid));
    return spot_arena_open_device(c, &w->scratch, spot_rbf_scratch(&w->cfg, 2, w->p, c->device ? 0 : c->threads));
}

static spot_status compute(spot_ctx *c, matrices_work *w)
{
    SPOT_TRY(spot_twin_push(c, &w->signal));
    for (int k = 0; k < 2; k++) SPOT_TRY(spot_twin_push(c, &w->distance[k]));
    SPOT_TRY(spot_rbf_matrices(c, &w->scratch, &w->cfg, 2, w->p));
    for (int k = 0; k < 2; k++) {
        SPOT_TRY(spot_twin_pull(c, &w->value[k]));
        SPOT_TRY(spot_twin_pull(c, &w->count[k]));
        SPOT_TRY(spot_twin_pull(c, &w->left_out[k]));
    }
    return SPOT_OK;
}

static spot_status store(spot_ctx *c, const matrices_work *w, spot_background_responses *r, spot_background_result *u,
                         int signals)
{
    const size_t cells = (size_t)r->grid * (size_t)r->grid;
    const float *value = w->value[0].here, *part = w->value[1].here;
    const int *count = w->count[0].here, *out = w->left_out[0].here;

    memcpy(r->matrix, value, cells * (size_t)signals * sizeof *value);
    for (size_t i = 0; i < cells; i++) r->weight[i] = (float)count[i];
    u->left_out = out[0] + out[1] + out[2];
    for (int k = 0; k < signals; k++) {
        if (!isfinite(value[(size_t)k * cells])) continue;         /* no point at all: features stay NaN */
        SPOT_TRY(spot_variance_features(c, u->feature[k], value + (size_t)k * cells, part + (size_t)k * cells, r->grid));
    }
    return SPOT_OK;
}

spot_status spot_background_matrices(spot_ctx *c, spot_background_responses *r, spot_background_result *u,
                                     const spot_background_suite *s, const spot_background_config *cfg)
{
    const spot_background_measure *m = &cfg->measure;
    const size_t images = (size_t)s->targets * ((size_t)s->n + 1);
    matrices_work w = { .cfg = { m->grid, m->kernel, m->neighbours, (float)m->sigma,
                                m->exact ? SPOT_RBF_EXACT : SPOT_RBF_BINNED } };
    int signals = 0;
    spot_status how;

    while (signals < SPOT_BACKGROUND_MATRICES && u->has[signals]) signals++;
    how = open_arrays(c, &w, s, signals, m->grid);
    if (how == SPOT_OK) how = fill_distances(c, &w, s, cfg->suite.seed);
    if (how == SPOT_OK) memcpy(w.signal.here, r->signal, images * (size_t)signals * sizeof(float));
    if (how == SPOT_OK) how = compute(c, &w);
    if (how == SPOT_OK) how = store(c, &w, r, u, signals);
    spot_arena_close(&w.scratch), spot_arena_close(&w.device), spot_arena_close(&w.host);
    return how;
}
