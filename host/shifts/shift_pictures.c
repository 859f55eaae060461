/* shift_pictures.c - lists the folders of a study of shifts. */
#define _POSIX_C_SOURCE 200809L
#include "shifts/shift_pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "spotter/array.h"
#include "store/contents.h"

static spot_status list_unit(spot_ctx *c, spot_folder *f, const spot_shifts_config *cfg, spot_shift_unit u)
{
    char folder[SPOT_SHIFT_PATH], name[160];
    struct stat st;

    spot_shift_unit_folder(folder, cfg, u);
    if (stat(folder, &st) || !S_ISDIR(st.st_mode))
        return spot_fail(c, SPOT_INPUT, "%s: there is no folder %s", spot_shift_unit_name(name, cfg, u), folder);
    return spot_folder_list(c, f, folder);
}

/* ---- classes ---- */

int spot_shift_class_of(const spot_shift_classes *k, const char *folder)
{
    int low = 0, high = k->n;

    while (low < high) {
        const int middle = (low + high) / 2, order = strcmp(k->folder[middle], folder);
        if (!order) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

static char *add_text(char **at, const char *text)
{
    char *copy = strcpy(*at, text);

    *at += strlen(copy) + 1;
    return copy;
}

/* names (f->classes): NULL, or the name of each class; else its folder with ' ' for '_'. */
static spot_status copy_classes(spot_ctx *c, spot_shift_classes *k, const spot_folder *f, char *const *names)
{
    size_t bytes = 2 * (size_t)f->classes * sizeof(char *);
    char *text;

    for (int i = 0; i < f->classes; i++)
        bytes += strlen(f->class_name[i]) + strlen(names ? names[i] : f->class_name[i]) + 2;
    k->owned = malloc(bytes);
    if (!k->owned) return spot_fail(c, SPOT_NOMEM, "no memory for the names of %d classes", f->classes);
    k->n = f->classes;
    k->folder = k->owned;
    k->name = k->folder + k->n;
    text = (char *)(k->name + k->n);
    for (int i = 0; i < k->n; i++) {
        k->folder[i] = add_text(&text, f->class_name[i]);
        k->name[i] = add_text(&text, names ? names[i] : f->class_name[i]);
        for (char *p = k->name[i]; *p && !names; p++)
            if (*p == '_') *p = ' ';
    }
    return SPOT_OK;
}

/* The name of each class from the rows of data.names, which may have more rows. */
static spot_status choose_names(spot_ctx *c, char **names, const spot_folder *f, const spot_array *folder,
                                const spot_array *name)
{
    char *const *row = folder->data, *const *text = name->data;

    if (folder->type != SPOT_WORDS || name->type != SPOT_WORDS)
        return spot_fail(c, SPOT_INPUT, "%s holds numbers; folders and names are words", folder->name);
    if (folder->count != name->count)
        return spot_fail(c, SPOT_INPUT, "%s has %zu rows, and %s has %zu", folder->name, folder->count, name->name,
                         name->count);
    for (int i = 0; i < f->classes; i++) {
        names[i] = NULL;
        for (size_t r = 0; r < folder->count && !names[i]; r++)
            if (!strcmp(row[r], f->class_name[i])) names[i] = text[r];
        if (!names[i]) return spot_fail(c, SPOT_INPUT, "%s has no row for the class %s", folder->name, f->class_name[i]);
    }
    return SPOT_OK;
}

static spot_status read_names(spot_ctx *c, spot_shift_classes *k, const spot_folder *f, const char *path)
{
    spot_array folder = { 0 }, name = { 0 };
    char **names = malloc((size_t)f->classes * sizeof *names), where[600];
    spot_status s = names ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the names of %d classes", f->classes);

    snprintf(where, sizeof where, "%s:folder", path);
    if (s == SPOT_OK) s = spot_array_read(c, &folder, where, 0);
    snprintf(where, sizeof where, "%s:name", path);
    if (s == SPOT_OK) s = spot_array_read(c, &name, where, 0);
    if (s == SPOT_OK) s = choose_names(c, names, f, &folder, &name);
    if (s == SPOT_OK) s = copy_classes(c, k, f, names);
    spot_array_close(&folder);
    spot_array_close(&name);
    free(names);
    return s;
}

spot_status spot_shift_classes_open(spot_ctx *c, spot_shift_classes *k, const spot_shifts_config *cfg)
{
    const spot_shift_unit first = { 0, cfg->data.real[0] ? SPOT_REAL_PICTURES : SPOT_BASE_PICTURES };
    spot_folder f = { 0 };
    spot_status s;

    *k = (spot_shift_classes){ 0 };
    SPOT_TRY(list_unit(c, &f, cfg, first));
    s = cfg->data.names[0] ? read_names(c, k, &f, cfg->data.names) : copy_classes(c, k, &f, NULL);
    spot_folder_close(&f);
    return s;
}

void spot_shift_classes_close(spot_shift_classes *k)
{
    free(k->owned);
    *k = (spot_shift_classes){ 0 };
}

/* ---- pictures ---- */

static spot_status match_classes(spot_ctx *c, spot_shift_pictures *p, const spot_shift_classes *k)
{
    int *of = malloc(((size_t)p->list.classes + 1) * sizeof *of), at = 0;

    p->cls = malloc(((size_t)p->list.n + 1) * sizeof *p->cls);
    if (!of || !p->cls) return free(of), spot_fail(c, SPOT_NOMEM, "no memory for a list of %d pictures", p->list.n);
    for (int i = 0; i < p->list.classes; i++)
        if ((of[i] = spot_shift_class_of(k, p->list.class_name[i])) < 0) {
            spot_fail(c, SPOT_INPUT, "%s/%s: the study has no such class; its classes are the folders of the real pictures, or "
                      "of the first base", p->root, p->list.class_name[i]);
            free(of);
            return SPOT_INPUT;
        }
    for (int i = 0; i < p->list.n; i++) p->cls[i] = of[p->list.cls[i]];
    for (int i = 0; i < k->n; i++) {
        if (at < p->list.classes && of[at] == i) at++;
        else if (!p->absent++) snprintf(p->first_absent, sizeof p->first_absent, "%.120s", k->folder[i]);
    }
    free(of);
    return SPOT_OK;
}

static spot_status hash_pictures(spot_ctx *c, spot_shift_pictures *p, const spot_store *store)
{
    spot_key *key = malloc(((size_t)p->list.n + 1) * sizeof *key), all = spot_key_of("pictures", 8);
    spot_status s = key ? spot_contents_of(c, key, p->root, (const char *const *)p->list.path, p->list.n, store)
                        : spot_fail(c, SPOT_NOMEM, "no memory for a list of %d pictures", p->list.n);

    for (int i = 0; i < p->list.n && s == SPOT_OK; i++) {
        char text[33];
        spot_key_text(text, key[i]);
        all = spot_key_join(all, p->list.path[i], text, 32);
    }
    if (s == SPOT_OK) spot_key_text(p->hash, all);
    free(key);
    return s;
}

spot_status spot_shift_pictures_open(spot_ctx *c, spot_shift_pictures *p, const spot_shifts_config *cfg,
                                     const spot_shift_classes *k, spot_shift_unit unit, const spot_store *store)
{
    *p = (spot_shift_pictures){ .unit = unit };
    spot_shift_unit_folder(p->root, cfg, unit);
    spot_shift_unit_id(p->id, cfg, unit);
    SPOT_TRY(list_unit(c, &p->list, cfg, unit));
    SPOT_TRY(match_classes(c, p, k));
    return store ? hash_pictures(c, p, store) : SPOT_OK;
}

spot_status spot_shift_pictures_same(spot_ctx *c, bool *same, const spot_shifts_config *cfg, const spot_shift_result *u)
{
    const spot_shift_unit unit = spot_shift_unit_at(cfg, u->index);
    spot_shift_pictures p = { .unit = unit };
    spot_status s;

    spot_shift_unit_folder(p.root, cfg, unit);
    s = list_unit(c, &p.list, cfg, unit);
    if (s == SPOT_OK) s = hash_pictures(c, &p, NULL);
    *same = s == SPOT_OK && !strcmp(p.hash, u->pictures_hash);
    spot_shift_pictures_close(&p);
    if (s == SPOT_OK || s == SPOT_STOPPED || s == SPOT_NOMEM) return s;
    return spot_forget(c), SPOT_OK;
}

void spot_shift_pictures_close(spot_shift_pictures *p)
{
    spot_folder_close(&p->list);
    free(p->cls);
    p->cls = NULL;
}

void spot_shift_progress_add(spot_ctx *c, spot_shift_progress *p, int pictures, const char *what)
{
    p->done += pictures;
    spot_tell(c, "shifts", -1, p->done, p->total, what);
}

char **spot_shift_paths(const spot_shift_pictures *p, int from, int n)
{
    const size_t root = strlen(p->root);
    size_t bytes = (size_t)n * sizeof(char *);
    char **path, *text;

    for (int i = from; i < from + n; i++) bytes += root + strlen(p->list.path[i]) + 2;
    path = malloc(bytes + 1);
    if (!path) return NULL;
    text = (char *)(path + n);
    for (int i = 0; i < n; i++) {
        path[i] = text;
        text += sprintf(text, "%s/%s", p->root, p->list.path[from + i]) + 1;
    }
    return path;
}
