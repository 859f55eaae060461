/* config.c - a config: YAML text -> libcyaml -> texts by setting; config_fill.c makes checked values of them.
 *
 * libcyaml's schema is made from the table of settings, every leaf as a text, so that one place (config_table.c) says
 * what a setting takes and one place (set_value) judges it. A group becomes an array of pointers, one a row; what the
 * file does not name stays NULL and keeps its default. */
#include "spotter/config.h"

#include <assert.h>
#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "config/config_read.h"
#include "config/config_yaml.h"
#include "base/file.h"

enum { MAX_ROWS = 256, MAX_FILE = 1 << 20 };

/* ---- sentences ---- */

static spot_status refuse_key(spot_reading *r)
{
    const char *names[MAX_ROWS], *near;
    char path[SPOT_CONFIG_PATH];
    const spot_setting *s, *rows = spot_settings_at(r->refused.path, &s);
    int n = 0;

    for (; rows && rows[n].name; n++) names[n] = rows[n].name;
    names[n] = NULL;
    near = spot_nearest(r->refused.key, names);
    spot_path_join(path, r->refused.path, r->refused.key);
    if (near)
        return spot_refuse(r, path, "%s has no setting \"%s\"; did you mean \"%s\"?", s ? r->refused.path : "a config",
                           r->refused.key, near);
    return spot_refuse(r, path, "%s has no setting \"%s\"; `spotter help config` lists them all",
                       s ? r->refused.path : "a config", r->refused.key);
}

/* libcyaml refused the text, and note_log has kept where. */
static spot_status refuse_shape(spot_reading *r, cyaml_err_t err)
{
    char takes[256], path[SPOT_CONFIG_PATH];
    const spot_setting *s;
    size_t n = strlen(r->refused.path);

    if (err == CYAML_ERR_OOM) return spot_fail(r->c, SPOT_NOMEM, "no memory to read %s", r->name);
    if (err == CYAML_ERR_INVALID_KEY) return refuse_key(r);
    if (err == CYAML_ERR_UNEXPECTED_EVENT) return spot_refuse(r, r->refused.path, "%s is set twice", r->refused.path);
    spot_settings_at(r->refused.path, &s);
    if (!s) return spot_refuse(r, "", "a config is a group of settings; begin from configs/quickstart.yaml");
    snprintf(path, sizeof path, "%s", r->refused.path);
    if (s->kind == SETTING_LIST && n && path[n - 1] == ']' && err == CYAML_ERR_INVALID_VALUE)
        return spot_refuse(r, path, "%s takes a group of settings ({%s: ...})", path, s->rows->name);
    if (n && path[n - 1] == ']') *strrchr(path, '[') = 0;
    return spot_refuse(r, path, "%s takes %s", path, spot_setting_takes(takes, sizeof takes, s));
}

/* libcyaml's log: the first line says what, the backtrace says where, innermost first. */
static void note_log(cyaml_log_t level, void *user, const char *fmt, va_list args)
{
    spot_reading *r = user;
    char line[512], part[72], rest[SPOT_CONFIG_PATH];
    unsigned entry;

    (void)level;
    vsnprintf(line, sizeof line, fmt, args);
    if (sscanf(line, "Load: Unexpected key: %63[^\n]", r->refused.key) == 1) { r->refused.path[0] = 0; return; }
    if (!strcmp(line, "Load: Backtrace:\n")) { r->refused.path[0] = 0; return; }
    if (sscanf(line, "  in sequence entry '%u'", &entry) == 1) snprintf(part, sizeof part, "[%u]", entry - 1);
    else if (sscanf(line, "  in mapping field '%63[^']'", part) != 1) return;
    memcpy(rest, r->refused.path, sizeof rest);
    snprintf(r->refused.path, sizeof r->refused.path, "%s%s%.170s", part, rest[0] && rest[0] != '[' ? "." : "", rest);
}

/* ---- libcyaml's schema ---- */

typedef struct {
    cyaml_schema_field_t field[MAX_ROWS];
    cyaml_schema_value_t text, entry;          /* of ranges; of the list */
    int used;
} schema;

static uint32_t slots_of(const spot_setting *rows) { return (uint32_t)((spot_settings_count(rows) + 1) * sizeof(void *)); }

/* Fields for a table; a group is (rows + 1) pointers, the last one holding the length of a list. */
static const cyaml_schema_field_t *build(schema *m, const spot_setting *rows)
{
    const enum cyaml_flag flags = CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER;
    int n = spot_settings_count(rows);
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
            f[i].value = (cyaml_schema_value_t){ .type = CYAML_MAPPING, .flags = flags, .data_size = slots_of(rows[i].rows),
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
                                   .data_size = slots_of(spot_settings),
                                   .mapping = { build(m, spot_settings) } };
}

/* ---- the whole ---- */

spot_config spot_config_defaults(void)
{
    spot_config cfg;

    memset(&cfg, 0, sizeof cfg);
    cfg.seed = 1;
    cfg.ecs = 100;
    cfg.scene = spot_scene_defaults();
    cfg.data = spot_photos_defaults();
    cfg.model = spot_model_defaults();
    cfg.bdms = 1;
    cfg.bdm[0] = spot_bdm_defaults(SPOT_PLANESPOT);
    cfg.metric = spot_metric_defaults();
    return cfg;
}

static cyaml_err_t load(spot_reading *r, cyaml_cfg_flags_t flags, const cyaml_schema_value_t *all, void ***slots)
{
    const cyaml_config_t how = { .log_fn = note_log, .log_ctx = r, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR,
                                 .flags = flags | CYAML_CFG_NO_ALIAS };

    const char *text = r->grid.axes ? r->grid.flat : r->text;
    size_t len = r->grid.axes ? r->grid.flat_len : r->len;

    *slots = NULL;
    return cyaml_load_data((const unsigned char *)text, len, &how, all, (cyaml_data_t **)slots, NULL);
}

static spot_status read_all(spot_reading *r, spot_config *cfg)
{
    const cyaml_config_t how = { .mem_fn = cyaml_mem };
    schema m;
    const cyaml_schema_value_t all = build_all(&m);
    void **slots;
    cyaml_err_t err, strict;
    spot_status s = SPOT_OK;

    SPOT_TRY(spot_grid_read(r));
    err = strict = load(r, CYAML_CFG_DEFAULT, &all, &slots);
    /* A method of a later version brings settings of its own: judge the values before the unknown names. */
    if (strict == CYAML_ERR_INVALID_KEY) {
        spot_refused first = r->refused;
        err = load(r, CYAML_CFG_IGNORE_UNKNOWN_KEYS, &all, &slots);
        r->refused = first;
    }
    if (err == CYAML_OK && slots) s = spot_config_fill(r, cfg, slots);
    if (err == CYAML_OK) cyaml_free(&how, &all, slots, 0);
    SPOT_TRY(s);
    return strict == CYAML_OK ? spot_config_check(r, cfg) : refuse_shape(r, strict);
}

spot_status spot_config_parse(spot_ctx *c, spot_config *cfg, const char *text, size_t len, const char *name)
{
    spot_reading *r = calloc(1, sizeof *r);
    spot_status s;

    if (!r) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", name);
    *r = (spot_reading){ .c = c, .name = name, .text = text, .len = len };
    *cfg = spot_config_defaults();
    s = read_all(r, cfg);
    spot_grid_free(&r->grid);
    free(r);
    return s;
}

/* A name that leads nowhere is the caller's mistake; what else can go wrong may go better the next time. */
static spot_status cannot_read(spot_ctx *c, const char *path, int error)
{
    bool mistake = error == ENOENT || error == ENOTDIR || error == EISDIR || error == EACCES || error == ENAMETOOLONG ||
                   error == ELOOP || error == ENODEV;

    if (mistake) return spot_fail(c, SPOT_USAGE, "cannot read the config %s: %s", path, spot_file_reason(error));
    if (error == ENOMEM) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    return spot_fail(c, SPOT_IO, "cannot read the config %s: %s; run the same command again", path, strerror(error));
}

spot_status spot_config_load(spot_ctx *c, spot_config *cfg, const char *path)
{
    FILE *f = spot_file_stream(path);
    char *text;
    size_t n;
    spot_status s;

    if (!f) return cannot_read(c, path, errno);
    text = malloc(MAX_FILE + 1);
    if (!text) return fclose(f), spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    errno = 0;
    n = fread(text, 1, MAX_FILE + 1, f);
    if (ferror(f)) s = cannot_read(c, path, errno);
    else if (n > MAX_FILE) s = spot_fail(c, SPOT_USAGE, "%s is larger than 1 MB; this is no config", path);
    else s = spot_config_parse(c, cfg, text, n, path);
    fclose(f);
    free(text);
    return s;
}
