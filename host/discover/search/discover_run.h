/* discover_run.h - spotter discover as a study (spotter/work.h): its units are the classes that are searched. */
#ifndef SPOTTER_DISCOVER_RUN_H
#define SPOTTER_DISCOVER_RUN_H

#include "spotter/discover.h"
#include "spotter/work.h"

extern const spot_study spot_discover_study;

/* The files of a folder of findings that are no inputs of one, then NULL. */
extern const char *const spot_findings_files[];

/* SPOT_USAGE, with a sentence that names --replace, when findings on s (NULL: any rows) cannot be written into dir: it holds
 * findings of other rows, another run, or files of their names that spotter discover did not write. */
spot_status spot_findings_check(spot_ctx *c, const char *dir, const spot_subject *s);

#endif
