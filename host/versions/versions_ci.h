/* versions_ci.h - two versions of a model for continuous integration: each slice, class or number of a study is a test. */
#ifndef SPOTTER_VERSIONS_CI_H
#define SPOTTER_VERSIONS_CI_H

#include "result/ci_report.h"
#include "spotter/versions.h"

/* The rows of a comparison of classifiers. */
typedef struct { const spot_versions *v; const spot_subject *s; } spot_versions_root;

/* r refers to the other arguments; s: the first version. The caller sets r->input and r->page. */
void spot_versions_ci(spot_ci_report *r, const spot_versions_root *root);
void spot_models_ci  (spot_ci_report *r, const spot_model_comparison *k);

#endif
