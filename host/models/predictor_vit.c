/* predictor_vit.c - a vision transformer with a head as a predictor: it stays open, with scratch for a batch. */
#include <stdlib.h>

#include "models/clip_file.h"
#include "models/predictor_kinds.h"

typedef struct {
    spot_arena weights, scratch;           /* in the memory of c's device */
    spot_clip *net;
    float     *feature;                    /* (batch, dim): room where the caller does not want it */
} vit;

/* False also for a file that cannot be read: who opens it says why. */
static bool has_vit(spot_tensors *header, const spot_blob *in)
{
    spot_ctx own = { 0 };
    uint64_t start;

    if (spot_tensors_check_no_pickle(&own, in) || spot_tensors_header(&own, header, in, &start)) return false;
    const bool is = spot_vit_is_in(header);
    spot_tensors_close(header);
    return is;
}

bool spot_predictor_is_vit(const char *path)
{
    spot_ctx own = { 0 };
    spot_tensors header;
    spot_blob in;

    if (!path || spot_blob_open(&own, &in, path)) return false;
    const bool is = has_vit(&header, &in);
    spot_blob_close(&in);
    return is;
}

static spot_status check(spot_ctx *c, const spot_clip_info *i, const spot_predictor_options *o)
{
    if (!i->outputs)
        return spot_fail(c, SPOT_INPUT, "{vit.no_head} %s has no head, a layer from %d numbers to a number for each class, so "
                         "that it predicts no classes; as an encoder it needs none", o->weights, i->dim);
    if (i->side != o->side)
        return spot_fail(c, SPOT_USAGE, "{vit.side} %s looks at squares of %d pixels, for which it has positions, and not of "
                         "%d", o->weights, i->side, o->side);
    return SPOT_OK;
}

static spot_status open_vit(spot_ctx *c, vit *v, const spot_predictor_options *o, int batch)
{
    const spot_clip_options options = { .precision = (spot_precision)o->precision, .use = SPOT_CLIP_USE_IMAGES };
    spot_arena count = spot_arena_counting(), work = spot_arena_counting();

    SPOT_TRY(spot_clip_open(c, &count, &v->net, o->weights, &options));
    SPOT_TRY(spot_arena_open_device(c, &v->weights, count.peak));
    SPOT_TRY(spot_clip_open(c, &v->weights, &v->net, o->weights, &options));
    SPOT_TRY(spot_clip_look(c, &work, v->net, NULL, NULL, NULL, batch, false));
    SPOT_TRY(spot_arena_open_device(c, &v->scratch, work.peak));
    v->feature = malloc((size_t)batch * (size_t)spot_clip_info_of(v->net)->dim * sizeof *v->feature);
    return v->feature ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the features of %d pictures", batch);
}

static spot_status predict(spot_ctx *c, void *state, const spot_prediction *p)
{
    vit *v = state;

    return spot_clip_look(c, &v->scratch, v->net, p->embedding ? p->embedding : v->feature, p->logit, p->rgb, p->n, false);
}

static void close_vit(spot_ctx *c, void *state)
{
    vit *v = state;

    spot_clip_close(c, v->net);
    spot_arena_close(&v->weights);
    spot_arena_close(&v->scratch);
    free(v->feature);
    free(v);
}

spot_status spot_predictor_vit(spot_ctx *c, spot_predictor_way *way, spot_predictor_info *about,
                               const spot_predictor_options *o)
{
    vit *v = calloc(1, sizeof *v);
    spot_clip_info i;

    if (!v) return spot_fail(c, SPOT_NOMEM, "no memory for a predictor");
    *way = (spot_predictor_way){ predict, close_vit, v };
    SPOT_TRY(spot_clip_describe(c, &i, o->weights, &(spot_clip_options){ 0 }));
    SPOT_TRY(check(c, &i, o));
    const int batch = spot_clip_block_of(c, &i);
    SPOT_TRY(open_vit(c, v, o, batch));
    *about = (spot_predictor_info){ .outputs = i.outputs, .dim = i.dim, .batch = batch,
                                    .bytes = v->weights.size + v->scratch.size
                                           + (size_t)batch * (size_t)i.dim * sizeof *v->feature };
    return SPOT_OK;
}
