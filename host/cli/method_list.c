/* method_list.c - see method_list.h. */
#include "cli/method_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "bdm/methods.h"
#include "models/embed_settings.h"

/* Reads one of a setting's names. */
static spot_status read_name(spot_ctx *c, int *value, const spot_setting *s, const char *text)
{
    const char *near = spot_nearest(text, s->names);
    char takes[256];

    if (spot_setting_read(s, value, &text)) return SPOT_OK;
    if (near) return spot_fail(c, SPOT_USAGE, "--method: %s is \"%s\"; did you mean \"%s\"?", s->name, text, near);
    return spot_fail(c, SPOT_USAGE, "--method: %s is \"%s\"; it takes %s", s->name, text,
                     spot_setting_takes(takes, sizeof takes, s));
}

spot_status cli_methods_read(spot_ctx *c, spot_config *cfg, const char *list)
{
    char words[501], name[80], other[80];

    if (!*list || strlen(list) > 500 ||
        strspn(list, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-,") != strlen(list))
        return spot_fail(c, SPOT_USAGE, "--method takes names such as planespot or planespot-tsne,domino");
    strcpy(words, list);
    SPOT_TRY(spot_config_room(c, cfg, SPOT_MAX_BDMS, 0));
    cfg->bdms = 0;
    for (char *method = words, *next; method && *method; method = next, cfg->bdms++) {
        spot_bdm_config *m = &cfg->bdm[cfg->bdms];
        char *reducer;
        int number;
        next = strchr(method, ',');
        if (next) *next++ = 0;
        reducer = strchr(method, '-');
        if (reducer) *reducer++ = 0;
        SPOT_TRY(read_name(c, &number, spot_bdm_settings, method));
        *m = spot_bdm_defaults(number);
        if (reducer) SPOT_TRY(read_name(c, &m->embed.method, spot_embed_settings, reducer));
        spot_bdm_name(m, name, sizeof name);
        for (int i = 0; i < cfg->bdms; i++)
            if (!strcmp(name, spot_bdm_name(&cfg->bdm[i], other, sizeof other)))
                return spot_fail(c, SPOT_USAGE, "--method names %s twice", name);
    }
    return SPOT_OK;
}

spot_status cli_class_read(spot_ctx *c, int *cls, const char *text, const spot_subject *s)
{
    char *end;
    long v;

    *cls = SPOT_EACH_AND_ALL;
    if (!text || !strcmp(text, "both")) return SPOT_OK;
    *cls = SPOT_EACH_CLASS;
    if (!strcmp(text, "each")) return SPOT_OK;
    *cls = SPOT_ALL_CLASSES;
    if (!strcmp(text, "all")) return SPOT_OK;
    for (*cls = 0; *cls < s->classes; ++*cls)
        if (!strcmp(s->class_name[*cls], text)) return SPOT_OK;
    errno = 0;
    v = strtol(text, &end, 10);
    if (!errno && *text && !*end && v >= 0 && v < s->classes) {
        *cls = (int)v;
        return SPOT_OK;
    }
    return spot_fail(c, SPOT_USAGE, "there is no class \"%s\"; there are %d of them, the first is \"%s\" and the last \"%s\"",
                     text, s->classes, s->class_name[0], s->class_name[s->classes - 1]);
}
