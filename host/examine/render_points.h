/* render_points.h - the conditions under which `spotter render` draws objects: a grid, the rows of a table, random ones. */
#ifndef SPOTTER_RENDER_POINTS_H
#define SPOTTER_RENDER_POINTS_H

#include "examine/examine_objects.h"

typedef struct { int factor, steps; double least, most; } spot_renders_axis;
typedef struct { int entry; spot_conditions at; } spot_renders_row;     /* entry -1: all objects; NaN: not in the table */

typedef struct {
    spot_factor_space space;       /* what is drawn for each render; dims may be 0 */
    spot_conditions fixed;         /* of all objects; NaN for what is drawn, for each render or once for an object */
    int axes, rows;
    spot_renders_axis axis[SPOT_FACTORS];       /* of the grid: the last one changes first */
    spot_renders_row *row;          /* (rows) of the table; NULL: there is none */
    int *own, owns;                /* the rows of the object that begin named last */
    const char *file;              /* the table */
} spot_render_points;

/* factors, table: as in spot_renders_job. The table's objects must be in o. Close it also after a failure. */
spot_status spot_render_points_open (spot_ctx *c, spot_render_points *p, const spot_examine_objects_list *o,
                                     const char *factors, const char *table);
void        spot_render_points_close(spot_render_points *p);

/* begin: how many points an object has; the calls of `at` after it are about this object: render i, of which each point has
 * `number`. The conditions depend on nothing else. */
double          spot_render_points_begin(spot_render_points *p, int entry);
spot_conditions spot_render_points_at   (const spot_render_points *p, const spot_examine_config *cfg, uint32_t object, int i,
                                         int number);

#endif
