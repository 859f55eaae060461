/* ward.c - see ward.h. The means of the clusters lie in tiles of 64, column by column. A thread finds the nearest clusters of
 * up to 16 clusters at once, tile by tile. */
#include "fit/ward_scratch.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/problems.h"
#include "core/rows64.h"
#include "core/team.h"

enum { QUERIES = 16 };         /* clusters whose nearest a thread looks for at once; they share the reading of a tile */
enum { STALE = 1, MERGED = 2 };

typedef struct { const float *x; size_t bytes; int row; } row_bytes;

/* One job's workspace. Slots hold the clusters, in the order of their first rows. A slot of size 0 has merged into another. */
typedef struct {
    int        slots, threads;
    double    *tile;           /* (tiles, d, 64): means of the slots */
    double    *size;           /* (slots): rows */
    int       *first;          /* (slots): first row */
    int       *near;           /* (slots): nearest other slot */
    double    *cost;           /* (slots): of merging with it */
    uint8_t   *stale;          /* (slots): 0; STALE or MERGED where near is not known */
    int       *list;           /* (slots): stale slots, or where slots move to */
    row_bytes *order;          /* (n) */
    double    *query;          /* (threads, QUERIES, d) */
    double    *dist;           /* (threads, QUERIES, 64) */
} ward_work;

static double *mean_of(const ward_work *w, int slot, int d)
{
    return w->tile + (size_t)(slot / ROWS64) * d * ROWS64 + slot % ROWS64;
}

/* ---- the first clusters: equal rows are one ---- */

static int by_bytes(const void *a, const void *b)
{
    const row_bytes *p = a, *q = b;
    int order = memcmp(p->x, q->x, p->bytes);

    return order ? order : p->row - q->row;
}

static int by_row(const void *a, const void *b) { return ((const row_bytes *)a)->row - ((const row_bytes *)b)->row; }

/* Makes a slot of each different row, and merges of the others with it. Returns the number of merges. Means count from row 0,
 * so that points far from the origin lose no digits. */
static int open_slots(ward_work *w, const spot_ward_job *job)
{
    int n = job->n, d = job->d, merges = 0;

    for (int i = 0; i < n; i++) w->order[i] = (row_bytes){ job->x + (size_t)i * d, (size_t)d * sizeof *job->x, i };
    qsort(w->order, (size_t)n, sizeof *w->order, by_bytes);
    w->slots = 0;
    for (int i = 0; i < n; i++) {
        row_bytes own = w->order[i];
        int leader = w->slots ? w->order[w->slots - 1].row : -1;
        if (leader >= 0 && !memcmp(w->order[w->slots - 1].x, own.x, own.bytes)) {
            job->merge[merges++] = (spot_ward_merge){ leader, own.row, 0 };
            w->list[leader]++;
        } else {
            w->order[w->slots++] = own;
            w->list[own.row] = 1;
        }
    }
    qsort(w->order, (size_t)w->slots, sizeof *w->order, by_row);
    for (int s = 0; s < w->slots; s++) {
        double *mean = mean_of(w, s, d);
        w->first[s] = w->order[s].row;
        w->size[s] = w->list[w->first[s]];
        w->stale[s] = STALE;
        for (int j = 0; j < d; j++) mean[(size_t)j * ROWS64] = (double)w->order[s].x[j] - job->x[j];
    }
    for (int s = w->slots; s % ROWS64; s++) {
        double *mean = mean_of(w, s, d);
        for (int j = 0; j < d; j++) mean[(size_t)j * ROWS64] = 0;
    }
    return merges;
}

/* ---- nearest slots ---- */

/* Squared distances of the tile's slots r0 .. to `queries` means. */
VD_INLINE void squares_block(double *out, const double *tile, int d, const double *query, int r0, int queries)
{
    vd sum[SPOT_CENTRES][SPOT_ROW_VECTORS] = { { { 0 } } };

    for (int j = 0; j < d; j++) {
        const vd *x = (const vd *)(tile + (size_t)j * ROWS64 + r0);
        for (int k = 0; k < queries; k++) {
            vd at = vd_all(query[(size_t)k * d + j]);
            for (int v = 0; v < SPOT_ROW_VECTORS; v++) {
                vd u = x[v] - at;
                sum[k][v] = vd_fma(u, u, sum[k][v]);
            }
        }
    }
    for (int k = 0; k < queries; k++)
        for (int v = 0; v < SPOT_ROW_VECTORS; v++) *(vd *)(out + k * ROWS64 + r0 + v * LANES) = sum[k][v];
}

static void find_squares(double *out, const double *tile, int d, const double *query, int queries)
{
    int k = 0;

    for (; k + SPOT_CENTRES <= queries; k += SPOT_CENTRES)
        for (int r0 = 0; r0 < ROWS64; r0 += SPOT_ROW_VECTORS * LANES)
            squares_block(out + k * ROWS64, tile, d, query + (size_t)k * d, r0, SPOT_CENTRES);
    for (; k < queries; k++)
        for (int r0 = 0; r0 < ROWS64; r0 += SPOT_ROW_VECTORS * LANES)
            squares_block(out + k * ROWS64, tile, d, query + (size_t)k * d, r0, 1);
}

/* The nearest of the slots in tile t, of equals the first. Slots come in order, so a later equal one never replaces it. */
static void note_nearest(ward_work *w, int slot, const double *dist, int t)
{
    double own = w->size[slot];
    int end = t * ROWS64 + spot_tile_rows(w->slots, t);

    for (int s = t * ROWS64; s < end; s++) {
        double other = w->size[s], cost = own * other / (own + other) * dist[s - t * ROWS64];
        if (!(cost < w->cost[slot]) || !other || s == slot) continue;
        w->cost[slot] = cost;
        w->near[slot] = s;
    }
}

static void find_nearest(ward_work *w, int d, const int *slot, int queries)
{
    double *query = w->query + (size_t)omp_get_thread_num() * QUERIES * d;
    double *dist = w->dist + (size_t)omp_get_thread_num() * QUERIES * ROWS64;

    for (int k = 0; k < queries; k++) {
        const double *mean = mean_of(w, slot[k], d);
        for (int j = 0; j < d; j++) query[(size_t)k * d + j] = mean[(size_t)j * ROWS64];
        w->cost[slot[k]] = INFINITY;
        w->near[slot[k]] = -1;
        w->stale[slot[k]] = 0;
    }
    for (int t = 0; t < spot_tiles(w->slots); t++) {
        find_squares(dist, w->tile + (size_t)t * d * ROWS64, d, query, queries);
        for (int k = 0; k < queries; k++) note_nearest(w, slot[k], dist + k * ROWS64, t);
    }
}

static void find_all_nearest(ward_work *w, int d)
{
    int stale = 0, each;

    for (int s = 0; s < w->slots; s++)
        if (w->stale[s] && w->size[s] > 0) w->list[stale++] = s;
    each = (stale + w->threads - 1) / w->threads;
    each = each > QUERIES ? QUERIES : each;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic)
    for (int k = 0; k < stale; k += each) find_nearest(w, d, w->list + k, stale - k < each ? stale - k : each);
}

/* ---- merges ---- */

static bool is_pair(const ward_work *w, int s)
{
    return w->size[s] > 0 && w->near[s] > s && w->near[w->near[s]] == s;
}

static void join_means(ward_work *w, int s, int other, int d)
{
    double *a = mean_of(w, s, d), *b = mean_of(w, other, d), all = w->size[s] + w->size[other];

    for (int j = 0; j < d; j++) {
        size_t at = (size_t)j * ROWS64;
        a[at] = (w->size[s] * a[at] + w->size[other] * b[at]) / all;
    }
}

/* Merges all pairs that are each other's nearest. Returns their number. */
static int merge_pairs(ward_work *w, int d, spot_ward_merge *merge)
{
    int pairs = 0;

    for (int s = 0; s < w->slots; s++)
        if (is_pair(w, s)) {
            merge[pairs] = (spot_ward_merge){ w->first[s], w->first[w->near[s]], sqrt(2 * w->cost[s]) };
            w->list[pairs++] = s;
        }
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int k = 0; k < pairs; k++) join_means(w, w->list[k], w->near[w->list[k]], d);
    for (int k = 0; k < pairs; k++) {
        int s = w->list[k], other = w->near[s];
        w->size[s] += w->size[other];
        w->size[other] = 0;
        w->stale[s] = w->stale[other] = MERGED;
    }
    for (int s = 0; s < w->slots; s++)
        if (w->size[s] > 0 && !w->stale[s] && w->stale[w->near[s]] == MERGED) w->stale[s] = STALE;
    return pairs;
}

/* Moves the clusters to the first slots. */
static void close_gaps(ward_work *w, int d)
{
    int slots = 0;

    for (int s = 0; s < w->slots; s++) w->list[s] = w->size[s] > 0 ? slots++ : -1;
    for (int s = 0; s < w->slots; s++) {
        int to = w->list[s];
        if (to < 0) continue;
        w->near[to] = w->list[w->near[s]];     /* -1 where the nearest has merged; then it is stale */
        w->size[to] = w->size[s];
        w->first[to] = w->first[s];
        w->cost[to] = w->cost[s];
        w->stale[to] = w->stale[s];
    }
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int j = 0; j < d; j++)
        for (int s = 0; s < w->slots; s++)
            if (w->list[s] >= 0 && w->list[s] != s)
                mean_of(w, w->list[s], d)[(size_t)j * ROWS64] = mean_of(w, s, d)[(size_t)j * ROWS64];
    w->slots = slots;
}

static int by_height(const void *a, const void *b)
{
    const spot_ward_merge *p = a, *q = b;

    if (p->height != q->height) return p->height < q->height ? -1 : 1;
    return p->a != q->a ? p->a - q->a : p->b - q->b;
}

static spot_status fit_one(spot_ctx *c, void *lane, void *one, const void *cfg, int threads)
{
    spot_ward_job *job = one;
    int merges = 0, pairs;
    ward_work *w = lane;

    (void)cfg;
    w->threads = threads;
    merges = open_slots(w, job);
    for (job->rounds = 0; merges < job->n - 1; job->rounds++) {
        SPOT_TRY(spot_check_stop(c));
        find_all_nearest(w, job->d);
        pairs = merge_pairs(w, job->d, job->merge + merges);
        merges += pairs;
        if (!pairs) memset(w->stale, STALE, (size_t)w->slots);     /* ties that a merge broke another way */
        if (4L * (job->n - merges) < 3L * w->slots) close_gaps(w, job->d);
    }
    qsort(job->merge, (size_t)merges, sizeof *job->merge, by_height);
    return SPOT_OK;
}

static spot_status take_work(spot_ctx *c, spot_arena *a, void *lane, const void *most, int threads)
{
    const spot_ward_job *job = most;
    size_t n = (size_t)job->n, d = (size_t)job->d;
    ward_work *w = lane;

    SPOT_TRY(SPOT_TAKE(c, a, w->tile, (size_t)spot_tiles(job->n) * d * ROWS64));
    SPOT_TRY(SPOT_TAKE(c, a, w->size, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->first, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->near, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->cost, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->stale, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->list, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->order, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->query, (size_t)threads * QUERIES * d));
    return SPOT_TAKE(c, a, w->dist, (size_t)threads * QUERIES * ROWS64);
}

static const spot_job_kind kind = { sizeof(ward_work), sizeof(spot_ward_job), take_work, fit_one };

size_t spot_ward_scratch(int count, int n, int d, int threads)
{
    const spot_ward_job most = { .n = n, .d = d };
    spot_ctx c = { .threads = threads };
    spot_arena a = spot_arena_counting();
    spot_ward_space space;

    if (threads) spot_run_jobs(&c, &a, &kind, spot_abreast(count, threads), &most, 0, NULL, NULL);
    else         spot_ward_space_take(&c, &a, &space, count, n, d);
    return a.peak;
}

static spot_status fit_cpu(spot_ctx *c, spot_arena *scratch, int count, spot_ward_job *jobs)
{
    const spot_ward_job most = { .n = SPOT_MOST(count, jobs, n), .d = SPOT_MOST(count, jobs, d) };

    return spot_run_jobs(c, scratch, &kind, spot_abreast(count, c->threads), &most, count, jobs, NULL);
}

const spot_ward_ops spot_ward_cpu = { .fit = fit_cpu };

spot_status spot_ward_fit(spot_ctx *c, spot_arena *scratch, int count, spot_ward_job *jobs)
{
    for (int j = 0; j < count; j++)
        if (jobs[j].n < 1 || jobs[j].d < 1)
            return spot_fail(c, SPOT_INVALID, "{ward.sizes} ward %d: (%d, %d) points", j, jobs[j].n, jobs[j].d);
    if (count < 1) return SPOT_OK;
    SPOT_DISPATCH(c, ward, fit, scratch, count, jobs);
}

/* label holds a row of the same cluster, no later one, until all merges are done. */
static int first_row(int *label, int row)
{
    while (label[row] != row) row = label[row] = label[label[row]];
    return row;
}

int spot_ward_cut(int *label, const spot_ward_merge *merge, int n, int k)
{
    int clusters = 0;

    for (int i = 0; i < n; i++) label[i] = i;
    for (int m = 0; m < n - k; m++) {
        int a = first_row(label, merge[m].a), b = first_row(label, merge[m].b);
        if (a < b) label[b] = a;
        else label[a] = b;
    }
    for (int i = 0; i < n; i++) label[i] = label[i] == i ? clusters++ : label[label[i]];
    return clusters;
}
