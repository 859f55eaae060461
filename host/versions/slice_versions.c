/* slice_versions.c - spot_versions_compare: options, checks and the steps. */
#include "versions/slice_versions_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stats/statistics.h"

spot_versions_options spot_versions_defaults(void)
{
    return (spot_versions_options){ .proof = spot_proof_defaults(), .level = SPOT_LEVEL, .margin = 0.05, .beyond = NAN,
                                    .share = { 0.1, 0.2, 0.5, 0.2 }, .features = SPOT_FEATURES_FIRST,
                                    .name = { "version 1", "version 2" } };
}

const char *spot_version_level_name(spot_version_level l)
{
    static const char *const name[] = { "all rows", "classes", "guards", "slices" };

    return l >= SPOT_ASK_ALL && l < SPOT_ASK_LEVELS ? name[l] : "unknown";
}

/* ---- checks ---- */

static spot_status check_labels(spot_ctx *c, const spot_subject *a, const spot_subject *b)
{
    const size_t classes = (size_t)a->classes;

    if (a->n != b->n)
        return spot_fail(c, SPOT_INPUT, "{versions.rows} version 1 has %d rows and version 2 %d: two versions are compared on "
                         "the same rows", a->n, b->n);
    if (a->classes != b->classes || !a->has != !b->has)
        return spot_fail(c, SPOT_INPUT, "version 1 has %d classes%s and version 2 %d%s: they cannot be compared", a->classes,
                         a->has ? " of which a row has any number" : "", b->classes,
                         b->has ? " of which a row has any number" : "");
    for (int k = 0; k < a->classes; k++)
        if (strcmp(a->class_name[k], b->class_name[k]))
            return spot_fail(c, SPOT_INPUT, "class %d is \"%.80s\" in version 1 and \"%.80s\" in version 2", k,
                             a->class_name[k], b->class_name[k]);
    for (int i = 0; i < a->n; i++)
        if (a->has ? memcmp(a->has + (size_t)i * classes, b->has + (size_t)i * classes, classes) : a->target[i] != b->target[i])
            return spot_fail(c, SPOT_INPUT, "{versions.labels} row %d has other labels in version 2; both versions need the "
                             "same rows in the same order", i);
    return SPOT_OK;
}

static spot_status check_options(spot_ctx *c, const spot_versions_options *o, const spot_subject *s)
{
    double sum = 0;
    bool fits = true;

    if (!(o->level > 0 && o->level < 0.5) || !(o->margin >= 0 && o->margin < 1) || o->beyond < 0 || o->beyond >= 1)
        return spot_fail(c, SPOT_USAGE, "{versions.level} level %g and margin %g; a level is in (0, 0.5), a margin in [0, 1)",
                         o->level, o->margin);
    for (int l = 0; l < SPOT_ASK_LEVELS; l++) fits &= o->share[l] >= 0, sum += o->share[l];
    if (!fits || fabs(sum - 1) > 1e-9)
        return spot_fail(c, SPOT_USAGE, "{versions.share} shares of the level are 0 or more and 1 together, not %g", sum);
    for (int g = 0; g < o->guards; g++) {
        bool any = false;
        if (o->guard[g].margin < 0 || o->guard[g].margin >= 1)
            return spot_fail(c, SPOT_USAGE, "{versions.guard} the margin %g of the guard \"%.200s\" is not in [0, 1)",
                             o->guard[g].margin, o->guard[g].name);
        for (int i = 0; i < s->n; i++) any |= o->guard[g].in[i];
        if (!any) return spot_fail(c, SPOT_INPUT, "{versions.no_row} the guard \"%.200s\" has no row", o->guard[g].name);
        if (!s->target) return spot_fail(c, SPOT_USAGE, "{versions.several} rows that may have several classes have no guards");
    }
    return SPOT_OK;
}

static spot_status check_versions(spot_ctx *c, const spot_subject *const s[SPOT_VERSIONS], const spot_versions_options *o)
{
    spot_subject second = *s[1];

    SPOT_TRY(check_options(c, o, s[0]));
    SPOT_TRY(spot_subject_check(c, s[0]));
    second.feature = s[0]->feature;
    second.d = s[0]->d;
    second.head = NULL;
    SPOT_TRY(check_labels(c, s[0], s[1]));
    SPOT_TRY(spot_subject_check(c, &second));
    if (s[0]->target && spot_knows_predicted(s[0]) != spot_knows_predicted(s[1]))
        return spot_fail(c, SPOT_INPUT, "{versions.answers} version %d has the probability of each class and version %d only "
                         "that of the true one, so that wrong rows mean different things; give the same of both",
                         spot_knows_predicted(s[0]) ? 1 : 2,
                         spot_knows_predicted(s[0]) ? 2 : 1);
    for (int t = 0; t < o->retrains; t++) {
        SPOT_TRY(check_labels(c, s[0], o->retrain[t]));
        if (s[0]->target && spot_knows_predicted(s[0]) != spot_knows_predicted(o->retrain[t]))
            return spot_fail(c, SPOT_INPUT, "{versions.retrain} further training %d %s the probability of each class, and "
                             "version 1 %s: wrong rows mean different things; give the same of both", t + 1,
                             spot_knows_predicted(s[0]) ? "lacks" : "has", spot_knows_predicted(s[0]) ? "has it" : "has not");
    }
    return SPOT_OK;
}

/* ---- answers ---- */

/* A version without its probabilities, of which its answers are made: tests ask for an answer again and again, and each time
 * it would be looked for among all classes. */
static spot_status keep_answers(spot_ctx *c, spot_memory **memory, spot_subject *out, const spot_subject *s)
{
    *out = *s;
    if (!s->target || !s->prob) return SPOT_OK;
    out->prob = NULL;
    out->predicted = spot_memory_take(memory, (size_t)s->n * sizeof *out->predicted);
    if (!out->predicted) return spot_fail(c, SPOT_NOMEM, "no memory for the answers of %d rows", s->n);
    spot_subject_outcomes(s, NULL, out->predicted);
    return SPOT_OK;
}

/* The versions, and behind them the further trainings of o, with their answers. */
static spot_status keep_all_answers(spot_ctx *c, spot_memory **memory, const spot_subject ***out,
                                    const spot_subject *const s[SPOT_VERSIONS], const spot_versions_options *o)
{
    const int n = SPOT_VERSIONS + o->retrains;
    spot_subject *of = spot_memory_take(memory, (size_t)n * sizeof *of);

    *out = spot_memory_take(memory, (size_t)n * sizeof **out);
    if (!of || !*out) return spot_fail(c, SPOT_NOMEM, "no memory for %d trainings", n);
    for (int t = 0; t < n; t++) {
        SPOT_TRY(keep_answers(c, memory, &of[t], t < SPOT_VERSIONS ? s[t] : o->retrain[t - SPOT_VERSIONS]));
        (*out)[t] = &of[t];
    }
    return SPOT_OK;
}

/* ---- the whole ---- */

static spot_status search_and_judge(spot_ctx *c, spot_versions *v, const spot_subject *const s[SPOT_VERSIONS],
                                    const spot_versions_options *o)
{
    spot_compared_list list = { 0 };
    spot_status how = spot_versions_search(c, &list, s, o, &v->features);

    if (!how) how = spot_versions_judge(c, v, &list, s, o);
    spot_compared_free(&list);
    return how;
}

spot_status spot_versions_compare(spot_ctx *c, spot_versions *v, const spot_subject *const s[SPOT_VERSIONS],
                                  const spot_versions_options *o)
{
    spot_versions_options with = *o;
    const spot_subject **known;
    spot_memory *memory = NULL;
    spot_status how;

    memset(v, 0, sizeof *v);
    SPOT_TRY(check_versions(c, s, o));
    for (int i = 0; i < SPOT_VERSIONS; i++)
        snprintf(v->name[i], sizeof v->name[i], "%s", o->name[i] ? o->name[i] : i ? "version 2" : "version 1");
    snprintf(v->data, sizeof v->data, "%s", o->data ? o->data : "");
    how = keep_all_answers(c, &memory, &known, s, o);
    if (!how) with.retrain = known + SPOT_VERSIONS, how = search_and_judge(c, v, known, &with);
    spot_memory_close(&memory);
    return how;
}

void spot_versions_close(spot_versions *v)
{
    spot_arena_close(&v->arena);
    memset(v, 0, sizeof *v);
}
