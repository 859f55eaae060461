/* mesh_parser_ply.c - PLY, as text and in both orders of bytes: vertices, faces and strips of triangles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worlds/mesh_parser_flat.h"
#include "worlds/mesh_parser_scene.h"

enum { ELEMENTS = 32, PROPERTIES = 256, NAME = 64, MOST_CORNERS = 1 << 20 };
enum { TEXT, LITTLE, BIG };

/* Parts of a vertex that a property can be, in the order of a row; and those of a face. */
enum { X, Y, Z, NX, NY, NZ, U, V, RED, GREEN, BLUE, ALPHA, PARTS, INDICES = PARTS, COORDINATES, OTHER };

/* Types of numbers: bytes, and what a colour is divided by. */
typedef struct { const char *name, *other; int bytes; char kind; double most; } ply_type;

static const ply_type types[] = {
    { "char", "int8", 1, 'i', 127 },        { "uchar", "uint8", 1, 'u', 255 },       { "short", "int16", 2, 'i', 32767 },
    { "ushort", "uint16", 2, 'u', 65535 },  { "int", "int32", 4, 'i', 2147483647 },  { "uint", "uint32", 4, 'u', 4294967295 },
    { "float", "float32", 4, 'f', 1 },      { "double", "float64", 8, 'f', 1 },
};

typedef struct { const ply_type *count, *type; int part; } ply_property;        /* count: NULL for a single number */

typedef struct {
    char   name[NAME];
    double count;
    int    properties;
    ply_property property[PROPERTIES];
} ply_element;

typedef struct {
    const char *at, *end;
    int    order, elements;
    ply_element *element;                  /* (ELEMENTS) */
    spot_flat *to;
    uint32_t *corner;                      /* (MOST_CORNERS): of a face; its coordinates ... */
    double   *list;                        /* ... are here first */
} ply;

/* -- the header ----------------------------------------------------------------------------------------------------------- */

/* The next line without its end, in `line`, cut to its size. False: the file ends. */
static bool next_line(ply *p, char *line, size_t size)
{
    const char *from = p->at;
    size_t n;

    if (from == p->end) return false;
    while (p->at < p->end && *p->at != '\n' && *p->at != '\r') p->at++;
    n = (size_t)(p->at - from);
    if (n >= size) n = size - 1;
    memcpy(line, from, n);
    line[n] = 0;
    if (p->at < p->end && *p->at++ == '\r' && p->at < p->end && *p->at == '\n') p->at++;
    return true;
}

static const ply_type *type_of(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(name, types[i].name) || !strcmp(name, types[i].other)) return &types[i];
    spot_parser_fail("a property has a type that PLY does not have");
}

static int part_of(const char *name)
{
    static const struct { const char *name; int part; } known[] = {
        { "x", X }, { "y", Y }, { "z", Z }, { "nx", NX }, { "ny", NY }, { "nz", NZ }, { "u", U }, { "s", U },
        { "texture_u", U }, { "texture_s", U }, { "v", V }, { "t", V }, { "texture_v", V }, { "texture_t", V },
        { "red", RED }, { "r", RED }, { "diffuse_red", RED }, { "green", GREEN }, { "g", GREEN }, { "diffuse_green", GREEN },
        { "blue", BLUE }, { "b", BLUE }, { "diffuse_blue", BLUE }, { "alpha", ALPHA }, { "a", ALPHA },
        { "diffuse_alpha", ALPHA }, { "vertex_indices", INDICES }, { "vertex_index", INDICES }, { "texcoord", COORDINATES },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name)) return known[i].part;
    return OTHER;
}

static void add_element(ply *p, const char *name, double count)
{
    ply_element *e = &p->element[p->elements];

    if (p->elements++ == ELEMENTS) spot_parser_fail("it has more than 32 elements");
    if (!(count >= 0 && count < 1e15)) spot_parser_fail("an element has no number");
    snprintf(e->name, sizeof e->name, "%s", name);
    e->count = count;
}

static void add_property(ply *p, const char *count, const char *type, const char *name)
{
    ply_element *e = p->elements ? &p->element[p->elements - 1] : NULL;

    if (!e) spot_parser_fail("a property stands before the first element");
    if (e->properties == PROPERTIES) spot_parser_fail("an element has more than 256 properties");
    e->property[e->properties++] = (ply_property){ count ? type_of(count) : NULL, type_of(type), part_of(name) };
}

static void take_header_line(ply *p, const char *line)
{
    char a[NAME] = "", b[NAME] = "", c[NAME] = "";
    double count;

    if (sscanf(line, " element %63s %lf", a, &count) == 2) add_element(p, a, count);
    else if (sscanf(line, " property list %63s %63s %63s", a, b, c) == 3) add_property(p, a, b, c);
    else if (sscanf(line, " property %63s %63s", a, b) == 2) add_property(p, NULL, a, b);
    else if (sscanf(line, " format %63s", a) == 1)
        p->order = !strcmp(a, "ascii") ? TEXT : !strcmp(a, "binary_little_endian") ? LITTLE
                 : !strcmp(a, "binary_big_endian") ? BIG : -1;
    else if (sscanf(line, " comment TextureFile %1023[^\r\n]", p->to->picture) == 1) return;
    if (p->order < 0) spot_parser_fail("its format is none of PLY's three");
}

static void take_header(ply *p)
{
    char line[2048];

    if (!next_line(p, line, sizeof line) || strncmp(line, "ply", 3)) spot_parser_fail("it does not begin with \"ply\"");
    for (;;) {
        if (!next_line(p, line, sizeof line)) spot_parser_fail("its header does not end: it is damaged or cut short");
        if (!strncmp(line, "end_header", 10)) return;
        take_header_line(p, line);
    }
}

/* -- numbers -------------------------------------------------------------------------------------------------------------- */

static double number_of_bytes(const uint8_t *b, const ply_type *t, int order)
{
    uint64_t bits = 0;
    float small;
    double large;

    for (int i = 0; i < t->bytes; i++) bits |= (uint64_t)b[order == BIG ? t->bytes - 1 - i : i] << (8 * i);
    if (t->kind == 'u') return (double)bits;
    if (t->kind == 'i') return (double)((int64_t)(bits << (64 - 8 * t->bytes)) >> (64 - 8 * t->bytes));
    memcpy(&large, &bits, sizeof large);
    if (t->bytes == 8) return large;
    const uint32_t half = (uint32_t)bits;
    memcpy(&small, &half, sizeof small);
    return (double)small;
}

/* False: the file ends, or the text is no number. */
static bool next_number(ply *p, const ply_type *t, double *v)
{
    char *end;

    if (p->order != TEXT) {
        if (p->end - p->at < t->bytes) return false;
        *v = number_of_bytes((const uint8_t *)p->at, t, p->order);
        p->at += t->bytes;
        return true;
    }
    *v = strtod(p->at, &end);                              /* the text ends with a NUL */
    if (end == p->at) return false;
    p->at = end;
    return true;
}

/* Reads a property; a list goes to p->list. Returns how many numbers, -1: the file ends. */
static long take_property(ply *p, const ply_property *q, double *single)
{
    double count;

    if (!q->count) return next_number(p, q->type, single) ? 1 : -1;
    if (!next_number(p, q->count, &count)) return -1;
    if (!(count >= 0 && count <= MOST_CORNERS)) spot_parser_fail("a list has more than 1048576 numbers, or less than none");
    for (long i = 0; i < (long)count; i++)
        if (!next_number(p, q->type, &p->list[i])) return -1;
    return (long)count;
}

static _Noreturn void fail_short(const ply_element *e)
{
    char what[NAME + 16];

    snprintf(what, sizeof what, "elements \"%s\"", e->name);
    spot_flat_fail_short(what, e->count);
}

/* -- elements ------------------------------------------------------------------------------------------------------------- */

/* An element of n rows takes at least n times its bytes: larger numbers are refused before any memory is taken. */
static void check_room(const ply *p, const ply_element *e)
{
    double least = 0;

    for (int i = 0; i < e->properties; i++) {
        const ply_type *t = e->property[i].count ? e->property[i].count : e->property[i].type;
        least += p->order == TEXT ? 2 : t->bytes;
    }
    if (e->count * least > (double)(p->end - p->at) + 1) fail_short(e);
}

static bool has_part(const ply_element *e, int part)
{
    for (int i = 0; i < e->properties; i++)
        if (e->property[i].part == part) return true;
    return false;
}

static void take_vertices(ply *p, const ply_element *e)
{
    spot_flat *f = p->to;
    const size_t n = (size_t)e->count;

    if (f->vertices) spot_parser_fail("it has two lists of vertices");
    if (!has_part(e, X) || !has_part(e, Y) || !has_part(e, Z)) spot_parser_fail("its vertices have no x, y and z");
    f->vertices = n;
    f->place = spot_flat_take(3 * n, sizeof *f->place);
    if (has_part(e, NX)) f->normal = spot_flat_take(3 * n, sizeof *f->normal);
    if (has_part(e, U)) f->at = spot_flat_take(2 * n, sizeof *f->at);
    if (has_part(e, RED)) f->colour = spot_flat_take(4 * n, sizeof *f->colour);
    for (size_t i = 0; i < n; i++) {
        double part[OTHER + 1] = { [ALPHA] = 1 }, v;
        for (int k = 0; k < e->properties; k++) {
            const ply_property *q = &e->property[k];
            if (take_property(p, q, &v) < 0) fail_short(e);
            if (!q->count) part[q->part] = q->part >= RED && q->part <= ALPHA ? v / q->type->most : v;
        }
        for (size_t k = 0; k < 3; k++) {
            f->place[3 * i + k] = part[X + k];
            if (f->normal) f->normal[3 * i + k] = (float)part[NX + k];
        }
        for (size_t k = 0; f->colour && k < 4; k++) f->colour[4 * i + k] = (float)part[RED + k];
        if (f->at) f->at[2 * i] = (float)part[U], f->at[2 * i + 1] = (float)part[V];
    }
}

/* Colours and coordinates belong to the faces of one list: a list before or behind it would be without. */
static void begin_faces(spot_flat *f, bool own)
{
    if (f->faces && (own || f->face_colour || f->corner_at))
        spot_parser_fail("it has two lists of faces, and one has colours or coordinates of its own");
    if (!f->faces) f->face_colour = f->corner_at = NULL;
}

/* A corner's vertex; a number that no vertex can have is that of none. */
static uint32_t vertex_of(double v) { return v >= 0 && v < UINT32_MAX ? (uint32_t)v : UINT32_MAX; }

/* The parts of one face. */
typedef struct { long corners, coordinates; double colour[4]; } ply_face;

static void take_face(ply *p, const ply_element *e, ply_face *to, double *at)
{
    double v;

    *to = (ply_face){ 0, 0, { 1, 1, 1, 1 } };
    for (int k = 0; k < e->properties; k++) {
        const ply_property *q = &e->property[k];
        const long n = take_property(p, q, &v);
        if (n < 0) fail_short(e);
        if (!q->count && q->part >= RED && q->part <= ALPHA) to->colour[q->part - RED] = v / q->type->most;
        if (q->count && q->part == COORDINATES) memcpy(at, p->list, (size_t)(to->coordinates = n) * sizeof *at);
        if (!q->count || q->part != INDICES) continue;
        to->corners = n;
        for (long i = 0; i < n; i++) p->corner[i] = vertex_of(p->list[i]);
    }
}

static void take_faces(ply *p, const ply_element *e)
{
    const size_t n = (size_t)e->count;
    spot_flat *f = p->to;
    const bool coloured = has_part(e, RED), placed = has_part(e, COORDINATES);
    double *at = spot_flat_take(MOST_CORNERS, sizeof *at);
    ply_face face;

    if (!has_part(e, INDICES)) spot_parser_fail("its faces have no vertex_indices");
    begin_faces(f, coloured || placed);
    if (coloured) f->face_colour = spot_flat_take(4 * n, sizeof *f->face_colour);
    for (size_t i = 0; i < n; i++) {
        take_face(p, e, &face, at);
        spot_flat_add(f, p->corner, (size_t)face.corners);
        for (size_t k = 0; coloured && k < 4; k++) f->face_colour[4 * (f->faces - 1) + k] = (float)face.colour[k];
        if (!placed) continue;
        f->corner_at = realloc(f->corner_at, (2 * f->corners + 1) * sizeof *f->corner_at);
        if (!f->corner_at) spot_parser_give_up();
        for (size_t k = 0; k < 2 * (size_t)face.corners; k++)
            f->corner_at[2 * f->first[f->faces - 1] + k] = k < (size_t)face.coordinates ? (float)at[k] : 0;
    }
    free(at);
}

/* Strips of triangles, -1 between them; each second triangle turns the other way. */
static void take_strips(ply *p, const ply_element *e)
{
    uint32_t last[3];
    double v;

    if (!has_part(e, INDICES)) spot_parser_fail("its strips have no vertex_indices");
    begin_faces(p->to, false);
    for (size_t i = 0; i < (size_t)e->count; i++)
        for (int k = 0; k < e->properties; k++) {
            const long n = take_property(p, &e->property[k], &v);
            long in_strip = 0;
            if (n < 0) fail_short(e);
            if (!e->property[k].count || e->property[k].part != INDICES) continue;
            for (long j = 0; j < n; j++) {
                in_strip = p->list[j] < 0 ? 0 : in_strip + 1;
                if (!in_strip) continue;
                last[0] = last[1], last[1] = last[2], last[2] = vertex_of(p->list[j]);
                const uint32_t turned[3] = { last[1], last[0], last[2] };
                if (in_strip >= 3) spot_flat_add(p->to, in_strip % 2 ? last : turned, 3);
            }
        }
}

static void skip_rows(ply *p, const ply_element *e)
{
    double v;

    if (!e->properties) return;                            /* rows without bytes: there can be any number of them */
    for (size_t i = 0; i < (size_t)e->count; i++)
        for (int k = 0; k < e->properties; k++)
            if (take_property(p, &e->property[k], &v) < 0) fail_short(e);
}

void spot_ply_read(spot_flat *to, const char *text, size_t n)
{
    ply p = { .at = text, .end = text + n, .to = to };

    *to = (spot_flat){ 0 };
    p.element = spot_flat_take(ELEMENTS, sizeof *p.element);
    p.corner = spot_flat_take(MOST_CORNERS, sizeof *p.corner);
    p.list = spot_flat_take(MOST_CORNERS, sizeof *p.list);
    take_header(&p);
    for (int i = 0; i < p.elements; i++) {
        const ply_element *e = &p.element[i];
        check_room(&p, e);
        if (!strcmp(e->name, "vertex")) take_vertices(&p, e);
        else if (!strcmp(e->name, "face")) take_faces(&p, e);
        else if (!strcmp(e->name, "tristrips")) take_strips(&p, e);
        else skip_rows(&p, e);
    }
}
