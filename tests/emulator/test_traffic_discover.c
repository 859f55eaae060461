/* test_traffic_discover.c - how the work of `discover`'s kernels grows with the number of rows n, counted on the emulator: of
 * Ward, neighbours, k-means, silhouettes, and the search for each row's nearest piece that joinspot makes beside its trees by
 * Ward. Prints launches, waits, bytes copied, the bytes that launches touched (each once) and those that warps asked for, in
 * sectors; bench/predictions.md goes on from them. Instructions are not counted. Nothing may grow faster than it says below.
 * ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "call_budget.h"
#include "discover/search/vote.h"
#include "fit/kmeans.h"
#include "fit/silhouette.h"
#include "fit/ward.h"
#include "map/centres.h"
#include "traffic.h"

enum { FIRST = 128, SIZES = 3, MOST = FIRST << (SIZES - 1), D = 64, CLUSTERS = 20, CENTRES = 16, PIECES = 40, NEAREST = 15,
       PROBES = 5 };

/* Rows on the host and on the device, and what an op needs. turns: rounds or iterations that it took; 0: it has none. */
typedef struct {
    int n, turns;
    float *host, *x, *centre;
    int *label, *nearest;
    uint16_t *part;
    double *mean, *silhouette;
    spot_ward_merge *merge;
    spot_arena scratch, rows;
} bed;

static float *make_rows(int n)
{
    float *x = malloc((size_t)n * D * sizeof *x);
    spot_rng r = spot_rng_at(7, SPOT_RNG_BOOTSTRAP, 0, 0);
    float mean[CLUSTERS * D];

    for (int e = 0; e < CLUSTERS * D; e++) mean[e] = (float)spot_rng_normal(&r);
    for (int e = 0; e < n * D; e++) x[e] = mean[e / D % CLUSTERS * D + e % D] + 0.5f * (float)spot_rng_normal(&r);
    return x;
}

static void open_bed(spot_ctx *c, bed *b, int n)
{
    const size_t ward = spot_ward_scratch(1, n, D, 0), means = spot_kmeans_scratch(1, n, D, CENTRES, 0);
    uint16_t part[FIRST << SIZES];
    float centre[D * PIECES];

    *b = (bed){ .n = n, .host = make_rows(n), .rows = spot_arena_counting() };
    for (int i = 0; i < n; i++) part[i] = (uint16_t)(i % CLUSTERS);
    for (int e = 0; e < D * PIECES; e++) centre[e] = b->host[e % PIECES * D + e / PIECES];
    b->x = to_device(c, b->host, (size_t)n * D * sizeof *b->x);
    b->part = to_device(c, part, (size_t)n * sizeof *part);
    b->centre = to_device(c, centre, sizeof centre);
    b->label = to_device(c, NULL, (size_t)n * sizeof *b->label);
    b->mean = to_device(c, NULL, CENTRES * D * sizeof *b->mean);
    b->silhouette = to_device(c, NULL, (size_t)n * sizeof *b->silhouette);
    b->merge = to_device(c, NULL, (size_t)n * sizeof *b->merge);
    b->nearest = malloc((size_t)n * NEAREST * sizeof *b->nearest);
    CHECK_OK(c, spot_arena_open_device(c, &b->scratch, ward > means ? ward : means));
    CHECK_OK(c, spot_nearest_rows(c, &b->rows, NULL, (spot_some_rows){ b->host, NULL, n },
                                  (spot_some_rows){ b->host, NULL, n }, D, NEAREST));
    CHECK_OK(c, spot_arena_open(c, &b->rows, b->rows.peak + 64));
}

static void close_bed(spot_ctx *c, bed *b)
{
    void *taken[] = { b->x, b->part, b->centre, b->label, b->mean, b->silhouette, b->merge };

    for (int i = 0; i < LEN(taken); i++) spot_device_give(c, taken[i]);
    spot_arena_close(&b->scratch), spot_arena_close(&b->rows);
    free(b->host), free(b->nearest);
}

static spot_status run_ward(spot_ctx *c, bed *b)
{
    spot_ward_job job = { .n = b->n, .d = D, .x = b->x, .merge = b->merge };

    SPOT_TRY(spot_ward_fit(c, &b->scratch, 1, &job));
    b->turns = job.rounds;
    return SPOT_OK;
}

static spot_status run_neighbours(spot_ctx *c, bed *b)
{
    const spot_some_rows all = { b->host, NULL, b->n };

    return spot_nearest_rows(c, &b->rows, b->nearest, all, all, D, NEAREST);
}

static spot_status run_kmeans(spot_ctx *c, bed *b)
{
    spot_kmeans_job job = { .n = b->n, .d = D, .k = CENTRES, .x = b->x, .centre = b->mean, .label = b->label };

    SPOT_TRY(spot_kmeans_fit(c, &b->scratch, 1, &job));
    b->turns = job.iterations;
    return SPOT_OK;
}

static spot_status run_silhouette(spot_ctx *c, bed *b)
{
    const spot_silhouette_job job = { b->n, D, CLUSTERS, b->x, b->part, b->silhouette };

    return spot_silhouette_samples(c, &job, 1);
}

static spot_status run_pieces(spot_ctx *c, bed *b)
{
    const spot_centres_problem p = { b->n, D, PIECES, b->x, b->centre, b->label };

    return spot_centres_nearest(c, 1, &p);
}

/* growth: of the bytes that warps ask for, when rows double. Ward's rounds and the iterations of k-means vary with the rows.
 * pair: bytes for a pair of the most rows; 0: not said. Neighbours: 8 read and 4 written by distances, and 4 that are read once
 * to choose the nearest; the rest is what goes out. */
static const struct { const char *name; spot_status (*run)(spot_ctx *c, bed *b); double growth, pair; } probes[PROBES] = {
    { "Ward", run_ward, 5.5, 0 },
    { "neighbours", run_neighbours, 4.3, 17 },
    { "k-means", run_kmeans, 4, 0 },
    { "silhouettes", run_silhouette, 4.3, 0 },
    { "joinspot's pieces", run_pieces, 2.2, 0 },
};

typedef struct { double read, written, asked; } moved;

static void add_kernel(void *user, const spot_traffic *k)
{
    moved *sum = user;

    sum->read += (double)k->read, sum->written += (double)k->written;
    sum->asked += 32 * (double)k->sectors;
}

/* Returns the bytes that warps asked for. */
static double run_probe(spot_ctx *c, int probe, int n)
{
    const spot_emulator_traffic *traffic = dlsym(((const spot_device *)c->device)->library, "spot_emulator_traffic");
    moved sum = { 0 };
    bed b;

    assert_non_null(traffic);
    open_bed(c, &b, n);
    traffic->reset();
    calls_of(c)->reset();
    CHECK_OK(c, probes[probe].run(c, &b));
    traffic->each(add_kernel, &sum);
    print_message("  %-18s %5d %5d %8lld %5lld %9lld %9lld %11.0f %11.0f %12.0f\n", probes[probe].name, n, b.turns,
                  calls_of(c)->count(NULL, "launches"), calls_of(c)->count(NULL, "waits"),
                  calls_of(c)->count(NULL, "bytes_in"), calls_of(c)->count(NULL, "bytes_out"), sum.read,
                  sum.written, sum.asked);
    close_bed(c, &b);
    return sum.asked;
}

TEST(work_grows_as_the_arithmetic_says)
{
    spot_ctx c;

    setenv("SPOT_EMULATOR_TRAFFIC", "1", 1);
    open_cuda(&c, 0);
    print_message("  %-18s %5s %5s %8s %5s %9s %9s %11s %11s %12s\n", "", "rows", "turns", "launches", "waits", "copied in",
                  "and out", "read", "written", "asked for");
    for (int probe = 0; probe < PROBES; probe++) {
        double before = 0;
        for (int size = 0; size < SIZES; size++) {
            const double asked = run_probe(&c, probe, FIRST << size);
            assert_true(asked > 0 && (!size || asked < probes[probe].growth * before));
            before = asked;
        }
        if (probes[probe].pair > 0) assert_true(before < probes[probe].pair * MOST * MOST);
    }
    spot_device_close(&c);
}

int main(void) { return run_cuda_tests(); }
