/* examine_config.h - what the config of an examination says: its table, its keys, its factors, its objects. */
#ifndef SPOTTER_EXAMINE_CONFIG_H
#define SPOTTER_EXAMINE_CONFIG_H

#include "base/key.h"
#include "image/render.h"
#include "spotter/examine.h"
#include "study/yaml.h"

enum { SPOT_EXAMINE_PATH = 1300, SPOT_EXAMINE_NUMBERS = 3 };

extern const spot_setting spot_examine_settings[];

/* The paper's range of a factor. */
double spot_factor_least(int factor);
double spot_factor_most(int factor);

/* The points of the curves, from `curve`: false where it is no ascending list, or does not end at `renders`. */
bool spot_examine_points(spot_examine_search *s);

/* The space of a search, and the factors outside of it: NaN for those that are drawn for each object. */
spot_status spot_examine_space(spot_ctx *c, spot_factor_space *s, spot_conditions *fixed, const spot_examine_config *cfg);

/* The settings of render.h. */
spot_render_settings spot_examine_rendering(const spot_examine_config *cfg);

/* Classes that are not left out, and units of a config whose classes are known. */
int spot_examine_classes(const spot_examine_config *cfg);
int spot_examine_objects_of_a_model(const spot_examine_config *cfg);
int spot_examine_units(const spot_examine_config *cfg);

/* The parts of a unit's number. */
typedef struct { int model, examiner, seed, object; } spot_examine_unit;
spot_examine_unit spot_examine_unit_of(const spot_examine_config *cfg, int unit);

/* The first unit of a model under an examiner; then come its objects, seed by seed. */
static inline const spot_examine_result *spot_examine_first_unit(const spot_examine_results *r, int model, int examiner)
{
    return &r->unit[(model * r->cfg->examiners + examiner) * r->cfg->search.seeds * r->objects];
}

/* Hashes the settings on which a unit's result depends, and no path: data that move keep their results. The models are not part
 * of it: a result has the hash of its model. */
spot_key spot_examine_key(const spot_examine_config *cfg);

extern const spot_config_kind spot_examine_kind;

#endif
