/* network_view.h - the view of an EC by one of its networks: from the store, or after training. */
#ifndef SPOTTER_NETWORK_VIEW_H
#define SPOTTER_NETWORK_VIEW_H

#include "sweep/pipeline.h"

/* A network: the kinds of its values in the store, and whether it is trained against an adversary. */
typedef struct { const char *model, *lesson, *view; bool robust; } spot_network;

/* The weights of an EC's classifier in the memory of a device, from its training to that of the robust network. Zeroed: none.
 * Who has it gives `at` back. */
typedef struct { void *at; bool filled; } spot_network_weights;

extern const spot_network spot_classifier, spot_robust;    /* the examined network; one that is trained against an adversary */

/* Where a view goes, with how its network learned; features that are made also stay on the device. */
typedef struct {
    spot_seen *seen;
    spot_learning *lesson;
    spot_device_features *on_device;
    spot_network_weights *weights;
} spot_network_view;

/* *found: the store has both view and lesson. A view that an older build kept gets its head from the model; NULL without it. */
spot_status spot_network_view_recall(spot_ctx *c, spot_arena *a, const spot_store *s, const spot_network *net, spot_key key,
                                     const spot_network_view *v, bool *found);

/* The kind of the classifier's view of negatives in the store, with the key of its view; made for metric.repair. */
#define SPOT_NEGATIVES "negatives"

/* EC -> view, by the classifier and by the robust network. The models are read or trained only if the store has no view. */
spot_status spot_classifier_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, const spot_ec *ec,
                                 const spot_network_view *v);
spot_status spot_robust_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, spot_key classifier, const spot_ec *ec,
                             const spot_network_view *v);

#endif
