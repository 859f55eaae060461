/* change_verdict.c - the words for a change, and which of them its corrected p allow. */
#include "spotter/versions.h"
#include "stats/statistics.h"

const char *spot_change_verdict_name(spot_change_verdict v)
{
    static const char *const name[] = { "pending", "same", "better", "mended", "worse", "new" };

    return v >= SPOT_CHANGE_PENDING && v <= SPOT_CHANGE_NEW ? name[v] : "unknown";
}

spot_change_verdict spot_change_verdict_of(double p_worse, double p_better, double p_same, double level)
{
    if (spot_is_significant(p_worse, level)) return SPOT_CHANGE_WORSE;
    if (spot_is_significant(p_better, level)) return SPOT_CHANGE_BETTER;
    return spot_is_significant(p_same, level) ? SPOT_CHANGE_SAME : SPOT_CHANGE_PENDING;
}
