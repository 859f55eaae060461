/* weights.c - a model as a .safetensors file with torchvision's names. */
#include <stdlib.h>
#include <string.h>

#include "models/finite.h"
#include "models/weights_names.h"

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

static spot_status check_shape(spot_ctx *c, const spot_tensor *have, const spot_model_tensor *want, const spot_model *m,
                               const char *path)
{
    bool same = have->rank == want->rank;
    char found[120], wanted[120];
    int64_t dim[4];

    for (int i = 0; i < want->rank; i++) dim[i] = want->dim[i], same = same && have->dim[i] == dim[i];
    spot_shape_words(found, sizeof found, have->rank, have->dim);
    spot_shape_words(wanted, sizeof wanted, want->rank, dim);
    if (!same)
        return spot_fail(c, SPOT_INPUT, "{weights.shape} %s: %.80s has the shape %s; a %s of width %d has %s there", path,
                         have->name, found, spot_arch_name(m->arch), m->width, wanted);
    if (have->type != SPOT_F32 && have->type != SPOT_F16 && have->type != SPOT_BFLOAT16 && have->type != SPOT_F64)
        return spot_fail(c, SPOT_INPUT, "{weights.type} %s: %.80s is of type %.20s; F32, F16, BF16 and F64 are read", path,
                         have->name, have->dtype);
    return SPOT_OK;
}

/* The bytes of a tensor, which no address aligns, as floats. */
static void copy_floats(float *out, const spot_tensor *e, size_t count)
{
    enum { CHUNK = 512 };
    const size_t each = spot_dtype_size(e->type);
    spot_array part = { .type = e->type };
    double room[CHUNK], v[CHUNK];

    part.data = room;
    if (e->type == SPOT_F32) memcpy(out, e->data, count * sizeof *out);
    for (size_t at = 0; e->type != SPOT_F32 && at < count; at += CHUNK) {
        const size_t n = count - at < CHUNK ? count - at : CHUNK;
        memcpy(room, (const char *)e->data + at * each, n * each);
        spot_array_doubles(v, &part, 0, n);
        for (size_t i = 0; i < n; i++) out[at + i] = (float)v[i];
    }
}

/* The square root of a negative variance is no number, which a ReLU behind it would hide. */
static spot_status check_values(spot_ctx *c, const float *v, const spot_model_tensor *t, const char *name, const char *path)
{
    if (!spot_all_finite(v, t->count))
        return spot_fail(c, SPOT_INPUT, "{weights.value} %s: %.80s holds a weight that is not a finite number", path, name);
    for (size_t i = 0; !strcmp(strrchr(t->name, '.'), ".running_var") && i < t->count; i++)
        if (v[i] < 0)
            return spot_fail(c, SPOT_INPUT, "{weights.variance} %s: %.80s is %g for channel %zu (from 0); no variance is below "
                             "0, so these are no weights of a network", path, name, (double)v[i], i);
    return SPOT_OK;
}

/* The file that fill_model reads, and marks of the tensors that it has read. */
typedef struct { const spot_tensors *file; const char *path; const spot_weights_names *names; bool *read; } source;

/* One tensor; want: as the file must have it. Counts of batches: old files lack them, and nothing reads them. A head without a
 * bias has one of zeros. */
static spot_status fill_tensor(spot_ctx *c, const source *s, spot_model *m, const spot_model_tensor *want, float *to)
{
    const spot_weights_name name = spot_weights_name_of(s->names, want->name);
    const spot_tensor *e = spot_tensors_find(s->file, name.text);

    if (e) s->read[e - s->file->tensor] = true;
    if (!want->rank) {
        if (e && e->type == SPOT_I64 && e->bytes == sizeof m->batches_tracked)
            memcpy(&m->batches_tracked, e->data, e->bytes);
        return SPOT_OK;
    }
    if (!e && !s->names->bias && !strcmp(name.text + strlen(s->names->head), ".bias"))
        return memset(to, 0, want->count * sizeof *to), SPOT_OK;
    if (!e)
        return spot_fail(c, SPOT_INPUT, "{weights.no_tensor} %s has no %s: not torchvision's %s", s->path, name.text,
                         spot_arch_name(m->arch));
    SPOT_TRY(check_shape(c, e, want, m, s->path));
    copy_floats(to, e, want->count);
    return check_values(c, to, want, name.text, s->path);
}

/* Fills m, whose head begins anew where the file's has another number of outputs. */
static spot_status fill_model(spot_ctx *c, const source *s, spot_model *m, uint64_t seed)
{
    const int count = spot_model_tensors(m->arch), had = s->names->outputs, head = count - 2;
    spot_model_tensor table[SPOT_MAX_TENSORS];

    spot_model_layout(table, m->arch, m->width, had);
    for (int t = 0; t < head; t++) SPOT_TRY(fill_tensor(c, s, m, &table[t], m->value + table[t].offset));
    for (int t = head; t < count && had && had == m->outputs; t++)
        SPOT_TRY(fill_tensor(c, s, m, &table[t], m->value + table[t].offset));
    for (int t = head; t < count && had != m->outputs; t++) {
        const spot_tensor *e = spot_tensors_find(s->file, spot_weights_name_of(s->names, table[t].name).text);
        if (e) s->read[e - s->file->tensor] = true;
        spot_model_start(m, t, seed, 0);
    }
    for (int i = 0; i < s->file->count; i++)
        if (!s->read[i])
            return spot_fail(c, SPOT_INPUT, "{weights.other_tensor} %s: %.80s is no tensor of %s", s->path,
                             s->file->tensor[i].name, spot_arch_name(m->arch));
    return SPOT_OK;
}

static void say_what_was_found(spot_ctx *c, const spot_weights_names *n, const spot_model *m, const char *path)
{
    char words[400];

    spot_weights_words(words, sizeof words, n);
    if (*words || m->arch > SPOT_ARCH_ALEXNET)
        spot_log(c, SPOT_LOG_INFO, "%s: %s of width %d, %d outputs%s", path, spot_arch_name(m->arch), m->width, n->outputs,
                 words);
}

/* A counting a only counts. */
static spot_status load_from(spot_ctx *c, spot_arena *a, spot_model *m, const source *s, int outputs, uint64_t seed)
{
    const spot_weights_names *n = s->names;

    if (!n->outputs && !outputs)
        return spot_fail(c, SPOT_INPUT, "{weights.no_head} %s has no head behind the %d features of its %s: no fc, head, "
                         "classifier or linear; it serves where features alone are wanted", s->path,
                         spot_model_features(n->arch, n->width), spot_arch_name(n->arch));
    SPOT_TRY(spot_model_take(c, a, m, n->arch, n->width, outputs > 0 ? outputs : n->outputs));
    if (a->counting) return SPOT_OK;
    SPOT_TRY(fill_model(c, s, m, seed));
    say_what_was_found(c, n, m, s->path);
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
    spot_weights_names names;
    spot_tensors file;
    source from = { &file, path, &names, NULL };
    spot_status s;

    SPOT_TRY(check_is_no_pickle(c, path));
    SPOT_TRY(spot_tensors_open(c, &file, path));
    from.read = calloc((size_t)file.count + 1, sizeof *from.read);
    s = from.read ? spot_weights_find(c, &names, &file, path) : spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    if (!s) s = load_from(c, a, m, &from, outputs, seed);
    free(from.read);
    spot_tensors_close(&file);
    return s;
}
