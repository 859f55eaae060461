/* html_match.c - matches the rows of several models by their ids. */
#include <stdlib.h>
#include <string.h>

#include "report/page/html.h"

static int *sorted_by_id(const spot_subject *s)
{
    int *index = malloc((size_t)s->n * sizeof *index);

    if (index) spot_words_sort(index, s->id, s->n);
    return index;
}

spot_status spot_match_rows(spot_ctx *c, int *row, const spot_subject *a, const spot_subject *b, int k)
{
    int *one = NULL, *two = NULL, bad = -1, order = 0;

    if (a->n != b->n || a->classes != b->classes)
        return spot_fail(c, SPOT_INPUT, "model %d has %d rows of %d classes and the first %d of %d; side by side they must be "
                         "of the same rows", k + 1, b->n, b->classes, a->n, a->classes);
    for (int i = 0; i < a->classes; i++)
        if (strcmp(a->class_name[i], b->class_name[i]))
            return spot_fail(c, SPOT_INPUT, "{report.classes} class %d is \"%s\" of the first model and \"%s\" of model %d; "
                             "side by side they must have the same classes in the same order",
                             i, a->class_name[i], b->class_name[i], k + 1);
    if (!a->id || !b->id) {                                /* without ids the row numbers match */
        for (int i = 0; i < a->n; i++) row[i] = i;
        return SPOT_OK;
    }
    one = sorted_by_id(a);
    two = sorted_by_id(b);
    for (int i = 0; one && two && i < a->n && bad < 0; i++) {
        row[two[i]] = one[i];
        order = strcmp(a->id[one[i]], b->id[two[i]]);
        if (order) bad = i;
    }
    if (bad >= 0)                                          /* the lesser of the first two different ids has no match */
        spot_fail(c, SPOT_INPUT, "{report.rows} row \"%s\" is one of %s model and not (or not as often) of %s; side by side "
                  "they must be of the same rows",
                  order < 0 ? a->id[one[bad]] : b->id[two[bad]], order < 0 ? "the first" : "another",
                  order < 0 ? "the others" : "the first");
    free(one);
    free(two);
    if (bad >= 0) return SPOT_INPUT;
    return one && two ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to match %d rows", a->n);
}
