/* budget.h - figures that a run may reach, in a file of lines "GROUP NAME FIGURE...": a word each.
 *
 * A figure is a ceiling with a fifth of air: an innocent edit stays below it. A name that the file lacks is held to the
 * first line of its group whose own name is gone, so that a rename breaks nothing. Figures that fell by more than a fifth are
 * told. */
#ifndef SPOTTER_EMULATOR_BUDGET_H
#define SPOTTER_EMULATOR_BUDGET_H

#include <stdlib.h>

#include "checks.h"

enum { BUDGET_ROWS = 256, BUDGET_FIGURES = 3 };

typedef struct { char group[80], name[96]; long long figure[BUDGET_FIGURES]; bool taken; } budget_row;
typedef struct { budget_row row[BUDGET_ROWS]; int rows, figures; const char *what[BUDGET_FIGURES]; } budget;

static inline budget_row *budget_add(budget *b, const char *group, const char *name)
{
    budget_row *r = &b->row[b->rows++];

    assert_true(b->rows <= BUDGET_ROWS && strlen(group) < sizeof r->group && strlen(name) < sizeof r->name);
    strcpy(r->group, group);
    strcpy(r->name, name);
    return r;
}

/* A line's words from the last on: figures, the name, the group. */
static inline void budget_read(budget *b, const char *path)
{
    FILE *f = fopen(path, "r");
    char line[256];

    if (!f) fail_msg("%s is not there", path);
    while (fgets(line, sizeof line, f)) {
        long long figure[BUDGET_FIGURES];
        budget_row *r;
        if (line[0] == '#') continue;
        for (int i = b->figures; i >= 0; i--) {
            char *word = strrchr(line, ' ');
            assert_non_null(word);
            *word = 0;
            if (i) figure[i - 1] = atoll(word + 1);
            else r = budget_add(b, line, word + 1), memcpy(r->figure, figure, sizeof figure);
        }
    }
    fclose(f);
}

static inline void budget_write(const budget *b, const char *path)
{
    FILE *f = path ? fopen(path, "a") : NULL;

    for (int i = 0; f && i < b->rows; i++) {
        fprintf(f, "%s %s", b->row[i].group, b->row[i].name);
        for (int k = 0; k < b->figures; k++) fprintf(f, " %lld", b->row[i].figure[k]);
        fputc('\n', f);
    }
    if (f) fclose(f);
}

static inline budget_row *budget_take(budget *b, const budget_row *r, bool any_name)
{
    for (int i = 0; i < b->rows; i++)
        if (!b->row[i].taken && !strcmp(b->row[i].group, r->group) && (any_name || !strcmp(b->row[i].name, r->name))) {
            b->row[i].taken = true;
            return &b->row[i];
        }
    return NULL;
}

/* How many figures of `now` are more than a fifth above the budget `most`, or have no line there. */
static inline int budget_over(const budget *now, budget *most)
{
    const budget_row *held[BUDGET_ROWS];
    int over = 0;

    for (int i = 0; i < now->rows; i++) held[i] = budget_take(most, &now->row[i], false);
    for (int i = 0; i < now->rows; i++) {
        const budget_row *r = &now->row[i], *m = held[i] ? held[i] : budget_take(most, r, true);
        if (!m) print_error("%s %s has no line in the budget\n", r->group, r->name);
        else if (!held[i]) print_message("%s %s is new and held to %s's line\n", r->group, r->name, m->name);
        over += !m;
        for (int k = 0; m && k < now->figures; k++) {
            const bool above = 5 * r->figure[k] > 6 * m->figure[k], below = 5 * r->figure[k] < 4 * m->figure[k];
            over += above;
            if (above || below)
                print_message("%s %s: %lld %s, the budget has %lld%s\n", r->group, r->name, r->figure[k], now->what[k],
                              m->figure[k], above ? "" : ": lower it");
        }
    }
    return over;
}

#endif
