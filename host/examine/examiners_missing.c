/* examiners_missing.c - examiners that are not there yet. */
#include "examine/examiners.h"

static size_t bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    (void)cfg, (void)s;
    return 0;
}

static spot_status open(spot_ctx *c, void **state, const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    (void)cfg, (void)s;
    *state = NULL;
    return spot_fail(c, SPOT_UNSUPPORTED, "this examiner is not there yet; use random, local, cem or cma");
}

#define MISSING(file) const spot_examiner_kind spot_examiner_##file = { .title = #file, .bytes = bytes, .open = open };
MISSING(bo2019)
MISSING(bo)
MISSING(turbo)
