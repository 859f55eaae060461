/* slice_claim.c - the claim of a slice: its words or attributes, its class. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "claims/slice_claim.h"

/* A text that is too long is cut between two characters. */
static void copy_text(char *to, size_t size, const char *text)
{
    const size_t n = strlen(text);

    snprintf(to, size, "%.*s", (int)(n < size ? n : spot_utf8(text, size - 1)), text);
}

/* Terms of a text are no words for what is seen, so that no picture is compared with them unless the user says that it is. */
static spot_status refuse_terms(spot_ctx *c, const spot_slice_claim *k, const spot_slice *s, const char *dir)
{
    char term[100];

    copy_text(term, sizeof term, s->word->phrase);
    return spot_fail(c, SPOT_INPUT, "{gather.terms} the words of slice %d of %s, such as \"%s\", are terms of a column of "
                     "text, which need not be seen in a picture; say with --text what is seen", k->slice, dir,
                     spot_plain(term));
}

static spot_status take_word(spot_ctx *c, spot_slice_claim *k, const spot_claimed_slice *of, int word)
{
    const spot_slice *s = of->slice;
    const char *dir = of->dir;

    if (!s->words)
        return spot_fail(c, SPOT_INPUT, "slice %d of %s has no words%s; run spotter discover again with --words FILE and "
                         "--describe clip.safetensors, or give words of your own with --text", k->slice, dir,
                         s->conjunction ? ", only attributes" : "");
    if (word > s->words)
        return spot_fail(c, SPOT_USAGE, "slice %d of %s has %d phrases; --word %d is not among them", k->slice, dir, s->words,
                         word);
    if (spot_words_are_terms(of->attributes, s->word, s->words)) return refuse_terms(c, k, s, dir);
    copy_text(k->text, sizeof k->text, s->word[word - 1].phrase);
    return SPOT_OK;
}

static spot_status take_attributes(spot_ctx *c, spot_slice_claim *k, const spot_slice *s, const char *dir)
{
    size_t used = 0;

    if (!s->conjunction || !s->conjunction->items)
        return spot_fail(c, SPOT_INPUT, "slice %d of %s has no attributes; run spotter discover again with --attributes "
                         "rows.csv:file, or give attributes of your own with --text", k->slice, dir);
    for (int i = 0; i < s->conjunction->items; i++, k->items++) {
        copy_text(k->item[i], sizeof k->item[i], s->conjunction->name[i]);
        used += (size_t)snprintf(k->text + used, sizeof k->text - used, "%s%s", i ? " and " : "", k->item[i]);
    }
    return SPOT_OK;
}

static void take_rates(spot_slice_claim *k, const spot_finding *g, const spot_slice *s)
{
    const spot_proof *p = s->proof;

    k->rate = p && p->judged ? (double)p->wrong / p->judged : s->error_rate;
    k->class_rate = p ? p->class_rate : g->n ? (double)g->wrong / g->n : NAN;
    if (p) snprintf(k->proof, sizeof k->proof, "%s", spot_claim_name(p->claim));
}

spot_status spot_slice_claim_make(spot_ctx *c, spot_slice_claim *k, const spot_claimed_slice *of, int word, const char *text)
{
    const int cls = of->finding->cls;

    k->slice = of->number;
    copy_text(k->found, sizeof k->found, of->dir);
    if (cls >= 0) copy_text(k->cls, sizeof k->cls, of->subject->class_name[cls]);
    take_rates(k, of->finding, of->slice);
    if (text) copy_text(k->text, sizeof k->text, text);
    else SPOT_TRY(word ? take_word(c, k, of, word) : take_attributes(c, k, of->slice, of->dir));
    return SPOT_OK;
}
