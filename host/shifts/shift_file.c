/* shift_file.c - the file of a unit's pictures: paths, similarities, what passes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "formats/tensor_fields.h"
#include "shifts/shift_result.h"
#include "store/store.h"

void spot_shift_pictures_path(char *path, size_t size, const char *dir, int unit)
{
    snprintf(path, size, "%s/similarities/%03d/shift-%06d.safetensors", dir, unit / SPOT_ECS_A_FOLDER, unit);
}

spot_status spot_shift_pictures_write(spot_ctx *c, const char *dir, int unit, const spot_shift_pictures_result *p)
{
    const size_t n = (size_t)p->n;
    spot_text paths = { 0 };
    char path[1300];
    spot_status s;

    for (size_t i = 0; i < n; i++) spot_text_add(&paths, p->path[i], strlen(p->path[i]) + 1);
    s = paths.status ? spot_fail(c, SPOT_NOMEM, "no memory for the paths of %d pictures", p->n) : SPOT_OK;
    const spot_tensor tensor[] = {
        spot_tensor_of("class", SPOT_I32, n, 0, p->cls),
        spot_tensor_of("pass", SPOT_U8, n, 0, p->pass),
        spot_tensor_of("path", SPOT_U8, paths.used, 0, paths.bytes),
        spot_tensor_of("right", SPOT_I32, n, 0, p->right),
        spot_tensor_of("similarity", SPOT_F32, n, p->columns, p->similarity),
    };
    spot_shift_pictures_path(path, sizeof path, dir, unit);
    if (s == SPOT_OK) s = spot_folder_of(c, path);
    if (s == SPOT_OK) s = spot_tensors_save(c, path, tensor, p->columns ? 5 : 4);
    spot_text_free(&paths);
    return s;
}

static spot_status copy_paths(spot_ctx *c, spot_shift_pictures_result *p, const spot_tensors *t, const char *path)
{
    const spot_tensor *x = spot_tensors_find(t, "path");
    char *text = NULL, *end;

    if (x) SPOT_TRY(spot_field_copy(c, &text, t, "path", SPOT_U8, x->bytes, path));
    p->owned = text;
    p->path = malloc(((size_t)p->n + 1) * sizeof *p->path);
    if (!p->path) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    for (int i = 0; i < p->n; i++) {
        end = text ? memchr(text, 0, x->bytes - (size_t)(text - (char *)p->owned)) : NULL;
        if (!end) return spot_fail(c, SPOT_INPUT, "%s: the tensor path is not what this program writes", path);
        if (spot_name_leads_out(text))
            return spot_fail(c, SPOT_INPUT, "{shifts.outside} %s names a picture that leads out of its folder, \"%.300s\"; no "
                             "run writes such names, so take the run from its author anew", path, text);
        p->path[i] = text;
        text = end + 1;
    }
    return SPOT_OK;
}

static spot_status copy_all(spot_ctx *c, spot_shift_pictures_result *p, const spot_tensors *t, const char *path)
{
    const spot_tensor *pass = spot_tensors_find(t, "pass"), *similar = spot_tensors_find(t, "similarity");

    if (!pass || pass->rank != 1 || pass->dim[0] > 1 << 30) return spot_fail(c, SPOT_INPUT, "%s has no tensor pass", path);
    p->n = (int)pass->dim[0];
    if (similar && similar->rank == 2 && similar->dim[1] < 1000) p->columns = (int)similar->dim[1];
    SPOT_TRY(spot_field_copy(c, &p->pass, t, "pass", SPOT_U8, (size_t)p->n, path));
    SPOT_TRY(spot_field_copy(c, &p->cls, t, "class", SPOT_I32, (size_t)p->n, path));
    SPOT_TRY(spot_field_copy(c, &p->right, t, "right", SPOT_I32, (size_t)p->n, path));
    if (p->columns)
        SPOT_TRY(spot_field_copy(c, &p->similarity, t, "similarity", SPOT_F32, (size_t)p->n * (size_t)p->columns, path));
    return copy_paths(c, p, t, path);
}

/* Whoever reads the numbers uses them as indices. */
static spot_status check_numbers(spot_ctx *c, const spot_shift_pictures_result *p, const spot_shift_result *u, const char *path)
{
    bool good = p->n == u->pictures && p->columns == u->columns;

    for (int i = 0; i < p->n && good; i++)
        good = p->cls[i] >= (i ? p->cls[i - 1] : 0) && p->cls[i] < u->classes && p->right[i] >= 0 && p->right[i] <= u->models;
    for (size_t i = 0; i < (size_t)p->n * (size_t)p->columns && good; i++) good = isfinite(p->similarity[i]);
    if (good) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{shifts.file} %s does not fit the result of %s; remove this file and the segment of "
                     "folder %d, and run `spotter shifts` again", path, u->name, u->index);
}

spot_status spot_shift_pictures_read(spot_ctx *c, spot_shift_pictures_result *p, const char *dir, const spot_shift_result *u)
{
    char path[1300];
    spot_tensors t;
    spot_status s;

    *p = (spot_shift_pictures_result){ 0 };
    spot_shift_pictures_path(path, sizeof path, dir, u->index);
    SPOT_TRY(spot_tensors_open(c, &t, path));
    s = copy_all(c, p, &t, path);
    if (s == SPOT_OK) s = check_numbers(c, p, u, path);
    spot_tensors_close(&t);
    return s;
}

void spot_shift_pictures_free(spot_shift_pictures_result *p)
{
    free(p->path), free(p->cls), free(p->similarity), free(p->pass), free(p->right), free(p->owned);
    *p = (spot_shift_pictures_result){ 0 };
}
