/* ontology.c - the graph of keywords that occur together, and the keywords near to those of an image. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/ontology.h"

/* ---- the graph ---- */

/* Counts of pairs need all pairs of the frequent keywords of an image. Rows: the frequent keywords, numbered without gaps. */
typedef struct { int frequent, *row, *keyword, *count; } pairs;

static void count_pairs(pairs *p, const spot_baskets *b, const int *rows, int n)
{
    for (int k = 0; k < n; k++) {
        const int t = rows ? rows[k] : k;
        for (int i = b->first[t]; i < b->first[t + 1]; i++) {
            const int a = p->row[b->item[i]];
            for (int j = b->first[t]; a >= 0 && j < b->first[t + 1]; j++)
                if (p->row[b->item[j]] >= 0) p->count[(size_t)a * (size_t)p->frequent + (size_t)p->row[b->item[j]]]++;
        }
    }
}

/* share holds counts before the call and shares after it. */
static spot_status open_pairs(spot_ctx *c, pairs *p, const spot_baskets *b, int n, double *share, double support)
{
    const size_t keywords = (size_t)b->items + 1;

    *p = (pairs){ .row = malloc(keywords * sizeof *p->row), .keyword = malloc(keywords * sizeof *p->keyword) };
    if (!p->row || !p->keyword) return spot_fail(c, SPOT_NOMEM, "no memory for %d keywords", b->items);
    for (int k = 0; k < b->items; k++) {
        share[k] /= n;
        p->row[k] = share[k] > 0 && share[k] >= support ? p->frequent : -1;
        if (p->row[k] >= 0) p->keyword[p->frequent++] = k;
    }
    p->count = calloc((size_t)p->frequent * (size_t)p->frequent + 1, sizeof *p->count);
    return p->count ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for pairs of %d keywords", p->frequent);
}

typedef struct { int to; double weight; } edge;

static int compare_edges(const void *a, const void *b)
{
    const edge *x = a, *y = b;

    return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight) : (x->to > y->to) - (x->to < y->to);
}

/* Edges of a row; e NULL: their number alone. */
static int row_edges(edge *e, const pairs *p, int row, const spot_ontology *o)
{
    const int *count = p->count + (size_t)row * (size_t)p->frequent;
    int edges = 0;

    for (int k = 0; k < p->frequent; k++) {
        const double weight = (double)count[k] / count[row];
        if (k == row || !count[k] || weight < o->confidence) continue;
        if (e) e[edges] = (edge){ p->keyword[k], weight };
        edges++;
    }
    if (e) qsort(e, (size_t)edges, sizeof *e, compare_edges);
    return edges;
}

static spot_status link_keywords(spot_ctx *c, spot_ontology *o, const pairs *p)
{
    size_t edges = 0;
    edge *e = malloc(((size_t)p->frequent + 1) * sizeof *e);

    for (int r = 0; r < p->frequent; r++) edges += (size_t)row_edges(NULL, p, r, o);
    o->to = malloc((edges + 1) * sizeof *o->to);
    o->weight = malloc((edges + 1) * sizeof *o->weight);
    if (!e || !o->to || !o->weight) return free(e), spot_fail(c, SPOT_NOMEM, "no memory for %zu edges of keywords", edges);
    for (int k = 0; k < o->keywords; k++) {
        const int have = p->row[k] < 0 ? 0 : row_edges(e, p, p->row[k], o);
        o->first[k + 1] = o->first[k] + have;
        for (int i = 0; i < have; i++) o->to[o->first[k] + i] = e[i].to, o->weight[o->first[k] + i] = e[i].weight;
    }
    free(e);
    return SPOT_OK;
}

spot_status spot_ontology_build(spot_ctx *c, spot_ontology *o, const spot_baskets *b, const int *rows, int n, double support,
                                double confidence)
{
    const int images = rows ? n : b->transactions;
    pairs p = { 0 };
    spot_status s;

    *o = (spot_ontology){ .keywords = b->items, .images = images, .support = support, .confidence = confidence,
                          .share = calloc((size_t)b->items + 1, sizeof *o->share),
                          .first = calloc((size_t)b->items + 1, sizeof *o->first) };
    if (!o->share || !o->first) return spot_fail(c, SPOT_NOMEM, "no memory for %d keywords", b->items);
    for (int k = 0; k < images; k++)
        for (int t = rows ? rows[k] : k, i = b->first[t]; i < b->first[t + 1]; i++) o->share[b->item[i]]++;
    s = open_pairs(c, &p, b, images ? images : 1, o->share, support);
    if (s == SPOT_OK) count_pairs(&p, b, rows, images);
    if (s == SPOT_OK) s = link_keywords(c, o, &p);
    free(p.row), free(p.keyword), free(p.count);
    return s;
}

void spot_ontology_close(spot_ontology *o)
{
    free(o->share), free(o->first), free(o->to), free(o->weight);
    memset(o, 0, sizeof *o);
}

/* ---- expansion ---- */

/* The best path to each keyword, level by level. A path is the sequence of its weights, of which these suffice. */
typedef struct { int level; double path; } reached;

static double longer_path(const spot_expansion *rule, const reached *from, double weight)
{
    switch ((spot_path_measure)rule->measure) {
    case SPOT_PATH_PRODUCT: return from->path * weight;
    case SPOT_PATH_DECAY:   return !from->level ? weight : fmax(0, from->path - pow(1 - weight, rule->alpha));
    case SPOT_PATH_HOPS:    return 1.0 / (2 + from->level);
    }
    return 0;
}

static int compare_expanded(const void *a, const void *b)
{
    const spot_expanded *x = a, *y = b;

    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    if (x->path != y->path) return x->path > y->path ? -1 : 1;
    return (x->keyword > y->keyword) - (x->keyword < y->keyword);
}

static void expand(spot_expanded *out, int *n, reached *at, const spot_ontology *o, const spot_expansion *rule)
{
    for (int level = 0, from = 0; level < rule->levels && *n < rule->least && from < *n; level++) {
        const int end = *n;
        for (int i = from; i < end; i++) {
            const int a = out[i].keyword;
            for (int e = o->first[a]; e < o->first[a + 1]; e++) {
                const double path = longer_path(rule, &at[a], o->weight[e]);
                reached *b = &at[o->to[e]];
                if (b->level < 0) {
                    *b = (reached){ level + 1, path };
                    out[(*n)++].keyword = o->to[e];
                } else if (b->level == level + 1 && path > b->path) {
                    b->path = path;
                }
            }
        }
        from = end;
    }
}

spot_status spot_ontology_expand(spot_ctx *c, spot_expanded *out, int *n, const spot_ontology *o, const int *detected,
                                 int count, const spot_expansion *rule)
{
    reached *at = malloc(((size_t)o->keywords + 1) * sizeof *at);

    *n = 0;
    if (!at) return spot_fail(c, SPOT_NOMEM, "no memory for %d keywords", o->keywords);
    for (int k = 0; k < o->keywords; k++) at[k].level = -1;
    for (int i = 0; i < count; i++) {
        if (detected[i] < 0 || detected[i] >= o->keywords)
            return free(at), spot_fail(c, SPOT_INVALID, "{keyword.number} keyword %d of %d", detected[i], o->keywords);
        if (at[detected[i]].level == 0) continue;
        at[detected[i]] = (reached){ 0, 1 };
        out[(*n)++].keyword = detected[i];
    }
    expand(out, n, at, o, rule);
    for (int i = 0; i < *n; i++) {
        out[i].level = at[out[i].keyword].level;
        out[i].path = at[out[i].keyword].path;
    }
    free(at);
    qsort(out, (size_t)*n, sizeof *out, compare_expanded);
    if (rule->most && *n > rule->most) *n = rule->most;
    return SPOT_OK;
}
