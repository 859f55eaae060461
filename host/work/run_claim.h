/* run_claim.h - whether another process computes the same units of a run directory now.
 *
 * The logs tell it: a process that began and did not end holds the units that its start line names. It is gone if it was on
 * this host and is not there any more, or if its log, which a living process touches every 15 s, has not changed for a while
 * (SPOT_CLAIM_SILENCE seconds; before that time the log is watched). So a killed process never stops a resume.
 * A shard is never stopped: shards share a directory, and a scheduler may start one again while the old one still dies. */
#ifndef SPOTTER_RUN_CLAIM_H
#define SPOTTER_RUN_CLAIM_H

#include "spotter/work.h"

enum { SPOT_CLAIM_SILENCE = 45 };

/* SPOT_USAGE, with pid, host and start of the other process, when it holds some of w's units; of a shard a warning. */
spot_status spot_work_claim(spot_ctx *c, const spot_work *w);

#endif
