/* describe_words.c - the phrases whose features lie in the direction from a class's mean to that of a group of its rows, and
 * the same search for groups that are drawn at random: see spotter/describe.h.
 *
 * A round draws one order of the class's rows. Its first m rows are a random group of m rows, for every m at once, and the sum
 * of the others is minus theirs, as the rows are centred. So a round costs at most n/2 rows, however many groups there are. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/gemm.h"
#include "core/sort.h"
#include "spotter/describe.h"

enum { ROUNDS = 8, PHRASES = 256 };    /* of a task; of one product */

static const double TIE = 1e-6;        /* scores as close as this, times the length of the difference and 0.1, are equal */

typedef struct {
    spot_ctx *c;
    const spot_words_problem *p;
    spot_arena a;
    float  *x;                         /* (n, d): rows of length 1, minus their mean */
    float  *text, *across;             /* (phrases, d): of length 1; the same, transposed */
    double *mean;                      /* (d) */
    double *offset;                    /* (groups, d): mean of the group minus mean of the class */
    int    *by_length;                 /* (groups): the groups, by the number of rows that a round adds up */
    int    *chosen;                    /* (groups, most): the phrase of each word */
    float  *best;                      /* (groups, rounds): best score of a random group */
} wording;

/* The memory of a thread. */
typedef struct {
    uint32_t *order;                   /* (n) */
    double   *sum;                     /* (d) */
    float    *offset, *score;          /* (ROUNDS * groups, d); (ROUNDS * groups, PHRASES) */
    uint64_t *key;                     /* (2 n) */
} scratch;

/* Rows that a round adds up for this group: its own, or the rest of the class. */
static int summed_rows(const spot_words_problem *p, int g)
{
    int m = p->group[g].n;

    return m <= p->n - m ? m : p->n - m;
}

/* ---- features ---- */

static bool take_unit(float *out, const float *x, int d)
{
    double square = 0, scale;

    for (int k = 0; k < d; k++) square += (double)x[k] * x[k];
    scale = square > 0 && isfinite(square) ? 1 / sqrt(square) : 0;
    for (int k = 0; k < d; k++) out[k] = (float)(x[k] * scale);
    return scale > 0;
}

static spot_status take_features(wording *w)
{
    const spot_words_problem *p = w->p;
    const size_t d = (size_t)p->d;

    for (int i = 0; i < p->n; i++)
        if (!take_unit(w->x + i * d, p->feature + i * d, p->d))
            return spot_fail(w->c, SPOT_INPUT, "{describe.row} words: the features of row %d of the class have no direction: "
                             "all are 0, or one is not finite", i);
    for (int i = 0; i < p->phrases; i++) {
        if (!take_unit(w->text + i * d, p->text + i * d, p->d))
            return spot_fail(w->c, SPOT_INPUT, "{describe.phrase} words: the features of phrase %d, \"%.100s\", have no "
                             "direction: all are 0, or one is not finite", i, p->phrase[i]);
        for (size_t k = 0; k < d; k++) w->across[k * (size_t)p->phrases + i] = w->text[i * d + k];
    }
    memset(w->mean, 0, d * sizeof *w->mean);
    for (int i = 0; i < p->n; i++)
        for (size_t k = 0; k < d; k++) w->mean[k] += w->x[i * d + k];
    for (size_t k = 0; k < d; k++) w->mean[k] /= p->n;
    for (int i = 0; i < p->n; i++)
        for (size_t k = 0; k < d; k++) w->x[i * d + k] = (float)(w->x[i * d + k] - w->mean[k]);
    return SPOT_OK;
}

static void take_offset(wording *w, int g)
{
    const spot_group *group = &w->p->group[g];
    const size_t d = (size_t)w->p->d;
    double *offset = w->offset + g * d;

    memset(offset, 0, d * sizeof *offset);
    for (int i = 0; i < group->n; i++)
        for (size_t k = 0; k < d; k++) offset[k] += w->x[group->row[i] * d + k];
    for (size_t k = 0; k < d; k++) offset[k] /= group->n ? group->n : 1;
}

/* ---- the groups' phrases ---- */

static double score_of(const wording *w, int g, int phrase)
{
    const size_t d = (size_t)w->p->d;
    double sum = 0;

    for (size_t k = 0; k < d; k++) sum = fma(w->text[phrase * d + k], w->offset[g * d + k], sum);
    return sum;
}

/* The phrases of the greatest score into word (most); returns their number. */
static int choose_words(const wording *w, int g, spot_word *word)
{
    const spot_words_problem *p = w->p;
    int *chosen = w->chosen + (size_t)g * p->most, kept = 0;

    for (int i = 0; i < p->phrases && p->group[g].n; i++) {
        double score = score_of(w, g, i);
        int at = kept;
        if (kept == p->most && !(kept && score > word[kept - 1].score)) continue;
        if (kept < p->most) kept++;
        else at--;
        for (; at && score > word[at - 1].score; at--) {
            word[at] = word[at - 1];
            chosen[at] = chosen[at - 1];
        }
        word[at] = (spot_word){ .phrase = p->phrase[i], .score = score };
        chosen[at] = i;
    }
    return kept;
}

/* AUC of row . text for the group against the rest of the class: Mann-Whitney with mean ranks for ties. */
static double auc_of(const wording *w, int g, int phrase, uint64_t *key)
{
    const spot_words_problem *p = w->p;
    const spot_group *group = &p->group[g];
    const double in = group->n, out = (double)p->n - in;
    double ranks = 0;
    int member = 0;

    if (!group->n || group->n == p->n) return NAN;
    for (int i = 0; i < p->n; i++) {
        double dot = 0;
        for (int k = 0; k < p->d; k++) dot = fma(w->x[(size_t)i * p->d + k], w->text[(size_t)phrase * p->d + k], dot);
        if (member < group->n && group->row[member] < i) member++;
        key[i] = spot_key_with((float)dot, member < group->n && group->row[member] == i);
    }
    key = spot_sort(key, key + p->n, p->n, 32);
    for (int i = 0, end; i < p->n; i = end) {
        int of = 0;
        for (end = i; end < p->n && key[end] >> 32 == key[i] >> 32; end++) of += key[end] & 1;
        ranks += of * (0.5 * (i + end - 1) + 1);
    }
    return (ranks - in * (in + 1) / 2) / (in * out);
}

/* ---- random groups ---- */

/* Offsets of one round's random groups into out (groups, d). */
static void draw_round(const wording *w, int round, scratch *s, float *out)
{
    const spot_words_problem *p = w->p;
    const size_t d = (size_t)p->d;
    spot_rng r = spot_rng_at(p->seed.seed, SPOT_RNG_DESCRIBE, p->seed.ec, 1 + (uint32_t)round);
    int used = 0;

    for (int i = 0; i < p->n; i++) s->order[i] = (uint32_t)i;
    memset(s->sum, 0, d * sizeof *s->sum);
    for (int e = 0; e < p->groups; e++) {
        const int g = w->by_length[e], m = p->group[g].n, length = summed_rows(p, g);
        const double scale = !m ? 0 : m == length ? 1.0 / m : -1.0 / m;
        for (; used < length; used++) {
            uint32_t at = (uint32_t)used + spot_rng_below(&r, (uint32_t)(p->n - used)), row = s->order[at];
            s->order[at] = s->order[used];
            for (size_t k = 0; k < d; k++) s->sum[k] += w->x[row * d + k];
        }
        for (size_t k = 0; k < d; k++) out[g * d + k] = (float)(s->sum[k] * scale);
    }
}

static void score_rounds(wording *w, int first, scratch *s)
{
    const spot_words_problem *p = w->p;
    const int rounds = p->rounds - first < ROUNDS ? p->rounds - first : ROUNDS, rows = rounds * p->groups;
    const size_t d = (size_t)p->d;

    for (int r = 0; r < rounds; r++) draw_round(w, first + r, s, s->offset + (size_t)r * p->groups * d);
    for (int from = 0; from < p->phrases; from += PHRASES) {
        const int width = p->phrases - from < PHRASES ? p->phrases - from : PHRASES;
        memset(s->score, 0, (size_t)rows * PHRASES * sizeof *s->score);
        spot_gemm_add(s->score, PHRASES, (spot_gemm_factor){ s->offset, d, 1 },
                      (spot_gemm_factor){ w->across + from, (size_t)p->phrases, 1 }, rows, width, p->d);
        for (int i = 0; i < rows; i++) {
            float *best = w->best + (size_t)(i % p->groups) * p->rounds + first + i / p->groups;
            for (int k = 0; k < width; k++)
                if ((!from && !k) || s->score[(size_t)i * PHRASES + k] > *best) *best = s->score[(size_t)i * PHRASES + k];
        }
    }
}

static double p_of(const wording *w, int g, double score)
{
    const spot_words_problem *p = w->p;
    const float *best = w->best + (size_t)g * p->rounds;
    double length = 0;
    int such = 0;

    if (!p->rounds) return NAN;
    for (int k = 0; k < p->d; k++) length += w->offset[(size_t)g * p->d + k] * w->offset[(size_t)g * p->d + k];
    for (int r = 0; r < p->rounds; r++) such += best[r] >= score - TIE * (sqrt(length) + 0.1);
    return (1.0 + such) / (1.0 + p->rounds);
}

/* ---- all ---- */

static spot_status take_memory(wording *w, spot_arena *a)
{
    const spot_words_problem *p = w->p;
    const size_t n = (size_t)p->n, d = (size_t)p->d, phrases = (size_t)p->phrases, groups = (size_t)p->groups;

    SPOT_TRY(SPOT_TAKE(w->c, a, w->x, n * d));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->text, phrases * d));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->across, phrases * d));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->mean, d));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->offset, groups * d));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->by_length, groups));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->chosen, groups * (size_t)p->most));
    return SPOT_TAKE(w->c, a, w->best, groups * (size_t)p->rounds);
}

static spot_status take_scratch(const wording *w, spot_arena *a, scratch *s)
{
    const spot_words_problem *p = w->p;
    const size_t n = (size_t)p->n, d = (size_t)p->d, rows = ROUNDS * (size_t)p->groups;

    for (int t = 0; t < w->c->threads; t++) {
        scratch one;
        SPOT_TRY(SPOT_TAKE(w->c, a, one.order, n));
        SPOT_TRY(SPOT_TAKE(w->c, a, one.sum, d));
        SPOT_TRY(SPOT_TAKE(w->c, a, one.offset, rows * d));
        SPOT_TRY(SPOT_TAKE(w->c, a, one.score, rows * PHRASES));
        SPOT_TRY(SPOT_TAKE(w->c, a, one.key, 2 * n));
        if (s) s[t] = one;
    }
    return SPOT_OK;
}

static void sort_lengths(wording *w)
{
    for (int g = 0; g < w->p->groups; g++) {
        int at = g, length = summed_rows(w->p, g);
        for (; at && summed_rows(w->p, w->by_length[at - 1]) > length; at--) w->by_length[at] = w->by_length[at - 1];
        w->by_length[at] = g;
    }
}

static spot_status find_words(wording *w, spot_word *word, int *kept, scratch *s)
{
    const spot_words_problem *p = w->p;
    const int most = p->most;

    SPOT_TRY(take_features(w));
    sort_lengths(w);
#pragma omp parallel for num_threads(w->c->threads) schedule(dynamic)
    for (int g = 0; g < p->groups; g++) {
        take_offset(w, g);
        kept[g] = choose_words(w, g, word + (size_t)g * most);
    }
    SPOT_TRY(spot_check_stop(w->c));
#pragma omp parallel for num_threads(w->c->threads) schedule(dynamic)
    for (int first = 0; first < p->rounds; first += ROUNDS) score_rounds(w, first, &s[omp_get_thread_num()]);
#pragma omp parallel for num_threads(w->c->threads) schedule(dynamic)
    for (int e = 0; e < p->groups * most; e++) {
        const int g = e / most;
        if (e % most >= kept[g]) continue;
        word[e].auc = auc_of(w, g, w->chosen[e], s[omp_get_thread_num()].key);
        word[e].p = p_of(w, g, word[e].score);
    }
    return SPOT_OK;
}

spot_status spot_words_needs(spot_ctx *c, size_t *bytes, const spot_words_problem *p)
{
    wording w = { .c = c, .p = p };
    spot_arena size = spot_arena_counting();

    SPOT_TRY(take_memory(&w, &size));
    SPOT_TRY(take_scratch(&w, &size, NULL));
    *bytes = size.peak;
    return SPOT_OK;
}

spot_status spot_words_find(spot_ctx *c, spot_word *word, int *kept, const spot_words_problem *p)
{
    wording w = { .c = c, .p = p };
    scratch *s;
    size_t bytes;
    spot_status how;

    if (p->n < 1 || p->d < 1 || p->phrases < 1 || p->most < 1 || p->rounds < 0 || p->groups < 0)
        return spot_fail(c, SPOT_INVALID, "{describe.sizes} words: %d rows of %d numbers, %d phrases of which %d are kept, %d "
                         "rounds; at least one of each, and 0 rounds", p->n, p->d, p->phrases, p->most, p->rounds);
    SPOT_TRY(spot_words_needs(c, &bytes, p));
    s = malloc((size_t)c->threads * sizeof *s);
    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for the words of %d threads", c->threads);
    how = spot_arena_open(c, &w.a, bytes);
    if (how == SPOT_OK) how = take_memory(&w, &w.a);
    if (how == SPOT_OK) how = take_scratch(&w, &w.a, s);
    if (how == SPOT_OK) how = find_words(&w, word, kept, s);
    spot_arena_close(&w.a);
    free(s);
    return how;
}
