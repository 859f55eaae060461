/* tensor_fields.c - see tensor_fields.h. */
#include "core/pointer.h"
#include "formats/tensor_fields.h"

#include <stdlib.h>
#include <string.h>

static spot_status not_ours(spot_ctx *c, const char *name, const char *path)
{
    return spot_fail(c, SPOT_INPUT, "%s: the tensor %s is not what this program writes", path, name);
}

spot_status spot_field_copy(spot_ctx *c, void *out, const spot_tensors *t, const char *name, spot_dtype type, size_t count,
                            const char *path)
{
    const spot_tensor *x = spot_tensors_find(t, name);
    void *own;

    if (!x || x->type != type || x->bytes != count * spot_dtype_size(type)) return not_ours(c, name, path);
    own = malloc(x->bytes + 1);
    spot_pointer_put(out, own);
    if (!own) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    memcpy(own, x->data, x->bytes);
    return SPOT_OK;
}

spot_status spot_field_ints(spot_ctx *c, int **out, const spot_tensors *t, const char *name, size_t count, int least, int most,
                            const char *path)
{
    SPOT_TRY(spot_field_copy(c, out, t, name, SPOT_I32, count, path));
    for (size_t i = 0; i < count; i++)
        if ((*out)[i] < least || (*out)[i] > most) return not_ours(c, name, path);
    return SPOT_OK;
}

spot_status spot_field_texts(spot_ctx *c, char ***out, const spot_tensors *t, const char *name, int n, const char *path)
{
    const spot_tensor *x = spot_tensors_find(t, name);
    const size_t bytes = x ? x->bytes : 0;
    int found = 0;

    if (n && (!x || x->type != SPOT_U8)) return not_ours(c, name, path);
    char **list = malloc((size_t)n * sizeof *list + bytes + 1), *text = list ? (char *)(list + n) : NULL;
    if (!list) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    if (bytes) memcpy(text, x->data, bytes);
    for (size_t at = 0; at < bytes && found < n; at++) {
        const char *end = memchr(text + at, 0, bytes - at);
        if (!end) break;
        list[found++] = text + at;
        at = (size_t)(end - text);
    }
    *out = list;
    return found == n ? SPOT_OK : not_ours(c, name, path);
}

void spot_field_add_texts(spot_text *to, char *const *text, int n)
{
    for (int i = 0; i < n; i++) spot_text_add(to, text[i], strlen(text[i]) + 1);
}
