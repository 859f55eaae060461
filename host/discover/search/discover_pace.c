/* discover_pace.c - estimates the time of a search. Each part is tried: every method on rows of the largest class, at sizes
 * that the search has or comes near, neighbours, and draws of the proof on the rows themselves. Trials are measured in time of
 * the processor, since another program delays a short one by many times what it takes. How much longer the whole takes by the
 * clock is told by all trials together. The estimate is only shown; no result depends on it. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/fine_cut.h"
#include "discover/describe/suspect_labels.h"
#include "discover/proof/judge.h"
#include "discover/search/class_map.h"
#include "discover/search/search_times.h"
#include "discover/search/vote.h"
#include "discover/subject/attribute_rows.h"
#include "study/chain.h"
#include "study/reducer_timing.h"

/* Rows of the timed map and search, of a shorter and a longer search; rows whose neighbours are sought; runs of a trial. */
enum { SAMPLE = 2000, TRIED = 500, LONG = 8000, ASKED = 512, AGAIN = 8 };

#define PATIENCE 1.2                   /* seconds after which no other method is tried; four times as many by the clock */
#define BRIEF    0.01                  /* seconds of a trial that is made again */
#define WORTH    8                     /* a longer trial may take one part in so many of what it foretells */

/* The seconds of the processor that are still to come, and the time that the trials took. */
typedef struct {
    double     shared;                 /* work that all threads have a part of all the time */
    double     single;                 /* searches of one class at a time, whose threads wait for each other */
    double     serial;                 /* work of one thread */
    spot_spent all, alone;             /* trials by all threads, of the first kind; by one thread */
    spot_spent one;                    /* trials of the second kind by all threads; cpu is that of one thread alone */
    int        slices[2];              /* that the methods found in a class, and in the largest number of rows */
} forecast;

typedef struct {
    const spot_subject          *s;
    const spot_discover_options *o;
    const spot_candidate        *list; /* (count): all rows beside classes with as many as are searched */
    int       count, classes;          /* candidates; those that are one class */
    int       small, most;             /* rows of a class that a search sees, on average, and of the largest */
    spot_view all, some[2][2];         /* rows of the largest class; SAMPLE of them and more or none, also as attributes */
    forecast  f;
} trial;

/* The time of work on a device is by the clock: the processor only waits for it. */
static double seconds_in(const spot_ctx *c, spot_spent t) { return c->device ? t.wall : t.cpu; }

static void add_spent(spot_spent *to, spot_spent t) { to->wall += t.wall, to->cpu += t.cpu; }

static double between(double low, double x, double high) { return fmin(fmax(x, low), high); }

/* Seconds by the clock. Other programs take turns, each of which may be longer than a trial, so the share of the machine that
 * this process gets is that of all trials together: what they would take by the clock alone, over what they took. Threads of
 * a single search wait for each other, also where the share is whole. */
static double seconds_by_clock(const spot_ctx *c, const forecast *f)
{
    const double cores = fmin(c->threads, omp_get_num_procs()), work = f->shared + f->single + f->serial;
    const double quiet = f->all.cpu / cores + f->alone.cpu, wall = f->all.wall + f->alone.wall;
    double share, single;

    if (c->device || !(quiet > 0) || !(wall > 0)) return work;
    share = between(1.0 / 64, quiet / wall, 1);
    single = f->one.cpu > 0 ? between(1 / cores, f->one.wall * share / f->one.cpu, 1) : 1 / cores;
    return (f->shared / cores + f->single * single + f->serial) / share;
}

/* Takes `rows` rows of v at equal distances, or all where it has fewer. */
static spot_status sample_rows(spot_ctx *c, spot_arena *a, spot_view *few, const spot_view *v, int rows)
{
    size_t d = (size_t)v->d;

    *few = *v;
    few->n = v->n < rows ? v->n : rows;
    SPOT_TRY(SPOT_TAKE(c, a, few->feature, (size_t)few->n * d));
    SPOT_TRY(SPOT_TAKE(c, a, few->confidence, few->n));
    SPOT_TRY(SPOT_TAKE(c, a, few->image, few->n));
    for (int i = 0; i < few->n; i++) {
        size_t row = (size_t)i * (size_t)v->n / (size_t)few->n;
        memcpy(few->feature + (size_t)i * d, v->feature + row * d, d * sizeof(float));
        few->confidence[i] = v->confidence[row];
        few->image[i] = v->image[row];
    }
    return SPOT_OK;
}

/* Searches of a class that a proof makes, for its slices and in errors without structure. */
static int searches_of(const spot_proof_options *p)
{
    return p ? p->parts * (1 + p->chance) : 1;
}

static int rows_seen(const trial *t, int i) { return (int)(spot_proof_share(t->o->proof) * t->list[i].n); }

/* ---- searches ---- */

/* Times a search of the first rows of v by one thread; the least of several times if they are short. */
static spot_status time_search(spot_ctx *c, spot_arena *a, spot_search_times *w, const spot_view *v, const spot_points *at,
                               int rows, const spot_bdm_config *cfg)
{
    const spot_seed seed = { 0, 0 };
    const size_t mark = a->used;
    spot_ctx alone = *c;
    spot_points points = *at;
    spot_view few = *v;
    spot_hypotheses found;
    double least = INFINITY, all = 0;

    alone.threads = 1;
    few.n = points.n = rows;
    for (int i = 0; i < AGAIN && (!i || all < BRIEF); i++) {
        spot_spent now = spot_spent_now(), spent = { 0, 0 };
        SPOT_TRY(spot_bdm_find(&alone, a, 1, &found, &few, &points, &seed, cfg));
        spot_spend(&spent, &now);
        all += seconds_in(c, spent);
        add_spent(&w->spent, spent);
        least = fmin(least, seconds_in(c, spent));
        a->used = mark;
    }
    w->rows[w->count] = rows;
    w->slices[w->count] = found.len;
    w->seconds[w->count++] = fmax(least, 1e-7);
    return SPOT_OK;
}

/* The last search once more, by all threads: how they share it. */
static spot_status share_search(spot_ctx *c, spot_arena *a, forecast *f, const spot_search_times *w, const spot_view *v,
                                const spot_points *at, const spot_bdm_config *cfg)
{
    const spot_seed seed = { 0, 0 };
    const size_t mark = a->used;
    spot_points points = *at;
    spot_view few = *v;
    spot_hypotheses found;
    spot_spent now = spot_spent_now(), spent = { 0, 0 };

    if (c->threads == 1) return SPOT_OK;
    few.n = points.n = (int)w->rows[w->count - 1];
    SPOT_TRY(spot_bdm_find(c, a, 1, &found, &few, &points, &seed, cfg));
    spot_spend(&spent, &now);
    f->one.wall += spent.wall;
    f->one.cpu += w->seconds[w->count - 1];
    a->used = mark;
    return SPOT_OK;
}

/* Seconds of a method's searches, each class's under one seed. */
static double all_searches(const trial *t, const spot_search_times *w)
{
    double sum = 0;

    for (int i = 0; i < t->count; i++) sum += searches_of(t->o->proof) * t->o->seeds * spot_search_seconds(w, rows_seen(t, i));
    return sum;
}

/* Some methods take time with the rows, others with their square, and some change from one to the other: so small classes are
 * tried as small as they are, and large ones as large as is worth while. longer: v with more rows; without rows: none. */
static spot_status time_searches(spot_ctx *c, spot_arena *a, trial *t, spot_search_times *w, const spot_view *v,
                                 const spot_points *at, const spot_view *longer, const spot_bdm_config *cfg)
{
    const spot_points all = { .n = longer->n, .d = longer->d, .at = longer->feature, .objective = NAN };
    const int sizes[] = { t->small, TRIED, SAMPLE };
    int rows;

    *w = (spot_search_times){ .square = cfg->method == SPOT_JOINSPOT ? SPOT_FINE_SAMPLE : 0 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rows = sizes[i] < t->most ? sizes[i] : t->most;
        rows = rows < v->n ? rows : v->n;
        if (rows < 1 || (w->count && rows < 1.5 * w->rows[w->count - 1])) continue;
        if (w->count && w->seconds[w->count - 1] > PATIENCE / 16) break;
        SPOT_TRY(time_search(c, a, w, v, at, rows, cfg));
    }
    rows = (int)between(0, SAMPLE * sqrt(all_searches(t, w) / WORTH / w->seconds[w->count - 1]), fmin(longer->n, t->most));
    if (rows < 1.5 * SAMPLE || w->rows[w->count - 1] < SAMPLE || w->seconds[w->count - 1] > PATIENCE / 8)
        return share_search(c, a, &t->f, w, v, at, cfg);
    SPOT_TRY(time_search(c, a, w, longer, &all, rows, cfg));
    return share_search(c, a, &t->f, w, longer, &all, cfg);
}

static void add_method(const spot_ctx *c, trial *t, const spot_search_times *w, const spot_reducer_timing *map, int maps,
                       const spot_embed_config *cfg)
{
    for (int i = 0; i < t->count; i++) {
        const int n = rows_seen(t, i);
        const bool beside = t->list[i].cls >= 0 && t->classes >= c->threads;           /* a class is a thread's */
        const double each = (maps ? maps * seconds_in(c, spot_reducer_timing_at(map, cfg, n)) : 0)
                          + t->o->seeds * spot_search_seconds(w, n);
        *(beside ? &t->f.shared : &t->f.single) += searches_of(t->o->proof) * each;
    }
    add_spent(&t->f.alone, w->spent);
    t->f.slices[0] += t->o->seeds * w->slices[0];
    t->f.slices[1] += t->o->seeds * w->slices[w->count - 1];
}

static spot_status time_methods(spot_ctx *c, spot_arena *a, trial *t)
{
    const spot_discover_options *o = t->o;
    const spot_view none = { .n = 0 };
    spot_spent at = spot_spent_now(), tried = { 0, 0 };

    for (int b = 0; b < o->bdms; b++) {
        const spot_bdm_config *cfg = &o->bdm[b];
        const spot_view *v = &t->some[0][spot_by_table(o, b)];
        bool same = !o->attributes, reduces = !spot_embed_is_nothing(&cfg->embed);
        int maps = !reduces || spot_has_points_before(o->bdm, b, same) ? 0 : spot_is_seedless(&cfg->embed) ? 1 : o->seeds;
        spot_points points = { .n = v->n, .d = v->d, .at = v->feature, .objective = NAN };
        spot_reducer_timing map = { .rows = v->n };
        spot_spent now = spot_spent_now(), spent = { 0, 0 };
        size_t mark = a->used;
        spot_search_times w;
        spot_spend(&tried, &at);
        if (seconds_in(c, tried) > PATIENCE || tried.wall > 4 * PATIENCE) return SPOT_UNSUPPORTED;
        if (reduces) SPOT_TRY(spot_reducer_timing_take(c, a, &map, &points, v, &cfg->embed));
        spot_spend(&spent, &now);
        if (reduces) add_spent(&t->f.all, spent);
        SPOT_TRY(time_searches(c, a, t, &w, v, &points, reduces ? &none : &t->some[1][spot_by_table(o, b)], cfg));
        a->used = mark;
        add_method(c, t, &w, &map, maps, &cfg->embed);
    }
    return SPOT_OK;
}

/* The least time of a map of the first rows. */
static spot_status time_map(spot_ctx *c, spot_arena *a, spot_search_times *w, const spot_view *of, int rows)
{
    const spot_seed seed = { 0, 0 };
    const size_t mark = a->used;
    double least = INFINITY, all = 0;
    spot_view v = *of;
    float *map;
    int *row;

    v.n = rows < v.n ? rows : v.n;
    SPOT_TRY(SPOT_TAKE(c, a, map, 2 * (size_t)v.n));
    SPOT_TRY(SPOT_TAKE(c, a, row, v.n));
    for (int i = 0; i < v.n; i++) row[i] = i;
    for (int i = 0; i < AGAIN && (!i || all < BRIEF / 2); i++) {
        const size_t used = a->used;
        spot_spent now = spot_spent_now(), spent = { 0, 0 };
        SPOT_TRY(spot_class_map_draw(c, a, map, row, &v, &seed));
        spot_spend(&spent, &now);
        all += seconds_in(c, spent);
        add_spent(&w->spent, spent);
        least = fmin(least, seconds_in(c, spent));
        a->used = used;
    }
    w->rows[w->count] = v.n;
    w->seconds[w->count++] = fmax(least, 1e-7);
    a->used = mark;
    return SPOT_OK;
}

/* map.npy shows PCA of each class where no method has a map. */
static spot_status time_maps(spot_ctx *c, spot_arena *a, trial *t)
{
    const int least = t->small ? t->small : TRIED;
    spot_search_times w = { .count = 0 };

    for (int b = 0; b < t->o->bdms; b++)
        if (spot_is_map(&t->o->bdm[b].embed)) return SPOT_OK;
    SPOT_TRY(time_map(c, a, &w, &t->some[0][0], least));
    if (t->some[0][0].n > 2 * least) SPOT_TRY(time_map(c, a, &w, &t->some[0][0], SAMPLE));
    add_spent(&t->f.alone, w.spent);
    for (int i = 0; i < t->count; i++) t->f.serial += searches_of(t->o->proof) * spot_search_seconds(&w, rows_seen(t, i));
    return SPOT_OK;
}

/* ---- the proof ---- */

/* Pairs of n rows that are compared for the neighbours of judging rows and of finding rows that are asked; `finders` of a part
 * find at most. */
static double pairs_of(const spot_proof_options *p, int n, double finders)
{
    const double found = fmin(spot_proof_share(p) * n, finders);

    return p->parts * found * ((1 - spot_proof_share(p)) * n + fmin(found, SPOT_FINDERS));
}

/* rows (n): rows of v at equal distances. */
static spot_status spread_rows(spot_ctx *c, spot_arena *a, spot_some_rows *to, const spot_view *v, int n)
{
    int *row;

    SPOT_TRY(SPOT_TAKE(c, a, row, n));
    for (int i = 0; i < n; i++) row[i] = (int)((long long)i * v->n / n);
    *to = (spot_some_rows){ v->feature, row, n };
    return SPOT_OK;
}

/* The votes of a proof: each judging row's nearest rows, once, however many searches there are; and the neighbours of labels
 * that may be wrong. Timed: some rows of the largest class among as many as a part has. suspects: the pairs of rows that are
 * compared for these neighbours. */
static spot_status time_votes(spot_ctx *c, spot_arena *a, trial *t, double suspects)
{
    const spot_proof_options *p = t->o->proof;
    const int known = t->most < t->all.n ? t->most : t->all.n, asked = t->all.n < ASKED ? t->all.n : ASKED;
    const int k = known ? spot_voters(known, p->neighbours) : 0;
    const size_t mark = a->used;
    double pairs = suspects, tried = 0;
    spot_some_rows x, y;
    spot_spent spent = { 0, 0 }, now;
    int *nearest;

    if (!known) return SPOT_OK;
    SPOT_TRY(spread_rows(c, a, &x, &t->all, asked));
    SPOT_TRY(spread_rows(c, a, &y, &t->all, known));
    SPOT_TRY(SPOT_TAKE(c, a, nearest, (size_t)asked * (size_t)k));
    now = spot_spent_now();
    for (int i = 0; i < AGAIN && seconds_in(c, spent) < BRIEF; i++, tried += (double)asked * known) {
        SPOT_TRY(spot_nearest_rows(c, a, nearest, x, y, t->s->d, k));
        spot_spend(&spent, &now);
    }
    for (int i = 0; i < t->count; i++) {
        const bool across = t->list[i].cls < 0 && t->classes;
        pairs += pairs_of(p, across ? t->s->n : t->list[i].n, across ? SPOT_FINDERS : INFINITY);
    }
    t->f.shared += seconds_in(c, spent) * pairs / tried;
    add_spent(&t->f.all, spent);
    a->used = mark;
    return SPOT_OK;
}

/* chosen: as they are, not only as many rows as are searched. at_once: classes of a batch. */
static spot_status time_proof(spot_ctx *c, spot_arena *a, trial *t, const spot_chosen *chosen, int at_once)
{
    const int batches = (chosen->count + at_once - 1) / at_once;
    spot_proof_times p;

    SPOT_TRY(time_votes(c, a, t, spot_suspects_pairs(c, t->s)));
    SPOT_TRY(spot_proof_time(c, &p, t->s, t->o, chosen, t->f.slices));
    t->f.serial += p.open.cpu * (batches + 1);
    t->f.shared += p.draws.cpu * p.times;
    add_spent(&t->f.all, p.draws);
    return SPOT_OK;
}

/* Bytes of time_votes and time_maps. */
static size_t further_bytes(const spot_ctx *c, const trial *t)
{
    const int k = t->o->proof ? t->o->proof->neighbours : 0;
    const size_t rows = SAMPLE * 3 * sizeof(float) + spot_class_map_needs(c, SAMPLE, t->s->d).host + 4096;

    if (!t->o->proof) return rows;
    return rows + spot_nearest_bytes(c, t->most, t->s->d, k) + ((size_t)t->most + ASKED * ((size_t)k + 1)) * sizeof(int) + 4096;
}

/* ---- the whole ---- */

static spot_status sample_views(spot_ctx *c, spot_arena *a, spot_view *to, const spot_view *all, const spot_discover_options *o,
                                int rows)
{
    SPOT_TRY(sample_rows(c, a, &to[0], all, rows));
    to[1] = (spot_view){ .n = 0 };
    return o->attributes && rows ? spot_attribute_view(c, a, &to[1], o->attributes, &to[0]) : SPOT_OK;
}

/* Sets the sizes; returns the class, or all rows, whose rows are tried. */
static const spot_candidate *choose_rows(trial *t)
{
    const spot_candidate *largest = t->list;
    double rows = 0;

    for (int i = 0; i < t->count; i++) {
        const spot_candidate *k = &t->list[i];
        if (k->n > largest->n && (k->cls >= 0 || largest->n < SAMPLE)) largest = k;
        t->most = rows_seen(t, i) > t->most ? rows_seen(t, i) : t->most;
        t->classes += k->cls >= 0;
        rows += k->cls >= 0 ? rows_seen(t, i) : 0;
    }
    if (t->classes > 1 && rows / t->classes < TRIED) t->small = (int)rows / t->classes;
    return largest;
}

static spot_status run_trials(spot_ctx *c, spot_arena *a, trial *t, const spot_chosen *chosen, int at_once)
{
    SPOT_TRY(time_methods(c, a, t));
    SPOT_TRY(time_maps(c, a, t));
    return t->o->proof ? time_proof(c, a, t, chosen, at_once) : SPOT_OK;
}

/* list (count): as trial.list. */
static void estimate_time(spot_ctx *c, double *seconds, trial *t, const spot_chosen *chosen, int at_once)
{
    spot_ctx quiet = { .ops = c->ops, .device = c->device, .threads = c->threads, .stop = c->stop };
    const spot_candidate *largest = choose_rows(t);
    const int more = largest->n < 2 * SAMPLE || t->most < 1.5 * SAMPLE ? 0 : t->most < LONG ? t->most : LONG;
    const spot_candidate few = { largest->cls, more ? more : largest->n < SAMPLE ? largest->n : SAMPLE, 1 };
    spot_status status;
    spot_arena a;

    status = spot_arena_open(&quiet, &a, 2 * spot_group_needs(&quiet, t->s, t->o, &few, 1).host + (size_t)(SAMPLE + more) * 256
                             + further_bytes(&quiet, t)
                             + (size_t)((largest->cls < 0 ? t->s->n : largest->n) + SAMPLE + more) * ((size_t)t->s->d + 8)
                               * sizeof(float) + 4096);
    if (status == SPOT_OK) status = spot_subject_view(&quiet, &a, &t->all, t->s, largest->cls);
    if (status == SPOT_OK) status = sample_views(&quiet, &a, t->some[0], &t->all, t->o, SAMPLE);
    if (status == SPOT_OK) status = sample_views(&quiet, &a, t->some[1], &t->all, t->o, more);
    if (status == SPOT_OK) status = run_trials(&quiet, &a, t, chosen, at_once);
    *seconds = status == SPOT_OK ? seconds_by_clock(c, &t->f) : NAN;
    spot_arena_close(&a);
}

/* Rows of both parts that the search of a candidate sees: beside classes, of all rows a sample. */
static int searched_rows(const spot_candidate *k, const spot_subject *s, const spot_discover_options *o)
{
    const bool sample = k->cls < 0 && spot_crosses_classes(s, o);

    return sample && k->n > 2 * SPOT_FINDERS ? 2 * SPOT_FINDERS : k->n;
}

static spot_status list_searched(spot_ctx *c, spot_candidate **list, const spot_candidate *from, int count,
                                 const spot_subject *s, const spot_discover_options *o)
{
    *list = malloc(((size_t)count + 1) * sizeof **list);
    if (!*list) return spot_fail(c, SPOT_NOMEM, "no memory for %d classes", count);
    for (int i = 0; i < count; i++) (*list)[i] = (spot_candidate){ from[i].cls, searched_rows(&from[i], s, o), from[i].wrong };
    return SPOT_OK;
}

/* at_once: 0 for all classes. */
static spot_status cost_of(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, int at_once, spot_bytes *bytes,
                           double *seconds)
{
    spot_candidate *candidates = NULL, *searched = NULL;
    int count = 0, left_out;
    spot_status status = spot_discover_check(c, s, o);

    *bytes = (spot_bytes){ 0, 0 };
    if (seconds) *seconds = NAN;
    if (status == SPOT_OK) status = spot_candidates(c, s, o, &candidates, &count, &left_out);
    if (status == SPOT_OK)
        status = spot_discover_needs(c, s, o, (spot_examined){ candidates, count, at_once ? at_once : count }, bytes);
    if (status == SPOT_OK && seconds && candidates->wrong) {
        trial t = { .s = s, .o = o, .count = count };
        status = list_searched(c, &searched, candidates, count, s, o);
        t.list = searched;
        if (status == SPOT_OK)
            estimate_time(c, seconds, &t, &(spot_chosen){ .list = candidates, .count = count }, at_once ? at_once : count);
    }
    free(candidates);
    free(searched);
    return status;
}

spot_status spot_discover_cost(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_bytes *bytes,
                               double *seconds)
{
    return cost_of(c, s, o, 0, bytes, seconds);
}

spot_status spot_discover_run_cost(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_bytes *bytes,
                                   double *seconds)
{
    return cost_of(c, s, o, SPOT_CLASSES_AT_ONCE, bytes, seconds);
}
