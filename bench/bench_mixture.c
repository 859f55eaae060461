/* bench_mixture.c - the 32 mixtures of one PlaneSpot run. Peer: bench/peers/mixture_sklearn.py, on the same points. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "spotter/cluster.h"

enum { POINTS = 3000, GROUPS = 16, KS = 32 };

typedef struct {
    spot_mat x;                /* (POINTS, 3) */
    spot_arena arena;
    spot_mixture best, *all;   /* all (KS) */
    int *label;
} mixtures;

static void close_mixtures(void *state)
{
    mixtures *s = state;

    spot_arena_close(&s->arena);
    free(s->x.v);
    free(s);
}

/* A normal number from the additive sequences of two irrational steps; the peer's script has the same formulas. */
static double normal(int i, double first, double second)
{
    double u = fmod((i + 1) * first, 1), v = fmod((i + 1) * second, 1);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* A map of 16 groups of unlike sizes that touch each other, and 0.025 times a confidence that goes with the group. */
static void fill(spot_mat x)
{
    for (int i = 0; i < x.rows; i++) {
        int g = i * 7 % GROUPS % (GROUPS - i % 5);
        double spread = 0.03 + 0.004 * g, logit = 4 - 0.5 * g;
        x.v[3 * i] = (float)(fmod((g + 1) * 0.7548776662, 1) + spread * normal(i, 0.6180339887, 0.4142135624));
        x.v[3 * i + 1] = (float)(fmod((g + 1) * 0.5698402910, 1) + spread * normal(i, 0.7320508076, 0.2360679775));
        x.v[3 * i + 2] = (float)(0.025 / (1 + exp(-logit - normal(i, 0.6457513111, 0.3166247904))));
    }
}

static spot_status open_mixtures(spot_ctx *c, void **state)
{
    spot_mixture_config cfg = spot_mixture_defaults();
    mixtures *s = calloc(1, sizeof *s);
    spot_ctx host = { 0 };     /* points and results lie on the host; on CUDA the copies are timed, too */
    int n = POINTS;

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for the mixtures of a bench");
    *state = s;
    s->x = (spot_mat){ malloc(POINTS * 3 * sizeof(float)), POINTS, 3 };
    if (!s->x.v) return spot_fail(c, SPOT_NOMEM, "no memory for %d points of a bench", POINTS);
    fill(s->x);
    if (spot_arena_open(&host, &s->arena, spot_mixture_bytes(1, &n, 3, &cfg, c->threads)) != SPOT_OK)
        return spot_fail(c, SPOT_NOMEM, "%s", spot_message(&host, SPOT_NOMEM));
    return SPOT_OK;
}

static spot_status run_mixtures(spot_ctx *c, void *state)
{
    mixtures *s = state;
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_seed seed = { 1, 0 };

    s->arena.used = 0;
    return spot_mixture_fit(c, &s->arena, 1, &s->best, &s->label, &s->all, &s->x, &seed, &cfg);
}

/* Weighted density of a point by cofactors and the determinant: another route than the kernel's. */
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

static spot_status check_mixtures(spot_ctx *c, void *state)
{
    mixtures *s = state;

    SPOT_TRY(run_mixtures(c, state));
    for (int i = 0; i < KS; i++) {
        const spot_mixture *f = &s->all[i];
        double sum = 0, bic;
        for (int p = 0; p < POINTS; p++) {
            double all = 0;
            for (int k = 0; k < f->k; k++) all += density(f, k, s->x.v + 3 * p);
            sum += log(all);
        }
        bic = (10 * f->k - 1) * log(POINTS) - 2 * sum;
        if (!(fabs(sum - f->log_likelihood) <= 1e-8 * fabs(sum)) || !(fabs(bic - f->bic) <= 1e-8 * fabs(bic)) ||
            !(s->best.bic <= f->bic))
            return spot_fail(c, SPOT_CHECK, "K=%d: log-likelihood %.10g and BIC %.10g; its parameters give %.10g and %.10g",
                             f->k, f->log_likelihood, f->bic, sum, bic);
    }
    return SPOT_OK;
}

const spot_bench_row spot_bench_mixture[] = {
    { "mixture", "K = 1..32 on 3,000 x 3, BIC", KS, "fits", open_mixtures, check_mixtures, run_mixtures, close_mixtures },
    { .op = NULL },
};
