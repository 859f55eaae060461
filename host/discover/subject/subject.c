/* subject.c - memory, checks and rows of a subject. */
#include "spotter/subject.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/greatest.h"
#include "core/pointer.h"
#include "discover/subject/subject_memory.h"

/* -- memory: a list of blocks ----------------------------------------------------------------------------------- */

typedef struct { int count, room; void *block[]; } kept;

spot_status spot_subject_keep(spot_ctx *c, spot_subject *s, void *block)
{
    kept *k = s->owned;

    if (!k || k->count == k->room) {
        int room = k ? 2 * k->room : 16;
        kept *more = realloc(k, sizeof *k + (size_t)room * sizeof *k->block);
        if (!more) {
            free(block);
            return spot_fail(c, SPOT_NOMEM, "no memory for a list of %d blocks", room);
        }
        if (!k) more->count = 0;
        more->room = room;
        s->owned = k = more;
    }
    k->block[k->count++] = block;
    return SPOT_OK;
}

spot_status spot_subject_take(spot_ctx *c, spot_subject *s, void *out, size_t bytes)
{
    size_t whole = (bytes / 64 + 1) * 64;
    void *block = aligned_alloc(64, whole);

    spot_pointer_put(out, block);
    if (!block) return spot_fail(c, SPOT_NOMEM, "no memory for %zu bytes of the classifier under examination", bytes);
    memset(block, 0, whole);
    return spot_subject_keep(c, s, block);
}

void spot_subject_drop(spot_subject *s, const void *block)
{
    kept *k = s->owned;

    for (int i = 0; k && i < k->count; i++) {
        if (k->block[i] != block) continue;
        free(k->block[i]);
        k->block[i] = k->block[--k->count];
        return;
    }
}

void spot_subject_close(spot_subject *s)
{
    kept *k = s->owned;

    for (int i = 0; k && i < k->count; i++) free(k->block[i]);
    free(k);
    memset(s, 0, sizeof *s);
}

static void move(void *array, int to, int from, size_t bytes)
{
    if (array) memmove((char *)array + (size_t)to * bytes, (char *)array + (size_t)from * bytes, bytes);
}

void spot_subject_move_row(spot_subject *s, int to, int from)
{
    size_t classes = (size_t)s->classes;

    move(s->feature, to, from, (size_t)s->d * sizeof *s->feature);
    move(s->target, to, from, sizeof *s->target);
    move(s->has, to, from, classes);
    move(s->prob, to, from, classes * sizeof *s->prob);
    move(s->confidence, to, from, sizeof *s->confidence);
    move(s->predicted, to, from, sizeof *s->predicted);
    move(s->group, to, from, sizeof *s->group);
    move(s->id, to, from, sizeof *s->id);
    move(s->image, to, from, sizeof *s->image);
    move(s->box, to, from, 4 * sizeof *s->box);
    move(s->instance, to, from, sizeof *s->instance);
    move(s->file_row, to, from, sizeof *s->file_row);
}

spot_status spot_subject_number_rows(spot_ctx *c, spot_subject *s)
{
    if (s->file_row) return SPOT_OK;
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->file_row, s->n));
    for (int i = 0; i < s->n; i++) s->file_row[i] = i;
    return SPOT_OK;
}

void spot_subject_keep_rows(spot_subject *s, int n)
{
    s->left_out += s->n - n;
    s->n = n;
}

spot_status spot_subject_numbers(spot_ctx *c, spot_subject *s, char ***out, int n)
{
    enum { DIGITS = 12 };
    char *text;

    SPOT_TRY(spot_subject_take(c, s, out, (size_t)n * (sizeof **out + DIGITS)));
    text = (char *)(*out + n);
    for (int i = 0; i < n; i++, text += DIGITS) {
        snprintf(text, DIGITS, "%d", i);
        (*out)[i] = text;
    }
    return SPOT_OK;
}

/* -- checks ----------------------------------------------------------------------------------------------------- */

spot_status spot_subject_check_sizes(spot_ctx *c, const spot_subject *s)
{
    if (s->n < 1 || s->d < 1 || s->classes < 1 || !s->feature)
        return spot_fail(c, SPOT_INPUT, "{subject.sizes} a classifier to examine needs rows, features and classes; there are "
                         "%d, %d and %d", s->n, s->d, s->classes);
    if (!s->target == !s->has)
        return spot_fail(c, SPOT_INPUT,
                         "{subject.target_or_has} either each row has one class or each has any number of them: target or has");
    if (s->target && !s->confidence)
        return spot_fail(c, SPOT_INPUT, "{subject.no_confidence} the probability of each row's true class is not known; give "
                         "probabilities or losses");
    if (s->has && !s->prob)
        return spot_fail(c, SPOT_INPUT,
                         "{subject.no_probabilities} rows of several classes need the probability of each class: (n, classes)");
    if (!s->class_name) return spot_fail(c, SPOT_INPUT, "{subject.no_names} each class needs a name");
    return SPOT_OK;
}

/* Bits of a float without its sign: of NaN and infinity more than those of any number. */
static uint32_t size_bits(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    return bits & 0x7fffffff;
}

static spot_status check_values(spot_ctx *c, const float *v, size_t rows, size_t columns, const char *name)
{
    const uint32_t largest = size_bits(SPOT_LARGEST_FEATURE);

    for (size_t i = 0; i < rows; i++) {
        uint32_t most = 0;
        for (size_t k = 0; k < columns; k++) {
            const uint32_t bits = size_bits(v[i * columns + k]);
            most = bits > most ? bits : most;
        }
        for (size_t k = 0; most > largest && k < columns; k++)
            if (size_bits(v[i * columns + k]) > largest)
                return spot_fail(c, SPOT_INPUT, "{features.value} %s: row %zu, column %zu is %g; it must be a number up to %g "
                                 "in size", name, i, k, v[i * columns + k], SPOT_LARGEST_FEATURE);
    }
    return SPOT_OK;
}

spot_status spot_subject_check_features(spot_ctx *c, const spot_subject *s, const char *name)
{
    return check_values(c, s->feature, (size_t)s->n, (size_t)s->d, name);
}

static spot_status check_classes(spot_ctx *c, const spot_subject *s, const char *name)
{
    for (int i = 0; s->target && i < s->n; i++)
        if (s->target[i] < 0 || s->target[i] >= s->classes)
            return spot_fail(c, SPOT_INPUT, "{labels.class} %s: row %d has class %d of %d classes, which are numbered from 0",
                             name, i, s->target[i], s->classes);
    for (size_t i = 0; s->has && i < (size_t)s->n * (size_t)s->classes; i++)
        if (s->has[i] > 1)
            return spot_fail(c, SPOT_INPUT, "{labels.truth_value} %s: row %zu, column %zu is %d; it must be 0 or 1", name,
                             i / (size_t)s->classes, i % (size_t)s->classes, s->has[i]);
    return SPOT_OK;
}

static bool is_prob(float p) { return p >= 0 && p <= 1; }      /* false for NaN */

/* Four decimals may move the sum of n probabilities by 5e-5 n. bfloat16 keeps 8 bits of each number, so if all of them fit into
 * it, rounding may have moved the sum by 2^-8. */
bool spot_probs_sum_to_1(const float *p, int n)
{
    uint32_t low = 0, bits;
    double sum = 0, within = fmax(1e-3, 5.001e-5 * n);

    for (int k = 0; k < n; k++) {
        memcpy(&bits, p + k, sizeof bits);
        low |= bits & 0xffff;
        sum += p[k];
    }
    return fabs(sum - 1) <= (low ? within : within + 0x1p-8);
}

/* The end of the sentence: log-probabilities and logits are told apart by a row. */
const char *spot_answers_advice(const float *p, size_t n, int columns)
{
    static const char logits[] = "; scores before the softmax are read with --logits";
    double sum = 0;

    for (size_t i = 0; i < n * (size_t)columns; i++)
        if (p[i] > 0) return logits;
    for (int k = 0; k < columns; k++) sum += exp((double)p[k]);
    return columns == 1 || fabs(sum - 1) < 1e-2 ? "; of logarithms of probabilities give exp (numpy.exp)" : logits;
}

spot_status spot_subject_check_answer(spot_ctx *c, const spot_subject *s, size_t i, const spot_subject_words *called)
{
    const float *p = s->prob + i * (size_t)s->classes;
    double sum = 0;

    for (int k = 0; k < s->classes; k++) {
        if (!is_prob(p[k]))
            return spot_fail(c, SPOT_INPUT, "{probability.value} %s: row %zu, column %d is %g; it must be a probability from 0 "
                             "to 1, not a score%s", called->prob, i, k, p[k], spot_answers_advice(p, 1, s->classes));
        sum += p[k];
    }
    if (s->target && !spot_probs_sum_to_1(p, s->classes))
        return spot_fail(c, SPOT_INPUT, "{probability.sum} %s: the probabilities of row %zu sum to %.6g; they must sum to 1 "
                         "where each row has one class", called->prob, i, sum);
    if (s->target && fabs(p[s->target[i]] - s->confidence[i]) > 1e-3)
        return spot_fail(c, SPOT_INPUT, "{probability.contradiction} row %zu: its true class has probability %g in %s and %g "
                         "in %s", i, p[s->target[i]], called->prob, s->confidence[i], called->confidence);
    return SPOT_OK;
}

static spot_status check_prob(spot_ctx *c, const spot_subject *s, const spot_subject_words *called)
{
    for (size_t i = 0; i < (size_t)s->n; i++) {
        if (s->prob) SPOT_TRY(spot_subject_check_answer(c, s, i, called));
        if (s->confidence && !is_prob(s->confidence[i]))
            return spot_fail(c, SPOT_INPUT, "{probability.value} %s: row %zu is %g; it must be a probability from 0 to 1",
                             called->confidence, i, s->confidence[i]);
    }
    return SPOT_OK;
}

spot_status spot_subject_check_as(spot_ctx *c, const spot_subject *s, const spot_subject_words *called)
{
    SPOT_TRY(spot_subject_check_sizes(c, s));
    SPOT_TRY(spot_subject_check_features(c, s, called->feature));
    if (s->head) SPOT_TRY(check_values(c, s->head, (size_t)s->classes, (size_t)s->d, "head"));
    SPOT_TRY(check_classes(c, s, called->target));
    return check_prob(c, s, called);
}

spot_status spot_subject_check(spot_ctx *c, const spot_subject *s)
{
    return spot_subject_check_as(c, s, &(spot_subject_words){ "feature", s->has ? "has" : "target", "prob", "confidence" });
}

/* -- rows of a class -------------------------------------------------------------------------------------------- */

int spot_subject_rows(const spot_subject *s, int cls)
{
    int rows = 0;

    for (int i = 0; i < s->n; i++) rows += spot_subject_is_of(s, i, cls);
    return rows;
}

double spot_subject_error(const spot_subject *s, int i, int cls)
{
    if (s->confidence) return 1 - (double)s->confidence[i];
    return 1 - (double)s->prob[(size_t)i * (size_t)s->classes + (size_t)cls];
}

int spot_subject_predicted(const spot_subject *s, int i)
{
    if (!s->target || !s->prob) return s->target && s->predicted ? s->predicted[i] : -1;
    return spot_first_greatest(s->prob + (size_t)i * (size_t)s->classes, s->classes);
}

bool spot_subject_wrong(const spot_subject *s, int i, int cls)
{
    int predicted = spot_subject_predicted(s, i);

    return predicted < 0 ? spot_subject_error(s, i, cls) > 0.5 : predicted != s->target[i];
}

void spot_subject_outcomes(const spot_subject *s, uint8_t *wrong, int *predicted)
{
    for (int i = 0; i < s->n; i++) {
        if (wrong) wrong[i] = spot_subject_wrong(s, i, s->target[i]);
        if (predicted) predicted[i] = spot_subject_predicted(s, i);
    }
}

spot_status spot_subject_view(spot_ctx *c, spot_arena *a, spot_view *v, const spot_subject *s, int cls)
{
    size_t d = (size_t)s->d;
    int rows, k = 0;

    if (cls < -1 || cls >= s->classes)
        return spot_fail(c, SPOT_INVALID, "{class.number} there is no class %d of %d", cls, s->classes);
    if (cls < 0 && !s->confidence)
        return spot_fail(c, SPOT_INPUT,
                         "{discover.several_classes} rows have several classes at once; examine them class by class");
    rows = spot_subject_rows(s, cls);
    *v = (spot_view){ .n = rows, .d = s->d, .head = s->head && cls >= 0 ? s->head + (size_t)cls * d : NULL };
    SPOT_TRY(SPOT_TAKE(c, a, v->confidence, rows));
    SPOT_TRY(SPOT_TAKE(c, a, v->image, rows));
    if (rows == s->n) v->feature = s->feature;
    else SPOT_TRY(SPOT_TAKE(c, a, v->feature, (size_t)rows * d));
    if (a->counting) return SPOT_OK;
    for (int i = 0; i < s->n; i++) {
        if (!spot_subject_is_of(s, i, cls)) continue;
        if (rows != s->n) memcpy(v->feature + (size_t)k * d, s->feature + (size_t)i * d, d * sizeof(float));
        v->confidence[k] = s->confidence ? s->confidence[i] : s->prob[(size_t)i * (size_t)s->classes + (size_t)cls];
        v->image[k++] = i;
    }
    return SPOT_OK;
}
