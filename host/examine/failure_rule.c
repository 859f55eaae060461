/* failure_rule.c - a rule about conditions: whether it holds, its volume, its words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "examine/examine_config.h"
#include "spotter/failures.h"

static bool limit_holds(const spot_examine_limit *l, const spot_conditions *at)
{
    const double v = l->absolute ? fabs(at->value[l->factor]) : at->value[l->factor];

    return l->least <= l->most ? v >= l->least && v <= l->most : v >= l->least || v <= l->most;
}

bool spot_failure_rule_holds(const spot_failure_rule *r, const spot_conditions *at)
{
    for (int i = 0; i < r->limits; i++)
        if (!limit_holds(&r->limit[i], at)) return false;
    return true;
}

/* ---- volume ---- */

static double overlap(double from, double to, double least, double most)
{
    const double width = fmin(to, most) - fmax(from, least);

    return width > 0 ? width : 0;
}

/* The share of a factor's range that lies within the limit. */
static double share_of(const spot_examine_limit *l, double least, double most)
{
    double width;

    if (l->absolute)
        width = overlap(least, most, l->least, l->most) + overlap(least, most, -l->most, -l->least);
    else if (l->least <= l->most) width = overlap(least, most, l->least, l->most);
    else width = overlap(least, most, l->least, most) + overlap(least, most, least, l->most);
    return width / (most - least);
}

static int dim_of(const spot_factor_space *s, int factor)
{
    for (int d = 0; d < s->dims; d++)
        if (s->factor[d] == factor) return d;
    return -1;
}

double spot_failure_rule_volume(const spot_failure_rule *r, const spot_factor_space *s)
{
    double volume = 1;

    for (int i = 0; i < r->limits; i++) {
        const int d = dim_of(s, r->limit[i].factor);
        if (d >= 0) volume *= share_of(&r->limit[i], s->least[d], s->most[d]);
    }
    return volume;
}

/* ---- words ---- */

static void put_limit(char *words, size_t size, const spot_examine_limit *l, double least, double most)
{
    const char *unit = spot_factor_unit(l->factor), *bar = l->absolute ? "|" : "";
    char name[32], from[32], to[32];

    snprintf(name, sizeof name, "%s", spot_factor_label(l->factor));
    for (char *s = name; *s; s++)
        if (*s == '_') *s = ' ';
    snprintf(from, sizeof from, "%g", l->least);
    snprintf(to, sizeof to, "%g", l->most);
    if (l->least > l->most) snprintf(words, size, "%s from %s over %g to %s", name, from, most, to);
    else if (l->least <= least) snprintf(words, size, "%s%s%s below %s", bar, name, bar, to);
    else if (l->most >= most) snprintf(words, size, "%s%s%s above %s", bar, name, bar, from);
    else snprintf(words, size, "%s%s%s from %s to %s", bar, name, bar, from, to);
    if (unit[0]) snprintf(words + strlen(words), size - strlen(words), " %s", unit);
}

void spot_failure_rule_words(char *words, size_t size, const spot_failure_rule *r, const spot_factor_space *s)
{
    char one[192];

    snprintf(words, size, "%s", r->limits ? "" : "everywhere");
    for (int i = 0; i < r->limits; i++) {
        const spot_examine_limit *l = &r->limit[i];
        const int d = dim_of(s, l->factor);
        const double least = d < 0 ? spot_factor_least(l->factor) : s->least[d];
        const double most = d < 0 ? spot_factor_most(l->factor) : s->most[d];
        put_limit(one, sizeof one, l, l->absolute ? 0 : least, l->absolute ? fmax(fabs(least), fabs(most)) : most);
        snprintf(words + strlen(words), size - strlen(words), "%s%s", i ? ", " : "", one);
    }
}
