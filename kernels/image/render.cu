/* render.cu - images of meshes on CUDA, 16 at a time: vertices are projected, a thread to each; a triangle's samples are taken
 * by its thread, or by its block where there are many; a pixel is shaded by a thread. A sample's key is the depth and, behind
 * it, the triangle, so that the greatest key is the nearest triangle and, of equals, the first. */
#include "core/cuda.cuh"
#include "core/sums.cuh"
#include "image/render_scratch.h"

enum { THREADS = 256, WARPS = THREADS / SPOT_WARP, FEW = 64, TOGETHER = SPOT_RENDER_TOGETHER, SUMS = SPOT_RENDER_SUMS };

typedef unsigned long long key;

/* The images of a launch. */
typedef struct {
    spot_render_view view[TOGETHER];
    spot_render_body body[TOGETHER];
} images;

static __device__ key key_of(int32_t depth, int triangle)
{
    return (key)(uint32_t)depth << 32 | (0xffffffffu - (uint32_t)triangle);
}

static __device__ int triangle_of(key k) { return (int)(0xffffffffu - (uint32_t)k); }

/* -- triangles ----------------------------------------------------------------------------------------------------------- */

/* grid (ceil(vertices / 256), images): point (images, vertices) */
static __global__ void __launch_bounds__(THREADS) project_kernel(spot_render_point *point, size_t vertices,
                                                                 const __grid_constant__ images all)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const spot_render_body *m = &all.body[blockIdx.y];

    if (i >= m->vertices) return;
    const float *p = m->vertex[i].place;
    const spot_render_view *v = &all.view[blockIdx.y];
    point[vertices * blockIdx.y + i] = spot_render_point_of(v, spot_render_place_of(v, p[0], p[1], p[2]));
}

/* A projected triangle, and its number. */
typedef struct { spot_render_point corner[3]; int number; } projected;

/* Takes one sample of a triangle's box. */
static __device__ void take_sample(key *keys, const spot_render_view *v, const spot_render_body *m,
                                   const spot_render_triangle *t, int number, int x, int y)
{
    for (int k = 0; k < 3; k++)
        if (t->edge[k] + (double)x * t->right[k] + (double)y * t->down[k] < 0) return;
    const int32_t depth = spot_render_depth(t, spot_render_row(t, (float)y), (float)x);
    if (m->look[number] & SPOT_RENDER_HOLES && !spot_render_is_solid(v, m, number, t->x + x, t->y + y)) return;
    atomicMax(&keys[(size_t)(t->y + y) * v->side + (t->x + x)], key_of(depth, number));
}

/* The threads of a block fill these together. */
typedef struct {
    key *keys;
    const spot_render_view *view;
    const spot_render_body *body;
    projected *large;              /* (THREADS): pieces that wait for the block */
    int *count;                    /* of them, and of those for which there was no room */
} filling;

/* Takes a piece of a triangle, or lets it wait for the block where it has many samples. False: there is no room now. */
static __device__ bool take_piece(const filling *f, const projected *p)
{
    const spot_render_triangle t = spot_render_set_up(f->view->side, p->corner[0], p->corner[1], p->corner[2]);

    if (!t.wide) return true;
    if (t.wide * t.high > FEW) {
        const int place = atomicAdd(f->count, 1);
        if (place < THREADS) f->large[place] = *p;
        return place < THREADS;
    }
    for (int y = 0; y < t.high; y++)
        for (int x = 0; x < t.wide; x++) take_sample(f->keys, f->view, f->body, &t, p->number, x, y);
    return true;
}

/* Takes the pieces, from `first` on, of a triangle of which a corner has no projection. Returns how many are taken now. */
static __device__ int take_cut(const filling *f, int number, int first)
{
    const spot_render_corners c = spot_render_corners_of(f->body, number);
    const spot_render_vertex *corner[3] = { c.a, c.b, c.c };
    const spot_render_view *v = f->view;
    spot_render_polygon polygon;

    polygon.corners = 3;
    for (int k = 0; k < 3; k++) {
        const float *p = corner[k]->place;
        polygon.at[k] = spot_render_place_of(v, p[0], p[1], p[2]);
    }
    spot_render_cut(v, &polygon);
    for (int i = first + 1; i + 1 < polygon.corners; i++) {
        const projected p = { { spot_render_project(v, polygon.at[0]), spot_render_project(v, polygon.at[i]),
                                spot_render_project(v, polygon.at[i + 1]) }, number };
        if (!take_piece(f, &p)) return i - 1;
    }
    return SPOT_RENDER_CORNERS;
}

/* Takes triangle i's pieces from `first` on, as far as there is room. */
static __device__ int take_triangle(const filling *f, const spot_render_point *point, int i, int first)
{
    const spot_render_body *m = f->body;
    const size_t all_of = m->triangles;
    const projected p = { { point[m->corner[i]], point[m->corner[all_of + i]], point[m->corner[2 * all_of + i]] }, i };

    if (!(p.corner[0].q > 0 && p.corner[1].q > 0 && p.corner[2].q > 0)) return take_cut(f, i, first);
    return take_piece(f, &p) ? SPOT_RENDER_CORNERS : 0;
}

/* The block takes the samples of the pieces that wait. */
static __device__ void take_large(const filling *f)
{
    for (int k = 0; k < min(*f->count, (int)THREADS); k++) {
        const projected *p = &f->large[k];
        const spot_render_triangle t = spot_render_set_up(f->view->side, p->corner[0], p->corner[1], p->corner[2]);
        for (int e = threadIdx.x; e < t.wide * t.high; e += THREADS)
            take_sample(f->keys, f->view, f->body, &t, p->number, e % t.wide, e / t.wide);
    }
}

/* grid (ceil(triangles / 256), images): keys (images, side, side), 0 before. A triangle that is cut may have more pieces than
 * one, so that all of a block's do not find room at once. Those that do not wait for the next turn. */
static __global__ void __launch_bounds__(THREADS, 2) fill_kernel(key *keys, const spot_render_point *point, size_t vertices,
                                                              size_t samples, const __grid_constant__ images all)
{
    SPOT_SHARED(projected, large, THREADS);
    SPOT_SHARED(int, count, 1);
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const filling f = { keys + samples * blockIdx.y, &all.view[blockIdx.y], &all.body[blockIdx.y], large, count };
    int taken = i < f.body->triangles ? 0 : SPOT_RENDER_CORNERS;
    bool more;

    if ((int)blockIdx.x * THREADS >= f.body->triangles) return;
    do {
        if (threadIdx.x == 0) *count = 0;
        __syncthreads();
        if (taken < SPOT_RENDER_CORNERS) taken = take_triangle(&f, point + vertices * blockIdx.y, i, taken);
        __syncthreads();
        take_large(&f);
        more = *count > THREADS;
        __syncthreads();
    } while (more);
}

/* -- pixels -------------------------------------------------------------------------------------------------------------- */

/* The images' outputs of a launch. */
typedef struct {
    const uint8_t *picture;        /* all of the call's */
    uint8_t *rgb, *mask;           /* from the launch's first image on */
    float   *depth;
    key     *sum;                  /* (images, sums) */
} outputs;

/* The light of a sample: shown (3), and its luminance. */
static __device__ unsigned shade_sample(float *shown, const spot_render_view *v, const spot_render_body *m, const float *linear,
                                        key k, int x, int y)
{
    const int triangle = triangle_of(k);
    const spot_render_corners t = spot_render_corners_of(m, triangle);
    const spot_mesh_material *look = m->material + (m->look[triangle] & SPOT_RENDER_MATERIAL);
    const spot_render_weights w = spot_render_weights_from(v, t);
    const spot_render_vector ray = spot_render_ray(v, (float)x, (float)y);
    const spot_render_hit hit = spot_render_meet(&w, ray);
    const spot_render_vector normal =
        spot_render_normal_in(spot_render_vector_at(t.a->normal), spot_render_vector_at(t.b->normal),
                              spot_render_vector_at(t.c->normal), hit);
    const bool turned = (hit.all > 0) == ((m->look[triangle] & SPOT_RENDER_TURNED) != 0);
    const bool shiny = look->specular[0] > 0 || look->specular[1] > 0 || look->specular[2] > 0;
    const spot_render_sight sight = { ray, normal, spot_bits_float((int32_t)(k >> 32)), look->shininess, turned };
    const spot_render_light light = spot_render_lit(v, &sight, shiny);
    float diffuse[3] = { look->diffuse[0], look->diffuse[1], look->diffuse[2] };

    if (look->texture >= 0) {
        const spot_render_spot at = spot_render_spot_of(v, &w, hit, t.a->at, t.b->at, t.c->at);
        spot_render_tint(diffuse, m->texture + look->texture, &at, linear);
    }
    if (m->colour) spot_render_dye(diffuse, m, triangle, hit);
    for (int c = 0; c < 3; c++) shown[c] = spot_render_shown(light, diffuse[c], look->specular[c]);
    return spot_render_luminance(shown[0], shown[1], shown[2]);
}

/* The sums over a pixel's covered samples. */
typedef struct { float sum[3], near; int covered; key light, square; } pixel;

static __device__ pixel pixel_at(const key *keys, const spot_render_view *v, const spot_render_body *m, const float *linear,
                                 int column, int row)
{
    pixel p = { { 0, 0, 0 }, 0, 0, 0, 0 };

    for (int e = 0; e < v->samples * v->samples; e++) {
        const int x = column * v->samples + e % v->samples, y = row * v->samples + e / v->samples;
        const key k = keys[(size_t)y * v->side + x];
        float shown[3];
        if (!k) continue;
        const key luminance = shade_sample(shown, v, m, linear, k, x, y);
        for (int c = 0; c < 3; c++) p.sum[c] += shown[c];
        p.near = fmaxf(p.near, spot_bits_float((int32_t)(k >> 32)));
        p.light += luminance, p.square += luminance * luminance;
        p.covered++;
    }
    return p;
}

static __device__ void put_pixel(const outputs *o, size_t at, const spot_render_view *v, const pixel *p, const uint8_t *ground,
                                 const float *linear)
{
    const int all = v->samples * v->samples;
    const float one = 1.0f / (float)all;

    for (int c = 0; c < 3; c++) {
        const float light = ground ? linear[ground[c]] : v->ground[c];
        o->rgb[3 * at + c] = ground && !p->covered
                           ? ground[c] : (uint8_t)spot_render_byte(spot_render_mean(p->sum[c], all - p->covered, light, one));
    }
    if (o->mask) o->mask[at] = (uint8_t)((p->covered * 510 + all) / (2 * all));
    if (o->depth) o->depth[at] = p->covered ? 1 / p->near : 0;
}

/* Puts a warp's sum of numbers, which fits into T, into row `which` of sum (rows, WARPS). It is put and not added, because an
 * addition of 64 bits to shared memory is a loop of a lane at a time. Whole numbers have the same sum in any order. */
template <typename T> static __device__ inline void put_sum(key *sum, int which, T own)
{
    const T all = spot_warp_sum(own);

    if (threadIdx.x % SPOT_WARP == 0) sum[which * WARPS + threadIdx.x / SPOT_WARP] = all;
}

static __device__ inline key sum_of_warps(const key *sum, int which)
{
    key all = 0;

    for (int w = 0; w < WARPS; w++) all += sum[which * WARPS + w];
    return all;
}

/* grid (ceil(pixels / 256), images) */
static __global__ void __launch_bounds__(THREADS) shade_kernel(const key *keys, size_t samples,
                                                               const __grid_constant__ outputs o,
                                                               const __grid_constant__ images all)
{
    SPOT_SHARED(float, linear, 256);
    SPOT_SHARED(key, sum, SUMS * WARPS);
    const spot_render_view *v = &all.view[blockIdx.y];
    const int e = blockIdx.x * THREADS + threadIdx.x, pixels = v->size * v->size, column = e % v->size, row = e / v->size;
    pixel p = { { 0, 0, 0 }, 0, 0, 0, 0 };

    linear[threadIdx.x] = spot_render_linear(threadIdx.x);
    if (threadIdx.x < SUMS * WARPS) sum[threadIdx.x] = 0;
    __syncthreads();
    if (e < pixels) {
        p = pixel_at(keys + samples * blockIdx.y, v, &all.body[blockIdx.y], linear, column, row);
        const uint8_t *ground = v->picture < 0 ? nullptr : o.picture + 3 * ((size_t)pixels * v->picture + e);
        put_pixel(&o, (size_t)pixels * blockIdx.y + e, v, &p, ground, linear);
    }
    if (__any_sync(~0u, p.covered)) {
        const bool border = row == 0 || row == v->size - 1 || column == 0 || column == v->size - 1;
        put_sum<int>(sum, SPOT_RENDER_COVERED, p.covered);
        put_sum<int>(sum, SPOT_RENDER_BORDER, p.covered && border);
        put_sum<uint32_t>(sum, SPOT_RENDER_LIGHT, (uint32_t)p.light);       /* at most 32 x 16 x 65,535 */
        put_sum<key>(sum, SPOT_RENDER_SQUARE, p.square);
    }
    __syncthreads();
    if (threadIdx.x >= SUMS) return;
    const key all_warps = sum_of_warps(sum, threadIdx.x);
    if (all_warps) atomicAdd(&o.sum[SUMS * blockIdx.y + threadIdx.x], all_warps);
}

/* -- facts --------------------------------------------------------------------------------------------------------------- */

/* grid (pictures): the sum of a picture's luminance */
static __global__ void __launch_bounds__(THREADS) ground_kernel(key *ground, const uint8_t *picture, int pixels)
{
    SPOT_SHARED(float, linear, 256);
    SPOT_SHARED(key, sum, WARPS);
    const uint8_t *rgb = picture + 3 * (size_t)pixels * blockIdx.x;
    key own = 0;

    linear[threadIdx.x] = spot_render_linear(threadIdx.x);
    __syncthreads();
    for (int e = threadIdx.x; e < pixels; e += THREADS)
        own += spot_render_luminance(linear[rgb[3 * e]], linear[rgb[3 * e + 1]], linear[rgb[3 * e + 2]]);
    put_sum<key>(sum, 0, own);
    __syncthreads();
    if (threadIdx.x == 0) ground[blockIdx.x] = sum_of_warps(sum, 0);
}

/* one block */
static __global__ void __launch_bounds__(TOGETHER) facts_kernel(spot_shot_facts *facts, const key *sum, const key *ground,
                                                                int count, const __grid_constant__ images all)
{
    const int i = threadIdx.x;

    if (i >= count) return;
    const spot_render_view *v = &all.view[i];
    const double mean = v->picture < 0 ? spot_render_luminance(v->ground[0], v->ground[1], v->ground[2])
                                       : (double)ground[v->picture] / ((double)v->size * v->size);
    facts[i] = spot_render_facts_of(v, sum + SPOT_RENDER_SUMS * i, mean);
}

/* -- the op -------------------------------------------------------------------------------------------------------------- */

/* Draws `count` images from number `first` on. */
static spot_status draw_together(spot_ctx *c, char *room, const spot_render_room *plan, const spot_render_call *r, int first,
                                 int count)
{
    const size_t pixels = (size_t)r->settings->size * r->settings->size, at = pixels * first;
    const cudaStream_t stream = spot_cuda_stream(c);
    key *keys = (key *)room, *sum = (key *)(room + plan->sums), *ground = (key *)(room + plan->grounds);
    spot_render_point *point = (spot_render_point *)(room + plan->points);
    const outputs o = { r->picture, r->rgb + 3 * at, r->mask ? r->mask + at : nullptr, r->depth ? r->depth + at : nullptr,
                        sum };
    int vertices = 1, triangles = 1;
    images all;

    for (int i = 0; i < count; i++) {
        const spot_shot *shot = &r->shot[first + i];
        all.body[i] = r->mesh[shot->mesh]->body;
        all.view[i] = spot_render_view_of(r->settings, shot, r->mesh[shot->mesh]);
        vertices = max(vertices, all.body[i].vertices), triangles = max(triangles, all.body[i].triangles);
    }
    SPOT_TRY(spot_cuda_memory(c)->clear(c, room, plan->points));
    SPOT_LAUNCH(project_kernel, dim3(spot_blocks(vertices, THREADS), count), THREADS, 0, stream, point, plan->vertices, all);
    SPOT_LAUNCH(fill_kernel, dim3(spot_blocks(triangles, THREADS), count), THREADS, 0, stream, keys, point, plan->vertices,
                plan->samples, all);
    SPOT_LAUNCH(shade_kernel, dim3(spot_blocks(pixels, THREADS), count), THREADS, 0, stream, keys, plan->samples, o, all);
    if (r->facts) SPOT_LAUNCH(facts_kernel, dim3(1), TOGETHER, 0, stream, r->facts + first, sum, ground, count, all);
    return spot_cuda_launched(c, "render.draw of %d images, %d pixels a side", count, r->settings->size);
}

/* Arrays that are not wanted are NULL. */
static spot_status check_arrays(spot_ctx *c, const spot_render_call *r)
{
    const spot_cuda_array array[] = { { r->rgb, "rgb" }, { r->mask, "mask" }, { r->depth, "depth" }, { r->facts, "facts" },
                                      { r->picture, "picture" } };

    for (const spot_cuda_array &a : array)
        if (a.p) SPOT_TRY(spot_cuda_needs_each(c, "render.draw", &a, 1));
    return SPOT_OK;
}

static spot_status draw_cuda(spot_ctx *c, spot_arena *scratch, const spot_render_call *r)
{
    const size_t mark = scratch->used;
    const spot_render_room plan = spot_render_room_of(r);
    const int pixels = r->settings->size * r->settings->size;
    char *room;

    SPOT_TRY(SPOT_TAKE(c, scratch, room, plan.bytes));
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
    SPOT_TRY(check_arrays(c, r));
    if (!r->n) return SPOT_OK;
    if (r->facts && r->pictures)
        SPOT_LAUNCH(ground_kernel, dim3(r->pictures), THREADS, 0, spot_cuda_stream(c), (key *)(room + plan.grounds), r->picture,
                    pixels);
    for (int first = 0; first < r->n; first += TOGETHER)
        SPOT_TRY(draw_together(c, room, &plan, r, first, min((int)TOGETHER, r->n - first)));
    return SPOT_OK;
}

static size_t scratch_cuda(const spot_render_call *r, int threads)
{
    (void)threads;
    return spot_render_room_of(r).bytes;
}

extern const spot_render_ops spot_render_cuda = { .draw = draw_cuda, .scratch = scratch_cuda };
