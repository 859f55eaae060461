/* figures_files.c - see figures_files.h. */
#include "report/figure/figures_files.h"

#include <stdio.h>


spot_status spot_figure_output(spot_ctx *c, const spot_plot *p, const spot_figures_options *o, const char *name)
{
    char path[1200], begin[32];

    if (p->status) return spot_fail(c, p->status, "no memory for Figure %s", name);
    snprintf(begin, sizeof begin, "%s,", name);
    if (o->csv) spot_plot_csv(o->csv, p, begin);
    for (int svg = 0; svg < 2; svg++) {
        if (!(svg ? o->svg : o->png)) continue;
        snprintf(path, sizeof path, "%.1100s/figure_%s.%s", o->out, name, svg ? "svg" : "png");
        SPOT_TRY(spot_plot_write(c, path, p));
        spot_log(c, SPOT_LOG_INFO, "%s", path);
    }
    return SPOT_OK;
}

spot_status spot_figure_wanted(spot_ctx *c, bool *wanted, const spot_figures_options *o, int number, bool possible,
                               const char *why)
{
    const bool named = o->which >> number & 1;

    *wanted = (named || !o->which) && possible;
    return named && !possible ? spot_fail(c, SPOT_USAGE, "there is no Figure %d: %s", number, why) : SPOT_OK;
}
