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

#include "ops.h"
#include "conv.h"
#include "sweep/crew.h"

#define LOOKED 0.95                /* of an EC's time is over when its view is there; for the progress */

bool spot_is_verdict(spot_status s)
{
    return s == SPOT_NUMERIC || s == SPOT_INPUT || s == SPOT_USAGE || s == SPOT_INVALID;
}

/* What a stage works with. */
typedef struct {
    spot_ctx     *c;
    spot_arena   *a;
    spot_run     *run;
    spot_passage *p;               /* (count) */
    int           count;
    int           b;               /* the method at hand */
} wave;

static spot_status recall(const wave *w, spot_key k, const char *kind, spot_pack_fn *pack, void *value, bool *found)
{
    return spot_recall(w->c, w->a, &w->run->store, k, kind, pack, value, found);
}

static spot_status keep(const wave *w, const spot_passage *p, spot_key k, const char *kind, spot_pack_fn *pack, void *value,
                        double seconds)
{
    SPOT_TRY(spot_keep(w->c, &w->run->store, k, kind, pack, value));
    spot_diary_write(&w->run->diary, kind, (int)p->ec.index, seconds, NULL);
    return SPOT_OK;
}

/* How a stage went for one EC. A verdict goes into the segment, lack of memory is this EC's trouble, and both are
 * forgotten; anything else is passed up. */
static spot_status judge(const wave *w, spot_passage *p, spot_status s, const char *who, int *status, char message[1024])
{
    int ec = (int)p->ec.index;
    char text[1200];

    if (s == SPOT_OK) return s;
    if (s == SPOT_NOMEM) {
        p->trouble = s;
        message = p->message;
    } else if (spot_is_verdict(s)) *status = s;
    else return s;
    snprintf(message, 1024, "%s", spot_message(w->c, s));
    snprintf(text, sizeof text, "EC %d, %s: %s", ec, who, message);
    spot_diary_write(&w->run->diary, "failed", ec, NAN, text);
    spot_log(w->c, SPOT_LOG_WARN, "%s", text);
    spot_forget(w->c);
    return SPOT_OK;
}

static spot_status train(const wave *w, spot_passage *p, spot_model *m, spot_lesson *l)
{
    const spot_run *run = w->run;
    double since = spot_clock();
    bool model, lesson;

    SPOT_TRY(recall(w, p->key, "model", spot_pack_model, m, &model));
    SPOT_TRY(recall(w, p->key, "lesson", spot_pack_lesson, l, &lesson));
    if (model && lesson) return SPOT_OK;
    memset(l, 0, sizeof *l);
    SPOT_TRY(spot_model_train(w->c, w->a, m, l, &p->ec, &run->cfg->model, run->base.width ? &run->base : NULL));
    SPOT_TRY(spot_keep(w->c, &run->store, p->key, "lesson", spot_pack_lesson, l));
    SPOT_TRY(keep(w, p, p->key, "model", spot_pack_model, m, spot_clock() - since));
    return spot_check_stop(w->c);
}

/* The view and the lesson, where the store has both. */
static spot_status recall_view(const wave *w, spot_passage *p, bool *there)
{
    bool lesson;

    SPOT_TRY(recall(w, p->key, "view", spot_pack_seen, &p->seen, there));
    SPOT_TRY(recall(w, p->key, "lesson", spot_pack_lesson, &p->segment.lesson, &lesson));
    *there = *there && lesson;
    return SPOT_OK;
}

/* A view's last bits are those of the plans by which a GPU convolved, so the diary says which they were. */
static void note_plans(const wave *w, const spot_passage *p)
{
    char text[64];

    if (!w->c->device) return;
    snprintf(text, sizeof text, "%016llx", (unsigned long long)spot_conv_made_with(w->c, NULL));
    spot_diary_write(&w->run->diary, "convolutions", (int)p->ec.index, NAN, text);
}

/* EC -> view. The model is read or trained only when nobody has looked through it yet. */
static spot_status look(const wave *w, spot_passage *p)
{
    spot_seen *seen = &p->seen;
    spot_model model = { 0 };
    double since;
    bool there;

    SPOT_TRY(recall_view(w, p, &there));
    if (there) return SPOT_OK;
    SPOT_TRY(train(w, p, &model, &p->segment.lesson));
    since = spot_clock();
    SPOT_TRY(spot_model_look(w->c, w->a, &seen->view, &seen->truth, &model, &p->ec, SPOT_TEST, &w->run->cfg->model));
    SPOT_TRY(keep(w, p, p->key, "view", spot_pack_seen, seen, spot_clock() - since));
    note_plans(w, p);
    return spot_check_stop(w->c);
}

/* The task of a worker, whose context and arena these are. */
static spot_status look_at_one(spot_ctx *c, spot_arena *a, void *user, int i)
{
    wave w = *(const wave *)user;
    spot_passage *p = &w.p[i];
    int over = i < w.run->layout.at_once ? 0 : i + 1 - w.run->layout.at_once;       /* tasks, at least */
    char name[32];
    spot_status s;

    w.c = c;
    w.a = a;
    spot_tell(c, "sweep", (int)p->ec.index, w.run->before + LOOKED * over, w.run->planned, "");
    SPOT_TRY(spot_check_stop(c));
    snprintf(name, sizeof name, "EC %u", p->ec.index);
    spot_range_begin(c, name);
    s = look(&w, p);
    spot_range_end(c);
    return judge(&w, p, s, "training", &p->segment.status, p->segment.message);
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

/* Views pass from the workers to the wave through the store, as they pass from one run to the next. */
static spot_status look_at_all(wave *w)
{
    const spot_layout *l = &w->run->layout;

    SPOT_TRY(spot_crew_run(w->c, w->a, l->at_once, l->worker.host, w->count, look_at_one, w));
    SPOT_TRY(look_alone(w));
    for (int i = 0; i < w->count; i++) {
        spot_passage *p = &w->p[i];
        bool there;
        if (p->segment.status || p->trouble) continue;
        SPOT_TRY(recall_view(w, p, &there));
        if (!there)
            return spot_fail(w->c, SPOT_IO, "the view of EC %u was written to %s/cache and is gone; keep other programs out",
                             p->ec.index, w->run->store.dir);
        p->segment.methods = w->run->cfg->bdms;
    }
    return SPOT_OK;
}

/* A step of a method: from many ECs' values to many ECs' values in one call. */
typedef struct {
    const char   *kind;
    spot_pack_fn *pack;
    size_t        key, value;      /* where a passage has them */
    spot_status (*solve)(const wave *w, spot_passage **p, int n);
} step;

typedef struct { spot_view *view; spot_seed *seed; spot_points *points; } inputs;

static spot_status gather(const wave *w, inputs *in, spot_passage **p, int n)
{
    SPOT_TRY(SPOT_TAKE(w->c, w->a, in->view, n));
    SPOT_TRY(SPOT_TAKE(w->c, w->a, in->seed, n));
    SPOT_TRY(SPOT_TAKE(w->c, w->a, in->points, n));
    for (int i = 0; i < n; i++) {
        in->view[i] = p[i]->seen.view;
        in->seed[i] = p[i]->seed;
        in->points[i] = p[i]->points;
    }
    return SPOT_OK;
}

static spot_status embed(const wave *w, spot_passage **p, int n)
{
    inputs in;

    SPOT_TRY(gather(w, &in, p, n));
    SPOT_TRY(spot_embed_fit(w->c, w->a, n, in.points, in.view, in.seed, &w->run->cfg->bdm[w->b].embed));
    for (int i = 0; i < n; i++) p[i]->points = in.points[i];
    return SPOT_OK;
}

static spot_status find(const wave *w, spot_passage **p, int n)
{
    spot_hypotheses *found;
    inputs in;

    SPOT_TRY(gather(w, &in, p, n));
    SPOT_TRY(SPOT_TAKE(w->c, w->a, found, n));
    SPOT_TRY(spot_bdm_find(w->c, w->a, n, found, in.view, in.points, in.seed, &w->run->cfg->bdm[w->b]));
    for (int i = 0; i < n; i++) p[i]->found = found[i];
    return SPOT_OK;
}

#define IN(member) offsetof(spot_passage, member)
static const step reduce_step = { "points", spot_pack_points, IN(points_key), IN(points), embed };
static const step find_step   = { "found",  spot_pack_found,  IN(found_key),  IN(found),  find };

static void *value_of(const step *s, spot_passage *p)    { return (char *)p + s->value; }
static spot_key key_of(const step *s, spot_passage *p)   { return *(spot_key *)((char *)p + s->key); }

static spot_outcome *outcome_of(const wave *w, spot_passage *p) { return &p->segment.method[w->b]; }

/* One call for n ECs. A stop request is obeyed only now that all their values are safe. */
static spot_status attempt(const wave *w, const step *s, spot_passage **p, int n)
{
    size_t mark = w->a->used;
    double since = spot_clock(), each;
    spot_status how;

    spot_range_begin(w->c, s->kind);
    how = s->solve(w, p, n);
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
static spot_status together(const wave *w, const step *s, spot_passage **p, int n)
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

static bool goes_on(const wave *w, spot_passage *p)
{
    return !p->trouble && !p->segment.status && !outcome_of(w, p)->status;
}

static spot_status take_step(const wave *w, const step *s)
{
    spot_passage *missing[SPOT_WIDEST_WAVE];
    int n = 0;

    for (int i = 0; i < w->count; i++) {
        spot_passage *p = &w->p[i];
        bool found;
        if (!goes_on(w, p)) continue;
        SPOT_TRY(recall(w, key_of(s, p), s->kind, s->pack, value_of(s, p), &found));
        if (!found) missing[n++] = p;
    }
    return n ? together(w, s, missing, n) : SPOT_OK;
}

/* The score, and a picture of what the method did. */
static spot_status rate(const wave *w, spot_passage *p)
{
    spot_outcome *o = outcome_of(w, p);

    SPOT_TRY(spot_metric_score(w->c, &o->score, &p->found, &p->seen.truth, &w->run->cfg->metric));
    spot_segment_note(o, &p->found);
    return w->run->pictures ? spot_picture(w->c, w->a, w->run, p, w->b) : SPOT_OK;
}

/* One method on every view of the wave. */
static spot_status method(wave *w, int b)
{
    const spot_bdm_config *cfg = &w->run->cfg->bdm[b];
    size_t mark = w->a->used;

    w->b = b;
    for (int i = 0; i < w->count; i++) {
        spot_passage *p = &w->p[i];
        spot_bdm_name(cfg, outcome_of(w, p)->name, sizeof outcome_of(w, p)->name);
        spot_key_text(outcome_of(w, p)->settings, spot_key_of_method(cfg));
        p->points_key = spot_key_of_points(p->key, cfg);
        p->found_key = spot_key_of_found(p->points_key, cfg);
        p->points = (spot_points){ p->seen.view.n, p->seen.view.d, p->seen.view.feature, NAN };   /* unless reduced */
    }
    if (!spot_embed_is_nothing(&cfg->embed)) SPOT_TRY(take_step(w, &reduce_step));
    SPOT_TRY(take_step(w, &find_step));
    for (int i = 0; i < w->count; i++) {
        spot_passage *p = &w->p[i];
        spot_outcome *o = outcome_of(w, p);
        if (goes_on(w, p)) SPOT_TRY(judge(w, p, rate(w, p), o->name, &o->status, o->message));
    }
    w->a->used = mark;
    return SPOT_OK;
}

static spot_status begin(const wave *w, spot_passage *p, int index)
{
    const spot_run *run = w->run;
    const spot_config *cfg = run->cfg;

    memset(p, 0, sizeof *p);
    p->seed = (spot_seed){ cfg->seed, (uint32_t)index };
    p->key = spot_key_of_model(w->c, &run->id, cfg, (uint32_t)index);
    SPOT_TRY(spot_ec_draw(w->c, &p->ec, &cfg->scene, cfg->seed, (uint32_t)index));
    spot_segment_begin(w->c, &p->segment, cfg, &run->id, &p->ec);
    return SPOT_OK;
}

spot_status spot_pipeline(spot_ctx *c, spot_arena *a, spot_run *run, spot_passage *p, const int *index, int count)
{
    wave w = { .c = c, .a = a, .run = run, .p = p, .count = count };

    for (int i = 0; i < count; i++) SPOT_TRY(begin(&w, &p[i], index[i]));
    SPOT_TRY(look_at_all(&w));
    for (int b = 0; b < run->cfg->bdms; b++) SPOT_TRY(method(&w, b));
    return SPOT_OK;
}
