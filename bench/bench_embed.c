/* bench_embed.c - the reducers on ten Gaussian blobs. Peers: bench/peers/tsne_sklearn.py, bench/peers/scvis_torch.py. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "spotter/embed.h"
#include "spotter/rng.h"

enum { CENTRES = 10 };

typedef struct {
    spot_view view;
    spot_embed_config cfg;
    spot_points points;
    spot_arena arena;
} bench;

static void close_bench(void *state)
{
    bench *b = state;

    if (!b) return;
    spot_arena_close(&b->arena);
    free(b->view.feature);
    free(b);
}

/* n x d: centres about 6 sqrt(d) apart, unit noise around them. */
static spot_status open_bench(spot_ctx *c, void **state, int method, int n, int d)
{
    bench *b = calloc(1, sizeof *b);
    spot_rng r = spot_rng_at(1, SPOT_RNG_PCA, 0, 1);

    *state = b;
    if (!b || !(b->view.feature = malloc((size_t)n * d * sizeof *b->view.feature)))
        return spot_fail(c, SPOT_NOMEM, "no memory for %d x %d features", n, d);
    b->view.n = n;
    b->view.d = d;
    for (int i = 0; i < n; i++) {
        spot_rng centre = spot_rng_at(1, SPOT_RNG_PCA, 1, (uint32_t)(i % CENTRES));
        for (int k = 0; k < d; k++)
            b->view.feature[(size_t)i * d + k] = (float)(4 * spot_rng_normal(&centre) + spot_rng_normal(&r));
    }
    b->cfg = spot_embed_defaults();
    b->cfg.method = method;
    b->cfg.scvis.iterations = 300;
    return spot_arena_open(c, &b->arena, spot_embed_bytes(1, &n, d, &b->cfg, c->threads));
}

static spot_status open_tsne(spot_ctx *c, void **state) { return open_bench(c, state, SPOT_REDUCE_TSNE, 3000, 512); }
static spot_status open_scvis(spot_ctx *c, void **state) { return open_bench(c, state, SPOT_REDUCE_SCVIS, 1600, 512); }
static spot_status open_pca(spot_ctx *c, void **state) { return open_bench(c, state, SPOT_REDUCE_PCA, 3000, 512); }

static spot_status run(spot_ctx *c, void *state)
{
    bench *b = state;
    spot_seed seed = { 1, 0 };

    b->arena.used = 0;
    return spot_embed_fit(c, &b->arena, 1, &b->points, &b->view, &seed, &b->cfg);
}

/* A map is right when points lie beside points of their own blob. PCA to two dimensions may lay blobs over each other. */
static spot_status check(spot_ctx *c, void *state)
{
    bench *b = state;
    const float *y;
    int right = 0, n = b->view.n;

    SPOT_TRY(run(c, state));
    y = b->points.at;
    for (int i = 0; i < n; i++) {
        int best = -1;
        float least = INFINITY;
        for (int j = 0; j < n; j++) {
            float u = y[2 * i] - y[2 * j], v = y[2 * i + 1] - y[2 * j + 1];
            if (j != i && u * u + v * v < least) least = u * u + v * v, best = j;
        }
        right += best >= 0 && best % CENTRES == i % CENTRES;
    }
    if (right < (b->cfg.method == SPOT_REDUCE_PCA ? 0.5 : 0.98) * n)
        return spot_fail(c, SPOT_CHECK, "%d of %d points lie beside one of their own blob", right, n);
    return SPOT_OK;
}

const spot_bench_row spot_bench_embed[] = {
    { "tsne", "3000x512, 1000 iterations", 1, "maps", open_tsne, check, run, close_bench },
    { "scvis", "1600x512, batch 512", 300, "iterations", open_scvis, check, run, close_bench },
    { "pca", "3000x512 to 2", 1, "maps", open_pca, check, run, close_bench },
    { 0 },
};
