/* The CPU's filter beside plain distances and selection: the same columns and the same bits, whatever the rows are like.
 * ctest: threads, heavy */
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "map/affinity.h"
#include "map/distance.h"
#include "map/neighbours.h"
#include "spotter/rng.h"

enum { N = SPOT_NEIGHBOURS_MANY + 77, D = 19, K = 23, LARGE = 16384 + 300 };

static int column[2][N * N], n = N, k = K;
static float near[2][N * N], x[LARGE * D];
static char told[256];

static void on_log(void *user, spot_log_level level, const char *text)
{
    (void)user;
    (void)level;
    snprintf(told, sizeof told, "%s", text);
}

enum { ROWS = 256 };       /* of a tile */

/* The plain way takes each tile, or some, the last one, too. */
static int step(void) { return n > N ? 13 * ROWS : SANITIZED ? 4 * ROWS : ROWS; }

static void plainly(spot_ctx *c, int d)
{
    static float dist[ROWS * LARGE];
    static uint64_t keys[2 * LARGE];

    for (int i = 0; i < n; i += step()) {
        int rows = n - i < ROWS ? n - i : ROWS;
        spot_mat all = { x, n, d }, some = { x + (size_t)i * d, rows, d }, far = { dist, rows, n };
        spot_affinity_search s = { far, i, column[0] + (size_t)i * k, { near[0] + (size_t)i * k, rows, k } };
        CHECK_OK(c, spot_distance_squared(c, 1, &far, &some, &all));
        CHECK_OK(c, spot_affinity_nearest(c, 1, &s, keys));
    }
}

/* Whether a tile was left to the plain way is `left`. */
static void agree(int d, bool left)
{
    spot_arena size = spot_arena_counting(), a;
    spot_ctx c = check_ctx(2);
    spot_neighbours s = { { x, n, d }, k, column[1], near[1] };

    c.on_log = on_log;
    told[0] = 0;
    assert_true((size_t)n * k <= sizeof near[0] / sizeof(float) && n * d <= LARGE * D);
    plainly(&c, d);
    for (int threads = 1 + SANITIZED; threads <= 2; threads++) {
        c.threads = threads;
        memset(column[1], 0, sizeof column[1]);
        size = spot_arena_counting();
        CHECK_OK(&c, spot_neighbours_find(&c, &size, 1, &s));
        CHECK_OK(&c, spot_arena_open(&c, &a, size.peak));
        CHECK_OK(&c, spot_neighbours_find(&c, &a, 1, &s));
        assert_int_equal(a.used, 0);
        spot_arena_close(&a);
        for (int i = 0; i < n; i += step()) {
            size_t first = (size_t)i * k, count = (size_t)(n - i < ROWS ? n - i : ROWS) * k;
            assert_memory_equal(column[0] + first, column[1] + first, count * sizeof(int));
            assert_memory_equal(near[0] + first, near[1] + first, count * sizeof(float));
        }
    }
    assert_int_equal(strstr(told, "without the filter") != NULL, left);
}

static void fill(int d, double scale, double offset)
{
    spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 0, 0);

    for (int i = 0; i < n * d; i++) x[i] = (float)(offset + scale * (spot_rng_normal(&r) + (i / d) % 7));
}

TEST(of_clusters)
{
    fill(D, 1, 0);
    agree(D, false);
    fill(1, 1, 0);
    agree(1, false);
    fill(12, 1, 0);
    agree(12, false);
}

/* A column that holds nearly all of the length: no whole numbers are left for the others. */
TEST(of_a_long_column)
{
    fill(D, 1, 0);
    for (int i = 0; i < N; i++) x[i * D] *= 1e4f;
    agree(D, false);
    for (int i = 0; i < N; i++) x[i * D] = i % 2 ? 1e6f : 0;
    agree(D, false);
}

/* Ties at every distance, and equal rows. */
TEST(of_whole_numbers)
{
    fill(D, 1, 0);
    for (int i = 0; i < N * D; i++) x[i] = rintf(x[i]);
    for (int i = 100; i < 200; i++) memcpy(x + (size_t)i * D, x, D * sizeof *x);
    agree(D, false);
}

/* Rows far from the origin, and so small that squares are denormal or nothing. */
TEST(of_extreme_sizes)
{
    fill(D, 1, 3e4);
    agree(D, false);
    fill(D, 1e-15, 0);
    agree(D, false);
    fill(D, 1e-20, 0);
    agree(D, true);
    fill(D, 1e10, 0);
    agree(D, false);
}

/* A row in 25 is 1, or -1, and 1/127 of that in all other columns, which bytes to 127 hold and bytes to 63 lose: then only the
 * bound of the remainder keeps such rows for each other, since others look nearer. Rows and their opposites make the mean 0. */
TEST(of_remainders)
{
    spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 2, 0);

    for (int i = 0; i < N; i++) {
        const double u = spot_rng_uniform(&r), wide = 0.25 * u * u;
        for (int j = 0; j < D; j++) {
            const double rest = i % 50 < 2 ? 1 / 127.0 + 1e-5 * spot_rng_normal(&r) : wide * spot_rng_normal(&r);
            x[i * D + j] = i % 2 ? -x[(i - 1) * D + j] : j ? (float)rest : 1;
        }
    }
    agree(D, false);
}

/* Rows that the filter cannot tell apart: many equal rows; all rows beside one that is very far. */
TEST(of_what_rounding_hides)
{
    fill(D, 1, 0);
    for (int i = 0; i < 3 * N / 4; i++) memcpy(x + (size_t)i * D, x, D * sizeof *x);
    agree(D, true);
    fill(D, 1, 0);
    x[5 * D] = 1e12f;
    agree(D, true);
    memset(x, 0, sizeof x);
    agree(D, true);
}

/* Rows that fill their last tile of 64, its last panel of 32 and its last 8 rows, or not; the fewest that are many. */
TEST(of_every_remainder)
{
    const int more[] = { 1, 8, 31, 33, 64 };

    for (int e = 0; e < (int)(sizeof more / sizeof *more); e++) {
        n = SPOT_NEIGHBOURS_MANY + more[e];
        fill(17, 1, 0);
        agree(17, false);
    }
    n = N;
}

/* Rows from the farthest to the nearest, and so that the nearest of each come last: candidates are replaced again and again. */
TEST(of_reversed_order)
{
    fill(D, 0.01, 0);
    for (int i = 0; i < N; i++) x[i * D] = (float)(N - i) * (float)(N - i);
    agree(D, false);
    for (int i = 0; i < N; i++) x[i * D] = i % 2 ? (float)i : (float)(N - i);
    agree(D, false);
}

/* Pairs of equal rows and triples in line, far apart in the order: ties between tiles. */
TEST(of_ties_between_tiles)
{
    k = 3;
    fill(D, 1, 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++) x[i * D + j] = j ? 0 : (float)(i * 1031 % N);
    agree(D, false);
    for (int i = 0; i < N; i++) x[i * D] = (float)(i * 1031 % (N / 5));
    agree(D, false);
    k = K;
}

/* Some equal rows in one place, so that only their tiles are left; the rest of the rows lose nothing by it. */
TEST(of_a_crowd)
{
    fill(D, 1, 0);
    for (int i = 700; i < 1300; i++) memcpy(x + (size_t)i * D, x, D * sizeof *x);
    agree(D, true);
}

/* So many neighbours that each thread holds the candidates of its own tile alone, up to all other rows. */
TEST(of_many_neighbours)
{
    const int many[] = { 700, N - 1 };

    for (int e = 0; e < (SANITIZED ? 1 : 2); e++) {
        k = many[e];
        fill(D, 1, 0);
        agree(D, false);
    }
    k = K;
}

/* So many rows that tiles have 256. */
TEST(of_large_tiles)
{
    if (SANITIZED) return;
    n = LARGE;
    k = 5;
    fill(D, 1, 0);
    agree(D, false);
    n = N, k = K;
}

static volatile sig_atomic_t stop = 1;

TEST(stops_when_asked)
{
    spot_arena size = spot_arena_counting(), a;
    spot_ctx c = check_ctx(2);
    spot_neighbours s = { { x, N, D }, K, column[1], near[1] };

    c.stop = &stop;
    CHECK_OK(&c, spot_neighbours_find(&c, &size, 1, &s));
    CHECK_OK(&c, spot_arena_open(&c, &a, size.peak));
    assert_int_equal(spot_neighbours_find(&c, &a, 1, &s), SPOT_STOPPED);
    spot_arena_close(&a);
}
