/* team.c - see team.h. */
#include "core/team.h"

#include "spotter/ctx.h"

#define COUNT  0.05        /* seconds of one count */
#define FIRST  1           /* seconds before the first trial, so that a calibration measures no trials */
#define PAUSE  2           /* seconds between trials */
#define FASTER 1.1         /* factor by which a trial must be faster */

spot_team spot_team_of(int threads)
{
    double now = spot_clock();

    return (spot_team){ .most = threads, .best = threads, .threads = threads, .since = now, .pause = now + FIRST };
}

/* The threads of the next trial: twice or half as many as the best; the other direction at an end of the range. */
static int trial_of(spot_team *t)
{
    if (t->best == t->most) t->more = false;
    if (t->best == 1) t->more = true;
    return !t->more ? t->best / 2 : 2 * t->best < t->most ? 2 * t->best : t->most;
}

int spot_team_step(spot_team *t)
{
    double now, rate;
    bool trial = t->threads != t->best;

    if (t->most == 1) return 1;
    now = spot_clock();
    t->steps++;
    if (now - t->since < COUNT) return t->threads;
    rate = t->steps / (now - t->since);
    if (trial && rate < FASTER * t->rate) {
        t->more = !t->more;
        t->pause = now + PAUSE;
    } else {
        t->best = t->threads;
        t->rate = rate;
    }
    t->threads = now < t->pause ? t->best : trial_of(t);
    t->since = now;
    t->steps = 0;
    return t->threads;
}
