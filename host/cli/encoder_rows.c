/* encoder_rows.c - see encoder_rows.h. */
#include "cli/encoder_rows.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void cli_encoder_defaults(cli_encoder *e) { e->o = spot_encoder_defaults(); }

/* A whole number from `least`; *text goes behind it. */
static bool read_number(const char **text, int least, int *v)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(*text, &end, 10);
    if (end == *text || strchr(" \t+-", **text) || errno || n < least || n > INT_MAX) return false;
    *text = end;
    *v = (int)n;
    return true;
}

spot_status cli_encoder_options(spot_ctx *c, cli_encoder *e, const char *prefix)
{
    spot_clip_options *o = &e->o.clip;
    const char *heads = e->heads, *end = e->end;

    o->activation = (spot_clip_activation)e->activation;
    o->precision = (spot_precision)e->precision;
    if (heads) {
        bool good = read_number(&heads, 1, &o->image_heads);
        o->text_heads = o->image_heads;
        if (good && *heads == ',') heads++, good = read_number(&heads, 1, &o->text_heads);
        if (!good || *heads)
            return spot_fail(c, SPOT_USAGE, "--%sheads takes the heads of the tower for pictures and of the one for texts, "
                             "such as 12,8, not \"%s\"", prefix, e->heads);
    }
    if (end && !strcmp(end, "greatest")) {
        o->end = SPOT_CLIP_GREATEST_ID;
    } else if (end) {
        o->end = SPOT_CLIP_FIRST_END;
        if (!read_number(&end, 0, &o->end_id) || *end)
            return spot_fail(c, SPOT_USAGE, "--%send-token is greatest or a token's id, such as 49407, not \"%s\"", prefix,
                             e->end);
    }
    return SPOT_OK;
}
