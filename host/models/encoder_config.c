/* encoder_config.c - the encoder that a config names: its settings, its checks, and a trial before it is needed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/clip_file.h"
#include "models/encoder_name.h"
#include "models/model_settings.h"
#include "models/neutral.h"

static const char *const shapes[] = { "vit-b-32", "other", NULL };
static const char *const precisions[] = { "fp32", "tf32", "bf16", NULL };

const spot_setting spot_encoder_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_encoder_config, field, help, __VA_ARGS__)
    S("weights", TEXT, weights, "CLIP's .safetensors file, with the names of Hugging Face, OpenAI or open_clip; or neutral, "
      "which needs no file", .hi = 256,
      .affects = SPOT_AFFECTS_PATH),
    S("config",  TEXT, config,  "CLIP's config.json or open_clip_config.json; \"\": the one beside the weights", .hi = 256,
      .affects = SPOT_AFFECTS_PATH),
    S("shape",   NAME, shape,   "shape of the tower for pictures: the paper's ViT-B/32, or another one, which gets rows of "
      "its own in the paper's tables", .names = shapes, SPOT_DEF(SPOT_ENCODER_VIT_B_32)),
    S("precision", NAME, precision, "precision of CLIP's products; a GPU is several times as fast in bf16, or in tf32",
      .names = precisions, SPOT_DEF(SPOT_FP32), .newer = SPOT_NEWER),
#undef S
    SPOT_END
};

static spot_encoder_options options_of(const spot_encoder_config *cfg)
{
    spot_encoder_options o = spot_encoder_defaults();

    o.clip.config = cfg->config[0] ? cfg->config : NULL;
    o.clip.precision = (spot_precision)cfg->precision;
    return o;
}

static bool is_vit_b_32(const spot_clip_info *i)
{
    return i->side == 224 && i->patch == 32 && i->dim == 512 && i->image.layers == 12 && i->image.width == 768;
}

static spot_status check_shape(spot_ctx *c, const spot_clip_info *i, const spot_encoder_config *cfg)
{
    const int shape = is_vit_b_32(i) ? SPOT_ENCODER_VIT_B_32 : SPOT_ENCODER_OTHER;

    if (!i->has_images)
        return spot_fail(c, SPOT_INPUT, "{encoder.no_picture_tower} encoder.weights: %s has no tower for pictures, only for "
                         "texts", cfg->weights);
    if (cfg->shape == shape) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{encoder.shape} encoder.shape is %s, and %s has %d blocks of width %d on patches of %d of "
                     "%d pixels, and rows of %d numbers; set encoder.shape: %s", shapes[cfg->shape], cfg->weights,
                     i->image.layers, i->image.width, i->patch, i->side, i->dim, shapes[shape]);
}

static spot_status describe(spot_ctx *c, int *kind, spot_clip_info *clip, const spot_encoder_config *cfg,
                            const spot_encoder_options *o)
{
    SPOT_TRY(spot_settings_check(c, SPOT_INVALID, spot_encoder_settings, cfg, "encoder"));
    SPOT_TRY(spot_encoder_find_kind(c, kind, cfg->weights));
    if (*kind == SPOT_ENCODER_NEUTRAL && cfg->shape != SPOT_ENCODER_OTHER)
        return spot_fail(c, SPOT_INPUT, "{encoder.shape} encoder.shape is %s, and neutral features are of no network; set "
                         "encoder.shape: %s", shapes[cfg->shape], shapes[SPOT_ENCODER_OTHER]);
    if (*kind == SPOT_ENCODER_NEUTRAL) return SPOT_OK;
    if (*kind != SPOT_ENCODER_CLIP)
        return spot_fail(c, SPOT_INPUT, "encoder.weights: %s is no CLIP, and representation: clip looks with CLIP",
                         cfg->weights);
    SPOT_TRY(spot_clip_describe(c, clip, cfg->weights, &o->clip));
    return check_shape(c, clip, cfg);
}

spot_status spot_encoder_describe(spot_ctx *c, spot_encoder_info *about, const spot_encoder_config *cfg)
{
    const spot_encoder_options o = options_of(cfg);
    spot_clip_info clip;
    int kind;

    SPOT_TRY(describe(c, &kind, &clip, cfg, &o));
    if (kind == SPOT_ENCODER_NEUTRAL) {
        *about = (spot_encoder_info){ .kind = kind, .has_images = true, .dim = SPOT_NEUTRAL_DIM, .side = SPOT_NEUTRAL_SIDE,
                                      .scale = NAN, .picture_block = SPOT_NEUTRAL_BLOCK };
        return spot_encoder_make_name(c, about->name, cfg->weights, NULL, &o);
    }
    *about = (spot_encoder_info){ .kind = SPOT_ENCODER_CLIP, .has_images = true, .has_texts = clip.has_texts, .dim = clip.dim,
                                  .side = clip.side, .context = clip.context, .scale = clip.scale,
                                  .picture_block = spot_clip_block_of(c, &clip) };
    return spot_encoder_make_name(c, about->name, cfg->weights, &clip, &o);
}

/* A black picture: it finds a missing kernel, and weights that are no network's. */
static spot_status try_encoder(spot_ctx *c, spot_encoder *e, const spot_encoder_config *cfg)
{
    const spot_encoder_info *i = spot_encoder_about(e);
    uint8_t *rgb = calloc(3 * (size_t)i->side, (size_t)i->side);
    float *feature = malloc((size_t)i->dim * sizeof *feature);
    spot_status s = rgb && feature ? spot_encode_pixels(c, e, feature, NULL, rgb, 1)
                                   : spot_fail(c, SPOT_NOMEM, "no memory for a picture of %d pixels a side", i->side);

    free(rgb);
    free(feature);
    if (s != SPOT_NUMERIC) return s;
    return spot_fail(c, SPOT_INPUT, "encoder.weights: %s fails on a black picture: %s", cfg->weights,
                     spot_take_message(c, s));
}

spot_status spot_encoder_open_config(spot_ctx *c, spot_encoder **e, const spot_encoder_config *cfg)
{
    const spot_encoder_options o = options_of(cfg);
    spot_clip_info clip;
    spot_status s;
    int kind;

    *e = NULL;
    SPOT_TRY(describe(c, &kind, &clip, cfg, &o));
    s = spot_encoder_open(c, e, cfg->weights, &o);
    if (!s) s = try_encoder(c, *e, cfg);
    if (!s) return s;
    spot_encoder_close(c, *e);
    *e = NULL;
    if (s != SPOT_UNSUPPORTED) return s;
    return spot_fail(c, s, "representation: clip does not run on %s: %s", spot_ctx_device_name(c), spot_take_message(c, s));
}
