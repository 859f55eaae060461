/* settings_key.h - keys and differences of settings, by what each row says that it affects (base/setting.h).
 *
 * A key hashes the names and values (as text) of exactly those settings that can change the keyed result. So a value is found
 * again after any other change. No struct is hashed as bytes, because padding has no meaning. */
#ifndef SPOTTER_SETTINGS_KEY_H
#define SPOTTER_SETTINGS_KEY_H

#include "base/key.h"
#include "base/setting.h"

typedef struct {
    unsigned affects;          /* spot_affects: settings that affect one of these count */
    unsigned newer;            /* spot_setting_age: the default of a setting of this age is left out */
    bool used;                 /* a setting that the value of another makes unused is left out */
    bool blanks;               /* a setting that does not count is hashed as 0 or "", and is not left out: keys of runs that
                                * exist were made so */
} spot_key_rule;

/* k joined with the settings of a group. above: the path before their names ("scene."), or "". affects: what rows affect that
 * say nothing. */
spot_key spot_settings_key(spot_key k, const spot_setting *rows, const void *group, const char *above, unsigned affects,
                           const spot_key_rule *rule);

/* The settings of two groups that differ, of those that affect one of `affects`; `here` decides which settings there are.
 * differ: a sentence about the first one, "scene.size is 64 there and 32 here"; false: none differs. differences: a list of
 * all, "scene.size=64 (224), model.width=32 (64)", with there's values in brackets, and "and 3 more" if the text is too short;
 * returns their number. A list that grows differs in the entries that both have. */
bool spot_settings_differ     (char *words, size_t size, const spot_setting *rows, const void *saved, const void *here,
                               unsigned affects);
int  spot_settings_differences(char *text, size_t size, const spot_setting *rows, const void *saved, const void *here,
                               unsigned affects, bool used);

#endif
