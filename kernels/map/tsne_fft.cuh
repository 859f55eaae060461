/* tsne_fft.cuh - CUDA's interpolated repulsion: repel and Z of a walk with a grid. `host` and `device` are its two copies. */
#ifndef SPOTTER_TSNE_FFT_CUH
#define SPOTTER_TSNE_FFT_CUH

#include "core/cuda.cuh"
#include "map/tsne.h"

spot_status spot_tsne_interpolate_cuda(spot_ctx *c, const spot_tsne_walk *host, const spot_tsne_walk *device);

#endif
