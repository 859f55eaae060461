/* shift_look.c - models that look at the pictures themselves. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shifts/shift_answers.h"
#include "spotter/encoder.h"

enum { PIECE = 1024 };

typedef struct {
    const spot_shift_answers  *a;
    const spot_shift_pictures *p;
    spot_encoder *network;
    int   model, outputs;
    int  *output;              /* (n): the greatest output of each picture */
    char  name[200];           /* of the progress */
} looker;

static spot_status look_piece(spot_ctx *c, looker *v, int from, int n)
{
    const spot_encoder_info *info = spot_encoder_about(v->network);
    float *feature = malloc((size_t)n * info->dim * sizeof *feature), *logit = malloc((size_t)n * v->outputs * sizeof *logit);
    char **path = spot_shift_paths(v->p, from, n);
    spot_status s = feature && logit && path ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to look at %d pictures", n);

    if (s == SPOT_OK)
        s = spot_encode_pictures(c, v->network, &(spot_encoder_pictures){ .path = path, .n = n, .feature = feature,
                                 .logit = logit, .stage = v->name, .before = from, .total = v->p->list.n });
    for (int i = 0; i < n && s == SPOT_OK; i++) {
        const float *row = logit + (size_t)i * v->outputs;
        int best = 0;
        for (int k = 0; k < v->outputs; k++) {
            if (!isfinite(row[k])) s = spot_fail(c, SPOT_NUMERIC, "%s: output %d for %s is not a finite number",
                                                 v->a->cfg->model[v->model].weights, k, path[i]);
            if (row[k] > row[best]) best = k;
        }
        v->output[from + i] = best;
    }
    free(feature);
    free(logit);
    free(path);
    return s;
}

static spot_status look_at_all(spot_ctx *c, looker *v)
{
    const int block = spot_encoder_about(v->network)->picture_block, piece = block < PIECE ? PIECE / block * block : block;

    for (int from = 0; from < v->p->list.n; from += piece)
        SPOT_TRY(look_piece(c, v, from, v->p->list.n - from < piece ? v->p->list.n - from : piece));
    return SPOT_OK;
}

/* The outputs from the cache, or by looking. */
static spot_status find_outputs(spot_ctx *c, looker *v)
{
    const char *name = spot_encoder_about(v->network)->name;
    const size_t bytes = (size_t)v->p->list.n * sizeof *v->output;
    const spot_key key = spot_key_join(spot_key_of(v->p->hash, strlen(v->p->hash)), "answers", name, strlen(name));
    unsigned char *kept = NULL;
    size_t size = 0;
    bool found = false;

    SPOT_TRY(spot_store_get(c, v->a->store, key, "answers", &kept, &size, &found));
    found = found && size == bytes;
    if (found) memcpy(v->output, kept, bytes);
    free(kept);
    if (found) return SPOT_OK;
    SPOT_TRY(look_at_all(c, v));
    return spot_store_put(c, v->a->store, key, "answers", v->output, bytes);
}

/* index: the words of the outputs; NULL: the classes in order. */
static spot_status look_with(spot_ctx *c, looker *v, const int *index, int outputs, int *answer)
{
    const spot_shift_model *m = &v->a->cfg->model[v->model];
    const spot_encoder_info *info = spot_encoder_about(v->network);

    if (info->kind != SPOT_ENCODER_RESNET || !info->outputs)
        return spot_fail(c, SPOT_INPUT, "%s is no ResNet-18 with a head; the model \"%s\" predicts classes", m->weights,
                         m->name);
    v->outputs = info->outputs;
    if (v->outputs != outputs)
        return spot_fail(c, SPOT_INPUT, "%s has %d outputs, and %s %d; models[].classes is a text with the class of each "
                         "output", m->weights, v->outputs, m->classes[0] ? m->classes : "the study's classes are", outputs);
    SPOT_TRY(find_outputs(c, v));
    for (int i = 0; i < v->p->list.n; i++) answer[i] = index ? index[v->output[i]] : v->output[i];
    return SPOT_OK;
}

static spot_status look(spot_ctx *c, spot_shift_answers *a, int unit, int model)
{
    const spot_shift_model *m = &a->cfg->model[model];
    const spot_shift_pictures *p = a->unit[unit].pictures;
    spot_encoder_options o = spot_encoder_defaults();
    looker v = { .a = a, .p = p, .model = model };
    int *index = NULL, outputs;
    spot_status s;

    snprintf(v.name, sizeof v.name, "%s", m->name);
    o.resize = m->resize, o.crop = m->crop;
    v.output = malloc(((size_t)p->list.n + 1) * sizeof *v.output);
    s = v.output ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d answers", p->list.n);
    if (s == SPOT_OK) s = spot_shift_outputs(c, &a->words, &index, &outputs, m);
    if (s == SPOT_OK) s = spot_encoder_open(c, &v.network, m->weights, &o);
    if (s == SPOT_OK) s = look_with(c, &v, index, outputs, a->unit[unit].answer + (size_t)model * p->list.n);
    spot_encoder_close(c, v.network);
    free(index);
    free(v.output);
    return s;
}

spot_status spot_shift_answers_look(spot_ctx *c, spot_shift_answers *a, int unit)
{
    for (int m = 0; m < a->cfg->models; m++)
        if (a->cfg->model[m].weights[0]) SPOT_TRY(look(c, a, unit, m));
    return SPOT_OK;
}
