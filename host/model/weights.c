/* weights.c - a model as a .safetensors file with torchvision's 122 names. */
#include <limits.h>
#include <string.h>

#include "formats/safetensors.h"
#include "model/finite.h"
#include "model/resnet18.h"

/* num_batches_tracked is the one entry of integers: int64, no dimensions. */
static spot_tensor entry_of(const spot_model *m, const spot_model_tensor *t)
{
    spot_tensor e = { .name = t->name, .type = t->rank ? SPOT_F32 : SPOT_I64, .rank = t->rank };

    for (int i = 0; i < t->rank; i++) e.dim[i] = t->dim[i];
    e.data = t->rank ? (const void *)(m->value + t->offset) : &m->batches_tracked;
    e.bytes = t->rank ? t->count * sizeof(float) : sizeof m->batches_tracked;
    return e;
}

spot_status spot_model_save(spot_ctx *c, const char *path, const spot_model *m)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS];
    spot_tensor entry[SPOT_RESNET18_TENSORS];

    spot_model_layout(table, m->width, m->outputs);
    for (int t = 0; t < SPOT_RESNET18_TENSORS; t++) entry[t] = entry_of(m, &table[t]);
    return spot_tensors_save(c, path, entry, SPOT_RESNET18_TENSORS);
}

static spot_status same_shape(spot_ctx *c, const spot_tensor *have, const spot_model_tensor *want, const char *path)
{
    bool same = have->rank == want->rank && have->type == (want->rank ? SPOT_F32 : SPOT_I64);

    for (int i = 0; same && i < want->rank; i++) same = have->dim[i] == want->dim[i];
    if (!same)
        return spot_fail(c, SPOT_INPUT, "%s: %s (%.20s) has not the type and shape that ResNet-18 gives it there", path,
                         want->name, have->dtype);
    return SPOT_OK;
}

/* The first and last tensors give width and outputs; the others must agree. */
static spot_status read_sizes(spot_ctx *c, const spot_tensors *file, const char *path, int *width, int *outputs)
{
    const spot_tensor *stem = spot_tensors_find(file, "conv1.weight"), *fc = spot_tensors_find(file, "fc.weight");

    if (!stem || !fc)
        return spot_fail(c, SPOT_INPUT, "%s has no %s: not torchvision's ResNet-18", path, stem ? "fc.weight" : "conv1.weight");
    if (stem->rank != 4 || fc->rank != 2 || stem->dim[0] < SPOT_LEAST_WIDTH || stem->dim[0] > SPOT_MOST_WIDTH
        || stem->dim[0] % SPOT_LEAST_WIDTH || fc->dim[0] < 1 || fc->dim[0] > SPOT_MOST_OUTPUTS)
        return spot_fail(c, SPOT_INPUT, "%s: conv1.weight or fc.weight has a shape that no ResNet-18 of width %d to %d has",
                         path, SPOT_LEAST_WIDTH, SPOT_MOST_WIDTH);
    *width = (int)stem->dim[0];
    *outputs = (int)fc->dim[0];
    return SPOT_OK;
}

static spot_status fill_model(spot_ctx *c, spot_model *m, const spot_tensors *file, const char *path, int had, uint64_t seed)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS], stored[SPOT_RESNET18_TENSORS];

    spot_model_layout(table, m->width, m->outputs);
    spot_model_layout(stored, m->width, had);
    for (int t = 0; t < SPOT_RESNET18_TENSORS; t++) {
        const spot_tensor *e = spot_tensors_find(file, table[t].name);
        if (!e && !table[t].rank) continue;            /* counts of batches: old files lack them, and nothing reads them */
        if (!e) return spot_fail(c, SPOT_INPUT, "%s has no %s: not torchvision's ResNet-18", path, table[t].name);
        SPOT_TRY(same_shape(c, e, &stored[t], path));
        if (t >= 120 && had != m->outputs)
            spot_model_start(m, t, seed, 0);
        else
            memcpy(table[t].rank ? (void *)(m->value + table[t].offset) : &m->batches_tracked, e->data, e->bytes);
    }
    for (int i = 0; i < file->count; i++) {
        int t = 0;
        while (t < SPOT_RESNET18_TENSORS && strcmp(table[t].name, file->tensor[i].name)) t++;
        if (t == SPOT_RESNET18_TENSORS)
            return spot_fail(c, SPOT_INPUT, "%s: %.80s is no tensor of ResNet-18", path, file->tensor[i].name);
    }
    if (!spot_all_finite(m->value, m->floats))
        return spot_fail(c, SPOT_INPUT, "%s holds a weight that is not a finite number", path);
    return SPOT_OK;
}

static spot_status check_is_no_zip(spot_ctx *c, const char *path)
{
    spot_blob in;
    spot_status s;

    SPOT_TRY(spot_blob_open(c, &in, path));
    s = spot_tensors_check_no_zip(c, &in);
    spot_blob_close(&in);
    return s;
}

spot_status spot_model_load(spot_ctx *c, spot_arena *a, spot_model *m, const char *path, int outputs, uint64_t seed)
{
    spot_tensors file;
    int width = 0, had = 0;
    spot_status s;

    SPOT_TRY(check_is_no_zip(c, path));
    SPOT_TRY(spot_tensors_open(c, &file, path));
    s = read_sizes(c, &file, path, &width, &had);
    if (!s) s = spot_model_take(c, a, m, width, outputs > 0 ? outputs : had);
    if (!s && !a->counting) s = fill_model(c, m, &file, path, had, seed);
    spot_tensors_close(&file);
    return s;
}
