/* figures_files.c - see figures_files.h. */
#include "report/figure/figures_files.h"

#include <stdio.h>

#include "store/store.h"

spot_status spot_figures_begin(spot_ctx *c, const spot_figures_options *o)
{
    if (o->png || o->svg) SPOT_TRY(spot_folder_make(c, o->out));
    if (o->csv) fputs("figure,panel,series,label,x,x_low,x_high,y,y_low,y_high\n", o->csv);
    return SPOT_OK;
}

spot_status spot_figures_end(spot_ctx *c, spot_status how, const spot_figures_options *o)
{
    if (how == SPOT_OK && o->csv && (fflush(o->csv) || ferror(o->csv)))
        return spot_fail(c, SPOT_IO, "the numbers could not be written");
    return how;
}

static spot_status write_plot(spot_ctx *c, const spot_plot *p, const spot_figures_options *o, const char *name)
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

spot_status spot_figure_output(spot_ctx *c, spot_status how, spot_plot *p, const spot_figures_options *o, const char *name)
{
    if (how == SPOT_OK) how = write_plot(c, p, o, name);
    spot_plot_close(p);
    return how;
}

spot_status spot_figure_wanted(spot_ctx *c, bool *wanted, const spot_figures_options *o, int number, bool possible,
                               const char *why)
{
    const bool named = o->which >> number & 1;

    *wanted = (named || !o->which) && possible;
    return named && !possible ? spot_fail(c, SPOT_USAGE, "there is no Figure %d: %s", number, why) : SPOT_OK;
}
