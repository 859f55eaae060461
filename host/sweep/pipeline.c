/* pipeline.c - the study in one function: spot_pipeline, at the end, takes a wave of ECs from their definitions to their
 * scores.
 *
 *     EC -> images -> model -> view -> points -> hypotheses -> score
 *     define_ecs      view_all_ecs     run_method, for each method
 *
 * Images are not kept: training and looking render them when they need them. Up to the view, ECs are computed one by one or
 * several at once; then each stage takes the whole wave in one call. Every stage first asks the store for its value, and
 * keeps a value that it computed. */
#define _POSIX_C_SOURCE 200809L
#include "sweep/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/device.h"
#include "store/embedding.h"
#include "study/workers.h"
#include "sweep/encoder_view.h"
#include "sweep/network_view.h"
#include "sweep/picture_threads.h"

#define VIEWED 0.95                /* share of an EC's time until its view is there; for the progress */

bool spot_wants_robust(const spot_config *cfg)
{
    for (int b = 0; b < cfg->bdms; b++)
        if (cfg->bdm[b].representation == SPOT_BY_ROBUST) return true;
    return false;
}

int spot_encoded_columns(const spot_config *cfg, const int *features)
{
    for (int b = 0; b < cfg->bdms; b++)
        if (cfg->bdm[b].representation == SPOT_BY_CLIP) return features[b];
    return 0;
}

size_t spot_resident_bytes(const spot_config *cfg, const int *features, int count, const int *rows)
{
    spot_arena a = spot_arena_counting();
    spot_ctx quiet = { 0 };
    float *x;

    for (int p = 0; p < count; p++)
        for (int networks = spot_wants_robust(cfg) ? 2 : 1; networks; networks--)
            SPOT_TAKE(&quiet, &a, x, (size_t)rows[p] * (size_t)spot_model_features(cfg->model.arch, cfg->model.width));
    for (int p = 0; p < count && spot_wants_clip(cfg); p++)
        SPOT_TAKE(&quiet, &a, x, (size_t)rows[p] * (size_t)spot_encoded_columns(cfg, features));
    for (int b = 0; b < cfg->bdms; b++)
        for (int p = 0; p < count; p++) {
            const spot_bdm_config *bdm = &cfg->bdm[b];
            int d = spot_embed_dim(&bdm->embed, rows[p], features[b]);
            if (bdm->representation == SPOT_BY_FILE || bdm->representation == SPOT_BY_ATTRIBUTES)
                SPOT_TAKE(&quiet, &a, x, (size_t)rows[p] * (size_t)features[b]);
            if (!spot_embed_is_nothing(&bdm->embed)) SPOT_TAKE(&quiet, &a, x, (size_t)rows[p] * (size_t)d);
        }
    return a.peak;
}

/* The ECs that go through the stages together. */
typedef struct {
    spot_ctx    *c;
    spot_arena  *a;
    spot_run    *run;
    spot_ec_run *p;                /* (count) */
    int          count;
    int          b;                /* the current method */
    spot_chain   chain;            /* the current method's work on the views */
    spot_picture_threads *drawers; /* draw the pictures beside the device's work; NULL on the CPU, or without pictures */
    spot_arena   on_device;            /* device memory: the features of all views, then the points of the methods so far */
} ec_wave;

/* Records the failure of a stage and forgets it: a verdict in the segment, lack of memory as the EC's trouble. Returns any
 * other failure. */
static spot_status record_failure(const ec_wave *w, spot_ec_run *p, spot_status s, const char *stage, int *status,
                                  char message[1024])
{
    int ec = (int)p->ec.index;
    char text[1200], *sentence = s == SPOT_NOMEM ? p->message : message;

    if (s != SPOT_NOMEM && !spot_is_verdict(s)) return s;
    if (s == SPOT_NOMEM) p->trouble = s;
    else *status = s;
    snprintf(sentence, 1024, "%s", spot_message_alone(w->c, s));
    snprintf(text, sizeof text, "EC %d, %s: %s", ec, stage, sentence);
    spot_run_log_write(&w->run->run_log, "failed", ec, NAN, text);
    spot_log(w->c, SPOT_LOG_WARN, "%s", text);
    spot_forget(w->c);
    return SPOT_OK;
}

/* -- EC -> images -> model -> view ---------------------------------------------------------------------------- */

/* The classifier's view of the EC, and the robust network's if a method needs its features. */
static spot_status view_by_networks(const ec_wave *w, spot_ec_run *p, spot_network_weights *weights)
{
    size_t mark = w->a->used;
    spot_seen seen;
    spot_learning lesson;
    spot_status s;

    s = spot_classifier_view(w->c, w->a, w->run, p->key, &p->ec,
                             &(spot_network_view){ &p->seen, &p->segment.lesson, &p->on_device, weights });
    SPOT_TRY(record_failure(w, p, s, "training", &p->segment.status, p->segment.message));
    if (s || !spot_wants_robust(w->run->cfg)) return SPOT_OK;
    w->a->used = mark;
    s = spot_robust_view(w->c, w->a, w->run, p->robust_key, p->key, &p->ec,
                         &(spot_network_view){ &seen, &lesson, &p->robust_on_device, weights });
    return record_failure(w, p, s, "robust training", &p->robust_status, p->robust_message);
}

static spot_status view_ec(const ec_wave *w, spot_ec_run *p)
{
    spot_network_weights weights = { 0 };
    const spot_status s = view_by_networks(w, p, &weights);

    spot_device_give(w->c, weights.at);
    return s;
}

/* A worker's task, with the worker's context and arena. */
static spot_status view_ec_task(spot_ctx *c, spot_arena *a, void *user, int i)
{
    ec_wave w = *(const ec_wave *)user;
    spot_ec_run *p = &w.p[i];
    int over = i < w.run->layout.at_once ? 0 : i + 1 - w.run->layout.at_once;       /* at least so many tasks are done */
    spot_status s;

    w.c = c;
    w.a = a;
    spot_tell(c, "sweep", (int)p->ec.index, w.run->before + VIEWED * over, w.run->planned, "");
    SPOT_TRY(spot_check_stop(c));
    spot_range_begin(c, spot_label_of(c, p->ec.index).text);
    s = view_ec(&w, p);
    spot_range_end(c);
    return s;
}

/* Repeats one by one the ECs that did not fit into memory together with others. */
static spot_status view_ecs_alone(ec_wave *w)
{
    size_t mark = w->a->used;

    for (int i = 0; i < w->count && w->run->layout.at_once > 1; i++) {
        if (!w->p[i].trouble) continue;
        w->p[i].trouble = SPOT_OK;
        SPOT_TRY(view_ec_task(w->c, w->a, w, i));
        w->a->used = mark;
    }
    return SPOT_OK;
}

/* Another process that keeps fewer values may have finished the EC and removed its view; spot_sweep_run checks that. */
static void record_lost_view(const ec_wave *w, spot_ec_run *p)
{
    p->trouble = SPOT_IO;
    snprintf(p->message, sizeof p->message, "its view was written to %.900s/cache and is gone; keep other programs out",
             w->run->store.dir);
}

/* Points a recalled view to its features on the device. Copies them there if no network has made them in this wave. */
static spot_status find_device_features(const ec_wave *w, const spot_ec_run *p, spot_device_features *on_device, spot_view *v)
{
    size_t bytes = (size_t)v->n * (size_t)v->d * sizeof *v->feature;

    v->device_feature = NULL;
    if (!on_device->at || v->n != spot_ec_positives(NULL, &p->ec, SPOT_TEST) || v->d != on_device->d) return SPOT_OK;
    if (!on_device->filled) SPOT_TRY(spot_device_copy(w->c, on_device->at, v->feature, bytes));
    on_device->filled = true;
    v->device_feature = on_device->at;
    return SPOT_OK;
}

/* The store passes the views from the workers to the wave, as from one run to the next; their features stay on the device. */
static spot_status view_all_ecs(ec_wave *w)
{
    const spot_layout *l = &w->run->layout;

    SPOT_TRY(spot_workers_run(w->c, w->a, &w->run->workers, l->at_once, l->worker.host, w->count, view_ec_task, w));
    SPOT_TRY(view_ecs_alone(w));
    for (int i = 0; i < w->count; i++) {
        spot_ec_run *p = &w->p[i];
        bool found;
        if (p->segment.status || p->trouble) continue;
        SPOT_TRY(spot_network_view_recall(w->c, w->a, &w->run->store, &spot_classifier, p->key,
                                          &(spot_network_view){ &p->seen, &p->segment.lesson, NULL, NULL }, &found));
        if (!found) {
            record_lost_view(w, p);
            continue;
        }
        SPOT_TRY(find_device_features(w, p, &p->on_device, &p->seen.view));
        spot_learning_by_view(&p->segment.lesson, &p->seen.view, &p->seen.truth, &w->run->cfg->model);
        spot_severity_of(&p->segment.severity, &p->seen.view, &p->seen.truth);
        spot_learning_by_band(&p->segment.lesson, &p->segment.severity, &w->run->cfg->model);
        p->segment.methods = w->run->cfg->bdms;
    }
    return SPOT_OK;
}

/* One EC after another, since an encoder serves one caller at a time and takes all threads. */
static spot_status encode_all_ecs(ec_wave *w)
{
    for (int i = 0; i < w->count && w->run->encoder; i++) {
        spot_ec_run *p = &w->p[i];
        size_t mark = w->a->used;
        spot_status s;
        if (p->segment.status || p->trouble) continue;
        SPOT_TRY(spot_check_stop(w->c));
        s = spot_encoder_view(w->c, w->a, w->run, p->clip_key, &p->ec);
        w->a->used = mark;
        SPOT_TRY(record_failure(w, p, s, "encoder", &p->clip_status, p->clip_message));
    }
    return SPOT_OK;
}

/* -- view -> points -> hypotheses -> score -------------------------------------------------------------------- */

static spot_outcome *outcome_of(const ec_wave *w, int i) { return &w->p[i].segment.method[w->b]; }

static void log_kept(void *user, int i, const char *kind, double seconds)
{
    const ec_wave *w = user;

    spot_run_log_kept(&w->run->run_log, kind, (int)w->p[i].ec.index, seconds, w->chain.who);
}

static spot_status record_method_failure(void *user, int i, spot_status s)
{
    const ec_wave *w = user;
    spot_outcome *o = outcome_of(w, i);

    return record_failure(w, &w->p[i], s, o->name, &o->status, o->message);
}

/* The graph that the method's coherence is measured on, computed for the first method that looks at these features. */
static spot_status find_graph(const ec_wave *w, int i)
{
    spot_ec_graph *g = w->p[i].graph[w->b];
    const spot_view *view = &w->chain.view[i];
    spot_status s = SPOT_OK;

    if (!g || g->found) return SPOT_OK;
    spot_range_begin(w->c, "neighbours");
    s = spot_metric_graph(w->c, g->column, &g->k, view, w->run->cfg->metric.neighbours);
    spot_range_end(w->c);
    g->found = s == SPOT_OK;
    return s;
}

/* The last layer is the classifier's, whatever features the method has looked at. */
static spot_status repair_classifier(const ec_wave *w, spot_ec_run *p, spot_score *score, const spot_hypotheses *found)
{
    size_t mark = w->a->used;
    spot_seen negatives;
    spot_status s;
    bool stored;

    SPOT_TRY(spot_recall(w->c, w->a, &w->run->store, p->key, SPOT_NEGATIVES, spot_pack_seen, &negatives, &stored));
    if (!stored) {
        record_lost_view(w, p);
        return SPOT_OK;
    }
    spot_range_begin(w->c, "repair");
    s = spot_metric_repair(w->c, score, &p->repair, found, &p->seen.view, &p->seen.truth, &negatives.view);
    spot_range_end(w->c);
    w->a->used = mark;
    return s;
}

static spot_status score_hypotheses(const ec_wave *w, int i, spot_score *score, const spot_hypotheses *found)
{
    spot_ec_run *p = &w->p[i];
    const spot_ec_graph *g = p->graph[w->b];

    SPOT_TRY(spot_metric_score(w->c, score, found, &p->seen.truth, &w->run->cfg->metric));
    SPOT_TRY(spot_metric_rank(w->c, score, found, &p->seen.view, &p->seen.truth));
    if (w->run->cfg->metric.repair) SPOT_TRY(repair_classifier(w, p, score, found));
    if (!g) return SPOT_OK;
    SPOT_TRY(find_graph(w, i));
    return spot_metric_coherence(w->c, score, found, g->column, p->seen.view.n, g->k);
}

/* The score, and a picture of points and hypotheses. The blindspots of real pictures are not all known, so FDR is undefined
 * there (paper, 5.2). */
static spot_status score_method(const ec_wave *w, int i)
{
    const spot_hypotheses *found = &w->chain.found[i];
    spot_outcome *o = outcome_of(w, i);
    spot_ec_run *p = &w->p[i];
    spot_status s;

    spot_range_begin(w->c, "score");
    s = score_hypotheses(w, i, &o->score, found);
    spot_range_end(w->c);
    SPOT_TRY(s);
    if (p->ec.photos) o->score.fdr = o->score.beside[SPOT_FALSE_SHARE] = NAN;
    spot_segment_note(o, found);
    if (!w->run->pictures) return SPOT_OK;
    return spot_method_picture(w->c, w->a, w->run, p, w->b, w->chain.points[i], found, w->drawers);
}

static spot_status take_robust_features(const ec_wave *w, int i, spot_view *view)
{
    spot_outcome *o = outcome_of(w, i);
    spot_ec_run *p = &w->p[i];
    spot_learning lesson;
    spot_seen seen;
    bool found;

    o->status = p->robust_status;
    snprintf(o->message, sizeof o->message, "%s", p->robust_message);
    if (o->status) return SPOT_OK;
    SPOT_TRY(spot_network_view_recall(w->c, w->a, &w->run->store, &spot_robust, p->robust_key,
                                      &(spot_network_view){ &seen, &lesson, NULL, NULL }, &found));
    if (!found || seen.view.n != view->n) {
        record_lost_view(w, p);
        return SPOT_OK;
    }
    SPOT_TRY(find_device_features(w, p, &p->robust_on_device, &seen.view));
    view->feature = seen.view.feature;
    view->device_feature = seen.view.device_feature;
    view->d = seen.view.d;
    view->head = seen.view.head;
    return SPOT_OK;
}

static spot_status take_clip_features(const ec_wave *w, int i, spot_view *view)
{
    spot_outcome *o = outcome_of(w, i);
    spot_ec_run *p = &w->p[i];
    bool found;

    o->status = p->clip_status;
    snprintf(o->message, sizeof o->message, "%s", p->clip_message);
    if (o->status) return SPOT_OK;
    snprintf(o->embedding, sizeof o->embedding, "%s", w->run->id.encoder);
    SPOT_TRY(spot_encoder_view_recall(w->c, w->a, &w->run->store, p->clip_key, view, &found));
    if (found) return find_device_features(w, p, &p->clip_on_device, view);
    record_lost_view(w, p);
    return SPOT_OK;
}

/* The attributes of the EC's images, as columns of 0 and 1. */
static spot_status take_attributes(const ec_wave *w, int i, spot_view *view)
{
    const spot_ec *ec = &w->p[i].ec;

    view->d = spot_ec_items(ec);
    view->head = NULL;
    SPOT_TRY(SPOT_TAKE(w->c, w->a, view->feature, (size_t)view->n * (size_t)view->d));
    for (int r = 0; r < view->n; r++) {
        spot_image image;
        spot_image_draw(&image, ec, SPOT_TEST, (uint32_t)view->image[r]);
        spot_image_items(view->feature + (size_t)r * (size_t)view->d, &image, ec);
    }
    return SPOT_OK;
}

/* Features that do not come from the wave's device. */
static spot_status put_features(ec_wave *w, spot_view *view)
{
    size_t numbers = (size_t)view->n * (size_t)view->d;

    view->device_feature = NULL;
    if (!w->chain.on_device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(w->c, &w->on_device, view->device_feature, numbers));
    return spot_device_copy(w->c, view->device_feature, view->feature, numbers * sizeof *view->feature);
}

/* The view with the features of the method's representation, and the key of these features. */
static spot_status take_features(ec_wave *w, int i, spot_view *view, spot_key *features)
{
    const spot_bdm_config *cfg = &w->run->cfg->bdm[w->b];
    spot_ec_run *p = &w->p[i];
    spot_key content;

    *view = p->seen.view;
    *features = cfg->representation == SPOT_BY_ROBUST ? p->robust_key : p->key;
    if (cfg->representation == SPOT_BY_ROBUST) return take_robust_features(w, i, view);
    if (cfg->representation == SPOT_BY_MODEL) return SPOT_OK;
    if (cfg->representation == SPOT_BY_CLIP) {
        *features = spot_key_of_features(p->key, p->clip_key);
        return take_clip_features(w, i, view);
    }
    if (cfg->representation == SPOT_BY_ATTRIBUTES) {
        *features = spot_key_of_attributes(p->key);
        SPOT_TRY(take_attributes(w, i, view));
        return put_features(w, view);
    }
    SPOT_TRY(spot_embedding_read(w->c, w->a, view, &content, cfg->embeddings, (int)p->ec.index,
                                 w->run->layout.features[w->b]));
    spot_key_text(outcome_of(w, i)->embedding, content);
    *features = spot_key_of_features(p->key, content);
    return put_features(w, view);
}

static bool has_failed(const ec_wave *w, int i)
{
    return w->p[i].trouble || w->p[i].segment.status || outcome_of(w, i)->status;
}

/* The first method that looks at the features of method b. */
static int features_owner(const spot_config *cfg, int b)
{
    for (int o = 0; o < b; o++)
        if (cfg->bdm[o].representation == cfg->bdm[b].representation &&
            (cfg->bdm[b].representation != SPOT_BY_FILE || !strcmp(cfg->bdm[o].embeddings, cfg->bdm[b].embeddings)))
            return o;
    return b;
}

size_t spot_graph_bytes(const spot_config *cfg, int rows)
{
    size_t graphs = 0;

    for (int b = 0; b < cfg->bdms && cfg->metric.neighbours; b++) graphs += features_owner(cfg, b) == b;
    return graphs * (spot_arena_room(sizeof(spot_ec_graph))
                     + spot_arena_room((size_t)rows * (size_t)cfg->metric.neighbours * sizeof(int)));
}

/* Takes room for the graph of the current method's features, which methods after it may share. */
static spot_status take_graph(ec_wave *w, int i)
{
    const spot_config *cfg = w->run->cfg;
    spot_ec_run *p = &w->p[i];
    int owner = features_owner(cfg, w->b);
    spot_ec_graph *g;

    p->graph[w->b] = owner < w->b ? p->graph[owner] : NULL;
    if (owner < w->b || !cfg->metric.neighbours || p->segment.status || p->trouble) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(w->c, w->a, g, 1));
    *g = (spot_ec_graph){ 0 };
    SPOT_TRY(SPOT_TAKE(w->c, w->a, g->column, (size_t)p->seen.view.n * (size_t)cfg->metric.neighbours));
    p->graph[w->b] = g;
    return SPOT_OK;
}

/* The points of a method so far with this key, on the device; NULL: none. */
static float *points_there_of(const ec_wave *w, int i, spot_key key)
{
    for (int b = 0; b < w->b; b++)
        if (w->p[i].points_there[b].key.hi == key.hi && w->p[i].points_there[b].key.lo == key.lo)
            return w->p[i].points_there[b].at;
    return NULL;
}

/* Prepares the current method on EC i. */
static spot_status begin_method(ec_wave *w, int i)
{
    const spot_bdm_config *cfg = &w->run->cfg->bdm[w->b];
    spot_outcome *o = outcome_of(w, i);
    spot_chain *k = &w->chain;
    spot_key features;

    spot_bdm_name(cfg, o->name, sizeof o->name);
    spot_key_text(o->settings, spot_key_of_method(cfg));
    k->skip[i] = has_failed(w, i);
    if (k->skip[i]) return SPOT_OK;
    SPOT_TRY(record_method_failure(w, i, take_features(w, i, &k->view[i], &features)));
    k->skip[i] = has_failed(w, i);
    k->seed[i] = (spot_seed){ w->run->cfg->seed, w->p[i].ec.index };
    k->points_key[i] = spot_key_of_points(features, cfg);
    k->found_key[i] = spot_key_of_found(k->points_key[i], cfg);
    k->points[i] = (spot_points){ .device_at = points_there_of(w, i, k->points_key[i]) };
    return SPOT_OK;
}

/* Runs method b on every view of the wave. */
static spot_status run_method(ec_wave *w, int b)
{
    size_t mark;

    w->b = b;
    for (int i = 0; i < w->count; i++) SPOT_TRY(take_graph(w, i));
    mark = w->a->used;
    w->chain.method = &w->run->cfg->bdm[b];
    for (int i = 0; i < w->count; i++) SPOT_TRY(begin_method(w, i));
    w->chain.who = outcome_of(w, 0)->name;
    SPOT_TRY(spot_chain_points(&w->chain));                    /* view -> points */
    for (int i = 0; i < w->count; i++)
        if (!w->chain.skip[i]) {
            w->p[i].points_there[b].key = w->chain.points_key[i];
            w->p[i].points_there[b].at = w->chain.points[i].device_at;
        }
    SPOT_TRY(spot_chain_found(&w->chain));                     /* points -> hypotheses */
    for (int i = 0; i < w->count; i++)                         /* hypotheses -> score */
        if (!w->chain.skip[i]) SPOT_TRY(record_method_failure(w, i, score_method(w, i)));
    w->a->used = mark;
    return SPOT_OK;
}

/* -- the whole study ------------------------------------------------------------------------------------------ */

static spot_status define_ec(const ec_wave *w, spot_ec_run *p, int index)
{
    const spot_run *run = w->run;
    const spot_config *cfg = run->cfg;

    memset(p, 0, sizeof *p);
    p->key = spot_key_of_model(w->c, &run->id, cfg, (uint32_t)index);
    p->robust_key = spot_key_of_robust(w->c, &run->id, cfg, (uint32_t)index);
    p->clip_key = spot_key_of_clip(w->c, &run->id, cfg, (uint32_t)index);
    SPOT_TRY(spot_source_ec(w->c, &p->ec, &run->source, (uint32_t)index));
    return spot_segment_begin(w->c, &p->segment, cfg, &run->id, &p->ec);
}

/* Takes device memory for the features of `rows` rows. */
static spot_status take_on_device(ec_wave *w, spot_device_features *on_device, int rows, int d)
{
    on_device->d = d;
    return SPOT_TAKE(w->c, &w->on_device, on_device->at, (size_t)rows * (size_t)d);
}

/* Opens the device's memory for features and points. Without room for them, as when another program has taken it, every stage
 * copies what it needs. */
static spot_status open_device_memory(ec_wave *w)
{
    int rows[w->count];
    spot_status s;

    if (!w->c->device) return SPOT_OK;
    for (int i = 0; i < w->count; i++) rows[i] = spot_ec_positives(NULL, &w->p[i].ec, SPOT_TEST);
    s = spot_arena_open_device(w->c, &w->on_device, spot_resident_bytes(w->run->cfg, w->run->layout.features, w->count, rows));
    if (s == SPOT_NOMEM) {
        spot_log(w->c, SPOT_LOG_INFO, "features and points are copied to the device for every stage: %s",
                 spot_take_message(w->c, s));
        return SPOT_OK;
    }
    SPOT_TRY(s);
    w->chain.on_device = &w->on_device;
    for (int i = 0; i < w->count; i++) {
        const int d = spot_model_features(w->run->cfg->model.arch, w->run->cfg->model.width);
        SPOT_TRY(take_on_device(w, &w->p[i].on_device, rows[i], d));
        if (spot_wants_robust(w->run->cfg)) SPOT_TRY(take_on_device(w, &w->p[i].robust_on_device, rows[i], d));
        if (w->run->encoder) SPOT_TRY(take_on_device(w, &w->p[i].clip_on_device, rows[i],
                                                     spot_encoder_about(w->run->encoder)->dim));
    }
    return SPOT_OK;
}

/* A picture that failed fails its method. */
static spot_status judge_picture(void *user, const spot_ec_run *p, int b, spot_status s)
{
    ec_wave *w = user;

    w->b = b;
    return record_method_failure(w, (int)(p - w->p), s);
}

static spot_status run_stages(ec_wave *w)
{
    SPOT_TRY(open_device_memory(w));
    SPOT_TRY(view_all_ecs(w));                                                     /* EC -> images -> model -> view */
    SPOT_TRY(encode_all_ecs(w));                                                   /* EC -> images -> features */
    SPOT_TRY(spot_chain_open(&w->chain, w->count, false));
    for (int b = 0; b < w->run->cfg->bdms; b++) SPOT_TRY(run_method(w, b));        /* view -> points -> hypotheses -> score */
    return SPOT_OK;
}

spot_status spot_pipeline(spot_ctx *c, spot_arena *a, spot_run *run, spot_ec_run *p, const int *index, int count)
{
    ec_wave w = { .c = c, .a = a, .run = run, .p = p, .count = count };
    spot_status s, drawn;

    w.chain = (spot_chain){ .c = c, .a = a, .store = &run->store, .study = &w, .judge = record_method_failure,
                            .kept = log_kept };
    for (int i = 0; i < count; i++) SPOT_TRY(define_ec(&w, &p[i], index[i]));      /* config -> ECs */
    if (c->device && run->pictures) SPOT_TRY(spot_pictures_open(c, &w.drawers, c->threads));
    s = run_stages(&w);
    spot_arena_close(&w.on_device);
    drawn = spot_pictures_close(c, w.drawers, s ? NULL : judge_picture, &w);
    return s ? s : drawn;
}
