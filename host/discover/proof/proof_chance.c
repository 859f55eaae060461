/* proof_chance.c - the same search in errors without structure. Odd runs permute the classifier's answers within each class.
 * Even ones, where all probabilities are known, draw each row's error by its predicted class and confidence: rows near a
 * decision border fail more often, and that alone is no finding. With groups each run exchanges answers between units
 * (proof_groups.h): rows that are drawn by themselves would not agree in a group as they do. */
#include <math.h>
#include <string.h>

#include "discover/proof/proof_groups.h"
#include "discover/subject/subject_memory.h"

static spot_rng errors_of(const spot_proving *j, int cls, int number)
{
    return spot_rng_at(j->p.seed, SPOT_RNG_PROOF, (uint32_t)cls, 1 + (uint32_t)number);
}

/* answers: for each row another row of its class, or itself. row and order: scratch. */
static void permute(const spot_proving *j, int *answers, int *row, uint32_t *order, int number)
{
    for (int k = 0; k < j->s->classes; k++) {
        spot_rng r = errors_of(j, k, number);
        int n = 0;
        for (int i = 0; i < j->s->n; i++)
            if (j->s->target[i] == k) row[n++] = i;
        spot_rng_shuffle(&r, order, (uint32_t)n);
        for (int i = 0; i < n; i++) answers[row[i]] = row[order[i]];
    }
}

/* The same with groups: units exchange their answers. donor: scratch. */
static void exchange(const spot_proving *j, int *answers, spot_units *u, int *donor, int number)
{
    for (int k = 0; k < j->s->classes; k++) {
        spot_rng r = errors_of(j, k, number);
        int n = 0;
        u->rows = u->units = u->bins = 0;
        for (int i = 0; i < j->s->n; i++)
            if (j->s->target[i] == k) u->order[n++] = i;
        spot_units_add(u, j->s, n, NULL);
        spot_units_exchange(u, &r, donor);
        for (int i = 0; i < u->units; i++) {
            const spot_group_unit *to = &u->unit[i], *from = &u->unit[donor[i]];
            for (int t = 0; t < to->n; t++)
                answers[u->order[to->first + t]] = u->order[from->first + (int)((long long)t * from->n / to->n)];
        }
    }
}

static void draw(const spot_proving *j, uint8_t *wanted, int number)
{
    spot_rng r = errors_of(j, j->s->classes, number);

    for (int i = 0; i < j->s->n; i++) wanted[i] = spot_rng_uniform(&r) < j->expected[i];
}

size_t spot_proof_chance_bytes(const spot_subject *s)
{
    return (size_t)s->n * (3 * sizeof(int) + 1 + (spot_subject_is_grouped(s) ? 32 : 0)) + 10 * SPOT_ALIGN;
}

spot_status spot_proof_chance(spot_proving *j)
{
    const size_t n = (size_t)j->s->n;
    uint8_t *wanted;
    int *answers, *row;
    uint32_t *order;
    spot_units u = { 0 };
    spot_arena a;
    spot_status how = SPOT_OK;

    SPOT_TRY(spot_arena_open(j->c, &a, spot_proof_chance_bytes(j->s)));
    SPOT_TRY(SPOT_TAKE(j->c, &a, answers, n));
    SPOT_TRY(SPOT_TAKE(j->c, &a, row, n));
    SPOT_TRY(SPOT_TAKE(j->c, &a, order, n));
    SPOT_TRY(SPOT_TAKE(j->c, &a, wanted, n));
    if (j->seen) SPOT_TRY(spot_units_take(j->c, &a, &u, j->s->n));
    j->quiet = true;
    for (int k = 0; k < j->p.chance && how == SPOT_OK; k++) {
        const bool drawn = k % 2 && j->s->prob && j->expected && !j->seen;
        if (j->seen) exchange(j, answers, &u, row, k);
        else if (drawn) draw(j, wanted, k);
        else permute(j, answers, row, order, k);
        how = spot_proof_run(j, (spot_run_errors){ drawn ? NULL : answers, drawn ? wanted : NULL });
        for (const spot_judged *g = j->piece; g < j->piece + j->pieces && how == SPOT_OK; g++)
            j->cls[g->class_place].best = fmin(j->cls[g->class_place].best, g->alone);
    }
    j->quiet = false;
    spot_arena_close(&a);
    return how;
}
