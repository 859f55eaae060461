/* groups_read.c - which rows belong together: frames of a video, images of a patient, boxes of a picture. */
#include <stdlib.h>
#include <string.h>

#include "discover/subject/subject_memory.h"
#include "discover/subject/subject_reading.h"

enum { NAMED = 5 };

/* Equal cells get the number of their first row; a missing cell has a number of its own. */
static void number_cells(spot_subject *s, char **cell, const int *order)
{
    static char none[1];
    int first = 0;

    for (int i = 0; i < s->n; i++) {
        const int row = order[i];
        if (!i || strcmp(cell[row], cell[first])) first = row;
        s->group[row] = spot_is_missing(cell[row], strlen(cell[row])) ? row : first;
        if (s->group[row] != first) cell[row] = none;
    }
    for (int i = 0; i < s->n; i++)
        if (s->group[i] == i && spot_is_missing(cell[i], strlen(cell[i]))) cell[i] = none;
}

spot_status spot_groups_of_cells(spot_ctx *c, spot_subject *s, char **cell)
{
    int *order = malloc((size_t)s->n * sizeof *order);
    spot_status st = order ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d groups", s->n);

    if (!st) st = SPOT_SUBJECT_TAKE(c, s, s->group, s->n);
    if (!st) spot_words_sort(order, cell, s->n);
    if (!st) number_cells(s, cell, order);
    if (!st) s->group_name = cell, s->groups = s->n;
    free(order);
    return st;
}

/* Each row is a group, so that nothing else makes groups. */
spot_status spot_groups_of_rows(spot_ctx *c, spot_subject *s)
{
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->group, s->n));
    for (int i = 0; i < s->n; i++) s->group[i] = i;
    s->groups = s->n;
    s->group_name = NULL;
    return SPOT_OK;
}

spot_status spot_groups_read(spot_rows_reading *r, spot_array *a)
{
    char **cell;

    if (!r->files->groups) return SPOT_OK;
    if (!strcmp(r->files->groups, SPOT_GROUPS_ROWS)) return spot_groups_of_rows(r->c, r->s);
    SPOT_TRY(spot_rows_cells(r, a, r->files->groups, &cell));
    return spot_groups_of_cells(r->c, r->s, cell);
}

/* ---- when all rows are read ---- */

/* Numbers the groups of the rows that are left from 0, in the order of their first rows. new (groups): memory. */
static spot_status number_again(spot_ctx *c, spot_subject *s, int *new)
{
    char **name = NULL;
    int groups = 0;

    for (int g = 0; g < s->groups; g++) new[g] = -1;
    if (s->group_name) SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, name, s->groups));
    for (int i = 0; i < s->n; i++) {
        const int g = s->group[i];
        if (new[g] < 0) {
            if (name) name[groups] = s->group_name[g];
            new[g] = groups++;
        }
        s->group[i] = new[g];
    }
    s->groups = groups;
    s->group_name = name;
    return SPOT_OK;
}

/* rows (groups): how many rows each has. Returns the group with most of them. */
static int count_rows(const spot_subject *s, int *rows)
{
    int most = 0;

    memset(rows, 0, (size_t)s->groups * sizeof *rows);
    for (int i = 0; i < s->n; i++) rows[s->group[i]]++;
    for (int g = 0; g < s->groups; g++)
        if (rows[g] > rows[most]) most = g;
    return most;
}

int spot_groups_largest(const spot_subject *s)
{
    int *rows = s->group ? malloc((size_t)s->groups * sizeof *rows) : NULL, most = rows ? rows[count_rows(s, rows)] : 0;

    free(rows);
    return most;
}

/* Classes of several rows that lie in one group: no half can judge what the other finds. */
static spot_status warn_of_classes(spot_ctx *c, const spot_subject *s, const char *where)
{
    enum { SEVERAL = -1 };
    struct { int group, rows; } *of = calloc((size_t)s->classes, sizeof *of);
    char *name[NAMED] = { NULL }, listed[512];
    int few = 0;

    if (!of) return spot_fail(c, SPOT_NOMEM, "no memory for %d classes", s->classes);
    for (int i = 0; i < s->n; i++)
        for (int k = s->target ? s->target[i] : 0; k < (s->target ? s->target[i] + 1 : s->classes); k++) {
            if (!spot_subject_is_of(s, i, k)) continue;
            of[k].group = !of[k].rows++ || of[k].group == s->group[i] ? s->group[i] : SEVERAL;
        }
    for (int k = 0; k < s->classes; k++) {
        if (of[k].rows < 2 || of[k].group == SEVERAL) continue;
        if (few < NAMED) name[few] = s->class_name[k];
        few++;
    }
    if (few)
        spot_log(c, SPOT_LOG_WARN, "%s: all rows of %s %s%s lie in one group: nothing that is found there can be judged on "
                 "rows of another", where, few > 1 ? "the classes" : "the class",
                 spot_words_listed(listed, name, few < NAMED ? few : NAMED), few > NAMED ? ", ..." : "");
    free(of);
    return SPOT_OK;
}

static void say_groups(spot_ctx *c, const spot_subject *s, const char *where, const int *rows, int most)
{
    const char *name = s->group_name ? s->group_name[most] : "";
    int missing = 0;

    for (int g = 0; s->group_name && g < s->groups; g++) missing += !*s->group_name[g];
    if (s->groups == s->n)
        spot_log(c, SPOT_LOG_INFO, "%s: each of %d rows is a group of its own, as if there were no groups", where, s->n);
    else if (s->groups == 1)
        spot_log(c, SPOT_LOG_INFO, "%s: all %d rows are in one group%s%.80s", where, s->n, *name ? ", " : "", name);
    else
        spot_log(c, SPOT_LOG_INFO, "%s: %d rows are in %d groups, the largest%s%.80s%s has %d rows; rows of a group stay "
                 "together", where, s->n, s->groups, *name ? ", " : "", name, *name ? "," : "", rows[most]);
    if (missing)
        spot_log(c, SPOT_LOG_WARN, "%s: %d rows have no group; each is a group of its own", where, missing);
}

spot_status spot_groups_settle(spot_ctx *c, spot_subject *s, const char *where)
{
    const bool chosen = where && strcmp(where, SPOT_GROUPS_ROWS);
    spot_status st;
    int *number;

    if (!s->group) return SPOT_OK;
    number = malloc((size_t)(s->groups > 0 ? s->groups : 1) * sizeof *number);
    if (!number) return spot_fail(c, SPOT_NOMEM, "no memory for %d groups", s->groups);
    st = number_again(c, s, number);
    if (!st && chosen) say_groups(c, s, where, number, count_rows(s, number));
    free(number);
    return st;
}

spot_status spot_groups_check(spot_ctx *c, const spot_subject *s, const char *where)
{
    if (!s->group || s->n < 2) return SPOT_OK;
    if (s->groups == 1)
        return spot_fail(c, SPOT_INPUT, "{groups.one} %s: all %d rows are in one group; what holds for one group proves "
                         "nothing about others, so give rows of several, or leave the groups out", where, s->n);
    return s->groups < s->n ? warn_of_classes(c, s, where) : SPOT_OK;
}
