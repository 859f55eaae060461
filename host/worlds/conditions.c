/* conditions.c - the factors of paper 002: their names, the unit cube of a search, draws. */
#include "spotter/mesh.h"

#include <math.h>
#include <string.h>

#include "image/render.h"
#include "spotter/rng.h"

typedef struct { const char *label, *unit; double least, most; } factor;

static const factor factors[SPOT_FACTORS] = {
#define X(NAME, name, symbol, unit, least, most, turns) { #name, #unit, least, most },
    SPOT_FACTOR_TABLE(X)
#undef X
};

const char *spot_factor_label(int f) { return f >= 0 && f < SPOT_FACTORS ? factors[f].label : "unknown"; }

const char *spot_factor_unit(int f)
{
    return f >= 0 && f < SPOT_FACTORS && strcmp(factors[f].unit, "1") ? factors[f].unit : "";
}

int spot_factor_find(const char *name)
{
    for (int f = 0; f < SPOT_FACTORS; f++)
        if (!strcmp(factors[f].label, name)) return f;
    return -1;
}

static void add_dimension(spot_factor_space *s, int f, double least, double most)
{
    s->factor[s->dims] = f;
    s->least[s->dims] = least;
    s->most[s->dims] = most;
    s->turns[s->dims++] = !strcmp(factors[f].unit, "degrees") && most - least == 360;
}

spot_factor_space spot_factor_space_paper(void)
{
    static const int order[] = { SPOT_LAMP_ENERGY, SPOT_SUN_ENERGY, SPOT_LAMP_DISTANCE, SPOT_LAMP_AZIMUTH, SPOT_LAMP_ELEVATION,
                                 SPOT_CAMERA_DISTANCE, SPOT_CAMERA_AZIMUTH, SPOT_CAMERA_ELEVATION, SPOT_CAMERA_ROLL };
    spot_factor_space s = { .dims = 0 };

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        add_dimension(&s, order[i], factors[order[i]].least, factors[order[i]].most);
    return s;
}

static spot_status check_range(spot_ctx *c, const spot_factor_range *r)
{
    const char *label = spot_factor_label(r->factor);

    if (r->factor < 0 || r->factor >= SPOT_FACTORS) return spot_fail(c, SPOT_USAGE,
                                                                     "{conditions.factor} there is no factor %d", r->factor);
    if (!(r->least <= r->most))
        return spot_fail(c, SPOT_USAGE, "{conditions.order} the range of %s is %g to %g; the first number must not be above "
                         "the second", label, r->least, r->most);
    if (!(fabs(r->least) <= SPOT_RENDER_MOST && fabs(r->most) <= SPOT_RENDER_MOST))
        return spot_fail(c, SPOT_USAGE, "{conditions.range} the range of %s is %g to %g; numbers lie within +-%d", label,
                         r->least, r->most, SPOT_RENDER_MOST);
    if ((r->factor == SPOT_CAMERA_ELEVATION || r->factor == SPOT_LAMP_ELEVATION) && !(r->least >= -90 && r->most <= 90))
        return spot_fail(c, SPOT_USAGE, "{conditions.elevation} the range of %s is %g to %g; an elevation is from -90 degrees, "
                         "straight below, to 90, straight above", label, r->least, r->most);
    if (!strcmp(spot_factor_unit(r->factor), "degrees") && r->most - r->least > 360)
        return spot_fail(c, SPOT_USAGE, "{conditions.turn} the range of %s is %g to %g; a full turn is 360 degrees, and a "
                         "longer range has conditions twice", label, r->least, r->most);
    if (r->factor == SPOT_CAMERA_DISTANCE && (float)r->least <= 0)
        return spot_fail(c, SPOT_USAGE, "{conditions.distance} the range of %s is %g to %g; the camera needs a distance above "
                         "0", label, r->least, r->most);
    return SPOT_OK;
}

spot_status spot_factor_ranges(spot_ctx *c, spot_factor_space *s, spot_conditions *fixed, const spot_factor_range *r, int n)
{
    bool given[SPOT_FACTORS] = { false };

    *s = (spot_factor_space){ .dims = 0 };
    for (int f = 0; f < SPOT_FACTORS; f++) fixed->value[f] = NAN;
    for (int i = 0; i < n; i++) {
        SPOT_TRY(check_range(c, &r[i]));
        if (given[r[i].factor]) return spot_fail(c, SPOT_USAGE, "{conditions.factor_twice} the factor %s is given twice",
                                                 spot_factor_label(r[i].factor));
        given[r[i].factor] = true;
        if ((float)r[i].least < (float)r[i].most) add_dimension(s, r[i].factor, r[i].least, r[i].most);
        else fixed->value[r[i].factor] = (float)r[i].least;
    }
    return SPOT_OK;
}

spot_status spot_factor_space_of(spot_ctx *c, spot_factor_space *s, spot_conditions *fixed, const spot_factor_range *r, int n)
{
    SPOT_TRY(spot_factor_ranges(c, s, fixed, r, n));
    if (!s->dims)
        return spot_fail(c, SPOT_USAGE,
                         "{conditions.none_left} no factor is left to search; give at least one of them a range of some width");
    return SPOT_OK;
}

void spot_factor_space_place(spot_conditions *f, const spot_factor_space *s, const double *x)
{
    for (int d = 0; d < s->dims; d++)
        f->value[s->factor[d]] = (float)(s->least[d] * (1 - x[d]) + s->most[d] * x[d]);
}

void spot_factor_space_point(double *x, const spot_factor_space *s, const spot_conditions *f)
{
    for (int d = 0; d < s->dims; d++)
        x[d] = fmin(1, fmax(0, (f->value[s->factor[d]] - s->least[d]) / (s->most[d] - s->least[d])));
}

void spot_conditions_draw(spot_conditions *f, uint64_t seed, uint32_t number)
{
    for (int k = 0; k < SPOT_FACTORS; k++) {
        spot_rng r = spot_rng_at(seed, SPOT_RNG_CONDITIONS, number, (uint32_t)k);
        double u = spot_rng_uniform(&r);
        if (isnan(f->value[k])) f->value[k] = (float)(factors[k].least * (1 - u) + factors[k].most * u);
    }
}
