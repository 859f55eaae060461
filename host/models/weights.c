/* weights.c - a model as a .safetensors file with torchvision's names. */
#include <stdio.h>
#include <string.h>

#include "formats/safetensors.h"
#include "models/finite.h"
#include "models/network.h"

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
    const int count = spot_model_tensors(m->arch);
    spot_model_tensor table[SPOT_MAX_TENSORS];
    spot_tensor entry[SPOT_MAX_TENSORS];

    spot_model_layout(table, m->arch, m->width, m->outputs);
    for (int t = 0; t < count; t++) entry[t] = entry_of(m, &table[t]);
    return spot_tensors_save(c, path, entry, count);
}

static spot_status same_shape(spot_ctx *c, const spot_tensor *have, const spot_model_tensor *want, int arch, const char *path)
{
    bool same = have->rank == want->rank && have->type == (want->rank ? SPOT_F32 : SPOT_I64);

    for (int i = 0; same && i < want->rank; i++) same = have->dim[i] == want->dim[i];
    if (!same)
        return spot_fail(c, SPOT_INPUT, "%s: %s (%.20s) has not the type and shape that %s gives it there", path, want->name,
                         have->dtype, spot_arch_name(arch));
    return SPOT_OK;
}

bool spot_weights_arch(const spot_tensors *file, int *arch)
{
    if (spot_tensors_find(file, "features.0.weight") && spot_tensors_find(file, "classifier.6.weight"))
        return *arch = SPOT_ARCH_ALEXNET, true;
    *arch = spot_tensors_find(file, "layer1.2.conv1.weight") ? SPOT_ARCH_RESNET34 : SPOT_ARCH_RESNET18;
    return spot_tensors_find(file, "conv1.weight") && spot_tensors_find(file, "fc.weight");
}

/* The first and last tensors give width and outputs; the others must agree. */
static spot_status read_sizes(spot_ctx *c, const spot_tensors *file, const char *path, spot_model *had)
{
    const bool known = spot_weights_arch(file, &had->arch);
    const spot_architecture *t = spot_architecture_of(had->arch);
    char stem[48], head[48];
    const spot_tensor *first, *last;

    snprintf(stem, sizeof stem, "%s.weight", t->stem);
    snprintf(head, sizeof head, "%s.weight", t->head);
    first = spot_tensors_find(file, stem);
    last = spot_tensors_find(file, head);
    if (!known) return spot_fail(c, SPOT_INPUT, "{weights.no_tensor} %s has no %s: not torchvision's %s", path,
                                 first ? head : stem, t->name);
    if (first->rank != 4 || last->rank != 2 || first->dim[0] < SPOT_LEAST_WIDTH || first->dim[0] > SPOT_MOST_WIDTH
        || first->dim[0] % SPOT_LEAST_WIDTH || last->dim[0] < 1 || last->dim[0] > SPOT_MOST_OUTPUTS)
        return spot_fail(c, SPOT_INPUT, "%s: %s or %s has a shape that no %s of width %d to %d has", path, stem, head, t->name,
                         SPOT_LEAST_WIDTH, SPOT_MOST_WIDTH);
    had->width = (int)first->dim[0];
    had->outputs = (int)last->dim[0];
    return SPOT_OK;
}

static spot_status fill_model(spot_ctx *c, spot_model *m, const spot_tensors *file, const char *path, int had, uint64_t seed)
{
    const int count = spot_model_tensors(m->arch);
    spot_model_tensor table[SPOT_MAX_TENSORS], stored[SPOT_MAX_TENSORS];

    spot_model_layout(table, m->arch, m->width, m->outputs);
    spot_model_layout(stored, m->arch, m->width, had);
    for (int t = 0; t < count; t++) {
        const spot_tensor *e = spot_tensors_find(file, table[t].name);
        if (!e && !table[t].rank) continue;            /* counts of batches: old files lack them, and nothing reads them */
        if (!e)
            return spot_fail(c, SPOT_INPUT, "{weights.no_tensor} %s has no %s: not torchvision's %s", path, table[t].name,
                             spot_arch_name(m->arch));
        SPOT_TRY(same_shape(c, e, &stored[t], m->arch, path));
        if (t >= count - 2 && had != m->outputs)
            spot_model_start(m, t, seed, 0);
        else
            memcpy(table[t].rank ? (void *)(m->value + table[t].offset) : &m->batches_tracked, e->data, e->bytes);
    }
    for (int i = 0; i < file->count; i++) {
        int t = 0;
        while (t < count && strcmp(table[t].name, file->tensor[i].name)) t++;
        if (t == count)
            return spot_fail(c, SPOT_INPUT, "%s: %.80s is no tensor of %s", path, file->tensor[i].name,
                             spot_arch_name(m->arch));
    }
    if (!spot_all_finite(m->value, m->floats))
        return spot_fail(c, SPOT_INPUT, "{weights.value} %s holds a weight that is not a finite number", path);
    return SPOT_OK;
}

static spot_status check_is_no_pickle(spot_ctx *c, const char *path)
{
    spot_blob in;
    spot_status s;

    SPOT_TRY(spot_blob_open(c, &in, path));
    s = spot_tensors_check_no_pickle(c, &in);
    spot_blob_close(&in);
    return s;
}

spot_status spot_model_load(spot_ctx *c, spot_arena *a, spot_model *m, const char *path, int outputs, uint64_t seed)
{
    spot_tensors file;
    spot_model had = { 0 };
    spot_status s;

    SPOT_TRY(check_is_no_pickle(c, path));
    SPOT_TRY(spot_tensors_open(c, &file, path));
    s = read_sizes(c, &file, path, &had);
    if (!s) s = spot_model_take(c, a, m, had.arch, had.width, outputs > 0 ? outputs : had.outputs);
    if (!s && !a->counting) s = fill_model(c, m, &file, path, had.outputs, seed);
    spot_tensors_close(&file);
    return s;
}
