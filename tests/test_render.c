/* test_render.c - single images of kernels/image/render: a sphere and a plane against their formulas, edges that triangles
 * share, cameras at the poles and within an object, ties, repeated corners, and input that is refused. ctest: threads, both */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "core/problems.h"
#include "op_mesh.h"

enum { SIDE = 48 };

static const double turn = 3.14159265358979323846 / 180;

/* One image and what it says. */
typedef struct { uint8_t rgb[3 * SIDE * SIDE], mask[SIDE * SIDE]; float depth[SIDE * SIDE]; spot_shot_facts facts; } image;

static spot_render_settings settings_of(int samples)
{
    spot_render_settings s = spot_render_defaults();

    s.size = SIDE, s.samples = samples;
    return s;
}

static spot_conditions from(double distance, double azimuth, double elevation)
{
    spot_conditions c = { { 0 } };

    c.value[SPOT_CAMERA_DISTANCE] = (float)distance, c.value[SPOT_CAMERA_AZIMUTH] = (float)azimuth;
    c.value[SPOT_CAMERA_ELEVATION] = (float)elevation, c.value[SPOT_LAMP_DISTANCE] = 10;
    return c;
}

static void draw(image *out, const spot_toy *toy, const spot_render_settings *s, spot_conditions at, int threads)
{
    spot_ctx c = check_ctx(threads);
    const spot_shot shot = { 0, -1, at };
    spot_render_mesh *mesh;
    spot_arena a;

    CHECK_OK(&c, spot_render_take(&c, &mesh, &toy->mesh));
    const spot_render_mesh *const all[] = { mesh };
    const spot_render_call r = { s, all, 1, NULL, 0, &shot, 1, out->rgb, out->mask, out->depth, &out->facts };
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_render_scratch(&c, &r)));
    CHECK_OK(&c, spot_render_draw(&c, &a, &r));
    assert_int_equal(a.used, 0);
    spot_arena_close(&a);
    spot_render_give(&c, mesh);
}

static double to_byte(double v)
{
    v = fmin(v, 1);
    return 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055);
}

static void done(spot_toy *t)
{
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_toy_done(&c, t));
}

/* -- light --------------------------------------------------------------------------------------------------------------- */

/* A sphere of radius .4, seen from (1.5, 0, 0), with the sun above: Lambert and Blinn-Phong by formula. Its 60 rings are flat
 * by 3e-4 of the radius at most, and its normals are those of the sphere. */
TEST(a_sphere_has_its_light)
{
    static const float middle[3] = { 0, 0, 0 };
    const double slope = tan(49.13 / 2 * turn), sun[3] = { 0, -sin(40 * turn), cos(40 * turn) };
    spot_render_settings s = settings_of(1);
    spot_conditions at = from(1.5, 0, 0);
    spot_toy toy;
    image got;
    int shiny = 0, compared = 0;

    at.value[SPOT_SUN_X] = 40, at.value[SPOT_SUN_ENERGY] = 1.5f;
    spot_toy_open(&toy, 4 * 60 * 60);
    spot_toy_ball(&toy, middle, 0.4f, 0, 60, 1);
    done(&toy);
    draw(&got, &toy, &s, at, 1);
    for (int e = 0; e < SIDE * SIDE; e++) {
        const double y = (2 * (e % SIDE + 0.5) / SIDE - 1) * slope, z = (1 - 2 * (e / SIDE + 0.5) / SIDE) * slope;
        const double a = 1 + y * y + z * z, square = 2.25 - a * (2.25 - 0.16), h = 1.5 - sqrt(fmax(square, 0));
        const double t = h / a, n[3] = { (1.5 - t) / 0.4, y * t / 0.4, z * t / 0.4 };
        if (square < 0.02) continue;                                   /* outside, or at the edge */
        const double length = sqrt(a), v[3] = { 1 / length, -y / length, -z / length };
        const double hx = v[0] + sun[0], hy = v[1] + sun[1], hz = v[2] + sun[2], half = sqrt(hx * hx + hy * hy + hz * hz);
        const double facing = fmax(0, n[1] * sun[1] + n[2] * sun[2]) * 1.5 / 3.14159265358979323846;
        const double power = pow(fmax(0, (n[0] * hx + n[1] * hy + n[2] * hz) / half), 40);
        for (int c = 0; c < 3; c++) {
            const double diffuse = toy.look[1].diffuse[c], lit = 0.15 * diffuse + facing * (diffuse + 0.5 * 0.8 * power);
            CHECK_NEAR(got.rgb[3 * e + c], to_byte(lit), 1.6);
        }
        CHECK_NEAR(got.depth[e], t, 2e-3);
        compared++, shiny += power > 0.5;
    }
    assert_true(compared > 400);
    assert_true(shiny > 10);
    spot_toy_close(&toy);
}

/* A square at z = 0 that fills the image from above: Lambert and the lamp's two laws at every pixel. */
TEST(a_plane_has_its_light)
{
    static const float corner[2][9] = { { -4, -4, 0, 4, -4, 0, 4, 4, 0 }, { -4, -4, 0, 4, 4, 0, -4, 4, 0 } };
    spot_render_settings s = settings_of(1);
    spot_conditions at = from(2, 0, 90);
    spot_toy toy;
    image got;

    spot_toy_open(&toy, 2);
    for (int i = 0; i < 2; i++) spot_toy_triangle(&toy, corner[i], NULL, NULL, 0);
    done(&toy);
    at.value[SPOT_LAMP_ENERGY] = 0.9f, at.value[SPOT_LAMP_ELEVATION] = 50, at.value[SPOT_LAMP_AZIMUTH] = 30;
    for (s.falloff = 0; s.falloff < 2; s.falloff++) {
        draw(&got, &toy, &s, at, 1);
        for (int e = 0; e < SIDE * SIDE; e++) {
            const double slope = tan(49.13 / 2 * turn), right = (2 * (e % SIDE + 0.5) / SIDE - 1) * slope * 2;
            const double up = (1 - 2 * (e / SIDE + 0.5) / SIDE) * slope * 2, x = -up, y = right;       /* up is -x from above */
            const double l[3] = { 10 * cos(50 * turn) * cos(30 * turn) - x, 10 * cos(50 * turn) * sin(30 * turn) - y,
                                  10 * sin(50 * turn) };
            const double r = sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
            const double energy = 0.9 * (s.falloff ? 625 / (625 + r * r) : 25 / (25 + r));
            for (int c = 0; c < 3; c++)
                CHECK_NEAR(got.rgb[3 * e + c], to_byte(toy.look[0].diffuse[c] * (0.15 + energy * l[2] / r)), 0.51);
            CHECK_NEAR(got.depth[e], 2, 1e-5);
            assert_int_equal(got.mask[e], 255);
        }
        assert_true(got.facts.area == 1 && got.facts.border == 1);
    }
    spot_toy_close(&toy);
}

/* The sun's greatest energy is cut at 1 for each sample; and facts of one colour. */
TEST(light_is_cut_at_1)
{
    static const float triangle[9] = { -9, -9, 0, 9, -9, 0, 0, 30, 0 };
    spot_render_settings s = settings_of(2);
    spot_conditions at = from(1, 45, 90);
    spot_toy toy;
    image got;

    s.sun_scale = 1, at.value[SPOT_SUN_ENERGY] = 5;
    spot_toy_open(&toy, 1);
    spot_toy_triangle(&toy, triangle, NULL, NULL, 0);
    done(&toy);
    for (int c = 0; c < 3; c++) toy.look[0].diffuse[c] = 0.5f;
    draw(&got, &toy, &s, at, 1);
    for (int e = 0; e < 3 * SIDE * SIDE; e++) assert_int_equal(got.rgb[e], 255);
    CHECK_NEAR(got.facts.light, 1, 1e-6);
    CHECK_NEAR(got.facts.spread, 0, 1e-6);
    CHECK_NEAR(got.facts.contrast, 1 - to_byte(0.2) / 255, 1e-4);
    s.sun_scale = 0.0625;                                              /* 0.5 (0.15 + 0.3125) */
    draw(&got, &toy, &s, at, 1);
    CHECK_NEAR(got.facts.light, 0.23125, 1e-5);
    assert_int_equal(got.rgb[0], (int)(to_byte(0.23125) + 0.5));
    spot_toy_close(&toy);
}

/* -- coverage ------------------------------------------------------------------------------------------------------------ */

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

enum { GRID = 7 };

/* Places of a square's grid: at random, or at centres of samples, so that edges run through other centres, too. */
static void place_grid(float place[GRID + 1][GRID + 1][3], bool exact)
{
    uint32_t seed = 5;

    for (int i = 0; i <= GRID; i++)
        for (int j = 0; j <= GRID; j++)
            for (int k = 0, at = i; k < 2; k++, at = j) {
                const bool inner = i > 0 && i < GRID && j > 0 && j < GRID;
                const double aside = (double)(next(&seed) % 1000) / 1000;
                if (at == 0 || at == GRID) place[i][j][k] = at ? 1.1f : -1.1f;
                else if (exact)            place[i][j][k] = (float)((2 * (6 * at + (int)(2 * aside)) + 1) / (double)SIDE - 1);
                else                       place[i][j][k] = (float)(2 * (at + 0.3 * (aside - 0.5)) / GRID - 1);
                place[i][j][2] = inner && !exact ? (float)(next(&seed) % 100) / 400 : 0;
            }
}

/* The triangles of a grid, each of which is drawn alone: every sample has exactly one. From where the camera is a sample is
 * 2 / 48 wide. */
TEST(each_sample_has_one_triangle)
{
    for (int exact = 0; exact < 2; exact++) {
        spot_render_settings s = settings_of(1);
        float place[GRID + 1][GRID + 1][3];
        int covered[SIDE * SIDE] = { 0 };
        image got;
        s.view = 2 * atan(1 / 1.5) / turn;
        place_grid(place, exact);
        for (int e = 0; e < 2 * GRID * GRID; e++) {
            const int i = e / 2 % GRID, j = e / 2 / GRID;
            float p[9];
            spot_toy toy;
            memcpy(p, place[i][j], 12), memcpy(p + 3, place[i + 1][j + 1], 12);
            memcpy(p + 6, e % 2 ? place[i][j + 1] : place[i + 1][j], 12);
            spot_toy_open(&toy, 1);
            spot_toy_triangle(&toy, p, NULL, NULL, 0);
            done(&toy);
            draw(&got, &toy, &s, from(1.5, 0, 90), 1);
            for (int k = 0; k < SIDE * SIDE; k++) covered[k] += got.mask[k] == 255;
            spot_toy_close(&toy);
        }
        for (int k = 0; k < SIDE * SIDE; k++) assert_int_equal(covered[k], 1);
    }
}

/* An image turned by a right angle is the same image, turned: at the poles, too. */
TEST(the_poles_are_like_any_elevation)
{
    static const float middle[3] = { 0, 0, 0 }, half[3] = { 0.3f, 0.2f, 0.1f };
    static const double elevation[] = { 90, -90, 89.99, -35 };
    const spot_render_settings s = settings_of(2);
    spot_toy toy;
    image got, turned;

    spot_toy_open(&toy, 12);
    spot_toy_box(&toy, middle, half, 0);
    done(&toy);
    for (int i = 0; i < LEN(elevation); i++)
        for (int roll = 0; roll < 360; roll += 37) {
            spot_conditions at = from(1.3, 20 + 11 * i, elevation[i]);
            int off = 0;
            at.value[SPOT_SUN_ENERGY] = 2, at.value[SPOT_SUN_X] = 30, at.value[SPOT_CAMERA_ROLL] = (float)roll + 0.5f;
            draw(&got, &toy, &s, at, 1);
            at.value[SPOT_CAMERA_ROLL] += 90;
            draw(&turned, &toy, &s, at, 1);
            for (int y = 0; y < SIDE; y++)               /* against the clock: the upper right corner goes to the upper left */
                for (int x = 0; x < SIDE; x++) off += got.mask[y * SIDE + x] != turned.mask[(SIDE - 1 - x) * SIDE + y];
            assert_true(got.facts.area > 0.05);
            assert_true(off <= 4);                       /* samples on edges that rounding has moved */
        }
    spot_toy_close(&toy);
}

/* Within a box the camera sees its walls everywhere, however it is turned. */
TEST(the_camera_may_be_inside)
{
    static const float middle[3] = { 0.01f, 0.02f, 0 }, half[3] = { 0.3f, 0.25f, 0.2f };
    const spot_render_settings s = settings_of(2);
    spot_toy toy;
    image got;

    spot_toy_open(&toy, 12);
    spot_toy_box(&toy, middle, half, 0);
    done(&toy);
    for (int i = 0; i < 40; i++) {
        spot_conditions at = from(0.15, 9 * i, i % 9 * 22.5 - 90);
        draw(&got, &toy, &s, at, 1);
        for (int e = 0; e < SIDE * SIDE; e++) assert_int_equal(got.mask[e], 255);
        assert_int_equal(got.facts.inside, 1);
    }
    draw(&got, &toy, &s, from(1, 0, 0), 1);
    assert_int_equal(got.facts.inside, 0);
    assert_true(got.facts.border == 0 && got.facts.area > 0.1 && got.facts.area < 0.5);
    spot_toy_close(&toy);
}

/* Triangles of equal places, in any order of corners: the first is seen, everywhere. The second has another colour, so a single
 * sample of it would show. */
TEST(of_equal_depths_the_first_is_seen)
{
    static const float place[3][3] = { { 0.3f, -0.4f, -0.31f }, { -0.1f, 0.41f, -0.2f }, { 0.05f, 0.03f, 0.44f } };
    static const int order[6][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 2, 1 }, { 2, 1, 0 }, { 1, 0, 2 } };
    const spot_render_settings s = settings_of(2);
    image alone, both;

    for (int i = 0; i < 36; i++) {
        for (int count = 1; count <= 2; count++) {
            spot_toy toy;
            spot_toy_open(&toy, 2);
            for (int k = 0; k < count; k++) {
                float p[9];
                for (int v = 0; v < 3; v++) memcpy(p + 3 * v, place[order[k ? i / 6 : i % 6][v]], 12);
                spot_toy_triangle(&toy, p, NULL, NULL, k);
            }
            done(&toy);
            draw(count == 1 ? &alone : &both, &toy, &s, from(1.1, 13 * i, 3 * i - 50), 1);
            spot_toy_close(&toy);
        }
        assert_memory_equal(alone.rgb, both.rgb, sizeof alone.rgb);
        assert_true(alone.facts.area > 0);
    }
}

/* -- hostile input ------------------------------------------------------------------------------------------------------- */

/* Huge, flat and single triangles, at any distance: all end, and NaN nowhere. */
TEST(extreme_triangles_are_drawn)
{
    static const float corner[][9] = {
        { -1000, -1000, -1000, 1000, -999, 1000, 3, 1000, 5 }, { 0, 0, 0, 0, 0, 0, 0, 0, 0 },
        { 0, 0, 0, 0.5f, 0, 0, 0.25f, 0, 0 },
        { 1000, 1000, 1000, 1e-30f, 0, 0, -1000, 1000, 1000 }, { 1e-7f, 0, 0, 0, 1e-7f, 0, 0, 0, 1e-7f },
    };
    static const double distance[] = { 1e-6, 0.02, 1, 900, 1e6 };
    spot_toy toy;
    image got;

    spot_toy_open(&toy, LEN(corner));
    for (int i = 0; i < LEN(corner); i++) spot_toy_triangle(&toy, corner[i], NULL, NULL, i % 4);
    done(&toy);
    for (int i = 0; i < 5 * LEN(distance); i++) {
        spot_render_settings s = settings_of(4);
        spot_conditions at = from(distance[i / 5], 50 * i, 36 * (i % 5) - 72);
        at.value[SPOT_SUN_ENERGY] = 1e6f, at.value[SPOT_LAMP_DISTANCE] = 0, at.value[SPOT_LAMP_ENERGY] = 1;
        s.near = i % 2 ? 1e-4 : 0.02, s.view = i % 3 ? 1 : 170;
        draw(&got, &toy, &s, at, 1);
        for (int e = 0; e < SIDE * SIDE; e++) assert_true(got.depth[e] >= 0 && got.depth[e] < 1e8);
        assert_true(got.facts.light >= 0 && got.facts.light <= 1.00001 && got.facts.spread <= 0.51 && got.facts.contrast <= 1);
    }
    spot_toy_close(&toy);
}

/* A million triangles, each smaller than a sample, and the same bytes for any number of threads. */
TEST(a_million_triangles)
{
    static const float middle[3] = { 0, 0, 0 };
    const spot_render_settings s = settings_of(2);
    const double radius = 0.3 / sqrt(4 - 0.09) / tan(49.13 / 2 * turn) * SIDE;       /* of the outline, in samples */
    int inside = 0;
    spot_toy toy;
    image one, three;

    spot_toy_open(&toy, 4 * 500 * 500);
    spot_toy_ball(&toy, middle, 0.3f, 0, SANITIZED ? 100 : 500, 0);
    done(&toy);
    draw(&one, &toy, &s, from(2, 30, 20), 1);
    draw(&three, &toy, &s, from(2, 30, 20), 3);
    assert_memory_equal(&one, &three, sizeof one);
    for (int e = 0; e < 4 * SIDE * SIDE; e++)
        inside += hypot(e % (2 * SIDE) + 0.5 - SIDE, e / (2 * SIDE) + 0.5 - SIDE) < radius;
    CHECK_NEAR(one.facts.area * 4 * SIDE * SIDE, inside, 2);
    spot_toy_close(&toy);
}

TEST(a_mesh_without_triangles_shows_the_background)
{
    const spot_render_settings s = settings_of(1);
    spot_toy toy;
    image got;

    spot_toy_open(&toy, 1);
    done(&toy);
    draw(&got, &toy, &s, from(1, 0, 0), 1);
    for (int e = 0; e < 3 * SIDE * SIDE; e++) assert_int_equal(got.rgb[e], (int)(to_byte(0.2) + 0.5));
    assert_true(got.facts.area == 0 && got.facts.contrast == 0 && got.facts.inside == 0);
    spot_toy_close(&toy);
}

TEST(a_broken_mesh_is_refused)
{
    static const float corner[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    spot_ctx c = check_ctx(1);
    spot_render_mesh *mesh;
    spot_toy t;

    for (int i = 0; i < 9; i++) {
        static const char *const words[] = { "render.mesh_value: place 4 | nan",
                                            "render.mesh_value: normal 0 | inf",
                                            "render.mesh_value: coordinate 1",
                                             "render.mesh_corner: corner 2 | vertex 3 | 3",
                                                 "render.mesh_triangle: triangle 0 | material 6 | 6",
                                             "render.mesh_material: texture 2",
                                             "render.mesh_value: opacity",
                                                 "render.mesh_texture: texture 1 | 0 | 64", "render.mesh_sizes: 4000000" };
        spot_toy_open(&t, 1);
        spot_toy_triangle(&t, corner, NULL, NULL, 0);
        done(&t);
        if (i == 0) t.mesh.place[4] = NAN;
        if (i == 1) t.mesh.normal[0] = INFINITY;
        if (i == 2) t.mesh.coordinate[1] = 1e30f;
        if (i == 3) t.mesh.corner[2] = 3;
        if (i == 4) t.mesh.material[0] = 6;
        if (i == 5) t.look[0].texture = 2;
        if (i == 6) t.look[5].opacity = NAN;
        if (i == 7) t.texture[1].width = 0;
        if (i == 8) t.mesh.triangles = SPOT_MESH_MOST_TRIANGLES + 1;
        CHECK_FAILS(&c, spot_render_take(&c, &mesh, &t.mesh), SPOT_INVALID, words[i]);
        spot_toy_close(&t);
    }
}

TEST(conditions_and_settings_out_of_range_are_refused)
{
    static uint8_t rgb[3 * SIDE * SIDE];
    static const char *const words[] = { "render.factor: factor 4 | image 0 | nan", "render.camera: distance 0",
                                        "render.image: mesh 1 | 1",
                                        "render.image: picture 0 | 0",
                                         "render.sizes: 8 | 1", "render.sizes: 3",
                                             "render.setting: view | 180", "render.setting: near | 0",
                                         "render.setting: background | nan",
                                         "render.falloff: falloff 2",
                                             "render.factor: factor 0 | image 0 | 2e+06", "render.counts" };
    static const float corner[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    spot_ctx c = check_ctx(1);
    spot_arena a = spot_arena_counting();
    spot_render_mesh *mesh;
    spot_toy toy;

    spot_toy_open(&toy, 1);
    spot_toy_triangle(&toy, corner, NULL, NULL, 0);
    done(&toy);
    CHECK_OK(&c, spot_render_take(&c, &mesh, &toy.mesh));
    const spot_render_mesh *const all[] = { mesh };
    for (int i = 0; i < LEN(words); i++) {
        spot_render_settings s = settings_of(1);
        spot_shot shot = { i == 2, i == 3 ? 0 : -1, from(1, 0, 0) };
        const spot_render_call r = { &s, all, 1, NULL, 0, &shot, 1, i == 11 ? NULL : rgb, NULL, NULL, NULL };
        if (i == 0) shot.at.value[4] = NAN;
        if (i == 1) shot.at.value[SPOT_CAMERA_DISTANCE] = 0;
        if (i == 4) s.size = 8;
        if (i == 5) s.samples = 3;
        if (i == 6) s.view = 180;
        if (i == 7) s.near = 0;
        if (i == 8) s.background[1] = NAN;
        if (i == 9) s.falloff = 2;
        if (i == 10) shot.at.value[0] = 2e6f;
        CHECK_FAILS(&c, spot_render_draw(&c, &a, &r), SPOT_INVALID, words[i]);
    }
    spot_render_give(&c, mesh);
    spot_toy_close(&toy);
}
