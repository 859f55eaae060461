/* unit_claim.h - a queue without a coordinator: processes that share a run directory take single units from it.
 *
 * A process claims a unit by a file of its own making, DIR/claims/<prefix>-000012, which names the process; it makes the file
 * before it computes the unit and removes it afterwards. The unit of a process that died is free again (run_claim.h says when
 * a process counts as dead). Two processes that find the same dead one at the same moment may both take its unit: it is
 * computed twice then, with the same bytes. */
#ifndef SPOTTER_UNIT_CLAIM_H
#define SPOTTER_UNIT_CLAIM_H

#include "spotter/work.h"

enum { SPOT_UNIT_BEFORE = -1 };        /* in a unit's place: what one process makes before the units, and all use */

/* Makes DIR/claims. */
spot_status spot_unit_claims_open(spot_ctx *c, const spot_work *w);

/* *mine: this process holds the unit from now on. False: a living process holds it. */
spot_status spot_unit_claim  (spot_ctx *c, const spot_work *w, int unit, bool *mine);
void        spot_unit_release(const spot_work *w, int unit);

/* Waits until no living process holds the unit, and claims it then. SPOT_STOPPED when the stop flag is set. */
spot_status spot_unit_wait(spot_ctx *c, const spot_work *w, int unit);

/* Removes the claims of dead processes, and DIR/claims where it is empty then. A file that is no claim stays. */
void spot_unit_claims_close(spot_ctx *c, const spot_work *w);

#endif
