/* class_map.c - see class_map.h. A reducer takes no fewer than four rows: those of a smaller class go in four times, which
 * changes no principal component. */
#include "discover/search/class_map.h"

#include <string.h>

enum { LEAST = 4 };

static spot_embed_config pca_of(int n)
{
    spot_embed_config pca = spot_embed_defaults();

    pca.method = SPOT_REDUCE_PCA;
    if (n < 3) pca.dim = 1;                /* they lie on a line */
    return pca;
}

static int rows_of(int n) { return n < LEAST ? LEAST * n : n; }

void spot_class_map_put(float *map, const int *row, const spot_points *points)
{
    for (int r = 0; r < points->n; r++)
        for (int k = 0; k < 2; k++)
            map[2 * (size_t)row[r] + (size_t)k] = k < points->d ? points->at[(size_t)r * (size_t)points->d + (size_t)k] : 0;
}

static spot_status repeat_rows(spot_ctx *c, spot_arena *work, spot_view *to, const spot_view *v)
{
    const size_t n = (size_t)v->n, d = (size_t)v->d;

    *to = (spot_view){ .n = LEAST * v->n, .d = v->d };
    SPOT_TRY(SPOT_TAKE(c, work, to->feature, LEAST * n * d));
    SPOT_TRY(SPOT_TAKE(c, work, to->confidence, LEAST * n));
    for (size_t k = 0; k < LEAST; k++) {
        memcpy(to->feature + k * n * d, v->feature, n * d * sizeof *v->feature);
        memcpy(to->confidence + k * n, v->confidence, n * sizeof *v->confidence);
    }
    return SPOT_OK;
}

spot_status spot_class_map_draw(spot_ctx *c, spot_arena *work, float *map, const int *row, const spot_view *view,
                                const spot_seed *seed)
{
    const spot_embed_config pca = pca_of(view->n);
    spot_points points;
    spot_view v = *view;
    spot_status s;

    if (view->n == 1) {
        memset(map + 2 * (size_t)*row, 0, 2 * sizeof *map);
        return SPOT_OK;
    }
    if (view->n < LEAST) SPOT_TRY(repeat_rows(c, work, &v, view));
    s = spot_embed_fit(c, work, 1, &points, &v, seed, &pca);
    if (s) {
        if (!spot_concerns_one_problem(s)) return s;
        spot_forget(c);
        return SPOT_OK;
    }
    points.n = view->n;
    spot_class_map_put(map, row, &points);
    return SPOT_OK;
}

spot_bytes spot_class_map_needs(const spot_ctx *c, int n, int d)
{
    const spot_embed_config pca = pca_of(n);
    const int rows = rows_of(n);
    spot_bytes needs = spot_embed_needs(c, 1, &rows, d, &pca);

    if (rows > n)
        needs.host += spot_arena_room((size_t)rows * (size_t)d * sizeof(float)) + spot_arena_room((size_t)rows * sizeof(float));
    return needs;
}
