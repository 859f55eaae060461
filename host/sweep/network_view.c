/* network_view.c - EC -> images -> model -> view, for each of the networks. */
#include "sweep/network_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/negatives.h"
#include "net/conv.h"

const spot_network spot_classifier = { "model", "lesson", "view", spot_model_train };
const spot_network spot_robust = { "robust", "robust-lesson", "robust-view", spot_model_robust };

static spot_status keep_and_log(spot_ctx *c, spot_run *run, const spot_ec *ec, spot_key k, const char *kind, spot_pack_fn *pack,
                                void *value, double seconds)
{
    SPOT_TRY(spot_keep(c, &run->store, k, kind, pack, value));
    spot_run_log_kept(&run->run_log, kind, (int)ec->index, seconds);
    return SPOT_OK;
}

/* Recalls the model and the lesson, or trains from `start` (may be NULL). */
static spot_status train_network(spot_ctx *c, spot_arena *a, spot_run *run, const spot_network *net, spot_key key,
                                 const spot_ec *ec, const spot_model *start, spot_model *m, spot_learning *l)
{
    double since = spot_clock();
    bool model, lesson;
    spot_status s;

    SPOT_TRY(spot_recall(c, a, &run->store, key, net->model, spot_pack_model, m, &model));
    SPOT_TRY(spot_recall(c, a, &run->store, key, net->lesson, spot_pack_learning, l, &lesson));
    if (model && lesson) return SPOT_OK;
    memset(l, 0, sizeof *l);
    spot_range_begin(c, "train");
    s = net->train(c, a, m, l, ec, &run->cfg->model, start);
    spot_range_end(c);
    SPOT_TRY(s);
    SPOT_TRY(spot_keep(c, &run->store, key, net->lesson, spot_pack_learning, l));
    SPOT_TRY(keep_and_log(c, run, ec, key, net->model, spot_pack_model, m, spot_clock() - since));
    return spot_check_stop(c);
}

static spot_status recall_head(spot_ctx *c, spot_arena *a, const spot_store *s, const spot_network *net, spot_key key,
                               spot_view *v)
{
    spot_model m;
    size_t mark;
    bool there;

    SPOT_TRY(SPOT_TAKE(c, a, v->head, v->d));
    mark = a->used;
    SPOT_TRY(spot_recall(c, a, s, key, net->model, spot_pack_model, &m, &there));
    there = there && m.outputs == 1 && spot_model_features(m.arch, m.width) == v->d;
    if (there) spot_model_direction(v->head, &m);
    else v->head = NULL;
    a->used = mark;
    return SPOT_OK;
}

spot_status spot_network_view_recall(spot_ctx *c, spot_arena *a, const spot_store *s, const spot_network *net, spot_key key,
                                     spot_seen *seen, spot_learning *lesson, bool *there)
{
    bool learned;

    SPOT_TRY(spot_recall(c, a, s, key, net->view, spot_pack_seen, seen, there));
    SPOT_TRY(spot_recall(c, a, s, key, net->lesson, spot_pack_learning, lesson, &learned));
    *there = *there && learned;
    return *there && !seen->view.head ? recall_head(c, a, s, net, key, &seen->view) : SPOT_OK;
}

/* The last bits of a view depend on the GPU's convolution plans, so the log names them. */
static void log_plans(spot_ctx *c, spot_run *run, const spot_ec *ec)
{
    char text[64];

    if (!c->device) return;
    snprintf(text, sizeof text, "%016llx", (unsigned long long)spot_conv_made_with(c, NULL));
    spot_run_log_write(&run->run_log, "convolutions", (int)ec->index, NAN, text);
}

static spot_status look_and_keep(spot_ctx *c, spot_arena *a, spot_run *run, const spot_network *net, spot_key key,
                                 const spot_ec *ec, const spot_model *m, spot_device_features *there, spot_seen *seen)
{
    double since = spot_clock();
    spot_status s;

    spot_range_begin(c, "view");
    s = spot_model_look_on(c, a, there->at, &seen->view, &seen->truth, m, ec, SPOT_TEST, &run->cfg->model);
    spot_range_end(c);
    SPOT_TRY(s);
    there->filled = there->at != NULL;
    SPOT_TRY(keep_and_log(c, run, ec, key, net->view, spot_pack_seen, seen, spot_clock() - since));
    log_plans(c, run, ec);
    return spot_check_stop(c);
}

static spot_status look_at_negatives(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, const spot_ec *ec,
                                     const spot_model *m)
{
    double since = spot_clock();
    size_t mark = a->used;
    spot_seen seen;

    SPOT_TRY(spot_model_look_negatives(c, a, &seen.view, &seen.truth, m, ec, SPOT_TEST, &run->cfg->model));
    SPOT_TRY(keep_and_log(c, run, ec, key, SPOT_NEGATIVES, spot_pack_seen, &seen, spot_clock() - since));
    a->used = mark;
    return spot_check_stop(c);
}

static const spot_model *base_of(const spot_run *run) { return run->base.width ? &run->base : NULL; }

spot_status spot_classifier_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, const spot_ec *ec,
                                 spot_device_features *there, spot_seen *seen, spot_learning *lesson)
{
    bool repair = run->cfg->metric.repair, known;
    spot_model m = { 0 };

    SPOT_TRY(spot_network_view_recall(c, a, &run->store, &spot_classifier, key, seen, lesson, &known));
    if (known && (!repair || spot_store_has(&run->store, key, SPOT_NEGATIVES))) return SPOT_OK;
    SPOT_TRY(train_network(c, a, run, &spot_classifier, key, ec, base_of(run), &m, lesson));
    if (repair) SPOT_TRY(look_at_negatives(c, a, run, key, ec, &m));
    return known ? SPOT_OK : look_and_keep(c, a, run, &spot_classifier, key, ec, &m, there, seen);
}

spot_status spot_robust_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, spot_key classifier, const spot_ec *ec,
                             spot_device_features *there, spot_seen *seen, spot_learning *lesson)
{
    bool from_classifier = run->cfg->model.robust.from == SPOT_FROM_CLASSIFIER, known;
    spot_model m = { 0 }, start = { 0 };
    spot_learning first;

    SPOT_TRY(spot_network_view_recall(c, a, &run->store, &spot_robust, key, seen, lesson, &known));
    if (known) return SPOT_OK;
    if (from_classifier) SPOT_TRY(train_network(c, a, run, &spot_classifier, classifier, ec, base_of(run), &start, &first));
    SPOT_TRY(train_network(c, a, run, &spot_robust, key, ec, from_classifier ? &start : base_of(run), &m, lesson));
    return look_and_keep(c, a, run, &spot_robust, key, ec, &m, there, seen);
}
