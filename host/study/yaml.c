/* yaml.c - a config of any kind: YAML text -> libyaml's document -> checked values (config_fill.c). */
#include "study/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "study/config_read.h"
#include "study/settings_key.h"

enum { MAX_FILE = 1 << 20, MAX_DEPTH = 32 };

static spot_status refuse_yaml(spot_reading *r, const yaml_parser_t *p)
{
    if (p->error == YAML_MEMORY_ERROR) return spot_fail(r->c, SPOT_NOMEM, "no memory to read %s", r->name);
    if (p->error == YAML_READER_ERROR)
        return spot_fail(r->c, SPOT_USAGE, "{config.no_text} %s is not a text file: %s at byte %zu", r->name, p->problem,
                         p->problem_offset);
    return spot_refuse(r, (int)p->problem_mark.line + 1, "{config.yaml} not YAML: %s",
                       p->error == YAML_COMPOSER_ERROR && p->context
                       ? p->context : p->problem);
}

/* Checks an event before libyaml builds the document: libyaml takes quadratic time for deep documents, and it resolves aliases,
 * with which a short text can expand to a huge one. */
static spot_status check_event(spot_reading *r, const yaml_event_t *e, int *documents, int *depth)
{
    const int line = (int)e->start_mark.line + 1;

    switch (e->type) {
    case YAML_ALIAS_EVENT: return spot_refuse(r, line, "{config.alias} aliases (*name) are not taken; write the value out");
    case YAML_DOCUMENT_START_EVENT:
        return (*documents)++ ? spot_refuse(r, line,
                                            "{config.documents} a second document begins; a config is one document") : SPOT_OK;
    case YAML_SCALAR_EVENT:
        if (strlen((char *)e->data.scalar.value) == e->data.scalar.length) return SPOT_OK;
        return spot_refuse(r, line, "{config.nul} a value holds a NUL byte");
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return ++*depth > MAX_DEPTH ? spot_refuse(r, line, "{config.nesting} groups are nested too deep") : SPOT_OK;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: --*depth; return SPOT_OK;
    default: return SPOT_OK;
    }
}

/* Checks that the text is one YAML document of modest depth, without aliases. */
static spot_status check_document(spot_reading *r, yaml_parser_t *p)
{
    spot_status s = SPOT_OK;
    int documents = 0, depth = 0;
    bool more = true;

    while (s == SPOT_OK && more) {
        yaml_event_t e;
        if (!yaml_parser_parse(p, &e)) return refuse_yaml(r, p);
        s = check_event(r, &e, &documents, &depth);
        more = e.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
    }
    if (s == SPOT_OK && !documents)
        return spot_fail(r->c, SPOT_USAGE, "{config.empty} %s is empty; begin from %s", r->name, r->kind->example);
    return s;
}

static spot_status load_document(spot_reading *r, yaml_parser_t *p)
{
    return yaml_parser_load(p, &r->document) ? SPOT_OK : refuse_yaml(r, p);
}

static spot_status run_parser(spot_reading *r, const char *text, size_t len, spot_status (*act)(spot_reading *r,
                              yaml_parser_t *p))
{
    yaml_parser_t p;
    spot_status s;

    if (!yaml_parser_initialize(&p)) return spot_fail(r->c, SPOT_NOMEM, "no memory to read %s", r->name);
    yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
    s = act(r, &p);
    yaml_parser_delete(&p);
    return s;
}

/* ---- the document ---- */

static spot_status check_root(spot_reading *r, const yaml_node_t **root)
{
    *root = yaml_document_get_root_node(&r->document);
    if ((*root)->type == YAML_MAPPING_NODE) return SPOT_OK;
    return spot_refuse(r, 0, "{config.no_group} a config is a group of settings; begin from %s", r->kind->example);
}

static spot_status fill_config(spot_reading *r, void *cfg)
{
    const yaml_node_t *root;

    r->memory = cfg;               /* its first member */
    SPOT_TRY(check_root(r, &root));
    SPOT_TRY(spot_config_fill(r, r->kind->rows, cfg, root, ""));
    return r->kind->check ? r->kind->check(r, cfg, root) : SPOT_OK;
}

typedef struct { char *word; size_t size; const char *name; } wanted;

static spot_status find_word(spot_reading *r, void *user)
{
    const wanted *w = user;
    const yaml_node_t *root;
    spot_pair pair;

    SPOT_TRY(check_root(r, &root));
    pair = spot_pair_at(r, root, w->name);
    if (pair.key && pair.value->type == YAML_SCALAR_NODE) snprintf(w->word, w->size, "%s", spot_text_of(pair.value));
    return SPOT_OK;
}

/* Calls act on the document of the text. */
static spot_status read_document(spot_ctx *c, const spot_config_kind *k, const char *text, size_t len, const char *name,
                                 spot_status (*act)(spot_reading *r, void *user), void *user)
{
    spot_reading *r = calloc(1, sizeof *r);
    spot_status s;

    if (!r) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", name);
    r->c = c;
    r->name = name;
    r->kind = k;
    s = run_parser(r, text, len, check_document);
    if (s == SPOT_OK) s = run_parser(r, text, len, load_document);
    if (s == SPOT_OK) {
        s = act(r, user);
        yaml_document_delete(&r->document);
    }
    free(r);
    return s;
}

spot_status spot_yaml_parse(spot_ctx *c, const spot_config_kind *k, void *cfg, const char *text, size_t len, const char *name)
{
    spot_config_reset(k, cfg);
    SPOT_TRY(read_document(c, k, text, len, name, fill_config, cfg));
    return k->complete ? k->complete(c, cfg) : SPOT_OK;
}

/* ---- the kind ---- */

void spot_config_reset(const spot_config_kind *k, void *cfg)
{
    memset(cfg, 0, k->size);
    spot_settings_defaults(k->rows, cfg);
}

spot_key spot_config_key(const spot_config_kind *k, const void *cfg)
{
    const spot_key_rule rule = { .affects = k->key, .used = k->used, .newer = SPOT_NEWER_THAN_RUNS, .blanks = true };

    return spot_settings_key(spot_key_of("settings", 8), k->rows, cfg, "", 0, &rule);
}

bool spot_config_is_other(char *words, size_t size, const spot_config_kind *k, const void *saved, const void *here)
{
    return spot_settings_differ(words, size, k->rows, saved, here, k->run);
}

bool spot_config_changes(const spot_config_kind *k, const void *saved, const void *here)
{
    char words[512];

    return spot_settings_differ(words, sizeof words, k->rows, saved, here, SPOT_AFFECTS_ALL);
}

/* ---- the file ---- */

/* A wrong path is the caller's mistake (SPOT_USAGE); after any other error a retry may succeed (SPOT_IO). */
static spot_status cannot_read(spot_ctx *c, const char *path, int error)
{
    bool mistake = error == ENOENT || error == ENOTDIR || error == EISDIR || error == EACCES || error == ENAMETOOLONG ||
                   error == ELOOP || error == ENODEV;

    if (mistake) return spot_fail(c, SPOT_USAGE, "{config.unread} cannot read the config %s: %s", path,
                                  spot_file_reason(error));
    if (error == ENOMEM) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    return spot_fail(c, SPOT_IO, "{config.unread} cannot read the config %s: %s; run the same command again", path,
                     strerror(error));
}

spot_status spot_yaml_text(spot_ctx *c, char **text, size_t *n, const char *path)
{
    FILE *f = spot_file_stream(c, path);
    spot_status s = SPOT_OK;

    *text = NULL, *n = 0;
    if (!f) return cannot_read(c, path, errno);
    *text = malloc(MAX_FILE + 1);
    if (!*text) return fclose(f), spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    errno = 0;
    *n = fread(*text, 1, MAX_FILE + 1, f);
    if (ferror(f)) s = spot_check_stop(c) ? SPOT_STOPPED : cannot_read(c, path, errno);
    else if (*n > MAX_FILE) s = spot_fail(c, SPOT_USAGE, "%s is larger than 1 MB; this is no config", path);
    fclose(f);
    return s;
}

spot_status spot_yaml_load(spot_ctx *c, const spot_config_kind *k, void *cfg, const char *path)
{
    char *text;
    size_t n;
    spot_status s = spot_yaml_text(c, &text, &n, path);

    spot_config_reset(k, cfg);
    if (s == SPOT_OK) s = spot_yaml_parse(c, k, cfg, text, n, path);
    free(text);
    return s;
}

spot_status spot_yaml_word_of(spot_ctx *c, char *word, size_t size, const char *text, size_t len, const char *path,
                              const char *name)
{
    static const spot_config_kind any = { .example = "a config of this repository" };
    wanted w = { word, size, name };

    *word = 0;
    return read_document(c, &any, text, len, path, find_word, &w);
}

spot_status spot_yaml_word(spot_ctx *c, char *word, size_t size, const char *path, const char *name)
{
    char *text;
    size_t n;
    spot_status s = spot_yaml_text(c, &text, &n, path);

    *word = 0;
    if (s == SPOT_OK) s = spot_yaml_word_of(c, word, size, text, n, path, name);
    free(text);
    return s;
}
