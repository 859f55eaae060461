/* proof.c - spot_discover: a search of all rows, or with a proof: two parts, searches, tests, one list of slices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/describe/suspect_labels.h"
#include "discover/proof/proof_groups.h"
#include "discover/subject/attribute_rows.h"
#include "discover/subject/rows_depend.h"
#include "spotter/interval.h"

#define GUESSING 0.01          /* that a classifier guesses is refuted below this p */

spot_status spot_prove_open(spot_proving *j, spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                            const spot_chosen *k)
{
    *j = (spot_proving){ .c = c, .s = s, .o = o, .p = *o->proof, .log = k->log,
                         .runs = o->proof->parts * (1 + o->proof->chance) };
    SPOT_TRY(spot_proof_open(j, k->list, k->count));
    if (j->across) j->runs *= 2;
    return spot_learn_expected(j);
}

spot_status spot_prove_search(spot_proving *j)
{
    if (!j->classes || !j->cls->wrong) return SPOT_OK;     /* spot_candidates: no class has a wrong row */
    SPOT_TRY(spot_proof_neighbours(j));
    if (j->p.chance) SPOT_TRY(spot_proof_chance(j));
    return spot_proof_run(j, (spot_run_errors){ NULL, NULL });
}

/* Every search of every part failed: the first failure of the last part. */
static spot_status check_failures(const spot_proving *j)
{
    const spot_proved *first = NULL;

    for (int q = 0; q < j->p.parts; q++) {
        int tried = 0, failed = 0;
        for (int i = j->classes - 1; i >= 0; i--) {
            const spot_proved *k = &j->cls[i];
            tried += k->tried[q];
            failed += k->failed[q];
            if (k->failed[q]) first = k;
        }
        if (!tried || failed < tried) return SPOT_OK;
    }
    return spot_fail(j->c, first->failure, "%s", first->why);
}

static void tell_groups(const spot_proving *j)
{
    int few = 0;

    if (!j->seen) return;
    for (int i = 0; i < j->pieces; i++) few += j->piece[i].least > j->p.level;
    spot_log(j->c, SPOT_LOG_INFO, "%d rows are in %d groups, which are judged as wholes: m of a class's g groups of like size "
             "among the judging rows give no p below one in the number of ways to choose m of g", j->s->n, j->s->groups);
    if (few)
        spot_log(j->c, SPOT_LOG_INFO, "%d of %d slices have judged rows of too few groups: whatever fails there, it proves "
                 "nothing about other groups", few, j->pieces);
}

spot_status spot_prove_conclude(spot_proving *j, spot_findings *f, const spot_chosen *k)
{
    int left = 0;

    SPOT_TRY(check_failures(j));
    j->best = 1;
    for (int i = 0; i < j->classes; i++) {
        j->best = fmin(j->best, j->cls[i].best);
        left += j->cls[i].left;
    }
    SPOT_TRY(spot_learn_agreement(j));
    SPOT_TRY(spot_proof_correct(j));
    if (left)
        spot_log(j->c, SPOT_LOG_INFO, "%d slices were left out before the tests: they fail no more often than their class "
                 "where they were found, are nearly all of it, or no judging row joins them", left);
    tell_groups(j);
    SPOT_TRY(spot_proof_merge(j));
    SPOT_TRY(spot_learn_excesses(j));                      /* sums over the pieces as merging sorts them */
    f->left_out = k->left_out;
    SPOT_TRY(spot_proof_findings(j, f, k->list, k->count));
    return spot_proof_causes(j->c, f, j->s);
}

static spot_status prove(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o,
                         const spot_chosen *k)
{
    spot_proving j;
    spot_status how = spot_prove_open(&j, c, s, o, k);

    if (how == SPOT_OK) how = spot_prove_search(&j);
    if (how == SPOT_OK) how = spot_prove_conclude(&j, f, k);
    spot_proof_close(&j);
    return how;
}

/* A classifier that is no better than guessing mostly is one whose pictures are prepared otherwise than in training, or whose
 * classes are numbered in another order. */
static void warn_of_guessing(spot_ctx *c, const spot_subject *s)
{
    int right = 0;
    double p;

    for (int i = 0; i < s->n && s->target; i++) right += !spot_subject_wrong(s, i, s->target[i]);
    if (s->target && !right)
        spot_log(c, SPOT_LOG_WARN, "none of %d rows is right, so that no group fails more often than the rest; are the inputs "
                 "prepared as in training, and the classes in the same order?", s->n);
    if (!right || !s->confidence || s->classes < 2 || s->instance || (!s->prob && s->classes > 2)) return;
    p = spot_binomial_tail(right, s->n, 1.0 / s->classes);
    if (p > GUESSING)
        spot_log(c, SPOT_LOG_WARN, "%d of %d rows are right, which guessing among %d classes explains (p = %.2g); are the "
                 "inputs prepared as in training, and the classes in the same order?", right, s->n, s->classes, p);
}

/* Here, since a proof searches several times. */
static void tell_table(spot_ctx *c, const spot_discover_options *o)
{
    char name[80];
    int b = 0;

    while (b < o->bdms && !spot_by_table(o, b)) b++;
    if (b == o->bdms) return;
    spot_log(c, SPOT_LOG_INFO, "%s looks at %d attributes of 0 and 1", spot_bdm_name(&o->bdm[b], name, sizeof name),
             o->attributes->items);
    if (o->fit && !o->proof) spot_log(c, SPOT_LOG_INFO, "its slices cannot take new rows, which come without attributes");
}

spot_status spot_discover_begin(spot_ctx *c, const spot_subject *s, const spot_discover_options *o)
{
    SPOT_TRY(spot_discover_check(c, s, o));
    warn_of_guessing(c, s);
    tell_table(c, o);
    return o->proof ? spot_rows_warn_of_dependence(c, s) : SPOT_OK;
}

spot_status spot_discover(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o)
{
    spot_candidate *list = NULL;
    spot_chosen k = { 0 };
    spot_status how;

    memset(f, 0, sizeof *f);
    SPOT_TRY(spot_discover_begin(c, s, o));
    how = spot_candidates(c, s, o, &list, &k.count, &k.left_out);
    k.list = list;
    if (how == SPOT_OK) how = (o->proof ? prove : spot_search)(c, f, s, o, &k);
    if (how == SPOT_OK) how = spot_features_decide(c, &f->decided, s);
    if (how == SPOT_OK) how = spot_suspects_find(c, f, s);
    free(list);
    return how;
}
