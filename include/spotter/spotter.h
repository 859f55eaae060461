/* spotter.h - everything, in the order of the data flow:
 *     config -> EC -> images -> model -> view -> points -> hypotheses -> score -> store -> tables, report */
#ifndef SPOTTER_H
#define SPOTTER_H

#include "spotter/status.h"
#include "spotter/ctx.h"
#include "spotter/arena.h"
#include "spotter/tensor.h"
#include "spotter/array.h"
#include "spotter/rng.h"
#include "spotter/scene.h"
#include "spotter/model.h"
#include "spotter/view.h"
#include "spotter/embed.h"
#include "spotter/cluster.h"
#include "spotter/tree.h"
#include "spotter/bdm.h"
#include "spotter/metric.h"
#include "spotter/config.h"
#include "spotter/store.h"
#include "spotter/sweep.h"
#include "spotter/shards.h"
#include "spotter/subject.h"
#include "spotter/discover.h"
#include "spotter/report.h"
#include "spotter/check.h"
#include "spotter/binding.h"

#endif
