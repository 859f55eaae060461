/* proof_parts.c - the parts of the rows, each part as a subject, and each judging row's neighbours among the finding rows. */
#include <stdlib.h>
#include <string.h>

#include "base/greatest.h"
#include "base/room.h"
#include "discover/proof/proof_groups.h"
#include "discover/search/vote.h"
#include "discover/subject/subject_memory.h"

/* ---- memory ---- */

size_t spot_proof_slices(const spot_discover_options *o)
{
    size_t top = 0;

    for (int b = 0; b < o->bdms; b++)
        top += (size_t)(o->bdm[b].top < SPOT_MAX_HYPOTHESES ? o->bdm[b].top : SPOT_MAX_HYPOTHESES);
    return top * (size_t)o->seeds * (o->attributes ? 4 : 2);       /* of two parts; of each slice its rule, too */
}

size_t spot_proof_bytes(const spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                        const spot_candidate *candidates, int count, int finders)
{
    const size_t n = (size_t)s->n, slices = spot_proof_slices(o), strata = (size_t)s->classes + 1;
    size_t bytes = n * (4 * sizeof(int) + 2) + 4096, largest = 0;

    for (int i = 0; i < count; i++) {
        const size_t rows = (size_t)candidates[i].n, words = rows / 64 + 1;
        bytes += rows * (2 * sizeof(int) + 1 + (size_t)o->proof->neighbours * sizeof(int))
               + slices * (2 * words * 8 + SPOT_ALIGN + sizeof(spot_judged) + 8) + spot_peers_bytes(o, candidates[i].n)
               + sizeof(spot_proved) + 16 * SPOT_ALIGN
               + rows * sizeof(int) + (candidates[i].cls < 0 ? 2 * strata * sizeof(spot_stratum) : SPOT_ALIGN);
        if (candidates[i].cls < 0 && spot_crosses_classes(s, o)) bytes += (strata + 2 * SPOT_FINDERS) * sizeof(int) + 1024;
        else if (rows > largest) largest = rows;
        if (candidates[i].cls < 0 && largest < 2 * (size_t)SPOT_FINDERS) largest = rows < 2 * SPOT_FINDERS ? rows
            : 2 * SPOT_FINDERS;
    }
    return bytes + spot_divide_groups_bytes(s) + largest * 8 * sizeof(float) + 2 * (n + 2) * sizeof(double)
         + strata * sizeof(spot_stratum)
         + spot_nearest_bytes(c, finders < (int)largest ? finders : (int)largest, s->d, o->proof->neighbours + SPOT_LOOKED)
         + 4096;
}

/* ---- the parts ---- */

double spot_proof_share(const spot_proof_options *p)
{
    return !p ? 1 : p->parts == 1 ? 1 - p->holdout : 0.5;
}

/* Rows of one class in each part: those of the judging part, if there is one, else of part 1. */
static int judging_rows(const spot_proof_options *p, int n)
{
    int rows = p->parts == 1 ? (int)(p->holdout * n + 0.5) : n / 2;

    if (rows < 1) rows = 1;
    return rows > n - 1 ? n - 1 : rows;
}

/* Draws the judging rows of a class; rows of several classes are divided together. */
static void divide_class(spot_proving *j, uint32_t *order, int *row, int cls)
{
    spot_rng r = spot_rng_at(j->p.seed, SPOT_RNG_PROOF, (uint32_t)(cls < 0 ? j->s->classes : cls), 0);
    int n = 0;

    for (int i = 0; i < j->s->n; i++)
        if (spot_subject_is_of(j->s, i, cls)) row[n++] = i;
    if (n < 2) return;
    spot_rng_shuffle(&r, order, (uint32_t)n);
    for (int i = 0; i < judging_rows(&j->p, n); i++) j->part[row[order[i]]] = 1;
}

static spot_status divide_rows(spot_proving *j)
{
    size_t mark;
    uint32_t *order;
    int *row;

    SPOT_TRY(SPOT_TAKE(j->c, &j->a, j->part, j->s->n));
    j->seen = NULL;
    if (spot_subject_is_grouped(j->s)) {
        SPOT_TRY(SPOT_TAKE(j->c, &j->a, j->seen, j->s->groups));
        memset(j->seen, 0, (size_t)j->s->groups * sizeof *j->seen);
        return spot_divide_groups(j);
    }
    mark = j->a.used;
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, order, j->s->n));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, row, j->s->n));
    memset(j->part, 0, (size_t)j->s->n);
    if (!j->s->target) divide_class(j, order, row, -1);
    else for (int k = 0; k < j->s->classes; k++) divide_class(j, order, row, k);
    j->a.used = mark;
    return SPOT_OK;
}

spot_status spot_proof_part_rows(spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                                 const spot_candidate *candidates, int count, int (*rows)[2])
{
    const size_t n = (size_t)s->n, seen = spot_subject_is_grouped(s) ? (size_t)s->groups : 0;
    spot_proving j = { .c = c, .s = s, .o = o, .p = *o->proof };
    spot_status how;

    memset(rows, 0, (size_t)count * sizeof *rows);
    SPOT_TRY(spot_arena_open(c, &j.a, n * (1 + 2 * sizeof(int)) + seen * sizeof(int) + spot_divide_groups_bytes(s) + 4096));
    how = divide_rows(&j);
    for (int i = 0; i < count && how == SPOT_OK; i++)
        for (int k = 0; k < s->n; k++)
            if (spot_subject_is_of(s, k, candidates[i].cls)) rows[i][j.part[k]]++;
    spot_arena_close(&j.a);
    return how;
}

/* ---- the classes ---- */

/* Rows of part q of a group that is larger than a sample: `left` of them at random (Knuth's algorithm S). */
static void sample_group(const spot_proving *j, spot_proved *k, int q, int group, int left, spot_rng *r)
{
    int rows = j->seen[group];

    for (int i = 0; i < k->members[q]; i++) {
        if (j->s->group[k->row[k->member[q][i]]] != group) continue;
        if ((int)spot_rng_below(r, (uint32_t)rows--) < left) k->finder[q][k->finders[q]++] = k->member[q][i], left--;
    }
}

static int smaller_first(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Takes groups of part q, or rows that are alone, until no more fit; then, where that is not half of a sample, rows of the next
 * group. */
static void sample_rows(const spot_proving *j, spot_proved *k, int q, uint32_t *order, uint8_t *in)
{
    const int of = j->seen ? j->s->groups : k->members[q];
    spot_rng r = spot_rng_at(j->p.seed, SPOT_RNG_PROOF, (uint32_t)j->s->classes + 2, (uint32_t)q);
    int left = SPOT_FINDERS, next = -1;

    for (int i = 0; i < k->members[q] && j->seen; i++) j->seen[j->s->group[k->row[k->member[q][i]]]]++;
    spot_rng_shuffle(&r, order, (uint32_t)of);
    memset(in, 0, (size_t)of);
    for (int i = 0; i < of; i++) {
        const int size = j->seen ? j->seen[order[i]] : 1;
        if (size <= left) in[order[i]] = 1, left -= size;
        else if (next < 0) next = (int)order[i];
    }
    k->finders[q] = 0;
    for (int i = 0; i < k->members[q]; i++)
        if (in[j->seen ? j->s->group[k->row[k->member[q][i]]] : i]) k->finder[q][k->finders[q]++] = k->member[q][i];
    if (j->seen && next >= 0 && 2 * left > SPOT_FINDERS) {
        sample_group(j, k, q, next, left, &r);
        qsort(k->finder[q], (size_t)k->finders[q], sizeof *k->finder[q], smaller_first);
    }
    if (j->seen) memset(j->seen, 0, (size_t)j->s->groups * sizeof *j->seen);
}

static spot_status open_class(spot_proving *j, spot_proved *k, const spot_candidate *from)
{
    int n = 0, part[2] = { 0, 0 };

    *k = (spot_proved){ .cls = from->cls, .n = from->n, .wrong = from->wrong, .words = (size_t)from->n / 64 + 1,
                        .strata = from->cls == SPOT_ALL_CLASSES ? j->s->classes : 1, .best = 1 };
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, k->row, k->n));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, k->is_wrong, k->n));
    for (int i = 0; i < j->s->n; i++)
        if (spot_subject_is_of(j->s, i, k->cls)) {
            k->members[j->part[i]]++;
            k->row[n++] = i;
        }
    for (int q = 0; q < 2; q++) {
        SPOT_TRY(SPOT_TAKE(j->c, &j->a, k->member[q], k->members[q]));
        SPOT_TRY(SPOT_TAKE(j->c, &j->a, k->tally[q], k->strata));
    }
    for (int i = 0; i < k->n; i++) {
        const int q = j->part[k->row[i]];
        k->member[q][part[q]++] = i;
    }
    for (int q = 0; q < 2; q++) k->finders[q] = k->members[q], k->finder[q] = k->member[q];
    return SPOT_OK;
}

/* All rows beside classes: where each class is, and a sample of each part's rows. */
static spot_status open_across(spot_proving *j)
{
    spot_proved *k = j->across = &j->cls[j->classes - 1];
    size_t mark;
    uint32_t *order;
    uint8_t *in;

    SPOT_TRY(SPOT_TAKE(j->c, &j->a, j->place, j->s->classes));
    for (int c = 0; c < j->s->classes; c++) j->place[c] = -1;
    for (int i = 0; i < j->classes - 1; i++) j->place[j->cls[i].cls] = i;
    for (int q = 0; q < 2; q++)
        if (k->members[q] > SPOT_FINDERS) SPOT_TRY(SPOT_TAKE(j->c, &j->a, k->finder[q], SPOT_FINDERS));
    mark = j->a.used;
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, order, j->s->n));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, in, j->s->n));
    for (int q = 0; q < 2; q++)
        if (k->members[q] > SPOT_FINDERS) sample_rows(j, k, q, order, in);
    j->a.used = mark;
    return SPOT_OK;
}

/* The nearest rows on part q, where slices are found, of each row of the other part. */
static spot_status find_neighbours(spot_proving *j, spot_proved *k, int q)
{
    spot_some_rows x = { j->s->feature, NULL, k->members[1 - q] }, y = { j->s->feature, NULL, k->finders[q] };
    int *row[2];
    size_t mark;

    if (!x.n || !y.n) return SPOT_OK;
    k->votes[q] = spot_voters(y.n, j->p.neighbours);
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, k->nearest[q], (size_t)x.n * (size_t)k->votes[q]));
    mark = j->a.used;
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, row[0], x.n));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, row[1], y.n));
    for (int i = 0; i < x.n; i++) row[0][i] = k->row[k->member[1 - q][i]];
    for (int i = 0; i < y.n; i++) row[1][i] = k->row[k->finder[q][i]];
    x.row = row[0];
    y.row = row[1];
    SPOT_TRY(spot_nearest_rows(j->c, &j->a, k->nearest[q], x, y, j->s->d, k->votes[q]));
    j->a.used = mark;
    return SPOT_OK;
}

/* The rows that the searches see: those of the classes. */
static spot_status list_rows(spot_proving *j)
{
    uint8_t *seen;

    for (int q = 0; q < 2; q++) SPOT_TRY(SPOT_TAKE(j->c, &j->a, j->row[q], j->s->n));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, seen, j->s->n));
    memset(seen, 0, (size_t)j->s->n);
    for (int k = 0; k < j->classes; k++)
        for (int i = 0; i < j->cls[k].n && &j->cls[k] != j->across; i++) seen[j->cls[k].row[i]] = 1;
    for (int i = 0; i < j->s->n; i++)
        if (seen[i]) j->row[j->part[i]][j->rows[j->part[i]]++] = i;
    return SPOT_OK;
}

spot_status spot_proof_open(spot_proving *j, const spot_candidate *candidates, int count)
{
    SPOT_TRY(spot_arena_open(j->c, &j->a, spot_proof_bytes(j->c, j->s, j->o, candidates, count, j->s->n)));
    j->classes = count;
    SPOT_TRY(divide_rows(j));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, j->cls, count));
    for (int i = 0; i < count; i++) SPOT_TRY(open_class(j, &j->cls[i], &candidates[i]));
    if (count && candidates[count - 1].cls < 0 && spot_crosses_classes(j->s, j->o)) SPOT_TRY(open_across(j));
    SPOT_TRY(list_rows(j));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, j->piece, spot_proof_slices(j->o) * (size_t)count));
    j->most = (int)spot_proof_slices(j->o) * count;
    j->fixed = j->a.used;
    return SPOT_OK;
}

spot_status spot_proof_neighbours(spot_proving *j)
{
    for (int i = 0; i < j->classes; i++)
        for (int q = 0; q < j->p.parts; q++) {
            SPOT_TRY(spot_check_stop(j->c));
            SPOT_TRY(find_neighbours(j, &j->cls[i], q));
            SPOT_TRY(spot_find_peers(j, &j->cls[i], q));
        }
    j->fixed = j->a.used;
    return SPOT_OK;
}

void spot_proof_close(spot_proving *j) { spot_arena_close(&j->a); }

/* ---- a part as a subject ---- */

size_t spot_proof_subject_bytes(const spot_subject *s, const spot_discover_options *o, int rows)
{
    const size_t classes = (size_t)s->classes;
    const size_t row = ((size_t)s->d + 3 + (s->prob ? classes : 0)) * sizeof(float) + (s->has ? classes : 0);

    return (size_t)rows * row + 4096
         + (o->attributes ? sizeof *o->attributes + (size_t)o->attributes->items * ((size_t)rows / 64 + 1) * 8 : 0);
}

/* Makes the row wrong or right by exchanging two of its probabilities; of two equal ones the answer's grows by one step. */
static void set_answer(float *p, int classes, int target, bool wrong)
{
    int best = spot_first_greatest(p, classes), second = target ? 0 : 1;
    const float kept = p[target];

    if ((best != target) == wrong) return;
    for (int k = 0; k < classes; k++)
        if (k != target && p[k] > p[second]) second = k;
    if (wrong) best = second;
    p[target] = p[best];
    p[best] = kept;
    spot_keep_greatest(p, classes, wrong ? best : target);
}

static spot_status copy_attributes(spot_proving *j, spot_arena *a, spot_part_rows of, spot_discover_options *o)
{
    const spot_attributes *from = j->o->attributes;
    spot_attributes *to;
    const int rows = of.n;

    if (!from) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(j->c, a, to, 1));
    *to = *from;
    to->rows = rows;
    to->words = (size_t)rows / 64 + 1;
    if (rows && rows % 64 == 0) to->words--;
    SPOT_TRY(SPOT_TAKE(j->c, a, to->bit, (size_t)to->items * to->words));
    memset(to->bit, 0, (size_t)to->items * to->words * sizeof *to->bit);
    for (int k = 0; k < to->items; k++)
        for (int i = 0; i < rows; i++)
            if (spot_has_bit(from->bit + (size_t)k * from->words, of.row[i]))
                to->bit[(size_t)k * to->words + (size_t)i / 64] |= (uint64_t)1 << i % 64;
    o->attributes = to;
    return SPOT_OK;
}

static void copy_row(const spot_proving *j, spot_subject *to, int i, int row)
{
    const spot_subject *s = j->s;
    const int answer = j->errors.answers ? j->errors.answers[row] : row;
    const size_t d = (size_t)s->d, classes = (size_t)s->classes, at = (size_t)i;

    memcpy(to->feature + at * d, s->feature + (size_t)row * d, d * sizeof(float));
    if (to->target) to->target[i] = s->target[row];
    if (to->has) memcpy(to->has + at * classes, s->has + (size_t)row * classes, classes);
    if (to->confidence) to->confidence[i] = s->confidence[answer];
    if (to->predicted) to->predicted[i] = s->predicted[answer];
    if (!to->prob) return;
    memcpy(to->prob + at * classes, s->prob + (size_t)answer * classes, classes * sizeof(float));
    if (!j->errors.wanted) return;
    set_answer(to->prob + at * classes, s->classes, s->target[row], j->errors.wanted[row]);
    to->confidence[i] = to->prob[at * classes + (size_t)s->target[row]];
}

spot_status spot_proof_subject(spot_proving *j, spot_arena *a, spot_part_rows of, spot_subject *out, spot_discover_options *o)
{
    const spot_subject *s = j->s;
    const size_t rows = (size_t)of.n, classes = (size_t)s->classes;

    *out = (spot_subject){ .n = (int)rows, .d = s->d, .classes = s->classes, .head = s->head, .class_name = s->class_name };
    SPOT_TRY(SPOT_TAKE(j->c, a, out->feature, rows * (size_t)s->d));
    if (s->target) SPOT_TRY(SPOT_TAKE(j->c, a, out->target, rows));
    if (s->has) SPOT_TRY(SPOT_TAKE(j->c, a, out->has, rows * classes));
    if (s->prob) SPOT_TRY(SPOT_TAKE(j->c, a, out->prob, rows * classes));
    if (s->confidence) SPOT_TRY(SPOT_TAKE(j->c, a, out->confidence, rows));
    if (s->predicted) SPOT_TRY(SPOT_TAKE(j->c, a, out->predicted, rows));
    for (int i = 0; i < out->n; i++) copy_row(j, out, i, of.row[i]);
    return copy_attributes(j, a, of, o);
}
