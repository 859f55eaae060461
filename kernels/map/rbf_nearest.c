/* rbf_nearest.c - u, the mean of the nearest points, and the values of all cells, on the CPU (rbf.h). The matrix is symmetric:
 * row a has the columns b >= a.
 *
 * A point's squared distance is a sum of one number for image j and one for image k, so the least of a target is at least the
 * sum of the least along both axes. Those are tabulated for each row's centre and each target. The points in cells bound the
 * distance of the last of the nearest points. Targets whose least is within the bound, a few out of a hundred, are searched.
 *
 * A target's images lie in ascending order of their places, those of one place side by side from first to last: a place makes
 * all its points at once. j and k are images of a target, of which one stands for its place. */
#include "map/rbf_cpu.h"

#include <omp.h>
#include <string.h>

#include "core/lanes.h"

enum { TARGETS = 16 };     /* looked at together */

/* The nearest image of each target to the centre of row a. Targets past the last, which fill a vector, have none and lie at
 * infinity, so no search looks at them; nor at a target with one image, which makes no point. */
static void fill_near(const spot_rbf_space *o, const spot_rbf_problem *p, int a)
{
    float *square = o->near_square + (size_t)a * o->padded;
    uint8_t *near = o->near + (size_t)a * o->padded;

    for (size_t t = 0; t < o->padded; t++) {
        const float *x = o->x + t * (size_t)p->images;
        int held = t < (size_t)p->targets ? o->held[t] : 0, at = held ? spot_rbf_first(x, held, (float)a + 0.5f) : 0;
        if (at && (at == held || spot_rbf_square(a, x[at - 1]) <= spot_rbf_square(a, x[at]))) at--;
        near[t] = (uint8_t)at;
        square[t] = held > 1 ? spot_rbf_square(a, x[at]) : INFINITY;
    }
}

/* The search around one cell. */
typedef struct {
    int a, b, found, wanted;
    float within;              /* points up to this squared distance are looked at */
    float best[SPOT_RBF_NEAREST];      /* (found): ascending, the least squared distances so far */
    double *sum, *tie;         /* (signals): of points nearer than `within`, and of those at it; side by side in memory */
    int nearer, ties;          /* numbers of these points */
} search;

/* `count` points at one place. */
static void add_distance(search *s, float square, int count)
{
    for (; count && (s->found < s->wanted || square < s->within); count--) {
        int at = s->found < s->wanted ? s->found++ : s->wanted - 1;
        for (; at && s->best[at - 1] > square; at--) s->best[at] = s->best[at - 1];
        s->best[at] = square;
        if (s->found == s->wanted) s->within = s->best[s->wanted - 1];
    }
}

/* The sum of |x - y| over all pairs of two ascending arrays; of the same array, over both orders of a pair. m + n steps in
 * place of m n: y's up to x[j] are below it, the others above. */
static double sum_differences(const float *x, int m, const float *y, int n)
{
    double sum = 0, all = 0, below = 0;
    int at = 0;

    if (m == 1 && n == 1) return (double)fabsf(*x - *y);
    for (int k = 0; k < n; k++) all += (double)y[k];
    for (int j = 0; j < m; j++) {
        for (; at < n && y[at] <= x[j]; at++) below += (double)y[at];
        sum += at * (double)x[j] - below + (all - below) - (n - at) * (double)x[j];
    }
    return sum;
}

/* The images of a target at the places of j and k. */
typedef struct { size_t j, k; int high, wide, count; } places;

static places places_of(const spot_rbf_space *o, size_t row, int j, int k)
{
    places e = { row + o->first[row + (size_t)j], row + o->first[row + (size_t)k], 0, 0, 0 };

    e.high = o->last[row + (size_t)j] - o->first[row + (size_t)j] + 1;
    e.wide = o->last[row + (size_t)k] - o->first[row + (size_t)k] + 1;
    e.count = e.high * e.wide - (e.j == e.k ? e.high : 0);     /* an image and itself are no point */
    return e;
}

static void add_points(search *s, const spot_rbf_space *o, const spot_rbf_problem *p, const places *e, bool nearer)
{
    const size_t plane = (size_t)p->targets * (size_t)p->images;
    double *to = nearer ? s->sum : s->tie;

    for (int n = 0; n < p->signals; n++) {
        const float *own = o->s + (size_t)n * plane;
        to[n] += sum_differences(own + e->j, e->high, own + e->k, e->wide);
    }
    *(nearer ? &s->nearer : &s->ties) += e->count;
}

/* The points of the images at j's place, `high` away along their axis: from the nearest place k on, to both sides. */
static void search_place(search *s, const spot_rbf_space *o, const spot_rbf_problem *p, int t, int j, float high, bool values)
{
    const size_t row = (size_t)t * (size_t)p->images;
    const float *x = o->x + row;
    const int near = o->near[(size_t)s->b * o->padded + (size_t)t], held = o->held[t];

    for (int side = 0; side < 2; side++)
        for (int k = side ? o->last[row + (size_t)near] + 1 : near; k >= 0 && k < held;) {
            const float square = high + spot_rbf_square(s->b, x[k]);
            const places e = places_of(o, row, j, k);
            if (square > s->within) break;
            if (e.count && values) add_points(s, o, p, &e, square < s->within);
            else if (e.count) add_distance(s, square, e.count);
            k = side ? o->last[row + (size_t)k] + 1 : o->first[row + (size_t)k] - 1;
        }
}

/* From the nearest place on to both sides, until a place is too far even with the target's nearest image on the other axis.
 * values: false in a first pass, which finds the distance of the last of the nearest points; then true, which sums the values
 * up to it. Sums in the first pass would have to be taken back whenever a nearer point comes. */
static void search_target(search *s, const spot_rbf_space *o, const spot_rbf_problem *p, int t, bool values)
{
    const size_t row = (size_t)t * (size_t)p->images;
    const float *x = o->x + row;
    const float least = o->near_square[(size_t)s->b * o->padded + (size_t)t];
    const int near = o->near[(size_t)s->a * o->padded + (size_t)t], held = o->held[t];

    for (int side = 0; side < 2; side++)
        for (int j = side ? o->last[row + (size_t)near] + 1 : near; j >= 0 && j < held;) {
            const float high = spot_rbf_square(s->a, x[j]);
            if (high + least > s->within) break;
            search_place(s, o, p, t, j, high, values);
            j = side ? o->last[row + (size_t)j] + 1 : o->first[row + (size_t)j] - 1;
        }
}

static void search_targets(search *s, const spot_rbf_space *o, const spot_rbf_problem *p, bool values)
{
    const float *high = o->near_square + (size_t)s->a * o->padded, *wide = o->near_square + (size_t)s->b * o->padded;

    for (size_t t = 0; t < o->padded; t += TARGETS) {
        int any = 0;
#pragma omp simd reduction(| : any)
        for (int i = 0; i < TARGETS; i++) any |= high[t + (size_t)i] + wide[t + (size_t)i] <= s->within;
        for (size_t i = t; any && i < t + TARGETS; i++)
            if (high[i] + wide[i] <= s->within) search_target(s, o, p, (int)i, values);
    }
}

/* The cell's u of all signals into s->sum. */
static void mean_nearest(search *s, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p)
{
    const size_t lines = (size_t)cfg->grid * ((size_t)cfg->grid + 1);
    const int square = spot_rbf_nearest_square(o->bin, cfg->grid, s->a, s->b, s->wanted);

    if (o->bin_v) {
        for (int n = 0; n < p->signals; n++)
            s->sum[n] = spot_rbf_binned_mean(o->bin_v + (size_t)n * lines, o->bin, cfg->grid, s->a, s->b, square, s->wanted);
        return;
    }
    memset(s->sum, 0, 2 * (size_t)p->signals * sizeof *s->sum);
    s->within = spot_rbf_bound(square);
    s->found = s->nearer = s->ties = 0;
    search_targets(s, o, p, false);
    search_targets(s, o, p, true);
    for (int n = 0; n < p->signals; n++) s->sum[n] = spot_rbf_mean(s->sum[n], s->nearer, s->tie[n], s->ties, s->wanted);
}

static void fill_row(const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p, int a, int wanted)
{
    const size_t grid = (size_t)cfg->grid, cells = grid * grid;
    search s = { .a = a, .wanted = wanted, .sum = o->tie + (size_t)omp_get_thread_num() * 2 * (size_t)p->signals };

    s.tie = s.sum + p->signals;
    for (size_t b = (size_t)a; b < grid; b++) {
        size_t at = (size_t)a * grid + b, over = b * grid + (size_t)a;
        s.b = (int)b;
        if (wanted) mean_nearest(&s, o, cfg, p);
        for (size_t n = 0; n < (size_t)p->signals; n++) {
            double sum = o->sum[n * cells + at], weight = o->sum[(size_t)p->signals * cells + at];
            p->value[n * cells + at] = wanted ? (float)((s.sum[n] + sum) / (1 + weight)) : NAN;
            p->value[n * cells + over] = p->value[n * cells + at];
        }
        p->count[over] = p->count[at];
    }
}

void spot_rbf_fill_values(const spot_ctx *c, const spot_rbf_space *o, const spot_rbf_config *cfg, const spot_rbf_problem *p)
{
    const int grid = cfg->grid, points = spot_rbf_count_within(o->bin, grid, 0, 0, 2 * grid * grid);
    const int wanted = points < cfg->nearest ? points : cfg->nearest;

#pragma omp parallel for num_threads(c->threads)
    for (int a = 0; a < grid; a++)
        if (!o->bin_v) fill_near(o, p, a);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1)
    for (int a = 0; a < grid; a++) fill_row(o, cfg, p, a, wanted);
}
