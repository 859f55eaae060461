/* gather.c - gathers a baseline from a run's segments and checks that its numbers follow from them. */
#include "check/baseline.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "study/run_log.h"

/* ---- hashes of values as text, since structs have padding ---- */

__attribute__((format(printf, 2, 3)))
static void add(spot_key *k, const char *fmt, ...)
{
    char text[1200];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    *k = spot_key_join(*k, "", text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

static void add_reals(spot_key *k, const double *v, int n) { for (int i = 0; i < n; i++) add(k, "%.17g", v[i]); }

static spot_key definition_of(const spot_segment *s)
{
    spot_key k = spot_key_of("ec", 2);

    add(&k, "%" PRIu64 " %d", s->seed, s->index);
    add(&k, "%s", s->layers);
    add(&k, "%s", s->rollable);
    for (int i = 0; i < SPOT_SPLITS; i++) add(&k, "%d", s->images[i]);
    for (int m = 0; m < s->blindspots; m++) add(&k, "%d %s", s->specificity[m], s->blindspot[m]);
    return k;
}

static spot_key outcome_of(const spot_outcome *o)
{
    const spot_score *s = &o->score;
    spot_key k = spot_key_of("method", 6);

    add(&k, "%s", o->name);
    add(&k, "%s %s %d", o->settings, o->embedding, o->status);
    if (o->status) {
        add(&k, "%s", o->message);
        return k;
    }
    add(&k, "%.17g %.17g %d %d", s->dr, s->fdr, s->u, o->components);
    for (int h = 0; h < s->hypotheses; h++) {
        add(&k, "%d %.17g %.17g %d", o->size[h], o->order[h], o->mean_error[h], s->belongs[h]);
        add_reals(&k, s->bp[h], s->blindspots);
    }
    for (int m = 0; m < s->blindspots; m++) {
        add(&k, "%d %.17g %d", s->size[m], s->br[m], s->covered[m]);
        add_reals(&k, s->failure[m], SPOT_FAILURES);
    }
    return k;
}

/* Without the build: another build of the same numbers should give the same segment. */
static spot_key segment_of(const spot_segment *s)
{
    const spot_learning *l = &s->lesson;
    spot_key k = definition_of(s);

    add(&k, "%s %d %s", s->config, s->numbers, s->device);
    add(&k, "%d %.17g %.17g %d %d", s->metric.profile, s->metric.lambda_p, s->metric.lambda_r, s->metric.top, s->status);
    if (s->status) add(&k, "%s", s->message);
    for (int e = 0; !s->status && e < l->epochs; e++) add(&k, "%.17g %.17g", l->epoch[e].train_loss, l->epoch[e].val_loss);
    if (!s->status) {
        add(&k, "%d %.17g %d %d", l->best_epoch, l->outside, l->outside_count, l->learned);
        add_reals(&k, l->inside, s->blindspots);
        for (int m = 0; m < s->blindspots; m++) add(&k, "%d", l->inside_count[m]);
    }
    for (int b = 0; b < s->methods; b++) {
        char text[33];
        spot_key_text(text, outcome_of(&s->method[b]));
        add(&k, "%s", text);
    }
    return k;
}

static void hash_text(char *text, int digits, spot_key k)
{
    char all[33];

    spot_key_text(all, k);
    snprintf(text, (size_t)digits + 1, "%.*s", digits, all);
}

/* ---- one EC ---- */

static bool same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }
static bool is_share(double x) { return isnan(x) || (x >= 0 && x <= 1); }

/* Checks that the score follows from the hypotheses and the covered blindspots. */
static void check_score(spot_scores_check *k, const spot_segment *s, const spot_outcome *o, const spot_baseline_found *f)
{
    const spot_score *v = &o->score;
    double dr = s->blindspots ? (double)f->covered / s->blindspots : NAN;
    double fdr = f->u && f->strangers >= 0 ? (double)f->strangers / f->u : NAN;
    bool same = same_number(v->dr, dr) && same_number(v->fdr, fdr) && !f->u == !f->covered;
    bool possible = is_share(v->dr) && is_share(v->fdr) && isnan(v->dr) == !s->blindspots;

    k->scores++;
    k->wrong += !same;
    k->impossible += !possible;
    if ((same && possible) || *k->first) return;
    snprintf(k->first, sizeof k->first, "EC %d, %s: DR %.4g and FDR %.4g, but %d of %d blindspots are covered and %d of the "
             "first %d hypotheses belong to none", s->index, o->name, v->dr, v->fdr, f->covered, s->blindspots, f->strangers,
             f->u);
}

static void gather_outcome(spot_baseline_found *f, const spot_segment *s, const spot_outcome *o, spot_scores_check *k)
{
    const spot_score *v = &o->score;

    hash_text(f->hash, sizeof f->hash - 1, outcome_of(o));
    f->covered = -1;
    if (s->status || o->status) return;
    f->covered = 0;
    for (int m = 0; m < s->blindspots; m++) f->covered += v->covered[m];
    f->u = v->u < 0 ? 0 : v->u > v->hypotheses ? v->hypotheses : v->u;
    for (int h = 0; h < f->u; h++) f->strangers += v->belongs[h] < 0;
    if (!s->rollable[0] && isnan(v->fdr)) f->strangers = -1;       /* real pictures: their blindspots are not all known */
    check_score(k, s, o, f);
}

static void gather_segment(spot_baseline *b, int i, const spot_segment *s, spot_scores_check *k)
{
    spot_baseline_ec *e = &b->ec[i];

    *e = (spot_baseline_ec){ .index = s->index, .blindspots = s->blindspots,
                             .learned = s->status ? -1 : s->lesson.learned };
    hash_text(e->definition, sizeof e->definition - 1, definition_of(s));
    hash_text(e->segment, sizeof e->segment - 1, segment_of(s));
    if (!i) b->seed = s->seed;
    for (int m = 0; m < b->methods; m++) {
        spot_baseline_found *f = &b->method[m].found[i];
        if (m >= s->methods) {
            *f = (spot_baseline_found){ .covered = -1 };
            continue;
        }
        gather_outcome(f, s, &s->method[m], k);
        if (!b->method[m].settings[0]) memcpy(b->method[m].settings, s->method[m].settings, sizeof b->method[m].settings);
    }
}

/* Equal bits are promised only if the run's logs name one build and one platform. */
void spot_baseline_find_makers(spot_ctx *c, spot_baseline *b, const char *dir)
{
    spot_run_makers m = { 0 };
    bool read = spot_run_makers_read(c, dir, &m) == SPOT_OK;

    spot_forget(c);
    if (m.builds || *m.other) return;
    memcpy(b->build, m.build, sizeof b->build);
    if (read) memcpy(b->platform, m.platform, sizeof b->platform);
}

spot_status spot_baseline_gather(spot_ctx *c, spot_baseline *b, const spot_results *r, spot_scores_check *k)
{
    spot_segment *seg = calloc(1, sizeof *seg);
    spot_segment_state state;
    spot_status s = SPOT_OK;
    char why[1300];

    memset(b, 0, sizeof *b);
    *k = (spot_scores_check){ 0 };
    b->ec = calloc((size_t)r->ecs + 1, sizeof *b->ec);
    for (b->methods = 0; b->methods < r->methods; b->methods++) {
        snprintf(b->method[b->methods].name, sizeof b->method[0].name, "%s", r->method[b->methods].name);
        b->method[b->methods].found = calloc((size_t)r->ecs + 1, sizeof *b->method[0].found);
        if (!b->method[b->methods].found) s = SPOT_NOMEM;
    }
    if (!seg || !b->ec || s) s = spot_fail(c, SPOT_NOMEM, "no memory for the results of %d ECs", r->ecs);
    memcpy(b->config, r->config, sizeof b->config);
    memcpy(b->device, r->device, sizeof b->device);
    snprintf(b->profile, sizeof b->profile, "%s", spot_profile_name(r->metric.profile));
    b->numbers = r->numbers;
    for (int i = 0; i < r->ecs && s == SPOT_OK; i++) {
        s = spot_segment_read(c, r->dir, r->ec[i].index, seg, &state, why, sizeof why);
        if (s == SPOT_OK && state != SPOT_SEGMENT_WHOLE)
            s = spot_fail(c, SPOT_INPUT, "%s; it was whole a moment ago: is another process writing there?", why);
        if (s == SPOT_OK) gather_segment(b, b->ecs++, seg, k);
    }
    spot_segment_free(seg);
    if (s == SPOT_OK) spot_baseline_find_makers(c, b, r->dir);
    if (!*b->build) snprintf(b->build, sizeof b->build, "%s", r->build);
    if (s == SPOT_OK) s = spot_config_print(c, &r->cfg, &b->text);
    return s;
}

/* ---- values ---- */

bool spot_baseline_value(double *v, const spot_baseline *b, int method, int metric, int i)
{
    const spot_baseline_ec *e = &b->ec[i];
    const spot_baseline_found *f;

    if (metric == SPOT_CHECK_LEARNED) {
        *v = e->learned == 1;
        return true;
    }
    f = &b->method[method].found[i];
    if (!e->learned) return false;
    if (metric == SPOT_CHECK_FDR) {
        *v = f->u ? (double)f->strangers / f->u : NAN;
        return f->covered > 0 && f->u && f->strangers >= 0;
    }
    *v = f->covered > 0 ? (double)f->covered / e->blindspots : 0;
    return e->blindspots > 0;
}

spot_average spot_baseline_average(const spot_baseline *b, int method, int metric)
{
    spot_average a = { .mean = NAN, .se = NAN };
    double sum = 0, squares = 0, v;

    for (int i = 0; i < b->ecs; i++)
        if (spot_baseline_value(&v, b, method, metric, i)) sum += v, a.n++;
    if (a.n) a.mean = sum / a.n;
    for (int i = 0; i < b->ecs; i++)
        if (spot_baseline_value(&v, b, method, metric, i)) squares += (v - a.mean) * (v - a.mean);
    if (a.n > 1) a.se = sqrt(squares / (a.n - 1) / a.n);
    a.left_out = b->ecs - a.n;
    return a;
}

int spot_baseline_find(const spot_baseline *b, const char *name, const char *settings)
{
    for (int m = 0; m < b->methods; m++)
        if (!strcmp(b->method[m].name, name)) return m;
    for (int m = 0; m < b->methods; m++)
        if (*settings && !strcmp(b->method[m].settings, settings)) return m;
    return -1;
}

const spot_quarantine *spot_baseline_quarantined(const spot_baseline *b, const char *method, int metric)
{
    for (int i = 0; i < b->quarantines; i++)
        if (b->quarantine[i].metric == metric && !strcmp(b->quarantine[i].method, method)) return &b->quarantine[i];
    return NULL;
}
