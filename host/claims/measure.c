/* measure.c - whether a classifier is wrong on new pictures, by looking at them. */
#define _POSIX_C_SOURCE 200809L
#include "claims/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/greatest.h"
#include "models/foreign_model.h"
#include "models/idle_cores.h"
#include "models/picture_input.h"
#include "worlds/picture_batches.h"

/* One output stands for two classes. */
spot_status spot_measure_check(spot_ctx *c, const spot_measure_options *o, int outputs)
{
    const int classes = outputs == 1 ? 2 : outputs;

    if (o->classes && o->classes != classes)
        return spot_fail(c, SPOT_INPUT, "%s has %d outputs, and there are %d classes, \"%s\" to \"%s\"; give the class of each "
                         "output", o->name, outputs, o->classes, o->class_name[0], o->class_name[o->classes - 1]);
    if (o->label >= classes)
        return spot_fail(c, SPOT_INPUT, "%s has %d outputs; there is no output %d", o->name, outputs, o->label);
    return SPOT_OK;
}

spot_status spot_measure_picture(spot_ctx *c, const spot_measure_options *o, spot_new_picture *r, const float *v, int outputs,
                                 float half)
{
    char number[16];
    const int best = outputs == 1 ? v[0] > half : spot_first_greatest(v, outputs);

    snprintf(number, sizeof number, "%d", best);
    free(r->predicted);
    r->predicted = strdup(o->classes ? o->class_name[best] : number);
    if (!r->predicted) return spot_fail(c, SPOT_NOMEM, "no memory for the answers of a model");
    r->wrong = o->classes ? strcmp(r->predicted, o->class_name[o->label]) != 0 : best != o->label;
    return SPOT_OK;
}

typedef struct {
    const spot_measure_options *o;
    spot_new_pictures *p;
    spot_predictor *model;
    float *logit;
    int outputs;
} looker;

enum { BATCH = 64 };

static spot_status look_at_batch(spot_ctx *c, void *user, const spot_picture_batch *b)
{
    looker *l = user;
    const spot_prediction q = { .rgb = b->rgb, .n = b->n, .side = l->o->model->side, .logit = l->logit };

    SPOT_TRY(spot_predict(c, l->model, &q));
    for (int i = 0; i < b->n; i++)
        SPOT_TRY(spot_measure_picture(c, l->o, &l->p->row[b->picture[i]], l->logit + (size_t)i * (size_t)l->outputs,
                                      l->outputs, 0));
    return SPOT_OK;
}

/* A function is a network of this program, which needs no word. */
static void say_input(spot_ctx *c, const spot_measure_options *o, spot_filter filter)
{
    const spot_predictor_options *m = o->model;
    const bool program = m->kind == SPOT_PREDICTOR_COMMAND || (m->weights && spot_is_foreign(m->weights));
    spot_input_words square;

    if (m->kind == SPOT_PREDICTOR_FUNCTION) return;
    spot_picture_input_say_by(c, o->name, spot_square_words(&square, o->resize, m->side, filter), &m->input, program,
                              SPOT_INPUT_OPTIONS);
}

static spot_status look_at_all(spot_ctx *c, looker *l)
{
    const spot_measure_options *o = l->o;
    const spot_new_pictures *p = l->p;
    size_t bytes = (size_t)p->n * sizeof(char *);
    char **path, *at;
    const spot_filter filter = spot_picture_input_filter(&o->model->input, SPOT_BILINEAR);
    int skipped = 0;
    spot_status s;

    say_input(c, o, filter);
    for (int i = 0; i < p->n; i++) bytes += strlen(o->folder) + strlen(p->row[i].picture) + 2;
    path = malloc(bytes + 1);
    if (!path) return spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", p->n);
    at = (char *)(path + p->n);
    for (int i = 0; i < p->n; i++) path[i] = at, at += sprintf(at, "%s/%s", o->folder, p->row[i].picture) + 1;
    s = spot_picture_batches_run(c, &(spot_picture_batches){ .path = path, .n = p->n, .batch = BATCH, .resize = o->resize,
                                 .crop = o->model->side, .filter = filter, .reading = o->reading, .stage = "look",
                                 .skip = true, .skipped = &skipped, .take = look_at_batch, .user = l });
    free(path);
    return s;
}

spot_status spot_measure(spot_ctx *c, spot_new_pictures *p, const spot_measure_options *o)
{
    looker l = { .o = o, .p = p };
    spot_status s;

    SPOT_TRY(spot_predictor_open(c, &l.model, o->model));
    if (o->model->kind == SPOT_PREDICTOR_WEIGHTS && o->model->precision == SPOT_FP32)
        spot_warn_of_fp32_alone(c, "networks of --model");
    l.outputs = spot_predictor_about(l.model)->outputs;
    l.logit = malloc(BATCH * (size_t)l.outputs * sizeof *l.logit);
    s = l.logit ? spot_measure_check(c, o, l.outputs) : spot_fail(c, SPOT_NOMEM, "no memory for the answers of a model");
    if (!s) s = look_at_all(c, &l);
    free(l.logit);
    spot_predictor_close(c, l.model);
    return s;
}
