/* examine_verdict.c - on which objects a model fails, and what its answers to random renders say about it: from the results of
 * all searches, whichever examiner and seed they are of. */
#include <math.h>
#include <stdlib.h>

#include "examine/examine_study.h"
#include "examine/failure_parts.h"
#include "models/output_order.h"

/* ---- objects ---- */

/* The number by which searches of an object are compared: robust, or the valid p itself where nothing was perturbed. */
static double rank_of(const spot_examine_result *u)
{
    const spot_examine_point *p = &u->point[u->points - 1];

    return isfinite(p->robust) ? p->robust : p->lowest_valid;
}

static bool has_valid(const spot_examine_result *u) { return isfinite(u->point[u->points - 1].lowest_valid); }

/* The first search of the best rank of an object; -1: none has a valid render. */
static int choose_search(const spot_examine_results *r, int model, int object)
{
    const int each = r->cfg->examiners * r->cfg->search.seeds, sign = r->cfg->search.mode == SPOT_MODE_STRENGTH ? -1 : 1;
    int best = -1;

    for (int k = 0; k < each; k++) {
        const int unit = (model * each + k) * r->objects + object;
        if (!has_valid(&r->unit[unit])) continue;
        if (best < 0 || sign * rank_of(&r->unit[unit]) < sign * rank_of(&r->unit[best])) best = unit;
    }
    return best;
}

static spot_examine_verdict judge_object(const spot_examine_results *r, int model, int object)
{
    const spot_examine_search *s = &r->cfg->search;
    spot_examine_verdict v = { choose_search(r, model, object), NAN, false };

    if (v.unit < 0) return v;
    const spot_examine_result *u = &r->unit[v.unit];
    v.p = s->perturbed ? u->fresh : rank_of(u);
    v.fails = isfinite(v.p) && spot_failure_is(spot_failure_cut_of(s), v.p) && 2 * u->fresh_valid >= s->perturbed;
    return v;
}

/* ---- random renders ---- */

/* The model's answers to the random renders of its objects, valid ones alone, into cls and answer. Returns their number. */
static int list_answers(int *cls, int *answer, const spot_examine_results *r, int model)
{
    const spot_examine_result *first = spot_examine_first_unit(r, model, 0);
    int n = 0;

    for (int i = 0; i < r->objects; i++)
        for (int k = 0; k < SPOT_EXAMINE_START; k++)
            if (first[i].answer[k] != SPOT_ANSWER_NOT_VALID) cls[n] = first[i].cls, answer[n++] = first[i].answer[k];
    return n;
}

static spot_status look_at_answers(spot_ctx *c, spot_examine_model_summary *to, const spot_examine_results *r, int model)
{
    const size_t all = (size_t)r->objects * SPOT_EXAMINE_START;
    int *cls = malloc((2 * all + 1) * sizeof *cls), *answer = cls ? cls + all : NULL, right = 0;

    if (!cls) return spot_fail(c, SPOT_NOMEM, "no memory for the answers of a model");
    const int n = list_answers(cls, answer, r, model);
    for (int i = 0; i < n; i++) right += answer[i] == cls[i];
    to->valid = (double)n / (double)all;
    to->accuracy = n ? (double)right / n : NAN;
    const spot_status s = spot_output_order(c, &to->reordered, cls, answer, n, spot_examine_classes(r->cfg));
    free(cls);
    return s;
}

/* ---- all ---- */

spot_status spot_examine_judge(spot_ctx *c, spot_examine_results *r)
{
    const size_t models = (size_t)r->cfg->models;

    r->about = calloc(models + 1, sizeof *r->about);
    r->verdict = calloc(models * (size_t)r->objects + 1, sizeof *r->verdict);
    if (!r->about || !r->verdict) return spot_fail(c, SPOT_NOMEM, "no memory for the verdicts on %d objects", r->objects);
    for (int m = 0; m < r->cfg->models; m++) {
        spot_examine_verdict *v = r->verdict + (size_t)m * (size_t)r->objects;
        SPOT_TRY(look_at_answers(c, &r->about[m], r, m));
        for (int i = 0; i < r->objects; i++) {
            v[i] = judge_object(r, m, i);
            r->about[m].failing += v[i].fails;
        }
    }
    return SPOT_OK;
}
