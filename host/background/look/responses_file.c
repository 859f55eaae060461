/* responses_file.c - the file of a model's responses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_result.h"
#include "formats/tensor_fields.h"
#include "store/store.h"

void spot_background_responses_path(char *path, size_t size, const char *dir, int unit)
{
    snprintf(path, size, "%s/responses/%03d/model-%06d.safetensors", dir, unit / SPOT_ECS_A_FOLDER, unit);
}

spot_status spot_background_responses_take(spot_ctx *c, spot_background_responses *r, int targets, int n, int own, int grid)
{
    const size_t images = (size_t)targets * (size_t)(n + 1), cells = (size_t)grid * (size_t)grid;

    *r = (spot_background_responses){ .targets = targets, .n = n, .sets = SPOT_BACKGROUND_SETS, .grid = grid, .own = own };
    r->signal = malloc(SPOT_BACKGROUND_MATRICES * images * sizeof *r->signal);
    r->answer = malloc(images * sizeof *r->answer);
    r->derived = malloc((size_t)targets * SPOT_BACKGROUND_SETS * sizeof *r->derived);
    r->of_own = malloc(((size_t)targets * (size_t)own + 1) * sizeof *r->of_own);
    r->matrix = malloc(SPOT_BACKGROUND_MATRICES * cells * sizeof *r->matrix);
    r->weight = malloc(cells * sizeof *r->weight);
    return r->signal && r->answer && r->derived && r->of_own && r->matrix && r->weight
         ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the responses to %zu pictures", images);
}

void spot_background_responses_free(spot_background_responses *r)
{
    free(r->signal), free(r->answer), free(r->derived), free(r->of_own), free(r->matrix), free(r->weight);
    free(r->owned);
    *r = (spot_background_responses){ 0 };
}

static spot_tensor tensor_of(const char *name, spot_dtype type, const void *data, int rank, int64_t a, int64_t b, int64_t d)
{
    spot_tensor t = { .name = name, .type = type, .rank = rank, .dim = { a, b, d }, .data = data };

    t.bytes = spot_dtype_size(type);
    for (int i = 0; i < rank; i++) t.bytes *= (size_t)t.dim[i];
    return t;
}

spot_status spot_background_responses_write(spot_ctx *c, const spot_background_responses *r, const char *dir, int unit)
{
    const int images = r->n + 1;
    const spot_tensor tensor[] = {
        tensor_of("answer", SPOT_I32, r->answer, 2, r->targets, images, 0),
        tensor_of("derived", SPOT_I32, r->derived, 2, r->targets, r->sets, 0),
        tensor_of("matrix", SPOT_F32, r->matrix, 3, SPOT_BACKGROUND_MATRICES, r->grid, r->grid),
        tensor_of("own", SPOT_I32, r->of_own, 2, r->targets, r->own, 0),
        tensor_of("signal", SPOT_F32, r->signal, 3, SPOT_BACKGROUND_MATRICES, r->targets, images),
        tensor_of("weight", SPOT_F32, r->weight, 2, r->grid, r->grid, 0),
    };
    char path[SPOT_BACKGROUND_PATH];

    spot_background_responses_path(path, sizeof path, dir, unit);
    SPOT_TRY(spot_folder_of(c, path));
    return spot_tensors_save(c, path, tensor, 6);
}

/* The answers before backgrounds of the object's own class: none where the run looked at none. */
static spot_status read_own(spot_ctx *c, spot_background_responses *r, const spot_tensors *t, int classes, const char *path)
{
    const spot_tensor *own = spot_tensors_find(t, "own");

    if (!own || own->rank != 2 || own->dim[0] != r->targets || own->dim[1] < 0 || own->dim[1] > SPOT_MAX_BACKGROUNDS)
        return spot_fail(c, SPOT_INPUT, "%s: the tensor own is not what this program writes", path);
    r->own = (int)own->dim[1];
    if (!r->own) return SPOT_OK;
    return spot_field_ints(c, &r->of_own, t, "own", (size_t)r->targets * (size_t)r->own, -2, classes - 1, path);
}

spot_status spot_background_responses_read(spot_ctx *c, spot_background_responses *r, const char *dir,
                                           const spot_background_result *u)
{
    const size_t images = (size_t)u->targets * (size_t)(u->n + 1);
    char path[SPOT_BACKGROUND_PATH];
    spot_tensors t;
    spot_status s;

    *r = (spot_background_responses){ .targets = u->targets, .n = u->n, .sets = SPOT_BACKGROUND_SETS };
    spot_background_responses_path(path, sizeof path, dir, u->index);
    SPOT_TRY(spot_tensors_open(c, &t, path));
    const spot_tensor *w = spot_tensors_find(&t, "weight");
    s = w && w->rank == 2 && w->dim[0] == w->dim[1] && w->dim[0] >= 2 && w->dim[0] <= 1 << 14
      ? SPOT_OK : spot_fail(c, SPOT_INPUT, "%s: the tensor weight is not what this program writes", path);
    if (s == SPOT_OK) {
        const size_t cells = (size_t)w->dim[0] * (size_t)w->dim[0];
        r->grid = (int)w->dim[0];
        s = spot_field_copy(c, &r->weight, &t, "weight", SPOT_F32, cells, path);
        if (s == SPOT_OK) s = spot_field_copy(c, &r->matrix, &t, "matrix", SPOT_F32, SPOT_BACKGROUND_MATRICES * cells, path);
    }
    if (s == SPOT_OK) s = spot_field_copy(c, &r->signal, &t, "signal", SPOT_F32, SPOT_BACKGROUND_MATRICES * images, path);
    if (s == SPOT_OK) s = spot_field_ints(c, &r->answer, &t, "answer", images, -1, u->classes - 1, path);
    if (s == SPOT_OK)
        s = spot_field_ints(c, &r->derived, &t, "derived", (size_t)u->targets * SPOT_BACKGROUND_SETS, -2, u->classes - 1, path);
    if (s == SPOT_OK) s = read_own(c, r, &t, u->classes, path);
    spot_tensors_close(&t);
    return s;
}
