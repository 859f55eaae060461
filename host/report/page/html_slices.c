/* html_slices.c - a slice on the page of findings: its numbers, its words, what was tested, other models' rates. */
#include <stdlib.h>

#include "report/page/html_findings.h"

int spot_page_class_of(const spot_subject *s, int i, int cls) { return cls >= 0 ? cls : s->target ? s->target[i] : cls; }

/* ---- words ---- */

static void write_match(spot_page *p, const char *key, const spot_match *m)
{
    spot_json_object(p->at, key);
    spot_json_put_int(p->at, "rows", m->rows);
    spot_json_put_int(p->at, "covered", m->covered);
    spot_json_put_int(p->at, "inside", m->inside);
    spot_page_real(p, "precision", m->precision);
    spot_page_real(p, "recall", m->recall);
    spot_page_real(p, "lift", m->lift);
    spot_page_real(p, "t", m->t);
    spot_page_real(p, "p", m->p);
    spot_json_end(p->at);
}

static void write_description(spot_page *p, const spot_slice *s)
{
    if (s->words) {
        spot_json_array(p->at, "words", 0, 0);
        for (int i = 0; i < s->words; i++) {
            spot_json_object(p->at, NULL);
            spot_page_text(p, "phrase", s->word[i].phrase);
            spot_page_real(p, "score", s->word[i].score);
            spot_page_real(p, "auc", s->word[i].auc);
            spot_page_real(p, "p", s->word[i].p);
            spot_json_end(p->at);
        }
        spot_json_end(p->at);
    }
    if (!s->conjunction) return;
    spot_json_object(p->at, "conjunction");
    spot_json_array(p->at, "items", 0, 0);
    for (int i = 0; i < s->conjunction->items; i++) spot_page_text(p, NULL, s->conjunction->name[i]);
    spot_json_end(p->at);
    write_match(p, "held_out", &s->conjunction->held_out);
    write_match(p, "all", &s->conjunction->all);
    spot_json_end(p->at);
}

/* ---- proofs ---- */

static void write_piece(spot_page *p, const spot_piece *e)
{
    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "method", e->bdm);
    spot_page_print(p, "seed", "%llu", (unsigned long long)e->seed);
    spot_json_put_int(p->at, "part", e->part);
    spot_json_put_int(p->at, "rank", e->rank);
    spot_json_put_int(p->at, "found", e->found);
    spot_json_put_int(p->at, "found_wrong", e->found_wrong);
    spot_json_put_int(p->at, "judged", e->judged);
    spot_json_put_int(p->at, "wrong", e->wrong);
    spot_page_real(p, "base", e->base);
    spot_page_real(p, "p", e->p);
    spot_page_real(p, "corrected", e->corrected);
    spot_json_end(p->at);
}

static void write_proof(spot_page *p, const spot_proof *v)
{
    spot_json_object(p->at, "proof");
    spot_json_put_int(p->at, "claim", v->claim);
    spot_page_real(p, "p", v->p);
    spot_json_put_int(p->at, "judged", v->judged);
    spot_json_put_int(p->at, "wrong", v->wrong);
    spot_page_real(p, "class_rate", v->class_rate);
    spot_page_interval(p, "excess", v->excess);
    spot_page_real(p, "shrunk", v->shrunk);
    spot_page_real(p, "cell", v->cell);
    spot_json_put_int(p->at, "tests", v->tests);
    if (v->cause) spot_json_put_int(p->at, "cause", v->cause);
    spot_json_array(p->at, "pieces", 0, 0);
    for (int i = 0; i < v->pieces; i++) write_piece(p, &v->piece[i]);
    spot_json_end(p->at);
    spot_json_end(p->at);
}

void spot_page_methods(spot_findings_page *r, int k)
{
    const spot_discover_options *o = r->o[k];
    spot_page *p = r->p;
    char name[80];

    spot_json_array(p->at, "methods", 0, 0);
    for (int i = 0; i < o->bdms; i++) spot_page_text(p, NULL, spot_bdm_name(&o->bdm[i], name, sizeof name));
    spot_json_end(p->at);
    if (!o->proof) return;
    spot_json_object(p->at, "proof");
    spot_json_put_int(p->at, "parts", o->proof->parts);
    spot_page_real(p, "holdout", o->proof->holdout);
    spot_json_put_int(p->at, "neighbours", o->proof->neighbours);
    spot_json_put_int(p->at, "chance", o->proof->chance);
    spot_page_real(p, "level", o->proof->level);
    spot_json_end(p->at);
}

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

    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "number", r->number[model][(f - r->f[model]->finding) * SPOT_MAX_HYPOTHESES + (s - f->slice)]);
    spot_json_put_int(p->at, "kind", (int)spot_slice_kind_of(f, s));
    spot_json_put_int(p->at, "size", s->size);
    spot_json_put_int(p->at, "wrong", s->wrong);
    spot_page_real(p, "rate", s->error_rate);
    spot_page_real(p, "confidence", s->mean_confidence);
    spot_page_real(p, "share", s->share);
    spot_page_real(p, "score", s->score);
    spot_page_interval(p, "interval", v ? spot_share_of(v->wrong, v->judged) : spot_share_of(s->wrong, s->size));
    spot_json_array(p->at, "near", 0, 0);
    for (int i = 0; i < s->neighbours; i++) spot_json_put_int(p->at, NULL, r->local[s->neighbour[i]]);
    spot_json_end(p->at);
    write_mistakes(r, model, f, s);
    if (r->models > 1) write_others(r, model, f, s);
    write_description(p, s);
    if (v) write_proof(p, v);
    spot_json_end(p->at);
}
