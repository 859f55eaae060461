/* chart.h - values with intervals over a few levels, one coloured marker a method, on a page of panels. */
#ifndef SPOTTER_CHART_H
#define SPOTTER_CHART_H

#include "formats/canvas.h"
#include "report/table/factors.h"

enum { SPOT_MAX_SERIES = 8, SPOT_MAX_LEVELS = 24, SPOT_MAX_PANELS = 16 };

/* "5" and "n = 17" below it. apart: no further one of the row, as "all" of them. hollow: not ours. */
typedef struct { char name[16], count[40]; bool apart, hollow; } spot_chart_level;

typedef struct {
    char title[64], x[64];
    char empty[64];                            /* what stands in it when nothing of ours does */
    double top;                                /* of the y axis, which begins at 0 */
    int levels;
    spot_chart_level level[SPOT_MAX_LEVELS];
    spot_estimate at[SPOT_MAX_SERIES][SPOT_MAX_LEVELS];      /* n = 0: nothing there */
} spot_chart_panel;

typedef struct {
    char title[128], caption[32000];            /* lines of it end in a line feed */
    int  series, panels, across;               /* panels in a row */
    double plot;                               /* width of a panel's plot */
    char name[SPOT_MAX_SERIES][256];
    int  style[SPOT_MAX_SERIES];               /* colour and marker */
    spot_chart_panel panel[SPOT_MAX_PANELS];
} spot_chart;

/* As PNG or SVG, as the path ends. */
spot_status spot_chart_write(spot_ctx *c, const char *path, const spot_chart *chart);

/* As SVG in memory: *bytes is malloc'd. */
spot_status spot_chart_svg(spot_ctx *c, char **bytes, size_t *n, const spot_chart *chart);

#endif
