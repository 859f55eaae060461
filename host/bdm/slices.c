/* slices.c - see slices.h. */
#include "bdm/slices.h"

bool spot_is_wrong(const spot_view *v, int i) { return spot_view_error(v, i) > 0.5; }

static int row_of(const spot_labels *l, int i) { return l->row ? l->row[i] : i; }

int spot_slices_rank(spot_rank *ranks, const spot_labels *l, const spot_view *v)
{
    int len = 0;

    for (int k = 0; k < l->slices; k++) ranks[k] = (spot_rank){ .which = k };
    for (int i = 0; i < l->n; i++) {
        if (l->label[i] < 0) continue;
        ranks[l->label[i]].size++;
        ranks[l->label[i]].error += spot_view_error(v, row_of(l, i));
    }
    for (int k = 0; k < l->slices; k++) {
        spot_rank r = ranks[k];
        if (!r.size) continue;
        r.score = r.error * (r.error / r.size);
        r.error /= r.size;
        ranks[len++] = r;
    }
    return len;
}

void spot_slices_collect(spot_hypotheses *out, int *space, spot_rank *ranks, int len, const spot_labels *l, int top)
{
    spot_ranks_sort(ranks, len);
    *out = (spot_hypotheses){ .components = len, .len = len < top ? len : top };
    for (int k = 0; k < out->len; k++) {
        spot_hypothesis *h = &out->h[k];
        *h = (spot_hypothesis){ .row = space, .score = ranks[k].score, .mean_error = ranks[k].error };
        for (int i = 0; i < l->n; i++)
            if (l->label[i] == ranks[k].which) h->row[h->len++] = row_of(l, i);
        space += h->len;
    }
}
