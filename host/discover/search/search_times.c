/* search_times.c - see search_times.h. */
#include "discover/search/search_times.h"

#include <math.h>

/* The line and square through two times; the line alone where time grows more slowly than the rows, and the square alone where
 * it grows faster than their square. */
static double extend(double n, double first, double m, double second, double rows)
{
    const double pair = (second / m - first / n) / (m - n), most = second / (m * m);

    if (!(pair > 0)) return second / m * rows;
    return pair < most ? (second / m - pair * m) * rows + pair * rows * rows : most * rows * rows;
}

static double beyond(const spot_search_times *t, double rows)
{
    const double last = t->rows[t->count - 1], seconds = t->seconds[t->count - 1];

    if (t->square && rows > t->square)
        return last < t->square ? beyond(t, t->square) * rows / t->square : seconds / last * rows;
    if (t->count < 2) return seconds / last * rows;
    return extend(t->rows[t->count - 2], t->seconds[t->count - 2], last, seconds, rows);
}

/* Between two sizes by the power that leads from one to the other. */
double spot_search_seconds(const spot_search_times *t, double rows)
{
    int i = 1;

    if (rows > t->rows[t->count - 1]) return beyond(t, rows);
    if (rows <= t->rows[0]) return t->seconds[0] * rows / t->rows[0];
    while (rows > t->rows[i]) i++;
    return t->seconds[i] * pow(rows / t->rows[i], log(t->seconds[i] / t->seconds[i - 1]) / log(t->rows[i] / t->rows[i - 1]));
}
