/* norm_fold.cu - a norm folded into weights. */
#include "net/norm.cuh"

/* grid (channels): a block folds the weights of a channel, and adds up their sizes in the order of a tree. */
static __global__ void __launch_bounds__(THREADS) fold_kernel(spot_norm_folding f)
{
    SPOT_SHARED(double, part, THREADS);
    const int o = blockIdx.x;
    const double k = f.weight[o] / sqrt(f.var[o] + 1e-5);
    double sum = 0;

    for (size_t i = threadIdx.x; i < f.each; i += THREADS) {
        const float v = (float)(f.w[o * f.each + i] * k);
        f.folded[o * f.each + i] = v;
        sum += fabs((double)v);
    }
    part[threadIdx.x] = sum;
    for (unsigned half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x) return;
    f.shift[o] = (float)(f.bias[o] - f.mean[o] * k);
    f.size[2 * o] = part[0];
    f.size[2 * o + 1] = fabs((double)f.shift[o]);
}

spot_status spot_norm_fold_cuda(spot_ctx *c, const spot_norm_folding *f)
{
    SPOT_TRY(spot_cuda_needs_all(c, "norm.fold", { { f->w, "w" }, { f->weight, "weight" }, { f->bias, "bias" },
                                                   { f->mean, "mean" }, { f->var, "var" }, { f->folded, "folded" },
                                                   { f->shift, "shift" }, { f->size, "size" } }));
    SPOT_LAUNCH(fold_kernel, f->channels, THREADS, 0, spot_cuda_stream(c), *f);
    return spot_cuda_launched(c, "norm.fold of %d channels of %zu weights", f->channels, f->each);
}
