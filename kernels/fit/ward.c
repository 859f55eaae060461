/* ward.c - see ward.h: the rounds of the CPU. ward_near.c finds the nearest clusters. */
#include "fit/ward_near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/problems.h"
#include "core/team.h"

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
    double longest = 0;

    memset(w->slot_of, 0, (size_t)n * sizeof *w->slot_of);             /* rows that equal an earlier one are never asked */
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
        double *mean = w->mean + (size_t)s * (size_t)d;
        w->first[s] = w->order[s].row;
        w->size[s] = w->list[w->first[s]];
        w->stale[s] = STALE;
        w->bound[s] = 0;
        w->slot_of[w->first[s]] = s;
        for (int j = 0; j < d; j++) mean[j] = (double)w->order[s].x[j] - job->x[j];
        spot_ward_round_mean(w, s, d);
        longest = fmax(longest, w->norm[s]);
    }
    for (int s = w->slots; s % BLOCK; s++) {
        w->size[s] = w->norm[s] = 0;
        for (int j = 0; j < d; j++) w->low[(size_t)(s / BLOCK) * (size_t)d + j][s % BLOCK] = 0;
    }
    spot_ward_trust(w, longest, d);
    return merges;
}

/* ---- merges ---- */

static bool is_pair(const ward_work *w, int s)
{
    return w->size[s] > 0 && w->near[s] > s && w->near[w->near[s]] == s;
}

static void join_means(ward_work *w, int s, int other, int d)
{
    double *a = w->mean + (size_t)s * (size_t)d, *b = w->mean + (size_t)other * (size_t)d, all = w->size[s] + w->size[other];

    for (int j = 0; j < d; j++) a[j] = (w->size[s] * a[j] + w->size[other] * b[j]) / all;
    spot_ward_round_mean(w, s, d);
}

/* Merges all pairs that are each other's nearest. n: rows. Returns the number of pairs. */
static int merge_pairs(ward_work *w, int n, int d, spot_ward_merge *merge)
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
    for (int i = 0; i < n; i++)
        if (!w->size[w->slot_of[i]]) w->slot_of[i] = w->near[w->slot_of[i]];
    return pairs;
}

/* Moves the clusters to the first slots. */
static void close_gaps(ward_work *w, int n, int d)
{
    const size_t row = (size_t)d * sizeof *w->mean;
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
        w->bound[to] = w->bound[s];
        memmove(w->known + (size_t)to * KNOWN, w->known + (size_t)s * KNOWN, KNOWN * sizeof(int));
        if (to == s) continue;
        memcpy(w->mean + (size_t)to * (size_t)d, w->mean + (size_t)s * (size_t)d, row);
        spot_ward_round_mean(w, to, d);
    }
    for (int s = slots; s < w->slots; s++) w->size[s] = 0;
    for (int i = 0; i < n; i++) w->slot_of[i] = w->list[w->slot_of[i]];
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
        spot_ward_find_near(w, job->d);
        pairs = merge_pairs(w, job->n, job->d, job->merge + merges);
        merges += pairs;
        if (!pairs) memset(w->stale, STALE, (size_t)w->slots);     /* ties that a merge broke another way */
        if (4L * (job->n - merges) < 3L * w->slots) close_gaps(w, job->n, job->d);
    }
    qsort(job->merge, (size_t)merges, sizeof *job->merge, by_height);
    return SPOT_OK;
}

static spot_status take_work(spot_ctx *c, spot_arena *a, void *lane, const void *most, int threads)
{
    const spot_ward_job *job = most;
    size_t n = (size_t)job->n, d = (size_t)job->d;
    ward_work *w = lane;

    SPOT_TRY(SPOT_TAKE(c, a, w->mean, n * d));
    SPOT_TRY(SPOT_TAKE(c, a, w->low, (n + BLOCK - 1) / BLOCK * d));
    SPOT_TRY(SPOT_TAKE(c, a, w->norm, n + BLOCK));
    SPOT_TRY(SPOT_TAKE(c, a, w->size, n + BLOCK));
    SPOT_TRY(SPOT_TAKE(c, a, w->known, n * KNOWN));
    SPOT_TRY(SPOT_TAKE(c, a, w->bound, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->slot_of, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->first, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->near, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->cost, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->stale, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->list, n));
    SPOT_TRY(SPOT_TAKE(c, a, w->order, n));
    return SPOT_TAKE(c, a, w->rounded, (size_t)threads * TOGETHER * d);
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
