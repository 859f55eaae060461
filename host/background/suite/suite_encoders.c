/* suite_encoders.c - see suite_encoders.h. */
#include "background/suite/suite_encoders.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/suite/pixels_encoder.h"
#include "models/idle_cores.h"
#include "study/kept_encoder.h"
#include "image/resize.h"
#include "store/contents.h"

enum { BATCH = 64 };

/* ---- open ---- */

static spot_status refuse_models(spot_ctx *c, const spot_background_config *cfg)
{
    const char *path[SPOT_MAX_BACKGROUND_ENCODERS + SPOT_MAX_BACKGROUND_MODELS];
    spot_key key[SPOT_MAX_BACKGROUND_ENCODERS + SPOT_MAX_BACKGROUND_MODELS];
    int n = 0, models;

    for (int m = 0; m < cfg->models; m++)
        if (cfg->model[m].weights[0]) path[n++] = cfg->model[m].weights;
    models = n;
    for (int i = 0; i < cfg->encoders; i++)
        if (cfg->encoder[i].weights[0]) path[n++] = cfg->encoder[i].weights;
    if (n == models || !models) return SPOT_OK;
    SPOT_TRY(spot_contents_of(c, key, NULL, path, n, NULL));
    for (int i = models; i < n; i++)
        for (int m = 0; m < models; m++)
            if (key[i].hi == key[m].hi && key[i].lo == key[m].lo)
                return spot_fail(c, SPOT_INPUT, "{suite.own_features} %s measures distances, and it is also a model under "
                                 "test, %s: a model must not be judged by its own features", path[i], path[m]);
    return SPOT_OK;
}

static spot_status open_encoder(spot_ctx *c, spot_suite_encoders *e, int i, const spot_background_encoder *from)
{
    spot_encoder_options o = spot_encoder_defaults();

    if (!from->weights[0]) {
        e->side[i] = 0;
        e->at[i + 1] = e->at[i] + SPOT_PIXELS_DIM;
        return SPOT_OK;
    }
    o.resize = 0, o.crop = e->size;
    if (from->config[0]) o.clip.config = from->config;
    SPOT_TRY(spot_encoder_open(c, &e->net[i], from->weights, &o));
    const spot_encoder_info *about = spot_encoder_about(e->net[i]);
    spot_warn_of_encoder(c, about, o.clip.precision, NULL);
    if (!about->has_images) return spot_fail(c, SPOT_INPUT, "%s has no tower for pictures", from->weights);
    if (about->has_texts && e->texts < 0) e->texts = i;
    e->side[i] = about->side;
    e->at[i + 1] = e->at[i] + about->dim;
    return SPOT_OK;
}

static void name_encoders(spot_suite_encoders *e)
{
    size_t used = 0;

    e->key = spot_key_of("encoders", 8);
    for (int i = 0; i < e->n; i++) {
        const char *name = e->net[i] ? spot_encoder_about(e->net[i])->name : "pixels";
        char text[64];
        snprintf(text, sizeof text, "%s %.17g", name, e->weight[i]);
        e->key = spot_key_join(e->key, "encoder", text, strlen(text));
        if (used < sizeof e->name)
            used += (size_t)snprintf(e->name + used, sizeof e->name - used, "%s%s", i ? ", " : "", name);
    }
}

static spot_status take_scratch(spot_ctx *c, spot_suite_encoders *e)
{
    int side = 0, dim = 0;

    for (int i = 0; i < e->n; i++) {
        const spot_resize one = { .width = e->size, .height = e->size, .resize = e->side[i], .crop = e->side[i],
                                  .filter = SPOT_BICUBIC };
        if (!e->net[i]) continue;
        const size_t bytes = spot_resize_scratch(1, &one, 1);
        e->each = bytes > e->each ? bytes : e->each;
        side = e->side[i] > side ? e->side[i] : side;
        dim = e->at[i + 1] - e->at[i] > dim ? e->at[i + 1] - e->at[i] : dim;
    }
    e->square = malloc((size_t)BATCH * 3 * (size_t)side * (size_t)side + 1);
    e->taps = aligned_alloc(SPOT_ALIGN, ((size_t)c->threads + 1) * e->each + SPOT_ALIGN);
    e->feature = malloc(((size_t)BATCH * (size_t)dim + 1) * sizeof *e->feature);
    return e->square && e->taps && e->feature ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the encoders");
}

spot_status spot_suite_encoders_open(spot_ctx *c, spot_suite_encoders *e, const spot_background_config *cfg)
{
    static const spot_background_encoder pixels = { "pixels", "", "", 1 };
    const spot_background_encoder *from = cfg->encoders ? cfg->encoder : &pixels;
    double sum = 0;

    *e = (spot_suite_encoders){ .n = cfg->encoders ? cfg->encoders : 1, .size = cfg->data.size, .texts = -1 };
    SPOT_TRY(refuse_models(c, cfg));
    for (int i = 0; i < e->n; i++) {
        e->weight[i] = from[i].weight;
        sum += from[i].weight;
        SPOT_TRY(open_encoder(c, e, i, &from[i]));
    }
    for (int i = 0; i < e->n; i++) e->weight[i] /= sum;
    e->dim = e->at[e->n];
    name_encoders(e);
    return take_scratch(c, e);
}

spot_status spot_suite_encoders_know(spot_ctx *c, spot_suite_encoders *e, const char *dir)
{
    for (int i = 0; i < e->n; i++) {
        spot_kept_encoder kept = { .dir = dir };
        if (!e->net[i]) continue;
        SPOT_TRY(spot_kept_encoder_know(c, &kept, e->net[i]));
        SPOT_TRY(spot_kept_encoder_save(c, &kept));
    }
    name_encoders(e);
    return SPOT_OK;
}

void spot_suite_encoders_close(spot_ctx *c, spot_suite_encoders *e)
{
    for (int i = 0; i < e->n; i++) spot_encoder_close(c, e->net[i]);
    free(e->square), free(e->taps), free(e->feature);
    memset(e, 0, sizeof *e);
}

/* ---- rows ---- */

static void scale_row(float *out, const float *in, int n)
{
    double squares = 0;

    for (int i = 0; i < n; i++) squares += (double)in[i] * in[i];
    const float scale = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    for (int i = 0; i < n; i++) out[i] = in[i] * scale;
}

/* rgb (n, size, size, 3) -> columns of encoder i; n is BATCH at most. */
static spot_status encode_batch(spot_ctx *c, spot_suite_encoders *e, int i, float *row, const uint8_t *rgb, int n)
{
    const size_t from = 3 * (size_t)e->size * (size_t)e->size, to = 3 * (size_t)e->side[i] * (size_t)e->side[i];
    const int dim = e->at[i + 1] - e->at[i];
    const uint8_t *square = rgb;

    if (e->side[i] != e->size) {
        square = e->square;
#pragma omp parallel for num_threads(c->threads)
        for (int k = 0; k < n; k++) {
            const spot_resize one = { rgb + (size_t)k * from, e->size, e->size, e->side[i], e->side[i], SPOT_BICUBIC,
                                      e->square + (size_t)k * to, SPOT_PILLOW_13 };
            spot_resize_one(&one, e->taps + (size_t)omp_get_thread_num() * e->each);
        }
    }
    SPOT_TRY(spot_encode_pixels(c, e->net[i], e->feature, NULL, square, n));
    for (int k = 0; k < n; k++)
        scale_row(row + (size_t)k * (size_t)e->dim + e->at[i], e->feature + (size_t)k * (size_t)dim, dim);
    return SPOT_OK;
}

spot_status spot_suite_encode(spot_ctx *c, spot_suite_encoders *e, float *row, const uint8_t *rgb, int n)
{
    const size_t each = 3 * (size_t)e->size * (size_t)e->size;

    for (int i = 0; i < e->n; i++) {
        if (!e->net[i]) {
#pragma omp parallel for num_threads(c->threads)
            for (int k = 0; k < n; k++) spot_pixels_encode(row + (size_t)k * (size_t)e->dim + e->at[i], rgb + (size_t)k * each,
                                                           e->size);
            continue;
        }
        for (int k = 0; k < n; k += BATCH) {
            SPOT_TRY(spot_check_stop(c));
            SPOT_TRY(encode_batch(c, e, i, row + (size_t)k * (size_t)e->dim, rgb + (size_t)k * each, n - k < BATCH ? n - k
                                  : BATCH));
        }
    }
    return SPOT_OK;
}

float spot_suite_distance(const spot_suite_encoders *e, const float *a, const float *b)
{
    double distance = 0;

    for (int i = 0; i < e->n; i++) {
        double dot = 0;
        for (int k = e->at[i]; k < e->at[i + 1]; k++) dot += (double)a[k] * b[k];
        distance += e->weight[i] * (1 - dot);
    }
    return distance > 0 ? (float)distance : 0;
}
