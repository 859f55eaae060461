/* coco.c - COCO's annotations, streamed through yajl: one state machine of four levels. coco_join.c looks ids up at the end.
 *
 *     { "images": [ {"id": 9, "file_name": "a.jpg", ...}, ... ], "annotations": [ {..., "bbox": [x, y, w, h]} ], ... }
 *     level 1       level 2  level 3                                                      level 4
 *
 * The parser holds one annotation at a time; it notes where outlines lie, and skips licences and all other members. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/coco_join.h"
#include "formats/coco_stream.h"

enum { DEEPEST = 64 };         /* the text's nesting */

enum { OTHER, IMAGES, ANNOTATIONS, CATEGORIES };                  /* lists of level 1 */
static const char *const list_name[] = { "", "images", "annotations", "categories" };

/* Members of level 3, and which lists have them. */
enum { ID, IMAGE_ID, CATEGORY_ID, WIDTH, HEIGHT, CROWD, AREA, BOX, FILE_NAME, NAME, SUPER, CAPTION, SPLIT, MEMBERS };
static const struct { const char *name; unsigned lists; } members[MEMBERS] = {
    [ID] = { "id", 1 << IMAGES | 1 << CATEGORIES | 1 << ANNOTATIONS },    [IMAGE_ID] = { "image_id", 1 << ANNOTATIONS },
    [CATEGORY_ID] = { "category_id", 1 << ANNOTATIONS }, [WIDTH] = { "width", 1 << IMAGES },
    [HEIGHT] = { "height", 1 << IMAGES },              [CROWD] = { "iscrowd", 1 << ANNOTATIONS },
    [AREA] = { "area", 1 << ANNOTATIONS },             [BOX] = { "bbox", 1 << ANNOTATIONS },
    [FILE_NAME] = { "file_name", 1 << IMAGES },        [NAME] = { "name", 1 << CATEGORIES },
    [SUPER] = { "supercategory", 1 << CATEGORIES },    [CAPTION] = { "caption", 1 << ANNOTATIONS },
    [SPLIT] = { "split", 1 << IMAGES },
};

typedef struct {
    spot_ctx   *c;
    spot_coco_stream in;
    int         level, list, member;      /* member: MEMBERS for skipped ones */
    unsigned    has, seen;                /* members of this object; lists of the file */
    size_t      begin;                    /* byte of this object */
    int64_t     whole[CROWD + 1];
    double      area, box[4];
    int         boxes;                    /* numbers in bbox so far */
    bool        outline, drawn;           /* inside or before the value of "segmentation"; it holds a number or a word */
    size_t      outline_at, outline_end;  /* its bytes */
    size_t      text, super, split;       /* offsets in texts of FILE_NAME, NAME or CAPTION, of SUPER and of SPLIT */
    spot_text   images, categories, annotations, captions, texts;
    spot_coco_words words;
} coco_reader;

static size_t here(const coco_reader *r) { return spot_coco_stream_at(&r->in); }

static spot_status add_place(void *at, size_t byte)
{
    coco_reader *r = at;

    return r->in.status = spot_fail(r->c, SPOT_INPUT, "%s, byte %zu: %s", r->in.name, byte,
                                    spot_take_message(r->c, SPOT_INPUT));
}

/* Records the error and its place; yajl stops on 0. */
#define REFUSE(r, byte, ...) (refuse(r, byte, __VA_ARGS__), 0)
__attribute__((format(printf, 3, 4)))
static void refuse(coco_reader *r, size_t byte, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    spot_fail_args(r->c, SPOT_INPUT, fmt, args);
    va_end(args);
    add_place(r, byte);
}

static int append_bytes(coco_reader *r, spot_text *t, const void *bytes, size_t n)
{
    spot_text_add(t, bytes, n);
    if (t->status)
        r->in.status = spot_fail(r->c, SPOT_NOMEM, "%s: no memory for %zu bytes of annotations", r->in.name, t->used + n);
    return !t->status;
}

static int id_of_word(coco_reader *r, const char *text, size_t n, int64_t *id)
{
    if (!n || memchr(text, 0, n)) return REFUSE(r, here(r), "{coco.text} \"%s\" is empty or holds a NUL",
                                                members[r->member].name);
    if (spot_coco_id(id, &r->words, &r->texts, text, n)) return 1;
    r->in.status = spot_fail(r->c, SPOT_NOMEM, "%s: no memory for the ids", r->in.name);
    return 0;
}

/* -- one object of a list -------------------------------------------------------------------------------------------- */

static int need_member(coco_reader *r, int member)
{
    if (r->has >> member & 1) return 1;
    return REFUSE(r, r->begin, "{coco.member_missing} this one of \"%s\" has no \"%s\"", list_name[r->list],
                  members[member].name);
}

static int end_image(coco_reader *r)
{
    spot_coco_image v = { .id = r->whole[ID], .width = (int)r->whole[WIDTH], .height = (int)r->whole[HEIGHT] };

    v.file = (char *)(uintptr_t)r->text;           /* an address once the texts have stopped moving */
    v.split = (char *)(uintptr_t)(r->has >> SPLIT & 1 ? r->split + 1 : 0);
    return need_member(r, ID) && need_member(r, FILE_NAME) && append_bytes(r, &r->images, &v, sizeof v);
}

static int end_category(coco_reader *r)
{
    spot_coco_category v = { r->whole[ID], (char *)(uintptr_t)r->text, (char *)(uintptr_t)r->super };

    if (!(r->has >> SUPER & 1)) {
        v.super = (char *)(uintptr_t)r->texts.used;
        if (!append_bytes(r, &r->texts, "", 1)) return 0;
    }
    return need_member(r, ID) && need_member(r, NAME) && append_bytes(r, &r->categories, &v, sizeof v);
}

static int end_caption(coco_reader *r)
{
    spot_coco_raw_caption v = { r->whole[IMAGE_ID], r->begin, r->text };

    return need_member(r, IMAGE_ID) && append_bytes(r, &r->captions, &v, sizeof v);
}

static int end_annotation(coco_reader *r)
{
    spot_coco_raw v = { .image = r->whole[IMAGE_ID], .category = r->whole[CATEGORY_ID], .byte = r->begin,
                  .crowd = r->whole[CROWD] != 0, .boxed = r->boxes > 0,
                  .id = r->has >> ID & 1 ? r->whole[ID] : SPOT_COCO_NO_ID };

    if (r->has >> CAPTION & 1 && !(r->has >> CATEGORY_ID & 1)) return end_caption(r);
    if (r->has >> CAPTION & 1 && !r->words.words) r->texts.used = r->text;     /* a box needs no caption */
    if (!need_member(r, IMAGE_ID) || !need_member(r, CATEGORY_ID)) return 0;
    if (r->boxes && r->boxes != 4) return REFUSE(r, r->begin, "{coco.bbox} this \"bbox\" has %d numbers; it needs 4",
                                                          r->boxes);
    if (r->box[2] < 0 || r->box[3] < 0) return REFUSE(r, r->begin,
                                                      "{coco.bbox_size} this \"bbox\" has a negative width or height");
    for (int k = 0; k < 4; k++) v.box[k] = (float)r->box[k];
    v.area = (float)(r->has >> AREA & 1 ? r->area : r->box[2] * r->box[3]);
    v.outline_at = r->outline_at;
    v.outline_bytes = r->outline_end - r->outline_at > UINT32_MAX ? 0 : (uint32_t)(r->outline_end - r->outline_at);
    return append_bytes(r, &r->annotations, &v, sizeof v);
}

/* -- yajl's events --------------------------------------------------------------------------------------------------- */

/* Notes the place of an event. */
static coco_reader *heard(void *at)
{
    coco_reader *r = at;

    r->in.event = here(r);
    return r;
}

/* Whether the value at this place is used. */
static bool is_used(const coco_reader *r) { return r->level == 3 && r->list && r->member != MEMBERS; }

/* Boxes need no id and pictures no split, so an id that is no whole number and a split that is no word count as absent. */
static bool drop_value(coco_reader *r)
{
    if (r->level != 3 || (r->member == ID ? r->list != ANNOTATIONS : r->member != SPLIT)) return false;
    r->has &= ~(1u << r->member);
    r->member = MEMBERS;
    return true;
}

static int other_value(coco_reader *r, const char *kind)
{
    if (drop_value(r)) return 1;
    if (r->level == 1 && r->list) return REFUSE(r, here(r), "{coco.member_kind} \"%s\" is %s; it has to be a list",
                                                list_name[r->list], kind);
    if (r->level == 2 && r->list)
        return REFUSE(r, here(r), "{coco.entry} a member of \"%s\" is %s; it has to be an object", list_name[r->list], kind);
    if (r->level == 0) return REFUSE(r, here(r), "{coco.no_object} the file is %s; COCO's annotations are an object", kind);
    if (is_used(r)) return REFUSE(r, here(r), "{coco.member_kind} \"%s\" is %s", members[r->member].name, kind);
    if (r->level == 4 && r->list && r->member == BOX) return REFUSE(r, here(r), "{coco.bbox} \"bbox\" holds %s", kind);
    return 1;
}

/* "bbox": null is none. */
static int on_null(void *at)
{
    coco_reader *r = heard(at);

    return (is_used(r) && r->member == BOX) || other_value(r, "null");
}

static int on_boolean(void *at, int v)
{
    coco_reader *r = heard(at);

    if (!is_used(r) || r->member != CROWD) return other_value(r, "true or false");
    r->whole[CROWD] = v;
    return 1;
}

static int whole_number(coco_reader *r, const char *text, int64_t *v)
{
    int64_t most = r->member == WIDTH || r->member == HEIGHT ? INT_MAX : INT64_MAX;
    const bool whole = spot_coco_number(v, text, strlen(text));

    if (!whole && drop_value(r)) return 1;
    if (!whole || *v > most || (*v < 0 && most == INT_MAX) || (r->member == CROWD && *v != 0 && *v != 1))
        return REFUSE(r, here(r), "{coco.member_value} \"%s\" is %.40s, which it cannot be", members[r->member].name, text);
    return 1;
}

static int real_number(coco_reader *r, const char *text, double *v)
{
    *v = strtod(text, NULL);
    if (!isfinite((float)*v)) return REFUSE(r, here(r), "{coco.member_value} \"%s\" is %.40s", members[r->member].name, text);
    return 1;
}

static int on_number(void *at, const char *number, size_t len)
{
    coco_reader *r = heard(at);
    char text[64];

    r->drawn = true;
    if (r->list == OTHER || (r->level != 4 && !is_used(r)) || (r->level == 4 && r->member != BOX) || r->level > 4)
        return other_value(r, "a number");
    if (len >= sizeof text && drop_value(r)) return 1;
    if (len >= sizeof text) return REFUSE(r, here(r), "{coco.number_length} a number of %zu digits", len);
    snprintf(text, sizeof text, "%.*s", (int)len, number);
    if (r->level == 4) {
        if (r->boxes++ >= 4) return REFUSE(r, here(r), "{coco.bbox} this \"bbox\" has more than 4 numbers");
        return real_number(r, text, &r->box[r->boxes - 1]);
    }
    if (r->member <= CROWD) return whole_number(r, text, &r->whole[r->member]);
    return r->member == AREA ? real_number(r, text, &r->area) : other_value(r, "a number");
}

static int on_string(void *at, const unsigned char *text, size_t len)
{
    coco_reader *r = heard(at);

    r->drawn = true;
    if (is_used(r) && r->member <= CATEGORY_ID && (r->list != ANNOTATIONS || r->member != ID))
        return id_of_word(r, (const char *)text, len, &r->whole[r->member]);
    if (is_used(r) && r->member == ID && spot_coco_number(&r->whole[ID], (const char *)text, len)) return 1;
    if (!is_used(r) || r->member < FILE_NAME) return other_value(r, "a word");
    if ((!len || memchr(text, 0, len)) && drop_value(r)) return 1;
    if ((!len && r->member != SUPER) || memchr(text, 0, len))
        return REFUSE(r, here(r), "{coco.text} \"%s\" is empty or holds a NUL", members[r->member].name);
    *(r->member == SUPER ? &r->super : r->member == SPLIT ? &r->split : &r->text) = r->texts.used;
    return append_bytes(r, &r->texts, text, len) && append_bytes(r, &r->texts, "", 1);
}

static int on_key(void *at, const unsigned char *key, size_t len)
{
    coco_reader *r = heard(at);

    if (r->level == 1) {
        for (r->list = CATEGORIES; r->list; r->list--)
            if (strlen(list_name[r->list]) == len && !memcmp(list_name[r->list], key, len)) break;
        if (r->seen >> r->list & 1 && r->list) return REFUSE(r, here(r), "{coco.member_twice} \"%s\" is there twice",
                                                             list_name[r->list]);
        r->seen |= 1u << r->list;
    } else if (r->level == 3) {
        for (r->member = 0; r->member < MEMBERS; r->member++)
            if (members[r->member].lists >> r->list & 1 && strlen(members[r->member].name) == len
                && !memcmp(members[r->member].name, key, len)) break;
        if (r->member < MEMBERS && r->has >> r->member & 1)
            return REFUSE(r, here(r), "{coco.member_twice} \"%s\" is there twice", members[r->member].name);
        r->has |= r->member < MEMBERS ? 1u << r->member : 0;
        r->outline = r->list == ANNOTATIONS && len == 12 && !memcmp("segmentation", key, len);
    }
    return 1;
}

static int enter_level(coco_reader *r)
{
    if (r->level == 3 && r->outline) r->outline_at = here(r) - 1, r->drawn = false;
    if (r->level == DEEPEST) return REFUSE(r, here(r), "{coco.nesting} nested deeper than %d", DEEPEST);
    r->level++;
    return 1;
}

static int on_map(void *at)
{
    coco_reader *r = heard(at);

    if (r->level == 2 && r->list) {
        r->begin = here(r) - 1;
        r->has = 0;
        r->boxes = 0;
        r->outline = false;
        r->outline_at = r->outline_end = 0;
        memset(r->whole, 0, sizeof r->whole);
        memset(r->box, 0, sizeof r->box);
    } else if (r->level && !other_value(r, "an object")) {
        return 0;
    }
    return enter_level(r);
}

static void leave_level(coco_reader *r)
{
    r->level--;
    if (r->level != 3 || !r->outline) return;
    r->outline_end = r->drawn ? here(r) : r->outline_at;       /* [] is no outline */
    r->outline = false;
}

static int on_map_end(void *at)
{
    coco_reader *r = heard(at);

    leave_level(r);
    if (r->level != 2) return 1;
    switch (r->list) {
    case IMAGES:      return end_image(r);
    case CATEGORIES:  return end_category(r);
    case ANNOTATIONS: return end_annotation(r);
    default:          return 1;
    }
}

static int on_array(void *at)
{
    coco_reader *r = heard(at);
    bool fits = (r->level == 1 && r->list) || (is_used(r) && r->member == BOX);

    return (fits || other_value(r, "a list")) && enter_level(r);
}

static int on_array_end(void *at) { leave_level(heard(at)); return 1; }

static const yajl_callbacks callbacks = {
    .yajl_null = on_null, .yajl_boolean = on_boolean, .yajl_number = on_number, .yajl_string = on_string,
    .yajl_map_key = on_key, .yajl_start_map = on_map, .yajl_end_map = on_map_end, .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

/* -- the whole -------------------------------------------------------------------------------------------------------- */

static spot_status finish_document(coco_reader *r, spot_coco *k)
{
    const size_t images = r->images.used / sizeof *k->image, categories = r->categories.used / sizeof *k->category;
    const size_t boxes = r->annotations.used / sizeof(spot_coco_raw);
    const size_t captions = r->captions.used / sizeof(spot_coco_raw_caption);

    for (int list = IMAGES; list <= CATEGORIES; list++)
        if (!(r->seen >> list & 1) && !(list == CATEGORIES && captions))
            return spot_fail(r->c, SPOT_INPUT, "{coco.list_missing} %s has no \"%s\": no annotations in COCO's format",
                             r->in.name, list_name[list]);
    if (images > INT_MAX - 2 || categories > INT_MAX - 2 || boxes > INT_MAX - 2 || captions > INT_MAX - 2)
        return spot_fail(r->c, SPOT_INPUT, "%s has more than %d images or annotations", r->in.name, INT_MAX - 2);
    *k = (spot_coco){ .images = (int)images, .categories = (int)categories, .boxes = (int)boxes, .captions = (int)captions,
                      .image = (spot_coco_image *)(void *)r->images.bytes,
                      .category = (spot_coco_category *)(void *)r->categories.bytes, .owned = r->texts.bytes };
    r->images.bytes = r->categories.bytes = r->texts.bytes = NULL;     /* k owns them from now on */
    for (int i = 0; i < k->images; i++) {
        spot_coco_image *of = &k->image[i];
        of->file = k->owned + (uintptr_t)of->file;
        if (of->split) of->split = k->owned + (uintptr_t)of->split - 1;
    }
    for (int i = 0; i < k->categories; i++) {
        spot_coco_category *of = &k->category[i];
        of->name = k->owned + (uintptr_t)of->name;
        of->super = k->owned + (uintptr_t)of->super;
    }
    return spot_coco_join(r->c, k, (spot_coco_raw *)(void *)r->annotations.bytes,
                          (const spot_coco_raw_caption *)(const void *)r->captions.bytes, r->in.name);
}

static spot_status close_reader(coco_reader *r, spot_coco *k, spot_status s)
{
    if (!s) s = finish_document(r, k);
    if (s) spot_coco_close(k);
    spot_coco_stream_close(&r->in);
    spot_text_free(&r->images);
    spot_text_free(&r->categories);
    spot_text_free(&r->annotations);
    spot_text_free(&r->captions);
    spot_text_free(&r->texts);
    free(r->words.slot);
    return s;
}

spot_status spot_coco_parse(spot_ctx *c, spot_coco *k, const uint8_t *json, size_t size, const char *name)
{
    coco_reader r = { .c = c, .in = { .name = name, .refuse = add_place, .user = &r } };
    spot_status s = spot_coco_stream_open(c, &r.in, &callbacks);

    *k = (spot_coco){ 0 };
    if (!s) s = spot_coco_stream_bytes(&r.in, json, size);
    return close_reader(&r, k, s);
}

spot_status spot_coco_open(spot_ctx *c, spot_coco *k, const char *path)
{
    coco_reader r = { .c = c, .in = { .name = path, .refuse = add_place, .user = &r } };
    spot_status s = spot_coco_stream_open(c, &r.in, &callbacks);

    *k = (spot_coco){ 0 };
    if (!s) s = spot_coco_stream_file(&r.in, path);
    return close_reader(&r, k, s);
}

void spot_coco_close(spot_coco *k)
{
    free(k->image);
    free(k->category);
    free(k->box);
    free(k->caption);
    free(k->first);
    free(k->owned);
    memset(k, 0, sizeof *k);
}
