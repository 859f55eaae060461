/* pipeline.c - the project in two functions: spot_pipeline takes an EC to its view, `method` takes the view to a score.
 *
 *     EC -> images -> model -> view -> points -> hypotheses -> score
 *
 * Images have no line of their own: training and looking render them as they need them. Every stage first asks the
 * store for its value and keeps what it computed. */
#define _POSIX_C_SOURCE 200809L
#include "sweep/pipeline.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ops.h"
#include "spotter/report.h"
#include "sweep/pack.h"

bool spot_is_verdict(spot_status s)
{
    return s == SPOT_NUMERIC || s == SPOT_INPUT || s == SPOT_USAGE || s == SPOT_INVALID;
}

/* One EC on its way through the stages. */
typedef struct {
    spot_ctx   *c;
    spot_arena *a;
    spot_run   *run;
    spot_ec     ec;
    spot_seed   seed;
    spot_key    key;           /* of its model and view */
} passage;

static spot_status recall(passage *p, spot_key k, const char *kind, spot_pack_fn *pack, void *value, bool *found)
{
    return spot_recall(p->c, p->a, &p->run->store, k, kind, pack, value, found);
}

/* Ends a stage. A stop request is obeyed only now that its value is safe. */
static spot_status keep(passage *p, spot_key k, const char *kind, spot_pack_fn *pack, void *value, double since)
{
    double took = spot_clock() - since;

    SPOT_TRY(spot_keep(p->c, &p->run->store, k, kind, pack, value));
    spot_diary_write(&p->run->diary, kind, (int)p->ec.index, took, NULL);
    return spot_check_stop(p->c);
}

static spot_status train(passage *p, spot_model *m, spot_lesson *l)
{
    double since = spot_clock();
    bool model, lesson;

    SPOT_TRY(recall(p, p->key, "model", spot_pack_model, m, &model));
    SPOT_TRY(recall(p, p->key, "lesson", spot_pack_lesson, l, &lesson));
    if (model && lesson) return SPOT_OK;
    memset(l, 0, sizeof *l);
    SPOT_TRY(spot_model_train(p->c, p->a, m, l, &p->ec, &p->run->cfg->model, p->run->base.width ? &p->run->base : NULL));
    SPOT_TRY(spot_keep(p->c, &p->run->store, p->key, "lesson", spot_pack_lesson, l));
    return keep(p, p->key, "model", spot_pack_model, m, since);
}

static spot_status train_base(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key)
{
    const spot_config *cfg = run->cfg;
    double since = spot_clock();
    spot_lesson lesson;
    char why[1024];
    spot_status s = spot_model_base(c, a, &run->base, &lesson, &cfg->scene, &cfg->model, cfg->seed);

    if (s && spot_is_verdict(s)) {                     /* the sentence speaks of a training, not of which */
        snprintf(why, sizeof why, "%s", spot_message(c, s));
        spot_forget(c);
        return spot_fail(c, s, "the base model: %s", why);
    }
    SPOT_TRY(s);
    SPOT_TRY(spot_keep(c, &run->store, key, "base", spot_pack_model, &run->base));
    spot_diary_write(&run->diary, "base", -1, spot_clock() - since, NULL);
    spot_log(c, SPOT_LOG_INFO, "base model: tells %.2f %% of the attributes of its validation images right",
             100 * lesson.outside);
    return SPOT_OK;
}

spot_status spot_pipeline_base(spot_ctx *c, spot_arena *a, spot_run *run)
{
    spot_key key = spot_key_of_base(c, run->cfg);
    char path[1200];
    bool found;

    if (!run->cfg->model.base.images) return SPOT_OK;
    SPOT_TRY(spot_recall(c, a, &run->store, key, "base", spot_pack_model, &run->base, &found));
    if (!found) SPOT_TRY(train_base(c, a, run, key));
    snprintf(path, sizeof path, "%s/base.safetensors", run->store.dir);
    return found && !access(path, F_OK) ? SPOT_OK : spot_model_save(c, path, &run->base);
}

/* The model is read or trained only when nobody has looked through it yet. */
static spot_status look(passage *p, spot_seen *seen, spot_lesson *l)
{
    spot_model model = { 0 };
    bool view, lesson;
    double since;

    SPOT_TRY(recall(p, p->key, "view", spot_pack_seen, seen, &view));
    SPOT_TRY(recall(p, p->key, "lesson", spot_pack_lesson, l, &lesson));
    if (view && lesson) return SPOT_OK;
    SPOT_TRY(train(p, &model, l));
    since = spot_clock();
    SPOT_TRY(spot_model_look(p->c, p->a, &seen->view, &seen->truth, &model, &p->ec, SPOT_TEST, &p->run->cfg->model));
    return keep(p, p->key, "view", spot_pack_seen, seen, since);
}

static spot_status reduce(passage *p, spot_points *points, spot_key k, const spot_view *view, const spot_bdm_config *cfg)
{
    double since = spot_clock();
    bool found;

    SPOT_TRY(recall(p, k, "points", spot_pack_points, points, &found));
    if (found) return SPOT_OK;
    SPOT_TRY(spot_embed_fit(p->c, p->a, 1, points, view, &p->seed, &cfg->embed));
    return keep(p, k, "points", spot_pack_points, points, since);
}

static spot_status find(passage *p, spot_hypotheses *h, spot_key k, const spot_view *view, const spot_points *points,
                        const spot_bdm_config *cfg)
{
    double since = spot_clock();
    bool found;

    SPOT_TRY(recall(p, k, "found", spot_pack_found, h, &found));
    if (found) return SPOT_OK;
    SPOT_TRY(spot_bdm_find(p->c, p->a, 1, h, view, points, &p->seed, cfg));
    return keep(p, k, "found", spot_pack_found, h, since);
}

void spot_picture_path(char *path, size_t size, const char *dir, int index, int b, const char *method)
{
    char name[80];
    size_t n = 0;

    for (; method[n] && n + 1 < sizeof name; n++)
        name[n] = isalnum((unsigned char)method[n]) || strchr("._-", method[n]) ? method[n] : '-';
    name[n] = 0;
    snprintf(path, size, "%s/pictures/ec-%06d-%d-%s.png", dir, index, b, name);
}

/* A verdict goes into the segment and is forgotten; anything else is passed up. */
static spot_status judge(passage *p, spot_status s, const char *who, int *status, char message[1024])
{
    int ec = (int)p->ec.index;
    char text[1200];

    *status = s;
    if (s == SPOT_OK || !spot_is_verdict(s)) return s;
    snprintf(message, 1024, "%s", spot_message(p->c, s));
    snprintf(text, sizeof text, "EC %d, %s: %s", ec, who, message);
    spot_diary_write(&p->run->diary, "failed", ec, NAN, text);
    spot_log(p->c, SPOT_LOG_WARN, "%s", text);
    spot_forget(p->c);
    return SPOT_OK;
}

static void list_names(spot_segment *seg, const spot_ec *ec)
{
    size_t l = 0, r = 0;

    for (int i = 0; i < SPOT_LAYERS; i++) {
        const char *layer = spot_layer_name((spot_layer)i);
        if (!ec->layer[i]) continue;
        l += (size_t)snprintf(seg->layers + l, sizeof seg->layers - l, "%s%s", l ? " " : "", layer);
        for (int k = 0; k < SPOT_ATTRIBUTES; k++)
            if (ec->rollable[i][k])
                r += (size_t)snprintf(seg->rollable + r, sizeof seg->rollable - r, "%s%s.%s", r ? " " : "", layer,
                                      spot_attribute_name((spot_attribute)k));
    }
}

static void begin(const spot_ctx *c, spot_segment *seg, const spot_run *run, const spot_ec *ec)
{
    const spot_config *cfg = run->cfg;

    memset(seg, 0, sizeof *seg);
    seg->index = (int)ec->index;
    seg->seed = cfg->seed;
    seg->numbers = SPOT_NUMBERS;
    spot_key_text(seg->config, run->id.config);
    snprintf(seg->build, sizeof seg->build, "%s", SPOT_VERSION);
    snprintf(seg->device, sizeof seg->device, "%s", c->ops->name);
    seg->metric = cfg->metric;
    list_names(seg, ec);
    memcpy(seg->images, ec->images, sizeof seg->images);
    seg->blindspots = ec->blindspot_count;
    for (int m = 0; m < seg->blindspots; m++) {
        seg->specificity[m] = ec->blindspot[m].specificity;
        spot_blindspot_describe(seg->blindspot[m], sizeof seg->blindspot[m], &ec->blindspot[m]);
    }
}

static void note(spot_outcome *o, const spot_hypotheses *found)
{
    o->components = found->components;
    for (int k = 0; k < found->len; k++) {
        o->size[k] = found->h[k].len;
        o->order[k] = found->h[k].score;
        o->mean_error[k] = found->h[k].mean_error;
    }
}

/* One method on one view, and a picture of what it did. */
static spot_status method(passage *p, spot_outcome *o, int b, const spot_seen *seen, const spot_lesson *lesson)
{
    const spot_bdm_config *cfg = &p->run->cfg->bdm[b];
    spot_key key = spot_key_of_points(p->key, cfg);
    spot_points points;
    spot_hypotheses found;
    char path[1200];

    SPOT_TRY(reduce(p, &points, key, &seen->view, cfg));
    SPOT_TRY(find(p, &found, spot_key_of_found(key, cfg), &seen->view, &points, cfg));
    SPOT_TRY(spot_metric_score(p->c, &o->score, &found, &seen->truth, &p->run->cfg->metric));
    note(o, &found);
    if (!p->run->pictures) return SPOT_OK;
    spot_picture_path(path, sizeof path, p->run->store.dir, (int)p->ec.index, b, o->name);
    return spot_report_ec(p->c, path, o->name, &p->ec, lesson, &seen->view, &seen->truth, &points, &found, &o->score);
}

spot_status spot_pipeline(spot_ctx *c, spot_arena *a, spot_segment *seg, spot_run *run, int index)
{
    const spot_config *cfg = run->cfg;
    passage p = { .c = c, .a = a, .run = run, .seed = { cfg->seed, (uint32_t)index } };
    spot_seen seen;

    p.key = spot_key_of_model(c, &run->id, cfg, (uint32_t)index);
    SPOT_TRY(spot_ec_draw(c, &p.ec, &cfg->scene, cfg->seed, (uint32_t)index));
    begin(c, seg, run, &p.ec);
    SPOT_TRY(judge(&p, look(&p, &seen, &seg->lesson), "training", &seg->status, seg->message));
    seg->methods = seg->status ? 0 : cfg->bdms;
    for (int b = 0; b < seg->methods; b++) {
        spot_outcome *o = &seg->method[b];
        size_t mark = a->used;
        spot_bdm_name(&cfg->bdm[b], o->name, sizeof o->name);
        spot_key_text(o->settings, spot_key_of_method(&cfg->bdm[b]));
        SPOT_TRY(judge(&p, method(&p, o, b, &seen, &seg->lesson), o->name, &o->status, o->message));
        a->used = mark;
    }
    return SPOT_OK;
}
