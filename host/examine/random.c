/* random.c - uniform points. Point k of an object has the address (object, k), whatever the batch. */
#include <stdlib.h>

#include "examine/examiners.h"
#include "spotter/rng.h"

typedef struct { spot_examiner_search search; int batch, told; } random_state;

static size_t bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    (void)cfg, (void)s;
    return sizeof(random_state);
}

static spot_status open(spot_ctx *c, void **out, const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    random_state *r = *out = malloc(sizeof *r);

    if (!r) return spot_fail(c, SPOT_NOMEM, "no memory for an examiner");
    *r = (random_state){ *s, cfg->random.batch, 0 };
    return SPOT_OK;
}

static int wants(const void *s) { return ((const random_state *)s)->batch; }

static spot_status ask(spot_ctx *c, void *s, double *at, int n)
{
    const random_state *r = s;
    (void)c;

    for (int i = 0; i < r->search.problems; i++)
        for (int k = 0; k < n; k++, at += r->search.space->dims)
            spot_examiner_uniform(at, &r->search, i, r->told + k);
    return SPOT_OK;
}

static spot_status tell(spot_ctx *c, void *s, const double *at, const double *loss, int n)
{
    (void)c, (void)at, (void)loss;
    ((random_state *)s)->told += n;
    return SPOT_OK;
}

static const spot_setting settings[] = {
    SPOT_EXAMINER_ROW("batch", INT, random.batch, "number of renders in a batch", SPOT_IN(1, SPOT_EXAMINER_MOST),
                      SPOT_DEF(32)),
    SPOT_END
};

const spot_examiner_kind spot_examiner_random = { .title = "random search", .settings = settings, .bytes = bytes, .open = open,
                                                  .wants = wants, .ask = ask, .tell = tell };
