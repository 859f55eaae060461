/* config_grid.c - an entry of bdms: one method, or one for every combination if settings are lists of values. */
#include <string.h>

#include "bdm/methods.h"
#include "study/config_read.h"

/* ---- the lists of an entry ---- */

static spot_status add_axis(spot_reading *r, const spot_pair *pair, const char *path, const char *at)
{
    spot_axis *x = &r->axis[r->axes];
    const yaml_node_t *item;

    if (r->axes == SPOT_MAX_AXES)
        return spot_refuse(r, spot_line_of(pair->key), "there are more than %d lists of values", SPOT_MAX_AXES);
    if (!strcmp(path, "name"))
        return spot_refuse(r, spot_line_of(pair->key),
                           "{grid.name} %s.name takes one text; the methods of a grid are told apart by their settings", at);
    *x = (spot_axis){ .list = pair->value, .n = spot_items_of(pair->value) };
    snprintf(x->path, sizeof x->path, "%.95s", path);
    if (!x->n) return spot_refuse(r, spot_line_of(pair->key), "{grid.empty} %s.%s is a list without values", at, path);
    for (int i = 0; i < x->n; i++)
        if ((item = spot_item_at(r, pair->value, i))->type != YAML_SCALAR_NODE)
            return spot_refuse(r, spot_line_of(item), "{grid.value} %s.%s[%d] is no single value, as each of a list must be",
                               at, path, i);
    r->axes++;
    return SPOT_OK;
}

/* Lists the axes in the order of the text. Unknown names are refused later. */
static spot_status find_axes(spot_reading *r, const spot_setting *rows, const yaml_node_t *mapping, const char *above,
                             const char *at)
{
    const yaml_node_pair_t *p = mapping->data.mapping.pairs.start;
    char path[SPOT_CONFIG_PATH];

    for (; p < mapping->data.mapping.pairs.top; p++) {
        const spot_pair pair = { yaml_document_get_node(&r->document, p->key), yaml_document_get_node(&r->document, p->value) };
        const spot_setting *s = pair.key->type == YAML_SCALAR_NODE ? spot_setting_find(rows, spot_text_of(pair.key)) : NULL;
        if (!s) continue;
        spot_path_join(path, above, s->name);
        if (s->rows && pair.value->type == YAML_MAPPING_NODE) SPOT_TRY(find_axes(r, s->rows, pair.value, path, at));
        if (!s->rows && !spot_setting_is_pair(s) && pair.value->type == YAML_SEQUENCE_NODE)
            SPOT_TRY(add_axis(r, &pair, path, at));
    }
    return SPOT_OK;
}

/* ---- one combination ---- */

/* Whether the method's name includes the value of this setting. */
static bool is_in_name(const char *path)
{
    return !strcmp(path, "method") || !strcmp(path, "reduce") || !strcmp(path, "representation")
           || !strcmp(path, SPOT_BDM_PROFILE);
}

/* "spotlight min_weight=0.005": the given name, or else the method's, and the grid's values. */
static spot_status label_method(spot_reading *r, spot_bdm_config *m, int line, const char *at)
{
    const size_t most = (size_t)spot_setting_find(spot_bdm_settings, "name")->hi;
    bool named = m->name[0];
    char text[512];
    size_t own, used;

    spot_bdm_name(m, text, sizeof text);
    own = used = strlen(text);
    for (const spot_axis *x = r->axis; x < r->axis + r->axes && used < sizeof text; x++)
        if (x->n > 1 && (named || !is_in_name(x->path)))
            used += (size_t)snprintf(text + used, sizeof text - used, " %s=%s", x->path,
                                     spot_text_of(spot_item_at(r, x->list, x->at)));
    if (used >= most)
        return spot_refuse(r, line, "{grid.name_length} %s: a combination would be called \"%.200s%s\"; a name has at most %d "
                           "bytes: give a shorter one, or fewer lists",
                           at, text, strlen(text) > 200 ? "..." : "", (int)most - 1);
    return used > own ? spot_config_text(r, &m->name, text) : SPOT_OK;
}

/* Reads one of an entry's names before the others; a wrong one changes nothing, and is refused later. */
static void read_name(spot_reading *r, const spot_setting *s, int *value, const yaml_node_t *mapping)
{
    const spot_pair pair = spot_pair_at(r, mapping, s->name);
    const char *text = NULL;
    int which;

    if (pair.key) text = spot_value_text(r, pair.value, &which);
    if (text) spot_setting_read(s, value, &text);
}

/* The first row names the method, which sets the defaults, and its profile may set others. */
static spot_status fill_method(spot_reading *r, spot_bdm_config *m, const yaml_node_t *mapping, const char *at)
{
    int method = SPOT_PLANESPOT;
    spot_setting_walk profile;

    read_name(r, spot_bdm_settings, &method, mapping);
    *m = spot_bdm_defaults(method);
    profile = spot_settings_at(spot_bdm_settings, m, SPOT_BDM_PROFILE);
    if (profile.s) read_name(r, profile.s, (int *)(void *)profile.value, mapping);
    spot_bdm_preset(m);
    SPOT_TRY(spot_config_fill(r, spot_bdm_settings, m, mapping, at));
    return label_method(r, m, spot_line_of(mapping), at);
}

/* ---- unused settings ---- */

/* Copies a setting, or a group of them, from another struct; returns whether this changed it. */
static bool reset_setting(const spot_setting *s, char *to, const char *from)
{
    const size_t size = spot_setting_bytes(s);
    bool differed = s->kind == SETTING_TEXT ? strcmp(spot_setting_word(to), spot_setting_word(from)) : memcmp(to, from, size);

    for (const spot_setting *in = s->rows; in && in->name; in++)
        differed |= reset_setting(in, to + in->offset, from + in->offset);
    memcpy(to, from, size);
    return differed;
}

/* The values of `of` for which s is used: "pca, tsne, scvis or umap". */
static const char *readers(char text[128], const spot_setting *s)
{
    const char *const *name = s->of->names;
    size_t used = 0;

    for (unsigned v = 0, left = s->values; left; v++, left = s->values >> v)
        if (left & 1)
            used += (size_t)snprintf(text + used, 128 - used, "%s%s", !used ? "" : left > 1 ? ", " : " or ", name[v]);
    return text;
}

/* Refuses a setting that no combination uses, and a list that would make combinations equal. A setting that only some
 * combinations use is reset to its default in the others. A default value is always allowed, because a run's own config names
 * all settings. */
static spot_status check_idle(spot_reading *r, const spot_setting *s, spot_bdm_config *m, int n, const yaml_node_t *mapping,
                              const char *at)
{
    const spot_bdm_config *set = NULL;
    const char *value;
    char text[128];
    int idle = 0, line = spot_line_of(mapping);

    for (int i = 0; i < n; i++) {
        const spot_bdm_config own = spot_bdm_defaults(m[i].method);
        const spot_setting_walk to = spot_settings_at(spot_bdm_settings, &m[i], s->name);
        if (!to.s || !spot_setting_is_idle(s, to.group)) continue;
        idle++;
        if (reset_setting(s, to.value, spot_settings_at(spot_bdm_settings, &own, s->name).value)) set = &m[i];
    }
    if (!set) return SPOT_OK;
    if (spot_pair_at(r, mapping, s->name).key) line = spot_line_of(spot_pair_at(r, mapping, s->name).key);
    value = s->of->names[*(int *)(void *)spot_settings_at(spot_bdm_settings, set, s->of->name).value];
    if (idle == n)
        return spot_refuse(r, line, "{grid.foreign} %s.%s is for %s: %s, and here it is %s; remove it, or set %s", at, s->name,
                           s->of->name, readers(text, s), value, s->of->name);
    for (const spot_axis *x = r->axis; x < r->axis + r->axes; x++)
        if (x->n > 1 && !strncmp(x->path, s->name, strlen(s->name)))
            return spot_refuse(r, line, "{grid.unread_list} %s.%s is a list, and with %s: %s, which does not read it, methods "
                               "would come out the same; give %s an entry of its own", at, x->path, s->of->name, value, value);
    return SPOT_OK;
}

/* ---- all combinations ---- */

/* The last list varies fastest. */
static spot_status fill_all(spot_reading *r, spot_bdm_config *bdm, int *filled, int product, const yaml_node_t *mapping,
                            int entry, const char *at)
{
    for (int i = 0; i < product; i++) {
        for (int k = r->axes - 1, rest = i; k >= 0; rest /= r->axis[k].n, k--) r->axis[k].at = rest % r->axis[k].n;
        r->entry[*filled] = entry;
        r->line[*filled] = spot_line_of(mapping);
        SPOT_TRY(fill_method(r, &bdm[(*filled)++], mapping, at));
    }
    return SPOT_OK;
}

spot_status spot_entry_fill(spot_reading *r, void *list, int *filled, const yaml_node_t *mapping, int entry, const char *at)
{
    spot_bdm_config *bdm = list;
    int product = 1;

    r->axes = 0;
    SPOT_TRY(find_axes(r, spot_bdm_settings, mapping, "", at));
    for (int k = 0; k < r->axes && product <= SPOT_MAX_BDMS; k++) product *= r->axis[k].n;
    if (*filled + product > SPOT_MAX_BDMS)
        return spot_refuse(r, spot_line_of(mapping),
                           "{grid.size} %s is a grid of %s%d combinations, with %d methods before it; at most %d fit into one "
                           "config", at, product > SPOT_MAX_BDMS ? "at least " : "", product, *filled,
                           SPOT_MAX_BDMS);
    SPOT_TRY(fill_all(r, bdm, filled, product, mapping, entry, at));
    for (spot_setting_walk w = spot_settings_walk(spot_bdm_settings, &bdm[*filled - 1]); w.s; spot_settings_next(&w))
        if (w.s->values) SPOT_TRY(check_idle(r, w.s, &bdm[*filled - product], product, mapping, at));
    return SPOT_OK;
}
