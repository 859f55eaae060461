/* proof_pace.c - the time of what a proof does beside its searches and neighbours, for an estimate: opens it with the real rows
 * and groups, and makes some of the draws (proof_correct.c), for as many planted tests as there may be. */
#include <omp.h>

#include "discover/proof/proof_draws.h"

enum { FIRST = 16, MOST = 256 };       /* draws of the first trial, and of the last */

#define ENOUGH 0.02                    /* seconds of a trial that tells enough */

/* About half of the slices fail more often than their class, and are tests. No row is judged, which changes no draw. */
static spot_status plant_tests(spot_proving *j, const int slices[2])
{
    const spot_piece said = { .part = 0 };
    const int most = (int)spot_proof_slices(j->o) / 2;
    spot_judged *g;

    spot_proof_begin(j, (spot_run_errors){ NULL, NULL });
    for (int i = 0; i < j->classes; i++) {
        const int tests = (slices[&j->cls[i] == j->across] + 1) / 2;
        for (int t = 0; t < tests && t < most; t++, j->pieces++) SPOT_TRY(spot_proof_piece(j, &g, &said, 0, i));
    }
    return SPOT_OK;
}

static void make_draws(spot_ctx *c, const spot_draws *f, int draws)
{
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < draws; i++) spot_draw(f, i, omp_get_thread_num());
}

static spot_status time_draws(spot_ctx *c, spot_proving *j, spot_proof_times *t)
{
    spot_draws f = { .j = j, .part = 1 };
    spot_arena sizes = spot_arena_counting(), a;
    spot_spent at;
    spot_status how;
    int draws = FIRST;

    SPOT_TRY(spot_draws_take(c, &sizes, &f));
    SPOT_TRY(spot_arena_open(c, &a, sizes.peak));
    how = spot_draws_take(c, &a, &f);
    if (how == SPOT_OK) spot_draws_sort(&f);
    make_draws(c, &f, how == SPOT_OK ? c->threads : 0);        /* the first ones fetch memory */
    for (; how == SPOT_OK; draws *= 2) {
        t->draws = (spot_spent){ 0, 0 };
        at = spot_spent_now();
        make_draws(c, &f, draws);
        spot_spend(&t->draws, &at);
        if (t->draws.cpu >= ENOUGH || draws >= MOST) break;
    }
    t->times = (j->seen ? 2.0 : 1) * j->p.parts * SPOT_PROOF_DRAWS / draws;        /* with groups each draw is made twice */
    spot_arena_close(&a);
    return how;
}

spot_status spot_proof_time(spot_ctx *c, spot_proof_times *t, const spot_subject *s, const spot_discover_options *o,
                            const spot_chosen *k, const int slices[2])
{
    spot_spent at = spot_spent_now();
    spot_proving j;
    spot_status how = spot_prove_open(&j, c, s, o, k);

    *t = (spot_proof_times){ .times = 0 };
    spot_spend(&t->open, &at);
    if (how == SPOT_OK) how = plant_tests(&j, slices);
    if (how == SPOT_OK && j.pieces) how = time_draws(c, &j, t);
    spot_proof_close(&j);
    return how;
}
