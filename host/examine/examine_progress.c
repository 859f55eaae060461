/* examine_progress.c - how far a run is. Renders take nearly all of its time: those of the rounds, and as many or more of what
 * comes before and after them. A share of the rounds alone stands still meanwhile, and the time left by it leaps. */
#include "examine/examine_networks.h"
#include "examine/examine_search.h"
#include "examine/failure_parts.h"

double spot_examine_renders_before(const spot_examine_config *cfg, int unit)
{
    const spot_examine_unit u = spot_examine_unit_of(cfg, unit);

    return u.examiner || u.seed ? 0 : SPOT_EXAMINE_START + spot_examine_verified(&cfg->model[u.model]);
}

double spot_examine_renders_of(const spot_examine_config *cfg, int dims, int unit)
{
    const spot_examine_unit u = spot_examine_unit_of(cfg, unit);
    const spot_examine_search s = spot_examine_search_of(cfg, &cfg->examiner[u.examiner]);
    const spot_failure_unit_spent after = spot_failure_unit_renders(cfg, &u, dims);

    return spot_examine_renders_before(cfg, unit) + spot_examine_asked(&s, s.points - 1) + (double)s.points * s.perturbed
         + after.strip + after.fresh + after.scan + after.map;
}
