/* pipeline.c - the project in one function: spot_pipeline takes a wave of ECs from their definitions to their scores.
 *
 *     EC -> images -> model -> view -> points -> hypotheses -> score
 *
 * Images have no line of their own: training and looking render them as they need them. Up to their views ECs go one by
 * one, or some side by side; from there on the whole wave goes through a stage in one call. Every stage first asks the
 * store for its value and keeps what it computed. */
#define _POSIX_C_SOURCE 200809L
#include "sweep/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/ops.h"
#include "store/embedding.h"
#include "sweep/network_view.h"
#include "work/workers.h"

#define LOOKED 0.95                /* of an EC's time is over when its view is there; for the progress */

bool spot_is_verdict(spot_status s)
{
    return s == SPOT_NUMERIC || s == SPOT_INPUT || s == SPOT_USAGE || s == SPOT_INVALID;
}

bool spot_wants_robust(const spot_config *cfg)
{
    for (int b = 0; b < cfg->bdms; b++)
        if (cfg->bdm[b].representation == SPOT_BY_ROBUST) return true;
    return false;
}

/* What a stage works with. */
typedef struct {
    spot_ctx     *c;
    spot_arena   *a;
    spot_run     *run;
    spot_ec_run *p;               /* (count) */
    int           count;
    int           b;               /* the method at hand */
} wave;

static spot_status recall(const wave *w, spot_key k, const char *kind, spot_pack_fn *pack, void *value, bool *found)
{
    return spot_recall(w->c, w->a, &w->run->store, k, kind, pack, value, found);
}

static spot_status keep(const wave *w, const spot_ec_run *p, spot_key k, const char *kind, spot_pack_fn *pack, void *value,
                        double seconds)
{
    SPOT_TRY(spot_keep(w->c, &w->run->store, k, kind, pack, value));
    spot_run_log_kept(&w->run->run_log, kind, (int)p->ec.index, seconds);
    return SPOT_OK;
}

/* How a stage went for one EC. A verdict goes into the segment, lack of memory is this EC's trouble, and both are
 * forgotten; anything else is passed up. */
static spot_status judge(const wave *w, spot_ec_run *p, spot_status s, const char *who, int *status, char message[1024])
{
    int ec = (int)p->ec.index, said = 0;
    char text[1200];

    if (s == SPOT_OK) return s;
    if (s == SPOT_NOMEM) {
        p->trouble = s;
        message = p->message;
    } else if (spot_is_verdict(s)) *status = s;
    else return s;
    sscanf(spot_message(w->c, s), "EC %*u: %n", &said);    /* the segment and the line below say whose it is */
    snprintf(message, 1024, "%s", spot_message(w->c, s) + said);
    snprintf(text, sizeof text, "EC %d, %s: %s", ec, who, message);
    spot_run_log_write(&w->run->run_log, "failed", ec, NAN, text);
    spot_log(w->c, SPOT_LOG_WARN, "%s", text);
    spot_forget(w->c);
    return SPOT_OK;
}

/* Through the classifier, and through the robust network where a method will ask for what it saw. */
static spot_status look_through_both(const wave *w, spot_ec_run *p)
{
    size_t mark = w->a->used;
    spot_seen seen;
    spot_learning lesson;
    spot_status s;

    s = spot_network_view(w->c, w->a, w->run, &spot_classifier, p->key, &p->ec, &p->seen, &p->segment.lesson);
    SPOT_TRY(judge(w, p, s, "training", &p->segment.status, p->segment.message));
    if (s || !spot_wants_robust(w->run->cfg)) return SPOT_OK;
    w->a->used = mark;
    s = spot_network_view(w->c, w->a, w->run, &spot_robust, p->robust_key, &p->ec, &seen, &lesson);
    return judge(w, p, s, "robust training", &p->robust_status, p->robust_message);
}

/* The task of a worker, whose context and arena these are. */
static spot_status look_at_one(spot_ctx *c, spot_arena *a, void *user, int i)
{
    wave w = *(const wave *)user;
    spot_ec_run *p = &w.p[i];
    int over = i < w.run->layout.at_once ? 0 : i + 1 - w.run->layout.at_once;       /* tasks, at least */
    char name[32];
    spot_status s;

    w.c = c;
    w.a = a;
    spot_tell(c, "sweep", (int)p->ec.index, w.run->before + LOOKED * over, w.run->planned, "");
    SPOT_TRY(spot_check_stop(c));
    snprintf(name, sizeof name, "EC %u", p->ec.index);
    spot_range_begin(c, name);
    s = look_through_both(&w, p);
    spot_range_end(c);
    return s;
}

/* Once more for each that found no memory beside the others. */
static spot_status look_alone(wave *w)
{
    size_t mark = w->a->used;

    for (int i = 0; i < w->count && w->run->layout.at_once > 1; i++) {
        if (!w->p[i].trouble) continue;
        w->p[i].trouble = SPOT_OK;
        SPOT_TRY(look_at_one(w->c, w->a, w, i));
        w->a->used = mark;
    }
    return SPOT_OK;
}

/* Another process may have finished the EC and dropped its values, if it keeps less; spot_sweep_run will see. */
static void is_gone(const wave *w, spot_ec_run *p)
{
    p->trouble = SPOT_IO;
    snprintf(p->message, sizeof p->message, "its view was written to %.900s/cache and is gone; keep other programs out",
             w->run->store.dir);
}

/* Views pass from the workers to the wave through the store, as they pass from one run to the next. */
static spot_status look_at_all(wave *w)
{
    const spot_layout *l = &w->run->layout;

    SPOT_TRY(spot_workers_run(w->c, w->a, l->at_once, l->worker.host, w->count, look_at_one, w));
    SPOT_TRY(look_alone(w));
    for (int i = 0; i < w->count; i++) {
        spot_ec_run *p = &w->p[i];
        bool there;
        if (p->segment.status || p->trouble) continue;
        SPOT_TRY(spot_network_view_recall(w->c, w->a, &w->run->store, &spot_classifier, p->key, &p->seen, &p->segment.lesson, &there));
        if (!there) {
            is_gone(w, p);
            continue;
        }
        spot_learning_by_view(&p->segment.lesson, &p->seen.view, &p->seen.truth, &w->run->cfg->model);
        p->segment.methods = w->run->cfg->bdms;
    }
    return SPOT_OK;
}

/* A step of a method: from many ECs' values to many ECs' values in one call. */
typedef struct {
    const char   *kind;
    spot_pack_fn *pack;
    size_t        key, value;      /* where a passage has them */
    spot_status (*solve)(const wave *w, spot_ec_run **p, int n);
} step;

typedef struct { spot_view *view; spot_seed *seed; spot_points *points; } inputs;

static spot_status gather(const wave *w, inputs *in, spot_ec_run **p, int n)
{
    SPOT_TRY(SPOT_TAKE(w->c, w->a, in->view, n));
    SPOT_TRY(SPOT_TAKE(w->c, w->a, in->seed, n));
    SPOT_TRY(SPOT_TAKE(w->c, w->a, in->points, n));
    for (int i = 0; i < n; i++) {
        in->view[i] = p[i]->view;
        in->seed[i] = p[i]->seed;
        in->points[i] = p[i]->points;
    }
    return SPOT_OK;
}

static spot_status embed(const wave *w, spot_ec_run **p, int n)
{
    inputs in;

    SPOT_TRY(gather(w, &in, p, n));
    SPOT_TRY(spot_embed_fit(w->c, w->a, n, in.points, in.view, in.seed, &w->run->cfg->bdm[w->b].embed));
    for (int i = 0; i < n; i++) p[i]->points = in.points[i];
    return SPOT_OK;
}

static spot_status find(const wave *w, spot_ec_run **p, int n)
{
    spot_hypotheses *found;
    inputs in;

    SPOT_TRY(gather(w, &in, p, n));
    SPOT_TRY(SPOT_TAKE(w->c, w->a, found, n));
    SPOT_TRY(spot_bdm_find(w->c, w->a, n, found, in.view, in.points, in.seed, &w->run->cfg->bdm[w->b]));
    for (int i = 0; i < n; i++) p[i]->found = found[i];
    return SPOT_OK;
}

#define IN(member) offsetof(spot_ec_run, member)
static const step reduce_step = { "points", spot_pack_points, IN(points_key), IN(points), embed };
static const step find_step   = { "found",  spot_pack_found,  IN(found_key),  IN(found),  find };

static void *value_of(const step *s, spot_ec_run *p)    { return (char *)p + s->value; }
static spot_key key_of(const step *s, spot_ec_run *p)   { return *(spot_key *)((char *)p + s->key); }

static spot_outcome *outcome_of(const wave *w, spot_ec_run *p) { return &p->segment.method[w->b]; }

/* One call for n ECs. A stop request is obeyed only now that all their values are safe. */
static spot_status attempt(const wave *w, const step *s, spot_ec_run **p, int n)
{
    size_t mark = w->a->used;
    double since = spot_clock(), each;
    spot_status how;

    spot_range_begin(w->c, s->kind);
    w->c->who = outcome_of(w, p[0])->name;
    how = s->solve(w, p, n);
    w->c->who = NULL;
    spot_range_end(w->c);
    if (how) {
        w->a->used = mark;
        return how;
    }
    each = (spot_clock() - since) / n;
    for (int i = 0; i < n; i++) SPOT_TRY(keep(w, p[i], key_of(s, p[i]), s->kind, s->pack, value_of(s, p[i]), each));
    return spot_check_stop(w->c);
}

/* One call for n ECs; where it fails for what one of them is, or for their number, a call for each half, until a failure
 * stands alone with the EC that it belongs to. */
static spot_status together(const wave *w, const step *s, spot_ec_run **p, int n)
{
    spot_status how = attempt(w, s, p, n);
    spot_outcome *o = outcome_of(w, p[0]);

    if (n == 1) return judge(w, p[0], how, o->name, &o->status, o->message);
    if (how == SPOT_OK || !(spot_is_verdict(how) || how == SPOT_NOMEM)) return how;
    spot_log(w->c, SPOT_LOG_DEBUG, "%s of %d ECs at once: %s; in halves", s->kind, n, spot_message(w->c, how));
    spot_forget(w->c);
    SPOT_TRY(together(w, s, p, n / 2));
    return together(w, s, p + n / 2, n - n / 2);
}

static bool goes_on(const wave *w, spot_ec_run *p)
{
    return !p->trouble && !p->segment.status && !outcome_of(w, p)->status;
}

static spot_status take_step(const wave *w, const step *s)
{
    spot_ec_run *missing[SPOT_WIDEST_WAVE];
    int n = 0;

    for (int i = 0; i < w->count; i++) {
        spot_ec_run *p = &w->p[i];
        bool found;
        if (!goes_on(w, p)) continue;
        SPOT_TRY(recall(w, key_of(s, p), s->kind, s->pack, value_of(s, p), &found));
        if (!found) missing[n++] = p;
    }
    return n ? together(w, s, missing, n) : SPOT_OK;
}

/* The score, and a picture of what the method did. Of real pictures nobody knows all blindspots, so that none of what is found
 * can be called false (paper, 5.2). */
static spot_status rate(const wave *w, spot_ec_run *p)
{
    spot_outcome *o = outcome_of(w, p);

    SPOT_TRY(spot_metric_score(w->c, &o->score, &p->found, &p->seen.truth, &w->run->cfg->metric));
    if (p->ec.photos) o->score.fdr = NAN;
    spot_segment_note(o, &p->found);
    return w->run->pictures ? spot_method_picture(w->c, w->a, w->run, p, w->b) : SPOT_OK;
}

static spot_status take_robust(const wave *w, spot_ec_run *p)
{
    spot_outcome *o = outcome_of(w, p);
    spot_learning lesson;
    spot_seen seen;
    bool there;

    o->status = p->robust_status;
    snprintf(o->message, sizeof o->message, "%s", p->robust_message);
    if (o->status) return SPOT_OK;
    SPOT_TRY(spot_network_view_recall(w->c, w->a, &w->run->store, &spot_robust, p->robust_key, &seen, &lesson, &there));
    if (!there || seen.view.n != p->view.n) return is_gone(w, p), SPOT_OK;
    p->view.feature = seen.view.feature;
    p->view.d = seen.view.d;
    p->view.head = seen.view.head;
    return SPOT_OK;
}

/* The view as the method's representation shows it, and the key of its features. */
static spot_status represent(const wave *w, spot_ec_run *p, spot_key *features)
{
    const spot_bdm_config *cfg = &w->run->cfg->bdm[w->b];
    spot_key content;

    p->view = p->seen.view;
    *features = cfg->representation == SPOT_BY_ROBUST ? p->robust_key : p->key;
    if (cfg->representation == SPOT_BY_ROBUST) return take_robust(w, p);
    if (cfg->representation == SPOT_BY_MODEL) return SPOT_OK;
    SPOT_TRY(spot_embedding_read(w->c, w->a, &p->view, &content, cfg->embeddings, (int)p->ec.index,
                                 w->run->layout.features[w->b]));
    spot_key_text(outcome_of(w, p)->embedding, content);
    *features = spot_key_of_features(p->key, content);
    return SPOT_OK;
}

/* What the method at hand begins with; the points are the features themselves unless something reduces them. */
static spot_status prepare(const wave *w, spot_ec_run *p)
{
    const spot_bdm_config *cfg = &w->run->cfg->bdm[w->b];
    spot_outcome *o = outcome_of(w, p);
    spot_key features;

    spot_bdm_name(cfg, o->name, sizeof o->name);
    spot_key_text(o->settings, spot_key_of_method(cfg));
    if (!goes_on(w, p)) return SPOT_OK;
    SPOT_TRY(judge(w, p, represent(w, p, &features), o->name, &o->status, o->message));
    p->points_key = spot_key_of_points(features, cfg);
    p->found_key = spot_key_of_found(p->points_key, cfg);
    p->points = (spot_points){ p->view.n, p->view.d, p->view.feature, NAN };
    return SPOT_OK;
}

/* One method on every view of the wave. */
static spot_status method(wave *w, int b)
{
    const spot_bdm_config *cfg = &w->run->cfg->bdm[b];
    size_t mark = w->a->used;

    w->b = b;
    for (int i = 0; i < w->count; i++) SPOT_TRY(prepare(w, &w->p[i]));
    if (!spot_embed_is_nothing(&cfg->embed)) SPOT_TRY(take_step(w, &reduce_step));
    SPOT_TRY(take_step(w, &find_step));
    for (int i = 0; i < w->count; i++) {
        spot_ec_run *p = &w->p[i];
        spot_outcome *o = outcome_of(w, p);
        if (goes_on(w, p)) SPOT_TRY(judge(w, p, rate(w, p), o->name, &o->status, o->message));
    }
    w->a->used = mark;
    return SPOT_OK;
}

static spot_status begin(const wave *w, spot_ec_run *p, int index)
{
    const spot_run *run = w->run;
    const spot_config *cfg = run->cfg;

    memset(p, 0, sizeof *p);
    p->seed = (spot_seed){ cfg->seed, (uint32_t)index };
    p->key = spot_key_of_model(w->c, &run->id, cfg, (uint32_t)index);
    p->robust_key = spot_key_of_robust(w->c, &run->id, cfg, (uint32_t)index);
    SPOT_TRY(spot_source_ec(w->c, &p->ec, &run->source, (uint32_t)index));
    return spot_segment_begin(w->c, &p->segment, cfg, &run->id, &p->ec);
}

spot_status spot_pipeline(spot_ctx *c, spot_arena *a, spot_run *run, spot_ec_run *p, const int *index, int count)
{
    wave w = { .c = c, .a = a, .run = run, .p = p, .count = count };

    for (int i = 0; i < count; i++) SPOT_TRY(begin(&w, &p[i], index[i]));
    SPOT_TRY(look_at_all(&w));
    for (int b = 0; b < run->cfg->bdms; b++) SPOT_TRY(method(&w, b));
    return SPOT_OK;
}
