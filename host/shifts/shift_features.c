/* shift_features.c - the features of a folder's pictures: from files of embeddings, or by the encoder, piece by piece, through
 * the cache. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "shifts/shift_encoding.h"

enum { PIECE = 2048 };         /* pictures that are computed and kept together, rounded to the encoder's blocks */

/* ---- embeddings in files ---- */

void spot_shift_embedding_path(char *path, size_t size, const spot_shifts_config *cfg, const char *id, bool file_alone)
{
    snprintf(path, size, "%s/%s.safetensors", cfg->encoder.embeddings, id);
    if (access(path, F_OK)) snprintf(path, size, "%s/%s.npy", cfg->encoder.embeddings, id);
    else if (!file_alone) snprintf(path, size, "%s/%s.safetensors:embeddings", cfg->encoder.embeddings, id);
}

size_t spot_shift_embedding_bytes(const spot_shifts_config *cfg, const char *id)
{
    char path[SPOT_SHIFT_PATH + 600];
    struct stat st;

    if (!cfg->encoder.embeddings[0]) return 0;
    spot_shift_embedding_path(path, sizeof path, cfg, id, true);
    return stat(path, &st) ? 0 : 3 * (size_t)st.st_size;
}

spot_status spot_shift_embeddings_read(spot_ctx *c, spot_shift_encoding *e, spot_array *id, float **rows, const char *what)
{
    char path[SPOT_SHIFT_PATH + 600];
    spot_array a = { 0 };
    spot_status s;

    *rows = NULL;
    spot_shift_embedding_path(path, sizeof path, e->cfg, what, false);
    SPOT_TRY(spot_array_read(c, &a, path, 0));
    if (a.rank != 2 || a.dim[1] < 1 || a.dim[1] > 65536)
        s = spot_fail(c, SPOT_INPUT, "%s is no table of embeddings, (rows, columns)", a.name);
    else if (e->dim && a.dim[1] != e->dim)
        s = spot_fail(c, SPOT_INPUT, "%s has %d columns, and the captions have %d; were they made by two encoders?", a.name,
                      (int)a.dim[1], e->dim);
    else s = spot_array_floats(c, rows, &a);
    if (s == SPOT_OK) e->dim = (int)a.dim[1];
    snprintf(path, sizeof path, "%s/%s.csv:id", e->cfg->encoder.embeddings, what);
    if (s == SPOT_OK) s = spot_array_read(c, id, path, 0);
    if (s == SPOT_OK && id->type != SPOT_WORDS) s = spot_fail(c, SPOT_INPUT, "%s holds numbers; ids are words", id->name);
    if (s == SPOT_OK && id->count != (size_t)a.dim[0])
        s = spot_fail(c, SPOT_INPUT, "%s has %zu rows, and %s has %d", id->name, id->count, a.name, (int)a.dim[0]);
    spot_array_close(&a);
    return s;
}

/* The row whose id is the word; order: the ids sorted. -1: none. */
static int find_row(char *const *id, const int *order, int n, const char *word)
{
    int low = 0, high = n;

    while (low < high) {
        const int middle = (low + high) / 2, way = strcmp(id[order[middle]], word);
        if (!way) return order[middle];
        if (way < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

spot_status spot_shift_embeddings_pick(spot_ctx *c, float *feature, const spot_array *id, const float *rows, int dim,
                                       const char *const *word, int n)
{
    int *order = malloc((id->count + 1) * sizeof *order);

    if (!order) return spot_fail(c, SPOT_NOMEM, "no memory to look up %d rows", n);
    spot_words_sort(order, id->data, (int)id->count);
    for (int i = 0; i < n; i++) {
        const int row = find_row(id->data, order, (int)id->count, word[i]);
        if (row < 0) {
            free(order);
            return spot_fail(c, SPOT_INPUT, "%s has no row for \"%.300s\"", id->name, word[i]);
        }
        memcpy(feature + (size_t)i * dim, rows + (size_t)row * dim, (size_t)dim * sizeof *feature);
    }
    free(order);
    return SPOT_OK;
}

/* ---- features ---- */

int spot_shift_piece(const spot_shift_encoding *e)
{
    const int block = e->encoder ? spot_encoder_about(e->encoder)->picture_block : 1;

    return block < PIECE ? PIECE / block * block : block;
}

static spot_status read_files(spot_ctx *c, spot_shift_encoding *e, float *feature, const spot_array *id, const float *rows,
                              const spot_shift_pictures *p)
{
    SPOT_TRY(spot_shift_embeddings_pick(c, feature, id, rows, e->dim, (const char *const *)p->list.path, p->list.n));
    spot_shift_progress_add(c, e->progress, p->list.n, p->id);
    return SPOT_OK;
}

static spot_status encode_piece(spot_ctx *c, spot_shift_encoding *e, float *feature, const spot_shift_pictures *p, int from,
                                int n)
{
    const spot_shift_progress *done = e->progress;
    char **path = spot_shift_paths(p, from, n);
    spot_status s;

    if (!path) return spot_fail(c, SPOT_NOMEM, "no memory for the names of %d pictures", n);
    s = spot_encode_pictures(c, e->encoder, &(spot_encoder_pictures){ .path = path, .n = n, .feature = feature,
                             .stage = done->total < INT_MAX ? "shifts" : NULL, .before = (int)fmin(done->done, INT_MAX),
                             .total = (int)fmin(done->total, INT_MAX) });
    free(path);
    return s;
}

static spot_status find_features(spot_ctx *c, spot_shift_encoding *e, float *feature, const spot_shift_pictures *p, int from,
                                 int n)
{
    const size_t bytes = (size_t)n * e->dim * sizeof *feature;
    spot_key key = spot_key_join(spot_key_of(p->hash, strlen(p->hash)), "features", e->name, strlen(e->name));
    unsigned char *kept = NULL;
    size_t size = 0;
    bool found = false;
    spot_status s = SPOT_OK;

    key = spot_key_join(key, "piece", &(int[]){ from, n }, 2 * sizeof(int));
    SPOT_TRY(spot_store_get(c, e->store, key, "features", &kept, &size, &found));
    found = found && size == bytes;
    if (found) memcpy(feature, kept, bytes);
    free(kept);
    if (!found) s = encode_piece(c, e, feature, p, from, n);
    if (!found && s == SPOT_OK) s = spot_store_put(c, e->store, key, "features", feature, bytes);
    if (s == SPOT_OK) spot_shift_progress_add(c, e->progress, n, p->id);
    return s;
}

spot_status spot_shift_features(spot_ctx *c, spot_shift_encoding *e, float **feature, const spot_shift_pictures *p)
{
    const int n = p->list.n, piece = spot_shift_piece(e);
    spot_array id = { 0 };
    float *rows = NULL;
    spot_status s = SPOT_OK;

    *feature = NULL;
    if (!e->encoder) s = spot_shift_embeddings_read(c, e, &id, &rows, p->id);
    if (s == SPOT_OK) *feature = malloc(((size_t)n * e->dim + 1) * sizeof **feature);
    if (s == SPOT_OK && !*feature) s = spot_fail(c, SPOT_NOMEM, "no memory for the embeddings of %d pictures", n);
    if (s == SPOT_OK && !e->encoder) s = read_files(c, e, *feature, &id, rows, p);
    for (int from = 0; from < n && s == SPOT_OK && e->encoder; from += piece) {
        s = spot_check_stop(c);
        if (s == SPOT_OK)
            s = find_features(c, e, *feature + (size_t)from * e->dim, p, from, n - from < piece ? n - from : piece);
    }
    spot_array_close(&id);
    free(rows);
    return s;
}
