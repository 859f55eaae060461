/* suite_spaces.c - the subspaces from which the backgrounds of a target are taken (paper 003, 4.2.1). */
#include <stdlib.h>
#include <string.h>

#include "background/suite/suite_work.h"
#include "spotter/ontology.h"
#include "spotter/rng.h"

enum { LAST_SPACE = 1 << 20 };             /* address of the last subspace's random numbers */

struct spot_suite_drawer {
    const spot_suite_work *w;
    int  *first, *back;                    /* backgrounds of keyword k: back[first[k]] .. back[first[k + 1] - 1], allowed
                                            * ones */
    int   graphs;                          /* 1, or one for each class */
    spot_ontology *graph;
};

/* ---- what targets share ---- */

static spot_status list_backgrounds(spot_ctx *c, spot_suite_drawer *d)
{
    const spot_baskets *b = &d->w->keywords.backgrounds;
    const int words = d->w->keywords.words;

    d->first = calloc((size_t)words + 2, sizeof *d->first);
    d->back = malloc(((size_t)(words ? b->first[b->transactions] : 0) + 1) * sizeof *d->back);
    if (!d->first || !d->back) return spot_fail(c, SPOT_NOMEM, "no memory for the keywords of backgrounds");
    if (!words) return SPOT_OK;
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < b->transactions; t++)
            for (int i = b->first[t]; i < b->first[t + 1] && !d->w->excluded[t]; i++)
                if (pass) d->back[d->first[b->item[i]]++] = t;
                else d->first[b->item[i] + 1]++;
        for (int k = 0; k < words && !pass; k++) d->first[k + 1] += d->first[k];
    }
    memmove(d->first + 1, d->first, (size_t)words * sizeof *d->first);
    d->first[0] = 0;
    return SPOT_OK;
}

static spot_status build_graphs(spot_ctx *c, spot_suite_drawer *d)
{
    const spot_background_ontology *o = &d->w->in->cfg->ontology;
    const spot_baskets *b = &d->w->keywords.images;
    int *rows = malloc(((size_t)b->transactions + 1) * sizeof *rows);
    spot_status s = rows ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the ontology");
    const int graphs = o->by_class ? d->w->in->classes : 1;

    d->graph = calloc((size_t)graphs, sizeof *d->graph);
    if (s == SPOT_OK && !d->graph) s = spot_fail(c, SPOT_NOMEM, "no memory for the ontology");
    for (int g = 0; g < graphs && s == SPOT_OK; g++) {
        int n = 0;
        for (int t = 0; t < b->transactions; t++)
            if (!o->by_class || d->w->in->cls[d->w->picture[t]] == g) rows[n++] = t;
        s = spot_ontology_build(c, &d->graph[g], b, o->by_class ? rows : NULL, n, o->support, o->confidence);
        d->graphs = g + 1;
    }
    free(rows);
    return s;
}

spot_status spot_suite_drawer_open(spot_ctx *c, spot_suite_drawer **out, const spot_suite_work *w)
{
    spot_suite_drawer *d = *out = calloc(1, sizeof *d);

    if (!d) return spot_fail(c, SPOT_NOMEM, "no memory for the suite");
    d->w = w;
    SPOT_TRY(list_backgrounds(c, d));
    return w->in->cfg->suite.choice == SPOT_SUITE_ONTOLOGY ? build_graphs(c, d) : SPOT_OK;
}

void spot_suite_drawer_close(spot_suite_drawer *d)
{
    if (!d) return;
    for (int g = 0; g < d->graphs; g++) spot_ontology_close(&d->graph[g]);
    free(d->graph), free(d->first), free(d->back);
    free(d);
}

/* ---- one target ---- */

typedef struct { float distance; int back; } near;

static int compare_near(const void *a, const void *b)
{
    const near *x = a, *y = b;

    return x->distance != y->distance ? (x->distance > y->distance) - (x->distance < y->distance)
                                      : (x->back > y->back) - (x->back < y->back);
}

static bool is_own(const spot_suite_work *w, int picture, int back)
{
    return (w->in->back_key[back].hi == w->in->picture_key[picture].hi
            && w->in->back_key[back].lo == w->in->picture_key[picture].lo)
        || !strcmp(w->in->back_path[back], w->in->path[picture]);
}

/* Shuffles order[from .. to) by an address of its own. */
static void shuffle_space(int *order, int from, int to, const spot_suite_work *w, int picture, int space)
{
    spot_rng r = spot_rng_at(w->in->cfg->suite.seed, SPOT_RNG_BACKGROUND, (uint32_t)picture, (uint32_t)space);

    for (int i = to - from; i > 1; i--) {
        const int k = (int)spot_rng_below(&r, (uint32_t)i), swap = order[from + i - 1];
        order[from + i - 1] = order[from + k];
        order[from + k] = swap;
    }
}

/* Appends candidates as a subspace. room: how many more `order` takes. */
static spot_status add_space(spot_ctx *c, spot_suite_spaces *p, const int *back, int n, int word, int level)
{
    int *first = realloc(p->first, ((size_t)p->spaces + 2) * sizeof *first);
    if (first) p->first = first;
    int *words = first ? realloc(p->word, ((size_t)p->spaces + 1) * sizeof *words) : NULL;
    if (words) p->word = words;
    uint8_t *levels = words ? realloc(p->level, (size_t)p->spaces + 1) : NULL;
    if (levels) p->level = levels;
    if (!p->spaces && first) first[0] = 0;
    int *order = levels ? realloc(p->order, ((size_t)first[p->spaces] + (size_t)n + 1) * sizeof *order) : NULL;
    if (!order) return spot_fail(c, SPOT_NOMEM, "no memory for the candidates of a target");
    p->order = order;
    memcpy(order + first[p->spaces], back, (size_t)n * sizeof *back);
    first[p->spaces + 1] = first[p->spaces] + n;
    words[p->spaces] = word;
    levels[p->spaces++] = (uint8_t)level;
    return SPOT_OK;
}

static spot_status add_keyword(spot_ctx *c, spot_suite_spaces *p, const spot_suite_drawer *d, int target, int word, int level)
{
    const int n = d->first[word + 1] - d->first[word];

    if (!n) return SPOT_OK;
    SPOT_TRY(add_space(c, p, d->back + d->first[word], n, word, level));
    shuffle_space(p->order, p->first[p->spaces - 1], p->first[p->spaces], d->w, d->w->picture[target], word + 1);
    return SPOT_OK;
}

static spot_status add_words(spot_ctx *c, spot_suite_spaces *p, const spot_suite_drawer *d, int target)
{
    const spot_suite_work *w = d->w;

    for (int k = 0; k < w->similar_words; k++)
        SPOT_TRY(add_keyword(c, p, d, target, w->similar[(size_t)target * (size_t)w->similar_words + (size_t)k], 0));
    return SPOT_OK;
}

/* Where keywords are more than N, the nearest levels and the best paths count; those without a background are none. */
static spot_status add_expanded(spot_ctx *c, spot_suite_spaces *p, const spot_suite_drawer *d, int target)
{
    const spot_suite_work *w = d->w;
    const spot_background_ontology *o = &w->in->cfg->ontology;
    const spot_baskets *b = &w->keywords.images;
    const spot_ontology *graph = &d->graph[o->by_class ? w->in->cls[w->picture[target]] : 0];
    const spot_expansion rule = { o->least, o->levels, 0, o->measure, o->alpha };
    spot_expanded *out = malloc(((size_t)w->keywords.words + 1) * sizeof *out);
    int n = 0;
    spot_status s;

    if (!out) return spot_fail(c, SPOT_NOMEM, "no memory for the keywords of a target");
    s = spot_ontology_expand(c, out, &n, graph, b->item + b->first[target], b->first[target + 1] - b->first[target], &rule);
    for (int i = 0; i < n && p->spaces < w->in->cfg->suite.n && s == SPOT_OK; i++)
        s = add_keyword(c, p, d, target, out[i].keyword, out[i].level);
    free(out);
    return s;
}

/* All allowed backgrounds by distance. */
static void sort_near(near *list, const int *back, int n, const spot_suite_work *w, int target)
{
    const size_t dim = (size_t)w->encoders->dim;

    for (int i = 0; i < n; i++)
        list[i] = (near){ spot_suite_distance(w->encoders, w->row + (size_t)target * dim, w->back_row + (size_t)back[i] * dim),
                          back[i] };
    qsort(list, (size_t)n, sizeof *list, compare_near);
}

/* N equal bins between the least and the greatest distance. */
static spot_status add_bins(spot_ctx *c, spot_suite_spaces *p, const near *list, int *back, int n, const spot_suite_drawer *d,
                            int target)
{
    const int bins = d->w->in->cfg->suite.n;
    const double least = list[0].distance, width = (list[n - 1].distance - least) / bins;

    for (int i = 0, from = 0; from < n; from = i) {
        const int bin = width > 0 ? (int)((list[from].distance - least) / width) : 0;
        for (; i < n && (bin >= bins - 1 || !(width > 0) || (int)((list[i].distance - least) / width) == bin); i++)
            back[i] = list[i].back;
        SPOT_TRY(add_space(c, p, back + from, i - from, -1, 0));
        shuffle_space(p->order, p->first[p->spaces - 1], p->first[p->spaces], d->w, d->w->picture[target], bin + 1);
    }
    return SPOT_OK;
}

static spot_status add_by_distance(spot_ctx *c, spot_suite_spaces *p, int *back, int n, const spot_suite_drawer *d, int target)
{
    near *list = malloc(((size_t)n + 1) * sizeof *list);
    spot_status s;

    if (!list) return spot_fail(c, SPOT_NOMEM, "no memory for the candidates of a target");
    sort_near(list, back, n, d->w, target);
    if (d->w->in->cfg->suite.choice == SPOT_SUITE_INTERVAL) s = add_bins(c, p, list, back, n, d, target);
    else {
        for (int i = 0; i < n; i++) back[i] = list[i].back;
        s = add_space(c, p, back, n, -1, 0);
    }
    free(list);
    return s;
}

spot_status spot_suite_spaces_of(spot_ctx *c, spot_suite_spaces *p, const spot_suite_drawer *d, int target)
{
    const spot_suite_work *w = d->w;
    int *back = malloc(((size_t)w->allowed_count + 1) * sizeof *back), n = 0;
    spot_status s = SPOT_OK;

    *p = (spot_suite_spaces){ 0 };
    if (!back) return spot_fail(c, SPOT_NOMEM, "no memory for the candidates of a target");
    for (int i = 0; i < w->allowed_count; i++)
        if (is_own(w, w->picture[target], w->allowed[i])) p->own++;
        else back[n++] = w->allowed[i];
    switch (w->in->cfg->suite.choice) {
    case SPOT_SUITE_CLIP:     s = add_words(c, p, d, target); break;
    case SPOT_SUITE_ONTOLOGY: s = add_expanded(c, p, d, target); break;
    case SPOT_SUITE_NEAREST:
    case SPOT_SUITE_INTERVAL: if (n) s = add_by_distance(c, p, back, n, d, target); break;
    default:                  break;
    }
    if (s == SPOT_OK) s = add_space(c, p, back, n, -1, 0);
    if (s == SPOT_OK) shuffle_space(p->order, p->first[p->spaces - 1], p->first[p->spaces], w, w->picture[target], LAST_SPACE);
    free(back);
    return s;
}

void spot_suite_spaces_free(spot_suite_spaces *p)
{
    free(p->first), free(p->order), free(p->word), free(p->level);
    *p = (spot_suite_spaces){ 0 };
}
