/* rbf.h - variance matrices by radial basis functions (paper 003, appendix D), for `problems` independent models: how much a
 * model's response to a target changes between two of its backgrounds, over the distances of both from the original. The host
 * makes features of the matrices and judges invariance by them (host/background/verdict).
 *
 * A problem has l targets with n + 1 images each. Image j of a target has a distance d_j to the target's original (the
 * original's is 0) and a response S_j for each signal. Every ordered pair j != k of a target's images is a point: it lies at
 * (d_j, d_k), and its value is v = |S_j - S_k|. So l targets give l n (n + 1) points.
 *
 *   value(e) = (phi(0) u(e) + sum phi(|e - p_i|) v_i) / (phi(0) + sum phi(|e - p_i|)),   phi(r) = exp(-r^2 / (2 sigma^2))
 *
 * The sums are over the points in a circular window: those nearer to e than kernel / 2. u(e), which gives a value to elements
 * without points in their window and counts as one point at e itself (weight phi(0) = 1), is the plain mean of the
 * `nearest` points' values, of all points where there are fewer. Points at the distance of the last of them share the places
 * that the nearer ones leave: the value of each such place is their mean. So neither u nor the sums depend on an order of the
 * points.
 *
 *   axes     Lengths are in cells: x = d grid / range in fp32, and the centre of cell i lies at i + 1/2. value[a][b] is at
 *            (d_j, d_k) = (a + 1/2, b + 1/2) range / grid. Cell (0, 0) is next to both originals. The matrix is symmetric.
 *   beyond   An image takes no part when its distance is NaN (the image is absent), when its distance is below 0 or above
 *            range, or when one of its signals is NaN or above SPOT_RBF_MOST_SIGNAL in size. left_out counts such images, each
 *            once and by the first of the three reasons. No image is moved to the border.
 *   no point The values are NaN, the counts 0. With one pair of images each cell has a value: all cells are NaN, or none.
 *
 * SPOT_RBF_EXACT takes every point where it lies. SPOT_RBF_BINNED moves it to the centre of its cell first and convolves the
 * cells' sums: it equals the exact method on distances that were rounded so. A point moves by 1/sqrt(2) cells at most. On
 * 1,712 targets with 33 images at random distances (grid 128) a value is off by at most 0.4 % of the largest, at each of the
 * paper's settings. Where points are few it is off by as much as neighbours' values differ.
 *
 * Sums of 32 targets are fp32 chains; all else is fp64. On the CPU the bits do not depend on threads. CUDA's values agree with
 * the CPU's to 1e-6 of the largest; counts are equal. Arrays lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_RBF_H
#define SPOTTER_RBF_H

#include <stddef.h>

#include "core/ops.h"
#include "spotter/arena.h"

enum { SPOT_RBF_GRID = 512, SPOT_RBF_KERNEL = 128, SPOT_RBF_NEAREST = 256, SPOT_RBF_IMAGES = 256 };     /* the most of each */
#define SPOT_RBF_MOST_SIGNAL 1e30f

typedef enum { SPOT_RBF_EXACT, SPOT_RBF_BINNED, SPOT_RBF_METHODS } spot_rbf_method;

/* The paper's settings are (kernel 32, sigma 10), its main one, (32, 2) and (16, 5), each with 32 nearest points. It names
 * neither a grid nor a range. */
typedef struct {
    int grid;                  /* cells a side; 128 */
    int kernel;                /* diameter of the window, in cells */
    int nearest;               /* K */
    float sigma;               /* in cells, from 0.001 to 1e6 */
    spot_rbf_method method;
} spot_rbf_config;

enum { SPOT_RBF_ABSENT, SPOT_RBF_OUTSIDE, SPOT_RBF_UNUSABLE, SPOT_RBF_REASONS };

typedef struct {
    int targets, images, signals;      /* l, n + 1 (with the original), and how many signals share the points */
    float range;                       /* the axes' last distance; the same for all models that are compared */
    const float *distance;             /* (targets, images) */
    const float *signal;               /* (signals, targets, images) */
    float *value;                      /* (signals, grid, grid), out */
    int   *count;                      /* (grid, grid), out: points in the cell's window */
    int   *left_out;                   /* (SPOT_RBF_REASONS), out: images */
} spot_rbf_problem;

struct spot_rbf_ops {
    spot_status (*matrices)(spot_ctx *c, spot_arena *scratch, const spot_rbf_config *cfg, int problems,
                            const spot_rbf_problem *p);
};

/* SPOT_INVALID where a number is out of range, or where a problem has 2^31 points or more. */
spot_status spot_rbf_matrices(spot_ctx *c, spot_arena *scratch, const spot_rbf_config *cfg, int problems,
                              const spot_rbf_problem *p);

/* Bytes of scratch in the memory of the device. threads 0: CUDA's scratch. */
size_t spot_rbf_scratch(const spot_rbf_config *cfg, int problems, const spot_rbf_problem *p, int threads);

#endif
