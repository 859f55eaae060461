/* keys.c - hashes the tables of settings, so that a new row becomes part of its keys without code here. */
#include "study/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "bdm/methods.h"
#include "core/ops.h"
#include "models/model_settings.h"
#include "study/config_table.h"
#include "study/settings_key.h"
#include "worlds/scene_settings.h"

/* Rules of the keys of values in the store. What a method's key says of its features goes before its points. */
#define OF_VALUES(affects_) (&(const spot_key_rule){ .affects = SPOT_AFFECTS_##affects_, .newer = SPOT_NEWER_THAN_VALUES })
static const spot_key_rule of_run = { .affects = SPOT_AFFECTS_ALL & ~SPOT_AFFECTS_EXTENT, .newer = SPOT_NEWER_THAN_RUNS };
#define OF_METHOD(affects_) (&(const spot_key_rule){ .affects = affects_, .newer = SPOT_NEWER_THAN_VALUES, .used = true })

/* k joined with a group of the config: the rows that spot_settings has for it. */
static spot_key join_group(spot_key k, const char *name, const void *group, const spot_key_rule *rule)
{
    const spot_setting *s = spot_setting_find(spot_settings, name);
    char above[64];

    snprintf(above, sizeof above, "%s.", name);
    return spot_settings_key(k, s->rows, group, above, s->affects, rule);
}

/* k joined with settings of a method. */
static spot_key join_method(spot_key k, const spot_bdm_config *cfg, const spot_key_rule *rule)
{
    return spot_settings_key(k, spot_bdm_settings, cfg, "", SPOT_AFFECTS_FINDING, rule);
}

static spot_key numbers_key(void)
{
    char text[32];

    return spot_key_of(text, (size_t)snprintf(text, sizeof text, "numbers=%d", SPOT_NUMBERS));
}

spot_status spot_identify(spot_ctx *c, spot_identity *id, const spot_config *cfg, const spot_photos *photos)
{
    unsigned char *bytes;
    size_t n;

    id->init[0] = id->encoder[0] = 0;
    snprintf(id->data, sizeof id->data, "%s", photos ? spot_photos_hash(photos) : "");
    if (cfg->model.init[0]) {
        SPOT_TRY(spot_file_read(c, cfg->model.init, &bytes, &n, (size_t)1 << 32));
        spot_key_text(id->init, spot_key_of(bytes, n));
        free(bytes);
    }
    if (spot_wants_clip(cfg)) {
        spot_encoder_info about;
        SPOT_TRY(spot_encoder_describe(c, &about, &cfg->encoder));
        memcpy(id->encoder, about.name, sizeof id->encoder);
    }
    id->config = spot_settings_key(numbers_key(), spot_settings, cfg, "", 0, &of_run);
    id->config = spot_key_join(id->config, "init", id->init, strlen(id->init));
    if (photos) id->config = spot_key_join(id->config, "data", id->data, strlen(id->data));
    if (id->encoder[0]) id->config = spot_key_join(id->config, "encoder", id->encoder, strlen(id->encoder));
    return SPOT_OK;
}

/* The EC's pictures, on the device that makes the values. */
static spot_key key_of_pictures(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%" PRIu64 " %" PRIu32, cfg->seed, ec);
    spot_key k = spot_key_join(numbers_key(), "seed, ec", text, (size_t)n);

    k = spot_key_join(k, "device", c->ops->name, strlen(c->ops->name));
    if (id->data[0]) {
        k = join_group(k, "data", &cfg->data, OF_VALUES(PICTURES));
        k = spot_key_join(k, "data", id->data, strlen(id->data));
    } else {
        k = join_group(k, "scene", spot_config_scene(cfg, ec), OF_VALUES(PICTURES));
    }
    return k;
}

spot_key spot_key_of_model(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec)
{
    spot_key k = key_of_pictures(c, id, cfg, ec);

    k = join_group(k, "model", &cfg->model, OF_VALUES(MODEL));
    return spot_key_join(k, "init", id->init, strlen(id->init));
}

spot_key spot_key_of_base(const spot_ctx *c, const spot_config *cfg)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%" PRIu64, cfg->seed);
    spot_key k = spot_key_join(numbers_key(), "base, seed", text, (size_t)n);

    k = spot_key_join(k, "device", c->ops->name, strlen(c->ops->name));
    k = join_group(k, "scene", &cfg->scene, OF_VALUES(BASE));
    return join_group(k, "model", &cfg->model, OF_VALUES(BASE));
}

spot_key spot_key_of_robust(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec)
{
    const spot_setting *s = spot_setting_find(spot_model_settings, "robust");
    spot_key k = spot_key_join(spot_key_of_model(c, id, cfg, ec), "robust", "", 0);

    return spot_settings_key(k, s->rows, &cfg->model.robust, "robust.", s->affects, OF_VALUES(ROBUST));
}

spot_key spot_key_of_clip(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec)
{
    return spot_key_join(key_of_pictures(c, id, cfg, ec), "encoder", id->encoder, strlen(id->encoder));
}

spot_key spot_key_of_features(spot_key view, spot_key content)
{
    char text[33];

    spot_key_text(text, content);
    return spot_key_join(view, "embedding", text, strlen(text));
}

spot_key spot_key_of_attributes(spot_key view) { return spot_key_join(view, "attributes", "1", 1); }

spot_key spot_key_of_points(spot_key features, const spot_bdm_config *cfg)
{
    return join_method(spot_key_join(features, "points", "", 0), cfg, OF_METHOD(SPOT_AFFECTS_POINTS));
}

/* version: of the value that is kept, not of the settings. */
static spot_key join_finding(spot_key points, const char *version, const spot_bdm_config *cfg)
{
    return join_method(spot_key_join(points, "found", version, strlen(version)), cfg, OF_METHOD(SPOT_AFFECTS_FINDING));
}

/* Version 2 keeps the weights of the hypotheses. */
spot_key spot_key_of_found(spot_key points, const spot_bdm_config *cfg) { return join_finding(points, "2", cfg); }

/* Features from files have no key of their own here: their folder stands for them. */
spot_key spot_key_of_reduction(const spot_bdm_config *cfg)
{
    return spot_key_of_points(join_method(numbers_key(), cfg, OF_METHOD(SPOT_AFFECTS_VIEW | SPOT_AFFECTS_PATH)), cfg);
}

spot_key spot_key_of_method(const spot_bdm_config *cfg) { return join_finding(spot_key_of_reduction(cfg), "", cfg); }

bool spot_config_differs(char *words, size_t size, const spot_config *saved, const spot_config *here)
{
    return spot_settings_differ(words, size, spot_settings, saved, here, of_run.affects);
}

int spot_config_differences(char *text, size_t size, const spot_config *saved, const spot_config *here)
{
    return spot_settings_differences(text, size, spot_settings, saved, here, of_run.affects, false);
}

int spot_method_differences(char *text, size_t size, const spot_bdm_config *saved, const spot_bdm_config *here)
{
    const unsigned affects = SPOT_AFFECTS_VIEW | SPOT_AFFECTS_PATH | SPOT_AFFECTS_POINTS | SPOT_AFFECTS_FINDING;

    return spot_settings_differences(text, size, spot_bdm_settings, saved, here, affects, true);
}
