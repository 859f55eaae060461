/* binding.c - see spotter/ctx.h. */
#include "spotter/ctx.h"

#include "spotter/background.h"
#include "spotter/claim.h"
#include "spotter/config.h"
#include "spotter/discover.h"
#include "spotter/encoder.h"
#include "spotter/examine.h"
#include "spotter/report.h"
#include "spotter/scene.h"
#include "spotter/versions.h"

const spot_binding_row *spot_binding(int *count)
{
#define SIZE(type)          { #type, sizeof(type) }
#define PLACE(type, member) { #type "." #member, offsetof(type, member) }
    static const spot_binding_row rows[] = {
        SIZE(spot_ctx), SIZE(spot_arena), SIZE(spot_view), SIZE(spot_points), SIZE(spot_subject), SIZE(spot_slice),
        SIZE(spot_fit_tensor), SIZE(spot_fit), SIZE(spot_finding), SIZE(spot_findings), SIZE(spot_discover_options),
        SIZE(spot_interval), SIZE(spot_proof_options), SIZE(spot_piece), SIZE(spot_proof),
        SIZE(spot_versions), SIZE(spot_versions_options), SIZE(spot_version_slice), SIZE(spot_version_class),
        SIZE(spot_version_guard),
        SIZE(spot_subject_files), SIZE(spot_array), SIZE(spot_discover_place),
        SIZE(spot_detection_options), SIZE(spot_instance),
        SIZE(spot_word), SIZE(spot_conjunction), SIZE(spot_attributes), SIZE(spot_describe_options),
        SIZE(spot_encoder_options), SIZE(spot_encoder_info), SIZE(spot_encoder_pictures),
        SIZE(spot_report_options), SIZE(spot_new_picture), SIZE(spot_new_pictures), SIZE(spot_gathered),
        SIZE(spot_gather_options), SIZE(spot_predictor_options), SIZE(spot_measure_options), SIZE(spot_claim_test),
        SIZE(spot_claim_result), SIZE(spot_row_claim), SIZE(spot_row_claim_options),
        SIZE(spot_tree_merge), SIZE(spot_tree_merges),
        SIZE(spot_prediction), SIZE(spot_background_config), SIZE(spot_background_options), SIZE(spot_run_report),
        SIZE(spot_run_place), SIZE(spot_examine_config), SIZE(spot_examine_options),
        SIZE(spot_config), SIZE(spot_scene_config), SIZE(spot_ec), SIZE(spot_blindspot), SIZE(spot_image),
        PLACE(spot_config, scene), PLACE(spot_config, bdm), PLACE(spot_config, bdms), PLACE(spot_config, seed),
        SIZE(spot_bdm_config), PLACE(spot_scene_config, size),
        PLACE(spot_ec, blindspot_count), PLACE(spot_ec, blindspot), PLACE(spot_ec, images),
        PLACE(spot_image, label), PLACE(spot_image, train_label), PLACE(spot_image, blindspots),
    };

    *count = (int)(sizeof rows / sizeof *rows);
    return rows;
}

const char *spot_version(void) { return SPOT_VERSION; }
