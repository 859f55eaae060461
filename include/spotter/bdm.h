/* bdm.h - blindspot discovery methods: a view (and its points) -> hypotheses, best first.
 *
 * A method never sees the truth; metric.h compares its answer with it. One file per method in host/bdm, one row each
 * in its table. */
#ifndef SPOTTER_BDM_H
#define SPOTTER_BDM_H

#include <stdbool.h>

#include "spotter/arena.h"
#include "spotter/array.h"
#include "spotter/cluster.h"
#include "spotter/ctx.h"
#include "spotter/embed.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MAX_HYPOTHESES 64

typedef struct {
    int    len;
    int   *row;                /* (len): rows of the view, ascending */
    double score;              /* the hypotheses are ordered by it */
    double mean_error;         /* mean of 1 - confidence */
    float *weight;             /* (n): how strongly each row of the view belongs, members and others, finite, at least 0; only
                                  their order within a hypothesis has a meaning. NULL: 1 for members, 0 for all others */
} spot_hypothesis;

typedef struct {
    int len;                   /* at most `top` */
    int n;                     /* rows of the view */
    spot_hypothesis h[SPOT_MAX_HYPOTHESES];
    int components;            /* clusters with rows before the list was cut */
} spot_hypotheses;

/* The fitted parameters of a method as named arrays, to assign new rows (spot_bdm_assign): a mixture, centres, a tree. The
 * reducer's parameters have names that begin with "reduce.". Large arrays belong to the view and the points. */
#define SPOT_FIT_TENSORS 48

typedef struct {
    char       name[40];
    spot_dtype type;           /* F32, F64, I32 or U8 */
    int        rows, columns;  /* columns 0: (rows) */
    void      *data;
    bool       owned;          /* malloc'd; spot_fit_close frees it */
} spot_fit_tensor;

typedef struct {
    int             count;
    spot_fit_tensor tensor[SPOT_FIT_TENSORS];
} spot_fit;

/* The table of methods. To add one: a row here, and host/bdm/<name>.c with its `const spot_method spot_method_<name>`
 * (host/bdm/methods.h). Its own settings are members of spot_bdm_config and rows of a table in that file. */
#define SPOT_BDM_METHODS(X)         \
    X(PLANESPOT,     planespot)     \
    X(SPOTLIGHT,     spotlight)     \
    X(DOMINO,        domino)        \
    X(BARLOW,        barlow)        \
    X(GEORGE,        george)        \
    X(MULTIACCURACY, multiaccuracy) \
    X(RANDOM,        random)        \
    X(CONFIDENCE,    confidence)    \
    X(CONFUSION,     confusion)     \
    X(KMEANS,        kmeans)        \
    X(WARD,          ward)          \
    X(MISTAKES,      mistakes)      \
    X(ITEMSETS,      itemsets)      \
    X(INFLUENCE,     influence)     \
    X(SVM,           svm)           \
    X(DENSITY,       density)       \
    X(DBSCAN_GROUP,  dbscan_group)  \
    X(JOINSPOT,      joinspot)

typedef enum {
#define X(NAME, name) SPOT_##NAME,
    SPOT_BDM_METHODS(X)
#undef X
    SPOT_METHODS
} spot_bdm_method;

/* The source of a method's features. Confidences always come from the classifier under examination. ROBUST: a second
 * network, trained against an adversary (model.h). CLIP: the config's encoder (encoder.h) on the same images. FILE: any
 * embedding of the same images, one file per EC. ATTRIBUTES: what is known of the images, as columns of 0 and 1; in a sweep the
 * attributes of the EC (spot_ec_items), which other methods do not know, in discover those of the user's table. */
typedef enum { SPOT_BY_MODEL, SPOT_BY_ROBUST, SPOT_BY_CLIP, SPOT_BY_FILE, SPOT_BY_ATTRIBUTES } spot_representation;

/* PlaneSpot (paper, section 4): R = [normalised points; weight * confidence], mixture by BIC, clusters ordered by
 * error rate x number of errors. The switches give the released code's variants. */
typedef enum { SPOT_NORM_MINMAX, SPOT_NORM_RELEASED } spot_points_norm;   /* released: (s - min) / max */
typedef enum { SPOT_ORDER_SOFT, SPOT_ORDER_HARD } spot_error_order;       /* errors 1 - confidence, or confidence < 0.5 */

/* Spotlight (d'Eon et al. 2022): one kernel after another, each placed where the mean loss under it is greatest. */
typedef enum { SPOT_KERNEL_GAUSSIAN, SPOT_KERNEL_COMPACT } spot_spotlight_kernel;   /* exp(-D/2), max(0, 1 - D) */
typedef enum { SPOT_PRECISION_SPHERICAL, SPOT_PRECISION_FULL } spot_spotlight_precision;
typedef enum { SPOT_MEMBER_WEIGHT, SPOT_MEMBER_TOP } spot_membership;     /* weight >= threshold; the greatest weights */

typedef enum { SPOT_PROFILE_SPOTTER, SPOT_PROFILE_AUTHORS } spot_spotlight_profile;  /* "spotter", "paper": spot_bdm_preset */

typedef struct {
    int    profile;            /* spot_spotlight_profile: names the defaults of the other settings, and changes nothing else */
    double min_weight;         /* least total weight, as a fraction of the rows */
    int    kernel, precision;
    int    steps, patience;    /* Adam steps; steps without progress after which the rate is halved */
    double lr;
    double barrier_scale, barrier_end;    /* barrier_end: the barrier's last width, in minimum weights */
    int    membership;         /* spot_membership */
} spot_spotlight_config;

/* Domino (Eyuboglu et al. 2022): a mixture over features, labels and predictions at once. Its reducer is PCA. */
typedef enum { SPOT_START_CONFUSION, SPOT_START_KMEANS } spot_domino_start;
typedef enum { SPOT_COVARIANCE_DIAG, SPOT_COVARIANCE_FULL } spot_covariance;
typedef enum { SPOT_ASSIGN_KEPT, SPOT_ASSIGN_ALL } spot_domino_assign;    /* best of the slices returned, or of all */

typedef struct {
    int    components;
    double gamma, gamma_hat;   /* weight of labels and of predictions; gamma_hat < 0: as gamma */
    int    start, covariance, assign;
    double noise;              /* added to the start */
} spot_domino_config;

/* Barlow (Singla et al. 2021): leaves of a decision tree that tells failures from successes. */
typedef enum { SPOT_CHOOSE_INFORMATION, SPOT_CHOOSE_ACTIVATION } spot_barlow_choice;

typedef struct {
    int depth, features;       /* greatest depth of the tree; number of features that it may use */
    int choose;                /* spot_barlow_choice, of features: mutual information with failure, or mean; the greatest */
} spot_barlow_config;

/* GEORGE (Sohoni et al. 2020): clusters of the reduced features, their number by silhouette. Ordered by mean loss. */
typedef enum { SPOT_CLUSTER_MIXTURE, SPOT_CLUSTER_KMEANS } spot_george_cluster;

typedef struct {
    int cluster, clusters;     /* spot_george_cluster; most clusters */
    int search;                /* every number from 2 on is tried (off: exactly `clusters`) */
    int starts;                /* for each number */
    int overcluster;           /* tries to cut each cluster into this many pieces; 0: no */
} spot_george_config;

/* Multiaccuracy (Kim, Ghorbani & Zou 2019): ridge regressions ("auditors") of the derivative of the loss; each one corrects
 * the predictions before the next. */
typedef struct {
    double eta, ridge;
    double held_out;           /* share of the rows that choose an auditor */
    double gain;               /* least held-out correlation of an auditor */
} spot_multiaccuracy_config;

/* Plain lists and plain clusterings: what other methods should beat. */
typedef enum { SPOT_AMONG_ERRORS, SPOT_AMONG_ALL } spot_among;

typedef struct {
    int rows;                  /* of a set (random, confidence) */
    int among;                 /* spot_among: the rows that random draws from */
    int clusters;              /* most clusters (kmeans, ward, mistakes) */
} spot_plain_config;

/* Conjunctions of attributes by divergence (Pastor, de Alfaro & Baralis 2021). */
typedef struct {
    double support;            /* least share of the rows */
    int    longest;            /* most attributes of a conjunction */
    double overlap;            /* greatest Jaccard index of two hypotheses; 1: any */
} spot_itemset_config;

/* InfEmbed (Wang et al. 2023): clusters of the rows' influence on the loss of the last layer. */
typedef enum { SPOT_INFLUENCE_KMEANS, SPOT_INFLUENCE_RULE } spot_influence_slices;

typedef struct {
    int dimensions;            /* most eigenvectors of the Hessian */
    int slices, clusters;      /* spot_influence_slices; clusters of k-means */
    int depth, branches;       /* the rule's cuts: one after the other, and pieces of each */
    double accuracy;           /* the rule's: below it a set is a slice */
} spot_influence_config;

/* Failure directions (Jain et al. 2023): the rows that a linear support vector machine says the classifier fails on. */
typedef struct {
    double share;              /* of the rows in a hypothesis */
    double tolerance;          /* greatest duality gap, as a share of the objective */
    int    most;               /* passes over the rows */
} spot_svm_config;

/* Density (after Yu et al. 2025): rows of high loss that are neighbours of one another. */
typedef struct {
    int    neighbours;         /* of a row in the graph */
    double share;              /* of the rows in a hypothesis, at most */
    double lambda;             /* weight of the density beside the loss */
    int    steps;              /* most steps of the ascent */
} spot_density_config;

/* Cleanlab's underperforming group (Datalab): clusters of DBSCAN whose rows are given less confidence than others. */
typedef struct {
    int    neighbours;         /* of a row in the graph */
    double eps;                /* greatest distance of neighbours */
    int    core;               /* fewest neighbours of a core row, itself included */
    int    flag;               /* only the worst cluster, if its ratio is below cfg.threshold */
} spot_dbscan_config;

typedef struct {
    int    method;             /* spot_bdm_method */
    const char *name;          /* label in tables; "" = the method's name and reducer */
    int    top;                /* at most this many hypotheses */
    int    representation;     /* spot_representation */
    const char *embeddings;    /* BY_FILE: folder of ec-000012.safetensors, each a tensor "embedding" (test positives, d) */
    spot_embed_config embed;
    spot_mixture_config mixture;   /* tolerances of every mixture; sizes of PlaneSpot's */
    int    compat;             /* exactly the method's upstream code; the differences are listed in the method's file */
    double threshold;          /* a share: Spotlight of the greatest weight, Multiaccuracy of an auditor's maximum */
    int    least;              /* least rows of a piece (GEORGE) or of a partition (Multiaccuracy) */
    double weight;             /* of the confidence: PlaneSpot's w; kmeans, ward, joinspot */
    int    norm, order;        /* spot_points_norm, spot_error_order */
    spot_spotlight_config     spotlight;
    spot_domino_config        domino;
    spot_barlow_config        barlow;
    spot_george_config        george;
    spot_multiaccuracy_config multiaccuracy;
    spot_plain_config         plain;
    spot_itemset_config       itemsets;
    spot_influence_config     influence;
    spot_svm_config           svm;
    spot_density_config       density;
    spot_dbscan_config        dbscan;
} spot_bdm_config;

/* The defaults of a method, including its reducer and representation. spot_bdm_preset sets those of cfg's profile, for a method
 * with profiles (Spotlight), before other settings are set; a config does so. spot_bdm_name writes the label to text. */
spot_bdm_config spot_bdm_defaults(int method);
void            spot_bdm_preset(spot_bdm_config *cfg);
const char     *spot_bdm_name(const spot_bdm_config *cfg, char *text, size_t size);

/* Whether the method's hypotheses have weights. */
bool spot_bdm_weighs(int method);

/* Whether the method or its reducer reads features or points on a device, so that they should lie there before. */
bool spot_bdm_reads_on_device(const spot_bdm_config *cfg);

/* Finds the hypotheses of each problem. All arrays lie on the host on every device, and points that lie on the device, too, are
 * not copied to it again; out[p].h[..].row and .weight live in a. points[p] is
 * the result of spot_embed_fit with cfg->embed, or the features where there is no reduction. SPOT_INPUT for confidences
 * outside [0, 1], coordinates that are not finite, or fewer rows than a method needs. A classifier without errors, one with
 * only errors, or a map without extent is no failure: a message reports it and the list may be empty. */
spot_status spot_bdm_find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                          const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg);

/* spot_bdm_find that also fills fits (problems), unless NULL, to assign new rows; close each. */
spot_status spot_bdm_fit(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, spot_fit *fits, const spot_view *views,
                         const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg);

void        spot_fit_close(spot_fit *fit);

/* Assigns new rows to the hypotheses of `fit`: member (rows->n, hypotheses) is 1 where row i belongs. Fitted rows get the
 * hypotheses that they had, with the exceptions that the method's file lists. Maps of t-SNE, UMAP and scvis are not computed
 * again: a new row takes the position of its nearest fitted neighbours. rows->confidence may be NULL (not known); methods that
 * need it then fail. Runs on the host on every device. a is for scratch; a counting arena gives its size. SPOT_INPUT where the
 * fit has other features or settings, or another method. */
spot_status spot_bdm_assign(spot_ctx *c, spot_arena *a, uint8_t *member, int hypotheses, const spot_view *rows,
                            const spot_fit *fit, const spot_bdm_config *cfg);

/* Memory of spot_bdm_find for n[p] points of d coordinates; and its arena bytes on the CPU, the most of all devices. */
spot_bytes spot_bdm_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg);
size_t     spot_bdm_bytes(int problems, const int *n, int d, const spot_bdm_config *cfg, int threads);

#ifdef __cplusplus
}
#endif
#endif
