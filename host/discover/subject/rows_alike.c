/* rows_alike.c - rows with equal features, and the groups that copies make. */
#include "discover/subject/rows_alike.h"

#include <stdlib.h>
#include <string.h>

#include "discover/subject/subject_memory.h"

enum { WHOLE, EVEN, ODD, PARTS };      /* of a row's features */

typedef struct { uint64_t key; int row; } row_key;

/* ---- equal rows ---- */

static uint64_t mix(uint64_t key, uint32_t word)
{
    key = (key ^ word) * 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

/* Equal numbers have equal keys, -0 and 0 too. */
static uint64_t key_of(const float *x, int d, int part)
{
    uint64_t key = 1;

    for (int k = part == ODD; k < d; k += part == WHOLE ? 1 : 2) {
        const float v = x[k] + 0.0f;
        uint32_t word;
        memcpy(&word, &v, sizeof word);
        key = mix(key, word);
    }
    return key;
}

static int by_key(const void *a, const void *b)
{
    const row_key *x = a, *y = b;

    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->row - y->row;
}

static void sort_rows(const spot_ctx *c, row_key *of, const spot_subject *s, int part)
{
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < s->n; i++) of[i] = (row_key){ key_of(s->feature + (size_t)i * (size_t)s->d, s->d, part), i };
    qsort(of, (size_t)s->n, sizeof *of, by_key);
}

static double count_pairs(const row_key *of, int n)
{
    double pairs = 0;
    int from = 0;

    for (int i = 0; i < n; i++) {
        if (of[i].key != of[from].key) from = i;
        pairs += i - from;
    }
    return pairs;
}

/* Whether features have few values, by the halves of the features of all rows. */
static bool has_few_values(const spot_ctx *c, row_key *of, const spot_subject *s, double pairs)
{
    for (int part = EVEN; part <= ODD; part++) {
        sort_rows(c, of, s, part);
        if (count_pairs(of, s->n) > 2 * pairs) return true;
    }
    return false;
}

static bool are_equal(const spot_subject *s, int i, int j)
{
    const float *x = s->feature + (size_t)i * (size_t)s->d, *y = s->feature + (size_t)j * (size_t)s->d;

    for (int k = 0; k < s->d; k++)
        if (x[k] != y[k]) return false;
    return true;
}

/* The first of equal rows stands for all. of: sorted by whole rows. */
static void join_equal(const row_key *of, const spot_subject *s, int *first)
{
    int from = 0;

    for (int i = 0; i < s->n; i++) {
        if (of[i].key != of[from].key) from = i;
        first[of[i].row] = are_equal(s, of[i].row, of[from].row) ? of[from].row : of[i].row;
    }
}

/* ---- near copies ---- */

static int class_of(const spot_subject *s, int i) { return s->target ? s->target[i] : 0; }

/* The rows that stand for themselves, class by class: row (n), start (classes + 1). */
static void list_classes(const spot_subject *s, const int *first, int *row, int *start)
{
    memset(start, 0, ((size_t)s->classes + 1) * sizeof *start);
    for (int i = 0; i < s->n; i++)
        if (first[i] == i) start[class_of(s, i) + 1]++;
    for (int k = 0; k < s->classes; k++) start[k + 1] += start[k];
    for (int i = 0; i < s->n; i++)
        if (first[i] == i) row[start[class_of(s, i)]++] = i;
    memmove(start + 1, start, (size_t)s->classes * sizeof *start);
    start[0] = 0;
}

static spot_status join_near(spot_ctx *c, const spot_subject *s, int *first)
{
    int *row = malloc((size_t)s->n * sizeof *row), *start = malloc(((size_t)s->classes + 1) * sizeof *start);
    spot_status how = row && start ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to compare %d rows", s->n);

    if (how == SPOT_OK) list_classes(s, first, row, start);
    for (int k = 0; k < s->classes && how == SPOT_OK; k++)
        how = spot_rows_join_near(c, s, row + start[k], start[k + 1] - start[k], first);
    free(row);
    free(start);
    return how;
}

/* ---- groups ---- */

/* Numbers the groups in the order of their first rows. */
static spot_status number_groups(spot_ctx *c, spot_subject *s, const int *first, int equal)
{
    int *group, joined = 0, copies, sets = 0, groups = 0;

    for (int i = 0; i < s->n; i++) joined += first[i] != i;
    if (!joined || joined == s->n - 1) return SPOT_OK;         /* one group would be all rows */
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, group, s->n));            /* zeroed; first the rows of each group */
    for (int i = 0; i < s->n; i++) group[first[i]]++;
    for (int i = 0; i < s->n; i++) sets += group[i] > 1;
    copies = joined + sets;
    for (int i = 0; i < s->n; i++) group[i] = first[i] == i ? groups++ : group[first[i]];
    s->group = group;
    s->groups = groups;
    spot_log(c, SPOT_LOG_INFO, "%d rows are copies or near copies of others (%d of them equal an earlier row) and stay "
             "together in %d groups; --groups FILE tells your own, --groups rows takes each row as alone", copies, equal, sets);
    return SPOT_OK;
}

static spot_status find_copies(spot_ctx *c, spot_subject *s, row_key *of, int *first)
{
    int equal = 0;

    sort_rows(c, of, s, WHOLE);
    join_equal(of, s, first);
    if (has_few_values(c, of, s, count_pairs(of, s->n))) return SPOT_OK;
    for (int i = 0; i < s->n; i++) equal += first[i] != i;
    SPOT_TRY(join_near(c, s, first));
    for (int i = 0; i < s->n; i++) first[i] = first[first[i]];
    return number_groups(c, s, first, equal);
}

spot_status spot_rows_group_alike(spot_ctx *c, spot_subject *s)
{
    row_key *of = malloc((size_t)s->n * sizeof *of);
    int *first = malloc((size_t)s->n * sizeof *first);
    spot_status how = of && first ? find_copies(c, s, of, first)
                    : spot_fail(c, SPOT_NOMEM, "no memory to look for copies among %d rows", s->n);

    free(of);
    free(first);
    return how;
}
