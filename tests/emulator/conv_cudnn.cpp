/* conv_cudnn.cpp - the emulator has no cuDNN: no plan, so conv.cu's own kernels compute. */
#include "conv_cudnn.h"

spot_status spot_cudnn_plan_open(spot_ctx *, spot_cudnn **, spot_cudnn_plan **plan, const spot_conv_shape *, int, int,
                                 spot_cudnn_check *, void *)
{
    *plan = nullptr;
    return SPOT_OK;
}

spot_status spot_cudnn_run(spot_ctx *c, const spot_cudnn_plan *, void *, void *, void *, void *)
{
    return spot_fail(c, SPOT_UNSUPPORTED, "the emulator has no cuDNN");
}

void   spot_cudnn_plan_close(spot_cudnn_plan *) {}
size_t spot_cudnn_plan_scratch(const spot_cudnn_plan *) { return 0; }
void   spot_cudnn_close(spot_cudnn *) {}
