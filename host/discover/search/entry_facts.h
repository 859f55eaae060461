/* entry_facts.h - figures, kind and title of an entry: what spot_findings_entries (spotter/discover.h) counts and names. */
#ifndef SPOTTER_ENTRY_FACTS_H
#define SPOTTER_ENTRY_FACTS_H

#include "spotter/discover.h"

/* mark (s->n): scratch, of zeros at first; stamp: the last one used. */
typedef struct { const spot_findings *f; const spot_subject *s; int *mark, stamp; long all_wrong; } spot_entry_builder;

static inline const spot_slice *spot_slice_at(const spot_findings *f, spot_slice_place at)
{
    return &f->finding[at.finding].slice[at.slice];
}

/* The items of the slice's rule, or of a conjunction that describes it beyond chance and most of whose rows are in it; NULL:
 * none. is_rule: most of the slice's rows have them. same: both have some, and they are the same. */
char *const *spot_slice_items(const spot_slice *s, int *items);
bool spot_slice_is_rule (const spot_slice *s);
bool spot_slice_same_rule(const spot_slice *x, const spot_slice *y);

/* The class's name in sentences, shortened: "devices", "class 7". Returns text. */
typedef char spot_class_title[4 * 40 + 16];
const char *spot_class_called(spot_class_title text, const spot_subject *s, int cls);

/* Whether the rows of `rule`, a slice that is one, explain the judged rows of slice x of finding g: the rates of its rows, and
 * of the rows without it, in their classes let expect as many wrong ones as the 95 % interval allows. */
typedef struct { const spot_findings *f; const spot_subject *s; struct spot_explained_class *of; } spot_explainer;
spot_status spot_explainer_open (spot_ctx *c, spot_explainer *e, const spot_findings *f, const spot_subject *s);
void        spot_explainer_close(spot_explainer *e);
bool        spot_rule_explains  (const spot_explainer *e, const spot_slice *rule, const spot_slice *x, const spot_finding *g);

/* Fills all members but number and folded from x's members and claim. */
spot_status spot_entry_count(spot_ctx *c, spot_entry_builder *b, spot_entry *x);

#endif
