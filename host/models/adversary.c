/* adversary.c - see adversary.h. */
#include "models/adversary.h"

#include "core/device.h"

spot_status spot_adversary_open(spot_ctx *c, spot_arena *a, spot_adversary *foe, const spot_net *net)
{
    const size_t size = (size_t)net->s.size;

    SPOT_TRY(SPOT_TAKE(c, a, foe->moved, (size_t)net->s.rows * 3 * size * size));
    SPOT_TRY(SPOT_TAKE(c, a, foe->running, net->state - net->params));
    SPOT_TRY(SPOT_TAKE(c, a, foe->loss, 1));
    return spot_arena_take(c, a, &foe->clean, spot_net_image_bytes(c, net));
}

spot_status spot_adversary_start(spot_ctx *c, const spot_adversary *foe, const spot_net *net)
{
    return spot_device_clear(c, foe->running, (net->state - net->params) * sizeof(float));
}

spot_status spot_adversary_attack(spot_ctx *c, const spot_adversary *foe, const spot_net *net, const void *clean,
                                  const float *target, int n, const spot_attack_rule *rule, int steps)
{
    const spot_plane p = spot_net_images(c, net, n);
    spot_net moving = *net;

    spot_net_running(&moving, foe->running);
    SPOT_TRY(spot_attack_start(c, moving.planes, foe->moved, clean, p, rule));
    for (int k = 0; k < steps; k++) {
        SPOT_TRY(spot_net_forward(c, &moving, NULL, n, true));
        SPOT_TRY(spot_net_backward_image(c, &moving, target, n, foe->loss));
        SPOT_TRY(spot_attack_move(c, moving.planes, foe->moved, clean, moving.dplanes, p, rule));
    }
    return SPOT_OK;
}
