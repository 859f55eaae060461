/* umap.c - strengths row by row, and the descent 32 points abreast, on the CPU. A point's moves are one long chain, each from
 * where the last one ended, so that two vectors of 16 points keep the core busy while one alone would wait. */
#include "map/umap.h"

#include "core/philox.h"
#include "core/problems.h"
#include "map/umap_step.h"

enum { LANES = 32, RUN = 16, ROUND = 16 };   /* points moved together; edges checked together; due edges to hold */
enum { MOST = SPOT_UMAP_MOST_DIM };

static spot_status strengths_cpu(spot_ctx *c, int problems, const spot_umap_row *r)
{
    for (int p = 0; p < problems; p++) {
        double wanted = spot_philox_log(r[p].near.cols + 1) / spot_philox_log(2);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 16)
        for (int i = 0; i < r[p].near.rows; i++) spot_umap_row_strengths(&r[p], i, wanted);
    }
    return SPOT_OK;
}

/* Points that move together, each in its lane. */
typedef struct {
    int point[LANES];
    int edge[LANES], end[LANES];           /* the row's edges that were not checked yet */
    int due[LANES];                        /* entries in `other` */
    uint32_t draw[LANES];                  /* first block of random words of those entries */
    int other[ROUND + RUN][LANES];         /* other ends of its due edges */
    float y[MOST][LANES];
} wave;

/* Collects the next due edges of every lane, at least ROUND if there are so many. A row has a multiple of 16 entries. */
static int gather_due(const spot_umap_layout *u, wave *w, int step)
{
    int most = 0;

    for (int l = 0; l < LANES; l++) {
        int count = 0, e = w->edge[l];

        for (; e < w->end[l] && count < ROUND; e += RUN) {
            int yes[RUN];

            for (int t = 0; t < RUN; t++) yes[t] = spot_umap_due(u->weight[e + t], u->scale, step);
            for (int t = 0; t < RUN; t++) {
                w->other[count][l] = u->to[e + t];
                count += yes[t];
            }
        }
        w->edge[l] = e;
        w->due[l] = count;
        most = count > most ? count : most;
    }
    return most;
}

/* Every lane that is `on` moves along its line to the other point, by the force of an edge or of a negative. */
static inline __attribute__((always_inline)) void move_points(const spot_umap_layout *u, wave *w, int dim, const float *from,
                                                              const int *other, const int *on, float rate, int negative)
{
    float apart[MOST][LANES], d2[LANES] = { 0 }, force[LANES];

    for (int k = 0; k < dim; k++) {
        const float *y = from + (size_t)k * u->n;
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            apart[k][l] = w->y[k][l] - y[other[l]];
            d2[l] = fmaf(apart[k][l], apart[k][l], d2[l]);
        }
    }
#pragma omp simd
    for (int l = 0; l < LANES; l++)
        force[l] = negative ? spot_umap_push(d2[l], u->a, u->b) : spot_umap_pull(d2[l], u->a, u->b);
    for (int k = 0; k < dim; k++)
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            float moved = fmaf(rate, spot_umap_clip(force[l] * apart[k][l]), w->y[k][l]);
            w->y[k][l] = on[l] ? moved : w->y[k][l];
        }
}

static void draw_words(uint32_t word[4][LANES], const spot_umap_layout *u, const wave *w, int block, int step)
{
    for (int l = 0; l < LANES; l++) {
        uint32_t counter[4] = { w->draw[l] + (uint32_t)block, (uint32_t)step, u->ec, SPOT_RNG_UMAP_DRAW }, out[4];
        spot_philox4x32_10(out, counter, u->seed);
        for (int t = 0; t < 4; t++) word[t][l] = out[t];
    }
}

/* The q-th due edge of every lane that has one. */
static inline __attribute__((always_inline)) void follow_edge(const spot_umap_layout *u, wave *w, int dim,
                                                              const float *from, int q, int step)
{
    const float rate = spot_umap_rate(u, step);
    uint32_t word[4][LANES];
    int on[LANES], other[LANES];

    for (int l = 0; l < LANES; l++) {
        on[l] = q < w->due[l];
        other[l] = on[l] ? w->other[q][l] : w->point[l];
    }
    move_points(u, w, dim, from, other, on, rate, 0);
    move_points(u, w, dim, from, other, on, rate, 0);
    for (int s = 0; s < u->negatives; s++) {
        int away[LANES], off[LANES];

        if (s % 4 == 0) draw_words(word, u, w, q * spot_umap_blocks(u) + s / 4, step);
        for (int l = 0; l < LANES; l++) {
            away[l] = spot_umap_random_point(word[s % 4][l], u->n);
            off[l] = on[l] & (away[l] != w->point[l]);
        }
        move_points(u, w, dim, from, away, off, rate, 1);
    }
}

static inline __attribute__((always_inline)) void move_wave(const spot_umap_layout *u, wave *w, int dim, int step)
{
    const float *from = u->y[step % 2];
    int most;

    for (int k = 0; k < dim; k++)
        for (int l = 0; l < LANES; l++) w->y[k][l] = from[(size_t)k * u->n + w->point[l]];
    while ((most = gather_due(u, w, step)) > 0) {
        for (int q = 0; q < most; q++) follow_edge(u, w, dim, from, q, step);
        for (int l = 0; l < LANES; l++) w->draw[l] += (uint32_t)(w->due[l] * spot_umap_blocks(u));
    }
}

/* Points u->order[first] .. [first + 15]; lanes past the last have no edges. */
static void step_wave(const spot_umap_layout *u, int first, int step)
{
    float *to = u->y[(step + 1) % 2];
    int live = u->n - first < LANES ? u->n - first : LANES;
    wave w;

    for (int l = 0; l < LANES; l++) {
        int i = w.point[l] = u->order[l < live ? first + l : first];
        w.edge[l] = u->start[i];
        w.end[l] = l < live ? u->start[i + 1] : u->start[i];
        w.draw[l] = spot_umap_draw(u, i);
    }
    switch (u->dim) {
    case 1:  move_wave(u, &w, 1, step); break;
    case 2:  move_wave(u, &w, 2, step); break;
    default: move_wave(u, &w, u->dim, step);
    }
    for (int k = 0; k < u->dim; k++)
        for (int l = 0; l < live; l++) to[(size_t)k * u->n + w.point[l]] = w.y[k][l];
}

static spot_status advance_cpu(spot_ctx *c, int problems, const spot_umap_layout *u, int first, int count)
{
    int largest = SPOT_MOST(problems, u, n);

#pragma omp parallel num_threads(c->threads)
    for (int step = first; step < first + count; step++) {
#pragma omp for collapse(2) schedule(dynamic)
        for (int p = 0; p < problems; p++)
            for (int i0 = 0; i0 < largest; i0 += LANES)
                if (step < u[p].steps && i0 < u[p].n) step_wave(&u[p], i0, step);
    }
    return SPOT_OK;
}

const spot_umap_ops spot_umap_cpu = { .strengths = strengths_cpu, .advance = advance_cpu };

spot_status spot_umap_strengths(spot_ctx *c, int problems, const spot_umap_row *r)
{
    for (int p = 0; p < problems; p++)
        if (r[p].near.rows < 0 || r[p].near.cols < 1)
            return spot_fail(c, SPOT_INVALID, "{umap.strengths_sizes} umap.strengths, problem %d: (%d,%d)", p, r[p].near.rows,
                             r[p].near.cols);
    SPOT_DISPATCH(c, umap, strengths, problems, r);
}

spot_status spot_umap_advance(spot_ctx *c, int problems, const spot_umap_layout *u, int first, int count)
{
    for (int p = 0; p < problems; p++)
        if (u[p].n < 1 || u[p].dim < 1 || u[p].dim > SPOT_UMAP_MOST_DIM || u[p].negatives < 0 || u[p].steps < 1)
            return spot_fail(c, SPOT_INVALID, "{umap.advance_sizes} umap.advance, problem %d: %d points to %d dimensions, %d "
                             "steps, %d negatives", p, u[p].n, u[p].dim, u[p].steps, u[p].negatives);
    SPOT_DISPATCH(c, umap, advance, problems, u, first, count);
}
