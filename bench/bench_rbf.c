/* bench_rbf.c - variance matrices of the paper's size. bench/peers/rbf_scipy.py has the same numbers. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op_rbf.h"

enum { CHECKED = 250000 };       /* points times cells that a check looks at: cells are skipped, evenly, where there are more */

/* An additive sequence in [0, 1); the peer's script has the same formula. */
static double sequence(size_t i, double step) { return fmod((double)(i + 1) * step, 1); }

static float distance_of(int kind, int image, size_t i, double range)
{
    double far = image ? sequence(i, 0.6180339887498949) : 0;

    switch (kind) {
    case OP_RBF_ZERO:    return 0;
    case OP_RBF_EQUAL:   return (float)(range / 2);
    case OP_RBF_MIXED:
        if (i % 7 == 3) return NAN;
        return i % 11 == 5 ? (float)(range * (1 + far)) : i % 13 == 6 ? -1e-6f : (float)(range * far);
    case OP_RBF_NARROW:  return (float)(range * far / 5);
    case OP_RBF_STEPPED: return (float)(range * floor(9 * far) / 8);
    case OP_RBF_NONE:    return NAN;
    default:             return (float)(range * far);
    }
}

/* A response that falls with the distance, with noise. */
static float response_of(int kind, int signal, double far, size_t i)
{
    if (kind == OP_RBF_MIXED && i % 17 == 2) return i % 2 ? NAN : INFINITY;
    return (float)(1 / (1 + (1 + signal) * far * far) + 0.2 * sequence(i + (size_t)signal * 7919, 0.7548776662466927));
}

static void make_rbf(spot_op_run *r, void *problem, const int *size)
{
    spot_op_rbf *o = problem;
    const int kind = size[6] / SPOT_RBF_METHODS;
    const size_t images = (size_t)size[0] * (size_t)size[1], cells = (size_t)size[3] * (size_t)size[3];
    float *distance = malloc(images * sizeof *distance), *signal = malloc((size_t)size[2] * images * sizeof *signal);

    o->cfg = (spot_rbf_config){ size[3], size[4], size[5], (float)size[7] / 1000,
                                (spot_rbf_method)(size[6] % SPOT_RBF_METHODS) };
    o->p = (spot_rbf_problem){ .targets = size[0], .images = size[1], .signals = size[2], .range = 0.75f };
    for (size_t i = 0; distance && signal && i < images; i++) {
        size_t at = i + (size_t)r->number * 1000003;
        distance[i] = distance_of(kind, (int)(i % (size_t)size[1]), at, o->p.range);
        for (int s = 0; s < size[2]; s++)
            signal[(size_t)s * images + i] = response_of(kind, s, distance[i] == distance[i] ? distance[i] : 1, at);
    }
    o->p.distance = spot_op_given(r, distance, images * sizeof *distance);
    o->p.signal = spot_op_given(r, signal, (size_t)size[2] * images * sizeof *signal);
    o->p.value = spot_op_out(r, "value", SPOT_OP_FLOAT, (size_t)size[2] * cells, 1e-6);
    o->p.count = spot_op_out(r, "count", SPOT_OP_INT, cells, 0);
    o->p.left_out = spot_op_out(r, "left out", SPOT_OP_INT, SPOT_RBF_REASONS, 0);
}

static bool same_settings(const spot_rbf_config *a, const spot_rbf_config *b)
{
    return a->grid == b->grid && a->kernel == b->kernel && a->nearest == b->nearest && a->sigma == b->sigma &&
           a->method == b->method;
}

/* Problems in a row that have the same settings are one call. */
static spot_status run_rbf(spot_op_run *r, void *problems, int count)
{
    const spot_op_rbf *o = problems;
    bool cuda = strcmp(r->c->ops->name, "cpu") != 0;

    for (int first = 0, next; first < count; first = next) {
        const spot_rbf_config *cfg = &o[first].cfg;
        const spot_rbf_problem *p;
        spot_arena *scratch;
        for (next = first + 1; next < count && same_settings(cfg, &o[next].cfg);) next++;
        p = SPOT_OP_ALL(r, &o[first], p, next - first);
        SPOT_TRY(spot_op_scratch(r, &scratch, spot_rbf_scratch(cfg, next - first, p, cuda ? 0 : r->c->threads)));
        SPOT_OP(r, spot_rbf_matrices(r->c, scratch, cfg, next - first, p));
    }
    return SPOT_OK;
}

/* -- the definition, point by point ------------------------------------------------------------------------------------ */

typedef struct { float square; double value; } point;
typedef struct { double num, den; int count; } sums;

/* A problem's arrays on the host, and its points around one cell. */
typedef struct {
    const spot_op_rbf *o;
    float *distance, *signal, *value;
    int *count;
    point *point;
    size_t points;
} reference;

static int by_distance(const void *a, const void *b)
{
    float x = ((const point *)a)->square, y = ((const point *)b)->square;

    return (x > y) - (x < y);
}

static bool takes_part(const reference *f, size_t i)
{
    const spot_rbf_problem *p = &f->o->p;
    bool all = f->distance[i] >= 0 && f->distance[i] <= p->range;

    for (int s = 0; s < p->signals; s++)
        all = all && isfinite(f->signal[(size_t)s * (size_t)p->targets * (size_t)p->images + i]);
    return all;
}

/* In fp32, as the contract says: whether a point lies within the window is decided by these bits. */
static float axis_square(const spot_op_rbf *o, float distance, int cell)
{
    float grid = (float)o->cfg.grid, x = fminf(distance * (grid / o->p.range), grid);

    if (o->cfg.method == SPOT_RBF_BINNED) x = fminf(floorf(x), grid - 1) + 0.5f;
    return ((float)cell + 0.5f - x) * ((float)cell + 0.5f - x);
}

/* All points of signal s around cell (a, b), and the sums over its window. */
static sums gather_points(reference *f, int s, int a, int b)
{
    const spot_op_rbf *o = f->o;
    const size_t m = (size_t)o->p.images, l = (size_t)o->p.targets;
    const float *response = f->signal + (size_t)s * l * m;
    sums all = { 0, 0, 0 };

    f->points = 0;
    for (size_t t = 0; t < l; t++)
        for (size_t j = t * m; j < (t + 1) * m; j++)
            for (size_t k = t * m; k < (t + 1) * m; k++) {
                if (j == k || !takes_part(f, j) || !takes_part(f, k)) continue;
                point e = { axis_square(o, f->distance[j], a) + axis_square(o, f->distance[k], b),
                            fabsf(response[j] - response[k]) };
                f->point[f->points++] = e;
                if (!(4 * e.square < (float)(o->cfg.kernel * o->cfg.kernel))) continue;
                double phi = exp(-(double)e.square / (2 * (double)o->cfg.sigma * (double)o->cfg.sigma));
                all.num += phi * e.value;
                all.den += phi;
                all.count++;
            }
    return all;
}

/* The plain mean of the nearest points; those at the last distance share the places that are left. */
static double mean_of_nearest(reference *f)
{
    size_t wanted = f->points < (size_t)f->o->cfg.nearest ? f->points : (size_t)f->o->cfg.nearest, nearer = 0, ties = 0;
    double sum = 0, tie = 0;
    float last;

    qsort(f->point, f->points, sizeof *f->point, by_distance);
    last = f->point[wanted - 1].square;
    for (size_t i = 0; i < f->points && f->point[i].square <= last; i++) {
        bool less = f->point[i].square < last;
        if (less) nearer++, sum += f->point[i].value;
        else      ties++, tie += f->point[i].value;
    }
    return (sum + (double)(wanted - nearer) * tie / (double)ties) / (double)wanted;
}

static spot_status compare_cell(spot_ctx *c, reference *f, int s, int a, int b)
{
    const size_t grid = (size_t)f->o->cfg.grid, at = (size_t)a * grid + (size_t)b, over = (size_t)b * grid + (size_t)a;
    const sums all = gather_points(f, s, a, b);
    const float got = f->value[(size_t)s * grid * grid + at], mirrored = f->value[(size_t)s * grid * grid + over];

    if (f->count[at] != all.count || f->count[over] != all.count)
        return spot_fail(c, SPOT_CHECK, "%d and %d points in the windows of (%d, %d), wanted %d", f->count[at], f->count[over],
                         a, b, all.count);
    if (memcmp(&got, &mirrored, sizeof got)) return spot_fail(c, SPOT_CHECK, "the matrix is not symmetric at (%d, %d)", a, b);
    if (!f->points) return isnan(got) ? SPOT_OK : spot_fail(c, SPOT_CHECK, "value %g of no points", (double)got);
    return spot_bench_near(c, "value of cell", at, got, (mean_of_nearest(f) + all.num) / (1 + all.den), 2e-6);
}

static spot_status compare_cells(spot_ctx *c, reference *f)
{
    const int grid = f->o->cfg.grid;
    const size_t m = (size_t)f->o->p.images, each = m * (m - 1) * (size_t)f->o->p.targets;
    size_t cells = (size_t)grid * (size_t)grid, step = 1 + each * cells * (size_t)f->o->p.signals / CHECKED;

    for (int s = 0; s < f->o->p.signals; s++)
        for (size_t e = (size_t)s % step; e < cells; e += step)
            SPOT_TRY(compare_cell(c, f, s, (int)(e / (size_t)grid), (int)(e % (size_t)grid)));
    return SPOT_OK;
}

/* For bench/peers/rbf_scipy.py, which compares: the first matrix that is checked, in the file that SPOT_BENCH_MATRIX names. */
static spot_status write_matrix(spot_ctx *c, const reference *f)
{
    const char *path = getenv("SPOT_BENCH_MATRIX");
    size_t cells = (size_t)f->o->cfg.grid * (size_t)f->o->cfg.grid;
    FILE *file = path ? fopen(path, "wbx") : NULL;
    bool whole;

    if (!file) return SPOT_OK;
    whole = fwrite(f->value, sizeof *f->value, cells, file) == cells;
    if (fclose(file) || !whole) return spot_fail(c, SPOT_IO, "cannot write %s", path);
    return SPOT_OK;
}

static spot_status check_rbf(spot_op_run *r, void *problem)
{
    const spot_op_rbf *o = problem;
    const size_t images = (size_t)o->p.targets * (size_t)o->p.images, cells = (size_t)o->cfg.grid * (size_t)o->cfg.grid;
    const size_t signals = (size_t)o->p.signals;
    reference f = { .o = o };
    float *room = malloc(((signals + 1) * images + signals * cells) * sizeof *room);
    spot_status s = SPOT_NOMEM;

    f.count = malloc(cells * sizeof *f.count);
    f.point = malloc(images * (size_t)o->p.images * sizeof *f.point);
    if (room && f.count && f.point) {
        f.distance = room;
        f.signal = room + images;
        f.value = f.signal + signals * images;
        s = spot_op_fetch(r, f.distance, o->p.distance, images * sizeof *room);
        if (!s) s = spot_op_fetch(r, f.signal, o->p.signal, signals * images * sizeof *room);
        if (!s) s = spot_op_fetch(r, f.value, o->p.value, signals * cells * sizeof *room);
        if (!s) s = spot_op_fetch(r, f.count, o->p.count, cells * sizeof *f.count);
        if (!s) s = compare_cells(r->c, &f);
        if (!s) s = write_matrix(r->c, &f);
    }
    free(room), free(f.count), free(f.point);
    return s == SPOT_NOMEM ? spot_fail(r->c, SPOT_NOMEM, "no memory to check variance matrices") : s;
}

const spot_op spot_op_rbf_matrices = { "rbf", sizeof(spot_op_rbf), make_rbf, run_rbf, check_rbf, true };

static spot_status open_rbf(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = (double)size[0] * size[1] * (size[1] - 1);
    return spot_op_bench_open(c, state, &spot_op_rbf_matrices, 1, size);
}

static const spot_bench_kind matrices = { open_rbf, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

const spot_bench_row spot_bench_rbf[] = {
    { "rbf", "1,712 x 33 on 128 x 128, kernel 32, sigma 10", "points", SPOT_ON_ALL, &matrices,
      { 1712, 33, 1, 128, 32, 32, SPOT_RBF_EXACT, 10000 }, { 20, 9, 1, 24, 8, 8, SPOT_RBF_EXACT, 2500 } },
    { "rbf", "the same, four signals", "points", SPOT_ON_ALL, &matrices,
      { 1712, 33, 4, 128, 32, 32, SPOT_RBF_EXACT, 10000 }, { 20, 9, 4, 24, 8, 8, SPOT_RBF_EXACT, 2500 } },
    { "rbf", "the same, binned", "points", SPOT_ON_ALL, &matrices,
      { 1712, 33, 1, 128, 32, 32, SPOT_RBF_BINNED, 10000 }, { 20, 9, 1, 24, 8, 8, SPOT_RBF_BINNED, 2500 } },
    { 0 },
};
