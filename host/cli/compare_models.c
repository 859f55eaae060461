/* compare_models.c - the table and the JSON object of two versions of a model that one study has examined. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare.h"
#include "stats/statistics.h"
#include "versions/versions_ci.h"

enum { WIDEST_GROUP = 30 };

/* The width of the column of groups; 0: there is none. */
static int width_of_groups(const spot_model_comparison *k)
{
    int width = k->words->group ? (int)strlen(k->words->group) : 0;

    for (int i = 0; i < k->changes && width; i++) {
        const int n = (int)strlen(k->change[i].of.group);
        width = n > width ? n : width;
    }
    return width < WIDEST_GROUP ? width : WIDEST_GROUP;
}

static void print_change(const spot_model_comparison *k, const spot_model_change *x, int width)
{
    if (width) spot_text_column(stdout, x->of.group, width);
    printf("%-11s  %7d", x->of.name, x->objects);
    if (k->words->is_share) printf("  %5.1f %%  %5.1f %%", 100 * x->before, 100 * x->now);
    else printf("   %6.3f   %6.3f", x->before, x->now);
    if (k->words->is_share)
        printf("  %+6.1f [%+6.1f, %+6.1f]", 100 * x->change.value, 100 * x->change.low, 100 * x->change.high);
    else printf("  %+6.3f [%+6.3f, %+6.3f]", x->change.value, x->change.low, x->change.high);
    printf("  %5d  %6d", x->worse, x->better);
    if (x->of.sign) printf("  %8.2g", fmin(x->p_worse, x->p_better));
    else printf("  %8s", "-");
    if (x->needed > 0 && isfinite(x->needed)) printf("  %5.0f", ceil(x->needed));
    else printf("  %5s", x->needed > 0 ? "-" : "");
    printf("  %s\n", spot_model_change_word(x));
}

/* The words of the table. */
static void explain(const spot_model_comparison *k)
{
    printf("worse, better: by more than ");
    if (k->words->is_share) printf("%g points", 100 * k->margin);
    else printf("%g", k->margin);
    printf(" beyond chance; same: no worsening by more, beyond chance;\npending: these %s cannot tell, and as many as `needs` "
           "says could, if the change stays as it is (-: no number)\n", k->words->objects);
    if (k->words->whole)
        printf("p: corrected over all numbers; a third of the %g %% for a false \"worse\" is for what is asked first,\n%s, and "
               "the rest, with what that leaves, for the others\n", 100 * SPOT_LEVEL, k->words->whole);
}

static void print_text(const spot_model_comparison *k)
{
    const int width = width_of_groups(k);

    printf("%s -> %s\n", k->before, k->now);
    if (width) spot_text_column(stdout, k->words->group, width);
    printf("%-11s  %7s  %7s  %7s%s  %5s  %6s  %8s  %5s\n", k->words->quantity, k->words->objects, "before", "now",
           "  change [95 %]          ", k->words->worse, k->words->better, "p", "needs");
    for (int i = 0; i < k->changes; i++) print_change(k, &k->change[i], width);
    printf("\n%d %s", k->objects, k->words->objects);
    for (int i = 0; i < k->facts.n; i++) printf(", %s: %d", k->facts.of[i].name, k->facts.of[i].value);
    printf("; %s\n", k->words->note);
    explain(k);
    if (k->left_out) printf("%d %s are in one of the runs alone and are left out\n", k->left_out, k->words->objects);
    if (!spot_is_significant(k->least_p, SPOT_LEVEL))
        printf("so few %s cannot show anything: their least p is %.2g, whatever happens; examine more\n", k->words->objects,
               k->least_p);
}

static spot_status print_json(spot_ctx *c, const spot_model_comparison *k, const spot_quantity *columns, const char *now,
                              spot_status how)
{
    spot_json j;

    SPOT_TRY(cli_json_open(c, &j, how, now));
    spot_json_put_text(&j, "before", k->before);
    spot_json_put_text(&j, "now", k->now);
    spot_json_put_int(&j, k->words->objects, k->objects);
    spot_json_put_int(&j, "left_out", k->left_out);
    for (int i = 0; i < k->facts.n; i++) spot_json_put_int(&j, k->facts.of[i].name, k->facts.of[i].value);
    spot_json_put_real(&j, "margin", k->margin);
    spot_json_put_real(&j, "least_p", k->least_p);
    spot_json_array(&j, "changes", k->changes, k->changes);
    for (int i = 0; i < k->changes; i++) {
        spot_json_object(&j, NULL);
        spot_quantities_put(&j, columns, &k->change[i]);
        spot_json_end(&j);
    }
    spot_json_end(&j);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

static spot_status status_of(spot_ctx *c, const char *before, const char *now, spot_status how)
{
    if (how == SPOT_OK) return how;
    return how == SPOT_CHECK ? spot_fail(c, how, "%s is worse than %s", now, before)
                             : spot_fail(c, how, "nothing is shown to be worse in %s, but a number is pending", now);
}

spot_status cli_compare_models(spot_ctx *c, const char *before, const char *now, cli_comparison *o)
{
    double margin = spot_versions_defaults().margin;
    spot_model_comparison k;
    spot_ci_report r;
    spot_status s, how;

    if (o->margin) SPOT_TRY(cli_margin_read(c, &margin, o->margin, "--margin"));
    s = spot_models_compare(c, &k, before, now, margin);
    how = k.failed ? SPOT_CHECK : k.pending && o->fail_on ? SPOT_PENDING : SPOT_OK;
    spot_plain(k.before), spot_plain(k.now);
    for (int i = 0; i < k.changes; i++) spot_plain(k.change[i].of.group);
    if (s == SPOT_OK) spot_models_ci(&r, &k), r.input = now;
    if (s == SPOT_OK && o->json) s = print_json(c, &k, r.column, now, how);
    else if (s == SPOT_OK) print_text(&k);
    if (s == SPOT_OK) s = cli_ci_write(c, &o->ci, &r);
    if (s == SPOT_OK) s = status_of(c, before, now, how);
    spot_memory_close(&k.memory);
    return s;
}
