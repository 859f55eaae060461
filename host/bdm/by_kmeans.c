/* by_kmeans.c - `kmeans`: k-means of the whole feature space, of rows of length 1 with the confidence beside them
 * (unit_rows.h). A cluster is a hypothesis, ordered by size * (mean error)^2. It cuts finely: a blindspot may lie in several
 * hypotheses. At most as many clusters as rows.
 *
 * A new row belongs to the cluster of the nearest centre. Assigning a fitted row gives its cluster again. */
#include "base/twin.h"
#include "bdm/methods.h"
#include "bdm/slices.h"
#include "bdm/unit_rows.h"
#include "core/device.h"
#include "fit/kmeans.h"

typedef struct {
    int *rows;                 /* (n): of the hypotheses */
    spot_unit_rows u;
    const float *there;        /* u.x in the memory of c's device */
    spot_twin centre, label;   /* (clusters, u.d), (n) */
    spot_rank *ranks;          /* (clusters) */
} problem;

static int clusters_of(int n, const spot_bdm_config *cfg) { return n < cfg->plain.clusters ? n : cfg->plain.clusters; }

static spot_status take_problem(spot_ctx *c, spot_arena *host, problem *t, int n, int columns, const spot_bdm_config *cfg)
{
    SPOT_TRY(spot_unit_rows_take(c, host, &t->u, n, columns));
    return SPOT_TAKE(c, host, t->ranks, clusters_of(n, cfg));
}

/* The arrays that lie on the device, too. */
static spot_status take_there(spot_ctx *c, spot_arena *host, spot_arena *work, problem *t, const spot_bdm_config *cfg)
{
    size_t n = (size_t)t->u.n, d = (size_t)t->u.d;

    SPOT_TRY(spot_twin_take(c, host, work, &t->centre, (size_t)clusters_of(t->u.n, cfg) * d * sizeof(double)));
    SPOT_TRY(spot_twin_take(c, host, work, &t->label, n * sizeof(int)));
    return spot_numbers_there(c, work, &t->there, t->u.x, NULL, n * d);
}

static spot_status run_kmeans(spot_ctx *c, spot_arena *a, spot_arena *work, int problems, problem *t, const spot_seed *seeds,
                              const spot_bdm_config *cfg)
{
    spot_kmeans_job *job;

    SPOT_TRY(SPOT_TAKE(c, a, job, problems));
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(take_there(c, a, work, &t[p], cfg));
        job[p] = (spot_kmeans_job){ .n = t[p].u.n, .d = t[p].u.d, .k = clusters_of(t[p].u.n, cfg), .x = t[p].there,
                                    .seed = seeds[p], .centre = t[p].centre.there, .label = t[p].label.there };
    }
    SPOT_TRY(spot_kmeans_fit(c, work, problems, job));
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(spot_twin_pull(c, &t[p].centre));
        SPOT_TRY(spot_twin_pull(c, &t[p].label));
    }
    return SPOT_OK;
}

static size_t kmeans_scratch(const spot_ctx *c, int problems, int n, int d, const spot_bdm_config *cfg)
{
    return spot_kmeans_scratch(problems, n, d, clusters_of(n, cfg), c->device ? 0 : c->threads);
}

static spot_status cluster(spot_ctx *c, spot_arena *a, int problems, problem *t, const spot_seed *seeds,
                           const spot_bdm_config *cfg)
{
    spot_arena sizes = spot_arena_counting(), there = sizes;
    int n = 0, d = 0;
    spot_status s;

    if (!c->device) return run_kmeans(c, a, a, problems, t, seeds, cfg);
    for (int p = 0; p < problems; p++) {
        problem one = t[p];
        SPOT_TRY(take_there(c, &sizes, &there, &one, cfg));
        n = one.u.n > n ? one.u.n : n;
        d = one.u.d > d ? one.u.d : d;
    }
    SPOT_TRY(spot_arena_open_device(c, &there, there.peak + SPOT_SLICES_SLACK + kmeans_scratch(c, problems, n, d, cfg)));
    s = run_kmeans(c, a, &there, problems, t, seeds, cfg);
    spot_arena_close(&there);
    return s;
}

static spot_status find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, spot_fit *fits, const spot_view *views,
                        const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    problem *t;
    size_t mark;
    int **rows;

    SPOT_TRY(SPOT_TAKE(c, a, rows, problems));
    for (int p = 0; p < problems; p++) SPOT_TRY(SPOT_TAKE(c, a, rows[p], views[p].n));
    mark = a->used;
    SPOT_TRY(SPOT_TAKE(c, a, t, problems));
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(take_problem(c, a, &t[p], views[p].n, points[p].d, cfg));
        spot_unit_rows_build(&t[p].u, &views[p], &points[p], NULL, cfg->weight);
    }
    SPOT_TRY(cluster(c, a, problems, t, seeds, cfg));
    for (int p = 0; p < problems; p++) {
        spot_labels l = { .n = views[p].n, .slices = clusters_of(views[p].n, cfg), .label = t[p].label.here };
        int len = spot_slices_rank(t[p].ranks, &l, &views[p]);
        spot_slices_collect(&out[p], rows[p], t[p].ranks, len, &l, cfg->top);
        if (fits)
            SPOT_TRY(spot_unit_rows_keep(c, &fits[p], &t[p].u, t[p].centre.here, l.slices, t[p].ranks, out[p].len));
    }
    a->used = mark;
    return SPOT_OK;
}

static spot_status assign(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                          const spot_points *points, const spot_fit *fit, const spot_bdm_config *cfg)
{
    return spot_unit_rows_assign(c, a, member, hypotheses, rows, points, fit, cfg->weight, false, "kmeans");
}

static spot_bytes needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg)
{
    spot_ctx quiet = { .device = c->device };
    spot_arena a = spot_arena_counting(), work = a;
    int **rows, *row, most = 1;
    spot_kmeans_job *job;
    size_t scratch;
    problem *t;

    SPOT_TAKE(&quiet, &a, rows, problems);
    SPOT_TAKE(&quiet, &a, t, problems);
    SPOT_TAKE(&quiet, &a, job, problems);
    for (int p = 0; p < problems; p++) {
        problem one;
        SPOT_TAKE(&quiet, &a, row, n[p]);
        take_problem(&quiet, &a, &one, n[p], d, cfg);
        take_there(&quiet, &a, c->device ? &work : &a, &one, cfg);
        most = n[p] > most ? n[p] : most;
    }
    scratch = kmeans_scratch(c, problems, most, d + 1, cfg) + SPOT_SLICES_SLACK;
    return c->device ? (spot_bytes){ a.peak + SPOT_SLICES_SLACK, work.peak + scratch }
                     : (spot_bytes){ a.peak + SPOT_SLICES_SLACK + scratch, 0 };
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("clusters", INT,  plain.clusters, "clusters", SPOT_IN(1, SPOT_KMEANS_MOST), SPOT_DEF(30)),
    S("weight",  REAL,  weight,        "weight of the confidence beside rows of mean squared length 1", SPOT_IN(0, 1000),
      SPOT_DEF(1)),
#undef S
    SPOT_END
};

const spot_method spot_method_kmeans = { .settings = settings, .find = find, .needs = needs, .assign = assign };
