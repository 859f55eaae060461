/* proof_draws.c - see proof_draws.h. */
#include "discover/proof/proof_draws.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/philox.h"

#define UNIT 1048576.0                 /* of a wrong row in a sum: sums are whole numbers, and equal ones are equal */

static const spot_proved *class_of(const spot_draws *f, const spot_judged *g) { return &f->j->cls[g->class_place]; }
static bool is_in(const spot_draws *f, const spot_judged *g) { return g->said.part != f->part; }

/* ---- memory ---- */

/* Numbers that a draw may give. */
static size_t entries_of(const spot_draws *f, const spot_judged *g)
{
    const spot_proved *k = class_of(f, g);
    int wrong = 0;

    if (f->j->seen) return k->strata > 1 && g->said.judged < SPOT_SUM_BINS ? SPOT_SUM_BINS + 1 : (size_t)g->said.judged + 1;
    for (int h = 0; h < k->strata; h++) wrong += k->tally[f->part][h].group;
    return (size_t)(wrong < g->said.judged ? wrong : g->said.judged) + 1;
}

static spot_status take_units(spot_ctx *c, spot_arena *a, spot_draws *f)
{
    const size_t classes = (size_t)f->j->classes, threads = (size_t)c->threads, groups = (size_t)f->j->s->groups;

    if (!f->j->seen) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, f->units, classes));
    SPOT_TRY(SPOT_TAKE(c, a, f->signs, classes));
    SPOT_TRY(SPOT_TAKE(c, a, f->single, classes));
    SPOT_TRY(SPOT_TAKE(c, a, f->alone, f->j->s->classes));
    for (size_t k = 0; k < classes; k++) {
        const int rows = f->j->cls[k].members[f->part];
        spot_units none, *u = a->counting ? &none : &f->units[k];
        uint64_t *bits;
        SPOT_TRY(spot_units_take(c, a, u, rows));
        SPOT_TRY(SPOT_TAKE(c, a, bits, f->j->cls[k].words));
        if (!a->counting) f->single[k] = memset(bits, 0, f->j->cls[k].words * sizeof *bits);
        f->most = (size_t)rows > f->most ? (size_t)rows : f->most;
    }
    SPOT_TRY(SPOT_TAKE(c, a, f->donor, threads * f->most));
    return SPOT_TAKE(c, a, f->sign, threads * (groups / 32 + 1));
}

/* The most wrong rows that a draw has in a class: with groups, those of all units. */
static size_t drawn_of(const spot_draws *f, int class_place)
{
    const spot_proved *k = &f->j->cls[class_place];
    size_t wrong = 0;

    if (f->j->seen) return (size_t)k->members[f->part];
    for (int h = 0; h < k->strata; h++) wrong += (size_t)k->tally[f->part][h].group;
    return wrong;
}

static spot_status take_marks(spot_ctx *c, spot_arena *a, spot_draws *f)
{
    const size_t classes = (size_t)f->j->classes;

    SPOT_TRY(SPOT_TAKE(c, a, f->mark, classes));
    SPOT_TRY(SPOT_TAKE(c, a, f->columns, classes));
    for (size_t k = 0; k < classes; k++) {
        size_t tests = 0, bits;
        uint64_t *mark;
        for (int i = 0; i < f->j->pieces; i++)
            tests += is_in(f, &f->j->piece[i]) && f->j->piece[i].class_place == (int)k;
        bits = (tests + 63) / 64 * (size_t)f->j->cls[k].n;
        SPOT_TRY(SPOT_TAKE(c, a, mark, bits));
        if (a->counting) continue;
        f->mark[k] = mark;
        f->columns[k] = (int)((tests + 63) / 64);
    }
    return SPOT_OK;
}

spot_status spot_draws_take(spot_ctx *c, spot_arena *a, spot_draws *f)
{
    const size_t classes = (size_t)f->j->classes, threads = (size_t)c->threads;
    size_t tails = 0, largest = 0, rows = 0, sums = 0;

    f->n = 0, f->words = 1, f->most = 1, f->drawn = 0;
    for (int i = 0; i < f->j->pieces; i++) {
        const spot_judged *g = &f->j->piece[i];
        if (!is_in(f, g)) continue;
        f->n++;
        tails += entries_of(f, g);
        largest = (size_t)g->said.judged + 1 > largest ? (size_t)g->said.judged + 1 : largest;
        sums += f->j->seen && class_of(f, g)->strata > 1 ? (size_t)g->said.groups : 0;
    }
    for (size_t k = 0; k < classes; k++) {
        rows += (size_t)f->j->cls[k].members[f->part];
        f->words = f->j->cls[k].words > f->words ? f->j->cls[k].words : f->words;
        f->drawn = drawn_of(f, (int)k) > f->drawn ? drawn_of(f, (int)k) : f->drawn;
    }
    SPOT_TRY(SPOT_TAKE(c, a, f->test, f->n));
    SPOT_TRY(SPOT_TAKE(c, a, f->by_class, f->n));
    SPOT_TRY(SPOT_TAKE(c, a, f->first, classes + 1));
    SPOT_TRY(SPOT_TAKE(c, a, f->order, rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->start, classes + 1));
    SPOT_TRY(SPOT_TAKE(c, a, f->tails, tails));
    SPOT_TRY(SPOT_TAKE(c, a, f->scratch, 3 * largest));
    SPOT_TRY(SPOT_TAKE(c, a, f->sums, sums));
    SPOT_TRY(SPOT_TAKE(c, a, f->exacts, f->j->seen ? tails : 0));
    SPOT_TRY(SPOT_TAKE(c, a, f->count, f->j->seen ? tails : 0));
    SPOT_TRY(take_units(c, a, f));
    SPOT_TRY(take_marks(c, a, f));
    SPOT_TRY(SPOT_TAKE(c, a, f->wrong, threads * f->words));
    SPOT_TRY(SPOT_TAKE(c, a, f->row, threads * f->drawn));
    SPOT_TRY(SPOT_TAKE(c, a, f->whole, f->j->across ? threads * f->drawn : 0));
    return SPOT_TAKE(c, a, f->hits, threads * (size_t)f->n);
}

/* ---- rows and units, class by class ---- */

static void sort_tests(spot_draws *f)
{
    int tests = 0;

    for (int k = 0; k < f->j->classes; k++) {
        f->first[k] = tests;
        for (int t = 0; t < f->n; t++)
            if (f->test[t].g->class_place == k) f->by_class[tests++] = t;
    }
    f->first[f->j->classes] = tests;
}

/* Where the tests of a class are in another order, the marks are made anew. */
static void mark_rows(spot_draws *f, int class_place)
{
    const spot_proved *k = &f->j->cls[class_place];
    const size_t columns = (size_t)f->columns[class_place];
    uint64_t *mark = f->mark[class_place];

    memset(mark, 0, columns * (size_t)k->n * sizeof *mark);
    for (int i = f->first[class_place], b = 0; i < f->first[class_place + 1]; i++, b++) {
        const uint64_t *judged = f->test[f->by_class[i]].g->judged;
        for (int e = 0; e < k->members[f->part]; e++) {
            const size_t at = (size_t)k->member[f->part][e];
            mark[at * columns + (size_t)b / 64] |= (uint64_t)spot_has_bit(judged, (int)at) << b % 64;
        }
    }
}

static bool is_drawn_with_class(const spot_draws *f, const spot_proved *k, int stratum)
{
    return k == f->j->across && f->j->place[stratum] >= 0;
}

static void set_bit(uint64_t *bit, int i) { bit[i / 64] |= (uint64_t)1 << i % 64; }

/* Rows of units of one row; those of j->across are with their classes, too. */
static void note_single(spot_draws *f, int class_place)
{
    const spot_units *u = &f->units[class_place];
    const spot_proved *k = &f->j->cls[class_place];

    for (int i = 0; i < u->units; i++) {
        const int at = u->order[u->unit[i].first];
        if (u->unit[i].n > 1) continue;
        set_bit(f->single[class_place], at);
        if (f->j->across) set_bit(f->single[f->j->classes - 1], k->row[at]);
    }
}

static void sort_rows(spot_draws *f)
{
    int rows = 0;

    for (int k = 0; k < f->j->classes; k++) {
        const spot_proved *own = &f->j->cls[k];
        f->start[k] = rows;
        for (int h = 0; h < own->strata; h++) {
            const int first = rows;
            if (is_drawn_with_class(f, own, h)) continue;
            for (int i = 0; i < own->members[f->part]; i++) {
                const int at = own->member[f->part][i];
                if (spot_stratum_of(f->j, own, own->row[at]) == h) f->order[rows++] = at;
            }
            if (!f->j->seen) continue;
            memcpy(f->units[k].order + f->units[k].rows, f->order + first, (size_t)(rows - first) * sizeof *f->order);
            spot_units_add(&f->units[k], f->j->s, rows - first, own->row);
        }
        if (!f->j->seen) continue;
        spot_units_note(&f->units[k], own->is_wrong);
        f->signs[k] = spot_groups_mix(f->j, own);
        note_single(f, k);
    }
    f->start[f->j->classes] = rows;
}

/* ---- draws ---- */

/* Draws as many wrong rows as each stratum has (Floyd's sample). taken: scratch, a bit a row. Returns the rows in list. */
static int draw_errors(const spot_draws *f, int class_place, spot_rng *r, uint64_t *taken, int *list)
{
    const spot_proved *k = &f->j->cls[class_place];
    const int *row = f->order + f->start[class_place];
    int n = 0;

    for (int h = 0; h < k->strata; h++) {
        const spot_stratum *t = &k->tally[f->part][h];
        if (is_drawn_with_class(f, k, h)) continue;
        memset(taken, 0, (size_t)(t->rows + 63) / 64 * sizeof *taken);
        for (int i = t->rows - t->group; i < t->rows; i++) {
            uint32_t place = spot_philox_below(r, (uint32_t)i + 1);
            if (taken[place / 64] >> place % 64 & 1) place = (uint32_t)i;
            taken[place / 64] |= (uint64_t)1 << place % 64;
            list[n++] = row[place];
        }
        row += t->rows;
    }
    return n;
}

/* The number of a sum, between -span and span. */
static int number_of_sum(const spot_slice_test *t, int64_t sum)
{
    return t->span ? (int)((double)(sum + t->span) / (2.0 * (double)t->span) * (t->entries - 1) + 0.5) : 0;
}

static void draw_signs(const spot_draws *f, int class_place, spot_rng *r, uint32_t *sign, int *hits)
{
    for (int w = 0; w <= f->j->s->groups / 32; w++) sign[w] = spot_rng_u32(r);
    for (int i = f->first[class_place]; i < f->first[class_place + 1]; i++) {
        const spot_slice_test *t = &f->test[f->by_class[i]];
        int64_t sum = 0;
        for (int g = 0; g < t->sums; g++)
            sum += sign[t->sum[g].group / 32] >> t->sum[g].group % 32 & 1 ? t->sum[g].value : -t->sum[g].value;
        hits[f->by_class[i]] = number_of_sum(t, sum);
    }
}

/* Whether errors of all rows are drawn beside those of classes. */
static bool draws_whole(const spot_draws *f)
{
    const int last = f->j->classes - 1;

    return f->j->across && f->first[last] < f->first[last + 1] && !(f->j->seen && f->signs[last]);
}

/* Adds b and c to the bits of *sum; returns what is carried. */
static inline uint64_t add_bits(uint64_t *sum, uint64_t b, uint64_t c)
{
    const uint64_t a = *sum, both = a ^ b;

    *sum = both ^ c;
    return (a & b) | (both & c);
}

/* Sums of bits, bit by bit: bit i of plane[p] is worth 2^p in the sum of bit i of all words. */
enum { PLANES = 32, EIGHT = 3, BLOCK = 256, WIDE = 8 };

static inline void add_to_planes(uint64_t *plane, uint64_t carried)
{
    for (; carried; plane++) {
        const uint64_t next = *plane & carried;
        *plane ^= carried;
        carried = next;
    }
}

/* Column `mark` of n rows, of which one has `columns`: eight rows take seven additions, whose last carries. */
static void add_rows(uint64_t *plane, const uint64_t *mark, size_t columns, const int *row, int n)
{
    uint64_t ones = plane[0], twos = plane[1], fours = plane[2];
    int i = 0;

    for (; i + 8 <= n; i += 8) {
        uint64_t m[8], two[4], four[2];
        for (int e = 0; e < 8; e++) m[e] = mark[(size_t)row[i + e] * columns];
        for (int e = 0; e < 4; e++) two[e] = add_bits(&ones, m[2 * e], m[2 * e + 1]);
        for (int e = 0; e < 2; e++) four[e] = add_bits(&twos, two[2 * e], two[2 * e + 1]);
        add_to_planes(plane + EIGHT, add_bits(&fours, four[0], four[1]));
    }
    plane[0] = ones, plane[1] = twos, plane[2] = fours;
    for (; i < n; i++) add_to_planes(plane, mark[(size_t)row[i] * columns]);
}

/* hits of the class's tests: how many of these rows each judges. Rows block by block, so that a block stays in the cache from
 * column to column. */
static void count_rows(const spot_draws *f, int class_place, const int *row, int n, int *hits)
{
    const int tests = f->first[class_place + 1] - f->first[class_place], columns = f->columns[class_place];
    const int *number = f->by_class + f->first[class_place];

    for (int first = 0; first < columns; first += WIDE) {
        const int last = first + WIDE < columns ? first + WIDE : columns;
        uint64_t plane[WIDE][PLANES] = { { 0 } };
        for (int i = 0; i < n; i += BLOCK)
            for (int w = first; w < last; w++)
                add_rows(plane[w - first], f->mark[class_place] + w, (size_t)columns, row + i, n - i < BLOCK ? n - i : BLOCK);
        for (int t = 64 * first; t < tests && t < 64 * last; t++) {
            const uint64_t *bits = plane[t / 64 - first];
            int sum = 0;
            for (int p = 0; n >> p; p++) sum += (int)(bits[p] >> t % 64 & 1) << p;
            hits[number[t]] = sum;
        }
    }
}

static int drop_single(const spot_draws *f, int class_place, int *row, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++)
        if (!spot_has_bit(f->single[class_place], row[i])) row[kept++] = row[i];
    return kept;
}

const int *spot_draw(const spot_draws *f, int number, int thread)
{
    spot_rng r = spot_rng_at(f->j->p.seed, SPOT_RNG_TESTS, (uint32_t)f->part, (uint32_t)number);
    const size_t at = (size_t)thread;
    int *whole = draws_whole(f) ? f->whole + at * f->drawn : NULL, all = 0;
    int *hits = f->hits + at * (size_t)f->n;

    for (int k = 0; k < f->j->classes; k++) {
        const spot_proved *own = &f->j->cls[k];
        const bool across = whole && own == f->j->across;
        int *row = across ? whole + all : f->row + at * f->drawn, n;
        if (f->first[k] == f->first[k + 1] && !whole) continue;
        if (f->j->seen && f->signs[k]) {
            draw_signs(f, k, &r, f->sign + at * (size_t)(f->j->s->groups / 32 + 1), hits);
            continue;
        }
        if (f->j->seen) n = spot_units_draw(&f->units[k], &r, f->donor + at * f->most, row);
        else n = draw_errors(f, k, &r, f->wrong + at * f->words, row);
        if (across) row = whole, n += all;
        else if (whole)
            for (int i = 0; i < n; i++) whole[all++] = own->row[row[i]];
        if (f->counts_larger) n = drop_single(f, k, row, n);
        count_rows(f, k, row, n, hits);
    }
    return hits;
}

/* ---- tests ---- */

/* The sums of a test's groups, in f->sums from `at`. */
static int sum_groups(const spot_draws *f, spot_slice_test *t, int at)
{
    const spot_proved *k = class_of(f, t->g);
    int64_t sum = 0;

    t->sum = f->sums + at;
    for (int i = 0; i < k->members[f->part]; i++) {
        const int own = k->member[f->part][i], row = k->row[own];
        const spot_stratum *h = &k->tally[f->part][spot_stratum_of(f->j, k, row)];
        int *seen = &f->j->seen[f->j->s->group[row]];
        if (!spot_has_bit(t->g->judged, own)) continue;
        if (!*seen) t->sum[t->sums] = (spot_group_sum){ f->j->s->group[row], 0 }, *seen = ++t->sums;
        t->sum[*seen - 1].value += llround(UNIT * (k->is_wrong[own] - (double)h->group / h->rows));
    }
    for (int g = 0; g < t->sums; g++) {
        f->j->seen[t->sum[g].group] = 0;
        t->span += llabs(t->sum[g].value);
        sum += t->sum[g].value;
    }
    t->number = number_of_sum(t, sum);
    return t->sums;
}

static int least_first(const void *a, const void *b)
{
    const spot_slice_test *x = a, *y = b;

    if (x->p != y->p) return x->p < y->p ? -1 : 1;
    return (x->g > y->g) - (x->g < y->g);
}

static void open_tests(spot_draws *f)
{
    double *tail = f->tails, *exact = f->exacts;
    int n = 0, sums = 0;

    for (int i = 0; i < f->j->pieces; i++) {
        spot_judged *g = &f->j->piece[i];
        spot_slice_test *t = &f->test[n];
        if (!is_in(f, g)) continue;
        *t = (spot_slice_test){ .g = g, .tail = tail, .entries = (int)entries_of(f, g), .number = g->said.wrong };
        n++;
        tail += t->entries;
        if (f->j->seen) {
            t->exact = exact;
            exact += t->entries;
        }
        if (f->j->seen && f->signs[g->class_place]) sums += sum_groups(f, t, sums);
        if (f->j->seen) continue;
        spot_stratified_tails(f->scratch, spot_cover_strata(f->j, class_of(f, g), g->judged, f->part),
                              class_of(f, g)->strata, f->scratch + g->said.judged + 1);
        memcpy(t->tail, f->scratch, (size_t)t->entries * sizeof *tail);
    }
}

/* The test's number in larger units alone. */
static int count_larger(const spot_draws *f, const spot_slice_test *t)
{
    const spot_proved *k = class_of(f, t->g);
    const uint64_t *single = f->single[t->g->class_place];
    int n = 0;

    if (t->sums) return t->number;
    for (int i = 0; i < k->members[f->part]; i++) {
        const int at = k->member[f->part][i];
        n += k->is_wrong[at] && spot_has_bit(t->g->judged, at) && !spot_has_bit(single, at);
    }
    return n;
}

/* All draws, once, for the numbers of larger units in them; drawn again, they are the same. */
static void count_draws(spot_ctx *c, spot_draws *f)
{
    for (int t = 0; t < f->n; t++) {
        unsigned *count = f->count + (f->test[t].tail - f->tails);
        memset(count, 0, (size_t)f->test[t].entries * sizeof *count);
        count[count_larger(f, &f->test[t])]++;
    }
    f->counts_larger = true;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < SPOT_PROOF_DRAWS; i++) {
        const int *hits = spot_draw(f, i, omp_get_thread_num());
        for (int t = 0; t < f->n; t++) {
            unsigned *at = f->count + (f->test[t].tail - f->tails) + hits[t];
#pragma omp atomic
            ++*at;
        }
    }
    f->counts_larger = false;
    for (int t = 0; t < f->n; t++) spot_tails_of_draws(f, &f->test[t], f->count + (f->test[t].tail - f->tails));
}

static void weigh_test(spot_slice_test *t)
{
    t->weight = spot_weight_of(t->g);
    for (int i = 0; i < t->entries; i++) t->tail[i] /= t->weight;
    t->p = t->tail[t->number];
}

void spot_draws_sort(spot_draws *f)
{
    sort_rows(f);
    open_tests(f);
    sort_tests(f);
    for (int k = 0; k < f->j->classes; k++) mark_rows(f, k);
}

void spot_draws_open(spot_ctx *c, spot_draws *f)
{
    spot_draws_sort(f);
    if (f->j->seen) count_draws(c, f);
    for (int t = 0; t < f->n; t++) weigh_test(&f->test[t]);
    qsort(f->test, (size_t)f->n, sizeof *f->test, least_first);
    sort_tests(f);
    for (int k = 0; k < f->j->classes; k++) mark_rows(f, k);
}
