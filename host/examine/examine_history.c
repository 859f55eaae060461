/* examine_history.c - the file of all renders of a unit, which an interrupted search goes on from. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examine/examine_result.h"
#include "formats/safetensors.h"
#include "store/store.h"

enum { MOST = 100000000 };             /* renders of a file */

void spot_examine_history_path(char *path, size_t size, const char *dir, int unit)
{
    snprintf(path, size, "%s/searches/%03d/unit-%06d.safetensors", dir, unit / SPOT_ECS_A_FOLDER, unit);
}

spot_status spot_examine_history_take(spot_ctx *c, spot_examine_history *h, int renders, int dims)
{
    const size_t n = (size_t)renders + 1;

    *h = (spot_examine_history){ .renders = renders, .dims = dims };
    h->at = calloc(n * (size_t)dims, sizeof *h->at);
    h->p = calloc(n, sizeof *h->p);
    h->valid = calloc(n, sizeof *h->valid);
    h->answer = calloc(n, sizeof *h->answer);
    for (int f = 0; f < SPOT_FACTORS; f++) h->fixed.value[f] = NAN;
    return h->at && h->p && h->valid && h->answer ? SPOT_OK
         : spot_fail(c, SPOT_NOMEM, "no memory for the history of %d renders", renders);
}

void spot_examine_history_free(spot_examine_history *h)
{
    free(h->at), free(h->p), free(h->valid), free(h->answer);
    *h = (spot_examine_history){ 0 };
}

spot_status spot_examine_history_write(spot_ctx *c, const spot_examine_history *h, int renders, const spot_examine_progress *p,
                                       const char *dir, int unit)
{
    char path[SPOT_EXAMINE_PATH];

    spot_examine_history_path(path, sizeof path, dir, unit);
    return spot_examine_history_save(c, h, renders, p, path);
}

spot_status spot_examine_history_save(spot_ctx *c, const spot_examine_history *h, int renders, const spot_examine_progress *p,
                                      const char *path)
{
    const size_t n = (size_t)renders;
    const spot_tensor tensor[] = {
        spot_tensor_of("answer", SPOT_I32, n, 0, h->answer), spot_tensor_of("at", SPOT_F64, n, h->dims, h->at),
        spot_tensor_of("fixed", SPOT_F32, SPOT_FACTORS, 0, h->fixed.value), spot_tensor_of("p", SPOT_F32, n, 0, h->p),
        spot_tensor_of("robust", SPOT_F64, (size_t)p->points, 0, p->robust), spot_tensor_of("valid", SPOT_U8, n, 0, h->valid),
    };
    const spot_tensor_note note = { "key", p->key };

    SPOT_TRY(spot_folder_of(c, path));
    return spot_tensors_save_with(c, path, tensor, 6, &note, 1);
}

/* Copies a tensor of this type and n numbers. */
static bool copy_field(void *to, const spot_tensors *t, const char *name, spot_dtype type, size_t n)
{
    const spot_tensor *x = spot_tensors_find(t, name);

    if (!x || x->type != type || x->bytes != n * spot_dtype_size(type)) return false;
    if (x->bytes) memcpy(to, x->data, x->bytes);
    return true;
}

static bool copy_history(spot_examine_history *h, const spot_tensors *t, size_t n)
{
    return copy_field(h->answer, t, "answer", SPOT_I32, n) && copy_field(h->at, t, "at", SPOT_F64, n * (size_t)h->dims)
        && copy_field(h->fixed.value, t, "fixed", SPOT_F32, SPOT_FACTORS) && copy_field(h->p, t, "p", SPOT_F32, n)
        && copy_field(h->valid, t, "valid", SPOT_U8, n);
}

spot_status spot_examine_history_resume(spot_ctx *c, spot_examine_history *h, int *renders, spot_examine_progress *p,
                                        const char *dir, int unit)
{
    char path[SPOT_EXAMINE_PATH];
    spot_ctx quiet = { .ops = c->ops, .threads = c->threads };
    const spot_conditions fixed = h->fixed;
    spot_tensors t;

    *renders = p->points = 0;
    spot_examine_history_path(path, sizeof path, dir, unit);
    if (access(path, F_OK)) return SPOT_OK;
    if (spot_tensors_open(&quiet, &t, path)) {
        spot_log(c, SPOT_LOG_WARN, "%s; the search begins anew", quiet.message);
        return SPOT_OK;
    }
    const spot_tensor *x = spot_tensors_find(&t, "p"), *robust = spot_tensors_find(&t, "robust");
    const char *key = spot_tensors_note(&t, "key");
    if (x && robust && x->rank == 1 && x->dim[0] <= h->renders && robust->rank == 1 && robust->dim[0] <= SPOT_MAX_EXAMINE_POINTS
        && key && !strcmp(key, p->key) && copy_history(h, &t, (size_t)x->dim[0])
        && copy_field(p->robust, &t, "robust", SPOT_F64, (size_t)robust->dim[0]))
        *renders = (int)x->dim[0], p->points = (int)robust->dim[0];
    h->fixed = fixed;
    spot_tensors_close(&t);
    return SPOT_OK;
}

spot_status spot_examine_history_read(spot_ctx *c, spot_examine_history *h, const char *dir, int unit)
{
    char path[SPOT_EXAMINE_PATH];

    spot_examine_history_path(path, sizeof path, dir, unit);
    return spot_examine_history_load(c, h, path);
}

spot_status spot_examine_history_load(spot_ctx *c, spot_examine_history *h, const char *path)
{
    spot_tensors t;
    spot_status s = SPOT_OK;

    *h = (spot_examine_history){ 0 };
    SPOT_TRY(spot_tensors_open(c, &t, path));
    const spot_tensor *at = spot_tensors_find(&t, "at");
    const bool good = at && at->rank == 2 && at->dim[0] >= 0 && at->dim[0] <= MOST && at->dim[1] > 0
            && at->dim[1] <= SPOT_FACTORS;
    if (good) s = spot_examine_history_take(c, h, (int)at->dim[0], (int)at->dim[1]);
    if (s == SPOT_OK && (!good || !copy_history(h, &t, (size_t)at->dim[0])))
        s = spot_fail(c, SPOT_INPUT, "%s is not what this program writes; remove it and run `spotter examine` again", path);
    for (int i = 0; s == SPOT_OK && i < h->renders; i++)
        if (!(h->p[i] >= 0 && h->p[i] <= 1) || h->answer[i] < -1 || h->answer[i] >= SPOT_MAX_CATALOGUE_CLASSES)
            s = spot_fail(c, SPOT_INPUT, "%s: render %d has p %g and answer %d", path, i, h->p[i], h->answer[i]);
    if (s) spot_examine_history_free(h);
    spot_tensors_close(&t);
    return s;
}
