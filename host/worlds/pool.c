/* pool.c - the ECs of real pictures: pools of tasks, numbers of blindspots and their definitions (paper, G.2, G.4, G.5, H.2).
 *
 * The cells of a pool take turns: EC i of a pool of n cells is number i / n of cell i % n, until a cell runs out. So a run may
 * grow, and the first ECs of a pool cover its cells evenly. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/rng.h"
#include "worlds/pictures.h"

enum { MOST_CHOICES = 1 << 24 };           /* combinations of a cell */

/* ---- categories that may define a blindspot ---- */

static bool may_be(const spot_photos *p, const spot_task *task, int a)
{
    return task->count[a] >= p->cfg.category_least;
}

/* Whether enough training pictures of the task's category a show category b, and enough do not. No picture shows two categories
 * of a task. */
static bool eligible(const spot_photos *p, const spot_task *task, int a, int b)
{
    int with = task->both[a * p->categories + b];

    return with >= p->cfg.pair_least && task->train[a] - with >= p->cfg.pair_least;
}

/* ---- the general pool ---- */

static bool is_taken(const spot_ec *ec, int category)
{
    for (int m = 0; m < ec->blindspot_count; m++)
        if (ec->motif[m].object == category || ec->motif[m].other == category) return true;
    return false;
}

static void add_blindspot(spot_ec *ec, int object, int other, bool with)
{
    int m = ec->blindspot_count++;

    ec->motif[m] = (spot_motif){ object, other, with };
    ec->blindspot[m].specificity = 1 + (other >= 0);
}

/* The n-th category, from 0, that a more-specific blindspot of the task's category a may name; -1 if there are fewer. *count:
 * their number. */
static int second_category(const spot_photos *p, const spot_task *task, const spot_ec *ec, int a, int n, int *count)
{
    int found = -1;

    *count = 0;
    for (int b = 0; b < p->categories; b++)
        if (eligible(p, task, a, b) && !is_taken(ec, b) && (*count)++ == n) found = b;
    return found;
}

/* Draws categories without replacement until one can define a blindspot of this specificity. */
static bool draw_blindspot(const spot_photos *p, const spot_task *task, spot_ec *ec, spot_rng *r, uint32_t *order)
{
    bool specific = spot_rng_below(r, 2);

    spot_rng_shuffle(r, order, (uint32_t)task->categories);
    for (int i = 0; i < task->categories; i++) {
        int a = (int)order[i], count, b;
        if (!may_be(p, task, a) || is_taken(ec, task->category[a])) continue;
        if (!specific) {
            add_blindspot(ec, task->category[a], -1, true);
            return true;
        }
        second_category(p, task, ec, a, 0, &count);
        if (!count) continue;
        b = second_category(p, task, ec, a, (int)spot_rng_below(r, (uint32_t)count), &count);
        add_blindspot(ec, task->category[a], b, spot_rng_below(r, 2));
        return true;
    }
    return false;
}

static spot_status draw_general(spot_ctx *c, const spot_photos *p, spot_ec *ec, int blindspots)
{
    spot_rng r = spot_rng_at(p->seed, SPOT_RNG_EC, ec->index, 0);
    const spot_task *task = &p->task[ec->task];
    uint32_t *order = malloc((size_t)task->categories * sizeof *order);
    bool good = order != NULL;

    for (int m = 0; m < blindspots && good; m++) good = draw_blindspot(p, task, ec, &r, order);
    free(order);
    if (good) return SPOT_OK;
    if (!order) return spot_fail(c, SPOT_NOMEM, "no memory to draw an EC of %d categories", task->categories);
    return spot_fail(c, SPOT_USAGE, "{pool.no_blindspot} EC %u: no blindspot number %d can be defined for task %s: a category "
                     "needs data.category_least %d pictures, a pair data.pair_least %d for training with and without the "
                     "second", ec->index, ec->blindspot_count + 1, task->name, p->cfg.category_least, p->cfg.pair_least);
}

/* ---- conditioned pools ---- */

typedef struct { int task, number, specificity; } cell;

static int numbers(const spot_photos *p) { return p->cfg.blindspots[1] - p->cfg.blindspots[0] + 1; }

static int cells(const spot_photos *p)
{
    switch (p->cfg.pool) {
    case SPOT_POOL_SINGLES:     return p->tasks;
    case SPOT_POOL_SPECIFICITY: return 2 * p->tasks;
    default:                    return numbers(p) * p->tasks;
    }
}

static cell cell_of(const spot_photos *p, int i)
{
    int rest = i / p->tasks;

    switch (p->cfg.pool) {
    case SPOT_POOL_SINGLES:     return (cell){ i, 1, 1 };
    case SPOT_POOL_SPECIFICITY: return (cell){ i % p->tasks, 1, 1 + rest };
    default:                    return (cell){ i % p->tasks, p->cfg.blindspots[0] + rest, 1 };
    }
}

static bool is_candidate(const spot_photos *p, const spot_task *task, int a)
{
    return may_be(p, task, a) && (p->cfg.pool == SPOT_POOL_SINGLES || p->induced[task->category[a]]);
}

static int candidates(const spot_photos *p, const spot_task *task)
{
    int n = 0;

    for (int a = 0; a < task->categories; a++) n += is_candidate(p, task, a);
    return n;
}

/* n over k, at most MOST_CHOICES. */
static int binomial(int n, int k)
{
    double ways = 1;

    for (int i = 0; i < k; i++) ways = ways * (n - i) / (i + 1);
    return k > n ? 0 : ways > MOST_CHOICES ? MOST_CHOICES : (int)lround(ways);
}

/* *s: the n-th more-specific blindspot of a task, ordered by object, other category, with before without. Returns the number
 * of such blindspots. */
static int specifics(const spot_photos *p, const spot_task *task, int n, spot_motif *s)
{
    int i = 0;

    for (int a = 0; a < task->categories; a++)
        for (int b = 0; b < p->categories && is_candidate(p, task, a); b++)
            for (int without = 0; without < 2 && eligible(p, task, a, b); without++)
                if (i++ == n) *s = (spot_motif){ task->category[a], b, !without };
    return i;
}

static int choices(const spot_photos *p, cell k)
{
    spot_motif none;

    if (k.specificity == 2) return specifics(p, &p->task[k.task], -1, &none);
    return binomial(candidates(p, &p->task[k.task]), k.number);
}

static int cell_size(const spot_photos *p, int i)
{
    int n = choices(p, cell_of(p, i));

    return p->cfg.pool == SPOT_POOL_SINGLES || n < p->cfg.each ? n : p->cfg.each;
}

int spot_photos_pool(const spot_photos *p)
{
    int n = 0;

    if (p->cfg.pool == SPOT_POOL_GENERAL) return INT_MAX;
    for (int i = 0; i < cells(p); i++) n += cell_size(p, i);
    return n;
}

/* The cell of EC `index` and its number there; false past the end of the pool. */
static bool find_turn(const spot_photos *p, int index, int *which, int *turn)
{
    for (int round = 0, left = 1; left; round++)
        for (int i = left = 0; i < cells(p); i++) {
            if (round >= cell_size(p, i)) continue;
            left = 1;
            if (index--) continue;
            *which = i;
            *turn = round;
            return true;
        }
    return false;
}

/* Adds combination number n, in lexicographic order, of `number` candidates. */
static void add_combination(const spot_photos *p, spot_ec *ec, int number, int n)
{
    const spot_task *task = &p->task[ec->task];
    int left = candidates(p, task);

    for (int a = 0; a < task->categories && number; a++) {
        int ways;
        if (!is_candidate(p, task, a)) continue;
        ways = binomial(--left, number - 1);         /* combinations that begin with a */
        if (n >= ways) { n -= ways; continue; }
        add_blindspot(ec, task->category[a], -1, true);
        number--;
    }
}

static spot_status draw_conditioned(spot_ctx *c, const spot_photos *p, spot_ec *ec)
{
    spot_rng r;
    uint32_t *order;
    int i, turn, n;
    cell k;

    if (!find_turn(p, (int)ec->index, &i, &turn))
        return spot_fail(c, SPOT_USAGE, "{pool.small} EC %u: the pool has %d ECs; set ecs to that, or data.each or "
                         "data.induced higher", ec->index, spot_photos_pool(p));
    k = cell_of(p, i);
    n = choices(p, k);
    ec->task = k.task;
    if (p->cfg.pool != SPOT_POOL_SINGLES) {
        order = malloc((size_t)n * sizeof *order);
        if (!order) return spot_fail(c, SPOT_NOMEM, "no memory for %d combinations of blindspots", n);
        r = spot_rng_at(p->seed, SPOT_RNG_POOL, 0, (uint32_t)i);
        spot_rng_shuffle(&r, order, (uint32_t)n);
        turn = (int)order[turn];
        free(order);
    }
    if (k.specificity == 2) {
        spot_motif s;
        specifics(p, &p->task[k.task], turn, &s);
        add_blindspot(ec, s.object, s.other, s.with);
    } else {
        add_combination(p, ec, k.number, turn);
    }
    return SPOT_OK;
}

spot_status spot_photos_ec(spot_ctx *c, spot_ec *ec, const spot_photos *p, uint32_t index)
{
    cell k = cell_of(p, (int)(index % (uint32_t)cells(p)));

    memset(ec, 0, sizeof *ec);
    ec->seed = p->seed;
    ec->index = index;
    ec->targets = 1;
    ec->photos = p;
    ec->scene = spot_photos_scene(p);
    ec->task = k.task;
    if (p->cfg.pool == SPOT_POOL_GENERAL) SPOT_TRY(draw_general(c, p, ec, k.number));
    else                                  SPOT_TRY(draw_conditioned(c, p, ec));
    for (int i = 0; i < SPOT_SPLITS; i++) ec->images[i] = p->task[ec->task].images[i];
    return SPOT_OK;
}
