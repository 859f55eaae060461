/* features_put.h - the features of a group of classes in the memory of the device, where all methods and seeds find them. */
#ifndef SPOTTER_FEATURES_PUT_H
#define SPOTTER_FEATURES_PUT_H

#include "spotter/discover.h"

/* Opens on_device, to be closed behind the last method, and copies the features there, once, for the methods of o that read
 * them there. `device`: what the methods need beside them; without room for both every method copies what it needs, as it does
 * on the CPU, which has no copies. */
spot_status spot_features_put(spot_ctx *c, spot_arena *on_device, const spot_discover_options *o, spot_view *view, int count,
                              size_t device);

#endif
