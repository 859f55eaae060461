/* discover_cost.c - the classes to examine, the memory that they need, and how many fit into memory together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "core/device.h"
#include "discover/proof/judge.h"
#include "discover/search/class_map.h"
#include "discover/subject/attribute_rows.h"
#include "study/chain.h"

const char *spot_class_words(char *text, size_t size, const spot_subject *s, int cls)
{
    if (cls < 0 || cls >= s->classes) snprintf(text, size, "all rows");
    else if (s->class_name && s->class_name[cls]) snprintf(text, size, "class \"%s\"", s->class_name[cls]);
    else snprintf(text, size, "class %d", cls);
    for (char *p = text; *p; p++) if ((unsigned char)*p < ' ' || *p == 127) *p = '?';
    return text;
}

spot_status spot_discover_check(spot_ctx *c, const spot_subject *s, const spot_discover_options *o)
{
    char name[80];

    if (o->bdms < 1 || o->seeds < 1)
        return spot_fail(c, SPOT_INVALID, "{discover.methods} discover: %d methods under %d seeds; give at least one of each",
                         o->bdms, o->seeds);
    if (o->least < 1 || o->neighbours < 0 || o->neighbours > SPOT_MAX_NEIGHBOURS)
        return spot_fail(c, SPOT_INVALID, "{discover.least} discover: at least %d rows and %d neighbours; 1 or more, and 0 to "
                         "%d", o->least, o->neighbours, SPOT_MAX_NEIGHBOURS);
    if (o->cls < SPOT_EACH_AND_ALL || o->cls >= s->classes)
        return spot_fail(c, SPOT_USAGE, "{class.number} there is no class %d; they are numbered 0 to %d", o->cls,
                         s->classes - 1);
    if (o->cls == SPOT_ALL_CLASSES && !s->confidence)
        return spot_fail(c, SPOT_USAGE, "{discover.several_classes} all classes at once need rows of one class each, and these "
                         "have several; examine each class by itself");
    for (int b = 0; b < o->bdms; b++)
        if (o->bdm[b].representation == SPOT_BY_FILE || o->bdm[b].representation == SPOT_BY_CLIP)
            return spot_fail(c, SPOT_USAGE, "{discover.representation} %s has `representation: %s`, and here all methods look "
                             "at the embeddings that were given; leave it out", spot_bdm_name(&o->bdm[b], name, sizeof name),
                             o->bdm[b].representation == SPOT_BY_FILE ? "file" : "clip");
    if (o->proof) SPOT_TRY(spot_proof_check(c, s, o));
    SPOT_TRY(spot_subject_check(c, s));
    return spot_attribute_check(c, s, o);
}

/* ---- candidates ---- */

/* Rows and wrong rows of every class; the last entry counts all rows. */
static void count_rows(const spot_subject *s, spot_candidate *all)
{
    for (int k = 0; k <= s->classes; k++) all[k] = (spot_candidate){ .cls = k < s->classes ? k : SPOT_ALL_CLASSES };
    for (int i = 0; i < s->n; i++) {
        int from = s->target ? s->target[i] : 0, to = s->target ? from + 1 : s->classes;
        for (int k = from; k < to; k++) {
            if (s->has && !s->target && !s->has[(size_t)i * s->classes + k]) continue;
            all[k].n++;
            all[k].wrong += spot_subject_wrong(s, i, k);
        }
        all[s->classes].n++;
        if (s->target) all[s->classes].wrong += spot_subject_wrong(s, i, s->target[i]);
    }
}

static spot_status no_candidate(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, const spot_candidate *only)
{
    char words[160];

    if (o->cls <= SPOT_EACH_CLASS)
        return spot_fail(c, SPOT_INPUT, "{discover.few_rows} rows are wrong, and none of %d classes has %d rows, as are needed "
                         "to find groups among them", s->classes, o->least);
    return spot_fail(c, SPOT_INPUT, "{discover.few_rows} %s has %d rows; at least %d are needed to find groups among them",
                     spot_class_words(words, sizeof words, s, o->cls), only->n, o->least);
}

bool spot_crosses_classes(const spot_subject *s, const spot_discover_options *o)
{
    return o->cls == SPOT_EACH_AND_ALL && o->proof && s->target && s->confidence;
}

/* Whether a class is worth examining. Without a wrong row there is nothing to search: then the classes that are large enough
 * are kept as they are, and of a classifier that has nothing wrong all of them. */
static bool is_chosen(const spot_candidate *k, bool any_wrong, bool any_worth, int least)
{
    return k->n >= (any_wrong ? least : 1) && (k->wrong || !any_worth);
}

spot_status spot_candidates(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_candidate **list,
                            int *count, int *left_out)
{
    int first = o->cls <= SPOT_EACH_CLASS ? 0 : o->cls == SPOT_ALL_CLASSES ? s->classes : o->cls;
    int end = o->cls <= SPOT_EACH_CLASS ? s->classes : first + 1, n = 0;
    bool any_wrong = false, any_worth = false;
    spot_candidate *all;

    *list = malloc(2 * ((size_t)s->classes + 1) * sizeof **list);
    if (!*list) return spot_fail(c, SPOT_NOMEM, "no memory for %d classes", s->classes);
    all = *list + s->classes + 1;
    count_rows(s, all);
    for (int k = first; k < end; k++) any_wrong |= all[k].wrong > 0, any_worth |= all[k].wrong && all[k].n >= o->least;
    for (int chosen = 1; chosen >= 0; chosen--) {
        for (int k = first; k < end; k++)
            if (is_chosen(&all[k], any_wrong, any_worth, o->least) == chosen) (*list)[n++] = all[k];
        if (chosen && n > 1 && (*list)->wrong && spot_crosses_classes(s, o)) (*list)[n++] = all[s->classes];
        if (chosen) *count = n;
    }
    *left_out = n - *count;
    return *count ? SPOT_OK : no_candidate(c, s, o, &all[first]);
}

/* ---- memory ---- */

bool spot_is_seedless(const spot_embed_config *cfg)
{
    return cfg->method == SPOT_REDUCE_NONE || cfg->method == SPOT_REDUCE_PCA;
}

bool spot_is_map(const spot_embed_config *cfg) { return cfg->method != SPOT_REDUCE_NONE; }

/* A view of all rows borrows the subject's features. */
static size_t view_bytes(const spot_subject *s, int rows)
{
    return (size_t)rows * ((rows == s->n ? 0 : (size_t)s->d) + 4) * sizeof(float);
}

spot_bytes spot_group_needs(const spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                            const spot_candidate *candidates, int count)
{
    const size_t each = 4096;            /* a class's share of small structs */
    spot_bytes needs = { 0, 0 };
    int *n = malloc((size_t)count * sizeof *n);
    size_t views = spot_chain_bytes(count, o->fit), rows = 0, bits = 0, slices;

    if (!n) return (spot_bytes){ SIZE_MAX / 4, 0 };
    for (int i = 0; i < count; i++) {
        n[i] = candidates[i].n;
        rows += (size_t)n[i];
        views += view_bytes(s, n[i]) + (size_t)s->d * sizeof(float) + each;
    }
    slices = SPOT_MAX_HYPOTHESES * sizeof(double) * (rows + (size_t)s->d);
    for (int b = 0; b < o->bdms; b++) {
        const int d = spot_method_width(s, o, b);
        if (spot_by_table(o, b)) bits = rows * (size_t)d * sizeof(float);
        needs = spot_bytes_larger(needs, spot_chain_method_needs(c, &o->bdm[b], count, n, d, slices));
    }
    for (int i = 0; i < count; i++) needs = spot_bytes_larger(needs, spot_class_map_needs(c, n[i], s->d));
    free(n);
    needs.host += views + bits;
    return needs;
}

/* A proof whose fits are kept has the features of all classes' rows (SPOT_LEFT_OUT). */
static size_t left_out_bytes(const spot_subject *s, const spot_discover_options *o, const spot_candidate *candidates, int count)
{
    size_t rows = (size_t)s->n;

    if (!o->proof || !o->fit || !s->target || o->cls > SPOT_EACH_CLASS) return 0;
    for (int i = 0; i < count; i++) rows -= candidates[i].cls < 0 ? 0 : (size_t)candidates[i].n;
    return rows * (size_t)s->d * sizeof(float);
}

size_t spot_findings_bytes(const spot_subject *s, const spot_discover_options *o, const spot_candidate *candidates,
                           int count)
{
    size_t bytes = 2 * (size_t)s->n * sizeof(float) + ((size_t)s->classes + 1) * sizeof(int) + 4096, each = 0;

    for (int b = 0; b < o->bdms; b++)
        each += (size_t)(spot_is_map(&o->bdm[b].embed) ? o->bdm[b].embed.dim
                         : o->fit && !spot_embed_is_nothing(&o->bdm[b].embed) ? s->d : 0) + (size_t)o->bdm[b].top;
    for (int i = 0; i < count; i++)
        bytes += (size_t)candidates[i].n * 4 * (1 + each * (size_t)o->seeds)
               + (o->fit ? view_bytes(s, candidates[i].n) + 3 * SPOT_ALIGN : 0)
               + (size_t)o->bdms * o->seeds * (sizeof(spot_finding) + 2 * SPOT_ALIGN) + SPOT_ALIGN;
    return bytes + left_out_bytes(s, o, candidates, count);
}

size_t spot_subject_bytes(const spot_subject *s)
{
    size_t row = (size_t)s->d * sizeof(float) + sizeof(float) + sizeof(int);

    if (s->prob) row += (size_t)s->classes * sizeof(float);
    if (s->has) row += (size_t)s->classes;
    if (s->id) row += 40;                /* a name, and its pointer */
    if (s->image) row += 100;
    return (size_t)s->n * row;
}

size_t spot_discover_limit(const spot_subject *s, const spot_discover_options *o)
{
    const char *whose;

    return o->memory ? o->memory : spot_room_of_memory("", &whose) + spot_subject_bytes(s);
}

spot_status spot_group_fit(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, const spot_candidate *candidates,
                           int count, size_t results, int *together, spot_bytes *needs)
{
    const size_t held = results + spot_subject_bytes(s), limit = spot_discover_limit(s, o);
    size_t device = SIZE_MAX, total;
    char words[160];

    if (c->device) SPOT_TRY(spot_device_room(c, &device, &total));
    *together = 1;
    *needs = spot_group_needs(c, s, o, candidates, 1);
    for (int last = count, more = count; more > *together; more = (*together + last + 1) / 2) {    /* all, else by halving */
        const spot_bytes all = spot_group_needs(c, s, o, candidates, more);
        if (held + all.host > limit || all.device > device) last = more - 1;
        else *together = more, *needs = all;
    }
    if (*together > 1 || (held + needs->host <= limit && needs->device <= device)) return SPOT_OK;
    spot_class_words(words, sizeof words, s, candidates->cls);
    if (needs->device > device)
        return spot_fail(c, SPOT_NOMEM, "%d rows of %s take %.2f GB of device memory, of which %.2f GB are free; run on the "
                         "CPU or choose another method", candidates->n, words, needs->device / 1e9, device / 1e9);
    return spot_fail(c, SPOT_NOMEM, "{discover.memory} %d rows of %s take %.2f GB of memory, %.2f GB of it for the data "
                     "themselves, and there are %.2f GB; give more, or choose another method or reducer", candidates->n, words,
                     (held + needs->host) / 1e9, held / 1e9, limit / 1e9);
}
