/* html_results.h - a run's numbers on a page. */
#ifndef SPOTTER_HTML_RESULTS_H
#define SPOTTER_HTML_RESULTS_H

#include "report/page/html.h"
#include "report/table/results.h"

/* The members "facts", "methods", "columns", "beside", "caption" and "figures". */
spot_status spot_page_results(spot_page *p, const spot_results *r);

#endif
