/* slice_versions_judge.c - paired tests of the pieces and of whole classes, merged slices, verdicts. */
#include "versions/slice_versions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/subject_memory.h"
#include "stats/group_sums.h"
#include "stats/paired.h"
#include "stats/statistics.h"

enum { IN_SLICE = 1, COMPARED = 2 };

static const double Z95 = 1.959963984540054, Z90 = 1.6448536269514722;

typedef struct {
    spot_ctx *c;
    spot_versions *v;
    spot_compared_list *list;
    const spot_subject *const *s;
    const spot_versions_options *o;
    spot_version_counts *whole;        /* (classes): all rows of each class */
    spot_stratum *stratum;             /* (classes): scratch */
    double *tail;                      /* (2 n + 2): scratch */
    int    *group;                     /* (pieces): index of the merged slice */
    int    *leader;                    /* (pieces): of each merged slice, the piece that the others are like */
    uint8_t *mark;                     /* (n): of the current slice */
    spot_group_sums sums;              /* where rows have groups */
} judging;

void spot_version_count(spot_version_counts *k, const spot_subject *const s[SPOT_VERSIONS], int row, int cls)
{
    const bool was = spot_subject_wrong(s[0], row, cls), is = spot_subject_wrong(s[1], row, cls);

    k->rows++;
    k->wrong[0] += was, k->wrong[1] += is;
    k->lost += is && !was, k->gained += was && !is;
}

/* ---- tests ---- */

/* The sums of lost less gained rows, by group: of the rows at `row`, or of all of a class. */
static void sum_changes(judging *j, const int *row, int n, int cls)
{
    spot_group_sums_clear(&j->sums);
    for (int i = 0; i < n; i++) {
        const int at = row ? row[i] : i;
        if (!row && !spot_subject_is_of(j->s[0], at, cls)) continue;
        spot_group_sums_add(&j->sums, j->s[0]->group[at],
                            spot_subject_wrong(j->s[1], at, cls) - spot_subject_wrong(j->s[0], at, cls));
    }
}

/* The tests of one count: each changed row is a fair coin; where rows have groups, each group's change has a fair sign. */
static void test_one(judging *j, spot_version_counts *k, const int *row, int n, int cls, int number)
{
    k->p_worse = spot_mcnemar_tail(k->lost, k->gained);
    k->p_better = spot_mcnemar_tail(k->gained, k->lost);
    if (!j->sums.place) return;
    sum_changes(j, row, n, cls);
    k->groups = j->sums.n;
    k->p_worse = spot_signs_tail(&j->sums, (uint32_t)number);
    k->p_better = spot_signs_below(&j->sums, (uint32_t)number);
}

/* The change of an error rate with its interval; z: a normal's. */
static spot_interval change_of(judging *j, const spot_version_counts *k, const int *row, int n, int cls, double z)
{
    const spot_interval alone = spot_paired_change(k->lost, k->gained, k->rows, z);

    if (!j->sums.place || !k->rows) return alone;
    sum_changes(j, row, n, cls);
    return spot_wider(alone, spot_group_mean(&j->sums, spot_normal_tail(z)));
}

/* k (n), all counts that are tested, get `enough`, and their p are corrected: a family of tests in each direction. */
static spot_status test_family(spot_ctx *c, spot_version_counts **k, int n, double level)
{
    spot_ranked_p *scratch;
    double *p;

    if (!n) return SPOT_OK;
    p = malloc(2 * (size_t)n * (sizeof *p + sizeof *scratch));
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for %d tests", n);
    scratch = (spot_ranked_p *)(p + 2 * (size_t)n);
    for (int i = 0; i < n; i++) {
        p[i] = k[i]->p_worse;
        p[n + i] = k[i]->p_better;
    }
    spot_holm(p, n, scratch);
    spot_holm(p + n, n, scratch);
    for (int i = 0; i < n; i++) {
        k[i]->p_worse = p[i];
        k[i]->p_better = p[n + i];
        k[i]->enough = spot_mcnemar_enough(n, level);
    }
    free(p);
    return SPOT_OK;
}

static spot_status test_all(judging *j)
{
    const int n = j->v->tests = j->list->n + j->v->classes;
    spot_version_counts **k = malloc(((size_t)n + 1) * sizeof *k);
    spot_status s;

    if (!k) return spot_fail(j->c, SPOT_NOMEM, "no memory for %d tests", n);
    for (int i = 0; i < j->list->n; i++) {
        spot_compared *x = &j->list->of[i];
        k[i] = &x->is.counts;
        test_one(j, k[i], x->at, k[i]->rows, x->is.cls, i);
    }
    for (int i = j->list->n; i < n; i++) {
        spot_version_class *x = &j->v->of[i - j->list->n];
        k[i] = &x->counts;
        test_one(j, k[i], NULL, j->s[0]->n, x->cls, i);
    }
    s = test_family(j->c, k, n, j->o->level);
    free(k);
    return s;
}

/* ---- verdicts ---- */

/* by: the 90 % interval of the change. */
static spot_change_verdict verdict_of(const spot_version_counts *k, spot_interval by, const spot_versions_options *o)
{
    if (spot_is_significant(k->p_worse, o->level) && k->p_worse <= k->p_better) return SPOT_CHANGE_WORSE;
    if (spot_is_significant(k->p_better, o->level)) return SPOT_CHANGE_BETTER;
    return k->rows && by.low > -o->margin && by.high < o->margin ? SPOT_CHANGE_SAME : SPOT_CHANGE_PENDING;
}

static spot_change_verdict verdict_of_slice(const spot_version_slice *p, spot_interval by, const spot_versions_options *o)
{
    const spot_change_verdict v = verdict_of(&p->counts, by, o);
    const spot_interval now = spot_share_of(p->counts.wrong[1], p->counts.rows);

    if (v == SPOT_CHANGE_WORSE && !p->confirmed[0]) return SPOT_CHANGE_NEW;
    if (v == SPOT_CHANGE_BETTER && now.low <= p->class_rate[1] && now.value <= p->class_rate[1] + o->margin)
        return SPOT_CHANGE_MENDED;
    return v;
}

/* ---- classes ---- */

static spot_status count_classes(judging *j)
{
    const spot_subject *s = j->s[0];
    spot_versions *v = j->v;

    SPOT_TRY(SPOT_TAKE(j->c, &v->arena, v->of, s->classes + 1));
    for (int cls = s->target && s->classes > 1 ? SPOT_ALL_CLASSES : 0; cls < s->classes; cls++) {
        spot_version_class *x = &v->of[v->classes];
        *x = (spot_version_class){ .cls = cls };
        for (int i = 0; i < s->n; i++)
            if (spot_subject_is_of(s, i, cls)) spot_version_count(&x->counts, j->s, i, cls);
        if (cls >= 0) j->whole[cls] = x->counts;
        v->classes += x->counts.rows > 0;
    }
    return SPOT_OK;
}

static void judge_classes(judging *j)
{
    spot_versions *v = j->v;

    v->equal = true;
    for (int i = 0; i < v->classes; i++) {
        spot_version_class *x = &v->of[i];
        x->change = change_of(j, &x->counts, NULL, j->s[0]->n, x->cls, Z95);
        x->verdict = verdict_of(&x->counts, change_of(j, &x->counts, NULL, j->s[0]->n, x->cls, Z90), j->o);
        v->failed |= x->verdict == SPOT_CHANGE_WORSE;
        v->equal &= !x->counts.lost && !x->counts.gained;
    }
}

/* ---- merged slices ---- */

static double least_p(const spot_version_counts *k) { return fmin(k->p_worse, k->p_better); }

static int surest_first(const void *a, const void *b)
{
    const spot_compared *x = a, *y = b;
    const double p = least_p(&x->is.counts), q = least_p(&y->is.counts);

    if (p != q) return p < q ? -1 : 1;
    if (x->rows != y->rows) return y->rows - x->rows;
    return x->is.cls - y->is.cls;
}

static double jaccard(const spot_compared *a, const spot_compared *b)
{
    int both = 0;

    for (int i = 0, k = 0; i < a->rows && k < b->rows;) {
        if (a->row[i] == b->row[k]) both++, i++, k++;
        else if (a->row[i] < b->row[k]) i++;
        else k++;
    }
    return (double)both / fmax(1, a->rows + b->rows - both);
}

/* The surest piece leads a slice; each following one joins the first leader that it is like, or leads a slice of its own. */
static void merge_pieces(judging *j)
{
    spot_compared *of = j->list->of;

    if (j->list->n) qsort(of, (size_t)j->list->n, sizeof *of, surest_first);
    for (int i = 0; i < j->list->n; i++) {
        int g = 0;
        while (g < j->v->slices && (of[j->leader[g]].is.cls != of[i].is.cls
                                    || jaccard(&of[j->leader[g]], &of[i]) < j->o->proof.same)) g++;
        if (g == j->v->slices) j->leader[j->v->slices++] = i;
        j->group[i] = g;
    }
}

static void add_to_slice(judging *j, spot_version_slice *p, const spot_compared *piece)
{
    const spot_version_counts *k = &piece->is.counts;

    if (!p->pieces || k->p_worse < p->counts.p_worse) p->counts.p_worse = k->p_worse;
    if (!p->pieces || k->p_better < p->counts.p_better) p->counts.p_better = k->p_better;
    if (!p->pieces || k->enough < p->counts.enough) p->counts.enough = k->enough;
    p->pieces++;
    for (int i = 0; i < piece->rows; i++) j->mark[piece->row[i]] |= IN_SLICE;
    for (int i = 0; i < k->rows; i++) j->mark[piece->at[i]] |= COMPARED;
}

static int smallest_first(const void *a, const void *b)
{
    return ((const spot_version_piece *)a)->found - ((const spot_version_piece *)b)->found;
}

static spot_status keep_pieces(judging *j, spot_version_slice *p, int g)
{
    spot_version_piece *piece;
    int n = 0;

    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, piece, p->pieces));
    for (int i = 0; i < j->list->n; i++)
        if (j->group[i] == g) piece[n++] = j->list->of[i].is;
    qsort(piece, (size_t)n, sizeof *piece, smallest_first);
    p->piece = piece;
    return SPOT_OK;
}

static int class_of_row(const spot_version_slice *p, const spot_subject *s, int row)
{
    return p->cls < 0 ? s->target[row] : p->cls;
}

/* The p that a version fails on the compared rows no more than on their classes, where rows have groups. */
static double p_of_groups(judging *j, const spot_version_slice *p, int version)
{
    spot_group_sums_clear(&j->sums);
    for (int i = 0; i < p->compared; i++) {
        const spot_version_counts *k = &j->whole[class_of_row(p, j->s[0], p->at[i])];
        spot_group_sums_add(&j->sums, j->s[0]->group[p->at[i]],
                            spot_subject_wrong(j->s[version], p->at[i], p->cls) - (double)k->wrong[version] / k->rows);
    }
    return spot_signs_tail(&j->sums, (uint32_t)p->at[0]);
}

/* Whether a version fails on the compared rows more than on their classes: exact, corrected for the number of slices. */
static bool is_above(judging *j, const spot_version_slice *p, int version)
{
    const spot_subject *s = j->s[0];

    if (j->sums.place && p->compared)
        return spot_is_significant(j->v->slices * p_of_groups(j, p, version), j->o->level);
    for (int k = 0; k < s->classes; k++) j->stratum[k] = (spot_stratum){ j->whole[k].rows, j->whole[k].wrong[version], 0 };
    for (int i = 0; i < p->compared; i++) j->stratum[class_of_row(p, s, p->at[i])].covered++;
    return spot_is_significant(j->v->slices * spot_stratified_tail(p->cls < 0 ? j->stratum : j->stratum + p->cls,
                                                                   p->cls < 0 ? s->classes : 1, p->counts.wrong[version],
                                                                   j->tail), j->o->level);
}

/* The rows with a mark, and the counts and rates of those that were compared. */
static spot_status keep_rows(judging *j, spot_version_slice *p)
{
    const spot_subject *s = j->s[0];
    int size = 0, compared = 0;

    for (int i = 0; i < s->n; i++) size += j->mark[i] != 0, compared += (j->mark[i] & COMPARED) != 0;
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, p->row, size));
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, p->at, compared));
    for (int i = 0; i < s->n; i++) {
        if (j->mark[i]) p->row[p->size++] = i;
        if (!(j->mark[i] & COMPARED)) continue;
        p->at[p->compared++] = i;
        spot_version_count(&p->counts, j->s, i, p->cls);
        for (int u = 0; u < SPOT_VERSIONS; u++) {
            const spot_version_counts *k = &j->whole[class_of_row(p, s, i)];
            p->class_rate[u] += (double)k->wrong[u] / k->rows / compared;
        }
    }
    for (int u = 0; u < SPOT_VERSIONS; u++) p->confirmed[u] = is_above(j, p, u);
    if (j->sums.place) p->counts.groups = j->sums.n;
    memset(j->mark, 0, (size_t)s->n);
    return SPOT_OK;
}

static int rank_of(spot_change_verdict v)
{
    static const int rank[] = { [SPOT_CHANGE_NEW] = 0, [SPOT_CHANGE_WORSE] = 1, [SPOT_CHANGE_PENDING] = 2,
                                [SPOT_CHANGE_SAME] = 3, [SPOT_CHANGE_BETTER] = 4, [SPOT_CHANGE_MENDED] = 5 };

    return rank[v];
}

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
static bool is_said(judging *j, const spot_version_slice *p, const int *shown)
{
    int in = 0;

    for (int g = 0; g < j->v->slices; g++) {
        const spot_version_slice *q = &j->v->slice[g];
        for (int i = 0; i < q->size && shown[g] && direction_of(q) == direction_of(p); i++) j->mark[q->row[i]] = IN_SLICE;
    }
    for (int i = 0; i < p->size; i++) in += j->mark[p->row[i]] != 0;
    memset(j->mark, 0, (size_t)j->s[0]->n);
    return 2 * in >= p->size;
}

/* Keeps the slices of which a piece is confirmed, and others that changed, which is a finding by itself, unless it is one that
 * is shown already. */
static void choose_shown(judging *j)
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

static spot_status judge_slices(judging *j)
{
    spot_versions *v = j->v;

    merge_pieces(j);
    SPOT_TRY(SPOT_TAKE(j->c, &v->arena, v->slice, v->slices));
    for (int g = 0; g < v->slices; g++) {
        spot_version_slice *p = &v->slice[g];
        *p = (spot_version_slice){ .cls = j->list->of[j->leader[g]].is.cls };
        for (int i = 0; i < j->list->n; i++)
            if (j->group[i] == g) add_to_slice(j, p, &j->list->of[i]);
        SPOT_TRY(keep_pieces(j, p, g));
        SPOT_TRY(keep_rows(j, p));
        p->change = change_of(j, &p->counts, p->at, p->compared, p->cls, Z95);
        p->verdict = verdict_of_slice(p, change_of(j, &p->counts, p->at, p->compared, p->cls, Z90), j->o);
        v->failed |= direction_of(p) > 0;
    }
    if (v->slices) qsort(v->slice, (size_t)v->slices, sizeof *v->slice, gravest_first);
    choose_shown(j);
    return SPOT_OK;
}

/* ---- rows outside ---- */

/* Rows of class cls that were right, are wrong and lie in no slice of this class or of all; into v->lost, unless it is NULL. */
static void list_lost(judging *j, int cls)
{
    const spot_subject *s = j->s[0];

    for (int g = 0; g < j->v->slices; g++) {
        const spot_version_slice *p = &j->v->slice[g];
        for (int i = 0; i < p->size && (p->cls < 0 || p->cls == cls); i++) j->mark[p->row[i]] = IN_SLICE;
    }
    for (int i = 0; i < s->n; i++) {
        if (j->mark[i] || !spot_subject_is_of(s, i, cls)) continue;
        if (spot_subject_wrong(j->s[0], i, cls) || !spot_subject_wrong(j->s[1], i, cls)) continue;
        if (j->v->lost) j->v->lost[j->v->outside] = (spot_version_row){ i, cls };
        j->v->outside++;
    }
    memset(j->mark, 0, (size_t)s->n);
}

static spot_status list_all_lost(judging *j)
{
    for (int k = 0; k < j->s[0]->classes; k++) list_lost(j, k);
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, j->v->lost, j->v->outside));
    j->v->outside = 0;
    for (int k = 0; k < j->s[0]->classes; k++) list_lost(j, k);
    return SPOT_OK;
}

/* ---- memory ---- */

/* Most bytes of the results: slices and their rows, classes, rows outside. */
static size_t bytes_of_results(const spot_compared_list *list, const spot_subject *const s[SPOT_VERSIONS])
{
    enum { EDGE = 64 };
    const spot_subject *a = s[0];
    size_t bytes = ((size_t)a->classes + 1) * sizeof(spot_version_class) + 8 * EDGE;

    for (int i = 0; i < list->n; i++)
        bytes += sizeof(spot_version_slice) + sizeof(spot_version_piece) + 4 * EDGE
                 + 2 * (size_t)list->of[i].rows * sizeof(int);
    for (int k = 0; k < a->classes; k++)
        for (int i = 0; i < a->n; i++)
            if (spot_subject_is_of(a, i, k) && spot_subject_wrong(s[1], i, k)) bytes += sizeof(spot_version_row);
    return bytes;
}

static spot_status open_judging(judging *j, spot_arena *work)
{
    const size_t pieces = (size_t)j->list->n;

    SPOT_TRY(SPOT_TAKE(j->c, work, j->group, pieces));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->leader, pieces));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->mark, j->s[0]->n));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->whole, j->s[0]->classes));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->stratum, j->s[0]->classes));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->tail, 2 * (size_t)j->s[0]->n + 2));
    if (j->mark) memset(j->mark, 0, (size_t)j->s[0]->n);
    return SPOT_OK;
}

spot_status spot_versions_judge(spot_ctx *c, spot_versions *v, spot_compared_list *list,
                                const spot_subject *const s[SPOT_VERSIONS], const spot_versions_options *o)
{
    judging j = { .c = c, .v = v, .list = list, .s = s, .o = o };
    spot_arena work = spot_arena_counting();
    spot_status status;

    SPOT_TRY(open_judging(&j, &work));
    SPOT_TRY(spot_arena_open(c, &v->arena, bytes_of_results(list, s)));
    SPOT_TRY(spot_arena_open(c, &work, work.peak + 64));
    v->n = s[0]->n, v->level = o->level, v->margin = o->margin;
    status = open_judging(&j, &work);
    if (!status && spot_subject_is_grouped(s[0])) status = spot_group_sums_open(c, &j.sums, s[0]->groups);
    if (!status) status = count_classes(&j);
    if (!status) status = test_all(&j);
    if (!status) judge_classes(&j);
    if (!status) status = judge_slices(&j);
    if (!status) status = list_all_lost(&j);
    spot_group_sums_close(&j.sums);
    spot_arena_close(&work);
    return status;
}
