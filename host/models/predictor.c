/* predictor.c - one predictor for weights, programs and functions: checks, batches, its identity. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "models/finite.h"
#include "models/foreign_model.h"
#include "models/picture_input.h"
#include "models/predictor_kinds.h"
#include "models/weights_hash.h"

enum { BATCH = 64, MOST_BATCH = 4096, MOST_SIDE = 4096 };

struct spot_predictor {
    spot_predictor_info about;
    spot_predictor_way  way;
    char *name;                            /* for sentences */
};

const spot_predictor_info *spot_predictor_about(const spot_predictor *p) { return &p->about; }

/* -- functions ----------------------------------------------------------------------------------------------------- */

typedef struct { spot_predict_function function; void *user; } called;

static spot_status predict_by_function(spot_ctx *c, void *state, const spot_prediction *p)
{
    const called *f = state;

    return f->function(c, f->user, p);
}

static void close_function(spot_ctx *c, void *state)
{
    (void)c;
    free(state);
}

static spot_status open_function(spot_ctx *c, spot_predictor *p, const spot_predictor_options *o)
{
    called *f = malloc(sizeof *f);

    if (!f) return spot_fail(c, SPOT_NOMEM, "no memory for a predictor");
    *f = (called){ o->function, o->user };
    p->way = (spot_predictor_way){ predict_by_function, close_function, f };
    if (!o->function || o->outputs < 1 || o->outputs > SPOT_MAX_PREDICTOR_OUTPUTS || o->dim < 0 || o->channels < 0
        || o->dim > SPOT_MOST_PREDICTED || o->channels > SPOT_MOST_PREDICTED)
        return spot_fail(c, SPOT_INVALID, "{predictor.sizes} a function with %d outputs, embeddings of %d and %d channels",
                         o->outputs, o->dim, o->channels);
    p->about.outputs = o->outputs;
    p->about.dim = o->dim;
    p->about.channels = o->channels;
    return SPOT_OK;
}

/* -- identity ------------------------------------------------------------------------------------------------------ */

/* A text that no other predictor has. */
static int write_unique(char *text, size_t size)
{
    static atomic_uint count;
    char host[64] = "";
    struct timespec now;

    gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    return snprintf(text, size, "%s %ld %lld.%09ld %u", host, (long)getpid(), (long long)now.tv_sec, now.tv_nsec,
                    atomic_fetch_add(&count, 1));
}

static spot_status identify(spot_ctx *c, spot_predictor *p, const spot_predictor_options *o)
{
    static const char *const kind[] = { "resnet", "command", "function" };
    const char *what = o->identity && o->identity[0] ? o->identity : o->kind == SPOT_PREDICTOR_COMMAND ? o->command : NULL;
    char unique[160];
    spot_key key;

    if (o->kind == SPOT_PREDICTOR_WEIGHTS) {
        SPOT_TRY(spot_weights_hash(c, &key, o->weights));
    } else {
        if (!what) write_unique(unique, sizeof unique);
        key = spot_key_join(spot_key_of("", 0), kind[o->kind], what ? what : unique, strlen(what ? what : unique));
    }
    key = spot_picture_input_join(key, &o->input, o->kind != SPOT_PREDICTOR_WEIGHTS);
    snprintf(p->about.identity, sizeof p->about.identity, "%s-%016" PRIx64, kind[o->kind], key.hi);
    return SPOT_OK;
}

/* -- opening ------------------------------------------------------------------------------------------------------- */

static spot_status name_predictor(spot_ctx *c, spot_predictor *p, const spot_predictor_options *o)
{
    const char *const words[] = { o->weights, o->command, o->identity }, *what = words[o->kind];

    if (!what || !what[0]) what = "the function";
    p->name = strdup(what);
    return p->name ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a predictor");
}

/* A model that Spotter does not run itself is a program, whether a caller takes it for weights or for a command. */
static spot_status open_program(spot_ctx *c, spot_predictor *p, const spot_predictor_options *o)
{
    spot_predictor_options run = *o;
    char *line = NULL;
    spot_status s = SPOT_OK;

    if (o->command && spot_is_foreign(o->command)) s = spot_foreign_line(c, &line, o->command, &o->input);
    else s = spot_picture_input_refuse(c, &o->input, p->name);
    if (line) run.command = line;
    if (s == SPOT_OK) s = spot_predictor_program(c, &p->way, &p->about, &run);
    free(line);
    return s;
}

static spot_status open_kind(spot_ctx *c, spot_predictor *p, const spot_predictor_options *o)
{
    if (o->kind < SPOT_PREDICTOR_WEIGHTS || o->kind > SPOT_PREDICTOR_FUNCTION)
        return spot_fail(c, SPOT_INVALID, "{predictor.kind} %d is no kind of predictor", o->kind);
    if (o->side < 1 || o->side > MOST_SIDE || o->batch < 0 || o->batch > MOST_BATCH)
        return spot_fail(c, SPOT_USAGE, "{predictor.batch} a predictor of %d pictures of %d pixels a side at a time; 1 to %d "
                         "and 1 to %d are possible", o->batch, o->side, MOST_BATCH, MOST_SIDE);
    SPOT_TRY(name_predictor(c, p, o));
    p->about.batch = o->batch ? o->batch : BATCH;
    if (o->kind == SPOT_PREDICTOR_FUNCTION) SPOT_TRY(spot_picture_input_refuse(c, &o->input, p->name));
    if (o->kind == SPOT_PREDICTOR_FUNCTION) SPOT_TRY(open_function(c, p, o));
    if (o->kind == SPOT_PREDICTOR_COMMAND) SPOT_TRY(open_program(c, p, o));
    if (o->kind == SPOT_PREDICTOR_WEIGHTS)
        SPOT_TRY((spot_predictor_is_vit(o->weights) ? spot_predictor_vit : spot_predictor_weights)(c, &p->way, &p->about, o));
    p->about.kind = o->kind;
    p->about.side = o->side;
    return identify(c, p, o);
}

static spot_status open_predictor(spot_ctx *c, spot_predictor *p, const spot_predictor_options *o)
{
    spot_predictor_options program = *o;

    if (o->kind != SPOT_PREDICTOR_WEIGHTS || !o->weights || !spot_is_foreign(o->weights)) return open_kind(c, p, o);
    program.kind = SPOT_PREDICTOR_COMMAND, program.command = o->weights, program.weights = NULL;
    return open_kind(c, p, &program);
}

spot_status spot_predictor_open(spot_ctx *c, spot_predictor **out, const spot_predictor_options *o)
{
    spot_predictor *p = calloc(1, sizeof *p);
    spot_status s;

    *out = NULL;
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for a predictor");
    s = open_predictor(c, p, o);
    if (s) spot_predictor_close(c, p);
    else *out = p;
    return s;
}

void spot_predictor_close(spot_ctx *c, spot_predictor *p)
{
    if (!p) return;
    if (p->way.close) p->way.close(c, p->way.state);
    free(p->name);
    free(p);
}

/* -- predictions --------------------------------------------------------------------------------------------------- */

/* first: the number of row 0 in the call. */
static spot_status check_finite(spot_ctx *c, const spot_predictor *p, const char *what, const float *v, int n, int columns,
                                int first)
{
    if (!v || spot_all_finite(v, (size_t)n * (size_t)columns)) return SPOT_OK;
    for (int i = 0; i < n; i++)
        if (!spot_all_finite(v + (size_t)i * (size_t)columns, (size_t)columns))
            return spot_fail(c, SPOT_INPUT, "{predictor.value} %.300s: the %s of picture %d (from 0) hold a number that is not "
                             "finite", p->name, what, first + i);
    return SPOT_OK;
}

static spot_status check_question(spot_ctx *c, const spot_predictor *p, const spot_prediction *q)
{
    if (q->n < 0 || q->side != p->about.side || !q->logit)
        return spot_fail(c, SPOT_INVALID, "{predictor.picture_size} %d pictures of %d pixels a side for a predictor of %d",
                         q->n, q->side, p->about.side);
    if ((q->embedding && !p->about.dim) || (q->channel && !p->about.channels))
        return spot_fail(c, SPOT_INVALID, "{predictor.no_output} %.300s has no %s", p->name,
                         q->channel ? "channels" : "embeddings");
    return SPOT_OK;
}

spot_status spot_predict(spot_ctx *c, spot_predictor *p, const spot_prediction *q)
{
    const spot_predictor_info *a = &p->about;
    const size_t each = 3 * (size_t)q->side * (size_t)q->side;

    SPOT_TRY(check_question(c, p, q));
    for (int first = 0, n; first < q->n; first += n) {
        const size_t row = (size_t)first;
        spot_prediction part = *q;
        part.n = n = q->n - first < a->batch ? q->n - first : a->batch;
        part.rgb += row * each;
        part.logit += row * (size_t)a->outputs;
        if (part.embedding) part.embedding += row * (size_t)a->dim;
        if (part.channel) part.channel += row * (size_t)a->channels;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(p->way.predict(c, p->way.state, &part));
        SPOT_TRY(check_finite(c, p, "logits", part.logit, n, a->outputs, first));
        SPOT_TRY(check_finite(c, p, "embeddings", part.embedding, n, a->dim, first));
        SPOT_TRY(check_finite(c, p, "channels", part.channel, n, a->channels, first));
    }
    return SPOT_OK;
}
