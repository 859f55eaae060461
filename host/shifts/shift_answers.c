/* shift_answers.c - tables of predictions: each picture's row in each table. */
#define _POSIX_C_SOURCE 200809L
#include "shifts/shift_answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/same_id.h"
#include "spotter/array.h"

typedef struct spot_shift_place { spot_key key; int unit, picture; } place;

static spot_key key_of_path(const char *path) { return spot_key_of(path, strlen(path)); }

static int by_key(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->key.hi != y->key.hi) return x->key.hi < y->key.hi ? -1 : 1;
    return (x->key.lo > y->key.lo) - (x->key.lo < y->key.lo);
}

/* ---- places ---- */

static spot_status list_places(spot_ctx *c, spot_shift_answers *a)
{
    char path[2 * SPOT_SHIFT_PATH];
    size_t n = 0;

    for (int u = 0; u < a->units; u++) n += (size_t)a->unit[u].pictures->list.n;
    a->place = malloc((n + 1) * sizeof *a->place);
    if (!a->place || n > 2000000000) return spot_fail(c, SPOT_NOMEM, "no memory for a list of %zu pictures", n);
    for (int u = 0; u < a->units; u++)
        for (int i = 0; i < a->unit[u].pictures->list.n; i++) {
            snprintf(path, sizeof path, "%s/%s", a->unit[u].pictures->id, a->unit[u].pictures->list.path[i]);
            a->place[a->places++] = (place){ key_of_path(path), u, i };
        }
    qsort(a->place, (size_t)a->places, sizeof *a->place, by_key);
    return SPOT_OK;
}

static const place *find_key(const place *in, int n, const char *path)
{
    const place wanted = { .key = key_of_path(path) };

    return bsearch(&wanted, in, (size_t)n, sizeof *in, by_key);
}

/* Places by the plain forms of their paths; of several with one form none counts. */
static spot_status list_plain(spot_ctx *c, spot_shift_answers *a, spot_text *form)
{
    char path[2 * SPOT_SHIFT_PATH];
    int n = 0;

    a->plain = malloc(((size_t)a->places + 1) * sizeof *a->plain);
    for (int i = 0; a->plain && i < a->places; i++) {
        const spot_shift_pictures *p = a->unit[a->place[i].unit].pictures;
        snprintf(path, sizeof path, "%s/%s", p->id, p->list.path[a->place[i].picture]);
        spot_id_plain(form, path, SPOT_FORM_C);
        if (form->status) break;
        a->plain[i] = (place){ key_of_path(form->bytes), a->place[i].unit, a->place[i].picture };
    }
    if (!a->plain || form->status) return spot_fail(c, SPOT_NOMEM, "no memory for a list of %d pictures", a->places);
    qsort(a->plain, (size_t)a->places, sizeof *a->plain, by_key);
    for (int i = 0, end; i < a->places; i = end) {
        for (end = i + 1; end < a->places && !by_key(&a->plain[i], &a->plain[end]);) end++;
        if (end == i + 1) a->plain[n++] = a->plain[i];
    }
    a->plains = n;
    return SPOT_OK;
}

/* *p: the picture of the path: as it is, without "./" in front, or else one whose path means the same, which *by_form
 * counts. */
static spot_status find_place(spot_ctx *c, spot_shift_answers *a, const place **p, const char *path, int *by_form)
{
    spot_text form = { 0 };
    spot_status s = SPOT_OK;

    *p = find_key(a->place, a->places, strncmp(path, "./", 2) ? path : path + 2);
    if (*p || spot_id_is_plain(path)) return SPOT_OK;
    if (!a->plain) s = list_plain(c, a, &form);
    spot_id_plain(&form, path, SPOT_FORM_C);
    if (s == SPOT_OK && form.status) s = spot_fail(c, SPOT_NOMEM, "no memory for the path %.300s", path);
    if (s == SPOT_OK) *p = find_key(a->plain, a->plains, form.bytes);
    *by_form += *p != NULL;
    spot_text_free(&form);
    return s;
}

/* ---- one table ---- */

static int *answer_at(const spot_shift_answers *a, const place *p, int model)
{
    const spot_shift_unit_answers *u = &a->unit[p->unit];

    return &u->answer[(size_t)model * u->pictures->list.n + p->picture];
}

static spot_status check_columns(spot_ctx *c, const spot_array *path, const spot_array *predicted)
{
    if (path->type != SPOT_WORDS) return spot_fail(c, SPOT_INPUT, "%s holds numbers; paths are words", path->name);
    if (path->count != predicted->count)
        return spot_fail(c, SPOT_INPUT, "%s has %zu rows, and %s has %zu", path->name, path->count, predicted->name,
                         predicted->count);
    return SPOT_OK;
}

/* Whether the classes' folders are numbers, so that a number in a table is a folder and not an index. */
static bool are_numbers(const spot_shift_classes *k)
{
    for (int i = 0; i < k->n; i++)
        if (strspn(k->folder[i], "0123456789") != strlen(k->folder[i])) return false;
    return true;
}

static spot_status read_numbers(spot_ctx *c, spot_shift_answers *a, int *index, const spot_array *predicted, const int *output,
                                int outputs)
{
    const bool folders = !output && are_numbers(a->words.classes);
    char text[16];

    SPOT_TRY(spot_array_ints(c, index, predicted, 0, folders ? 1000000000 : outputs - 1));
    for (size_t i = 0; i < predicted->count; i++) {
        snprintf(text, sizeof text, "%d", index[i]);
        if (folders) index[i] = spot_shift_word_index(&a->words, text);
        else if (output) index[i] = output[index[i]];
        if (index[i] < 0) return spot_fail(c, SPOT_NOMEM, "no memory for the words of %s", predicted->name);
    }
    return SPOT_OK;
}

/* index (rows): the answer of each row. */
static spot_status read_answers(spot_ctx *c, spot_shift_answers *a, int *index, const spot_array *predicted, int model)
{
    int *output, outputs;
    spot_status s = spot_shift_outputs(c, &a->words, &output, &outputs, &a->cfg->model[model]);

    if (s == SPOT_OK && predicted->type != SPOT_WORDS) s = read_numbers(c, a, index, predicted, output, outputs);
    else
        for (size_t i = 0; i < predicted->count && s == SPOT_OK; i++) {
            index[i] = spot_shift_word_index(&a->words, ((char *const *)predicted->data)[i]);
            if (index[i] < 0) s = spot_fail(c, SPOT_NOMEM, "no memory for the words of %s", predicted->name);
        }
    free(output);
    return s;
}

static spot_status place_answers(spot_ctx *c, spot_shift_answers *a, const spot_array *path, const int *index, int model)
{
    char *const *word = path->data;
    int by_form = 0;

    for (size_t i = 0; i < path->count; i++) {
        const place *p;
        SPOT_TRY(find_place(c, a, &p, word[i], &by_form));
        if (!p) continue;                      /* a table may have other pictures, too */
        int *answer = answer_at(a, p, model);
        if (*answer >= 0 && *answer != index[i])
            return spot_fail(c, SPOT_INPUT, "%s has two answers for %.300s, the second in row %zu", path->name, word[i], i);
        *answer = index[i];
    }
    if (by_form)
        spot_log(c, SPOT_LOG_INFO, "%s: %d paths match pictures though they differ by blanks at the ends or Unicode's normal "
                 "form",
                 path->name, by_form);
    return SPOT_OK;
}

/* Every picture has an answer; of the real ones, either all or none. */
static spot_status check_answers(spot_ctx *c, const spot_shift_answers *a, int model)
{
    const spot_shift_model *m = &a->cfg->model[model];

    for (int u = 0; u < a->units; u++) {
        const spot_shift_pictures *p = a->unit[u].pictures;
        const int n = p->list.n, *answer = a->unit[u].answer + (size_t)model * n;
        int missing = 0, first = 0;
        for (int i = n - 1; i >= 0; i--)
            if (answer[i] < 0) missing++, first = i;
        if (!missing || (missing == n && p->unit.shift == SPOT_REAL_PICTURES)) continue;
        return spot_fail(c, SPOT_INPUT, "%s, the table of the model \"%s\", lacks %d of the %d pictures of %s, such as %s/%s; "
                         "its column path has paths below data.root", m->predictions, m->name, missing, n, p->root, p->id,
                         p->list.path[first]);
    }
    return SPOT_OK;
}

/* The answers of a model that name a class, all, and the classes that are named (named: of k->n, zeroed); the first other
 * word. */
typedef struct { size_t known, all; int classes; const char *other; } namings;

static namings count_namings(const spot_shift_answers *a, uint8_t *named, int model)
{
    const int classes = a->words.classes->n;
    namings n = { .other = NULL };

    for (int u = 0; u < a->units; u++) {
        const int rows = a->unit[u].pictures->list.n, *answer = a->unit[u].answer + (size_t)model * rows;
        for (int i = 0; i < rows; i++) {
            if (answer[i] < 0) continue;
            n.all++;
            if (answer[i] >= classes && !n.other) n.other = spot_shift_word(&a->words, answer[i]);
            if (answer[i] >= classes) continue;
            n.known++;
            n.classes += !named[answer[i]];
            named[answer[i]] = 1;
        }
    }
    return n;
}

/* A table that names no class, or hardly any, writes classes in another way: every picture would be wrong, and no shift costs
 * anything. */
static spot_status check_namings(spot_ctx *c, const spot_shift_answers *a, int model)
{
    const spot_shift_model *m = &a->cfg->model[model];
    const spot_shift_classes *k = a->words.classes;
    uint8_t *named = calloc((size_t)k->n + 1, 1);
    namings n;

    if (!named) return spot_fail(c, SPOT_NOMEM, "no memory for %d classes", k->n);
    n = count_namings(a, named, model);
    free(named);
    if (n.all && !n.known)
        return spot_fail(c, SPOT_INPUT, "{shifts.no_class_named} %s, the table of the model \"%s\": none of its %zu answers "
                         "is a class: its words are such as \"%.80s\", and the classes are folders such as \"%.80s\"",
                             m->predictions,
                         m->name, n.all, n.other, k->folder[0]);
    if (n.known * 10 < n.all || (n.classes == 1 && k->n > 2))
        spot_log(c, SPOT_LOG_WARN, "%s: %zu of the %zu answers of the model \"%s\" name one of the %d classes, and %d classes "
                 "are named%s%.80s%s; all others are wrong", m->predictions, n.known, n.all, m->name, k->n, n.classes,
                 n.other ? "; other words are such as \"" : "", n.other ? n.other : "", n.other ? "\"" : "");
    return SPOT_OK;
}

static spot_status read_table(spot_ctx *c, spot_shift_answers *a, int model)
{
    spot_array path = { 0 }, predicted = { 0 };
    char where[600];
    int *index = NULL;
    spot_status s;

    snprintf(where, sizeof where, "%s:path", a->cfg->model[model].predictions);
    s = spot_array_read(c, &path, where, 0);
    snprintf(where, sizeof where, "%s:predicted", a->cfg->model[model].predictions);
    if (s == SPOT_OK) s = spot_array_read(c, &predicted, where, 0);
    if (s == SPOT_OK) s = check_columns(c, &path, &predicted);
    if (s == SPOT_OK) index = malloc((predicted.count + 1) * sizeof *index);
    if (s == SPOT_OK && !index) s = spot_fail(c, SPOT_NOMEM, "no memory for %s", predicted.name);
    if (s == SPOT_OK) s = read_answers(c, a, index, &predicted, model);
    if (s == SPOT_OK) s = place_answers(c, a, &path, index, model);
    if (s == SPOT_OK) s = check_answers(c, a, model);
    if (s == SPOT_OK) s = check_namings(c, a, model);
    spot_array_close(&path);
    spot_array_close(&predicted);
    free(index);
    return s;
}

/* ---- all ---- */

spot_status spot_shift_answers_open(spot_ctx *c, spot_shift_answers *a, const spot_shifts_config *cfg,
                                    const spot_shift_classes *k, const spot_store *store, const spot_shift_pictures *pictures,
                                    int units, spot_shift_progress *progress)
{
    *a = (spot_shift_answers){ .cfg = cfg, .store = store, .progress = progress, .programs = a->programs, .words.classes = k };
    a->unit = calloc((size_t)units + 1, sizeof *a->unit);
    if (!a->unit) return spot_fail(c, SPOT_NOMEM, "no memory for the answers of %d models", cfg->models);
    for (a->units = 0; a->units < units; a->units++) {
        spot_shift_unit_answers *u = &a->unit[a->units];
        const size_t n = (size_t)cfg->models * pictures[a->units].list.n;
        u->pictures = &pictures[a->units];
        u->answer = malloc((n + 1) * sizeof *u->answer);
        if (!u->answer) return spot_fail(c, SPOT_NOMEM, "no memory for the answers of %d models", cfg->models);
        for (size_t i = 0; i < n; i++) u->answer[i] = -1;
    }
    SPOT_TRY(spot_shift_networks_open(c, a));
    SPOT_TRY(list_places(c, a));
    for (int m = 0; m < cfg->models; m++) {
        SPOT_TRY(spot_check_stop(c));
        if (cfg->model[m].predictions[0]) SPOT_TRY(read_table(c, a, m));
    }
    return SPOT_OK;
}

void spot_shift_answers_close(spot_ctx *c, spot_shift_answers *a)
{
    spot_shift_networks_close(c, a);
    for (int u = 0; a->unit && u < a->units; u++) free(a->unit[u].answer);
    for (int m = 0; a->network && m < a->cfg->models; m++) free(a->network[m].index);
    free(a->network);
    free(a->unit);
    free(a->place);
    free(a->plain);
    free(a->words.at);
    free(a->words.order);
    spot_text_free(&a->words.words);
    *a = (spot_shift_answers){ 0 };
}
