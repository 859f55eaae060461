/* norm_fold.c - a norm folded into weights on the CPU, and the checked entry. */
#include "net/norm.h"

#include <math.h>

#include "net/norm_line.h"

spot_status spot_norm_fold_cpu(spot_ctx *c, const spot_norm_folding *f)
{
    (void)c;
    for (int o = 0; o < f->channels; o++) {
        const double k = f->weight[o] / sqrt(f->var[o] + 1e-5);
        double sum = 0;
        f->shift[o] = (float)(f->bias[o] - f->mean[o] * k);
        for (size_t i = (size_t)o * f->each; i < (size_t)(o + 1) * f->each; i++) {
            f->folded[i] = (float)(f->w[i] * k);
            sum += fabs((double)f->folded[i]);
        }
        f->size[2 * o] = sum;
        f->size[2 * o + 1] = fabs((double)f->shift[o]);
    }
    return SPOT_OK;
}

spot_status spot_norm_fold(spot_ctx *c, const spot_norm_folding *f)
{
    if (f->channels < 1 || f->each < 1 || f->w == f->folded)
        return spot_fail(c, SPOT_INVALID, "norm.fold: %d channels of %zu weights", f->channels, f->each);
    SPOT_DISPATCH(c, norm, fold, f);
}
