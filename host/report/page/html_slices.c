/* html_slices.c - a slice on the page of findings: its numbers, its words, what was tested, other models' rates. */
#include <stdlib.h>

#include "report/page/html_findings.h"
#include "result/result.h"

int spot_page_class_of(const spot_subject *s, int i, int cls) { return cls >= 0 ? cls : s->target ? s->target[i] : cls; }

/* ---- the wrong rows ---- */

/* The class that most wrong rows are taken for, the least of equal ones, and its share of them; -1: not known. */
static int mistaken_for(const spot_subject *s, const spot_slice *k, int cls, double *share)
{
    int *count = calloc((size_t)s->classes + 1, sizeof *count), best = -1;

    for (int i = 0; count && i < k->size; i++) {
        int to = spot_subject_predicted(s, k->row[i]);
        if (to < 0 || !spot_subject_wrong(s, k->row[i], spot_page_class_of(s, k->row[i], cls))) continue;
        count[to]++;
        if (best < 0 || count[to] > count[best] || (count[to] == count[best] && to < best)) best = to;
    }
    *share = best < 0 ? 0 : (double)count[best] / k->wrong;
    free(count);
    return best;
}

static void write_mistakes(spot_findings_page *r, int model, const spot_finding *f, const spot_slice *s)
{
    const spot_proof *v = s->proof;
    double share = v ? v->predicted_share : 0;
    int to = v ? v->predicted : -1;

    if (to < 0) to = mistaken_for(r->s[model], s, f->cls, &share);
    if (to < 0 || to >= r->s[model]->classes) return;
    spot_json_put_int(r->p->at, "taken", to);
    spot_page_real(r->p, "taken_share", share);
}

/* Each model's number of wrong rows in the slice. */
static void write_others(spot_findings_page *r, int model, const spot_finding *f, const spot_slice *s)
{
    spot_json_array(r->p->at, "others", 0, 0);
    for (int k = 0; k < r->models; k++) {
        int wrong = 0;
        for (int i = 0; i < s->size; i++) {
            int row = r->mine[k][r->row[model][s->row[i]]];
            wrong += spot_subject_wrong(r->s[k], row, spot_page_class_of(r->s[k], row, f->cls));
        }
        spot_json_put_int(r->p->at, NULL, wrong);
    }
    spot_json_end(r->p->at);
}

void spot_page_slice(spot_findings_page *r, int model, const spot_finding *f, const spot_slice *s)
{
    spot_page *p = r->p;
    const spot_proof *v = s->proof;
    const spot_slice_list *e = &r->entries[model];
    char note[SPOT_GROUPS_NOTE];
    const int at = (int)((f - r->f[model]->finding) * SPOT_MAX_HYPOTHESES + (s - f->slice));

    spot_json_object(p->at, NULL);
    spot_quantities_put(p->at, spot_slice_object.rows, &(spot_slice_row){
        r->s[model], r->o[model], s, v, (int)(s - f->slice) + 1, e->number[at], e->entry_of[at] });
    spot_json_put_int(p->at, "kind", (int)spot_slice_kind_of(f, s));
    spot_json_put_interval(p->at, "interval", v ? spot_share_of(v->wrong, v->judged) : spot_share_of(s->wrong, s->size));
    spot_json_array(p->at, "near", 0, 0);
    for (int i = 0; i < s->neighbours; i++) spot_json_put_int(p->at, NULL, r->local[s->neighbour[i]]);
    spot_json_end(p->at);
    if (v && *spot_groups_note(note, r->s[model], s, r->o[model]->proof->level)) spot_page_text(p, "note", note);
    write_mistakes(r, model, f, s);
    if (r->models > 1) write_others(r, model, f, s);
    spot_json_end(p->at);
}
