/* spotter.h - every public header. The data flow:
 *     config -> EC -> images -> model -> view -> points -> hypotheses -> score -> store -> tables, report */
#ifndef SPOTTER_SPOTTER_H
#define SPOTTER_SPOTTER_H

#include "spotter/agreement.h"
#include "spotter/arena.h"
#include "spotter/array.h"
#include "spotter/bdm.h"
#include "spotter/binding.h"
#include "spotter/check.h"
#include "spotter/clip.h"
#include "spotter/cluster.h"
#include "spotter/config.h"
#include "spotter/ctx.h"
#include "spotter/discover.h"
#include "spotter/embed.h"
#include "spotter/encoder.h"
#include "spotter/forest.h"
#include "spotter/metric.h"
#include "spotter/model.h"
#include "spotter/photos.h"
#include "spotter/report.h"
#include "spotter/rng.h"
#include "spotter/run.h"
#include "spotter/scene.h"
#include "spotter/source.h"
#include "spotter/status.h"
#include "spotter/store.h"
#include "spotter/subject.h"
#include "spotter/sweep.h"
#include "spotter/tensor.h"
#include "spotter/tree.h"
#include "spotter/view.h"
#include "spotter/work.h"

#endif
