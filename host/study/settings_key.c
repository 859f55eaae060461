/* settings_key.c - walks two groups of settings, or one for its key. */
#include "study/settings_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VALUE = 1100, NAME = 128 };

/* ---- keys ---- */

static void value_text(char text[VALUE], const spot_setting *s, const void *value)
{
    const double *real = value;
    const int *i = value;
    const char *word;

    switch (s->kind) {
    case SETTING_RANGE: snprintf(text, VALUE, "[%d, %d]", i[0], i[1]); break;
    case SETTING_SEED:  snprintf(text, VALUE, "%" PRIu64, *(const uint64_t *)value); break;
    case SETTING_REAL:  snprintf(text, VALUE, "%.17g", *real); break;
    case SETTING_SPAN:  snprintf(text, VALUE, "[%.17g, %.17g]", real[0], real[1]); break;
    case SETTING_NAME:  snprintf(text, VALUE, "%s", s->names[*i]); break;
    case SETTING_TEXT:
        word = spot_setting_word(value);
        snprintf(text, VALUE, "%s", s->counts_as ? s->counts_as(word) : word);
        break;
    default:            snprintf(text, VALUE, "%d", *i); break;
    }
}

/* The value at which an uncounted setting stands in a key that has blanks. */
static const void *blank_value(const spot_setting *s)
{
    static const double zeros[2];
    static const char *const empty = "";

    return s->kind == SETTING_TEXT ? (const void *)&empty : zeros;
}

/* Whether a key leaves the setting out. A group or a list is left out as a whole only where no entry of it can count. */
static bool is_left_out(const spot_setting_walk *w, unsigned affects, const spot_key_rule *rule)
{
    const spot_setting *s = w->s;
    const bool counts = affects & rule->affects;

    if (!spot_setting_applies(s, w->group) || (rule->used && spot_setting_is_idle(s, w->group))) return true;
    if (s->kind == SETTING_LIST) return !counts || s->grows;
    if (s->kind == SETTING_GROUP) return false;
    if (!counts) return !rule->blanks || s->newer & rule->newer;
    return s->newer & rule->newer && spot_setting_is_default(s, w->value);
}

spot_key spot_settings_key(spot_key k, const spot_setting *rows, const void *group, const char *above, unsigned affects,
                           const spot_key_rule *rule)
{
    char name[NAME], value[VALUE];

    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        const unsigned own = w.affects ? w.affects : affects;
        if (is_left_out(&w, own, rule)) continue;
        snprintf(name, sizeof name, "%s%s%s", above, w.s->name, w.s->rows ? "." : "");
        if (w.s->kind == SETTING_GROUP) k = spot_settings_key(k, w.s->rows, w.value, name, own, rule);
        for (int e = 0; w.s->kind == SETTING_LIST && e < spot_setting_entries(w.s, w.group); e++)
            k = spot_settings_key(k, w.s->rows, spot_setting_entry(w.s, w.value, e), name, own, rule);
        if (w.s->rows) continue;
        value_text(value, w.s, own & rule->affects ? w.value : blank_value(w.s));
        k = spot_key_join(k, name, value, strlen(value));
    }
    return k;
}

/* ---- differences ---- */

/* first: only the first one is described, in a sentence; `more` counts those that a list has no room for. */
typedef struct {
    char *text;
    size_t size, used;
    bool first;
    int n, more;
    unsigned affects;
    bool used_alone;           /* settings that the value of another makes unused are no difference */
} differences;

static void add_difference(differences *t, const char *name, const char *saved, const char *here)
{
    char *end = t->text + t->used;
    size_t room = t->size - t->used;
    int n;

    t->n++;
    if (t->first && t->n == 1) snprintf(end, room, "%s is %s there and %s here", name, saved, here);
    if (t->first) return;
    n = snprintf(end, room, "%s%s=%s (%s)", t->used ? ", " : "", name, here, saved);
    if (!t->more && (size_t)n + sizeof ", and 9999 more" <= room) t->used += (size_t)n;
    else snprintf(end, room, "%s%d more", t->used ? ", and " : "", ++t->more);
}

static void compare_groups(differences *t, const spot_setting *rows, const void *saved, const void *here, const char *above,
                           unsigned affects);

/* A list of other length is one difference; else its entries are compared. */
static void compare_lists(differences *t, const spot_setting *s, const void *saved, const void *here, const char *above,
                          unsigned affects)
{
    const char *group = (const char *)here - s->offset, *old = (const char *)saved - s->offset;
    const int n = spot_setting_entries(s, group), before = spot_setting_entries(s, old);
    char name[NAME + 24], a[16], b[16];

    if (n != before && (!s->grows || t->affects & SPOT_AFFECTS_EXTENT)) {
        snprintf(name, sizeof name, "the number of %s%s", above, s->name);
        snprintf(a, sizeof a, "%d", before);
        snprintf(b, sizeof b, "%d", n);
        if (affects & t->affects) add_difference(t, name, a, b);
        return;
    }
    for (int e = 0; e < n && e < before; e++) {
        snprintf(name, sizeof name, "%s%s[%d].", above, s->name, e);
        compare_groups(t, s->rows, spot_setting_entry(s, saved, e), spot_setting_entry(s, here, e), name, affects);
    }
}

/* Whether two texts, of which paths are no difference, count as the same. */
static bool is_moved(const differences *t, const spot_setting *s, const void *saved, const void *here)
{
    return s->counts_as && !(t->affects & SPOT_AFFECTS_PATH)
        && !strcmp(s->counts_as(spot_setting_word(saved)), s->counts_as(spot_setting_word(here)));
}

/* Whether a row is passed over: it counts for nothing asked, is a list of other runs, or the number of units, which grows. */
static bool is_no_difference(const differences *t, const spot_setting *s, unsigned affects)
{
    if (s->affects == SPOT_AFFECTS_EXTENT) return !s->rows || !(t->affects & SPOT_AFFECTS_EXTENT);
    return !s->rows && !(affects & t->affects);
}

/* Walks the rows that `here` has; `on_device` may be of another method. */
static void compare_groups(differences *t, const spot_setting *rows, const void *saved, const void *here, const char *above,
                           unsigned affects)
{
    char name[NAME], a[VALUE], b[VALUE];

    for (spot_setting_walk w = spot_settings_walk(rows, here); w.s; spot_settings_next(&w)) {
        const spot_setting *s = w.s;
        const char *y = w.value, *x = (const char *)saved + (y - (const char *)here), *group = x - s->offset;
        const unsigned own = w.affects ? w.affects : affects;
        if (!spot_setting_applies(s, group) && !spot_setting_applies(s, w.group)) continue;
        if (t->used_alone && spot_setting_is_idle(s, w.group)) continue;
        if (is_no_difference(t, s, own)) continue;
        snprintf(name, sizeof name, "%s%s%s", above, s->name, s->kind == SETTING_GROUP ? "." : "");
        if (s->kind == SETTING_LIST) compare_lists(t, s, x, y, above, own);
        else if (s->kind == SETTING_GROUP) compare_groups(t, s->rows, x, y, name, own);
        else if (strcmp(spot_setting_text(a, sizeof a, s, x), spot_setting_text(b, sizeof b, s, y)) && !is_moved(t, s, x, y))
            add_difference(t, name, a, b);
    }
}

bool spot_settings_differ(char *words, size_t size, const spot_setting *rows, const void *saved, const void *here,
                          unsigned affects)
{
    differences t = { .text = words, .size = size, .first = true, .affects = affects };

    compare_groups(&t, rows, saved, here, "", 0);
    return t.n;
}

int spot_settings_differences(char *text, size_t size, const spot_setting *rows, const void *saved, const void *here,
                              unsigned affects, bool used)
{
    differences t = { .text = text, .size = size, .affects = affects, .used_alone = used };

    *text = 0;
    compare_groups(&t, rows, saved, here, "", 0);
    return t.n;
}
