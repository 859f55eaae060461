/* report.h - pictures of results. */
#ifndef SPOTTER_REPORT_H
#define SPOTTER_REPORT_H

#include "spotter/bdm.h"
#include "spotter/ctx.h"
#include "spotter/metric.h"
#include "spotter/model.h"
#include "spotter/scene.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One EC and one method as a PNG: the map (first two columns of the points) coloured by confidence, the hypotheses
 * outlined, the true blindspots marked; beside it thumbnails of the top hypotheses. Written whole or not at all. */
spot_status spot_report_ec(spot_ctx *c, const char *path, const char *method, const spot_ec *ec,
                           const spot_lesson *lesson, const spot_view *view, const spot_truth *truth,
                           const spot_points *points, const spot_hypotheses *found, const spot_score *score);

#ifdef __cplusplus
}
#endif
#endif
