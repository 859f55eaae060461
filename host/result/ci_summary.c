/* ci_summary.c - a report as a few lines of Markdown: the verdict, the rows that matter most, the page. */
#include "result/ci_parts.h"

#include "result/columns.h"

enum { MOST = 10 };

/* The chosen rows of the report's list, as a list. */
typedef struct { const spot_ci_report *r; long at[MOST]; int n; } chosen_rows;

static long count_chosen(const void *root) { return ((const chosen_rows *)root)->n; }

static bool get_chosen(void *out, const void *root, long i)
{
    const chosen_rows *k = root;

    return k->r->list.item(out, k->r->root, k->at[i]);
}

static void choose_of_level(chosen_rows *k, spot_ci_level level)
{
    spot_ci_walk w = { .r = k->r, .level = level };

    while (k->n < MOST && spot_ci_next(&w)) k->at[k->n++] = w.at - 1;
}

static void choose_rows(chosen_rows *k, const spot_ci_report *r)
{
    *k = (chosen_rows){ .r = r };
    if (r->ordered) choose_of_level(k, SPOT_CI_LEVELS);
    else for (int level = SPOT_CI_FAILED; level >= SPOT_CI_FINE; level--) choose_of_level(k, (spot_ci_level)level);
}

static void put_rows(FILE *f, const spot_ci_report *r)
{
    spot_quantity list = r->list;
    const int all = spot_ci_count(r, SPOT_CI_LEVELS);
    chosen_rows k;

    if (!all) return;
    choose_rows(&k, r);
    list.items = count_chosen, list.item = get_chosen;
    list.title = NULL, list.below = NULL;
    spot_result_print(f, SPOT_TABLE_MD, &list, &k);
    fputc('\n', f);
    if (all > k.n) fprintf(f, "and %d more\n\n", all - k.n);
}

static void put_text(FILE *f, const char *before, const char *text, const char *after)
{
    char plain[2048];

    spot_text_markdown(plain, sizeof plain, text);
    fprintf(f, "%s%s%s\n\n", before, spot_plain(plain), after);
}

/* An empty line first: a table or a tag at the end of what is there ends with it. */
spot_status spot_ci_summary(spot_ctx *c, spot_text *out, const spot_ci_report *r)
{
    const char *how = r->status ? "not done" : r->open ? "no verdict yet" : r->failed ? "failed"
                    : r->pending ? "pending" : spot_ci_count(r, SPOT_CI_WARNING) ? "passed, with warnings"
                    : "passed";
    FILE *f = spot_text_stream(out);

    if (f) {
        fprintf(f, "\n### spotter %s: %s\n\n", r->command, how);
        if (r->status) put_text(f, "**", r->message, "**");
        else put_text(f, "**", r->verdict, ".**");
        put_text(f, "", r->subject, "");
        put_rows(f, r);
        if (r->page) put_text(f, "The page: `", r->page, "`");
    }
    return !f || fclose(f) || out->status ? spot_fail(c, SPOT_NOMEM, "no memory for a summary") : SPOT_OK;
}
