/* detector_rows.h - the options of a detector's rows, for spotter discover. */
#ifndef SPOTTER_DETECTOR_ROWS_H
#define SPOTTER_DETECTOR_ROWS_H

#include "cli/cli.h"
#include "spotter/subject.h"

typedef struct {
    spot_detection_options o;
    bool rows_only;
    char table[1200];          /* attributes.csv in the folder of the findings */
} cli_detector;

/* Its struct has the member. */
#define CLI_DETECTOR_ROWS(member)                                                                                            \
    { .kind = CLI_HEADING, .help = "A detector, with --coco as the ground truth:", .flags = CLI_MORE },                      \
    { "detections", 0, "FILE", CLI_TEXT, CLI_AT(member.o.file), .flags = CLI_ROWS_PATH,                                      \
      .help = "detections in COCO's format of results; rows are objects, which may be missed, and detections, which may be " \
              "false; features come from --embed, or from --embeddings with --ids" },                                        \
    { "iou",     0, "X", CLI_REAL, CLI_AT(member.o.iou), 0.01, 1, .flags = CLI_ROWS, .preset = "0.5",                        \
      .help = "least overlap, as IoU, of a detection with its object" },                                                     \
    { "score",   0, "X", CLI_REAL, CLI_AT(member.o.score), 0, 0.999999, .flags = CLI_ROWS, .preset = "0.5",                  \
      .help = "least score of a detection; below it there is none" },                                                        \
    { "rows",    0, "both|misses|alarms", CLI_CHOICE, CLI_AT(member.o.rows), .flags = CLI_ROWS, .preset = "both",            \
      .help = "rows that are examined: objects and detections; objects alone; detections alone" },                           \
    { "context", 0, "X", CLI_REAL, CLI_AT(member.o.context), 0, 10, .flags = CLI_ROWS, .preset = "0.1",                      \
      .help = "margin that is seen around a box, in its longer side" },                                                      \
    { "rows-only", 0, NULL, CLI_ON, CLI_AT(member.rows_only),                                                                \
      .help = "only rows.csv and attributes.csv in --out, for features of your own" }

/* Checks the options together; false: --detections is not given, and none of the others may be. */
bool cli_detector_check(const struct argp_state *state, const cli_detector *d, const spot_subject_files *f);

/* Before the subject is read: f gets the options. After it: writes the tables of the rows into dir, whose attributes describe
 * the slices from then on. */
void        cli_detector_begin(cli_detector *d, spot_subject_files *f);
spot_status cli_detector_write(spot_ctx *c, cli_detector *d, const spot_subject *s, const char *dir);

#endif
