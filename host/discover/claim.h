/* claim.h - may findings be written into this folder? */
#ifndef SPOTTER_CLAIM_H
#define SPOTTER_CLAIM_H

#include "spotter/discover.h"

/* The files of a folder of findings; NULL ends the list. */
extern const char *const spot_findings_files[];

/* SPOT_USAGE, with a sentence that names --replace, where dir holds files of these names that spotter discover did not write,
 * or findings of other data than s. s NULL: only the former is asked. A folder without such files, or with those that a run on
 * the same data wrote or left unfinished, is free. */
spot_status spot_findings_claim(spot_ctx *c, const char *dir, const spot_subject *s);

#endif
