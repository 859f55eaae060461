/* tsne_grid.h - repulsion by interpolation (Linderman, Rachh, Hoskins, Steinerberger, Kluger 2019): the arithmetic that the
 * CPU's version and CUDA's share.
 *
 * A regular grid with three nodes or more a unit covers the map. A point is spread as charges over the 4 x 4 nodes around it
 * (4 in a line). Charges q on the nodes b give
 *
 *     Z + n = sum_ab q_a K(a-b) q_b         K(d) = 1 / (1 + |d|^2)
 *     field(a) = sum_b V(a-b) q_b           V(d) = d / (1 + |d|^2)^2
 *
 * and a point's repulsion is the field at its nodes with the same weights. Both sums are convolutions: products of Fourier
 * transforms over a grid of twice the size, with zeros in the other half. Two things differ from the paper:
 *
 * The paper convolves scalar kernels with charges times coordinates and takes differences of large sums. Here the force itself
 * is convolved: one forward transform and one back. Nothing cancels, so fp32 is enough. K is even and V odd in each of its
 * components, so the transform of K + V_x is K^ + i A with real K^ and A, that of V_y is i B with B the transpose of A, and
 * the field's transform is q^ (i A - B) when its components are its real and imaginary part.
 *
 * The paper interpolates by polynomials within cells of three nodes. Here weights are cubic B-splines, and the kernels'
 * transform is divided by the splines' transform, once for spreading and once for gathering. So the product is the cubic spline
 * through the kernel's values at the nodes: smooth, and an order more exact at the same distance of nodes.
 *
 * A line of 2^m is transformed in place to bit-reversed order, and back from it, so no step sorts. Charges are integers in
 * units of 2^-32, so their sums do not depend on the order. */
#ifndef SPOTTER_TSNE_GRID_H
#define SPOTTER_TSNE_GRID_H

#include "core/vmath.h"
#include "map/tsne.h"

/* Points in an FFT's line: at least 512, for 81 units, and at most 4096, for 678. 4096 takes 270 MB in two
 * dimensions, so up to SPOT_GRID_FEW points get 2048, for 337 units; 30,000 points ended 210 wide. A map too wide for 4096
 * gets wider distances. */
enum { SPOT_GRID_LEAST = 512, SPOT_GRID_MOST = 4096, SPOT_GRID_FEW = 50000, SPOT_GRID_TERMS = 32,
       SPOT_GRID_FOLD = 256 };

/* Nodes that a coordinate's charge lies on; nodes a unit; nodes left free because the kernel wraps around there. */
enum { SPOT_GRID_SPLINE = 4, SPOT_GRID_PER_UNIT = 3, SPOT_GRID_MARGIN = 8 };

static SPOT_HD inline int spot_grid_nodes(int side) { return side / 2 - SPOT_GRID_MARGIN; }
static SPOT_HD inline int spot_grid_intervals(int side) { return spot_grid_nodes(side) - SPOT_GRID_SPLINE; }

/* The grid for a map between low and high: the smallest with three nodes a unit. Their distance goes in steps of 2^(1/4), so
 * that the kernels' transform is seldom computed again. p holds the last grid. A NaN span gives a grid, too: the map's NaNs
 * show in the forces. */
static SPOT_HD inline void spot_grid_lay(spot_tsne_plan *p, const float *low, const float *high, int dim, int most)
{
    const float step[] = { 1.0f, 1.1892071f, 1.4142136f, 1.6817928f, 2.0f };
    float span = 1e-6f, power, apart;
    int side = SPOT_GRID_LEAST, quarter = 0;

    for (int k = 0; k < dim; k++) span = fmaxf(span, high[k] - low[k]);
    span = fminf(span, 1e30f);
    while (side < most && (float)SPOT_GRID_PER_UNIT * span > (float)spot_grid_intervals(side)) side *= 2;
    apart = span / (float)spot_grid_intervals(side);
    power = spot_bits_float(spot_float_bits(apart) & 0x7f800000);      /* the power of two below it */
    while (power * step[quarter] < apart) quarter++;
    apart = power * step[quarter];
    p->fresh = side != p->side || apart != p->apart;
    p->side = side;
    p->rows = dim == 2 ? side : 1;
    p->apart = apart;
    for (int k = 0; k < dim; k++) p->low[k] = low[k];
}

static SPOT_HD inline int spot_grid_node_rows(const spot_tsne_plan *p) { return p->rows > 1 ? spot_grid_nodes(p->side) : 1; }

/* The first of the nodes that coordinate x is spread over, and its weights there. */
static SPOT_HD inline int spot_grid_place(const spot_tsne_plan *p, float x, float low, float weight[SPOT_GRID_SPLINE])
{
    float at = (x - low) / p->apart;
    int first = (int)fminf(fmaxf(at, 0.0f), (float)spot_grid_intervals(p->side));
    float u = at - (float)first, v = 1.0f - u;

    weight[0] = v * v * v / 6.0f;
    weight[1] = fmaf(u * u, fmaf(0.5f, u, -1.0f), 2.0f / 3.0f);
    weight[2] = fmaf(v * v, fmaf(0.5f, v, -1.0f), 2.0f / 3.0f);
    weight[3] = u * u * u / 6.0f;
    return first;
}

/* A charge in units of 2^-32. The addition rounds it, so a NaN (which shows elsewhere) is not undefined behaviour; it is
 * unsigned, so an overflow of sums is not, either. */
static SPOT_HD inline uint64_t spot_grid_charge(float weight)
{
    double shifted = (double)weight + 0x1.8p20;      /* an ulp is 2^-32 */
    uint64_t bits;

    memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4138000000000000;
}

static SPOT_HD inline float spot_grid_value(uint64_t charge) { return (float)((double)(int64_t)charge * 0x1p-32); }

/* K + V_x at (row, column) of the grid; its second half holds negative distances. */
static SPOT_HD inline float spot_grid_kernel(const spot_tsne_plan *p, int row, int column)
{
    float x = p->apart * (float)(2 * column < p->side ? column : column - p->side);
    float y = p->apart * (float)(2 * row < p->rows ? row : row - p->rows);
    float q = 1.0f / fmaf(x, x, fmaf(y, y, 1.0f));

    return fmaf(x * q, q, q);
}

/* The squared transform of the splines, the divisor of the kernels' transform: entry i of a line in bit-reversed order. */
static SPOT_HD inline float spot_grid_spline(const spot_tsne_grid *g, int side, int i)
{
    int k = 0;
    float b;

    for (int bit = 1; bit < side; bit *= 2) k = 2 * k + ((i & bit) != 0);
    if (k > side / 2) k = side - k;
    b = (2.0f + (2 * k < side ? g->turn[2 * (size_t)k * (g->most / side)] : -1.0f)) / 3.0f;
    return b * b;
}

/* One butterfly of two entries of a line, forward and back, with the factor exp(i angle). */
static SPOT_HD inline void spot_grid_forward(float *ar, float *ai, float *br, float *bi, float cosine, float sine)
{
    float r = *ar - *br, i = *ai - *bi;

    *ar += *br;
    *ai += *bi;
    *br = fmaf(r, cosine, i * sine);
    *bi = fmaf(i, cosine, -(r * sine));
}

static SPOT_HD inline void spot_grid_back(float *ar, float *ai, float *br, float *bi, float cosine, float sine)
{
    float r = fmaf(*br, cosine, -(*bi * sine)), i = fmaf(*bi, cosine, *br * sine);

    *br = *ar - r;
    *bi = *ai - i;
    *ar += r;
    *ai += i;
}

/* The charges' transform (r, i) becomes the field's. Returns its product with K^, for Z. */
static SPOT_HD inline double spot_grid_times(float *r, float *i, float k, float a, float b)
{
    double square = (double)*r * *r + (double)*i * *i;
    float real = -fmaf(*r, b, *i * a), imaginary = fmaf(*r, a, -(*i * b));

    *r = real;
    *i = imaginary;
    return square * k;
}

/* Z from the sum of its lines, without each point's term with itself, about 1. */
static SPOT_HD inline double spot_grid_z(const spot_tsne_plan *p, double sum, int n)
{
    return sum / ((double)p->side * p->rows) - n;
}

/* repel and Z of a walk with a grid, on the CPU. */
void spot_tsne_interpolate(const spot_tsne_walk *w, int threads);

/* Takes memory for the map's grid from the scratch of c's device. */
spot_status spot_tsne_take_grid(spot_ctx *c, spot_arena *a, spot_tsne_grid *g, const spot_tsne_problem *t);

#endif
