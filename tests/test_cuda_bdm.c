/* test_cuda_bdm.c - views to hypotheses, many problems at once: CUDA against the CPU, and each problem against itself alone. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <cblas.h>
#include <math.h>

#include "blobs.h"
#include "spotter/bdm.h"

/* Ragged: problems of unlike sizes. */
static const int rows[] = { 70, 33, 128 };
enum { PROBLEMS = LEN(rows), D = 6 };

typedef struct {
    spot_arena a;                          /* of the host on every device */
    spot_points points[PROBLEMS];
    spot_hypotheses found[PROBLEMS];
} answer;

static size_t bytes_of(const spot_ctx *c, const spot_bdm_config *cfg)
{
    return spot_embed_needs(c, PROBLEMS, rows, D, &cfg->embed).host
         + spot_bdm_needs(c, PROBLEMS, rows, cfg->embed.method == SPOT_REDUCE_NONE ? D : cfg->embed.dim, cfg).host;
}

static void answer_to(spot_ctx *c, answer *o, int problems, const spot_view *v, const spot_seed *seed,
                      const spot_bdm_config *cfg)
{
    CHECK_OK(c, spot_arena_open(c, &o->a, bytes_of(c, cfg)));
    CHECK_OK(c, spot_embed_fit(c, &o->a, problems, o->points, v, seed, &cfg->embed));
    CHECK_OK(c, spot_bdm_find(c, &o->a, problems, o->found, v, o->points, seed, cfg));
}

static void check_same(const spot_points *p, const spot_points *q, const spot_hypotheses *h, const spot_hypotheses *g,
                       int bits)
{
    assert_true(p->n == q->n && p->d == q->d && h->len == g->len && h->components == g->components);
    if (bits) assert_memory_equal(p->at, q->at, (size_t)p->n * p->d * sizeof *p->at);
    for (int k = 0; k < h->len; k++) {
        assert_int_equal(h->h[k].len, g->h[k].len);
        assert_memory_equal(h->h[k].row, g->h[k].row, (size_t)h->h[k].len * sizeof(int));
        CHECK_NEAR(h->h[k].score, g->h[k].score, 1e-12 * fabs(g->h[k].score));
    }
}

/* On the emulator maps have the CPU's bits; a GPU's need not, so there the batch is compared with itself only. */
static void problems_agree(int reduce)
{
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_PLANESPOT);
    spot_ctx cpu = check_ctx(2), c;
    spot_view v[PROBLEMS];
    spot_seed seed[PROBLEMS];
    answer want, got, alone;

    cfg.embed.method = reduce;
    cfg.embed.tsne = (spot_tsne_config){ .perplexity = 10, .iterations = 60, .exaggeration = 12 };
    cfg.embed.scvis.iterations = 3;
    cfg.embed.scvis.batch = 64;
    cfg.mixture.k_max = 5;
    for (int q = 0; q < PROBLEMS; q++) {
        v[q] = blobs(rows[q], D, 3, (uint64_t)q);
        v[q].confidence = malloc(rows[q] * sizeof(float));
        for (int i = 0; i < rows[q]; i++) v[q].confidence[i] = i % 3 ? 0.9f + 0.01f * (i % 7) : 0.02f * (i % 5);
        seed[q] = (spot_seed){ 3, (uint32_t)(10 + q) };
    }
    answer_to(&cpu, &want, PROBLEMS, v, seed, &cfg);
    for (int s = 0; s < LEN(schedules); s += 2) {
        open_cuda(&c, s);
        answer_to(&c, &got, PROBLEMS, v, seed, &cfg);
        for (int q = 0; q < PROBLEMS; q++) {
            if (getenv("SPOT_EMULATOR")) check_same(&got.points[q], &want.points[q], &got.found[q], &want.found[q], 1);
            if (s) continue;
            answer_to(&c, &alone, 1, &v[q], &seed[q], &cfg);
            check_same(&alone.points[0], &got.points[q], &alone.found[0], &got.found[q], 1);
            spot_arena_close(&alone.a);
        }
        spot_arena_close(&got.a);
        spot_device_close(&c);
    }
    spot_arena_close(&want.a);
    for (int q = 0; q < PROBLEMS; q++) free(v[q].confidence), v[q].confidence = NULL, blobs_free(&v[q]);
}

static void planespot_agrees_on_tsne(void **state)  { (void)state; problems_agree(SPOT_REDUCE_TSNE); }
static void planespot_agrees_on_scvis(void **state) { (void)state; problems_agree(SPOT_REDUCE_SCVIS); }
static void planespot_agrees_on_the_view(void **state) { (void)state; problems_agree(SPOT_REDUCE_NONE); }

/* What the device found comes back from what was kept of it, on the host. */
static void check_assigned(spot_ctx *c, const spot_view *v, const spot_fit *fit, const spot_hypotheses *found,
                           const spot_bdm_config *cfg)
{
    uint8_t *member = malloc((size_t)v->n * SPOT_MAX_HYPOTHESES), *want = calloc((size_t)v->n, SPOT_MAX_HYPOTHESES);
    spot_arena a = spot_arena_counting();
    char name[80];

    for (int k = 0; k < found->len; k++)
        for (int i = 0; i < found->h[k].len; i++) want[found->h[k].row[i] * found->len + k] = 1;
    CHECK_OK(c, spot_bdm_assign(c, &a, NULL, found->len, v, fit, cfg));
    CHECK_OK(c, spot_arena_open(c, &a, a.peak + 64));
    CHECK_OK(c, spot_bdm_assign(c, &a, member, found->len, v, fit, cfg));
    if (memcmp(member, want, (size_t)v->n * (size_t)found->len))
        fail_msg("%s: rows came back into other hypotheses", spot_bdm_name(cfg, name, sizeof name));
    spot_arena_close(&a);
    free(member);
    free(want);
}

static void fits_leave_the_device(void **state)
{
    spot_view v[PROBLEMS];
    spot_seed seed[PROBLEMS];
    spot_ctx c;

    (void)state;
    open_cuda(&c, 0);
    for (int q = 0; q < PROBLEMS; q++) {
        v[q] = blobs(rows[q], D, 3, (uint64_t)q);
        v[q].confidence = malloc(rows[q] * sizeof(float));
        for (int i = 0; i < rows[q]; i++) v[q].confidence[i] = i % 3 ? 0.9f + 0.01f * (i % 7) : 0.02f * (i % 5);
        seed[q] = (spot_seed){ 3, (uint32_t)(10 + q) };
    }
    for (int variant = 0; variant < SPOT_METHODS + 2; variant++) {     /* spotlight and domino with their matrices, too */
        int method = variant < SPOT_METHODS ? variant : variant == SPOT_METHODS ? SPOT_SPOTLIGHT : SPOT_DOMINO;
        spot_bdm_config cfg = spot_bdm_defaults(method);
        spot_fit fits[PROBLEMS];
        answer o;
        cfg.embed.method = method == SPOT_DOMINO ? SPOT_REDUCE_PCA : SPOT_REDUCE_NONE;
        cfg.embed.dim = 3;
        cfg.embed.normalise = 0;
        cfg.mixture.k_max = 5;
        cfg.top = 3;
        cfg.spotlight.steps = 60;
        cfg.spotlight.lr = 0.02;
        cfg.domino.components = 6;
        if (variant == SPOT_METHODS) cfg.spotlight.precision = SPOT_PRECISION_FULL;
        if (variant > SPOT_METHODS) cfg.domino.covariance = SPOT_COVARIANCE_FULL, cfg.mixture.ridge = 1e-2;
        CHECK_OK(&c, spot_arena_open(&c, &o.a, bytes_of(&c, &cfg)));
        CHECK_OK(&c, spot_embed_fit(&c, &o.a, PROBLEMS, o.points, v, seed, &cfg.embed));
        CHECK_OK(&c, spot_bdm_fit(&c, &o.a, PROBLEMS, o.found, fits, v, o.points, seed, &cfg));
        for (int q = 0; q < PROBLEMS; q++) {
            check_assigned(&c, &v[q], &fits[q], &o.found[q], &cfg);
            spot_fit_close(&fits[q]);
        }
        spot_arena_close(&o.a);
    }
    spot_device_close(&c);
    for (int q = 0; q < PROBLEMS; q++) free(v[q].confidence), v[q].confidence = NULL, blobs_free(&v[q]);
}

static void device_memory_is_counted(void **state)
{
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_PLANESPOT);
    spot_ctx cpu = check_ctx(1), c;

    (void)state;
    open_cuda(&c, 0);
    for (int reduce = SPOT_REDUCE_TSNE; reduce <= SPOT_REDUCE_SCVIS; reduce++) {
        size_t one, all;
        cfg.embed.method = reduce;
        one = spot_embed_needs(&c, 1, rows, D, &cfg.embed).device;
        all = spot_embed_needs(&c, PROBLEMS, rows, D, &cfg.embed).device;
        assert_true(one > (size_t)rows[0] * D * sizeof(float) && all > one);
        assert_int_equal(spot_embed_needs(&cpu, 1, rows, D, &cfg.embed).device, 0);
    }
    assert_true(spot_bdm_needs(&c, PROBLEMS, rows, 2, &cfg).device > spot_bdm_needs(&c, 1, rows, 2, &cfg).device);
    assert_int_equal(spot_bdm_needs(&cpu, 1, rows, 2, &cfg).device, 0);
    spot_device_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planespot_agrees_on_tsne),
        cmocka_unit_test(planespot_agrees_on_scvis),
        cmocka_unit_test(planespot_agrees_on_the_view),
        cmocka_unit_test(fits_leave_the_device),
        cmocka_unit_test(device_memory_is_counted),
    };

    openblas_set_num_threads(1);
    return RUN_ON_CUDA(tests);
}
