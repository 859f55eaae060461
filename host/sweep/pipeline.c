/* pipeline.c - the project in one function, spot_pipeline: EC -> images -> model -> view -> points -> hypotheses -> score.
 * Images have no line of their own: train and look render them as they need them. */
#include "sweep/pipeline.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ops.h"
#include "spotter/report.h"
#include "sweep/pack.h"

bool spot_is_verdict(spot_status s)
{
    return s == SPOT_NUMERIC || s == SPOT_INPUT || s == SPOT_USAGE || s == SPOT_INVALID;
}

/* Ends a stage: tells the diary, keeps the value. A stop request is obeyed only when the value is safe. */
static spot_status finish(spot_ctx *c, spot_run *run, spot_key k, const char *kind, spot_pack_fn *pack, void *value,
                          int ec, double since)
{
    SPOT_TRY(spot_keep(c, &run->store, k, kind, pack, value));
    spot_diary_write(&run->diary, kind, ec, spot_clock() - since, NULL);
    return spot_check_stop(c);
}

static spot_status learn(spot_ctx *c, spot_arena *a, spot_model *m, spot_lesson *l, spot_run *run, spot_key k,
                         const spot_ec *ec)
{
    double since = spot_clock();
    bool model, lesson;

    SPOT_TRY(spot_recall(c, a, &run->store, k, "model", spot_pack_model, m, &model));
    SPOT_TRY(spot_recall(c, a, &run->store, k, "lesson", spot_pack_lesson, l, &lesson));
    if (model && lesson) return SPOT_OK;
    memset(l, 0, sizeof *l);
    SPOT_TRY(spot_model_train(c, a, m, l, ec, &run->cfg->model));
    SPOT_TRY(spot_keep(c, &run->store, k, "lesson", spot_pack_lesson, l));
    return finish(c, run, k, "model", spot_pack_model, m, (int)ec->index, since);
}

/* The model itself is read or trained only when nobody has looked through it yet. */
static spot_status look(spot_ctx *c, spot_arena *a, spot_seen *seen, spot_lesson *l, spot_run *run, spot_key k,
                        const spot_ec *ec)
{
    spot_model model = { 0 };
    bool view, lesson;
    double since;

    SPOT_TRY(spot_recall(c, a, &run->store, k, "view", spot_pack_seen, seen, &view));
    SPOT_TRY(spot_recall(c, a, &run->store, k, "lesson", spot_pack_lesson, l, &lesson));
    if (view && lesson) return SPOT_OK;
    SPOT_TRY(learn(c, a, &model, l, run, k, ec));
    since = spot_clock();
    SPOT_TRY(spot_model_look(c, a, &seen->view, &seen->truth, &model, ec, SPOT_TEST, &run->cfg->model));
    return finish(c, run, k, "view", spot_pack_seen, seen, (int)ec->index, since);
}

static spot_status reduce(spot_ctx *c, spot_arena *a, spot_points *points, spot_run *run, spot_key k,
                          const spot_seen *seen, spot_seed seed, const spot_embed_config *cfg)
{
    double since = spot_clock();
    bool found;

    SPOT_TRY(spot_recall(c, a, &run->store, k, "points", spot_pack_points, points, &found));
    if (found) return SPOT_OK;
    SPOT_TRY(spot_embed_fit(c, a, 1, points, &seen->view, &seed, cfg));
    return finish(c, run, k, "points", spot_pack_points, points, (int)seed.ec, since);
}

static spot_status find(spot_ctx *c, spot_arena *a, spot_hypotheses *h, spot_run *run, spot_key k,
                        const spot_seen *seen, const spot_points *points, spot_seed seed, const spot_bdm_config *cfg)
{
    double since = spot_clock();
    bool found;

    SPOT_TRY(spot_recall(c, a, &run->store, k, "found", spot_pack_found, h, &found));
    if (found) return SPOT_OK;
    SPOT_TRY(spot_bdm_find(c, a, 1, h, &seen->view, points, &seed, cfg));
    return finish(c, run, k, "found", spot_pack_found, h, (int)seed.ec, since);
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
static spot_status judge(spot_ctx *c, spot_run *run, int ec, const char *who, spot_status s, int *status,
                         char message[1024])
{
    char text[1200];

    *status = s;
    if (s == SPOT_OK || !spot_is_verdict(s)) return s;
    snprintf(message, 1024, "%s", spot_message(c, s));
    snprintf(text, sizeof text, "EC %d, %s: %s", ec, who, message);
    spot_diary_write(&run->diary, "failed", ec, NAN, text);
    spot_log(c, SPOT_LOG_WARN, "%s", text);
    spot_forget(c);
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

/* One method on one view: points -> hypotheses -> score, and a picture of it. */
static spot_status method(spot_ctx *c, spot_arena *a, spot_outcome *o, spot_run *run, spot_key view_key, int b,
                          const spot_ec *ec, const spot_seen *seen, const spot_lesson *lesson)
{
    const spot_bdm_config *cfg = &run->cfg->bdm[b];
    spot_seed seed = { run->cfg->seed, ec->index };
    spot_key key = spot_key_of_points(view_key, cfg);
    spot_points points;
    spot_hypotheses found;
    char path[1200];

    SPOT_TRY(reduce(c, a, &points, run, key, seen, seed, &cfg->embed));
    SPOT_TRY(find(c, a, &found, run, spot_key_of_found(key, cfg), seen, &points, seed, cfg));
    SPOT_TRY(spot_metric_score(c, &o->score, &found, &seen->truth, &run->cfg->metric));
    note(o, &found);
    if (!run->pictures) return SPOT_OK;
    spot_picture_path(path, sizeof path, run->store.dir, (int)ec->index, b, o->name);
    return spot_report_ec(c, path, o->name, ec, lesson, &seen->view, &seen->truth, &points, &found, &o->score);
}

spot_status spot_pipeline(spot_ctx *c, spot_arena *a, spot_segment *seg, spot_run *run, int index)
{
    const spot_config *cfg = run->cfg;
    spot_key key = spot_key_of_model(c, &run->id, cfg, (uint32_t)index);
    size_t start = a->used;
    spot_seen seen;
    spot_ec ec;

    SPOT_TRY(spot_ec_draw(c, &ec, &cfg->scene, cfg->seed, (uint32_t)index));
    begin(c, seg, run, &ec);
    SPOT_TRY(judge(c, run, index, "training", look(c, a, &seen, &seg->lesson, run, key, &ec), &seg->status, seg->message));
    seg->methods = seg->status ? 0 : cfg->bdms;
    for (int b = 0; b < seg->methods; b++) {
        spot_outcome *o = &seg->method[b];
        size_t mark = a->used;
        spot_bdm_name(&cfg->bdm[b], o->name, sizeof o->name);
        spot_key_text(o->settings, spot_key_of_method(&cfg->bdm[b]));
        SPOT_TRY(judge(c, run, index, o->name, method(c, a, o, run, key, b, &ec, &seen, &seg->lesson), &o->status,
                       o->message));
        a->used = mark;
    }
    a->used = start;
    return SPOT_OK;
}

int spot_positives(const spot_ec *ec)
{
    spot_image image;
    int n = 0;

    for (int i = 0; i < ec->images[SPOT_TEST]; i++) {
        spot_image_draw(&image, ec, SPOT_TEST, (uint32_t)i);
        n += image.label;
    }
    return n;
}

/* The points stay while the method looks for blindspots in them. */
static size_t method_bytes(const spot_bdm_config *cfg, int rows, int features, int threads)
{
    int d = cfg->embed.method == SPOT_REDUCE_NONE ? features : cfg->embed.dim;
    size_t points = (size_t)rows * (size_t)d * sizeof(float);
    size_t embed = spot_embed_bytes(1, &rows, features, &cfg->embed, threads);
    size_t find = spot_bdm_bytes(1, &rows, d, cfg, threads);
    size_t recalled = (size_t)rows * SPOT_MAX_HYPOTHESES * sizeof(int);     /* hypotheses may overlap */

    find = find > recalled ? find : recalled;
    return embed > points + find ? embed : points + find;
}

size_t spot_pipeline_bytes(spot_ctx *c, const spot_config *cfg, int rows)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS];
    int features = 8 * cfg->model.width;
    size_t model = spot_model_layout(table, cfg->model.width, 1) * sizeof(float);
    size_t view = (size_t)rows * (size_t)(features + 3) * 4 + ((size_t)1 << 16), most = 0;
    size_t train = spot_model_train_bytes(&cfg->scene, &cfg->model);
    size_t looked = view + spot_model_look_bytes(&cfg->scene, &cfg->model, rows);

    for (int b = 0; b < cfg->bdms; b++) {
        size_t bytes = view + method_bytes(&cfg->bdm[b], rows, features, c->threads);
        most = bytes > most ? bytes : most;
    }
    most = looked > most ? looked : most;
    return model + (train > most ? train : most);
}
