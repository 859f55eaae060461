/* background_describe.c - the numbers of a study of backgrounds, each described once: for background.json, the tables and the
 * page. A new number of a model is a row here. */
#include <math.h>
#include <string.h>

#include "background/background_study.h"
#include "result/result.h"
#include "spotter/model.h"
#include "spotter/variance.h"
#include "spotter/zoo.h"

typedef spot_background_results results;

/* ---- settings and suite ---- */

static void precision_name(spot_quantity_value *v, const void *row)
{
    v->text = spot_precision_name((spot_precision)((const spot_background_config *)row)->measure.precision);
}

static const spot_quantity settings[] = {
#define S(name, field) SPOT_QUANTITY(name, spot_background_config, field)
    S("size", data.size), SPOT_NAMED("fit", spot_background_config, data.fit, "squash", "middle"), S("part", data.part),
    S("levels", measure.levels), S("realness", suite.realness), S("seed", suite.seed),
    SPOT_NAMED("confidence", spot_background_config, measure.confidence, "greatest", "true"), S("top", measure.top),
    SPOT_COMPUTED("precision", SPOT_AS_TEXT, precision_name), S("grid", measure.grid), S("kernel", measure.kernel),
    S("sigma", measure.sigma), S("neighbours", measure.neighbours),
    SPOT_NAMED("method", spot_background_config, measure.exact, "binned", "exact"),
#undef S
    SPOT_QUANTITIES_END
};

static void choice_name(spot_quantity_value *v, const void *row)
{
    v->text = spot_background_choice_name(((const results *)row)->cfg->suite.choice);
}

static void count_unreal(spot_quantity_value *v, const void *row)
{
    v->value = spot_background_unreal(((const results *)row)->suite);
}

static const spot_quantity suite_key[] = { SPOT_QUANTITY("key", spot_background_suite, key), SPOT_QUANTITIES_END };

static const spot_quantity suite_counts[] = {
#define S(name, field) SPOT_QUANTITY(name, spot_background_suite, field)
    S("encoder", encoder), S("targets", targets), S("backgrounds_of_a_target", n), S("different_backgrounds", backgrounds),
    S("masks_empty", empty), S("objects_too_small", small), S("objects_too_large", large),
    S("masks_perhaps_inverted", inverted), S("backgrounds_with_a_class", with_class),
    S("backgrounds_that_were_the_target", own),
    SPOT_QUANTITIES_END
};

static const spot_quantity suite_range[] = { S("range", range), SPOT_QUANTITIES_END };
#undef S

static const spot_quantity suite[] = {
    SPOT_BEHIND(NULL, results, suite, suite_key), SPOT_COMPUTED("choice", SPOT_AS_TEXT, choice_name),
    SPOT_BEHIND(NULL, results, suite, suite_counts), SPOT_COMPUTED("blends_below_realness", SPOT_AS_INT, count_unreal),
    SPOT_BEHIND(NULL, results, suite, suite_range),
    SPOT_QUANTITIES_END
};

/* ---- a model's lists ---- */

typedef struct {
    const results *r;
    const spot_background_result  *u;
    const spot_background_summary *s;
} model_row;

static const model_row *model_of(const void *row) { return row; }

typedef struct { const char *name; int pictures, right; spot_interval accuracy; } set_row;

static long count_sets(const void *row) { return (void)row, SPOT_BACKGROUND_SETS; }

static bool get_set(void *out, const void *row, long i)
{
    const spot_background_result *u = model_of(row)->u;
    set_row v = { .name = spot_background_set_name((int)i), .accuracy = model_of(row)->s->accuracy[i] };

    for (int k = 0; k < u->classes; k++) v.pictures += u->count[i][k], v.right += u->right[i][k];
    memcpy(out, &v, sizeof v);
    return v.pictures;
}

static const spot_quantity set[] = {
    SPOT_QUANTITY("set", set_row, name), SPOT_QUANTITY("pictures", set_row, pictures), SPOT_QUANTITY("right", set_row, right),
    SPOT_QUANTITY("accuracy", set_row, accuracy),
    SPOT_QUANTITIES_END
};

typedef struct { const spot_background_result *u; const char *name; int matrix; } matrix_row;
typedef struct { const char *name; double value; } feature_row;

static long count_features(const void *row) { return (void)row, SPOT_BACKGROUND_FEATURES; }

static bool get_feature(void *out, const void *row, long i)
{
    const matrix_row *m = row;

    *(feature_row *)out = (feature_row){ spot_variance_names[i], m->u->feature[m->matrix][i] };
    return true;
}

static const spot_quantity feature[] = {
    SPOT_QUANTITY("feature", feature_row, name), SPOT_QUANTITY("value", feature_row, value), SPOT_QUANTITIES_END
};

static const spot_quantity matrix[] = {
    SPOT_QUANTITY("of", matrix_row, name),
    SPOT_ROWS("features", SPOT_AS_KEYED, feature, feature_row, count_features, get_feature, .bare = true),
    SPOT_QUANTITIES_END
};

static long count_matrices(const void *row) { return (void)row, SPOT_BACKGROUND_MATRICES; }

static bool get_matrix(void *out, const void *row, long i)
{
    *(matrix_row *)out = (matrix_row){ model_of(row)->u, spot_background_matrix_name((int)i), (int)i };
    return model_of(row)->u->has[i];
}

typedef struct { double above, share; } coverage_row;

static long count_coverages(const void *row) { return model_of(row)->u->channels ? SPOT_COVERAGES : 0; }

static bool get_coverage(void *out, const void *row, long i)
{
    *(coverage_row *)out = (coverage_row){ spot_coverage_at[i], model_of(row)->u->coverage[i] };
    return true;
}

static const spot_quantity coverage[] = {
    SPOT_QUANTITY("above", coverage_row, above), SPOT_QUANTITY("share", coverage_row, share), SPOT_QUANTITIES_END
};

/* ---- classes ---- */

typedef struct {
    const spot_background_result *u;
    int cls, targets;
    const char *name;
    spot_interval turned, steady;
} class_row;

typedef struct { const char *name; spot_interval accuracy; } class_set_row;

static long count_classes(const void *row) { return model_of(row)->u->classes; }

static bool get_class(void *out, const void *row, long i)
{
    const spot_background_result *u = model_of(row)->u;
    const int targets = u->count[SPOT_SET_ORIGINAL][i];

    *(class_row *)out = (class_row){ u, (int)i, targets, model_of(row)->r->suite->class_name[i],
                                     spot_share_of(u->turned[i], u->right[SPOT_SET_ORIGINAL][i]),
                                     spot_share_of(u->steady[i], targets) };
    return true;
}

/* Blends of one target are alike: of the suite there is no interval of a class. */
static bool get_class_set(void *out, const void *row, long i)
{
    const class_row *k = row;
    const int count = k->u->count[i][k->cls], right = k->u->right[i][k->cls];
    class_set_row *v = out;

    v->name = spot_background_set_name((int)i);
    v->accuracy = i == SPOT_SET_SUITE ? (spot_interval){ (double)right / count, NAN, NAN } : spot_share_of(right, count);
    return count;
}

static const spot_quantity class_set[] = {
    SPOT_QUANTITY("set", class_set_row, name), SPOT_QUANTITY("accuracy", class_set_row, accuracy), SPOT_QUANTITIES_END
};

static const spot_quantity class_[] = {
    SPOT_QUANTITY("class", class_row, name), SPOT_QUANTITY("targets", class_row, targets),
    SPOT_ROWS(NULL, SPOT_AS_KEYED, class_set, class_set_row, count_sets, get_class_set, .bare = true),
    SPOT_QUANTITY("turned", class_row, turned), SPOT_QUANTITY("worst_case", class_row, steady),
    SPOT_QUANTITIES_END
};

/* ---- worst pairs ---- */

typedef struct { const char *target, *background, *cls, *answer; float confidence, distance; } pair_row;

static long count_worst(const void *row) { return model_of(row)->s->worst_pairs; }

static bool get_worst(void *out, const void *row, long i)
{
    const spot_background_suite *s = model_of(row)->r->suite;
    const spot_worst_pair *w = &model_of(row)->s->worst[i];

    *(pair_row *)out = (pair_row){ s->target[w->target], s->background[w->background], s->class_name[s->cls[w->target]],
                                   w->answer >= 0 ? s->class_name[w->answer] : "another class", w->confidence, w->distance };
    return true;
}

static const spot_quantity worst[] = {
#define S(name, field) SPOT_QUANTITY(name, pair_row, field)
    S("target", target), S("background", background), S("class", cls), S("answer", answer), S("confidence", confidence),
    S("distance", distance), SPOT_QUANTITIES_END
#undef S
};

/* ---- a model ---- */

static const spot_quantity identity[] = {
#define S(name, ...) SPOT_QUANTITY(name, spot_background_result, __VA_ARGS__)
    S("unit", index), S("model", name, .title = "model"), S("identity", identity), S("outputs", outputs),
    S("embedding", dim), S("channels", channels),
    SPOT_QUANTITIES_END
};

static const spot_quantity left_out[] = { S("images_left_out_of_matrices", left_out), SPOT_QUANTITIES_END };
#undef S

static void planted_reliance(spot_quantity_value *v, const void *row)
{
    const double reliance = model_of(row)->r->cfg->model[model_of(row)->u->index].reliance;

    if (reliance >= 0) v->value = reliance;
}

/* The numbers that a user reads first; those with a dot are in JSON's "sets". */
static const spot_quantity summary[] = {
#define S(name, field, unit_, ...) \
    SPOT_QUANTITY(name, spot_background_summary, field, .unit = SPOT_UNIT_##unit_, __VA_ARGS__)
#define SET(set, k, place_, about_) S("sets." set ".accuracy", accuracy[k], SHARE, .title = set, \
                                      .place = SPOT_SHOWN_##place_, .direction = SPOT_HIGHER_IS_BETTER, .about = about_)
    S("accuracy", accuracy[SPOT_SET_ORIGINAL], SHARE, .title = "original", .direction = SPOT_HIGHER_IS_BETTER,
      .about = "accuracy on the pictures as they are"),
    S("accuracy_in_another_order", reordered, SHARE, .optional = true),
    SET("suite", SPOT_SET_SUITE, WIDE, "accuracy on the backgrounds of the suite"),
    S("lost_on_the_suite", lost, POINTS, .title = "lost", .place = SPOT_SHOWN_MORE, .direction = SPOT_LOWER_IS_BETTER,
      .about = "original less suite"),
    S("turned_by_some_background", turned, SHARE, .title = "turned", .direction = SPOT_LOWER_IS_BETTER,
      .about = "objects right in the original that some background of the suite turns"),
    S("worst_case_accuracy", steady, SHARE, .title = "worst case", .place = SPOT_SHOWN_WIDE,
      .direction = SPOT_HIGHER_IS_BETTER,
      .about = "objects right in the original and on every background of the suite"),
    S("bg_gap", gap, POINTS, .title = "BG-gap", .direction = SPOT_LOWER_IS_BETTER,
      .about = "mixed-same less mixed-rand"),
    SET("mixed-same", SPOT_SET_MIXED_SAME, WIDE, "accuracy on a background of the object's own class"),
    SET("mixed-rand", SPOT_SET_MIXED_RAND, WIDE, "accuracy on a background of any class"),
    SET("mixed-next", SPOT_SET_MIXED_NEXT, MORE, "accuracy on a background of the next class"),
    SET("only-fg", SPOT_SET_ONLY_FG, WIDE, "accuracy on the object before black"),
    SET("no-fg", SPOT_SET_NO_FG, WIDE, "accuracy on the background, the object black"),
    SET("plain", SPOT_SET_PLAIN, MORE, "accuracy on the object before grey"),
    SET("noise", SPOT_SET_NOISE, MORE, "accuracy on the object before noise"),
    SET("blurred", SPOT_SET_BLURRED, MORE, "accuracy on the object before its own background, blurred"),
#undef SET
#undef S
    SPOT_QUANTITIES_END
};

static const spot_quantity model[] = {
    SPOT_BEHIND(NULL, model_row, u, identity),
    SPOT_BEHIND(NULL, model_row, s, summary),
    SPOT_COMPUTED("planted_reliance", SPOT_AS_REAL, planted_reliance, .title = "planted", .digits = 2, .optional = true,
                  .place = SPOT_SHOWN_WIDE, .about = "planted reliance on the background, 0 to 1"),
    SPOT_ROWS("sets", SPOT_AS_KEYED, set, set_row, count_sets, get_set),
    SPOT_ROWS("matrices", SPOT_AS_LIST, matrix, matrix_row, count_matrices, get_matrix),
    SPOT_ROWS("neuron_coverage", SPOT_AS_LIST, coverage, coverage_row, count_coverages, get_coverage),
    SPOT_BEHIND(NULL, model_row, u, left_out),
    SPOT_ROWS("classes", SPOT_AS_LIST, class_, class_row, count_classes, get_class),
    SPOT_ROWS("worst_pairs", SPOT_AS_LIST, worst, pair_row, count_worst, get_worst),
    SPOT_QUANTITIES_END
};

static long count_models(const void *root) { return ((const results *)root)->units; }

static bool get_model(void *out, const void *root, long i)
{
    const results *r = root;

    *(model_row *)out = (model_row){ r, &r->unit[i], &r->summary[i] };
    return true;
}

const spot_quantity spot_background_models = SPOT_ROWS("models", SPOT_AS_LIST, model, model_row, count_models, get_model,
                                                       .title = "Models");

/* ---- planted models ---- */

static const spot_quantity rank[] = {
#define S(name_, ...) SPOT_QUANTITY(name_, spot_zoo_rank, __VA_ARGS__)
    S("measure", name, .title = "measure"), S("models", models),
    S("with_planted_reliance", planted, .title = "with planted reliance", .digits = 2),
    S("with_learned_reliance", learned, .title = "with learned reliance", .digits = 2),
#undef S
    SPOT_QUANTITIES_END
};

static long count_ranks(const void *root) { return ((const results *)root)->ranks; }

/* The measures without matrices come first, and those of matrices have a comma. */
static long count_first_ranks(const void *root)
{
    const results *r = root;
    int n = 0;

    while (n < r->ranks && !strchr(r->rank[n].name, ',')) n++;
    return n;
}

static bool get_rank(void *out, const void *root, long i)
{
    memcpy(out, &((const results *)root)->rank[i], sizeof(spot_zoo_rank));
    return true;
}

const spot_quantity spot_background_ranks = SPOT_ROWS("rank_correlations", SPOT_AS_LIST, rank, spot_zoo_rank,
                                                      count_first_ranks, get_rank, .title = "Rank correlations");

/* ---- pictures and right answers ---- */

typedef struct { const char *model, *set, *cls; int pictures, right; } count_row;

static long count_counts(const void *root)
{
    const results *r = root;

    return (long)r->units * SPOT_BACKGROUND_SETS * r->suite->classes;
}

static bool get_count(void *out, const void *root, long i)
{
    const results *r = root;
    const int cls = (int)(i % r->suite->classes), k = (int)(i / r->suite->classes % SPOT_BACKGROUND_SETS);
    const spot_background_result *u = &r->unit[i / r->suite->classes / SPOT_BACKGROUND_SETS];

    *(count_row *)out = (count_row){ u->name, spot_background_set_name(k), r->suite->class_name[cls], u->count[k][cls],
                                     u->right[k][cls] };
    return u->count[k][cls];
}

static const spot_quantity count[] = {
#define S(name, field) SPOT_QUANTITY(name, count_row, field)
    S("model", model), S("set", set), S("class", cls), S("pictures", pictures), S("right", right), SPOT_QUANTITIES_END
#undef S
};

const spot_quantity spot_background_counts = SPOT_ROWS("counts", SPOT_AS_LIST, count, count_row, count_counts, get_count);

/* ---- the document ---- */

static const spot_quantity parts[] = {
    SPOT_BEHIND("settings", results, cfg, settings), SPOT_HERE("suite", suite),
    SPOT_ROWS("models", SPOT_AS_LIST, model, model_row, count_models, get_model),
    SPOT_ROWS("rank_correlations", SPOT_AS_LIST, rank, spot_zoo_rank, count_ranks, get_rank, .optional = true),
    SPOT_QUANTITIES_END
};

const spot_quantity spot_background_parts[] = {
    SPOT_BEHIND(NULL, spot_background_account, r, parts),
    SPOT_QUANTITY("summary", spot_background_account, summary), SPOT_QUANTITY("notes", spot_background_account, notes),
    SPOT_QUANTITY("not_the_papers", spot_background_account, differs),
    SPOT_QUANTITIES_END
};
