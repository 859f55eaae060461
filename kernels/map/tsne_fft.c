/* tsne_fft.c - t-SNE's repulsion by interpolation on the CPU: 16 lines of the grid at a time, side by side in vectors. */
#include <stdlib.h>

#include "core/device.h"
#include "map/tsne_grid.h"
#include "map/tsne_step.h"

enum { LANES = 16, MANY = 256 };      /* points of a task */

/* 16 lines. */
typedef struct { float re[SPOT_GRID_MOST][LANES], im[SPOT_GRID_MOST][LANES]; } lines;

spot_status spot_tsne_take_grid(spot_ctx *c, spot_arena *a, spot_tsne_grid *g, const spot_tsne_problem *t)
{
    int dim = t->dim;
    size_t most = dim == 2 && t->n <= SPOT_GRID_FEW ? SPOT_GRID_MOST / 2 : SPOT_GRID_MOST;
    size_t nodes = (size_t)spot_grid_nodes((int)most), node_rows = dim == 2 ? nodes : 1;
    size_t rows = dim == 2 ? most : 1;
    spot_status s;
    float *turn;

    g->most = (int)most;
    SPOT_TRY(SPOT_TAKE(c, a, g->plan, 1));
    SPOT_TRY(SPOT_TAKE(c, a, g->turn, most));
    SPOT_TRY(SPOT_TAKE(c, a, g->charge, node_rows * nodes));
    SPOT_TRY(SPOT_TAKE(c, a, g->wave, 2 * node_rows * most));
    SPOT_TRY(SPOT_TAKE(c, a, g->spectrum, 3 * rows * most));
    SPOT_TRY(SPOT_TAKE(c, a, g->line, most));
    if (a->counting) return SPOT_OK;
    SPOT_TRY(spot_device_clear(c, g->plan, sizeof *g->plan));
    turn = malloc(most * sizeof *turn);
    if (!turn) return spot_fail(c, SPOT_NOMEM, "no memory for the sines of t-SNE's grid");
    for (size_t k = 0; k < most / 2; k++) {
        turn[2 * k] = (float)cos(2 * 3.14159265358979323846 * (double)k / (double)most);
        turn[2 * k + 1] = (float)sin(2 * 3.14159265358979323846 * (double)k / (double)most);
    }
    s = spot_device_copy(c, g->turn, turn, most * sizeof *turn);
    free(turn);
    return s;
}

/* One stage of all lines; `half` is the distance of the two entries that meet. */
static void stage(lines *l, int side, int half, const spot_tsne_grid *g, int back)
{
    for (int first = 0; first < side; first += 2 * half)
        for (int k = 0; k < half; k++) {
            const float *turn = g->turn + 2 * (size_t)k * (g->most / (2 * half));
            float *ar = l->re[first + k], *ai = l->im[first + k], *br = l->re[first + k + half], *bi = l->im[first + k + half];
            float cosine = turn[0], sine = turn[1];

#pragma omp simd
            for (int j = 0; j < LANES; j++) {
                float pr = ar[j], pi = ai[j], qr = br[j], qi = bi[j];
                if (back) spot_grid_back(&pr, &pi, &qr, &qi, cosine, sine);
                else      spot_grid_forward(&pr, &pi, &qr, &qi, cosine, sine);
                ar[j] = pr, ai[j] = pi, br[j] = qr, bi[j] = qi;
            }
        }
}

static void transform(lines *l, int side, const spot_tsne_grid *g)
{
    for (int half = side / 2; half; half /= 2) stage(l, side, half, g, 0);
}

static void transform_back(lines *l, int side, const spot_tsne_grid *g)
{
    for (int half = 1; half < side; half *= 2) stage(l, side, half, g, 1);
}

/* Rows r0 .. of an array of `side` columns: the first `columns` entries of the lines, times scale. */
static void store_rows(float *re, float *im, const lines *l, int rows, int columns, int side, int r0, float scale)
{
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < columns; i++) {
            re[(size_t)(r0 + j) * side + i] = l->re[i][j] * scale;
            im[(size_t)(r0 + j) * side + i] = l->im[i][j] * scale;
        }
}

/* Rows of the grid -> rows of K + V_x. */
static void kernel_rows(lines *l, const spot_tsne_grid *g, int r0)
{
    const spot_tsne_plan *p = g->plan;
    int rows = p->rows - r0 < LANES ? p->rows - r0 : LANES;
    float *re = g->spectrum, *im = re + (size_t)p->rows * p->side;

    memset(l->im, 0, (size_t)p->side * sizeof l->im[0]);
    for (int i = 0; i < p->side; i++)
        for (int j = 0; j < LANES; j++) l->re[i][j] = spot_grid_kernel(p, r0 + (j < rows ? j : 0), i);
    transform(l, p->side, g);
    store_rows(re, im, l, rows, p->side, p->side, r0, 1.0f);
}

/* Columns c0 .. c0+15 of an array of `side` columns; those past `rows` are 0. */
static void load_columns(lines *l, const float *re, const float *im, int rows, int all, int side, int c0)
{
    for (int i = 0; i < rows; i++) {
        memcpy(l->re[i], re + (size_t)i * side + c0, sizeof l->re[i]);
        memcpy(l->im[i], im + (size_t)i * side + c0, sizeof l->im[i]);
    }
    memset(l->re[rows], 0, (size_t)(all - rows) * sizeof l->re[0]);
    memset(l->im[rows], 0, (size_t)(all - rows) * sizeof l->im[0]);
}

static void store_columns(float *re, float *im, const lines *l, int rows, int side, int c0)
{
    for (int i = 0; i < rows; i++) {
        memcpy(re + (size_t)i * side + c0, l->re[i], sizeof l->re[i]);
        memcpy(im + (size_t)i * side + c0, l->im[i], sizeof l->im[i]);
    }
}

static void kernel_columns(lines *l, const spot_tsne_grid *g, int c0)
{
    const spot_tsne_plan *p = g->plan;
    float *re = g->spectrum, *im = re + (size_t)p->rows * p->side;

    load_columns(l, re, im, p->rows, p->rows, p->side, c0);
    transform(l, p->rows, g);
    for (int i = 0; i < p->rows; i++) {
        float down = p->rows > 1 ? spot_grid_spline(g, p->rows, i) : 1.0f;
        for (int j = 0; j < LANES; j++) {
            float spline = down * spot_grid_spline(g, p->side, c0 + j);
            l->re[i][j] /= spline;
            l->im[i][j] /= spline;
        }
    }
    store_columns(re, im, l, p->rows, p->side, c0);
}

/* Columns c0 .. c0+15 of B, the transpose of A. In one dimension B is 0. */
static void kernel_transpose(lines *l, const spot_tsne_grid *g, int c0)
{
    const spot_tsne_plan *p = g->plan;
    const float *a = g->spectrum + (size_t)p->rows * p->side;
    float *b = g->spectrum + 2 * (size_t)p->rows * p->side;

    (void)l;
    for (int i = 0; i < p->rows; i++)
        for (int j = c0; j < c0 + LANES; j++) b[(size_t)i * p->side + j] = p->rows > 1 ? a[(size_t)j * p->side + i] : 0.0f;
}

/* Rows of charges -> rows of their transform. */
static void charge_rows(lines *l, const spot_tsne_grid *g, int r0)
{
    const spot_tsne_plan *p = g->plan;
    int nodes = spot_grid_nodes(p->side), all = spot_grid_node_rows(p), rows = all - r0 < LANES ? all - r0 : LANES;
    float *re = g->wave, *im = re + (size_t)all * p->side;

    memset(l->im, 0, (size_t)p->side * sizeof l->im[0]);
    memset(l->re, 0, (size_t)p->side * sizeof l->re[0]);
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < nodes; i++) l->re[i][j] = spot_grid_value(g->charge[(size_t)(r0 + j) * nodes + i]);
    transform(l, p->side, g);
    store_rows(re, im, l, rows, p->side, p->side, r0, 1.0f);
}

/* Columns of the charges' transform -> of the field's, transformed back along them; and their part of Z. */
static void charge_columns(lines *l, const spot_tsne_grid *g, int c0)
{
    const spot_tsne_plan *p = g->plan;
    int rows = spot_grid_node_rows(p);
    float *re = g->wave, *im = re + (size_t)rows * p->side;
    const float *even = g->spectrum, *a = even + (size_t)p->rows * p->side, *b = a + (size_t)p->rows * p->side;
    double term[SPOT_GRID_TERMS][LANES] = { { 0 } };

    load_columns(l, re, im, rows, p->rows, p->side, c0);
    transform(l, p->rows, g);
    for (int i = 0; i < p->rows; i++) {
        size_t at = (size_t)i * p->side + c0;
#pragma omp simd
        for (int j = 0; j < LANES; j++)
            term[i % SPOT_GRID_TERMS][j] += spot_grid_times(&l->re[i][j], &l->im[i][j], even[at + j], a[at + j], b[at + j]);
    }
    for (int j = 0; j < LANES; j++) {
        double sum = 0;
        for (int t = 0; t < SPOT_GRID_TERMS; t++) sum += term[t][j];
        g->line[c0 + j] = sum;
    }
    transform_back(l, p->rows, g);
    store_columns(re, im, l, rows, p->side, c0);
}

/* Rows of the field's transform -> the field at the nodes. */
static void field_rows(lines *l, const spot_tsne_grid *g, int r0)
{
    const spot_tsne_plan *p = g->plan;
    int nodes = spot_grid_nodes(p->side), all = spot_grid_node_rows(p), rows = all - r0 < LANES ? all - r0 : LANES;
    float *re = g->wave, *im = re + (size_t)all * p->side, scale = 1.0f / ((float)p->side * (float)p->rows);

    for (int i = 0; i < p->side; i++)
        for (int j = 0; j < LANES; j++) {
            size_t at = (size_t)(r0 + (j < rows ? j : 0)) * p->side + i;
            l->re[i][j] = re[at];
            l->im[i][j] = im[at];
        }
    transform_back(l, p->side, g);
    store_rows(re, im, l, rows, nodes, p->side, r0, scale);
}

/* The first node under point i, and its weights along columns and rows. */
static void place_point(const spot_tsne_walk *w, int i, int *column, int *row, float along[SPOT_GRID_SPLINE],
                        float down[SPOT_GRID_SPLINE])
{
    const spot_tsne_plan *p = w->grid.plan;

    *column = spot_grid_place(p, w->map.y[i], p->low[0], along);
    *row = 0;
    down[0] = 1;
    if (p->rows > 1) *row = spot_grid_place(p, w->map.y[w->map.stride + i], p->low[1], down);
}

static void spread_charges(const spot_tsne_walk *w)
{
    const spot_tsne_plan *p = w->grid.plan;
    int nodes = spot_grid_nodes(p->side), height = p->rows > 1 ? SPOT_GRID_SPLINE : 1;

    memset(w->grid.charge, 0, (size_t)spot_grid_node_rows(p) * nodes * sizeof *w->grid.charge);
    for (int i = 0; i < w->map.n; i++) {
        float along[SPOT_GRID_SPLINE], down[SPOT_GRID_SPLINE];
        int column, row;

        place_point(w, i, &column, &row, along, down);
        for (int r = 0; r < height; r++)
            for (int k = 0; k < SPOT_GRID_SPLINE; k++)
                w->grid.charge[(size_t)(row + r) * nodes + column + k] += spot_grid_charge(down[r] * along[k]);
    }
}

static void gather_field(const spot_tsne_walk *w, int i)
{
    const spot_tsne_plan *p = w->grid.plan;
    const float *re = w->grid.wave, *im = re + (size_t)spot_grid_node_rows(p) * p->side;
    float along[SPOT_GRID_SPLINE], down[SPOT_GRID_SPLINE], x = 0, y = 0;
    int column, row, height = p->rows > 1 ? SPOT_GRID_SPLINE : 1;

    place_point(w, i, &column, &row, along, down);
    for (int r = 0; r < height; r++)
        for (int k = 0; k < SPOT_GRID_SPLINE; k++) {
            size_t at = (size_t)(row + r) * p->side + column + k;
            x = fmaf(down[r] * along[k], re[at], x);
            y = fmaf(down[r] * along[k], im[at], y);
        }
    w->repel[(size_t)i * w->map.dim] = x;
    if (w->map.dim > 1) w->repel[(size_t)i * w->map.dim + 1] = y;
}

/* The lines' sums of Z, every 256th of them first. */
static double sum_of_lines(const spot_tsne_grid *g)
{
    double part[SPOT_GRID_FOLD] = { 0 }, sum = 0;

    for (int i = 0; i < g->plan->side; i++) part[i % SPOT_GRID_FOLD] += g->line[i];
    for (int t = 0; t < SPOT_GRID_FOLD; t++) sum += part[t];
    return sum;
}

static void lay_grid(const spot_tsne_walk *w)
{
    float low[2], high[2];

    for (int k = 0; k < w->map.dim; k++) {
        const float *y = w->map.y + (size_t)k * w->map.stride;
        low[k] = high[k] = y[0];
        for (int i = 1; i < w->map.n; i++) {
            low[k] = fminf(low[k], y[i]);
            high[k] = fmaxf(high[k], y[i]);
        }
    }
    spot_grid_lay(w->grid.plan, low, high, w->map.dim, w->grid.most);
}

/* Runs `part` for `count` lines of a grid, 16 at a time. */
static void each_line(void (*part)(lines *l, const spot_tsne_grid *g, int first), const spot_tsne_grid *g, int count,
                      int threads)
{
#pragma omp parallel num_threads(threads)
    {
        lines l;
#pragma omp for schedule(dynamic)
        for (int first = 0; first < count; first += LANES) part(&l, g, first);
    }
}

void spot_tsne_interpolate(const spot_tsne_walk *w, int threads)
{
    const spot_tsne_grid *g = &w->grid;
    const spot_tsne_plan *p = g->plan;

    lay_grid(w);
    if (p->fresh) {
        each_line(kernel_rows, g, p->rows, threads);
        each_line(kernel_columns, g, p->side, threads);
        each_line(kernel_transpose, g, p->side, threads);
    }
    spread_charges(w);
    each_line(charge_rows, g, spot_grid_node_rows(p), threads);
    each_line(charge_columns, g, p->side, threads);
    each_line(field_rows, g, spot_grid_node_rows(p), threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, MANY)
    for (int i = 0; i < w->map.n; i++) gather_field(w, i);
    for (int tile = 0; tile < spot_tsne_tiles(w->map.n); tile++) w->partial[tile] = 0;
    w->partial[0] = spot_grid_z(p, sum_of_lines(g), w->map.n);
}
