/* idle_cores.c - see idle_cores.h. */
#include "models/idle_cores.h"

void spot_warn_of_fp32(spot_ctx *c, int precision, const char *setting, const char *times, const char *fast)
{
    if (!c->device || precision != SPOT_FP32) return;
    spot_log(c, SPOT_LOG_WARN, "%s is fp32, which a GPU computes without its tensor cores: about %s times as long as %s "
             "(predicted); set %s: bf16, or tf32", setting, times, fast, setting);
}

void spot_warn_of_fp32_alone(spot_ctx *c, const char *whose)
{
    if (c->device)
        spot_log(c, SPOT_LOG_WARN, "%s compute in fp32, and have no other precision here: the GPU's tensor cores stay idle",
                 whose);
}

void spot_warn_of_encoder(spot_ctx *c, const spot_encoder_info *e, int precision, const char *setting)
{
    switch (e->kind) {
    case SPOT_ENCODER_CLIP:
    case SPOT_ENCODER_VIT:
        if (setting) spot_warn_of_fp32(c, precision, setting, "nine", "bf16");
        else if (precision == SPOT_FP32) spot_warn_of_fp32_alone(c, "CLIP and vision transformers as encoders of this study");
        break;
    case SPOT_ENCODER_RESNET: spot_warn_of_fp32_alone(c, "a ResNet and AlexNet as an encoder"); break;
    default: break;
    }
}
