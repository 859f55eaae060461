/* slice_versions_judge.c - the steps from compared slices to verdicts, rows outside, and memory. */
#include "versions/slice_versions_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/subject_memory.h"
#include "versions/slice_versions_ask.h"
#include "versions/slice_versions_steps.h"

/* ---- rows outside ---- */

/* Rows of class cls that were right, are wrong and lie in no slice of this class or of all; into v->lost, unless it is NULL. */
static void list_lost(spot_judging *j, int cls)
{
    const spot_subject *s = j->s[0];

    for (int g = 0; g < j->v->slices; g++) {
        const spot_version_slice *p = &j->v->slice[g];
        for (int i = 0; i < p->size && (p->cls < 0 || p->cls == cls); i++) j->mark[p->row[i]] = true;
    }
    for (int i = 0; i < s->n; i++) {
        if (j->mark[i] || !spot_subject_is_of(s, i, cls)) continue;
        if (spot_subject_wrong(j->s[0], i, cls) || !spot_subject_wrong(j->s[1], i, cls)) continue;
        if (j->v->lost) j->v->lost[j->v->outside] = (spot_version_row){ i, cls };
        j->v->outside++;
    }
    memset(j->mark, 0, (size_t)s->n);
}

static spot_status list_all_lost(spot_judging *j)
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
    const spot_subject *a = s[0];
    const size_t named = (size_t)a->classes + 1 + (size_t)o->guards;
    size_t bytes = named * (sizeof(spot_version_class) + 2 * SPOT_ALIGN) + spot_judging_named_rows(a, o) * sizeof(int)
                 + 8 * SPOT_ALIGN;

    for (int g = 0; g < o->guards; g++) bytes += strlen(o->guard[g].name) + 1 + SPOT_ALIGN;
    for (int i = 0; i < list->n; i++)
        bytes += sizeof(spot_version_slice) + sizeof(spot_version_piece) + 7 * SPOT_ALIGN
                 + 3 * (size_t)list->of[i].rows * sizeof(int) + (list->of[i].rule ? strlen(list->of[i].rule) + 1 : 0);
    for (int k = 0; k < a->classes; k++)
        for (int i = 0; i < a->n; i++)
            if (spot_subject_is_of(a, i, k) && spot_subject_wrong(s[1], i, k)) bytes += sizeof(spot_version_row);
    return bytes;
}

static spot_status open_judging(spot_judging *j, spot_arena *work)
{
    const size_t pieces = (size_t)j->list->n, classes = (size_t)j->s[0]->classes;

    SPOT_TRY(SPOT_TAKE(j->c, work, j->group, pieces));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->leader, pieces));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->mark, j->s[0]->n));
    for (int u = 0; u < SPOT_VERSIONS; u++) SPOT_TRY(SPOT_TAKE(j->c, work, j->whole[u], classes));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->stratum, classes));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->tail, 2 * (size_t)j->s[0]->n + 2));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->named, spot_judging_named_rows(j->s[0], j->o)));
    SPOT_TRY(SPOT_TAKE(j->c, work, j->ask.of, classes + 1 + (size_t)j->o->guards + pieces));
    if (j->mark) memset(j->mark, 0, (size_t)j->s[0]->n);
    return SPOT_OK;
}

static spot_status judge(spot_judging *j)
{
    spot_versions *v = j->v;

    v->n = j->s[0]->n, v->level = j->o->level, v->margin = j->o->margin;
    v->beyond = !isnan(j->o->beyond) ? j->o->beyond : j->o->retrains < SPOT_ENOUGH_RETRAINS ? v->margin : 0;
    memcpy(v->share, j->o->share, sizeof v->share);
    if (spot_subject_is_grouped(j->s[0])) SPOT_TRY(spot_group_sums_open(j->c, &j->ask.sums, j->s[0]->groups));
    SPOT_TRY(spot_judging_named(j));
    SPOT_TRY(spot_judging_slices(j));
    SPOT_TRY(spot_questions_ask(j->c, &j->ask, v));
    spot_judging_verdicts(j);
    return list_all_lost(j);
}

spot_status spot_versions_judge(spot_ctx *c, spot_versions *v, spot_compared_list *list,
                                const spot_subject *const s[SPOT_VERSIONS], const spot_versions_options *o)
{
    spot_judging j = { .c = c, .v = v, .list = list, .s = s, .o = o, .ask = { .s = s, .o = o } };
    spot_arena work = spot_arena_counting();
    spot_status status;

    SPOT_TRY(open_judging(&j, &work));
    SPOT_TRY(spot_arena_open(c, &v->arena, bytes_of_results(list, s, o)));
    SPOT_TRY(spot_arena_open(c, &work, work.peak));
    status = open_judging(&j, &work);
    if (!status) status = judge(&j);
    free(j.ask.before);
    spot_group_sums_close(&j.ask.sums);
    spot_arena_close(&work);
    return status;
}
