/* check_examine.c - spotter check for two versions of a model that `spotter examine` has examined. */
#include <stdio.h>

#include "cli/cli.h"
#include "spotter/examine.h"

static void print_change(const spot_examine_comparison *k, const spot_examine_change *x)
{
    printf("%-14.14s  %-8s  %7d  %6.3f  %6.3f  %+6.3f [%+6.3f, %+6.3f]  %5d  %6d  %8.2g  %s\n", k->examiner[x->examiner],
           spot_examine_change_name(x->quantity), x->objects, x->before, x->now, x->change.value, x->change.low, x->change.high,
           x->worse, x->better, x->p, cli_change_word(x->is_worse, x->is_better, x->worse + x->better));
}

static void print_text(const spot_examine_comparison *k)
{
    printf("%s -> %s: p of the true class after %d renders\n%-14s  %-8s  %7s  %6s  %6s  %-23s  %5s  %6s  %8s\n", k->before,
           k->now, k->renders, "examiner", "p", "objects", "before", "now", "change [95 %]", "worse", "better", "p (Holm)");
    for (int i = 0; i < k->changes; i++) print_change(k, &k->change[i]);
    printf("\n%d objects, %d seed%s; worse, better: objects whose p fell, rose; mean: of the last renders\n", k->objects,
           k->seeds, k->seeds == 1 ? "" : "s");
    if (k->left_out) printf("%d objects are in one of the runs alone and are left out\n", k->left_out);
    if (k->least_p >= 0.05)
        printf("so few objects cannot show a change: their least p is %.2g, whatever happens; examine more\n", k->least_p);
}

static spot_status print_json(spot_ctx *c, const spot_examine_comparison *k, const char *now)
{
    spot_json j;

    SPOT_TRY(cli_json_open(c, &j, k->failed ? SPOT_CHECK : SPOT_OK, now));
    spot_json_put_text(&j, "before", k->before);
    spot_json_put_text(&j, "now", k->now);
    spot_json_put_int(&j, "objects", k->objects);
    spot_json_put_int(&j, "left_out", k->left_out);
    spot_json_put_int(&j, "seeds", k->seeds);
    spot_json_put_int(&j, "renders", k->renders);
    spot_json_put_real(&j, "least_p", k->least_p);
    spot_json_array(&j, "changes", k->changes, k->changes);
    for (int i = 0; i < k->changes; i++) {
        const spot_examine_change *x = &k->change[i];
        spot_json_object(&j, NULL);
        spot_json_put_text(&j, "examiner", k->examiner[x->examiner]);
        spot_json_put_text(&j, "quantity", spot_examine_change_name(x->quantity));
        spot_json_put_int(&j, "objects", x->objects);
        spot_json_put_real(&j, "before", x->before);
        spot_json_put_real(&j, "now", x->now);
        spot_json_put_interval(&j, "change", x->change);
        spot_json_put_int(&j, "worse", x->worse);
        spot_json_put_int(&j, "better", x->better);
        spot_json_put_real(&j, "p", x->p);
        spot_json_put_text(&j, "verdict", cli_change_word(x->is_worse, x->is_better, x->worse + x->better));
        spot_json_end(&j);
    }
    spot_json_end(&j);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

spot_status cli_check_examine(spot_ctx *c, const char *before, const char *now, bool json)
{
    spot_examine_comparison k;

    SPOT_TRY(spot_examine_compare(c, &k, before, now));
    spot_plain(k.before), spot_plain(k.now);
    for (int e = 0; e < SPOT_MAX_EXAMINERS; e++) spot_plain(k.examiner[e]);
    if (json) SPOT_TRY(print_json(c, &k, now));
    else print_text(&k);
    return k.failed ? spot_fail(c, SPOT_CHECK, "%s is worse than %s", now, before) : SPOT_OK;
}
