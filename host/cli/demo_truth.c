/* demo_truth.c - see demo_truth.h. */
#include "cli/demo_truth.h"

#include <stdio.h>
#include <stdlib.h>

enum { PER_CENT_OF_BOTH = 80 };        /* of the planted rows, and of the entry's: metric.lambda_p and lambda_r of the config */

/* Rows, and the bits of the planted blindspots that they belong to. */
typedef struct {
    const spot_ec *ec;
    const spot_subject *s;
    const spot_findings *f;
    spot_slice_list list;
    uint32_t *planted;                 /* (s->n) */
    bool *named;                       /* (list.count) */
} truth;

static const spot_slice *head_of(const truth *k, const spot_entry *e)
{
    return &k->f->finding[e->member[0].finding].slice[e->member[0].slice];
}

/* Rows of the entry's head that belong to one of these blindspots. */
static int rows_in(const truth *k, const spot_entry *e, uint32_t blindspots)
{
    const spot_slice *p = head_of(k, e);
    int n = 0;

    for (int i = 0; i < p->size; i++) n += (k->planted[p->row[i]] & blindspots) != 0;
    return n;
}

static void count_planted(const truth *k, int m, int *rows, int *wrong)
{
    *rows = *wrong = 0;
    for (int i = 0; i < k->s->n; i++) {
        if (!(k->planted[i] >> m & 1)) continue;
        ++*rows;
        *wrong += spot_subject_wrong(k->s, i, k->s->target[i]);
    }
}

/* The confirmed entry with the largest Jaccard index; NULL: none has a row of the blindspot. */
static spot_entry *nearest(const truth *k, int m, int rows)
{
    spot_entry *best = NULL;
    double most = 0;

    for (int i = 0; i < k->list.count; i++) {
        spot_entry *e = &k->list.entry[i];
        const int inside = rows_in(k, e, 1u << m);
        const double jaccard = (double)inside / (rows + head_of(k, e)->size - inside);
        if (e->claim != SPOT_SLICE_CONFIRMED || jaccard <= most) continue;
        best = e;
        most = jaccard;
    }
    return best;
}

static int tell_planted(truth *k, FILE *out, int m)
{
    char words[512];
    int rows, wrong, inside, size;
    const spot_entry *e;
    bool whole;

    count_planted(k, m, &rows, &wrong);
    spot_blindspot_describe(words, sizeof words, &k->ec->blindspot[m]);
    fprintf(out, "Planted: %s (%d rows, %d wrong). ", words, rows, wrong);
    e = nearest(k, m, rows);
    if (!e) {
        fprintf(out, "Not found.\n");
        return 0;
    }
    k->named[e - k->list.entry] = true;
    inside = rows_in(k, e, 1u << m);
    size = head_of(k, e)->size;
    whole = 100 * inside >= PER_CENT_OF_BOTH * rows && 100 * inside >= PER_CENT_OF_BOTH * size;
    fprintf(out, "%s: number %d has %d of them, and %d other%s.\n", whole ? "Found" : "Found in part", e->number, inside,
            size - inside, size - inside == 1 ? "" : "s");
    return whole;
}

static int tell(truth *k, FILE *out)
{
    int found = 0;

    fprintf(out, "The truth is known here: this classifier was trained with wrong labels for %d kind%s of pictures, its "
            "planted blindspots.\n", k->ec->blindspot_count, k->ec->blindspot_count == 1 ? "" : "s");
    for (int m = 0; m < k->ec->blindspot_count; m++) found += tell_planted(k, out, m);
    for (int i = 0; i < k->list.count; i++) {
        const spot_entry *e = &k->list.entry[i];
        if (e->claim != SPOT_SLICE_CONFIRMED || k->named[i]) continue;
        fprintf(out, "Number %d is confirmed, and none of the planted ones: %d of its %d rows are in them.\n", e->number,
                rows_in(k, e, ~0u), head_of(k, e)->size);
    }
    fprintf(out, "%d of %d planted blindspots are found.\n", found, k->ec->blindspot_count);
    return found;
}

static spot_status open_truth(spot_ctx *c, truth *k, const int *number)
{
    SPOT_TRY(spot_findings_entries(c, &k->list, k->f, k->s));
    k->planted = malloc(((size_t)k->s->n + 1) * sizeof *k->planted);
    k->named = calloc((size_t)k->list.count + 1, sizeof *k->named);
    if (!k->planted || !k->named) return spot_fail(c, SPOT_NOMEM, "no memory for the truth of %d rows", k->s->n);
    for (int i = 0; i < k->s->n; i++) {
        spot_image image;
        spot_image_draw(&image, k->ec, SPOT_TEST, (uint32_t)number[i]);
        k->planted[i] = image.blindspots;
    }
    return SPOT_OK;
}

spot_status cli_demo_truth(spot_ctx *c, spot_text *t, int *found, const spot_ec *ec, const int *number, const spot_findings *f,
                           const spot_subject *s)
{
    truth k = { .ec = ec, .s = s, .f = f };
    spot_status how = open_truth(c, &k, number);
    FILE *out = how ? NULL : spot_text_stream(t);

    if (out) *found = tell(&k, out);
    if (how == SPOT_OK && (!out || fclose(out) || t->status)) how = spot_fail(c, SPOT_NOMEM, "no memory for the truth");
    spot_slice_list_close(&k.list);
    free(k.planted);
    free(k.named);
    return how;
}
