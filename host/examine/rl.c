/* rl.c - the paper's examiner by reinforcement learning (paper 002, section 3.2): each object has a policy that draws one of
 * `values` values for a factor after another (net/lstm.h); REINFORCE with Adam makes what it drew more likely, or less, by the
 * reward.
 *
 * The values of a factor are evenly spaced over its range, both ends included, also where they are one condition (a whole
 * turn). An update has a batch of renders: the paper's T counts updates. Weights begin as PyTorch's defaults: embeddings
 * normal, the LSTM's and the heads' weights and biases uniform within +-1 / sqrt(hidden). The paper names neither baseline nor
 * entropy; both are 0 unless a config sets them.
 *
 * Address of random numbers: (object, 0) for the weights, (object, 1 + t) for batch t, row by row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "examine/examiners.h"
#include "net/lstm.h"
#include "net/optim.h"
#include "spotter/arena.h"
#include "spotter/rng.h"

typedef struct { double loss; int row; } told;

typedef struct {
    spot_examiner_search search;
    spot_rl_config cfg;
    spot_lstm_layout at;
    spot_lstm_batch b;             /* arrays on the device */
    float *theta, *m, *v;          /* those of Adam, on the device */
    float *uniform, *reward;       /* on the host, of one problem after another, as in b */
    int   *choice;
    told  *order;                  /* (batch) */
    double *baseline;              /* (problems): average of the rewards */
    int    updates;
    spot_arena host, device;
} rl_state;

static spot_lstm_shape shape_of(const spot_rl_config *cfg, const spot_examiner_search *s)
{
    return (spot_lstm_shape){ s->space->dims, cfg->values, cfg->hidden, cfg->batch };
}

static size_t rows_of(const rl_state *r) { return (size_t)r->search.problems * (size_t)r->at.lanes; }
static size_t draws_of(const rl_state *r) { return rows_of(r) * (size_t)r->b.shape.factors; }
static size_t weights_of(const rl_state *r) { return (size_t)r->search.problems * r->at.count; }

static spot_status take_device(spot_ctx *c, rl_state *r, spot_arena *a)
{
    SPOT_TRY(SPOT_TAKE(c, a, r->theta, weights_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->m, weights_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->v, weights_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->b.slope, weights_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->b.trail, (size_t)r->search.problems * r->at.trail));
    SPOT_TRY(SPOT_TAKE(c, a, r->b.uniform, draws_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->b.choice, draws_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->b.log_p, rows_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->b.reward, rows_of(r)));
    r->b.theta = r->theta;
    return SPOT_OK;
}

static spot_status take_host(spot_ctx *c, rl_state *r, spot_arena *a)
{
    SPOT_TRY(SPOT_TAKE(c, a, r->uniform, draws_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->choice, draws_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->reward, rows_of(r)));
    SPOT_TRY(SPOT_TAKE(c, a, r->baseline, r->search.problems));
    return SPOT_TAKE(c, a, r->order, r->cfg.batch);
}

/* A state without its arrays, and what they need. */
static spot_status describe(rl_state *r, spot_bytes *needs, const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    spot_arena host = spot_arena_counting(), device = host;
    spot_ctx c = { 0 };

    *r = (rl_state){ .search = *s, .cfg = cfg->rl };
    r->b = (spot_lstm_batch){ .shape = shape_of(&cfg->rl, s), .policies = s->problems, .live = cfg->rl.batch,
                              .entropy = cfg->rl.entropy };
    r->at = spot_lstm_layout_of(&r->b.shape);
    SPOT_TRY(take_host(&c, r, &host));
    SPOT_TRY(take_device(&c, r, &device));
    *needs = (spot_bytes){ host.peak, device.peak };
    return SPOT_OK;
}

static size_t bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    spot_bytes needs;
    rl_state r;

    if (describe(&r, &needs, cfg, s) != SPOT_OK) return 0;
    return sizeof r + needs.host + needs.device;
}

/* A row of a matrix: numbers within +-bound, its bias among them. */
static void draw_rows(float *w, size_t rows, int hidden, int pitch, double bound, spot_rng *rng)
{
    for (size_t i = 0; i < rows; i++)
        for (int k = 0; k <= hidden; k++) w[i * (size_t)pitch + (size_t)k] = (float)(bound * (2 * spot_rng_uniform(rng) - 1));
}

/* theta (count): zeros before. */
static void draw_weights(float *theta, const rl_state *r, uint32_t number)
{
    const spot_lstm_shape *s = &r->b.shape;
    const double bound = 1 / sqrt(s->hidden);
    spot_rng rng = spot_rng_at(r->search.seed, SPOT_RNG_EXAMINER, number, 0);

    for (size_t i = 0; i < r->at.input; i++)
        if ((int)(i % (size_t)r->at.pitch) < s->hidden) theta[i] = (float)spot_rng_normal(&rng);
    draw_rows(theta + r->at.input, 4 * (size_t)s->hidden, s->hidden, r->at.pitch, bound, &rng);
    draw_rows(theta + r->at.recurrent, 4 * (size_t)s->hidden, s->hidden, r->at.pitch, bound, &rng);
    draw_rows(theta + r->at.head, (size_t)s->factors * (size_t)s->values, s->hidden, r->at.pitch, bound, &rng);
}

static spot_status begin_policies(spot_ctx *c, rl_state *r)
{
    spot_arena room = spot_arena_counting();
    spot_status status;
    float *theta;

    SPOT_TRY(SPOT_TAKE(c, &room, theta, weights_of(r)));
    SPOT_TRY(spot_arena_open(c, &room, room.peak));
    status = SPOT_TAKE(c, &room, theta, weights_of(r));
    if (status == SPOT_OK) {
        memset(theta, 0, weights_of(r) * sizeof *theta);
#pragma omp parallel for num_threads(c->threads) schedule(static)
        for (int i = 0; i < r->search.problems; i++) draw_weights(theta + (size_t)i * r->at.count, r, r->search.number[i]);
        status = spot_device_copy(c, r->theta, theta, weights_of(r) * sizeof *theta);
    }
    spot_arena_close(&room);
    SPOT_TRY(status);
    SPOT_TRY(spot_device_clear(c, r->m, weights_of(r) * sizeof *r->m));
    return spot_device_clear(c, r->v, weights_of(r) * sizeof *r->v);
}

static void close(void *s)
{
    rl_state *r = s;

    spot_arena_close(&r->device);
    spot_arena_close(&r->host);
    free(r);
}

static spot_status open(spot_ctx *c, void **out, const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    rl_state *r = calloc(1, sizeof *r);
    spot_bytes needs;
    spot_status status;

    if (!r) return spot_fail(c, SPOT_NOMEM, "no memory for an examiner");
    status = describe(r, &needs, cfg, s);
    if (!status) status = spot_arena_open(c, &r->host, needs.host);
    if (!status) status = spot_arena_open_device(c, &r->device, needs.device);
    if (!status) status = take_host(c, r, &r->host);
    if (!status) status = take_device(c, r, &r->device);
    if (!status) status = begin_policies(c, r);
    if (status) close(r);
    else        *out = r;
    return status;
}

static int wants(const void *s) { return ((const rl_state *)s)->cfg.batch; }

/* Lanes without a row draw with 0. */
static void draw_numbers(rl_state *r, int n)
{
    const int factors = r->b.shape.factors, lanes = r->at.lanes;

    memset(r->uniform, 0, draws_of(r) * sizeof *r->uniform);
    for (int i = 0; i < r->search.problems; i++) {
        spot_rng rng = spot_rng_at(r->search.seed, SPOT_RNG_EXAMINER, r->search.number[i], 1 + (uint32_t)r->updates);
        float *u = r->uniform + (size_t)i * (size_t)factors * (size_t)lanes;
        for (int k = 0; k < n; k++)
            for (int f = 0; f < factors; f++) u[f * lanes + k] = (float)(spot_rng_u32(&rng) >> 8) * 0x1p-24f;
    }
}

static spot_status ask(spot_ctx *c, void *s, double *at, int n)
{
    rl_state *r = s;
    const int factors = r->b.shape.factors, lanes = r->at.lanes;

    draw_numbers(r, n);
    r->b.live = n;
    SPOT_TRY(spot_device_copy(c, (float *)r->b.uniform, r->uniform, draws_of(r) * sizeof *r->uniform));
    SPOT_TRY(spot_lstm_draw(c, &r->b));
    SPOT_TRY(spot_device_copy(c, r->choice, r->b.choice, draws_of(r) * sizeof *r->choice));
    for (int i = 0; i < r->search.problems; i++) {
        const int *choice = r->choice + (size_t)i * (size_t)factors * (size_t)lanes;
        for (int k = 0; k < n; k++)
            for (int f = 0; f < factors; f++) *at++ = (double)choice[f * lanes + k] / (r->cfg.values - 1);
    }
    return SPOT_OK;
}

static int by_loss(const void *a, const void *b)
{
    const double x = ((const told *)a)->loss, y = ((const told *)b)->loss;

    return (x > y) - (x < y);
}

/* From -1/2, the least, to 1/2; equal losses share the mean of their places. */
static void rank(float *reward, told *order, const double *loss, int n)
{
    for (int k = 0; k < n; k++) order[k] = (told){ loss[k], k };
    qsort(order, (size_t)n, sizeof *order, by_loss);
    for (int first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && order[end].loss == order[first].loss;) end++;
        for (int k = first; k < end; k++) reward[order[k].row] = n > 1 ? (float)(.5 * (first + end - 1) / (n - 1) - .5) : 0;
    }
}

/* A loss is at most 1 in size; one of a caller's own that is not may not reach what fp32 cannot square. */
static float within(double loss) { return (float)fmin(fmax(loss, -1e15), 1e15); }

/* The baseline is that of the batches before, so that it leaves the expected slope as it is; at first that of the batch. */
static void reward_rows(rl_state *r, float *reward, double *baseline, const double *loss, int n)
{
    double mean = 0, was;

    if (r->cfg.reward == SPOT_REWARD_RANK) rank(reward, r->order, loss, n);
    else for (int k = 0; k < n; k++) reward[k] = within(loss[k]);
    if (r->cfg.baseline == 0) return;
    for (int k = 0; k < n; k++) mean += (double)reward[k] / n;
    was = r->updates ? *baseline : mean;
    for (int k = 0; k < n; k++) reward[k] -= (float)was;
    *baseline = r->cfg.baseline * was + (1 - r->cfg.baseline) * mean;
}

static spot_status tell(spot_ctx *c, void *s, const double *at, const double *loss, int n)
{
    rl_state *r = s;
    const spot_optim_rule adam = { .kind = SPOT_OPTIM_ADAM, .lr = r->cfg.lr, .beta1 = .9, .beta2 = .999, .epsilon = 1e-8,
                                   .t = r->updates + 1 };
    (void)at;

    memset(r->reward, 0, rows_of(r) * sizeof *r->reward);
    for (int i = 0; i < r->search.problems; i++)
        reward_rows(r, r->reward + (size_t)i * (size_t)r->at.lanes, r->baseline + i, loss + (size_t)i * (size_t)n, n);
    SPOT_TRY(spot_device_copy(c, (float *)r->b.reward, r->reward, rows_of(r) * sizeof *r->reward));
    SPOT_TRY(spot_lstm_learn(c, &r->b));
    SPOT_TRY(spot_optim_step(c, r->theta, r->b.slope, r->m, r->v, weights_of(r), &adam));
    r->updates++;
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_EXAMINER_ROW
    S("values",   INT,  rl.values,   "values of a factor, evenly spaced over its range", SPOT_IN(2, 4096), SPOT_DEF(100)),
    S("hidden",   INT,  rl.hidden,   "cells of the LSTM, and numbers of an embedding", SPOT_IN(1, 256), SPOT_DEF(30)),
    S("batch",    INT,  rl.batch,    "renders of an object in an update", SPOT_IN(1, SPOT_EXAMINER_MOST), SPOT_DEF(32)),
    S("lr",       REAL, rl.lr,       "learning rate of Adam", SPOT_IN(1e-6, 1), SPOT_DEF(1e-3)),
    S("reward",   NAME, rl.reward,   "the loss, or its rank in the batch, from -1/2 to 1/2", SPOT_ONE_OF("loss", "rank"),
      SPOT_DEF(SPOT_REWARD_LOSS)),
    S("baseline", REAL, rl.baseline, "decay of the average that is subtracted from rewards; 0: none, as in the paper",
      SPOT_IN(0, .9999), SPOT_DEF(0)),
    S("entropy",  REAL, rl.entropy,  "weight of the policy's entropy", SPOT_IN(0, 100), SPOT_DEF(0)),
#undef S
    SPOT_END
};

const spot_examiner_kind spot_examiner_rl = { .title = "reinforcement learning", .settings = settings, .bytes = bytes,
                                              .open = open, .close = close, .wants = wants, .ask = ask, .tell = tell };
