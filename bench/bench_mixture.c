/* bench_mixture.c - the 32 mixtures of a PlaneSpot run, for one EC or a hundred at once. Peer:
 * bench/peers/mixture_sklearn.py, on the same points. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "spotter/cluster.h"

enum { GROUPS = 16 };

typedef struct {
    int problems, ks;
    spot_mixture_config cfg;
    spot_mat *x;               /* (problems) of (points, 3) */
    spot_arena arena;          /* points and results are on the host; on a GPU the copies are timed, too */
    spot_mixture *best, **all; /* (problems), (problems, ks) */
    int **label;
    spot_seed *seed;
} mixtures;

static void close_mixtures(spot_ctx *c, void *state)
{
    mixtures *s = state;

    (void)c;
    spot_arena_close(&s->arena);
    for (int p = 0; s->x && p < s->problems; p++) free(s->x[p].v);
    free(s->x), free(s->best), free(s->all), free(s->label), free(s->seed);
    free(s);
}

/* A normal number from the additive sequences of two irrational steps; the peer's script has the same formulas. */
static double normal(int i, double first, double second)
{
    double u = fmod((i + 1) * first, 1), v = fmod((i + 1) * second, 1);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* A map of 16 groups of different sizes that touch each other, and 0.025 times a confidence that depends on the group. */
static void fill_points(spot_mat x, int problem)
{
    for (int row = 0; row < x.rows; row++) {
        int i = row + problem * x.rows, g = i * 7 % GROUPS % (GROUPS - i % 5);
        double spread = 0.03 + 0.004 * g, logit = 4 - 0.5 * g;
        x.v[3 * row] = (float)(fmod((g + 1) * 0.7548776662, 1) + spread * normal(i, 0.6180339887, 0.4142135624));
        x.v[3 * row + 1] = (float)(fmod((g + 1) * 0.5698402910, 1) + spread * normal(i, 0.7320508076, 0.2360679775));
        x.v[3 * row + 2] = (float)(0.025 / (1 + exp(-logit - normal(i, 0.6457513111, 0.3166247904))));
    }
}

/* size: problems, points of each, largest K. */
static spot_status open_mixtures(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    mixtures *s = *state = calloc(1, sizeof *s);
    size_t n = (size_t)size[0];
    int *rows = malloc(n * sizeof *rows);
    spot_status e = SPOT_OK;

    if (s) {
        s->problems = size[0], s->ks = size[2];
        s->x = calloc(n, sizeof *s->x), s->best = calloc(n, sizeof *s->best), s->all = calloc(n, sizeof *s->all);
        s->label = calloc(n, sizeof *s->label), s->seed = calloc(n, sizeof *s->seed);
    }
    if (!s || !rows || !s->x || !s->best || !s->all || !s->label || !s->seed)
        e = spot_fail(c, SPOT_NOMEM, "no memory for the mixtures of a bench");
    for (int p = 0; p < size[0] && e == SPOT_OK; p++) {
        rows[p] = size[1];
        s->seed[p] = (spot_seed){ 1, (uint32_t)p };
        s->x[p] = (spot_mat){ malloc((size_t)size[1] * 3 * sizeof(float)), size[1], 3 };
        if (s->x[p].v) fill_points(s->x[p], p);
        else e = spot_fail(c, SPOT_NOMEM, "no memory for %d points of a bench", size[1]);
    }
    if (e == SPOT_OK) {
        s->cfg = spot_mixture_defaults();
        s->cfg.k_max = s->ks;
        work->items = (double)s->problems * s->ks;
        e = spot_arena_open(c, &s->arena, spot_mixture_bytes(s->problems, rows, 3, &s->cfg, c->threads));
    }
    free(rows);
    return e;
}

static spot_status run_mixtures(spot_ctx *c, void *state)
{
    mixtures *s = state;

    s->arena.used = 0;
    return spot_mixture_fit(c, &s->arena, s->problems, s->best, s->label, s->all, s->x, s->seed, &s->cfg);
}

/* Weighted density of a point by cofactors and the determinant, not by the kernel's algorithm. */
static double density(const spot_mixture *f, int k, const float *x)
{
    const double *s = f->covariance + 9 * k, *m = f->mean + 3 * k, y[] = { x[0] - m[0], x[1] - m[1], x[2] - m[2] };
    double square = 0, cofactor[3][3], determinant = 0;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
            cofactor[i][j] = s[3 * a + p] * s[3 * b + q] - s[3 * a + q] * s[3 * b + p];
            square += y[i] * cofactor[i][j] * y[j];
        }
    for (int j = 0; j < 3; j++) determinant += s[j] * cofactor[0][j];
    return f->weight[k] * exp(-0.5 * square / determinant) / sqrt(pow(6.283185307179586, 3) * determinant);
}

/* Every fit's likelihood and BIC from its own parameters. */
static spot_status check_problem(spot_ctx *c, const mixtures *s, int problem)
{
    spot_mat x = s->x[problem];

    for (int i = 0; i < s->ks; i++) {
        const spot_mixture *f = &s->all[problem][i];
        double sum = 0, bic;
        for (int p = 0; p < x.rows; p++) {
            double all = 0;
            for (int k = 0; k < f->k; k++) all += density(f, k, x.v + 3 * p);
            sum += log(all);
        }
        bic = (10 * f->k - 1) * log(x.rows) - 2 * sum;
        if (!(fabs(sum - f->log_likelihood) <= 1e-8 * fabs(sum)) || !(fabs(bic - f->bic) <= 1e-8 * fabs(bic)) ||
            !(s->best[problem].bic <= f->bic))
            return spot_fail(c, SPOT_CHECK, "problem %d, K=%d: likelihood %.10g, BIC %.10g; its parameters give %.10g, %.10g",
                             problem, f->k, f->log_likelihood, f->bic, sum, bic);
    }
    return SPOT_OK;
}

static spot_status check_mixtures(spot_ctx *c, void *state)
{
    mixtures *s = state;

    SPOT_TRY(run_mixtures(c, state));
    for (int p = 0; p < s->problems; p += s->problems > 1 ? s->problems - 1 : 1) SPOT_TRY(check_problem(c, s, p));
    return SPOT_OK;
}

static const spot_bench_kind kind = { open_mixtures, check_mixtures, run_mixtures, close_mixtures };

const spot_bench_row spot_bench_mixture[] = {
    { "mixture", "K = 1..32 on 3,000 x 3, BIC", "fits", SPOT_ON_CPU, &kind, { 1, 3000, 32 }, { 1, 300, 3 } },
    { "mixture", "100 ECs, K = 1..32 on 3,200 x 3, BIC", "fits", SPOT_ON_CUDA, &kind, { 100, 3200, 32 }, { 2, 96, 2 } },
    { .op = NULL },
};
