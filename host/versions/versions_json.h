/* versions_json.h - two versions of a classifier as members of a JSON object. */
#ifndef SPOTTER_VERSIONS_JSON_H
#define SPOTTER_VERSIONS_JSON_H

#include "base/json.h"
#include "spotter/versions.h"

/* s: the first version. */
void spot_versions_put(spot_json *j, const spot_versions *v, const spot_subject *s);

#endif
