/* keys.c - hashes the tables of settings, so that a new row becomes part of its keys without code here. */
#include "store/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/methods.h"
#include "config/config_table.h"
#include "core/ops.h"
#include "embed/embed_settings.h"
#include "model/model_settings.h"
#include "scene/scene_settings.h"

enum { VALUE = 1100, NAME = 128 };

static void value_text(char text[VALUE], const spot_setting *s, const void *value)
{
    const double *real = value;
    const int *i = value;

    switch (s->kind) {
    case SETTING_RANGE: snprintf(text, VALUE, "[%d, %d]", i[0], i[1]); break;
    case SETTING_SEED:  snprintf(text, VALUE, "%" PRIu64, *(const uint64_t *)value); break;
    case SETTING_REAL:  snprintf(text, VALUE, "%.17g", *real); break;
    case SETTING_SPAN:  snprintf(text, VALUE, "[%.17g, %.17g]", real[0], real[1]); break;
    case SETTING_NAME:  snprintf(text, VALUE, "%s", s->names[*i]); break;
    case SETTING_TEXT:  snprintf(text, VALUE, "%s", (const char *)value); break;
    default:            snprintf(text, VALUE, "%d", *i); break;
    }
}

/* Selects rows of a table; NULL selects all. */
typedef bool chooser(const spot_setting *s, const void *base);

/* Hashes every selected setting's name and value into k. */
static spot_key hash_rows(spot_key k, const spot_setting *rows, const void *base, const char *above, chooser *matters)
{
    char name[NAME], value[VALUE];

    for (spot_setting_walk w = spot_settings_walk(rows, base); w.s; spot_settings_next(&w)) {
        const spot_setting *s = w.s;
        if (!spot_setting_applies(s, w.group) || (matters && !matters(s, w.group)) || spot_setting_is_old(s, w.value)) continue;
        snprintf(name, sizeof name, "%s%s", above, s->name);
        if (!s->rows) {
            value_text(value, s, w.value);
            k = spot_key_join(k, name, value, strlen(value));
            continue;
        }
        int n = s->kind == SETTING_LIST ? *(const int *)(const void *)(w.group + s->count) : 1;
        strcat(name, ".");
        for (int e = 0; e < n; e++) k = hash_rows(k, s->rows, w.value + (size_t)e * s->size, name, NULL);
    }
    return k;
}

static bool but_ecs(const spot_setting *s, const void *base)
{
    (void)base;
    return strcmp(s->name, "ecs") != 0;
}

/* `induce` is newer than existing runs: only a value other than the old behaviour changes the key. */
static bool for_images(const spot_setting *s, const void *base)
{
    return strcmp(s->name, "induce") != 0 || ((const spot_scene_config *)base)->induce != SPOT_FLIP_LABELS;
}

/* The hash of the pictures covers the files. */
static bool for_pictures(const spot_setting *s, const void *base)
{
    (void)base;
    return strcmp(s->name, "coco") != 0 && strcmp(s->name, "images") != 0;
}

static bool is_one_of(const spot_setting *s, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(s->name, *names)) return true;
    return false;
}

/* learned_* judge a finished view only, so they are not part of the model's key. */
static bool for_model(const spot_setting *s, const void *base)
{
    (void)base;
    return !is_one_of(s, (const char *const[]){ "init", "robust", "learned_gap", "learned_rest", "learned_band", NULL });
}

/* The look of the images; the other settings choose their contents. */
static bool for_base_images(const spot_setting *s, const void *base)
{
    (void)base;
    return is_one_of(s, (const char *const[]){ "size", "text_alternative", "jpeg_quality", NULL });
}

static bool for_base(const spot_setting *s, const void *base)
{
    (void)base;
    return !is_one_of(s, (const char *const[]){ "epochs", "lr", "init", "robust", "learned_outside", "learned_inside",
                                                "learned_gap", "learned_rest", "learned_band", NULL });
}

static bool is_embedding(const spot_setting *s) { return spot_setting_find(spot_embed_settings, s->name) == s; }

static bool for_points(const spot_setting *s, const void *base) { return is_embedding(s) && !spot_setting_is_idle(s, base); }

/* The key of the features includes the representation. */
static bool for_finding(const spot_setting *s, const void *base)
{
    (void)base;
    return !is_embedding(s) && !is_one_of(s, (const char *const[]){ "name", "representation", "embeddings", NULL });
}

static spot_key numbers_key(void)
{
    char text[32];

    return spot_key_of(text, (size_t)snprintf(text, sizeof text, "numbers=%d", SPOT_NUMBERS));
}

spot_key spot_key_of_settings(const spot_setting *rows, const void *group)
{
    return hash_rows(spot_key_of("settings", 8), rows, group, "", NULL);
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
    id->config = hash_rows(numbers_key(), spot_settings, cfg, "", but_ecs);
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
        k = hash_rows(k, spot_photos_settings, &cfg->data, "data.", for_pictures);
        k = spot_key_join(k, "data", id->data, strlen(id->data));
    } else {
        k = hash_rows(k, spot_scene_settings, spot_config_scene(cfg, ec), "scene.", for_images);
    }
    return k;
}

spot_key spot_key_of_model(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec)
{
    spot_key k = key_of_pictures(c, id, cfg, ec);

    k = hash_rows(k, spot_model_settings, &cfg->model, "model.", for_model);
    return spot_key_join(k, "init", id->init, strlen(id->init));
}

spot_key spot_key_of_base(const spot_ctx *c, const spot_config *cfg)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%" PRIu64, cfg->seed);
    spot_key k = spot_key_join(numbers_key(), "base, seed", text, (size_t)n);

    k = spot_key_join(k, "device", c->ops->name, strlen(c->ops->name));
    k = hash_rows(k, spot_scene_settings, &cfg->scene, "scene.", for_base_images);
    return hash_rows(k, spot_model_settings, &cfg->model, "model.", for_base);
}

spot_key spot_key_of_robust(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec)
{
    spot_key k = spot_key_join(spot_key_of_model(c, id, cfg, ec), "robust", "", 0);

    return hash_rows(k, spot_setting_find(spot_model_settings, "robust")->rows, &cfg->model.robust, "robust.", NULL);
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
    return hash_rows(spot_key_join(features, "points", "", 0), spot_bdm_settings, cfg, "", for_points);
}

/* version: of the value that is kept, not of the settings. */
static spot_key join_finding(spot_key points, const char *version, const spot_bdm_config *cfg)
{
    return hash_rows(spot_key_join(points, "found", version, strlen(version)), spot_bdm_settings, cfg, "", for_finding);
}

/* Version 2 keeps the weights of the hypotheses. */
spot_key spot_key_of_found(spot_key points, const spot_bdm_config *cfg) { return join_finding(points, "2", cfg); }

static bool for_features(const spot_setting *s, const void *base)
{
    if (!strcmp(s->name, "embeddings")) return ((const spot_bdm_config *)base)->representation == SPOT_BY_FILE;
    return !strcmp(s->name, "representation");
}

spot_key spot_key_of_reduction(const spot_bdm_config *cfg)
{
    return spot_key_of_points(hash_rows(numbers_key(), spot_bdm_settings, cfg, "", for_features), cfg);
}

spot_key spot_key_of_method(const spot_bdm_config *cfg)
{
    return join_finding(spot_key_of_reduction(cfg), "", cfg);
}

/* A description of the settings that differ. first: a sentence about the first of them. Else a list, "lr=0.1 (0.005),
 * steps=9 (1000)"; `more` counts those that do not fit. */
typedef struct { char *text; size_t size, used; bool first; int n, more; } differences;

static void add_difference(differences *t, const char *name, const char *there, const char *here)
{
    char *end = t->text + t->used;
    size_t room = t->size - t->used;
    int n;

    t->n++;
    if (t->first && t->n == 1) snprintf(end, room, "%s is %s there and %s here", name, there, here);
    if (t->first) return;
    n = snprintf(end, room, "%s%s=%s (%s)", t->used ? ", " : "", name, here, there);
    if (!t->more && (size_t)n + sizeof ", and 9999 more" <= room) t->used += (size_t)n;
    else snprintf(end, room, "%s%d more", t->used ? ", and " : "", ++t->more);
}

/* Walks the rows that `here` has; `there` may be of another method. */
static void compare_groups(differences *t, const spot_setting *rows, const void *there, const void *here, const char *above,
                           chooser *matters)
{
    char name[NAME], a[VALUE], b[VALUE];

    for (spot_setting_walk w = spot_settings_walk(rows, here); w.s; spot_settings_next(&w)) {
        const spot_setting *s = w.s;
        const char *y = w.value, *x = (const char *)there + (y - (const char *)here), *group = x - s->offset;
        int n = s->kind == SETTING_LIST ? *(const int *)(const void *)(group + s->count) : 1;
        if (!spot_setting_applies(s, group) && !spot_setting_applies(s, w.group)) continue;
        if (matters && !matters(s, w.group)) continue;
        snprintf(name, sizeof name, "%s%s", above, s->name);
        if (s->kind == SETTING_LIST && n != *(const int *)(const void *)(w.group + s->count)) {
            snprintf(name, sizeof name, "the number of %s%s", above, s->name);
            snprintf(a, sizeof a, "%d", n);
            snprintf(b, sizeof b, "%d", *(const int *)(const void *)(w.group + s->count));
            add_difference(t, name, a, b);
            continue;
        }
        for (int e = 0; s->rows && e < n; e++) {
            char inner[NAME + 24];
            if (s->kind == SETTING_LIST) snprintf(inner, sizeof inner, "%s[%d].", name, e);
            else snprintf(inner, sizeof inner, "%s.", name);
            compare_groups(t, s->rows, x + (size_t)e * s->size, y + (size_t)e * s->size, inner, NULL);
        }
        if (!s->rows && strcmp(spot_setting_text(a, sizeof a, s, x), spot_setting_text(b, sizeof b, s, y)))
            add_difference(t, name, a, b);
    }
}

bool spot_settings_differ(char *words, size_t size, const spot_setting *rows, const void *there, const void *here)
{
    differences t = { .text = words, .size = size, .first = true };

    compare_groups(&t, rows, there, here, "", NULL);
    return t.n;
}

bool spot_config_differs(char *words, size_t size, const spot_config *there, const spot_config *here)
{
    differences t = { .text = words, .size = size, .first = true };

    compare_groups(&t, spot_settings, there, here, "", but_ecs);
    return t.n;
}

int spot_config_differences(char *text, size_t size, const spot_config *there, const spot_config *here)
{
    differences t = { .text = text, .size = size };

    *text = 0;
    compare_groups(&t, spot_settings, there, here, "", but_ecs);
    return t.n;
}

/* Settings in the keys of its features, its points or its findings. */
static bool for_method(const spot_setting *s, const void *base)
{
    return is_embedding(s) ? for_points(s, base) : for_features(s, base) || for_finding(s, base);
}

int spot_method_differences(char *text, size_t size, const spot_bdm_config *there, const spot_bdm_config *here)
{
    differences t = { .text = text, .size = size };

    *text = 0;
    compare_groups(&t, spot_bdm_settings, there, here, "", for_method);
    return t.n;
}
