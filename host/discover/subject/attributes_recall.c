/* attributes_recall.c - the attributes that subject.safetensors keeps (subject_file.h). */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "discover/subject/attributes.h"
#include "formats/safetensors.h"

enum { PATH = 1200 };

/* The tensor's bytes are count; NULL: it is absent, or another. */
static const spot_tensor *tensor_of(const spot_tensors *all, const char *name, spot_dtype type, int64_t count)
{
    const spot_tensor *t = spot_tensors_find(all, name);

    return t && t->type == type && t->rank == 1 && (count < 0 || t->dim[0] == count) ? t : NULL;
}

static spot_status damaged(spot_ctx *c)
{
    return spot_fail(c, SPOT_INPUT, "{subject.damaged} the attributes of these findings are damaged: run spotter discover "
                     "again");
}

static spot_status take_items(spot_ctx *c, spot_attributes *a, const spot_tensors *all, const spot_tensor *names, int rows)
{
    const char *name = names->data, *end = name + names->dim[0];
    const spot_tensor *column, *third, *bits;
    int64_t items = 0;

    for (const char *p = name; p < end; p++) items += !*p;
    spot_attributes_begin(a, rows);
    column = tensor_of(all, "attribute_columns", SPOT_I32, items);
    third = tensor_of(all, "attribute_thirds", SPOT_U8, items);
    bits = tensor_of(all, "attribute_bits", SPOT_U8, items * (int64_t)a->words * 8);
    if (!column || !third || !bits || (name < end && end[-1]))
        return damaged(c);
    for (int64_t i = 0, last = 0; i < items; i++, name += strlen(name) + 1) {
        const size_t bytes = a->words * sizeof(uint64_t);
        uint64_t *bit;
        int32_t at;
        memcpy(&at, (const char *)column->data + i * 4, sizeof at);
        if (at < last || at > 1 << 24)
            return damaged(c);
        SPOT_TRY(spot_attributes_item(c, a, at, &bit, "%s", name));
        memcpy(bit, (const char *)bits->data + (size_t)i * bytes, bytes);
        if (rows % 64 || !rows) bit[a->words - 1] &= ((uint64_t)1 << rows % 64) - 1;
        a->third[i] = ((const uint8_t *)third->data)[i] != 0;
        last = at;
    }
    return SPOT_OK;
}

spot_status spot_attributes_recall(spot_ctx *c, spot_attributes *a, const char *dir)
{
    const spot_tensor *about, *names;
    spot_status how = SPOT_OK;
    spot_tensors all;
    char path[PATH];
    int64_t rows;

    *a = (spot_attributes){ 0 };
    if (snprintf(path, sizeof path, "%s/subject.safetensors", dir) >= PATH)
        return spot_fail(c, SPOT_USAGE, "the name of the folder is longer than %d bytes", PATH - 24);
    SPOT_TRY(spot_tensors_open(c, &all, path));
    about = tensor_of(&all, "about", SPOT_I64, -1);
    names = tensor_of(&all, "attribute_names", SPOT_U8, -1);
    if (names && about && about->dim[0] > 1) {
        memcpy(&rows, (const char *)about->data + 8, sizeof rows);
        how = rows > 0 && rows < INT_MAX ? take_items(c, a, &all, names, (int)rows) : SPOT_OK;
    }
    spot_tensors_close(&all);
    if (how) spot_attributes_close(a);
    return how;
}
