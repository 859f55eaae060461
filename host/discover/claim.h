/* claim.h - decides whether findings may be written into a folder. */
#ifndef SPOTTER_CLAIM_H
#define SPOTTER_CLAIM_H

#include "spotter/discover.h"

/* The files of a folder of findings, then NULL. */
extern const char *const spot_findings_files[];

/* SPOT_USAGE, with a sentence that names --replace, when dir holds files of these names that spotter discover did not write,
 * or findings of other data than s (NULL: any data). SPOT_OK for a folder without such files, or with files that a run on the
 * same data wrote, finished or not. */
spot_status spot_findings_claim(spot_ctx *c, const char *dir, const spot_subject *s);

/* Removes rows.csv and attributes.csv of dir, the tables of a detector's rows, where spotter discover wrote them. Call it after
 * findings of other rows were written there. Other files of these names stay. */
spot_status spot_findings_drop_tables(spot_ctx *c, const char *dir);

#endif
