/* folder.c - see folder.h. */
#define _XOPEN_SOURCE 700                  /* realpath */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"

enum { DEEPEST = 32, MOST = INT_MAX / 2 };

/* Offsets into walk.text: the path, and its last part. */
typedef struct { size_t path, name; int cls; } entry;

typedef struct {
    spot_ctx    *c;
    spot_folder *f;
    spot_text    text;                /* all paths, each with its NUL */
    spot_text    entries;
    entry       *at;                  /* (count): the entries */
    size_t       count;
    char         path[PATH_MAX];      /* the present folder or file: root/class/... */
    size_t       root;                /* length of root, with the slash */
    char         table[256];          /* the first table or list of pictures below root; "": there is none */
} walk;

static bool ends_with_one(const char *name, const char *const *end)
{
    const size_t n = strlen(name);

    for (; *end; end++)
        if (n >= strlen(*end) && !strcasecmp(name + n - strlen(*end), *end)) return true;
    return false;
}

static bool is_picture(const char *name)
{
    return ends_with_one(name, (const char *const []){ ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff",
                                                       ".webp", ".gif", NULL });
}

/* The name alone does not tell: a picture may have such a name. */
static bool is_apple_double(const char *path, const char *name)
{
    char mark[4] = "";

    return !strncmp(name, "._", 2) && spot_file_peek(path, mark, sizeof mark) == (int)sizeof mark
        && !memcmp(mark, "\0\5\x16\7", sizeof mark);
}

static spot_status add_entry(walk *w, size_t name, int cls)
{
    const entry e = { w->text.used, name - w->root, cls };

    if (w->count == MOST) return spot_fail(w->c, SPOT_INPUT, "%s holds more than %d pictures", w->path, MOST);
    spot_text_add(&w->text, w->path + w->root, strlen(w->path + w->root) + 1);
    spot_text_add(&w->entries, &e, sizeof e);
    if (w->text.status || w->entries.status)
        return spot_fail(w->c, SPOT_NOMEM, "no memory for a list of %zu pictures", w->count);
    w->at = (entry *)(void *)w->entries.bytes;
    w->count++;
    return SPOT_OK;
}

/* Appends name to the path; false if it gets too long. */
static bool append_name(walk *w, size_t end, const char *name)
{
    return (size_t)snprintf(w->path + end, sizeof w->path - end, "%s%s", w->path[end - 1] == '/' ? "" : "/", name)
           < sizeof w->path - end;
}

static spot_status list_folder(walk *w, int depth, int cls);

/* Tables and lists in which data sets of other forms keep their pictures. */
static bool is_table(const char *name)
{
    return ends_with_one(name, (const char *const []){ ".parquet", ".arrow", NULL }) || !strcmp(name, "metadata.csv")
        || !strcmp(name, "metadata.jsonl");
}

/* Visits the entry at w->path; `name` is the offset of its own name. Depth 0: root, in which only folders count. */
static spot_status visit_entry(walk *w, size_t name, int depth, int cls)
{
    struct stat st = { 0 };                     /* stays 0 for a broken link, which counts as a missing picture */

    if (stat(w->path, &st) && errno != ENOENT && errno != ELOOP)
        return spot_fail(w->c, SPOT_IO, "{file.unread} cannot read %s: %s", w->path, strerror(errno));
    if (S_ISDIR(st.st_mode) && depth) return list_folder(w, depth + 1, cls);
    if (S_ISDIR(st.st_mode)) return add_entry(w, name, -1);
    if (is_picture(w->path + name)) {
        if (S_ISREG(st.st_mode) && is_apple_double(w->path, w->path + name)) return w->f->doubles++, SPOT_OK;
        if (depth) return add_entry(w, name, cls);
    }
    if (!w->table[0] && is_table(w->path + name)) snprintf(w->table, sizeof w->table, "%.250s", w->path + w->root);
    w->f->unread += ends_with_one(w->path + name, (const char *const []){ ".avif", ".heic", ".heif", NULL });
    if (!w->f->others++) snprintf(w->f->other, sizeof w->f->other, "%.250s", w->path + w->root);
    return SPOT_OK;
}

static spot_status list_folder(walk *w, int depth, int cls)
{
    size_t end = strlen(w->path);
    DIR *dir = opendir(w->path);
    spot_status s = SPOT_OK;

    if (!dir) return spot_fail(w->c, SPOT_IO, "{folder.unlisted} cannot list %s: %s", w->path, strerror(errno));
    if (depth > DEEPEST)
        s = spot_fail(w->c, SPOT_INPUT, "{folder.too_deep} %s lies deeper than %d folders; do links lead round?", w->path,
                      DEEPEST);
    for (struct dirent *e; !s && (errno = 0, e = readdir(dir));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        if (!append_name(w, end, e->d_name)) s = spot_fail(w->c, SPOT_INPUT, "%.900s: the path is too long", w->path);
        else s = visit_entry(w, end + (w->path[end - 1] != '/'), depth, cls);
        w->path[end] = 0;
    }
    if (!s && errno) s = spot_fail(w->c, SPOT_IO, "{folder.unlisted} cannot list %s: %s", w->path, strerror(errno));
    closedir(dir);
    return s;
}

static _Thread_local const char *sorting;      /* walk.text for compare_places; qsort passes no user pointer */

/* Orders by the first folder of the path; what lies in root comes first. */
static int compare_tops(const entry *x, const entry *y)
{
    const char *p = sorting + x->path, *q = sorting + y->path;
    size_t n = x->name ? strcspn(p, "/") : 0, m = y->name ? strcspn(q, "/") : 0;
    int order = memcmp(p, q, n < m ? n : m);

    return order ? order : (n > m) - (n < m);
}

/* Orders by the folder in root (the class), folder and name: "a/z.png" before "a/b/c.png", whose folder is longer. */
static int compare_places(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const char *p = sorting + x->path, *q = sorting + y->path;
    size_t least = x->name < y->name ? x->name : y->name;
    int order = compare_tops(x, y);

    if (!order) order = memcmp(p, q, least ? least - 1 : 0);

    if (!order) order = (x->name > y->name) - (x->name < y->name);
    return order ? order : strcmp(p + x->name, q + y->name);
}

static void sort_entries(walk *w, size_t from)
{
    sorting = w->text.bytes;
    qsort(w->at + from, w->count - from, sizeof *w->at, compare_places);
}

/* Words of the folders into which data sets are divided for training and tests. */
static bool is_split(const char *name)
{
    static const char *const word[] = { "train", "training", "test", "testing", "validation", "valid", "val", "dev", "eval" };

    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (!strcasecmp(name, word[i])) return true;
    return false;
}

/* Folders that are all called as splits are no classes: a network would be judged by which split it tells. */
static spot_status check_splits(const walk *w)
{
    for (int k = 0; k < w->f->classes; k++)
        if (!is_split(w->text.bytes + w->at[k].path)) return SPOT_OK;
    return spot_fail(w->c, SPOT_INPUT, "{folder.splits} %s holds splits (%s%s), no classes; give the folder of one, such as "
                     "%s/%s", w->path, w->text.bytes + w->at[0].path, w->f->classes > 1 ? ", ..." : "", w->path,
                     w->text.bytes + w->at[0].path);
}

/* A folder without pictures, or without classes: SPOT_OK where nothing tells of a data set of another form. */
static spot_status check_data_set(const walk *w)
{
    if (!w->table[0]) return SPOT_OK;
    return spot_fail(w->c, SPOT_INPUT, "{folder.data_set} %.*s is a data set whose pictures are in, or named by, %s; "
                     "\"python3 -m spotter.dataset %.*s --out DIR\" makes folders of classes of it", (int)w->root - 1, w->path,
                     w->table, (int)w->root - 1, w->path);
}

/* The pictures of each class; *empty is the first class without any, or -1. */
static spot_status list_each(walk *w, int *empty)
{
    const size_t end = strlen(w->path);

    *empty = -1;
    for (int k = 0; k < w->f->classes; k++) {
        const size_t before = w->count;
        append_name(w, end, w->text.bytes + w->at[k].path);
        SPOT_TRY(list_folder(w, 1, k));
        if (w->count == before && *empty < 0) *empty = k;
        w->path[end] = 0;
    }
    return SPOT_OK;
}

/* Lists the classes, w->at[0 .. classes - 1], then the pictures of each. */
static spot_status list_pictures(walk *w)
{
    spot_folder *f = w->f;
    int empty;

    SPOT_TRY(list_folder(w, 0, -1));
    f->classes = (int)w->count;
    if (!f->classes) {
        SPOT_TRY(check_data_set(w));
        return spot_fail(w->c, SPOT_INPUT, "{folder.no_classes} %s holds no folders; pictures are looked for in %s/CLASS/",
                         w->path, w->path);
    }
    sort_entries(w, 0);
    SPOT_TRY(check_splits(w));
    SPOT_TRY(list_each(w, &empty));
    if (empty >= 0) {
        SPOT_TRY(check_data_set(w));
        append_name(w, strlen(w->path), w->text.bytes + w->at[empty].path);
        return spot_fail(w->c, SPOT_INPUT, "{folder.class_empty} %s holds no pictures; remove the folder, or it would count "
                         "as a class", w->path);
    }
    sort_entries(w, (size_t)f->classes);
    return SPOT_OK;
}

static spot_status fill_folder(walk *w)
{
    spot_folder *f = w->f;
    char **names = malloc(w->count * (sizeof *names + sizeof *f->cls));

    if (!names) return spot_fail(w->c, SPOT_NOMEM, "no memory for a list of %zu pictures", w->count);
    f->n = (int)w->count - f->classes;
    f->class_name = names;
    f->path = names + f->classes;
    f->cls = (int *)(names + w->count);
    for (size_t i = 0; i < w->count; i++) names[i] = w->text.bytes + w->at[i].path;
    for (int i = 0; i < f->n; i++) f->cls[i] = w->at[f->classes + i].cls;
    f->owned[0] = w->text.bytes;
    f->owned[1] = names;
    w->text.bytes = NULL;
    return SPOT_OK;
}

/* Depth 1, so that files in root count, too. */
static spot_status list_all(walk *w)
{
    SPOT_TRY(list_folder(w, 1, -1));
    if (!w->count) SPOT_TRY(check_data_set(w));
    if (!w->count)
        return spot_fail(w->c, SPOT_INPUT, "{folder.no_pictures} %s holds no pictures: no file in it or in its folders has a "
                         "picture's name, such as .jpg or .png", w->path);
    sort_entries(w, 0);
    return SPOT_OK;
}

static spot_status list_by(spot_ctx *c, spot_folder *f, const char *root, spot_status (*list)(walk *w))
{
    walk *w = calloc(1, sizeof *w);
    spot_status s;

    memset(f, 0, sizeof *f);
    if (!w) return spot_fail(c, SPOT_NOMEM, "no memory to list %s", root);
    *w = (walk){ .c = c, .f = f };
    w->root = (size_t)snprintf(w->path, sizeof w->path, "%s", *root ? root : ".");
    s = w->root < sizeof w->path ? SPOT_OK : spot_fail(c, SPOT_INPUT, "%.900s: the path is too long", root);
    if (!s) w->root += w->path[w->root - 1] != '/';
    if (!s) s = list(w);
    if (!s) s = fill_folder(w);
    spot_text_free(&w->text);
    spot_text_free(&w->entries);
    free(w);
    if (s) memset(f, 0, sizeof *f);
    return s;
}

spot_status spot_folder_list    (spot_ctx *c, spot_folder *f, const char *root) { return list_by(c, f, root, list_pictures); }
spot_status spot_folder_pictures(spot_ctx *c, spot_folder *f, const char *root) { return list_by(c, f, root, list_all); }

void spot_folder_close(spot_folder *f)
{
    free(f->owned[0]);
    free(f->owned[1]);
    memset(f, 0, sizeof *f);
}

/* Cuts the last part off, but not the slash of the root; a path of one part becomes ".". */
static void cut_last_part(char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/') n--;
    while (n && path[n - 1] != '/') n--;
    while (n > 1 && path[n - 1] == '/') n--;
    if (n) path[n] = 0;
    else strcpy(path, ".");
}

bool spot_folder_holds(const char *root, const char *path)
{
    char part[PATH_MAX], real[PATH_MAX];
    struct stat top, at;

    if (stat(root, &top) || !S_ISDIR(top.st_mode) || !*path) return false;
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part) return false;
    while (!realpath(part, real)) {
        if (!strcmp(part, ".") || !strcmp(part, "/")) return false;
        cut_last_part(part);
    }
    for (;; cut_last_part(real)) {
        if (!stat(real, &at) && at.st_dev == top.st_dev && at.st_ino == top.st_ino) return true;
        if (!strcmp(real, "/")) return false;
    }
}

void spot_folder_log_others(spot_ctx *c, const spot_folder *f, const char *root)
{
    char unread[96] = "";

    if (f->unread)
        snprintf(unread, sizeof unread, "; %d of them AVIF or HEIC, which are not read: convert them", f->unread);
    if (f->others)
        spot_log(c, SPOT_LOG_INFO, "%s: %d files are left out that are no pictures by their names; the first is %s%s", root,
                 f->others, f->other, unread);
    spot_folder_log_doubles(c, f, root);
}

void spot_folder_log_doubles(spot_ctx *c, const spot_folder *f, const char *root)
{
    if (f->doubles)
        spot_log(c, SPOT_LOG_INFO, "%s: %d files are passed over in which macOS keeps attributes of others (AppleDouble, "
                 "._NAME)", root, f->doubles);
}
