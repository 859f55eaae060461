/* embedding.c - see embedding.h. */
#define _GNU_SOURCE
#include "store/embedding.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/safetensors.h"

enum { PATH = 512, MOST_COLUMNS = 1 << 20 };

static int is_embedding(const struct dirent *e) { return !fnmatch("ec-[0-9]*.safetensors", e->d_name, 0); }

/* "I64 of shape (800, 2)", or why there is no such tensor. */
static void describe_tensor(char *words, size_t size, const spot_tensors *t, const spot_tensor *e)
{
    size_t n = 0;

    if (!t->count) snprintf(words, size, "not there, nor is any other");
    else if (!e) snprintf(words, size, "not there, but \"%.80s\"", t->tensor[0].name);
    else n = (size_t)snprintf(words, size, "%s of shape (", spot_dtype_name(e->type));
    for (int i = 0; e && i < e->rank; i++)
        n += (size_t)snprintf(words + n, size - n, "%s%" PRId64 "%s", i ? ", " : "", e->dim[i], i < e->rank - 1 ? "" : ")");
}

/* *e points into t. */
static spot_status open_file(spot_ctx *c, spot_tensors *t, const spot_tensor **e, const char *path)
{
    const spot_tensor *found;
    char words[256];

    SPOT_TRY(spot_tensors_open(c, t, path));
    *e = found = spot_tensors_find(t, "embedding");
    if (found && found->type == SPOT_F32 && found->rank == 2 && found->dim[0] > 0 && found->dim[1] > 0
        && found->dim[1] < MOST_COLUMNS) return SPOT_OK;
    describe_tensor(words, sizeof words, t, found);
    spot_tensors_close(t);
    return spot_fail(c, SPOT_INPUT, "{embedding.tensor} %s: the tensor \"embedding\" is %s; one of type F32 and shape (images, "
                     "features) is wanted", path, words);
}

/* The columns of the first readable file; else the first file's error. */
static spot_status columns_of(spot_ctx *c, int *columns, const char *folder, struct dirent **entry, int files)
{
    spot_ctx quiet = { 0 };
    spot_status s = SPOT_OK;

    for (int i = 0; i < files; i++) {
        const spot_tensor *e;
        spot_tensors t;
        char path[PATH];
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        s = open_file(&quiet, &t, &e, path);
        if (s) continue;                                   /* quiet keeps the first reason */
        *columns = (int)e->dim[1];
        spot_tensors_close(&t);
        return SPOT_OK;
    }
    if (files == 1) return spot_fail_from(c, s, &quiet);
    if (files) spot_fail_from(c, s, &quiet);
    if (files) return spot_fail(c, s, "%s; nor can the other files be read", spot_take_message(c, s));
    return spot_fail(c, SPOT_INPUT, "{embedding.folder_empty} %s holds no file like ec-000000.safetensors; bdms[].embeddings "
                     "names a folder with one for each EC", folder);
}

spot_status spot_embedding_columns(spot_ctx *c, int *columns, const char *folder)
{
    struct dirent **entry = NULL;
    int files = scandir(folder, &entry, is_embedding, alphasort);
    spot_status s;

    if (files < 0)
        return spot_fail(c, SPOT_INPUT, "{embedding.unread} %s cannot be read: %s; bdms[].embeddings names a folder with a "
                         "file for each EC", folder, strerror(errno));
    s = columns_of(c, columns, folder, entry, files);
    for (int i = 0; i < files; i++) free(entry[i]);
    free(entry);
    return s;
}

static spot_key content_of(const spot_tensor *e)
{
    int columns = (int)e->dim[1];

    return spot_key_join(spot_key_of(e->data, e->bytes), "columns", &columns, sizeof columns);
}

static void path_of(char path[PATH], const char *folder, int ec) { snprintf(path, PATH, "%s/ec-%06d.safetensors", folder, ec); }

bool spot_embedding_content(spot_key *content, const char *folder, int ec)
{
    spot_ctx quiet = { 0 };
    const spot_tensor *e;
    spot_tensors t;
    char path[PATH];

    path_of(path, folder, ec);
    if (open_file(&quiet, &t, &e, path)) return false;
    *content = content_of(e);
    spot_tensors_close(&t);
    return true;
}

static spot_status take_features(spot_ctx *c, spot_arena *a, spot_view *v, spot_key *content, const spot_tensor *e,
                                 int columns, const char *path)
{
    size_t d = (size_t)e->dim[1];

    if (e->dim[0] != v->n)
        return spot_fail(c, SPOT_INPUT, "{embedding.rows} %s: %lld rows for the %d positive test images of this EC (`spotter "
                         "view` lists them)", path, (long long)e->dim[0], v->n);
    if (e->dim[1] != columns)
        return spot_fail(c, SPOT_INPUT, "{embedding.columns} %s: rows of %lld numbers where the first file of the folder has "
                         "%d", path, (long long)e->dim[1], columns);
    SPOT_TRY(SPOT_TAKE(c, a, v->feature, v->n * d));
    memcpy(v->feature, e->data, e->bytes);
    for (size_t i = 0; i < v->n * d; i++)
        if (!(fabsf(v->feature[i]) <= SPOT_LARGEST_FEATURE))
            return spot_fail(c, SPOT_INPUT, "{features.value} %s: feature %zu of row %zu is %g; features must be finite and "
                             "within %g", path, i % d, i / d, v->feature[i], SPOT_LARGEST_FEATURE);
    v->d = (int)d;
    v->head = NULL;
    *content = content_of(e);
    return SPOT_OK;
}

spot_status spot_embedding_read(spot_ctx *c, spot_arena *a, spot_view *v, spot_key *content, const char *folder, int ec,
                                int columns)
{
    const spot_tensor *e;
    spot_tensors t;
    char path[PATH];
    spot_status s;

    path_of(path, folder, ec);
    if (access(path, F_OK))
        return spot_fail(c, SPOT_INPUT,
                         "{embedding.missing} %s is not there; bdms[].embeddings names a folder with a file for each EC", path);
    SPOT_TRY(open_file(c, &t, &e, path));
    s = take_features(c, a, v, content, e, columns, path);
    spot_tensors_close(&t);
    return s;
}
