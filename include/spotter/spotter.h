/* spotter.h - every public header, in the order in which to read them.
 *
 *     config -> EC -> images -> model -> view -> points -> hypotheses -> score -> results -> tables, report
 *
 * That is a sweep. Each other study begins and ends elsewhere and shares what lies between (README.md). A function that can
 * fail returns a spot_status; the sentence lies in the context. Memory comes from the caller's arena. */
#ifndef SPOTTER_SPOTTER_H
#define SPOTTER_SPOTTER_H

/* The ground: what a call returns, memory, random numbers. */
#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/interval.h"
#include "spotter/rng.h"
#include "spotter/status.h"

/* Values and stages: images -> model -> view -> points -> hypotheses -> score. */
#include "spotter/bdm.h"
#include "spotter/cluster.h"
#include "spotter/embed.h"
#include "spotter/mesh.h"
#include "spotter/metric.h"
#include "spotter/model.h"
#include "spotter/scene.h"
#include "spotter/view.h"

/* Trees, keywords and words: what describes a group of images. */
#include "spotter/describe.h"
#include "spotter/forest.h"
#include "spotter/ontology.h"

/* The user's own things: files, rows, programs that answer, encoders. */
#include "spotter/array.h"
#include "spotter/encoder.h"
#include "spotter/predictor.h"
#include "spotter/subject.h"

/* Runs: settings, units of work. */
#include "spotter/config.h"
#include "spotter/work.h"

/* The studies, and claims about their findings on new pictures. */
#include "spotter/background.h"
#include "spotter/background_pictures.h"
#include "spotter/claim.h"
#include "spotter/discover.h"
#include "spotter/examine.h"
#include "spotter/examiner.h"
#include "spotter/failures.h"
#include "spotter/plant.h"
#include "spotter/shifts.h"
#include "spotter/sweep.h"
#include "spotter/verdict.h"
#include "spotter/zoo.h"

/* Comparisons, verdicts and reports. */
#include "spotter/check.h"
#include "spotter/report.h"
#include "spotter/versions.h"

#endif
