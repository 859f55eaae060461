/* fuzz_predictor.c - any bytes as what a program of --predict answers: one sentence, or finite numbers of as many columns
 * as the first answer had. The first byte says which arrays are wanted; what a program has not yet been asked for is not a
 * mistake here. fuzz: -max_len=2048 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "base/program.h"
#include "base/text.h"
#include "spotter/predictor.h"

enum { SIDE = 2, PICTURES = 3 };

struct spot_program { const uint8_t *at; size_t left; bool began; };

static spot_program program;

spot_status __wrap_spot_program_start (spot_ctx *c, spot_program **p, const char *command);
void        __wrap_spot_program_give  (spot_program *p, spot_program_piece first, spot_program_piece second);
spot_status __wrap_spot_program_take  (spot_ctx *c, spot_program *p, void *out, size_t n, double until);
spot_status __wrap_spot_program_settle(spot_ctx *c, spot_program *p, double until);
const char *__wrap_spot_program_ahead (spot_program *p, char *text, size_t size);
void        __wrap_spot_program_end   (spot_ctx *c, spot_program *p, double grace);

spot_status __wrap_spot_program_start(spot_ctx *c, spot_program **p, const char *command)
{
    (void)c, (void)command;
    program.began = true;
    *p = &program;
    return SPOT_OK;
}

void __wrap_spot_program_give(spot_program *p, spot_program_piece first, spot_program_piece second)
{
    if (!p->began || !first.n || !second.n) abort();
}

spot_status __wrap_spot_program_take(spot_ctx *c, spot_program *p, void *out, size_t n, double until)
{
    (void)until;
    if (n > p->left) return spot_fail(c, SPOT_INPUT, "the program ended in the middle of an answer");
    if (n) memcpy(out, p->at, n);
    p->at += n;
    p->left -= n;
    return SPOT_OK;
}

spot_status __wrap_spot_program_settle(spot_ctx *c, spot_program *p, double until)
{
    return (void)c, (void)p, (void)until, SPOT_OK;
}

const char *__wrap_spot_program_ahead(spot_program *p, char *text, size_t size)
{
    char raw[16] = "";

    if (p->left) memcpy(raw, p->at, p->left < sizeof raw ? p->left : sizeof raw - 1);
    snprintf(text, size, "%s", spot_plain(raw));
    return text;
}

void __wrap_spot_program_end(spot_ctx *c, spot_program *p, double grace)
{
    (void)c, (void)grace;
    if (p) p->began = false;
}

static float *room_of(int columns)
{
    float *v = malloc((size_t)PICTURES * (size_t)columns * sizeof *v);

    return v ? v : (abort(), v);
}

static void check(const float *v, int columns)
{
    for (int i = 0; v && i < PICTURES * columns; i++)
        if (!isfinite(v[i])) abort();
}

static void ask(spot_ctx *c, spot_predictor *p, int wanted)
{
    static const uint8_t rgb[PICTURES * SIDE * SIDE * 3];
    const spot_predictor_info *a = spot_predictor_about(p);
    float *logit = room_of(a->outputs), *embedding = wanted & 1 && a->dim ? room_of(a->dim) : NULL,
          *channel = wanted & 2 && a->channels ? room_of(a->channels) : NULL;

    fuzz_within(a->outputs, 1, SPOT_MAX_PREDICTOR_OUTPUTS);
    fuzz_within(a->dim, 0, 1 << 20);
    fuzz_within(a->channels, 0, 1 << 20);
    if (spot_predict(c, p, &(spot_prediction){ rgb, PICTURES, SIDE, logit, embedding, channel })) fuzz_said(c);
    else check(logit, a->outputs), check(embedding, a->dim), check(channel, a->channels);
    free(logit), free(embedding), free(channel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const spot_predictor_options o = { .kind = SPOT_PREDICTOR_COMMAND, .command = "it", .side = SIDE,
                                       .batch = size && *data & 4 ? 1 : 2 };
    spot_ctx c = { .threads = 1 };
    spot_predictor *p;

    if (!size) return 0;
    program = (spot_program){ data + 1, size - 1, false };
    if (spot_predictor_open(&c, &p, &o)) fuzz_said(&c);
    else ask(&c, p, *data);
    spot_predictor_close(&c, p);
    if (program.began) abort();
    return 0;
}
