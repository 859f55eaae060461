/* failure_sphere.c - a sphere in cells of equal area: see failures.h. A band is as high as its number of cells says. */
#include <math.h>

#include "spotter/failures.h"

static const int cells[SPOT_SPHERE_BANDS] = { 4, 10, 14, 20, 22, 24, 24, 22, 20, 14, 10, 4 };

/* The sine of the elevation at which `below` of all cells lie to the south. */
static double sine_above(int below) { return 2.0 * below / SPOT_SPHERE_CELLS - 1; }

static double degrees(double radians) { return radians * 180 / acos(-1); }

spot_sphere_cell spot_sphere_cell_of(int cell)
{
    int band = 0, below = 0;

    while (band < SPOT_SPHERE_BANDS - 1 && cell >= below + cells[band]) below += cells[band++];
    const double width = 360.0 / cells[band];
    return (spot_sphere_cell){ .south = degrees(asin(sine_above(below))),
                               .north = degrees(asin(sine_above(below + cells[band]))),
                               .from = (cell - below) * width, .to = (cell - below + 1) * width };
}

int spot_sphere_find(double azimuth, double elevation)
{
    const double sine = sin(elevation * acos(-1) / 180), turn = azimuth / 360 - floor(azimuth / 360);
    int band = 0, below = 0;

    while (band < SPOT_SPHERE_BANDS - 1 && sine >= sine_above(below + cells[band])) below += cells[band++];
    const int at = (int)(turn * cells[band]);
    return below + (at < cells[band] ? at : cells[band] - 1);
}
