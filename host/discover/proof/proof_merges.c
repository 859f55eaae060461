/* proof_merges.c - Ward's tree of each class, merge by merge, with each cluster's errors on the rows that the tree has and on
 * those that judge it (spotter/discover.h). merges_write.c writes them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/unit_rows.h"
#include "discover/proof/judge.h"
#include "discover/proof/proof_groups.h"
#include "discover/subject/subject_memory.h"
#include "stats/ward_trees.h"

/* A tree's rows: row[i] of the subject is leaf i. */
typedef struct {
    int cls, part, n;
    const int *row;
    spot_tree_merge *merge;         /* (n - 1): out */
    int first;                      /* place of merge[0] among all merges */
} ward_tree;

/* Arrays of the tree that is made now. */
typedef struct {
    spot_points points;
    spot_view view;
    spot_unit_rows unit;
    spot_ward_merge *plain;         /* (n): the merges as ward.h has them */
    int *node, *rows, *wrong;       /* (n): of each cluster, by its first row */
    int *leaf_of, *parent, *at;     /* (n of the subject), (2 n), (votes): of its judges; NULL without a proof */
} tree_arrays;

typedef struct {
    spot_ctx *c;               /* of the CPU */
    const spot_subject *s;
    const spot_discover_options *o;
    spot_tree_merges *out;
    spot_arena a;              /* for the rows and the arrays of one tree */
    int most;                  /* merges at most */
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

/* Counts on a counting arena, of a tree of which it reads n alone. */
static spot_status grow(const tree_maker *k, spot_arena *a, const ward_tree *t, tree_arrays *x)
{
    const int n = t->n, d = k->s->d;
    spot_ward_job job;

    *x = (tree_arrays){ .points = { .n = n, .d = d }, .view = { .n = n, .d = d } };
    SPOT_TRY(SPOT_TAKE(k->c, a, x->points.at, (size_t)n * (size_t)d));
    SPOT_TRY(SPOT_TAKE(k->c, a, x->view.confidence, n));
    SPOT_TRY(SPOT_TAKE(k->c, a, x->plain, n));
    SPOT_TRY(SPOT_TAKE(k->c, a, x->node, n));
    SPOT_TRY(SPOT_TAKE(k->c, a, x->rows, n));
    SPOT_TRY(SPOT_TAKE(k->c, a, x->wrong, n));
    if (k->o->proof) {
        SPOT_TRY(SPOT_TAKE(k->c, a, x->leaf_of, k->s->n));
        SPOT_TRY(SPOT_TAKE(k->c, a, x->parent, 2 * (size_t)n));
        SPOT_TRY(SPOT_TAKE(k->c, a, x->at, k->o->proof->neighbours));
    }
    SPOT_TRY(spot_unit_rows_take(k->c, a, &x->unit, n, d));
    if (!a->counting) {
        fill_leaves(k->s, t, &x->points, &x->view);
        spot_unit_rows_build(&x->unit, &x->view, &x->points, NULL, ward_weight(k->o), k->c->threads);
    }
    job = (spot_ward_job){ .n = x->unit.n, .d = x->unit.d, .x = x->unit.x, .merge = x->plain };
    return spot_ward_trees(k->c, a, a, 1, &job);
}

/* From clusters that are named by their first row to numbers of rows and merges, with the rows and errors of each. */
static void number_merges(const tree_maker *k, ward_tree *t, const tree_arrays *x)
{
    int *node = x->node, *rows = x->rows, *wrong = x->wrong;

    for (int i = 0; i < t->n; i++) {
        node[i] = t->row[i];
        rows[i] = 1;
        wrong[i] = spot_subject_wrong(k->s, t->row[i], t->cls);
    }
    for (int i = 0; i < t->n - 1; i++) {
        const int a = x->plain[i].a, b = x->plain[i].b;
        rows[a] += rows[b];
        wrong[a] += wrong[b];
        t->merge[i] = (spot_tree_merge){ .cls = t->cls, .part = t->part, .left = node[a], .right = node[b],
                                    .height = x->plain[i].height, .rows = rows[a], .wrong = wrong[a], .judged = -1,
                                    .judged_wrong = -1, .p = NAN };
        node[a] = k->s->n + t->first + i;
    }
}

static spot_status make_tree(tree_maker *k, ward_tree *t, tree_arrays *x)
{
    t->first = k->out->count;
    t->merge = k->out->merge + t->first;
    SPOT_TRY(grow(k, &k->a, t, x));
    number_merges(k, t, x);
    k->out->count += t->n - 1;
    return SPOT_OK;
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

static void judge_tree(const spot_proving *j, const spot_proved *k, const ward_tree *t, const tree_arrays *y)
{
    const spot_stratum *all = k->tally[1 - t->part];
    const node_places x = { .t = t, .leaf_of = y->leaf_of, .n = j->s->n };

    if (!k->nearest[t->part]) return;
    for (int i = 0; i < t->n; i++) y->leaf_of[t->row[i]] = i;
    for (int i = 0; i < t->n - 1; i++)
        y->parent[place_of(&x, t->merge[i].left)] = y->parent[place_of(&x, t->merge[i].right)] = t->n + i;
    count_judged(k, t, &x, y->parent, y->at);
    for (int i = 0; i < t->n - 1 && k->strata == 1 && !j->seen; i++) {
        spot_tree_merge *m = &t->merge[i];
        if (m->judged) m->p = spot_hypergeometric_tail(all->rows, all->group, m->judged, m->judged_wrong);
    }
}

/* ---- memory ---- */

/* Rows of the largest tree of a class, at most. */
static int largest_tree(const spot_subject *s, const spot_discover_options *o, const spot_candidate *k)
{
    int rows = k->n;

    if (!o->proof) return rows;
    if (s->target && !spot_subject_is_grouped(s)) {
        const double found = spot_proof_share(o->proof) * rows + (k->cls < 0 ? s->classes : 1);
        if (found < rows) rows = (int)found;
    }
    return k->cls < 0 && spot_crosses_classes(s, o) && rows > SPOT_FINDERS ? SPOT_FINDERS : rows;
}

/* k->most, and the bytes of one tree of the largest size. */
static spot_status count_trees(tree_maker *k, const spot_chosen *chosen, size_t *bytes)
{
    spot_arena count = spot_arena_counting();
    const int parts = k->o->proof ? k->o->proof->parts : 1;
    ward_tree t = { .n = 1 };
    tree_arrays x;
    int *row;

    k->most = 0;
    for (int i = 0; i < chosen->count; i++) {
        const int n = chosen->list[i].n, largest = largest_tree(k->s, k->o, &chosen->list[i]);
        k->most += largest < n / parts ? parts * largest : n;
        if (t.n < largest) t.n = largest;
    }
    SPOT_TRY(SPOT_TAKE(k->c, &count, row, t.n));
    SPOT_TRY(grow(k, &count, &t, &x));
    *bytes = count.peak;
    return SPOT_OK;
}

/* Bytes of all that there is while the trees grow, and of one tree. */
static spot_status merges_needs(tree_maker *k, const spot_chosen *chosen, size_t *bytes, size_t *tree)
{
    const size_t limit = spot_discover_limit(k->s, k->o);
    const size_t held = spot_subject_bytes(k->s) + spot_findings_bytes(k->s, k->o, chosen->list, chosen->count);

    SPOT_TRY(count_trees(k, chosen, tree));
    *bytes = held + ((size_t)k->most + 1) * sizeof *k->out->merge + *tree;
    if (k->o->proof) *bytes += spot_proof_bytes(k->c, k->s, k->o, chosen->list, chosen->count, k->s->n);
    if (*bytes <= limit) return SPOT_OK;
    return spot_fail(k->c, SPOT_NOMEM, "{merges.memory} the merges of %d trees take %.2f GB of memory, %.2f GB of it for the "
                     "data and the findings, and there are %.2f GB; give more, choose one class, or leave the merges out",
                     chosen->count * (k->o->proof ? k->o->proof->parts : 1), *bytes / 1e9, held / 1e9, limit / 1e9);
}

/* ---- the whole ---- */

static spot_status judged_trees(tree_maker *k, spot_proving *j)
{
    SPOT_TRY(spot_proof_neighbours(j));
    spot_proof_begin(j, (spot_run_errors){ NULL, NULL });
    for (const spot_proved *class = j->cls; class < j->cls + j->classes; class++)
        for (int q = 0; q < j->p.parts; q++) {
            ward_tree t = { .cls = class->cls, .part = q, .n = class->finders[q] };
            tree_arrays x;
            int *row;
            if (t.n < 2) continue;
            SPOT_TRY(spot_check_stop(j->c));
            k->a.used = 0;
            SPOT_TRY(SPOT_TAKE(k->c, &k->a, row, t.n));
            for (int i = 0; i < t.n; i++) row[i] = class->row[class->finder[q][i]];
            t.row = row;
            SPOT_TRY(make_tree(k, &t, &x));
            judge_tree(j, class, &t, &x);
        }
    return SPOT_OK;
}

static spot_status whole_tree(tree_maker *k, const spot_candidate *of)
{
    ward_tree t = { .cls = of->cls, .part = -1 };
    tree_arrays x;
    int *row;

    if (of->n < 2) return SPOT_OK;
    k->a.used = 0;
    SPOT_TRY(SPOT_TAKE(k->c, &k->a, row, of->n));
    for (int i = 0; i < k->s->n; i++)
        if (spot_subject_is_of(k->s, i, of->cls)) row[t.n++] = i;
    t.row = row;
    return make_tree(k, &t, &x);
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

/* Memory is stated before it is used: there is room for all merges and for one tree at a time. */
static spot_status make_merges(tree_maker *k, spot_ctx *c, const spot_chosen *chosen)
{
    size_t bytes, tree;
    spot_status how;

    SPOT_TRY(merges_needs(k, chosen, &bytes, &tree));
    k->out->merge = malloc(((size_t)k->most + 1) * sizeof *k->out->merge);
    if (!k->out->merge) return spot_fail(k->c, SPOT_NOMEM, "no memory for %d merges", k->most);
    SPOT_TRY(spot_arena_open(k->c, &k->a, tree));
    how = grow_trees(k, c, chosen);
    spot_arena_close(&k->a);
    return how;
}

/* bytes NULL: makes the merges; else says what they take. */
static spot_status merges_or_cost(spot_ctx *c, tree_maker *k, size_t *bytes)
{
    spot_ctx cpu = { .stop = c->stop };
    spot_candidate *list = NULL;
    spot_chosen chosen = { 0 };
    spot_status how;
    size_t tree;

    SPOT_TRY(spot_discover_check(c, k->s, k->o));
    SPOT_TRY(spot_ctx_open(&cpu, "cpu", c->threads));
    k->c = &cpu;
    how = spot_candidates(c, k->s, k->o, &list, &chosen.count, &chosen.left_out);
    chosen.list = list;
    if (how == SPOT_OK) {
        how = bytes ? merges_needs(k, &chosen, bytes, &tree) : make_merges(k, c, &chosen);
        if (how && cpu.status) how = spot_fail_from(c, how, &cpu);
    }
    free(list);
    spot_ctx_close(&cpu);
    return how;
}

spot_status spot_discover_merges_cost(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, size_t *bytes)
{
    *bytes = 0;
    return merges_or_cost(c, &(tree_maker){ .s = s, .o = o }, bytes);
}

spot_status spot_discover_merges(spot_ctx *c, spot_tree_merges *m, const spot_subject *s, const spot_discover_options *o)
{
    *m = (spot_tree_merges){ 0 };
    return merges_or_cost(c, &(tree_maker){ .s = s, .o = o, .out = m }, NULL);
}

void spot_tree_merges_close(spot_tree_merges *m)
{
    free(m->merge);
    *m = (spot_tree_merges){ 0 };
}
