/* config_fill.c - converts a YAML document to checked values. */
#include <stdarg.h>
#include <string.h>

#include "base/nearest.h"
#include "core/pointer.h"
#include "study/config_read.h"

enum { MAX_ROWS = 256 };

/* ---- nodes ---- */

static const yaml_node_t *node_at(spot_reading *r, int number) { return yaml_document_get_node(&r->document, number); }

int spot_items_of(const yaml_node_t *list) { return (int)(list->data.sequence.items.top - list->data.sequence.items.start); }

const yaml_node_t *spot_item_at(spot_reading *r, const yaml_node_t *list, int i)
{
    return node_at(r, list->data.sequence.items.start[i]);
}

spot_pair spot_pair_at(spot_reading *r, const yaml_node_t *mapping, const char *name)
{
    const yaml_node_pair_t *p = mapping->data.mapping.pairs.start;

    for (; p < mapping->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = node_at(r, p->key);
        if (key->type == YAML_SCALAR_NODE && !strcmp(spot_text_of(key), name)) return (spot_pair){ key, node_at(r, p->value) };
    }
    return (spot_pair){ 0 };
}

int spot_line_at(spot_reading *r, const yaml_node_t *mapping, const char *name)
{
    const spot_pair pair = spot_pair_at(r, mapping, name);

    return pair.key ? spot_line_of(pair.key) : 0;
}

const char *spot_value_text(spot_reading *r, const yaml_node_t *value, int *at)
{
    *at = -1;
    if (value->type == YAML_SCALAR_NODE) return spot_text_of(value);
    for (int k = 0; k < r->axes; k++)
        if (r->axis[k].list == value) return spot_text_of(spot_item_at(r, value, *at = r->axis[k].at));
    return NULL;
}

/* ---- sentences ---- */

spot_status spot_refuse(spot_reading *r, int line, const char *fmt, ...)
{
    const char *why;
    va_list args;

    va_start(args, fmt);
    spot_fail_args(r->c, SPOT_USAGE, fmt, args);
    va_end(args);
    if (!r->name[0]) return SPOT_USAGE;
    why = spot_take_message(r->c, SPOT_USAGE);
    if (line) return spot_fail(r->c, SPOT_USAGE, "%s line %d: %s", r->name, line, why);
    return spot_fail(r->c, SPOT_USAGE, "%s: %s", r->name, why);
}

const char *spot_path_join(char path[SPOT_CONFIG_PATH], const char *above, const char *name)
{
    snprintf(path, SPOT_CONFIG_PATH, "%.180s%s%.63s", above, above[0] ? "." : "", name);
    return path;
}

/* Appends the names of a table and all its parts to the first n; returns the new n. */
static int collect_names(const char **names, int n, const spot_setting *s)
{
    for (; s && s->kind != SETTING_END; s++) {
        if (s->kind != SETTING_PART && n < MAX_ROWS) names[n++] = s->name;
        else if (s->rows) n = collect_names(names, n, s->rows);
        else
            for (int v = 0; s->of->names[v]; v++) n = collect_names(names, n, s->part(v));
    }
    return n;
}

static spot_status refuse_unknown(spot_reading *r, const spot_setting *rows, const yaml_node_t *key, const char *above)
{
    const char *names[MAX_ROWS + 1], *near, *where = above[0] ? above : "a config";
    char path[SPOT_CONFIG_PATH];

    snprintf(path, sizeof path, "%.63s", spot_text_of(key));
    names[collect_names(names, 0, rows)] = NULL;
    near = spot_nearest(path, names);
    if (near)
        return spot_refuse(r, spot_line_of(key), "{setting.unknown} %s has no setting \"%s\"; did you mean \"%s\"?", where,
                           path, near);
    return spot_refuse(r, spot_line_of(key), "{setting.unknown} %s has no setting \"%s\"; `%s` lists them all", where, path,
                       r->kind->help);
}

/* The setting belongs to other methods. */
static spot_status refuse_foreign(spot_reading *r, const spot_setting *rows, const void *group, const yaml_node_t *key,
                                  const char *path)
{
    const spot_setting *s = rows;
    char owners[256] = "";

    while (s->kind != SETTING_PART || !s->part) s++;
    for (int v = 0; s->of->names[v]; v++)
        if (spot_setting_find(s->part(v), spot_text_of(key))) {
            strcat(owners, owners[0] ? ", " : "");
            strcat(owners, s->of->names[v]);
        }
    return spot_refuse(r, spot_line_of(key), "{setting.foreign} %s is a setting of %s, not of %s", path, owners,
                       s->of->names[*(const int *)(const void *)((const char *)group + s->of->offset)]);
}

static spot_status refuse_shape(spot_reading *r, const spot_setting *s, const yaml_node_t *key, const char *path)
{
    char takes[256];

    return spot_refuse(r, spot_line_of(key), "{setting.shape} %s takes %s", path, spot_setting_takes(takes, sizeof takes, s));
}

/* at: index of the value in a list; -1: not in a list. */
static spot_status refuse_value(spot_reading *r, const spot_setting *s, int line, const char *above, int at,
                                const char *const *text)
{
    const char *near = s->names ? spot_nearest(text[0], s->names) : NULL;
    char takes[256], path[SPOT_CONFIG_PATH + 16];

    snprintf(path, sizeof path, at < 0 ? "%s" : "%s[%d]", above, at);
    spot_setting_takes(takes, sizeof takes, s);
    if (spot_setting_is_pair(s))
        return spot_refuse(r, line, "{setting.value} %s is [%.20s, %.20s]; it takes %s", path, text[0], text[1], takes);
    if (!text[0][0]) return spot_refuse(r, line, "{setting.value} %s has no value; it takes %s", path, takes);
    if (near) return spot_refuse(r, line, "{setting.value} %s is \"%.40s\"; did you mean \"%s\"?", path, text[0], near);
    return spot_refuse(r, line, "{setting.value} %s is %.40s; it takes %s", path, text[0], takes);
}

/* ---- values ---- */

spot_status spot_config_take(spot_reading *r, void *taken, size_t bytes)
{
    void *own = bytes ? spot_memory_take(r->memory, bytes) : NULL;

    spot_pointer_put(taken, own);
    return own || !bytes ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory for the config %s", r->name);
}

spot_status spot_config_text(spot_reading *r, const char **copy, const char *text)
{
    *copy = spot_memory_text(r->memory, text);
    return *copy ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory for the config %s", r->name);
}

/* A list and the struct that has it, whose rows are `rows`. */
typedef struct { const spot_setting *s, *rows; char *config; } list_place;

/* Copies the groups of the struct around the list to the groups of the same names in an entry. */
static void inherit_groups(const list_place *l, char *entry)
{
    for (const spot_setting *s = l->s->rows; s->kind != SETTING_END; s++) {
        const spot_setting *above = s->kind == SETTING_GROUP ? spot_setting_find(l->rows, s->name) : NULL;
        if (above) memcpy(entry + s->offset, l->config + above->offset, s->size);
    }
}

/* The defaults of the rows of every choice, since which of them count is read later. */
static void set_part_defaults(const spot_setting *rows, void *group)
{
    for (const spot_setting *s = rows; s->kind != SETTING_END; s++)
        for (int v = 0; s->kind == SETTING_PART && s->part && s->of->names[v]; v++)
            if (s->part(v)) spot_settings_defaults(s->part(v), group);
}

/* An entry of a list that is one struct. */
static spot_status fill_struct(spot_reading *r, const list_place *l, int *filled, const yaml_node_t *mapping, const char *at)
{
    const spot_setting *s = l->s;
    char *group = spot_setting_entry(s, l->config + s->offset, *filled);

    spot_settings_defaults(s->rows, group);
    set_part_defaults(s->rows, group);
    if (s->inherits) inherit_groups(l, group);
    ++*filled;
    return spot_config_fill(r, s->rows, group, mapping, at);
}

static spot_status fill_list(spot_reading *r, const list_place *l, const spot_pair *pair, const char *path)
{
    const spot_setting *s = l->s;
    char *config = l->config;
    int *filled = (int *)(void *)(config + s->count), n;
    char *list = config + s->offset;           /* the list's pointer */
    const bool appends = r->kind->fill_entry && !s->inherits;
    char at[SPOT_CONFIG_PATH], takes[256];

    if (pair->value->type != YAML_SEQUENCE_NODE) return refuse_shape(r, s, pair->key, path);
    n = spot_items_of(pair->value);
    if (n < s->lo || n > s->hi) return refuse_shape(r, s, pair->key, path);
    *filled = 0;
    SPOT_TRY(spot_config_take(r, list, (size_t)(appends ? (int)s->hi : n) * s->size));
    for (int i = 0; i < n; i++) {
        const yaml_node_t *entry = spot_item_at(r, pair->value, i);
        const spot_setting group = { .kind = SETTING_GROUP, .rows = s->rows };
        snprintf(at, sizeof at, "%.240s[%d]", path, i);
        if (entry->type != YAML_MAPPING_NODE)
            return spot_refuse(r, spot_line_of(entry), "{setting.shape} %s takes %s", at,
                               spot_setting_takes(takes, sizeof takes, &group));
        if (appends) SPOT_TRY(r->kind->fill_entry(r, spot_pointer_get(list), filled, entry, i, at));
        else SPOT_TRY(fill_struct(r, l, filled, entry, at));
    }
    return SPOT_OK;
}

static spot_status fill_value(spot_reading *r, const spot_setting *s, void *value, const spot_pair *pair, const char *path)
{
    const yaml_node_t *v = pair->value, *both[2];
    const char *text[2];
    int at = -1;

    if (spot_setting_is_pair(s)) {
        if (v->type != YAML_SEQUENCE_NODE || spot_items_of(v) != 2) return refuse_shape(r, s, pair->key, path);
        for (int k = 0; k < 2; k++) {
            both[k] = spot_item_at(r, v, k);
            if (both[k]->type != YAML_SCALAR_NODE) return refuse_shape(r, s, pair->key, path);
            text[k] = spot_text_of(both[k]);
        }
    } else if (!(text[0] = spot_value_text(r, v, &at))) return refuse_shape(r, s, pair->key, path);
    if (s->kind == SETTING_TEXT) SPOT_TRY(spot_config_text(r, &text[0], text[0]));
    if (spot_setting_read(s, value, text)) return SPOT_OK;
    return refuse_value(r, s, spot_line_of(at < 0 ? pair->key : spot_item_at(r, v, at)), path, at, text);
}

/* Checks that every key is a word, known, a setting of this group, and unique. */
static spot_status check_keys(spot_reading *r, const spot_setting *rows, const void *group, const yaml_node_t *mapping,
                              const char *above)
{
    const yaml_node_pair_t *p = mapping->data.mapping.pairs.start;
    char path[SPOT_CONFIG_PATH];

    for (; p < mapping->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = node_at(r, p->key);
        if (key->type != YAML_SCALAR_NODE) return spot_refuse(r, spot_line_of(key),
                                                              "{setting.name} a setting's name must be a plain word");
        if (!spot_setting_find(rows, spot_text_of(key))) return refuse_unknown(r, rows, key, above);
        spot_path_join(path, above, spot_text_of(key));
        if (spot_pair_at(r, mapping, spot_text_of(key)).key != key)
            return spot_refuse(r, spot_line_of(key), "{setting.twice} %s is set twice", path);
        if (!spot_settings_at(rows, group, spot_text_of(key)).s) return refuse_foreign(r, rows, group, key, path);
    }
    return SPOT_OK;
}

/* Settings are filled in the order of the rows, because a row's `when` reads those before it. Unknown names are refused last:
 * a config of a later version may name an unknown method together with its settings, and the method is the better error. */
spot_status spot_config_fill(spot_reading *r, const spot_setting *rows, void *group, const yaml_node_t *mapping,
                             const char *above)
{
    char path[SPOT_CONFIG_PATH];

    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        const spot_pair pair = spot_pair_at(r, mapping, w.s->name);
        if (!pair.key) continue;
        spot_path_join(path, above, w.s->name);
        if (w.s->kind == SETTING_LIST) SPOT_TRY(fill_list(r, &(list_place){ w.s, rows, w.group }, &pair, path));
        else if (w.s->kind != SETTING_GROUP) SPOT_TRY(fill_value(r, w.s, w.value, &pair, path));
        else if (pair.value->type != YAML_MAPPING_NODE) return refuse_shape(r, w.s, pair.key, path);
        else SPOT_TRY(spot_config_fill(r, w.s->rows, w.value, pair.value, path));
        if (!spot_setting_applies(w.s, w.group))
            return spot_refuse(r, spot_line_of(pair.key), "{setting.inapplicable} %s %s", path, w.s->otherwise);
    }
    return check_keys(r, rows, group, mapping, above);
}
