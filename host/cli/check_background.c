/* check_background.c - spotter check for two versions of a model that `spotter background` has examined. */
#include <stdio.h>

#include "cli/cli.h"
#include "spotter/background.h"

static void print_text(const spot_background_comparison *k)
{
    printf("%s -> %s\n%-11s  %7s  %7s  %7s  %6s  %6s  %9s\n", k->before, k->now, "set", "targets", "before", "now", "lost",
           "gained", "p (Holm)");
    for (int i = 0; i < k->changes; i++) {
        const spot_background_change *x = &k->change[i];
        printf("%-11s  %7d  %5.1f %%  %5.1f %%  %6d  %6d  %9.2g  %s\n", x->name, x->targets, 100 * x->before, 100 * x->now,
               x->worse, x->better, x->p, cli_change_word(x->is_worse, x->is_better, x->worse + x->better));
    }
    printf("\nlost, gained: targets that became worse, better; turned: objects that both know and some background turns\n");
}

static spot_status print_json(spot_ctx *c, const spot_background_comparison *k, const char *now)
{
    spot_json j;

    SPOT_TRY(cli_json_open(c, &j, k->failed ? SPOT_CHECK : SPOT_OK, now));
    spot_json_put_text(&j, "before", k->before);
    spot_json_put_text(&j, "now", k->now);
    spot_json_array(&j, "changes", k->changes, k->changes);
    for (int i = 0; i < k->changes; i++) {
        const spot_background_change *x = &k->change[i];
        spot_json_object(&j, NULL);
        spot_json_put_text(&j, "set", x->name);
        spot_json_put_int(&j, "targets", x->targets);
        spot_json_put_real(&j, "before", x->before);
        spot_json_put_real(&j, "now", x->now);
        spot_json_put_int(&j, "lost", x->worse);
        spot_json_put_int(&j, "gained", x->better);
        spot_json_put_real(&j, "p", x->p);
        spot_json_put_text(&j, "verdict", cli_change_word(x->is_worse, x->is_better, x->worse + x->better));
        spot_json_end(&j);
    }
    spot_json_end(&j);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

spot_status cli_check_background(spot_ctx *c, const char *before, const char *now, bool json)
{
    spot_background_comparison k;

    SPOT_TRY(spot_background_compare(c, &k, before, now));
    spot_plain(k.before), spot_plain(k.now);
    if (json) SPOT_TRY(print_json(c, &k, now));
    else print_text(&k);
    return k.failed ? spot_fail(c, SPOT_CHECK, "%s is worse than %s", now, before) : SPOT_OK;
}
