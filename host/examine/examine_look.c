/* examine_look.c - see examine_look.h. */
#include "examine/examine_look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/greatest.h"
#include "core/device.h"
#include "models/foreign_model.h"
#include "models/output_classes.h"
#include "models/picture_input.h"
#include "store/contents.h"

/* ---- the model ---- */

spot_status spot_examine_model_hash(spot_ctx *c, char hash[33], const spot_examine_source *from,
                                    const spot_examine_backgrounds *pictures, const spot_store *store)
{
    const char *file[] = { from->path, from->model->classes };
    const char *program = spot_program_text(from->model->weights, from->model->command);
    const bool function = from->options->function != NULL;
    spot_key k = spot_key_of(pictures->hash, strlen(pictures->hash));

    for (int i = function; i < 2; i++) {
        spot_key content;
        if (!file[i][0]) continue;
        SPOT_TRY(spot_contents_of(c, &content, NULL, &file[i], 1, store));
        k = spot_key_join(k, i ? "classes" : "weights", &content, sizeof content);
    }
    if (!function && from->model->identity[0])
        k = spot_key_join(k, "program", from->model->identity, strlen(from->model->identity));
    else if (!function) k = spot_key_join(k, "command", program, strlen(program));
    else if (from->options->identity)
        k = spot_key_join(k, "function", from->options->identity, strlen(from->options->identity));
    if (!function) k = spot_picture_input_join(k, &from->model->input, *program);
    spot_key_text(hash, k);
    return SPOT_OK;
}

static spot_status open_predictor(spot_ctx *c, spot_examine_looker *l, const spot_examine_source *from, int side)
{
    const spot_examine_options *o = from->options;
    spot_predictor_options p = { .side = side };

    if (o->function) {
        p.kind = SPOT_PREDICTOR_FUNCTION, p.function = o->function, p.user = o->user, p.identity = o->identity;
        p.outputs = o->outputs;
    } else if (from->path[0]) p.kind = SPOT_PREDICTOR_WEIGHTS, p.weights = from->path, p.input = from->model->input;
    else {
        p.input = from->model->input;
        p.kind = SPOT_PREDICTOR_COMMAND, p.identity = from->model->identity;
        p.command = spot_program_text(from->model->weights, from->model->command);
    }
    return spot_predictor_open(c, &l->predictor, &p);
}

static spot_status check_outputs(spot_ctx *c, spot_examine_looker *l, const spot_examine_source *from,
                                 const spot_catalogue *list)
{
    const spot_examine_model *m = from->model;
    char **name = malloc(((size_t)list->classes + 1) * sizeof *name);
    spot_status s;

    if (!name) return spot_fail(c, SPOT_NOMEM, "no memory for the names of %d classes", list->classes);
    for (int k = 0; k < list->classes; k++) name[k] = list->cls[k];
    s = spot_output_classes(c, &l->class_of, &l->outputs, m->classes, m->name, name, list->classes);
    if (s == SPOT_OK)
        s = spot_output_check(c, spot_predictor_about(l->predictor)->outputs, l->class_of, l->outputs, m->classes, m->name,
                              list->classes);
    free(name);
    return s;
}

spot_status spot_examine_looker_open(spot_ctx *c, spot_examine_looker *l, const spot_examine_source *from,
                                     spot_examine_objects_list *o, const spot_examine_backgrounds *pictures)
{
    const int most = c->device ? SPOT_EXAMINE_DEVICE_BATCH : SPOT_EXAMINE_BATCH, size = o->cfg->render.size;

    memset(l, 0, sizeof *l);
    SPOT_TRY(open_predictor(c, l, from, size));
    SPOT_TRY(check_outputs(c, l, from, &o->list));
    const spot_predictor_info *about = spot_predictor_about(l->predictor);
    l->logit = malloc((size_t)most * (size_t)about->outputs * sizeof *l->logit);
    if (c->device && about->kind != SPOT_PREDICTOR_WEIGHTS) {
        l->host = malloc((size_t)most * 3 * (size_t)size * (size_t)size);
        if (!l->host) return spot_fail(c, SPOT_NOMEM, "no memory for %d renders", most);
    }
    if (!l->logit) return spot_fail(c, SPOT_NOMEM, "no memory for the answers to %d renders", most);
    return spot_examine_drawer_open(c, &l->drawer, o, pictures, most);
}

void spot_examine_looker_close(spot_ctx *c, spot_examine_looker *l)
{
    spot_examine_drawer_close(&l->drawer);
    spot_predictor_close(c, l->predictor);
    free(l->class_of), free(l->logit), free(l->host);
    memset(l, 0, sizeof *l);
}

/* ---- looks ---- */

/* p of class cls by softmax, and the class of the answer. */
static void read_answer(spot_examine_seen *to, const float *logit, int outputs, const int *class_of, int cls)
{
    const int most = spot_first_greatest(logit, outputs);
    double sum = 0, own = 0;

    for (int i = 0; i < outputs; i++) {
        const double e = exp((double)logit[i] - logit[most]);
        sum += e;
        if ((class_of ? class_of[i] : i) == cls) own += e;
    }
    to->p = (float)(own / sum);
    to->answer = class_of ? class_of[most] : most;
}

static spot_status look_at_some(spot_ctx *c, spot_examine_looker *l, const spot_examine_shot *shot, int n,
                                spot_examine_seen *seen)
{
    spot_examine_drawer *d = &l->drawer;
    const size_t bytes = (size_t)n * 3 * (size_t)d->settings.size * (size_t)d->settings.size;
    const int outputs = spot_predictor_about(l->predictor)->outputs;

    SPOT_TRY(spot_examine_draw(c, d, shot, n));
    if (l->host) SPOT_TRY(spot_device_copy(c, l->host, d->rgb, bytes));
    const spot_prediction q = { .rgb = l->host ? l->host : d->rgb, .n = n, .side = d->settings.size, .logit = l->logit };
    SPOT_TRY(spot_predict(c, l->predictor, &q));
    for (int i = 0; i < n; i++) {
        read_answer(&seen[i], l->logit + (size_t)i * (size_t)outputs, outputs, l->class_of,
                    d->objects->list.entry[shot[i].entry].cls);
        seen[i].valid = spot_examine_is_valid(&d->objects->cfg->valid, &d->seen[i]);
    }
    return SPOT_OK;
}

spot_status spot_examine_look(spot_ctx *c, spot_examine_looker *l, const spot_examine_shot *shot, int n,
                              spot_examine_seen *seen)
{
    for (int from = 0; from < n; from += l->drawer.most) {
        const int some = n - from < l->drawer.most ? n - from : l->drawer.most;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(look_at_some(c, l, shot + from, some, seen + from));
    }
    return SPOT_OK;
}
