/* bench_lstm.c - an update of the examiner's policies (paper 002): draw, gradient, Adam. Peer: bench/peers/lstm_torch.py. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/device.h"
#include "net/optim.h"
#include "op_lstm.h"

enum { THETA, REWARD, UNIFORM, IDS };

static double noise(int number, int id, size_t i) { return spot_noise(IDS * number + id, i, SPOT_FP32); }

static int chunks_of(const spot_lstm_layout *at) { return at->lanes / SPOT_LSTM_LANES; }

/* Weights of size 1 / sqrt(hidden); zeros behind the bias, as every policy has. */
static float *make_theta(const spot_lstm_layout *at, const spot_lstm_shape *s, int policies, int number)
{
    float *theta = malloc((size_t)policies * at->count * sizeof *theta);

    for (size_t i = 0; theta && i < (size_t)policies * at->count; i++) {
        const int k = (int)(i % (size_t)at->pitch), row = i % at->count < at->input ? s->hidden - 1 : s->hidden;
        theta[i] = k > row ? 0 : (float)(noise(number, THETA, i) / sqrt(s->hidden));
    }
    return theta;
}

static void make_lstm(spot_op_run *r, void *problem, const int *size)
{
    spot_op_policy *p = problem;
    const spot_lstm_shape s = { size[0], size[1], size[2], size[3] };
    const spot_lstm_layout at = spot_lstm_layout_of(&s);
    const size_t policies = (size_t)size[5], count = policies * at.count, lanes = policies * (size_t)at.lanes;
    const size_t draws = lanes * (size_t)s.factors;
    float *uniform = malloc(draws * sizeof *uniform), *reward = malloc(lanes * sizeof *reward);
    float *zeros = calloc(count, sizeof *zeros), *theta = make_theta(&at, &s, size[5], r->number);

    for (size_t i = 0; uniform && i < draws; i++)
        uniform[i] = (float)(floor(fmod(fabs(noise(r->number, UNIFORM, i)) * 97, 1) * 0x1p24) * 0x1p-24);
    for (size_t i = 0; reward && i < lanes; i++) {
        const bool live = (int)(i % (size_t)at.lanes) < size[4];
        reward[i] = live ? (float)noise(r->number, REWARD, i) : NAN;       /* NaN: is not read */
    }
    *p = (spot_op_policy){ .b = { .shape = s, .policies = size[5], .live = size[4], .entropy = size[6] / 100.0 },
                           .rounds = size[7] };
    p->theta = spot_op_both(r, "theta", theta, SPOT_OP_FLOAT, theta ? count : 0, 1e-5);
    p->m = spot_op_input(r, zeros, count * sizeof *zeros), p->v = spot_op_input(r, zeros, count * sizeof *zeros);
    p->b.theta = p->theta;
    p->b.uniform = spot_op_given(r, uniform, draws * sizeof *uniform);
    p->b.reward = spot_op_given(r, reward, lanes * sizeof *reward);
    p->b.choice = spot_op_out(r, "choice", SPOT_OP_INT, draws, 0);
    p->b.log_p = spot_op_out(r, "log P", SPOT_OP_FLOAT, lanes, 1e-5);
    p->b.trail = spot_op_room(r, policies * at.trail * sizeof(float));
    p->b.slope = spot_op_out(r, "slope", SPOT_OP_FLOAT, count, 1e-5);
    free(theta), free(zeros);
}

static spot_status run_lstm(spot_op_run *r, void *problems, int count)
{
    spot_op_policy *p = problems;

    for (int q = 0; q < count; q++, p++) {
        const spot_lstm_layout at = spot_lstm_layout_of(&p->b.shape);
        for (int t = 1; t <= p->rounds; t++) {
            const spot_optim_rule adam = { .kind = SPOT_OPTIM_ADAM, .lr = 1e-3, .beta1 = .9, .beta2 = .999, .epsilon = 1e-8,
                                           .t = t };
            SPOT_OP(r, spot_lstm_draw(r->c, &p->b));
            SPOT_OP(r, spot_lstm_learn(r->c, &p->b));
            if (!r->misplaced)
                SPOT_TRY(spot_optim_step(r->c, p->theta, p->b.slope, p->m, p->v, (size_t)p->b.policies * at.count, &adam));
        }
    }
    return SPOT_OK;
}

/* -- the definition, in double: one draw of a policy ------------------------------------------------------------------- */

typedef struct { const spot_lstm_shape *s; spot_lstm_layout at; const float *theta; double *h, *c, *z; } plain;

static double row_times(const plain *p, size_t row, const double *in)
{
    const float *w = p->theta + row;
    double sum = w[p->s->hidden];

    for (int k = 0; k < p->s->hidden; k++) sum += w[k] * in[k];
    return sum;
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* h and c after the value v of the factor before f. x: (hidden) room */
static void step_plain(plain *p, int f, int v, double *x, double *gate)
{
    const int hidden = p->s->hidden;
    const size_t pitch = (size_t)p->at.pitch, values = (size_t)p->s->values;
    const size_t row = p->at.embedding + ((size_t)(f - 1) * values + (size_t)v) * pitch;

    for (int k = 0; k < hidden; k++) x[k] = p->theta[row + (size_t)k];
    for (int g = 0; g < 4 * hidden; g++)
        gate[g] = row_times(p, p->at.input + (size_t)g * pitch, x) + row_times(p, p->at.recurrent + (size_t)g * pitch, p->h);
    for (int k = 0; k < hidden; k++) {
        p->c[k] = sigmoid(gate[hidden + k]) * p->c[k] + sigmoid(gate[k]) * tanh(gate[2 * hidden + k]);
        p->h[k] = sigmoid(gate[3 * hidden + k]) * tanh(p->c[k]);
    }
}

/* log P of the value that the op drew; *below, *above: the cumulated probability before and with it. */
static double judge_plain(plain *p, int f, int v, double *below, double *above)
{
    const int values = p->s->values;
    double sum = 0;

    *below = 0;
    for (int k = 0; k < values; k++) {
        p->z[k] = row_times(p, p->at.head + ((size_t)f * (size_t)values + (size_t)k) * (size_t)p->at.pitch, p->h);
        sum += exp(p->z[k]);
    }
    for (int k = 0; k < v; k++) *below += exp(p->z[k]) / sum;
    *above = *below + exp(p->z[v]) / sum;
    return p->z[v] - log(sum);
}

/* The last live draw of the last policy: every choice is where its uniform number falls, and log P is the sum's. */
static spot_status check_draw(spot_op_run *r, const spot_op_policy *o, plain *p, const int *choice, const float *uniform,
                              float log_p)
{
    const int hidden = p->s->hidden, lanes = p->at.lanes;
    double *x = p->z + p->s->values, *gate = x + hidden, sum = 0;

    for (int f = 0; f < p->s->factors; f++) {
        const size_t i = (size_t)f * (size_t)lanes + (size_t)o->b.live - 1;
        double below, above;
        if (f) step_plain(p, f, choice[i - (size_t)lanes], x, gate);
        if (choice[i] < 0 || choice[i] >= p->s->values)
            return spot_fail(r->c, SPOT_CHECK, "factor %d has value %d", f, choice[i]);
        sum += judge_plain(p, f, choice[i], &below, &above);
        if (!(uniform[i] >= below - 1e-5 && uniform[i] <= above + 1e-5))
            return spot_fail(r->c, SPOT_CHECK, "factor %d: %g chose value %d, which lies from %g to %g", f, uniform[i],
                             choice[i], below, above);
    }
    return spot_bench_near(r->c, "log P", (size_t)o->b.live - 1, log_p, sum, 1e-5 * p->s->factors);
}

static spot_status check_lstm(spot_op_run *r, void *problem)
{
    const spot_op_policy *o = problem;
    const spot_lstm_shape *s = &o->b.shape;
    plain p = { .s = s, .at = spot_lstm_layout_of(s) };
    const size_t draws = (size_t)s->factors * (size_t)p.at.lanes, last = (size_t)o->b.policies - 1, hidden = (size_t)s->hidden;
    float *theta, log_p, *uniform = malloc(draws * sizeof *uniform);
    int *choice = malloc(draws * sizeof *choice);
    double *room = calloc(7 * hidden + (size_t)s->values, sizeof *room);
    spot_status status = SPOT_OK;

    if (o->rounds > 1) return free(uniform), free(choice), free(room), SPOT_OK;
    p.theta = theta = make_theta(&p.at, s, o->b.policies, r->number);
    if (!theta || !uniform || !choice || !room) status = spot_fail(r->c, SPOT_NOMEM, "no memory to check a policy");
    if (!status) status = spot_op_fetch(r, choice, o->b.choice + last * draws, draws * sizeof *choice);
    if (!status) status = spot_op_fetch(r, uniform, o->b.uniform + last * draws, draws * sizeof *uniform);
    if (!status)
        status = spot_op_fetch(r, &log_p, o->b.log_p + last * (size_t)p.at.lanes + (size_t)o->b.live - 1, sizeof log_p);
    if (!status) {
        p.theta += last * p.at.count;
        p.h = room, p.c = room + hidden, p.z = room + 2 * hidden;
        status = check_draw(r, o, &p, choice, uniform, log_p);
    }
    free(theta), free(uniform), free(choice), free(room);
    return status;
}

const spot_op spot_op_lstm = { "lstm", sizeof(spot_op_policy), make_lstm, run_lstm, check_lstm, false };

/* Flops of the products: forward, and twice as many back. Bytes: parameters with the state of Adam, and the trail. */
static spot_status open_lstm(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    const spot_lstm_shape s = { size[0], size[1], size[2], size[3] };
    const spot_lstm_layout at = spot_lstm_layout_of(&s);
    const double rows = (double)chunks_of(&at) * SPOT_LSTM_LANES * size[5];

    work->items = size[5];
    work->flops = 3 * 2 * rows * at.pitch * ((s.factors - 1) * 8.0 * s.hidden + (double)s.factors * s.values);
    work->bytes = sizeof(float) * (double)size[5] * (10.0 * (double)at.count + 3.0 * (double)at.trail);
    return spot_op_bench_open(c, state, &spot_op_lstm, 1, size);
}

/* The numbers of a run that is timed go on from those before it, so the check has a run of its own, the first. */
static const spot_bench_kind update = { open_lstm, spot_op_bench_check, spot_op_bench_run, spot_op_bench_close };

const spot_bench_row spot_bench_lstm[] = {
    { "lstm", "an update, 9 factors of 100 values, batch 32, one policy", "updates", SPOT_ON_ALL, &update,
      { 9, 100, 30, 32, 32, 1, 0, 1 }, { 3, 10, 6, 8, 8, 1, 0, 1 } },
    { "lstm", "the same, 55 policies", "updates", SPOT_ON_ALL, &update, { 9, 100, 30, 32, 32, 55, 0, 1 },
      { 3, 10, 6, 8, 8, 3, 0, 1 } },
    { .op = NULL },
};
