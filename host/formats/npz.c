/* npz.c - numpy's .npz: a zip archive of .npy files, each under its array's name. */
#define _GNU_SOURCE
#include <string.h>

#include "formats/safetensors.h"
#include "formats/zip.h"

static bool is_array(const char *member)
{
    size_t n = strlen(member);

    return n > 4 && !strcmp(member + n - 4, ".npy");
}

static bool is_named(const char *member, const char *name)
{
    size_t n = strlen(name);

    return !strcmp(member, name) || (!strncmp(member, name, n) && !strcmp(member + n, ".npy"));
}

/* "a, b, c, ...", without the .npy. */
static void list_names(char *out, size_t size, const spot_zip *z)
{
    size_t n = 0;

    *out = 0;
    for (int i = 0; i < z->count && n + 100 < size; i++) {
        int length = (int)strlen(z->member[i].name) - 4;
        if (is_array(z->member[i].name))
            n += (size_t)snprintf(out + n, size - n, "%s%.*s", n ? ", " : "", length < 80 ? length : 80, z->member[i].name);
    }
    if (n + 100 >= size) snprintf(out + n, size - n, ", ...");
}

static spot_status choose_member(spot_ctx *c, const spot_zip_member **m, const spot_zip *z, const char *name, const char *file)
{
    int arrays = 0;
    char names[400];

    *m = NULL;
    for (int i = 0; i < z->count; i++) {
        if (!is_array(z->member[i].name)) continue;
        arrays++;
        if (!name || is_named(z->member[i].name, name)) *m = &z->member[i];
    }
    for (int i = 0; !arrays && i < z->count; i++) {
        const char *base = strrchr(z->member[i].name, '/');
        if (!strcmp(base ? base + 1 : z->member[i].name, "data.pkl"))
            return spot_refuse_pickle(c, file, "a zip archive, as torch.save writes, with a pickle in it");
    }
    if (!arrays)
        return spot_fail(c, SPOT_INPUT, "{npz.empty} %s holds no .npy file%s%.80s", file, z->count ? ", but " : "",
                         z->count ? z->member[0].name : "");
    list_names(names, sizeof names, z);
    if (!name && arrays > 1)
        return spot_fail(c, SPOT_INPUT, "{npz.which_array} %s holds %d arrays; say which, as in %s:NAME; there are %s", file,
                         arrays, file, names);
    if (!*m) return spot_fail(c, SPOT_INPUT, "{npz.no_array} %s has no array \"%.80s\"; there are %s", file, name, names);
    return SPOT_OK;
}

static spot_status read_member(spot_ctx *c, spot_array *a, const spot_zip *z, const spot_zip_member *m, size_t limit)
{
    spot_zip_stream *member;
    spot_stream *stream;
    spot_status s;

    SPOT_TRY(spot_zip_stream_open(c, &member, &stream, z, m));
    s = spot_npy_read(c, a, stream, limit);
    if (!s) s = spot_zip_stream_finish(c, member);
    spot_zip_stream_close(member);
    return s;
}

spot_status spot_npz_read(spot_ctx *c, spot_array *a, const spot_blob *in, const char *member, size_t limit)
{
    const spot_zip_member *m;
    spot_zip z;
    spot_status s;

    SPOT_TRY(spot_zip_open(c, &z, in));
    s = choose_member(c, &m, &z, member, in->name);
    if (!s) s = read_member(c, a, &z, m, limit);
    spot_zip_close(&z);
    return s;
}
