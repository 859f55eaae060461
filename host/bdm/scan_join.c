/* scan_join.c - how far two sets of rows are apart, and the chosen nodes of a tree (scan_tree.h) that are one slice. */
#include "bdm/scan_join.h"

#include <math.h>
#include <string.h>

enum { SIDE = 5 };                 /* fewest rows of a second thing */
#define ALONE 2e6                  /* numbers that are too few for several threads */

/* ---- one thing, or two ---- */

/* Lists the rows of both sides. part: 2 * side, and 1 for every other row of a side. Returns their number, and each side's. */
static int list_rows(const spot_scan *s, int *rows)
{
    int len = 0;

    rows[0] = rows[1] = 0;
    for (int i = 0; i < s->n; i++) {
        int k = s->side[i];
        if (k > 1) continue;
        s->part[len] = (uint8_t)(2 * k + rows[k]++ % 2);
        s->row[len++] = i;
    }
    return len;
}

/* A node of few numbers is done before other threads have begun. */
static int threads_for(const spot_scan *s, int len) { return (double)len * s->d > ALONE && s->threads > 1 ? s->threads : 1; }

static void add_columns(const spot_scan *s, int len, int half, int from, int to)
{
    for (int m = 0; m < len; m++) {
        const float *x = s->x + (size_t)s->row[m] * s->stride;
        double *line = s->line + (size_t)(s->part[m] / 2) * s->d;
        if (s->part[m] % 2 != half) continue;
        for (int j = from; j < to; j++) line[j] += x[j];
    }
}

/* The line between the means of the rows with the places `half`, `half` + 2, .. of each side. */
static void find_line(const spot_scan *s, int len, const int *rows, int half)
{
    const int threads = threads_for(s, len), each = (s->d + threads - 1) / threads;

    memset(s->line, 0, 2 * (size_t)s->d * sizeof *s->line);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int from = 0; from < s->d; from += each)
        add_columns(s, len, half, from, from + each < s->d ? from + each : s->d);
    for (int j = 0; j < s->d; j++)
        s->line[j] = s->line[s->d + j] / ((rows[1] + 1 - half) / 2) - s->line[j] / ((rows[0] + 1 - half) / 2);
}

static double place_on_line(const spot_scan *s, int row, double length)
{
    double sum = 0;

    for (int j = 0; j < s->d; j++) sum += s->x[(size_t)row * s->stride + j] * s->line[j];
    return sum / sqrt(length);
}

/* Distance of the means of the other rows along the line, in their deviations. */
static double apart_on_line(const spot_scan *s, int len, const int *rows, int half)
{
    int used[2] = { (rows[0] + half) / 2, (rows[1] + half) / 2 };
    double mean[2] = { 0 }, squares = 0, length = 0;

    for (int j = 0; j < s->d; j++) length += s->line[j] * s->line[j];
    if (!(length > 0)) return 0;
#pragma omp parallel for num_threads(threads_for(s, len)) schedule(static)
    for (int m = 0; m < len; m++)
        if (s->part[m] % 2 != half) s->at[m] = place_on_line(s, s->row[m], length);
    for (int m = 0; m < len; m++)
        if (s->part[m] % 2 != half) mean[s->part[m] / 2] += s->at[m];
    mean[0] /= used[0], mean[1] /= used[1];
    for (int m = 0; m < len; m++)
        if (s->part[m] % 2 != half) squares += (s->at[m] - mean[s->part[m] / 2]) * (s->at[m] - mean[s->part[m] / 2]);
    return (mean[1] - mean[0]) / fmax(sqrt(squares / (used[0] + used[1] - 2)), 1e-9);
}

double spot_scan_apart(const spot_scan *s)
{
    int rows[2], len = list_rows(s, rows);
    double sum = 0;

    if (rows[0] < SIDE || rows[1] < SIDE) return 0;
    for (int half = 0; half < 2; half++) {
        find_line(s, len, rows, half);
        sum += apart_on_line(s, len, rows, half) / 2;
    }
    return sum;
}

/* ---- slices are joined ---- */

static double between(const spot_scan *s, int u, int v)
{
    return spot_scan_square(spot_scan_mean(s, u), spot_scan_mean(s, v), s->d);
}

static void find_away(spot_scan *s, int g)
{
    for (int k = 0; k < s->others; k++)
        s->away[(size_t)g * s->pieces + k] = between(s, s->chosen[g], s->rest[k]);
}

static double *quotient_at(const spot_scan *s, int g, int h)
{
    return s->quotient + (size_t)(g < h ? g : h) * SPOT_SCAN_MOST + (g < h ? h : g);
}

static void find_quotients(spot_scan *s, int g)
{
    for (int h = 0; h < s->slices; h++) {
        const double *a = s->away + (size_t)g * s->pieces, *b = s->away + (size_t)h * s->pieces;
        double least = INFINITY;
        if (h == g || s->group[h] != h) continue;
        for (int k = 0; k < s->others; k++) least = fmin(least, (a[k] + b[k]) / 2);
        *quotient_at(s, g, h) = s->others && least > 0 ?
                                between(s, s->chosen[g], s->chosen[h]) / least : INFINITY;
    }
}

static bool find_pair(const spot_scan *s, int *g, int *h)
{
    double least = SPOT_SCAN_NEAR;

    for (int a = 0; a < s->slices; a++)
        for (int b = a + 1; b < s->slices && s->group[a] == a; b++) {
            if (s->group[b] != b || !(*quotient_at(s, a, b) < least)) continue;
            least = *quotient_at(s, a, b);
            *g = a;
            *h = b;
        }
    return least < SPOT_SCAN_NEAR;
}

/* Marks each leaf with the slice that it is in; a chosen node's mean and mass become those of all that is joined to it. */
static void mark_leaves(spot_scan *s)
{
    for (int k = 0; k < s->leaves; k++) {
        s->slice[k] = -1;
        for (int g = 0; g < s->slices && s->slice[k] < 0; g++)
            if (spot_scan_is_in(&s->node[s->chosen[g]], s->place[k])) s->slice[k] = s->group[g];
    }
}

static void join_pair(spot_scan *s, int g, int h)
{
    double *a = spot_scan_mean(s, s->chosen[g]), *b = spot_scan_mean(s, s->chosen[h]);

    mark_leaves(s);
    for (int i = 0; i < s->n; i++) {
        int own = s->slice[s->leaf[i]];
        s->side[i] = own == g ? 0 : own == h ? 1 : 2;
    }
    if (spot_scan_apart(s) > SPOT_SCAN_FAR) {
        *quotient_at(s, g, h) = INFINITY;
        return;
    }
    spot_scan_mix(a, a, s->mass[g], b, s->mass[h], s->d);
    s->mass[g] += s->mass[h];
    for (int k = 0; k < s->slices; k++)
        if (s->group[k] == h) s->group[k] = g;
    find_away(s, g);
    find_quotients(s, g);
}

void spot_scan_join(spot_scan *s)
{
    int g, h, next = 0;

    for (int k = 0; k < s->slices; k++) {
        s->group[k] = k;
        s->mass[k] = s->size[s->chosen[k]];
        find_away(s, k);
    }
    for (int k = 0; k < s->slices; k++) find_quotients(s, k);
    while (find_pair(s, &g, &h)) join_pair(s, g, h);
    mark_leaves(s);
    for (int k = 0; k < s->slices; k++) s->name[k] = s->group[k] == k ? next++ : -1;
    for (int k = 0; k < s->leaves; k++)
        if (s->slice[k] >= 0) s->slice[k] = s->name[s->slice[k]];
    s->slices = next;
}
