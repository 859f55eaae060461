/* render_fill.c - vertices and triangles of an image on the CPU: which triangle is seen by each sample. Vertices are projected
 * in vectors. Most triangles of a large mesh lie between the samples: they are found in vectors, too, before anything else is
 * computed of them. The rest are set up in vectors, and each fills rows of a vector of samples. Such rows begin at multiples of
 * their length: what one triangle has stored, the next one loads whole. */
#include <limits.h>

#include "image/render_cpu.h"

enum { LANES = SPOT_RENDER_LANES, BATCH = 64, CHUNK = 256 };

/* -- vertices ------------------------------------------------------------------------------------------------------------ */

/* A vertex's column, for culling: 2 i of the centres of samples i, 2 i + 1 between those of i and i + 1. */
static inline int32_t column_of(int32_t x, int32_t side)
{
    const int32_t at = x - 128, column = (at >> 8) * 2 | ((at & 255) != 0);

    return spot_render_less(spot_render_more(column, -2), 2 * side);
}

/* The sides of the box of all vertices. */
typedef struct { int32_t left, top, right, bottom; bool cut; } bounds;

static bounds project(const spot_render_lane *lane)
{
    const spot_render_view v = lane->view;
    const int count = lane->body->vertices, side = v.side;
    const float *restrict px = lane->body->place, *restrict py = px + count, *restrict pz = py + count;
    spot_render_corner *restrict corner = lane->corner;
    uint32_t *restrict place = lane->place;
    int32_t left = INT_MAX, top = INT_MAX, right = INT_MIN, bottom = INT_MIN, cut = 0;

#pragma omp simd reduction(min : left, top) reduction(max : right, bottom) reduction(| : cut)
    for (int i = 0; i < count; i++) {
        const spot_render_point p = spot_render_point_of(&v, spot_render_place_of(&v, px[i], py[i], pz[i]));
        corner[i].x = p.x, corner[i].y = p.y, corner[i].q = p.q, corner[i].none = 0;
        place[i] = (uint32_t)column_of(p.x, side) << 16 | ((uint32_t)column_of(p.y, side) & 0xffff);
        left = p.x < left ? p.x : left, right = p.x > right ? p.x : right;
        top = p.y < top ? p.y : top, bottom = p.y > bottom ? p.y : bottom;
        cut |= p.q == 0;
    }
    return (bounds){ left, top, right, bottom, cut != 0 };
}

static void clear_rect(spot_render_lane *lane, const bounds *b)
{
    const int samples = lane->view.samples, side = lane->view.side;
    spot_render_rect r = { 0, 0, side, side };

    if (!b->cut) {
        r.x = spot_render_more((b->left + 127) >> 8, 0) / samples * samples;
        r.y = spot_render_more((b->top + 127) >> 8, 0) / samples * samples;
        r.right = spot_render_less((b->right - 128) >> 8, side - 1) / samples * samples + samples;
        r.bottom = spot_render_less((b->bottom - 128) >> 8, side - 1) / samples * samples + samples;
    }
    lane->rect = r;
    for (int y = r.y; y < r.bottom && r.x < r.right; y++)
        memset(lane->depth + (size_t)y * lane->pitch + r.x, 0, ((size_t)(r.right - r.x) + LANES) * sizeof *lane->depth);
}

/* -- a batch of triangles ------------------------------------------------------------------------------------------------ */

typedef struct {
    int count;
    uint32_t number[BATCH];
    spot_render_corner corner[3][BATCH];       /* copied whole, and sorted into these in vectors */
    int32_t  x[3][BATCH], y[3][BATCH];
    float    q[3][BATCH];
    /* spot_render_triangle's */
    int32_t  first_x[BATCH], first_y[BATCH], wide[BATCH], high[BATCH], large[BATCH], right[3][BATCH], down[3][BATCH];
    int32_t  near[3][BATCH];           /* edges, limited */
    double   edge[3][BATCH];
    float    first_q[BATCH], q_right[BATCH], q_down[BATCH], least[BATCH], most[BATCH];
} render_fill_batch;

/* An edge that is far from 0 keeps its sign over 64 samples. */
static inline int32_t near_edge(double edge)
{
    const double most = 1 << 30;

    return (int32_t)(edge < most ? edge > -most ? edge : -most : most);
}

/* -1 where a triangle of at most 2 x 2 samples lies between them; else 0. */
static inline int32_t is_between(const render_fill_batch *b, int i)
{
    int32_t outside = spot_render_all(b->wide[i] <= 2) & spot_render_all(b->high[i] <= 2) & ~b->large[i];

    for (int e = 0; e < 4; e++) {
        int32_t any = 0;
        for (int k = 0; k < 3; k++) any |= b->near[k][i] + (e & 1) * b->right[k][i] + (e >> 1) * b->down[k][i];
        outside &= any >> 31;
    }
    return outside;
}

static inline void set_up_one(render_fill_batch *b, int i, int side)
{
    const spot_render_point p = { b->x[0][i], b->y[0][i], b->q[0][i] }, q = { b->x[1][i], b->y[1][i], b->q[1][i] };
    const spot_render_point r = { b->x[2][i], b->y[2][i], b->q[2][i] };
    const spot_render_triangle t = spot_render_set_up(side, p, q, r);

    b->first_x[i] = t.x, b->first_y[i] = t.y, b->wide[i] = t.wide, b->high[i] = t.high, b->large[i] = t.large;
    b->right[0][i] = t.right[0], b->right[1][i] = t.right[1], b->right[2][i] = t.right[2];
    b->down[0][i] = t.down[0], b->down[1][i] = t.down[1], b->down[2][i] = t.down[2];
    b->edge[0][i] = t.edge[0], b->edge[1][i] = t.edge[1], b->edge[2][i] = t.edge[2];
    b->first_q[i] = t.q, b->q_right[i] = t.q_right, b->q_down[i] = t.q_down, b->least[i] = t.least, b->most[i] = t.most;
    b->near[0][i] = near_edge(t.edge[0]), b->near[1][i] = near_edge(t.edge[1]), b->near[2][i] = near_edge(t.edge[2]);
    b->wide[i] &= ~is_between(b, i);
}

static void sort_corners(render_fill_batch *b, int count)
{
    for (int k = 0; k < 3; k++) {
        const spot_render_corner *restrict from = b->corner[k];
        int32_t *restrict x = b->x[k], *restrict y = b->y[k];
        float *restrict q = b->q[k];
#pragma omp simd
        for (int i = 0; i < count; i++) x[i] = from[i].x, y[i] = from[i].y, q[i] = from[i].q;
    }
}

/* Structs within a loop of lanes would be arrays in memory: a function of its own has them in registers. */
__attribute__((flatten)) static void set_up(render_fill_batch *b, int side)
{
    const int count = (b->count + LANES - 1) / LANES * LANES;      /* whole vectors: BATCH is a multiple */

    for (int k = 0; k < 3; k++)
        for (int i = b->count; i < count; i++) b->corner[k][i] = b->corner[k][0];
    sort_corners(b, count);
#pragma omp simd
    for (int i = 0; i < count; i++) set_up_one(b, i, side);
}

static inline spot_render_triangle triangle_at(const render_fill_batch *b, int i)
{
    return (spot_render_triangle){
        b->first_x[i], b->first_y[i], b->wide[i], b->high[i], { b->edge[0][i], b->edge[1][i], b->edge[2][i] },
        { b->right[0][i], b->right[1][i], b->right[2][i] }, { b->down[0][i], b->down[1][i], b->down[2][i] },
        b->first_q[i], b->q_right[i], b->q_down[i], b->least[i], b->most[i], b->large[i] };
}

/* -- filling ------------------------------------------------------------------------------------------------------------- */

/* gcc takes vectors apart that are longer than a register. */
#ifdef __AVX512F__
enum { WIDE = 16 };
#else
enum { WIDE = 8 };
#endif
_Static_assert(LANES % WIDE == 0, "rows are whole vectors");

typedef float   vf __attribute__((vector_size(4 * WIDE), aligned(4), may_alias));
typedef int32_t vi __attribute__((vector_size(4 * WIDE), aligned(4), may_alias));      /* comparisons give -1 or 0 */

/* Part of a triangle's box: from column x and row y on, counted from the box's first sample. */
typedef struct { int x, y, wide, high; int32_t edge[3]; } part;

/* Keeps what of WIDE samples from (x, y) on is taken, at its depth. */
static void collect(const spot_render_lane *lane, spot_render_hole *h, const int32_t *taken, const int32_t *depth, int x, int y)
{
    int32_t any = 0;

    for (int l = 0; l < WIDE; l++) any |= taken[l];
    if (!any) return;
    if (h->count > SPOT_RENDER_CHUNK - WIDE) spot_render_put_solid(lane, h);
    for (int l = 0; l < WIDE; l++) {
        if (!taken[l]) continue;
        h->x[h->count] = (float)(x + l), h->y[h->count] = (float)y;
        h->depth[h->count++] = depth[l];
    }
}

static inline __attribute__((always_inline)) void fill_part(const spot_render_lane *lane, const spot_render_triangle *t,
                                                            uint32_t number, spot_render_hole *hole, part p)
{
    static const int32_t places[LANES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    const vi place = *(const vi *)places;
    const int32_t least = spot_float_bits(t->least), most = spot_float_bits(t->most);
    const int right_a = t->right[0], right_b = t->right[1], right_c = t->right[2], begin = t->x + p.x;
    const int down_a = t->down[0], down_b = t->down[1], down_c = t->down[2], top = t->y + p.y;
    const float q = t->q, q_right = t->q_right, q_down = t->q_down;
    const size_t pitch = lane->pitch;

    for (int first = -(begin % WIDE); first < p.wide; first += WIDE) {
        const int x = begin + first;
        int32_t *depth = lane->depth + (size_t)top * pitch + x;
        uint32_t *triangle = lane->triangle + (size_t)top * pitch + x;
        vi a = p.edge[0] + (place + first) * right_a, b = p.edge[1] + (place + first) * right_b;
        vi c = p.edge[2] + (place + first) * right_c;
        const vf right = __builtin_convertvector(place + (p.x + first), vf) * q_right;
        for (int j = 0; j < p.high; j++, depth += pitch, triangle += pitch) {
            vi at = (vi)(q + q_down * (float)(p.y + j) + right);
            const vi before = *(vi *)depth, last = *(vi *)triangle, far = at < least;
            at = (far & least) | (~far & at);
            const vi near = at > most;
            at = (near & most) | (~near & at);
            vi taken = ((a | b | c) >= 0) & (at > before);
            a += down_a, b += down_b, c += down_c;
            if (hole) {
                collect(lane, hole, (const int32_t *)&taken, (const int32_t *)&at, x, top + j);
                continue;
            }
            *(vi *)depth = (taken & at) | (~taken & before);
            *(vi *)triangle = (taken & (int32_t)number) | (~taken & last);
        }
    }
}

static __attribute__((noinline)) void fill_large(const spot_render_lane *lane, const spot_render_triangle *t, uint32_t number,
                                                 spot_render_hole *hole)
{
    for (int y = 0; y < t->high; y++)
        for (int x = 0; x < t->wide; x += 64) {
            part p = { x, y, t->wide - x < 64 ? t->wide - x : 64, 1, { 0 } };
            for (int k = 0; k < 3; k++) p.edge[k] = near_edge(t->edge[k] + (double)x * t->right[k] + (double)y * t->down[k]);
            fill_part(lane, t, number, hole, p);
        }
}

static __attribute__((noinline)) void fill_holed(const spot_render_lane *lane, const spot_render_triangle *t, uint32_t number,
                                                 part all)
{
    spot_render_hole hole;

    hole.triangle = number, hole.count = 0;
    if (t->large) fill_large(lane, t, number, &hole);
    else          fill_part(lane, t, number, &hole, all);
    spot_render_put_solid(lane, &hole);
}

static void fill_one(const spot_render_lane *lane, const render_fill_batch *b, int i)
{
    const spot_render_triangle t = triangle_at(b, i);
    const uint32_t number = b->number[i];
    const part all = { 0, 0, t.wide, t.high, { b->near[0][i], b->near[1][i], b->near[2][i] } };

    if (lane->body->look[number] & SPOT_RENDER_HOLES) fill_holed(lane, &t, number, all);
    else if (t.large)                                 fill_large(lane, &t, number, NULL);
    else                                              fill_part(lane, &t, number, NULL, all);
}

static void fill_batch(const spot_render_lane *lane, render_fill_batch *b)
{
    set_up(b, lane->view.side);
    for (int i = 0; i < b->count; i++)
        if (b->wide[i]) fill_one(lane, b, i);
    b->count = 0;
}

/* -- from vertices to batches -------------------------------------------------------------------------------------------- */

static inline void put_triangle(const spot_render_lane *lane, render_fill_batch *b, uint32_t number,
                                const spot_render_corner *p, const spot_render_corner *q, const spot_render_corner *r)
{
    const int i = b->count++;

    memcpy(&b->corner[0][i], p, sizeof *p), memcpy(&b->corner[1][i], q, sizeof *q), memcpy(&b->corner[2][i], r, sizeof *r);
    b->number[i] = number;
    if (b->count == BATCH) fill_batch(lane, b);
}

/* A triangle of which a corner has no projection. */
static void put_cut(const spot_render_lane *lane, render_fill_batch *b, uint32_t number, const uint32_t *corner)
{
    const spot_render_body *m = lane->body;
    spot_render_polygon polygon = { .corners = 3 };
    spot_render_corner at[SPOT_RENDER_CORNERS];

    for (int k = 0; k < 3; k++) {
        const float *place = m->vertex[corner[k]].place;
        polygon.at[k] = spot_render_place_of(&lane->view, place[0], place[1], place[2]);
    }
    spot_render_cut(&lane->view, &polygon);
    for (int i = 0; i < polygon.corners; i++) {
        const spot_render_point p = spot_render_project(&lane->view, polygon.at[i]);
        at[i] = (spot_render_corner){ p.x, p.y, p.q, 0 };
    }
    for (int i = 1; i + 1 < polygon.corners; i++) put_triangle(lane, b, number, &at[0], &at[i], &at[i + 1]);
}

static inline void put_number(const spot_render_lane *lane, render_fill_batch *b, uint32_t number)
{
    const size_t count = (size_t)lane->body->triangles;
    const uint32_t *at = lane->body->corner + number, corner[3] = { at[0], at[count], at[2 * count] };
    const spot_render_corner *p = lane->corner + corner[0], *q = lane->corner + corner[1], *r = lane->corner + corner[2];

    if (!lane->cut || (p->q > 0 && q->q > 0 && r->q > 0)) put_triangle(lane, b, number, p, q, r);
    else                                                  put_cut(lane, b, number, corner);
}

static int keep_all(uint32_t *number, int first, int count)
{
    for (int i = 0; i < count; i++) number[i] = (uint32_t)(first + i);
    return count;
}

/* Numbers of the triangles from `first` on of which the box holds the centre of a sample; returns how many. */
static int cull(const spot_render_lane *lane, uint32_t *restrict number, int first, int count)
{
    const size_t all = (size_t)lane->body->triangles;
    const uint32_t *restrict a = lane->body->corner + first, *restrict b = a + all, *restrict c = b + all;
    const uint32_t *restrict place = lane->place;
    const int16_t last = (int16_t)(lane->view.side - 1);
    uint32_t at[3][CHUNK];
    const int16_t *restrict p = (const int16_t *)(const void *)at[0], *restrict q = p + 2 * CHUNK, *restrict r = q + 2 * CHUNK;
    uint16_t seen[2 * CHUNK];
    int kept = 0;

    for (int i = 0; i < count; i++) at[0][i] = place[a[i]], at[1][i] = place[b[i]], at[2][i] = place[c[i]];
#pragma omp simd
    for (int i = 0; i < 2 * count; i++) {
        int16_t least = p[i] < q[i] ? p[i] : q[i], most = p[i] > q[i] ? p[i] : q[i];
        least = r[i] < least ? r[i] : least, most = r[i] > most ? r[i] : most;
        least = (int16_t)((least + 1) >> 1), most = (int16_t)(most >> 1);
        least = least > 0 ? least : 0, most = most < last ? most : last;
        seen[i] = least <= most;
    }
    for (int i = 0; i < count; i++) {
        number[kept] = (uint32_t)(first + i);
        kept += seen[2 * i] & seen[2 * i + 1];
    }
    return kept;
}

void spot_render_fill(spot_render_lane *lane)
{
    const int count = lane->body->triangles;
    const bounds box = project(lane);
    uint32_t number[CHUNK];
    render_fill_batch b;

    b.count = 0;
    lane->rect = (spot_render_rect){ 0 };
    if (!count) return;
    lane->cut = box.cut;
    clear_rect(lane, &box);
    for (int first = 0; first < count; first += CHUNK) {
        const int some = count - first < CHUNK ? count - first : CHUNK;
        const int kept = box.cut ? keep_all(number, first, some) : cull(lane, number, first, some);
        for (int i = 0; i < kept; i++) put_number(lane, &b, number[i]);
    }
    fill_batch(lane, &b);
}
