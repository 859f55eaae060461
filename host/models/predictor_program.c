/* predictor_program.c - a program as a predictor: batches and answers as .npy through pipes (spotter/predictor.h). */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/program.h"
#include "formats/formats.h"
#include "models/predictor_kinds.h"

enum { LOGITS, EMBEDDING, CHANNELS, ARRAYS, PATIENCE = 600, GRACE = 5, MAGIC = 6 };

static const char *const array_name[ARRAYS] = { "logits", "embeddings", "channels" };
static const int most_columns[ARRAYS] = { SPOT_MAX_PREDICTOR_OUTPUTS, SPOT_MOST_PREDICTED, SPOT_MOST_PREDICTED };

typedef struct {
    spot_program *program;
    char  *command;
    double patience;
    int    side, batch;
    int    columns[ARRAYS];                /* of an answer; -1: not yet known */
    float *unwanted;                       /* room for an array that the caller does not want: `room` floats */
    size_t room;
    bool   lost;                           /* a failure left it in the middle of an answer */
} asked;

/* The answer as a stream of bytes without a known end. */
typedef struct {
    spot_stream stream;
    asked  *a;
    double  until;
} answer;

/* The commonest mistake is a print() between the arrays. It is told at its first byte: there may not be ten, for which a reader
 * of headers waits. */
static spot_status take_magic(spot_ctx *c, answer *w, char *out)
{
    static const char magic[MAGIC + 1] = "\x93NUMPY";
    char begins[MAGIC + 1] = "", ahead[64];

    for (int i = 0; i < MAGIC; i++) {
        SPOT_TRY(spot_program_take(c, w->a->program, &begins[i], 1, w->until));
        if (begins[i] == magic[i]) continue;
        return spot_fail(c, SPOT_INPUT, "{predictor.answer_begin} %s begins with \"%s%s\", and not as a .npy file does. "
                         "Standard output is for the arrays alone: print to standard error", w->stream.name, spot_plain(begins),
                         spot_program_ahead(w->a->program, ahead, sizeof ahead));
    }
    memcpy(out, magic, MAGIC);
    return SPOT_OK;
}

static spot_status take(spot_ctx *c, spot_stream *s, void *out, size_t n)
{
    answer *w = (answer *)(void *)s;
    size_t done = s->at || n < MAGIC ? 0 : MAGIC;

    if (done) SPOT_TRY(take_magic(c, w, out));
    SPOT_TRY(spot_program_take(c, w->a->program, (char *)out + done, n - done, w->until));
    s->at += n;
    return SPOT_OK;
}

static spot_status check_shape(spot_ctx *c, asked *a, const spot_array *v, int k, int n)
{
    if (v->type != SPOT_F32)
        return spot_fail(c, SPOT_INPUT, "{predictor.answer_type} %s is of type %s; send a.astype(numpy.float32)", v->name,
                         spot_dtype_name(v->type));
    if (v->rank != 2)
        return spot_fail(c, SPOT_INPUT, "{predictor.answer_dimensions} %s has %d dimensions; (pictures, %s) is wanted",
                         v->name, v->rank, array_name[k]);
    if (v->dim[0] != n)
        return spot_fail(c, SPOT_INPUT, "{predictor.answer_rows} %s has %" PRId64 " rows for %d pictures", v->name, v->dim[0],
                         n);
    if (a->columns[k] < 0 && (v->dim[1] > most_columns[k] || v->dim[1] < (k == LOGITS)))
        return spot_fail(c, SPOT_INPUT, "{predictor.answer_columns} %s has %" PRId64 " columns; %d to %d are possible", v->name,
                         v->dim[1], k == LOGITS, most_columns[k]);
    if (a->columns[k] >= 0 && v->dim[1] != a->columns[k])
        return spot_fail(c, SPOT_INPUT, "{predictor.answer_columns_changed} %s has %" PRId64 " columns, and had %d in the "
                         "first answer", v->name, v->dim[1], a->columns[k]);
    return SPOT_OK;
}

static spot_status make_room(spot_ctx *c, asked *a, size_t floats)
{
    float *more;

    if (floats <= a->room) return SPOT_OK;
    more = realloc(a->unwanted, floats * sizeof *more);
    if (!more) return spot_fail(c, SPOT_NOMEM, "no memory for answers of the program \"%.300s\"", a->command);
    a->unwanted = more;
    a->room = floats;
    return SPOT_OK;
}

/* Array k of an answer about n pictures; out NULL: not wanted. */
static spot_status read_array(spot_ctx *c, asked *a, int k, int n, float *out, double until)
{
    answer w = { { .size = UINT64_MAX, .take = take }, a, until };
    spot_array v = { 0 };

    snprintf(v.name, sizeof v.name, "the array of %s from \"%.150s\"", array_name[k], a->command);
    w.stream.name = v.name;
    SPOT_TRY(spot_npy_header(c, &v, &w.stream));
    SPOT_TRY(check_shape(c, a, &v, k, n));
    a->columns[k] = (int)v.dim[1];
    if (!out) {
        SPOT_TRY(make_room(c, a, v.count));
        out = a->unwanted;
    }
    return spot_program_take(c, a->program, out, v.count * sizeof *out, until);
}

static spot_status ask(spot_ctx *c, asked *a, const spot_prediction *p)
{
    const double until = spot_clock() + a->patience;
    const int dim[4] = { p->n, a->side, a->side, 3 };
    float *out[ARRAYS] = { p->logit, p->embedding, p->channel };
    char start[SPOT_NPY_START];

    spot_npy_start(start, "|u1", dim, 4);
    spot_program_give(a->program, (spot_program_piece){ start, sizeof start },
                      (spot_program_piece){ p->rgb, (size_t)p->n * 3 * (size_t)a->side * (size_t)a->side });
    for (int k = 0; k < ARRAYS; k++) SPOT_TRY(read_array(c, a, k, p->n, out[k], until));
    return spot_program_settle(c, a->program, until);
}

static spot_status predict(spot_ctx *c, void *state, const spot_prediction *p)
{
    asked *a = state;
    spot_status s;

    if (a->lost)
        return spot_fail(c, SPOT_INPUT, "the program \"%.300s\" was left in the middle of an answer; open it again",
                         a->command);
    s = ask(c, a, p);
    a->lost = s != SPOT_OK;
    return s;
}

static void close_asked(spot_ctx *c, void *state)
{
    asked *a = state;

    spot_program_end(c, a->program, a->lost ? 0 : GRACE);
    free(a->unwanted);
    free(a->command);
    free(a);
}

/* Two pictures behind one: an answer of more arrays than three, or of one row whatever it is asked, is found here. */
static spot_status try_grey(spot_ctx *c, asked *a)
{
    const size_t each = 3 * (size_t)a->side * (size_t)a->side;
    uint8_t *rgb = malloc(2 * each);
    spot_status s = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a picture of %d pixels a side", a->side);

    if (!s) memset(rgb, 128, 2 * each);
    for (int n = 1; n <= (a->batch > 1 ? 2 : 1) && !s; n++) s = predict(c, a, &(spot_prediction){ rgb, n, a->side, 0, 0, 0 });
    free(rgb);
    return s;
}

static spot_status open_asked(spot_ctx *c, asked *a, const spot_predictor_options *o)
{
    size_t widest = 1;

    a->command = strdup(o->command);
    if (!a->command) return spot_fail(c, SPOT_NOMEM, "no memory for a command");
    SPOT_TRY(spot_program_start(c, &a->program, a->command));
    SPOT_TRY(try_grey(c, a));
    for (int k = 0; k < ARRAYS; k++) widest = (size_t)a->columns[k] > widest ? (size_t)a->columns[k] : widest;
    return make_room(c, a, (size_t)a->batch * widest);
}

spot_status spot_predictor_program(spot_ctx *c, spot_predictor_way *way, spot_predictor_info *about,
                                   const spot_predictor_options *o)
{
    asked *a = calloc(1, sizeof *a);

    if (!a) return spot_fail(c, SPOT_NOMEM, "no memory for a predictor");
    *way = (spot_predictor_way){ predict, close_asked, a };
    a->patience = o->patience > 0 ? o->patience : PATIENCE;
    a->side = o->side;
    a->batch = about->batch;
    for (int k = 0; k < ARRAYS; k++) a->columns[k] = -1;
    if (!o->command || !o->command[0]) return spot_fail(c, SPOT_USAGE, "{predictor.no_command} a predictor needs a command");
    SPOT_TRY(open_asked(c, a, o));
    *about = (spot_predictor_info){ .outputs = a->columns[LOGITS], .dim = a->columns[EMBEDDING],
                                    .channels = a->columns[CHANNELS], .batch = a->batch,
                                    .bytes = a->room * sizeof *a->unwanted };
    return SPOT_OK;
}
