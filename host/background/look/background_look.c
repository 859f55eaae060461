/* background_look.c - see background_look.h: each batch of pictures (look_batch.h) is seen by all models, in one call each.
 * Nothing but responses comes back from a device, unless a program or a function wants to see the pictures. */
#include "background/look/look_batch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_config.h"
#include "base/greatest.h"
#include "core/device.h"

enum { MOST_TOP = 1000 };

/* ---- responses ---- */

/* Softmax of the greatest output, or of all outputs of the true class. */
static float confidence_of(const float *logit, int outputs, int best, const int *class_of, int cls, bool of_truth)
{
    double sum = 0, part = 0;

    for (int i = 0; i < outputs; i++) {
        const double e = exp((double)logit[i] - logit[best]);
        sum += e;
        if (of_truth ? (class_of ? class_of[i] : i) == cls : i == best) part += e;
    }
    return (float)(part / sum);
}

/* The `top` numbers of the greatest activations; of equal ones the first. Returns how many. */
static int find_top(int *out, int top, const float *row, int dim)
{
    int n = 0;

    for (int i = 0; i < dim; i++) {
        int at = n < top ? n++ : n;
        for (; at > 0 && row[out[at - 1]] < row[i]; at--)
            if (at < top) out[at] = out[at - 1];
        if (at < top) out[at] = i;
    }
    return n;
}

static void add_embedding(float *const signal[SPOT_BACKGROUND_MATRICES], size_t at, const float *row, int dim, const int *top,
                          int tops)
{
    double sum = 0, all = 0;
    float most = row[0];

    for (int i = 0; i < tops; i++) sum += row[top[i]];
    for (int i = 0; i < dim; i++) all += row[i], most = row[i] > most ? row[i] : most;
    signal[1][at] = (float)(sum / tops);
    signal[2][at] = most;
    signal[3][at] = (float)(all / dim);
}

/* Threads own groups of channels. */
static void add_channels(const spot_ctx *c, const spot_look_batch *k, const spot_look_model *m, int images, int channels)
{
    enum { GROUP = 64 };

#pragma omp parallel for num_threads(c->threads)
    for (int from = 0; from < channels; from += GROUP) {
        const int to = from + GROUP < channels ? from + GROUP : channels;
        for (int i = 0; i < images; i++) {
            const float *row = m->channel + (size_t)i * (size_t)channels;
            if (!k->seen[i].image || k->seen[i].image > k->l->suite->n) continue;
            for (int n = from; n < to; n++) m->most[n] = row[n] > m->most[n] ? row[n] : m->most[n];
        }
    }
}

/* The place in the batch of an image of a target; -1: it is not there. */
static int find_seen(const spot_look_batch *k, int images, int target, int image)
{
    for (int i = 0; i < images; i++)
        if (k->seen[i].target == target && k->seen[i].image == image) return i;
    return -1;
}

/* Image i of a target whose top neurons are known. */
static void take_response(const spot_look_batch *k, const spot_look_model *m, int i, const int *top, int tops)
{
    const spot_background_suite *s = k->l->suite;
    const spot_predictor_info *about = spot_predictor_about(m->predictor);
    const size_t all = (size_t)s->targets * (size_t)(s->n + 1);
    float *const signal[] = { m->signal, m->signal + all, m->signal + 2 * all, m->signal + 3 * all };
    const int t = k->seen[i].target, image = k->seen[i].image, outputs = about->outputs;
    const float *logit = m->logit + (size_t)i * (size_t)outputs;
    const size_t at = (size_t)t * (size_t)(s->n + 1) + (size_t)image;
    const int best = spot_first_greatest(logit, outputs);
    const int answer = m->class_of ? m->class_of[best] : best, own = image - s->n - 1 - SPOT_BACKGROUND_SETS;
    if (own >= 0) {
        m->of_own[(size_t)t * (size_t)k->own + (size_t)own] = answer;
        return;
    }
    if (image > s->n) {
        m->derived[(size_t)t * SPOT_BACKGROUND_SETS + (size_t)(image - s->n - 1)] = answer;
        return;
    }
    m->answer[at] = answer;
    if (!image) m->derived[(size_t)t * SPOT_BACKGROUND_SETS + SPOT_SET_ORIGINAL] = answer;
    signal[0][at] = confidence_of(logit, outputs, best, m->class_of, s->cls[t], k->l->cfg->measure.confidence == 1);
    if (about->dim) add_embedding(signal, at, m->embedding + (size_t)i * (size_t)about->dim, about->dim, top, tops);
}

/* A thread owns a target. */
static void take_responses(const spot_ctx *c, const spot_look_batch *k, const spot_look_model *m, int from, int to, int images)
{
    const spot_predictor_info *about = spot_predictor_about(m->predictor);
    const int only_fg = k->l->suite->n + 1 + SPOT_SET_ONLY_FG;

#pragma omp parallel for num_threads(c->threads)
    for (int t = from; t < to; t++) {
        int top[MOST_TOP], tops = 0;
        const int own = about->dim ? find_seen(k, images, t, only_fg) : -1;
        if (own >= 0)
            tops = find_top(top, k->l->cfg->measure.top, m->embedding + (size_t)own * (size_t)about->dim, about->dim);
        for (int i = 0; i < images; i++)
            if (k->seen[i].target == t) take_response(k, m, i, top, tops);
    }
    if (about->channels) add_channels(c, k, m, images, about->channels);
}

/* ---- all ---- */

static spot_status take_scratch(spot_ctx *c, const spot_background_look *l, int images)
{
    for (int i = 0; i < l->models; i++) {
        spot_look_model *m = &l->model[i];
        const spot_predictor_info *about = spot_predictor_about(m->predictor);
        m->logit = malloc((size_t)images * (size_t)about->outputs * sizeof *m->logit);
        m->embedding = about->dim ? malloc((size_t)images * (size_t)about->dim * sizeof *m->embedding) : NULL;
        m->channel = about->channels ? malloc((size_t)images * (size_t)about->channels * sizeof *m->channel) : NULL;
        if (!m->logit || (about->dim && !m->embedding) || (about->channels && !m->channel))
            return spot_fail(c, SPOT_NOMEM, "no memory for the outputs of %s", m->name);
    }
    return SPOT_OK;
}

static bool all_failed(const spot_background_look *l)
{
    for (int i = 0; i < l->models; i++)
        if (!l->model[i].failed) return false;
    return true;
}

/* Spotter's own networks look at pictures on the device, all others on the host. */
static bool is_seen_on_device(const spot_look_model *m)
{
    return spot_predictor_about(m->predictor)->kind == SPOT_PREDICTOR_WEIGHTS;
}

static spot_status look_at_batch(spot_ctx *c, spot_look_batch *k, int from, int to)
{
    const spot_background_look *l = k->l;
    bool fetched = false;
    int images;

    SPOT_TRY(spot_look_batch_make(c, k, from, to, &images));
    spot_look_batch_ahead(c, k, to, to + k->together < l->suite->targets ? to + k->together : l->suite->targets);
    for (int i = 0; i < l->models; i++) {
        spot_look_model *m = &l->model[i];
        const spot_twin *out = &k->blender.out;
        const spot_prediction q = { is_seen_on_device(m) ? out->on_device : out->here, images, k->blender.size, m->logit,
                                    m->embedding, m->channel };
        SPOT_TRY(spot_check_stop(c));
        if (m->failed) continue;
        if (!is_seen_on_device(m) && !fetched) SPOT_TRY(spot_blender_pull(c, &k->blender, images));
        fetched |= !is_seen_on_device(m);
        m->failed = spot_predict(c, m->predictor, &q);
        if (m->failed && m->failed != SPOT_INPUT) return m->failed;
        if (m->failed) snprintf(m->why, sizeof m->why, "%s", spot_take_message(c, m->failed));
        else take_responses(c, k, m, from, to, images);
    }
    return SPOT_OK;
}

spot_status spot_look_all(spot_ctx *c, const spot_background_look *l)
{
    const int targets = l->suite->targets, most = spot_look_together(c, l->cfg), together = most < targets ? most : targets;
    spot_look_batch k;
    spot_status s = spot_look_batch_open(c, &k, l, together);

    if (s == SPOT_OK) s = take_scratch(c, l, together * spot_look_images(l->cfg));
    for (int from = 0; from < targets && s == SPOT_OK && !all_failed(l); from += together) {
        const int to = from + together < targets ? from + together : targets;
        s = look_at_batch(c, &k, from, to);
        if (l->work)
            spot_work_tell_within(c, l->work, SPOT_LOOK_SHARE * l->models * to / targets,
                                  l->models == 1 ? l->model[0].name : "");
    }
    for (int i = 0; i < l->models; i++) free(l->model[i].logit), free(l->model[i].embedding), free(l->model[i].channel);
    spot_look_batch_close(&k);
    return s;
}

spot_status spot_look_picture(spot_ctx *c, const spot_background_look *l, uint8_t *rgb, int target, int image)
{
    spot_look_batch k;
    int images = 0;
    spot_status s = spot_look_batch_open(c, &k, l, 1);

    k.wanted_target = target, k.wanted_image = image;
    if (s == SPOT_OK) s = spot_look_batch_make(c, &k, target, target + 1, &images);
    if (s == SPOT_OK && images != 1)
        s = spot_fail(c, SPOT_INPUT, "{pictures.unknown} %s has no such picture", l->suite->target[target]);
    if (s == SPOT_OK) s = spot_device_copy(c, rgb, k.blender.out.on_device, k.blender.bytes);
    spot_look_batch_close(&k);
    return s;
}
