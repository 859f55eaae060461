/* rows_near.c - near copies among the rows of a class; see rows_alike.h. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "discover/search/vote.h"
#include "discover/subject/rows_alike.h"
#include "spotter/rng.h"

enum { SCALE = 16,                     /* the neighbour whose distance is a row's scale */
       COPIES = 4,                     /* most near copies of a row */
       FEWEST = 2 * SCALE };           /* rows of a part that is searched */

#define MOST 0.5                       /* of that distance, for near copies */
#define GAP  1.5                       /* from the farthest near copy of a row to its next neighbour, in its distance */
#define TENTH 1.0696                   /* -ln of the lower tenth of Beta(8, 8), the law of (r8 / r16)^m */

/* at: of the later and the earlier row in `row` */
typedef struct { int later, earlier, at[2]; float far, ratio; } near_pair;
typedef struct { float far[COPIES + 1], scale; } surroundings;         /* distances to the nearest rows, nearest first */

typedef struct {
    spot_ctx           *c;
    const spot_subject *s;
    spot_arena          a;             /* scratch of a part */
    int                *row;           /* (n): of the class */
    surroundings       *around;        /* (n) */
    double             *growth;        /* (n): ln(r16 / r8) of the rows so far */
    int                 rows;          /* their number */
    near_pair          *pair;
    int                 pairs, room;
    uint32_t            parts;         /* divided so far */
} nearness;

/* ---- parts of a class ---- */

typedef struct { double at; int row; } projection;

static int by_place(const void *a, const void *b)
{
    const projection *x = a, *y = b;

    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : x->row - y->row;
}

/* Sorts rows along a random direction. */
static spot_status sort_along(nearness *v, int *row, int n)
{
    const int d = v->s->d;
    spot_rng r = spot_rng_at(0, SPOT_RNG_ALIKE, 0, v->parts++);
    projection *p = malloc((size_t)n * sizeof *p);
    double *along = malloc((size_t)d * sizeof *along);

    if (p && along) {
        for (int k = 0; k < d; k++) along[k] = spot_rng_normal(&r);
#pragma omp parallel for num_threads(v->c->threads)
        for (int i = 0; i < n; i++) {
            const float *x = v->s->feature + (size_t)row[i] * (size_t)d;
            p[i] = (projection){ 0, row[i] };
            for (int k = 0; k < d; k++) p[i].at += along[k] * x[k];
        }
        qsort(p, (size_t)n, sizeof *p, by_place);
        for (int i = 0; i < n; i++) row[i] = p[i].row;
    }
    const bool room = p && along;
    free(p);
    free(along);
    return room ? SPOT_OK : spot_fail(v->c, SPOT_NOMEM, "no memory to divide %d rows", n);
}

/* ---- a part ---- */

/* i, j: places in row. */
static spot_status keep_pair(nearness *v, int i, int j, double far, double scale)
{
    const int one = v->row[i], other = v->row[j];


    if (v->pairs == v->room) {
        const int room = 2 * v->room + 256;
        near_pair *more = realloc(v->pair, (size_t)room * sizeof *more);
        if (!more) return spot_fail(v->c, SPOT_NOMEM, "no memory for %d pairs of near rows", room);
        v->pair = more;
        v->room = room;
    }
    v->pair[v->pairs++] = one > other ? (near_pair){ one, other, { i, j }, (float)far, (float)(far / scale) }
                                      : (near_pair){ other, one, { j, i }, (float)far, (float)(far / scale) };
    return SPOT_OK;
}

static double distance(const spot_subject *s, int i, int j)
{
    const float *x = s->feature + (size_t)i * (size_t)s->d, *y = s->feature + (size_t)j * (size_t)s->d;
    double sum = 0;

    for (int k = 0; k < s->d; k++) sum += ((double)x[k] - y[k]) * ((double)x[k] - y[k]);
    return sqrt(sum);
}

/* near (n, SCALE + 1), one of which is the row itself; around (n). */
static void measure_rows(nearness *v, const int *row, int n, const int *near, surroundings *around)
{
    for (int i = 0; i < n; i++) {
        const int *own = near + (size_t)i * (SCALE + 1);
        double half, scale;
        int others = 0, at[SCALE + 1];
        for (int t = 0; t <= SCALE; t++)
            if (own[t] != i) at[others++] = own[t];
        half = distance(v->s, row[i], row[at[SCALE / 2 - 1]]);
        scale = distance(v->s, row[i], row[at[SCALE - 1]]);
        if (half > 0 && scale > 0) v->growth[v->rows++] = log(scale / half);
        around[i].scale = (float)scale;
        for (int t = 0; t <= COPIES; t++) around[i].far[t] = (float)distance(v->s, row[i], row[at[t]]);
    }
}

static spot_status search_part(nearness *v, int *row, int n)
{
    const spot_some_rows rows = { v->s->feature, row, n };
    const int from = (int)(row - v->row);
    surroundings *around = v->around + from;
    int *near;

    v->a.used = 0;
    SPOT_TRY(SPOT_TAKE(v->c, &v->a, near, (size_t)n * (SCALE + 1)));
    SPOT_TRY(spot_nearest_rows(v->c, &v->a, near, rows, rows, v->s->d, SCALE + 1));
    if (v->a.counting) return SPOT_OK;
    measure_rows(v, row, n, near, around);
    for (int i = 0; i < n; i++)
        for (int t = 0; t <= SCALE; t++) {
            const int j = near[(size_t)i * (SCALE + 1) + (size_t)t];
            const double far = j == i ? INFINITY : distance(v->s, row[i], row[j]);
            const double least = fmin(around[i].scale, around[j].scale);
            if (far <= MOST * least) SPOT_TRY(keep_pair(v, from + i, from + j, far, least));
        }
    return SPOT_OK;
}

static spot_status search_rows(nearness *v, int *row, int n)
{
    SPOT_TRY(spot_check_stop(v->c));
    if (n < FEWEST) return SPOT_OK;
    if (n <= SPOT_ALIKE_LEAF) return search_part(v, row, n);
    SPOT_TRY(sort_along(v, row, n));
    SPOT_TRY(search_rows(v, row, n / 2));
    return search_rows(v, row + n / 2, n - n / 2);
}

/* ---- pairs ---- */

static int by_later(const void *a, const void *b)
{
    const near_pair *x = a, *y = b;

    return x->later != y->later ? x->later - y->later : x->earlier - y->earlier;
}

/* The greatest ratio of near copies. */
static double most_ratio(nearness *v)
{
    double dimensions;

    if (!v->rows) return 0;
    spot_sort_doubles(v->growth, (size_t)v->rows);
    dimensions = TENTH / v->growth[(int)(0.9 * (v->rows - 1))];
    return fmin(MOST, pow(2 * SPOT_ALIKE_CHANCE / ((double)SCALE * v->s->n), 1 / dimensions));
}

/* Whether a row at distance `far` is one of few that all others are clearly farther than; else they lie in a small cloud. */
static bool has_gap(const surroundings *p, double far, double most)
{
    for (int m = 1; m <= COPIES; m++)
        if (p->far[m - 1] >= far && p->far[m] >= GAP * p->far[m - 1] && p->far[m] > most * p->scale) return true;
    return false;
}

static bool are_copies(const nearness *v, const near_pair *p, double most)
{
    for (int k = 0; k < 2; k++)
        if (!has_gap(v->around + p->at[k], p->far, most)) return false;
    return p->ratio <= most;
}

static void join_pairs(nearness *v, int *first)
{
    const double most = most_ratio(v);

    qsort(v->pair, (size_t)v->pairs, sizeof *v->pair, by_later);
    for (const near_pair *p = v->pair; p < v->pair + v->pairs; p++)
        if (first[p->later] == p->later && first[p->earlier] == p->earlier && are_copies(v, p, most))
            first[p->later] = p->earlier;
}

spot_status spot_rows_join_near(spot_ctx *c, const spot_subject *s, int *row, int n, int *first)
{
    nearness v = { .c = c, .s = s, .row = row, .a = spot_arena_counting() };
    spot_status how;

    if (n < FEWEST) return SPOT_OK;
    v.growth = malloc((size_t)n * sizeof *v.growth);
    v.around = malloc((size_t)n * sizeof *v.around);
    how = v.growth && v.around ? search_part(&v, row, n < SPOT_ALIKE_LEAF ? n : SPOT_ALIKE_LEAF)
                               : spot_fail(c, SPOT_NOMEM, "no memory to compare %d rows", n);
    if (how == SPOT_OK) how = spot_arena_open(c, &v.a, v.a.peak);
    if (how == SPOT_OK) how = search_rows(&v, row, n);
    if (how == SPOT_OK && v.pairs) join_pairs(&v, first);
    if (!v.a.counting) spot_arena_close(&v.a);
    free(v.growth);
    free(v.around);
    free(v.pair);
    return how;
}
