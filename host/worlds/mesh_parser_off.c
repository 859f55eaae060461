/* mesh_parser_off.c - OFF as text: [ST][C][N]OFF, a vertex or a face on a line, and colours of faces behind their corners. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "worlds/mesh_parser_flat.h"
#include "worlds/mesh_parser_scene.h"

enum { MOST_CORNERS = 1 << 20 };

typedef struct { const char *at, *end; } span;

/* The next line that has a word; comments are cut off. False: the file ends. */
static bool next_line(span *line, span *rest)
{
    while (rest->at < rest->end) {
        const char *from = rest->at, *p;
        while (rest->at < rest->end && *rest->at != '\n' && *rest->at != '\r') rest->at++;
        line->at = from, line->end = rest->at;
        if (rest->at < rest->end) rest->at++;
        for (p = line->at; p < line->end && *p != '#'; p++) continue;
        line->end = p;
        while (line->at < line->end && (*line->at == ' ' || *line->at == '\t')) line->at++;
        if (line->at < line->end) return true;
    }
    return false;
}

/* The next number of a line; the text ends with a NUL. */
static bool next_number(span *line, double *v)
{
    char *end;

    while (line->at < line->end && (*line->at == ' ' || *line->at == '\t')) line->at++;
    if (line->at >= line->end) return false;
    *v = strtod(line->at, &end);
    if (end == line->at || end > line->end) return false;
    line->at = end;
    return true;
}

/* A vertex's numbers: its place, then its normal, its colour and its coordinates. */
typedef struct { bool coordinates, colours, normals; } layout;

static bool take_word(span *s, const char *word)
{
    const size_t n = strlen(word);

    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n)) return false;
    s->at += n;
    return true;
}

/* The three counts may stand on the first line, right behind OFF, or on the next one. */
static layout take_header(span *text, double count[3])
{
    span line;
    layout l;

    if (!next_line(&line, text)) spot_parser_fail("it is empty");
    l.coordinates = take_word(&line, "ST");
    l.colours = take_word(&line, "C");
    l.normals = take_word(&line, "N");
    if (!take_word(&line, "OFF")) spot_parser_fail("it does not begin with \"OFF\", or has four or n dimensions");
    while (line.at < line.end && *line.at == ' ') line.at++;
    if (take_word(&line, "BINARY")) spot_parser_fail("it is a binary OFF, which is not read; write it as text");
    if (!next_number(&line, &count[0]) && (!next_line(&line, text) || !next_number(&line, &count[0])))
        spot_parser_fail("its first line has no number of vertices");
    if (!next_number(&line, &count[1])) spot_parser_fail("its first line has no number of faces");
    for (int k = 0; k < 2; k++)
        if (!(count[k] >= 0 && 2 * count[k] <= (double)(text->end - text->at) + 1))
            spot_flat_fail_short(k ? "faces" : "vertices", count[k]);
    return l;
}

static void take_vertex(spot_flat *f, size_t i, span line, const layout *l, double said)
{
    double v;

    for (size_t k = 0; k < 3; k++)
        if (!next_number(&line, &f->place[3 * i + k])) spot_flat_fail_short("vertices", said);
    for (size_t k = 0; l->normals && k < 3; k++)
        if (next_number(&line, &v)) f->normal[3 * i + k] = (float)v;
    for (size_t k = 0; l->colours && k < 4; k++) f->colour[4 * i + k] = next_number(&line, &v) ? (float)v : NAN;
    for (size_t k = 0; l->coordinates && k < 2; k++)
        if (next_number(&line, &v)) f->at[2 * i + k] = (float)v;
}

static void take_face(spot_flat *f, span line, uint32_t *corner, double said, bool *coloured)
{
    double v, colour[4] = { 1, 1, 1, NAN };                /* without an alpha */
    int n = 0;

    if (!next_number(&line, &v)) spot_flat_fail_short("faces", said);
    if (!(v >= 0 && v <= MOST_CORNERS)) spot_parser_fail("a face has more than 1048576 corners, or less than none");
    const size_t corners = (size_t)v;
    for (size_t k = 0; k < corners; k++) {
        if (!next_number(&line, &v)) spot_flat_fail_short("faces", said);
        corner[k] = v >= 0 && v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
    }
    spot_flat_add(f, corner, corners);
    while (n < 4 && next_number(&line, &colour[n])) n++;
    if (n < 3) colour[0] = colour[1] = colour[2] = 1;      /* a number alone is one of a map that few files have */
    *coloured = *coloured || n >= 3;
    for (size_t k = 0; k < 4; k++) f->face_colour[4 * (f->faces - 1) + k] = (float)colour[k];
}

void spot_off_read(spot_flat *to, const char *text, size_t n)
{
    span rest = { text, text + n }, line;
    uint32_t *corner = spot_flat_take(MOST_CORNERS, sizeof *corner);
    bool coloured = false;
    double count[3];

    *to = (spot_flat){ 0 };
    const layout l = take_header(&rest, count);
    to->vertices = (size_t)count[0];
    to->place = spot_flat_take(3 * to->vertices, sizeof *to->place);
    if (l.normals) to->normal = spot_flat_take(3 * to->vertices, sizeof *to->normal);
    if (l.colours) to->colour = spot_flat_take(4 * to->vertices, sizeof *to->colour);
    if (l.coordinates) to->at = spot_flat_take(2 * to->vertices, sizeof *to->at);
    to->face_colour = spot_flat_take(4 * (size_t)count[1], sizeof *to->face_colour);
    for (size_t i = 0; i < to->vertices; i++) {
        if (!next_line(&line, &rest)) spot_flat_fail_short("vertices", count[0]);
        take_vertex(to, i, line, &l, count[0]);
    }
    for (size_t i = 0; i < (size_t)count[1]; i++) {
        if (!next_line(&line, &rest)) spot_flat_fail_short("faces", count[1]);
        take_face(to, line, corner, count[1], &coloured);
    }
    if (!coloured) to->face_colour = NULL;
}
