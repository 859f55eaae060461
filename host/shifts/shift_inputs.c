/* shift_inputs.c - hashes of the user's files, masks, truth about pictures. */
#define _POSIX_C_SOURCE 200809L
#include "shifts/shift_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "models/foreign_model.h"
#include "models/picture_input.h"
#include "shifts/shift_programs.h"

/* ---- hashes ---- */

spot_status spot_shift_hash_file(spot_ctx *c, spot_key *k, const char *path)
{
    unsigned char *bytes;
    size_t n;

    SPOT_TRY(spot_file_read(c, path, &bytes, &n, (size_t)1 << 34));
    *k = spot_key_join(*k, "file", bytes, n);
    free(bytes);
    return SPOT_OK;
}

/* A program is known by the name of its encoder. */
static spot_status hash_model(spot_ctx *c, spot_key *k, const spot_shifts_config *cfg, spot_shift_programs *p,
                              const spot_shift_model *m)
{
    spot_encoder *e;

    if (m->predictions[0] || !spot_is_foreign(m->weights))
        return spot_shift_hash_file(c, k, m->predictions[0] ? m->predictions : m->weights);
    SPOT_TRY(spot_shift_model_open(c, &e, p, cfg, m));
    *k = spot_key_join(*k, "program", spot_encoder_about(e)->name, strlen(spot_encoder_about(e)->name));
    spot_shift_model_give(c, e, p);
    return SPOT_OK;
}

spot_status spot_shift_inputs_hash(spot_ctx *c, char hash[33], const spot_shifts_config *cfg, spot_shift_programs *programs,
                                   const char *real)
{
    const char *const own[] = { cfg->data.names, cfg->filter.masks, cfg->filter.oracle };
    spot_key k = spot_key_of(real, strlen(real));

    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        k = spot_key_join(k, "input", "", 0);
        if (own[i][0]) SPOT_TRY(spot_shift_hash_file(c, &k, own[i]));
    }
    for (int m = 0; m < cfg->models; m++) {
        const spot_shift_model *v = &cfg->model[m];
        k = spot_key_join(k, "model", v->name, strlen(v->name));
        SPOT_TRY(hash_model(c, &k, cfg, programs, v));
        k = spot_picture_input_join(k, &v->input, spot_is_foreign(v->weights));
        if (v->classes[0]) SPOT_TRY(spot_shift_hash_file(c, &k, v->classes));
        SPOT_TRY(spot_check_stop(c));
    }
    spot_key_text(hash, k);
    return SPOT_OK;
}

/* ---- masks ---- */

spot_status spot_shift_masks(spot_ctx *c, uint8_t *keep, const spot_shifts_config *cfg, const spot_shift_pictures *p)
{
    char where[SPOT_SHIFT_PATH + 600];
    spot_array a = { 0 };
    int *value = malloc(((size_t)p->list.n + 1) * sizeof *value);
    spot_status s = value ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a mask of %d pictures", p->list.n);

    snprintf(where, sizeof where, "%s:%s", cfg->filter.masks, p->id);
    if (s == SPOT_OK) s = spot_array_read(c, &a, where, 0);
    if (s == SPOT_OK && a.count != (size_t)p->list.n)
        s = spot_fail(c, SPOT_INPUT, "%s is for %zu pictures, and %s has %d; a mask goes by the sorted pictures of the folder",
                      a.name, a.count, p->root, p->list.n);
    if (s == SPOT_OK) s = spot_array_ints(c, value, &a, 0, 1);
    for (int i = 0; i < p->list.n && s == SPOT_OK; i++) keep[i] = (uint8_t)value[i];
    spot_array_close(&a);
    free(value);
    return s;
}

/* ---- truth ---- */

static spot_status read_flags(spot_ctx *c, int **flag, const spot_shifts_config *cfg, const char *column, size_t n)
{
    char where[700];
    spot_array a = { 0 };
    spot_status s;

    snprintf(where, sizeof where, "%s:%s", cfg->filter.oracle, column);
    *flag = malloc((n + 1) * sizeof **flag);
    if (!*flag) return spot_fail(c, SPOT_NOMEM, "no memory for %s", where);
    s = spot_array_read(c, &a, where, 0);
    if (s == SPOT_OK && a.count != n)
        s = spot_fail(c, SPOT_INPUT, "%s has %zu rows, and the column path has %zu", a.name, a.count, n);
    if (s == SPOT_OK) s = spot_array_ints(c, *flag, &a, 0, 1);
    spot_array_close(&a);
    return s;
}

/* `keep` where the table has that column; else the two parts. */
static spot_status read_parts(spot_ctx *c, spot_shift_truth *t, const spot_shifts_config *cfg)
{
    char why[512];

    if (read_flags(c, &t->shift, cfg, "keep", t->path.count) == SPOT_OK) {
        t->object = malloc((t->path.count + 1) * sizeof *t->object);
        if (!t->object) return spot_fail(c, SPOT_NOMEM, "no memory for %s", t->path.name);
        memcpy(t->object, t->shift, t->path.count * sizeof *t->object);
        return SPOT_OK;
    }
    snprintf(why, sizeof why, "%s", spot_take_message(c, SPOT_INPUT));
    free(t->shift);
    t->parts = true;
    if (read_flags(c, &t->shift, cfg, "shift_there", t->path.count) == SPOT_OK)
        return read_flags(c, &t->object, cfg, "object_there", t->path.count);
    spot_forget(c);
    return spot_fail(c, SPOT_INPUT, "%s; and there is no good column shift_there in place of keep", why);
}

spot_status spot_shift_truth_open(spot_ctx *c, spot_shift_truth *t, const spot_shifts_config *cfg)
{
    char where[700];

    *t = (spot_shift_truth){ 0 };
    if (!cfg->filter.oracle[0]) return SPOT_OK;
    snprintf(where, sizeof where, "%s:path", cfg->filter.oracle);
    SPOT_TRY(spot_array_read(c, &t->path, where, 0));
    if (t->path.type != SPOT_WORDS) return spot_fail(c, SPOT_INPUT, "%s holds numbers; paths are words", t->path.name);
    t->order = malloc((t->path.count + 1) * sizeof *t->order);
    if (!t->order) return spot_fail(c, SPOT_NOMEM, "no memory for %s", t->path.name);
    spot_words_sort(t->order, t->path.data, (int)t->path.count);
    return read_parts(c, t, cfg);
}

void spot_shift_truth_close(spot_shift_truth *t)
{
    spot_array_close(&t->path);
    free(t->shift);
    free(t->object);
    free(t->order);
    *t = (spot_shift_truth){ 0 };
}

static int find_path(const spot_shift_truth *t, const char *path)
{
    char *const *word = t->path.data;
    int low = 0, high = (int)t->path.count;

    while (low < high) {
        const int middle = (low + high) / 2, way = strcmp(word[t->order[middle]], path);
        if (!way) return t->order[middle];
        if (way < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

spot_status spot_shift_truth_of(spot_ctx *c, uint8_t *bits, const spot_shift_truth *t, const spot_shift_pictures *p)
{
    char path[2 * SPOT_SHIFT_PATH];

    for (int i = 0; i < p->list.n; i++) {
        snprintf(path, sizeof path, "%s/%s", p->id, p->list.path[i]);
        const int row = find_path(t, path);
        if (row < 0) return spot_fail(c, SPOT_INPUT, "%s has no row for %s", t->path.name, path);
        bits[i] = (uint8_t)((t->object[row] ? 1 : 0) | (t->shift[row] ? 2 : 0));
    }
    return SPOT_OK;
}
