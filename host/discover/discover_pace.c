/* discover_pace.c - how long a search will take: every method for a few iterations on some rows of the largest class, and what is
 * known of how its parts grow. An estimate for people; nothing depends on it. */
#include <math.h>
#include <string.h>

#include "core/device.h"
#include "discover/search.h"
#include "map/neighbours.h"
#include "map/tsne.h"
#include "store/keys.h"

enum { SAMPLE = 2000, TRIED = 300, FEW = 5, MORE = 25 };      /* rows of a map; of what is looked for in it */

#define PATIENCE 1.2       /* seconds after which no other method is tried */

/* Beside the plain search for neighbours, and exact forces of SPOT_TSNE_EXACT points: measured at 20,000 to 100,000 rows. */
#define FILTERED 0.45
#define BY_FFT   0.15

/* Of one method on `rows` rows. */
typedef struct { int rows; double near, setup, step, find; } pace;

static int *iterations_of(spot_embed_config *cfg)
{
    return cfg->method == SPOT_REDUCE_TSNE ? &cfg->tsne.iterations
         : cfg->method == SPOT_REDUCE_SCVIS ? &cfg->scvis.iterations : NULL;
}

/* The plain search for neighbours. */
static spot_status time_neighbours(spot_ctx *c, spot_arena *a, pace *p, const spot_view *v)
{
    enum { K = 16 };
    spot_neighbours s = { .x = { v->feature, v->n, v->d }, .k = K < v->n ? K : v->n - 1 };
    size_t mark = a->used;

    if (c->device || v->n < 2) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, s.column, (size_t)v->n * K));
    SPOT_TRY(SPOT_TAKE(c, a, s.near, (size_t)v->n * K));
    p->near = spot_clock();
    SPOT_TRY(spot_neighbours_find(c, a, 1, &s));
    p->near = spot_clock() - p->near;
    a->used = mark;
    return SPOT_OK;
}

/* Few iterations, and some more: what an iteration takes and what comes before the first. */
static spot_status time_map(spot_ctx *c, spot_arena *a, pace *p, spot_points *points, const spot_view *v,
                            const spot_embed_config *cfg)
{
    const spot_seed seed = { 0, 0 };
    spot_embed_config some = *cfg;
    int *iterations = iterations_of(&some);
    double start = spot_clock(), few;

    if (iterations) *iterations = FEW;
    SPOT_TRY(spot_embed_fit(c, a, 1, points, v, &seed, &some));
    p->setup = few = spot_clock() - start;
    if (!iterations) return SPOT_OK;
    *iterations = MORE;
    start = spot_clock();
    SPOT_TRY(spot_embed_fit(c, a, 1, points, v, &seed, &some));
    p->step = fmax(0, spot_clock() - start - few) / (MORE - FEW);
    p->setup = fmax(0, few - FEW * p->step - p->near);
    return SPOT_OK;
}

static double map_seconds(const pace *p, const spot_embed_config *cfg, int n)
{
    double r = (double)n / p->rows, near = p->near * r * r * (n > SPOT_NEIGHBOURS_MANY ? FILTERED : 1);
    double full = (double)SPOT_TSNE_EXACT / p->rows;
    int batch, steps;

    if (cfg->method == SPOT_REDUCE_TSNE && n <= SPOT_TSNE_EXACT)
        return near + p->setup * r + p->step * r * r * cfg->tsne.iterations;
    if (cfg->method == SPOT_REDUCE_TSNE)
        return near + p->setup * r + BY_FFT * p->step * full * full * n / SPOT_TSNE_EXACT * cfg->tsne.iterations;
    if (cfg->method == SPOT_REDUCE_UMAP) return near + p->setup * r;
    if (cfg->method != SPOT_REDUCE_SCVIS) return p->setup * r;
    batch = cfg->scvis.batch < n ? cfg->scvis.batch : n;             /* embed.h: the original's rule */
    steps = cfg->scvis.iterations ? cfg->scvis.iterations : (int)fmin(fmax(100 * round((double)n / batch), 3000), 30000);
    return p->setup * r + p->step * (batch < p->rows ? 1 : (double)batch / p->rows) * steps;
}

/* Some rows of v, evenly. */
static spot_status sample(spot_ctx *c, spot_arena *a, spot_view *few, const spot_view *v)
{
    size_t d = (size_t)v->d;

    *few = *v;
    few->n = v->n < SAMPLE ? v->n : SAMPLE;
    SPOT_TRY(SPOT_TAKE(c, a, few->feature, (size_t)few->n * d));
    SPOT_TRY(SPOT_TAKE(c, a, few->confidence, few->n));
    for (int i = 0; i < few->n; i++) {
        size_t row = (size_t)i * (size_t)v->n / (size_t)few->n;
        memcpy(few->feature + (size_t)i * d, v->feature + row * d, d * sizeof(float));
        few->confidence[i] = v->confidence[row];
    }
    return SPOT_OK;
}

static bool has_map_before(const spot_discover_options *o, int b)
{
    spot_key k = spot_key_of_points((spot_key){ 0, 0 }, &o->bdm[b]);

    for (int i = 0; i < b; i++) {
        spot_key other = spot_key_of_points((spot_key){ 0, 0 }, &o->bdm[i]);
        if (other.hi == k.hi && other.lo == k.lo) return true;
    }
    return false;
}

static spot_status time_all(spot_ctx *c, spot_arena *a, double *seconds, const spot_view *v, const spot_discover_options *o,
                            const spot_candidate *of, int count)
{
    const spot_seed seed = { 0, 0 };
    double start = spot_clock();

    for (int b = 0; b < o->bdms; b++) {
        const spot_bdm_config *cfg = &o->bdm[b];
        bool map = !spot_embed_is_nothing(&cfg->embed);
        int maps = !map || has_map_before(o, b) ? 0 : spot_is_seedless(&cfg->embed) ? 1 : o->seeds;
        spot_points points = { v->n, v->d, v->feature, NAN };
        spot_view few = *v;
        pace p = { .rows = v->n };
        size_t mark = a->used;
        spot_hypotheses found;
        if (spot_clock() - start > PATIENCE) return SPOT_UNSUPPORTED;
        if (map) SPOT_TRY(time_neighbours(c, a, &p, v));
        if (map) SPOT_TRY(time_map(c, a, &p, &points, v, &cfg->embed));
        few.n = points.n = v->n < TRIED ? v->n : TRIED;
        p.find = spot_clock();
        SPOT_TRY(spot_bdm_find(c, a, 1, &found, &few, &points, &seed, cfg));
        p.find = spot_clock() - p.find;
        a->used = mark;
        for (int i = 0; i < count; i++)
            *seconds += maps * map_seconds(&p, &cfg->embed, of[i].n) + o->seeds * p.find * of[i].n / few.n;
    }
    return SPOT_OK;
}

void spot_discover_pace(spot_ctx *c, double *seconds, const spot_subject *s, const spot_discover_options *o,
                        const spot_candidate *of, int count)
{
    spot_ctx quiet = { .ops = c->ops, .device = c->device, .threads = c->threads, .stop = c->stop };
    const spot_candidate *largest = of;
    spot_candidate few;
    spot_status status;
    spot_view all, some;
    spot_arena a;

    for (int i = 1; i < count; i++) if (of[i].n > largest->n) largest = &of[i];
    few = (spot_candidate){ largest->cls, largest->n < SAMPLE ? largest->n : SAMPLE, 1 };
    *seconds = 0;
    status = spot_arena_open(&quiet, &a, 2 * spot_group_needs(&quiet, s, o, &few, 1).host + SAMPLE * 256
                             + ((size_t)largest->n + SAMPLE) * ((size_t)s->d + 8) * sizeof(float) + 4096);
    if (status == SPOT_OK) status = spot_subject_view(&quiet, &a, &all, s, largest->cls);
    if (status == SPOT_OK) status = sample(&quiet, &a, &some, &all);
    if (status == SPOT_OK) status = time_all(&quiet, &a, seconds, &some, o, of, count);
    if (status != SPOT_OK) *seconds = NAN;
    spot_arena_close(&a);
}
