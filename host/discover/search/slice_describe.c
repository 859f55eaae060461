/* slice_describe.c - see slice_describe.h. A new number of every slice is a row of spot_slice_more.
 * tools/python/spotter/slices.schema.json describes slices.json. */
#include "discover/search/slice_describe.h"

#include <stdio.h>
#include <string.h>

#include "discover/proof/proof_files.h"

static const spot_slice_row *slice_of(const void *row) { return row; }

/* ---- a slice's own numbers ---- */

const spot_quantity spot_slice_errors[] = {
#define S(name_, field, unit_, ...) SPOT_QUANTITY(name_, spot_slice, field, .unit = SPOT_UNIT_##unit_, .title = __VA_ARGS__)
    S("size", size, COUNT, "size", .about = "rows"),
    S("wrong", wrong, COUNT, "errors", .direction = SPOT_LOWER_IS_BETTER, .about = "wrong rows"),
    S("error_rate", error_rate, SHARE, "rate", .format = "%.0f %%", .direction = SPOT_LOWER_IS_BETTER, .about = "error rate"),
    SPOT_QUANTITIES_END
};

const spot_quantity spot_slice_more[] = {
    S("mean_confidence", mean_confidence, NUMBER, "confidence", .place = SPOT_SHOWN_WIDE, .about = "mean confidence"),
    SPOT_QUANTITIES_END
};

const spot_quantity spot_slice_share[] = {
    S("share_of_errors", share, SHARE, "share", .format = "%.0f %%", .about = "share of errors"),
#undef S
    SPOT_QUANTITIES_END
};

static const spot_quantity numbers[] = {
    SPOT_HERE(NULL, spot_slice_errors), SPOT_HERE(NULL, spot_slice_more), SPOT_HERE(NULL, spot_slice_share),
    SPOT_QUANTITIES_END
};

const spot_quantity spot_slice_columns = { .type = SPOT_AS_LIST, .rows = numbers };

static const spot_quantity score[] = { SPOT_QUANTITY("score", spot_slice, score), SPOT_QUANTITIES_END };

/* ---- the right rows that are nearest ---- */

typedef struct { int row; const char *id; char number[16]; } near_row;

static long count_near(const void *row) { return slice_of(row)->p->neighbours; }

static bool get_near(void *out, const void *row, long i)
{
    near_row *x = out;

    x->row = slice_of(row)->p->neighbour[i];
    x->id = slice_of(row)->s->id ? slice_of(row)->s->id[x->row] : x->number;
    snprintf(x->number, sizeof x->number, "%d", x->row);
    return true;
}

static const spot_quantity near[] = {
    SPOT_QUANTITY("row", near_row, row), SPOT_QUANTITY("id", near_row, id), SPOT_QUANTITIES_END
};

/* ---- its description ---- */

static long count_words(const void *row) { return slice_of(row)->p->words; }

static bool get_word(void *out, const void *row, long i)
{
    memcpy(out, &slice_of(row)->p->word[i], sizeof(spot_word));
    return true;
}

static const spot_quantity word[] = {
#define S(name_) SPOT_QUANTITY(#name_, spot_word, name_)
    S(phrase), S(score), S(auc), S(p), SPOT_QUANTITIES_END
#undef S
};

static const spot_quantity match[] = {
#define S(name_, field) SPOT_QUANTITY(name_, spot_match, field)
    S("rows", rows), S("slice", group), S("covered", covered), S("inside", inside), S("wrong", wrong),
    S("precision", precision), S("recall", recall), S("f1", f1), S("lift", lift), S("t", t), S("p", p), SPOT_QUANTITIES_END
#undef S
};

static void put_items(spot_json *j, const void *row)
{
    const spot_conjunction *k = row;

    spot_json_array(j, "items", 0, 0);
    for (int i = 0; i < k->items; i++) spot_json_put_text(j, NULL, k->name[i]);
    spot_json_end(j);
}

static const spot_quantity conjunction[] = {
    SPOT_WRITTEN(put_items), SPOT_OBJECT("held_out", spot_conjunction, held_out, match),
    SPOT_OBJECT("all", spot_conjunction, all, match), SPOT_QUANTITIES_END
};

static const spot_quantity described[] = {
    SPOT_BEHIND("conjunction", spot_slice, conjunction, conjunction, .optional = true), SPOT_QUANTITIES_END
};

/* ---- its proof ---- */

static void put_rule(spot_json *j, const void *row)
{
    const spot_proof *v = slice_of(row)->v;

    if (!v || !v->rule_items) return;
    spot_json_object(j, "rule");
    spot_json_array(j, "items", 0, 0);
    for (int i = 0; i < v->rule_items; i++) spot_json_put_text(j, NULL, v->rule[i]);
    spot_json_end(j);
    spot_json_end(j);
}

typedef struct { spot_piece e; char method[80]; } piece_row;

static long count_pieces(const void *row) { return slice_of(row)->v->pieces; }

static bool get_piece(void *out, const void *row, long i)
{
    piece_row *x = out;

    x->e = slice_of(row)->v->piece[i];
    spot_bdm_name(&slice_of(row)->o->bdm[x->e.bdm], x->method, sizeof x->method);
    return true;
}

static void piece_groups(spot_quantity_value *v, const void *row)
{
    if (((const piece_row *)row)->e.groups) v->value = ((const piece_row *)row)->e.groups;
}

static const spot_quantity piece[] = {
#define S(name_, field) SPOT_QUANTITY(name_, piece_row, field)
    S("method", method), S("seed", e.seed), S("part", e.part), S("rank", e.rank), S("found", e.found),
    S("found_wrong", e.found_wrong), S("judged", e.judged), S("wrong", e.wrong),
    SPOT_COMPUTED("judged_groups", SPOT_AS_INT, piece_groups, .optional = true), S("expected_wrong", e.base), S("p", e.p),
    S("corrected_p", e.corrected), SPOT_QUANTITIES_END
#undef S
};

static void claim_name(spot_quantity_value *v, const void *row)
{
    v->text = spot_claim_name(((const spot_proof *)row)->claim);
}

static void judged_groups(spot_quantity_value *v, const void *row)
{
    if (((const spot_proof *)row)->groups) v->value = ((const spot_proof *)row)->groups;
}

static void least_p(spot_quantity_value *v, const void *row)
{
    if (((const spot_proof *)row)->groups) v->value = ((const spot_proof *)row)->least_p;
}

static const spot_quantity judged[] = {
#define S(name_, field) SPOT_QUANTITY(name_, spot_proof, field)
    SPOT_COMPUTED("claim", SPOT_AS_TEXT, claim_name), S("corrected_p", p), S("judged", judged), S("wrong", wrong),
    SPOT_COMPUTED("judged_groups", SPOT_AS_INT, judged_groups, .optional = true),
    SPOT_COMPUTED("least_p", SPOT_AS_REAL, least_p, .optional = true), S("class_rate", class_rate),
    S("excess", excess.value), S("excess_low", excess.low), S("excess_high", excess.high), S("to_expect", shrunk),
    S("expected_rate", cell), SPOT_QUANTITIES_END
};

static const spot_quantity taken[] = {
    S("predicted_share", predicted_share), SPOT_QUANTITIES_END
#undef S
};

static void predicted(spot_quantity_value *v, const void *row)
{
    const int to = slice_of(row)->v->predicted;

    if (to >= 0) v->text = slice_of(row)->s->class_name[to];
}

static const spot_quantity proof[] = {
    SPOT_BEHIND(NULL, spot_slice_row, v, judged), SPOT_COMPUTED("predicted", SPOT_AS_TEXT, predicted),
    SPOT_BEHIND(NULL, spot_slice_row, v, taken), SPOT_ROWS("pieces", SPOT_AS_LIST, piece, piece_row, count_pieces, get_piece),
    SPOT_QUANTITIES_END
};

static void put_proof(spot_json *j, const void *row)
{
    if (!slice_of(row)->v) return;
    spot_json_object(j, "proof");
    spot_quantities_put(j, proof, row);
    spot_json_end(j);
}

/* ---- its labels ---- */

static const spot_quantity labels[] = {
    SPOT_QUANTITY("suspect", spot_slice, suspects), SPOT_QUANTITY("error_rate_without", spot_slice, rate_without),
    SPOT_QUANTITIES_END
};

static void put_labels(spot_json *j, const void *row)
{
    if (!slice_of(row)->p->labels_known) return;
    spot_json_object(j, "labels");
    spot_quantities_put(j, labels, slice_of(row)->p);
    spot_json_end(j);
}

/* ---- all ---- */

static const spot_quantity head[] = {
    SPOT_QUANTITY("rank", spot_slice_row, rank), SPOT_QUANTITY("number", spot_slice_row, number),
    SPOT_QUANTITY("entry", spot_slice_row, entry), SPOT_BEHIND(NULL, spot_slice_row, p, score),
    SPOT_BEHIND(NULL, spot_slice_row, p, numbers), SPOT_QUANTITIES_END
};

static const spot_quantity tail[] = {
    SPOT_ROWS("words", SPOT_AS_LIST, word, spot_word, count_words, get_word, .optional = true),
    SPOT_BEHIND(NULL, spot_slice_row, p, described), SPOT_WRITTEN(put_labels), SPOT_WRITTEN(put_rule),
    SPOT_WRITTEN(put_proof), SPOT_QUANTITIES_END
};

const spot_quantity spot_slice_in_file[] = {
    SPOT_HERE(NULL, head), SPOT_ROWS("nearest_correct", SPOT_AS_LIST, near, near_row, count_near, get_near),
    SPOT_HERE(NULL, tail), SPOT_QUANTITIES_END
};

static const spot_quantity object[] = { SPOT_HERE(NULL, head), SPOT_HERE(NULL, tail), SPOT_QUANTITIES_END };

const spot_quantity spot_slice_object = SPOT_HERE(NULL, object);

static void put_tests(spot_json *j, const void *row)
{
    const spot_tests_row *x = row;

    if (x->o->proof) spot_put_proof_options(j, x->o->proof, x->f);
}

const spot_quantity spot_slice_tests = SPOT_WRITTEN(put_tests);
