/* mesh_parser_obj.c - an OBJ file line by line: counts and the box first, then the text. */
#define _POSIX_C_SOURCE 200809L
#include "worlds/mesh_parser_obj.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PARTS = 3 };                        /* of a face's corner: place, coordinate, normal */

typedef struct { const char *at, *end; } span;

typedef struct {
    long long count[PARTS];                /* v, vt and vn of the file, or up to a line */
    double low[3], high[3];
} facts;

/* -- lines ---------------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* The rest without blanks in front. */
static span trim(span s)
{
    while (s.at < s.end && is_blank(*s.at)) s.at++;
    return s;
}

/* A line that a backslash continues ends behind the next one. Only lines of numbers are continued: the name of a file may end
 * with a backslash. */
static const char *end_of_line(const char *at, const char *end)
{
    const bool numbers = at < end && (*at == 'v' || *at == 'f' || *at == 'l' || *at == 'p');

    for (;; at++) {
        while (at < end && *at != '\n' && *at != '\r') at++;
        if (at == end || !numbers || at[-1] != '\\') return at;
        if (*at == '\r' && at + 1 < end && at[1] == '\n') at++;
    }
}

static bool next_line(span *line, span *rest)
{
    if (rest->at == rest->end) return false;
    *line = trim((span){ rest->at, rest->end });
    line->end = end_of_line(line->at, rest->end);
    rest->at = line->end < rest->end ? line->end + 1 : line->end;
    return true;
}

static bool is_gap(char c) { return is_blank(c) || c == '\\' || c == '\n' || c == '\r'; }

/* The next word of a line; false: none. */
static bool next_word(span *word, span *line)
{
    while (line->at < line->end && is_gap(*line->at)) line->at++;
    word->at = line->at;
    while (line->at < line->end && !is_gap(*line->at)) line->at++;
    word->end = line->at;
    return word->at < word->end;
}

static bool is_word(span word, const char *text)
{
    const size_t n = strlen(text);

    return (size_t)(word.end - word.at) == n && !memcmp(word.at, text, n);
}

/* Tells which of v, vt and vn a line is; -1: another one. */
static int kind_of(span word)
{
    return is_word(word, "v") ? 0 : is_word(word, "vt") ? 1 : is_word(word, "vn") ? 2 : -1;
}

/* -- places --------------------------------------------------------------------------------------------------------------- */

/* The numbers of a line, at most `most`; returns how many there are. The text ends with a NUL. */
static int numbers_of(span line, double *v, int most)
{
    span word;
    int n = 0;

    while (n < most && next_word(&word, &line)) {
        char *end;
        v[n] = strtod(word.at, &end);
        if (end == word.at || end > word.end) break;
        n++;
    }
    return n;
}

/* Four numbers are homogeneous; six are a place and a colour. */
static bool place_of(span line, double place[3], double *number, int *n)
{
    *n = numbers_of(line, number, 7);
    for (int k = 0; k < 3; k++) place[k] = *n == 4 && number[3] != 0 ? number[k] / number[3] : number[k];
    return *n >= 3 && isfinite(place[0]) && isfinite(place[1]) && isfinite(place[2]);
}

static facts facts_of(span text)
{
    facts f = { { 0 }, { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    double place[3], number[7] = { 0 };
    span line, word;
    int n;

    while (next_line(&line, &text)) {
        const int kind = next_word(&word, &line) ? kind_of(word) : -1;
        if (kind < 0) continue;
        f.count[kind]++;
        if (kind > 0 || !place_of(line, place, number, &n)) continue;
        for (int k = 0; k < 3; k++) f.low[k] = fmin(f.low[k], place[k]), f.high[k] = fmax(f.high[k], place[k]);
    }
    return f;
}

void spot_parser_origin(double origin[3], const double low[3], const double high[3])
{
    double diagonal = 0, away = 0;

    for (int k = 0; k < 3; k++) {
        origin[k] = low[k] + (high[k] - low[k]) / 2;
        diagonal += (high[k] - low[k]) * (high[k] - low[k]);
        away += origin[k] * origin[k];
    }
    if (!(away > SPOT_PARSER_FAR * SPOT_PARSER_FAR * diagonal && isfinite(away))) origin[0] = origin[1] = origin[2] = 0;
}

static bool put_moved(FILE *to, span line, const double *origin)
{
    double place[3], number[7] = { 0 };
    int n;

    if (!place_of(line, place, number, &n)) return false;
    fprintf(to, "v %.9g %.9g %.9g", place[0] - origin[0], place[1] - origin[1], place[2] - origin[2]);
    for (int k = 3; k < n && n > 4; k++) fprintf(to, " %.9g", number[k]);
    return true;
}

/* -- faces ---------------------------------------------------------------------------------------------------------------- */

/* A corner "1/2/3": its numbers, and which of them there are. */
typedef struct { long long at[PARTS]; bool has[PARTS]; } corner;

static bool corner_of(span word, corner *to)
{
    *to = (corner){ { 0 }, { 0 } };
    for (int k = 0; k < PARTS && word.at < word.end; k++) {
        char *end;
        if (*word.at != '/') {
            to->at[k] = strtoll(word.at, &end, 10);
            if (end == word.at || end > word.end) return false;
            to->has[k] = true, word.at = end;
        }
        if (word.at < word.end && *word.at++ != '/') return false;
    }
    return to->has[0] && word.at == word.end;
}

static bool is_there(long long at, long long all, long long before)
{
    return at > 0 ? at <= all : at < 0 && at >= -before;
}

/* Finds which parts all corners of the face have, and which of them are there. False: a corner is no such text. */
static bool parts_of(span line, const facts *all, const facts *before, bool use[PARTS], bool *whole)
{
    bool has[PARTS] = { false }, lacks[PARTS] = { false };
    span word;
    corner c;

    *whole = true;
    while (next_word(&word, &line)) {
        if (*word.at == '#') break;
        if (!corner_of(word, &c)) return false;
        for (int k = 1; k < PARTS; k++) {
            const bool good = c.has[k] && is_there(c.at[k], all->count[k], before->count[k]);
            has[k] = has[k] || c.has[k], lacks[k] = lacks[k] || !good;
        }
    }
    for (int k = 1; k < PARTS; k++) {
        use[k] = has[k] && !lacks[k];
        *whole = *whole && (use[k] || !has[k]);
    }
    return true;
}

static void put_face(FILE *to, span line, const bool use[PARTS])
{
    span word;
    corner c;

    fputc('f', to);
    while (next_word(&word, &line) && *word.at != '#') {
        corner_of(word, &c);
        fprintf(to, " %lld", c.at[0]);
        if (use[1]) fprintf(to, "/%lld", c.at[1]);
        if (use[2]) fprintf(to, use[1] ? "/%lld" : "//%lld", c.at[2]);
    }
}

/* -- the whole ------------------------------------------------------------------------------------------------------------ */

static void put_line(FILE *to, span line, const facts *all, facts *before, const double *origin, uint32_t *lost)
{
    const bool moves = origin[0] != 0 || origin[1] != 0 || origin[2] != 0;
    span rest = line, word;
    bool use[PARTS], whole;
    const int kind = next_word(&word, &rest) ? kind_of(word) : -1;

    if (kind >= 0) before->count[kind]++;
    if (kind == 0 && moves && put_moved(to, rest, origin)) return;
    if (is_word(word, "f") && parts_of(rest, all, before, use, &whole) && !whole) {
        put_face(to, rest, use);
        ++*lost;
        return;
    }
    fwrite(line.at, 1, (size_t)(line.end - line.at), to);
}

static char *close_text(FILE *to, char **bytes, size_t *size)
{
    const bool bad = ferror(to);

    if (!fclose(to) && !bad && *bytes) return *bytes;
    free(*bytes);
    *size = 0;
    return NULL;
}

char *spot_obj_mend(const char *text, size_t n, size_t *size, uint32_t *lost)
{
    span rest = { text, text + n }, line;
    const facts all = facts_of(rest);
    facts before = { { 0 }, { 0 }, { 0 } };
    char *bytes = NULL;
    FILE *to = open_memstream(&bytes, size);
    double origin[3];

    if (!to) return NULL;
    spot_parser_origin(origin, all.low, all.high);
    while (next_line(&line, &rest)) {
        put_line(to, line, &all, &before, origin, lost);
        fputc('\n', to);
    }
    return close_text(to, &bytes, size);
}

/* -- materials ------------------------------------------------------------------------------------------------------------ */

/* The arguments of a picture's options: a number of words, or -1: up to three numbers. */
static int arguments_of(span word)
{
    static const struct { const char *name; int words; } option[] = {
        { "-s", -1 }, { "-o", -1 }, { "-t", -1 }, { "-mm", 2 }, { "-blendu", 1 }, { "-blendv", 1 }, { "-bm", 1 },
        { "-boost", 1 }, { "-cc", 1 }, { "-clamp", 1 }, { "-imfchan", 1 }, { "-texres", 1 }, { "-type", 1 },
    };

    for (size_t i = 0; i < sizeof option / sizeof *option; i++)
        if (is_word(word, option[i].name)) return option[i].words;
    return 0;
}

/* Takes the options in front of a picture's name. */
static void take_options(span *line, spot_mtl_place *p)
{
    span word, rest = *line;

    while (next_word(&word, &rest)) {
        int left = arguments_of(word);
        double v = 0;
        float *to = is_word(word, "-s") ? p->scale : is_word(word, "-o") ? p->offset : NULL;
        if (!left) return;
        for (int i = 0; left < 0 ? i < 3 : i < left; i++) {
            const span kept = rest;
            if (!next_word(&word, &rest)) break;
            if (left < 0 && !numbers_of(word, &v, 1)) {
                rest = kept;
                break;
            }
            if (to && i < 2) to[i] = (float)v;
        }
        *line = rest;
    }
}

/* A name without blanks and quotes around it. */
static span bare(span s)
{
    s = trim(s);
    while (s.end > s.at && is_blank(s.end[-1])) s.end--;
    if (s.end - s.at >= 2 && *s.at == '"' && s.end[-1] == '"') s.at++, s.end--;
    return s;
}

static void keep_place(spot_mtl_places *l, const spot_mtl_place *p)
{
    spot_mtl_place *more;

    if (p->scale[0] == 1 && p->scale[1] == 1 && p->offset[0] == 0 && p->offset[1] == 0) return;
    more = realloc(l->place, (l->count + 1) * sizeof *more);
    if (!more) return;
    l->place = more, l->place[l->count++] = *p;
}

/* Pictures' words come in any case. */
static const char *picture_of(span word)
{
    static const char *const known[] = { "map_Kd", "map_d", "map_opacity" };
    const size_t n = (size_t)(word.end - word.at);

    for (int i = 0; i < 3; i++)
        if (n == strlen(known[i]) && !strncasecmp(word.at, known[i], n)) return i ? "map_d" : "map_Kd";
    return NULL;
}

static bool is_number(span word)
{
    return is_word(word, "Kd") || is_word(word, "Ks") || is_word(word, "Ns") || is_word(word, "d") || is_word(word, "Tr");
}

static void put_picture(FILE *to, const char *word, span line, const spot_mtl_place *material, spot_mtl_places *places)
{
    spot_mtl_place p = *material;
    span name;

    take_options(&line, &p);
    name = bare(line);
    if (name.at == name.end) return;
    if (!strcmp(word, "map_Kd")) keep_place(places, &p);
    fprintf(to, "%s %.*s\n", word, (int)(name.end - name.at), name.at);
}

/* Writes the line of numbers, if it is one: d may have the option -halo. */
static void put_numbers(FILE *to, span word, span line)
{
    span rest = line, first;
    double v[3];
    int n;

    if (next_word(&first, &rest) && is_word(first, "-halo")) line = rest;
    n = numbers_of(line, v, 3);
    if (!n) return;
    fprintf(to, "%.*s", (int)(word.end - word.at), word.at);
    for (int k = 0; k < n; k++) fprintf(to, " %.9g", v[k]);
    fputc('\n', to);
}

char *spot_mtl_mend(const char *text, size_t n, size_t *size, spot_mtl_places *places)
{
    span rest = { text, text + n }, line, word;
    spot_mtl_place material = { "", { 1, 1 }, { 0, 0 } };
    char *bytes = NULL;
    FILE *to = open_memstream(&bytes, size);
    bool has_opacity = false;

    if (!to) return NULL;
    while (next_line(&line, &rest)) {
        if (!next_word(&word, &line)) continue;
        if (is_word(word, "newmtl")) {
            const span name = bare(line);
            snprintf(material.material, sizeof material.material, "%.*s", (int)(name.end - name.at), name.at);
            fprintf(to, "newmtl %.*s\n", (int)(name.end - name.at), name.at);
            has_opacity = false;
        } else if (picture_of(word)) {
            put_picture(to, picture_of(word), line, &material, places);
        } else if (is_number(word) && !(has_opacity && is_word(word, "Tr"))) {
            has_opacity = has_opacity || is_word(word, "d");
            put_numbers(to, word, line);
        }
    }
    return close_text(to, &bytes, size);
}
