/* encoder_name.c - see encoder_name.h. */
#include "models/encoder_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/safetensors.h"
#include "models/clip_file.h"
#include "models/foreign_key.h"
#include "models/foreign_model.h"
#include "models/neutral.h"
#include "models/picture_input.h"
#include "models/weights_hash.h"
#include "models/weights_names.h"

enum { FACTS = 1024 };

const char *spot_encoder_kind_name(int kind)
{
    static const char *const name[] = { "clip", "resnet", SPOT_NEUTRAL, "vit", "program" };

    return name[kind];
}

static spot_status find_kind(spot_ctx *c, int *kind, const spot_blob *in)
{
    spot_tensors t;
    uint64_t start;
    bool resnet, clip, vit;

    SPOT_TRY(spot_tensors_check_no_pickle(c, in));
    SPOT_TRY(spot_tensors_header(c, &t, in, &start));
    resnet = spot_weights_known(&t);
    clip = spot_clip_is_in(&t);
    vit = spot_vit_is_in(&t);
    spot_tensors_close(&t);
    *kind = vit ? SPOT_ENCODER_VIT : clip ? SPOT_ENCODER_CLIP : SPOT_ENCODER_RESNET;
    if (clip || resnet) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{encoder.kind} %s is no encoder: it has neither CLIP's tensors, by the names of Hugging "
                     "Face, OpenAI or open_clip, nor a ViT's by timm's, nor those of torchvision's ResNets or AlexNet",
                     in->name);
}

spot_status spot_encoder_find_kind(spot_ctx *c, int *kind, const char *path)
{
    spot_blob in;
    spot_status s;

    *kind = spot_is_foreign(path) ? SPOT_ENCODER_PROGRAM : SPOT_ENCODER_NEUTRAL;
    if (*kind == SPOT_ENCODER_PROGRAM || !strcmp(path, SPOT_NEUTRAL)) return SPOT_OK;
    SPOT_TRY(spot_blob_open(c, &in, path));
    s = find_kind(c, kind, &in);
    spot_blob_close(&in);
    return s;
}

static int tower_facts(char *text, size_t size, const spot_clip_tower *t)
{
    return snprintf(text, size, "heads %d activation %d eps %.9g ", t->heads, (int)t->activation, (double)t->eps);
}

/* Facts that the tensors do not tell, as a text. */
static int clip_facts(char text[FACTS], const spot_clip_info *i, const spot_encoder_options *o)
{
    int n = snprintf(text, FACTS, "precision %d ", (int)o->clip.precision);

    if (i->has_images) {
        n += snprintf(text + n, FACTS - (size_t)n, "images ");
        n += tower_facts(text + n, FACTS - (size_t)n, &i->image);
        if (i->side % i->patch) n += snprintf(text + n, FACTS - (size_t)n, "side %d ", i->side);     /* the config's */
        for (int k = 0; k < 3; k++)
            n += snprintf(text + n, FACTS - (size_t)n, "mean %.9g std %.9g ", (double)i->pixels.mean[k],
                          (double)i->pixels.std[k]);
    }
    if (i->has_texts) {
        n += snprintf(text + n, FACTS - (size_t)n, "texts ");
        n += tower_facts(text + n, FACTS - (size_t)n, &i->text);
        n += snprintf(text + n, FACTS - (size_t)n, "end %d %d clean 0", (int)i->end,      /* 0: names are older */
                      i->end == SPOT_CLIP_FIRST_END ? i->end_id : 0);
    }
    return n;
}

/* The facts of the input that are no defaults: the defaults add nothing, so that names stay. */
static int input_facts(char *text, size_t size, const spot_clip_info *clip, const spot_encoder_options *o)
{
    int n = 0;

    if (o->reading.exif == SPOT_EXIF_APPLY) n += snprintf(text + n, size - (size_t)n, " exif apply");
    if (o->reading.pillow == SPOT_PILLOW_12) n += snprintf(text + n, size - (size_t)n, " pillow 12");
    if (clip && clip->pixels.scale != 255) n += snprintf(text + n, size - (size_t)n, " scale %.9g", (double)clip->pixels.scale);
    if (spot_picture_input_filter(&o->input, clip ? SPOT_BICUBIC : SPOT_BILINEAR) != (clip ? SPOT_BICUBIC : SPOT_BILINEAR))
        n += snprintf(text + n, size - (size_t)n, " interpolation %d", o->input.interpolation);
    if (clip && o->input.resizes && o->resize != clip->side) n += snprintf(text + n, size - (size_t)n, " resize %d", o->resize);
    return n;
}

spot_status spot_encoder_name_program(spot_ctx *c, char name[32], const char *path, spot_predictor *p,
                                      const spot_encoder_options *o)
{
    char facts[FACTS];
    spot_key key, answers;

    int n = snprintf(facts, sizeof facts, "resize %d crop %d exif %d pillow %d", o->resize, o->crop, o->reading.exif,
                     o->reading.pillow);
    if (o->input.interpolation == SPOT_INTERPOLATION_BICUBIC)
        n += snprintf(facts + n, FACTS - (size_t)n, " interpolation %d", o->input.interpolation);
    SPOT_TRY(spot_foreign_key(c, &key, path));
    key = spot_key_join(key, "program", facts, (size_t)n);
    key = spot_picture_input_join(key, &o->input, true);
    snprintf(name, 32, "program-%016" PRIx64, key.hi);
    if (!spot_is_known_by_answers(path)) return SPOT_OK;
    SPOT_TRY(spot_answers_key(c, &answers, p));
    snprintf(name, 32, "program-%08" PRIx64 "-%012" PRIx64, key.hi >> 32, answers.hi >> 16);
    return SPOT_OK;
}

spot_status spot_encoder_make_name(spot_ctx *c, char name[32], const char *path, const spot_clip_info *clip,
                                   const spot_encoder_options *o)
{
    const bool neutral = !strcmp(path, SPOT_NEUTRAL);
    const char *kind = spot_encoder_kind_name(neutral ? SPOT_ENCODER_NEUTRAL : !clip ? SPOT_ENCODER_RESNET
                                              : clip->plain ? SPOT_ENCODER_VIT : SPOT_ENCODER_CLIP);
    char facts[FACTS];
    int n = clip ? clip_facts(facts, clip, o)
          : neutral ? snprintf(facts, sizeof facts, "version %d", SPOT_NEUTRAL_VERSION)
                    : snprintf(facts, sizeof facts, "resize %d crop %d", o->resize, o->crop);
    spot_key key = spot_key_of("", 0);

    n += input_facts(facts + n, FACTS - (size_t)n, clip, o);
    if (!neutral) SPOT_TRY(spot_weights_hash(c, &key, path));
    key = spot_key_join(key, kind, facts, (size_t)n);
    if (!neutral && !clip) key = spot_picture_input_join(key, &o->input, false);
    snprintf(name, 32, "%s-%016" PRIx64, kind, key.hi);
    return SPOT_OK;
}
