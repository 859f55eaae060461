/* gather_verdict.c - the verdict on a claim, for people, as JSON and as a file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/gather.h"
#include "spotter/report.h"

static const char *const group_name[] = { "gathered", "control" };

static void print_lines(const cli_claim *k, const spot_claim_test *t)
{
    if (*k->text) cli_claim_print(k);
    for (int g = 0; g < 2; g++)
        printf("%-9s %d of %d wrong, %.1f %% (95 %%: %.1f to %.1f)\n", group_name[g], t->wrong[g], t->n[g],
               100 * t->rate[g].value, 100 * t->rate[g].low, 100 * t->rate[g].high);
    printf("%s: p = %.3g (Fisher's exact test, one-sided)\n", spot_claim_verdict_name(t->verdict), t->p);
}

static void put_real(spot_json *j, const char *key, double v) { spot_json_put_number(j, key, "%.6g", v); }

static void put_claim(spot_json *j, const cli_claim *k)
{
    spot_json_object(j, "claim");
    spot_json_put_text(j, "text", k->text);
    spot_json_put_text(j, "class", *k->cls ? k->cls : NULL);
    spot_json_put_text(j, "findings", *k->found ? k->found : NULL);
    if (k->slice) {
        spot_json_put_int(j, "slice", k->slice);
        spot_json_put_text(j, "slice_claim", *k->there ? k->there : NULL);
        put_real(j, "slice_rate", k->rate);
        put_real(j, "class_rate", k->class_rate);
    }
    spot_json_put_text(j, "model", *k->model ? k->model : NULL);
    spot_json_end(j);
}

static void put_verdict(spot_json *j, const cli_claim *k, const spot_claim_test *t)
{
    if (*k->text) put_claim(j, k);
    for (int g = 0; g < 2; g++) {
        spot_json_object(j, group_name[g]);
        spot_json_put_int(j, "pictures", t->n[g]);
        spot_json_put_int(j, "wrong", t->wrong[g]);
        spot_json_put_interval(j, "rate", t->rate[g]);
        spot_json_end(j);
    }
    spot_json_put_real(j, "p", t->p);
    spot_json_put_text(j, "verdict", spot_claim_verdict_name(t->verdict));
}

static spot_status write_verdict(spot_ctx *c, const cli_claim *k, const spot_claim_test *t, const char *dir)
{
    char path[CLI_CLAIM_PATH + 16];
    spot_json j;
    spot_status s;

    snprintf(path, sizeof path, "%s/verdict.json", dir);
    SPOT_TRY(spot_json_begin(c, &j, "    "));
    spot_json_object(&j, NULL);
    put_verdict(&j, k, t);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, path);
    if (s == SPOT_OK) s = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return s;
}

static const char *known(const char *text) { return *text ? text : NULL; }

static spot_status write_page(spot_ctx *c, const cli_claim *k, const spot_new_pictures *p, const spot_claim_test *t,
                              const char *dir, double level)
{
    const spot_claim_result r = { .claim = k->text, .cls = known(k->cls), .found = known(k->found), .model = known(k->model),
                                  .slice = k->slice, .rate = k->rate, .class_rate = k->class_rate, .folder = k->root,
                                  .row = p->row, .n = p->n, .level = level, .test = t };
    spot_report_options o = spot_report_defaults();
    char path[CLI_CLAIM_PATH + 16];

    o.thumb = 96;
    snprintf(path, sizeof path, "%s/gather.html", dir);
    return spot_report_claim(c, path, &r, &o);
}

spot_status cli_claim_verdict(spot_ctx *c, const cli_claim *k, const spot_new_pictures *p, const char *dir, double level,
                              bool json)
{
    spot_claim_test t;
    spot_json j;

    spot_claim_count(&t, p->row, p->n);
    spot_claim_judge(&t, level);
    if (dir) SPOT_TRY(write_verdict(c, k, &t, dir));
    if (dir) SPOT_TRY(write_page(c, k, p, &t, dir, level));
    if (!json) return print_lines(k, &t), SPOT_OK;
    SPOT_TRY(cli_json_open(c, &j, SPOT_OK, dir));
    put_verdict(&j, k, &t);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}
