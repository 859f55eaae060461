/* check_ci.h - the nightly verdict for continuous integration: each line is a test. */
#ifndef SPOTTER_CHECK_CI_H
#define SPOTTER_CHECK_CI_H

#include "result/ci_report.h"
#include "spotter/check.h"

/* r refers to k. The caller sets r->input and r->page. */
void spot_check_ci(spot_ci_report *r, const spot_check *k);

#endif
