/* mesh_parser_ears.c - cuts polygons into triangles by their ears.
 *
 * The polygon is seen along the axis on which its normal is longest. Where its first corner, or another one of a quadrangle,
 * sees all others, it is a fan. Otherwise ears are cut off one by one: a corner that is convex and whose triangle holds no
 * other corner. A place that the outline passes twice hinders an ear only where the outline goes into it there. */
#include "worlds/mesh_parser_ears.h"

#include <math.h>
#include <stddef.h>

/* Share of the areas' sum by which rounding may change it. */
#define ROUNDING 1e-9

/* The polygon in its plane, and the ring of the corners that are left. */
typedef struct {
    uint32_t corners;
    double *x, *y;
    uint32_t *next, *before;
} outline;

static double turn(const outline *o, uint32_t a, uint32_t b, uint32_t c)
{
    return (o->x[b] - o->x[a]) * (o->y[c] - o->y[a]) - (o->y[b] - o->y[a]) * (o->x[c] - o->x[a]);
}

static bool is_same(const outline *o, uint32_t a, uint32_t b) { return o->x[a] == o->x[b] && o->y[a] == o->y[b]; }

/* Twice the area as seen along an axis: Newell's sum, with places counted from the first corner. */
static void normal_of(double *normal, const double *place, uint32_t corners)
{
    normal[0] = normal[1] = normal[2] = 0;
    for (uint32_t i = 1; i + 1 < corners; i++) {
        const double *a = place, *b = place + 3 * (size_t)i, *c = b + 3;
        for (int k = 0; k < 3; k++) {
            const int p = (k + 1) % 3, q = (k + 2) % 3;
            normal[k] += (b[p] - a[p]) * (c[q] - a[q]) - (b[q] - a[q]) * (c[p] - a[p]);
        }
    }
}

/* The axis along which the polygon is thinnest: of one that crosses itself the sum can be nothing. */
static int thinnest(const double *place, uint32_t corners)
{
    double size[3] = { 0, 0, 0 };
    int k = 0;

    for (uint32_t i = 1; i < corners; i++)
        for (int j = 0; j < 3; j++) size[j] = fmax(size[j], fabs(place[3 * (size_t)i + (size_t)j] - place[j]));
    for (int j = 1; j < 3; j++)
        if (size[j] < size[k]) k = j;
    return k;
}

/* Sets the corners so that the outline runs against the clock. Returns twice its area. */
static double lay_flat(outline *o, const double *place)
{
    double normal[3];
    int k = 0;

    normal_of(normal, place, o->corners);
    for (int j = 1; j < 3; j++)
        if (fabs(normal[j]) > fabs(normal[k])) k = j;
    if (normal[k] == 0) k = thinnest(place, o->corners);
    const int p = normal[k] < 0 ? (k + 2) % 3 : (k + 1) % 3, q = normal[k] < 0 ? (k + 1) % 3 : (k + 2) % 3;
    for (uint32_t i = 0; i < o->corners; i++) {
        o->x[i] = place[3 * (size_t)i + (size_t)p] - place[p];
        o->y[i] = place[3 * (size_t)i + (size_t)q] - place[q];
    }
    return fabs(normal[k]);
}

static void put(uint32_t **to, uint32_t a, uint32_t b, uint32_t c) { *(*to)++ = a, *(*to)++ = b, *(*to)++ = c; }

/* The fan from a corner; false: a triangle of it would turn the other way. */
static bool cut_fan(uint32_t *to, const outline *o, uint32_t from, bool anyway)
{
    for (uint32_t i = 1; i + 1 < o->corners; i++) {
        const uint32_t b = (from + i) % o->corners, c = (from + i + 1) % o->corners;
        if (!anyway && turn(o, from, b, c) < 0) return false;
        put(&to, from, b, c);
    }
    return true;
}

/* Whether the outline, which passes the ear's corner b again as p, goes into the ear there. */
static bool goes_in(const outline *o, uint32_t p, uint32_t a, uint32_t b, uint32_t c)
{
    for (int e = 0; e < 2; e++) {
        const uint32_t q = e ? o->next[p] : o->before[p];
        if (turn(o, a, b, q) > 0 && turn(o, b, c, q) > 0) return true;
    }
    return false;
}

/* Whether corner p hinders the ear a, b, c: it lies in its triangle or on its border, or at one of its corners and goes in.
 * Only a corner that is not convex can lie in an ear first. */
static bool hinders(const outline *o, uint32_t p, uint32_t a, uint32_t b, uint32_t c)
{
    if (is_same(o, p, a)) return goes_in(o, p, c, a, b);
    if (is_same(o, p, b)) return goes_in(o, p, a, b, c);
    if (is_same(o, p, c)) return goes_in(o, p, b, c, a);
    return turn(o, o->before[p], p, o->next[p]) <= 0 && turn(o, a, b, p) >= 0 && turn(o, b, c, p) >= 0
        && turn(o, c, a, p) >= 0;
}

static bool is_ear(const outline *o, uint32_t b)
{
    const uint32_t a = o->before[b], c = o->next[b];

    if (!(turn(o, a, b, c) > 0)) return false;
    for (uint32_t p = o->next[c]; p != a; p = o->next[p])
        if (hinders(o, p, a, b, c)) return false;
    return true;
}

/* The outline goes to the corner and back on the same line, or stays where it is. */
static bool is_spike(const outline *o, uint32_t b)
{
    return is_same(o, o->before[b], o->next[b]) || is_same(o, o->before[b], b);
}

/* A corner between two others on one line, or at the place of one of them, has an ear without area. */
static bool is_straight(const outline *o, uint32_t b) { return turn(o, o->before[b], b, o->next[b]) == 0; }

static bool is_convex(const outline *o, uint32_t b) { return turn(o, o->before[b], b, o->next[b]) > 0; }

/* The next corner from `at` on that fits; `at` itself where none does, and *found says so. */
static uint32_t find(const outline *o, uint32_t at, bool (*fits)(const outline *, uint32_t), bool *found)
{
    uint32_t b = at;

    do {
        *found = fits(o, b);
        if (*found) return b;
        b = o->next[b];
    } while (b != at);
    return at;
}

static void cut_ears(uint32_t *to, const outline *o)
{
    uint32_t left = o->corners, at = 0;

    for (uint32_t i = 0; i < left; i++) o->next[i] = (i + 1) % left, o->before[i] = (i + left - 1) % left;
    for (; left > 3; left--) {
        bool found;
        uint32_t b = find(o, at, is_spike, &found);
        if (!found) b = find(o, at, is_ear, &found);
        if (!found) b = find(o, at, is_straight, &found);
        if (!found) b = find(o, at, is_convex, &found);
        put(&to, o->before[b], b, o->next[b]);
        o->next[o->before[b]] = o->next[b];
        o->before[o->next[b]] = o->before[b];
        at = o->next[o->next[b]];                          /* leaves thin fans to polygons that need them */
    }
    put(&to, o->before[at], at, o->next[at]);
}

static double area_of(const uint32_t *triangle, const outline *o)
{
    double sum = 0;

    for (uint32_t i = 0; i + 2 < o->corners; i++, triangle += 3)
        sum += fabs(turn(o, triangle[0], triangle[1], triangle[2]));
    return sum;
}

bool spot_ears_cut(uint32_t *triangle, const double *place, uint32_t corners, double *scratch)
{
    outline o = { corners, scratch, scratch + corners, (uint32_t *)(void *)(scratch + 2 * (size_t)corners), NULL };
    const double area = lay_flat(&o, place);

    o.before = o.next + corners;
    if (cut_fan(triangle, &o, 0, false) || (corners == 4 && cut_fan(triangle, &o, 1, false))) return true;
    if (corners > SPOT_EARS_CORNERS) return cut_fan(triangle, &o, 0, true), false;
    cut_ears(triangle, &o);
    return area_of(triangle, &o) <= area * (1 + ROUNDING);
}
