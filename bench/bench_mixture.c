/* bench_mixture.c - the 32 mixtures of a PlaneSpot run, for one EC or a hundred at once. Peer:
 * bench/peers/mixture_sklearn.py, on the same points. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "op_mixtures.h"

enum { GROUPS = 16 };

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

static void make_mixtures(spot_op_run *r, void *problem, const int *size)
{
    spot_op_mixtures *p = problem;
    size_t n = (size_t)size[0];

    p->cfg = spot_mixture_defaults();
    p->cfg.k_max = p->ks = size[1];
    p->seed = (spot_seed){ 1, (uint32_t)r->number };
    p->x = (spot_mat){ spot_op_host(r, 3 * n * sizeof(float)), size[0], 3 };
    p->chosen = spot_op_host(r, n * sizeof *p->chosen);
    p->bic = spot_op_host(r, (size_t)p->ks * sizeof *p->bic);
    if (r->status == SPOT_OK) fill_points(p->x, r->number);
    spot_op_told(r, "K", &p->best.k, SPOT_OP_INT, 1, 0);
    spot_op_told(r, "labels", p->chosen, SPOT_OP_INT, n, 0);
    spot_op_told(r, "BIC", p->bic, SPOT_OP_DOUBLE, (size_t)p->ks, 1e-8);
}

/* Room for the answers of all calls of a run: of one call, or of one for each problem. */
static spot_status open_answers(spot_op_run *r, const spot_op_mixtures *p, int count, const int *rows)
{
    size_t bytes = count == r->problems ? spot_mixture_bytes(count, rows, 3, &p->cfg, r->c->threads) : 0;

    for (int q = 0; count < r->problems && q < r->problems; q++)
        bytes += spot_mixture_bytes(1, &p[q].x.rows, 3, &p->cfg, r->c->threads);
    return spot_op_answers(r, bytes);
}

/* Points and results are on the host; on a GPU the copies are timed, too. */
static spot_status fit(spot_op_run *r, spot_op_mixtures *p, int count)
{
    const int *rows = SPOT_OP_ALL(r, p, x.rows, count);
    const spot_mat *x = SPOT_OP_ALL(r, p, x, count);
    const spot_seed *seed = SPOT_OP_ALL(r, p, seed, count);
    spot_mixture *best = (void *)SPOT_OP_ALL(r, p, best, count), **all = (void *)SPOT_OP_ALL(r, p, all, count);
    int **label = (void *)SPOT_OP_ALL(r, p, label, count);

    if (p == r->problem) SPOT_TRY(open_answers(r, p, count, rows));
    SPOT_OP(r, spot_mixture_fit(r->c, &r->answers, &(spot_mixture_data){ count, x, NULL, seed }, best, label, all, &p->cfg));
    for (int q = 0; q < count; q++) p[q].best = best[q], p[q].all = all[q], p[q].label = label[q];
    return SPOT_OK;
}

static spot_status run_mixtures(spot_op_run *r, void *problems, int count)
{
    spot_op_mixtures *p = problems;

    if (!count) return SPOT_OK;
    SPOT_TRY(fit(r, p, count));
    for (int q = 0; q < count; q++) {
        memcpy(p[q].chosen, p[q].label, (size_t)p[q].x.rows * sizeof *p->chosen);
        for (int i = 0; i < p[q].ks; i++) p[q].bic[i] = p[q].all[i].bic;
    }
    return SPOT_OK;
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

/* Every fit's likelihood and BIC from its own parameters, of the first problem and the last. */
static spot_status check_mixtures(spot_op_run *r, void *problem)
{
    const spot_op_mixtures *s = problem;

    for (int i = 0; i < s->ks && (!r->number || r->number == r->problems - 1); i++) {
        const spot_mixture *f = &s->all[i];
        double sum = 0, bic;
        for (int p = 0; p < s->x.rows; p++) {
            double all = 0;
            for (int k = 0; k < f->k; k++) all += density(f, k, s->x.v + 3 * p);
            sum += log(all);
        }
        bic = (10 * f->k - 1) * log(s->x.rows) - 2 * sum;
        if (!(fabs(sum - f->log_likelihood) <= 1e-8 * fabs(sum)) || !(fabs(bic - f->bic) <= 1e-8 * fabs(bic)) ||
            !(s->best.bic <= f->bic))
            return spot_fail(r->c, SPOT_CHECK, "problem %d, K=%d: likelihood %.10g, BIC %.10g; its parameters give %.10g, "
                             "%.10g", r->number, f->k, f->log_likelihood, f->bic, sum, bic);
    }
    return SPOT_OK;
}

const spot_op spot_op_bic = { "mixtures_by_bic", sizeof(spot_op_mixtures), make_mixtures, run_mixtures, check_mixtures, true };

/* size: problems, points of each, largest K. */
static spot_status open_mixtures(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = (double)size[0] * size[2];
    return spot_op_bench_open(c, state, &spot_op_bic, size[0], (int[SPOT_OP_SIZES]){ size[1], size[2] });
}

static spot_status fit_all(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    (void)c;
    return fit(r, r->problem, r->problems);
}

static const spot_bench_kind kind = { open_mixtures, spot_op_bench_check_all, fit_all, spot_op_bench_close };

const spot_bench_row spot_bench_mixture[] = {
    { "mixture", "K = 1..32 on 3,000 x 3, BIC", "fits", SPOT_ON_CPU, &kind, { 1, 3000, 32 }, { 1, 300, 3 } },
    { "mixture", "100 ECs, K = 1..32 on 3,200 x 3, BIC", "fits", SPOT_ON_CUDA, &kind, { 100, 3200, 32 }, { 2, 96, 2 } },
    { .op = NULL },
};
