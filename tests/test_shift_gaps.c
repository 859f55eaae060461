/* test_shift_gaps.c - classes whose base pictures are harder than real ones: the exact test against all
 * tables added up, the level of the whole search in simulated worlds with classes at 0 and 1, and the classes that it finds.
 * ctest: both */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "shifts/shifts_write.h"
#include "stats/means_apart.h"

enum { MOST = 16, MODELS = 20 };

static double exceeds(double x, int n, double y, int m, double margin)
{
    spot_ctx c = check_ctx(1);
    double p;

    CHECK_OK(&c, spot_mean_exceeds(&c, &p, (spot_counted_mean){ x, n }, (spot_counted_mean){ y, m }, margin));
    return p;
}

/* Two tables in which the score orders as plain counting does, so that the greatest chance is known: all right against none
 * right of n has the chance 1/4^n at a share of 1/2. */
TEST(p_is_exact_and_needs_no_exception_for_ties)
{
    CHECK_NEAR(exceeds(1, 5, 0, 5, 0), pow(0.25, 5), 1e-9);
    CHECK_NEAR(exceeds(1, 1, 0, 1, 0), 0.25, 1e-9);
    CHECK_NEAR(exceeds(1, 2, 0, 2, 0.5), pow(0.75 * 0.75, 2), 1e-6);       /* (q + 1/2)^2 (1 - q)^2 is greatest at q = 1/4 */
    assert_true(exceeds(1, 20, 1, 20, 0) >= 1 && exceeds(0, 20, 0, 20, 0) >= 1 && exceeds(0.2, 20, 0.9, 20, 0) >= 1);
    assert_true(exceeds(1, 20, 0.8, 20, 0.2) >= 1);
    CHECK_NEAR(exceeds(1, 20, 0.6, 20, 0), 0.0011180, 1e-6);               /* plain Python, over 2,001 shares */
    CHECK_NEAR(exceeds(1, 20, 0.6, 20, 0.2), 0.0709521, 1e-6);
    CHECK_NEAR(exceeds(1.0 / 15, 15, 0, 15, 0), 0.2923324, 1e-6);
    CHECK_NEAR(exceeds(0.9, 20, 9.0 / 16, 16, 0.1), 0.0738135, 1e-6);
    CHECK_NEAR(exceeds(11.0 / 12, 12, 3.0 / 9, 9, 0.15), 0.0253220, 1e-6);
    assert_true(exceeds(0.95, 400, 0.6, 400, 0.1) < 1e-6);
}

/* For each margin and share on the boundary, the chance of p <= 0.05 by adding up all tables. */
TEST(p_below_the_level_is_as_rare_as_it_says)
{
    enum { N = 12, M = 9 };
    const double margin[] = { 0, 0.15, 0.4 };
    double worst = 0;

    for (int k = 0; k < LEN(margin); k++) {
        bool low[N + 1][M + 1];
        for (int i = 0; i <= N; i++)
            for (int j = 0; j <= M; j++) low[i][j] = exceeds((double)i / N, N, (double)j / M, M, margin[k]) <= 0.05;
        for (double q = 0.01; q + margin[k] < 1; q += 0.01) {
            double sum = 0;
            for (int i = 0; i <= N; i++)
                for (int j = 0; j <= M; j++)
                    if (low[i][j]) sum += exp(lgamma(N + 1) - lgamma(i + 1) - lgamma(N - i + 1) + lgamma(M + 1) - lgamma(j + 1)
                                              - lgamma(M - j + 1) + i * log(q + margin[k]) + (N - i) * log1p(-q - margin[k])
                                              + j * log(q) + (M - j) * log1p(-q));
            worst = fmax(worst, sum);
        }
    }
    printf("p <= 0.05 happens in at most %.4f\n", worst);
    assert_true(worst > 0.03 && worst < 0.0501);
}

/* ---- worlds ---- */

/* Classes with the accuracy on real pictures, the gap to base pictures, and the pictures of each; how far models agree on a
 * picture: 0: each throws a coin, 1: all throw the same, 2: easy and hard pictures. */
typedef struct { double real, gap; int pictures; } kind;
typedef struct {
    const char *name;
    int  classes, models, agree, firsts;
    kind first, other;                 /* of the first classes, and of the others */
    bool planted;                      /* the first ones are confounded */
} world;

static const kind *kind_of(const world *w, int cls) { return cls < w->firsts ? &w->first : &w->other; }

/* Returns the models that are right times those that are wrong. */
static double throw_picture(const world *w, spot_rng *r, double share, int *right, int cls)
{
    const double all = spot_rng_uniform(r), tilt = spot_rng_uniform(r), mild = share * (1 - share);
    const double own = w->agree == 2 ? fmin(fmax(share + (tilt - 0.5) * 4 * mild, 0), 1) : share;
    int hits = 0;

    for (int m = 0; m < w->models; m++) {
        const bool is = (w->agree == 1 ? all : spot_rng_uniform(r)) < own;
        right[m * w->classes + cls] += is, hits += is;
    }
    return (double)hits * (w->models - hits);
}

/* Returns how many unplanted classes are named; *found: how many planted ones. */
static int search(const world *w, int index, int *found)
{
    static int count[2][MOST], right[2][MOST * MODELS];
    double split[2][MOST] = { { 0 } };
    int answered[MODELS], wrong = 0;
    spot_ctx c = check_ctx(2);
    spot_shifts_config cfg = { .models = w->models, .data.real = "real", .evaluation = { spot_shift_rule_defaults(), 0.1 } };
    spot_shift_result unit[2] = { 0 };
    spot_shift_source_result source = { .gaps = 0 };
    spot_shifts_results r = { .cfg = &cfg, .units = 2, .unit = unit, .sources = 1, .source = &source };

    memset(right, 0, sizeof right);
    for (int m = 0; m < w->models; m++) answered[m] = 1;
    for (int u = 0; u < 2; u++) {
        unit[u] = (spot_shift_result){ .classes = w->classes, .models = w->models, .answered = answered,
                                       .split = split[u] };
        unit[u].count[SPOT_SHIFT_ALL] = count[u], unit[u].right[SPOT_SHIFT_ALL] = right[u];
        for (int k = 0; k < w->classes; k++) {
            spot_rng rng = spot_rng_at(3, SPOT_RNG_EC, (uint32_t)(index * MOST + k), (uint32_t)u);
            const kind *d = kind_of(w, k);
            count[u][k] = d->pictures;
            for (int i = 0; i < d->pictures; i++)
                split[u][k] += throw_picture(w, &rng, d->real - (u ? d->gap : 0), right[u], k);
        }
    }
    CHECK_OK(&c, spot_shift_gaps(&c, &r));
    *found = 0;
    for (int i = 0; i < source.gaps; i++) {
        const spot_shift_gap *g = &source.gap[i];
        assert_true(g->low <= g->gap && g->gap <= g->high && g->low < g->high);
        if (g->confounded) assert_true(g->gap >= 0.1 && g->low > 0);
        *found += g->confounded && w->planted && g->cls < w->firsts;
        wrong += g->confounded && !(w->planted && g->cls < w->firsts);
    }
    free(source.gap);
    return wrong;
}

TEST(no_class_is_named_by_chance_and_real_ones_are)
{
    static const world worlds[] = {
        { "base is easier, a class at 1", 4, 1, 0, 1, { 1, 0, 20 }, { 0.6, -0.3, 20 }, false },
        { "classes at 0 and 1", 6, 3, 2, 3, { 1, 0, 20 }, { 0, 0, 20 }, false },
        { "a class at 1 among hard pictures", 6, 3, 2, 1, { 1, 0, 20 }, { 0.6, 0, 20 }, false },
        { "all classes lose the same, one model", 8, 1, 0, 0, { 0, 0, 0 }, { 0.9, 0.2, 20 }, false },
        { "the same, models agree", 8, 10, 1, 0, { 0, 0, 0 }, { 0.9, 0.2, 20 }, false },
        { "the same, hard pictures", 8, 10, 2, 0, { 0, 0, 0 }, { 0.7, 0.2, 16 }, false },
        { "few pictures, models agree", 4, 10, 1, 0, { 0, 0, 0 }, { 0.8, 0.2, 6 }, false },
        { "all lose the same, models throw coins", 8, 6, 0, 0, { 0, 0, 0 }, { 0.7, 0.2, 16 }, false },
        { "found: six models, 16 pictures", 4, 6, 0, 1, { 0.7, 0.6, 16 }, { 0.7, 0.1, 16 }, true },
        { "found: one model, 40 pictures", 8, 1, 0, 1, { 0.95, 0.65, 40 }, { 0.95, 0.1, 40 }, true },
        { "found: 20 models, 50 pictures", 16, 20, 2, 3, { 0.9, 0.6, 50 }, { 0.9, 0.1, 50 }, true },
        { "found though base is easier", 6, 3, 0, 1, { 0.6, 0.5, 30 }, { 0.6, -0.3, 30 }, true },
    };
    const int draws = SANITIZED ? 10 : 200;

    for (int k = 0; k < LEN(worlds); k++) {
        const world *w = &worlds[k];
        int chance = 0, planted = 0, found;
        for (int i = 0; i < draws; i++) chance += search(w, i, &found) > 0, planted += found;
        printf("%-40s chance names a class in %d of %d worlds", w->name, chance, draws);
        if (w->planted) printf(", planted ones are found %d of %d times", planted, w->firsts * draws);
        printf("\n");
        if (SANITIZED) continue;
        assert_true(chance <= 0.05 * draws);
        assert_true(!w->planted || planted >= 0.8 * w->firsts * draws);
    }
}
