/* config_methods.c - the settings of the discovery methods as JSON, from the tables that read configs. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "bdm/methods.h"
#include "spotter/config.h"

static const char *const kind_name[] = { [SETTING_INT] = "int", [SETTING_RANGE] = "range", [SETTING_SEED] = "seed",
    [SETTING_REAL] = "real", [SETTING_SPAN] = "span", [SETTING_SWITCH] = "switch", [SETTING_NAME] = "name",
    [SETTING_TEXT] = "text", [SETTING_GROUP] = "group", [SETTING_LIST] = "list" };

static void put_value(spot_json *j, const char *key, const spot_setting *s, const void *value)
{
    const double *real = value;
    const int *i = value;
    bool on;

    switch (s->kind) {
    case SETTING_INT:    spot_json_put_int(j, key, *i); break;
    case SETTING_REAL:   spot_json_put_real(j, key, *real); break;
    case SETTING_NAME:   spot_json_put_text(j, key, s->names[*i]); break;
    case SETTING_TEXT:   spot_json_put_text(j, key, spot_setting_word(value)); break;
    case SETTING_SEED:   spot_json_put_format(j, key, "%llu", (unsigned long long)*(const uint64_t *)value); break;
    case SETTING_SWITCH: on = *i, spot_json_bool(j, key, &on); break;
    case SETTING_RANGE:
    case SETTING_SPAN:
        spot_json_array(j, key, 2, 2);
        for (int k = 0; k < 2; k++) {
            if (s->kind == SETTING_SPAN) spot_json_put_real(j, NULL, real[k]);
            else spot_json_put_int(j, NULL, i[k]);
        }
        spot_json_end(j);
        break;
    default: break;
    }
}

/* The defaults that another profile than the first has in place of the method's. */
static void put_presets(spot_json *j, const spot_setting *s, const spot_bdm_config *cfg)
{
    const spot_setting_walk profile = spot_settings_at(spot_bdm_settings, cfg, SPOT_BDM_PROFILE);
    char ours[300], theirs[300];

    if (!profile.s || s == profile.s) return;
    spot_json_object(j, "presets");
    for (int p = 1; profile.s->names[p]; p++) {
        spot_bdm_config other = *cfg;
        *(int *)(void *)spot_settings_at(spot_bdm_settings, &other, SPOT_BDM_PROFILE).value = p;
        spot_bdm_preset(&other);
        const spot_setting_walk a = spot_settings_at(spot_bdm_settings, cfg, s->name);
        const spot_setting_walk b = spot_settings_at(spot_bdm_settings, &other, s->name);
        if (strcmp(spot_setting_text(ours, sizeof ours, s, a.value), spot_setting_text(theirs, sizeof theirs, s, b.value)))
            put_value(j, profile.s->names[p], s, b.value);
    }
    spot_json_end(j);
}

/* cfg: the method's whole settings; NULL inside a group. */
static void put_rows(spot_json *j, const spot_setting *rows, const void *group, const spot_bdm_config *cfg)
{
    char takes[256];

    spot_json_array(j, "settings", 0, 0);
    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        if (w.s->kind == SETTING_LIST) continue;
        spot_json_object(j, NULL);
        spot_json_put_text(j, "name", w.s->name);
        spot_json_put_text(j, "kind", kind_name[w.s->kind]);
        spot_json_put_text(j, "help", w.s->help);
        if (w.s->kind == SETTING_GROUP) put_rows(j, w.s->rows, w.value, NULL);
        else {
            spot_json_put_text(j, "takes", spot_setting_takes(takes, sizeof takes, w.s));
            put_value(j, "default", w.s, w.value);
            if (cfg) put_presets(j, w.s, cfg);
        }
        if (w.s->kind == SETTING_NAME) spot_json_array(j, "values", 0, 0);
        for (int v = 0; w.s->kind == SETTING_NAME && w.s->names[v]; v++) spot_json_put_text(j, NULL, w.s->names[v]);
        if (w.s->kind == SETTING_NAME) spot_json_end(j);
        spot_json_end(j);
    }
    spot_json_end(j);
}

spot_status spot_config_methods(spot_ctx *c, char **text)
{
    spot_json j;
    spot_status s;

    *text = NULL;
    SPOT_TRY(spot_json_begin(c, &j, NULL));
    spot_json_array(&j, NULL, SPOT_METHODS, SPOT_METHODS);
    for (int m = 0; m < SPOT_METHODS; m++) {
        const spot_bdm_config cfg = spot_bdm_defaults(m);
        spot_json_object(&j, NULL);
        spot_json_put_text(&j, "method", spot_bdm_settings->names[m]);
        put_rows(&j, spot_bdm_settings, &cfg, &cfg);
        spot_json_end(&j);
    }
    spot_json_end(&j);
    s = spot_json_whole(c, &j, "the settings of the methods");
    if (!s) {
        *text = calloc(j.out.used + 1, 1);
        if (*text) memcpy(*text, j.out.bytes, j.out.used);
        else s = spot_fail(c, SPOT_NOMEM, "no memory for the settings of the methods");
    }
    spot_json_free(&j);
    return s;
}
