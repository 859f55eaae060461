/* claim_model.c - whether a classifier is wrong on the new pictures: by their probabilities, or by looking at them. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/text.h"
#include "claims/claim_model.h"
#include "claims/measure.h"
#include "discover/subject/subject_memory.h"
#include "formats/word_lines.h"
#include "models/foreign_model.h"
#include "spotter/array.h"

typedef struct {
    const spot_claim_model *how;
    spot_measure_options o;
    char **owned;
    spot_new_pictures *p;
} judge;

static const char *name_of(const spot_claim_model *o)
{
    return o->own.function ? o->name : o->probs ? o->probs : o->model ? o->model : o->predict;
}

/* ---- classes ---- */

static spot_status find_label(spot_ctx *c, judge *j, const char *label)
{
    char *end;
    long v;

    for (j->o.label = 0; j->o.label < j->o.classes; j->o.label++)
        if (!strcmp(j->o.class_name[j->o.label], label)) return SPOT_OK;
    errno = 0;
    v = strtol(label, &end, 10);
    if (!j->o.classes && !errno && *label && !*end && v >= 0 && v < SPOT_MAX_PREDICTOR_OUTPUTS) {
        j->o.label = (int)v;
        return SPOT_OK;
    }
    if (!j->o.classes)
        return spot_fail(c, SPOT_USAGE, "which output of the model is class \"%s\"? --classes names a text with the class of "
                         "each output, a line each; or give --label as the output's number from 0", label);
    return spot_fail(c, SPOT_USAGE, "there is no class \"%s\"; there are %d, the first is \"%s\" and the last \"%s\"", label,
                     j->o.classes, j->o.class_name[0], j->o.class_name[j->o.classes - 1]);
}

static spot_status open_classes(spot_ctx *c, judge *j, const char *label)
{
    const spot_claim_model *o = j->how;

    j->o.class_name = o->known;
    j->o.classes = o->known_n;
    if (o->classes) {
        SPOT_TRY(spot_word_lines(c, &j->owned, &j->o.classes, o->classes));
        j->o.class_name = j->owned;
    }
    return find_label(c, j, label);
}

/* ---- probabilities ---- */

/* row (p->n): the row of each picture. names (n): the ids in their rows. */
static spot_status match_rows(spot_ctx *c, const judge *j, int *row, char *const *names, int n, const char *where)
{
    int *order = malloc(((size_t)n + 1) * sizeof *order);

    if (!order) return spot_fail(c, SPOT_NOMEM, "no memory for %d ids", n);
    spot_words_sort(order, names, n);
    for (int i = 0; i < j->p->n; i++) {
        int low = 0, high = n;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (strcmp(names[order[middle]], j->p->row[i].picture) < 0) low = middle + 1;
            else high = middle;
        }
        row[i] = low < n && !strcmp(names[order[low]], j->p->row[i].picture) ? order[low] : -1;
        if (row[i] >= 0) continue;
        free(order);
        return spot_fail(c, SPOT_INPUT, "%s has no row for the picture %s", where, j->p->row[i].picture);
    }
    free(order);
    return SPOT_OK;
}

static spot_status check_count(spot_ctx *c, const char *given, int64_t rows, const char *where, size_t names)
{
    if ((size_t)rows == names) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{gather.rows} %s has %lld rows, and %s has %zu pictures; --ids names the pictures of the "
                     "rows", given, (long long)rows, where, names);
}

/* The rows of `given` by --ids, or all pictures of the folder in their order. */
static spot_status find_rows(spot_ctx *c, const judge *j, int *row, const spot_array *given, const char *root)
{
    const char *ids = j->how->ids;
    spot_array names = { 0 };
    spot_folder f = { 0 };
    spot_status s;

    if (ids) {
        s = spot_array_read(c, &names, ids, 0);
        if (!s && names.type != SPOT_WORDS)
            s = spot_fail(c, SPOT_INPUT, "%s: the ids must be names of pictures below %s", names.name, root);
        if (!s) s = check_count(c, given->name, given->dim[0], ids, names.count);
        if (!s) s = match_rows(c, j, row, names.data, (int)names.count, ids);
        spot_array_close(&names);
        return s;
    }
    SPOT_TRY(spot_folder_pictures(c, &f, root));
    s = check_count(c, given->name, given->dim[0], root, (size_t)f.n);
    if (!s) s = match_rows(c, j, row, f.path, f.n, root);
    spot_folder_close(&f);
    return s;
}

/* One number a row is the probability of class 1 of two, else of the pictures' class, as in spotter discover. */
static spot_status judge_by_rows(spot_ctx *c, judge *j, const spot_array *a, const float *v, const int *row)
{
    const bool single = a->rank == 1 || a->dim[1] == 1, two = j->o.classes ? j->o.classes == 2 : j->o.label < 2;
    const int outputs = single ? 1 : (int)a->dim[1];

    if (!single || two) SPOT_TRY(spot_measure_check(c, &j->o, outputs));
    for (int i = 0; i < j->p->n; i++) {
        spot_new_picture *r = &j->p->row[i];
        const float *x = v + (size_t)row[i] * (size_t)outputs;
        for (int k = 0; k < outputs; k++)
            if (!(x[k] >= 0 && x[k] <= 1))
                return spot_fail(c, SPOT_INPUT, "%s, row %d: %g is no probability", a->name, row[i], (double)x[k]);
        if (!single || two) SPOT_TRY(spot_measure_picture(c, &j->o, r, x, outputs, 0.5f));
        else r->wrong = x[0] < 0.5f;
    }
    return SPOT_OK;
}

static spot_status judge_by_probs(spot_ctx *c, judge *j, const char *root)
{
    spot_array a;
    float *v = NULL;
    int *row = malloc(((size_t)j->p->n + 1) * sizeof *row);
    spot_status s = row ? spot_array_read(c, &a, j->how->probs, 0) : spot_fail(c, SPOT_NOMEM, "no memory for rows");

    if (s) return free(row), s;
    if (a.rank < 1 || a.rank > 2 || (a.rank == 2 && (a.dim[1] < 1 || a.dim[1] > SPOT_MAX_PREDICTOR_OUTPUTS)))
        s = spot_fail(c, SPOT_INPUT, "%s: probabilities are (pictures) or (pictures, classes)", a.name);
    if (!s) s = find_rows(c, j, row, &a, root);
    if (!s) s = spot_array_floats(c, &v, &a);
    if (!s) s = judge_by_rows(c, j, &a, v, row);
    free(v);
    spot_array_close(&a);
    free(row);
    return s;
}

static spot_status judge_by_looking(spot_ctx *c, judge *j)
{
    const spot_claim_model *o = j->how;
    spot_predictor_options p = { .kind = o->model ? SPOT_PREDICTOR_WEIGHTS : SPOT_PREDICTOR_COMMAND, .weights = o->model,
                                 .command = o->predict };

    p.input = o->input;
    if (o->own.function) p = o->own;
    p.side = o->crop;
    j->o.model = &p;
    return spot_measure(c, j->p, &j->o);
}

spot_status spot_claim_measure(spot_ctx *c, spot_new_pictures *p, spot_slice_claim *k, const spot_claim_model *how)
{
    judge j = { .how = how, .p = p, .o = { .resize = how->resize, .reading = how->reading, .name = name_of(how),
                                                   .folder = k->root } };
    spot_status s = open_classes(c, &j, k->cls);

    snprintf(k->model, sizeof k->model, "%s", name_of(how));
    if (!s) s = how->probs ? judge_by_probs(c, &j, k->root) : judge_by_looking(c, &j);
    free(j.owned);
    return s;
}

/* ---- before ---- */

static spot_status check_array(spot_ctx *c, const char *where, const spot_array_how *how)
{
    spot_array a = { 0 };
    const spot_status s = where ? spot_array_read_as(c, &a, where, how) : SPOT_OK;

    spot_array_close(&a);
    return s;
}

spot_status spot_claim_model_check(spot_ctx *c, const char *cls, const spot_claim_model *how)
{
    const spot_array_how plain = { 0 }, words = { .text = true, .holes = true };
    const spot_predictor_options o = { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = how->model, .side = how->crop };
    judge j = { .how = how };
    spot_predictor *p = NULL;
    spot_status s = SPOT_OK;

    if (how->probs || how->model || how->predict || how->own.function) s = open_classes(c, &j, cls);
    free(j.owned);
    if (!s) s = check_array(c, how->probs, &plain);
    if (!s) s = check_array(c, how->ids, &plain);
    if (!s && how->groups && strcmp(how->groups, SPOT_CLAIM_FOLDERS)) s = check_array(c, how->groups, &words);
    if (!s && how->model && !how->own.function && !spot_is_foreign(how->model)) s = spot_predictor_open(c, &p, &o);
    spot_predictor_close(c, p);
    return s;
}

/* ---- groups ---- */

/* cell (p->n): the folder of each picture. */
static spot_status name_folders(spot_ctx *c, spot_subject *of, char **cell, const spot_new_pictures *p)
{
    for (int i = 0; i < p->n; i++) {
        const char *name = p->row[i].picture, *slash = strrchr(name, '/');
        const size_t n = slash ? (size_t)(slash - name) : 0;
        SPOT_TRY(SPOT_SUBJECT_TAKE(c, of, cell[i], n + 2));
        memcpy(cell[i], n ? name : ".", n ? n : 1);
    }
    return SPOT_OK;
}

/* cell (p->n): words of a, which `of` then owns. */
static spot_status find_cells(spot_ctx *c, spot_subject *of, char **cell, const judge *j, spot_array *a, const char *root)
{
    void *words;
    int *row;

    SPOT_TRY(SPOT_SUBJECT_TAKE(c, of, row, j->p->n));
    if (a->rank != 1 || a->type != SPOT_WORDS)
        return spot_fail(c, SPOT_INPUT, "{gather.groups} %s is no column with a group for each picture", a->name);
    SPOT_TRY(find_rows(c, j, row, a, root));
    for (int i = 0; i < j->p->n; i++) cell[i] = ((char **)a->data)[row[i]];
    words = a->data, a->data = NULL;
    return spot_subject_keep(c, of, words);
}

spot_status spot_claim_groups(spot_ctx *c, spot_subject *of, spot_new_pictures *p, const char *root,
                              const spot_claim_model *how)
{
    const spot_array_how words = { .text = true, .holes = true };
    const judge j = { .how = how, .p = p };
    spot_array a = { 0 };
    char **cell;
    spot_status s;

    *of = (spot_subject){ .n = p->n };
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, of, cell, p->n));
    if (!strcmp(how->groups, SPOT_CLAIM_FOLDERS)) s = name_folders(c, of, cell, p);
    else {
        SPOT_TRY(spot_array_read_as(c, &a, how->groups, &words));
        s = find_cells(c, of, cell, &j, &a, root);
        spot_array_close(&a);
    }
    if (!s) s = spot_groups_of_cells(c, of, cell);
    return s ? s : spot_groups_settle(c, of, how->groups);
}
