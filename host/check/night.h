/* night.h - a night as the history keeps it: one JSON line. */
#ifndef SPOTTER_CHECK_NIGHT_H
#define SPOTTER_CHECK_NIGHT_H

#include "check/baseline.h"

#define SPOT_NIGHT_SCHEMA 1

#endif
