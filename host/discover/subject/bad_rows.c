/* bad_rows.c - rows that no method can use: named, or left out and counted. */
#include <math.h>
#include <stdlib.h>

#include "discover/subject/subject_memory.h"
#include "discover/subject/subject_reading.h"

enum { TOLD = 5 };

spot_status spot_bad_row(spot_rows_reading *r, int row, spot_status failure)
{
    if (!r->files->skip_bad || failure != SPOT_INPUT) return failure;
    if (!r->bad) SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, r->bad, r->s->n));
    if (r->bad[row]) return spot_forget(r->c), SPOT_OK;
    r->bad[row] = 1;
    if (2 * (long long)++r->left_out > r->s->n)
        return spot_fail(r->c, SPOT_INPUT, "{rows.bad} more than half of %d rows would be left out; for example: %s", r->s->n,
                         spot_take_message(r->c, failure));
    if (r->left_out <= TOLD) spot_log(r->c, SPOT_LOG_WARN, "left out: %s", spot_take_message(r->c, failure));
    else spot_forget(r->c);
    return SPOT_OK;
}

const char *spot_bad_row_advice(const spot_rows_reading *r)
{
    return r->known || r->files->skip_bad ? "" : "; --skip-bad-rows leaves such rows out";
}

/* The first value of row i that is not finite, or beyond most. */
static spot_status fail_value(spot_rows_reading *r, const spot_array *a, int i, double most)
{
    const size_t columns = a->count / (size_t)a->dim[0], first = (size_t)i * columns;
    char where[64];
    double v = 0;
    size_t k = 0;

    for (; k < columns; k++) {
        spot_array_doubles(&v, a, first + k, 1);
        if (!(fabs(v) <= most)) break;
    }
    spot_array_place(where, a, first + k);
    if (!isfinite(v))
        return spot_fail(r->c, SPOT_INPUT, "{number.value} %s: %s is %g; a finite number is wanted%s", a->name, where, v,
                         spot_bad_row_advice(r));
    return spot_fail(r->c, SPOT_INPUT, "{number.value} %s: %s is %g; numbers up to %g in size can be examined%s", a->name,
                     where,
                     v, most, spot_bad_row_advice(r));
}

spot_status spot_bad_values(spot_rows_reading *r, const spot_array *a, double most)
{
    const int n = (int)a->dim[0];
    uint8_t *bad;
    spot_status s = SPOT_OK;

    if (spot_array_first_beyond(r->c, a, most) == a->count) return SPOT_OK;
    bad = calloc((size_t)n, 1);
    if (!bad) return spot_fail(r->c, SPOT_NOMEM, "no memory for %d rows of %s", n, a->name);
    spot_array_rows_beyond(r->c, a, most, bad);
    for (int i = 0; i < n && !s; i++)
        if (bad[i]) s = spot_bad_row(r, i, fail_value(r, a, i, most));
    free(bad);
    return s;
}

spot_status spot_bad_rows_drop(spot_rows_reading *r)
{
    spot_subject *s = r->s;
    int kept = 0;

    if (!r->left_out) return SPOT_OK;
    SPOT_TRY(spot_subject_number_rows(r->c, s));
    for (int i = 0; i < s->n; i++) {
        if (r->bad[i]) continue;
        if (kept < i) spot_subject_move_row(s, kept, i);
        kept++;
    }
    spot_log(r->c, SPOT_LOG_WARN, "left out: %d of %d rows that no method can use; the others keep the numbers of the file",
             r->left_out, s->n);
    spot_subject_keep_rows(s, kept);
    return SPOT_OK;
}
