/* embedding.c - reads features that another program made. */
#define _GNU_SOURCE
#include "sweep/embedding.h"

#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/safetensors.h"

enum { PATH = 512 };

static int is_embedding(const struct dirent *e) { return !fnmatch("ec-[0-9]*.safetensors", e->d_name, 0); }

/* *e stays within t. */
static spot_status open_file(spot_ctx *c, spot_tensors *t, const spot_tensor **e, const char *path)
{
    SPOT_TRY(spot_tensors_open(c, t, path));
    *e = spot_tensors_find(t, "embedding");
    if (*e && (*e)->type == SPOT_F32 && (*e)->rank == 2 && (*e)->dim[0] > 0 && (*e)->dim[1] > 0 && (*e)->dim[1] < 1 << 20)
        return SPOT_OK;
    spot_tensors_close(t);
    return spot_fail(c, SPOT_INPUT, "%s: a tensor \"embedding\" of type F32 and shape (images, features) is wanted", path);
}

int spot_embedding_columns(const char *folder)
{
    struct dirent **entry = NULL;
    int files = scandir(folder, &entry, is_embedding, alphasort), columns = 0;

    for (int i = 0; i < files; i++) {
        spot_ctx quiet = { 0 };
        const spot_tensor *e;
        spot_tensors t;
        char path[PATH];
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (!columns && open_file(&quiet, &t, &e, path) == SPOT_OK) {
            columns = (int)e->dim[1];
            spot_tensors_close(&t);
        }
        free(entry[i]);
    }
    free(entry);
    return columns;
}

static spot_status take(spot_ctx *c, spot_arena *a, spot_view *v, spot_key *content, const spot_tensor *e, int columns,
                        const char *path)
{
    size_t d = (size_t)e->dim[1];

    if (e->dim[0] != v->n)
        return spot_fail(c, SPOT_INPUT, "%s: %lld rows for the %d positive test images of this EC (`spotter view` lists them)",
                         path, (long long)e->dim[0], v->n);
    if (e->dim[1] != columns)
        return spot_fail(c, SPOT_INPUT, "%s: rows of %lld numbers where the first file of the folder has %d", path,
                         (long long)e->dim[1], columns);
    SPOT_TRY(SPOT_TAKE(c, a, v->feature, v->n * d));
    memcpy(v->feature, e->data, e->bytes);
    for (size_t i = 0; i < v->n * d; i++)
        if (!isfinite(v->feature[i]))
            return spot_fail(c, SPOT_INPUT, "%s: number %zu of row %zu is %g; an embedding must be finite", path, i % d, i / d,
                             v->feature[i]);
    v->d = (int)d;
    v->head = NULL;
    *content = spot_key_join(spot_key_of(e->data, e->bytes), "columns", &v->d, sizeof v->d);
    return SPOT_OK;
}

spot_status spot_embedding_read(spot_ctx *c, spot_arena *a, spot_view *v, spot_key *content, const char *folder, int ec,
                                int columns)
{
    const spot_tensor *e;
    spot_tensors t;
    char path[PATH];
    spot_status s;

    snprintf(path, sizeof path, "%s/ec-%06d.safetensors", folder, ec);
    if (access(path, F_OK))
        return spot_fail(c, SPOT_INPUT, "%s is not there; bdms[].embeddings names a folder with a file for each EC", path);
    SPOT_TRY(open_file(c, &t, &e, path));
    s = take(c, a, v, content, e, columns, path);
    spot_tensors_close(&t);
    return s;
}
