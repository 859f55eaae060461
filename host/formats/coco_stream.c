/* coco_stream.c - see coco_stream.h. */
#define _POSIX_C_SOURCE 200809L
#include "formats/coco_stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json_tree.h"

/* LONGEST: a token or the space before one, which yajl buffers. */
enum { LONGEST = 1 << 20, PIECE = 1 << 16, BACK = 2 };

size_t spot_coco_stream_at(const spot_coco_stream *s) { return s->before + yajl_get_bytes_consumed(s->yajl); }

spot_status spot_coco_stream_open(spot_ctx *c, spot_coco_stream *s, const yajl_callbacks *on)
{
    s->c = c;
    s->yajl = yajl_alloc(on, NULL, s->user);
    return s->yajl ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "%s: no memory to read it", s->name);
}

void spot_coco_stream_close(spot_coco_stream *s)
{
    if (s->yajl) yajl_free(s->yajl);
    s->yajl = NULL;
}

/* The word at which yajl stopped: it stands there or begins up to BACK bytes before. */
static const char *find_word(const char *json, size_t size, size_t at)
{
    for (size_t from = at > BACK ? at - BACK : 0; from <= at && from < size; from++) {
        const char *word = spot_json_strange(json + from, size - from);
        if (word) return word;
    }
    return NULL;
}

static spot_status fail_parse(spot_coco_stream *s, const uint8_t *json, size_t size)
{
    const size_t at = yajl_get_bytes_consumed(s->yajl);
    const char *word = find_word((const char *)json, size, at);
    unsigned char *text = yajl_get_error(s->yajl, 0, json, size);

    spot_fail(s->c, SPOT_INPUT, "{coco.json} this is not JSON: %s%s%.*s", word ? word : "", word ? " is no word of JSON; " : "",
              (int)strcspn((char *)text, "\n"), (char *)text);
    yajl_free_error(s->yajl, text);
    return s->refuse(s->user, s->before + at);
}

/* Parses one piece; the last has 0 bytes. */
static spot_status parse_piece(spot_coco_stream *s, const uint8_t *json, size_t size)
{
    size_t skip = 0;

    if (!s->before && size > 2 && !memcmp(json, "\xef\xbb\xbf", 3)) skip = 3;
    if (!s->before && size > 1 && (!memcmp(json, "\xff\xfe", 2) || !memcmp(json, "\xfe\xff", 2)))
        return s->status = spot_fail(s->c, SPOT_INPUT, "{coco.utf16} %s is in UTF-16; save it in UTF-8", s->name);
    s->before += skip;
    json += skip;
    size -= skip;
    const yajl_status parsed = size || skip ? yajl_parse(s->yajl, json, size) : yajl_complete_parse(s->yajl);

    if (parsed == yajl_status_ok && s->before + size > LONGEST + s->event) {
        spot_fail(s->c, SPOT_INPUT, "{coco.value_length} behind it comes no value within %d bytes", LONGEST);
        s->status = s->refuse(s->user, s->event);
    }
    if (parsed != yajl_status_ok && !s->status) s->status = fail_parse(s, json, size);
    s->before += size;
    return s->status;
}

static spot_status parse_end(spot_coco_stream *s)
{
    if (!s->before) return s->status = spot_fail(s->c, SPOT_INPUT, "{file.empty} %s is empty", s->name);
    return parse_piece(s, (const uint8_t *)"", 0);
}

spot_status spot_coco_stream_bytes(spot_coco_stream *s, const uint8_t *json, size_t size)
{
    for (size_t at = 0; at < size; at += PIECE) SPOT_TRY(parse_piece(s, json + at, size - at < PIECE ? size - at : PIECE));
    return parse_end(s);
}

spot_status spot_coco_stream_file(spot_coco_stream *s, const char *path)
{
    static _Thread_local uint8_t piece[PIECE];
    FILE *f = spot_file_stream(s->c, path);
    spot_status how = SPOT_OK;
    size_t n;

    if (!f) return spot_fail(s->c, SPOT_IO, "{file.unread} cannot read %s: %s", path, spot_file_reason(errno));
    while (!how && (n = fread(piece, 1, sizeof piece, f)) > 0) {
        how = parse_piece(s, piece, n);
        if (!how) how = spot_check_stop(s->c);
    }
    if (!how && ferror(f)) how = spot_check_stop(s->c);
    if (!how && ferror(f)) how = spot_fail(s->c, SPOT_IO, "{file.unread} cannot read %s: %s", path, strerror(errno));
    fclose(f);
    return how ? how : parse_end(s);
}
