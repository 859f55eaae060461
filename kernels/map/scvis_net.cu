/* scvis_net.cu - encoder, decoder and weight gradients: a block owns 64 rows of a batch through all layers, or 64 x 64
 * weights over all rows. A block passes activations from layer to layer through global memory, because the weight
 * gradients need them, too. Every sum is one chain in the order of k, as on the CPU. */
#include "map/scvis_tiles.cuh"

enum { THREADS = SPOT_SCVIS_THREADS, TILE = SPOT_SCVIS_TILE, SLAB = 16, OWN = TILE / 16, PAD = 4,
       SLABS = SLAB * (3 * TILE + 2 * PAD) / 4 };   /* float4s of a slab of 64 and one of 128 columns */

/* Element (k, i) of a factor is at[k * k_step + i * step]. */
typedef struct { const float *at; int k_step, step; } factor;

/* slab[t][i] = element (k0 + t, i). Entries past the end repeat the last and are not used. */
template <int WIDTH>
static __device__ void load_slab(float *slab, factor x, int count, int k0, int depth)
{
    for (int e = threadIdx.x; e < SLAB * WIDTH; e += THREADS) {
        int t = x.step == 1 ? e / WIDTH : e % SLAB, i = x.step == 1 ? e % WIDTH : e / SLAB;
        slab[t * (WIDTH + PAD) + i] = x.at[(size_t)min(k0 + t, depth - 1) * x.k_step + (size_t)min(i, count - 1) * x.step];
    }
}

/* A thread's j-th column in a tile of V x 64 columns. */
static __device__ int column_of(int j) { return j / OWN * TILE + threadIdx.x % 16 * OWN + j % OWN; }

/* sum += a' b for a tile of 64 rows and V x 64 columns; a thread owns 4 x 4V of them. The slabs go through shared memory. */
template <int V>
static __device__ void product(float (*sum)[OWN * V], float *slabs, factor a, int rows, factor b, int cols, int depth)
{
    float *slab_a = slabs, *slab_b = slabs + SLAB * (TILE + PAD);
    int x = threadIdx.x % 16, y = threadIdx.x / 16;

    for (int k0 = 0; k0 < depth; k0 += SLAB) {
        load_slab<TILE>(slab_a, a, rows, k0, depth);
        load_slab<TILE * V>(slab_b, b, cols, k0, depth);
        __syncthreads();
        for (int t = 0; t < min((int)SLAB, depth - k0); t++) {
            float4 p = *(const float4 *)(slab_a + t * (TILE + PAD) + y * OWN);
            const float left[OWN] = { p.x, p.y, p.z, p.w };
            for (int v = 0; v < V; v++) {
                float4 q = *(const float4 *)(slab_b + t * (TILE * V + PAD) + v * TILE + x * OWN);
                const float right[OWN] = { q.x, q.y, q.z, q.w };
                for (int i = 0; i < OWN; i++)
                    for (int j = 0; j < OWN; j++)
                        sum[i][v * OWN + j] = fmaf(left[i], right[j], sum[i][v * OWN + j]);
            }
        }
        __syncthreads();
    }
}

/* use(row, column, sum) for each sum of a tile that the thread owns. */
template <int V, typename F>
static __device__ void for_each_sum(float (*sum)[OWN * V], int rows, int cols, F use)
{
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN * V; j++) {
            int row = threadIdx.x / 16 * OWN + i, column = column_of(j);
            if (row < rows && column < cols) use(row, column, sum[i][j]);
        }
}

/* Layer l of rows r .. r+n from `in` (batch, in) with the given weights; heads stay linear. */
template <int V>
static __device__ void forward_by(const spot_scvis_device *net, float *slabs, int l, const float *in, const float *w, int r,
                                  int n, bool elu)
{
    const spot_scvis_layer *y = &net->layer[l];
    const float *bias = net->theta + y->bias;

    for (int o0 = 0; o0 < y->out; o0 += TILE * V) {
        float sum[OWN][OWN * V], *out = y->act + (size_t)r * y->out + o0;
        int cols = y->out - o0;

        for (int j = 0; j < OWN * V; j++)
            for (int i = 0; i < OWN; i++) sum[i][j] = bias[o0 + min(column_of(j), cols - 1)];
        product<V>(sum, slabs, factor{ in + (size_t)r * y->in, 1, y->in }, n, factor{ w + o0, y->out, 1 }, cols, y->in);
        for_each_sum<V>(sum, n, cols, [&](int i, int o, float s) {
            out[(size_t)i * y->out + o] = !elu || s > 0 ? s : spot_expf(s) - 1.0f;
        });
    }
    __syncthreads();
}

static __device__ void forward(const spot_scvis_device *net, float *slabs, int l, const float *in, const float *w, int r, int n,
                               bool elu)
{
    if (net->layer[l].out > TILE) forward_by<2>(net, slabs, l, in, w, r, n, elu);
    else                          forward_by<1>(net, slabs, l, in, w, r, n, elu);
}

static __device__ const float *weights_of(const spot_scvis_device *net, int l) { return net->theta + net->layer[l].weight; }

/* sum += delta of layer l times its weights w, transposed: inputs i0 .. of rows r .. r+n. */
template <int V>
static __device__ void add_backward(float (*sum)[OWN * V], const spot_scvis_device *net, float *slabs, int l, const float *w,
                                    int i0, int r, int n)
{
    const spot_scvis_layer *y = &net->layer[l];

    product<V>(sum, slabs, factor{ y->delta + (size_t)r * y->out, 1, y->out }, n,
               factor{ w + (size_t)i0 * y->out, 1, y->out }, y->in - i0, y->out);
}

/* The delta of the layer that l reads, from the delta of l and of `other` (0: none), which reads it too, times the slope of
 * its ELU, which is h + 1 below 0. */
template <int V>
static __device__ void backward_by(const spot_scvis_device *net, float *slabs, int l, const float *w, int other, int r, int n)
{
    const spot_scvis_layer *to = &net->layer[net->layer[l].from];

    for (int i0 = 0; i0 < to->out; i0 += TILE * V) {
        float sum[OWN][OWN * V] = { { 0 } };
        size_t at = (size_t)r * to->out + i0;

        add_backward<V>(sum, net, slabs, l, w, i0, r, n);
        if (other) add_backward<V>(sum, net, slabs, other, weights_of(net, other), i0, r, n);
        for_each_sum<V>(sum, n, to->out - i0, [&](int i, int o, float s) {
            float h = to->act[at + (size_t)i * to->out + o];
            to->delta[at + (size_t)i * to->out + o] = s * (h > 0 ? 1.0f : h + 1.0f);
        });
    }
    __syncthreads();
}

static __device__ void backward(const spot_scvis_device *net, float *slabs, int l, const float *w, int other, int r, int n)
{
    if (net->layer[l].in > TILE) backward_by<2>(net, slabs, l, w, other, r, n);
    else                         backward_by<1>(net, slabs, l, w, other, r, n);
}

/* Rows r .. r+n of x through the encoder to the mean, with these weights of its head. */
static __device__ void encode_rows(const spot_scvis_device *net, float *slabs, const float *x, const float *mu, int r, int n)
{
    forward(net, slabs, ENC1, x, weights_of(net, ENC1), r, n, true);
    forward(net, slabs, ENC2, net->layer[ENC1].act, weights_of(net, ENC2), r, n, true);
    forward(net, slabs, ENC3, net->layer[ENC2].act, weights_of(net, ENC3), r, n, true);
    forward(net, slabs, MU, net->layer[ENC3].act, mu, r, n, false);
}

/* grid (ceil(batch / TILE), problems) */
static __global__ void __launch_bounds__(THREADS, 2) encode_kernel(const spot_scvis_device *nets,
                                                                const __grid_constant__ spot_scvis_now t)
{
    SPOT_SHARED(float4, slabs, SLABS);
    const spot_scvis_device *net = nets + blockIdx.y;
    int r = blockIdx.x * TILE, n = min((int)TILE, net->rows - r), dim = net->dim;

    if (spot_scvis_idle(net, &t) || n <= 0) return;
    encode_rows(net, (float *)slabs, net->x, net->dropped, r, n);
    forward(net, (float *)slabs, SIGMA, net->layer[ENC3].act, weights_of(net, SIGMA), r, n, false);
    for (int e = r * dim + threadIdx.x; e < (r + n) * dim; e += THREADS) {
        float slope, s2 = spot_scvis_variance(net->layer[SIGMA].act[e], &slope);
        net->z[e] = fmaf(sqrtf(s2), net->noise[e], net->layer[MU].act[e]);
    }
}

/* grid (ceil(batch / TILE), problems) */
static __global__ void __launch_bounds__(THREADS, 2) means_kernel(const spot_scvis_device *nets, int first)
{
    SPOT_SHARED(float4, slabs, SLABS);
    const spot_scvis_device *net = nets + blockIdx.y;
    int r0 = min(first * net->batch, net->n), rows = min(net->batch, net->n - r0), dim = net->dim;
    int r = blockIdx.x * TILE, n = min((int)TILE, rows - r);

    if (n <= 0) return;
    encode_rows(net, (float *)slabs, net->input + (size_t)r0 * net->d, weights_of(net, MU), r, n);
    for (int e = threadIdx.x; e < n * dim; e += THREADS)
        net->map[(size_t)(r0 + r) * dim + e] = net->layer[MU].act[r * dim + e];
}

/* Log-likelihood of rows r .. r+n under the decoder's Student-t; the slopes replace mean and raw variance, which share
 * their memory with them. A thread owns a column, rows in order. */
static __device__ double likelihood(const spot_scvis_device *net, int r, int n)
{
    double sum = 0;

    for (int j = threadIdx.x; j < net->d; j += THREADS) {
        float slope = 0;
        for (int i = r; i < r + n; i++) {
            size_t at = (size_t)i * net->d + j;
            float *mean = net->layer[MEAN].act + at, *raw = net->layer[VARIANCE].act + at;
            float w = net->weight[i], scale = -w / (float)net->rows;
            spot_scvis_density s = spot_scvis_student(net->x[at], *mean, spot_scvis_spread_of(*raw), net->nu[j],
                                                      net->log_norm[j], net->nu_slope[j], scale);
            sum += (double)w * s.log;
            *mean = s.mean;
            *raw = s.raw;
            slope = fmaf(scale, s.nu, slope);
        }
        net->freedom_part[(size_t)blockIdx.x * net->d + j] = slope;
    }
    __syncthreads();
    return sum;
}

/* The slopes of mu and s2: dz's, plus `scale` times the slope of the rows' KL. Returns a thread's part of that KL. */
static __device__ double through_sample(const spot_scvis_device *net, int r, int n, float scale)
{
    double kl = 0;

    for (int e = r * net->dim + threadIdx.x; e < (r + n) * net->dim; e += THREADS) {
        float mu = net->layer[MU].act[e], slope, s2 = spot_scvis_variance(net->layer[SIGMA].act[e], &slope);
        net->layer[MU].delta[e] = fmaf(scale, mu, net->dz[e]);
        net->layer[SIGMA].delta[e] = slope * (0.5f * scale * (1.0f - 1.0f / s2)
                                              + 0.5f * net->dz[e] * net->noise[e] / sqrtf(s2));
        kl += 0.5 * ((double)mu * mu + s2 - spot_logf(s2) - 1);
    }
    __syncthreads();
    return kl;
}

/* dz += the slope that comes through the decoder. */
static __device__ void back_to_sample(const spot_scvis_device *net, float *slabs, int r, int n)
{
    int dim = net->dim;

    for (int k0 = 0; k0 < dim; k0 += TILE) {
        float sum[OWN][OWN], *dz = net->dz + (size_t)r * dim + k0;

        for (int i = 0; i < OWN; i++)
            for (int j = 0; j < OWN; j++) {
                int row = threadIdx.x / 16 * OWN + i;
                sum[i][j] = row < n && column_of(j) < dim - k0 ? dz[row * dim + column_of(j)] : 0.0f;
            }
        add_backward<1>(sum, net, slabs, DEC1, weights_of(net, DEC1), k0, r, n);
        for_each_sum<1>(sum, n, dim - k0, [&](int i, int k, float s) { dz[i * dim + k] = s; });
    }
    __syncthreads();
}

/* grid (ceil(batch / TILE), problems) */
static __global__ void __launch_bounds__(THREADS, 2) decode_kernel(const spot_scvis_device *nets,
                                                                const __grid_constant__ spot_scvis_now t)
{
    SPOT_SHARED(float4, slabs4, SLABS);
    const spot_scvis_device *net = nets + blockIdx.y;
    float *slabs = (float *)slabs4;
    int r = blockIdx.x * TILE, n = min((int)TILE, net->rows - r);

    if (spot_scvis_idle(net, &t) || n <= 0) return;
    forward(net, slabs, DEC1, net->z, weights_of(net, DEC1), r, n, true);
    for (int l = DEC2; l <= VARIANCE; l++)
        forward(net, slabs, l, net->layer[net->layer[l].from].act, weights_of(net, l), r, n, l <= DEC5);
    double fit = likelihood(net, r, n);
    backward(net, slabs, MEAN, weights_of(net, MEAN), VARIANCE, r, n);
    for (int l = DEC5; l > DEC1; l--) backward(net, slabs, l, weights_of(net, l), 0, r, n);
    back_to_sample(net, slabs, r, n);
    double kl = through_sample(net, r, n, (float)(spot_scvis_kl_factor(&t.cfg, t.step, net->d) / net->rows));
    backward(net, slabs, MU, net->dropped, SIGMA, r, n);
    for (int l = ENC3; l > ENC1; l--) backward(net, slabs, l, weights_of(net, l), 0, r, n);

    fit = spot_block_sum<SPOT_SCVIS_THREADS>(fit);
    kl = spot_block_sum<SPOT_SCVIS_THREADS>(kl);
    if (threadIdx.x) return;
    net->tile_part[2 * blockIdx.x] = fit;
    net->tile_part[2 * blockIdx.x + 1] = kl;
}

/* The degrees of freedom's gradient, 0 where they are clipped. Returns a thread's part of its squares. */
static __device__ double freedom_gradient(const spot_scvis_device *net)
{
    double squares = 0;

    for (int j = threadIdx.x; j < net->d; j += THREADS) {
        float g = 0;
        for (int t = 0; t < spot_scvis_cut(net->rows, TILE); t++) g += net->freedom_part[(size_t)t * net->d + j];
        if (net->theta[net->freedom + j] != net->nu[j]) g = 0;
        net->grad[net->freedom + j] = g;
        squares += (double)g * g;
    }
    return squares;
}

/* A bias' gradient, columns o0 .. of a tile. */
static __device__ double bias_gradient(const spot_scvis_device *net, const spot_scvis_layer *y, int o0)
{
    int o = o0 + threadIdx.x;
    float g = 0;

    if ((int)threadIdx.x >= TILE || o >= y->out) return 0;
    for (int i = 0; i < net->rows; i++) g += y->delta[(size_t)i * y->out + o];
    net->grad[y->bias + o] = g;
    return (double)g * g;
}

/* Gradient of a tile of a layer's weights: the slope of the L2 term + input' delta. */
static __device__ double weight_gradient(const spot_scvis_device *net, float *slabs, int l, int r0, int o0, float l2,
                                         double *weights)
{
    const spot_scvis_layer *y = &net->layer[l];
    const float *in = y->from == -1 ? net->x : y->from == -2 ? net->z : net->layer[y->from].act;
    float sum[OWN][OWN] = { { 0 } };
    double squares = 0, own = 0;

    product<1>(sum, slabs, factor{ in + r0, y->in, 1 }, y->in - r0, factor{ y->delta + o0, y->out, 1 }, y->out - o0,
               net->rows);
    for_each_sum<1>(sum, y->in - r0, y->out - o0, [&](int i, int o, float g) {
        size_t e = (size_t)(r0 + i) * y->out + o0 + o;
        float w = net->theta[y->weight + e];

        if (l == MU) g *= net->keep[e];
        g = fmaf(l2, w, g);
        net->grad[y->weight + e] = g;
        squares += (double)g * g;
        own += (double)w * w;
    });
    *weights = own;
    return squares;
}

/* grid (items, problems) */
static __global__ void __launch_bounds__(THREADS, 2) weigh_kernel(const spot_scvis_device *nets,
                                                               const __grid_constant__ spot_scvis_now t)
{
    SPOT_SHARED(float4, slabs, SLABS);
    const spot_scvis_device *net = nets + blockIdx.y;
    int item = blockIdx.x, l = 0;
    double squares, weights = 0;

    if (spot_scvis_idle(net, &t) || item >= net->items) return;
    if (item == net->items - 1) {
        squares = freedom_gradient(net);
    } else {
        for (; item >= spot_scvis_tiles(&net->layer[l]); l++) item -= spot_scvis_tiles(&net->layer[l]);
        int across = spot_scvis_cut(net->layer[l].out, TILE), r0 = item / across * TILE, o0 = item % across * TILE;
        squares = weight_gradient(net, (float *)slabs, l, r0, o0, (float)t.cfg.l2, &weights);
        if (!r0) squares += bias_gradient(net, &net->layer[l], o0);
    }
    squares = spot_block_sum<SPOT_SCVIS_THREADS>(squares);
    weights = spot_block_sum<SPOT_SCVIS_THREADS>(weights);
    if (threadIdx.x) return;
    net->item_part[2 * blockIdx.x] = squares;
    net->item_part[2 * blockIdx.x + 1] = weights;
}

spot_status spot_scvis_encoder(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t)
{
    SPOT_LAUNCH(encode_kernel, dim3(spot_scvis_cut(f->batch, TILE), f->problems), THREADS, 0, spot_cuda_stream(c), f->net, *t);
    return spot_cuda_launched(c, "scvis: encoders of %d problems, batches of up to %d", f->problems, f->batch);
}

spot_status spot_scvis_means(spot_ctx *c, const spot_scvis_fleet *f, int first)
{
    SPOT_LAUNCH(means_kernel, dim3(spot_scvis_cut(f->batch, TILE), f->problems), THREADS, 0, spot_cuda_stream(c), f->net,
                first);
    return spot_cuda_launched(c, "scvis: maps of %d problems", f->problems);
}

spot_status spot_scvis_decoder(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t)
{
    SPOT_LAUNCH(decode_kernel, dim3(spot_scvis_cut(f->batch, TILE), f->problems), THREADS, 0, spot_cuda_stream(c), f->net, *t);
    return spot_cuda_launched(c, "scvis: decoders of %d problems, batches of up to %d", f->problems, f->batch);
}

spot_status spot_scvis_weights(spot_ctx *c, const spot_scvis_fleet *f, const spot_scvis_now *t)
{
    SPOT_LAUNCH(weigh_kernel, dim3(f->items, f->problems), THREADS, 0, spot_cuda_stream(c), f->net, *t);
    return spot_cuda_launched(c, "scvis: %d weight gradients of %d problems", f->items, f->problems);
}
