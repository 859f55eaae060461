/* answers_read.c - the classifier's answers: probabilities of all classes or of one, logits, losses. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/greatest.h"
#include "discover/subject/subject_memory.h"
#include "discover/subject/subject_reading.h"

static const float ROUNDING = 1e-6f;       /* how far a softmax in floats may leave 0..1 */

/* -- numbers in floats, with the answer that they have in doubles ------------------------------------------------ */

static int first_greatest(const double *v, int n)
{
    int best = 0;

    for (int k = 1; k < n; k++)
        if (v[k] > v[best]) best = k;
    return best;
}

/* v (n): numbers that become floats; said (n): the same as the file has them. One that becomes the same float as the greatest
 * and is less in the file goes one step down, so that the answer stays, in any order of the columns, and ties stay ties. */
static void keep_answer(double *v, const double *said, int n)
{
    const int best = first_greatest(said, n);
    const float most = (float)v[best];

    for (int k = 0; k < n; k++)
        if ((float)v[k] >= most && said[k] < said[best]) v[k] = (double)nextafterf(most, -INFINITY);
}

/* Logits as probabilities: softmax where a row has one class, else the sigmoid of each. */
static void from_logits(double *v, int n, bool softmax)
{
    const double most = v[first_greatest(v, n)];
    double sum = 0;

    for (int k = 0; k < n && !softmax; k++) v[k] = spot_sigmoid(v[k]);
    if (!softmax) return;
    for (int k = 0; k < n; k++) sum += v[k] = exp(v[k] - most);
    for (int k = 0; k < n; k++) v[k] /= sum;
}

/* One number a row: rounding takes none across 1/2. */
static double on_its_side(double v)
{
    return (float)v != 0.5f || v == 0.5 ? v : (double)nextafterf(0.5f, v > 0.5 ? 1 : 0);
}

/* Each row has one class, by its labels; one-hot ones say so too where logits have no sum that could. */
static bool has_one_class(const spot_rows_reading *r) { return !r->s->has || (r->one_hot && r->files->logits); }

/* Changes the doubles of an F64 array, or the floats of another one, in place, row by row; row (2 columns) is scratch. */
static void change_rows(const spot_rows_reading *r, double *wide, float *narrow, int columns, double *row)
{
    const bool logits = r->files->logits, softmax = has_one_class(r);
    double *v = wide, *said = row + columns, one = 0;

    for (int i = 0; i < r->s->n; i++) {
        if (wide) v = wide + (size_t)i * (size_t)columns;
        else {
            v = row;
            for (int k = 0; k < columns; k++) v[k] = narrow[(size_t)i * (size_t)columns + (size_t)k];
        }
        if (columns == 1) {
            one = logits ? spot_sigmoid(*v) : *v;
            *v = logits && one == 0.5 ? *v > 0 ? (double)nextafterf(0.5f, 1) : *v < 0 ? (double)nextafterf(0.5f, 0) : 0.5
                                      : on_its_side(one);
        } else {
            if (logits) memcpy(said, v, (size_t)columns * sizeof *said), from_logits(v, columns, softmax);
            if (softmax || r->one_hot) keep_answer(v, logits ? said : v, columns);
        }
        for (int k = 0; !wide && k < columns; k++) narrow[(size_t)i * (size_t)columns + (size_t)k] = (float)v[k];
    }
}

static void round_in(float *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] > 1 && p[i] <= 1 + ROUNDING) p[i] = 1;
        if (p[i] < 0 && p[i] >= -ROUNDING) p[i] = 0;
    }
}

/* a's probabilities as floats. */
static spot_status take_floats(spot_rows_reading *r, float **p, spot_array *a)
{
    const int columns = a->rank == 2 ? (int)a->dim[1] : 1;
    const bool wide = a->type == SPOT_F64 && r->files->probs, change = wide || (r->files->probs && r->files->logits);
    const size_t count = a->count;
    double *row = NULL;
    spot_status s = SPOT_OK;

    if (a->type != SPOT_WORDS) SPOT_TRY(spot_bad_values(r, a, FLT_MAX));
    if (change) {
        row = malloc(2 * (size_t)columns * sizeof *row);
        if (!row) return spot_fail(r->c, SPOT_NOMEM, "no memory for a row of %s", a->name);
    }
    if (wide) change_rows(r, a->data, NULL, columns, row);
    s = spot_rows_floats(r, p, a);
    if (!s && change && !wide) change_rows(r, NULL, *p, columns, row);
    if (!s) round_in(*p, count);
    free(row);
    return s;
}

/* -- one number a row -------------------------------------------------------------------------------------------- */

/* Logs that a probability below 0.5 counts as wrong, since without the other classes the largest is not known. */
static spot_status log_half(const spot_rows_reading *r, const char *name, const char *what)
{
    spot_log(r->c, SPOT_LOG_INFO, "%s: %s; a row below 1/2 counts as wrong, one of exactly 1/2 as right, since the "
             "probabilities of other classes are not known", name, what);
    return SPOT_OK;
}

/* One probability per row of two classes: of the class that the column is called as, else of class 1. */
static spot_status from_one_of_two(spot_rows_reading *r, float *p, const char *name, int cls)
{
    spot_subject *s = r->s;
    const int of = cls == 0 ? 0 : 1;
    int halves = 0;

    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->prob, 2 * (size_t)s->n));
    for (int i = 0; i < s->n; i++) {
        halves += p[i] == 0.5f;
        s->prob[2 * i + of] = p[i];
        s->prob[2 * i + 1 - of] = 1 - p[i];
        s->confidence[i] = s->prob[2 * i + s->target[i]];
    }
    spot_log(r->c, SPOT_LOG_INFO, "%s: one probability per row and two classes: taken as the probability of class %s%s", name,
             s->class_name ? s->class_name[of] : of ? "1" : "0", cls < 0 ? "" : ", as the column is called");
    if (halves)
        spot_log(r->c, SPOT_LOG_INFO, "%s: %d of %d rows are ties of exactly 1/2, which answer class %s, the first of the "
                 "two", name, halves, s->n, s->class_name ? s->class_name[0] : "0");
    return SPOT_OK;
}

/* One probability per row: if there are more than two classes, of the true class. */
static spot_status from_column(spot_rows_reading *r, float *p, const spot_array *a)
{
    spot_subject *s = r->s;
    const char *name = a->name;
    int cls;

    if (s->has && r->one_hot) SPOT_TRY(spot_labels_of_one_class(r, "beside one probability per row"));
    if (s->has)
        return spot_fail(r->c, SPOT_INPUT, "{probability.columns} %s has one probability per row, but %s gives a row any of %d "
                         "classes; give one probability for each class", name, r->files->labels, s->classes);
    if (r->files->logits && s->classes != 2)
        return spot_fail(r->c, SPOT_INPUT, "{probability.logit} %s has one logit per row, and there are %d classes; give the "
                         "logits of all classes", name, s->classes);
    for (int i = 0; i < s->n; i++)
        if (!(p[i] >= 0 && p[i] <= 1))
            SPOT_TRY(spot_bad_row(r, i, spot_fail(r->c, SPOT_INPUT, "{probability.value} %s: row %d is %g; it must be a "
                                                  "probability from 0 to 1, not a score%s", name, i, p[i],
                                                  spot_answers_advice(p, (size_t)s->n, 1))));
    cls = spot_column_class(r, a);
    if (cls >= 0 && s->classes > 2 && s->class_name)
        return spot_fail(r->c, SPOT_INPUT, "{probability.names} %s is called as the class \"%.80s\", one of %d; give the "
                         "columns of all classes, or the probability of each row's true class under another name", name,
                         s->class_name[cls], s->classes);
    s->confidence = p;
    return s->classes == 2 ? from_one_of_two(r, p, name, cls)
         : log_half(r, name, "taken as the probability of the true class");
}

static spot_status from_losses(spot_rows_reading *r, float *loss, const char *name)
{
    spot_subject *s = r->s;

    if (s->has && r->one_hot) SPOT_TRY(spot_labels_of_one_class(r, "beside losses"));
    if (s->has)
        return spot_fail(r->c, SPOT_INPUT, "{loss.several_classes} %s: a loss concerns one class, and the rows have several; "
                         "give probabilities", name);
    for (int i = 0; i < s->n; i++) {
        if (!(loss[i] >= -ROUNDING))
            SPOT_TRY(spot_bad_row(r, i, spot_fail(r->c, SPOT_INPUT, "{loss.value} %s: row %d is %g; a cross-entropy is 0 or "
                                                  "more",
                                                  name, i, loss[i])));
        loss[i] = (float)exp(-fmax(loss[i], 0));
    }
    s->confidence = loss;
    return s->classes == 2 ? SPOT_OK : log_half(r, name, "the true class has exp(-loss)");
}

/* -- a number for each class ------------------------------------------------------------------------------------- */

static void order_columns(float *p, int n, int columns, const int *order, float *row)
{
    for (int i = 0; i < n; i++, p += columns) {
        memcpy(row, p, (size_t)columns * sizeof *row);
        for (int k = 0; k < columns; k++) p[k] = row[order[k]];
    }
}

/* Brings the columns into the order of the classes, by their names. *named: they bear some. */
static spot_status match_columns(spot_rows_reading *r, float *p, const spot_array *a, bool *named)
{
    const int columns = (int)a->dim[1];
    int *order, k = 0;
    float *row;

    SPOT_TRY(spot_columns_match(r, &order, a));
    *named = order != NULL;
    while (order && k < columns && order[k] == k) k++;
    if (order && k < columns) {
        row = malloc((size_t)columns * sizeof *row);
        if (!row) return free(order), spot_fail(r->c, SPOT_NOMEM, "no memory for a row of %s", a->name);
        order_columns(p, r->s->n, columns, order, row);
        free(row);
    }
    free(order);
    return SPOT_OK;
}

static spot_status check_columns(spot_rows_reading *r, int columns, const char *name)
{
    spot_subject *s = r->s;
    char listed[512];

    if (columns != s->classes && r->known)
        return spot_fail(r->c, SPOT_INPUT, "%s has %d columns, the %s %d classes", name, columns, spot_rows_namer(r),
                         s->classes);
    if (columns != s->classes && r->whole) SPOT_TRY(spot_labels_as_numbers(r, columns));
    if (columns != s->classes && s->class_name)
        return spot_fail(r->c, SPOT_INPUT, "{probability.columns} %s has %d columns, %s has %d classes: %s; each class needs a "
                         "column, and without names of columns each column a row of its class", name, columns, r->files->labels,
                         s->classes, spot_words_listed(listed, s->class_name, s->classes));
    if (columns != s->classes && s->has)
        return spot_fail(r->c, SPOT_INPUT, "{probability.columns} %s has %d columns, %s has %d classes", name, columns,
                         r->files->labels, s->classes);
    for (int i = 0; s->target && i < s->n; i++)
        if (s->target[i] >= columns)
            return spot_fail(r->c, SPOT_INPUT, "{labels.class} %s: row %d has class %d, %s has columns for %d classes, "
                             "numbered from 0", r->files->labels, i, s->target[i], name, columns);
    s->classes = columns;
    return SPOT_OK;
}

static spot_status from_matrix(spot_rows_reading *r, float *p, const spot_array *a)
{
    spot_subject *s = r->s;
    const int columns = (int)a->dim[1];
    bool named;

    if (s->has && r->one_hot && spot_answers_sum_to_1(r, p, columns))
        SPOT_TRY(spot_labels_of_one_class(r, r->files->logits ? "beside logits" : "beside probabilities that sum to 1"));
    if (s->has && r->one_hot && !r->soft)
        spot_log(r->c, SPOT_LOG_INFO, "%s: one 1 in each row, but the rows of %s do not sum to 1: read as rows that may have "
                 "several classes, each answered by its probability of 1/2 or more", r->files->labels, a->name);
    if (s->has && r->soft)
        return spot_fail(r->c, SPOT_INPUT, "{labels.shares} %s: %d rows are shares of classes, and the rows of %s do not sum "
                         "to 1; give labels of 0 and 1", r->files->labels, r->soft, a->name);
    SPOT_TRY(match_columns(r, p, a, &named));
    SPOT_TRY(check_columns(r, columns, a->name));
    s->prob = p;
    if (s->target && s->class_name && !r->known && !named)
        spot_log(r->c, SPOT_LOG_INFO, "%s: its columns are taken as the words of %s sorted by %s: \"%.80s\" first, "
                 "\"%.80s\" last", a->name, r->files->labels,
                 spot_labels_by_number(s->class_name, columns) ? "number" : "name", s->class_name[0],
                 s->class_name[columns - 1]);
    if (s->target) SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->confidence, s->n));
    for (int i = 0; s->target && i < s->n; i++) s->confidence[i] = p[(size_t)i * (size_t)columns + (size_t)s->target[i]];
    return spot_answers_check(r, a->name);
}

spot_status spot_answers_read(spot_rows_reading *r, spot_array *a)
{
    const char *where = r->files->probs ? r->files->probs : r->files->losses;
    float *p;

    if (r->known && !where && !r->files->class_name) return SPOT_SUBJECT_TAKE(r->c, r->s, r->s->confidence, r->s->n);
    if (!r->files->probs == !r->files->losses)
        return spot_fail(r->c, SPOT_INPUT, "{subject.no_answers} the classifier's answer for each row is missing: give "
                         "probabilities or losses, one of the two");
    SPOT_TRY(spot_rows_array(r, a, where, r->files->probs ? 2 : 1));
    SPOT_TRY(take_floats(r, &p, a));
    if (r->files->losses) return from_losses(r, p, a->name);
    if (r->files->logits)
        spot_log(r->c, SPOT_LOG_INFO, "%s: logits, taken as probabilities by %s in double precision", a->name,
                 a->rank == 2 && has_one_class(r) ? "softmax" : "the sigmoid");
    return a->rank == 1 ? from_column(r, p, a) : from_matrix(r, p, a);
}
