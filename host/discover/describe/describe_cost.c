/* describe_cost.c - memory and time of the descriptions of a search that is still to be made. How many slices there will be is
 * not known: as many as the methods may give are counted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/describe/describe_files.h"
#include "discover/describe/describe_terms.h"
#include "discover/search/search.h"

enum { SAMPLE = 2000, ROUNDS = 16, PICTURES = 8 };     /* rows, random groups and pictures of the trials */

typedef struct {
    spot_ctx *c;
    const spot_describer *d;
    const spot_subject *s;
    int slices;                        /* of a class */
    const spot_candidate *candidate;
    int count, largest;                /* classes; rows of the largest */
} plan;

static int most_slices(const spot_discover_options *o)
{
    int slices = 0;

    for (int b = 0; b < o->bdms; b++) slices += o->bdm[b].top < SPOT_MAX_HYPOTHESES ? o->bdm[b].top : SPOT_MAX_HYPOTHESES;
    return slices * o->seeds;
}

static spot_words_problem words_of(const plan *p, int rows)
{
    return (spot_words_problem){ .n = rows, .d = p->d->o.d, .phrases = p->d->o.phrases, .text = p->d->text,
                                 .phrase = p->d->phrase, .groups = p->slices, .most = p->d->o.most, .rounds = p->d->o.rounds };
}

/* ---- memory ---- */

/* Held from now on: the encoder, the phrases and their features, the attributes. */
static spot_bytes held_bytes(const plan *p)
{
    const spot_describer *d = p->d;
    spot_bytes held = { (size_t)d->o.phrases * ((size_t)d->o.d * sizeof(float) + 64), 0 };

    held.host += (size_t)d->attributes.items * (d->attributes.words * 8 + 64);
    if (d->encoder) *(p->c->device ? &held.device : &held.host) += spot_encoder_about(d->encoder)->bytes;
    return held;
}

/* Taken after the search: features of pictures, the arrays of the largest class, and the result. */
static spot_status run_bytes(const plan *p, size_t *bytes)
{
    const size_t n = (size_t)p->s->n, rows = (size_t)p->largest, slices = (size_t)p->slices;
    const spot_words_problem words = words_of(p, p->largest);
    const spot_conjunctions_problem items = { .attributes = &p->d->attributes, .n = p->largest, .groups = p->slices };
    size_t of_words = 0, of_items = 0;

    *bytes = n * sizeof(int) + rows * (sizeof(int) + 1) + slices * rows * sizeof(int);
    *bytes += ((size_t)p->count + 1) * slices * spot_description_bytes(p->d->o.most);
    *bytes += (size_t)p->d->o.phrases * 64 + (size_t)p->d->attributes.items * 64;
    if (p->d->encoder) *bytes += n * ((size_t)p->d->o.d * sizeof(float) + sizeof(int) + sizeof(char *) + 2);
    if (p->d->text) {
        SPOT_TRY(spot_words_needs(p->c, &of_words, &words));
        if (p->largest < p->s->n) of_words += rows * (size_t)p->d->o.d * sizeof(float);
    }
    if (p->d->o.attributes) SPOT_TRY(spot_conjunctions_needs(p->c, &of_items, &items));
    *bytes += of_words > of_items ? of_words : of_items;
    return SPOT_OK;
}

/* ---- time ---- */

static double all_rows(const plan *p)
{
    double rows = 0;

    for (int i = 0; i < p->count; i++) rows += p->candidate[i].n;
    return rows;
}

/* Encodes a few pictures; the first one prepares the kernels. */
static spot_status time_pictures(const plan *p, double *seconds)
{
    const double rows = all_rows(p) < p->s->n ? all_rows(p) : p->s->n;
    char *path[PICTURES];
    uint8_t unreadable[PICTURES];
    int n = 0;
    double start;
    spot_encoder_pictures few = { .path = path, .unreadable = unreadable };
    spot_status how;

    for (int i = 0; i < p->s->n && n < PICTURES; i++)
        if (p->s->image[i]) path[n++] = p->s->image[i];
    if (!n) return SPOT_OK;
    few.feature = malloc((size_t)n * (size_t)p->d->o.d * sizeof(float));
    if (!few.feature) return spot_fail(p->c, SPOT_NOMEM, "no memory for %d pictures", n);
    few.n = 1;
    how = spot_encode_pictures(p->c, p->d->encoder, &few);
    few.n = n;
    start = spot_clock();
    if (how == SPOT_OK) how = spot_encode_pictures(p->c, p->d->encoder, &few);
    *seconds += (spot_clock() - start) / n * rows;
    free(few.feature);
    return how;
}

/* Seconds of the words of p->slices groups, or of one conjunction; a group is a tenth of n rows. */
static spot_status time_groups(const plan *p, int n, const float *feature, int rounds, bool words, double *seconds)
{
    const int size = n > 10 ? n / 10 : 1, groups = words ? p->slices : 1;
    int *row = malloc((size_t)n * sizeof *row), *kept = malloc((size_t)groups * sizeof *kept);
    spot_group *group = malloc((size_t)groups * sizeof *group);
    spot_word *word = malloc((size_t)groups * (size_t)p->d->o.most * sizeof *word);
    uint8_t *wrong = calloc((size_t)n, 1);
    spot_conjunction best;
    spot_words_problem w = words_of(p, n);
    spot_conjunctions_problem items = { .attributes = &p->d->attributes, .n = n, .row = row, .wrong = wrong, .groups = 1,
                                        .group = group };
    double start = spot_clock();
    spot_status how;

    if (!row || !kept || !group || !word || !wrong) how = spot_fail(p->c, SPOT_NOMEM, "no memory for %d groups", groups);
    else {
        for (int i = 0; i < n; i++) row[i] = i;
        for (int g = 0; g < groups; g++) group[g] = (spot_group){ row + g * size % (n - size + 1), size };
        w.feature = feature, w.group = group, w.rounds = rounds;
        how = words ? spot_words_find(p->c, word, kept, &w) : spot_conjunctions_find(p->c, &best, &items);
    }
    *seconds = spot_clock() - start;
    free(row), free(kept), free(group), free(word), free(wrong);
    return how;
}

/* Rows that are all alike in size are enough: the work does not depend on the numbers. */
static spot_status time_words(const plan *p, double *seconds)
{
    const int n = p->largest < SAMPLE ? p->largest : SAMPLE, rounds = p->d->o.rounds < ROUNDS ? p->d->o.rounds : ROUNDS;
    const size_t numbers = (size_t)n * (size_t)p->d->o.d;
    const double product = (double)p->slices * p->d->o.phrases / 8;      /* a product's sum takes an eighth of a row's */
    float *feature = malloc(numbers * sizeof *feature);
    double rows = all_rows(p), once, with;
    spot_status how = feature ? SPOT_OK : spot_fail(p->c, SPOT_NOMEM, "no memory for %d rows", n);

    for (size_t i = 0; feature && i < numbers; i++) feature[i] = 1 + (float)(i * 2654435761u % 1021) / 1021;
    if (how == SPOT_OK) how = time_groups(p, n, feature, 0, true, &once);
    if (how == SPOT_OK) how = time_groups(p, n, feature, rounds, true, &with);
    free(feature);
    SPOT_TRY(how);
    *seconds += once * rows / n;
    if (rounds && with > once)
        *seconds += (with - once) / rounds * p->d->o.rounds * (rows / 2 + p->count * product) / (n / 2.0 + product);
    return SPOT_OK;
}

static spot_status time_items(const plan *p, double *seconds)
{
    const int n = p->largest < SAMPLE ? p->largest : SAMPLE;
    double one;

    SPOT_TRY(time_groups(p, n, NULL, 0, false, &one));
    *seconds += one * p->slices * all_rows(p) / n;
    return SPOT_OK;
}

static spot_status time_all(const plan *p, double *seconds)
{
    if (p->d->encoder) SPOT_TRY(time_pictures(p, seconds));
    if (p->d->text) SPOT_TRY(time_words(p, seconds));
    return p->d->o.attributes ? time_items(p, seconds) : SPOT_OK;
}

/* ---- all ---- */

static void choose_largest(plan *p)
{
    for (int i = 0; i < p->count; i++)
        if (p->candidate[i].n > p->largest) p->largest = p->candidate[i].n;
}

spot_status spot_describer_cost(spot_ctx *c, const spot_describer *d, const spot_subject *s, const spot_discover_options *o,
                                spot_bytes *cost, double *seconds)
{
    spot_ctx quiet = { .ops = c->ops, .device = c->device, .threads = c->threads, .stop = c->stop };
    plan p = { .c = c, .d = d, .s = s, .slices = most_slices(o) };
    spot_candidate *list = NULL;
    size_t kept, run = 0;
    spot_bytes held;
    int left_out;
    spot_status how;

    if (!d->text && !d->o.attributes) return SPOT_OK;
    how = spot_candidates(c, s, o, &list, &p.count, &left_out);
    p.candidate = list;
    if (how == SPOT_OK) choose_largest(&p);
    if (how == SPOT_OK) how = run_bytes(&p, &run);
    if (how == SPOT_OK) {
        held = held_bytes(&p);
        kept = spot_subject_bytes(s) + spot_findings_bytes(s, o, list, p.count);
        cost->host = (cost->host > kept + run ? cost->host : kept + run) + held.host;
        cost->device += held.device;
        p.c = &quiet;                  /* a trial that fails makes the time unknown */
        if (isfinite(*seconds) && time_all(&p, seconds)) *seconds = NAN;
        if (o->memory && cost->host > o->memory)
            how = spot_fail(c, SPOT_NOMEM, "the search with its descriptions takes %.2f GB of memory, and there are %.2f GB; "
                            "give more, or fewer phrases or attributes", cost->host / 1e9, o->memory / 1e9);
    }
    free(list);
    return how;
}
