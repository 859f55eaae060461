/* centres.c - nearest centres on the CPU: a thread's row, the distances to all centres side by side. */
#include "map/centres.h"

static int nearest_of(const float *x, const float *centre, int d, int k)
{
    float far[SPOT_CENTRES_MOST];
    int best = 0;

    for (int c = 0; c < k; c++) far[c] = 0;
    for (int j = 0; j < d; j++) {
        const float *column = centre + (size_t)j * k, own = x[j];
        for (int c = 0; c < k; c++) far[c] += (own - column[c]) * (own - column[c]);
    }
    for (int c = 1; c < k; c++)
        if (far[c] < far[best]) best = c;
    return best;
}

static spot_status nearest_cpu(spot_ctx *c, int problems, const spot_centres_problem *p)
{
    for (int q = 0; q < problems; q++) {
        SPOT_TRY(spot_check_stop(c));
#pragma omp parallel for num_threads(c->threads) schedule(static)
        for (int i = 0; i < p[q].n; i++)
            p[q].label[i] = nearest_of(p[q].x + (size_t)i * p[q].d, p[q].centre, p[q].d, p[q].k);
    }
    return SPOT_OK;
}

const spot_centres_ops spot_centres_cpu = { .nearest = nearest_cpu };

spot_status spot_centres_nearest(spot_ctx *c, int problems, const spot_centres_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 0 || p[q].d < 1 || p[q].k < 1 || p[q].k > SPOT_CENTRES_MOST)
            return spot_fail(c, SPOT_INVALID, "{centres.sizes} centres.nearest, problem %d: %d centres of (%d, %d) rows; 1 to "
                             "%d", q, p[q].k, p[q].n, p[q].d, SPOT_CENTRES_MOST);
    SPOT_DISPATCH(c, centres, nearest, problems, p);
}
