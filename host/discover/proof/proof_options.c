/* proof_options.c - the options of a proof, and names. */
#include "discover/proof/judge.h"
#include "stats/statistics.h"

enum { LEAST_CHANCE = 19 };            /* the best of 19 searches and the real one: 1 in 20 by chance */

spot_proof_options spot_proof_defaults(void)
{
    return (spot_proof_options){ .parts = 2, .holdout = 0.5, .neighbours = 5, .level = SPOT_LEVEL, .same = 0.5 };
}

const char *spot_claim_name(spot_claim claim)
{
    static const char *const name[] = { "chance", "suggested", "confirmed" };

    return claim < SPOT_CLAIM_CHANCE || claim > SPOT_CLAIM_CONFIRMED ? "unknown" : name[claim];
}

const char *spot_origin_name(int origin)
{
    static const char *const name[] = { "neither", "found", "judged", "both" };

    return origin < 0 || origin > SPOT_ORIGIN_BOTH ? "unknown" : name[origin];
}

spot_status spot_proof_check(spot_ctx *c, const spot_subject *s, const spot_discover_options *o)
{
    const spot_proof_options *p = o->proof;

    for (int i = 0; i < s->n && s->group; i++)
        if (s->group[i] < 0 || s->group[i] >= s->groups)
            return spot_fail(c, SPOT_INVALID, "{proof.group} row %d is in group %d; they are numbered 0 to %d", i, s->group[i],
                             s->groups - 1);
    if (p->parts != 1 && p->parts != 2)
        return spot_fail(c, SPOT_INVALID, "{proof.parts} a proof has 1 or 2 parts that find, not %d", p->parts);
    if (p->parts == 1 && !(p->holdout > 0 && p->holdout < 1))
        return spot_fail(c, SPOT_USAGE, "{proof.share} the share of the rows that judge is %g; it lies between 0 and 1",
                         p->holdout);
    if (p->neighbours < 1 || p->neighbours % 2 == 0)
        return spot_fail(c, SPOT_INVALID, "%d neighbours vote on a membership; an odd number is wanted", p->neighbours);
    if (p->chance < 0 || (p->chance && p->chance < LEAST_CHANCE))
        return spot_fail(c, SPOT_USAGE, "{proof.searches} %d searches in errors without structure say too little; give none, "
                         "or %d and more", p->chance, LEAST_CHANCE);
    if (p->chance && !s->target)
        return spot_fail(c, SPOT_USAGE, "searches in errors without structure need rows of one class each, and these have "
                         "several; leave them out");
    if (!(p->level > 0 && p->level < 1) || !(p->same > 0 && p->same <= 1))
        return spot_fail(c, SPOT_INVALID, "a proof at level %g, with slices of overlap %g merged; both lie between 0 and 1",
                         p->level, p->same);
    return SPOT_OK;
}
