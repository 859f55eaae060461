/* gather_claim.c - the claim of a slice: its words or attributes, its class. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/gather.h"
#include "cli/slice_table.h"

spot_status cli_found_open(spot_ctx *c, cli_found *k, const char *dir)
{
    SPOT_TRY(spot_findings_read(c, dir, &k->s, &k->f, &k->d));
    k->open = true;
    return SPOT_OK;
}

void cli_found_close(cli_found *k)
{
    if (!k->open) return;
    spot_findings_close(&k->f);
    spot_subject_close(&k->s);
    k->open = false;
}

/* A text that is too long is cut between two characters. */
static void copy_text(char *to, size_t size, const char *text)
{
    const size_t n = strlen(text);

    snprintf(to, size, "%.*s", (int)(n < size ? n : spot_utf8(text, size - 1)), text);
}

static spot_status take_word(spot_ctx *c, cli_claim *k, const spot_slice *s, const char *dir, int word)
{
    if (!s->words)
        return spot_fail(c, SPOT_INPUT, "slice %d of %s has no words%s; run spotter discover again with --words FILE and "
                         "--describe clip.safetensors, or give words of your own with --text", k->slice, dir,
                         s->conjunction ? ", only attributes" : "");
    if (word > s->words)
        return spot_fail(c, SPOT_USAGE, "slice %d of %s has %d phrases; --word %d is not among them", k->slice, dir, s->words,
                         word);
    copy_text(k->text, sizeof k->text, s->word[word - 1].phrase);
    return SPOT_OK;
}

static spot_status take_attributes(spot_ctx *c, cli_claim *k, const spot_slice *s, const char *dir)
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

static void take_rates(cli_claim *k, const spot_finding *g, const spot_slice *s)
{
    const spot_proof *p = s->proof;

    k->rate = p && p->judged ? (double)p->wrong / p->judged : s->error_rate;
    k->class_rate = p ? p->class_rate : g->n ? (double)g->wrong / g->n : NAN;
    if (p) snprintf(k->there, sizeof k->there, "%s", spot_claim_name(p->claim));
}

spot_status cli_claim_of_slice(spot_ctx *c, cli_claim *k, const cli_found *found, const char *dir, int number, int word,
                               const char *text)
{
    const spot_finding *g;
    const spot_slice *s;
    int slices;

    SPOT_TRY(cli_slice_of_table(c, &g, &s, &slices, &found->f, number));
    if (!s)
        return spot_fail(c, SPOT_USAGE, "%s has no slice %d; it has %d%s", dir, number, slices,
                         slices ? ", numbered as in the table of spotter discover" : "");
    k->slice = number;
    copy_text(k->found, sizeof k->found, dir);
    if (g->cls >= 0) copy_text(k->cls, sizeof k->cls, found->s.class_name[g->cls]);
    take_rates(k, g, s);
    if (text) copy_text(k->text, sizeof k->text, text);
    else SPOT_TRY(word ? take_word(c, k, s, dir, word) : take_attributes(c, k, s, dir));
    return SPOT_OK;
}

void cli_claim_print(const cli_claim *k)
{
    char text[CLI_CLAIM_TEXT], cls[CLI_CLAIM_NAME], found[CLI_CLAIM_PATH];

    memcpy(text, k->text, sizeof text);
    memcpy(cls, k->cls, sizeof cls);
    memcpy(found, k->found, sizeof found);
    printf("claim: fails more often on \"%s\"", spot_plain(text));
    if (*k->cls) printf(", class %s", spot_plain(cls));
    if (k->slice) printf(" (slice %d of %s", k->slice, spot_plain(found));
    if (k->slice && isfinite(k->rate)) printf(", %.0f %% wrong there", 100 * k->rate);
    if (k->slice && isfinite(k->class_rate)) printf(", %.0f %% of its class", 100 * k->class_rate);
    printf("%s\n", k->slice ? ")" : "");
}
