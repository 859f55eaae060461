/* discover.c - spot_discover: classes in groups, each method on a whole group at a time.
 *
 *     subject -> views of a group of classes -> points -> hypotheses -> slices
 *
 * Maps are shared between methods and seeds whose settings make the same one. What fails for one class is tried without it:
 * a batch that fails is halved until the failure stands alone with its class.
 *
 * More than 400 lines, because one function knows all stages, and what it knows is read from top to bottom. */
#include "spotter/discover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ops.h"
#include "discover/search.h"
#include "store/keys.h"
#include "store/pack.h"
#include "sweep/pipeline.h"

/* A class under examination, and what the method at hand makes of it. */
typedef struct {
    spot_view       view;
    spot_key        features, points_key, found_key;
    spot_seed       seed;
    spot_points     points;
    spot_hypotheses found;
    spot_finding   *finding;
} patient;

typedef struct {
    spot_ctx                    *c;        /* says "class" where the library's sentences say "EC" */
    spot_ctx                    *outer;
    const spot_subject          *s;
    const spot_discover_options *o;
    spot_findings               *f;
    spot_store                   store;
    spot_arena                   work;
    patient                     *p;        /* (count): the group */
    int                          count, before, all;   /* classes in it, before it, in all */
    int                          b, t;     /* method and seed at hand */
} search;

spot_discover_options spot_discover_defaults(void)
{
    static spot_bdm_config planespot;
    static const uint64_t seed;

#pragma omp critical(spot_discover_defaults)
    planespot = spot_bdm_defaults(SPOT_PLANESPOT);
    return (spot_discover_options){ .bdm = &planespot, .bdms = 1, .seed = &seed, .seeds = 1, .cls = SPOT_EACH_CLASS,
                                    .least = 20, .neighbours = SPOT_MAX_NEIGHBOURS };
}

bool spot_is_seedless(const spot_embed_config *cfg)
{
    return cfg->method == SPOT_REDUCE_NONE || cfg->method == SPOT_REDUCE_PCA;
}

bool spot_is_map(const spot_embed_config *cfg) { return cfg->method != SPOT_REDUCE_NONE; }

/* ---- the library speaks of ECs, whose numbers here are those of classes ---- */

static void translate(char *to, size_t size, const char *text, const spot_subject *s)
{
    const char *at = strstr(text, "EC "), *after;
    char words[160];
    unsigned long ec;

    snprintf(to, size, "%s", text);
    if (!at || at[3] < '0' || at[3] > '9') return;
    ec = strtoul(at + 3, (char **)&after, 10);
    spot_class_words(words, sizeof words, s, ec < (unsigned long)s->classes ? (int)ec : SPOT_ALL_CLASSES);
    snprintf(to, size, "%.*s%s%s", (int)(at - text), text, words, after);
}

static void on_log(void *user, spot_log_level level, const char *text)
{
    const search *x = user;
    char line[1200];

    translate(line, sizeof line, text, x->s);
    if (x->outer->on_log) x->outer->on_log(x->outer->user, level, line);
}

/* Of the whole: of every method under every seed on every class. Before a map of many rows neighbours are sought. */
static void on_progress(void *user, const spot_progress *p)
{
    const search *x = user;
    double each = (double)x->o->bdms * x->o->seeds, part = p->total > 0 ? p->done / p->total : 0;

    part = strcmp(p->stage, "neighbours") ? 0.3 + 0.7 * part : 0.3 * part;
    double done = x->before * each + x->count * (x->b * x->o->seeds + x->t + part);

    spot_progress whole = { p->stage, -1, done, x->all * each, p->note };

    if (x->outer->on_progress) x->outer->on_progress(x->outer->user, &whole);
}

/* ---- a step of a method, for many classes in one call ---- */

typedef struct {
    const char   *kind;
    spot_pack_fn *pack;
    size_t        key, value;          /* where a patient has them */
    spot_status (*solve)(search *x, patient **p, int n);
    bool          fits;                /* makes what assigns new rows, which the cache does not hold */
} step;

typedef struct { spot_view *view; spot_seed *seed; spot_points *points; } inputs;

static spot_status gather(search *x, inputs *in, patient **p, int n)
{
    SPOT_TRY(SPOT_TAKE(x->c, &x->work, in->view, n));
    SPOT_TRY(SPOT_TAKE(x->c, &x->work, in->seed, n));
    SPOT_TRY(SPOT_TAKE(x->c, &x->work, in->points, n));
    for (int i = 0; i < n; i++) {
        in->view[i] = p[i]->view;
        in->seed[i] = p[i]->seed;
        in->points[i] = p[i]->points;
    }
    return SPOT_OK;
}

static spot_status embed(search *x, patient **p, int n)
{
    inputs in;

    SPOT_TRY(gather(x, &in, p, n));
    SPOT_TRY(spot_embed_fit(x->c, &x->work, n, in.points, in.view, in.seed, &x->o->bdm[x->b].embed));
    for (int i = 0; i < n; i++) p[i]->points = in.points[i];
    return SPOT_OK;
}

static spot_status find(search *x, patient **p, int n)
{
    spot_hypotheses *found;
    spot_fit *fits = NULL;
    inputs in;

    SPOT_TRY(gather(x, &in, p, n));
    SPOT_TRY(SPOT_TAKE(x->c, &x->work, found, n));
    if (x->o->fit) SPOT_TRY(SPOT_TAKE(x->c, &x->work, fits, n));
    SPOT_TRY(spot_bdm_fit(x->c, &x->work, n, found, fits, in.view, in.points, in.seed, &x->o->bdm[x->b]));
    for (int i = 0; i < n; i++) {
        p[i]->found = found[i];
        if (fits) p[i]->finding->fit = fits[i];
    }
    return SPOT_OK;
}

#define IN(member) offsetof(patient, member)
static const step reduce_step = { "points", spot_pack_points, IN(points_key), IN(points), embed, false };
static const step find_step   = { "found",  spot_pack_found,  IN(found_key),  IN(found),  find,  true };

static void *value_of(const step *s, patient *p)  { return (char *)p + s->value; }
static spot_key key_of(const step *s, patient *p) { return *(spot_key *)((char *)p + s->key); }

/* What is no reason to leave the other classes and methods alone. */
static bool is_its_own(spot_status s) { return spot_is_verdict(s) || s == SPOT_NOMEM || s == SPOT_UNSUPPORTED; }

static spot_status judge(search *x, patient *p, spot_status s)
{
    spot_finding *f = p->finding;
    char name[80], words[160];

    if (s == SPOT_OK || !is_its_own(s)) return s;
    f->status = s;
    translate(f->message, sizeof f->message, spot_message(x->c, s), x->s);
    spot_log(x->outer, SPOT_LOG_WARN, "%s found nothing of %s: %s", spot_bdm_name(&x->o->bdm[x->b], name, sizeof name),
             spot_class_words(words, sizeof words, x->s, f->cls), f->message);
    spot_forget(x->c);
    return SPOT_OK;
}

/* One call for n classes; where it fails for what one of them is, or for their number, a call for each half. */
static spot_status together(search *x, const step *s, patient **p, int n)
{
    size_t mark = x->work.used;
    spot_status how = s->solve(x, p, n);

    if (how) x->work.used = mark;
    for (int i = 0; i < n && how == SPOT_OK && x->o->cache; i++)
        SPOT_TRY(spot_keep(x->c, &x->store, key_of(s, p[i]), s->kind, s->pack, value_of(s, p[i])));
    if (how == SPOT_OK) return spot_check_stop(x->c);        /* only now that all is safe */
    if (n == 1 || !is_its_own(how)) return judge(x, p[0], how);
    spot_forget(x->c);
    SPOT_TRY(together(x, s, p, n / 2));
    return together(x, s, p + n / 2, n - n / 2);
}

/* For each of p, unless the cache has it. */
static spot_status take_step(search *x, const step *s, patient **p, int n)
{
    int missing = 0;

    for (int i = 0; i < n; i++) {
        bool found = false;
        if (x->o->cache && !(s->fits && x->o->fit))
            SPOT_TRY(spot_recall(x->c, &x->work, &x->store, key_of(s, p[i]), s->kind, s->pack, value_of(s, p[i]), &found));
        if (!found) p[missing++] = p[i];
    }
    return missing ? together(x, s, p, missing) : SPOT_OK;
}

/* ---- one method under one seed on a group ---- */

/* What this class's map was for an earlier method or seed whose settings make the same; NULL: there is none. */
static const spot_points *map_before(const search *x, const spot_finding *f)
{
    const spot_bdm_config *now = &x->o->bdm[x->b];
    const spot_finding *first = f - (x->b * x->o->seeds + x->t);
    spot_key k = spot_key_of_points((spot_key){ 0, 0 }, now);

    for (const spot_finding *e = first; e < f; e++) {
        spot_key other = spot_key_of_points((spot_key){ 0, 0 }, &x->o->bdm[e->bdm]);
        if (e->points.at && other.hi == k.hi && other.lo == k.lo && (e->seed == f->seed || spot_is_seedless(&now->embed)))
            return &e->points;
    }
    return NULL;
}

static spot_key with_seed(spot_key k, const spot_seed *seed)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%llu %u", (unsigned long long)seed->seed, seed->ec);

    return spot_key_join(k, "seed, ec", text, (size_t)n);
}

static void prepare(const search *x, patient *p, spot_finding *f)
{
    const spot_bdm_config *cfg = &x->o->bdm[x->b];

    p->finding = f;
    p->seed = (spot_seed){ x->o->seed[x->t], f->cls < 0 ? (uint32_t)x->s->classes : (uint32_t)f->cls };
    p->points = (spot_points){ p->view.n, p->view.d, p->view.feature, NAN };
    p->points_key = spot_key_of_points(p->features, cfg);
    if (!spot_is_seedless(&cfg->embed)) p->points_key = with_seed(p->points_key, &p->seed);
    p->found_key = with_seed(spot_key_of_found(p->points_key, cfg), &p->seed);
    f->bdm = x->b;
    f->seed = p->seed.seed;
}

/* From the work's memory into that of the findings. */
static spot_status keep_points(const search *x, patient *p)
{
    size_t entries = (size_t)p->points.n * (size_t)p->points.d;
    const float *from = p->points.at;

    SPOT_TRY(SPOT_TAKE(x->c, &x->f->arena, p->points.at, entries));
    memcpy(p->points.at, from, entries * sizeof *from);
    if (spot_is_map(&x->o->bdm[x->b].embed)) p->finding->points = p->points;
    return SPOT_OK;
}

/* Maps of all classes that have none yet; they stay with their findings, and the work's memory is free again. */
static spot_status reduce(search *x)
{
    const spot_embed_config *cfg = &x->o->bdm[x->b].embed;
    bool stay = spot_is_map(cfg) || x->o->fit;
    size_t mark = x->work.used;
    patient **todo;
    int n = 0;

    if (spot_embed_is_nothing(cfg)) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(x->c, &x->work, todo, x->count));
    for (int i = 0; i < x->count; i++) {
        const spot_points *before = map_before(x, x->p[i].finding);
        if (before) x->p[i].points = x->p[i].finding->points = *before;
        else todo[n++] = &x->p[i];
    }
    if (n) SPOT_TRY(take_step(x, &reduce_step, todo, n));
    for (int i = 0; i < x->count && stay; i++)
        if (!x->p[i].finding->status && !x->p[i].finding->points.at) SPOT_TRY(keep_points(x, &x->p[i]));
    if (stay) x->work.used = mark;
    return SPOT_OK;
}

static spot_status method(search *x, spot_finding *first, int findings)
{
    size_t mark = x->work.used;
    patient **todo;
    int n = 0;

    for (int i = 0; i < x->count; i++) prepare(x, &x->p[i], first + (size_t)i * findings + x->b * x->o->seeds + x->t);
    SPOT_TRY(reduce(x));
    SPOT_TRY(SPOT_TAKE(x->c, &x->work, todo, x->count));
    for (int i = 0; i < x->count; i++) if (!x->p[i].finding->status) todo[n++] = &x->p[i];
    if (n) SPOT_TRY(take_step(x, &find_step, todo, n));
    for (int i = 0; i < x->count; i++) {
        patient *p = &x->p[i];
        if (!p->finding->status)
            SPOT_TRY(spot_slices_of(x->c, &x->f->arena, &x->work, p->finding, x->s, &p->view, &p->found, x->o->neighbours));
    }
    x->work.used = mark;
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

/* The group's views, and its findings but for what is found. What assigns new rows borrows from the views, which therefore
 * stay with the findings. */
static spot_status admit(search *x, const spot_candidate *of, spot_finding *first, int findings)
{
    SPOT_TRY(SPOT_TAKE(x->c, &x->work, x->p, x->count));
    for (int i = 0; i < x->count; i++) {
        patient *p = &x->p[i];
        int *row;

        *p = (patient){ .finding = NULL };
        SPOT_TRY(spot_subject_view(x->c, x->o->fit ? &x->f->arena : &x->work, &p->view, x->s, of[i].cls));
        SPOT_TRY(SPOT_TAKE(x->c, &x->f->arena, row, p->view.n));
        memcpy(row, p->view.image, (size_t)p->view.n * sizeof *row);
        p->features = key_of_view(x->c, &p->view);
        for (int k = 0; k < findings; k++) {
            spot_finding *f = first + (size_t)i * findings + k;
            f->cls = of[i].cls;
            f->n = of[i].n;
            f->wrong = of[i].wrong;
            f->row = row;
        }
    }
    return SPOT_OK;
}

/* map.npy's: of each class the first map that there is. */
static void draw(const search *x, const spot_finding *f, const spot_points *map)
{
    for (int r = 0; r < f->n; r++)
        for (int k = 0; k < 2; k++)
            x->f->map[2 * (size_t)f->row[r] + k] = k < map->d ? map->at[(size_t)r * map->d + k] : 0;
}

/* Where no method has a map PCA shows the class. A class without that is none the worse for it. */
static spot_status draw_maps(search *x, const spot_finding *first, int findings)
{
    size_t mark = x->work.used;
    spot_embed_config pca = spot_embed_defaults();
    spot_points map;

    pca.method = SPOT_REDUCE_PCA;
    for (int i = 0; i < x->count; i++) {
        const spot_finding *f = first + (size_t)i * findings, *g = f;
        spot_status s;
        while (g < f + findings && !g->points.at) g++;
        if (g < f + findings) {
            draw(x, g, &g->points);
            continue;
        }
        s = spot_embed_fit(x->c, &x->work, 1, &map, &x->p[i].view, &x->p[i].seed, &pca);
        if (s == SPOT_OK) draw(x, f, &map);
        else if (is_its_own(s)) spot_forget(x->c);
        else return s;
        x->work.used = mark;
    }
    return SPOT_OK;
}

static spot_status examine(search *x, const spot_candidate *of, spot_finding *first)
{
    int findings = x->o->bdms * x->o->seeds;

    SPOT_TRY(admit(x, of, first, findings));
    for (x->b = 0; x->b < x->o->bdms; x->b++)
        for (x->t = 0; x->t < x->o->seeds; x->t++) {
            SPOT_TRY(spot_check_stop(x->c));
            SPOT_TRY(method(x, first, findings));
        }
    return draw_maps(x, first, findings);
}

static spot_status examine_all(search *x, const spot_candidate *of, int count)
{
    int findings = x->o->bdms * x->o->seeds;
    size_t results = spot_findings_bytes(x->s, x->o, of, count);

    x->all = count;
    for (int i = 0; i < count; i += x->count) {
        spot_bytes needs;
        spot_status s;

        x->before = i;
        SPOT_TRY(spot_group_fit(x->c, x->s, x->o, of + i, count - i, results, &x->count, &needs));
        SPOT_TRY(spot_arena_open(x->c, &x->work, needs.host));
        s = examine(x, of + i, x->f->finding + (size_t)i * findings);
        spot_arena_close(&x->work);
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

/* ---- the whole ---- */

static spot_status first_failure(search *x)
{
    const spot_finding *f = x->f->finding;

    for (int i = 0; i < x->f->count; i++) if (!f[i].status) return SPOT_OK;
    return spot_fail(x->c, f[0].status, "%s", f[0].message);
}

static spot_status open_results(search *x, const spot_candidate *of, int count, const int *left)
{
    spot_findings *f = x->f;

    f->count = count * x->o->bdms * x->o->seeds;
    SPOT_TRY(spot_arena_open(x->c, &f->arena, spot_findings_bytes(x->s, x->o, of, count)));
    SPOT_TRY(SPOT_TAKE(x->c, &f->arena, f->finding, f->count));
    SPOT_TRY(SPOT_TAKE(x->c, &f->arena, f->map, 2 * (size_t)x->s->n));
    SPOT_TRY(SPOT_TAKE(x->c, &f->arena, f->left_class, f->left_out));
    memset(f->finding, 0, (size_t)f->count * sizeof *f->finding);
    memcpy(f->left_class, left, (size_t)f->left_out * sizeof *left);
    for (size_t e = 0; e < 2 * (size_t)x->s->n; e++) f->map[e] = NAN;
    return x->o->cache ? spot_store_open_cache(x->c, &x->store, x->o->cache) : SPOT_OK;
}

static spot_status run(search *x, spot_candidate *of, int *left)
{
    int count;

    SPOT_TRY(spot_candidates(x->c, x->s, x->o, of, &count, left, &x->f->left_out));
    SPOT_TRY(open_results(x, of, count, left));
    SPOT_TRY(examine_all(x, of, count));
    return first_failure(x);
}

spot_status spot_discover(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o)
{
    spot_ctx inner = *c;
    search x = { .c = &inner, .outer = c, .s = s, .o = o, .f = f };
    spot_candidate *of;
    spot_status status;
    char words[1024];
    int *left;

    memset(f, 0, sizeof *f);
    SPOT_TRY(spot_discover_check(c, s, o));
    inner.on_log = on_log;
    inner.on_progress = on_progress;
    inner.user = &x;
    of = malloc(((size_t)s->classes + 1) * sizeof *of);
    left = malloc(((size_t)s->classes + 1) * sizeof *left);
    status = of && left ? run(&x, of, left) : spot_fail(&inner, SPOT_NOMEM, "no memory for %d classes", s->classes);
    free(of);
    free(left);
    if (status == SPOT_OK) return SPOT_OK;
    translate(words, sizeof words, spot_message(&inner, status), s);
    return spot_fail(c, status, "%s", words);
}

void spot_findings_close(spot_findings *f)
{
    for (int i = 0; i < f->count && f->finding; i++) spot_fit_close(&f->finding[i].fit);
    spot_arena_close(&f->arena);
    memset(f, 0, sizeof *f);
}
