/* adversary.h - an adversary moves images before a net learns them. */
#ifndef SPOTTER_ADVERSARY_H
#define SPOTTER_ADVERSARY_H

#include "models/trainer.h"
#include "net/attack.h"

/* open allocates it for net, which was opened with `attacked`. start: before the first attack. attack: moves n images from
 * `clean`, in the layout of net.planes, to net.planes. */
spot_status spot_adversary_open (spot_ctx *c, spot_arena *a, spot_adversary *foe, const spot_net *net);
spot_status spot_adversary_start(spot_ctx *c, const spot_adversary *foe, const spot_net *net);
spot_status spot_adversary_attack(spot_ctx *c, const spot_adversary *foe, const spot_net *net, const void *clean,
                                  const float *target, int n, const spot_attack_rule *rule, int steps);

#endif
