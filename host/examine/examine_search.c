/* examine_search.c - see examine_search.h. A round: the examiner asks for points of every object, all of them are rendered and
 * looked at together, and it is told the losses. What an interrupted search has left is told again in place of rendering. */
#include "examine/examine_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examiners.h"
#include "examine/examine_networks.h"
#include "spotter/rng.h"
#include "study/run_log.h"

enum { LAST = 100 };                   /* renders of `inside` */

static const double EVERY = 5;         /* seconds between two writes of unfinished histories */

typedef struct {
    spot_examine_group *g;
    spot_examine_search search;        /* with the examiner's budget */
    spot_examiner *examiner;
    int  budget, asked, points;        /* renders by the examiner: all, so far; points of the curve so far */
    double *at, *loss;                 /* (problems, wants, dims), (problems, wants) */
    int *place;                        /* (shots): problem and render, i * room + j */
    int  room;                         /* renders of a problem that a round or a test has at most */
    spot_examine_shot *shot;           /* (problems * room) */
    spot_examine_seen *seen;
    double written, took;              /* when histories were written last, and the seconds that it took */
} searcher;

int spot_examine_asked(const spot_examine_search *s, int k) { return s->point[k] - s->perturbed; }

spot_conditions spot_examine_fixed(const spot_examine_config *cfg, const spot_factor_space *space, const spot_conditions *fixed,
                                   uint32_t number)
{
    spot_conditions at = *fixed;

    spot_conditions_draw(&at, cfg->search.seed, number);
    for (int d = 0; d < space->dims; d++) at.value[space->factor[d]] = NAN;
    return at;
}

void spot_examine_spend(spot_ctx *c, spot_examine_group *g, double renders)
{
    g->spent += renders;
    spot_work_tell_within(c, g->work, g->spent, spot_examine_label(g->examiner));
}

/* ---- open ---- */

static spot_status open_problem(spot_ctx *c, const searcher *v, spot_examine_problem *p)
{
    const spot_examine_group *g = v->g;

    SPOT_TRY(spot_examine_history_take(c, &p->history, v->budget, g->space->dims));
    p->fixed = p->history.fixed = spot_examine_fixed(g->cfg, g->space, g->fixed, p->number);
    memcpy(p->progress.key, p->key, sizeof p->progress.key);
    SPOT_TRY(spot_examine_history_resume(c, &p->history, &p->known, &p->progress, g->dir, p->unit));
    p->kept_points = p->progress.points;
    return SPOT_OK;
}

static spot_status open_examiner(spot_ctx *c, searcher *v)
{
    const spot_examine_group *g = v->g;
    uint32_t *number = malloc((size_t)g->problems * sizeof *number);
    spot_status s;

    if (!number) return spot_fail(c, SPOT_NOMEM, "no memory for %d objects", g->problems);
    for (int i = 0; i < g->problems; i++) number[i] = g->problem[i].number;
    s = spot_examiner_open(c, &v->examiner, g->examiner, &(spot_examiner_search){ g->space, g->problems, v->budget, g->seed,
                                                                                  number });
    free(number);
    return s;
}

static spot_status open_search(spot_ctx *c, searcher *v)
{
    const spot_examine_group *g = v->g;
    const int most = v->budget < SPOT_EXAMINER_MOST ? v->budget : SPOT_EXAMINER_MOST, tests = v->search.perturbed;

    v->room = most > tests ? most : tests;
    const size_t n = (size_t)g->problems * (size_t)v->room + 1;
    v->at = malloc(n * (size_t)g->space->dims * sizeof *v->at);
    v->loss = malloc(n * sizeof *v->loss);
    v->place = malloc(n * sizeof *v->place);
    v->shot = malloc(n * sizeof *v->shot);
    v->seen = malloc(n * sizeof *v->seen);
    if (!v->at || !v->loss || !v->place || !v->shot || !v->seen)
        return spot_fail(c, SPOT_NOMEM, "no memory for the search of %d objects", g->problems);
    for (int i = 0; i < g->problems; i++) SPOT_TRY(open_problem(c, v, &g->problem[i]));
    v->written = spot_clock();
    return open_examiner(c, v);
}

static void close_search(searcher *v)
{
    spot_examiner_close(v->examiner);
    free(v->at), free(v->loss), free(v->place), free(v->shot), free(v->seen);
}

void spot_examine_problem_free(spot_examine_problem *p) { spot_examine_history_free(&p->history); }

/* ---- rounds ---- */

/* Equal as numbers and in every bit. */
static bool same_point(const double *a, const double *b, int dims) { return !memcmp(a, b, (size_t)dims * sizeof *a); }

static spot_conditions place_of(const searcher *v, const spot_examine_problem *p, const double *x)
{
    spot_conditions at = p->fixed;

    spot_factor_space_place(&at, v->g->space, x);
    return at;
}

/* The file is of another version of the examiner from render `row` on. */
static void forget_from(const searcher *v, spot_examine_problem *p, int row)
{
    p->known = row, p->kept_points = 0;
    while (p->progress.points && spot_examine_asked(&v->search, p->progress.points - 1) > row) p->progress.points--;
}

/* The renders of a round that no file has. Returns their number. */
static int list_shots(searcher *v, int wants)
{
    const int dims = v->g->space->dims;
    int n = 0;

    for (int i = 0; i < v->g->problems; i++) {
        spot_examine_problem *p = &v->g->problem[i];
        for (int j = 0; j < wants; j++) {
            const int row = v->asked + j;
            const double *x = v->at + ((size_t)i * (size_t)wants + (size_t)j) * (size_t)dims;
            double *kept = p->history.at + (size_t)row * (size_t)dims;
            if (row < p->known && same_point(kept, x, dims)) continue;
            if (row < p->known) forget_from(v, p, row);
            memcpy(kept, x, (size_t)dims * sizeof *x);
            v->place[n] = i * v->room + j;
            v->shot[n++] = (spot_examine_shot){ p->entry, p->number, place_of(v, p, x) };
        }
    }
    return n;
}

static spot_status do_round(spot_ctx *c, searcher *v)
{
    const spot_examine_group *g = v->g;
    const double before = spot_examiner_share(v->examiner);
    const int wants = spot_examiner_wants(v->examiner), sign = g->cfg->search.mode == SPOT_MODE_STRENGTH ? 1 : -1;

    if (wants < 1 || wants > v->room || wants > v->budget - v->asked)
        return spot_fail(c, SPOT_INVALID, "the examiner %s wants %d of %d renders", spot_examine_label(g->examiner), wants,
                         v->budget - v->asked);
    SPOT_TRY(spot_examiner_ask(c, v->examiner, v->at));
    const int n = list_shots(v, wants);
    SPOT_TRY(spot_examine_look(c, g->look, v->shot, n, v->seen));
    for (int k = 0; k < n; k++) {
        spot_examine_history *h = &g->problem[v->place[k] / v->room].history;
        const int row = v->asked + v->place[k] % v->room;
        h->p[row] = v->seen[k].p, h->valid[row] = v->seen[k].valid, h->answer[row] = v->seen[k].answer;
    }
    for (int i = 0; i < g->problems; i++)
        for (int j = 0; j < wants; j++)
            v->loss[(size_t)i * (size_t)wants + (size_t)j] = sign * (double)g->problem[i].history.p[v->asked + j];
    SPOT_TRY(spot_examiner_tell(c, v->examiner, v->loss));
    v->asked += wants;
    spot_examine_spend(c, v->g, (double)g->problems * v->budget * (spot_examiner_share(v->examiner) - before));
    return SPOT_OK;
}

/* ---- points of the curve ---- */

static bool is_better(const searcher *v, float a, float b)
{
    return v->g->cfg->search.mode == SPOT_MODE_STRENGTH ? a > b : a < b;
}

/* The first render of the best p among the first n; valid: among valid ones, -1 where there is none. */
static int find_best(const searcher *v, const spot_examine_history *h, int n, bool valid)
{
    int best = -1;

    for (int i = 0; i < n; i++)
        if ((!valid || h->valid[i]) && (best < 0 || is_better(v, h->p[i], h->p[best]))) best = i;
    return best;
}

static double share_inside(const searcher *v, const spot_examine_problem *p, int n)
{
    const int from = n > LAST ? n - LAST : 0;
    int inside = 0;

    if (!v->g->model->limits) return NAN;
    for (int i = from; i < n; i++) {
        spot_conditions at = place_of(v, p, p->history.at + (size_t)i * (size_t)v->g->space->dims);
        inside += spot_examine_in_region(v->g->model, &at, 0);
    }
    return (double)inside / (n - from);
}

static void fill_point(const searcher *v, spot_examine_problem *p, int k)
{
    const spot_examine_search *s = &v->search;
    const int n = spot_examine_asked(s, k), window = n < s->window ? n : s->window;
    const spot_examine_history *h = &p->history;
    const int best = find_best(v, h, n, false), valid = find_best(v, h, n, true);
    double sum = 0, seen = 0;

    for (int i = n - window; i < n; i++) sum += h->p[i];
    for (int i = 0; i < n; i++) seen += h->valid[i];
    p->lowest = valid >= 0 ? valid : best;
    p->point[k] = (spot_examine_point){ .renders = s->point[k], .asked = n, .mean = sum / window, .lowest = h->p[best],
                                        .lowest_valid = valid >= 0 ? h->p[valid] : NAN, .robust = NAN, .valid = seen / n,
                                        .inside = share_inside(v, p, n) };
    if (k < p->progress.points) p->point[k].robust = p->progress.robust[k];
}

/* A number of the cube after a step: a turn goes on, another range reflects. */
static double step_to(double x, bool turns)
{
    if (turns) return x - floor(x);
    x = fabs(fmod(x, 2));
    return x > 1 ? 2 - x : x;
}

void spot_examine_near(double *x, const spot_factor_space *s, const double *from, double deviation, spot_rng *r)
{
    for (int d = 0; d < s->dims; d++) x[d] = step_to(from[d] + deviation * spot_rng_normal(r), s->turns[d]);
}

/* Renders near the lowest p, which say whether it is a weakness or a pin-prick. */
static int add_tests(searcher *v, spot_examine_problem *p, int i, int k, int n)
{
    const spot_examine_search *s = &v->search;
    const spot_factor_space *space = v->g->space;
    const double *from = p->history.at + (size_t)p->lowest * (size_t)space->dims;
    spot_rng r = spot_rng_at(v->g->seed, SPOT_RNG_PERTURB, p->number, (uint32_t)s->point[k]);

    for (int j = 0; j < s->perturbed; j++) {
        double x[SPOT_FACTORS];
        spot_examine_near(x, space, from, s->perturb, &r);
        v->place[n] = i;
        v->shot[n++] = (spot_examine_shot){ p->entry, p->number, place_of(v, p, x) };
    }
    return n;
}

static spot_status end_point(spot_ctx *c, searcher *v)
{
    const spot_examine_group *g = v->g;
    const int k = v->points, tests = v->search.perturbed;
    int n = 0;

    for (int i = 0; i < g->problems; i++) {
        fill_point(v, &g->problem[i], k);
        if (k >= g->problem[i].progress.points) n = add_tests(v, &g->problem[i], i, k, n);
    }
    SPOT_TRY(spot_examine_look(c, g->look, v->shot, n, v->seen));
    for (int from = 0; from < n; from += tests) {
        spot_examine_problem *p = &g->problem[v->place[from]];
        double sum = 0;
        for (int j = 0; j < tests; j++) sum += v->seen[from + j].p;
        p->point[k].robust = sum / tests;
    }
    spot_examine_spend(c, v->g, (double)g->problems * tests);
    for (int i = 0; i < g->problems; i++) {
        spot_examine_progress *p = &g->problem[i].progress;
        p->robust[k] = g->problem[i].point[k].robust;
        if (k >= p->points) p->points = k + 1;
    }
    v->points++;
    return SPOT_OK;
}

/* ---- the search ---- */

/* Writes the rounds so far, unless the file has more. */
static spot_status write_histories(spot_ctx *c, searcher *v)
{
    const double since = spot_clock();
    bool more = false;

    for (int i = 0; i < v->g->problems; i++) {
        const spot_examine_problem *p = &v->g->problem[i];
        if (p->known >= v->asked && p->progress.points <= p->kept_points) continue;
        more = true;
        SPOT_TRY(spot_examine_history_write(c, &p->history, v->asked, &p->progress, v->g->dir, p->unit));
    }
    v->written = spot_clock();
    v->took = v->written - since;
    if (more) spot_run_log_kept(v->g->work->log, "rounds", v->g->problem[0].unit, v->took, NULL);      /* a start that got on */
    return SPOT_OK;
}

static spot_status run_rounds(spot_ctx *c, searcher *v)
{
    while (v->asked < v->budget) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(do_round(c, v));
        while (v->points < v->search.points && spot_examine_asked(&v->search, v->points) <= v->asked)
            SPOT_TRY(end_point(c, v));
        if (spot_clock() - v->written > EVERY + 20 * v->took) SPOT_TRY(write_histories(c, v));
    }
    return SPOT_OK;
}

spot_status spot_examine_search_objects(spot_ctx *c, spot_examine_group *g)
{
    searcher v = { .g = g, .search = spot_examine_search_of(g->cfg, g->examiner) };
    char why[sizeof c->message];
    spot_status s;

    v.budget = spot_examine_asked(&v.search, v.search.points - 1);
    s = open_search(c, &v);
    if (s == SPOT_OK) s = run_rounds(c, &v);
    if (s == SPOT_OK) s = write_histories(c, &v);
    else if (v.asked) {                        /* the first failure is told; what is there stays */
        snprintf(why, sizeof why, "%s", spot_take_message(c, s));
        if (write_histories(c, &v)) spot_forget(c);
        s = spot_fail(c, s, "%s", why);
    }
    close_search(&v);
    return s;
}
