/* catalogue_folders.c - ShapeNet's folders, and folders of a class each. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json_tree.h"
#include "base/text.h"
#include "worlds/catalogue_parts.h"

enum { MOST_TAXONOMY = 1 << 26, DEEPEST = 32 };

static int by_bytes(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }
static int is_shown(const struct dirent *e) { return e->d_name[0] != '.'; }

static void free_names(struct dirent **name, int n)
{
    for (int i = 0; i < n; i++) free(name[i]);
    free(name);
}

/* The names in a folder, sorted; without those that begin with a dot. */
static spot_status list(spot_ctx *c, struct dirent ***name, int *n, const char *path)
{
    *n = scandir(path, name, is_shown, by_bytes);
    return *n >= 0 ? SPOT_OK : spot_fail(c, SPOT_IO, "cannot list the folder %.500s: %s", path, strerror(errno));
}

static bool is_folder(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_file(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* False: too long. */
static bool join(char to[PATH_MAX], const char *a, const char *b)
{
    return (size_t)snprintf(to, PATH_MAX, "%s/%s", a, b) < PATH_MAX;
}

/* -- ShapeNet ------------------------------------------------------------------------------------------------------------- */

/* The first of a synset's names; the synset itself where the taxonomy lacks it. */
static void name_synset(char name[64], yajl_val taxonomy, const char *synset)
{
    const char *id[] = { "synsetId", NULL }, *names[] = { "name", NULL };

    snprintf(name, 64, "%.63s", synset);
    for (size_t i = 0; YAJL_IS_ARRAY(taxonomy) && i < taxonomy->u.array.len; i++) {
        const yajl_val mine_at = yajl_tree_get(taxonomy->u.array.values[i], id, yajl_t_string);
        const yajl_val words_at = yajl_tree_get(taxonomy->u.array.values[i], names, yajl_t_string);
        const char *mine = YAJL_GET_STRING(mine_at), *words = YAJL_GET_STRING(words_at);
        if (!mine || !words || strcmp(mine, synset)) continue;
        snprintf(name, 64, "%.*s", (int)strcspn(words, ","), words);
        return;
    }
}

static spot_status add_shape(spot_ctx *c, spot_entries *l, const char *folder, const char *synset, const char *category,
                             const char *model)
{
    static const char *const layout[] = { "models/model_normalized.obj", "model.obj" };
    char archive[PATH_MAX], file[PATH_MAX], id[600];
    spot_catalogue_entry *e;
    int i = 0;

    if (!join(archive, folder, model)) return SPOT_OK;
    while (i < 2 && !(join(file, archive, layout[i]) && is_file(file))) i++;
    if (i == 2) return SPOT_OK;
    snprintf(id, sizeof id, "%s/%s", synset, model);
    SPOT_TRY(spot_entries_add(c, l, &e));
    SPOT_TRY(spot_entry_set(c, &e->archive, archive));
    SPOT_TRY(spot_entry_set(c, &e->file, layout[i]));
    SPOT_TRY(spot_entry_set(c, &e->id, id));
    snprintf(id, sizeof id, "%s %s", category, model);
    SPOT_TRY(spot_entry_set(c, &e->name, id));
    SPOT_TRY(spot_entry_set(c, &e->category, category));
    SPOT_TRY(spot_entry_set(c, &e->licence, ""));
    return spot_entry_set(c, &e->author, "");
}

static spot_status add_synset(spot_ctx *c, spot_entries *l, yajl_val taxonomy, const char *path, const char *synset)
{
    char folder[PATH_MAX], category[64];
    struct dirent **model;
    spot_status s = SPOT_OK;
    int n;

    if (!join(folder, path, synset) || !is_folder(folder)) return SPOT_OK;
    name_synset(category, taxonomy, synset);
    SPOT_TRY(list(c, &model, &n, folder));
    for (int i = 0; i < n && s == SPOT_OK; i++) s = add_shape(c, l, folder, synset, category, model[i]->d_name);
    free_names(model, n);
    return s != SPOT_OK ? s : spot_check_stop(c);
}

static spot_status read_taxonomy(spot_ctx *c, yajl_val *tree, const char *path)
{
    char file[PATH_MAX], why[200] = "";
    unsigned char *bytes;
    size_t n;

    *tree = NULL;
    if (!join(file, path, "taxonomy.json")) return spot_fail(c, SPOT_IO, "the path %.500s is too long", path);
    SPOT_TRY(spot_file_read(c, file, &bytes, &n, MOST_TAXONOMY));
    *tree = spot_tree_parse((const char *)bytes, n, why, sizeof why);
    free(bytes);
    if (*tree && YAJL_IS_ARRAY(*tree)) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{catalogue.taxonomy} %.500s is no taxonomy of ShapeNet: %s", file,
                     *tree ? "it is no list" : why);
}

spot_status spot_catalogue_shapenet(spot_ctx *c, spot_entries *l, const char *path)
{
    struct dirent **synset;
    yajl_val taxonomy;
    spot_status s = read_taxonomy(c, &taxonomy, path);
    int n = 0;

    if (s == SPOT_OK) s = list(c, &synset, &n, path);
    for (int i = 0; i < n && s == SPOT_OK; i++) s = add_synset(c, l, taxonomy, path, synset[i]->d_name);
    if (n > 0) free_names(synset, n);
    yajl_tree_free(taxonomy);
    return s;
}

/* -- folders -------------------------------------------------------------------------------------------------------------- */

/* Files are read from the class's folder, so that a model may name pictures in a folder beside its own. */
static spot_status add_model(spot_ctx *c, spot_entries *l, const char *path, size_t root, const char *category)
{
    const char *id = path + root;
    const size_t file = root + strlen(category);
    spot_catalogue_entry *e;
    char folder[PATH_MAX], *dot;

    snprintf(folder, sizeof folder, "%.*s", (int)file, path);
    SPOT_TRY(spot_entries_add(c, l, &e));
    SPOT_TRY(spot_entry_set(c, &e->archive, folder));
    SPOT_TRY(spot_entry_set(c, &e->file, path + file + 1));
    SPOT_TRY(spot_entry_set(c, &e->id, id));
    SPOT_TRY(spot_entry_set(c, &e->name, id + strlen(category) + 1));
    dot = strrchr(e->name, '.');
    if (dot) *dot = 0;
    SPOT_TRY(spot_entry_set(c, &e->category, category));
    SPOT_TRY(spot_entry_set(c, &e->licence, ""));
    return spot_entry_set(c, &e->author, "");
}

static spot_status walk(spot_ctx *c, spot_entries *l, const char *folder, size_t root, const char *category, int depth);

/* Links are not followed: what they lead to could hold them. */
static spot_status visit(spot_ctx *c, spot_entries *l, const char *folder, const char *name, size_t root, const char *category,
                         int depth)
{
    char path[PATH_MAX];
    struct stat st;

    if (!join(path, folder, name) || lstat(path, &st)) return SPOT_OK;
    if (S_ISDIR(st.st_mode)) return walk(c, l, path, root, category, depth + 1);
    if (!S_ISREG(st.st_mode) || !spot_mesh_is_model(name)) return SPOT_OK;
    return add_model(c, l, path, root, category);
}

static spot_status walk(spot_ctx *c, spot_entries *l, const char *folder, size_t root, const char *category, int depth)
{
    struct dirent **name;
    spot_status s = SPOT_OK;
    int n;

    if (depth > DEEPEST) return spot_fail(c, SPOT_INPUT, "%.500s lies deeper than %d folders", folder, DEEPEST);
    SPOT_TRY(spot_check_stop(c));
    SPOT_TRY(list(c, &name, &n, folder));
    for (int i = 0; i < n && s == SPOT_OK; i++) s = visit(c, l, folder, name[i]->d_name, root, category, depth);
    free_names(name, n);
    return s;
}

spot_status spot_catalogue_folder(spot_ctx *c, spot_entries *l, const char *path)
{
    char folder[PATH_MAX];
    struct dirent **cls;
    spot_status s = SPOT_OK;
    int n;

    SPOT_TRY(list(c, &cls, &n, path));
    for (int i = 0; i < n && s == SPOT_OK; i++)
        if (join(folder, path, cls[i]->d_name) && is_folder(folder))
            s = walk(c, l, folder, strlen(path) + 1, cls[i]->d_name, 1);
    free_names(cls, n);
    return s;
}
