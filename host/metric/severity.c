/* severity.c - errors inside and outside of blindspots, and the verdict on them. */
#include "spotter/metric.h"

#include <math.h>

#include "base/greatest.h"
#include "stats/statistics.h"

void spot_severity_of(spot_severity *s, const spot_view *view, const spot_truth *truth)
{
    *s = (spot_severity){ .blindspots = truth->blindspots };
    for (int i = 0; i < view->n; i++) {
        const int wrong = !spot_half_is_right(view->confidence[i], spot_view_positive(view, i));
        if (!truth->mask[i]) s->outside.rows++, s->outside.wrong += wrong;
        for (int m = 0; m < truth->blindspots; m++)
            if (truth->mask[i] >> m & 1) s->inside[m].rows++, s->inside[m].wrong += wrong;
    }
}

double spot_error_rate(spot_errors e) { return e.rows ? (double)e.wrong / e.rows : NAN; }

/* P(so many errors inside, or more) if the errors of both sets fell on their rows at random. */
static double chance_of(spot_errors in, spot_errors out)
{
    return spot_hypergeometric_tail(in.rows + out.rows, in.wrong + out.wrong, in.rows, in.wrong);
}

/* The ends belong to the band, although 7 of 10 is not the double 0.7. */
static bool lies_in(const double band[2], double error) { return error >= band[0] - 1e-9 && error <= band[1] + 1e-9; }

void spot_learning_by_band(spot_learning *l, const spot_severity *s, const spot_model_config *cfg)
{
    spot_ranked_p scratch[SPOT_MAX_BLINDSPOTS];
    double p[SPOT_MAX_BLINDSPOTS];

    if (!(cfg->learned_band[1] > 0) || !s->blindspots) return;
    l->outside_count = s->outside.rows;
    l->outside = 1 - spot_error_rate(s->outside);
    for (int m = 0; m < s->blindspots; m++) p[m] = chance_of(s->inside[m], s->outside);
    spot_holm(p, s->blindspots, scratch);
    l->learned = s->outside.rows > 0;
    for (int m = 0; m < s->blindspots; m++) {
        const double error = spot_error_rate(s->inside[m]);
        l->inside_count[m] = s->inside[m].rows;
        l->inside[m] = 1 - error;
        l->learned = l->learned && lies_in(cfg->learned_band, error) && spot_is_significant(p[m], SPOT_SEVERITY_LEVEL);
    }
}
