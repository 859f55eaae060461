/* subject_reading.c - arrays of a subject: their sizes, their memory, floats. */
#include "discover/subject/subject_reading.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "discover/subject/subject_memory.h"

spot_status spot_rows_room(const spot_rows_reading *r, size_t bytes, const char *name)
{
    if (!r->files->memory || r->used + bytes <= r->files->memory) return SPOT_OK;
    return spot_fail(r->c, SPOT_NOMEM, "{arrays.memory} %s: with this file the arrays take %zu bytes of memory, and %zu are "
                     "allowed", name, r->used + bytes, r->files->memory);
}

static spot_status spend(spot_rows_reading *r, size_t bytes, const char *name)
{
    SPOT_TRY(spot_rows_room(r, bytes, name));
    r->used += bytes;
    return SPOT_OK;
}

/* how->limit: of what is left of the memory. */
static spot_status read_array(spot_rows_reading *r, spot_array *a, const char *where, int most_rank, spot_array_how how)
{
    const size_t limit = r->files->memory ? r->files->memory - r->used : 0;

    how.limit = limit ? limit : r->files->memory ? 1 : 0;
    SPOT_TRY(spot_subject_array(r->c, a, r->files, where, &how, !most_rank && !r->files->skip_bad));
    SPOT_TRY(spend(r, a->count * spot_dtype_size(a->type), a->name));
    if (a->rank == 2 && a->dim[1] == 1 && most_rank) a->rank = 1;
    if (a->rank < 1 || a->rank > 2 || (most_rank == 1 && a->rank > 1) || (!most_rank && a->rank != 2))
        return spot_fail(r->c, SPOT_INPUT, "{subject.dimensions} %s has %d dimension%s; it must be %s", a->name, a->rank,
                         a->rank == 1 ? "" : "s",
                         !most_rank ? "(rows, features)" : most_rank == 1 ? "(rows)" : "(rows) or (rows, classes)");
    if (a->dim[0] < 1 || a->dim[0] > INT_MAX || (a->rank == 2 && (a->dim[1] < 1 || a->dim[1] > INT_MAX)))
        return spot_fail(r->c, SPOT_INPUT, "%s is empty, or has more than %d rows or columns", a->name, INT_MAX);
    if (r->first && a->dim[0] != r->s->n)
        return spot_fail(r->c, SPOT_INPUT, "{subject.rows} %s has %" PRId64 " rows, %s has %d: they do not belong together",
                         a->name, a->dim[0], r->first, r->s->n);
    r->s->n = (int)a->dim[0];
    if (!r->first) r->first = where;
    return SPOT_OK;
}

spot_status spot_rows_array(spot_rows_reading *r, spot_array *a, const char *where, int most_rank)
{
    return read_array(r, a, where, most_rank, (spot_array_how){ .holes = r->files->skip_bad });
}

spot_status spot_rows_cells(spot_rows_reading *r, spot_array *a, const char *where, char ***cell)
{
    SPOT_TRY(read_array(r, a, where, 1, (spot_array_how){ .text = true, .holes = true }));
    return spot_rows_words(r, a, cell);
}

spot_status spot_rows_words(spot_rows_reading *r, spot_array *a, char ***word)
{
    enum { DIGITS = 32 };
    char *text;

    if (a->type == SPOT_WORDS) {
        *word = a->data;
        a->data = NULL;
        return spot_subject_keep(r->c, r->s, *word);
    }
    SPOT_TRY(spot_subject_take(r->c, r->s, word, (size_t)r->s->n * (sizeof **word + DIGITS)));
    text = (char *)(*word + r->s->n);
    for (int i = 0; i < r->s->n; i++, text += DIGITS) {
        double v;
        spot_array_doubles(&v, a, (size_t)i, 1);
        if (a->type == SPOT_I64) snprintf(text, DIGITS, "%" PRId64, ((int64_t *)a->data)[i]);
        else                     snprintf(text, DIGITS, "%.17g", v);
        (*word)[i] = text;
    }
    return SPOT_OK;
}

const char *spot_rows_namer(const spot_rows_reading *r) { return r->files->class_name ? "class names are" : "findings have"; }

spot_status spot_rows_floats(spot_rows_reading *r, float **out, spot_array *a)
{
    if (spot_subject_lends(r->files, a->data)) {
        *out = a->data;
        return SPOT_OK;
    }
    if (spot_dtype_size(a->type) < sizeof(float)) SPOT_TRY(spend(r, a->count * sizeof(float), a->name));
    SPOT_TRY(spot_array_to_floats(r->c, out, a));
    return spot_subject_keep(r->c, r->s, *out);
}

const char *spot_words_listed(char text[512], char *const *word, int n)
{
    enum { MOST = 8 };
    size_t used = 0;

    text[0] = 0;
    for (int i = 0; i < n && i < MOST; i++)
        used += (size_t)snprintf(text + used, 512 - used, "%s\"%.*s\"", i ? ", " : "", n > 1 ? 40 : 80, word[i]);
    if (n > MOST) snprintf(text + used, 512 - used, " and %d more", n - MOST);
    return text;
}
