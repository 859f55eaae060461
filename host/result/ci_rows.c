/* ci_rows.c - see ci_parts.h. */
#include "result/ci_parts.h"

#include <string.h>

#include "result/result_parts.h"

bool spot_ci_next(spot_ci_walk *w)
{
    const spot_quantity *list = &w->r->list;
    const long n = w->r->status == SPOT_OK && list->items ? list->items(w->r->root) : 0;

    while (w->at < n) {
        if (!list->item(w->row, w->r->root, w->at++)) continue;
        w->rule = &w->r->rule[w->r->judge(w->name, w->row)];
        spot_plain(w->name);
        if (w->level == SPOT_CI_LEVELS || w->rule->level == w->level) return true;
    }
    return false;
}

int spot_ci_count(const spot_ci_report *r, spot_ci_level level)
{
    spot_ci_walk w = { .r = r, .level = level };
    int n = 0;

    while (spot_ci_next(&w)) n++;
    return n;
}

typedef struct { spot_text *out; const spot_ci_walk *w; bool lines; int column; } column_list;

static bool is_named(const spot_ci_report *r, const spot_quantity *q)
{
    for (const char *const *name = r->named; *name; name++)
        if (q->name && !strcmp(q->name, *name)) return true;
    return false;
}

static void put_column(void *user, const spot_quantity *q, const void *row)
{
    column_list *v = user;
    spot_quantity_value value;
    char number[96];
    const char *text;

    if (!q->title || !row) return;
    value = spot_quantity_of(q, row);
    if (!spot_quantity_has(q, &value)) return;
    text = spot_quantity_text(number, q, &value);
    if (!*text || (!v->lines && (q->right || is_named(v->w->r, q)))) return;
    if (!v->lines && v->column++) spot_text_adds(v->out, "; ");
    spot_text_adds(v->out, q->title);
    spot_text_adds(v->out, v->lines ? ": " : " ");
    spot_text_visible(v->out, text);
    if (v->lines && q->about) spot_text_adds(v->out, "  ("), spot_text_adds(v->out, q->about), spot_text_adds(v->out, ")");
    if (v->lines) spot_text_adds(v->out, "\n");
}

void spot_ci_columns(spot_text *out, const spot_ci_walk *w, bool lines)
{
    column_list v = { out, w, lines, 0 };

    spot_quantities_visit(w->r->list.rows, w->row, put_column, &v);
}
