/* html_gather.c - the page of a claim about new pictures, for `spotter gather`: gathered ones and controls side by side,
 * counts, verdict. The numbers of a group are those of the test, which counts pictures whose answer is known; all pictures of
 * the group are shown, those without an answer with wrong -1. */
#include <math.h>
#include <stdio.h>

#include "base/folder.h"
#include "report/page/html.h"

static spot_status read_row(spot_ctx *c, void *user, int row, spot_picture *out)
{
    const spot_claim_result *k = user;
    char path[2600];

    if (!k->folder) return spot_fail(c, SPOT_INPUT, "the page does not show %s", k->row[row].picture);
    snprintf(path, sizeof path, "%s/%s", k->folder, k->row[row].picture);
    out->reading = k->reading;
    return spot_picture_read(c, out, path);
}

static void write_group(spot_page *p, const spot_claim_result *k, int group)
{
    const spot_claim_test *t = k->test;

    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "n", t->n[group]);
    spot_json_put_int(p->at, "wrong", t->wrong[group]);
    spot_json_put_interval(p->at, "rate", t->rate[group]);
    spot_json_array(p->at, "pictures", 0, 0);
    for (int i = 0; i < k->n; i++) {
        const spot_new_picture *r = &k->row[i];
        if (r->group != group) continue;
        spot_json_array(p->at, NULL, 4, 4);
        spot_json_put_int(p->at, NULL, i);
        spot_json_put_int(p->at, NULL, r->wrong);
        spot_page_text(p, NULL, r->predicted);
        spot_page_real(p, NULL, r->similarity);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
    spot_json_end(p->at);
}

static spot_status write_pictures(spot_page *p, const spot_claim_result *k)
{
    const spot_picture_source from = { .rows = k->n, .read = read_row, .user = (void *)(uintptr_t)k };     /* only read */
    spot_wanted wanted;
    spot_status s = spot_wanted_open(p->c, &wanted, k->n);

    spot_json_array(p->at, "names", 0, 0);
    for (int i = 0; i < k->n; i++) spot_page_text(p, NULL, k->row[i].picture);
    spot_json_end(p->at);
    for (int i = 0; i < k->n && s == SPOT_OK; i++) spot_wanted_add(&wanted, i);
    if (s == SPOT_OK) s = spot_page_pictures(p, &from, &wanted);
    spot_wanted_close(&wanted);
    return s;
}

/* Links may lead out: who named the folder trusts it. */
static spot_status check_names(spot_ctx *c, const spot_claim_result *k)
{
    spot_list_folder of = { .path = k->folder ? k->folder : "" };

    for (int i = 0; i < k->n && k->folder; i++) SPOT_TRY(spot_list_folder_check(c, &of, i, k->row[i].picture, NULL));
    return SPOT_OK;
}

static spot_status write_page(spot_page *p, const spot_claim_result *k)
{
    p->frame = "gather.html";
    SPOT_TRY(check_names(p->c, k));
    spot_page_text(p, "claim", k->claim);
    spot_page_text(p, "class", k->cls);
    spot_page_text(p, "found", k->found);
    spot_page_text(p, "model", k->model);
    spot_json_put_int(p->at, "slice", k->slice);
    spot_page_real(p, "rate", k->rate);
    spot_page_real(p, "class_rate", k->class_rate);
    spot_page_real(p, "p", k->test->p);
    spot_page_real(p, "level", k->level);
    spot_json_put_int(p->at, "test_groups", k->test->groups);
    spot_json_put_int(p->at, "outcome", k->test->verdict);
    spot_page_text(p, "verdict", spot_claim_verdict_name(k->test->verdict));
    spot_json_array(p->at, "groups", 0, 0);
    for (int g = SPOT_GATHERED; g <= SPOT_CONTROL; g++) write_group(p, k, g);
    spot_json_end(p->at);
    return write_pictures(p, k);           /* last, since they get what is left of the page's budget */
}

spot_status spot_report_claim(spot_ctx *c, const char *path, const spot_claim_result *k, const spot_report_options *o)
{
    spot_page page;

    SPOT_TRY(spot_page_begin(&page, c, o, "gather", "A claim on new pictures"));
    return spot_page_write(&page, path, write_page(&page, k));
}
