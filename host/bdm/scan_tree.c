/* scan_tree.c - see scan_tree.h. */
#include "bdm/scan_join.h"

#include <math.h>
#include <string.h>

#define TINY         1e-6      /* rates are kept this far from 0 and 1 */
#define LEAST_BASE   1e-4
#define LEAST_SPREAD 0.15
#define QUIET        2.0       /* a piece of less evidence does not fail */
enum { PIECE = 10, FEWEST_PIECES = 10, ROUNDS = 4 };

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
    SPOT_TRY(SPOT_TAKE(c, a, s->row, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->part, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->line, 2 * (size_t)d));
    SPOT_TRY(SPOT_TAKE(c, a, s->at, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->chosen, most));
    SPOT_TRY(SPOT_TAKE(c, a, s->group, most));
    SPOT_TRY(SPOT_TAKE(c, a, s->mass, most));
    SPOT_TRY(SPOT_TAKE(c, a, s->away, most * (size_t)pieces_of(n, leaves)));
    return SPOT_TAKE(c, a, s->quotient, most * most);
}

static double inside(double r) { return fmin(fmax(r, TINY), 1 - TINY); }

/* n KL(errors / n || b). */
static double gain_over(double errors, double n, double b)
{
    double r = n > 0 ? inside(errors / n) : 0;

    b = inside(b);
    return n > 0 ? n * (r * log(r / b) + (1 - r) * log((1 - r) / (1 - b))) : 0;
}

double spot_scan_evidence(double errors, double n, double b)
{
    return n > 0 && inside(errors / n) > inside(b) ? gain_over(errors, n, b) : 0;
}

/* ---- the tree ---- */

static void fill_leaves(spot_scan *s)
{
    memset(s->size, 0, (size_t)s->leaves * sizeof *s->size);
    memset(s->sum, 0, (size_t)s->leaves * sizeof *s->sum);
    memset(s->squares, 0, (size_t)s->leaves * sizeof *s->squares);
    memset(s->mean, 0, (size_t)s->leaves * (size_t)s->d * sizeof *s->mean);
    for (int i = 0; i < s->n; i++) {
        double *to = spot_scan_mean(s, s->leaf[i]);
        s->size[s->leaf[i]]++;
        s->sum[s->leaf[i]] += s->error[i];
        s->squares[s->leaf[i]] += s->error[i] * s->error[i];
        for (int j = 0; j < s->d; j++) to[j] += s->x[(size_t)i * s->stride + j];
    }
    for (int k = 0; k < s->leaves; k++)
        for (int j = 0; j < s->d && s->size[k] > 1; j++) spot_scan_mean(s, k)[j] /= s->size[k];
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
        spot_scan_mix(spot_scan_mean(s, v), spot_scan_mean(s, left), s->size[left], spot_scan_mean(s, right), s->size[right],
                      s->d);
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

/* The rate of the piece that holds the row at this share of all rows, in the order of the pieces' rates. */
static double rate_at(const spot_scan *s, double share)
{
    for (int k = 0; k < s->pieces; k++) {
        double own = s->sum[s->piece[k]] / s->size[s->piece[k]], below = 0, equal = 0;
        if (!(s->size[s->piece[k]] > 0)) continue;
        for (int i = 0; i < s->pieces; i++) {
            double size = s->size[s->piece[i]], rate = size > 0 ? s->sum[s->piece[i]] / size : 2;
            if (rate < own) below += size;
            else if (rate <= own) equal += size;
        }
        if (below < share * s->n && below + equal >= share * s->n) return own;
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

static bool something_between(const spot_scan *s, const double *a, const double *b)
{
    double far = spot_scan_square(a, b, s->d);

    for (int k = 0; k < s->others; k++) {
        const double *rest = spot_scan_mean(s, s->rest[k]);
        if (far >= (spot_scan_square(a, rest, s->d) + spot_scan_square(b, rest, s->d)) / 2) return true;
    }
    return false;
}

static bool is_one(spot_scan *s, int v)
{
    const spot_scan_node t = s->node[v];

    if (t.left < 0) return true;
    if (something_between(s, spot_scan_mean(s, t.left), spot_scan_mean(s, t.right))) return false;
    if (s->apart[v] < 0) {
        for (int i = 0; i < s->n; i++) {
            int place = s->place[s->leaf[i]];
            s->side[i] = spot_scan_is_in(&s->node[t.left], place) ? 0 : spot_scan_is_in(&s->node[t.right], place) ? 1 : 2;
        }
        s->apart[v] = fmax(spot_scan_apart(s), 0);
    }
    return s->apart[v] <= SPOT_SCAN_FAR;
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

/* ---- the rate of the background ---- */

/* The nodes that are slices when the background's rate begins at `start`. */
static void search_from(spot_scan *s, double start)
{
    s->slices = 0;
    find_outer(s);
    s->base = fmax(start, LEAST_BASE);
    for (int round = 0; round < ROUNDS; round++) {
        list_background(s);
        find_best(s);
        choose_nodes(s);
        if (round + 1 < ROUNDS) find_outer(s);
    }
}

/* The log-likelihood that all rows gain by the rates of `count` slices and of the background, less the penalties. */
static double worth_of(const spot_scan *s, const int *chosen, int count, double spread)
{
    int root = 2 * s->leaves - 2;
    double size = s->n, sum = s->sum[root], all = sum / size, gain = 0;

    for (int k = 0; k < count; k++) {
        gain += gain_over(s->sum[chosen[k]], s->size[chosen[k]], all);
        size -= s->size[chosen[k]];
        sum -= s->sum[chosen[k]];
    }
    return (gain + gain_over(sum, size, all)) / spread - count * log(s->n);
}

/* From the median, or from a quarter if those slices are worth more with the lesser phi of the two. */
static void search(spot_scan *s)
{
    int count;
    double base, spread, least;

    search_from(s, rate_at(s, 0.25));
    memcpy(s->group, s->chosen, (size_t)s->slices * sizeof *s->group);
    count = s->slices, base = s->base, spread = s->spread;
    search_from(s, rate_at(s, 0.5));
    least = fmin(spread, s->spread);
    if (!(worth_of(s, s->group, count, least) > worth_of(s, s->chosen, s->slices, least))) return;
    memcpy(s->chosen, s->group, (size_t)count * sizeof *s->chosen);
    s->slices = count, s->base = base, s->spread = spread;
    list_background(s);
}

void spot_scan_tree(spot_scan *s)
{
    build_nodes(s);
    place_leaves(s);
    cut_pieces(s);
    search(s);
    spot_scan_join(s);
}
