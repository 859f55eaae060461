/* demo_truth.h - the findings of `spotter demo` against its planted blindspots. */
#ifndef SPOTTER_DEMO_TRUTH_H
#define SPOTTER_DEMO_TRUTH_H

#include "base/text.h"
#include "spotter/discover.h"
#include "spotter/scene.h"

/* Adds lines to t: that the truth is known, each planted blindspot with the confirmed entry that is nearest to it, and the
 * other confirmed entries. number (f's rows): the images of the test split that the rows are. *found: how many planted
 * blindspots an entry holds, with four fifths of the blindspot's rows, which are four fifths of its own. */
spot_status cli_demo_truth(spot_ctx *c, spot_text *t, int *found, const spot_ec *ec, const int *number, const spot_findings *f,
                           const spot_subject *s);

#endif
