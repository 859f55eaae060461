/* tsne_fft.cuh - CUDA's interpolated repulsion: repel and Z of a walk with a grid, of which the host holds the one, the device
 * the other copy. */
#ifndef SPOTTER_TSNE_FFT_CUH
#define SPOTTER_TSNE_FFT_CUH

#include "core/cuda.cuh"
#include "map/tsne.h"

spot_status spot_tsne_interpolate_cuda(spot_ctx *c, const spot_tsne_walk *here, const spot_tsne_walk *there);

#endif
