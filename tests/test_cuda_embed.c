/* test_cuda_embed.c - views to maps by every reducer: CUDA against the CPU, a problem in a batch against itself alone.
 * ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_blas.h"
#include "check_copies.h"

#include <math.h>

#include "blobs.h"
#include "models/reduce.h"

/* rows, features, rows that differ: fewer rows than neighbours, a view of two rows, of one. */
typedef struct { int n, d, distinct; } shape;
static const shape few[] = { { 120, 12, 120 }, { 45, 12, 45 }, { 7, 12, 7 }, { 60, 12, 6 }, { 4, 12, 4 } };
static const shape unlike[] = { { 4, 3, 4 }, { 33, 5, 33 }, { 40, 8, 2 }, { 70, 4, 1 }, { 257, 3, 257 } };
static const shape many[] = {          /* more than are searched for neighbours at a time */
    { 4, 3, 4 },   { 5, 3, 5 },   { 6, 3, 6 },   { 7, 3, 7 },   { 8, 3, 8 },   { 9, 3, 9 },   { 10, 3, 10 }, { 11, 3, 11 },
    { 12, 3, 12 }, { 13, 3, 13 }, { 14, 3, 14 }, { 15, 3, 15 }, { 16, 3, 16 }, { 17, 3, 17 }, { 18, 3, 18 }, { 19, 3, 19 },
    { 20, 3, 20 }, { 21, 3, 21 },
};
enum { MOST = LEN(many) };

/* Tolerances are a GPU's, relative to the largest number; the emulator has the CPU's bits. INFINITY: finite numbers. */
static struct reducer {
    const char *name;
    const shape *view;
    int views, method;
    double map, objective, emulated;       /* emulated: of the objective on the emulator */
    spot_tsne_config tsne;
    int epochs, neighbours, hard;
} reducers[] = {
    { "umap_agrees", few, LEN(few), SPOT_REDUCE_UMAP, .epochs = 20, .neighbours = 10 },
    { "umap_with_hardness_agrees", few, LEN(few), SPOT_REDUCE_UMAP, .epochs = 20, .neighbours = 10, .hard = 1 },
    { "pca_of_views_agrees", few, LEN(few), SPOT_REDUCE_PCA, .objective = 1e-9 },
    { "tsne_agrees", unlike, LEN(unlike), SPOT_REDUCE_TSNE, INFINITY, .objective = 0.01,
      .tsne = { .perplexity = 30, .iterations = 30, .exaggeration = 12 } },
    { "many_tsnes_agree", many, LEN(many), SPOT_REDUCE_TSNE, INFINITY, .objective = 0.01,
      .tsne = { .perplexity = 2, .iterations = 3, .exaggeration = 12 } },
    { "scvis_agrees", few, LEN(few), SPOT_REDUCE_SCVIS, 1e-3, .objective = 1e-4, .emulated = 1e-12 },
};

static spot_embed_config config_of(const struct reducer *r)
{
    spot_embed_config cfg = spot_embed_defaults();

    cfg.method = r->method;
    if (r->epochs) cfg.umap.epochs = r->epochs, cfg.umap.neighbours = r->neighbours;
    if (r->tsne.iterations) cfg.tsne = r->tsne;
    cfg.scvis.iterations = 3;
    cfg.scvis.batch = 64;
    cfg.normalise = cfg.hardness = r->hard;
    return cfg;
}

/* Maps of `problems` views, with the arena that holds them. there: NULL, or memory of the device for the maps. */
static spot_arena fit(spot_ctx *c, spot_arena *on_device, int problems, spot_points *out, const spot_view *v,
                      const spot_seed *seed, const spot_embed_config *cfg)
{
    int n[MOST], widest = 0;
    spot_arena a;

    for (int q = 0; q < problems; q++) {
        n[q] = v[q].n;
        widest = v[q].d > widest ? v[q].d : widest;
    }
    CHECK_OK(c, spot_arena_open(c, &a, spot_embed_needs(c, problems, n, widest, cfg).host));
    CHECK_OK(c, spot_embed_fit_on(c, &a, on_device, problems, out, v, seed, cfg));
    return a;
}

/* The same of views on the device, whose features are not copied to it again, and whose maps are left there. */
static spot_arena fit_on_device(spot_ctx *c, int problems, spot_points *out, const spot_view *v, const spot_seed *seed,
                            const spot_embed_config *cfg)
{
    spot_view on[MOST];
    spot_arena on_device, a;

    CHECK_OK(c, spot_arena_open_device(c, &on_device, 1 << 17));
    count_copies(c);
    put_features(c, &on_device, on, v, problems);
    a = fit(c, &on_device, problems, out, on, seed, cfg);
    assert_int_equal(copies.from_watched, 0);
    check_points_on_device(c, out, problems);
    spot_arena_close(&on_device);
    return a;
}

static void same_map(const spot_points *got, const spot_points *want, double map, double objective)
{
    float extent = 0;

    assert_true(got->n == want->n && got->d == want->d);
    for (int e = 0; e < want->n * want->d; e++) extent = fmaxf(extent, fabsf(want->at[e]));
    for (int e = 0; e < want->n * want->d; e++) {
        assert_true(isfinite(got->at[e]));
        if (isfinite(map)) CHECK_NEAR(got->at[e], want->at[e], map * extent);
    }
    if (isnan(want->objective)) assert_true(isnan(got->objective));
    else CHECK_NEAR(got->objective, want->objective, objective * (1e-4 + fabs(want->objective)));
}

static void maps_agree(void **state)
{
    const struct reducer *r = *state;
    const spot_embed_config cfg = config_of(r);
    spot_points want[MOST], got[MOST], alone;
    spot_ctx cpu = check_ctx(2), c;
    spot_seed seed[MOST];
    spot_view v[MOST];
    spot_arena a, b, d;
    float head[12];
    enum { ON_DEVICE = 2 };                          /* the schedule under which views and points lie on the device */

    for (int k = 0; k < LEN(head); k++) head[k] = (float)(k % 5 - 1);
    for (int q = 0; q < r->views; q++) {
        int width = r->view[q].d;
        v[q] = blobs(r->view[q].n, width, r->view == few && q ? 1 : 3, (uint64_t)q);
        v[q].head = head;
        seed[q] = (spot_seed){ 2, (uint32_t)q };
        for (int i = r->view[q].distinct; i < v[q].n; i++)
            memcpy(v[q].feature + i * width, v[q].feature + i % r->view[q].distinct * width, (size_t)width * sizeof(float));
    }
    a = fit(&cpu, NULL, r->views, want, v, seed, &cfg);
    for (int s = SANITIZED ? ON_DEVICE : 0; s < LEN(schedules); s = schedule_after(s, 1)) {
        bool bits = getenv("SPOT_EMULATOR") != NULL;
        open_cuda(&c, s);
        b = s == ON_DEVICE ? fit_on_device(&c, r->views, got, v, seed, &cfg) : fit(&c, NULL, r->views, got, v, seed, &cfg);
        for (int q = 0; q < r->views; q++) {
            same_map(&got[q], &want[q], bits ? 0 : r->map, bits ? r->emulated : r->objective);
            if (s ? q != s % r->views : q % 5 == 4 && q != 4) continue;      /* by itself, under some schedule */
            d = fit(&c, NULL, 1, &alone, &v[q], &seed[q], &cfg);
            assert_memory_equal(alone.at, got[q].at, (size_t)alone.n * alone.d * sizeof(float));
            spot_arena_close(&d);
        }
        spot_arena_close(&b);
        spot_device_close(&c);
    }
    spot_arena_close(&a);
    for (int q = 0; q < r->views; q++) blobs_free(&v[q]);
}

/* Ragged: edges of tiles, slabs and blocks, one row, one column, more columns than rows. All run in one call. */
static const struct { int n, d, dim; } cases[] = {
    { 50, 7, 3 }, { 4, 1, 2 }, { 33, 64, 2 }, { 17, 65, 5 }, { 300, 130, 2 }, { 64, 3, 3 }, { 5, 40, 4 },
};
enum { CASES = LEN(cases), MANY = 45 };      /* more than go into one launch */

/* Components, signs and what is left out, of views in the host's memory. */
static void map(spot_ctx *c, int problems, spot_points *out, const spot_view *v)
{
    spot_arena host = spot_arena_counting(), work = host, on_device;

    CHECK_OK(c, spot_arena_open_device(c, &on_device, 1 << 20));
    for (int q = 0; q < problems && c->device; q++)
        CHECK_OK(c, SPOT_TAKE(c, &on_device, out[q].device_at, (size_t)out[q].n * out[q].d));
    CHECK_OK(c, spot_pca_map(c, &host, &work, problems, out, v));
    CHECK_OK(c, spot_arena_open(c, &host, host.peak));
    CHECK_OK(c, spot_arena_open_device(c, &work, work.peak));
    CHECK_OK(c, spot_pca_map(c, &host, &work, problems, out, v));
    for (int q = 0; q < problems; q++) CHECK_OK(c, spot_points_fetch(c, &out[q]));
    spot_arena_close(&host);
    spot_arena_close(&work);
    spot_arena_close(&on_device);
}

TEST(components_agree)
{
    spot_view v[MANY];
    spot_points want[MANY], got[MANY];
    spot_ctx cpu = check_ctx(2);

    for (int q = 0; q < MANY; q++) {
        size_t bytes = (size_t)cases[q % CASES].n * cases[q % CASES].dim * sizeof(float);
        v[q] = blobs(cases[q % CASES].n, cases[q % CASES].d, 3, (uint64_t)q);
        want[q] = got[q] = (spot_points){ .n = v[q].n, .d = cases[q % CASES].dim };
        want[q].at = malloc(bytes);
        got[q].at = malloc(bytes);
    }
    map(&cpu, MANY, want, v);
    for (int s = 0; s < LEN(schedules); s = schedule_after(s, 1)) {
        spot_ctx c;

        open_cuda(&c, s);
        for (int alone = 0; alone < 2; alone++) {
            int count = alone ? 1 : MANY, from = alone ? 20 : 0;
            map(&c, count, got + from, v + from);
            for (int q = from; q < from + count; q++) {
                for (int e = 0; e < got[q].n * got[q].d; e++) CHECK_NEAR(got[q].at[e], want[q].at[e], 1e-5);
                CHECK_NEAR(got[q].objective, want[q].objective, 1e-9 * (1 + want[q].objective));
                assert_memory_equal(got[q].at, want[q].at, (size_t)got[q].n * got[q].d * sizeof(float));
                got[q].at[0] = NAN;
            }
        }
        spot_device_close(&c);
    }
    for (int q = 0; q < MANY; q++) blobs_free(&v[q]), free(want[q].at), free(got[q].at);
}

/* The steps of spot_embed_fit before and beside t-SNE. */
TEST(the_door_knows_devices)
{
    spot_embed_config cfg = spot_embed_defaults();
    spot_view v = blobs(9, 3, 2, 1);
    spot_seed seed = { 1, 0 };
    spot_points out;
    spot_arena a;
    spot_ctx c;

    open_cuda(&c, 0);
    CHECK_OK(&c, spot_arena_open(&c, &a, 1 << 16));
    cfg.method = SPOT_REDUCE_NONE;
    CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg));
    assert_memory_equal(out.at, v.feature, 27 * sizeof(float));
    cfg.method = SPOT_REDUCE_PCA;
    CHECK_OK(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg));
    v.feature[7] = NAN;
    CHECK_FAILS(&c, spot_embed_fit(&c, &a, 1, &out, &v, &seed, &cfg), SPOT_INPUT, "features.value: feature 1 | row 2");
    spot_arena_close(&a);
    spot_device_close(&c);
    blobs_free(&v);
}

int main(void)
{
    for (int i = 0; i < LEN(reducers); i++)
        add_test(&check_tests, (struct CMUnitTest){ reducers[i].name, maps_agree, NULL, NULL, &reducers[i] });
    return run_cuda_tests();
}
