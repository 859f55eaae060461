/* zip.c - opens an archive with libzip, which checks its directory, and refuses unsupported members. */
#include "formats/zip.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 22 };        /* bytes of an archive without members */

/* libzip's position in the blob. A failed read sets the status and leaves its error in the context. */
typedef struct { spot_ctx *c; const spot_blob *in; uint64_t at; spot_status status; zip_error_t error; } source;

static zip_int64_t read_source(source *s, void *data, uint64_t n)
{
    if (n > s->in->size - s->at) n = s->in->size - s->at;
    s->status = spot_blob_read(s->c, s->in, s->at, data, (size_t)n);
    if (s->status) {
        zip_error_set(&s->error, ZIP_ER_READ, 0);
        return -1;
    }
    s->at += n;
    return (zip_int64_t)n;
}

static zip_int64_t serve(void *user, void *data, zip_uint64_t n, zip_source_cmd_t command)
{
    source *s = user;
    zip_int64_t to;

    switch (command) {
    case ZIP_SOURCE_OPEN:  s->at = 0; return 0;
    case ZIP_SOURCE_READ:  return read_source(s, data, n);
    case ZIP_SOURCE_TELL:  return (zip_int64_t)s->at;
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&s->error, data, n);
    case ZIP_SOURCE_SEEK:
        to = zip_source_seek_compute_offset(s->at, s->in->size, data, n, &s->error);
        if (to < 0) return -1;
        s->at = (uint64_t)to;
        return 0;
    case ZIP_SOURCE_STAT:
        zip_stat_init(data);
        ((zip_stat_t *)data)->valid = ZIP_STAT_SIZE;
        ((zip_stat_t *)data)->size = s->in->size;
        return sizeof(zip_stat_t);
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, -1);
    default: return 0;
    }
}

static spot_status not_opened(spot_ctx *c, const source *s, zip_error_t *e)
{
    const char *file = s->in->name;

    if (s->status) return s->status;
    switch (zip_error_code_zip(e)) {
    case ZIP_ER_MEMORY:    return spot_fail(c, SPOT_NOMEM, "no memory for the directory of %s", file);
    case ZIP_ER_MULTIDISK: return spot_fail(c, SPOT_INPUT, "{zip.parts} %s is an archive in several parts", file);
    case ZIP_ER_EXISTS:    return spot_fail(c, SPOT_INPUT, "{zip.name_twice} %s: a name is there twice", file);
    case ZIP_ER_NOZIP:
        return spot_fail(c, SPOT_INPUT, "{zip.directory} %s: no directory of a zip archive at its end (byte %" PRIu64
                         "), or a member without its header; cut short?", file, s->in->size);
    case ZIP_ER_INCONS:
        return spot_fail(c, SPOT_INPUT, "{zip.contradiction} %s: the archive's directory contradicts itself or the headers of "
                         "its members", file);
    default: return spot_fail(c, SPOT_INPUT, "%s is no zip archive that can be read: %s", file, zip_error_strerror(e));
    }
}

static spot_status open_archive(spot_ctx *c, spot_zip *z, source *s)
{
    zip_source_t *blob;
    zip_error_t e;
    spot_status status = SPOT_OK;

    zip_error_init(&e);
    if (z->in->size < SHORTEST) zip_error_set(&e, ZIP_ER_NOZIP, 0);        /* libzip takes an empty file for an empty archive */
    blob = z->in->size < SHORTEST ? NULL : zip_source_function_create(serve, s, &e);
    z->archive = blob ? zip_open_from_source(blob, ZIP_RDONLY | ZIP_CHECKCONS, &e) : NULL;
    if (!z->archive) {
        status = not_opened(c, s, &e);
        if (blob) zip_source_free(blob);
    }
    zip_error_fini(&e);
    return status;
}

static spot_status read_member(spot_ctx *c, spot_zip *z, int i)
{
    const char *file = z->in->name;
    zip_stat_t st;

    if (zip_stat_index(z->archive, (zip_uint64_t)i, ZIP_FL_ENC_RAW, &st))
        return spot_fail(c, SPOT_INPUT, "%s: entry %d of its directory: %s", file, i, zip_strerror(z->archive));
    if (st.encryption_method != ZIP_EM_NONE)
        return spot_fail(c, SPOT_INPUT, "{zip.encrypted} %s: %.80s is encrypted; save it without a password", file, st.name);
    if (st.comp_method != ZIP_CM_STORE && st.comp_method != ZIP_CM_DEFLATE)
        return spot_fail(c, SPOT_INPUT, "{zip.packing} %s: %.80s is packed in way %u; save it with numpy.savez or "
                         "savez_compressed", file, st.name, st.comp_method);
    if (st.comp_method == ZIP_CM_DEFLATE ? st.size / 1032 > st.comp_size : st.size != st.comp_size)
        return spot_fail(c, SPOT_INPUT, "{zip.sizes} %s: %.80s cannot have %" PRIu64 " bytes, of %" PRIu64 " packed ones", file,
                         st.name, st.size, st.comp_size);           /* no byte inflates to more than 1032 */
    z->member[i] = (spot_zip_member){ st.name, st.comp_size, st.size, st.crc, st.comp_method == ZIP_CM_DEFLATE };
    return SPOT_OK;
}

spot_status spot_zip_open(spot_ctx *c, spot_zip *z, const spot_blob *in)
{
    source *s = calloc(1, sizeof *s);
    zip_int64_t count;
    spot_status status;

    *z = (spot_zip){ .in = in, .source = s };
    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory to open %s", in->name);
    *s = (source){ .c = c, .in = in };
    zip_error_init(&s->error);
    status = open_archive(c, z, s);
    count = status ? 0 : zip_get_num_entries(z->archive, 0);
    if (!status && count > INT_MAX) status = spot_fail(c, SPOT_INPUT, "%s has %" PRId64 " members", in->name, count);
    if (!status && !(z->member = calloc((size_t)count + 1, sizeof *z->member)))
        status = spot_fail(c, SPOT_NOMEM, "no memory for the directory of %s", in->name);
    for (; !status && z->count < count; z->count++) status = read_member(c, z, z->count);
    if (status) spot_zip_close(z);
    return status;
}

void spot_zip_close(spot_zip *z)
{
    if (z->archive) zip_discard(z->archive);
    free(z->member);
    free(z->source);
    *z = (spot_zip){ 0 };
}
