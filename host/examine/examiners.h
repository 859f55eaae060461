/* examiners.h - the interface of an examiner (table: SPOT_EXAMINER_TABLE in spotter/examiner.h). */
#ifndef SPOTTER_EXAMINERS_H
#define SPOTTER_EXAMINERS_H

#include "base/setting.h"
#include "spotter/arena.h"
#include "spotter/examiner.h"

enum { SPOT_EXAMINER_MOST = 4096 };        /* points of each problem that an ask gives; the frame keeps room for so many */

/* A method's state is its own. examiner.c has checked cfg by the settings, and search; it cuts batches at the budget, keeps the
 * points of the last ask, and refuses losses that are not finite. Losses are maximised. */
typedef struct {
    const char *title;                     /* "cross-entropy method", for reports */
    const spot_setting *settings;          /* rows for spot_examiner_config: members of the method's own struct */

    size_t      (*bytes)(const spot_examiner_config *cfg, const spot_examiner_search *s);      /* of a state */
    spot_status (*open)(spot_ctx *c, void **state, const spot_examiner_config *cfg, const spot_examiner_search *s);
    void        (*close)(void *state);     /* NULL: free */

    double slows;                          /* the power of the points so far by which the next one takes longer */

    /* Points of each problem, from 1 to SPOT_EXAMINER_MOST, whatever the budget. */
    int         (*wants)(const void *state);

    /* n: wants, or less at the end of the budget. at: (problems, n, dims). After SPOT_STOPPED the state is as before. */
    spot_status (*ask)(spot_ctx *c, void *state, double *at, int n);
    spot_status (*tell)(spot_ctx *c, void *state, const double *at, const double *loss, int n);
} spot_examiner_kind;

#define X(NAME, file, name) extern const spot_examiner_kind spot_examiner_##file;
SPOT_EXAMINER_TABLE(X)
#undef X

extern const spot_setting spot_examiner_settings[];    /* rows for spot_examiner_config; the first one names the method */

#define SPOT_EXAMINER_ROW(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_examiner_config, field, help, __VA_ARGS__)

/* Point `index` of problem i's uniform ones: x (dims). Methods that begin with uniform points begin with these, so that they
 * begin alike. Their streams have indices from 2^31 on; a method's own ones lie below. */
void spot_examiner_uniform(double *x, const spot_examiner_search *s, int i, int index);

/* The processor time of a method when it has asked for so many points, from how far it is now. share: of all its work
 * (spot_examiner_share); where it is less than the share of the points, it decides. Else marks do, each at about twice the
 * points of the one before: a point takes longer by a power of those before it, 0 to 2. In proportion where marks lack. */
typedef struct { double seconds; int asked; } spot_examiner_moment;
double spot_examiner_seconds(const spot_examiner_moment mark[3], spot_examiner_moment now, double asked, double share);

/* A coordinate that left [0, 1], back in it: a turn goes on round the circle, another range is reflected at its ends. */
double spot_examiner_fold(double x, bool turns);

#endif
