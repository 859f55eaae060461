/* counts.c - see counts.h: which ECs and blindspots a table counts. */
#include "report/table/counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool spot_counts_has(int number) { return number == 3 || number == 14 || number == SPOT_APPENDIX_B; }

const char *spot_counts_name(char text[32], int number)
{
    if (number == SPOT_APPENDIX_B) snprintf(text, 32, "Appendix B");
    else snprintf(text, 32, "Table %d", number);
    return text;
}

static spot_count_line *add_line(spot_count_table *t, double paper, int count, int of)
{
    t->is_full |= t->lines == SPOT_COUNT_LINES;
    if (t->is_full) return &t->beyond;
    t->line[t->lines] = (spot_count_line){ .paper = of ? (double)count / of : paper, .paper_count = count, .paper_of = of };
    return &t->line[t->lines++];
}

/* ---- Tables 3 and 14 ---- */

/* The share of blindspots with two features among those of the ECs that learned all of theirs. The paper's 0.54, 0.47 and 0.40
 * are 14 of 26, 19 of 40 and 23 of 57, which are these ECs' blindspots by its Table 14. */
static void count_specific(spot_count_table *t, const spot_results *r)
{
    static const double paper[] = { 0.54, 0.47, 0.40 };

    for (int k = 1; k <= SPOT_MAX_BLINDSPOTS; k++) {
        spot_count_line l = { .run = r };
        for (int i = 0; i < r->ecs; i++)
            for (int m = 0; m < r->ec[i].blindspots && r->ec[i].learned && r->ec[i].blindspots == k; m++) {
                l.of++;
                l.count += r->ec[i].specificity[m] > 1;
            }
        if (k > 3 && !l.of) continue;
        spot_count_line *to = add_line(t, k <= 3 ? paper[k - 1] : NAN, 0, 0);
        snprintf(to->name, sizeof to->name, "%d", k);
        to->run = l.of ? r : NULL;
        to->count = l.count;
        to->of = l.of;
    }
}

static void count_cell(spot_count_line *l, const spot_results *r, const char *task, int blindspots)
{
    for (int i = 0; i < r->ecs; i++) {
        const spot_results_ec *e = &r->ec[i];
        if (strcmp(e->task, task) || e->blindspots != blindspots) continue;
        l->of++;
        l->count += e->learned;
    }
    l->run = l->of ? r : NULL;
    snprintf(l->name, sizeof l->name, "%.40s, %d blindspot%s", task, blindspots, blindspots == 1 ? "" : "s");
}

static void count_retained(spot_count_table *t, const spot_results *r)
{
    static const char *const tasks[] = { "animal", "furniture", "vehicle" };
    static const int paper[3][3] = { { 10, 8, 7 }, { 8, 6, 5 }, { 8, 6, 7 } };

    for (int k = 0; k < 3; k++)
        for (int b = 0; b < 3; b++) count_cell(add_line(t, NAN, paper[k][b], 10), r, tasks[k], b + 1);
    for (int i = 0; i < r->ecs; i++) {                     /* cells that the paper does not have */
        spot_count_line l = { .paper = NAN };
        bool found = false;
        count_cell(&l, r, r->ec[i].task, r->ec[i].blindspots);
        for (int k = 0; k < t->lines && !found; k++) found = !strcmp(t->line[k].name, l.name);
        if (!found) *add_line(t, NAN, 0, 0) = l;
    }
}

/* ---- appendix B ---- */

typedef struct { int induce; double flip; const char *name; int count, of; double paper; } way;

/* The 100 % of the paper's own way is in words: "a 100% success rate". */
static const way ways[] = {
    { SPOT_FLIP_LABELS, 1,   "every label flipped",           0,  0,  1 },
    { SPOT_FLIP_LABELS, 0.5, "a label flipped in 50 of 100",  36, 50, 0 },
    { SPOT_FLIP_LABELS, 0.3, "a label flipped in 30 of 100",  5,  50, 0 },
    { SPOT_LEAVE_OUT,   1,   "blindspots left out of training", 0,  50, 0 },
};
enum { WAYS = sizeof ways / sizeof *ways };

static bool is_way(const way *w, const spot_scene_config *s)
{
    return w->induce == s->induce && (w->induce != SPOT_FLIP_LABELS || w->flip == s->flip);
}

static bool is_papers(const spot_scene_config *s)
{
    for (int w = 0; w < WAYS; w++)
        if (is_way(&ways[w], s)) return true;
    return false;
}

/* Counts the ECs of a run that are planted so. Runs without such an EC add no line. */
static void count_successes(spot_count_table *t, const way *w, const char *name, const spot_results *r)
{
    spot_count_line l = { .run = r }, *to;

    for (int i = 0; i < r->ecs; i++) {
        if (!r->ec[i].blindspots || !is_way(w, spot_config_scene(&r->cfg, (uint32_t)r->ec[i].index))) continue;
        l.of++;
        l.count += r->ec[i].learned;
    }
    if (!l.of) return;
    to = add_line(t, w->paper, w->count, w->of);
    snprintf(to->name, sizeof to->name, "%s", name);
    to->run = r;
    to->count = l.count;
    to->of = l.of;
}

/* A way of a run that the paper does not have, from the scene of one of its ECs. */
static void add_other(spot_count_table *t, const spot_scene_config *s, const spot_results *r)
{
    const way other = { .induce = s->induce, .flip = s->flip, .paper = NAN };
    char name[64];

    if (s->induce == SPOT_FLIP_LABELS) snprintf(name, sizeof name, "a label flipped with chance %g", s->flip);
    else snprintf(name, sizeof name, "scene.induce: %.40s", spot_induce_name(s->induce));
    for (int i = 0; i < t->lines; i++)
        if (t->line[i].run == r && !strcmp(t->line[i].name, name)) return;
    count_successes(t, &other, name, r);
}

static void count_ways(spot_count_table *t, spot_results *const *run, int n)
{
    for (int w = 0; w < WAYS; w++) {
        const int from = t->lines;
        for (int r = 0; r < n; r++) count_successes(t, &ways[w], ways[w].name, run[r]);
        if (t->lines > from) continue;
        spot_count_line *none = add_line(t, ways[w].paper, ways[w].count, ways[w].of);
        snprintf(none->name, sizeof none->name, "%s", ways[w].name);
    }
    for (int r = 0; r < n; r++)
        for (int i = 0; i < run[r]->ecs; i++) {
            const spot_scene_config *s = spot_config_scene(&run[r]->cfg, (uint32_t)run[r]->ec[i].index);
            if (!is_papers(s)) add_other(t, s, run[r]);
        }
}

spot_status spot_counts_make(spot_ctx *c, spot_count_table *t, int number, spot_results *const *run, int n)
{
    const bool b = number == SPOT_APPENDIX_B;
    char name[32];

    *t = (spot_count_table){ .number = number };
    spot_counts_name(name, number);
    if (!b && n > 1)
        return spot_fail(c, SPOT_USAGE, "{table.one_run} %s is of one run; %s is one too many", name, run[1]->dir);
    for (int r = 0; r < n; r++)
        SPOT_TRY(spot_paper_fits(c, run[r]->dir, &run[r]->cfg, b ? SPOT_EXPERIMENT_SYNTHETIC : SPOT_EXPERIMENT_COCO, name));
    if (b) {
        t->title = "ECs whose blindspots were all learned, by the way of planting them";
        t->row = "planted by";
        t->what = "learned";
        count_ways(t, run, n);
    } else if (number == 3) {
        t->title = "COCO: learned blindspots that are more-specific";
        t->row = "blindspots of the EC";
        t->what = "more-specific";
        count_specific(t, run[0]);
    } else {
        t->title = "COCO: ECs that learned all of their blindspots";
        t->row = "task";
        t->what = "retained";
        count_retained(t, run[0]);
    }
    return t->is_full ? spot_fail(c, SPOT_INPUT, "%s takes at most %d rows", name, SPOT_COUNT_LINES) : SPOT_OK;
}
