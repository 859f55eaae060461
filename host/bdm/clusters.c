/* clusters.c - see clusters.h. */
#include "bdm/clusters.h"

int spot_clusters_rank(spot_rank *ranks, int k, const int *label, const spot_view *view)
{
    int len = 0;

    for (int j = 0; j < k; j++) ranks[j] = (spot_rank){ .which = j };
    for (int i = 0; i < view->n; i++) {
        if (label[i] < 0) continue;
        ranks[label[i]].size++;
        ranks[label[i]].error += spot_view_error(view, i);
    }
    for (int j = 0; j < k; j++) {
        spot_rank r = ranks[j];
        if (!r.size) continue;
        r.score = r.error * (r.error / r.size);
        r.error /= r.size;
        ranks[len++] = r;
    }
    spot_ranks_sort(ranks, len);
    return len;
}

void spot_clusters_list(spot_hypotheses *out, int *row, const spot_rank *ranks, int len, int top, const int *label, int n)
{
    *out = (spot_hypotheses){ .len = len < top ? len : top, .components = len };
    for (int k = 0; k < out->len; k++) {
        spot_hypothesis *h = &out->h[k];
        *h = (spot_hypothesis){ .row = row, .score = ranks[k].score, .mean_error = ranks[k].error };
        for (int i = 0; i < n; i++)
            if (label[i] == ranks[k].which) row[h->len++] = i;
        row += h->len;
    }
}
