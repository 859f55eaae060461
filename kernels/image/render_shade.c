/* render_shade.c - pixels of an image on the CPU. The covered samples of a row of pixels are shaded in vectors, wherever they
 * lie, and put back to their places; pixels are then added up in vectors. Samples that are not covered are 0, which changes no
 * sum. */
#include "image/render_texture.h"

enum { CHUNK = SPOT_RENDER_CHUNK, LANES = SPOT_RENDER_LANES };

/* Things of samples: each is copied whole, and then sorted by its numbers in vectors. */
enum { THING = 8 };
typedef struct { float v[CHUNK][THING]; } things;
enum { PLACE = 0, NORMAL = 3, AT = 6, DIFFUSE = 0, SPECULAR = 3, SHININESS = 6 };      /* in spot_render_vertex, in a face */
_Static_assert(sizeof(spot_render_vertex) == THING * sizeof(float), "a vertex is a thing");

/* Samples of which the ray and the triangle are known. */
typedef struct {
    float x[CHUNK], y[CHUNK];          /* columns and rows of samples */
    things thing[3];                   /* corners */
    float corner[3][THING][CHUNK];     /* the same by numbers */
} met_samples;

/* Samples that are shaded together. */
typedef struct {
    int count;
    uint32_t at[CHUNK], look[CHUNK];   /* at: in lane->shown */
    met_samples met;
    things thing;                      /* diffuse, specular and shininess of materials */
    float face[THING][CHUNK];
    float q[CHUNK];
    float shown[3][CHUNK];
    int   luminance[CHUNK];
} chunk;

/* The samples of a chunk that have a texture, or a colour at each corner. */
typedef struct {
    int count, of[CHUNK];              /* of: numbers in the chunk */
    uint32_t number[CHUNK];
    met_samples met;
    float wide[CHUNK], high[CHUNK], last[CHUNK];       /* the texture's level 0, and its last level */
    float second[CHUNK], third[CHUNK];                 /* spot_render_hit's */
    spot_render_reading reading;
    float colour[3][CHUNK];
} tinted;

static void sort_numbers(float (*restrict to)[CHUNK], const things *restrict from, int count)
{
#pragma omp simd
    for (int i = 0; i < spot_render_whole_lanes(count); i++)
        for (int k = 0; k < THING; k++) to[k][i] = from->v[i][k];
}

static void sort_corners(met_samples *s, int count)
{
    for (int k = 0; k < 3; k++) sort_numbers(s->corner[k], &s->thing[k], count);
}

static inline void copy_sample(met_samples *to, int i, const met_samples *from, int j)
{
    to->x[i] = from->x[j], to->y[i] = from->y[j];
    for (int k = 0; k < 3; k++) memcpy(to->thing[k].v[i], from->thing[k].v[j], sizeof to->thing[k].v[i]);
}

static inline spot_render_vector vector_of(float (*v)[CHUNK], int first, int i)
{
    return (spot_render_vector){ v[first][i], v[first + 1][i], v[first + 2][i] };
}

static inline spot_render_weights weights_at(const spot_render_view *v, met_samples *s, int i)
{
    return spot_render_weights_of(spot_render_vector_at(v->eye), vector_of(s->corner[0], PLACE, i),
                                  vector_of(s->corner[1], PLACE, i), vector_of(s->corner[2], PLACE, i));
}

/* -- textures and colours ------------------------------------------------------------------------------------------------ */

static inline void find_spot(const spot_render_view *v, tinted *t, int i)
{
    const float a[2] = { t->met.corner[0][AT][i], t->met.corner[0][AT + 1][i] };
    const float b[2] = { t->met.corner[1][AT][i], t->met.corner[1][AT + 1][i] };
    const float c[2] = { t->met.corner[2][AT][i], t->met.corner[2][AT + 1][i] };
    const spot_render_weights w = weights_at(v, &t->met, i);
    const spot_render_hit hit = spot_render_meet(&w, spot_render_ray(v, t->met.x[i], t->met.y[i]));
    const spot_render_spot spot = spot_render_spot_of(v, &w, hit, a, b, c);

    t->second[i] = hit.second, t->third[i] = hit.third, t->reading.u[i] = spot.u, t->reading.v[i] = spot.v;
    t->reading.level[i] = spot_render_level_of(t->wide[i], t->high[i], t->last[i], &spot);
}

/* Structs within a loop of lanes would be arrays in memory: a function of its own has them in registers. */
__attribute__((flatten)) static void find_spots(const spot_render_view *view, tinted *t)
{
    const spot_render_view v = *view;

#pragma omp simd
    for (int i = 0; i < spot_render_whole_lanes(t->count); i++) find_spot(&v, t, i);
}

/* Sums of spot_render_texel, of level n. */
static inline float colour_in(const spot_render_reading *r, int n, int i, int c, const float *linear)
{
    float sum = 0;

    for (int k = 0; k < 4; k++) {
        const uint32_t texel = r->texel[n][k][i];
        const float alpha = spot_render_weight_at(r, n, k, i) * (float)(int)(texel >> 24);
        sum = c < 3 ? fmaf(alpha, linear[texel >> 8 * c & 255], sum) : sum + alpha;
    }
    return sum;
}

static inline float mixed_in(const spot_render_reading *r, int i, int c, const float *linear, bool two)
{
    const float a = colour_in(r, 0, i, c, linear);

    return two ? spot_render_between(r, i, a, colour_in(r, 1, i, c, linear)) : a;
}

static inline void find_colour(tinted *t, int i, const float *linear, bool two)
{
    const float all = mixed_in(&t->reading, i, 3, linear, two);

    for (int c = 0; c < 3; c++) {
        const float sum = mixed_in(&t->reading, i, c, linear, two);
        t->colour[c][i] = all > 0 ? sum / all : 0;
    }
}

__attribute__((flatten)) static void find_colours(tinted *t, const float *linear)
{
    if (t->reading.two) {
#pragma omp simd
        for (int i = 0; i < spot_render_whole_lanes(t->count); i++) find_colour(t, i, linear, true);
    } else {
#pragma omp simd
        for (int i = 0; i < spot_render_whole_lanes(t->count); i++) find_colour(t, i, linear, false);
    }
}

/* Everything that the lanes read, up to a whole vector. */
static void prepare_tint(tinted *t)
{
    for (int i = t->count; i < spot_render_whole_lanes(t->count); i++) {
        copy_sample(&t->met, i, &t->met, 0);
        t->reading.of[i] = NULL;
    }
    for (int i = 0; i < spot_render_whole_lanes(t->count); i++) {
        const spot_render_texture *of = t->reading.of[i];
        t->wide[i] = of ? (float)of->width : 1, t->high[i] = of ? (float)of->height : 1;
        t->last[i] = of ? (float)(of->levels - 1) : 0;
    }
    sort_corners(&t->met, t->count);
    t->reading.count = t->count;
}

/* diffuse times the colours of textures and of corners. */
static void tint_samples(const spot_render_lane *lane, chunk *s, tinted *t)
{
    prepare_tint(t);
    find_spots(&lane->view, t);
    spot_render_read(&t->reading);
    find_colours(t, lane->linear);
    for (int i = 0; i < t->count; i++) {
        float *colour = s->thing.v[t->of[i]] + DIFFUSE;
        const spot_render_hit hit = { t->second[i], t->third[i], 0 };
        for (int c = 0; c < 3 && t->reading.of[i]; c++) colour[c] *= t->colour[c][i];
        if (lane->body->colour) spot_render_dye(colour, lane->body, (int)t->number[i], hit);
    }
}

/* -- light --------------------------------------------------------------------------------------------------------------- */

static inline void shade_one(const spot_render_view *v, chunk *s, int i, bool shiny)
{
    const spot_render_weights w = weights_at(v, &s->met, i);
    const spot_render_vector ray = spot_render_ray(v, s->met.x[i], s->met.y[i]);
    const spot_render_hit hit = spot_render_meet(&w, ray);
    const spot_render_vector normal = spot_render_normal_in(vector_of(s->met.corner[0], NORMAL, i),
                                                            vector_of(s->met.corner[1], NORMAL, i),
                                                            vector_of(s->met.corner[2], NORMAL, i), hit);
    const bool turned = (hit.all > 0) == ((s->look[i] & SPOT_RENDER_TURNED) != 0);
    const spot_render_sight sight = { ray, normal, s->q[i], s->face[SHININESS][i], turned };
    const spot_render_light light = spot_render_lit(v, &sight, shiny);
    const float r = spot_render_shown(light, s->face[DIFFUSE][i], s->face[SPECULAR][i]);
    const float g = spot_render_shown(light, s->face[DIFFUSE + 1][i], s->face[SPECULAR + 1][i]);
    const float b = spot_render_shown(light, s->face[DIFFUSE + 2][i], s->face[SPECULAR + 2][i]);

    s->shown[0][i] = r, s->shown[1][i] = g, s->shown[2][i] = b;
    s->luminance[i] = (int)spot_render_luminance(r, g, b);
}

__attribute__((flatten)) static void shade(const spot_render_view *view, chunk *s, bool shiny)
{
    const spot_render_view v = *view;

#pragma omp simd
    for (int i = 0; i < spot_render_whole_lanes(s->count); i++) shade_one(&v, s, i, shiny);
}

/* Whether any of the samples, or of those that fill up a vector, has highlights. */
static bool is_shiny(const chunk *s)
{
    int shiny = 0;

#pragma omp simd reduction(| : shiny)
    for (int i = 0; i < spot_render_whole_lanes(s->count); i++)
        shiny |= (s->face[SPECULAR][i] > 0) | (s->face[SPECULAR + 1][i] > 0) | (s->face[SPECULAR + 2][i] > 0);
    return shiny;
}

static void put_shown(spot_render_lane *lane, const chunk *s)
{
    unsigned long long light = 0, square = 0;

    for (int c = 0; c < 3; c++) {
        float *restrict to = lane->shown[c];
        for (int i = 0; i < s->count; i++) to[s->at[i]] = s->shown[c][i];
    }
#pragma omp simd reduction(+ : light, square)
    for (int i = 0; i < s->count; i++) {
        const unsigned long long l = (unsigned)s->luminance[i];
        light += l, square += l * l;
    }
    lane->total[SPOT_RENDER_LIGHT] += light;
    lane->total[SPOT_RENDER_SQUARE] += square;
}

/* -- the samples of a row of pixels -------------------------------------------------------------------------------------- */

/* lane->seen: columns of the covered samples; the last one is repeated for whole vectors. end (samples): how many there are up
 * to the end of a row. Returns how many. */
static int find_seen(const spot_render_lane *lane, int y, int *end)
{
    const int32_t *depth = lane->depth + (size_t)y * lane->pitch;
    int seen = 0;

    for (int k = 0; k < lane->view.samples; k++, depth += lane->pitch) {
        for (int x = lane->rect.x; x < lane->rect.right; x++) {
            lane->seen[seen] = (uint16_t)x;
            seen += depth[x] > 0;
        }
        end[k] = seen;
    }
    for (int i = seen; seen && i < spot_render_whole_lanes(seen); i++) lane->seen[i] = lane->seen[seen - 1];
    return seen;
}

/* Fetches the corners and the material of sample i, which triangle `number` covers. */
static inline void put_sample(chunk *s, tinted *t, const spot_render_body *m, int i, uint32_t number)
{
    const spot_render_corners corner = spot_render_corners_of(m, (int)number);
    const uint32_t look = m->look[number];
    const spot_mesh_material *face = m->material + (look & SPOT_RENDER_MATERIAL);

    memcpy(s->met.thing[0].v[i], corner.a, sizeof *corner.a);
    memcpy(s->met.thing[1].v[i], corner.b, sizeof *corner.b);
    memcpy(s->met.thing[2].v[i], corner.c, sizeof *corner.c);
    memcpy(s->thing.v[i], face, sizeof s->thing.v[i]);
    s->look[i] = look;
    if ((face->texture < 0 && !m->colour) || i >= s->count) return;
    copy_sample(&t->met, t->count, &s->met, i);
    t->reading.of[t->count] = face->texture >= 0 ? m->texture + face->texture : NULL;
    t->number[t->count] = number;
    t->of[t->count++] = i;
}

/* Shades the samples from y on of a row of pixels, into lane->shown. */
static void shade_samples(spot_render_lane *lane, int y)
{
    const int32_t *depth = lane->depth + (size_t)y * lane->pitch;
    const uint32_t *triangle = lane->triangle + (size_t)y * lane->pitch;
    int end[SPOT_RENDER_SAMPLES], k = 0;
    const int seen = find_seen(lane, y, end);
    chunk s;
    tinted t;

    lane->total[SPOT_RENDER_COVERED] += (unsigned long long)seen;
    for (int first = 0; first < seen; first += CHUNK) {
        const int count = s.count = seen - first < CHUNK ? seen - first : CHUNK;
        t.count = 0;
        for (int i = 0; i < spot_render_whole_lanes(count); i++) {
            while (first + i >= end[k] && end[k] < seen) k++;
            const uint32_t x = lane->seen[first + i], at = s.at[i] = (uint32_t)k * (uint32_t)lane->pitch + x;
            s.met.x[i] = (float)(int)x, s.met.y[i] = (float)(y + k);
            s.q[i] = spot_bits_float(depth[at]);
            put_sample(&s, &t, lane->body, i, triangle[at]);
        }
        if (t.count) tint_samples(lane, &s, &t);
        sort_corners(&s.met, s.count);
        sort_numbers(s.face, &s.thing, s.count);
        if (is_shiny(&s)) shade(&lane->view, &s, true);
        else              shade(&lane->view, &s, false);
        put_shown(lane, &s);
    }
}

/* -- pixels -------------------------------------------------------------------------------------------------------------- */

/* The pixels of a row, from the samples y on. samples: lane->view's, known when this is compiled. */
static inline __attribute__((always_inline)) void add_samples(spot_render_lane *lane, int y, int samples)
{
    const int first = lane->rect.x / samples, end = lane->rect.right / samples;
    const int32_t *restrict depth = lane->depth + (size_t)y * lane->pitch;
    const size_t pitch = lane->pitch;
    int32_t *restrict covered = lane->covered, *restrict near = lane->near;

#pragma omp simd
    for (int x = first; x < end; x++) {
        int32_t count = 0, most = 0;
        for (int e = 0; e < samples * samples; e++) {
            const int32_t at = depth[(size_t)(e / samples) * pitch + (size_t)(samples * x + e % samples)];
            count += at > 0;
            most = at > most ? at : most;
        }
        covered[x] = count, near[x] = most;
    }
    for (int c = 0; c < 3; c++) {
        const float *restrict shown = lane->shown[c];
        float *restrict sum = lane->sum + c * (lane->view.size + LANES);
#pragma omp simd
        for (int x = first; x < end; x++) {
            float all = 0;
            for (int e = 0; e < samples * samples; e++)
                all += shown[(size_t)(e / samples) * pitch + (size_t)(samples * x + e % samples)];
            sum[x] = all;
        }
        memset(sum + end, 0, LANES * sizeof *sum);
    }
    memset(covered + end, 0, LANES * sizeof *covered);
    memset(lane->ground + end, 0, LANES * sizeof *lane->ground);
}

/* The bytes of channel c of a row's pixels, over sum[c]. */
static void find_bytes(spot_render_lane *lane, const spot_render_image *out, int row, int c)
{
    const int size = lane->view.size, all = lane->view.samples * lane->view.samples;
    const int first = lane->rect.x / lane->view.samples, end = lane->rect.right / lane->view.samples;
    const size_t at = 3 * (size_t)row * (size_t)size + (size_t)c;
    const int32_t *restrict covered = lane->covered;
    const float one = 1.0f / (float)all, *restrict sum = lane->sum + c * (size + LANES);
    float *restrict ground = lane->ground;
    int32_t *restrict byte = lane->byte;

    for (int x = first; x < end; x++)
        ground[x] = out->picture ? lane->linear[out->picture[at + 3 * (size_t)x]] : lane->view.ground[c];
#pragma omp simd
    for (int x = first; x < first + spot_render_whole_lanes(end - first); x++)
        byte[x] = spot_render_byte(spot_render_mean(sum[x], all - covered[x], ground[x], one));
    for (int x = first; x < end; x++)
        if (covered[x]) out->rgb[at + 3 * (size_t)x] = (uint8_t)byte[x];
}

static void put_row(spot_render_lane *lane, const spot_render_image *out, int row)
{
    const int size = lane->view.size, all = lane->view.samples * lane->view.samples;
    const int shift = lane->view.samples == 1 ? 1 : lane->view.samples + 1;         /* 2 all = 1 << shift */
    const int first = lane->rect.x / lane->view.samples, end = lane->rect.right / lane->view.samples;
    const size_t line = (size_t)row * (size_t)size;
    const int32_t *restrict covered = lane->covered;
    uint8_t *restrict mask = out->mask ? out->mask + line : NULL;
    float *restrict depth = out->depth ? out->depth + line : NULL;

    for (int c = 0; c < 3; c++) find_bytes(lane, out, row, c);
    for (int x = first; mask && x < end; x++) mask[x] = (uint8_t)((covered[x] * 510 + all) >> shift);
    for (int x = first; depth && x < end; x++) {
        const float near = spot_bits_float(lane->near[x]);
        depth[x] = near > 0 ? 1 / near : 0;
    }
    for (int x = first; x < end; x++)
        if (row == 0 || row == size - 1 || x == 0 || x == size - 1) lane->total[SPOT_RENDER_BORDER] += covered[x] > 0;
}

void spot_render_shade(spot_render_lane *lane, const spot_render_image *out)
{
    const int samples = lane->view.samples;
    const spot_render_rect r = lane->rect;

    memset(lane->total, 0, sizeof lane->total);
    for (int row = r.y / samples; row < r.bottom / samples && r.x < r.right; row++) {
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < samples; k++)
                memset(lane->shown[c] + (size_t)k * lane->pitch + r.x, 0, (size_t)(r.right - r.x) * sizeof(float));
        shade_samples(lane, row * samples);
        if (samples == 1)      add_samples(lane, row, 1);
        else if (samples == 2) add_samples(lane, 2 * row, 2);
        else                   add_samples(lane, 4 * row, 4);
        put_row(lane, out, row);
    }
}
