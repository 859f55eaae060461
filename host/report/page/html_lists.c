/* html_lists.c - what the page of findings has beside slices: the list of entries with classes and summary, the labels that may
 * be wrong, the attributes with which a reader counts a rule. */
#include <math.h>
#include <stdlib.h>

#include "report/page/html_findings.h"
#include "result/result.h"

/* Rows whose labels may be wrong, and the class that each seems to have. */
static void write_suspects(spot_findings_page *r, int k)
{
    const spot_suspects *x = &r->f[k]->suspects;
    int32_t *row = x->known ? malloc(((size_t)x->count + 1) * sizeof *row) : NULL;

    if (!x->known) return;
    if (!row) { r->p->blocks.status = SPOT_NOMEM; return; }
    for (int i = 0; i < x->count; i++) row[i] = r->row[k][x->row[i]];
    spot_page_block(r->p, "suspects", row, (size_t)x->count * sizeof *row);
    for (int i = 0; i < x->count; i++) row[i] = x->cls[i];
    spot_page_block(r->p, "suspect_classes", row, (size_t)x->count * sizeof *row);
    free(row);
}

/* As a block: an entry repeats what its slice says, which deflates well. */
void spot_page_list(spot_findings_page *r, int k)
{
    spot_page *p = r->p;
    spot_json j;
    spot_status how = spot_json_begin(p->c, &j, NULL);

    if (how == SPOT_OK) {
        spot_json_object(&j, NULL);
        spot_slice_list_members.put(&j, &(spot_slice_list_row){ &r->entries[k], r->f[k], r->s[k], r->o[k], NULL });
        spot_json_end(&j);
        how = spot_json_whole(p->c, &j, "the list");
        if (how == SPOT_OK) spot_page_block(p, "list", j.out.bytes, j.out.used);
        spot_json_free(&j);
    }
    if (how) p->blocks.status = how;
    write_suspects(r, k);
}

void spot_page_decided(spot_page *p, const spot_decided *d)
{
    if (!d->rows || isnan(d->wrong)) return;
    spot_json_object(p->at, "features");
    spot_page_real(p, "same", d->same);
    spot_page_real(p, "expected", d->expected);
    spot_page_real(p, "wrong", d->wrong);
    if (d->decide) spot_json_put_int(p->at, "decide", 1);
    spot_json_end(p->at);
}

/* Whether a row of model k is wrong, a byte each, by the first model's rows; also of classes that were not examined. */
static void write_wrong(spot_findings_page *r, int k)
{
    const spot_subject *s = r->s[k];
    uint8_t *wrong = s->target ? malloc((size_t)s->n + 1) : NULL;

    if (!s->target) return;
    if (!wrong) { r->p->blocks.status = SPOT_NOMEM; return; }
    for (int i = 0; i < s->n; i++) wrong[r->row[k][i]] = spot_subject_wrong(s, i, s->target[i]);
    spot_page_block(r->p, "wrong_rows", wrong, (size_t)s->n);
    free(wrong);
}

static void write_thirds(spot_page *p, const spot_attributes *a, uint8_t *third)
{
    for (int k = 0; k < a->items; k++) third[k] = !isnan(a->range[k][1]);
    spot_page_block(p, "thirds", third, (size_t)a->items);
}

void spot_page_attributes(spot_findings_page *r)
{
    enum { PART = 8 };         /* of the budget */
    const spot_attributes *a = r->o[0]->attributes;
    const size_t width = ((size_t)r->s[0]->n + 7) / 8;
    uint8_t *bits;

    if (!a || !a->items || (!r->p->o->full && width * (size_t)a->items > r->p->o->budget / PART)) return;
    bits = malloc((width + 1) * (size_t)a->items + 1);
    if (!bits) { r->p->blocks.status = SPOT_NOMEM; return; }
    for (int k = 0; k < a->items; k++)
        for (size_t i = 0; i < width; i++)
            bits[(size_t)k * width + i] = (uint8_t)(a->bit[(size_t)k * a->words + i / 8] >> 8 * (i % 8));
    spot_json_object(r->p->at, "attributes");
    spot_page_words(r->p, "names", a->name, a->items);
    spot_page_block(r->p, "bits", bits, width * (size_t)a->items);
    write_thirds(r->p, a, bits);
    spot_json_array(r->p->at, "models", 0, 0);
    for (int k = 0; k < r->models; k++) {
        spot_json_object(r->p->at, NULL);
        write_wrong(r, k);
        spot_json_end(r->p->at);
    }
    spot_json_end(r->p->at);
    spot_json_end(r->p->at);
    free(bits);
}
