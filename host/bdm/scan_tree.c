/* scan_tree.c - see scan_tree.h. */
#include "bdm/scan_tree.h"

#include <math.h>
#include <string.h>

#define TINY         1e-6      /* rates are kept this far from 0 and 1 */
#define LEAST_BASE   1e-4
#define LEAST_SPREAD 0.15
#define QUIET        2.0       /* a piece of less evidence does not fail */
#define FAR          8.0       /* standard deviations */
enum { PIECE = 10, FEWEST_PIECES = 10, ROUNDS = 4, SIDE = 5 };

static int pieces_of(int n, int leaves)
{
    int pieces = n / PIECE > FEWEST_PIECES ? n / PIECE : FEWEST_PIECES;

    return pieces < leaves ? pieces : leaves;
}

spot_status spot_scan_take(spot_ctx *c, spot_arena *a, spot_scan *s, int n, int leaves, int d)
{
    size_t k = (size_t)leaves, nodes = 2 * k, most = SPOT_SCAN_MOST;

    SPOT_TRY(SPOT_TAKE(c, a, s->slice, k));
    SPOT_TRY(SPOT_TAKE(c, a, s->node, nodes));
    SPOT_TRY(SPOT_TAKE(c, a, s->place, k));
    SPOT_TRY(SPOT_TAKE(c, a, s->name, k));
    SPOT_TRY(SPOT_TAKE(c, a, s->size, nodes));
    SPOT_TRY(SPOT_TAKE(c, a, s->sum, nodes));
    SPOT_TRY(SPOT_TAKE(c, a, s->squares, nodes));
    SPOT_TRY(SPOT_TAKE(c, a, s->best, nodes));
    SPOT_TRY(SPOT_TAKE(c, a, s->apart, nodes));
    SPOT_TRY(SPOT_TAKE(c, a, s->take, nodes));
    SPOT_TRY(SPOT_TAKE(c, a, s->mean, nodes * (size_t)d));
    SPOT_TRY(SPOT_TAKE(c, a, s->piece, k));
    SPOT_TRY(SPOT_TAKE(c, a, s->rest, k));
    SPOT_TRY(SPOT_TAKE(c, a, s->side, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->line, 2 * (size_t)d));
    SPOT_TRY(SPOT_TAKE(c, a, s->at, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->chosen, most));
    SPOT_TRY(SPOT_TAKE(c, a, s->group, most));
    SPOT_TRY(SPOT_TAKE(c, a, s->mass, most));
    SPOT_TRY(SPOT_TAKE(c, a, s->away, most * (size_t)pieces_of(n, leaves)));
    return SPOT_TAKE(c, a, s->quotient, most * most);
}

static double inside(double r) { return fmin(fmax(r, TINY), 1 - TINY); }

double spot_scan_evidence(double errors, double n, double b)
{
    double r = n > 0 ? inside(errors / n) : 0;

    b = inside(b);
    return r > b ? n * (r * log(r / b) + (1 - r) * log((1 - r) / (1 - b))) : 0;
}

/* ---- the tree ---- */

static double *mean_of(const spot_scan *s, int v) { return s->mean + (size_t)v * s->d; }

static void fill_leaves(spot_scan *s)
{
    memset(s->size, 0, (size_t)s->leaves * sizeof *s->size);
    memset(s->sum, 0, (size_t)s->leaves * sizeof *s->sum);
    memset(s->squares, 0, (size_t)s->leaves * sizeof *s->squares);
    memset(s->mean, 0, (size_t)s->leaves * (size_t)s->d * sizeof *s->mean);
    for (int i = 0; i < s->n; i++) {
        double *to = mean_of(s, s->leaf[i]);
        s->size[s->leaf[i]]++;
        s->sum[s->leaf[i]] += s->error[i];
        s->squares[s->leaf[i]] += s->error[i] * s->error[i];
        for (int j = 0; j < s->d; j++) to[j] += s->x[(size_t)i * s->stride + j];
    }
    for (int k = 0; k < s->leaves; k++)
        for (int j = 0; j < s->d && s->size[k] > 1; j++) mean_of(s, k)[j] /= s->size[k];
}

static void mean_of_two(double *to, const double *a, double m, const double *b, double n, int d)
{
    for (int j = 0; j < d; j++) to[j] = m + n > 0 ? (m * a[j] + n * b[j]) / (m + n) : 0;
}

/* The name of the cluster that a leaf is in: paths are halved on the way. */
static int name_of(int *name, int k)
{
    while (name[k] != k) k = name[k] = name[name[k]];
    return k;
}

/* Nodes from the merges. `piece` serves as the list of each cluster's node. */
static void build_nodes(spot_scan *s)
{
    int *own = s->piece;

    fill_leaves(s);
    for (int k = 0; k < s->leaves; k++) {
        s->node[k] = (spot_scan_node){ .left = -1, .right = -1 };
        s->name[k] = own[k] = k;
    }
    for (int i = 0; i + 1 < s->leaves; i++) {
        int v = s->leaves + i, a = name_of(s->name, s->merge[i].a), b = name_of(s->name, s->merge[i].b);
        int left = own[a], right = own[b];
        s->node[v] = (spot_scan_node){ .left = left, .right = right };
        s->size[v] = s->size[left] + s->size[right];
        s->sum[v] = s->sum[left] + s->sum[right];
        s->squares[v] = s->squares[left] + s->squares[right];
        mean_of_two(mean_of(s, v), mean_of(s, left), s->size[left], mean_of(s, right), s->size[right], s->d);
        s->name[b] = a;
        own[a] = v;
        s->apart[v] = -1;
    }
}

/* Places of the leaves, from the root down: a node knows its number of leaves, so its children know where they begin. `to` is
 * that number first. */
static void place_leaves(spot_scan *s)
{
    int nodes = 2 * s->leaves - 1;

    for (int v = 0; v < nodes; v++) {
        spot_scan_node *t = &s->node[v];
        t->to = t->left < 0 ? 1 : s->node[t->left].to + s->node[t->right].to;
    }
    s->node[nodes - 1].from = 0;
    for (int v = nodes - 1; v >= 0; v--) {
        spot_scan_node *t = &s->node[v];
        if (t->left >= 0) {
            s->node[t->left].from = t->from;
            s->node[t->right].from = t->from + s->node[t->left].to;
        } else {
            s->place[v] = t->from;
        }
        t->to += t->from;
    }
}

/* The nodes that are left when all but the last merges are made. */
static void cut_pieces(spot_scan *s)
{
    int wanted = pieces_of(s->n, s->leaves), first = 2 * s->leaves - wanted;

    s->pieces = 0;
    if (wanted == 1) s->piece[s->pieces++] = first - 1;
    for (int v = first; v < 2 * s->leaves - 1; v++) {
        const spot_scan_node *t = &s->node[v];
        if (t->left < first) s->piece[s->pieces++] = t->left;
        if (t->right < first) s->piece[s->pieces++] = t->right;
    }
}

/* ---- the background ---- */

/* The rate of the piece that holds the median row, in the order of the pieces' rates. */
static double median_rate(const spot_scan *s)
{
    for (int k = 0; k < s->pieces; k++) {
        double own = s->sum[s->piece[k]] / s->size[s->piece[k]], below = 0, equal = 0;
        if (!(s->size[s->piece[k]] > 0)) continue;
        for (int i = 0; i < s->pieces; i++) {
            double size = s->size[s->piece[i]], rate = size > 0 ? s->sum[s->piece[i]] / size : 2;
            if (rate < own) below += size;
            else if (rate <= own) equal += size;
        }
        if (below < s->n / 2.0 && below + equal >= s->n / 2.0) return own;
    }
    return 0;
}

static double evidence_of(const spot_scan *s, int v)
{
    return spot_scan_evidence(s->sum[v], s->size[v], s->base) / s->spread;
}

static void list_background(spot_scan *s)
{
    s->others = 0;
    for (int k = 0; k < s->pieces; k++) {
        int v = s->piece[k];
        if (s->size[v] > 0 && evidence_of(s, v) < QUIET) s->rest[s->others++] = v;
    }
}

/* ---- one thing, or two ---- */

static double square(const double *a, const double *b, int d)
{
    double sum = 0;

    for (int i = 0; i < d; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* The line between the means of the rows with the places `half`, `half` + 2, .. of each side. */
static void find_line(const spot_scan *s, int half)
{
    int seen[2] = { 0 }, used[2] = { 0 };

    memset(s->line, 0, 2 * (size_t)s->d * sizeof *s->line);
    for (int i = 0; i < s->n; i++) {
        int k = s->side[i];
        if (k > 1 || seen[k]++ % 2 != half) continue;
        used[k]++;
        for (int j = 0; j < s->d; j++) s->line[(size_t)k * s->d + j] += s->x[(size_t)i * s->stride + j];
    }
    for (int j = 0; j < s->d; j++) s->line[j] = s->line[s->d + j] / used[1] - s->line[j] / used[0];
}

/* Distance of the means of the other rows along the line, in their deviations. */
static double apart_on_line(const spot_scan *s, int half)
{
    int seen[2] = { 0 }, used[2] = { 0 };
    double mean[2] = { 0 }, squares = 0, length = 0;

    for (int j = 0; j < s->d; j++) length += s->line[j] * s->line[j];
    if (!(length > 0)) return 0;
    for (int i = 0; i < s->n; i++) {
        int k = s->side[i];
        if (k > 1 || seen[k]++ % 2 == half) continue;
        used[k]++;
        s->at[i] = 0;
        for (int j = 0; j < s->d; j++) s->at[i] += s->x[(size_t)i * s->stride + j] * s->line[j];
        s->at[i] /= sqrt(length);
        mean[k] += s->at[i];
    }
    mean[0] /= used[0], mean[1] /= used[1];
    seen[0] = seen[1] = 0;
    for (int i = 0; i < s->n; i++) {
        int k = s->side[i];
        if (k > 1 || seen[k]++ % 2 == half) continue;
        squares += (s->at[i] - mean[k]) * (s->at[i] - mean[k]);
    }
    return (mean[1] - mean[0]) / fmax(sqrt(squares / (used[0] + used[1] - 2)), 1e-9);
}

double spot_scan_apart(const spot_scan *s)
{
    int rows[3] = { 0 };
    double sum = 0;

    for (int i = 0; i < s->n; i++) rows[s->side[i]]++;
    if (rows[0] < SIDE || rows[1] < SIDE) return 0;
    for (int half = 0; half < 2; half++) {
        find_line(s, half);
        sum += apart_on_line(s, half) / 2;
    }
    return sum;
}

static bool is_in(const spot_scan_node *t, int place) { return t->from <= place && place < t->to; }

static bool something_between(const spot_scan *s, const double *a, const double *b)
{
    double far = square(a, b, s->d);

    for (int k = 0; k < s->others; k++) {
        const double *rest = mean_of(s, s->rest[k]);
        if (far >= (square(a, rest, s->d) + square(b, rest, s->d)) / 2) return true;
    }
    return false;
}

static bool is_one(spot_scan *s, int v)
{
    const spot_scan_node t = s->node[v];

    if (t.left < 0) return true;
    if (something_between(s, mean_of(s, t.left), mean_of(s, t.right))) return false;
    if (s->apart[v] < 0) {
        for (int i = 0; i < s->n; i++) {
            int place = s->place[s->leaf[i]];
            s->side[i] = is_in(&s->node[t.left], place) ? 0 : is_in(&s->node[t.right], place) ? 1 : 2;
        }
        s->apart[v] = fmax(spot_scan_apart(s), 0);
    }
    return s->apart[v] <= FAR;
}

/* ---- the best set of nodes ---- */

static double gain_of(const spot_scan *s, int v)
{
    return s->size[v] >= s->least ? evidence_of(s, v) - log(s->n) : 0;
}

static void find_best(spot_scan *s)
{
    for (int v = 0; v < 2 * s->leaves - 1; v++) {
        const spot_scan_node t = s->node[v];
        double parts = t.left < 0 ? 0 : s->best[t.left] + s->best[t.right], own = gain_of(s, v);
        s->take[v] = own > parts && is_one(s, v);
        s->best[v] = s->take[v] ? own : parts;
    }
}

/* The outermost nodes that are taken, from the root down; where there are too many, those with the greatest gain. */
static void choose_nodes(spot_scan *s)
{
    s->slices = 0;
    for (int v = 2 * s->leaves - 2; v >= 0; v--) {
        const spot_scan_node t = s->node[v];
        int at = 0;
        if (!s->take[v]) continue;
        if (s->slices < SPOT_SCAN_MOST) s->chosen[s->slices++] = v;
        else {
            for (int k = 1; k < s->slices; k++)
                if (s->best[s->chosen[k]] < s->best[s->chosen[at]]) at = k;
            if (s->best[v] > s->best[s->chosen[at]]) s->chosen[at] = v;
        }
        for (int u = v - 1; u >= 0; u--)
            if (s->node[u].from >= t.from && s->node[u].to <= t.to) s->take[u] = false;
    }
}

/* Rate and spread of the rows in no slice; they stay where all rows are in one. */
static void find_outer(spot_scan *s)
{
    int root = 2 * s->leaves - 2;
    double size = s->n, sum = s->sum[root], squares = s->squares[root], b;

    for (int k = 0; k < s->slices; k++) {
        size -= s->size[s->chosen[k]];
        sum -= s->sum[s->chosen[k]];
        squares -= s->squares[s->chosen[k]];
    }
    if (!(size > 0)) return;
    s->base = fmax(sum / size, LEAST_BASE);
    b = inside(s->base);
    s->spread = fmin(fmax((squares / size - b * b) / (b * (1 - b)), LEAST_SPREAD), 1);
}

/* ---- slices are joined ---- */

static void find_away(spot_scan *s, int g)
{
    for (int k = 0; k < s->others; k++)
        s->away[(size_t)g * s->pieces + k] = square(mean_of(s, s->chosen[g]), mean_of(s, s->rest[k]), s->d);
}

static double *quotient_at(const spot_scan *s, int g, int h)
{
    return s->quotient + (size_t)(g < h ? g : h) * SPOT_SCAN_MOST + (g < h ? h : g);
}

static void find_quotients(spot_scan *s, int g)
{
    for (int h = 0; h < s->slices; h++) {
        const double *a = s->away + (size_t)g * s->pieces, *b = s->away + (size_t)h * s->pieces;
        double least = INFINITY;
        if (h == g || s->group[h] != h) continue;
        for (int k = 0; k < s->others; k++) least = fmin(least, (a[k] + b[k]) / 2);
        *quotient_at(s, g, h) = s->others && least > 0 ?
                                square(mean_of(s, s->chosen[g]), mean_of(s, s->chosen[h]), s->d) / least : INFINITY;
    }
}

static bool find_pair(const spot_scan *s, int *g, int *h)
{
    double least = 1;

    for (int a = 0; a < s->slices; a++)
        for (int b = a + 1; b < s->slices && s->group[a] == a; b++) {
            if (s->group[b] != b || !(*quotient_at(s, a, b) < least)) continue;
            least = *quotient_at(s, a, b);
            *g = a;
            *h = b;
        }
    return least < 1;
}

/* Marks each leaf with the slice that it is in; a chosen node's mean and mass become those of all that is joined to it. */
static void mark_leaves(spot_scan *s)
{
    for (int k = 0; k < s->leaves; k++) {
        s->slice[k] = -1;
        for (int g = 0; g < s->slices && s->slice[k] < 0; g++)
            if (is_in(&s->node[s->chosen[g]], s->place[k])) s->slice[k] = s->group[g];
    }
}

static void join_pair(spot_scan *s, int g, int h)
{
    double *a = mean_of(s, s->chosen[g]), *b = mean_of(s, s->chosen[h]);

    mark_leaves(s);
    for (int i = 0; i < s->n; i++) {
        int own = s->slice[s->leaf[i]];
        s->side[i] = own == g ? 0 : own == h ? 1 : 2;
    }
    if (spot_scan_apart(s) > FAR) {
        *quotient_at(s, g, h) = INFINITY;
        return;
    }
    mean_of_two(a, a, s->mass[g], b, s->mass[h], s->d);
    s->mass[g] += s->mass[h];
    for (int k = 0; k < s->slices; k++)
        if (s->group[k] == h) s->group[k] = g;
    find_away(s, g);
    find_quotients(s, g);
}

static void join_slices(spot_scan *s)
{
    int g, h, next = 0;

    for (int k = 0; k < s->slices; k++) {
        s->group[k] = k;
        s->mass[k] = s->size[s->chosen[k]];
        find_away(s, k);
    }
    for (int k = 0; k < s->slices; k++) find_quotients(s, k);
    while (find_pair(s, &g, &h)) join_pair(s, g, h);
    mark_leaves(s);
    for (int k = 0; k < s->slices; k++) s->name[k] = s->group[k] == k ? next++ : -1;
    for (int k = 0; k < s->leaves; k++)
        if (s->slice[k] >= 0) s->slice[k] = s->name[s->slice[k]];
    s->slices = next;
}

void spot_scan_tree(spot_scan *s)
{
    build_nodes(s);
    place_leaves(s);
    cut_pieces(s);
    s->slices = 0;
    find_outer(s);
    s->base = fmax(median_rate(s), LEAST_BASE);
    for (int round = 0; round < ROUNDS; round++) {
        list_background(s);
        find_best(s);
        choose_nodes(s);
        if (round + 1 < ROUNDS) find_outer(s);
    }
    join_slices(s);
}
