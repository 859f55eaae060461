/* report.h - results for people: tables and pictures. */
#ifndef SPOTTER_REPORT_H
#define SPOTTER_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "spotter/bdm.h"
#include "spotter/ctx.h"
#include "spotter/discover.h"
#include "spotter/metric.h"
#include "spotter/model.h"
#include "spotter/scene.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One EC and one method as a PNG: the map (first two columns of the points) coloured by confidence, the hypotheses
 * outlined, the true blindspots marked; beside it thumbnails of the top hypotheses. Written whole or not at all. */
spot_status spot_report_ec(spot_ctx *c, const char *path, const char *method, const spot_ec *ec,
                           const spot_learning *lesson, const spot_view *view, const spot_truth *truth,
                           const spot_points *points, const spot_hypotheses *found, const spot_score *score);

typedef enum { SPOT_TABLE_TEXT, SPOT_TABLE_CSV, SPOT_TABLE_JSON, SPOT_TABLE_MD } spot_table_format;

/* DR and FDR of every method over the run's ECs with standard errors, per-EC rows, failure categories; prints how many
 * ECs each average left out and why. Rebuilds results.sqlite from the segments where the directory can be written.
 * include_all also averages ECs that did not learn their blindspots. SPOT_INPUT, after all is printed, when segments are
 * damaged; a message names each. */
spot_status spot_tables(spot_ctx *c, FILE *f, const char *dir, spot_table_format format, bool include_all);

/* Table `number` of the paper (2, 7, 9 to 13, 16): the run's means beside the paper's, ECs counted and left out, every
 * setting that is not the paper's, what lies more than two standard errors apart. Rows are found by method and settings,
 * whatever the methods are called. Several runs make one table when their ECs, models and metric are equal; else SPOT_USAGE
 * with what differs. */
spot_status spot_tables_paper(spot_ctx *c, FILE *f, const char *const *dirs, int n, int number, spot_table_format format,
                              bool include_all);

/* Figures 2, 3 and 4 of the paper: DR and FDR by number of blindspots, the share of blindspots covered by specificity and
 * by the features that define them, with 95 % intervals; Figure 2 sets two settings of one method beside each other. Below
 * each stand the methods that failed and the settings that are not the paper's. SPOT_INPUT where no EC counts. */
typedef struct {
    const char *out;                   /* folder of figure_3.png and its like; made when it is not there */
    unsigned    which;                 /* bits 2, 3 and 4 */
    bool        png, svg, all;         /* all: ECs that did not learn their blindspots count, too */
    FILE       *csv;                   /* the same numbers, or NULL */
    const char *const *method;         /* that are drawn, as the tables call them; none: all, or the paper's of many */
    int         methods;
} spot_figures_options;

spot_status spot_figures(spot_ctx *c, const char *dir, const spot_figures_options *o);

/* One HTML file for eyes, self-contained: no network, any browser. */
typedef struct {
    size_t budget;                     /* bytes it may have: 10 MB; pictures get smaller, then fewer, to stay within */
    bool   full;                       /* every picture, whatever it takes */
    int    thumb;                      /* pixels of a thumbnail's side: 64, less where the budget asks */
    size_t memory;                     /* bytes that decoding pictures may take at a time; 0: 2 GiB. A picture that takes more
                                        * counts as one that cannot be read */
} spot_report_options;

spot_report_options spot_report_defaults(void);

/* What was found in a subject (spotter discover): one model's, or several models' side by side, whose rows must have the same
 * ids and classes. The same bytes for the same findings. A picture that cannot be read is counted, and named in its place. */
spot_status spot_report_findings(spot_ctx *c, const char *path, int models, const spot_subject *const *s,
                                 const spot_findings *const *f, const spot_discover_options *const *o,
                                 const spot_report_options *r);

/* A sweep's run: table, figures, each EC's map with the truth and what every method found, from the run's cache; the page says
 * which ECs the cache no longer knows. SPOT_INPUT, with the page written, where segments are damaged. */
spot_status spot_report_run(spot_ctx *c, const char *path, const char *dir, const spot_report_options *r);

#ifdef __cplusplus
}
#endif
#endif
