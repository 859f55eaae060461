/* describe.c - spot_findings_describe: a class at a time, the slices of all of its findings together. */
#include <stdlib.h>
#include <string.h>

#include "discover/describe/describe_terms.h"
#include "discover/search/search.h"

typedef struct {
    spot_ctx *c;
    spot_findings *f;
    const spot_subject *s;
    const spot_describe_options *o;
    char **phrase;                     /* (phrases) in the findings' memory */
    spot_attributes attributes;        /* with the names in the findings' memory */
} telling;

/* A class: its findings, and its slices as groups of those rows that are kept. */
typedef struct {
    const spot_finding *f;
    spot_finding *first, *end;
    int   n, slices;
    int  *kept;                        /* (f->n): rows of the subject that are kept, n of them */
    int  *place;                       /* (s->n): index of a kept row; -1: not kept */
    int  *member;                      /* the rows of the groups, one after another */
    spot_group *group;                 /* (slices) */
    spot_word  *word;                  /* (slices, most) */
    int        *words;                 /* (slices) */
    float      *feature;               /* (n, d); NULL: borrowed */
    uint8_t    *wrong;                 /* (n) */
    spot_conjunction *conjunction;     /* (slices) */
} portrait;

spot_describe_options spot_describe_defaults(void) { return (spot_describe_options){ .most = 5, .rounds = 999 }; }

/* ---- a class ---- */

static spot_status open_portrait(const telling *t, portrait *k, spot_finding *first)
{
    const spot_finding *all = t->f->finding + t->f->count;
    size_t members = 0, slices = 0;

    *k = (portrait){ .f = first, .first = first, .end = first };
    for (; k->end < all && k->end->cls == first->cls; k->end++) {
        slices += (size_t)k->end->slices;
        for (int i = 0; i < k->end->slices; i++) members += (size_t)k->end->slice[i].size;
    }
    k->slices = (int)slices;
    k->kept = malloc(((size_t)first->n + 1) * sizeof *k->kept);
    k->place = malloc(((size_t)t->s->n + 1) * sizeof *k->place);
    k->member = malloc((members + 1) * sizeof *k->member);
    k->group = malloc((slices + 1) * sizeof *k->group);
    k->word = malloc((slices * (size_t)t->o->most + 1) * sizeof *k->word);
    k->words = calloc(slices + 1, sizeof *k->words);
    k->wrong = malloc((size_t)first->n + 1);
    k->conjunction = malloc((slices + 1) * sizeof *k->conjunction);
    if (!k->kept || !k->place || !k->member || !k->group || !k->word || !k->words || !k->wrong || !k->conjunction)
        return spot_fail(t->c, SPOT_NOMEM, "no memory to describe %zu slices of %d rows", slices, first->n);
    return SPOT_OK;
}

static void close_portrait(portrait *k)
{
    void *const all[] = { k->kept, k->place, k->member, k->group, k->word, k->words, k->feature, k->wrong, k->conjunction };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* The class's rows without those that are missing, and the groups by their indices. */
static void keep_rows(const telling *t, portrait *k, const uint8_t *missing)
{
    int *member = k->member, g = 0;

    memset(k->place, -1, (size_t)t->s->n * sizeof *k->place);
    k->n = 0;
    for (int i = 0; i < k->f->n; i++) {
        const int row = k->f->row[i];
        if (missing && missing[row]) continue;
        k->wrong[k->n] = spot_subject_wrong(t->s, row, k->f->cls);
        k->place[row] = k->n;
        k->kept[k->n++] = row;
    }
    for (const spot_finding *f = k->first; f < k->end; f++)
        for (int i = 0; i < f->slices; i++, g++) {
            k->group[g] = (spot_group){ .row = member };
            for (int r = 0; r < f->slice[i].size; r++)
                if (k->place[f->slice[i].row[r]] >= 0) member[k->group[g].n++] = k->place[f->slice[i].row[r]];
            member += k->group[g].n;
        }
}

/* The seed's problem is the class, as it is for the methods. */
static spot_seed seed_of(const telling *t, const portrait *k)
{
    return (spot_seed){ t->o->seed, k->f->cls < 0 ? (uint32_t)t->s->classes : (uint32_t)k->f->cls };
}

static spot_status find_words(const telling *t, portrait *k)
{
    const spot_describe_options *o = t->o;
    const float *from = o->feature ? o->feature : t->s->feature;
    const size_t d = (size_t)(o->feature ? o->d : t->s->d);
    spot_words_problem p = { .d = (int)d, .feature = from, .phrases = o->phrases, .text = o->text, .phrase = t->phrase,
                             .groups = k->slices, .group = k->group, .most = o->most, .rounds = o->rounds,
                             .seed = seed_of(t, k) };

    keep_rows(t, k, o->missing);
    memset(k->words, 0, (size_t)k->slices * sizeof *k->words);
    if (!k->n) return SPOT_OK;
    p.n = k->n;
    if (k->n < t->s->n) {
        k->feature = malloc((size_t)k->n * d * sizeof *k->feature);
        if (!k->feature) return spot_fail(t->c, SPOT_NOMEM, "no memory to describe %d rows of %zu numbers", k->n, d);
        for (int i = 0; i < k->n; i++) memcpy(k->feature + i * d, from + (size_t)k->kept[i] * d, d * sizeof *from);
        p.feature = k->feature;
    }
    return spot_words_find(t->c, k->word, k->words, &p);
}

static spot_status find_conjunctions(const telling *t, portrait *k)
{
    spot_conjunctions_problem p = { .attributes = &t->attributes, .row = k->kept, .wrong = k->wrong, .groups = k->slices,
                                    .group = k->group, .seed = seed_of(t, k) };

    keep_rows(t, k, NULL);
    p.n = k->n;
    if (!t->o->text) SPOT_TRY(spot_terms_find(t->c, k->word, k->words, t->o->most, &p));
    return spot_conjunctions_find(t->c, k->conjunction, &p);
}

/* Copies the descriptions into the findings. */
static spot_status give_descriptions(const telling *t, const portrait *k)
{
    spot_arena *a = &t->f->described;
    int g = 0;

    for (spot_finding *f = k->first; f < k->end; f++)
        for (int i = 0; i < f->slices; i++, g++) {
            spot_slice *s = &f->slice[i];
            if (k->words[g]) {
                s->words = k->words[g];
                SPOT_TRY(SPOT_TAKE(t->c, a, s->word, s->words));
                memcpy(s->word, k->word + (size_t)g * (size_t)t->o->most, (size_t)s->words * sizeof *s->word);
            }
            if (!t->o->attributes || !k->conjunction[g].items) continue;
            SPOT_TRY(SPOT_TAKE(t->c, a, s->conjunction, 1));
            *s->conjunction = k->conjunction[g];
        }
    return SPOT_OK;
}

static spot_status describe_class(const telling *t, portrait *k)
{
    if (!k->slices) return SPOT_OK;
    if (t->o->text) SPOT_TRY(find_words(t, k));
    if (t->o->attributes) SPOT_TRY(find_conjunctions(t, k));
    return give_descriptions(t, k);
}

/* ---- all ---- */

static spot_status copy_names(const telling *t, spot_arena *a, char ***out, char *const *name, int n)
{
    size_t bytes = 0;
    char *copy;

    for (int i = 0; i < n; i++) bytes += strlen(name[i]) + 1;
    SPOT_TRY(SPOT_TAKE(t->c, a, *out, n));
    SPOT_TRY(SPOT_TAKE(t->c, a, copy, bytes));
    for (int i = 0; i < n && !a->counting; i++) {
        const size_t own = strlen(name[i]) + 1;
        (*out)[i] = memcpy(copy, name[i], own);
        copy += own;
    }
    return SPOT_OK;
}

static spot_status copy_all_names(telling *t, spot_arena *a)
{
    const spot_describe_options *o = t->o;

    if (o->text) SPOT_TRY(copy_names(t, a, &t->phrase, o->phrase, o->phrases));
    if (!o->attributes) return SPOT_OK;
    t->attributes = *o->attributes;
    return copy_names(t, a, &t->attributes.name, o->attributes->name, o->attributes->items);
}

static void forget_descriptions(spot_findings *f)
{
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            spot_slice *s = &f->finding[i].slice[k];
            s->words = 0;
            s->word = NULL;
            s->conjunction = NULL;
        }
    spot_arena_close(&f->described);
}

static spot_status open_memory(telling *t)
{
    spot_arena size = spot_arena_counting();
    size_t slices = 0;

    SPOT_TRY(copy_all_names(t, &size));
    for (int i = 0; i < t->f->count; i++) slices += (size_t)t->f->finding[i].slices;
    size.peak += slices * spot_description_bytes(t->o->most);
    SPOT_TRY(spot_arena_open(t->c, &t->f->described, size.peak));
    return copy_all_names(t, &t->f->described);
}

spot_status spot_findings_describe(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_describe_options *o)
{
    telling t = { .c = c, .f = f, .s = s, .o = o };
    spot_status how;

    if (o->text && (o->phrases < 1 || o->most < 1 || (!o->feature && o->d != s->d)))
        return spot_fail(c, SPOT_INVALID, "describe: %d phrases of %d numbers, %d for a slice; the rows have %d numbers",
                         o->phrases, o->d, o->most, s->d);
    if (o->attributes && o->attributes->rows != s->n)
        return spot_fail(c, SPOT_INVALID, "describe: attributes of %d rows for %d rows", o->attributes->rows, s->n);
    forget_descriptions(f);
    how = open_memory(&t);
    for (int i = 0, next; i < f->count && how == SPOT_OK; i = next) {
        portrait k;
        spot_tell(c, "describe", -1, i, f->count, "");
        how = open_portrait(&t, &k, &f->finding[i]);
        next = (int)(k.end - f->finding);
        if (how == SPOT_OK) how = describe_class(&t, &k);
        close_portrait(&k);
        if (how == SPOT_OK) how = spot_check_stop(c);
    }
    if (how) forget_descriptions(f);
    return how;
}
