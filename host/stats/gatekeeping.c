/* gatekeeping.c - see gatekeeping.h. */
#include "stats/gatekeeping.h"

#include <math.h>

typedef struct { int first, n; double share, most; } open_gate;      /* most: its greatest p, as Holm corrects it */

/* The gates that have hypotheses, with the shares of the empty ones before them, and the last with those behind it. */
static int open_gates(open_gate out[SPOT_GATES], const spot_gate *gate, int gates)
{
    double waiting = 0;
    int n = 0;

    for (int g = 0, first = 0; g < gates; first += gate[g++].n) {
        waiting += gate[g].share;
        if (!gate[g].n) continue;
        out[n++] = (open_gate){ first, gate[g].n, waiting, 0 };
        waiting = 0;
    }
    if (n) out[n - 1].share += waiting;
    return n;
}

/* The level at which each hypothesis by itself is looked at: Holm's at the step at which it falls, else at the last step. */
static void look_at(double *at, const double *p, int n, double level, spot_ranked_p *scratch)
{
    int fallen = 0;

    spot_rank_p(scratch, p, n);
    while (fallen < n && spot_is_significant(scratch[fallen].p * (n - fallen), level)) fallen++;
    for (int i = 0; i < n; i++) at[scratch[i].at] = level / (n - (i < fallen ? i : fallen < n ? fallen : n - 1));
}

/* The least error of the whole at which p, corrected within gate g, is rejected: with what the gates from `from` on pass. */
static double error_of(double p, const open_gate *gate, int g)
{
    double least = INFINITY;

    for (int from = 0; from <= g; from++) {
        double share = 0, error = 0;
        for (int k = from; k < g; k++) {
            share += gate[k].share;
            error = fmax(error, gate[k].most / share);
        }
        least = fmin(least, fmax(error, p / (share + gate[g].share)));
    }
    return fmin(1, least);
}

void spot_gatekeep(double *p, double *at, const spot_gate *gate, int gates, double level, spot_ranked_p *scratch)
{
    open_gate open[SPOT_GATES];
    const int n = open_gates(open, gate, gates);
    double passed = 0;

    for (int g = 0; g < n; g++) {
        double *own = p + open[g].first;
        const double share = passed + level * open[g].share;
        if (at) look_at(at + open[g].first, own, open[g].n, share, scratch);
        spot_holm(own, open[g].n, scratch);
        for (int i = 0; i < open[g].n; i++) open[g].most = fmax(open[g].most, own[i]);
        passed = spot_is_significant(open[g].most, share) ? share : 0;
    }
    for (int g = n - 1; g >= 0; g--)
        for (int i = 0; i < open[g].n; i++) p[open[g].first + i] = error_of(p[open[g].first + i], open, g);
}
