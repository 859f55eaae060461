/* answers_check.c - probabilities of all classes: each row checked; ties, and columns that may be exchanged, told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/greatest.h"
#include "discover/subject/subject_memory.h"
#include "discover/subject/subject_reading.h"

enum { LEAST = 10, NAMED = 5 };            /* rows of a class that tell about its column; classes that are named */

bool spot_answers_sum_to_1(const spot_rows_reading *r, const float *p, int columns)
{
    int stay = 0, good = 0;

    for (int i = 0; i < r->s->n; i++) {
        if (spot_row_is_left_out(r, i)) continue;
        stay++;
        good += spot_probs_sum_to_1(p + (size_t)i * (size_t)columns, columns);
    }
    return 2 * (int64_t)good > stay;
}

/* Whether row i is good: each number from 0 to 1, and a sum of 1 where it has one class. *tie: the greatest is there twice. */
static bool look_at_row(const spot_subject *s, int i, uint8_t *tie)
{
    const int classes = s->classes;
    const float *p = s->prob + (size_t)i * (size_t)classes;
    float most = p[0];
    double sum = 0;
    int equal = 0;
    bool good = true;

    for (int k = 0; k < classes; k++) {
        good = good && p[k] >= 0 && p[k] <= 1;
        sum += p[k];
        equal = p[k] > most ? 1 : equal + (p[k] == most);
        most = p[k] > most ? p[k] : most;
    }
    *tie = equal > 1;
    return good && (!s->target || fabs(sum - 1) <= 1e-3 || spot_probs_sum_to_1(p, classes));
}

/* -- columns that may be exchanged ------------------------------------------------------------------------------- */

typedef struct { int cls, answer; } class_answer;

static int by_class(const void *a, const void *b)
{
    const class_answer *x = a, *y = b;

    if (x->cls != y->cls) return x->cls < y->cls ? -1 : 1;
    return x->answer < y->answer ? -1 : x->answer > y->answer;
}

/* The most frequent answer to the n rows of a class, its own where none is more frequent. */
static int usual_answer(const class_answer *v, int n)
{
    int best = v[0].cls, most = 0;

    for (int i = 0; i < n; i++) most += v[i].answer == v[i].cls;
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && v[end].answer == v[i].answer; end++) { }
        if (end - i > most) most = end - i, best = v[i].answer;
    }
    return best;
}

static const char *name_of(char text[96], const spot_subject *s, int k)
{
    if (s->class_name) snprintf(text, 96, "\"%.80s\"", s->class_name[k]);
    else snprintf(text, 96, "%d", k);
    return text;
}

static void tell_exchanged(const spot_rows_reading *r, const class_answer *v, int n, const char *file)
{
    char list[800] = "", own[96], other[96];
    size_t used = 0;
    int odd = 0;

    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && v[end].cls == v[i].cls; end++) { }
        const int usual = usual_answer(v + i, end - i);
        if (end - i < LEAST || usual == v[i].cls) continue;
        if (++odd > NAMED) continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (most often %s)", odd > 1 ? ", " : "",
                                 name_of(own, r->s, v[i].cls), name_of(other, r->s, usual));
    }
    if (odd)
        spot_log(r->c, SPOT_LOG_WARN, "%s: on their own rows the column of %d of %d classes is not the best: %s%s; are columns "
                 "exchanged, or were these classes never learned?", file, odd, r->s->classes, list, odd > NAMED ? ", and "
                 "others" : "");
}

static spot_status look_for_exchanged(const spot_rows_reading *r, const char *file)
{
    const spot_subject *s = r->s;
    class_answer *v = malloc((size_t)s->n * sizeof *v);
    int n = 0;

    if (!v) return spot_fail(r->c, SPOT_NOMEM, "no memory for the answers of %s", file);
    for (int i = 0; i < s->n; i++)
        if (!spot_row_is_left_out(r, i)) v[n++] = (class_answer){ s->target[i], spot_subject_predicted(s, i) };
    qsort(v, (size_t)n, sizeof *v, by_class);
    tell_exchanged(r, v, n, file);
    free(v);
    return SPOT_OK;
}

/* -- all --------------------------------------------------------------------------------------------------------- */

enum { TIE = 1, ODD = 2 };

spot_status spot_answers_check(spot_rows_reading *r, const char *name)
{
    const spot_subject *s = r->s;
    const spot_subject_words called = { .prob = name, .confidence = name };
    uint8_t *seen = malloc((size_t)s->n);
    spot_status how = SPOT_OK;
    int ties = 0;

    if (!seen) return spot_fail(r->c, SPOT_NOMEM, "no memory for %d rows of %s", s->n, name);
#pragma omp parallel for num_threads(r->c->threads > 0 ? r->c->threads : 1) schedule(static)
    for (int i = 0; i < s->n; i++)
        if (!look_at_row(s, i, &seen[i])) seen[i] = ODD;
    for (int i = 0; i < s->n && !how; i++) {
        if (spot_row_is_left_out(r, i)) continue;
        if (seen[i] == ODD) how = spot_bad_row(r, i, spot_subject_check_answer(r->c, s, (size_t)i, &called));
        else ties += seen[i];
    }
    free(seen);
    if (how || !s->target) return how;
    if (ties)
        spot_log(r->c, SPOT_LOG_INFO, "%s: %d of %d rows are ties, where several classes have the greatest probability; the "
                 "first of them is the answer, as argmax of numpy has it", name, ties, s->n);
    return r->files->labels ? look_for_exchanged(r, name) : SPOT_OK;
}
