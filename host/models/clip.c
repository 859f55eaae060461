/* clip.c - CLIP from a file: embeddings of pictures and of texts. */
#include "spotter/encoder.h"

#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "models/clip_tower.h"
#include "models/finite.h"
#include "models/picture_input.h"

/* Rows of a batch, which do not depend on the threads: so the bits do not, either. A GPU needs more of them to be busy. */
enum { ROWS = 8192, DEVICE_ROWS = 4 * ROWS };

struct spot_clip {
    spot_clip_info info;
    int            rows;               /* of a batch */
    spot_clip_net  net[SPOT_CLIP_TOWERS];
    float         *value;              /* (3, 256): a byte of a channel as the network sees it; memory of c's device */
};

spot_status spot_clip_describe(spot_ctx *c, spot_clip_info *info, const char *path, const spot_clip_options *o)
{
    spot_clip_file f;
    spot_status s = spot_clip_file_open(c, &f, path, o);

    *info = f.info;
    spot_clip_file_close(&f);
    return s;
}

const spot_clip_info *spot_clip_info_of(const spot_clip *clip) { return &clip->info; }

/* Rows of tokens, pictures and bytes of pixels each bound a block. */
int spot_clip_block_of(const spot_ctx *c, const spot_clip_info *i)
{
    int across = i->side / i->patch, block = (c->device ? DEVICE_ROWS : ROWS) / (across * across + 1);
    int fits = (int)(((size_t)64 << 20) / (3 * (size_t)i->side * (size_t)i->side));

    block = block < SPOT_CLIP_MOST_PICTURES ? block : SPOT_CLIP_MOST_PICTURES;
    block = block < fits ? block : fits;
    return block > 1 ? block : 1;
}

/* -- opening ------------------------------------------------------------------------------------------------------ */

static bool has(const spot_clip_info *i, int which) { return which == SPOT_CLIP_IMAGE ? i->has_images : i->has_texts; }

/* Forgets the tower that is not wanted, if the other one is there. */
static void leave_out(spot_clip_info *i, spot_clip_use use)
{
    if (use == SPOT_CLIP_USE_IMAGES && i->has_images) i->has_texts = false;
    if (use == SPOT_CLIP_USE_TEXTS && i->has_texts) i->has_images = false;
}

/* In fp32, as torchvision computes it. */
static spot_status put_values(spot_ctx *c, const spot_clip *m)
{
    float value[3 * 256];

    for (int k = 0; k < 3; k++)
        for (int b = 0; b < 256; b++) value[256 * k + b] = spot_byte_level_by(&m->info.pixels, (unsigned)b, k);
    return spot_device_copy(c, m->value, value, sizeof value);
}

/* f NULL: weights are not set. */
static spot_status open_nets(spot_ctx *c, spot_arena *a, spot_clip *m, const spot_clip_file *f, spot_precision precision)
{
    if (m->rows < 0) return spot_fail(c, SPOT_INVALID, "{clip.batch} clip: a batch of %d tokens", m->rows);
    if (!m->rows) m->rows = c->device ? DEVICE_ROWS : ROWS;
    SPOT_TRY(SPOT_TAKE(c, a, m->value, 3 * 256));
    for (int t = 0; t < SPOT_CLIP_TOWERS; t++)
        if (has(&m->info, t)) SPOT_TRY(spot_clip_net_open(c, a, &m->net[t], &m->info, t, precision));
    if (a->counting || !f) return SPOT_OK;
    for (int t = 0; t < SPOT_CLIP_TOWERS; t++)
        if (has(&m->info, t)) SPOT_TRY(spot_clip_net_load(c, &m->net[t], f, t));
    return put_values(c, m);
}

spot_status spot_clip_open(spot_ctx *c, spot_arena *a, spot_clip **clip, const char *path, const spot_clip_options *o)
{
    spot_clip_file f;
    spot_clip *m = calloc(1, sizeof *m);
    spot_status s;

    *clip = NULL;
    if (!m) return spot_fail(c, SPOT_NOMEM, "no memory for a CLIP");
    s = spot_clip_file_open(c, &f, path, o);
    m->info = f.info;
    m->rows = o->rows;
    leave_out(&m->info, o->use);
    if (!s) s = open_nets(c, a, m, &f, o->precision);
    spot_clip_file_close(&f);
    if (s || a->counting) spot_clip_close(c, m);
    else *clip = m;
    return s;
}

spot_status spot_clip_blank(spot_ctx *c, spot_arena *a, spot_clip **clip, const spot_clip_info *info, spot_precision precision)
{
    spot_clip *m = calloc(1, sizeof *m);
    spot_status s;

    *clip = NULL;
    if (!m) return spot_fail(c, SPOT_NOMEM, "no memory for a CLIP");
    m->info = *info;
    s = open_nets(c, a, m, NULL, precision);
    if (s || a->counting) spot_clip_close(c, m);
    else *clip = m;
    return s;
}

void spot_clip_close(spot_ctx *c, spot_clip *clip)
{
    if (!clip) return;
    for (int t = 0; t < SPOT_CLIP_TOWERS; t++) spot_clip_net_close(c, &clip->net[t]);
    free(clip);
}

/* -- embeddings --------------------------------------------------------------------------------------------------- */

/* Brings n embeddings of a batch to the host. `first`: the number of the batch's first picture or text. */
static spot_status give_out(spot_ctx *c, float *out, float *embedding, int first, int n, int dim, bool unit, const char *what)
{
    if (unit) SPOT_TRY(spot_tokens_unit(c, embedding, n, dim));
    SPOT_TRY(spot_device_copy(c, out, embedding, (size_t)n * dim * sizeof *out));
    for (int i = 0; i < n; i++)
        if (!spot_all_finite(out + (size_t)i * dim, (size_t)dim))
            return spot_fail(c, SPOT_NUMERIC, "the embedding of %s %d (from 0) is not finite; are the weights of this network?",
                             what, first + i);
    return SPOT_OK;
}

/* Where a batch of pictures goes; logit NULL: not wanted. */
typedef struct { float *out, *logit; } picture_rows;

/* The tokens of n pictures in w->x: those in front, then the products of the patches, each plus its position. Where several
 * stand in front, they are rows behind the products in one table, of which the lists name a row for each token. */
static spot_status join_tokens(spot_ctx *c, const spot_clip_net *net, const spot_clip_work *w, float *product, int n)
{
    const int front = net->front, patches = net->positions - front, width = net->shape.width, all = n * patches;
    const spot_clip_lists *l = &w->own;

    if (front == 1)
        return spot_tokens_join(c, w->x, &(spot_picture_tokens){ product, net->first, net->position, n, patches, width });
    for (int r = 0; r < n * net->positions; r++) {
        const int at = r % net->positions;
        l->place[r] = at;
        l->id[r] = at < front ? all + at : r / net->positions * patches + at - front;
    }
    SPOT_TRY(spot_clip_work_list(c, w));
    if (front)
        SPOT_TRY(spot_device_copy(c, product + (size_t)all * width, net->first, (size_t)front * width * sizeof *product));
    return spot_tokens_words(c, w->x, &(spot_word_tokens){ w->at.id, w->at.place, product, net->position, n * net->positions,
                                                           width });
}

static spot_status embed_pictures(spot_ctx *c, const spot_clip *m, spot_clip_work *w, picture_rows to, const uint8_t *rgb,
                                  int first, int n, bool unit)
{
    const spot_clip_net *net = &m->net[SPOT_CLIP_IMAGE];
    spot_patches cut = { n, m->info.side, m->info.patch, m->value, net->precision };
    int each = net->positions, patches = n * (each - net->front);
    size_t numbers = 3 * (size_t)m->info.patch * m->info.patch * spot_precision_bytes(net->precision);
    float *product = (float *)((char *)w->wide + spot_linear_room((size_t)patches) * numbers), *embedding, *logit;

    for (int i = 0; i <= n; i++) w->own.start[i] = i * each;
    memcpy(w->own.only, w->own.start, (size_t)n * sizeof *w->own.only);
    SPOT_TRY(spot_clip_work_list(c, w));
    if (w->rgb) SPOT_TRY(spot_device_copy(c, w->rgb, rgb, (size_t)n * 3 * m->info.side * m->info.side));
    SPOT_TRY(spot_tokens_patches(c, w->wide, w->rgb ? w->rgb : rgb, &cut));
    SPOT_TRY(spot_linear_forward(c, net->plan[SPOT_CLIP_PATCHES], product, w->wide, net->patches, NULL, patches, w->scratch));
    SPOT_TRY(join_tokens(c, net, w, product, n));
    if (!net->plain) SPOT_TRY(spot_layernorm_apply(c, w->x, w->x, &net->before, n * each, SPOT_FP32));
    SPOT_TRY(spot_clip_net_run(c, net, w, &embedding, &logit, n * each, n));
    if (to.logit) SPOT_TRY(give_out(c, to.logit, logit, first, n, m->info.outputs, false, "picture"));
    return give_out(c, to.out, embedding, first, n, m->info.dim, unit, "picture");
}

spot_status spot_clip_images(spot_ctx *c, spot_arena *scratch, const spot_clip *m, float *out, const uint8_t *rgb, int n,
                             bool unit)
{
    return spot_clip_look(c, scratch, m, out, NULL, rgb, n, unit);
}

spot_status spot_clip_look(spot_ctx *c, spot_arena *scratch, const spot_clip *m, float *out, float *logit, const uint8_t *rgb,
                           int n, bool unit)
{
    const spot_clip_net *net = &m->net[SPOT_CLIP_IMAGE];
    size_t mark = scratch->used, picture = 3 * (size_t)m->info.side * m->info.side;
    spot_clip_work w = { 0 };
    int most;
    spot_status s;

    if (!m->info.has_images) return spot_fail(c, SPOT_INPUT, "{clip.no_picture_tower} this CLIP has no tower for pictures");
    if (n < 1) return n ? spot_fail(c, SPOT_INVALID, "{clip.pictures} clip: %d pictures", n) : SPOT_OK;
    most = m->rows / net->positions > 1 ? m->rows / net->positions : 1;
    if (n < most) most = n;
    s = spot_clip_work_take(c, scratch, &w, net, most * net->positions, most);
    if (!s && c->device) s = SPOT_TAKE(c, scratch, w.rgb, most * picture);
    for (int first = 0; first < n && !s && !scratch->counting; first += most) {
        int live = n - first < most ? n - first : most;
        s = spot_check_stop(c);
        picture_rows to = { out + first * (size_t)m->info.dim, NULL };
        if (logit && m->info.outputs) to.logit = logit + first * (size_t)m->info.outputs;
        if (!s) s = embed_pictures(c, m, &w, to, rgb + first * picture, first, live, unit);
    }
    spot_clip_work_give(c, &w);
    scratch->used = mark;
    return s;
}

/* The row of text i that becomes its embedding. Checks the ids up to there. */
static spot_status find_end(spot_ctx *c, const spot_clip_info *info, const int *id, int length, int i, int *end)
{
    *end = -1;
    if (length < 1 || length > info->context)
        return spot_fail(c, SPOT_INPUT, "{clip.text_length} text %d (from 0) has %d ids where 1 to %d are possible", i, length,
                         info->context);
    for (int k = 0; k < length; k++) {
        if (id[k] < 0 || id[k] >= info->vocabulary)
            return spot_fail(c, SPOT_INPUT, "{clip.token} text %d (from 0): id %d is not among the %d of the vocabulary", i,
                             id[k], info->vocabulary);
        if (info->end == SPOT_CLIP_GREATEST_ID ? *end < 0 || id[k] > id[*end] : *end < 0 && id[k] == info->end_id) *end = k;
    }
    if (*end < 0) return spot_fail(c, SPOT_INPUT, "{clip.end_token} text %d (from 0) has no end token %d", i, info->end_id);
    return SPOT_OK;
}

/* Texts `first` to first + *n - 1 laid one behind the other, each up to its end: as many as fit into a batch, at least one. */
static spot_status lay_texts(spot_ctx *c, const spot_clip *m, const spot_clip_lists *l, const int *ids, const int *length,
                             int first, int *n)
{
    int context = m->info.context, rows = 0, most = *n, end;

    l->start[0] = 0;
    for (*n = 0; *n < most; (*n)++) {
        int i = first + *n;
        const int *text = ids + (size_t)i * context;
        SPOT_TRY(find_end(c, &m->info, text, length ? length[i] : context, i, &end));
        if (*n && rows + end + 1 > m->rows) break;
        for (int k = 0; k <= end; k++) l->id[rows + k] = text[k], l->place[rows + k] = k;
        l->only[*n] = rows + end;
        l->start[*n + 1] = rows += end + 1;
    }
    return SPOT_OK;
}

static spot_status embed_batches(spot_ctx *c, const spot_clip *m, spot_clip_work *w, float *out, const int *ids,
                                 const int *length, int n, int sequences, bool unit)
{
    const spot_clip_net *net = &m->net[SPOT_CLIP_TEXT];
    const spot_clip_lists *l = &w->own, *at = &w->at;
    float *embedding, *none;

    for (int first = 0, live; first < n; first += live) {
        SPOT_TRY(spot_check_stop(c));
        live = n - first < sequences ? n - first : sequences;
        SPOT_TRY(lay_texts(c, m, l, ids, length, first, &live));
        SPOT_TRY(spot_clip_work_list(c, w));
        SPOT_TRY(spot_tokens_words(c, w->x, &(spot_word_tokens){ at->id, at->place, net->table, net->position, l->start[live],
                                                                 net->shape.width }));
        SPOT_TRY(spot_clip_net_run(c, net, w, &embedding, &none, l->start[live], live));
        SPOT_TRY(give_out(c, out + (size_t)first * m->info.dim, embedding, first, live, m->info.dim, unit, "text"));
    }
    return SPOT_OK;
}

spot_status spot_clip_texts(spot_ctx *c, spot_arena *scratch, const spot_clip *m, float *out, const int *ids, const int *length,
                            int n, bool unit)
{
    size_t mark = scratch->used;
    int context = m->info.context, most = m->rows > context ? m->rows : context, rows, sequences;
    spot_clip_work w = { 0 };
    spot_status s;

    if (!m->info.has_texts) return spot_fail(c, SPOT_INPUT, "{clip.no_text_tower} this CLIP has no tower for texts");
    if (n < 1) return n ? spot_fail(c, SPOT_INVALID, "clip: %d texts", n) : SPOT_OK;
    rows = n < most / context ? n * context : most, sequences = n < rows ? n : rows;
    s = spot_clip_work_take(c, scratch, &w, &m->net[SPOT_CLIP_TEXT], rows, sequences);
    if (!s && !scratch->counting) s = embed_batches(c, m, &w, out, ids, length, n, sequences, unit);
    spot_clip_work_give(c, &w);
    scratch->used = mark;
    return s;
}
