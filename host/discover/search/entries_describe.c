/* entries_describe.c - summary, classes and entries as members of slices.json and of the page (spotter/discover.h).
 * tools/python/spotter/slices.schema.json describes them. */
#include <math.h>

#include "discover/search/entry_facts.h"
#include "result/result.h"

static const spot_slice_list_row *list_of(const void *row) { return row; }

/* ---- classes ---- */

typedef struct { spot_class_errors of; const spot_subject *s; int rows, wrong, taken_rows; } class_row;

static long count_classes(const void *row) { return list_of(row)->e->classes; }

static bool get_class(void *out, const void *row, long i)
{
    class_row *x = out;
    const spot_class_errors *of = &list_of(row)->e->cls[i];

    *x = (class_row){ *of, list_of(row)->s, (int)of->rows, (int)of->wrong, (int)of->taken_rows };
    return true;
}

static void class_name(spot_quantity_value *v, const void *row)
{
    const class_row *x = row;

    v->text = x->s->class_name[x->of.cls];
}

static void taken_for(spot_quantity_value *v, const void *row)
{
    const class_row *x = row;

    if (x->of.taken >= 0) v->text = x->s->class_name[x->of.taken];
}

static void class_errors(spot_quantity_value *v, const void *row)
{
    const class_row *x = row;

    v->value = (double)x->wrong / x->rows;
}

const spot_quantity spot_class_columns[] = {
    SPOT_COMPUTED("class", SPOT_AS_TEXT, class_name, .title = "class"),
    SPOT_QUANTITY("class_number", class_row, of.cls),
    SPOT_QUANTITY("rows", class_row, rows, .title = "rows", .unit = SPOT_UNIT_COUNT),
    SPOT_QUANTITY("wrong", class_row, wrong, .title = "wrong", .unit = SPOT_UNIT_COUNT, .direction = SPOT_LOWER_IS_BETTER),
    SPOT_COMPUTED("rate", SPOT_AS_REAL, class_errors, .title = "rate", .unit = SPOT_UNIT_SHARE, .format = "%.0f %%",
                  .direction = SPOT_LOWER_IS_BETTER, .about = "share of its rows that are wrong"),
    SPOT_COMPUTED("taken_for", SPOT_AS_TEXT, taken_for, .title = "mostly taken for",
                  .about = "class that most of its wrong rows are taken for"),
    SPOT_QUANTITY("taken_rows", class_row, taken_rows, .title = "of them", .unit = SPOT_UNIT_COUNT,
                  .about = "wrong rows that are taken for the class of taken_for"),
    SPOT_QUANTITIES_END
};

/* ---- entries ---- */

typedef struct { const spot_entry *x; const spot_slice_list_row *list; } entry_row;

static const spot_entry *entry_of(const void *row) { return ((const entry_row *)row)->x; }

static long count_entries(const void *row) { return list_of(row)->e->count; }

static bool get_entry(void *out, const void *row, long i)
{
    *(entry_row *)out = (entry_row){ &list_of(row)->e->entry[i], row };
    return true;
}

static void put_slices(spot_json *j, const void *row)
{
    const spot_entry *x = entry_of(row);
    const spot_slice_list *e = ((const entry_row *)row)->list->e;

    spot_json_array(j, "slices", 0, 0);
    for (int i = 0; i < x->members; i++)
        spot_json_put_int(j, NULL, e->number[x->member[i].finding * SPOT_MAX_HYPOTHESES + x->member[i].slice]);
    spot_json_end(j);
    spot_json_put_raw(j, "folded", x->folded ? "true" : "false", x->folded ? 4 : 5);
}

static void put_classes(spot_json *j, const void *row)
{
    const spot_subject *s = ((const entry_row *)row)->list->s;
    const spot_entry *x = entry_of(row);

    spot_json_put_text(j, "class", x->cls < 0 ? NULL : s->class_name[x->cls]);
    if (x->cls < 0) spot_json_put_text(j, "class_number", NULL);
    else spot_json_put_int(j, "class_number", x->cls);
    spot_json_put_text(j, "predicted", x->predicted < 0 ? NULL : s->class_name[x->predicted]);
    if (!x->rule_items) return;
    spot_json_array(j, "rule", 0, 0);
    for (int i = 0; i < x->rule_items; i++) spot_json_put_text(j, NULL, x->rule[i]);
    spot_json_end(j);
    spot_json_put_int(j, "rule_rows", x->rule_rows);
    spot_json_put_int(j, "rule_wrong", x->rule_wrong);
}

static void kind_name(spot_quantity_value *v, const void *row)
{
    v->text = spot_entry_kind_name(((const spot_entry *)row)->kind);
}

static void claim_name(spot_quantity_value *v, const void *row)
{
    static const char *const names[] = { "confirmed", "suggested", "not tested", "chance", "fine" };

    v->text = names[((const spot_entry *)row)->claim];
}

static void rate(spot_quantity_value *v, const void *row)
{
    const spot_entry *x = row;

    v->value = x->judged ? (double)x->judged_wrong / x->judged : NAN;
}

static void excess(spot_quantity_value *v, const void *row)
{
    rate(v, row);
    v->value -= ((const spot_entry *)row)->class_rate;
}

static const spot_quantity figures[] = {
#define S(name_, field) SPOT_QUANTITY(name_, spot_entry, field)
    S("number", number), SPOT_COMPUTED("kind", SPOT_AS_TEXT, kind_name), SPOT_COMPUTED("claim", SPOT_AS_TEXT, claim_name),
    S("title", title), S("classes", classes), S("predicted_share", predicted_share), S("size", size), S("wrong", wrong),
    S("judged", judged), S("judged_wrong", judged_wrong), SPOT_COMPUTED("rate", SPOT_AS_REAL, rate),
    S("class_rate", class_rate), SPOT_COMPUTED("excess", SPOT_AS_REAL, excess), S("excess_rows", excess_rows),
    S("to_expect", shrunk), S("share_of_errors", share), S("corrected_p", p), SPOT_QUANTITIES_END
#undef S
};

static const spot_quantity entry[] = {
    SPOT_BEHIND(NULL, entry_row, x, figures), SPOT_WRITTEN(put_slices), SPOT_WRITTEN(put_classes), SPOT_QUANTITIES_END
};

static const spot_quantity lists[] = {
    SPOT_ROWS("classes", SPOT_AS_LIST, spot_class_columns, class_row, count_classes, get_class),
    SPOT_ROWS("entries", SPOT_AS_LIST, entry, entry_row, count_entries, get_entry), SPOT_QUANTITIES_END
};

static void put_members(spot_json *j, const void *row)
{
    const spot_slice_list_row *x = row;
    spot_top_lines top;

    spot_findings_summary(&top, x->e, x->f, x->s, x->o, x->found);
    spot_json_array(j, "summary", 0, 0);
    for (int i = 0; i < top.lines; i++) spot_json_put_text(j, NULL, top.line[i]);
    spot_json_end(j);
    spot_quantities_put(j, lists, row);
}

const spot_quantity spot_slice_list_members = SPOT_WRITTEN(put_members);
