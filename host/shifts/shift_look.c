/* shift_look.c - models that look at the pictures themselves.
 *
 * A piece of a folder's pictures is decoded once for all models that want it in the same shape: reading and resizing a picture
 * can take longer than a small network's look at it. Answers are kept piece by piece, so that a stopped run continues. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ahead.h"
#include "base/greatest.h"
#include "core/device.h"
#include "models/foreign_model.h"
#include "models/picture_input.h"
#include "shifts/shift_answers.h"
#include "spotter/encoder.h"
#include "worlds/picture_batches.h"

#define PIXELS ((size_t)256 << 20)         /* most bytes of decoded pictures */

/* Pictures [from, from + n) of a folder, as the models of one shape want them. */
typedef struct {
    spot_shift_answers  *a;
    const spot_shift_pictures *p;
    spot_shift_unit_answers   *u;
    int      from, n;
    int      resize, crop;
    spot_filter filter;
    uint8_t *rgb;              /* (n, crop, crop, 3); NULL: not decoded yet */
} piece;

/* The piece behind one that models look at, decoded meanwhile. */
typedef struct {
    piece       v;
    spot_ctx    own;           /* its sentences come again when the piece is needed */
    spot_status status;
    spot_ahead  thread;
    bool        begun;
} next_piece;

/* ---- networks ---- */

static spot_status check_network(spot_ctx *c, const spot_shift_model *m, const spot_encoder_info *info, int outputs)
{
    if (info->kind == SPOT_ENCODER_CLIP || info->kind == SPOT_ENCODER_NEUTRAL || !info->outputs)
        return spot_fail(c, SPOT_INPUT, "%s is no ResNet, AlexNet or ViT with a head; the model \"%s\" predicts classes",
                         m->weights, m->name);
    if (info->side != m->crop)
        return spot_fail(c, SPOT_INPUT, "{shifts.side} %s looks at squares of %d pixels, and crop is %d", m->weights,
                         info->side, m->crop);
    if (info->outputs == outputs) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT,
                     "{model.outputs} %s has %d outputs, and %s %d; models[].classes is a text with the class of each output",
                     m->weights, info->outputs, m->classes[0] ? m->classes : "the study's classes are", outputs);
}

void spot_shift_networks_close(spot_ctx *c, spot_shift_answers *a)
{
    for (int m = 0; a->network && m < a->cfg->models; m++) {
        spot_shift_model_give(c, a->network[m].encoder, a->programs);
        a->network[m].encoder = NULL;
    }
}

/* Opens the encoder of a model, unless it is open. A device keeps those of other models as long as they leave half of its
 * memory; the CPU has one at a time. */
static spot_status need_encoder(spot_ctx *c, spot_shift_answers *a, int model)
{
    const spot_shift_model *m = &a->cfg->model[model];
    spot_shift_network *k = &a->network[model];
    size_t left = 0, all = 0;

    if (k->encoder) return SPOT_OK;
    if (c->device) SPOT_TRY(spot_device_room(c, &left, &all));
    if (left <= all / 2) spot_shift_networks_close(c, a);
    return spot_shift_model_open(c, &k->encoder, a->programs, a->cfg, m);
}

static spot_status open_network(spot_ctx *c, spot_shift_answers *a, int model)
{
    const spot_shift_model *m = &a->cfg->model[model];
    spot_shift_network *k = &a->network[model];
    const spot_encoder_info *about;

    SPOT_TRY(spot_shift_outputs(c, &a->words, &k->index, &k->outputs, m));
    SPOT_TRY(need_encoder(c, a, model));
    about = spot_encoder_about(k->encoder);
    SPOT_TRY(check_network(c, m, about, k->outputs));
    if (!a->cfg->plant.pictures)                       /* planted networks are known */
        spot_encoder_say_input(c, k->encoder, SPOT_INPUT_SETTINGS ", resize, crop, interpolation");
    memcpy(k->name, about->name, sizeof k->name);
    k->filter = spot_picture_input_filter(&m->input, about->kind == SPOT_ENCODER_VIT ? SPOT_BICUBIC : SPOT_BILINEAR);
    if (!c->device) spot_shift_networks_close(c, a);
    return SPOT_OK;
}

spot_status spot_shift_networks_open(spot_ctx *c, spot_shift_answers *a)
{
    a->network = calloc((size_t)a->cfg->models + 1, sizeof *a->network);
    if (!a->network) return spot_fail(c, SPOT_NOMEM, "no memory for %d models", a->cfg->models);
    for (int m = 0; m < a->cfg->models; m++) {
        if (!a->cfg->model[m].weights[0]) continue;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(open_network(c, a, m));
    }
    return SPOT_OK;
}

/* Whether an earlier model has a file of the same size for pictures of the same shape: it takes the same memory. */
static bool is_counted(const spot_shifts_config *cfg, int model, off_t size)
{
    const spot_shift_model *m = &cfg->model[model];
    struct stat st;

    for (int k = 0; k < model; k++)
        if (cfg->model[k].weights[0] && cfg->model[k].crop == m->crop && !stat(cfg->model[k].weights, &st)
            && st.st_size == size) return true;
    return false;
}

/* Scratch is for a whole block of pictures; of fewer, the rest of it stays untouched. */
static size_t bytes_for(const spot_encoder_info *about, off_t weights, int pictures)
{
    const size_t part = 2 * (size_t)weights + about->bytes / (size_t)about->picture_block * (size_t)pictures;

    return part < about->bytes ? part : about->bytes;
}

size_t spot_shift_network_bytes(spot_ctx *c, const spot_shifts_config *cfg, int pictures)
{
    size_t most = 0;

    for (int m = 0; m < cfg->models; m++) {
        const spot_encoder_options o = spot_shift_model_options(cfg, &cfg->model[m]);
        spot_encoder *e = NULL;
        struct stat st;
        if (!cfg->model[m].weights[0] || spot_is_foreign(cfg->model[m].weights) || stat(cfg->model[m].weights, &st)
            || is_counted(cfg, m, st.st_size)) continue;
        if (spot_check_stop(c) || spot_encoder_open(c, &e, cfg->model[m].weights, &o)) {
            spot_forget(c);                    /* the run says why */
            continue;
        }
        const size_t bytes = bytes_for(spot_encoder_about(e), st.st_size, pictures);
        most = bytes > most ? bytes : most;
        spot_encoder_close(c, e);
    }
    return most;
}

/* ---- decoding ---- */

/* Whole blocks of every ResNet, since rows of one block may differ in their last bits from those of another. */
static int piece_size(int crop)
{
    enum { BLOCK = 256 };
    const size_t fits = PIXELS / (3 * (size_t)crop * (size_t)crop);

    return fits < BLOCK ? BLOCK : (int)(fits / BLOCK * BLOCK);
}

size_t spot_shift_look_bytes(const spot_ctx *c, const spot_shifts_config *cfg, int pictures)
{
    size_t most = 0;

    for (int m = 0; m < cfg->models; m++) {
        const int crop = cfg->model[m].crop, fits = (c->device ? 2 : 1) * piece_size(crop);
        const int n = pictures < fits ? pictures : fits;
        const size_t bytes = 3 * (size_t)n * (size_t)crop * (size_t)crop;
        if (cfg->model[m].weights[0] && bytes > most) most = bytes;
    }
    return most;
}

static spot_status take_batch(spot_ctx *c, void *user, const spot_picture_batch *b)
{
    const piece *v = user;
    const size_t each = 3 * (size_t)v->crop * (size_t)v->crop;

    (void)c;
    memcpy(v->rgb + (size_t)b->picture[0] * each, b->rgb, (size_t)b->n * each);        /* none is left out */
    return SPOT_OK;
}

static spot_status decode_piece(spot_ctx *c, piece *v)
{
    char **path = spot_shift_paths(v->p, v->from, v->n);
    const spot_picture_batches b = { .path = path, .n = v->n, .batch = 64, .resize = v->resize, .crop = v->crop,
                                     .filter = v->filter, .reading = v->a->cfg->data.reading, .take = take_batch,
                                     .user = v };
    spot_status s;

    v->rgb = malloc(3 * (size_t)v->n * (size_t)v->crop * (size_t)v->crop);
    s = path && v->rgb ? spot_picture_batches_run(c, &b) : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", v->n);
    free(path);
    return s;
}

static spot_key key_of_piece(const piece *v, int model)
{
    const spot_shift_network *k = &v->a->network[model];
    const spot_key key = spot_key_join(spot_key_of(v->p->hash, strlen(v->p->hash)), "answers", k->name, strlen(k->name));
    const int at[] = { v->from, v->n };

    return spot_key_join(key, "piece", at, sizeof at);
}

/* Whether the model looks at the squares of the piece. */
static bool has_shape(const piece *v, int model)
{
    const spot_shift_model *m = &v->a->cfg->model[model];

    return m->weights[0] && m->resize == v->resize && m->crop == v->crop && v->a->network[model].filter == v->filter;
}

/* Whether a model has no answers for it yet. */
static bool is_wanted(const piece *v)
{
    const spot_shifts_config *cfg = v->a->cfg;

    for (int m = 0; m < cfg->models; m++)
        if (has_shape(v, m) && !spot_store_has(v->a->store, key_of_piece(v, m), "answers")) return true;
    return false;
}

static void decode_next(void *user)
{
    next_piece *next = user;

    next->status = decode_piece(&next->own, &next->v);
}

/* Begins to decode the next piece, once, where a device looks at this one, which is decoded: the CPU has no thread to spare. */
static void begin_next(spot_ctx *c, next_piece *next)
{
    if (!c->device || next->begun || next->v.n < 1 || !is_wanted(&next->v)) return;
    next->own = (spot_ctx){ .ops = &spot_ops_cpu, .threads = c->threads, .stop = c->stop, .rotated = c->rotated };
    next->begun = spot_ahead_start(&next->thread, decode_next, next);
}

/* Moves on to the next piece. One that could not be decoded is decoded again when it is needed, which fails in order. */
static void end_next(piece *v, next_piece *next)
{
    spot_ahead_join(&next->thread);
    free(v->rgb);
    *v = next->v;
    if (!next->status) return;
    free(v->rgb);
    v->rgb = NULL;
}

/* ---- looking ---- */

/* SPOT_NUMERIC names the weights and the pictures of the block. */
static spot_status say_where(spot_ctx *c, const piece *v, int model, int first, int n, spot_status s)
{
    if (s != SPOT_NUMERIC) return s;
    return spot_fail(c, s, "%s: %.500s It is one of %s/%.300s to %.300s", v->a->cfg->model[model].weights,
                     spot_take_message(c, s), v->p->root, v->p->list.path[v->from + first],
                     v->p->list.path[v->from + first + n - 1]);
}

/* output (n): the answer to each picture. */
static spot_status look_at_blocks(spot_ctx *c, const piece *v, spot_encoder *e, int model, float *feature, int *output)
{
    const spot_encoder_info *info = spot_encoder_about(e);
    const size_t each = 3 * (size_t)v->crop * (size_t)v->crop;
    float *logit = feature + (size_t)info->picture_block * (size_t)info->dim;

    for (int first = 0; first < v->n; first += info->picture_block) {
        const int n = v->n - first < info->picture_block ? v->n - first : info->picture_block;
        spot_status s = spot_encode_pixels(c, e, feature, logit, v->rgb + (size_t)first * each, n);
        if (s != SPOT_OK) return say_where(c, v, model, first, n, s);
        for (int i = 0; i < n; i++)
            output[first + i] = spot_first_greatest(logit + (size_t)i * (size_t)info->outputs, info->outputs);
        spot_shift_progress_add(c, v->a->progress, n, v->a->cfg->model[model].name);
    }
    return SPOT_OK;
}

static spot_status look_with(spot_ctx *c, const piece *v, int model, int *output)
{
    spot_shift_network *k = &v->a->network[model];
    const spot_encoder_info *info;
    float *feature;
    spot_status s;

    SPOT_TRY(need_encoder(c, v->a, model));
    info = spot_encoder_about(k->encoder);
    if (strcmp(info->name, k->name))
        return spot_fail(c, SPOT_INPUT, "%s was written during the run; run the same command again",
                         v->a->cfg->model[model].weights);
    feature = malloc((size_t)info->picture_block * (size_t)(info->dim + info->outputs) * sizeof *feature);
    s = feature ? look_at_blocks(c, v, k->encoder, model, feature, output)
                : spot_fail(c, SPOT_NOMEM, "no memory to look at %d pictures", v->n);
    free(feature);
    return s;
}

/* The outputs of one model for the piece, from the cache or by looking; then its answers. */
static spot_status answer_piece(spot_ctx *c, piece *v, next_piece *next, int model)
{
    const spot_shift_network *k = &v->a->network[model];
    const size_t bytes = (size_t)v->n * sizeof(int);
    int *answer = v->u->answer + (size_t)model * v->p->list.n + v->from;
    const spot_key key = key_of_piece(v, model);
    unsigned char *kept = NULL;
    size_t size = 0;
    bool found = false;

    SPOT_TRY(spot_store_get(c, v->a->store, key, "answers", &kept, &size, &found));
    found = found && size == bytes;
    if (found) memcpy(answer, kept, bytes);
    free(kept);
    if (found) spot_shift_progress_add(c, v->a->progress, v->n, v->a->cfg->model[model].name);
    else {
        if (!v->rgb) SPOT_TRY(decode_piece(c, v));
        begin_next(c, next);
        SPOT_TRY(look_with(c, v, model, answer));
        SPOT_TRY(spot_store_put(c, v->a->store, key, "answers", answer, bytes));
    }
    for (int i = 0; i < v->n; i++) {
        if (answer[i] < 0 || answer[i] >= k->outputs)
            return spot_fail(c, SPOT_INPUT, "the cache of %s has answers of another network for %s", v->p->root, k->name);
        if (k->index) answer[i] = k->index[answer[i]];
    }
    return SPOT_OK;
}

static piece piece_at(spot_shift_answers *a, int unit, int like, int from)
{
    const spot_shift_model *shape = &a->cfg->model[like];
    const spot_shift_pictures *p = a->unit[unit].pictures;
    const int size = piece_size(shape->crop), left = p->list.n - from;

    return (piece){ .a = a, .p = p, .u = &a->unit[unit], .from = from, .n = left < size ? left : size, .resize = shape->resize,
                    .crop = shape->crop, .filter = a->network[like].filter };
}

/* Whether a model before this one looks at the same squares. */
static bool shape_is_done(spot_shift_answers *a, int unit, int model)
{
    const piece v = piece_at(a, unit, model, 0);

    for (int k = 0; k < model; k++)
        if (has_shape(&v, k)) return true;
    return false;
}

/* All models that look at the squares of model `like`, piece by piece. */
static spot_status look_in_shape(spot_ctx *c, spot_shift_answers *a, int unit, int like)
{
    piece v = piece_at(a, unit, like, 0);
    spot_status s = SPOT_OK;

    while (v.n > 0 && s == SPOT_OK) {
        next_piece next = { .v = piece_at(a, unit, like, v.from + v.n) };
        for (int m = 0; m < a->cfg->models && s == SPOT_OK; m++)
            if (has_shape(&v, m)) s = answer_piece(c, &v, &next, m);
        end_next(&v, &next);
    }
    free(v.rgb);
    return s;
}

spot_status spot_shift_answers_look(spot_ctx *c, spot_shift_answers *a, int unit)
{
    spot_status s = SPOT_OK;

    for (int m = 0; m < a->cfg->models && s == SPOT_OK; m++)
        if (a->cfg->model[m].weights[0] && !shape_is_done(a, unit, m))
            s = look_in_shape(c, a, unit, m);
    if (!c->device) spot_shift_networks_close(c, a);
    return s;
}
