/* silhouettes.c - silhouettes of labellings on the host, and the scores of the labellings. */
#include "fit/silhouette.h"

#include "core/device.h"
#include "spotter/cluster.h"

/* Makes jobs of the labellings; on a GPU the jobs use copies. */
static spot_status make_jobs(spot_ctx *c, spot_arena *a, spot_silhouette_job *jobs, int count, const spot_labelling *l)
{
    float *x = NULL;

    for (int q = 0; q < count; q++) {
        size_t n = (size_t)l[q].x.rows, numbers = n * (size_t)l[q].x.cols;
        uint16_t *label;
        double *silhouette;
        if (!l[q].on_device && (!q || l[q].x.v != l[q - 1].x.v)) {
            SPOT_TRY(SPOT_TAKE(c, a, x, numbers));
            if (!a->counting) SPOT_TRY(spot_device_copy(c, x, l[q].x.v, numbers * sizeof *x));
        }
        SPOT_TRY(SPOT_TAKE(c, a, label, n));
        SPOT_TRY(SPOT_TAKE(c, a, silhouette, n));
        if (a->counting) continue;
        SPOT_TRY(spot_device_copy(c, label, l[q].label, n * sizeof *label));
        jobs[q].x = l[q].on_device ? l[q].on_device : x;
        jobs[q].label = label;
        jobs[q].silhouette = silhouette;
    }
    return SPOT_OK;
}

static spot_status run_jobs(spot_ctx *c, spot_silhouette_job *jobs, int count, spot_labelling *l)
{
    spot_arena on_device = spot_arena_counting();
    spot_status s;

    if (!c->device) return spot_silhouette_samples(c, jobs, count);
    SPOT_TRY(make_jobs(c, &on_device, jobs, count, l));
    SPOT_TRY(spot_arena_open_device(c, &on_device, on_device.peak));
    s = make_jobs(c, &on_device, jobs, count, l);
    if (s == SPOT_OK) s = spot_silhouette_samples(c, jobs, count);
    for (int q = 0; q < count && s == SPOT_OK; q++)
        s = spot_device_copy(c, l[q].silhouette, jobs[q].silhouette, (size_t)l[q].x.rows * sizeof *l[q].silhouette);
    spot_arena_close(&on_device);
    return s;
}

static double score_of(const spot_labelling *l)
{
    double sum[SPOT_SILHOUETTE_CLUSTERS] = { 0 }, all = 0;
    int count[SPOT_SILHOUETTE_CLUSTERS] = { 0 }, clusters = 0;

    for (int i = 0; i < l->x.rows; i++) {
        sum[l->label[i]] += l->silhouette[i];
        count[l->label[i]]++;
    }
    for (int k = 0; k < l->k; k++)
        if (count[k]) {
            all += sum[k] / count[k];
            clusters++;
        }
    return clusters > 1 ? all / clusters : -1;
}

spot_status spot_silhouettes(spot_ctx *c, spot_arena *a, int count, spot_labelling *l)
{
    size_t mark = a->used;
    spot_silhouette_job *jobs;
    spot_status s;

    SPOT_TRY(SPOT_TAKE(c, a, jobs, count));
    for (int q = 0; q < count; q++)
        jobs[q] = (spot_silhouette_job){ l[q].x.rows, l[q].x.cols, l[q].k, l[q].x.v, l[q].label, l[q].silhouette };
    s = run_jobs(c, jobs, count, l);
    a->used = mark;
    for (int q = 0; q < count && s == SPOT_OK; q++) l[q].score = score_of(&l[q]);
    return s;
}

spot_bytes spot_silhouettes_needs(const spot_ctx *c, int count, int n, int d)
{
    const size_t points = (size_t)n, each = spot_arena_room(points * sizeof(uint16_t))
                                          + spot_arena_room(points * sizeof(double))
                                          + spot_arena_room(points * (size_t)d * sizeof(float));

    return (spot_bytes){ spot_arena_room((size_t)count * sizeof(spot_silhouette_job)), c->device ? (size_t)count * each : 0 };
}
