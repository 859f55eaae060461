/* config.c - a config: YAML text -> libcyaml -> texts by setting -> checked values.
 *
 * libcyaml's schema is made from the table of settings, every leaf as a text, so that one place (config_table.c) says
 * what a setting takes and one place (set_value) judges it. A group becomes an array of pointers, one a row; what the
 * file does not name stays NULL and keeps its default. */
#include "spotter/config.h"

#include <assert.h>
#include <cyaml/cyaml.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/config_table.h"
#include "base/config_yaml.h"
#include "base/nearest.h"

enum { MAX_ROWS = 256, MAX_PATH = 256, MAX_FILE = 1 << 20 };

typedef struct {
    spot_ctx *c;
    const char *name, *text;       /* the file */
    size_t len;
    char path[MAX_PATH];           /* of what libcyaml refused: "bdms[1].mixture" */
    char key[64];                  /* the key it did not know */
} reading;

static int rows_of(const spot_setting *rows)
{
    int n = 0;

    while (rows[n].name) n++;
    return n;
}

/* ---- sentences ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static spot_status refuse(reading *r, const char *path, const char *fmt, ...)
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

static const char *join(char path[MAX_PATH], const char *above, const char *name)
{
    snprintf(path, MAX_PATH, "%.180s%s%.63s", above, above[0] ? "." : "", name);
    return path;
}

/* The table that describes the group at a path; *s is the setting itself, NULL for the whole config. NULL when the path
 * ends at a value. */
static const spot_setting *table_at(const char *path, const spot_setting **s)
{
    const spot_setting *rows = spot_settings;
    char word[64];
    int n;

    *s = NULL;
    while (rows && sscanf(path, "%63[^.[]%n", word, &n) == 1) {
        *s = spot_setting_find(rows, word);
        if (!*s) return NULL;
        rows = (*s)->rows;
        path += n;
        if (*path == '[') path += strcspn(path, ".");
        if (*path == '.') path++;
    }
    return rows;
}

static spot_status refuse_key(reading *r)
{
    const char *names[MAX_ROWS], *near;
    char path[MAX_PATH];
    const spot_setting *s, *rows = table_at(r->path, &s);
    int n = 0;

    for (; rows && rows[n].name; n++) names[n] = rows[n].name;
    names[n] = NULL;
    near = spot_nearest(r->key, names);
    join(path, r->path, r->key);
    if (near)
        return refuse(r, path, "%s has no setting \"%s\"; did you mean \"%s\"?", s ? r->path : "a config", r->key, near);
    return refuse(r, path, "%s has no setting \"%s\"; `spotter help config` lists them all", s ? r->path : "a config", r->key);
}

/* libcyaml refused the text, and note_log has kept where. */
static spot_status refuse_shape(reading *r, cyaml_err_t err)
{
    char takes[256], path[MAX_PATH];
    const spot_setting *s;
    size_t n = strlen(r->path);

    if (err == CYAML_ERR_OOM) return spot_fail(r->c, SPOT_NOMEM, "no memory to read %s", r->name);
    if (err == CYAML_ERR_INVALID_KEY) return refuse_key(r);
    if (err == CYAML_ERR_UNEXPECTED_EVENT) return refuse(r, r->path, "%s is set twice", r->path);
    table_at(r->path, &s);
    if (!s) return refuse(r, "", "a config is a group of settings; begin from configs/quickstart.yaml");
    snprintf(path, sizeof path, "%s", r->path);
    if (s->kind == SETTING_LIST && n && path[n - 1] == ']' && err == CYAML_ERR_INVALID_VALUE)
        return refuse(r, path, "%s takes a group of settings ({%s: ...})", path, s->rows->name);
    if (n && path[n - 1] == ']') *strrchr(path, '[') = 0;
    return refuse(r, path, "%s takes %s", path, spot_setting_takes(takes, sizeof takes, s));
}

/* libcyaml's log: the first line says what, the backtrace says where, innermost first. */
static void note_log(cyaml_log_t level, void *user, const char *fmt, va_list args)
{
    reading *r = user;
    char line[512], part[72], rest[MAX_PATH];
    unsigned entry;

    (void)level;
    vsnprintf(line, sizeof line, fmt, args);
    if (sscanf(line, "Load: Unexpected key: %63[^\n]", r->key) == 1) { r->path[0] = 0; return; }
    if (!strcmp(line, "Load: Backtrace:\n")) { r->path[0] = 0; return; }
    if (sscanf(line, "  in sequence entry '%u'", &entry) == 1) snprintf(part, sizeof part, "[%u]", entry - 1);
    else if (sscanf(line, "  in mapping field '%63[^']'", part) != 1) return;
    memcpy(rest, r->path, sizeof rest);
    snprintf(r->path, sizeof r->path, "%s%s%.170s", part, rest[0] && rest[0] != '[' ? "." : "", rest);
}

/* ---- libcyaml's schema ---- */

typedef struct {
    cyaml_schema_field_t field[MAX_ROWS];
    cyaml_schema_value_t text, entry;          /* of ranges; of the list */
    int used;
} schema;

/* Fields for a table; a group is (rows + 1) pointers, the last one holding the length of a list. */
static const cyaml_schema_field_t *build(schema *m, const spot_setting *rows)
{
    const enum cyaml_flag flags = CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER;
    int n = rows_of(rows);
    cyaml_schema_field_t *f = &m->field[m->used];

    m->used += n + 1;                          /* one more: the end */
    assert(m->used <= MAX_ROWS);
    for (int i = 0; i < n; i++) {
        f[i] = (cyaml_schema_field_t){ .key = rows[i].name, .data_offset = (uint32_t)(i * sizeof(void *)) };
        f[i].value = (cyaml_schema_value_t){ .type = CYAML_STRING, .flags = flags, .data_size = 1,
                                             .string = { 0, CYAML_UNLIMITED } };
        if (rows[i].kind == SETTING_RANGE)
            f[i].value = (cyaml_schema_value_t){ .type = CYAML_SEQUENCE_FIXED, .flags = flags, .data_size = sizeof(char *),
                                                 .sequence = { &m->text, 2, 2 } };
        if (rows[i].rows)
            f[i].value = (cyaml_schema_value_t){ .type = CYAML_MAPPING, .flags = flags,
                                                 .data_size = (uint32_t)((rows_of(rows[i].rows) + 1) * sizeof(void *)),
                                                 .mapping = { build(m, rows[i].rows) } };
        if (rows[i].kind == SETTING_LIST) {
            m->entry = f[i].value;
            m->entry.flags = CYAML_FLAG_DEFAULT;
            f[i].value = (cyaml_schema_value_t){ .type = CYAML_SEQUENCE, .flags = flags, .data_size = m->entry.data_size,
                                                 .sequence = { &m->entry, (uint32_t)rows[i].lo, (uint32_t)rows[i].hi } };
            f[i].count_offset = (uint32_t)(n * sizeof(void *));
            f[i].count_size = sizeof(unsigned);
        }
    }
    return f;
}

static cyaml_schema_value_t build_all(schema *m)
{
    memset(m, 0, sizeof *m);
    m->text = (cyaml_schema_value_t){ .type = CYAML_STRING, .flags = CYAML_FLAG_POINTER, .data_size = 1,
                                      .string = { 0, CYAML_UNLIMITED } };
    return (cyaml_schema_value_t){ .type = CYAML_MAPPING, .flags = CYAML_FLAG_POINTER,
                                   .data_size = (uint32_t)((rows_of(spot_settings) + 1) * sizeof(void *)),
                                   .mapping = { build(m, spot_settings) } };
}

/* ---- texts -> values ---- */

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

static spot_status refuse_value(reading *r, const spot_setting *s, const char *path, const void *slot)
{
    const char *const *pair = slot, *near = s->names ? spot_nearest(slot, s->names) : NULL;
    char takes[256];

    spot_setting_takes(takes, sizeof takes, s);
    if (s->kind == SETTING_RANGE)
        return refuse(r, path, "%s is [%.20s, %.20s]; it takes %s", path, pair[0], pair[1], takes);
    if (index_of(slot, s->later) >= 0)
        return refuse(r, path, "%s: %s comes in a later version of spotter; this one knows %s", path,
                      (const char *)slot, takes);
    if (!*(const char *)slot) return refuse(r, path, "%s has no value; it takes %s", path, takes);
    if (near) return refuse(r, path, "%s is \"%.40s\"; did you mean \"%s\"?", path, (const char *)slot, near);
    return refuse(r, path, "%s is %.40s; it takes %s", path, (const char *)slot, takes);
}

static spot_status refuse_method(reading *r, const spot_setting *s, const void *base, const char *path)
{
    char whose[256] = "";

    for (int m = 0; m < SPOT_METHODS; m++)
        if (s->only >> m & 1) {
            strcat(whose, whose[0] ? ", " : "");
            strcat(whose, spot_method_names[m]);
        }
    return refuse(r, path, "%s is a setting of %s, not of %s", path, whose,
                  spot_method_names[((const spot_bdm_config *)base)->method]);
}

static spot_status fill(reading *r, const spot_setting *rows, char *base, void *const *slot, const char *above);

/* Of methods: the only list there is. The first row says which one it is, and that brings its defaults. */
static spot_status fill_list(reading *r, const spot_setting *s, char *base, char *entries, unsigned n, const char *path)
{
    size_t step = (size_t)(rows_of(s->rows) + 1) * sizeof(void *);
    char at[MAX_PATH];

    for (unsigned i = 0; i < n; i++) {
        spot_bdm_config *entry = (spot_bdm_config *)(base + s->offset) + i;
        void *const *slot = (void *const *)(entries + i * step);
        int method = SPOT_PLANESPOT;
        snprintf(at, sizeof at, "%.240s[%u]", path, i);
        if (slot[0]) set_value(&s->rows[0], &method, slot[0]);
        *entry = spot_bdm_defaults(method);
        SPOT_TRY(fill(r, s->rows, (char *)entry, slot, at));
    }
    *(int *)(base + s->count) = (int)n;
    return SPOT_OK;
}

static spot_status fill(reading *r, const spot_setting *rows, char *base, void *const *slot, const char *above)
{
    char path[MAX_PATH];
    unsigned n;

    memcpy(&n, &slot[rows_of(rows)], sizeof n);
    for (int i = 0; rows[i].name; i++) {
        const spot_setting *s = &rows[i];
        join(path, above, s->name);
        if (s->kind == SETTING_LIST && slot[i]) SPOT_TRY(fill_list(r, s, base, slot[i], n, path));
        else if (!slot[i]) continue;
        else if (!spot_setting_applies(s, base)) return refuse_method(r, s, base, path);
        else if (s->kind == SETTING_GROUP) SPOT_TRY(fill(r, s->rows, base + s->offset, slot[i], path));
        else if (!set_value(s, base + s->offset, slot[i])) return refuse_value(r, s, path, slot[i]);
    }
    return SPOT_OK;
}

/* ---- the whole ---- */

spot_config spot_config_defaults(void)
{
    spot_config cfg;

    memset(&cfg, 0, sizeof cfg);
    cfg.seed = 1;
    cfg.ecs = 100;
    cfg.scene = spot_scene_defaults();
    cfg.model = spot_model_defaults();
    cfg.bdms = 1;
    cfg.bdm[0] = spot_bdm_defaults(SPOT_PLANESPOT);
    cfg.metric = spot_metric_defaults();
    return cfg;
}

/* What no single setting can see. */
static spot_status check_together(reading *r, const spot_config *cfg)
{
    char path[MAX_PATH], name[2][80];

    if (cfg->model.init[0] && cfg->model.base.images)
        return refuse(r, "model", "model.init and model.base.images both say what to start from; set one of them");
    for (int i = 0; i < cfg->bdms; i++) {
        const spot_mixture_config *m = &cfg->bdm[i].mixture;
        snprintf(path, sizeof path, "bdms[%d]", i);
        if (m->k_min > m->k_max)
            return refuse(r, path, "%s.mixture: k_min %d is above k_max %d", path, m->k_min, m->k_max);
        if (cfg->bdm[i].representation == SPOT_BY_FILE && !cfg->bdm[i].embeddings[0])
            return refuse(r, path, "%s.representation: file needs a folder with the files, %s.embeddings", path, path);
        for (int j = 0; j < i; j++)
            if (!strcmp(spot_bdm_name(&cfg->bdm[i], name[0], sizeof name[0]),
                        spot_bdm_name(&cfg->bdm[j], name[1], sizeof name[1])))
                return refuse(r, path, "%s and bdms[%d] would both be called \"%s\" in the tables; give one of them a name",
                              path, j, name[0]);
    }
    return SPOT_OK;
}

static cyaml_err_t load(reading *r, cyaml_cfg_flags_t flags, const cyaml_schema_value_t *all, void ***slots)
{
    const cyaml_config_t how = { .log_fn = note_log, .log_ctx = r, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR,
                                 .flags = flags | CYAML_CFG_NO_ALIAS };

    *slots = NULL;
    return cyaml_load_data((const unsigned char *)r->text, r->len, &how, all, (cyaml_data_t **)slots, NULL);
}

spot_status spot_config_parse(spot_ctx *c, spot_config *cfg, const char *text, size_t len, const char *name)
{
    reading r = { .c = c, .name = name, .text = text, .len = len };
    const cyaml_config_t how = { .mem_fn = cyaml_mem };
    schema m;
    const cyaml_schema_value_t all = build_all(&m);
    void **slots;
    cyaml_err_t err, strict;
    spot_status s = SPOT_OK;

    *cfg = spot_config_defaults();
    SPOT_TRY(spot_yaml_check(c, name, text, len));
    err = strict = load(&r, CYAML_CFG_DEFAULT, &all, &slots);
    /* A method of a later version brings settings of its own: judge the values before the unknown names. */
    if (strict == CYAML_ERR_INVALID_KEY) {
        reading names_aside = r;
        err = load(&names_aside, CYAML_CFG_IGNORE_UNKNOWN_KEYS, &all, &slots);
    }
    if (err == CYAML_OK && slots) s = fill(&r, spot_settings, (char *)cfg, slots, "");
    if (err == CYAML_OK) cyaml_free(&how, &all, slots, 0);
    SPOT_TRY(s);
    if (strict != CYAML_OK) return refuse_shape(&r, strict);
    return check_together(&r, cfg);
}

spot_status spot_config_load(spot_ctx *c, spot_config *cfg, const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text;
    size_t n;
    spot_status s;

    if (!f) return spot_fail(c, SPOT_USAGE, "cannot read the config %s: %s", path, strerror(errno));
    text = malloc(MAX_FILE + 1);
    if (!text) return fclose(f), spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    errno = 0;
    n = fread(text, 1, MAX_FILE + 1, f);
    if (ferror(f)) s = spot_fail(c, SPOT_USAGE, "cannot read the config %s: %s", path, strerror(errno));
    else if (n > MAX_FILE) s = spot_fail(c, SPOT_USAGE, "%s is larger than 1 MB; this is no config", path);
    else s = spot_config_parse(c, cfg, text, n, path);
    fclose(f);
    free(text);
    return s;
}
