/* shift_words.c - the words that models predict: classes of the study, and other ones. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shifts/shift_answers.h"

static const char *other_word(const spot_shift_words *w, int i) { return w->words.bytes + w->at[i]; }

const char *spot_shift_word(const spot_shift_words *w, int index)
{
    return index < w->classes->n ? w->classes->folder[index] : other_word(w, index - w->classes->n);
}

static bool grow(spot_shift_words *w)
{
    const int room = w->room ? 2 * w->room : 64;
    size_t *at = realloc(w->at, (size_t)room * sizeof *at);
    int *order;

    if (at) w->at = at;
    order = at ? realloc(w->order, (size_t)room * sizeof *order) : NULL;
    if (!order) return false;
    w->order = order;
    w->room = room;
    return true;
}

int spot_shift_word_index(spot_shift_words *w, const char *word)
{
    const int cls = spot_shift_class_of(w->classes, word);
    int low = 0, high = w->count;

    if (cls >= 0) return cls;
    while (low < high) {
        const int middle = (low + high) / 2, way = strcmp(other_word(w, w->order[middle]), word);
        if (!way) return w->classes->n + w->order[middle];
        if (way < 0) low = middle + 1;
        else high = middle;
    }
    if (w->count == w->room && !grow(w)) return -1;
    w->at[w->count] = w->words.used;
    spot_text_add(&w->words, word, strlen(word) + 1);
    if (w->words.status) return -1;
    memmove(w->order + low + 1, w->order + low, (size_t)(w->count - low) * sizeof *w->order);
    w->order[low] = w->count;
    return w->classes->n + w->count++;
}

static spot_status read_outputs(spot_ctx *c, spot_shift_words *w, int **index, int *n, char *text, const char *path)
{
    int lines = 0;

    if (!strncmp(text, "\xef\xbb\xbf", 3)) text += 3;          /* a byte order mark */
    for (const char *p = text; *p; p++) lines += *p == '\n' || *p == '\r' || !p[1];
    *index = malloc(((size_t)lines + 1) * sizeof **index);
    if (!*index) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    for (char *line = text, *next; *line; line = next) {
        const size_t length = strcspn(line, "\r\n");
        next = line + length;
        next += *next == '\r', next += *next == '\n';
        line[length] = 0;
        if (!length) return spot_fail(c, SPOT_INPUT, "%s line %d is empty; each line is the class of an output", path, *n + 1);
        (*index)[*n] = spot_shift_word_index(w, line);
        if ((*index)[(*n)++] < 0) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    }
    return *n ? SPOT_OK : spot_fail(c, SPOT_INPUT, "{file.empty} %s is empty", path);
}

/* Whether the outputs name classes: none is an error, fewer than all a warning. */
static spot_status check_outputs(spot_ctx *c, const spot_shift_words *w, const int *index, int n, const spot_shift_model *m)
{
    const spot_shift_classes *k = w->classes;
    uint8_t *named = calloc((size_t)k->n + 1, 1);
    int known = 0, first = 0;

    if (!named) return spot_fail(c, SPOT_NOMEM, "no memory for %d classes", k->n);
    for (int i = 0; i < n; i++) {
        if (index[i] >= k->n) continue;
        known += !named[index[i]];
        named[index[i]] = 1;
    }
    while (first < k->n && named[first]) first++;
    free(named);
    if (!known)
        return spot_fail(c, SPOT_INPUT, "{shifts.no_class_named} %s, the outputs of the model \"%s\": none of its %d words is "
                         "a class: they are such as \"%.80s\", and the classes are folders such as \"%.80s\"", m->classes,
                             m->name, n,
                         spot_shift_word(w, index[0]), k->folder[0]);
    if (known < k->n)
        spot_log(c, SPOT_LOG_WARN, "%s, the outputs of the model \"%s\", lacks %d of the %d classes, such as %.80s: their "
                 "pictures are wrong", m->classes, m->name, k->n - known, k->n, k->folder[first]);
    return SPOT_OK;
}

spot_status spot_shift_outputs(spot_ctx *c, spot_shift_words *w, int **index, int *n, const spot_shift_model *m)
{
    unsigned char *text;
    size_t size;
    spot_status s;

    *index = NULL;
    *n = 0;
    if (!m->classes[0]) return *n = w->classes->n, SPOT_OK;
    SPOT_TRY(spot_file_read(c, m->classes, &text, &size, (size_t)1 << 24));
    s = strlen((char *)text) == size ? read_outputs(c, w, index, n, (char *)text, m->classes)
                                     : spot_fail(c, SPOT_INPUT, "%s is no text", m->classes);
    if (s == SPOT_OK) s = check_outputs(c, w, *index, *n, m);
    free(text);
    return s;
}
