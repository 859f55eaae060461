/* join_pieces.c - see join_pieces.h. */
#include "bdm/join_pieces.h"

#include <math.h>
#include <string.h>

#define FLOOR 0.15
#define ODDS  2.0
#define TINY  1e-6             /* rates are kept this far from 0 and 1 */

spot_status spot_join_take(spot_ctx *c, spot_arena *a, spot_joined *j, int pieces, int d)
{
    size_t k = (size_t)pieces;

    SPOT_TRY(SPOT_TAKE(c, a, j->group, k));
    SPOT_TRY(SPOT_TAKE(c, a, j->member, k));
    SPOT_TRY(SPOT_TAKE(c, a, j->rest, k));
    SPOT_TRY(SPOT_TAKE(c, a, j->mass, k));
    SPOT_TRY(SPOT_TAKE(c, a, j->mean, k * (size_t)d));
    SPOT_TRY(SPOT_TAKE(c, a, j->away, k * k));
    return SPOT_TAKE(c, a, j->quotient, k * k);
}

static double inside(double r) { return fmin(fmax(r, TINY), 1 - TINY); }

double spot_join_evidence(double errors, double n, double b)
{
    double r = n > 0 ? inside(errors / n) : 0;

    b = inside(b);
    return r > b ? n * (r * log(r / b) + (1 - r) * log((1 - r) / (1 - b))) : 0;
}

/* ---- pieces that fail ---- */

/* The rate of the piece that holds the median row, in the order of the pieces' rates, of equals the first. */
static double median_rate(const spot_joined *j)
{
    double rows = 0;

    for (int k = 0; k < j->pieces; k++) rows += j->size[k];
    for (int k = 0; k < j->pieces; k++) {
        double own = j->error[k] / j->size[k], below = 0, equal = 0;
        if (!j->size[k]) continue;
        for (int i = 0; i < j->pieces; i++) {
            if (!j->size[i]) continue;
            if (j->error[i] / j->size[i] < own) below += j->size[i];
            else if (j->error[i] / j->size[i] <= own) equal += j->size[i];
        }
        if (below < rows / 2 && below + equal >= rows / 2) return own;
    }
    return 0;
}

/* Lists the pieces that fail and those that do not; returns the number of the first and writes that of the others. */
static int list_failing(spot_joined *j, int *others)
{
    double odds;
    int len = 0;

    j->base = median_rate(j);
    odds = ODDS * j->base / (1 - inside(j->base));
    j->above = fmax(FLOOR, odds / (1 + odds));
    *others = 0;
    for (int k = 0; k < j->pieces; k++) {
        j->group[k] = -1;
        if (!j->size[k]) continue;
        if ((j->error[k] + j->base) / (j->size[k] + 1) > j->above) j->member[len++] = k;
        else j->rest[(*others)++] = k;
    }
    return len;
}

/* ---- groups ---- */

static double square(const double *a, const double *b, int d)
{
    double sum = 0;

    for (int i = 0; i < d; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static double *mean_of(const spot_joined *j, int g) { return j->mean + (size_t)g * j->d; }
static double *away_of(const spot_joined *j, int g) { return j->away + (size_t)g * j->pieces; }

static void find_away(spot_joined *j, int g, int others)
{
    for (int k = 0; k < others; k++) away_of(j, g)[k] = square(mean_of(j, g), j->centre + (size_t)j->rest[k] * j->stride, j->d);
}

static double quotient_of(const spot_joined *j, int g, int h, int others)
{
    const double *a = away_of(j, g), *b = away_of(j, h);
    double least = INFINITY, apart = square(mean_of(j, g), mean_of(j, h), j->d);

    for (int k = 0; k < others; k++) least = fmin(least, (a[k] + b[k]) / 2);
    return least > 0 ? apart / least : INFINITY;
}

/* Quotients of group g with all other groups; mass 0 marks a group that was joined to another. */
static void find_quotients(spot_joined *j, int g, int len, int others)
{
    for (int h = 0; h < len; h++) {
        double q = h == g || !(j->mass[h] > 0) ? INFINITY : quotient_of(j, g, h, others);
        j->quotient[(size_t)g * j->pieces + h] = j->quotient[(size_t)h * j->pieces + g] = q;
    }
}

static bool find_pair(const spot_joined *j, int len, int *g, int *h)
{
    double least = 1;

    for (int a = 0; a < len; a++)
        for (int b = a + 1; b < len && j->mass[a] > 0; b++) {
            double q = j->quotient[(size_t)a * j->pieces + b];
            if (!(j->mass[b] > 0) || !(q < least)) continue;
            least = q;
            *g = a;
            *h = b;
        }
    return least < 1;
}

static void join_pair(spot_joined *j, int g, int h, int len)
{
    double all = j->mass[g] + j->mass[h];

    for (int i = 0; i < j->d; i++)
        mean_of(j, g)[i] = (j->mass[g] * mean_of(j, g)[i] + j->mass[h] * mean_of(j, h)[i]) / all;
    j->mass[g] = all;
    j->mass[h] = 0;
    for (int k = 0; k < len; k++)
        if (j->group[j->member[k]] == h) j->group[j->member[k]] = g;
}

/* Numbers the groups that are left from 0 on. A group's name is its first piece's place among the failing ones. */
static void number_groups(spot_joined *j, int len)
{
    j->groups = 0;
    for (int g = 0; g < len; g++) {
        if (!(j->mass[g] > 0)) continue;
        for (int k = 0; k < len; k++)
            if (j->group[j->member[k]] == g) j->group[j->member[k]] = j->groups;
        j->groups++;
    }
}

void spot_join_pieces(spot_joined *j)
{
    int others, len = list_failing(j, &others), g, h;

    for (int k = 0; k < len; k++) {
        memcpy(mean_of(j, k), j->centre + (size_t)j->member[k] * j->stride, (size_t)j->d * sizeof *j->mean);
        j->mass[k] = j->size[j->member[k]];
        j->group[j->member[k]] = k;
        find_away(j, k, others);
    }
    for (int k = 0; k < len; k++) find_quotients(j, k, len, others);
    while (find_pair(j, len, &g, &h)) {
        join_pair(j, g, h, len);
        find_away(j, g, others);
        find_quotients(j, g, len, others);
    }
    number_groups(j, len);
}
