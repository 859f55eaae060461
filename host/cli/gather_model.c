/* gather_model.c - whether a classifier is wrong on the new pictures: by their probabilities, or by looking at them. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/text.h"
#include "cli/gather_model.h"
#include "formats/word_lines.h"
#include "scene/picture_batches.h"
#include "spotter/array.h"

/* The classes of the outputs; names NULL: they are known by their numbers alone. */
typedef struct {
    const cli_gather_model *how;
    char *const *name;
    char **owned;
    int  n, label;             /* classes, 0: not known; the class of the pictures */
    cli_new_pictures *p;
} judge;

static const char *name_of(const cli_gather_model *o)
{
    return o->own.function ? o->name : o->probs ? o->probs : o->model ? o->model : o->predict;
}

/* ---- classes ---- */

static spot_status find_label(spot_ctx *c, judge *j, const char *label)
{
    char *end;
    long v;

    for (j->label = 0; j->label < j->n; j->label++)
        if (!strcmp(j->name[j->label], label)) return SPOT_OK;
    errno = 0;
    v = strtol(label, &end, 10);
    if (!j->n && !errno && *label && !*end && v >= 0 && v < SPOT_MAX_PREDICTOR_OUTPUTS) {
        j->label = (int)v;
        return SPOT_OK;
    }
    if (!j->n)
        return spot_fail(c, SPOT_USAGE, "which output of the model is class \"%s\"? --classes names a text with the class of "
                         "each output, a line each; or give --label as the output's number from 0", label);
    return spot_fail(c, SPOT_USAGE, "there is no class \"%s\"; there are %d, the first is \"%s\" and the last \"%s\"", label,
                     j->n, j->name[0], j->name[j->n - 1]);
}

static spot_status open_classes(spot_ctx *c, judge *j, const char *label)
{
    const cli_gather_model *o = j->how;

    j->name = o->known;
    j->n = o->known_n;
    if (o->classes) {
        SPOT_TRY(spot_word_lines(c, &j->owned, &j->n, o->classes));
        j->name = j->owned;
    }
    return find_label(c, j, label);
}

/* One output stands for two classes. */
static spot_status check_outputs(spot_ctx *c, const judge *j, int outputs, const char *model)
{
    const int classes = outputs == 1 ? 2 : outputs;

    if (j->n && j->n != classes)
        return spot_fail(c, SPOT_INPUT, "%s has %d outputs, and there are %d classes, \"%s\" to \"%s\"; --classes names a text "
                         "with the class of each output, a line each", model, outputs, j->n, j->name[0], j->name[j->n - 1]);
    if (j->label >= classes)
        return spot_fail(c, SPOT_INPUT, "%s has %d outputs; there is no output %d", model, outputs, j->label);
    return SPOT_OK;
}

/* Ties with the label's own output are right, as in spot_subject_wrong. */
static spot_status judge_picture(spot_ctx *c, const judge *j, spot_new_picture *r, const float *v, int outputs, float half)
{
    char number[16];
    int best = j->label;

    if (outputs == 1) best = v[0] > half ? 1 : v[0] < half ? 0 : j->label;
    for (int k = 0; k < outputs && outputs > 1; k++)
        if (v[k] > v[best]) best = k;
    snprintf(number, sizeof number, "%d", best);
    r->predicted = strdup(j->n ? j->name[best] : number);
    if (!r->predicted) return spot_fail(c, SPOT_NOMEM, "no memory for the answers of a model");
    r->wrong = j->n ? strcmp(r->predicted, j->name[j->label]) != 0 : best != j->label;
    return SPOT_OK;
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

static spot_status check_count(spot_ctx *c, const char *probs, int64_t rows, const char *where, size_t names)
{
    if ((size_t)rows == names) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "%s has %lld rows, and %s has %zu pictures; --ids names the pictures of the rows", probs,
                     (long long)rows, where, names);
}

/* The rows by --ids, or all pictures of the folder in their order. */
static spot_status find_rows(spot_ctx *c, const judge *j, int *row, const spot_array *probs, const char *root)
{
    const char *ids = j->how->ids;
    spot_array names = { 0 };
    spot_folder f = { 0 };
    spot_status s;

    if (ids) {
        s = spot_array_read(c, &names, ids, 0);
        if (!s && names.type != SPOT_WORDS)
            s = spot_fail(c, SPOT_INPUT, "%s: the ids must be names of pictures below %s", names.name, root);
        if (!s) s = check_count(c, probs->name, probs->dim[0], ids, names.count);
        if (!s) s = match_rows(c, j, row, names.data, (int)names.count, ids);
        spot_array_close(&names);
        return s;
    }
    SPOT_TRY(spot_folder_pictures(c, &f, root));
    s = check_count(c, probs->name, probs->dim[0], root, (size_t)f.n);
    if (!s) s = match_rows(c, j, row, f.path, f.n, root);
    spot_folder_close(&f);
    return s;
}

/* One number a row is the probability of class 1 of two, else of the pictures' class, as in spotter discover. */
static spot_status judge_by_rows(spot_ctx *c, judge *j, const spot_array *a, const float *v, const int *row)
{
    const bool single = a->rank == 1 || a->dim[1] == 1, two = j->n ? j->n == 2 : j->label < 2;
    const int outputs = single ? 1 : (int)a->dim[1];

    if (!single || two) SPOT_TRY(check_outputs(c, j, outputs, a->name));
    for (int i = 0; i < j->p->n; i++) {
        spot_new_picture *r = &j->p->row[i];
        const float *x = v + (size_t)row[i] * (size_t)outputs;
        for (int k = 0; k < outputs; k++)
            if (!(x[k] >= 0 && x[k] <= 1))
                return spot_fail(c, SPOT_INPUT, "%s, row %d: %g is no probability", a->name, row[i], (double)x[k]);
        if (!single || two) SPOT_TRY(judge_picture(c, j, r, x, outputs, 0.5f));
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

/* ---- a model that looks ---- */

typedef struct { judge *j; spot_predictor *model; float *logit; int side, outputs; } looker;

enum { BATCH = 64 };

static spot_status look_at_batch(spot_ctx *c, void *user, const spot_picture_batch *b)
{
    looker *l = user;
    const spot_prediction q = { .rgb = b->rgb, .n = b->n, .side = l->side, .logit = l->logit };

    SPOT_TRY(spot_predict(c, l->model, &q));
    for (int i = 0; i < b->n; i++)
        SPOT_TRY(judge_picture(c, l->j, &l->j->p->row[b->picture[i]], l->logit + (size_t)i * (size_t)l->outputs, l->outputs,
                               0));
    return SPOT_OK;
}

static spot_status look_at_all(spot_ctx *c, looker *l, const char *root)
{
    const cli_gather_model *o = l->j->how;
    const cli_new_pictures *p = l->j->p;
    size_t bytes = (size_t)p->n * sizeof(char *);
    char **path, *at;
    int skipped = 0;
    spot_status s;

    for (int i = 0; i < p->n; i++) bytes += strlen(root) + strlen(p->row[i].picture) + 2;
    path = malloc(bytes + 1);
    if (!path) return spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", p->n);
    at = (char *)(path + p->n);
    for (int i = 0; i < p->n; i++) path[i] = at, at += sprintf(at, "%s/%s", root, p->row[i].picture) + 1;
    s = spot_picture_batches_run(c, &(spot_picture_batches){ .path = path, .n = p->n, .batch = BATCH, .resize = o->resize,
                                 .crop = o->crop, .filter = SPOT_BILINEAR, .stage = "look", .skip = true, .skipped = &skipped,
                                 .take = look_at_batch, .user = l });
    free(path);
    return s;
}

static spot_status judge_by_looking(spot_ctx *c, judge *j, const char *root)
{
    const cli_gather_model *o = j->how;
    spot_predictor_options p = { .kind = o->model ? SPOT_PREDICTOR_WEIGHTS : SPOT_PREDICTOR_COMMAND, .weights = o->model,
                                 .command = o->predict };
    looker l = { .j = j, .side = o->crop };
    spot_status s;

    if (o->own.function) p = o->own;
    p.side = o->crop;
    SPOT_TRY(spot_predictor_open(c, &l.model, &p));
    l.outputs = spot_predictor_about(l.model)->outputs;
    l.logit = malloc(BATCH * (size_t)l.outputs * sizeof *l.logit);
    s = l.logit ? check_outputs(c, j, l.outputs, name_of(o))
                : spot_fail(c, SPOT_NOMEM, "no memory for the answers of a model");
    if (!s) s = look_at_all(c, &l, root);
    free(l.logit);
    spot_predictor_close(c, l.model);
    return s;
}

spot_status cli_gather_judge(spot_ctx *c, cli_new_pictures *p, cli_claim *k, const cli_gather_model *how)
{
    judge j = { .how = how, .p = p };
    spot_status s = open_classes(c, &j, k->cls);

    snprintf(k->model, sizeof k->model, "%s", name_of(how));
    if (!s) s = how->probs ? judge_by_probs(c, &j, k->root) : judge_by_looking(c, &j, k->root);
    free(j.owned);
    return s;
}
