/* rbf_gather.c - the exact method's sums over windows on the CPU.
 *
 * phi of a point is a product of phi along both axes, and a target's points are all pairs of its images. So for image k of a
 * target, whose window covers `wide` columns, a row a gets
 *
 *     sum[a][b] += phi(b - x_k) * (sum over j of phi(a - x_j) v_jk [(a - x_j)^2 + (b - x_k)^2 < (kernel / 2)^2])
 *
 * and the inner sum stays in registers: 32 columns side by side, the images j within the window's height one after another. */
#include "map/rbf_cpu.h"

#include <omp.h>
#include <string.h>

#include "core/lanes.h"

enum { ROWS = SPOT_RBF_ROWS, WIDE = 32 };

/* A thread's memory (rbf_scratch.h). The planes of sum and total are the signals' numerators, the denominator, the count. */
typedef struct {
    float *square, *phi;       /* (m, wide): columns of image k's window, from first[k] on */
    float *row_square, *row_phi;   /* (ROWS, m): images j at this thread's rows; INFINITY: outside the window */
    float *value;              /* (signals, m to whole vectors): v_jk of the present k */
    float *sum;                /* (planes, ROWS, pitch): of SPOT_RBF_CHUNK targets; column b is at wide + b */
    double *total;             /* (planes, ROWS, grid to whole vectors) */
    int first[SPOT_RBF_IMAGES];
    int from[ROWS], to[ROWS];  /* images within a row's window: from .. to - 1 */
    int wide, pitch, held, line, values, planes;
    float radius2;
} window;

static window window_of(const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p)
{
    float *at = o->window + (size_t)omp_get_thread_num() * spot_rbf_window_floats(cfg, p);
    size_t m = (size_t)p->images;
    window w = { .wide = spot_rbf_wide(cfg), .pitch = spot_rbf_pitch(cfg), .line = (cfg->grid + 15) / 16 * 16,
                 .values = (p->images + 15) / 16 * 16, .planes = p->signals + 2,
                 .radius2 = 0.25f * (float)cfg->kernel * (float)cfg->kernel };

    w.square = at;
    w.phi = w.square + m * (size_t)w.wide;
    w.row_square = w.phi + m * (size_t)w.wide;
    w.row_phi = w.row_square + ROWS * m;
    w.value = w.row_phi + ROWS * m;
    w.sum = at + spot_rbf_table_floats(cfg, p);
    w.total = (double *)(void *)(w.sum + (size_t)w.planes * ROWS * (size_t)w.pitch);
    return w;
}

/* Tables of image k's window: its columns begin with the first whose centre is nearer than kernel / 2. */
static void fill_columns(window *w, const spot_rbf_config *cfg, float x, int k)
{
    float *square = w->square + (size_t)k * (size_t)w->wide, *phi = w->phi + (size_t)k * (size_t)w->wide;
    const float over = 2 * cfg->sigma * cfg->sigma;
    int first = (int)floorf(x - 0.5f * (float)cfg->kernel - 0.5f) + 1;

    if (spot_rbf_square(first - 1, x) < w->radius2) first--;       /* the subtraction was rounded */
    w->first[k] = first;
#pragma omp simd
    for (int i = 0; i < w->wide; i++) {
        square[i] = spot_rbf_square(first + i, x);
        phi[i] = spot_expf(-square[i] / over);
    }
}

/* Tables of the rows a0 ..; false where no image reaches any of them. */
static bool fill_rows(window *w, const spot_rbf_config *cfg, const float *x, int m, int a0, int rows)
{
    bool any = false;

    for (int r = 0; r < rows; r++) {
        float *square = w->row_square + (size_t)r * (size_t)m, *phi = w->row_phi + (size_t)r * (size_t)m;
        int from = spot_rbf_first(x, w->held, (float)(a0 + r) + 0.5f - 0.5f * (float)cfg->kernel), to = from;
        for (; to < w->held; to++) {
            square[to] = spot_rbf_square(a0 + r, x[to]);
            if (x[to] > (float)(a0 + r) && !(square[to] < w->radius2)) break;
            phi[to] = spot_rbf_phi(square[to], cfg->sigma);
        }
        w->from[r] = from;
        w->to[r] = to;
        any = any || from < to;
    }
    return any;
}

/* One row, 32 columns of image k's window, SIGNALS numerators from plane `first` on; with `shared` also the last two planes. */
static inline __attribute__((always_inline)) void add_window(const window *w, float *restrict sum, const float *restrict square,
                                                             const float *restrict phi, int r, int m, int first,
                                                             int signals, bool shared)
{
    const float *row_square = w->row_square + (size_t)r * (size_t)m, *row_phi = w->row_phi + (size_t)r * (size_t)m;
    const float *value = w->value + (size_t)first * (size_t)w->values, radius2 = w->radius2;
    const size_t plane = ROWS * (size_t)w->pitch;
    float own[WIDE], num[4][WIDE] = { 0 }, den[WIDE] = { 0 }, count[WIDE] = { 0 };

    memcpy(own, square, sizeof own);
    for (int j = w->from[r]; j < w->to[r]; j++) {
        const float s = row_square[j], f = row_phi[j];
        float weight[WIDE];
        for (int i = 0; i < WIDE; i++) weight[i] = s + own[i] < radius2 ? f : 0.0f;
        for (int k = 0; k < signals; k++) {
            const float v = value[(size_t)k * (size_t)w->values + (size_t)j];
            for (int i = 0; i < WIDE; i++) num[k][i] = fmaf(weight[i], v, num[k][i]);
        }
        for (int i = 0; shared && i < WIDE; i++) den[i] += weight[i];
        for (int i = 0; shared && i < WIDE; i++) count[i] += s + own[i] < radius2 ? 1.0f : 0.0f;
    }
    for (int k = 0; k < signals; k++)
#pragma omp simd
        for (int i = 0; i < WIDE; i++) sum[(size_t)(first + k) * plane + (size_t)i] =
            fmaf(phi[i], num[k][i], sum[(size_t)(first + k) * plane + (size_t)i]);
    if (!shared) return;
    sum += (size_t)(w->planes - 2) * plane;
#pragma omp simd
    for (int i = 0; i < WIDE; i++) {
        sum[i] = fmaf(phi[i], den[i], sum[i]);
        sum[plane + (size_t)i] += count[i];
    }
}

/* All signals of one row, four at a time: the compiler needs their number. */
static void add_signals(const window *w, float *sum, const float *square, const float *phi, int r, int m)
{
    const int signals = w->planes - 2;

    for (int first = 0; first < signals; first += 4) {
        bool shared = !first;
        switch (signals - first) {
        case 1:  if (shared) add_window(w, sum, square, phi, r, m, 0, 1, true);
                 else        add_window(w, sum, square, phi, r, m, first, 1, false);
                 break;
        case 2:  if (shared) add_window(w, sum, square, phi, r, m, 0, 2, true);
                 else        add_window(w, sum, square, phi, r, m, first, 2, false);
                 break;
        case 3:  if (shared) add_window(w, sum, square, phi, r, m, 0, 3, true);
                 else        add_window(w, sum, square, phi, r, m, first, 3, false);
                 break;
        default: if (shared) add_window(w, sum, square, phi, r, m, 0, 4, true);
                 else        add_window(w, sum, square, phi, r, m, first, 4, false);
        }
    }
}

/* Target t's points into rows a0 .. a0 + rows - 1, from the diagonal on. */
static void add_target(window *w, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p, int t, int a0,
                       int rows)
{
    const int m = p->images, held = o->held[t];
    const size_t plane = (size_t)p->targets * (size_t)m;
    const float *x = o->x + (size_t)t * (size_t)m, *s = o->s + (size_t)t * (size_t)m;

    w->held = held;
    if (!fill_rows(w, cfg, x, m, a0, rows)) return;
    for (int k = spot_rbf_first(x, held, (float)a0 + 0.5f - 0.5f * (float)cfg->kernel); k < held; k++) {
        float kept[ROWS];
        fill_columns(w, cfg, x[k], k);
        for (int n = 0; n < p->signals; n++) {
            const float *own = s + (size_t)n * plane;
            float *value = w->value + (size_t)n * (size_t)w->values;
#pragma omp simd
            for (int j = 0; j < held; j++) value[j] = fabsf(own[j] - own[k]);
        }
        for (int r = 0; r < rows; r++) {           /* an image makes no point with itself */
            float *own = &w->row_square[(size_t)r * (size_t)m + (size_t)k];
            if (k < w->from[r] || k >= w->to[r]) continue;
            kept[r] = *own;
            *own = INFINITY;
        }
        for (int r = 0; r < rows; r++)
            for (int i = 0; w->from[r] < w->to[r] && i < w->wide; i += WIDE)
                if (w->first[k] + i < cfg->grid && w->first[k] + i + WIDE > a0 + r)
                    add_signals(w, w->sum + (size_t)r * (size_t)w->pitch + w->wide + w->first[k] + i,
                                w->square + (size_t)k * (size_t)w->wide + i, w->phi + (size_t)k * (size_t)w->wide + i, r, m);
        for (int r = 0; r < rows; r++)
            if (k >= w->from[r] && k < w->to[r]) w->row_square[(size_t)r * (size_t)m + (size_t)k] = kept[r];
    }
}

static void end_chunk(window *w, int grid)
{
    for (int l = 0; l < w->planes * ROWS; l++) {
        const float *sum = w->sum + (size_t)l * (size_t)w->pitch + w->wide;
        double *total = w->total + (size_t)l * (size_t)w->line;
#pragma omp simd
        for (int b = 0; b < grid; b++) total[b] += (double)sum[b];
    }
    memset(w->sum, 0, (size_t)w->planes * ROWS * (size_t)w->pitch * sizeof *w->sum);
}

static void gather_rows(const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p, int a0)
{
    const size_t grid = (size_t)cfg->grid;
    const int rows = a0 + ROWS < cfg->grid ? ROWS : cfg->grid - a0;
    window w = window_of(o, cfg, p);

    memset(w.sum, 0, (size_t)w.planes * ROWS * (size_t)w.pitch * sizeof *w.sum);
    memset(w.total, 0, (size_t)w.planes * ROWS * (size_t)w.line * sizeof *w.total);
    for (int t = 0; t < p->targets; t++) {
        add_target(&w, o, cfg, p, t, a0, rows);
        if ((t + 1) % SPOT_RBF_CHUNK == 0 || t + 1 == p->targets) end_chunk(&w, cfg->grid);
    }
    for (int r = 0; r < rows; r++) {
        const size_t to = (size_t)(a0 + r) * grid;
        for (int n = 0; n <= p->signals; n++)
            memcpy(o->sum + (size_t)n * grid * grid + to, w.total + (size_t)(n * ROWS + r) * (size_t)w.line,
                   grid * sizeof *o->sum);
        for (size_t b = 0; b < grid; b++)
            p->count[to + b] = (int)w.total[(size_t)((p->signals + 1) * ROWS + r) * (size_t)w.line + b];
    }
}

void spot_rbf_gather(const spot_ctx *c, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p)
{
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int a = 0; a < cfg->grid; a += ROWS) gather_rows(o, cfg, p, a);
}
