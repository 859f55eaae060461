/* predictor.c - a stand-in until the branch with all predictors is merged: weights through the encoder, functions; no programs. */
#include "spotter/predictor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/encoder.h"

struct spot_predictor { spot_predictor_options o; spot_predictor_info about; spot_encoder *net; };

spot_status spot_predictor_open(spot_ctx *c, spot_predictor **out, const spot_predictor_options *o)
{
    spot_predictor *p = *out = calloc(1, sizeof *p);
    spot_status s = SPOT_OK;

    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for a model");
    p->o = *o;
    p->about = (spot_predictor_info){ .kind = o->kind, .outputs = o->outputs, .dim = o->dim, .channels = o->channels, .batch = 64 };
    if (o->kind == SPOT_PREDICTOR_COMMAND) s = spot_fail(c, SPOT_UNSUPPORTED, "this build starts no programs");
    else if (o->kind == SPOT_PREDICTOR_WEIGHTS) {
        spot_encoder_options e = spot_encoder_defaults();
        e.resize = 0, e.crop = o->side;
        s = spot_encoder_open(c, &p->net, o->weights, &e);
        if (s == SPOT_OK && spot_encoder_about(p->net)->kind != SPOT_ENCODER_RESNET)
            s = spot_fail(c, SPOT_INPUT, "%s is no ResNet-18", o->weights);
        if (s == SPOT_OK) {
            const spot_encoder_info *i = spot_encoder_about(p->net);
            p->about.outputs = i->outputs, p->about.dim = i->dim, p->about.bytes = i->bytes;
            snprintf(p->about.identity, sizeof p->about.identity, "%s", i->name);
        }
    } else snprintf(p->about.identity, sizeof p->about.identity, "function-%s", o->identity ? o->identity : "");
    if (s != SPOT_OK) spot_predictor_close(c, p), *out = NULL;
    return s;
}

void spot_predictor_close(spot_ctx *c, spot_predictor *p)
{
    if (!p) return;
    spot_encoder_close(c, p->net);
    free(p);
}

const spot_predictor_info *spot_predictor_about(const spot_predictor *p) { return &p->about; }

spot_status spot_predict(spot_ctx *c, spot_predictor *p, const spot_prediction *q)
{
    if (!p->net) return p->o.function(c, p->o.user, q);
    float *feature = q->embedding ? q->embedding : malloc((size_t)q->n * (size_t)p->about.dim * sizeof *feature);
    spot_status s = feature ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory");
    const size_t each = 3 * (size_t)q->side * (size_t)q->side;
    for (int i = 0; i < q->n && s == SPOT_OK; i += 64)
        s = spot_encode_pixels(c, p->net, feature + (size_t)i * (size_t)p->about.dim, q->logit + (size_t)i * (size_t)p->about.outputs,
                               q->rgb + (size_t)i * each, q->n - i < 64 ? q->n - i : 64);
    if (!q->embedding) free(feature);
    return s;
}
