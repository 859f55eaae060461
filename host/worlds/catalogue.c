/* catalogue.c - which layout a path has, the classes of its entries, their order. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/sha1.h"
#include "base/text.h"
#include "worlds/catalogue_parts.h"
#include "worlds/mesh_parts.h"

/* -- layouts -------------------------------------------------------------------------------------------------------------- */

static int is_archive(const struct dirent *e)
{
    const size_t n = strlen(e->d_name);

    return n > 5 && !strcasecmp(e->d_name + n - 5, ".sh3f");
}

static int by_bytes(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static bool has(const char *path, const char *name)
{
    char file[PATH_MAX];
    struct stat st;

    return (size_t)snprintf(file, sizeof file, "%s/%s", path, name) < sizeof file && !stat(file, &st) && S_ISREG(st.st_mode);
}

static spot_status read_archives(spot_ctx *c, spot_entries *l, const char *path, struct dirent *const *name, int n)
{
    char file[PATH_MAX];

    for (int i = 0; i < n; i++) {
        if ((size_t)snprintf(file, sizeof file, "%s/%s", path, name[i]->d_name) >= sizeof file)
            return spot_fail(c, SPOT_IO, "the path %.500s is too long", path);
        SPOT_TRY(spot_catalogue_sweet_home(c, l, file));
    }
    return SPOT_OK;
}

static spot_status read_folder(spot_ctx *c, spot_entries *l, const char *path)
{
    struct dirent **name;
    const int n = scandir(path, &name, is_archive, by_bytes);
    spot_status s;

    if (n < 0) return spot_fail(c, SPOT_IO, "cannot list the folder %.500s: %s", path, strerror(errno));
    if (n)                                                       s = read_archives(c, l, path, name, n);
    else if (has(path, "PluginFurnitureCatalog.properties"))     s = spot_catalogue_sweet_home(c, l, path);
    else if (has(path, "taxonomy.json"))                         s = spot_catalogue_shapenet(c, l, path);
    else                                                         s = spot_catalogue_folder(c, l, path);
    for (int i = 0; i < n; i++) free(name[i]);
    free(name);
    return s;
}

static spot_status read_layout(spot_ctx *c, spot_entries *l, const char *path)
{
    struct stat st;
    spot_status s;

    if (stat(path, &st)) return spot_fail(c, SPOT_IO, "{catalogue.unread} cannot read the catalogue %.500s: %s", path,
                                          strerror(errno));
    if (!S_ISDIR(st.st_mode) && spot_mesh_is_model(path))
        return spot_fail(c, SPOT_INPUT, "{catalogue.model} %.500s is one model, and a catalogue is a folder with a folder of "
                         "models for each class: move it to a folder of its class, such as objects/chair/, and name the folder "
                         "above", path);
    s = S_ISDIR(st.st_mode) ? read_folder(c, l, path) : spot_catalogue_sweet_home(c, l, path);
    if (s != SPOT_OK || l->n) return s;
    return spot_fail(c, SPOT_INPUT, "{catalogue.empty} the catalogue %.500s holds no models; it can be an archive of Sweet "
                     "Home 3D, a folder of them, ShapeNet with its taxonomy.json, or a folder with a folder of models ("
                     SPOT_MESH_FORMATS ") for each class", path);
}

/* -- rules ---------------------------------------------------------------------------------------------------------------- */

static bool is_letter(char c) { return isalnum((unsigned char)c) || (unsigned char)c >= 0x80; }

/* The next word from *at on: its length, and *at behind it; 0: none. ASCII is made lower case by the comparison. */
static size_t next_word(const char **at, const char **word)
{
    while (**at && !is_letter(**at)) ++*at;
    *word = *at;
    while (**at && is_letter(**at)) ++*at;
    return (size_t)(*at - *word);
}

/* Whether the word is one of the list, whose words have spaces between them. */
static bool is_listed(const char *list, const char *word, size_t n)
{
    while (*list) {
        const size_t mine = strcspn(list, " ");
        if (mine == n && !strncasecmp(list, word, n)) return true;
        list += mine;
        list += strspn(list, " ");
    }
    return false;
}

/* Whether a word of the name is of the list; `last`: whether the last one is. */
static bool has_word(const char *name, const char *list, bool last)
{
    const char *word;
    bool found = false;

    for (size_t n = next_word(&name, &word); n; n = next_word(&name, &word)) {
        found = is_listed(list, word, n);
        if (found && !last) return true;
    }
    return found;
}

static bool is_set(const char *rule) { return rule && *rule; }

static bool has_rules(const spot_catalogue_class *r)
{
    return is_set(r->category) || is_set(r->words) || is_set(r->last) || is_set(r->starts) || is_set(r->without) || r->door;
}

static bool fits(const spot_catalogue_class *r, const spot_catalogue_entry *e)
{
    const bool by_end = is_set(r->last) || is_set(r->starts);

    if (!has_rules(r)) return !strcmp(r->name, e->category);
    if (is_set(r->category) && strcmp(r->category, e->category)) return false;
    if (r->door && !e->door) return false;
    if (is_set(r->words) && !has_word(e->name, r->words, false)) return false;
    if (by_end && !(is_set(r->last) && has_word(e->name, r->last, true))
        && !(is_set(r->starts) && !strncasecmp(e->name, r->starts, strlen(r->starts)))) return false;
    return !is_set(r->without) || !has_word(e->name, r->without, false);
}

static int number_of_class(spot_catalogue *k, const char *name)
{
    int i = 0;

    while (i < k->classes && strncmp(k->cls[i], name, sizeof k->cls[i] - 1)) i++;
    if (i == k->classes) snprintf(k->cls[k->classes++], sizeof k->cls[0], "%.63s", name);
    return i;
}

static spot_status class_by_rules(spot_ctx *c, spot_catalogue *k, spot_entries *l, const spot_catalogue_class *cls, int classes)
{
    int number[SPOT_MAX_CATALOGUE_CLASSES];

    if (classes > SPOT_MAX_CATALOGUE_CLASSES)
        return spot_fail(c, SPOT_INVALID, "{catalogue.classes} %d classes of a catalogue; at most %d", classes,
                         SPOT_MAX_CATALOGUE_CLASSES);
    k->cls = calloc((size_t)classes + 1, sizeof *k->cls);
    if (!k->cls) return spot_fail(c, SPOT_NOMEM, "no memory for %d classes", classes);
    for (int i = 0; i < classes; i++) number[i] = cls[i].leave ? -1 : number_of_class(k, cls[i].name);
    for (int i = 0; i < l->n; i++) {
        int r = 0;
        while (r < classes && !fits(&cls[r], &l->entry[i])) r++;
        l->entry[i].cls = r < classes ? number[r] : -1;
    }
    return SPOT_OK;
}

static int by_category(const void *a, const void *b)
{
    const spot_catalogue_entry *p = a, *q = b;

    return strncmp(p->category, q->category, 63);
}

/* Without rules the categories are the classes, sorted by name; an entry without a category has no class. */
static spot_status class_by_category(spot_ctx *c, spot_catalogue *k, spot_entries *l)
{
    int classes = 0;

    qsort(l->entry, (size_t)l->n, sizeof *l->entry, by_category);
    for (int i = 0; i < l->n; i++) classes += *l->entry[i].category && (!i || by_category(&l->entry[i - 1], &l->entry[i]));
    k->cls = calloc((size_t)classes + 1, sizeof *k->cls);
    if (!k->cls) return spot_fail(c, SPOT_NOMEM, "no memory for %d classes", classes);
    for (int i = 0; i < l->n; i++) {
        spot_catalogue_entry *e = &l->entry[i];
        if (!*e->category) continue;
        if (!i || by_category(&l->entry[i - 1], e)) snprintf(k->cls[k->classes++], sizeof k->cls[0], "%.63s", e->category);
        e->cls = k->classes - 1;
    }
    return SPOT_OK;
}

/* -- order ---------------------------------------------------------------------------------------------------------------- */

typedef struct { int cls; uint8_t hash[20]; spot_catalogue_entry entry; } placed;

static int by_hash(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    const int order = memcmp(p->hash, q->hash, sizeof p->hash);

    return order ? order : strcmp(p->entry.archive, q->entry.archive);
}

static int by_class(const void *a, const void *b)
{
    const placed *p = a, *q = b;

    return p->cls != q->cls ? (p->cls < q->cls ? -1 : 1) : by_hash(a, b);
}

/* Keeps the first of equal ids, which stand together, and drops entries without a class. Returns how many are left. */
static int drop(spot_ctx *c, placed *p, int n)
{
    int kept = 0, twice = 0;

    for (int i = 0; i < n; i++) {
        const bool again = kept && !strcmp(p[i].entry.id, p[kept - 1].entry.id);
        twice += again;
        if (again || p[i].cls < 0) spot_entry_free(&p[i].entry);
        else p[kept++] = p[i];
    }
    if (twice) spot_log(c, SPOT_LOG_WARN, "%d models of the catalogue are left out: others have their ids", twice);
    return kept;
}

static spot_status put_in_order(spot_ctx *c, spot_entries *l)
{
    placed *p = malloc(((size_t)l->n + 1) * sizeof *p);

    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory to sort %d models", l->n);
    for (int i = 0; i < l->n; i++) {
        p[i].cls = l->entry[i].cls, p[i].entry = l->entry[i];
        spot_sha1(p[i].hash, l->entry[i].id, strlen(l->entry[i].id));
    }
    qsort(p, (size_t)l->n, sizeof *p, by_hash);
    l->n = drop(c, p, l->n);
    qsort(p, (size_t)l->n, sizeof *p, by_class);
    for (int i = 0; i < l->n; i++) l->entry[i] = p[i].entry;
    free(p);
    return l->n ? SPOT_OK : spot_fail(c, SPOT_INPUT, "{catalogue.no_model} no model of the catalogue is of one of the classes");
}

/* -- the whole ------------------------------------------------------------------------------------------------------------ */

spot_status spot_catalogue_read(spot_ctx *c, spot_catalogue *k, const char *path, const spot_catalogue_class *cls, int classes)
{
    spot_entries l = { 0 };
    spot_status s;

    memset(k, 0, sizeof *k);
    s = read_layout(c, &l, path);
    if (s == SPOT_OK) s = classes > 0 ? class_by_rules(c, k, &l, cls, classes) : class_by_category(c, k, &l);
    if (s == SPOT_OK) s = put_in_order(c, &l);
    k->entry = l.entry, k->entries = l.n;
    if (s != SPOT_OK) spot_catalogue_close(k);
    return s;
}

void spot_catalogue_close(spot_catalogue *k)
{
    spot_entries l = { k->entry, k->entries, 0 };

    spot_entries_close(&l);
    free(k->cls);
    memset(k, 0, sizeof *k);
}
