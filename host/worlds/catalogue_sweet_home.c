/* catalogue_sweet_home.c - PluginFurnitureCatalog.properties: key#n=value describes piece n, key=value the whole catalogue. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/properties.h"
#include "formats/formats.h"
#include "worlds/catalogue_parts.h"
#include "worlds/mesh_files.h"

#define PROPERTIES "PluginFurnitureCatalog.properties"
enum { MOST_BYTES = 1 << 24, MOST_PIECES = 1000000, BOX = 1000, BOXES = MOST_PIECES / BOX + 1 };

/* Pieces come in any order of their numbers, and their keys in any order, too. */
typedef struct { int entry, line; } piece;             /* line 0: not there */

typedef struct {
    spot_entries *l;
    const char   *path;
    char          name[400];               /* for sentences */
    piece        *box[BOXES];              /* (BOX) each, by number; NULL: none of its pieces is there. So a number takes
                                            * time and memory of its box alone, however large it is */
    char         *licence;
} catalogue;

/* The entry of piece `number`, at most MOST_PIECES. */
static spot_status find_piece(spot_ctx *c, catalogue *k, int number, int line, spot_catalogue_entry **out)
{
    piece **box = &k->box[number / BOX], *p;

    if (!*box) *box = calloc(BOX, sizeof **box);
    if (!*box) return spot_fail(c, SPOT_NOMEM, "no memory for the pieces of %s", k->name);
    p = *box + number % BOX;
    if (p->line) {
        *out = &k->l->entry[p->entry];
        return SPOT_OK;
    }
    SPOT_TRY(spot_entries_add(c, k->l, out));
    *p = (piece){ k->l->n - 1, line };
    return spot_entry_set(c, &(*out)->archive, k->path);
}

/* Nine numbers, row by row. */
static spot_status set_turn(spot_ctx *c, const catalogue *k, double *turn, const char *value, int line)
{
    int n = 0;
    bool ok = true;

    while (*value && ok) {
        const size_t length = strcspn(value, " \t");
        if (length && n < 9) ok = spot_number(&turn[n++], value, length) && isfinite(turn[n - 1]);
        else if (length) ok = false;
        value += length;
        value += strspn(value, " \t");
    }
    for (int i = 0; i < 9 && ok && n == 9; i++) {
        const double *a = turn + i / 3 * 3, *b = turn + i % 3 * 3, product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        ok = fabs(product - (i / 3 == i % 3)) <= 1e-3;
    }
    if (ok && n == 9) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{catalogue.rotation} %s, line %d: modelRotation is not the nine numbers of a rotation",
                     k->name, line);
}

static spot_status set_member(spot_ctx *c, catalogue *k, spot_catalogue_entry *e, const char *key, const char *value, int line)
{
    if (!strcmp(key, "id"))       return spot_entry_set(c, &e->id, value);
    if (!strcmp(key, "name"))     return spot_entry_set(c, &e->name, value);
    if (!strcmp(key, "category")) return spot_entry_set(c, &e->category, value);
    if (!strcmp(key, "creator"))  return spot_entry_set(c, &e->author, value);
    if (!strcmp(key, "license"))  return spot_entry_set(c, &e->licence, value);
    if (!strcmp(key, "model"))    return spot_entry_set(c, &e->file, value + strspn(value, "/"));
    if (!strcmp(key, "modelRotation")) return set_turn(c, k, e->turn, value, line);
    if (!strcmp(key, "doorOrWindow"))  e->door = !strcmp(value, "true");
    return SPOT_OK;
}

static spot_status use_property(spot_ctx *c, void *user, const char *key, const char *value, int line)
{
    catalogue *k = user;
    const char *mark = strchr(key, '#');
    spot_catalogue_entry *e;
    char plain[64];
    int64_t number;

    if (!mark) return strcmp(key, "license") ? SPOT_OK : spot_entry_set(c, &k->licence, value);
    /* Debian's own catalogue has a "dropOnTopElevation#-1", which describes nothing. */
    if (!spot_integer(&number, mark + 1, strlen(mark + 1)) || number < 1 || number > MOST_PIECES) return SPOT_OK;
    snprintf(plain, sizeof plain, "%.*s", (int)(mark - key < 63 ? mark - key : 63), key);
    SPOT_TRY(find_piece(c, k, (int)number, line, &e));
    return set_member(c, k, e, plain, value, line);
}

/* A piece without its own id is named after the archive and its number. */
static spot_status finish_piece(spot_ctx *c, catalogue *k, int number)
{
    const piece *p = k->box[number / BOX] + number % BOX;
    const char *slash = strrchr(k->path, '/');
    spot_catalogue_entry *e;
    char id[400];

    if (!p->line) return SPOT_OK;
    e = &k->l->entry[p->entry];
    if (!e->file || !*e->file)
        return spot_fail(c, SPOT_INPUT, "{catalogue.piece} %s, line %d: piece %d has no model", k->name, p->line, number);
    snprintf(id, sizeof id, "%.300s#%d", slash ? slash + 1 : k->path, number);
    if (!e->id || !*e->id) SPOT_TRY(spot_entry_set(c, &e->id, id));
    if (!e->name) SPOT_TRY(spot_entry_set(c, &e->name, e->id));
    if (!e->category) SPOT_TRY(spot_entry_set(c, &e->category, ""));
    if (!e->author) SPOT_TRY(spot_entry_set(c, &e->author, ""));
    return e->licence ? SPOT_OK : spot_entry_set(c, &e->licence, k->licence ? k->licence : "");
}

spot_status spot_catalogue_properties(spot_ctx *c, spot_entries *l, const char *text, size_t n, const char *path)
{
    catalogue k = { .l = l, .path = path };
    spot_status s;

    snprintf(k.name, sizeof k.name, "%.340s: " PROPERTIES, path);
    s = spot_properties_read(c, text, n, k.name, use_property, &k);
    for (int i = 0; i <= MOST_PIECES && s == SPOT_OK; i++) {
        if (k.box[i / BOX]) s = finish_piece(c, &k, i);
        else i += BOX - 1;
    }
    for (int i = 0; i < BOXES; i++) free(k.box[i]);
    free(k.licence);
    return s;
}

static spot_status read_from(spot_ctx *c, spot_entries *l, spot_mesh_files *f, const char *path)
{
    spot_mesh_file file;
    spot_status s;

    SPOT_TRY(spot_mesh_file_read(c, &file, f, "", PROPERTIES, MOST_BYTES));
    if (!file.bytes)
        return spot_fail(c, SPOT_INPUT, "%.400s holds no " PROPERTIES " that can be read%s%.200s", path,
                         file.why[0] ? ": " : "", file.why);
    s = spot_catalogue_properties(c, l, (const char *)file.bytes, file.n, path);
    free(file.bytes);
    return s;
}

spot_status spot_catalogue_sweet_home(spot_ctx *c, spot_entries *l, const char *path)
{
    spot_mesh_files *f;
    spot_status s;

    SPOT_TRY(spot_mesh_files_open(c, &f, path));
    s = read_from(c, l, f, path);
    spot_mesh_files_close(f);
    return s;
}
