/* render_shade.c - pixels of an image on the CPU. The covered samples of a row are shaded in vectors, wherever they lie, and
 * added to their pixels in order. */
#include "image/render_cpu.h"

enum { CHUNK = 64 };

/* Samples that are shaded together: the three corners of their triangles, and so on. */
typedef struct {
    int count, x[CHUNK];               /* x: column of samples */
    uint32_t look[CHUNK], number[CHUNK];
    float place[9][CHUNK], normal[9][CHUNK];
    float diffuse[3][CHUNK], specular[3][CHUNK], shininess[CHUNK], q[CHUNK];
    float shown[3][CHUNK];
    int   luminance[CHUNK];
    bool  shiny;
} chunk;

/* Fetches the corners and the material of sample i. */
static inline void put_sample(chunk *s, const spot_render_body *m, int i, uint32_t triangle)
{
    const spot_render_corners t = spot_render_corners_of(m, (int)triangle);
    const spot_mesh_material *look = m->material + (m->look[triangle] & SPOT_RENDER_MATERIAL);
    const spot_render_vertex *v[3] = { t.a, t.b, t.c };

    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) {
            s->place[3 * k + c][i] = v[k]->place[c];
            s->normal[3 * k + c][i] = v[k]->normal[c];
        }
    for (int c = 0; c < 3; c++) {
        s->diffuse[c][i] = look->diffuse[c];
        s->specular[c][i] = look->specular[c];
        s->shiny |= look->specular[c] > 0;
    }
    s->shininess[i] = look->shininess;
    s->look[i] = m->look[triangle];
    s->number[i] = triangle;
}

/* diffuse times the colours of the texture, unless it is -1, and of the corners. */
static void tint_sample(const spot_render_lane *lane, chunk *s, int i, int texture, int y)
{
    const spot_render_corners t = spot_render_corners_of(lane->body, (int)s->number[i]);
    const spot_render_weights w = spot_render_weights_from(&lane->view, t);
    const spot_render_hit hit = spot_render_meet(&w, spot_render_ray(&lane->view, (float)s->x[i], (float)y));
    float colour[3] = { s->diffuse[0][i], s->diffuse[1][i], s->diffuse[2][i] };

    if (texture >= 0) {
        const spot_render_spot at = spot_render_spot_of(&lane->view, &w, hit, t.a->at, t.b->at, t.c->at);
        spot_render_tint(colour, lane->body->texture + texture, &at, lane->linear);
    }
    if (lane->body->colour) spot_render_dye(colour, lane->body, (int)s->number[i], hit);
    for (int c = 0; c < 3; c++) s->diffuse[c][i] = colour[c];
}

static inline spot_render_vector vector_at(float (*v)[CHUNK], int corner, int i)
{
    return (spot_render_vector){ v[3 * corner][i], v[3 * corner + 1][i], v[3 * corner + 2][i] };
}

static inline void shade_one(const spot_render_view *v, chunk *s, int i, int y, bool shiny)
{
    const spot_render_weights w = spot_render_weights_of(spot_render_vector_at(v->eye), vector_at(s->place, 0, i),
                                                         vector_at(s->place, 1, i), vector_at(s->place, 2, i));
    const spot_render_vector ray = spot_render_ray(v, (float)s->x[i], (float)y);
    const spot_render_hit hit = spot_render_meet(&w, ray);
    const spot_render_vector normal = spot_render_normal_in(vector_at(s->normal, 0, i), vector_at(s->normal, 1, i),
                                                            vector_at(s->normal, 2, i), hit);
    const bool turned = (hit.all > 0) == ((s->look[i] & SPOT_RENDER_TURNED) != 0);
    const spot_render_sight sight = { ray, normal, s->q[i], s->shininess[i], turned };
    const spot_render_light light = spot_render_lit(v, &sight, shiny);
    const float r = spot_render_shown(light, s->diffuse[0][i], s->specular[0][i]);
    const float g = spot_render_shown(light, s->diffuse[1][i], s->specular[1][i]);
    const float b = spot_render_shown(light, s->diffuse[2][i], s->specular[2][i]);

    s->shown[0][i] = r, s->shown[1][i] = g, s->shown[2][i] = b;
    s->luminance[i] = (int)spot_render_luminance(r, g, b);
}

/* Structs within a loop of lanes would be arrays in memory: a function of its own has them in registers. */
__attribute__((flatten)) static void shade(const spot_render_view *view, chunk *s, int y, bool shiny)
{
    const spot_render_view v = *view;

#pragma omp simd
    for (int i = 0; i < s->count; i++) shade_one(&v, s, i, y, shiny);
}

static void add_to_pixels(spot_render_lane *lane, const chunk *s)
{
    const int size = lane->view.size, shift = lane->view.samples / 2;       /* 1, 2, 4 samples: 0, 1, 2 */
    unsigned long long light = 0, square = 0;

    for (int i = 0; i < s->count; i++) {
        const int pixel = s->x[i] >> shift;
        const unsigned long long l = (unsigned long long)s->luminance[i];
        for (int c = 0; c < 3; c++) lane->sum[c * size + pixel] += s->shown[c][i];
        lane->covered[pixel]++;
        lane->near[pixel] = s->q[i] > lane->near[pixel] ? s->q[i] : lane->near[pixel];
        light += l, square += l * l;
    }
    lane->total[SPOT_RENDER_COVERED] += (unsigned long long)s->count;
    lane->total[SPOT_RENDER_LIGHT] += light;
    lane->total[SPOT_RENDER_SQUARE] += square;
}

/* A row of samples: finds those that are covered, and shades them. */
static void shade_row(spot_render_lane *lane, int y)
{
    const int32_t *depth = lane->depth + (size_t)y * lane->pitch;
    const uint32_t *triangle = lane->triangle + (size_t)y * lane->pitch;
    int seen = 0;
    chunk s;

    for (int x = lane->rect.x; x < lane->rect.right; x++) {
        lane->seen[seen] = (uint16_t)x;
        seen += depth[x] > 0;
    }
    for (int first = 0; first < seen; first += CHUNK) {
        s.count = seen - first < CHUNK ? seen - first : CHUNK;
        s.shiny = false;
        for (int i = 0; i < s.count; i++) {
            const int x = s.x[i] = lane->seen[first + i];
            s.q[i] = spot_bits_float(depth[x]);
            put_sample(&s, lane->body, i, triangle[x]);
            const int texture = lane->body->material[s.look[i] & SPOT_RENDER_MATERIAL].texture;
            if (texture >= 0 || lane->body->colour) tint_sample(lane, &s, i, texture, y);
        }
        if (s.shiny) shade(&lane->view, &s, y, true);
        else         shade(&lane->view, &s, y, false);
        add_to_pixels(lane, &s);
    }
}

/* A row of pixels of the rect to the image. */
static void put_row(spot_render_lane *lane, const spot_render_image *out, int row)
{
    const int size = lane->view.size, all = lane->view.samples * lane->view.samples;
    const int first = lane->rect.x / lane->view.samples, end = lane->rect.right / lane->view.samples;
    const float one = 1.0f / (float)all;

    for (int x = first; x < end; x++) {
        const size_t at = (size_t)row * (size_t)size + (size_t)x;
        const int covered = lane->covered[x];
        if (!covered) continue;
        for (int c = 0; c < 3; c++) {
            const float ground = out->picture ? lane->linear[out->picture[3 * at + (size_t)c]] : lane->view.ground[c];
            out->rgb[3 * at + (size_t)c] =
                (uint8_t)spot_render_byte(spot_render_mean(lane->sum[c * size + x], all - covered, ground, one));
        }
        if (out->mask) out->mask[at] = (uint8_t)((covered * 510 + all) / (2 * all));
        if (out->depth) out->depth[at] = 1 / lane->near[x];
        if (row == 0 || row == size - 1 || x == 0 || x == size - 1) lane->total[SPOT_RENDER_BORDER]++;
    }
}

void spot_render_shade(spot_render_lane *lane, const spot_render_image *out)
{
    const size_t size = (size_t)lane->view.size;
    const int samples = lane->view.samples;

    memset(lane->total, 0, sizeof lane->total);
    for (int row = lane->rect.y / samples; row < lane->rect.bottom / samples; row++) {
        memset(lane->sum, 0, 3 * size * sizeof *lane->sum);
        memset(lane->near, 0, size * sizeof *lane->near);
        memset(lane->covered, 0, size * sizeof *lane->covered);
        for (int k = 0; k < samples; k++) shade_row(lane, row * samples + k);
        put_row(lane, out, row);
    }
}
