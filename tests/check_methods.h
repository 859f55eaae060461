/* check_methods.h - one table of all discovery methods and their variants, for the tests on the CPU and on CUDA. */
#ifndef SPOTTER_TESTS_CHECK_METHODS_H
#define SPOTTER_TESTS_CHECK_METHODS_H

#include "blobs.h"
#include "check_bdm.h"

/* Ways to call the methods of the table. maps: made by a reducer, whose points a GPU need not give as the CPU does. score:
 * relative tolerance between devices; 0: bits. spared: nothing fails in its second problem. parts: fitted rows may come into
 * other hypotheses when they are assigned, because errors are equal, or there is no rule for new rows. */
static struct variant {
    const char *name;
    int method, reduce, switched;
    double score;
    bool maps, spared, parts;
} variants[] = {
    { "planespot_on_tsne", SPOT_PLANESPOT, SPOT_REDUCE_TSNE, .score = 1e-12, .maps = true },
    { "planespot_on_scvis", SPOT_PLANESPOT, SPOT_REDUCE_SCVIS, .score = 1e-12, .maps = true },
    { "planespot_on_the_view", SPOT_PLANESPOT, SPOT_REDUCE_NONE, .score = 1e-12 },
    { "spotlight", SPOT_SPOTLIGHT, SPOT_REDUCE_NONE, .switched = 0 },
    { "spotlight_full", SPOT_SPOTLIGHT, SPOT_REDUCE_NONE, .switched = 1, .score = 1e-8 },
    { "domino", SPOT_DOMINO, SPOT_REDUCE_PCA, .switched = 0 },
    { "domino_full", SPOT_DOMINO, SPOT_REDUCE_PCA, .switched = 1, .score = 1e-8 },
    { "barlow", SPOT_BARLOW, SPOT_REDUCE_NONE, .spared = true },
    { "barlow_compat", SPOT_BARLOW, SPOT_REDUCE_NONE, .switched = 1 },
    { "george", SPOT_GEORGE, SPOT_REDUCE_NONE, .switched = 0 },
    { "george_by_kmeans", SPOT_GEORGE, SPOT_REDUCE_NONE, .switched = 1 },
    { "multiaccuracy", SPOT_MULTIACCURACY, SPOT_REDUCE_NONE, .switched = 0 },
    { "multiaccuracy_compat", SPOT_MULTIACCURACY, SPOT_REDUCE_NONE, .switched = 1 },
    { "random", SPOT_RANDOM, SPOT_REDUCE_NONE, .parts = true },
    { "confidence", SPOT_CONFIDENCE, SPOT_REDUCE_NONE, .spared = true, .parts = true },
    { "confusion", SPOT_CONFUSION, SPOT_REDUCE_NONE, .switched = 0 },
    { "kmeans", SPOT_KMEANS, SPOT_REDUCE_NONE, .switched = 0 },
    { "ward", SPOT_WARD, SPOT_REDUCE_NONE, .switched = 0 },
    { "mistakes", SPOT_MISTAKES, SPOT_REDUCE_NONE, .spared = true },
    { "influence", SPOT_INFLUENCE, SPOT_REDUCE_NONE, .switched = 0 },
    { "influence_by_rule", SPOT_INFLUENCE, SPOT_REDUCE_PCA, .switched = 1 },
    { "svm", SPOT_SVM, SPOT_REDUCE_NONE, .spared = true },
    { "density", SPOT_DENSITY, SPOT_REDUCE_NONE, .switched = 0 },
    { "dbscan_group", SPOT_DBSCAN_GROUP, SPOT_REDUCE_PCA, .switched = 0 },
    { "joinspot", SPOT_JOINSPOT, SPOT_REDUCE_NONE, .parts = true },
};

static inline spot_bdm_config config_of(const struct variant *v)
{
    spot_bdm_config cfg = spot_bdm_defaults(v->method);

    cfg.embed.method = v->reduce;
    cfg.embed.dim = v->reduce == SPOT_REDUCE_PCA ? 16 : 2;      /* 16: more than there are, so that columns are left out */
    cfg.embed.normalise = cfg.embed.hardness = 0;
    cfg.embed.tsne = (spot_tsne_config){ .perplexity = 10, .iterations = 60, .exaggeration = 12 };
    cfg.embed.scvis.iterations = 3;
    cfg.embed.scvis.batch = 64;
    cfg.mixture.k_max = 5;
    cfg.mixture.max_iterations = 20;
    cfg.top = 4;
    cfg.least = 5;
    cfg.compat = v->switched && (v->method == SPOT_BARLOW || v->method == SPOT_MULTIACCURACY);
    cfg.spotlight.precision = v->switched ? SPOT_PRECISION_FULL : SPOT_PRECISION_SPHERICAL;
    cfg.spotlight.steps = v->switched ? 4 : 60;
    cfg.spotlight.lr = 0.02;
    cfg.domino.components = 6;
    cfg.domino.start = v->switched ? SPOT_START_KMEANS : SPOT_START_CONFUSION;
    cfg.domino.covariance = v->switched ? SPOT_COVARIANCE_FULL : SPOT_COVARIANCE_DIAG;
    if (v->method == SPOT_DOMINO && v->switched) cfg.mixture.ridge = 1e-2;
    cfg.barlow.features = 5;
    cfg.george.cluster = v->switched;
    cfg.george.clusters = 4;
    cfg.influence.clusters = 6;
    cfg.influence.slices = v->switched ? SPOT_INFLUENCE_RULE : SPOT_INFLUENCE_KMEANS;
    cfg.influence.accuracy = 0.5;
    cfg.george.starts = cfg.george.overcluster = 2;
    return cfg;
}

enum { METHOD_D = 12, METHOD_PROBLEMS = 4 };
typedef struct {
    spot_view v[METHOD_PROBLEMS];
    spot_seed seed[METHOD_PROBLEMS];
    uint8_t *label;             /* of the third problem */
    int problems;
} method_data;

/* Blobs, of one of which every row is an error. */
static inline void open_data(method_data *o, const struct variant *of, const int *rows, int problems)
{
    *o = (method_data){ .problems = problems, .label = malloc((size_t)rows[2]) };
    for (int i = 0; i < rows[2]; i++) o->label[i] = i % 7 != 0;
    for (int q = 0; q < problems; q++) {
        spot_view *v = &o->v[q];
        *v = blobs(rows[q], METHOD_D, 3, (uint64_t)q);
        v->confidence = malloc((size_t)rows[q] * sizeof(float));
        for (int i = 0; i < rows[q]; i++)
            v->confidence[i] = (of->spared && q == 1) || i % 3 ? 0.9f + 0.01f * (float)(i % 7) : 0.02f * (float)(i % 5);
        if (q == 2) v->label = o->label;
        o->seed[q] = (spot_seed){ 3, (uint32_t)(10 + q) };
    }
}

static inline void close_data(method_data *o)
{
    for (int q = 0; q < o->problems; q++) free(o->v[q].confidence), blobs_free(&o->v[q]);
    free(o->label);
}

#endif
