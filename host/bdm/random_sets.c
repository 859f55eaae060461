/* random_sets.c - `random`: sets of rows drawn at random, among the rows about which the classifier is wrong, or among all. A
 * method that is no better finds nothing. The rows are put into a random order and cut into sets of `rows`; the last one may
 * have fewer. `top` sets are drawn; they are ordered by mean error. There is no rule for new rows. */
#include "bdm/methods.h"
#include "bdm/slices.h"
#include "spotter/rng.h"

typedef struct { uint32_t *order; int *chosen, *label; spot_rank *ranks; } space;

static spot_status take_space(spot_ctx *c, spot_arena *a, space *s, int n, int top)
{
    SPOT_TRY(SPOT_TAKE(c, a, s->order, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->chosen, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->label, n));
    return SPOT_TAKE(c, a, s->ranks, top);
}

static void draw_sets(spot_hypotheses *out, int *rows, const space *s, const spot_view *v, spot_seed seed,
                      const spot_bdm_config *cfg)
{
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_SETS, seed.ec, 0);
    spot_labels l = { .n = v->n, .label = s->label };
    int among = 0;

    for (int i = 0; i < v->n; i++) {
        s->label[i] = -1;
        if (cfg->plain.among == SPOT_AMONG_ALL || spot_is_wrong(v, i)) s->chosen[among++] = i;
    }
    spot_rng_shuffle(&r, s->order, (uint32_t)among);
    for (int i = 0; i < among && i / cfg->plain.rows < cfg->top; i++) {
        s->label[s->chosen[s->order[i]]] = i / cfg->plain.rows;
        l.slices = 1 + i / cfg->plain.rows;
    }
    spot_slices_rank(s->ranks, &l, v);
    for (int k = 0; k < l.slices; k++) s->ranks[k].score = s->ranks[k].error;
    spot_slices_collect(out, rows, s->ranks, l.slices, &l, cfg->top);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    for (int p = 0; p < g->problems; p++) {
        const size_t mark = host->used;
        space s;
        SPOT_TRY(take_space(c, host, &s, g->points[p].n, g->cfg->top));
        if (!work->counting) draw_sets(&g->out[p], g->row[p], &s, &g->views[p], g->seeds[p], g->cfg);
        if (!work->counting && !g->out[p].len)
            spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec, "none of the %d images fails, so there is nothing to draw from",
                        g->views[p].n);
        host->used = mark;
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("rows",    INT,   plain.rows,    "rows of a set", SPOT_IN(1, 1e9), SPOT_DEF(25)),
    S("among",   NAME,  plain.among,   "rows that are drawn from: those about which the classifier is wrong, or all",
      SPOT_ONE_OF("errors", "all"), SPOT_DEF(SPOT_AMONG_ERRORS)),
#undef S
    SPOT_END
};

const spot_method spot_method_random = { .own_rows = true, .settings = settings, .solve = solve_group };
