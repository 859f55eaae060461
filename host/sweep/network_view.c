/* network_view.c - EC -> images -> model -> view, for each of the networks. */
#include "sweep/network_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ahead.h"
#include "core/device.h"
#include "models/negatives.h"
#include "models/network.h"
#include "net/conv.h"

const spot_network spot_classifier = { "model", "lesson", "view", false };
const spot_network spot_robust = { "robust", "robust-lesson", "robust-view", true };

/* A network of an EC: its values lie in the run's store at `key`. On a device the weights that it starts from lie at `from`,
 * and its own are left at `to`; either may be NULL. */
typedef struct {
    spot_run *run;
    const spot_network *net;
    spot_key key;
    const spot_ec *ec;
    const float *from;
    float *to;
    bool trained;                  /* now: `to` is filled */
    spot_ahead keeping;            /* writes the model beside the look */
    spot_ctx own;                  /* of that thread, with its failure */
    spot_status kept;
    spot_model model;
    double since;
} ec_network;

static spot_status keep_and_log(spot_ctx *c, const ec_network *n, const char *kind, spot_pack_fn *pack, void *value,
                                double since)
{
    const double seconds = spot_clock() - since;

    SPOT_TRY(spot_keep(c, &n->run->store, n->key, kind, pack, value));
    spot_run_log_kept(&n->run->run_log, kind, (int)n->ec->index, seconds, NULL);
    return SPOT_OK;
}

static void keep_model(void *user)
{
    ec_network *n = user;

    n->kept = keep_and_log(&n->own, n, n->net->model, spot_pack_model, &n->model, n->since);
}

/* On a device a thread writes the model while the device goes on, until end_keeping. */
static spot_status begin_keeping(spot_ctx *c, ec_network *n, spot_model *m, double since)
{
    n->own = (spot_ctx){ .ops = c->ops, .threads = 1, .stop = c->stop };
    n->model = *m, n->since = since;
    if (c->device && spot_ahead_start(&n->keeping, keep_model, n)) return SPOT_OK;
    return keep_and_log(c, n, n->net->model, spot_pack_model, m, since);
}

static spot_status end_keeping(spot_ctx *c, ec_network *n, spot_status s)
{
    const spot_status kept = (spot_ahead_join(&n->keeping), n->kept);

    n->kept = SPOT_OK;
    return s || !kept ? s : spot_fail_from(c, kept, &n->own);
}

/* Recalls the model and the lesson, or trains from `start` (may be NULL). */
static spot_status train_network(spot_ctx *c, spot_arena *a, ec_network *n, const spot_model *start, spot_model *m,
                                 spot_learning *l)
{
    const spot_store *store = &n->run->store;
    double since = spot_clock();
    bool model, lesson;
    spot_status s;

    SPOT_TRY(spot_recall(c, a, store, n->key, n->net->model, spot_pack_model, m, &model));
    SPOT_TRY(spot_recall(c, a, store, n->key, n->net->lesson, spot_pack_learning, l, &lesson));
    if (model && lesson) return SPOT_OK;
    memset(l, 0, sizeof *l);
    spot_range_begin(c, "train");
    s = spot_model_train_resident(c, a, m, l, n->ec, &n->run->cfg->model,
                                  &(spot_resident_training){ start, n->from, n->to, n->net->robust });
    spot_range_end(c);
    SPOT_TRY(s);
    n->trained = true;
    SPOT_TRY(spot_keep(c, store, n->key, n->net->lesson, spot_pack_learning, l));
    SPOT_TRY(begin_keeping(c, n, m, since));
    return spot_check_stop(c);
}

static spot_status recall_head(spot_ctx *c, spot_arena *a, const spot_store *s, const spot_network *net, spot_key key,
                               spot_view *v)
{
    spot_model m;
    size_t mark;
    bool found;

    SPOT_TRY(SPOT_TAKE(c, a, v->head, v->d));
    mark = a->used;
    SPOT_TRY(spot_recall(c, a, s, key, net->model, spot_pack_model, &m, &found));
    found = found && m.outputs == 1 && spot_model_features(m.arch, m.width) == v->d;
    if (found) spot_model_direction(v->head, &m);
    else v->head = NULL;
    a->used = mark;
    return SPOT_OK;
}

spot_status spot_network_view_recall(spot_ctx *c, spot_arena *a, const spot_store *s, const spot_network *net, spot_key key,
                                     const spot_network_view *v, bool *found)
{
    bool learned;

    SPOT_TRY(spot_recall(c, a, s, key, net->view, spot_pack_seen, v->seen, found));
    SPOT_TRY(spot_recall(c, a, s, key, net->lesson, spot_pack_learning, v->lesson, &learned));
    *found = *found && learned;
    return *found && !v->seen->view.head ? recall_head(c, a, s, net, key, &v->seen->view) : SPOT_OK;
}

/* The last bits of a view depend on the GPU's convolution plans, so the log names them. */
static void log_plans(spot_ctx *c, spot_run *run, const spot_ec *ec)
{
    char text[64];

    if (!c->device) return;
    snprintf(text, sizeof text, "%016llx", (unsigned long long)spot_conv_made_with(c, NULL));
    spot_run_log_write(&run->run_log, "convolutions", (int)ec->index, NAN, text);
}

static spot_status look_and_keep(spot_ctx *c, spot_arena *a, ec_network *n, const spot_model *m,
                                 const spot_network_view *v)
{
    spot_device_features *on_device = v->on_device;
    double since = spot_clock();
    spot_status s;

    spot_range_begin(c, "view");
    s = spot_model_look_resident(c, a, &(spot_resident_look){ m, n->trained ? n->to : NULL, on_device->at }, &v->seen->view,
                                 &v->seen->truth, n->ec, SPOT_TEST, &n->run->cfg->model);
    spot_range_end(c);
    SPOT_TRY(end_keeping(c, n, s));                    /* the model is in the store before its view */
    on_device->filled = on_device->at != NULL;
    SPOT_TRY(keep_and_log(c, n, n->net->view, spot_pack_seen, v->seen, since));
    log_plans(c, n->run, n->ec);
    return spot_check_stop(c);
}

static spot_status look_at_negatives(spot_ctx *c, spot_arena *a, const ec_network *n, const spot_model *m)
{
    double since = spot_clock();
    size_t mark = a->used;
    spot_seen seen;

    SPOT_TRY(spot_model_look_negatives(c, a, &seen.view, &seen.truth, m, n->ec, SPOT_TEST, &n->run->cfg->model));
    SPOT_TRY(keep_and_log(c, n, SPOT_NEGATIVES, spot_pack_seen, &seen, since));
    a->used = mark;
    return spot_check_stop(c);
}

/* An EC's networks start from the base model, if there is one. */
static const spot_model *base_of(const spot_run *run) { return run->base.width ? &run->base : NULL; }

/* Memory for the weights of an EC's network; NULL on the CPU. */
static spot_status take_weights(spot_ctx *c, const spot_run *run, const spot_ec *ec, void **at)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    const spot_model_config *cfg = &run->cfg->model;

    *at = NULL;
    if (!c->device) return SPOT_OK;
    return spot_device_take(c, at, spot_model_layout(table, cfg->arch, cfg->width, ec->targets) * sizeof(float));
}

spot_status spot_classifier_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, const spot_ec *ec,
                                 const spot_network_view *v)
{
    ec_network n = { .run = run, .net = &spot_classifier, .key = key, .ec = ec, .from = run->base_there };
    bool repair = run->cfg->metric.repair, known;
    spot_model m = { 0 };
    spot_status s;

    SPOT_TRY(spot_network_view_recall(c, a, &run->store, n.net, key, v, &known));
    if (known && (!repair || spot_store_has(&run->store, key, SPOT_NEGATIVES))) return SPOT_OK;
    SPOT_TRY(take_weights(c, run, ec, &v->weights->at));
    n.to = v->weights->at;
    s = train_network(c, a, &n, base_of(run), &m, v->lesson);
    v->weights->filled = !s && n.trained && n.to;
    if (!s && repair) s = look_at_negatives(c, a, &n, &m);
    if (!s && !known) s = look_and_keep(c, a, &n, &m, v);
    return end_keeping(c, &n, s);
}

static spot_status train_and_look(spot_ctx *c, spot_arena *a, ec_network *n, const spot_model *start,
                                  const spot_network_view *v)
{
    spot_model m = { 0 };
    void *own;
    spot_status s;

    SPOT_TRY(take_weights(c, n->run, n->ec, &own));
    n->to = own;
    s = train_network(c, a, n, start, &m, v->lesson);
    if (!s) s = look_and_keep(c, a, n, &m, v);
    s = end_keeping(c, n, s);
    spot_device_give(c, own);
    return s;
}

spot_status spot_robust_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, spot_key classifier, const spot_ec *ec,
                             const spot_network_view *v)
{
    ec_network n = { .run = run, .net = &spot_robust, .key = key, .ec = ec, .from = run->base_there };
    ec_network first = { .run = run, .net = &spot_classifier, .key = classifier, .ec = ec, .from = run->base_there };
    bool from_classifier = run->cfg->model.robust.from == SPOT_FROM_CLASSIFIER, known;
    spot_model start = { 0 };
    spot_learning first_lesson;

    SPOT_TRY(spot_network_view_recall(c, a, &run->store, n.net, key, v, &known));
    if (known) return SPOT_OK;
    if (from_classifier)
        SPOT_TRY(end_keeping(c, &first, train_network(c, a, &first, base_of(run), &start, &first_lesson)));
    if (from_classifier) n.from = v->weights->filled && !first.trained ? v->weights->at : NULL;
    return train_and_look(c, a, &n, from_classifier ? &start : base_of(run), v);
}
