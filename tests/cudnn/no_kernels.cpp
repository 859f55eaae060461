/* no_kernels.cpp - two launchers that the code of a plan's run refers to. Plans for a described GPU never run. */
#include "core/cuda.cuh"
#include "net/conv_cudnn.cuh"

static spot_status refuse(spot_ctx *c) { return spot_fail(c, SPOT_DEVICE, "a plan for a described GPU cannot run"); }

spot_status spot_conv_widen(spot_ctx *c, float *, const void *, size_t)  { return refuse(c); }
spot_status spot_conv_narrow(spot_ctx *c, void *, const float *, size_t) { return refuse(c); }
