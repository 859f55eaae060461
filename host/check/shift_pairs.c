/* shift_pairs.c - what a run of shifts and its baseline have in common, and whether equal inputs gave equal counts. */
#include "check/shift_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "spotter/shifts.h"

/* ---- what both sides have ---- */

static int find_name(const char *name, const char *list, size_t size, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(list + (size_t)i * size, name)) return i;
    return -1;
}

/* Pairs equal names; both lists are short or, as classes, mostly in one order. */
static int pair_names(int *at_a, int *at_b, const char *a, int n, const char *b, int m, size_t size)
{
    int pairs = 0;

    for (int i = 0; i < n; i++) {
        const int near = pairs ? at_b[pairs - 1] + 1 : 0;
        const int k = near < m && !strcmp(b + (size_t)near * size, a + (size_t)i * size)
                    ? near : find_name(a + (size_t)i * size, b, size, m);
        if (k >= 0) at_a[pairs] = i, at_b[pairs++] = k;
    }
    return pairs;
}

spot_status spot_shift_pair(spot_shift_comparison *v)
{
    const spot_shift_counts *a = v->a, *b = v->b;

    v->class_a = calloc(2 * (size_t)(a->classes + a->models), sizeof *v->class_a);
    if (!v->class_a) return spot_fail(v->g->c, SPOT_NOMEM, "no memory to compare %d classes", a->classes);
    v->class_b = v->class_a + a->classes;
    v->model_a = v->class_b + a->classes;
    v->model_b = v->model_a + a->models;
    v->classes = pair_names(v->class_a, v->class_b, a->class_name[0], a->classes, b->class_name[0], b->classes,
                            sizeof *a->class_name);
    v->models = pair_names(v->model_a, v->model_b, a->model[0], a->models, b->model[0], b->models, sizeof *a->model);
    v->g->paired = v->classes && v->models;
    return SPOT_OK;
}

const spot_shift_folder *spot_shift_folder_find(const spot_shift_counts *s, const char *name)
{
    for (int i = 0; i < s->folders; i++)
        if (!strcmp(s->folder[i].name, name)) return &s->folder[i];
    return NULL;
}

/* ---- bits ---- */

static void say_config(spot_shift_comparison *v)
{
    spot_checking *g = v->g;
    spot_check_line *l = spot_check_add(g, "bits", "", "config", SPOT_SAME);
    spot_shifts_config cfg[2] = { 0 };
    char words[300];

    if (!g->same_config) {
        l->verdict = SPOT_NOT_COMPARABLE;
        if (g->before.numbers != g->now.numbers)
            spot_because(l, "numbers %d, %d in the baseline", g->now.numbers, g->before.numbers);
        if (!spot_shifts_parse(g->c, &cfg[0], g->before.text, strlen(g->before.text), "the baseline's config")
            && !spot_shifts_parse(g->c, &cfg[1], g->now.text, strlen(g->now.text), "the run's config")
            && spot_shifts_change(words, sizeof words, &cfg[0], &cfg[1]))
            spot_because(l, "another config: %s (there: the baseline)", words);
        spot_forget(g->c);
    }
    for (int i = 0; i < 2; i++) spot_memory_close(&cfg[i].memory);
}

static bool same_counts(const spot_shift_comparison *v, const spot_shift_folder *x, const spot_shift_folder *y)
{
    const size_t n = (size_t)v->a->classes;

    return v->a->classes == v->b->classes && v->a->models == v->b->models
        && !memcmp(x->pictures, y->pictures, n * sizeof(int)) && !memcmp(x->kept, y->kept, n * sizeof(int))
        && !memcmp(x->right, y->right, n * (size_t)v->a->models * sizeof(int));
}

/* Folders with the same inputs must have the same counts where build and platform are the same, too. */
static void bits_counts(spot_shift_comparison *v)
{
    spot_checking *g = v->g;
    spot_check_line *l = spot_check_add(g, "bits", "", "counts", SPOT_SAME);
    const char *first = NULL;
    char why[1200];
    int others = 0;

    for (int i = 0; i < v->a->folders && g->same_config; i++) {
        const spot_shift_folder *x = &v->a->folder[i], *y = spot_shift_folder_find(v->b, x->name);
        if (!y || strcmp(x->inputs, y->inputs)) continue;
        l->n++;
        if (same_counts(v, x, y)) continue;
        first = first ? first : x->name;
        others++;
    }
    if (!l->n) {
        l->verdict = SPOT_NOT_COMPARABLE;
        spot_because(l, g->same_config ? "other pictures, tables, weights or encoder" : "another config or other numbers");
    } else if (others) {
        l->verdict = *spot_check_no_promise(why, sizeof why, &g->before, &g->now) ? SPOT_NOT_COMPARABLE : SPOT_BROKEN;
        spot_because(l, "%d of %d folders have other counts (first %s)%s%s", others, l->n, first, *why
                     ? "; nothing else was promised: " : ", though inputs, config, numbers, build and platform are the same",
                     why);
    }
}

/* "m3 and 2 more" */
static void say_gone(spot_shift_comparison *v, const char *what, const char *list, size_t size, int n, const int *common,
                     int pairs)
{
    const char *first = NULL;
    int gone = 0;

    for (int i = 0, k = 0; i < n; i++) {
        if (k < pairs && common[k] == i) k++;
        else if (!gone++) first = list + (size_t)i * size;
    }
    if (!gone) return;
    spot_check_line *l = spot_check_add(v->g, "bits", "", "present", SPOT_BROKEN);
    l->n = pairs;
    l->left_out = gone;
    spot_because(l, "the run lacks %d of the baseline's %d %s, first %s", gone, n, what, first);
}

static void bits_present(spot_shift_comparison *v)
{
    const spot_shift_counts *a = v->a, *b = v->b;
    spot_check_line *l;

    say_gone(v, "models", a->model[0], sizeof *a->model, a->models, v->model_a, v->models);
    say_gone(v, "classes", a->class_name[0], sizeof *a->class_name, a->classes, v->class_a, v->classes);
    if (b->models > v->models) {
        l = spot_check_add(v->g, "bits", "", "present", SPOT_NOT_COMPARABLE);
        spot_because(l, "%d new models: the baseline does not know them; `spotter accept` takes them in",
                     b->models - v->models);
    }
    for (int i = 0; i < a->folders; i++) {
        if (a->folder[i].base < 0 || spot_shift_folder_find(b, a->folder[i].name)) continue;
        l = spot_check_add(v->g, "bits", a->folder[i].name, "present", SPOT_BROKEN);
        spot_because(l, "the run has no source and shift of this name");
    }
    for (int i = 0; i < b->folders; i++) {
        if (b->folder[i].base < 0 || spot_shift_folder_find(a, b->folder[i].name)) continue;
        l = spot_check_add(v->g, "bits", b->folder[i].name, "present", SPOT_NOT_COMPARABLE);
        spot_because(l, "new: the baseline does not know it; `spotter accept` takes it in");
    }
}

void spot_check_shift_bits(spot_shift_comparison *v)
{
    say_config(v);
    bits_counts(v);
    bits_present(v);
    for (int i = 0; i < v->g->k->lines; i++) spot_check_quarantine(v->g, &v->g->k->line[i], SPOT_CHECK_BITS);
}
