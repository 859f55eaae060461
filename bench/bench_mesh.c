/* bench_mesh.c - images per second of toys under random conditions; --threads 1 gives the figure per core. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/philox.h"
#include "op_mesh.h"

/* -- toys ---------------------------------------------------------------------------------------------------------------- */

enum { TEXTURE = 64, LEVELS = 7 };

/* Level after level: means of four texels. */
static void make_levels(spot_mesh_texture *t)
{
    const uint8_t *from = t->texel;
    uint8_t *to = t->texel + 4 * (size_t)(t->width * t->height);

    for (int side = t->width / 2; side; side /= 2)
        for (int e = 0; e < side * side; e++, to += 4, from = e == side * side ? from + 16 * (size_t)(side * side) : from)
            for (int k = 0; k < 4; k++) {
                const uint8_t *p = from + 4 * (2 * (e / side) * 2 * side + 2 * (e % side)) + k;
                to[k] = (uint8_t)((p[0] + p[4] + p[8 * side] + p[8 * side + 4] + 2) / 4);
            }
}

/* A chequered texture; or a pattern of discs on nothing. */
static bool make_texture(spot_mesh_texture *t, bool discs)
{
    *t = (spot_mesh_texture){ TEXTURE, TEXTURE, LEVELS, malloc(4 * (size_t)(TEXTURE * TEXTURE) * 2) };
    if (!t->texel) return false;
    for (int y = 0; y < TEXTURE; y++)
        for (int x = 0; x < TEXTURE; x++) {
            uint8_t *p = t->texel + 4 * (y * TEXTURE + x);
            const bool odd = (x / 8 + y / 8) % 2, in = hypot(x % 16 - 7.5, y % 16 - 7.5) < 6;
            const uint8_t colour[2][4] = { { 230, (uint8_t)(3 * x), 40, 255 }, { 30, 60, (uint8_t)(255 - 2 * y), 255 } };
            memcpy(p, colour[odd], 4);
            if (discs) memset(p, in ? 255 : 0, 4);
        }
    make_levels(t);
    return true;
}

void spot_toy_open(spot_toy *t, int room)
{
    static const spot_mesh_material look[6] = {
        { { 0.8f, 0.3f, 0.2f }, { 0 }, 10, 1, -1, -1 },
        { { 0.2f, 0.4f, 0.7f }, { 0.8f, 0.8f, 0.8f }, 40, 1, -1, -1 },
        { { 1, 1, 1 }, { 0.2f, 0.2f, 0.2f }, 20, 1, 0, -1 },        { { 0.5f, 1, 0.5f }, { 0 }, 1, 1, 0, -1 },
        { { 0.9f, 0.9f, 0.1f }, { 0.5f, 0.5f, 0.5f }, 100, 0.5f, -1, -1 }, { { 0.3f, 0.9f, 0.3f }, { 0 }, 5, 1, 0, 1 },
    };
    const size_t triangles = (size_t)room, vertices = 3 * triangles;
    spot_mesh *m = &t->mesh;

    *t = (spot_toy){ .room = room };
    memcpy(t->look, look, sizeof look);
    m->materials = 6, m->textures = 2, m->look = t->look, m->texture = t->texture;
    m->place = calloc(3 * vertices + 1, sizeof *m->place);
    m->normal = calloc(3 * vertices + 1, sizeof *m->normal);
    m->coordinate = calloc(2 * vertices + 1, sizeof *m->coordinate);
    m->corner = calloc(vertices + 1, sizeof *m->corner);
    m->material = calloc(triangles + 1, sizeof *m->material);
    t->broken = !m->place || !m->normal || !m->coordinate || !m->corner || !m->material;
    for (int i = 0; i < 2; i++) t->broken |= !make_texture(&t->texture[i], i);
}

void spot_toy_close(spot_toy *t)
{
    spot_mesh *m = &t->mesh;

    free(m->place), free(m->normal), free(m->coordinate), free(m->corner), free(m->material);
    free(t->texture[0].texel), free(t->texture[1].texel);
    memset(t, 0, sizeof *t);
}

/* All x, all y, all z of three vertices a triangle; close_up makes the arrays shorter. */
static void put_vertex(spot_toy *t, int vertex, const float *place, const float *normal, const float *at)
{
    const int all = 3 * t->room;

    for (int k = 0; k < 3; k++) {
        t->mesh.place[k * all + vertex] = place[k];
        t->mesh.normal[k * all + vertex] = normal[k];
        if (k < 2) t->mesh.coordinate[k * all + vertex] = at[k];
    }
}

static int add_vertex(spot_toy *t, const float *place, const float *normal, const float *at)
{
    if (t->broken || t->mesh.vertices == 3 * t->room) {
        t->broken = true;
        return 0;
    }
    put_vertex(t, t->mesh.vertices, place, normal, at);
    return t->mesh.vertices++;
}

static void add_corners(spot_toy *t, int a, int b, int c, int material)
{
    const int i = t->mesh.triangles, all = t->room;

    if (t->broken || i == all) {
        t->broken = true;
        return;
    }
    t->mesh.corner[i] = (uint32_t)a, t->mesh.corner[all + i] = (uint32_t)b, t->mesh.corner[2 * all + i] = (uint32_t)c;
    t->mesh.material[i] = (uint16_t)material;
    t->mesh.triangles++;
}

static void flat_normal(float *to, const float *p)
{
    const float a[3] = { p[3] - p[0], p[4] - p[1], p[5] - p[2] }, b[3] = { p[6] - p[0], p[7] - p[1], p[8] - p[2] };
    float length;

    for (int k = 0; k < 3; k++) to[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    length = sqrtf(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
    for (int k = 0; length > 0 && k < 3; k++) to[k] /= length;
}

void spot_toy_triangle(spot_toy *t, const float *corner, const float *normal, const float *at, int material)
{
    static const float zero[2] = { 0, 0 };
    float flat[3];
    int v[3];

    flat_normal(flat, corner);
    for (int k = 0; k < 3; k++)
        v[k] = add_vertex(t, corner + 3 * k, normal ? normal + 3 * k : flat, at ? at + 2 * k : zero);
    add_corners(t, v[0], v[1], v[2], material);
}

static float radius_at(float radius, float swell, double a, double u)
{
    return radius * (1 + swell * (float)(sin(5 * a) * cos(u) * sin(7 * u)));
}

/* The normal of a swelling ball is that of the ball. */
void spot_toy_ball(spot_toy *t, const float *middle, float radius, float swell, int rings, int material)
{
    const int around = 2 * rings, first = t->mesh.vertices;

    for (int i = 0; i <= rings; i++)
        for (int j = 0; j <= around; j++) {
            const double u = 3.14159265358979323846 * (i / (double)rings - 0.5), a = 6.28318530717958647692 * j / around;
            const float normal[3] = { (float)(cos(u) * cos(a)), (float)(cos(u) * sin(a)), (float)sin(u) };
            const float r = radius_at(radius, swell, a, u), at[2] = { 4 * (float)j / (float)around,
                                                                            2 * (float)i / (float)rings };
            const float place[3] = { middle[0] + r * normal[0], middle[1] + r * normal[1], middle[2] + r * normal[2] };
            add_vertex(t, place, normal, at);
        }
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < around; j++) {
            const int a = first + i * (around + 1) + j, b = a + around + 1;
            if (i > 0)         add_corners(t, a, a + 1, b + 1, material);
            if (i < rings - 1) add_corners(t, a, b + 1, b, material);
        }
}

void spot_toy_box(spot_toy *t, const float *middle, const float *half, int material)
{
    for (int face = 0; face < 6; face++) {
        const int n = face / 2, u = (n + 1) % 3, v = (n + 2) % 3;
        const float side = face % 2 ? 1.0f : -1.0f;
        float place[4][3], at[4][2];
        for (int i = 0; i < 4; i++) {
            at[i][0] = (float)((i + 1) / 2 % 2), at[i][1] = (float)(i / 2);
            place[i][n] = middle[n] + side * half[n];
            place[i][u] = middle[u] + half[u] * side * (2 * at[i][0] - 1);
            place[i][v] = middle[v] + half[v] * (2 * at[i][1] - 1);
        }
        for (int i = 1; i < 3; i++) {
            const int k[3] = { 0, i, i + 1 };
            float p[9], c[6];
            for (int j = 0; j < 3; j++) {
                memcpy(p + 3 * j, place[k[j]], 3 * sizeof *p);
                memcpy(c + 2 * j, at[k[j]], 2 * sizeof *c);
            }
            spot_toy_triangle(t, p, NULL, c, material);
        }
    }
}

/* Arrays of `room` triangles become arrays of those that are there. */
static void close_up(spot_toy *t)
{
    spot_mesh *m = &t->mesh;
    const size_t room = (size_t)t->room, vertices = (size_t)m->vertices, triangles = (size_t)m->triangles;

    for (size_t k = 1; k < 3; k++) {
        memmove(m->place + k * vertices, m->place + k * 3 * room, vertices * sizeof *m->place);
        memmove(m->normal + k * vertices, m->normal + k * 3 * room, vertices * sizeof *m->normal);
        if (k < 2) memmove(m->coordinate + vertices, m->coordinate + 3 * room, vertices * sizeof *m->coordinate);
        memmove(m->corner + k * triangles, m->corner + k * room, triangles * sizeof *m->corner);
    }
}

spot_status spot_toy_done(spot_ctx *c, spot_toy *t)
{
    if (t->broken) return spot_fail(c, SPOT_NOMEM, "no memory for a toy of %d triangles", t->room);
    close_up(t);
    return SPOT_OK;
}

spot_status spot_toy_make(spot_ctx *c, spot_toy *t, int rings)
{
    static const float middle[7][3] = { { 0, 0, 0 },           { 0.2f, 0.2f, 0.1f },   { -0.2f, -0.2f, -0.15f },
                                        { 0.2f, -0.2f, 0.2f },
                                        { -0.25f, 0.2f, 0.2f }, { 0, -0.27f, -0.2f },  { 0, 0, 0.27f } };
    static const float half[7][3] = { { 0 },                   { 0.1f, 0.05f, 0.08f }, { 0.05f, 0.08f, 0.12f },
                                      { 0.06f, 0.06f, 0.06f },
                                      { 0.04f, 0.08f, 0.04f }, { 0.15f, 0.01f, 0.08f }, { 0.02f, 0.02f, 0.05f } };
    static const int material[7] = { 1, 0, 2, 3, 4, 5, 1 };

    spot_toy_open(t, 4 * rings * rings + 12 * 6);
    if (rings > 1) spot_toy_ball(t, middle[0], 0.2f, 0.1f, rings, 1);
    for (int i = 1; i < 7; i++) spot_toy_box(t, middle[i], half[i], material[i]);
    return spot_toy_done(c, t);
}

/* -- images -------------------------------------------------------------------------------------------------------------- */

spot_conditions spot_toy_conditions(int i)
{
    static const double range[SPOT_FACTORS][2] = {
#define X(NAME, name, symbol, unit, least, most, turns) { least, most },
        SPOT_FACTOR_TABLE(X)
#undef X
    };
    spot_conditions c;

    for (int k = 0; k < SPOT_FACTORS; k++) {
        const double u = 0.5 + 0.5 * sin(12.9898 * (i + 1) * (k + 3) + 78.233 * i);
        c.value[k] = (float)(range[k][0] + u * (range[k][1] - range[k][0]));
    }
    return c;
}

spot_status spot_op_toys(spot_ctx *c, spot_toy *of, const spot_op_images *p)
{
    memset(of, 0, 2 * sizeof *of);
    SPOT_TRY(spot_toy_make(c, &of[0], p->rings));
    return spot_toy_make(c, &of[1], 0);
}

static void make_images(spot_op_run *r, void *problem, const int *size)
{
    spot_op_images *p = problem;
    const size_t pixels = (size_t)size[0] * (size_t)size[0], n = (size_t)size[2], behind = 3 * pixels * (size_t)size[4];
    uint8_t *picture = malloc(behind + 1);

    *p = (spot_op_images){ .settings = spot_render_defaults(), .images = size[2], .rings = size[3], .pictures = size[4] };
    p->settings.size = size[0], p->settings.samples = size[1], p->settings.falloff = size[6];
    p->shot = spot_op_host(r, (n + 1) * sizeof *p->shot);
    for (int i = 0; p->shot && i < size[2]; i++) {
        p->shot[i] = (spot_shot){ i % 2, p->pictures ? i % (p->pictures + 1) - 1 : -1,
                                  spot_toy_conditions(i + 100 * r->number) };
        if (size[5]) p->shot[i].at.value[SPOT_CAMERA_DISTANCE] = (float)size[5] / 100 * (float)(1 + i);
    }
    for (size_t e = 0; picture && e < behind; e++) picture[e] = (uint8_t)(7 * e + e / 300 * 11);
    p->picture = spot_op_given(r, picture, behind);
    p->rgb = spot_op_out(r, "pixels", SPOT_OP_BYTE, 3 * pixels * n, 0);
    p->mask = spot_op_out(r, "masks", SPOT_OP_BYTE, pixels * n, 0);
    p->depth = spot_op_out(r, "depths", SPOT_OP_FLOAT, pixels * n, 0);
    p->facts = spot_op_out(r, "facts", SPOT_OP_FLOAT, n * sizeof *p->facts / sizeof(float), 0);
}

static spot_status draw_images(spot_op_run *r, const spot_op_images *p, const spot_render_mesh *const *mesh)
{
    const spot_render_call call = { &p->settings, mesh, 2, p->picture, p->pictures, p->shot, p->images, p->rgb, p->mask,
                                    p->depth, p->facts };
    spot_arena *scratch;

    SPOT_TRY(spot_op_scratch(r, &scratch, spot_render_scratch(r->c, &call)));
    SPOT_OP(r, spot_render_draw(r->c, scratch, &call));
    return SPOT_OK;
}

static spot_status take_toys(spot_op_run *r, const spot_op_images *p, spot_render_mesh **mesh)
{
    spot_toy toy[2];
    spot_status s = spot_op_toys(r->c, toy, p);

    for (int i = 0; i < 2; i++) {
        if (s == SPOT_OK) s = spot_render_take(r->c, &mesh[i], &toy[i].mesh);
        spot_toy_close(&toy[i]);
    }
    return s;
}

static spot_status run_images(spot_op_run *r, void *problems, int count)
{
    spot_op_images *p = problems;
    spot_status s = SPOT_OK;

    for (int q = 0; q < count && s == SPOT_OK; q++) {
        spot_render_mesh *mesh[2] = { NULL, NULL };
        s = take_toys(r, &p[q], mesh);
        if (s == SPOT_OK) s = draw_images(r, &p[q], (const spot_render_mesh *const *)mesh);
        for (int i = 0; i < 2; i++) spot_render_give(r->c, mesh[i]);
    }
    return s;
}

/* -- the definition, ray by ray in double -------------------------------------------------------------------------------- */

typedef struct { double x[3]; } vec;

static vec sum_of(vec a, double t, vec b) { return (vec){ { a.x[0] + t * b.x[0], a.x[1] + t * b.x[1], a.x[2] + t * b.x[2] } }; }
static double dot(vec a, vec b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }
static vec unit(vec a) { return sum_of((vec){ { 0 } }, 1 / sqrt(dot(a, a)), a); }

static vec cross(vec a, vec b)
{
    return (vec){ { a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0] } };
}

static vec corner_of(const float *v, const spot_mesh *m, int triangle, int k)
{
    const uint32_t i = m->corner[k * m->triangles + triangle];

    return (vec){ { v[i], v[(uint32_t)m->vertices + i], v[2 * (uint32_t)m->vertices + i] } };
}

/* A shot in double. */
typedef struct {
    const spot_render_settings *s;
    const spot_mesh *m;
    const float *f;
    vec eye, right, up, back;
    double slope;
} scene;

static vec towards(double azimuth, double elevation)
{
    const double a = azimuth * 3.14159265358979323846 / 180, u = elevation * 3.14159265358979323846 / 180;

    return (vec){ { cos(a) * cos(u), sin(a) * cos(u), sin(u) } };
}

static scene scene_of(const spot_op_images *p, int i, const spot_toy *toy)
{
    const float *f = p->shot[i].at.value;
    const double turn = 3.14159265358979323846 / 180, t = f[SPOT_CAMERA_ROLL] * turn;
    scene s = { .s = &p->settings, .m = &toy[p->shot[i].mesh].mesh, .f = f, .slope = tan(p->settings.view / 2 * turn) };
    const vec back = towards(f[SPOT_CAMERA_AZIMUTH], f[SPOT_CAMERA_ELEVATION]);
    const vec right = towards(f[SPOT_CAMERA_AZIMUTH] + 90, 0), up = cross(back, right);

    s.back = back;
    s.eye = sum_of((vec){ { 0 } }, f[SPOT_CAMERA_DISTANCE], back);
    s.right = sum_of(sum_of((vec){ { 0 } }, cos(t), right), -sin(t), up);
    s.up = sum_of(sum_of((vec){ { 0 } }, sin(t), right), cos(t), up);
    return s;
}

/* Where a ray meets the mesh first: the triangle (-1: none), its depth, and the weights of its corners. */
typedef struct { int triangle; double depth, second, third; } met;

static bool meets(const scene *s, vec ray, int triangle, met *at)
{
    const vec a = corner_of(s->m->place, s->m, triangle, 0), b = sum_of(corner_of(s->m->place, s->m, triangle, 1), -1, a);
    const vec c = sum_of(corner_of(s->m->place, s->m, triangle, 2), -1, a), from = sum_of(s->eye, -1, a), p = cross(ray, c);
    const vec q = cross(from, b);
    const double all = dot(b, p);

    *at = (met){ triangle, dot(c, q) / all, dot(from, p) / all, dot(ray, q) / all };
    return at->second >= 0 && at->third >= 0 && at->second + at->third <= 1 && at->depth >= s->s->near;
}

/* x and y: a place on the image, in samples. Half transparent triangles are passed where the pattern lets light through. */
static met first_met(const scene *s, double x, double y, int column, int row)
{
    static const int bayer[4][4] = { { 0, 8, 2, 10 }, { 12, 4, 14, 6 }, { 3, 11, 1, 9 }, { 15, 7, 13, 5 } };
    const double side = s->s->size * s->s->samples;
    const vec ray = sum_of(sum_of(sum_of((vec){ { 0 } }, -1, s->back), (2 * x / side - 1) * s->slope, s->right),
                           (1 - 2 * y / side) * s->slope, s->up);
    met best = { -1, 1e30, 0, 0 }, at;

    for (int t = 0; t < s->m->triangles; t++) {
        const double opacity = s->m->look[s->m->material[t]].opacity;
        if (opacity * 16 <= bayer[row % 4][column % 4] + 0.5) continue;
        if (meets(s, ray, t, &at) && at.depth < best.depth) best = at;
    }
    return best;
}

static vec sun_of(const float *f)
{
    const double turn = 3.14159265358979323846 / 180;
    vec v = { { 0, 0, 1 } };

    for (int k = 0; k < 3; k++) {                        /* Rx, then Ry, then Rz */
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double a = f[SPOT_SUN_X + k] * turn, p = v.x[i], q = v.x[j];
        v.x[i] = cos(a) * p - sin(a) * q, v.x[j] = sin(a) * p + cos(a) * q;
    }
    return v;
}

/* Adds light of an energy to factors of k_d and k_s. */
static void add_light(double *diffuse, double *specular, double energy, vec light, vec normal, vec to_eye, double n)
{
    const double facing = fmax(0, dot(normal, light)), half = fmax(0, dot(normal, unit(sum_of(light, 1, to_eye))));

    *diffuse += energy * facing;
    *specular += energy * facing * pow(half, n);
}

/* The light of a sample (3). */
static void light_of(const scene *s, met at, double *out)
{
    const spot_mesh_material *look = &s->m->look[s->m->material[at.triangle]];
    const vec p[3] = { corner_of(s->m->place, s->m, at.triangle, 0), corner_of(s->m->place, s->m, at.triangle, 1),
                       corner_of(s->m->place, s->m, at.triangle, 2) };
    const vec n[3] = { corner_of(s->m->normal, s->m, at.triangle, 0), corner_of(s->m->normal, s->m, at.triangle, 1),
                       corner_of(s->m->normal, s->m, at.triangle, 2) };
    const double w[3] = { 1 - at.second - at.third, at.second, at.third };
    vec place = { { 0 } }, normal = place, geometric = cross(sum_of(p[1], -1, p[0]), sum_of(p[2], -1, p[0])), all = place;
    double diffuse = s->s->ambient, specular = 0;

    for (int k = 0; k < 3; k++) {
        place = sum_of(place, w[k], p[k]);
        normal = sum_of(normal, w[k], n[k]), all = sum_of(all, 1, n[k]);
    }
    const vec to_eye = unit(sum_of(s->eye, -1, place));
    const bool front = dot(geometric, to_eye) > 0, agrees = dot(geometric, all) >= 0;
    normal = sum_of((vec){ { 0 } }, front == agrees ? 1 : -1, unit(normal));
    const vec lamp = sum_of(sum_of((vec){ { 0 } }, s->f[SPOT_LAMP_DISTANCE], towards(s->f[SPOT_LAMP_AZIMUTH],
                                                                                     s->f[SPOT_LAMP_ELEVATION])), -1, place);
    const double r = sqrt(dot(lamp, lamp)), d = s->s->falloff_distance;
    const double fall = s->s->falloff == SPOT_FALLOFF_LINEAR ? d / (d + r) : d * d / (d * d + r * r);
    add_light(&diffuse, &specular, s->s->sun_scale * s->f[SPOT_SUN_ENERGY], sun_of(s->f), normal, to_eye, look->shininess);
    add_light(&diffuse, &specular, s->s->lamp_scale * s->f[SPOT_LAMP_ENERGY] * fall, unit(lamp), normal, to_eye,
              look->shininess);
    for (int c = 0; c < 3; c++)
        out[c] = fmin(1, s->s->exposure * (diffuse * look->diffuse[c] + s->s->specular * specular * look->specular[c]));
}

static double to_linear(double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); }
static double to_byte(double v) { return 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055); }

/* A pixel by the definition. known: no sample is near an edge or a cut-out; plain: none is textured. */
typedef struct { bool known, plain; int covered; double colour[3], near, far; } wanted;

static wanted pixel_of(const scene *s, int column, int row, const uint8_t *ground)
{
    static const double aside[5][2] = { { 0, 0 }, { 0.01, 0 }, { -0.01, 0 }, { 0, 0.01 }, { 0, -0.01 } };
    const int n = s->s->samples;
    wanted w = { true, true, 0, { 0 }, 1e30, 1e30 };

    for (int e = 0; e < n * n; e++) {
        const int x = column * n + e % n, y = row * n + e / n;
        met at = { -1, 0, 0, 0 };
        double light[3] = { 0 }, near = 1e30, far = 0;
        for (int k = 0; k < 5; k++) {
            const met other = first_met(s, x + 0.5 + aside[k][0], y + 0.5 + aside[k][1], x, y);
            if (k == 0) at = other;
            w.known &= other.triangle == at.triangle;
            near = fmin(near, other.depth), far = fmax(far, other.depth);
        }
        if (at.triangle >= 0) {
            const spot_mesh_material *look = &s->m->look[s->m->material[at.triangle]];
            w.known &= look->cutout < 0, w.plain &= look->texture < 0;
            light_of(s, at, light);
            w.covered++;
            if (near < w.near) w.near = near, w.far = far;
        }
        for (int c = 0; c < 3; c++)
            w.colour[c] += at.triangle >= 0 ? light[c] : ground ? to_linear(ground[c] / 255.0) : s->s->background[c];
    }
    for (int c = 0; c < 3; c++) w.colour[c] = to_byte(w.colour[c] / (n * n));
    return w;
}

/* The outputs of image i, on the host. */
typedef struct { uint8_t *rgb, *mask, *picture; float *depth; } seen;

static spot_status check_pixel(spot_op_run *r, const scene *s, const seen *got, int e, int number, int picture)
{
    const int size = s->s->size, all = s->s->samples * s->s->samples;
    const uint8_t *ground = picture < 0 ? NULL : got->picture + 3 * ((size_t)size * (size_t)size * (size_t)picture + (size_t)e);
    const wanted w = pixel_of(s, e % size, e / size, ground);

    if (!w.known) return SPOT_OK;
    SPOT_TRY(spot_bench_near(r->c, "mask of a pixel", (size_t)number, got->mask[e], floor(255.0 * w.covered / all + 0.5), 0));
    for (int c = 0; w.plain && c < 3; c++)
        SPOT_TRY(spot_bench_near(r->c, "colour of a pixel", (size_t)number, got->rgb[3 * e + c], w.colour[c], 1));
    if (!w.covered) return spot_bench_near(r->c, "depth of a pixel", (size_t)number, got->depth[e], 0, 0);
    return spot_bench_near(r->c, "depth of a pixel", (size_t)number, got->depth[e], (w.near + w.far) / 2,
                           (w.far - w.near) / 2 + 1e-4 * w.far);
}

/* Facts of an image, from its mask. */
static spot_status check_facts(spot_op_run *r, const spot_op_images *p, const seen *got, const spot_shot_facts *f, int i)
{
    const int size = p->settings.size, pixels = size * size;
    double area = 0, border = 0;

    for (int e = 0; e < pixels; e++) {
        const bool edge = e < size || e >= pixels - size || e % size == 0 || e % size == size - 1;
        area += got->mask[e] / 255.0;
        border += edge && got->mask[e];
    }
    SPOT_TRY(spot_bench_near(r->c, "area of image", (size_t)i, f->area, area / pixels, 0.5 / 255));
    SPOT_TRY(spot_bench_near(r->c, "border of image", (size_t)i, f->border, border / (4 * (size - 1)), 1e-6));
    return SPOT_OK;
}

enum { CHECKED = 60 };

static spot_status check_image(spot_op_run *r, const spot_op_images *p, const seen *got, const spot_toy *toy, int i)
{
    const size_t pixels = (size_t)p->settings.size * (size_t)p->settings.size, at = pixels * (size_t)i;
    const scene s = scene_of(p, i, toy);
    spot_shot_facts f;

    SPOT_TRY(spot_op_fetch(r, got->rgb, p->rgb + 3 * at, 3 * pixels));
    SPOT_TRY(spot_op_fetch(r, got->mask, p->mask + at, pixels));
    SPOT_TRY(spot_op_fetch(r, got->depth, p->depth + at, pixels * sizeof *got->depth));
    SPOT_TRY(spot_op_fetch(r, &f, p->facts + i, sizeof f));
    for (int k = 0, left = CHECKED; k < 4 * CHECKED && left; k++) {
        const int e = (int)(((size_t)k * 2654435761u + (size_t)i * 97) % pixels);
        if (!got->mask[e] && k % 4) continue;
        SPOT_TRY(check_pixel(r, &s, got, e, e, p->shot[i].picture));
        left--;
    }
    return check_facts(r, p, got, &f, i);
}

/* Images of both toys: pixels of the object, and a few beside it. */
static spot_status check_images(spot_op_run *r, void *problem)
{
    const spot_op_images *p = problem;
    const size_t pixels = (size_t)p->settings.size * (size_t)p->settings.size, behind = 3 * pixels * (size_t)p->pictures;
    const seen got = { malloc(3 * pixels), malloc(pixels), malloc(behind + 1), malloc(pixels * sizeof(float)) };
    spot_toy toy[2];
    spot_status s = spot_op_toys(r->c, toy, p);

    if (!got.rgb || !got.mask || !got.picture || !got.depth) s = spot_fail(r->c, SPOT_NOMEM, "no memory to check images");
    if (s == SPOT_OK) s = spot_op_fetch(r, got.picture, p->picture, behind);
    for (int i = 0; i < p->images && s == SPOT_OK; i += i ? 3 : 1) s = check_image(r, p, &got, toy, i);
    for (int i = 0; i < 2; i++) spot_toy_close(&toy[i]);
    free(got.rgb), free(got.mask), free(got.picture), free(got.depth);
    return s;
}

const spot_op spot_op_mesh = { "mesh", sizeof(spot_op_images), make_images, run_images, check_images, false };

/* -- timing: the toy alone, which is taken once -------------------------------------------------------------------------- */

typedef struct { spot_op_run *run; spot_render_mesh *mesh[2]; } timed;

static spot_status open_timed(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    timed *t = *state = calloc(1, sizeof *t);
    void *run = NULL;
    spot_status s;

    if (!t) return spot_fail(c, SPOT_NOMEM, "no memory to time images");
    s = spot_op_bench_open(c, &run, &spot_op_mesh, 1, size);
    t->run = run;
    SPOT_TRY(s);
    work->items = size[2];
    return take_toys(t->run, t->run->problem, t->mesh);
}

static spot_status check_timed(spot_ctx *c, void *state)
{
    timed *t = state;
    spot_op_images *p = t->run->problem;

    SPOT_TRY(spot_op_bench_check(c, t->run));
    for (int i = 0; i < p->images; i++) p->shot[i].mesh = 0;
    return SPOT_OK;
}

static spot_status run_timed(spot_ctx *c, void *state)
{
    timed *t = state;

    (void)c;
    return draw_images(t->run, t->run->problem, (const spot_render_mesh *const *)t->mesh);
}

static void close_timed(spot_ctx *c, void *state)
{
    timed *t = state;

    for (int i = 0; t && i < 2; i++) spot_render_give(c, t->mesh[i]);
    if (t) spot_op_bench_close(c, t->run);
    free(t);
}

static const spot_bench_kind drawn = { open_timed, check_timed, run_timed, close_timed };

#define SMALL { 24, 2, 4, 4 }
const spot_bench_row spot_bench_mesh[] = {
    { "mesh", "64 px, 4,040 triangles",   "images", SPOT_ON_ALL, &drawn, { 64, 2, 256, 32 },  SMALL },
    { "mesh", "64 px, 29,312 triangles",  "images", SPOT_ON_ALL, &drawn, { 64, 2, 256, 86 },  SMALL },
    { "mesh", "224 px, 4,040 triangles",  "images", SPOT_ON_ALL, &drawn, { 224, 2, 256, 32 }, SMALL },
    { "mesh", "224 px, 29,312 triangles", "images", SPOT_ON_ALL, &drawn, { 224, 2, 256, 86 }, SMALL },
    { 0 },
};
