/* segment_fill.c - fills a segment: the definition of its EC, the hypotheses of a method. */
#include <stdio.h>
#include <string.h>

#include "core/ops.h"
#include "spotter/config.h"
#include "sweep/segment.h"

static void list_names(spot_segment *seg, const spot_ec *ec)
{
    size_t l = 0, r = 0;

    for (int i = 0; i < SPOT_LAYERS; i++) {
        const char *layer = spot_layer_name((spot_layer)i);
        if (!ec->layer[i]) continue;
        l += (size_t)snprintf(seg->layers + l, sizeof seg->layers - l, "%s%s", l ? " " : "", layer);
        for (int k = 0; k < SPOT_ATTRIBUTES; k++)
            if (ec->rollable[i][k])
                r += (size_t)snprintf(seg->rollable + r, sizeof seg->rollable - r, "%s%s.%s", r ? " " : "", layer,
                                      spot_attribute_name((spot_attribute)k));
    }
}

spot_status spot_segment_begin(spot_ctx *c, spot_segment *seg, const spot_config *cfg, const spot_identity *id,
                               const spot_ec *ec)
{
    memset(seg, 0, sizeof *seg);
    if (!spot_segment_methods(seg, cfg->bdms))
        return spot_fail(c, SPOT_NOMEM, "no memory for the results of EC %u", ec->index);
    seg->index = (int)ec->index;
    seg->seed = cfg->seed;
    seg->numbers = SPOT_NUMBERS;
    spot_key_text(seg->config, id->config);
    snprintf(seg->build, sizeof seg->build, "%s", SPOT_VERSION);
    snprintf(seg->device, sizeof seg->device, "%s", c->ops->name);
    seg->metric = cfg->metric;
    if (ec->photos) snprintf(seg->layers, sizeof seg->layers, "%s", spot_ec_task(ec));
    else list_names(seg, ec);
    if (!ec->photos) snprintf(seg->induce, sizeof seg->induce, "%s", spot_induce_name(ec->scene.induce));
    seg->strength = spot_induce_strength(&ec->scene);
    memcpy(seg->images, ec->images, sizeof seg->images);
    seg->blindspots = ec->blindspot_count;
    for (int m = 0; m < seg->blindspots; m++) {
        seg->specificity[m] = ec->blindspot[m].specificity;
        spot_ec_describe(seg->blindspot[m], sizeof seg->blindspot[m], ec, m);
    }
    return SPOT_OK;
}

void spot_segment_note(spot_outcome *o, const spot_hypotheses *found)
{
    o->components = found->components;
    for (int k = 0; k < found->len; k++) {
        o->size[k] = found->h[k].len;
        o->order[k] = found->h[k].score;
        o->mean_error[k] = found->h[k].mean_error;
    }
}
