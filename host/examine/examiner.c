/* examiner.c - the table of examiners, and what all of them need: checks, batches that end at the budget, the last points. */
#include "spotter/examiner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examiners.h"

static const spot_examiner_kind *const kinds[] = {
#define X(NAME, file, name) [SPOT_EXAMINER_##NAME] = &spot_examiner_##file,
    SPOT_EXAMINER_TABLE(X)
#undef X
};

static const char *const names[] = {
#define X(NAME, file, name) name,
    SPOT_EXAMINER_TABLE(X)
#undef X
    NULL
};

static bool known(int method) { return method >= 0 && method < SPOT_EXAMINERS; }

static const spot_setting *settings_of(int method) { return known(method) ? kinds[method]->settings : NULL; }

const spot_setting spot_examiner_settings[] = {
#define S SPOT_EXAMINER_ROW
    S("method", NAME, method, "search for the conditions under which the model fails", .names = names,
      SPOT_DEF(SPOT_EXAMINER_CEM)),
    S("name",   TEXT, name,   "label in tables; \"\": the method's name", .hi = 64),
    S("renders", INT, renders, "renders of an object in a search by this examiner, all; 0: search.renders",
      SPOT_IN(0, 10000000), .newer = SPOT_NEWER),
    S("points", TEXT, points, "renders at which numbers of this examiner are written; \"\": search.points, or with its own "
      "renders a tenth, a fifth, a half and all", .hi = 160, .newer = SPOT_NEWER),
    { .kind = SETTING_PART, .of = spot_examiner_settings, .part = settings_of },
#undef S
    SPOT_END
};

const char *spot_examiner_name(int method) { return known(method) ? names[method] : "unknown"; }

spot_examiner_config spot_examiner_defaults(int method)
{
    spot_examiner_config cfg = { .method = method };

    spot_settings_defaults(spot_examiner_settings + 1, &cfg);
    return cfg;
}

struct spot_examiner {
    const spot_examiner_kind *kind;
    spot_factor_space space;
    spot_examiner_search search;       /* with the copies below */
    uint32_t *number;                  /* (problems) */
    double *at;                        /* (problems, room, dims): the points of the last ask */
    int room;                          /* points of each problem */
    int told, asked;                   /* points of each problem; asked: and not told yet */
    void *state;                       /* the method's own */
};

static int least_of(int a, int b) { return a < b ? a : b; }

static spot_status check_search(spot_ctx *c, const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    if (!known(cfg->method)) return spot_fail(c, SPOT_USAGE, "{examiner.unknown} there is no examiner %d", cfg->method);
    SPOT_TRY(spot_settings_check(c, SPOT_USAGE, spot_examiner_settings, cfg, names[cfg->method]));
    if (s->problems < 1) return spot_fail(c, SPOT_USAGE, "{examiner.objects} %s has %d objects to examine", names[cfg->method],
                                          s->problems);
    if (s->budget < 1)
        return spot_fail(c, SPOT_USAGE, "{examiner.renders} %s may ask for %d renders of an object; it needs at least 1",
                         names[cfg->method], s->budget);
    if (s->space->dims < 1 || s->space->dims > SPOT_FACTORS)
        return spot_fail(c, SPOT_USAGE, "%s searches %d factors; 1 to %d", names[cfg->method], s->space->dims, SPOT_FACTORS);
    return SPOT_OK;
}

static size_t points_bytes(const spot_examiner_search *s)
{
    return (size_t)s->problems * (size_t)least_of(s->budget, SPOT_EXAMINER_MOST) * (size_t)s->space->dims * sizeof(double);
}

spot_status spot_examiner_open(spot_ctx *c, spot_examiner **out, const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    spot_examiner *e;
    spot_status status;

    *out = NULL;
    SPOT_TRY(check_search(c, cfg, s));
    e = calloc(1, sizeof *e);
    if (!e) return spot_fail(c, SPOT_NOMEM, "no memory for an examiner");
    *e = (spot_examiner){ .kind = kinds[cfg->method], .space = *s->space, .search = *s,
                          .room = least_of(s->budget, SPOT_EXAMINER_MOST) };
    e->number = malloc((size_t)s->problems * sizeof *e->number);
    e->at = malloc(points_bytes(s));
    if (!e->number || !e->at) {
        spot_examiner_close(e);
        return spot_fail(c, SPOT_NOMEM, "no memory for an examiner of %d objects", s->problems);
    }
    memcpy(e->number, s->number, (size_t)s->problems * sizeof *e->number);
    e->search.space = &e->space;
    e->search.number = e->number;
    status = e->kind->open(c, &e->state, cfg, &e->search);
    if (status != SPOT_OK) {
        e->state = NULL;
        spot_examiner_close(e);
        return status;
    }
    *out = e;
    return SPOT_OK;
}

void spot_examiner_close(spot_examiner *e)
{
    if (!e) return;
    if (e->state && e->kind->close) e->kind->close(e->state);
    else free(e->state);
    free(e->number), free(e->at), free(e);
}

int spot_examiner_wants(const spot_examiner *e)
{
    int left = e->search.budget - e->told;

    return left ? least_of(least_of(e->kind->wants(e->state), e->room), left) : 0;
}

double spot_examiner_share(const spot_examiner *e)
{
    return pow((double)e->told / e->search.budget, 1 + e->kind->slows);
}

/* Outside of the cube a render would be of conditions that nobody gave. */
static spot_status check_points(spot_ctx *c, const spot_examiner *e, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!(e->at[k] >= 0 && e->at[k] <= 1))
            return spot_fail(c, SPOT_NUMERIC, "the examiner asks for %g in the unit cube", e->at[k]);
    return SPOT_OK;
}

spot_status spot_examiner_ask(spot_ctx *c, spot_examiner *e, double *at)
{
    int n = spot_examiner_wants(e);
    size_t count = (size_t)e->search.problems * (size_t)n * (size_t)e->space.dims;

    if (e->asked) return spot_fail(c, SPOT_INVALID, "{examiner.waits} the examiner waits for the losses of %d points",
                                   e->asked);
    if (!n) return spot_fail(c, SPOT_INVALID, "{examiner.finished} the examiner has asked for all of its %d points",
                             e->search.budget);
    SPOT_TRY(spot_check_stop(c));
    SPOT_TRY(e->kind->ask(c, e->state, e->at, n));
    SPOT_TRY(check_points(c, e, count));
    memcpy(at, e->at, count * sizeof *at);
    e->asked = n;
    return SPOT_OK;
}

spot_status spot_examiner_tell(spot_ctx *c, spot_examiner *e, const double *loss)
{
    int n = e->asked;

    if (!n) return spot_fail(c, SPOT_INVALID,
                             "{examiner.not_asked} the examiner is told losses of points that it has not asked for");
    for (int i = 0; i < e->search.problems; i++)
        for (int k = 0; k < n; k++)
            if (!isfinite(loss[(size_t)i * (size_t)n + (size_t)k]))
                return spot_fail_of(c, SPOT_INVALID, e->number[i], "{examiner.loss} the loss at point %d is %g; it must be a "
                                    "finite number", e->told + k, loss[(size_t)i * (size_t)n + (size_t)k]);
    SPOT_TRY(e->kind->tell(c, e->state, e->at, loss, n));
    e->asked = 0;
    e->told += n;
    return SPOT_OK;
}

size_t spot_examiner_bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    if (!known(cfg->method) || s->problems < 1 || s->budget < 1) return 0;
    return sizeof(spot_examiner) + (size_t)s->problems * sizeof(uint32_t) + points_bytes(s) + kinds[cfg->method]->bytes(cfg, s);
}
