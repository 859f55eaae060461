/* test_joinspot.c - joinspot: the joins against brute force, the evidence against exact sums, planted groups in a background,
 * data that say nothing, threads, samples of many rows, new rows. ctest: threads */
#include "check_blas.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/fine_cut.h"
#include "bdm/join_pieces.h"
#include "check_bdm.h"
#include "noise.h"

/* ---- joins ---- */

enum { PIECES = 14, D = 3 };

typedef struct { double centre[PIECES * D], error[PIECES]; int size[PIECES]; } toy;

static double apart(const double *a, const double *b)
{
    double s = 0;

    for (int i = 0; i < D; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
    return s;
}

/* The joins again, from the rows of the groups each time: no cache, no order of names. */
static void join_by_force(int *group, const toy *t)
{
    double mean[PIECES][D];

    for (int k = 0; k < PIECES; k++) group[k] = t->error[k] > t->size[k] / 2.0 ? k : -1;
    for (;;) {
        double least = 1, mass[PIECES] = { 0 };
        int g = -1, h = -1;
        memset(mean, 0, sizeof mean);
        for (int k = 0; k < PIECES; k++)
            if (group[k] >= 0) mass[group[k]] += t->size[k];
        for (int k = 0; k < PIECES; k++)
            for (int i = 0; i < D && group[k] >= 0; i++)
                mean[group[k]][i] += t->centre[k * D + i] * t->size[k] / mass[group[k]];
        for (int a = 0; a < PIECES; a++)
            for (int b = a + 1; b < PIECES && mass[a] > 0; b++) {
                double near = INFINITY, q;
                if (!(mass[b] > 0)) continue;
                for (int k = 0; k < PIECES; k++)
                    if (group[k] < 0)
                        near = fmin(near, (apart(mean[a], t->centre + k * D) + apart(mean[b], t->centre + k * D)) / 2);
                q = apart(mean[a], mean[b]) / near;
                if (q < least) least = q, g = a, h = b;
            }
        if (g < 0) return;
        for (int k = 0; k < PIECES; k++)
            if (group[k] == h) group[k] = g;
    }
}

static spot_joined open_joined(spot_ctx *c, spot_arena *a, const toy *t)
{
    spot_arena sizes = spot_arena_counting();
    spot_joined j;

    CHECK_OK(c, spot_join_take(c, &sizes, &j, PIECES, D));
    CHECK_OK(c, spot_arena_open(c, a, sizes.peak));
    CHECK_OK(c, spot_join_take(c, a, &j, PIECES, D));
    j.pieces = PIECES, j.stride = j.d = D;
    j.centre = t->centre, j.size = t->size, j.error = t->error;
    return j;
}

TEST(joins_are_those_of_brute_force)
{
    spot_ctx c = check_ctx(1);
    int joined = 0, parted = 0;

    for (uint64_t trial = 0; trial < 200; trial++) {
        float *x = normals(PIECES * (D + 1), trial, 1);
        int want[PIECES];
        spot_arena a;
        toy t;
        for (int k = 0; k < PIECES; k++) {
            for (int i = 0; i < D; i++) t.centre[k * D + i] = x[k * (D + 1) + i];
            t.size[k] = k < 5 ? 10 + k : 30;
            t.error[k] = k < 5 ? 0.9 * t.size[k] : 0.02 * t.size[k];
        }
        spot_joined j = open_joined(&c, &a, &t);
        spot_join_pieces(&j);
        join_by_force(want, &t);
        for (int k = 0; k < PIECES; k++) {
            assert_true((j.group[k] < 0) == (want[k] < 0));
            for (int i = 0; i < k; i++)
                if (want[k] >= 0 && want[i] >= 0) {
                    assert_true((j.group[k] == j.group[i]) == (want[k] == want[i]));
                    joined += want[k] == want[i];
                    parted += want[k] != want[i];
                }
        }
        CHECK_NEAR(j.base, 0.02, 1e-12);
        CHECK_NEAR(j.above, 0.15, 1e-12);
        spot_arena_close(&a);
        free(x);
    }
    assert_true(joined > 50 && parted > 50);
}

TEST(evidence_is_the_gain_in_log_likelihood)
{
    double own = 6 * log(0.3) + 14 * log(0.7), base = 6 * log(0.1) + 14 * log(0.9);

    CHECK_NEAR(spot_join_evidence(6, 20, 0.1), own - base, 1e-12);
    assert_true(spot_join_evidence(0, 0, 0.1) == 0 && spot_join_evidence(1, 20, 0.1) == 0);
    assert_true(isfinite(spot_join_evidence(20, 20, 0)));
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
