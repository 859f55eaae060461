/* subject_array.c - the arrays of a subject: of a file, or of the caller. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/subject_memory.h"
#include "formats/formats.h"

static const spot_array *lent_as(const spot_subject_files *f, const char *where)
{
    for (int i = 0; i < f->arrays; i++)
        if (!strcmp(f->array[i].name, where)) return &f->array[i];
    return NULL;
}

bool spot_subject_lends(const spot_subject_files *f, const void *data)
{
    for (int i = 0; i < f->arrays && data; i++)
        if (f->array[i].data == data) return true;
    return false;
}

/* Words and their texts in one block, as those of a file. */
static void *copy_words(char *const *word, size_t count)
{
    size_t bytes = count * sizeof *word + 1;
    char **out, *text;

    for (size_t i = 0; i < count; i++) bytes += strlen(word[i]) + 1;
    out = malloc(bytes);
    text = out ? (char *)(out + count) : NULL;
    for (size_t i = 0; out && i < count; i++) {
        const size_t n = strlen(word[i]) + 1;
        out[i] = memcpy(text, word[i], n);
        text += n;
    }
    return out;
}

static void *copy_numbers(const spot_array *a)
{
    const size_t bytes = a->count * spot_dtype_size(a->type);
    void *out = aligned_alloc(64, (bytes / 64 + 1) * 64);

    if (out && bytes) memcpy(out, a->data, bytes);
    return out;
}

spot_status spot_subject_array(spot_ctx *c, spot_array *a, const spot_subject_files *files, const char *where,
                               const spot_array_how *how, bool borrow)
{
    const spot_array *lent = lent_as(files, where);

    if (!lent) return spot_array_read_as(c, a, where, how);
    *a = *lent;
    if (borrow && a->type == SPOT_F32) return SPOT_OK;
    a->data = a->type == SPOT_WORDS ? copy_words(lent->data, lent->count) : copy_numbers(lent);
    if (lent->column) a->column = copy_words(lent->column, (size_t)lent->dim[1]);
    return a->data && !lent->column == !a->column ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a copy of %s", where);
}

void spot_subject_array_close(spot_array *a, const spot_subject_files *files)
{
    if (spot_subject_lends(files, a->data)) a->data = NULL, a->column = NULL;
    spot_array_close(a);
}

spot_status spot_subject_array_maker(spot_ctx *c, spot_subject *s, const spot_array *a, const spot_subject_files *files,
                                     const char *where)
{
    const spot_array *lent = lent_as(files, where);
    spot_notes notes;

    snprintf(s->encoder, sizeof s->encoder, "%s", lent && lent->encoder ? lent->encoder : "");
    if (lent) return SPOT_OK;
    SPOT_TRY(spot_array_notes(c, &notes, a, where));
    snprintf(s->encoder, sizeof s->encoder, "%.31s", notes.text[SPOT_NOTE_ENCODER]);
    return SPOT_OK;
}
