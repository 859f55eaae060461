/* gather_print.c - see gather_print.h. */
#include "cli/gather_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "spotter/report.h"

void cli_claim_print(const spot_slice_claim *k)
{
    char text[SPOT_CLAIM_TEXT], cls[SPOT_CLAIM_NAME], found[SPOT_CLAIM_PATH];

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

static void print_lines(const spot_slice_claim *k, const spot_claim_test *t)
{
    if (*k->text) cli_claim_print(k);
    for (int g = 0; g < 2; g++)
        printf("%-9s %d of %d wrong, %.1f %% (95 %%: %.1f to %.1f)\n", spot_gathered_group[g], t->wrong[g], t->n[g],
               100 * t->rate[g].value, 100 * t->rate[g].low, 100 * t->rate[g].high);
    printf("%s: p = %.3g ", spot_claim_verdict_name(t->verdict), t->p);
    if (!t->groups) printf("(Fisher's exact test, one-sided)\n");
    else printf("(signs of the sums of %d groups, one-sided: not below %.2g)\n", t->groups, ldexp(1, -t->groups));
}

static const char *known(const char *text) { return *text ? text : NULL; }

static spot_status write_page(spot_ctx *c, const spot_slice_claim *k, const spot_new_pictures *p, const spot_claim_test *t,
                              const char *dir, double level)
{
    const spot_claim_result r = { .claim = k->text, .cls = known(k->cls), .found = known(k->found), .model = known(k->model),
                                  .slice = k->slice, .rate = k->rate, .class_rate = k->class_rate, .folder = known(k->root),
                                  .row = p->row, .n = p->n, .level = level, .test = t,
                                  .reading = k->reading };
    spot_report_options o = spot_report_defaults();
    char path[SPOT_CLAIM_PATH + 16];

    o.thumb = 96;
    snprintf(path, sizeof path, "%s/gather.html", dir);
    return spot_report_claim(c, path, &r, &o);
}

spot_status cli_claim_verdict(spot_ctx *c, const spot_slice_claim *k, const spot_new_pictures *p, const int *group,
                              const char *dir, double level, bool json)
{
    spot_claim_test t;
    spot_json j;

    spot_claim_count(&t, p->row, p->n);
    spot_claim_judge(&t, level);
    if (group) SPOT_TRY(spot_claim_by_groups(c, &t, p->row, p->n, group, level));
    if (dir) SPOT_TRY(spot_claim_verdict_write(c, dir, k, &t));
    if (dir) SPOT_TRY(write_page(c, k, p, &t, dir, level));
    if (!json) return print_lines(k, &t), SPOT_OK;
    SPOT_TRY(cli_json_open(c, &j, SPOT_OK, dir));
    spot_claim_verdict_put(&j, k, &t);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}
