/* scvis_net.c - loss and gradient of one batch. Rows are cut in tiles of 64, a constant: what is summed over tiles is summed
 * in their order, so the bits do not depend on who computed which. */
#include "scvis_net.h"

#include "gemm.h"
#include "vmath.h"

enum { TILE = 64, LANES = 16 };

#define FAR_AWAY 1e9f          /* padding among the z: its kernel, 1e-18, vanishes beside any sum */
#define LEAST_VARIANCE 1e-6f
#define MOST_VARIANCE 1e10f
#define LEAST_FREEDOM 0.1f
#define MOST_FREEDOM 10.0f

static int tiles(int n) { return (n + TILE - 1) / TILE; }

static spot_status take_layers(spot_ctx *c, spot_arena *a, spot_scvis_net *net)
{
    const struct { int in, out, from; } plan[SPOT_SCVIS_LAYERS] = {
        [ENC1] = { net->d, 128, -1 }, [ENC2] = { 128, 64, ENC1 }, [ENC3] = { 64, 32, ENC2 },
        [MU] = { 32, net->dim, ENC3 }, [SIGMA] = { 32, net->dim, ENC3 },
        [DEC1] = { net->dim, 32, -2 }, [DEC2] = { 32, 32, DEC1 }, [DEC3] = { 32, 32, DEC2 }, [DEC4] = { 32, 64, DEC3 },
        [DEC5] = { 64, 128, DEC4 }, [MEAN] = { 128, net->d, DEC5 }, [VARIANCE] = { 128, net->d, DEC5 },
    };
    net->pieces = 1;
    for (int l = 0; l < SPOT_SCVIS_LAYERS; l++) {
        spot_scvis_layer *y = &net->layer[l];
        *y = (spot_scvis_layer){ .in = plan[l].in, .out = plan[l].out, .from = plan[l].from, .weight = net->params };
        y->bias = y->weight + (size_t)y->in * y->out;
        net->params = y->bias + y->out;
        net->pieces += tiles(y->in);
        SPOT_TRY(SPOT_TAKE(c, a, y->act, (size_t)net->batch * y->out));
        SPOT_TRY(SPOT_TAKE(c, a, y->delta, (size_t)net->batch * y->out));
        SPOT_TRY(SPOT_TAKE(c, a, y->turned, (size_t)y->in * y->out));
    }
    net->freedom = net->params;
    net->params += net->d;
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

/* log Gamma and digamma of x > 0: Stirling's series beyond 8, recurrence below. libm's lgamma writes a global. */
static double log_gamma(double x, double *digamma)
{
    double shift = 0, below = 0;

    for (; x < 8; x++) {
        shift += log(x);
        below += 1 / x;
    }
    double r = 1 / x, r2 = r * r;
    *digamma = log(x) - r / 2 - r2 * (1 / 12.0 - r2 * (1 / 120.0 - r2 * (1 / 252.0 - r2 * (1 / 240.0 - r2 / 132)))) - below;
    return (x - 0.5) * log(x) - x + 0.91893853320467274 - shift
           + r * (1 / 12.0 - r2 * (1 / 360.0 - r2 * (1 / 1260.0 - r2 * (1 / 1680.0 - r2 / 1188))));
}

static void refresh_freedom(spot_scvis_net *net)
{
    for (int j = 0; j < net->d; j++) {
        float raw = net->theta[net->freedom + j];
        float nu = raw < LEAST_FREEDOM ? LEAST_FREEDOM : raw > MOST_FREEDOM ? MOST_FREEDOM : raw;
        double high, low;
        double norm = log_gamma((nu + 1.0) / 2, &high) - log_gamma(nu / 2.0, &low) - 0.5 * log(3.14159265358979324 * nu);
        net->nu[j] = nu;
        net->log_norm[j] = (float)norm;
        net->nu_slope[j] = (float)(0.5 * (high - low - 1.0 / nu));
    }
}

void spot_scvis_refresh(spot_scvis_net *net, const spot_scvis_piece *q)
{
    if (q->layer < 0) {
        refresh_freedom(net);
        return;
    }
    const spot_scvis_layer *y = &net->layer[q->layer];
    const float *w = net->theta + y->weight;
    for (int o = 0; o < y->out; o++)
        for (int i = q->row; i < q->row + q->rows; i++) y->turned[(size_t)o * y->in + i] = w[(size_t)i * y->out + o];
}

static const float *input(const spot_scvis_net *net, int l)
{
    int from = net->layer[l].from;

    return from == -1 ? net->x : from == -2 ? net->z : net->layer[from].act;
}

/* Layer l of rows r .. r+n with the given weights; heads stay linear. */
static void forth(spot_scvis_net *net, int l, const float *w, int r, int n, int elu)
{
    const spot_scvis_layer *y = &net->layer[l];
    float *out = y->act + (size_t)r * y->out;

    for (int i = 0; i < n; i++) memcpy(out + (size_t)i * y->out, net->theta + y->bias, y->out * sizeof *out);
    spot_gemm_add(out, y->out, input(net, l) + (size_t)r * y->in, y->in, 1, w, y->out, n, y->out, y->in);
    if (elu)
#pragma omp simd
        for (int e = 0; e < n * y->out; e++) out[e] = out[e] > 0 ? out[e] : spot_expf(out[e]) - 1.0f;
}

/* to (rows, in) += delta of layer l times its weights turned, rows r .. r+n. */
static void back(spot_scvis_net *net, int l, float *to, int r, int n)
{
    const spot_scvis_layer *y = &net->layer[l];

    spot_gemm_add(to + (size_t)r * y->in, y->in, y->delta + (size_t)r * y->out, y->out, 1, y->turned, y->in, n, y->in, y->out);
}

static void clear(float *m, int cols, int r, int n) { memset(m + (size_t)r * cols, 0, (size_t)n * cols * sizeof *m); }

/* The delta of layer l is complete: through its ELU, whose slope is h + 1 left of 0. */
static void through_elu(spot_scvis_net *net, int l, int r, int n)
{
    const spot_scvis_layer *y = &net->layer[l];
    size_t at = (size_t)r * y->out;

#pragma omp simd
    for (int e = 0; e < n * y->out; e++) y->delta[at + e] *= y->act[at + e] > 0 ? 1.0f : y->act[at + e] + 1.0f;
}

static void encode(spot_scvis_net *net, const float *mu, int r, int n)
{
    for (int l = ENC1; l <= ENC3; l++) forth(net, l, net->theta + net->layer[l].weight, r, n, 1);
    forth(net, MU, mu, r, n, 0);
}

/* Row i of P, from the distances within the batch. */
static void affinities(spot_scvis_net *net, int i)
{
    float *near = net->near + (size_t)i * net->stride, *p = net->p + (size_t)i * net->stride;
    const float *far = net->far + net->row[i] * net->far_stride;

    for (int j = 0; j < net->rows; j++) near[j] = far[net->row[j]];
    near[i] = SPOT_FAR;
    spot_affinity_row(p, near, net->rows, &net->rule);
}

/* Outside its limits a clipped variance has no slope. */
static inline float clip_variance(float v, float *slope)
{
    float up = v < LEAST_VARIANCE ? LEAST_VARIANCE : v, in = up > MOST_VARIANCE ? MOST_VARIANCE : up;

    *slope = in == v ? *slope : 0.0f;
    return in;
}

static void phase_encode(spot_scvis_net *net, int r, int n)
{
    int dim = net->dim;

    for (int i = r; i < r + n; i++) affinities(net, i);
    encode(net, net->dropped, r, n);
    forth(net, SIGMA, net->theta + net->layer[SIGMA].weight, r, n, 0);
    for (int i = r; i < r + n; i++)
        for (int k = 0; k < dim; k++) {
            int e = i * dim + k;
            float slope, s2 = clip_variance(spot_softplusf(net->layer[SIGMA].act[e], &slope), &slope);
            net->z[e] = fmaf(sqrtf(s2), net->noise[e], net->layer[MU].act[e]);
            net->places[(size_t)k * net->stride + i] = net->z[e];
        }
}

/* q = 1 / (1 + d2/f) of point i and the point at lane j. */
static inline float closeness(const spot_scvis_net *net, int i, int j, int dim, float inverse)
{
    float a = 1.0f;

    for (int k = 0; k < dim; k++) {
        float u = net->places[(size_t)k * net->stride + i] - net->places[(size_t)k * net->stride + j];
        a = fmaf(u * inverse, u, a);
    }
    return 1.0f / a;
}

static inline __attribute__((always_inline)) void row_sums(spot_scvis_net *net, int r, int n, int dim)
{
    int f = dim > 2 ? dim - 1 : 1;

    for (int i = r; i < r + n; i++) {
        float s[LANES] = { 0 }, sum;
        for (int j = 0; j < net->stride; j += LANES)
            for (int l = 0; l < LANES; l++) {
                float w = spot_student(closeness(net, i, j + l, dim, 1.0f / (float)f), f);
                s[l] += j + l == i ? 0.0f : w;
            }
        sum = spot_fold(s);
        net->shares[i] = 1.0f / (sum > 1e-30f ? sum : 1e-30f);
    }
}

/* Column sums of P, and P' + its transpose, rows r .. r+n. A row of P + 0.1/n sums to 1.1. */
static void symmetrise(spot_scvis_net *net, int r, int n)
{
    float flat = 0.1f / (float)net->rows, column[TILE] = { 0 };
    size_t stride = net->stride;

    for (int j0 = 0; j0 < net->rows; j0 += LANES) {
        int j1 = j0 + LANES < net->rows ? j0 + LANES : net->rows;
        for (int i = r; i < r + n; i++)
            for (int j = j0; j < j1; j++)
                net->both[i * stride + j] = (net->p[i * stride + j] + net->p[j * stride + i] + 2 * flat) / 1.1f;
    }
    for (int j = 0; j < net->rows; j++)
        for (int i = 0; i < n; i++) column[i] += net->p[j * stride + r + i];
    for (int i = 0; i < n; i++) {
        float w = column[i] < 0.01f ? 0.01f : column[i] > 2.0f ? 2.0f : column[i];
        net->weight[r + i] = net->cfg->compat.column_weight ? w : 1.0f;
        for (size_t j = net->rows; j < stride; j++) net->both[(r + i) * stride + j] = 0;
    }
}

static void phase_pair(spot_scvis_net *net, int r, int n)
{
    symmetrise(net, r, n);
    if (net->dim == 2) row_sums(net, r, n, 2);
    else               row_sums(net, r, n, net->dim);
}

/* dz = slope of A tsne at rows r .. r+n; returns the rows' part of tsne times n. The sum over j of -P'_ij log s_ij is taken
 * as half of that over P' + transpose, which summed over i is the same. */
static inline __attribute__((always_inline)) double forces(spot_scvis_net *net, int r, int n, int dim, float scale)
{
    int f = dim > 2 ? dim - 1 : 1;
    float power = 0.5f * (float)(f + 1), inverse = 1.0f / (float)f;
    double cost = 0;

    for (int i = r; i < r + n; i++) {
        float sum[dim][LANES], part[LANES] = { 0 };
        memset(sum, 0, sizeof sum);
        for (int j = 0; j < net->stride; j += LANES)
            for (int l = 0; l < LANES; l++) {
                float q = closeness(net, i, j + l, dim, inverse), s = spot_student(q, f);
                float both = net->both[(size_t)i * net->stride + j + l];
                float pull = q * fmaf(-s, net->shares[i] + net->shares[j + l], both);
                part[l] = fmaf(both, spot_logf(q), part[l]);
                for (int k = 0; k < dim; k++) {
                    const float *place = net->places + (size_t)k * net->stride;
                    sum[k][l] = fmaf(pull, place[i] - place[j + l], sum[k][l]);
                }
            }
        cost -= 0.5 * power * spot_fold(part) + log(net->shares[i]);
        for (int k = 0; k < dim; k++) net->dz[i * dim + k] = scale * 2 * power * inverse * spot_fold(sum[k]);
    }
    return cost;
}

/* Log-likelihood of row i under the decoder's Student-t, and its slopes: into delta of MEAN and VARIANCE and, summed over
 * rows, `freedom`. `scale` is -w_i / n. With e = x - mean, v the variance, nu the degrees of freedom:
 *   log t = log_norm(nu) - log(v)/2 - (nu+1)/2 log(1 + e^2 / (nu v)) */
static double likelihood(spot_scvis_net *net, int i, float scale, float *freedom)
{
    size_t at = (size_t)i * net->d;
    const float *x = net->x + at, *mean = net->layer[MEAN].act + at, *raw = net->layer[VARIANCE].act + at;
    float *dmean = net->layer[MEAN].delta + at, *draw = net->layer[VARIANCE].delta + at;
    const float *nus = net->nu, *norm = net->log_norm, *slopes = net->nu_slope;
    double sum = 0;

    for (int j0 = 0; j0 < net->d; j0 += 128) {
        float part[128];
        int width = net->d - j0 < 128 ? net->d - j0 : 128;
#pragma omp simd
        for (int l = 0; l < width; l++) {
            int j = j0 + l;
            float slope, soft = spot_softplusf(raw[j], &slope);
            float v = clip_variance(soft, &slope);
            float e = x[j] - mean[j], nu = nus[j], part_of = 1.0f / fmaf(nu, v, e * e), half = 0.5f * (nu + 1.0f);
            float tail = spot_logf(1.0f + e * e / (nu * v)), pull = e * part_of;
            part[l] = norm[j] - 0.5f * spot_logf(v) - half * tail;
            dmean[j] = scale * (nu + 1.0f) * pull;
            draw[j] = scale * slope * (half * e * pull - 0.5f) / v;
            freedom[j] = fmaf(scale, slopes[j] - 0.5f * tail + half * e * pull / nu, freedom[j]);
        }
        for (int l = 0; l < width; l++) sum += part[l];
    }
    return sum;
}

/* The sample's slope goes to mu and s2, the KL term joins; returns the rows' KL. `scale` is K / n. */
static double through_sample(spot_scvis_net *net, int r, int n, float scale)
{
    double kl = 0;

    for (int e = r * net->dim; e < (r + n) * net->dim; e++) {
        float mu = net->layer[MU].act[e], slope, s2 = clip_variance(spot_softplusf(net->layer[SIGMA].act[e], &slope), &slope);
        net->layer[MU].delta[e] = fmaf(scale, mu, net->dz[e]);
        net->layer[SIGMA].delta[e] = slope * (0.5f * scale * (1.0f - 1.0f / s2) + 0.5f * net->dz[e] * net->noise[e] / sqrtf(s2));
        kl += 0.5 * ((double)mu * mu + s2 - spot_logf(s2) - 1);
    }
    return kl;
}

static double tsne_factor(const spot_scvis_net *net)
{
    return net->cfg->compat.tsne_ramp && net->step < net->d ? net->step : net->d;
}

static double kl_factor(const spot_scvis_net *net)
{
    return net->cfg->compat.kl_decay ? fmax(0.1, (double)net->d / net->step) : 1;
}

static void encoder_back(spot_scvis_net *net, int r, int n)
{
    spot_scvis_layer *mu = &net->layer[MU];
    float turned[mu->out * mu->in];

    for (int o = 0; o < mu->out; o++)
        for (int i = 0; i < mu->in; i++) turned[o * mu->in + i] = net->dropped[i * mu->out + o];
    clear(net->layer[ENC3].delta, 32, r, n);
    spot_gemm_add(net->layer[ENC3].delta + (size_t)r * 32, 32, mu->delta + (size_t)r * mu->out, mu->out, 1, turned, 32, n, 32,
                  mu->out);
    back(net, SIGMA, net->layer[ENC3].delta, r, n);
    through_elu(net, ENC3, r, n);
    for (int l = ENC3; l > ENC1; l--) {
        clear(net->layer[l - 1].delta, net->layer[l].in, r, n);
        back(net, l, net->layer[l - 1].delta, r, n);
        through_elu(net, l - 1, r, n);
    }
}

static void phase_decode(spot_scvis_net *net, int r, int n)
{
    double *loss = net->loss_part + 3 * (r / TILE);
    float *freedom = net->freedom_part + (size_t)(r / TILE) * net->d, scale = (float)(tsne_factor(net) / net->rows);

    loss[2] = net->dim == 2 ? forces(net, r, n, 2, scale) : forces(net, r, n, net->dim, scale);
    for (int l = DEC1; l <= VARIANCE; l++) forth(net, l, net->theta + net->layer[l].weight, r, n, l <= DEC5);
    memset(freedom, 0, net->d * sizeof *freedom);
    loss[0] = 0;
    for (int i = r; i < r + n; i++)
        loss[0] += net->weight[i] * likelihood(net, i, -net->weight[i] / (float)net->rows, freedom);
    clear(net->layer[DEC5].delta, 128, r, n);
    back(net, MEAN, net->layer[DEC5].delta, r, n);
    back(net, VARIANCE, net->layer[DEC5].delta, r, n);
    through_elu(net, DEC5, r, n);
    for (int l = DEC5; l > DEC1; l--) {
        clear(net->layer[l - 1].delta, net->layer[l].in, r, n);
        back(net, l, net->layer[l - 1].delta, r, n);
        through_elu(net, l - 1, r, n);
    }
    back(net, DEC1, net->dz, r, n);
    loss[1] = through_sample(net, r, n, (float)(kl_factor(net) / net->rows));
    encoder_back(net, r, n);
}

static void freedom_gradient(spot_scvis_net *net, spot_scvis_piece *q)
{
    float *g = net->grad + net->freedom;

    for (int j = 0; j < net->d; j++) {
        float raw = net->theta[net->freedom + j];
        g[j] = 0;
        for (int t = 0; t < tiles(net->rows); t++) g[j] += net->freedom_part[(size_t)t * net->d + j];
        if (raw < LEAST_FREEDOM || raw > MOST_FREEDOM) g[j] = 0;
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
    spot_gemm_add(g, y->out, input(net, q->layer) + q->row, 1, y->in, y->delta, y->out, q->rows, y->out, net->rows);
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
    SPOT_PHASE(phase_pair)
    SPOT_PHASE(phase_decode)
#undef SPOT_PHASE
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int q = 0; q < net->pieces; q++) phase_weigh(net, &net->piece[q]);

    for (int t = 0; t < tiles(rows); t++)
        for (int k = 0; k < 3; k++) loss[k] += net->loss_part[3 * t + k];
    for (int q = 0; q < net->pieces; q++) weights += net->piece[q].weights;
    return (tsne_factor(net) * loss[2] - loss[0] + kl_factor(net) * loss[1]) / rows + 0.5 * net->cfg->l2 * weights;
}

void spot_scvis_encode(spot_scvis_net *net, float *out)
{
    const float *mu = net->theta + net->layer[MU].weight;

#pragma omp parallel for num_threads(net->threads) schedule(dynamic)
    for (int r = 0; r < net->rows; r += TILE) encode(net, mu, r, net->rows - r < TILE ? net->rows - r : TILE);
    memcpy(out, net->layer[MU].act, (size_t)net->rows * net->dim * sizeof *out);
}
