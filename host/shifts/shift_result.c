/* shift_result.c - the result of a unit as memory and as JSON. */
#include "shifts/shift_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/pointer.h"
#include "study/frame.h"

enum { MOST_CLASSES = 1000000, MOST_COLUMNS = 2 * SPOT_MAX_SHIFTS + 2 };

static bool take(void *pointer, size_t n, size_t size)
{
    void *own = calloc(n + 1, size);

    spot_pointer_put(pointer, own);
    return own != NULL;
}

static bool has_set(const spot_shift_result *r, int set)
{
    return set == SPOT_SHIFT_ALL || (set == SPOT_SHIFT_KEPT ? r->filtered : r->truth);
}

bool spot_shift_result_take(spot_shift_result *r)
{
    const size_t classes = (size_t)r->classes, columns = (size_t)r->columns, models = (size_t)r->models;
    bool whole = take(&r->column, columns, sizeof *r->column)
              && take(&r->quantile, columns * SPOT_SHIFT_QUANTILES, sizeof *r->quantile)
              && take(&r->class_name, classes, sizeof *r->class_name)
              && take(&r->class_threshold, classes, sizeof *r->class_threshold)
              && take(&r->class_cover, classes, sizeof *r->class_cover)
              && take(&r->split, classes, sizeof *r->split)
              && take(&r->answered, models, sizeof *r->answered)
              && take(&r->top, classes * SPOT_SHIFT_TOP, sizeof *r->top);

    for (int k = 0; k < SPOT_SHIFT_SETS && whole; k++)
        if (has_set(r, k))
            whole = take(&r->count[k], classes, sizeof **r->count) && take(&r->right[k], models * classes, sizeof **r->right);
    return whole;
}

void spot_shift_result_close(void *result)
{
    spot_shift_result *r = result;

    free(r->column), free(r->quantile), free(r->class_name), free(r->class_threshold), free(r->split), free(r->answered);
    free(r->top), free(r->class_cover);
    for (int k = 0; k < SPOT_SHIFT_SETS; k++) free(r->count[k]), free(r->right[k]);
    memset(r, 0, sizeof *r);
}

/* ---- JSON ---- */

static void describe_hits(spot_json *j, const char *key, spot_shift_hits *h)
{
    spot_json_object(j, key);
    spot_json_int(j, "hits", &h->hits);
    spot_json_int(j, "passed", &h->passed);
    spot_json_int(j, "there", &h->right);
    spot_json_end(j);
}

static void describe_columns(spot_json *j, spot_shift_result *r)
{
    if (spot_json_exactly(j, "similarities", r->columns))
        for (int k = 0; k < r->columns; k++) {
            spot_json_object(j, NULL);
            spot_frame_plain(j, "caption", r->column[k], sizeof *r->column);
            spot_json_reals(j, "percentiles", r->quantile + (size_t)k * SPOT_SHIFT_QUANTILES, SPOT_SHIFT_QUANTILES);
            spot_json_end(j);
        }
    spot_json_end(j);
}

static void describe_classes(spot_json *j, spot_shift_result *r)
{
    if (spot_json_exactly(j, "classes", r->classes))
        for (int k = 0; k < r->classes; k++) spot_frame_plain(j, NULL, r->class_name[k], sizeof *r->class_name);
    spot_json_end(j);
    spot_json_reals(j, "class_thresholds", r->class_threshold, r->classes);
    if (spot_json_exactly(j, "predicted_most", r->classes * SPOT_SHIFT_TOP))
        for (int k = 0; k < r->classes * SPOT_SHIFT_TOP; k++) {
            spot_json_object(j, NULL);
            spot_frame_plain(j, "class", r->top[k].name, sizeof r->top->name);
            spot_json_int(j, "answers", &r->top[k].answers);
            spot_json_end(j);
        }
    spot_json_end(j);
}

static void describe_interval(spot_json *j, const char *key, spot_interval *v)
{
    double three[] = { v->value, v->low, v->high };

    spot_json_reals(j, key, three, 3);
    *v = (spot_interval){ three[0], three[1], three[2] };
}

static void describe_cover(spot_json *j, const char *key, spot_shift_cover *v)
{
    double chance[] = { v->density_chance, v->coverage_chance, v->precision_chance, v->recall_chance };

    spot_json_object(j, key);
    spot_json_int(j, "classes", &v->classes), spot_json_int(j, "real", &v->real), spot_json_int(j, "pictures", &v->pictures);
    describe_interval(j, "density", &v->density), describe_interval(j, "coverage", &v->coverage);
    describe_interval(j, "precision", &v->precision), describe_interval(j, "recall", &v->recall);
    spot_json_reals(j, "chance", chance, 4);
    v->density_chance = chance[0], v->coverage_chance = chance[1];
    v->precision_chance = chance[2], v->recall_chance = chance[3];
    spot_json_end(j);
}

static void describe_covers(spot_json *j, spot_shift_result *r)
{
    static const char *const covers[] = { "all_cover", "kept_cover", "oracle_cover" };

    for (int k = 0; k < SPOT_SHIFT_SETS; k++)
        if (has_set(r, k)) describe_cover(j, covers[k], &r->cover[k]);
    if (spot_json_exactly(j, "class_covers", r->classes))
        for (int k = 0; k < r->classes; k++) describe_cover(j, NULL, &r->class_cover[k]);
    spot_json_end(j);
}

static void describe_sets(spot_json *j, spot_shift_result *r)
{
    static const char *const sets[] = { "all", "kept", "oracle" };

    for (int k = 0; k < SPOT_SHIFT_SETS; k++) {
        if (!has_set(r, k)) continue;
        spot_json_object(j, sets[k]);
        spot_json_ints(j, "pictures", r->count[k], r->classes);
        spot_json_ints(j, "right", r->right[k], r->classes * r->models);
        spot_json_end(j);
    }
}

static void describe_head(spot_json *j, spot_shift_result *r)
{
    spot_json_int(j, "index", &r->index), spot_json_int(j, "numbers", &r->numbers);
    spot_json_text(j, "config", r->config, sizeof r->config);
    spot_frame_plain(j, "name", r->name, sizeof r->name);
    spot_frame_plain(j, "id", r->id, sizeof r->id);
    spot_json_int(j, "source", &r->source), spot_json_int(j, "shift", &r->shift);
    spot_json_text(j, "inputs", r->inputs, sizeof r->inputs);
    spot_json_text(j, "pictures_hash", r->pictures_hash, sizeof r->pictures_hash);
    spot_frame_plain(j, "encoder", r->encoder, sizeof r->encoder);
    spot_json_int(j, "class_count", &r->classes), spot_json_int(j, "models", &r->models);
    spot_json_int(j, "columns", &r->columns);
    spot_json_int(j, "pictures", &r->pictures);
    spot_json_int(j, "pass_class", &r->pass_class), spot_json_int(j, "pass_shift", &r->pass_shift);
    spot_json_int(j, "absent", &r->absent);
    spot_json_int(j, "named", &r->named);
    spot_json_bool(j, "covers", &r->covers);
    spot_json_bool(j, "filtered", &r->filtered), spot_json_bool(j, "truth", &r->truth), spot_json_bool(j, "parts", &r->parts);
    describe_hits(j, "hits", &r->hits), describe_hits(j, "object_hits", &r->object_hits);
    describe_hits(j, "shift_hits", &r->shift_hits);
    spot_json_real(j, "threshold", &r->threshold);
}

void spot_shift_result_describe(spot_json *j, void *result)
{
    spot_shift_result *r = result;

    describe_head(j, r);
    if (!j->gen) {
        if (r->classes < 1 || r->classes > MOST_CLASSES || r->models < 0 || r->models > SPOT_MAX_SHIFT_MODELS || r->columns < 0
            || r->columns > MOST_COLUMNS) {
            j->wrong = "its sizes are not possible";
            r->classes = r->models = r->columns = 0;
            return;
        }
        if (!spot_shift_result_take(r)) {
            j->wrong = spot_frame_no_memory;
            return;
        }
    }
    describe_columns(j, r);
    describe_classes(j, r);
    spot_json_ints(j, "answered", r->answered, r->models);
    spot_json_reals(j, "split", r->split, r->classes);
    describe_sets(j, r);
    if (r->covers) describe_covers(j, r);
}

int spot_shift_kept_pictures(const spot_shift_result *u)
{
    int n = 0;

    for (int k = 0; k < u->classes && u->count[SPOT_SHIFT_KEPT]; k++) n += u->count[SPOT_SHIFT_KEPT][k];
    return n;
}

int spot_shift_compared(const spot_shifts_results *r, int source)
{
    return r->source[source].set[SPOT_SHIFT_KEPT].shifts ? SPOT_SHIFT_KEPT : SPOT_SHIFT_ALL;
}
