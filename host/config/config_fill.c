/* config_fill.c - the texts of a config into checked values; lists of values into a method for each combination. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "config/config_read.h"
#include "config/config_yaml.h"

spot_status spot_refuse(spot_reading *r, const char *path, const char *fmt, ...)
{
    char why[512];
    int line = spot_yaml_line(r->text, r->len, path);
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    for (char *p = why; *p; p++)               /* a hostile file shall not drive the terminal */
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = '?';
    if (line) return spot_fail(r->c, SPOT_USAGE, "%s line %d: %s", r->name, line, why);
    return spot_fail(r->c, SPOT_USAGE, "%s: %s", r->name, why);
}

const char *spot_path_join(char path[SPOT_CONFIG_PATH], const char *above, const char *name)
{
    snprintf(path, SPOT_CONFIG_PATH, "%.180s%s%.63s", above, above[0] ? "." : "", name);
    return path;
}

/* Whole text, finite, within the range. */
static bool number(const char *text, const spot_setting *s, double *value)
{
    char *end;

    if (!text[0] || strspn(text, "+-.0123456789eE") != strlen(text)) return false;   /* no nan, inf, hex */
    *value = strtod(text, &end);
    return !*end && isfinite(*value) && *value >= s->lo && *value <= s->hi;
}

static bool whole(const char *text, const spot_setting *s, int *value)
{
    double v;

    if (strspn(text, "+-0123456789") != strlen(text) || !number(text, s, &v)) return false;
    *value = (int)v;
    return !s->unit || *value % s->unit == 0;
}

static bool seed(const char *text, uint64_t *value)
{
    char *end;

    if (!text[0] || strspn(text, "0123456789") != strlen(text)) return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return !errno;
}

static int index_of(const char *text, const char *const *names)
{
    for (int i = 0; names && names[i]; i++)
        if (!strcmp(names[i], text)) return i;
    return -1;
}

/* slot: the text, or of a range its two texts. False: not what the setting takes. */
static bool set_value(const spot_setting *s, void *value, const void *slot)
{
    const char *text = slot, *const *pair = slot;
    int *i = value;

    switch (s->kind) {
    case SETTING_INT:    return whole(text, s, i);
    case SETTING_RANGE:  return whole(pair[0], s, &i[0]) && whole(pair[1], s, &i[1]) && i[0] <= i[1];
    case SETTING_SEED:   return seed(text, value);
    case SETTING_REAL:   return number(text, s, value);
    case SETTING_SWITCH: *i = !strcmp(text, "true"); return *i || !strcmp(text, "false");
    case SETTING_NAME:   *i = index_of(text, s->names); return *i >= 0;
    case SETTING_TEXT:   return snprintf(value, (size_t)s->hi, "%s", text) < (int)s->hi;
    default:             return false;
    }
}

static spot_status refuse_value(spot_reading *r, const spot_setting *s, const char *at, const void *slot)
{
    const char *const *pair = slot, *near = s->names ? spot_nearest(slot, s->names) : NULL;
    char takes[256], path[SPOT_CONFIG_PATH + 16];

    snprintf(path, sizeof path, "%s", at);
    for (int k = 0; k < r->grid.axes; k++)         /* a value of a list */
        if (slot == r->grid.value[r->grid.axis[k].first + r->grid.axis[k].at])
            snprintf(path, sizeof path, "%s[%d]", at, r->grid.axis[k].at);
    spot_setting_takes(takes, sizeof takes, s);
    if (s->kind == SETTING_RANGE)
        return spot_refuse(r, path, "%s is [%.20s, %.20s]; it takes %s", path, pair[0], pair[1], takes);
    if (!*(const char *)slot) return spot_refuse(r, path, "%s has no value; it takes %s", path, takes);
    if (near) return spot_refuse(r, path, "%s is \"%.40s\"; did you mean \"%s\"?", path, (const char *)slot, near);
    return spot_refuse(r, path, "%s is %.40s; it takes %s", path, (const char *)slot, takes);
}

static spot_status refuse_method(spot_reading *r, const spot_setting *s, const void *base, const char *path)
{
    char whose[256] = "";

    for (int m = 0; m < SPOT_METHODS; m++)
        if (s->only >> m & 1) {
            strcat(whose, whose[0] ? ", " : "");
            strcat(whose, spot_method_names[m]);
        }
    return spot_refuse(r, path, "%s is a setting of %s, not of %s", path, whose,
                       spot_method_names[((const spot_bdm_config *)base)->method]);
}

static spot_status fill(spot_reading *r, const spot_setting *rows, char *base, void **slot, const char *above);

/* ---- grids ---- */

/* Where the slots of an entry have the text at a path like "tsne.perplexity"; NULL where they have none. */
static void **slot_at(const spot_setting *rows, void **slot, const char *path)
{
    size_t word = strcspn(path, ".");
    int i = 0;

    while (rows[i].name && (strlen(rows[i].name) != word || memcmp(rows[i].name, path, word))) i++;
    if (!rows[i].name || !slot[i]) return NULL;
    return path[word] ? slot_at(rows[i].rows, slot[i], path + word + 1) : &slot[i];
}

/* What of a combination the table's own name of a method tells already. */
static bool told(const char *path)
{
    return !strcmp(path, "method") || !strcmp(path, "reduce") || !strcmp(path, "representation");
}

/* "spotlight min_weight=0.005": the name given, or else the method's, and what the grid chose. */
static spot_status label(spot_reading *r, spot_bdm_config *m, const spot_axis *axis, int axes, const char *at)
{
    bool named = m->name[0];
    char text[512];
    size_t own, used;

    spot_bdm_name(m, text, sizeof text);
    own = used = strlen(text);
    for (int k = 0; k < axes && used < sizeof text; k++)
        if (axis[k].n > 1 && (named || !told(axis[k].path)))
            used += (size_t)snprintf(text + used, sizeof text - used, " %s=%s", axis[k].path,
                                     r->grid.value[axis[k].first + axis[k].at]);
    if (used >= sizeof m->name)
        return spot_refuse(r, at, "%s: a combination would be called \"%.200s%s\"; a name has at most %d bytes: give a shorter "
                           "one, or fewer lists", at, text, strlen(text) > 200 ? "..." : "", (int)sizeof m->name - 1);
    if (used > own) memcpy(m->name, text, used + 1);
    return SPOT_OK;
}

/* One combination of an entry's values. The first row says which method it is, and that brings its defaults. */
static spot_status fill_one(spot_reading *r, const spot_setting *rows, spot_bdm_config *m, void **slot, const spot_axis *axis,
                            int axes, const char *at)
{
    int method = SPOT_PLANESPOT;

    if (slot[0]) set_value(&rows[0], &method, slot[0]);
    *m = spot_bdm_defaults(method);
    SPOT_TRY(fill(r, rows, (char *)m, slot, at));
    return label(r, m, axis, axes, at);
}

/* A setting, or a group of them, gets the value that it has in `own`; whether it had another. */
static bool reset(const spot_setting *s, void *group, const void *own)
{
    char *to = (char *)group + s->offset;
    const char *from = (const char *)own + s->offset;
    size_t size = s->kind == SETTING_REAL ? sizeof(double) : sizeof(int);
    bool differed = !s->rows && memcmp(to, from, size);

    for (const spot_setting *in = s->rows; in && in->name; in++) differed |= reset(in, to, from);
    if (!s->rows) memcpy(to, from, size);
    return differed;
}

/* What the reducer of none of an entry's n combinations reads, and what as a list would make some of them the same, is not
 * taken in silence. What some of them read is as it always is for the others; and what says no more than that may stand
 * anywhere, as it does in a run's own config, which names everything. */
static spot_status check_idle(spot_reading *r, const spot_setting *rows, spot_bdm_config *m, int n, const spot_axis *axis,
                              int axes, const char *at)
{
    const char *const *reducer = spot_setting_find(rows, "reduce")->names;
    char path[SPOT_CONFIG_PATH];

    for (const spot_setting *s = rows; s->name; s++) {
        const spot_bdm_config *set = NULL;
        int idle = 0;
        for (int i = 0; i < n; i++) {
            const spot_bdm_config own = spot_bdm_defaults(m[i].method);
            if (!spot_setting_is_idle(s, &m[i])) continue;
            idle++;
            if (reset(s, &m[i], &own)) set = &m[i];
        }
        if (!set) continue;
        spot_path_join(path, at, s->name);
        if (idle == n)
            return spot_refuse(r, path, "%s is for reduce: %s, and here it is %s; remove it, or set reduce", path,
                               s->rows ? s->name : "pca, tsne, scvis or umap", reducer[set->embed.method]);
        for (int k = 0; k < axes; k++)
            if (axis[k].n > 1 && !strncmp(axis[k].path, s->name, strlen(s->name)))
                return spot_refuse(r, path, "%s.%s is a list, and with reduce: %s, which does not read it, methods would come "
                                   "out the same; give %s an entry of its own", at, axis[k].path,
                                   reducer[set->embed.method], reducer[set->embed.method]);
    }
    return SPOT_OK;
}

/* All combinations of an entry, the last list varying fastest, behind the *filled methods that there are. The slots have
 * each value in turn and in the end their own again. */
static spot_status fill_entry(spot_reading *r, const spot_setting *s, spot_bdm_config *m, int *filled, void **slot,
                              unsigned entry, const char *at)
{
    spot_axis *axis = r->grid.axis;
    void **where[SPOT_MAX_AXES], *own[SPOT_MAX_AXES];
    spot_status status = SPOT_OK;
    int axes = 0, product = 1;

    while (axis < r->grid.axis + r->grid.axes && axis->entry < entry) axis++;
    for (; axis + axes < r->grid.axis + r->grid.axes && axis[axes].entry == entry; axes++) {
        where[axes] = slot_at(s->rows, slot, axis[axes].path);
        if (!where[axes]) break;                       /* behind a name that is not one: refused later */
        own[axes] = *where[axes];
        product = product > SPOT_MAX_BDMS ? product : product * axis[axes].n;
    }
    if (*filled + product > SPOT_MAX_BDMS)
        return spot_refuse(r, at, "%s is a grid of %s%d combinations, with %d methods before it; at most %d fit into "
                           "one config", at, product > SPOT_MAX_BDMS ? "at least " : "", product, *filled, SPOT_MAX_BDMS);
    for (int i = 0; i < product && status == SPOT_OK; i++) {
        for (int k = axes - 1, rest = i; k >= 0; rest /= axis[k].n, k--) {
            axis[k].at = rest % axis[k].n;
            *where[k] = r->grid.value[axis[k].first + axis[k].at];
        }
        r->entry[*filled] = entry;
        status = fill_one(r, s->rows, &m[(*filled)++], slot, axis, axes, at);
    }
    for (int k = 0; k < axes; k++) *where[k] = own[k];
    return status ? status : check_idle(r, s->rows, &m[*filled - product], product, axis, axes, at);
}

/* Of methods: the only list there is. */
static spot_status fill_list(spot_reading *r, const spot_setting *s, char *base, char *entries, unsigned n, const char *path)
{
    size_t step = (size_t)(spot_settings_count(s->rows) + 1) * sizeof(void *);
    int *filled = (int *)(base + s->count);
    char at[SPOT_CONFIG_PATH];

    *filled = 0;
    for (unsigned i = 0; i < n; i++) {
        snprintf(at, sizeof at, "%.240s[%u]", path, i);
        SPOT_TRY(fill_entry(r, s, (spot_bdm_config *)(base + s->offset), filled, (void **)(entries + i * step), i, at));
    }
    return SPOT_OK;
}

static spot_status fill(spot_reading *r, const spot_setting *rows, char *base, void **slot, const char *above)
{
    char path[SPOT_CONFIG_PATH];
    unsigned n;

    memcpy(&n, &slot[spot_settings_count(rows)], sizeof n);
    for (int i = 0; rows[i].name; i++) {
        const spot_setting *s = &rows[i];
        spot_path_join(path, above, s->name);
        if (s->kind == SETTING_LIST && slot[i]) SPOT_TRY(fill_list(r, s, base, slot[i], n, path));
        else if (!slot[i]) continue;
        else if (!spot_setting_is_of(s, base)) return refuse_method(r, s, base, path);
        else if (s->kind == SETTING_GROUP) SPOT_TRY(fill(r, s->rows, base + s->offset, slot[i], path));
        else if (!set_value(s, base + s->offset, slot[i])) return refuse_value(r, s, path, slot[i]);
        if (!spot_setting_applies(s, base)) return spot_refuse(r, path, "%s %s", path, s->otherwise);
    }
    return SPOT_OK;
}

spot_status spot_config_fill(spot_reading *r, spot_config *cfg, void **slot)
{
    return fill(r, spot_settings, (char *)cfg, slot, "");
}

/* What a method would refuse at the end of a sweep, where the config shows it already. */
static spot_status check_method(spot_reading *r, const char *path, const spot_config *cfg, const spot_bdm_config *m)
{
    const bool file = m->representation == SPOT_BY_FILE, mixes = m->method == SPOT_PLANESPOT || m->method == SPOT_GEORGE;
    const int most = SPOT_MAX_MIXTURE_DIM - (m->method == SPOT_PLANESPOT);
    const int d = m->embed.method != SPOT_REDUCE_NONE ? m->embed.dim : file ? 0 : 8 * cfg->model.width;

    if (mixes && d > most)
        return spot_refuse(r, path, "%s: %s clusters in at most %d dimensions and here are %d; set reduce and dim", path,
                           spot_method_names[m->method], most, d);
    if (m->method == SPOT_DOMINO && m->domino.start == SPOT_START_CONFUSION && m->domino.components < 4)
        return spot_refuse(r, path, "%s.components is %d; a start from the confusion matrix has 4 cells and needs as many",
                           path, m->domino.components);
    if (m->domino.gamma_hat < 0 && m->domino.gamma_hat != -1)
        return spot_refuse(r, path, "%s.gamma_hat is %g; it takes a number from 0, or -1 for that of gamma", path,
                           m->domino.gamma_hat);
    if (m->embed.method == SPOT_REDUCE_UMAP && m->embed.umap.min_dist > m->embed.umap.spread)
        return spot_refuse(r, path, "%s.umap: min_dist %g is above spread %g", path, m->embed.umap.min_dist,
                           m->embed.umap.spread);
    if (m->embed.hardness && (file || m->embed.method == SPOT_REDUCE_NONE))
        return spot_refuse(r, path, "%s.hardness needs %s", path, file ? "the classifier's own direction, which files have not"
                           : "a reducer for what is left; set reduce, and dim: 1 for hardness alone");
    if (file && !m->embeddings[0])
        return spot_refuse(r, path, "%s.representation: file needs the folder that holds them, %s.embeddings", path, path);
    if (!file && m->embeddings[0])
        return spot_refuse(r, path, "%s.embeddings is for representation: file, and this is another", path);
    return SPOT_OK;
}

spot_status spot_config_check(spot_reading *r, const spot_config *cfg)
{
    char path[SPOT_CONFIG_PATH], name[80], other[80];

    if (cfg->data.coco[0] && cfg->model.base.images)
        return spot_refuse(r, "model", "model.base learns scenes, and data brings pictures; take model.init for a network that "
                           "knows pictures");
    if (cfg->model.init[0] && cfg->model.base.images)
        return spot_refuse(r, "model", "model.init and model.base.images both say what to start from; set one of them");
    for (int i = 0; i < cfg->bdms; i++) {
        const spot_mixture_config *m = &cfg->bdm[i].mixture;
        snprintf(path, sizeof path, "bdms[%u]", r->entry[i]);
        if (m->k_min > m->k_max)
            return spot_refuse(r, path, "%s.mixture: k_min %d is above k_max %d", path, m->k_min, m->k_max);
        SPOT_TRY(check_method(r, path, cfg, &cfg->bdm[i]));
        spot_bdm_name(&cfg->bdm[i], name, sizeof name);
        for (int j = 0; j < i; j++) {
            if (strcmp(name, spot_bdm_name(&cfg->bdm[j], other, sizeof other))) continue;
            if (r->entry[i] == r->entry[j])
                return spot_refuse(r, path, "%s has two combinations called \"%s\"; is a value given twice?", path, name);
            return spot_refuse(r, path, "%s and bdms[%u] would both be called \"%s\" in the tables; give one of them a name",
                               path, r->entry[j], name);
        }
    }
    return SPOT_OK;
}
