/* test_joinspot.c - joinspot: the slices of small trees against brute force over all sets of nodes, the evidence against exact
 * sums, planted groups in a background, data that say nothing, threads, samples of many rows, new rows. ctest: threads, both */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/scan_join.h"
#include "check_bdm.h"
#include "noise.h"

/* ---- a search in a small tree, by brute force ---- */

enum { LEAVES = 8, EACH = 12, ROWS = LEAVES * EACH, D = 3, NODES = 2 * LEAVES - 1 };

/* Leaf k has the rows k, k + LEAVES, .. Sets of leaves are bits. */
typedef struct {
    float x[ROWS * D];
    double error[ROWS];
    int leaf[ROWS];
    spot_ward_merge merge[LEAVES];
    unsigned node[NODES], left[NODES], right[NODES];
} toy;

static void make_toy(toy *t, uint32_t trial)
{
    static const double rates[][5] = { { 0.01, 0.02, 0.02, 0.5, 0.9 }, { 0.1, 0.15, 0.2, 0.55, 0.75 } };
    static const double spreads[] = { 0.2, 1, 6 };
    spot_rng r = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, 1, trial);
    double centre[LEAVES][D], rate[LEAVES];
    int cluster[LEAVES];

    for (int k = 0; k < LEAVES; k++) {
        cluster[k] = k;
        t->node[k] = 1u << k;
        rate[k] = rates[trial % 2][spot_rng_below(&r, 5)];
        for (int j = 0; j < D; j++) centre[k][j] = spreads[trial % 3] * spot_rng_normal(&r);
    }
    for (int i = 0; i < ROWS; i++) {
        t->leaf[i] = i % LEAVES;
        t->error[i] = fmin(1, rate[t->leaf[i]] * (0.8 + 0.4 * spot_rng_uniform(&r)));
        for (int j = 0; j < D; j++) t->x[i * D + j] = (float)(centre[t->leaf[i]][j] + 0.5 * spot_rng_normal(&r));
    }
    for (int i = 0; i < LEAVES - 1; i++) {
        int a = (int)spot_rng_below(&r, (uint32_t)(LEAVES - i)), b = (int)spot_rng_below(&r, (uint32_t)(LEAVES - i - 1));
        int v = LEAVES + i, first[2];
        b += b >= a;
        if (a > b) { int other = a; a = b; b = other; }
        t->left[v] = t->node[cluster[a]], t->right[v] = t->node[cluster[b]];
        first[0] = __builtin_ctz(t->left[v]), first[1] = __builtin_ctz(t->right[v]);
        t->merge[i] = (spot_ward_merge){ first[0] < first[1] ? first[0] : first[1],
                                         first[0] < first[1] ? first[1] : first[0], i };
        t->node[v] = t->left[v] | t->right[v];
        cluster[a] = v;
        cluster[b] = cluster[LEAVES - i - 1];
    }
}

static bool in(const toy *t, unsigned set, int i) { return set >> t->leaf[i] & 1; }

static double rate_of(const toy *t, unsigned set)
{
    double sum = 0, rows = 0;

    for (int i = 0; i < ROWS; i++)
        if (in(t, set, i)) sum += t->error[i], rows++;
    return sum / rows;
}

static double gain(const toy *t, unsigned set, double b, double phi)
{
    double r = rate_of(t, set), n = EACH * __builtin_popcount(set);

    return r > b ? n / phi * (r * log(r / b) + (1 - r) * log((1 - r) / (1 - b))) : 0;
}

static double between(const toy *t, unsigned a, unsigned b)
{
    double sum = 0;

    for (int j = 0; j < D; j++) {
        double m[2] = { 0 };
        for (int i = 0; i < ROWS; i++) {
            if (in(t, a, i)) m[0] += t->x[i * D + j] / (EACH * __builtin_popcount(a));
            if (in(t, b, i)) m[1] += t->x[i * D + j] / (EACH * __builtin_popcount(b));
        }
        sum += (m[0] - m[1]) * (m[0] - m[1]);
    }
    return sum;
}

/* Lists every other row of a set. */
static int every_other(int *row, const toy *t, unsigned set, int half)
{
    int seen = 0, len = 0;

    for (int i = 0; i < ROWS; i++)
        if (in(t, set, i) && seen++ % 2 == half) row[len++] = i;
    return len;
}

static double dot(const toy *t, int row, const double *line)
{
    double sum = 0;

    for (int j = 0; j < D; j++) sum += t->x[row * D + j] * line[j];
    return sum;
}

static double apart(const toy *t, unsigned a, unsigned b)
{
    const unsigned sets[2] = { a, b };
    double all = 0;

    for (int half = 0; half < 2; half++) {
        double line[D] = { 0 }, m[2] = { 0 }, v = 0, length = 0;
        int row[ROWS], len, rows = 0;
        for (int s = 0; s < 2; s++) {
            len = every_other(row, t, sets[s], half);
            for (int k = 0; k < len; k++)
                for (int j = 0; j < D; j++) line[j] += (s ? 1.0 : -1.0) * t->x[row[k] * D + j] / len;
        }
        for (int j = 0; j < D; j++) length += line[j] * line[j];
        for (int s = 0; s < 2; s++) {
            len = every_other(row, t, sets[s], !half);
            rows += len;
            for (int k = 0; k < len; k++) m[s] += dot(t, row[k], line) / len;
            for (int k = 0; k < len; k++) v += pow(dot(t, row[k], line) - m[s], 2);
        }
        all += (m[1] - m[0]) / sqrt(length) / sqrt(v / length / (rows - 2)) / 2;
    }
    return all;
}

/* The quotient of the header; infinite where the two are not one thing. */
static double quotient(const toy *t, unsigned a, unsigned b, unsigned background)
{
    double near = INFINITY;

    for (int k = 0; k < LEAVES; k++)
        if (background >> k & 1) near = fmin(near, (between(t, a, 1u << k) + between(t, b, 1u << k)) / 2);
    return between(t, a, b) < near && apart(t, a, b) <= 8 ? between(t, a, b) / near : INFINITY;
}

/* The best set of disjoint nodes, of all sets. */
static int best_nodes(unsigned *set, const toy *t, double b, double phi, unsigned background)
{
    double most = 0, own[NODES];
    unsigned best = 0;
    int len = 0;

    for (int v = 0; v < NODES; v++) {
        own[v] = gain(t, t->node[v], b, phi) - log(ROWS);
        if (v >= LEAVES && !(quotient(t, t->left[v], t->right[v], background) < INFINITY)) own[v] = -1;
    }
    for (unsigned pick = 1; pick < 1u << NODES; pick++) {
        unsigned leaves = 0;
        double sum = 0;
        for (int v = 0; v < NODES && sum >= 0; v++) {
            if (!(pick >> v & 1)) continue;
            sum = leaves & t->node[v] || own[v] <= 0 ? -INFINITY : sum + own[v];
            leaves |= t->node[v];
        }
        if (!(sum > most)) continue;
        most = sum;
        best = pick;
    }
    for (int v = 0; v < NODES; v++)
        if (best >> v & 1) set[len++] = t->node[v];
    return len;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* phi of the rows of a set of leaves. */
static double spread_of(const toy *t, unsigned set)
{
    double b = rate_of(t, set), v = 0;

    for (int i = 0; i < ROWS; i++)
        if (in(t, set, i)) v += pow(t->error[i] - b, 2) / (EACH * __builtin_popcount(set));
    return fmin(fmax(v / (b * (1 - b)), 0.15), 1);
}

/* The search with a background that begins at a share of the rows; b, phi and background are those of its end. */
static int search_from(unsigned *set, const toy *t, double share, double *phi, unsigned *background)
{
    const unsigned all = (1u << LEAVES) - 1;
    double rates[ROWS], b;
    int len = 0;

    *phi = spread_of(t, all);
    for (int i = 0; i < ROWS; i++) rates[i] = rate_of(t, 1u << t->leaf[i]);
    qsort(rates, ROWS, sizeof *rates, by_value);
    b = rates[(int)(share * ROWS) - 1];
    for (int round = 0; round < 4; round++) {
        unsigned rest = all;
        *background = 0;
        for (int k = 0; k < LEAVES; k++)
            if (gain(t, 1u << k, b, *phi) < 2) *background |= 1u << k;
        len = best_nodes(set, t, b, *phi, *background);
        for (int k = 0; k < len; k++) rest &= ~set[k];
        if (rest && round < 3) b = rate_of(t, rest), *phi = spread_of(t, rest);
    }
    return len;
}

/* Log-likelihood by own rates of the sets and of the rest, over that by one rate, less the penalties. */
static double worth(const toy *t, const unsigned *set, int len, double phi)
{
    const unsigned all = (1u << LEAVES) - 1;
    unsigned rest = all, own[LEAVES + 1];
    double sum = 0;

    for (int k = 0; k < len; k++) rest &= ~(own[k] = set[k]);
    own[len] = rest;
    for (int k = 0; k <= len; k++) {
        double r = own[k] ? rate_of(t, own[k]) : 0;
        for (int i = 0; i < ROWS; i++)
            if (in(t, own[k], i))
                sum += t->error[i] * log(r / rate_of(t, all)) + (1 - t->error[i]) * log((1 - r) / (1 - rate_of(t, all)));
    }
    return sum / phi - len * log(ROWS);
}

static int search_by_force(unsigned *set, const toy *t, int *quarters)
{
    unsigned background, other, lower[LEAVES];
    double phi, low;
    int len = search_from(set, t, 0.5, &phi, &background), fewer = search_from(lower, t, 0.25, &low, &other);

    phi = fmin(phi, low);
    if (worth(t, lower, fewer, phi) > worth(t, set, len, phi) + 1e-9) {
        memcpy(set, lower, (size_t)fewer * sizeof *set);
        len = fewer, background = other;
        ++*quarters;
    }
    for (;;) {
        double least = 0.6;
        int g = 0, h = 0;
        for (int i = 0; i < len; i++)
            for (int j = i + 1; j < len && background; j++) {
                double q = quotient(t, set[i], set[j], background);
                if (q < least) least = q, g = i, h = j;
            }
        if (g == h) return len;
        set[g] |= set[h];
        set[h] = set[--len];
    }
}

static spot_scan open_scan(spot_ctx *c, spot_arena *a, const toy *t)
{
    spot_arena sizes = spot_arena_counting();
    spot_scan s = { 0 };

    CHECK_OK(c, spot_scan_take(c, &sizes, &s, ROWS, LEAVES, D));
    CHECK_OK(c, spot_arena_open(c, a, sizes.peak));
    CHECK_OK(c, spot_scan_take(c, a, &s, ROWS, LEAVES, D));
    s.n = ROWS, s.stride = s.d = D, s.least = 5;
    s.x = t->x, s.error = t->error;
    s.leaves = LEAVES, s.leaf = t->leaf, s.merge = t->merge;
    return s;
}

TEST(slices_are_those_of_brute_force)
{
    spot_ctx c = check_ctx(1);
    int slices = 0, wide = 0, quarters = 0;
    static toy t;

    for (uint32_t trial = 0; trial < (SANITIZED ? 9 : 150); trial++) {
        unsigned want[LEAVES];
        spot_arena a;
        make_toy(&t, trial);
        spot_scan s = open_scan(&c, &a, &t);
        spot_scan_tree(&s);
        assert_int_equal(s.slices, search_by_force(want, &t, &quarters));
        for (int g = 0; g < s.slices; g++) {
            unsigned got = 0;
            bool found = false;
            for (int k = 0; k < LEAVES; k++) got |= (unsigned)(s.slice[k] == g) << k;
            for (int h = 0; h < s.slices; h++) found |= want[h] == got;
            assert_true(found);
            wide += __builtin_popcount(got) > 1;
        }
        slices += s.slices;
        spot_arena_close(&a);
    }
    print_message("%d slices, %d of several leaves; %d trees are searched from a quarter\n", slices, wide, quarters);
    assert_true(SANITIZED || (wide > 20 && slices > 2 * wide && quarters > 3));
}

TEST(evidence_is_the_gain_in_log_likelihood)
{
    double own = 6 * log(0.3) + 14 * log(0.7), base = 6 * log(0.1) + 14 * log(0.9);

    CHECK_NEAR(spot_scan_evidence(6, 20, 0.1), own - base, 1e-12);
    assert_true(spot_scan_evidence(0, 0, 0.1) == 0 && spot_scan_evidence(1, 20, 0.1) == 0);
    assert_true(isfinite(spot_scan_evidence(20, 20, 0)));
}

/* Two groups of so many numbers that several threads add them up. */
TEST(threads_change_no_bit_of_a_distance)
{
    enum { N = 5000, WIDTH = 512 };
    float *x = normals(N * WIDTH, 11, 1);
    uint8_t *side = malloc(N), *part = malloc(N);
    double *line = malloc(2 * WIDTH * sizeof *line), *at = malloc(N * sizeof *at), apart[2];
    int *row = malloc(N * sizeof *row);

    for (int i = 0; i < N; i++) {
        side[i] = (uint8_t)(i % 7 == 3 ? 2 : i % 3 == 0);
        x[(size_t)i * WIDTH] += side[i] == 1 ? 3.f : 0.f;
    }
    for (int q = 0; q < 2; q++) {
        const spot_scan s = { .n = N, .stride = WIDTH, .d = WIDTH, .x = x, .threads = 1 + 2 * q, .row = row, .side = side,
                              .part = part, .line = line, .at = at };
        apart[q] = spot_scan_apart(&s);
    }
    CHECK_NEAR(apart[0], 3, 0.5);
    assert_memory_equal(&apart[0], &apart[1], sizeof apart[0]);
    free(x), free(side), free(part), free(line), free(at), free(row);
}

/* ---- planted groups ---- */

enum { WIDE = 16 };

/* Rows about one of eight corners; those of the first `fail` corners fail with the chance `rate`. */
static bdm_bed planted(int n, int fail, double rate, int threads)
{
    float *x = normals((size_t)n * WIDE, 5, 1), *p = malloc((size_t)n * sizeof *p), *u = normals((size_t)n, 6, 2);

    for (int i = 0; i < n; i++) {
        int at = i % 8;
        for (int j = 0; j < WIDE; j++) x[i * WIDE + j] = 0.15f * x[i * WIDE + j] + (j == at ? 2.f : 0.f);
        p[i] = at < fail && 0.5 + 0.5 * erf(u[i] / sqrt(2)) < rate ? 0.1f : 0.97f;
    }
    free(u);
    return bed_of(SPOT_JOINSPOT, threads, n, WIDE, x, p);
}

static void close_planted(bdm_bed *b)
{
    spot_arena_close(&b->a);
    free(b->points.at), free(b->view.confidence);
}

/* Rows of which each has its corner and an error: those of the first `fail` corners fail in 3 of 4 cases, others in 1 of 5. */
static bdm_bed noisy(int n, int fail, uint32_t trial)
{
    float *x = normals((size_t)n * WIDE, 7, trial), *p = malloc((size_t)n * sizeof *p);
    spot_rng r = spot_rng_at(8, SPOT_RNG_BOOTSTRAP, trial, 0);

    for (int i = 0; i < n; i++) {
        const bool wrong = spot_rng_uniform(&r) < (i % 8 < fail ? 0.75 : 0.2);
        for (int j = 0; j < WIDE; j++) x[i * WIDE + j] = 0.15f * x[i * WIDE + j] + (j == i % 8 ? 2.f : 0.f);
        p[i] = (float)((wrong ? 0.05 : 0.55) + 0.4 * spot_rng_uniform(&r));
    }
    return bed_of(SPOT_JOINSPOT, 1, n, WIDE, x, p);
}

/* Failing corners of 30 rows that are a slice each, in 10 trials. */
static int corners_found(int fail)
{
    int found = 0;

    for (uint32_t trial = 0; trial < 10; trial++) {
        bdm_bed b = noisy(240, fail, trial);
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        for (int k = 0; k < b.found.len; k++) {
            const spot_hypothesis *h = &b.found.h[k];
            bool one = h->len > 25 && h->row[0] % 8 < fail;
            for (int i = 1; i < h->len; i++) one &= h->row[i] % 8 == h->row[0] % 8;
            found += one;
        }
        close_planted(&b);
    }
    return found;
}

/* The median row is in a blindspot, or is one of the background's worst. Searched from there alone, 20 of 30 and 8 of 40
 * corners are found. */
TEST(half_of_all_rows_may_fail)
{
    const int three = corners_found(3), four = corners_found(4);

    print_message("%d of 30, %d of 40\n", three, four);
    assert_true(three >= 23 && four >= 22);
}

/* Every slice is of one corner and has nearly all of it. */
static void check_planted(const bdm_bed *b, int fail)
{
    assert_int_equal(b->found.len, fail);
    for (int k = 0; k < fail; k++) {
        const spot_hypothesis *h = &b->found.h[k];
        assert_true(h->len > 0.9 * b->view.n / 8 && h->len <= (b->view.n + 7) / 8);
        for (int i = 1; i < h->len; i++) assert_true(h->row[i] > h->row[i - 1] && h->row[i] % 8 == h->row[0] % 8);
    }
}

TEST(a_planted_group_is_one_slice)
{
    static const int rows[] = { 400, 1200, 6000 };     /* the last: a sample, and the other rows by the nearest piece */

    for (int q = 0; q < 3; q++) {
        bdm_bed b = planted(rows[q], 2, 1, 2);
        CHECK_OK(&b.c, find_in(&b, &b.cfg));
        check_planted(&b, 2);
        close_planted(&b);
    }
}

TEST(threads_change_no_bit)
{
    bdm_bed one = planted(5000, 3, 0.6, 1), three = planted(5000, 3, 0.6, 3);

    CHECK_OK(&one.c, find_in(&one, &one.cfg));
    CHECK_OK(&three.c, find_in(&three, &three.cfg));
    assert_true(one.found.len > 0);
    check_same_hypotheses(&three.found, &one.found, 0);
    close_planted(&one), close_planted(&three);
}

/* Rows get their slices again by features alone; no confidence is given. */
TEST(new_rows_need_no_confidence)
{
    bdm_bed b = planted(800, 2, 1, 2);
    const spot_seed seed = { 1, 0 };
    spot_fit fit = { 0 };
    spot_arena a = spot_arena_counting();
    uint8_t *member;
    int right = 0;

    CHECK_OK(&b.c, spot_arena_open(&b.c, &b.a, spot_bdm_bytes(1, &b.points.n, WIDE, &b.cfg, 2)));
    b.view.d = WIDE, b.view.feature = b.points.at;
    CHECK_OK(&b.c, spot_bdm_fit(&b.c, &b.a, 1, &b.found, &fit, &b.view, &b.points, &seed, &b.cfg));
    check_planted(&b, 2);
    spot_view rows = b.view;
    rows.confidence = NULL;
    member = calloc((size_t)b.view.n, 2);
    CHECK_OK(&b.c, spot_bdm_assign(&b.c, &a, member, 2, &rows, &fit, &b.cfg));
    size_t bytes = a.peak;
    CHECK_OK(&b.c, spot_arena_open(&b.c, &a, bytes));
    CHECK_OK(&b.c, spot_bdm_assign(&b.c, &a, member, 2, &rows, &fit, &b.cfg));
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < b.view.n; i++) right += member[2 * i + k] == (i % 8 == b.found.h[k].row[0] % 8);
    assert_true(right >= 2 * b.view.n - 8);
    spot_arena_close(&a);
    spot_fit_close(&fit);
    free(member);
    close_planted(&b);
}

TEST(data_that_say_nothing_give_an_empty_list)
{
    static const float all[] = { 1, 0, 0.5f };

    for (int n = 1; n <= 300; n = n * 3 + 1)
        for (int q = 0; q < 3; q++)
            for (int same = 0; same < 2; same++) {
                bdm_bed b = planted(n, 0, 0, 1);
                for (int i = 0; i < n; i++) b.view.confidence[i] = all[q];
                for (int i = 0; i < n * WIDE && same; i++) b.points.at[i] = 0;
                CHECK_OK(&b.c, find_in(&b, &b.cfg));
                assert_int_equal(b.found.len, 0);
                close_planted(&b);
            }
}

int main(void) { return run_all_tests(); }
