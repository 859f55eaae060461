/* scvis_net.c - the forward and backward pass of a batch. Rows are cut in tiles of 64, a constant, and sums over tiles follow
 * their order, so the bits do not depend on the threads. */
#include "map/scvis_net.h"

#include "core/gemm.h"
#include "map/scvis_step.h"

enum { TILE = SPOT_SCVIS_TILE, LANES = 16, ABREAST = SPOT_SCVIS_ABREAST, COLS = SPOT_GEMM_COLS,
       WIDEST = 128 };          /* WIDEST: of the hidden layers */

static const float zero[WIDEST];

#define FAR_AWAY 1e9f          /* padding among the z: its kernel, 1e-18, vanishes beside any sum */

static int tiles(int n) { return (n + TILE - 1) / TILE; }

static spot_status take_layers(spot_ctx *c, spot_arena *a, spot_scvis_net *net)
{
    net->freedom = spot_scvis_plan(net->layer, net->d, net->dim);
    net->params = net->freedom + net->d;
    net->pieces = 1;
    for (int l = 0; l < SPOT_SCVIS_LAYERS; l++) {
        spot_scvis_layer *y = &net->layer[l];
        net->pieces += tiles(y->in);
        SPOT_TRY(SPOT_TAKE(c, a, y->act, (size_t)net->batch * y->out));
        SPOT_TRY(SPOT_TAKE(c, a, y->delta, (size_t)net->batch * y->out));
        SPOT_TRY(SPOT_TAKE(c, a, y->ahead, spot_gemm_room(y->in, y->out)));
        SPOT_TRY(SPOT_TAKE(c, a, y->back, spot_gemm_room(y->out, y->in)));
    }
    return SPOT_OK;
}

static void cut_pieces(spot_scvis_net *net)
{
    int q = 0;

    for (int l = 0; l < SPOT_SCVIS_LAYERS; l++)
        for (int r = 0; r < net->layer[l].in; r += TILE) {
            int rows = net->layer[l].in - r < TILE ? net->layer[l].in - r : TILE;
            net->piece[q++] = (spot_scvis_piece){ .layer = l, .row = r, .rows = rows };
        }
    net->piece[q] = (spot_scvis_piece){ .layer = -1 };
}

spot_status spot_scvis_net_take(spot_ctx *c, spot_arena *a, spot_scvis_net *net, int d, int dim, int batch,
                                const spot_scvis_config *cfg)
{
    size_t stride = (size_t)(batch + LANES - 1) / LANES * LANES, rows = batch;
    double entropy = cfg->compat.perplexity_log2 ? log2(cfg->perplexity) : log(cfg->perplexity);

    *net = (spot_scvis_net){ .d = d, .dim = dim, .batch = batch, .stride = (int)stride, .cfg = cfg, .threads = c->threads,
                             .rule = { entropy, 1e-4, 51 } };
    SPOT_TRY(take_layers(c, a, net));
    SPOT_TRY(SPOT_TAKE(c, a, net->theta, net->params));
    SPOT_TRY(SPOT_TAKE(c, a, net->grad, net->params));
    SPOT_TRY(SPOT_TAKE(c, a, net->keep, 32 * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->dropped, 32 * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->row, rows));
    SPOT_TRY(SPOT_TAKE(c, a, net->x, rows * d));
    SPOT_TRY(SPOT_TAKE(c, a, net->noise, rows * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->z, rows * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->dz, rows * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->places, stride * dim));
    SPOT_TRY(SPOT_TAKE(c, a, net->near, rows * stride));
    SPOT_TRY(SPOT_TAKE(c, a, net->p, rows * stride));
    SPOT_TRY(SPOT_TAKE(c, a, net->both, rows * stride));
    SPOT_TRY(SPOT_TAKE(c, a, net->shares, stride));
    SPOT_TRY(SPOT_TAKE(c, a, net->weight, rows));
    SPOT_TRY(SPOT_TAKE(c, a, net->freedom_part, (size_t)tiles(batch) * d));
    SPOT_TRY(SPOT_TAKE(c, a, net->nu, d));
    SPOT_TRY(SPOT_TAKE(c, a, net->log_norm, d));
    SPOT_TRY(SPOT_TAKE(c, a, net->nu_slope, d));
    SPOT_TRY(SPOT_TAKE(c, a, net->loss_part, 3 * (size_t)tiles(batch)));
    SPOT_TRY(SPOT_TAKE(c, a, net->piece, net->pieces));
    if (!a->counting) cut_pieces(net);
    return SPOT_OK;
}

void spot_scvis_refresh(spot_scvis_net *net, const spot_scvis_piece *q)
{
    if (q->layer < 0) {
        spot_scvis_refresh_freedom(net);
        return;
    }
    const spot_scvis_layer *y = &net->layer[q->layer];
    const float *w = net->theta + y->weight;
    for (int i = q->row; i < q->row + q->rows; i++)
        for (int o = 0; o < y->out; o += COLS) {
            int width = y->out - o < COLS ? y->out - o : COLS;
            float *to = y->ahead + spot_gemm_at(y->in, i, o);
            memcpy(to, w + (size_t)i * y->out + o, (size_t)width * sizeof *to);
            memset(to + width, 0, (size_t)(COLS - width) * sizeof *to);
        }
    for (int i0 = q->row; i0 < q->row + q->rows && y->from != -1; i0 += COLS)      /* nobody asks for the slopes of x */
        for (int o = 0; o < y->out; o++) {
            float *to = y->back + spot_gemm_at(y->out, o, i0);
            for (int i = 0; i < COLS; i++) to[i] = i0 + i < y->in ? w[(size_t)(i0 + i) * y->out + o] : 0;
        }
}

static const float *input_of(const spot_scvis_net *net, int l)
{
    int from = net->layer[l].from;

    return from == -1 ? net->x : from == -2 ? net->z : net->layer[from].act;
}

/* The ELU layers' last step, at n rows. */
static void elu(float *out, int count)
{
#pragma omp simd
    for (int e = 0; e < count; e++) out[e] = out[e] > 0 ? out[e] : spot_expf(out[e]) - 1.0f;
}

/* Layer l of rows r .. r+n; heads stay linear. */
static void forward(spot_scvis_net *net, int l, int r, int n)
{
    const spot_scvis_layer *y = &net->layer[l];
    float *out = y->act + (size_t)r * y->out;

    spot_gemm_panels((spot_gemm_sum){ out, y->out, net->theta + y->bias, 0 },
                     (spot_gemm_factor){ input_of(net, l) + (size_t)r * y->in, y->in, 1 }, y->ahead, n, y->out, y->in);
    if (l != SIGMA && l != MEAN && l != VARIANCE) elu(out, n * y->out);
}

/* The head of mu, whose weights dropout changes. */
static void forward_mu(spot_scvis_net *net, const float *w, int r, int n)
{
    const spot_scvis_layer *y = &net->layer[MU];
    float *out = y->act + (size_t)r * y->out;

    for (int i = 0; i < n; i++) memcpy(out + (size_t)i * y->out, net->theta + y->bias, y->out * sizeof *out);
    spot_gemm_add(out, y->out, (spot_gemm_factor){ input_of(net, MU) + (size_t)r * y->in, y->in, 1 },
                  (spot_gemm_factor){ w, y->out, 1 }, n, y->out, y->in);
}

/* to (rows, in) = delta of layer l times its transposed weights, rows r .. r+n, on top of `start` (rows, in), or of 0. */
static void backward(spot_scvis_net *net, int l, float *to, const float *start, int r, int n)
{
    const spot_scvis_layer *y = &net->layer[l];
    spot_gemm_sum sum = { to + (size_t)r * y->in, y->in, zero, 0 };

    if (start) sum.start = start + (size_t)r * y->in, sum.start_row = y->in;
    spot_gemm_panels(sum, (spot_gemm_factor){ y->delta + (size_t)r * y->out, y->out, 1 }, y->back, n, y->in, y->out);
}

/* The complete delta of layer l times the slope of its ELU, which is h + 1 below 0. */
static void through_elu(spot_scvis_net *net, int l, int r, int n)
{
    const spot_scvis_layer *y = &net->layer[l];
    size_t at = (size_t)r * y->out;

#pragma omp simd
    for (int e = 0; e < n * y->out; e++) y->delta[at + e] *= y->act[at + e] > 0 ? 1.0f : y->act[at + e] + 1.0f;
}

static void encode_rows(spot_scvis_net *net, const float *mu, int r, int n)
{
    for (int l = ENC1; l <= ENC3; l++) forward(net, l, r, n);
    forward_mu(net, mu, r, n);
}

/* Row i of P, from the distances within the batch. beta: the last row's. */
static void affinities(spot_scvis_net *net, int i, double *beta)
{
    float *near = net->near + (size_t)i * net->stride, *p = net->p + (size_t)i * net->stride;
    const float *far = net->far + net->row[i] * net->far_stride;

    for (int j = 0; j < net->rows; j++) near[j] = far[net->row[j]];
    for (size_t j = 0; i + 1 < net->rows && j < net->far_stride; j += LANES)       /* for the next row */
        __builtin_prefetch(net->far + net->row[i + 1] * net->far_stride + j);
    near[i] = SPOT_FAR;
    spot_affinity_row(p, near, net->rows, &net->rule, beta);
}

static void phase_encode(spot_scvis_net *net, int r, int n)
{
    int dim = net->dim;
    double beta = 1;

    for (int i = r; i < r + n; i++) affinities(net, i, &beta);
    encode_rows(net, net->dropped, r, n);
    forward(net, SIGMA, r, n);
    for (int i = r; i < r + n; i++)
        for (int k = 0; k < dim; k++) {
            int e = i * dim + k;
            float slope, s2 = spot_scvis_variance(net->layer[SIGMA].act[e], &slope);
            net->z[e] = fmaf(sqrtf(s2), net->noise[e], net->layer[MU].act[e]);
            net->places[(size_t)k * net->stride + i] = net->z[e];
        }
}

static void encoder_back(spot_scvis_net *net, int r, int n)
{
    spot_scvis_layer *mu = &net->layer[MU];
    float turned[mu->out * mu->in];

    for (int o = 0; o < mu->out; o++)
        for (int i = 0; i < mu->in; i++) turned[o * mu->in + i] = net->dropped[i * mu->out + o];
    memset(net->layer[ENC3].delta + (size_t)r * 32, 0, (size_t)n * 32 * sizeof(float));
    spot_gemm_add(net->layer[ENC3].delta + (size_t)r * 32, 32,
                  (spot_gemm_factor){ mu->delta + (size_t)r * mu->out, mu->out, 1 },
                  (spot_gemm_factor){ turned, 32, 1 }, n, 32, mu->out);
    backward(net, SIGMA, net->layer[ENC3].delta, net->layer[ENC3].delta, r, n);
    through_elu(net, ENC3, r, n);
    for (int l = ENC3; l > ENC1; l--) {
        backward(net, l, net->layer[l - 1].delta, NULL, r, n);
        through_elu(net, l - 1, r, n);
    }
}

static void phase_decode(spot_scvis_net *net, int r, int n)
{
    double *loss = net->loss_part + 3 * (r / TILE);
    float *freedom = net->freedom_part + (size_t)(r / TILE) * net->d;
    float scale = (float)(spot_scvis_tsne_factor(net->cfg, net->step, net->d) / net->rows);

    loss[2] = spot_scvis_forces(net, r, n, scale);
    for (int l = DEC1; l <= VARIANCE; l++) forward(net, l, r, n);
    memset(freedom, 0, net->d * sizeof *freedom);
    loss[0] = 0;
    for (int i = 0; i < n; i += ABREAST)
        spot_scvis_likelihood(net, r + i, n - i < ABREAST ? n - i : ABREAST, &loss[0], freedom);
    backward(net, MEAN, net->layer[DEC5].delta, NULL, r, n);
    backward(net, VARIANCE, net->layer[DEC5].delta, net->layer[DEC5].delta, r, n);
    through_elu(net, DEC5, r, n);
    for (int l = DEC5; l > DEC1; l--) {
        backward(net, l, net->layer[l - 1].delta, NULL, r, n);
        through_elu(net, l - 1, r, n);
    }
    backward(net, DEC1, net->dz, net->dz, r, n);
    loss[1] = spot_scvis_through_sample(net, r, n, (float)(spot_scvis_kl_factor(net->cfg, net->step, net->d) / net->rows));
    encoder_back(net, r, n);
}

static void freedom_gradient(spot_scvis_net *net, spot_scvis_piece *q)
{
    float *g = net->grad + net->freedom;

    for (int j = 0; j < net->d; j++) {
        float raw = net->theta[net->freedom + j];
        g[j] = 0;
        for (int t = 0; t < tiles(net->rows); t++) g[j] += net->freedom_part[(size_t)t * net->d + j];
        if (raw != net->nu[j]) g[j] = 0;
        q->squares += (double)g[j] * g[j];
    }
}

/* Gradient of a piece: input' delta, on top of the slope of the L2 term. */
static void phase_weigh(spot_scvis_net *net, spot_scvis_piece *q)
{
    const spot_scvis_layer *y = &net->layer[q->layer < 0 ? 0 : q->layer];
    size_t at = y->weight + (size_t)q->row * y->out, count = (size_t)q->rows * y->out;
    float *g = net->grad + at, *bias = net->grad + y->bias, l2 = (float)net->cfg->l2;

    q->squares = q->weights = 0;
    if (q->layer < 0) {
        freedom_gradient(net, q);
        return;
    }
    memset(g, 0, count * sizeof *g);
    spot_gemm_add(g, y->out, (spot_gemm_factor){ input_of(net, q->layer) + q->row, 1, y->in },
                  (spot_gemm_factor){ y->delta, y->out, 1 },
                  q->rows, y->out, net->rows);
    for (size_t e = 0; e < count; e++) {
        float w = net->theta[at + e];
        if (q->layer == MU) g[e] *= net->keep[q->row * y->out + e];
        g[e] = fmaf(l2, w, g[e]);
        q->weights += (double)w * w;
        q->squares += (double)g[e] * g[e];
    }
    if (q->row) return;
    memset(bias, 0, y->out * sizeof *bias);
    for (int i = 0; i < net->rows; i++)
        for (int o = 0; o < y->out; o++) bias[o] += y->delta[(size_t)i * y->out + o];
    for (int o = 0; o < y->out; o++) q->squares += (double)bias[o] * bias[o];
}

double spot_scvis_step(spot_scvis_net *net)
{
    double loss[3] = { 0 }, weights = 0;
    const float *mu = net->theta + net->layer[MU].weight;
    int rows = net->rows, threads = net->threads;

    for (int e = 0; e < 32 * net->dim; e++) net->dropped[e] = mu[e] * net->keep[e];
    for (int j = rows; j < net->stride; j++) {
        net->shares[j] = 0;
        for (int k = 0; k < net->dim; k++) net->places[(size_t)k * net->stride + j] = FAR_AWAY;
    }
#define SPOT_PHASE(work)                                                 \
    _Pragma("omp parallel for num_threads(threads) schedule(dynamic)")   \
    for (int r = 0; r < rows; r += TILE) work(net, r, rows - r < TILE ? rows - r : TILE);
    SPOT_PHASE(phase_encode)
    SPOT_PHASE(spot_scvis_pair)
    SPOT_PHASE(phase_decode)
#undef SPOT_PHASE
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int q = 0; q < net->pieces; q++) phase_weigh(net, &net->piece[q]);

    for (int t = 0; t < tiles(rows); t++)
        for (int k = 0; k < 3; k++) loss[k] += net->loss_part[3 * t + k];
    for (int q = 0; q < net->pieces; q++) weights += net->piece[q].weights;
    return (spot_scvis_tsne_factor(net->cfg, net->step, net->d) * loss[2] - loss[0]
            + spot_scvis_kl_factor(net->cfg, net->step, net->d) * loss[1]) / rows + 0.5 * net->cfg->l2 * weights;
}

void spot_scvis_encode(spot_scvis_net *net, float *out)
{
    const float *mu = net->theta + net->layer[MU].weight;

#pragma omp parallel for num_threads(net->threads) schedule(dynamic)
    for (int r = 0; r < net->rows; r += TILE) encode_rows(net, mu, r, net->rows - r < TILE ? net->rows - r : TILE);
    memcpy(out, net->layer[MU].act, (size_t)net->rows * net->dim * sizeof *out);
}
