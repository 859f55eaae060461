/* proof_merges.c - Ward's tree of each class, merge by merge, with each cluster's errors on the rows that the tree has and on
 * those that judge it (spotter/discover.h). */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "bdm/unit_rows.h"
#include "discover/proof/judge.h"
#include "discover/subject/subject_memory.h"
#include "stats/ward_trees.h"

/* A tree's rows: row[i] of the subject is leaf i. */
typedef struct {
    int cls, part, n;
    const int *row;
    spot_tree_merge *merge;         /* (n - 1): out */
    int first;                      /* place of merge[0] among all merges */
} ward_tree;

typedef struct {
    spot_ctx *c;               /* of the CPU */
    const spot_subject *s;
    const spot_discover_options *o;
    spot_tree_merges *out;
} tree_maker;

/* ---- growing ---- */

static double ward_weight(const spot_discover_options *o)
{
    for (int b = 0; b < o->bdms; b++)
        if (o->bdm[b].method == SPOT_WARD) return o->bdm[b].weight;
    return spot_bdm_defaults(SPOT_WARD).weight;
}

static void fill_leaves(const spot_subject *s, const ward_tree *t, spot_points *points, spot_view *v)
{
    const size_t d = (size_t)s->d;

    for (int i = 0; i < t->n; i++) {
        const size_t row = (size_t)t->row[i];
        memcpy(points->at + (size_t)i * d, s->feature + row * d, d * sizeof(float));
        v->confidence[i] = s->confidence ? s->confidence[row] : s->prob[row * (size_t)s->classes + (size_t)t->cls];
    }
}

/* Counts on a counting arena. plain (t->n): the merges as ward.h has them. */
static spot_status grow(const tree_maker *k, spot_arena *a, const ward_tree *t, spot_ward_merge **plain)
{
    spot_points points = { .n = t->n, .d = k->s->d };
    spot_view v = { .n = t->n, .d = k->s->d };
    spot_unit_rows u;
    spot_ward_job job;

    SPOT_TRY(SPOT_TAKE(k->c, a, points.at, (size_t)t->n * (size_t)k->s->d));
    SPOT_TRY(SPOT_TAKE(k->c, a, v.confidence, t->n));
    SPOT_TRY(SPOT_TAKE(k->c, a, *plain, t->n));
    SPOT_TRY(spot_unit_rows_take(k->c, a, &u, t->n, k->s->d));
    if (!a->counting) {
        fill_leaves(k->s, t, &points, &v);
        spot_unit_rows_build(&u, &v, &points, NULL, ward_weight(k->o));
    }
    job = (spot_ward_job){ .n = u.n, .d = u.d, .x = u.x, .merge = *plain };
    return spot_ward_trees(k->c, a, a, 1, &job);
}

/* From clusters that are named by their first row to numbers of rows and merges, with the rows and errors of each. node,
 * rows, wrong: (t->n) for scratch. */
static void number_merges(const tree_maker *k, ward_tree *t, const spot_ward_merge *plain, int *node, int *rows, int *wrong)
{
    for (int i = 0; i < t->n; i++) {
        node[i] = t->row[i];
        rows[i] = 1;
        wrong[i] = spot_subject_wrong(k->s, t->row[i], t->cls);
    }
    for (int i = 0; i < t->n - 1; i++) {
        const int a = plain[i].a, b = plain[i].b;
        rows[a] += rows[b];
        wrong[a] += wrong[b];
        t->merge[i] = (spot_tree_merge){ .cls = t->cls, .part = t->part, .left = node[a], .right = node[b],
                                    .height = plain[i].height, .rows = rows[a], .wrong = wrong[a], .judged = -1,
                                    .judged_wrong = -1, .p = NAN };
        node[a] = k->s->n + t->first + i;
    }
}

static spot_status reserve(tree_maker *k, int more)
{
    const int room = k->out->count + more;
    spot_tree_merge *longer = realloc(k->out->merge, ((size_t)room + 1) * sizeof *longer);

    if (!longer) return spot_fail(k->c, SPOT_NOMEM, "no memory for %d merges", room);
    k->out->merge = longer;
    return SPOT_OK;
}

static spot_status make_tree(tree_maker *k, ward_tree *t)
{
    spot_arena count = spot_arena_counting(), a;
    spot_ward_merge *plain;
    int *node, *rows, *wrong;
    spot_status how;

    if (t->n < 2) return SPOT_OK;
    SPOT_TRY(reserve(k, t->n - 1));
    t->first = k->out->count;
    t->merge = k->out->merge + t->first;
    SPOT_TRY(grow(k, &count, t, &plain));
    SPOT_TRY(spot_arena_open(k->c, &a, count.peak + 3 * ((size_t)t->n * sizeof(int) + 64)));
    how = grow(k, &a, t, &plain);
    if (how == SPOT_OK) how = SPOT_TAKE(k->c, &a, node, t->n);
    if (how == SPOT_OK) how = SPOT_TAKE(k->c, &a, rows, t->n);
    if (how == SPOT_OK) how = SPOT_TAKE(k->c, &a, wrong, t->n);
    if (how == SPOT_OK) {
        number_merges(k, t, plain, node, rows, wrong);
        k->out->count += t->n - 1;
    }
    spot_arena_close(&a);
    return how;
}

/* ---- judging ---- */

/* The place of a node in its tree: leaves first, by their place in the class, then merges. */
typedef struct { const ward_tree *t; const int *leaf_of; int n; } node_places;

static int place_of(const node_places *x, int node)
{
    return node < x->n ? x->leaf_of[node] : x->t->n + node - x->n - x->t->first;
}

/* The lowest merge with most of the voters, which are leaves. Parents come after their children, so that the lowest node climbs
 * until most have met. at (votes): places, which are used up; parent: of each place. */
static int meet(int *at, int votes, const int *parent, int leaves)
{
    for (;;) {
        int least = at[0], same = 0;
        for (int i = 1; i < votes; i++) least = at[i] < least ? at[i] : least;
        for (int i = 0; i < votes; i++) same += at[i] == least;
        if (2 * same > votes && least >= leaves) return least - leaves;
        for (int i = 0; i < votes; i++)
            if (at[i] == least) at[i] = parent[least];
    }
}

/* Judged rows of each merge: those that meet in it, and those of the clusters that it joins. at (votes): scratch. */
static void count_judged(const spot_proved *k, const ward_tree *t, const node_places *x, const int *parent, int *at)
{
    const int q = t->part, votes = k->votes[q];

    for (int i = 0; i < t->n - 1; i++) t->merge[i].judged = t->merge[i].judged_wrong = 0;
    for (int i = 0; i < k->members[1 - q]; i++) {
        spot_tree_merge *m;
        memcpy(at, k->nearest[q] + (size_t)i * (size_t)votes, (size_t)votes * sizeof *at);
        m = &t->merge[meet(at, votes, parent, t->n)];
        m->judged++;
        m->judged_wrong += k->is_wrong[k->member[1 - q][i]];
    }
    for (int i = 0; i < t->n - 1; i++) {
        spot_tree_merge *m = &t->merge[i];
        const int below[2] = { place_of(x, m->left), place_of(x, m->right) };
        for (int e = 0; e < 2; e++) {
            if (below[e] < t->n) continue;
            m->judged += t->merge[below[e] - t->n].judged;
            m->judged_wrong += t->merge[below[e] - t->n].judged_wrong;
        }
    }
}

static spot_status judge_tree(spot_proving *j, const spot_proved *k, ward_tree *t)
{
    const spot_stratum *all = k->tally[1 - t->part];
    const size_t mark = j->a.used;
    int *leaf_of, *parent, *at;
    node_places x;

    if (t->n < 2 || !k->nearest[t->part]) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, leaf_of, j->s->n));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, parent, 2 * (size_t)t->n));
    SPOT_TRY(SPOT_TAKE(j->c, &j->a, at, k->votes[t->part]));
    x = (node_places){ .t = t, .leaf_of = leaf_of, .n = j->s->n };
    for (int i = 0; i < t->n; i++) leaf_of[t->row[i]] = i;
    for (int i = 0; i < t->n - 1; i++)
        parent[place_of(&x, t->merge[i].left)] = parent[place_of(&x, t->merge[i].right)] = t->n + i;
    count_judged(k, t, &x, parent, at);
    for (int i = 0; i < t->n - 1 && k->strata == 1 && !j->seen; i++) {
        spot_tree_merge *m = &t->merge[i];
        if (m->judged) m->p = spot_hypergeometric_tail(all->rows, all->group, m->judged, m->judged_wrong);
    }
    j->a.used = mark;
    return SPOT_OK;
}

/* ---- the whole ---- */

static spot_status judged_trees(tree_maker *k, spot_proving *j)
{
    SPOT_TRY(spot_proof_neighbours(j));
    spot_proof_begin(j, (spot_run_errors){ NULL, NULL });
    for (const spot_proved *class = j->cls; class < j->cls + j->classes; class++)
        for (int q = 0; q < j->p.parts; q++) {
            ward_tree t = { .cls = class->cls, .part = q, .n = class->finders[q] };
            const size_t mark = j->a.used;
            int *row;
            SPOT_TRY(spot_check_stop(j->c));
            SPOT_TRY(SPOT_TAKE(j->c, &j->a, row, t.n));
            for (int i = 0; i < t.n; i++) row[i] = class->row[class->finder[q][i]];
            t.row = row;
            SPOT_TRY(make_tree(k, &t));
            SPOT_TRY(judge_tree(j, class, &t));
            j->a.used = mark;
        }
    return SPOT_OK;
}

static spot_status whole_tree(tree_maker *k, const spot_candidate *of)
{
    ward_tree t = { .cls = of->cls, .part = -1 };
    int *row = malloc(((size_t)of->n + 1) * sizeof *row);
    spot_status how;

    if (!row) return spot_fail(k->c, SPOT_NOMEM, "no memory for %d rows", of->n);
    for (int i = 0; i < k->s->n; i++)
        if (spot_subject_is_of(k->s, i, of->cls)) row[t.n++] = i;
    t.row = row;
    how = make_tree(k, &t);
    free(row);
    return how;
}

static spot_status grow_trees(tree_maker *k, spot_ctx *c, const spot_chosen *chosen)
{
    spot_proving j;
    spot_status how = SPOT_OK;

    if (!k->o->proof) {
        for (int i = 0; i < chosen->count && how == SPOT_OK; i++) {
            how = spot_check_stop(c);
            if (how == SPOT_OK) how = whole_tree(k, &chosen->list[i]);
        }
        return how;
    }
    how = spot_prove_open(&j, c, k->s, k->o, chosen);
    if (how == SPOT_OK) how = judged_trees(k, &j);
    spot_proof_close(&j);
    return how;
}

spot_status spot_discover_merges(spot_ctx *c, spot_tree_merges *m, const spot_subject *s, const spot_discover_options *o)
{
    spot_ctx cpu = { .stop = c->stop };
    tree_maker k = { .c = &cpu, .s = s, .o = o, .out = m };
    spot_candidate *list = NULL;
    spot_chosen chosen = { 0 };
    spot_status how;

    *m = (spot_tree_merges){ 0 };
    SPOT_TRY(spot_discover_check(c, s, o));
    SPOT_TRY(spot_ctx_open(&cpu, "cpu", c->threads));
    how = spot_candidates(c, s, o, &list, &chosen.count, &chosen.left_out);
    chosen.list = list;
    if (how == SPOT_OK) {
        how = grow_trees(&k, c, &chosen);
        if (how && cpu.status) how = spot_fail_from(c, how, &cpu);
    }
    free(list);
    spot_ctx_close(&cpu);
    return how;
}

void spot_tree_merges_close(spot_tree_merges *m)
{
    free(m->merge);
    *m = (spot_tree_merges){ 0 };
}

/* ---- the file ---- */

typedef struct { const spot_tree_merges *m; const spot_subject *s; } merges_file;

static void put_number(FILE *f, double v)
{
    char text[32];

    fprintf(f, ",%s", isnan(v) ? "" : spot_digits(text, v, 1));
}

static void put_count(FILE *f, int count)
{
    fputc(',', f);
    if (count >= 0) fprintf(f, "%d", count);
}

static const char head[] = "class,part,left,right,height,rows,wrong,rate,judged,judged_wrong,p\n";

static bool fill_file(FILE *f, const void *user)
{
    const merges_file *k = user;

    fputs(head, f);
    for (const spot_tree_merge *m = k->m->merge; m < k->m->merge + k->m->count; m++) {
        spot_csv_field(f, m->cls < 0 ? "" : k->s->class_name[m->cls]);
        put_count(f, m->part);
        fprintf(f, ",%d,%d", m->left, m->right);
        put_number(f, m->height);
        fprintf(f, ",%d,%d", m->rows, m->wrong);
        put_number(f, (double)m->wrong / m->rows);
        put_count(f, m->judged);
        put_count(f, m->judged_wrong);
        put_number(f, m->p);
        fputc('\n', f);
    }
    return !ferror(f);
}

spot_status spot_tree_merges_place(spot_ctx *c, const char *path)
{
    SPOT_TRY(spot_file_place(c, path, false));
    return spot_file_is_ours(path, head) ? SPOT_OK
         : spot_fail(c, SPOT_USAGE, "{merges.foreign} %s is there, and it is no file of merges; choose another name", path);
}

spot_status spot_tree_merges_write(spot_ctx *c, const char *path, const spot_tree_merges *m, const spot_subject *s)
{
    return spot_file_fill(c, path, fill_file, &(merges_file){ m, s });
}
