/* binding.c - see spotter/binding.h. */
#include "spotter/binding.h"

#include "spotter/config.h"
#include "spotter/discover.h"
#include "spotter/scene.h"

const spot_binding_row *spot_binding(int *count)
{
#define SIZE(type)          { #type, sizeof(type) }
#define PLACE(type, member) { #type "." #member, offsetof(type, member) }
    static const spot_binding_row rows[] = {
        SIZE(spot_ctx), SIZE(spot_arena), SIZE(spot_view), SIZE(spot_points), SIZE(spot_subject), SIZE(spot_slice),
        SIZE(spot_fit_tensor), SIZE(spot_fit), SIZE(spot_finding), SIZE(spot_findings), SIZE(spot_discover_options),
        SIZE(spot_scene_config), SIZE(spot_triplet), SIZE(spot_blindspot), SIZE(spot_ec), SIZE(spot_object), SIZE(spot_image),
        SIZE(spot_config), SIZE(spot_bdm_config),
        PLACE(spot_config, seed), PLACE(spot_config, scene), PLACE(spot_config, bdms), PLACE(spot_config, bdm),
        PLACE(spot_finding, slice), PLACE(spot_finding, fit), PLACE(spot_finding, message),
        PLACE(spot_ec, blindspot), PLACE(spot_ec, images), PLACE(spot_image, blindspots), PLACE(spot_image, object),
        { "SPOT_LAYERS", SPOT_LAYERS }, { "SPOT_ATTRIBUTES", SPOT_ATTRIBUTES }, { "SPOT_MAX_OBJECTS", SPOT_MAX_OBJECTS },
    };

    *count = (int)(sizeof rows / sizeof *rows);
    return rows;
}

const char *spot_version(void) { return SPOT_VERSION; }
