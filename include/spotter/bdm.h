/* bdm.h - blindspot discovery methods: a view (and its points) -> hypotheses, best first.
 *
 * A method never sees the truth; metric.h compares its answer with it. One file per method in host/bdm, one row each
 * in its table. */
#ifndef SPOTTER_BDM_H
#define SPOTTER_BDM_H

#include "spotter/arena.h"
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
    double score;              /* what it was ordered by */
    double mean_error;         /* mean of 1 - confidence */
} spot_hypothesis;

typedef struct {
    int len;                   /* at most `top` */
    spot_hypothesis h[SPOT_MAX_HYPOTHESES];
    int components;            /* clusters with rows that the method found before it cut its list */
} spot_hypotheses;

typedef enum { SPOT_PLANESPOT } spot_bdm_method;

/* PlaneSpot (paper, section 4): R = [normalised points; weight * confidence], mixture by BIC, clusters ordered by
 * error rate x number of errors. The switches give the released code's variants. */
typedef enum { SPOT_NORM_MINMAX, SPOT_NORM_RELEASED } spot_points_norm;   /* released: (s - min) / max */
typedef enum { SPOT_ORDER_SOFT, SPOT_ORDER_HARD } spot_error_order;       /* errors 1 - confidence, or confidence < 0.5 */

typedef struct {
    int    method;             /* spot_bdm_method */
    char   name[48];           /* label in tables; "" = the method's name and reducer */
    int    top;                /* at most this many hypotheses */
    spot_embed_config embed;
    double weight;             /* PlaneSpot's w */
    spot_mixture_config mixture;
    int    norm, order;        /* spot_points_norm, spot_error_order */
} spot_bdm_config;

spot_bdm_config spot_bdm_defaults(void);
const char     *spot_bdm_name(const spot_bdm_config *cfg, char *text, size_t size);

/* Everything lies in the host's memory on every device; out[p].h[..].row in a. points[p] is what spot_embed_fit made with
 * cfg->embed. SPOT_INPUT for confidences outside [0, 1], coordinates that are not finite, fewer rows than mixture.k_min.
 * All confidences equal, or a map without extent, is no failure: that column is then constant and a message says so. */
spot_status spot_bdm_find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                          const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg);

/* What spot_bdm_find takes for n[p] points of d coordinates; and what of the arena on the CPU, which is the most. */
spot_bytes spot_bdm_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_bdm_config *cfg);
size_t     spot_bdm_bytes(int problems, const int *n, int d, const spot_bdm_config *cfg, int threads);

#ifdef __cplusplus
}
#endif
#endif
