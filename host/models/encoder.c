/* encoder.c - one encoder for all kinds: opens it, cuts pictures and texts into blocks, lays out the rows. */
#define _POSIX_C_SOURCE 200809L
#include "spotter/encoder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/bpe.h"
#include "models/clip_file.h"
#include "models/encoder_name.h"
#include "models/foreign_key.h"
#include "models/finite.h"
#include "models/network.h"
#include "models/neutral.h"
#include "models/picture_input.h"
#include "worlds/picture_batches.h"

/* Most pictures of a block; texts of a block. */
enum { PICTURES = SPOT_CLIP_MOST_PICTURES, SMALL_PICTURES = 64, TEXTS = 1024 };

struct spot_encoder {
    spot_encoder_info about;
    spot_encoder_options o;
    spot_arena  weights, scratch;
    spot_clip  *clip;              /* or a ViT; NULL: a ResNet, a program, or neutral */
    spot_predictor *program;       /* NULL: none */
    spot_model  resnet;            /* or AlexNet */
    spot_look_pixels network;      /* of it; zeroed: not open yet */
    spot_bpe   *tokenizer;         /* NULL: texts fail for the reason `why` */
    char        why[512], *path;
    float      *feature, *logit;   /* (picture_block, dim), (picture_block, outputs) */
};

spot_encoder_options spot_encoder_defaults(void) { return (spot_encoder_options){ .resize = 256, .crop = 224 }; }

const spot_encoder_info *spot_encoder_about(const spot_encoder *e) { return &e->about; }

/* -- opening ------------------------------------------------------------------------------------------------------ */

static spot_status open_clip(spot_ctx *c, spot_encoder *e)
{
    spot_arena count = spot_arena_counting();
    const spot_clip_info *i;

    SPOT_TRY(spot_clip_open(c, &count, &e->clip, e->path, &e->o.clip));
    SPOT_TRY(spot_arena_open_device(c, &e->weights, count.peak));
    SPOT_TRY(spot_clip_open(c, &e->weights, &e->clip, e->path, &e->o.clip));
    i = spot_clip_info_of(e->clip);
    e->about.has_images = i->has_images;
    e->about.has_texts = i->has_texts;
    e->about.dim = i->dim;
    e->about.side = i->side;
    e->about.context = i->context;
    e->about.scale = i->scale;
    e->about.outputs = i->outputs;
    e->about.text_block = i->has_texts ? TEXTS : 0;
    if (e->o.input.crops && i->has_images && e->o.crop != i->side)
        return spot_fail(c, SPOT_USAGE, "{input.side} %s looks at squares of %d pixels, not of %d: its file says so", e->path,
                         i->side, e->o.crop);
    if (i->has_images) e->about.picture_block = spot_clip_block_of(c, i);
    return SPOT_OK;
}

/* The network itself is opened by the first block, for as many pictures: few pictures take less memory. A block that is larger
 * opens it anew. */
static spot_status need_network(spot_ctx *c, spot_encoder *e, int pictures)
{
    const spot_look_rule rule = { .size = e->about.side, .pictures = pictures };
    spot_status s;

    if (e->network.net.s.rows && (!c->device || pictures <= e->network.net.s.rows)) return SPOT_OK;
    spot_look_pixels_close(c, &e->network);
    spot_range_begin(c, "open-network");
    s = spot_look_pixels_open(c, &e->network, &e->resnet, &rule);
    spot_range_end(c);
    return s;
}

/* A GPU's block is a batch of the network. The CPU's is as small as decoding and looking in turn allow. */
static spot_status open_resnet(spot_ctx *c, spot_encoder *e)
{
    spot_arena count = spot_arena_counting();
    int crop = e->o.crop;

    if (crop < 32 || crop > SPOT_PICTURE_CROP || crop % 32 || e->o.resize < SPOT_SQUEEZE)
        return spot_fail(c, SPOT_USAGE, "{look.crop} crop %d, resize %d: the network looks at squares of 32, 64, ... %d pixels "
                         "(224), cut from pictures whose shorter side is resized (256; 0: is left)",
                         crop, e->o.resize, SPOT_PICTURE_CROP);
    if (e->o.clip.precision != SPOT_FP32)
        return spot_fail(c, SPOT_USAGE, "{encoder.precision} %s is a %s, which computes in fp32 here; %s is for CLIP", e->path,
                         "ResNet or AlexNet", spot_precision_name(e->o.clip.precision));
    SPOT_TRY(spot_model_load(c, &count, &e->resnet, e->path, -1, 0));
    SPOT_TRY(spot_arena_open(c, &e->weights, count.peak));
    SPOT_TRY(spot_model_load(c, &e->weights, &e->resnet, e->path, -1, 0));
    e->resnet.pixels = spot_imagenet_rule();
    SPOT_TRY(spot_picture_input_rule(c, &e->resnet.pixels, &e->o.input));
    e->about.has_images = true;
    e->about.dim = spot_model_features(e->resnet.arch, e->resnet.width);
    e->about.side = crop;
    e->about.outputs = e->resnet.outputs;
    e->about.scale = NAN;
    e->about.picture_block = c->device ? spot_look_shape(c, e->resnet.arch, e->resnet.width, 1, crop, 0, SPOT_FP32).rows
                           : crop > 96 ? SMALL_PICTURES : PICTURES;
    return SPOT_OK;
}

static spot_status open_neutral(spot_ctx *c, spot_encoder *e)
{
    if (spot_picture_input_is_given(&e->o.input))
        return spot_fail(c, SPOT_USAGE, "{input.neutral} %s is no network, and has no mean, std or scale", e->path);
    if (e->o.clip.precision != SPOT_FP32)
        return spot_fail(c, SPOT_USAGE, "{encoder.precision} %s computes in fp32; %s is for CLIP", e->path,
                         spot_precision_name(e->o.clip.precision));
    e->about.has_images = true;
    e->about.dim = SPOT_NEUTRAL_DIM;
    e->about.side = SPOT_NEUTRAL_SIDE;
    e->about.scale = NAN;
    e->about.picture_block = SPOT_NEUTRAL_BLOCK;
    return SPOT_OK;
}

static spot_status open_program(spot_ctx *c, spot_encoder *e)
{
    const spot_predictor_options o = { .kind = SPOT_PREDICTOR_COMMAND, .command = e->path, .side = e->o.crop,
                                       .input = e->o.input };
    const spot_predictor_info *about;

    if (e->o.clip.precision != SPOT_FP32)
        return spot_fail(c, SPOT_USAGE, "{encoder.precision} %s is a program, which has a precision of its own; %s is for CLIP",
                         e->path, spot_precision_name(e->o.clip.precision));
    SPOT_TRY(spot_predictor_open(c, &e->program, &o));
    about = spot_predictor_about(e->program);
    e->about.has_images = true;
    e->about.dim = about->dim;
    e->about.side = e->o.crop;
    e->about.outputs = about->outputs;
    e->about.scale = NAN;
    e->about.picture_block = about->batch;
    return SPOT_OK;
}

/* A tokenizer of another model would give ids of other words without a failure. */
static spot_status check_vocabulary(spot_ctx *c, const spot_encoder *e, const char *where)
{
    const spot_clip_info *i = spot_clip_info_of(e->clip);
    spot_bpe_info t = spot_bpe_about(e->tokenizer);

    if (t.size != i->vocabulary)
        return spot_fail(c, SPOT_INPUT, "%s: the vocabulary has %d tokens, and %s has %d: it belongs to another model", where,
                         t.size, e->path, i->vocabulary);
    if (i->end == SPOT_CLIP_FIRST_END ? t.end != i->end_id : t.end != t.size - 1)
        return spot_fail(c, SPOT_INPUT, "{encoder.end_token} %s: a text ends with the token %d, and %s looks for %d: it "
                         "belongs to another model",
                         where, t.end, e->path, i->end == SPOT_CLIP_FIRST_END ? i->end_id : t.size - 1);
    return SPOT_OK;
}

/* Without a named vocabulary a failure is kept for the first text. */
static spot_status open_tokenizer(spot_ctx *c, spot_encoder *e)
{
    const char *slash = strrchr(e->path, '/'), *where = e->o.vocabulary;
    spot_ctx own = { 0 };
    char folder[1024];
    spot_status s;

    if (!e->about.has_texts) return SPOT_OK;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - e->path + (slash == e->path)) : 1, slash ? e->path : ".");
    if (!where) where = folder;
    s = spot_bpe_open(&own, &e->tokenizer, where, spot_clip_info_of(e->clip)->vocabulary);
    if (!s) s = check_vocabulary(&own, e, where);
    if (!s) return SPOT_OK;
    spot_bpe_close(e->tokenizer);
    e->tokenizer = NULL;
    if (e->o.vocabulary || s == SPOT_NOMEM) return spot_fail_from(c, s, &own);
    snprintf(e->why, sizeof e->why, "%s", spot_message(&own, s));
    return SPOT_OK;
}

/* Counts the scratch of a block of each kind; both take the same memory in turn. */
static spot_status take_scratch(spot_ctx *c, spot_encoder *e)
{
    spot_encoder_info *i = &e->about;
    spot_arena count = spot_arena_counting();
    size_t rows = (size_t)i->picture_block, texts;
    const spot_picture_batches squares = { .n = 2 * i->picture_block, .batch = i->picture_block, .crop = i->side };
    const spot_look_rule rule = { .size = i->side };
    spot_bytes network = { 0 };

    if (i->kind == SPOT_ENCODER_RESNET) SPOT_TRY(spot_look_pixels_needs(c, &network, &e->resnet, &rule));
    if (e->clip && i->has_images)
        SPOT_TRY(spot_clip_images(c, &count, e->clip, NULL, NULL, i->picture_block, true));
    if (i->has_texts) SPOT_TRY(spot_clip_texts(c, &count, e->clip, NULL, NULL, NULL, TEXTS, true));
    SPOT_TRY(e->clip ? spot_arena_open_device(c, &e->scratch, count.peak) : spot_arena_open(c, &e->scratch, count.peak));
    e->feature = malloc((rows * (size_t)i->dim + 1) * sizeof *e->feature);
    e->logit = malloc((rows * (size_t)i->outputs + 1) * sizeof *e->logit);
    if (!e->feature || !e->logit) return spot_fail(c, SPOT_NOMEM, "no memory for a block of %zu pictures", rows);
    texts = i->has_texts ? (size_t)TEXTS * ((size_t)i->context + 1) * sizeof(int) : 0;
    i->bytes = e->weights.size + network.host + network.device + e->scratch.size + texts
             + spot_picture_batches_bytes(c, &squares)
             + rows * ((size_t)i->dim + (size_t)i->outputs) * sizeof(float);
    return SPOT_OK;
}

/* The name does not depend on the towers that are loaded. */
static spot_status name_encoder(spot_ctx *c, spot_encoder *e)
{
    spot_clip_info all;

    if (e->program) return spot_encoder_name_program(c, e->about.name, e->path, e->program, &e->o);
    if (e->clip) SPOT_TRY(spot_clip_describe(c, &all, e->path, &e->o.clip));
    return spot_encoder_make_name(c, e->about.name, e->path, e->clip ? &all : NULL, &e->o);
}

spot_answering spot_encoder_answering(spot_encoder *e)
{
    return (spot_answering){ e->program && spot_is_known_by_answers(e->path) ? e->program : NULL, e->path, e->about.name };
}

static spot_status open_encoder(spot_ctx *c, spot_encoder *e)
{
    static spot_status (*const open[])(spot_ctx *, spot_encoder *) = { open_clip, open_resnet, open_neutral, open_clip,
                                                                       open_program };

    SPOT_TRY(spot_encoder_find_kind(c, &e->about.kind, e->path));
    SPOT_TRY(open[e->about.kind](c, e));
    SPOT_TRY(open_tokenizer(c, e));
    SPOT_TRY(take_scratch(c, e));
    return name_encoder(c, e);
}

spot_status spot_encoder_open(spot_ctx *c, spot_encoder **out, const char *path, const spot_encoder_options *o)
{
    spot_encoder *e = calloc(1, sizeof *e);
    spot_status s;

    *out = NULL;
    if (e) e->path = strdup(path);
    if (!e || !e->path) return free(e), spot_fail(c, SPOT_NOMEM, "no memory for an encoder");
    e->o = *o;
    e->o.clip.input = o->input;
    spot_range_begin(c, "open-encoder");
    s = open_encoder(c, e);
    spot_range_end(c);
    if (s) spot_encoder_close(c, e);
    else *out = e;
    return s;
}

void spot_encoder_close(spot_ctx *c, spot_encoder *e)
{
    if (!e) return;
    spot_clip_close(c, e->clip);
    spot_predictor_close(c, e->program);
    spot_look_pixels_close(c, &e->network);
    spot_bpe_close(e->tokenizer);
    spot_arena_close(&e->weights);
    spot_arena_close(&e->scratch);
    free(e->feature);
    free(e->logit);
    free(e->path);
    free(e);
}

/* -- pictures ----------------------------------------------------------------------------------------------------- */

static spot_status check_has_images(spot_ctx *c, const spot_encoder *e)
{
    if (e->about.has_images) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{encoder.no_picture_tower} %s has no tower for pictures, or was opened for texts alone",
                     e->path);
}

spot_status spot_encoder_check_features(spot_ctx *c, const spot_encoder *e)
{
    if (e->about.dim) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{encoder.no_embeddings} %s answers without embeddings; let it send them (predictor.h)",
                     e->path);
}

/* A block. ResNet: features that are not finite come from weights that are no network's. */
static spot_status look_at_block(spot_ctx *c, spot_encoder *e, float *feature, float *logit, const uint8_t *rgb, int n)
{
    size_t dim = (size_t)e->about.dim;

    if (e->clip)
        return spot_clip_look(c, &e->scratch, e->clip, feature, logit, rgb, n, e->about.kind == SPOT_ENCODER_CLIP);
    if (e->program)
        return spot_predict(c, e->program, &(spot_prediction){ rgb, n, e->about.side, logit, dim ? feature : NULL, NULL });
    if (e->about.kind == SPOT_ENCODER_NEUTRAL) {
        spot_neutral_rows(c, feature, rgb, n);
        return SPOT_OK;
    }
    SPOT_TRY(need_network(c, e, n));
    SPOT_TRY(spot_look_pixels_run(c, &e->network, logit, feature, NULL, rgb, n));
    for (int i = 0; i < n; i++)
        if (!spot_all_finite(feature + (size_t)i * dim, dim) || !spot_all_finite(logit + (size_t)i * e->about.outputs,
                                                                                 (size_t)e->about.outputs))
            return spot_fail(c, SPOT_NUMERIC, "the features of picture %d (from 0) are not finite; are the weights of this "
                             "network?", i);
    return SPOT_OK;
}

static spot_status run_block(spot_ctx *c, spot_encoder *e, float *feature, float *logit, const uint8_t *rgb, int n)
{
    spot_status s;

    spot_range_begin(c, "encode");
    s = look_at_block(c, e, feature, logit, rgb, n);
    spot_range_end(c);
    return s;
}

spot_status spot_encode_pixels(spot_ctx *c, spot_encoder *e, float *feature, float *logit, const uint8_t *rgb, int n)
{
    size_t dim = (size_t)e->about.dim, outputs = (size_t)e->about.outputs, each = 3 * (size_t)e->about.side * e->about.side;
    int block = e->about.picture_block;

    SPOT_TRY(check_has_images(c, e));
    for (int first = 0; first < n; first += block) {
        int live = n - first < block ? n - first : block;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(run_block(c, e, feature + first * dim, e->logit, rgb + first * each, live));
        if (logit) memcpy(logit + first * outputs, e->logit, (size_t)live * outputs * sizeof *logit);
    }
    return SPOT_OK;
}

/* `resize` of the pictures: a CLIP's and a ViT's own is the side of their squares, neutral's is fixed. */
static int resize_of(const spot_encoder *e)
{
    const bool own = e->clip ? !e->o.input.resizes : e->about.kind == SPOT_ENCODER_NEUTRAL;

    return own ? e->about.side : e->o.resize;
}

static spot_filter filter_of(const spot_encoder *e)
{
    return spot_picture_input_filter(&e->o.input, e->clip ? SPOT_BICUBIC : SPOT_BILINEAR);
}

void spot_encoder_say_input(spot_ctx *c, const spot_encoder *e, const char *options)
{
    const spot_pixel_rule *rule = e->program ? NULL : e->clip ? &spot_clip_info_of(e->clip)->pixels : &e->resnet.pixels;
    spot_input_words square;

    if (!e->about.has_images || e->about.kind == SPOT_ENCODER_NEUTRAL) return;
    spot_picture_input_say(c, e->path, spot_square_words(&square, resize_of(e), e->about.side, filter_of(e)), rule, options);
}

typedef struct { spot_encoder *e; const spot_encoder_pictures *p; } picture_work;

/* Names the pictures of a block of which one failed. */
static spot_status fail_block(spot_ctx *c, const picture_work *w, const spot_picture_batch *b, spot_status s)
{
    if (s != SPOT_NUMERIC) return s;
    return spot_fail(c, s, "%s: %.500s It is one of %.300s to %.300s", w->e->path, spot_take_message(c, s),
                     w->p->path[b->picture[0]], w->p->path[b->picture[b->n - 1]]);
}

/* Moves the rows of a batch to their pictures' places. */
static spot_status take_pictures(spot_ctx *c, void *user, const spot_picture_batch *b)
{
    const picture_work *w = user;
    spot_encoder *e = w->e;
    size_t dim = (size_t)e->about.dim, outputs = (size_t)e->about.outputs;
    spot_status s = run_block(c, e, e->feature, e->logit, b->rgb, b->n);

    if (s) return fail_block(c, w, b, s);
    for (int i = 0; i < b->n; i++) {
        size_t to = (size_t)b->picture[i];
        memcpy(w->p->feature + to * dim, e->feature + i * dim, dim * sizeof(float));
        if (w->p->logit) memcpy(w->p->logit + to * outputs, e->logit + i * outputs, outputs * sizeof(float));
        if (w->p->unreadable) w->p->unreadable[to] = 0;
    }
    return SPOT_OK;
}

spot_status spot_encode_pictures(spot_ctx *c, spot_encoder *e, const spot_encoder_pictures *p)
{
    picture_work w = { e, p };
    int skipped = 0;
    spot_picture_batches b = { .path = p->path, .box = p->box, .n = p->n, .batch = e->about.picture_block,
                               .resize = resize_of(e), .crop = e->about.side, .filter = filter_of(e),
                               .reading = e->o.reading,
                               .memory = p->memory ? p->memory : e->o.memory, .stage = p->stage,
                               .before = p->before, .total = p->total, .skip = p->unreadable, .option = p->option,
                               .skipped = p->skipped ? p->skipped : &skipped, .take = take_pictures, .user = &w };

    SPOT_TRY(check_has_images(c, e));
    if (p->n < 1) return p->n ? spot_fail(c, SPOT_INVALID, "encoder: %d pictures", p->n) : SPOT_OK;
    if (p->unreadable) {
        memset(p->feature, 0, (size_t)p->n * (size_t)e->about.dim * sizeof(float));
        if (p->logit) memset(p->logit, 0, (size_t)p->n * (size_t)e->about.outputs * sizeof(float));
        memset(p->unreadable, 1, (size_t)p->n);
    }
    return spot_picture_batches_run(c, &b);
}

/* -- texts -------------------------------------------------------------------------------------------------------- */

static spot_status check_has_texts(spot_ctx *c, const spot_encoder *e)
{
    if (!e->about.has_texts)
        return spot_fail(c, SPOT_INPUT, "{encoder.no_text_tower} %s has no tower for texts, or was opened for pictures alone",
                         e->path);
    if (!e->tokenizer)
        return spot_fail(c, SPOT_INPUT, "{encoder.no_tokenizer} texts need the tokenizer of %s: %s (--vocabulary names its "
                         "file or folder)", e->path, e->why);
    return SPOT_OK;
}

/* The ids of a block of texts. */
typedef struct { int *id, *length; } numbered;         /* (TEXTS, context), (TEXTS), in one piece */

static spot_status take_numbers(spot_ctx *c, const spot_encoder *e, numbered *r)
{
    size_t ids = (size_t)TEXTS * (size_t)e->about.context;

    r->id = malloc((ids + TEXTS) * sizeof *r->id);
    if (!r->id) return spot_fail(c, SPOT_NOMEM, "no memory for the tokens of %d texts", TEXTS);
    r->length = r->id + ids;
    return SPOT_OK;
}

/* Numbers texts [first, first + n); cuts are added to *sum. */
static spot_status number_block(spot_ctx *c, const spot_encoder *e, numbered *r, const char *const *text, int first, int n,
                                spot_bpe_texts *sum)
{
    spot_bpe_texts b = { .text = text + first, .n = n, .context = e->about.context, .first = first, .cut = e->o.cut,
                         .quiet = true, .id = r->id, .length = r->length };

    SPOT_TRY(spot_bpe_encode(c, e->tokenizer, &b));
    sum->cuts += b.cuts;
    return SPOT_OK;
}

static spot_status check_blocks(spot_ctx *c, const spot_encoder *e, numbered *r, const char *const *text, int n)
{
    spot_bpe_texts sum = { .n = n, .context = e->about.context };

    for (int first = 0; first < n; first += TEXTS) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(number_block(c, e, r, text, first, n - first < TEXTS ? n - first : TEXTS, &sum));
    }
    spot_bpe_warn(c, &sum);
    return SPOT_OK;
}

spot_status spot_encoder_check_texts(spot_ctx *c, const spot_encoder *e, const char *const *text, int n)
{
    numbered r;
    spot_status s;

    SPOT_TRY(check_has_texts(c, e));
    SPOT_TRY(take_numbers(c, e, &r));
    s = check_blocks(c, e, &r, text, n);
    free(r.id);
    return s;
}

static spot_status run_texts(spot_ctx *c, spot_encoder *e, const spot_encoder_texts *t, numbered *r)
{
    size_t dim = (size_t)e->about.dim;
    spot_bpe_texts told = { 0 };

    for (int first = 0, live; first < t->n; first += live) {
        live = t->n - first < TEXTS ? t->n - first : TEXTS;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(number_block(c, e, r, t->text, first, live, &told));
        SPOT_TRY(spot_clip_texts(c, &e->scratch, e->clip, t->feature + (size_t)first * dim, r->id, r->length, live, true));
        if (t->stage) spot_tell(c, t->stage, -1, t->before + first + live, t->total ? t->total : t->n, "");
    }
    return SPOT_OK;
}

spot_status spot_encode_text_rows(spot_ctx *c, spot_encoder *e, const spot_encoder_texts *t)
{
    numbered r;
    spot_status s = SPOT_OK;

    SPOT_TRY(check_has_texts(c, e));
    if (t->n < 1) return t->n ? spot_fail(c, SPOT_INVALID, "encoder: %d texts", t->n) : SPOT_OK;
    SPOT_TRY(take_numbers(c, e, &r));
    if (!t->quiet) s = check_blocks(c, e, &r, t->text, t->n);
    if (!s) s = run_texts(c, e, t, &r);
    free(r.id);
    return s;
}

spot_status spot_encode_texts(spot_ctx *c, spot_encoder *e, float *feature, const char *const *text, int n)
{
    return spot_encode_text_rows(c, e, &(spot_encoder_texts){ .text = text, .n = n, .feature = feature });
}
