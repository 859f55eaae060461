/* network_view.c - EC -> images -> model -> view, for each of the networks. */
#include "sweep/network_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/negatives.h"
#include "net/conv.h"

const spot_network spot_classifier = { "model", "lesson", "view", spot_model_train };
const spot_network spot_robust = { "robust", "robust-lesson", "robust-view", spot_model_robust };

/* A network of an EC: its values lie in the run's store at `key`. */
typedef struct { spot_run *run; const spot_network *net; spot_key key; const spot_ec *ec; } ec_network;

static spot_status keep_and_log(spot_ctx *c, const ec_network *n, const char *kind, spot_pack_fn *pack, void *value,
                                double since)
{
    const double seconds = spot_clock() - since;

    SPOT_TRY(spot_keep(c, &n->run->store, n->key, kind, pack, value));
    spot_run_log_kept(&n->run->run_log, kind, (int)n->ec->index, seconds);
    return SPOT_OK;
}

/* Recalls the model and the lesson, or trains from `start` (may be NULL). */
static spot_status train_network(spot_ctx *c, spot_arena *a, const ec_network *n, const spot_model *start, spot_model *m,
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
    s = n->net->train(c, a, m, l, n->ec, &n->run->cfg->model, start);
    spot_range_end(c);
    SPOT_TRY(s);
    SPOT_TRY(spot_keep(c, store, n->key, n->net->lesson, spot_pack_learning, l));
    SPOT_TRY(keep_and_log(c, n, n->net->model, spot_pack_model, m, since));
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

static spot_status look_and_keep(spot_ctx *c, spot_arena *a, const ec_network *n, const spot_model *m,
                                 const spot_network_view *v)
{
    spot_device_features *on_device = v->on_device;
    double since = spot_clock();
    spot_status s;

    spot_range_begin(c, "view");
    s = spot_model_look_on(c, a, on_device->at, &v->seen->view, &v->seen->truth, m, n->ec, SPOT_TEST, &n->run->cfg->model);
    spot_range_end(c);
    SPOT_TRY(s);
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

static const spot_model *base_of(const spot_run *run) { return run->base.width ? &run->base : NULL; }

spot_status spot_classifier_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, const spot_ec *ec,
                                 const spot_network_view *v)
{
    const ec_network n = { run, &spot_classifier, key, ec };
    bool repair = run->cfg->metric.repair, known;
    spot_model m = { 0 };

    SPOT_TRY(spot_network_view_recall(c, a, &run->store, n.net, key, v, &known));
    if (known && (!repair || spot_store_has(&run->store, key, SPOT_NEGATIVES))) return SPOT_OK;
    SPOT_TRY(train_network(c, a, &n, base_of(run), &m, v->lesson));
    if (repair) SPOT_TRY(look_at_negatives(c, a, &n, &m));
    return known ? SPOT_OK : look_and_keep(c, a, &n, &m, v);
}

spot_status spot_robust_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, spot_key classifier, const spot_ec *ec,
                             const spot_network_view *v)
{
    const ec_network n = { run, &spot_robust, key, ec }, first = { run, &spot_classifier, classifier, ec };
    bool from_classifier = run->cfg->model.robust.from == SPOT_FROM_CLASSIFIER, known;
    spot_model m = { 0 }, start = { 0 };
    spot_learning first_lesson;

    SPOT_TRY(spot_network_view_recall(c, a, &run->store, n.net, key, v, &known));
    if (known) return SPOT_OK;
    if (from_classifier) SPOT_TRY(train_network(c, a, &first, base_of(run), &start, &first_lesson));
    SPOT_TRY(train_network(c, a, &n, from_classifier ? &start : base_of(run), &m, v->lesson));
    return look_and_keep(c, a, &n, &m, v);
}
