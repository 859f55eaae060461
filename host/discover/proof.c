/* proof.c - spot_discover: a search of all rows, or with a proof: two parts, searches, tests, one list of slices. */
#include <stdlib.h>
#include <string.h>

#include "discover/judge.h"
#include "spotter/interval.h"

#define GUESSING 0.01          /* that a classifier guesses is refuted below this p */

static spot_status prove_all(spot_proving *j, spot_findings *f, spot_candidate **candidates)
{
    int count;

    SPOT_TRY(spot_candidates(j->c, j->s, j->o, candidates, &count, &f->left_out));
    SPOT_TRY(spot_proof_open(j, *candidates, count));
    SPOT_TRY(spot_learn_expected(j));
    if (j->p.chance) SPOT_TRY(spot_proof_chance(j));
    SPOT_TRY(spot_proof_run(j, (spot_run_errors){ NULL, NULL }));
    SPOT_TRY(spot_proof_correct(j));
    if (j->left)
        spot_log(j->c, SPOT_LOG_INFO, "%d slices are no test: they fail no more often than their class where they were found, "
                 "are nearly all of it, or have no judging row", j->left);
    SPOT_TRY(spot_learn_excesses(j));
    SPOT_TRY(spot_proof_merge(j));
    SPOT_TRY(spot_proof_findings(j, f, *candidates, count));
    return spot_proof_causes(j->c, f, j->s);
}

static spot_status prove(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o)
{
    spot_proving j = { .c = c, .s = s, .o = o, .p = *o->proof, .best = 1, .runs = o->proof->parts * (1 + o->proof->chance) };
    spot_candidate *candidates = NULL;
    spot_status how;

    memset(f, 0, sizeof *f);
    how = prove_all(&j, f, &candidates);
    free(candidates);
    spot_proof_close(&j);
    return how;
}

/* A classifier that is no better than guessing mostly is one whose pictures are prepared otherwise than in training, or whose
 * classes are numbered in another order. */
static void warn_of_guessing(spot_ctx *c, const spot_subject *s)
{
    int right = 0;
    double p;

    if (!s->target || !s->confidence || s->classes < 2 || s->instance || (!s->prob && s->classes > 2)) return;
    for (int i = 0; i < s->n; i++) right += !spot_subject_wrong(s, i, s->target[i]);
    p = spot_binomial_tail(right, s->n, 1.0 / s->classes);
    if (p > GUESSING)
        spot_log(c, SPOT_LOG_WARN, "%d of %d rows are right, which guessing among %d classes explains (p = %.2g); are the "
                 "inputs prepared as in training, and the classes in the same order?", right, s->n, s->classes, p);
}

spot_status spot_discover(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o)
{
    memset(f, 0, sizeof *f);
    SPOT_TRY(spot_discover_check(c, s, o));
    warn_of_guessing(c, s);
    return o->proof ? prove(c, f, s, o) : spot_search(c, f, s, o);
}
