/* fit_rules.c - see fit_rules.h. Arrays of a fit, of R rules with I items in all: "rules.slice" (R), "rules.first" (R + 1),
 * "rules.range" (I, 2) with the greatest double for no end and the ends exchanged for an item without numbers, and
 * "rules.names", of which each ends with 0. */
#define _POSIX_C_SOURCE 200809L     /* stpcpy */
#include "discover/subject/fit_rules.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/fit.h"
#include "discover/describe/attributes_pictures.h"
#include "discover/describe/describe_match.h"
#include "discover/subject/attributes.h"

enum { UNKNOWN = -1 };                 /* the column of an item of which nothing is known */

/* ---- into a fit ---- */

static double end_of(double v) { return isnan(v) ? v : v < -DBL_MAX ? -DBL_MAX : v > DBL_MAX ? DBL_MAX : v; }

static void fill_items(double *range, char *names, const spot_attributes *a, const spot_rule *rule, int slices)
{
    for (int k = 0; k < slices; k++)
        for (int i = 0; i < rule[k].items; i++, range += 2) {
            const int item = rule[k].item[i];
            const bool number = !isnan(a->range[item][0]);
            range[0] = number ? end_of(a->range[item][0]) : DBL_MAX;
            range[1] = number ? end_of(a->range[item][1]) : -DBL_MAX;
            names = stpcpy(names, a->name[item]) + 1;
        }
}

spot_status spot_fit_rules_put(spot_ctx *c, spot_fit *f, const spot_attributes *a, const spot_rule *rule, int slices)
{
    int rules = 0, items = 0, bytes = 0, *slice, *first;
    double *range;
    char *names;

    for (int k = 0; k < slices; k++) {
        rules += rule[k].items > 0, items += rule[k].items;
        for (int i = 0; i < rule[k].items; i++) bytes += (int)strlen(a->name[rule[k].item[i]]) + 1;
    }
    if (!rules) return SPOT_OK;
    SPOT_TRY(spot_fit_put(c, f, "rules.slice", SPOT_I32, NULL, rules, 0, &slice));
    SPOT_TRY(spot_fit_put(c, f, "rules.first", SPOT_I32, NULL, rules + 1, 0, &first));
    SPOT_TRY(spot_fit_put(c, f, "rules.range", SPOT_F64, NULL, items, 2, &range));
    SPOT_TRY(spot_fit_put(c, f, "rules.names", SPOT_U8, NULL, bytes, 0, &names));
    for (int k = rules = items = 0; k < slices; k++)
        if (rule[k].items) slice[rules] = k, first[rules++] = items, items += rule[k].items;
    first[rules] = items;
    fill_items(range, names, a, rule, slices);
    return SPOT_OK;
}

/* ---- out of a fit ---- */

typedef struct { int rules, items; const int *slice, *first; const double (*range)[2]; const char *names; } fit_rules;

static spot_status take_rules(spot_ctx *c, fit_rules *r, const spot_fitted *g)
{
    const spot_fit_tensor *slice = spot_fit_find(&g->fit, "rules.slice"), *range, *names;
    int ends = 0;

    *r = (fit_rules){ 0 };
    if (!slice) return SPOT_OK;
    r->rules = slice->rows;
    SPOT_TRY(spot_fit_indices(c, &g->fit, "rules.slice", r->rules, 0, g->slices - 1, &r->slice));
    SPOT_TRY(spot_fit_take(c, &g->fit, "rules.range", SPOT_F64, -1, 2, &range));
    SPOT_TRY(spot_fit_indices(c, &g->fit, "rules.first", r->rules + 1, 0, range->rows, &r->first));
    SPOT_TRY(spot_fit_take(c, &g->fit, "rules.names", SPOT_U8, -1, 0, &names));
    r->items = range->rows, r->range = range->data, r->names = names->data;
    for (int i = 0; i < names->rows; i++) ends += !r->names[i];
    for (int k = 0; k < r->rules; k++) if (r->first[k + 1] <= r->first[k]) ends = -1;
    if (ends != r->items || r->first[0] || r->first[r->rules] != r->items || r->names[names->rows - 1])
        return spot_fail(c, SPOT_INPUT, "{fit.rules} the fit's \"rules.names\" are not those of its rules; the fit is damaged");
    return SPOT_OK;
}

/* Without a table the items of a table are not known. */
static spot_status leave_unknown(spot_ctx *c, spot_attributes *a, const spot_attributes *like, int rows)
{
    int unknown = 0, first = 0;

    SPOT_TRY(spot_attributes_names(c, a, rows, like));
    for (int k = like->items - 1; k >= 0; k--)
        if (like->column[k] != SPOT_OF_PICTURES) a->column[k] = UNKNOWN, unknown++, first = k;
    if (unknown)
        spot_log(c, SPOT_LOG_WARN, "%d of %d attributes of the rules, such as \"%.80s\", are of a table, which is not given: "
                 "new rows join the slices of such rules by the vote of their neighbours", unknown, like->items,
                 like->name[first]);
    return SPOT_OK;
}

/* pictures: the rows have some, so that items of pictures are not looked for in a table. */
static spot_status list_items(spot_ctx *c, spot_attributes *like, const spot_fits *f, bool pictures)
{
    spot_attributes_begin(like, 1);
    for (int i = 0; i < f->count; i++) {
        fit_rules r;
        SPOT_TRY(take_rules(c, &r, &f->of[i]));
        for (int k = 0; k < r.items; k++, r.names += strlen(r.names) + 1) {
            uint64_t *bit;
            SPOT_TRY(spot_attributes_item(c, like, 0, &bit, "%s", r.names));
            if (r.range[k][0] <= r.range[k][1]) memcpy(like->range[like->items - 1], r.range[k], sizeof *like->range);
            if (pictures && spot_is_of_pictures(like, like->items - 1)) like->column[like->items - 1] = SPOT_OF_PICTURES;
        }
    }
    return SPOT_OK;
}

spot_status spot_fit_rules_read(spot_ctx *c, spot_attributes *a, const spot_fits *f, const char *where, const spot_subject *s)
{
    spot_attributes like;
    spot_status how;

    *a = (spot_attributes){ 0 };
    how = list_items(c, &like, f, s->image);
    if (how == SPOT_OK && like.items && where) how = spot_attributes_like(c, a, where, s, &like);
    else if (how == SPOT_OK && like.items) how = leave_unknown(c, a, &like, s->n);
    if (how == SPOT_OK && like.items && s->image) how = spot_attributes_like_pictures(c, a, s, &like);
    spot_attributes_close(&like);
    return how;
}

spot_status spot_fit_rules_assign(spot_ctx *c, uint8_t *member, const spot_view *rows, const spot_fits *f, int i,
                                  const spot_attributes *a)
{
    const int slices = f->of[i].slices;
    int before = 0;
    fit_rules r;

    for (int k = 0; k < i; k++) {
        SPOT_TRY(take_rules(c, &r, &f->of[k]));
        before += r.items;
    }
    SPOT_TRY(take_rules(c, &r, &f->of[i]));
    for (int k = 0; k < r.rules; k++) {
        bool known = true;
        for (int item = r.first[k]; item < r.first[k + 1]; item++) known &= a->column[before + item] != UNKNOWN;
        for (int n = 0; n < rows->n && known; n++) {
            int item = r.first[k];
            while (item < r.first[k + 1] && spot_item_holds(a, before + item, rows->image[n])) item++;
            member[(size_t)n * (size_t)slices + (size_t)r.slice[k]] = item == r.first[k + 1];
        }
    }
    return SPOT_OK;
}
