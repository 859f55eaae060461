/* describe_words.c - the phrases whose features lie in the direction from a class's mean to that of a group of its rows, and
 * the same search for groups that are drawn at random: see spotter/describe.h.
 *
 * A round draws one order of the class's rows. Its first m rows are a random group of m rows, for every m at once, and the sum
 * of the others is minus theirs, as the rows are centred. So a round costs at most n/2 rows, however many groups there are.
 *
 * The rows and the phrases go to c's device once. Sums of rounds, their products with all phrases and the best of these are
 * made there (net/similar.h), and one number of a group and a round comes back. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "core/sort.h"
#include "net/similar.h"
#include "spotter/describe.h"

/* ROUNDS: of a call of the op. WORDS and NUMBERS: words whose products with all rows wait for their AUC, and these products.
 * LINE: numbers of a line of the cache. */
enum { ROUNDS = 64, WORDS = 64, NUMBERS = 16 << 20, LINE = 16 };

static const double TIE = 1e-6;        /* scores as close as this, times the length of the difference and 0.1, are equal */

typedef struct {
    spot_ctx *c;
    const spot_words_problem *p;
    spot_arena a;
    float  *x;                         /* (n, d): rows of length 1, minus their mean */
    float  *text;                      /* (phrases, d): of length 1 */
    spot_similar *phrase;              /* the table of text */
    double *mean;                      /* (d) */
    double *offset;                    /* (groups, d): mean of the group minus mean of the class */
    int    *by_length;                 /* (groups): the groups, by the number of rows that a round adds up */
    int    *chosen;                    /* (groups, most): the phrase of each word */
    float  *best;                      /* (groups, rounds): best score of a random group */
    int    *order;                     /* (ROUNDS, longest): rows in the order of each round */
    float  *some;                      /* (ROUNDS, groups): best scores of one call */
    spot_similar_group *length;        /* (groups), in the order of by_length */
    int    *word;                      /* (groups * most): places of the words that were kept */
    float  *named, *near;              /* (WORDS, d): their phrases; (n, words_at_once): their products with the rows */
} wording;

/* The memory of a thread. */
typedef struct {
    uint32_t *order;                   /* (n) */
    uint64_t *key;                     /* (2 n) */
} scratch;

/* Arrays in the device's memory; on the CPU x and order are the host's. */
typedef struct {
    spot_arena a;
    float *x, *offset, *best, *near;   /* (n, d), (ROUNDS, groups, d), (ROUNDS, groups), (n, words_at_once) */
    int   *order;
    spot_similar_group *length;
} resident;

/* Rows that a round adds up for this group: its own, or the rest of the class. */
static int summed_rows(const spot_words_problem *p, int g)
{
    int m = p->group[g].n;

    return m <= p->n - m ? m : p->n - m;
}

/* The longest of them. */
static int longest_of(const spot_words_problem *p)
{
    int most = 0;

    for (int g = 0; g < p->groups; g++) most = summed_rows(p, g) > most ? summed_rows(p, g) : most;
    return most;
}

static int words_at_once(const spot_words_problem *p)
{
    const int fit = NUMBERS / p->n;

    return fit < 1 ? 1 : fit < WORDS ? fit : WORDS;
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

/* Returns the first of n rows without a direction; n: all have one. */
static int take_units(const wording *w, float *out, const float *x, int n)
{
    const size_t d = (size_t)w->p->d;
    int first = n;

#pragma omp parallel for num_threads(w->c->threads) schedule(static) reduction(min : first)
    for (int i = 0; i < n; i++)
        if (!take_unit(out + i * d, x + i * d, w->p->d) && i < first) first = i;
    return first;
}

/* A column's sum has the order of the rows, whatever thread makes it. */
static void take_mean(wording *w)
{
    const spot_words_problem *p = w->p;
    const int d = p->d, share = (d / w->c->threads / LINE + 1) * LINE;

#pragma omp parallel for num_threads(w->c->threads) schedule(static)
    for (int from = 0; from < d; from += share) {
        const int to = d - from < share ? d : from + share;
        for (int k = from; k < to; k++) w->mean[k] = 0;
        for (int i = 0; i < p->n; i++)
            for (int k = from; k < to; k++) w->mean[k] += w->x[(size_t)i * (size_t)d + (size_t)k];
        for (int k = from; k < to; k++) w->mean[k] /= p->n;
    }
}

static spot_status take_features(wording *w)
{
    const spot_words_problem *p = w->p;
    const size_t d = (size_t)p->d;
    int wrong = take_units(w, w->x, p->feature, p->n);

    if (wrong < p->n)
        return spot_fail(w->c, SPOT_INPUT, "{describe.row} words: the features of row %d of the class have no direction: "
                         "all are 0, or one is not finite", wrong);
    wrong = take_units(w, w->text, p->text, p->phrases);
    if (wrong < p->phrases)
        return spot_fail(w->c, SPOT_INPUT, "{describe.phrase} words: the features of phrase %d, \"%.100s\", have no "
                         "direction: all are 0, or one is not finite", wrong, p->phrase[wrong]);
    take_mean(w);
#pragma omp parallel for num_threads(w->c->threads) schedule(static)
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

/* AUC of row . text for the group against the rest of the class: Mann-Whitney with mean ranks for ties. near: the products of
 * the rows, each `step` behind the last. */
static double auc_of(const wording *w, int g, const float *near, int step, uint64_t *key)
{
    const spot_words_problem *p = w->p;
    const spot_group *group = &p->group[g];
    const double in = group->n, out = (double)p->n - in;
    double ranks = 0;
    int member = 0;

    if (!group->n || group->n == p->n) return NAN;
    for (int i = 0; i < p->n; i++) {
        if (member < group->n && group->row[member] < i) member++;
        key[i] = spot_key_with(near[(size_t)i * (size_t)step], member < group->n && group->row[member] == i);
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

/* The first rows of a round's order. */
static void draw_round(const wording *w, int round, int longest, uint32_t *all, int *order)
{
    const spot_words_problem *p = w->p;
    spot_rng r = spot_rng_at(p->seed.seed, SPOT_RNG_DESCRIBE, p->seed.ec, 1 + (uint32_t)round);

    for (int i = 0; i < p->n; i++) all[i] = (uint32_t)i;
    for (int i = 0; i < longest; i++) {
        uint32_t at = (uint32_t)i + spot_rng_below(&r, (uint32_t)(p->n - i)), row = all[at];
        all[at] = all[i];
        all[i] = row;
        order[i] = (int)row;
    }
}

static void note_lengths(wording *w)
{
    const spot_words_problem *p = w->p;

    for (int e = 0; e < p->groups; e++) {
        const int g = w->by_length[e], m = p->group[g].n, length = summed_rows(p, g);
        w->length[e] = (spot_similar_group){ g, length, !m ? 0 : m == length ? 1.0 / m : -1.0 / m };
    }
}

static spot_status score_rounds(wording *w, const resident *r, int first, scratch *s)
{
    const spot_words_problem *p = w->p;
    const int rounds = p->rounds - first < ROUNDS ? p->rounds - first : ROUNDS, longest = longest_of(p);
    const spot_similar_sums_problem sums = { p->n, p->d, p->groups, rounds, longest, r->x, r->order, r->length, r->offset };

#pragma omp parallel for num_threads(w->c->threads) schedule(dynamic)
    for (int i = 0; i < rounds; i++)
        draw_round(w, first + i, longest, s[omp_get_thread_num()].order, w->order + (size_t)i * (size_t)longest);
    SPOT_TRY(spot_device_copy(w->c, r->order, w->order, (size_t)rounds * (size_t)longest * sizeof *w->order));
    SPOT_TRY(spot_similar_sums(w->c, &sums));
    SPOT_TRY(spot_similar_best(w->c, w->phrase, r->best, r->offset, rounds * p->groups));
    SPOT_TRY(spot_device_copy(w->c, w->some, r->best, (size_t)rounds * (size_t)p->groups * sizeof *w->some));
    for (int i = 0; i < rounds; i++)
        for (int g = 0; g < p->groups; g++)
            w->best[(size_t)g * (size_t)p->rounds + (size_t)(first + i)] = w->some[(size_t)i * (size_t)p->groups + (size_t)g];
    return spot_check_stop(w->c);
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
    SPOT_TRY(SPOT_TAKE(w->c, a, w->mean, d));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->offset, groups * d));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->by_length, groups));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->chosen, groups * (size_t)p->most));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->word, groups * (size_t)p->most));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->length, groups));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->order, ROUNDS * (n / 2)));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->some, ROUNDS * groups));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->named, WORDS * d));
    SPOT_TRY(SPOT_TAKE(w->c, a, w->near, n * (size_t)words_at_once(p)));
    return SPOT_TAKE(w->c, a, w->best, groups * (size_t)p->rounds);
}

static spot_status take_scratch(const wording *w, spot_arena *a, scratch *s)
{
    const size_t n = (size_t)w->p->n;

    for (int t = 0; t < w->c->threads; t++) {
        scratch one;
        SPOT_TRY(SPOT_TAKE(w->c, a, one.order, n));
        SPOT_TRY(SPOT_TAKE(w->c, a, one.key, 2 * n));
        if (s) s[t] = one;
    }
    return SPOT_OK;
}

/* On the CPU what the host has already is not taken again. */
static spot_status take_resident(const wording *w, resident *r, spot_arena *a)
{
    const spot_words_problem *p = w->p;
    const size_t n = (size_t)p->n, d = (size_t)p->d, groups = (size_t)p->groups;

    r->x = w->x, r->near = w->near, r->best = w->some, r->order = w->order, r->length = w->length;
    if (w->c->device) {
        SPOT_TRY(SPOT_TAKE(w->c, a, r->x, n * d));
        SPOT_TRY(SPOT_TAKE(w->c, a, r->near, n * (size_t)words_at_once(p)));
        SPOT_TRY(SPOT_TAKE(w->c, a, r->best, ROUNDS * groups));
        SPOT_TRY(SPOT_TAKE(w->c, a, r->order, ROUNDS * (n / 2)));
        SPOT_TRY(SPOT_TAKE(w->c, a, r->length, groups));
    }
    return SPOT_TAKE(w->c, a, r->offset, ROUNDS * groups * d);
}

static spot_status open_resident(const wording *w, resident *r)
{
    spot_arena size = spot_arena_counting();

    SPOT_TRY(take_resident(w, r, &size));
    SPOT_TRY(spot_arena_open_device(w->c, &r->a, size.peak));
    SPOT_TRY(take_resident(w, r, &r->a));
    SPOT_TRY(spot_device_copy(w->c, r->length, w->length, (size_t)w->p->groups * sizeof *w->length));
    return spot_device_copy(w->c, r->x, w->x, (size_t)w->p->n * (size_t)w->p->d * sizeof *w->x);
}

static void sort_lengths(wording *w)
{
    for (int g = 0; g < w->p->groups; g++) {
        int at = g, length = summed_rows(w->p, g);
        for (; at && summed_rows(w->p, w->by_length[at - 1]) > length; at--) w->by_length[at] = w->by_length[at - 1];
        w->by_length[at] = g;
    }
}

/* AUC and p of `count` words whose places stand in w->word[first ...]. */
static spot_status test_words(const wording *w, const resident *r, spot_word *word, int first, int count, scratch *s)
{
    const spot_words_problem *p = w->p;
    const size_t d = (size_t)p->d;
    spot_similar *table;
    spot_status how;

    for (int i = 0; i < count; i++)
        memcpy(w->named + (size_t)i * d, w->text + (size_t)w->chosen[w->word[first + i]] * d, d * sizeof *w->named);
    SPOT_TRY(spot_similar_open(w->c, &table, w->named, count, p->d));
    how = spot_similar_dots(w->c, table, r->near, r->x, p->n);
    if (how == SPOT_OK) how = spot_device_copy(w->c, w->near, r->near, (size_t)p->n * (size_t)count * sizeof *w->near);
    spot_similar_close(w->c, table);
    SPOT_TRY(how);
#pragma omp parallel for num_threads(w->c->threads) schedule(dynamic)
    for (int i = 0; i < count; i++) {
        const int at = w->word[first + i], g = at / p->most;
        word[at].auc = auc_of(w, g, w->near + i, count, s[omp_get_thread_num()].key);
        word[at].p = p_of(w, g, word[at].score);
    }
    return spot_check_stop(w->c);
}

static spot_status find_rounds(wording *w, const resident *r, spot_word *word, int words, scratch *s)
{
    const spot_words_problem *p = w->p;
    const int at_once = words_at_once(p);

    for (int first = 0; p->groups && first < p->rounds; first += ROUNDS) SPOT_TRY(score_rounds(w, r, first, s));
    for (int first = 0; first < words; first += at_once)
        SPOT_TRY(test_words(w, r, word, first, words - first < at_once ? words - first : at_once, s));
    return SPOT_OK;
}

static spot_status find_words(wording *w, spot_word *word, int *kept, scratch *s)
{
    const spot_words_problem *p = w->p;
    const int most = p->most;
    resident r = { 0 };
    int words = 0;
    spot_status how;

    SPOT_TRY(take_features(w));
    sort_lengths(w);
    note_lengths(w);
#pragma omp parallel for num_threads(w->c->threads) schedule(dynamic)
    for (int g = 0; g < p->groups; g++) {
        take_offset(w, g);
        kept[g] = choose_words(w, g, word + (size_t)g * most);
    }
    SPOT_TRY(spot_check_stop(w->c));
    for (int e = 0; e < p->groups * most; e++)
        if (e % most < kept[e / most]) w->word[words++] = e;
    how = spot_similar_open(w->c, &w->phrase, w->text, p->phrases, p->d);
    if (how == SPOT_OK) how = open_resident(w, &r);
    if (how == SPOT_OK) how = find_rounds(w, &r, word, words, s);
    spot_arena_close(&r.a);
    spot_similar_close(w->c, w->phrase);
    return how;
}

spot_status spot_words_needs(spot_ctx *c, size_t *bytes, const spot_words_problem *p)
{
    wording w = { .c = c, .p = p };
    spot_arena size = spot_arena_counting();
    resident r;

    SPOT_TRY(take_memory(&w, &size));
    SPOT_TRY(take_scratch(&w, &size, NULL));
    *bytes = size.peak;
    if (c->device) return SPOT_OK;
    size = spot_arena_counting();
    SPOT_TRY(take_resident(&w, &r, &size));
    *bytes += size.peak + spot_similar_bytes((size_t)p->phrases, (size_t)p->d) + spot_similar_bytes(WORDS, (size_t)p->d);
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
