/* test_spotlight.c - spotlights against the official code's trace, what they find, and views that leave nothing to find. */
#include "check.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "spotlight.h"
#include "spotter/bdm.h"
#include "spotter/rng.h"


/* --- The op against tools/golden/spotlight.py */

enum { MOST = 1000, CASES = 6 };

static struct golden {
    int n, d;
    float *x;
    double *loss, *final[CASES];     /* of each case, the weights at its end */
} gold;

static void get(FILE *f, void *out, size_t bytes) { assert_int_equal(fread(out, 1, bytes, f), bytes); }

static void *aligned(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(p);
    return p;
}

static void near(double got, double want, int name, int step, int what)
{
    static const char *const names[] = { "objective", "total weight", "learning rate", "a weight" };
    if (!(fabs(got - want) <= 1e-5 * fabs(want) + (what == 3 ? 1e-12 : 0)))
        fail_msg("case %d, step %d: %s is %.12g, upstream's %.12g", name, step, names[what], got, want);
}

/* One case to its step `steps` of cfg->steps, which the barrier's schedule is made for. */
static void run(spot_ctx *c, const double *loss, const spot_spotlight_config *cfg, double *weight, double *trace)
{
    int full = cfg->precision == SPOT_PRECISION_FULL, d = gold.d;
    double *state = aligned((size_t)d * (d + 2) * sizeof *state);
    spot_spotlight_problem p = { gold.n, d, gold.x, loss, weight, state, state + d, full ? state + 2 * d : NULL, trace };
    spot_arena a;

    memset(state, 0, (size_t)d * (d + 2) * sizeof *state);
    for (int j = 0; j < (full ? d : 1); j++) state[d + j] = log(full ? 1e-3 : 1e-4);
    for (int j = 0; full && j < d; j++) p.axes[j * (d + 1)] = 1;
    CHECK_OK(c, spot_arena_open(c, &a, spot_spotlight_scratch(1, gold.n, d, cfg, c->threads)));
    CHECK_OK(c, spot_spotlight_shine(c, &a, 1, &p, cfg, 1));
    assert_int_equal(a.used, 0);
    spot_arena_close(&a);
    free(state);
}

static void follows_the_official_trace(void **state)
{
    spot_ctx c = check_ctx(2);
    FILE *f = fopen("golden/spotlight.bin", "rb");
    int cases;
    (void)state;
    assert_non_null(f);
    get(f, &gold.n, sizeof gold.n);
    get(f, &gold.d, sizeof gold.d);
    get(f, &cases, sizeof cases);
    assert_int_equal(cases, CASES);
    size_t n = gold.n;
    gold.x = aligned(n * gold.d * sizeof *gold.x);
    gold.loss = aligned(n * sizeof *gold.loss);
    get(f, gold.x, n * gold.d * sizeof *gold.x);
    get(f, gold.loss, n * sizeof *gold.loss);
    for (int k = 0; k < cases; k++) {
        int head[6];                  /* kernel, full, steps, patience, every, after */
        double fraction[2], *loss = aligned(n * sizeof *loss), greatest = 0;
        static double trace[3 * MOST], want[3 * MOST];
        gold.final[k] = aligned(n * sizeof *gold.final[k]);
        get(f, head, sizeof head);
        get(f, fraction, sizeof fraction);
        get(f, want, 3 * (size_t)head[2] * sizeof *want);
        spot_spotlight_config cfg = { .min_weight = fraction[0], .kernel = head[0], .precision = head[1], .steps = head[2],
                                      .patience = head[3], .lr = fraction[1], .barrier_scale = 1, .barrier_end = 0.05 };
        for (size_t i = 0; head[5] >= 0 && i < n; i++) greatest = fmax(greatest, gold.final[head[5]][i]);
        for (size_t i = 0; i < n; i++)
            loss[i] = gold.loss[i] * (head[5] < 0 ? 1 : 1 - gold.final[head[5]][i] / greatest);
        run(&c, loss, &cfg, gold.final[k], trace);
        for (int e = 0; e < 3 * head[2]; e++) near(trace[e], want[e], k, e / 3, e % 3);
        for (int at = head[4]; at <= head[2]; at += head[4]) {
            double weight[1024];
            get(f, weight, n * sizeof *weight);
            if (at == head[2])
                for (size_t i = 0; i < n; i++) near(gold.final[k][i], weight[i], k, at, 3);
        }
        double worst = 0;
        for (int e = 0; e < 3 * head[2]; e++) worst = fmax(worst, fabs(trace[e] - want[e]) / fabs(want[e]));
        print_message("case %d: within %.1e of upstream over %d steps\n", k, worst, head[2]);
        free(loss);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_official_trace),
    };
    openblas_set_num_threads(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
