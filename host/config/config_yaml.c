/* config_yaml.c - where things stand in a YAML text. */
#include "config/config_yaml.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 32 };

typedef struct {
    spot_ctx *c;
    const char *name, *want;       /* the file; the path whose line is asked for, or NULL */
    spot_yaml_visit *visit;        /* or NULL */
    void *user;
    int line, documents, depth;
    struct { bool list, key_next; int entries; size_t path; } frame[MAX_DEPTH];
    char path[512];
} walk;

static spot_status refuse(walk *w, const yaml_event_t *e, const char *why)
{
    return spot_fail(w->c, SPOT_USAGE, "%s line %zu: %s", w->name, e->start_mark.line + 1, why);
}

/* A key, a list entry or a value begins at this event. */
static spot_status place(walk *w, const yaml_event_t *e)
{
    bool key = false;
    size_t at;

    if (w->depth) {
        at = w->frame[w->depth - 1].path;
        if (w->frame[w->depth - 1].list)
            snprintf(w->path + at, sizeof w->path - at, "[%d]", w->frame[w->depth - 1].entries++);
        else {
            key = w->frame[w->depth - 1].key_next;
            w->frame[w->depth - 1].key_next = !key;
        }
        if (key && e->type != YAML_SCALAR_EVENT) return refuse(w, e, "a setting's name must be a plain word");
        if (key) snprintf(w->path + at, sizeof w->path - at, "%s%s", at ? "." : "", (char *)e->data.scalar.value);
        if ((key || w->frame[w->depth - 1].list) && w->want && !strcmp(w->path, w->want)) w->line = (int)e->start_mark.line + 1;
    }
    if (e->type == YAML_SCALAR_EVENT) {
        if (strlen((char *)e->data.scalar.value) != e->data.scalar.length) return refuse(w, e, "a value holds a NUL byte");
        return SPOT_OK;
    }
    if (w->depth == MAX_DEPTH) return refuse(w, e, "groups are nested too deep");
    w->frame[w->depth].list = e->type == YAML_SEQUENCE_START_EVENT;
    w->frame[w->depth].key_next = !w->frame[w->depth].list;
    w->frame[w->depth].entries = 0;
    w->frame[w->depth++].path = strlen(w->path);
    return SPOT_OK;
}

static spot_status step(walk *w, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_ALIAS_EVENT: return refuse(w, e, "aliases (*name) are not taken; write the value out");
    case YAML_DOCUMENT_START_EVENT:
        return w->documents++ ? refuse(w, e, "a second document begins; a config is one document") : SPOT_OK;
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT: return place(w, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        w->path[w->frame[--w->depth].path] = 0;
        return SPOT_OK;
    default: return SPOT_OK;
    }
}

static spot_status run(walk *w, const char *text, size_t len)
{
    yaml_parser_t p;
    yaml_event_t e;
    spot_status s = SPOT_OK;
    bool more = true;

    if (!yaml_parser_initialize(&p)) return spot_fail(w->c, SPOT_NOMEM, "no memory to read %s", w->name);
    yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
    while (s == SPOT_OK && more) {
        if (!yaml_parser_parse(&p, &e)) {
            if (p.error == YAML_MEMORY_ERROR)
                s = spot_fail(w->c, SPOT_NOMEM, "no memory to read %s", w->name);
            else if (p.error == YAML_READER_ERROR)
                s = spot_fail(w->c, SPOT_USAGE, "%s is not a text file: %s at byte %zu", w->name, p.problem, p.problem_offset);
            else
                s = spot_fail(w->c, SPOT_USAGE, "%s line %zu: not YAML: %s", w->name, p.problem_mark.line + 1, p.problem);
            break;
        }
        s = step(w, &e);
        more = e.type != YAML_STREAM_END_EVENT;
        if (s == SPOT_OK && w->visit) s = w->visit(w->user, &e, w->path);
        yaml_event_delete(&e);
    }
    yaml_parser_delete(&p);
    return s;
}

spot_status spot_yaml_walk(spot_ctx *c, const char *name, const char *text, size_t len, spot_yaml_visit *visit, void *user)
{
    walk w = { .c = c, .name = name, .visit = visit, .user = user };

    SPOT_TRY(run(&w, text, len));
    if (!w.documents) return spot_fail(c, SPOT_USAGE, "%s is empty; begin from configs/quickstart.yaml", name);
    return SPOT_OK;
}

int spot_yaml_line(const char *text, size_t len, const char *path)
{
    spot_ctx quiet = { 0 };
    walk w = { .c = &quiet, .name = "", .want = path };

    return run(&w, text, len) == SPOT_OK ? w.line : 0;
}
