/* scvis.cu - scvis on CUDA, all problems in the same launches. The host enqueues steps; every POLL steps it checks for a
 * failed problem and for a stop request. */
#include "map/scvis_tiles.cuh"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "map/distance.h"

enum { TILE = SPOT_SCVIS_TILE, POLL = 50 };

static spot_scvis_now now_at(const spot_scvis_config *cfg, int step)
{
    double b1 = pow(SPOT_SCVIS_BETA1, step), b2 = pow(SPOT_SCVIS_BETA2, step);

    return { *cfg, cfg->compat.perplexity_log2 ? log2(cfg->perplexity) : log(cfg->perplexity), step,
             (float)(cfg->lr * sqrt(1 - b2) / (1 - b1)), cfg->compat.adam_eps ? 1e-3f : 1e-8f };
}

/* Takes the arrays of a step. net has its shape. */
static spot_status take_step(spot_ctx *c, spot_arena *a, spot_scvis_device *net)
{
    size_t rows = net->batch, d = net->d, dim = net->dim, tiles = spot_scvis_cut(net->batch, TILE);

    net->freedom = spot_scvis_plan(net->layer, net->d, net->dim);
    net->params = net->freedom + d;
    net->items = 1;
    for (int l = 0; l < SPOT_SCVIS_LAYERS; l++) {
        spot_scvis_layer *y = &net->layer[l];
        net->items += spot_scvis_tiles(y);
        SPOT_TRY(SPOT_TAKE(c, a, y->act, rows * y->out));
        if (l == MEAN || l == VARIANCE) y->delta = y->act;
        else SPOT_TRY(SPOT_TAKE(c, a, y->delta, rows * y->out));
    }
    SPOT_TRY(SPOT_TAKE(c, a, net->theta, net->params));
    SPOT_TRY(SPOT_TAKE(c, a, net->grad, net->params));
    SPOT_TRY(SPOT_TAKE(c, a, net->keep, 32 * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->dropped, 32 * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->x, rows * d));
    SPOT_TRY(SPOT_TAKE(c, a, net->noise, rows * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->z, rows * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->dz, rows * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->p, rows * rows));
    SPOT_TRY(SPOT_TAKE(c, a, net->both, rows * rows));
    SPOT_TRY(SPOT_TAKE(c, a, net->shares, rows));
    SPOT_TRY(SPOT_TAKE(c, a, net->weight, rows));
    SPOT_TRY(SPOT_TAKE(c, a, net->freedom_part, tiles * d));
    SPOT_TRY(SPOT_TAKE(c, a, net->nu, d));
    SPOT_TRY(SPOT_TAKE(c, a, net->log_norm, d));
    SPOT_TRY(SPOT_TAKE(c, a, net->nu_slope, d));
    SPOT_TRY(SPOT_TAKE(c, a, net->tile_part, 2 * tiles));
    SPOT_TRY(SPOT_TAKE(c, a, net->force_part, spot_scvis_cut(net->batch, SPOT_SCVIS_ROWS)));
    SPOT_TRY(SPOT_TAKE(c, a, net->item_part, 2 * (size_t)net->items));
    net->far_stride = net->gathered ? rows : (size_t)net->n;
    return SPOT_TAKE(c, a, net->far, net->far_stride * net->far_stride);
}

static spot_status take_training(spot_ctx *c, spot_arena *a, spot_scvis_device *net, const spot_scvis_problem *s,
                                 const spot_scvis_config *cfg)
{
    size_t n = s->n;

    *net = { s->n, s->d, s->dim, cfg->batch < s->n ? cfg->batch : s->n, s->iterations, s->seed, s->ec, s->x, s->map };
    net->gathered = s->n > SPOT_SCVIS_CACHED;
    net->at = s->n;
    SPOT_TRY(take_step(c, a, net));
    SPOT_TRY(SPOT_TAKE(c, a, net->input, n * s->d));
    SPOT_TRY(SPOT_TAKE(c, a, net->order, n));
    SPOT_TRY(SPOT_TAKE(c, a, net->row, net->batch));
    SPOT_TRY(SPOT_TAKE(c, a, net->m, net->params));
    return SPOT_TAKE(c, a, net->v, net->params);
}

static spot_status copy_async(spot_ctx *c, void *to, const void *from, size_t bytes)
{
    return spot_cuda_check(c, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, spot_cuda_stream(c)),
                           "scvis: copying %.1f MB", bytes / 1e6);
}

static spot_status clear_async(spot_ctx *c, float *x, size_t count)
{
    return spot_cuda_check(c, cudaMemsetAsync(x, 0, count * sizeof *x, spot_cuda_stream(c)), "scvis: clearing");
}

/* Squared distances of all rows, for problems that keep them, or (gathered) of the batches of larger problems. */
static spot_status launch_distances(spot_ctx *c, const spot_scvis_device *net, int problems, int gathered)
{
    spot_mat *x = (spot_mat *)malloc(2 * (size_t)problems * sizeof *x), *far;
    int n = 0;
    spot_status s;

    if (!x) return spot_fail(c, SPOT_NOMEM, "no memory for %d scvis problems", problems);
    far = x + problems;
    for (int p = 0; p < problems; p++) {
        int side = (int)net[p].far_stride;
        if (!net[p].gathered != !gathered) continue;
        x[n] = { gathered ? net[p].x : net[p].input, side, net[p].d };
        far[n++] = { net[p].far, side, side };
    }
    s = spot_distance_cuda.squared(c, n, far, x, x);
    free(x);
    return s;
}

/* Records the distances of the batches: the same launches in every step. *graph stays NULL if no problem gathers. */
static spot_status record_distances(spot_ctx *c, const spot_scvis_device *net, int problems, void **graph)
{
    const spot_plugin *device = spot_cuda_memory(c);
    spot_status s, ended;
    int gathered = 0;

    for (int p = 0; p < problems; p++) gathered |= net[p].gathered;
    if (!gathered) return SPOT_OK;
    SPOT_TRY(device->record(c));
    s = launch_distances(c, net, problems, 1);
    ended = device->recorded(c, s ? NULL : graph);
    return s ? s : ended;
}

static spot_status run_phases(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t)
{
    SPOT_TRY(spot_scvis_affinities(c, f, t));
    SPOT_TRY(spot_scvis_encoder(c, f, t));
    SPOT_TRY(spot_scvis_pairs(c, f, t));
    SPOT_TRY(spot_scvis_decoder(c, f, t));
    SPOT_TRY(spot_scvis_weights(c, f, t));
    return spot_scvis_judge(c, f, t);
}

static spot_scvis_fleet fleet_of(spot_scvis_device *on_device, const spot_scvis_device *net, int problems)
{
    spot_scvis_fleet f = { on_device, problems };

    for (int p = 0; p < problems; p++) {
        f.n = net[p].n > f.n ? net[p].n : f.n;
        f.d = net[p].d > f.d ? net[p].d : f.d;
        f.batch = net[p].batch > f.batch ? net[p].batch : f.batch;
        f.items = net[p].items > f.items ? net[p].items : f.items;
        f.params = net[p].params > f.params ? net[p].params : f.params;
        f.total = net[p].total > f.total ? net[p].total : f.total;
    }
    return f;
}

/* Waits for the device, copies the problems' states back and checks them. */
static spot_status check_nets(spot_ctx *c, const spot_scvis_fleet *f, spot_scvis_device *net, int step)
{
    SPOT_TRY(copy_async(c, net, f->net, f->problems * sizeof *net));
    SPOT_TRY(spot_cuda_check(c, cudaStreamSynchronize(spot_cuda_stream(c)), "scvis of %d problems, iteration %d", f->problems,
                             step));
    for (int p = 0; p < f->problems; p++)
        if (net[p].failed) {
            const spot_label label = spot_label_of(c, net[p].ec);
            return spot_fail(c, SPOT_NUMERIC, "{scvis.diverged} scvis of %s left the finite numbers at iteration %d; lower "
                             "scvis.lr", label.text, net[p].failed);
        }
    SPOT_TRY(spot_check_stop(c));
    spot_tell(c, "scvis", f->problems == 1 ? (int)net->ec : -1, step, f->total, "");
    return SPOT_OK;
}

static spot_status train(spot_ctx *c, const spot_scvis_fleet *f, spot_scvis_device *net, const spot_scvis_config *cfg,
                         void **graph)
{
    SPOT_TRY(copy_async(c, f->net, net, f->problems * sizeof *net));
    for (int p = 0; p < f->problems; p++) {
        SPOT_TRY(clear_async(c, net[p].m, net[p].params));
        SPOT_TRY(clear_async(c, net[p].v, net[p].params));
    }
    SPOT_TRY(spot_scvis_start(c, f, cfg));
    SPOT_TRY(launch_distances(c, net, f->problems, 0));
    SPOT_TRY(record_distances(c, net, f->problems, graph));
    for (int step = 1; step <= f->total; step++) {
        spot_scvis_now t = now_at(cfg, step);
        SPOT_TRY(spot_scvis_draw(c, f, &t));
        if (*graph) SPOT_TRY(spot_cuda_memory(c)->replay(c, *graph));
        SPOT_TRY(run_phases(c, f, &t));
        SPOT_TRY(spot_scvis_adam(c, f, &t));
        if (step % POLL == 0 || step == f->total) SPOT_TRY(check_nets(c, f, net, step));
    }
    for (int first = 0, more = 1; more; first++) {
        SPOT_TRY(spot_scvis_means(c, f, first));
        more = 0;
        for (int p = 0; p < f->problems; p++) more |= (first + 1) * net[p].batch < net[p].n;
    }
    return spot_cuda_check(c, cudaStreamSynchronize(spot_cuda_stream(c)), "scvis: maps of %d problems", f->problems);
}

static spot_status fit_cuda(spot_ctx *c, spot_arena *scratch, int problems, spot_scvis_problem *s, const spot_scvis_config *cfg)
{
    size_t mark = scratch->used;
    spot_scvis_device *net = (spot_scvis_device *)calloc(problems ? problems : 1, sizeof *net), *on_device;
    spot_status status = net ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d scvis problems", problems);

    if (status == SPOT_OK) status = SPOT_TAKE(c, scratch, on_device, problems);
    for (int p = 0; p < problems && status == SPOT_OK; p++) status = take_training(c, scratch, &net[p], &s[p], cfg);
    for (int p = 0; p < problems && status == SPOT_OK && !scratch->counting; p++) {
        status = spot_cuda_needs(c, s[p].x, "scvis.fit: x");
        if (status == SPOT_OK) status = spot_cuda_needs(c, s[p].map, "scvis.fit: map");
    }
    if (status == SPOT_OK && problems && !scratch->counting) {
        spot_scvis_fleet f = fleet_of(on_device, net, problems);
        void *graph = NULL;
        status = train(c, &f, net, cfg, &graph);
        if (graph) spot_cuda_memory(c)->forget(graph);
        for (int p = 0; p < problems; p++) s[p].loss = net[p].loss;
    }
    free(net);
    scratch->used = mark;
    return status;
}

static spot_status gradient_cuda(spot_ctx *c, spot_arena *scratch, const spot_scvis_batch *b, const spot_scvis_config *cfg,
                                 float *gradient, double *loss, double *norm)
{
    size_t mark = scratch->used, rows = b->rows;
    spot_scvis_device net = { b->rows, b->d, b->dim, b->rows, INT_MAX }, *on_device;
    spot_scvis_now t = now_at(cfg, b->step);

    SPOT_TRY(spot_cuda_needs_all(c, "scvis.gradient", { { b->params, "params" }, { b->x, "x" }, { b->noise, "noise" },
                                                        { b->keep, "keep" }, { gradient, "gradient" } }));
    net.gathered = 1;
    net.rows = b->rows;
    SPOT_TRY(SPOT_TAKE(c, scratch, on_device, 1));
    SPOT_TRY(take_step(c, scratch, &net));
    spot_scvis_fleet f = fleet_of(on_device, &net, 1);
    SPOT_TRY(copy_async(c, on_device, &net, sizeof net));
    SPOT_TRY(copy_async(c, net.theta, b->params, net.params * sizeof *net.theta));
    SPOT_TRY(copy_async(c, net.x, b->x, rows * b->d * sizeof *net.x));
    SPOT_TRY(copy_async(c, net.noise, b->noise, rows * b->dim * sizeof *net.noise));
    SPOT_TRY(spot_scvis_given(c, &f, b->keep, &t));
    SPOT_TRY(launch_distances(c, &net, 1, 1));
    SPOT_TRY(run_phases(c, &f, &t));
    SPOT_TRY(copy_async(c, gradient, net.grad, net.params * sizeof *gradient));
    SPOT_TRY(copy_async(c, &net, on_device, sizeof net));
    SPOT_TRY(spot_cuda_check(c, cudaStreamSynchronize(spot_cuda_stream(c)), "scvis.gradient of (%d,%d)", b->rows, b->d));
    *loss = net.loss;
    *norm = net.norm;
    scratch->used = mark;
    return SPOT_OK;
}

extern const spot_scvis_ops spot_scvis_cuda = { .fit = fit_cuda, .gradient = gradient_cuda };
