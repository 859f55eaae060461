/* coco_results.c - detections in COCO's format of results, streamed through yajl.
 *
 *     [ {"image_id": 9, "bbox": [x, y, w, h], ...}, ... ]
 *     0 1                       2                         depth of the events inside */
#define _POSIX_C_SOURCE 200809L
#include "formats/coco_results.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/file.h"
#include "base/text.h"

/* Limits as in coco.c; DIGITS of a number. */
enum { DEEPEST = 64, LONGEST = 1 << 20, PIECE = 1 << 16, DIGITS = 64 };

enum { IMAGE_ID, CATEGORY_ID, SCORE, BOX, MEMBERS };
static const char *const member_name[MEMBERS] = { "image_id", "category_id", "score", "bbox" };

typedef struct {
    spot_ctx   *c;
    const char *name;
    yajl_handle yajl;
    size_t      before, event;            /* bytes of earlier pieces; the byte of the last event */
    size_t      begin, entries;           /* byte of this entry, and its number */
    int         depth, member;            /* member: MEMBERS for skipped ones */
    unsigned    has;
    int         boxes;                    /* numbers in bbox so far */
    int64_t     whole[SCORE];
    double      score, box[4];
    spot_text   results;
    spot_status status;                   /* of the first error */
} coco_results_reader;

static size_t here(const coco_results_reader *r) { return r->before + yajl_get_bytes_consumed(r->yajl); }

/* Records the error and the entry; yajl stops on 0. */
__attribute__((format(printf, 2, 3)))
static int refuse(coco_results_reader *r, const char *fmt, ...)
{
    const char *text;
    va_list args;

    va_start(args, fmt);
    spot_fail_args(r->c, SPOT_INPUT, fmt, args);
    va_end(args);
    text = spot_take_message(r->c, SPOT_INPUT);
    r->status = r->depth > 1 ? spot_fail(r->c, SPOT_INPUT, "%s, entry %zu (from 0), which begins at byte %zu: %s", r->name,
                                         r->entries, r->begin, text)
                             : spot_fail(r->c, SPOT_INPUT, "%s, byte %zu: %s", r->name, here(r), text);
    return 0;
}

static coco_results_reader *heard(void *at)
{
    coco_results_reader *r = at;

    r->event = here(r);
    return r;
}

/* ---- values ---- */

static int is_used(const coco_results_reader *r) { return r->depth == 2 && r->member != MEMBERS; }

static int other_value(coco_results_reader *r, const char *kind)
{
    if (!r->depth) return refuse(r, "{coco.no_list} the file is %s; COCO's results are a list of detections", kind);
    if (r->depth == 1) return refuse(r, "{coco.entry} entry %zu of the list is %s; a detection is an object", r->entries, kind);
    if (is_used(r)) return refuse(r, "{coco.member_kind} \"%s\" is %s", member_name[r->member], kind);
    if (r->depth == 3 && r->member == BOX) return refuse(r, "{coco.bbox} \"bbox\" holds %s", kind);
    return 1;
}

static int on_null(void *at) { return other_value(heard(at), "null"); }
static int on_boolean(void *at, int v) { (void)v; return other_value(heard(at), "true or false"); }

static int on_string(void *at, const unsigned char *text, size_t len)
{
    (void)text, (void)len;
    return other_value(heard(at), "a word");
}

static int real_number(coco_results_reader *r, const char *text, double *v)
{
    *v = strtod(text, NULL);
    return isfinite((float)*v) ? 1 : refuse(r, "{coco.member_value} \"%s\" is %.40s", member_name[r->member], text);
}

static int box_number(coco_results_reader *r, const char *text)
{
    if (r->boxes == 4) return refuse(r, "{coco.bbox} \"bbox\" has more than 4 numbers");
    return real_number(r, text, &r->box[r->boxes++]);
}

static int on_number(void *at, const char *number, size_t len)
{
    coco_results_reader *r = heard(at);
    char text[DIGITS], *end;

    if (r->member == MEMBERS || r->depth < 2 || r->depth > 3 || (r->depth == 3) != (r->member == BOX))
        return other_value(r, "a number");
    if (len >= sizeof text) return refuse(r, "{coco.number_length} a number of %zu digits", len);
    snprintf(text, sizeof text, "%.*s", (int)len, number);
    if (r->depth == 3) return box_number(r, text);
    if (r->member == SCORE) return real_number(r, text, &r->score);
    errno = 0;
    r->whole[r->member] = strtoll(text, &end, 10);
    return *end || errno ? refuse(r, "{coco.member_value} \"%s\" is %.40s, which is no id", member_name[r->member], text) : 1;
}

/* ---- entries ---- */

static int on_key(void *at, const unsigned char *key, size_t len)
{
    coco_results_reader *r = heard(at);

    if (r->depth != 2) return 1;
    for (r->member = 0; r->member < MEMBERS; r->member++)
        if (strlen(member_name[r->member]) == len && !memcmp(member_name[r->member], key, len)) break;
    if (r->member == MEMBERS) return 1;
    if (r->has >> r->member & 1) return refuse(r, "{coco.member_twice} \"%s\" is there twice", member_name[r->member]);
    r->has |= 1u << r->member;
    return 1;
}

static int enter(coco_results_reader *r)
{
    if (r->depth == DEEPEST) return refuse(r, "{coco.nesting} nested deeper than %d", DEEPEST);
    r->depth++;
    return 1;
}

static int on_map(void *at)
{
    coco_results_reader *r = heard(at);

    if (r->depth != 1 && !other_value(r, "an object")) return 0;
    if (r->depth == 1) {
        r->begin = here(r) - 1;
        r->has = 0;
        r->boxes = 0;
        r->member = MEMBERS;
    }
    return enter(r);
}

static int end_entry(coco_results_reader *r)
{
    spot_coco_result v = { r->whole[IMAGE_ID], r->whole[CATEGORY_ID], (float)r->box[0], (float)r->box[1], (float)r->box[2],
                           (float)r->box[3], (float)r->score };

    for (int k = 0; k < MEMBERS; k++)
        if (!(r->has >> k & 1)) return refuse(r, "{coco.member_missing} there is no \"%s\"", member_name[k]);
    if (r->boxes != 4) return refuse(r, "{coco.bbox} \"bbox\" has %d numbers; it needs 4", r->boxes);
    if (v.w < 0 || v.h < 0) return refuse(r, "{coco.bbox_size} \"bbox\" has a negative width or height");
    if (!(r->score >= 0 && r->score <= 1)) return refuse(r, "{coco.score} \"score\" is %g; it must lie in 0..1", r->score);
    spot_text_add(&r->results, &v, sizeof v);
    if (r->results.status) {
        r->status = spot_fail(r->c, SPOT_NOMEM, "%s: no memory for %zu detections", r->name, r->entries + 1);
        return 0;
    }
    r->entries++;
    return 1;
}

static int on_map_end(void *at)
{
    coco_results_reader *r = heard(at);

    if (r->depth == 2 && !end_entry(r)) return 0;
    r->depth--;
    return 1;
}

static int on_array(void *at)
{
    coco_results_reader *r = heard(at);
    const int fits = !r->depth || (is_used(r) && r->member == BOX);

    return (fits || other_value(r, "a list")) && enter(r);
}

static int on_array_end(void *at) { heard(at)->depth--; return 1; }

static const yajl_callbacks callbacks = {
    .yajl_null = on_null, .yajl_boolean = on_boolean, .yajl_number = on_number, .yajl_string = on_string,
    .yajl_map_key = on_key, .yajl_start_map = on_map, .yajl_end_map = on_map_end, .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

/* ---- the whole ---- */

/* Parses one piece; the last has 0 bytes. */
static spot_status parse_piece(coco_results_reader *r, const uint8_t *json, size_t size)
{
    const yajl_status s = size ? yajl_parse(r->yajl, json, size) : yajl_complete_parse(r->yajl);

    if (s == yajl_status_ok && r->before + size - r->event > LONGEST)
        refuse(r, "behind byte %zu comes no value within %d bytes", r->event, LONGEST);
    if (s != yajl_status_ok && !r->status) {
        unsigned char *text = yajl_get_error(r->yajl, 0, json, size);
        r->status = spot_fail(r->c, SPOT_INPUT, "{coco.json} %s, byte %zu: this is not JSON: %.*s", r->name, here(r),
                              (int)strcspn((char *)text, "\n"), (char *)text);
        yajl_free_error(r->yajl, text);
    }
    r->before += size;
    return r->status;
}

static spot_status open_reader(spot_ctx *c, coco_results_reader *r, spot_coco_results *out, const char *name)
{
    *out = (spot_coco_results){ 0 };
    *r = (coco_results_reader){ .c = c, .name = name, .member = MEMBERS };
    r->yajl = yajl_alloc(&callbacks, NULL, r);
    return r->yajl ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "%s: no memory to read it", name);
}

static spot_status close_reader(coco_results_reader *r, spot_coco_results *out, spot_status s)
{
    if (!s && !r->before) s = spot_fail(r->c, SPOT_INPUT, "{file.empty} %s is empty", r->name);
    if (!s) s = parse_piece(r, NULL, 0);
    if (!s && r->entries > INT_MAX - 2) s = spot_fail(r->c, SPOT_INPUT, "%s has more than %d detections", r->name, INT_MAX - 2);
    yajl_free(r->yajl);
    if (s) spot_text_free(&r->results);
    else *out = (spot_coco_results){ (int)r->entries, (spot_coco_result *)(void *)r->results.bytes };
    return s;
}

spot_status spot_coco_results_parse(spot_ctx *c, spot_coco_results *out, const uint8_t *json, size_t size, const char *name)
{
    coco_results_reader r;
    spot_status s = open_reader(c, &r, out, name);

    for (size_t at = 0; !s && at < size; at += PIECE) s = parse_piece(&r, json + at, size - at < PIECE ? size - at : PIECE);
    return r.yajl ? close_reader(&r, out, s) : s;
}

spot_status spot_coco_results_open(spot_ctx *c, spot_coco_results *out, const char *path)
{
    static _Thread_local uint8_t piece[PIECE];
    FILE *f = spot_file_stream(path);
    coco_results_reader r;
    spot_status s;
    size_t n;

    *out = (spot_coco_results){ 0 };
    if (!f) return spot_fail(c, SPOT_IO, "{file.unread} cannot read %s: %s", path, spot_file_reason(errno));
    s = open_reader(c, &r, out, path);
    while (!s && (n = fread(piece, 1, sizeof piece, f)) > 0) {
        s = parse_piece(&r, piece, n);
        if (!s) s = spot_check_stop(c);
    }
    if (!s && ferror(f)) s = spot_fail(c, SPOT_IO, "{file.unread} cannot read %s: %s", path, strerror(errno));
    fclose(f);
    return r.yajl ? close_reader(&r, out, s) : s;
}

void spot_coco_results_close(spot_coco_results *r)
{
    free(r->result);
    *r = (spot_coco_results){ 0 };
}
