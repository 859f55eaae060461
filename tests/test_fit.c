/* test_fit.c - what methods keep assigns the rows that were fitted as they were found, and new rows of the same kind likewise;
 * what is damaged is refused. ctest: threads, heavy */
#include "check_blas.h"
#include "checks.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "blobs.h"
#include "spotter/bdm.h"

enum { N = 400, FRESH = 200, D = 12, CENTRES = 5, WRONG = 2 };     /* the classifier fails at the first two centres */

typedef struct {
    spot_view all, view, fresh;            /* the first N rows, the others */
    float head[D];
    spot_bdm_config cfg;
    spot_arena a;
    spot_points points;
    spot_hypotheses found;
    spot_fit fit;
} study;

static void plant(study *s, int labels)
{
    int all = N + FRESH;

    s->all = blobs(all, D, CENTRES, 11);
    s->all.confidence = malloc((size_t)all * sizeof(float));
    s->all.label = malloc((size_t)all);
    for (int i = 0; i < all; i++) {
        spot_rng r = spot_rng_at(5, SPOT_RNG_PCA, 9, (uint32_t)i);
        double right = i % CENTRES < WRONG ? 0.1 : 0.85;
        s->all.label[i] = (uint8_t)(!labels || i % 2);
        right += 0.1 * spot_rng_uniform(&r);
        s->all.confidence[i] = (float)(s->all.label[i] ? right : 1 - right);
    }
    for (int j = 0; j < D; j++) s->head[j] = (float)(j % 3 - 1);
    s->view = s->fresh = s->all;
    s->view.n = N;
    s->fresh.n = FRESH;
    s->fresh.feature += N * D;
    s->fresh.confidence += N;
    s->fresh.label += N;
    if (!labels) s->view.label = s->fresh.label = NULL;
    s->view.head = s->head;
}

static void discover(study *s, spot_ctx *c, int labels)
{
    const spot_seed seed = { 1, 0 };
    spot_bytes map, work;

    plant(s, labels);
    map = spot_embed_needs(c, 1, &s->view.n, D, &s->cfg.embed);
    work = spot_bdm_needs(c, 1, &s->view.n, s->cfg.embed.method ? s->cfg.embed.dim : D, &s->cfg);
    CHECK_OK(c, spot_arena_open(c, &s->a, map.host + work.host));
    CHECK_OK(c, spot_embed_fit(c, &s->a, 1, &s->points, &s->view, &seed, &s->cfg.embed));
    CHECK_OK(c, spot_bdm_fit(c, &s->a, 1, &s->found, &s->fit, &s->view, &s->points, &seed, &s->cfg));
}

static void forget(study *s)
{
    spot_fit_close(&s->fit);
    spot_arena_close(&s->a);
    free(s->all.confidence);
    free(s->all.label);
    blobs_free(&s->all);
}

static spot_status assign(spot_ctx *c, uint8_t *member, const study *s, const spot_view *rows, const spot_fit *fit)
{
    spot_arena a = spot_arena_counting();
    spot_status how = spot_bdm_assign(c, &a, NULL, s->found.len, rows, fit, &s->cfg);

    if (how) return how;
    CHECK_OK(c, spot_arena_open(c, &a, a.peak));
    how = spot_bdm_assign(c, &a, member, s->found.len, rows, fit, &s->cfg);
    spot_arena_close(&a);
    return how;
}

/* ---- every method, as its settings have it ---- */

typedef struct { const char *name; int method, labels; void (*set)(spot_bdm_config *cfg); } variant;

static void by_tsne(spot_bdm_config *g)
{
    g->embed.method = SPOT_REDUCE_TSNE;
    g->embed.tsne.iterations = 300;
}

static void by_pca(spot_bdm_config *g) { g->embed.method = SPOT_REDUCE_PCA; g->embed.dim = 3; }
static void by_nothing(spot_bdm_config *g) { g->embed.method = SPOT_REDUCE_NONE; }
static void by_lengths(spot_bdm_config *g) { by_nothing(g); g->embed.normalise = 1; }
static void by_hardness(spot_bdm_config *g) { by_pca(g); g->embed.hardness = 1; g->embed.normalise = 1; }
static void by_hardness_alone(spot_bdm_config *g) { by_tsne(g); g->embed.hardness = 1; g->embed.dim = 1; }
static void by_hard_map(spot_bdm_config *g) { by_tsne(g); g->embed.hardness = 1; g->embed.dim = 3; }
static void released(spot_bdm_config *g) { by_pca(g); g->norm = SPOT_NORM_RELEASED; }
static void brief(spot_bdm_config *g) { g->spotlight.steps = 200; g->spotlight.min_weight = 0.05; g->spotlight.lr = 0.02; }
static void compact(spot_bdm_config *g) { brief(g); g->spotlight.kernel = SPOT_KERNEL_COMPACT; }
static void full(spot_bdm_config *g) { brief(g); g->spotlight.precision = SPOT_PRECISION_FULL; }
static void ranked(spot_bdm_config *g) { brief(g); g->spotlight.membership = SPOT_MEMBER_TOP; }
static void full_ranked(spot_bdm_config *g) { full(g); g->spotlight.membership = SPOT_MEMBER_TOP; }
static void as_upstream(spot_bdm_config *g) { brief(g); g->compat = 1; }
static void upstream_full(spot_bdm_config *g) { as_upstream(g); g->spotlight.precision = SPOT_PRECISION_FULL; }
static void compat(spot_bdm_config *g) { g->compat = 1; }
static void all_slices(spot_bdm_config *g) { g->domino.assign = SPOT_ASSIGN_ALL; g->top = 3; }
static void kept_slices(spot_bdm_config *g) { g->top = 3; }
static void covariances(spot_bdm_config *g) { by_pca(g); g->domino.covariance = SPOT_COVARIANCE_FULL; }
static void from_kmeans(spot_bdm_config *g) { by_nothing(g); g->domino.start = SPOT_START_KMEANS; }
static void few_features(spot_bdm_config *g) { g->barlow.features = 4; }
static void few_activated(spot_bdm_config *g) { few_features(g); g->barlow.choose = SPOT_CHOOSE_ACTIVATION; g->compat = 1; }
static void few_clusters(spot_bdm_config *g) { g->plain.clusters = CENTRES; }
static void few_clusters_on_pca(spot_bdm_config *g) { few_clusters(g); by_pca(g); }
static void large_chunks(spot_bdm_config *g) { g->plain.rows = 90; }
static void six_clusters(spot_bdm_config *g) { g->influence.clusters = 6; }
static void low(spot_bdm_config *g) { g->influence.slices = SPOT_INFLUENCE_RULE; g->influence.accuracy = 0.5; g->least = 9; }
static void by_pca_means(spot_bdm_config *g) { by_pca(g); g->george.cluster = SPOT_CLUSTER_KMEANS; }

static const variant variants[] = {
    { "planespot on t-SNE", SPOT_PLANESPOT, 0, by_tsne },
    { "planespot on PCA", SPOT_PLANESPOT, 1, by_pca },
    { "planespot on nothing", SPOT_PLANESPOT, 0, by_nothing },
    { "planespot, lengths 1", SPOT_PLANESPOT, 0, by_lengths },
    { "planespot, hardness and PCA", SPOT_PLANESPOT, 0, by_hardness },
    { "planespot, hardness alone", SPOT_PLANESPOT, 0, by_hardness_alone },
    { "planespot, hardness and t-SNE", SPOT_PLANESPOT, 0, by_hard_map },
    { "planespot, released", SPOT_PLANESPOT, 0, released },
    { "spotlight", SPOT_SPOTLIGHT, 1, brief },
    { "spotlight, compact", SPOT_SPOTLIGHT, 0, compact },
    { "spotlight, full", SPOT_SPOTLIGHT, 0, full },
    { "spotlight, ranked", SPOT_SPOTLIGHT, 0, ranked },
    { "spotlight, full, ranked", SPOT_SPOTLIGHT, 0, full_ranked },
    { "spotlight, compat", SPOT_SPOTLIGHT, 0, as_upstream },
    { "spotlight, compat, full", SPOT_SPOTLIGHT, 0, upstream_full },
    { "domino", SPOT_DOMINO, 1, NULL },
    { "domino, the best three", SPOT_DOMINO, 0, kept_slices },
    { "domino, of all slices", SPOT_DOMINO, 1, all_slices },
    { "domino, covariances", SPOT_DOMINO, 0, covariances },
    { "domino, k-means, no reducer", SPOT_DOMINO, 1, from_kmeans },
    { "barlow", SPOT_BARLOW, 1, NULL },
    { "barlow, compat", SPOT_BARLOW, 0, compat },
    { "barlow, 4 features", SPOT_BARLOW, 0, few_features },
    { "barlow, 4 features by activation", SPOT_BARLOW, 0, few_activated },
    { "multiaccuracy", SPOT_MULTIACCURACY, 1, NULL },
    { "multiaccuracy on positives", SPOT_MULTIACCURACY, 0, NULL },
    { "multiaccuracy, compat", SPOT_MULTIACCURACY, 1, compat },
    { "confusion", SPOT_CONFUSION, 1, NULL },
    { "confusion of positives", SPOT_CONFUSION, 0, NULL },
    { "confidence", SPOT_CONFIDENCE, 1, large_chunks },
    { "kmeans", SPOT_KMEANS, 0, NULL },
    { "kmeans on PCA", SPOT_KMEANS, 1, few_clusters_on_pca },
    { "ward", SPOT_WARD, 0, few_clusters },
    { "ward on PCA", SPOT_WARD, 1, few_clusters_on_pca },
    { "mistakes", SPOT_MISTAKES, 1, NULL },
    { "influence", SPOT_INFLUENCE, 1, six_clusters },
    { "influence by rule", SPOT_INFLUENCE, 0, low },
    { "svm", SPOT_SVM, 1, NULL },
    { "svm on PCA", SPOT_SVM, 0, by_pca },
    { "density", SPOT_DENSITY, 1, NULL },
    { "density on PCA", SPOT_DENSITY, 0, by_pca },
    { "dbscan_group", SPOT_DBSCAN_GROUP, 1, NULL },
    { "dbscan_group, Euclidean", SPOT_DBSCAN_GROUP, 0, by_pca },
    { "george on UMAP", SPOT_GEORGE, 1, NULL },
    { "george on nothing", SPOT_GEORGE, 0, by_nothing },
    { "george, k-means on PCA", SPOT_GEORGE, 1, by_pca_means },
};

static void open_variant(study *s, spot_ctx *c, const variant *v)
{
    *s = (study){ .cfg = spot_bdm_defaults(v->method) };
    if (s->cfg.embed.method == SPOT_REDUCE_PCA) s->cfg.embed.dim = 8;      /* domino's 128 */
    s->cfg.embed.umap.epochs = 60;
    if (v->set) v->set(&s->cfg);
    discover(s, c, v->labels);
}

static void check_fitted(const study *s, const uint8_t *member, const char *name)
{
    uint8_t *want = calloc((size_t)N * (size_t)s->found.len, 1);

    for (int k = 0; k < s->found.len; k++)
        for (int i = 0; i < s->found.h[k].len; i++) want[s->found.h[k].row[i] * s->found.len + k] = 1;
    for (int e = 0; e < N * s->found.len; e++)
        if (member[e] != want[e])
            fail_msg("%s: row %d %s hypothesis %d of %d", name, e / s->found.len, want[e] ? "lost" : "came into",
                     e % s->found.len, s->found.len);
    free(want);
}

static int in_both(const uint8_t *member, int hypotheses, int k, int rows, int centre)
{
    int n = 0;

    for (int i = centre; i < rows; i += CENTRES) n += member[i * hypotheses + k];
    return n;
}

/* The hypothesis that has most of a planted centre's fitted rows has as large a part of the new ones. */
static void check_fresh(const study *s, const uint8_t *fitted, const uint8_t *fresh, const char *name)
{
    int len = s->found.len;

    for (int centre = 0; centre < WRONG; centre++) {
        double old, new;
        int best = 0;
        for (int k = 1; k < len; k++)
            if (in_both(fitted, len, k, N, centre) > in_both(fitted, len, best, N, centre)) best = k;
        old = in_both(fitted, len, best, N, centre) / (double)(N / CENTRES);
        new = in_both(fresh, len, best, FRESH, centre) / (double)(FRESH / CENTRES);
        if (!(new >= old - 0.25 && new <= old + 0.25))
            fail_msg("%s: hypothesis %d has %.2f of centre %d's rows, and %.2f of new ones", name, best, old, centre, new);
    }
}

TEST(rows_come_back_and_new_ones_follow)
{
    uint8_t *fitted = malloc(N * SPOT_MAX_HYPOTHESES), *fresh = malloc(FRESH * SPOT_MAX_HYPOTHESES);

    for (int v = 0; v < LEN(variants); v++) {
        spot_ctx c = check_ctx(2), one = check_ctx(1);
        study s;
        open_variant(&s, &c, &variants[v]);
        if (!s.found.len) fail_msg("%s found nothing", variants[v].name);
        CHECK_OK(&c, assign(&c, fitted, &s, &s.view, &s.fit));
        check_fitted(&s, fitted, variants[v].name);
        CHECK_OK(&one, assign(&one, fresh, &s, &s.fresh, &s.fit));
        check_fresh(&s, fitted, fresh, variants[v].name);
        forget(&s);
    }
    free(fitted);
    free(fresh);
}

/* ---- damage ---- */

static void spoil(spot_fit_tensor *t, int how)
{
    size_t n = (size_t)t->rows * (size_t)(t->columns ? t->columns : 1);
    static const double numbers[] = { NAN, INFINITY, 0, -1, 1e300 };
    static const int indices[] = { INT_MAX, INT_MIN, 0, -1, 7 };

    for (size_t i = 0; i < n; i++) {
        if (t->type == SPOT_F64) ((double *)t->data)[i] = numbers[how];
        if (t->type == SPOT_F32) ((float *)t->data)[i] = (float)numbers[how];
        if (t->type == SPOT_I32) ((int *)t->data)[i] = indices[how];
        if (t->type == SPOT_U8) ((uint8_t *)t->data)[i] = (uint8_t)(how * 50);
    }
}

/* A tensor of its own that a test may spoil: rows and columns, filled from t as far as it goes. */
static spot_fit_tensor copy_of(const spot_fit_tensor *t, int rows, int columns)
{
    size_t size = t->type == SPOT_F64 ? 8 : t->type == SPOT_U8 ? 1 : 4;
    size_t have = (size_t)t->rows * (size_t)(t->columns ? t->columns : 1);
    size_t want = (size_t)rows * (size_t)(columns ? columns : 1);
    spot_fit_tensor u = *t;

    u.rows = rows;
    u.columns = columns;
    u.data = calloc(want + 1, size);
    memcpy(u.data, t->data, (have < want ? have : want) * size);
    return u;
}

static void expect_refusal(spot_ctx *c, uint8_t *member, const study *s, const spot_fit *fit, bool surely, const char *what)
{
    spot_status how = assign(c, member, s, &s->fresh, fit);

    if (how != SPOT_INPUT && (surely || how != SPOT_OK))
        fail_msg("%s: %s: %s", what, spot_status_name(how), spot_message(c, how));
    spot_forget(c);
}

static void damage(spot_ctx *c, uint8_t *member, const study *s, int t)
{
    const spot_fit_tensor *own = &s->fit.tensor[t];
    int shapes[][2] = { { own->rows + 1, own->columns }, { own->rows - 1, own->columns }, { own->rows, own->columns + 1 },
                        { 0, own->columns }, { own->rows, 0 } };
    spot_fit fit = s->fit;

    fit.tensor[t] = fit.tensor[--fit.count];
    expect_refusal(c, member, s, &fit, true, own->name);
    fit = s->fit;
    for (int k = 0; k < LEN(shapes); k++) {
        fit.tensor[t] = copy_of(own, shapes[k][0], shapes[k][1]);
        expect_refusal(c, member, s, &fit, false, own->name);
        free(fit.tensor[t].data);
    }
    for (int how = 0; how < 5; how++) {
        bool nan = how < 2 && (own->type == SPOT_F32 || own->type == SPOT_F64), index = how < 2 && own->type == SPOT_I32;
        fit.tensor[t] = copy_of(own, own->rows, own->columns);
        spoil(&fit.tensor[t], how);
        expect_refusal(c, member, s, &fit, nan || index, own->name);
        fit.tensor[t].type = own->type == SPOT_U8 ? SPOT_F64 : SPOT_U8;
        expect_refusal(c, member, s, &fit, true, own->name);
        free(fit.tensor[t].data);
    }
}

TEST(damaged_fits_are_refused)
{
    uint8_t *member = malloc(FRESH * SPOT_MAX_HYPOTHESES);

    for (int v = 0; v < LEN(variants); v += v ? 1 : 4) {       /* one map will do */
        spot_ctx c = check_ctx(1);
        study s;
        if (variants[v].method == SPOT_GEORGE && v < LEN(variants) - 2) continue;
        open_variant(&s, &c, &variants[v]);
        for (int t = 0; t < s.fit.count; t++) damage(&c, member, &s, t);
        forget(&s);
    }
    free(member);
}

TEST(a_tree_that_loops_is_refused)
{
    spot_ctx c = check_ctx(1);
    uint8_t *member = malloc(FRESH * SPOT_MAX_HYPOTHESES);
    const variant v = { "barlow", SPOT_BARLOW, 0, NULL };
    study s;

    open_variant(&s, &c, &v);
    for (int t = 0; t < s.fit.count; t++)
        if (!strcmp(s.fit.tensor[t].name, "tree.left")) ((int *)s.fit.tensor[t].data)[0] = 0;
    CHECK_FAILS(&c, assign(&c, member, &s, &s.fresh, &s.fit), SPOT_INPUT, "fit.tree_loop");
    forget(&s);
    free(member);
}

TEST(rows_that_do_not_fit_are_told)
{
    spot_ctx c = check_ctx(1);
    uint8_t member[FRESH * SPOT_MAX_HYPOTHESES];
    const variant v = { "planespot", SPOT_PLANESPOT, 0, by_pca };
    spot_view rows;
    spot_fit other;
    study s;

    open_variant(&s, &c, &v);
    rows = s.fresh;
    rows.d = D / 2;
    CHECK_FAILS(&c, assign(&c, member, &s, &rows, &s.fit), SPOT_INPUT, "fit.features: 6 | 12");
    rows = s.fresh;
    rows.confidence = NULL;
    CHECK_FAILS(&c, assign(&c, member, &s, &rows, &s.fit), SPOT_INPUT, "fit.no_answers");
    rows.confidence = s.fresh.confidence;
    rows.feature[5 * D + 2] = NAN;
    CHECK_FAILS(&c, assign(&c, member, &s, &rows, &s.fit), SPOT_INPUT, "features.value: feature 2 | row 5 | nan");
    rows.feature[5 * D + 2] = 0;
    rows.confidence[7] = 1.5f;
    CHECK_FAILS(&c, assign(&c, member, &s, &rows, &s.fit), SPOT_INPUT, "confidence.value: row 7 | 1.5");
    rows.confidence[7] = 0.5f;
    rows.n = 0;
    CHECK_OK(&c, assign(&c, member, &s, &rows, &s.fit));
    other = s.fit;
    s.cfg = spot_bdm_defaults(SPOT_BARLOW);
    CHECK_FAILS(&c, assign(&c, member, &s, &s.fresh, &other), SPOT_INPUT, "fit.lacks_tensor");
    forget(&s);
}

/* Confidences do not matter to those that never look at them. */
TEST(some_methods_need_no_confidence)
{
    static const variant blind[] = { { "", SPOT_SPOTLIGHT, 0, brief }, { "", SPOT_BARLOW, 0, NULL },
                                     { "", SPOT_GEORGE, 0, by_nothing } };
    uint8_t *with = malloc(FRESH * SPOT_MAX_HYPOTHESES), *without = malloc(FRESH * SPOT_MAX_HYPOTHESES);

    for (int v = 0; v < LEN(blind); v++) {
        spot_ctx c = check_ctx(2);
        spot_view rows;
        study s;
        open_variant(&s, &c, &blind[v]);
        rows = s.fresh;
        rows.confidence = NULL;
        CHECK_OK(&c, assign(&c, with, &s, &s.fresh, &s.fit));
        CHECK_OK(&c, assign(&c, without, &s, &rows, &s.fit));
        assert_memory_equal(with, without, (size_t)FRESH * (size_t)s.found.len);
        forget(&s);
    }
    free(with);
    free(without);
}
