/* chart.h - a page of panels: values with intervals over a few levels, one coloured marker for each method. */
#ifndef SPOTTER_CHART_H
#define SPOTTER_CHART_H

#include "formats/canvas.h"
#include "report/table/factors.h"

enum { SPOT_MAX_SERIES = 8, SPOT_MAX_LEVELS = 24, SPOT_MAX_PANELS = 16 };

/* "5" and "n = 17" below it. apart: not part of the row of levels, as "all". hollow: the paper's. */
typedef struct { char name[16], count[40]; bool apart, hollow; } spot_chart_level;

typedef struct {
    char title[64], x[64];
    char empty[64];                            /* text if the run has no value here */
    double top;                                /* end of the y axis, which begins at 0 */
    int levels;
    spot_chart_level level[SPOT_MAX_LEVELS];
    spot_estimate at[SPOT_MAX_SERIES][SPOT_MAX_LEVELS];      /* n = 0: no value */
} spot_chart_panel;

typedef struct {
    char title[128], caption[32000];            /* lines end in a line feed */
    int  series, panels, across;               /* across: panels in a row */
    double plot;                               /* width of a panel's plot */
    char name[SPOT_MAX_SERIES][256];
    int  style[SPOT_MAX_SERIES];               /* colour and marker */
    spot_chart_panel panel[SPOT_MAX_PANELS];
} spot_chart;

/* Writes a PNG or SVG, chosen by the end of the path. */
spot_status spot_chart_write(spot_ctx *c, const char *path, const spot_chart *chart);

/* Draws an SVG in memory: *bytes is malloc'd. */
spot_status spot_chart_svg(spot_ctx *c, char **bytes, size_t *n, const spot_chart *chart);

#endif
