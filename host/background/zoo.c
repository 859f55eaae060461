/* zoo.c - a stand-in until the branch with planted worlds is merged. */
#include "spotter/background.h"

spot_status spot_background_planted(spot_ctx *c, spot_background_config *cfg, const char *out)
{
    if (!cfg->zoo.models) return SPOT_OK;
    return spot_fail(c, SPOT_UNSUPPORTED, "%s: this build makes no planted worlds", out);
}
