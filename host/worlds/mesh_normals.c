/* mesh_normals.c - normals for corners that have none.
 *
 * Triangles that share an edge and bend there by less than the crease angle share the normals of the edge's two places. A
 * normal is the sum of the triangles' own normals, each times its angle there: so it is the same however a polygon is cut.
 * Neighbours whose corners run in contrary directions count with contrary signs, because many models do not turn all triangles
 * outwards. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "worlds/mesh_parts.h"

/* NEAR: an edge of more triangles than that is not one surface; each is compared with the next ones only, which keeps the time
 * in proportion. MARGIN: of the cosine, so that bends by exactly the crease angle are all on one side of it. */
enum { NEAR = 8 };
#define MARGIN 1e-6

typedef struct { double x[3]; } vec;

/* A triangle's edge as one of its corners has it: the place at its other end. */
typedef struct { uint32_t other, corner; bool leaves; } edge;

typedef struct {
    float *row;                            /* (corners) of SPOT_ROW */
    size_t corners, places;
    double least;                          /* cosine of the crease angle */
    uint32_t *place, *first;               /* (corners): the number of its place; scratch */
    uint32_t *start, *at;                  /* (places + 1), (corners): the corners at each place */
    uint32_t *root;                        /* (corners): the tree of those that share a normal; FLIP: with the contrary sign */
    vec  *face, *sum;                      /* (corners / 3): length 1; (corners) */
    edge *around;                          /* (most edges at a place) */
} normals;

#define FLIP 0x80000000u

/* -- vectors -------------------------------------------------------------------------------------------------------------- */

static double dot(vec a, vec b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }

static vec between(const float *from, const float *to)
{
    return (vec){ { (double)to[0] - from[0], (double)to[1] - from[1], (double)to[2] - from[2] } };
}

static vec cross(vec a, vec b)
{
    return (vec){ { a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2], a.x[0] * b.x[1] - a.x[1] * b.x[0] } };
}

static vec scaled(vec a, double by) { return (vec){ { a.x[0] * by, a.x[1] * by, a.x[2] * by } }; }

static const float *row_of(const normals *n, size_t triangle, size_t corner)
{
    return n->row + (3 * triangle + corner % 3) * SPOT_ROW;
}

static bool lacks(const normals *n, size_t corner)
{
    const float *v = n->row + corner * SPOT_ROW + SPOT_ROW_NORMAL;

    return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

/* -- corners that share a normal ------------------------------------------------------------------------------------------ */

/* The root of a corner's tree, with FLIP where the corner's sign is contrary to it. Halves the path. */
static uint32_t find(normals *n, uint32_t corner)
{
    uint32_t sign = 0;

    while ((n->root[corner] & ~FLIP) != corner) {
        const uint32_t up = n->root[corner], next = n->root[up & ~FLIP];
        n->root[corner] = next ^ (up & FLIP);
        sign ^= n->root[corner] & FLIP;
        corner = next & ~FLIP;
    }
    return corner | sign;
}

static void join(normals *n, uint32_t a, uint32_t b, uint32_t contrary)
{
    const uint32_t to = find(n, a), from = find(n, b), low = to & ~FLIP, high = from & ~FLIP;
    const uint32_t sign = (to ^ from ^ contrary) & FLIP;

    if (low < high) n->root[high] = low | sign;
    if (high < low) n->root[low] = high | sign;
}

static int by_other_end(const void *a, const void *b)
{
    const edge *p = a, *q = b;

    if (p->other != q->other) return p->other < q->other ? -1 : 1;
    return p->corner < q->corner ? -1 : p->corner > q->corner;
}

static void join_if_smooth(normals *n, const edge *a, const edge *b)
{
    const bool contrary = a->leaves == b->leaves;
    const double bend = dot(n->face[a->corner / 3], n->face[b->corner / 3]);

    if (a->corner / 3 != b->corner / 3 && (contrary ? -bend : bend) > n->least)
        join(n, a->corner, b->corner, contrary ? FLIP : 0);
}

static void join_at(normals *n, size_t place)
{
    size_t edges = 0;

    for (size_t i = n->start[place]; i < n->start[place + 1]; i++) {
        const uint32_t corner = n->at[i], triangle = corner / 3 * 3;
        if (!lacks(n, corner)) continue;
        n->around[edges++] = (edge){ n->place[triangle + (corner + 1 - triangle) % 3], corner, true };
        n->around[edges++] = (edge){ n->place[triangle + (corner + 2 - triangle) % 3], corner, false };
    }
    qsort(n->around, edges, sizeof *n->around, by_other_end);
    for (size_t i = 0; i < edges; i++)
        for (size_t j = i + 1; j < edges && j <= i + NEAR && n->around[j].other == n->around[i].other; j++)
            join_if_smooth(n, &n->around[i], &n->around[j]);
}

/* -- the whole ------------------------------------------------------------------------------------------------------------ */

static void find_faces(normals *n)
{
    for (size_t t = 0; t < n->corners / 3; t++) {
        const vec v = cross(between(row_of(n, t, 0), row_of(n, t, 1)), between(row_of(n, t, 0), row_of(n, t, 2)));
        n->face[t] = scaled(v, 1 / sqrt(dot(v, v)));
    }
}

/* Lists the corners at each place; returns the most at one place. */
static size_t list_corners(normals *n)
{
    size_t most = 0;

    for (size_t i = 0; i < n->corners; i++) n->start[n->place[i] + 1]++;
    for (size_t p = 0; p < n->places; p++) {
        most = n->start[p + 1] > most ? n->start[p + 1] : most;
        n->start[p + 1] += n->start[p];
    }
    for (size_t i = n->corners; i-- > 0;) n->at[--n->start[n->place[i] + 1]] = (uint32_t)i;
    /* Each entry has become the start of its own place. */
    memmove(n->start, n->start + 1, n->places * sizeof *n->start);
    n->start[n->places] = (uint32_t)n->corners;
    return most;
}

/* The angle between a and b to 7e-5, without libm, whose last digits depend on the machine: Abramowitz and Stegun 4.4.45. */
static double angle(vec a, vec b)
{
    const double cosine = fmax(-1, fmin(1, dot(a, b) / sqrt(dot(a, a) * dot(b, b)))), x = fabs(cosine);
    const double acute = sqrt(1 - x) * (1.5707288 + x * (-0.2121144 + x * (0.0742610 - x * 0.0187293)));

    return cosine < 0 ? 3.14159265358979323846 - acute : acute;
}

static void add_up(normals *n)
{
    for (size_t i = 0; i < n->corners; i++) {
        const size_t t = i / 3;
        const vec a = between(row_of(n, t, i), row_of(n, t, i + 1)), b = between(row_of(n, t, i), row_of(n, t, i + 2));
        const uint32_t root = find(n, (uint32_t)i);
        const double weight = angle(a, b);
        vec *sum = &n->sum[root & ~FLIP];
        for (int k = 0; k < 3; k++) sum->x[k] += (root & FLIP ? -weight : weight) * n->face[t].x[k];
    }
}

/* A normal that looks away from its own triangle would turn the triangle's shading round: then the triangle's own is taken. */
static void put_normal(normals *n, size_t corner)
{
    const uint32_t root = find(n, (uint32_t)corner);
    const vec own = n->face[corner / 3], sum = n->sum[root & ~FLIP];
    const double length = sqrt(dot(sum, sum));
    vec v = scaled(sum, (root & FLIP ? -1 : 1) / length);

    if (!(length > 0) || !isfinite(length) || !(dot(v, own) > 0)) v = own;
    for (int k = 0; k < 3; k++) n->row[corner * SPOT_ROW + SPOT_ROW_NORMAL + k] = (float)v.x[k] + 0.0f;
}

static spot_status make(spot_ctx *c, normals *n, int *made)
{
    uint8_t *missing = calloc(n->corners + 1, 1);

    if (!missing) return spot_fail(c, SPOT_NOMEM, "no memory for the normals of %zu triangles", n->corners / 3);
    find_faces(n);
    for (size_t i = 0; i < n->corners; i++) n->root[i] = (uint32_t)i;
    for (size_t p = 0; p < n->places; p++) join_at(n, p);
    add_up(n);
    for (size_t i = 0; i < n->corners; i++) missing[i] = lacks(n, i);
    for (size_t i = 0; i < n->corners; i++)
        if (missing[i]) put_normal(n, i), ++*made;
    free(missing);
    return SPOT_OK;
}

static void free_all(normals *n)
{
    free(n->place), free(n->first), free(n->start), free(n->at), free(n->root), free(n->face), free(n->sum), free(n->around);
}

static spot_status prepare(spot_ctx *c, normals *n)
{
    n->place = malloc(n->corners * sizeof *n->place);
    n->first = malloc(n->corners * sizeof *n->first);
    n->at = malloc(n->corners * sizeof *n->at);
    n->root = malloc(n->corners * sizeof *n->root);
    n->face = malloc(n->corners / 3 * sizeof *n->face);
    n->sum = calloc(n->corners, sizeof *n->sum);
    if (!n->place || !n->first || !n->at || !n->root || !n->face || !n->sum)
        return spot_fail(c, SPOT_NOMEM, "no memory for the normals of %zu triangles", n->corners / 3);
    SPOT_TRY(spot_mesh_weld(c, n->row, n->corners, 3, n->place, n->first, &n->places));
    n->start = calloc(n->places + 2, sizeof *n->start);
    if (!n->start) return spot_fail(c, SPOT_NOMEM, "no memory for the normals of %zu triangles", n->corners / 3);
    n->around = malloc(2 * list_corners(n) * sizeof *n->around);
    return n->around ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the normals of %zu triangles", n->corners / 3);
}

spot_status spot_mesh_make_normals(spot_ctx *c, float *row, size_t triangles, double crease, int *made)
{
    normals n = { .row = row, .corners = 3 * triangles, .least = cos(crease * (3.14159265358979323846 / 180)) + MARGIN };
    size_t i = 0;
    spot_status s;

    *made = 0;
    while (i < n.corners && !lacks(&n, i)) i++;
    if (i == n.corners) return SPOT_OK;
    s = prepare(c, &n);
    if (s == SPOT_OK) s = make(c, &n, made);
    free_all(&n);
    return s;
}
