/* coco_results.c - detections in COCO's format of results, streamed through yajl.
 *
 *     [ {"image_id": 9, "bbox": [x, y, w, h], ...}, ... ]
 *     0 1                       2                         depth of the events inside */
#define _POSIX_C_SOURCE 200809L
#include "formats/coco_results.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/coco_stream.h"

/* Limits as in coco.c; DIGITS of a number. */
enum { DEEPEST = 64, DIGITS = 64 };

enum { IMAGE_ID, CATEGORY_ID, FILE_NAME, SCORE, BOX, MEMBERS };
static const char *const member_name[MEMBERS] = { "image_id", "category_id", "file_name", "score", "bbox" };

typedef struct {
    spot_ctx   *c;
    spot_coco_stream in;
    size_t      begin, entries;           /* byte of this entry, and its number */
    int         depth, member;            /* member: MEMBERS for skipped ones */
    unsigned    has;
    int         boxes;                    /* numbers in bbox so far */
    int64_t     id[SCORE];
    double      score, box[4];
    spot_text   results, files, texts;
    spot_coco_words words;
} coco_results_reader;

static spot_status add_place(void *at, size_t byte)
{
    coco_results_reader *r = at;
    const char *text = spot_take_message(r->c, SPOT_INPUT);

    return r->in.status = r->depth > 1
        ? spot_fail(r->c, SPOT_INPUT, "%s, entry %zu (from 0), which begins at byte %zu: %s", r->in.name, r->entries,
                    r->begin, text)
        : spot_fail(r->c, SPOT_INPUT, "%s, byte %zu: %s", r->in.name, byte, text);
}

/* Records the error and the entry; yajl stops on 0. */
__attribute__((format(printf, 2, 3)))
static int refuse(coco_results_reader *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    spot_fail_args(r->c, SPOT_INPUT, fmt, args);
    va_end(args);
    add_place(r, spot_coco_stream_at(&r->in));
    return 0;
}

static coco_results_reader *heard(void *at)
{
    coco_results_reader *r = at;

    r->in.event = spot_coco_stream_at(&r->in);
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

static int no_memory(coco_results_reader *r)
{
    r->in.status = spot_fail(r->c, SPOT_NOMEM, "%s: no memory for %zu detections", r->in.name, r->entries + 1);
    return 0;
}

static int on_string(void *at, const unsigned char *text, size_t len)
{
    coco_results_reader *r = heard(at);

    if (!is_used(r) || r->member > FILE_NAME) return other_value(r, "a word");
    if (!len || memchr(text, 0, len)) return refuse(r, "{coco.text} \"%s\" is empty or holds a NUL", member_name[r->member]);
    return spot_coco_id(&r->id[r->member], &r->words, &r->texts, (const char *)text, len) || no_memory(r);
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
    char text[DIGITS];

    if (r->member == MEMBERS || r->depth < 2 || r->depth > 3 || (r->depth == 3) != (r->member == BOX) || r->member == FILE_NAME)
        return other_value(r, "a number");
    if (len >= sizeof text) return refuse(r, "{coco.number_length} a number of %zu digits", len);
    snprintf(text, sizeof text, "%.*s", (int)len, number);
    if (r->depth == 3) return box_number(r, text);
    if (r->member == SCORE) return real_number(r, text, &r->score);
    if (spot_coco_number(&r->id[r->member], text, len)) return 1;
    return refuse(r, "{coco.member_value} \"%s\" is %.40s, which is no id", member_name[r->member], text);
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
        r->begin = spot_coco_stream_at(&r->in) - 1;
        r->has = 0;
        r->boxes = 0;
        r->member = MEMBERS;
    }
    return enter(r);
}

/* Adds the names of files up to this entry, from the first entry that has one on. */
static bool add_file(coco_results_reader *r)
{
    const int64_t none = SPOT_COCO_NO_ID;

    if (!(r->has >> FILE_NAME & 1) && !r->files.used) return true;
    while (r->files.used < r->entries * sizeof none && !r->files.status) spot_text_add(&r->files, &none, sizeof none);
    spot_text_add(&r->files, r->has >> FILE_NAME & 1 ? &r->id[FILE_NAME] : &none, sizeof none);
    return !r->files.status;
}

static int end_entry(coco_results_reader *r)
{
    spot_coco_result v = { r->has >> IMAGE_ID & 1 ? r->id[IMAGE_ID] : SPOT_COCO_NO_ID, r->id[CATEGORY_ID], (float)r->box[0],
                           (float)r->box[1], (float)r->box[2], (float)r->box[3], (float)r->score };

    for (int k = 0; k < MEMBERS; k++)
        if (!(r->has >> k & 1) && k != FILE_NAME && !(k == IMAGE_ID && r->has >> FILE_NAME & 1))
            return refuse(r, "{coco.member_missing} there is no \"%s\"", member_name[k]);
    if (r->boxes != 4) return refuse(r, "{coco.bbox} \"bbox\" has %d numbers; it needs 4", r->boxes);
    if (v.w < 0 || v.h < 0) return refuse(r, "{coco.bbox_size} \"bbox\" has a negative width or height");
    if (!(r->score >= 0 && r->score <= 1)) return refuse(r, "{coco.score} \"score\" is %g; it must lie in 0..1", r->score);
    spot_text_add(&r->results, &v, sizeof v);
    if (r->results.status || !add_file(r)) return no_memory(r);
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

static spot_status close_reader(coco_results_reader *r, spot_coco_results *out, spot_status s)
{
    if (!s && r->entries > INT_MAX - 2)
        s = spot_fail(r->c, SPOT_INPUT, "%s has more than %d detections", r->in.name, INT_MAX - 2);
    spot_coco_stream_close(&r->in);
    free(r->words.slot);
    *out = (spot_coco_results){ (int)r->entries, (spot_coco_result *)(void *)r->results.bytes,
                                (int64_t *)(void *)r->files.bytes, r->texts.bytes };
    if (s) spot_coco_results_close(out);
    return s;
}

spot_status spot_coco_results_parse(spot_ctx *c, spot_coco_results *out, const uint8_t *json, size_t size, const char *name)
{
    coco_results_reader r = { .c = c, .in = { .name = name, .refuse = add_place, .user = &r }, .member = MEMBERS };
    spot_status s = spot_coco_stream_open(c, &r.in, &callbacks);

    if (!s) s = spot_coco_stream_bytes(&r.in, json, size);
    return close_reader(&r, out, s);
}

spot_status spot_coco_results_open(spot_ctx *c, spot_coco_results *out, const char *path)
{
    coco_results_reader r = { .c = c, .in = { .name = path, .refuse = add_place, .user = &r }, .member = MEMBERS };
    spot_status s = spot_coco_stream_open(c, &r.in, &callbacks);

    if (!s) s = spot_coco_stream_file(&r.in, path);
    return close_reader(&r, out, s);
}

void spot_coco_results_close(spot_coco_results *r)
{
    free(r->result);
    free(r->file);
    free(r->owned);
    *r = (spot_coco_results){ 0 };
}
