/* worst_pairs.c - the blends on which a model fails most surely. */
#include "spotter/background.h"

static bool is_worse(float a, float b, bool of_truth) { return of_truth ? a < b : a > b; }

/* The worst blend of a target. False: the original is wrong, or every blend right. */
static bool worst_of(spot_worst_pair *w, const spot_background_responses *r, const spot_background_suite *s, int t,
                     bool of_truth)
{
    const size_t row = (size_t)t * (size_t)(s->n + 1), at = (size_t)t * (size_t)s->n;
    bool found = false;

    if (r->answer[row] != s->cls[t]) return false;
    for (int j = 1; j <= s->n; j++) {
        const float confidence = r->signal[row + (size_t)j];
        if (r->answer[row + (size_t)j] == s->cls[t] || (found && !is_worse(confidence, w->confidence, of_truth)))
            continue;
        *w = (spot_worst_pair){ t, j - 1, s->chosen[at + (size_t)j - 1], r->answer[row + (size_t)j], confidence,
                                s->distance[at + (size_t)j - 1] };
        found = true;
    }
    return found;
}

int spot_worst_pairs(spot_worst_pair *out, int most, const spot_background_responses *r, const spot_background_suite *s,
                     bool of_truth)
{
    int n = 0;

    for (int t = 0; t < s->targets; t++) {
        spot_worst_pair w;
        int at;
        if (!worst_of(&w, r, s, t, of_truth)) continue;
        for (at = n < most ? n++ : n; at > 0 && is_worse(w.confidence, out[at - 1].confidence, of_truth); at--)
            if (at < most) out[at] = out[at - 1];
        if (at < most) out[at] = w;
    }
    return n;
}
