/* test_mesh_ears.c - polygons cut into triangles (host/worlds/mesh_parser_ears.c): the areas of thousands of random outlines,
 * in any plane and from any corner, outlines that touch themselves, and those that cross themselves. */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "worlds/mesh_parser_ears.h"

enum { MOST = 64 };

typedef struct { double x, y; } point;

static unsigned drawn = 1;

static double chance(void)
{
    drawn = drawn * 1664525u + 1013904223u;
    return (drawn >> 8) / 16777216.0;
}

static double twice_area(const point *p, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += p[i].x * p[(i + 1) % n].y - p[(i + 1) % n].x * p[i].y;
    return sum;
}

/* The outline in the plane of two axes that are at right angles and of length 1, beginning at corner `from`. */
static void place_in_space(double *to, const point *p, int n, int from, const double axis[2][3])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            to[3 * i + k] = p[(i + from) % n].x * axis[0][k] + p[(i + from) % n].y * axis[1][k] + 3 * k;
}

/* Twice the area of the triangles; each must have corners of the polygon. */
static double area_of(const uint32_t *t, const double *p, int n)
{
    double sum = 0;

    for (int i = 0; i < n - 2; i++, t += 3) {
        double d[2][3], a = 0;
        for (int e = 0; e < 3; e++) assert_true(t[e] < (uint32_t)n);
        for (int e = 0; e < 2; e++)
            for (int k = 0; k < 3; k++) d[e][k] = p[3 * t[e + 1] + (unsigned)k] - p[3 * t[0] + (unsigned)k];
        for (int k = 0; k < 3; k++) {
            const double c = d[0][(k + 1) % 3] * d[1][(k + 2) % 3] - d[0][(k + 2) % 3] * d[1][(k + 1) % 3];
            a += c * c;
        }
        sum += sqrt(a);
    }
    return sum;
}

static void random_axes(double axis[2][3])
{
    double v[2][3], length[2], product = 0;

    for (int e = 0; e < 2; e++)
        for (int k = 0; k < 3; k++) v[e][k] = 2 * chance() - 1;
    length[0] = sqrt(v[0][0] * v[0][0] + v[0][1] * v[0][1] + v[0][2] * v[0][2]);
    for (int k = 0; k < 3; k++) axis[0][k] = v[0][k] / length[0], product += axis[0][k] * v[1][k];
    for (int k = 0; k < 3; k++) v[1][k] -= product * axis[0][k];
    length[1] = sqrt(v[1][0] * v[1][0] + v[1][1] * v[1][1] + v[1][2] * v[1][2]);
    for (int k = 0; k < 3; k++) axis[1][k] = v[1][k] / length[1];
}

static void check_outline(const point *p, int n, const char *name)
{
    const double want = fabs(twice_area(p, n));
    double place[3 * MOST], scratch[4 * MOST], axis[2][3];
    uint32_t t[3 * MOST];

    for (int from = 0; from < n; from++) {
        random_axes(axis);
        place_in_space(place, p, n, from, (const double (*)[3])axis);
        if (!spot_ears_cut(t, place, (uint32_t)n, scratch)) fail_msg("%s from corner %d: said to cross itself", name, from);
        const double got = area_of(t, place, n);
        if (!(fabs(got - want) <= 1e-9 * want)) fail_msg("%s from corner %d: area %.9g, it has %.9g", name, from, got, want);
    }
}

/* Combs, stars, spirals, steps: the shapes of tables, letters and plans. */
TEST(known_outlines_keep_their_area)
{
    static const point l[] = { { 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };
    static const point u[] = { { 0, 0 }, { 3, 0 }, { 3, 3 }, { 2, 3 }, { 2, 1 }, { 1, 1 }, { 1, 3 }, { 0, 3 } };
    static const point arrow[] = { { 0, 0 }, { 2, 0 }, { 0.5, 0.5 }, { 0, 2 } };
    static const point straight[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 2, 1 }, { 2, 2 }, { 1, 2 }, { 1, 1 }, { 0, 1 } };
    static const point twice[] = { { 0, 0 }, { 2, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };
    /* A square with a square hole: the outline runs to the hole and back on the same line. */
    static const point hole[] = { { 0, 0 }, { 4, 0 }, { 4, 4 }, { 0, 4 }, { 0, 0 },
                                  { 1, 1 }, { 1, 3 }, { 3, 3 }, { 3, 1 }, { 1, 1 } };
    /* Two squares that touch in a corner. */
    static const point touch[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 2, 1 }, { 2, 2 }, { 1, 2 }, { 1, 1 }, { 0, 1 } };

    check_outline(l, LEN(l), "L"), check_outline(u, LEN(u), "U"), check_outline(arrow, LEN(arrow), "arrow");
    check_outline(straight, LEN(straight), "straight"), check_outline(twice, LEN(twice), "twice");
    check_outline(hole, LEN(hole), "hole"), check_outline(touch, LEN(touch), "touch");
}

/* Radii around a centre make outlines that never cross themselves; every second one is turned round. */
TEST(random_outlines_keep_their_area)
{
    for (int trial = 0; trial < 2000; trial++) {
        const int n = 4 + (int)(chance() * (MOST - 4));
        point p[MOST];
        char name[32];
        for (int i = 0; i < n; i++) {
            const double angle = 2 * 3.14159265358979 * (trial % 2 ? i : n - i) / n, radius = 0.05 + chance();
            p[i] = (point){ radius * cos(angle), radius * sin(angle) };
        }
        snprintf(name, sizeof name, "outline %d", trial);
        check_outline(p, n, name);
    }
}

/* The teeth of a comb, cut as a spiral: every ear hides behind another one. */
TEST(long_outlines_are_cut)
{
    enum { TEETH = 1000, CORNERS = 2 * TEETH + 2 };
    double *place = calloc(3 * CORNERS, sizeof *place), *scratch = calloc(4 * CORNERS, sizeof *scratch);
    uint32_t *t = calloc(3 * CORNERS, sizeof *t);

    assert_true(place && scratch && t);
    for (int i = 0; i < TEETH; i++) place[6 * i] = i, place[6 * i + 3] = i + 0.5, place[6 * i + 4] = 1;
    place[6 * TEETH] = TEETH, place[6 * TEETH + 1] = -1, place[6 * TEETH + 4] = -1;
    assert_true(spot_ears_cut(t, place, CORNERS, scratch));
    double want = 0;
    for (int i = 0; i < CORNERS; i++) {
        const double *a = place + 3 * i, *b = place + 3 * ((i + 1) % CORNERS);
        want += a[0] * b[1] - b[0] * a[1];
    }
    CHECK_NEAR(area_of(t, place, CORNERS), fabs(want), 1e-6 * fabs(want));
    free(place), free(scratch), free(t);
}

TEST(outlines_that_cross_themselves_are_said)
{
    static const point bow[] = { { 0, 0 }, { 1, 1 }, { 1, 0 }, { 0, 1 } };
    static const point star[] = { { 0, 1 }, { 0.59, -0.81 }, { -0.95, 0.31 }, { 0.95, 0.31 }, { -0.59, -0.81 } };
    const double axis[2][3] = { { 1, 0, 0 }, { 0, 1, 0 } };
    double place[3 * MOST], scratch[4 * MOST];
    uint32_t t[3 * MOST];

    place_in_space(place, bow, 4, 0, axis);
    assert_false(spot_ears_cut(t, place, 4, scratch));
    place_in_space(place, star, 5, 0, axis);
    assert_false(spot_ears_cut(t, place, 5, scratch));
    for (int i = 0; i < 9; i++) assert_true(t[i] < 5);
}

/* A polygon that is a point, a line, or has places that are no numbers gives triangles, too; others drop them. */
TEST(nothing_is_too_broken)
{
    double place[3 * 6] = { 0 }, scratch[4 * 6];
    uint32_t t[3 * 4];

    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < 6; i++) {
            place[3 * i] = kind == 1 ? i * i % 5 : kind == 2 && i == 3 ? NAN : 0;
            place[3 * i + 1] = kind == 2 ? i % 3 : 0;
        }
        spot_ears_cut(t, place, 6, scratch);
        for (int i = 0; i < 12; i++) assert_true(t[i] < 6);
    }
}
