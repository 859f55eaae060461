/* bench_forest.c - a random forest fitted to the rows of an assessor of models, and the rows that were left out explained by
 * TreeSHAP. Peer: bench/peers/forest_sklearn.py, on the same rows. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "sequence.h"
#include "spotter/forest.h"

typedef struct {
    int forests, rows, features, trees, left_out;
    float   *x;                /* (rows + left_out, features) */
    uint8_t *y;                /* (rows + left_out): 3 classes */
    double  *base, *value, *share;
    spot_forest *forest;       /* (forests) */
    int held;                  /* forests that are fitted */
} forest_state;

/* Three classes: cuts of a sum of four features and noise. */
static void fill_rows(forest_state *s)
{
    for (int i = 0; i < s->rows + s->left_out; i++) {
        float *x = s->x + (size_t)i * (size_t)s->features;
        double sum = sequence_normal(1e9 + i);
        for (int j = 0; j < s->features; j++) x[j] = (float)sequence_normal((double)i * s->features + j);
        for (int j = 0; j < 4; j++) sum += (j % 2 ? -0.7 : 1) * x[j];
        s->y[i] = (uint8_t)((sum > -0.8) + (sum > 0.3));
    }
}

static void close_forests(forest_state *s)
{
    for (; s->held; s->held--) spot_forest_close(&s->forest[s->held - 1]);
}

static spot_status fit(spot_ctx *c, void *p)
{
    spot_forest_config cfg = spot_forest_defaults(SPOT_FOREST_BAGGED);
    forest_state *s = p;
    spot_forest_rows rows[64];

    close_forests(s);
    cfg.trees = s->trees;
    for (int i = 0; i < s->forests; i++)
        rows[i] = (spot_forest_rows){ { s->x, s->rows, s->features }, s->y, 3, { 1, (uint32_t)i }, NULL };
    SPOT_TRY(spot_forest_fit(c, s->forests, s->forest, rows, &cfg));
    s->held = s->forests;
    return SPOT_OK;
}

static spot_mat rows_left_out(const forest_state *s)
{
    return (spot_mat){ s->x + (size_t)s->rows * (size_t)s->features, s->left_out, s->features };
}

static spot_status explain(spot_ctx *c, void *p)
{
    forest_state *s = p;

    return spot_forest_explain(c, &s->forest[0], rows_left_out(s), s->base, s->value);
}

/* sizes: forests, rows, features, trees, rows left out */
static spot_status open_state(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    forest_state *s = *out = calloc(1, sizeof *s);
    size_t rows = (size_t)size[1] + (size_t)size[4], d = (size_t)size[2], left_out = (size_t)size[4];

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    *s = (forest_state){ .forests = size[0], .rows = size[1], .features = size[2], .trees = size[3], .left_out = size[4] };
    s->x = malloc(rows * d * sizeof *s->x);
    s->y = malloc(rows);
    s->base = malloc(3 * sizeof *s->base);
    s->value = malloc(left_out * d * 3 * sizeof *s->value);
    s->share = malloc(left_out * 3 * sizeof *s->share);
    s->forest = calloc((size_t)s->forests, sizeof *s->forest);
    if (!s->x || !s->y || !s->base || !s->value || !s->share || !s->forest)
        return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    fill_rows(s);
    work->items = (double)s->forests * s->trees;
    return SPOT_OK;
}

static spot_status open_explain(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    SPOT_TRY(open_state(c, out, size, work));
    work->items = size[4];
    return fit(c, *out);
}

/* The forests differ, and vote right on more of the rows left out than the largest class has. */
static spot_status check_fit(spot_ctx *c, void *p)
{
    forest_state *s = p;

    SPOT_TRY(fit(c, p));
    for (int i = 0; i < s->forests; i++) {
        int right = 0, count[3] = { 0 };
        SPOT_TRY(spot_forest_shares(c, &s->forest[i], rows_left_out(s), 0, s->share));
        for (int r = 0; r < s->left_out; r++) {
            uint8_t cls;
            spot_forest_classes(&cls, s->share + 3 * r, 1, 3);
            right += cls == s->y[s->rows + r];
            count[s->y[s->rows + r]]++;
        }
        if (right <= count[0] || right <= count[1] || right <= count[2])
            return spot_fail(c, SPOT_CHECK, "forest %d is right on %d of %d rows; the classes have %d, %d, %d", i, right,
                             s->left_out, count[0], count[1], count[2]);
    }
    return SPOT_OK;
}

/* Base and values add up to the share. */
static spot_status check_explain(spot_ctx *c, void *p)
{
    forest_state *s = p;

    SPOT_TRY(explain(c, p));
    SPOT_TRY(spot_forest_shares(c, &s->forest[0], rows_left_out(s), 0, s->share));
    for (int r = 0; r < s->left_out; r++)
        for (int k = 0; k < 3; k++) {
            double sum = s->base[k];
            for (int j = 0; j < s->features; j++) sum += s->value[((size_t)r * s->features + j) * 3 + k];
            SPOT_TRY(spot_bench_near(c, "share", (size_t)r * 3 + (size_t)k, sum, s->share[3 * r + k], 1e-9));
        }
    return SPOT_OK;
}

static void close_state(spot_ctx *c, void *p)
{
    forest_state *s = p;
    (void)c;

    if (!s) return;
    if (s->forest) close_forests(s);
    free(s->x), free(s->y), free(s->base), free(s->value), free(s->share), free(s->forest), free(s);
}

static const spot_bench_kind forest = { open_state, check_fit, fit, close_state };
static const spot_bench_kind shap = { open_explain, check_explain, explain, close_state };

const spot_bench_row spot_bench_forest[] = {
    { "forest", "100 trees, 167 x 64, 3 classes", "trees", SPOT_ON_ALL, &forest, { 1, 167, 64, 100, 83 }, { 1, 40, 5, 8, 20 } },
    { "forest", "10 forests of 100 trees, 167 x 64", "trees", SPOT_ON_ALL, &forest, { 10, 167, 64, 100, 83 },
      { 2, 40, 5, 8, 20 } },
    { "forest", "TreeSHAP of 83 rows", "rows", SPOT_ON_CPU, &shap, { 1, 167, 64, 100, 83 }, { 1, 40, 5, 8, 20 } },
    { .op = NULL },
};
