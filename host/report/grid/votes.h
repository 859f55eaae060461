/* votes.h - grids of pictures for raters, and what the raters selected (paper 004, appendix A.4). */
#ifndef SPOTTER_VOTES_H
#define SPOTTER_VOTES_H

#include <stdint.h>

#include "formats/csv_rows.h"
#include "spotter/shifts.h"

enum { SPOT_GRID = 48, SPOT_GRID_ACROSS = 8 };

/* A grid asks for one shift, or for one class. */
enum { SPOT_TASK_SHIFT, SPOT_TASK_LABEL, SPOT_TASKS };
extern const char *const spot_task_names[SPOT_TASKS];      /* "shift", "label" */

/* The mean selection frequency of pictures; 95 % interval over pictures, NaN where all are equal or one is alone. */
typedef struct { double value, low, high; int images; } spot_selection;

typedef struct {
    int raters, votes;             /* that answered; votes: of a rater for a picture */
    int images, unanswered;        /* pictures with votes; pictures of the key without */
    spot_selection selected[SPOT_TASKS][SPOT_MAX_SOURCES][SPOT_MAX_SHIFTS][2];     /* all; those that pass the filter */
    spot_selection real[SPOT_TASKS];
    double kappa[SPOT_TASKS];      /* Fleiss's, over pictures with two or more raters; NaN: none, or all votes are equal */
} spot_votes;

/* A picture of a grid, as in DIR/grids/key.csv. weight: pictures of its folder that it stands for. */
typedef struct {
    int    task, grid, place;      /* place: from 1 */
    int    source, shift;          /* -1, -1: a real picture */
    bool   kept;
    double weight;
    char   name[24], label[160], path[1024];       /* name of the grid */
} spot_grid_picture;

/* Writes the grids that spot_shifts_grids chose: DIR/grids/NAME.png. picture (n) lie grid by grid. */
spot_status spot_grid_draw(spot_ctx *c, const char *path, const spot_shifts_config *cfg, const spot_grid_picture *picture,
                           const int *unit, int n);

/* Reads DIR/grids/key.csv; *picture (n) is malloc'd. */
spot_status spot_grid_key(spot_ctx *c, spot_grid_picture **picture, int *n, const spot_shifts_results *r, const char *dir);

/* Reads votes from a file and computes v; votes_path NULL: DIR/grids/votes.csv, and *found false if there is none. Writes
 * DIR/grids/votes.csv and selection.csv where votes_path is given. */
spot_status spot_votes_read(spot_ctx *c, spot_votes *v, const spot_shifts_results *r, const char *dir, const char *votes_path,
                            bool *found);

/* The same of DIR/grids/votes.csv for a report of everything: votes for other grids are warned of, and *found is false. */
spot_status spot_votes_recall(spot_ctx *c, spot_votes *v, const spot_shifts_results *r, const char *dir, bool *found);

#endif
