/* rbf_bins.c - points put into cells, and the binned method's sums over windows, on the CPU. */
#include "map/rbf_cpu.h"

#include <string.h>

#include "core/lanes.h"

/* -- cells ----------------------------------------------------------------------------------------------------------- */

static int cell_of(int grid, float x)
{
    int cell = (int)x;

    return cell < grid ? cell : grid - 1;
}

/* The points of one target that lie in rows a0 .. a1 - 1, from the diagonal on. Cell b's sum goes to place b + 1 of its row. On
 * the diagonal both points of a pair are in one cell. */
static void add_target(const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p, int t, int a0, int a1)
{
    const size_t m = (size_t)p->images, plane = (size_t)p->targets * m, line = (size_t)cfg->grid + 1;
    const float *x = o->x + (size_t)t * m, *s = o->s + (size_t)t * m;
    const int held = o->held[t];

    for (int i = spot_rbf_first(x, held, (float)a0); i < held && cell_of(cfg->grid, x[i]) < a1; i++) {
        size_t a = (size_t)cell_of(cfg->grid, x[i]);
        for (int j = i + 1; j < held; j++) {
            size_t b = (size_t)cell_of(cfg->grid, x[j]), to = a * line + b + 1;
            int both = a == b ? 2 : 1;
            o->bin[to] += both;
            for (int k = 0; o->bin_v && k < p->signals; k++) {
                const float *own = s + (size_t)k * plane;
                o->bin_v[(size_t)k * line * (size_t)cfg->grid + to] += both * (double)fabsf(own[i] - own[j]);
            }
        }
    }
}

/* Every row is made whole from the columns of the rows above, then summed along itself. */
#define SUM_ROWS(type, plane, grid)                                                                       \
    do {                                                                                                  \
        for (size_t a = 0; a < (grid); a++) {                                                             \
            for (size_t b = 0; b < a; b++) (plane)[a * ((grid) + 1) + b + 1] = (plane)[b * ((grid) + 1) + a + 1]; \
        }                                                                                                 \
        for (size_t a = 0; a < (grid); a++) {                                                             \
            type *row_ = (plane) + a * ((grid) + 1);                                                      \
            for (size_t b = 0; b < (grid); b++) row_[b + 1] += row_[b];                                   \
        }                                                                                                 \
    } while (0)

void spot_rbf_fill_bins(const spot_ctx *c, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p)
{
    const size_t grid = (size_t)cfg->grid, cells = grid * (grid + 1);

    memset(o->bin, 0, cells * sizeof *o->bin);
    if (o->bin_v) memset(o->bin_v, 0, (size_t)p->signals * cells * sizeof *o->bin_v);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int a = 0; a < cfg->grid; a += SPOT_RBF_ROWS) {
        int end = a + SPOT_RBF_ROWS < cfg->grid ? a + SPOT_RBF_ROWS : cfg->grid;
        for (int t = 0; t < p->targets; t++) add_target(o, cfg, p, t, a, end);
    }
    SUM_ROWS(int, o->bin, grid);
    for (int k = 0; o->bin_v && k < p->signals; k++) SUM_ROWS(double, o->bin_v + (size_t)k * cells, grid);
}

/* -- windows --------------------------------------------------------------------------------------------------------- */

/* Columns `reach` around: those of row p with (a - p)^2 + reach^2 < (kernel / 2)^2. Below 0: none. */
static int reach_of(const spot_rbf_config *cfg, int off)
{
    int rest = cfg->kernel * cfg->kernel - 4 * off * off, reach = -1;

    while (4 * (reach + 1) * (reach + 1) < rest) reach++;
    return reach;
}

/* sum[b] += weight (sums of row's cells b - reach .. b + reach, weighted by phi of the offset), b from `from` on. */
static void add_row(double *restrict sum, const double *restrict row, const double *phi, double weight, int reach,
                    int from, int grid)
{
    for (int off = -reach; off <= reach; off++) {
        const double w = weight * phi[off < 0 ? -off : off];
        const int first = from + off < 0 ? -off : from, last = off > 0 ? grid - off : grid;
#pragma omp simd
        for (int b = first; b < last; b++) sum[b] = fma(w, row[b + off], sum[b]);
    }
}

/* The sums of row a: numerators of all signals and the denominator, and the counts. */
static void sum_windows(const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p, const double *phi,
                        int a)
{
    const int grid = cfg->grid, most = (cfg->kernel - 1) / 2, first = a > most ? a - most : 0;
    const size_t cells = (size_t)grid * (size_t)grid, lines = (size_t)grid * ((size_t)grid + 1);
    double row[SPOT_RBF_GRID];
    int *count = p->count + (size_t)a * (size_t)grid;

    memset(count, 0, (size_t)grid * sizeof *count);
    for (int k = 0; k <= p->signals; k++) {
        double *sum = o->sum + (size_t)k * cells + (size_t)a * (size_t)grid;
        memset(sum, 0, (size_t)grid * sizeof *sum);
        for (int r = first; r <= a + most && r < grid; r++) {
            const int *bin = o->bin + (size_t)r * ((size_t)grid + 1);
            const double *v = k < p->signals ? o->bin_v + (size_t)k * lines + (size_t)r * ((size_t)grid + 1) : NULL;
            int off = r < a ? a - r : r - a, reach = reach_of(cfg, off);
            for (int b = 0; b < grid; b++) row[b] = v ? v[b + 1] - v[b] : bin[b + 1] - bin[b];
            add_row(sum, row, phi, phi[off], reach, a, grid);
            for (int b = a; !v && reach >= 0 && b < grid; b++)
                count[b] += bin[b + reach < grid ? b + reach + 1 : grid] - bin[b > reach ? b - reach : 0];
        }
    }
}

void spot_rbf_bin_sums(const spot_ctx *c, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p)
{
    double phi[SPOT_RBF_KERNEL];

    for (int i = 0; i <= cfg->kernel / 2; i++) phi[i] = (double)spot_rbf_phi((float)(i * i), cfg->sigma);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int a = 0; a < cfg->grid; a++) sum_windows(o, cfg, p, phi, a);
}
