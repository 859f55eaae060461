/* config_files.c - walks the settings that name files. */
#define _POSIX_C_SOURCE 200809L
#include "study/config_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "models/foreign_model.h"
#include "spotter/encoder.h"

enum { NAME = 160, PATH = 256 };           /* PATH: the least room of a setting that is a path */

/* Whether the text, which the config sets, names a file or a folder of the user: neither a program nor a word for people, which
 * have less room than a path, nor something that the study makes itself. */
static bool is_read(const spot_setting_walk *w, const char *made)
{
    const char *text = spot_setting_word(w->value);
    const size_t n = strlen(made);

    if (!(w->affects & SPOT_AFFECTS_PATH) || w->s->hi < PATH || !strcmp(w->s->name, "command")) return false;
    if (!*text || spot_setting_is_default(w->s, w->value)) return false;
    if (n && !strncmp(text, made, n) && text[n] == '/') return false;
    return strcmp(text, SPOT_NEUTRAL) && (!spot_is_foreign(text) || spot_is_foreign_file(text));
}

static spot_status check_text(spot_ctx *c, const char *name, const char *path)
{
    if (!access(path, R_OK)) return SPOT_OK;
    return spot_fail(c, SPOT_IO, "{config.file} cannot read %.300s, which is %s in the config: %s; correct the path, which "
                     "begins at the current directory unless it begins with /", path, name, spot_file_reason(errno));
}

/* above: the path before the names ("models[1]."), or "". */
static spot_status check_group(spot_ctx *c, const spot_setting *rows, const void *group, const char *above, const char *made)
{
    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        const spot_setting *s = w.s;
        char name[NAME];
        snprintf(name, sizeof name, "%s%s%s", above, s->name, s->kind == SETTING_GROUP ? "." : "");
        if (!spot_setting_applies(s, w.group) || spot_setting_is_idle(s, w.group)) continue;
        if (s->kind == SETTING_GROUP) SPOT_TRY(check_group(c, s->rows, w.value, name, made));
        for (int e = 0; s->kind == SETTING_LIST && e < spot_setting_entries(s, w.group); e++) {
            snprintf(name, sizeof name, "%s%s[%d].", above, s->name, e);
            SPOT_TRY(check_group(c, s->rows, spot_setting_entry(s, w.value, e), name, made));
        }
        if (s->kind == SETTING_TEXT && is_read(&w, made))
            SPOT_TRY(check_text(c, name, spot_setting_word(w.value)));
    }
    return SPOT_OK;
}

spot_status spot_config_files_check(spot_ctx *c, const spot_setting *rows, const void *group, const char *made)
{
    return check_group(c, rows, group, "", made);
}
