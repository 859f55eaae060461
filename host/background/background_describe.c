/* background_describe.c - the numbers of a study of backgrounds, each described once: for background.json, the tables and the
 * page. A new number of a model is a row here. A list's rows have the type that SPOT_ROWS or SPOT_BEHIND names before it; the
 * document's root is a spot_background_account, the tables' a spot_background_results. */
#include <math.h>
#include <string.h>

#include "background/background_study.h"
#include "result/result.h"
#include "spotter/model.h"
#include "spotter/verdict.h"
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

/* ---- a model's lists: in JSON alone ---- */

typedef struct {
    const results *r;
    const spot_background_result  *u;
    const spot_background_summary *s;
} model_row;

static const model_row *model_of(const void *row) { return row; }

static void put_sets(spot_json *j, const void *row)
{
    const spot_background_result *u = model_of(row)->u;

    spot_json_object(j, "sets");
    for (int k = 0; k < SPOT_BACKGROUND_SETS; k++) {
        int count = 0, right = 0;
        for (int i = 0; i < u->classes; i++) count += u->count[k][i], right += u->right[k][i];
        if (!count) continue;
        spot_json_object(j, spot_background_set_name(k));
        spot_json_put_int(j, "pictures", count);
        spot_json_put_int(j, "right", right);
        spot_json_put_interval(j, "accuracy", model_of(row)->s->accuracy[k]);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_dependence(spot_json *j, const void *row)
{
    static const char *const name[] = { "unknown", "not shown", "shown" };
    const spot_background_summary *m = model_of(row)->s;
    char words[120];

    spot_json_object(j, "dependence_on_the_background");
    spot_json_put_text(j, "verdict", name[m->dependence]);
    spot_json_put_text(j, "words", spot_background_dependence_words(words, sizeof words, m));
    spot_json_end(j);
}

static void put_matrices(spot_json *j, const void *row)
{
    const spot_background_result *u = model_of(row)->u;

    spot_json_array(j, "matrices", 0, 0);
    for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++) {
        if (!u->has[k]) continue;
        spot_json_object(j, NULL);
        spot_json_put_text(j, "of", spot_background_matrix_name(k));
        spot_json_object(j, "features");
        for (int i = 0; i < SPOT_BACKGROUND_FEATURES; i++) spot_json_put_real(j, spot_variance_names[i], u->feature[k][i]);
        spot_json_end(j);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_array(j, "neuron_coverage", 0, 0);
    for (int k = 0; k < SPOT_COVERAGES && u->channels; k++) {
        spot_json_object(j, NULL);
        spot_json_put_real(j, "above", spot_coverage_at[k]);
        spot_json_put_real(j, "share", u->coverage[k]);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_put_int(j, "images_left_out_of_matrices", u->left_out);
}

/* Blends of one target are alike: of the suite there is no interval of a class. */
static void put_classes(spot_json *j, const void *row)
{
    const spot_background_result *u = model_of(row)->u;

    spot_json_array(j, "classes", u->classes, u->classes);
    for (int i = 0; i < u->classes; i++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "class", model_of(row)->r->suite->class_name[i]);
        spot_json_put_int(j, "targets", u->count[SPOT_SET_ORIGINAL][i]);
        for (int k = 0; k < SPOT_BACKGROUND_SETS; k++)
            if (u->count[k][i])
                spot_json_put_interval(j, spot_background_set_name(k), k == SPOT_SET_SUITE
                                       ? (spot_interval){ (double)u->right[k][i] / u->count[k][i], NAN, NAN }
                                       : spot_share_of(u->right[k][i], u->count[k][i]));
        spot_json_put_interval(j, "turned", spot_share_of(u->turned[i], u->right[SPOT_SET_ORIGINAL][i]));
        spot_json_put_interval(j, "worst_case", spot_share_of(u->steady[i], u->count[SPOT_SET_ORIGINAL][i]));
        spot_json_end(j);
    }
    spot_json_end(j);
}

/* The blends on which an object that the model knows is taken for something else, the surest answers first. */
static void put_worst(spot_json *j, const void *row)
{
    const spot_background_suite *s = model_of(row)->r->suite;
    const spot_background_summary *m = model_of(row)->s;

    spot_json_array(j, "worst_pairs", 0, 0);
    for (int i = 0; i < m->worst_pairs; i++) {
        const spot_worst_pair *w = &m->worst[i];
        spot_json_object(j, NULL);
        spot_json_put_text(j, "target", s->target[w->target]);
        spot_json_put_text(j, "background", s->background[w->background]);
        spot_json_put_text(j, "class", s->class_name[s->cls[w->target]]);
        spot_json_put_text(j, "answer", w->answer >= 0 ? s->class_name[w->answer] : "another class");
        spot_json_put_real(j, "confidence", w->confidence);
        spot_json_put_real(j, "distance", w->distance);
        spot_json_end(j);
    }
    spot_json_end(j);
}

/* ---- a model ---- */

static const spot_quantity identity[] = {
#define S(name, ...) SPOT_QUANTITY(name, spot_background_result, __VA_ARGS__)
    S("unit", index), S("model", name, .title = "model"), S("identity", identity), S("outputs", outputs),
    S("embedding", dim), S("channels", channels),
    SPOT_QUANTITIES_END
};

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
    S("turned_by_own_class", control.own, SHARE, .title = "own class", .place = SPOT_SHOWN_WIDE,
      .direction = SPOT_LOWER_IS_BETTER,
      .about = "the same objects, turned by some of as many backgrounds of their own class: the control of turned"),
    S("turned_by_as_many", control.foreign, SHARE, .title = "as many", .place = SPOT_SHOWN_MORE,
      .direction = SPOT_LOWER_IS_BETTER,
      .about = "objects that as many of the suite as there are of the own class turn, to be expected"),
    S("turned_beyond_own_class", control.beyond, POINTS, .title = "beyond own", .direction = SPOT_LOWER_IS_BETTER,
      .about = "as many less own class: what foreign backgrounds turn beyond those of the own class"),
    S("worst_case_accuracy", steady, SHARE, .title = "worst case", .place = SPOT_SHOWN_WIDE,
      .direction = SPOT_HIGHER_IS_BETTER,
      .about = "objects right in the original and on every background of the suite"),
    S("bg_gap", gap, POINTS, .title = "BG-gap", .direction = SPOT_LOWER_IS_BETTER,
      .about = "mixed-same less mixed-rand"),
    S("lost_by_blending", blending, POINTS, .title = "blending", .direction = SPOT_LOWER_IS_BETTER,
      .about = "original less mixed-same: the cost of cutting and blending alone"),
    SET("mixed-same", SPOT_SET_MIXED_SAME, WIDE, "accuracy on a background of the object's own class"),
    SET("mixed-rand", SPOT_SET_MIXED_RAND, WIDE, "accuracy on a background of any class"),
    SET("mixed-next", SPOT_SET_MIXED_NEXT, MORE, "accuracy on a background of the next class"),
    SET("only-fg", SPOT_SET_ONLY_FG, WIDE, "accuracy on the object before black"),
    S("sets.no-fg.accuracy", accuracy[SPOT_SET_NO_FG], SHARE, .title = "no-fg", .place = SPOT_SHOWN_WIDE,
      .about = "accuracy on the background, the object black; how far the class is guessed from the background"),
    S("sets.only-bg-t.accuracy", accuracy[SPOT_SET_ONLY_BG_T], SHARE, .title = "only-bg-t", .place = SPOT_SHOWN_WIDE,
      .about = "accuracy on the background, the object tiled over with its outline"),
    S("sets.only-bg-b.accuracy", accuracy[SPOT_SET_ONLY_BG_B], SHARE, .title = "only-bg-b", .place = SPOT_SHOWN_MORE,
      .about = "accuracy on the background, the object's bounding box black"),
    SET("plain", SPOT_SET_PLAIN, MORE, "accuracy on the object before grey"),
    SET("noise", SPOT_SET_NOISE, MORE, "accuracy on the object before noise"),
    SET("noise-fg", SPOT_SET_NOISE_FG, MORE, "accuracy with noise on the object's pixels"),
    SET("noise-bg", SPOT_SET_NOISE_BG, MORE, "accuracy with noise on the background's pixels"),
    S("relative_foreground_sensitivity", rfs, NUMBER, .title = "RFS", .place = SPOT_SHOWN_MORE, .digits = 2,
      .about = "relative foreground sensitivity, -1 to 1: above 0, noise on the object costs more than on the background"),
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
    SPOT_WRITTEN(put_dependence), SPOT_WRITTEN(put_sets), SPOT_WRITTEN(put_matrices), SPOT_WRITTEN(put_classes),
    SPOT_WRITTEN(put_worst),
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

/* The measures without matrices come first; only the names of matrices' features have a comma (zoo_ranks.c). The terminal
 * shows the former, the JSON all. */
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
    return u->count[k][cls];               /* a set that the study did not make has no rows */
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
