/* slice_versions_judge.c - questions about all rows, classes, guards and merged slices, and verdicts. */
#include "versions/slice_versions_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/subject_memory.h"
#include "stats/statistics.h"
#include "versions/slice_versions_ask.h"

enum { IN_SLICE = 1, COMPARED = 2 };

typedef struct {
    spot_ctx *c;
    spot_versions *v;
    spot_compared_list *list;
    spot_questions ask;
    const spot_subject *const *s;
    const spot_versions_options *o;
    spot_stratum *whole[SPOT_VERSIONS];    /* (classes): rows of each class, and those that a version has wrong */
    spot_stratum *stratum;             /* (classes): scratch */
    double *tail;                      /* (2 n + 2): scratch */
    int    *group;                     /* (pieces): index of the merged slice */
    int    *leader;                    /* (pieces): of each merged slice, the piece that the others are like */
    int    *named;                     /* rows of classes and guards */
    uint8_t *mark;                     /* (n): of the current slice */
} judging;

/* ---- all rows, classes, guards ---- */

static bool has_rows_of_all(const spot_subject *s) { return s->target && s->classes > 1; }

/* The rows of class cls, or of a guard, into row (NULL: only their number). */
static int rows_of(const spot_subject *s, int cls, const uint8_t *in, int *row)
{
    int n = 0;

    for (int i = 0; i < s->n; i++) {
        if (in ? !in[i] : !spot_subject_is_of(s, i, cls)) continue;
        if (row) row[n] = i;
        n++;
    }
    return n;
}

static size_t named_rows(const spot_subject *s, const spot_versions_options *o)
{
    size_t n = 0;

    for (int k = has_rows_of_all(s) ? SPOT_ALL_CLASSES : 0; k < s->classes; k++) n += (size_t)rows_of(s, k, NULL, NULL);
    for (int g = 0; g < o->guards; g++) n += (size_t)rows_of(s, 0, o->guard[g].in, NULL);
    return n;
}

static void add_question(judging *j, spot_version_level level, spot_version_counts *k, const int *row, int n, int cls)
{
    int at = 0;

    for (int l = 0; l < SPOT_ASK_LEVELS; l++) at += j->ask.n[l];
    j->ask.of[at] = (spot_question){ .counts = k, .row = row, .n = n, .cls = cls };
    j->ask.n[level]++;
}

static spot_status open_named(judging *j)
{
    const spot_subject *s = j->s[0];
    spot_versions *v = j->v;
    int *row = j->named;

    SPOT_TRY(SPOT_TAKE(j->c, &v->arena, v->of, s->classes + 1));
    SPOT_TRY(SPOT_TAKE(j->c, &v->arena, v->guard, j->o->guards));
    for (int cls = has_rows_of_all(s) ? SPOT_ALL_CLASSES : 0; cls < s->classes; cls++) {
        spot_version_class *x = &v->of[v->classes];
        const int n = rows_of(s, cls, NULL, row);
        if (!n) continue;
        *x = (spot_version_class){ .cls = cls, .counts = { .margin = v->margin, .beyond = v->beyond } };
        add_question(j, cls < 0 ? SPOT_ASK_ALL : SPOT_ASK_CLASS, &x->counts, row, n, cls);
        row += n;
        v->classes++;
    }
    for (; v->guards < j->o->guards; v->guards++) {
        const spot_version_guard *g = &j->o->guard[v->guards];
        spot_version_class *x = &v->guard[v->guards];
        const size_t size = strlen(g->name) + 1;
        char *name;
        SPOT_TRY(SPOT_TAKE(j->c, &v->arena, name, size));
        memcpy(name, g->name, size);
        *x = (spot_version_class){ .cls = g->cls, .name = name, .counts = { .margin = v->margin, .beyond = v->beyond } };
        if (!isnan(g->margin)) x->counts.margin = x->counts.beyond = g->margin;
        const int n = rows_of(s, g->cls, g->in, row);
        add_question(j, SPOT_ASK_GUARD, &x->counts, row, n, g->cls);
        row += n;
    }
    for (int k = 0; k < s->classes; k++)
        for (int u = 0; u < SPOT_VERSIONS; u++) {
            spot_stratum *all = &j->whole[u][k];
            *all = (spot_stratum){ 0 };
            for (int i = 0; i < s->n; i++)
                if (spot_subject_is_of(s, i, k)) all->rows++, all->group += spot_subject_wrong(j->s[u], i, k);
        }
    return SPOT_OK;
}

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

static void judge_named(judging *j, spot_version_class *x)
{
    x->verdict = verdict_of(&x->counts, j->o->level);
    if (x->verdict != SPOT_CHANGE_PENDING) x->counts.needed = 0;
    j->v->failed |= x->verdict == SPOT_CHANGE_WORSE;
    j->v->pending |= x->verdict == SPOT_CHANGE_PENDING;
}

/* ---- merged slices ---- */

/* Rules lead, then the surest proof, then the most rows: nothing of that knows the versions. */
static int leaders_first(const void *a, const void *b)
{
    const spot_compared *x = a, *y = b;

    if (!x->rule != !y->rule) return x->rule ? -1 : 1;
    if (x->is.proof_p != y->is.proof_p) return x->is.proof_p < y->is.proof_p ? -1 : 1;
    if (x->rows != y->rows) return y->rows - x->rows;
    if (x->is.cls != y->is.cls) return x->is.cls - y->is.cls;
    return x->rows ? memcmp(x->row, y->row, (size_t)x->rows * sizeof *x->row) : 0;
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

/* Each piece joins the first leader that it is like, or leads a slice of its own. */
static void merge_pieces(judging *j)
{
    spot_compared *of = j->list->of;

    if (j->list->n) qsort(of, (size_t)j->list->n, sizeof *of, leaders_first);
    for (int i = 0; i < j->list->n; i++) {
        int g = 0;
        while (g < j->v->slices && (of[j->leader[g]].is.cls != of[i].is.cls
                                    || jaccard(&of[j->leader[g]], &of[i]) < j->o->proof.same)) g++;
        if (g == j->v->slices) j->leader[j->v->slices++] = i;
        j->group[i] = g;
    }
}

static int smallest_first(const void *a, const void *b)
{
    return ((const spot_version_piece *)a)->found - ((const spot_version_piece *)b)->found;
}

static spot_status keep_pieces(judging *j, spot_version_slice *p, int g)
{
    spot_version_piece *piece;
    int n = 0;

    for (int i = 0; i < j->list->n; i++) p->pieces += j->group[i] == g;
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, piece, p->pieces));
    for (int i = 0; i < j->list->n; i++)
        if (j->group[i] == g) piece[n++] = j->list->of[i].is;
    qsort(piece, (size_t)n, sizeof *piece, smallest_first);
    p->piece = piece;
    return SPOT_OK;
}

static spot_status keep_rule(judging *j, spot_version_slice *p, const char *rule)
{
    const size_t size = rule ? strlen(rule) + 1 : 0;
    char *copy;

    if (!rule) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(j->c, &j->v->arena, copy, size));
    p->rule = memcpy(copy, rule, size);
    return SPOT_OK;
}

/* A rule's slice has its rows alone, another one those of all its pieces. */
static void mark_rows(judging *j, const spot_version_slice *p, int g)
{
    for (int i = 0; i < j->list->n; i++) {
        const spot_compared *x = &j->list->of[i];
        if (j->group[i] != g || (p->rule && i != j->leader[g])) continue;
        for (int k = 0; k < x->rows; k++) j->mark[x->row[k]] |= IN_SLICE;
        for (int k = 0; k < x->is.compared; k++) j->mark[x->at[k]] |= COMPARED;
    }
}

static int class_of_row(const spot_version_slice *p, const spot_subject *s, int row)
{
    return p->cls < 0 ? s->target[row] : p->cls;
}

/* The p that a version fails on the compared rows no more than on their classes, where rows have groups. */
static double p_of_groups(judging *j, const spot_version_slice *p, int version)
{
    spot_group_sums_clear(&j->ask.sums);
    for (int i = 0; i < p->compared; i++) {
        const spot_stratum *k = &j->whole[version][class_of_row(p, j->s[0], p->at[i])];
        spot_group_sums_add(&j->ask.sums, j->s[0]->group[p->at[i]],
                            spot_subject_wrong(j->s[version], p->at[i], p->cls) - (double)k->group / k->rows);
    }
    return spot_signs_tail(&j->ask.sums, (uint32_t)p->at[0]);
}

/* Whether a version fails on the compared rows more than on their classes: exact, corrected for the number of slices. */
static bool is_above(judging *j, const spot_version_slice *p, int version)
{
    const spot_subject *s = j->s[0];

    if (j->ask.sums.place && p->compared)
        return spot_is_significant(j->v->slices * p_of_groups(j, p, version), j->o->level);
    for (int k = 0; k < s->classes; k++) j->stratum[k] = j->whole[version][k];
    for (int i = 0; i < p->compared; i++) j->stratum[class_of_row(p, s, p->at[i])].covered++;
    return spot_is_significant(j->v->slices * spot_stratified_tail(p->cls < 0 ? j->stratum : j->stratum + p->cls,
                                                                   p->cls < 0 ? s->classes : 1, p->counts.wrong[version],
                                                                   j->tail), j->o->level);
}

/* The rows with a mark, and the rates of the classes of those that are compared. */
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
        for (int u = 0; u < SPOT_VERSIONS; u++) {
            const spot_stratum *k = &j->whole[u][class_of_row(p, s, i)];
            p->class_rate[u] += (double)k->group / k->rows / compared;
        }
    }
    memset(j->mark, 0, (size_t)s->n);
    return SPOT_OK;
}

static spot_status open_slices(judging *j)
{
    spot_versions *v = j->v;

    merge_pieces(j);
    SPOT_TRY(SPOT_TAKE(j->c, &v->arena, v->slice, v->slices));
    for (int g = 0; g < v->slices; g++) {
        spot_version_slice *p = &v->slice[g];
        *p = (spot_version_slice){ .cls = j->list->of[j->leader[g]].is.cls,
                                   .counts = { .margin = v->margin, .beyond = v->beyond } };
        SPOT_TRY(keep_rule(j, p, j->list->of[j->leader[g]].rule));
        mark_rows(j, p, g);
        SPOT_TRY(keep_pieces(j, p, g));
        SPOT_TRY(keep_rows(j, p));
        add_question(j, SPOT_ASK_SLICE, &p->counts, p->at, p->compared, p->cls);
    }
    return SPOT_OK;
}

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

static void judge_slices(judging *j)
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

static void judge_all(judging *j)
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

/* Most bytes of the results: slices and their rows, classes, guards, rows outside. */
static size_t bytes_of_results(const spot_compared_list *list, const spot_subject *const s[SPOT_VERSIONS],
                               const spot_versions_options *o)
{
    enum { EDGE = 64 };
    const spot_subject *a = s[0];
    size_t bytes = ((size_t)a->classes + 1 + (size_t)o->guards) * sizeof(spot_version_class) + 8 * EDGE;

    for (int g = 0; g < o->guards; g++) bytes += strlen(o->guard[g].name) + 1 + EDGE;
    for (int i = 0; i < list->n; i++)
        bytes += sizeof(spot_version_slice) + sizeof(spot_version_piece) + 5 * EDGE
                 + 2 * (size_t)list->of[i].rows * sizeof(int) + (list->of[i].rule ? strlen(list->of[i].rule) + 1 : 0);
    for (int k = 0; k < a->classes; k++)
        for (int i = 0; i < a->n; i++)
            if (spot_subject_is_of(a, i, k) && spot_subject_wrong(s[1], i, k)) bytes += sizeof(spot_version_row);
    return bytes;
}

static spot_status open_judging(judging *j, spot_arena *work)
{
    const size_t pieces = (size_t)j->list->n, classes = (size_t)j->s[0]->classes;

    SPOT_TRY(SPOT_TAKE(j->c, work, j->group, pieces));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->leader, pieces));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->mark, j->s[0]->n));
    for (int u = 0; u < SPOT_VERSIONS; u++) SPOT_TRY(SPOT_TAKE(j->c, work, j->whole[u], classes));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->stratum, classes));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->tail, 2 * (size_t)j->s[0]->n + 2));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->named, named_rows(j->s[0], j->o)));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->ask.of, classes + 1 + (size_t)j->o->guards + pieces));
    if (j->mark) memset(j->mark, 0, (size_t)j->s[0]->n);
    return SPOT_OK;
}

static spot_status judge(judging *j)
{
    spot_versions *v = j->v;

    v->n = j->s[0]->n, v->level = j->o->level, v->margin = j->o->margin;
    v->beyond = !isnan(j->o->beyond) ? j->o->beyond : j->o->retrains < SPOT_ENOUGH_RETRAINS ? v->margin : 0;
    memcpy(v->share, j->o->share, sizeof v->share);
    if (spot_subject_is_grouped(j->s[0])) SPOT_TRY(spot_group_sums_open(j->c, &j->ask.sums, j->s[0]->groups));
    SPOT_TRY(open_named(j));
    SPOT_TRY(open_slices(j));
    SPOT_TRY(spot_questions_ask(j->c, &j->ask, v));
    judge_all(j);
    return list_all_lost(j);
}

spot_status spot_versions_judge(spot_ctx *c, spot_versions *v, spot_compared_list *list,
                                const spot_subject *const s[SPOT_VERSIONS], const spot_versions_options *o)
{
    judging j = { .c = c, .v = v, .list = list, .s = s, .o = o, .ask = { .s = s, .o = o } };
    spot_arena work = spot_arena_counting();
    spot_status status;

    SPOT_TRY(open_judging(&j, &work));
    SPOT_TRY(spot_arena_open(c, &v->arena, bytes_of_results(list, s, o)));
    SPOT_TRY(spot_arena_open(c, &work, work.peak + 64));
    status = open_judging(&j, &work);
    if (!status) status = judge(&j);
    free(j.ask.before);
    spot_group_sums_close(&j.ask.sums);
    spot_arena_close(&work);
    return status;
}
