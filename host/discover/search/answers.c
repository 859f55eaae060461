/* answers.c - how many of the classifier's answers are right, and what that says where there are no slices. */
#include <stdio.h>
#include <stdlib.h>

#include "discover/search/search.h"
#include "discover/subject/subject_memory.h"

spot_answers spot_answers_of(const spot_subject *s, int cls)
{
    spot_answers a = { 0, 0 };

    for (int i = 0; i < s->n; i++) {
        const int from = cls >= 0 ? cls : s->target ? s->target[i] : 0, to = cls >= 0 || s->target ? from + 1 : s->classes;
        for (int k = from; k < to; k++)
            if (spot_subject_is_of(s, i, k)) a.all++, a.wrong += spot_subject_wrong(s, i, k);
    }
    return a;
}

/* ---- classes ---- */

/* A wrong row's class and the predicted one. */
typedef struct { int cls, taken; } confusion;

static int by_class(const void *a, const void *b)
{
    const confusion *x = a, *y = b;

    return x->cls != y->cls ? (x->cls > y->cls) - (x->cls < y->cls) : (x->taken > y->taken) - (x->taken < y->taken);
}

static int worst_first(const void *a, const void *b)
{
    const spot_class_errors *x = a, *y = b;
    const double p = (double)x->wrong / (double)x->rows, q = (double)y->wrong / (double)y->rows;

    return p != q ? (p < q) - (p > q) : x->wrong != y->wrong ? (x->wrong < y->wrong) - (x->wrong > y->wrong) : x->cls - y->cls;
}

/* cls (classes): sets the class that most wrong rows are taken for, the first of equal ones. all (n): confusions. */
static void find_taken(spot_class_errors *cls, confusion *all, size_t n)
{
    qsort(all, n, sizeof *all, by_class);
    for (size_t i = 0, end; i < n; i = end) {
        spot_class_errors *x = &cls[all[i].cls];
        for (end = i; end < n && !by_class(&all[i], &all[end]); end++) { }
        if ((long)(end - i) > x->taken_rows) x->taken = all[i].taken, x->taken_rows = (long)(end - i);
    }
}

static size_t count_answers(spot_class_errors *cls, confusion *all, const spot_subject *s)
{
    size_t n = 0;

    for (int k = 0; k < s->classes; k++) cls[k] = (spot_class_errors){ .cls = k, .taken = -1 };
    for (int i = 0; i < s->n; i++)
        for (int k = s->target ? s->target[i] : 0; k < (s->target ? s->target[i] + 1 : s->classes); k++) {
            if (!spot_subject_is_of(s, i, k)) continue;
            const bool wrong = spot_subject_wrong(s, i, k);
            cls[k].rows++;
            cls[k].wrong += wrong;
            if (!wrong || !s->target || spot_subject_predicted(s, i) < 0) continue;
            all[n++] = (confusion){ k, spot_subject_predicted(s, i) };
        }
    return n;
}

spot_status spot_count_classes(spot_ctx *c, spot_class_errors **cls, int *classes, const spot_subject *s)
{
    confusion *all = malloc(((size_t)s->n + 1) * sizeof *all);

    *classes = 0;
    *cls = malloc(((size_t)s->classes + 1) * sizeof **cls);
    if (all && *cls) {
        find_taken(*cls, all, count_answers(*cls, all, s));
        for (int k = 0; k < s->classes; k++)
            if ((*cls)[k].rows) (*cls)[(*classes)++] = (*cls)[k];
        qsort(*cls, (size_t)*classes, sizeof **cls, worst_first);
    }
    free(all);
    return all && *cls ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the errors of %d classes", s->classes);
}

/* ---- in words ---- */

const char *spot_findings_note(char text[SPOT_FINDINGS_NOTE], const spot_findings *f, const spot_subject *s)
{
    const bool one = f->count && f->finding[0].cls >= 0 && !f->left_out && f->finding[0].cls == f->finding[f->count - 1].cls;
    const spot_answers a = spot_answers_of(s, one ? f->finding[0].cls : SPOT_ALL_CLASSES);
    char whose[160] = "", words[150];
    int searched = 0;

    for (int i = 0; i < f->count; i++) searched += f->finding[i].wrong > 0;
    if (one && s->classes > 1)
        snprintf(whose, sizeof whose, " in %s", spot_class_words(words, sizeof words, s, f->finding[0].cls));
    *text = 0;
    if (!a.wrong) snprintf(text, SPOT_FINDINGS_NOTE, "nothing is wrong%s: %ld of %ld right", whose, a.all, a.all);
    else if (a.wrong == a.all)
        snprintf(text, SPOT_FINDINGS_NOTE, "nothing is right%s: all %ld are wrong, and no group fails more often than the rest",
                 whose, a.all);
    else if (!searched)
        snprintf(text, SPOT_FINDINGS_NOTE, "nothing was searched: the wrong ones, %ld of %ld, are in classes with too few rows",
                 a.wrong, a.all);
    return text;
}
