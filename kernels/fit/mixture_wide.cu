/* mixture_wide.cu - EM of wide fits: a block a piece of a fit, then a block a fit, so two launches an iteration. */
#include "fit/mixture_em.cuh"

/* The steps of a wide fit: it begins at its first point; the first M step, twice; an iteration, or the end. */
typedef enum { BEGIN, MEANS, MOMENTS, ITERATION } step;

/* The sums of each piece. grid (pieces, fits). The 1 keeps ptxas from spilling, here and below. */
template <int D> static __global__ void __launch_bounds__(THREADS, 1) piece_kernel(const __grid_constant__ spot_mixture_space m,
                                                                                   int first, step now,
                                                                                   spot_mixture_config cfg)
{
    const unsigned part = blockIdx.y;
    const state f = m.fit[first + part];
    const bool end = now == ITERATION && has_ended(&f, &cfg);

    if (f.done || kernel_of(f.d) != D || has_no_piece(&f)) return;      /* the whole block */
    const work w = piece_of(&m, part, f.n, blockIdx.x);
    if (now == ITERATION) {
        const double likelihood = expect<D>(&f, &w, end);
        if (!thread()) share_of(&m, part)[blockIdx.x].likelihood = likelihood;
    }
    if (!end) add_moments<D>(&f, &w, now == ITERATION ? FROM_DENSITIES : given_of(&f));
}

/* Adds up the sums of the pieces and ends the step. tell: m.counter[1] counts the fits that go on. grid (fits) */
static __global__ void __launch_bounds__(THREADS, 1) settle_kernel(const __grid_constant__ spot_mixture_space m, int first,
                                                                   step now, int tell, spot_mixture_config cfg)
{
    const unsigned part = blockIdx.x;
    state f = m.fit[first + part];      /* every thread has its copy, as above */
    const work w = work_of(&m, part, f.n);

    if (f.done) return;
    if (now == BEGIN) return begin_at_first(&f);
    const double likelihood = now == ITERATION ? add_shares(&share_of(&m, part)->likelihood, f.n) : 0;
    if (now == ITERATION && has_ended(&f, &cfg)) {
        f.log_likelihood = likelihood;
        f.done = true;
    }
    else {
        add_partials(&m, &f, part, &w, f.stride);
        f.ill = maximise(&f, &w, cfg.ridge);
        f.done = now != MEANS && f.ill;
        if (now == ITERATION) end_iteration(&f, likelihood / f.n, &cfg);
    }
    __syncthreads();                    /* all have read the fit */
    if (thread()) return;
    m.fit[first + part] = f;
    if (tell && !f.done) atomicAdd(&m.counter[1], 1u);
}

/* Wide fits that run together. fit: (count) on the host, of which the first has the number `first` */
typedef struct {
    const spot_mixture_space *m;
    const spot_mixture_config *cfg;
    const state *fit;
    int first, count;
} group;

template <int D> static void launch_pieces(spot_ctx *c, const group *g, step now)
{
    const dim3 grid(g->m->pieces, g->count);

    if (has_dimension<D>(g->fit, g->count))
        SPOT_LAUNCH(piece_kernel<D>, grid, THREADS, 0, spot_cuda_stream(c), *g->m, g->first, now, *g->cfg);
}

static void take_step(spot_ctx *c, const group *g, step now, int tell)
{
    if (now != BEGIN) {
        launch_pieces<2>(c, g, now);
        launch_pieces<3>(c, g, now);
        launch_pieces<4>(c, g, now);
        launch_pieces<0>(c, g, now);
    }
    SPOT_LAUNCH(settle_kernel, g->count, THREADS, 0, spot_cuda_stream(c), *g->m, g->first, now, tell, *g->cfg);
}

static spot_status run_group(spot_ctx *c, const group *g)
{
    unsigned left;

    SPOT_TRY(spot_mixture_start_wide(c, g->m, g->fit, g->first, g->count));
    if (!g->cfg) return SPOT_OK;
    for (int now = BEGIN; now < ITERATION; now++) take_step(c, g, (step)now, false);
    do {
        SPOT_TRY(begin_round(c, g->m));
        for (int i = 1; i <= POLL; i++) take_step(c, g, ITERATION, i == POLL);
        SPOT_TRY(read_left(c, g->m, &left));
    } while (left);
    return SPOT_OK;
}

spot_status spot_mixture_run_wide(spot_ctx *c, const spot_mixture_space *m, const state *fit, int count,
                                  const spot_mixture_config *cfg)
{
    for (int first = 0; first < count; first += m->blocks) {
        const group g = { m, cfg, fit + first, first, min(m->blocks, count - first) };
        SPOT_TRY(run_group(c, &g));
    }
    return SPOT_OK;
}
