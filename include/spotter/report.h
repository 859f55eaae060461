/* report.h - results for readers: tables, figures, pictures and HTML pages. */
#ifndef SPOTTER_REPORT_H
#define SPOTTER_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "spotter/bdm.h"
#include "spotter/claim.h"
#include "spotter/ctx.h"
#include "spotter/discover.h"
#include "spotter/metric.h"
#include "spotter/model.h"
#include "spotter/scene.h"
#include "spotter/shifts.h"
#include "spotter/versions.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const spot_ec *ec;
    const spot_learning *lesson;
    const spot_view *view;
    const spot_truth *truth;
    const spot_points *points;
    const spot_hypotheses *found;
    const spot_score *score;
} spot_ec_picture;

/* One EC and one method as a PNG: the map (first two columns of the points) coloured by confidence, the hypotheses
 * outlined, the true blindspots marked; beside it thumbnails of the top hypotheses. Written whole or not at all. */
spot_status spot_report_ec(spot_ctx *c, const char *path, const char *method, const spot_ec_picture *of);

typedef enum { SPOT_TABLE_TEXT, SPOT_TABLE_CSV, SPOT_TABLE_JSON, SPOT_TABLE_MD } spot_table_format;

/* Prints DR and FDR of every method over the run's ECs with standard errors, per-EC rows, failure categories, and the number
 * of ECs that each average leaves out, with the reason. Rebuilds results.sqlite from the segments where the directory can be
 * written. include_all also averages ECs that did not learn their blindspots. SPOT_INPUT, after all is printed, when segments
 * are damaged; a message names each. */
spot_status spot_tables(spot_ctx *c, FILE *f, const char *dir, spot_table_format format, bool include_all);

/* The number of the successes of appendix B, which the paper prints in words. */
enum { SPOT_APPENDIX_B = 100 };

/* Prints table `number` of the paper (rendered images: 2, 7, 9 to 13, 16, SPOT_APPENDIX_B; COCO: 3, 4, 8, 14; OpenImages: 15):
 * the run's numbers beside the paper's, ECs counted and left out, every setting that is not the paper's, every difference of
 * more than two standard errors. Rows are found by method and settings, not by label; a row without a method is "not
 * measured". Several runs make one table when their ECs, models and metric are equal, and in appendix B a line each; else
 * SPOT_USAGE names the difference. SPOT_USAGE also for a run of another experiment than the table's. */
spot_status spot_tables_paper(spot_ctx *c, FILE *f, const char *const *dirs, int n, int number, spot_table_format format,
                              bool include_all);

/* The tables of the background paper (003), 1 to 6, beside the numbers of n runs of `spotter background`; number 0: all.
 * A row belongs to the run that differs from the first in its setting alone; "not run" where there is none. */
spot_status spot_background_tables(spot_ctx *c, FILE *f, const char *const *dirs, int n, int number, spot_table_format format);

/* The tables of the examiner's paper (002) with the numbers of a run of `spotter examine`, and the paper's beside them: 1 mean
 * p by model and examiner, 2 by m, 3 lowest, robust, valid; number 0: all. */
spot_status spot_examine_tables(spot_ctx *c, FILE *f, const char *dir, int number, spot_table_format format);

/* Figures 2, 3 and 4 of the paper: DR and FDR by number of blindspots, and the share of blindspots covered by specificity and
 * by the features that define them, with 95 % intervals. Figure 2 compares two settings of one method. A run on pictures has
 * no FDR and no Figure 4; of its conditioned pools are Figures 6 (DR by number of blindspots) and 7 (by specificity). A figure
 * that was named and that the run does not measure is logged. The text below each figure lists failed methods and settings
 * that are not the paper's. SPOT_INPUT where no EC counts. */
typedef struct {
    const char *out;                   /* folder for figure_3.png etc.; made when missing */
    unsigned    which;                 /* bits 2, 3, 4, 6 and 7; 0: all that the run has */
    bool        png, svg, all;         /* all: also count ECs that did not learn their blindspots */
    FILE       *csv;                   /* gets the same numbers; may be NULL */
    const char *const *method;         /* labels of the methods to draw, as in the tables */
    int         methods;               /* 0: all, or of many those of the paper */
    const char *const *shift;          /* names of shifts, for Figures 10 and 17 of a run of `spotter shifts` */
    int         shifts;                /* 0: all */
} spot_figures_options;

spot_status spot_figures(spot_ctx *c, const char *dir, const spot_figures_options *o);

/* Figures 10 (accuracy on shifts against base), 11 (slope against impact) and 17 (a: similarities; b: pass rates) of paper 004
 * from a run of shifts; 6 (selection frequency) where raters have voted. which 0: all that the run has. SPOT_USAGE for a figure
 * that it cannot have. */
spot_status spot_shifts_figures(spot_ctx *c, const char *dir, const spot_figures_options *o);

/* Figures of paper 003 from runs of `spotter background`: 9 (keywords by level of the ontology), 8 (matrices of models of equal
 * accuracies), 11 (distances) and, of several runs, one of 10, 12, 13 and 15: matrices of the models that all runs have (or of
 * o->method), a column for each run. Which of the four follows from how the configs differ. Other options as above. */
spot_status spot_background_figures(spot_ctx *c, const char *const *dir, int dirs, const spot_figures_options *o);

/* Figures of paper 002 from runs of `spotter examine`: 1 (p against renders), 2 (p of each class), 3 and 4 (t-SNE of
 * conditions, with renders), and of two runs that differ in the order of their factors alone 6 (do both end in the same
 * place?). which 0: all that the runs have. Models of o->method, or all. */
spot_status spot_examine_figures(spot_ctx *c, const char *const *dir, int dirs, const spot_figures_options *o);

enum { SPOT_UNREADABLE_NAMED = 20 };

/* The ground behind the transparent pixels of a PNG. DROP: nothing; alpha is dropped, as torchvision's loader does. */
typedef enum { SPOT_MATTE_DROP, SPOT_MATTE_WHITE, SPOT_MATTE_BLACK } spot_matte;

/* One self-contained HTML file: no network, any browser. */
typedef struct {
    size_t budget;                     /* most bytes of the file: 10 MB; pictures get smaller, then fewer, to fit */
    bool   full;                       /* every picture, without a limit */
    int    thumb;                      /* pixels of a thumbnail's side: 64, fewer to fit the budget */
    size_t memory;                     /* most bytes for decoding pictures at a time; 0: 2 GiB. A picture that needs more counts
                                        * as unreadable */
    bool   other_pictures;             /* of runs: what lies at the recorded paths now, though the run saw other files */
    int    matte;                      /* spot_matte, for pictures as the model saw them */
    /* The rest is for spot_report_findings, and only shown. NULL: not known. */
    const char *title, *data, *date;   /* NULL title: "Blindspots". data: name of the rows; date: of the findings, as given */
    const char *note;                  /* lines at the head of the page, such as what is known of the rows */
    const char *const *model;          /* (models): names in the order of the findings; those without are "model 1" and so on */
    int models;
} spot_report_options;

spot_report_options spot_report_defaults(void);

/* The findings of one model (spotter discover), or of several models side by side; their rows must have the same ids and
 * classes. Equal findings and options give equal bytes. Unreadable pictures
 * are named, each with its reason, in the log and on the page: SPOT_UNREADABLE_NAMED of them, the others are counted.
 *
 * Slices with a proof (discover.h) come by claim, then by the excess of errors to expect on new rows. Only confirmed ones are
 * called blindspots. Those that may be chance, and those that are no worse than the rest of their classes, lie in folds. Slices
 * without a proof come by their errors beyond the class's rate, and the page says that they were not tested. */
spot_status spot_report_findings(spot_ctx *c, const char *path, int models, const spot_subject *const *s,
                                 const spot_findings *const *f, const spot_discover_options *const *o,
                                 const spot_report_options *r);

/* A claim about new pictures and what they say (spotter gather). Texts may be NULL: not known. */
typedef struct {
    const char *claim, *cls;           /* the description; the class of the pictures */
    const char *found, *model;         /* folder of the findings; the model that was measured */
    int    slice;                      /* number in these findings; 0: the claim is the user's own */
    double rate, class_rate;           /* error rates there; NaN: not known */
    const char *folder;                /* the pictures lie below it; NULL: they are not shown */
    const spot_new_picture *row;       /* (n) */
    int    n;
    double level;                      /* of the test */
    const spot_claim_test *test;
    spot_picture_reading reading;      /* of the pictures, as the model saw them */
} spot_claim_result;

/* The gathered pictures and the controls side by side, the counts, the test and the verdict. Nothing is judged here. The page
 * holds what lies below k->folder now, so whoever takes folder or names from a stranger's file asks the reader before.
 * SPOT_INPUT for a name that leads out of the folder by "..". */
spot_status spot_report_claim(spot_ctx *c, const char *path, const spot_claim_result *k, const spot_report_options *o);

/* Two versions of a classifier (versions.h), the worst slice first: its verdict, error rates before and after with counts and
 * p, pictures of the rows that changed, what got worse outside all slices, and the classes as wholes. s: as for
 * spot_versions_compare; pictures are those of s[0]. Equal results and options give equal bytes. */
spot_status spot_report_versions(spot_ctx *c, const char *path, const spot_versions *v,
                                 const spot_subject *const s[SPOT_VERSIONS], const spot_report_options *r);

/* The run of a sweep: table, figures, and from the run's cache each EC's map with the truth and the findings of every method.
 * The page lists the ECs that are no longer in the cache. SPOT_INPUT, with the page written, where segments are damaged. */
spot_status spot_report_run(spot_ctx *c, const char *path, const char *dir, const spot_report_options *r);

/* The run of a study of shifts: what each shift costs, figures, pictures just above and below the thresholds, classes of
 * confounded sources. folder: where the pictures are now, in place of data.root; or NULL. */
spot_status spot_report_shifts(spot_ctx *c, const char *path, const char *dir, const char *folder,
                               const spot_report_options *r);

/* The run of a study of backgrounds: accuracies on the sets, the pairs of an object and a background that turn a model,
 * matrices. Pictures are made again from the files that DIR/config.yaml names, twice as large as o->thumb. */
spot_status spot_report_background(spot_ctx *c, const char *path, const char *dir, const spot_report_options *o);

/* The run of `spotter examine`: for every examiner p against renders spent, the objects with their failing renders, maps of
 * failure and findings in words where the run has them, the 3-D models' licences. */
spot_status spot_report_examine(spot_ctx *c, const char *path, const char *dir, const spot_report_options *o);

/* SPOT_USAGE where a file is there that is no page of this program: writing a page replaces what is there, so a command asks
 * before it works. advice: "choose another name"; NULL: any file is replaced. SPOT_IO where no page can be written. */
spot_status spot_report_place(spot_ctx *c, const char *path, const char *advice);

/* Contact sheets of a run of shifts: for each shift pictures around fixed percentiles of their similarity to its caption, from
 * which a person chooses the threshold. The page makes the lines for the config. SPOT_INPUT where the run has
 * no similarities. */
spot_status spot_report_pick(spot_ctx *c, const char *path, const char *dir, const spot_report_options *r);

/* Grids of 48 pictures for raters (paper 004, A.4), `grids` of each task (is the shift there? is the object there?), in
 * DIR/grids: NAME.png, answers.csv (the form), key.csv (what each picture is). Equal runs give equal grids. */
spot_status spot_shifts_grids(spot_ctx *c, const spot_shifts_results *r, const char *dir, int grids);

/* Reads filled forms of any number of raters, joined in one file, and prints selection frequencies and Fleiss's kappa. Writes
 * DIR/grids/votes.csv, selection.csv, figure_6.png and figure_6.svg. SPOT_INPUT names the line of a wrong answer. */
spot_status spot_shifts_votes(spot_ctx *c, FILE *f, const spot_shifts_results *r, const char *dir, const char *votes);

#ifdef __cplusplus
}
#endif
#endif
