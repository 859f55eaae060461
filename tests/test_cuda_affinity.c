/* test_cuda_affinity.c - neighbours, conditional and joint probabilities: CUDA against the CPU. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda_tsne.h"

#include "spotter/rng.h"

/* nearest and rows: edges of warps, one row, no row, all columns; `values` distances differ, 1: all are equal. */
static const struct { int rows, m, k, own, values; } searches[] = {
    { 1, 2, 1, 0, 9 }, { 31, 33, 7, -1, 5 }, { 33, 33, 32, 0, 1000000 }, { 0, 5, 3, -1, 1 }, { 17, 70, 64, 53, 1 },
    { 65, 257, 91, 100, 3 }, { 20, 255, 31, -1, 1000000 },
};
enum { SEARCHES = LEN(searches) };

static float *distances(int p)
{
    size_t n = (size_t)searches[p].rows * searches[p].m;
    spot_rng r = spot_rng_at(4, SPOT_RNG_TSNE, 0, (uint32_t)p);
    float *d = malloc(n * sizeof *d + 1);

    for (size_t e = 0; e < n; e++) {
        d[e] = (float)spot_rng_below(&r, (uint32_t)searches[p].values) * 3e-3f;
        if (e % 41 == 5 && searches[p].values > 1) d[e] = SPOT_FAR;
    }
    return d;
}

static void neighbours_agree(void **state)
{
    spot_affinity_search cpu[SEARCHES];
    spot_affinity_rule rule[SEARCHES];
    spot_mat p[SEARCHES], near[SEARCHES];
    spot_ctx host = check_ctx(2);
    uint64_t scratch[2 * 257];

    (void)state;
    for (int q = 0; q < SEARCHES; q++) {
        int rows = searches[q].rows, m = searches[q].m, k = searches[q].k;
        near[q] = (spot_mat){ calloc((size_t)rows * k + 1, sizeof(float)), rows, k };
        p[q] = (spot_mat){ calloc((size_t)rows * k + 1, sizeof(float)), rows, k };
        cpu[q] = (spot_affinity_search){ { distances(q), rows, m }, searches[q].own,
                                         calloc((size_t)rows * k + 1, sizeof(int)), near[q] };
        rule[q] = (spot_affinity_rule){ log(fmax(k / 3.0, 1)), 1e-5, q % 2 ? 100 : 50 };
    }
    CHECK_OK(&host, spot_affinity_nearest(&host, SEARCHES, cpu, scratch));
    CHECK_OK(&host, spot_affinity_rows(&host, SEARCHES, p, near, rule));
    for (int s = 0; s < LEN(schedules); s++)
        for (int alone = 0; alone < 2; alone++) {
            spot_affinity_search gpu[SEARCHES];
            spot_mat gp[SEARCHES], gnear[SEARCHES];
            spot_ctx c;

            open_cuda(&c, s);
            for (int q = 0; q < SEARCHES; q++) {
                size_t n = (size_t)p[q].rows * p[q].cols;
                gpu[q] = cpu[q];
                gpu[q].d.v = on(&c, cpu[q].d.v, (size_t)cpu[q].d.rows * cpu[q].d.cols * sizeof(float));
                gpu[q].column = on(&c, NULL, n * sizeof(int));
                gpu[q].near.v = on(&c, NULL, n * sizeof(float));
                gnear[q] = gpu[q].near;
                gp[q] = (spot_mat){ on(&c, NULL, n * sizeof(float)), p[q].rows, p[q].cols };
            }
            for (int q = 0; q < (alone ? SEARCHES : 1); q++) {
                CHECK_OK(&c, spot_affinity_nearest(&c, alone ? 1 : SEARCHES, gpu + q, NULL));
                CHECK_OK(&c, spot_affinity_rows(&c, alone ? 1 : SEARCHES, gp + q, gnear + q, rule + q));
            }
            for (int q = 0; q < SEARCHES; q++) {
                size_t n = (size_t)p[q].rows * p[q].cols;
                check_ints(&c, "columns", gpu[q].column, cpu[q].column, n);
                check_floats(&c, "distances", gpu[q].near.v, cpu[q].near.v, n, 0);
                check_floats(&c, "conditional P", gp[q].v, p[q].v, n, 1e-5);
            }
            give_back(&c);
            spot_device_close(&c);
        }
    for (int q = 0; q < SEARCHES; q++) free(cpu[q].d.v), free(cpu[q].column), free(near[q].v), free(p[q].v);
}

/* joint: two points; everybody names everybody; `hub`: all name the first columns; more rows than a block. */
static const struct { int n, k, hub; } graphs[] = { { 2, 1, 0 }, { 33, 32, 0 }, { 70, 3, 1 }, { 257, 17, 0 }, { 31, 5, 1 } };
enum { GRAPHS = LEN(graphs) };

/* k columns of n but for the row itself, rising, and random p. */
static void random_edges(int q, int *column, float *p)
{
    spot_rng r = spot_rng_at(5, SPOT_RNG_TSNE, 0, (uint32_t)q);
    int n = graphs[q].n, k = graphs[q].k;

    for (int i = 0; i < n; i++)
        for (int j = 0, found = 0; found < k; j++) {
            int left = n - j - (i >= j), missing = k - found;
            if (j == i || (!graphs[q].hub && (int)spot_rng_below(&r, (uint32_t)left) >= missing)) continue;
            column[i * k + found] = j;
            p[i * k + found++] = (float)spot_rng_uniform(&r) / k;
        }
}

static void joint_agrees(void **state)
{
    spot_affinity_graph cpu[GRAPHS];
    spot_ctx host = check_ctx(2);

    (void)state;
    for (int q = 0; q < GRAPHS; q++) {
        static int column[257 * 32];
        static float p[257 * 32];
        random_edges(q, column, p);
        cpu[q] = take_graph(&host, graphs[q].n, graphs[q].k, column, p);
        cpu[q].fuzzy = q % 2;
    }
    CHECK_OK(&host, spot_affinity_joint(&host, GRAPHS, cpu));
    for (int s = 0; s < LEN(schedules); s++)
        for (int alone = 0; alone < 2; alone++) {
            spot_affinity_graph gpu[GRAPHS];
            spot_ctx c;

            open_cuda(&c, s);
            for (int q = 0; q < GRAPHS; q++) {
                gpu[q] = take_graph(&c, cpu[q].n, cpu[q].k, cpu[q].column, cpu[q].p);
                gpu[q].fuzzy = cpu[q].fuzzy;
            }
            for (int q = 0; q < (alone ? GRAPHS : 1); q++)
                CHECK_OK(&c, spot_affinity_joint(&c, alone ? 1 : GRAPHS, gpu + q));
            for (int q = 0; q < GRAPHS; q++) {
                int n = cpu[q].n;
                check_ints(&c, "start", gpu[q].start, cpu[q].start, n + 1);
                check_ints(&c, "to", gpu[q].to, cpu[q].to, cpu[q].start[n]);
                check_floats(&c, "joint P", gpu[q].joint, cpu[q].joint, cpu[q].start[n], 1e-5);
            }
            give_back(&c);
            spot_device_close(&c);
        }
    give_back(&host);
}

/* More problems than one launch takes: the same one again and again. */
static void batches_are_cut(void **state)
{
    enum { MANY = 85, N = 6, K = 2 };
    spot_affinity_search search[MANY];
    spot_affinity_graph g[MANY];
    spot_affinity_rule rule[MANY];
    spot_mat p[MANY], near[MANY];
    float d[N * N];
    spot_ctx c;

    (void)state;
    open_cuda(&c, 0);
    for (int e = 0; e < N * N; e++) d[e] = (float)((e / N - e % N) * (e / N - e % N));
    for (int q = 0; q < MANY; q++) {
        near[q] = (spot_mat){ on(&c, NULL, N * K * sizeof(float)), N, K };
        p[q] = (spot_mat){ on(&c, NULL, N * K * sizeof(float)), N, K };
        search[q] = (spot_affinity_search){ { on(&c, d, sizeof d), N, N }, 0, on(&c, NULL, N * K * sizeof(int)), near[q] };
        rule[q] = (spot_affinity_rule){ log(1.5), 1e-5, 100 };
        g[q] = take_graph(&c, N, K, NULL, NULL);
        g[q].column = search[q].column;
        g[q].p = p[q].v;
    }
    CHECK_OK(&c, spot_affinity_nearest(&c, MANY, search, NULL));
    CHECK_OK(&c, spot_affinity_rows(&c, MANY, p, near, rule));
    CHECK_OK(&c, spot_affinity_joint(&c, MANY, g));
    for (int q = 0; q < MANY; q++) {
        int start[N + 1], to[16];
        CHECK_OK(&c, spot_device_copy(&c, start, g[q].start, sizeof start));
        CHECK_OK(&c, spot_device_copy(&c, to, g[q].to, sizeof to));
        assert_int_equal(start[N], 16 * N);
        assert_memory_equal(to, ((int[16]){ 1, 2 }), sizeof to);      /* nobody else names row 0 but row 1: its own */
    }
    give_back(&c);
    spot_device_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_agree),
        cmocka_unit_test(joint_agrees),
        cmocka_unit_test(batches_are_cut),
    };

    return RUN_ON_CUDA(tests);
}
