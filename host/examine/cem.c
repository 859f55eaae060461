/* cem.c - the cross-entropy method (Rubinstein 1999): points are drawn from a histogram for each dimension, and the histograms
 * move towards the points of a generation that have the greatest losses.
 *
 * Points that are as good as the last elite one share its place. A point with the least loss of its generation is never elite,
 * and its part stays with the old histogram: nothing is learned from equal losses alone, or chance would narrow the histograms.
 * An elite point counts in its own bin and, by `spread`, in the two beside it: round the circle in a turn, and at the end of
 * another range in the end's own bin. */
#include <math.h>
#include <stdlib.h>

#include "examine/examiners.h"

typedef struct {
    spot_arena a;
    spot_examiner_search search;
    spot_cem_config cfg;
    int told;
    double *chance;                    /* (problems, dims, bins): each sums to 1 */
    double *sorted, *fresh;            /* (generation), (bins): scratch */
} cem_state;

static spot_status take(spot_ctx *c, spot_arena *a, cem_state *s)
{
    SPOT_TRY(SPOT_TAKE(c, a, s->chance, (size_t)s->search.problems * (size_t)s->search.space->dims * (size_t)s->cfg.bins));
    SPOT_TRY(SPOT_TAKE(c, a, s->sorted, s->cfg.generation));
    return SPOT_TAKE(c, a, s->fresh, s->cfg.bins);
}

static size_t bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    cem_state counted = { .a = spot_arena_counting(), .search = *s, .cfg = cfg->cem };
    spot_ctx quiet = { 0 };

    take(&quiet, &counted.a, &counted);
    return sizeof(cem_state) + counted.a.peak;
}

static void close(void *p)
{
    cem_state *s = p;

    spot_arena_close(&s->a);
    free(s);
}

static spot_status open(spot_ctx *c, void **out, const spot_examiner_config *cfg, const spot_examiner_search *search)
{
    cem_state *s;
    spot_status status;

    if (cfg->cem.elite > cfg->cem.generation)
        return spot_fail(c, SPOT_USAGE, "{cem.elite} cem.elite is %d; a generation has %d points", cfg->cem.elite,
                         cfg->cem.generation);
    s = calloc(1, sizeof *s);
    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for an examiner");
    s->search = *search;
    s->cfg = cfg->cem;
    status = spot_arena_open(c, &s->a, bytes(cfg, search));
    if (status == SPOT_OK) status = take(c, &s->a, s);
    if (status != SPOT_OK) {
        close(s);
        return status;
    }
    for (size_t k = 0; k < (size_t)search->problems * (size_t)search->space->dims * (size_t)s->cfg.bins; k++)
        s->chance[k] = 1.0 / s->cfg.bins;
    *out = s;
    return SPOT_OK;
}

static int wants(const void *p) { return ((const cem_state *)p)->cfg.generation; }

/* u is uniform; the result has the histogram's density, `floor` of it spread over all bins. */
static double place(double u, const double *chance, const spot_cem_config *cfg)
{
    for (int b = 0; b < cfg->bins; b++) {
        double q = (1 - cfg->floor) * chance[b] + cfg->floor / cfg->bins;
        if (u < q) return (b + u / q) / cfg->bins;
        u -= q;
    }
    return 1;
}

static spot_status ask(spot_ctx *c, void *p, double *at, int n)
{
    const cem_state *s = p;
    const size_t dims = (size_t)s->search.space->dims, bins = (size_t)s->cfg.bins;
    (void)c;

    for (int i = 0; i < s->search.problems; i++)
        for (int k = 0; k < n; k++, at += dims) {
            spot_examiner_uniform(at, &s->search, i, s->told + k);
            for (size_t d = 0; d < dims; d++) at[d] = place(at[d], s->chance + ((size_t)i * dims + d) * bins, &s->cfg);
        }
    return SPOT_OK;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Points above `loss` count 1, points that have it `weight`; all together `count`. */
typedef struct { double loss, weight, count; } elite;

static elite elite_of(const cem_state *s, const double *loss)
{
    const int n = s->cfg.generation, best = s->cfg.elite;
    int above = 0, equal = 0;
    double last;

    for (int k = 0; k < n; k++) s->sorted[k] = loss[k];
    qsort(s->sorted, (size_t)n, sizeof *s->sorted, descending);
    last = s->sorted[best - 1];
    for (int k = 0; k < n; k++) above += s->sorted[k] > last, equal += s->sorted[k] == last;
    if (last == s->sorted[n - 1]) return (elite){ last, 0, above };
    return (elite){ last, (double)(best - above) / equal, best };
}

static void count_point(double *fresh, double x, double weight, bool turns, const spot_cem_config *cfg)
{
    const int bins = cfg->bins, b = x < 1 ? (int)(x * bins) : bins - 1;
    const int before = b ? b - 1 : turns ? bins - 1 : 0, behind = b < bins - 1 ? b + 1 : turns ? 0 : b;

    fresh[b] += weight * (1 - cfg->spread);
    fresh[before] += weight * cfg->spread / 2;
    fresh[behind] += weight * cfg->spread / 2;
}

static void learn(const cem_state *s, double *chance, const double *at, const double *loss)
{
    const spot_factor_space *space = s->search.space;
    const elite e = elite_of(s, loss);
    const double rate = (1 - s->cfg.smooth) / s->cfg.elite;

    for (int d = 0; d < space->dims; d++, chance += s->cfg.bins) {
        for (int b = 0; b < s->cfg.bins; b++) s->fresh[b] = 0;
        for (int k = 0; k < s->cfg.generation; k++)
            if (loss[k] >= e.loss)
                count_point(s->fresh, at[k * space->dims + d], loss[k] > e.loss ? 1 : e.weight, space->turns[d], &s->cfg);
        for (int b = 0; b < s->cfg.bins; b++) chance[b] = (1 - rate * e.count) * chance[b] + rate * s->fresh[b];
    }
}

static spot_status tell(spot_ctx *c, void *p, const double *at, const double *loss, int n)
{
    cem_state *s = p;
    const size_t dims = (size_t)s->search.space->dims;
    (void)c;

    for (size_t i = 0; n == s->cfg.generation && i < (size_t)s->search.problems; i++)
        learn(s, s->chance + i * dims * (size_t)s->cfg.bins, at + i * (size_t)n * dims, loss + i * (size_t)n);
    s->told += n;
    return SPOT_OK;
}

#define S SPOT_EXAMINER_ROW
static const spot_setting settings[] = {
    S("generation", INT,  cem.generation, "renders of an object in a generation", SPOT_IN(1, SPOT_EXAMINER_MOST), SPOT_DEF(10)),
    S("elite",      INT,  cem.elite,      "best renders of a generation, from which it learns", SPOT_IN(1, SPOT_EXAMINER_MOST),
      SPOT_DEF(2)),
    S("bins",       INT,  cem.bins,       "bins of a factor's histogram", SPOT_IN(2, 1000), SPOT_DEF(40)),
    S("smooth",     REAL, cem.smooth,     "weight of the old histogram", SPOT_IN(0, 1), SPOT_DEF(0.7)),
    S("floor",      REAL, cem.floor,      "probability that is spread over all bins", SPOT_IN(0, 1), SPOT_DEF(0.02)),
    S("spread",     REAL, cem.spread,     "share of an elite render that counts in the two bins beside its own", SPOT_IN(0, 1),
      SPOT_DEF(0.1)),
    SPOT_END
};

const spot_examiner_kind spot_examiner_cem = { .title = "cross-entropy method", .settings = settings, .bytes = bytes,
                                               .open = open, .close = close, .wants = wants, .ask = ask, .tell = tell };
