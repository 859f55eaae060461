/* proof_run.c - one run of a proof: a search on each part; each of its slices is judged on the other part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/proof/proof_groups.h"
#include "discover/subject/attribute_rows.h"
#include "study/chain.h"

/* ---- counting ---- */

static bool is_wrong(const spot_proving *j, int row, int cls)
{
    if (j->errors.wanted) return j->errors.wanted[row];
    return spot_subject_wrong(j->s, j->errors.answers ? j->errors.answers[row] : row, cls);
}

void spot_proof_tally(spot_proving *j)
{
    for (spot_proved *k = j->cls; k < j->cls + j->classes; k++) {
        for (int q = 0; q < 2; q++) memset(k->tally[q], 0, (size_t)k->strata * sizeof **k->tally);
        for (int i = 0; i < k->n; i++) {
            spot_stratum *t = &k->tally[j->part[k->row[i]]][spot_stratum_of(j, k, k->row[i])];
            k->is_wrong[i] = is_wrong(j, k->row[i], k->cls);
            t->rows++;
            t->group += k->is_wrong[i];
        }
    }
}

spot_counted spot_count_rows(const spot_proving *j, const spot_proved *k, const uint64_t *bit, int part)
{
    const int first = part < 0 ? (j->p.parts == 1) : part, last = part < 0 ? 1 : part;
    spot_counted n = { 0, 0, 0 };

    for (size_t w = 0; w < k->words; w++)
        for (uint64_t left = bit[w]; left; left &= left - 1) {
            const int i = (int)w * 64 + __builtin_ctzll(left), h = spot_stratum_of(j, k, k->row[i]);
            int rows = 0, wrong = 0;
            for (int q = first; q <= last; q++) {
                rows += k->tally[q][h].rows;
                wrong += k->tally[q][h].group;
            }
            n.rows++;
            n.wrong += k->is_wrong[i];
            n.base += rows ? (double)wrong / rows : 0;
        }
    return n;
}

/* ---- judging ---- */

static void vote(const spot_proved *k, spot_judged *g)
{
    const int q = g->said.part, votes = k->votes[q];

    memset(g->judged, 0, k->words * sizeof *g->judged);
    for (int i = 0; i < k->members[1 - q]; i++) {
        const int *near = k->nearest[q] + (size_t)i * (size_t)votes, at = k->member[1 - q][i];
        int in = 0;
        for (int t = 0; t < votes; t++) in += spot_has_bit(g->found, k->finder[q][near[t]]);
        if (2 * in > votes) g->judged[at / 64] |= (uint64_t)1 << at % 64;
    }
}

spot_stratum *spot_cover_strata(const spot_proving *j, const spot_proved *k, const uint64_t *bit, int part)
{
    spot_stratum *t = k->tally[part];

    for (int h = 0; h < k->strata; h++) t[h].covered = 0;
    for (int i = 0; i < k->n; i++)
        if (spot_has_bit(bit, i)) t[spot_stratum_of(j, k, k->row[i])].covered++;
    return t;
}

/* The exact tail of the piece's wrong rows. */
static spot_status test(spot_proving *j, spot_proved *k, spot_judged *g)
{
    const spot_stratum *t = spot_cover_strata(j, k, g->judged, 1 - g->said.part);
    const size_t mark = j->a.used;
    double *scratch = NULL;

    if (k->strata > 1) SPOT_TRY(SPOT_TAKE(j->c, &j->a, scratch, 2 * ((size_t)g->said.judged + 1)));
    g->said.p = g->alone = spot_stratified_tail(t, k->strata, g->said.wrong, scratch);
    j->a.used = mark;
    return SPOT_OK;
}

/* The piece's numbers and its test. */
static spot_status measure_piece(spot_proving *j, spot_judged *g, spot_counted found, spot_counted judged)
{
    g->said.found = found.rows;
    g->said.found_wrong = found.wrong;
    g->said.judged = judged.rows;
    g->said.wrong = judged.wrong;
    g->said.base = judged.base;
    g->said.groups = spot_count_groups(j, &j->cls[g->class_place], g->judged).groups;
    j->pieces++;
    return test(j, &j->cls[g->class_place], g);
}

spot_status spot_proof_keep(spot_proving *j, spot_judged *g)
{
    const spot_proved *k = &j->cls[g->class_place];

    return measure_piece(j, g, spot_count_rows(j, k, g->found, g->said.part),
                         spot_count_rows(j, k, g->judged, 1 - g->said.part));
}

/* Nine tenths of the rows are of one class, whose own search is for such slices. */
static bool is_of_one_class(const spot_proving *j, spot_proved *k, const uint64_t *bit, int rows)
{
    const spot_stratum *t = spot_cover_strata(j, k, bit, 0);
    int most = 0;

    for (int h = 0; h < k->strata; h++) most = t[h].covered > most ? t[h].covered : most;
    return most >= SPOT_WHOLE * rows;
}

/* Keeps the piece if it is a test: see discover.h. A rule has rows of the whole part, also where a sample is searched. */
static spot_status judge(spot_proving *j, spot_judged *g, size_t mark)
{
    spot_proved *k = &j->cls[g->class_place];
    const int q = g->said.part, all = g->said.rule.items ? k->members[q] : k->finders[q];
    spot_counted found = spot_count_rows(j, k, g->found, q), judged = { 0, 0, 0 };

    if (found.rows >= SPOT_WHOLE * all || found.wrong <= found.base || !k->nearest[q]
        || (k == j->across && is_of_one_class(j, k, g->found, found.rows))) judged.rows = 0;
    else {
        if (g->said.rule.items) spot_rule_rows(j, k, &g->said.rule, 1 - q, g->judged);
        else vote(k, g);
        judged = spot_count_rows(j, k, g->judged, 1 - q);
    }
    if (!judged.rows || judged.rows >= SPOT_WHOLE * k->members[1 - q]) {
        j->a.used = mark;
        k->left++;
        return SPOT_OK;
    }
    g->backed = !j->quiet && spot_is_backed(j, k, g, found);
    return measure_piece(j, g, found, judged);
}

spot_status spot_proof_piece(spot_proving *j, spot_judged **next, const spot_piece *said, double score,
                             int class_place)
{
    const size_t words = j->cls[class_place].words;
    spot_judged *g = *next = &j->piece[j->pieces];

    *g = (spot_judged){ .said = *said, .score = score, .class_place = class_place, .slice = -1 };
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, g->found, 2 * words));
    g->judged = g->found + words;
    memset(g->found, 0, words * sizeof *g->found);
    memset(g->judged, 0, words * sizeof *g->judged);
    return SPOT_OK;
}

static void set_bit(uint64_t *bit, int i) { bit[i / 64] |= (uint64_t)1 << i % 64; }

/* Whether the slices of a method are rules of the attributes. */
static bool is_rule(const spot_proving *j, int bdm)
{
    return spot_by_table(j->o, bdm) && j->o->bdm[bdm].method == SPOT_ITEMSETS;
}

/* Whether a piece of the same class and part is the same rule. */
static bool is_known(const spot_proving *j, const spot_judged *g)
{
    for (const spot_judged *e = j->piece; e < j->piece + j->pieces && g->said.rule.items; e++)
        if (e->class_place == g->class_place && e->said.part == g->said.part
            && spot_same_rule(&e->said.rule, &g->said.rule)) return true;
    return false;
}

/* A slice of the search of a part, whose row i is row[i] of the subject. */
static spot_status take_slice(spot_proving *j, const spot_finding *f, const spot_slice *s, int rank, int class_place,
                              int part, const int *row)
{
    const spot_piece said = { .bdm = f->bdm, .part = part, .seed = f->seed, .rank = rank };
    const spot_proved *k = &j->cls[class_place];
    const size_t mark = j->a.used;
    spot_judged *g;
    int at = 0;

    SPOT_TRY(spot_proof_piece(j, &g, &said, s->score, class_place));
    for (int i = 0; i < s->size; i++) {
        while (k->row[at] != row[s->row[i]]) at++;
        set_bit(g->found, at);
    }
    if (is_rule(j, f->bdm)) SPOT_TRY(spot_rule_of_piece(j, g, &g->said.rule));
    if (g->said.rule.items && k == j->across) spot_rule_rows(j, k, &g->said.rule, part, g->found);     /* not of a sample */
    if (is_known(j, g)) {
        j->a.used = mark;
        return SPOT_OK;
    }
    return judge(j, g, mark);
}

/* The rule of a slice as one piece more, unless a piece of the class and part is this rule already. */
static spot_status take_rule(spot_proving *j, const spot_finding *f, int slice, const spot_rule *rule, int class_place,
                             int part)
{
    const spot_piece said = { .bdm = f->bdm, .part = part, .seed = f->seed, .rank = slice + 1, .rule = *rule };
    const size_t mark = j->a.used;
    spot_judged *g;

    if (!rule->items) return SPOT_OK;
    SPOT_TRY(spot_proof_piece(j, &g, &said, f->slice[slice].score, class_place));
    if (is_known(j, g)) {
        j->a.used = mark;
        return SPOT_OK;
    }
    spot_rule_rows(j, &j->cls[class_place], rule, part, g->found);
    return judge(j, g, mark);
}

/* The slices of a method that finds no rules are offered theirs. */
static spot_status take_rules(spot_proving *j, const spot_finding *f, int class_place, int part, const int *row)
{
    spot_rule *rule;
    spot_status how = SPOT_OK;

    if (!j->o->attributes || !f->slices || is_rule(j, f->bdm)) return SPOT_OK;
    rule = calloc((size_t)f->slices, sizeof *rule);
    if (!rule) return spot_fail(j->c, SPOT_NOMEM, "no memory for the rules of %d slices", f->slices);
    how = spot_rules_offer(j, rule, f, class_place, part, row);
    for (int k = 0; k < f->slices && how == SPOT_OK; k++) how = take_rule(j, f, k, &rule[k], class_place, part);
    free(rule);
    return how;
}

/* The place of a class among the proof's; -1: it is none of them. */
static int place_of(const spot_proving *j, int cls)
{
    int i = j->classes - 1;

    while (i >= 0 && j->cls[i].cls != cls) i--;
    return i;
}

static void note_failure(spot_proved *k, int part, spot_status s, const char *why)
{
    k->again |= !spot_is_verdict(s);
    if (k->failed[part]++) return;
    k->failure = s;
    snprintf(k->why, sizeof k->why, "%s", why);
}

static spot_status take_findings(spot_proving *j, const spot_findings *f, int part, const int *row)
{
    for (int i = 0; i < f->count; i++) {
        const spot_finding *g = &f->finding[i];
        const int place = place_of(j, g->cls);
        j->cls[place].tried[part]++;
        if (g->status) note_failure(&j->cls[place], part, g->status, g->message);
        for (int k = 0; k < g->slices; k++) SPOT_TRY(take_slice(j, g, &g->slice[k], k + 1, place, part, row));
        SPOT_TRY(take_rules(j, g, place, part, row));
    }
    return SPOT_OK;
}

/* ---- the search of a part ---- */

static void pass_log(void *user, spot_log_level level, const char *text)
{
    const spot_proving *j = user;

    if (!j->quiet && j->c->on_log) j->c->on_log(j->c->user, level, text);
}

static void pass_progress(void *user, const spot_progress *p)
{
    const spot_proving *j = user;
    spot_progress whole = { p->stage, p->ec, j->run + (p->total > 0 ? p->done / p->total : 0), j->runs, p->note };

    if (j->c->on_progress) j->c->on_progress(j->c->user, &whole);
}

/* Whether the part has a class with a wrong row, or wrong rows of all classes. */
static bool has_errors(const spot_proving *j, int part, bool across)
{
    for (const spot_proved *k = j->cls; k < j->cls + j->classes; k++)
        for (int h = 0; h < k->strata && (k == j->across) == across; h++)
            if (k->tally[part][h].group) return true;
    return false;
}

/* Rows that have several classes bring classes that are not the proof's. */
static spot_status search_classes(spot_proving *j, spot_ctx *c, spot_findings *f, const spot_subject *s,
                                  const spot_discover_options *o)
{
    spot_candidate *list = NULL;
    spot_chosen k = { .log = j->log };
    int all = 0, others;
    spot_status how = spot_candidates(c, s, o, &list, &all, &others);

    for (int i = 0; i < all && how == SPOT_OK; i++)
        if (place_of(j, list[i].cls) >= 0) list[k.count++] = list[i];
    k.list = list;
    if (how == SPOT_OK) how = spot_search(c, f, s, o, &k);
    free(list);
    return how;
}

/* A search that failed as a whole, of which another part's may succeed. */
static void note_search(spot_proving *j, int part, bool across, const spot_ctx *c, spot_status how)
{
    for (spot_proved *k = j->cls; k < j->cls + j->classes; k++) {
        if ((k == j->across) != across) continue;
        k->tried[part]++;
        note_failure(k, part, how, spot_message(c, how));
    }
}

/* The search of a part: of its classes, or of all rows beside them. */
static spot_status search_part(spot_proving *j, int part, bool across, spot_part_rows of)
{
    spot_ctx inner = *j->c;
    spot_discover_options o = *j->o;
    spot_arena a;
    spot_findings f = { 0 };
    spot_subject s;
    spot_status how;

    o.proof = NULL;
    o.fit = false;
    if (j->o->cls == SPOT_EACH_AND_ALL) o.cls = across ? SPOT_ALL_CLASSES : SPOT_EACH_CLASS;
    o.least = 1;
    o.neighbours = 0;
    if (o.memory) o.memory = o.memory > spot_subject_bytes(j->s) ? o.memory - spot_subject_bytes(j->s) : 1;
    inner.on_log = pass_log;
    inner.on_progress = pass_progress;
    inner.user = j;
    SPOT_TRY(spot_arena_open(j->c, &a, spot_proof_subject_bytes(j->s, j->o, of.n)));
    how = spot_proof_subject(j, &a, of, &s, &o);
    if (how == SPOT_OK) how = search_classes(j, &inner, &f, &s, &o);
    if (how && spot_concerns_one_problem(how)) {
        note_search(j, part, across, &inner, how);
        how = SPOT_OK;
    } else if (how) how = spot_fail_from(j->c, how, &inner);
    else how = take_findings(j, &f, part, of.row);
    spot_findings_close(&f);
    spot_arena_close(&a);
    return how;
}

static spot_status search_across(spot_proving *j, int part)
{
    const spot_proved *k = j->across;
    spot_part_rows of = { .n = k->finders[part] };
    spot_status how;

    of.row = malloc(((size_t)of.n + 1) * sizeof *of.row);
    if (!of.row) return spot_fail(j->c, SPOT_NOMEM, "no memory for %d rows", of.n);
    for (int i = 0; i < of.n; i++) of.row[i] = k->row[k->finder[part][i]];
    if (of.n < k->members[part] && !j->quiet && !(part && k->finders[0] < k->members[0]))
        spot_log(j->c, SPOT_LOG_INFO, "slices across classes are sought in %d random rows of the %d of a part, and judged on "
                 "all rows of the other part", of.n, k->members[part]);
    how = search_part(j, part, true, of);
    free(of.row);
    return how;
}

void spot_proof_begin(spot_proving *j, spot_run_errors errors)
{
    j->errors = errors;
    j->pieces = 0;
    j->a.used = j->fixed;
    for (spot_proved *k = j->cls; k < j->cls + j->classes; k++)
        for (int q = k->left = 0; q < 2; q++) k->tried[q] = k->failed[q] = 0;
    spot_proof_tally(j);
}

spot_status spot_proof_run(spot_proving *j, spot_run_errors errors)
{
    spot_proof_begin(j, errors);
    for (int q = 0; q < j->p.parts; q++, j->run++) {
        SPOT_TRY(spot_check_stop(j->c));
        if (has_errors(j, q, false)) SPOT_TRY(search_part(j, q, false, (spot_part_rows){ j->rows[q], j->row[q] }));
    }
    for (int q = 0; q < j->p.parts && j->across; q++, j->run++) {
        SPOT_TRY(spot_check_stop(j->c));
        if (has_errors(j, q, true)) SPOT_TRY(search_across(j, q));
    }
    return SPOT_OK;
}
