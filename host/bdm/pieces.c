/* pieces.c - see pieces.h. */
#include "bdm/pieces.h"

#include <stdbool.h>

#include "fit/silhouette.h"

enum { MOST = SPOT_SILHOUETTE_CLUSTERS };

/* mean[k]: the mean of the values of label k minus from[k / each], 0 without values; count (k): their number. */
static void find_means(double *mean, int *count, const double *value, const uint16_t *label, int n, int k, const double *from,
                       int each)
{
    for (int i = 0; i < k; i++) mean[i] = count[i] = 0;
    for (int i = 0; i < n; i++) {
        mean[label[i]] += value[i] - from[label[i] / each];
        count[label[i]]++;
    }
    for (int i = 0; i < k; i++) mean[i] = count[i] ? mean[i] / count[i] : 0;
}

int spot_pieces_keep(const spot_pieces *p, uint16_t *label)
{
    double before[MOST], after[MOST], loss[MOST], cluster_loss[MOST];
    double none[MOST] = { 0 }, one[MOST] = { 0 };      /* one: a loss of each cluster; subtracted, equal losses give mean 0 */
    int count[MOST], rows[MOST], all = p->clusters * p->pieces, len = 0;
    uint16_t becomes[MOST];

    for (int i = 0; i < p->n; i++) one[p->cluster[i]] = p->loss[i];
    find_means(before, count, p->before, p->piece, p->n, all, none, 1);
    find_means(after, count, p->after, p->piece, p->n, all, none, 1);
    find_means(loss, count, p->loss, p->piece, p->n, all, one, p->pieces);
    find_means(cluster_loss, rows, p->loss, p->cluster, p->n, p->clusters, one, 1);
    for (int k = 0; k < p->clusters; k++) {
        bool stays[MOST], every = true;
        int rest;
        for (int i = 0; i < p->pieces; i++) {
            int j = k * p->pieces + i;
            stays[i] = after[j] > (before[j] > 0 ? before[j] : 0) && loss[j] >= cluster_loss[k] && count[j] >= p->least &&
                       count[j] >= 0.005 * p->n;
            every &= stays[i];
        }
        rest = every ? -1 : len++;
        for (int i = 0; i < p->pieces; i++) becomes[k * p->pieces + i] = (uint16_t)(stays[i] ? len++ : rest);
    }
    for (int i = 0; i < p->n; i++) label[i] = becomes[p->piece[i]];
    return len;
}
