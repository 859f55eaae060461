/* features_decide.c - how much a classifier's features decide its answers: asked of the nearest rows of a sample of rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/search/vote.h"
#include "spotter/discover.h"
#include "spotter/rng.h"

/* Rows that are asked about; most rows among which their neighbours are, and bytes of the features of these; neighbours that
 * count, and how many are looked at to find so many of other groups. */
enum { ASKED = 2000, KNOWN = 20000, BYTES = 64 << 20, COUNTED = 5, LOOKED = 24 };

static const double DECIDED = 0.85;

/* Rows known[0..count), in random order; the first `asked` are asked about. `wrong` and `answer` are of the subject's rows. */
typedef struct {
    const spot_subject *s;
    spot_arena a;
    int *known, count, asked;
    uint8_t *wrong;
    int *answer;
} sample;

static bool same_group(const spot_subject *s, int i, int j) { return i == j || (s->group && s->group[i] == s->group[j]); }

/* Calls with the nearest rows (of the subject) of other groups than row's own, at most COUNTED. */
static int nearest_others(const sample *m, int near[COUNTED], int row, const int *among, const int *nearest, int k)
{
    int found = 0;

    for (int t = 0; t < k && found < COUNTED; t++)
        if (!same_group(m->s, row, among[nearest[t]])) near[found++] = among[nearest[t]];
    return found;
}

/* ---- neighbours with the same answer ---- */

static spot_status count_same(spot_ctx *c, sample *m, spot_decided *d)
{
    const int k = m->count < LOOKED ? m->count : LOOKED;
    const size_t mark = m->a.used;
    double same = 0, all = 0;
    int *nearest, near[COUNTED];

    SPOT_TRY(SPOT_TAKE(c, &m->a, nearest, (size_t)m->asked * (size_t)k));
    SPOT_TRY(spot_nearest_rows(c, &m->a, nearest, (spot_some_rows){ m->s->feature, m->known, m->asked },
                               (spot_some_rows){ m->s->feature, m->known, m->count }, m->s->d, k));
    for (int i = 0; i < m->asked && !m->a.counting; i++) {
        const int row = m->known[i], n = nearest_others(m, near, row, m->known, nearest + (size_t)i * (size_t)k, k);
        for (int t = 0; t < n; t++) same += m->answer[near[t]] == m->answer[row];
        all += n;
    }
    d->same = all > 0 ? same / all : NAN;
    m->a.used = mark;
    return SPOT_OK;
}

typedef struct { int target, answer; } outcome;

static int compare_outcomes(const void *x, const void *y)
{
    const outcome *a = x, *b = y;

    return a->target != b->target ? (a->target > b->target) - (a->target < b->target)
                                  : (a->answer > b->answer) - (a->answer < b->answer);
}

/* The share that two rows of one class, drawn at random, would have: what features that know the class and no more give. */
static spot_status expect_same(spot_ctx *c, sample *m, spot_decided *d)
{
    const size_t mark = m->a.used;
    double sum = 0;
    outcome *o;

    SPOT_TRY(SPOT_TAKE(c, &m->a, o, m->count));
    if (!m->a.counting) {
        for (int i = 0; i < m->count; i++) o[i] = (outcome){ m->s->target[m->known[i]], m->answer[m->known[i]] };
        qsort(o, (size_t)m->count, sizeof *o, compare_outcomes);
        for (int i = 0, end; i < m->count; i = end) {
            double squares = 0, rows;
            int last = i;
            for (end = i; end < m->count && o[end].target == o[i].target; end++)
                if (o[end].answer != o[last].answer) squares += pow(end - last, 2), last = end;
            squares += pow(end - last, 2);
            rows = end - i;
            sum += rows > 1 ? (squares - rows) / (rows - 1) : 0;
        }
        d->expected = sum / m->count;
    }
    m->a.used = mark;
    return SPOT_OK;
}

/* ---- wrong rows beside wrong rows ---- */

typedef struct { double share; bool wrong; } told;

/* Adds the pairs of a wrong and a right row of a class, and those in which the wrong one's neighbours are more often wrong. */
static void count_pairs(const told *t, int n, double *won, double *pairs)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n && t[i].wrong; j++) {
            if (t[j].wrong) continue;
            *won += t[i].share > t[j].share ? 1 : t[i].share == t[j].share ? 0.5 : 0;
            *pairs += 1;
        }
}

/* row (n): the known rows of a class; the first `asked` are asked about. */
static spot_status tell_class(spot_ctx *c, sample *m, const int *row, int n, int asked, double *won, double *pairs)
{
    const int k = n < LOOKED ? n : LOOKED;
    const size_t mark = m->a.used;
    int *nearest, near[COUNTED], live = 0;
    told *t;

    SPOT_TRY(SPOT_TAKE(c, &m->a, nearest, (size_t)asked * (size_t)k));
    SPOT_TRY(SPOT_TAKE(c, &m->a, t, asked));
    SPOT_TRY(spot_nearest_rows(c, &m->a, nearest, (spot_some_rows){ m->s->feature, row, asked },
                               (spot_some_rows){ m->s->feature, row, n }, m->s->d, k));
    for (int i = 0; i < asked && !m->a.counting; i++) {
        const int others = nearest_others(m, near, row[i], row, nearest + (size_t)i * (size_t)k, k);
        double wrong = 0;
        for (int j = 0; j < others; j++) wrong += m->wrong[near[j]];
        if (others) t[live++] = (told){ wrong / others, m->wrong[row[i]] };
    }
    count_pairs(t, live, won, pairs);
    m->a.used = mark;
    return SPOT_OK;
}

static spot_status tell_wrong(spot_ctx *c, sample *m, spot_decided *d)
{
    const int classes = m->s->classes;
    double won = 0, pairs = 0;
    int *row, *first, *asked;

    SPOT_TRY(SPOT_TAKE(c, &m->a, row, m->count));
    SPOT_TRY(SPOT_TAKE(c, &m->a, first, classes + 2));
    SPOT_TRY(SPOT_TAKE(c, &m->a, asked, classes + 1));
    if (m->a.counting) return tell_class(c, m, m->known, m->count, m->asked, &won, &pairs);
    memset(first, 0, ((size_t)classes + 2) * sizeof *first);
    memset(asked, 0, ((size_t)classes + 1) * sizeof *asked);
    for (int i = 0; i < m->count; i++) {
        first[m->s->target[m->known[i]] + 2]++;
        asked[m->s->target[m->known[i]]] += i < m->asked;
    }
    for (int k = 0; k < classes; k++) first[k + 2] += first[k + 1];
    for (int i = 0; i < m->count; i++) row[first[m->s->target[m->known[i]] + 1]++] = m->known[i];
    for (int k = 0; k < classes; k++)
        if (asked[k]) SPOT_TRY(tell_class(c, m, row + first[k], first[k + 1] - first[k], asked[k], &won, &pairs));
    d->wrong = pairs > 0 ? won / pairs : NAN;
    return SPOT_OK;
}

/* ---- both ---- */

static spot_status take_sample(spot_ctx *c, sample *m)
{
    const spot_subject *s = m->s;
    uint32_t *order;

    SPOT_TRY(SPOT_TAKE(c, &m->a, order, s->n));
    SPOT_TRY(SPOT_TAKE(c, &m->a, m->known, m->count));
    SPOT_TRY(SPOT_TAKE(c, &m->a, m->wrong, s->n));
    SPOT_TRY(SPOT_TAKE(c, &m->a, m->answer, s->n));
    if (m->a.counting) {
        m->known = &m->count;      /* never read: it says that rows are gathered */
        return SPOT_OK;
    }
    spot_rng r = spot_rng_at(0, SPOT_RNG_SETS, 0, 0);
    spot_rng_shuffle(&r, order, (uint32_t)s->n);
    for (int i = 0; i < m->count; i++) m->known[i] = (int)order[i];
    spot_subject_outcomes(s, m->wrong, m->answer);
    return SPOT_OK;
}

static spot_status measure(spot_ctx *c, sample *m, spot_decided *d)
{
    SPOT_TRY(take_sample(c, m));
    if (m->a.counting || m->answer[0] >= 0) {
        SPOT_TRY(count_same(c, m, d));
        SPOT_TRY(expect_same(c, m, d));
    }
    return tell_wrong(c, m, d);
}

spot_status spot_features_decide(spot_ctx *c, spot_decided *d, const spot_subject *s)
{
    const size_t most = BYTES / ((size_t)s->d * sizeof *s->feature);
    sample m = { .s = s, .a = spot_arena_counting(), .count = s->n < KNOWN ? s->n : KNOWN };
    spot_status how;

    *d = (spot_decided){ .same = NAN, .expected = NAN, .wrong = NAN };
    if (!s->target || !s->feature || s->n < 2) return SPOT_OK;
    if (most < (size_t)m.count) m.count = most < 2 ? 2 : (int)most;
    m.asked = m.count < ASKED ? m.count : ASKED;
    SPOT_TRY(measure(c, &m, d));
    SPOT_TRY(spot_arena_open(c, &m.a, m.a.peak + 4096));
    how = measure(c, &m, d);
    spot_arena_close(&m.a);
    d->rows = m.asked;
    d->neighbours = COUNTED;
    d->decide = d->wrong >= DECIDED;
    return how;
}

const char *spot_features_note(char text[SPOT_FINDINGS_NOTE], const spot_decided *d)
{
    char same[80] = "";

    *text = 0;
    if (!d->rows || isnan(d->wrong)) return text;
    if (!isnan(d->same))
        snprintf(same, sizeof same, "%.0f %% of neighbours have a row's answer (class alone: %.0f %%); ", 100 * d->same,
                 100 * d->expected);
    snprintf(text, SPOT_FINDINGS_NOTE, "features: %sthey tell wrong rows in %.0f %%%s", same, 100 * d->wrong, !d->decide ? ""
             : ". The answer is nearly a function of these features: groups in them are cells of the confusion "
               "matrix. Others show other groups: --embed neutral, an encoder, or --embeddings once more");
    return text;
}
