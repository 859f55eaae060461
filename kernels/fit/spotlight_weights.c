/* spotlight_weights.c - the weights of rows under a kernel, on the CPU. */
#include "core/lanes.h"
#include "core/vmath64.h"
#include "fit/spotlight_cpu.h"

void spot_spotlight_weights(int kernel, double *k, double *u, const double *distance, int rows)
{
    for (int i = 0; i < rows; i += LANES) {
        vd far = *(const vd *)(distance + i);
        if (kernel == SPOT_KERNEL_GAUSSIAN) {
            *(vd *)(k + i) = vd_exp(-0.5 * far);
            *(vd *)(u + i) = 0.5 * *(vd *)(k + i);
        } else {
            *(vd *)(k + i) = vd_max(1.0 - far, vd_all(0));
            *(vd *)(u + i) = vd_pick(1.0 - far >= 0.0, vd_all(1), vd_all(0));
        }
    }
}
