/* groups_note.c - what a slice's groups leave open, as a sentence. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "discover/subject/subject_memory.h"
#include "spotter/discover.h"

enum { NAME = 100 };                   /* bytes of a group's name that are shown */

/* The group of its first judged row. */
static int first_group(const spot_subject *s, const spot_slice *p)
{
    int i = 0;

    while (i < p->size - 1 && !(p->proof->origin[i] & SPOT_ORIGIN_JUDGED)) i++;
    return s->group && p->size ? s->group[p->row[i]] : -1;
}

const char *spot_groups_note(char text[SPOT_GROUPS_NOTE], const spot_subject *s, const spot_slice *p, double level)
{
    const int m = p->proof ? p->proof->groups : 0, g = m == 1 ? first_group(s, p) : -1;
    const char *own = g >= 0 && s->group_name ? s->group_name[g] : "";
    const size_t most = strlen(own) < NAME ? strlen(own) : NAME;
    char name[NAME + 4] = "";

    *text = 0;
    if (m == 1) {
        if (*own) snprintf(name, sizeof name, " (%.*s)", (int)spot_utf8(own, most), own);
        snprintf(text, SPOT_GROUPS_NOTE, "fails in this group%s; 1 group proves nothing about others", name);
    } else if (m > 1 && p->proof->least_p > level)
        snprintf(text, SPOT_GROUPS_NOTE, "its judged rows lie in %d groups, which prove nothing about others: whatever fails "
                 "there, p is not below %.2g", m, p->proof->least_p);
    return text;
}
