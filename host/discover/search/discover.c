/* discover.c - spot_search: examines classes in groups, each method on a whole group at once.
 *
 *     subject -> views of a group of classes -> points -> hypotheses -> slices
 *
 * Methods and seeds whose settings give the same map share it. After a failure on one class the others continue. */
#include "spotter/discover.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ops.h"
#include "discover/proof/judge.h"
#include "discover/search/class_map.h"
#include "discover/search/features_put.h"
#include "discover/subject/attribute_rows.h"
#include "study/chain.h"
#include "study/keys.h"
#include "study/run_log.h"

typedef struct {
    spot_ctx                    *c;        /* names problems by their classes */
    spot_ctx                    *outer;    /* the caller's */
    const spot_subject          *subject;
    const spot_discover_options *options;
    spot_findings               *findings;
    spot_store                   store;
    spot_arena                   work;
    spot_arena                   on_device; /* has the current group's features */
    spot_chain                   chain;    /* the current group's classes */
    spot_view                   *view[2];  /* (chain.count) their rows by features, and by attributes; NULL: no method asks */
    spot_key                    *key[2];   /* (chain.count) of these views */
    spot_fit                    *fits;     /* (chain.count); NULL: not asked for */
    spot_finding                *first;    /* the group's first finding */
    int                          before, all;  /* classes before the group; all classes */
    int                          method, seed; /* the current ones */
    spot_run_log                *log;      /* NULL: none */
    int                          kept;     /* values since its last line */
} discovery;

/* Made once, by the first who asks, and never written again. */
static spot_bdm_config default_methods[3];

static void make_default_methods(void)
{
    default_methods[0] = spot_bdm_defaults(SPOT_JOINSPOT);
    default_methods[1] = spot_bdm_defaults(SPOT_WARD);
    default_methods[2] = spot_bdm_defaults(SPOT_ITEMSETS);
    default_methods[2].itemsets.longest = 2;
    default_methods[2].top = 20;
}

void spot_discover_rules(spot_discover_options *o)
{
    if (o->bdm == spot_discover_defaults().bdm && o->attributes && o->proof) o->bdms = 3;
}

spot_discover_options spot_discover_defaults(void)
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    static const uint64_t seed;

    pthread_once(&made, make_default_methods);
    return (spot_discover_options){ .bdm = default_methods, .bdms = 2, .seed = &seed, .seeds = 1, .cls = SPOT_EACH_AND_ALL,
                                    .least = 20, .neighbours = SPOT_MAX_NEIGHBOURS };
}

static int findings_of_a_class(const discovery *run) { return run->options->bdms * run->options->seeds; }

/* The findings of class i of the group; its finding by the current method and seed. */
static spot_finding *class_findings(const discovery *run, int i) { return run->first + (size_t)i * findings_of_a_class(run); }

static spot_finding *finding_of(const discovery *run, int i)
{
    return class_findings(run, i) + run->method * run->options->seeds + run->seed;
}

static const spot_bdm_config *method_of(const discovery *run) { return &run->options->bdm[run->method]; }

/* ---- the context of the work ---- */

static void pass_log(void *user, spot_log_level level, const char *text)
{
    const discovery *run = user;

    if (run->outer->on_log) run->outer->on_log(run->outer->user, level, text);
}

/* Progress over all methods, seeds and classes. The search for neighbours counts as the first 30 % of a method. */
static void pass_progress(void *user, const spot_progress *p)
{
    const discovery *run = user;
    double each = findings_of_a_class(run), part = p->total > 0 ? p->done / p->total : 0, done;
    spot_progress whole = { p->stage, -1, 0, run->all * each, p->note };

    part = strcmp(p->stage, "neighbours") ? 0.3 + 0.7 * part : 0.3 * part;
    done = run->before * each + run->chain.count * (run->method * run->options->seeds + run->seed + part);
    whole.done = done;
    if (run->outer->on_progress) run->outer->on_progress(run->outer->user, &whole);
}

/* A problem's number is its class; the number of classes means all rows. */
static void label_class(void *user, uint32_t problem, char *text, size_t size)
{
    const spot_subject *s = ((const discovery *)user)->subject;

    spot_class_words(text, size, s, problem < (uint32_t)s->classes ? (int)problem : SPOT_ALL_CLASSES);
}

/* ---- one method under one seed on a group ---- */

static spot_status record_failure(void *user, int i, spot_status s)
{
    discovery *run = user;
    spot_finding *f = finding_of(run, i);
    char name[80], words[160];

    if (!spot_concerns_one_problem(s)) return s;
    f->status = s;
    snprintf(f->message, sizeof f->message, "%s", spot_message(run->c, s));
    spot_log(run->outer, SPOT_LOG_WARN, "%s found nothing of %s: %s", spot_bdm_name(method_of(run), name, sizeof name),
             spot_class_words(words, sizeof words, run->subject, f->cls), f->message);
    spot_forget(run->c);
    return SPOT_OK;
}

/* The map of this class by an earlier method or seed with the same settings; NULL: none. */
static const spot_points *shared_map(const discovery *run, int i)
{
    const spot_bdm_config *now = method_of(run);
    const spot_finding *f = finding_of(run, i);

    for (const spot_finding *e = class_findings(run, i); e < f; e++)
        if (e->points.at && (e->seed == f->seed || spot_is_seedless(&now->embed))
            && spot_same_points(now, &run->options->bdm[e->bdm], !run->options->attributes)) return &e->points;
    return NULL;
}

static spot_key with_seed(spot_key k, const spot_seed *seed)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%llu %u", (unsigned long long)seed->seed, seed->ec);

    return spot_key_join(k, "seed, ec", text, (size_t)n);
}

/* Prepares the current method and seed on class i of the group. */
static void begin_finding(discovery *run, int i)
{
    const spot_bdm_config *cfg = method_of(run);
    spot_finding *f = finding_of(run, i);
    spot_chain *k = &run->chain;
    const spot_points *shared;

    f->bdm = run->method;
    f->seed = run->options->seed[run->seed];
    k->skip[i] = !f->wrong;
    k->seed[i] = (spot_seed){ f->seed, f->cls < 0 ? (uint32_t)run->subject->classes : (uint32_t)f->cls };
    k->points_key[i] = spot_key_of_points(run->key[spot_by_table(run->options, run->method)][i], cfg);
    if (!spot_is_seedless(&cfg->embed)) k->points_key[i] = with_seed(k->points_key[i], &k->seed[i]);
    k->found_key[i] = with_seed(spot_key_of_found(k->points_key[i], cfg), &k->seed[i]);
    k->points[i] = (spot_points){ .at = NULL };
    if (k->fit) k->fit[i].count = 0;
    shared = shared_map(run, i);
    if (shared) k->points[i] = f->points = *shared;
}

/* Copies points from the work arena into the arena of the findings. */
static spot_status keep_points(discovery *run, int i)
{
    spot_points *points = &run->chain.points[i];
    size_t entries = (size_t)points->n * (size_t)points->d;
    const float *from = points->at;

    SPOT_TRY(SPOT_TAKE(run->c, &run->findings->arena, points->at, entries));
    memcpy(points->at, from, entries * sizeof *from);
    if (spot_is_map(&method_of(run)->embed)) finding_of(run, i)->points = *points;
    return SPOT_OK;
}

/* view -> points for all classes without a map. Maps are kept with the findings, and the work arena is rewound. */
static spot_status reduce_group(discovery *run)
{
    const spot_embed_config *cfg = &method_of(run)->embed;
    size_t mark = run->work.used;

    SPOT_TRY(spot_chain_points(&run->chain));
    if (spot_embed_is_nothing(cfg) || !(spot_is_map(cfg) || run->options->fit)) return SPOT_OK;
    for (int i = 0; i < run->chain.count; i++)
        if (!run->chain.skip[i] && !finding_of(run, i)->points.at) SPOT_TRY(keep_points(run, i));
    run->work.used = mark;
    return SPOT_OK;
}

static void count_kept(void *user, int i, const char *kind, double seconds)
{
    discovery *run = user;

    (void)i, (void)kind, (void)seconds;
    run->kept++;
}

/* Tells the run that this process went on, and need not be given up. */
static void log_kept(discovery *run, double since)
{
    if (run->kept && run->log) spot_run_log_kept(run->log, "found", -1, spot_clock() - since, NULL);
    run->kept = 0;
}

static spot_status run_method(discovery *run)
{
    const bool table = spot_by_table(run->options, run->method);
    const double since = spot_clock();
    spot_chain *k = &run->chain;
    size_t mark = run->work.used;
    spot_status s;

    k->method = method_of(run);
    k->view = run->view[table];
    k->fit = table ? NULL : run->fits;     /* new rows come without attributes */
    for (int i = 0; i < k->count; i++) begin_finding(run, i);
    s = reduce_group(run);
    if (s == SPOT_OK) s = spot_chain_found(k);
    log_kept(run, since);
    for (int i = 0; i < k->count && k->fit; i++) finding_of(run, i)->fit = k->fit[i];      /* spot_findings_close closes it */
    SPOT_TRY(s);
    for (int i = 0; i < k->count; i++)
        if (!k->skip[i])
            SPOT_TRY(spot_slices_of(run->c, &run->findings->arena, &run->work, finding_of(run, i), run->subject,
                                    &run->view[0][i], &k->found[i], run->options->neighbours));
    run->work.used = mark;
    return SPOT_OK;
}

/* ---- groups ---- */

static spot_key key_of_view(const spot_ctx *c, const spot_view *v)
{
    char text[64];
    int n = snprintf(text, sizeof text, "numbers=%d %d %d", SPOT_NUMBERS, v->n, v->d);
    spot_key k = spot_key_join(spot_key_of(text, (size_t)n), "device", c->ops->name, strlen(c->ops->name));

    k = spot_key_join(k, "feature", v->feature, (size_t)v->n * (size_t)v->d * sizeof *v->feature);
    k = spot_key_join(k, "confidence", v->confidence, (size_t)v->n * sizeof *v->confidence);
    if (v->label) k = spot_key_join(k, "label", v->label, (size_t)v->n);
    return v->head ? spot_key_join(k, "head", v->head, (size_t)v->d * sizeof *v->head) : k;
}

/* The attributes of the group's rows, if a method looks at them. */
static spot_status open_tables(discovery *run)
{
    const spot_discover_options *o = run->options;
    bool table = false;

    run->view[1] = NULL;
    for (int b = 0; b < o->bdms; b++) table = table || spot_by_table(o, b);
    if (!table) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(run->c, &run->work, run->view[1], run->chain.count));
    SPOT_TRY(SPOT_TAKE(run->c, &run->work, run->key[1], run->chain.count));
    for (int i = 0; i < run->chain.count; i++) {
        SPOT_TRY(spot_attribute_view(run->c, &run->work, &run->view[1][i], o->attributes, &run->view[0][i]));
        run->key[1][i] = key_of_view(run->c, &run->view[1][i]);
    }
    return SPOT_OK;
}

/* Fills the group's views and all of its findings but the slices. A fit borrows from the views, so with fits the views are
 * kept with the findings. */
static spot_status open_group(discovery *run, const spot_candidate *candidates, int count)
{
    spot_arena *views = run->options->fit ? &run->findings->arena : &run->work;
    spot_chain *k = &run->chain;
    int *row;

    *k = (spot_chain){ .c = run->c, .a = &run->work, .store = run->options->cache ? &run->store : NULL, .study = run,
                       .judge = record_failure, .kept = count_kept };
    SPOT_TRY(spot_chain_open(k, count, run->options->fit));
    run->view[0] = k->view;
    run->fits = k->fit;
    SPOT_TRY(SPOT_TAKE(run->c, &run->work, run->key[0], count));
    for (int i = 0; i < count; i++) {
        SPOT_TRY(spot_subject_view(run->c, views, &k->view[i], run->subject, candidates[i].cls));
        SPOT_TRY(SPOT_TAKE(run->c, &run->findings->arena, row, k->view[i].n));
        memcpy(row, k->view[i].image, (size_t)k->view[i].n * sizeof *row);
        run->key[0][i] = key_of_view(run->c, &k->view[i]);
        for (spot_finding *f = class_findings(run, i); f < class_findings(run, i + 1); f++) {
            f->cls = candidates[i].cls;
            f->n = candidates[i].n;
            f->wrong = candidates[i].wrong;
            f->row = row;
        }
    }
    return open_tables(run);
}

/* map.npy shows each class's first map, or PCA if no method has a map. A class whose PCA fails has no map. */
static spot_status draw_maps(discovery *run)
{
    size_t mark = run->work.used;

    for (int i = 0; i < run->chain.count; i++) {
        const spot_finding *f = class_findings(run, i), *end = class_findings(run, i + 1), *g = f;
        while (g < end && !g->points.at) g++;
        if (g < end) spot_class_map_put(run->findings->map, g->row, &g->points);
        else SPOT_TRY(spot_class_map_draw(run->c, &run->work, run->findings->map, f->row, &run->view[0][i],
                                          &run->chain.seed[i]));
        run->work.used = mark;
    }
    return SPOT_OK;
}

static spot_status run_group(discovery *run, const spot_candidate *candidates, int count, size_t device)
{
    SPOT_TRY(open_group(run, candidates, count));
    SPOT_TRY(spot_features_put(run->c, &run->on_device, run->options, run->view[0], count, device));
    for (run->method = 0; run->method < run->options->bdms; run->method++)
        for (run->seed = 0; run->seed < run->options->seeds; run->seed++) {
            SPOT_TRY(spot_check_stop(run->c));
            SPOT_TRY(run_method(run));
        }
    return draw_maps(run);
}

static spot_status run_groups(discovery *run, const spot_candidate *candidates, int count)
{
    size_t results = spot_findings_bytes(run->subject, run->options, candidates, count);
    int together;

    run->all = count;
    for (int i = 0; i < count; i += together) {
        spot_bytes needs;
        spot_status s;

        run->before = i;
        run->first = run->findings->finding + (size_t)i * findings_of_a_class(run);
        SPOT_TRY(spot_group_fit(run->c, run->subject, run->options, candidates + i, count - i, results, &together, &needs));
        SPOT_TRY(spot_arena_open(run->c, &run->work, needs.host));
        s = run_group(run, candidates + i, together, needs.device);
        spot_arena_close(&run->on_device);
        spot_arena_close(&run->work);
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

/* ---- the whole ---- */

static spot_status first_failure(discovery *run)
{
    const spot_finding *f = run->findings->finding;

    for (int i = 0; i < run->findings->count; i++) if (!f[i].status) return SPOT_OK;
    return spot_fail(run->c, f[0].status, "{finding.failed} %s", f[0].message);
}

static spot_status open_findings(discovery *run, const spot_candidate *candidates, int count)
{
    spot_findings *f = run->findings;

    f->count = count * findings_of_a_class(run);
    SPOT_TRY(spot_arena_open(run->c, &f->arena, spot_findings_bytes(run->subject, run->options, candidates, count)));
    SPOT_TRY(SPOT_TAKE(run->c, &f->arena, f->finding, f->count));
    SPOT_TRY(SPOT_TAKE(run->c, &f->arena, f->map, 2 * (size_t)run->subject->n));
    SPOT_TRY(SPOT_TAKE(run->c, &f->arena, f->left_class, f->left_out));
    memset(f->finding, 0, (size_t)f->count * sizeof *f->finding);
    for (int k = 0; k < f->left_out; k++) f->left_class[k] = candidates[count + k].cls;
    for (size_t e = 0; e < 2 * (size_t)run->subject->n; e++) f->map[e] = NAN;
    return run->options->cache ? spot_store_open_cache(run->c, &run->store, run->options->cache) : SPOT_OK;
}

static spot_status run_all(discovery *run, const spot_chosen *k)
{
    run->findings->left_out = k->left_out;
    SPOT_TRY(open_findings(run, k->list, k->count));
    SPOT_TRY(run_groups(run, k->list, k->count));
    return first_failure(run);
}

spot_status spot_search(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o,
                        const spot_chosen *k)
{
    spot_ctx inner = *c;
    discovery run = { .c = &inner, .outer = c, .subject = s, .options = o, .findings = f, .log = k->log };
    spot_status status;

    inner.on_log = pass_log;
    inner.on_progress = pass_progress;
    inner.label = label_class;
    inner.user = &run;
    status = run_all(&run, k);
    return status == SPOT_OK ? status : spot_fail_from(c, status, &inner);
}

void spot_findings_close(spot_findings *f)
{
    for (int i = 0; i < f->count && f->finding; i++) spot_fit_close(&f->finding[i].fit);
    spot_arena_close(&f->arena);
    spot_arena_close(&f->described);
    spot_arena_close(&f->suspected);
    memset(f, 0, sizeof *f);
}
