/* detection_tables.h - rows.csv and attributes.csv of a folder of findings, the tables of a detector's rows. Files of these
 * names that spotter discover did not write stay as they are. */
#ifndef SPOTTER_DETECTION_TABLES_H
#define SPOTTER_DETECTION_TABLES_H

#include "spotter/ctx.h"

/* check: SPOT_USAGE, with a sentence that names --replace, when dir holds another file of such a name. drop: removes both,
 * after findings of other rows were written there. */
spot_status spot_tables_check(spot_ctx *c, const char *dir);
spot_status spot_tables_drop (spot_ctx *c, const char *dir);

#endif
