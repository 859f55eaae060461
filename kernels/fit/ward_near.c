/* ward_near.c - see ward_near.h. A thread looks for the nearest clusters of eight at once. Distances in fp32 rule out nearly
 * all clusters, and the rest is decided in fp64, so no bit depends on the fp32 ones. A cluster keeps the list of the nearest
 * that it found: where its nearest merges, the list often tells the next one without another look at all clusters. */
#include "fit/ward_near.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { WIDE = 1 << 20 };       /* from so many columns on fp32 distances tell too little, as from FAR on they may be infinite */

#define FAR   1e36             /* a squared length */
#define PART  0x1p-12          /* see least_distance */
#define LEAST 1e-36

void spot_ward_round_mean(ward_work *w, int slot, int d)
{
    const double *mean = w->mean + (size_t)slot * (size_t)d;
    float (*low)[BLOCK] = w->low + (size_t)(slot / BLOCK) * (size_t)d;
    double norm = 0;

    for (int j = 0; j < d; j++) {
        low[j][slot % BLOCK] = (float)mean[j];
        norm += mean[j] * mean[j];
    }
    w->norm[slot] = norm;
}

void spot_ward_trust(ward_work *w, double longest, int d)
{
    w->keep = longest < FAR && d < WIDE ? (1 - (d + 8) * (double)FLT_EPSILON) * (1 - PART) * (1 - 1e-9) : -INFINITY;
    w->sure = longest * 0x1p-31;
}

/* costs (count): of merging `slot` with each. Distances are one fp64 chain each, TOGETHER of them at once. */
static void find_costs(const ward_work *w, double *costs, int slot, const int *others, int count, int d)
{
    const double own = w->size[slot], *at = w->mean + (size_t)slot * (size_t)d;

    for (int first = 0; first < count; first += TOGETHER) {
        const int n = count - first < TOGETHER ? count - first : TOGETHER;
        const double *mean[TOGETHER];
        double sum[TOGETHER] = { 0 };
        for (int k = 0; k < TOGETHER; k++) mean[k] = w->mean + (size_t)others[first + (k < n ? k : 0)] * (size_t)d;
        for (int j = 0; j < d; j++)
            for (int k = 0; k < TOGETHER; k++) {
                const double u = mean[k][j] - at[j];
                sum[k] = fma(u, u, sum[k]);
            }
        for (int k = 0; k < n; k++) {
            const double other = w->size[others[first + k]];
            costs[first + k] = own * other / (own + other) * sum[k];
        }
    }
}

/* Takes the least of the costs, of equals the first slot, if it is less than what is known of `slot`, or equal and earlier. */
static void note_costs(ward_work *w, int slot, const int *others, const double *costs, int count)
{
    for (int k = 0; k < count; k++) {
        if (costs[k] > w->cost[slot] || (costs[k] == w->cost[slot] && others[k] > w->near[slot])) continue;
        w->cost[slot] = costs[k];
        w->near[slot] = others[k];
    }
}

/* A query: what a thread knows of a slot whose nearest it looks for. The listed slots have the least bounds so far, ascending;
 * no other slot that was seen costs less than bound[KNOWN - 1]. */
typedef struct {
    int slot, count;
    bool open;                 /* the list does not prove the nearest, so all slots that may cost as little are asked */
    double bound[KNOWN];
    int other[KNOWN];
} ward_query;

/* The least squared distance of two means, if fp32 says that it is `low`.
 *
 * With means a and b, rounding moves each by at most e = 2^-24 of its length, and the sum of d squares by (d + 3) 2^-24 of
 * itself. The true squared distance D obeys sqrt(D) >= sqrt(low (1 - (d + 8) 2^-23)) - e (|a| + |b|); and since
 * 2 s t <= p s^2 + t^2 / p for each p > 0, D >= keep low - 2 e^2 (|a|^2 + |b|^2) / p with p = PART. LEAST covers what fp32
 * cannot hold. `keep` has a margin for the rounding of these lines. */
static double least_distance(const ward_work *w, float low, double at, double norm)
{
    return w->keep * low - 0x1p-34 * (at + norm) - LEAST;
}

/* Whether a slot of block b may cost less than `most`, or as little. NaN counts as such; slots without rows do not. */
static bool may_cost_less(const ward_work *w, int slot, const float *low, int b, double most)
{
    const double *size = w->size + (size_t)b * BLOCK, *norm = w->norm + (size_t)b * BLOCK;
    const double own = w->size[slot], at = w->norm[slot];
    int any = 0;

    for (int i = 0; i < BLOCK; i++)
        any |= (size[i] > 0) & !(own * size[i] * least_distance(w, low[i], at, norm[i]) > most * (own + size[i]));
    return any;
}

/* Puts the slots of block b among the query's list. */
static void list_block(const ward_work *w, ward_query *q, const float *low, int b)
{
    const double own = w->size[q->slot], at = w->norm[q->slot];

    for (int i = 0; i < BLOCK; i++) {
        const int s = b * BLOCK + i;
        const double other = w->size[s], least = least_distance(w, low[i], at, w->norm[s]);
        double bound;
        int k;
        if (!(other > 0) || s == q->slot) continue;
        if (q->count == KNOWN && own * other * least > q->bound[q->count - 1] * (own + other)) continue;
        bound = own * other / (own + other) * least;
        if (!(bound > -INFINITY)) bound = -INFINITY;           /* NaN */
        if (q->count == KNOWN && !(bound < q->bound[q->count - 1])) continue;
        k = q->count < KNOWN ? q->count++ : q->count - 1;
        for (; k > 0 && q->bound[k - 1] > bound; k--) q->bound[k] = q->bound[k - 1], q->other[k] = q->other[k - 1];
        q->bound[k] = bound;
        q->other[k] = s;
    }
}

/* Asks the slots of block b that may be the nearest. */
static void ask_block(ward_work *w, const ward_query *q, const float *low, int b, int d)
{
    const double own = w->size[q->slot], at = w->norm[q->slot];

    for (int i = 0; i < BLOCK; i++) {
        const int s = b * BLOCK + i;
        const double other = w->size[s], least = least_distance(w, low[i], at, w->norm[s]);
        double cost;
        if (!(other > 0) || s == q->slot || own * other / (own + other) * least > w->cost[q->slot]) continue;
        find_costs(w, &cost, q->slot, &s, 1, d);
        note_costs(w, q->slot, &s, &cost, 1);
    }
}

/* One pass of up to TOGETHER queries over all slots: makes their lists, or asks for those that are open. */
static void pass_over_slots(ward_work *w, ward_query *q, int queries, const float *rounded, int d, bool ask)
{
    const int blocks = (w->slots + BLOCK - 1) / BLOCK;
    const float *row[TOGETHER];

    for (int k = 0; k < TOGETHER; k++) row[k] = rounded + (size_t)(k < queries ? k : 0) * (size_t)d;
    for (int b = 0; b < blocks; b++) {
        float low[TOGETHER][BLOCK] = { { 0 } };
        spot_gemm_tile(low, row, 1, w->low + (size_t)b * (size_t)d, d, 1);
        for (int k = 0; k < queries; k++) {
            const double most = ask ? w->cost[q[k].slot] : q[k].count < KNOWN ? INFINITY : q[k].bound[q[k].count - 1];
            if ((ask && !q[k].open) || !may_cost_less(w, q[k].slot, low[k], b, most)) continue;
            if (ask) ask_block(w, &q[k], low[k], b, d);
            else     list_block(w, &q[k], low[k], b);
        }
    }
}

/* The nearest of the listed slots, and whether the list proves that no other one is as near. It is kept for later rounds. */
static void close_list(ward_work *w, ward_query *q, int d)
{
    int *known = w->known + (size_t)q->slot * KNOWN;
    double costs[KNOWN];

    w->cost[q->slot] = INFINITY;
    w->near[q->slot] = -1;
    w->stale[q->slot] = 0;
    find_costs(w, costs, q->slot, q->other, q->count, d);
    note_costs(w, q->slot, q->other, costs, q->count);
    w->bound[q->slot] = q->count < KNOWN ? INFINITY : q->bound[q->count - 1];
    for (int k = 0; k < KNOWN; k++) known[k] = k < q->count ? w->first[q->other[k]] : -1;
    q->open = !(w->cost[q->slot] < w->bound[q->slot]);
}

static void find_nearest(ward_work *w, int d, const int *slot, int queries)
{
    float *rounded = w->rounded + (size_t)omp_get_thread_num() * TOGETHER * (size_t)d;
    ward_query q[TOGETHER];
    bool open = false;

    for (int k = 0; k < queries; k++) {
        q[k] = (ward_query){ .slot = slot[k] };
        for (int j = 0; j < d; j++) rounded[(size_t)k * (size_t)d + j] = (float)w->mean[(size_t)slot[k] * (size_t)d + j];
    }
    pass_over_slots(w, q, queries, rounded, d, false);
    for (int k = 0; k < queries; k++) {
        close_list(w, &q[k], d);
        open |= q[k].open;
    }
    if (open) pass_over_slots(w, q, queries, rounded, d, true);
}

/* The nearest of a slot that has not merged since its list was made, if the list still proves it. A cluster of unlisted slots
 * costs no less than these did, so it costs no less than the bound; `w->sure` covers the rounding of the means. */
static bool knows_nearest(ward_work *w, int s, int d)
{
    const int *known = w->known + (size_t)s * KNOWN;
    double costs[KNOWN];
    int others[KNOWN], count = 0;

    for (int k = 0; k < KNOWN && known[k] >= 0; k++) {
        const int now = w->slot_of[known[k]];
        bool twice = now == s;
        for (int i = 0; i < count; i++) twice |= others[i] == now;
        if (!twice) others[count++] = now;
    }
    w->cost[s] = INFINITY;
    w->near[s] = -1;
    find_costs(w, costs, s, others, count, d);
    note_costs(w, s, others, costs, count);
    return w->cost[s] + w->size[s] * w->sure < w->bound[s] * (1 - 1e-9);
}

void spot_ward_find_near(ward_work *w, int d)
{
    int stale = 0, each;

#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 64)
    for (int s = 0; s < w->slots; s++)
        if (w->stale[s] == STALE && w->size[s] > 0 && w->bound[s] > 0 && knows_nearest(w, s, d)) w->stale[s] = 0;
    for (int s = 0; s < w->slots; s++)
        if (w->stale[s] && w->size[s] > 0) w->list[stale++] = s;
    each = (stale + w->threads - 1) / w->threads;
    each = each > TOGETHER ? TOGETHER : each;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic)
    for (int k = 0; k < stale; k += each) find_nearest(w, d, w->list + k, stale - k < each ? stale - k : each);
}
