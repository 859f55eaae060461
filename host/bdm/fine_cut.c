/* fine_cut.c - see fine_cut.h. */
#include "bdm/fine_cut.h"

#include <math.h>
#include <string.h>

static const int rows_of_piece[] = { 27, 18, 12, 8 };
enum { CHOICES = sizeof rows_of_piece / sizeof *rows_of_piece, TREES = 3 };

spot_status spot_fine_take(spot_ctx *c, spot_arena *a, spot_fine_cut *f, int n, int d)
{
    size_t wide = (size_t)d;
    int m = n < SPOT_FINE_SAMPLE ? n : SPOT_FINE_SAMPLE;

    *f = (spot_fine_cut){ .n = n, .d = d, .sample = m, .half = { m / 2, m - m / 2 } };
    SPOT_TRY(SPOT_TAKE(c, a, f->label, n));
    SPOT_TRY(SPOT_TAKE(c, a, f->centre, SPOT_FINE_MOST * wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->size, SPOT_FINE_MOST));
    SPOT_TRY(SPOT_TAKE(c, a, f->row, m));
    SPOT_TRY(SPOT_TAKE(c, a, f->order, m));
    SPOT_TRY(SPOT_TAKE(c, a, f->tree_x, (size_t)m * wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->half_x, (size_t)m * wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->cut, m));
    SPOT_TRY(SPOT_TAKE(c, a, f->merge, (size_t)TREES * (size_t)m));
    return SPOT_TAKE(c, a, f->turned, wide * SPOT_FINE_MOST);
}

/* ---- nearest centres ---- */

static void turn_centres(float *turned, const double *centre, int pieces, int d, int columns)
{
    for (int j = 0; j < columns; j++)
        for (int k = 0; k < pieces; k++) turned[(size_t)j * SPOT_FINE_MOST + k] = (float)centre[(size_t)k * d + j];
}

static int nearest_of(const float *x, const float *turned, int columns, int pieces)
{
    float far[SPOT_FINE_MOST];
    int best = 0;

    for (int k = 0; k < pieces; k++) far[k] = 0;
    for (int j = 0; j < columns; j++) {
        const float *centre = turned + (size_t)j * SPOT_FINE_MOST, own = x[j];
        for (int k = 0; k < pieces; k++) far[k] += (own - centre[k]) * (own - centre[k]);
    }
    for (int k = 1; k < pieces; k++)
        if (far[k] < far[best]) best = k;
    return best;
}

void spot_fine_nearest(int *label, const float *x, int n, int d, int columns, const double *centre, int pieces, float *turned,
                       int threads)
{
    (void)threads;
    turn_centres(turned, centre, pieces, d, columns);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < n; i++) label[i] = nearest_of(x + (size_t)i * d, turned, columns, pieces);
}

/* ---- the sample and its halves ---- */

/* A systematic sample: a row is in it for each of `sample` evenly spaced points that lie in its part of [0, 1). A row that has
 * several points is in it once, so the sample may become smaller. */
static void draw_sample(spot_fine_cut *f)
{
    spot_rng r = spot_rng_at(f->seed.seed, SPOT_RNG_JOIN, f->seed.ec, 0);
    double errors = 0, up_to = 0, at;
    int len = 0;

    for (int i = 0; i < f->n; i++) errors += f->error[i];
    at = spot_rng_uniform(&r) / f->sample;
    for (int i = 0; i < f->n; i++) {
        double share = errors > 0 ? 0.5 / f->n + 0.5 * f->error[i] / errors : 1.0 / f->n;
        up_to += share;
        if (!(at < up_to) || len == f->sample) continue;
        f->row[len++] = i;
        at += (floor((up_to - at) * f->sample) + 1) / f->sample;
    }
    f->sample = len;
}

static void open_sample(spot_fine_cut *f)
{
    spot_rng r = spot_rng_at(f->seed.seed, SPOT_RNG_JOIN, f->seed.ec, 1);
    size_t bytes = (size_t)f->d * sizeof *f->x;

    if (f->n > f->sample) draw_sample(f);
    else
        for (int i = 0; i < f->n; i++) f->row[i] = i;
    f->half[0] = f->sample / 2;
    f->half[1] = f->sample - f->half[0];
    spot_rng_shuffle(&r, (uint32_t *)f->order, (uint32_t)f->sample);
    for (int i = 0; i < f->sample; i++) {
        memcpy(f->tree_x + (size_t)i * f->d, f->x + (size_t)f->row[i] * f->d, bytes);
        memcpy(f->half_x + (size_t)i * f->d, f->x + (size_t)f->row[f->order[i]] * f->d, bytes);
    }
}

/* ---- pieces of a tree ---- */

/* centre (pieces, d) and size (pieces): means and numbers of the rows of each label. */
static void find_centres(double *centre, int *size, const float *x, int n, int d, const int *label, int pieces)
{
    memset(centre, 0, (size_t)pieces * d * sizeof *centre);
    memset(size, 0, (size_t)pieces * sizeof *size);
    for (int i = 0; i < n; i++) {
        double *to = centre + (size_t)label[i] * d;
        size[label[i]]++;
        for (int j = 0; j < d; j++) to[j] += x[(size_t)i * d + j];
    }
    for (int k = 0; k < pieces; k++)
        for (int j = 0; j < d && size[k]; j++) centre[(size_t)k * d + j] /= size[k];
}

static int pieces_of(int n, int each, int least)
{
    int pieces = n / each < SPOT_FINE_MOST ? n / each : SPOT_FINE_MOST;

    pieces = pieces > least ? pieces : least;
    return pieces < n ? pieces : n;
}

/* ---- held-out evidence ---- */

static double error_at(const spot_fine_cut *f, int place) { return f->error[f->row[f->order[place]]]; }

/* The log-likelihood of the errors of the other half, by the rates of half h cut into pieces of `each` rows. */
static double evidence_of(spot_fine_cut *f, int h, int each, int threads)
{
    int from = h ? f->half[0] : 0, other = h ? 0 : f->half[0], n = f->half[h], pieces = pieces_of(n, each, 2);
    double rate[SPOT_FINE_MOST] = { 0 }, mean = 0, sum = 0;

    spot_ward_cut(f->cut, f->merge + (size_t)(1 + h) * f->sample, n, pieces);
    find_centres(f->centre, f->size, f->half_x + (size_t)from * f->d, n, f->d, f->cut, pieces);
    for (int i = 0; i < n; i++) {
        rate[f->cut[i]] += error_at(f, from + i);
        mean += error_at(f, from + i) / n;
    }
    for (int k = 0; k < pieces; k++) rate[k] = fmin(fmax((rate[k] + mean) / (f->size[k] + 1), 1e-6), 1 - 1e-6);
    spot_fine_nearest(f->cut, f->half_x + (size_t)other * f->d, f->half[!h], f->d, f->d - 1, f->centre, pieces, f->turned,
                      threads);
    for (int i = 0; i < f->half[!h]; i++) {
        double e = error_at(f, other + i), r = rate[f->cut[i]];
        sum += e * log(r) + (1 - e) * log(1 - r);
    }
    return sum;
}

static void choose_each(spot_fine_cut *f, int threads)
{
    double most = -INFINITY;

    f->each = rows_of_piece[CHOICES - 1];
    for (int q = 0; q < CHOICES && f->half[0] > 1; q++) {
        double own = evidence_of(f, 0, rows_of_piece[q], threads) + evidence_of(f, 1, rows_of_piece[q], threads);
        if (!(own > most)) continue;
        most = own;
        f->each = rows_of_piece[q];
    }
}

/* ---- the cut ---- */

static void cut_all(spot_fine_cut *f, int threads)
{
    choose_each(f, threads);
    f->pieces = spot_ward_cut(f->cut, f->merge, f->sample, pieces_of(f->sample, f->each, SPOT_FINE_LEAST));
    find_centres(f->centre, f->size, f->tree_x, f->sample, f->d, f->cut, f->pieces);
    if (f->n > f->sample) {
        spot_fine_nearest(f->label, f->x, f->n, f->d, f->d, f->centre, f->pieces, f->turned, threads);
        find_centres(f->centre, f->size, f->x, f->n, f->d, f->label, f->pieces);
    } else {
        memcpy(f->label, f->cut, (size_t)f->n * sizeof *f->label);
    }
}

static spot_status count_trees(spot_ctx *c, spot_arena *a, int count, const spot_fine_cut *f)
{
    spot_ward_job *jobs;
    uint8_t *bytes;
    int n = 1, d = 1;

    SPOT_TRY(SPOT_TAKE(c, a, jobs, (size_t)TREES * (size_t)count));
    for (int p = 0; p < count; p++) {
        n = f[p].sample > n ? f[p].sample : n;
        d = f[p].d > d ? f[p].d : d;
    }
    return SPOT_TAKE(c, a, bytes, spot_ward_scratch(TREES * count, n, d, c->threads) + 64);
}

spot_status spot_fine_cuts(spot_ctx *c, spot_arena *scratch, int count, spot_fine_cut *f)
{
    size_t mark = scratch->used;
    spot_ward_job *jobs;
    int trees = 0;

    if (scratch->counting) {
        SPOT_TRY(count_trees(c, scratch, count, f));
        scratch->used = mark;
        return SPOT_OK;
    }
    SPOT_TRY(SPOT_TAKE(c, scratch, jobs, (size_t)TREES * (size_t)count));
    for (int p = 0; p < count; p++) {
        open_sample(&f[p]);
        jobs[trees++] = (spot_ward_job){ .n = f[p].sample, .d = f[p].d, .x = f[p].tree_x, .merge = f[p].merge };
        for (int h = 0; h < 2 && f[p].half[0]; h++)
            jobs[trees++] = (spot_ward_job){ .n = f[p].half[h], .d = f[p].d,
                                             .x = f[p].half_x + (size_t)(h ? f[p].half[0] : 0) * f[p].d,
                                             .merge = f[p].merge + (size_t)(1 + h) * f[p].sample };
    }
    SPOT_TRY(spot_ward_fit(c, scratch, trees, jobs));
    for (int p = 0; p < count; p++) {
        SPOT_TRY(spot_check_stop(c));
        cut_all(&f[p], c->threads);
    }
    scratch->used = mark;
    return SPOT_OK;
}
