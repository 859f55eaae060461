/* config_grid.c - settings of a method that are given as lists. libcyaml's schemas know no "a value or a list of values":
 * it gets the text with the first value in each list's place, written anew by libyaml, and config_fill.c puts the other
 * values in its stead. Sentences still tell lines of the text that was given. */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_read.h"
#include "config/config_yaml.h"

typedef struct {
    spot_reading  *r;
    yaml_emitter_t emitter;
    FILE          *flat;
    size_t         used;           /* of grid.values */
    int            values;
    bool           inside, broken; /* of a list; the emitter gave up */
} flattening;

static int put(void *user, unsigned char *bytes, size_t n) { return fwrite(bytes, 1, n, (FILE *)user) == n; }

/* Whether a list at this path is one of values; *entry and *below say of which entry and setting. */
static bool is_axis(const char *path, unsigned *entry, const char **below)
{
    const spot_setting *s;
    int n = 0;

    if (sscanf(path, "bdms[%u].%n", entry, &n) != 1 || !n || strchr(path + n, '[')) return false;
    *below = path + n;
    spot_settings_at(path, &s);
    return s && !s->rows && s->kind != SETTING_RANGE && strlen(*below) < sizeof ((spot_axis *)0)->path;
}

static spot_status open_axis(flattening *f, unsigned entry, const char *below, const char *path)
{
    spot_grid *g = &f->r->grid;

    if (!strcmp(below, "name"))
        return spot_refuse(f->r, path, "%s takes one text; the methods of a grid are told apart by their settings", path);
    if (g->axes == SPOT_MAX_AXES) return spot_refuse(f->r, path, "there are more than %d lists of values", SPOT_MAX_AXES);
    g->axis[g->axes] = (spot_axis){ .entry = entry, .first = f->values };
    strcpy(g->axis[g->axes++].path, below);
    f->inside = true;
    return SPOT_OK;
}

/* Decoded, a value and its NUL need at most twice the bytes that it takes in the text. */
static spot_status add_value(flattening *f, const yaml_event_t *e, const char *path)
{
    spot_grid *g = &f->r->grid;

    if (e->type != YAML_SCALAR_EVENT)
        return spot_refuse(f->r, path, "%s is no single value, as each of a list must be", path);
    if (f->values == SPOT_MAX_VALUES) return spot_refuse(f->r, path, "there are more than %d values in lists", SPOT_MAX_VALUES);
    g->axis[g->axes - 1].n++;
    g->value[f->values] = memcpy(g->values + f->used, e->data.scalar.value, e->data.scalar.length + 1);
    f->used += e->data.scalar.length + 1;
    f->values++;
    return SPOT_OK;
}

/* The event goes on to the flat text, and no longer belongs to the walk. */
static spot_status keep(flattening *f, yaml_event_t *e)
{
    if (f->broken) return SPOT_OK;
    if (e->type == YAML_STREAM_START_EVENT) e->data.stream_start.encoding = YAML_UTF8_ENCODING;
    f->broken = !yaml_emitter_emit(&f->emitter, e);
    memset(e, 0, sizeof *e);
    return SPOT_OK;
}

static spot_status visit(void *user, yaml_event_t *e, const char *path)
{
    flattening *f = user;
    spot_grid *g = &f->r->grid;
    const char *below;
    unsigned entry;

    if (f->inside && e->type == YAML_SEQUENCE_END_EVENT) {
        f->inside = false;
        return g->axis[g->axes - 1].n ? SPOT_OK : spot_refuse(f->r, path, "%s is a list without values", path);
    }
    if (f->inside) {
        SPOT_TRY(add_value(f, e, path));
        return g->axis[g->axes - 1].n == 1 ? keep(f, e) : SPOT_OK;
    }
    if (e->type == YAML_SEQUENCE_START_EVENT && is_axis(path, &entry, &below)) return open_axis(f, entry, below, path);
    return keep(f, e);
}

spot_status spot_grid_read(spot_reading *r)
{
    flattening f = { .r = r };
    spot_status s;

    r->grid.values = malloc(2 * r->len + 1);
    f.flat = open_memstream(&r->grid.flat, &r->grid.flat_len);
    if (!r->grid.values || !f.flat || !yaml_emitter_initialize(&f.emitter)) {
        if (f.flat) fclose(f.flat);
        return spot_fail(r->c, SPOT_NOMEM, "no memory to read %s", r->name);
    }
    yaml_emitter_set_output(&f.emitter, put, f.flat);
    yaml_emitter_set_width(&f.emitter, -1);
    s = spot_yaml_walk(r->c, r->name, r->text, r->len, visit, &f);
    yaml_emitter_delete(&f.emitter);
    f.broken |= fclose(f.flat) != 0;
    if (s == SPOT_OK && f.broken && r->grid.axes) s = spot_refuse(r, "", "its lists of values could not be written out");
    return s;
}

void spot_grid_free(spot_grid *g)
{
    free(g->flat);
    free(g->values);
}
