/* discover_run.h - spotter discover as a study (spotter/work.h): its units are the classes that are searched. */
#ifndef SPOTTER_DISCOVER_RUN_H
#define SPOTTER_DISCOVER_RUN_H

#include "spotter/discover.h"
#include "spotter/work.h"

extern const spot_study spot_discover_study;

/* The files of a folder of findings that are no inputs of one, then NULL. */
extern const char *const spot_findings_files[];

#endif
