/* slice_versions_verdict.c - verdicts on questions that were asked, and the slices that are shown. */
#include "versions/slice_versions_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- verdicts ---- */

static spot_change_verdict verdict_of(const spot_version_counts *k, double level)
{
    return spot_change_verdict_of(k->p_worse, k->p_better, k->p_same, level);
}

static spot_change_verdict verdict_of_slice(const spot_version_slice *p, const spot_versions_options *o)
{
    const spot_change_verdict v = verdict_of(&p->counts, o->level);
    const spot_interval now = spot_share_of(p->counts.wrong[1], p->counts.rows);

    if (v == SPOT_CHANGE_WORSE && !p->confirmed[0]) return SPOT_CHANGE_NEW;
    if (v == SPOT_CHANGE_BETTER && now.low <= p->class_rate[1] && now.value <= p->class_rate[1] + o->margin)
        return SPOT_CHANGE_MENDED;
    return v;
}

static void judge_named(spot_judging *j, spot_version_class *x)
{
    x->verdict = verdict_of(&x->counts, j->o->level);
    if (x->verdict != SPOT_CHANGE_PENDING) x->counts.needed = 0;
    j->v->failed |= x->verdict == SPOT_CHANGE_WORSE;
    j->v->pending |= x->verdict == SPOT_CHANGE_PENDING;
}

/* ---- what each version confirms ---- */

/* The p that a version fails on the compared rows no more than on their classes, where rows have groups. */
static double p_of_groups(spot_judging *j, const spot_version_slice *p, int version)
{
    spot_group_sums_clear(&j->ask.sums);
    for (int i = 0; i < p->compared; i++) {
        const spot_stratum *k = &j->whole[version][spot_version_class_of(p, j->s[0], p->at[i])];
        spot_group_sums_add(&j->ask.sums, j->s[0]->group[p->at[i]],
                            spot_subject_wrong(j->s[version], p->at[i], p->cls) - (double)k->group / k->rows);
    }
    return spot_signs_tail(&j->ask.sums, (uint32_t)p->at[0]);
}

/* Whether a version fails on the compared rows more than on their classes: exact, corrected for the number of slices. */
static bool is_above(spot_judging *j, const spot_version_slice *p, int version)
{
    const spot_subject *s = j->s[0];

    if (j->ask.sums.place && p->compared)
        return spot_is_significant(j->v->slices * p_of_groups(j, p, version), j->o->level);
    for (int k = 0; k < s->classes; k++) j->stratum[k] = j->whole[version][k];
    for (int i = 0; i < p->compared; i++) j->stratum[spot_version_class_of(p, s, p->at[i])].covered++;
    return spot_is_significant(j->v->slices * spot_stratified_tail(p->cls < 0 ? j->stratum : j->stratum + p->cls,
                                                                   p->cls < 0 ? s->classes : 1, p->counts.wrong[version],
                                                                   j->tail), j->o->level);
}

/* ---- the gravest first ---- */

static int rank_of(spot_change_verdict v)
{
    static const int rank[] = { [SPOT_CHANGE_WORSE] = 0, [SPOT_CHANGE_NEW] = 1, [SPOT_CHANGE_MENDED] = 2,
                                [SPOT_CHANGE_BETTER] = 3, [SPOT_CHANGE_PENDING] = 4, [SPOT_CHANGE_SAME] = 5 };

    return rank[v];
}

static double least_p(const spot_version_counts *k) { return fmin(k->p_worse, k->p_better); }

static int gravest_first(const void *a, const void *b)
{
    const spot_version_slice *x = a, *y = b;
    const double p = least_p(&x->counts), q = least_p(&y->counts);

    if (x->verdict != y->verdict) return rank_of(x->verdict) - rank_of(y->verdict);
    if (p != q) return p < q ? -1 : 1;
    if (x->compared != y->compared) return y->compared - x->compared;
    return x->size && y->size && x->row[0] != y->row[0] ? x->row[0] - y->row[0] : y->size - x->size;
}

/* ---- slices that are shown ---- */

/* 1: version 2 is worse; -1: it is better; 0: no change is shown. */
static int direction_of(const spot_version_slice *p)
{
    const spot_change_verdict v = p->verdict;

    return v == SPOT_CHANGE_WORSE || v == SPOT_CHANGE_NEW ? 1 : v == SPOT_CHANGE_BETTER || v == SPOT_CHANGE_MENDED ? -1 : 0;
}

/* Whether half of the slice's rows or more are in the shown slices that changed as it did. */
static bool is_said(spot_judging *j, const spot_version_slice *p, const int *shown)
{
    int in = 0;

    for (int g = 0; g < j->v->slices; g++) {
        const spot_version_slice *q = &j->v->slice[g];
        for (int i = 0; i < q->size && shown[g] && direction_of(q) == direction_of(p); i++) j->mark[q->row[i]] = true;
    }
    for (int i = 0; i < p->size; i++) in += j->mark[p->row[i]] != 0;
    memset(j->mark, 0, (size_t)j->s[0]->n);
    return 2 * in >= p->size;
}

/* Keeps the slices of which a piece is confirmed, and others that changed, which is a finding by itself, unless it is one that
 * is shown already. */
static void choose_shown(spot_judging *j)
{
    spot_versions *v = j->v;
    int *shown = j->leader, n = 0;

    for (int g = 0; g < v->slices; g++) {
        shown[g] = 0;
        for (int i = 0; i < v->slice[g].pieces; i++) shown[g] |= v->slice[g].piece[i].proof_p <= j->o->proof.level;
    }
    for (int g = 0; g < v->slices; g++)
        if (!shown[g] && direction_of(&v->slice[g])) shown[g] = !is_said(j, &v->slice[g], shown);
    for (int g = 0; g < v->slices; g++)
        if (shown[g]) v->slice[n++] = v->slice[g];
    v->slices = n;
}

static void judge_slices(spot_judging *j)
{
    spot_versions *v = j->v;

    for (int g = 0; g < v->slices; g++) {
        spot_version_slice *p = &v->slice[g];
        for (int u = 0; u < SPOT_VERSIONS; u++) p->confirmed[u] = is_above(j, p, u);
        p->verdict = verdict_of_slice(p, j->o);
        if (p->verdict != SPOT_CHANGE_PENDING) p->counts.needed = 0;
        v->failed |= direction_of(p) > 0;
    }
    if (v->slices) qsort(v->slice, (size_t)v->slices, sizeof *v->slice, gravest_first);
    choose_shown(j);
}

/* ---- all ---- */

void spot_judging_verdicts(spot_judging *j)
{
    spot_versions *v = j->v;

    v->equal = true;
    for (int i = 0; i < v->classes; i++) {
        judge_named(j, &v->of[i]);
        v->equal &= !v->of[i].counts.lost && !v->of[i].counts.gained;
    }
    for (int i = 0; i < v->guards; i++) judge_named(j, &v->guard[i]);
    judge_slices(j);
    v->pending &= !v->failed;
}
