/* shifts_config.h - what the config of shifts says, resolved: folders, captions, keys, units. */
#ifndef SPOTTER_SHIFTS_CONFIG_H
#define SPOTTER_SHIFTS_CONFIG_H

#include "base/key.h"
#include "spotter/shifts.h"
#include "study/yaml.h"

enum { SPOT_CAPTION = 384, SPOT_SHIFT_PATH = 1300 };

/* Unit 0 is the real pictures where there are some; then for each source its base and its shifts. */
enum { SPOT_REAL_PICTURES = -2, SPOT_BASE_PICTURES = -1 };
typedef struct { int source, shift; } spot_shift_unit;     /* shift: index, or one of the two; source -1: of real pictures */

int             spot_shift_units(const spot_shifts_config *cfg);
spot_shift_unit spot_shift_unit_at(const spot_shifts_config *cfg, int unit);
int             spot_shift_unit_of(const spot_shifts_config *cfg, int source, int shift);      /* -1: there is none */
static inline int spot_shift_sources(const spot_shifts_config *cfg) { return cfg->sources ? cfg->sources : 1; }

/* "clean/in_the_snow", "base", "real": the unit's folder below the root, with which the paths of its pictures begin. folder:
 * where it is. name: for people, "clean, in the snow". Each returns text. */
const char *spot_shift_unit_id    (char text[SPOT_SHIFT_PATH], const spot_shifts_config *cfg, spot_shift_unit u);
const char *spot_shift_unit_folder(char text[SPOT_SHIFT_PATH], const spot_shifts_config *cfg, spot_shift_unit u);
const char *spot_shift_unit_name  (char text[160], const spot_shifts_config *cfg, spot_shift_unit u);

/* Whether the folder of the real pictures is a path of its own, not below the root. */
static inline bool spot_shift_is_outside(const char *real) { return real[0] == '/' || real[0] == '.'; }

/* The captions of a shift; shift -1 or -2: of base and real pictures, whose shift caption is "". */
const char *spot_class_caption(char text[SPOT_CAPTION], const spot_shifts_config *cfg, int shift, const char *class_name);
const char *spot_shift_caption(char text[SPOT_CAPTION], const spot_shifts_config *cfg, int shift);

/* Whether an encoder that names the class of `named` of n real pictures is not shown to do much better than a guess: the low
 * end of the share is below a guess and a tenth of what is left. */
bool spot_shift_encoder_guesses(int named, int n, int classes);

/* Whether pictures are filtered by an encoder's similarities. */
static inline bool spot_shifts_encode(const spot_shifts_config *cfg)
{
    return cfg->encoder.weights[0] || cfg->encoder.embeddings[0];
}

/* Hashes the settings that results of units depend on, and no path: data that move keep their results. */
spot_key spot_shifts_key(const spot_shifts_config *cfg);

extern const spot_setting spot_shifts_settings[];
extern const spot_config_kind spot_shifts_kind;

#endif
