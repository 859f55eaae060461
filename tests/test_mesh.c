/* test_mesh.c - meshes of the caller's triangles: welding, normals, box, repairs, levels of textures, and input that is
 * refused. */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "spotter/mesh.h"

static const spot_mesh_material grey = { { 0.5f, 0.5f, 0.5f }, { 0 }, 10, 1, -1, -1 };

static spot_mesh_triangles triangles_of(const float *place, int triangles)
{
    return (spot_mesh_triangles){ .triangles = triangles, .materials = 1, .place = place, .look = &grey };
}

static spot_mesh_options z_up(void)
{
    spot_mesh_options o = spot_mesh_defaults();

    o.z_up = true;
    return o;
}

static void made(spot_mesh *m, const spot_mesh_triangles *t, const spot_mesh_options *o)
{
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_mesh_make(&c, m, t, o));
}

static float at(const spot_mesh *m, const float *v, int triangle, int corner, int k)
{
    return v[(size_t)k * (size_t)m->vertices + m->corner[(size_t)corner * (size_t)m->triangles + (size_t)triangle]];
}

/* Six sides of two triangles, from 0 to 2 in x, 4 in y, 4 in z; `turned`: the corners of every second triangle run in the
 * contrary direction. */
static void box(float place[12][9], bool turned)
{
    static const float size[3] = { 2, 4, 4 };
    static const int cut[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };

    for (int i = 0; i < 12; i++)
        for (int e = 0; e < 3; e++) {
            const int side = i / 2, n = side / 2, far = side % 2, k = cut[i % 2][turned && i % 2 ? 2 - e : e];
            const int u = k == 1 || k == 2, v = k >= 2;
            place[i][3 * e + n] = (float)far * size[n];
            place[i][3 * e + (n + 1) % 3] = (float)(far ? u : v) * size[(n + 1) % 3];
            place[i][3 * e + (n + 2) % 3] = (float)(far ? v : u) * size[(n + 2) % 3];
        }
}

TEST(a_box_has_24_vertices_and_a_diagonal_of_1)
{
    const spot_mesh_options o = z_up();
    float place[12][9];
    spot_mesh m;

    box(place, false);
    const spot_mesh_triangles t = triangles_of(place[0], 12);
    made(&m, &t, &o);
    assert_int_equal(m.triangles, 12);
    assert_int_equal(m.vertices, 24);
    assert_int_equal(m.repairs.made_normals, 36);
    assert_int_equal(m.repairs.flat + m.repairs.not_finite, 0);
    assert_null(m.coordinate);
    for (int i = 0; i < 12; i++)
        for (int e = 0; e < 3; e++)
            for (int k = 0; k < 3; k++) {
                const float want = i / 4 == k ? i / 2 % 2 ? 1.0f : -1.0f : 0;
                CHECK_NEAR(at(&m, m.place, i, e, k), (place[i][3 * e + k] - (k ? 2 : 1)) / 6, 1e-7);
                CHECK_NEAR(at(&m, m.normal, i, e, k), want, 1e-7);
            }
    spot_mesh_close(&m);
}

TEST(corners_that_run_in_contrary_directions_share_normals)
{
    spot_mesh_options o = z_up();
    float place[12][9];
    spot_mesh m;

    box(place, true);
    const spot_mesh_triangles t = triangles_of(place[0], 12);
    made(&m, &t, &o);
    for (int i = 0; i < 12; i++)
        for (int e = 0; e < 3; e++)
            for (int k = 0; k < 3; k++) {
                const float side = i / 2 % 2 ? 1.0f : -1.0f;
                CHECK_NEAR(at(&m, m.normal, i, e, k), i / 4 == k ? i % 2 ? -side : side : 0, 1e-7);
            }
    spot_mesh_close(&m);
    /* With a crease of 100 degrees the three sides at a place share one normal. */
    o.crease = 100;
    made(&m, &t, &o);
    for (int i = 0; i < 12; i++)
        for (int e = 0; e < 3; e++)
            for (int k = 0; k < 3; k++) CHECK_NEAR(fabsf(at(&m, m.normal, i, e, k)), 1 / sqrt(3), 1e-4);
    spot_mesh_close(&m);
}

/* A ball of rings: the made normals are those of the sphere. */
TEST(a_ball_has_the_normals_of_a_sphere)
{
    enum { RINGS = 24, AROUND = 48 };
    float (*place)[9] = calloc(2 * RINGS * AROUND, sizeof *place);
    const double pi = 3.14159265358979323846;
    const spot_mesh_options o = z_up();
    double worst = 0;
    spot_mesh m;

    assert_non_null(place);
    for (int i = 0; i < RINGS; i++)
        for (int j = 0; j < AROUND; j++)
            for (int e = 0; e < 6; e++) {
                static const int step[6][2] = { { 0, 0 }, { 0, 1 }, { 1, 1 }, { 0, 0 }, { 1, 1 }, { 1, 0 } };
                const double u = pi * (i + step[e][0]) / RINGS, a = 2 * pi * ((j + step[e][1]) % AROUND) / AROUND;
                float *p = place[2 * (i * AROUND + j) + e / 3] + 3 * (e % 3);
                p[0] = (float)(sin(u) * cos(a)), p[1] = (float)(sin(u) * sin(a)), p[2] = (float)cos(u);
                if (i + step[e][0] == RINGS) p[0] = p[1] = 0;
            }
    const spot_mesh_triangles t = triangles_of(place[0], 2 * RINGS * AROUND);
    made(&m, &t, &o);
    assert_int_equal(m.triangles, 2 * AROUND * (RINGS - 1));
    assert_int_equal(m.repairs.flat, 2 * AROUND);              /* at the poles */
    assert_int_equal(m.vertices, AROUND * (RINGS - 1) + 2);
    for (int v = 0; v < m.vertices; v++) {
        double d = 0;
        for (int k = 0; k < 3; k++) d += m.normal[k * m.vertices + v] * m.place[k * m.vertices + v] * 2 * sqrt(3);
        worst = fmax(worst, fabs(fabs(d) - 1));
    }
    CHECK_NEAR(worst, 0, 1e-4);
    spot_mesh_close(&m);
    free(place);
}

/* y up -> z up, after the file's own turn by 90 degrees about x, which brings them back. */
TEST(axes_are_turned)
{
    static const float place[9] = { 0, 0, 0, 3, 0, 0, 0, 4, 0 };
    static const double about_x[9] = { 1, 0, 0, 0, 0, 1, 0, -1, 0 };
    spot_mesh_options o = spot_mesh_defaults();
    const spot_mesh_triangles t = triangles_of(place, 1);
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    made(&m, &t, &o);
    CHECK_NEAR(at(&m, m.place, 0, 2, 2), 0.4, 1e-7);
    CHECK_NEAR(at(&m, m.normal, 0, 2, 1), -1, 1e-7);
    spot_mesh_close(&m);
    memcpy(o.turn, about_x, sizeof about_x);
    made(&m, &t, &o);
    CHECK_NEAR(at(&m, m.place, 0, 2, 1), 0.4, 1e-7);
    CHECK_NEAR(at(&m, m.place, 0, 2, 2), 0, 1e-7);
    spot_mesh_close(&m);
    o.turn[0] = 2;
    CHECK_FAILS(&c, spot_mesh_make(&c, &m, &t, &o), SPOT_INVALID, "mesh.turn");
}

TEST(what_is_broken_is_dropped)
{
    static const float place[6][9] = {
        { 0, 0, 0, 1, 0, 0, 0, 1, 0 }, { 0, 0, 0, NAN, 0, 0, 0, 1, 0 }, { 0, 0, 0, 9, 9, 9, 9, 9, 9 },
        { 0, 0, 0, 1, 1, 1, 2, 2, 2 }, { 0, 0, 0, 0, INFINITY, 0, 1, 0, 0 }, { 0, 0, 1, 1, 0, 1, 0, 1, 1 } };
    static const float normal[6][9] = { { 0, 0, 3, NAN, 0, 1, 0, 0, 0 } };
    static const float coordinate[6][6] = { { 4e9f, 0, NAN, 0.5f, 1000.25f, 1000.5f } };
    const spot_mesh_options o = z_up();
    spot_mesh_triangles t = triangles_of(place[0], 6);
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    t.normal = normal[0], t.coordinate = coordinate[0];
    made(&m, &t, &o);
    assert_int_equal(m.triangles, 2);
    assert_int_equal(m.repairs.flat, 2);
    assert_int_equal(m.repairs.not_finite, 2);
    assert_int_equal(m.repairs.made_normals, 5);
    for (int i = 0; i < 3 * m.vertices; i++) assert_true(isfinite(m.place[i]) && fabsf(m.place[i]) <= 0.5f);
    for (int i = 0; i < 2 * m.vertices; i++) assert_true(fabsf(m.coordinate[i]) <= 500);
    spot_mesh_close(&m);
    CHECK_FAILS(&c, spot_mesh_make(&c, &m, &(spot_mesh_triangles){ .triangles = 3, .materials = 1, .place = place[1],
                .look = &grey }, &o), SPOT_INPUT, "mesh.not_drawable: 3 | 2 | 1");
}

/* Numbers at the ends of float's range. */
TEST(size_does_not_matter)
{
    static const float size[4] = { 1e-40f, 1e-30f, 1, 1e38f };
    const spot_mesh_options o = z_up();

    for (int i = 0; i < LEN(size); i++) {
        const float s = size[i], place[9] = { 0, 0, 0, 3 * s, 0, 0, 0, 1.5f * s, 0 };
        const spot_mesh_triangles t = triangles_of(place, 1);
        spot_mesh m;
        made(&m, &t, &o);
        CHECK_NEAR(at(&m, m.place, 0, 1, 0) - at(&m, m.place, 0, 0, 0), 2 / sqrt(5), i ? 1e-6 : 1e-4);
        spot_mesh_close(&m);
    }
}

TEST(equal_meshes_have_equal_hashes)
{
    const spot_mesh_options o = z_up();
    float place[12][9];
    spot_mesh a, b;

    box(place, false);
    spot_mesh_triangles t = triangles_of(place[0], 12);
    made(&a, &t, &o), made(&b, &t, &o);
    assert_string_equal(a.hash, b.hash);
    assert_int_equal(strlen(a.hash), 32);
    spot_mesh_close(&b);
    spot_mesh_material other = grey;
    other.opacity = 0.5f, t.look = &other;
    made(&b, &t, &o);
    assert_string_not_equal(a.hash, b.hash);
    spot_mesh_close(&a), spot_mesh_close(&b);
    assert_null(b.place);
}

/* -- textures ------------------------------------------------------------------------------------------------------------- */

static double light(int byte) { return byte <= 10 ? byte / 255.0 / 12.92 : pow((byte / 255.0 + 0.055) / 1.055, 2.4); }

static double byte_of(double v) { return 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055); }

/* The definition, by areas: texel i of n covers [i side / n, (i + 1) side / n). */
static double mean(const uint8_t *from, int w, int h, int i, int j, int to_w, int to_h, int channel)
{
    double sum = 0, all = 0;

    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const double dx = fmin(x + 1, (j + 1.0) * w / to_w) - fmax(x, (double)j * w / to_w);
            const double dy = fmin(y + 1, (i + 1.0) * h / to_h) - fmax(y, (double)i * h / to_h);
            const uint8_t *p = from + 4 * (y * w + x);
            if (dx <= 1e-9 || dy <= 1e-9) continue;
            sum += dx * dy * (channel == 3 ? p[3] : p[3] * light(p[channel]));
            all += dx * dy * (channel == 3 ? 1 : p[3]);
        }
    return channel == 3 ? sum / all : byte_of(sum / all);
}

TEST(levels_are_means_of_light)
{
    enum { W = 13, H = 6 };
    static const float place[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    uint8_t texel[W * H * 4];
    const spot_mesh_texture x = { W, H, 1, texel };
    spot_mesh_triangles t = triangles_of(place, 1);
    spot_mesh m;

    for (int i = 0; i < LEN(texel); i++) texel[i] = (uint8_t)(i % 4 == 3 ? 1 + i * 31 % 255 : i * i * 7 + i * 13);
    t.textures = 1, t.texture = &x;
    made(&m, &t, NULL);
    assert_int_equal(m.texture[0].levels, 4);
    assert_memory_equal(m.texture[0].texel, texel, sizeof texel);
    const uint8_t *from = m.texture[0].texel;
    for (int k = 1, w = W, h = H; k < 4; k++) {
        const int to_w = w > 1 ? w / 2 : 1, to_h = h > 1 ? h / 2 : 1;
        const uint8_t *to = from + 4 * w * h;
        for (int e = 0; e < to_w * to_h * 4; e++)
            CHECK_NEAR(to[e], mean(from, w, h, e / 4 / to_w, e / 4 % to_w, to_w, to_h, e % 4), 0.51);
        from = to, w = to_w, h = to_h;
    }
    assert_ptr_equal(from + 4, m.texture[0].texel + 4 * (13 * 6 + 6 * 3 + 3 + 1));
    spot_mesh_close(&m);
}

TEST(a_large_texture_is_reduced)
{
    static const float place[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    const spot_mesh_texture x = { 2300, 3, 1, malloc(4 * 2300 * 3) };
    spot_mesh_triangles t = triangles_of(place, 1);
    spot_mesh m;

    assert_non_null(x.texel);
    for (int i = 0; i < 2300 * 3; i++) memcpy(x.texel + 4 * i, (uint8_t[]){ 10, 200, 90, (uint8_t)(i % 2 ? 255 : 0) }, 4);
    t.textures = 1, t.texture = &x;
    made(&m, &t, NULL);
    assert_int_equal(m.texture[0].width, 575);
    assert_int_equal(m.texture[0].height, 1);
    assert_int_equal(m.texture[0].levels, 10);
    for (int k = 0; k < 3; k++) assert_int_equal(m.texture[0].texel[4 * 100 + k], ((uint8_t[]){ 10, 200, 90 })[k]);
    CHECK_NEAR(m.texture[0].texel[403], 127.5, 1);
    spot_mesh_close(&m);
    free(x.texel);
}

/* -- input that is refused ------------------------------------------------------------------------------------------------ */

TEST(bad_input_is_refused)
{
    static const float place[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    static const int two = 2;
    spot_mesh_material look = grey;
    spot_mesh_options o = z_up();
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    spot_mesh_triangles t = triangles_of(place, 0);
    CHECK_FAILS(&c, spot_mesh_make(&c, &m, &t, NULL), SPOT_INPUT, "mesh.no_triangles");
    t.triangles = 100000000;
    CHECK_FAILS(&c, spot_mesh_make(&c, &m, &t, NULL), SPOT_INPUT, "mesh.triangles: 100000000 | 4000000");
    t.triangles = 1, t.material = &two;
    CHECK_FAILS(&c, spot_mesh_make(&c, &m, &t, NULL), SPOT_INVALID, "mesh.triangle_material: material 2 | 1");
    t.material = NULL, t.materials = 0;
    CHECK_FAILS(&c, spot_mesh_make(&c, &m, &t, NULL), SPOT_INPUT, "mesh.materials: 0");
    t.materials = 1, t.look = &look, look.texture = 0;
    CHECK_FAILS(&c, spot_mesh_make(&c, &m, &t, NULL), SPOT_INVALID, "mesh.material_texture: texture 0 | out -1 | 0");
    look = grey, look.opacity = NAN;
    CHECK_FAILS(&c, spot_mesh_make(&c, &m, &t, NULL), SPOT_INVALID, "mesh.material: material 0");
    look = grey, o.crease = NAN;
    CHECK_FAILS(&c, spot_mesh_make(&c, &m, &t, &o), SPOT_INVALID, "mesh.crease");
    spot_mesh_close(&m);
}
