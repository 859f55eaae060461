/* proof_groups.c - see proof_groups.h: the division of groups, units of exchange, how much the errors of a group agree. */
#include "discover/proof/proof_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/subject_memory.h"
#include "stats/statistics.h"

#define NEAR 2                 /* units of a bin: the most rows of one are at most this times the fewest */

/* ---- groups in order ---- */

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Sorts `order`, whose entry i is a row of the subject, row[i] (NULL: i), by group and then by itself. key: scratch. */
static void sort_by_group(const spot_subject *s, int *order, int n, const int *row, uint64_t *key)
{
    for (int i = 0; i < n; i++)
        key[i] = (uint64_t)s->group[row ? row[order[i]] : order[i]] << 32 | (uint32_t)order[i];
    qsort(key, (size_t)n, sizeof *key, by_key);
    for (int i = 0; i < n; i++) order[i] = (int)(uint32_t)key[i];
}

/* ---- parts ---- */

typedef struct {
    const spot_subject *s;
    double   judging;          /* share of the rows */
    int     *row, *first;      /* (n): rows by group; (groups + 1): where each begins */
    int     *all, *here;       /* (classes): rows of a class, in all and in the present group */
    double  *ahead;            /* (classes): rows that the judging part has beyond its share of those divided so far */
    uint64_t *order;           /* (groups) */
} division;

static void count_classes(const division *v, int *count, const int *row, int n, int step)
{
    for (int i = 0; i < n; i++)
        if (v->s->target) count[v->s->target[row[i]]] += step;
        else
            for (int k = 0; k < v->s->classes; k++)
                if (spot_subject_is_of(v->s, row[i], k)) count[k] += step;
}

/* The group judges where that leaves the classes nearer to their shares; of equal ones the draw decides. */
static bool group_judges(division *v, int g, spot_rng *r)
{
    const int *row = v->row + v->first[g], n = v->first[g + 1] - v->first[g];
    double here = 0, there = 0;
    bool judges = spot_rng_u32(r) & 1;

    count_classes(v, v->here, row, n, 1);
    for (int k = 0; k < v->s->classes; k++) {
        if (!v->here[k]) continue;
        here += pow((v->ahead[k] + (1 - v->judging) * v->here[k]) / v->all[k], 2);
        there += pow((v->ahead[k] - v->judging * v->here[k]) / v->all[k], 2);
    }
    if (fabs(here - there) > 1e-12) judges = here < there;
    for (int k = 0; k < v->s->classes; k++) v->ahead[k] += ((judges ? 1 : 0) - v->judging) * v->here[k];
    count_classes(v, v->here, row, n, -1);
    return judges;
}

/* Large groups first, of one size in a random order: the small ones then make the parts even. */
static void order_groups(division *v, uint32_t *drawn, spot_rng *r)
{
    const uint32_t groups = (uint32_t)v->s->groups;

    spot_rng_shuffle(r, drawn, groups);
    for (uint32_t i = 0; i < groups; i++) {
        const uint32_t g = drawn[i], size = (uint32_t)(v->first[g + 1] - v->first[g]);
        v->order[i] = (uint64_t)(UINT32_MAX - size) << 32 | i;
    }
    qsort(v->order, groups, sizeof *v->order, by_key);
    for (uint32_t i = 0; i < groups; i++) v->order[i] = drawn[(uint32_t)v->order[i]];
}

static void begin_division(division *v)
{
    const spot_subject *s = v->s;

    memset(v->first, 0, ((size_t)s->groups + 1) * sizeof *v->first);
    for (int i = 0; i < s->n; i++) v->first[s->group[i] + 1]++;
    for (int g = 0; g < s->groups; g++) v->first[g + 1] += v->first[g];
    for (int i = 0; i < s->n; i++) v->row[v->first[s->group[i]]++] = i;
    for (int g = s->groups; g; g--) v->first[g] = v->first[g - 1];
    v->first[0] = 0;
    memset(v->all, 0, (size_t)s->classes * sizeof *v->all);
    memset(v->here, 0, (size_t)s->classes * sizeof *v->here);
    for (int k = 0; k < s->classes; k++) v->ahead[k] = 0;
    count_classes(v, v->all, v->row, s->n, 1);
}

spot_status spot_divide_groups(spot_proving *j)
{
    division v = { .s = j->s, .judging = j->p.parts == 1 ? j->p.holdout : 0.5 };
    spot_rng r = spot_rng_at(j->p.seed, SPOT_RNG_PROOF, (uint32_t)j->s->classes + 1, 0);
    const size_t mark = j->a.used;
    uint32_t *drawn;

    SPOT_TRY(SPOT_TAKE(j->c, &j->a, v.row, j->s->n));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, v.first, (size_t)j->s->groups + 1));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, v.all, j->s->classes));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, v.here, j->s->classes));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, v.ahead, j->s->classes));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, v.order, j->s->groups));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, drawn, j->s->groups));
    begin_division(&v);
    order_groups(&v, drawn, &r);
    for (int i = 0; i < j->s->groups; i++) {
        const int g = (int)v.order[i], judges = group_judges(&v, g, &r);
        for (int k = v.first[g]; k < v.first[g + 1]; k++) j->part[v.row[k]] = (uint8_t)judges;
    }
    j->a.used = mark;
    return SPOT_OK;
}

size_t spot_divide_groups_bytes(const spot_subject *s)
{
    if (!spot_subject_is_grouped(s)) return 0;
    return (size_t)s->n * sizeof(int) + (size_t)s->groups * (4 * sizeof(int) + 8) + (size_t)s->classes * 16 + 8 * SPOT_ALIGN;
}

/* ---- units ---- */

static int by_size(const void *a, const void *b)
{
    const spot_group_unit *x = a, *y = b;

    return x->n != y->n ? x->n - y->n : x->first - y->first;
}

spot_status spot_units_take(spot_ctx *c, spot_arena *a, spot_units *u, int rows)
{
    *u = (spot_units){ 0 };
    SPOT_TRY(SPOT_TAKE(c, a, u->order, rows));
    SPOT_TRY(SPOT_TAKE(c, a, u->unit, rows));
    SPOT_TRY(SPOT_TAKE(c, a, u->bin, (size_t)rows + 1));
    SPOT_TRY(SPOT_TAKE(c, a, u->error, rows));
    SPOT_TRY(SPOT_TAKE(c, a, u->error_at, (size_t)rows + 1));
    return SPOT_TAKE(c, a, u->key, rows);
}

void spot_units_add(spot_units *u, const spot_subject *s, int n, const int *row)
{
    int *order = u->order + u->rows, first = u->units;

    sort_by_group(s, order, n, row, u->key);
    for (int i = 0, end; i < n; i = end) {
        const int g = s->group[row ? row[order[i]] : order[i]];
        for (end = i + 1; end < n && s->group[row ? row[order[end]] : order[end]] == g; end++) { }
        u->unit[u->units++] = (spot_group_unit){ .first = u->rows + i, .n = end - i };
    }
    qsort(u->unit + first, (size_t)(u->units - first), sizeof *u->unit, by_size);
    for (int i = first, least = 0; i < u->units; i++) {
        if (i > first && (least == 1 ? u->unit[i].n == 1 : u->unit[i].n <= NEAR * least)) continue;
        least = u->unit[i].n;
        u->bin[u->bins++] = i;
    }
    u->bin[u->bins] = u->units;
    u->rows += n;
}

static void exchange_bin(const spot_units *u, int b, spot_rng *r, int *donor)
{
    for (int i = u->bin[b]; i < u->bin[b + 1]; i++) {          /* Fisher-Yates, inside out */
        const int at = u->bin[b] + (int)spot_rng_below(r, (uint32_t)(i - u->bin[b] + 1));
        donor[i] = donor[at];
        donor[at] = i;
    }
}

void spot_units_exchange(const spot_units *u, spot_rng *r, int *donor)
{
    for (int b = 0; b < u->bins; b++) exchange_bin(u, b, r, donor);
}

void spot_units_note(spot_units *u, const uint8_t *is_wrong)
{
    int n = 0;

    for (int i = 0; i < u->units; i++) {
        u->error_at[i] = n;
        for (int t = 0; t < u->unit[i].n; t++)
            if (is_wrong[u->order[u->unit[i].first + t]]) u->error[n++] = t;
    }
    u->error_at[u->units] = n;
}

/* Draws the units of one row that are wrong after an exchange: as many as before, at random (Floyd's sample). */
static int draw_single(const spot_units *u, int b, spot_rng *r, int *taken, int *wrong)
{
    const int first = u->bin[b], units = u->bin[b + 1] - first, count = u->error_at[first + units] - u->error_at[first];
    int n = 0;

    memset(taken, 0, (size_t)units * sizeof *taken);
    for (int i = units - count; i < units; i++) {
        int at = (int)spot_rng_below(r, (uint32_t)i + 1);
        if (taken[at]) at = i;
        taken[at] = 1;
        wrong[n++] = u->order[u->unit[first + at].first];
    }
    return n;
}

/* The rows t of n that take the error at place t m / n of m, rounded down, are neighbours. */
static int draw_bin(const spot_units *u, int b, spot_rng *r, int *donor, int *wrong)
{
    int rows = 0;

    exchange_bin(u, b, r, donor);
    for (int i = u->bin[b]; i < u->bin[b + 1]; i++) {
        const long long n = u->unit[i].n, m = u->unit[donor[i]].n;
        for (int e = u->error_at[donor[i]]; e < u->error_at[donor[i] + 1]; e++)
            for (long long t = (u->error[e] * n + m - 1) / m; t < ((u->error[e] + 1) * n + m - 1) / m; t++)
                wrong[rows++] = u->order[u->unit[i].first + t];
    }
    return rows;
}

int spot_units_draw(const spot_units *u, spot_rng *r, int *donor, int *wrong)
{
    int rows = 0;

    for (int b = 0; b < u->bins; b++) {
        int *own = donor + u->bin[b];
        rows += u->unit[u->bin[b]].n == 1 ? draw_single(u, b, r, own, wrong + rows)
                                                : draw_bin(u, b, r, donor, wrong + rows);
    }
    return rows;
}

bool spot_groups_mix(const spot_proving *j, const spot_proved *k)
{
    bool mix = false;

    for (int i = 0; i < k->n && k->strata > 1; i++) {
        int *seen = &j->seen[j->s->group[k->row[i]]];
        mix |= *seen && *seen != j->s->target[k->row[i]] + 1;
        *seen = j->s->target[k->row[i]] + 1;
    }
    for (int i = 0; i < k->n; i++) j->seen[j->s->group[k->row[i]]] = 0;
    return mix;
}

/* ---- how much a group's errors agree ---- */

spot_group_count spot_count_groups(const spot_proving *j, const spot_proved *k, const uint64_t *bit)
{
    spot_group_count x = { 0, 0 };

    for (int clear = 0; j->seen && clear < 2; clear++)
        for (size_t w = 0; w < k->words; w++)
            for (uint64_t left = bit[w]; left; left &= left - 1) {
                int *seen = &j->seen[j->s->group[k->row[w * 64 + (size_t)__builtin_ctzll(left)]]];
                if (clear) *seen = 0;
                else {
                    x.groups += !*seen;
                    x.squares += 2.0 * (*seen)++ + 1;
                }
            }
    return x;
}

double spot_effect_of_groups(const spot_proved *k, spot_group_count n, int rows)
{
    return n.groups ? 1 + k->agreement * (n.squares / rows - 1) : 1;
}

/* Sums of a class's judging rows: each row's error less its class's rate, by group. */
typedef struct { int rows, groups; double squares, between, total; } group_sums;

static group_sums sum_groups(const spot_proving *j, const spot_proved *k, double *sum)
{
    group_sums x = { 0 };

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < k->n; i++) {
            const int q = j->part[k->row[i]], g = j->s->group[k->row[i]];
            const spot_stratum *t = &k->tally[q][spot_stratum_of(j, k, k->row[i])];
            const double off = k->is_wrong[i] - (t->rows ? (double)t->group / t->rows : 0);
            if (j->p.parts == 1 && !q) continue;
            if (pass && j->seen[g]) {
                x.groups++;
                x.squares += (double)j->seen[g] * j->seen[g];
                x.between += sum[g] * sum[g] / j->seen[g];
                j->seen[g] = 0;
                sum[g] = 0;
            } else if (!pass) {
                x.rows++;
                x.total += off * off;
                j->seen[g]++;
                sum[g] += off;
            }
        }
    return x;
}

/* The intraclass correlation, by the analysis of variance (Donner 1986). */
static double agreement_of(group_sums x)
{
    const double each = x.groups > 1 ? (x.rows - x.squares / x.rows) / (x.groups - 1) : 0;
    double between, within, all;

    if (x.groups < 2 || x.groups == x.rows) return 0;
    between = x.between / (x.groups - 1);
    within = fmax(0, x.total - x.between) / (x.rows - x.groups);
    all = between + (each - 1) * within;
    return all > 0 ? fmin(fmax((between - within) / all, 0), 1) : 0;
}

spot_status spot_learn_agreement(spot_proving *j)
{
    double *sum;

    if (!j->seen) return SPOT_OK;
    sum = calloc((size_t)j->s->groups, sizeof *sum);
    if (!sum) return spot_fail(j->c, SPOT_NOMEM, "no memory for %d groups of rows", j->s->groups);
    for (spot_proved *k = j->cls; k < j->cls + j->classes; k++) k->agreement = agreement_of(sum_groups(j, k, sum));
    free(sum);
    return SPOT_OK;
}

/* t's quantile over the normal one: an interval from few groups is wide. */
static double wider(int groups)
{
    return groups > 1000 ? 1 : spot_student_above(0.025, groups - 1) / spot_normal_quantile(0.975);
}

/* Rows of all judging parts that are of the class, and groups of them. */
static spot_group_count count_others(const spot_proving *j, const spot_proved *k, const uint64_t *bit, uint64_t *other,
                                     int *rows)
{
    *rows = 0;
    for (size_t w = 0; w < k->words; w++) other[w] = 0;
    for (int i = 0; i < k->n; i++)
        if (!spot_has_bit(bit, i) && (j->p.parts == 2 || j->part[k->row[i]])) {
            other[i / 64] |= (uint64_t)1 << i % 64;
            ++*rows;
        }
    return spot_count_groups(j, k, other);
}

spot_interval spot_excess_by_groups(const spot_proving *j, const spot_proved *k, const uint64_t *bit, uint64_t *scratch,
                                    spot_counted n, spot_counted all)
{
    const spot_group_count own = spot_count_groups(j, k, bit);
    const double rate = n.base / n.rows, value = (double)n.wrong / n.rows - rate;
    spot_group_count others;
    spot_interval x;
    double w;
    int rows;

    if (own.groups < 2) return (spot_interval){ value, -rate, 1 - rate };
    others = count_others(j, k, bit, scratch, &rows);
    w = wider(own.groups);
    x = spot_share_excess_worth(n.wrong, n.rows, all.wrong, all.rows, n.base,
                                n.rows / (spot_effect_of_groups(k, own, n.rows) * w * w),
                                rows ? rows / spot_effect_of_groups(k, others, rows) : 0);
    return (spot_interval){ value, fmax(fmin(x.low, value), -rate), fmin(fmax(x.high, value), 1 - rate) };
}
