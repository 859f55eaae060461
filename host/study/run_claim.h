/* run_claim.h - whether another process does the same work now: computes the same units of a run directory, or the rows of the
 * same output.
 *
 * A process leaves a mark where it works, and takes it away at its end. A mark without an end is that of a living process or of
 * a killed one. The process is gone if it was on this host and is not there any more, or if its mark has not been touched for a
 * while (SPOT_CLAIM_SILENCE seconds; before that time the mark is watched). So a killed process never stops a resume. */
#ifndef SPOTTER_RUN_CLAIM_H
#define SPOTTER_RUN_CLAIM_H

#include "spotter/work.h"

enum { SPOT_CLAIM_SILENCE = 45 };

/* The mark of a process: it began, and was alive then, in seconds since 1970. */
typedef struct { int pid; char host[64]; double began, alive; } spot_claimant;

/* This process's, from now on. */
spot_claimant spot_claim_now(void);

/* The place of marks. look_again: when the process was alive last, as the mark says now; 0: it has ended. */
typedef struct {
    const char *where, *units;             /* for sentences: "runs/a", "classes" */
    bool shared;                           /* processes share the place: a living one is only named */
    double (*look_again)(spot_ctx *c, void *user, const spot_claimant *p);
    void *user;
} spot_claim_place;

/* SPOT_USAGE, with pid, host and start of the process, if it lives and is not this one; where they share the place a
 * warning. */
spot_status spot_claim_check(spot_ctx *c, const spot_claim_place *at, const spot_claimant *p);

/* Whether the process still works on this run, by what is known at once: on this host by the process, elsewhere by its log. */
bool spot_claim_works(spot_ctx *c, const spot_work *w, const spot_claimant *p);

/* The marks of a run directory are its logs, which a living process touches every 15 s: one that began and did not end holds
 * the units that its start line names. A shard is never stopped: shards share a directory, and a scheduler may start one again
 * while the old one still dies. */
spot_status spot_work_claim(spot_ctx *c, const spot_work *w);

#endif
