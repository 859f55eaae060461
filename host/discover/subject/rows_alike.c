/* rows_alike.c - rows with equal features, and the groups that copies make. */
#include "discover/subject/rows_alike.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/subject_memory.h"

enum { SAMPLE = 1000 };                /* distinct rows by which columns are compared */

#define SHARED 0.1                     /* the greatest share of distinct rows that are equal in the finest columns */
#define WINDING 3                      /* the longest way of a function of one column, in its range */

typedef struct { uint64_t key; int row; } row_key;

/* ---- equal rows ---- */

static uint64_t mix(uint64_t key, uint32_t word)
{
    key = (key ^ word) * 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

/* Equal numbers have equal keys, -0 and 0 too. column (columns); NULL: the first ones. */
static uint64_t key_of(const float *x, const int *column, int columns)
{
    uint64_t key = 1;

    for (int k = 0; k < columns; k++) {
        const float v = x[column ? column[k] : k] + 0.0f;
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

/* Sorts n rows, which `of` names, by their keys. */
static void sort_rows(const spot_ctx *c, row_key *of, int n, const spot_subject *s, const int *column, int columns)
{
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) of[i].key = key_of(s->feature + (size_t)of[i].row * (size_t)s->d, column, columns);
    qsort(of, (size_t)n, sizeof *of, by_key);
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

/* ---- few values ---- */

typedef struct { double value; int at; } placed;       /* a value and its row, or a count and its column */

static int by_value(const void *a, const void *b)
{
    const placed *x = a, *y = b;

    return x->value != y->value ? (x->value > y->value) - (x->value < y->value) : x->at - y->at;
}

static float feature_at(const spot_subject *s, int i, int k) { return s->feature[(size_t)i * (size_t)s->d + (size_t)k]; }

/* Rows of `of`, at equal distances, in the order of column k. */
static int sort_column(placed *p, const row_key *of, int n, const spot_subject *s, int k)
{
    const int every = (n + SAMPLE - 1) / SAMPLE;
    int rows = 0;

    for (int i = 0; i < n; i += every) p[rows++] = (placed){ feature_at(s, of[i].row, k), of[i].row };
    qsort(p, (size_t)rows, sizeof *p, by_value);
    return rows;
}

static double count_equal(const placed *p, int n)
{
    double pairs = 0;

    for (int i = 0, from = 0; i < n; i++) {
        if (p[i].value != p[from].value) from = i;
        pairs += i - from;
    }
    return pairs;
}

/* The columns that have several values, those in which the fewest pairs of rows are equal first. column, count (d). */
static int sort_columns(int *column, placed *count, placed *p, const row_key *of, int n, const spot_subject *s)
{
    int columns = 0;

    for (int k = 0; k < s->d; k++) {
        const int rows = sort_column(p, of, n, s, k);
        if (p[0].value < p[rows - 1].value) count[columns++] = (placed){ count_equal(p, rows), k };
    }
    qsort(count, (size_t)columns, sizeof *count, by_value);
    for (int k = 0; k < columns; k++) column[k] = count[k].at;
    return columns;
}

/* Whether all columns are functions of the finest: along its order none goes farther than WINDING times its range. */
static bool is_one_column(const int *column, int columns, placed *p, const row_key *of, int n, const spot_subject *s)
{
    const int rows = columns ? sort_column(p, of, n, s, column[0]) : 0;

    for (int t = 1; t < columns; t++) {
        double way = 0, least = feature_at(s, p[0].at, column[t]), most = least;
        for (int i = 1; i < rows; i++) {
            const double v = feature_at(s, p[i].at, column[t]);
            way += fabs(v - feature_at(s, p[i - 1].at, column[t]));
            least = fmin(least, v);
            most = fmax(most, v);
        }
        if (way > WINDING * (most - least)) return false;
    }
    return true;
}

/* The rows of n, sorted by their keys, that have another with the same key. */
static int count_sharing(const row_key *of, int n)
{
    int sharing = 0;

    for (int i = 0; i < n; i++)
        sharing += (i && of[i].key == of[i - 1].key) || (i + 1 < n && of[i].key == of[i + 1].key);
    return sharing;
}

typedef struct { bool copies, near; } told_by;         /* whether columns tell copies, and near copies */

/* Whether rows that are equal in these columns are rare. */
static bool tell_apart(const spot_ctx *c, row_key *of, int n, const spot_subject *s, const int *column, int columns)
{
    sort_rows(c, of, n, s, column, columns);
    return count_sharing(of, n) <= SHARED * n;
}

/* of: scratch. */
static spot_status judge_values(spot_ctx *c, told_by *t, row_key *of, const spot_subject *s, const int *first)
{
    int *column = malloc((size_t)s->d * sizeof *column), n = 0;
    placed *count = malloc((size_t)s->d * sizeof *count), *p = malloc(SAMPLE * sizeof *p);
    const bool room = column && count && p;

    for (int i = 0; i < s->n; i++)
        if (first[i] == i) of[n++].row = i;
    if (room) {
        const int columns = sort_columns(column, count, p, of, n, s), quarter = columns / 4 > 1 ? columns / 4 : 1;
        t->copies = !is_one_column(column, columns, p, of, n, s) && tell_apart(c, of, n, s, column, quarter);
        t->near = t->copies && tell_apart(c, of, n, s, column + quarter, quarter);
    }
    free(column);
    free(count);
    free(p);
    return room ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to compare %d columns", s->d);
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
    told_by told = { false, false };

    for (int i = 0; i < s->n; i++) of[i].row = i;
    sort_rows(c, of, s->n, s, NULL, s->d);
    join_equal(of, s, first);
    SPOT_TRY(judge_values(c, &told, of, s, first));
    if (!told.copies) return SPOT_OK;
    for (int i = 0; i < s->n; i++) equal += first[i] != i;
    if (told.near) SPOT_TRY(join_near(c, s, first));
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
